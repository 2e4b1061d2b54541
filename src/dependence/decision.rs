//! All accesses of one target against all of another -> what their edge says, names left out.
//!
//! Invariant: a decision depends on what [`super::edges`] calls the form of the two uses, on their
//! distance and on which runs are compared, and on nothing else, so that launches of different
//! kernels share it.

use super::arrays::{ArrayCoordinates, array_coordinates};
use super::kinds::pairs_of;
use super::mapped::{MappedScope, mapped_scope};
use super::matrix_tiles::{Tiling, tiling};
use super::pair::{PairOfTargets, ShapeEquality};
use super::relation::{Shape, Solver};
use super::union::{Union, universal_relation};
use super::witness::Example;
use super::{DependenceKind, Guard, Scope};
use crate::diagnostics::RejectionReason;
use crate::kernel::Access;
use std::sync::Arc;

/// Most pairs of accesses that one pair of targets is decided by.
const MOST_ACCESS_PAIRS: usize = 900;
/// After this many pairs a global scope ends the search, also one that is not proven.
const ENOUGH_ACCESS_PAIRS: usize = 64;
/// Most that is spent on one pair of targets, as [`Solver::spent`] counts it; a few seconds of a build
/// for debugging.
const MOST_SPENT: u64 = 250_000_000;
/// What a whole program may spend after which its decisions get little more each.
const MUCH_SPENT: u64 = 1_000_000_000;
/// What a decision may always take; ten ordinary problems.
const LEAST_SPENT: u64 = 15_000_000;

/// What is known of a pair of targets for one kind of conflict.
pub(super) enum Decision {
    /// More pairs of accesses than are compared, or ones that take too much work.
    TooMany,
    /// No two accesses meet while all of these hold.
    DisjointIf(Vec<Guard>),
    /// Some may.
    Meet(Box<Meeting>),
}

/// How the accesses of two targets meet.
pub(super) struct Meeting {
    pub(super) scope: Scope,
    pub(super) relation: Arc<str>,
    pub(super) exact: bool,
    /// What was compared up to a proof of the scope are exactly the conflicting pairs.
    pub(super) certain: bool,
    /// Some value that the relation depends on may differ between the runs of source and sink.
    pub(super) values_differ: bool,
    /// Not all accesses were compared, which would have taken too long: the scope or the relation may
    /// be wider for that.
    pub(super) gave_up: bool,
    /// What the scope relies on.
    pub(super) conditions: Vec<Guard>,
    /// No two accesses meet while all of these hold; empty where some do.
    pub(super) absent_if: Vec<Guard>,
    /// For a global scope, the class of the reason.
    pub(super) reason: RejectionReason,
    /// Positions of the two accesses that are furthest apart.
    pub(super) widest: [usize; 2],
    /// Disjoint ranges would make a difference.
    pub(super) absent_when_disjoint: bool,
    /// Two threads that those accesses meet in.
    pub(super) example: Option<Example>,
    /// The sink's shape in the example.
    pub(super) sink_shape: Shape,
    pub(super) mapped: Option<MappedScope>,
    pub(super) array: Option<ArrayCoordinates>,
    pub(super) tiling: Option<Tiling>,
}

/// The verdict over the pairs of accesses so far.
struct Merged<'a> {
    scope: Scope,
    union: Union,
    exact: bool,
    certain: bool,
    values_differ: bool,
    /// For some pair isl gave up.
    gave_up: bool,
    widest: (&'a Access, &'a Access),
    assumed: Vec<Guard>,
    /// False while no pair conflicts.
    any: bool,
    /// Some pair is known to cross blocks, rather than not known to stay in one.
    proven_global: bool,
    absence_needs_shape: bool,
}

