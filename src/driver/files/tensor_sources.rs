//! Tensor definitions among the inputs: CUDA sources in their place, and a folder with their headers.

use super::super::outcome::PipelineError;
use super::known_options::{KnownVersions, figures, place};
use super::temporary_folder;
use crate::build::{Build, Input, Language, TensorForm, TensorTuning};
use crate::files::write_whole;
use crate::output::colours;
use crate::tensor::canonical;
use crate::tensor::fault::Fault;
use crate::tensor::program::Function;
use crate::tensor::stitch::parser::parse;
use crate::tensor::stitch::template::Template;
use crate::tensor::transform::schedule::{schedule, schedule_of};
use crate::tensor::versions::{Choice, Chosen, Versions, When};
use crate::tensor::{self, Translation, Wrong, stitch};
use crate::tune::definitions::{Entry, Known, Request, key, sizes_of};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A build with CUDA sources in place of tensor definitions.
pub(in crate::driver) struct Made {
    /// The build.
    pub(in crate::driver) build: Build,
    /// What keeps the sources.
    pub(in crate::driver) folder: TempDir,
    /// What is to be said, for standard error.
    pub(in crate::driver) notes: String,
}

/// The same build with CUDA sources in place of tensor definitions, where there are any, and the folder that keeps them.
///
/// # Errors
/// The definitions are wrong, or files cannot be read or written.
pub(in crate::driver) fn as_cuda(build: &Build) -> Result<Option<Made>, PipelineError> {
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
    let known = KnownVersions::read(&build)?;
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
        let made = translated(&input.path, &|each| known.choice(each), &given)?;
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
    build.made_of_definitions = names.iter().map(|name| format!("{name}.cu")).collect();
    let include = format!("-I{}", headers.display());
    build.front_end_arguments.push(include);
    Ok(Some(Made {
        build,
        folder,
        notes: known.into_notes(),
    }))
}

/// `sirius-rs tc`: the text that is asked for, and what is to be said of it.
///
/// # Errors
/// As [`as_cuda`]; and definitions cannot be tuned.
pub(in crate::driver) fn text(
    build: &Build,
    emit: TensorForm,
    tuning: Option<&TensorTuning>,
) -> Result<(String, String), PipelineError> {
    let mut text = String::new();
    let given = Given::read(build)?;
    let known = KnownVersions::read(build)?;
    for input in &build.inputs {
        let path = input.path.as_path();
        let functions = checked(path, tensor::check)?;
        let chosen = match tuning {
            Some(tuning) => Some(tuned(build, &functions, tuning)?),
            None => None,
        };
        let choice_of = |function: &Function| {
            let Some(chosen) = &chosen else {
                return known.choice(function);
            };
            let given = build.sirius.tensor;
            let mut all = functions.iter().zip(chosen);
            // Entries that are taken were understood.
            let entry = all.find(|(known, _)| known.name == function.name);
            let chosen = entry.and_then(|(_, entry)| entry.apply(function, given).ok());
            Choice {
                general: chosen.unwrap_or_else(|| given.into()),
                known: Vec::new(),
            }
        };
        match emit {
            TensorForm::Cuda => text += &translated(path, &choice_of, &given)?.source,
            TensorForm::Header => text += &translated(path, &choice_of, &given)?.header,
            TensorForm::Ir => {
                let each = functions.iter().map(tensor::describe::describe);
                text += &each.collect::<Vec<String>>().join("\n");
            }
            TensorForm::Signature => {
                let of = |written: &str| {
                    let file = (path, written);
                    let of =
                        |function: &Function| key(function, build.sirius.tensor, figures(build));
                    Ok(tensor::signature::signatures(&functions, file, &of))
                };
                text += &checked(path, of)?;
            }
            TensorForm::Schedule => text += &schedules(&functions, &choice_of, &given)?,
            TensorForm::Template => {
                let each = functions.iter().map(|function| {
                    let mut templates = given.templates.iter();
                    let by_hand = templates.find(|template| template.name.text == function.name);
                    let Chosen { options, template } = choice_of(function).general;
                    let template = by_hand.cloned().or(template);
                    let chosen = || stitch::chosen(function, options);
                    template.unwrap_or_else(chosen).to_string()
                });
                text += &each.collect::<Vec<String>>().join("\n");
            }
            TensorForm::Options => {
                let mut found = Known::default();
                chosen
                    .into_iter()
                    .flatten()
                    .for_each(|entry| found.keep(entry));
                text += &found.text();
            }
        }
    }
    Ok((text, known.into_notes()))
}

/// The schedules of definitions, by templates that are given; behind each those of its versions for some sizes.
fn schedules(
    functions: &[Function],
    choice_of: &dyn Fn(&Function) -> Choice,
    given: &Given,
) -> Result<String, PipelineError> {
    let mut all: Vec<String> = Vec::new();
    for function in functions {
        let mut templates = given.templates.iter();
        let template = templates.find(|template| template.name.text == function.name);
        let versions = Versions::new(function, template, choice_of(function));
        let versions = versions.map_err(|fault| given.wrong(&fault))?;
        let general = &versions.general;
        let steps = general.steps().map_err(|fault| given.wrong(&fault))?;
        all.push(match &general.template {
            Some(_) => schedule_of(&general.function, &steps),
            None => schedule(&general.function, general.options),
        });
        for other in versions.others(&steps) {
            let when = match other.when {
                When::Sizes(sizes) => {
                    let names = canonical::sizes(other.function);
                    let each = names
                        .zip(sizes)
                        .map(|(name, size)| format!("{name} = {size}"));
                    each.collect::<Vec<String>>().join(", ")
                }
                When::Few(_) => "there are few elements of many terms".to_owned(),
            };
            let schedule = schedule_of(other.function, &other.steps);
            all.push(format!("where {when}:\n{schedule}"));
        }
    }
    Ok(all.join("\n"))
}

/// What is known or found of each definition; what is found is kept.
fn tuned(
    build: &Build,
    functions: &[Function],
    tuning: &TensorTuning,
) -> Result<Vec<Entry>, PipelineError> {
    let place = tuning.known.clone().or_else(|| place(build));
    let mut known = match &place {
        Some(path) => Known::read(path)?,
        None => Known::default(),
    };
    let before = known.clone();
    let mut entries = Vec::new();
    for function in functions {
        let request = Request {
            function,
            sizes: &sizes_of(function, &tuning.sizes)?,
            options: build.sirius.tensor,
            figures: figures(build),
            seed: build.sirius.tuning.seed,
            budget: Duration::from_secs(build.sirius.tuning.budget_seconds),
        };
        entries.push(request.answered(&mut known));
    }
    if let Some(path) = &place
        && known != before
    {
        known.write(path)?;
    }
    Ok(entries)
}

fn translated(
    path: &Path,
    choice_of: &dyn Fn(&Function) -> Choice,
    given: &Given,
) -> Result<Translation, PipelineError> {
    let name = path.display().to_string();
    // What is wrong with a template stands in its own text.
    let mut wrong = None;
    let made = checked(path, |text| {
        let made =
            tensor::translate_versions(&name, text, &mut |each| choice_of(each), &given.templates);
        match made {
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
