//! What instructions and constant expressions do, and what they say of it.

pub(super) mod atomics;
pub(super) mod calls;
pub(super) mod fast_math;
pub(super) mod promises;

use super::*;
use inkwell::llvm_sys::LLVMGEPFlagInBounds;

impl<'ctx> Value<'ctx> {
    /// What an instruction does; none for other values.
    pub(crate) fn opcode(self) -> Option<Opcode> {
        // SAFETY: only an instruction is asked for its opcode.
        self.is_instruction()
            .then(|| unsafe { LLVMGetInstructionOpcode(self.0) })
    }

    /// What an instruction or a constant expression does; none for other values.
    pub(crate) fn operation(self) -> Option<Opcode> {
        match self.is_constant_expression() {
            true => Some(self.constant_opcode()),
            false => self.opcode(),
        }
    }

    /// A copy of an instruction, in no block.
    pub(crate) fn copy_instruction(self) -> Self {
        // SAFETY: callers pass instructions.
        Self::new(unsafe { LLVMInstructionClone(self.0) })
    }

    /// Takes an instruction out of its block; it is in none then.
    pub(crate) fn take_out(self) {
        // SAFETY: callers pass instructions in blocks.
        unsafe { LLVMInstructionRemoveFromParent(self.0) }
    }

    /// What a constant expression does.
    pub(crate) fn constant_opcode(self) -> LLVMOpcode {
        // SAFETY: as above; callers pass constant expressions.
        unsafe { LLVMGetConstOpcode(self.0) }
    }

