//! LLVM values -> affine expressions.
//!
//! A machine integer of w bits is known modulo 2^w. [`Walk::read`] gives an affine expression that
//! is congruent to the value ([`Reading::Modular`]; sums and multiples need nothing for that) or
//! equal to its signed or unsigned reading, *provided that* the obligations of the quantity hold
//! wherever the value is used: each says that an expression lies within a range of integers.
//! Obligations become preconditions of the model in [`super::super::ranges`]; what cannot be bounded there
//! is unknown.

use super::super::KernelSymbol;
use super::super::address::Root;
use super::super::bitwise::bitwise;
use super::super::body::{BinaryOperator, Body, Cast, Operation, Type, ValueRef};
use super::super::bounded::{EFFORT, Openness};
use super::super::cfg::Flow;
use super::super::polynomial::Polynomial;
use super::super::space::Space;
use crate::math::affine::{Affine, Axis, Variable};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// `low <= affine <= high` must hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Obligation {
    /// What is bounded.
    pub affine: Affine,
    /// The least allowed value.
    pub low: i128,
    /// The largest allowed value.
    pub high: i128,
}

/// An expression and what must hold for it to be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The expression.
    pub affine: Affine,
    /// Its conditions.
    pub obligations: BTreeSet<Obligation>,
}

impl Quantity {
    /// An expression that needs nothing.
    pub fn certain(affine: Affine) -> Self {
        Self {
            affine,
            obligations: BTreeSet::new(),
        }
    }

    /// Adds a condition on the expression itself.
    pub(in crate::kernel) fn within(mut self, low: i128, high: i128) -> Self {
        if self
            .affine
            .as_constant()
            .is_none_or(|value| i128::from(value) < low || i128::from(value) > high)
        {
            self.obligations.insert(Obligation {
                affine: self.affine.clone(),
                low,
                high,
            });
        }
        self
    }

    pub(in crate::kernel) fn combine(
        self,
        other: Self,
        operation: impl FnOnce(&Affine, &Affine) -> Option<Affine>,
    ) -> Option<Self> {
        let affine = operation(&self.affine, &other.affine)?;
        let mut obligations = self.obligations;
        obligations.extend(other.obligations);
        Some(Self {
            affine,
            obligations,
        })
    }
}

/// How the bits of an integer are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// Up to a multiple of 2^w.
    Modular,
    /// Two's complement.
    Signed,
    /// Unsigned.
    Unsigned,
}

/// Why a value has no affine expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It depends on which way this select, phi, minimum or maximum goes, of so many.
    Choice(ValueRef, usize),
    /// It is not affine, for the reason given.
    Unknown(&'static str),
}

/// Ways taken at selects, phis, minima and maxima.
pub type Choices = BTreeMap<ValueRef, usize>;

pub(in crate::kernel) type Outcome<T> = Result<T, Obstacle>;

/// A walk over the values of a body under some choices.
pub struct Walk<'a> {
    /// The kernel.
    pub body: &'a Body,
    /// Its control flow.
    pub flow: &'a Flow,
    /// Where parameters and products are kept.
    pub space: &'a mut Space,
    /// Arguments passed by value whose memory the kernel itself changes.
    pub changed_arguments: &'a BTreeSet<usize>,
    /// The choices taken.
    pub choices: Choices,
    pub(in crate::kernel) memo: HashMap<(ValueRef, Reading), Outcome<Quantity>>,
    pub(in crate::kernel) active: HashSet<ValueRef>,
    /// Loops whose step is being read: what is chosen anew in each iteration is no step.
    pub(in crate::kernel) stepping: Vec<usize>,
    /// Loops whose number of iterations is being found.
    pub(in crate::kernel) counting: Vec<usize>,
    /// Which numbers may become dimensions of their own.
    pub openness: Openness,
    /// How many more values may be looked at for bounds.
    pub(in crate::kernel) effort: usize,
}

/// Bytes that no object and no distance within one exceeds.
const LARGEST_OBJECT: i128 = 1 << 46;

