//! Phases of a cooperative launch that has a block for each block of theirs: what threads keep from one to the next.
//!
//! Invariants: this form of a kernel runs only where the launch has as many blocks as the grid that most phases have, and no phase
//! has more. So each block runs one block of a phase at most, of the same number in each. A load whose value is kept is one of which the
//! verifier found that no thread but its own writes there in the launch, or in an iteration where a loop of the host is in the kernel:
//! the store stands in front of the load in the same iteration, or nobody else writes there in any iteration. The kernel's two forms
//! share nothing but the members' bodies.

use super::super::block_values::Kept;
use super::super::families::{self, unmark};
use super::super::forwarding::forward_across_grid;
use super::super::indices::Index;
use super::super::memory::KernelFacts;
use super::super::phases::{Between, Phase, link_barrier};
use super::super::scopes::accesses;
use super::super::{GroupBuilder, segment};
use crate::codegen::CodegenError;
use crate::llvm::{Block, Builder, FUNCTION_ATTRIBUTES, Opcode, Value};
use crate::math::affine::Axis;
use crate::tune::Figures;
use inkwell::IntPredicate;
use inkwell::module::Module;

/// Metadata of loads of what no other thread of the launch writes, or of the iteration.
const OWN_READ: &str = "sirius.own_read";
/// Metadata of loads of what no other thread writes in any iteration.
const KEPT_READ: &str = "sirius.kept_read";
/// An attribute of copies of the grid-wide barrier.
const WAITS_FOR_GRID: &str = "sirius-waits-for-grid";

/// Whether no thread but its own writes what a load reads, as the verifier said.
pub(in crate::codegen::fused_kernels::fuse) fn is_own_read(load: Value) -> bool {
    load.has_metadata(OWN_READ)
}

/// Whether no thread but its own writes what a load reads in any iteration, as the verifier said.
pub(in crate::codegen::fused_kernels::fuse) fn is_kept_read(load: Value) -> bool {
    load.has_metadata(KEPT_READ)
}

/// Whether an instruction is a grid-wide barrier in front of which values may be kept.
pub(in crate::codegen::fused_kernels::fuse) fn waits_for_grid(instruction: Value) -> bool {
    instruction.opcode() == Some(Opcode::LLVMCall) && {
        let called = instruction.called();
        called.is_function() && called.string_attribute(WAITS_FOR_GRID).is_some()
    }
}

/// Keeps in registers what threads of these kernels store and load again behind a grid-wide barrier, and in shared memory what others
/// of their block load. Says of each kernel what became of the latter.
pub(in crate::codegen::fused_kernels::fuse) fn keep_values<'ctx>(
    module: &Module<'ctx>,
    kernels: &[Keeping<'_, 'ctx>],
    figures: &Figures,
) -> Result<Vec<Vec<Kept>>, CodegenError> {
    match kernels.is_empty() {
        true => Ok(Vec::new()),
        false => forward_across_grid(module, kernels, figures),
    }
}

/// A kernel whose threads keep values.
pub(in crate::codegen::fused_kernels::fuse) struct Keeping<'a, 'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) kernel: Value<'ctx>,
    pub(in crate::codegen::fused_kernels::fuse) facts: &'a KernelFacts,
    /// Iterations of the host's loop follow each other in it, and values are kept from one to the next.
    pub(in crate::codegen::fused_kernels::fuse) iterates: bool,
    /// Launches of it are going to follow each other in another kernel, in which threads hand values on then.
    pub(in crate::codegen::fused_kernels::fuse) goes_on: bool,
}

/// Lets a copy of the barrier be a call until values have been kept across it.
pub(in crate::codegen::fused_kernels::fuse) fn hold_barrier(barrier: Value) {
    barrier.remove_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
    barrier.add_attribute(FUNCTION_ATTRIBUTES, "noinline", 0);
    barrier.set_string_attribute(WAITS_FOR_GRID, "");
}

/// Forgets which values may be kept: barriers are what they were.
pub(in crate::codegen::fused_kernels::fuse) fn settle(module: &Module) {
    families::settle(module);
    for function in Value::functions(module) {
        let loads = function.instructions().into_iter();
        for load in loads.filter(|at| at.opcode() == Some(Opcode::LLVMLoad)) {
            load.remove_metadata(OWN_READ);
            load.remove_metadata(KEPT_READ);
            unmark(load);
        }
    }
    let barriers = Value::functions(module).into_iter();
    for barrier in barriers.filter(|each| each.string_attribute(WAITS_FOR_GRID).is_some()) {
        barrier.remove_string_attribute(WAITS_FOR_GRID);
        barrier.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        barrier.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    }
}

