//! Launches with global dependences that become one cooperative launch, with grid-wide barriers between them.
//!
//! Such launches stay apart by rule P2 of the paper, which has no barrier across a grid. Here they follow each other as
//! *phases* of one launch, each a launch or a group that was planned before. The run-time asks the device how many blocks
//! are there at once, and takes the originals where these are too few.
//!
//! Where iterations of a host loop make such launches, they may follow each other in one kernel as well ([`persistent`]
//! says when). Then one launch is a phase by itself.
//!
//! [`persistent`]: super::super::persistent
//!
//! Invariant: a run of phases moves past nothing that a group could not move past, and each phase needs something of one
//! before. What is planned before, groups and launches that wait for batches, is only put together, never taken apart.

use super::super::dead_buffers::find_dead_buffers;
use super::super::group::{Judge, orders};
use super::super::obstacle::{Candidate, candidate, refuse_node, rejection};
use super::super::persistent::plan_persistent_loops;
use super::super::{FusionGroup, FusionPlan, Member, Missed, ScheduleOptions, ThreadMap, Variant};
use super::fallback::{fallback, groups_without_barriers};
use crate::dependence::{DependenceGraph, Guard, Scope};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind, ValueId};
use crate::math::expression::{Condition, Expression};
use std::collections::{BTreeSet, HashMap};

/// Puts launches and groups of a plan together that grid-wide barriers can order. Pairs that are in one launch then
/// leave `missed`; of others with a global dependence it says why they are not.
pub fn plan_grid_barriers(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
    (plan, missed): (&mut FusionPlan, &mut Vec<Missed>),
) {
    // A number of fusions is for bisection, which wants the same groups every time.
    if !options.grid_barriers || dependences.cut_short || options.max_fusions.is_some() {
        return;
    }
    let mut judge = Judge::new(graph, kernels, dependences, options);
    let mut runs: Vec<Vec<Phase<'_>>> = Vec::new();
    let mut refused: HashMap<(NodeId, NodeId), Rejection> = HashMap::new();
    let mut before: Option<NodeId> = None;
    for (node, found) in phases(&judge, plan) {
        let joined = match (found, runs.last_mut()) {
            (Ok(phase), Some(run)) if !run.is_empty() => match judge.follows(run, &phase) {
                Ok(()) => {
                    run.push(phase);
                    Ok(())
                }
                Err(rejection) => {
                    runs.push(vec![phase]);
                    Err(rejection)
                }
            },
            (Ok(phase), _) => {
                runs.push(vec![phase]);
                Ok(())
            }
            (Err(rejection), _) => {
                runs.push(Vec::new());
                Err(rejection)
            }
        };
        if let (Err(rejection), Some(before)) = (joined, before) {
            refused.insert((before, node), rejection);
        }
        before = Some(node);
    }
    // One phase is worth it where its launches follow each other in a host loop.
    runs.retain(|run| match run.as_slice() {
        [] => false,
        [_] => {
            let group = judge.group_of_run(run);
            let runs_ahead = || matches!(judge.tested_loop(dependences, &group), Some(Ok(_)));
            crosses_blocks(dependences, &group, graph) && judge.persists(dependences, &group)
                || runs_ahead()
        }
        _ => true,
    });
    judge.take_loops_apart(dependences, plan, &mut runs);
    if runs.is_empty() {
        explain(missed, refused);
        explain_loops(missed, judge.untold_loops());
        return;
    }
    let taken: BTreeSet<LaunchId> = runs
        .iter()
        .flatten()
        .flat_map(|phase| phase.members.iter().map(|member| member.launch.id))
        .collect();
    let without = groups_without_barriers(graph, kernels, dependences, options, (plan, missed));
    plan.groups.retain(|group| {
        let mut members = group.members.iter();
        !members.any(|member| taken.contains(&member.launch))
    });
    let mut stay = judge.untold_loops();
    for run in &runs {
        let mut group = judge.group_of_run(run);
        match judge.tested_loop(dependences, &group) {
            Some(Ok(tested)) => {
                group.tested_loop = Some(tested);
                // Launches that are made stay where they are.
                group.awaited_copies.clear();
            }
            Some(Err(why)) => stay.extend(run[0].members.first().map(|first| (first.node, why))),
            None => {}
        }
        group.fallback = fallback(&group, &without);
        plan.groups.push(group);
    }
    plan.sort_groups(graph);
    let cooperative = plan.groups.iter().filter(|group| group.is_cooperative());
    let cooperative: Vec<FusionGroup> = cooperative.cloned().collect();
    let known = (cooperative.as_slice(), &mut plan.batched_regions);
    plan_persistent_loops(graph, kernels, dependences, known, options, usize::MAX);
    if options.reserves_memory {
        plan.dead_buffers = find_dead_buffers(graph, kernels, plan);
    }
    let run_of = |node: NodeId| {
        runs.iter().position(|run| {
            let mut members = run.iter().flat_map(|phase| &phase.members);
            members.any(|member| member.node == node)
        })
    };
    let in_loops: BTreeSet<LaunchId> = plan
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements)
        .filter(|statement| statement.persistent.is_some())
        .map(|statement| statement.launch)
        .chain(
            plan.groups
                .iter()
                .filter(|group| group.tested_loop.is_some())
                .flat_map(|group| group.members.iter().map(|member| member.launch)),
        )
        .collect();
    let repeats = |run: usize| {
        let mut members = runs[run].iter().flat_map(|phase| &phase.members);
        members.any(|member| in_loops.contains(&member.launch.id))
    };
    missed.retain(|each| {
        let [source, sink] = [each.source, each.sink].map(run_of);
        let together = source.filter(|_| source == sink);
        !together.is_some_and(|run| !each.carried || repeats(run))
    });
    explain(missed, refused);
    explain_loops(missed, stay);
}

