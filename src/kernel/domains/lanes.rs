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
    BinaryOperator, BlockRef, Body, Cast, Operation, Predicate, Terminator, ValueRef,
};
use super::super::cfg::Flow;
use super::super::features::makes_lanes_meet;
use super::super::never_taken::leads_to;
use super::super::uniformity::Uniformity;
use crate::math::affine::Axis;
use crate::math::expression::{Condition, Expression};
use std::cell::Cell;
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
        splits && makes_lanes_meet(body, *value) && !is_of_whole_warps(body, *value)
    };
    let who_comes = |(value, block): &(ValueRef, BlockRef)| {
        let comes = names_who_comes(body, flow, uniformity, (*value, *block));
        comes.filter(|_| !flow.irreducible)
    };
    let missed = operations.iter().filter(may_be_missed);
    let missed = missed.map(|operation| (operation, who_comes(operation)));
    let missed: Vec<_> = missed
        .filter(|(_, comes)| *comes != Some(InRows(false)) && (comes.is_none() || !is_row))
        .collect();
    if missed.is_empty() {
        return Vec::new();
    }
    // Where blocks are one row nothing is asked of them, but of those that are told by the place of the block.
    let by_warps =
        |in_rows: bool| reached_by_warps((body, flow), changed_arguments, uniformity, in_rows);
    let (in_one_row, _) = match is_row {
        true => by_warps(false),
        false => (BTreeSet::new(), false),
    };
    let (in_rows, divides_signed) = by_warps(true);
    let missed = missed
        .into_iter()
        .filter(|((_, block), _)| !in_one_row.contains(block));
    let barriers = missed.map(|((value, block), comes)| {
        let barrier = Barrier {
            uniform: false,
            uniform_while_unwritten: Vec::new(),
            reached_if: match (comes, in_rows.contains(block)) {
                (Some(_), _) => rows_are_whole_warps(false),
                (None, true) => rows_are_whole_warps(divides_signed),
                (None, false) => Vec::new(),
            },
            loops: flow.loops_of(*block),
            place: value.0,
            location: body.value(*value).location.clone(),
        };
        (*block, barrier)
    });
    barriers.collect()
}

/// The blocks that all lanes of a warp reach together, or none: they go one way at every branch on the way. The branches of which
/// this is so are the most that bear each other out. Says whether that rests on quotients of numbers of threads that have a sign.
fn reached_by_warps(
    (body, flow): (&Body, &Flow),
    changed_arguments: &BTreeSet<usize>,
    uniformity: &Uniformity,
    in_rows: bool,
) -> (BTreeSet<BlockRef>, bool) {
    if flow.irreducible {
        return (BTreeSet::new(), false);
    }
    let divides_signed = Cell::new(false);
    let mut splitting: BTreeSet<BlockRef> = BTreeSet::new();
    loop {
        let lanes = Lanes {
            divides_signed: &divides_signed,
            body,
            flow,
            uniformity,
            splitting: &splitting,
            in_rows,
        };
        let others = uniformity.divergent_branches.iter().filter(|branch| {
            let together = match &body.block(**branch).terminator {
                Terminator::Branch { condition, .. } => {
                    lanes.have_one(*condition, &mut BTreeSet::new())
                }
                _ => false,
            };
            !together
        });
        let found: BTreeSet<BlockRef> = others.copied().chain(splitting.iter().copied()).collect();
        if found == splitting {
            break;
        }
        splitting = found;
    }
    let branches = uniformity.divergent_branches.difference(&splitting);
    let settled: BTreeSet<BlockRef> = branches.copied().collect();
    let unwritten = BTreeSet::new();
    let known = (&unwritten, &settled);
    let found = Uniformity::with_settled(body, flow, changed_arguments, known);
    let blocks = flow.order.iter().copied();
    let reached = blocks.filter(|block| !found.divergent_blocks.contains(block));
    (reached.collect(), divides_signed.get())
}

