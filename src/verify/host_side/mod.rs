//! The host's side of a plan: what launches move past, and who may rely on what.

pub(super) mod host_order;
pub(super) mod touched;
pub(super) mod waits;
pub(super) mod streams;
pub(super) mod capture;
pub(super) mod operations;
pub(super) mod partial;
pub(super) mod batches;
