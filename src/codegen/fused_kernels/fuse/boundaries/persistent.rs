//! The body of a group -> a kernel that runs several launches of it one after the other, in the same blocks.
//!
//! Invariants: each thread runs its thread of one launch after the other, with a barrier of the block or of the grid between
//! them where the plan says so; all arguments are those of the first launch but the varying ones, which stand in rows behind. What the
//! body says of memory that two of its pointers do not share it says of one launch; only what holds for all of
//! them is left.

use super::super::at_once::{hold_barrier, is_kept_read, waits_for_grid};
use super::super::batch::{Layout, PARAMETER_BYTES, RECORD_ALIGNMENT_BYTES, RECORDS_OFFSET_BYTES};
use super::super::block_values::{Kept, hand_on};
use super::super::built::Built;
use super::super::forwarding::forward_across_launches;
use super::super::memory::{KernelFacts, base_of};
use super::super::phases::link_barrier;
use super::super::scopes::AliasScopes;
use super::super::{BLOCK_BARRIER, launch_bounds};
use crate::build::Optimisation;
use crate::codegen::device::{KERNEL_CALL_CONVENTION, device_target_machine, run_passes};
use crate::codegen::{CodegenError, FusedParameter, PersistentRows};
use crate::llvm::{
    Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, Linkage, Opcode, RETURN_ATTRIBUTES, Type,
    Value,
};
use crate::schedule::PersistentLoop;
use crate::tune::Figures;
use inkwell::module::Module;
use std::collections::BTreeSet;

/// How launches follow each other in a kernel.
pub(in crate::codegen::fused_kernels::fuse) struct Persistent {
    barrier: bool,
    /// All blocks wait for each other between two launches.
    pub(in crate::codegen::fused_kernels::fuse) grid_barrier: bool,
    /// By parameter of the body.
    varying: Vec<bool>,
    /// By launch, up to where the pointers are back where they were: by parameter of the body, which one of the record it
    /// has.
    sources: Vec<Vec<usize>>,
}