/// How blocks of a launch run those of its phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::fused_kernels::fuse) enum Form {
    /// One after the other, as many as there are.
    InTurns,
    /// Each one of a phase at most.
    AtOnce,
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// What a cooperative launch does, where the builder stands: `write` is asked for one form, or for both.
    pub(in crate::codegen::fused_kernels::fuse) fn write_forms(
        &self,
        (function, builder): (Value<'ctx>, &Builder<'ctx>),
        bodies: &[segment::Body<'ctx>],
        write: &dyn Fn(Form) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        self.share_memory_in_turn();
        if !self.specialisation.shape.own_reads.any() {
            return write(Form::InTurns);
        }
        let names = ["at_once", "in_turns", "end"];
        let [at_once, in_turns, end] = names.map(|name| Block::append(function, name));
        let holds = self.has_block_for_each(function, builder);
        builder.branch_if(holds, at_once, in_turns);
        builder.continue_in(at_once);
        self.mark_own_reads(bodies);
        self.mark_families(builder, bodies);
        write(Form::AtOnce)?;
        builder.branch(end);
        builder.continue_in(in_turns);
        write(Form::InTurns)?;
        builder.branch(end);
        builder.continue_in(end);
        Ok(())
    }

    /// What the phases of a launch do that runs each once, in one form.
    pub(in crate::codegen::fused_kernels::fuse) fn write_once(
        &self,
        (function, builder): (Value<'ctx>, &Builder<'ctx>),
        bodies: &[segment::Body<'ctx>],
        form: Form,
    ) -> Result<(), CodegenError> {
        let mut values = function.parameters();
        let barrier = |position: usize, _: &mut Vec<Value>| {
            self.wait_for_grid(builder, form, &position.to_string())
        };
        self.write_phases((function, builder), bodies, (form, &mut values), &barrier)
    }

    /// All blocks wait for each other, at a place of this name in one form of the kernel.
    pub(in crate::codegen::fused_kernels::fuse) fn wait_for_grid(
        &self,
        builder: &Builder,
        form: Form,
        place: &str,
    ) -> Result<(), CodegenError> {
        let form_name = match form {
            Form::InTurns => "grid",
            Form::AtOnce => "once",
        };
        let barrier = link_barrier(self.module, &format!("{}_{form_name}{place}", self.name))?;
        if form == Form::AtOnce {
            hold_barrier(barrier);
        }
        builder.call(barrier.value_type(), barrier, &[]);
        Ok(())
    }

    /// The first of the phases that have the most common grid.
    fn most_common_grid(&self) -> &Phase {
        let phases = &self.specialisation.shape.phases;
        let alike = |phase: &&Phase| {
            phases
                .iter()
                .filter(|other| other.grid == phase.grid)
                .count()
        };
        // Of several it is the first one.
        let most = phases.iter().rev().max_by_key(alike);
        most.unwrap_or(&phases[0])
    }

    /// Whether the launch has as many blocks as the most common grid, and no phase has more.
    fn has_block_for_each(&self, function: Value<'ctx>, builder: &Builder<'ctx>) -> Value<'ctx> {
        let most = self.most_common_grid();
        let launched = Index::GridSize(Axis::X).read(self.module, builder);
        let count = most.blocks(self.module, function, builder);
        let mut holds = builder.compare(IntPredicate::EQ.into(), launched, count);
        let phases = self.specialisation.shape.phases.iter();
        for other in phases.filter(|phase| phase.grid != most.grid) {
            let count = other.blocks(self.module, function, builder);
            let fits = builder.compare(IntPredicate::ULE.into(), count, launched);
            holds = builder.binary(Opcode::LLVMAnd, holds, fits);
        }
        holds
    }

    /// The phases, one after the other: the block of the launch is that of each.
    pub(in crate::codegen::fused_kernels::fuse) fn write_phases_at_once(
        &self,
        (function, builder): (Value<'ctx>, &Builder<'ctx>),
        bodies: &[segment::Body<'ctx>],
        values: &mut Vec<Value<'ctx>>,
        between: &Between<'_, 'ctx>,
    ) -> Result<(), CodegenError> {
        let most = self.most_common_grid();
        let own = Index::Block(Axis::X).read(self.module, builder);
        let mut phases = self.specialisation.shape.phases.iter();
        let thread = phases
            .any(|phase| phase.block.is_some())
            .then(|| self.linear_thread(builder));
        for (number, phase) in self.specialisation.shape.phases.iter().enumerate() {
            if number > 0 {
                between(phase.members.start, values)?;
            }
            self.mark_phase(builder, phase);
            let beyond = (phase.grid != most.grid).then(|| {
                let [inside, end] = ["inside", "beyond"].map(|name| Block::append(function, name));
                let count = phase.blocks(self.module, function, builder);
                builder.branch_if(builder.is_below(own, count), inside, end);
                builder.continue_in(inside);
                end
            });
            let at = (phase, (own, thread));
            self.run_block((function, builder), bodies, values, at)?;
            if let Some(end) = beyond {
                builder.branch(end);
                builder.continue_in(end);
            }
        }
        Ok(())
    }

    fn mark_own_reads(&self, bodies: &[segment::Body<'ctx>]) {
        let own = &self.specialisation.shape.own_reads;
        for at in own.within.union(&own.across) {
            let (member, parameter) = *at;
            let pointer = bodies[member].function.parameters()[parameter];
            let loads = accesses(pointer).into_iter();
            for load in loads.filter(|access| access.opcode() == Some(Opcode::LLVMLoad)) {
                load.add_metadata(self.module, OWN_READ);
                if own.across.contains(at) {
                    load.add_metadata(self.module, KEPT_READ);
                }
            }
        }
    }
}
