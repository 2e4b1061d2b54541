//! Host IR -> [`LaunchGraph`]: launches, copies, allocations, synchronisation and control flow.
//!
//! Plain data with ids; no LLVM pointers. Invariants: every instruction of a host function that
//! contains a launch and that may touch device-visible memory, do I/O, leave the program, or
//! otherwise be observed by or observe a kernel, is a [`Node`]; two operands with the same
//! [`ValueId`] have the same value whenever both are evaluated in one iteration of their innermost
//! common loop; two different [`BufferId`]s never overlap while both are alive.
//!
//! Loops are data: [`LaunchGraph::iterations`] has a counter for every loop, a domain for counted
//! ones, and values and pointers as functions of the counters, so that an operation in a loop is a
//! set of statement instances.
//!
//! [`host_reader`] reads LLVM's module. What a called function does is a row of the tables of [`calls`]; what
//! pointers lead to is found in [`points_to`], what values are equal in [`values`]. [`nodes`] makes the graph.

mod calls;
mod capture;
mod display;
mod handles;
mod host_ir;
mod loop_tests;
mod memory;
mod nodes;
mod pointers;
mod points_to;
mod promotion;
mod recurrences;
mod values;

use points_to::buffer_names;

use memory::versions;

use recurrences::iterations;

use host_ir::{cfg, host_reader};

pub use calls::is_cuda;
pub(crate) use calls::{Action, Waiting, runtime_call};
pub use capture::StreamCapture;
pub use handles::fold_launches_by_handles;
pub use iterations::{Course, Iterations, LoopDomain, Place};
pub use loop_tests::{
    CarriedScalar, CopyToHost, FloatComparison, HostPlace, IntegerComparison, LoopArgument,
    LoopArgumentValue, LoopExit, LoopTest, Scalar, ScalarKind, ScalarOperation, ScalarType, Untold,
};
pub use promotion::promote_calls_through_pointers;

use crate::diagnostics::Location;
use crate::math::expression::Expression;
use crate::program::{KernelId, OperationKind, Program};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the host side of a program: never fails, because whatever is not understood is in the
/// graph as [`NodeKind::Opaque`] or as a pointer that may point anywhere.
pub fn build_launch_graph(program: &Program<'_>) -> LaunchGraph {
    let host = host_reader::read_host_module(&program.host, program.closed);
    nodes::assemble(
        &host,
        &program.kernels,
        &program.variables,
        (program.host_visible_memory, program.flushes_denormals()),
    )
}

/// Index into [`LaunchGraph::nodes`]; nodes are numbered in host order (reverse postorder).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub usize);

/// The number that canonicalisation gave to a launch site; the folded launch call carries it as
/// its first argument, so that code generation finds it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LaunchId(pub u32);

/// Index into [`LaunchGraph::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ValueId(pub usize);

/// Index into [`LaunchGraph::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BufferId(pub usize);

/// Index into [`LaunchGraph::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostBlockId(pub usize);

/// Added to the offset of a pointer that a kernel loads from memory: so many bytes behind the place that the
/// argument, a pointer by itself, leads to. No offset within an argument is as large.
pub const BEHIND_POINTER: u32 = 1 << 31;

/// Which component of a launch a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// Grid extent on axis 0, 1 or 2 (an unsigned 32-bit value).
    Grid(u8),
    /// Block extent on axis 0, 1 or 2 (an unsigned 32-bit value).
    Block(u8),
    /// Bytes of dynamic shared memory.
    SharedBytes,
    /// The stream handle.
    Stream,
    /// The value at `offset_bytes` of an argument, `bits` wide (pointers: 64), read `signed` or not.
    Argument {
        /// Position among the kernel's parameters.
        argument: usize,
        /// Byte offset within a struct passed by value, else 0; from [`BEHIND_POINTER`] on the value is no part
        /// of the argument: it stands in the memory that the argument leads to, in a table of pointers.
        offset_bytes: u32,
        /// Width in bits, 8 to 64.
        bits: u32,
        /// Two's complement or unsigned reading.
        signed: bool,
    },
}

