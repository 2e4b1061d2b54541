//! `-E` and `-M`: what clang's preprocessor makes of a source.
//!
//! Compiler caches take the text for all that an object is made of. It is that of the host side, so a
//! source with device code says at its end what the device side sees besides: the headers that only it
//! includes, as markers of lines, and a number that stands for its text and for what it is compiled for.

use super::PipelineError;
use crate::cli::{Build, Input, Language, Toolchain, run_tool};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The text of a source, or the rule of its dependencies where that is asked for.
///
/// # Errors
/// clang refuses the source, or cannot run.
pub(super) fn preprocess(
    build: &Build,
    toolchain: &Toolchain,
    input: &Input,
) -> Result<String, PipelineError> {
    let side = |side: &str| preprocess_side(build, toolchain, input, side);
    let mut text = side(HOST_SIDE)?;
    let is_rule = build
        .host_arguments
        .iter()
        .any(|argument| argument == "-M" || argument == "-MM");
    if input.language != Language::Cuda || is_rule {
        return Ok(text);
    }
    let device = side(DEVICE_SIDE)?;
    let of_host: BTreeSet<&str> = text.lines().filter_map(file_of).collect();
    let of_device = device.lines().filter_map(file_of);
    let more: BTreeSet<&str> = of_device.filter(|file| !of_host.contains(file)).collect();
    let more: String = more
        .iter()
        .map(|file| format!("# 1 \"{file}\" 1\n"))
        .collect();
    let mut hasher = DefaultHasher::new();
    device.hash(&mut hasher);
    // Caches know the command line, and not what the environment adds to it.
    let options = &build.sirius;
    let fusion = (options.fusion, &options.optimisations, options.max_fusions);
    let order = (&options.orientation, options.keep_synchronisations);
    let chosen = &options.tuning;
    let settings = (build.device, &build.architectures, fusion, order, chosen);
    format!("{settings:?}").hash(&mut hasher);
    text.push_str(&more);
    text.push_str(&format!("// device side: {:016x}\n", hasher.finish()));
    Ok(text)
}

/// The text of one side of a source.
///
/// # Errors
/// As [`preprocess`].
pub(super) fn preprocess_side(
    build: &Build,
    toolchain: &Toolchain,
    input: &Input,
    side: &str,
) -> Result<String, PipelineError> {
    let arguments = arguments(build, toolchain, input, side);
    let output = run_tool(&toolchain.clang, &arguments, build)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// clang's option for host code alone.
pub(super) const HOST_SIDE: &str = "--cuda-host-only";
/// clang's option for device code alone.
pub(super) const DEVICE_SIDE: &str = "--cuda-device-only";

/// The file that a marker of lines names.
fn file_of(line: &str) -> Option<&str> {
    let (_, file) = line.strip_prefix("# ")?.split_once('"')?;
    file.split('"').next()
}

fn arguments(build: &Build, toolchain: &Toolchain, input: &Input, side: &str) -> Vec<String> {
    let mut arguments = vec!["-E".to_owned(), "-I".to_owned()];
    arguments.push(toolchain.clang_view().display().to_string());
    if input.language == Language::Cuda {
        let header = toolchain.compatibility_header.display().to_string();
        arguments.extend(["-x", "cuda", side, "-include"].map(str::to_owned));
        arguments.extend([
            header,
            format!("--cuda-path={}", toolchain.toolkit.display()),
            format!("--offload-arch=sm_{}", build.compiled_architecture()),
        ]);
        if side == DEVICE_SIDE {
            arguments.extend(build.feature_macros());
        }
    } else {
        let language = match input.language {
            Language::C => "c",
            _ => "c++",
        };
        arguments.extend(["-D__NVCC__=1", "-x", language].map(str::to_owned));
        arguments.push(format!("-isystem{}", toolchain.toolkit_include.display()));
    }
    arguments.push("-Wno-unknown-cuda-version".to_owned());
    // The folder of cub, thrust and libcu++ in CUDA 13; host options hold those of `-M` too.
    let libraries = toolchain.toolkit_include.join("cccl");
    arguments.push(format!("-isystem{}", libraries.display()));
    let library_headers = toolchain.library_headers();
    arguments.push(format!("-idirafter{}", library_headers.display()));
    arguments.extend(build.front_end_arguments.iter().cloned());
    arguments.extend(build.host_arguments.iter().cloned());
    arguments.push(input.path.display().to_string());
    arguments
}
