//! An independent judge of plans: [`FusionPlan`] -> [`VerifiedPlan`] or refusals.
//!
//! # The theory
//! The unfused program, run in launch order, is the specification: it fixes, for every pair of
//! accesses to a common byte of which one writes, which comes first. A run that keeps all those
//! orders reads the same values everywhere and leaves the same bytes. A plan changes orders in two
//! ways only, and each is judged by itself.
//!
//! *On the host*, a group runs at the place of its last member, so its other members move down past
//! what stands between. That is the same whether the guards hold or not (the originals then run at that
//! place too), so nothing may be assumed here: no moved launch may pass a node that may touch a byte
//! that it touches (one writing; `touched`, by allocations and by ranges that hold in every run), even
//! where that node is itself moved further down, since it may be issued at its old place after all; nor
//! a node that the host program can observe. A wait that it passes no longer tells the host or another
//! stream that it is done, so from where it is issued up to the next wait nobody else may touch its
//! memory (`waits`). Every pair of conflicting nodes keeps its order, which makes the result acyclic
//! and every group convex: a path that leaves a group and comes back to it would hold a node that one
//! member passes in conflict. Launches still pending where control leaves the region are issued there
//! in their old order by code generation and pass no more than was checked. Between the first and the
//! last member neither is met again, and each member is on every path to the next (`host_order`), so
//! that they run in step.
//!
//! *On the device*, every thread runs its instances of the members in the order of the plan's segments,
//! with the identity map from each member's blocks and threads. The fused grid is on each axis the
//! largest of any member's: a member with the identity must be known to fill it, a clipped one runs in
//! those blocks only that its own grid has, so that either way each of its instances runs once, and
//! blocks run it as a whole or not at all. Members of one segment run interleaved: each keeps the order
//! of its own statements and all of its barriers, and nothing is known of the order between them, as
//! between members that the plan puts the other way round: of these no two instances may conflict, in
//! one thread either. Of other pairs the order of two conflicting instances is kept when they are in
//! one thread, or in one block with a barrier between their segments; whatever else is lost. So for
//! each pair of members and of accesses the set of conflicting instances in different blocks, and
//! without a barrier in different threads, must be *empty* (`conflict`), but for updates that leave the
//! same bits in any order (`reduction`). The models promise that their accesses cover what happens if
//! their preconditions hold; the group's guards must imply these, as well as equal blocks, which make
//! the identity a bijection, and valid configurations, since CUDA skips an invalid launch and runs the
//! rest.
//!
//! Threads of a member may be *remapped* over those of the fused launch (`remapped`), where they need nothing
//! of their block. Of a pair with such a member the threads are compared by numbers of theirs, of which equal ones
//! are in one thread, or by the blocks that run them (`runs`).
//!
//! The blocks of a member may be *rearranged* (`rearranged`): they stay whole, and a pair with such a member is
//! asked for as above, of the blocks and threads of the fused launch.
//!
//! All threads of a block reach each *barrier* of a member together, by the model or because the launch does not write
//! what that hangs on (`uniform_barriers`).
//!
//! *Grid-wide barriers* (`grid_barriers`) order all that stands in front of one before all that stands behind it, whatever
//! the blocks. So only members between two of them are judged as above, and each of the others only by itself.
//!
//! Where such a launch is refused, groups of its members may run in their place (`fallback`). Each of them is judged as if the
//! launch with the barriers were not there.
//!
//! *The last block* (`last_block`) to have run the members in front alone runs those behind, so that these come behind
//! all the others, whatever the blocks. So the members in front are judged as above, and those behind by themselves.
//!
//! *In every block* (`recomputation`) the work of one block is done again, in front of what needs it, where nothing that it
//! loads is written in the launch and nothing that it stores is touched other than by copies of each block's own.
//!
//! *Sets and copies* are members only where the call could fail for a null pointer alone
//! (`operations`).
//!
//! Block partitions stand side by side (`partitions`): each has blocks of its own, so that of members of two
//! block partitions no order is kept at all, and *no* two instances may conflict, in whatever blocks and
//! threads. That each member sees the blocks and threads of its own launch is asked first.
//!
//! *Afterwards*, an allocation that a plan calls unread is touched by nobody who would read what the
//! fused kernel does not store (`liveness`); and one that it calls dead is touched by members of such
//! groups alone, so that it may have no memory while no original of theirs runs (`dead_buffers`).
//!
//! *In a capture*, launches become nodes of a graph, which somebody may look into (`capture`).
//!
//! *Tables of pointers* in memory of the device are constants of a launch only where nothing but the host writes them,
//! for which each write of the program is looked at (`tables`).
//!
//! *Inside* a fused kernel a barrier may only be left out when [`is_redundant`] finds in the model of
//! that kernel that it orders nothing alone; and shared variables may only share storage when
//! [`shared_memory_reuse_conflict`] finds there that they are in use one after the other or in other
//! blocks, and loads only be served from a copy in shared memory when [`row_promotion_conflict`] finds that
//! the thread itself brought the same value there, or [`buffer_promotion_conflict`] that its block did.
//! What a thread stored may only stay in a register across a barrier when [`own_value_conflict`] finds that no other thread
//! of its block writes there.
//! Two loops may only become one when [`join_conflict`] finds that each iteration meets its counterpart
//! at most.
//!
//! *With some of its members* a group runs where the plan says so (`partial`): each two of them are judged as a group.
//!
//! *In batches*, launches of a region are put off, all to a place before the host does anything that
//! could tell (`batches`); there each is issued after every earlier one that touches a common byte, one
//! of the two writing it, which code generation sees to when the program runs. What a launch touches
//! it tells by ranges of the plan, so these must hold all that its model may touch. A range that a launch
//! replaces may be given other memory there (`expansion`). Or they follow each other in one kernel (`persistent`): then
//! any two of them are judged as one group. A wait of the host between them is made up for when they are issued.
//!
//! *Across grid-wide barriers* of one launch, threads may keep what they stored and load again where `own_reads` finds that no other
//! thread of the launch writes it, and hand values to other threads of their block where `handed_on` finds that nobody writes them anew.
//!
//! *Phases of one launch* are launch batches between which all blocks wait for each other (`batch_phases`).
//!
//! *Ahead of the host* run iterations of a loop whose end the kernel computes as the host does (`tested_loops`).
//!
//! *Beside the launch before it* runs what a kernel does before its wait, where a plan lets it begin early (`overlap`):
//! loads from memory that this launch never writes, and nothing else.
//!
//! Barriers of members must be met by whole blocks; inside a segment nothing changes otherwise. Static
//! shared memory is each member's own, or another's after a barrier or in another block partition,
//! which code generation sees to; dynamic shared memory, which members overlay, and warp operations
//! need a barrier before. Anything unknown refuses.
//!
//! It recomputes all this from models, launch graph and plan alone, and may not use the algorithms
//! of [`crate::schedule`] or [`crate::dependence`], of which it knows only the plain types. [`verify()`] has the
//! order of the checks; each is a file below that gives [`Refusal`]s.