/// A host value that a launch uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostValue {
    /// Its value, when known at compile time.
    pub constant: Option<i64>,
    /// A launch and operand that has this value: where a guard takes it from. Other launches may
    /// share the value. The counter of a loop, and what else no launch takes, has a holder of launch
    /// `u32::MAX`; it stands in no expression but those of [`LaunchGraph::iterations`].
    pub holder: (LaunchId, Operand),
    /// The innermost loop in whose iterations it may differ; `None`: computed once.
    pub varies_in: Option<usize>,
}

/// Where a device pointer points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Root {
    /// Into this allocation.
    Buffer(BufferId),
    /// Unknown memory; the pointer *value less its offset* has this identity.
    Value(ValueId),
}

impl Root {
    /// The allocation, where it is one.
    pub fn buffer(&self) -> Option<BufferId> {
        match self {
            Self::Buffer(buffer) => Some(*buffer),
            Self::Value(_) => None,
        }
    }
}

/// A device pointer as the host knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// What it points into.
    pub root: Root,
    /// Byte offset from the root's start, where the host knows it.
    pub offset_bytes: Option<Expression<ValueId>>,
    /// All allocations that it can point into, when points-to bounded them; else `None`. For
    /// `Root::Buffer` this is that buffer alone.
    pub may_point_to: Option<Vec<BufferId>>,
    /// True when it is proven to be device-only memory (from `cudaMalloc` and its kin), which the
    /// host cannot touch.
    pub device_only: bool,
}

/// What an allocation is made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// `cudaMalloc` and its kin.
    Device,
    /// `cudaMallocManaged`, `__managed__`.
    Managed,
    /// `cudaMallocHost`, `cudaHostAlloc`, registered memory.
    Pinned,
    /// A `__device__` variable.
    DeviceVariable,
    /// A `__constant__` variable.
    Constant,
}

/// An allocation site or a device variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// The variable that holds the pointer where debug information tells, else `buffer<n>`.
    pub name: String,
    /// What made it.
    pub memory: MemoryKind,
    /// True when one pointer value to it is one allocation: the site runs once, or every use sees
    /// the same run of it. Pointers into a buffer that is not unique may be to different
    /// allocations of one site.
    pub unique: bool,
    /// Host code that is not analysed may have a pointer into it, other than by way of a kernel
    /// that keeps an argument ([`KernelParameter::captured`](crate::kernel::KernelParameter)).
    /// Always true of variables, which have names.
    #[serde(default)]
    pub escapes: bool,
    /// Its size, where known.
    pub bytes: Option<Expression<ValueId>>,
    /// Which of the host module's calls of `cudaMalloc` makes it, in their order, where the graph shows all
    /// uses of pointers into it by CUDA: launches, sets and copies within the device that are
    /// [operations](LaunchGraph::operations), and `cudaFree`.
    #[serde(default)]
    pub plain_call: Option<usize>,
    /// The pointers that the host copies into it from memory of its own, where all of those are known; whether
    /// somebody else writes there, too, the nodes tell.
    #[serde(default)]
    pub stored_pointers: Option<Vec<StoredPointer>>,
    /// The device variable's name in the device module, for variables.
    pub variable: Option<String>,
    /// Place of the allocation.
    pub location: Location,
}

/// A pointer in device memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPointer {
    /// Where it begins, from the start of the allocation that holds it; `None`: anywhere.
    pub at_bytes: Option<i64>,
    /// All allocations that it can lead into; `None`: any memory.
    pub may_point_to: Option<Vec<BufferId>>,
    /// How far it leads into its only allocation, where that is known.
    pub offset_bytes: Option<i64>,
}

/// The stream of a launch or copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    /// The default stream (null or `cudaStreamLegacy`).
    Default,
    /// A stream handle with this identity.
    Handle(ValueId),
    /// Unknown.
    Unknown,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// The pieces that are known, by byte offset: a scalar has one piece at 0, a struct one for
    /// each integer or pointer field whose value is known.
    pub pieces: Vec<ArgumentPiece>,
    /// Equal ids mean bit-equal whole arguments.
    pub identity: Option<ValueId>,
}

