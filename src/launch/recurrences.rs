//! Closed forms of what changes from one iteration of a loop to the next: counters, advanced
//! pointers, pointers that change places; through registers and through memory.
//!
//! Invariant: a closed form is claimed only where the arithmetic cannot wrap: by the front end's
//! promise, or because a 64-bit number that starts small and grows by a few units would need
//! longer than any run lasts.

pub(super) mod iterations;

use super::cfg::ControlFlow;
use super::host_ir::{Opcode, Operand, Operation};
use super::pointers::ValueTable;
use super::points_to::PointsTo;
use super::values::{Definition, Numbering, Symbol};
use super::{Course, HostBlockId, Iterations, LoopDomain, Place, Root, ValueId};
use crate::math::expression::Expression;
use std::collections::HashMap;

/// Operations that a closed form may have.
const CLOSED_FORM_SIZE: usize = 100;

/// Pointers that may change places in one loop.
const LONGEST_TURN: usize = 8;

/// No loop that drives a device goes round more often than such a signed number tells: at a
/// tenth of a microsecond each, that takes years.
const COUNTER_BITS: u32 = 51;

/// Steps up to this size take a 64-bit number more than a year from zero to its end.
const SMALL_STEP: i64 = 16;

/// A loop by its numbers: in the graph, its function, and among that function's loops.
#[derive(Clone, Copy)]
pub(super) struct LoopPosition {
    pub(super) index: usize,
    pub(super) function: usize,
    pub(super) local: usize,
}

/// What a symbol is at the start of a loop, and in the next iteration.
#[derive(Clone, Copy)]
struct Recurrence {
    natural: LoopPosition,
    start: Symbol,
    next: Symbol,
}

/// Finds closed forms, once all operands of launches have their ids.
pub(super) struct Closing<'a, 'b> {
    pub(super) numbering: &'a mut Numbering<'b>,
    pub(super) table: &'a mut ValueTable,
    pub(super) points_to: &'b PointsTo,
    counters: Vec<ValueId>,
    recurrences: HashMap<Symbol, Option<Recurrence>>,
    /// Bits that hold leaves.
    bits: HashMap<ValueId, u32>,
    /// The budget of the closed form at work.
    left: usize,
}

impl<'a, 'b> Closing<'a, 'b> {
    /// Gives each of `loops` loops its counter.
    pub(super) fn new(
        numbering: &'a mut Numbering<'b>,
        table: &'a mut ValueTable,
        points_to: &'b PointsTo,
        loops: usize,
    ) -> Self {
        let counters: Vec<_> = (0..loops).map(|index| table.counter(index)).collect();
        Self {
            bits: counters
                .iter()
                .map(|counter| (*counter, COUNTER_BITS))
                .collect(),
            numbering,
            table,
            points_to,
            counters,
            recurrences: HashMap::new(),
            left: 0,
        }
    }

    /// Domains of all loops (`block_of` tells a block's id), values, and courses of `pointers`.
    pub(super) fn solve(
        mut self,
        loops: &[LoopPosition],
        block_of: &dyn Fn(usize, usize) -> HostBlockId,
        pointers: &[(ValueId, Symbol)],
    ) -> Iterations {
        let mut found = Iterations {
            counters: self.counters.clone(),
            domains: vec![None; self.counters.len()],
            ..Iterations::default()
        };
        for natural in loops {
            found.domains[natural.index] = self.domain(*natural, block_of);
        }
        for (symbol, unsigned, value) in self.table.varying() {
            self.left = CLOSED_FORM_SIZE;
            let closed = match unsigned {
                true => self.closed_unsigned(symbol),
                false => self.closed(symbol),
            };
            if let Some(closed) = closed.filter(|closed| *closed != Expression::Leaf(value)) {
                found.values.insert(value, closed);
            }
        }
        for (value, symbol) in pointers {
            self.left = CLOSED_FORM_SIZE;
            if self.numbering.varies_in(*symbol).is_some()
                && !found.courses.contains_key(value)
                && let Some(course) = self.course(*symbol)
                && course.places[0].root != Root::Value(*value)
            {
                found.courses.insert(*value, course);
            }
        }
        found
    }

    /// The signed reading of an integer.
    fn closed(&mut self, symbol: Symbol) -> Option<Expression<ValueId>> {
        self.left = self.left.checked_sub(1)?;
        if let Some(value) = self.numbering.literal(symbol) {
            return Some(Expression::Constant(value));
        }
        if let Some(closed) = self.recurrent(symbol, false) {
            return Some(closed);
        }
        if let Some(closed) = self.operation(symbol) {
            return Some(closed);
        }
        Some(self.leaf(symbol, false))
    }

