//! Which threads of a block cannot be told apart, and therefore run as one.
//!
//! Threads that differ only in an index that the kernel never reads do the same work. A device
//! runs them in step: each loads before any of them stores, and `x[i] += a` adds once. Run one
//! after another they would add once each. One of them stands for all, provided that nothing in
//! the kernel counts threads; what is not known to be harmless does.

use crate::codegen::divisors::DIVISOR;
use crate::codegen::expansion::constants_in;
use crate::llvm::{FUNCTION_ATTRIBUTES, Opcode, Value};
use std::collections::HashSet;

/// For x, y and z: whether threads that differ only in this index may do different things, over
/// everything that the kernel of a device module may call.
pub(super) fn distinguished_axes(kernel: Value) -> [bool; 3] {
    let mut axes = [false; 3];
    let mut seen = HashSet::from([kernel]);
    let mut work = vec![kernel];
    while let Some(function) = work.pop() {
        for found in constants_in(function) {
            if !found.is_function() || !seen.insert(found) {
                continue;
            }
            if !found.is_declaration() {
                work.push(found);
            } else if let Some(axis) = thread_index_axis(&found.name()) {
                axes[axis] = true;
            } else if !is_harmless(found) {
                return [true; 3];
            }
        }
        if function.instructions().into_iter().any(counts_threads) {
            return [true; 3];
        }
    }
    axes
}

fn thread_index_axis(name: &str) -> Option<usize> {
    let axis = name.strip_prefix("llvm.nvvm.read.ptx.sreg.tid.")?;
    ["x", "y", "z"].iter().position(|each| *each == axis)
}

/// Whether the order or the number of the threads that execute an instruction could show.
fn counts_threads(instruction: Value) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMFence) => true,
        Some(Opcode::LLVMLoad | Opcode::LLVMStore) => {
            instruction.is_volatile() || instruction.is_atomic()
        }
        // Inline assembly and calls through pointers.
        Some(Opcode::LLVMCall) => !instruction.called().is_function(),
        Some(Opcode::LLVMInvoke) => true,
        _ => false,
    }
}

/// Whether a declared function has the same effect once as several times in step.
fn is_harmless(function: Value) -> bool {
    let name = function.name();
    if let Some(register) = name.strip_prefix("llvm.nvvm.read.ptx.sreg.") {
        return ["ctaid.", "ntid.", "nctaid.", "warpsize"]
            .iter()
            .any(|each| register.starts_with(each));
    }
    if let Some(rest) = name.strip_prefix("llvm.nvvm.") {
        return matches!(
            rest,
            "barrier0" | "barrier.cta.sync.aligned.all" | "barrier.cta.sync.all"
        ) || rest.starts_with("ldg.")
            || rest.starts_with("ldu.")
            || function.integer_attribute(FUNCTION_ATTRIBUTES, "memory") == Some(0)
                && !function.has_attribute(FUNCTION_ATTRIBUTES, "convergent");
    }
    if let Some(rest) = name.strip_prefix("llvm.") {
        return !["trap", "debugtrap", "ubsantrap", "read"]
            .iter()
            .any(|each| rest.starts_with(each));
    }
    name.starts_with("__nv_") || name.starts_with(DIVISOR)
}
