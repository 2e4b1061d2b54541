//! Members that run their threads in those of the fused launch that stand for the same elements of an array.
//!
//! Invariant: an element is at most one thread of the fused launch, whose positions along the array's axes are below
//! its extents, and one of the member, by the plan's guards; no other thread runs the member. What LLVM is told of
//! numbers follows from these guards.

use super::super::GroupBuilder;
use super::super::indices::Index;
use super::super::partitions::{Number, coordinates};
use super::super::remapped::{Remapped, RemappedPosition, split};
use crate::llvm::{Block, Builder, Opcode, Type, Value};
use crate::math::affine::Axis;
use inkwell::IntPredicate;
use inkwell::module::Module;

/// Takes back what LLVM was told of numbers, once all is done that it is good for: no kernel brings promises of
/// its own along.
pub(in crate::codegen::fused_kernels::fuse) fn take_back_assumptions(kernel: Value) {
    for instruction in kernel.instructions() {
        if instruction.called_name().as_deref() == Some("llvm.assume") {
            instruction.erase();
        }
    }
}

/// Tells LLVM what holds of two numbers.
pub(in crate::codegen::fused_kernels::fuse) fn assume(
    module: &Module,
    builder: &Builder,
    predicate: IntPredicate,
    one: Value,
    other: Value,
) {
    let holds = builder.compare(predicate.into(), one, other);
    let ty = Type::function(Type::void(module), &[Type::integer(module, 1)]);
    let assume = Value::function(module, "llvm.assume")
        .unwrap_or_else(|| Value::add_function(module, "llvm.assume", ty));
    builder.call(ty, assume, &[holds]);
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// Goes on where a thread of the member runs, in those of the fused launch that stand for an element.
    pub(in crate::codegen::fused_kernels::fuse) fn deal_elements(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        remapped: &Remapped,
        (extents, counts): (&[(Axis, Number)], &[Number]),
        own: &[Axis],
    ) -> RemappedPosition<'ctx> {
        let module = self.module;
        let ty = Type::integer(module, 32);
        let zero = ty.constant(0);
        let positions: Vec<Value> = extents
            .iter()
            .map(|(axis, _)| self.fused_position(builder, *axis))
            .collect();
        // Extents are not negative, and no larger than what there are positions: signed like indices in
        // most programs, so that their own tests are seen to be the same.
        let inside = positions
            .iter()
            .zip(extents)
            .map(|(position, (_, extent))| {
                let extent = extent.value(module, function);
                builder.compare(IntPredicate::SLT.into(), *position, extent)
            });
        let inside = inside.reduce(|all, one| builder.binary(Opcode::LLVMAnd, all, one));
        let [segment, out] = ["element", "end"].map(|name| Block::append(function, name));
        match inside {
            Some(inside) => builder.branch_if(inside, segment, out),
            None => builder.branch(segment),
        }
        builder.continue_in(segment);
        let value = |number: Number| number.value(module, function);
        let (mut blocks, mut threads) = ([zero; 3], [zero; 3]);
        if own.is_empty() {
            // Numbers are those of a line of threads.
            let lengths: Vec<Value> = extents.iter().map(|(_, extent)| value(*extent)).collect();
            let counts: Vec<Value> = counts.iter().map(|count| value(*count)).collect();
            let number = self.number_of_element(builder, &positions, &lengths, &counts);
            let of_block = remapped.block_threads(builder, value);
            let (thread, block) = split(builder, number, of_block);
            let (grid, shape) = remapped.extents();
            blocks = coordinates(module, function, builder, block, grid);
            threads = coordinates(module, function, builder, thread, shape);
        }
        for (position, axis) in positions.iter().zip(own) {
            let (grid, block) = remapped.extents();
            let (grid, block) = (grid[axis.index()], block[axis.index()]);
            let place = match (grid.is_one(), block.is_one()) {
                (true, _) => (*position, zero),
                (_, true) => (zero, *position),
                _ => split(builder, *position, value(block)),
            };
            (threads[axis.index()], blocks[axis.index()]) = place;
        }
        let (grid, block) = remapped.extents();
        let indices = [blocks, grid.map(value), threads, block.map(value)];
        RemappedPosition::once(indices, out)
    }

    /// The number of an element by its indices, the fastest first; what a member may ask of it is told besides.
    fn number_of_element(
        &self,
        builder: &Builder<'ctx>,
        indices: &[Value<'ctx>],
        lengths: &[Value<'ctx>],
        counts: &[Value<'ctx>],
    ) -> Value<'ctx> {
        let mut number: Option<Value> = None;
        for (index, length) in indices.iter().zip(lengths).rev() {
            number = Some(match number {
                None => *index,
                Some(rows) => {
                    let rows = builder.binary(Opcode::LLVMMul, rows, *length);
                    let number = builder.binary(Opcode::LLVMAdd, rows, *index);
                    // It is below the number of elements, which 31 bits hold.
                    rows.promise_no_wrap();
                    number.promise_no_wrap();
                    number
                }
            });
        }
        let number = number.unwrap_or_else(|| Type::integer(self.module, 32).zero());
        let all = lengths.iter().copied();
        let all = all.reduce(|all, length| builder.binary(Opcode::LLVMMul, length, all));
        for count in all.iter().chain(counts) {
            assume(self.module, builder, IntPredicate::SLT, number, *count);
        }
        if let ([column, row], [width, _]) = (indices, lengths) {
            for (opcode, part) in [
                (Opcode::LLVMSRem, column),
                (Opcode::LLVMURem, column),
                (Opcode::LLVMSDiv, row),
                (Opcode::LLVMUDiv, row),
            ] {
                // A row that has this element is no empty one.
                let own = builder.binary(opcode, number, *width);
                assume(self.module, builder, IntPredicate::EQ, own, *part);
            }
        }
        number
    }

    /// The position of a thread of the fused launch along an axis, through all blocks.
    fn fused_position(&self, builder: &Builder<'ctx>, axis: Axis) -> Value<'ctx> {
        let digits = vec![
            (Index::Thread(axis), Index::BlockSize(axis)),
            (Index::Block(axis), Index::GridSize(axis)),
        ];
        self.mixed_radix(builder, digits)
    }
}
