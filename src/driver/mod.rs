//! What one run of the program does: it reads the command line, runs the stages, has plans made again, and reads and
//! writes what goes in and out.
//!
//! | module | what it does |
//! |---|---|
//! | [`cli`] | the command line: what is asked for |
//! | [`objects`] | objects that keep their sources, for links of the whole program |
//! | `outcome` | what a run says, and how it ends |
//! | `facts` | what is known of a program, and the one place that asks the verifier |
//! | `fallback` | a bug of the compiler costs fusion, not the program |
//! | `clock`, `session` | times of stages, and what stages have in common |
//! | `models`, `exchanges` | kernel models that hold for a program |
//! | `replanning` | plans: the first one, and the loop that makes it again |
//! | `report` | the report of all this |
//! | `files` | what a build reads and leaves |
//! | `pipeline` | the stages in order |
//! | `artifacts` | what is made of several compilations: programs, libraries, device links, measurements |
//!
//! Each uses those above it.

pub mod cli;
pub mod objects;
mod outcome;
mod facts;
mod fallback;
mod clock;
mod session;
mod models;
mod exchanges;
mod replanning;
mod report;
mod files;
mod pipeline;
mod artifacts;
mod problem_file;

pub use outcome::{Outcome, PipelineError};

use crate::build::{Build, Language, Phase};
use crate::codegen;
use crate::output::tell;
use crate::report::{self as forms, ReportExecuted};
use crate::tools::find_toolchain;
use crate::tools::toolkit_folder::lay_out;
use crate::tune::Figures;
use artifacts::device_code::link_device_code;
use artifacts::link::{compile_to_cxx, make_library, program_to_run, question, run_afterwards};
use artifacts::ptx_module::compile_ptx;
use artifacts::{measure, reference};
use cli::Invocation;
use cli::shown::steps;
use clock::write_times;
use files::outputs::{check_names, default_output, in_private, outputs, write_report};
use files::preprocess::preprocess;
use files::{Sources, keep, tensor_sources};
use pipeline::{analyze, compile};
use std::path::Path;

/// Does what a command line asks.
///
/// # Errors
/// See [`PipelineError`]; its `exit_status` is nvcc's.
pub fn run(invocation: &Invocation) -> Result<Outcome, PipelineError> {
    match invocation {
        Invocation::Print(text) => Ok(Outcome::print(text.clone())),
        Invocation::LayOut { folder, device } => {
            let made = lay_out(folder, *device, &|name| std::env::var(name).ok())?;
            Ok(Outcome::print(format!(
                "{} stands for the CUDA toolkit in {}, for the device {}\n",
                made.root.display(),
                made.underlying.display(),
                made.device.name()
            )))
        }
        Invocation::AskHostCompiler {
            compiler,
            arguments,
        } => Ok(Outcome::then_run(question(compiler.as_deref(), arguments)?)),
        Invocation::Plan {
            problem,
            planning,
            walks,
        } => {
            let text = problem_file::planned(problem, planning, *walks)?;
            Ok(Outcome::print(text))
        }
        Invocation::Train { arguments } => Ok(Outcome::then_run(problem_file::trainer(arguments)?)),
        Invocation::Build(build) => {
            let mut built = run_build(build);
            // The table is an output, too, which may be what was refused.
            let refused = matches!(
                built,
                Err(PipelineError::OutputIsInput(_) | PipelineError::TwoOutputs(_))
            );
            if !refused {
                write_times(build, built.as_mut().ok())?;
            }
            built
        }
        Invocation::Tune {
            build,
            pack,
            output,
        } => {
            check_names(build, vec![output.clone()])?;
            let toolchain = find_toolchain(build)?;
            let mut outcome = Outcome::default();
            let sources = Sources::of(build)?;
            outcome.warnings.push_str(&sources.notes);
            measure::tune(&sources.build, &toolchain, *pack, output, &mut outcome)?;
            Ok(outcome)
        }
        Invocation::Translate {
            build,
            emit,
            tuning,
            output,
        } => {
            check_names(build, output.iter().cloned().collect())?;
            let mut outcome = Outcome::default();
            let (text, notes) = tensor_sources::text(build, *emit, tuning.as_ref())?;
            outcome.warnings.push_str(&notes);
            write_or_print(output.as_deref(), text, outcome)
        }
        Invocation::Analyze {
            build,
            format,
            dependences,
            why,
            statistics,
            output,
        } => {
            check_names(build, output.iter().cloned().collect())?;
            let toolchain = find_toolchain(build)?;
            let mut outcome = Outcome::default();
            let sources = Sources::of(build)?;
            outcome.warnings.push_str(&sources.notes);
            let build = &sources.build;
            let gathered = objects::gather(build, &toolchain)?;
            let build = gathered.as_ref().map_or(build, |gathered| &gathered.build);
            let relate = outcome::relate_shown(*format, *dependences);
            let analysis = fallback::caught(|| analyze(build, &toolchain, relate, &mut outcome))?;
            let mut report = analysis.report(build);
            if let Some(statistics) = statistics {
                report.executed = Some(ReportExecuted::read(statistics, Figures::of_gpu(build))?);
            }
            let text = match why {
                Some(place) => forms::render_why(&report, place).map_err(PipelineError::Why)?,
                None => forms::render(&report, *format, *dependences),
            };
            write_or_print(output.as_deref(), text, outcome)
        }
    }
}

