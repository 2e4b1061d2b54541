//! Host loops whose last iteration ends with launches that may run together with those behind the loop.
//!
//! A plan keeps apart what stands in a loop and what stands behind it. Where the host code writes the end of the last
//! iteration by itself, what stands behind the loop follows it there, and can be members of a group like all others. What is
//! found here is where that may help; whether it does, the plan of that program tells.

use super::super::FusionPlan;
use super::rotation::{by_loop, is_host_look, is_member, waiting};
use crate::dependence::{DependenceGraph, DependenceKind, Edge, Scope};
use crate::launch::{LaunchGraph, LaunchId, NodeId};
use std::collections::BTreeSet;

/// A loop whose last iteration may end with what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopEnd {
    /// The first launch of the group that iterations end with.
    pub from: LaunchId,
    /// The last launch of the group that comes behind the loop.
    pub through: LaunchId,
    /// The launches of the loop, and of that group.
    pub launches: Vec<LaunchId>,
}

/// The loops whose last iterations may end with what stands behind them; of loops in loops, and loops behind loops, no two
/// that meet.
pub fn loop_ends(
    graph: &LaunchGraph,
    dependences: &DependenceGraph,
    plan: &FusionPlan,
) -> Vec<LoopEnd> {
    let waiting = waiting(plan);
    let mut taken: BTreeSet<LaunchId> = BTreeSet::new();
    let mut found: Vec<LoopEnd> = Vec::new();
    let mut loops: Vec<_> = by_loop(graph, plan).into_iter().collect();
    let depth = |around: usize| graph.loops_around(graph.loops[around].header).len();
    loops.sort_by_key(|(around, _)| std::cmp::Reverse(depth(*around)));
    for (around, launches) in loops {
        let of_loop = (around, launches.as_slice());
        let Some(end) = loop_end((graph, dependences), plan, of_loop, &waiting) else {
            continue;
        };
        if !end.launches.iter().any(|launch| taken.contains(launch)) {
            taken.extend(&end.launches);
            found.push(end);
        }
    }
    found
}

fn loop_end(
    (graph, dependences): (&LaunchGraph, &DependenceGraph),
    plan: &FusionPlan,
    (around, launches): (usize, &[(LaunchId, NodeId)]),
    waiting: &BTreeSet<LaunchId>,
) -> Option<LoopEnd> {
    let (last, last_node) = *launches.last()?;
    let outer = graph.loops_around(graph.loops[around].header);
    let outer = outer.iter().rev().find(|each| **each != around).copied();
    let function = |node: NodeId| graph.blocks[graph.nodes[node.0].block.0].function;
    let all: Vec<(LaunchId, NodeId)> = graph
        .launches()
        .filter(|(launch, node)| {
            graph.operation_of(*launch).is_none() && function(*node) == function(last_node)
        })
        .collect();
    let next = all.iter().filter(|(_, node)| *node > last_node);
    let (next, next_node) = *next.min_by_key(|(_, node)| *node)?;
    let around_next = graph.blocks[graph.nodes[next_node.0].block.0].innermost_loop;
    if around_next != outer {
        return None;
    }
    // A group stays together: all of the launches that iterations end with, all of those behind the loop.
    let together = |launch: LaunchId| -> Vec<(LaunchId, NodeId)> {
        let mut groups = plan.groups.iter().filter(|group| group.members.len() > 1);
        let group = groups.find(|group| is_member(group, launch));
        let members = all.iter().filter(|(each, _)| match group {
            Some(group) => is_member(group, *each),
            None => *each == launch,
        });
        members.copied().collect()
    };
    let (tail, front) = (together(last), together(next));
    let is_apart = tail.iter().all(|each| launches.contains(each))
        && front.iter().all(|(_, node)| {
            let block = &graph.blocks[graph.nodes[node.0].block.0];
            *node > last_node && block.innermost_loop == outer
        });
    if !is_apart {
        return None;
    }
    let through = front.iter().max_by_key(|(_, node)| *node)?;
    let header = graph.loops[around].header;
    let looks = graph.nodes.iter().any(|node| {
        let block = &graph.blocks[node.block.0];
        let is_between = node.block == header || node.id > last_node && node.id < next_node;
        is_between && !block.dead_end && is_host_look(node)
    });
    let [tails, fronts] = [&tail, &front].map(|of| -> Vec<NodeId> {
        let nodes = of.iter().map(|(_, node)| *node);
        nodes.collect()
    });
    let edges = dependences.edges();
    let edges: Vec<&Edge> = edges
        .filter(|edge| tails.contains(&edge.source) && fronts.contains(&edge.sink))
        .collect();
    let separates = |edge: &&Edge| {
        edge.certain
            && edge.scope == Scope::Global
            && edge.mapped.is_none()
            && edge.absent_if.is_empty()
    };
    // What waits may run side by side where nothing is handed on, which is more.
    let hands_on = |edge: &&Edge| edge.kind == DependenceKind::Flow && edge.absent_if.is_empty();
    let mut all = launches.iter().chain(&front);
    let is_free = !all.any(|(launch, _)| waiting.contains(launch)) || edges.iter().any(hands_on);
    let goes_on = edges.iter().any(|edge| edge.kind == DependenceKind::Flow);
    let helps = !looks && is_free && goes_on && !edges.iter().any(separates);
    let from = tail.iter().min_by_key(|(_, node)| *node)?;
    helps.then(|| LoopEnd {
        from: from.0,
        through: through.0,
        launches: (launches.iter().chain(&front))
            .map(|(launch, _)| *launch)
            .collect(),
    })
}
