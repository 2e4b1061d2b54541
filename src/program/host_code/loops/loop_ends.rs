//! The last iteration of a host loop ends with what stands behind the loop.
//!
//! `for (…) { others; last; } behind;` becomes `for (…) { others; if (goes on) last; else { last; behind; leave } }`, so that
//! `last` and `behind` stand one after the other. Whether the loop goes on is what its test will say after `last`; it
//! is computed before where it is made of numbers that the host has by then. The host does the same in the same order.
//!
//! Invariant: what is written twice afterwards is what an iteration does from `last` to the test, and what the host does
//! from there through `behind`. Nothing is moved but computations that touch no memory. What cannot be written twice keeps its
//! loop as it is, and another way out of the loop leads to `behind` as it was.

use super::super::super::block_copies::{
    MOST_INSTRUCTIONS, Place, copy_instructions, is_arithmetic, may_stand_twice, redirect,
    split_behind,
};
use super::super::super::launches::{self, is_launch};
use super::super::super::loops::{self, Loop};
use super::super::super::rotation::up_to;
use crate::llvm::{Block, Builder, ControlFlow, IntegerPredicate, Opcode, Value};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// What stands for the numbers of launches until sites are numbered.
#[derive(Clone, Copy)]
pub(in crate::program) struct Marks {
    /// In the loop, at the end of an iteration that another one follows.
    pub(in crate::program) before_last: u32,
    /// At the end of the last iteration.
    pub(in crate::program) last: u32,
    /// Behind that.
    pub(in crate::program) behind: u32,
    /// Behind the loop, for those who come there by another way.
    pub(in crate::program) past: u32,
}

impl Marks {
    /// Those where all who come past the loop come from its last iteration.
    pub(in crate::program) fn without_past(self) -> Self {
        Self {
            past: self.behind,
            ..self
        }
    }
}

/// A loop whose test is known before its last launches.
pub(in crate::program) struct LoopEnd<'ctx> {
    /// The last launch of those behind the loop, where some are to follow.
    through: Option<Value<'ctx>>,
    /// What the test will say; what follows it is the end of the iteration.
    decision: Value<'ctx>,
    /// The branch that leaves the loop, and which of its successors is outside.
    test: Value<'ctx>,
    exit: usize,
    /// A counter, and what it is in the last iteration.
    counter: Option<(Value<'ctx>, Value<'ctx>)>,
}

impl<'ctx> LoopEnd<'ctx> {
    /// Computes in front of a launch of a loop whether the loop goes on afterwards, where that can be. `through` stands
    /// behind the loop; without it the end of the last iteration alone is written by itself.
    pub(in crate::program) fn prepare(
        function: Value<'ctx>,
        (site, through): (Value<'ctx>, Option<Value<'ctx>>),
    ) -> Option<Self> {
        let flow = ControlFlow::of(function)?;
        let around = loops::innermost(&flow, site.parent_block()?)?;
        let behind = through.map(|through| through.parent_block());
        let behind = match behind {
            Some(None) => return None,
            behind => behind.flatten(),
        };
        let place = Place::new(function, site, false)?;
        let tests = exit_tests(&around, (site, behind));
        let found = tests.into_iter().find_map(|(test, exit, is_next)| {
            let condition = *test.operands().first()?;
            let mut early = Early {
                around: &around,
                flow: &flow,
                place: &place,
                site: site.parent_block()?,
                builder: Builder::before(site),
                counter: is_next
                    .then(|| Counter::of(&around, (test, exit)))
                    .flatten(),
                copies: HashMap::new(),
                leaves: HashSet::new(),
            };
            early.can_be(condition, is_next, 0).then_some(())?;
            let value = early.value(condition, is_next)?;
            let tested = leaves_of(condition, &around);
            // What was tested when the iteration began is a number; of anything else that is not known before
            // the loop comes to its test.
            let is_number = is_next && early.leaves.is_subset(&tested);
            let decision = match is_number {
                true => early.builder.and_true(value),
                false => early.builder.freeze(value),
            };
            Some((test, exit, is_next, decision))
        });
        let (test, exit, is_next, decision) = found?;
        let copies = place.compute_again(function, site);
        let counter = is_next
            .then(|| Counter::of(&around, (test, exit)))
            .flatten();
        let counter = counter.map(|counter| {
            let phi = counter.phi;
            let builder = Builder::after(decision);
            // What takes the one may take the other from its place on.
            let at_last = builder.add_number(counter.bound, counter.distance);
            let as_it_is = builder.add_number(phi, 0);
            let mut uses: Vec<(Value, u32)> = place.uses(phi).into_iter().collect();
            for copy in copies {
                let operands = (0..).zip(copy.operands());
                let uses_phi = operands.filter(|(_, operand)| *operand == phi);
                uses.extend(uses_phi.map(|(index, _)| (copy, index)));
            }
            for (user, index) in uses {
                user.set_operand(index, as_it_is);
            }
            (as_it_is, at_last)
        });
        Some(Self {
            through,
            decision,
            test,
            exit,
            counter,
        })
    }

