//! Host loops whose iterations end with launches that may run together with those that the next iteration begins with.
//!
//! A plan knows launches of one iteration only. Where the host code is rotated behind the launches that an iteration
//! begins with, these stand at its end, for the next one, and can be members of a group like all others. What is found
//! here is where that may help; whether it does, the plan of the rotated program tells.

use super::super::{FusionGroup, FusionPlan};
use crate::dependence::{DependenceGraph, DependenceKind, Edge, Scope};
use crate::launch::{HostBlockId, LaunchGraph, LaunchId, Node, NodeId, NodeKind, SplitLoop};
use std::collections::{BTreeMap, BTreeSet};

/// A loop that may be rotated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The launch behind which: the last one of the first group of an iteration.
    pub behind: LaunchId,
    /// All launches of an iteration.
    pub launches: Vec<LaunchId>,
}

/// The loops that may be rotated.
pub fn rotations(
    graph: &LaunchGraph,
    dependences: &DependenceGraph,
    plan: &FusionPlan,
) -> Vec<Rotation> {
    let waiting = waiting(plan);
    by_loop(graph, plan)
        .into_iter()
        .filter_map(|(around, launches)| {
            let behind = behind((graph, dependences), plan, (around, &launches), &waiting)?;
            let launches = launches.into_iter().map(|(launch, _)| launch).collect();
            Some(Rotation { behind, launches })
        })
        .collect()
}

/// The launches that stand in each loop itself, of loops that do not run inside a kernel.
pub(super) fn by_loop(
    graph: &LaunchGraph,
    plan: &FusionPlan,
) -> BTreeMap<usize, Vec<(LaunchId, NodeId)>> {
    let statements = plan.batched_regions.iter().flat_map(|of| &of.statements);
    let inside_kernels: BTreeSet<LaunchId> = statements
        .filter(|statement| statement.persistent.is_some())
        .map(|statement| statement.launch)
        .collect();
    let mut by_loop: BTreeMap<usize, Vec<(LaunchId, NodeId)>> = BTreeMap::new();
    for (launch, node) in graph.launches() {
        let around = graph.blocks[graph.nodes[node.0].block.0].innermost_loop;
        if let Some(around) = around.filter(|_| graph.operation_of(launch).is_none()) {
            by_loop.entry(around).or_default().push((launch, node));
        }
    }
    by_loop.retain(|_, launches| {
        let mut launches = launches.iter();
        !launches.any(|(launch, _)| inside_kernels.contains(launch))
    });
    by_loop
}

/// The launches that wait for their batches.
pub(super) fn waiting(plan: &FusionPlan) -> BTreeSet<LaunchId> {
    let statements = plan.batched_regions.iter().flat_map(|of| &of.statements);
    statements.map(|statement| statement.launch).collect()
}

/// What the launches of a plan come to, each loop around them taken to run [`ITERATIONS`] times.
pub fn weighted_launches(graph: &LaunchGraph, plan: &FusionPlan) -> u64 {
    let nodes: BTreeMap<LaunchId, NodeId> = graph.launches().collect();
    let of_ends = |which: fn(&SplitLoop) -> &[LaunchId], of_one_launch: bool| -> BTreeSet<NodeId> {
        let loops = graph.split_loops.iter();
        let loops = loops.filter(|of| of.of_one_launch == of_one_launch);
        let launches = loops.flat_map(which);
        launches
            .filter_map(|launch| nodes.get(launch).copied())
            .collect()
    };
    let past = of_ends(|of| &of.past, false);
    let before_last = of_ends(|of| &of.before_last, false);
    let before_others = of_ends(|of| &of.before_last, true);
    let weight = |node: NodeId| {
        let depth = graph.loops_around(graph.nodes[node.0].block).len();
        let weight = |depth: usize| ITERATIONS.pow(depth.min(DEEPEST) as u32);
        let outside = weight(depth.max(1) - 1);
        match () {
            // Loops are taken to run.
            () if past.contains(&node) => 0,
            () if before_last.contains(&node) => weight(depth) - outside,
            () if before_others.contains(&node) => weight(depth).saturating_sub(3 * outside),
            () => weight(depth),
        }
    };
    let mut grouped = BTreeSet::new();
    let mut sum = 0;
    for group in plan.groups.iter().filter(|group| group.members.len() > 1) {
        let members = group.members.iter().map(|member| member.launch);
        let members = members.filter(|launch| graph.operation_of(*launch).is_none());
        let weights = members.clone().map(|launch| weight(nodes[&launch]));
        sum += weights.max().unwrap_or(0);
        grouped.extend(members);
    }
    let alone = nodes
        .iter()
        .filter(|(launch, _)| !grouped.contains(*launch) && graph.operation_of(**launch).is_none());
    sum + alone.map(|(_, node)| weight(*node)).sum::<u64>()
}

