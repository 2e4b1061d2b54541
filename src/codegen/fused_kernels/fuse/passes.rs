//! What is done to fused kernels once they are written, pass by pass.
//!
//! Invariants: a kernel goes only through passes of which it wants the [`Optimisation`], so that its code does
//! not depend on kernels beside it; where a pass does not make versions of a kernel, it leaves as many barriers
//! as there were, or fewer. What a pass needs to know of a kernel it proves itself, in its own file; loops that become one
//! the verifier judges besides. A new pass is a file of `memory/` or `control_flow/`
//! and a row of [`PASSES`].

use super::built::Built;
use super::forwarding::{forward_guarded, forward_values};
use super::shared_memory_reuse::{MOST_SHARED_BYTES, reuse_shared_memory, shared_bytes};
use super::{
    barriers, broadcasts, buffer_promotion, dead_stores, elements, last_block, loops, rows, tiles,
    versions,
};
use crate::build::Optimisation;
use crate::codegen::CodegenError;
use crate::codegen::device::{count_barriers, device_target_machine, run_passes};
use crate::llvm::Value;
use inkwell::module::Module;
use std::collections::BTreeSet;

/// Runs the passes over the kernels of a module.
///
/// # Errors
/// When LLVM refuses what a pass made, or there are more barriers than before: our bugs.
pub(super) fn run<'ctx>(
    module: &Module<'ctx>,
    kernels: &mut [FusedFunction<'_, 'ctx>],
) -> Result<(), CodegenError> {
    for pass in PASSES {
        let wants = |kernel: &&mut FusedFunction| {
            let optimisation = pass.optimisation;
            kernel.built.is_whole && optimisation.is_none_or(|each| kernel.wanted.contains(&each))
        };
        let mut wanting: Vec<&mut FusedFunction> = kernels.iter_mut().filter(wants).collect();
        if wanting.is_empty() {
            continue;
        }
        let before = count_barriers(module);
        match pass.run {
            Run::OverModule(run) => run(module, &mut wanting)?,
            Run::OverKernel(run) => {
                for kernel in wanting {
                    run(module, kernel)?;
                }
            }
        }
        if !pass.makes_versions {
            before.check_equal_or_fewer(&count_barriers(module))?;
        }
    }
    Ok(())
}

/// A fused kernel between two passes.
pub(super) struct FusedFunction<'a, 'ctx> {
    pub(super) built: &'a mut Built,
    /// The kernel; then the versions of it, which it calls.
    pub(super) versions: Vec<Value<'ctx>>,
    /// Threads of some member are remapped.
    pub(super) is_remapped: bool,
    /// Launches of it bring memory along, if a pass asks for that. Those of batches do not.
    pub(super) brings_memory: bool,
    /// What is to be done to it.
    pub(super) wanted: BTreeSet<Optimisation>,
}

/// A pass over fused kernels.
struct Pass {
    /// Kernels that want this go through it; all do where it is `None`.
    optimisation: Option<Optimisation>,
    /// It may make several versions of a kernel, each with the kernel's barriers, or add barriers.
    makes_versions: bool,
    run: Run,
}

