//! Hides masked and widened counters from LLVM's analysis of loops.
//!
//! LLVM 22 takes `base + (i & 15)` for a counter of the loop over `i`, under a test at run time that
//! neither the 4-bit counter nor the sum wraps, and then leaves out the first half of the test because
//! it believes that the second implies it (`SCEVWrapPredicate::implies` compares counters of different
//! widths as if they were of one). A loop of more than 16 iterations would then read beyond.
//!
//! Invariant: after [`hide_narrow_counters`], no value of a loop that was cut to fewer than 32 bits
//! reaches other arithmetic but through an `and` with all ones that LLVM cannot see to be all ones.

use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::HashMap;

/// Puts the `and`s into every function that has a loop.
pub(super) fn hide_narrow_counters(module: &Module) {
    for function in Value::functions(module) {
        if has_loop(function) {
            hide_in(module, function);
        }
    }
}

fn hide_in<'ctx>(module: &Module<'ctx>, function: Value<'ctx>) {
    let mut all_ones: HashMap<u32, Value> = HashMap::new();
    for block in function.blocks() {
        let instructions = block.instructions();
        for pair in instructions.windows(2) {
            let [cut, next] = [pair[0], pair[1]];
            if !is_cut(module, cut) {
                continue;
            }
            let bits = cut.ty().integer_bits();
            let ones = *all_ones
                .entry(bits)
                .or_insert_with(|| make_all_ones(module, function, bits));
            let users = cut.users();
            let hidden = Builder::before(next).binary(Opcode::LLVMAnd, cut, ones);
            for user in users {
                for (position, operand) in user.operands().into_iter().enumerate() {
                    if operand == cut {
                        user.set_operand(position as u32, hidden);
                    }
                }
            }
        }
    }
}

/// Whether a value is what LLVM may read as the extension of a counter of fewer than 32 bits.
fn is_cut(module: &Module, value: Value) -> bool {
    let ty = value.ty();
    if ![32, 64]
        .map(|bits| Type::integer(module, bits))
        .contains(&ty)
    {
        return false;
    }
    let constant = |index: u32| value.operand(index).constant_integer();
    match value.opcode() {
        // Of 32 bits that are a 64-bit value's lower half nothing is cut.
        Some(Opcode::LLVMAnd) => constant(1).is_some_and(|mask| mask != 0xffff_ffff),
        Some(Opcode::LLVMZExt | Opcode::LLVMSExt) => {
            let source = value.operand(0);
            (2..32).contains(&source.ty().integer_bits())
                && source.is_instruction()
                && source.opcode() != Some(Opcode::LLVMLoad)
        }
        // Sign extension in place.
        Some(Opcode::LLVMAShr) => constant(1).is_some(),
        // A power of two.
        Some(Opcode::LLVMURem) => constant(1).is_some(),
        _ => false,
    }
}

/// All ones, computed at the function's entry by assembly without text.
fn make_all_ones<'ctx>(module: &Module<'ctx>, function: Value<'ctx>, bits: u32) -> Value<'ctx> {
    let ty = Type::integer(module, bits);
    let entry = function.blocks()[0].instructions()[0];
    let opaque = Value::assembly(Type::function(ty, &[ty]), "", "=r,0", false);
    let builder = Builder::before(entry);
    let call = builder.call(Type::function(ty, &[ty]), opaque, &[ty.constant(u64::MAX)]);
    call.add_call_attribute(crate::llvm::FUNCTION_ATTRIBUTES, "nounwind");
    call
}

fn has_loop(function: Value) -> bool {
    let blocks = function.blocks();
    let place: HashMap<_, _> = blocks.iter().zip(0..).collect();
    blocks.iter().zip(0..).any(|(block, at): (_, usize)| {
        let mut next = block.successors().into_iter();
        next.any(|successor| place.get(&successor).is_some_and(|to: &usize| *to <= at))
    })
}
