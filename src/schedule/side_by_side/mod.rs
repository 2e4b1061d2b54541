//! Members side by side in one launch.

pub(super) mod beside;
pub(super) mod beside_cost;
pub(super) mod filling;
