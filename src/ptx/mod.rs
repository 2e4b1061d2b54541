//! PTX in, LLVM IR out: a whole module as LLVM, nvcc, NVRTC or Triton write it -> the device module that clang
//! would have given, as a text.
//!
//! What LLVM has in the same meaning becomes LLVM's: arithmetic, accesses, branches, calls, barriers, atomics. Any
//! other instruction becomes inline assembly of that one instruction, so that modules and inline PTX have one table
//! of instructions (`codegen::cpu`). What that table does not have either says so when it is reached.
//!
//! Invariants:
//! * No statement is passed over: what cannot be read is an error with its line.
//! * Arithmetic is that of the text: nothing is contracted, roundings and flushes are those that are written.
//! * An address is a host's address whatever its space; one of 32 bits is the lower half of one in shared memory.

mod computing;
mod flat;
mod lower;
mod parse;
mod roots;
mod syntax;
mod tokens;

pub(crate) use computing::COMPUTING;
pub use lower::{DeviceModule, device_module};
pub use parse::parse;
pub use syntax::{Function, Item, Module};

/// Why a module cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PtxError {
    /// It is no PTX.
    #[error("{what}")]
    Syntax {
        /// The line, the first being 1.
        line: u32,
        /// What is wrong.
        what: String,
    },
    /// It is PTX that is not understood here.
    #[error("{what} is not supported")]
    Unsupported {
        /// The line, the first being 1.
        line: u32,
        /// What it is.
        what: String,
    },
}

impl PtxError {
    fn syntax(line: u32, what: String) -> Self {
        Self::Syntax { line, what }
    }

    fn unsupported(line: u32, what: String) -> Self {
        Self::Unsupported { line, what }
    }

    /// The line that it is about, the first being 1.
    pub fn line(&self) -> u32 {
        match self {
            Self::Syntax { line, .. } | Self::Unsupported { line, .. } => *line,
        }
    }
}
