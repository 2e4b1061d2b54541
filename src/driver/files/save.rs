//! `SIRIUS_SAVE_DIR`: everything that a report of a bug needs, one folder a run of the compiler.
//!
//! Invariant: the folder is filled as the build goes on, sources and command first, so that what a run
//! that ends early has come to is there.

use super::super::facts::Analysis;
use super::super::outcome::{Outcome, PipelineError, as_json};
use crate::build::{Build, Input, Language, ReportFormat};
use crate::program::Program;
use crate::report;
use crate::tools::{Toolchain, run_tool};
use std::path::{Path, PathBuf};

/// Makes the folder of a build, with the command line and the sources with their headers, and returns
/// the build that fills it.
///
/// # Errors
/// When it cannot be written.
pub(in crate::driver) fn begin(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
) -> Result<Build, PipelineError> {
    // The folder of a link is made before its objects are exchanged for bitcode.
    let is_begun = build.inputs.iter().any(|input| input.bitcode.is_some());
    let Some(parent) = build.sirius.save_directory.as_ref().filter(|_| !is_begun) else {
        return Ok(build.clone());
    };
    let name = build.output.as_deref().unwrap_or(output);
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    let folder = (0..)
        .map(|number| parent.join(format!("{name}-{}-{number}", std::process::id())))
        .find(|folder| !folder.exists())
        .unwrap_or_else(|| parent.join("full"));
    let sources = folder.join("sources");
    std::fs::create_dir_all(&sources).map_err(failed(&sources))?;
    let here = std::env::current_dir().unwrap_or_default();
    for input in &build.inputs {
        for file in files_of(build, toolchain, input) {
            let absolute = std::path::absolute(here.join(&file)).unwrap_or(file);
            let kept = inside(&sources, &absolute);
            let parent = kept.parent().unwrap_or(&sources);
            std::fs::create_dir_all(parent).map_err(failed(parent))?;
            // A file that is not there is the user's error, which clang says.
            let _ = std::fs::copy(&absolute, &kept);
        }
    }
    let from = inside(Path::new("sources"), &here);
    let script = format!(
        "#!/bin/sh\n# Version {}; {}; toolkit {}.{}.\n\
         cd \"$(dirname \"$0\")/{}\" && exec {}\n",
        env!("CARGO_PKG_VERSION"),
        toolchain.clang.display(),
        toolchain.version.0,
        toolchain.version.1,
        from.display(),
        build.sirius.command,
    );
    let directory = sources.join(here.strip_prefix("/").unwrap_or(&here));
    std::fs::create_dir_all(&directory).map_err(failed(&directory))?;
    write(&folder.join("command.sh"), &script)?;
    let mut build = build.clone();
    build.sirius.save_directory = Some(folder);
    Ok(build)
}

/// Writes what a stage came to.
///
/// # Errors
/// When it cannot be written.
pub(in crate::driver) fn stage(
    build: &Build,
    name: &str,
    text: impl FnOnce() -> String,
) -> Result<(), PipelineError> {
    match &build.sirius.save_directory {
        None => Ok(()),
        Some(folder) => write(&folder.join(name), &text()),
    }
}

/// Writes a program as it was read.
///
/// # Errors
/// When it cannot be written.
pub(in crate::driver) fn program(
    build: &Build,
    program: &Program<'_>,
) -> Result<(), PipelineError> {
    stage(build, "host.before.ll", || program.host.to_string())?;
    for (index, unit) in program.units.iter().enumerate() {
        let name = format!("device{index}.before.ll");
        stage(build, &name, || unit.device.to_string())?;
        for (target, newer) in &unit.newer {
            let name = format!("device{index}.compute_{target}.before.ll");
            stage(build, &name, || newer.to_string())?;
        }
    }
    Ok(())
}

/// Writes the plan and what it was made from.
///
/// # Errors
/// When it cannot be written.
pub(in crate::driver) fn analysis(build: &Build, analysis: &Analysis) -> Result<(), PipelineError> {
    let facts = &analysis.facts;
    stage(build, "graph.json", || as_json(&facts.graph))?;
    stage(build, "models.json", || as_json(&facts.models))?;
    stage(build, "plan.json", || as_json(analysis.plan.plan()))?;
    stage(build, "report.txt", || {
        report::render(&analysis.report(build), ReportFormat::Text, true)
    })
}

/// Writes what the run says.
///
/// # Errors
/// When it cannot be written.
pub(in crate::driver) fn messages(build: &Build, outcome: &Outcome) -> Result<(), PipelineError> {
    stage(build, "messages.txt", || {
        let summary = outcome.summary.as_deref().unwrap_or("nothing was fused");
        format!("{}{summary}\n", outcome.warnings)
    })
}

/// An input and the headers that it includes, but for those of the system.
fn files_of(build: &Build, toolchain: &Toolchain, input: &Input) -> Vec<PathBuf> {
    let mut files = vec![input.path.clone()];
    if input.language == Language::Object {
        return files;
    }
    let mut arguments = vec!["-MM".to_owned()];
    if input.language == Language::Cuda {
        let toolkit = format!("--cuda-path={}", toolchain.toolkit.display());
        arguments.extend(["-x", "cuda", "--cuda-host-only"].map(str::to_owned));
        arguments.push(toolkit);
    }
    arguments.extend(build.front_end_arguments.iter().cloned());
    arguments.push(input.path.display().to_string());
    let quiet = Build {
        verbose: false,
        ..build.clone()
    };
    // What does not compile has no list; the source itself is there.
    let Ok(said) = run_tool(&toolchain.clang, &arguments, &quiet) else {
        return files;
    };
    let text = String::from_utf8_lossy(&said.stdout).replace("\\\n", " ");
    let names = text.split_once(": ").map_or("", |(_, names)| names);
    // Spaces within names are written as `\ `.
    for name in names.replace("\\ ", "\0").split_whitespace() {
        let name = PathBuf::from(name.replace('\0', " "));
        if !files.contains(&name) {
            files.push(name);
        }
    }
    files
}

fn inside(folder: &Path, absolute: &Path) -> PathBuf {
    folder.join(absolute.strip_prefix("/").unwrap_or(absolute))
}

fn write(path: &Path, text: &str) -> Result<(), PipelineError> {
    std::fs::write(path, text).map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> PipelineError {
    let path = path.to_owned();
    |error| PipelineError::Write { path, error }
}