pub(in crate::kernel) const OVERFLOW: Obstacle =
    Obstacle::Unknown("its coefficients are too large");

impl<'a> Walk<'a> {
    /// A walk with choices.
    pub fn new(
        body: &'a Body,
        flow: &'a Flow,
        space: &'a mut Space,
        changed_arguments: &'a BTreeSet<usize>,
        choices: Choices,
    ) -> Self {
        Self {
            body,
            flow,
            space,
            changed_arguments,
            choices,
            memo: HashMap::new(),
            active: HashSet::new(),
            stepping: Vec::new(),
            counting: Vec::new(),
            openness: Openness::Closed,
            effort: EFFORT,
        }
    }

    /// The same, where numbers may become dimensions of their own.
    pub fn opened(self, openness: Openness) -> Self {
        Self { openness, ..self }
    }

    /// The width of an integer value.
    pub fn bits(&self, value: ValueRef) -> Option<u32> {
        match self.body.value(value).value_type {
            Type::Integer(bits) if (2..=64).contains(&bits) => Some(bits),
            _ => None,
        }
    }

    /// The value as an expression.
    pub fn read(&mut self, value: ValueRef, reading: Reading) -> Outcome<Quantity> {
        if let Some(known) = self.memo.get(&(value, reading)) {
            return known.clone();
        }
        let Some(bits) = self.bits(value) else {
            return Err(Obstacle::Unknown("it is not an integer of up to 64 bits"));
        };
        if !self.active.insert(value) {
            return Err(Obstacle::Unknown("it is carried around a loop"));
        }
        let outermost = self.active.len() == 1;
        let mut outcome = match reading {
            Reading::Modular => self.modular(value, bits),
            Reading::Signed => self.signed(value, bits),
            Reading::Unsigned => self.unsigned(value, bits),
        };
        self.active.remove(&value);
        if let (Ok(quantity), Some(block)) = (&outcome, self.body.value(value).block) {
            outcome = self.seen_from(quantity.clone(), block);
        }
        if self.openness != Openness::Closed
            && matches!(outcome, Err(Obstacle::Unknown(_)))
            && let Some(bounded) = self.as_dimension(value, reading)
        {
            outcome = Ok(bounded);
        }
        // Failures inside a cycle may be due to where the walk began.
        if outcome.is_ok() || outermost {
            self.memo.insert((value, reading), outcome.clone());
        }
        outcome
    }

    /// A uniform value, for loop steps, products and divisors.
    fn polynomial(&self, quantity: &Quantity) -> Option<Polynomial> {
        self.space.polynomial(&quantity.affine)
    }

    fn signed(&mut self, value: ValueRef, bits: u32) -> Outcome<Quantity> {
        let limit = 1i128 << (bits - 1);
        match &self.body.value(value).operation {
            Operation::Binary {
                operator:
                    operator @ (BinaryOperator::Add
                    | BinaryOperator::Subtract
                    | BinaryOperator::Multiply),
                left,
                right,
                no_signed_wrap: true,
                ..
            } => {
                let (operator, left, right) = (*operator, *left, *right);
                if let (Ok(a), Ok(b)) = (
                    self.read(left, Reading::Signed),
                    self.read(right, Reading::Signed),
                ) && let Ok(result) = self.arithmetic(operator, a, b)
                {
                    return Ok(result);
                }
            }
            Operation::Binary {
                operator: BinaryOperator::ShiftLeft,
                left,
                right,
                no_signed_wrap: true,
                ..
            } => {
                let left = *left;
                if let Some(amount) = self.body.literal(*right).filter(|a| (0..62).contains(a))
                    && let Ok(a) = self.read(left, Reading::Signed)
                {
                    return scaled(a, 1 << amount);
                }
            }
            Operation::Phi(_) => {
                if let Some(outcome) = self.induction(value, Reading::Signed) {
                    return outcome;
                }
            }
            Operation::Freeze(inner) => return self.read(*inner, Reading::Signed),
            _ => {}
        }
        if self.is_reading_free(value) {
            return self.modular(value, bits);
        }
        Ok(self.modular(value, bits)?.within(-limit, limit - 1))
    }