/// Says of launches of different iterations why these do not run in one kernel.
fn explain_loops(missed: &mut [Missed], stay: Vec<(NodeId, Rejection)>) {
    for (first, why) in stay {
        let mut carried = missed.iter_mut().filter(|each| each.carried);
        if let Some(missed) = carried.find(|each| each.sink == first)
            && !missed.rejection.message.contains(&why.message)
        {
            let message = &mut missed.rejection.message;
            message.push_str(&format!("; {}", why.message));
        }
    }
}

/// Whether a launch of an iteration needs what other blocks made in one before; without that a loop can do without barriers
/// across the grid.
fn crosses_blocks(dependences: &DependenceGraph, group: &FusionGroup, graph: &LaunchGraph) -> bool {
    let is_own = |node: NodeId| match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => group.members.iter().any(|each| each.launch == launch.id),
        _ => false,
    };
    let edges = dependences.graph.edge_references();
    let mut edges = edges.map(|edge| edge.weight());
    edges.any(|edge| {
        let global = edge.carried && edge.scope == Scope::Global && orders(edge);
        global && is_own(edge.source) && is_own(edge.sink)
    })
}

/// Says of pairs with a global dependence why no barrier orders them.
fn explain(missed: &mut [Missed], mut refused: HashMap<(NodeId, NodeId), Rejection>) {
    let global = missed
        .iter_mut()
        .filter(|each| !each.carried && each.rejection.reason == RejectionReason::GlobalDependence);
    for each in global {
        if let Some(why) = refused.remove(&(each.source, each.sink)) {
            let message = &mut each.rejection.message;
            message.push_str(&format!(
                "; no grid-wide barrier orders them: {}",
                why.message
            ));
        }
    }
}

/// A launch or a group between two grid-wide barriers.
struct Phase<'a> {
    members: Vec<Candidate<'a>>,
    group: FusionGroup,
}

/// The launches that wait for their batches.
fn waiting(plan: &FusionPlan) -> BTreeSet<LaunchId> {
    let regions = plan.batched_regions.iter();
    let statements = regions.flat_map(|region| &region.statements);
    statements.map(|statement| statement.launch).collect()
}

