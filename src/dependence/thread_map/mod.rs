//! Scopes of edges between launches whose threads are not the same by their numbers.

pub(super) mod mapped;
pub(super) mod arrays;
pub(super) mod by_iteration;
pub(super) mod runs;
pub(super) mod matrix_tiles;