    fn unsigned(&mut self, value: ValueRef, bits: u32) -> Outcome<Quantity> {
        let limit = 1i128 << bits;
        match &self.body.value(value).operation {
            Operation::Constant(literal) => {
                let literal = if bits < 64 {
                    literal & ((1i64 << bits) - 1)
                } else {
                    *literal
                };
                if literal < 0 {
                    return Err(OVERFLOW);
                }
                return Ok(Quantity::certain(Affine::constant(literal)));
            }
            Operation::Binary {
                operator: operator @ (BinaryOperator::Add | BinaryOperator::Multiply),
                left,
                right,
                no_unsigned_wrap: true,
                ..
            } => {
                let (operator, left, right) = (*operator, *left, *right);
                if let (Ok(a), Ok(b)) = (
                    self.read(left, Reading::Unsigned),
                    self.read(right, Reading::Unsigned),
                ) && let Ok(result) = self.arithmetic(operator, a, b)
                {
                    return Ok(result);
                }
            }
            Operation::Freeze(inner) => return self.read(*inner, Reading::Unsigned),
            _ => {}
        }
        if self.is_never_negative(value) {
            return self.modular(value, bits);
        }
        Ok(self.modular(value, bits)?.within(0, limit - 1))
    }

    /// The modular expression is the signed reading as well.
    fn is_reading_free(&self, value: ValueRef) -> bool {
        match &self.body.value(value).operation {
            Operation::Constant(_)
            | Operation::Argument(_)
            | Operation::Absolute(_)
            | Operation::Load { .. } => true,
            Operation::Cast {
                cast: Cast::SignExtend | Cast::ZeroExtend,
                ..
            } => true,
            Operation::Binary {
                operator:
                    BinaryOperator::SignedDivide
                    | BinaryOperator::SignedRemainder
                    | BinaryOperator::ArithmeticShiftRight
                    | BinaryOperator::SignedMinimum
                    | BinaryOperator::SignedMaximum,
                ..
            } => true,
            Operation::Binary {
                operator: BinaryOperator::LogicalShiftRight,
                right,
                ..
            } => self.body.literal(*right).is_some_and(|amount| amount > 0),
            Operation::Binary {
                operator: BinaryOperator::And,
                right,
                ..
            } => self.body.literal(*right).is_some_and(|mask| mask >= 0),
            Operation::Call(_) => true,
            _ => false,
        }
    }

    /// The modular expression is the unsigned reading as well.
    fn is_never_negative(&self, value: ValueRef) -> bool {
        match &self.body.value(value).operation {
            Operation::Absolute(_)
            | Operation::Cast {
                cast: Cast::ZeroExtend,
                ..
            } => true,
            Operation::Binary {
                operator:
                    BinaryOperator::UnsignedDivide
                    | BinaryOperator::UnsignedRemainder
                    | BinaryOperator::LogicalShiftRight
                    | BinaryOperator::SignedDivide
                    | BinaryOperator::SignedRemainder
                    | BinaryOperator::UnsignedMinimum
                    | BinaryOperator::UnsignedMaximum,
                ..
            } => true,
            Operation::Binary {
                operator: BinaryOperator::And,
                right,
                ..
            } => self.body.literal(*right).is_some_and(|mask| mask >= 0),
            Operation::Call(_) => true,
            _ => false,
        }
    }

