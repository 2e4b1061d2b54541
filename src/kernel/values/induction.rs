//! Induction variables: values that grow by the same step in every iteration of a loop.

use super::super::body::{BinaryOperator, Operation, ValueRef};
use super::super::walk::{OVERFLOW, Obstacle, Outcome, Quantity, Reading, Walk, scaled};
use crate::math::affine::{Affine, Variable};

/// What happens to a value on the way from a loop's phi to its next value.
enum Change {
    Add(ValueRef),
    Subtract(ValueRef),
    /// These, in each repetition of a loop inside.
    Repeat(usize, Vec<Change>),
}

/// A phi on that way.
pub(in crate::kernel) enum Way {
    /// Only a new name.
    Same(ValueRef),
    /// The phi of a loop inside, from its start to its next value.
    Loop(usize, ValueRef, ValueRef),
}

impl Walk<'_> {
    /// The loop that a phi heads.
    pub(in crate::kernel) fn header_loop(&self, phi: ValueRef) -> Option<usize> {
        let block = self.body.value(phi).block?;
        self.flow.loops.iter().position(|each| each.header == block)
    }

    /// `start` and `next` of a phi at the head of a loop.
    pub(in crate::kernel) fn recurrence(
        &self,
        phi: ValueRef,
    ) -> Option<(usize, ValueRef, ValueRef)> {
        let index = self.header_loop(phi)?;
        let Operation::Phi(incoming) = &self.body.value(phi).operation else {
            return None;
        };
        let blocks = &self.flow.loops[index].blocks;
        let (mut start, mut next) = (None, None);
        for (value, from) in incoming {
            let slot = if blocks.contains(from) {
                &mut next
            } else {
                &mut start
            };
            if slot.is_some_and(|known| known != *value) {
                return None;
            }
            *slot = Some(*value);
        }
        Some((index, start?, next?))
    }

    /// An induction variable: `start + step · counter`. `None`: not one in this reading.
    pub(in crate::kernel) fn induction(
        &mut self,
        phi: ValueRef,
        reading: Reading,
    ) -> Option<Outcome<Quantity>> {
        let (index, start, next) = self.recurrence(phi)?;
        let mut never_wraps = true;
        let chain = self.increments(phi, next, &mut never_wraps, 0)?;
        if reading == Reading::Signed && !never_wraps {
            return None;
        }
        let step = match self.in_step(index, |walk| walk.total(&chain, reading)) {
            Ok(step) => step,
            Err(obstacle) => return Some(Err(obstacle)),
        };
        let start = match self.read(start, reading) {
            Ok(start) => start,
            Err(obstacle) => return Some(Err(obstacle)),
        };
        Some(self.progression(index, start, step))
    }

    /// `start + step · counter` for a step that is the same in every iteration.
    pub(in crate::kernel) fn progression(
        &mut self,
        index: usize,
        start: Quantity,
        step: Quantity,
    ) -> Outcome<Quantity> {
        if self.varies_in(&step.affine, index) {
            return Err(Obstacle::Unknown("its step changes in the loop"));
        }
        let counter = Quantity::certain(Affine::variable(Variable::Loop(index)));
        let travelled = counter
            .combine(step, |a, b| self.space.multiply(a, b))
            .ok_or(Obstacle::Unknown("its step differs among threads"))?;
        start.combine(travelled, Affine::add).ok_or(OVERFLOW)
    }

    /// Whether an expression mentions a loop's counter, or one inside it.
    fn varies_in(&self, affine: &Affine, index: usize) -> bool {
        self.space.loops_in(affine).into_iter().any(|inner| {
            let mut at = Some(inner);
            while let Some(each) = at {
                if each == index {
                    return true;
                }
                at = self.flow.loops[each].parent;
            }
            false
        })
    }

    /// All changes together.
    fn total(&mut self, changes: &[Change], reading: Reading) -> Outcome<Quantity> {
        let mut sum = Quantity::certain(Affine::constant(0));
        for change in changes {
            let change = match change {
                Change::Add(value) => self.read(*value, reading)?,
                Change::Subtract(value) => scaled(self.read(*value, reading)?, -1)?,
                Change::Repeat(inner, changes) => {
                    let once = self.in_step(*inner, |walk| walk.total(changes, reading))?;
                    self.repeated(*inner, once)?
                }
            };
            sum = sum.combine(change, Affine::add).ok_or(OVERFLOW)?;
        }
        Ok(sum)
    }

    /// What a step in a loop adds up to until the loop is over.
    pub(in crate::kernel) fn repeated(
        &mut self,
        index: usize,
        step: Quantity,
    ) -> Outcome<Quantity> {
        if self.varies_in(&step.affine, index) {
            return Err(Obstacle::Unknown("its step changes in the loop"));
        }
        let times = self.repeats(index)?;
        times
            .combine(step, |a, b| self.space.multiply(a, b))
            .ok_or(Obstacle::Unknown("its step differs among threads"))
    }

    /// The changes on the way from a phi to its next value.
    fn increments(
        &self,
        phi: ValueRef,
        at: ValueRef,
        never_wraps: &mut bool,
        depth: usize,
    ) -> Option<Vec<Change>> {
        if at == phi {
            return Some(Vec::new());
        }
        if depth > 8 {
            return None;
        }
        match &self.body.value(at).operation {
            Operation::Binary {
                operator,
                left,
                right,
                no_signed_wrap,
                disjoint,
                ..
            } => {
                let (add, subtract) = match operator {
                    BinaryOperator::Add => (true, false),
                    BinaryOperator::Or if *disjoint => (true, false),
                    BinaryOperator::Subtract => (false, true),
                    _ => return None,
                };
                *never_wraps &= *no_signed_wrap;
                if let Some(mut chain) = self.increments(phi, *left, never_wraps, depth + 1) {
                    chain.push(if subtract {
                        Change::Subtract(*right)
                    } else {
                        Change::Add(*right)
                    });
                    return Some(chain);
                }
                if add && let Some(mut chain) = self.increments(phi, *right, never_wraps, depth + 1)
                {
                    chain.push(Change::Add(*left));
                    return Some(chain);
                }
                None
            }
            Operation::Freeze(inner) => self.increments(phi, *inner, never_wraps, depth + 1),
            Operation::Phi(_) => match self.way_through(phi, at)? {
                Way::Same(value) => self.increments(phi, value, never_wraps, depth + 1),
                Way::Loop(inner, start, next) => {
                    let mut chain = self.increments(phi, start, never_wraps, depth + 1)?;
                    let repeated = self.increments(at, next, never_wraps, depth + 1)?;
                    chain.push(Change::Repeat(inner, repeated));
                    Some(chain)
                }
            },
            _ => None,
        }
    }

    /// How a value gets through a phi on the way from the loop phi `from` to its next value.
    pub(in crate::kernel) fn way_through(&self, from: ValueRef, at: ValueRef) -> Option<Way> {
        let Operation::Phi(incoming) = &self.body.value(at).operation else {
            return None;
        };
        if let [(value, _)] = incoming.as_slice() {
            return Some(Way::Same(*value));
        }
        let (inner, start, next) = self.recurrence(at)?;
        let parent = self.flow.loops[inner].parent;
        (parent.is_some() && parent == self.header_loop(from))
            .then_some(Way::Loop(inner, start, next))
    }

    /// Runs a part of the walk that reads the step of a loop.
    pub(in crate::kernel) fn in_step<T>(
        &mut self,
        index: usize,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.stepping.push(index);
        let memo = std::mem::take(&mut self.memo);
        let result = read(self);
        self.memo = memo;
        self.stepping.pop();
        result
    }
}
