//! How a run ends: what it says, and with which status.

use super::objects::ObjectsError;
use crate::build::{Build, ReportFormat};
use crate::codegen::CodegenError;
use crate::dependence::{
    DependenceGraph, build_dependence_graph, build_dependence_graph_without_relations,
};
use crate::diagnostics::Location;
use crate::kernel::KernelModel;
use crate::launch::{
    HostBlock, HostFunction, HostLoop, HostValue, Launch, LaunchGraph, NodeId, NodeKind,
};
use crate::planner::file::ProblemError;
use crate::program::ProgramError;
use crate::report::StatisticsError;
use crate::stage::Stage;
use crate::tools::ToolError;
use crate::tools::toolchain::ToolchainError;
use crate::tools::toolkit_folder::ToolkitFolderError;
use crate::tune::definitions::TuningError;
use crate::tune::{Evaluated, Subject};
use serde::Serialize;
use std::path::PathBuf;

/// The program that `sirius-rs train` runs.
pub(super) const TRAINER: &str = "sirius-rs-train";

/// What a successful run has to say.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Text for standard output.
    pub standard_output: String,
    /// Warnings of the front end and of ours, for standard error.
    pub warnings: String,
    /// `sirius: 9 launches -> 3`, when something fused.
    pub summary: Option<String>,
    /// The objects that were linked, where a link of the same may use them again.
    pub(super) objects: Vec<Vec<u8>>,
    /// Nothing was made of the bitcode of objects, since they are the program as it should be.
    pub(super) objects_as_they_are: bool,
    /// How long `warnings` were before variants were chosen.
    pub(super) before_choices: Option<usize>,
    /// What there was to tune, where that was asked for.
    pub(super) tunables: Vec<Tunable>,
    /// `-run`: what is to be run when all is said; its status is the run's.
    pub then_run: Option<std::process::Command>,
}

/// A subject of the program that was built, and what the model thinks of its variants.
#[derive(Clone, Debug)]
pub(super) struct Tunable {
    pub(super) subject: Subject,
    /// As planned first, then the others, the best first.
    pub(super) ranked: Vec<Evaluated>,
    /// Its choice is known from an earlier measurement.
    pub(super) is_known: bool,
}

impl Outcome {
    /// What another run has to say as well.
    pub(super) fn append(&mut self, other: Self) {
        self.standard_output.push_str(&other.standard_output);
        self.warnings.push_str(&other.warnings);
        self.summary = other.summary.or(self.summary.take());
        self.objects = other.objects;
        self.tunables = other.tunables;
    }

    /// Only a program that is run afterwards.
    pub(super) fn then_run(program: std::process::Command) -> Self {
        Self {
            then_run: Some(program),
            ..Self::default()
        }
    }

    /// Only text.
    pub(super) fn print(text: String) -> Self {
        Self {
            standard_output: text,
            ..Self::default()
        }
    }
}

/// Why a run ended without its result.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// `--sirius-layout` names a layout that no group has.
    #[error("no launches can be laid out as '{name}'; {instead}")]
    UnknownLayout {
        /// What the user asked for.
        name: String,
        /// What there is.
        instead: String,
    },
    /// A tool or folder is missing.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// No toolkit folder could be made.
    #[error(transparent)]
    ToolkitFolder(#[from] ToolkitFolderError),
    /// Tensor definitions cannot be tuned.
    #[error(transparent)]
    TensorTuning(#[from] TuningError),
    /// The front end refused the program, or could not run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// No artifact could be made.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// Objects could not be read, or not be given their bitcode.
    #[error(transparent)]
    Objects(#[from] ObjectsError),
    /// A tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file could not be written.
    #[error("Cannot write '{path}': {error}", path = .path.display())]
    Write {
        /// Where it should have gone.
        path: PathBuf,
        /// Why it did not.
        error: std::io::Error,
    },
    /// What is read would be written over.
    #[error("The output '{path}' is an input as well; give it another name", path = .0.display())]
    OutputIsInput(PathBuf),
    /// Only one of two things could have the name.
    #[error("Two outputs would have the name '{path}'; give one of them another name or folder (-o, -odir)", path = .0.display())]
    TwoOutputs(PathBuf),
    /// Standard input, which is a source, could not be read.
    #[error("Cannot read standard input: {0}")]
    StandardInput(std::io::Error),
    /// `--why` names a place where there is nothing to tell.
    #[error("--why: {0}")]
    Why(String),
    /// `--with-stats` names files that tell nothing.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// Tensor definitions are wrong: the messages.
    #[error("{0}")]
    Tensor(String),
    /// A source could not be read.
    #[error("Cannot read '{path}': {error}", path = .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// Two files of tensor definitions would have one header.
    #[error(
        "Two files of tensor definitions have the name '{0}', and so would their headers; rename one of them"
    )]
    TwoHeaders(String),
    /// A file of `sirius-rs plan` is no problem.
    #[error("'{path}': {error}", path = .path.display())]
    Problem {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: ProblemError,
    },
    /// `sirius-rs train` has no trainer to run.
    #[error(
        "'sirius-rs train' runs the program {TRAINER}, which is neither beside the compiler nor in PATH; \
         'cargo install --path trainer' builds it from the sources of sirius-rs"
    )]
    NoTrainer,
    /// Nothing could be measured.
    #[error("{0}")]
    Tune(String),
    /// A check of ours failed where that is fatal.
    #[error("internal error: {0}")]
    Bug(String),
}

