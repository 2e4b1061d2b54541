//! Whether a program for the CPU device brings the runtime along or has it in common with others of its process.
//!
//! All code of a process has to use one runtime: device memory, streams and errors are its. A shared library never
//! knows who else is in the process (another library of ours, a program, an extension of Python), so it takes the
//! runtime from a shared library; so does a program that others may come to. One that is all there is carries it
//! itself, and can be taken elsewhere.
//!
//! Invariant: an unknown library, or a call that loads one, is such another.

use crate::build::{Build, Input, Language};
use crate::program::is_known_library;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectKind, ObjectSymbol};
use std::path::{Path, PathBuf};

/// Whether what a build links, with these objects, uses the shared runtime.
pub(super) fn is_shared(build: &Build, objects: &[PathBuf]) -> bool {
    let mut arguments = build.link_arguments.iter().chain(&build.host_arguments);
    if arguments.any(|argument| argument == "-static" || argument == "-static-pie") {
        return false;
    }
    build.shared
        || build.shared_cudart
        || build
            .link_arguments
            .iter()
            .any(|argument| brings_others(argument, build))
        || build.inputs.iter().any(is_shared_library)
        || objects.iter().any(|object| loads_others(object))
        || build
            .inputs
            .iter()
            .any(|input| input.language == Language::Object && loads_others(&input.path))
}

/// Whether an argument of a link names a library that may have device code, or lets such be loaded later.
fn brings_others(argument: &str, build: &Build) -> bool {
    if let Some(name) = argument.strip_prefix("-l") {
        return !is_known_library(name) && !is_archive(name, build);
    }
    let exports = ["-rdynamic", "-Wl,-E", "-Wl,--export-dynamic"];
    exports.contains(&argument) || names_shared_library(argument)
}

/// Whether `-lNAME` means an archive in one of the folders that the command names, where nothing is loaded.
fn is_archive(name: &str, build: &Build) -> bool {
    let folders = || {
        let folders = build.link_arguments.iter();
        folders.filter_map(|argument| argument.strip_prefix("-L").map(Path::new))
    };
    let found = |file: String| {
        folders()
            .map(|folder| folder.join(&file))
            .find(|path| path.is_file())
    };
    let shared = found(format!("lib{name}.so"));
    let archive = found(format!("lib{name}.a"));
    shared.is_none() && archive.is_some_and(|archive| !loads_others(&archive))
}

fn is_shared_library(input: &Input) -> bool {
    input.language == Language::Object && input.path.to_str().is_some_and(names_shared_library)
}

fn names_shared_library(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    name.ends_with(".so") || name.contains(".so.")
}

/// Whether an object, or a member of an archive, calls what loads shared libraries. What cannot be read might.
fn loads_others(path: &Path) -> bool {
    calls_one(path, &|name| matches!(name, "dlopen" | "dlmopen"))
}

/// Whether an object calls what loads kernels when the program runs, which may come as PTX. What cannot be read might.
pub(super) fn loads_kernels(path: &Path) -> bool {
    const CALLS: [&str; 4] = [
        "cuModuleLoad",
        "cuLibraryLoad",
        "cuLinkAdd",
        "cudaLibraryLoad",
    ];
    calls_one(path, &|name| {
        CALLS.iter().any(|call| name.starts_with(call))
    })
}

fn calls_one(path: &Path, is_wanted: &dyn Fn(&str) -> bool) -> bool {
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    let Ok(archive) = ArchiveFile::parse(bytes.as_slice()) else {
        return object_calls_one(&bytes, is_wanted);
    };
    archive.members().flatten().any(|member| {
        let contents = member.data(bytes.as_slice());
        contents.map_or(true, |contents| object_calls_one(contents, is_wanted))
    })
}

fn object_calls_one(object: &[u8], is_wanted: &dyn Fn(&str) -> bool) -> bool {
    let Ok(file) = object::File::parse(object) else {
        return true;
    };
    file.kind() == ObjectKind::Relocatable
        && file
            .symbols()
            .any(|symbol| symbol.is_undefined() && symbol.name().is_ok_and(is_wanted))
}
