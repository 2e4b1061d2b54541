//! Scopes under a one-to-one map that is not the identity (paper §3.4): grids of another shape,
//! transposed blocks, another linearisation, several small blocks for a large one, runs of places for a
//! block that touches as much ([`runs`]).
//!
//! Source and sink are each mapped into common coordinates; a source's and a sink's place belong
//! together when all coordinates are equal. Candidates come from the shapes, from the subscripts and
//! from an example of the conflict.
//!
//! Invariant: a map is kept only where isl proves, for every pair of accesses of the edge, that no
//! conflicting pair of places differs in a coordinate, and where each side's places are told apart
//! by the coordinates for arithmetic reasons or under a named condition.

use super::super::pair::{PairOfTargets, mentions};
use super::super::polynomial::{Atom, Monomial, Polynomial};
use super::super::relation::{Agreement, Shape, Side, Solver};
use super::super::witness::Example;
use super::super::{Guard, Scope, runs};
use crate::kernel::{Access, KernelModel};
use crate::launch::ValueId;
use crate::math::affine::{Affine, Axis, Variable};
use crate::math::expression::{Condition, Expression};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the coordinates of a [`CoordinateMap`] are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CoordinateSymbol {
    /// `blockIdx` on an axis.
    Block(Axis),
    /// `threadIdx` on an axis.
    Thread(Axis),
    /// A host value.
    Value(ValueId),
}

/// Where the places of two launches meet: a source's and a sink's place belong together when all
/// coordinates are equal. Not every place has a partner on the other side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinateMap {
    /// The coordinates of a place of the source.
    pub source: Vec<Expression<CoordinateSymbol>>,
    /// The same coordinates of a place of the sink.
    pub sink: Vec<Expression<CoordinateSymbol>>,
    /// How many blocks of the source share the coordinates, at most; 0 where these are told by runs of
    /// threads that are not whole blocks.
    pub source_blocks: i64,
    /// The same of the sink. One of both is 1.
    pub sink_blocks: i64,
}

/// A scope that is smaller than the one under the identity, and the map that makes it so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedScope {
    /// Thread: the map is one-to-one on threads. Block: on blocks, or on groups of them, or on runs of
    /// threads.
    pub scope: Scope,
    /// The map.
    pub map: CoordinateMap,
    /// What the scope relies on.
    pub conditions: Vec<Guard>,
}

impl fmt::Display for CoordinateSymbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(axis) => write!(formatter, "blockIdx.{}", axis.name()),
            Self::Thread(axis) => write!(formatter, "threadIdx.{}", axis.name()),
            Self::Value(value) => write!(formatter, "v{}", value.0),
        }
    }
}

/// One coordinate of one side: `floor((Σ coefficient · axis + constant) / divisor)`, the divisor at least 1.
#[derive(Clone, Debug)]
pub(in crate::dependence) struct Coordinate {
    /// Axes are blocks and threads.
    pub(in crate::dependence) terms: Vec<(Polynomial, Variable)>,
    pub(in crate::dependence) constant: Polynomial,
    pub(in crate::dependence) divisor: Polynomial,
    /// The same in bytes, as the kernel writes it, and what is added.
    pub(in crate::dependence) written: Option<(Affine, Polynomial)>,
}

/// A map that may be right.
pub(in crate::dependence) struct Candidate {
    pub(in crate::dependence) scope: Scope,
    pub(in crate::dependence) source: Vec<Coordinate>,
    pub(in crate::dependence) sink: Vec<Coordinate>,
    pub(in crate::dependence) blocks: (i64, i64),
    pub(in crate::dependence) conditions: Vec<Guard>,
}

/// Most pairs of accesses for which maps are tried.
const MOST_PAIRS: usize = 64;
/// Most blocks that are put together.
const MOST_BLOCKS_TOGETHER: i64 = 1024;

