//! Launches under conditions of their own in one group, and launches around a switch that is usually off.
//!
//! Such a group runs as one kernel where all conditions held, which the program finds out at its last member;
//! elsewhere its launches run as they are written. So a group is only joined with another where this takes away
//! nothing that fused without it: single launches, and a launch that surely follows a group.

use super::super::beside::names_parts;
use super::super::group::Judge;
use super::super::groups::Groups;
use super::super::obstacle::{Candidate, obstacle, rejection};
use super::super::waiting;
use crate::dependence::{CONDITIONAL_NEIGHBOURS, Edge};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::launch::{HostBlockId, NodeId};
use std::collections::BTreeSet;

/// Joins what is not in step, the nearest first, but for launches of which `stays` says that they stay as they are. What
/// has nothing from each other joins only where that is wanted `beside`.
pub(in crate::schedule) fn join_conditional<'a>(
    groups: &mut Groups<'a>,
    judge: &mut Judge<'a>,
    stays: impl Fn(NodeId) -> bool,
    beside: bool,
) {
    judge.conditional = true;
    let most = judge.options.max_fusions.unwrap_or(usize::MAX);
    let is_open =
        |group: &[Candidate]| !group.is_empty() && !group.iter().any(|member| stays(member.node));
    let mut order: Vec<usize> = (0..groups.members.len())
        .filter(|group| is_open(&groups.members[*group]))
        .collect();
    order.sort_by_key(|group| groups.members[*group].last().map(|member| member.node));
    let mut before: Vec<usize> = Vec::new();
    for home in order {
        let single = groups.members[home].len() == 1;
        let tried = before.iter().rev().take(MOST_TRIED).copied();
        for source in tried.filter(|_| single).collect::<Vec<usize>>() {
            let earlier = groups.members[source].clone();
            let last = groups.members[home][0];
            let Some(place) = earlier.last() else {
                continue;
            };
            let takes_nothing =
                earlier.len() == 1 || judge.order.surely_follows(place.node, last.node);
            let too_many = earlier.len() == 1 && groups.fused() >= most;
            let near = last.node.0 - place.node.0 <= FARTHEST;
            // In one block nothing is otherwise.
            let [from, to] = [place.node, last.node].map(|node| judge.graph.nodes[node.0].block);
            if !takes_nothing || too_many || !near || from == to {
                continue;
            }
            let edges: Vec<&Edge> = earlier
                .iter()
                .flat_map(|member| judge.edges(member.node, last.node))
                .copied()
                .collect();
            let depends = !edges.is_empty();
            let may_depend = edges.iter().any(|edge| !names_parts(judge.graph, edge));
            let partition = |member: &Candidate| groups.partition(member.node);
            let in_same_blocks = || {
                earlier
                    .iter()
                    .all(|member| partition(member) == partition(place))
            };
            // Threads of other blocks take over those of a neighbour only for what they hand on: a map between shapes that are
            // not known may hold for small grids alone.
            let hands_on = may_depend || judge.has_one_shape(place, &last);
            if depends && hands_on && in_same_blocks() && judge.may_join(&[&earlier], last).is_ok()
            {
                groups.join(&[source], home);
                groups.settle_as_one(home);
            } else if beside
                && !may_depend
                && judge.may_stand_beside(&earlier, &[last], partition).is_ok()
            {
                groups.join(&[source], home);
            } else {
                continue;
            }
            before.retain(|group| *group != source);
            break;
        }
        before.push(home);
    }
    judge.conditional = false;
}

impl<'a> Judge<'a> {
    /// Whether two launches have the same grid and block.
    fn has_one_shape(&self, one: &Candidate, other: &Candidate) -> bool {
        (0..6).all(|axis| self.extent(one, axis) == self.extent(other, axis))
    }

    /// Each member in step with the next, or, where they may stand under conditions of their own, behind it.
    pub(in crate::schedule) fn all_in_order(&self, members: &[Candidate]) -> Result<(), Rejection> {
        for pair in members.windows(2) {
            self.one_after_the_other(&pair[0], &pair[1])?;
        }
        if !self.conditional {
            return Ok(());
        }
        self.no_edge_is_missing(members)
    }

    /// Members that stand under conditions of their own are close enough together that all edges between them are there.
    pub(in crate::schedule) fn no_edge_is_missing(
        &self,
        members: &[Candidate],
    ) -> Result<(), Rejection> {
        // Where there may be no edge between two of them, nothing follows from there being none.
        let function = |node: NodeId| {
            let block = &self.graph.blocks[self.graph.nodes[node.0].block.0];
            (&self.graph.functions[block.function], block.innermost_loop)
        };
        for (position, second) in members.iter().enumerate() {
            let (around, innermost) = function(second.node);
            let far = |first: &&Candidate| {
                second.node.0 - first.node.0 > CONDITIONAL_NEIGHBOURS
                    && !self.order.always_before(first.node, second.node)
            };
            if innermost.is_none()
                && !around.repeated
                && let Some(first) = members[..position].iter().find(far)
            {
                let message = format!(
                    "`{}` stands under a condition, far before `{}`",
                    first.model.display_name, second.model.display_name
                );
                let location = &self.graph.nodes[second.node.0].location;
                return Err(rejection(RejectionReason::ControlFlow, message, location));
            }
        }
        Ok(())
    }

