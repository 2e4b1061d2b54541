//! Tensor definitions among the inputs: CUDA sources in their place, and a folder with their headers.

use super::super::outcome::PipelineError;
use super::temporary_folder;
use crate::build::{Build, Input, Language, TensorForm};
use crate::files::write_whole;
use crate::output::colours;
use crate::tensor::fault::Fault;
use crate::tensor::{self, Translation};
use std::path::Path;
use tempfile::TempDir;

/// The same build with CUDA sources in place of tensor definitions, where there are any, and the folder that keeps them.
///
/// # Errors
/// The definitions are wrong, or files cannot be read or written.
pub(in crate::driver) fn as_cuda(build: &Build) -> Result<Option<(Build, TempDir)>, PipelineError> {
    let is_tensor = |input: &&Input| input.language == Language::Tensor;
    if !build.inputs.iter().any(|input| is_tensor(&input)) {
        return Ok(None);
    }
    let folder = temporary_folder()?;
    let headers = folder.path().join("include");
    make_folder(&headers)?;
    let mut build = build.clone();
    let mut names: Vec<String> = Vec::new();
    for (number, input) in build.inputs.iter_mut().enumerate() {
        if !is_tensor(&&*input) {
            continue;
        }
        let name = input
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if names.contains(&name) {
            return Err(PipelineError::TwoHeaders(name));
        }
        let made = translated(&input.path, build.sirius.tensor)?;
        write(&headers.join(format!("{name}.h")), &made.header)?;
        // Outputs without a name have that of the source.
        let own = folder.path().join(number.to_string());
        make_folder(&own)?;
        let stem = Path::new(&name).with_extension("cu");
        // Messages and reports speak of what `--sirius-tc-emit` shows.
        let source = format!("#line 1 \"{name}.cu\"\n{}", made.source);
        write(&own.join(&stem), &source)?;
        if let Some(shown) = &build.sirius.tensor_emit {
            make_folder(shown)?;
            write(&shown.join(format!("{name}.h")), &made.header)?;
            write(&shown.join(format!("{name}.cu")), &made.source)?;
        }
        names.push(name);
        input.path = own.join(stem);
        input.language = Language::Cuda;
    }
    let include = format!("-I{}", headers.display());
    build.front_end_arguments.push(include);
    Ok(Some((build, folder)))
}

/// `sirius-rs tc`: the text that is asked for.
///
/// # Errors
/// As [`as_cuda`].
pub(in crate::driver) fn text(build: &Build, emit: TensorForm) -> Result<String, PipelineError> {
    let mut text = String::new();
    for input in &build.inputs {
        let options = build.sirius.tensor;
        match emit {
            TensorForm::Cuda => text += &translated(&input.path, options)?.source,
            TensorForm::Header => text += &translated(&input.path, options)?.header,
            TensorForm::Ir => {
                let functions = checked(&input.path, tensor::check)?;
                let each = functions.iter().map(tensor::describe::describe);
                text += &each.collect::<Vec<String>>().join("\n");
            }
            TensorForm::Signature => {
                let of = |written: &str| {
                    let functions = tensor::check(written)?;
                    let file = (input.path.as_path(), written);
                    Ok(tensor::signature::signatures(&functions, file))
                };
                text += &checked(&input.path, of)?;
            }
            TensorForm::Schedule => {
                let functions = checked(&input.path, tensor::check)?;
                let each = functions
                    .iter()
                    .map(|function| tensor::transform::schedule::schedule(function, options));
                text += &each.collect::<Vec<String>>().join("\n");
            }
        }
    }
    Ok(text)
}

fn translated(path: &Path, options: tensor::Options) -> Result<Translation, PipelineError> {
    let name = path.display().to_string();
    checked(path, |text| tensor::translate(&name, text, options))
}

/// What a step makes of a file of definitions, or the messages about it.
fn checked<T>(
    path: &Path,
    step: impl Fn(&str) -> Result<T, Vec<Fault>>,
) -> Result<T, PipelineError> {
    let text = std::fs::read_to_string(path).map_err(|error| PipelineError::Read {
        path: path.to_owned(),
        error,
    })?;
    let name = path.display().to_string();
    step(&text).map_err(|faults| {
        let messages = faults
            .iter()
            .map(|fault| fault.render(&name, &text, colours()));
        PipelineError::Tensor(messages.collect())
    })
}

fn make_folder(folder: &Path) -> Result<(), PipelineError> {
    std::fs::create_dir_all(folder).map_err(|error| PipelineError::Write {
        path: folder.to_owned(),
        error,
    })
}

fn write(path: &Path, text: &str) -> Result<(), PipelineError> {
    write_whole(path, text.as_bytes()).map_err(|error| PipelineError::Write {
        path: path.to_owned(),
        error,
    })
}
