//! Where what a build makes goes: by nvcc's names when it is not said, to names of its own, and whole.

use super::super::outcome::PipelineError;
use crate::build::{Build, Input, Language, Phase};
use crate::files::{install, private_folder, write_whole};
use std::path::{Path, PathBuf};

/// The files that a build makes.
pub(in crate::driver) fn outputs(build: &Build) -> Vec<PathBuf> {
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
pub(in crate::driver) fn default_output(build: &Build, input: &Input) -> PathBuf {
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

/// Refuses a run that would write over one of its inputs, or two things under one name. `made` are the files that it is
/// for; what it writes besides is known from the options.
///
/// # Errors
/// [`PipelineError::OutputIsInput`], [`PipelineError::TwoOutputs`], [`PipelineError::Write`] where the folder of an
/// output is not there.
pub(in crate::driver) fn check_names(
    build: &Build,
    mut made: Vec<PathBuf>,
) -> Result<(), PipelineError> {
    made.extend(dependency_files(build));
    made.extend(build.sirius.report.iter().map(|(path, _)| path.clone()));
    for output in &made {
        let folder = output.parent().filter(|folder| *folder != Path::new(""));
        if let Some(folder) = folder.filter(|folder| !folder.is_dir() && !build.clean) {
            let error = std::io::Error::other(format!("there is no folder '{}'", folder.display()));
            let path = output.clone();
            return Err(PipelineError::Write { path, error });
        }
    }
    let appended = build.times.iter().map(|times| times.file.clone());
    made.extend(appended);
    let is_named = |path: &&PathBuf| path.as_path() != Path::new("-") && !is_special(path);
    let made: Vec<&PathBuf> = made.iter().filter(is_named).collect();
    for (index, output) in made.iter().enumerate() {
        if made[..index].iter().any(|other| is_same(other, output)) {
            return Err(PipelineError::TwoOutputs((*output).clone()));
        }
    }
    let kept = kept_files(build);
    let inputs = build.inputs.iter().map(|input| &input.path);
    let results = &build.sirius.tuning.results;
    let read: Vec<&PathBuf> = inputs.chain(&build.options_files).chain(results).collect();
    for output in made.into_iter().chain(&kept) {
        if read.iter().any(|input| is_same(input, output)) {
            return Err(PipelineError::OutputIsInput(output.clone()));
        }
    }
    Ok(())
}

/// The rules for make that a build writes beside what it makes, or in its place.
fn dependency_files(build: &Build) -> Vec<PathBuf> {
    let options = &build.dependencies;
    let sources = build.inputs.iter();
    let sources = sources.filter(|input| input.language != Language::Object);
    if options.only.is_some() {
        return options.file.iter().map(PathBuf::from).collect();
    }
    if options.beside.is_none() {
        return Vec::new();
    }
    let mut files: Vec<PathBuf> = sources.map(|input| options.file_of(&input.path)).collect();
    // Those that a name is given for stand in one file.
    if options.file.is_some() || options.output.is_some() {
        files.truncate(1);
    }
    files
}

/// What `-keep` leaves that could be an input: the object of a program's only source.
fn kept_files(build: &Build) -> Vec<PathBuf> {
    let sources = || (build.inputs.iter()).filter(|input| input.language != Language::Object);
    let folder = build.keep_directory.as_ref();
    let folder = folder.filter(|_| build.phase == Phase::Link && sources().count() == 1);
    let object = |source: &Input| {
        let name = source.path.with_extension("o");
        Some(folder?.join(name.file_name()?))
    };
    sources().filter_map(object).collect()
}

/// What is there and is no file takes everything and keeps nothing.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir())
}

/// Whether two paths lead to one file, be it there or not.
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let known = |path: &Path| std::fs::metadata(path).map(|known| (known.dev(), known.ino()));
    if let (Ok(one), Ok(other)) = (known(one), known(other)) {
        return one == other;
    }
    let place = |path: &Path| {
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let folder = std::fs::canonicalize(parent.unwrap_or(Path::new(".")));
        Some((folder.ok()?, path.file_name()?.to_owned()))
    };
    place(one).is_some_and(|one| place(other) == Some(one))
}

/// Makes an output in a private folder, under its own name, and puts it in place once it is whole. Where nothing is
/// made, nothing is put.
///
/// # Errors
/// Those of making it; it cannot be written.
pub(in crate::driver) fn in_private(
    output: &Path,
    make: impl FnOnce(&Path) -> Result<(), PipelineError>,
) -> Result<(), PipelineError> {
    // Standard output.
    if output == Path::new("-") {
        return make(output);
    }
    let folder = private_folder().map_err(|error| PipelineError::Write {
        path: std::env::temp_dir(),
        error,
    })?;
    let made = folder.path().join(output.file_name().unwrap_or_default());
    make(&made)?;
    match made.exists() {
        true => put_in_place(&made, output),
        false => Ok(()),
    }
}

/// Puts what was made elsewhere in its place, whole.
///
/// # Errors
/// It cannot be written there.
pub(in crate::driver) fn put_in_place(made: &Path, output: &Path) -> Result<(), PipelineError> {
    install(made, output).map_err(|error| PipelineError::Write {
        path: output.to_owned(),
        error,
    })
}

/// Writes text that is an output.
///
/// # Errors
/// It cannot be written.
pub(in crate::driver) fn write_report(path: &Path, text: &str) -> Result<(), PipelineError> {
    write_whole(path, text.as_bytes()).map_err(|error| PipelineError::Write {
        path: path.to_owned(),
        error,
    })
}
