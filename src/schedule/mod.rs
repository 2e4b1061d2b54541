//! [`crate::dependence::DependenceGraph`] -> [`FusionPlan`]: which launches become one (paper §4).
//!
//! A plan is edits only, plain data that serialises. Nothing here is trusted: [`crate::verify`]
//! judges every plan from the models alone.
//!
//! [`plan_fusion`] grows groups; who may join one is said in [`group`], what a launch may not move past in
//! [`obstacle`], which launches under conditions of their own join in [`conditional`], the reason that is given for a pair
//! in [`unfused`]. Planners ask of other groups in [`patterns`]. [`ScheduleOptions`] is all that the command
//! line says about plans.

mod thread_map;
mod host_side;
mod memory;
mod boundaries;
mod side_by_side;
mod device_resources;
mod single_launches;
mod unfused;
mod group;
mod groups;
mod local;
mod numbers;
mod obstacle;
mod patterns;
mod layout;
mod segments;
mod sharing;
mod told_by_first;
mod units;

use boundaries::{
    batch_phases, grid_barriers, iterations, last_block, loop_ends, overlap, persistent,
    recomputation, rotation,
};
use device_resources::regroup;
pub use device_resources::{occupancy, resources};
use host_side::{
    asked_memory, batch_order, batches, conditional, host_order, partial, passing, waiting,
};
use memory::{dead_buffers, expansion, liveness, space};
use side_by_side::{beside, beside_cost};
use thread_map::{alignment, by_iteration, domains, rearranged};

pub use batch_order::{
    BatchCount, BatchOrder, OrderingEdge, OverwrittenBuffers, WaitingStatement, batch_orders,
};
pub use batches::{plan_batches, plan_graph_regions};
pub use beside_cost::blocks_at_once;
pub use dead_buffers::find_dead_buffers;
pub use expansion::without_unbacked;
pub use grid_barriers::plan_grid_barriers;
pub use last_block::plan_last_blocks;
pub use layout::{Alignment, Layout};
pub use local::{plan_fusion, plan_fusion_as};
pub use loop_ends::{LoopEnd, loop_ends};
pub use overlap::{Overlap, Unoverlapped, overlap_launches, without_overlaps};
pub use patterns::{LaunchRelation, Patterns};
pub use persistent::plan_persistent_loops;
pub use recomputation::plan_recomputation;
pub use regroup::Regrouper;
pub use rotation::{Rotation, rotations, sum_loops, waiting_launches, weighted_launches};
pub use single_launches::plan_host_constants;
pub use thread_map::map::{Arrangement, BlockThreads, ThreadMap, ThreadOrder};

use crate::build::{Boundary, Fusion, Optimisation, SiriusOptions};
use crate::dependence::{Guard, RangeTouch};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::kernel::KernelModel;
use crate::launch::{
    BufferId, HostBlockId, LaunchGraph, LaunchId, Node, NodeId, NodeKind, Operand, ValueId,
};
use crate::math::expression::Expression;
use occupancy::Limits;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A launch in a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Which launch.
    pub launch: LaunchId,
    /// Its map.
    pub map: ThreadMap,
    /// A block-wide barrier stands before its segment (always false in the first segment). Members of
    /// one segment share it.
    pub barrier_before: bool,
}