/// The smallest scope under some map, where it is smaller than `identity`.
pub(in crate::dependence) fn mapped_scope(
    pair: &PairOfTargets,
    solver: &mut Solver,
    (left, right): (&[usize], &[usize]),
    widest: (&Access, &Access),
    identity: Scope,
    example: Option<&Example>,
) -> Option<MappedScope> {
    if identity == Scope::Thread || left.len() * right.len() > MOST_PAIRS {
        return None;
    }
    let accesses = |model: &'_ KernelModel, list: &[usize]| -> Option<Vec<Access>> {
        let list: Vec<_> = list
            .iter()
            .map(|index| model.accesses[*index].clone())
            .collect();
        list.iter()
            .all(|access| access.subscript.is_some())
            .then_some(list)
    };
    let lefts = accesses(pair.source.model, left)?;
    let rights = accesses(pair.sink.model, right)?;
    let mut conditions = pair.conditions.to_vec();
    let source_shape = flat(
        pair.source.model,
        &lefts,
        &pair.source.shape,
        &mut conditions,
    );
    let sink_shape = flat(pair.sink.model, &rights, pair.sink_shape, &mut conditions);
    let shapes = [&source_shape, &sink_shape];
    // Where both launches are compared as if they had one shape, the example is for that shape.
    let example = example.filter(|_| pair.assumed_parameters.is_none());
    let candidates = candidates(pair, shapes, widest, identity, example);
    for candidate in candidates {
        let refuted = example.is_some_and(|example| refutes(example, &candidate));
        if candidate.scope >= identity || refuted {
            continue;
        }
        let mut gave_up = false;
        let proven = lefts.iter().all(|earlier| {
            rights.iter().all(|later| {
                let source = Side {
                    model: pair.source.model,
                    access: earlier,
                    parameters: pair.source_parameters,
                    shape: &source_shape,
                };
                let sink = Side {
                    model: pair.sink.model,
                    access: later,
                    parameters: pair.sink_parameters,
                    shape: &sink_shape,
                };
                let coordinates = (candidate.source.as_slice(), candidate.sink.as_slice());
                let answer = solver.agree(&source, &sink, pair.distance, pair.facts, coordinates);
                gave_up |= answer == Agreement::GaveUp;
                answer == Agreement::Agree
            })
        });
        // What is too expensive of one map is of the others, too.
        if gave_up {
            return None;
        }
        if !proven {
            continue;
        }
        let expressions = |coordinates: &[Coordinate]| -> Option<Vec<_>> {
            coordinates.iter().map(Coordinate::expression).collect()
        };
        let (Some(source), Some(sink)) =
            (expressions(&candidate.source), expressions(&candidate.sink))
        else {
            continue;
        };
        conditions.extend(candidate.conditions);
        return Some(MappedScope {
            scope: candidate.scope,
            map: CoordinateMap {
                source,
                sink,
                source_blocks: candidate.blocks.0,
                sink_blocks: candidate.blocks.1,
            },
            conditions,
        });
    }
    None
}

/// The shape with extent 1 on the axes y and z of unknown extent that no access mentions, each for
/// a condition.
fn flat(
    model: &KernelModel,
    accesses: &[Access],
    shape: &Shape,
    conditions: &mut Vec<Guard>,
) -> Shape {
    let mut flat = shape.clone();
    for axis in [Axis::Y, Axis::Z] {
        for (extents, variable) in [
            (&mut flat.grid, Variable::Block(axis)),
            (&mut flat.block, Variable::Thread(axis)),
        ] {
            let extent = &mut extents[axis.index()];
            let unused = accesses
                .iter()
                .all(|access| !mentions(model, access, &variable));
            if extent.as_constant().is_none()
                && unused
                && let Some(value) = host_expression(extent)
            {
                push_condition(conditions, Condition::Equal(value, Expression::Constant(1)));
                *extent = Polynomial::constant(1);
            }
        }
    }
    flat
}

