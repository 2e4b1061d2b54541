//! The names of the compiler's stages, which options, reports, times and the pipeline share.

use serde::{Deserialize, Serialize};

/// A stage of the compiler, in the order in which data flows. The names serve
/// `--sirius-stop-after=`, `--sirius-dump=`, timing labels and test folders alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Sources to LLVM modules.
    Program,
    /// Host IR to the launch graph.
    Launch,
    /// Device IR to kernel models.
    Kernel,
    /// Both to the unified graph.
    Dependence,
    /// The graph to a plan.
    Schedule,
    /// The plan judged.
    Verify,
    /// The plan carried out.
    Codegen,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 7] = [
        Self::Program,
        Self::Launch,
        Self::Kernel,
        Self::Dependence,
        Self::Schedule,
        Self::Verify,
        Self::Codegen,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Launch => "launch",
            Self::Kernel => "kernel",
            Self::Dependence => "dependence",
            Self::Schedule => "schedule",
            Self::Verify => "verify",
            Self::Codegen => "codegen",
        }
    }
}
