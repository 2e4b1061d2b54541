//! Whether two loops run equally many iterations.

use super::super::super::counting::Counting;
use super::skeleton::SingleExitLoop;
use crate::llvm::{Block, Opcode, Value};
use std::collections::HashSet;

/// Whether two loops, begun by one thread, leave in the same iteration: the values that their tests
/// depend on begin equal and are computed in the same way from equal values in each iteration, or both
/// count and have the same way to their bounds. Values are equal that are one, or made alike from equal
/// ones without looking at memory.
pub(super) fn leave_together<'ctx>(
    one: &SingleExitLoop<'ctx>,
    other: &SingleExitLoop<'ctx>,
) -> bool {
    let condition = |parts: &SingleExitLoop<'ctx>| parts.test.terminator()?.branch_condition();
    let (Some(first), Some(second)) = (condition(one), condition(other)) else {
        return false;
    };
    let mut comparison = Comparison {
        headers: (one, other),
        assumed: HashSet::new(),
    };
    let counting =
        |condition, of: &SingleExitLoop<'ctx>| Counting::of(condition, of.preheader, of.latch);
    let as_often = || {
        let pair = counting(first, one).zip(counting(second, other));
        // The loop goes on while the condition holds.
        one.leaving == 1 && pair.is_some_and(|(one, other)| one.is_as_often_as(&other))
    };
    one.leaving == other.leaving && (comparison.equal(first, second) || as_often())
}

/// How often a loop runs that LLVM unrolls where its body is small.
pub(super) fn short_iterations(of: &SingleExitLoop) -> Option<usize> {
    let condition = of.test.terminator().and_then(Value::branch_condition);
    let counting = condition.and_then(|condition| Counting::of(condition, of.preheader, of.latch));
    let iterations = usize::try_from(counting?.iterations()?).ok()?;
    (iterations <= MOST_UNROLLED).then_some(iterations)
}

/// So many iterations of a short loop are unrolled.
const MOST_UNROLLED: usize = 32;

/// Pairs of phis at the beginning of two loops that run interleaved which are always equal; each of the
/// second loop is in one pair at most.
pub(super) fn equal_counters<'ctx>(
    one: &SingleExitLoop<'ctx>,
    other: &SingleExitLoop<'ctx>,
) -> Vec<(Value<'ctx>, Value<'ctx>)> {
    let kept = one.header.phis();
    let pair = |twin: Value<'ctx>| {
        let mut kept = kept.iter().copied();
        let equal = |kept: &Value<'ctx>| {
            let mut comparison = Comparison {
                headers: (one, other),
                assumed: HashSet::new(),
            };
            kept.ty() == twin.ty() && comparison.equal(*kept, twin)
        };
        kept.find(equal).map(|kept| (kept, twin))
    };
    other.header.phis().into_iter().filter_map(pair).collect()
}

struct Comparison<'a, 'ctx> {
    headers: (&'a SingleExitLoop<'ctx>, &'a SingleExitLoop<'ctx>),
    /// Pairs of phis that are taken to be equal while they are compared.
    assumed: HashSet<(Value<'ctx>, Value<'ctx>)>,
}

impl<'ctx> Comparison<'_, 'ctx> {
    fn equal(&mut self, one: Value<'ctx>, other: Value<'ctx>) -> bool {
        if one == other {
            return true;
        }
        if !one.is_instruction() || !other.is_instruction() || one.ty() != other.ty() {
            return false;
        }
        match (one.opcode(), other.opcode()) {
            (Some(Opcode::LLVMPHI), Some(Opcode::LLVMPHI)) => self.equal_phis(one, other),
            (Some(opcode), same) if Some(opcode) == same => {
                let alike = match opcode {
                    Opcode::LLVMICmp => one.integer_predicate() == other.integer_predicate(),
                    Opcode::LLVMCall => return reads_one_register(one, other),
                    _ => COMPUTES.contains(&opcode),
                };
                let operands = (one.operands(), other.operands());
                alike
                    && operands.0.len() == operands.1.len()
                    && operands
                        .0
                        .into_iter()
                        .zip(operands.1)
                        .all(|(one, other)| self.equal(one, other))
            }
            _ => false,
        }
    }

    fn equal_phis(&mut self, one: Value<'ctx>, other: Value<'ctx>) -> bool {
        let (first, second) = self.headers;
        let (place, other_place) = (one.block(), other.block());
        let counterpart = |block: Block<'ctx>| {
            if place == other_place {
                return Some(block);
            }
            if (place, other_place) != (first.header, second.header) {
                return None;
            }
            match block {
                _ if block == first.preheader => Some(second.preheader),
                _ if block == first.latch => Some(second.latch),
                _ => None,
            }
        };
        if !self.assumed.insert((one, other)) {
            return true;
        }
        let others = other.incoming();
        one.incoming().into_iter().all(|(value, block)| {
            let Some(block) = counterpart(block) else {
                return false;
            };
            let found = others.iter().find(|(_, from)| *from == block);
            found.is_some_and(|(other, _)| self.equal(value, *other))
        })
    }
}

/// Two reads of one of the registers that a thread finds the same all the time.
fn reads_one_register(one: Value, other: Value) -> bool {
    let (Some(name), Some(same)) = (one.called_name(), other.called_name()) else {
        return false;
    };
    let register = name.strip_prefix("llvm.nvvm.read.ptx.sreg.");
    name == same
        && register.is_some_and(|register| {
            ["tid.", "ntid.", "ctaid.", "nctaid."]
                .iter()
                .any(|each| register.starts_with(each))
        })
}

/// Instructions whose result depends on their operands alone, whatever their flags: counters, subscripts
/// and bounds are made of them, and floating-point arithmetic may carry flags that change a result.
const COMPUTES: [Opcode; 18] = [
    Opcode::LLVMAdd,
    Opcode::LLVMSub,
    Opcode::LLVMMul,
    Opcode::LLVMUDiv,
    Opcode::LLVMSDiv,
    Opcode::LLVMURem,
    Opcode::LLVMSRem,
    Opcode::LLVMShl,
    Opcode::LLVMLShr,
    Opcode::LLVMAShr,
    Opcode::LLVMAnd,
    Opcode::LLVMOr,
    Opcode::LLVMXor,
    Opcode::LLVMTrunc,
    Opcode::LLVMZExt,
    Opcode::LLVMSExt,
    Opcode::LLVMSelect,
    Opcode::LLVMBitCast,
];
