//! What is known of tensor definitions: read once for a build, and asked for each definition.
//!
//! Invariant: nothing that stands there makes a build fail, unless a file that the user names is not there or none of known
//! options.

use super::super::outcome::PipelineError;
use crate::build::{Build, Device, KnownOptions};
use crate::cache;
use crate::tensor::Options;
use crate::tensor::program::Function;
use crate::tensor::versions::Choice;
use crate::tune::Figures;
use crate::tune::definitions::{Known, TuningError, are_open, key};
use std::cell::RefCell;
use std::path::PathBuf;

/// The file of the cache.
const NAME: &str = "tuned.json";

/// Where the file of known options is, if there is to be one.
pub(super) fn place(build: &Build) -> Option<PathBuf> {
    match &build.sirius.tensor_known {
        KnownOptions::Off => None,
        KnownOptions::File(path) => Some(path.clone()),
        KnownOptions::Cache => Some(cache::folder()?.join(NAME)),
    }
}

/// The figures of a build's device.
pub(super) fn figures(build: &Build) -> &'static Figures {
    match build.device {
        Device::Cpu => Figures::of(Device::Cpu, 0),
        Device::Cuda => Figures::of_gpu(build),
    }
}

/// What is known, for the definitions of one build.
pub(super) struct KnownVersions {
    known: Known,
    given: Options,
    figures: &'static Figures,
    notes: RefCell<String>,
}

impl KnownVersions {
    /// Reads what the build says.
    ///
    /// # Errors
    /// A file that the user names is not there, or none of known options.
    pub(super) fn read(build: &Build) -> Result<Self, PipelineError> {
        let mut notes = String::new();
        let known = match (&build.sirius.tensor_known, place(build)) {
            (_, None) => Known::default(),
            (KnownOptions::File(_), Some(path)) => {
                if let Err(error) = std::fs::metadata(&path) {
                    return Err(TuningError::Read { path, error }.into());
                }
                Known::read(&path)?
            }
            // What is wrong with the cache's own file costs speed alone.
            (_, Some(path)) => Known::read(&path).unwrap_or_else(|error| {
                notes = note(&error.to_string());
                Known::default()
            }),
        };
        Ok(Self {
            known,
            given: build.sirius.tensor,
            figures: figures(build),
            notes: RefCell::new(notes),
        })
    }

    /// Options for a definition.
    pub(super) fn choice(&self, function: &Function) -> Choice {
        let mut choice = Choice::from(self.given);
        if are_open(self.given) {
            let key = key(function, self.given, self.figures);
            let (known, unknown) = self.known.versions(&key, function, self.given);
            choice.known = known;
            let mut notes = self.notes.borrow_mut();
            for reason in unknown {
                let text = note(&reason);
                // Definitions are asked for several times.
                if !notes.contains(&text) {
                    *notes += &text;
                }
            }
        }
        choice
    }

    /// What is to be said of it, for standard error.
    pub(super) fn into_notes(self) -> String {
        self.notes.into_inner()
    }
}

fn note(reason: &str) -> String {
    format!("sirius-rs: known options of tensor definitions are left out: {reason}\n")
}