    /// A sum or product of counters and numbers that are not negative.
    fn is_non_negative(&self, expression: &Expression<ValueId>) -> bool {
        match expression {
            Expression::Constant(value) => *value >= 0,
            Expression::Leaf(leaf) => self.counters.binary_search(leaf).is_ok(),
            Expression::Add(a, b) | Expression::Multiply(a, b) => {
                self.is_non_negative(a) && self.is_non_negative(b)
            }
            _ => false,
        }
    }

    fn leaf(&mut self, symbol: Symbol, unsigned: bool) -> Expression<ValueId> {
        let value = self.table.identity(self.numbering, symbol, unsigned);
        let bits = self.numbering.range(symbol).0 + u32::from(unsigned);
        self.bits.insert(value, bits);
        Expression::Leaf(value)
    }

    /// Bits that hold the value as a signed number.
    fn magnitude(&self, expression: &Expression<ValueId>) -> u32 {
        let larger = |a: &Expression<ValueId>, b: &Expression<ValueId>| {
            self.magnitude(a).max(self.magnitude(b))
        };
        match expression {
            Expression::Constant(value) => {
                let magnitude = if *value < 0 { !*value } else { *value };
                65 - magnitude.leading_zeros()
            }
            Expression::Leaf(leaf) => self.bits.get(leaf).copied().unwrap_or(64),
            Expression::Add(a, b) | Expression::Subtract(a, b) => larger(a, b) + 1,
            Expression::Multiply(a, b) => match (a.as_constant(), b.as_constant()) {
                (Some(by), _) => self.magnitude(b) + doublings(by),
                (_, Some(by)) => self.magnitude(a) + doublings(by),
                _ => self.magnitude(a) + self.magnitude(b),
            },
            Expression::FloorDivide(a, _) => self.magnitude(a),
            Expression::Minimum(a, b) | Expression::Maximum(a, b) => larger(a, b),
        }
    }

    /// The unsigned reading.
    fn closed_unsigned(&mut self, symbol: Symbol) -> Option<Expression<ValueId>> {
        if let Some(value) = self.numbering.literal(symbol) {
            return match self.numbering.width(symbol) {
                Some(bits) if bits < 64 => {
                    Some(Expression::Constant(value & ((1_i64 << bits) - 1)))
                }
                _ => (value >= 0).then_some(Expression::Constant(value)),
            };
        }
        if self.numbering.range(symbol).1 {
            return self.closed(symbol);
        }
        if let Some(closed) = self.recurrent(symbol, true) {
            return Some(closed);
        }
        if let Some(closed) = self.operation(symbol)
            && self.is_non_negative(&closed)
        {
            return Some(closed);
        }
        self.left = self.left.checked_sub(1)?;
        Some(self.leaf(symbol, true))
    }

    /// `start + step · counter`.
    fn recurrent(&mut self, symbol: Symbol, unsigned: bool) -> Option<Expression<ValueId>> {
        let recurrence = self.recurrence(symbol)?;
        let natural = recurrence.natural;
        let (step, wrapping) = self.step(recurrence.next, symbol, natural)?;
        let start = self.numbering.literal(recurrence.start);
        if wrapping || unsigned {
            let (start, step) = (start?, step.as_constant()?);
            let small = self.numbering.width(symbol) == Some(64)
                && (0..1 << 62).contains(&start)
                && step.unsigned_abs() <= SMALL_STEP.unsigned_abs()
                && (step >= 0 || !unsigned);
            // Signed arithmetic that starts at zero and grows has an unsigned reading too.
            let grows = !wrapping && start >= 0 && step >= 0;
            let tested = unsigned && start >= 0 && step == 1 && self.stays_below(natural, symbol);
            (small || grows || tested).then_some(())?;
        }
        let start = self.closed(recurrence.start)?;
        let counter = Expression::Leaf(self.counters[natural.index]);
        Some(start.add(counter.multiply(step)))
    }

