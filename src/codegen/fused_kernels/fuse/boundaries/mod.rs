//! Launches that stay apart in their order and are one kernel, or overlap, all the same.

pub(super) mod at_once;
pub(super) mod batch_phases;
pub(super) mod last_block;
pub(super) mod overlap;
pub(super) mod persistent;
pub(super) mod phases;
pub(super) mod recomputation;
pub(super) mod tested_loop;
