//! Fusion planning as one abstract problem: which operators of a graph share a kernel.
//!
//! A [`FusionProblem`] is plain data: operators with figures, edges with bytes and scope, and what an oracle said of
//! sets of operators ([`Answer`]). Launches of a CUDA program are one such problem; any other graph of operators is one
//! as well. So this module stands beside `math`, above the stages: it knows no launch, no kernel
//! and no cost model. The stage `schedule` says which launches may be one, `tune` says what they take, and
//! `driver` brings both together.
//!
//! # Score
//! A *pattern* is a set of operators that become one kernel. Its score is that of FusionStitching §4:
//!
//! f(P) = Σ K(op) + (N − 1)·φ − K(P)
//!
//! K(op) is what an operator takes by itself, K(P) what the kernel takes, both without the launch, and φ what a launch
//! costs. K was measured or modelled; where only bytes are known, Σ K(op) − K(P) is M(V), the time of V bytes on the
//! curve of memory's rate ([`estimate`]). A pattern of which no kernel can be made has no score.
//!
//! # Planners
//! [`plan`] runs one of them: [`greedy`], [`ilp`], [`span`], [`priority`], the baseline
//! [`xla`], or `auto`, which compares all others.
//!
//! Invariants: the patterns of a [`Plan`] are disjoint, the oracle allows each of them, and the graph in which each is
//! one node has no cycle. The same problem, options and seed give the same plan; only a budget that runs out may change
//! that, and then the best plan so far is kept.

pub mod candidates;
pub mod contraction;
pub mod estimate;
pub mod file;
pub mod greedy;
pub mod ilp;
pub mod oracle;
pub mod policy;
pub mod priority;
pub mod span;
mod selection;
pub mod xla;

pub use oracle::Oracle;
pub use selection::{LEAST_GAIN, plan};

use policy::Policy;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Operators that share a kernel, as ascending positions in [`FusionProblem::nodes`].
pub type Pattern = Vec<usize>;

/// Operators, what flows between them, and what is known of sets of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FusionProblem {
    /// [`file::VERSION`].
    pub version: u32,
    /// What runs the kernels.
    pub device: DeviceFigures,
    /// In an order in which they can run.
    pub nodes: Vec<Operator>,
    /// Each from an earlier node to a later one.
    pub edges: Vec<Edge>,
    /// The patterns of greedy grouping, where it was done elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub greedy: Option<Vec<Pattern>>,
    /// What the oracle answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// What holds of patterns that are not among `answers`.
    #[serde(default)]
    pub unanswered: Unanswered,
}

/// Figures of a device, for [`estimate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeviceFigures {
    /// φ: from the end of a kernel to the beginning of the next.
    pub launch_nanoseconds: f64,
    /// Bytes a nanosecond from memory, where many are asked for.
    pub bytes_per_nanosecond: f64,
    /// So many bytes come at half that rate.
    pub half_rate_bytes: f64,
    /// Instructions of a thread a nanosecond, in all multiprocessors together.
    pub instructions_per_nanosecond: f64,
    /// Multiprocessors.
    pub multiprocessors: u64,
    /// Most warps of a multiprocessor.
    pub warps: u64,
    /// Shared memory of a multiprocessor.
    pub shared_bytes: u64,
    /// Most shared memory of a block.
    pub shared_bytes_per_block: u64,
    /// Registers of a multiprocessor.
    pub registers: u64,
}

/// An A100, of NVIDIA's data sheet, as the cost model of `tune` has it.
impl Default for DeviceFigures {
    fn default() -> Self {
        Self {
            launch_nanoseconds: 2_000.0,
            bytes_per_nanosecond: 1_835.0,
            half_rate_bytes: 1_835.0 * 1_200.0,
            instructions_per_nanosecond: 9_700.0,
            multiprocessors: 108,
            warps: 64,
            shared_bytes: 164 << 10,
            shared_bytes_per_block: 163 << 10,
            registers: 64 << 10,
        }
    }
}

