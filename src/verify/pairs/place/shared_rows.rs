//! How many rows lie between two places, where only a run knows how far one row is from the next.
//!
//! A place is so many rows and a rest: some threads or iterations go through rows, and others have one that all threads share,
//! as a launch that writes one row of a cache. `row · distance` of the latter is one unknown to isl. So the rows between both
//! places, of whichever kind, are added up, and so are their distances: what is no row apart is no byte apart, and what is
//! one or more apart is at least one distance apart.
//!
//! Invariant: only what holds of all whole numbers is stated.

use super::super::conflict::{ConflictSet, Side};
use super::super::emptiness::{Condition, Sum};
use super::super::polynomial::Polynomial;
use crate::kernel::Access;
use crate::math::affine::{Affine, Variable};
use crate::math::formula::Formula;

/// `times · factor · step` of one side's place, which has a name.
struct Multiple {
    times: i128,
    factor: Sum,
    product: Sum,
    step: Polynomial,
}

impl ConflictSet {
    /// States how the rows between two places lie to their distance; `difference` is that of where they begin.
    pub(in crate::verify::pairs) fn rows_apart(
        &mut self,
        sides: &[Side<'_>; 2],
        accesses: [&Access; 2],
        difference: &Polynomial,
    ) -> Option<()> {
        let mut shared = difference.clone();
        let mut multiples = Vec::new();
        for ((side, access), sign) in sides.iter().zip(accesses).zip([1, -1]) {
            for (coefficient, variable) in &access.subscript.as_ref()?.terms {
                let coefficient = coefficient.checked_mul(sign)?;
                match variable {
                    Variable::Parameter(index) => {
                        let value = side.member.parameters.get(*index)?;
                        shared = shared.add(&value.scale(coefficient)?)?;
                    }
                    Variable::Product(index) => {
                        multiples.extend(self.multiple(side, *index, coefficient)?);
                    }
                    _ => {}
                }
            }
        }
        let mut steps: Vec<Polynomial> = Vec::new();
        for multiple in &multiples {
            if !steps.contains(&multiple.step) {
                steps.push(multiple.step.clone());
            }
        }
        for step in &steps {
            let Some((rows, _)) = shared.divide(step) else {
                continue;
            };
            if !rows.terms.is_empty() {
                let own = multiples.iter().filter(|multiple| multiple.step == *step);
                self.state(own.collect(), &rows, step)?;
            }
        }
        if steps.is_empty()
            && let Some((step, rows)) = shared.split_factor()
        {
            self.state(Vec::new(), &rows, &step)?;
        }
        Some(())
    }

    /// A product of a side's place; none where it is by a number, or no position.
    fn multiple(
        &mut self,
        side: &Side<'_>,
        index: usize,
        coefficient: i64,
    ) -> Option<Option<Multiple>> {
        let product = side.member.model.products.get(index)?;
        let parameter = side.member.parameters.get(product.parameter)?;
        if parameter.as_constant().is_some() || is_shared(&product.factor) {
            return Some(None);
        }
        let (content, step) = parameter.split_content();
        Some(Some(Multiple {
            times: content.checked_mul(i128::from(coefficient))?,
            factor: self.affine(side, &product.factor)?,
            product: self.product(side, index),
            step,
        }))
    }

    /// States of one step how many times it is between the places: in all `rows` and multiples.
    fn state(
        &mut self,
        multiples: Vec<&Multiple>,
        rows: &Polynomial,
        step: &Polynomial,
    ) -> Option<()> {
        let product = rows.multiply(step)?;
        let (mut apart, mut bytes) = (self.polynomial(rows), self.polynomial(&product));
        let times = multiples.iter().map(|multiple| multiple.times);
        let unit = rows.terms.values().copied().chain(times).fold(0, common);
        for multiple in &multiples {
            apart = apart + multiple.factor.clone() * multiple.times;
            bytes = bytes + multiple.product.clone() * multiple.times;
        }
        let least = self.polynomial(step);
        let one_step = least.clone() * unit;
        let way = |is_behind: bool, compare: fn(Sum, Sum) -> Condition| {
            let (apart, bytes) = (apart.clone(), bytes.clone());
            Formula::All(match is_behind {
                true => vec![
                    apart.at_least(Sum::number(unit)),
                    compare(bytes, one_step.clone()),
                ],
                false => vec![
                    apart.at_most(Sum::number(-unit)),
                    compare(bytes * -1, one_step.clone()),
                ],
            })
        };
        let either = |compare| Formula::Any(vec![way(true, compare), way(false, compare)]);
        let same = Formula::All(vec![
            Formula::Zero(apart.clone()),
            Formula::Zero(bytes.clone()),
        ]);
        // Of a position's product it is a precondition that the step is not negative.
        let ways = match multiples.is_empty() {
            true => vec![
                same,
                Formula::All(vec![
                    Formula::NonNegative(least.clone()),
                    either(Sum::at_least),
                ]),
                Formula::All(vec![
                    least.clone().at_most(Sum::number(-1)),
                    either(Sum::at_most),
                ]),
            ],
            false => vec![same, either(Sum::at_least)],
        };
        self.require(Formula::Any(ways));
        Some(())
    }
}

/// Whether all threads share a factor.
fn is_shared(factor: &Affine) -> bool {
    let mut terms = factor.terms.iter();
    terms.all(|(_, variable)| matches!(variable, Variable::Parameter(_)))
}

/// The greatest common divisor, which is not negative.
fn common(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one.checked_abs().unwrap_or(1)
}
