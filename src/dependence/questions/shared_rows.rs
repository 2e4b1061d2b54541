//! Rows that all threads of a launch share, where only a run knows how far one row is from the next: the row of a cache
//! that a launch writes, beside the rows that a loop of another launch goes through.
//!
//! `row · distance` is a parameter of isl's by itself, of which nothing is known. Here stands how it lies to other rows of
//! the same distance, by the numbers of both; and how the parts of a row lie to its end.
//!
//! Invariant: only true statements about integers are added, so that a problem keeps all its points.

use super::super::polynomial::{Monomial, Polynomial};
use super::super::problem::{Builder, Choice, ProductDimension, Sum, divide};
use crate::math::affine::{Affine, Variable};
use crate::math::formula::Formula;
use std::collections::BTreeSet;

/// Most orders between rows that one problem has.
const MOST_ORDERS: usize = 4;

/// `(varying + shared) · distance` of one side.
struct Row {
    /// The part that differs between threads or iterations, and its product with the distance.
    varying: Option<(Sum, Sum)>,
    shared: Polynomial,
}

impl Builder<'_> {
    /// How a multiple of a number that only the run knows, as a remainder by it leaves one out, lies to products that the
    /// number is a factor of: below `bound · number` where its own factor is below the bound, by one number at least.
    pub(in crate::dependence) fn bounds_of_quotients(&mut self) -> Option<Vec<Choice>> {
        let mut found: Vec<(usize, Monomial, Monomial, Monomial)> = Vec::new();
        for (at, product) in self.products.iter().enumerate() {
            let model = self.sides[product.side].model;
            let is_quotient = match product.factor.terms.as_slice() {
                [(1, Variable::Loop(index))] => {
                    let by = model.loops.get(*index);
                    by.is_some_and(|by| by.quotient.is_some())
                }
                _ => false,
            };
            let mut terms = product.parameter.terms.iter();
            let (Some((step, 1)), None) = (terms.next(), terms.next()) else {
                continue;
            };
            if !is_quotient || step.is_empty() {
                continue;
            }
            // The end of a row, of which its place among others is a multiple.
            let multiples = self.monomials.iter().filter_map(|multiple| {
                let bound = divide(multiple, step).filter(|bound| !bound.is_empty())?;
                Some((at, step.clone(), bound, multiple.clone()))
            });
            found.extend(multiples.min_by_key(|(.., multiple)| multiple.len()));
        }
        found.truncate(MOST_ORDERS);
        let mut choices = Vec::new();
        for (at, step, bound, multiple) in found {
            let [step, bound, multiple] =
                [step, bound, multiple].map(|each| self.polynomial(&monomial(&each)));
            let product = &self.products[at];
            let (e, q) = (product.factor_sum.clone(), Sum::variable(product.symbol));
            choices.push(vec![
                Formula::All(vec![
                    e.clone().below(bound.clone()),
                    (q.clone() + step).at_most(multiple.clone()),
                ]),
                Formula::All(vec![e.at_least(bound), q.at_least(multiple)]),
            ]);
        }
        Some(choices)
    }

    /// How rows lie to each other of which one is shared by all threads of its launch.
    pub(in crate::dependence) fn orders_of_rows(
        &mut self,
        subscripts: [&Affine; 2],
        distance: &Polynomial,
    ) -> Option<Vec<Choice>> {
        let shared = [
            self.shared(0, subscripts[0])?.add(distance)?,
            self.shared(1, subscripts[1])?,
        ];
        let mut choices = Vec::new();
        if shared[0] == shared[1] {
            return Some(choices);
        }
        for step in self.steps(subscripts, &shared) {
            let content = self.content(subscripts, &step);
            let rows = [0, 1].map(|side| multiples(&shared[side], &step, content));
            let [Some(first), Some(second)] = &rows else {
                continue;
            };
            if first == second {
                continue;
            }
            for one in self.rows(0, &step, first) {
                for other in self.rows(1, &step, second) {
                    choices.push(self.order(&one, &other, &step)?);
                }
            }
        }
        choices.truncate(MOST_ORDERS);
        Some(choices)
    }

    /// What a subscript adds for all threads.
    fn shared(&self, side: usize, subscript: &Affine) -> Option<Polynomial> {
        let mut shared = Polynomial::default();
        for (coefficient, variable) in &subscript.terms {
            let added = match variable {
                Variable::Parameter(index) => self.sides[side].parameters.get(*index)?.clone(),
                Variable::Product(index) => {
                    let product = self.sides[side].model.products.get(*index)?;
                    let parameter = self.sides[side].parameters.get(product.parameter)?;
                    let (uniform, _) = self.split_uniform(side, &product.factor)?;
                    uniform.multiply(parameter)?
                }
                _ => continue,
            };
            shared = shared.add(&added.scale(*coefficient)?)?;
        }
        Some(shared)
    }

    /// The distances between rows: what positions are multiplied by, and what is in both sums.
    fn steps(&self, subscripts: [&Affine; 2], shared: &[Polynomial; 2]) -> BTreeSet<Monomial> {
        let of_products = self.products.iter().filter_map(|product| {
            if !self.is_in(product, subscripts[product.side]) {
                return None;
            }
            let mut terms = product.parameter.terms.iter();
            match (terms.next(), terms.next()) {
                (Some((monomial, 1)), None) if !monomial.is_empty() => Some(monomial.clone()),
                _ => None,
            }
        });
        let mut steps: BTreeSet<Monomial> = of_products.collect();
        for one in shared[0].terms.keys() {
            for other in shared[1].terms.keys().filter(|other| *other != one) {
                let mut left = other.clone();
                let mut common = one.clone();
                common.retain(|atom| {
                    let found = left.iter().position(|other| other == atom);
                    found.map(|at| left.remove(at)).is_some()
                });
                if !common.is_empty() {
                    steps.insert(common);
                }
            }
        }
        steps
    }

    /// Whether a product is a part of its side's subscript, and not only of conditions.
    fn is_in(&self, product: &ProductDimension, subscript: &Affine) -> bool {
        let side = &self.sides[product.side];
        subscript.terms.iter().any(|(_, variable)| {
            let Variable::Product(index) = variable else {
                return false;
            };
            let own = side.model.products.get(*index);
            let varying = own.and_then(|own| self.split_uniform(product.side, &own.factor));
            varying.is_some_and(|(_, varying)| varying == product.factor)
        })
    }

    /// How many bytes one of a distance is, where a position is multiplied by it.
    fn content(&self, subscripts: [&Affine; 2], step: &Monomial) -> Option<i64> {
        let sides = subscripts.into_iter().enumerate();
        let mut contents = sides.flat_map(|(side, subscript)| {
            let terms = subscript.terms.iter();
            terms.filter_map(move |(coefficient, variable)| {
                let Variable::Product(index) = variable else {
                    return None;
                };
                let product = self.sides[side].model.products.get(*index)?;
                let parameter = self.sides[side].parameters.get(product.parameter)?;
                let (content, primitive) = parameter.split_content();
                let is_step = primitive.terms.keys().eq([step]);
                let bytes = coefficient.checked_mul(content)?;
                is_step.then_some(bytes).filter(|bytes| *bytes > 0)
            })
        });
        contents.next()
    }

    /// The rows of one side that a distance is multiplied by, with what all threads add to each.
    fn rows(&self, side: usize, step: &Monomial, shared: &Polynomial) -> Vec<Row> {
        let own = self.products.iter().filter(|product| {
            product.side == side && product.parameter.terms.iter().eq([(step, &1)])
        });
        let mut rows: Vec<Row> = own
            .map(|product| Row {
                varying: Some((product.factor_sum.clone(), Sum::variable(product.symbol))),
                shared: shared.clone(),
            })
            .collect();
        if rows.is_empty() {
            rows.push(Row {
                varying: None,
                shared: shared.clone(),
            });
        }
        rows
    }

    /// How two rows of one distance lie to each other. That the distance is not negative is known where positions that differ
    /// are multiplied by it, and nowhere else.
    fn order(&mut self, one: &Row, other: &Row, step: &Monomial) -> Option<Choice> {
        let step = monomial(step);
        let mut sums = Vec::new();
        for Row { varying, shared } in [one, other] {
            let at = self.polynomial(&shared.multiply(&step)?);
            let number = self.polynomial(shared);
            sums.push(match varying {
                Some((factor, product)) => (factor.clone() + number, product.clone() + at),
                None => (number, at),
            });
        }
        let step = self.polynomial(&step);
        let [(e, q), (f, r)] = [&sums[0], &sums[1]].map(|sum| sum.clone());
        let same = Formula::All(vec![e.clone().equal(f.clone()), q.clone().equal(r.clone())]);
        let before = e.clone().below(f.clone());
        let behind = e.above(f);
        let far = [
            (q.clone() + step.clone()).at_most(r.clone()),
            (r.clone() + step.clone()).at_most(q.clone()),
        ];
        if one.varying.is_some() || other.varying.is_some() {
            let [first, second] = far;
            return Some(vec![
                same,
                Formula::All(vec![before, first]),
                Formula::All(vec![behind, second]),
            ]);
        }
        let near = [
            r.clone().at_most(q.clone() + step.clone()),
            q.at_most(r + step.clone()),
        ];
        let (upwards, downwards) = (
            Formula::NonNegative(step.clone()),
            step.at_most(Sum::number(-1)),
        );
        let mut ways = vec![same];
        for (direction, bounds) in [(upwards, far), (downwards, near)] {
            for (order, bound) in [&before, &behind].into_iter().zip(bounds) {
                ways.push(Formula::All(vec![order.clone(), direction.clone(), bound]));
            }
        }
        Some(ways)
    }
}

/// What a step is multiplied by in a sum: so many times `content` where that is known. `None` where that is no whole number.
fn multiples(sum: &Polynomial, step: &Monomial, content: Option<i64>) -> Option<Polynomial> {
    let mut found = Polynomial::default();
    for (monomial, coefficient) in &sum.terms {
        if let Some(rest) = divide(monomial, step) {
            found.terms.insert(rest, *coefficient);
        }
    }
    match content {
        Some(content) => {
            let divides = found.terms.values().all(|times| times % content == 0);
            let mut divided = found;
            divided
                .terms
                .values_mut()
                .for_each(|times| *times /= content);
            divides.then_some(divided)
        }
        None => Some(found.split_content().1),
    }
}

fn monomial(monomial: &Monomial) -> Polynomial {
    Polynomial {
        terms: [(monomial.clone(), 1)].into(),
    }
}
