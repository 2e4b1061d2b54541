//! P1 and P2 of the paper: launches join along edges of thread and block scope, breadth first in host
//! order, and along reductions, whose order does not matter; any other edge of global scope only
//! orders.
//!
//! Every launch starts as a group of its own. Each launch in turn joins the groups that its local
//! edges come from: all of them when that is legal, else the latest that is. Groups therefore only
//! grow at their end, and what a member has already moved past never has to be asked again.

use super::batches::plan_batches;
use super::conditional::join_conditional;
use super::dead_buffers::find_dead_buffers;
use super::expansion::Expansion;
use super::group::{Judge, launches};
use super::groups::{Groups, Refusal, stand_beside};
use super::iterations::between_iterations;
use super::obstacle::{Candidate, candidate, rejection};
use super::partial::join_partial;
use super::patterns::prescribed;
use super::persistent::plan_persistent_loops;
use super::sharing::{Sharers, loaded};
use super::unfused::{name, why_unfused};
use super::units::Units;
use super::{BatchedRegion, FusionGroup, FusionPlan, Missed, ScheduleOptions};
use crate::build::Fusion;
use crate::dependence::{DependenceGraph, SharedMemory};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind};
use std::collections::{HashMap, HashSet};

/// Decides which launches become one. The second part has one entry for each two launches that
/// follow each other in host order and are not in one group.
pub fn plan_fusion(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
) -> (FusionPlan, Vec<Missed>) {
    // Where edges are missing, nothing follows from there being none.
    let nothing = ScheduleOptions {
        fusion: Fusion::Off,
        ..*options
    };
    if dependences.cut_short {
        let known = (dependences, &nothing);
        let (mut plan, missed, _) = plan_by(graph, kernels, dependences, known);
        plan.batched_regions = batches_of_many(graph, kernels, dependences, options);
        return (plan, missed);
    }
    let (plan, missed, launches) = plan_by(graph, kernels, dependences, (dependences, options));
    let waits = options.launch_batches && options.fusion == Fusion::All;
    if !waits || !options.expands_buffers {
        return (plan, missed);
    }
    let mut expansion = Expansion::new(graph, kernels, dependences);
    // What cannot wait has to stay as it is.
    for _ in 0..MOST_ATTEMPTS {
        let Some(freed) = expansion.freed(dependences) else {
            break;
        };
        let (expanded, missed, fewer) = plan_by(graph, kernels, &freed, (dependences, options));
        if fewer >= launches {
            break;
        }
        let unbacked = expansion.unbacked(&expanded);
        if unbacked.is_empty() {
            return (expanded, missed);
        }
        expansion.keep(&unbacked);
    }
    (plan, missed)
}

/// The regions of a program with more dependences than are looked into: what waits is told apart when it runs.
fn batches_of_many(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
) -> Vec<BatchedRegion> {
    if !options.launch_batches || options.fusion != Fusion::All {
        return Vec::new();
    }
    let options = &ScheduleOptions {
        expands_buffers: false,
        ..*options
    };
    let memory = SharedMemory::new(graph, kernels);
    let (mut regions, _) = plan_batches(graph, (kernels, &memory), dependences, &[], options);
    regions.truncate(options.max_fusions.unwrap_or(usize::MAX));
    regions
}

/// So often a plan is made of which something has to be taken back.
const MOST_ATTEMPTS: usize = 4;

/// The plan whose groups a planner chose in the place of those of `before`, each as launches. What cannot be one group stays
/// unfused; launches under conditions of their own join as in [`plan_fusion`].
pub fn plan_fusion_as(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
    (sets, before): (&[Vec<LaunchId>], &FusionPlan),
) -> (FusionPlan, Vec<Missed>) {
    let given = (dependences, options);
    let chosen = Some((sets, before));
    let (plan, missed, _) = plan_of_groups(graph, kernels, dependences, given, chosen);
    (plan, missed)
}

/// The plan by some edges of the whole graph, and how many launches it leaves where each loop runs once.
fn plan_by(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    given: (&DependenceGraph, &ScheduleOptions),
) -> (FusionPlan, Vec<Missed>, usize) {
    plan_of_groups(graph, kernels, dependences, given, None)
}

