//! Launches that are not fused, and what makes their boundaries cheaper.

pub(super) mod overlap;
pub(super) mod batch_phases;
pub(super) mod grid_barriers;
pub(super) mod fallback;
pub(super) mod own_reads;
pub(super) mod handed_on;
pub(super) mod last_block;
pub(super) mod recomputation;
pub(super) mod persistent;
pub(super) mod tested_loops;
