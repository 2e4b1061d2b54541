//! Whether two accesses of one thread to one target can touch a common byte, by subscripts and domains alone.
//!
//! Invariant: the iterations of one access say nothing of those of the other, even where both stand in one loop, so
//! that the answer holds for all pairs of them; what the model does not say of a number, it may be.

use super::super::emptiness::{Points, constraints_text, is_empty};
use crate::kernel::{Access, KernelModel};
use crate::math::affine::{Affine, Axis, Variable};
use crate::math::expression::Expression;
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
        for (kind, letter) in ["b", "t"].into_iter().enumerate() {
            for axis in Axis::ALL {
                let name = format!("{letter}{}", axis.name());
                pair.constraints.push(format!("{name} >= 0"));
                if let Some(extent) = extents[3 * kind + axis.index()] {
                    pair.constraints.push(format!("{name} < {extent}"));
                }
                pair.variables.insert(name);
            }
        }
        let first = pair.place(one, "s")?;
        let second = pair.place(other, "t")?;
        let (size, other_size) = (one.size_bytes, other.size_bytes);
        let meet = format!("{first} < {second} + {other_size} and {second} < {first} + {size}");
        pair.constraints.push(meet);
        let parameters = (0..kernel.parameters.len()).map(|index| format!("p{index}"));
        is_empty(&Points {
            parameters: parameters.collect(),
            variables: pair.variables.into_iter().collect(),
            condition: pair.constraints.join(" and "),
        })
    };
    one.target == other.target
        && one.size_bytes > 0
        && other.size_bytes > 0
        && empty() == Some(true)
}

/// Two accesses while their set is put together.
struct Pair<'a> {
    kernel: &'a KernelModel,
    variables: BTreeSet<String>,
    constraints: Vec<String>,
}

impl Pair<'_> {
    /// The first byte of an access, whose own numbers have names with this letter; its domain is required.
    fn place(&mut self, access: &Access, letter: &str) -> Option<String> {
        let place = self.text(access.subscript.as_ref()?, letter)?;
        let domain = constraints_text(
            self,
            &access.domain,
            |_, _| Some(Vec::new()),
            |pair, affine| pair.text(affine, letter),
        )?;
        self.constraints.push(domain);
        Some(place)
    }

    /// An expression in isl's notation.
    fn text(&mut self, affine: &Affine, letter: &str) -> Option<String> {
        let mut text = format!("({}", affine.constant);
        for (coefficient, variable) in &affine.terms {
            let name = match variable {
                Variable::Block(axis) => format!("b{}", axis.name()),
                Variable::Thread(axis) => format!("t{}", axis.name()),
                Variable::Parameter(index) => format!("p{index}"),
                Variable::Loop(index) => {
                    let name = format!("{letter}i{index}");
                    if self.variables.insert(name.clone()) {
                        self.constraints.push(format!("{name} >= 0"));
                    }
                    name
                }
                Variable::Product(index) => self.product(*index, letter)?,
                Variable::Floor(numerator, divisor) => {
                    format!("floor({}/{divisor})", self.text(numerator, letter)?)
                }
            };
            let sign = if *coefficient < 0 { '-' } else { '+' };
            text.push_str(&format!(" {sign} {}*{name}", coefficient.unsigned_abs()));
        }
        text.push(')');
        Some(text)
    }

    /// A product, of which nothing is known but where it is one by a constant.
    fn product(&mut self, index: usize, letter: &str) -> Option<String> {
        let name = format!("{letter}q{index}");
        let product = self.kernel.products.get(index)?;
        if self.variables.insert(name.clone())
            && let Expression::Constant(times) = self.kernel.parameters.get(product.parameter)?
        {
            let factor = self.text(&product.factor, letter)?;
            self.constraints.push(format!("{name} = {times}*{factor}"));
        }
        Some(name)
    }
}