impl Persistent {
    /// Of a kernel with these parameters; `None` where one of them is told by none of the others that the plan names.
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        plan: &PersistentLoop,
        parameters: &[FusedParameter],
    ) -> Option<Self> {
        let varies = |parameter: &FusedParameter| {
            let argument = parameter.argument();
            argument.is_some_and(|argument| plan.varying.contains(&argument))
        };
        let source = |index: usize, number: usize| {
            let Some(argument) = parameters[index].argument() else {
                return Some(index);
            };
            let source = plan.source(argument, number);
            let mut all = parameters.iter();
            match source == argument {
                true => Some(index),
                false => all.position(|other| other.argument() == Some(source)),
            }
        };
        let sources = (0..plan.period()?).map(|number| {
            let all = 0..parameters.len();
            all.map(|index| source(index, number)).collect()
        });
        Some(Self {
            barrier: plan.barrier,
            grid_barrier: plan.grid_barrier,
            varying: parameters.iter().map(varies).collect(),
            sources: sources.collect::<Option<_>>()?,
        })
    }

    /// The kernel, which still calls bodies, its record and its rows. `None` where there is no room for two rows. No other
    /// function of the module may be about to be inlined.
    pub(in crate::codegen::fused_kernels::fuse) fn build<'ctx>(
        &self,
        module: &Module<'ctx>,
        (kernel, body): (&Built, Value<'ctx>),
        optimisations: &BTreeSet<Optimisation>,
    ) -> Result<Option<(Value<'ctx>, Layout<'ctx>, PersistentRows)>, CodegenError> {
        let Some(mut layout) = Layout::of(module, body) else {
            return Ok(None);
        };
        let rows = self.rows(module, body, &layout);
        let left = PARAMETER_BYTES.saturating_sub(rows.first_offset_bytes);
        layout.capacity = match rows.row_bytes {
            0 if left > 0 => MOST_LAUNCHES,
            0 => 0,
            bytes => left / bytes,
        };
        if layout.capacity < 2 {
            return Ok(None);
        }
        let facts = &kernel.facts;
        let scopes = AliasScopes::new(module, &body.name(), &facts.disjoint, &facts.tables);
        let bodies = self.bodies(module, body)?;
        for (body, sources) in bodies.iter().zip(&self.sources) {
            forget_one_launch(*body);
            // Behind a barrier of the grid LLVM is to know nothing of what stood in front of it.
            if optimisations.contains(&Optimisation::AliasScopes) && !self.grid_barrier {
                scopes.mark(module, *body, sources);
            }
            body.set_linkage(Linkage::LLVMInternalLinkage);
            body.set_call_convention(0);
            body.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
            body.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        }
        let name = kernel.name.replacen("sirius_fused_", "sirius_loop_", 1);
        let function = self.write(module, &name, &bodies, (&layout, &rows))?;
        launch_bounds::hand_over(bodies[0], function);
        Ok(Some((function, layout, rows)))
    }

    /// The body, once for each place that pointers have in turn.
    fn bodies<'ctx>(
        &self,
        module: &Module<'ctx>,
        body: Value<'ctx>,
    ) -> Result<Vec<Value<'ctx>>, CodegenError> {
        if self.sources.len() == 1 {
            return Ok(vec![body]);
        }
        let copies: Vec<Value> = (0..self.sources.len())
            .map(|number| {
                let ty = Type::function(Type::void(module), &body.value_type().parameters());
                let copy = Value::add_function(module, &format!("{}.{number}", body.name()), ty);
                for position in
                    std::iter::once(FUNCTION_ATTRIBUTES).chain(1..=body.parameters().len() as u32)
                {
                    body.copy_attributes(position, copy, position);
                }
                let builder = Builder::at_end(Block::append(copy, "entry"));
                if let Some(scope) = DebugScope::of(module, body) {
                    scope.cover(copy, &copy.name(), &builder);
                }
                call(&builder, body, &copy.parameters());
                builder.ret(None);
                copy
            })
            .collect();
        body.set_call_convention(0);
        body.set_linkage(Linkage::LLVMInternalLinkage);
        body.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        body.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        run_passes(module, "always-inline", &device_target_machine("sm_80")?)?;
        Ok(copies)
    }

    fn rows(&self, module: &Module, body: Value, layout: &Layout) -> PersistentRows {
        let mut end = 0_u32;
        let mut widest = 1;
        let types = body.value_type().parameters();
        let offsets = self.varying.iter().enumerate().map(|(index, varies)| {
            if !varies {
                return None;
            }
            let ty = layout.in_memory[index].unwrap_or(types[index]);
            let alignment = match layout.in_memory[index] {
                // A structure may ask for more than its type does.
                Some(_) => RECORD_ALIGNMENT_BYTES,
                None => ty.alignment(module).max(1),
            };
            widest = widest.max(alignment);
            let offset = end.next_multiple_of(alignment);
            end = offset + layout.sizes[index];
            Some(offset)
        });
        PersistentRows {
            sources: self.sources.clone(),
            offsets_bytes: offsets.collect(),
            row_bytes: end.next_multiple_of(widest),
            cooperative: self.grid_barrier,
            first_offset_bytes: RECORDS_OFFSET_BYTES + layout.record,
        }
    }

    fn write<'ctx>(
        &self,
        module: &Module<'ctx>,
        name: &str,
        bodies: &[Value<'ctx>],
        (layout, rows): (&Layout<'ctx>, &PersistentRows),
    ) -> Result<Value<'ctx>, CodegenError> {
        let [byte, int, long] = [8, 32, 64].map(|bits| Type::integer(module, bits));
        let pointer = Type::pointer(module, 0);
        let body = bodies[0];
        let keeps = bodies.iter().any(|body| keeps_values(*body));
        let ty = Type::function(Type::void(module), &[pointer]);
        let function = Value::add_function(module, name, ty);
        function.set_call_convention(KERNEL_CALL_CONVENTION);
        body.copy_attributes(FUNCTION_ATTRIBUTES, function, FUNCTION_ATTRIBUTES);
        function.remove_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
        // What one launch does is not what all of them do.
        for promise in ["memory", "nosync", "nofree", "willreturn", "noreturn"] {
            function.remove_attribute(FUNCTION_ATTRIBUTES, promise);
        }
        let memory = match rows.row_bytes {
            0 => rows.first_offset_bytes,
            bytes => rows.first_offset_bytes + layout.capacity * bytes,
        };
        function.add_type_attribute(1, "byval", byte.array(u64::from(memory)));
        function.add_attribute(1, "align", u64::from(RECORD_ALIGNMENT_BYTES));
        function.add_attribute(1, "noundef", 0);
        let block = |name: &str| Block::append(function, name);
        let builder = Builder::at_end(block("entry"));
        if let Some(scope) = DebugScope::of(module, body) {
            scope.cover(function, name, &builder);
        }
        let parameter = function.parameters()[0];
        let count = builder.load_aligned(int, parameter, 4);
        let types = body.value_type().parameters();
        let passed = |index: usize, place: Value<'ctx>| match layout.in_memory[index] {
            Some(_) => place,
            None => builder.load_aligned(types[index], place, types[index].alignment(module)),
        };
        let record: Vec<Option<Value>> = (0..types.len())
            .map(|index| {
                let offset = u64::from(RECORDS_OFFSET_BYTES + layout.offsets[index]);
                let place = || builder.element_pointer(byte, parameter, &[long.constant(offset)]);
                (!self.varying[index]).then(|| passed(index, place()))
            })
            .collect();
        // A launch of this number, whose pointers have their n-th places.
        let launch = |number: Value, turn: usize| {
            let number = builder.cast(Opcode::LLVMZExt, number, long);
            let row = long.constant(u64::from(rows.row_bytes));
            let row = builder.binary(Opcode::LLVMMul, number, row);
            let arguments: Vec<Value> = (0..types.len())
                .map(|index| {
                    let own = record[self.sources[turn][index]];
                    own.unwrap_or_else(|| {
                        let offset = rows.offsets_bytes[index].unwrap_or_default();
                        let first = long.constant(u64::from(rows.first_offset_bytes + offset));
                        let bytes = builder.binary(Opcode::LLVMAdd, row, first);
                        passed(index, builder.element_pointer(byte, parameter, &[bytes]))
                    })
                })
                .collect();
            call(&builder, bodies[turn], &arguments);
        };
        // Each place has a barrier across the grid of its own.
        let wait = |place: &str| -> Result<(), CodegenError> {
            if self.grid_barrier {
                let barrier = link_barrier(module, &format!("{name}_grid_{place}"))?;
                if keeps {
                    hold_barrier(barrier);
                }
                builder.call(barrier.value_type(), barrier, &[]);
            } else if self.barrier {
                wait_for_block(module, &builder);
            }
            Ok(())
        };
        // All turns of the pointers, as often as they fit; then what is left of them.
        let turns = int.constant(bodies.len() as u64);
        let one = int.constant(1);
        let rounds = match bodies.len() {
            1 => count,
            _ => builder.binary(Opcode::LLVMUDiv, count, turns),
        };
        let [round, again, rest] = ["round", "again", "rest"].map(block);
        let entry = builder.block();
        match bodies.len() {
            1 => builder.branch(round),
            _ => {
                let any = builder.is_below(int.constant(0), rounds);
                builder.branch_if(any, round, rest);
            }
        }
        builder.continue_in(round);
        let number = builder.phi(int);
        number.add_incoming(int.constant(0), entry);
        let first = builder.binary(Opcode::LLVMMul, number, turns);
        for turn in 0..bodies.len() {
            if turn > 0 {
                wait(&format!("turn{turn}"))?;
            }
            let own = builder.binary(Opcode::LLVMAdd, first, int.constant(turn as u64));
            launch(own, turn);
        }
        let next = builder.binary(Opcode::LLVMAdd, number, one);
        let more = builder.is_below(next, rounds);
        builder.branch_if(more, again, rest);
        builder.continue_in(again);
        wait("again")?;
        builder.branch(round);
        number.add_incoming(next, again);

        builder.continue_in(rest);
        let done = builder.binary(Opcode::LLVMMul, rounds, turns);
        for turn in 0..bodies.len() - 1 {
            let [left, end] = ["left", "end"].map(block);
            let own = builder.binary(Opcode::LLVMAdd, done, int.constant(turn as u64));
            let more = builder.is_below(own, count);
            builder.branch_if(more, left, end);
            builder.continue_in(left);
            wait(&format!("left{turn}"))?;
            launch(own, turn);
            builder.branch(end);
            builder.continue_in(end);
        }
        builder.ret(None);
        Ok(function)
    }
}