/// Launches that become one, at the place of the last. Its grid is on each axis the largest of any
/// member's that keeps its threads where they are, its block that of all of these; where members have block
/// ranges and rows of threads, see [`ThreadMap::Blocks`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FusionGroup {
    /// In host order. One alone is a launch that only takes what the host knows into its kernel.
    pub members: Vec<Member>,
    /// Name of the layout, see [`Layout`].
    pub layout: String,
    /// Names of all layouts that were found for these members, the most vertical first.
    #[serde(default)]
    pub layouts: Vec<String>,
    /// What is tested at run time; when one fails the originals run, in order.
    pub guards: Vec<Guard>,
    /// Allocations that the group writes and that nothing but its own members reads afterwards: of
    /// what a member stores there only what a later member loads matters.
    #[serde(default)]
    pub unread_afterwards: Vec<BufferId>,
    /// The segments of the fused kernel in order, as positions in `members`. Members of one segment
    /// do not depend on each other and run interleaved: loops and barriers of theirs that match are
    /// one. Empty: each member is a segment, in host order.
    #[serde(default)]
    pub segments: Vec<Vec<usize>>,
    /// Copies to the host, as nodes, behind which somebody relies on members being done: where such a copy has
    /// nothing to copy, or fails, the host waits for its stream all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited_copies: Vec<NodeId>,
    /// Host blocks at whose beginning the members that have been met so far are issued, as they are written, since they
    /// must not pass what is done there. Where the host takes such a way, the group does not run as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issued_before: Vec<HostBlockId>,
    /// Where there are any, the group runs with those of its members that the host came to, two or more of them: each of
    /// these tests is made where all of its members are among them. Members that the host did not come to have an empty
    /// grid then. All keep their threads where they are, clipped, and `guards` has only what is asked of a launch at
    /// its own place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partial_guards: Vec<PartialGuards>,
    /// How its kernel is made.
    #[serde(default, skip_serializing_if = "Variant::is_usual")]
    pub variant: Variant,
    /// Its kernel may begin before the launch before it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    /// Members in front of which all blocks of the launch wait for each other, by position, ascending: they need what
    /// other blocks made. Where there are some, the launch is cooperative, and its blocks run those of the members'
    /// grids one after the other; members between two such barriers have one grid, and see each other's blocks as in
    /// any group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grid_barriers: Vec<usize>,
    /// The first member, by position, that one block of the launch runs alone, behind all blocks: the one that is the last
    /// to have run the members in front. It and the members behind it have one block each, whose threads are the first of
    /// that block in linear order (x fastest).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_block: Option<usize>,
    /// With these tests alone, the members in front of `last_block` run as one launch that ends without it, and the one
    /// behind follows as it is written. `None`: without the last block the originals run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_guards: Option<Vec<Guard>>,
    /// With these tests the members in front of `last_block` run as one launch where the host does not come to the member
    /// behind. `None`: they run as they are written there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_guards: Option<Vec<Guard>>,
    /// The first of two members has one block, whose work every block of the launch does by itself in front of the second's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recomputation: Option<Recomputation>,
    /// What iterations of a host loop launch follows each other in its kernel, which computes for itself whether the host
    /// would go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested_loop: Option<TestedLoop>,
    /// Of a cooperative group: where a test of it fails, these run in place of their members, in order, each under tests of
    /// its own. The members of each follow each other; those of none run as they are written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<FusionGroup>,
}

/// How every block of a launch does the work of one block by itself: what that stores goes to shared memory, where the second
/// member finds it; the first block also stores it where it belongs. The fused launch has the first member's block. Where the
/// second keeps its threads it has the second's grid, else as many blocks, in one row, as the second's threads fill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recomputation {
    /// All that the first member stores.
    pub copies: Vec<BlockCopy>,
}

/// What one block stores, kept in the shared memory of each block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockCopy {
    /// The pointer argument through which the first member stores it.
    pub stored: usize,
    /// The pointer arguments through which the second member loads it.
    pub loaded: Vec<usize>,
    /// How many bytes it is, from where these lead to.
    pub bytes: Expression<ValueId>,
}

impl Recomputation {
    /// Where the copy of a number begins in dynamic shared memory; behind the last one, how much there is of it.
    pub fn begin(&self, number: usize) -> Expression<ValueId> {
        let unit = || Expression::Constant(COPY_ALIGNMENT);
        let before = self.copies.iter().take(number);
        before.fold(Expression::Constant(0), |begin, copy| {
            let filled = copy
                .bytes
                .clone()
                .add(Expression::Constant(COPY_ALIGNMENT - 1));
            begin.add(filled.floor_divide(unit()).multiply(unit()))
        })
    }
}

/// Copies begin at multiples of so many bytes: no access asks for more.
pub const COPY_ALIGNMENT: i64 = 16;

/// A host loop that runs ahead in the kernel of a cooperative group, with the test by which the host ends it
/// ([`LoopTest`](crate::launch::LoopTest)). The host then goes through its loop as it is written: what it launches has been
/// done, and copies bring it what they would have brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedLoop {
    /// Which loop.
    pub host_loop: usize,
    /// Pointers that change places from iteration to iteration, as in [`PersistentLoop::turning`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turning: Vec<[(LaunchId, usize); 2]>,
    /// Numbers that launches take and that may be others in each iteration: by launch of a member, the position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varying: Vec<(LaunchId, usize)>,
    /// The copies to the host, in order. What they copy the kernel keeps for them, iteration by iteration.
    pub copies: Vec<TestedCopy>,
    /// So many iterations run ahead at most.
    pub most_iterations: u32,
}

