//! Warps in lockstep, as code from before Volta takes them for granted: the last steps of a reduction that has no
//! barriers between `s[t] += s[t + 16]` and `s[t] += s[t + 8]`, with `s` a pointer to volatile shared memory.
//!
//! The threads of a warp take turns here, each up to its next volatile access of memory that may be shared. The runtime
//! is told where in the program that is, so that those behind go first: all have done one such access before any does the
//! next, and after a branch or a loop that some left early they go on together. Places have the order of the text, which
//! is that of a kernel whose functions were inlined.

use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;

/// What is called before such an access.
pub(super) const KEEP_STEP: &str = "keep_step";

/// Address spaces of pointers to anything and of shared memory.
const GENERIC_AND_SHARED: [u32; 2] = [0, 3];

/// Puts calls of [`KEEP_STEP`] before all volatile accesses of shared memory in a device module.
pub(super) fn keep_warps_in_step(module: &Module) {
    let functions = Value::functions(module).into_iter();
    let accesses: Vec<Value> = functions
        .filter(|function| !function.is_declaration())
        .flat_map(|function| function.instructions())
        .filter(|instruction| may_be_volatile_shared(*instruction))
        .collect();
    if accesses.is_empty() {
        return;
    }
    let number = Type::integer(module, 32);
    let ty = Type::function(Type::void(module), &[number]);
    let keep_step = Value::function(module, KEEP_STEP)
        .unwrap_or_else(|| Value::add_function(module, KEEP_STEP, ty));
    for (position, access) in accesses.into_iter().enumerate() {
        let step = number.constant(position as u64 + 1);
        Builder::before(access).call(ty, keep_step, &[step]);
    }
}

fn may_be_volatile_shared(instruction: Value) -> bool {
    let pointer = match instruction.opcode() {
        Some(Opcode::LLVMLoad) => instruction.operand(0),
        Some(Opcode::LLVMStore) => instruction.operand(1),
        _ => return false,
    };
    instruction.is_volatile()
        && GENERIC_AND_SHARED.contains(&pointer.ty().address_space())
        && !(pointer.is_instruction() && pointer.opcode() == Some(Opcode::LLVMAlloca))
}
