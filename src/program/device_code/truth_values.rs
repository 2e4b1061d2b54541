//! Truth values in memory, read as nvcc reads them: what is not zero is true.
//!
//! clang promises that a `bool` in memory is 0 or 1, and LLVM then tests its lowest bit in one kernel and takes it
//! whole in another. Programs fill them with `cudaMemset(flags, 0xff, count)` all the same, or view other memory
//! as such. So the promise is taken back, before anything is optimised or analysed.

use super::super::builder::Builder;
use super::super::ir::{self, Type, Value};
use inkwell::module::Module;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;

/// Settles what all reads of truth values in a device module find, in place. A thread's own variables
/// hold what it has stored there.
pub(in crate::program) fn settle_truth_values(device: &Module<'_>) {
    let (bit, byte) = (Type::integer(device, 1), Type::integer(device, 8));
    for load in ir::functions(device)
        .into_iter()
        .flat_map(Value::instructions)
    {
        let is_truth_value = load.opcode() == Some(LLVMOpcode::LLVMLoad)
            && load.type_of() == byte
            && says_its_range(device, load)
            && load.operands()[0].opcode() != Some(LLVMOpcode::LLVMAlloca);
        if !is_truth_value {
            continue;
        }
        for promise in ["range", "noundef"] {
            load.remove_metadata(device, promise);
        }
        for narrowed in load.users() {
            if narrowed.opcode() == Some(LLVMOpcode::LLVMTrunc) && narrowed.type_of() == bit {
                is_not_zero(narrowed, load, byte);
            }
        }
    }
}

fn says_its_range(device: &Module<'_>, load: Value) -> bool {
    const RANGE: &str = "range";
    // SAFETY: a live instruction of the module; pointer and length describe the name.
    unsafe {
        let context = LLVMGetModuleContext(device.as_mut_ptr());
        let id = LLVMGetMDKindIDInContext(context, RANGE.as_ptr().cast(), RANGE.len() as u32);
        !LLVMGetMetadata(load.0, id).is_null()
    }
}

/// Replaces the truth value that is the lowest bit of a byte. Who stores it stores the byte, as nvcc does.
fn is_not_zero(narrowed: Value, loaded: Value, byte: Type) {
    for stored in narrowed.users() {
        if stored.opcode() == Some(LLVMOpcode::LLVMZExt) && stored.type_of() == byte {
            stored.replace_all_uses(loaded);
            stored.erase();
        }
    }
    let builder = Builder::before(narrowed);
    // SAFETY: the builder stands in a function; both operands are bytes.
    let truth = Value(unsafe {
        LLVMBuildICmp(
            builder.raw(),
            LLVMIntNE,
            loaded.0,
            byte.zero().0,
            c"".as_ptr(),
        )
    });
    narrowed.replace_all_uses(truth);
    narrowed.erase();
}