pub(in crate::dependence) fn push_condition(
    conditions: &mut Vec<Guard>,
    condition: Condition<ValueId>,
) {
    let guard = Guard::Holds {
        class: String::from("map"),
        condition,
    };
    if !conditions.contains(&guard) {
        conditions.push(guard);
    }
}

/// Candidates, thread scope first.
fn candidates(
    pair: &PairOfTargets,
    shapes: [&Shape; 2],
    widest: (&Access, &Access),
    identity: Scope,
    example: Option<&Example>,
) -> Vec<Candidate> {
    let [source, sink] = shapes;
    let mut found = Vec::new();
    let mut add = |scope, coordinates: Option<(Vec<Coordinate>, Vec<Coordinate>)>, blocks| {
        if let Some((source, sink)) = coordinates {
            found.push(Candidate {
                scope,
                source,
                sink,
                blocks,
                conditions: Vec::new(),
            });
        }
    };
    let same = |linear: fn(&Shape) -> Option<Coordinate>| {
        Some((vec![linear(source)?], vec![linear(sink)?]))
    };
    add(Scope::Thread, same(linear_place), (1, 1));
    let two_dimensional = shapes.iter().any(|shape| {
        [&shape.grid, &shape.block]
            .iter()
            .any(|extents| extents[1].as_constant() != Some(1))
    });
    if two_dimensional {
        for (blocks, threads) in [(true, false), (false, true), (true, true)] {
            let mut coordinates = axes(Variable::Block, blocks);
            let more = axes(Variable::Thread, threads);
            coordinates.0.extend(more.0);
            coordinates.1.extend(more.1);
            add(Scope::Thread, Some(coordinates), (1, 1));
        }
    }
    let offset = example.and_then(|example| shifted(example, identity));
    if let Some((source, sink)) = &offset {
        let mut threads = axes(Variable::Thread, false);
        let mut source = source.clone();
        let mut sink = sink.clone();
        source.append(&mut threads.0);
        sink.append(&mut threads.1);
        add(Scope::Thread, Some((source, sink)), (1, 1));
    }
    add(Scope::Block, same(linear_block), (1, 1));
    if two_dimensional {
        add(Scope::Block, Some(axes(Variable::Block, true)), (1, 1));
    }
    add(Scope::Block, offset, (1, 1));
    let reversed = || {
        let last = source.grid[0].subtract(&Polynomial::constant(1))?;
        let (mut left, right) = axes(Variable::Block, false);
        left[0].terms[0].0 = Polynomial::constant(-1);
        left[0].constant = last;
        Some((left, right))
    };
    add(Scope::Block, reversed(), (1, 1));
    for (few, many) in ratios(pair, shapes, widest) {
        let together = || {
            let mut coordinates = (linear_block(source)?, linear_block(sink)?);
            coordinates.0.divisor = Polynomial::constant(few);
            coordinates.1.divisor = Polynomial::constant(many);
            Some((vec![coordinates.0], vec![coordinates.1]))
        };
        add(Scope::Block, together(), (few, many));
    }
    found.extend(runs::candidates(pair, shapes, widest));
    let by_element = by_element(pair, shapes, widest);
    let at = found
        .iter()
        .position(|candidate| candidate.scope == Scope::Block)
        .unwrap_or(found.len());
    found.splice(at..at, by_element);
    found
}

/// The three axes of blocks or threads, on the sink's side with x and y exchanged.
fn axes(variable: fn(Axis) -> Variable, exchanged: bool) -> (Vec<Coordinate>, Vec<Coordinate>) {
    let sink = match exchanged {
        true => [Axis::Y, Axis::X, Axis::Z],
        false => Axis::ALL,
    };
    let list = |axes: [Axis; 3]| {
        axes.iter()
            .map(|axis| Coordinate::of(vec![(Polynomial::constant(1), variable(*axis))]))
            .collect()
    };
    (list(Axis::ALL), list(sink))
}

/// Number of a block in its grid.
pub(in crate::dependence) fn linear_block(shape: &Shape) -> Option<Coordinate> {
    let (terms, _) = linear(&shape.grid, Variable::Block, Polynomial::constant(1))?;
    Some(Coordinate::of(terms))
}

