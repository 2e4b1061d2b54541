//! What a build reads and leaves.

mod known_options;
pub(super) mod standard_input;
pub(super) mod tensor_sources;
pub(super) mod preprocess;
pub(super) mod outputs;
pub(super) mod link_cache;
pub(super) mod answers;
pub(super) mod keep;
pub(super) mod save;

use super::outcome::PipelineError;
use crate::build::Build;
use crate::files::private_folder;
use tempfile::TempDir;

/// A build of which all sources are files that clang reads, and the folders with those that are made for it.
pub(super) struct Sources {
    pub(super) build: Build,
    /// What is to be said of them, for standard error.
    pub(super) notes: String,
    _folders: Vec<TempDir>,
}

impl Sources {
    /// With a file in place of standard input, and CUDA in place of tensor definitions.
    ///
    /// # Errors
    /// Standard input cannot be read, definitions are wrong, or files cannot be written.
    pub(super) fn of(build: &Build) -> Result<Self, PipelineError> {
        let mut build = build.clone();
        let mut folders = Vec::new();
        if let Some((made, folder)) = standard_input::as_file(&build)? {
            build = made;
            folders.push(folder);
        }
        let mut notes = String::new();
        if let Some(made) = tensor_sources::as_cuda(&build)? {
            (build, notes) = (made.build, made.notes);
            folders.push(made.folder);
        }
        Ok(Self {
            build,
            notes,
            _folders: folders,
        })
    }
}

/// A folder that goes with the run.
///
/// # Errors
/// It cannot be made.
pub(super) fn temporary_folder() -> Result<TempDir, PipelineError> {
    private_folder().map_err(|error| PipelineError::Write {
        path: std::env::temp_dir(),
        error,
    })
}