    fn modular(&mut self, value: ValueRef, bits: u32) -> Outcome<Quantity> {
        let body = self.body;
        match &body.value(value).operation {
            Operation::Constant(literal) => Ok(Quantity::certain(Affine::constant(*literal))),
            Operation::Argument(argument) => {
                let symbol = KernelSymbol::Argument {
                    argument: *argument,
                    offset_bytes: 0,
                    bits,
                    signed: true,
                };
                Ok(Quantity::certain(self.space.symbol(symbol)))
            }
            Operation::Binary {
                operator,
                left,
                right,
                disjoint,
                ..
            } => self.binary(value, *operator, *left, *right, *disjoint),
            Operation::Cast {
                cast: cast @ (Cast::SignExtend | Cast::ZeroExtend),
                operand,
                ..
            } if body.value(*operand).value_type == Type::Integer(1) => {
                self.flag(value, *operand, *cast)
            }
            Operation::Cast {
                cast,
                operand,
                non_negative,
            } => match cast {
                Cast::SignExtend => self.read(*operand, Reading::Signed),
                Cast::ZeroExtend if *non_negative => self
                    .read(*operand, Reading::Signed)
                    .or_else(|_| self.read(*operand, Reading::Unsigned)),
                Cast::ZeroExtend => self.read(*operand, Reading::Unsigned),
                Cast::Truncate | Cast::Same => self.read(*operand, Reading::Modular),
                Cast::AddressSpace => Err(Obstacle::Unknown("it is a converted address")),
            },
            Operation::Freeze(inner) => self.read(*inner, Reading::Modular),
            Operation::Absolute(inner) => self.absolute(value, *inner, bits),
            Operation::Phi(_) => match self.induction(value, Reading::Modular) {
                Some(outcome) => outcome,
                None => match self.alternating(value, Reading::Modular) {
                    Some(outcome) => outcome,
                    None => self.merge(value, Reading::Modular),
                },
            },
            Operation::Select {
                on_true, on_false, ..
            } => {
                let (on_true, on_false) = (*on_true, *on_false);
                self.choose(value, &[on_true, on_false], Reading::Modular)
            }
            Operation::Load { pointer, .. } => self.argument_field(*pointer, bits),
            Operation::Call(call) => match call.callee.as_deref().and_then(special_register) {
                Some(Register::Variable(variable)) => {
                    Ok(Quantity::certain(Affine::variable(variable)))
                }
                Some(Register::Symbol(symbol)) => Ok(Quantity::certain(self.space.symbol(symbol))),
                Some(Register::Literal(literal)) => {
                    Ok(Quantity::certain(Affine::constant(literal)))
                }
                None => Err(Obstacle::Unknown("it is the result of a call")),
            },
            Operation::AtomicUpdate { .. } | Operation::CompareExchange { .. } => {
                Err(Obstacle::Unknown("it is the result of an atomic operation"))
            }
            _ => Err(Obstacle::Unknown("it is not affine")),
        }
    }

    /// A condition as a number: 1 (or -1) where it holds, else 0.
    fn flag(&mut self, value: ValueRef, condition: ValueRef, cast: Cast) -> Outcome<Quantity> {
        let raised = if cast == Cast::SignExtend { -1 } else { 1 };
        let holds = match self.body.literal(condition) {
            Some(literal) => literal != 0,
            None => match self.chosen(value)? {
                Some(way) => way == 0,
                None => return Err(Obstacle::Choice(value, 2)),
            },
        };
        let number = if holds { raised } else { 0 };
        Ok(Quantity::certain(Affine::constant(number)))
    }

    fn absolute(&mut self, value: ValueRef, inner: ValueRef, bits: u32) -> Outcome<Quantity> {
        let positive = self.read(inner, Reading::Signed)?;
        let negative = scaled(positive.clone(), -1)?;
        let largest = (1i128 << (bits - 1)) - 1;
        let pair = (self.polynomial(&positive), self.polynomial(&negative));
        if let (Some(x), Some(y)) = pair {
            let affine = self.space.uniform(&x.maximum(&y)).ok_or(OVERFLOW)?;
            return positive
                .combine(negative.within(i128::MIN, largest), |_, _| Some(affine))
                .ok_or(OVERFLOW);
        }
        if self.space.mentions_unknown(&positive.affine) {
            return Err(Obstacle::Unknown("its sign is not known"));
        }
        match self.chosen(value)? {
            Some(0) => Ok(positive),
            Some(_) => Ok(negative.within(i128::MIN, largest)),
            None => Err(Obstacle::Choice(value, 2)),
        }
    }

