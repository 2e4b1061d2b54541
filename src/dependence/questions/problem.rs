//! Two accesses that may touch a common byte, written down for isl.
//!
//! Invariant: a problem holds every pair of instances that touch a common byte when the facts hold;
//! equal problems of different launches have equal texts, since parameters are numbered by first
//! appearance.

use super::super::arrays::Within;
use super::super::mapped::Coordinate;
use super::super::moving::MovingFactor;
use super::super::polynomial::{Atom, Monomial, Polynomial};
use super::super::relation::{Claim, Facts, Shape, Side};
use super::super::runs::Quotient;
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// Source is side 0, sink side 1.
const PREFIX: [&str; 2] = ["s", "t"];

/// A dimension `q = factor · parameter`.
pub(in crate::dependence) struct ProductDimension {
    pub(in crate::dependence) side: usize,
    pub(in crate::dependence) name: String,
    factor: Affine,
    pub(in crate::dependence) factor_text: String,
    pub(in crate::dependence) parameter: Polynomial,
}

/// A choice between conjunctions.
pub(in crate::dependence) type Choice = Vec<String>;

pub(in crate::dependence) struct Problem {
    pub(in crate::dependence) monomials: Vec<Monomial>,
    pub(in crate::dependence) dimensions: Vec<String>,
    pub(in crate::dependence) base: Vec<String>,
    pub(in crate::dependence) choices: Vec<Choice>,
    /// Choices that only sharpen; left out of the relation's text.
    pub(in crate::dependence) late_choices: Vec<Choice>,
    pub(in crate::dependence) free_axes: [[bool; 3]; 2],
    /// Both subscripts and their distance are known.
    pub(in crate::dependence) placed: bool,
    pub(in crate::dependence) exact: bool,
    /// First byte of either access, both counted from the sink's pointer.
    pub(in crate::dependence) addresses: Option<[String; 2]>,
    /// What each product dimension is: its name, its factor, its parameter.
    pub(in crate::dependence) definitions: Vec<(String, String, Polynomial)>,
    /// For each coordinate of a map, its value on either side.
    pub(in crate::dependence) coordinates: Vec<[String; 2]>,
    /// Positions, each with the extent that it is said to stay below.
    pub(in crate::dependence) bounded: Vec<[String; 2]>,
}

