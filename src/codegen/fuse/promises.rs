//! What a kernel promises LLVM about itself does not bind its neighbours.
//!
//! Within one kernel the language says that memory is read as the type that it was written as, and
//! that sums of signed integers do not overflow. Between kernels there are only bytes: memory of a
//! pool holds `double` for one and `long long` for the next, and a hash that has overflowed is a number like any
//! other for whoever loads it. Once a member's store and its neighbour's load stand in one function,
//! LLVM would hold the neighbour to the promise, and results would differ from those of the launches
//! as they were.

use crate::codegen::ir::{Builder, Opcode, Value};
use std::collections::HashSet;

/// Takes types of memory from the accesses of a member, and makes the values that it stores the plain
/// results of their operations in every case.
pub(super) fn keep_promises_inside(function: Value) {
    let instructions = function.instructions();
    for instruction in &instructions {
        instruction.remove_metadata("tbaa");
        instruction.remove_metadata("tbaa.struct");
    }
    let mut work: Vec<Value> = instructions.into_iter().flat_map(stored).collect();
    let mut seen = HashSet::new();
    while let Some(value) = work.pop() {
        if !value.is_instruction() || !seen.insert(value) {
            continue;
        }
        value.drop_promises();
        if value.may_be_anything() {
            let frozen = Builder::after(value).freeze(value);
            value.replace_uses_with(frozen);
            frozen.set_operand(0, value);
        }
        match value.opcode() {
            // What memory holds is settled by whoever stores there.
            Opcode::LLVMLoad | Opcode::LLVMAlloca => {}
            Opcode::LLVMPHI => work.extend(value.incoming().into_iter().map(|(value, _)| value)),
            _ => work.extend(value.operands()),
        }
    }
}

/// The values that an instruction leaves in memory.
fn stored(instruction: Value) -> Vec<Value> {
    match instruction.opcode() {
        Opcode::LLVMStore => vec![instruction.operand(0)],
        Opcode::LLVMAtomicRMW => vec![instruction.operand(1)],
        Opcode::LLVMAtomicCmpXchg => vec![instruction.operand(1), instruction.operand(2)],
        // Inline PTX and the like may store what they are given.
        Opcode::LLVMCall if instruction.ty().is_void() => instruction.call_arguments(),
        _ => Vec::new(),
    }
}