/// [`plan_by`], of the groups that a planner chose, where there are any.
fn plan_of_groups(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    (whole, options): (&DependenceGraph, &ScheduleOptions),
    chosen: Option<(&[Vec<LaunchId>], &FusionPlan)>,
) -> (FusionPlan, Vec<Missed>, usize) {
    let mut left = 0;
    let nodes: Vec<NodeId> = launches(graph).collect();
    let mut judge = Judge::new(graph, kernels, dependences, options);
    let candidates: HashMap<NodeId, Result<Candidate, Rejection>> = nodes
        .iter()
        .map(|node| (*node, candidate(graph, kernels, *node)))
        .collect();
    let mut grouping = match chosen {
        None => group(&mut judge, dependences, &nodes, &candidates, None),
        Some((sets, _)) => prescribed(&mut judge, dependences, &nodes, &candidates, sets),
    };
    let mut plan = grouping.plan(&judge);
    if options.launch_batches && options.fusion == Fusion::All {
        (plan.batched_regions, left) = plan_batches(
            graph,
            (kernels, &judge.memory),
            whole,
            &plan.groups,
            options,
        );
        // What only stands side by side may wait for a batch as well, beside more.
        let (in_batches, _) = plan_batches(graph, (kernels, &judge.memory), whole, &[], options);
        let waits = |launch: LaunchId| {
            let mut statements = in_batches.iter().flat_map(|region| &region.statements);
            statements.any(|statement| statement.launch == launch)
        };
        let (beside, kept): (Vec<FusionGroup>, Vec<FusionGroup>) =
            plan.groups.iter().cloned().partition(|group| {
                let mut members = group.members.iter();
                group.partitions().len() == group.members.len()
                    && members.all(|member| waits(member.launch))
            });
        if chosen.is_none() && !beside.is_empty() {
            let (batched_regions, fewer) =
                plan_batches(graph, (kernels, &judge.memory), whole, &kept, options);
            if fewer < left {
                let members = beside.iter().flat_map(|group| &group.members);
                grouping
                    .groups
                    .dissolve(&members.map(|member| member.launch).collect());
                plan = grouping.plan(&judge);
                (plan.batched_regions, left) = (batched_regions, fewer);
            }
        }
        // Equal groups a unit each may need fewer launches in batches.
        if let (None, Some(units)) = (chosen, Units::find(graph)) {
            let within = group(&mut judge, dependences, &nodes, &candidates, Some(&units));
            let mut in_units = within.plan(&judge);
            let (batched_regions, fewer) = plan_batches(
                graph,
                (kernels, &judge.memory),
                whole,
                &in_units.groups,
                options,
            );
            in_units.batched_regions = batched_regions;
            if fewer < left {
                (grouping, plan, left) = (within, in_units, fewer);
            }
        }
        // Regions count as well, after the groups.
        let most = options.max_fusions.unwrap_or(usize::MAX);
        plan.batched_regions
            .truncate(most.saturating_sub(plan.groups.len()));
    }
    if stand_beside(options) {
        // What waits for a batch stays as it is, and what stands around it.
        let place = |node: NodeId| {
            let block = graph.nodes[node.0].block;
            let outermost = graph.loops_around(block).first().copied();
            (graph.blocks[block.0].function, outermost)
        };
        let regions = plan.batched_regions.iter();
        let statements: HashSet<LaunchId> = regions
            .flat_map(|region| region.statements.iter().map(|statement| statement.launch))
            .collect();
        let is_batched = |node: &&NodeId| match &graph.nodes[node.0].kind {
            NodeKind::Launch(launch) => statements.contains(&launch.id),
            _ => false,
        };
        let batched = nodes.iter().filter(is_batched);
        let batched: HashSet<_> = batched.copied().map(place).collect();
        let stays = |node: NodeId| batched.contains(&place(node));
        // Launches that hand something on come before those that only share a launch.
        for beside in [false, true] {
            join_conditional(&mut grouping.groups, &mut judge, stays, beside);
            join_partial(&mut grouping.groups, &mut judge, stays);
        }
        plan.groups = grouping.plan(&judge).groups;
    }
    if options.one_base && options.fusion != Fusion::Off {
        let made = plan.groups.len() + plan.batched_regions.len();
        let most = options.max_fusions.unwrap_or(usize::MAX);
        let candidates: Vec<Candidate> = nodes
            .iter()
            .filter_map(|node| candidates[node].as_ref().ok().copied())
            .collect();
        let single = judge.single_launches(&plan, &candidates, most.saturating_sub(made));
        plan.groups.extend(single);
    }
    if options.persistent_loops {
        let most = options.max_fusions.unwrap_or(usize::MAX);
        let left =
            |plan: &FusionPlan| most.saturating_sub(plan.groups.len() + plan.batched_regions.len());
        let candidates: Vec<Candidate> = nodes
            .iter()
            .filter_map(|node| candidates[node].as_ref().ok().copied())
            .collect();
        // A group of one and its region.
        let single = judge.persistent_launches(&plan, whole, &candidates, left(&plan) / 2);
        plan.groups.extend(single);
        let most = left(&plan);
        let known = (plan.groups.as_slice(), &mut plan.batched_regions);
        plan_persistent_loops(graph, kernels, whole, known, options, most);
    }
    if options.reserves_memory && options.fusion != Fusion::Off {
        plan.dead_buffers = find_dead_buffers(graph, kernels, &plan);
    }
    let Grouping { groups, refusals } = grouping;
    let mut missed = between_iterations(&judge, whole, &candidates, &plan.batched_regions);
    // Sets and copies that stay what they are are no launches.
    let is_launch = |node: &&NodeId| match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => graph.operation_of(launch.id).is_none(),
        _ => false,
    };
    let launches: Vec<NodeId> = nodes.iter().filter(is_launch).copied().collect();
    for pair in launches.windows(2) {
        let (source, sink) = (pair[0], pair[1]);
        if groups.together(source, sink) {
            continue;
        }
        if chosen.is_some_and(|(_, before)| are_together(graph, before, source, sink)) {
            let [one, two] = [source, sink].map(|node| name(&judge, node));
            let message = format!(
                "{one} and {two} are in kernels of their own, as the planner found that to take less by the cost model"
            );
            missed.push(Missed {
                source,
                sink,
                rejection: rejection(
                    RejectionReason::Resources,
                    message,
                    &graph.nodes[sink.0].location,
                ),
                carried: false,
            });
            continue;
        }
        let rejection = why_unfused(
            &mut judge,
            (&candidates[&source], &candidates[&sink]),
            (source, sink),
            &groups,
            refusals.get(&sink).map_or(&[], Vec::as_slice),
        );
        missed.push(Missed {
            source,
            sink,
            rejection,
            carried: false,
        });
    }
    missed.sort_by_key(|missed| (missed.source, missed.carried));
    (plan, missed, left)
}