fn write_or_print(
    output: Option<&Path>,
    text: String,
    mut outcome: Outcome,
) -> Result<Outcome, PipelineError> {
    match output {
        None => outcome.standard_output.push_str(&text),
        Some(path) => write_report(path, &text)?,
    }
    Ok(outcome)
}

/// Builds what the phase asks for: one program of all inputs, or one file for each.
fn run_build(build: &Build) -> Result<Outcome, PipelineError> {
    let toolchain = find_toolchain(build)?;
    if build.verbose || build.dry_run {
        tell(format_args!(
            "{}",
            steps(build, &toolchain, &outputs(build))
        ));
    }
    let mut outcome = Outcome::default();
    if build.dry_run {
        return Ok(outcome);
    }
    check_names(build, outputs(build))?;
    if let Some(why) = reference::obstacle(build).filter(|_| build.sirius.reference) {
        let text = format!("sirius-rs: SIRIUS_REFERENCE has no effect here: {why}\n");
        outcome.warnings.push_str(&text);
    }
    if build.clean {
        keep::clean(build, outputs(build))?;
        return Ok(outcome);
    }
    let sources = Sources::of(build)?;
    outcome.warnings.push_str(&sources.notes);
    let build = &sources.build;
    keep::keep_preprocessed(build, &toolchain)?;
    let sources = build
        .inputs
        .iter()
        .filter(|input| input.language != Language::Object);
    match build.phase {
        Phase::Link => {
            let output = build.output.as_deref().unwrap_or(Path::new("a.out"));
            let program = program_to_run(build).unwrap_or(output);
            if program_to_run(build).is_none() {
                let has_reference = build.sirius.reference && reference::obstacle(build).is_none();
                in_private(output, |made| match has_reference {
                    true => reference::build_with_reference(build, made, &mut outcome),
                    false => measure::link_tuned(build, &toolchain, made, &mut outcome),
                })?;
                let note = codegen::note_on_openmp(build, output);
                outcome.warnings.push_str(&note.unwrap_or_default());
            }
            if let Some(arguments) = &build.run {
                outcome.then_run = run_afterwards(build, &toolchain, program, arguments)?;
            }
        }
        Phase::Library => {
            let output = build.output.as_deref().unwrap_or(Path::new("a.a"));
            in_private(output, |made| {
                make_library(build, &toolchain, made, &mut outcome)
            })?;
        }
        Phase::DeviceLink => {
            let output = build.output.as_deref().unwrap_or(Path::new("a_dlink.o"));
            in_private(output, |made| {
                link_device_code(build, &toolchain, made, &mut outcome)
            })?;
        }
        Phase::Preprocess => {
            for input in sources {
                let text = preprocess(build, &toolchain, input)?;
                outcome.standard_output.push_str(&text);
            }
            if let Some(output) = &build.output {
                write_report(output, &std::mem::take(&mut outcome.standard_output))?;
            }
        }
        Phase::Compile | Phase::Ptx | Phase::Cubin | Phase::Fatbin => {
            for input in sources {
                let output = build
                    .output
                    .clone()
                    .unwrap_or_else(|| default_output(build, input));
                let single = build.of_one(input);
                in_private(&output, |made| match build.cxx_form {
                    _ if input.language == Language::Ptx => {
                        compile_ptx(input, &single, &toolchain, made, &mut outcome)
                    }
                    true => compile_to_cxx(&single, &toolchain, made, &mut outcome),
                    false => compile(&single, &toolchain, made, &mut outcome),
                })?;
            }
        }
    }
    Ok(outcome)
}