/// A copy to the host of a loop that runs ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedCopy {
    /// The copy.
    pub node: NodeId,
    /// So many members, all of whole phases, come before it.
    pub after: usize,
    /// All blocks wait for each other behind these, in front of what it reads.
    pub barrier_before: bool,
    /// They do so again behind that, before the members that follow, which may write there.
    pub barrier_behind: bool,
}

impl TestedLoop {
    /// How pointers change places.
    pub fn places(&self) -> PersistentLoop {
        PersistentLoop {
            barrier: true,
            grid_barrier: true,
            varying: self.varying.clone(),
            turning: self.turning.clone(),
        }
    }

    /// What a guard, which is tested in front of the first iteration, says of the `number`-th behind it: the same of pointers
    /// that these are then.
    pub fn turned(&self, guard: &Guard, number: usize) -> Guard {
        let places = self.places();
        let operand = |launch: &mut LaunchId, operand: &mut Operand| {
            if let Operand::Argument { argument, .. } = operand {
                (*launch, *argument) = places.source((*launch, *argument), number);
            }
        };
        let mut guard = guard.clone();
        match &mut guard {
            Guard::RangesDisjoint { left, right } | Guard::SameOrDisjoint { left, right } => {
                for range in [left, right] {
                    operand(&mut range.launch, &mut range.operand);
                }
            }
            Guard::DeviceMemory {
                launch,
                operand: asked,
            } => operand(launch, asked),
            Guard::Holds { .. }
            | Guard::ConfigurationValid { .. }
            | Guard::NotCapturing { .. }
            | Guard::Resident { .. }
            | Guard::SameStream { .. } => {}
        }
        guard
    }
}

/// More iterations a kernel does not run ahead: the host has room for what their copies bring.
pub const MOST_ITERATIONS_AHEAD: u32 = 1024;

/// What a group that may run with some of its members tests of one or two of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialGuards {
    /// In host order.
    pub members: Vec<LaunchId>,
    /// All must hold where the host came to all of the members.
    pub guards: Vec<Guard>,
}

/// Choices in making a group's kernel that change its speed and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variant {
    /// Optimisations that this kernel goes without.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without: BTreeSet<Optimisation>,
    /// So many of its threads are to run at once on a multiprocessor, which bounds its registers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_threads: Option<u32>,
    /// Its code is kept short, so that loops are not unrolled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compact: bool,
    /// The body of each innermost loop of its segments stands so many times in the code, where the user says
    /// nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrolled: Option<u32>,
}

impl Variant {
    /// Whether there is nothing special about it.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl FusionGroup {
    /// Whether it runs with those of its members that the host came to.
    pub fn is_partial(&self) -> bool {
        !self.partial_guards.is_empty()
    }

    /// [`FusionGroup::segments`], written out.
    pub fn segments_in_order(&self) -> Vec<Vec<usize>> {
        match self.segments.is_empty() {
            true => (0..self.members.len()).map(|member| vec![member]).collect(),
            false => self.segments.clone(),
        }
    }

    /// Whether its blocks are all on the device at once, and run those of the members' grids one after the other: that is
    /// so of a group with grid-wide barriers, and of one that tests how many blocks there is room for.
    pub fn is_cooperative(&self) -> bool {
        let mut guards = self.guards.iter();
        let asks = guards.any(|guard| matches!(guard, Guard::Resident { .. }));
        asks || !self.grid_barriers.is_empty()
    }

    /// How many members, from the first on, all blocks of the launch run; the last block alone runs those behind them.
    pub fn of_all_blocks(&self) -> usize {
        self.last_block.unwrap_or(self.members.len())
    }

    /// Whether the plan says of members in front of a last block that they run without it.
    pub fn names_front(&self) -> bool {
        self.front_guards.is_some() || self.early_guards.is_some()
    }

    /// What is tested in front of any launch in place of the originals.
    pub fn guards_of_front(&self) -> &[Guard] {
        self.front_guards.as_deref().unwrap_or(&self.guards)
    }

    /// The members between grid-wide barriers, as ranges of positions; all of them where there are no such barriers.
    pub fn phases(&self) -> Vec<std::ops::Range<usize>> {
        let begins = std::iter::once(0).chain(self.grid_barriers.iter().copied());
        let ends = self.grid_barriers.iter().copied();
        let ends = ends.chain([self.members.len()]);
        begins.zip(ends).map(|(begin, end)| begin..end).collect()
    }

