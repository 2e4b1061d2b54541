//! The first plan of a program, and what is left of it where the verifier refuses something.
//!
//! Invariant: what is left has passed the verifier as a whole, as every plan has that is carried out.

use super::super::cli::instead;
use super::super::facts::{Analysis, Facts, Proposed};
use super::super::fallback::{self, FailedCheck, UNFUSED};
use super::super::outcome::{Outcome, PipelineError, as_json, dependence_as_json};
use super::super::session::Session;
use super::{overlaps, planning};
use crate::build::{Build, Fusion};
use crate::dependence::{take_domains, take_iterations};
use crate::diagnostics::RejectionReason;
use crate::kernel::KernelModel;
use crate::launch::LaunchGraph;
use crate::program::Program;
use crate::schedule::occupancy::Limits;
use crate::schedule::{
    FusionGroup, Layout, ScheduleOptions, left_unfused, plan_fusion, plan_grid_barriers,
    plan_host_constants, plan_last_blocks, plan_recomputation,
};
use crate::stage::Stage;
use crate::verify::{Refusal, VerifiedPlan};
use std::collections::BTreeSet;

/// The stage `dependence`; `None` when the command line stops after it.
pub(in crate::driver) fn relate(
    mut graph: LaunchGraph,
    models: Vec<KernelModel>,
    session: Session<'_>,
) -> Option<Facts> {
    let clock = session.clock;
    let dependences = clock.time(Stage::Dependence, || {
        take_domains(&mut graph, &models);
        take_iterations(&mut graph, &models);
        (session.relate)(&graph, &models)
    });
    clock.dump(Stage::Dependence, || {
        dependence_as_json(&graph, &dependences)
    });
    let facts = Facts {
        graph,
        models,
        dependences,
    };
    (!clock.stops_after(Stage::Dependence)).then_some(facts)
}

/// The stages `schedule` and `verify`; `None` when the command line stops after one of them.
///
/// # Errors
/// A layout was asked for that no group has; with `SIRIUS_STRICT` set it is fatal when the verifier refuses the plan.
pub(in crate::driver) fn first_plan(
    program: &Program<'_>,
    facts: Facts,
    session: Session<'_>,
    outcome: &mut Outcome,
) -> Result<Option<Analysis>, PipelineError> {
    let Session { build, clock, .. } = session;
    let mut proposed = clock.time(Stage::Schedule, || {
        propose(program, &facts, session, outcome)
    });
    let chosen = proposed.plan.groups.clone();
    check_layout(&chosen, build)?;
    clock.dump(Stage::Schedule, || as_json(&proposed.plan));
    if clock.stops_after(Stage::Schedule) {
        return Ok(None);
    }
    let plan = clock.time(Stage::Verify, || {
        judged(&facts, &mut proposed, build, outcome)
    })?;
    clock.dump(Stage::Verify, || as_json(plan.plan()));
    if clock.stops_after(Stage::Verify) {
        return Ok(None);
    }
    // What the verifier refuses is planned by greedy grouping, or left out.
    let planning = proposed.planning.take();
    proposed.planning = planning.filter(|_| plan.plan().groups == chosen);
    Ok(Some(Analysis::new(facts, plan, proposed)))
}

fn propose(
    program: &Program<'_>,
    facts: &Facts,
    session: Session<'_>,
    outcome: &mut Outcome,
) -> Proposed {
    let Facts {
        graph,
        models,
        dependences,
    } = facts;
    let options = session.schedule_options();
    let (plan, missed) = plan_fusion(graph, models, dependences, &options);
    let mut proposed = Proposed {
        plan,
        missed,
        planning: None,
        options,
    };
    planning::choose(program, facts, &mut proposed, session.build, outcome);
    plan_behind_groups(facts, &mut proposed);
    proposed
}

/// Plans what is made of launches that the groups leave, or of groups.
fn plan_behind_groups(facts: &Facts, proposed: &mut Proposed) {
    for add in [
        plan_grid_barriers,
        plan_last_blocks,
        plan_recomputation,
        plan_host_constants,
    ] {
        let planned = (&mut proposed.plan, &mut proposed.missed);
        let Facts {
            graph,
            models,
            dependences,
        } = facts;
        add(graph, models, dependences, &proposed.options, planned);
    }
}

