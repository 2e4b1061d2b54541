//! Device IR -> functions that take the thread's context first, in place.
//!
//! Invariant: afterwards no call of a device intrinsic, no inline PTX and no shared variable is
//! left. What has no meaning here became a call of `__sirius_unsupported` that names it, executed
//! only if the program gets there; the compiler never guesses and the linker never complains.

pub(super) mod divisions;
pub(super) mod out_of_range;
pub(super) mod shared;
pub(super) mod tiles;

use super::carries;
use super::exits::return_from_exits;
use super::functions::Library;
use crate::codegen::CodegenError;
use crate::codegen::device::KERNEL_CALL_CONVENTION;
use crate::llvm::{Builder, FUNCTION_ATTRIBUTES, Linkage, Opcode, RETURN_ATTRIBUTES, Type, Value};
use divisions::settle_division;
use inkwell::module::Module;
use out_of_range::{settle_conversion, settle_shift};
use shared::SharedLayout;

/// A kernel after lowering: `body(ThreadContext*, arguments…)`.
pub(super) struct LoweredKernel<'ctx> {
    /// Its name in the device module.
    pub(super) name: String,
    /// The body.
    pub(super) body: Value<'ctx>,
}

/// Gives every function the context parameter and replaces everything that only a GPU has.
pub(super) fn lower<'ctx>(
    module: &Module<'ctx>,
    library: &mut Library<'ctx>,
    shared: &SharedLayout<'ctx>,
) -> Result<Vec<LoweredKernel<'ctx>>, CodegenError> {
    drop_used_lists(module);
    let kernels = add_context_parameters(module);
    for kernel in &kernels {
        return_from_exits(kernel.body);
    }
    for function in Value::functions(module) {
        if function.is_declaration() {
            continue;
        }
        shared.replace_uses(module, function, library)?;
        let carry = carries::variable(module, function);
        for instruction in function.instructions() {
            lower_instruction(module, instruction, library, carry)?;
        }
    }
    shared.delete_globals(module);
    delete_unused_declarations(module);
    Ok(kernels)
}

/// `llvm.used` and its kin keep device variables alive for tools of the device's own linker.
fn drop_used_lists(module: &Module) {
    for global in Value::globals(module) {
        if matches!(global.name().as_str(), "llvm.used" | "llvm.compiler.used") {
            global.delete_global();
        }
    }
}

fn add_context_parameters<'ctx>(module: &Module<'ctx>) -> Vec<LoweredKernel<'ctx>> {
    let mut kernels = Vec::new();
    let pointer = Type::pointer(module, 0);
    for old in Value::functions(module) {
        if old.is_declaration() {
            continue;
        }
        let ty = old.value_type();
        let mut parameters = vec![pointer];
        parameters.extend(ty.parameters());
        let new = Value::add_function(module, "", Type::function(ty.result(), &parameters));
        let name = old.name();
        copy_function_attributes(old, new);
        for block in old.blocks() {
            block.move_to(new);
        }
        for (before, after) in old.parameters().into_iter().zip(&new.parameters()[1..]) {
            before.replace_uses_with(*after);
        }
        old.move_subprogram_to(new);
        old.replace_uses_with(new);
        if old.call_convention() == KERNEL_CALL_CONVENTION {
            new.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
            kernels.push(LoweredKernel {
                name: name.clone(),
                body: new,
            });
        } else if old.has_attribute(FUNCTION_ATTRIBUTES, "noinline") {
            new.add_attribute(FUNCTION_ATTRIBUTES, "noinline", 0);
        } else if old.has_attribute(FUNCTION_ATTRIBUTES, "alwaysinline") {
            new.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        }
        old.delete_function();
        new.set_name(&format!("sirius.body.{name}"));
        new.set_linkage(Linkage::LLVMInternalLinkage);
    }
    kernels
}

/// Keeps what describes the function's parameters and control flow; the processor of the device,
/// its features and memory effects (the context is memory, too) are left out.
fn copy_function_attributes(old: Value, new: Value) {
    for name in ["nounwind", "convergent", "mustprogress"] {
        if old.has_attribute(FUNCTION_ATTRIBUTES, name) {
            new.add_attribute(FUNCTION_ATTRIBUTES, name, 0);
        }
    }
    old.copy_attributes(RETURN_ATTRIBUTES, new, RETURN_ATTRIBUTES);
    for position in 1..=old.parameters().len() as u32 {
        old.copy_attributes(position, new, position + 1);
    }
}