mod pairs;
mod thread_map;
mod memory;
mod host_side;
mod boundaries;
mod barrier_order;
mod device;
mod host;
mod member;
mod refusal;

use barrier_order::{barriers, joining, segments, uniform_barriers};
use boundaries::{
    batch_phases, fallback, grid_barriers, handed_on, last_block, overlap, own_reads, persistent,
    recomputation, tested_loops,
};
use host_side::{batches, capture, host_order, operations, partial, streams, touched, waits};
use memory::{
    buffer_promotion, dead_buffers, expansion, liveness, own_values, row_promotion,
    shared_memory_reuse, space,
};
use pairs::{
    conflict, delinearised, emptiness, fixed, formula, iterations, meeting, one_thread, place,
    polynomial, reduction, tables, targets,
};
use thread_map::{by_iteration, elements, matrix_tiles, partitions, rearranged, remapped, runs};

pub use barriers::is_redundant;
pub use buffer_promotion::{PromotedBuffer, WindowSize, buffer_promotion_conflict};
pub use joining::{JoinedLoops, join_conflict};
pub use overlap::early_access;
pub use own_values::own_value_conflict;
pub use refusal::Refusal;
pub use row_promotion::{PromotedStream, RowLength, RowPromotion, row_promotion_conflict};
pub use shared_memory_reuse::{SharedPlace, shared_memory_reuse_conflict};

use crate::kernel::KernelModel;
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeId, NodeKind};
use crate::schedule::{FusionGroup, FusionPlan, ThreadMap};
use conflict::Answers;
use liveness::Readers;
use std::collections::{BTreeMap, BTreeSet};