/// Refuses the name of a layout that no group has.
fn check_layout(groups: &[FusionGroup], build: &Build) -> Result<(), PipelineError> {
    let names = groups.iter().flat_map(|group| &group.layouts);
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    if Layout::is_known(&build.sirius.layout, &names) {
        return Ok(());
    }
    let mut known: Vec<&str> = Layout::everywhere().collect();
    let elsewhere = names.into_iter().filter(|name| !known.contains(name));
    let elsewhere: Vec<&str> = elsewhere.collect();
    known.extend(elsewhere);
    Err(PipelineError::UnknownLayout {
        name: build.sirius.layout.clone(),
        instead: instead(&build.sirius.layout, known),
    })
}

impl Session<'_> {
    /// What a plan is to obey.
    pub(super) fn schedule_options(&self) -> ScheduleOptions {
        let build = self.build;
        let architectures = build.architectures.iter();
        let architectures = architectures.map(|architecture| architecture.number);
        let fusion = match build.fuses() {
            true => build.sirius.fusion,
            false => Fusion::Off,
        };
        ScheduleOptions {
            fusion,
            limits: Limits::of(architectures, self.toolchain.version),
            overlap: overlaps::obstacle(build).is_none(),
            ..ScheduleOptions::from(&build.sirius)
        }
    }
}

/// Has what was planned judged. Where the verifier refuses that, a bug of ours, the groups are carried out that
/// pass without the others, and two lines of warning say so.
///
/// # Errors
/// With `SIRIUS_STRICT` set a refusal is fatal.
fn judged(
    facts: &Facts,
    proposed: &mut Proposed,
    build: &Build,
    outcome: &mut Outcome,
) -> Result<VerifiedPlan, PipelineError> {
    let Facts {
        graph,
        models,
        dependences,
    } = facts;
    if fallback::is_fault("plan")
        && let Some(group) = proposed.plan.groups.first_mut()
    {
        group.members.reverse();
    }
    let mut verdict = facts.judge(proposed.plan.clone());
    // Whether all of a range is written may be more than the verifier can show.
    let unshown = |refusal: &Refusal| matches!(refusal, Refusal::NotReplaced { .. });
    if let Err(refused) = &verdict
        && refused.refusals.iter().all(unshown)
    {
        proposed.options.expands_buffers = false;
        (proposed.plan, proposed.missed) =
            plan_fusion(graph, models, dependences, &proposed.options);
        plan_behind_groups(facts, proposed);
        verdict = facts.judge(proposed.plan.clone());
    }
    let refused = match verdict {
        Ok(plan) => return Ok(plan),
        Err(refused) => refused,
    };
    let groups = &refused.plan.groups;
    let in_batches = [true, false]
        .into_iter()
        .skip(usize::from(refused.plan.batched_regions.is_empty()));
    let mut parts = in_batches.filter_map(|in_batches| {
        accepted(groups, |groups| {
            facts.plan_of(groups, &proposed.options, in_batches).ok()
        })
    });
    let part = parts.next();
    let what = match &part {
        Some((_, left_out)) if left_out.len() < groups.len() => match left_out.len() {
            0 => String::from("a plan of the same groups is carried out"),
            1 => String::from("the launches of one group stay unfused"),
            number => format!("the launches of {number} groups stay unfused"),
        },
        _ => String::from(UNFUSED),
    };
    let failure = FailedCheck {
        reason: &refused.reason("the plan"),
        consequence: &what,
        plan: &refused.plan,
    };
    failure.say(facts, build, outcome)?;
    let (verified, left_out) = match part {
        Some(part) => part,
        None => (facts.unfused()?, refused.plan.groups),
    };
    for group in left_out {
        let message = String::from("no proof was found that they may be one that stood the check");
        let reason = RejectionReason::NotVerified;
        let missed = left_unfused(graph, &group, reason, &message);
        proposed.missed.extend(missed);
    }
    proposed.missed.sort_by_key(|missed| missed.source);
    Ok(verified)
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
