//! What kind of work a kernel does, as planners want to know it: by what its threads read and write, never by its
//! name.
//!
//! # The rules
//! An *accumulating loop* is one in which something is read at a place that its counter tells, and nothing is written to
//! global memory at such a place. An *axis* is a thread or block index, or the counter of a loop.
//!
//! * A **product** has an accumulating loop with two reads that both follow its counter, each of which has an axis of its
//!   own that the other has not: rows of the one meet columns of the other. It is **batched** where an axis of blocks
//!   tells both operands which matrix they are.
//! * A **reduction** reads along an axis that what it writes does not have: the counter of an accumulating loop, threads
//!   that hand their values on (by shuffles, or in shared memory between barriers of a loop), or whatever it updates
//!   atomically without. It is one of **rows** where elements along that axis follow each other in memory, else one
//!   of **columns**; and **scalar** where all threads write to one place.
//! * All else is **elementwise**, and what is opaque or never fused is **opaque**.
//!
//! A class decides what is tried first, and nothing else: what may be fused is said by dependences.

use super::{Access, AccessKind, KernelModel, Target};
use crate::math::affine::{Affine, Axis, Variable};
use crate::planner::Class;
use std::collections::BTreeSet;

/// The class of a kernel.
pub fn class_of(model: &KernelModel) -> Class {
    if !model.opaque.is_empty() || !model.unfusable.is_empty() {
        return Class::Opaque;
    }
    let accumulating = accumulating_loops(model);
    if let Some(class) = product(model, &accumulating) {
        return class;
    }
    reduction(model, &accumulating).unwrap_or(Class::Elementwise)
}

/// An index that tells where something is.
type AxisOf = Variable;

/// The axes that an expression depends on, products and quotients looked into.
fn axes(model: &KernelModel, expression: &Affine) -> BTreeSet<AxisOf> {
    let mut found = BTreeSet::new();
    let mut open = vec![expression];
    while let Some(next) = open.pop() {
        for (_, variable) in &next.terms {
            match variable {
                Variable::Block(_) | Variable::Thread(_) => drop(found.insert(variable.clone())),
                Variable::Loop(index) => {
                    found.insert(variable.clone());
                    let quotient = model
                        .loops
                        .get(*index)
                        .and_then(|each| each.quotient.as_ref());
                    open.extend(quotient.map(|quotient| &quotient.dividend));
                }
                Variable::Product(index) => {
                    open.extend(model.products.get(*index).map(|product| &product.factor));
                }
                Variable::Parameter(_) => {}
                Variable::Floor(inner, _) => open.push(inner),
            }
        }
    }
    found
}

fn axes_of(model: &KernelModel, access: &Access) -> BTreeSet<AxisOf> {
    let subscript = access.subscript.as_ref();
    subscript
        .map(|subscript| axes(model, subscript))
        .unwrap_or_default()
}

fn is_real(model: &KernelModel, index: usize) -> bool {
    let each = model.loops.get(index);
    each.is_some_and(|each| each.quotient.is_none() && each.unknown.is_none())
}

fn is_shared(access: &Access) -> bool {
    matches!(access.target, Target::Shared(_) | Target::UnknownShared)
}

fn accumulating_loops(model: &KernelModel) -> Vec<usize> {
    let follows = |access: &&Access, index: usize| {
        access.loops.contains(&index) && axes_of(model, access).contains(&Variable::Loop(index))
    };
    let is_accumulating = |index: &usize| {
        let mut reads = model
            .accesses
            .iter()
            .filter(|access| access.kind == AccessKind::Read);
        let mut results = model
            .accesses
            .iter()
            .filter(|access| access.kind != AccessKind::Read && !is_shared(access));
        is_real(model, *index)
            && reads.any(|access| follows(&access, *index))
            && !results.any(|access| follows(&access, *index))
    };
    (0..model.loops.len()).filter(is_accumulating).collect()
}

