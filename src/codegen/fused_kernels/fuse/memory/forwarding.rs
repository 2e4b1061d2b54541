//! What a segment stores and a later one loads in the same thread, kept in registers.

use super::super::at_once::Keeping;
use super::super::block_values::{Kept, hand_on};
use super::super::guarded_values::{forward_guarded_values, keep_guarded_values};
use super::super::memory::KernelFacts;
use super::super::{implied_branches, registers, short_loops};
use crate::codegen::CodegenError;
use crate::codegen::device::{device_target_machine, kernels, mark_pure_math, run_passes};
use crate::codegen::divisors::show_constant_divisors;
use crate::llvm::Value;
use crate::tune::Figures;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

/// Inlines the segments of all kernels of a module. In those of `wanting`, and in what they call, it forwards what one
/// segment stores and the next loads in the same thread: two segments that test the same condition are threaded together,
/// so that the store dominates the load. Nothing here unrolls, so that the number of barriers may not grow.
///
/// A member that is remapped tests its number besides, which becomes one condition with its own tests. Only
/// LLVM's jump threading takes these apart, which leaves devices alone whose threads may part; it duplicates
/// nothing that threads do together, so that in the kernels `remapped` it may.
pub(in crate::codegen::fused_kernels::fuse) fn forward_values(
    module: &Module,
    wanting: &[Value],
    remapped: &[Value],
) -> Result<(), CodegenError> {
    mark_pure_math(module);
    let machine = device_target_machine("sm_80")?;
    run_passes(module, "always-inline,globaldce", &machine)?;
    show_constant_divisors(module);
    let all = kernels(module);
    all.iter().copied().for_each(registers::read_once);
    let run = |function: Value, passes: &str, machine: Option<&_>| {
        let run = function.run_passes(passes, machine);
        run.map_err(CodegenError::Llvm)
    };
    for kernel in remapped {
        let form = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>";
        run(
            *kernel,
            &format!("{form},early-cse<memssa>,simplifycfg,jump-threading"),
            None,
        )?;
    }
    let passes = format!("{ROUND},{ROUND},instcombine<no-verify-fixpoint>,simplifycfg");
    for function in Value::functions(module) {
        let other = all.contains(&function) && !wanting.contains(&function);
        if !function.is_declaration() && !other {
            run(function, &passes, Some(&machine))?;
        }
    }
    Ok(())
}

/// Forwards what threads of these kernels store and load again behind a grid-wide barrier, or others of their block. Says of each
/// kernel what became of the latter.
pub(in crate::codegen::fused_kernels::fuse) fn forward_across_grid<'ctx>(
    module: &Module<'ctx>,
    kernels: &[Keeping<'_, 'ctx>],
    figures: &Figures,
) -> Result<Vec<Vec<Kept>>, CodegenError> {
    let all: Vec<Value> = kernels.iter().map(|keeping| keeping.kernel).collect();
    let handed_on = kernels.iter().map(|keeping| match keeping.goes_on {
        true => Vec::new(),
        false => hand_on(module, keeping.kernel, keeping.facts, figures),
    });
    let handed_on = handed_on.collect();
    forward_values(module, &all, &[])?;
    let machine = device_target_machine("sm_80")?;
    for keeping in kernels {
        let (kernel, facts) = (keeping.kernel, keeping.facts);
        let mut forwarded = forward_guarded_values(module, kernel, facts);
        if keeping.iterates {
            forwarded += keep_guarded_values(module, kernel, facts, &|_| None);
        }
        if forwarded > 0 {
            clean_up(kernel, &machine)?;
        }
    }
    Ok(handed_on)
}

/// Forwards what threads of a kernel that calls another one again and again have from one call to the next. Calls have been inlined.
/// `told` says which parameters, of those that `facts` speaks of, a pointer may be.
pub(in crate::codegen::fused_kernels::fuse) fn forward_across_launches<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    told: &dyn Fn(Value<'ctx>) -> Option<Vec<usize>>,
) -> Result<(), CodegenError> {
    let machine = device_target_machine("sm_80")?;
    clean_up(kernel, &machine)?;
    match keep_guarded_values(module, kernel, facts, told) {
        0 => Ok(()),
        _ => clean_up(kernel, &machine),
    }
}

fn clean_up(kernel: Value, machine: &TargetMachine) -> Result<(), CodegenError> {
    let passes = format!("{ROUND},instcombine<no-verify-fixpoint>,simplifycfg");
    let run = kernel.run_passes(&passes, Some(machine));
    run.map_err(CodegenError::Llvm)
}

/// Forwards values, once.
const ROUND: &str = "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
                     jump-threading,correlated-propagation,simplifycfg,gvn<no-pre>,dse";

/// Forwards what members store in loops over tiles, or under conditions, in a version of a kernel.
pub(in crate::codegen::fused_kernels::fuse) fn forward_guarded<'ctx>(
    module: &Module<'ctx>,
    version: Value<'ctx>,
    facts: &KernelFacts,
) -> Result<(), CodegenError> {
    let machine = device_target_machine("sm_80")?;
    let run = |passes: &str, machine: Option<&_>| {
        let run = version.run_passes(passes, machine);
        run.map_err(CodegenError::Llvm)
    };
    let written_out = short_loops::has_any(module, version);
    if written_out {
        run(short_loops::CANONICAL_FORM, Some(&machine))?;
        short_loops::mark(module, version);
        run(short_loops::WRITE_OUT, Some(&machine))?;
        short_loops::release(module, version);
    }
    let forwarded = forward_guarded_values(module, version, facts);
    if forwarded > 0 && implied_branches::tell_by_ways(module, version) > 0 {
        // Not for the device, on which no jump is threaded lest threads part for longer: here they part
        // where they did.
        run("jump-threading,simplifycfg", None)?;
    }
    if written_out || forwarded > 0 {
        let last = "instcombine<no-verify-fixpoint>,simplifycfg";
        run(&format!("{ROUND},{last}"), Some(&machine))?;
    }
    Ok(())
}
