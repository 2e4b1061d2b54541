//! Pointers of which only a run can tell whether they are one: of a function that is called in place and with
//! two buffers, say.
//!
//! Where the two launches stay in their threads if the pointers are equal, a test that they are equal or lead
//! apart does. Who knows that they lead apart tests that instead, so it is asked only where both may lead into one
//! allocation as far as the host program shows; and no longer where two kernels did not stay in their threads some times,
//! since programs launch a few kernels over many buffers.

use super::super::decision::add_guards;
use super::super::edges::{Answer, Builder, Compared, Question};
use super::super::instance::{Instance, TargetUse};
use super::super::pair::{ShapeEquality, disjoint_guard, shape_equality, shape_on_sink_side};
use super::super::polynomial::Polynomial;
use super::super::{Edge, Guard, Scope};
use crate::launch::ValueId;

impl Builder<'_> {
    /// Adds the edges between two targets that may be equal or disjoint, where equal ones have none beyond a
    /// thread; false where that cannot be said.
    pub(in crate::dependence) fn may_be_equal(
        &mut self,
        (source, sink, from, to): (&Instance, &Instance, &TargetUse, &TargetUse),
        uses: [usize; 2],
        compared: &Compared<impl Fn(ValueId) -> bool>,
    ) -> bool {
        let unstable = |value: ValueId| !(compared.stable)(value);
        let share = match (&from.place.may_point_to, &to.place.may_point_to) {
            (Some(one), Some(other)) => one.iter().any(|buffer| other.contains(buffer)),
            _ => true,
        };
        // No guard can compare the pointers of two iterations.
        let comparable = !compared.run.is_carried() && compared.later.is_none();
        let modelled = source.broken.is_none() && sink.broken.is_none();
        if !share || !comparable || !modelled {
            return false;
        }
        let shape = shape_on_sink_side(&sink.shape, &unstable);
        let Some(Guard::RangesDisjoint { left, right }) = disjoint_guard(source, sink, from, to)
        else {
            return false;
        };
        if matches!(shape_equality(source, &shape), ShapeEquality::Never) {
            return false;
        }
        let kernels = [source.model.id, sink.model.id];
        let refused = self.unequal.get(&(kernels, uses)).copied();
        if refused.is_some_and(|times| times >= MOST_REFUSALS)
            || self.all_unequal >= MOST_REFUSALS_IN_ALL
        {
            return false;
        }
        let question = Question {
            alike: [self.number(source), self.number(sink)],
            uses,
            distance: Polynomial::default(),
            offset: to
                .place
                .offset
                .as_ref()
                .map(|at| at.on_sink_side(&unstable)),
            name: Some(to.place.name.clone()),
            run: compared.run,
        };
        let answers = self.precise_edges((source, sink, from, to), &question, compared);
        let stays = |answer: &Answer| {
            answer.edge.scope == Scope::Thread && answer.edge.absent_if.is_empty()
        };
        if answers.is_empty() || !answers.iter().all(stays) {
            *self.unequal.entry((kernels, uses)).or_default() += 1;
            self.all_unequal += 1;
            return false;
        }
        let disjoint = Guard::RangesDisjoint {
            left: left.clone(),
            right: right.clone(),
        };
        let mut absent_if = source.conditions.clone();
        add_guards(&mut absent_if, &sink.conditions);
        add_guards(&mut absent_if, &[disjoint]);
        for Answer { edge, .. } in answers {
            let mut edge = Edge {
                exact: false,
                absent_if: absent_if.clone(),
                ..edge
            };
            let either = Guard::SameOrDisjoint {
                left: left.clone(),
                right: right.clone(),
            };
            add_guards(&mut edge.conditions, &[either]);
            self.add(edge);
        }
        true
    }
}

/// So often two uses of two kernels are asked for whether they stay in their threads where pointers are equal.
const MOST_REFUSALS: usize = 3;

/// So often any two are asked for. A program of hundreds of kernels over as many buffers, as lambdas make them, would
/// otherwise ask for each two of them, and most of its time would go there.
const MOST_REFUSALS_IN_ALL: usize = 500;