enum Run {
    /// Some of its work is done once for the module.
    OverModule(
        for<'a, 'ctx> fn(
            &Module<'ctx>,
            &mut [&mut FusedFunction<'a, 'ctx>],
        ) -> Result<(), CodegenError>,
    ),
    OverKernel(
        for<'a, 'ctx> fn(&Module<'ctx>, &mut FusedFunction<'a, 'ctx>) -> Result<(), CodegenError>,
    ),
}

/// The passes, in their order.
const PASSES: &[Pass] = &[
    of(
        Optimisation::StoreToLoadForwarding,
        Run::OverModule(|module, kernels| {
            let remapped = kernels.iter().filter(|kernel| kernel.is_remapped);
            let remapped: Vec<Value> = remapped.map(|kernel| kernel.versions[0]).collect();
            let all: Vec<Value> = kernels.iter().map(|kernel| kernel.versions[0]).collect();
            forward_values(module, &all, &remapped)
        }),
    ),
    of(Optimisation::LoopFusion, Run::OverKernel(join_loops)),
    of(
        Optimisation::UniformRecomputation,
        Run::OverKernel(|_, kernel| {
            broadcasts::broadcast_values(kernel.versions[0], &kernel.built.facts);
            Ok(())
        }),
    ),
    Pass {
        makes_versions: true,
        ..of(Optimisation::RowPromotion, Run::OverKernel(promote_rows))
    },
    of(
        Optimisation::StoreToLoadForwarding,
        Run::OverKernel(|module, kernel| {
            let mut versions = kernel.versions.iter();
            versions.try_for_each(|version| forward_guarded(module, *version, &kernel.built.facts))
        }),
    ),
    // Nothing below asks what these say.
    always(Run::OverKernel(|_, kernel| {
        let versions = kernel.versions.iter().copied();
        versions.for_each(elements::take_back_assumptions);
        Ok(())
    })),
    Pass {
        makes_versions: true,
        ..of(
            Optimisation::BufferPromotion,
            Run::OverKernel(promote_buffers),
        )
    },
    always(Run::OverKernel(|_, kernel| {
        let copies = kernel.versions.iter().skip(1).copied();
        copies.for_each(versions::release_copy);
        Ok(())
    })),
    of(
        Optimisation::DeadStores,
        Run::OverKernel(|_, kernel| {
            dead_stores::leave_out(&kernel.versions, kernel.built);
            Ok(())
        }),
    ),
    always(Run::OverModule(|module, _| tidy(module))),
    of(
        Optimisation::TileMerging,
        Run::OverKernel(|module, kernel| {
            tiles::merge_tiles(module, kernel.versions[0]);
            Ok(())
        }),
    ),
    // Where there would be too little, barriers stand only for variables that share storage.
    of(
        Optimisation::SharedMemoryReuse,
        Run::OverKernel(|module, kernel| {
            let function = kernel.versions[0];
            if shared_bytes(module, function) > MOST_SHARED_BYTES {
                reuse_shared_memory(module, function);
            }
            Ok(())
        }),
    ),
    of(
        Optimisation::RedundantBarriers,
        Run::OverKernel(|module, kernel| {
            let facts = &kernel.built.facts;
            barriers::remove_redundant_barriers(module, kernel.versions[0], facts);
            Ok(())
        }),
    ),
    of(
        Optimisation::SharedMemoryReuse,
        Run::OverKernel(|module, kernel| {
            reuse_shared_memory(module, kernel.versions[0]);
            Ok(())
        }),
    ),
    always(Run::OverKernel(|module, kernel| {
        if let Some(times) = kernel.built.variant.unrolled {
            loops::unroll(module, kernel.versions[0], times);
        }
        Ok(())
    })),
    // What stands behind the kernel has barriers of its own.
    Pass {
        makes_versions: true,
        ..always(Run::OverModule(last_block::append))
    },
    always(Run::OverKernel(give_up_what_does_not_fit)),
];

const fn of(optimisation: Optimisation, run: Run) -> Pass {
    Pass {
        optimisation: Some(optimisation),
        makes_versions: false,
        run,
    }
}

const fn always(run: Run) -> Pass {
    Pass {
        optimisation: None,
        makes_versions: false,
        run,
    }
}

/// Makes loops of segments one. What an iteration stores the same one may load then.
fn join_loops<'ctx>(
    module: &Module<'ctx>,
    kernel: &mut FusedFunction<'_, 'ctx>,
) -> Result<(), CodegenError> {
    let function = kernel.versions[0];
    if !loops::has_several_loops(function) {
        return Ok(());
    }
    let machine = device_target_machine("sm_80")?;
    function
        .run_passes(loops::CANONICAL_FORM, Some(&machine))
        .map_err(CodegenError::Llvm)?;
    let joined = loops::join_loops(module, function, &kernel.built.facts);
    let forwards = kernel.wanted.contains(&Optimisation::StoreToLoadForwarding);
    match joined > 0 && forwards {
        true => forward_values(module, &[function], &[]),
        false => Ok(()),
    }
}

fn promote_rows<'ctx>(
    module: &Module<'ctx>,
    kernel: &mut FusedFunction<'_, 'ctx>,
) -> Result<(), CodegenError> {
    if !kernel.brings_memory {
        return Ok(());
    }
    let (function, facts) = (kernel.versions[0], &kernel.built.facts);
    let spare_bytes = || match kernel.wanted.contains(&Optimisation::BufferPromotion) {
        true => buffer_promotion::bytes_wanted(module, function, facts),
        false => 0,
    };
    let promoted = rows::promote_rows(module, function, facts, spare_bytes)?;
    kernel.built.promoted = promoted.rows;
    kernel.built.spare_bytes = promoted.spare_bytes;
    kernel.versions.extend(promoted.general);
    Ok(())
}

fn promote_buffers<'ctx>(
    module: &Module<'ctx>,
    kernel: &mut FusedFunction<'_, 'ctx>,
) -> Result<(), CodegenError> {
    let launched = (kernel.built.spare_bytes, kernel.brings_memory);
    let (function, built) = (kernel.versions[0], &mut *kernel.built);
    let rows = &mut built.promoted;
    let promoted =
        buffer_promotion::promote_buffers(module, function, &built.facts, rows, launched)?;
    kernel.versions.extend(promoted.general);
    Ok(())
}

/// Inlines the versions of kernels, and removes what only computed values that are not needed any more.
fn tidy(module: &Module) -> Result<(), CodegenError> {
    run_passes(
        module,
        "always-inline,globaldce,function(adce,instcombine<no-verify-fixpoint>,simplifycfg)",
        &device_target_machine("sm_80")?,
    )
}

/// Deletes a kernel that needs more shared memory than a block can have.
fn give_up_what_does_not_fit(
    module: &Module,
    kernel: &mut FusedFunction,
) -> Result<(), CodegenError> {
    let bytes = shared_bytes(module, kernel.versions[0]);
    kernel.built.static_shared_bytes = bytes;
    if bytes > MOST_SHARED_BYTES {
        kernel.versions[0].delete_function();
        kernel.built.is_whole = false;
    }
    Ok(())
}
