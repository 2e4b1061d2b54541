//! Members that have some blocks of the fused grid only.
//!
//! Invariant: a block of the fused grid runs the whole segment of a clipped member when the member's
//! own grid has it, and nothing of it otherwise; the member reads its own grid's extents.

use super::super::GroupBuilder;
use super::super::indices::Index;
use super::super::specialisation::{Parameter, SiteReader};
use crate::codegen::{CodegenError, FusedParameter};
use crate::launch::{Launch, LaunchGraph, ValueId};
use crate::llvm::{Block, Builder, Opcode, Type, Value};
use crate::math::affine::Axis;
use crate::schedule::ThreadMap;

/// The grid of a clipped member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct Grid {
    extents: [Extent; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Extent {
    /// Known when compiling.
    Constant(u64),
    /// The fused kernel's parameter of this number.
    Parameter(usize),
}

impl<'ctx> SiteReader<'_, 'ctx> {
    /// The grids of the clipped members, by member; what is known at run time only becomes a
    /// parameter.
    pub(in crate::codegen::fused_kernels::fuse) fn grids(
        &self,
        parameters: &mut Vec<Parameter<'ctx>>,
    ) -> Vec<Option<Grid>> {
        let mut known: Vec<(ValueId, usize)> = Vec::new();
        let members = self.members.iter().zip(&self.group.members);
        let mut grid = |launch: &Launch| Grid {
            extents: Axis::ALL.map(|axis| {
                let value = launch.grid[axis.index()];
                let source = FusedParameter::GridSize {
                    launch: launch.id,
                    axis,
                };
                // One that is absent has an empty grid.
                if self.group.is_partial() {
                    parameters.push(Parameter::number(self.module, source));
                    return Extent::Parameter(parameters.len() - 1);
                }
                if let Some(constant) = constant_extent(self.graph, value) {
                    return Extent::Constant(constant);
                }
                let known_one = known.iter().find(|(before, _)| *before == value);
                if let Some((_, position)) = known_one {
                    return Extent::Parameter(*position);
                }
                parameters.push(Parameter::number(self.module, source));
                known.push((value, parameters.len() - 1));
                Extent::Parameter(parameters.len() - 1)
            }),
        };
        members
            .map(|((launch, _), planned)| match planned.map {
                ThreadMap::Clipped => Some(grid(launch)),
                ThreadMap::Identity
                | ThreadMap::Remapped { .. }
                | ThreadMap::Runs { .. }
                | ThreadMap::Elements { .. }
                | ThreadMap::Tiles { .. }
                | ThreadMap::Rearranged { .. }
                | ThreadMap::Blocks { .. } => None,
            })
            .collect()
    }
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// Goes on in a block that is entered only by blocks of the grid; what leads around it.
    pub(in crate::codegen::fused_kernels::fuse) fn enter(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        grid: Option<&Grid>,
    ) -> Option<Block<'ctx>> {
        let grid = grid?;
        let mut inside: Option<Value> = None;
        for axis in Axis::ALL {
            let extent = grid.extents[axis.index()];
            if let Extent::Constant(own) = extent
                && self.specialisation.facts.largest[axis.index()].is_some_and(|all| all <= own)
            {
                continue;
            }
            let index = Index::Block(axis).read(self.module, builder);
            let below = builder.is_below(index, self.extent(function, extent));
            inside = Some(match inside {
                None => below,
                Some(before) => builder.binary(Opcode::LLVMAnd, before, below),
            });
        }
        let inside = inside?;
        let [segment, end] = ["segment", "end"].map(|name| Block::append(function, name));
        builder.branch_if(inside, segment, end);
        builder.continue_in(segment);
        Some(end)
    }

    /// What a clipped member gets for an index that it does not read by itself.
    pub(in crate::codegen::fused_kernels::fuse) fn given(
        &self,
        index: Index,
        function: Value<'ctx>,
        grid: Option<&Grid>,
    ) -> Result<Value<'ctx>, CodegenError> {
        match (index, grid) {
            (Index::GridSize(axis), Some(grid)) => {
                Ok(self.extent(function, grid.extents[axis.index()]))
            }
            _ => Err(CodegenError::Inconsistent(format!(
                "nothing gives a member its {index:?}"
            ))),
        }
    }

    fn extent(&self, function: Value<'ctx>, extent: Extent) -> Value<'ctx> {
        match extent {
            Extent::Constant(value) => Type::integer(self.module, 32).constant(value),
            Extent::Parameter(position) => function.parameters()[position],
        }
    }
}

/// The fused grid's extents, where they are known when compiling: the largest of these launches, whose
/// blocks are those of the fused kernel.
pub(in crate::codegen::fused_kernels::fuse) fn largest_extents(
    graph: &LaunchGraph,
    members: &[&Launch],
) -> [Option<u64>; 3] {
    Axis::ALL.map(|axis| {
        let own = |launch: &Launch| constant_extent(graph, launch.grid[axis.index()]);
        let mut extents = members.iter().map(|launch| own(launch));
        extents.try_fold(1, |largest, extent| Some(largest.max(extent?)))
    })
}

/// An extent that is known when compiling.
pub(in crate::codegen::fused_kernels::fuse) fn constant_extent(
    graph: &LaunchGraph,
    value: ValueId,
) -> Option<u64> {
    let constant = graph.values.get(value.0)?.constant?;
    Some(constant.cast_unsigned() & u64::from(u32::MAX))
}

/// Goes on where the blocks meet again that entered and those that did not.
pub(in crate::codegen::fused_kernels::fuse) fn leave(builder: &Builder, end: Option<Block>) {
    if let Some(end) = end {
        builder.branch(end);
        builder.continue_in(end);
    }
}
