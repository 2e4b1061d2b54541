//! A member's kernel -> a function that a fused kernel calls.

use super::assembly::declare_memory_accesses;
use super::excerpt::Excerpts;
use super::fields::{self, Piece};
use super::indices::{Given, Index, indices_read, replace_reads};
use super::launch_bounds::{self, Demand};
use super::overlap;
use super::promises::{ALIGNMENTS_AT_ACCESSES, settle_ends, settle_values};
use super::rearranged::wait_for_warp;
use crate::codegen::CodegenError;
use crate::codegen::device::{KERNEL_CALL_CONVENTION, device_target_machine, run_passes};
use crate::codegen::divisors::hide_divisors;
use crate::codegen::expansion::{collect_constants, constants_in, entry_place, replace_constants};
use crate::kernel::Target;
use crate::llvm::{Builder, FUNCTION_ATTRIBUTES, Linkage, Opcode, RETURN_ATTRIBUTES, Type, Value};
use crate::program::{Kernel, Program, let_ended_threads_wait};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

const GLOBAL_ADDRESS_SPACE: u32 = 1;
const SHARED_ADDRESS_SPACE: u32 = 3;
const CONSTANT_ADDRESS_SPACE: u32 = 4;

/// A copy of a unit with one kernel, turned into a function.
pub(super) struct Segment<'ctx> {
    module: Module<'ctx>,
    name: String,
    pieces: Vec<Piece>,
    variables: Vec<usize>,
    given: Vec<Index>,
    demand: Demand,
}

/// A segment's function in the fused module.
pub(super) struct Body<'ctx> {
    /// The function: the kernel's parameters, as [`Segment::pieces`] has them, then the addresses of `variables`, then `given`.
    pub(super) function: Value<'ctx>,
    /// What it is given instead of reading it.
    pub(super) given: Vec<Index>,
    /// What the member asks for.
    pub(super) demand: Demand,
}