    /// Gives the end of an iteration and the launches behind the loop blocks of their own. Values do not leave their
    /// blocks.
    pub(in crate::program) fn cut(&self, function: Value<'ctx>) -> Option<Cut<'ctx>> {
        let end = split_behind(function, self.decision)?;
        let next = match self.through {
            Some(through) => Some((through, split_behind(function, through)?)),
            None => None,
        };
        Some(Cut { end, next })
    }

    /// Writes the end of an iteration twice, for the last one and for others, and behind the last one what stands behind
    /// the loop. Where that cannot be done, the loop stays.
    pub(in crate::program) fn split(
        &self,
        (host, function): (&Module<'ctx>, Value<'ctx>),
        cut: &Cut<'ctx>,
        marks: Marks,
    ) -> Option<LastIteration<'ctx>> {
        let flow = ControlFlow::of(function)?;
        let around = loops::innermost(&flow, cut.end)?;
        let deciding = self.decision.parent_block()?;
        let testing = self.test.parent_block()?;
        let outside = *self.test.successors().get(self.exit)?;
        let region = end_of_iteration(function, &around, (cut.end, self.test))?;
        let behind = match cut.next {
            Some((through, next)) => {
                behind(function, &flow, (outside, through.parent_block()?, next))?
            }
            None => Vec::new(),
        };
        // The header tests in front of the first iteration as well.
        let is_header = testing == around.header;
        let decides = match is_header {
            true => flow.dominates(deciding, around.latch),
            false => flow.dominates(deciding, testing),
        };
        let all = region.iter().chain(&behind);
        let instructions: Vec<Value> = all.flat_map(|block| block.instructions()).collect();
        let in_header = || around.header.instructions().into_iter().any(is_launch);
        if around.blocks.contains(&outside)
            || behind.iter().any(|block| around.blocks.contains(block))
            || instructions.len() > MOST_INSTRUCTIONS
            || !instructions.into_iter().all(may_stand_twice)
            || is_header && in_header()
        {
            return None;
        }
        let entries: Vec<Block> = (around.header.predecessors().into_iter())
            .filter(|block| !around.blocks.contains(block))
            .collect();
        for (blocks, mark) in [(&region, marks.before_last), (&behind, marks.past)] {
            mark_launches(host, blocks, mark);
        }
        let copies = copy(function, &region, outside);
        let end = *copies.blocks.get(&cut.end)?;
        let test = copies.blocks.get(&testing)?.terminator()?;
        let copies_behind = copy(function, &behind, outside);
        // What the last iteration ends with goes on behind the loop, whatever the test says: it says so.
        let to = copies_behind
            .blocks
            .get(&outside)
            .copied()
            .unwrap_or(outside);
        let leaving = test.parent_block()?;
        test.erase();
        Builder::at_end(leaving).branch(to);
        if let Some((as_it_is, at_last)) = self.counter {
            // A bound that is a constant has no copy.
            let of = |value: Value<'ctx>| copies.values.get(&value).copied().unwrap_or(value);
            of(as_it_is).replace_uses_with(of(at_last));
        }
        let last: Vec<Block> = region.iter().map(|block| copies.blocks[block]).collect();
        mark_launches(host, &last, marks.last);
        let written: Vec<Block> = copies_behind.blocks.values().copied().collect();
        mark_launches(host, &written, marks.behind);
        // Who comes to the test from now on goes on, but for the first time.
        if decides {
            if is_header {
                let first = copy(function, &[testing], testing);
                let first = HashMap::from([(testing, *first.blocks.get(&testing)?)]);
                entries
                    .into_iter()
                    .for_each(|entry| redirect(entry, &first));
            }
            let stays = *self.test.successors().get(1 - self.exit)?;
            self.test.erase();
            Builder::at_end(testing).branch(stays);
        }
        deciding.terminator()?.erase();
        let builder = Builder::at_end(deciding);
        let ways = match self.exit {
            0 => (end, cut.end),
            _ => (cut.end, end),
        };
        builder.branch_if(self.decision, ways.0, ways.1);
        Some(LastIteration {
            decision: self.decision,
            goes_on: cut.end,
            last,
        })
    }
}