    /// Every iteration that comes to the latch has found the number below another of its width.
    fn stays_below(&self, natural: LoopPosition, symbol: Symbol) -> bool {
        let facts = self.numbering.facts;
        let body = &facts.host.functions[natural.function];
        let (flow, _) = &self.numbering.flows[&natural.function];
        exits(flow, natural).any(|block| {
            let Some(test) = test_of(body, flow, natural, block) else {
                return false;
            };
            let known = |operand: Operand| match operand {
                Operand::Instruction(at) => self.numbering.known(natural.function, at),
                _ => None,
            };
            match test.predicate {
                Predicate::Less { unsigned: true } => known(test.left) == Some(symbol),
                Predicate::Greater { unsigned: true } => known(test.right) == Some(symbol),
                _ => false,
            }
        })
    }

    fn operation(&mut self, symbol: Symbol) -> Option<Expression<ValueId>> {
        let Definition::Operation {
            operation,
            bits,
            operands,
        } = self.numbering.definition(symbol).clone()
        else {
            return None;
        };
        let exact = self.numbering.no_signed_wrap(symbol);
        let closed = match operation {
            Operation::SignExtend => return self.closed(operands[0]),
            Operation::ZeroExtend if exact => return self.closed(operands[0]),
            Operation::ZeroExtend => return self.closed_unsigned(operands[0]),
            Operation::Add => self.closed(operands[0])?.add(self.closed(operands[1])?),
            Operation::Subtract => {
                let left = self.closed(operands[0])?;
                left.subtract(self.closed(operands[1])?)
            }
            Operation::Multiply => {
                let left = self.closed(operands[0])?;
                left.multiply(self.closed(operands[1])?)
            }
            Operation::ShiftLeft => {
                let literal = self.numbering.literal(operands[1]);
                let by = literal.filter(|by| (0..62).contains(by))?;
                let left = self.closed(operands[0])?;
                left.multiply(Expression::Constant(1 << by))
            }
            Operation::DivideSigned | Operation::DivideUnsigned => {
                let divisor = self.numbering.literal(operands[1]);
                let divisor = divisor.filter(|divisor| *divisor > 0)?;
                self.numbering.range(operands[0]).1.then_some(())?;
                let left = self.closed(operands[0])?;
                return Some(left.floor_divide(Expression::Constant(divisor)));
            }
            _ => return None,
        };
        (exact || self.magnitude(&closed) <= bits).then_some(closed)
    }

    /// By how much `next` differs from `symbol`, when that is the same in every iteration, and
    /// whether the sum may wrap.
    fn step(
        &mut self,
        next: Symbol,
        symbol: Symbol,
        natural: LoopPosition,
    ) -> Option<(Expression<ValueId>, bool)> {
        self.left = self.left.checked_sub(1)?;
        if next == symbol {
            return Some((Expression::Constant(0), false));
        }
        match self.numbering.definition(next).clone() {
            Definition::Offset(base, bytes) => {
                let (step, wraps) = self.step(base, symbol, natural)?;
                Some((step.add(Expression::Constant(bytes)), wraps))
            }
            Definition::Displaced(base, bytes) => {
                let by = self.unchanging(bytes, natural)?;
                let (step, wraps) = self.step(base, symbol, natural)?;
                Some((step.add(by), wraps))
            }
            Definition::Operation {
                operation,
                operands,
                ..
            } if operands.len() == 2 => {
                let wrapping = !self.numbering.no_signed_wrap(next);
                let sign = match operation {
                    Operation::Add => 1,
                    Operation::Subtract => -1,
                    _ => return None,
                };
                let (moving, by) = match self.unchanging(operands[1], natural) {
                    Some(by) => (operands[0], by),
                    None if sign > 0 => (operands[1], self.unchanging(operands[0], natural)?),
                    None => return None,
                };
                let (step, wraps) = self.step(moving, symbol, natural)?;
                let by = by.multiply(Expression::Constant(sign));
                Some((step.add(by), wraps || wrapping))
            }
            _ => None,
        }
    }

    /// The closed form of what is the same in all iterations of a loop.
    fn unchanging(&mut self, symbol: Symbol, natural: LoopPosition) -> Option<Expression<ValueId>> {
        match self.numbering.varies_in(symbol) {
            Some(varies_in) if self.is_within(varies_in, natural) => None,
            _ => self.closed(symbol),
        }
    }

    /// Loop `inner` is `natural` or inside it.
    fn is_within(&self, inner: usize, natural: LoopPosition) -> bool {
        let (flow, first) = &self.numbering.flows[&natural.function];
        let mut at = inner.checked_sub(*first);
        while let Some(index) = at {
            if index == natural.local {
                return true;
            }
            at = flow.loops.get(index).and_then(|natural| natural.parent);
        }
        false
    }

