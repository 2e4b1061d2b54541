//! Barriers, and the order that they make within a block.

pub(super) mod barriers;
pub(super) mod uniform_barriers;
pub(super) mod segments;
pub(super) mod joining;
