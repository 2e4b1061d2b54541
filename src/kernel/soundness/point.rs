//! A model's expressions at one instance.

use super::super::{Access, KernelModel, KernelSymbol};
use super::{Launch, mask, signed_reading};
use crate::math::affine::{Affine, Constraint, Variable};
use crate::math::expression::{Condition, Expression};
use std::collections::BTreeMap;

pub(super) struct Point<'a> {
    pub(super) model: &'a KernelModel,
    pub(super) launch: &'a Launch,
    pub(super) at: ([i64; 3], [i64; 3]),
    pub(super) loops: &'a [usize],
    pub(super) counters: &'a [i64],
    pub(super) unknowns: &'a BTreeMap<usize, i64>,
}

impl Point<'_> {
    pub(super) fn value(&self, affine: &Affine) -> i64 {
        let mut sum = affine.constant;
        for (coefficient, variable) in &affine.terms {
            let value = match variable {
                Variable::Block(axis) => self.at.0[axis.index()],
                Variable::Thread(axis) => self.at.1[axis.index()],
                Variable::Loop(index) if self.model.loops[*index].unknown.is_some() => {
                    let unknown = self.model.loops[*index].unknown.as_ref().unwrap();
                    // A number that was not computed is not mentioned by what covers the event.
                    match self.unknowns.get(&unknown.value) {
                        Some(number) => number - self.value(&unknown.least),
                        None => -1,
                    }
                }
                Variable::Loop(index) => match &self.model.loops[*index].quotient {
                    // A divisor below 1 is outside what the model speaks of.
                    Some(quotient) => self
                        .value(&quotient.dividend)
                        .div_euclid(self.value(&quotient.divisor).max(1)),
                    None => {
                        let place = self.loops.iter().position(|each| each == index).unwrap();
                        self.counters[place]
                    }
                },
                Variable::Product(index) => {
                    let product = &self.model.products[*index];
                    self.value(&product.factor)
                        * evaluate(&self.model.parameters[product.parameter], self.launch) as i64
                }
                Variable::Parameter(index) => {
                    evaluate(&self.model.parameters[*index], self.launch) as i64
                }
                Variable::Floor(inner, divisor) => self.value(inner).div_euclid(*divisor),
            };
            sum += coefficient * value;
        }
        sum
    }

    pub(super) fn inside(&self, access: &Access) -> bool {
        access.domain.iter().any(|conjunction| {
            conjunction.iter().all(|constraint| match constraint {
                Constraint::NonNegative(row) => self.value(row) >= 0,
                Constraint::Zero(row) => self.value(row) == 0,
            })
        })
    }
}

pub(super) fn symbol(symbol: &KernelSymbol, launch: &Launch) -> i128 {
    match symbol {
        KernelSymbol::GridSize(axis) => launch.grid[axis.index()].into(),
        KernelSymbol::BlockSize(axis) => launch.block[axis.index()].into(),
        KernelSymbol::Argument {
            argument,
            offset_bytes,
            bits,
            signed,
        } => {
            let value = launch.scalars[&(*argument, *offset_bytes)];
            let wrapped = value & mask(*bits) as i64;
            if *signed {
                signed_reading(wrapped as u64, *bits).into()
            } else {
                (wrapped as u64).into()
            }
        }
        KernelSymbol::Opaque(_) => panic!("no opaque symbols are made"),
    }
}

pub(super) fn evaluate(expression: &Expression<KernelSymbol>, launch: &Launch) -> i128 {
    let go = |each| evaluate(each, launch);
    match expression {
        Expression::Constant(value) => (*value).into(),
        Expression::Leaf(leaf) => symbol(leaf, launch),
        Expression::Add(a, b) => go(a) + go(b),
        Expression::Subtract(a, b) => go(a) - go(b),
        Expression::Multiply(a, b) => go(a) * go(b),
        Expression::FloorDivide(a, b) => go(a).div_euclid(go(b).max(1)),
        Expression::Minimum(a, b) => go(a).min(go(b)),
        Expression::Maximum(a, b) => go(a).max(go(b)),
    }
}

pub(super) fn holds(condition: &Condition<KernelSymbol>, launch: &Launch) -> bool {
    match condition {
        Condition::LessEqual(a, b) => evaluate(a, launch) <= evaluate(b, launch),
        Condition::Equal(a, b) => evaluate(a, launch) == evaluate(b, launch),
        Condition::All(parts) => parts.iter().all(|part| holds(part, launch)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, launch)),
    }
}
