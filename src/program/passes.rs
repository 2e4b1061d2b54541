//! Running LLVM's passes on our modules.

use super::ProgramError;
use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple,
};
use inkwell::values::FunctionValue;

/// A machine that device code is canonicalised for.
///
/// # Errors
/// [`ProgramError::Pass`] when this LLVM has no NVPTX back end.
pub(super) fn device_machine(architecture: u32) -> Result<TargetMachine, ProgramError> {
    Target::initialize_nvptx(&InitializationConfig::default());
    machine(
        &TargetTriple::create("nvptx64-nvidia-cuda"),
        &format!("sm_{architecture}"),
    )
}

/// A machine that host code is canonicalised for.
///
/// # Errors
/// [`ProgramError::Pass`] when this LLVM has no back end for this machine.
pub(super) fn host_machine() -> Result<TargetMachine, ProgramError> {
    Target::initialize_native(&InitializationConfig::default()).map_err(|message| {
        ProgramError::Pass {
            pipeline: "set-up".into(),
            message,
        }
    })?;
    machine(&TargetMachine::get_default_triple(), "")
}

/// Runs a textual pipeline over a module.
///
/// # Errors
/// [`ProgramError::Pass`] with LLVM's message.
pub(super) fn run(
    module: &Module<'_>,
    pipeline: &str,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    module
        .run_passes(pipeline, machine, options())
        .map_err(|error| ProgramError::Pass {
            pipeline: pipeline.into(),
            message: error.to_string(),
        })
}

/// Runs a textual pipeline over one function.
///
/// # Errors
/// [`ProgramError::Pass`] with LLVM's message.
pub(super) fn run_on_function(
    function: FunctionValue<'_>,
    pipeline: &str,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    function
        .run_passes(pipeline, machine, options())
        .map_err(|error| ProgramError::Pass {
            pipeline: pipeline.into(),
            message: error.to_string(),
        })
}

/// Checks a module after `step`.
///
/// # Errors
/// [`ProgramError::Pass`] with the verifier's text: a bug of ours.
pub(super) fn verify(module: &Module<'_>, step: &str) -> Result<(), ProgramError> {
    module.verify().map_err(|error| ProgramError::Pass {
        pipeline: step.into(),
        message: error.to_string(),
    })
}

fn machine(triple: &TargetTriple, processor: &str) -> Result<TargetMachine, ProgramError> {
    let failed = |message: String| ProgramError::Pass {
        pipeline: "set-up".into(),
        message,
    };
    let target = Target::from_triple(triple).map_err(|error| failed(error.to_string()))?;
    target
        .create_target_machine(
            triple,
            processor,
            "",
            OptimizationLevel::Default,
            RelocMode::Default,
            CodeModel::Default,
        )
        .ok_or_else(|| failed(format!("LLVM knows no {}", triple)))
}

fn options() -> PassBuilderOptions {
    let options = PassBuilderOptions::create();
    options.set_loop_unrolling(false);
    options.set_loop_vectorization(false);
    options.set_loop_slp_vectorization(false);
    options
}