    /// Both sides of a comparison as numbers: integers in a reading, pointers into one object as
    /// their offsets, and how many bits are compared.
    pub(in crate::kernel) fn compared(
        &mut self,
        left: ValueRef,
        right: ValueRef,
        reading: Reading,
    ) -> Outcome<(Quantity, Quantity, u32)> {
        if let Some(bits) = self.bits(left) {
            return Ok((self.read(left, reading)?, self.read(right, reading)?, bits));
        }
        if !matches!(self.body.value(left).value_type, Type::Pointer(_)) {
            return Err(Obstacle::Unknown("it compares no integers"));
        }
        let (a, b) = (self.address(left)?, self.address(right)?);
        if a.root != b.root || matches!(a.root, Root::Unknown(_) | Root::Null) {
            return Err(Obstacle::Unknown(
                "it compares pointers into different objects",
            ));
        }
        // Pointers into one object are ordered as their offsets are.
        let offset = |quantity: Quantity| quantity.within(-LARGEST_OBJECT, LARGEST_OBJECT);
        Ok((offset(a.offset), offset(b.offset), 64))
    }

    fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: Quantity,
        right: Quantity,
    ) -> Outcome<Quantity> {
        match operator {
            BinaryOperator::Add => left.combine(right, Affine::add).ok_or(OVERFLOW),
            BinaryOperator::Subtract => left.combine(right, Affine::subtract).ok_or(OVERFLOW),
            _ => left
                .combine(right, |a, b| self.space.multiply(a, b))
                .ok_or(Obstacle::Unknown("it multiplies two varying values")),
        }
    }

    fn binary(
        &mut self,
        value: ValueRef,
        operator: BinaryOperator,
        left: ValueRef,
        right: ValueRef,
        disjoint: bool,
    ) -> Outcome<Quantity> {
        use BinaryOperator::*;
        let literal = self.body.literal(right);
        match operator {
            Add | Subtract | Multiply => {
                let a = self.read(left, Reading::Modular)?;
                let b = self.read(right, Reading::Modular)?;
                self.arithmetic(operator, a, b)
            }
            Or if disjoint => {
                let a = self.read(left, Reading::Modular)?;
                let b = self.read(right, Reading::Modular)?;
                self.arithmetic(Add, a, b)
            }
            ShiftLeft => match literal {
                Some(amount) if (0..62).contains(&amount) => {
                    scaled(self.read(left, Reading::Modular)?, 1 << amount)
                }
                _ => Err(Obstacle::Unknown("it is shifted by a run-time value")),
            },
            And | Or | Xor => match literal {
                Some(mask) => {
                    let a = self.read(left, Reading::Modular)?;
                    bitwise(operator, a, mask)
                }
                None => Err(Obstacle::Unknown("it is a bitwise combination")),
            },
            LogicalShiftRight | ArithmeticShiftRight => {
                let Some(amount) = literal.filter(|amount| (0..62).contains(amount)) else {
                    return Err(Obstacle::Unknown("it is shifted by a run-time value"));
                };
                let reading = if operator == LogicalShiftRight {
                    Reading::Unsigned
                } else {
                    Reading::Signed
                };
                Ok(divided(self.read(left, reading)?, 1 << amount))
            }
            UnsignedDivide | SignedDivide | UnsignedRemainder | SignedRemainder => {
                self.division(operator, left, right)
            }
            SignedMinimum | SignedMaximum | UnsignedMinimum | UnsignedMaximum => {
                let reading = if matches!(operator, SignedMinimum | SignedMaximum) {
                    Reading::Signed
                } else {
                    Reading::Unsigned
                };
                let a = self.read(left, reading)?;
                let b = self.read(right, reading)?;
                if let (Some(x), Some(y)) = (self.polynomial(&a), self.polynomial(&b)) {
                    let result = if matches!(operator, SignedMinimum | UnsignedMinimum) {
                        x.minimum(&y)
                    } else {
                        x.maximum(&y)
                    };
                    let affine = self.space.uniform(&result).ok_or(OVERFLOW)?;
                    return a.combine(b, |_, _| Some(affine)).ok_or(OVERFLOW);
                }
                if self.space.mentions_unknown(&a.affine) || self.space.mentions_unknown(&b.affine)
                {
                    return Err(Obstacle::Unknown("which is the smaller is not known"));
                }
                match self.chosen(value)? {
                    Some(0) => a.combine(b, |a, _| Some(a.clone())).ok_or(OVERFLOW),
                    Some(_) => a.combine(b, |_, b| Some(b.clone())).ok_or(OVERFLOW),
                    None => Err(Obstacle::Choice(value, 2)),
                }
            }
        }
    }

    fn division(
        &mut self,
        operator: BinaryOperator,
        left: ValueRef,
        right: ValueRef,
    ) -> Outcome<Quantity> {
        use BinaryOperator::*;
        let signed = matches!(operator, SignedDivide | SignedRemainder);
        let remainder = matches!(operator, UnsignedRemainder | SignedRemainder);
        let Some(bits) = self.bits(left) else {
            return Err(Obstacle::Unknown("it is not affine"));
        };
        let literal = self.body.literal(right).filter(|divisor| *divisor > 0);
        // Powers of two divide 2^w, so the remainder is the same for every congruent value.
        if let (UnsignedRemainder, Some(divisor)) = (operator, literal)
            && divisor.count_ones() == 1
        {
            let dividend = self.read(left, Reading::Modular)?;
            return modulo(dividend, divisor);
        }
        let dividend = if signed {
            // C rounds towards zero, which is the floor for what is not negative.
            self.read(left, Reading::Signed)?
                .within(0, (1i128 << (bits - 1)) - 1)
        } else {
            self.read(left, Reading::Unsigned)?
        };
        if let Some(divisor) = literal {
            return if remainder {
                modulo(dividend, divisor)
            } else {
                Ok(divided(dividend, divisor))
            };
        }
        let reading = if signed {
            Reading::Signed
        } else {
            Reading::Unsigned
        };
        let divisor = self.read(right, reading)?.within(1, (1i128 << bits) - 1);
        let Some(y) = self.polynomial(&divisor) else {
            return Err(Obstacle::Unknown("it is divided by a varying value"));
        };
        if let Some(divisor) = y.as_constant().filter(|divisor| *divisor > 0) {
            return if remainder {
                modulo(dividend, divisor)
            } else {
                Ok(divided(dividend, divisor))
            };
        }
        let Some(x) = self.polynomial(&dividend) else {
            let (quotient, multiple) = self.space.quotient(&dividend.affine, &y).ok_or(OVERFLOW)?;
            return dividend
                .combine(divisor, |dividend, _| {
                    if remainder {
                        dividend.subtract(&multiple)
                    } else {
                        Some(quotient)
                    }
                })
                .ok_or(OVERFLOW);
        };
        let quotient = x.floor_divide(&y);
        let result = if remainder {
            quotient.multiply(&y).and_then(|whole| x.subtract(&whole))
        } else {
            Some(quotient)
        };
        let affine = result
            .and_then(|result| self.space.uniform(&result))
            .ok_or(OVERFLOW)?;
        dividend
            .combine(divisor, |_, _| Some(affine))
            .ok_or(OVERFLOW)
    }

    /// A phi that is no induction variable.
    fn merge(&mut self, value: ValueRef, reading: Reading) -> Outcome<Quantity> {
        let Operation::Phi(incoming) = &self.body.value(value).operation else {
            return Err(Obstacle::Unknown("it is not affine"));
        };
        if self.header_loop(value).is_some() {
            return Err(Obstacle::Unknown("it changes irregularly in a loop"));
        }
        let alternatives: Vec<_> = incoming.iter().map(|(value, _)| *value).collect();
        self.choose(value, &alternatives, reading)
    }

    pub(in crate::kernel) fn choose(
        &mut self,
        value: ValueRef,
        alternatives: &[ValueRef],
        reading: Reading,
    ) -> Outcome<Quantity> {
        if let Some(way) = self.chosen(value)? {
            return self.read(alternatives[way], reading);
        }
        let first = alternatives[0];
        if alternatives.iter().all(|each| *each == first) {
            return self.read(first, reading);
        }
        Err(Obstacle::Choice(value, alternatives.len()))
    }

    /// The way taken at a value, where one choice covers every use of it.
    pub(in crate::kernel) fn chosen(&self, value: ValueRef) -> Outcome<Option<usize>> {
        let in_step = self.body.value(value).block.is_some_and(|block| {
            let around = self.flow.loops_of(block);
            self.stepping.iter().any(|index| around.contains(index))
        });
        if in_step {
            return Err(Obstacle::Unknown("its step changes in the loop"));
        }
        Ok(self.choices.get(&value).copied())
    }

    /// An integer read from an argument that was passed by value.
    fn argument_field(&mut self, pointer: ValueRef, bits: u32) -> Outcome<Quantity> {
        let address = self.address(pointer)?;
        match (&address.root, address.offset.affine.as_constant()) {
            (Root::ByValue(argument), Some(offset))
                if !self.changed_arguments.contains(argument)
                    && offset >= 0
                    && offset + i64::from(bits.div_ceil(8))
                        <= i64::from(self.body.formals[*argument].bytes)
                    && bits.is_multiple_of(8) =>
            {
                let symbol = KernelSymbol::Argument {
                    argument: *argument,
                    offset_bytes: offset as u32,
                    bits,
                    signed: true,
                };
                Ok(Quantity::certain(self.space.symbol(symbol)))
            }
            (Root::Local, _) => Err(Obstacle::Unknown("it is read from a local array")),
            (Root::ByValue(_), None) => Err(Obstacle::Unknown(
                "it is read at a varying place of an argument",
            )),
            (Root::ByValue(_), Some(_)) => Err(Obstacle::Unknown(
                "it is read from an argument that changes",
            )),
            _ => Err(Obstacle::Unknown("it is read from memory")),
        }
    }
}

