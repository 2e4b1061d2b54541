//! What is known of products of variables with run-time values: the axioms of [`crate::kernel`].
//!
//! Invariant: only true statements about integers are added.

use super::super::conflict::{ConflictSet, Side, orders};
use super::super::emptiness::{Sum, Symbol};
use super::super::formula::Assumptions;
use super::super::member::Member;
use crate::math::affine::{Affine, Variable};
use crate::math::formula::Formula;

impl ConflictSet {
    /// States what is known of each product of one side by itself.
    pub(in crate::verify) fn products(&mut self, side: &Side<'_>) -> Option<()> {
        for index in side.products.iter().copied() {
            let product = &side.member.model.products[index];
            let parameter = side.member.parameters.get(product.parameter)?;
            let factor = self.affine(side, &product.factor)?;
            let product_itself = self.product(side, index);
            let q = || product_itself.clone();
            if let Some(value) = parameter.as_constant() {
                self.require(q().equal(factor * i128::from(value)));
                continue;
            }
            if let Some(value) = product.factor.as_constant() {
                let scaled = self.names.sum(&parameter.scale(value)?);
                self.require(q().equal(scaled));
                continue;
            }
            // The parameter is not negative, by a precondition of the model.
            let step = self.names.sum(parameter);
            self.require(Formula::NonNegative(step.clone()));
            if is_non_negative(side.member, &product.factor) {
                self.require(Formula::NonNegative(q()));
            } else {
                let e = || factor.clone();
                self.require(Formula::Any(vec![
                    Formula::All(vec![
                        e().at_least(Sum::number(1)),
                        q().at_least(step.clone()),
                    ]),
                    Formula::All(vec![Formula::Zero(e()), Formula::Zero(q())]),
                    Formula::All(vec![
                        e().at_most(Sum::number(-1)),
                        (q() + step.clone()).at_most(Sum::number(0)),
                    ]),
                ]));
            }
            self.upper_bounds(side, index, (&factor, &product_itself), &step)?;
        }
        Some(())
    }

    /// `factor < bound` implies `q + p <= bound · p`, for the bounds that can matter: the extent of
    /// the axis, and everything whose product with `p` is spoken of elsewhere.
    fn upper_bounds(
        &mut self,
        side: &Side<'_>,
        index: usize,
        (factor, q): (&Sum, &Sum),
        step: &Sum,
    ) -> Option<()> {
        let product = &side.member.model.products[index];
        let parameter = &side.member.parameters[product.parameter];
        let extents = side.member.extents[..3].iter();
        let mut bounds: Vec<_> = extents.chain(&side.member.parameters).collect();
        let quotients = self.names.quotients(parameter);
        for quotient in &quotients {
            if !bounds.contains(&quotient) {
                bounds.push(quotient);
            }
        }
        for (position, bound) in bounds.into_iter().enumerate() {
            let limit = bound.multiply(parameter)?;
            let axis = match product.factor.terms.as_slice() {
                [(1, Variable::Block(axis))] if product.factor.constant == 0 => Some(axis.index()),
                _ => None,
            };
            let always = axis == Some(position);
            let spoken_of = limit.products().all(|monomial| self.names.knows(monomial));
            if !always && !spoken_of {
                continue;
            }
            let (limit, bound) = (self.names.sum(&limit), self.names.sum(bound));
            let within = (q.clone() + step.clone()).at_most(limit.clone());
            self.require(match always {
                true => within,
                false => Formula::Any(vec![
                    Formula::All(vec![
                        factor.clone().at_least(bound.clone()),
                        q.clone().at_least(limit),
                    ]),
                    Formula::All(vec![factor.clone().below(bound), within]),
                ]),
            });
        }
        Some(())
    }

    /// States how products with one parameter value lie to each other.
    pub(in crate::verify) fn product_pairs(
        &mut self,
        assumptions: &Assumptions,
        source: &Side<'_>,
        sink: &Side<'_>,
    ) -> Option<()> {
        let list = |side: &Side<'_>| side.products.iter().copied().collect::<Vec<_>>();
        for first in list(source) {
            for second in list(sink) {
                let (left, right) = (
                    &source.member.model.products[first],
                    &sink.member.model.products[second],
                );
                let left_parameter = source.member.parameters.get(left.parameter)?;
                let right_parameter = sink.member.parameters.get(right.parameter)?;
                let known = left_parameter.as_constant().is_some()
                    || left.factor.as_constant().is_some()
                    || right.factor.as_constant().is_some();
                if known {
                    continue;
                }
                let (mut q, mut r) = (self.product(source, first), self.product(sink, second));
                let step = if assumptions.equal(left_parameter, right_parameter) {
                    self.names.sum(left_parameter)
                } else {
                    // Multiples of one step are so many times what the step itself makes.
                    let (own, step) = left_parameter.split_content();
                    let (other, same) = right_parameter.split_content();
                    if step != same {
                        continue;
                    }
                    let sides = [(&mut q, source, own), (&mut r, sink, other)];
                    for (product, side, times) in sides {
                        let symbol = Symbol::Single(side.instance, [first, second]);
                        let single = self.variable(symbol);
                        self.require(product.clone().equal(single.clone() * times));
                        *product = single;
                    }
                    self.names.sum(&step)
                };
                let e = self.affine(source, &left.factor)?;
                let f = self.affine(sink, &right.factor)?;
                let apart =
                    |less: &Sum, more: &Sum| (less.clone() + step.clone()).at_most(more.clone());
                let [before, behind] = orders(&e, &f);
                self.require(Formula::Any(vec![
                    Formula::All(vec![before, apart(&q, &r)]),
                    Formula::All(vec![e.equal(f), q.clone().equal(r.clone())]),
                    Formula::All(vec![behind, apart(&r, &q)]),
                ]));
            }
        }
        // Products of one side whose factors differ by a constant differ by a multiple.
        for side in [source, sink] {
            let products = list(side);
            for (position, first) in products.iter().enumerate() {
                for second in &products[position + 1..] {
                    let (left, right) = (
                        &side.member.model.products[*first],
                        &side.member.model.products[*second],
                    );
                    let parameter = &side.member.parameters[left.parameter];
                    let steps = left
                        .factor
                        .subtract(&right.factor)
                        .and_then(|d| d.as_constant());
                    if let Some(steps) = steps
                        && parameter == &side.member.parameters[right.parameter]
                        && parameter.as_constant().is_none()
                    {
                        let distance = self.names.sum(&parameter.scale(steps)?);
                        let (q, r) = (self.product(side, *first), self.product(side, *second));
                        self.require(q.equal(r + distance));
                    }
                }
            }
        }
        Some(())
    }
}

/// True when the expression is a sum of things that are never negative.
fn is_non_negative(member: &Member<'_>, affine: &Affine) -> bool {
    affine.constant >= 0
        && affine.terms.iter().all(|(coefficient, variable)| {
            *coefficient >= 0
                && match variable {
                    Variable::Block(_) | Variable::Thread(_) | Variable::Loop(_) => true,
                    Variable::Product(index) => {
                        is_non_negative(member, &member.model.products[*index].factor)
                    }
                    Variable::Floor(numerator, _) => is_non_negative(member, numerator),
                    Variable::Parameter(_) => false,
                }
        })
}