    fn recurrence(&mut self, symbol: Symbol) -> Option<Recurrence> {
        if let Some(known) = self.recurrences.get(&symbol) {
            return *known;
        }
        // While it is looked for, it is none.
        self.recurrences.insert(symbol, None);
        let found = self.find_recurrence(symbol);
        self.recurrences.insert(symbol, found);
        found
    }

    fn find_recurrence(&mut self, symbol: Symbol) -> Option<Recurrence> {
        match *self.numbering.definition(symbol) {
            Definition::Instruction(function, at) => {
                let host = self.numbering.facts.host;
                let instruction = &host.functions[function].instructions[at];
                let Opcode::Phi { blocks } = &instruction.opcode else {
                    return None;
                };
                let (natural, entry, latch) = self.around(function, instruction.block)?;
                let from = |from: usize| {
                    let position = blocks.iter().position(|block| *block == from)?;
                    instruction.operands.get(position).copied()
                };
                let (start, next) = (from(entry)?, from(latch)?);
                Some(Recurrence {
                    natural,
                    start: self.numbering.operand(function, start, entry),
                    next: self.numbering.operand(function, next, latch),
                })
            }
            Definition::Load {
                address,
                bytes,
                version,
            } => {
                let Definition::JoinVersion(function, block) = *self.numbering.definition(version)
                else {
                    return None;
                };
                let (natural, entry, latch) = self.around(function, block)?;
                let moves = self.numbering.varies_in(address);
                if moves.is_some_and(|moves| self.is_within(moves, natural)) {
                    return None;
                }
                Some(Recurrence {
                    natural,
                    start: self
                        .numbering
                        .load_at_end(function, entry, address, bytes)?,
                    next: self
                        .numbering
                        .load_at_end(function, latch, address, bytes)?,
                })
            }
            _ => None,
        }
    }

    /// The loop of a header, with its one block before it and its one latch.
    fn around(&self, function: usize, header: usize) -> Option<(LoopPosition, usize, usize)> {
        let (flow, first) = self.numbering.flows.get(&function)?;
        let local = flow.innermost[header]?;
        let natural = &flow.loops[local];
        let [a, b] = flow.predecessors[header][..] else {
            return None;
        };
        let (entry, latch) = match natural.blocks.contains(&a) {
            true => (b, a),
            false => (a, b),
        };
        let place = LoopPosition {
            index: local + first,
            function,
            local,
        };
        let fits = natural.header == header
            && natural.blocks.contains(&latch)
            && !natural.blocks.contains(&entry);
        fits.then_some((place, entry, latch))
    }

    fn domain(
        &mut self,
        natural: LoopPosition,
        block_of: &dyn Fn(usize, usize) -> HostBlockId,
    ) -> Option<LoopDomain> {
        let facts = self.numbering.facts;
        let body = &facts.host.functions[natural.function];
        let (flow, _) = self.numbering.flows.get(&natural.function)?;
        let ways_out: Vec<usize> = exits(flow, natural).collect();
        let tests: Vec<(usize, Test)> = ways_out
            .iter()
            .filter_map(|block| Some((*block, test_of(body, flow, natural, *block)?)))
            .collect();
        let exact = ways_out.len() == 1;
        tests.into_iter().find_map(|(block, test)| {
            Some(LoopDomain {
                test: block_of(natural.function, block),
                passes: self.passes(natural, block, test, exact)?,
                exact,
            })
        })
    }

