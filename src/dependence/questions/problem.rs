//! Two accesses that may touch a common byte, as conditions for isl.
//!
//! Invariant: a problem holds every pair of instances that touch a common byte when the facts hold;
//! equal problems of different launches ask the same [`Question`], since parameters are numbered by first
//! appearance.

use super::super::arrays::Within;
use super::super::mapped::Coordinate;
use super::super::moving::MovingFactor;
use super::super::polynomial::{Atom, Monomial, Polynomial};
use super::super::relation::{Claim, Facts, Shape, Side};
use super::super::runs::Quotient;
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::formula::{self, Formula};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// What a problem speaks of. Source is side 0, sink side 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::dependence) enum Symbol {
    /// A product of uniform values, by number.
    Parameter(usize),
    /// A block of a side.
    Block(usize, Axis),
    /// A thread of a side.
    Thread(usize, Axis),
    /// The counter of a loop of a side.
    Loop(usize, usize),
    /// A product of a side with a uniform value, by number.
    Product(usize, usize),
    /// A quotient of a side by a uniform value, by number.
    Run(usize, usize),
    /// The product of a quotient with what it is one by.
    Begin(usize, usize),
}

/// [`Symbol::Block`] or [`Symbol::Thread`].
pub(in crate::dependence) type PlaceSymbol = fn(usize, Axis) -> Symbol;

/// A sum of them.
pub(in crate::dependence) type Sum = formula::Sum<Symbol>;

/// A condition on them.
pub(in crate::dependence) type Condition = Formula<Symbol>;

/// A dimension `q = factor · parameter`.
pub(in crate::dependence) struct ProductDimension {
    pub(in crate::dependence) side: usize,
    pub(in crate::dependence) symbol: Symbol,
    pub(in crate::dependence) factor: Affine,
    pub(in crate::dependence) factor_sum: Sum,
    pub(in crate::dependence) parameter: Polynomial,
}

/// A choice between conjunctions.
pub(in crate::dependence) type Choice = Vec<Condition>;

/// All that the answer to a problem depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::dependence) struct Question {
    parameters: usize,
    dimensions: Vec<Symbol>,
    placed: bool,
    base: Vec<Condition>,
    choices: Vec<Choice>,
    late_choices: Vec<Choice>,
}

pub(in crate::dependence) struct Problem {
    pub(in crate::dependence) monomials: Vec<Monomial>,
    pub(in crate::dependence) dimensions: Vec<Symbol>,
    pub(in crate::dependence) base: Vec<Condition>,
    pub(in crate::dependence) choices: Vec<Choice>,
    /// Choices that only sharpen; left out of the relation.
    pub(in crate::dependence) late_choices: Vec<Choice>,
    pub(in crate::dependence) free_axes: [[bool; 3]; 2],
    /// Both subscripts and their distance are known.
    pub(in crate::dependence) placed: bool,
    pub(in crate::dependence) exact: bool,
    /// First byte of either access, both counted from the sink's pointer.
    pub(in crate::dependence) addresses: Option<[Sum; 2]>,
    /// What each product dimension is: its symbol, its factor, its parameter.
    pub(in crate::dependence) definitions: Vec<(Symbol, Sum, Polynomial)>,
    /// For each coordinate of a map, its value on either side.
    pub(in crate::dependence) coordinates: Vec<[Sum; 2]>,
    /// Positions, each with the extent that it is said to stay below.
    pub(in crate::dependence) bounded: Vec<[Sum; 2]>,
}

/// State while a problem is written down.
pub(in crate::dependence) struct Builder<'a> {
    pub(super) sides: [&'a Side<'a>; 2],
    pub(in crate::dependence) monomials: Vec<Monomial>,
    pub(in crate::dependence) monomial_index: HashMap<Monomial, usize>,
    pub(in crate::dependence) dimensions: Vec<Symbol>,
    pub(in crate::dependence) base: Vec<Condition>,
    pub(in crate::dependence) products: Vec<ProductDimension>,
    /// Quotients by what only a run knows.
    pub(in crate::dependence) quotients: Vec<Quotient>,
    /// Products whose factors move with counters of host loops.
    pub(in crate::dependence) moving: Vec<MovingFactor>,
    pub(in crate::dependence) counters: &'a BTreeSet<Atom>,
    /// Each of the model's products that was met already, by side.
    product_sums: [HashMap<usize, Sum>; 2],
}

