//! A build while its command line is read: what rows of the option tables change.
//!
//! Invariant: a draft holds what was asked, option by option; what follows from several options is
//! settled at the end, in [`super::parse()`].

use super::architecture::ArchitectureOptions;
use crate::build::DependencyOptions;
use crate::build::{Build, Language, Phase};
use std::path::PathBuf;

/// Text to print instead of building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Information {
    /// `--version`.
    Version,
    /// `--help`.
    Help,
    /// `--list-gpu-arch`, as `compute_`.
    VirtualArchitectures,
    /// `--list-gpu-code`, as `sm_`.
    RealArchitectures,
    /// `--sirius-print-link-flags`.
    LinkFlags,
}

/// A build while its command line is read.
#[derive(Debug)]
pub(super) struct Draft {
    /// What is known so far; the phase, inputs and architectures are filled in at the end.
    pub build: Build,
    /// The phases that were asked for by name, with the option's spelling.
    pub phases: Vec<(Phase, &'static str)>,
    /// `-run-args`.
    pub run_arguments: Vec<String>,
    /// `-x`.
    pub language: Option<Language>,
    /// `-arch`, `-code`, `-gencode`.
    pub architecture: ArchitectureOptions,
    /// `-M…`.
    pub dependencies: DependencyOptions,
    /// Unknown options go to the host compiler.
    pub forward_to_compiler: bool,
    /// Unknown options go to the host linker.
    pub forward_to_linker: bool,
    /// `-keep`, `-save-temps`.
    pub keep: bool,
    /// `-keep-dir`.
    pub keep_directory: Option<PathBuf>,
    /// `-odir`.
    pub output_directory: Option<PathBuf>,
    /// `--sirius-source`: the input that a preprocessed one was made of.
    pub source: Option<String>,
    /// `--sirius-toolkit`.
    pub toolkit_folder: Option<PathBuf>,
    /// `-cudart static` was given, and is not the default.
    pub asks_for_static_cudart: bool,
    /// Print this instead of building.
    pub information: Option<Information>,
    /// `--sirius-opt` was given: it names what is on, in place of the default.
    pub optimisations_listed: bool,
    /// `--sirius-boundaries` was given: it names what is done, in place of the default.
    pub boundaries_listed: bool,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

impl Draft {
    /// A draft in which no option was given.
    pub fn new(build: Build) -> Self {
        Self {
            build,
            phases: Vec::new(),
            run_arguments: Vec::new(),
            language: None,
            architecture: ArchitectureOptions::default(),
            dependencies: DependencyOptions::default(),
            forward_to_compiler: false,
            forward_to_linker: false,
            keep: false,
            keep_directory: None,
            output_directory: None,
            source: None,
            toolkit_folder: None,
            asks_for_static_cudart: false,
            information: None,
            optimisations_listed: false,
            boundaries_listed: false,
            warnings: Vec::new(),
        }
    }

    /// One argument for the host compiler; those that matter at the link go there as well, as
    /// nvcc gives `-Xcompiler` options to the host compiler when that links.
    pub fn host_argument(&mut self, argument: &str) {
        const AT_LINK: [&str; 7] = [
            "-fopenmp",
            "-pthread",
            "-fsanitize=",
            "-static",
            "-pg",
            "--coverage",
            "-rdynamic",
        ];
        const ONLY_AT_LINK: [&str; 3] = ["-Wl,", "-L", "-l"];
        let begins = |prefix: &&str| argument.starts_with(*prefix);
        if ONLY_AT_LINK.iter().any(begins) {
            self.build.link_arguments.push(argument.to_owned());
            return;
        }
        if AT_LINK.iter().any(begins) {
            self.build.link_arguments.push(argument.to_owned());
        }
        self.build.host_arguments.push(argument.to_owned());
    }
}

/// Whether an option that is in no row is one of the host compiler's that are accepted as they are:
/// a superset of nvcc's command line.
pub(super) fn is_host_option(argument: &str) -> bool {
    const EXACT: [&str; 6] = [
        "-pthread",
        "-pedantic",
        "-ansi",
        "-pipe",
        "-rdynamic",
        "--coverage",
    ];
    const PREFIXES: [&str; 6] = ["-f", "-W", "-march=", "-mtune=", "-mcmodel=", "-mavx"];
    EXACT.contains(&argument)
        || PREFIXES.iter().any(|prefix| argument.starts_with(prefix))
        || matches!(argument, "-mfma" | "-msse4.2" | "-mno-avx")
}
