//! Groups that run with those of their members that the host came to: launches under conditions of their own, among them
//! alternatives of one `if` or `switch`.
//!
//! Invariant: whichever two or more of the members the host came to, one launch of these does what they do one after the
//! other. That is so since it is so of any two of them, under tests of these two alone: members keep their threads
//! where they are, and an absent one has an empty grid. Alternatives never come together.

use super::super::group::{Judge, orders};
use super::super::groups::Groups;
use super::super::obstacle::{Candidate, rejection};
use super::super::space::{MOST_STATIC_SHARED_BYTES, static_shared};
use super::super::{FusionGroup, Member, PartialGuards, ThreadMap, Variant};
use crate::dependence::Guard;
use crate::diagnostics::{Rejection, RejectionReason};
use crate::launch::NodeId;
use crate::math::expression::Condition;
use std::collections::BTreeSet;

/// Joins groups of launches under conditions of their own, the nearest first, where each of their members may be missing.
/// Those that always run as one stay so, unless they have nothing from each other.
pub(in crate::schedule) fn join_partial<'a>(
    groups: &mut Groups<'a>,
    judge: &mut Judge<'a>,
    stays: impl Fn(NodeId) -> bool,
) {
    let mut order: Vec<usize> = (0..groups.members.len())
        .filter(|group| {
            let members = &groups.members[*group];
            !members.is_empty()
                && !members.iter().any(|member| stays(member.node))
                && judge.loses_little_in_part(members)
        })
        .collect();
    order.sort_by_key(|group| groups.members[*group].last().map(|member| member.node));
    let mut before: Vec<usize> = Vec::new();
    for home in order {
        let mut joined = Vec::new();
        for source in before.iter().rev().take(MOST_TRIED).copied() {
            let mut members = [&groups.members[source][..], &groups.members[home]].concat();
            members.sort_by_key(|member| member.node);
            let single = members.len() <= 2;
            if !single && judge.may_run_in_part(&members).is_ok() {
                groups.join(&[source], home);
                judge
                    .runs_in_part
                    .extend(members.last().map(|member| member.node));
                joined.push(source);
            }
        }
        before.retain(|group| !joined.contains(group));
        before.push(home);
    }
}

