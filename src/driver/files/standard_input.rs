//! A source that comes by standard input, `-` with `-x`: clang reads a source once for each side, standard input can be
//! read once.

use super::super::outcome::PipelineError;
use super::temporary_folder;
use crate::build::{Build, Language};
use std::io::Read;
use std::path::Path;
use tempfile::TempDir;

/// The same build with a file in place of standard input, where that is an input, and the folder that keeps the file.
///
/// # Errors
/// Standard input cannot be read, or the file not be written.
pub(in crate::driver) fn as_file(build: &Build) -> Result<Option<(Build, TempDir)>, PipelineError> {
    let is_standard_input = |path: &Path| path == Path::new("-");
    if !(build.inputs.iter()).any(|input| is_standard_input(&input.path)) {
        return Ok(None);
    }
    // Messages speak of it as those of compilers do.
    let mut text = b"#line 1 \"<stdin>\"\n".to_vec();
    (std::io::stdin().read_to_end(&mut text)).map_err(PipelineError::StandardInput)?;
    let folder = temporary_folder()?;
    let mut build = build.clone();
    for input in &mut build.inputs {
        if !is_standard_input(&input.path) {
            continue;
        }
        let ending = match input.language {
            Language::Cuda => "cu",
            Language::C => "c",
            Language::Tensor => "tc",
            Language::Cxx | Language::Ptx | Language::Object => "cpp",
        };
        input.path = folder.path().join("stdin").with_extension(ending);
        std::fs::write(&input.path, &text).map_err(|error| PipelineError::Write {
            path: input.path.clone(),
            error,
        })?;
    }
    Ok(Some((build, folder)))
}
