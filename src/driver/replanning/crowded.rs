//! Groups that were planned to use shared memory in turn, which their code then did not allow.

use super::super::facts::{Analysis, Facts};
use super::super::outcome::PipelineError;
use super::images::Images;
use super::{Cause, Draft, Otherwise, Revision};
use crate::diagnostics::RejectionReason;
use crate::program::Program;
use crate::schedule::{self, FusionGroup, ScheduleOptions, plan_fusion};

/// A plan with the memory of all members added up, when that makes fewer launches than to leave groups out that proved
/// too large.
///
/// # Errors
/// Images of sources cannot be made.
pub(super) fn revision<'ctx>(
    program: &Program<'ctx>,
    analysis: &mut Analysis,
    images: &mut Images<'_, 'ctx>,
) -> Result<Option<Revision>, PipelineError> {
    images.finish(program, analysis)?;
    let Some(image) = images.fused() else {
        return Ok(None);
    };
    let Facts {
        graph,
        models,
        dependences,
    } = &analysis.facts;
    let groups = &analysis.plan.plan().groups;
    let left_out = image.left_out(groups.len());
    let is_crowded = |group: &FusionGroup| {
        schedule::left_out(graph, models, group)
            .iter()
            .any(|missed| missed.rejection.reason == RejectionReason::Resources)
    };
    let crowded = left_out.iter().any(|index| is_crowded(&groups[*index]));
    if !analysis.options.reuses_shared_memory || !crowded {
        return Ok(None);
    }
    let options = ScheduleOptions {
        reuses_shared_memory: false,
        ..analysis.options
    };
    let (plan, missed) = plan_fusion(graph, models, dependences, &options);
    let made = groups.iter().enumerate();
    let made = made.filter(|(index, _)| !left_out.contains(index));
    if saved(&plan.groups) <= saved(made.map(|(_, group)| group)) {
        return Ok(None);
    }
    Ok(Some(Revision {
        drafts: vec![Draft::Plan(plan)],
        changes: Box::new(move |analysis| {
            analysis.missed = missed;
            // Of another plan.
            analysis.tuned.clear();
            analysis.planning = None;
            analysis.options = options;
        }),
        otherwise: Otherwise::Nothing,
        then: &[Cause::Variants, Cause::Resources],
    }))
}

fn saved<'a>(groups: impl IntoIterator<Item = &'a FusionGroup>) -> usize {
    let groups = groups.into_iter();
    groups
        .map(|group| group.members.len().saturating_sub(1))
        .sum()
}
