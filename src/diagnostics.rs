//! What the compiler says about a program: where, what, and why not.
//!
//! Three kinds of "no" exist and never mix: a *user error* (clang's own message or one sentence of
//! ours, with nvcc's exit status), a [`Rejection`] ("these two launches stay unfused because …": a
//! result, typed and located) and *our bug* (a check of ours failed). Nothing in this module
//! prints; rendering happens at the edge, in [`crate::report`] and in [`crate::run`].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A place in the user's source, taken from `!dbg`. The path is as the user wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// Path as on the command line or in the include.
    pub file: String,
    /// Line, counted from 1; 0 when unknown.
    pub line: u32,
    /// Column, counted from 1; 0 when unknown.
    pub column: u32,
}

/// The path of a source as it was given, from the directory and file name of its debug information:
/// clang cuts what an absolute path shares with the current folder off and calls it the directory.
pub fn source_path(directory: &str, file: &str) -> String {
    // The process stays where it began, and is asked for each instruction.
    static HERE: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::current_dir().ok());
    let here = HERE.as_deref() == Some(Path::new(directory));
    if here || directory.is_empty() || Path::new(file).is_absolute() {
        return file.to_owned();
    }
    Path::new(directory).join(file).display().to_string()
}

/// The name of a function or variable as its source has it.
pub fn source_name(mangled: &str) -> String {
    let symbol = cpp_demangle::Symbol::new(mangled).ok();
    let text = symbol.and_then(|symbol| symbol.demangle(&Default::default()).ok());
    text.unwrap_or_else(|| mangled.to_owned())
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return formatter.write_str("<unknown>");
        }
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// Makes [`RejectionReason`] of rows: what the reason is, its name in reports, and what a user can do about it.
macro_rules! reasons {
    ($($(#[doc = $text:literal])+ $reason:ident = $name:literal, $advice:expr;)+) => {
        /// Why two launches stay unfused.
        ///
        /// A new one is a row here, stands in `docs/reasons.md`, and has a program that triggers it; `tests/report.rs`
        /// compares.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum RejectionReason {
            $(
                $(#[doc = $text])+
                #[serde(rename = $name)]
                $reason,
            )+
        }

        impl RejectionReason {
            /// All reasons, in the order of the documentation's table.
            pub const ALL: &[Self] = &[$(Self::$reason),+];

            /// The name that reports use.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)+
                }
            }

            /// What a user can do about it, where there is something: a sentence without its full stop. `docs/reasons.md` has
            /// more.
            pub fn advice(self) -> Option<&'static str> {
                match self {
                    $(Self::$reason => $advice,)+
                }
            }
        }
    };
}

reasons! {
    /// A dependence crosses blocks of the grid.
    GlobalDependence = "global_dependence", Some("let each block work on its own part");
    /// Two pointers may name overlapping memory and no run-time test can tell.
    MayAlias = "may_alias", Some("pass pointers that come straight from their allocation");
    /// The host touches device-visible memory, reads input or writes much between the launches, or the host or a
    /// launch prints where a kernel prints.
    HostAccess = "host_access", Some("move what the host does before the first launch or behind the last");
    /// A copy, set or symbol copy between the launches depends on the first.
    CopyBetween = "copy_between", Some("move the copy or fill before the first launch or behind the last");
    /// The launches are on different streams.
    Stream = "stream", Some("launch on one stream what belongs together");
    /// An unknown call, callback, event record, allocation or free stands between.
    Fence = "fence", Some("move the call before the first launch or behind the last");
    /// A barrier of a member would be reached by part of a block only.
    DivergentBarrier = "divergent_barrier", Some("let all threads reach the barrier, and guard the work instead of returning early");
    /// The launches have different shapes.
    Shape = "shape", Some("launch with the same grid and block");
    /// The host does not always launch one after the other: alternatives of one `if`, a condition or a loop that one of
    /// them stands in.
    ControlFlow = "control_flow", Some("launch both under one condition, or test it in the kernel");
    /// The launches of one iteration of a host loop and those of the next, which depend on them within threads or blocks.
    HostLoop = "host_loop", Some("move the loop into the kernel");
    /// A path from a member to a member leaves the group.
    NotConvex = "not_convex", Some("reorder the launches");
    /// A kernel does something that is not modelled (spinning, inline asm, cooperative launch, …).
    OpaqueKernel = "opaque_kernel", Some("use intrinsics in place of inline assembly");
    /// A kernel does something that a fused kernel could not be proven to keep (a memory fence, a
    /// clock, a named barrier, …); what it touches is known.
    Unfusable = "unfusable", None;
    /// A subscript could not be proven to stay in one thread or block.
    UnprovenIndex = "unproven_index", Some("write the subscript with blockIdx, blockDim, threadIdx and loop counters");
    /// The fused kernel would exceed a limit of the device.
    Resources = "resources", Some("use less shared memory, smaller blocks or launch bounds");
    /// Independent launches whose kernels differ; nothing is gained by joining them yet.
    NotSimilar = "not_similar", None;
    /// What was planned did not stand the verifier's check: a bug of ours.
    NotVerified = "not_verified", None;
    /// Switched off on the command line, or there are too many dependences to look at.
    Disabled = "disabled", Some("--sirius-fusion=all, without a limit of fusions");
}

/// Two things stay unfused, and why: a result, not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The class of reason.
    pub reason: RejectionReason,
    /// One sentence for the CUDA programmer.
    pub message: String,
    /// What a developer of this compiler wants to know (relation, ids); may be empty.
    pub detail: String,
    /// Where the obstacle stands.
    pub location: Location,
}

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Compilation goes on.
    Warning,
    /// Compilation ends with a non-zero status.
    Error,
}

/// One sentence for the user about the command line or the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The sentence, without the program's name and without a final newline.
    pub message: String,
}
