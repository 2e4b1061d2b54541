//! A file of what is known of definitions: JSON that people may read, change and hand on.
//!
//! Invariant: entries choose among versions that are all right. One that is of another definition, of another compiler, or
//! that says what this one does not understand, changes nothing.

use super::Request;
use crate::files::write_whole;
use crate::tensor::Options;
use crate::tensor::canonical;
use crate::tensor::fault::Fault;
use crate::tensor::mapping::Mapping;
use crate::tensor::polyhedral::Strategy;
use crate::tensor::program::Function;
use crate::tensor::stitch::parser::parse;
use crate::tensor::stitch::template::{Teams, Template};
use crate::tensor::stitch::{self, Stitched};
use crate::tensor::transform::{SharedMemory, TensorCores, TileSizes};
use crate::tensor::versions::Chosen;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The best options that are known for a definition and sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What the definition says, what its options fix, and the device; names do not matter.
    pub key: String,
    /// A definition that says it, for readers.
    pub name: String,
    /// The sizes in their order, under the names that they have there.
    pub sizes: Vec<(String, i64)>,
    /// Options of the compiler.
    pub options: Vec<String>,
    /// The lines of the implementation template, where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub template: Vec<String>,
    /// The names of [`canonical::names`] that the template has; none: those of the definition that takes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// What the model estimates, or what was measured; none where options were chosen by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nanoseconds: Option<f64>,
}

/// Why definitions cannot be tuned, or a file of entries cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    /// A size has no number.
    #[error(
        "'--tune' has no number for the size '{size}' of '{definition}': --tune={size}=1024, behind others with a comma"
    )]
    NoSize {
        /// The definition.
        definition: String,
        /// The size.
        size: String,
    },
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It has another form.
    #[error("{}: this is no file of known options: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// All entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    entries: Vec<Entry>,
}

impl Known {
    /// Reads a file; none is empty.
    ///
    /// # Errors
    /// It cannot be read, or is no such file.
    pub fn read(path: &Path) -> Result<Self, TuningError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(TuningError::Read {
                    path: path.to_owned(),
                    error,
                });
            }
        };
        let form = |reason: String| TuningError::Form {
            path: path.to_owned(),
            reason,
        };
        serde_json::from_str(&text).map_err(|error| form(error.to_string()))
    }

    /// Writes it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), TuningError> {
        let text = self.text();
        let folder = path.parent().unwrap_or(Path::new(""));
        let made = std::fs::create_dir_all(folder);
        let written = made.and_then(|()| write_whole(path, text.as_bytes()));
        written.map_err(|error| TuningError::Write {
            path: path.to_owned(),
            error,
        })
    }

    /// As JSON.
    pub fn text(&self) -> String {
        // Text and numbers always become JSON.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{text}\n")
    }

    /// Adds an entry in the place of the one for the same.
    pub fn keep(&mut self, entry: Entry) {
        let is_same = |known: &Entry| known.key == entry.key && known.numbers().eq(entry.numbers());
        self.entries.retain(|known| !is_same(known));
        self.entries.push(entry);
    }

    /// What is chosen for sizes of a definition that has the key, the newest first; and what is not understood of its entries.
    pub fn versions(
        &self,
        key: &str,
        function: &Function,
        given: Options,
    ) -> (Vec<(Vec<i64>, Chosen)>, Vec<String>) {
        let (mut versions, mut unknown) = (Vec::new(), Vec::new());
        for entry in self.entries.iter().rev().filter(|entry| entry.key == key) {
            match entry.apply(function, given) {
                Ok(chosen) => versions.push((entry.numbers().collect(), chosen)),
                Err(reason) => unknown.push(format!("the entry of '{}': {reason}", entry.name)),
            }
        }
        (versions, unknown)
    }

    pub(super) fn find(&self, request: &Request<'_>) -> Option<Entry> {
        let key = request.key();
        let mut entries = self.entries.iter();
        let is_it =
            |entry: &&Entry| entry.key == key && entry.numbers().eq(request.sizes.iter().copied());
        // What another compiler understood is searched again.
        let is_understood =
            |entry: &&Entry| entry.apply(request.function, Options::default()).is_ok();
        entries
            .find(|entry| is_it(entry) && is_understood(entry))
            .cloned()
    }
}

