//! Fused kernels in device IR.

pub mod fuse;
pub(super) mod common_shape;
pub(super) mod divisors;
pub(super) mod matrix_places;
pub(super) mod undefined;
pub(super) mod wide_conversions;
