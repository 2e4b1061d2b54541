//! Threads that stand for the elements of an array of two axes, whose extents need not be those of the launch: a
//! kernel that works on a matrix row by row and column by column, in blocks of whatever shape, beside one that counts
//! the same elements along a line, or in blocks of another shape (paper §3.4).
//!
//! Invariant: places are kept only where isl proves, for every pair of accesses of the edge, that no conflicting
//! pair has different elements, and that either side's places stand inside of the array, where elements
//! tell them apart.

use super::super::effect::Effect;
use super::super::mapped::{Coordinate, Terms, divided, expand, host_expression, linear_place};
use super::super::pair::PairOfTargets;
use super::super::polynomial::Polynomial;
use super::super::relation::{Agreement, Shape, Side, Solver};
use super::super::{Guard, Scope};
use crate::kernel::{Access, AccessKind, KernelModel};
use crate::launch::{LaunchGraph, NodeId, ValueId};
use crate::math::affine::{Axis, Constraint, Variable};
use crate::math::expression::{Condition, Expression};
use serde::{Deserialize, Serialize};

/// Where the places of two launches meet in an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayCoordinates {
    /// The axes of the source's launch that are the array's, the fastest first; empty where the source's threads are
    /// counted block after block, and thread n is element n.
    pub source: Vec<Axis>,
    /// The same of the sink.
    pub sink: Vec<Axis>,
    /// How many elements the array has along each axis, the fastest first. A thread of an array's axes is the element
    /// of its positions along these, through all blocks; beyond an extent it is none.
    pub extents: Vec<Expression<ValueId>>,
    /// What that relies on.
    pub conditions: Vec<Guard>,
}

/// A position along an axis that has to stay below an extent.
pub(in crate::dependence) struct Within {
    /// 0: the source's.
    pub(in crate::dependence) side: usize,
    pub(in crate::dependence) position: Coordinate,
    pub(in crate::dependence) extent: Polynomial,
}

/// How one side's threads stand for elements.
struct Form {
    axes: [Axis; 2],
    /// Bytes from one element to the next.
    element: i64,
    /// Bytes before the first element.
    begin: Polynomial,
    /// Elements of a row.
    width: Polynomial,
    /// Rows, where the access says how many it keeps to.
    height: Option<Polynomial>,
}

/// Most pairs of accesses for which places are sought.
const MOST_PAIRS: usize = 16;

/// The array in which all conflicting pairs of the accesses meet in one element each.
pub(in crate::dependence) fn array_coordinates(
    pair: &PairOfTargets,
    solver: &mut Solver,
    (left, right): (&[usize], &[usize]),
    widest: (&Access, &Access),
    identity: Scope,
) -> Option<ArrayCoordinates> {
    if identity == Scope::Thread || left.len() * right.len() > MOST_PAIRS {
        return None;
    }
    let sides = [
        Side {
            model: pair.source.model,
            access: widest.0,
            parameters: pair.source_parameters,
            shape: &pair.source.shape,
        },
        Side {
            model: pair.sink.model,
            access: widest.1,
            parameters: pair.sink_parameters,
            shape: pair.sink_shape,
        },
    ];
    let size = widest.0.size_bytes;
    if size == 0 || size != widest.1.size_bytes {
        return None;
    }
    let forms = sides.each_ref().map(form_of);
    let widths = forms.iter().flatten().map(|form| &form.width);
    let width = widths.clone().next()?.clone();
    if widths.into_iter().any(|other| *other != width) {
        return None;
    }
    let heights = forms.iter().flatten();
    let height = heights.clone().find_map(|form| form.height.clone());
    let height = match height {
        Some(height) => height,
        // All rows that the launch has.
        None => {
            let (form, side) = forms.iter().zip(&sides).find(|(form, _)| form.is_some())?;
            extent_along(side.shape, form.as_ref()?.axes[1])?
        }
    };
    let mut within = Vec::new();
    // Numbers of elements, in bytes, which are what an array's kernel writes but for where it begins.
    let element = forms.iter().flatten().map(|form| form.element);
    let element = element
        .clone()
        .next()
        .filter(|first| element.clone().all(|next| next == *first))?;
    let mut numbers = Vec::new();
    for (at, (form, side)) in forms.iter().zip(&sides).enumerate() {
        let Some(form) = form else {
            if !is_line(side.shape) {
                return None;
            }
            let mut place = linear_place(side.shape)?;
            for (coefficient, _) in &mut place.terms {
                *coefficient = coefficient.scale(element)?;
            }
            numbers.push(place);
            continue;
        };
        for (axis, extent) in form.axes.iter().zip([&width, &height]) {
            within.push(Within {
                side: at,
                position: Coordinate::of(position(side.shape, *axis)),
                extent: extent.clone(),
            });
        }
        numbers.push(Coordinate {
            written: Some((side.access.subscript.clone()?, form.begin.scale(-1)?)),
            ..Coordinate::of(Terms::new())
        });
    }
    let sink_number = numbers.pop()?;
    let source_number = numbers.pop()?;
    let access = |model: &KernelModel, index: usize| model.accesses[index].clone();
    for earlier in left {
        for later in right {
            let [earlier, later] = [
                access(pair.source.model, *earlier),
                access(pair.sink.model, *later),
            ];
            let [source, sink] = [
                Side {
                    access: &earlier,
                    ..sides[0]
                },
                Side {
                    access: &later,
                    ..sides[1]
                },
            ];
            let coordinates = (
                std::slice::from_ref(&source_number),
                std::slice::from_ref(&sink_number),
            );
            let claim = (coordinates, within.as_slice());
            if solver.agree_within(&source, &sink, pair.distance, pair.facts, claim)
                != Agreement::Agree
            {
                return None;
            }
        }
    }
    let axes = |form: &Option<Form>| form.as_ref().map_or_else(Vec::new, |form| form.axes.into());
    Some(ArrayCoordinates {
        source: axes(&forms[0]),
        sink: axes(&forms[1]),
        extents: vec![host_expression(&width)?, host_expression(&height)?],
        conditions: pair.conditions.to_vec(),
    })
}

