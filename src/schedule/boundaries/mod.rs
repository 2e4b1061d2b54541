//! Launches that are not fused, and what makes their boundaries cheaper.

pub(super) mod blocks;
pub(super) mod overlap;
pub(super) mod grid_barriers;
pub(super) mod fallback;
pub(super) mod batch_phases;
pub(super) mod last_block;
pub(super) mod recomputation;
mod stored;
mod released;
pub(super) mod persistent;
pub(super) mod loop_ends;
pub(super) mod rotation;
pub(super) mod iterations;
pub(super) mod tested_loops;