/// Whether two launches are members of one group.
fn are_together(graph: &LaunchGraph, plan: &FusionPlan, source: NodeId, sink: NodeId) -> bool {
    let launches = [source, sink].map(|node| match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => Some(launch.id),
        _ => None,
    });
    plan.groups.iter().any(|group| {
        let mut launches = launches.iter();
        launches.all(|launch| {
            let mut members = group.members.iter();
            members.any(|member| Some(member.launch) == *launch)
        })
    })
}

/// Launches in groups, and by launch why it could not join.
pub(super) struct Grouping<'a> {
    pub(super) groups: Groups<'a>,
    pub(super) refusals: HashMap<NodeId, Vec<Refusal>>,
}

impl Grouping<'_> {
    /// The plan of it.
    pub(super) fn plan(&self, judge: &Judge<'_>) -> FusionPlan {
        let mut finished: Vec<&Vec<Candidate>> = self
            .groups
            .members
            .iter()
            .filter(|members| members.len() > 1)
            .collect();
        finished.sort_by_key(|members| members[0].node);
        let partition = |member: &Candidate| self.groups.partition(member.node);
        FusionPlan {
            groups: finished
                .into_iter()
                .map(|members| judge.finish(members, partition))
                .collect(),
            ..FusionPlan::default()
        }
    }
}

