//! Divisions of integers as GPUs do them: none stops a kernel.
//!
//! A processor stops at a division by zero and at that of the least number by -1. PTX leaves the value of the
//! former open; machine code of NVIDIA's assembler gives ones in all bits, for quotients and remainders (of which
//! LLVM makes a difference where it has the quotient, here as there), and the latter wraps around. So it is here.

use crate::codegen::divisors::is_surely_not_zero;
use crate::codegen::ir::{Builder, IntegerPredicate, Opcode, Value};

/// Makes a division one that never stops, in place; others than of numbers of up to 64 bits stay.
pub(super) fn settle_division(division: Value) {
    let ty = division.ty();
    let opcode = division.opcode();
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
    let result = builder.select(by_zero, ones, result);
    division.replace_uses_with(result);
    division.erase();
}
