//! Numbers that are not affine, but stay within bounds: strides that halve or double, digits of data,
//! run-time shifts.
//!
//! Such a number is a dimension of its own, tied to the others by its bounds alone. Invariant: for
//! every instance that computes the number, the dimension's rows hold for `number - least`, provided
//! that the obligations of the quantity do; a number in another iteration of a loop around its
//! computation is another number, so nothing carries over from one to the next.

use super::super::body::{BinaryOperator, Cast, Operation, ValueRef};
use super::super::polynomial::Polynomial;
use super::super::ranges::lower;
use super::super::space::Space;
use super::super::walk::{Choices, Obligation, Quantity, Reading, Walk};
use crate::math::affine::{Affine, Variable};
use std::collections::BTreeSet;

/// Which numbers may become dimensions of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Openness {
    /// None: what is not affine is unknown.
    Closed,
    /// Those that a loop carries from one iteration to the next.
    Carried,
    /// All.
    Open,
}

/// Bounds of a number read as signed.
#[derive(Clone, Debug)]
struct Bounds {
    low: Option<Affine>,
    high: Option<Affine>,
    obligations: BTreeSet<Obligation>,
}

/// How deep bounds are looked for.
const DEPTH: usize = 6;
/// How many values are looked at for one number.
pub const EFFORT: usize = 48;
/// Numbers below that are worth a dimension.
const WIDEST_BITS: u32 = 16;

impl Bounds {
    fn constants(low: i64, high: i64) -> Self {
        Self {
            low: Some(Affine::constant(low)),
            high: Some(Affine::constant(high)),
            obligations: BTreeSet::new(),
        }
    }

    fn constant_low(&self) -> Option<i64> {
        self.low.as_ref()?.as_constant()
    }

    fn constant_high(&self) -> Option<i64> {
        self.high.as_ref()?.as_constant()
    }

    fn is_empty(&self) -> bool {
        self.low.is_none() && self.high.is_none()
    }

    /// Never below zero.
    fn is_positive(&self, space: &Space) -> bool {
        self.low.as_ref().is_some_and(|low| {
            let mut bounds = lower(space, low, &[]).into_iter();
            bounds.any(|bound| bound.range().0 >= 0)
        })
    }

    /// Of a number that comes from this one by something that brings numbers of at least 0 closer to
    /// 0.
    fn shrunk(self, space: &Space) -> Option<Self> {
        self.is_positive(space).then_some(Self {
            low: Some(Affine::constant(0)),
            ..self
        })
    }
}

