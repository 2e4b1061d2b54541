//! Numbers as sums, and whether two loops that count run equally often, wherever their counters begin.
//!
//! What a counter begins with, and what it is compared with, are read as sums of numbers. A loop whose
//! counter advances by a constant runs as often as another one with the same test and step when the way
//! from its begin to its bound is the same.
//!
//! Invariant: a sum is exactly the number that the kernel computes, read as signed. An operation that may
//! wrap is one number of which only the type is known; LLVM's `nsw` says that none does in a run that is
//! defined.

use super::super::memory::made_alike;
use crate::llvm::{Block, IntegerPredicate, Opcode, Value};

/// How a loop counts.
pub(in crate::codegen::fused_kernels::fuse) struct Counting<'ctx> {
    begin: Value<'ctx>,
    step: i128,
    bound: Value<'ctx>,
    predicate: IntegerPredicate,
    counter: Value<'ctx>,
    /// The counter of the next iteration.
    next: Value<'ctx>,
    /// That is what is compared, and not the counter.
    tests_next: bool,
}

impl<'ctx> Counting<'ctx> {
    /// Of a loop that goes on while `condition` holds, is entered from `before`, and runs again from `latch`.
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        condition: Value<'ctx>,
        before: Block<'ctx>,
        latch: Block<'ctx>,
    ) -> Option<Self> {
        if !condition.is_instruction() || condition.opcode() != Some(Opcode::LLVMICmp) {
            return None;
        }
        let (tested, bound) = (condition.operand(0), condition.operand(1));
        if !tested.is_instruction() {
            return None;
        }
        let tests_next = tested.opcode() == Some(Opcode::LLVMAdd);
        let counter = match tests_next {
            true => (0..2).map(|index| tested.operand(index)).find(|operand| {
                operand.is_instruction() && operand.opcode() == Some(Opcode::LLVMPHI)
            })?,
            false => tested,
        };
        if counter.opcode() != Some(Opcode::LLVMPHI) {
            return None;
        }
        let incoming = counter.incoming();
        let [one, other] = incoming[..] else {
            return None;
        };
        let from = |block: Block| {
            [one, other]
                .into_iter()
                .find(|(_, source)| *source == block)
        };
        let (begin, next) = (from(before)?.0, from(latch)?.0);
        if !begin.ty().is_integer() || begin.ty().integer_bits() > 64 {
            return None;
        }
        if !next.is_instruction()
            || next.opcode() != Some(Opcode::LLVMAdd)
            || tests_next && tested != next
        {
            return None;
        }
        let step = match (next.operand(0), next.operand(1)) {
            (one, step) | (step, one) if one == counter => signed(step)?,
            _ => return None,
        };
        Some(Self {
            begin,
            step,
            bound,
            predicate: condition.integer_predicate()?,
            counter,
            next,
            tests_next,
        })
    }

    /// Whether each counter is the one before it and the step, as numbers.
    fn never_wraps(&self) -> bool {
        self.next.has_no_signed_wrap() || Sum::of(self.next).apart_from(self.counter).0 == 1
    }

    /// How often the loop runs, where that is a constant.
    pub(in crate::codegen::fused_kernels::fuse) fn iterations(&self) -> Option<u64> {
        let distance = Sum::of(self.bound).minus(&Sum::of(self.begin));
        let rises = matches!(
            self.predicate,
            IntegerPredicate::LLVMIntSLT | IntegerPredicate::LLVMIntULT
        );
        let constant = distance.terms.is_empty() && rises && self.step > 0 && !self.tests_next;
        let iterations = (distance.constant + self.step - 1) / self.step.max(1);
        constant.then(|| u64::try_from(iterations).ok())?
    }

    /// Whether another loop, begun by the same thread, runs as often.
    pub(in crate::codegen::fused_kernels::fuse) fn is_as_often_as(&self, other: &Self) -> bool {
        let sums = [self.begin, self.bound, other.begin, other.bound].map(Sum::of);
        let from_zero = sums.iter().all(|sum| sum.low >= 0);
        let predicate = |of: &Self| match of.predicate {
            // Counters that do not wrap are not negative either.
            IntegerPredicate::LLVMIntULT if from_zero && of.never_wraps() => {
                IntegerPredicate::LLVMIntSLT
            }
            other => other,
        };
        let same_form = self.begin.ty() == other.begin.ty()
            && (self.step, self.tests_next) == (other.step, other.tests_next)
            && predicate(self) == predicate(other);
        if !same_form || self.step == 0 {
            return false;
        }
        let both = [self, other];
        // The last counter is at most the bound then, and the same number of steps from it.
        let arrives =
            || !self.tests_next && self.step.abs() == 1 || both.into_iter().all(Self::never_wraps);
        let ordered = match predicate(self) {
            // Differences are all that matters, and wrap alike.
            IntegerPredicate::LLVMIntNE => true,
            IntegerPredicate::LLVMIntSLT => self.step > 0 && arrives(),
            IntegerPredicate::LLVMIntSGT => self.step < 0 && arrives(),
            IntegerPredicate::LLVMIntULT => self.step > 0 && arrives() && from_zero,
            _ => false,
        };
        let [begin, bound, other_begin, other_bound] = &sums;
        ordered
            && bound
                .minus(begin)
                .minus(&other_bound.minus(other_begin))
                .as_constant()
                == Some(0)
    }
}