    /// The block partitions, each as positions in `members` in ascending order, by their first members.
    /// Members that have no block range are one block partition.
    pub fn partitions(&self) -> Vec<Vec<usize>> {
        let mut partitions: Vec<Vec<usize>> = Vec::new();
        let first = |member: usize| match &self.members[member].map {
            ThreadMap::Blocks { first, .. } => Some(first),
            ThreadMap::Identity
            | ThreadMap::Clipped
            | ThreadMap::Remapped { .. }
            | ThreadMap::Runs { .. }
            | ThreadMap::Elements { .. }
            | ThreadMap::Tiles { .. }
            | ThreadMap::Rearranged { .. } => None,
        };
        for member in 0..self.members.len() {
            let mut known = partitions.iter_mut();
            match known.find(|partition| first(partition[0]) == first(member)) {
                Some(partition) => partition.push(member),
                None => partitions.push(vec![member]),
            }
        }
        partitions
    }
}

/// The edits to a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FusionPlan {
    /// Disjoint groups.
    pub groups: Vec<FusionGroup>,
    /// Parts of the host program whose launches are issued in batches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batched_regions: Vec<BatchedRegion>,
    /// Allocations that nothing touches but members of groups that call them unread afterwards. Where the
    /// fused kernels have no access to one left, only the originals need its memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dead_buffers: Vec<BufferId>,
}

impl FusionPlan {
    /// All groups of which kernels are made: those of the plan, then those of their fallbacks, in the same order.
    pub fn with_fallbacks(&self) -> Vec<&FusionGroup> {
        let fallbacks = self.groups.iter().flat_map(|group| &group.fallback);
        self.groups.iter().chain(fallbacks).collect()
    }

    /// Which of [`FusionPlan::with_fallbacks`] are those of the fallback of a group, given by its position.
    pub fn fallback_of(&self, group: usize) -> std::ops::Range<usize> {
        let lengths = self.groups.iter().map(|group| group.fallback.len());
        let first = self.groups.len() + lengths.clone().take(group).sum::<usize>();
        first..first + lengths.skip(group).take(1).sum::<usize>()
    }

    /// Puts groups into the order of their first launches in the graph.
    fn sort_groups(&mut self, graph: &LaunchGraph) {
        let launches = graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, node.id)),
            _ => None,
        });
        let places: BTreeMap<LaunchId, NodeId> = launches.collect();
        self.groups
            .sort_by_key(|group| places.get(&group.members.first()?.launch).copied());
    }
}

/// A part of a host function whose launches are put off and issued in batches, each launch of a
/// statement in the earliest batch after all that it depends on. It begins with its first launch and
/// ends wherever control comes to where none of its statements can be met any more in the same
/// iteration of the loop around it.
///
/// The batches are found when the program runs, by what each launch touches there: so it does not
/// matter whether host code is a loop nest or written out, and where its pointers come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchedRegion {
    /// Launches and groups, in host order.
    pub statements: Vec<BatchedStatement>,
    /// So many of the host loops around all statements are outside: an iteration of the innermost
    /// of these ends the region.
    pub outside_loops: usize,
    /// Host blocks at whose beginning what waits is issued, since it must not pass what is done there, such as what a
    /// switch does that is usually off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drained_before: Vec<HostBlockId>,
    /// Its launches wait for graphs alone: no two of them are expected to run side by side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_graphs: bool,
}

/// A launch site that waits for its batch. Other sites of the region issue what waits and then
/// themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchedStatement {
    /// The launch, or the last member of a group, at whose place the group runs.
    pub launch: LaunchId,
    /// All that it touches, for a group what all members touch.
    pub touches: Vec<RangeTouch>,
    /// What must hold so that `touches` is all; else what waits is issued, and then the originals.
    /// The guards of a group are tested besides.
    pub guards: Vec<Guard>,
    /// Which of `touches`, by position, are ranges that one launch writes wholly and reads nothing of, under the
    /// guards: the queue may give them other memory, so that nobody has to wait for who still uses what was
    /// there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<usize>,
    /// The group is only right where what it replaces is not where its earlier segments find it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must_replace: bool,
    /// Its launches follow each other inside one kernel. It is the only statement of its region then, a group, and
    /// needs no `touches`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent: Option<PersistentLoop>,
    /// Batches of its launches may be phases of one cooperative launch, each of whose blocks runs so many blocks of a batch
    /// at most, one after the other; all barriers of its kernels are met by whole blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase_rounds: Option<u32>,
}

