//! Host arithmetic as a host compiler leaves it that does not optimise.
//!
//! nvcc hands host code to its compiler without `-O` unless it is told otherwise, and there an `int` that overflows
//! wraps around: random numbers, hashes and squares of large indices rely on that. What is compiled here is optimised
//! all the same, so the promise that nothing overflows is taken away before. The analyses that come earlier
//! have it: launches, sizes and loops around them are read with C's meaning.
//!
//! Steps by one stay as they are: a loop's counter does not come to its end in a lifetime of the program, and loops
//! are optimised for it.

use crate::llvm::{Opcode, Value};
use inkwell::module::Module;

/// Lets all of a module's sums, differences, products and shifts to the left wrap around.
pub(in crate::codegen) fn let_overflow_wrap(host: &Module<'_>) {
    for function in Value::functions(host) {
        let blocks = function.blocks().into_iter();
        for instruction in blocks.flat_map(|block| block.instructions()) {
            let is_arithmetic = matches!(
                instruction.opcode(),
                Some(Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl)
            );
            if is_arithmetic && !is_step(instruction) {
                instruction.drop_promises();
            }
        }
    }
}

/// Whether one is added or taken away.
fn is_step(instruction: Value) -> bool {
    if !matches!(
        instruction.opcode(),
        Some(Opcode::LLVMAdd | Opcode::LLVMSub)
    ) {
        return false;
    }
    let amount = instruction.operand(1);
    if !amount.ty().is_integer() {
        return false;
    }
    let bits = u64::from(amount.ty().integer_bits());
    let all_ones = u64::MAX
        .checked_shr(64_u32.saturating_sub(bits as u32))
        .unwrap_or(0);
    amount
        .constant_integer()
        .is_some_and(|amount| amount == 1 || amount == all_ones)
}
