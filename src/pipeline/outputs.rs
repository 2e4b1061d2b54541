//! Where what a build makes goes when it is not said, by nvcc's names.

use crate::cli::{Build, Input, Language, Phase};
use std::path::PathBuf;

/// The files that a build makes.
pub(super) fn outputs(build: &Build) -> Vec<PathBuf> {
    let sources = build
        .inputs
        .iter()
        .filter(|input| input.language != Language::Object);
    match (&build.output, build.phase) {
        (Some(output), _) => vec![output.clone()],
        (None, Phase::Preprocess) => Vec::new(),
        (None, Phase::Link) => vec![PathBuf::from("a.out")],
        (None, Phase::Library) => vec![PathBuf::from("a.a")],
        (None, Phase::DeviceLink) => vec![PathBuf::from("a_dlink.o")],
        (None, _) => sources.map(|input| default_output(build, input)).collect(),
    }
}

/// `x.cu` gives `./x.o`, `./x.ptx`, ….
pub(super) fn default_output(build: &Build, input: &Input) -> PathBuf {
    if build.cxx_form {
        let source = input.path.file_name().unwrap_or_default();
        let mut name = source.to_owned();
        name.push(".cpp.ii");
        return build.output_directory.join(name);
    }
    let extension = match build.phase {
        Phase::Ptx => "ptx",
        Phase::Cubin => "cubin",
        Phase::Fatbin => "fatbin",
        Phase::Link | Phase::Library | Phase::Compile | Phase::DeviceLink | Phase::Preprocess => {
            "o"
        }
    };
    let name = input.path.with_extension(extension);
    let name = name.file_name().unwrap_or_default();
    build.output_directory.join(name)
}