/// The launches that stand alone in loops in which each iteration needs what all blocks of the one before made, with a grid
/// of its own: a sum that goes on until one number is left. Of the last iteration one block may be all.
pub fn sum_loops(
    graph: &LaunchGraph,
    dependences: &DependenceGraph,
    plan: &FusionPlan,
) -> Vec<LaunchId> {
    let loops = by_loop(graph, plan).into_iter();
    let sums = loops.filter_map(|(around, launches)| {
        let [(launch, node)] = launches[..] else {
            return None;
        };
        let NodeKind::Launch(of) = &graph.nodes[node.0].kind else {
            return None;
        };
        let is_alone = graph.launches().all(|(other, at)| {
            let block = graph.nodes[at.0].block;
            other == launch || !graph.loops_around(block).contains(&around)
        });
        let mut extents = of.grid.iter();
        let changes = extents.any(|extent| graph.values[extent.0].varies_in == Some(around));
        let mut edges = dependences.edges();
        let needs_others = edges.any(|edge| {
            (edge.source, edge.sink) == (node, node)
                && edge.carried
                && edge.kind == DependenceKind::Flow
                && edge.scope == Scope::Global
        });
        let looks = host_looks(graph, around, (node, node));
        (is_alone && changes && needs_others && !looks).then_some(launch)
    });
    sums.collect()
}

/// How many launches, those of some loops left out, wait for their batches; those of groups count each by itself.
pub fn waiting_launches(plan: &FusionPlan, without: &BTreeSet<LaunchId>) -> usize {
    let statements = plan.batched_regions.iter().flat_map(|of| &of.statements);
    let is_left_out = |launch: LaunchId| without.contains(&launch);
    let members = statements.filter(|statement| !is_left_out(statement.launch));
    let members = members.map(|statement| {
        let mut groups = plan.groups.iter();
        let group = groups.find(|group| is_member(group, statement.launch));
        group.map_or(1, |group| group.members.len())
    });
    members.sum()
}

const ITERATIONS: u64 = 8;

/// Loops that stand deeper count as this deep.
const DEEPEST: usize = 6;