impl Walk<'_> {
    /// A number as a dimension of its own, where bounds are known; `None`: none are.
    pub(in crate::kernel) fn as_dimension(
        &mut self,
        value: ValueRef,
        reading: Reading,
    ) -> Option<Quantity> {
        let is_carried = self.header_loop(value).is_some() || self.left_behind(value);
        let allowed = match self.openness {
            Openness::Closed => false,
            Openness::Carried => is_carried,
            Openness::Open => true,
        };
        if !allowed || !self.stepping.is_empty() || !self.counting.is_empty() {
            return None;
        }
        if self.space.unbounded.contains(&value) {
            return None;
        }
        // Bounds hold whatever is chosen.
        let mut walk = Walk::new(
            self.body,
            self.flow,
            self.space,
            self.changed_arguments,
            Choices::new(),
        );
        let bounds = walk.bounds(value, DEPTH);
        let useful = bounds.filter(|bounds| bounds.high.is_some() || is_carried);
        let Some((bounds, low)) = useful.and_then(|bounds| Some((bounds.clone(), bounds.low?)))
        else {
            self.space.unbounded.insert(value);
            return None;
        };
        let negative = low.as_constant().is_none_or(|low| low < 0);
        if reading == Reading::Unsigned && negative {
            return None;
        }
        let block = self.body.value(value).block;
        let around = block.map_or_else(Vec::new, |block| self.flow.loops_of(block));
        let most = bounds.high.as_ref();
        Some(Quantity {
            affine: self.space.unknown(value, &low, most, around)?,
            obligations: bounds.obligations,
        })
    }

    /// What bounds a value at every instance of its block.
    fn bounds(&mut self, value: ValueRef, depth: usize) -> Option<Bounds> {
        let mut bounds = self.bounds_of(value, depth)?;
        if let Some(block) = self.body.value(value).block {
            let around = self.flow.loops_of(block);
            bounds.low = bounds.low.and_then(|low| self.least_at(low, &around));
            let most = bounds.high.and_then(|high| high.scale(-1));
            let most = most.and_then(|negated| self.least_at(negated, &around));
            bounds.high = most.and_then(|negated| negated.scale(-1));
            let mentioned = |each: &Obligation| self.space.loops_in(&each.affine);
            let mut mentioned = bounds.obligations.iter().flat_map(mentioned);
            if !mentioned.all(|index| around.contains(&index)) {
                return None;
            }
        }
        (!bounds.is_empty()).then_some(bounds)
    }

    /// The least that a number may be behind the loops that are over there: its value in their first
    /// iterations, where it grows from each to the next.
    fn least_at(&mut self, affine: Affine, around: &[usize]) -> Option<Affine> {
        let mut least = affine;
        // Inner loops have larger indices.
        while let Some(index) =
            (self.space.loops_in(&least).into_iter()).rfind(|index| !around.contains(index))
        {
            let counter = Affine::variable(Variable::Loop(index));
            let next = counter.add(&Affine::constant(1))?;
            let next = self.space.substitute(&least, index, &next)?;
            let step = next.subtract(&least)?;
            let mut bounds = lower(self.space, &step, &[]).into_iter();
            if !bounds.any(|bound| bound.range().0 >= 0) {
                return None;
            }
            least = self.space.substitute(&least, index, &Affine::constant(0))?;
        }
        Some(least)
    }

    /// What a loop that is over has made of a number that it carried, whichever way it was left.
    fn left_behind(&self, value: ValueRef) -> bool {
        let body = self.body;
        let (Operation::Phi(incoming), Some(block)) =
            (&body.value(value).operation, body.value(value).block)
        else {
            return false;
        };
        let mut carried = incoming.iter().map(|(value, _)| self.same_value(*value));
        let Some(first) = carried
            .next()
            .filter(|first| carried.all(|other| other == *first))
        else {
            return false;
        };
        let over = |index: usize| !self.flow.loops[index].blocks.contains(&block);
        self.header_loop(first).is_some_and(over)
    }

    fn bounds_of(&mut self, value: ValueRef, depth: usize) -> Option<Bounds> {
        let bits = self.bits(value)?;
        self.effort = self.effort.checked_sub(1)?;
        if let Ok(known) = self.read(value, Reading::Signed) {
            return Some(Bounds {
                low: Some(known.affine.clone()),
                high: Some(known.affine),
                obligations: known.obligations,
            });
        }
        let depth = depth.checked_sub(1)?;
        let body = self.body;
        match &body.value(value).operation {
            Operation::Load { .. } | Operation::Other { .. } if bits <= WIDEST_BITS => {
                let limit = 1i64 << (bits - 1);
                Some(Bounds::constants(-limit, limit - 1))
            }
            Operation::Freeze(inner) => self.bounds(*inner, depth),
            Operation::Cast { cast, operand, .. } => self.cast_bounds(*cast, *operand, depth),
            Operation::Absolute(inner) => {
                let inner = self.bounds(*inner, depth)?;
                let (low, high) = (inner.constant_low()?, inner.constant_high()?);
                // The least number of all stays what it is.
                if i128::from(low) <= -(1i128 << (bits - 1)) {
                    return None;
                }
                let most = low.checked_neg()?.max(high);
                Some(Bounds {
                    obligations: inner.obligations,
                    ..Bounds::constants(0, most)
                })
            }
            Operation::Select {
                on_true, on_false, ..
            } => self.union(&[*on_true, *on_false], depth),
            Operation::Phi(incoming) => {
                if let Some((_, start, next)) = self.recurrence(value) {
                    return self.carried_bounds(value, start, next, depth);
                }
                if self.header_loop(value).is_some() {
                    return None;
                }
                let alternatives: Vec<_> = incoming.iter().map(|(value, _)| *value).collect();
                self.union(&alternatives, depth)
            }
            Operation::Binary { .. } => self.binary_bounds(value, bits, depth),
            _ => None,
        }
    }

    fn cast_bounds(&mut self, cast: Cast, operand: ValueRef, depth: usize) -> Option<Bounds> {
        let bits = self.bits(operand)?;
        let inner = self.bounds(operand, depth);
        match cast {
            Cast::SignExtend | Cast::Same => inner,
            Cast::ZeroExtend => {
                let positive =
                    inner.filter(|inner| inner.constant_low().is_some_and(|low| low >= 0));
                match positive {
                    Some(inner) => Some(inner),
                    None if bits <= WIDEST_BITS => Some(Bounds::constants(0, (1i64 << bits) - 1)),
                    None => None,
                }
            }
            Cast::Truncate | Cast::AddressSpace => None,
        }
    }

    /// Between the least and the largest of several.
    fn union(&mut self, alternatives: &[ValueRef], depth: usize) -> Option<Bounds> {
        let mut all = Vec::new();
        for alternative in alternatives {
            all.push(self.bounds(*alternative, depth)?);
        }
        let mut union = all.pop()?;
        for each in all {
            union.obligations.extend(each.obligations);
            union.low = self.extreme(union.low, each.low, false);
            union.high = self.extreme(union.high, each.high, true);
        }
        Some(union)
    }

    /// The larger or smaller of two uniform bounds.
    fn extreme(&mut self, a: Option<Affine>, b: Option<Affine>, larger: bool) -> Option<Affine> {
        let (a, b) = (a?, b?);
        if a == b {
            return Some(a);
        }
        let (x, y) = (self.space.polynomial(&a)?, self.space.polynomial(&b)?);
        let chosen = if larger { x.maximum(&y) } else { x.minimum(&y) };
        self.space.uniform(&chosen)
    }

    fn binary_bounds(&mut self, value: ValueRef, bits: u32, depth: usize) -> Option<Bounds> {
        use BinaryOperator::*;
        let Operation::Binary {
            operator,
            left,
            right,
            no_signed_wrap,
            disjoint,
            ..
        } = &self.body.value(value).operation
        else {
            return None;
        };
        let (operator, left, right) = (*operator, *left, *right);
        let (never_wraps, disjoint) = (*no_signed_wrap, *disjoint);
        let literal = self.body.literal(right);
        match operator {
            And => match literal {
                Some(mask) if mask >= 0 => Some(Bounds::constants(0, mask)),
                _ => {
                    let positive =
                        |bounds: &Bounds| bounds.constant_low().is_some_and(|low| low >= 0);
                    let one = self.bounds(left, depth).filter(positive);
                    let bounds = match one {
                        Some(bounds) => bounds,
                        None => self.bounds(right, depth).filter(positive)?,
                    };
                    bounds.shrunk(self.space)
                }
            },
            Or | Xor if !disjoint => {
                let (a, b) = (self.bounds(left, depth)?, self.bounds(right, depth)?);
                let positive = a.constant_low()? >= 0 && b.constant_low()? >= 0;
                let most = a.constant_high()?.max(b.constant_high()?);
                let digits = i64::BITS - most.leading_zeros();
                let mut obligations = a.obligations;
                obligations.extend(b.obligations);
                (positive && digits < i64::BITS - 1).then(|| Bounds {
                    obligations,
                    ..Bounds::constants(0, (1i64 << digits) - 1)
                })
            }
            LogicalShiftRight | ArithmeticShiftRight | UnsignedDivide => {
                let bounds = self.bounds(left, depth)?;
                bounds.shrunk(self.space)
            }
            SignedDivide => {
                literal.filter(|divisor| *divisor > 0)?;
                let bounds = self.bounds(left, depth)?;
                bounds.shrunk(self.space)
            }
            UnsignedRemainder | SignedRemainder => {
                self.remainder_bounds(operator, left, right, bits, depth)
            }
            SignedMinimum | SignedMaximum => {
                let (a, b) = (self.bounds(left, depth), self.bounds(right, depth));
                self.extreme_bounds(a, b, operator == SignedMaximum)
            }
            UnsignedMinimum => {
                // Of numbers that may be huge the smaller is within the bounds of either.
                let positive = |bounds: &Bounds| bounds.constant_low().is_some_and(|low| low >= 0);
                let one = self.bounds(left, depth).filter(positive);
                let bounds = match one {
                    Some(bounds) => bounds,
                    None => self.bounds(right, depth).filter(positive)?,
                };
                bounds.shrunk(self.space)
            }
            Add | Or => {
                let (a, b) = (self.bounds(left, depth)?, self.bounds(right, depth)?);
                let sum = |x: Option<Affine>, y: Option<Affine>| x?.add(&y?);
                let (low, high) = (sum(a.low, b.low), sum(a.high, b.high));
                let mut obligations = a.obligations;
                obligations.extend(b.obligations);
                self.without_wrap(low, high, obligations, never_wraps, bits)
            }
            Subtract => {
                let (a, b) = (self.bounds(left, depth)?, self.bounds(right, depth)?);
                let difference = |x: Option<Affine>, y: Option<Affine>| x?.subtract(&y?);
                let (low, high) = (difference(a.low, b.high), difference(a.high, b.low));
                let mut obligations = a.obligations;
                obligations.extend(b.obligations);
                self.without_wrap(low, high, obligations, never_wraps, bits)
            }
            ShiftLeft | Multiply => {
                let factor = match operator {
                    Multiply => literal?,
                    _ => 1i64.checked_shl(u32::try_from(literal?).ok()?)?,
                };
                if factor < 1 {
                    return None;
                }
                let bounds = self.bounds(left, depth)?;
                let scale = |bound: Option<Affine>| bound?.scale(factor);
                let (low, high) = (scale(bounds.low), scale(bounds.high));
                self.without_wrap(low, high, bounds.obligations, never_wraps, bits)
            }
            _ => None,
        }
    }

    /// Bounds of a sum or product that must stay within its width.
    fn without_wrap(
        &self,
        low: Option<Affine>,
        high: Option<Affine>,
        mut obligations: BTreeSet<Obligation>,
        never_wraps: bool,
        bits: u32,
    ) -> Option<Bounds> {
        if !never_wraps {
            let limit = 1i128 << (bits - 1);
            for bound in [low.as_ref()?, high.as_ref()?] {
                obligations.insert(Obligation {
                    affine: bound.clone(),
                    low: -limit,
                    high: limit - 1,
                });
            }
        }
        Some(Bounds {
            low,
            high,
            obligations,
        })
    }

    fn remainder_bounds(
        &mut self,
        operator: BinaryOperator,
        left: ValueRef,
        right: ValueRef,
        bits: u32,
        depth: usize,
    ) -> Option<Bounds> {
        let divisor = self.closed_as(right, operator)?;
        let size = self.space.polynomial(&divisor.affine)?;
        let divisor = divisor.within(1, (1i128 << (bits - 1)) - 1);
        let most = size.subtract(&Polynomial::constant(1))?;
        let high = self.space.uniform(&most)?;
        let is_positive = operator == BinaryOperator::UnsignedRemainder
            || self
                .bounds(left, depth)
                .is_some_and(|bounds| bounds.constant_low().is_some_and(|low| low >= 0));
        let low = if is_positive {
            Affine::constant(0)
        } else {
            high.scale(-1)?
        };
        Some(Bounds {
            low: Some(low),
            high: Some(high),
            obligations: divisor.obligations,
        })
    }

    fn closed_as(&mut self, value: ValueRef, operator: BinaryOperator) -> Option<Quantity> {
        if let Some(literal) = self.body.literal(value) {
            return (literal > 0).then(|| Quantity::certain(Affine::constant(literal)));
        }
        let reading = match operator {
            BinaryOperator::UnsignedRemainder => Reading::Unsigned,
            _ => Reading::Signed,
        };
        self.read(value, reading).ok()
    }

    /// The smaller of two is below either bound that is known, the larger above.
    fn extreme_bounds(
        &mut self,
        a: Option<Bounds>,
        b: Option<Bounds>,
        is_maximum: bool,
    ) -> Option<Bounds> {
        let empty = || Bounds {
            low: None,
            high: None,
            obligations: BTreeSet::new(),
        };
        let (a, b) = (a.unwrap_or_else(empty), b.unwrap_or_else(empty));
        let either = |walk: &mut Self, x: Option<Affine>, y: Option<Affine>| match (x, y) {
            (Some(x), Some(y)) => {
                let kept = x.clone();
                walk.extreme(Some(x), Some(y), is_maximum).or(Some(kept))
            }
            (x, y) => x.or(y),
        };
        let (low, high) = if is_maximum {
            (
                either(self, a.low, b.low),
                self.extreme(a.high, b.high, true),
            )
        } else {
            (
                self.extreme(a.low, b.low, false),
                either(self, a.high, b.high),
            )
        };
        let mut obligations = a.obligations;
        obligations.extend(b.obligations);
        Some(Bounds {
            low,
            high,
            obligations,
        })
    }

    /// A number that shrinks towards 0 from its start, or grows away from it.
    fn carried_bounds(
        &mut self,
        phi: ValueRef,
        start: ValueRef,
        next: ValueRef,
        depth: usize,
    ) -> Option<Bounds> {
        use BinaryOperator::*;
        let body = self.body;
        let Operation::Binary {
            operator,
            left,
            right,
            no_signed_wrap,
            ..
        } = &body.value(self.same_value(next)).operation
        else {
            return None;
        };
        if self.same_value(*left) != phi {
            return None;
        }
        let literal = body.literal(*right);
        let first = self.bounds(start, depth)?;
        match operator {
            LogicalShiftRight | ArithmeticShiftRight | UnsignedDivide => first.shrunk(self.space),
            SignedDivide if literal.is_some_and(|divisor| divisor > 0) => first.shrunk(self.space),
            And if literal.is_some_and(|mask| mask >= 0) => first.shrunk(self.space),
            ShiftLeft | Multiply
                if *no_signed_wrap
                    && literal.is_some_and(|factor| factor > 0)
                    && first.constant_low()? >= 0 =>
            {
                Some(Bounds {
                    high: None,
                    ..first
                })
            }
            _ => None,
        }
    }
}

/// Why an access or a condition that mentions such a dimension is not exact.
pub const ONLY_BOUNDED: &str = "only bounds of a number in it are known";