/// A known part of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentPiece {
    /// Byte offset within the argument.
    pub offset_bytes: u32,
    /// Width in bits.
    pub bits: u32,
    /// Its value. For integers `HostValue::constant` is the sign-extended reading; whoever needs
    /// the unsigned one masks to `bits`.
    pub value: ValueId,
    /// For pointers, where it points.
    pub pointer: Option<Pointer>,
}

/// One kernel launch site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Its number.
    pub id: LaunchId,
    /// The kernel that it runs; `None` when unknown (a function pointer).
    pub kernel: Option<KernelId>,
    /// Grid extents x, y, z.
    pub grid: [ValueId; 3],
    /// Block extents x, y, z.
    pub block: [ValueId; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: ValueId,
    /// Its stream.
    pub stream: Stream,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Cooperative, or with attributes that are not modelled: never fused.
    pub special: bool,
}

impl Launch {
    /// The piece of an argument, so many bytes from its begin, that is as wide as a pointer.
    pub fn pointer_piece(&self, argument: usize, offset_bytes: u32) -> Option<&ArgumentPiece> {
        let mut pieces = self.arguments.get(argument)?.pieces.iter();
        pieces.find(|piece| piece.offset_bytes == offset_bytes && piece.bits == 64)
    }

    /// Where that piece points, if that is known.
    pub fn pointer(&self, argument: usize, offset_bytes: u32) -> Option<&Pointer> {
        self.pointer_piece(argument, offset_bytes)?.pointer.as_ref()
    }
}

/// Memory that a copy, set, free or other operation touches on the device side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// Where.
    pub pointer: Pointer,
    /// How many bytes from there, where known.
    pub bytes: Option<Expression<ValueId>>,
}

/// What the host waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Awaited {
    /// All work of the current device.
    Device,
    /// The work of this stream.
    Stream(Stream),
    /// What was before an event, which may have been recorded anywhere.
    Event,
}

/// What happens at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    /// A kernel launch.
    Launch(Launch),
    /// A copy (`cudaMemcpy*`, symbol copies). Device sides are touched; host sides are not listed.
    Copy {
        /// What it reads on the device.
        reads: Vec<Touch>,
        /// What it writes on the device.
        writes: Vec<Touch>,
        /// Its stream.
        stream: Stream,
        /// The host waits for it, or it reads or writes host memory.
        host_side: bool,
        /// For a plain `cudaMemcpy` from the device to memory of the host alone: which of the host module's
        /// calls of operations (as `operations.rs` of `program` lists them) it is, in their order. If it succeeds and copies
        /// anything, all work of its stream is done behind it.
        #[serde(default)]
        awaited_call: Option<usize>,
        /// For a `cudaMemcpy` or `cudaMemcpyAsync` from memory of the host that has been read when it returns: which of
        /// those calls it is.
        #[serde(default)]
        from_host: Option<usize>,
    },
    /// A fill (`cudaMemset*`).
    Set {
        /// What it writes.
        writes: Touch,
        /// Its stream.
        stream: Stream,
    },
    /// A function of a CUDA library (cuBLAS, cuRAND, cuFFT, cuDNN) that runs kernels of its own.
    Library {
        /// What it reads on the device.
        reads: Vec<Touch>,
        /// What it writes on the device.
        writes: Vec<Touch>,
        /// Its handle's stream.
        stream: Stream,
        /// The host waits for it, or it reads or writes host memory.
        host_side: bool,
        /// The function.
        what: String,
    },
    /// An allocation.
    Allocation {
        /// What it makes.
        buffer: BufferId,
    },
    /// A free; waits for the device.
    Free {
        /// What it frees.
        pointer: Option<Pointer>,
    },
    /// `cudaDeviceSynchronize`, `cudaStreamSynchronize`, `cudaThreadSynchronize`,
    /// `cudaEventSynchronize`.
    Synchronise(Awaited),
    /// Queries and error checks without effect on kernels (`cudaGetLastError`, …).
    ErrorCheck,
    /// A stream is made, destroyed or waits for an event; an event is recorded.
    StreamOperation,
    /// The host reads or writes memory that kernels may see.
    HostAccess {
        /// The access is volatile or atomic, so that its place among other operations counts, too.
        #[serde(default)]
        ordered: bool,
    },
    /// The host writes text to a stream or a file: it neither waits for the device nor sees its memory.
    Output {
        /// The called function.
        what: String,
    },
    /// A call that may end its function by an exception for which no landing pad is there: the caller may go on.
    MayThrow {
        /// The called function.
        what: String,
    },
    /// Input, clocks, unknown calls and everything else: a fence.
    Opaque {
        /// The called function or a few words.
        what: String,
    },
}

