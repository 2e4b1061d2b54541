//! Members whose threads are counted and remapped to those of the fused launch.
//!
//! Invariant: each thread of a remapped member runs once, in the thread of the fused launch that has its number, or
//! this number less a multiple of how many threads there are, or in the block whose run has its number; the
//! body is given all indices and extents of
//! its own launch and reads none of the fused one. Numbers stay below 2³² by the plan's guards.

use super::super::GroupBuilder;
use super::super::clipped::constant_extent;
use super::super::indices::Index;
use super::super::matrix_tiles::{TilePosition, Tiles};
use super::super::partitions::{Number, coordinates, extent};
use super::super::runs::Run;
use super::super::specialisation::{Parameter, SiteReader};
use crate::dependence::Guard;
use crate::launch::{Launch, ValueId};
use crate::llvm::{Block, Builder, Opcode, Type, Value};
use crate::math::affine::Axis;
use crate::math::expression::{Condition, Expression};
use crate::schedule::{ThreadMap, ThreadOrder};

/// How a member is remapped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct Remapped {
    own: ThreadOrder,
    spread: Spread,
    grid: [Number; 3],
    block: [Number; 3],
    /// The number of the member's threads.
    total: Number,
}

/// Which numbers a thread of the fused launch runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Spread {
    /// Its own number.
    Numbers {
        fused: ThreadOrder,
        repeats: bool,
        /// The member has as many threads as the fused launch.
        fills: bool,
    },
    /// Its share of its block's run of so many.
    Runs(Number),
    /// Its share of its block's tile.
    Tiles(Tiles),
    /// That of its element in an array: its axes with their extents, the fastest first, and the member's own
    /// axes; none where it is the element's number.
    Elements {
        extents: Vec<(Axis, Number)>,
        own: Vec<Axis>,
        /// What the guards say is the number of elements.
        counts: Vec<Number>,
    },
}

