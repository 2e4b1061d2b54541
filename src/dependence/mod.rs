//! [`crate::launch::LaunchGraph`] + [`crate::kernel::KernelModel`]s -> [`DependenceGraph`]: the unified
//! access-relation graph (paper §3).
//!
//! Invariant: whenever in some run two nodes touch a common byte and at least one writes it, the
//! graph has one of these:
//! * an edge from the earlier to the later whose relation contains the pair of (block, thread),
//!   unless a condition that the edge names fails. It is carried when the later one belongs to a
//!   later iteration of a common loop or to another call of the function. Nodes that are no more than
//!   eight operations on device memory apart always have their own edges.
//! * a path from the earlier to the later, of edges that always exist ([`Edge::absent_if`] is empty),
//!   that no fused launch can hold: it has an edge of global scope under every map tried
//!   (not [`Edge::has_map`]) or one to what is not a launch, or more than [`LARGEST_GROUP`] nodes. At
//!   most one of its edges is carried, and one is when the pair lies in different iterations or calls; each
//!   node in between runs whenever the later node runs, in the iteration (the earlier or the later one's)
//!   that its side of the path belongs to. Across calls the nodes in between need not run, since the end of
//!   a call issues whatever is pending.
//! * nothing, when the earlier is not on every way of the host's control flow to the later, as what stands
//!   in one branch is not to what stands behind it, no loop is around both, and more than
//!   [`CONDITIONAL_NEIGHBOURS`] operations are between: a group's first launch is on every way to its other ones
//!   and to all that it waits across, so that the earlier has been issued when the later runs; and members that
//!   stand under conditions of their own are closer together.
//!
//! An edge of kind [`DependenceKind::Reduction`] orders nothing in a fused launch, whatever its scope
//! and conditions; it holds the pairs of accesses that no other edge of the two nodes has to hold.
//! Operations still do not move past each other across it, so that paths may lead along it.
//!
//! So whoever puts two nodes into one group, the first on every way to the second, and takes in all that
//! the edges put in between finds an edge that forbids it, or the group too large; and the number of edges
//! stays in proportion to the number of nodes, in straight lines and under branches.
//!
//! Fences (unknown calls, host accesses, stream operations) have no edges: they order everything.
//!
//! [`enumerate`] finds the pairs that get edges, [`edges`] and [`targets`] make these, [`decision`] decides about
//! their accesses, and [`problem`] makes conditions of two of them.

mod thread_map;
mod places;
mod questions;
mod decision;
mod describe;
mod edges;
mod effect;
mod enumerate;
mod iteration;
mod moving;
mod operations;
mod order;
mod pair;

use places::{boxes, disjoint_rows, overlap, sizes, tables, targets, whole};
use questions::{
    contradiction, instance, kinds, lowered, polynomial, problem, relation, renaming, union,
    witness,
};
use thread_map::{arrays, by_iteration, mapped, matrix_tiles, runs};

pub use arrays::{ArrayCoordinates, writes_within_array};
pub use by_iteration::{ByIteration, take_iterations};
pub use contradiction::guards_contradict;
pub use enumerate::{build_dependence_graph, build_dependence_graph_without_relations};
pub use instance::barrier_conditions;
pub use mapped::{CoordinateMap, CoordinateSymbol, MappedScope};
pub use matrix_tiles::Tiling;
pub use operations::take_domains;
pub use overlap::{
    KnownSpan, RangeTouch, SharedMemory, known_spans, launch_conditions, launch_ranges,
};
pub use tables::{TableLoads, has_tables, take_tables};
pub use whole::{WholeWrite, WholeWrites};

use crate::diagnostics::{Location, RejectionReason};
use crate::launch::{LaunchId, NodeId, Operand, ValueId};
use crate::math::expression::{Condition, Expression};
use petgraph::graph::DiGraph;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most launches that become one: more save next to nothing, and guards and registers grow with each.
pub const LARGEST_GROUP: usize = 32;

/// Members of a group that stand under conditions of their own are no further apart than so many operations, where neither
/// a loop nor calls of their function bring them to each other again.
pub const CONDITIONAL_NEIGHBOURS: usize = 16;

/// Which accesses conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DependenceKind {
    /// Write, then read.
    Flow,
    /// Read, then write.
    Anti,
    /// Write, then write.
    Output,
    /// Both update by one exact operator and use no result, so that their order does not matter:
    /// kept apart from the others, as in the polyhedral literature (Doerfert et al., IMPACT 2015).
    Reduction,
}

