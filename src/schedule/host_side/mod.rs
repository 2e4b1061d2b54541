//! The host's side of a plan: what launches move past, and who may rely on what.

pub(super) mod host_order;
pub(super) mod conditional;
pub(super) mod partial;
pub(super) mod waiting;
pub(super) mod passing;
pub(super) mod streams;
pub(super) mod work;
pub(super) mod asked_memory;
pub(super) mod batches;
pub(super) mod batch_order;
