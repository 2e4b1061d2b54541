//! Sets and copies as members of groups: threads of a launch do what the copy engine did.

use super::super::group::Judge;
use super::super::obstacle::{Candidate, rejection};
use crate::dependence::Guard;
use crate::diagnostics::{Rejection, RejectionReason};
use crate::math::expression::{Condition, Expression};

/// What a thread sets or copies at most, for a launch that does more by itself.
const MOST_BYTES_OF_A_THREAD: i64 = 256;

impl Judge<'_> {
    /// What a set or a copy leaves to each thread is little: a few threads of a small launch would
    /// take longer than the copy engine.
    pub(in crate::schedule) fn work(&self, member: &Candidate) -> Option<Guard> {
        self.graph.operation_of(member.launch.id)?;
        let bytes = member.launch.arguments.last()?.pieces.first()?.value;
        let bytes = match self.graph.values[bytes.0].constant {
            Some(constant) => Expression::Constant(constant),
            None => Expression::Leaf(bytes),
        };
        let threads = self.extent(member, 0).multiply(self.extent(member, 3));
        let most = threads.multiply(Expression::Constant(MOST_BYTES_OF_A_THREAD));
        Some(Guard::Holds {
            class: String::from("work"),
            condition: Condition::LessEqual(bytes, most),
        })
    }

    /// No set or copy is known to leave each thread much: a group with it would never run.
    pub(in crate::schedule) fn work_is_little(
        &self,
        members: &[Candidate],
    ) -> Result<(), Rejection> {
        let much = |member: &&Candidate| match self.work(member) {
            Some(Guard::Holds { condition, .. }) => condition.decided() == Some(false),
            _ => false,
        };
        let Some(member) = members.iter().find(much) else {
            return Ok(());
        };
        let message = format!(
            "`{}` has more bytes than the threads of these launches should set or copy",
            member.model.display_name
        );
        let location = &self.graph.nodes[member.node.0].location;
        Err(rejection(RejectionReason::Resources, message, location))
    }
}