/// The smallest unit of the grid inside which a dependence stays, under the identity map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Source and sink are the same thread of the same block.
    Thread,
    /// Source and sink are in the same block.
    Block,
    /// Anything else.
    Global,
}

/// What a fused launch must test before it runs, else the originals run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Guard {
    /// A condition over launch operands.
    Holds {
        /// What class it is, for the report: `shape`, `wrap`, `divisible`, …; `docs/reports.md` lists them.
        class: String,
        /// The condition.
        condition: Condition<ValueId>,
    },
    /// The bytes `[pointer + low, pointer + high)` of two pointer operands do not overlap.
    RangesDisjoint {
        /// One side.
        left: PointerRange,
        /// The other side.
        right: PointerRange,
    },
    /// The two pointers are equal, or the bytes behind them do not overlap: launches that work in place do
    /// the one, others the other.
    SameOrDisjoint {
        /// One side.
        left: PointerRange,
        /// The other side.
        right: PointerRange,
    },
    /// The launch's own configuration is one that CUDA would run: no empty or too large extent,
    /// at most 1024 threads, shared memory within the limit.
    ConfigurationValid {
        /// Whose.
        launch: LaunchId,
    },
    /// A pointer operand is null or leads to memory of the device alone, which the host cannot touch. It is asked where
    /// the launch is written, before the launch is kept for its group: where it does not hold, the launch is issued
    /// there.
    DeviceMemory {
        /// Whose.
        launch: LaunchId,
        /// Which operand (an [`Operand::Argument`] of 64 bits).
        operand: Operand,
    },
    /// No capture of the launch's stream is in progress.
    NotCapturing {
        /// Whose.
        launch: LaunchId,
    },
    /// Two launches are on one stream.
    SameStream {
        /// The earlier launch.
        first: LaunchId,
        /// The later launch.
        second: LaunchId,
    },
    /// The device runs blocks of the group's kernel in one cooperative launch, so many at once that each has to run
    /// at most so many blocks of any member. For groups with grid-wide barriers.
    Resident {
        /// At least 1.
        rounds: u32,
    },
}

impl Guard {
    /// What kind of test it is, in one word of reports.
    pub fn kind(&self) -> &str {
        match self {
            Self::Holds { class, .. } => class,
            Self::RangesDisjoint { .. } | Self::SameOrDisjoint { .. } => "alias",
            Self::DeviceMemory { .. } => "device_memory",
            Self::NotCapturing { .. } => "capture",
            Self::SameStream { .. } => "stream",
            Self::Resident { .. } => "residency",
            Self::ConfigurationValid { .. } => "configuration",
        }
    }

    /// Whether a run has to tell what it asks.
    pub fn may_fail(&self) -> bool {
        match self {
            Self::Holds { condition, .. } => condition.decided() != Some(true),
            Self::RangesDisjoint { .. }
            | Self::SameOrDisjoint { .. }
            | Self::ConfigurationValid { .. }
            | Self::NotCapturing { .. }
            | Self::DeviceMemory { .. }
            | Self::Resident { .. }
            | Self::SameStream { .. } => true,
        }
    }
}

/// The class of a test by which launches run side by side only where that takes no longer.
pub const BESIDE: &str = "beside";

/// A range of bytes behind a pointer argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PointerRange {
    /// The launch whose argument it is.
    pub launch: LaunchId,
    /// Which operand (an [`Operand::Argument`] of 64 bits).
    pub operand: Operand,
    /// First byte, relative to the pointer's run-time value.
    pub low_bytes: Expression<ValueId>,
    /// One past the last byte.
    pub high_bytes: Expression<ValueId>,
}

/// One pair of threads that depend on each other across an edge, in the user's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// One sentence: what touches what where.
    pub text: String,
    /// False where an access is not exactly known: the pair *may* depend on each other.
    pub certain: bool,
    /// The first common byte, from the start of the buffer (of the pointer, where the buffer is not
    /// known).
    pub byte: Option<i64>,
    /// The source's thread.
    pub source: WitnessEnd,
    /// The sink's thread.
    pub sink: WitnessEnd,
}

/// One side of a [`Witness`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessEnd {
    /// `blockIdx` and `threadIdx`; `None` where the place of the access is not known.
    pub place: Option<([i64; 3], [i64; 3])>,
    /// Where the access stands.
    pub location: Location,
}

/// How many iterations of one host loop lie between the ends of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationDistance {
    /// The loop's index in the launch graph.
    pub host_loop: usize,
    /// The fewest; `None`: as many backwards as there are.
    pub least: Option<i64>,
    /// The most; `None`: as many as there are.
    pub most: Option<i64>,
}

