//! What the host module brings along for the run: registration of images, tests, clocks.

pub(super) mod graph_updates;
pub(super) mod registration;
pub(super) mod reserve;
pub(super) mod tables;
pub(super) mod timer;