/// That a row of a block's threads is some warps, and, where numbers of threads are divided that have a sign, that none is below 0.
fn rows_are_whole_warps(divides_signed: bool) -> Vec<Condition<KernelSymbol>> {
    let row = || Expression::Leaf(KernelSymbol::BlockSize(Axis::X));
    let lanes = || Expression::Constant(LANES);
    let whole = row().floor_divide(lanes()).multiply(lanes());
    let mut conditions = vec![Condition::Equal(row(), whole)];
    if divides_signed {
        let all = Expression::Leaf(KernelSymbol::GridSize(Axis::X)).multiply(row());
        conditions.push(Condition::LessEqual(all, Expression::Constant(1 << 31)));
    }
    conditions
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

/// Whether the mask names lanes that come, and no others: by a number, or as those that are there, or of them those for which
/// something holds. All branches behind are asked whether they send a lane that is named elsewhere.
fn names_who_comes(
    body: &Body,
    flow: &Flow,
    uniformity: &Uniformity,
    (value, block): (ValueRef, BlockRef),
) -> Option<InRows> {
    let Operation::Call(call) = &body.value(value).operation else {
        return None;
    };
    let name = call.callee.as_deref().unwrap_or_default();
    let place = usize::from(name.contains("redux"));
    let named = named(body, *call.arguments.get(place)?)?;
    let is_around = |branch: BlockRef, of: BlockRef| flow.influence(body, branch).contains(&of);
    let branches = uniformity.divergent_branches.iter().copied();
    let mut behind = branches.filter(|branch| {
        let asked = match named {
            Named::There(asked) | Named::Of(asked, _) => is_around(*branch, asked),
            Named::Lanes(_) => false,
        };
        is_around(*branch, block) && !asked
    });
    let all_come = behind.all(|branch| {
        let Terminator::Branch {
            condition,
            on_true,
            on_false,
        } = &body.block(branch).terminator
        else {
            return false;
        };
        // The way that a lane which is named takes.
        let way = match named {
            Named::There(_) => None,
            Named::Of(_, test) => holds_as(body, *condition, test),
            Named::Lanes(lanes) => way_of_lanes(body, *condition, lanes),
        };
        match way {
            Some(true) => leads_to(body, *on_true, block) && !leads_to(body, *on_false, block),
            Some(false) => leads_to(body, *on_false, block) && !leads_to(body, *on_true, block),
            None => false,
        }
    });
    all_come.then_some(InRows(matches!(named, Named::Lanes(_))))
}

/// Whether that holds only where lanes follow each other in `threadIdx.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InRows(bool);

/// Who a mask names.
#[derive(Clone, Copy)]
enum Named {
    /// Those who are in a block where it was asked.
    There(BlockRef),
    /// Of those in a block all for whom this holds.
    Of(BlockRef, ValueRef),
    /// By bits, not all 32.
    Lanes(u32),
}

fn named(body: &Body, mask: ValueRef) -> Option<Named> {
    let this = body.value(behind_casts(body, mask));
    match &this.operation {
        Operation::Constant(bits) => {
            let lanes = *bits as u32;
            (lanes != u32::MAX).then_some(Named::Lanes(lanes))
        }
        Operation::Call(call) => {
            let name = call.callee.as_deref()?;
            let block = this.block?;
            if name.contains("activemask") {
                return Some(Named::There(block));
            }
            let test = call.arguments.get(1).copied();
            test.filter(|_| name.contains("vote.ballot"))
                .map(|test| Named::Of(block, test))
        }
        Operation::Assembly { text, .. } if text.contains("activemask") => {
            this.block.map(Named::There)
        }
        _ => None,
    }
}

/// What a condition is where a test holds, if that tells.
fn holds_as(body: &Body, condition: ValueRef, test: ValueRef) -> Option<bool> {
    if condition == test {
        return Some(true);
    }
    let compared = |value: ValueRef| match &body.value(value).operation {
        Operation::Compare {
            predicate,
            left,
            right,
            ..
        } => Some((*predicate, *left, *right)),
        _ => None,
    };
    let (own, left, right) = compared(condition)?;
    let (other, first, second) = compared(test)?;
    match (left, right) == (first, second) {
        true if own == other => Some(true),
        true if own == other.negated() => Some(false),
        _ => None,
    }
}

/// What a condition is for these lanes, where it is one value that their numbers tell.
fn way_of_lanes(body: &Body, condition: ValueRef, lanes: u32) -> Option<bool> {
    let Operation::Compare {
        predicate,
        left,
        right,
        ..
    } = &body.value(condition).operation
    else {
        return None;
    };
    let bits = bits_of_lane(body, *left)?;
    let bound = body.literal(*right)?;
    let mut ways = (0..LANES)
        .filter(|lane| lanes >> lane & 1 == 1)
        .map(|lane| lane & bits)
        .map(|lane| match predicate {
            Predicate::Equal => lane == bound,
            Predicate::NotEqual => lane != bound,
            Predicate::UnsignedLess | Predicate::SignedLess => lane < bound,
            Predicate::UnsignedLessEqual | Predicate::SignedLessEqual => lane <= bound,
            Predicate::UnsignedGreater | Predicate::SignedGreater => lane > bound,
            Predicate::UnsignedGreaterEqual | Predicate::SignedGreaterEqual => lane >= bound,
        });
    let first = ways.next()?;
    (bound >= 0 && ways.all(|way| way == first)).then_some(first)
}

/// Which bits of the number of the lane a value is, where lanes follow each other in `threadIdx.x`.
fn bits_of_lane(body: &Body, value: ValueRef) -> Option<i64> {
    match &body.value(behind_casts(body, value)).operation {
        Operation::Binary {
            operator,
            left,
            right,
            ..
        } => {
            let constant = body.literal(*right)?;
            let bits = match operator {
                BinaryOperator::And if (0..LANES).contains(&constant) => constant,
                BinaryOperator::UnsignedRemainder if constant == LANES => LANES - 1,
                _ => return None,
            };
            is_thread(body, *left).then_some(bits)
        }
        _ => is_register(body, value, "laneid").then_some(LANES - 1),
    }
}

/// Lanes that follow each other in `threadIdx.x`, of warps that begin at multiples of 32.
struct Lanes<'a> {
    body: &'a Body,
    flow: &'a Flow,
    uniformity: &'a Uniformity,
    /// Blocks at whose ends lanes of a warp may go different ways.
    splitting: &'a BTreeSet<BlockRef>,
    /// Rows are whole warps, so that a warp has threads of one row alone.
    in_rows: bool,
    /// Whether a number of threads was met that has a sign and is divided.
    divides_signed: &'a Cell<bool>,
}

