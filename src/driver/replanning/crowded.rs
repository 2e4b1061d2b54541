//! Groups that were planned to use shared memory in turn, which their code then did not allow.

use super::super::Analysis;
use crate::codegen::FusedImage;
use crate::diagnostics::RejectionReason;
use crate::schedule::{self, FusionGroup, ScheduleOptions, plan_fusion};
use crate::verify::verify;

/// Plans anew, with the memory of all members added up, when that makes fewer launches than to leave groups
/// out that proved too large. Returns whether the plan is another one.
pub(in crate::driver) fn plan_without_turns(analysis: &mut Analysis, image: &FusedImage) -> bool {
    let groups = &analysis.plan.plan().groups;
    let left_out = image.left_out(groups.len());
    let is_crowded = |group: &FusionGroup| {
        schedule::left_out(&analysis.graph, &analysis.models, group)
            .iter()
            .any(|missed| missed.rejection.reason == RejectionReason::Resources)
    };
    let crowded = left_out.iter().any(|index| is_crowded(&groups[*index]));
    if !analysis.options.reuses_shared_memory || !crowded {
        return false;
    }
    let options = ScheduleOptions {
        reuses_shared_memory: false,
        ..analysis.options
    };
    let (plan, missed) = plan_fusion(
        &analysis.graph,
        &analysis.models,
        &analysis.dependences,
        &options,
    );
    let made = groups.iter().enumerate();
    let made = made.filter(|(index, _)| !left_out.contains(index));
    if saved(&plan.groups) <= saved(made.map(|(_, group)| group)) {
        return false;
    }
    let Ok(plan) = verify(&analysis.graph, &analysis.models, plan) else {
        return false;
    };
    analysis.plan = plan;
    analysis.missed = missed;
    // Of another plan.
    analysis.tuned.clear();
    analysis.planning = None;
    analysis.options = options;
    true
}

fn saved<'a>(groups: impl IntoIterator<Item = &'a FusionGroup>) -> usize {
    let groups = groups.into_iter();
    groups
        .map(|group| group.members.len().saturating_sub(1))
        .sum()
}