/// Whether threads keep values from one launch of a body to the next.
fn keeps_values(body: Value) -> bool {
    body.instructions().into_iter().any(is_kept_read)
}

/// Keeps in registers what threads have from one launch to the next, in a kernel of launches between which all blocks wait for each
/// other. Bodies have been inlined. `offsets` says where arguments that are no structures stand in the record. Says whether there may be such values, as barriers are calls
/// as long as their kernel is not settled, and what became of those that threads of a block hand to each other.
pub(in crate::codegen::fused_kernels::fuse) fn keep_values<'ctx>(
    module: &Module<'ctx>,
    function: Value<'ctx>,
    facts: &KernelFacts,
    (offsets, rows): (&[Option<u32>], &PersistentRows),
    figures: &Figures,
) -> Result<(bool, Vec<Kept>), CodegenError> {
    let has_calls = function.instructions().into_iter().any(waits_for_grid);
    let handed_on = hand_on(module, function, facts, figures);
    if !keeps_values(function) && !handed_on.iter().any(Kept::is_kept) {
        return Ok((has_calls, handed_on));
    }
    // What the record has is what parameters of the body are, by turns.
    let told = |value: Value<'ctx>| {
        if value.operation() != Some(Opcode::LLVMLoad) {
            return None;
        }
        let (base, distance) = base_of(module, value.operand(0));
        let offset = u32::try_from(distance?)
            .ok()?
            .checked_sub(RECORDS_OFFSET_BYTES)?;
        let own = offsets.iter().position(|own| *own == Some(offset))?;
        let turns = |index: &usize| rows.sources.iter().any(|sources| sources[*index] == own);
        let is_record = base == function.parameters()[0] && rows.offsets_bytes[own].is_none();
        is_record.then(|| (0..offsets.len()).filter(turns).collect())
    };
    forward_across_launches(module, function, facts, &told)?;
    Ok((has_calls, handed_on))
}

