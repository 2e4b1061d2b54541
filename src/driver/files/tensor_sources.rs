//! Tensor definitions among the inputs: CUDA sources in their place, and a folder with their headers.

use super::super::outcome::PipelineError;
use super::temporary_folder;
use crate::build::{Build, Input, Language, TensorForm};
use crate::files::write_whole;
use crate::output::colours;
use crate::tensor::fault::Fault;
use crate::tensor::stitch::parser::parse;
use crate::tensor::stitch::template::Template;
use crate::tensor::transform::schedule::schedule_of;
use crate::tensor::{self, Translation, Wrong, stitch};
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
    let given = Given::read(&build)?;
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
        let made = translated(&input.path, build.sirius.tensor, &given)?;
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
    let given = Given::read(build)?;
    for input in &build.inputs {
        let options = build.sirius.tensor;
        match emit {
            TensorForm::Cuda => text += &translated(&input.path, options, &given)?.source,
            TensorForm::Header => text += &translated(&input.path, options, &given)?.header,
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
                let stitched = tensor::stitched(&functions, options, &given.templates);
                let stitched = stitched.map_err(|fault| given.wrong(&fault))?;
                for (number, one) in stitched.iter().enumerate() {
                    let steps = one.steps(options).map_err(|fault| given.wrong(&fault))?;
                    text += if number == 0 { "" } else { "\n" };
                    text += &schedule_of(&one.function, &steps);
                }
            }
            TensorForm::Template => {
                let functions = checked(&input.path, tensor::check)?;
                let each = functions.iter().map(|function| {
                    let mut templates = given.templates.iter();
                    let by_hand = templates.find(|template| template.name.text == function.name);
                    let template = by_hand.cloned();
                    let template = template.unwrap_or_else(|| stitch::chosen(function, options));
                    template.to_string()
                });
                text += &each.collect::<Vec<String>>().join("\n");
            }
        }
    }
    Ok(text)
}

fn translated(
    path: &Path,
    options: tensor::Options,
    given: &Given,
) -> Result<Translation, PipelineError> {
    let name = path.display().to_string();
    // What is wrong with a template stands in its own text.
    let mut wrong = None;
    let made = checked(path, |text| {
        match tensor::translate_by(&name, text, options, &given.templates) {
            Ok(made) => Ok(Some(made)),
            Err(Wrong::Definitions(faults)) => Err(faults),
            Err(Wrong::Template(fault)) => {
                wrong = Some(given.wrong(&fault));
                Ok(None)
            }
        }
    })?;
    match (made, wrong) {
        (Some(made), _) => Ok(made),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("a step makes something or fails"),
    }
}

/// Implementation templates that are given.
#[derive(Default)]
struct Given {
    /// The text as messages name it.
    name: String,
    text: String,
    templates: Vec<Template>,
}

impl Given {
    /// Reads what the option names: a file, or the text itself.
    fn read(build: &Build) -> Result<Self, PipelineError> {
        let Some(option) = &build.sirius.tensor_template else {
            return Ok(Self::default());
        };
        let (name, text) = match option.contains('{') {
            true => ("--sirius-template".to_owned(), option.clone()),
            false => {
                let text =
                    std::fs::read_to_string(option).map_err(|error| PipelineError::Read {
                        path: option.into(),
                        error,
                    })?;
                (option.clone(), text)
            }
        };
        let mut given = Self {
            name,
            text,
            templates: Vec::new(),
        };
        given.templates = parse(&given.text).map_err(|fault| given.wrong(&fault))?;
        let mut definitions = Vec::new();
        for input in &build.inputs {
            if input.language == Language::Tensor {
                let functions = checked(&input.path, tensor::check)?;
                definitions.extend(functions.into_iter().map(|function| function.name));
            }
        }
        let unknown = |template: &&Template| !definitions.contains(&template.name.text);
        match given.templates.iter().find(unknown) {
            Some(template) => {
                let message = format!("there is no definition '{}'", template.name.text);
                Err(given.wrong(&Fault::new(template.name.span, message)))
            }
            None => Ok(given),
        }
    }

    fn wrong(&self, fault: &Fault) -> PipelineError {
        PipelineError::Tensor(fault.render(&self.name, &self.text, colours()))
    }
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
