//! Divisions of integers as GPUs do them: none stops a kernel.
//!
//! A processor stops at a division by zero and at that of the least number by -1. PTX leaves the value of the
//! former open; machine code of NVIDIA's assembler gives ones in all bits, for quotients and remainders (of which
//! LLVM makes a difference where it has the quotient, here as there), and the latter wraps around. So it is here.
//!
//! Of 64 bits LLVM and NVVM divide with 32 where both numbers have no more, which is seen when the kernel runs
//! (`BypassSlowDivision.cpp`): by zero that gives ones in 32 bits. Numbers that look like hashes, which are hardly ever so
//! short, they divide with 64 at once ([`looks_like_hash`]).

use crate::codegen::divisors::is_surely_not_zero;
use crate::llvm::{Builder, IntegerPredicate, Opcode, Value};
use std::collections::HashSet;

/// Makes a division one that never stops, in place; others than of numbers of up to 64 bits stay.
pub(in crate::codegen::cpu) fn settle_division(division: Value) {
    let ty = division.ty();
    let Some(opcode) = division.opcode() else {
        return;
    };
    let is_signed = matches!(opcode, Opcode::LLVMSDiv | Opcode::LLVMSRem);
    let [dividend, divisor] = [0, 1].map(|side| division.operand(side));
    if !ty.is_integer() || ty.integer_bits() > 64 {
        return;
    }
    let ones = ty.constant(u64::MAX >> (64 - ty.integer_bits()));
    let is_constant = divisor.is_constant() && divisor != ones;
    if is_surely_not_zero(divisor) && (!is_signed || is_constant) {
        return;
    }
    let builder = Builder::before(division);
    let equals = |number| builder.compare(IntegerPredicate::LLVMIntEQ, divisor, number);
    let by_zero = equals(ty.zero());
    let one = ty.constant(1);
    let mut safe = builder.select(by_zero, one, divisor);
    let wraps = is_signed.then(|| equals(ones));
    if let Some(wraps) = wraps {
        safe = builder.select(wraps, one, safe);
    }
    let mut result = builder.binary(opcode, dividend, safe);
    if let (Some(wraps), Opcode::LLVMSDiv) = (wraps, opcode) {
        let negated = builder.binary(Opcode::LLVMSub, ty.zero(), dividend);
        result = builder.select(wraps, negated, result);
    }
    let of_zero = match ty.integer_bits() == 64 && !divides_at_once(dividend, divisor) {
        true => {
            let short = ty.constant(1 << SHORT_BITS);
            let is_short = builder.compare(IntegerPredicate::LLVMIntULT, dividend, short);
            builder.select(is_short, ty.constant((1 << SHORT_BITS) - 1), ones)
        }
        false => ones,
    };
    let result = builder.select(by_zero, of_zero, result);
    division.replace_uses_with(result);
    division.erase();
}

/// Bits with which numbers of 64 are divided where they fit.
const SHORT_BITS: u32 = 32;

/// Phis that LLVM looks through for a hash.
const MOST_PHIS: usize = 16;

/// Whether LLVM does not look for a shorter way.
fn divides_at_once(dividend: Value, divisor: Value) -> bool {
    [dividend, divisor]
        .into_iter()
        .any(|number| looks_like_hash(number, &mut HashSet::new()))
}

/// Whether LLVM takes a number for one that has more than 32 bits, for all that is known of it.
fn looks_like_hash<'ctx>(number: Value<'ctx>, seen: &mut HashSet<Value<'ctx>>) -> bool {
    if !number.is_instruction() || is_surely_short(number, DEEPEST) {
        return false;
    }
    match number.opcode() {
        Some(Opcode::LLVMXor) => true,
        Some(Opcode::LLVMMul) => {
            let factor = number.operand(1).constant_integer();
            factor.is_some_and(|factor| i32::try_from(factor.cast_signed()).is_err())
        }
        Some(Opcode::LLVMPHI) => {
            if seen.len() >= MOST_PHIS {
                return false;
            }
            !seen.insert(number)
                || number.operands().into_iter().all(|value| {
                    let constant = value.constant_integer();
                    let is_long = constant.is_some_and(|constant| constant >> SHORT_BITS != 0);
                    is_long || value.is_undefined() || looks_like_hash(value, seen)
                })
        }
        _ => false,
    }
}

/// How deep a number is looked into for what its upper bits are.
const DEEPEST: u32 = 6;

/// Whether the upper half of a number is zero by how it is computed.
fn is_surely_short(number: Value, depth: u32) -> bool {
    if let Some(constant) = number.constant_integer() {
        return constant >> SHORT_BITS == 0;
    }
    if depth == 0 || !number.is_instruction() {
        return false;
    }
    let is_short = |side: u32| is_surely_short(number.operand(side), depth - 1);
    match number.opcode() {
        Some(Opcode::LLVMZExt) => number.operand(0).ty().integer_bits() <= SHORT_BITS,
        Some(Opcode::LLVMAnd) => is_short(0) || is_short(1),
        Some(Opcode::LLVMOr | Opcode::LLVMXor) => is_short(0) && is_short(1),
        Some(Opcode::LLVMURem) => is_short(0) || is_short(1),
        Some(Opcode::LLVMUDiv) => is_short(0),
        Some(Opcode::LLVMSelect) => is_short(1) && is_short(2),
        Some(Opcode::LLVMLShr) => {
            let by = number.operand(1).constant_integer();
            is_short(0) || by.is_some_and(|by| by >= u64::from(SHORT_BITS))
        }
        _ => false,
    }
}
