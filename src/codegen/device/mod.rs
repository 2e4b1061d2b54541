//! Device modules of units -> the final device IR, the one that both devices and all statistics use.
//!
//! Invariant: originals and fused kernels go through the same pipeline, with the same calls of
//! math functions left as calls, so that counts are comparable and numerics are those of the
//! original kernels. Barriers are counted before and after: no pass may copy or drop one.

mod barriers;
mod offsets;

use super::CodegenError;
use super::divisors::show_constant_divisors;
use crate::build::{Build, Target};
use crate::llvm::{self, FUNCTION_ATTRIBUTES, Linkage, Loops, Value, hear_errors_only};
use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

pub(super) use barriers::count_barriers;
pub(super) use barriers::is_block_barrier;

/// LLVM's number of the calling convention of kernels (`ptx_kernel`).
pub(super) const KERNEL_CALL_CONVENTION: u32 = 71;

/// A target machine for `nvptx64` with the given processor (`sm_80`, …).
///
/// # Errors
/// [`CodegenError::Llvm`] when LLVM was built without the target or does not know the processor.
pub fn device_target_machine(processor: &str) -> Result<TargetMachine, CodegenError> {
    machine_with_feature(processor, "+ptx88")
}

/// The target machine that makes code for an architecture.
///
/// # Errors
/// As [`device_target_machine`].
pub(super) fn machine_of(target: Target) -> Result<TargetMachine, CodegenError> {
    machine_with_feature(
        &format!("sm_{target}"),
        &format!("+ptx{}", target.isa_version()),
    )
}

/// [`device_target_machine`] for a PTX version.
pub(super) fn machine_with_feature(
    processor: &str,
    feature: &str,
) -> Result<TargetMachine, CodegenError> {
    llvm::device_machine(processor, feature, OptimizationLevel::Aggressive)
        .map_err(CodegenError::Llvm)
}

/// Runs LLVM's `-O3` for the device on a unit's module or on fused kernels, in place.
///
/// # Errors
/// [`CodegenError::Llvm`] when a pass pipeline fails, [`CodegenError::BarrierChanged`] when a pass
/// copied or dropped a barrier.
pub fn optimise_device(module: &Module, machine: &TargetMachine) -> Result<(), CodegenError> {
    mark_pure_math(module);
    show_constant_divisors(module);
    let before = count_barriers(module);
    run_passes(module, "default<O3>", machine)?;
    if offsets::take_constants_out(module) > 0 {
        run_passes(module, "function(early-cse,dce)", machine)?;
    }
    before.check_not_grown(&count_barriers(module))?;
    Ok(())
}

/// Makes a module what PTX is written of: optimised, or as it stands in the source, for a debugger or a quick compile.
///
/// # Errors
/// As [`optimise_device`].
pub(super) fn make_final(
    module: &Module,
    machine: &TargetMachine,
    build: &Build,
) -> Result<(), CodegenError> {
    match build.device_optimised {
        true => optimise_device(module, machine),
        false => run_passes(module, "default<O0>", machine),
    }
}

/// Nothing but the host's launches enters device code that is complete: after optimisation, what no kernel reaches goes,
/// with its calls of functions that other sources define, as under nvcc.
/// With `functions` those that others could call stay nevertheless.
pub(super) fn keep_to_module(module: &Module, functions: bool) {
    for function in Value::functions(module) {
        if !function.is_declaration()
            && function.call_convention() != KERNEL_CALL_CONVENTION
            && function.linkage() != Linkage::LLVMAvailableExternallyLinkage
            && !(functions && function.linkage() == Linkage::LLVMExternalLinkage)
        {
            function.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
}

/// Runs a pipeline by its textual name.
pub(super) fn run_passes(
    module: &Module,
    passes: &str,
    machine: &TargetMachine,
) -> Result<(), CodegenError> {
    hear_errors_only(module);
    llvm::run_passes(module, passes, machine, Loops::Vectorised)
        .map_err(|message| CodegenError::Llvm(format!("{passes}: {message}")))
}

/// The kernels that a module defines.
pub(super) fn kernels<'ctx>(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
    Value::functions(module)
        .into_iter()
        .filter(|function| {
            !function.is_declaration() && function.call_convention() == KERNEL_CALL_CONVENTION
        })
        .collect()
}

/// `__launch_bounds__` maximum of threads a block: the product of `nvvm.maxntid`.
pub(super) fn max_threads(kernel: Value) -> Option<u32> {
    let text = kernel.string_attribute("nvvm.maxntid")?;
    text.split(',')
        .map(|extent| extent.trim().parse::<u32>().ok())
        .product()
}

/// libdevice's functions without pointer parameters compute a value from their arguments and do
/// nothing else; the headers only declare them. Saying so lets LLVM keep values in registers
/// across a call of `expf`.
pub(super) fn mark_pure_math(module: &Module) {
    for function in Value::functions(module) {
        if !function.is_declaration() || !function.name().starts_with("__nv_") {
            continue;
        }
        let ty = function.value_type();
        if ty.result().is_void()
            || ty
                .parameters()
                .iter()
                .any(|parameter| parameter.is_pointer())
        {
            continue;
        }
        function.set_linkage(Linkage::LLVMExternalLinkage);
        function.remove_attribute(FUNCTION_ATTRIBUTES, "convergent");
        for name in [
            "memory",
            "nounwind",
            "willreturn",
            "nosync",
            "nofree",
            "nocallback",
        ] {
            // The encoding 0 of `memory` is `memory(none)`; the others have no value.
            function.add_attribute(FUNCTION_ATTRIBUTES, name, 0);
        }
        for user in function.users() {
            if user.is_instruction() {
                user.remove_call_attribute(FUNCTION_ATTRIBUTES, "convergent");
            }
        }
    }
}
