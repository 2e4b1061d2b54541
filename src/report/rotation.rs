//! Host loops that were rotated, in reports: what is told is the program as the user wrote it.

use super::text::name_at;
use super::{Report, ReportFusion, find_launch};
use crate::launch::{LaunchGraph, LaunchId, NodeId};
use crate::schedule::{FusionGroup, Missed};
use std::collections::BTreeSet;

/// The launches of rotated loops, as nodes.
pub(super) struct Rotated {
    prologue: BTreeSet<NodeId>,
    next: BTreeSet<NodeId>,
}

impl Rotated {
    pub(super) fn new(graph: &LaunchGraph) -> Self {
        let nodes = |launches: &[LaunchId]| -> Vec<NodeId> {
            let found = launches.iter().filter_map(|id| find_launch(graph, *id));
            found.map(|(node, _)| node.id).collect()
        };
        let loops = &graph.rotated_loops;
        Self {
            prologue: loops.iter().flat_map(|of| nodes(&of.prologue)).collect(),
            next: (loops.iter())
                .flat_map(|of| nodes(&of.of_next_iteration))
                .collect(),
        }
    }

    /// Whether the compiler put a launch in front of its loop.
    pub(super) fn is_in_front(&self, node: NodeId) -> bool {
        self.prologue.contains(&node)
    }

    /// Whether one of two launches stands in front of a loop because the compiler put it there: what is to be told of it
    /// is told of the launch in the loop.
    pub(super) fn is_copy(&self, missed: &Missed) -> bool {
        self.prologue.contains(&missed.source) || self.prologue.contains(&missed.sink)
    }

    /// Whether the later launch is that of the next iteration, as the user wrote the loop.
    pub(super) fn is_carried(&self, missed: &Missed) -> bool {
        let ends = [missed.source, missed.sink].map(|end| self.next.contains(&end));
        match ends {
            [true, false] => false,
            [false, true] => true,
            _ => missed.carried,
        }
    }

    /// The ids of members that are those of the next iteration, where others are not.
    pub(super) fn of_next_iteration(&self, graph: &LaunchGraph, group: &FusionGroup) -> Vec<usize> {
        let members = group.members.iter();
        let nodes = members.filter_map(|member| find_launch(graph, member.launch));
        let (next, these): (Vec<NodeId>, Vec<NodeId>) = nodes
            .map(|(node, _)| node.id)
            .partition(|node| self.next.contains(node));
        match these.is_empty() {
            true => Vec::new(),
            false => next.into_iter().map(|node| node.0).collect(),
        }
    }
}

/// The name of a member for somebody who looks at another one, or at all of them.
pub(super) fn member_name(
    report: &Report,
    fusion: &ReportFusion,
    member: usize,
    seen_from: Option<usize>,
) -> String {
    let is_next = |id: usize| fusion.of_next_iteration.contains(&id);
    let name = name_at(report, member);
    match (is_next(member), seen_from.is_some_and(is_next)) {
        (true, false) => format!("{name} of the next iteration"),
        (false, true) => format!("{name} of the iteration before"),
        _ => name,
    }
}