/// The array that an access speaks of: elements that follow each other along one axis, and rows along another.
fn form_of(side: &Side) -> Option<Form> {
    let subscript = side.access.subscript.as_ref()?;
    let (terms, begin) = expand(side.model, subscript, side.parameters)?;
    let wide = |axis: &Axis| {
        let extents = [
            side.shape.grid[axis.index()].clone(),
            side.shape.block[axis.index()].clone(),
        ];
        extents.iter().any(|extent| extent.as_constant() != Some(1))
    };
    let wide: Vec<Axis> = Axis::ALL.into_iter().filter(wide).collect();
    let [one, other] = wide[..] else {
        return None;
    };
    let (one_step, other_step) = (
        step(&terms, side.shape, one)?,
        step(&terms, side.shape, other)?,
    );
    // Along the fast axis elements follow each other.
    let elements = |step: &Polynomial| step.as_constant().filter(|step| *step > 0);
    let (axes, element, row) = match (elements(&one_step), elements(&other_step)) {
        (Some(a), Some(b)) if a <= b => ([one, other], a, other_step),
        (_, Some(b)) => ([other, one], b, one_step),
        (Some(a), None) => ([one, other], a, other_step),
        (None, None) => return None,
    };
    let width = divided(&row, element)?;
    let domain = &side.access.domain;
    let mut heights = domain
        .iter()
        .map(|conjunction| bound(side, conjunction, axes[1]));
    let height = heights.next().flatten();
    let height = height.filter(|height| heights.all(|other| other.as_ref() == Some(height)));
    Some(Form {
        axes,
        element,
        begin,
        width,
        height,
    })
}

/// Bytes from one place to the next along an axis; `None` where blocks do not go on where their threads end.
fn step(terms: &Terms, shape: &Shape, axis: Axis) -> Option<Polynomial> {
    let of = |variable: Variable| {
        let mut terms = terms.iter();
        let found = terms.find(|(_, known)| *known == variable);
        found.map_or_else(Polynomial::default, |(coefficient, _)| coefficient.clone())
    };
    let (thread, block) = (of(Variable::Thread(axis)), of(Variable::Block(axis)));
    let (threads, blocks) = (&shape.block[axis.index()], &shape.grid[axis.index()]);
    if threads.as_constant() == Some(1) {
        return Some(block);
    }
    let goes_on = blocks.as_constant() == Some(1) || thread.multiply(threads)? == block;
    goes_on.then_some(thread)
}

