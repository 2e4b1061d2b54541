//! Launches of a host loop that follow each other in one kernel.
//!
//! Each thread of that kernel runs its own thread of one launch after the other, and the queue sees to it that two of them
//! agree in all but the varying arguments, and in pointers that change places. So any two, the earlier and the later, are
//! as members of one group that come one after the other: such a group is judged here, with copies of each member of which
//! the varying arguments have values of which nothing is known but that they are of some iteration. Since the two are any
//! two, no more of them have to be looked at; where pointers change places, two for each place that they have.
//!
//! Of a cooperative group all blocks wait between two launches, and then the copies are phases of one (`grid_barriers`).
//!
//! What a copy shares with its original beyond that of a group, static shared memory and the storage of asynchronous
//! copies, needs a barrier in between or is refused.

use super::super::conflict::Answers;
use super::super::{Refusal, Site, Sites, device, grid_barriers};
use crate::dependence::{Guard, PointerRange};
use crate::kernel::{KernelModel, Target};
use crate::launch::{
    Argument, BEHIND_POINTER, HostBlockId, HostValue, Launch, LaunchGraph, LaunchId, Node, NodeId,
    NodeKind, Place, Pointer, Root, ValueId,
};
use crate::math::expression::{Condition, Expression};
use crate::schedule::{BatchedRegion, FusionGroup, FusionPlan, PersistentLoop};
use std::collections::BTreeMap;

/// What speaks against the persistent loops of a plan.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    sites: &Sites<'_>,
    plan: &FusionPlan,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for region in &plan.batched_regions {
        let persistent = region
            .statements
            .iter()
            .find(|each| each.persistent.is_some());
        if let Some(statement) = persistent {
            refusals.extend(refusal(
                graph,
                kernels,
                sites,
                (plan, region),
                statement.launch,
            ));
        }
    }
    refusals
}

fn refusal(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    sites: &Sites<'_>,
    (plan, region): (&FusionPlan, &BatchedRegion),
    launch: LaunchId,
) -> Vec<Refusal> {
    let refuse = |what: &str| {
        let what = what.to_owned();
        vec![Refusal::NotPersistent { launch, what }]
    };
    let [statement] = region.statements.as_slice() else {
        return refuse("it is not the only statement of its region");
    };
    let Some(persistent) = &statement.persistent else {
        return Vec::new();
    };
    if !statement.replaced.is_empty() || statement.must_replace {
        return refuse("what it replaces gets other memory");
    }
    let mut groups = plan.groups.iter();
    let Some(group) = groups.find(|group| {
        let last = group.members.last();
        last.is_some_and(|last| last.launch == launch)
    }) else {
        return refuse("it is no group");
    };
    if group.is_partial() {
        return refuse("its group may run with some of its launches");
    }
    if !group
        .members
        .iter()
        .all(|member| member.map.keeps_indices())
    {
        return refuse("threads of a member are not where they are in its launch");
    }
    let mut members = Vec::new();
    for member in &group.members {
        let Some([(node, own)]) = sites.get(&member.launch).map(Vec::as_slice) else {
            return refuse("a member is unknown");
        };
        let model = own.kernel.and_then(|kernel| kernels.get(kernel.0));
        let Some(model) = model else {
            return refuse("the kernel of a member is unknown");
        };
        members.push(Site {
            node: *node,
            launch: own,
            model,
            by_iteration: None,
        });
    }
    for member in &members {
        if let Some(what) = kept_state(graph, member, persistent) {
            return refuse(what);
        }
    }
    if let Some(what) = varying_pointer(&members, persistent) {
        return refuse(what);
    }
    if let Some(what) = grid_barrier(group, &members, persistent) {
        return refuse(what);
    }
    let group = &FusionGroup {
        guards: group
            .guards
            .iter()
            .chain(&statement.guards)
            .cloned()
            .collect(),
        ..group.clone()
    };
    match in_sequence(graph, kernels, group, &members, persistent) {
        Ok(refusals) => refusals,
        Err(what) => refuse(what),
    }
}

/// What speaks against launches of a group that follow each other as a plan says.
///
/// # Errors
/// When it is not known what they take.
pub(in crate::verify) fn in_sequence(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    group: &FusionGroup,
    members: &[Site<'_>],
    persistent: &PersistentLoop,
) -> Result<Vec<Refusal>, &'static str> {
    let mut refusals: Vec<Refusal> = Vec::new();
    for sequence in sequences(graph, group, members, persistent)? {
        for refusal in sequence.refusals(kernels) {
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
        }
    }
    Ok(refusals)
}

