//! Members on streams that may be one when the program runs.
//!
//! Launches that depend on each other, on two streams with nothing that orders these, are a race unless
//! the streams are one: so they are one in all likelihood, and a test of two handles tells. Where the test
//! fails, the originals run in their old order, each on its own stream.
//!
//! Invariant: a group with several streams has passed nothing that could order one stream after another,
//! so that its originals are ordered as they were.

use super::super::group::{Judge, orders};
use super::super::obstacle::{Candidate, rejection};
use super::super::waiting;
use crate::dependence::Guard;
use crate::diagnostics::{Rejection, RejectionReason};
use crate::launch::{LaunchId, Stream};

impl Judge<'_> {
    /// All members are on one stream, or may be.
    ///
    /// # Errors
    /// The first two that are not, or that nothing says anything of.
    pub(in crate::schedule) fn streams_allow(
        &mut self,
        members: &[Candidate],
    ) -> Result<(), Rejection> {
        let several = members
            .windows(2)
            .find(|pair| pair[0].launch.stream != pair[1].launch.stream);
        let Some([first, second]) = several else {
            return Ok(());
        };
        let told = members.iter().enumerate().all(|(position, member)| {
            let others = members[..position].iter();
            let mut foreign = others.filter(|other| other.launch.stream != member.launch.stream);
            let same = members[..position]
                .iter()
                .any(|other| other.launch.stream == member.launch.stream);
            position == 0
                || same
                || foreign.any(|other| {
                    let edges = self.edges(other.node, member.node).iter();
                    edges.clone().any(|edge| orders(edge))
                })
        });
        let may_be_one = members.iter().all(|one| {
            let mut others = members.iter();
            others.all(|other| self.may_be_one(one.launch.stream, other.launch.stream))
        });
        if told && may_be_one && !self.passes_order(members) {
            return Ok(());
        }
        let message = format!(
            "`{}` and `{}` are on different streams",
            first.model.display_name, second.model.display_name
        );
        let location = &self.graph.nodes[second.node.0].location;
        Err(rejection(RejectionReason::Stream, message, location))
    }

    /// The tests that all members are on one stream.
    pub(in crate::schedule) fn stream_guards(&self, members: &[Candidate]) -> Vec<Guard> {
        let Some(first) = members.first() else {
            return Vec::new();
        };
        let mut known: Vec<Stream> = vec![first.launch.stream];
        let mut guards = Vec::new();
        for member in members {
            if !known.contains(&member.launch.stream) {
                known.push(member.launch.stream);
                let [first, second]: [LaunchId; 2] = [first, member].map(|one| one.launch.id);
                guards.push(Guard::SameStream { first, second });
            }
        }
        guards
    }

    fn may_be_one(&self, one: Stream, other: Stream) -> bool {
        // A stream that was just made is neither one that has a name nor another that was.
        let is_known = |stream: Stream| match stream {
            Stream::Default | Stream::Unknown => true,
            Stream::Handle(handle) => {
                let named = self.graph.values[handle.0].constant.is_some();
                named || self.graph.made_streams.contains(&handle)
            }
        };
        one == other || !is_known(one) || !is_known(other)
    }

    /// Whether between the first and the last member stands what a member of another stream may wait
    /// for.
    fn passes_order(&mut self, members: &[Candidate]) -> bool {
        let [first, .., last] = members else {
            return false;
        };
        let between = self.order.between(first.node, last.node);
        between.is_none_or(|between| {
            let inside = |node: &&_| members.iter().all(|member| member.node != **node);
            let graph = self.graph;
            let mut others = between.iter().filter(inside);
            others.any(|node| {
                let mut members = members.iter();
                members.any(|member| waiting::orders(graph, member, *node))
            })
        })
    }
}
