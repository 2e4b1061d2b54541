//! Sets and copies that a plan makes part of a launch.
//!
//! The call that was there fails, and does nothing, when a pointer leads into no allocation or the
//! bytes go beyond it; a segment would touch them all the same. So a set or a copy may be a member
//! only where that is known not to happen but for a null pointer, which its guard tests. Its kernel
//! runs through whole elements on one axis, in the shape of another member; or in a constant one, where each member of the
//! launch goes through its own grid.

use super::super::liveness::comes_after;
use super::super::place::Values;
use super::super::polynomial::{Polynomial, normal_form};
use super::super::{Refusal, Site};
use crate::dependence::Guard;
use crate::launch::{LaunchGraph, MemoryKind, NodeKind, Operation, Root, Touch, ValueId};
use crate::math::expression::Expression;
use crate::program::{ELEMENT_BYTES, OperationKind, operation_kernel};
use crate::schedule::FusionGroup;

/// What speaks against the sets and copies among the members.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for site in sites {
        let launch = site.launch.id;
        let Some(operation) = graph.operation_of(launch) else {
            continue;
        };
        let values = Values::constants(graph);
        let shapes = |site: &Site<'_>| {
            [site.launch.grid, site.launch.block].map(|part| part.map(|id| values.resolve(id)))
        };
        let carried = sites.iter().any(|other| {
            graph.operation_of(other.launch.id).is_none() && shapes(other) == shapes(site)
        });
        let one = |extent: &Polynomial| extent.as_constant() == Some(1);
        let [grid, block] = shapes(site);
        let line = grid[1..].iter().chain(&block[1..]).all(one);
        // The host has no extents to hand over. In a cooperative launch, each member's own stand in the kernel.
        let mut extents = grid.iter().chain(&block);
        let written = group.is_cooperative() && extents.all(|each| each.as_constant().is_some());
        let what = if !group.guards.contains(&Guard::ConfigurationValid { launch }) {
            "whose pointers nothing tests"
        } else if operation.node != site.node {
            "at another place"
        } else if !(carried || written) || !line {
            "in a shape of its own"
        } else if !does_the_same(graph, operation, site) {
            "that its kernel does not do"
        } else {
            continue;
        };
        let what = what.to_owned();
        refusals.push(Refusal::Operation { launch, what });
    }
    refusals
}

/// The kernel does what the operation does, on the same memory, which is there.
fn does_the_same(graph: &LaunchGraph, operation: &Operation, site: &Site<'_>) -> bool {
    let mut sizes = ELEMENT_BYTES.into_iter();
    let size = sizes.find(|size| operation_kernel(operation.kind, *size) == site.model.name);
    let Some(size) = size else {
        return false;
    };
    let same_pointer = |(index, touch): (usize, &Touch)| {
        let argument = site.launch.arguments.get(index);
        let pieces = argument.map_or(&[][..], |argument| &argument.pieces);
        let [piece] = pieces else {
            return false;
        };
        piece.bits == 64 && piece.pointer.as_ref() == Some(&touch.pointer)
    };
    let roots: Vec<_> = operation
        .touches
        .iter()
        .map(|touch| &touch.pointer.root)
        .collect();
    let overlaps = matches!(roots[..], [one, other] if one == other);
    let lengths_agree = operation
        .touches
        .windows(2)
        .all(|pair| pair[0].bytes == pair[1].bytes);
    let stored = site
        .launch
        .arguments
        .get(1)
        .filter(|_| operation.kind == OperationKind::Set);
    let mut stored = stored.into_iter().flat_map(|argument| &argument.pieces);
    let stores_the_same = stored.all(|piece| {
        let constant = graph.values[piece.value.0].constant;
        constant.is_none() || constant == operation.set_to
    });
    !operation.touches.is_empty()
        && stores_the_same
        && !overlaps
        && lengths_agree
        && operation.touches.iter().enumerate().all(same_pointer)
        && operation
            .touches
            .iter()
            .all(|touch| is_there(graph, operation, touch, i64::from(size)))
}

/// The allocation is alive and has all the bytes, which whole aligned elements fill.
fn is_there(graph: &LaunchGraph, operation: &Operation, touch: &Touch, size: i64) -> bool {
    let Root::Buffer(buffer) = touch.pointer.root else {
        return false;
    };
    let Some(known) = graph.buffers.get(buffer.0) else {
        return false;
    };
    let values = Values::constants(graph);
    let computed_once = |value: &ValueId| {
        let fixed = graph.values[value.0].varies_in.is_none();
        (fixed || graph.values[value.0].constant.is_some()).then(|| values.resolve(*value))
    };
    let read = |expression: &Option<Expression<ValueId>>| {
        normal_form(expression.as_ref()?, &mut |value| computed_once(value))
    };
    let room = || {
        let offset = read(&touch.pointer.offset_bytes)?;
        let bytes = read(&touch.bytes)?;
        let whole = |sum: &Polynomial| sum.terms.values().all(|part| part % i128::from(size) == 0);
        let room = read(&known.bytes)?.subtract(&bytes)?.subtract(&offset)?;
        let inside = offset.as_constant()? >= 0 && room.as_constant()? >= 0;
        Some(inside && whole(&offset) && whole(&bytes))
    };
    let freed = graph.nodes.iter().any(|node| match &node.kind {
        NodeKind::Free { pointer } => {
            let may = pointer.as_ref().and_then(|free| free.may_point_to.as_ref());
            may.is_none_or(|may| may.contains(&buffer))
                && comes_after(graph, node.id, operation.node)
        }
        _ => false,
    });
    known.memory == MemoryKind::Device && known.unique && !freed && room() == Some(true)
}
