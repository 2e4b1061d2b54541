//! Truth values in memory, read as nvcc reads them: what is not zero is true.
//!
//! clang promises that a `bool` in memory is 0 or 1, and LLVM then tests its lowest bit in one kernel and takes it
//! whole in another. Programs fill them with `cudaMemset(flags, 0xff, count)` all the same, or view other memory
//! as such. So the promise is taken back, before anything is optimised or analysed.

use crate::llvm::IntegerPredicate::LLVMIntNE;
use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;

/// Settles what all reads of truth values in a device module find, in place. A thread's own variables
/// hold what it has stored there.
pub(in crate::program) fn settle_truth_values(device: &Module<'_>) {
    let (bit, byte) = (Type::integer(device, 1), Type::integer(device, 8));
    let is_truth_value = |at: &Value| {
        at.opcode() == Some(Opcode::LLVMLoad)
            && at.ty() == byte
            && at.has_metadata("range")
            && at.operands()[0].opcode() != Some(Opcode::LLVMAlloca)
    };
    let functions = Value::functions(device).into_iter();
    let all = functions.flat_map(Value::instructions);
    // What is made of one erases what stands behind it, but no load.
    let loads: Vec<Value> = all.filter(is_truth_value).collect();
    for load in loads {
        for promise in ["range", "noundef"] {
            load.remove_metadata(promise);
        }
        for narrowed in load.users() {
            if narrowed.opcode() == Some(Opcode::LLVMTrunc) && narrowed.ty() == bit {
                is_not_zero(narrowed, load, byte);
            }
        }
    }
}

/// Replaces the truth value that is the lowest bit of a byte. Who stores it stores the byte, as nvcc does.
fn is_not_zero(narrowed: Value, loaded: Value, byte: Type) {
    for stored in narrowed.users() {
        if stored.opcode() == Some(Opcode::LLVMZExt) && stored.ty() == byte {
            stored.replace_uses_with(loaded);
            stored.erase();
        }
    }
    let builder = Builder::before(narrowed);
    let truth = builder.compare(LLVMIntNE, loaded, byte.zero());
    narrowed.replace_uses_with(truth);
    narrowed.erase();
}