/// How a kernel runs the launches that iterations of a host loop make, one after the other: each of its threads runs its
/// own thread of every launch.
///
/// The queue takes a launch into such a kernel only if its grid, block, dynamic shared memory, stream and all arguments
/// but the varying ones have the same bytes as those of the launch before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistentLoop {
    /// A block-wide barrier stands between two launches.
    pub barrier: bool,
    /// A grid-wide barrier stands there, in the kernel of a cooperative group.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grid_barrier: bool,
    /// Arguments, none of them a pointer, that each launch has a value of its own of: by launch of a member, its position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varying: Vec<(LaunchId, usize)>,
    /// Pointers that change places from launch to launch: the first argument has in a launch what the second had in the
    /// launch before. The queue takes a launch only if that is so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turning: Vec<[(LaunchId, usize); 2]>,
}

impl PersistentLoop {
    /// Where an argument of the `number`-th launch after some launch is found among the arguments of that one.
    pub fn source(&self, argument: (LaunchId, usize), number: usize) -> (LaunchId, usize) {
        (0..number).fold(argument, |argument, _| {
            let mut turning = self.turning.iter();
            let found = turning.find(|[own, _]| *own == argument);
            found.map_or(argument, |[_, source]| *source)
        })
    }

    /// After so many launches all pointers are back where they were; `None` where that is more than [`MOST_TURNS`].
    pub fn period(&self) -> Option<usize> {
        (1..=MOST_TURNS).find(|number| {
            let mut turning = self.turning.iter();
            turning.all(|[own, source]| self.source(*own, number + 1) == *source)
        })
    }
}

/// The most launches after which the pointers of a persistent loop are back where they were: its kernel has code for each.
pub const MOST_TURNS: usize = 3;

impl BatchedStatement {
    /// The launches and arguments behind which the replaced ranges are.
    pub fn replaced_arguments(&self) -> impl Iterator<Item = (LaunchId, usize)> + '_ {
        let touches = self.replaced.iter().filter_map(|at| self.touches.get(*at));
        touches.filter_map(|touch| match touch.range.operand {
            Operand::Argument {
                argument,
                offset_bytes: 0,
                bits: 64,
                ..
            } => Some((touch.range.launch, argument)),
            _ => None,
        })
    }
}

/// Two consecutive launches in host order that stay unfused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// The earlier launch.
    pub source: NodeId,
    /// The later launch.
    pub sink: NodeId,
    /// Why.
    pub rejection: Rejection,
    /// The later launch is that of the next iteration of a host loop around both.
    #[serde(default)]
    pub carried: bool,
}

/// The pairs of a group that could not be one kernel after all: its kernels cannot leave their own image,
/// or their shared variables could not share storage. `kernels` is indexed by
/// [`KernelId`](crate::program::KernelId).
pub fn left_out(graph: &LaunchGraph, kernels: &[KernelModel], group: &FusionGroup) -> Vec<Missed> {
    let model = |node: &Node| match &node.kind {
        NodeKind::Launch(launch) => kernels.get(launch.kernel?.0),
        _ => None,
    };
    let models = nodes_of(graph, group).filter_map(model);
    let bytes: u64 = models.map(|model| model.static_shared_bytes).sum();
    let (reason, message) = match bytes > space::MOST_STATIC_SHARED_BYTES {
        true => (
            RejectionReason::Resources,
            format!(
                "fused, they would need up to {bytes} bytes of static shared memory, too few of which \
                 could be shared between them"
            ),
        ),
        false => (
            RejectionReason::OpaqueKernel,
            String::from(
                "a kernel depends on something that only its own device image has, such as a table \
                 of addresses of device variables",
            ),
        ),
    };
    left_unfused(graph, group, reason, &message)
}

/// The pairs of a group that is not carried out.
pub fn left_unfused(
    graph: &LaunchGraph,
    group: &FusionGroup,
    reason: RejectionReason,
    message: &str,
) -> Vec<Missed> {
    let nodes: Vec<_> = nodes_of(graph, group).collect();
    let pairs = nodes.windows(2);
    let missed = pairs.map(|pair| Missed {
        source: pair[0].id,
        sink: pair[1].id,
        carried: false,
        rejection: Rejection {
            reason,
            message: message.to_owned(),
            detail: String::new(),
            location: pair[1].location.clone(),
        },
    });
    missed.collect()
}

