//! An independent judge of plans: [`FusionPlan`] -> [`VerifiedPlan`] or a refusal.
//!
//! It recomputes from models and launch graph alone that every pair of conflicting accesses stays
//! ordered, and may not import the algorithms of [`crate::schedule`] or [`crate::dependence`].

use crate::schedule::FusionPlan;

/// A plan that passed; the only one that code generation accepts.
#[derive(Clone, Debug)]
pub struct VerifiedPlan {
    plan: FusionPlan,
}

impl VerifiedPlan {
    /// The plan itself.
    pub fn plan(&self) -> &FusionPlan {
        &self.plan
    }
}
