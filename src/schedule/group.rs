//! A group under construction: who may join, and what its fused launch must test.
//!
//! Invariant: for every two members, host order first, each edge between them is of thread scope,
//! of block scope (then a barrier stands between), or absent under guards that the group has; all
//! members are in step; and no member moves below an operation that it may conflict with.

use super::alignment::Placed;
use super::asked_memory;
use super::beside::by_partition;
use super::host_order::HostOrder;
use super::layout::Layout;
use super::liveness::Readers;
use super::obstacle::{Candidate, barriers_reached, obstacle, rejection, waited_at};
use super::told_by_first::told_by_first;
use super::waiting::{self, WaitObservers};
use super::{FusionGroup, Member, ScheduleOptions, ThreadMap, Variant};
use crate::dependence::{
    ByIteration, DependenceGraph, DependenceKind, Edge, Guard, PointerRange, Scope, SharedMemory,
    guards_contradict,
};
use crate::diagnostics::{Location, Rejection, RejectionReason};
use crate::kernel::KernelModel;
use crate::launch::{HostBlockId, LaunchGraph, NodeId, NodeKind, Operand, Pointer, ValueId};
use crate::math::expression::{Condition, Expression};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Everything that decides about groups.
pub(super) struct Judge<'a> {
    pub(super) graph: &'a LaunchGraph,
    pub(super) kernels: &'a [KernelModel],
    pub(super) options: &'a ScheduleOptions,
    pub(super) order: HostOrder<'a>,
    pub(super) memory: SharedMemory<'a>,
    edges: HashMap<(NodeId, NodeId), Vec<&'a Edge>>,
    /// The same where launches of kernels that are one loop over the whole grid are counted by iterations.
    pub(super) counted: &'a ByIteration,
    /// What each launch's model relies on; an error where nothing can make it right.
    conditions: HashMap<NodeId, Result<Vec<Guard>, String>>,
    /// Launches of which only the run tells whether all threads of a block reach a barrier.
    told_by_launch: HashSet<NodeId>,
    pub(super) observers: WaitObservers<'a>,
    readers: Readers,
    /// Members of groups in which threads are remapped.
    pub(super) among_remapped: HashSet<NodeId>,
    /// Members may be placed by the tiles that others' blocks work on.
    pub(super) by_tiles: bool,
    /// Members may stand under conditions of their own: the group runs as one where all of them hold.
    pub(super) conditional: bool,
    /// Of such members streams are compared, too, where both were reached.
    pub(super) compares_streams: bool,
    /// Host blocks at whose beginning members of such a group are issued as they are written, by the group's last member.
    pub(super) issued_before: HashMap<NodeId, BTreeSet<HostBlockId>>,
    /// Last members of groups that run with those of their members that the host came to.
    pub(super) runs_in_part: BTreeSet<NodeId>,
    /// Some edges are missing.
    cut_short: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        graph: &'a LaunchGraph,
        kernels: &'a [KernelModel],
        dependences: &'a DependenceGraph,
        options: &'a ScheduleOptions,
    ) -> Self {
        let mut edges: HashMap<_, Vec<&Edge>> = HashMap::new();
        for edge in dependences.graph.edge_references() {
            let edge = edge.weight();
            if !edge.carried {
                edges
                    .entry((edge.source, edge.sink))
                    .or_default()
                    .push(edge);
            }
        }
        let mut told_by_launch = HashSet::new();
        let memory = SharedMemory::new(graph, kernels);
        let conditions = graph
            .nodes
            .iter()
            .filter_map(|node| {
                let conditions = memory.conditions(node.id)?.clone();
                let conditions = conditions.map(|mut conditions| {
                    if let NodeKind::Launch(launch) = &node.kind
                        && let Some(model) = launch.kernel.and_then(|kernel| kernels.get(kernel.0))
                    {
                        let guards = barriers_reached(graph, launch, model);
                        if !guards.is_empty() {
                            told_by_launch.insert(node.id);
                        }
                        conditions.extend(guards);
                    }
                    conditions
                });
                Some((node.id, conditions))
            })
            .collect();
        Self {
            graph,
            kernels,
            options,
            order: HostOrder::new(graph),
            memory,
            edges,
            counted: &dependences.by_iteration,
            conditions,
            told_by_launch,
            observers: WaitObservers::new(graph, options),
            readers: Readers::new(graph, kernels),
            among_remapped: HashSet::new(),
            by_tiles: true,
            conditional: false,
            compares_streams: false,
            issued_before: HashMap::new(),
            runs_in_part: BTreeSet::new(),
            cut_short: dependences.cut_short,
        }
    }

    /// Why nothing fuses at all.
    pub(super) fn disabled(&self, location: &Location) -> Rejection {
        let message = match self.cut_short {
            true => "so many launches may depend on each other that they are not looked into",
            false => "fusion is switched off on the command line",
        };
        rejection(RejectionReason::Disabled, message.to_owned(), location)
    }

    /// Who may see what.
    pub(super) fn memory(&self) -> &SharedMemory<'a> {
        &self.memory
    }

    pub(super) fn edges(&self, source: NodeId, sink: NodeId) -> &[&'a Edge] {
        self.edges.get(&(source, sink)).map_or(&[], Vec::as_slice)
    }

    /// The sources of edges into a node that a fused launch could hold, latest first, and whether it could
    /// with all threads where they are.
    pub(super) fn local_sources(
        &self,
        dependences: &DependenceGraph,
        sink: NodeId,
    ) -> Vec<(NodeId, bool)> {
        let index = petgraph::graph::NodeIndex::new(sink.0);
        let mut sources: Vec<(NodeId, bool)> = dependences
            .graph
            .edges_directed(index, petgraph::Direction::Incoming)
            .map(|edge| edge.weight())
            .filter(|edge| !edge.carried && may_be_inside(self.graph, edge))
            .map(|edge| (edge.source, edge.scope != Scope::Global || !orders(edge)))
            .collect();
        sources.extend(
            self.sources_by_iteration(sink)
                .map(|source| (source, false)),
        );
        sources.sort();
        sources.reverse();
        sources.dedup_by_key(|(source, _)| *source);
        sources
    }

    /// Whether whole groups and one more launch after all of them may be one group.
    ///
    /// # Errors
    /// The first obstacle.
    pub(super) fn may_join(
        &mut self,
        groups: &[&[Candidate<'a>]],
        last: Candidate<'a>,
    ) -> Result<(), Rejection> {
        let mut members: Vec<Candidate> = groups.iter().copied().flatten().copied().collect();
        members.push(last);
        members.sort_by_key(|member| member.node);
        self.shapes_are_carried(&members)?;
        self.conditions_hold(&members)?;
        self.work_is_little(&members)?;
        self.all_in_order(&members)?;
        self.streams_allow(&members)?;
        let same_shapes = self.same_shapes(&members);
        let mut remapped = None;
        if let Err(found) = &same_shapes {
            remapped = self.placed_anew(&members);
            if remapped.is_none() {
                return Err(self.nowhere_for(&last, &members, found));
            }
        }
        self.nothing_passed(groups, &members, last)?;
        let kept = same_shapes
            .and_then(|()| self.scopes_allow(groups, &members))
            .and_then(|()| self.guards_may_hold(&members))
            .and_then(|()| self.fits_block(&members));
        if let Err(found) = kept {
            let Some(domains) = remapped.or_else(|| self.placed_anew(&members)) else {
                return Err(self.nowhere_for(&last, &members, &found));
            };
            if let Some(cost) = domains.cost {
                let location = &self.graph.nodes[last.node.0].location;
                return Err(rejection(RejectionReason::Resources, cost, location));
            }
            self.fits_block(&domains.kept(&members))?;
            self.among_remapped
                .extend(members.iter().map(|member| member.node));
        } else if self.rather_moved(&members).is_some() {
            self.among_remapped
                .extend(members.iter().map(|member| member.node));
        }
        let all = vec![(0..members.len()).collect()];
        self.space(&members, &all)
    }

    /// Every member's model holds at its launch, or a test can tell.
    pub(super) fn conditions_hold(&self, members: &[Candidate]) -> Result<(), Rejection> {
        for member in members {
            if let Some(Err(reason)) = self.conditions.get(&member.node) {
                let message = format!("`{}`: {reason}", member.model.display_name);
                let location = &self.graph.nodes[member.node.0].location;
                return Err(rejection(RejectionReason::UnprovenIndex, message, location));
            }
        }
        self.barriers_risk_little(members)
    }

    /// Whether all threads of a block reach the barriers of a member may be for the launch to tell. Several launches that
    /// would run as one in any case are not put at risk for it.
    fn barriers_risk_little(&self, members: &[Candidate]) -> Result<(), Rejection> {
        let told = |member: &&Candidate| self.told_by_launch.contains(&member.node);
        let mut at_risk = members.iter().filter(told);
        let Some(first) = at_risk.next() else {
            return Ok(());
        };
        if members.len() - 1 - at_risk.count() < 2 {
            return Ok(());
        }
        let name = &first.model.display_name;
        let barrier = first.model.waits().find(|barrier| !barrier.uniform);
        let what = barrier.map_or("a barrier", |barrier| waited_at(first.model, barrier));
        let message = format!("`{name}` has {what}, as only the launch tells");
        let location = match barrier {
            Some(barrier) => &barrier.location,
            None => &self.graph.nodes[first.node.0].location,
        };
        Err(rejection(
            RejectionReason::DivergentBarrier,
            message,
            location,
        ))
    }

    /// What a fused launch in the members' own places would test may all hold at once.
    pub(super) fn guards_may_hold(&self, members: &[Candidate]) -> Result<(), Rejection> {
        // Ranges of memory, of which there are most, contradict nothing.
        let may_contradict = |guard: &&Guard| matches!(guard, Guard::Holds { .. });
        let mut guards: BTreeSet<&Guard> = BTreeSet::new();
        for (position, source) in members.iter().enumerate() {
            if let Some(Ok(conditions)) = self.conditions.get(&source.node) {
                guards.extend(conditions.iter().filter(may_contradict));
            }
            for sink in &members[position + 1..] {
                let edges = self.edges(source.node, sink.node).iter();
                for edge in edges.filter(|edge| orders(edge)) {
                    guards.extend(edge.conditions.iter().filter(may_contradict));
                    if !edge.allows_equal_pointers() {
                        guards.extend(edge.absent_if.iter().filter(may_contradict));
                    }
                }
            }
        }
        let (Some(last), true) = (members.last(), guards_contradict(guards)) else {
            return Ok(());
        };
        let message = format!(
            "what one launch of them would have to test before `{}` never holds all together",
            last.model.display_name
        );
        let location = &self.graph.nodes[last.node.0].location;
        Err(rejection(RejectionReason::UnprovenIndex, message, location))
    }

    /// A set or a copy runs in the shape of a launch, which has to be there.
    pub(super) fn shapes_are_carried(&self, members: &[Candidate]) -> Result<(), Rejection> {
        let is_operation =
            |member: &&Candidate| self.graph.operation_of(member.launch.id).is_some();
        for member in members.iter().filter(is_operation) {
            let mut launches = members.iter().filter(|other| !is_operation(other));
            let carried = launches.any(|other| {
                (0..6).all(|axis| self.extent(member, axis) == self.extent(other, axis))
            });
            if !carried {
                let name = &member.model.display_name;
                let message = format!("`{name}` is no part of a launch with another shape");
                let location = &self.graph.nodes[member.node.0].location;
                return Err(rejection(RejectionReason::Shape, message, location));
            }
        }
        Ok(())
    }

    /// Whether a group of both runs as one whenever each of them would: nothing else is tested.
    pub(super) fn joins_at_no_risk(&self, one: &[Candidate<'a>], other: &[Candidate<'a>]) -> bool {
        let (Some(first), Some(second)) = (one.first(), other.first()) else {
            return false;
        };
        let same_shape = (0..6).all(|axis| self.extent(first, axis) == self.extent(second, axis));
        let mut pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
        same_shape
            && pairs.all(|(a, b)| {
                let edges = [self.edges(a.node, b.node), self.edges(b.node, a.node)];
                let mut edges = edges.concat().into_iter();
                edges.all(|edge| edge.absent_if.is_empty() || self.is_absent_anyway(edge))
            })
    }

    /// Whether an edge exists only where one of its ends would not run in a group at all: all that it takes for
    /// it to be absent is tested for the launches themselves.
    pub(super) fn is_absent_anyway(&self, edge: &Edge) -> bool {
        let relied_on = |node: NodeId| match self.conditions.get(&node) {
            Some(Ok(conditions)) => conditions.as_slice(),
            _ => &[],
        };
        let own = [edge.source, edge.sink].map(relied_on).concat();
        !edge.absent_if.is_empty() && edge.absent_if.iter().all(|guard| own.contains(guard))
    }

    /// The plan's form of a finished group. `planned` tells which members were brought together to
    /// run in the same blocks.
    pub(super) fn finish(
        &self,
        members: &[Candidate<'a>],
        planned: impl Fn(&Candidate) -> usize,
    ) -> FusionGroup {
        self.finish_as(members, planned, self.options.layout)
    }

    /// [`Judge::finish`] in a layout that is asked for.
    pub(super) fn finish_as(
        &self,
        members: &[Candidate<'a>],
        planned: impl Fn(&Candidate) -> usize,
        layout: Layout,
    ) -> FusionGroup {
        if members.len() > 2
            && let Some(last) = members.last()
            && self.runs_in_part.contains(&last.node)
        {
            return self.finish_in_part(members);
        }
        let Placed {
            domains,
            partitions,
            layout,
            layouts,
        } = self.place(members, &planned, layout);
        let mut partition_of = vec![0; members.len()];
        for (number, partition) in partitions.iter().enumerate() {
            partition
                .iter()
                .for_each(|member| partition_of[*member] = number);
        }
        let mut guards: BTreeSet<Guard> =
            self.grid_guard(members, &partitions).into_iter().collect();
        guards.extend(self.single_guards(members, &partitions));
        if self.options.layout != Layout::Horizontal {
            guards.extend(self.worth_guard(members, &partitions));
        }
        // What was planned to be one block partition has blocks of one shape, which block partitions side by side may then
        // keep.
        let kept = domains.kept(members);
        for partition in by_partition(&kept, &planned) {
            for pair in partition.windows(2) {
                for index in 3..6 {
                    let [a, b] = [pair[0], pair[1]].map(|at| self.extent(&kept[at], index));
                    guards.insert(Guard::Holds {
                        class: String::from("shape"),
                        condition: Condition::Equal(a, b),
                    });
                }
            }
        }
        for (position, source) in members.iter().enumerate() {
            guards.insert(Guard::ConfigurationValid {
                launch: source.launch.id,
            });
            if let Some(Ok(conditions)) = self.conditions.get(&source.node) {
                guards.extend(conditions.iter().cloned());
            }
            guards.extend(self.work(source));
            for (later, sink) in members.iter().enumerate().skip(position + 1) {
                if domains.is_block_wide(source, sink).is_some() {
                    continue;
                }
                let edges = self.edges(source.node, sink.node);
                for edge in edges.iter().filter(|edge| orders(edge)) {
                    // Side by side there is no dependence, and nothing that its scope relies on.
                    let in_turn = partition_of[position] == partition_of[later];
                    if in_turn {
                        guards.extend(edge.conditions.iter().cloned());
                    }
                    if !(in_turn && edge.allows_equal_pointers()) {
                        guards.extend(edge.absent_if.iter().cloned());
                    }
                }
            }
        }
        guards.extend(domains.guards.iter().cloned());
        guards.extend(self.stream_guards(members));
        guards.extend(self.questions(members));
        // All members are on one stream.
        let seen = |member: &&Candidate| self.graph.is_seen_in_capture(member.node, member.launch);
        if let Some(seen) = members.iter().find(seen) {
            let launch = seen.launch.id;
            guards.insert(Guard::NotCapturing { launch });
        }
        guards.retain(Guard::may_fail);
        let guards: BTreeSet<Guard> = guards
            .into_iter()
            .map(|guard| told_by_first(members, guard))
            .collect();
        let (segments, barriers) = self.order_of_partitions(members, &partitions, &domains);
        let planned = members
            .iter()
            .zip(self.ranges(members, &partitions))
            .zip(barriers)
            .map(|((member, map), barrier_before)| Member {
                launch: member.launch.id,
                map: match (map, domains.map(member)) {
                    (Some(map), _) | (None, Some(map)) => map,
                    (None, None) if self.fills_grid(member, &kept, &guards) => ThreadMap::Identity,
                    (None, None) => ThreadMap::Clipped,
                },
                barrier_before,
            })
            .collect();
        let guards: Vec<Guard> = guards.into_iter().collect();
        let unread_afterwards = self.readers.unread_after(self.graph, members, &guards);
        FusionGroup {
            members: planned,
            layout,
            layouts,
            guards,
            unread_afterwards,
            segments,
            awaited_copies: self.awaited_copies(members),
            issued_before: self.issued_before(members).into_iter().collect(),
            partial_guards: Vec::new(),
            variant: Variant::default(),
            grid_barriers: Vec::new(),
            overlap: None,
            last_block: None,
            front_guards: None,
            early_guards: None,
            recomputation: None,
            fallback: Vec::new(),
            tested_loop: None,
        }
    }

    /// What the program asks before it keeps members for the last one's place.
    pub(super) fn questions(&self, members: &[Candidate<'a>]) -> BTreeSet<Guard> {
        let Some((last, moved)) = members.split_last() else {
            return BTreeSet::new();
        };
        let issued_before = self.issued_before(members);
        let of_member = |moved: &Candidate<'a>| {
            let order = &self.order;
            let passed = order.between_without(moved.node, last.node, &issued_before);
            let passed = passed.into_iter().flatten();
            asked_memory::questions(self.graph, &self.memory, moved, passed)
        };
        moved.iter().flat_map(of_member).collect()
    }

    /// Copies to the host that count as waits for members that have moved below others.
    pub(super) fn awaited_copies(&self, members: &[Candidate<'a>]) -> Vec<NodeId> {
        let Some((last, moved)) = members.split_last() else {
            return Vec::new();
        };
        let mut awaited = BTreeSet::new();
        let issued_before = self.issued_before(members);
        for moved in moved {
            let between = self
                .order
                .between_without(moved.node, last.node, &issued_before);
            let waits = |node: &NodeId| waiting::orders(self.graph, moved, *node);
            if between.iter().flatten().any(waits) {
                let place = (last.node, &issued_before);
                let found = self.observers.find(&self.order, &self.memory, moved, place);
                awaited.extend(found.into_iter().flatten());
            }
        }
        awaited.into_iter().collect()
    }

    /// Whether a member has all blocks of the fused grid, the largest of all members.
    pub(super) fn fills_grid(
        &self,
        member: &Candidate,
        members: &[Candidate],
        guards: &BTreeSet<Guard>,
    ) -> bool {
        let tested = |a: &Expression<ValueId>, b: &Expression<ValueId>| {
            guards.iter().any(|guard| match guard {
                Guard::Holds {
                    condition: Condition::Equal(left, right),
                    ..
                } => [(a, b), (b, a)].contains(&(left, right)),
                _ => false,
            })
        };
        members.iter().all(|other| {
            (0..3).all(|axis| {
                let (own, theirs) = (self.extent(member, axis), self.extent(other, axis));
                let constants = own.as_constant().zip(theirs.as_constant());
                own == theirs
                    || constants.is_some_and(|(own, theirs)| own >= theirs)
                    // No grid is empty.
                    || theirs.as_constant() == Some(1)
                    || tested(&own, &theirs)
            })
        })
    }

    /// Blocks not known to differ, and threads told apart by both or by none.
    pub(super) fn same_shape(
        &self,
        first: &Candidate,
        second: &Candidate,
    ) -> Result<(), Rejection> {
        let location = &self.graph.nodes[second.node.0].location;
        let names = (&first.model.display_name, &second.model.display_name);
        for (index, extent) in BLOCK_EXTENTS.iter().enumerate() {
            let (a, b) = (
                self.extent(first, 3 + index),
                self.extent(second, 3 + index),
            );
            if let (Some(left), Some(right)) = (a.as_constant(), b.as_constant())
                && left != right
            {
                let message = format!(
                    "`{}` and `{}` are launched with {extent} {left} and {right}",
                    names.0, names.1
                );
                return Err(rejection(RejectionReason::Shape, message, location));
            }
        }
        self.threads_in_step(first, second)
    }

    /// Threads that run in step in one of two members do so in the other, too.
    pub(super) fn threads_in_step(
        &self,
        first: &Candidate,
        second: &Candidate,
    ) -> Result<(), Rejection> {
        let location = &self.graph.nodes[second.node.0].location;
        let names = (&first.model.display_name, &second.model.display_name);
        for (axis, name) in ["x", "y", "z"].iter().enumerate() {
            let tells = |member: &Candidate| member.model.distinguishes_threads[axis];
            let single = self.extent(second, 3 + axis).as_constant() == Some(1);
            if tells(first) != tells(second) && !single {
                let (same, apart) = match tells(first) {
                    true => (names.1, names.0),
                    false => (names.0, names.1),
                };
                let message = format!(
                    "`{same}` never reads threadIdx.{name}, so that its threads along it run in \
                     step, and `{apart}` tells them apart"
                );
                return Err(rejection(RejectionReason::Shape, message, location));
            }
        }
        Ok(())
    }

    /// No member moves below an operation that keeps it where it is.
    pub(super) fn nothing_passed(
        &mut self,
        groups: &[&[Candidate<'a>]],
        members: &[Candidate<'a>],
        last: Candidate<'a>,
    ) -> Result<(), Rejection> {
        if self.conditional {
            return self.nothing_passed_on_any_way(members, last);
        }
        for group in groups {
            let Some(place) = group.last() else { continue };
            // What stands before the group's present place was judged when it came there.
            let Some(between) = self.order.between(place.node, last.node) else {
                let message = format!(
                    "`{}` and `{}` do not always run one after the other",
                    place.model.display_name, last.model.display_name
                );
                let location = &self.graph.nodes[last.node.0].location;
                return Err(rejection(RejectionReason::Shape, message, location));
            };
            for moved in *group {
                let waits = |node: &NodeId| waiting::orders(self.graph, moved, *node);
                if between.iter().any(waits) {
                    let place = (last.node, &BTreeSet::new());
                    self.observers
                        .find(&self.order, &self.memory, moved, place)?;
                }
            }
            for node in between {
                if members.iter().any(|member| member.node == node) {
                    continue;
                }
                for moved in *group {
                    let (graph, kernels) = (self.graph, self.kernels);
                    let found = obstacle(graph, kernels, &self.memory, self.options, moved, node);
                    if let Some(found) = found {
                        return Err(found);
                    }
                }
            }
        }
        self.one_prints_at_most(members)
    }

    /// What two members print would have to stay in order.
    pub(super) fn one_prints_at_most(&self, members: &[Candidate]) -> Result<(), Rejection> {
        let mut printing = members.iter().filter(|member| member.model.prints);
        if let (Some(one), Some(two)) = (printing.next(), printing.next()) {
            let message = format!(
                "`{}` and `{}` both print, and their output must stay in order",
                one.model.display_name, two.model.display_name
            );
            let location = &self.graph.nodes[two.node.0].location;
            return Err(rejection(RejectionReason::HostAccess, message, location));
        }
        Ok(())
    }

    pub(super) fn scope_allows(
        &self,
        source: &Candidate,
        sink: &Candidate,
    ) -> Result<(), Rejection> {
        let grids = [self.extent(source, 0), self.extent(sink, 0)];
        let single = match &grids {
            [Expression::Constant(1), other] | [other, Expression::Constant(1)] => {
                other.as_constant().is_none()
            }
            _ => false,
        };
        for edge in self.edges(source.node, sink.node) {
            // A single block beside a number that is computed: a test could find them equal in a
            // small run, but the fusion would take the place of one that always helps.
            let needs_equal = edge.conditions.iter().any(|guard| match guard {
                Guard::Holds {
                    condition: Condition::Equal(a, b),
                    ..
                } => grids == [a.clone(), b.clone()] || grids == [b.clone(), a.clone()],
                _ => false,
            });
            if single && needs_equal && orders(edge) {
                let why = match edge.explanation() {
                    none if none.is_empty() => {
                        String::from("the second needs what the first leaves")
                    }
                    why => why,
                };
                let message = format!(
                    "`{}` and `{}` are launched with one block and a computed number, and {why}",
                    source.model.display_name, sink.model.display_name
                );
                return Err(rejection(RejectionReason::Shape, message, &edge.location));
            }
            if edge.scope == Scope::Global && edge.absent_if.is_empty() && orders(edge) {
                return Err(Rejection {
                    reason: edge.reason.unwrap_or(RejectionReason::GlobalDependence),
                    message: edge.explanation(),
                    detail: edge.relation.to_string(),
                    location: edge.location.clone(),
                });
            }
        }
        Ok(())
    }

    /// What the model of a launch relies on; nothing where that cannot be made right.
    pub(super) fn conditions_of(&self, node: NodeId) -> &[Guard] {
        match self.conditions.get(&node) {
            Some(Ok(conditions)) => conditions,
            _ => &[],
        }
    }

    /// The common block is within every member's launch bound.
    pub(super) fn fits_block(&self, members: &[Candidate]) -> Result<(), Rejection> {
        let constant = |value: ValueId| self.graph.values[value.0].constant;
        let threads: Option<i64> = members
            .first()
            .and_then(|member| member.launch.block.iter().map(|v| constant(*v)).product());
        let limit = members
            .iter()
            .filter_map(|member| member.model.max_threads)
            .min();
        if let (Some(threads), Some(limit)) = (threads, limit)
            && threads > i64::from(limit)
        {
            let too_much = format!("{threads} threads a block; a launch bound allows {limit}");
            return Err(self.too_large(members, &too_much));
        }
        Ok(())
    }

    pub(super) fn too_large(&self, members: &[Candidate], too_much: &str) -> Rejection {
        let last = members.last().map_or(0, |member| member.node.0);
        rejection(
            RejectionReason::Resources,
            format!("fused, they would need {too_much}"),
            &self.graph.nodes[last].location,
        )
    }

    /// Grid x, y, z, block x, y, z as a guard writes them.
    pub(super) fn extent(&self, member: &Candidate, index: usize) -> Expression<ValueId> {
        let launch = member.launch;
        let value = if index < 3 {
            launch.grid[index]
        } else {
            launch.block[index - 3]
        };
        self.graph.extent(value)
    }
}

/// Whether the order of what an edge holds matters.
pub(super) fn orders(edge: &Edge) -> bool {
    edge.kind != DependenceKind::Reduction
}

/// Whether one launch can hold both ends of an edge and keep what it orders, under some map.
pub(super) fn may_be_inside(graph: &LaunchGraph, edge: &Edge) -> bool {
    let mapped = edge.has_map() && edge.absent_if.is_empty();
    // What is there only where pointers happen to be equal is no reason, unless nothing is known of them at all.
    let narrow = edge.scope != Scope::Global
        && (!edge.allows_equal_pointers() || leads_anywhere(graph, edge));
    narrow || mapped || !orders(edge)
}

/// Whether an edge is of pointers that come from where the compiler does not look, or that hand something on out of a container.
fn leads_anywhere(graph: &LaunchGraph, edge: &Edge) -> bool {
    let is_unknown = |range| {
        let pointer = pointer_of(graph, edge, range);
        pointer.is_some_and(|pointer| pointer.may_point_to.is_none())
    };

    // What a container holds, which may be any of its allocations.
    let is_loaded = |range| {
        let pointer = pointer_of(graph, edge, range);
        pointer.is_some_and(|pointer| pointer.root.buffer().is_none())
    };
    let hands_on = edge.kind == DependenceKind::Flow;
    // It was put there since it may go on with what the one before it made.
    let goes_on = hands_on && graph.continues_a_loop(edge.sink);
    edge.conditions.iter().any(|guard| match guard {
        Guard::SameOrDisjoint { left, right } => {
            goes_on
                || is_unknown(left) && is_unknown(right)
                || hands_on && is_loaded(left) && is_loaded(right)
        }
        _ => false,
    })
}

/// The pointer of an end of an edge that a range begins at.
pub(super) fn pointer_of<'a>(
    graph: &'a LaunchGraph,
    edge: &Edge,
    range: &PointerRange,
) -> Option<&'a Pointer> {
    let mut nodes = [edge.source, edge.sink].into_iter();
    let launch = nodes.find_map(|node| match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) if launch.id == range.launch => Some(launch),
        _ => None,
    })?;
    match range.operand {
        Operand::Argument {
            argument,
            offset_bytes,
            ..
        } => launch.pointer(argument, offset_bytes),
        _ => None,
    }
}

/// The launches of a graph, in host order.
pub(super) fn launches(graph: &LaunchGraph) -> impl Iterator<Item = NodeId> + '_ {
    graph
        .nodes
        .iter()
        .filter(|node| matches!(node.kind, NodeKind::Launch(_)))
        .map(|node| node.id)
}

const BLOCK_EXTENTS: [&str; 3] = ["blockDim.x", "blockDim.y", "blockDim.z"];