/// Number of a thread in the whole grid, block after block.
pub(in crate::dependence) fn linear_place(shape: &Shape) -> Option<Coordinate> {
    let one = Polynomial::constant(1);
    let (mut terms, threads) = linear(&shape.block, Variable::Thread, one)?;
    terms.extend(linear(&shape.grid, Variable::Block, threads)?.0);
    Some(Coordinate::of(terms))
}

pub(in crate::dependence) type Terms = Vec<(Polynomial, Variable)>;

/// Mixed-radix digits from `unit` on, and what the next digit counts for.
fn linear(
    extents: &[Polynomial; 3],
    variable: fn(Axis) -> Variable,
    unit: Polynomial,
) -> Option<(Terms, Polynomial)> {
    let mut terms = Vec::new();
    let mut unit = unit;
    for axis in Axis::ALL {
        let extent = &extents[axis.index()];
        if extent.as_constant() != Some(1) {
            terms.push((unit.clone(), variable(axis)));
            unit = unit.multiply(extent)?;
        }
    }
    Some((terms, unit))
}

/// Blocks at the constant distance that an example shows.
fn shifted(example: &Example, identity: Scope) -> Option<(Vec<Coordinate>, Vec<Coordinate>)> {
    if identity != Scope::Global {
        return None;
    }
    let (mut source, sink) = axes(Variable::Block, false);
    for axis in Axis::ALL {
        let at = axis.index();
        let distance = example.sample.sink[at] - example.sample.source[at];
        source[at].constant = Polynomial::constant(distance);
    }
    Some((source, sink))
}

/// How many blocks of source and sink may belong together: by threads a block, by elements a block,
/// by the size of the grids.
fn ratios(
    pair: &PairOfTargets,
    shapes: [&Shape; 2],
    (earlier, later): (&Access, &Access),
) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    let mut add = |source: Option<i64>, sink: Option<i64>| {
        let (Some(source), Some(sink)) = (source, sink) else {
            return;
        };
        if source <= 0 || sink <= 0 {
            return;
        }
        let ratio = match (sink % source, source % sink) {
            (0, _) => (sink / source, 1),
            (_, 0) => (1, source / sink),
            _ => return,
        };
        let many = ratio.0.max(ratio.1);
        if (2..=MOST_BLOCKS_TOGETHER).contains(&many) && !found.contains(&ratio) {
            found.push(ratio);
        }
    };
    let product = |extents: &[Polynomial; 3]| -> Option<i64> {
        extents
            .iter()
            .try_fold(1i64, |all, extent| all.checked_mul(extent.as_constant()?))
    };
    let [source, sink] = shapes;
    add(product(&source.block), product(&sink.block));
    add(product(&sink.grid), product(&source.grid));
    let step = |model, access: &Access, parameters| {
        let (terms, _) = expand(model, access.subscript.as_ref()?, parameters)?;
        let (coefficient, _) = terms
            .iter()
            .find(|(_, variable)| *variable == Variable::Block(Axis::X))?;
        coefficient.as_constant()
    };
    add(
        step(pair.source.model, earlier, pair.source_parameters),
        step(pair.sink.model, later, pair.sink_parameters),
    );
    found
}

