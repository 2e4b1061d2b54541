//! sirius-rs compiles CUDA programs. It takes nvcc's command line, reads the *whole* program (host
//! and device side of every source) as LLVM IR, finds kernel launches that can run as one, proves
//! it, rewrites both sides and links a program that gives the same results with fewer launches.
//! It implements SIRIUS (Li et al., MLSys 2023).
//!
//! # The map
//! Data flows through the stages in the order of the modules below; a stage uses only modules above
//! it (a test enforces that). [`driver`] has the one straight-line function that runs them. Where to add
//! what, with the files, rows and tests, is a table of `docs/ARCHITECTURE.md`.
//!
//! | stage | from | to |
//! |---|---|---|
//! | [`driver::cli`] | `argv` | [`Invocation`], with a [`build::Build`] for the stages |
//! | [`tensor`] | tensor definitions | CUDA sources, which go on to the next stage |
//! | [`ptx`] | PTX | the device module that clang would have given |
//! | [`program`] | sources | [`program::Program`]: LLVM modules, canonicalised |
//! | [`launch`] | host IR | [`launch::LaunchGraph`]: launches, copies, allocations, control flow |
//! | [`kernel`] | device IR | [`kernel::KernelModel`]: domains, access relations, barriers |
//! | [`dependence`] | both | [`dependence::DependenceGraph`]: the unified graph, each edge with its scope |
//! | [`schedule`] | the graph | [`schedule::FusionPlan`]: which launches become one |
//! | [`verify`] | a plan | [`verify::VerifiedPlan`], or a refusal |
//! | [`tune`] | groups, measurements, counts of code | what launches take, and which variant of a group is best |
//! | [`codegen`] | a verified plan | objects and programs |
//! | [`report`] | all of it | text, JSON, DOT, HTML |
//! | [`driver`] | [`Invocation`] | what it asks for: the stages in order, plans made again, objects and programs |
//!
//! # The invariants
//! * The unfused program, run in launch order, is the specification.
//! * What an analysis does not understand it over-approximates: a *may* access, a rejection with a
//!   reason, or a guard that is tested at run time. Never an assumption.
//! * Code generation accepts only a [`verify::VerifiedPlan`], and the verifier shares no algorithm
//!   with the planner.
//! * Originals always stay in the program; a fused launch is a guarded choice.
//! * Only [`program`], [`launch`], [`kernel`] and [`codegen`] look into LLVM's modules, for which
//!   [`driver`] makes the context. They do so through inkwell and through the module `llvm`, which alone
//!   calls LLVM's C interface. Only [`math::isl`] sees isl. Nothing else is `unsafe` (a test enforces that).

pub mod diagnostics;
pub mod stage;
mod output;
mod files;
mod interruption;
mod shared;
pub mod math;
pub mod planner;
pub mod tensor;
pub mod cache;
pub mod build;
pub mod tools;
pub mod ptx;
mod llvm;
pub mod program;
pub mod launch;
pub mod kernel;
pub mod dependence;
pub mod schedule;
pub mod verify;
pub mod tune;
pub mod codegen;
pub mod report;
pub mod driver;

use diagnostics::Severity;
use driver::cli::Invocation;
use output::{give, located, tell};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Runs the compiler on a command line without the program's name: does what it asks, says what there
/// is to say on standard output and standard error, and gives nvcc's exit status.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let folder = arguments
        .iter()
        .find_map(|word| word.to_str()?.strip_prefix("--sirius-folder="));
    if let Some(Err(error)) = folder.map(std::env::set_current_dir) {
        tell(format_args!(
            "sirius-rs fatal   : --sirius-folder: {error}\n"
        ));
        return ExitCode::FAILURE;
    }
    let environment = |name: &str| std::env::var(name).ok();
    tell(format_args!(
        "{}",
        driver::cli::shown::variables(&arguments, &environment)
    ));
    let (mut invocation, diagnostics) = match driver::cli::parse(&arguments, &environment) {
        Ok(parsed) => parsed,
        Err(error) => {
            tell(format_args!("sirius-rs fatal   : {error}\n"));
            return ExitCode::from(error.exit_status());
        }
    };
    driver::cli::take_over_wrapper(&mut invocation);
    let is_shown_only = matches!(&invocation, Invocation::Build(build) if build.dry_run);
    // Who reads the commands takes every line for one.
    for diagnostic in diagnostics.iter().filter(|_| !is_shown_only) {
        tell(format_args!("sirius-rs warning : {}\n", diagnostic.message));
    }
    let is_tuning = matches!(invocation, Invocation::Tune { .. });
    interruption::watch(is_tuning.then_some(TUNING_INTERRUPTED));
    let files_of_run = files::Run::begin();
    program::pass_on_messages();
    let result = on_deep_stack(|| driver::run(&invocation));
    drop(files_of_run);
    interruption::stay_if_ending();
    match result {
        Ok(outcome) => {
            tell(format_args!("{}", outcome.warnings));
            if let Some(summary) = outcome.summary {
                tell(format_args!("{summary}\n"));
            }
            if let Err(error) = give(&outcome.standard_output) {
                tell(format_args!(
                    "sirius-rs fatal   : Cannot write to standard output: {error}\n"
                ));
                return ExitCode::FAILURE;
            }
            outcome.then_run.map_or(ExitCode::SUCCESS, status_of)
        }
        Err(error) => {
            let location = error.location();
            if error.is_tool_output() {
                tell(format_args!("{error}"));
            } else if let Some(location) = location {
                let message = error.to_string();
                tell(format_args!(
                    "{}",
                    located(location, Severity::Error, &message)
                ));
            } else {
                tell(format_args!("sirius-rs fatal   : {error}\n"));
            }
            ExitCode::from(error.exit_status())
        }
    }
}

/// What is said where measuring is interrupted.
const TUNING_INTERRUPTED: &str = "sirius-rs tune: interrupted, nothing was written";

/// Runs a program and takes over its status; as a shell does, 128 and the signal's number where a signal
/// ends it.
fn status_of(mut program: std::process::Command) -> ExitCode {
    match program.status() {
        Ok(status) => {
            let signal = std::os::unix::process::ExitStatusExt::signal(&status);
            let code = status.code().or(signal.map(|signal| 128 + signal));
            ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
        }
        Err(error) => {
            let program = Path::new(program.get_program()).display();
            tell(format_args!(
                "sirius-rs fatal   : Cannot run '{program}': {error}\n"
            ));
            ExitCode::FAILURE
        }
    }
}

/// Programs nest as deeply as their authors like: walks over them get more stack than the main
/// thread has.
fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(DEEP_STACK_BYTES)
            .spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread can be started: {error}"),
        }
    })
}

/// Only what is used of it is ever backed by memory.
const DEEP_STACK_BYTES: usize = 256 << 20;