impl Entry {
    pub(super) fn of(request: &Request<'_>, options: Options, nanoseconds: f64) -> Self {
        let names = canonical::sizes(request.function).map(str::to_owned);
        // What stands there can be changed by hand.
        let template: Vec<String> = match options.mapping {
            Mapping::Stitched => {
                let text = stitch::chosen(request.function, options).to_string();
                text.lines().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        Self {
            key: request.key(),
            name: request.function.name.clone(),
            sizes: names.zip(request.sizes.iter().copied()).collect(),
            options: words(options),
            names: match template.is_empty() {
                true => Vec::new(),
                false => canonical::names(request.function),
            },
            template,
            nanoseconds: Some(nanoseconds.round()),
        }
    }

    /// The given options with its own, and its template.
    ///
    /// # Errors
    /// What is no option that is tuned, or what is wrong with the template.
    pub fn apply(&self, function: &Function, given: Options) -> Result<Chosen, String> {
        let options = self.apply_options(given)?;
        let template = match self.template.is_empty() {
            true => None,
            false => Some(self.template_of(function, options)?),
        };
        Ok(Chosen { options, template })
    }

    /// The template under the names of a definition, for which it is right.
    fn template_of(&self, function: &Function, options: Options) -> Result<Template, String> {
        let message = |fault: Fault| format!("its template: {}", fault.message);
        let mut templates = parse(&self.template.join("\n")).map_err(message)?;
        let template = templates.pop().filter(|_| templates.is_empty());
        let template = template.ok_or("it has a single template, or none")?;
        let names = canonical::names(function);
        let template = template.renamed(&function.name, &|name| {
            let place = self.names.iter().position(|known| known == name);
            let own = place.and_then(|place| names.get(place));
            own.map_or_else(|| name.to_owned(), String::clone)
        });
        let stitched = Stitched::new(function, Some(&template), options).map_err(message)?;
        stitched.steps().map_err(message)?;
        Ok(template)
    }

    fn apply_options(&self, given: Options) -> Result<Options, String> {
        let mut options = given;
        for word in &self.options {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let unknown = || format!("'{word}' is no option that is tuned");
            match name {
                "--sirius-tc-mapping" => {
                    options.mapping = named(&Mapping::NAMES, value).ok_or_else(unknown)?;
                }
                "--sirius-tc-fusion" => {
                    options.fusion = named(&Strategy::NAMES, value).ok_or_else(unknown)?;
                }
                "--sirius-tc-tile" => {
                    let sizes = TileSizes::parse(value);
                    options.tile =
                        Some(sizes.map_err(|expected| format!("'{word}': it takes {expected}"))?);
                }
                "--sirius-tc-stages" => {
                    let stages = value.parse().ok().filter(|stages| (1..=3).contains(stages));
                    options.stages = Some(stages.ok_or_else(unknown)?);
                }
                "--sirius-tc-tensor-cores" => {
                    options.tensor_cores = named(&TensorCores::NAMES, value).ok_or_else(unknown)?;
                }
                "--sirius-tc-shared" => {
                    options.shared = named(&SharedMemory::NAMES, value).ok_or_else(unknown)?;
                }
                "--sirius-tc-templates" => {
                    options.teams = named(&Teams::NAMES, value).ok_or_else(unknown)?;
                }
                _ => return Err(unknown()),
            }
        }
        Ok(options)
    }

    fn numbers(&self) -> impl Iterator<Item = i64> + '_ {
        self.sizes.iter().map(|(_, size)| *size)
    }
}

/// The options that are tuned, as words of the command line.
fn words(options: Options) -> Vec<String> {
    fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
        let found = names.iter().find(|(_, each)| each == value);
        found.map_or("", |(name, _)| name)
    }
    let mapping = name_of(&Mapping::NAMES, &options.mapping);
    let fusion = name_of(&Strategy::NAMES, &options.fusion);
    let mut words = vec![
        format!("--sirius-tc-mapping={mapping}"),
        format!("--sirius-tc-fusion={fusion}"),
    ];
    if let Some(tile) = options.tile {
        let TileSizes {
            rows,
            columns,
            strip,
        } = tile;
        words.push(format!("--sirius-tc-tile={rows},{columns},{strip}"));
    }
    if let Some(stages) = options.stages {
        words.push(format!("--sirius-tc-stages={stages}"));
    }
    // What is as it always is goes without saying.
    let given = Options::default();
    if options.tensor_cores != given.tensor_cores {
        let cores = name_of(&TensorCores::NAMES, &options.tensor_cores);
        words.push(format!("--sirius-tc-tensor-cores={cores}"));
    }
    if options.shared != given.shared {
        let shared = name_of(&SharedMemory::NAMES, &options.shared);
        words.push(format!("--sirius-tc-shared={shared}"));
    }
    if options.teams != given.teams {
        let teams = name_of(&Teams::NAMES, &options.teams);
        words.push(format!("--sirius-tc-templates={teams}"));
    }
    words
}

fn named<T: Copy>(names: &[(&'static str, T)], name: &str) -> Option<T> {
    let found = names.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value)
}