/// One node of a problem: a launch, or an operator of a tensor program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operator {
    /// Its name, for people.
    #[serde(default)]
    pub name: String,
    /// What kind of work it does.
    #[serde(default)]
    pub class: Class,
    /// Instructions of all threads.
    #[serde(default)]
    pub work: f64,
    /// Bytes that it loads from memory and stores there.
    #[serde(default)]
    pub bytes: f64,
    /// Blocks of its grid, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Threads of a block, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Shared memory of a block.
    #[serde(default)]
    pub shared_bytes: u64,
    /// Registers of a thread, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registers: Option<u64>,
    /// What a block waits for, one thing after the other: loads and barriers.
    #[serde(default)]
    pub block_nanoseconds: f64,
    /// K(op), without the launch; estimated from the figures above where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nanoseconds: Option<f64>,
}

/// Kinds of operators, after what a thread reads and writes. They decide where large graphs are cut
/// ([`candidates::STAGES`]) and what joins within a layer ([`span`]).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Each thread makes elements of its own from few others.
    Elementwise,
    /// Sums up elements that follow each other in memory.
    RowReduction,
    /// Sums up elements that are a row apart.
    ColumnReduction,
    /// Sums up everything into one element.
    ScalarReduction,
    /// Several small products of matrices.
    BatchedProduct,
    /// A product of matrices, or a convolution.
    Product,
    /// Nothing is known of it; it shares a kernel with nothing.
    #[default]
    Opaque,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Elementwise,
        Self::RowReduction,
        Self::ColumnReduction,
        Self::ScalarReduction,
        Self::BatchedProduct,
        Self::Product,
        Self::Opaque,
    ];

    /// As problem files and pages have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Elementwise => "elementwise",
            Self::RowReduction => "row_reduction",
            Self::ColumnReduction => "column_reduction",
            Self::ScalarReduction => "scalar_reduction",
            Self::BatchedProduct => "batched_product",
            Self::Product => "product",
            Self::Opaque => "opaque",
        }
    }
}

/// What two operators have to do with each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The earlier operator.
    pub source: usize,
    /// The later operator.
    pub sink: usize,
    /// What goes along it.
    pub kind: EdgeKind,
    /// Bytes that need not be loaded again where one kernel holds both ends.
    #[serde(default)]
    pub bytes: f64,
    /// The smallest part of a kernel that holds both ends.
    pub scope: Scope,
    /// Nobody but operators of this problem reads what flows along it, so that a kernel that holds all of them need not
    /// store it.
    #[serde(default)]
    pub temporary: bool,
}

/// Why there is an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The later reads what the earlier wrote.
    Flow,
    /// The later must run after the earlier, and gets nothing from it.
    Order,
    /// Both read the same; they may run in any order.
    Shared,
}

/// Inside of what a dependence can stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One thread.
    Thread,
    /// One block; a barrier stands between.
    Block,
    /// Only kernels of their own.
    Global,
}

/// What the oracle said of a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The operators.
    pub pattern: Pattern,
    /// K(P), without the launch; `None` where no kernel can be made.
    pub nanoseconds: Option<f64>,
}

/// What holds of a pattern that nobody asked the oracle about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unanswered {
    /// No kernel can be made of it.
    #[default]
    Refused,
    /// [`estimate::together`] says what there is.
    Estimated,
}

/// A search for plans.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Planner {
    /// The best plan of all of them; greedy's where that is about as good.
    #[default]
    Auto,
    /// Whatever may join, joins.
    Greedy,
    /// An integer program over scored patterns.
    Ilp,
    /// Layer by layer from the results.
    Span,
    /// In the order of a priority.
    Priority,
    /// XLA's rule, a baseline that `auto` leaves out.
    Xla,
}

impl Priority {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Default, Self::Annealing, Self::Learned];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Annealing => "annealing",
            Self::Learned => "learned",
        }
    }
}

