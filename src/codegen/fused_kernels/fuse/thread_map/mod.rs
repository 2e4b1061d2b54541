//! Members whose threads are not those of the fused launch: which thread runs which of theirs.

pub(super) mod clipped;
pub(super) mod elements;
pub(super) mod indices;
pub(super) mod rearranged;
pub(super) mod registers;
pub(super) mod remapped;
pub(super) mod runs;
pub(super) mod matrix_tiles;
