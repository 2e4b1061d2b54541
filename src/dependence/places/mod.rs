//! What two launches touch, and whether that is the same memory.

pub(super) mod overlap;
pub(super) mod boxes;
pub(super) mod disjoint_rows;
pub(super) mod equal_pointers;
pub(super) mod tables;
pub(super) mod sizes;
pub(super) mod whole;
pub(super) mod targets;
