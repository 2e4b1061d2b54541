//! Members of a cooperative launch, with grid-wide barriers between some of them.
//!
//! Invariants: the members between two such barriers, a *phase*, run one after the other in each block of their own grid,
//! which a block of the launch goes through in a loop; a body is given the index and the grid of its own block and never
//! reads those of the launch. Nothing is said of pointers that
//! held in one launch alone: the passes over fused kernels know nothing of blocks that run several others, and are
//! left out, and LLVM takes a barrier for what may change all memory.
//!
//! What a thread stores and loads again behind a barrier is kept in a register where the verifier says that no other thread writes it
//! ([`OwnReads`]), and where the launch has as many blocks as the largest grid: the kernel has a second form
//! for that, in which each block runs one block of each phase, with no loop around. There threads of a block also hand values to each
//! other in shared memory (`block_values`).

use super::super::at_once::Form;
use super::super::host_values;
use super::super::indices::{Given, Index};
use super::super::partitions::{Number, coordinates, extent};
use super::super::specialisation::{Parameter, Shape, SiteReader};
use super::super::{BLOCK_BARRIER, GroupBuilder, segment};
use crate::build::Optimisation;
use crate::codegen::CodegenError;
use crate::kernel::KernelModel;
use crate::llvm::{Block, Builder, Linkage, Opcode, Type, Value};
use crate::math::affine::Axis;
use crate::verify::OwnReads;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Members between two grid-wide barriers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct Phase {
    /// Their positions in the group.
    pub(super) members: Range<usize>,
    /// The grid of each of them.
    pub(super) grid: [Number; 3],
    /// The block of each, where it is another than the launch's.
    pub(super) block: Option<OwnBlock>,
}

/// Blocks of another shape than the launch's: their threads are the first of the launch's blocks, in linear order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OwnBlock {
    extents: [u64; 3],
    /// The launch's blocks have more threads.
    is_smaller: bool,
}

impl<'ctx> Shape<'ctx> {
    /// What a member of a cooperative launch does not read by itself.
    pub(in crate::codegen::fused_kernels::fuse) fn given_in_phases(
        &self,
        position: usize,
    ) -> Given {
        let mut phases = self.phases.iter();
        let own = phases.find(|phase| phase.members.contains(&position));
        match own.is_some_and(|phase| phase.block.is_some()) {
            true => Given::Place,
            false => Given::Block,
        }
    }
}

impl<'ctx> SiteReader<'_, 'ctx> {
    /// The phases of a cooperative group; none of another one. What of their grids is known at run time only
    /// becomes a parameter.
    pub(in crate::codegen::fused_kernels::fuse) fn phases(
        &self,
        parameters: &mut Vec<Parameter<'ctx>>,
    ) -> Vec<Phase> {
        if !self.group.is_cooperative() {
            return Vec::new();
        }
        let phases = self.group.phases().into_iter();
        phases
            .map(|members| {
                let (launch, _) = self.members[members.start];
                let number =
                    |value| Number::of(self.module, &extent(self.graph, value), parameters);
                Phase {
                    grid: launch.grid.map(number),
                    block: self.own_block(members.start),
                    members,
                }
            })
            .collect()
    }

    /// Members and parameters of their bodies, in place of arguments, by which loads read only what their own thread writes, where
    /// that is to be kept.
    pub(in crate::codegen::fused_kernels::fuse) fn own_reads_of_bodies(&self) -> OwnReads {
        let Some(own) = self.own_reads else {
            return OwnReads::default();
        };
        let in_registers = self
            .optimisations
            .contains(&Optimisation::StoreToLoadForwarding);
        let in_shared_memory = self.optimisations.contains(&Optimisation::BufferPromotion);
        let of_body = |(member, argument): &(usize, usize)| {
            let pieces = self.bodies.get(*member)?.pieces();
            let mut pieces = pieces.iter();
            let own = pieces.position(|piece| piece.argument == *argument && piece.is_whole());
            Some((*member, own?))
        };
        let of_bodies = |own: &BTreeSet<(usize, usize)>| own.iter().filter_map(of_body).collect();
        let of_own = |own: &BTreeSet<(usize, usize)>| match in_registers {
            true => of_bodies(own),
            false => BTreeSet::new(),
        };
        let of_pairs = |pairs: &BTreeMap<(usize, usize), BTreeSet<(usize, usize)>>| {
            let pairs = pairs.iter().filter(|_| in_shared_memory);
            pairs
                .filter_map(|(stores, loads)| Some((of_body(stores)?, of_bodies(loads))))
                .collect()
        };
        OwnReads {
            within: of_own(&own.within),
            across: of_own(&own.across),
            in_blocks: of_pairs(&own.in_blocks),
            in_blocks_across: of_pairs(&own.in_blocks_across),
        }
    }

    fn own_block(&self, position: usize) -> Option<OwnBlock> {
        let extents = self.group.own_block(self.graph, position)?;
        let leader = self.group.leader_of_blocks(self.graph);
        let threads = host_values::extents(self.graph, self.members[leader].0);
        let threads = threads[3..]
            .iter()
            .map(|extent| extent.map_or(1, u64::from));
        Some(OwnBlock {
            extents,
            is_smaller: extents.iter().product::<u64>() < threads.product(),
        })
    }
}