    /// In how many iterations the test lets the loop go on.
    fn passes(
        &mut self,
        natural: LoopPosition,
        block: usize,
        test: Test,
        only_way_out: bool,
    ) -> Option<Expression<ValueId>> {
        let mut side = |operand: Operand, unsigned: bool| {
            self.left = CLOSED_FORM_SIZE;
            let symbol = self.numbering.operand(natural.function, operand, block);
            match unsigned {
                true => self.closed_unsigned(symbol),
                false => self.closed(symbol),
            }
        };
        let unsigned = test.predicate.is_unsigned();
        let (left, right) = (side(test.left, unsigned)?, side(test.right, unsigned)?);
        let counter = self.counters[natural.index];
        let (left_step, right_step) = (coefficient(&left, counter)?, coefficient(&right, counter)?);
        let step = left_step.checked_sub(right_step)?;
        let at_start = |side: &Expression<ValueId>| {
            side.substitute(&mut |leaf| {
                Some(match *leaf == counter {
                    true => Expression::Constant(0),
                    false => Expression::Leaf(*leaf),
                })
            })
        };
        let (left, right) = (at_start(&left)?, at_start(&right)?);
        for side in [&left, &right] {
            let mut steady = true;
            side.substitute::<ValueId>(&mut |leaf| {
                let varies_in = self.table.values[leaf.0].varies_in;
                steady &= !varies_in.is_some_and(|inner| self.is_within(inner, natural));
                Some(Expression::Leaf(*leaf))
            })?;
            steady.then_some(())?;
        }
        // It goes on while `distance` is positive, and each iteration takes `size` from that.
        let one = Expression::Constant(1);
        let (distance, size) = match test.predicate {
            Predicate::Less { .. } if step > 0 => (right.subtract(left), step),
            Predicate::LessOrEqual { .. } if step > 0 => (right.subtract(left).add(one), step),
            Predicate::Greater { .. } if step < 0 => (left.subtract(right), step.checked_neg()?),
            Predicate::GreaterOrEqual { .. } if step < 0 => {
                (left.subtract(right).add(one), step.checked_neg()?)
            }
            // Past the bound such a loop would never end, so it starts on this side of it.
            Predicate::Different if step == 1 && only_way_out => (right.subtract(left), 1),
            Predicate::Different if step == -1 && only_way_out => (left.subtract(right), 1),
            Predicate::Different => {
                let distance = right.subtract(left).as_constant()?;
                let whole = distance.checked_rem(step)? == 0 && distance / step >= 0;
                return whole.then_some(Expression::Constant(distance / step));
            }
            _ => return None,
        };
        let rounded = distance.add(Expression::Constant(size - 1));
        let passes = rounded.floor_divide(Expression::Constant(size));
        Some(passes.maximum(Expression::Constant(0)))
    }

    /// Where a pointer points, as a function of the counters.
    fn course(&mut self, symbol: Symbol) -> Option<Course> {
        let (base, offset) = self.walk(symbol)?;
        let Some(turn) = self.turn(base) else {
            return Some(Course {
                turns_in: None,
                places: vec![self.place(base, offset)?],
            });
        };
        let (natural, starts) = turn;
        let mut places = Vec::new();
        for start in starts {
            let (base, from) = self.walk(start)?;
            places.push(self.place(base, from.add(offset.clone()))?);
        }
        Some(Course {
            turns_in: Some(natural.index),
            places,
        })
    }

    /// A pointer as a base and a distance from it.
    fn walk(&mut self, symbol: Symbol) -> Option<(Symbol, Expression<ValueId>)> {
        let mut base = symbol;
        let mut offset = Expression::Constant(0);
        loop {
            self.left = self.left.checked_sub(1)?;
            match *self.numbering.definition(base) {
                Definition::Offset(inner, bytes) => {
                    offset = offset.add(Expression::Constant(bytes));
                    base = inner;
                }
                Definition::Displaced(inner, bytes) => {
                    offset = offset.add(self.closed(bytes)?);
                    base = inner;
                }
                _ => {
                    let Some(recurrence) = self.recurrence(base) else {
                        return Some((base, offset));
                    };
                    let natural = recurrence.natural;
                    let Some((step, false)) = self.step(recurrence.next, base, natural) else {
                        return Some((base, offset));
                    };
                    let counter = Expression::Leaf(self.counters[natural.index]);
                    offset = offset.add(counter.multiply(step));
                    base = recurrence.start;
                }
            }
        }
    }

    /// The starts of pointers that change places in every iteration, from that of `first` on.
    fn turn(&mut self, first: Symbol) -> Option<(LoopPosition, Vec<Symbol>)> {
        let recurrence = self.recurrence(first)?;
        let mut starts = vec![recurrence.start];
        let mut at = recurrence.next;
        while at != first {
            let next = self.recurrence(at)?;
            let same = next.natural.index == recurrence.natural.index;
            (same && starts.len() < LONGEST_TURN).then_some(())?;
            starts.push(next.start);
            at = next.next;
        }
        Some((recurrence.natural, starts))
    }

    fn place(&mut self, base: Symbol, offset: Expression<ValueId>) -> Option<Place> {
        let object = match self.numbering.definition(base) {
            Definition::Allocation(function, at) => self.points_to.object_of_site(*function, *at),
            Definition::VariableAddress(global) => Some(self.points_to.object_of_global(*global)),
            _ => None,
        };
        let buffer = object.and_then(|object| self.table.buffers.get(&object));
        if let Some(buffer) = buffer {
            return Some(Place {
                root: Root::Buffer(*buffer),
                offset_bytes: offset,
            });
        }
        let (root, from) = self.table.value_root(self.numbering, base);
        Some(Place {
            root: Root::Value(root),
            offset_bytes: from?.add(offset),
        })
    }
}