/// State while a problem is written down.
pub(in crate::dependence) struct Builder<'a> {
    pub(super) sides: [&'a Side<'a>; 2],
    pub(in crate::dependence) monomials: Vec<Monomial>,
    pub(in crate::dependence) monomial_index: HashMap<Monomial, usize>,
    pub(in crate::dependence) dimensions: Vec<String>,
    pub(in crate::dependence) base: Vec<String>,
    pub(in crate::dependence) products: Vec<ProductDimension>,
    /// Quotients by what only a run knows.
    pub(in crate::dependence) quotients: Vec<Quotient>,
    /// Products whose factors move with counters of host loops.
    pub(in crate::dependence) moving: Vec<MovingFactor>,
    pub(in crate::dependence) counters: &'a BTreeSet<Atom>,
    /// Text of each model product already written, by side.
    product_texts: [HashMap<usize, String>; 2],
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
            product_texts: [HashMap::new(), HashMap::new()],
        };
        for (side, prefix) in PREFIX.iter().enumerate() {
            for kind in ["b", "t"] {
                for axis in Axis::ALL {
                    let name = format!("{prefix}{kind}{}", axis.name());
                    let extents = builder.sides[side].shape;
                    let extents = if kind == "b" {
                        &extents.grid
                    } else {
                        &extents.block
                    };
                    let extent = builder.polynomial(&extents[axis.index()]);
                    builder.base.push(format!("0 <= {name} < {extent}"));
                    builder.dimensions.push(name);
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
            builder
                .base
                .push(format!("{left} + {distance} < {right} + {right_size}"));
            builder
                .base
                .push(format!("{right} < {left} + {distance} + {left_size}"));
            addresses = Some([format!("{left} + {distance}"), right]);
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
                        Constraint::NonNegative(e) => format!("{} >= 0", builder.affine(side, e)?),
                        Constraint::Zero(e) => format!("{} = 0", builder.affine(side, e)?),
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
            let conjunctions: Choice = alternatives
                .into_iter()
                .map(|parts| {
                    if parts.is_empty() {
                        String::from("true")
                    } else {
                        parts.join(" and ")
                    }
                })
                .collect();
            match conjunctions.as_slice() {
                [] => builder.base.push(String::from("1 = 0")),
                [only] => builder.base.push(only.clone()),
                _ => choices.push(conjunctions),
            }
        }
        choices.extend(builder.quotient_axioms()?);
        let mut late_choices = builder.product_axioms(&mut choices)?;
        late_choices.extend(builder.moving_axioms()?);
        if let (Some(distance), Some(left), Some(right)) =
            (distance, &source.access.subscript, &sink.access.subscript)
        {
            late_choices.extend(builder.orders_of_rows([left, right], distance)?);
        }
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
                .map(|product| (product.name, product.factor_text, product.parameter))
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

    /// The whole problem, parameters numbered by first appearance: equal texts, equal answers.
    pub(in crate::dependence) fn text(&self) -> String {
        let mut text = self.header();
        let _ = write!(text, "placed {} and ", self.placed);
        for part in &self.base {
            text.push_str(part);
            text.push_str(" and ");
        }
        for choice in self.choices.iter().chain(&self.late_choices) {
            let _ = write!(text, "({}) and ", choice.join(" or "));
        }
        text
    }

    fn header(&self) -> String {
        format!(
            "[{}] -> {{ [{}] : ",
            self.parameters().join(", "),
            self.dimensions.join(", ")
        )
    }

    /// Positions of the dimensions that blocks, threads and loops are, none of which is negative; the
    /// others, which are products and quotients, follow from them.
    pub(in crate::dependence) fn places(&self) -> Vec<usize> {
        let place = |name: &String| name[1..].starts_with(['b', 't', 'i']);
        let named = self.dimensions.iter().enumerate();
        let places = named.filter(|(_, name)| place(name));
        places.map(|(position, _)| position).collect()
    }

    /// Canonical names of the parameters.
    pub(in crate::dependence) fn parameters(&self) -> Vec<String> {
        (0..self.monomials.len()).map(|n| format!("p{n}")).collect()
    }

    /// Canonical names to real ones: dimensions by what they are, parameters by their values.
    pub(in crate::dependence) fn with_real_names(&self, relation: &str) -> String {
        let names = ["bx", "by", "bz", "tx", "ty", "tz"];
        let mut text = String::new();
        let mut rest = relation;
        while let Some(first) = rest.chars().next() {
            if !(first.is_ascii_alphabetic() || first == '_') {
                text.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '\''))
                .unwrap_or(rest.len());
            let word = &rest[..end];
            let number = word[1..].parse::<usize>().ok();
            match (first, number) {
                ('p', Some(n)) if n < self.monomials.len() => {
                    text.push_str(&monomial_name(&self.monomials[n]));
                }
                ('i', Some(n)) if n < 6 => text.push_str(names[n]),
                ('o', Some(n)) if n < 6 => {
                    text.push_str(names[n]);
                    text.push('\'');
                }
                _ => text.push_str(word),
            }
            rest = &rest[end..];
        }
        text
    }
}

