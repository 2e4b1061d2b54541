//! Instructions made again without fast-math flags: LLVM's C interface can add flags, not remove
//! them.
//!
//! Invariant: the new instruction has the operands, attributes, metadata and source place of the
//! old one, takes its uses, and stands in its place.

use super::super::*;
use inkwell::llvm_sys::{LLVMFastMathAllowContract, LLVMFastMathNone};

impl<'ctx> Value<'ctx> {
    /// True when the instruction carries the `contract` flag.
    pub(crate) fn may_contract(self) -> bool {
        // SAFETY: flags are asked of instructions that can have them.
        unsafe {
            LLVMCanValueUseFastMathFlags(self.0) != 0
                && LLVMGetFastMathFlags(self.0) & LLVMFastMathAllowContract != 0
        }
    }

    /// Whether the instruction carries any such flag.
    pub(crate) fn has_fast_math(self) -> bool {
        // SAFETY: flags are asked of instructions that can have them.
        unsafe {
            LLVMCanValueUseFastMathFlags(self.0) != 0
                && LLVMGetFastMathFlags(self.0) != LLVMFastMathNone
        }
    }

    /// Removes every fast-math flag: an instruction that carries some is made again without them.
    pub(crate) fn strip_fast_math(self) {
        if self.has_fast_math() {
            without_fast_math(self);
        }
    }
}

/// Replaces an instruction that carries fast-math flags by one without.
fn without_fast_math(old: Value) {
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
            Opcode::LLVMFAdd
            | Opcode::LLVMFSub
            | Opcode::LLVMFMul
            | Opcode::LLVMFDiv
            | Opcode::LLVMFRem => LLVMBuildBinOp(builder, opcode, operand(0), operand(1), name),
            Opcode::LLVMFNeg => LLVMBuildFNeg(builder, operand(0), name),
            Opcode::LLVMFPTrunc | Opcode::LLVMFPExt | Opcode::LLVMSIToFP | Opcode::LLVMUIToFP => {
                LLVMBuildCast(builder, opcode, operand(0), LLVMTypeOf(old.0), name)
            }
            Opcode::LLVMFCmp => LLVMBuildFCmp(
                builder,
                LLVMGetFCmpPredicate(old.0),
                operand(0),
                operand(1),
                name,
            ),
            Opcode::LLVMSelect => {
                LLVMBuildSelect(builder, operand(0), operand(1), operand(2), name)
            }
            Opcode::LLVMPHI => {
                let phi = LLVMBuildPhi(builder, LLVMTypeOf(old.0), name);
                for index in 0..LLVMCountIncoming(old.0) {
                    let mut value = LLVMGetIncomingValue(old.0, index);
                    let mut block = LLVMGetIncomingBlock(old.0, index);
                    LLVMAddIncoming(phi, &mut value, &mut block, 1);
                }
                phi
            }
            Opcode::LLVMCall => call(builder, old.0),
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
        let places = std::iter::once(FUNCTION_ATTRIBUTES).chain(0..=count);
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