impl Phase {
    /// Whether it has the member of a position.
    pub(in crate::codegen::fused_kernels::fuse) fn contains(&self, member: usize) -> bool {
        self.members.contains(&member)
    }

    /// How many blocks it has.
    pub(super) fn blocks<'ctx>(
        &self,
        module: &Module<'ctx>,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
    ) -> Value<'ctx> {
        let grid = self.grid.map(|extent| extent.value(module, function));
        let area = builder.binary(Opcode::LLVMMul, grid[0], grid[1]);
        builder.binary(Opcode::LLVMMul, area, grid[2])
    }
}

/// Writes what stands in front of the member at a position, which may change what parameters are from there on.
pub(in crate::codegen::fused_kernels::fuse) type Between<'a, 'ctx> =
    dyn Fn(usize, &mut Vec<Value<'ctx>>) -> Result<(), CodegenError> + 'a;

/// The static shared memory of a kernel of these members, each variable beside the others of its phase.
pub(in crate::codegen::fused_kernels::fuse) fn static_shared_bytes(
    shape: &Shape,
    models: &[KernelModel],
) -> u64 {
    let of = |members: Range<usize>| -> u64 {
        let members = shape.members[members].iter();
        members
            .map(|member| models[member.kernel.0].static_shared_bytes)
            .sum()
    };
    let phases = shape.phases.iter();
    let most = phases.map(|phase| of(phase.members.clone())).max();
    most.unwrap_or_else(|| of(0..shape.members.len()))
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// What the phases do, one after the other, where the builder stands, in a form: with these values of the kernel's parameters, and
    /// what `between` writes in front of each but the first, by the position of its first member.
    pub(in crate::codegen::fused_kernels::fuse) fn write_phases(
        &self,
        (function, builder): (Value<'ctx>, &Builder<'ctx>),
        bodies: &[segment::Body<'ctx>],
        (form, values): (Form, &mut Vec<Value<'ctx>>),
        between: &Between<'_, 'ctx>,
    ) -> Result<(), CodegenError> {
        if form == Form::AtOnce {
            return self.write_phases_at_once((function, builder), bodies, values, between);
        }
        let int = Type::integer(self.module, 32);
        let own = Index::Block(Axis::X).read(self.module, builder);
        let resident = Index::GridSize(Axis::X).read(self.module, builder);
        let mut phases = self.specialisation.shape.phases.iter();
        let linear_thread = phases
            .any(|phase| phase.block.is_some())
            .then(|| self.linear_thread(builder));
        for (number, phase) in self.specialisation.shape.phases.iter().enumerate() {
            if number > 0 {
                between(phase.members.start, values)?;
            }
            let count = phase.blocks(self.module, function, builder);
            let [walk, done] = ["walk", "done"].map(|name| Block::append(function, name));
            let any = builder.is_below(own, count);
            let entry = builder.block();
            builder.branch_if(any, walk, done);

            builder.continue_in(walk);
            let linear = builder.phi(int);
            linear.add_incoming(own, entry);
            let at = (linear, linear_thread);
            self.run_block((function, builder), bodies, values, (phase, at))?;
            // Shared memory is the next block's, whose warps are to begin together.
            if phase
                .members
                .clone()
                .any(|position| self.uses_block(position))
            {
                self.synchronise(builder, BLOCK_BARRIER, 0);
            }
            let next = builder.binary(Opcode::LLVMAdd, linear, resident);
            let more = builder.is_below(next, count);
            let last = builder.block();
            builder.branch_if(more, walk, done);
            linear.add_incoming(next, last);
            builder.continue_in(done);
        }
        Ok(())
    }

    /// What a phase does in the block of a number: with these values of the kernel's parameters, and the linear number of the thread
    /// where a block is of another shape than the launch's.
    pub(in crate::codegen::fused_kernels::fuse) fn run_block(
        &self,
        (function, builder): (Value<'ctx>, &Builder<'ctx>),
        bodies: &[segment::Body<'ctx>],
        values: &[Value<'ctx>],
        (phase, (linear, linear_thread)): (&Phase, (Value<'ctx>, Option<Value<'ctx>>)),
    ) -> Result<(), CodegenError> {
        let int = Type::integer(self.module, 32);
        let grid = phase.grid.map(|extent| extent.value(self.module, function));
        let block = coordinates(self.module, function, builder, linear, phase.grid);
        let own = phase.block.zip(linear_thread);
        let place = own.map(|(own, thread)| {
            let extents = own.extents.map(Number::Constant);
            (
                extents,
                coordinates(self.module, function, builder, thread, extents),
            )
        });
        let given = |index: Index| match (index, &place) {
            (Index::Block(axis), _) => Ok(block[axis.index()]),
            (Index::GridSize(axis), _) => Ok(grid[axis.index()]),
            (Index::Thread(axis), Some((_, thread))) => Ok(thread[axis.index()]),
            (Index::BlockSize(axis), Some((extents, _))) => {
                Ok(extents[axis.index()].value(self.module, function))
            }
            (Index::Thread(_) | Index::BlockSize(_), None) => Err(CodegenError::Inconsistent(
                format!("nothing gives a member its {index:?}"),
            )),
        };
        // The threads that such a block has not.
        let beyond = own.filter(|(own, _)| own.is_smaller).map(|(own, thread)| {
            let [inside, end] = ["inside", "beyond"].map(|name| Block::append(function, name));
            let count = int.constant(own.extents.iter().product());
            builder.branch_if(builder.is_below(thread, count), inside, end);
            builder.continue_in(inside);
            end
        });
        for position in phase.members.clone() {
            if position > phase.members.start {
                self.begin_segment(builder, &[position]);
            }
            self.run_member(values, builder, (position, &bodies[position]), &given)?;
            if self.model(position).asynchronous_copies {
                self.wait_for_copies(builder);
            }
        }
        if let Some(end) = beyond {
            builder.branch(end);
            builder.continue_in(end);
        }
        Ok(())
    }

    /// Whether a member rests on what a block has, shared memory or warps that go together.
    fn uses_block(&self, position: usize) -> bool {
        let model = self.model(position);
        model.static_shared_bytes > 0
            || model.dynamic_shared
            || model.warp_operations
            || !model.barriers.is_empty()
    }

    /// Puts the shared variables of all phases on top of each other, those of one beside each other. All blocks wait
    /// between two phases, and what a member finds before it writes is undefined.
    pub(super) fn share_memory_in_turn(&self) {
        let phases = self.specialisation.shape.phases.iter();
        let variables: Vec<Vec<Value>> = phases
            .map(|phase| {
                let members = phase.members.clone();
                let prefixes: Vec<String> = members.map(|at| self.prefix(at)).collect();
                let is_own = |global: &Value| {
                    let name = global.name();
                    let shared = global.ty().address_space() == SHARED_ADDRESS_SPACE;
                    shared
                        && !global.is_declaration()
                        && prefixes.iter().any(|prefix| name.starts_with(prefix))
                };
                Value::globals(self.module)
                    .into_iter()
                    .filter(is_own)
                    .collect()
            })
            .collect();
        share_storage(self.module, self.name, variables);
    }
}

/// Puts the variables of each list on top of those of the others, those of one list beside each other.
pub(in crate::codegen::fused_kernels::fuse) fn share_storage(
    module: &Module,
    kernel: &str,
    variables: Vec<Vec<Value>>,
) {
    if variables.iter().filter(|own| !own.is_empty()).count() < 2 {
        return;
    }
    let (mut bytes, mut alignment) = (0, 1);
    let mut places = Vec::new();
    for own in variables {
        let mut end = 0_u64;
        for variable in own {
            let ty = variable.value_type();
            let aligned = variable.alignment().max(ty.alignment(module)).max(1);
            let begin = end.next_multiple_of(u64::from(aligned));
            places.push((variable, begin));
            end = begin + ty.allocation_bytes(module);
            alignment = alignment.max(aligned);
        }
        bytes = bytes.max(end);
    }
    let ty = Type::integer(module, 8).array(bytes);
    let name = format!("{kernel}_shared");
    let storage = Value::add_global(module, &name, ty, SHARED_ADDRESS_SPACE);
    storage.set_linkage(Linkage::LLVMInternalLinkage);
    storage.set_initializer(Some(ty.poison()));
    storage.set_alignment(alignment);
    for (variable, begin) in places {
        variable.replace_uses_with(storage.constant_offset(module, begin));
        variable.delete_global();
    }
}

/// A copy of the barrier, to be called once.
pub(in crate::codegen::fused_kernels::fuse) fn link_barrier<'ctx>(
    module: &Module<'ctx>,
    name: &str,
) -> Result<Value<'ctx>, CodegenError> {
    link(module, BARRIER, name)
}

/// A copy of a function of this text, under a name of its own.
pub(in crate::codegen::fused_kernels::fuse) fn link<'ctx>(
    module: &Module<'ctx>,
    text: &str,
    name: &str,
) -> Result<Value<'ctx>, CodegenError> {
    let failed = |message: inkwell::support::LLVMString| CodegenError::Llvm(message.to_string());
    let text = format!("{}\0", text.replace("$NAME", name));
    let text = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), name);
    let context = module.get_context();
    let library = context.create_module_from_ir(text).map_err(failed)?;
    library.set_triple(&module.get_triple());
    library.set_data_layout(&module.get_data_layout());
    module.link_in_module(library).map_err(failed)?;
    let function = Value::function(module, name)
        .ok_or_else(|| CodegenError::Inconsistent(format!("{name} is not linked")))?;
    function.set_linkage(Linkage::LLVMInternalLinkage);
    Ok(function)
}

const BARRIER: &str = include_str!("../grid_barrier.ll");
const SHARED_ADDRESS_SPACE: u32 = 3;
