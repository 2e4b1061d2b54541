//! What a host compiler of the user's (`-ccbin`) adds to command lines by itself, as `mpicxx` does.
//!
//! Invariant: clang, which reads the sources, gets the folders and macros that such a wrapper hands to the compiler
//! behind it, so that a source finds `mpi.h` as it does with nvcc; what a compiler has built in is none of these.

use super::Invocation;
use super::spelling::split_words;
use crate::build::Build;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `-ccbin` may name a folder with the compiler in it.
pub(super) fn host_compiler(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join("g++")
    } else {
        path.to_owned()
    }
}

/// Adds what the host compiler of an invocation adds, behind the user's own options.
pub fn take_over_wrapper(invocation: &mut Invocation) {
    let (Invocation::Build(build)
    | Invocation::Analyze { build, .. }
    | Invocation::Tune { build, .. }) = invocation
    else {
        return;
    };
    let Build {
        host_compiler: Some(compiler),
        front_end_arguments,
        ..
    } = build
    else {
        return;
    };
    front_end_arguments.extend(arguments_of_wrapper(compiler));
}

/// The options that a compiler says it would run itself with, as far as they are for the preprocessor. Nothing where it
/// cannot be run: that is said when it is needed.
fn arguments_of_wrapper(compiler: &Path) -> Vec<String> {
    let answer = Command::new(compiler)
        .args(["-###", "-E", "-x", "c++", "/dev/null"])
        .stdin(Stdio::null())
        .output();
    let Ok(answer) = answer else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&answer.stderr);
    // GCC says which options it was called with; clang shows the command, in which built-in folders have other names.
    let of_gcc = |line: &str| line.strip_prefix("COLLECT_GCC_OPTIONS=").map(str::to_owned);
    let of_clang = |line: &str| line.contains("\"-cc1\"").then(|| line.to_owned());
    let line = text.lines().find_map(of_gcc);
    let line = line.or_else(|| text.lines().find_map(of_clang));
    line.map_or(Vec::new(), |line| for_preprocessor(&split_words(&line)))
}

/// The words `-I`, `-isystem`, `-iquote`, `-D` and `-U` with what follows each.
fn for_preprocessor(words: &[String]) -> Vec<String> {
    const OPTIONS: [&str; 5] = ["-isystem", "-iquote", "-I", "-D", "-U"];
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(option) = OPTIONS.iter().find(|option| word.starts_with(**option)) else {
            continue;
        };
        found.push(word.clone());
        if word == option {
            found.extend(words.next().cloned());
        }
    }
    found
}
