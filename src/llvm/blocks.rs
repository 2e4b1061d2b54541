//! Taking control flow apart and putting it together again.

use super::*;
use inkwell::llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyFunction};

/// Copies a module; inkwell's own way to do that verifies it first.
pub(crate) fn copy_unchecked<'ctx>(module: &Module<'ctx>) -> Module<'ctx> {
    // SAFETY: the module is alive; the copy is ours alone, and of the same context.
    unsafe { Module::new(LLVMCloneModule(module.as_mut_ptr())) }
}

impl<'ctx> Block<'ctx> {
    /// A new block at the end of a function.
    pub(crate) fn append(function: Value<'ctx>, name: &str) -> Self {
        let name = c_string(name);
        // SAFETY: the function is alive; a block is made in its context.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(function.0));
            Self::new(LLVMAppendBasicBlockInContext(
                context,
                function.0,
                name.as_ptr(),
            ))
        }
    }

    /// Its instructions, in order.
    pub(crate) fn instructions(self) -> Vec<Value<'ctx>> {
        // SAFETY: see `Type::kind`; so below.
        iterate(
            unsafe { Value::checked(LLVMGetFirstInstruction(self.0)) },
            |at| unsafe { Value::checked(LLVMGetNextInstruction(at.0)) },
        )
    }

    /// Its last instruction, once it is complete.
    pub(crate) fn terminator(self) -> Option<Value<'ctx>> {
        // SAFETY: see `Type::kind`.
        unsafe { Value::checked(LLVMGetBasicBlockTerminator(self.0)) }
    }

    /// The blocks that its terminator leads to.
    pub(crate) fn successors(self) -> Vec<Block<'ctx>> {
        self.terminator().map_or(Vec::new(), Value::successors)
    }

    /// Takes the block out of its function and puts it at the end of another.
    pub(crate) fn move_to(self, function: Value) {
        // SAFETY: the block has a parent before and another afterwards.
        unsafe {
            LLVMRemoveBasicBlockFromParent(self.0);
            LLVMAppendExistingBasicBlock(function.0, self.0);
        }
    }

    /// The blocks whose terminators lead here, each once.
    pub(crate) fn predecessors(self) -> Vec<Block<'ctx>> {
        // SAFETY: the block is alive; what uses one is a terminator, which is in a block.
        let users = Value::new(unsafe { LLVMBasicBlockAsValue(self.0) }).users();
        let mut found = Vec::new();
        for user in users.into_iter().filter(|user| user.is_instruction()) {
            let block = user.block();
            if !found.contains(&block) {
                found.push(block);
            }
        }
        found
    }

    /// The function that the block is in.
    pub(crate) fn function(self) -> Value<'ctx> {
        // SAFETY: as above.
        Value::new(unsafe { LLVMGetBasicBlockParent(self.0) })
    }

    /// Lets all branches of this block to `old` go to `new`. Phis of either are left as they are.
    pub(crate) fn redirect(self, old: Block, new: Block) {
        let Some(terminator) = self.terminator() else {
            return;
        };
        // SAFETY: the indices are in range.
        unsafe {
            for index in 0..LLVMGetNumSuccessors(terminator.0) {
                if LLVMGetSuccessor(terminator.0, index) == old.0 {
                    LLVMSetSuccessor(terminator.0, index, new.0);
                }
            }
        }
    }

    /// Sets a successor of the terminator.
    pub(crate) fn set_successor(self, index: u32, to: Block) {
        if let Some(terminator) = self.terminator() {
            // SAFETY: callers stay below the number of successors.
            unsafe { LLVMSetSuccessor(terminator.0, index, to.0) }
        }
    }

    /// Ends an unfinished block with a branch.
    pub(crate) fn branch_to(self, to: Block) {
        Builder::at_end(self).branch(to);
    }

    /// The first `count` instructions become a block of their own, which leads to the rest: the
    /// terminator keeps its block, so that no successor's phi changes. It begins the function where this one did.
    pub(crate) fn split_head(self, count: usize) -> Block<'ctx> {
        let head = Block::append(self.function(), "");
        // SAFETY: both are blocks of one function.
        unsafe { LLVMMoveBasicBlockBefore(head.0, self.0) }
        for before in self.predecessors() {
            before.redirect(self, head);
        }
        for instruction in self.instructions().into_iter().take(count) {
            instruction.move_to_end(head);
        }
        head.branch_to(self);
        head
    }

    /// Its address, a constant; nobody may ask for that of the block that a function begins with.
    pub(crate) fn address(self, function: Value) -> Value<'ctx> {
        // SAFETY: the block is of the function, and both are alive.
        Value::new(unsafe { LLVMBlockAddress(function.0, self.0) })
    }

    /// The phis at its start.
    pub(crate) fn phis(self) -> Vec<Value<'ctx>> {
        let phi = |instruction: &Value| instruction.opcode() == Some(Opcode::LLVMPHI);
        self.instructions().into_iter().take_while(phi).collect()
    }

    /// Ends an unfinished block that is never left.
    pub(crate) fn end_as_unreachable(self) {
        Builder::at_end(self).unreachable();
    }

    /// Takes the block out of its function; it has to be put into one again.
    pub(crate) fn take_out(self) {
        // SAFETY: the block has a parent.
        unsafe { LLVMRemoveBasicBlockFromParent(self.0) }
    }

    /// Puts a block that was taken out at the end of a function.
    pub(crate) fn put_into(self, function: Value) {
        // SAFETY: the block has no parent, and its values are of the function or of the module.
        unsafe { LLVMAppendExistingBasicBlock(function.0, self.0) }
    }

    /// Deletes a block that nothing leads to and whose values nothing uses.
    pub(crate) fn delete(self) {
        // SAFETY: as the comment says.
        unsafe { LLVMDeleteBasicBlock(self.0) }
    }

    /// Puts it before another block of its function.
    pub(crate) fn move_before(self, other: Self) {
        // SAFETY: both are live blocks of one function.
        unsafe { LLVMMoveBasicBlockBefore(self.0, other.0) }
    }

    /// Puts it behind another block of its function.
    pub(crate) fn move_behind(self, other: Self) {
        // SAFETY: both are live blocks of one function.
        unsafe { LLVMMoveBasicBlockAfter(self.0, other.0) }
    }
}