impl Lanes<'_> {
    /// Whether all lanes of a warp have one value. What is being asked about (`asked`) is taken to be so: it is one value where
    /// it begins as one, and each step leaves it one.
    fn have_one(&self, value: ValueRef, asked: &mut BTreeSet<ValueRef>) -> bool {
        let body = self.body;
        if !self.uniformity.divergent_values.contains(&value) || asked.contains(&value) {
            return !self.leaves_at_different_times(value);
        }
        if asked.len() >= MOST_VALUES || self.leaves_at_different_times(value) {
            return false;
        }
        asked.insert(value);
        match &body.value(value).operation {
            Operation::Binary {
                operator,
                left,
                right,
                ..
            } => {
                self.counts_warps(*operator, (*left, *right), asked)
                    || self.have_one(*left, asked) && self.have_one(*right, asked)
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
                at_warp && is_thread(body, *left)
                    || self.have_one(*left, asked) && self.have_one(*right, asked)
            }
            Operation::Cast { operand, .. } | Operation::Freeze(operand) => {
                self.have_one(*operand, asked)
            }
            Operation::Select {
                condition,
                on_true,
                on_false,
            } => [condition, on_true, on_false]
                .into_iter()
                .all(|each| self.have_one(*each, asked)),
            Operation::Phi(incoming) => {
                let joins = |block: BlockRef| {
                    self.splitting.iter().any(|branch| {
                        self.flow.immediate_post_dominator(*branch) == Some(block)
                            || self.flow.influence(body, *branch).contains(&block)
                    })
                };
                let block = body.value(value).block;
                block.is_some_and(|block| !joins(block))
                    && incoming.iter().all(|(each, _)| self.have_one(*each, asked))
            }
            Operation::Call(call) => {
                let name = call.callee.as_deref().unwrap_or_default();
                let rows = ["tid.y", "tid.z"].map(|of| format!("llvm.nvvm.read.ptx.sreg.{of}"));
                self.in_rows && rows.iter().any(|row| row == name)
            }
            _ => false,
        }
    }

    /// Whether it is of a loop that lanes of a warp may leave at different times.
    fn leaves_at_different_times(&self, value: ValueRef) -> bool {
        let Some(block) = self.body.value(value).block else {
            return false;
        };
        self.flow.loops_of(block).into_iter().any(|index| {
            let mut exits = self.flow.loops[index].exits.iter();
            exits.any(|(from, _)| self.splitting.contains(from))
        })
    }

    /// Whether it is a thread's number, divided so that all lanes of a warp get one number.
    fn counts_warps(
        &self,
        operator: BinaryOperator,
        (left, right): (ValueRef, ValueRef),
        asked: &mut BTreeSet<ValueRef>,
    ) -> bool {
        let constant = self.body.literal(right);
        let divides = match operator {
            BinaryOperator::UnsignedDivide | BinaryOperator::SignedDivide => {
                constant.is_some_and(|by| by > 0 && by % LANES == 0)
            }
            BinaryOperator::LogicalShiftRight | BinaryOperator::ArithmeticShiftRight => {
                constant.is_some_and(|by| (5..31).contains(&by))
            }
            BinaryOperator::And => constant.is_some_and(|bits| bits & (LANES - 1) == 0),
            _ => false,
        };
        if !divides || is_thread(self.body, left) {
            return divides;
        }
        if !self.in_rows {
            return false;
        }
        if operator != BinaryOperator::SignedDivide {
            return self.is_counted(left, &mut |factor| self.have_one(factor, asked));
        }
        let is_block = &mut |factor| is_register(self.body, factor, "ctaid.x");
        let counts = self.is_counted(left, is_block);
        if counts {
            self.divides_signed.set(true);
        }
        counts
    }

    /// Whether it is `row * blockDim.x + threadIdx.x`, where rows are whole warps, with a `row` that is one number.
    fn is_counted(&self, value: ValueRef, is_row: &mut dyn FnMut(ValueRef) -> bool) -> bool {
        let body = self.body;
        let [threads, rows] = [BinaryOperator::Add, BinaryOperator::Multiply].map(|wanted| {
            move |value: ValueRef| match body.value(behind_casts(body, value)).operation {
                Operation::Binary {
                    operator,
                    left,
                    right,
                    ..
                } if operator == wanted => vec![(left, right), (right, left)],
                _ => Vec::new(),
            }
        });
        let mut is_rows = |value: ValueRef| {
            let mut factors = rows(value).into_iter();
            factors.any(|(row, extent)| is_register(body, extent, "ntid.x") && is_row(row))
        };
        let mut terms = threads(value).into_iter();
        terms.any(|(thread, rows)| is_thread(body, thread) && is_rows(rows))
    }
}

/// Whether a value is `threadIdx.x`.
fn is_thread(body: &Body, value: ValueRef) -> bool {
    is_register(body, value, "tid.x")
}

/// Whether a value is what a register of the thread has.
fn is_register(body: &Body, value: ValueRef, register: &str) -> bool {
    match &body.value(behind_casts(body, value)).operation {
        Operation::Call(call) => {
            let name = call.callee.as_deref().unwrap_or_default();
            name.strip_prefix("llvm.nvvm.read.ptx.sreg.") == Some(register)
        }
        _ => false,
    }
}

/// The value that is extended, or only taken for another type.
fn behind_casts(body: &Body, mut value: ValueRef) -> ValueRef {
    for _ in 0..DEEPEST {
        match &body.value(value).operation {
            // What loses bits is another number.
            Operation::Cast {
                cast: Cast::Truncate,
                ..
            } => break,
            Operation::Cast { operand, .. } | Operation::Freeze(operand) => value = *operand,
            _ => break,
        }
    }
    value
}

/// So many values are looked at for one.
const MOST_VALUES: usize = 64;
/// Values are followed so far back.
const DEEPEST: usize = 8;
const LANES: i64 = 32;
