//! Launches that run at once in one kernel.

pub(super) mod batch;
pub(super) mod heterogeneous;
pub(super) mod interleaved;
pub(super) mod partitions;
