//! Operations of a warp that lanes wait for which may not come.
//!
//! A lane that has ended is waited for by nobody. So a kernel may let some lanes return, and have the others exchange values by a
//! mask that names all. In a fused kernel a lane ends later: it goes on with the next launch, and where it waits there, at a barrier
//! or at another such operation, it waits for lanes that wait for it.
//!
//! Invariant: what is not said to be such an operation is reached by all lanes of a warp that its mask names, or by none of
//! them.

use super::super::Barrier;
use super::super::KernelSymbol;
use super::super::body::{
    BinaryOperator, BlockRef, Body, Operation, Predicate, Terminator, ValueRef,
};
use super::super::cfg::Flow;
use super::super::features::makes_lanes_meet;
use super::super::uniformity::Uniformity;
use crate::math::affine::Axis;
use crate::math::expression::{Condition, Expression};
use std::collections::BTreeSet;

/// The operations of a warp that lanes may wait for in vain, with their blocks. Where blocks are one row of threads (`is_row`),
/// lanes follow each other in `threadIdx.x`; else they do in a launch of which a row is whole warps.
pub fn missed_by_lanes(
    (body, flow): (&Body, &Flow),
    changed_arguments: &BTreeSet<usize>,
    uniformity: &Uniformity,
    operations: &[(ValueRef, BlockRef)],
    is_row: bool,
) -> Vec<(BlockRef, Barrier)> {
    let may_be_missed = |(value, block): &&(ValueRef, BlockRef)| {
        let splits = flow.irreducible || uniformity.divergent_blocks.contains(block);
        splits
            && makes_lanes_meet(body, *value)
            && !is_of_whole_warps(body, *value)
            && !names_who_is_there(body, flow, uniformity, (*value, *block))
    };
    let missed: Vec<&(ValueRef, BlockRef)> = operations.iter().filter(may_be_missed).collect();
    if missed.is_empty() {
        return Vec::new();
    }
    let lanes = Lanes {
        body,
        uniformity,
        in_rows: !is_row,
    };
    let branches = uniformity.divergent_branches.iter().filter(|branch| {
        let terminator = &body.block(**branch).terminator;
        matches!(terminator, Terminator::Branch { condition, .. } if lanes.have_one(*condition, DEEPEST))
    });
    let settled: BTreeSet<BlockRef> = branches.copied().collect();
    let unwritten = BTreeSet::new();
    let in_warp = Uniformity::with_settled(body, flow, changed_arguments, (&unwritten, &settled));
    let reached_by_warps =
        |block: &BlockRef| !flow.irreducible && !in_warp.divergent_blocks.contains(block);
    let missed = missed
        .into_iter()
        .filter(|(_, block)| !is_row || !reached_by_warps(block));
    let barriers = missed.map(|(value, block)| {
        let barrier = Barrier {
            uniform: false,
            uniform_while_unwritten: Vec::new(),
            reached_if: match reached_by_warps(block) {
                true => vec![rows_are_whole_warps()],
                false => Vec::new(),
            },
            loops: flow.loops_of(*block),
            place: value.0,
            location: body.value(*value).location.clone(),
        };
        (*block, barrier)
    });
    barriers.collect()
}

/// That a row of a block's threads is some warps.
fn rows_are_whole_warps() -> Condition<KernelSymbol> {
    let row = || Expression::Leaf(KernelSymbol::BlockSize(Axis::X));
    let lanes = || Expression::Constant(LANES);
    let whole = row().floor_divide(lanes()).multiply(lanes());
    Condition::Equal(row(), whole)
}

/// Whether all threads of the warp have to be there, none of them ended.
fn is_of_whole_warps(body: &Body, value: ValueRef) -> bool {
    let Operation::Call(call) = &body.value(value).operation else {
        return false;
    };
    let name = call.callee.as_deref().unwrap_or_default();
    let name = name.strip_prefix("llvm.nvvm.").unwrap_or(name);
    [
        "mma.",
        "wmma",
        "ldmatrix",
        "stmatrix",
        "wgmma",
        "activemask",
    ]
    .iter()
    .any(|of_whole| name.starts_with(of_whole))
}

