//! ptxas is asked what fused kernels need, and groups that ask too much are cut or taken apart.

use super::super::facts::{Analysis, Facts};
use super::super::outcome::PipelineError;
use super::super::session::Session;
use super::images::{Images, Made};
use super::{Draft, Otherwise, Revision};
use crate::codegen;
use crate::dependence::Guard;
use crate::launch::NodeKind;
use crate::math::expression::{Condition, Expression};
use crate::program::Program;
use crate::schedule::resources::{GroupOccupancy, GroupUsage, cuts};
use crate::schedule::{FusionGroup, FusionPlan, Missed, Regrouper};

/// A plan in which groups that ask too much are cut, or left out. Parts that the verifier refuses are left out as well.
///
/// # Errors
/// Images of sources cannot be made.
pub(super) fn revision<'ctx>(
    program: &Program<'ctx>,
    analysis: &Analysis,
    session: Session<'_>,
    images: &mut Images<'_, 'ctx>,
) -> Result<Option<Revision>, PipelineError> {
    let Some(figures) = images.judge(program, analysis)? else {
        return Ok(None);
    };
    let planned = analysis.plan.plan();
    let groups = with_modest_fallbacks(planned, &figures);
    let (kept, refused) = sort_out(&groups, &figures);
    let is_changed = groups != planned.groups || !refused.is_empty();
    let Some(made) = images.judged().filter(|_| is_changed) else {
        return Ok(None);
    };
    if refused.is_empty() {
        let plan = FusionPlan {
            groups,
            ..planned.clone()
        };
        return Ok(Some(Revision {
            drafts: vec![Draft::Plan(plan)],
            changes: Box::new(|_| ()),
            otherwise: Otherwise::Bug,
            then: &[],
        }));
    }
    let (smaller, refused) = in_smaller_blocks(program, analysis, refused, made);
    let kept = [kept, smaller].concat();
    let (parts, missed) = take_apart(program, analysis, refused, session, made);
    let place = |group: &FusionGroup| {
        let first = group.members.first().map(|member| member.launch);
        let mut nodes = analysis.facts.graph.nodes.iter();
        nodes.position(
            |node| matches!(&node.kind, NodeKind::Launch(launch) if Some(launch.id) == first),
        )
    };
    let mut groups = [kept.clone(), parts].concat();
    groups.sort_by_key(place);
    Ok(Some(Revision {
        drafts: vec![Draft::Groups(groups), Draft::Groups(kept)],
        changes: Box::new(|analysis| analysis.miss(missed)),
        otherwise: Otherwise::Bug,
        then: &[],
    }))
}

/// The groups of a plan, without those of their fallbacks that ask too much: their members run as they are written.
fn with_modest_fallbacks(plan: &FusionPlan, figures: &[Vec<GroupOccupancy>]) -> Vec<FusionGroup> {
    let is_modest = |number: usize| {
        let mut figures = figures.get(number).into_iter().flatten();
        figures.all(|figures| figures.refusal().is_none())
    };
    let mut groups = plan.groups.clone();
    for (number, group) in groups.iter_mut().enumerate() {
        let mut numbers = plan.fallback_of(number);
        group
            .fallback
            .retain(|_| numbers.next().is_some_and(is_modest));
    }
    groups
}

/// A group that asks too much.
struct Refused {
    group: FusionGroup,
    message: String,
    /// What it might ask less with, see [`GroupOccupancy::smaller_blocks`].
    smaller_blocks: Option<u32>,
}

/// Groups that pass, and those that do not with the reason.
fn sort_out(
    groups: &[FusionGroup],
    figures: &[Vec<GroupOccupancy>],
) -> (Vec<FusionGroup>, Vec<Refused>) {
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for (group, figures) in groups.iter().zip(figures) {
        match figures.iter().find_map(GroupOccupancy::refusal) {
            None => kept.push(group.clone()),
            Some(message) => refused.push(Refused {
                group: group.clone(),
                message,
                smaller_blocks: GroupOccupancy::smaller_blocks(figures),
            }),
        }
    }
    (kept, refused)
}

/// Groups that pass once the run tests that their blocks are no larger than the hungriest member's can be, and those that
/// do not. A kernel that may run with the largest blocks that there are gets but 64 registers a thread.
fn in_smaller_blocks(
    program: &Program<'_>,
    analysis: &Analysis,
    refused: Vec<Refused>,
    made: &Made<'_, '_>,
) -> (Vec<FusionGroup>, Vec<(FusionGroup, String)>) {
    let Facts { graph, models, .. } = &analysis.facts;
    let tested = |refused: &Refused| -> Option<FusionGroup> {
        let most = Expression::Constant(refused.smaller_blocks?.into());
        let mut group = refused.group.clone();
        let of_blocks = group.members.iter().take(group.of_all_blocks());
        let owner = of_blocks.clone().find(|member| !member.map.places_anew())?;
        let launch = graph.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Launch(launch) if launch.id == owner.launch => Some(launch),
            _ => None,
        })?;
        let guard = Guard::Holds {
            class: String::from("shape"),
            condition: Condition::LessEqual(graph.block_threads(launch), most),
        };
        group.guards.push(guard);
        (!group.is_partial() && !group.names_front()).then_some(group)
    };
    let candidates: Vec<Option<FusionGroup>> = refused.iter().map(tested).collect();
    let plan = FusionPlan {
        groups: candidates.iter().flatten().cloned().collect(),
        ..FusionPlan::default()
    };
    let usage = match plan.groups.is_empty() {
        true => Vec::new(),
        false => codegen::try_candidates(program, graph, models, &plan, &made.units, made.bench)
            .unwrap_or_default(),
    };
    let figures = occupancy(analysis, &plan, &usage);
    let mut pass = figures.iter().map(|figures| {
        !figures.is_empty() && figures.iter().all(|figures| figures.refusal().is_none())
    });
    let (mut smaller, mut rest) = (Vec::new(), Vec::new());
    for (refused, candidate) in refused.into_iter().zip(candidates) {
        match candidate {
            Some(group) if pass.next() == Some(true) => smaller.push(group),
            _ => rest.push((refused.group, refused.message)),
        }
    }
    (smaller, rest)
}