/// Launches of a group that follow each other, whichever of them is the first: each pair that there is, as one group.
///
/// # Errors
/// When it is not known what they take.
pub(in crate::verify) fn sequences(
    graph: &LaunchGraph,
    group: &FusionGroup,
    members: &[Site<'_>],
    persistent: &PersistentLoop,
) -> Result<Vec<Sequence>, &'static str> {
    let Some(period) = persistent.period() else {
        return Err("its pointers do not come back to where they were");
    };
    let around = graph.loops_around(graph.nodes[members[0].node.0].block);
    let turns = turns(graph, members, persistent, (period, around.last().copied()))?;
    let firsts = 0..period;
    let sequences = firsts.map(|first| {
        let turns = (&turns, first);
        Sequence::of(graph, group, members, persistent, turns)
    });
    Ok(sequences.collect())
}

/// Where the pointers that change places lead, launch by launch.
type Turns<'a> = BTreeMap<(LaunchId, usize), &'a [Place]>;

/// Looks up the pointers that change places: they do so in step, once in each iteration of one loop.
fn turns<'a>(
    graph: &'a LaunchGraph,
    members: &[Site<'_>],
    persistent: &PersistentLoop,
    (period, innermost): (usize, Option<usize>),
) -> Result<Turns<'a>, &'static str> {
    let mut turns = Turns::new();
    for [own, source] in &persistent.turning {
        if !persistent.turning.iter().any(|[other, _]| other == source) {
            return Err("a pointer takes the place of one that keeps its own");
        }
        let mut all = members.iter();
        let member = all.find(|member| member.launch.id == own.0);
        let argument = member.and_then(|member| member.launch.arguments.get(own.1));
        let Some([piece]) = argument.map(|argument| argument.pieces.as_slice()) else {
            return Err("what changes places is no pointer");
        };
        let course = graph.iterations.courses.get(&piece.value);
        let known = course.filter(|course| {
            let is_one = |place: &Place| match place.root {
                Root::Buffer(buffer) => graph.buffers[buffer.0].unique,
                Root::Value(_) => false,
            };
            piece.offset_bytes == 0
                && course.turns_in.is_some()
                && course.turns_in == innermost
                && course.places.len() == period
                && course.places.iter().all(is_one)
        });
        let Some(course) = known else {
            return Err("it is not known where a pointer leads that changes places");
        };
        if persistent.varying.contains(own) || turns.insert(*own, &course.places).is_some() {
            return Err("a pointer changes places twice");
        }
    }
    Ok(turns)
}

/// What a launch leaves behind that the next one would find, and must not.
fn kept_state(
    graph: &LaunchGraph,
    member: &Site<'_>,
    persistent: &PersistentLoop,
) -> Option<&'static str> {
    let pieces = || member.launch.arguments.iter().flat_map(|each| &each.pieces);
    if graph.operation_of(member.launch.id).is_some() {
        return Some("a set or a copy is part of it");
    }
    if member.model.prints {
        return Some("it prints");
    }
    if member.model.asynchronous_copies {
        return Some("its asynchronous copies are waited for by the end of a launch");
    }
    if pieces().any(|piece| piece.offset_bytes >= BEHIND_POINTER) {
        return Some("pointers in memory may differ from launch to launch");
    }
    if member.model.static_shared_bytes > 0 && !persistent.barrier {
        return Some("a launch uses the shared memory of the one before without a barrier");
    }
    None
}