/// Whether the mask is made of the lanes that are there, at a place behind which none of them leaves.
fn names_who_is_there(
    body: &Body,
    flow: &Flow,
    uniformity: &Uniformity,
    (value, block): (ValueRef, BlockRef),
) -> bool {
    let Operation::Call(call) = &body.value(value).operation else {
        return false;
    };
    let name = call.callee.as_deref().unwrap_or_default();
    let place = usize::from(name.contains("redux"));
    let Some(mask) = call.arguments.get(place) else {
        return false;
    };
    let Some(asked) = asks_who_is_there(body, *mask, DEEPEST) else {
        return false;
    };
    let around = |of: BlockRef| -> BTreeSet<BlockRef> {
        let branches = uniformity.divergent_branches.iter();
        let around = branches.filter(|branch| flow.influence(body, **branch).contains(&of));
        around.copied().collect()
    };
    around(block).is_subset(&around(asked))
}

/// The block in which a mask is asked for that is the lanes which are there, or those of them for which something holds.
fn asks_who_is_there(body: &Body, mask: ValueRef, depth: usize) -> Option<BlockRef> {
    let this = body.value(mask);
    match &this.operation {
        Operation::Call(call) => {
            let name = call.callee.as_deref()?;
            let is_asked = name.contains("activemask");
            this.block.filter(|_| is_asked)
        }
        Operation::Assembly { text, .. } if text.contains("activemask") => this.block,
        Operation::Freeze(operand) | Operation::Cast { operand, .. } if depth > 0 => {
            asks_who_is_there(body, *operand, depth - 1)
        }
        _ => None,
    }
}

/// Lanes that follow each other in `threadIdx.x`, of warps that begin at multiples of 32.
struct Lanes<'a> {
    body: &'a Body,
    uniformity: &'a Uniformity,
    /// A warp has threads of one row alone.
    in_rows: bool,
}

impl Lanes<'_> {
    /// Whether all lanes of a warp have one value.
    fn have_one(&self, value: ValueRef, depth: usize) -> bool {
        let body = self.body;
        if !self.uniformity.divergent_values.contains(&value) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let same = |value: ValueRef| self.have_one(value, depth);
        match &body.value(value).operation {
            Operation::Binary {
                operator,
                left,
                right,
                ..
            } => {
                let constant = body.literal(*right);
                let by_warps = is_thread(body, *left, depth)
                    && match operator {
                        BinaryOperator::UnsignedDivide | BinaryOperator::SignedDivide => {
                            constant.is_some_and(|by| by > 0 && by % LANES == 0)
                        }
                        BinaryOperator::LogicalShiftRight
                        | BinaryOperator::ArithmeticShiftRight => {
                            constant.is_some_and(|by| (5..31).contains(&by))
                        }
                        BinaryOperator::And => constant.is_some_and(|bits| bits & (LANES - 1) == 0),
                        _ => false,
                    };
                by_warps || same(*left) && same(*right)
            }
            Operation::Compare {
                predicate,
                left,
                right,
                ..
            } => {
                let first_above = body.literal(*right).and_then(|bound| match predicate {
                    Predicate::UnsignedLess
                    | Predicate::SignedLess
                    | Predicate::UnsignedGreaterEqual
                    | Predicate::SignedGreaterEqual => Some(bound),
                    Predicate::UnsignedLessEqual
                    | Predicate::SignedLessEqual
                    | Predicate::UnsignedGreater
                    | Predicate::SignedGreater => bound.checked_add(1),
                    _ => None,
                });
                let at_warp = first_above.is_some_and(|bound| bound >= 0 && bound % LANES == 0);
                at_warp && is_thread(body, *left, depth) || same(*left) && same(*right)
            }
            Operation::Cast { operand, .. } | Operation::Freeze(operand) => same(*operand),
            Operation::Select {
                condition,
                on_true,
                on_false,
            } => [condition, on_true, on_false]
                .into_iter()
                .all(|each| same(*each)),
            Operation::Call(call) => {
                let name = call.callee.as_deref().unwrap_or_default();
                let rows = ["tid.y", "tid.z"].map(|of| format!("llvm.nvvm.read.ptx.sreg.{of}"));
                self.in_rows && rows.iter().any(|row| row == name)
            }
            _ => false,
        }
    }
}

/// Whether a value is `threadIdx.x`.
fn is_thread(body: &Body, value: ValueRef, depth: usize) -> bool {
    match &body.value(value).operation {
        Operation::Call(call) => call.callee.as_deref() == Some("llvm.nvvm.read.ptx.sreg.tid.x"),
        Operation::Cast { operand, .. } | Operation::Freeze(operand) => {
            depth > 0 && is_thread(body, *operand, depth - 1)
        }
        _ => false,
    }
}

/// Values are followed so far back.
const DEEPEST: usize = 8;
const LANES: i64 = 32;
