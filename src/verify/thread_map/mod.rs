//! Members whose blocks and threads are not those of the fused launch: each runs once, and needs what it finds.

pub(super) mod remapped;
pub(super) mod rearranged;
pub(super) mod elements;
pub(super) mod by_iteration;
pub(super) mod runs;
pub(super) mod matrix_tiles;
pub(super) mod partitions;
