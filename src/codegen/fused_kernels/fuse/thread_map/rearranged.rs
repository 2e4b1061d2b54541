//! Members whose whole blocks are those of the fused launch in another arrangement.
//!
//! Invariant: each block of a rearranged member runs once, in one block of the fused launch with as many
//! threads, or, of one warp, in the first warp of one; the body is given all indices and extents of its own launch and reads none of the fused
//! one. Where places are counted their numbers stay below 2³¹ by the plan's guards.

use super::super::GroupBuilder;
use super::super::indices::Index;
use super::super::partitions::{Number, coordinates, extent};
use super::super::specialisation::{Parameter, SiteReader};
use crate::codegen::device::is_block_barrier;
use crate::llvm::{Block, Builder, FUNCTION_ATTRIBUTES, Opcode, Type, Value};
use crate::math::affine::Axis;
use crate::schedule::{Arrangement, ThreadMap};
use inkwell::module::Module;

/// How a member is rearranged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct Rearranged {
    blocks: Arrangement,
    threads: Arrangement,
    grid: [Number; 3],
    block: [Number; 3],
}

impl Rearranged {
    /// Whether the member has the first warp of each block alone.
    pub(in crate::codegen::fused_kernels::fuse) fn is_in_warp(&self) -> bool {
        self.threads == Arrangement::FirstWarp
    }
}

/// The place of the member's thread that runs where a builder stands.
pub(in crate::codegen::fused_kernels::fuse) struct RearrangedPosition<'ctx> {
    /// `blockIdx`, `gridDim`, `threadIdx`, `blockDim`.
    indices: [[Value<'ctx>; 3]; 4],
}

impl<'ctx> SiteReader<'_, 'ctx> {
    /// How the rearranged members are, by member; what is known at run time only becomes a parameter.
    pub(in crate::codegen::fused_kernels::fuse) fn rearranged(
        &self,
        parameters: &mut Vec<Parameter<'ctx>>,
    ) -> Vec<Option<Rearranged>> {
        let members = self.members.iter().zip(&self.group.members);
        members
            .map(|((launch, _), planned)| {
                let ThreadMap::Rearranged { blocks, threads } = planned.map else {
                    return None;
                };
                let mut numbers = |values: [_; 3]| {
                    values.map(|value| {
                        Number::of(self.module, &extent(self.graph, value), parameters)
                    })
                };
                Some(Rearranged {
                    blocks,
                    threads,
                    grid: numbers(launch.grid),
                    block: numbers(launch.block),
                })
            })
            .collect()
    }
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// The place of the member whose block and thread it is.
    pub(in crate::codegen::fused_kernels::fuse) fn rearrange(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        rearranged: &Rearranged,
    ) -> RearrangedPosition<'ctx> {
        let value = |number: Number| number.value(self.module, function);
        let blocks = [Index::Block, Index::GridSize];
        let threads = [Index::Thread, Index::BlockSize];
        let (grid, block) = (rearranged.grid, rearranged.block);
        RearrangedPosition {
            indices: [
                self.own_place((function, builder), rearranged.blocks, blocks, grid),
                grid.map(value),
                self.own_place((function, builder), rearranged.threads, threads, block),
                block.map(value),
            ],
        }
    }

    /// Goes on in a block that only the first warp of a block enters, where a member is one; what leads around it.
    pub(in crate::codegen::fused_kernels::fuse) fn enter_first_warp(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        rearranged: &Rearranged,
    ) -> Option<Block<'ctx>> {
        if !rearranged.is_in_warp() {
            return None;
        }
        let number = |value: u64| Type::integer(self.module, 32).constant(value);
        let [x, y, z] = Axis::ALL;
        // Of a block that is wide enough, these are the first warp's threads.
        let mut inside = builder.is_below(
            Index::Thread(x).read(self.module, builder),
            number(u64::from(WARP_THREADS)),
        );
        for axis in [y, z] {
            if self.fused_extent(Index::BlockSize(axis)) != Some(1) {
                let index = Index::Thread(axis).read(self.module, builder);
                let first = builder.is_below(index, number(1));
                inside = builder.binary(Opcode::LLVMAnd, inside, first);
            }
        }
        let [segment, end] = ["segment", "end"].map(|name| Block::append(function, name));
        builder.branch_if(inside, segment, end);
        builder.continue_in(segment);
        Some(end)
    }

    /// The member's coordinates in a box of its own extents; the fused launch's are read.
    fn own_place(
        &self,
        (function, builder): (Value<'ctx>, &Builder<'ctx>),
        arrangement: Arrangement,
        [index, size]: [fn(Axis) -> Index; 2],
        own: [Number; 3],
    ) -> [Value<'ctx>; 3] {
        let zero = Type::integer(self.module, 32).constant(0);
        let read = |axis: Axis| match self.fused_extent(size(axis)) {
            Some(1) => zero,
            _ => index(axis).read(self.module, builder),
        };
        let [x, y, z] = Axis::ALL;
        match arrangement {
            Arrangement::Same => [read(x), read(y), read(z)],
            Arrangement::FirstWarp => [read(x), zero, zero],
            Arrangement::Transposed => [read(y), read(x), read(z)],
            Arrangement::Reversed => {
                let one = Type::integer(self.module, 32).constant(1);
                let extent = own[0].value(self.module, function);
                let last = builder.binary(Opcode::LLVMSub, extent, one);
                [
                    builder.binary(Opcode::LLVMSub, last, read(x)),
                    read(y),
                    read(z),
                ]
            }
            Arrangement::Renumbered => {
                // From the slowest digit on, each time by the next one's extent.
                let mut number: Option<Value> = None;
                for axis in [z, y, x] {
                    if self.fused_extent(size(axis)) == Some(1) {
                        continue;
                    }
                    let digit = read(axis);
                    number = Some(match number {
                        None => digit,
                        Some(before) => {
                            let extent = self.read_extent(builder, size(axis));
                            let scaled = builder.binary(Opcode::LLVMMul, before, extent);
                            builder.binary(Opcode::LLVMAdd, scaled, digit)
                        }
                    });
                }
                let number = number.unwrap_or(zero);
                coordinates(self.module, function, builder, number, own)
            }
        }
    }
}

