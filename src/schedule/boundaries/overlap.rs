//! Launches that begin before the one before them in their stream has ended (programmatic dependent launch).
//!
//! Such a launch has a version of its kernel that waits until the launch before it is done. What comes before the wait
//! runs beside that launch, so only loads may come there, and only from memory that no launch which may still run
//! writes. Every version waits on each way to its end. So when a launch is done, all before it are, and a version, which
//! tells its successor to begin behind its own wait, lets it meet nobody but itself. That is the chain rule: only the
//! launch right before has to be looked at.
//!
//! Which launch that is the host program tells where each way to the launch leads past one that is known. Where ways
//! differ, the program keeps in mind which launch was the last, and a launch begins early behind those alone that the
//! plan names. Whatever else touches the device in between ends that. Invariant: nothing of the plan changes where
//! a launch of this kind is not found; its group has one member, which does what the launch does.

use super::super::group::Judge;
use super::super::obstacle::{Candidate, candidate};
use super::super::{FusionGroup, FusionPlan, ScheduleOptions};
use crate::build::Optimisation;
use crate::dependence::DependenceGraph;
use crate::kernel::{Access, AccessKind, KernelModel, Target};
use crate::launch::{
    BEHIND_POINTER, BufferId, HostBlockId, Launch, LaunchGraph, LaunchId, NodeId, NodeKind, Root,
    Stream,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How a group of one launch begins early. Its kernel waits on every way to its end, and tells the launch behind it to
/// begin right behind the wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    /// Behind these the launch begins early, where one of them was the last that its stream was given. Behind anything
    /// else it begins in its turn. Empty: it only tells its successor to begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predecessors: Vec<LaunchId>,
    /// What its kernel may load before it waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untouched: Vec<Target>,
}

/// A launch that begins in its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unoverlapped {
    /// Which launch.
    pub launch: LaunchId,
    /// Why, as a clause.
    pub why: String,
}

/// Adds what overlaps to a plan, as groups of one launch each, and tells why other launches do not.
pub fn overlap_launches(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
    plan: &FusionPlan,
) -> (FusionPlan, Vec<Unoverlapped>) {
    let before = without_overlaps(plan);
    let mut plan = before.clone();
    let mut reasons = Vec::new();
    if !options.overlap {
        return (plan, reasons);
    }
    let judge = Judge::new(graph, kernels, dependences, options);
    let program = Program::new(graph, kernels, &before);
    let mut found: BTreeMap<LaunchId, (Candidate<'_>, Overlap)> = BTreeMap::new();
    let mut heads: BTreeSet<LaunchId> = BTreeSet::new();
    for node in &graph.nodes {
        let NodeKind::Launch(launch) = &node.kind else {
            continue;
        };
        if graph.operation_of(launch.id).is_some() {
            continue;
        }
        let eligible = program.eligible(&judge, node.id, launch);
        match eligible.and_then(|candidate| Ok((candidate, program.overlap(&candidate)?))) {
            Ok((candidate, overlap)) => {
                heads.extend(&overlap.predecessors);
                found.insert(launch.id, (candidate, overlap));
            }
            Err(why) => reasons.push(Unoverlapped {
                launch: launch.id,
                why,
            }),
        }
    }
    // What begins a chain tells its successor when to begin.
    for node in &graph.nodes {
        if let NodeKind::Launch(launch) = &node.kind
            && heads.contains(&launch.id)
            && !found.contains_key(&launch.id)
            && let Ok(candidate) = program.eligible(&judge, node.id, launch)
        {
            found.insert(launch.id, (candidate, Overlap::default()));
        }
    }
    for (launch, (candidate, overlap)) in found {
        let own = |group: &&mut FusionGroup| group.members[0].launch == launch;
        let mut group = match plan.groups.iter_mut().find(own) {
            Some(group) => {
                group.variant.without = VERSION_WITHOUT.into();
                group.overlap = Some(overlap);
                continue;
            }
            None => judge.finish(&[candidate], |_| 0),
        };
        group.unread_afterwards = Vec::new();
        group.variant.without = VERSION_WITHOUT.into();
        group.overlap = Some(overlap);
        plan.groups.push(group);
    }
    let place = |group: &FusionGroup| program.nodes.get(&group.members[0].launch).copied();
    plan.groups.sort_by_key(place);
    (plan, reasons)
}

/// The plan without what [`overlap_launches`] adds.
pub fn without_overlaps(plan: &FusionPlan) -> FusionPlan {
    let mut plan = plan.clone();
    plan.groups.retain(|group| group.overlap.is_none());
    plan
}

/// Optimisations that versions go without: those that move accesses to memory would not stop at the wait.
const VERSION_WITHOUT: [Optimisation; Optimisation::ALL.len() - 1] = {
    let mut without = [Optimisation::DeadStores; Optimisation::ALL.len() - 1];
    let (mut from, mut to) = (0, 0);
    while from < Optimisation::ALL.len() {
        if !matches!(Optimisation::ALL[from], Optimisation::HostConstants) {
            without[to] = Optimisation::ALL[from];
            to += 1;
        }
        from += 1;
    }
    without
};

/// What the host did last, as far as it concerns a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Last {
    Launch(LaunchId),
    /// Anything else, or not known.
    Other,
}

