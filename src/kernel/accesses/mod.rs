//! What a kernel touches: access relations and their sums.

pub(super) mod access;
pub(super) mod address;
pub(super) mod kept_pointers;
pub(super) mod columns;
pub(super) mod footprint;
pub(super) mod effects;
pub(super) mod privacy;
pub(super) mod reduction;
