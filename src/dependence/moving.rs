//! What is known of products with counters of host loops.
//!
//! Invariant: only true statements about integers are added, so that a problem keeps all its points.

use super::polynomial::{Monomial, Polynomial};
use super::problem::{Builder, Choice, Sum, Symbol, ordered_alike, written};
use super::relation::Facts;
use crate::math::formula::Formula;
use std::collections::{BTreeMap, BTreeSet};

/// Most orders between factors that move with counters that one problem has.
const MOST_MOVING_AXIOMS: usize = 6;
/// Most values that counters are multiplied by in one problem.
const MOST_COUNTER_PRODUCTS: usize = 4;

/// `(factor + uniform) · parameter`, where the uniform part has a counter of a host loop in it: the
/// factor's product is a dimension, or there is none.
pub(super) struct MovingFactor {
    side: usize,
    /// The dimension and its factor.
    varying: Option<(Symbol, Sum)>,
    uniform: Polynomial,
    parameter: Polynomial,
}

impl Builder<'_> {
    pub(super) fn add_moving(
        &mut self,
        side: usize,
        varying: Option<(Symbol, Sum)>,
        uniform: &Polynomial,
        parameter: &Polynomial,
    ) {
        let known = self.moving.iter().any(|known| {
            known.side == side
                && known.varying == varying
                && known.uniform == *uniform
                && known.parameter == *parameter
        });
        if !known {
            self.moving.push(MovingFactor {
                side,
                varying,
                uniform: uniform.clone(),
                parameter: parameter.clone(),
            });
        }
    }

    /// The order axioms between whole factors of both sides, where they move with counters.
    pub(super) fn moving_axioms(&mut self) -> Option<Vec<Choice>> {
        let mut moving = std::mem::take(&mut self.moving);
        let shifted = moving.len();
        moving.extend(self.products.iter().map(|product| MovingFactor {
            side: product.side,
            varying: Some((product.symbol, product.factor_sum.clone())),
            uniform: Polynomial::default(),
            parameter: product.parameter.clone(),
        }));
        let mut choices = Vec::new();
        for (index, a) in moving.iter().enumerate().take(shifted) {
            for b in &moving[index + 1..] {
                // That the parameter is not negative is known of dimensions.
                let known = a.varying.is_some() || b.varying.is_some();
                if a.side == b.side || a.parameter != b.parameter || !known {
                    continue;
                }
                let step = self.polynomial(&a.parameter);
                let mut whole = |of: &MovingFactor| {
                    let uniform = self.polynomial(&of.uniform);
                    let product = of.uniform.multiply(&of.parameter)?;
                    let product = self.polynomial(&product);
                    Some(match &of.varying {
                        Some((symbol, factor)) => {
                            (factor.clone() + uniform, Sum::variable(*symbol) + product)
                        }
                        None => (uniform, product),
                    })
                };
                let (one, other) = (whole(a)?, whole(b)?);
                choices.push(ordered_alike(one, other, &step));
            }
        }
        choices.truncate(MOST_MOVING_AXIOMS);
        Some(choices)
    }

    /// What is known of counters, multiplied by what they are multiplied by: by a number that is not
    /// negative, or by a negative one.
    pub(super) fn counter_products(&mut self, facts: &Facts) -> Vec<Choice> {
        let mut others: BTreeSet<Monomial> = BTreeSet::new();
        for monomial in &self.monomials {
            let counter = monomial
                .iter()
                .position(|atom| self.counters.contains(atom));
            if let Some(counter) = counter.filter(|_| monomial.len() > 1) {
                let mut other = monomial.clone();
                other.remove(counter);
                others.insert(other);
            }
        }
        let mut choices = Vec::new();
        for other in others.into_iter().take(MOST_COUNTER_PRODUCTS) {
            let factor = Polynomial {
                terms: BTreeMap::from([(other, 1)]),
            };
            let sign = self.polynomial(&factor);
            let of_counters = facts.holding.iter().filter(|fact| {
                let atoms = fact.atoms();
                atoms.iter().any(|atom| self.counters.contains(atom))
            });
            let products = of_counters.filter_map(|fact| fact.multiply(&factor));
            let products: Vec<Sum> = products
                .filter_map(|product| written(&self.monomial_index, &product))
                .collect();
            let all = |sign: Sum, times: i128| {
                let products = products.iter().map(|product| product.clone() * times);
                let parts = std::iter::once(sign).chain(products);
                Formula::All(parts.map(Formula::NonNegative).collect())
            };
            choices.push(vec![all(sign.clone(), 1), all(Sum::number(-1) - sign, -1)]);
        }
        choices
    }
}
