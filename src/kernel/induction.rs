//! Induction variables: values that grow by the same step in every iteration of a loop.

use super::body::{BinaryOperator, Operation, ValueRef};
use super::walk::{OVERFLOW, Obstacle, Outcome, Quantity, Reading, Walk, scaled};
use crate::affine::{Affine, Variable};

impl Walk<'_> {
    /// The loop that a phi heads.
    pub(super) fn header_loop(&self, phi: ValueRef) -> Option<usize> {
        let block = self.body.value(phi).block?;
        self.flow.loops.iter().position(|each| each.header == block)
    }

    /// `start` and `next` of a phi at the head of a loop.
    pub(super) fn recurrence(&self, phi: ValueRef) -> Option<(usize, ValueRef, ValueRef)> {
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
    pub(super) fn induction(
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
        let mut step = Quantity::certain(Affine::constant(0));
        for (sign, value) in chain {
            let change = match self.in_step(index, |walk| walk.read(value, reading)) {
                Ok(change) => change,
                Err(obstacle) => return Some(Err(obstacle)),
            };
            step = step.combine(scaled(change, sign).ok()?, Affine::add)?;
        }
        let start = match self.read(start, reading) {
            Ok(start) => start,
            Err(obstacle) => return Some(Err(obstacle)),
        };
        Some(self.progression(index, start, step))
    }

    /// `start + step · counter` for a step that is the same in every iteration.
    pub(super) fn progression(
        &mut self,
        index: usize,
        start: Quantity,
        step: Quantity,
    ) -> Outcome<Quantity> {
        let varies = self.space.loops_in(&step.affine).into_iter().any(|inner| {
            let mut at = Some(inner);
            while let Some(each) = at {
                if each == index {
                    return true;
                }
                at = self.flow.loops[each].parent;
            }
            false
        });
        if varies {
            return Err(Obstacle::Unknown("its step changes in the loop"));
        }
        let counter = Quantity::certain(Affine::variable(Variable::Loop(index)));
        let travelled = counter
            .combine(step, |a, b| self.space.multiply(a, b))
            .ok_or(Obstacle::Unknown("its step differs among threads"))?;
        start.combine(travelled, Affine::add).ok_or(OVERFLOW)
    }

    /// The values added (with sign) on the way from a phi to its next value.
    fn increments(
        &self,
        phi: ValueRef,
        at: ValueRef,
        never_wraps: &mut bool,
        depth: usize,
    ) -> Option<Vec<(i64, ValueRef)>> {
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
                    chain.push((if subtract { -1 } else { 1 }, *right));
                    return Some(chain);
                }
                if add && let Some(mut chain) = self.increments(phi, *right, never_wraps, depth + 1)
                {
                    chain.push((1, *left));
                    return Some(chain);
                }
                None
            }
            Operation::Freeze(inner) => self.increments(phi, *inner, never_wraps, depth + 1),
            _ => None,
        }
    }

    /// Runs a part of the walk that reads the step of a loop.
    pub(super) fn in_step<T>(&mut self, index: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        self.stepping.push(index);
        let memo = std::mem::take(&mut self.memo);
        let result = read(self);
        self.memo = memo;
        self.stepping.pop();
        result
    }
}