impl Problem {
    /// `None` when a coefficient leaves 64 bits.
    pub(in crate::dependence) fn build(
        source: &Side,
        sink: &Side,
        distance: Option<&Polynomial>,
        facts: &Facts,
    ) -> Option<Self> {
        Self::with_claim(source, sink, distance, facts, ((&[], &[]), &[]))
    }

    /// The same with the coordinates of a map written down, and the bounds of its places.
    pub(in crate::dependence) fn with_claim(
        source: &Side,
        sink: &Side,
        distance: Option<&Polynomial>,
        facts: &Facts,
        (mapped, within): Claim,
    ) -> Option<Self> {
        let mut builder = Builder {
            sides: [source, sink],
            monomials: Vec::new(),
            monomial_index: HashMap::new(),
            dimensions: Vec::new(),
            base: Vec::new(),
            products: Vec::new(),
            quotients: Vec::new(),
            moving: Vec::new(),
            counters: &facts.counters,
            product_sums: [HashMap::new(), HashMap::new()],
        };
        for side in 0..2 {
            let shape = builder.sides[side].shape;
            let kinds: [(PlaceSymbol, _); 2] =
                [(Symbol::Block, &shape.grid), (Symbol::Thread, &shape.block)];
            for (kind, extents) in kinds {
                for axis in Axis::ALL {
                    let symbol = kind(side, axis);
                    let extent = builder.polynomial(&extents[axis.index()]);
                    let place = Sum::variable(symbol);
                    builder
                        .base
                        .push(Formula::within(place, Sum::number(0), extent));
                    builder.dimensions.push(symbol);
                }
            }
        }
        let mut addresses = None;
        if let (Some(distance), Some(left), Some(right)) =
            (distance, &source.access.subscript, &sink.access.subscript)
        {
            let distance = builder.polynomial(distance);
            let left = builder.affine(0, left)?;
            let right = builder.affine(1, right)?;
            let (left_size, right_size) = (source.access.size_bytes, sink.access.size_bytes);
            let left = left + distance;
            let left_end = left.clone() + i128::from(left_size);
            let right_end = right.clone() + i128::from(right_size);
            builder.base.push(left.clone().below(right_end));
            builder.base.push(right.clone().below(left_end));
            addresses = Some([left, right]);
        }
        let placed = addresses.is_some();
        let mut coordinates = Vec::new();
        for (left, right) in mapped.0.iter().zip(mapped.1) {
            coordinates.push([builder.coordinate(0, left)?, builder.coordinate(1, right)?]);
        }
        let mut bounded = Vec::new();
        for Within {
            side,
            position,
            extent,
        } in within
        {
            bounded.push([
                builder.coordinate(*side, position)?,
                builder.polynomial(extent),
            ]);
        }
        let mut guards = Vec::new();
        for side in 0..2 {
            let domain = &builder.sides[side].access.domain;
            let mut alternatives = Vec::new();
            for conjunction in domain {
                let mut parts = Vec::new();
                for constraint in conjunction {
                    parts.push(match constraint {
                        Constraint::NonNegative(e) => {
                            Formula::NonNegative(builder.affine(side, e)?)
                        }
                        Constraint::Zero(e) => Formula::Zero(builder.affine(side, e)?),
                    });
                }
                alternatives.push(parts);
            }
            guards.push(alternatives);
        }
        // Every product is known by now; what a guard says about a factor is said about its
        // product too.
        let mut choices = Vec::new();
        for (side, mut alternatives) in guards.into_iter().enumerate() {
            let domain = builder.sides[side].access.domain.clone();
            for (conjunction, parts) in domain.iter().zip(&mut alternatives) {
                builder.bound_products_by_guard(side, conjunction, parts);
            }
            let conjunctions: Choice = alternatives.into_iter().map(Formula::All).collect();
            match conjunctions.as_slice() {
                [] => builder.base.push(Formula::Zero(Sum::number(1))),
                [only] => builder.base.push(only.clone()),
                _ => choices.push(conjunctions),
            }
        }
        choices.extend(builder.quotient_axioms()?);
        let of_products = builder.product_axioms(&mut choices)?;
        // What tells rows apart goes first: else each way to choose of the rest is looked into.
        let mut late_choices = Vec::new();
        if let (Some(distance), Some(left), Some(right)) =
            (distance, &source.access.subscript, &sink.access.subscript)
        {
            late_choices.extend(builder.orders_of_rows([left, right], distance)?);
        }
        late_choices.extend(builder.bounds_of_quotients()?);
        late_choices.extend(of_products);
        late_choices.extend(builder.moving_axioms()?);
        late_choices.extend(builder.counter_products(facts));
        builder.parameter_facts(facts);
        let free = |shape: &Shape| -> ([bool; 3], [bool; 3]) {
            let free = |extent: &Polynomial| extent.as_constant() != Some(1);
            (
                [0, 1, 2].map(|axis| free(&shape.grid[axis])),
                [0, 1, 2].map(|axis| free(&shape.block[axis])),
            )
        };
        let (source_free, sink_free) = (free(source.shape), free(sink.shape));
        let either = |a: [bool; 3], b: [bool; 3]| [0, 1, 2].map(|axis| a[axis] || b[axis]);
        Some(Self {
            placed,
            exact: placed && builder.products.is_empty(),
            addresses,
            coordinates,
            bounded,
            definitions: builder
                .products
                .into_iter()
                .map(|product| (product.symbol, product.factor_sum, product.parameter))
                .collect(),
            monomials: builder.monomials,
            dimensions: builder.dimensions,
            base: builder.base,
            choices,
            late_choices,
            free_axes: [
                either(source_free.0, sink_free.0),
                either(source_free.1, sink_free.1),
            ],
        })
    }