impl<'ctx> Segment<'ctx> {
    /// Copies a kernel and all that it calls. `None` when it uses a device variable that the host
    /// cannot name, or calls itself. `form` are passes that it goes through; what it reads of `given`
    /// become parameters, and where `by_field` is set the fields of structs. A version that begins early may load
    /// from `untouched` before it waits.
    pub(super) fn prepare<'p>(
        (program, excerpts): (&'p Program<'ctx>, &mut Excerpts<'p, 'ctx>),
        kernel: &Kernel,
        form: &str,
        given: Given,
        by_field: bool,
        untouched: Option<&[Target]>,
    ) -> Result<Option<Self>, CodegenError> {
        let module = program.module_of(kernel).ok_or_else(|| {
            CodegenError::Inconsistent(format!("no module with kernel '{}'", kernel.name))
        })?;
        let find = |module: &Module<'ctx>| {
            Value::function(module, &kernel.name).ok_or_else(|| {
                CodegenError::Inconsistent(format!("no kernel '{}' in its unit", kernel.name))
            })
        };
        let module = excerpts.copy_for(module, find(module)?);
        let function = find(&module)?;
        let machine = device_target_machine("sm_80")?;
        if kernel.ended_threads_wait {
            let_ended_threads_wait(&module, function, &machine).map_err(CodegenError::Llvm)?;
        }
        isolate(&module, function);
        let passes = format!("always-inline,globaldce,{ALIGNMENTS_AT_ACCESSES}");
        run_passes(&module, &passes, &machine)?;
        let Some(function) = Value::function(&module, &kernel.name) else {
            return Err(CodegenError::Inconsistent(format!(
                "lost kernel '{}'",
                kernel.name
            )));
        };
        if calls_program_code(function)
            || given == Given::PlaceInWarp && !wait_for_warp(&module, function)
        {
            return Ok(None);
        }
        strip_stale_reads(function);
        settle_ends(function);
        declare_memory_accesses(&module, function);
        if let Some(untouched) = untouched {
            overlap::wait_late(&module, function, untouched)?;
        }
        let Some(given) = indices_read(function, given.indices()) else {
            return Ok(None);
        };
        let demand = Demand::of(function);
        let (function, pieces) = match by_field {
            true => fields::take_apart(&module, function)?,
            false => (function, Piece::all(function)),
        };
        let taken = take_variables(program, &module, kernel, function, &given)?;
        let Some((name, variables)) = taken else {
            return Ok(None);
        };
        if !form.is_empty() {
            run_passes(&module, form, &machine)?;
        }
        if let Some(function) = Value::function(&module, &name) {
            // Passes may have found more of them.
            settle_ends(function);
            settle_values(function);
            hide_divisors(&module, function);
        }
        Ok(Some(Self {
            module,
            name,
            pieces,
            variables,
            given,
            demand,
        }))
    }

    /// Indices into [`Program::variables`], whose addresses the function takes after the kernel's own
    /// parameters.
    pub(super) fn variables(&self) -> &[usize] {
        &self.variables
    }

    /// What the function's first parameters are of the kernel's arguments.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The types of these parameters.
    pub(super) fn own_types(&self) -> Vec<Type<'ctx>> {
        let mut types = Value::function(&self.module, &self.name)
            .map(|function| function.value_type().parameters())
            .unwrap_or_default();
        types.truncate(self.pieces.len());
        types
    }

    /// What lies in memory of which one of them has the address.
    pub(super) fn in_memory(&self, position: usize) -> Option<Type<'ctx>> {
        let function = Value::function(&self.module, &self.name)?;
        function.type_attribute(position as u32 + 1, "byval")
    }

    /// A module with a copy whose names begin with a prefix.
    pub(super) fn copy(&self, prefix: &str) -> Result<Module<'ctx>, CodegenError> {
        let module = self.module.clone();
        let function = Value::function(&module, &self.name)
            .ok_or_else(|| CodegenError::Inconsistent(format!("lost segment '{}'", self.name)))?;
        function.set_name(&format!("{prefix}{}", self.name));
        rename(&module, prefix);
        Ok(module)
    }

    /// The copy of this prefix, in the fused module.
    pub(super) fn body(
        &self,
        target: &Module<'ctx>,
        prefix: &str,
    ) -> Result<Body<'ctx>, CodegenError> {
        let function = Value::function(target, &format!("{prefix}{}", self.name))
            .ok_or_else(|| CodegenError::Inconsistent(format!("lost segment '{}'", self.name)))?;
        function.set_linkage(Linkage::LLVMInternalLinkage);
        function.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        function.remove_attribute(FUNCTION_ATTRIBUTES, "optnone");
        function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        Ok(Body {
            function,
            given: self.given.clone(),
            demand: self.demand,
        })
    }
}

/// Makes everything but one kernel private and inlinable.
fn isolate(module: &Module, kernel: Value) {
    for global in Value::globals(module) {
        if matches!(global.name().as_str(), "llvm.used" | "llvm.compiler.used") {
            global.delete_global();
        }
    }
    for function in Value::functions(module) {
        if function.is_declaration() || function == kernel {
            continue;
        }
        function.set_linkage(Linkage::LLVMInternalLinkage);
        if function.call_convention() == KERNEL_CALL_CONVENTION {
            continue;
        }
        function.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        function.remove_attribute(FUNCTION_ATTRIBUTES, "optnone");
        function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    }
}

fn calls_program_code(function: Value) -> bool {
    function.instructions().into_iter().any(|instruction| {
        instruction.opcode() == Some(Opcode::LLVMCall)
            && instruction.called().inline_assembly().is_none()
            && !(instruction.called().is_function() && instruction.called().is_declaration())
    })
}

/// Loads that need not see a write of the same kernel become plain loads: the write may now be in
/// the segment before. LLVM finds the ones again that nothing in the fused kernel writes.
fn strip_stale_reads(function: Value) {
    for instruction in function.instructions() {
        if instruction.opcode() == Some(Opcode::LLVMLoad) {
            instruction.remove_metadata("invariant.load");
        }
        let Some(name) = instruction.called_name() else {
            continue;
        };
        if name.starts_with("llvm.nvvm.ldg.") || name.starts_with("llvm.nvvm.ldu.") {
            let arguments = instruction.call_arguments();
            let alignment = arguments[1].constant_integer().unwrap_or(1) as u32;
            let load = Builder::before(instruction).load_aligned(
                instruction.ty(),
                arguments[0],
                alignment,
            );
            instruction.replace_uses_with(load);
            instruction.erase();
        }
    }
}