/// The place of the member's thread that runs where a builder stands, and what leads on.
pub(in crate::codegen::fused_kernels::fuse) struct RemappedPosition<'ctx> {
    /// `blockIdx`, `gridDim`, `threadIdx`, `blockDim`.
    indices: [[Value<'ctx>; 3]; 4],
    /// Where threads go on that do not run the member; none when all do.
    end: Option<Block<'ctx>>,
    again: Again<'ctx>,
}

/// What it takes to run the next of a thread's numbers.
enum Again<'ctx> {
    /// It has one at most.
    No,
    /// The one that is `step` further on, where that is below `limit`.
    Counted {
        header: Block<'ctx>,
        number: Value<'ctx>,
        step: Value<'ctx>,
        limit: Value<'ctx>,
    },
    /// That of another place, which is found there.
    At(Block<'ctx>),
}

impl<'ctx> SiteReader<'_, 'ctx> {
    /// How the remapped members are, by member; what is known at run time only becomes a parameter.
    pub(in crate::codegen::fused_kernels::fuse) fn remapped(
        &self,
        parameters: &mut Vec<Parameter<'ctx>>,
    ) -> Vec<Option<Remapped>> {
        let members = self.members.iter().zip(&self.group.members);
        members
            .map(|((launch, _), planned)| {
                let (own, mut spread) = match &planned.map {
                    ThreadMap::Remapped {
                        own,
                        fused,
                        repeats,
                    } => {
                        let numbers = Spread::Numbers {
                            fused: *fused,
                            repeats: *repeats,
                            fills: self.fills(launch),
                        };
                        (*own, Some(numbers))
                    }
                    ThreadMap::Runs { own, .. } => (*own, None),
                    ThreadMap::Elements { .. } | ThreadMap::Tiles { .. } => {
                        (ThreadOrder::Blocks, None)
                    }
                    _ => return None,
                };
                let extents = [launch.grid, launch.block]
                    .map(|extents| extents.map(|value| extent(self.graph, value)));
                let total = extents.iter().flatten().cloned();
                let total = total.reduce(|all, extent| all.multiply(extent))?;
                let mut number = |expression| Number::of(self.module, expression, parameters);
                let [grid, block] = &extents;
                match &planned.map {
                    ThreadMap::Runs { length, .. } => spread = Some(Spread::Runs(number(length))),
                    ThreadMap::Tiles {
                        axes,
                        extents,
                        pitch,
                    } => {
                        spread = Some(Spread::Tiles(Tiles {
                            axes: *axes,
                            extents: *extents,
                            pitch: number(pitch),
                        }));
                    }
                    ThreadMap::Elements { axes, extents, own } => {
                        let counts = self.counts(extents).into_iter();
                        let counts = counts.map(&mut number).collect();
                        let extents = axes.iter().zip(extents);
                        let extents = extents.map(|(axis, extent)| (*axis, number(extent)));
                        spread = Some(Spread::Elements {
                            extents: extents.collect(),
                            own: own.clone(),
                            counts,
                        });
                    }
                    _ => {}
                }
                Some(Remapped {
                    own,
                    spread: spread?,
                    grid: std::array::from_fn(|axis| number(&grid[axis])),
                    block: std::array::from_fn(|axis| number(&block[axis])),
                    total: number(&total),
                })
            })
            .collect()
    }

    /// What the guards say is the product of extents.
    fn counts(&self, extents: &[Expression<ValueId>]) -> Vec<&Expression<ValueId>> {
        let extents = extents.iter().cloned();
        let product = extents.reduce(|all, extent| all.multiply(extent));
        let guards = self.group.guards_of_front().iter();
        let counts = guards.filter_map(|guard| match guard {
            Guard::Holds {
                condition: Condition::Equal(count, all),
                ..
            } if Some(all) == product.as_ref() => Some(count),
            _ => None,
        });
        counts.collect()
    }

    /// Whether a launch is known to have as many threads as the fused one.
    fn fills(&self, launch: &Launch) -> bool {
        let size = |launch: &Launch| {
            let (mut constant, mut unknown) = (1_u64, Vec::new());
            for value in launch.grid.iter().chain(&launch.block) {
                match constant_extent(self.graph, *value) {
                    Some(extent) => constant = constant.checked_mul(extent)?,
                    None => unknown.push(*value),
                }
            }
            unknown.sort_unstable();
            Some((constant, unknown))
        };
        let mut members = self.members.iter().zip(&self.group.members);
        let own = size(launch);
        members.any(|((other, _), planned)| {
            planned.map == ThreadMap::Identity && own.is_some() && size(other) == own
        })
    }
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// Goes on where a thread of the member runs.
    pub(in crate::codegen::fused_kernels::fuse) fn remap(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        remapped: &Remapped,
    ) -> RemappedPosition<'ctx> {
        let module = self.module;
        let ty = Type::integer(module, 32);
        let total = remapped.total.value(module, function);
        let (first, limit, step, everywhere) = match &remapped.spread {
            Spread::Tiles(tiles) => {
                let TilePosition { number, next, end } =
                    self.enter_tile(function, builder, tiles, total);
                let indices = self.indices_of(function, builder, remapped, number);
                return RemappedPosition {
                    indices,
                    end: Some(end),
                    again: Again::At(next),
                };
            }
            Spread::Elements {
                extents,
                own,
                counts,
            } => {
                let array = (extents.as_slice(), counts.as_slice());
                return self.deal_elements(function, builder, remapped, array, own);
            }
            Spread::Numbers {
                fused,
                repeats,
                fills,
            } => {
                let (repeats, fills) = (*repeats, *fills);
                let first = self.fused_number(builder, *fused);
                let step = repeats.then(|| self.fused_total(builder));
                (first, total, step, !repeats && fills)
            }
            Spread::Runs(length) => {
                let length = length.value(module, function);
                let Run { first, end, step } = self.run(builder, length, total);
                (first, end, Some(step), false)
            }
        };
        let (mut number, mut end, mut again) = (first, None, Again::No);
        if !everywhere {
            let [segment, out] = ["remapped", "end"].map(|name| Block::append(function, name));
            let before = builder.block();
            builder.branch_if(builder.is_below(first, limit), segment, out);
            builder.continue_in(segment);
            end = Some(out);
            if let Some(step) = step {
                number = builder.phi(ty);
                number.add_incoming(first, before);
                again = Again::Counted {
                    header: segment,
                    number,
                    step,
                    limit,
                };
            }
        }
        RemappedPosition {
            indices: self.indices_of(function, builder, remapped, number),
            end,
            again,
        }
    }

    /// `blockIdx`, `gridDim`, `threadIdx` and `blockDim` of a member's thread that has a number.
    fn indices_of(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        remapped: &Remapped,
        number: Value<'ctx>,
    ) -> [[Value<'ctx>; 3]; 4] {
        let module = self.module;
        let ty = Type::integer(module, 32);
        let value = |number: Number| number.value(module, function);
        let [blocks, threads] = match remapped.own {
            ThreadOrder::Blocks | ThreadOrder::Iterations => {
                let (thread, block) =
                    split(builder, number, product(builder, remapped.block, value));
                let coordinates =
                    |linear, shape| coordinates(module, function, builder, linear, shape);
                [
                    coordinates(block, remapped.grid),
                    coordinates(thread, remapped.block),
                ]
            }
            ThreadOrder::Rows => {
                let zero = ty.constant(0);
                let (mut blocks, mut threads) = ([zero; 3], [zero; 3]);
                let mut rest = number;
                for axis in 0..3 {
                    let (grid, block) = (remapped.grid[axis], remapped.block[axis]);
                    let later = axis + 1..3;
                    let last = later
                        .clone()
                        .all(|axis| remapped.grid[axis].is_one() && remapped.block[axis].is_one());
                    let place = match last {
                        true => rest,
                        false => {
                            let width = builder.binary(Opcode::LLVMMul, value(grid), value(block));
                            let (place, quotient) = split(builder, rest, width);
                            rest = quotient;
                            place
                        }
                    };
                    (threads[axis], blocks[axis]) = match (grid.is_one(), block.is_one()) {
                        (true, _) => (place, zero),
                        (_, true) => (zero, place),
                        _ => split(builder, place, value(block)),
                    };
                    if last {
                        break;
                    }
                }
                [blocks, threads]
            }
        };
        [
            blocks,
            remapped.grid.map(value),
            threads,
            remapped.block.map(value),
        ]
    }

    /// The number of a thread of the fused launch.
    fn fused_number(&self, builder: &Builder<'ctx>, order: ThreadOrder) -> Value<'ctx> {
        let block = |axis: Axis| (Index::Block(axis), Index::GridSize(axis));
        let thread = |axis: Axis| (Index::Thread(axis), Index::BlockSize(axis));
        let digits: Vec<(Index, Index)> = match order {
            ThreadOrder::Blocks | ThreadOrder::Iterations => Axis::ALL
                .map(thread)
                .into_iter()
                .chain(Axis::ALL.map(block))
                .collect(),
            ThreadOrder::Rows => Axis::ALL
                .into_iter()
                .flat_map(|axis| [thread(axis), block(axis)])
                .collect(),
        };
        self.mixed_radix(builder, digits)
    }

    /// The number that has these digits, the fastest first, each with its extent.
    pub(in crate::codegen::fused_kernels::fuse) fn mixed_radix(
        &self,
        builder: &Builder<'ctx>,
        digits: Vec<(Index, Index)>,
    ) -> Value<'ctx> {
        // From the slowest digit on, each time by the next one's extent.
        let mut number: Option<Value> = None;
        for (index, size) in digits.into_iter().rev() {
            if self.fused_extent(size) == Some(1) {
                continue;
            }
            let digit = index.read(self.module, builder);
            number = Some(match number {
                None => digit,
                Some(before) => {
                    let scaled =
                        builder.binary(Opcode::LLVMMul, before, self.read_extent(builder, size));
                    builder.binary(Opcode::LLVMAdd, scaled, digit)
                }
            });
        }
        number.unwrap_or_else(|| Type::integer(self.module, 32).constant(0))
    }

    /// How many threads the fused launch has.
    fn fused_total(&self, builder: &Builder<'ctx>) -> Value<'ctx> {
        let sizes = Axis::ALL
            .into_iter()
            .flat_map(|axis| [Index::GridSize(axis), Index::BlockSize(axis)]);
        self.product_of(builder, sizes)
    }

    /// The product of extents of the fused launch.
    pub(in crate::codegen::fused_kernels::fuse) fn product_of(
        &self,
        builder: &Builder<'ctx>,
        sizes: impl Iterator<Item = Index>,
    ) -> Value<'ctx> {
        let sizes = sizes.filter(|size| self.fused_extent(*size) != Some(1));
        let values = sizes.map(|size| self.read_extent(builder, size));
        values
            .reduce(|all, extent| builder.binary(Opcode::LLVMMul, all, extent))
            .unwrap_or_else(|| Type::integer(self.module, 32).constant(1))
    }

    pub(in crate::codegen::fused_kernels::fuse) fn read_extent(
        &self,
        builder: &Builder<'ctx>,
        size: Index,
    ) -> Value<'ctx> {
        match self.fused_extent(size) {
            Some(extent) => Type::integer(self.module, 32).constant(extent),
            None => size.read(self.module, builder),
        }
    }

    /// An extent of the fused launch, where it is known when compiling.
    pub(in crate::codegen::fused_kernels::fuse) fn fused_extent(&self, size: Index) -> Option<u64> {
        match size {
            Index::GridSize(axis) => self.specialisation.facts.largest[axis.index()],
            Index::BlockSize(axis) => self.specialisation.facts.block[axis.index()],
            Index::Block(_) | Index::Thread(_) => None,
        }
    }
}