/// The host program as its launches follow each other.
struct Program<'a> {
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    plan: &'a FusionPlan,
    nodes: BTreeMap<LaunchId, NodeId>,
    /// By block, what may have been the last before it.
    before: Vec<BTreeSet<Last>>,
    /// Launches before which members of a group may be issued that have waited for the others.
    behind_pending: BTreeSet<NodeId>,
}

impl<'a> Program<'a> {
    fn new(graph: &'a LaunchGraph, kernels: &'a [KernelModel], plan: &'a FusionPlan) -> Self {
        let nodes = graph.launches();
        let mut program = Self {
            graph,
            kernels,
            plan,
            nodes: nodes.collect(),
            before: Vec::new(),
            behind_pending: BTreeSet::new(),
        };
        program.before = program.last_before_blocks();
        program.behind_pending = program.find_behind_pending();
        program
    }

    /// What a node means for who comes after it; `None` where it means nothing.
    fn event(&self, node: NodeId) -> Option<Last> {
        match &self.graph.nodes[node.0].kind {
            NodeKind::ErrorCheck | NodeKind::Output { .. } | NodeKind::MayThrow { .. } => None,
            NodeKind::Launch(launch) if self.is_plain(launch) => Some(Last::Launch(launch.id)),
            _ => Some(Last::Other),
        }
    }

    /// A launch that is issued where it stands and of which it is known what it writes.
    fn is_plain(&self, launch: &Launch) -> bool {
        let model = launch.kernel.and_then(|kernel| self.kernels.get(kernel.0));
        self.graph.operation_of(launch.id).is_none()
            && !launch.special
            && launch.stream != Stream::Unknown
            && model.is_some_and(|model| model.opaque.is_empty())
            && self.fused_with(launch.id).is_none()
            && !self.waits_for_batch(launch.id)
    }

    fn fused_with(&self, launch: LaunchId) -> Option<&FusionGroup> {
        let mut groups = self
            .plan
            .groups
            .iter()
            .filter(|group| group.members.len() > 1);
        groups.find(|group| group.members.iter().any(|member| member.launch == launch))
    }

    fn waits_for_batch(&self, launch: LaunchId) -> bool {
        let regions = self.plan.batched_regions.iter();
        let mut statements = regions.flat_map(|region| &region.statements);
        statements.any(|statement| statement.launch == launch)
    }

    fn last_before_blocks(&self) -> Vec<BTreeSet<Last>> {
        let blocks = &self.graph.blocks;
        let mut before = vec![BTreeSet::new(); blocks.len()];
        let mut work: Vec<HostBlockId> = Vec::new();
        for function in &self.graph.functions {
            before[function.entry.0].insert(Last::Other);
            work.push(function.entry);
        }
        while let Some(block) = work.pop() {
            let nodes = blocks[block.0].nodes.iter().rev();
            let after = match nodes.copied().find_map(|node| self.event(node)) {
                Some(event) => BTreeSet::from([event]),
                None => before[block.0].clone(),
            };
            for next in &blocks[block.0].successors {
                let known = before[next.0].len();
                before[next.0].extend(&after);
                if before[next.0].len() > known {
                    work.push(*next);
                }
            }
        }
        before
    }

