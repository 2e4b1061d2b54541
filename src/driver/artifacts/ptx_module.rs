//! A PTX file -> a file of kernels for the CPU device.
//!
//! Programs load PTX whenever they run, so that what was made of a text is kept for the next time.

use super::super::exchanges;
use super::super::outcome::{Outcome, PipelineError};
use crate::build::{Architecture, Build, Input, Phase};
use crate::cache::{Entry, put, tools_as_text};
use crate::codegen;
use crate::files::write_whole;
use crate::program::{ptx_architecture, read_ptx};
use crate::tools::Toolchain;
use inkwell::context::Context;
use std::path::Path;

/// `-cubin` or `-fatbin` of a `.ptx`.
///
/// # Errors
/// See [`PipelineError`].
pub(in crate::driver) fn compile_ptx(
    input: &Input,
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let bytes = std::fs::read(&input.path).map_err(|error| PipelineError::Write {
        path: input.path.clone(),
        error,
    })?;
    let text = String::from_utf8_lossy(&bytes);
    // Fat binaries hold texts that end with zeros.
    let text = text.trim_end_matches('\0');
    let entry = made_from(text, build, toolchain).and_then(|made| Entry::of("ptx", made));
    if let Some(parts) = entry.as_ref().and_then(Entry::take)
        && let [library] = parts.as_slice()
    {
        return write(output, library);
    }
    let number = ptx_architecture(input, text)?.max(OLDEST_ARCHITECTURE);
    let build = Build {
        phase: Phase::Cubin,
        inputs: vec![input.clone()],
        architectures: vec![Architecture {
            number,
            machine_code: true,
            ..build.architectures[0]
        }],
        ..build.clone()
    };
    let context = Context::create();
    let mut program = read_ptx(&context, (input, text), &build)?;
    exchanges::keep_unfused(&mut program, &build, outcome)?;
    let said = codegen::emit_device_only(&program, &build, toolchain, output)?;
    outcome.warnings.push_str(&said);
    if let (Some(entry), Ok(library)) = (entry, std::fs::read(output)) {
        entry.keep(&[&library]);
    }
    Ok(())
}

/// The oldest one that LLVM still knows.
const OLDEST_ARCHITECTURE: u32 = 50;

fn write(output: &Path, library: &[u8]) -> Result<(), PipelineError> {
    write_whole(output, library).map_err(|error| PipelineError::Write {
        path: output.to_owned(),
        error,
    })
}

/// All that the file depends on; `None` where a tool cannot be looked at.
fn made_from(text: &str, build: &Build, toolchain: &Toolchain) -> Option<Vec<u8>> {
    let options = (build.optimisation, build.device_optimised, build.numerics);
    let tools = [toolchain.clang.as_path(), toolchain.libdevice.as_path()];
    let mut bytes = Vec::new();
    put(
        &mut bytes,
        format!("{options:?} {:?}", toolchain.version).as_bytes(),
    );
    put(&mut bytes, tools_as_text(tools)?.as_bytes());
    put(&mut bytes, text.as_bytes());
    Some(bytes)
}