impl Builder<'_> {
    pub(in crate::dependence) fn polynomial(&mut self, polynomial: &Polynomial) -> String {
        let mut text = String::from("(");
        for (monomial, coefficient) in &polynomial.terms {
            if monomial.is_empty() {
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
            let _ = write!(text, "{coefficient}*p{index} + ");
        }
        let constant = polynomial.terms.get(&Vec::new()).copied().unwrap_or(0);
        let _ = write!(text, "{constant})");
        text
    }

    fn affine(&mut self, side: usize, affine: &Affine) -> Option<String> {
        let mut text = String::from("(");
        for (coefficient, variable) in &affine.terms {
            let variable = self.variable(side, variable)?;
            let _ = write!(text, "{coefficient}*{variable} + ");
        }
        let _ = write!(text, "{})", affine.constant);
        Some(text)
    }

    fn variable(&mut self, side: usize, variable: &Variable) -> Option<String> {
        let prefix = PREFIX[side];
        Some(match variable {
            Variable::Block(axis) => format!("{prefix}b{}", axis.name()),
            Variable::Thread(axis) => format!("{prefix}t{}", axis.name()),
            Variable::Loop(index) => {
                let name = format!("{prefix}i{index}");
                if !self.dimensions.contains(&name) {
                    self.base.push(format!("{name} >= 0"));
                    self.dimensions.push(name.clone());
                }
                name
            }
            Variable::Product(index) => match self.product_texts[side].get(index) {
                Some(text) => text.clone(),
                None => {
                    let text = self.product(side, *index)?;
                    self.product_texts[side].insert(*index, text.clone());
                    text
                }
            },
            Variable::Parameter(index) => {
                let value = self.sides[side].parameters.get(*index)?.clone();
                self.polynomial(&value)
            }
            Variable::Floor(numerator, divisor) => {
                format!("floor({}/{divisor})", self.affine(side, numerator)?)
            }
        })
    }

    /// `factor · parameter`: written out where the parameter is a number; else the uniform part of
    /// the factor is multiplied out and the rest becomes a dimension.
    fn product(&mut self, side: usize, index: usize) -> Option<String> {
        let product = self.sides[side].model.products.get(index)?.clone();
        let parameter = self.sides[side].parameters.get(product.parameter)?.clone();
        self.product_of(side, &product.factor, &parameter)
    }

    /// One coordinate of a map: its bytes where the kernel writes them, else its value.
    fn coordinate(&mut self, side: usize, coordinate: &Coordinate) -> Option<String> {
        if let Some((bytes, added)) = &coordinate.written {
            let added = self.polynomial(added);
            return Some(format!("({} + {added})", self.affine(side, bytes)?));
        }
        let mut text = self.polynomial(&coordinate.constant);
        for (coefficient, variable) in &coordinate.terms {
            let factor = Affine::variable(variable.clone());
            let _ = write!(text, " + {}", self.product_of(side, &factor, coefficient)?);
        }
        Some(match coordinate.divisor.as_constant() {
            Some(1) => format!("({text})"),
            Some(divisor) if divisor > 1 => format!("floor(({text})/{divisor})"),
            Some(_) => return None,
            None => self.quotient(side, &text, &coordinate.divisor)?,
        })
    }

    fn product_of(
        &mut self,
        side: usize,
        factor: &Affine,
        parameter: &Polynomial,
    ) -> Option<String> {
        if let Some(value) = parameter.as_constant() {
            return Some(format!("({value}*{})", self.affine(side, factor)?));
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
        let factor_text = self.affine(side, &varying)?;
        let known = self.products.iter().find(|known| {
            known.side == side && known.factor == varying && known.parameter == primitive
        });
        let name = match known {
            Some(known) => known.name.clone(),
            None => {
                let name = format!("{}q{}", PREFIX[side], self.products.len());
                self.dimensions.push(name.clone());
                self.products.push(ProductDimension {
                    side,
                    name: name.clone(),
                    factor: varying.clone(),
                    factor_text: factor_text.clone(),
                    parameter: primitive.clone(),
                });
                let parameter_text = self.polynomial(&primitive);
                self.base.push(format!("{parameter_text} >= 0"));
                if self.is_non_negative(side, &varying) {
                    self.base.push(format!("{name} >= 0"));
                    if self.is_positive(&primitive) {
                        self.base.push(format!("{name} >= {factor_text}"));
                    }
                }
                if let Some(upper) = self.upper_bound(side, &varying) {
                    let bound = upper.multiply(&primitive)?;
                    let bound = self.polynomial(&bound);
                    self.base.push(format!("{name} <= {bound}"));
                }
                name
            }
        };
        if moves {
            let factor_text = self.affine(side, &varying)?;
            self.add_moving(
                side,
                Some((name.clone(), factor_text)),
                &uniform,
                &primitive,
            );
        }
        Some(format!("({content}*{name} + {uniform_part})"))
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
    fn is_positive(&self, polynomial: &Polynomial) -> bool {
        !polynomial.terms.is_empty()
            && polynomial.terms.iter().all(|(monomial, coefficient)| {
                *coefficient > 0 && monomial.iter().all(|atom| self.is_extent(atom))
            })
    }

    /// Extents of a grid or block that runs are at least 1.
    fn is_extent(&self, atom: &Atom) -> bool {
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
        parts: &mut Vec<String>,
    ) {
        let products: Vec<_> = self
            .products
            .iter()
            .filter(|product| product.side == side)
            .map(|product| {
                (
                    product.name.clone(),
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
            for (name, factor, parameter) in &products {
                // factor <= uniform when expression = uniform - factor.
                let above = expression
                    .add(factor)
                    .and_then(|sum| self.uniform_value(side, &sum))
                    .and_then(|bound| bound.multiply(parameter));
                if let Some(bound) = above {
                    let order = if equality { "=" } else { "<=" };
                    parts.push(format!("{name} {order} {}", self.polynomial(&bound)));
                }
                // factor >= uniform when expression = factor - uniform.
                let below = expression
                    .subtract(factor)
                    .and_then(|rest| self.uniform_value(side, &rest))
                    .and_then(|rest| rest.scale(-1)?.multiply(parameter));
                if let Some(bound) = below {
                    let order = if equality { "=" } else { ">=" };
                    parts.push(format!("{name} {order} {}", self.polynomial(&bound)));
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
                let parameter = written(&self.monomial_index, &a.parameter)?;
                let (ea, eb) = (&a.factor_text, &b.factor_text);
                let (qa, qb) = (&a.name, &b.name);
                ranked.push((
                    rank,
                    vec![
                        format!("{ea} = {eb} and {qa} = {qb}"),
                        format!("{ea} < {eb} and {qa} + {parameter} <= {qb}"),
                        format!("{ea} > {eb} and {qb} + {parameter} <= {qa}"),
                    ],
                ));
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
            let parameter = written(&self.monomial_index, &product.parameter)?;
            let (e, q) = (&product.factor_text, &product.name);
            let mut choice = vec![
                format!("{e} = 0 and {q} = 0"),
                format!("{e} >= 1 and {q} >= {parameter}"),
            ];
            if !self.is_non_negative(product.side, &product.factor) {
                choice.push(format!("{e} <= -1 and {q} + {parameter} <= 0"));
            }
            late.push(choice);
        }
        Some(late)
    }

    /// What is known about the parameters that occur: extents are positive, facts that mention
    /// nothing else hold.
    fn parameter_facts(&mut self, facts: &Facts) {
        let extents: HashSet<usize> = (0..self.monomials.len())
            .filter(|index| {
                self.monomials[*index]
                    .iter()
                    .all(|atom| self.is_extent(atom))
            })
            .collect();
        for index in &self.ordered(&extents) {
            self.base.push(format!("p{index} >= 1"));
        }
        for larger in 0..self.monomials.len() {
            for smaller in 0..self.monomials.len() {
                let quotient = divide(&self.monomials[larger], &self.monomials[smaller]);
                let grows = quotient.is_some_and(|rest| {
                    !rest.is_empty() && rest.iter().all(|atom| self.is_extent(atom))
                });
                if grows && extents.contains(&smaller) {
                    self.base.push(format!("p{larger} >= p{smaller}"));
                }
            }
        }
        let mut known = facts.holding.clone();
        for monomial in &self.monomials {
            if let [atom] = monomial.as_slice() {
                known.extend(atom_facts(atom));
            }
        }
        for fact in &known {
            if let Some(text) = written(&self.monomial_index, fact) {
                self.base.push(format!("{text} >= 0"));
            }
        }
    }

    fn ordered(&self, set: &HashSet<usize>) -> Vec<usize> {
        (0..self.monomials.len())
            .filter(|index| set.contains(index))
            .collect()
    }
}

/// Text of a polynomial all of whose monomials are parameters already.
pub(in crate::dependence) fn written(
    index: &HashMap<Monomial, usize>,
    polynomial: &Polynomial,
) -> Option<String> {
    let mut text = String::from("(");
    for (monomial, coefficient) in &polynomial.terms {
        if !monomial.is_empty() {
            let _ = write!(text, "{coefficient}*p{} + ", index.get(monomial)?);
        }
    }
    let constant = polynomial.terms.get(&Vec::new()).copied().unwrap_or(0);
    let _ = write!(text, "{constant})");
    Some(text)
}

/// `larger / smaller` where it divides.
pub(super) fn divide(larger: &Monomial, smaller: &Monomial) -> Option<Monomial> {
    let mut rest = larger.clone();
    for atom in smaller {
        let at = rest.iter().position(|candidate| candidate == atom)?;
        rest.remove(at);
    }
    Some(rest)
}

/// What the definition of a compound atom says about it, each at least zero.
fn atom_facts(atom: &Atom) -> Vec<Polynomial> {
    let value = Polynomial::atom(atom.clone());
    let facts = match atom {
        Atom::Minimum(a, b) => vec![a.subtract(&value), b.subtract(&value)],
        Atom::Maximum(a, b) => vec![value.subtract(a), value.subtract(b)],
        Atom::FloorDivide(a, b) => match b.as_constant() {
            Some(divisor) if divisor > 0 => {
                let multiple = value.scale(divisor);
                let rest = multiple.and_then(|multiple| a.subtract(&multiple));
                let slack = rest
                    .as_ref()
                    .and_then(|rest| Polynomial::constant(divisor - 1).subtract(rest));
                vec![rest, slack]
            }
            _ => Vec::new(),
        },
        Atom::Value(_) | Atom::Private(..) | Atom::SinkSide(_) => Vec::new(),
    };
    facts.into_iter().flatten().collect()
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
