//! Files beside what a build makes: those that `-keep` leaves, and what `-clean` takes away.

use super::preprocess::{DEVICE_SIDE, HOST_SIDE, preprocess_side};
use super::{PipelineError, write_report};
use crate::cli::{Build, Device, Input, Language, Toolchain};
use std::path::{Path, PathBuf};

/// With `-keep`: both sides of each CUDA source as the preprocessor leaves them, under nvcc's names. Code
/// generation leaves PTX, cubins and fat binaries.
///
/// # Errors
/// clang refuses a source, or a file cannot be written.
pub(super) fn keep_preprocessed(build: &Build, toolchain: &Toolchain) -> Result<(), PipelineError> {
    let Some(folder) = &build.keep_directory else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|error| PipelineError::Write {
        path: folder.clone(),
        error,
    })?;
    for input in cuda_sources(build) {
        for (side, ending) in [(DEVICE_SIDE, "cpp1.ii"), (HOST_SIDE, "cpp4.ii")] {
            let text = preprocess_side(build, toolchain, input, side)?;
            write_report(&kept(folder, input, ending), &text)?;
        }
    }
    Ok(())
}

/// `-clean`: removes what a build would make and keep; the files that are there.
///
/// # Errors
/// When one cannot be removed.
pub(super) fn clean(build: &Build, mut made: Vec<PathBuf>) -> Result<(), PipelineError> {
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
                endings.extend([format!("{before}ptx"), format!("{before}sm_{target}.cubin")]);
            }
            made.extend(endings.iter().map(|ending| kept(folder, input, ending)));
        }
    }
    for path in made.into_iter().filter(|path| path.is_file()) {
        std::fs::remove_file(&path).map_err(|error| PipelineError::Write { path, error })?;
    }
    Ok(())
}

/// What to say where several architectures are asked for and a source tells them apart: its device code is
/// compiled once.
pub(super) fn warning_of_one_compilation(build: &Build) -> Option<String> {
    let compiled = build.compiled_target();
    let differs = |number: u32| number != compiled.number;
    let others = build.architectures.iter().map(|each| each.number);
    let newest = others.filter(|number| differs(*number)).max()?;
    if build.device != Device::Cuda {
        return None;
    }
    let asks = |input: &&Input| {
        let text = std::fs::read(&input.path).unwrap_or_default();
        let name = b"__CUDA_ARCH__";
        text.windows(name.len()).any(|window| window == name)
    };
    let source = cuda_sources(build).find(asks)?;
    Some(format!(
        "sirius-rs: {} asks for __CUDA_ARCH__, and device code is compiled once, for compute_{compiled}: what \
         runs on sm_{newest} is the same code; for its own ask for sm_{newest} alone\n",
        source.path.display()
    ))
}

fn cuda_sources(build: &Build) -> impl Iterator<Item = &Input> {
    let inputs = build.inputs.iter();
    inputs.filter(|input| input.language == Language::Cuda && input.bitcode.is_none())
}

fn kept(folder: &Path, input: &Input, ending: &str) -> PathBuf {
    let name = input.path.with_extension(ending);
    folder.join(name.file_name().unwrap_or_default())
}