/// Places that touch one element, where each element has at most one on either side.
fn by_element(
    pair: &PairOfTargets,
    shapes: [&Shape; 2],
    (earlier, later): (&Access, &Access),
) -> Option<Candidate> {
    let size = i64::from(earlier.size_bytes);
    if size == 0 || earlier.size_bytes != later.size_bytes {
        return None;
    }
    let mut conditions = Vec::new();
    let mut side = |model, access: &Access, parameters, shape, distance: &Polynomial| {
        let subscript = access.subscript.as_ref()?;
        let (terms, constant) = expand(model, subscript, parameters)?;
        let constant = divided(&constant.add(distance)?, size)?;
        let terms: Terms = terms
            .into_iter()
            .map(|(coefficient, variable)| Some((divided(&coefficient, size)?, variable)))
            .collect::<Option<_>>()?;
        distinguishes(&terms, shape, &mut conditions)?;
        Some(Coordinate {
            written: Some((subscript.clone(), distance.clone())),
            constant,
            ..Coordinate::of(terms)
        })
    };
    let source = side(
        pair.source.model,
        earlier,
        pair.source_parameters,
        shapes[0],
        pair.distance,
    )?;
    let sink = side(
        pair.sink.model,
        later,
        pair.sink_parameters,
        shapes[1],
        &Polynomial::default(),
    )?;
    Some(Candidate {
        scope: Scope::Thread,
        source: vec![source],
        sink: vec![sink],
        blocks: (1, 1),
        conditions,
    })
}

/// A subscript over blocks and threads alone, products multiplied out, and its constant part.
pub(in crate::dependence) fn expand(
    model: &KernelModel,
    affine: &Affine,
    parameters: &[Polynomial],
) -> Option<(Terms, Polynomial)> {
    let mut terms: Terms = Vec::new();
    let mut constant = Polynomial::constant(affine.constant);
    for (coefficient, variable) in &affine.terms {
        let coefficient = Polynomial::constant(*coefficient);
        let (inner, rest) = match variable {
            Variable::Block(_) | Variable::Thread(_) => (
                vec![(Polynomial::constant(1), variable.clone())],
                Polynomial::default(),
            ),
            Variable::Parameter(index) => (Vec::new(), parameters.get(*index)?.clone()),
            Variable::Product(index) => {
                let product = model.products.get(*index)?;
                let parameter = parameters.get(product.parameter)?;
                let (inner, rest) = expand(model, &product.factor, parameters)?;
                let inner = inner
                    .into_iter()
                    .map(|(inner, variable)| Some((inner.multiply(parameter)?, variable)))
                    .collect::<Option<_>>()?;
                (inner, rest.multiply(parameter)?)
            }
            Variable::Loop(_) | Variable::Floor(..) => return None,
        };
        constant = constant.add(&rest.multiply(&coefficient)?)?;
        for (inner, variable) in inner {
            let inner = inner.multiply(&coefficient)?;
            match terms.iter_mut().find(|(_, known)| *known == variable) {
                Some((sum, _)) => *sum = sum.add(&inner)?,
                None => terms.push((inner, variable)),
            }
        }
    }
    Some((terms, constant))
}

/// A polynomial by a number that divides it.
pub(in crate::dependence) fn divided(polynomial: &Polynomial, divisor: i64) -> Option<Polynomial> {
    let mut quotient = Polynomial::default();
    for (monomial, coefficient) in &polynomial.terms {
        if coefficient % divisor != 0 {
            return None;
        }
        quotient
            .terms
            .insert(monomial.clone(), coefficient / divisor);
    }
    Some(quotient)
}

/// Whether a sum differs between any two places of a shape: each coefficient is at least the one
/// before times the extent of its axis. What cannot be decided becomes a condition.
fn distinguishes(terms: &Terms, shape: &Shape, conditions: &mut Vec<Guard>) -> Option<()> {
    let mut digits = Vec::new();
    for (coefficient, variable) in terms {
        let extent = match variable {
            Variable::Block(axis) => &shape.grid[axis.index()],
            Variable::Thread(axis) => &shape.block[axis.index()],
            _ => return None,
        };
        if extent.as_constant() == Some(1) {
            continue;
        }
        let negative = coefficient.terms.values().all(|value| *value < 0);
        let size = match negative {
            true => coefficient.scale(-1)?,
            false => coefficient.clone(),
        };
        digits.push((size, extent.clone(), variable.clone()));
    }
    for axis in Axis::ALL {
        for (extent, variable) in [
            (&shape.grid[axis.index()], Variable::Block(axis)),
            (&shape.block[axis.index()], Variable::Thread(axis)),
        ] {
            let counted = digits.iter().any(|(_, _, known)| *known == variable);
            if extent.as_constant() != Some(1) && !counted {
                return None;
            }
        }
    }
    let rank = |size: &Polynomial| {
        let degree = size.terms.keys().map(Monomial::len).max().unwrap_or(0);
        (degree, size.terms.values().copied().max().unwrap_or(0))
    };
    digits.sort_by_key(|(size, ..)| rank(size));
    let mut least = Polynomial::constant(1);
    for (size, extent, _) in &digits {
        let slack = size.subtract(&least)?;
        match slack.as_constant() {
            Some(slack) if slack >= 0 => {}
            Some(_) => return None,
            None => push_condition(
                conditions,
                Condition::LessEqual(host_expression(&least)?, host_expression(size)?),
            ),
        }
        least = size.multiply(extent)?;
    }
    Some(())
}

