//! [`Program`](crate::program::Program) + [`VerifiedPlan`](crate::verify::VerifiedPlan) ->
//! objects and programs: fused kernels, rewritten host code, PTX or CPU code, linking.
//!
//! Invariant: originals stay. Every launch of the source can still run its original kernel from
//! its original image; fusion adds an image and a guarded choice.
//!
//! [`emit()`] carries a plan out. [`fuse`] makes kernels; [`host`], [`group`], [`guard`] and [`batches`] rewrite
//! host code. [`device`] makes the final device IR, of which [`ptx`] and [`cpu`] make code.

mod host_code;
mod run_time;
mod device_images;
mod fused_kernels;
pub mod cpu;
pub mod device;
mod emit;
mod link;
mod shared_runtime;
mod batches;

pub use device_images::ptx;
use device_images::{fatbin_object, images, kept_images, kernel_text, loadable, parts, pending};
pub use fused_kernels::fuse;
use fused_kernels::{common_shape, divisors, matrix_places, undefined, wide_conversions};
use host_code::{
    awaited_copies, expansion, frame, group, guard, host, host_arithmetic, host_library,
    host_parts, launch_call, leaving, overlap, region, shared_functions,
};
use run_time::{graph_updates, registration, reserve, tables, timer};

pub use emit::{Emitted, emit, emit_device_only, emit_host_only, link_objects};
pub use images::{FusedImage, FusedKernels, UnitImages, Workbench, emit_units, try_candidates};
pub use kernel_text::kernel_texts;
pub use link::{archive, compile_host_bitcode, note_on_openmp, trace_link};
pub use pending::DeviceCode;

use crate::launch::{BufferId, HostPlace, LaunchId, NodeId, ScalarType, ValueId};
use crate::math::affine::Axis;
use crate::math::expression::Expression;
use std::path::{Path, PathBuf};

/// Why no artifact was made.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// LLVM's builder refused an instruction: our bug.
    #[error("internal error: {0}")]
    Builder(#[from] inkwell::builder::BuilderError),
    /// Stage results do not fit together: our bug.
    #[error("internal error: {0}")]
    Inconsistent(String),
    /// A file could not be written.
    #[error("Cannot write '{path}': {error}", path = .path.display())]
    Write {
        /// Where it should have gone.
        path: PathBuf,
        /// Why it did not.
        error: std::io::Error,
    },
    /// The CPU device's runtime library is not there.
    #[error(
        "the CPU device's runtime library libsirius_runtime.a was not found beside the compiler; \
         build it with scripts/setup or set SIRIUS_RUNTIME"
    )]
    NoRuntime,
    /// The form of it that several shared libraries and a program can have in common is not there.
    #[error(
        "the CPU device's runtime as a shared library was not found: there is no {}; build it with scripts/setup, \
         or, if this compiler was installed alone, let SIRIUS_CACHE name a folder that stays",
        .0.display()
    )]
    NoSharedRuntime(PathBuf),
    /// `-lib` needs an archiver.
    #[error("Cannot find llvm-ar 22; run scripts/setup, or install llvm-22")]
    NoArchiver,
    /// `-ptx` and its kin want a CUDA source.
    #[error("the source has no device code")]
    NoDeviceCode,
    /// Device code calls a function that nothing defines.
    #[error(
        "undefined reference to '{function}' in device code of '{}'; a function of another source's device code wants \
         -rdc=true for both",
        source_file.display()
    )]
    UndefinedFunction {
        /// The function, as the source has it.
        function: String,
        /// As on the command line.
        source_file: PathBuf,
    },
    /// A tool that was run failed; it carries the tool's own words.
    #[error(transparent)]
    Tool(#[from] crate::tools::command::ToolError),
    /// LLVM refused something that we made: our bug.
    #[error("internal error: LLVM: {0}")]
    Llvm(String),
    /// A guard names a host value that no member of its group carries: our bug.
    #[error("internal error: a guard needs host value {0}, which no member has")]
    GuardOperand(usize),
    /// A pass copied a barrier: our bug.
    #[error("internal error: a pass changed the number of barriers from {before} to {after}")]
    BarrierChanged {
        /// Barriers before.
        before: usize,
        /// Barriers after.
        after: usize,
    },
}

impl CodegenError {
    /// What becomes of an error of a file.
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |error| Self::Write { path, error }
    }

    /// nvcc's exit status for it.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Tool(error) => error.exit_status(),
            // That of ptxas.
            Self::UndefinedFunction { .. } => 255,
            _ => 1,
        }
    }

    /// True when a check of ours failed.
    pub fn is_bug(&self) -> bool {
        match self {
            Self::Builder(_)
            | Self::Inconsistent(_)
            | Self::Llvm(_)
            | Self::GuardOperand(_)
            | Self::BarrierChanged { .. } => true,
            Self::Write { .. }
            | Self::NoRuntime
            | Self::NoSharedRuntime(_)
            | Self::UndefinedFunction { .. }
            | Self::NoArchiver
            | Self::NoDeviceCode
            | Self::Tool(_) => false,
        }
    }
}

