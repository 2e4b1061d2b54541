//! Host loops that were rotated or whose last iterations were written by themselves, in reports: what is told is the program as
//! the user wrote it.

use super::super::text::name_at;
use super::super::{Report, ReportFusion, find_launch};
use crate::launch::{LaunchGraph, LaunchId, NodeId, SplitLoop};
use crate::schedule::{FusionGroup, Missed};
use std::collections::{BTreeMap, BTreeSet};

/// The launches of loops that were rotated or whose last iterations were written by themselves, as nodes.
pub(in crate::report) struct Rotated {
    prologue: BTreeSet<NodeId>,
    next: BTreeSet<NodeId>,
    /// By the copy of a launch for the last iteration, the launch in the loop.
    last: BTreeMap<NodeId, NodeId>,
    /// By the copy of a launch past a loop, the launch behind the last iteration.
    past: BTreeMap<NodeId, NodeId>,
    /// By the copy of a launch for the last iterations of a loop in which it stands alone, the launch in the loop.
    alone: BTreeMap<NodeId, NodeId>,
}

impl Rotated {
    pub(in crate::report) fn new(graph: &LaunchGraph) -> Self {
        let nodes = |launches: &[LaunchId]| -> Vec<NodeId> {
            let found = launches.iter().filter_map(|id| find_launch(graph, *id));
            found.map(|(node, _)| node.id).collect()
        };
        let (loops, ends) = (&graph.rotated_loops, &graph.split_loops);
        // Where one is not there any more, neither is told as the other.
        let pairs = |copies: &[LaunchId], launches: &[LaunchId]| -> Vec<(NodeId, NodeId)> {
            let (copies, launches) = (nodes(copies), nodes(launches));
            match copies.len() == launches.len() {
                true => copies.into_iter().zip(launches).collect(),
                false => copies.into_iter().map(|copy| (copy, copy)).collect(),
            }
        };
        let (alone, ends): (Vec<&SplitLoop>, Vec<&SplitLoop>) =
            ends.iter().partition(|of| of.of_one_launch);
        Self {
            alone: (alone.iter())
                .flat_map(|of| {
                    let copies = [&of.last[..], &of.behind, &of.past];
                    let pairs = copies.map(|copies| pairs(copies, &of.before_last));
                    pairs.concat()
                })
                .collect(),
            prologue: loops.iter().flat_map(|of| nodes(&of.prologue)).collect(),
            next: (loops.iter())
                .flat_map(|of| nodes(&of.of_next_iteration))
                .collect(),
            last: (ends.iter())
                .flat_map(|of| pairs(&of.last, &of.before_last))
                .collect(),
            past: (ends.iter())
                .flat_map(|of| pairs(&of.past, &of.behind))
                .collect(),
        }
    }

    /// Whether the compiler put a launch in front of its loop.
    pub(in crate::report) fn is_in_front(&self, node: NodeId) -> bool {
        self.prologue.contains(&node)
    }

    /// Whether the compiler wrote a launch for the last iteration of its loop, or the one before it.
    pub(in crate::report) fn is_of_last(&self, node: NodeId) -> bool {
        self.last.contains_key(&node) || self.alone.contains_key(&node)
    }

    /// Whether the compiler wrote a launch for another way past a loop.
    pub(in crate::report) fn is_past(&self, node: NodeId) -> bool {
        self.past.contains_key(&node)
    }

    /// The launches of a pair that stays unfused, as the source has them; nothing where that is told of others.
    pub(in crate::report) fn as_written(
        &self,
        missed: &Missed,
        all: &[Missed],
        plan: &[Vec<NodeId>],
    ) -> Option<(NodeId, NodeId)> {
        let ends = [missed.source, missed.sink];
        if ends.iter().any(|end| self.prologue.contains(end)) {
            return None;
        }
        let [source, sink] = ends.map(|end| {
            let of_last = self.last.get(&end).or(self.alone.get(&end));
            let of_last = of_last.copied().unwrap_or(end);
            self.past.get(&of_last).copied().unwrap_or(of_last)
        });
        if [source, sink] == ends {
            return Some((source, sink));
        }
        let is_told = all.iter().any(|other| {
            (other.source, other.sink, other.carried) == (source, sink, missed.carried)
        });
        let runs_as_one = plan.iter().any(|members| {
            let written = |end: NodeId| {
                let mut members = members.iter();
                members.any(|member| {
                    let copied = [&self.last, &self.alone];
                    *member == end || copied.iter().any(|of| of.get(member) == Some(&end))
                })
            };
            written(source) && written(sink)
        });
        let is_order = missed.carried || source < sink;
        (is_order && !is_told && !runs_as_one).then_some((source, sink))
    }

    /// Whether the later launch is that of the next iteration, as the user wrote the loop.
    pub(in crate::report) fn is_carried(&self, missed: &Missed) -> bool {
        let ends = [missed.source, missed.sink].map(|end| self.next.contains(&end));
        match ends {
            [true, false] => false,
            [false, true] => true,
            _ => missed.carried,
        }
    }

    /// The ids of members that are those of the next iteration, where others are not.
    pub(in crate::report) fn of_next_iteration(
        &self,
        graph: &LaunchGraph,
        group: &FusionGroup,
    ) -> Vec<usize> {
        let (next, these): (Vec<NodeId>, Vec<NodeId>) = members(graph, group)
            .into_iter()
            .partition(|node| self.next.contains(node));
        match these.is_empty() {
            true => Vec::new(),
            false => next.into_iter().map(|node| node.0).collect(),
        }
    }

    /// The ids of members that are those of the last iteration, where others stand behind the loop.
    pub(in crate::report) fn of_last_iteration(
        &self,
        graph: &LaunchGraph,
        group: &FusionGroup,
    ) -> Vec<usize> {
        let (last, others): (Vec<NodeId>, Vec<NodeId>) = members(graph, group)
            .into_iter()
            .partition(|node| self.is_of_last(*node));
        match others.is_empty() {
            true => Vec::new(),
            false => last.into_iter().map(|node| node.0).collect(),
        }
    }
}

/// The members of a group, as nodes.
pub(in crate::report) fn members(graph: &LaunchGraph, group: &FusionGroup) -> Vec<NodeId> {
    let members = group.members.iter();
    let nodes = members.filter_map(|member| find_launch(graph, member.launch));
    nodes.map(|(node, _)| node.id).collect()
}

/// The name of a member for somebody who looks at another one, or at all of them.
pub(in crate::report) fn member_name(
    report: &Report,
    fusion: &ReportFusion,
    member: usize,
    seen_from: Option<usize>,
) -> String {
    let is_next = |id: usize| fusion.of_next_iteration.contains(&id);
    let name = name_at(report, member);
    let is_last = |id: usize| fusion.of_last_iteration.contains(&id);
    if is_last(member) && !seen_from.is_some_and(is_last) {
        return format!("{name} of the last iteration");
    }
    match (is_next(member), seen_from.is_some_and(is_next)) {
        (true, false) => format!("{name} of the next iteration"),
        (false, true) => format!("{name} of the iteration before"),
        _ => name,
    }
}