impl<'ctx> RearrangedPosition<'ctx> {
    /// What the member reads of its place.
    pub(in crate::codegen::fused_kernels::fuse) fn given(&self, index: Index) -> Value<'ctx> {
        let [blocks, grid, threads, block] = &self.indices;
        match index {
            Index::Block(axis) => blocks[axis.index()],
            Index::GridSize(axis) => grid[axis.index()],
            Index::Thread(axis) => threads[axis.index()],
            Index::BlockSize(axis) => block[axis.index()],
        }
    }
}

/// Threads of a warp.
const WARP_THREADS: u32 = 32;

/// Lets the barriers of a block wait for its one warp, whatever block this is part of; false where one also exchanges values.
pub(in crate::codegen::fused_kernels::fuse) fn wait_for_warp(
    module: &Module,
    function: Value,
) -> bool {
    let ty = Type::function(Type::void(module), &[Type::integer(module, 32)]);
    for call in function.instructions() {
        let is_barrier = |name: String| is_block_barrier(&name);
        if !call.called_name().is_some_and(is_barrier) {
            continue;
        }
        if call.has_uses() {
            return false;
        }
        let wait = Value::function(module, WARP_BARRIER)
            .unwrap_or_else(|| Value::add_function(module, WARP_BARRIER, ty));
        for attribute in ["convergent", "nounwind"] {
            wait.add_attribute(FUNCTION_ATTRIBUTES, attribute, 0);
        }
        let lanes = Type::integer(module, 32).constant(u64::from(u32::MAX));
        Builder::before(call).call(ty, wait, &[lanes]);
        call.erase();
    }
    true
}

const WARP_BARRIER: &str = "llvm.nvvm.bar.warp.sync";