/// All launches in host order, each with the phase that begins with it, or why there is none. Later members of groups are
/// left out.
fn phases<'a>(judge: &Judge<'a>, plan: &FusionPlan) -> Vec<(NodeId, Result<Phase<'a>, Rejection>)> {
    let graph = judge.graph;
    let waiting = waiting(plan);
    let launches: HashMap<LaunchId, NodeId> = graph.launches().collect();
    let mut found = Vec::new();
    let mut nodes: Vec<(NodeId, LaunchId)> = launches
        .iter()
        .filter(|(launch, _)| graph.operation_of(**launch).is_none())
        .map(|(launch, node)| (*node, *launch))
        .collect();
    nodes.sort_unstable();
    let mut seen: BTreeSet<LaunchId> = BTreeSet::new();
    for (node, launch) in nodes {
        if seen.contains(&launch) || graph.becomes_node(node) {
            continue;
        }
        let mut groups = plan.groups.iter();
        let own = groups.find(|group| group.members.iter().any(|each| each.launch == launch));
        let ids: Vec<LaunchId> = own.map_or_else(
            || vec![launch],
            |group| group.members.iter().map(|member| member.launch).collect(),
        );
        seen.extend(ids.iter().copied());
        let members = ids
            .iter()
            .filter_map(|id| launches.get(id))
            .map(|node| candidate(graph, judge.kernels, *node));
        let phase = members.collect::<Result<Vec<Candidate>, Rejection>>();
        let phase = phase.and_then(|members| judge.phase(members, own, &waiting));
        found.push((node, phase));
    }
    found
}

impl<'a> Judge<'a> {
    /// Where a loop runs ahead only when groups in it are taken apart, its launches, sets and copies are a run of one phase
    /// each.
    fn take_loops_apart(
        &mut self,
        dependences: &DependenceGraph,
        plan: &FusionPlan,
        runs: &mut Vec<Vec<Phase<'a>>>,
    ) {
        let waiting = waiting(plan);
        let tests = self.graph.loop_tests.iter();
        let told = tests.filter(|(_, test)| test.is_ok());
        for index in told.map(|(index, _)| *index).collect::<Vec<usize>>() {
            let graph = self.graph;
            let of_loop = |node: NodeId| {
                let block = graph.nodes[node.0].block;
                graph.blocks[block.0].innermost_loop == Some(index)
            };
            let runs_ahead = |run: &[Phase<'a>]| {
                let group = self.group_of_run(run);
                matches!(self.tested_loop(dependences, &group), Some(Ok(_)))
            };
            let in_loop = |run: &[Phase<'a>]| {
                let mut members = run.iter().flat_map(|phase| &phase.members);
                members.any(|member| of_loop(member.node))
            };
            if runs.iter().any(|run| in_loop(run) && runs_ahead(run)) {
                continue;
            }
            let nodes = graph.launches().map(|(_, node)| node);
            let mut nodes: Vec<NodeId> = nodes.filter(|node| of_loop(*node)).collect();
            nodes.sort_unstable();
            let planned = phases(self, plan).into_iter();
            let planned = planned.filter(|(node, _)| of_loop(*node));
            let planned = planned.map(|(_, phase)| phase.ok());
            let planned: Option<Vec<Phase<'a>>> = planned.collect();
            let joined = self.joined(&nodes, &waiting);
            for phases in [planned, joined].into_iter().flatten() {
                let Some(run) = self.run_in_loop(phases) else {
                    continue;
                };
                let group = self.group_of_run(&run);
                if matches!(self.tested_loop(dependences, &group), Some(Ok(_))) {
                    runs.retain(|run| !in_loop(run));
                    runs.push(run);
                    break;
                }
            }
        }
    }

