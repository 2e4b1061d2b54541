//! Running LLVM's passes on our modules.

use super::ProgramError;
use crate::llvm::{self, Loops, Value};
use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::{RelocMode, TargetMachine};

/// A machine that device code is canonicalised for.
///
/// # Errors
/// [`ProgramError::Pass`] when this LLVM has no NVPTX back end.
pub(super) fn device_machine(architecture: u32) -> Result<TargetMachine, ProgramError> {
    llvm::device_machine(
        &format!("sm_{architecture}"),
        "",
        OptimizationLevel::Default,
    )
    .map_err(failed_in("set-up"))
}

/// A machine that host code is canonicalised for.
///
/// # Errors
/// [`ProgramError::Pass`] when this LLVM has no back end for this machine.
pub(super) fn host_machine() -> Result<TargetMachine, ProgramError> {
    llvm::host_machine(["", ""], OptimizationLevel::Default, RelocMode::Default)
        .map_err(failed_in("set-up"))
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
    llvm::run_passes(module, pipeline, machine, Loops::Kept).map_err(failed_in(pipeline))
}

/// Runs a textual pipeline over one function.
///
/// # Errors
/// [`ProgramError::Pass`] with LLVM's message.
pub(super) fn run_on_function(
    function: Value,
    pipeline: &str,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    function
        .run_passes_keeping_loops(pipeline, machine)
        .map_err(failed_in(pipeline))
}

/// Checks a module after `step`.
///
/// # Errors
/// [`ProgramError::Pass`] with the verifier's text: a bug of ours.
pub(super) fn verify(module: &Module<'_>, step: &str) -> Result<(), ProgramError> {
    let checked = module.verify();
    checked.map_err(|message| failed_in(step)(message.to_string()))
}

/// Checks a module after one of several steps, behind the last of which [`verify`] checks it: in builds of the compiler that
/// check their own work, so that a bug is told of where it is.
///
/// # Errors
/// As [`verify`].
pub(super) fn verify_step(module: &Module<'_>, step: &str) -> Result<(), ProgramError> {
    match cfg!(debug_assertions) {
        true => verify(module, step),
        false => Ok(()),
    }
}

/// The error that a pipeline failed, of LLVM's message.
pub(super) fn failed_in(pipeline: &str) -> impl Fn(String) -> ProgramError {
    move |message| ProgramError::Pass {
        pipeline: pipeline.to_owned(),
        message,
    }
}
