//! Tensor definitions among the inputs: CUDA sources in their place, and a folder with their headers.

use super::super::outcome::PipelineError;
use super::temporary_folder;
use crate::build::{Build, Device, Input, Language, TensorForm, TensorTuning};
use crate::files::write_whole;
use crate::output::colours;
use crate::tensor::fault::Fault;
use crate::tensor::program::Function;
use crate::tensor::{self, Translation};
use crate::tune::Figures;
use crate::tune::definitions::{Entry, Known, Request, sizes_of};
use std::path::Path;
use std::time::Duration;
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
/// As [`as_cuda`]; and definitions cannot be tuned.
pub(in crate::driver) fn text(
    build: &Build,
    emit: TensorForm,
    tuning: Option<&TensorTuning>,
) -> Result<String, PipelineError> {
    let mut text = String::new();
    for input in &build.inputs {
        let path = input.path.as_path();
        let functions = checked(path, tensor::check)?;
        let chosen = match tuning {
            Some(tuning) => Some(tuned(build, &functions, tuning)?),
            None => None,
        };
        let mut options = Vec::new();
        for (number, _) in functions.iter().enumerate() {
            let given = build.sirius.tensor;
            // Entries were looked at when they were read.
            let entry = chosen.as_ref().map(|entries| &entries[number]);
            options.push(entry.map_or(given, |entry| entry.apply(given).unwrap_or(given)));
        }
        let with_options = || functions.iter().zip(options.iter().copied());
        let translated = || {
            let mut options = options.iter().copied();
            let name = path.display().to_string();
            checked(path, |text| {
                tensor::translate_each(&name, text, |_| options.next().unwrap_or_default())
            })
        };
        match emit {
            TensorForm::Cuda => text += &translated()?.source,
            TensorForm::Header => text += &translated()?.header,
            TensorForm::Ir => {
                let each = functions.iter().map(tensor::describe::describe);
                text += &each.collect::<Vec<String>>().join("\n");
            }
            TensorForm::Signature => {
                let of = |written: &str| {
                    let file = (path, written);
                    Ok(tensor::signature::signatures(&functions, file))
                };
                text += &checked(path, of)?;
            }
            TensorForm::Schedule => {
                let each = with_options().map(|(function, options)| {
                    tensor::transform::schedule::schedule(function, options)
                });
                text += &each.collect::<Vec<String>>().join("\n");
            }
            TensorForm::Options => {
                let mut known = Known::default();
                chosen
                    .into_iter()
                    .flatten()
                    .for_each(|entry| known.keep(entry));
                text += &known.text();
            }
        }
    }
    Ok(text)
}

/// What is known or found of each definition; what is found is kept.
fn tuned(
    build: &Build,
    functions: &[Function],
    tuning: &TensorTuning,
) -> Result<Vec<Entry>, PipelineError> {
    let mut known = match &tuning.known {
        Some(path) => Known::read(path)?,
        None => Known::default(),
    };
    let before = known.clone();
    let figures = match build.device {
        Device::Cpu => Figures::of(Device::Cpu, 0),
        Device::Cuda => Figures::of_gpu(build),
    };
    let mut entries = Vec::new();
    for function in functions {
        let request = Request {
            function,
            sizes: &sizes_of(function, &tuning.sizes)?,
            options: build.sirius.tensor,
            figures,
            seed: build.sirius.tuning.seed,
            budget: Duration::from_secs(build.sirius.tuning.budget_seconds),
        };
        entries.push(request.answered(&mut known));
    }
    if let Some(path) = &tuning.known
        && known != before
    {
        known.write(path)?;
    }
    Ok(entries)
}

fn translated(path: &Path, options: tensor::Options) -> Result<Translation, PipelineError> {
    let name = path.display().to_string();
    checked(path, |text| tensor::translate(&name, text, options))
}

/// What a step makes of a file of definitions, or the messages about it.
fn checked<T>(
    path: &Path,
    mut step: impl FnMut(&str) -> Result<T, Vec<Fault>>,
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
