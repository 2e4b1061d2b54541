//! Promises of an instruction whose breach makes its result anything.

use super::super::attributes::attribute_kind;
use super::super::*;
use inkwell::llvm_sys::LLVMOpcode::*;

impl<'ctx> Value<'ctx> {
    /// Takes the promises away that LLVM's C interface can take away: that nothing overflows, that
    /// no bits get lost, that signs agree. The result is then the plain one in every case.
    pub(crate) fn drop_promises(self) {
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
                // The second operand says that the first is not the number of which these know no result.
                LLVMCall if self.is_undefined_for_one_number() => {
                    let no = self.operand(1).ty().zero();
                    self.set_operand(1, no);
                }
                _ => {}
            }
        }
    }

    /// Promises that a sum or a product overflows neither as a signed nor as an unsigned number.
    pub(crate) fn promise_no_wrap(self) {
        if self.is_instruction() && matches!(self.opcode(), Some(LLVMAdd | LLVMSub | LLVMMul)) {
            // SAFETY: a live instruction of an opcode that has the flags.
            unsafe {
                LLVMSetNSW(self.0, 1);
                LLVMSetNUW(self.0, 1);
            }
        }
    }

    /// Whether the result can be anything without a promise: a shift by more than there is, a number
    /// that an integer cannot hold.
    pub(crate) fn may_be_anything(self) -> bool {
        match self.opcode() {
            Some(LLVMShl | LLVMLShr | LLVMAShr) => {
                let bits = u64::from(self.ty().integer_bits());
                let amount = self.operand(1).constant_integer();
                !self.ty().is_integer() || amount.is_none_or(|amount| amount >= bits)
            }
            Some(LLVMFPToSI | LLVMFPToUI) => true,
            _ => false,
        }
    }

    /// Whether this calls a function that may have no result for the smallest number, or for zero.
    fn is_undefined_for_one_number(self) -> bool {
        self.called_name().is_some_and(|name| {
            ["llvm.abs.", "llvm.ctlz.", "llvm.cttz."]
                .iter()
                .any(|start| name.starts_with(start))
        })
    }

    /// Whether this calls a function that does not return.
    pub(crate) fn never_returns(self) -> bool {
        let kind = attribute_kind("noreturn");
        self.opcode() == Some(LLVMCall)
            // SAFETY: this is a call.
            && (!unsafe { LLVMGetCallSiteEnumAttribute(self.0, FUNCTION_ATTRIBUTES, kind) }.is_null()
                || self.called().is_function()
                    && self.called().has_attribute(FUNCTION_ATTRIBUTES, "noreturn"))
    }

    /// Takes from a phi what comes from a block that does not lead to it any more.
    pub(crate) fn forget_incoming(self, from: Block) {
        let mut left = self.incoming();
        left.retain(|(_, block)| *block != from);
        self.replace_phi(self.block(), &left);
    }
}

impl<'ctx> Builder<'ctx> {
    /// A value that is one and the same wherever it is used, also where it could be anything.
    pub(crate) fn freeze(&self, value: Value) -> Value<'ctx> {
        // SAFETY: as in `Value`.
        Value::new(unsafe { LLVMBuildFreeze(self.0, value.0, c"".as_ptr()) })
    }
}