    /// What may have been the last before a node.
    fn last_before(&self, node: NodeId) -> BTreeSet<Last> {
        let block = self.graph.nodes[node.0].block;
        let nodes = self.graph.blocks[block.0].nodes.iter().rev();
        let mut above = nodes.copied().skip_while(|other| *other != node).skip(1);
        match above.find_map(|node| self.event(node)) {
            Some(event) => BTreeSet::from([event]),
            None => self.before[block.0].clone(),
        }
    }

    fn find_behind_pending(&self) -> BTreeSet<NodeId> {
        let mut behind = BTreeSet::new();
        for group in &self.plan.groups {
            let Some((last, pending)) = group.members.split_last() else {
                continue;
            };
            let end = self.nodes.get(&last.launch).copied();
            for member in pending {
                let Some(first) = self.nodes.get(&member.launch).copied() else {
                    continue;
                };
                let block = self.graph.nodes[first.0].block;
                let rest = self.graph.blocks[block.0].nodes.iter().copied();
                let rest: Vec<NodeId> = rest.skip_while(|node| *node != first).skip(1).collect();
                let mut met = BTreeSet::new();
                let mut work = vec![(block, rest)];
                while let Some((block, nodes)) = work.pop() {
                    let until = nodes.iter().position(|node| Some(*node) == end);
                    behind.extend(&nodes[..until.unwrap_or(nodes.len())]);
                    if until.is_some() {
                        continue;
                    }
                    for next in &self.graph.blocks[block.0].successors {
                        if met.insert(*next) {
                            work.push((*next, self.graph.blocks[next.0].nodes.clone()));
                        }
                    }
                }
            }
        }
        behind
    }

