//! What is made of several inputs at once: programs, libraries, and the run of a program.

use super::super::files::link_cache::LinkCache;
use super::super::files::outputs::{default_output, write_report};
use super::super::files::{save, temporary_folder};
use super::super::objects;
use super::super::outcome::{Outcome, PipelineError};
use super::super::pipeline::compile;
use super::device_code::with_device_link;
use crate::build::{Build, Input, Language, Phase};
use crate::codegen;
use crate::output::tell;
use crate::program::ProgramError;
use crate::tools::Toolchain;
use crate::tools::command::command_line;
use crate::tools::toolchain::find_clang;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Links a program, compiling its sources and those of objects that keep their bitcode as one; where the
/// bitcode does not link, the objects do.
pub(in crate::driver) fn link_program(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let folder = temporary_folder()?;
    if let Some(mut gathered) = objects::gather(build, toolchain)? {
        // What is kept of the run are the objects.
        gathered.build.sirius = save::begin(build, toolchain, output)?.sirius;
        outcome.warnings.push_str(&gathered.warnings);
        let build = with_device_link(&gathered.build, toolchain, folder.path(), outcome)?;
        match link_bitcode(&build, toolchain, output, outcome) {
            Err(PipelineError::Program(error)) if !is_users(&error) => outcome.warnings.push_str(
                &format!("sirius-rs: {error}\nsirius-rs: the objects are linked as they are\n"),
            ),
            // Neither they nor the program as a whole has anything fused.
            Ok(()) if outcome.objects_as_they_are => {}
            result => return result,
        }
    }
    let build = &with_device_link(build, toolchain, folder.path(), outcome)?;
    let is_object = |input: &Input| input.language == Language::Object;
    if build.inputs.iter().all(is_object) {
        let said = codegen::link_objects(&[], build, toolchain, output)?;
        outcome.warnings.push_str(&said);
        return Ok(());
    }
    compile(build, toolchain, output, outcome)
}

/// Compiles a program of which all is bitcode, or takes what came of the same before.
fn link_bitcode(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let Some(cache) = LinkCache::of(build, toolchain) else {
        return compile(build, toolchain, output, outcome);
    };
    if let Some(linked) = cache.take() {
        let said = codegen::link_objects(&linked.objects, build, toolchain, output)?;
        outcome.warnings.push_str(&linked.warnings);
        outcome.warnings.push_str(&said);
        outcome.summary = linked.summary;
        return Ok(());
    }
    let mut compiled = Outcome::default();
    compile(build, toolchain, output, &mut compiled)?;
    cache.keep(&compiled);
    outcome.objects_as_they_are = compiled.objects_as_they_are;
    outcome.warnings.push_str(&compiled.warnings);
    outcome.summary = compiled.summary;
    Ok(())
}

/// Whether linking objects as they are would fail as well.
fn is_users(error: &ProgramError) -> bool {
    matches!(
        error,
        ProgramError::FrontEnd { .. } | ProgramError::DeviceLink(_)
    )
}

/// `-lib`: compiles the sources as `-c` does, and makes an archive of all objects.
pub(in crate::driver) fn make_library(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let folder = temporary_folder()?;
    let objects = objects_of_inputs(build, toolchain, folder.path(), outcome)?;
    Ok(codegen::archive(build, toolchain, &objects, output)?)
}

/// The objects among the inputs, and those of the sources among them, which are made in `folder`.
pub(in crate::driver) fn objects_of_inputs(
    build: &Build,
    toolchain: &Toolchain,
    folder: &Path,
    outcome: &mut Outcome,
) -> Result<Vec<PathBuf>, PipelineError> {
    let mut objects = Vec::new();
    for (index, input) in build.inputs.iter().enumerate() {
        if input.language == Language::Object {
            objects.push(input.path.clone());
            continue;
        }
        let single = Build {
            inputs: vec![input.clone()],
            phase: Phase::Compile,
            ..build.clone()
        };
        // Sources of one name in different folders are different members.
        let place = folder.join(index.to_string());
        std::fs::create_dir(&place).map_err(|error| PipelineError::Write {
            path: place.clone(),
            error,
        })?;
        let object = place.join(default_output(&single, input));
        compile(&single, toolchain, &object, outcome)?;
        objects.push(object);
    }
    Ok(objects)
}

/// `-cuda`: compiles a source as `-c` does, and writes the object as a C++ source.
pub(in crate::driver) fn compile_to_cxx(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let folder = temporary_folder()?;
    let object = folder.path().join("object.o");
    compile(build, toolchain, &object, outcome)?;
    // None where an earlier stage was the last.
    let Ok(bytes) = std::fs::read(&object) else {
        return Ok(());
    };
    write_report(output, &objects::cxx_form(&bytes, output)?)
}

/// What the host compiler is asked about itself, as a command of its own.
///
/// # Errors
/// There is no clang.
pub(in crate::driver) fn question(
    compiler: Option<&Path>,
    arguments: &[String],
) -> Result<Command, PipelineError> {
    let clang = || find_clang(&|name| std::env::var(name).ok());
    let compiler = compiler.map_or_else(clang, |compiler| Ok(compiler.to_owned()))?;
    let mut command = Command::new(compiler);
    command.args(arguments);
    Ok(command)
}

/// The input of `-run PROGRAM`, which is neither a source nor for the linker.
pub(in crate::driver) fn program_to_run(build: &Build) -> Option<&Path> {
    match build.inputs.as_slice() {
        [input] if input.language == Language::Object && input.path.extension().is_none() => {
            build.run.as_ref().map(|_| input.path.as_path())
        }
        _ => None,
    }
}

/// `-run`: the program as a command of its own, with the toolkit's libraries within reach.
pub(in crate::driver) fn run_afterwards(
    build: &Build,
    toolchain: &Toolchain,
    program: &Path,
    arguments: &[String],
) -> Result<Option<Command>, PipelineError> {
    if build.verbose {
        tell(format_args!("#$ {}\n", command_line(program, arguments)));
    }
    let path = program
        .canonicalize()
        .map_err(|error| PipelineError::Write {
            path: program.to_owned(),
            error,
        })?;
    let mut folders = vec![toolchain.toolkit_lib.clone()];
    folders.extend(std::env::split_paths(
        &std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default(),
    ));
    let mut command = Command::new(path);
    command.args(arguments);
    if let Ok(folders) = std::env::join_paths(folders) {
        command.env("LD_LIBRARY_PATH", folders);
    }
    Ok(Some(command))
}
