//! Whether lanes of a warp meet in shared memory, found by computing their addresses one by one.
//!
//! Constraints know nothing of `t ^ j` or of `t % (2 * s) == 0`. Where an address is made of the thread's index, of
//! constants and of numbers that are the same for both lanes and are halved or doubled from round to round, all that can
//! be is tried instead. Invariant: [`never_meet`] is true only where no two lanes of one warp come to a common byte,
//! whatever is not known; conditions that are not understood count as true.

use super::super::body::{
    BinaryOperator, BlockRef, Body, Cast, Operation, Predicate, Terminator, Type, ValueRef,
};
use super::super::cfg::Flow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One of the two accesses.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Place {
    /// Its instruction.
    pub(in crate::kernel) instruction: ValueRef,
    /// Its pointer.
    pub(in crate::kernel) pointer: ValueRef,
    /// Bytes from there.
    pub(in crate::kernel) bytes: u32,
}

/// Threads of a block at most, and lanes of a warp.
const THREADS: i64 = 1024;
const LANES: i64 = 32;

/// Uniform numbers that are tried together.
const MOST_NUMBERS: usize = 2;

/// The largest power of two that is tried; beyond all shared memory.
const LARGEST_SHIFT: u32 = 18;

/// Steps from an address to what it is made of.
const DEEPEST: u32 = 40;

/// Whether two lanes of one warp of a block with one row never touch a common byte by two accesses of one shared
/// variable. `is_same` says of which values both lanes have the same one.
pub(in crate::kernel) fn never_meet(
    body: &Body,
    flow: &Flow,
    (one, two): (Place, Place),
    is_same: &impl Fn(ValueRef) -> bool,
) -> bool {
    let conditions = [one, two].map(|place| conditions(body, flow, place.instruction));
    let mut numbers = BTreeSet::new();
    let addresses = [one, two].map(|place| place.pointer);
    let wanted = addresses.into_iter();
    if !wanted
        .clone()
        .all(|at| collect(body, at, is_same, &mut numbers, DEEPEST))
    {
        return false;
    }
    for (condition, _) in conditions.iter().flatten() {
        let mut of_condition = numbers.clone();
        // A condition that is not understood narrows nothing.
        if collect(body, *condition, is_same, &mut of_condition, DEEPEST)
            && of_condition.len() <= MOST_NUMBERS
        {
            numbers = of_condition;
        }
    }
    if numbers.len() > MOST_NUMBERS {
        return false;
    }
    let numbers: Vec<ValueRef> = numbers.into_iter().collect();
    let powers: Vec<i64> = std::iter::once(0)
        .chain((0..=LARGEST_SHIFT).map(|shift| 1 << shift))
        .collect();
    let combinations = powers.len().pow(numbers.len() as u32);
    (0..combinations).all(|combination| {
        let mut rest = combination;
        let known: HashMap<ValueRef, i64> = numbers
            .iter()
            .map(|number| {
                let power = powers[rest % powers.len()];
                rest /= powers.len();
                (*number, power)
            })
            .collect();
        let bytes = |place: Place, conditions: &[(ValueRef, bool)], thread: i64| {
            let lane = Lane {
                body,
                thread,
                known: &known,
            };
            let passes = conditions
                .iter()
                .all(|(condition, wanted)| lane.truth(*condition).is_none_or(|is| is == *wanted));
            passes.then(|| lane.offset(place.pointer, DEEPEST))
        };
        (0..THREADS / LANES).all(|warp| {
            let lanes = warp * LANES..(warp + 1) * LANES;
            let mut written: BTreeMap<i64, i64> = BTreeMap::new();
            for thread in lanes.clone() {
                match bytes(one, &conditions[0], thread) {
                    None => {}
                    Some(None) => return false,
                    // Two lanes at one place: whoever else comes there meets one of them.
                    Some(Some(at)) => {
                        for byte in at..at + i64::from(one.bytes) {
                            let first = written.entry(byte).or_insert(thread);
                            if *first != thread {
                                *first = -1;
                            }
                        }
                    }
                }
            }
            lanes
                .into_iter()
                .all(|thread| match bytes(two, &conditions[1], thread) {
                    None => true,
                    Some(None) => false,
                    Some(Some(at)) => (at..at + i64::from(two.bytes))
                        .all(|byte| written.get(&byte).is_none_or(|by| *by == thread)),
                })
        })
    })
}

