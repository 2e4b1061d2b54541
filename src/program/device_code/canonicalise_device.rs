//! Device modules: numerics decided in each unit, then one canonical copy of all kernels.
//!
//! What the pipelines guarantee: [`DEVICE_INLINING`] puts everything that a kernel calls directly and
//! without recursion into the kernel (unless `__noinline__`, and as far as [`inlined_functions`] goes),
//! so that numerics are decided for whole kernels; it leaves the rest as clang made it.
//! [`DEVICE_PIPELINE`] turns memory of a thread into SSA values, folds, removes loads that repeat a
//! load or store of the same thread, and puts loops into simplified, closed form; no loop is rotated,
//! unrolled or vectorised (one that runs once is no loop any more, [`super::super::single_iterations`]), no
//! access to memory is added, and none is moved out of its loop.

use super::super::assembly_order::order_assembly;
use super::super::ended_threads::let_ended_threads_wait;
use super::super::grid_stride;
use super::super::inlining::inlined_functions;
use super::super::names;
use super::super::numerics;
use super::super::own_copies::take_over_changed_structs;
use super::super::read_only::settle_read_only_variables;
use super::super::shared_offsets::settle_shared_offsets;
use super::super::shared_tables::settle_shared_tables;
use super::super::truth_values::settle_truth_values;
use super::super::{DeviceVariable, Kernel, ProgramError, Unit, passes, single_iterations};
use crate::build::Numerics;
use crate::llvm::{FUNCTION_ATTRIBUTES, Linkage, Opcode, Value};
use inkwell::module::Module;
use std::collections::BTreeMap;

/// What runs on each unit's device module before numerics are decided. Memory of a thread is turned into values before
/// inlining, too: what is inlined is smaller by that, most of all where many small functions call each other.
pub const DEVICE_INLINING: &str = "function(sroa,early-cse),always-inline,function(sroa,early-cse)";

/// What inlines everything in the analysis copy, and turns memory of a thread into SSA values.
pub const DEVICE_FLATTENING: &str = "function(sroa),always-inline,globaldce,function(sroa)";

/// What makes values of the structs that kernels change.
const OWN_COPIES: &str = "function(sroa)";

/// What then makes the analysis copy canonical. Stores are kept, see [`KEPT_STORE`].
pub const DEVICE_PIPELINE: &str = "function(early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg,sccp,early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg,adce,loop-simplify,lcssa)";

/// The metadata of a store that the user did not write as `volatile`, although the analysis copy
/// says so. A pass may drop a store that changes nothing (`v = a[i]; v.x = 1; a[i] = v` stores `v.y`
/// as it was), but the kernel that is emitted may well execute it, and undo there what another
/// thread has stored in between. So the analysis copy has every store that an emitted kernel can
/// have.
pub const KEPT_STORE: &str = "sirius.kept";

/// The calling convention of kernels.
pub(in crate::program) const PTX_KERNEL: u32 = 71;

/// Inlines what kernels call and decides the numerics of a unit's device module, in place.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses a pipeline or makes an invalid module.
pub(in crate::program) fn decide_numerics(
    device: &Module<'_>,
    numerics: Numerics,
    architecture: u32,
) -> Result<(), ProgramError> {
    order_assembly(device);
    settle_truth_values(device);
    settle_shared_tables(device);
    mark_inlined(device, |function| {
        function.call_convention() != PTX_KERNEL
            && !function.has_attribute(FUNCTION_ATTRIBUTES, "noinline")
            && !function.has_attribute(FUNCTION_ATTRIBUTES, "optnone")
    });
    passes::run(
        device,
        DEVICE_INLINING,
        &passes::device_machine(architecture)?,
    )?;
    settle_read_only_variables(device);
    settle_shared_offsets(device);
    numerics::decide(device, numerics);
    passes::verify(device, "deciding numerics")
}

