//! Device links: device code of several sources that becomes one.

use super::super::facts::Facts;
use super::super::files::temporary_folder;
use super::super::objects::{self, Gathered};
use super::super::outcome::{Outcome, PipelineError};
use super::link::objects_of_inputs;
use crate::build::{Build, Input, Language};
use crate::codegen;
use crate::program::read_device_link;
use crate::tools::Toolchain;
use inkwell::context::Context;
use std::path::Path;

/// `-dlink`: an object with the device code of all relocatable inputs. Sources are compiled for that alone.
pub(in crate::driver) fn link_device_code(
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
pub(in crate::driver) fn with_device_link(
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
    let nothing = Facts::default();
    let plan = nothing.unfused()?;
    let bench = codegen::Workbench::new(build, toolchain)?;
    let units = codegen::emit_units(&program, &bench)?;
    let emitted = codegen::emit(
        &program,
        (&nothing.graph, nothing.models.as_slice(), &plan),
        (units, None),
        &bench,
        output,
    )?;
    outcome.warnings.push_str(&emitted.messages);
    Ok(objects::note_device_link(build, toolchain, output)?)
}