    /// The whole problem, parameters numbered by first appearance: equal questions, equal answers.
    pub(in crate::dependence) fn question(&self) -> Question {
        Question {
            parameters: self.monomials.len(),
            dimensions: self.dimensions.clone(),
            placed: self.placed,
            base: self.base.clone(),
            choices: self.choices.clone(),
            late_choices: self.late_choices.clone(),
        }
    }

    /// Positions of the dimensions that blocks, threads and loops are, none of which is negative; the
    /// others, which are products and quotients, follow from them.
    pub(in crate::dependence) fn places(&self) -> Vec<usize> {
        let is_place = |symbol: &Symbol| {
            matches!(
                symbol,
                Symbol::Block(..) | Symbol::Thread(..) | Symbol::Loop(..)
            )
        };
        let symbols = self.dimensions.iter().enumerate();
        let places = symbols.filter(|(_, symbol)| is_place(symbol));
        places.map(|(position, _)| position).collect()
    }

    /// The parameters, in order.
    pub(in crate::dependence) fn parameters(&self) -> Vec<Symbol> {
        (0..self.monomials.len()).map(Symbol::Parameter).collect()
    }

    /// Names of the parameters by their values, in order.
    pub(in crate::dependence) fn parameter_names(&self) -> Vec<String> {
        self.monomials.iter().map(monomial_name).collect()
    }
}