impl<'a> Judge<'a> {
    /// Whether a group may be one that runs in part without much of a loss: what members hand to each other under one
    /// condition stays in registers only where all of them surely run.
    fn loses_little_in_part(&self, members: &[Candidate<'a>]) -> bool {
        members.windows(2).all(|pair| {
            let [first, second] = [pair[0].node, pair[1].node];
            let together =
                self.order.in_step(first, second) && self.order.surely_follows(first, second);
            !together || self.edges(first, second).is_empty()
        })
    }

    /// Whether members may be one launch wherever the host came to some of them only.
    ///
    /// # Errors
    /// The first obstacle.
    fn may_run_in_part(&mut self, members: &[Candidate<'a>]) -> Result<(), Rejection> {
        let Some((last, moved)) = members.split_last() else {
            return Ok(());
        };
        let location = &self.graph.nodes[last.node.0].location;
        let unfit = |reason, what: &str| {
            let message = format!("`{}` {what}", last.model.display_name);
            Err(rejection(reason, message, location))
        };
        let near = last.node.0 - members[0].node.0 <= FARTHEST;
        if members.len() > MOST_MEMBERS || !near {
            return unfit(
                RejectionReason::Resources,
                "is the last of too many launches",
            );
        }
        let is_launch = |member: &Candidate| self.graph.operation_of(member.launch.id).is_none();
        let in_place = |member: &Candidate| !self.among_remapped.contains(&member.node);
        if !members
            .iter()
            .all(|member| is_launch(member) && in_place(member))
        {
            return unfit(RejectionReason::Shape, "is in a group with another shape");
        }
        let dead_end = |member: &Candidate| {
            let block = self.graph.nodes[member.node.0].block;
            self.graph.blocks[block.0].dead_end
        };
        let comes_to_last = |member: &Candidate| {
            self.order.follows(member.node, last.node) && dead_end(member) == dead_end(last)
        };
        let one_stream = members
            .iter()
            .all(|member| member.launch.stream == last.launch.stream);
        let nodes = members.iter().map(|member| member.node);
        if !one_stream || !moved.iter().all(comes_to_last) || !self.order.have_one_beginning(nodes)
        {
            return unfit(
                RejectionReason::ControlFlow,
                "is not on one way with the others",
            );
        }
        self.no_edge_is_missing(members)?;
        self.conditions_hold(members)?;
        let all: Vec<usize> = (0..members.len()).collect();
        if static_shared(members, &all) > MOST_STATIC_SHARED_BYTES {
            return unfit(
                RejectionReason::Resources,
                "would leave too little shared memory",
            );
        }
        for (position, second) in members.iter().enumerate() {
            for first in &members[..position] {
                if self.are_alternatives(first, second) {
                    continue;
                }
                if !self.order.follows(first.node, second.node) {
                    return unfit(
                        RejectionReason::ControlFlow,
                        "is not on one way with the others",
                    );
                }
                self.same_shape(first, second)?;
                self.scope_allows(first, second)?;
                let pair = [*first, *second];
                self.guards_may_hold(&pair)?;
                self.fits_block(&pair)?;
            }
        }
        self.space(members, &vec![all])?;
        self.nothing_passed_on_any_way(members, *last)
    }

    /// Whether the host comes to one of two launches at most in an iteration.
    fn are_alternatives(&self, first: &Candidate, second: &Candidate) -> bool {
        let [one, two] = [first, second].map(|member| self.graph.nodes[member.node.0].block);
        one != two
            && !self.order.leads_to(first.node, second.node)
            && !self.order.leads_to(second.node, first.node)
    }

    /// The plan's form of such a group.
    pub(in crate::schedule) fn finish_in_part(&self, members: &[Candidate<'a>]) -> FusionGroup {
        let mut partial_guards = Vec::new();
        let mut barriers: Vec<bool> = Vec::new();
        let mut since: Vec<&Candidate> = Vec::new();
        for (position, member) in members.iter().enumerate() {
            let earlier = &members[..position];
            let own = self.tests_of_one(member);
            partial_guards.push(PartialGuards {
                members: vec![member.launch.id],
                guards: undecided(own),
            });
            let mut waits = false;
            for first in earlier {
                if self.are_alternatives(first, member) {
                    continue;
                }
                let tests = undecided(self.tests_of_pair(first, member));
                if !tests.is_empty() {
                    partial_guards.push(PartialGuards {
                        members: vec![first.launch.id, member.launch.id],
                        guards: tests,
                    });
                }
                waits |= since.iter().any(|since| since.node == first.node)
                    && self.needs_barrier_in_place(first, member);
            }
            if waits {
                since.clear();
            }
            since.push(member);
            barriers.push(waits);
        }
        let planned = members.iter().zip(barriers);
        let planned = planned.map(|(member, barrier_before)| Member {
            launch: member.launch.id,
            map: ThreadMap::Clipped,
            barrier_before,
        });
        FusionGroup {
            members: planned.collect(),
            layout: String::from("v"),
            layouts: vec![String::from("v")],
            guards: self.questions(members).into_iter().collect(),
            unread_afterwards: Vec::new(),
            segments: Vec::new(),
            awaited_copies: self.awaited_copies(members),
            issued_before: self.issued_before(members).into_iter().collect(),
            partial_guards,
            grid_barriers: Vec::new(),
            variant: Variant::default(),
            overlap: None,
            last_block: None,
            front_guards: None,
            early_guards: None,
            recomputation: None,
            fallback: Vec::new(),
            tested_loop: None,
        }
    }

    fn tests_of_one(&self, member: &Candidate<'a>) -> BTreeSet<Guard> {
        let launch = member.launch.id;
        let mut guards = BTreeSet::from([Guard::ConfigurationValid { launch }]);
        guards.extend(self.conditions_of(member.node).iter().cloned());
        if self.graph.is_seen_in_capture(member.node, member.launch) {
            guards.insert(Guard::NotCapturing { launch });
        }
        guards
    }

    fn tests_of_pair(&self, first: &Candidate<'a>, second: &Candidate<'a>) -> BTreeSet<Guard> {
        let mut guards = BTreeSet::new();
        for index in 3..6 {
            let [a, b] = [first, second].map(|member| self.extent(member, index));
            guards.insert(Guard::Holds {
                class: String::from("shape"),
                condition: Condition::Equal(a, b),
            });
        }
        let edges = self.edges(first.node, second.node).iter();
        for edge in edges.filter(|edge| orders(edge)) {
            guards.extend(edge.conditions.iter().cloned());
            if !edge.allows_equal_pointers() {
                guards.extend(edge.absent_if.iter().cloned());
            }
        }
        guards
    }
}

/// Those that a run has to tell.
fn undecided(guards: BTreeSet<Guard>) -> Vec<Guard> {
    guards.into_iter().filter(Guard::may_fail).collect()
}

/// So many groups are tried for each launch.
const MOST_TRIED: usize = 32;

/// A launch does not move past more operations than this.
const FARTHEST: usize = 128;

/// Tests are made of any two members.
const MOST_MEMBERS: usize = 16;
