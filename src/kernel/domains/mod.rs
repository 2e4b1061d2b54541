//! Which threads come to a place, and together with whom.

pub(super) mod domain;
pub(super) mod path_conditions;
pub(super) mod sides;
pub(super) mod uniformity;
pub(super) mod in_step;
pub(super) mod never_taken;
pub(super) mod lanes;