/// The end of a last iteration that was written by itself.
pub(in crate::program) struct LastIteration<'ctx> {
    /// What tells whether it is the last.
    decision: Value<'ctx>,
    /// Where other iterations go on.
    goes_on: Block<'ctx>,
    /// Its blocks.
    last: Vec<Block<'ctx>>,
}

impl<'ctx> LastIteration<'ctx> {
    /// Has the first iteration be decided by itself: what comes before its end stands in front of the loop, too, and so does
    /// its end where it is the last. An iteration then begins with the end of the one before. Values go through memory.
    pub(in crate::program) fn lead_in(
        &self,
        (host, function): (&Module<'_>, Value),
        mark: u32,
    ) -> Option<()> {
        let around = loops::innermost(&ControlFlow::of(function)?, self.goes_on)?;
        let before = up_to(function, &around, (self.decision, self.goes_on))?;
        let entries: Vec<Block> = (around.header.predecessors().into_iter())
            .filter(|block| !around.blocks.contains(block))
            .collect();
        let all: Vec<Block> = before.iter().chain(&self.last).copied().collect();
        let instructions = all.iter().flat_map(|block| block.instructions());
        let instructions: Vec<Value> = instructions.collect();
        let launches = before.iter().flat_map(|block| block.instructions());
        if instructions.len() > MOST_INSTRUCTIONS
            || !instructions.into_iter().all(may_stand_twice)
            || launches.into_iter().any(is_launch)
        {
            return None;
        }
        let copies = copy(function, &all, around.header);
        let last: Vec<Block> = self.last.iter().map(|block| copies.blocks[block]).collect();
        mark_launches(host, &last, mark);
        let to_header = HashMap::from([(around.header, *copies.blocks.get(&around.header)?)]);
        entries
            .into_iter()
            .for_each(|entry| redirect(entry, &to_header));
        Some(())
    }
}

/// Where a function was cut for a [`LoopEnd`].
pub(in crate::program) struct Cut<'ctx> {
    /// The end of an iteration.
    end: Block<'ctx>,
    /// The last launch behind the loop, and what comes behind it.
    next: Option<(Value<'ctx>, Block<'ctx>)>,
}

/// The branches by which a loop may be left behind a launch for a place behind it, in the order in which the loop comes to
/// them; each with the successor that is outside, and whether the next iteration has begun by then.
fn exit_tests<'ctx>(
    around: &Loop<'ctx>,
    (site, behind): (Value<'ctx>, Option<Block<'ctx>>),
) -> Vec<(Value<'ctx>, usize, bool)> {
    let mut found = Vec::new();
    let Some(mut block) = site.parent_block() else {
        return found;
    };
    let mut is_next = false;
    for _ in 0..=around.blocks.len() {
        let Some(end) = block.terminator() else {
            break;
        };
        let successors = end.successors();
        let is_inside = |block: &&Block| around.blocks.contains(*block);
        let inside: Vec<Block> = successors.iter().filter(is_inside).copied().collect();
        let is_branch = end.opcode() == Some(Opcode::LLVMBr) && successors.len() == 2;
        if is_branch && inside.len() == 1 {
            let exit = usize::from(successors[0] == inside[0]);
            // Errors are told where nothing comes back from.
            let outside = successors[exit];
            let leads_on = match behind {
                Some(behind) => loops::reaches_without(outside, behind, around.header),
                None => outside
                    .terminator()
                    .is_some_and(|end| end.opcode() != Some(Opcode::LLVMUnreachable)),
            };
            if leads_on {
                found.push((end, exit, is_next));
            }
        }
        if is_next {
            break;
        }
        let next = match inside[..] {
            [next] => next,
            // Ways of the same iteration meet at its end.
            _ if block != around.latch => around.latch,
            _ => break,
        };
        if next == around.header {
            if Some(next) == site.parent_block() {
                break;
            }
            is_next = true;
        }
        block = next;
    }
    found
}

