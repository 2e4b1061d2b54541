//! Making new instructions.
//!
//! Invariant: as in [`super::ir`]; a [`Builder`] stands in a live block as long as it is used.

use super::ir::{Block, Type, Value};
use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// An owned instruction builder.
pub(super) struct Builder(LLVMBuilderRef);

impl Builder {
    /// Builds before `instruction`, with its source place.
    pub(super) fn before(instruction: Value) -> Self {
        // SAFETY: a live instruction in a block; the builder is disposed in `drop`.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(instruction.0));
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderBefore(builder, instruction.0);
            LLVMSetCurrentDebugLocation2(
                builder,
                llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(instruction.0),
            );
            Self(builder)
        }
    }

    /// Builds right after `instruction`, which does not end its block, with its source place.
    pub(super) fn after(instruction: Value) -> Self {
        // SAFETY: a live instruction that another follows.
        Self::before(Value(unsafe { LLVMGetNextInstruction(instruction.0) }))
    }

    /// For what LLVM builds and this has no call for.
    pub(super) fn raw(&self) -> LLVMBuilderRef {
        self.0
    }

    /// Builds at the end of a block of `function`.
    pub(super) fn at_end(function: Value, block: Block) -> Self {
        // SAFETY: a live block of a live function; the builder is disposed in `drop`.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function.0)));
            LLVMPositionBuilderAtEnd(builder, block.0);
            Self(builder)
        }
    }

    /// Inserts an instruction that is in no block.
    pub(super) fn insert(&self, instruction: Value) {
        // SAFETY: the instruction has no parent.
        unsafe { LLVMInsertIntoBuilder(self.0, instruction.0) }
    }

    /// A branch to a block of the same function.
    pub(super) fn branch(&self, to: Block) {
        // SAFETY: a live block.
        unsafe { LLVMBuildBr(self.0, to.0) };
    }

    /// A call.
    pub(super) fn call(&self, function: Value, arguments: &[Value]) -> Value {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        // SAFETY: callers pass arguments that fit the function's type.
        Value(unsafe {
            LLVMBuildCall2(
                self.0,
                function.global_value_type().0,
                function.0,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                c"".as_ptr(),
            )
        })
    }

    /// An invoke.
    pub(super) fn invoke(
        &self,
        function: Value,
        arguments: &[Value],
        destinations: (Block, Block),
    ) -> Value {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        // SAFETY: callers pass arguments that fit the function's type, and blocks of one function.
        Value(unsafe {
            LLVMBuildInvoke2(
                self.0,
                function.global_value_type().0,
                function.0,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                destinations.0.0,
                destinations.1.0,
                c"".as_ptr(),
            )
        })
    }

    /// A load.
    pub(super) fn load(&self, loaded: Type, pointer: Value) -> Value {
        // SAFETY: callers pass a pointer.
        Value(unsafe { LLVMBuildLoad2(self.0, loaded.0, pointer.0, c"".as_ptr()) })
    }

    /// A store.
    pub(super) fn store(&self, value: Value, pointer: Value) {
        // SAFETY: callers pass a pointer to memory of the value's type.
        unsafe { LLVMBuildStore(self.0, value.0, pointer.0) };
    }

    /// A load that assumes no alignment.
    pub(super) fn load_unaligned(&self, loaded: Type, pointer: Value) -> Value {
        let load = self.load(loaded, pointer);
        // SAFETY: a load; an alignment of 1 is always true.
        unsafe { LLVMSetAlignment(load.0, 1) }
        load
    }

    /// The address of an element of an array.
    pub(super) fn element(
        &self,
        module: &Module<'_>,
        element: Type,
        array: Value,
        index: u64,
    ) -> Value {
        let mut indices = [Type::integer(module, 64).constant(index).0];
        // SAFETY: callers pass a pointer; one index for one dimension.
        Value(unsafe {
            LLVMBuildGEP2(
                self.0,
                element.0,
                array.0,
                indices.as_mut_ptr(),
                1,
                c"".as_ptr(),
            )
        })
    }

    /// `value`, zero-extended.
    pub(super) fn zero_extend(&self, value: Value, wider: Type) -> Value {
        // SAFETY: callers pass an integer and a wider integer type.
        Value(unsafe { LLVMBuildZExt(self.0, value.0, wider.0, c"".as_ptr()) })
    }

    /// `value << by`.
    pub(super) fn shift_left(&self, value: Value, by: Value) -> Value {
        // SAFETY: callers pass integers of one type.
        Value(unsafe { LLVMBuildShl(self.0, value.0, by.0, c"".as_ptr()) })
    }

    /// `one | other`.
    pub(super) fn or(&self, one: Value, other: Value) -> Value {
        // SAFETY: callers pass integers of one type.
        Value(unsafe { LLVMBuildOr(self.0, one.0, other.0, c"".as_ptr()) })
    }

    /// `-value`.
    pub(super) fn negate(&self, value: Value) -> Value {
        // SAFETY: callers pass a floating-point value.
        Value(unsafe { LLVMBuildFNeg(self.0, value.0, c"".as_ptr()) })
    }

    /// A return of nothing, or of a value.
    pub(super) fn ret(&self, value: Option<Value>) {
        // SAFETY: callers pass what the function returns.
        unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.0, value.0),
                None => LLVMBuildRetVoid(self.0),
            };
        }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: made by this type, disposed once.
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}
