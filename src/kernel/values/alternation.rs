//! Values that come round again: buffers that change places in a loop, and flags that flip.
//!
//! In iteration c of its loop such a value is the (c mod m)-th of m values that are known before the
//! loop. Invariant: the turn depends on nothing but the loop's counter, so that a choice of the turn
//! says when it is taken, and nothing is left out.

use super::super::bitwise::bitwise;
use super::super::body::{BinaryOperator, Operation, ValueRef};
use super::super::walk::{OVERFLOW, Outcome, Quantity, Reading, Walk};
use crate::math::affine::{Affine, Variable};
use std::collections::BTreeSet;

/// Longer rotations are given up.
const TURNS: usize = 4;

/// How a value gets to its second turn from its first.
enum Flip {
    /// `x ^ mask`.
    Mask(i64),
    /// `sum - x`.
    Reflection(i64),
}

impl Walk<'_> {
    /// For a phi that takes turns with others of its loop: the loop, and what it starts as in each
    /// turn.
    pub(in crate::kernel) fn rotation(&self, phi: ValueRef) -> Option<(usize, Vec<ValueRef>)> {
        let (index, start, next) = self.recurrence(phi)?;
        let mut starts = vec![start];
        let mut at = self.same_value(next);
        while at != phi {
            let (around, start, next) = self.recurrence(at)?;
            if around != index || starts.len() == TURNS {
                return None;
            }
            starts.push(start);
            at = self.same_value(next);
        }
        (starts.len() > 1).then_some((index, starts))
    }

    /// The value behind new names for it.
    pub(in crate::kernel) fn same_value(&self, value: ValueRef) -> ValueRef {
        let mut at = value;
        loop {
            match &self.body.value(at).operation {
                Operation::Freeze(inner) => at = *inner,
                Operation::Phi(incoming) if incoming.len() == 1 => at = incoming[0].0,
                _ => return at,
            }
        }
    }

    /// The loop whose counter says which turn it is, and the number of turns.
    pub(in crate::kernel) fn turns(&self, phi: ValueRef) -> Option<(usize, usize)> {
        let rotation = self
            .rotation(phi)
            .map(|(index, starts)| (index, starts.len()));
        rotation.or_else(|| Some((self.flip(phi)?.0, 2)))
    }

    fn flip(&self, phi: ValueRef) -> Option<(usize, ValueRef, Flip)> {
        let (index, start, next) = self.recurrence(phi)?;
        let Operation::Binary {
            operator,
            left,
            right,
            ..
        } = &self.body.value(self.same_value(next)).operation
        else {
            return None;
        };
        let is_own = |value: ValueRef| self.same_value(value) == phi;
        let flip = match operator {
            BinaryOperator::Xor if is_own(*left) => Flip::Mask(self.body.literal(*right)?),
            BinaryOperator::Subtract if is_own(*right) => {
                Flip::Reflection(self.body.literal(*left)?)
            }
            _ => return None,
        };
        Some((index, start, flip))
    }

    /// What a phi at the head of a loop may be, when the loop only passes on values from before it.
    pub(in crate::kernel) fn passed_on(&self, phi: ValueRef) -> Option<Vec<ValueRef>> {
        let index = self.header_loop(phi)?;
        let inside = &self.flow.loops[index].blocks;
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut pending = vec![phi];
        while let Some(at) = pending.pop() {
            if !seen.insert(at) {
                continue;
            }
            let value = self.body.value(at);
            if !value.block.is_some_and(|block| inside.contains(&block)) {
                found.push(at);
                continue;
            }
            match &value.operation {
                Operation::Freeze(inner) => pending.push(*inner),
                Operation::Select {
                    on_true, on_false, ..
                } => pending.extend([*on_true, *on_false]),
                Operation::Phi(incoming) => {
                    pending.extend(incoming.iter().map(|(value, _)| *value));
                }
                _ => return None,
            }
        }
        found.sort();
        (found.len() <= TURNS).then_some(found)
    }

    /// A number that takes turns; `None`: it does not.
    pub(in crate::kernel) fn alternating(
        &mut self,
        phi: ValueRef,
        reading: Reading,
    ) -> Option<Outcome<Quantity>> {
        if let Some(affine) = self.counted_round(phi) {
            return Some(Ok(Quantity::certain(affine)));
        }
        if let Some((_, starts)) = self.rotation(phi) {
            return Some(self.choose(phi, &starts, reading));
        }
        if let Some((index, start, flip)) = self.flip(phi) {
            return Some(self.flipping(phi, index, start, flip, reading));
        }
        let values = self.passed_on(phi)?;
        Some(self.choose(phi, &values, reading))
    }

    fn flipping(
        &mut self,
        phi: ValueRef,
        index: usize,
        start: ValueRef,
        flip: Flip,
        reading: Reading,
    ) -> Outcome<Quantity> {
        let first = self.read(start, reading)?;
        let second = match flip {
            Flip::Mask(mask) => bitwise(BinaryOperator::Xor, first.clone(), mask)?,
            Flip::Reflection(sum) => Quantity::certain(Affine::constant(sum))
                .combine(first.clone(), Affine::subtract)
                .ok_or(OVERFLOW)?,
        };
        let change = second.affine.subtract(&first.affine).ok_or(OVERFLOW)?;
        if let Some(change) = change.as_constant() {
            let odd = Affine::variable(Variable::Loop(index)).modulo(2);
            let affine = odd
                .and_then(|odd| odd.scale(change))
                .and_then(|change| first.affine.add(&change))
                .ok_or(OVERFLOW)?;
            return first.combine(second, |_, _| Some(affine)).ok_or(OVERFLOW);
        }
        match self.chosen(phi)? {
            Some(0) => Ok(first),
            Some(_) => Ok(second),
            None => Err(super::super::walk::Obstacle::Choice(phi, 2)),
        }
    }

    /// `(x + step) % size` from a literal start below the size: `(start + step · counter) mod size`.
    fn counted_round(&self, phi: ValueRef) -> Option<Affine> {
        let (index, start, next) = self.recurrence(phi)?;
        let (sum, size) = self.wrapped_round(phi, next)?;
        let Operation::Binary {
            operator: BinaryOperator::Add,
            left: before,
            right: step,
            ..
        } = &self.body.value(self.same_value(sum)).operation
        else {
            return None;
        };
        let (step, start) = (self.body.literal(*step)?, self.body.literal(start)?);
        // The sum stays below the width of the value, of 32 bits and more.
        let bits = self.bits(phi)?;
        let inside = 0 <= start
            && start < size
            && 0 <= step
            && bits >= 32
            && i128::from(step) + i128::from(size) < 1i128 << (bits - 1);
        if self.same_value(*before) != phi || !inside {
            return None;
        }
        Affine::variable(Variable::Loop(index))
            .scale(step)?
            .add(&Affine::constant(start))?
            .modulo(size)
    }

    /// A sum, and the size at which it starts from 0 again, in one of the ways that LLVM writes it.
    fn wrapped_round(&self, phi: ValueRef, next: ValueRef) -> Option<(ValueRef, i64)> {
        if let Operation::Select {
            condition,
            on_true,
            on_false,
        } = &self.body.value(self.same_value(next)).operation
        {
            return self.reset_round(phi, *condition, *on_true, *on_false);
        }
        let Operation::Binary {
            operator,
            left,
            right,
            ..
        } = &self.body.value(self.same_value(next)).operation
        else {
            return None;
        };
        let literal = self.body.literal(*right)?;
        let size = match operator {
            BinaryOperator::And => literal.checked_add(1)?,
            BinaryOperator::UnsignedRemainder | BinaryOperator::SignedRemainder => literal,
            _ => return None,
        };
        let is_mask = *operator == BinaryOperator::And;
        let sound =
            size >= 2 && size <= i64::from(i32::MAX) && !(is_mask && size.count_ones() != 1);
        sound.then_some((*left, size))
    }

    /// `x + 1 == size ? 0 : x + 1`, tested before or after the sum.
    fn reset_round(
        &self,
        phi: ValueRef,
        condition: ValueRef,
        on_true: ValueRef,
        on_false: ValueRef,
    ) -> Option<(ValueRef, i64)> {
        use super::super::body::Predicate::*;
        let Operation::Compare {
            predicate,
            left,
            right,
            ..
        } = &self.body.value(condition).operation
        else {
            return None;
        };
        let (reset, sum, at) = match predicate {
            Equal => (on_true, on_false, 0),
            NotEqual => (on_false, on_true, 0),
            SignedLess | UnsignedLess => (on_false, on_true, 0),
            SignedGreaterEqual | UnsignedGreaterEqual => (on_true, on_false, 0),
            SignedGreater | UnsignedGreater => (on_true, on_false, 1),
            SignedLessEqual | UnsignedLessEqual => (on_false, on_true, 1),
        };
        let tested = self.same_value(*left);
        let ahead = match tested {
            tested if tested == phi => 1,
            tested if tested == self.same_value(sum) => 0,
            _ => return None,
        };
        let size = self.body.literal(*right)?.checked_add(at + ahead)?;
        let one = matches!(
            &self.body.value(self.same_value(sum)).operation,
            Operation::Binary { operator: BinaryOperator::Add, right, .. }
                if self.body.literal(*right) == Some(1)
        );
        let sound =
            self.body.literal(reset) == Some(0) && one && (2..=i64::from(i32::MAX)).contains(&size);
        sound.then_some((sum, size))
    }
}