fn lower_instruction<'ctx>(
    module: &Module<'ctx>,
    instruction: Value<'ctx>,
    library: &mut Library<'ctx>,
    carry: Option<Value<'ctx>>,
) -> Result<(), CodegenError> {
    match instruction.opcode() {
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMFence) => {
            instruction.set_system_scope();
        }
        Some(Opcode::LLVMLoad | Opcode::LLVMStore) if instruction.is_atomic() => {
            instruction.set_system_scope();
        }
        Some(Opcode::LLVMCall) => lower_call(module, instruction, library, carry)?,
        Some(Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem) => {
            settle_division(instruction);
        }
        Some(Opcode::LLVMFPToSI | Opcode::LLVMFPToUI) => settle_conversion(module, instruction),
        Some(Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr) => settle_shift(instruction),
        _ => {}
    }
    Ok(())
}

fn lower_call<'ctx>(
    module: &Module<'ctx>,
    call: Value<'ctx>,
    library: &mut Library<'ctx>,
    carry: Option<Value<'ctx>>,
) -> Result<(), CodegenError> {
    let callee = call.called();
    if let Some((template, constraints)) = callee.inline_assembly() {
        return super::assembly::lower_assembly(
            module,
            call,
            &template,
            &constraints,
            library,
            carry,
        );
    }
    let known = callee.is_function() && callee.is_declaration();
    if !known {
        add_context_argument(module, call, callee);
        return Ok(());
    }
    let name = callee.name();
    if name.starts_with(super::functions::PREFIX) {
        return Ok(());
    }
    if let Some(function) = library.find(&name, call.called_type()) {
        return replace_by_library_call(module, call, &function);
    }
    if name.starts_with("llvm.") && !name.starts_with("llvm.nvvm.") {
        return Ok(());
    }
    library.unsupported(module, call, &name)
}

/// A call of a function of the program, direct or through a pointer: the caller's context goes first.
fn add_context_argument(module: &Module, call: Value, callee: Value) {
    let ty = call.called_type();
    let mut parameters = vec![Type::pointer(module, 0)];
    parameters.extend(ty.parameters());
    let context = call.function_of_instruction().parameters()[0];
    let mut arguments = vec![context];
    arguments.extend(call.call_arguments());
    let builder = Builder::before(call);
    let new = builder.call(Type::function(ty.result(), &parameters), callee, &arguments);
    call.copy_call_attributes(RETURN_ATTRIBUTES, new, RETURN_ATTRIBUTES);
    for position in 1..arguments.len() as u32 {
        call.copy_call_attributes(position, new, position + 1);
    }
    call.replace_uses_with_or_nothing(new);
    call.erase();
}

/// A call of something that the library defines as `sirius.NAME(context, arguments…)`.
fn replace_by_library_call<'ctx>(
    module: &Module<'ctx>,
    call: Value<'ctx>,
    function: &super::functions::LibraryFunction<'ctx>,
) -> Result<(), CodegenError> {
    let declared = Value::function(module, &function.name)
        .unwrap_or_else(|| Value::add_function(module, &function.name, function.ty));
    let context = call.function_of_instruction().parameters()[0];
    let builder = Builder::before(call);
    let mut arguments = vec![context];
    for (argument, wanted) in call
        .call_arguments()
        .into_iter()
        .zip(&function.ty.parameters()[1..])
    {
        arguments.push(if argument.ty().is_pointer() && wanted.is_pointer() {
            builder.to_pointer_type(argument, *wanted)
        } else {
            argument
        });
    }
    let mut new = builder.call(function.ty, declared, &arguments);
    if new.ty().is_pointer() && call.ty().is_pointer() {
        new = builder.to_pointer_type(new, call.ty());
    }
    call.replace_uses_with_or_nothing(new);
    call.erase();
    Ok(())
}

fn delete_unused_declarations(module: &Module) {
    for function in Value::functions(module) {
        if function.is_declaration() && !function.has_uses() {
            function.delete_function();
        }
    }
}