impl PipelineError {
    /// nvcc's exit status for it.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Toolchain(error) => error.exit_status(),
            Self::Program(error) => error.exit_status(),
            Self::Codegen(error) => error.exit_status(),
            Self::Objects(error) => error.exit_status(),
            Self::Tool(error) => error.exit_status(),
            Self::ToolkitFolder(_)
            | Self::Write { .. }
            | Self::OutputIsInput(_)
            | Self::TwoOutputs(_)
            | Self::StandardInput(_)
            | Self::Tensor(_)
            | Self::TensorTuning(_)
            | Self::Read { .. }
            | Self::TwoHeaders(_)
            | Self::Bug(_)
            | Self::Why(_)
            | Self::Statistics(_)
            | Self::Tune(_)
            | Self::Problem { .. }
            | Self::NoTrainer
            | Self::UnknownLayout { .. } => 1,
        }
    }

    /// True when a check of ours failed, and not a tool or the user's program.
    pub(super) fn is_bug(&self) -> bool {
        match self {
            Self::Codegen(error) | Self::Objects(ObjectsError::Link(error)) => error.is_bug(),
            Self::Bug(_) => true,
            Self::Toolchain(_)
            | Self::ToolkitFolder(_)
            | Self::Program(_)
            | Self::Objects(_)
            | Self::Tool(_)
            | Self::Write { .. }
            | Self::OutputIsInput(_)
            | Self::TwoOutputs(_)
            | Self::StandardInput(_)
            | Self::Why(_)
            | Self::Statistics(_)
            | Self::Tensor(_)
            | Self::TensorTuning(_)
            | Self::Read { .. }
            | Self::TwoHeaders(_)
            | Self::Tune(_)
            | Self::UnknownLayout { .. }
            | Self::Problem { .. }
            | Self::NoTrainer => false,
        }
    }

    /// The place in a source that it is about, where it is about one.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Self::Program(error) | Self::Objects(ObjectsError::Program(error)) => error.location(),
            _ => None,
        }
    }

    /// True when the text is a tool's own output, to be passed on as it is.
    pub fn is_tool_output(&self) -> bool {
        matches!(
            self,
            Self::Tensor(_)
                | Self::Tool(ToolError::Failed { .. })
                | Self::Codegen(CodegenError::Tool(ToolError::Failed { .. }))
                | Self::Objects(
                    ObjectsError::Tool(ToolError::Failed { .. })
                        | ObjectsError::Link(CodegenError::Tool(ToolError::Failed { .. }))
                        | ObjectsError::Program(ProgramError::FrontEnd { .. })
                )
                | Self::Program(ProgramError::FrontEnd { .. })
        )
    }
}

/// What makes a program's unified graph.
pub(super) type Relate = fn(&LaunchGraph, &[KernelModel]) -> DependenceGraph;

/// The graph of a build, whose relations are written where something shows them.
pub(super) fn relate_for(build: &Build) -> Relate {
    let options = &build.sirius;
    let dumped = options.dump.contains(&Stage::Dependence);
    match options.report.is_some() || options.save_directory.is_some() || dumped {
        true => build_dependence_graph,
        false => build_dependence_graph_without_relations,
    }
}

/// The graph of a report in a form, whose relations are written where the form has them.
pub(super) fn relate_shown(format: ReportFormat, dependences: bool) -> Relate {
    match format == ReportFormat::Text && !dependences {
        true => build_dependence_graph_without_relations,
        false => build_dependence_graph,
    }
}

/// The edges, and after them the launches and host values that their conditions speak of.
pub(super) fn dependence_as_json(graph: &LaunchGraph, dependences: &DependenceGraph) -> String {
    #[derive(Serialize)]
    struct Operands<'a> {
        launches: Vec<(NodeId, &'a Launch)>,
        values: &'a [HostValue],
        functions: &'a [HostFunction],
        blocks: &'a [HostBlock],
        loops: &'a [HostLoop],
    }
    let launches = graph.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Launch(launch) => Some((node.id, launch)),
        _ => None,
    });
    let operands = Operands {
        launches: launches.collect(),
        values: &graph.values,
        functions: &graph.functions,
        blocks: &graph.blocks,
        loops: &graph.loops,
    };
    let edges: Vec<_> = dependences.edges().collect();
    format!("{}\n{}", as_json(&edges), as_json(&operands))
}

/// Data as readable JSON.
pub(super) fn as_json<T: Serialize>(data: &T) -> String {
    serde_json::to_string_pretty(data).unwrap_or_else(|error| format!("{error}"))
}