/// A product of matrices, where it is one.
fn product(model: &KernelModel, accumulating: &[usize]) -> Option<Class> {
    let reads = || {
        model
            .accesses
            .iter()
            .filter(|access| access.kind == AccessKind::Read)
    };
    let operands = accumulating.iter().find_map(|index| {
        let counter = Variable::Loop(*index);
        let inside: Vec<(&Access, BTreeSet<AxisOf>)> = reads()
            .map(|access| (access, axes_of(model, access)))
            .filter(|(_, axes)| axes.contains(&counter))
            .collect();
        let crosses = |one: &BTreeSet<AxisOf>, other: &BTreeSet<AxisOf>| {
            let mut own = one.difference(other);
            own.any(|axis| !matches!(axis, Variable::Loop(_)))
        };
        inside.iter().enumerate().find_map(|(at, (one, of_one))| {
            let mut rest = inside[at + 1..].iter();
            let other = rest.find(|(other, of_other)| {
                other.target != one.target && crosses(of_one, of_other) && crosses(of_other, of_one)
            });
            other.map(|(other, _)| [*one, *other])
        })
    })?;
    // Operands in shared memory came from global memory.
    let blocks = |target: &Target| -> BTreeSet<AxisOf> {
        let own = reads().filter(|access| access.target == *target);
        let axes = own.flat_map(|access| axes_of(model, access));
        axes.filter(|axis| matches!(axis, Variable::Block(_)))
            .collect()
    };
    let sources: Vec<&Target> = match operands.iter().any(|access| is_shared(access)) {
        false => operands.iter().map(|access| &access.target).collect(),
        true => {
            let staged = reads().filter(|access| !is_shared(access));
            let staged =
                staged.filter(|access| access.loops.iter().any(|index| is_real(model, *index)));
            let targets: Vec<&Target> = staged.map(|access| &access.target).collect();
            let mut different: Vec<&Target> = Vec::new();
            for target in targets {
                if !different.contains(&target) {
                    different.push(target);
                }
            }
            different
        }
    };
    let is_batched = match sources.as_slice() {
        [one, other, ..] => blocks(one).intersection(&blocks(other)).next().is_some(),
        _ => false,
    };
    Some(match is_batched {
        true => Class::BatchedProduct,
        false => Class::Product,
    })
}

/// A reduction, where it is one.
fn reduction(model: &KernelModel, accumulating: &[usize]) -> Option<Class> {
    let global = || model.accesses.iter().filter(|access| !is_shared(access));
    let reads: Vec<&Access> = global()
        .filter(|access| access.kind == AccessKind::Read)
        .collect();
    let results: Vec<&Access> = global()
        .filter(|access| access.kind != AccessKind::Read)
        .collect();
    let is_atomic =
        |access: &&&Access| matches!(access.kind, AccessKind::Reduction(_) | AccessKind::Atomic);
    let atomic: Vec<&&Access> = results.iter().filter(is_atomic).collect();
    let read_axes: BTreeSet<AxisOf> = reads
        .iter()
        .flat_map(|access| axes_of(model, access))
        .collect();
    let written: BTreeSet<AxisOf> = results
        .iter()
        .flat_map(|access| axes_of(model, access))
        .collect();
    let mut reduced: BTreeSet<AxisOf> = accumulating
        .iter()
        .map(|index| Variable::Loop(*index))
        .filter(|axis| read_axes.contains(axis))
        .collect();
    let is_thread = |axis: &&AxisOf| matches!(axis, Variable::Thread(_));
    if hands_on(model) {
        let threads = [Axis::X, Axis::Y, Axis::Z].map(Variable::Thread);
        reduced.extend(threads.into_iter().filter(|axis| read_axes.contains(axis)));
    }
    if !atomic.is_empty() && atomic.iter().all(|access| access.subscript.is_some()) {
        let updated: BTreeSet<AxisOf> = atomic
            .iter()
            .flat_map(|access| axes_of(model, access))
            .collect();
        reduced.extend(read_axes.difference(&updated).cloned());
    }
    if reduced.is_empty() || results.is_empty() {
        return None;
    }
    let one_place =
        |access: &&Access| access.subscript.is_some() && axes_of(model, access).is_empty();
    let is_summed_up = atomic.iter().any(|access| one_place(access))
        || results.iter().all(one_place)
            && reduced
                .iter()
                .any(|axis| is_thread(&axis) || !written.contains(axis));
    if is_summed_up {
        return Some(Class::ScalarReduction);
    }
    let along = |access: &&Access| -> bool {
        let Some(subscript) = &access.subscript else {
            return false;
        };
        let mut terms = subscript.terms.iter();
        terms.any(|(coefficient, variable)| {
            coefficient.unsigned_abs() == u64::from(access.size_bytes) && reduced.contains(variable)
        })
    };
    Some(match reads.iter().any(along) {
        true => Class::RowReduction,
        false => Class::ColumnReduction,
    })
}

/// Whether threads hand values to each other to sum them up: by operations of a warp, or in shared memory between
/// barriers of a loop that loads nothing.
fn hands_on(model: &KernelModel) -> bool {
    let in_loop = |index: usize| {
        model
            .accesses
            .iter()
            .filter(move |access| access.loops.contains(&index))
    };
    let mut loops = model
        .barriers
        .iter()
        .flat_map(|barrier| barrier.loops.iter().copied());
    let by_barriers = loops.any(|index| {
        is_real(model, index)
            && in_loop(index).any(|access| is_shared(access) && access.kind == AccessKind::Read)
            && in_loop(index).all(is_shared)
    });
    !model.warp_operation_sites.is_empty() || by_barriers
}