    /// Each time the first is launched, the second is behind it, or may be where members stand under conditions.
    pub(in crate::schedule) fn one_after_the_other(
        &self,
        first: &Candidate,
        second: &Candidate,
    ) -> Result<(), Rejection> {
        let location = &self.graph.nodes[second.node.0].location;
        let names = (&first.model.display_name, &second.model.display_name);
        let behind = || {
            let nodes = [first.node, second.node];
            self.order.follows(nodes[0], nodes[1]) && self.order.have_one_beginning(nodes)
        };
        let one_stream = self.compares_streams || first.launch.stream == second.launch.stream;
        let fits = self.order.in_step(first.node, second.node)
            || self.conditional && one_stream && behind();
        if !fits {
            let message = format!(
                "`{}` and `{}` do not always run one after the other",
                names.0, names.1
            );
            return Err(rejection(RejectionReason::Shape, message, location));
        }
        let [one, two] = [first, second].map(|launch| self.graph.nodes[launch.node.0].block);
        let dead_end = |block: HostBlockId| self.graph.blocks[block.0].dead_end;
        // Such a group would be chosen for a way that only errors take.
        if dead_end(two) && !dead_end(one) {
            let message = format!("after `{}` the program ends without a return", names.1);
            return Err(rejection(RejectionReason::Shape, message, location));
        }
        Ok(())
    }

    /// [`Self::nothing_passed`] where members may stand under conditions of their own. What cannot be passed may
    /// stand on a way that the host need not take: there the members are issued before it.
    pub(in crate::schedule) fn nothing_passed_on_any_way(
        &mut self,
        members: &[Candidate<'a>],
        last: Candidate<'a>,
    ) -> Result<(), Rejection> {
        let block = |node: NodeId| self.graph.nodes[node.0].block;
        let moved = || members.iter().filter(|member| member.node != last.node);
        let is_member = |node: NodeId| members.iter().any(|member| member.node == node);
        let mut issued_before = BTreeSet::new();
        let mut passed = None;
        for moved in moved() {
            for node in self
                .order
                .between(moved.node, last.node)
                .into_iter()
                .flatten()
            {
                if is_member(node) || issued_before.contains(&block(node)) {
                    continue;
                }
                let (graph, kernels) = (self.graph, self.kernels);
                let Some(found) = obstacle(graph, kernels, &self.memory, self.options, moved, node)
                else {
                    continue;
                };
                if members
                    .iter()
                    .any(|member| block(member.node) == block(node))
                {
                    return Err(found);
                }
                issued_before.insert(block(node));
                passed = Some(found);
            }
        }
        // A loop that the host always comes to is no way that it need not take, although it may have nothing to do.
        let around = self.graph.loops_around(block(last.node));
        let mut not_taken = issued_before.clone();
        for index in issued_before
            .iter()
            .flat_map(|block| self.graph.loops_around(*block))
        {
            if !around.contains(&index) {
                not_taken.insert(self.graph.loops[index].header);
            }
        }
        let goes_by = |pair: &[Candidate]| {
            let [first, second] = [pair[0].node, pair[1].node];
            self.order.can_follow_without(first, second, &not_taken)
        };
        if let Some(found) = passed.filter(|_| !members.windows(2).all(goes_by)) {
            return Err(found);
        }
        for moved in moved() {
            let between = self
                .order
                .between_without(moved.node, last.node, &issued_before);
            let waits = |node: &NodeId| waiting::orders(self.graph, moved, *node);
            if between.iter().flatten().any(waits) {
                let place = (last.node, &issued_before);
                self.observers
                    .find(&self.order, &self.memory, moved, place)?;
            }
        }
        self.one_prints_at_most(members)?;
        self.issued_before.insert(last.node, issued_before);
        Ok(())
    }

    /// The blocks between members at whose beginning what has been met of them is issued.
    pub(in crate::schedule) fn issued_before(
        &self,
        members: &[Candidate],
    ) -> BTreeSet<HostBlockId> {
        match members {
            [_, .., last] => self.issued_before.get(&last.node).cloned(),
            _ => None,
        }
        .unwrap_or_default()
    }
}

/// So many groups are tried for each launch.
const MOST_TRIED: usize = 4;

/// A launch does not move past more operations than this.
const FARTHEST: usize = 128;
