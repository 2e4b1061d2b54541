//! Memory that a plan replaces, leaves unwritten or shares.

pub(super) mod space;
pub(super) mod dead_buffers;
pub(super) mod liveness;
pub(super) mod expansion;
