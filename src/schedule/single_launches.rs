//! Launches that fuse with nothing and still gain from what the host knows: several of their pointers point into
//! one allocation, at distances that are constants, so that one of them is enough.
//!
//! Invariant: such a launch is a group of one member, which does what the launch does, and nothing moves.

use super::group::Judge;
use super::obstacle::Candidate;
use super::{FusionGroup, FusionPlan};
use std::collections::BTreeSet;

impl Judge<'_> {
    /// Groups of one launch each for those of `candidates` that the plan leaves alone, at most so many.
    pub(super) fn single_launches(
        &self,
        plan: &FusionPlan,
        candidates: &[Candidate<'_>],
        most: usize,
    ) -> Vec<FusionGroup> {
        let members = plan.groups.iter().flat_map(|group| &group.members);
        let regions = plan
            .batched_regions
            .iter()
            .flat_map(|region| &region.statements);
        let taken: BTreeSet<_> = members
            .map(|member| member.launch)
            .chain(regions.map(|statement| statement.launch))
            .collect();
        let single = candidates.iter().filter(|candidate| {
            self.graph.operation_of(candidate.launch.id).is_none()
                && !taken.contains(&candidate.launch.id)
                && shares_a_base(self, candidate)
                && self.conditions_hold(&[**candidate]).is_ok()
        });
        single
            .take(most)
            .map(|candidate| FusionGroup {
                // What it stores it stores, as the report has no place to say otherwise.
                unread_afterwards: Vec::new(),
                ..self.finish(&[*candidate], |_| 0)
            })
            .collect()
    }
}

/// Whether two pointers of the launch are a constant apart.
fn shares_a_base(judge: &Judge<'_>, candidate: &Candidate<'_>) -> bool {
    let arguments = 0..candidate.launch.arguments.len();
    let mut roots = Vec::new();
    let places =
        arguments.filter_map(|argument| judge.graph.place_of(candidate.launch, argument, 0));
    for (pointer, _) in places {
        if roots.contains(&&pointer.root) {
            return true;
        }
        roots.push(&pointer.root);
    }
    false
}