/// Whether a loop that goes on while `condition` holds, is entered from `before`, and runs again from `latch` runs exactly
/// once: LLVM makes a flag, which is set at first and then is not, of the counter of such a loop.
pub(in crate::codegen::fused_kernels::fuse) fn runs_once(
    condition: Value,
    before: Block,
    latch: Block,
) -> bool {
    if !condition.is_instruction() || condition.opcode() != Some(Opcode::LLVMPHI) {
        return false;
    }
    let incoming = condition.incoming();
    let is = |block: Block, flag: u64| {
        let mut of_block = incoming.iter().filter(|(_, source)| *source == block);
        of_block.any(|(value, _)| value.constant_integer() == Some(flag))
    };
    incoming.len() == 2 && is(before, 1) && is(latch, 0)
}

/// So many operations of a sum are taken apart that stand in each other: one that uses another twice is read twice.
const MOST_DEPTH: usize = 14;

/// A number that is not taken apart.
#[derive(Clone, Copy)]
enum Term<'ctx> {
    Value(Value<'ctx>),
    /// What so many of the lowest bits of a value are.
    LowBits(Value<'ctx>, u32),
}

impl<'ctx> Term<'ctx> {
    fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Value(one), Self::Value(other)) => made_alike(one, other),
            (Self::LowBits(one, bits), Self::LowBits(other, others)) => {
                bits == others && made_alike(one, other)
            }
            _ => false,
        }
    }
}

/// A sum of multiples of numbers.
#[derive(Clone)]
pub(in crate::codegen::fused_kernels::fuse) struct Sum<'ctx> {
    constant: i128,
    terms: Vec<(i128, Term<'ctx>)>,
    /// It is at least this,
    low: i128,
    /// and at most this.
    high: i128,
}

impl<'ctx> Sum<'ctx> {
    /// What a kernel computes.
    pub(in crate::codegen::fused_kernels::fuse) fn of(value: Value<'ctx>) -> Self {
        Self::read(value, MOST_DEPTH)
    }

