//! Why a plan is refused. Each reason has a bad plan in `tests/verify.rs` or a file of `tests/verify/`.

use crate::launch::{BufferId, HostBlockId, LaunchId, NodeId};
use thiserror::Error;

/// A reason why a plan must not be carried out. Launches are named by the number of their site.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "its sentence says what a variant is")]
pub enum Refusal {
    #[error("group {group} has no members")]
    NoMembers { group: usize },
    #[error("launch {} is in more than one place of the plan", launch.0)]
    DuplicateMember { launch: LaunchId },
    #[error("launch {} is not exactly one node of the launch graph", launch.0)]
    UnknownLaunch { launch: LaunchId },
    #[error("the kernel of launch {} is not known", launch.0)]
    UnknownKernel { launch: LaunchId },
    #[error("launch {} is cooperative or has attributes that are not modelled", launch.0)]
    SpecialLaunch { launch: LaunchId },
    #[error("the kernel of launch {} {reason}", launch.0)]
    OpaqueKernel { launch: LaunchId, reason: String },
    #[error("the kernel of launch {} is unfusable: it {reason}", launch.0)]
    Unfusable { launch: LaunchId, reason: String },
    #[error("launch {} does not come before launch {} in host order", earlier.0, later.0)]
    HostOrder { earlier: LaunchId, later: LaunchId },
    #[error("launches {} and {} are not on one path of the host program", earlier.0, later.0)]
    NotOnOnePath { earlier: LaunchId, later: LaunchId },
    /// A group that is to run with some of its members needs all of them.
    #[error("launch {} {what}, in a group that runs with some of its launches", launch.0)]
    NotInPart { launch: LaunchId, what: String },
    /// Members are to be issued at the beginning of a block with one of them, or of another function.
    #[error("members would be issued at the beginning of host block {}", .block.0)]
    IssuedElsewhere { block: HostBlockId },
    #[error("launches {} and {} are not proven to be on one stream", first.0, second.0)]
    DifferentStream { first: LaunchId, second: LaunchId },
    /// Somebody may see in a captured graph which kernels run.
    #[error("launch {} may be captured by who looks into the graph, which no guard asks", launch.0)]
    CaptureUnchecked { launch: LaunchId },
    #[error("launch {} becomes a node of a graph, and more is launched than a kernel", launch.0)]
    MoreThanNode { launch: LaunchId },
    #[error("{what} (node {}) stands between launch {} and its new place", node.0, launch.0)]
    Fence {
        launch: LaunchId,
        node: NodeId,
        what: String,
    },
    #[error("launch {} would move below a wait that {what} (node {}) may rely on", launch.0, node.0)]
    PassesWait {
        launch: LaunchId,
        node: NodeId,
        what: String,
    },
    #[error("node {} is no copy to the host that could wait with nothing to copy", node.0)]
    AwaitsNothing { node: NodeId },
    #[error("launch {} prints and would move below {what} (node {})", launch.0, node.0)]
    PrintingMoves {
        launch: LaunchId,
        node: NodeId,
        what: String,
    },
    #[error("launches {} and {} both print", first.0, second.0)]
    PrintsTwice { first: LaunchId, second: LaunchId },
    #[error("launch {} would move below {what} (node {}), which may touch the same memory", launch.0, node.0)]
    Reordered {
        launch: LaunchId,
        node: NodeId,
        what: String,
    },
    #[error("{what} may still read buffer {} after launch {}", buffer.0, launch.0)]
    StillRead {
        launch: LaunchId,
        buffer: BufferId,
        what: String,
    },
    #[error("buffer {} is called dead and {what}", buffer.0)]
    NotDead { buffer: BufferId, what: String },
    #[error("launches {} and {} are neither known nor tested to have the same {extent}", first.0, second.0)]
    DifferentShape {
        first: LaunchId,
        second: LaunchId,
        extent: String,
    },
    #[error("threads that differ only in threadIdx.{axis} run in step in one of launches {} and {}, and are told apart in the other", first.0, second.0)]
    NotInStep {
        first: LaunchId,
        second: LaunchId,
        axis: char,
    },
    #[error("nothing tests that launch {} has a configuration that CUDA accepts", launch.0)]
    ConfigurationUnchecked { launch: LaunchId },
    #[error("launch {} has {what}", launch.0)]
    InvalidConfiguration { launch: LaunchId, what: String },
    #[error("the model of launch {} needs a condition that nothing tests (precondition {index})", launch.0)]
    PreconditionUnchecked { launch: LaunchId, index: usize },
    #[error("launches {} and {} may touch a common byte from different blocks ({what})", first.0, second.0)]
    CrossesBlocks {
        first: LaunchId,
        second: LaunchId,
        what: String,
    },
    #[error("launches {} and {} may touch a common byte from different threads of a block, and no barrier stands between ({what})", first.0, second.0)]
    MissingBarrier {
        first: LaunchId,
        second: LaunchId,
        what: String,
    },
    #[error("one thread of launches {} and {} may touch a common byte, and the fused kernel does not run them in this order ({what})", first.0, second.0)]
    OrderLost {
        first: LaunchId,
        second: LaunchId,
        what: String,
    },
    #[error("the segments of the group of launch {} do not hold each member once, with one barrier for each", first.0)]
    Segments { first: LaunchId },
    #[error("launch {} prints, copies asynchronously or has a grid of its own, and would run interleaved with another", launch.0)]
    NotInterleaved { launch: LaunchId },
    #[error("launch {} is a set or a copy {what}", launch.0)]
    Operation { launch: LaunchId, what: String },
    #[error("launch {} has {what}", launch.0)]
    BlockRange { launch: LaunchId, what: String },
    #[error("launch {} has {what}, and its threads would be remapped", launch.0)]
    NotRemapped { launch: LaunchId, what: String },
    #[error("launch {} has {what}, and would be counted by iterations", launch.0)]
    NotByIteration { launch: LaunchId, what: String },
    #[error("iterations of launch {} may touch a common byte ({what}), and would be counted as its threads", launch.0)]
    IterationsMeet { launch: LaunchId, what: String },
    #[error("launch {} has {what}, and its blocks would be rearranged", launch.0)]
    NotRearranged { launch: LaunchId, what: String },
    #[error("nothing tests that launch {} has fewer than 2³¹ threads, which are counted", launch.0)]
    TooManyThreads { launch: LaunchId },
    #[error("launches {} and {} may touch a common byte from threads that the fused kernel does not make one ({what})", first.0, second.0)]
    RemappedConflict {
        first: LaunchId,
        second: LaunchId,
        what: String,
    },
    #[error("members of the group of launch {} have maps that do not go together", first.0)]
    MixedMaps { first: LaunchId },
    #[error("nothing tests that the grid of the group of launch {} is one that CUDA accepts", first.0)]
    GridTooLong { first: LaunchId },
    #[error("launches {} and {} run side by side and may touch a common byte ({what})", first.0, second.0)]
    DependentPartitions {
        first: LaunchId,
        second: LaunchId,
        what: String,
    },
    #[error("launch {} waits for the threads of its block, which are not known to be whole warps of a larger one", launch.0)]
    PartialWarps { launch: LaunchId },
    #[error("pointers of launches {} and {} may overlap, and nothing tests that they do not ({what})", first.0, second.0)]
    MayAlias {
        first: LaunchId,
        second: LaunchId,
        what: String,
    },
    #[error("launches {} and {} touch one buffer and it is not known where ({what})", first.0, second.0)]
    UnprovenIndex {
        first: LaunchId,
        second: LaunchId,
        what: String,
    },
    #[error("a barrier of launch {} ({location}) may be reached by part of a block only", launch.0)]
    DivergentBarrier { launch: LaunchId, location: String },
    #[error("launches {} and {} use the same shared memory and no barrier stands between", first.0, second.0)]
    SharedMemoryReused { first: LaunchId, second: LaunchId },
    #[error("launch {} executes warp operations and does not start after a barrier", launch.0)]
    WarpOperationsDiverged { launch: LaunchId },
    #[error("launch {} is the first of its group and has a barrier before it", launch.0)]
    BarrierFirst { launch: LaunchId },
    #[error("the group of launch {} needs {bytes} bytes of shared memory", first.0)]
    SharedMemory { first: LaunchId, bytes: u64 },
    #[error("the group of launch {} needs {bytes} bytes of parameters", first.0)]
    ParameterSpace { first: LaunchId, bytes: u64 },
    #[error("the launch with grid-wide barriers that begins with launch {}: {what}", first.0)]
    GridBarrier { first: LaunchId, what: String },
    #[error("what runs where the launch that begins with launch {} is refused: {what}", first.0)]
    Fallback { first: LaunchId, what: String },
    #[error("the launch whose last block goes on that begins with launch {}: {what}", first.0)]
    LastBlock { first: LaunchId, what: String },
    #[error("blocks cannot do the work of launch {} by themselves: {what}", first.0)]
    Recomputed { first: LaunchId, what: String },
    #[error("launch {} cannot wait for a batch: {what}", launch.0)]
    NotBatched { launch: LaunchId, what: String },
    #[error("batches with launch {} cannot be phases of one launch: {what}", launch.0)]
    NotInPhases { launch: LaunchId, what: String },
    #[error("launches of {} cannot follow each other in one kernel: {what}", launch.0)]
    NotPersistent { launch: LaunchId, what: String },
    #[error("the host loop around launch {} cannot run ahead in its kernel: {what}", first.0)]
    TestedLoop { first: LaunchId, what: String },
    #[error("launch {} cannot begin before the one before it has ended: {what}", launch.0)]
    NotOverlapped { launch: LaunchId, what: String },
    #[error("launch {} is not the one right before launch {} in its stream", predecessor.0, launch.0)]
    NotRightBefore {
        launch: LaunchId,
        predecessor: LaunchId,
    },
    #[error("launch {} would load from {target} before it waits: {what}", launch.0)]
    LoadsTooEarly {
        launch: LaunchId,
        target: String,
        what: String,
    },
    #[error("a version of a kernel that begins early may end without having waited")]
    NeverWaits,
    #[error("a version of a kernel that begins early {what} before it waits")]
    WaitsTooLate { what: String },
    #[error(
        "a version of a kernel that begins early may tell its successor to begin before it has waited"
    )]
    TriggersTooEarly,
    #[error("{what} (node {}) stands between launches that wait for their batches", node.0)]
    PassedByBatches { node: NodeId, what: String },
    #[error("launch {} waits for its batch and may touch more than the plan says ({what})", launch.0)]
    BatchedTouchesMore { launch: LaunchId, what: String },
    #[error("launch {} loads pointers from memory (argument {argument}) of which {what}", launch.0)]
    TableChanges {
        launch: LaunchId,
        argument: usize,
        what: String,
    },
    #[error("launch {} does not surely replace a range that the plan says it does: {what}", launch.0)]
    NotReplaced { launch: LaunchId, what: String },
}
