//! Promises of an instruction whose breach makes its result anything.

use super::*;
use inkwell::llvm_sys::LLVMOpcode::*;

impl Value {
    /// Takes the promises away that LLVM's C interface can take away: that nothing overflows, that
    /// no bits get lost, that signs agree. The result is then the plain one in every case.
    pub(in crate::codegen) fn drop_promises(self) {
        // SAFETY: live instructions, each with the flags that its opcode has.
        unsafe {
            match LLVMGetInstructionOpcode(self.0) {
                LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMTrunc => {
                    LLVMSetNSW(self.0, 0);
                    LLVMSetNUW(self.0, 0);
                }
                LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr => LLVMSetExact(self.0, 0),
                LLVMZExt | LLVMUIToFP => LLVMSetNNeg(self.0, 0),
                LLVMOr => LLVMSetIsDisjoint(self.0, 0),
                LLVMICmp => LLVMSetICmpSameSign(self.0, 0),
                LLVMGetElementPtr => LLVMGEPSetNoWrapFlags(self.0, 0),
                _ => {}
            }
        }
    }

    /// Whether the result can be anything without a promise: a shift by more than there is, a number
    /// that an integer cannot hold.
    pub(in crate::codegen) fn may_be_anything(self) -> bool {
        match self.opcode() {
            LLVMShl | LLVMLShr | LLVMAShr => {
                let bits = u64::from(self.ty().integer_bits());
                let amount = self.operand(1).constant_integer();
                !self.ty().is_integer() || amount.is_none_or(|amount| amount >= bits)
            }
            LLVMFPToSI | LLVMFPToUI => true,
            LLVMCall => self.called_name().is_some_and(|name| {
                ["llvm.abs.", "llvm.ctlz.", "llvm.cttz."]
                    .iter()
                    .any(|start| name.starts_with(start))
            }),
            _ => false,
        }
    }
}

impl Builder {
    /// A value that is one and the same wherever it is used, also where it could be anything.
    pub(in crate::codegen) fn freeze(&self, value: Value) -> Value {
        // SAFETY: as in `Value`.
        Value(unsafe { LLVMBuildFreeze(self.0, value.0, c"".as_ptr()) })
    }
}