/// Inlines what kernels call in device code that was linked together; nobody else calls into it.
///
/// # Errors
/// As [`decide_numerics`].
pub(in crate::program) fn inline_linked(
    device: &Module<'_>,
    architecture: u32,
) -> Result<(), ProgramError> {
    mark_inlined(device, |function| {
        function.has_attribute(FUNCTION_ATTRIBUTES, "alwaysinline")
    });
    for function in Value::functions(device) {
        if !function.is_declaration() && function.call_convention() != PTX_KERNEL {
            function.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    let pipeline = format!("{DEVICE_INLINING},globaldce");
    passes::run(device, &pipeline, &passes::device_machine(architecture)?)?;
    passes::verify(device, "linking device code")
}

/// Links canonical copies of all units' kernels into one module.
///
/// # Errors
/// [`ProgramError::Pass`] or [`ProgramError::Link`] when LLVM refuses.
pub(in crate::program) fn analysis_module<'ctx>(
    context: &'ctx inkwell::context::Context,
    (units, operations, iterations): (
        &[Unit<'ctx>],
        Option<&Module<'ctx>>,
        &BTreeMap<usize, Module<'ctx>>,
    ),
    kernels: &[Kernel],
    variables: &[DeviceVariable],
    architecture: u32,
) -> Result<Module<'ctx>, ProgramError> {
    let mut analysis: Option<Module<'ctx>> = None;
    for (index, unit) in units.iter().enumerate() {
        let copy = unit.device.clone();
        names::rename_device_symbols(&copy, index, kernels, variables);
        match &analysis {
            None => analysis = Some(copy),
            Some(whole) => whole
                .link_in_module(copy)
                .map_err(|error| ProgramError::Link {
                    message: error.to_string(),
                })?,
        }
    }
    let analysis = analysis.unwrap_or_else(|| context.create_module("analysis"));
    if let Some(operations) = operations {
        analysis
            .link_in_module(operations.clone())
            .map_err(|error| ProgramError::Link {
                message: error.to_string(),
            })?;
    }
    for (unit, module) in iterations {
        let copy = module.clone();
        names::rename_device_symbols(&copy, *unit, kernels, variables);
        let copy = grid_stride::alone(&copy, *unit, kernels);
        analysis
            .link_in_module(copy)
            .map_err(|error| ProgramError::Link {
                message: error.to_string(),
            })?;
    }
    analysis.set_name("analysis");
    let machine = passes::device_machine(architecture)?;
    for kernel in kernels.iter().filter(|kernel| kernel.ended_threads_wait) {
        if let Some(function) = Value::function(&analysis, &kernel.unique_name) {
            let_ended_threads_wait(&analysis, function, &machine)
                .map_err(passes::failed_in("ended threads"))?;
        }
    }
    // A helper that is called as a whole in the original (`__noinline__`) is looked into here.
    mark_inlined(&analysis, |function| {
        function.call_convention() != PTX_KERNEL
    });
    if !units.is_empty() {
        passes::run(&analysis, DEVICE_FLATTENING, &machine)?;
        if take_over_changed_structs(&analysis) {
            passes::run(&analysis, OWN_COPIES, &machine)?;
        }
        for function in Value::functions(&analysis) {
            keep_stores(&analysis, function);
        }
        single_iterations::take_apart(&analysis, &machine)?;
        passes::run(&analysis, DEVICE_PIPELINE, &machine)?;
    }
    passes::verify(&analysis, "the device pipeline")?;
    Ok(analysis)
}

/// Has those functions of a module that [`inlined_functions`] names put into their callers, and no
/// others.
fn mark_inlined(module: &Module<'_>, may_be: impl Fn(Value) -> bool) {
    let inlined = inlined_functions(module, may_be);
    for function in Value::functions(module) {
        if inlined.contains(&function) {
            function.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
            function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        } else {
            function.remove_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
        }
    }
}

/// Keeps passes from removing stores, other than those to the thread's own variables.
fn keep_stores(module: &Module<'_>, function: Value) {
    for instruction in function.instructions() {
        if instruction.opcode() == Some(Opcode::LLVMStore)
            && !instruction.is_volatile()
            && !is_local(instruction.operands()[1])
        {
            instruction.make_volatile();
            instruction.add_metadata(module, KEPT_STORE);
        }
    }
}

/// Whether a pointer points into a variable of the thread, for certain.
fn is_local(pointer: Value) -> bool {
    match pointer.opcode() {
        Some(Opcode::LLVMAlloca) => true,
        Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast) => pointer
            .operands()
            .first()
            .is_some_and(|base| is_local(*base)),
        _ => false,
    }
}
