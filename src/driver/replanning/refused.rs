//! What is left of a plan of which the verifier refuses something.
//!
//! Invariant: what is left has passed the verifier as a whole, as every plan has that is carried out.

use super::super::fallback;
use super::super::outcome::{self, Outcome, PipelineError};
use crate::build::Build;
use crate::dependence::{DependenceGraph, SharedMemory};
use crate::diagnostics::RejectionReason;
use crate::kernel::KernelModel;
use crate::launch::LaunchGraph;
use crate::schedule::{
    FusionGroup, FusionPlan, Missed, ScheduleOptions, find_dead_buffers, left_unfused,
    plan_batches, plan_fusion, plan_persistent_loops, without_unbacked,
};
use crate::verify::{Refusal, VerifiedPlan, verify};

/// The graphs and models that plans are made of.
pub(in crate::driver) type Found<'a> = (&'a LaunchGraph, &'a [KernelModel], &'a DependenceGraph);

/// Judges what was planned. Where the verifier refuses that, a bug of ours, the groups are carried out that
/// pass without the others, and two lines of warning say so.
///
/// # Errors
/// With `SIRIUS_STRICT` set a refusal is fatal.
pub(in crate::driver) fn judge(
    found: Found<'_>,
    (mut plan, mut missed): (FusionPlan, Vec<Missed>),
    options: &mut ScheduleOptions,
    build: &Build,
    outcome: &mut Outcome,
) -> Result<(VerifiedPlan, Vec<Missed>), PipelineError> {
    let (graph, models, dependences) = found;
    if fallback::is_fault("plan")
        && let Some(group) = plan.groups.first_mut()
    {
        group.members.reverse();
    }
    let mut verified = verify(graph, models, plan.clone());
    // Whether all of a range is written may be more than the verifier can show.
    let unshown = |refusal: &Refusal| matches!(refusal, Refusal::NotReplaced { .. });
    if let Err(refusals) = &verified
        && refusals.iter().all(unshown)
    {
        options.expands_buffers = false;
        (plan, missed) = plan_fusion(graph, models, dependences, options);
        verified = verify(graph, models, plan.clone());
    }
    let refusals = match verified {
        Ok(plan) => return Ok((plan, missed)),
        Err(refusals) => refusals,
    };
    let sentences: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
    let reason = format!("the verifier refuses the plan: {}", sentences.join("; "));
    let in_batches = [true, false]
        .into_iter()
        .skip(usize::from(plan.batched_regions.is_empty()));
    let mut parts = in_batches.filter_map(|in_batches| {
        accepted(&plan.groups, |groups| {
            plan_of(found, groups, options, in_batches)
        })
    });
    let part = parts.next();
    let what = match &part {
        Some((_, left_out)) if left_out.len() < plan.groups.len() => match left_out.len() {
            0 => String::from("a plan of the same groups is carried out"),
            1 => String::from("the launches of one group stay unfused"),
            number => format!("the launches of {number} groups stay unfused"),
        },
        _ => String::from(outcome::UNFUSED),
    };
    outcome::failed_check(outcome, build, (&reason, &what), graph, models, &plan)?;
    let (verified, left_out) = match part {
        Some(part) => part,
        None => (outcome::unfused(graph, models)?, plan.groups),
    };
    for group in left_out {
        let message = String::from("no proof was found that they may be one that stood the check");
        let reason = RejectionReason::NotVerified;
        missed.extend(left_unfused(graph, &group, reason, &message));
    }
    missed.sort_by_key(|missed| missed.source);
    Ok((verified, missed))
}

/// A plan of these groups, issued in batches or not; `None` where the verifier refuses it.
pub(in crate::driver) fn plan_of(
    (graph, models, dependences): Found<'_>,
    groups: Vec<FusionGroup>,
    options: &ScheduleOptions,
    in_batches: bool,
) -> Option<VerifiedPlan> {
    let mut batched_regions = Vec::new();
    if in_batches && options.launch_batches {
        let known = (models, &SharedMemory::new(graph, models));
        batched_regions = plan_batches(graph, known, dependences, &groups, options).0;
    }
    if in_batches {
        let known = (groups.as_slice(), &mut batched_regions);
        plan_persistent_loops(graph, models, dependences, known, options, usize::MAX);
    }
    let mut plan = FusionPlan {
        groups,
        batched_regions,
        ..FusionPlan::default()
    };
    plan = without_unbacked(graph, models, dependences, plan);
    if options.reserves_memory {
        plan.dead_buffers = find_dead_buffers(graph, models, &plan);
    }
    verify(graph, models, plan).ok()
}

/// Verdicts that are asked for before all groups without one are left out.
const MOST_VERDICTS: usize = 64;

/// A plan of as many of the groups as are found to pass together, in their order, and those that are left
/// out. Each half is judged with what is kept already, so that a few bad groups among many cost few
/// verdicts.
fn accepted<Group: Clone, Plan>(
    groups: &[Group],
    mut judge: impl FnMut(Vec<Group>) -> Option<Plan>,
) -> Option<(Plan, Vec<Group>)> {
    let mut plan = judge(Vec::new())?;
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    let mut work = vec![groups];
    let mut verdicts = 0;
    while let Some(part) = work.pop() {
        verdicts += 1;
        let whole = [kept.as_slice(), part].concat();
        match (verdicts <= MOST_VERDICTS).then(|| judge(whole.clone())) {
            Some(Some(passes)) => (plan, kept) = (passes, whole),
            Some(None) if part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                work.extend([second, first]);
            }
            _ => left_out.extend_from_slice(part),
        }
    }
    Some((plan, left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept and left out of so many groups where these pairs may not be in one plan (a pair of one number:
    /// a bad group), and how many verdicts that took.
    fn judged(count: usize, apart: &[(usize, usize)]) -> (Vec<usize>, Vec<usize>, usize) {
        let groups: Vec<usize> = (0..count).collect();
        let mut verdicts = 0;
        let (kept, left_out) = accepted(&groups, |groups| {
            verdicts += 1;
            let holds = |number| groups.contains(number);
            let bad = apart.iter().any(|(one, other)| holds(one) && holds(other));
            (!bad).then_some(groups)
        })
        .expect("no groups at all pass");
        (kept, left_out, verdicts)
    }

    #[test]
    fn a_bad_group_costs_itself() {
        let (kept, left_out, verdicts) = judged(40, &[(17, 17)]);
        assert_eq!(left_out, [17]);
        assert_eq!(kept.len(), 39);
        assert!(kept.is_sorted() && verdicts < 16, "{verdicts}");
    }

    #[test]
    fn of_groups_that_do_not_go_together_the_earlier_stays() {
        let (kept, left_out, _) = judged(5, &[(1, 3), (4, 4)]);
        assert_eq!((kept, left_out), (vec![0, 1, 2], vec![3, 4]));
    }

    #[test]
    fn many_bad_groups_cost_bounded_time() {
        let bad: Vec<_> = (0..300).map(|number| (number, number)).collect();
        let (kept, left_out, verdicts) = judged(300, &bad);
        assert_eq!((kept.len(), left_out.len()), (0, 300));
        assert!(verdicts <= MOST_VERDICTS + 1, "{verdicts}");
    }
}
