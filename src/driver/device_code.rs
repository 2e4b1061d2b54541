//! Relocatable device code: objects without an image of their own, and device links.

use super::artifacts::{objects_of_inputs, temporary_folder};
use super::objects::{self, Gathered};
use super::outcome::{Outcome, PipelineError, unfused};
use super::{compile, keep_bitcode};
use crate::build::DependencyOptions;
use crate::build::{Build, Input, Language, Phase};
use crate::codegen;
use crate::launch::LaunchGraph;
use crate::program::{read_device_link, read_relocatable_unit};
use crate::tools::Toolchain;
use inkwell::context::Context;
use std::path::Path;

/// The source of a build that ends as an object whose device code is linked later.
pub(super) fn relocatable_source(build: &Build) -> Option<&Input> {
    match build.inputs.as_slice() {
        [input] if build.phase == Phase::Compile && build.relocatable => {
            Some(input).filter(|input| input.language == Language::Cuda)
        }
        _ => None,
    }
}

/// `-dc`: the host side of a source, and the bitcode of both sides beside it.
pub(super) fn compile_relocatable(
    input: &Input,
    (build, toolchain): (&Build, &Toolchain),
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let context = Context::create();
    let program = read_relocatable_unit(&context, input, (build, toolchain))?;
    outcome.warnings.push_str(&program.warnings);
    let said = codegen::emit_host_only(&program, build, toolchain, output)?;
    outcome.warnings.push_str(&said);
    keep_ptx(input, build, toolchain)?;
    keep_bitcode((&program, false), build, toolchain, output)
}

/// With `-keep`: the PTX of a source whose device code is linked later, of which an object has none.
fn keep_ptx(input: &Input, build: &Build, toolchain: &Toolchain) -> Result<(), PipelineError> {
    let Some(folder) = &build.keep_directory else {
        return Ok(());
    };
    let stem = input.path.file_stem().unwrap_or_default().to_string_lossy();
    for architecture in &build.architectures {
        let of_one = Build {
            phase: Phase::Ptx,
            architectures: vec![*architecture],
            keep_directory: None,
            dependencies: DependencyOptions::default(),
            ..build.clone()
        };
        let place = codegen::ptx::ptx_place(architecture.target(), build, folder, &stem);
        // What clang has to say was said.
        compile(&of_one, toolchain, &place, &mut Outcome::default())?;
    }
    Ok(())
}

/// `-dlink`: an object with the device code of all relocatable inputs. Sources are compiled for that alone.
pub(super) fn link_device_code(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let folder = temporary_folder()?;
    let objects = objects_of_inputs(build, toolchain, folder.path(), outcome)?;
    let inputs = objects.into_iter().map(|path| Input {
        path,
        language: Language::Object,
        bitcode: None,
    });
    let build = &Build {
        inputs: inputs.collect(),
        ..build.clone()
    };
    let gathered = objects::gather_device_link(build)?;
    emit_device_link(&gathered, toolchain, output, outcome)
}

/// A link that stays as it is: with a device link of what needs one, in `folder`.
pub(super) fn with_device_link(
    build: &Build,
    toolchain: &Toolchain,
    folder: &Path,
    outcome: &mut Outcome,
) -> Result<Build, PipelineError> {
    let mut build = build.clone();
    if let Some(gathered) = objects::unlinked_device_code(&build)? {
        let object = folder.join("device_link.o");
        emit_device_link(&gathered, toolchain, &object, outcome)?;
        build.inputs.push(Input {
            path: object,
            language: Language::Object,
            bitcode: None,
        });
    }
    Ok(build)
}

fn emit_device_link(
    gathered: &Gathered,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let build = &gathered.build;
    let context = Context::create();
    let program = read_device_link(&context, (build, toolchain))?;
    outcome.warnings.push_str(&program.warnings);
    let graph = LaunchGraph::default();
    let plan = unfused(&graph, &[])?;
    let bench = codegen::Workbench::new(build, toolchain)?;
    let units = codegen::emit_units(&program, &bench)?;
    let emitted = codegen::emit(
        &program,
        (&graph, &[], &plan),
        (units, None),
        &bench,
        output,
    )?;
    outcome.warnings.push_str(&emitted.messages);
    Ok(objects::note_device_link(build, toolchain, output)?)
}