/// What is computed before its time.
struct Early<'a, 'ctx> {
    around: &'a Loop<'ctx>,
    flow: &'a ControlFlow<'ctx>,
    place: &'a Place<'ctx>,
    /// The block of the launch in front of which it is computed.
    site: Block<'ctx>,
    builder: Builder<'ctx>,
    /// The counter that the loop tests when an iteration begins.
    counter: Option<Counter<'ctx>>,
    copies: HashMap<(Value<'ctx>, bool), Value<'ctx>>,
    /// What it is computed of.
    leaves: HashSet<Value<'ctx>>,
}

impl<'ctx> Early<'_, 'ctx> {
    /// Whether a value of this iteration, or of the one that comes next, can be computed in front of the launch.
    fn can_be(&self, value: Value, is_next: bool, depth: usize) -> bool {
        if self.is_there(value, is_next) {
            return true;
        }
        if depth > DEEPEST {
            return false;
        }
        match self.carried(value, is_next) {
            Some(value) => self.can_be(value, false, depth + 1),
            None => {
                let is_in_its_time = !is_next || value.parent_block() == Some(self.around.header);
                let mut operands = value.operands().into_iter();
                is_in_its_time
                    && is_computation(value)
                    && operands.all(|operand| self.can_be(operand, is_next, depth + 1))
            }
        }
    }

