//! Kernels in other forms than they are written in.

pub(super) mod operations;
pub(super) mod grid_stride;
pub(super) mod single_iterations;
pub(super) mod own_copies;
pub(super) mod cluster_dimensions;
