//! Files beside what a build makes: those that `-keep` leaves, and what `-clean` takes away.

use super::super::outcome::PipelineError;
use super::outputs::write_report;
use super::preprocess::{Side, preprocess_side};
use crate::build::{Build, Input, Language};
use crate::tools::Toolchain;
use std::path::{Path, PathBuf};

/// With `-keep`: both sides of each CUDA source as the preprocessor leaves them, under nvcc's names. Code
/// generation leaves PTX, cubins and fat binaries.
///
/// # Errors
/// clang refuses a source, or a file cannot be written.
pub(in crate::driver) fn keep_preprocessed(
    build: &Build,
    toolchain: &Toolchain,
) -> Result<(), PipelineError> {
    let Some(folder) = &build.keep_directory else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|error| PipelineError::Write {
        path: folder.clone(),
        error,
    })?;
    let targets = build.compiled_targets();
    let device = targets.iter().map(|target| match targets.len() {
        1 => (Side::Device(*target), "cpp1.ii".to_owned()),
        _ => (Side::Device(*target), format!("compute_{target}.cpp1.ii")),
    });
    let sides: Vec<(Side, String)> = device.chain([(Side::Host, "cpp4.ii".to_owned())]).collect();
    for input in cuda_sources(build) {
        for (side, ending) in &sides {
            let text = preprocess_side(build, toolchain, input, *side)?;
            write_report(&kept(folder, input, ending), &text)?;
        }
    }
    Ok(())
}

/// `-clean`: removes what a build would make and keep; the files that are there.
///
/// # Errors
/// When one cannot be removed.
pub(in crate::driver) fn clean(build: &Build, mut made: Vec<PathBuf>) -> Result<(), PipelineError> {
    if let Some(folder) = &build.keep_directory {
        let several = build.architectures.len() > 1;
        for input in cuda_sources(build) {
            let mut endings = ["cpp1.ii", "cpp4.ii", "ptx", "fatbin", "o"]
                .map(str::to_owned)
                .to_vec();
            for architecture in &build.architectures {
                let target = architecture.target();
                let before = match several {
                    true => format!("compute_{target}."),
                    false => String::new(),
                };
                endings.extend([
                    format!("{before}ptx"),
                    format!("{before}cpp1.ii"),
                    format!("{before}sm_{target}.cubin"),
                ]);
            }
            made.extend(endings.iter().map(|ending| kept(folder, input, ending)));
        }
    }
    for path in made.into_iter().filter(|path| path.is_file()) {
        std::fs::remove_file(&path).map_err(|error| PipelineError::Write { path, error })?;
    }
    Ok(())
}

fn cuda_sources(build: &Build) -> impl Iterator<Item = &Input> {
    let inputs = build.inputs.iter();
    inputs.filter(|input| input.language == Language::Cuda && input.bitcode.is_none())
}

fn kept(folder: &Path, input: &Input, ending: &str) -> PathBuf {
    let name = input.path.with_extension(ending);
    folder.join(name.file_name().unwrap_or_default())
}
