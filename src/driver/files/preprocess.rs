//! `-E` and `-M`: what clang's preprocessor makes of a source.
//!
//! Compiler caches take the text for all that an object is made of. It is that of the host side, so a
//! source with device code says at its end what the device side sees besides: the headers that only it
//! includes, as markers of lines, and a number that stands for its text and for what it is compiled for.

use super::super::outcome::PipelineError;
use crate::build::{Build, Input, Language, Target};
use crate::tools::{Toolchain, run_tool};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The text of a source, or the rule of its dependencies where that is asked for.
///
/// # Errors
/// clang refuses the source, or cannot run.
pub(in crate::driver) fn preprocess(
    build: &Build,
    toolchain: &Toolchain,
    input: &Input,
) -> Result<String, PipelineError> {
    let side = |side: Side| preprocess_side(build, toolchain, input, side);
    let mut text = side(Side::Host)?;
    let is_rule = build.dependencies.only.is_some();
    if input.language != Language::Cuda || is_rule {
        return Ok(text);
    }
    let targets = build.compiled_targets().into_iter();
    let device = targets.map(|target| side(Side::Device(target)));
    let device = device.collect::<Result<Vec<String>, _>>()?;
    let of_host: BTreeSet<&str> = text.lines().filter_map(file_of).collect();
    let of_device = device.iter().flat_map(|text| text.lines());
    let of_device = of_device.filter_map(file_of);
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
    let order = (
        &options.layout,
        options.keep_synchronisations,
        &options.boundaries,
    );
    let chosen = (&options.tuning, &options.planning, options.tensor);
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
pub(in crate::driver) fn preprocess_side(
    build: &Build,
    toolchain: &Toolchain,
    input: &Input,
    side: Side,
) -> Result<String, PipelineError> {
    let arguments = arguments(build, toolchain, input, side);
    let output = run_tool(&toolchain.clang, &arguments, build)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A side of a source with device code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::driver) enum Side {
    /// The host's.
    Host,
    /// The device's, for an architecture.
    Device(Target),
}

/// The file that a marker of lines names.
fn file_of(line: &str) -> Option<&str> {
    let (_, file) = line.strip_prefix("# ")?.split_once('"')?;
    file.split('"').next()
}

fn arguments(build: &Build, toolchain: &Toolchain, input: &Input, side: Side) -> Vec<String> {
    let mut arguments = vec!["-E".to_owned(), "-I".to_owned()];
    arguments.push(toolchain.clang_view().display().to_string());
    if input.language == Language::Cuda {
        let header = toolchain.compatibility_header.display().to_string();
        let (option, target) = match side {
            Side::Host => ("--cuda-host-only", build.oldest_target()),
            Side::Device(target) => ("--cuda-device-only", target),
        };
        arguments.extend(["-x", "cuda", option, "-include"].map(str::to_owned));
        arguments.extend([
            header,
            toolchain.driver_version(),
            format!("--cuda-path={}", toolchain.toolkit.display()),
            format!("--offload-arch=sm_{}", target.number),
        ]);
        arguments.extend(build.architecture_list());
        if side != Side::Host {
            arguments.extend(target.feature_macros());
        }
    } else {
        let language = match input.language {
            Language::C => "c",
            _ => "c++",
        };
        arguments.extend(["-D__NVCC__=1", "-x", language].map(str::to_owned));
        arguments.push(format!("-isystem{}", toolchain.toolkit_include.display()));
    }
    let macros = build.mode_macros(input.language);
    arguments.extend(macros.map(str::to_owned));
    arguments.push("-Wno-unknown-cuda-version".to_owned());
    // The folder of cub, thrust and libcu++ in CUDA 13.
    let libraries = toolchain.toolkit_include.join("cccl");
    arguments.push(format!("-isystem{}", libraries.display()));
    let library_headers = toolchain.library_headers();
    arguments.push(format!("-idirafter{}", library_headers.display()));
    arguments.extend(build.front_end_arguments.iter().cloned());
    arguments.extend(build.host_arguments.iter().cloned());
    if side == Side::Host {
        let place = build.dependencies.file_of(&input.path);
        arguments.extend(build.dependencies.arguments(&input.path, &place));
    }
    arguments.push(input.path.display().to_string());
    arguments
}
