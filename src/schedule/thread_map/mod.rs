//! Members whose blocks and threads are not those of the fused launch.

pub(super) mod map;
pub(super) mod domains;
pub(super) mod alignment;
pub(super) mod arrays;
pub(super) mod rearranged;
pub(super) mod by_iteration;
pub(super) mod runs;
pub(super) mod matrix_tiles;