/// The conditions that hold where an instruction is executed, and what each is there.
fn conditions(body: &Body, flow: &Flow, instruction: ValueRef) -> Vec<(ValueRef, bool)> {
    let Some(block) = body.value(instruction).block else {
        return Vec::new();
    };
    let leads = |to: BlockRef| flow.predecessors[to.0].len() == 1 && flow.dominates(to, block);
    let above = flow
        .order
        .iter()
        .filter(|above| flow.dominates(**above, block));
    above
        .filter_map(|above| match body.block(*above).terminator {
            Terminator::Branch {
                condition,
                on_true,
                on_false,
            } if on_true != on_false => match (leads(on_true), leads(on_false)) {
                (true, false) => Some((condition, true)),
                (false, true) => Some((condition, false)),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// Gathers the uniform numbers that a value is made of; false where it is made of something else that is not known.
fn collect(
    body: &Body,
    value: ValueRef,
    is_same: &impl Fn(ValueRef) -> bool,
    numbers: &mut BTreeSet<ValueRef>,
    depth: u32,
) -> bool {
    if depth == 0 {
        return false;
    }
    match &body.value(value).operation {
        Operation::Constant(_) | Operation::Global(_) => true,
        Operation::Call(call) => thread_index(call.callee.as_deref()).is_some(),
        Operation::Phi(_) => {
            let may_be = is_same(value) && is_power_of_two(body, value);
            may_be && {
                numbers.insert(value);
                true
            }
        }
        Operation::Binary { .. }
        | Operation::Compare { .. }
        | Operation::Cast { .. }
        | Operation::Select { .. }
        | Operation::Offset { .. }
        | Operation::Freeze(_) => body
            .value(value)
            .operands()
            .into_iter()
            .all(|operand| collect(body, operand, is_same, numbers, depth - 1)),
        _ => false,
    }
}

/// Whether a number is a power of two or zero in every round: such a constant at first, and then doubled or halved.
fn is_power_of_two(body: &Body, value: ValueRef) -> bool {
    let mut seen = BTreeSet::new();
    let mut pending = vec![value];
    while let Some(at) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        let is_power = |number: i64| number == 0 || number > 0 && number & (number - 1) == 0;
        match &body.value(at).operation {
            Operation::Constant(number) if is_power(*number) => {}
            Operation::Phi(incoming) => pending.extend(incoming.iter().map(|(value, _)| *value)),
            Operation::Cast { operand, cast, .. } if *cast != Cast::Truncate => {
                pending.push(*operand)
            }
            Operation::Freeze(operand) => pending.push(*operand),
            Operation::Binary {
                operator,
                left,
                right,
                ..
            } => {
                let Some(by) = body.literal(*right) else {
                    return false;
                };
                let keeps = match operator {
                    BinaryOperator::ShiftLeft
                    | BinaryOperator::LogicalShiftRight
                    | BinaryOperator::ArithmeticShiftRight => (0..32).contains(&by),
                    BinaryOperator::Multiply
                    | BinaryOperator::UnsignedDivide
                    | BinaryOperator::SignedDivide => by > 0 && is_power(by),
                    _ => false,
                };
                if !keeps {
                    return false;
                }
                pending.push(*left);
            }
            _ => return false,
        }
    }
    true
}

/// What of a thread in a block with one row a call gives.
fn thread_index(callee: Option<&str>) -> Option<fn(i64) -> i64> {
    match callee?.strip_prefix("llvm.nvvm.read.ptx.sreg.")? {
        "tid.x" => Some(|thread| thread),
        "tid.y" | "tid.z" => Some(|_| 0),
        "laneid" => Some(|thread| thread % LANES),
        _ => None,
    }
}

/// A thread, and the uniform numbers as they are tried.
struct Lane<'a> {
    body: &'a Body,
    thread: i64,
    known: &'a HashMap<ValueRef, i64>,
}

impl Lane<'_> {
    fn truth(&self, condition: ValueRef) -> Option<bool> {
        self.number(condition, DEEPEST)
            .map(|number| number & 1 != 0)
    }

    /// Bytes from the variable's begin to where a pointer leads.
    fn offset(&self, pointer: ValueRef, depth: u32) -> Option<i64> {
        if depth == 0 {
            return None;
        }
        match &self.body.value(pointer).operation {
            Operation::Global(_) => Some(0),
            Operation::Cast { operand, .. } => self.offset(*operand, depth - 1),
            Operation::Offset {
                base,
                constant,
                terms,
            } => {
                let mut offset = self.offset(*base, depth - 1)?.wrapping_add(*constant);
                for (scale, index) in terms {
                    let index = self.number(*index, depth - 1)?;
                    offset = offset.wrapping_add(scale.wrapping_mul(index));
                }
                Some(offset)
            }
            _ => None,
        }
    }

    /// An integer, read as signed.
    fn number(&self, value: ValueRef, depth: u32) -> Option<i64> {
        if let Some(known) = self.known.get(&value) {
            return Some(*known);
        }
        if depth == 0 {
            return None;
        }
        let of = |operand: ValueRef| self.number(operand, depth - 1);
        let bits_of = |value: ValueRef| match self.body.value(value).value_type {
            Type::Integer(bits) if (1..=64).contains(&bits) => Some(bits),
            _ => None,
        };
        let bits = bits_of(value)?;
        let number = match &self.body.value(value).operation {
            Operation::Constant(number) => *number,
            Operation::Call(call) => thread_index(call.callee.as_deref())?(self.thread),
            Operation::Freeze(operand) => of(*operand)?,
            Operation::Cast { cast, operand, .. } => match cast {
                Cast::SignExtend | Cast::Truncate | Cast::Same => of(*operand)?,
                Cast::ZeroExtend => unsigned(of(*operand)?, bits_of(*operand)?).cast_signed(),
                Cast::AddressSpace => return None,
            },
            Operation::Select {
                condition,
                on_true,
                on_false,
            } => match of(*condition)? & 1 != 0 {
                true => of(*on_true)?,
                false => of(*on_false)?,
            },
            Operation::Compare {
                predicate,
                left,
                right,
                ..
            } => {
                let bits = bits_of(*left)?;
                i64::from(compares(*predicate, of(*left)?, of(*right)?, bits))
            }
            Operation::Binary {
                operator,
                left,
                right,
                ..
            } => computes(*operator, of(*left)?, of(*right)?, bits)?,
            _ => return None,
        };
        Some(signed(number, bits))
    }
}

fn signed(number: i64, bits: u32) -> i64 {
    number << (64 - bits) >> (64 - bits)
}

fn unsigned(number: i64, bits: u32) -> u64 {
    number.cast_unsigned() & (u64::MAX >> (64 - bits))
}

fn compares(predicate: Predicate, left: i64, right: i64, bits: u32) -> bool {
    let (low, high) = (unsigned(left, bits), unsigned(right, bits));
    match predicate {
        Predicate::Equal => left == right,
        Predicate::NotEqual => left != right,
        Predicate::SignedLess => left < right,
        Predicate::SignedLessEqual => left <= right,
        Predicate::SignedGreater => left > right,
        Predicate::SignedGreaterEqual => left >= right,
        Predicate::UnsignedLess => low < high,
        Predicate::UnsignedLessEqual => low <= high,
        Predicate::UnsignedGreater => low > high,
        Predicate::UnsignedGreaterEqual => low >= high,
    }
}

fn computes(operator: BinaryOperator, left: i64, right: i64, bits: u32) -> Option<i64> {
    let (low, high) = (unsigned(left, bits), unsigned(right, bits));
    let shift = u32::try_from(high).ok().filter(|shift| *shift < bits);
    Some(match operator {
        BinaryOperator::Add => left.wrapping_add(right),
        BinaryOperator::Subtract => left.wrapping_sub(right),
        BinaryOperator::Multiply => left.wrapping_mul(right),
        BinaryOperator::UnsignedDivide => low.checked_div(high)?.cast_signed(),
        BinaryOperator::UnsignedRemainder => low.checked_rem(high)?.cast_signed(),
        BinaryOperator::SignedDivide => left.checked_div(right)?,
        BinaryOperator::SignedRemainder => left.checked_rem(right)?,
        BinaryOperator::ShiftLeft => left << shift?,
        BinaryOperator::LogicalShiftRight => (low >> shift?).cast_signed(),
        BinaryOperator::ArithmeticShiftRight => left >> shift?,
        BinaryOperator::And => left & right,
        BinaryOperator::Or => left | right,
        BinaryOperator::Xor => left ^ right,
        BinaryOperator::SignedMinimum => left.min(right),
        BinaryOperator::SignedMaximum => left.max(right),
        BinaryOperator::UnsignedMinimum => low.min(high).cast_signed(),
        BinaryOperator::UnsignedMaximum => low.max(high).cast_signed(),
    })
}