/// The last launch of the group that iterations of a loop begin with, where it may be of use to rotate the loop behind it.
fn behind(
    (graph, dependences): (&LaunchGraph, &DependenceGraph),
    plan: &FusionPlan,
    (around, launches): (usize, &[(LaunchId, NodeId)]),
    waiting: &BTreeSet<LaunchId>,
) -> Option<LaunchId> {
    let group_of = |launch: LaunchId| {
        let mut groups = plan.groups.iter().filter(|group| group.members.len() > 1);
        groups.find(|group| is_member(group, launch))
    };
    let (first, _) = *launches.first()?;
    let (last, last_node) = *launches.last()?;
    let front: Vec<(LaunchId, NodeId)> = match group_of(first) {
        None => vec![launches[0]],
        Some(group) => {
            let members = launches
                .iter()
                .take_while(|(each, _)| is_member(group, *each));
            let members: Vec<_> = members.copied().collect();
            let all = group.members.iter().map(|member| member.launch);
            let all = all.filter(|launch| graph.operation_of(*launch).is_none());
            (all.count() == members.len()).then_some(members)?
        }
    };
    let (behind, behind_node) = *front.last()?;
    if front.iter().any(|(launch, _)| *launch == last) {
        return None;
    }
    let tail: Vec<NodeId> = match group_of(last) {
        None => vec![last_node],
        Some(group) => {
            let members = launches.iter().filter(|(each, _)| is_member(group, *each));
            members.map(|(_, node)| *node).collect()
        }
    };
    let comes_each_time = latches(graph, around)
        .into_iter()
        .all(|latch| dominates(graph, graph.nodes[behind_node.0].block, latch));
    let front: Vec<NodeId> = front.into_iter().map(|(_, node)| node).collect();
    let edges = || dependences.edges();
    // Where iterations may be independent, those that wait may run side by side, which is more.
    let is_free = !launches.iter().any(|(launch, _)| waiting.contains(launch))
        || edges().any(|edge| hands_on(edge, (&tail, &front)));
    let helps = comes_each_time
        && is_free
        && !host_looks(graph, around, (last_node, front[0]))
        && !edges().any(|edge| separates(edge, around, (&tail, &front)));
    helps.then_some(behind)
}

pub(super) fn is_member(group: &FusionGroup, launch: LaunchId) -> bool {
    group.members.iter().any(|member| member.launch == launch)
}

/// Whether a launch at the beginning of an iteration may read what one at the end of an earlier one wrote, and nothing that a
/// run could find tells that it does not.
fn hands_on(edge: &Edge, (tail, front): (&[NodeId], &[NodeId])) -> bool {
    edge.carried
        && edge.kind == DependenceKind::Flow
        && edge.absent_if.is_empty()
        && tail.contains(&edge.source)
        && front.contains(&edge.sink)
}

/// Whether threads of launches at the end of an iteration surely meet other threads of those at the beginning of the next.
fn separates(edge: &Edge, around: usize, (tail, front): (&[NodeId], &[NodeId])) -> bool {
    let is_further = |of: usize| {
        let mut distances = edge.distances.iter();
        let of_loop = distances.find(|distance| distance.host_loop == of);
        of_loop.is_some_and(|distance| distance.least.is_some_and(|least| least > 1))
    };
    edge.carried
        && edge.certain
        && edge.scope == Scope::Global
        && edge.mapped.is_none()
        && edge.absent_if.is_empty()
        && tail.contains(&edge.source)
        && front.contains(&edge.sink)
        && !is_further(around)
}

/// Whether the host does something between the end of an iteration and the beginning of the next that no launch passes.
fn host_looks(graph: &LaunchGraph, around: usize, (last, first): (NodeId, NodeId)) -> bool {
    graph.nodes.iter().any(|node| {
        let block = &graph.blocks[node.block.0];
        let is_between = block.innermost_loop == Some(around)
            && !block.dead_end
            && (node.id > last || node.id < first);
        is_between && is_host_look(node)
    })
}

/// Whether the host does something that no launch passes.
pub(super) fn is_host_look(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Copy { host_side, .. } | NodeKind::Library { host_side, .. } => *host_side,
        NodeKind::Opaque { .. } => true,
        _ => false,
    }
}

/// The blocks from which the next iteration of a loop starts.
fn latches(graph: &LaunchGraph, around: usize) -> Vec<HostBlockId> {
    let header = graph.loops[around].header;
    let blocks = (0..graph.blocks.len()).map(HostBlockId);
    blocks
        .filter(|block| {
            graph.blocks[block.0].successors.contains(&header)
                && graph.loops_around(*block).contains(&around)
        })
        .collect()
}

fn dominates(graph: &LaunchGraph, above: HostBlockId, below: HostBlockId) -> bool {
    let mut block = Some(below);
    while let Some(here) = block {
        if here == above {
            return true;
        }
        block = graph.blocks[here.0].immediate_dominator;
    }
    false
}