/// What a conjunction keeps the position along an axis below.
fn bound(side: &Side, conjunction: &[Constraint], axis: Axis) -> Option<Polynomial> {
    bound_of(side, conjunction, &position(side.shape, axis))
}

/// The same of a position.
fn bound_of(side: &Side, conjunction: &[Constraint], wanted: &Terms) -> Option<Polynomial> {
    conjunction.iter().find_map(|constraint| {
        let Constraint::NonNegative(affine) = constraint else {
            return None;
        };
        let (terms, rest) = expand(side.model, affine, side.parameters)?;
        let negative = |(coefficient, variable): &(Polynomial, Variable)| {
            let own = (coefficient.scale(-1)?, variable.clone());
            Some(own)
        };
        let terms: Terms = terms.iter().map(negative).collect::<Option<_>>()?;
        let same = terms.len() == wanted.len() && wanted.iter().all(|term| terms.contains(term));
        same.then(|| rest.add(&Polynomial::constant(1))).flatten()
    })
}

/// The position along an axis, through all blocks.
fn position(shape: &Shape, axis: Axis) -> Terms {
    let (threads, blocks) = (&shape.block[axis.index()], &shape.grid[axis.index()]);
    let mut terms = Terms::new();
    if threads.as_constant() != Some(1) {
        terms.push((Polynomial::constant(1), Variable::Thread(axis)));
    }
    if blocks.as_constant() != Some(1) {
        terms.push((threads.clone(), Variable::Block(axis)));
    }
    terms
}

fn extent_along(shape: &Shape, axis: Axis) -> Option<Polynomial> {
    shape.block[axis.index()].multiply(&shape.grid[axis.index()])
}

/// Whether all threads stand along the x axis.
fn is_line(shape: &Shape) -> bool {
    let mut others = shape.grid[1..].iter().chain(&shape.block[1..]);
    others.all(|extent| extent.as_constant() == Some(1))
}

/// What must hold so that all that a launch writes is written by threads that stand for elements of an array, along
/// axes of its own or, for none, counted block after block; `None` where its kernel does not say so.
pub fn writes_within_array(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    node: NodeId,
    own: &[Axis],
    extents: &[Expression<ValueId>],
) -> Option<Vec<Guard>> {
    let Effect::Modelled(instance) = Effect::of(graph, kernels, node)? else {
        return None;
    };
    if instance.broken.is_some() {
        return None;
    }
    let shape = &instance.shape;
    let parameters = instance.parameters(graph, shape);
    let count = || {
        let mut extents = extents.iter().cloned();
        extents.try_fold(Expression::Constant(1), |all, extent| {
            Some(all.multiply(extent))
        })
    };
    // What positions there are, how many the launch has of them, and what they have to stay below.
    let mut positions: Vec<(Terms, Polynomial, Expression<ValueId>)> = Vec::new();
    match own {
        [] => {
            let threads = extent_along(shape, Axis::X).filter(|_| is_line(shape))?;
            positions.push((position(shape, Axis::X), threads, count()?));
        }
        axes => {
            for (axis, extent) in axes.iter().zip(extents) {
                let threads = extent_along(shape, *axis)?;
                positions.push((position(shape, *axis), threads, extent.clone()));
            }
        }
    }
    let mut guards = Vec::new();
    let writes = |access: &&Access| access.kind != AccessKind::Read;
    for access in instance.model.accesses.iter().filter(writes) {
        let side = Side {
            model: instance.model,
            access,
            parameters: &parameters,
            shape,
        };
        for conjunction in &access.domain {
            for (position, threads, extent) in &positions {
                let most = bound_of(&side, conjunction, position);
                let most = host_expression(&most.unwrap_or_else(|| threads.clone()))?;
                // Who counts elements counts all of them in most programs, and is the better known for it.
                let condition = match own {
                    [] if most.as_constant().is_none() => Condition::Equal(most, extent.clone()),
                    _ => Condition::LessEqual(most, extent.clone()),
                };
                match condition.decided() {
                    Some(true) => continue,
                    Some(false) => return None,
                    None => {}
                }
                let guard = Guard::Holds {
                    class: String::from("array"),
                    condition,
                };
                if !guards.contains(&guard) {
                    guards.push(guard);
                }
            }
        }
    }
    Some(guards)
}