/// The launches of a group.
fn nodes_of<'a>(graph: &'a LaunchGraph, group: &'a FusionGroup) -> impl Iterator<Item = &'a Node> {
    let launches = group.members.iter().map(|member| member.launch);
    launches.filter_map(|launch| {
        graph.nodes.iter().find(
            |node| matches!(&node.kind, NodeKind::Launch(candidate) if candidate.id == launch),
        )
    })
}

/// What the user asked of the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleOptions {
    /// How much may be fused.
    pub fusion: Fusion,
    /// At most this many groups.
    pub max_fusions: Option<usize>,
    /// No launch moves below a synchronisation.
    pub keep_synchronisations: bool,
    /// Launches may be issued in batches.
    pub launch_batches: bool,
    /// Launches of host loops may follow each other inside one kernel.
    pub persistent_loops: bool,
    /// Launches move past accesses of the host after the program asked what memory they touch.
    pub asks_memory: bool,
    /// Members may be remapped over the threads of others.
    pub remaps_threads: bool,
    /// Launches may wait to be issued as graphs.
    pub graphs: bool,
    /// Launches may begin before the one before them has ended.
    pub overlap: bool,
    /// Constants of the host are those of kernels, for which a launch may be a group of its own.
    pub host_constants: bool,
    /// Pointers into one allocation become one, for which a launch may be a group of its own.
    pub one_base: bool,
    /// Whole blocks of members may be blocks of others in another arrangement.
    pub permutes_blocks: bool,
    /// Launches that wait may get other memory for what they replace.
    pub expands_buffers: bool,
    /// Shared variables of members that come one after the other share storage.
    pub reuses_shared_memory: bool,
    /// Allocations that fused kernels do not touch take no memory before somebody does.
    pub reserves_memory: bool,
    /// Launches that need what other blocks made may become one, with grid-wide barriers.
    pub grid_barriers: bool,
    /// The last block of a launch may run a launch of one block that needs what all its blocks made.
    pub last_block: bool,
    /// Every block of a launch may do the work of a launch of one block, whose result it needs.
    pub recomputes: bool,
    /// How members of a group are laid out.
    pub layout: Layout,
    /// What a fused kernel may need.
    pub limits: Limits,
}

impl From<&SiriusOptions> for ScheduleOptions {
    fn from(options: &SiriusOptions) -> Self {
        Self {
            fusion: options.fusion,
            max_fusions: options.max_fusions,
            keep_synchronisations: options.keep_synchronisations,
            launch_batches: options.fusion == Fusion::All
                && options.optimisations.contains(&Optimisation::LaunchBatches),
            persistent_loops: options.fusion == Fusion::All
                && options
                    .optimisations
                    .contains(&Optimisation::PersistentLoops),
            asks_memory: options.optimisations.contains(&Optimisation::AskedMemory),
            remaps_threads: options
                .optimisations
                .contains(&Optimisation::ThreadRemapping),
            graphs: options.fusion == Fusion::All
                && options.optimisations.contains(&Optimisation::LaunchBatches)
                && options.boundaries.contains(&Boundary::Graph),
            overlap: options.boundaries.contains(&Boundary::Overlap),
            host_constants: options.optimisations.contains(&Optimisation::HostConstants),
            one_base: options
                .optimisations
                .contains(&Optimisation::PointerRebasing),
            permutes_blocks: options
                .optimisations
                .contains(&Optimisation::PermutedBlocks),
            expands_buffers: options
                .optimisations
                .contains(&Optimisation::BufferRenaming),
            reuses_shared_memory: options
                .optimisations
                .contains(&Optimisation::SharedMemoryReuse),
            reserves_memory: [Optimisation::DeadStores, Optimisation::DeadBuffers]
                .iter()
                .all(|needed| options.optimisations.contains(needed)),
            grid_barriers: options.fusion == Fusion::All
                && options.boundaries.contains(&Boundary::GridBarrier),
            last_block: options.fusion == Fusion::All
                && options.boundaries.contains(&Boundary::LastBlock),
            recomputes: options.fusion == Fusion::All
                && options
                    .optimisations
                    .contains(&Optimisation::BlockRecomputation),
            layout: Layout::named(&options.layout),
            limits: Limits::LEAST,
        }
    }
}