impl Builder<'_> {
    pub(in crate::dependence) fn polynomial(&mut self, polynomial: &Polynomial) -> Sum {
        let mut sum = Sum::number(0);
        for (monomial, coefficient) in &polynomial.terms {
            if monomial.is_empty() {
                sum = sum + i128::from(*coefficient);
                continue;
            }
            let index = match self.monomial_index.get(monomial) {
                Some(index) => *index,
                None => {
                    let index = self.monomials.len();
                    self.monomials.push(monomial.clone());
                    self.monomial_index.insert(monomial.clone(), index);
                    index
                }
            };
            sum = sum + Sum::variable(Symbol::Parameter(index)) * i128::from(*coefficient);
        }
        sum
    }

    fn affine(&mut self, side: usize, affine: &Affine) -> Option<Sum> {
        let mut sum = Sum::number(affine.constant);
        for (coefficient, variable) in &affine.terms {
            sum = sum + self.variable(side, variable)? * i128::from(*coefficient);
        }
        Some(sum)
    }

    fn variable(&mut self, side: usize, variable: &Variable) -> Option<Sum> {
        Some(match variable {
            Variable::Block(axis) => Sum::variable(Symbol::Block(side, *axis)),
            Variable::Thread(axis) => Sum::variable(Symbol::Thread(side, *axis)),
            Variable::Loop(index) => {
                let symbol = Symbol::Loop(side, *index);
                if !self.dimensions.contains(&symbol) {
                    self.base.push(Formula::NonNegative(Sum::variable(symbol)));
                    self.dimensions.push(symbol);
                }
                Sum::variable(symbol)
            }
            Variable::Product(index) => match self.product_sums[side].get(index) {
                Some(sum) => sum.clone(),
                None => {
                    let sum = self.product(side, *index)?;
                    self.product_sums[side].insert(*index, sum.clone());
                    sum
                }
            },
            Variable::Parameter(index) => {
                let value = self.sides[side].parameters.get(*index)?.clone();
                self.polynomial(&value)
            }
            Variable::Floor(numerator, divisor) => self.affine(side, numerator)?.floor(*divisor),
        })
    }

    /// `factor · parameter`: written out where the parameter is a number; else the uniform part of
    /// the factor is multiplied out and the rest becomes a dimension.
    fn product(&mut self, side: usize, index: usize) -> Option<Sum> {
        let product = self.sides[side].model.products.get(index)?.clone();
        let parameter = self.sides[side].parameters.get(product.parameter)?.clone();
        self.product_of(side, &product.factor, &parameter)
    }

    /// One coordinate of a map: its bytes where the kernel writes them, else its value.
    fn coordinate(&mut self, side: usize, coordinate: &Coordinate) -> Option<Sum> {
        if let Some((bytes, added)) = &coordinate.written {
            let added = self.polynomial(added);
            return Some(self.affine(side, bytes)? + added);
        }
        let mut sum = self.polynomial(&coordinate.constant);
        for (coefficient, variable) in &coordinate.terms {
            let factor = Affine::variable(variable.clone());
            sum = sum + self.product_of(side, &factor, coefficient)?;
        }
        Some(match coordinate.divisor.as_constant() {
            Some(1) => sum,
            Some(divisor) if divisor > 1 => sum.floor(divisor),
            Some(_) => return None,
            None => self.quotient(side, &sum, &coordinate.divisor)?,
        })
    }

    fn product_of(&mut self, side: usize, factor: &Affine, parameter: &Polynomial) -> Option<Sum> {
        if let Some(value) = parameter.as_constant() {
            return Some(self.affine(side, factor)? * i128::from(value));
        }
        let (uniform, varying) = self.split_uniform(side, factor)?;
        let uniform_part = self.polynomial(&uniform.multiply(parameter)?);
        let (content, primitive) = parameter.split_content();
        let moves = uniform
            .atoms()
            .iter()
            .any(|atom| self.counters.contains(atom));
        if varying.terms.is_empty() {
            if moves {
                self.add_moving(side, None, &uniform, &primitive);
            }
            return Some(uniform_part);
        }
        let factor_sum = self.affine(side, &varying)?;
        let known = self.products.iter().find(|known| {
            known.side == side && known.factor == varying && known.parameter == primitive
        });
        let symbol = match known {
            Some(known) => known.symbol,
            None => self.product_dimension(side, &varying, &factor_sum, &primitive)?,
        };
        if moves {
            let varying = Some((symbol, factor_sum));
            self.add_moving(side, varying, &uniform, &primitive);
        }
        Some(Sum::variable(symbol) * i128::from(content) + uniform_part)
    }

    /// A new dimension, with what is known of it by itself.
    fn product_dimension(
        &mut self,
        side: usize,
        factor: &Affine,
        factor_sum: &Sum,
        parameter: &Polynomial,
    ) -> Option<Symbol> {
        let symbol = Symbol::Product(side, self.products.len());
        self.dimensions.push(symbol);
        self.products.push(ProductDimension {
            side,
            symbol,
            factor: factor.clone(),
            factor_sum: factor_sum.clone(),
            parameter: parameter.clone(),
        });
        let product = Sum::variable(symbol);
        let step = self.polynomial(parameter);
        self.base.push(Formula::NonNegative(step));
        if self.is_non_negative(side, factor) {
            self.base.push(Formula::NonNegative(product.clone()));
            if self.is_positive(parameter) {
                self.base.push(product.clone().at_least(factor_sum.clone()));
            }
        }
        if let Some(upper) = self.upper_bound(side, factor) {
            let bound = upper.multiply(parameter)?;
            let bound = self.polynomial(&bound);
            self.base.push(product.at_most(bound));
        }
        Some(symbol)
    }

    /// The part of a factor that is the same for all instances, and the rest.
    pub(super) fn split_uniform(
        &self,
        side: usize,
        factor: &Affine,
    ) -> Option<(Polynomial, Affine)> {
        let mut uniform = Polynomial::constant(factor.constant);
        let mut varying = Affine::default();
        for (coefficient, variable) in &factor.terms {
            match variable {
                Variable::Parameter(index) => {
                    let value = self.sides[side].parameters.get(*index)?;
                    uniform = uniform.add(&value.scale(*coefficient)?)?;
                }
                _ => varying.terms.push((*coefficient, variable.clone())),
            }
        }
        Some((uniform, varying))
    }

    fn is_non_negative(&self, side: usize, affine: &Affine) -> bool {
        affine.constant >= 0
            && affine.terms.iter().all(|(coefficient, variable)| {
                *coefficient >= 0
                    && match variable {
                        Variable::Block(_) | Variable::Thread(_) | Variable::Loop(_) => true,
                        Variable::Product(index) => self.sides[side]
                            .model
                            .products
                            .get(*index)
                            .is_some_and(|product| self.is_non_negative(side, &product.factor)),
                        Variable::Floor(numerator, _) => self.is_non_negative(side, numerator),
                        Variable::Parameter(_) => false,
                    }
            })
    }

    /// True when the value is at least 1 in every launch that runs.
    pub(super) fn is_positive(&self, polynomial: &Polynomial) -> bool {
        !polynomial.terms.is_empty()
            && polynomial.terms.iter().all(|(monomial, coefficient)| {
                *coefficient > 0 && monomial.iter().all(|atom| self.is_extent(atom))
            })
    }

    /// Extents of a grid or block that runs are at least 1.
    pub(super) fn is_extent(&self, atom: &Atom) -> bool {
        let single = vec![atom.clone()];
        self.sides.iter().any(|side| {
            let shape = side.shape;
            shape.grid.iter().chain(&shape.block).any(|extent| {
                extent.terms.len() == 1 && extent.terms.get(&single).copied() == Some(1)
            })
        })
    }

    /// The largest value that an expression of block, thread and products of them can have.
    fn upper_bound(&self, side: usize, affine: &Affine) -> Option<Polynomial> {
        let mut bound = Polynomial::constant(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let one = Polynomial::constant(1);
            let shape = self.sides[side].shape;
            let largest = match variable {
                Variable::Block(axis) if *coefficient > 0 => {
                    shape.grid[axis.index()].subtract(&one)?
                }
                Variable::Thread(axis) if *coefficient > 0 => {
                    shape.block[axis.index()].subtract(&one)?
                }
                Variable::Block(_) | Variable::Thread(_) => Polynomial::default(),
                Variable::Product(index) if *coefficient > 0 => {
                    let product = self.sides[side].model.products.get(*index)?;
                    let parameter = self.sides[side].parameters.get(product.parameter)?;
                    self.upper_bound(side, &product.factor)?
                        .multiply(parameter)?
                }
                Variable::Parameter(index) => self.sides[side].parameters.get(*index)?.clone(),
                _ => return None,
            };
            bound = bound.add(&largest.scale(*coefficient)?)?;
        }
        Some(bound)
    }

    /// Where a conjunction bounds a product's factor by uniform values (`row < rows`), bounds the
    /// product (`q <= (rows - 1) · p`).
    fn bound_products_by_guard(
        &mut self,
        side: usize,
        conjunction: &[Constraint],
        parts: &mut Vec<Condition>,
    ) {
        let products: Vec<_> = self
            .products
            .iter()
            .filter(|product| product.side == side)
            .map(|product| {
                (
                    Sum::variable(product.symbol),
                    product.factor.clone(),
                    product.parameter.clone(),
                )
            })
            .collect();
        for constraint in conjunction {
            let (expression, equality) = match constraint {
                Constraint::NonNegative(expression) => (expression, false),
                Constraint::Zero(expression) => (expression, true),
            };
            for (product, factor, parameter) in &products {
                // factor <= uniform when expression = uniform - factor.
                let above = expression
                    .add(factor)
                    .and_then(|sum| self.uniform_value(side, &sum))
                    .and_then(|bound| bound.multiply(parameter));
                if let Some(bound) = above {
                    let compare = if equality { Sum::equal } else { Sum::at_most };
                    parts.push(compare(product.clone(), self.polynomial(&bound)));
                }
                // factor >= uniform when expression = factor - uniform.
                let below = expression
                    .subtract(factor)
                    .and_then(|rest| self.uniform_value(side, &rest))
                    .and_then(|rest| rest.scale(-1)?.multiply(parameter));
                if let Some(bound) = below {
                    let compare = if equality { Sum::equal } else { Sum::at_least };
                    parts.push(compare(product.clone(), self.polynomial(&bound)));
                }
            }
        }
    }

    fn uniform_value(&self, side: usize, affine: &Affine) -> Option<Polynomial> {
        let (uniform, varying) = self.split_uniform(side, affine)?;
        varying.terms.is_empty().then_some(uniform)
    }

    /// Adds the order axioms between products of one parameter to `choices`; returns those that
    /// rarely matter.
    fn product_axioms(&mut self, choices: &mut Vec<Choice>) -> Option<Vec<Choice>> {
        let mut ranked: Vec<(u8, Choice)> = Vec::new();
        for (first, a) in self.products.iter().enumerate() {
            for b in &self.products[first + 1..] {
                if a.parameter != b.parameter {
                    continue;
                }
                let rank = match (a.side != b.side, a.factor == b.factor) {
                    (true, true) => 0,
                    (true, false) => 1,
                    (false, _) => 2,
                };
                let step = written(&self.monomial_index, &a.parameter)?;
                let [one, other] =
                    [a, b].map(|of| (of.factor_sum.clone(), Sum::variable(of.symbol)));
                ranked.push((rank, ordered_alike(one, other, &step)));
            }
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut late = Vec::new();
        for (rank, choice) in ranked {
            if rank == 0 {
                choices.push(choice);
            } else {
                late.push(choice);
            }
        }
        for product in &self.products {
            let step = written(&self.monomial_index, &product.parameter)?;
            let e = || product.factor_sum.clone();
            let q = || Sum::variable(product.symbol);
            let mut choice = vec![
                Formula::All(vec![Formula::Zero(e()), Formula::Zero(q())]),
                Formula::All(vec![
                    e().at_least(Sum::number(1)),
                    q().at_least(step.clone()),
                ]),
            ];
            if !self.is_non_negative(product.side, &product.factor) {
                choice.push(Formula::All(vec![
                    e().at_most(Sum::number(-1)),
                    (q() + step).at_most(Sum::number(0)),
                ]));
            }
            late.push(choice);
        }
        Some(late)
    }
}

