//! The body of a group -> a kernel that runs several launches of it one after the other, in the same blocks.
//!
//! Invariants: each thread runs its thread of one launch after the other, with a block-wide barrier between them where the
//! plan says so; all arguments are those of the first launch but the varying ones, which stand in rows behind. What the
//! body says of memory that two of its pointers do not share it says of one launch; only what holds for all of
//! them is left.

use super::batch::{Layout, PARAMETER_BYTES, RECORD_ALIGNMENT_BYTES, RECORDS_OFFSET_BYTES};
use super::built::Built;
use super::scopes::AliasScopes;
use super::{BLOCK_BARRIER, launch_bounds};
use crate::cli::Optimisation;
use crate::codegen::device::KERNEL_CALL_CONVENTION;
use crate::codegen::ir::{
    Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, Linkage, Opcode, RETURN_ATTRIBUTES, Type,
    Value,
};
use crate::codegen::{CodegenError, FusedParameter, PersistentRows};
use crate::schedule::PersistentLoop;
use inkwell::llvm_sys::LLVMIntPredicate as IntPredicate;
use inkwell::module::Module;
use std::collections::BTreeSet;

/// How launches follow each other in a kernel.
pub(super) struct Persistent {
    barrier: bool,
    /// By parameter of the body.
    varying: Vec<bool>,
}

impl Persistent {
    /// Of a kernel with these parameters.
    pub(super) fn of(plan: &PersistentLoop, parameters: &[FusedParameter]) -> Self {
        let varies = |parameter: &FusedParameter| {
            let argument = parameter.argument();
            argument.is_some_and(|argument| plan.varying.contains(&argument))
        };
        Self {
            barrier: plan.barrier,
            varying: parameters.iter().map(varies).collect(),
        }
    }

    /// The kernel, which still calls the body, its record and its rows. `None` where there is no room for two rows.
    pub(super) fn build(
        &self,
        module: &Module,
        (kernel, body): (&Built, Value),
        optimisations: &BTreeSet<Optimisation>,
    ) -> Option<(Value, Layout, PersistentRows)> {
        let mut layout = Layout::of(module, body)?;
        let rows = self.rows(module, body, &layout);
        let left = PARAMETER_BYTES.saturating_sub(rows.first_offset_bytes);
        layout.capacity = match rows.row_bytes {
            0 if left > 0 => MOST_LAUNCHES,
            0 => 0,
            bytes => left / bytes,
        };
        if layout.capacity < 2 {
            return None;
        }
        forget_one_launch(body);
        if optimisations.contains(&Optimisation::AliasScopes) {
            let facts = &kernel.facts;
            let scopes = AliasScopes::new(module, &body.name(), &facts.disjoint, &facts.tables);
            let own: Vec<usize> = (0..body.parameters().len()).collect();
            scopes.mark(module, body, &own);
        }
        body.set_linkage(Linkage::LLVMInternalLinkage);
        body.set_call_convention(0);
        body.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        body.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        let name = kernel.name.replacen("sirius_fused_", "sirius_loop_", 1);
        let function = self.write(module, &name, body, (&layout, &rows));
        launch_bounds::hand_over(body, function);
        Some((function, layout, rows))
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
            offsets_bytes: offsets.collect(),
            row_bytes: end.next_multiple_of(widest),
            first_offset_bytes: RECORDS_OFFSET_BYTES + layout.record,
        }
    }

    fn write(
        &self,
        module: &Module,
        name: &str,
        body: Value,
        (layout, rows): (&Layout, &PersistentRows),
    ) -> Value {
        let [byte, int, long] = [8, 32, 64].map(|bits| Type::integer(module, bits));
        let pointer = Type::pointer(module, 0);
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
        let [entry, launch, again, end] =
            ["entry", "launch", "again", "end"].map(|name| Block::append(function, name));
        let builder = Builder::at_end(module, entry);
        if let Some(scope) = DebugScope::of(module, body) {
            scope.cover(function, name, &builder);
        }
        let parameter = function.parameters()[0];
        let count = builder.load(int, parameter, 4);
        let types = body.value_type().parameters();
        let at = |offset: u32| {
            builder.element_pointer(byte, parameter, &[long.constant(u64::from(offset))])
        };
        let mut arguments: Vec<Option<Value>> = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            let place =
                (!self.varying[index]).then(|| at(RECORDS_OFFSET_BYTES + layout.offsets[index]));
            arguments.push(place.map(|place| match layout.in_memory[index] {
                Some(_) => place,
                None => builder.load(*ty, place, ty.alignment(module)),
            }));
        }
        builder.branch(launch);

        builder.continue_in(launch);
        let number = builder.phi(int);
        number.add_incoming(int.constant(0), entry);
        let wide = builder.cast(Opcode::LLVMZExt, number, long);
        let row = long.constant(u64::from(rows.row_bytes));
        let row = builder.binary(Opcode::LLVMMul, wide, row);
        let passed: Vec<Value> = types
            .iter()
            .enumerate()
            .map(
                |(index, ty)| match (arguments[index], rows.offsets_bytes[index]) {
                    (Some(argument), _) => argument,
                    (None, offset) => {
                        let first = rows.first_offset_bytes + offset.unwrap_or_default();
                        let bytes = long.constant(u64::from(first));
                        let bytes = builder.binary(Opcode::LLVMAdd, row, bytes);
                        let place = builder.element_pointer(byte, parameter, &[bytes]);
                        match layout.in_memory[index] {
                            Some(_) => place,
                            None => builder.load(*ty, place, ty.alignment(module)),
                        }
                    }
                },
            )
            .collect();
        let call = builder.call(body.value_type(), body, &passed);
        for at in 1..=passed.len() as u32 {
            body.copy_function_attributes_to_call(at, call, at);
        }
        body.copy_function_attributes_to_call(RETURN_ATTRIBUTES, call, RETURN_ATTRIBUTES);
        let next = builder.binary(Opcode::LLVMAdd, number, int.constant(1));
        let more = builder.compare(IntPredicate::LLVMIntULT, next, count);
        builder.branch_on(more, again, end);

        builder.continue_in(again);
        if self.barrier {
            let ty = Type::function(Type::void(module), &[int]);
            let intrinsic = Value::function(module, BLOCK_BARRIER)
                .unwrap_or_else(|| Value::add_function(module, BLOCK_BARRIER, ty));
            for attribute in ["convergent", "nounwind"] {
                intrinsic.add_attribute(FUNCTION_ATTRIBUTES, attribute, 0);
            }
            let call = builder.call(ty, intrinsic, &[int.constant(0)]);
            call.add_call_attribute(FUNCTION_ATTRIBUTES, "convergent");
        }
        builder.branch(launch);
        number.add_incoming(next, again);

        builder.continue_in(end);
        builder.return_void();
        function
    }
}

/// Works out once what does not change from launch to launch, and keeps in registers what a thread hands to itself. The
/// body has been inlined.
pub(super) fn hoist(function: Value) -> Result<(), CodegenError> {
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
