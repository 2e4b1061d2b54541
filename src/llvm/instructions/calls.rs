//! Calls, and the assembly that they execute.

use super::super::*;
use inkwell::llvm_sys::{LLVMInlineAsmDialect, LLVMTailCallKind};
use std::collections::HashSet;

impl<'ctx> Value<'ctx> {
    /// What a call calls.
    pub(crate) fn called(self) -> Value<'ctx> {
        // SAFETY: as above; callers pass calls.
        Value::new(unsafe { LLVMGetCalledValue(self.0) })
    }

    /// Makes a call one of something else of the same type.
    pub(crate) fn set_called(self, callee: Value) {
        if let Some(last) = self.operands().len().checked_sub(1) {
            self.set_operand(last as u32, callee);
        }
    }

    /// The type that a call takes its function to have.
    pub(crate) fn called_type(self) -> Type<'ctx> {
        // SAFETY: as above.
        Type::new(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    /// The arguments of a call.
    pub(crate) fn call_arguments(self) -> Vec<Value<'ctx>> {
        // SAFETY: as above.
        unsafe {
            (0..LLVMGetNumArgOperands(self.0))
                .map(|n| Value::new(LLVMGetOperand(self.0, n)))
                .collect()
        }
    }

    /// Whether it is a call, `invoke` or `callbr`.
    pub(crate) fn is_call(self) -> bool {
        use Opcode::*;
        matches!(self.opcode(), Some(LLVMCall | LLVMInvoke | LLVMCallBr))
    }

    /// The function that a call names directly.
    pub(crate) fn called_function(self) -> Option<Value<'ctx>> {
        // SAFETY: only a call is asked for what it calls.
        (self.is_call()).then(|| unsafe { Self::checked(LLVMIsAFunction(self.called().0)) })?
    }

    /// The calls that name a function directly.
    pub(crate) fn direct_calls(self) -> Vec<Value<'ctx>> {
        let mut seen = HashSet::new();
        let calls = self.users().into_iter();
        calls
            .filter(|user| user.called_function() == Some(self) && seen.insert(*user))
            .collect()
    }

    /// The name of the function that a call names directly.
    pub(crate) fn called_name(self) -> Option<String> {
        self.called_function().map(Self::name)
    }

    /// Template and constraints of the inline assembly that a call executes.
    pub(crate) fn called_assembly(self) -> Option<(String, String)> {
        self.is_call().then(|| self.called().inline_assembly())?
    }

    /// Whether a call is one that LLVM may take apart: it has no operand bundles, and is no tail call that has to stay one.
    pub(crate) fn is_plain_call(self) -> bool {
        // SAFETY: only calls are asked; only `call` has a kind of tail calls.
        self.is_call()
            && unsafe {
                let must_be_tail = self.opcode() == Some(Opcode::LLVMCall)
                    && LLVMGetTailCallKind(self.0) == LLVMTailCallKind::LLVMTailCallKindMustTail;
                !must_be_tail && LLVMGetNumOperandBundles(self.0) == 0
            }
    }

    /// Gives a call a calling convention.
    pub(crate) fn set_convention_of_call(self, convention: u32) {
        // SAFETY: as above; callers pass calls.
        unsafe { LLVMSetInstructionCallConv(self.0, convention) }
    }

    /// Template and constraints of inline assembly.
    pub(crate) fn inline_assembly(self) -> Option<(String, String)> {
        // SAFETY: LLVM returns bytes that live as long as the value.
        unsafe {
            if LLVMIsAInlineAsm(self.0).is_null() {
                return None;
            }
            let read = |text: *const std::ffi::c_char, length: usize| {
                String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), length))
                    .into_owned()
            };
            let (mut template_length, mut constraint_length) = (0, 0);
            let template = LLVMGetInlineAsmAsmString(self.0, &mut template_length);
            let constraints = LLVMGetInlineAsmConstraintString(self.0, &mut constraint_length);
            Some((
                read(template, template_length),
                read(constraints, constraint_length),
            ))
        }
    }

    /// Whether inline assembly is said to have side effects.
    pub(crate) fn is_volatile_assembly(self) -> bool {
        // SAFETY: as above; callers pass inline assembly.
        unsafe { LLVMGetInlineAsmHasSideEffects(self.0) != 0 }
    }

    /// Whether inline assembly is said to have side effects, or to change memory.
    pub(crate) fn assembly_has_effects(self) -> bool {
        let said = self.inline_assembly();
        self.is_volatile_assembly()
            || said.is_some_and(|(_, constraints)| constraints.contains("~{memory}"))
    }

    /// Inline assembly, to be called.
    pub(crate) fn assembly(
        ty: Type<'ctx>,
        template: &str,
        constraints: &str,
        side_effects: bool,
    ) -> Value<'ctx> {
        // SAFETY: LLVM copies both texts; callers match the constraints to the type.
        Value::new(unsafe {
            LLVMGetInlineAsm(
                ty.0,
                template.as_ptr().cast(),
                template.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                side_effects.into(),
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            )
        })
    }
}