/// One operation of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// What it is.
    pub kind: NodeKind,
    /// The block it stands in.
    pub block: HostBlockId,
    /// Its place in the source (for a launch: of the `<<<>>>`).
    pub location: Location,
}

/// A basic block of a host function, condensed: blocks keep their edges, of their instructions only
/// nodes are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostBlock {
    /// Its function, an index into [`LaunchGraph::functions`].
    pub function: usize,
    /// Its nodes, in order.
    pub nodes: Vec<NodeId>,
    /// Where control goes: branch targets, normal and unwind destinations.
    pub successors: Vec<HostBlockId>,
    /// Its immediate dominator; `None` for the entry and for unreachable blocks.
    pub immediate_dominator: Option<HostBlockId>,
    /// Its innermost loop, an index into [`LaunchGraph::loops`].
    pub innermost_loop: Option<usize>,
    /// Whoever comes here never returns from the function: each way ends in `exit`, in `abort` or
    /// with an exception.
    pub dead_end: bool,
    /// Its place among the blocks of its function in the host's module.
    #[serde(default)]
    pub position: usize,
}

/// A natural loop of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLoop {
    /// The enclosing loop.
    pub parent: Option<usize>,
    /// Its header.
    pub header: HostBlockId,
    /// Number of iterations, where constant; [`Iterations::domains`] has it as an expression.
    pub trip: Option<i64>,
}

/// A host function that was analysed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFunction {
    /// Mangled name.
    pub name: String,
    /// Its entry block.
    pub entry: HostBlockId,
    /// True when it may be entered more than once in a run (not `main`): values computed "once"
    /// are once a call.
    pub repeated: bool,
}

/// What the host does to the device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchGraph {
    /// Functions that contain nodes.
    pub functions: Vec<HostFunction>,
    /// All blocks of those functions.
    pub blocks: Vec<HostBlock>,
    /// All loops of those functions.
    pub loops: Vec<HostLoop>,
    /// All operations, in host order.
    pub nodes: Vec<Node>,
    /// Values of launches.
    pub values: Vec<HostValue>,
    /// Allocations and device variables.
    pub buffers: Vec<Buffer>,
    /// What changes from one iteration of a loop to the next.
    pub iterations: Iterations,
    /// Sets, and copies within the device, that a kernel could do.
    #[serde(default)]
    pub operations: Vec<Operation>,
    /// Launches of kernels that are one loop over the whole grid, as launches of the kernel that runs one iteration, so many
    /// blocks of one thread: see [`crate::dependence::take_iterations`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_iteration: BTreeMap<LaunchId, Launch>,
    /// What extents of [`LaunchGraph::by_iteration`] are that no launch takes as they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub computed: BTreeMap<ValueId, Expression<ValueId>>,
    /// Who may capture launches.
    #[serde(default)]
    pub capture: StreamCapture,
    /// Streams that a call which is seen has just made: none of them is another one.
    #[serde(default)]
    pub made_streams: BTreeSet<ValueId>,
    /// Host loops that were rotated before this was read: an iteration ends with launches of the next one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rotated_loops: Vec<RotatedLoop>,
    /// Host loops whose last iteration ends with what the source has behind the loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split_loops: Vec<SplitLoop>,
    /// For loops that copy to the host, by index into [`LaunchGraph::loops`], what decides whether another iteration
    /// follows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub loop_tests: BTreeMap<usize, Result<LoopTest, Untold>>,
    /// Kernels take small single-precision numbers for zero.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flushes_denormals: bool,
}