/// An edge of the unified graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The earlier node.
    pub source: NodeId,
    /// The later node.
    pub sink: NodeId,
    /// Name of the buffer, for people.
    pub buffer: String,
    /// Flow, anti, output or reduction.
    pub kind: DependenceKind,
    /// Its scope, given that `conditions` hold.
    pub scope: Scope,
    /// `[params] -> { source[bx,by,bz,tx,ty,tz] -> sink[bx,by,bz,tx,ty,tz] : … }`, in isl's notation.
    pub relation: Arc<str>,
    /// True when the relation is exact and the edge a *must*.
    pub exact: bool,
    /// True when the edge is a *must*, also where its relation is not written exactly; where the scope is
    /// global, as far as accesses were compared to find that out.
    pub certain: bool,
    /// True when the relation depends on a value that may differ between the two ends, as one does that varies
    /// in a loop.
    pub values_differ: bool,
    /// What the scope and the relation rely on (equal shapes, preconditions of both models): a global
    /// scope relies on nothing, its relation may. Values that vary in a loop are those of either end.
    pub conditions: Vec<Guard>,
    /// When all of these hold the edge does not exist (disjoint ranges). Empty: it always exists.
    pub absent_if: Vec<Guard>,
    /// The sink belongs to a later iteration of a common host loop, or to another call of the
    /// function. What varies in the loop is a function of the loops' counters, or any value.
    pub carried: bool,
    /// For a carried edge of one loop, the one that is ahead by 1 at least: the distances in all host
    /// loops around both ends, outermost first. The relation holds for every two iterations at such a
    /// distance. Empty: any two, of any of the loops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<IterationDistance>,
    /// Why it is as wide as it is, for people; empty for thread scope.
    pub because: Arc<str>,
    /// For a global edge, the class of that reason.
    pub reason: Option<RejectionReason>,
    /// Where the widening access stands.
    pub location: Location,
    /// For an edge between launches that is wider than a thread, a pair of threads that shows it,
    /// where one is found.
    pub witness: Option<Box<Witness>>,
    /// A smaller scope under another one-to-one map than the identity, where one is found. What is
    /// planned and verified today uses `scope`, which is that of the identity.
    pub mapped: Option<Box<MappedScope>>,
    /// The array in whose elements the threads of both ends meet, where one is found that tells them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<Box<ArrayCoordinates>>,
    /// The tiles of a matrix by which both ends meet in one block, where they are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiling: Option<Box<Tiling>>,
}

impl Edge {
    /// Whether its scope is smaller under another map than the identity.
    pub fn has_map(&self) -> bool {
        self.mapped.is_some() || self.array.is_some() || self.tiling.is_some()
    }

    /// Whether its scope holds where its pointers are equal, and what it relies on is tested also where they
    /// lead apart.
    pub fn allows_equal_pointers(&self) -> bool {
        let allows = |guard: &Guard| matches!(guard, Guard::SameOrDisjoint { .. });
        self.conditions.iter().any(allows)
    }

    /// Why the edge is as wide as it is, with its witness: one line for people.
    pub fn explanation(&self) -> String {
        match &self.witness {
            Some(witness) if self.because.is_empty() => witness.text.clone(),
            Some(witness) => format!("{}: {}", self.because, witness.text),
            None => self.because.to_string(),
        }
    }
}

/// The unified graph: a node of the petgraph is a node of the launch graph, at the same index.
#[derive(Clone, Debug, Default)]
pub struct DependenceGraph {
    /// Nodes in the launch graph's order; edges as found. A plan that does without some of them has a graph of its own, in
    /// which the others are the same.
    pub graph: DiGraph<NodeId, Arc<Edge>>,
    /// What it took to build it.
    pub effort: Effort,
    /// What holds where launches of kernels that are one loop over the whole grid are counted by its iterations.
    pub by_iteration: ByIteration,
    /// There are more edges than are looked for: some are missing, so that nothing follows from where there is none.
    pub cut_short: bool,
}

impl DependenceGraph {
    /// All edges, in the order in which they were found.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.graph.edge_weights().map(AsRef::as_ref)
    }
}

/// How much was worked out to build a graph. A program repeats itself, so that none of these grows
/// with its launches once all its kernels have met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Pairs of pointers of two launches, at one distance, that edges were written for.
    pub questions: usize,
    /// Pairs of access structures that were compared for them.
    pub decisions: usize,
    /// Problems that isl had to solve for those.
    pub problems: usize,
}