    /// Launches, sets and copies as phases: each by itself, or with those right before it, where it may join them.
    fn joined(&mut self, nodes: &[NodeId], waiting: &BTreeSet<LaunchId>) -> Option<Vec<Phase<'a>>> {
        let mut phases: Vec<Phase<'a>> = Vec::new();
        for node in nodes {
            refuse_node(self.graph, *node).ok()?;
            let own = candidate(self.graph, self.kernels, *node).ok()?;
            if let Some(last) = phases.last_mut()
                && self.may_join(&[&last.members], own).is_ok()
            {
                let members = last.members.iter().copied().chain([own]);
                if let Ok(phase) = self.phase(members.collect(), None, waiting) {
                    *last = phase;
                    continue;
                }
            }
            phases.push(self.phase(vec![own], None, waiting).ok()?);
        }
        Some(phases)
    }

    /// Phases as one run, whatever the host does between them.
    fn run_in_loop(&mut self, phases: Vec<Phase<'a>>) -> Option<Vec<Phase<'a>>> {
        let mut run: Vec<Phase<'a>> = Vec::new();
        for phase in phases {
            if !run.is_empty() {
                self.fits_behind(&run, &phase).ok()?;
            }
            run.push(phase);
        }
        (!run.is_empty()).then_some(run)
    }

    /// The phase of some launches, which are one group where there is more than one.
    fn phase(
        &self,
        members: Vec<Candidate<'a>>,
        planned: Option<&FusionGroup>,
        waiting: &BTreeSet<LaunchId>,
    ) -> Result<Phase<'a>, Rejection> {
        let first = members[0];
        let location = &self.graph.nodes[first.node.0].location;
        let name = &first.model.display_name;
        let refuse =
            |reason, what: &str| Err(rejection(reason, format!("`{name}` {what}"), location));
        if members.iter().any(|each| waiting.contains(&each.launch.id)) {
            return refuse(RejectionReason::HostLoop, "waits for a launch batch");
        }
        if planned.is_some_and(FusionGroup::is_partial) {
            let what = "is in a group that runs with those of its launches that the host comes to";
            return refuse(RejectionReason::ControlFlow, what);
        }
        if members.iter().any(|member| member.model.prints) {
            return refuse(RejectionReason::HostAccess, "prints");
        }
        self.conditions_hold(&members[..1.min(members.len())])?;
        let group = match planned {
            Some(group) => group.clone(),
            None => self.finish(&members, |_| 0),
        };
        let keeps = |member: &Member| member.map == ThreadMap::Identity;
        let is_plain = group.members.iter().all(keeps)
            && group.segments.is_empty()
            && group.issued_before.is_empty();
        if !is_plain {
            let what = "is in a group whose launches have grids of their own";
            return refuse(RejectionReason::Shape, what);
        }
        Ok(Phase { members, group })
    }

    /// The group of some launches that are phases with so many of them each, which was part of a larger one.
    pub(in crate::schedule) fn of_phases(
        &self,
        members: &[Candidate<'a>],
        lengths: &[usize],
    ) -> Option<FusionGroup> {
        let mut rest = members;
        let mut run = Vec::new();
        for length in lengths {
            let (own, others) = rest.split_at_checked(*length)?;
            run.push(self.phase(own.to_vec(), None, &BTreeSet::new()).ok()?);
            rest = others;
        }
        match run.len() {
            1 => run.pop().map(|phase| phase.group),
            _ => Some(self.group_of_run(&run)),
        }
    }

    /// Whether a phase may follow others in one launch.
    fn follows(&mut self, run: &[Phase<'a>], next: &Phase<'a>) -> Result<(), Rejection> {
        let before: Vec<Candidate> = run
            .iter()
            .flat_map(|phase| &phase.members)
            .copied()
            .collect();
        let (Some(first), Some(end)) = (next.members.first(), next.members.last()) else {
            return Ok(());
        };
        let needs = |source: &Candidate, sink: &Candidate| {
            let mut edges = self.edges(source.node, sink.node).iter();
            edges.any(|edge| orders(edge))
        };
        if !before
            .iter()
            .any(|source| next.members.iter().any(|sink| needs(source, sink)))
        {
            let name = &first.model.display_name;
            let message = format!("`{name}` needs nothing of the launches before");
            let location = &self.graph.nodes[first.node.0].location;
            return Err(rejection(RejectionReason::NotSimilar, message, location));
        }
        self.fits_behind(run, next)?;
        let all: Vec<Candidate> = before.iter().chain(&next.members).copied().collect();
        self.may_follow_each_other(&all)?;
        self.nothing_passed(&[before.as_slice()], &all, *end)
    }

    /// Launches follow each other each time, or under conditions of their own. The streams of two are compared where both
    /// were reached; of more, some may not be.
    fn may_follow_each_other(&mut self, all: &[Candidate<'a>]) -> Result<(), Rejection> {
        self.conditional = true;
        self.compares_streams = all.len() == 2;
        let mut pairs = all.windows(2);
        let follow = pairs.try_for_each(|pair| self.one_after_the_other(&pair[0], &pair[1]));
        self.conditional = false;
        self.compares_streams = false;
        follow
    }

    /// Whether a phase may follow others in one launch if the host does nothing in between.
    fn fits_behind(&mut self, run: &[Phase<'a>], next: &Phase<'a>) -> Result<(), Rejection> {
        let before = run.iter().flat_map(|phase| &phase.members).copied();
        let all: Vec<Candidate> = before.chain(next.members.iter().copied()).collect();
        let before = &all[..all.len() - next.members.len()];
        let (Some(last), Some(first)) = (before.last(), next.members.first()) else {
            return Ok(());
        };
        let location = &self.graph.nodes[first.node.0].location;
        let refuse = |reason, message: String| Err(rejection(reason, message, location));
        let names = [last, first].map(|member| &member.model.display_name);
        if last.node >= first.node {
            let message = format!(
                "`{}` and `{}` are interleaved with others",
                names[0], names[1]
            );
            return refuse(RejectionReason::NotConvex, message);
        }
        self.blocks_fit(&all, self.same_shape(last, first))?;
        if run.len() >= MOST_PHASES || argument_bytes(&all) > MOST_ARGUMENT_BYTES {
            let message = format!("one launch up to `{}` would have too much code", names[1]);
            return refuse(RejectionReason::Resources, message);
        }
        self.streams_allow(&all)
    }

    /// The group of a run of phases.
    fn group_of_run(&self, run: &[Phase<'a>]) -> FusionGroup {
        let all: Vec<Candidate> = run
            .iter()
            .flat_map(|phase| &phase.members)
            .copied()
            .collect();
        let mut guards: BTreeSet<Guard> = BTreeSet::new();
        guards.insert(Guard::Resident {
            rounds: MOST_ROUNDS,
        });
        let holds = |class: &str, condition: Condition<ValueId>| {
            let class = class.to_owned();
            let decided = condition.decided() == Some(true);
            (!decided).then_some(Guard::Holds { class, condition })
        };
        for phase in run {
            guards.extend(phase.group.guards.iter().cloned());
            let [x, y, z] = [0, 1, 2].map(|axis| self.extent(&phase.members[0], axis));
            let most = Expression::Constant(MOST_BLOCKS);
            let countable = Condition::LessEqual(x.multiply(y).multiply(z), most);
            guards.extend(holds("range", countable));
        }
        for pair in all.windows(2) {
            for axis in 3..6 {
                let [one, other] = [0, 1].map(|at: usize| self.extent(&pair[at], axis));
                let equal = Condition::Equal(one, other);
                // Where they are known to differ, the larger block has both.
                if equal.decided() != Some(false) {
                    guards.extend(holds("shape", equal));
                }
            }
        }
        guards.extend(self.stream_guards(&all));
        guards.extend(self.questions(&all));
        let seen = |member: &&Candidate| self.graph.is_seen_in_capture(member.node, member.launch);
        if let Some(seen) = all.iter().find(seen) {
            let launch = seen.launch.id;
            guards.insert(Guard::NotCapturing { launch });
        }
        let mut grid_barriers = Vec::new();
        let mut count = 0;
        for phase in run {
            grid_barriers.extend((count > 0).then_some(count));
            count += phase.members.len();
        }
        FusionGroup {
            members: run
                .iter()
                .flat_map(|phase| phase.group.members.iter().cloned())
                .collect(),
            layout: LAYOUT.to_owned(),
            layouts: Vec::new(),
            guards: guards.into_iter().collect(),
            unread_afterwards: Vec::new(),
            segments: Vec::new(),
            awaited_copies: self.awaited_copies(&all),
            issued_before: Vec::new(),
            partial_guards: Vec::new(),
            variant: Variant::default(),
            grid_barriers,
            overlap: None,
            last_block: None,
            front_guards: None,
            early_guards: None,
            recomputation: None,
            fallback: Vec::new(),
            tested_loop: None,
        }
    }
}

fn argument_bytes(members: &[Candidate]) -> u64 {
    let formals = members.iter().flat_map(|member| &member.model.formals);
    formals.map(|formal| u64::from(formal.size_bytes)).sum()
}

/// The name of this layout in reports.
const LAYOUT: &str = "phases";

/// A kernel has the code of so many phases at most.
const MOST_PHASES: usize = 32;
/// There is room for these in the parameters of a kernel on any device, and for grids.
const MOST_ARGUMENT_BYTES: u64 = 3072;
/// A resident block runs so many blocks of a phase at most. A launch that takes longer hides what the next costs to begin,
/// and its last blocks are better spread by the device than by counting.
pub(super) const MOST_ROUNDS: u32 = 8;
/// Blocks are counted in 32 bits.
const MOST_BLOCKS: i64 = 1 << 30;