impl<'ctx> Value<'ctx> {
    /// The block of an instruction; none for other values, and for one that is in none.
    pub(crate) fn parent_block(self) -> Option<Block<'ctx>> {
        // SAFETY: only an instruction is asked for its block.
        let block = unsafe {
            match self.is_instruction() {
                true => LLVMGetInstructionParent(self.0),
                false => std::ptr::null_mut(),
            }
        };
        (!block.is_null()).then_some(Block::new(block))
    }

    /// The block of an instruction that is in one.
    pub(crate) fn block(self) -> Block<'ctx> {
        // SAFETY: the instruction is alive and in a block.
        Block::new(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// Takes an instruction out of its block and puts it at the end of another.
    pub(crate) fn move_to_end(self, block: Block) {
        let builder = Builder::at_end(block);
        // SAFETY: the instruction is in a block before and in another afterwards; a builder without
        // a location leaves that of the instruction.
        unsafe {
            LLVMInstructionRemoveFromParent(self.0);
            LLVMInsertIntoBuilder(builder.0, self.0);
        }
    }

    /// Takes an instruction out of its block and puts it before another.
    pub(crate) fn move_before(self, place: Value) {
        let builder = Builder::before(place);
        // SAFETY: as above; without a location of its own, the builder leaves the instruction's.
        unsafe {
            LLVMSetCurrentDebugLocation2(builder.0, std::ptr::null_mut());
            LLVMInstructionRemoveFromParent(self.0);
            LLVMInsertIntoBuilder(builder.0, self.0);
        }
    }

    /// The values of a phi with the blocks that they come from.
    pub(crate) fn incoming(self) -> Vec<(Value<'ctx>, Block<'ctx>)> {
        // SAFETY: the indices are in range; callers pass phis.
        unsafe {
            (0..LLVMCountIncoming(self.0))
                .map(|index| {
                    (
                        Value::new(LLVMGetIncomingValue(self.0, index)),
                        Block::new(LLVMGetIncomingBlock(self.0, index)),
                    )
                })
                .collect()
        }
    }

    /// Gives a phi one more value and the block that it comes from.
    pub(crate) fn add_incoming(self, value: Value, from: Block) {
        // SAFETY: the lists have one element; callers pass a phi and a value of its type.
        unsafe {
            LLVMAddIncoming(self.0, [value.0].as_mut_ptr(), [from.0].as_mut_ptr(), 1);
        }
    }

    /// Replaces a phi by one at the end of the phis of `block` with other incoming values.
    pub(crate) fn replace_phi(self, block: Block, incoming: &[(Value, Block)]) -> Value<'ctx> {
        let place = block
            .instructions()
            .into_iter()
            .find(|instruction| instruction.opcode() != Some(Opcode::LLVMPHI));
        let builder = match place {
            Some(place) => Builder::before(place),
            None => Builder::before(self),
        };
        let (mut values, mut blocks): (Vec<_>, Vec<_>) = incoming
            .iter()
            .map(|(value, block)| (value.0, block.0))
            .unzip();
        // SAFETY: pointers and length describe both lists; all types are the phi's.
        unsafe {
            let phi = LLVMBuildPhi(builder.0, self.ty().0, c"".as_ptr());
            LLVMAddIncoming(
                phi,
                values.as_mut_ptr(),
                blocks.as_mut_ptr(),
                values.len() as u32,
            );
            self.replace_uses_with(Value::new(phi));
            self.erase();
            Value::new(phi)
        }
    }

    /// The condition of a terminator with two ways.
    pub(crate) fn branch_condition(self) -> Option<Value<'ctx>> {
        // SAFETY: only a conditional branch is asked for its condition.
        unsafe {
            let branch = self.opcode() == Some(Opcode::LLVMBr) && LLVMIsConditional(self.0) != 0;
            branch.then(|| Value::new(LLVMGetCondition(self.0)))
        }
    }

    /// Whether LLVM finds nothing wrong with a function.
    pub(crate) fn is_valid_function(self) -> bool {
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: as above.
        unsafe { LLVMVerifyFunction(self.0, action) == 0 }
    }

    /// The blocks that a terminator leads to.
    pub(crate) fn successors(self) -> Vec<Block<'ctx>> {
        // SAFETY: the indices are in range; callers pass terminators.
        unsafe {
            (0..LLVMGetNumSuccessors(self.0))
                .map(|n| Block::new(LLVMGetSuccessor(self.0, n)))
                .collect()
        }
    }
}
