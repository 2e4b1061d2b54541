//! Device code made ready: numerics decided, and each thing said in one way.

pub(super) mod canonicalise_device;
pub(super) mod by_architecture;
pub(super) mod numerics;
pub(super) mod inlining;
pub(super) mod ended_threads;
pub(super) mod unmasked;
pub(super) mod exchanged;
pub(super) mod shared_offsets;
pub(super) mod shared_tables;
pub(super) mod truth_values;
pub(super) mod device_allocation;
pub(super) mod assembly_operands;
pub(super) mod assembly_order;