/// That two products of one parameter, each given with its factor, are ordered as their factors are, at a distance
/// of the parameter.
pub(in crate::dependence) fn ordered_alike(
    (e, q): (Sum, Sum),
    (f, r): (Sum, Sum),
    step: &Sum,
) -> Choice {
    let below = |[e, q]: [&Sum; 2], [f, r]: [&Sum; 2]| {
        Formula::All(vec![
            e.clone().below(f.clone()),
            (q.clone() + step.clone()).at_most(r.clone()),
        ])
    };
    vec![
        Formula::All(vec![e.clone().equal(f.clone()), q.clone().equal(r.clone())]),
        below([&e, &q], [&f, &r]),
        below([&f, &r], [&e, &q]),
    ]
}

/// A polynomial all of whose monomials are parameters already.
pub(in crate::dependence) fn written(
    index: &HashMap<Monomial, usize>,
    polynomial: &Polynomial,
) -> Option<Sum> {
    let mut sum = Sum::number(0);
    for (monomial, coefficient) in &polynomial.terms {
        let term = match monomial.is_empty() {
            true => Sum::number(1),
            false => Sum::variable(Symbol::Parameter(*index.get(monomial)?)),
        };
        sum = sum + term * i128::from(*coefficient);
    }
    Some(sum)
}