impl Remapped {
    /// The member's grid and block.
    pub(in crate::codegen::fused_kernels::fuse) fn extents(&self) -> ([Number; 3], [Number; 3]) {
        (self.grid, self.block)
    }

    /// How many threads a block of the member has.
    pub(in crate::codegen::fused_kernels::fuse) fn block_threads<'ctx>(
        &self,
        builder: &Builder<'ctx>,
        value: impl Fn(Number) -> Value<'ctx>,
    ) -> Value<'ctx> {
        product(builder, self.block, value)
    }
}

impl<'ctx> RemappedPosition<'ctx> {
    /// A place that each thread has once, or goes on behind.
    pub(in crate::codegen::fused_kernels::fuse) fn once(
        indices: [[Value<'ctx>; 3]; 4],
        end: Block<'ctx>,
    ) -> Self {
        Self {
            indices,
            end: Some(end),
            again: Again::No,
        }
    }

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

    /// Goes on after the member.
    pub(in crate::codegen::fused_kernels::fuse) fn leave(self, builder: &Builder) {
        let Some(end) = self.end else { return };
        match self.again {
            Again::No => builder.branch(end),
            Again::At(next) => builder.branch(next),
            Again::Counted {
                header,
                number,
                step,
                limit,
            } => {
                let next = builder.binary(Opcode::LLVMAdd, number, step);
                number.add_incoming(next, builder.block());
                let more = builder.is_below(next, limit);
                builder.branch_if(more, header, end);
            }
        }
        builder.continue_in(end);
    }
}

/// Remainder and quotient.
pub(in crate::codegen::fused_kernels::fuse) fn split<'ctx>(
    builder: &Builder<'ctx>,
    number: Value<'ctx>,
    by: Value<'ctx>,
) -> (Value<'ctx>, Value<'ctx>) {
    let quotient = builder.binary(Opcode::LLVMUDiv, number, by);
    let whole = builder.binary(Opcode::LLVMMul, quotient, by);
    (builder.binary(Opcode::LLVMSub, number, whole), quotient)
}

fn product<'ctx>(
    builder: &Builder<'ctx>,
    shape: [Number; 3],
    value: impl Fn(Number) -> Value<'ctx>,
) -> Value<'ctx> {
    let [x, y, z] = shape;
    [y, z]
        .into_iter()
        .fold(value(x), |all, extent| match extent.is_one() {
            true => all,
            false => builder.binary(Opcode::LLVMMul, all, value(extent)),
        })
}