    /// The value, computed in front of the launch.
    fn value(&mut self, value: Value<'ctx>, is_next: bool) -> Option<Value<'ctx>> {
        if self.is_there(value, is_next) {
            if value.parent_block().is_some() || value.is_parameter() {
                self.leaves.insert(value);
            }
            return Some(value);
        }
        if let Some(copy) = self.copies.get(&(value, is_next)) {
            return Some(*copy);
        }
        let copy = match self.carried(value, is_next) {
            Some(carried) => self.value(carried, false)?,
            None => {
                let operands = value.operands().into_iter();
                let operands = operands.map(|operand| self.value(operand, is_next));
                let operands: Vec<Value> = operands.collect::<Option<_>>()?;
                let copy = value.copy_instruction();
                self.builder.put(copy);
                for (index, operand) in (0..).zip(operands) {
                    copy.set_operand(index, operand);
                }
                // What holds where the loop tests need not hold here.
                copy.drop_promises();
                if let Some(counter) = self.counter.as_ref().filter(|of| of.next == value) {
                    counter.rises(copy);
                }
                copy
            }
        };
        self.copies.insert((value, is_next), copy);
        Some(copy)
    }

    /// Whether a value is there in front of the launch.
    fn is_there(&self, value: Value, is_next: bool) -> bool {
        match value.parent_block() {
            None => true,
            Some(block) if !self.around.blocks.contains(&block) => true,
            Some(_) if is_next => false,
            Some(block) if block == self.site => self.place.is_before(value),
            Some(block) => self.flow.dominates(block, self.site),
        }
    }

    /// What an iteration hands on to the next one, of a value of the next one's beginning.
    fn carried(&self, value: Value<'ctx>, is_next: bool) -> Option<Value<'ctx>> {
        let is_own = is_next && self.around.is_own_phi(value);
        let (_, next) = is_own.then(|| self.around.incoming(value)).flatten()?;
        Some(next)
    }
}

/// Longer computations are not made twice.
const DEEPEST: usize = 16;

/// Instructions that compute a number of numbers, whenever they do, and nothing else.
fn is_computation(value: Value) -> bool {
    use Opcode::*;
    is_arithmetic(value)
        || matches!(
            value.opcode(),
            Some(
                LLVMFCmp
                    | LLVMFAdd
                    | LLVMFSub
                    | LLVMFMul
                    | LLVMPtrToInt
                    | LLVMFPExt
                    | LLVMFPTrunc
                    | LLVMSIToFP
                    | LLVMUIToFP
                    | LLVMFDiv
                    | LLVMFPToSI
                    | LLVMFPToUI
                    | LLVMFreeze
            )
        )
        || divides_by_number(value)
        || rounds(value)
}

/// A division that cannot fail.
fn divides_by_number(value: Value) -> bool {
    use Opcode::*;
    let divides = matches!(
        value.opcode(),
        Some(LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem)
    );
    let divisor = value.operands().get(1).and_then(|by| by.signed_integer());
    divides && divisor.is_some_and(|by| by != 0 && by != -1)
}

/// A call that rounds a number, or takes the smaller or larger of two.
fn rounds(value: Value) -> bool {
    const NAMES: [&str; 9] = [
        "llvm.ceil.",
        "llvm.floor.",
        "llvm.trunc.",
        "llvm.smax.",
        "llvm.smin.",
        "llvm.umax.",
        "llvm.umin.",
        "llvm.maxnum.",
        "llvm.minnum.",
    ];
    let called = value.called_name();
    value.opcode() == Some(Opcode::LLVMCall)
        && called.is_some_and(|called| NAMES.iter().any(|name| called.starts_with(name)))
}

/// What the test of a header is computed of.
fn leaves_of<'ctx>(condition: Value<'ctx>, around: &Loop<'ctx>) -> HashSet<Value<'ctx>> {
    let mut found = HashSet::new();
    let mut open = vec![condition];
    while let Some(value) = open.pop() {
        let is_inside = (value.parent_block()).is_some_and(|block| around.blocks.contains(&block));
        // Only where an operand is poison, the whole is.
        let passes_on = matches!(
            value.opcode(),
            Some(Opcode::LLVMICmp | Opcode::LLVMAdd | Opcode::LLVMSub)
        );
        match is_inside && passes_on {
            true => open.extend(value.operands()),
            false => {
                found.insert(value);
            }
        }
    }
    found
}

/// A counter of a loop that its header tests.
pub(in crate::program) struct Counter<'ctx> {
    phi: Value<'ctx>,
    /// What it is after an iteration.
    pub(in crate::program) next: Value<'ctx>,
    step: i64,
    first: Value<'ctx>,
    /// The test by which the loop goes on, of the counter and its bound.
    goes_on: IntegerPredicate,
    bound: Value<'ctx>,
    /// In the last iteration the counter is the bound and this.
    distance: i64,
}

impl<'ctx> Counter<'ctx> {
    /// The counter of a test of the header with the successor that is outside.
    pub(in crate::program) fn of(
        around: &Loop<'ctx>,
        (test, exit): (Value<'ctx>, usize),
    ) -> Option<Self> {
        use IntegerPredicate::*;
        let condition = *test.operands().first()?;
        let predicate = condition.integer_predicate()?;
        let [one, two] = condition.operands()[..] else {
            return None;
        };
        let (phi, bound, predicate) = match around.is_own_phi(one) {
            true => (one, two, predicate),
            false => (two, one, turned(predicate)),
        };
        let is_inside = (bound.parent_block()).is_some_and(|block| around.blocks.contains(&block));
        if is_inside || !around.is_own_phi(phi) {
            return None;
        }
        let (first, next) = around.incoming(phi)?;
        let step = match next.operands()[..] {
            [from, step] if next.opcode() == Some(Opcode::LLVMAdd) && from == phi => {
                step.signed_integer()?
            }
            _ => return None,
        };
        let goes_on = match exit {
            0 => negated(predicate),
            _ => predicate,
        };
        // It was below the bound when the iteration began, and one step on it is not.
        let distance = match (goes_on, step) {
            (LLVMIntNE, _) | (LLVMIntSLT | LLVMIntULT, 1) | (LLVMIntSGT | LLVMIntUGT, -1) => -step,
            (LLVMIntSLE | LLVMIntULE, 1) | (LLVMIntSGE | LLVMIntUGE, -1) => 0,
            _ => return None,
        };
        Some(Self {
            phi,
            next,
            step,
            first,
            goes_on,
            bound,
            distance,
        })
    }

    /// Says of a step, made behind the test, that it does not wrap: it leads to the bound at most.
    pub(in crate::program) fn rises(&self, step: Value) {
        let is_natural = self.first.signed_integer().is_some_and(|first| first >= 0);
        match self.goes_on {
            IntegerPredicate::LLVMIntULT if self.step == 1 => step.promise_no_unsigned_wrap(),
            IntegerPredicate::LLVMIntSLT if self.step == 1 => {
                step.promise_no_signed_wrap();
                if is_natural {
                    step.promise_no_unsigned_wrap();
                }
            }
            _ => {}
        }
    }
}

fn turned(predicate: IntegerPredicate) -> IntegerPredicate {
    use IntegerPredicate::*;
    match predicate {
        LLVMIntSLT => LLVMIntSGT,
        LLVMIntSGT => LLVMIntSLT,
        LLVMIntSLE => LLVMIntSGE,
        LLVMIntSGE => LLVMIntSLE,
        LLVMIntULT => LLVMIntUGT,
        LLVMIntUGT => LLVMIntULT,
        LLVMIntULE => LLVMIntUGE,
        LLVMIntUGE => LLVMIntULE,
        same => same,
    }
}

fn negated(predicate: IntegerPredicate) -> IntegerPredicate {
    use IntegerPredicate::*;
    match predicate {
        LLVMIntEQ => LLVMIntNE,
        LLVMIntNE => LLVMIntEQ,
        LLVMIntSLT => LLVMIntSGE,
        LLVMIntSGE => LLVMIntSLT,
        LLVMIntSLE => LLVMIntSGT,
        LLVMIntSGT => LLVMIntSLE,
        LLVMIntULT => LLVMIntUGE,
        LLVMIntUGE => LLVMIntULT,
        LLVMIntULE => LLVMIntUGT,
        LLVMIntUGT => LLVMIntULE,
    }
}

/// The blocks from the end of an iteration to the test, in the order of the function; `None` where an iteration can end without
/// the test.
fn end_of_iteration<'ctx>(
    function: Value<'ctx>,
    around: &Loop<'ctx>,
    (from, test): (Block<'ctx>, Value<'ctx>),
) -> Option<Vec<Block<'ctx>>> {
    let testing = test.parent_block()?;
    let mut found = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if block == testing {
            continue;
        }
        for after in block.terminator()?.successors() {
            if !around.blocks.contains(&after) {
                continue;
            }
            if after == around.header && testing != around.header {
                return None;
            }
            if found.insert(after) {
                open.push(after);
            }
        }
    }
    let in_order = function.blocks().into_iter();
    (found.contains(&testing) && !(from == around.header && testing != from))
        .then(|| in_order.filter(|block| found.contains(block)).collect())
}