/// Gives the kernel a parameter for each device variable that it uses and for each index that it is
/// given, and the type of a plain function. Returns its new name and the variables.
fn take_variables<'ctx>(
    program: &Program,
    module: &Module<'ctx>,
    kernel: &Kernel,
    old: Value<'ctx>,
    given: &[Index],
) -> Result<Option<(String, Vec<usize>)>, CodegenError> {
    let mut variables = Vec::new();
    for global in Value::globals(module) {
        if !constants_in(old).contains(&global) {
            continue;
        }
        match global.ty().address_space() {
            GLOBAL_ADDRESS_SPACE | CONSTANT_ADDRESS_SPACE => {}
            SHARED_ADDRESS_SPACE => continue,
            _ if is_self_contained(global) => continue,
            _ => return Ok(None),
        }
        let name = global.name();
        let known = program
            .variables
            .iter()
            .position(|variable| variable.unit == kernel.unit && variable.name == name);
        match known {
            Some(index) => variables.push((global, index)),
            // Nobody can write a constant that the host does not know: a copy is as good.
            None if is_self_contained(global) => {}
            None => return Ok(None),
        }
    }
    let ty = old.value_type();
    let mut parameters = ty.parameters();
    parameters.extend(variables.iter().map(|_| Type::pointer(module, 0)));
    parameters.extend(given.iter().map(|_| Type::integer(module, 32)));
    let name = format!("sirius_body_{}", kernel.name);
    let new = Value::add_function(module, &name, Type::function(ty.result(), &parameters));
    old.copy_attributes(FUNCTION_ATTRIBUTES, new, FUNCTION_ATTRIBUTES);
    old.copy_attributes(RETURN_ATTRIBUTES, new, RETURN_ATTRIBUTES);
    launch_bounds::take_away(new);
    for block in old.blocks() {
        block.move_to(new);
    }
    for (index, (before, after)) in old
        .parameters()
        .into_iter()
        .zip(new.parameters())
        .enumerate()
    {
        old.copy_attributes(index as u32 + 1, new, index as u32 + 1);
        before.replace_uses_with(after);
    }
    old.move_subprogram_to(new);
    old.replace_uses_with(new);
    old.delete_function();
    let own = ty.parameters().len();
    for (position, index) in given.iter().enumerate() {
        let value = new.parameters()[own + variables.len() + position];
        replace_reads(new, *index, value);
    }
    // A read of an index may have stood there.
    let Some(place) = entry_place(new) else {
        return Err(CodegenError::Inconsistent(format!("'{name}' has no body")));
    };
    let mut replacements = HashMap::new();
    let mut indices = Vec::new();
    for (position, (global, index)) in variables.into_iter().enumerate() {
        let parameter = new.parameters()[own + position];
        let address = Builder::before(place).to_pointer_type(parameter, global.ty());
        replacements.insert(global, address);
        indices.push(index);
    }
    replace_constants(new, place, replacements)?;
    Ok(Some((name, indices)))
}

/// Whether a global is a constant that leads to no variable: a copy's pointers to variables would
/// lead to copies of these.
fn is_self_contained(global: Value) -> bool {
    let mut seen = HashSet::new();
    let mut work = vec![global];
    while let Some(global) = work.pop() {
        if !seen.insert(global) || global.is_function() {
            continue;
        }
        let Some(initializer) = global.initializer().filter(|_| global.is_constant_global()) else {
            return false;
        };
        let mut mentioned = HashSet::new();
        collect_constants(initializer, &mut mentioned);
        work.extend(mentioned);
    }
    true
}

/// Gives all definitions and shared variables names of their own. Functions of the toolkit and of
/// LLVM keep theirs.
fn rename(module: &Module, prefix: &str) {
    for global in Value::globals(module) {
        let name = global.name();
        if name.starts_with("llvm.") {
            continue;
        }
        let shared = global.ty().address_space() == SHARED_ADDRESS_SPACE;
        if !global.is_declaration() {
            global.set_linkage(Linkage::LLVMInternalLinkage);
        }
        if shared || !global.is_declaration() {
            let plain: String = name
                .chars()
                .map(|letter| {
                    if letter.is_ascii_alphanumeric() {
                        letter
                    } else {
                        '_'
                    }
                })
                .collect();
            global.set_name(&format!("{prefix}{plain}"));
        }
    }
}