    /// The same, of which so many operations are taken apart that stand in each other.
    fn read(value: Value<'ctx>, depth: usize) -> Self {
        if value.ty().integer_bits() > 64 {
            return Self::term(Term::Value(value), -(1 << 100), 1 << 100);
        }
        let (least, most) = limits(value.ty().integer_bits());
        if let Some(constant) = signed(value) {
            return Self::constant(constant);
        }
        let atom = || {
            let (low, high) = range(value, depth).unwrap_or((least, most));
            Self::term(Term::Value(value), low, high)
        };
        if !value.is_instruction() || depth == 0 {
            return atom();
        }
        let operand = |index| Self::read(value.operand(index), depth - 1);
        let multiple = |index: u32, factor: Option<i128>| {
            let factor = factor.filter(|factor| factor.abs() <= most)?;
            Some(operand(index).times(factor))
        };
        let computed = match value.opcode() {
            Some(Opcode::LLVMAdd) => operand(0).plus(&operand(1)),
            Some(Opcode::LLVMSub) => operand(0).minus(&operand(1)),
            Some(Opcode::LLVMMul) => {
                let product = multiple(0, signed(value.operand(1)));
                match product.or_else(|| multiple(1, signed(value.operand(0)))) {
                    Some(product) => product,
                    None => return atom(),
                }
            }
            Some(Opcode::LLVMShl) => {
                let shift = signed(value.operand(1)).filter(|shift| (0..62).contains(shift));
                match multiple(0, shift.map(|shift| 1 << shift)) {
                    Some(product) => product,
                    None => return atom(),
                }
            }
            // No bit is carried: it is the sum.
            Some(Opcode::LLVMOr) if value.is_disjoint() => {
                let sum = operand(0).plus(&operand(1));
                return sum.within(least, most);
            }
            // The lowest bits are set, whatever they were.
            Some(Opcode::LLVMOr) => {
                let bits = signed(value.operand(1)).and_then(low_mask);
                let set = bits.map(|bits| {
                    let cleared = operand(0).minus(&Self::low_bits(value.operand(0), bits));
                    cleared.plus(&Self::constant((1 << bits) - 1))
                });
                return set.map_or_else(atom, |set| set.within(least, most));
            }
            Some(Opcode::LLVMAnd) => {
                let masked = signed(value.operand(1)).and_then(|mask| {
                    let of = value.operand(0);
                    match low_mask(mask) {
                        Some(bits) => Some(Self::low_bits(of, bits)),
                        None => {
                            let all = operand(0);
                            let bits = clears_low_bits(mask, &all)?;
                            let rest = all.minus(&Self::low_bits(of, bits));
                            Some(rest.within(least.min(all.low), all.high))
                        }
                    }
                });
                return masked.unwrap_or_else(atom);
            }
            Some(Opcode::LLVMSExt) => return operand(0),
            Some(Opcode::LLVMZExt) => {
                let narrow = operand(0);
                return match narrow.low >= 0 {
                    true => narrow,
                    false if value.is_of_no_negative() => {
                        let most = narrow.high.max(0);
                        narrow.within(0, most)
                    }
                    false => atom(),
                };
            }
            _ => return atom(),
        };
        let factors = computed.terms.iter().map(|(factor, _)| *factor);
        if factors
            .chain([computed.constant])
            .any(|factor| factor.abs() > 1 << 62)
        {
            return atom();
        }
        match computed.low >= least && computed.high <= most {
            true => computed,
            false if value.has_no_signed_wrap() => computed.within(least, most),
            false => atom(),
        }
    }

    fn term(term: Term<'ctx>, low: i128, high: i128) -> Self {
        Self {
            constant: 0,
            terms: vec![(1, term)],
            low,
            high,
        }
    }

    fn low_bits(value: Value<'ctx>, bits: u32) -> Self {
        Self::term(Term::LowBits(value, bits), 0, (1 << bits) - 1)
    }

    pub(in crate::codegen::fused_kernels::fuse) fn constant(constant: i128) -> Self {
        Self {
            constant,
            terms: Vec::new(),
            low: constant,
            high: constant,
        }
    }

    /// The same, of which it is known to lie there.
    fn within(self, least: i128, most: i128) -> Self {
        Self {
            low: self.low.max(least),
            high: self.high.min(most),
            ..self
        }
    }