impl Planner {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Auto,
        Self::Greedy,
        Self::Ilp,
        Self::Span,
        Self::Priority,
        Self::Xla,
    ];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Greedy => "greedy",
            Self::Ilp => "ilp",
            Self::Span => "span",
            Self::Priority => "priority",
            Self::Xla => "xla",
        }
    }
}

/// Where f(P) comes from (FusionStitching §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// A cost model of kernels.
    #[default]
    Model,
    /// Measured times, where there are some; a cost model elsewhere.
    Measured,
    /// Bytes alone, and the curve of memory's rate.
    Bytes,
}

impl Score {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Model, Self::Measured, Self::Bytes];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Measured => "measured",
            Self::Bytes => "bytes",
        }
    }
}

/// Where the priorities of [`priority`] come from.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The order in which operators run.
    #[default]
    Default,
    /// Simulated annealing.
    Annealing,
    /// A trained [`policy`].
    Learned,
}

/// How a problem is to be solved.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// By whom.
    pub planner: Planner,
    /// In which order, for [`Planner::Priority`].
    pub priority: Priority,
    /// So long at most.
    pub budget: Duration,
    /// For [`Priority::Annealing`] and [`Priority::Learned`].
    pub seed: u64,
    /// For [`Priority::Learned`]; [`policy::shipped`] where there is none.
    pub policy: Option<Arc<Policy>>,
    /// For [`Planner::Priority`]: so many walks at most.
    pub most_walks: usize,
    /// So often the oracle may be asked something new.
    pub most_asked: usize,
    /// Sets of patterns that no plan may have all of: what a judge of whole plans refused.
    pub forbidden: Vec<Vec<Pattern>>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            planner: Planner::Auto,
            priority: Priority::Default,
            budget: Duration::from_secs(10),
            seed: 0,
            policy: None,
            most_walks: 1_000,
            most_asked: 20_000,
            forbidden: Vec::new(),
        }
    }
}

impl PlanOptions {
    /// Whether a plan has no set of patterns that is forbidden.
    pub fn allows(&self, patterns: &[Pattern]) -> bool {
        let mut forbidden = self.forbidden.iter();
        !forbidden.any(|set| set.iter().all(|pattern| patterns.contains(pattern)))
    }
}

/// When a search has to end.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// So long from now.
    pub fn after(budget: Duration) -> Self {
        let now = Instant::now();
        Self(now.checked_add(budget).unwrap_or(now))
    }

    /// Whether it is over.
    pub fn is_past(self) -> bool {
        Instant::now() >= self.0
    }

    /// What is left.
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

/// Which operators share kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Who found it.
    pub planner: Planner,
    /// Patterns of two operators or more, by their first ones.
    pub patterns: Vec<Pattern>,
    /// What all kernels take by the model, launches included.
    pub nanoseconds: f64,
    /// Of [`Planner::Ilp`]: no plan of the patterns that it looked at takes less.
    pub bound_nanoseconds: Option<f64>,
    /// Its budget ran out, so that another run may find another plan.
    pub cut_short: bool,
}

impl Plan {
    /// A plan of these patterns, with what it takes.
    pub(crate) fn of(
        planner: Planner,
        mut patterns: Vec<Pattern>,
        oracle: &mut Oracle<'_>,
    ) -> Self {
        patterns.retain(|pattern| pattern.len() > 1);
        patterns.sort();
        Self {
            planner,
            nanoseconds: oracle.nanoseconds_of_plan(&patterns),
            patterns,
            bound_nanoseconds: None,
            cut_short: false,
        }
    }

    /// How far the plan may be from the best one of its patterns, as a part of its time.
    pub fn gap(&self) -> Option<f64> {
        let bound = self.bound_nanoseconds?;
        let gap = (self.nanoseconds - bound) / self.nanoseconds.max(f64::MIN_POSITIVE);
        Some(gap.max(0.0))
    }
}
