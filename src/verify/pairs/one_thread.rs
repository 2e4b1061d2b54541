//! Whether two accesses of one thread to one target can touch a common byte, by subscripts and domains alone.
//!
//! Invariant: the iterations of one access say nothing of those of the other, even where both stand in one loop, so
//! that the answer holds for all pairs of them; what the model does not say of a number, it may be.

use super::super::emptiness::{
    Condition, Instance, Points, Sum, Symbol, constraints_condition, is_empty,
};
use crate::kernel::{Access, KernelModel};
use crate::math::affine::{Affine, Axis, Variable};
use crate::math::expression::Expression;
use crate::math::formula::Formula;
use std::collections::BTreeSet;

/// Extents of grid and block, x, y and z of each, where they are known.
pub(in crate::verify) type Extents = [Option<u64>; 6];

/// Whether no byte that one thread reaches by the one access can be one that it reaches by the other.
pub(in crate::verify) fn never_meet(
    kernel: &KernelModel,
    extents: &Extents,
    one: &Access,
    other: &Access,
) -> bool {
    let empty = || {
        let mut pair = Pair {
            kernel,
            variables: BTreeSet::new(),
            constraints: Vec::new(),
        };
        let kinds: [fn(Instance, Axis) -> Symbol; 2] = [Symbol::Block, Symbol::Thread];
        for (number, kind) in kinds.into_iter().enumerate() {
            for axis in Axis::ALL {
                let symbol = kind(THREAD, axis);
                let place = || Sum::variable(symbol);
                pair.constraints.push(Formula::NonNegative(place()));
                if let Some(extent) = extents[3 * number + axis.index()] {
                    pair.constraints.push(place().below(Sum::number(extent)));
                }
                pair.variables.insert(symbol);
            }
        }
        let first = pair.place(one, Instance::Source)?;
        let second = pair.place(other, Instance::Sink)?;
        let first_end = first.clone() + i128::from(one.size_bytes);
        let second_end = second.clone() + i128::from(other.size_bytes);
        pair.constraints.push(first.below(second_end));
        pair.constraints.push(second.below(first_end));
        let parameters = (0..kernel.parameters.len()).map(Symbol::Parameter);
        is_empty(Points {
            parameters: parameters.collect(),
            variables: pair.variables.into_iter().collect(),
            condition: Formula::All(pair.constraints),
        })
    };
    one.target == other.target
        && one.size_bytes > 0
        && other.size_bytes > 0
        && empty() == Some(true)
}

/// Whose place the one thread's is.
const THREAD: Instance = Instance::Source;

/// Two accesses while their set is put together.
struct Pair<'a> {
    kernel: &'a KernelModel,
    variables: BTreeSet<Symbol>,
    constraints: Vec<Condition>,
}

impl Pair<'_> {
    /// The first byte of an access, whose own numbers are those of this instance; its domain is required.
    fn place(&mut self, access: &Access, own: Instance) -> Option<Sum> {
        let place = self.sum(access.subscript.as_ref()?, own)?;
        let domain = constraints_condition(
            self,
            &access.domain,
            |_, _| Some(Vec::new()),
            |pair, affine| pair.sum(affine, own),
        )?;
        self.constraints.push(domain);
        Some(place)
    }

    fn sum(&mut self, affine: &Affine, own: Instance) -> Option<Sum> {
        let mut sum = Sum::number(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let term = match variable {
                Variable::Block(axis) => Sum::variable(Symbol::Block(THREAD, *axis)),
                Variable::Thread(axis) => Sum::variable(Symbol::Thread(THREAD, *axis)),
                Variable::Parameter(index) => Sum::variable(Symbol::Parameter(*index)),
                Variable::Loop(index) => {
                    let symbol = Symbol::Loop(own, *index);
                    if self.variables.insert(symbol) {
                        let counter = Sum::variable(symbol);
                        self.constraints.push(Formula::NonNegative(counter));
                    }
                    Sum::variable(symbol)
                }
                Variable::Product(index) => self.product(*index, own)?,
                Variable::Floor(numerator, divisor) => self.sum(numerator, own)?.floor(*divisor),
            };
            sum = sum + term * i128::from(*coefficient);
        }
        Some(sum)
    }

    /// A product, of which nothing is known but where it is one by a constant.
    fn product(&mut self, index: usize, own: Instance) -> Option<Sum> {
        let symbol = Symbol::Product(own, index);
        let product = self.kernel.products.get(index)?;
        if self.variables.insert(symbol)
            && let Expression::Constant(times) = self.kernel.parameters.get(product.parameter)?
        {
            let factor = self.sum(&product.factor, own)?;
            let value = factor * i128::from(*times);
            self.constraints.push(Sum::variable(symbol).equal(value));
        }
        Some(Sum::variable(symbol))
    }
}
