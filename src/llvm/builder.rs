//! The builder of instructions, owned.

use super::*;

/// Makes instructions.
pub(crate) struct Builder<'ctx>(pub(super) LLVMBuilderRef, PhantomData<&'ctx Context>);

impl<'ctx> Builder<'ctx> {
    fn new(raw: LLVMBuilderRef) -> Self {
        Self(raw, PhantomData)
    }

    /// Inserts before an instruction, with its debug location.
    pub(crate) fn before(instruction: Value<'ctx>) -> Self {
        // SAFETY: as in `Value`.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(instruction.0));
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderBefore(builder, instruction.0);
            let location = LLVMInstructionGetDebugLoc(instruction.0);
            if !location.is_null() {
                LLVMSetCurrentDebugLocation2(builder, location);
            }
            Self::new(builder)
        }
    }

    /// Inserts before an instruction, with the debug location of another one of its function.
    pub(crate) fn before_as(instruction: Value<'ctx>, other: Value<'ctx>) -> Self {
        let builder = Self::before(instruction);
        // SAFETY: as above.
        unsafe { LLVMSetCurrentDebugLocation2(builder.0, LLVMInstructionGetDebugLoc(other.0)) };
        builder
    }

    /// Inserts behind an instruction that does not end its block, with its debug location.
    pub(crate) fn after(instruction: Value<'ctx>) -> Self {
        let builder = Self::before(instruction);
        // SAFETY: as above; what does not end a block has a next instruction.
        unsafe {
            LLVMPositionBuilderBefore(builder.0, LLVMGetNextInstruction(instruction.0));
            LLVMSetCurrentDebugLocation2(builder.0, LLVMInstructionGetDebugLoc(instruction.0));
        }
        builder
    }

    /// Inserts at the end of a block.
    pub(crate) fn at_end(block: Block<'ctx>) -> Self {
        // SAFETY: as in `Value`; a block is a value, too.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block.0)));
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderAtEnd(builder, block.0);
            Self::new(builder)
        }
    }

    /// Goes on at the end of another block.
    pub(crate) fn continue_in(&self, block: Block) {
        // SAFETY: as in `Value`.
        unsafe { LLVMPositionBuilderAtEnd(self.0, block.0) }
    }

    /// Goes on before an instruction, with the location that it has.
    pub(crate) fn continue_before(&self, instruction: Value) {
        // SAFETY: as in `Value`.
        unsafe { LLVMPositionBuilderBefore(self.0, instruction.0) }
    }

    /// Whether the first of two integers, read without sign, is less than the second.
    pub(crate) fn is_below(&self, left: Value, right: Value) -> Value<'ctx> {
        let less = inkwell::llvm_sys::LLVMIntPredicate::LLVMIntULT;
        // SAFETY: as above; callers give integers of one type.
        Value::new(unsafe { LLVMBuildICmp(self.0, less, left.0, right.0, c"".as_ptr()) })
    }

    /// A phi without values.
    pub(crate) fn phi(&self, ty: Type) -> Value<'ctx> {
        // SAFETY: as above.
        Value::new(unsafe { LLVMBuildPhi(self.0, ty.0, c"".as_ptr()) })
    }

    /// The block where it stands.
    pub(crate) fn block(&self) -> Block<'ctx> {
        // SAFETY: as above; the builder stands in a block.
        Block::new(unsafe { LLVMGetInsertBlock(self.0) })
    }

    /// Ends the block.
    pub(crate) fn branch(&self, to: Block) {
        // SAFETY: as above.
        unsafe {
            LLVMBuildBr(self.0, to.0);
        }
    }

    /// A call of something of this type of functions.
    pub(crate) fn call(&self, ty: Type, callee: Value, arguments: &[Value]) -> Value<'ctx> {
        let mut raw: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        // SAFETY: pointer and length describe `raw`; callers match the type.
        Value::new(unsafe {
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

    /// A load that takes the natural alignment for granted.
    pub(crate) fn load(&self, ty: Type, pointer: Value) -> Value<'ctx> {
        // SAFETY: as in `Value`; so below.
        Value::new(unsafe { LLVMBuildLoad2(self.0, ty.0, pointer.0, c"".as_ptr()) })
    }

    /// A store that takes the natural alignment for granted.
    pub(crate) fn store(&self, value: Value, pointer: Value) -> Value<'ctx> {
        // SAFETY: as above.
        Value::new(unsafe { LLVMBuildStore(self.0, value.0, pointer.0) })
    }

    /// A load of an alignment in bytes.
    pub(crate) fn load_aligned(&self, ty: Type, pointer: Value, alignment: u32) -> Value<'ctx> {
        let load = self.load(ty, pointer);
        load.set_alignment(alignment);
        load
    }

    /// A store of an alignment in bytes.
    pub(crate) fn store_aligned(
        &self,
        value: Value,
        pointer: Value,
        alignment: u32,
    ) -> Value<'ctx> {
        let store = self.store(value, pointer);
        store.set_alignment(alignment);
        store
    }

    /// Room on the stack for one value.
    pub(crate) fn alloca(&self, ty: Type) -> Value<'ctx> {
        // SAFETY: as above.
        Value::new(unsafe { LLVMBuildAlloca(self.0, ty.0, c"".as_ptr()) })
    }

    /// Copies `bytes` bytes to a target that is so aligned, from a source that need not be.
    pub(crate) fn copy(&self, target: Value, source: Value, alignment: u32, bytes: Value) {
        self.copy_aligned([(target, alignment), (source, 1)], bytes);
    }

    /// Copies `bytes` bytes to the first address from the second, each with its alignment.
    pub(crate) fn copy_aligned(&self, [to, from]: [(Value, u32); 2], bytes: Value) {
        // SAFETY: as above.
        unsafe {
            LLVMBuildMemCpy(self.0, to.0.0, to.1, from.0.0, from.1, bytes.0);
        }
    }

    /// The address that a `getelementptr` computes.
    pub(crate) fn element_pointer(
        &self,
        ty: Type,
        pointer: Value,
        indices: &[Value],
    ) -> Value<'ctx> {
        let mut raw: Vec<_> = indices.iter().map(|index| index.0).collect();
        // SAFETY: pointer and length describe `raw`.
        Value::new(unsafe {
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

    /// A value made one of another type, by an opcode that fits both.
    pub(crate) fn cast(&self, opcode: LLVMOpcode, value: Value, ty: Type) -> Value<'ctx> {
        // SAFETY: as above; callers pass a cast opcode that fits both types.
        Value::new(unsafe { LLVMBuildCast(self.0, opcode, value.0, ty.0, c"".as_ptr()) })
    }

    /// An operation on two values of one type.
    pub(crate) fn binary(&self, opcode: LLVMOpcode, left: Value, right: Value) -> Value<'ctx> {
        // SAFETY: as above.
        Value::new(unsafe { LLVMBuildBinOp(self.0, opcode, left.0, right.0, c"".as_ptr()) })
    }

    /// A comparison of two integers of one type.
    pub(crate) fn compare(
        &self,
        predicate: inkwell::llvm_sys::LLVMIntPredicate,
        left: Value,
        right: Value,
    ) -> Value<'ctx> {
        // SAFETY: as above; both are integers of one type.
        Value::new(unsafe { LLVMBuildICmp(self.0, predicate, left.0, right.0, c"".as_ptr()) })
    }

    /// A comparison of two floating-point numbers of one type.
    pub(crate) fn compare_floats(
        &self,
        predicate: RealPredicate,
        left: Value,
        right: Value,
    ) -> Value<'ctx> {
        // SAFETY: as above; both are numbers of one type.
        Value::new(unsafe { LLVMBuildFCmp(self.0, predicate, left.0, right.0, c"".as_ptr()) })
    }

    /// Ends a block with two ways on.
    pub(crate) fn branch_if(&self, condition: Value, yes: Block, no: Block) {
        // SAFETY: as above; the condition is a truth value.
        unsafe {
            LLVMBuildCondBr(self.0, condition.0, yes.0, no.0);
        }
    }

    /// Puts an element into an array, struct or vector value.
    pub(crate) fn insert(&self, aggregate: Value, element: Value, position: u32) -> Value<'ctx> {
        let vector = aggregate.ty().kind() == LLVMTypeKind::LLVMVectorTypeKind;
        let index = Type::integer_like(aggregate, 32).constant(position.into());
        // SAFETY: as above; positions are below the aggregate's length.
        Value::new(unsafe {
            if vector {
                LLVMBuildInsertElement(self.0, aggregate.0, element.0, index.0, c"".as_ptr())
            } else {
                LLVMBuildInsertValue(self.0, aggregate.0, element.0, position, c"".as_ptr())
            }
        })
    }

    /// An element of an array or struct value.
    pub(crate) fn extract(&self, aggregate: Value, position: u32) -> Value<'ctx> {
        // SAFETY: as above; positions are below the aggregate's length.
        Value::new(unsafe { LLVMBuildExtractValue(self.0, aggregate.0, position, c"".as_ptr()) })
    }

    /// One of two values of a type.
    pub(crate) fn select(&self, condition: Value, yes: Value, no: Value) -> Value<'ctx> {
        // SAFETY: as above; the condition is a truth value.
        Value::new(unsafe { LLVMBuildSelect(self.0, condition.0, yes.0, no.0, c"".as_ptr()) })
    }

    /// A constant text with a final zero byte; its address.
    pub(crate) fn text(&self, text: &str) -> Value<'ctx> {
        let text = c_string(text);
        // SAFETY: the builder stands in a function of a module.
        Value::new(unsafe { LLVMBuildGlobalString(self.0, text.as_ptr(), c"sirius.text".as_ptr()) })
    }

    /// `addrspacecast`, a no-op where the types are equal.
    pub(crate) fn to_pointer_type(&self, value: Value<'ctx>, ty: Type<'ctx>) -> Value<'ctx> {
        if value.ty() == ty {
            return value;
        }
        self.cast(LLVMOpcode::LLVMAddrSpaceCast, value, ty)
    }

    /// Ends the block: a return of nothing, or of a value.
    pub(crate) fn ret(&self, value: Option<Value>) {
        // SAFETY: as above; callers pass what the function returns.
        unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.0, value.0),
                None => LLVMBuildRetVoid(self.0),
            };
        }
    }

    /// Ends the block: on to one of two, by whether two pointers or integers are equal.
    pub(crate) fn branch_if_equal(&self, one: Value, other: Value, equal: Block, different: Block) {
        let is_equal = self.compare(IntegerPredicate::LLVMIntEQ, one, other);
        self.branch_if(is_equal, equal, different);
    }

    /// Ends a block that is not left.
    pub(crate) fn unreachable(&self) {
        // SAFETY: as above.
        unsafe {
            LLVMBuildUnreachable(self.0);
        }
    }

    /// Inserts an instruction that is in no block.
    pub(crate) fn put(&self, instruction: Value) {
        // SAFETY: the instruction has no parent.
        unsafe { LLVMInsertIntoBuilder(self.0, instruction.0) }
    }

    /// A call of a function.
    pub(crate) fn call_function(&self, function: Value, arguments: &[Value]) -> Value<'ctx> {
        self.call(function.value_type(), function, arguments)
    }

    /// A call of a function that goes on at the first of two blocks, or at the second where the function throws.
    pub(crate) fn invoke(
        &self,
        function: Value,
        arguments: &[Value],
        destinations: (Block, Block),
    ) -> Value<'ctx> {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        // SAFETY: callers pass arguments that fit the function's type, and blocks of one function.
        Value::new(unsafe {
            LLVMBuildInvoke2(
                self.0,
                function.value_type().0,
                function.0,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                destinations.0.0,
                destinations.1.0,
                c"".as_ptr(),
            )
        })
    }

    /// `-value`.
    pub(crate) fn negate(&self, value: Value) -> Value<'ctx> {
        // SAFETY: callers pass a floating-point value.
        Value::new(unsafe { LLVMBuildFNeg(self.0, value.0, c"".as_ptr()) })
    }

    /// The instruction that does what a constant expression does, with these operands in place of its
    /// own; none for an operation that no constant expression of a front end has.
    pub(crate) fn expression(&self, expression: Value, operands: &[Value]) -> Option<Value<'ctx>> {
        let (&first, rest) = operands.split_first()?;
        let kind = expression.constant_opcode();
        Some(match kind {
            Opcode::LLVMGetElementPtr => {
                self.element_pointer(expression.element_pointer_source_type(), first, rest)
            }
            Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMPtrToInt
            | Opcode::LLVMIntToPtr
            | Opcode::LLVMTrunc
            | Opcode::LLVMBitCast => self.cast(kind, first, expression.ty()),
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMXor => {
                self.binary(kind, first, *rest.first()?)
            }
            _ => return None,
        })
    }

    /// An integer and a number.
    pub(crate) fn add_number(&self, value: Value, number: i64) -> Value<'ctx> {
        // SAFETY: as above; callers pass an integer, and the constant has its type.
        let number = Value::new(unsafe { LLVMConstInt(value.ty().0, number as u64, 1) });
        self.binary(Opcode::LLVMAdd, value, number)
    }

    /// The address of an element of an array.
    pub(crate) fn element(&self, element: Type, array: Value, index: u64) -> Value<'ctx> {
        let index = Type::integer_like(array, 64).constant(index);
        self.element_pointer(element, array, &[index])
    }

    /// A value of one bit, as an instruction of its own.
    pub(crate) fn and_true(&self, value: Value) -> Value<'ctx> {
        // SAFETY: as above; callers pass a value of one bit, and the constant has its type.
        let all = Value::new(unsafe { LLVMConstAllOnes(value.ty().0) });
        self.binary(Opcode::LLVMAnd, value, all)
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: the builder is ours and disposed of once.
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}