    pub(in crate::codegen::fused_kernels::fuse) fn times(&self, factor: i128) -> Self {
        let (one, other) = (self.low * factor, self.high * factor);
        let terms = self.terms.iter();
        Self {
            constant: self.constant * factor,
            terms: terms.map(|(known, term)| (known * factor, *term)).collect(),
            low: one.min(other),
            high: one.max(other),
        }
    }

    pub(in crate::codegen::fused_kernels::fuse) fn plus(&self, other: &Self) -> Self {
        let mut terms = self.terms.clone();
        for (factor, term) in &other.terms {
            match terms.iter_mut().find(|(_, known)| known.is(*term)) {
                Some((known, _)) => *known += factor,
                None => terms.push((*factor, *term)),
            }
        }
        terms.retain(|(factor, _)| *factor != 0);
        Self {
            constant: self.constant + other.constant,
            terms,
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }

    pub(in crate::codegen::fused_kernels::fuse) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(-1))
    }

    /// Between which numbers it is, by what its parts may be: what cancels out counts for nothing.
    pub(in crate::codegen::fused_kernels::fuse) fn bounds(&self) -> Option<(i128, i128)> {
        let mut bounds = (self.constant, self.constant);
        for (factor, term) in &self.terms {
            let (low, high) = match term {
                Term::LowBits(_, bits) => (0, (1 << bits) - 1),
                Term::Value(value) => range(*value, MOST_DEPTH)?,
            };
            let (one, other) = (low * factor, high * factor);
            bounds = (bounds.0 + one.min(other), bounds.1 + one.max(other));
        }
        Some(bounds)
    }

    /// What a value is multiplied by in it, and the rest.
    pub(in crate::codegen::fused_kernels::fuse) fn apart_from(&self, value: Value) -> (i128, Self) {
        let is_value = |term: &Term| matches!(term, Term::Value(own) if *own == value);
        let mut terms = self.terms.iter();
        let factor = terms.find(|(_, term)| is_value(term));
        let factor = factor.map_or(0, |(factor, _)| *factor);
        let mut rest = self.clone();
        rest.terms.retain(|(_, term)| !is_value(term));
        (factor, rest)
    }

    /// Whether all that it is made of is such.
    pub(in crate::codegen::fused_kernels::fuse) fn is_made_of(
        &self,
        such: impl Fn(Value<'ctx>) -> bool,
    ) -> bool {
        self.terms.iter().all(|(_, term)| match term {
            Term::Value(value) | Term::LowBits(value, _) => such(*value),
        })
    }

    /// The number, where it is the same always.
    pub(in crate::codegen::fused_kernels::fuse) fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// How many of the lowest bits these are, where they are all and there is one.
fn low_mask(mask: i128) -> Option<u32> {
    let bits = (mask + 1).trailing_zeros();
    (mask > 0 && bits < 62 && mask + 1 == 1 << bits).then_some(bits)
}

/// How many of the lowest bits a mask clears of a number, where it leaves all others as they are.
fn clears_low_bits(mask: i128, of: &Sum) -> Option<u32> {
    let bits = mask.trailing_zeros();
    let above = match mask < 0 {
        true => -1,
        // What the number may have bits of.
        false if of.low >= 0 => {
            let width = (i128::BITS - of.high.leading_zeros()).min(64);
            (1 << width) - 1
        }
        false => return None,
    };
    (mask != 0 && (1..62).contains(&bits) && mask & above == (-1 << bits) & above).then_some(bits)
}

/// A constant, read as signed.
fn signed(value: Value) -> Option<i128> {
    let unsigned = i128::from(value.constant_integer()?);
    let (_, most) = limits(value.ty().integer_bits());
    Some(match unsigned > most {
        true => unsigned - 2 * (most + 1),
        false => unsigned,
    })
}

/// The least and the greatest signed number of so many bits.
fn limits(bits: u32) -> (i128, i128) {
    let half = 1_i128 << (bits.clamp(1, 64) - 1);
    (-half, half - 1)
}

/// Between which numbers a counter is that rises by a constant while it is below a bound, which is tested where
/// it begins anew.
fn counter_range(counter: Value, depth: usize) -> Option<(i128, i128)> {
    let header = counter.block();
    let incoming = counter.incoming();
    let [one, other] = incoming[..] else {
        return None;
    };
    let advances = |(next, _): &(Value, Block)| {
        next.is_instruction()
            && next.opcode() == Some(Opcode::LLVMAdd)
            && [next.operand(0), next.operand(1)].contains(&counter)
    };
    let (next, latch, begin) = match (advances(&one), advances(&other)) {
        (true, false) => (one.0, one.1, other.0),
        (false, true) => (other.0, other.1, one.0),
        _ => return None,
    };
    let step = [next.operand(0), next.operand(1)]
        .into_iter()
        .find_map(signed)?;
    let condition = header.terminator()?.branch_condition()?;
    let [inside, exit] = header.successors()[..] else {
        return None;
    };
    let tests = condition.is_instruction()
        && condition.opcode() == Some(Opcode::LLVMICmp)
        && condition.operand(0) == counter;
    if !tests || step <= 0 || inside == exit || is_on_the_way(exit, header, latch) {
        return None;
    }
    let (_, most) = limits(counter.ty().integer_bits());
    let begin = Sum::read(begin, depth - 1);
    let bound = Sum::read(condition.operand(1), depth - 1);
    let signed = match condition.integer_predicate() {
        Some(IntegerPredicate::LLVMIntSLT) => true,
        Some(IntegerPredicate::LLVMIntULT) => bound.low >= 0,
        _ => false,
    };
    let last = bound.high - 1 + step;
    (signed && last <= most).then(|| (begin.low.min(0), begin.high.max(last)))
}

/// Bounds of counters are often sums of other counters.
const MOST_DEPTH_OF_BOUNDS: usize = 9;

/// Whether a block is one of those that lead from a loop's header to its latch.
fn is_on_the_way(block: Block, header: Block, latch: Block) -> bool {
    let mut found = vec![latch];
    let mut next = 0;
    while let Some(at) = found.get(next).copied() {
        next += 1;
        if at == block || found.len() > MOST_BLOCKS {
            return true;
        }
        for before in at.predecessors() {
            if before != header && !found.contains(&before) {
                found.push(before);
            }
        }
    }
    false
}

/// So many blocks of a loop are looked into.
const MOST_BLOCKS: usize = 200;

/// Between which numbers the registers of a thread are by CUDA's rules, what is shifted down, and counters that
/// rise to a bound.
fn range(value: Value, depth: usize) -> Option<(i128, i128)> {
    if !value.is_instruction() || depth == 0 {
        return None;
    }
    if value.opcode() == Some(Opcode::LLVMPHI) {
        return counter_range(value, depth.min(MOST_DEPTH_OF_BOUNDS));
    }
    if value.opcode() == Some(Opcode::LLVMLShr) {
        let shift = signed(value.operand(1)).filter(|shift| (0..62).contains(shift))?;
        let of = Sum::read(value.operand(0), depth - 1);
        return (of.low >= 0).then(|| (of.low >> shift, of.high >> shift));
    }
    if value.opcode() != Some(Opcode::LLVMCall) {
        return None;
    }
    let name = value.called_name()?;
    let (low, high) = match name.strip_prefix("llvm.nvvm.read.ptx.sreg.")? {
        "tid.x" | "tid.y" | "tid.z" => (0, 1023),
        "ntid.x" | "ntid.y" | "ntid.z" => (1, 1024),
        "ctaid.x" => (0, (1 << 31) - 2),
        "nctaid.x" => (1, (1 << 31) - 1),
        "ctaid.y" | "ctaid.z" => (0, 65_534),
        "nctaid.y" | "nctaid.z" => (1, 65_535),
        _ => return None,
    };
    let told = value
        .bound_of_result()
        .map_or(high, |end| i128::from(end) - 1);
    Some((low, high.min(told)))
}
