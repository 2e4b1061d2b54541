//! Running LLVM's passes, and the machines that they are run for. What fails says why in LLVM's words.

use super::{Value, c_string};
use inkwell::OptimizationLevel;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions,
    LLVMPassBuilderOptionsSetLoopUnrolling, LLVMPassBuilderOptionsSetLoopVectorization,
    LLVMPassBuilderOptionsSetSLPVectorization, LLVMRunPassesOnFunction,
};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple,
};
use std::ffi::CStr;

/// What passes may make of loops and of neighbouring instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loops {
    /// Nothing is unrolled or vectorised, so that analyses can read it.
    Kept,
    /// Vectorised and interleaved.
    Vectorised,
}

/// A machine for `nvptx64` with a processor (`sm_80`, …) and features.
///
/// # Errors
/// LLVM was built without the target or does not know the processor.
pub(crate) fn device_machine(
    processor: &str,
    features: &str,
    level: OptimizationLevel,
) -> Result<TargetMachine, String> {
    Target::initialize_nvptx(&InitializationConfig::default());
    let triple = TargetTriple::create("nvptx64-nvidia-cuda");
    machine(&triple, [processor, features], level, RelocMode::Default)
}

/// The machine that runs the compiler, with a processor and features; empty ones are the least that there are.
///
/// # Errors
/// LLVM was built without a target for it.
pub(crate) fn host_machine(
    processor: [&str; 2],
    level: OptimizationLevel,
    relocation: RelocMode,
) -> Result<TargetMachine, String> {
    Target::initialize_native(&InitializationConfig::default())?;
    machine(
        &TargetMachine::get_default_triple(),
        processor,
        level,
        relocation,
    )
}

fn machine(
    triple: &TargetTriple,
    [processor, features]: [&str; 2],
    level: OptimizationLevel,
    relocation: RelocMode,
) -> Result<TargetMachine, String> {
    let target = Target::from_triple(triple).map_err(|message| message.to_string())?;
    target
        .create_target_machine(
            triple,
            processor,
            features,
            level,
            relocation,
            CodeModel::Default,
        )
        .ok_or_else(|| format!("LLVM has no machine for {triple} '{processor}'"))
}

/// Runs a pipeline by its textual name over a module.
///
/// # Errors
/// LLVM's message.
pub(crate) fn run_passes(
    module: &Module<'_>,
    passes: &str,
    machine: &TargetMachine,
    loops: Loops,
) -> Result<(), String> {
    let options = PassBuilderOptions::create();
    let vectorised = loops == Loops::Vectorised;
    options.set_loop_slp_vectorization(vectorised);
    options.set_loop_vectorization(vectorised);
    match loops {
        Loops::Kept => options.set_loop_unrolling(false),
        Loops::Vectorised => options.set_loop_interleaving(true),
    }
    module
        .run_passes(passes, machine, options)
        .map_err(|message| message.to_string())
}

impl<'ctx> Value<'ctx> {
    /// Runs passes over a function for a machine, or as for no device in particular: some do nothing where
    /// threads of a warp may part.
    ///
    /// # Errors
    /// LLVM's message.
    pub(crate) fn run_passes(
        self,
        passes: &str,
        machine: Option<&TargetMachine>,
    ) -> Result<(), String> {
        self.run_passes_with(passes, machine, None)
    }

    /// The same where no loop is unrolled or vectorised.
    ///
    /// # Errors
    /// LLVM's message.
    pub(crate) fn run_passes_keeping_loops(
        self,
        passes: &str,
        machine: &TargetMachine,
    ) -> Result<(), String> {
        self.run_passes_with(passes, Some(machine), Some(Loops::Kept))
    }

    fn run_passes_with(
        self,
        passes: &str,
        machine: Option<&TargetMachine>,
        loops: Option<Loops>,
    ) -> Result<(), String> {
        let passes = c_string(passes);
        let machine = machine.map_or(std::ptr::null_mut(), TargetMachine::as_mut_ptr);
        // SAFETY: callers pass a function with a body; no machine means no device; options and message
        // are disposed of once.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            if loops == Some(Loops::Kept) {
                LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
                LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
                LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
            }
            let error = LLVMRunPassesOnFunction(self.0, passes.as_ptr(), machine, options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let message = LLVMGetErrorMessage(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(message);
            Err(text)
        }
    }
}