/// A plan that passed; the only one that code generation accepts.
#[derive(Clone, Debug)]
pub struct VerifiedPlan {
    plan: FusionPlan,
    own_reads: BTreeMap<usize, OwnReads>,
}

/// By which arguments of which members (by position) of a group with grid-wide barriers loads read only what no thread but their own
/// writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OwnReads {
    /// It writes it in the launch, or in the same iteration where a loop of the host is in the kernel.
    pub within: BTreeSet<(usize, usize)>,
    /// It does, or nobody does, in all iterations of a loop of the host that is in the kernel.
    pub across: BTreeSet<(usize, usize)>,
    /// By member and argument of stores, those of loads in later phases of the launch, or of the same iteration, that may read what
    /// was stored: until these phases end nobody writes to it but the thread that stored it, by the same argument of the same member.
    pub in_blocks: BTreeMap<(usize, usize), BTreeSet<(usize, usize)>>,
    /// The same of loads in the next iteration of a loop of the host that is in the kernel.
    pub in_blocks_across: BTreeMap<(usize, usize), BTreeSet<(usize, usize)>>,
}

impl OwnReads {
    /// Whether there are such loads.
    pub fn any(&self) -> bool {
        !self.within.is_empty()
            || !self.across.is_empty()
            || !self.in_blocks.is_empty()
            || !self.in_blocks_across.is_empty()
    }
}

impl VerifiedPlan {
    /// The plan itself.
    pub fn plan(&self) -> &FusionPlan {
        &self.plan
    }

    /// What was found besides of loads behind grid-wide barriers, by group.
    pub fn own_reads(&self) -> &BTreeMap<usize, OwnReads> {
        &self.own_reads
    }
}

/// Judges a plan. `kernels` is indexed by [`KernelId`](crate::program::KernelId).
///
/// # Errors
/// Everything that speaks against the plan, in the order of its groups.
pub fn verify(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    plan: FusionPlan,
) -> Result<VerifiedPlan, Vec<Refusal>> {
    verify_within(graph, kernels, plan, own_reads::MOST_CONJUNCTIONS)
}

/// The same. For each finding of [`OwnReads`], which a plan can do without, isl is asked about so many conjunctions at most; what
/// it is not asked then is found by nobody.
///
/// # Errors
/// Everything that speaks against the plan, in the order of its groups. That does not depend on how much isl is asked.
pub fn verify_within(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    plan: FusionPlan,
    conjunctions: u64,
) -> Result<VerifiedPlan, Vec<Refusal>> {
    let (sites, mut refusals) = sites(graph, &plan);
    let mut groups = Vec::new();
    for (index, group) in plan.groups.iter().enumerate() {
        match members((graph, &sites), kernels, index, group) {
            Ok(members) => groups.push((index, group, members)),
            Err(reasons) => refusals.extend(reasons),
        }
    }
    let host = host::Host::new(graph, kernels);
    let mut known = Answers::default();
    for (_, group, members) in &groups {
        refusals.extend(host::refusals(&host, group, members));
        // Without its last block it is moved with other tests.
        if let Some(front) = last_block::without(group) {
            refusals.extend(host::refusals(&host, &front, members));
        }
    }
    // The device side presumes that members run in step, so it is asked only then.
    if refusals.is_empty() {
        let readers = Readers::new(graph, kernels);
        for (_, group, members) in &groups {
            if group.is_partial() {
                let found = partial::refusals(graph, &host.order, group, members, &mut known);
                refusals.extend(found);
                continue;
            }
            refusals.extend(liveness::refusals(graph, &readers, group, members));
            refusals.extend(operations::refusals(graph, group, members));
            let more_than_kernel = group.is_cooperative()
                || group.last_block.is_some()
                || group.recomputation.is_some()
                || group.overlap.is_some()
                || group.tested_loop.is_some();
            let front = (group.guards_of_front(), more_than_kernel);
            refusals.extend(capture::refusal(graph, front, members));
            let moved = expansion::moved(&plan, group);
            let own = (*group, members.as_slice());
            refusals.extend(match group.is_cooperative() {
                _ if group.last_block.is_some() || group.names_front() => {
                    let mut found = last_block::refusals(graph, &plan, own, &mut known);
                    found.extend(last_block::early_refusals(&host, own, &mut known));
                    found
                }
                _ if group.recomputation.is_some() => {
                    recomputation::refusals(graph, &plan, own, &mut known)
                }
                false => device::refusals(graph, group, members, &moved, &mut known),
                true => grid_barriers::refusals(graph, &plan, own, &mut known),
            });
            refusals.extend(tested_loops::refusals(graph, kernels, own));
            refusals.extend(overlap::refusals(&host, kernels, &sites, &plan, own));
        }
    }
    if !plan.groups.is_empty() || !plan.batched_regions.is_empty() {
        refusals.extend(tables::refusals(graph, kernels));
    }
    refusals.extend(batches::refusals(graph, kernels, &sites, &plan));
    if refusals.is_empty() {
        refusals.extend(persistent::refusals(graph, kernels, &sites, &plan));
    }
    refusals.extend(dead_buffers::refusals(graph, kernels, &sites, &plan));
    refusals.extend(fallback::refusals(graph, kernels, &plan));
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let own_reads = own_reads::own_reads(graph, kernels, &plan, &groups, &mut known, conjunctions);
    Ok(VerifiedPlan { plan, own_reads })
}