/// A comparison that keeps a loop going while it holds.
#[derive(Clone, Copy)]
struct Test {
    predicate: Predicate,
    left: Operand,
    right: Operand,
}

#[derive(Clone, Copy)]
enum Predicate {
    Different,
    Less { unsigned: bool },
    LessOrEqual { unsigned: bool },
    Greater { unsigned: bool },
    GreaterOrEqual { unsigned: bool },
}

impl Predicate {
    /// LLVM's numbers of integer comparisons; `None` for those that count nothing.
    fn from_code(code: u32, holds: bool) -> Option<Self> {
        let unsigned = code < 38;
        // Equal and different, and then twice the four orders, unsigned ones first.
        Some(match (code, holds) {
            (33, true) | (32, false) => Self::Different,
            (34 | 38, true) | (37 | 41, false) => Self::Greater { unsigned },
            (35 | 39, true) | (36 | 40, false) => Self::GreaterOrEqual { unsigned },
            (36 | 40, true) | (35 | 39, false) => Self::Less { unsigned },
            (37 | 41, true) | (34 | 38, false) => Self::LessOrEqual { unsigned },
            _ => return None,
        })
    }

    fn is_unsigned(self) -> bool {
        match self {
            Self::Different => false,
            Self::Less { unsigned }
            | Self::LessOrEqual { unsigned }
            | Self::Greater { unsigned }
            | Self::GreaterOrEqual { unsigned } => unsigned,
        }
    }
}

/// Blocks of a loop from which control may leave it.
fn exits(flow: &ControlFlow, natural: LoopPosition) -> impl Iterator<Item = usize> {
    flow.loops[natural.local].exits.iter().copied()
}

/// The comparison at the end of `block`, when every iteration passes it.
fn test_of(
    body: &super::host_ir::Function,
    flow: &ControlFlow,
    natural: LoopPosition,
    block: usize,
) -> Option<Test> {
    let header = flow.loops[natural.local].header;
    let inside = |block: &usize| flow.contains(natural.local, *block);
    let latch = *flow.predecessors[header].iter().find(|from| inside(from))?;
    let [on_true, on_false] = body.blocks[block].successors[..] else {
        return None;
    };
    let stays = match (inside(&on_true), inside(&on_false)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    // An inner loop may pass the test several times in one iteration of this one.
    (flow.innermost[block] == Some(natural.local) && flow.dominates(block, latch)).then_some(())?;
    let branch = body.instructions[body.blocks[block].instructions.clone()].last()?;
    let [Operand::Instruction(at)] = branch.operands[..] else {
        return None;
    };
    let test = &body.instructions[at];
    let (
        Opcode::Pure {
            operation: Operation::Other(_, code),
            ..
        },
        [left, right],
    ) = (&test.opcode, &test.operands[..])
    else {
        return None;
    };
    Some(Test {
        predicate: Predicate::from_code(*code, stays)?,
        left: *left,
        right: *right,
    })
}

/// How often a number must double to grow by a factor.
fn doublings(factor: i64) -> u32 {
    64 - factor.unsigned_abs().saturating_sub(1).leading_zeros()
}

/// The coefficient of `counter`, when the expression is a constant multiple of it and something
/// that it does not stand in.
fn coefficient(expression: &Expression<ValueId>, counter: ValueId) -> Option<i64> {
    let of = |part: &Expression<ValueId>| coefficient(part, counter);
    match expression {
        Expression::Constant(_) => Some(0),
        Expression::Leaf(leaf) => Some(i64::from(*leaf == counter)),
        Expression::Add(a, b) => of(a)?.checked_add(of(b)?),
        Expression::Subtract(a, b) => of(a)?.checked_sub(of(b)?),
        Expression::Multiply(a, b) => match (a.as_constant(), b.as_constant()) {
            (Some(by), _) => of(b)?.checked_mul(by),
            (_, Some(by)) => of(a)?.checked_mul(by),
            _ => (of(a)? == 0 && of(b)? == 0).then_some(0),
        },
        Expression::FloorDivide(a, b) | Expression::Minimum(a, b) | Expression::Maximum(a, b) => {
            (of(a)? == 0 && of(b)? == 0).then_some(0)
        }
    }
}
