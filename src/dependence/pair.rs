//! One target of one launch against one target of another: each pair of accesses decided, with the
//! shapes as they are and, where only a run can tell, as if they were equal.

use super::instance::{Instance, TargetUse};
use super::polynomial::{Atom, Polynomial};
use super::relation::{Conflict, Facts, Shape, Side, Solver};
use super::witness::Example;
use super::{Guard, PointerRange, Scope, witness};
use crate::kernel::{Access, KernelModel};
use crate::launch::ValueId;
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::{Condition, Expression};

/// Two targets of two launches.
#[derive(Clone, Copy)]
pub(super) struct PairOfTargets<'a> {
    pub(super) source: &'a Instance<'a>,
    pub(super) sink: &'a Instance<'a>,
    pub(super) distance: &'a Polynomial,
    pub(super) facts: &'a Facts,
    pub(super) source_parameters: &'a [Polynomial],
    pub(super) sink_parameters: &'a [Polynomial],
    pub(super) sink_shape: &'a Shape,
    /// The source's values where sizes are taken to be multiples of others.
    pub(super) assumed_source: Option<&'a [Polynomial]>,
    /// The sink's values and shape where extents are taken to be equal that only a run can tell.
    pub(super) assumed_parameters: Option<&'a [Polynomial]>,
    pub(super) assumed_shape: &'a Shape,
    pub(super) equality: &'a ShapeEquality,
    /// What all that is found out relies on.
    pub(super) conditions: &'a [Guard],
    /// The two may run as one.
    pub(super) one_iteration: bool,
}

pub(super) struct Verdict {
    pub(super) conflict: Conflict,
    /// Extents that were taken to be 1.
    pub(super) assumed: Vec<Guard>,
    /// No conflict, but only because the shapes were taken to be equal.
    pub(super) absence_needs_shape: bool,
}

impl PairOfTargets<'_> {
    pub(super) fn decide(&self, solver: &mut Solver, accesses: (&Access, &Access)) -> Verdict {
        let verdict = |conflict| Verdict {
            conflict,
            assumed: Vec::new(),
            absence_needs_shape: false,
        };
        let real = self.solve(
            solver,
            accesses,
            (self.source_parameters, &self.source.shape),
            (self.sink_parameters, self.sink_shape),
        );
        if real.scope.is_none() {
            return verdict(real);
        }
        let (conflict, sink_shape, sink_parameters) = match self.assumed_parameters {
            None => (real, self.sink_shape, self.sink_parameters),
            Some(parameters) => {
                let assumed = self.solve(
                    solver,
                    accesses,
                    (self.compared_source(), &self.source.shape),
                    (parameters, self.assumed_shape),
                );
                if assumed.scope.is_none() {
                    return Verdict {
                        absence_needs_shape: true,
                        ..verdict(assumed)
                    };
                }
                (assumed, self.assumed_shape, parameters)
            }
        };
        let flat = self.flatten(accesses);
        if conflict.scope == Some(Scope::Thread)
            || flat.is_empty()
            || matches!(self.equality, ShapeEquality::Never)
        {
            return verdict(conflict);
        }
        // Axes that neither access uses, of unknown extent: with extent 1 the pair may be narrower.
        let (mut source_shape, mut flat_sink_shape) =
            (self.source.shape.clone(), sink_shape.clone());
        for (of_grid, axis) in &flat {
            for shape in [&mut source_shape, &mut flat_sink_shape] {
                let extents = if *of_grid {
                    &mut shape.grid
                } else {
                    &mut shape.block
                };
                extents[axis.index()] = Polynomial::constant(1);
            }
        }
        let narrower = self.solve(
            solver,
            accesses,
            (self.compared_source(), &source_shape),
            (sink_parameters, &flat_sink_shape),
        );
        if narrower.scope >= conflict.scope {
            return verdict(conflict);
        }
        let launch = self.source.launch;
        let assumed = flat
            .iter()
            .map(|(of_grid, axis)| {
                let values = if *of_grid {
                    &launch.grid
                } else {
                    &launch.block
                };
                Guard::Holds {
                    class: String::from("shape"),
                    condition: Condition::Equal(
                        Expression::Leaf(values[axis.index()]),
                        Expression::Constant(1),
                    ),
                }
            })
            .collect();
        Verdict {
            assumed,
            ..verdict(narrower)
        }
    }

    /// A pair of threads that conflict and are as far apart as `scope` says. Between iterations, where no
    /// map is sought by it, only for whoever reads relations.
    pub(super) fn example(
        &self,
        solver: &mut Solver,
        accesses: (&Access, &Access),
        scope: Scope,
    ) -> Option<Example> {
        if scope == Scope::Thread {
            return None;
        }
        let samples = match self.one_iteration {
            true => &mut solver.samples,
            false => &mut solver.writer()?.samples,
        };
        let (sink_parameters, sink_shape) = self.compared_sink();
        let source = Side {
            model: self.source.model,
            access: accesses.0,
            parameters: self.compared_source(),
            shape: &self.source.shape,
        };
        let sink = Side {
            model: self.sink.model,
            access: accesses.1,
            parameters: sink_parameters,
            shape: sink_shape,
        };
        witness::sample(&source, &sink, self.distance, self.facts, scope, samples)
    }

    /// The source's values, those for sizes that only a run can tell.
    fn compared_source(&self) -> &[Polynomial] {
        let assumed = self
            .assumed_source
            .filter(|_| self.assumed_parameters.is_some());
        assumed.unwrap_or(self.source_parameters)
    }

    /// The sink's values and shape, those for equal shapes where only a run can tell.
    pub(super) fn compared_sink(&self) -> (&[Polynomial], &Shape) {
        match self.assumed_parameters {
            Some(parameters) => (parameters, self.assumed_shape),
            None => (self.sink_parameters, self.sink_shape),
        }
    }

    /// Axes y and z of one unknown extent that neither access mentions; the first part is true for
    /// the grid's.
    fn flatten(&self, accesses: (&Access, &Access)) -> Vec<(bool, Axis)> {
        let mut flat = Vec::new();
        let (_, sink) = self.compared_sink();
        for axis in [Axis::Y, Axis::Z] {
            for (of_grid, extents, others, variable) in [
                (
                    true,
                    &self.source.shape.grid,
                    &sink.grid,
                    Variable::Block(axis),
                ),
                (
                    false,
                    &self.source.shape.block,
                    &sink.block,
                    Variable::Thread(axis),
                ),
            ] {
                if extents[axis.index()].as_constant().is_none()
                    && extents[axis.index()] == others[axis.index()]
                    && !mentions(self.source.model, accesses.0, &variable)
                    && !mentions(self.sink.model, accesses.1, &variable)
                {
                    flat.push((of_grid, axis));
                }
            }
        }
        flat
    }

    fn solve(
        &self,
        solver: &mut Solver,
        accesses: (&Access, &Access),
        source: (&[Polynomial], &Shape),
        sink: (&[Polynomial], &Shape),
    ) -> Conflict {
        let source = Side {
            model: self.source.model,
            access: accesses.0,
            parameters: source.0,
            shape: source.1,
        };
        let sink = Side {
            model: self.sink.model,
            access: accesses.1,
            parameters: sink.0,
            shape: sink.1,
        };
        solver.conflict(&source, &sink, Some(self.distance), self.facts)
    }
}

