//! Members whose numbers are the elements of a matrix, of which each block of the fused launch runs those of a tile.
//!
//! Invariant: a block's threads take the places of its tile in turn, row after row. Places beyond the pitch, and numbers that the
//! member does not have, are left out. The last blocks along the rows' axis go on below their tiles, as long as the member has
//! numbers. By the plan's guards numbers stay below 2³¹, and few are below the last tile.

use super::super::GroupBuilder;
use super::super::indices::Index;
use super::super::partitions::Number;
use super::super::remapped::split;
use crate::llvm::{Block, Builder, Opcode, Type, Value};
use crate::math::affine::Axis;

/// The tiles of a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct Tiles {
    pub(in crate::codegen::fused_kernels::fuse) axes: [Axis; 2],
    pub(in crate::codegen::fused_kernels::fuse) extents: [i64; 2],
    pub(in crate::codegen::fused_kernels::fuse) pitch: Number,
}

/// A thread's number in a tile, and where it goes on.
pub(in crate::codegen::fused_kernels::fuse) struct TilePosition<'ctx> {
    /// The number that runs where the builder stands now.
    pub(in crate::codegen::fused_kernels::fuse) number: Value<'ctx>,
    /// Where the next place of the tile is taken.
    pub(in crate::codegen::fused_kernels::fuse) next: Block<'ctx>,
    /// Where the last one leads.
    pub(in crate::codegen::fused_kernels::fuse) end: Block<'ctx>,
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// Goes on where a thread has a number of its block's tile, below `total`.
    pub(in crate::codegen::fused_kernels::fuse) fn enter_tile(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        tiles: &Tiles,
        total: Value<'ctx>,
    ) -> TilePosition<'ctx> {
        let module = self.module;
        let ty = Type::integer(module, 32);
        let constant = |value: i64| ty.constant(value as u64);
        let thread = |axis: Axis| (Index::Thread(axis), Index::BlockSize(axis));
        let first = self.mixed_radix(builder, Axis::ALL.map(thread).to_vec());
        let step = self.product_of(builder, Axis::ALL.into_iter().map(Index::BlockSize));
        let begin = |at: usize| {
            let block = Index::Block(tiles.axes[at]).read(module, builder);
            builder.binary(Opcode::LLVMMul, block, constant(tiles.extents[at]))
        };
        let (top, left) = (begin(0), begin(1));
        let pitch = tiles.pitch.value(module, function);
        let [_, columns] = tiles.extents;
        let places = self.rows_of_tile(builder, tiles, (top, pitch, total));
        let places = builder.binary(Opcode::LLVMMul, places, constant(columns));
        let names = ["tile", "in.tile", "next.in.tile", "end"];
        let [header, body, next, end] = names.map(|name| Block::append(function, name));
        let before = builder.block();
        builder.branch(header);
        builder.continue_in(header);
        let place = builder.phi(ty);
        place.add_incoming(first, before);
        let inside = builder.is_below(place, places);
        let taken = Block::append(function, "place.in.tile");
        builder.branch_if(inside, taken, end);
        builder.continue_in(taken);
        let (column, row) = split(builder, place, constant(columns));
        let column = builder.binary(Opcode::LLVMAdd, left, column);
        let row = builder.binary(Opcode::LLVMAdd, top, row);
        let number = builder.binary(Opcode::LLVMMul, row, pitch);
        let number = builder.binary(Opcode::LLVMAdd, number, column);
        let in_row = builder.is_below(column, pitch);
        let is_there = builder.is_below(number, total);
        let runs = builder.binary(Opcode::LLVMAnd, in_row, is_there);
        builder.branch_if(runs, body, next);
        builder.continue_in(next);
        let following = builder.binary(Opcode::LLVMAdd, place, step);
        place.add_incoming(following, next);
        builder.branch(header);
        builder.continue_in(body);
        TilePosition { number, next, end }
    }

    /// How many rows a block runs from the top of its tile on: the last ones all that have a number below `total`.
    fn rows_of_tile(
        &self,
        builder: &Builder<'ctx>,
        tiles: &Tiles,
        (top, pitch, total): (Value<'ctx>, Value<'ctx>, Value<'ctx>),
    ) -> Value<'ctx> {
        let ty = Type::integer(self.module, 32);
        let rows = ty.constant(tiles.extents[0] as u64);
        let one = ty.constant(1);
        let axis = tiles.axes[0];
        let block = Index::Block(axis).read(self.module, builder);
        let following = builder.binary(Opcode::LLVMAdd, block, one);
        let blocks = self.read_extent(builder, Index::GridSize(axis));
        let is_not_last = builder.is_below(following, blocks);
        let rounded = builder.binary(Opcode::LLVMSub, pitch, one);
        let rounded = builder.binary(Opcode::LLVMAdd, total, rounded);
        let all = builder.binary(Opcode::LLVMUDiv, rounded, pitch);
        let left = builder.binary(Opcode::LLVMSub, all, top);
        let is_any = builder.is_below(top, all);
        let left = builder.select(is_any, left, ty.constant(0));
        builder.select(is_not_last, rows, left)
    }
}