/// A fused kernel as the host must launch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusedKernel {
    /// Its name in the fused image; groups may share it.
    pub name: String,
    /// Index of its group in [`FusionPlan::with_fallbacks`](crate::schedule::FusionPlan::with_fallbacks): one of the plan, or of
    /// a fallback.
    pub group: usize,
    /// What the host passes, in order.
    pub parameters: Vec<FusedParameter>,
    /// Allocations that its members write and it does not, because nobody reads them afterwards.
    pub unwritten: Vec<BufferId>,
    /// Allocations that its members touch and it does not.
    pub untouched: Vec<BufferId>,
    /// Static shared memory of a block, in bytes.
    pub static_shared_bytes: u64,
    /// What its blocks store in a phase and load in a later one, from shared memory or not.
    pub handed_on: Vec<HandedOn>,
    /// What it keeps in dynamic shared memory, beside what its members have there.
    pub promoted: Option<PromotedRows>,
}

/// What the kernel of a tested loop keeps for the host: the number of iterations that it ran, a 32-bit number, and from
/// [`LOOP_ROWS_OFFSET_BYTES`] on a row for each, in which copies have what they bring one after the other, each from a multiple
/// of eight bytes on.
pub(in crate::codegen) fn loop_row_bytes(copied_bytes: impl Iterator<Item = u32>) -> u32 {
    copied_bytes.map(|bytes| bytes.next_multiple_of(8)).sum()
}

/// See [`loop_row_bytes`].
pub(in crate::codegen) const LOOP_ROWS_OFFSET_BYTES: u32 = 16;

/// What a member of a cooperative launch stores by an argument and threads of its block load in a later phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOn {
    /// The member's position.
    pub member: usize,
    /// The argument.
    pub argument: usize,
    /// Loads that look into shared memory first, or would.
    pub loads: usize,
    /// Whether they do.
    pub is_kept: bool,
    /// What a pass through the phases is estimated to take without that and with it, in picoseconds; where blocks would not all be on
    /// the device nothing is known. Both are unknown where there is no shared memory for it, or the device does not hold
    /// all blocks anyway.
    pub picoseconds: [Option<u64>; 2],
}

/// Shared memory that a launch of a fused kernel has to bring along for the rows that it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotedRows {
    /// The kernel's parameter that holds the number of elements of a row.
    pub parameter: usize,
    /// Its width.
    pub bits: u32,
    /// Bytes for each element.
    pub element_bytes: u64,
    /// With more elements than this the kernel keeps nothing, and needs nothing.
    pub most_elements: u64,
    /// Where the rows begin: what members have of dynamic shared memory comes before.
    pub behind_bytes: u64,
}

/// A kernel that runs several launches of a batch: the blocks of each lie one after the other on the z
/// axis of its grid. Its one parameter is a block of memory with the grid's z extent of one launch
/// at its start and the arguments of each launch, a record, from `records_offset_bytes` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchKernel {
    /// Its name in the fused image.
    pub name: String,
    /// The statements of the plan that it runs launches of.
    pub statements: Vec<BatchedSite>,
    /// One launch by itself has a kernel that takes what a record holds: that of all these groups, or
    /// the user's.
    pub single: bool,
    /// Where each argument of a launch lies where it waits.
    pub offsets_bytes: Vec<u32>,
    /// The size of each argument.
    pub sizes_bytes: Vec<u32>,
    /// What all of them take there.
    pub arguments_bytes: u32,
    /// What a record has of that.
    pub pieces: Vec<RecordPiece>,
    /// From one record to the next.
    pub record_bytes: u32,
    /// Where the first record begins.
    pub records_offset_bytes: u32,
    /// How many records there is room for; with less than two there is no such kernel, and each launch
    /// is one by itself.
    pub capacity: u32,
    /// The kernel in which it may stand beside launches of other code.
    pub heterogeneous: Option<HeterogeneousKernel>,
    /// The kernel in which its batches may be phases.
    pub phases: Option<PhasesKernel>,
    /// The kernel runs launches one after the other in the same blocks. Its parameter begins with their number, then come a
    /// record and the rows of what varies.
    pub persistent: Option<PersistentRows>,
    /// What blocks of that kernel store and load in a later phase, from shared memory or not.
    pub handed_on: Vec<HandedOn>,
}

/// Bytes of a launch's arguments that a record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPiece {
    /// Where they lie among the arguments.
    pub from_bytes: u32,
    /// Where they lie in the record.
    pub to_bytes: u32,
    /// How many they are.
    pub bytes: u32,
}

/// Where the kernel of a persistent loop finds what varies from launch to launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersistentRows {
    /// Where in a row each argument is that varies; `None` for one that the record has.
    pub offsets_bytes: Vec<Option<u32>>,
    /// From one row to the next; 0 where nothing varies.
    pub row_bytes: u32,
    /// Where the first row begins.
    pub first_offset_bytes: u32,
    /// By launch, up to where pointers that change places are back where they were: by argument, which one of the record
    /// it has.
    pub sources: Vec<Vec<usize>>,
    /// Its blocks wait for each other, and so do those of the kernel of one launch.
    pub cooperative: bool,
}

