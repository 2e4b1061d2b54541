//! Members of which each block of the fused launch runs a part, one number after the other.
//!
//! Invariant: the runs of the blocks follow each other without a gap from number 0 on, and the last one ends
//! with the member, so that each number is in one of them, however many blocks there are. Numbers stay
//! below 2³¹, and so does the end of the last run, by the plan's guards.

use super::super::GroupBuilder;
use super::super::indices::Index;
use crate::llvm::{Builder, Opcode, Type, Value};
use crate::math::affine::Axis;

/// What a thread of the fused launch runs of a member: every `step`th number from `first` to before `end`.
pub(in crate::codegen::fused_kernels::fuse) struct Run<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) first: Value<'ctx>,
    pub(in crate::codegen::fused_kernels::fuse) end: Value<'ctx>,
    pub(in crate::codegen::fused_kernels::fuse) step: Value<'ctx>,
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// The run of a thread, where each block runs `length` of the numbers below `total`.
    pub(in crate::codegen::fused_kernels::fuse) fn run(
        &self,
        builder: &Builder<'ctx>,
        length: Value<'ctx>,
        total: Value<'ctx>,
    ) -> Run<'ctx> {
        let block = |axis: Axis| (Index::Block(axis), Index::GridSize(axis));
        let thread = |axis: Axis| (Index::Thread(axis), Index::BlockSize(axis));
        let block = self.mixed_radix(builder, Axis::ALL.map(block).to_vec());
        let thread = self.mixed_radix(builder, Axis::ALL.map(thread).to_vec());
        let blocks = self.product_of(builder, Axis::ALL.into_iter().map(Index::GridSize));
        let begin = builder.binary(Opcode::LLVMMul, block, length);
        let next = builder.binary(Opcode::LLVMAdd, begin, length);
        let one = Type::integer(self.module, 32).constant(1);
        let following = builder.binary(Opcode::LLVMAdd, block, one);
        let inside = builder.is_below(next, total);
        let not_last = builder.is_below(following, blocks);
        let inside = builder.binary(Opcode::LLVMAnd, inside, not_last);
        Run {
            first: builder.binary(Opcode::LLVMAdd, begin, thread),
            end: builder.select(inside, next, total),
            step: self.product_of(builder, Axis::ALL.into_iter().map(Index::BlockSize)),
        }
    }
}