/// The blocks behind a loop through a launch, in the order of the function.
fn behind<'ctx>(
    function: Value<'ctx>,
    flow: &ControlFlow<'ctx>,
    (outside, through, next): (Block<'ctx>, Block<'ctx>, Block<'ctx>),
) -> Option<Vec<Block<'ctx>>> {
    let mut found = HashSet::from([outside]);
    let mut open = vec![outside];
    while let Some(block) = open.pop() {
        for after in block.terminator()?.successors() {
            // An outer loop's next iteration is none of them.
            let is_behind = after != next && !flow.dominates(after, outside);
            if is_behind && found.insert(after) {
                open.push(after);
            }
        }
    }
    let mut leading = HashSet::from([through]);
    let mut open = vec![through];
    while let Some(block) = open.pop() {
        for before in block.predecessors() {
            if found.contains(&before) && leading.insert(before) {
                open.push(before);
            }
        }
    }
    let in_order = function.blocks().into_iter();
    (found.contains(&through) && leading.contains(&outside))
        .then(|| in_order.filter(|block| leading.contains(block)).collect())
}

/// Blocks that were written again.
struct Copies<'ctx> {
    blocks: HashMap<Block<'ctx>, Block<'ctx>>,
    values: HashMap<Value<'ctx>, Value<'ctx>>,
}

/// Copies blocks, which go to each other, and stand before another one.
fn copy<'ctx>(function: Value<'ctx>, blocks: &[Block<'ctx>], before: Block<'ctx>) -> Copies<'ctx> {
    let copies: HashMap<Block, Block> = blocks
        .iter()
        .map(|block| (*block, Block::append(function, "")))
        .collect();
    let mut values = HashMap::new();
    for block in blocks {
        let copy = copies[block];
        copy.move_before(before);
        values.extend(copy_instructions(*block, copy));
        redirect(copy, &copies);
    }
    Copies {
        blocks: copies,
        values,
    }
}

fn mark_launches(host: &Module<'_>, blocks: &[Block], mark: u32) {
    let instructions = blocks.iter().flat_map(|block| block.instructions());
    for launch in instructions.filter(|each| is_launch(*each)) {
        launches::mark(host, launch, mark);
    }
}