    /// The type that the indices of a `getelementptr` count in.
    pub(crate) fn element_pointer_source_type(self) -> Type<'ctx> {
        // SAFETY: as above; callers pass a getelementptr.
        Type::new(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    /// Whether an addition, subtraction, multiplication or shift is said never to wrap as a signed one.
    pub(crate) fn has_no_signed_wrap(self) -> bool {
        // SAFETY: as above; callers pass one of these.
        unsafe { LLVMGetNSW(self.0) != 0 }
    }

    /// Whether a sum, product or shift is said not to wrap around, its operands read without sign.
    pub(crate) fn has_no_unsigned_wrap(self) -> bool {
        // SAFETY: as above; callers pass one of these.
        unsafe { LLVMGetNUW(self.0) != 0 }
    }

    /// Whether the operands of an `or` are said to have no bit in common.
    pub(crate) fn is_disjoint(self) -> bool {
        // SAFETY: as above; callers pass an `or`.
        unsafe { LLVMGetIsDisjoint(self.0) != 0 }
    }

    /// Whether what a `zext` widens is said never to be negative.
    pub(crate) fn is_of_no_negative(self) -> bool {
        // SAFETY: as above; callers pass a `zext`.
        unsafe { LLVMGetNNeg(self.0) != 0 }
    }

    /// Whether a load, store or atomic operation is volatile.
    pub(crate) fn is_volatile(self) -> bool {
        // SAFETY: as above; callers pass a load, store or atomic.
        unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    /// Whether an instruction is an atomic operation, or an ordered load or store.
    pub(crate) fn is_atomic(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMIsAtomic(self.0) != 0 }
    }

    /// Makes an atomic operation or fence one of the whole system.
    pub(crate) fn set_system_scope(self) {
        // SAFETY: as above; scope 1 is LLVM's `System`.
        unsafe { LLVMSetAtomicSyncScopeID(self.0, 1) }
    }

    /// The function that an instruction stands in.
    pub(crate) fn function_of_instruction(self) -> Value<'ctx> {
        // SAFETY: as above; the instruction is in a block of a function.
        unsafe { Value::new(LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.0))) }
    }

    /// Removes an instruction; it has no uses.
    pub(crate) fn erase(self) {
        // SAFETY: as above.
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    /// What an `alloca` makes, and how many.
    pub(crate) fn allocated(self) -> Option<(Type<'ctx>, Self)> {
        (self.opcode() == Some(Opcode::LLVMAlloca)).then(|| {
            // SAFETY: an alloca.
            unsafe {
                (
                    Type::new(LLVMGetAllocatedType(self.0)),
                    Self::new(LLVMGetOperand(self.0, 0)),
                )
            }
        })
    }

    /// The normal and the unwind destination of an invoke.
    pub(crate) fn invoke_destinations(self) -> Option<(Block<'ctx>, Block<'ctx>)> {
        (self.opcode() == Some(Opcode::LLVMInvoke)).then(|| {
            // SAFETY: an invoke.
            unsafe {
                (
                    Block::new(LLVMGetNormalDest(self.0)),
                    Block::new(LLVMGetUnwindDest(self.0)),
                )
            }
        })
    }

    /// Makes a load or store `volatile`.
    pub(crate) fn make_volatile(self) {
        // SAFETY: callers pass loads and stores.
        unsafe { LLVMSetVolatile(self.0, 1) }
    }

    /// The predicate of an integer comparison; none for other values.
    pub(crate) fn integer_predicate(self) -> Option<IntegerPredicate> {
        // SAFETY: only an integer comparison is asked for its predicate.
        (self.opcode() == Some(Opcode::LLVMICmp)).then(|| unsafe { LLVMGetICmpPredicate(self.0) })
    }

    /// Says that an addition never wraps as a signed one.
    pub(crate) fn promise_no_signed_wrap(self) {
        // SAFETY: as above; callers pass additions.
        unsafe { LLVMSetNSW(self.0, 1) }
    }

    /// Says that an addition never wraps, its operands read without sign.
    pub(crate) fn promise_no_unsigned_wrap(self) {
        // SAFETY: as above; callers pass additions.
        unsafe { LLVMSetNUW(self.0, 1) }
    }

    /// Of what a `getelementptr` promises, leaves that it stays in bounds.
    pub(crate) fn promise_in_bounds_only(self) {
        // SAFETY: as above; callers pass a `getelementptr`. Fewer promises are always true.
        unsafe {
            let flags = LLVMGEPGetNoWrapFlags(self.0);
            LLVMGEPSetNoWrapFlags(self.0, flags & LLVMGEPFlagInBounds);
        }
    }

    /// Where an operand of a phi comes from; none for other instructions.
    pub(crate) fn incoming_block(self, operand: u32) -> Option<Block<'ctx>> {
        // SAFETY: a live phi has as many blocks as operands.
        unsafe {
            (!LLVMIsAPHINode(self.0).is_null())
                .then(|| Block::new(LLVMGetIncomingBlock(self.0, operand)))
        }
    }

    /// Whether an instruction ends its block.
    pub(crate) fn is_terminator(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsATerminatorInst(self.0).is_null() }
    }

    /// Whether a `getelementptr` stays in bounds.
    pub(crate) fn is_in_bounds(self) -> bool {
        // SAFETY: as above; callers pass a `getelementptr`.
        unsafe { LLVMIsInBounds(self.0) != 0 }
    }

    /// Whether the operands of an integer comparison are said to have one sign.
    pub(crate) fn is_of_same_sign(self) -> bool {
        // SAFETY: as above; callers pass integer comparisons.
        unsafe { LLVMGetICmpSameSign(self.0) != 0 }
    }

    /// The predicate of a comparison of floating-point numbers.
    pub(crate) fn float_predicate(self) -> RealPredicate {
        // SAFETY: as above; callers pass such comparisons.
        unsafe { LLVMGetFCmpPredicate(self.0) }
    }

    /// The places in structs and arrays that an `extractvalue` or `insertvalue` names.
    pub(crate) fn indices(self) -> Vec<u32> {
        // SAFETY: as above; callers pass one of these, which has so many.
        unsafe {
            let count = LLVMGetNumIndices(self.0) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.0), count).to_vec()
        }
    }

    /// The number for which a `switch` goes to a successor; that of the first is none.
    pub(crate) fn switch_case(self, successor: u32) -> Value<'ctx> {
        // SAFETY: as above; callers pass a `switch` and stay below its successors.
        Value::new(unsafe { LLVMGetSwitchCaseValue(self.0, successor) })
    }

    /// The type of what an `alloca` makes.
    pub(crate) fn allocated_type(self) -> Type<'ctx> {
        // SAFETY: as above; callers pass an `alloca`.
        Type::new(unsafe { LLVMGetAllocatedType(self.0) })
    }
}