/// Whether an example of the conflict has different coordinates on its two sides.
fn refutes(example: &Example, candidate: &Candidate) -> bool {
    let value = |coordinate: &Coordinate, place: &[i64; 6]| -> Option<i64> {
        let mut sum = example.assignment.evaluate(&coordinate.constant)?;
        for (coefficient, variable) in &coordinate.terms {
            let at = match variable {
                Variable::Block(axis) => place[axis.index()],
                Variable::Thread(axis) => place[3 + axis.index()],
                _ => return None,
            };
            let coefficient = example.assignment.evaluate(coefficient)?;
            sum = sum.checked_add(coefficient.checked_mul(at)?)?;
        }
        let divisor = example.assignment.evaluate(&coordinate.divisor)?;
        (divisor > 0).then(|| sum.div_euclid(divisor))
    };
    candidate
        .source
        .iter()
        .zip(&candidate.sink)
        .any(|(source, sink)| {
            let source = value(source, &example.sample.source);
            let sink = value(sink, &example.sample.sink);
            source
                .zip(sink)
                .is_some_and(|(source, sink)| source != sink)
        })
}

impl Coordinate {
    pub(in crate::dependence) fn of(terms: Terms) -> Self {
        Self {
            terms,
            constant: Polynomial::default(),
            divisor: Polynomial::constant(1),
            written: None,
        }
    }

    /// As it is kept on the edge; `None` when a value has no name that a launch knows.
    fn expression(&self) -> Option<Expression<CoordinateSymbol>> {
        let mut sum = Expression::Constant(0);
        for (coefficient, variable) in &self.terms {
            let symbol = match variable {
                Variable::Block(axis) => CoordinateSymbol::Block(*axis),
                Variable::Thread(axis) => CoordinateSymbol::Thread(*axis),
                _ => return None,
            };
            let term = place_expression(coefficient)?.multiply(Expression::Leaf(symbol));
            sum = sum.add(term);
        }
        sum = sum.add(place_expression(&self.constant)?);
        Some(sum.floor_divide(place_expression(&self.divisor)?))
    }
}

fn place_expression(polynomial: &Polynomial) -> Option<Expression<CoordinateSymbol>> {
    host_expression(polynomial)?
        .substitute(&mut |value| Some(Expression::Leaf(CoordinateSymbol::Value(*value))))
}

/// A polynomial over host values as an expression; `None` where it mentions anything else.
pub(in crate::dependence) fn host_expression(
    polynomial: &Polynomial,
) -> Option<Expression<ValueId>> {
    let mut sum = Expression::Constant(0);
    for (monomial, coefficient) in &polynomial.terms {
        let mut term = Expression::Constant(*coefficient);
        for atom in monomial {
            let factor = match atom {
                Atom::Value(value) => Expression::Leaf(*value),
                Atom::FloorDivide(a, b) => host_expression(a)?.floor_divide(host_expression(b)?),
                _ => return None,
            };
            term = term.multiply(factor);
        }
        sum = sum.add(term);
    }
    Some(sum)
}
