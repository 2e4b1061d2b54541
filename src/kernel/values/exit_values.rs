//! Values that a loop leaves behind: how often it repeats, put in place of its counter.
//!
//! A loop with one way out, tested in every iteration, repeats until a linear expression of its
//! counter turns negative for the first time. Invariant: the number found is right provided that
//! its obligations hold. They ask for the tested comparison to be free of wraps in the first and in
//! the last iteration; between them it is, since it is linear in the counter.

use super::super::body::{BlockRef, Operation, Predicate, Terminator};
use super::super::ranges::{may_be_required, ordinarily_positive};
use super::super::walk::{OVERFLOW, Obligation, Obstacle, Outcome, Quantity, Reading, Walk};
use crate::math::affine::{Affine, Variable};
use std::collections::BTreeSet;

const NOT_KNOWN: Obstacle = Obstacle::Unknown("it is the last value of a loop");

impl Walk<'_> {
    /// A quantity as a block sees it: counters of loops that are over have their last value.
    pub(in crate::kernel) fn seen_from(
        &mut self,
        quantity: Quantity,
        block: BlockRef,
    ) -> Outcome<Quantity> {
        let around = self.flow.loops_of(block);
        let mut quantity = quantity;
        // Inner loops have larger indices, and their ends may mention outer counters.
        for _ in 0..=self.flow.loops.len() {
            let over = self.space.loops_in(&quantity.affine);
            let Some(index) = over.into_iter().rfind(|index| !around.contains(index)) else {
                return Ok(quantity);
            };
            let repeats = self.repeats(index)?;
            quantity = self.at_counter(&quantity, index, &repeats)?;
        }
        Err(NOT_KNOWN)
    }

    /// The quantity in a certain iteration of a loop.
    fn at_counter(
        &mut self,
        quantity: &Quantity,
        index: usize,
        counter: &Quantity,
    ) -> Outcome<Quantity> {
        let affine = self
            .space
            .substitute(&quantity.affine, index, &counter.affine)
            .ok_or(NOT_KNOWN)?;
        let mut obligations = counter.obligations.clone();
        for obligation in &quantity.obligations {
            obligations.insert(Obligation {
                affine: self
                    .space
                    .substitute(&obligation.affine, index, &counter.affine)
                    .ok_or(NOT_KNOWN)?,
                ..*obligation
            });
        }
        Ok(Quantity {
            affine,
            obligations,
        })
    }

    /// How often a loop goes back to its header, which is its counter's last value.
    pub(in crate::kernel) fn repeats(&mut self, index: usize) -> Outcome<Quantity> {
        if self.counting.contains(&index) {
            return Err(NOT_KNOWN);
        }
        self.counting.push(index);
        let outcome = self.repeats_until_exit(index);
        self.counting.pop();
        // What is chosen anew in each iteration does not say when the loop ends.
        match outcome {
            Err(Obstacle::Choice(value, _))
                if self
                    .body
                    .value(value)
                    .block
                    .is_some_and(|block| self.flow.loops[index].blocks.contains(&block)) =>
            {
                Err(NOT_KNOWN)
            }
            other => other,
        }
    }

    fn repeats_until_exit(&mut self, index: usize) -> Outcome<Quantity> {
        let (body, flow) = (self.body, self.flow);
        let natural = &flow.loops[index];
        let [(from, to)] = natural.exits.as_slice() else {
            return Err(NOT_KNOWN);
        };
        let every_time = flow.innermost[from.0] == Some(index)
            && natural
                .latches
                .iter()
                .all(|latch| flow.dominates(*from, *latch));
        let Terminator::Branch {
            condition, on_true, ..
        } = &body.block(*from).terminator
        else {
            return Err(NOT_KNOWN);
        };
        let Operation::Compare {
            predicate,
            left,
            right,
            same_sign,
        } = &body.value(*condition).operation
        else {
            return Err(NOT_KNOWN);
        };
        // The branch itself must leave, not a value computed in an iteration before.
        if !every_time || body.value(*condition).block != Some(*from) {
            return Err(NOT_KNOWN);
        }
        let predicate = if on_true == to {
            predicate.negated()
        } else {
            *predicate
        };
        use Predicate::*;
        let unsigned = matches!(
            predicate,
            UnsignedLess | UnsignedLessEqual | UnsignedGreater | UnsignedGreaterEqual
        ) && !same_sign;
        let reading = if unsigned {
            Reading::Unsigned
        } else {
            Reading::Signed
        };
        let (a, b, _) = self.compared(*left, *right, reading)?;
        let distance = b
            .clone()
            .combine(a.clone(), Affine::subtract)
            .ok_or(OVERFLOW)?;
        // The loop goes on while `row >= 0`.
        let (toward, slack) = match predicate {
            SignedLess | UnsignedLess => (1, 1),
            SignedLessEqual | UnsignedLessEqual => (1, 0),
            SignedGreater | UnsignedGreater => (-1, 1),
            SignedGreaterEqual | UnsignedGreaterEqual => (-1, 0),
            // Until it hits zero, in steps towards it that do not miss it.
            NotEqual => {
                let counter = Variable::Loop(index);
                let mut terms = distance.affine.terms.iter();
                let Some((step, _)) = terms.find(|(_, at)| *at == counter) else {
                    return Err(NOT_KNOWN);
                };
                let hits = distance.affine.constant % step == 0
                    && distance.affine.terms.iter().all(|(by, _)| by % step == 0);
                match hits {
                    true if *step < 0 => (1, 1),
                    true => (-1, 1),
                    false => return Err(NOT_KNOWN),
                }
            }
            Equal => return Err(NOT_KNOWN),
        };
        let row = distance
            .affine
            .scale(toward)
            .and_then(|row| row.add(&Affine::constant(-slack)))
            .ok_or(OVERFLOW)?;
        let repeats = self.first_negative(&row, index)?;
        let mut obligations: BTreeSet<_> = repeats.obligations.clone();
        for counter in [Quantity::certain(Affine::constant(0)), repeats.clone()] {
            for side in [&a, &b] {
                let linear = side
                    .obligations
                    .iter()
                    .all(|each| self.is_linear(&each.affine, index));
                if !linear {
                    return Err(NOT_KNOWN);
                }
                obligations.extend(self.at_counter(side, index, &counter)?.obligations);
            }
        }
        Ok(Quantity {
            affine: repeats.affine,
            obligations,
        })
    }

    /// Between two iterations the expression lies between its values there.
    fn is_linear(&self, affine: &Affine, index: usize) -> bool {
        affine.terms.iter().all(|(_, variable)| {
            let alone = Affine::variable(variable.clone());
            match variable {
                Variable::Loop(at) if *at == index => true,
                Variable::Product(at) => self.is_linear(&self.space.products[*at].factor, index),
                _ => !self.space.loops_in(&alone).contains(&index),
            }
        })
    }

    /// The first counter at which `row`, falling with it, is negative: `floor((row at 0 + step) /
    /// step)`, of at least 0.
    fn first_negative(&mut self, row: &Affine, index: usize) -> Outcome<Quantity> {
        let falls: Vec<_> = row
            .terms
            .iter()
            .filter(|(_, variable)| {
                let alone = Affine::variable(variable.clone());
                self.space.loops_in(&alone).contains(&index)
            })
            .cloned()
            .collect();
        let [(coefficient, variable)] = falls.as_slice() else {
            return Err(NOT_KNOWN);
        };
        let size = coefficient.checked_neg().filter(|size| *size > 0);
        let Some(size) = size else {
            return Err(NOT_KNOWN);
        };
        let start = self
            .space
            .substitute(row, index, &Affine::constant(0))
            .ok_or(NOT_KNOWN)?;
        match variable {
            Variable::Loop(at) if *at == index => {
                let sum = self.reach(&start, &Affine::constant(size))?;
                Ok(Quantity {
                    affine: sum.affine.floor_divide(size),
                    obligations: sum.obligations,
                })
            }
            Variable::Product(at)
                if self.space.products[*at].factor == Affine::variable(Variable::Loop(index)) =>
            {
                let parameter = self.space.products[*at].parameter;
                let step = self.space.parameters[parameter]
                    .scale(size)
                    .ok_or(OVERFLOW)?;
                let step_affine = self.space.uniform(&step).ok_or(OVERFLOW)?;
                let sum = self.reach(&start, &step_affine)?;
                let positive = Quantity::certain(step_affine).within(1, i64::MAX.into());
                let affine = match self.space.polynomial(&sum.affine) {
                    Some(sum) => self.space.uniform(&sum.floor_divide(&step)),
                    None => self.space.quotient(&sum.affine, &step).map(|pair| pair.0),
                };
                let affine = affine.ok_or(OVERFLOW)?;
                sum.combine(positive, |_, _| Some(affine)).ok_or(OVERFLOW)
            }
            _ => Err(NOT_KNOWN),
        }
    }

    /// `start + step`, of at least 0: the loop ends where it should, or does not run at all.
    fn reach(&self, start: &Affine, step: &Affine) -> Outcome<Quantity> {
        let sum = start.add(step).ok_or(OVERFLOW)?;
        // `n / blockDim.y - 15` of an unrolled loop is below zero as often as not.
        if !may_be_required(self.space, &sum) || !ordinarily_positive(self.space, &sum) {
            return Err(NOT_KNOWN);
        }
        Ok(Quantity::certain(sum).within(0, i64::MAX.into()))
    }
}