    /// The launch, when a version of its kernel may wait.
    fn eligible(
        &self,
        judge: &Judge<'a>,
        node: NodeId,
        launch: &Launch,
    ) -> Result<Candidate<'a>, String> {
        if let Some(group) = self.fused_with(launch.id) {
            return Err(format!(
                "it is one of {} that are fused",
                group.members.len()
            ));
        }
        if self.graph.becomes_node(node) {
            return Err(String::from("it is a node of a graph"));
        }
        // What waits is issued before any launch that does not.
        if self.waits_for_batch(launch.id) {
            return Err(String::from("it waits for its batch"));
        }
        let candidate = candidate(self.graph, self.kernels, node).map_err(|why| why.message)?;
        judge
            .conditions_hold(&[candidate])
            .map_err(|why| why.message)?;
        let name = &candidate.model.display_name;
        if candidate.model.prints {
            return Err(format!("`{name}` prints, asserts or traps"));
        }
        if candidate.model.asynchronous_copies {
            return Err(format!("`{name}` copies asynchronously"));
        }
        Ok(candidate)
    }

    /// How a launch begins early.
    fn overlap(&self, candidate: &Candidate<'a>) -> Result<Overlap, String> {
        if self.behind_pending.contains(&candidate.node) {
            return Err(String::from(
                "a launch that waits to be fused may be issued right before it",
            ));
        }
        let stream = candidate.launch.stream;
        // A stream that varies with a loop may be another one each time.
        let steady = match stream {
            Stream::Default => true,
            Stream::Handle(value) => self.graph.values[value.0].varies_in.is_none(),
            Stream::Unknown => false,
        };
        if !steady {
            return Err(String::from("its stream may be another one each time"));
        }
        let last = self.last_before(candidate.node);
        let launches = last.iter().filter_map(|last| match last {
            Last::Launch(launch) => self.launch(*launch),
            Last::Other => None,
        });
        let launches: Vec<&Launch> = launches.collect();
        let known: Vec<&Launch> = launches
            .iter()
            .copied()
            .filter(|launch| launch.stream == stream)
            .collect();
        if known.is_empty() {
            return Err(String::from(match launches.is_empty() {
                true => "what comes right before it is no launch that is known",
                false => "the launch right before it is on another stream",
            }));
        }
        let all = targets(candidate.model);
        let untouched = all
            .iter()
            .filter(|(_, may_load)| **may_load)
            .map(|(target, _)| *target)
            .filter(|target| {
                let mut known = known.iter();
                known.all(|before| !self.may_write(before, candidate.launch, target))
            });
        let untouched: BTreeSet<&Target> = untouched.collect();
        Ok(Overlap {
            untouched: comes_first(candidate.model, &untouched),
            predecessors: known.iter().map(|launch| launch.id).collect(),
        })
    }

    fn launch(&self, id: LaunchId) -> Option<&'a Launch> {
        match &self.graph.nodes[self.nodes.get(&id)?.0].kind {
            NodeKind::Launch(launch) => Some(launch),
            _ => None,
        }
    }

    /// Whether a launch may write where a target of another one leads.
    fn may_write(&self, before: &Launch, launch: &Launch, target: &Target) -> bool {
        let Some(read) = self.memory(launch, target) else {
            return true;
        };
        let model = before.kernel.and_then(|kernel| self.kernels.get(kernel.0));
        let Some(model) = model else { return true };
        let mut accesses = model.accesses.iter();
        accesses.any(|access| {
            access.kind != AccessKind::Read
                && !matches!(access.target, Target::Shared(_) | Target::UnknownShared)
                && self
                    .memory(before, &access.target)
                    .is_none_or(|written| !written.is_disjoint(&read))
        })
    }

    /// The allocations that a target may lead into, where they are known.
    fn memory(&self, launch: &Launch, target: &Target) -> Option<BTreeSet<BufferId>> {
        match target {
            Target::Argument {
                argument,
                offset_bytes,
            } => {
                let pointer = launch.pointer(*argument, *offset_bytes)?;
                match &pointer.root {
                    Root::Buffer(buffer) => Some(BTreeSet::from([*buffer])),
                    Root::Value(_) => {
                        Some(pointer.may_point_to.as_ref()?.iter().copied().collect())
                    }
                }
            }
            Target::Global(name) => {
                let buffers = self.graph.buffers.iter().enumerate();
                let own = buffers.filter(|(_, buffer)| buffer.variable.as_ref() == Some(name));
                let own: BTreeSet<BufferId> = own.map(|(index, _)| BufferId(index)).collect();
                (!own.is_empty()).then_some(own)
            }
            Target::Shared(_) | Target::Unknown | Target::UnknownShared => None,
        }
    }
}

/// What a kernel touches of the device's memory, and whether it does no more there than plain loads.
fn targets(model: &KernelModel) -> BTreeMap<&Target, bool> {
    let mut targets = BTreeMap::new();
    for access in &model.accesses {
        let direct = match &access.target {
            Target::Shared(_) | Target::UnknownShared => continue,
            Target::Unknown => false,
            Target::Global(_) => true,
            Target::Argument { offset_bytes, .. } => *offset_bytes < BEHIND_POINTER,
        };
        let plain = access.kind == AccessKind::Read && !access.volatile && !access.asynchronous;
        *targets.entry(&access.target).or_insert(true) &= direct && plain;
    }
    targets
}

/// Those of some targets from which something can be loaded before the wait: that stands before each loop with an access
/// that has to wait.
fn comes_first(model: &KernelModel, untouched: &BTreeSet<&Target>) -> Vec<Target> {
    let outermost = |access: &Access| {
        let mut loops = access.loops.iter().copied();
        let of_control_flow = |index: &usize| {
            let each = model.loops.get(*index);
            each.is_some_and(|each| each.quotient.is_none() && each.unknown.is_none())
        };
        loops.find(of_control_flow)
    };
    let waiting = model.accesses.iter().filter(|access| {
        !matches!(access.target, Target::Shared(_) | Target::UnknownShared)
            && !untouched.contains(&access.target)
    });
    let waiting: BTreeSet<usize> = waiting.filter_map(outermost).collect();
    let first = untouched.iter().filter(|target| {
        let mut own = model.accesses.iter();
        own.any(|access| {
            access.target == ***target
                && outermost(access).is_none_or(|index| !waiting.contains(&index))
        })
    });
    first.map(|target| (*target).clone()).collect()
}
