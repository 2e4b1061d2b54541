//! nvcc's command line -> [`Invocation`], with our own options and subcommands.
//!
//! What the stages read of it are the types of [`crate::build`].
//!
//! A new option of our own is a row of [`sirius_options`], one of nvcc's a row of [`nvcc_options`] and one of [`descriptions`]. What it
//! sets is a field of [`Build`] or [`SiriusOptions`](crate::build::SiriusOptions), whose defaults stand beside them.

mod spelling;
mod options;
mod nvcc_options;
mod sirius_options;
mod values;
mod draft;
mod parse;
pub mod architecture;
mod subcommands;
mod descriptions;
mod help;
mod manual;
mod host_compiler;
pub mod shown;

use crate::build::{Build, Device, Planning, ReportFormat, TensorForm, TensorTuning};
use std::ffi::OsString;
use std::path::PathBuf;

pub use host_compiler::take_over_wrapper;
pub use parse::{Surroundings, UsageError, parse, parse_command_line};
pub use values::instead;

/// What one run of the program is asked to do.
#[derive(Clone, Debug)]
pub enum Invocation {
    /// Compile, and perhaps link.
    Build(Build),
    /// `sirius-rs analyze`: the report, building nothing.
    Analyze {
        /// What would be compiled.
        build: Build,
        /// The report's form.
        format: ReportFormat,
        /// `--dependences`: the text form lists these, too.
        dependences: bool,
        /// `--why`: a place of the source, of whose launches alone something is said.
        why: Option<String>,
        /// `--with-stats`: what runs of the program without and with fusion left in `SIRIUS_STATS`.
        statistics: Option<[PathBuf; 2]>,
        /// Where it goes; `None`: standard output.
        output: Option<PathBuf>,
    },
    /// `sirius-rs tune`: variants of the program's groups are measured.
    Tune {
        /// What would be compiled.
        build: Build,
        /// `--pack`: a program that measures elsewhere is made, and nothing measured.
        pack: bool,
        /// The program that measures, or what was measured.
        output: PathBuf,
    },
    /// The host compiler is asked about itself (`-Xcompiler --version`), and answers in place of a build.
    AskHostCompiler {
        /// `-ccbin`; `None`: clang.
        compiler: Option<PathBuf>,
        /// What it is asked.
        arguments: Vec<String>,
    },
    /// Text for standard output (`--version`, `--help`, …), and success.
    Print(String),
    /// `sirius-rs tc`: the CUDA of tensor definitions.
    Translate {
        /// What would be compiled, one file of definitions.
        build: Build,
        /// What of it is written.
        emit: TensorForm,
        /// How options are chosen.
        tuning: Option<TensorTuning>,
        /// Where it goes; `None`: standard output.
        output: Option<PathBuf>,
    },
    /// `sirius-rs plan`: what planners make of a problem that is a file, as JSON on standard output.
    Plan {
        /// The problem.
        problem: PathBuf,
        /// How it is solved.
        planning: Planning,
        /// Most walks of the planner `priority`.
        walks: usize,
    },
    /// `sirius-rs train`: the trainer, a program of its own, is run.
    Train {
        /// What it is given.
        arguments: Vec<OsString>,
    },
    /// `--sirius-toolkit`: a folder that stands for a CUDA toolkit.
    LayOut {
        /// Where.
        folder: PathBuf,
        /// For which device its compiler builds by default.
        device: Device,
    },
}
