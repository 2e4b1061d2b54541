//! Reads of surfaces, told to LLVM as what they are.
//!
//! clang's header says of the instructions that they compute (`asm` without `volatile`, `memory(none)`), so
//! that LLVM may take the value of an earlier read for a later one, although the thread wrote in between.

use super::ir::{self, Value};
use inkwell::module::Module;
use llvm_sys::LLVMInlineAsmDialect;
use llvm_sys::core::*;

/// Keeps all reads of surfaces in order with the rest of a device module's accesses, in place.
pub(super) fn order_surface_reads(device: &Module<'_>) {
    for function in ir::functions(device) {
        for instruction in function.instructions() {
            if instruction.is_call() {
                order(instruction);
            }
        }
    }
}

fn order(call: Value) {
    let Some(callee) = call.operands().last().copied() else {
        return;
    };
    // SAFETY: a live call and what it calls; both texts live as long as the assembly, LLVM copies them,
    // and the new assembly has the type and the constraints of the old one.
    unsafe {
        if LLVMIsAInlineAsm(callee.0).is_null() || LLVMGetInlineAsmHasSideEffects(callee.0) != 0 {
            return;
        }
        let (mut template_length, mut constraint_length) = (0, 0);
        let template = LLVMGetInlineAsmAsmString(callee.0, &raw mut template_length);
        let text = std::slice::from_raw_parts(template.cast::<u8>(), template_length);
        if !text.trim_ascii_start().starts_with(b"suld.") {
            return;
        }
        let constraints = LLVMGetInlineAsmConstraintString(callee.0, &raw mut constraint_length);
        let ordered = LLVMGetInlineAsm(
            LLVMGetCalledFunctionType(call.0),
            template,
            template_length,
            constraints,
            constraint_length,
            1,
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        );
        call.set_called(Value(ordered));
        const NAME: &str = "memory";
        let kind = LLVMGetEnumAttributeKindForName(NAME.as_ptr().cast(), NAME.len());
        LLVMRemoveCallSiteEnumAttribute(call.0, llvm_sys::LLVMAttributeFunctionIndex, kind);
    }
}