/// A cooperative kernel that runs batches one after the other, with a barrier across the grid between two of them, and which of
/// its codes a [`BatchKernel`] is. Its parameters: where in global memory the host has written what each batch is, and how many
/// batches there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasesKernel {
    /// Its name in the fused image.
    pub name: String,
    /// The number of the code.
    pub code: u32,
    /// Each of its blocks runs so many blocks of a batch at most.
    pub rounds: u32,
    /// A launch may bring so much shared memory along.
    pub dynamic_shared_bytes: u64,
}

/// A kernel for what meets in a batch and is not of one code and grid, and which of its codes a
/// [`BatchKernel`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeterogeneousKernel {
    /// Its name in the image of batches' kernels.
    pub name: String,
    /// The number of the code.
    pub code: u32,
    /// Static shared memory of a block, in bytes, that of all its codes.
    pub static_shared_bytes: u64,
}

impl BatchKernel {
    /// Whether the fused image has it.
    pub fn is_built(&self) -> bool {
        self.capacity > 1
    }
}

/// A statement of the plan whose launches a [`BatchKernel`] runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchedSite {
    /// At whose place it is issued.
    pub launch: LaunchId,
    /// The group that it is; `None` for a launch by itself.
    pub group: Option<usize>,
    /// What a record holds, in order.
    pub parameters: Vec<FusedParameter>,
    /// The launches that it is.
    pub members: Vec<BatchMember>,
}

/// A launch of a statement, and how its record leads to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchMember {
    /// Which launch.
    pub launch: LaunchId,
    /// The number of its segment in the fused kernel.
    pub segment: usize,
    /// By argument, the parameter of the record that is this pointer, or that it is computed from; `None` where
    /// the kernel would see that the pointer has changed, or for what is no pointer.
    pub pointers: Vec<Option<usize>>,
}

/// Where the host takes a parameter of a fused kernel from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FusedParameter {
    /// An argument of a member launch.
    Argument {
        /// Which member.
        launch: LaunchId,
        /// Position among its kernel's parameters.
        argument: usize,
    },
    /// A field of a struct that a member launch takes by value.
    Field {
        /// Which member.
        launch: LaunchId,
        /// Position of the struct among its kernel's parameters.
        argument: usize,
        /// Where the field begins.
        offset_bytes: u32,
        /// Its size.
        bytes: u32,
    },
    /// The device address of `Program::variables[variable]`.
    VariableAddress {
        /// Index into the program's variables.
        variable: usize,
    },
    /// An extent of a member's own grid, 32 bits.
    GridSize {
        /// Which member.
        launch: LaunchId,
        /// On which axis.
        axis: Axis,
    },
    /// A 32-bit number that the host computes: an extent of a member's launch, or where its blocks
    /// begin.
    HostValue {
        /// In terms of host values that members carry.
        expression: Expression<ValueId>,
    },
    /// Which word counts the blocks that have arrived, 32 bits: the one of the stream that the launch is made on.
    ArrivalCounter,
    /// Where the kernel of a tested loop keeps how many iterations it ran and what their copies bring.
    LoopRows,
    /// A value of the host in front of the first launch of a tested loop.
    LoopValue(LoopValue),
}

/// A value that the kernel of a tested loop takes from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopValue {
    /// A scalar.
    Scalar(HostPlace, ScalarType),
    /// What a copy of the loop reads.
    Source(NodeId),
}

/// So many streams have a word that counts arrived blocks.
const ARRIVAL_COUNTERS: u32 = 1024;
/// The variable of a device image with these words.
const ARRIVALS: &str = "sirius_arrivals";

impl FusedParameter {
    /// The member and its argument that it is, or is a field of.
    pub fn argument(&self) -> Option<(LaunchId, usize)> {
        match self {
            Self::Argument { launch, argument }
            | Self::Field {
                launch, argument, ..
            } => Some((*launch, *argument)),
            Self::VariableAddress { .. }
            | Self::GridSize { .. }
            | Self::HostValue { .. }
            | Self::ArrivalCounter
            | Self::LoopRows
            | Self::LoopValue(_) => None,
        }
    }

    /// Where it begins in that argument, in bytes.
    pub fn begin_in_argument(&self) -> u32 {
        match self {
            Self::Field { offset_bytes, .. } => *offset_bytes,
            _ => 0,
        }
    }
}

/// A device image ready to be embedded or linked.
#[derive(Clone, Debug)]
pub enum DeviceImage {
    /// A fat binary: the bytes that the wrapper points to.
    Fatbin(Vec<u8>),
    /// Host objects that together define a `CpuImage` (see the crate `sirius_abi`) under `symbol`.
    CpuObjects {
        /// The object files.
        objects: Vec<PathBuf>,
        /// The symbol that the wrapper points to.
        symbol: String,
    },
}