/// A host loop of which the compiler wrote the end of the last iteration by itself, with what comes behind the loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitLoop {
    /// The launches that an iteration ends with which another one follows.
    pub before_last: Vec<LaunchId>,
    /// Copies of these, which the last iteration ends with.
    pub last: Vec<LaunchId>,
    /// The launches that come behind it.
    pub behind: Vec<LaunchId>,
    /// Copies of those for another way past the loop, such as where it does not run at all.
    pub past: Vec<LaunchId>,
    /// All are copies of one launch of the source, which stands in a loop alone: `behind` is that of the last iteration, `last`
    /// that of the one before it, and `past` that of an only iteration.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_one_launch: bool,
}

/// A host loop that the compiler rotated behind launches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotatedLoop {
    /// Copies of these launches, in front of the loop, for its first iteration.
    pub prologue: Vec<LaunchId>,
    /// The launches themselves, at the end of an iteration, for the one that comes next.
    pub of_next_iteration: Vec<LaunchId>,
}

/// A node that is a set or a copy within the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Which node.
    pub node: NodeId,
    /// What it does.
    pub kind: OperationKind,
    /// Where it writes and, for a copy, where it reads, with the number of bytes.
    pub touches: Vec<Touch>,
    /// Which one of the calls of [`operation_call`](crate::program::operation_call), in the order of
    /// the host module.
    pub ordinal: usize,
    /// The node is a launch of this number, of a kernel that does the same: see
    /// [`crate::dependence::take_domains`].
    pub launch: Option<LaunchId>,
    /// Of a set, the number whose lowest eight bits each byte becomes, where that is a constant.
    #[serde(default)]
    pub set_to: Option<i64>,
}

impl LaunchGraph {
    /// Whether the compiler put a launch where the source has the next iteration of a loop, or the end of the loop, before it.
    pub fn continues_a_loop(&self, node: NodeId) -> bool {
        let NodeKind::Launch(launch) = &self.nodes[node.0].kind else {
            return false;
        };
        let next = self.rotated_loops.iter().map(|of| &of.of_next_iteration);
        let behind = self.split_loops.iter().map(|of| &of.behind);
        let mut put = next.chain(behind).flatten();
        put.any(|each| *each == launch.id)
    }

    /// The launches with their nodes, in host order.
    pub fn launches(&self) -> impl Iterator<Item = (LaunchId, NodeId)> + '_ {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, node.id)),
            _ => None,
        })
    }

    /// An extent of a launch, as guards write it.
    pub fn extent(&self, value: ValueId) -> Expression<ValueId> {
        match (self.values[value.0].constant, self.computed.get(&value)) {
            (Some(constant), _) => Expression::Constant(constant & 0xffff_ffff),
            (None, Some(computed)) => computed.clone(),
            (None, None) => Expression::Leaf(value),
        }
    }

    /// The threads of a launch's block, as guards write them.
    pub fn block_threads(&self, launch: &Launch) -> Expression<ValueId> {
        let [x, y, z] = launch.block.map(|extent| self.extent(extent));
        x.multiply(y).multiply(z)
    }

    /// The operation that a launch is in truth.
    pub fn operation_of(&self, launch: LaunchId) -> Option<&Operation> {
        let mut operations = self.operations.iter();
        operations.find(|operation| operation.launch == Some(launch))
    }

    /// Where a pointer points that begins so many bytes into an argument of a launch: an allocation of which there
    /// is one, or a value, and so many bytes from it, when that is a constant.
    pub fn place_of<'a>(
        &self,
        launch: &'a Launch,
        argument: usize,
        offset_bytes: u32,
    ) -> Option<(&'a Pointer, i64)> {
        let mut pieces = launch.arguments.get(argument)?.pieces.iter();
        let piece = pieces.find(|piece| piece.offset_bytes == offset_bytes && piece.bits == 64)?;
        let pointer = piece.pointer.as_ref()?;
        if let Root::Buffer(buffer) = &pointer.root
            && !self.buffers.get(buffer.0)?.unique
        {
            return None;
        }
        Some((pointer, pointer.offset_bytes.as_ref()?.as_constant()?))
    }
}