/// Joins launches, those of one unit only where units are given.
pub(super) fn group<'a>(
    judge: &mut Judge<'a>,
    dependences: &DependenceGraph,
    nodes: &[NodeId],
    candidates: &HashMap<NodeId, Result<Candidate<'a>, Rejection>>,
    units: Option<&Units>,
) -> Grouping<'a> {
    let (graph, options) = (judge.graph, judge.options);
    let mut groups = Groups::default();
    let mut refusals: HashMap<NodeId, Vec<Refusal>> = HashMap::new();
    judge.by_tiles = false;
    for node in nodes {
        let Ok(last) = candidates[node] else { continue };
        let home = groups.open(last);
        if options.fusion == Fusion::Off {
            continue;
        }
        let mut sources: Vec<usize> = Vec::new();
        // Those whose threads need not be remapped.
        let mut in_place: Vec<usize> = Vec::new();
        for (source, stays) in judge.local_sources(dependences, *node) {
            if !may_meet(units, source, *node) {
                continue;
            }
            if let Some(group) = groups.index_of(source) {
                if !sources.contains(&group) {
                    sources.push(group);
                }
                if stays && !in_place.contains(&group) {
                    in_place.push(group);
                }
            }
        }
        if sources.is_empty() {
            continue;
        }
        // All of them, else those that run just when this one does, else one after the other, the latest first. One
        // of several with equal code stays with those: what they load is shared there.
        let mut attempts = vec![sources.clone()];
        if sources.len() > 1 {
            let block = |node: NodeId| graph.nodes[node.0].block;
            let runs_along = |group: &&usize| {
                let mut members = groups.members[**group].iter();
                members.all(|member| block(member.node) == block(*node))
            };
            let along: Vec<usize> = sources.iter().filter(runs_along).copied().collect();
            if (1..sources.len()).contains(&along.len()) {
                attempts.push(along);
            }
            let members = |group: usize| groups.members[group].as_slice();
            let code = |group: usize| -> Vec<_> {
                let members = members(group).iter();
                members.map(|member| member.model.id).collect()
            };
            let innermost = |group: usize| {
                let block = graph.nodes[members(group)[0].node.0].block;
                graph.blocks[block.0].innermost_loop
            };
            let has_equals = |source: usize| {
                // Outside of loops and units nothing is launched together with its equals later on.
                let mut others = sources.iter().filter(|other| **other != source);
                (innermost(source).is_some() || units.is_some())
                    && others.any(|other| {
                        let [first, second] = [source.min(*other), source.max(*other)];
                        let ends = [first, second].map(|group| members(group)[0].node);
                        code(source) == code(*other)
                            && innermost(source) == innermost(*other)
                            && judge.edges(ends[0], ends[1]).is_empty()
                    })
            };
            let alone: Vec<usize> = sources
                .iter()
                .copied()
                .filter(|source| !has_equals(*source))
                .collect();
            if (2..sources.len()).contains(&in_place.len()) {
                attempts.push(in_place);
            }
            attempts.extend(alone.into_iter().map(|source| vec![source]));
        }
        for attempt in attempts {
            let members: Vec<&[Candidate]> = attempt
                .iter()
                .map(|group| groups.members[*group].as_slice())
                .collect();
            let grown = members.iter().filter(|members| members.len() > 1).count();
            let verdict = if grown == 0
                && options
                    .max_fusions
                    .is_some_and(|most| groups.fused() >= most)
            {
                Err(rejection(
                    RejectionReason::Disabled,
                    String::from("the number of fusions is limited on the command line"),
                    &graph.nodes[node.0].location,
                ))
            } else {
                judge.may_join(&members, last)
            };
            match verdict {
                Ok(()) => {
                    groups.join(&attempt, home);
                    break;
                }
                Err(found) => {
                    let places = members.iter().filter_map(|members| members.last());
                    let places = places.map(|member| member.node).collect();
                    let refused = refusals.entry(*node).or_default();
                    refused.push(Refusal { places, found });
                }
            }
        }
    }
    judge.by_tiles = true;
    if options.fusion != Fusion::Off {
        join_by_tiles(&mut groups, judge, dependences, units);
        join_sharers(&mut groups, judge, units);
    }
    groups.settle_partitions();
    if stand_beside(options) {
        join_independent(&mut groups, judge, units);
    }
    Grouping { groups, refusals }
}

/// Whether two launches may be in one group, as far as units go.
fn may_meet(units: Option<&Units>, one: NodeId, other: NodeId) -> bool {
    units.is_none_or(|units| units.together(one, other))
}

