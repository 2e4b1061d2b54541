//! What of a multiprocessor a group takes, and what is left of a group that takes too much.

pub mod resources;
pub mod occupancy;
pub(super) mod regroup;
