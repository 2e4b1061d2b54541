//! What a kernel promises LLVM about itself does not bind its neighbours.
//!
//! Within one kernel the language says that memory is read as the type that it was written as, that
//! sums of signed integers do not overflow, that a number is what `__builtin_assume` says and that nobody
//! comes to `__builtin_unreachable`. Between kernels there are only bytes: memory of a
//! pool holds `double` for one and `long long` for the next, and a hash that has overflowed is a number like any
//! other for whoever loads it. A kernel that breaks its promises spoils what it writes itself, but what
//! other launches write, before it or after it, stays what it was. Once members stand in one function, LLVM
//! would hold each of them to the promises of all, and results would differ from those of the launches
//! as they were.
//!
//! So a body keeps nothing that is only true while its kernel keeps its word: neither what it says of
//! values ([`settle_values`]), nor what is said by a way that nobody may go ([`settle_ends`]).

use crate::llvm::{Block, Builder, Opcode, RETURN_ATTRIBUTES, Value};
use std::collections::HashSet;

/// Passes that write down at the accesses what a kernel promises of its addresses: wide accesses are the
/// use of it, and an access at another address than promised goes wrong in any case.
pub(in crate::codegen::fused_kernels::fuse) const ALIGNMENTS_AT_ACCESSES: &str =
    "function(alignment-from-assumptions)";

/// What metadata of loads says of the values that they find.
const OF_LOADED: [&str; 7] = [
    "range",
    "nonnull",
    "noundef",
    "align",
    "dereferenceable",
    "dereferenceable_or_null",
    "nofpclass",
];

/// What attributes say of parameters and results.
const OF_PASSED: [&str; 5] = [
    "nonnull",
    "dereferenceable",
    "dereferenceable_or_null",
    "nofpclass",
    "range",
];

/// Lets control end where a kernel says that it never comes: a branch that would lead there goes its
/// other way, as it does once LLVM has believed the kernel, and what stands before such an end is done
/// before the end of the kernel. Ends behind calls that do not return (`__trap`, a failed `assert`) stay.
pub(in crate::codegen::fused_kernels::fuse) fn settle_ends(function: Value) {
    for block in function.blocks() {
        let Some(end) = block.terminator() else {
            continue;
        };
        if end.opcode() != Some(Opcode::LLVMUnreachable) {
            continue;
        }
        let mut before = block.instructions();
        before.retain(|at| *at != end && at.opcode() != Some(Opcode::LLVMPHI));
        if before.last().is_some_and(|last| last.never_returns()) {
            continue;
        }
        if before.is_empty() {
            for from in block.predecessors() {
                turn_away(from, block);
            }
            if block.predecessors().is_empty() && block != function.blocks()[0] {
                block.delete();
                continue;
            }
        }
        Builder::before(end).ret(None);
        end.erase();
    }
    for instruction in function.instructions() {
        if instruction.called_name().as_deref() == Some("llvm.assume") {
            instruction.erase();
        }
    }
}

/// Lets a branch that may lead to `never` lead to another of its successors instead, if it has one.
fn turn_away(from: Block, never: Block) {
    let Some(branch) = from.terminator() else {
        return;
    };
    if !matches!(branch.opcode(), Some(Opcode::LLVMBr | Opcode::LLVMSwitch)) {
        return;
    }
    let successors = from.successors();
    let Some(other) = successors.iter().copied().find(|to| *to != never) else {
        return;
    };
    if branch.opcode() == Some(Opcode::LLVMBr) {
        Builder::before(branch).branch(other);
        branch.erase();
    } else {
        for (index, to) in successors.iter().enumerate() {
            if *to == never {
                from.set_successor(index as u32, other);
                for phi in other.phis() {
                    let known = phi.incoming();
                    let value = known.iter().find(|(_, block)| *block == from);
                    if let Some((value, _)) = value {
                        phi.add_incoming(*value, from);
                    }
                }
            }
        }
    }
    for phi in never.phis() {
        phi.forget_incoming(from);
    }
}

/// Takes types of memory from the accesses of a member, what is said of loaded and passed values, and makes
/// the values that it stores the plain results of their operations in every case.
pub(in crate::codegen::fused_kernels::fuse) fn settle_values(function: Value) {
    let instructions = function.instructions();
    for instruction in &instructions {
        for kind in ["tbaa", "tbaa.struct"].iter().chain(&OF_LOADED) {
            instruction.remove_metadata(kind);
        }
        define_operands(*instruction);
        if instruction.opcode() == Some(Opcode::LLVMCall) {
            settle_call(*instruction);
        }
    }
    for position in 0..function.parameters().len() as u32 {
        for name in OF_PASSED {
            function.remove_attribute(position + 1, name);
        }
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
            Some(Opcode::LLVMLoad | Opcode::LLVMAlloca) => {}
            Some(Opcode::LLVMPHI) => {
                work.extend(value.incoming().into_iter().map(|(value, _)| value))
            }
            _ => work.extend(value.operands()),
        }
    }
}

/// A number that was never set is some number: LLVM would take a way for impossible on which control
/// depends on one. Vectors and structures are put together from nothing.
fn define_operands(instruction: Value) {
    let count = match instruction.opcode() {
        Some(Opcode::LLVMInsertElement | Opcode::LLVMInsertValue | Opcode::LLVMShuffleVector) => {
            return;
        }
        Some(Opcode::LLVMCall) => instruction.call_arguments().len(),
        _ => instruction.operands().len(),
    };
    for position in 0..count as u32 {
        let operand = instruction.operand(position);
        if !operand.is_null() && operand.is_undefined() {
            instruction.set_operand(position, operand.ty().zero());
        }
    }
}

/// Takes from a call what it says of its arguments and its result. What the device says of its own registers
/// is true of all kernels.
fn settle_call(call: Value) {
    let arguments = call.call_arguments().len() as u32;
    let of_device = (call.called_name()).is_some_and(|name| name.starts_with("llvm.nvvm.read."));
    if !of_device {
        for position in (1..=arguments).chain([RETURN_ATTRIBUTES]) {
            call.remove_call_attribute(position, "noundef");
            for name in OF_PASSED {
                call.remove_call_attribute(position, name);
            }
        }
    }
}

/// The values that an instruction leaves in memory.
fn stored(instruction: Value) -> Vec<Value> {
    match instruction.opcode() {
        Some(Opcode::LLVMStore) => vec![instruction.operand(0)],
        Some(Opcode::LLVMAtomicRMW) => vec![instruction.operand(1)],
        Some(Opcode::LLVMAtomicCmpXchg) => vec![instruction.operand(1), instruction.operand(2)],
        // Inline PTX and the like may store what they are given.
        Some(Opcode::LLVMCall) if instruction.ty().is_void() => instruction.call_arguments(),
        _ => Vec::new(),
    }
}
