//! Instructions made again without fast-math flags: LLVM's C interface can add flags, not remove
//! them.
//!
//! Invariant: the new instruction has the operands, attributes, metadata and source place of the
//! old one, takes its uses, and stands in its place.

use super::super::ir::Value;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::*;

/// Replaces an instruction that carries fast-math flags by one without.
pub(in crate::program) fn without_fast_math(old: Value) {
    let Some(opcode) = old.opcode() else {
        return;
    };
    // SAFETY: `old` is a live instruction in a block; each builder call gets its operands, whose
    // types fit because they fit the old instruction. The builder is disposed; `old` is erased last
    // and not used afterwards.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(old.0)));
        LLVMPositionBuilderBefore(builder, old.0);
        let operand = |index: u32| LLVMGetOperand(old.0, index);
        let name = c"".as_ptr();
        let new = match opcode {
            LLVMOpcode::LLVMFAdd
            | LLVMOpcode::LLVMFSub
            | LLVMOpcode::LLVMFMul
            | LLVMOpcode::LLVMFDiv
            | LLVMOpcode::LLVMFRem => LLVMBuildBinOp(builder, opcode, operand(0), operand(1), name),
            LLVMOpcode::LLVMFNeg => LLVMBuildFNeg(builder, operand(0), name),
            LLVMOpcode::LLVMFPTrunc
            | LLVMOpcode::LLVMFPExt
            | LLVMOpcode::LLVMSIToFP
            | LLVMOpcode::LLVMUIToFP => {
                LLVMBuildCast(builder, opcode, operand(0), LLVMTypeOf(old.0), name)
            }
            LLVMOpcode::LLVMFCmp => LLVMBuildFCmp(
                builder,
                LLVMGetFCmpPredicate(old.0),
                operand(0),
                operand(1),
                name,
            ),
            LLVMOpcode::LLVMSelect => {
                LLVMBuildSelect(builder, operand(0), operand(1), operand(2), name)
            }
            LLVMOpcode::LLVMPHI => {
                let phi = LLVMBuildPhi(builder, LLVMTypeOf(old.0), name);
                for index in 0..LLVMCountIncoming(old.0) {
                    let mut value = LLVMGetIncomingValue(old.0, index);
                    let mut block = LLVMGetIncomingBlock(old.0, index);
                    LLVMAddIncoming(phi, &mut value, &mut block, 1);
                }
                phi
            }
            LLVMOpcode::LLVMCall => call(builder, old.0),
            _ => {
                LLVMDisposeBuilder(builder);
                return;
            }
        };
        LLVMDisposeBuilder(builder);
        // A builder may fold to a constant or an operand, which keep what they have.
        if !LLVMIsAInstruction(new).is_null() && LLVMGetInstructionOpcode(new) == opcode {
            copy_metadata(old.0, new);
        }
        LLVMReplaceAllUsesWith(old.0, new);
        LLVMInstructionEraseFromParent(old.0);
    }
}

/// The same call again.
///
/// # Safety
/// `old` is a live call in a block, before which `builder` stands.
unsafe fn call(builder: LLVMBuilderRef, old: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: per this function's contract; bundles are disposed after use.
    unsafe {
        let count = LLVMGetNumArgOperands(old);
        let mut arguments: Vec<_> = (0..count).map(|index| LLVMGetOperand(old, index)).collect();
        let mut bundles: Vec<_> = (0..LLVMGetNumOperandBundles(old))
            .map(|index| LLVMGetOperandBundleAtIndex(old, index))
            .collect();
        let new = LLVMBuildCallWithOperandBundles(
            builder,
            LLVMGetCalledFunctionType(old),
            LLVMGetCalledValue(old),
            arguments.as_mut_ptr(),
            count,
            bundles.as_mut_ptr(),
            bundles.len() as u32,
            c"".as_ptr(),
        );
        for bundle in bundles {
            LLVMDisposeOperandBundle(bundle);
        }
        LLVMSetInstructionCallConv(new, LLVMGetInstructionCallConv(old));
        LLVMSetTailCallKind(new, LLVMGetTailCallKind(old));
        let places = std::iter::once(llvm_sys::LLVMAttributeFunctionIndex).chain(0..=count);
        for place in places {
            let length = LLVMGetCallSiteAttributeCount(old, place) as usize;
            let mut attributes = vec![std::ptr::null_mut(); length];
            LLVMGetCallSiteAttributes(old, place, attributes.as_mut_ptr());
            for attribute in attributes {
                LLVMAddCallSiteAttribute(new, place, attribute);
            }
        }
        new
    }
}

/// Copies metadata and source place.
///
/// # Safety
/// Both are live instructions of one function.
unsafe fn copy_metadata(old: LLVMValueRef, new: LLVMValueRef) {
    // SAFETY: per this function's contract; the entry list is disposed after use.
    unsafe {
        let mut count = 0;
        let entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(old, &mut count);
        let context = LLVMGetTypeContext(LLVMTypeOf(old));
        for index in 0..count as u32 {
            let kind = LLVMValueMetadataEntriesGetKind(entries, index);
            let node = LLVMValueMetadataEntriesGetMetadata(entries, index);
            LLVMSetMetadata(new, kind, LLVMMetadataAsValue(context, node));
        }
        LLVMDisposeValueMetadataEntries(entries);
        LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(old));
    }
}