pub(in crate::kernel) fn scaled(quantity: Quantity, factor: i64) -> Outcome<Quantity> {
    Ok(Quantity {
        affine: quantity.affine.scale(factor).ok_or(OVERFLOW)?,
        obligations: quantity.obligations,
    })
}

fn divided(quantity: Quantity, divisor: i64) -> Quantity {
    Quantity {
        affine: quantity.affine.floor_divide(divisor),
        obligations: quantity.obligations,
    }
}

fn modulo(quantity: Quantity, divisor: i64) -> Outcome<Quantity> {
    Ok(Quantity {
        affine: quantity.affine.modulo(divisor).ok_or(OVERFLOW)?,
        obligations: quantity.obligations,
    })
}

enum Register {
    Variable(Variable),
    Symbol(KernelSymbol),
    Literal(i64),
}

/// The special registers of PTX that make up a thread's coordinates.
fn special_register(name: &str) -> Option<Register> {
    let register = name.strip_prefix("llvm.nvvm.read.ptx.sreg.")?;
    if register == "warpsize" {
        return Some(Register::Literal(32));
    }
    let (register, axis) = register.split_once('.')?;
    let axis = match axis {
        "x" => Axis::X,
        "y" => Axis::Y,
        "z" => Axis::Z,
        _ => return None,
    };
    Some(match register {
        "tid" => Register::Variable(Variable::Thread(axis)),
        "ctaid" => Register::Variable(Variable::Block(axis)),
        "ntid" => Register::Symbol(KernelSymbol::BlockSize(axis)),
        "nctaid" => Register::Symbol(KernelSymbol::GridSize(axis)),
        _ => return None,
    })
}