/// Whether two launches have the same extents.
pub(super) enum ShapeEquality {
    Always,
    /// When these hold.
    If(Vec<Guard>),
    Never,
}

pub(super) fn shape_equality(source: &Instance, sink_shape: &Shape) -> ShapeEquality {
    let (own, other) = (&source.shape, sink_shape);
    let grids = own.grid.iter().zip(&other.grid);
    equality(grids.chain(own.block.iter().zip(&other.block)))
}

/// Whether two launches have the same block; their grids may be different.
pub(super) fn block_equality(source: &Instance, sink_shape: &Shape) -> ShapeEquality {
    equality(source.shape.block.iter().zip(&sink_shape.block))
}

fn equality<'p>(extents: impl Iterator<Item = (&'p Polynomial, &'p Polynomial)>) -> ShapeEquality {
    let mut guards = Vec::new();
    for (a, b) in extents {
        if a == b {
            continue;
        }
        let (Some(left), Some(right)) = (extent_expression(a), extent_expression(b)) else {
            return ShapeEquality::Never;
        };
        let condition = Condition::Equal(left, right);
        if condition.decided() == Some(false) {
            return ShapeEquality::Never;
        }
        guards.push(Guard::Holds {
            class: String::from("shape"),
            condition,
        });
    }
    if guards.is_empty() {
        ShapeEquality::Always
    } else {
        ShapeEquality::If(guards)
    }
}

/// An extent as a guard would write it; `None` for values that a guard cannot name.
pub(super) fn extent_expression(extent: &Polynomial) -> Option<Expression<ValueId>> {
    if let Some(value) = extent.as_constant() {
        return Some(Expression::Constant(value));
    }
    let (monomial, _) = extent.terms.first_key_value()?;
    match monomial.as_slice() {
        [Atom::Value(value)] => Some(Expression::Leaf(*value)),
        _ => None,
    }
}

pub(super) fn shape_on_sink_side(shape: &Shape, unstable: &impl Fn(ValueId) -> bool) -> Shape {
    let rename =
        |extents: &[Polynomial; 3]| [0, 1, 2].map(|axis| extents[axis].on_sink_side(unstable));
    Shape {
        grid: rename(&shape.grid),
        block: rename(&shape.block),
    }
}

/// The guard that the bytes of two uses do not overlap, where both are bounded.
pub(super) fn disjoint_guard(
    source: &Instance,
    sink: &Instance,
    from: &TargetUse,
    to: &TargetUse,
) -> Option<Guard> {
    let range = |instance: &Instance, used: &TargetUse| {
        let (low_bytes, high_bytes) = used.footprint.clone()?;
        Some(PointerRange {
            launch: instance.launch.id,
            operand: used.place.operand?,
            low_bytes,
            high_bytes,
        })
    };
    Some(Guard::RangesDisjoint {
        left: range(source, from)?,
        right: range(sink, to)?,
    })
}

/// Whether an access depends on a block or thread axis.
pub(super) fn mentions(model: &KernelModel, access: &Access, variable: &Variable) -> bool {
    fn affine(model: &KernelModel, expression: &Affine, wanted: &Variable) -> bool {
        expression.terms.iter().any(|(_, variable)| match variable {
            Variable::Floor(numerator, _) => affine(model, numerator, wanted),
            Variable::Product(index) => model
                .products
                .get(*index)
                .is_some_and(|product| affine(model, &product.factor, wanted)),
            other => other == wanted,
        })
    }
    access
        .subscript
        .as_ref()
        .is_some_and(|subscript| affine(model, subscript, variable))
        || access.domain.iter().flatten().any(|constraint| {
            let (Constraint::NonNegative(expression) | Constraint::Zero(expression)) = constraint;
            affine(model, expression, variable)
        })
}