impl PairOfTargets<'_> {
    /// The decision for this pair, or for the same one with facts that further conditions bring,
    /// where that is better.
    pub(super) fn decide_within(
        &self,
        bounded: Option<&Self>,
        solver: &mut Solver,
        kind: DependenceKind,
        sides: (&[usize], &[usize]),
    ) -> Option<Decision> {
        let plain = self.decide_all(solver, kind, sides)?;
        let Some(bounded) = bounded else {
            return Some(plain);
        };
        let mut plain = match plain {
            Decision::Meet(plain) => plain,
            other => return Some(other),
        };
        let better = bounded.decide_all(solver, kind, sides);
        Some(Decision::Meet(match better {
            Some(Decision::Meet(better)) if better.scope < plain.scope => better,
            // Where nothing meets, fused launches still gain from being one.
            Some(Decision::DisjointIf(guards)) => {
                plain.absent_if = guards;
                plain
            }
            _ => plain,
        }))
    }

    /// Decides all pairs of one kind of the accesses `left` of the source's model and `right` of the
    /// sink's; `None` where no two of them meet whatever holds.
    pub(super) fn decide_all(
        &self,
        solver: &mut Solver,
        kind: DependenceKind,
        (left, right): (&[usize], &[usize]),
    ) -> Option<Decision> {
        let mut pairs = pairs_of(kind, (self.source, left), (self.sink, right));
        let first = pairs.next()?;
        if left.len() * right.len() > MOST_ACCESS_PAIRS {
            return Some(Decision::TooMany);
        }
        let Some(mut merged) = self.merge(solver, first, pairs) else {
            return Some(Decision::TooMany);
        };
        let mut relied_on = self.conditions.to_vec();
        if !merged.any {
            if merged.absence_needs_shape
                && let ShapeEquality::If(conditions) = self.equality
            {
                relied_on.extend(conditions.iter().cloned());
            }
            return (!relied_on.is_empty()).then_some(Decision::DisjointIf(relied_on));
        }
        let (mut relation, united) = solver.unite(merged.union, merged.scope);
        merged.exact &= united;
        let mut absent_when_disjoint = false;
        if merged.scope == Scope::Global {
            absent_when_disjoint = true;
            // The scope relies on nothing now, the relation on what makes the models true. Pairs that
            // were found for equal shapes are not all, since nothing promises these.
            if matches!(self.equality, ShapeEquality::If(_)) {
                relied_on.clear();
                relation = universal_relation(Scope::Global);
                merged.exact = false;
                merged.certain = false;
            }
        } else {
            relied_on.extend(merged.assumed);
            if let ShapeEquality::If(conditions) = self.equality {
                relied_on.extend(conditions.iter().cloned());
            }
        }
        let reason = match self.equality {
            ShapeEquality::Never => RejectionReason::Shape,
            _ if merged.proven_global => RejectionReason::GlobalDependence,
            _ => RejectionReason::UnprovenIndex,
        };
        let widest = merged.widest;
        let example = self.example(solver, widest, merged.scope);
        // Where no order is needed, no map is; two iterations do not run as one. What is too expensive of the
        // places as they are is of mapped ones, too.
        let sought = kind != DependenceKind::Reduction && self.one_iteration && !merged.gave_up;
        let (mut mapped, mut array, mut tiles) = (None, None, None);
        if sought {
            let (sides, scope) = ((left, right), merged.scope);
            mapped = mapped_scope(self, solver, sides, widest, scope, example.as_ref());
            array = array_coordinates(self, solver, sides, widest, scope);
            tiles = tiling(self, solver, sides, scope);
        }
        let position = |list: &[usize], access: &Access| {
            let mut indices = list.iter();
            indices.position(|index| *index == access.id.0).unwrap_or(0)
        };
        Some(Decision::Meet(Box::new(Meeting {
            scope: merged.scope,
            relation,
            exact: merged.exact,
            certain: merged.certain,
            values_differ: merged.values_differ,
            gave_up: merged.gave_up,
            conditions: relied_on,
            absent_if: Vec::new(),
            reason,
            widest: [position(left, widest.0), position(right, widest.1)],
            absent_when_disjoint,
            example,
            sink_shape: self.compared_sink().1.clone(),
            mapped,
            array,
            tiling: tiles,
        })))
    }

    /// A map under which accesses stay inside that are of global scope as they are.
    pub(super) fn mapped_from_global(
        &self,
        solver: &mut Solver,
        kind: DependenceKind,
        sides: (&[usize], &[usize]),
        widest: (&Access, &Access),
    ) -> Option<MappedScope> {
        let sought = kind != DependenceKind::Reduction && self.one_iteration;
        sought.then(|| mapped_scope(self, solver, sides, widest, Scope::Global, None))?
    }

    /// `None` where that takes more work than is spent on it.
    fn merge<'a>(
        &self,
        solver: &mut Solver,
        first: (&'a Access, &'a Access),
        others: impl Iterator<Item = (&'a Access, &'a Access)>,
    ) -> Option<Merged<'a>> {
        let mut merged = Merged {
            scope: Scope::Thread,
            union: Union::default(),
            exact: true,
            certain: true,
            values_differ: false,
            gave_up: false,
            widest: first,
            assumed: Vec::new(),
            any: false,
            proven_global: false,
            absence_needs_shape: false,
        };
        let mut compared = 0;
        let most_spent = most_spent(solver);
        let mut pairs = std::iter::once(first).chain(others);
        for accesses in pairs.by_ref() {
            if solver.spent > most_spent {
                if !merged.any || merged.scope != Scope::Global {
                    return None;
                }
                merged.union.give_up();
                merged.certain = false;
                merged.gave_up = true;
                break;
            }
            compared += 1;
            let verdict = self.decide(solver, accesses);
            merged.absence_needs_shape |= verdict.absence_needs_shape;
            let Some(scope) = verdict.conflict.scope else {
                continue;
            };
            let certain = scope == Scope::Global && verdict.conflict.proven;
            if !merged.any || scope > merged.scope || certain && !merged.proven_global {
                merged.widest = accesses;
            }
            merged.scope = if merged.any {
                merged.scope.max(scope)
            } else {
                scope
            };
            merged.proven_global |= certain;
            merged.exact &= verdict.conflict.exact;
            merged.certain &= verdict.conflict.certain;
            merged.values_differ |= verdict.conflict.values_differ;
            add_guards(&mut merged.assumed, &verdict.assumed);
            merged.gave_up |= verdict.conflict.gave_up;
            merged.union.add(verdict.conflict.relation);
            merged.any = true;
            if merged.proven_global {
                break;
            }
            if merged.scope == Scope::Global && compared >= ENOUGH_ACCESS_PAIRS {
                merged.union.give_up();
                merged.certain = false;
                break;
            }
        }
        // No other pair makes it wider or is a better reason.
        if merged.proven_global {
            self.write_others(solver, &mut merged, compared, pairs);
        }
        Some(merged)
    }

    /// Adds the pairs of accesses that are not compared yet to the relation, where somebody reads it.
    fn write_others<'a>(
        &self,
        solver: &mut Solver,
        merged: &mut Merged<'a>,
        mut compared: usize,
        others: impl Iterator<Item = (&'a Access, &'a Access)>,
    ) {
        let Some(writer) = solver.writer() else {
            return;
        };
        let most_spent = most_spent(writer);
        for accesses in others {
            if compared >= ENOUGH_ACCESS_PAIRS || writer.spent > most_spent {
                merged.union.give_up();
                break;
            }
            compared += 1;
            let conflict = self.decide(writer, accesses).conflict;
            if conflict.scope.is_some() {
                merged.exact &= conflict.exact;
                merged.union.add(conflict.relation);
            }
        }
    }
}

/// What a solver may have spent when the next decision has taken its share.
fn most_spent(solver: &Solver) -> u64 {
    let share = MUCH_SPENT.saturating_sub(solver.spent) / (MUCH_SPENT / MOST_SPENT);
    solver.spent.saturating_add(share.max(LEAST_SPENT))
}

/// Adds the guards that are not there yet.
pub(super) fn add_guards(guards: &mut Vec<Guard>, more: &[Guard]) {
    for guard in more {
        if !guards.contains(guard) {
            guards.push(guard.clone());
        }
    }
}