/// The queue compares pointers; only numbers may vary.
fn varying_pointer(members: &[Site<'_>], persistent: &PersistentLoop) -> Option<&'static str> {
    for (launch, varying) in &persistent.varying {
        let mut own = members.iter();
        let Some(member) = own.find(|member| member.launch.id == *launch) else {
            return Some("an argument of a launch that is not a member varies");
        };
        let Some(argument) = member.launch.arguments.get(*varying) else {
            return Some("an argument varies that does not exist");
        };
        let leads = |target: &Target| matches!(target, Target::Argument { argument, .. } if argument == varying);
        let mut accesses = member.model.accesses.iter();
        if argument.pieces.iter().any(|piece| piece.pointer.is_some())
            || accesses.any(|access| leads(&access.target))
        {
            return Some("a pointer varies");
        }
    }
    None
}

/// The blocks of a cooperative group wait for all others between two launches, which have equal grids: the queue compares
/// arguments that do not vary, of which the kernel has those of the grids, and the grid of the launch itself is another.
fn grid_barrier(
    group: &FusionGroup,
    members: &[Site<'_>],
    persistent: &PersistentLoop,
) -> Option<&'static str> {
    if group.is_cooperative() != persistent.grid_barrier {
        return Some(
            "launches of a cooperative group need a barrier of the grid in between, and no others",
        );
    }
    let argument_of = |(launch, index): &(LaunchId, usize)| {
        let mut members = members.iter();
        let member = members.find(|member| member.launch.id == *launch);
        member.and_then(|member| member.launch.arguments.get(*index))
    };
    let varying = persistent.varying.iter().filter_map(argument_of);
    let varying: Vec<ValueId> = varying.flat_map(values_of).collect();
    let mut grids = members.iter().flat_map(|member| member.launch.grid);
    (persistent.grid_barrier && grids.any(|extent| varying.contains(&extent)))
        .then_some("the extent of a grid varies")
}

/// Launches of a group, one after the other, as one group.
pub(in crate::verify) struct Sequence {
    graph: LaunchGraph,
    group: FusionGroup,
    launches: Vec<(NodeId, Launch)>,
}

impl Sequence {
    /// As many launches as there are pairs of: each place in the order of turns twice. `first` is the place of the
    /// first one.
    fn of(
        graph: &LaunchGraph,
        group: &FusionGroup,
        members: &[Site<'_>],
        persistent: &PersistentLoop,
        (turns, first): (&Turns<'_>, usize),
    ) -> Self {
        let mut sequence = Self {
            graph: graph.clone(),
            group: FusionGroup {
                members: Vec::new(),
                segments: Vec::new(),
                guards: Vec::new(),
                grid_barriers: Vec::new(),
                ..group.clone()
            },
            launches: Vec::new(),
        };
        let period = turns.values().next().map_or(1, |places| places.len());
        for number in 0..2 * period {
            sequence.add(group, members, persistent, (turns, first, number));
        }
        sequence
    }

    /// One more launch of the group.
    fn add(
        &mut self,
        group: &FusionGroup,
        members: &[Site<'_>],
        persistent: &PersistentLoop,
        (turns, first, number): (&Turns<'_>, usize, usize),
    ) {
        let graph = &mut self.graph;
        let ids = graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some(launch.id.0),
            _ => None,
        });
        let next = ids.max().map_or(0, |last| last + 1);
        let copies: BTreeMap<LaunchId, LaunchId> = members
            .iter()
            .zip(next..)
            .map(|(member, id)| (member.launch.id, LaunchId(id)))
            .collect();
        // Values that a varying argument mentions are others in each launch; those of other arguments are the same, since
        // these have the same bytes.
        let mut others: BTreeMap<ValueId, ValueId> = BTreeMap::new();
        let argument_of = |(launch, index): (LaunchId, usize)| {
            let mut members = members.iter();
            let member = members.find(|member| member.launch.id == launch);
            member.and_then(|member| member.launch.arguments.get(index))
        };
        let mut launches = Vec::new();
        let mut known = Vec::new();
        for member in members {
            let mut launch = member.launch.clone();
            launch.id = copies[&launch.id];
            let mut own_copies = BTreeMap::new();
            for (index, argument) in launch.arguments.iter_mut().enumerate() {
                let own = (member.launch.id, index);
                if persistent.varying.contains(&own) {
                    for value in values_of(argument) {
                        let fresh = ValueId(graph.values.len());
                        let copy = *others.entry(value).or_insert(fresh);
                        if copy == fresh {
                            graph.values.push(HostValue {
                                constant: None,
                                ..graph.values[value.0].clone()
                            });
                        }
                        own_copies.insert(value, copy);
                    }
                    *argument = renamed(argument, &others);
                } else if let Some(places) = turns.get(&own) {
                    let source = persistent.source(own, number % places.len());
                    if let Some(found) = argument_of(source) {
                        for (value, now) in values_of(argument).into_iter().zip(values_of(found)) {
                            others.insert(value, now);
                        }
                        *argument = found.clone();
                    }
                    let place = &places[(first + number) % places.len()];
                    for piece in &mut argument.pieces {
                        piece.pointer = Some(Pointer {
                            root: place.root.clone(),
                            offset_bytes: Some(place.offset_bytes.clone()),
                            may_point_to: place.root.buffer().map(|buffer| vec![buffer]),
                            device_only: piece.pointer.as_ref().is_some_and(|led| led.device_only),
                        });
                    }
                }
            }
            let node = NodeId(graph.nodes.len());
            graph.nodes.push(Node {
                id: node,
                kind: NodeKind::Launch(launch.clone()),
                ..graph.nodes[member.node.0].clone()
            });
            let block = graph.nodes[member.node.0].block;
            known.extend(in_some_iteration(graph, block, &own_copies));
            launches.push((node, launch));
        }
        self.launches.extend(launches);
        let rename = Rename {
            launches: &copies,
            values: &others,
        };
        let guards = group.guards.iter().map(|guard| rename.guard(guard));
        for guard in guards.chain(known) {
            if !self.group.guards.contains(&guard) {
                self.group.guards.push(guard);
            }
        }
        let before = self.group.members.len();
        if persistent.grid_barrier {
            self.group
                .grid_barriers
                .extend((number > 0).then_some(before));
        }
        let barriers = group.grid_barriers.iter().map(|member| before + member);
        self.group.grid_barriers.extend(barriers);
        let segments = group.segments_in_order();
        for (position, member) in group.members.iter().enumerate() {
            let mut copy = member.clone();
            copy.launch = copies[&member.launch];
            if segments
                .first()
                .is_some_and(|first| first.contains(&position))
            {
                let waits = persistent.barrier && !persistent.grid_barrier;
                copy.barrier_before = number > 0 && waits;
            }
            self.group.members.push(copy);
        }
        let segments = segments.into_iter().map(|segment| {
            let members = segment.into_iter();
            members.map(|member| before + member).collect()
        });
        // Phases have host order, which is what no segments mean.
        if !group.is_cooperative() {
            self.group.segments.extend(segments);
        }
    }

    /// The graph that has all launches, and their group.
    pub(in crate::verify) fn group(&self) -> (&LaunchGraph, &FusionGroup) {
        (&self.graph, &self.group)
    }

    /// The members of the group, launch by launch.
    pub(in crate::verify) fn sites<'a>(&'a self, kernels: &'a [KernelModel]) -> Vec<Site<'a>> {
        let sites = self.launches.iter().filter_map(|(node, launch)| {
            Some(Site {
                node: *node,
                launch,
                model: kernels.get(launch.kernel?.0)?,
                by_iteration: None,
            })
        });
        sites.collect()
    }

    fn refusals(&self, kernels: &[KernelModel]) -> Vec<Refusal> {
        let sites = self.sites(kernels);
        let (moved, mut known) = (Default::default(), Answers::default());
        if self.group.is_cooperative() {
            let plan = FusionPlan::default();
            let group = (&self.group, sites.as_slice());
            return grid_barriers::refusals(&self.graph, &plan, group, &mut known);
        }
        device::refusals(&self.graph, &self.group, &sites, &moved, &mut known)
    }
}

/// What is known of copies of values, by value, that stand for one launch from a block: it is made in some iteration of the
/// loops around it, whose counters begin at 0 and stay below their bounds.
fn in_some_iteration(
    graph: &mut LaunchGraph,
    block: HostBlockId,
    copies: &BTreeMap<ValueId, ValueId>,
) -> Vec<Guard> {
    let around = graph.loops_around(block);
    let mut counters = BTreeMap::new();
    for index in &around {
        let Some(counter) = graph.iterations.counters.get(*index).copied() else {
            return Vec::new();
        };
        counters.insert(counter, ValueId(graph.values.len()));
        graph.values.push(graph.values[counter.0].clone());
    }
    let graph = &*graph;
    let in_iteration = |expression: &Expression<ValueId>| {
        expression.substitute(&mut |value| {
            let known = graph.values.get(value.0)?;
            match (counters.get(value), known.constant) {
                (Some(counter), _) => Some(Expression::Leaf(*counter)),
                (None, Some(constant)) => Some(Expression::Constant(constant)),
                // What is computed once is the same for all launches that wait together.
                (None, None) => known
                    .varies_in
                    .is_none()
                    .then_some(Expression::Leaf(*value)),
            }
        })
    };
    let mut conditions = Vec::new();
    for index in around {
        let counter = Expression::Leaf(counters[&graph.iterations.counters[index]]);
        let bound = graph.counter_bound(index, block);
        if let Some(bound) = bound.and_then(|bound| in_iteration(&bound)) {
            let last = bound.subtract(Expression::Constant(1));
            conditions.push(Condition::LessEqual(counter.clone(), last));
        }
        conditions.push(Condition::LessEqual(Expression::Constant(0), counter));
    }
    for (value, copy) in copies {
        let closed = graph.iterations.values.get(value);
        if let Some(closed) = closed.and_then(in_iteration) {
            conditions.push(Condition::Equal(Expression::Leaf(*copy), closed));
        }
    }
    let holds = |condition| Guard::Holds {
        class: "iteration".into(),
        condition,
    };
    conditions.into_iter().map(holds).collect()
}

/// All values that an argument mentions.
fn values_of(argument: &Argument) -> Vec<ValueId> {
    let mut values: Vec<ValueId> = argument.identity.into_iter().collect();
    values.extend(argument.pieces.iter().map(|piece| piece.value));
    values
}

fn renamed(argument: &Argument, others: &BTreeMap<ValueId, ValueId>) -> Argument {
    let other = |value: ValueId| others.get(&value).copied().unwrap_or(value);
    let mut argument = argument.clone();
    argument.identity = argument.identity.map(other);
    for piece in &mut argument.pieces {
        piece.value = other(piece.value);
    }
    argument
}

/// What a guard says of the copies.
struct Rename<'a> {
    launches: &'a BTreeMap<LaunchId, LaunchId>,
    values: &'a BTreeMap<ValueId, ValueId>,
}

impl Rename<'_> {
    fn guard(&self, guard: &Guard) -> Guard {
        match guard {
            Guard::Holds { class, condition } => Guard::Holds {
                class: class.clone(),
                condition: self.condition(condition),
            },
            Guard::RangesDisjoint { left, right } => Guard::RangesDisjoint {
                left: self.range(left),
                right: self.range(right),
            },
            Guard::SameOrDisjoint { left, right } => Guard::SameOrDisjoint {
                left: self.range(left),
                right: self.range(right),
            },
            Guard::ConfigurationValid { launch } => Guard::ConfigurationValid {
                launch: self.launch(*launch),
            },
            Guard::DeviceMemory { launch, operand } => Guard::DeviceMemory {
                launch: self.launch(*launch),
                operand: *operand,
            },
            Guard::NotCapturing { launch } => Guard::NotCapturing {
                launch: self.launch(*launch),
            },
            Guard::Resident { rounds } => Guard::Resident { rounds: *rounds },
            Guard::SameStream { first, second } => Guard::SameStream {
                first: self.launch(*first),
                second: self.launch(*second),
            },
        }
    }

    fn launch(&self, launch: LaunchId) -> LaunchId {
        self.launches.get(&launch).copied().unwrap_or(launch)
    }

    fn expression(&self, expression: &Expression<ValueId>) -> Expression<ValueId> {
        let other = |value: &ValueId| self.values.get(value).copied().unwrap_or(*value);
        let renamed = expression.substitute(&mut |value| Some(Expression::Leaf(other(value))));
        renamed.unwrap_or_else(|| expression.clone())
    }

    fn condition(&self, condition: &Condition<ValueId>) -> Condition<ValueId> {
        let all =
            |parts: &[Condition<ValueId>]| parts.iter().map(|part| self.condition(part)).collect();
        match condition {
            Condition::Equal(left, right) => {
                Condition::Equal(self.expression(left), self.expression(right))
            }
            Condition::LessEqual(left, right) => {
                Condition::LessEqual(self.expression(left), self.expression(right))
            }
            Condition::All(parts) => Condition::All(all(parts)),
            Condition::Any(parts) => Condition::Any(all(parts)),
        }
    }

    fn range(&self, range: &PointerRange) -> PointerRange {
        PointerRange {
            launch: self.launch(range.launch),
            operand: range.operand,
            low_bytes: self.expression(&range.low_bytes),
            high_bytes: self.expression(&range.high_bytes),
        }
    }
}
