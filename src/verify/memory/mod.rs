//! Memory that a plan replaces, leaves unwritten or shares.

pub(super) mod space;
pub(super) mod shared_memory_reuse;
pub(super) mod instances;
pub(super) mod buffer_promotion;
pub(super) mod own_values;
pub(super) mod row_promotion;
pub(super) mod dead_buffers;
pub(super) mod liveness;
pub(super) mod expansion;