/// Calls a body, as it wants to be called.
fn call(builder: &Builder, body: Value, arguments: &[Value]) {
    let call = builder.call(body.value_type(), body, arguments);
    for at in 1..=arguments.len() as u32 {
        body.copy_function_attributes_to_call(at, call, at);
    }
    body.copy_function_attributes_to_call(RETURN_ATTRIBUTES, call, RETURN_ATTRIBUTES);
}

fn wait_for_block(module: &Module, builder: &Builder) {
    let int = Type::integer(module, 32);
    let ty = Type::function(Type::void(module), &[int]);
    let intrinsic = Value::function(module, BLOCK_BARRIER)
        .unwrap_or_else(|| Value::add_function(module, BLOCK_BARRIER, ty));
    for attribute in ["convergent", "nounwind"] {
        intrinsic.add_attribute(FUNCTION_ATTRIBUTES, attribute, 0);
    }
    let call = builder.call(ty, intrinsic, &[int.constant(0)]);
    call.add_call_attribute(FUNCTION_ATTRIBUTES, "convergent");
}

/// Works out once what does not change from launch to launch, and keeps in registers what a thread hands to itself. The
/// body has been inlined.
pub(in crate::codegen::fused_kernels::fuse) fn hoist(function: Value) -> Result<(), CodegenError> {
    function
        .run_passes(HOISTING, None)
        .map_err(CodegenError::Llvm)
}

/// A kernel of whose launches no argument varies runs so many of them at most: the device has something to do while the
/// host still collects.
const MOST_LAUNCHES: u32 = 1 << 14;

/// Conditions that do not change leave the loop, then loads and stores of one place. LLVM unswitches no loops for machines
/// whose threads may branch apart; this one all threads go round equally often.
const HOISTING: &str = "function(simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify,lcssa,\
    loop-mssa(loop-rotate,licm,simple-loop-unswitch<nontrivial>,licm,loop-deletion),\
    instcombine<no-verify-fixpoint>,simplifycfg)";

/// Takes back what the body says of one launch alone: which of its pointers lead elsewhere.
fn forget_one_launch(body: Value) {
    for position in 1..=body.parameters().len() as u32 {
        body.remove_attribute(position, "noalias");
    }
    for instruction in body.instructions() {
        for kind in ["alias.scope", "noalias"] {
            instruction.remove_metadata(kind);
        }
        if instruction.called_name().as_deref() == Some("llvm.experimental.noalias.scope.decl") {
            instruction.erase();
        }
    }
}