/// Joins whole groups to those on whose tiles they work. A product's blocks are few and large, so that elementwise work goes along
/// with what needs no such blocks where it can.
fn join_by_tiles<'a>(
    groups: &mut Groups<'a>,
    judge: &mut Judge<'a>,
    dependences: &DependenceGraph,
    units: Option<&Units>,
) {
    for home in 0..groups.members.len() {
        let later = groups.members[home].clone();
        let Some((last, rest)) = later.split_last() else {
            continue;
        };
        let mut sources: Vec<NodeId> = later
            .iter()
            .flat_map(|member| judge.sources_by_tiles(dependences, member.node))
            .collect();
        sources.sort();
        sources.dedup();
        for source in sources.into_iter().rev() {
            let Some(group) = groups.index_of(source).filter(|group| *group != home) else {
                continue;
            };
            let earlier = groups.members[group].as_slice();
            let grown = earlier.len() > 1 || later.len() > 1;
            let most = judge.options.max_fusions;
            let too_many = !grown && most.is_some_and(|most| groups.fused() >= most);
            let is_before = earlier.iter().all(|member| member.node < later[0].node);
            if is_before
                && !too_many
                && may_meet(units, source, last.node)
                && judge.may_join(&[earlier, rest], *last).is_ok()
            {
                groups.join(&[group], home);
                break;
            }
        }
    }
}

/// Joins whole groups that load from the same allocation and do not depend on each other: the later
/// of two takes in the earlier, the nearest first.
fn join_sharers<'a>(groups: &mut Groups<'a>, judge: &mut Judge<'a>, units: Option<&Units>) {
    let options = judge.options;
    let mut order: Vec<usize> = (0..groups.members.len())
        .filter(|group| !groups.members[*group].is_empty())
        .collect();
    order.sort_by_key(|group| groups.members[*group].last().map(|member| member.node));
    let mut sharers = Sharers::default();
    for home in order {
        let own = loaded(&groups.members[home]);
        for source in sharers.nearest(&own) {
            let (earlier, later) = (&groups.members[source], &groups.members[home]);
            let Some((last, rest)) = later.split_last() else {
                break;
            };
            let distance = earlier.last().map(|place| last.node.0 - place.node.0);
            if distance.is_none_or(|distance| distance > FARTHEST)
                || !may_meet(units, earlier[0].node, last.node)
            {
                continue;
            }
            let grown = earlier.len() > 1 || later.len() > 1;
            let too_many = options
                .max_fusions
                .is_some_and(|most| groups.fused() >= most);
            if !grown && too_many {
                break;
            }
            if judge.joins_at_no_risk(earlier, later)
                && judge.may_join(&[earlier, rest], *last).is_ok()
            {
                let gone = loaded(earlier);
                groups.join(&[source], home);
                sharers.leave(source, &gone);
            }
        }
        sharers.enter(home, loaded(&groups.members[home]));
    }
}

/// Joins whole groups that do not depend on each other, side by side: the later of two takes in the
/// earlier, the nearest first.
fn join_independent<'a>(groups: &mut Groups<'a>, judge: &mut Judge<'a>, units: Option<&Units>) {
    let options = judge.options;
    let mut order: Vec<usize> = (0..groups.members.len())
        .filter(|group| {
            // Sets and copies by themselves have no shape of their own.
            let mut members = groups.members[*group].iter();
            members.any(|member| judge.graph.operation_of(member.launch.id).is_none())
        })
        .collect();
    order.sort_by_key(|group| groups.members[*group].last().map(|member| member.node));
    // Groups before the one that is looked at, the latest last.
    let mut before: Vec<usize> = Vec::new();
    for home in order {
        let mut tried = 0;
        for source in before.clone().into_iter().rev() {
            let (earlier, later) = (&groups.members[source], &groups.members[home]);
            let (Some(place), Some(last)) = (earlier.last(), later.last()) else {
                continue;
            };
            if !may_meet(units, place.node, last.node) {
                continue;
            }
            tried += 1;
            if last.node.0 - place.node.0 > FARTHEST || tried > MOST_TRIED {
                break;
            }
            let grown = earlier.len() > 1 || later.len() > 1;
            let too_many = options
                .max_fusions
                .is_some_and(|most| groups.fused() >= most);
            if !grown && too_many {
                break;
            }
            let (earlier, later) = (earlier.clone(), later.clone());
            let partition = |member: &Candidate| groups.partition(member.node);
            if judge.may_stand_beside(&earlier, &later, partition).is_ok() {
                groups.join(&[source], home);
                before.retain(|group| *group != source);
            }
        }
        before.push(home);
    }
}

/// So many groups are tried for each.
const MOST_TRIED: usize = 4;

/// A group does not move past more operations than this to share what it loads.
const FARTHEST: usize = 128;
