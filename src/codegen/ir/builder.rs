//! The builder of instructions, owned.

use super::*;

/// Makes instructions.
pub(in crate::codegen) struct Builder(pub(super) LLVMBuilderRef);

impl Builder {
    /// Inserts before an instruction, with its debug location.
    pub(in crate::codegen) fn before(instruction: Value) -> Self {
        // SAFETY: as in `Value`.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(instruction.0));
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderBefore(builder, instruction.0);
            let location = LLVMInstructionGetDebugLoc(instruction.0);
            if !location.is_null() {
                LLVMSetCurrentDebugLocation2(builder, location);
            }
            Self(builder)
        }
    }

    /// Inserts before an instruction, with the debug location of another one of its function.
    pub(in crate::codegen) fn before_as(instruction: Value, other: Value) -> Self {
        let builder = Self::before(instruction);
        // SAFETY: as above.
        unsafe { LLVMSetCurrentDebugLocation2(builder.0, LLVMInstructionGetDebugLoc(other.0)) };
        builder
    }

    /// Inserts behind an instruction that does not end its block, with its debug location.
    pub(in crate::codegen) fn after(instruction: Value) -> Self {
        let builder = Self::before(instruction);
        // SAFETY: as above; what does not end a block has a next instruction.
        unsafe {
            LLVMPositionBuilderBefore(builder.0, LLVMGetNextInstruction(instruction.0));
            LLVMSetCurrentDebugLocation2(builder.0, LLVMInstructionGetDebugLoc(instruction.0));
        }
        builder
    }

    /// Inserts at the end of a block.
    pub(in crate::codegen) fn at_end(module: &Module, block: Block) -> Self {
        // SAFETY: as in `Value`.
        unsafe {
            let builder = LLVMCreateBuilderInContext(module.get_context().as_ctx_ref());
            LLVMPositionBuilderAtEnd(builder, block.0);
            Self(builder)
        }
    }

    /// Goes on at the end of another block.
    pub(in crate::codegen) fn continue_in(&self, block: Block) {
        // SAFETY: as in `Value`.
        unsafe { LLVMPositionBuilderAtEnd(self.0, block.0) }
    }

    /// Goes on before an instruction, with the location that it has.
    pub(in crate::codegen) fn continue_before(&self, instruction: Value) {
        // SAFETY: as in `Value`.
        unsafe { LLVMPositionBuilderBefore(self.0, instruction.0) }
    }

    /// Whether the first of two integers, read without sign, is less than the second.
    pub(in crate::codegen) fn is_below(&self, left: Value, right: Value) -> Value {
        let less = inkwell::llvm_sys::LLVMIntPredicate::LLVMIntULT;
        // SAFETY: as above; callers give integers of one type.
        Value(unsafe { LLVMBuildICmp(self.0, less, left.0, right.0, c"".as_ptr()) })
    }

    /// A phi without values.
    pub(in crate::codegen) fn phi(&self, ty: Type) -> Value {
        // SAFETY: as above.
        Value(unsafe { LLVMBuildPhi(self.0, ty.0, c"".as_ptr()) })
    }

    /// The block where it stands.
    pub(in crate::codegen) fn block(&self) -> Block {
        // SAFETY: as above; the builder stands in a block.
        Block(unsafe { LLVMGetInsertBlock(self.0) })
    }

    /// Ends the block: one of two ways.
    pub(in crate::codegen) fn branch_on(&self, condition: Value, yes: Block, no: Block) {
        // SAFETY: as above; the condition is a truth value.
        unsafe {
            LLVMBuildCondBr(self.0, condition.0, yes.0, no.0);
        }
    }

    /// Ends the block.
    pub(in crate::codegen) fn branch(&self, to: Block) {
        // SAFETY: as above.
        unsafe {
            LLVMBuildBr(self.0, to.0);
        }
    }

    pub(in crate::codegen) fn call(&self, ty: Type, callee: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        // SAFETY: pointer and length describe `raw`; callers match the type.
        Value(unsafe {
            LLVMBuildCall2(
                self.0,
                ty.0,
                callee.0,
                raw.as_mut_ptr(),
                raw.len() as u32,
                c"".as_ptr(),
            )
        })
    }

    pub(in crate::codegen) fn load(&self, ty: Type, pointer: Value, alignment: u32) -> Value {
        // SAFETY: as in `Value`; so below.
        unsafe {
            let load = LLVMBuildLoad2(self.0, ty.0, pointer.0, c"".as_ptr());
            LLVMSetAlignment(load, alignment);
            Value(load)
        }
    }

    pub(in crate::codegen) fn store(&self, value: Value, pointer: Value, alignment: u32) -> Value {
        // SAFETY: as above.
        unsafe {
            let store = LLVMBuildStore(self.0, value.0, pointer.0);
            LLVMSetAlignment(store, alignment);
            Value(store)
        }
    }

    pub(in crate::codegen) fn alloca(&self, ty: Type) -> Value {
        // SAFETY: as above.
        Value(unsafe { LLVMBuildAlloca(self.0, ty.0, c"".as_ptr()) })
    }

    /// Copies `bytes` bytes to a target that is so aligned, from a source that need not be.
    pub(in crate::codegen) fn copy(
        &self,
        target: Value,
        source: Value,
        alignment: u32,
        bytes: Value,
    ) {
        // SAFETY: as above.
        unsafe {
            LLVMBuildMemCpy(self.0, target.0, alignment, source.0, 1, bytes.0);
        }
    }

    pub(in crate::codegen) fn element_pointer(
        &self,
        ty: Type,
        pointer: Value,
        indices: &[Value],
    ) -> Value {
        let mut raw: Vec<_> = indices.iter().map(|index| index.0).collect();
        // SAFETY: pointer and length describe `raw`.
        Value(unsafe {
            LLVMBuildGEP2(
                self.0,
                ty.0,
                pointer.0,
                raw.as_mut_ptr(),
                raw.len() as u32,
                c"".as_ptr(),
            )
        })
    }

    pub(in crate::codegen) fn cast(&self, opcode: LLVMOpcode, value: Value, ty: Type) -> Value {
        // SAFETY: as above; callers pass a cast opcode that fits both types.
        Value(unsafe { LLVMBuildCast(self.0, opcode, value.0, ty.0, c"".as_ptr()) })
    }

    pub(in crate::codegen) fn binary(
        &self,
        opcode: LLVMOpcode,
        left: Value,
        right: Value,
    ) -> Value {
        // SAFETY: as above.
        Value(unsafe { LLVMBuildBinOp(self.0, opcode, left.0, right.0, c"".as_ptr()) })
    }

    pub(in crate::codegen) fn compare(
        &self,
        predicate: inkwell::llvm_sys::LLVMIntPredicate,
        left: Value,
        right: Value,
    ) -> Value {
        // SAFETY: as above; both are integers of one type.
        Value(unsafe { LLVMBuildICmp(self.0, predicate, left.0, right.0, c"".as_ptr()) })
    }

    pub(in crate::codegen) fn compare_floats(
        &self,
        predicate: RealPredicate,
        left: Value,
        right: Value,
    ) -> Value {
        // SAFETY: as above; both are numbers of one type.
        Value(unsafe { LLVMBuildFCmp(self.0, predicate, left.0, right.0, c"".as_ptr()) })
    }

    /// Ends a block with two ways on.
    pub(in crate::codegen) fn branch_if(&self, condition: Value, yes: Block, no: Block) {
        // SAFETY: as above; the condition is a truth value.
        unsafe {
            LLVMBuildCondBr(self.0, condition.0, yes.0, no.0);
        }
    }

    /// Puts an element into an array, struct or vector value.
    pub(in crate::codegen) fn insert(
        &self,
        module: &Module,
        aggregate: Value,
        element: Value,
        position: u32,
    ) -> Value {
        let vector = aggregate.ty().kind() == LLVMTypeKind::LLVMVectorTypeKind;
        let index = Type::integer(module, 32).constant(position.into());
        // SAFETY: as above; positions are below the aggregate's length.
        Value(unsafe {
            if vector {
                LLVMBuildInsertElement(self.0, aggregate.0, element.0, index.0, c"".as_ptr())
            } else {
                LLVMBuildInsertValue(self.0, aggregate.0, element.0, position, c"".as_ptr())
            }
        })
    }

    /// An element of an array or struct value.
    pub(in crate::codegen) fn extract(&self, aggregate: Value, position: u32) -> Value {
        // SAFETY: as above; positions are below the aggregate's length.
        Value(unsafe { LLVMBuildExtractValue(self.0, aggregate.0, position, c"".as_ptr()) })
    }

    /// One of two values of a type.
    pub(in crate::codegen) fn select(&self, condition: Value, yes: Value, no: Value) -> Value {
        // SAFETY: as above; the condition is a truth value.
        Value(unsafe { LLVMBuildSelect(self.0, condition.0, yes.0, no.0, c"".as_ptr()) })
    }

    /// A constant text with a final zero byte; its address.
    pub(in crate::codegen) fn text(&self, text: &str) -> Value {
        let text = c_string(text);
        // SAFETY: the builder stands in a function of a module.
        Value(unsafe { LLVMBuildGlobalString(self.0, text.as_ptr(), c"sirius.text".as_ptr()) })
    }

    /// `addrspacecast`, a no-op where the types are equal.
    pub(in crate::codegen) fn to_pointer_type(&self, value: Value, ty: Type) -> Value {
        if value.ty() == ty {
            return value;
        }
        self.cast(LLVMOpcode::LLVMAddrSpaceCast, value, ty)
    }

    pub(in crate::codegen) fn return_void(&self) {
        // SAFETY: as above.
        unsafe {
            LLVMBuildRetVoid(self.0);
        }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: the builder is ours and disposed of once.
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}