/// How each group of a plan, and then of its fallbacks, fares on each architecture.
pub(super) fn occupancy(
    analysis: &Analysis,
    plan: &FusionPlan,
    usage: &[Vec<GroupUsage>],
) -> Vec<Vec<GroupOccupancy>> {
    let Facts { graph, models, .. } = &analysis.facts;
    let of_group = |(group, usage): (&FusionGroup, &Vec<GroupUsage>)| {
        let usage = usage.iter();
        usage
            .filter_map(|usage| GroupOccupancy::new(graph, models, group, usage))
            .collect()
    };
    let groups = plan.with_fallbacks().into_iter();
    groups.zip(usage).map(of_group).collect()
}

/// Cuts refused groups until their parts pass; what does not pass in [`MOST_ROUNDS`] runs unfused.
fn take_apart(
    program: &Program<'_>,
    analysis: &Analysis,
    mut refused: Vec<(FusionGroup, String)>,
    session: Session<'_>,
    made: &Made<'_, '_>,
) -> (Vec<FusionGroup>, Vec<Missed>) {
    let Facts {
        graph,
        models,
        dependences,
    } = &analysis.facts;
    let options = session.schedule_options();
    let mut regrouper = Regrouper::new(graph, models, dependences, &options);
    let mut parts = Vec::new();
    let mut missed = Vec::new();
    for _ in 0..MOST_ROUNDS {
        // All parts of all groups go through ptxas together.
        let mut candidates = FusionPlan::default();
        let mut trials: Vec<Vec<Trial>> = Vec::new();
        for (group, _) in &refused {
            let count = group.members.len();
            let mut of_group = Vec::new();
            for position in cuts(count) {
                let ranges = [0..position, position..count];
                let sides = ranges.map(|range| match range.len() {
                    1 => Some(None),
                    _ => regrouper.part(group, range).map(Some),
                });
                if let [Some(first), Some(second)] = sides {
                    let sides = [first, second].map(|side| {
                        side.map(|part| {
                            candidates.groups.push(part);
                            candidates.groups.len() - 1
                        })
                    });
                    of_group.push(Trial { position, sides });
                }
            }
            trials.push(of_group);
        }
        let tried = match candidates.groups.is_empty() {
            true => Ok(Vec::new()),
            false => {
                let (units, bench) = (&made.units, made.bench);
                codegen::try_candidates(program, graph, models, &candidates, units, bench)
            }
        };
        let Ok(usage) = tried else { break };
        let verdicts: Vec<Option<String>> = occupancy(analysis, &candidates, &usage)
            .iter()
            .map(|figures| figures.iter().find_map(GroupOccupancy::refusal))
            .collect();
        let mut again = Vec::new();
        for ((group, message), trials) in refused.into_iter().zip(trials) {
            let Some(trial) = Trial::best(&trials, &candidates, &verdicts) else {
                missed.extend(all_cuts(&regrouper, &group, &message));
                continue;
            };
            missed.extend(regrouper.cut(&group, trial.position, &message));
            for side in trial.sides.into_iter().flatten() {
                let part = candidates.groups[side].clone();
                match &verdicts[side] {
                    None => parts.push(part),
                    Some(message) => again.push((part, message.clone())),
                }
            }
        }
        refused = again;
        if refused.is_empty() {
            break;
        }
    }
    for (group, message) in &refused {
        missed.extend(all_cuts(&regrouper, group, message));
    }
    (parts, missed)
}

/// Rounds of cutting; each is one more run of ptxas an architecture.
const MOST_ROUNDS: usize = 3;

/// A cut of a group in two.
struct Trial {
    /// The first member of the second part.
    position: usize,
    /// The parts among the candidates; `None` for a launch of its own.
    sides: [Option<usize>; 2],
}

impl Trial {
    /// The cut after which most members run in fused kernels that pass; of equal ones the first.
    fn best<'a>(
        trials: &'a [Self],
        candidates: &FusionPlan,
        verdicts: &[Option<String>],
    ) -> Option<&'a Self> {
        let fused = |trial: &Self| -> usize {
            let sides = trial.sides.iter().flatten();
            let passing = sides.filter(|side| verdicts[**side].is_none());
            passing
                .map(|side| candidates.groups[*side].members.len())
                .sum()
        };
        let mut best: Option<(&Self, usize)> = None;
        for trial in trials {
            let count = fused(trial);
            if best.is_none_or(|(_, most)| count > most) {
                best = Some((trial, count));
            }
        }
        best.filter(|(trial, count)| *count > 0 || trial.sides.iter().any(Option::is_some))
            .map(|(trial, _)| trial)
    }
}

fn all_cuts(regrouper: &Regrouper<'_>, group: &FusionGroup, message: &str) -> Vec<Missed> {
    (1..group.members.len())
        .filter_map(|position| regrouper.cut(group, position, message))
        .collect()
}