/// A member's launch in the graph.
#[derive(Clone, Copy)]
struct Site<'a> {
    node: NodeId,
    launch: &'a Launch,
    model: &'a KernelModel,
    /// As it is counted by iterations, with the model of the kernel that runs one.
    by_iteration: Option<(&'a Launch, &'a KernelModel)>,
}

type Sites<'a> = BTreeMap<LaunchId, Vec<(NodeId, &'a Launch)>>;

fn sites<'a>(graph: &'a LaunchGraph, plan: &FusionPlan) -> (Sites<'a>, Vec<Refusal>) {
    let mut sites = Sites::new();
    for node in &graph.nodes {
        if let NodeKind::Launch(launch) = &node.kind {
            sites.entry(launch.id).or_default().push((node.id, launch));
        }
    }
    let mut refusals = Vec::new();
    let mut seen = BTreeSet::new();
    for member in plan.groups.iter().flat_map(|group| &group.members) {
        let launch = member.launch;
        if !seen.insert(launch) && !recomputation::begins_several(plan, launch) {
            refusals.push(Refusal::DuplicateMember { launch });
        }
    }
    (sites, refusals)
}

fn members<'a>(
    (graph, sites): (&'a LaunchGraph, &Sites<'a>),
    kernels: &'a [KernelModel],
    index: usize,
    group: &FusionGroup,
) -> Result<Vec<Site<'a>>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut members = Vec::new();
    if group.members.is_empty() {
        refusals.push(Refusal::NoMembers { group: index });
    }
    for (position, member) in group.members.iter().enumerate() {
        let launch = member.launch;
        // The proof is for these maps; another one needs its own.
        match member.map {
            ThreadMap::Identity
            | ThreadMap::Clipped
            | ThreadMap::Remapped { .. }
            | ThreadMap::Runs { .. }
            | ThreadMap::Elements { .. }
            | ThreadMap::Tiles { .. }
            | ThreadMap::Rearranged { .. }
            | ThreadMap::Blocks { .. } => {}
        }
        let segments = &group.segments;
        if position == 0 && segments.is_empty() && member.barrier_before {
            refusals.push(Refusal::BarrierFirst { launch });
        }
        let Some([(node, site)]) = sites.get(&launch).map(Vec::as_slice) else {
            refusals.push(Refusal::UnknownLaunch { launch });
            continue;
        };
        if site.special {
            refusals.push(Refusal::SpecialLaunch { launch });
        }
        let model = site.kernel.and_then(|kernel| kernels.get(kernel.0));
        let Some(model) = model.filter(|model| Some(model.id) == site.kernel) else {
            refusals.push(Refusal::UnknownKernel { launch });
            continue;
        };
        for (reason, _) in &model.opaque {
            let reason = reason.clone();
            refusals.push(Refusal::OpaqueKernel { launch, reason });
        }
        for (reason, _) in &model.unfusable {
            let reason = reason.to_string();
            refusals.push(Refusal::Unfusable { launch, reason });
        }
        members.push(Site {
            node: *node,
            launch: site,
            model,
            by_iteration: graph.by_iteration.get(&launch).and_then(|counted| {
                let model = kernels.get(counted.kernel?.0)?;
                (Some(model.id) == counted.kernel).then_some((counted, model))
            }),
        });
    }
    match refusals.is_empty() {
        true => Ok(members),
        false => Err(refusals),
    }
}