/// `larger / smaller` where it divides.
pub(in crate::dependence) fn divide(larger: &Monomial, smaller: &Monomial) -> Option<Monomial> {
    let mut rest = larger.clone();
    for atom in smaller {
        let at = rest.iter().position(|candidate| candidate == atom)?;
        rest.remove(at);
    }
    Some(rest)
}

/// A name for a product of values: `v3_v5`.
fn monomial_name(monomial: &Monomial) -> String {
    let names: Vec<_> = monomial.iter().map(atom_name).collect();
    names.join("_")
}

fn atom_name(atom: &Atom) -> String {
    let polynomial_name = |polynomial: &Polynomial| {
        let mut text = String::new();
        for (monomial, coefficient) in &polynomial.terms {
            if !text.is_empty() {
                text.push('_');
            }
            let sign = if *coefficient < 0 { "m" } else { "" };
            let _ = write!(text, "{sign}{}", coefficient.unsigned_abs());
            text.push_str(&monomial_name(monomial));
        }
        text
    };
    match atom {
        Atom::Value(value) => format!("v{}", value.0),
        Atom::Private(node, symbol) => {
            let name: String = symbol
                .to_string()
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .collect();
            format!("n{}_{name}", node.0)
        }
        Atom::SinkSide(atom) => format!("{}_sink", atom_name(atom)),
        Atom::FloorDivide(a, b) => {
            format!("floor_{}_by_{}", polynomial_name(a), polynomial_name(b))
        }
        Atom::Minimum(a, b) => format!("min_{}_and_{}", polynomial_name(a), polynomial_name(b)),
        Atom::Maximum(a, b) => format!("max_{}_and_{}", polynomial_name(a), polynomial_name(b)),
    }
}
