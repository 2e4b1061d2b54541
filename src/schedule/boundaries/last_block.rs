//! Launches of one block that the last block of the launch before them runs. Where only a run knows that it is one block, a
//! guard asks.
//!
//! Such a launch needs what all blocks of the one before made: a sum of partial sums, a norm, the offsets of a scan. It
//! stays apart by rule P2 of the paper. Here every block of the launch before says that it has done all of its work, and
//! the one that finds itself the last goes on with the work of the one block. No block waits, so that it does not matter
//! how many of them are on the device at once.
//!
//! Invariant: a launch that moves down to the one block's place moves past nothing that a group could not move past. What is
//! planned before, groups and launches that wait for batches, is only put together, never taken apart.

use super::super::dead_buffers::find_dead_buffers;
use super::super::group::{Judge, orders};
use super::super::obstacle::{Candidate, candidate, refuse_node, rejection};
use super::super::{FusionGroup, FusionPlan, Member, Missed, ScheduleOptions, ThreadMap, Variant};
use crate::dependence::{DependenceGraph, Guard};
use crate::diagnostics::{Location, Rejection, RejectionReason};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind, ValueId};
use crate::math::expression::{Condition, Expression};
use std::collections::{BTreeMap, BTreeSet};

/// Lets last blocks run launches of one block. Pairs that are in one launch then leave `missed`; of others it says why
/// no last block does.
pub fn plan_last_blocks(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
    (plan, missed): (&mut FusionPlan, &mut Vec<Missed>),
) {
    // A number of fusions is for bisection, which wants the same groups every time.
    if !options.last_block || dependences.cut_short || options.max_fusions.is_some() {
        return;
    }
    let sinks = missed.iter().filter(|each| !each.carried);
    let sinks: BTreeSet<NodeId> = sinks.map(|each| each.sink).collect();
    let may_have = sinks
        .into_iter()
        .filter(|node| may_have_one_block(graph, *node));
    let mut sinks: Vec<NodeId> = may_have.collect();
    // Those that surely have one block come first, then those that end a sum: what a run has to tell of others may be
    // otherwise.
    let ending = ends_of_sums(graph);
    sinks.sort_by_key(|node| (!has_one_block(graph, *node), !ending.contains(node)));
    if sinks.is_empty() {
        return;
    }
    let mut judge = Judge::new(graph, kernels, dependences, options);
    let mut refused: BTreeMap<NodeId, Rejection> = BTreeMap::new();
    let mut any = false;
    for sink in sinks {
        let behind = unit(graph, kernels, plan, sink);
        let Some(source) = behind.as_ref().ok().and_then(|behind| judge.source(behind)) else {
            continue;
        };
        if !has_one_block(graph, sink) && !is_sum(graph, kernels, (source, sink)) {
            continue;
        }
        let joined = behind.and_then(|behind| {
            let front = unit(graph, kernels, plan, source)?;
            let group = judge.run_by_last_block(&front, &behind)?;
            let all = front.members.iter().chain(&behind.members).copied();
            judge.need_not_wait(plan, dependences, &group, &all.collect::<Vec<_>>())?;
            Ok(group)
        });
        let group = match joined {
            Ok(group) => group,
            Err(rejection) => {
                refused.insert(sink, rejection);
                continue;
            }
        };
        any = true;
        put(&mut plan.groups, group);
    }
    if any {
        let nodes: BTreeMap<LaunchId, NodeId> = graph.launches().collect();
        let place = |group: &FusionGroup| nodes.get(&group.members.first()?.launch).copied();
        plan.groups.sort_by_key(place);
        if options.reserves_memory {
            plan.dead_buffers = find_dead_buffers(graph, kernels, plan);
        }
        let group_of = |node: NodeId| {
            plan.groups.iter().position(|group| {
                let mut members = group.members.iter();
                members.any(|member| nodes.get(&member.launch) == Some(&node))
            })
        };
        missed.retain(|each| {
            let source = group_of(each.source);
            each.carried || source.is_none() || source != group_of(each.sink)
        });
    }
    let told = [RejectionReason::GlobalDependence, RejectionReason::Shape];
    let apart = missed.iter_mut().filter(|each| !each.carried);
    for each in apart.filter(|each| told.contains(&each.rejection.reason)) {
        if let Some(why) = refused.get(&each.sink) {
            let message = &mut each.rejection.message;
            message.push_str(&format!("; no last block runs it: {}", why.message));
        }
    }
}

/// Puts a group in the place of those that it is made of.
fn put(groups: &mut Vec<FusionGroup>, group: FusionGroup) {
    let taken: BTreeSet<LaunchId> = group.members.iter().map(|member| member.launch).collect();
    groups.retain(|other| {
        let mut members = other.members.iter();
        !members.any(|member| taken.contains(&member.launch))
    });
    groups.push(group);
}

/// A launch, or a group of launches.
struct Unit<'a> {
    members: Vec<Candidate<'a>>,
    /// As it was planned, where it is more than one launch.
    planned: Option<FusionGroup>,
}

/// Whether a launch has one block, as is known when compiling.
fn has_one_block(graph: &LaunchGraph, node: NodeId) -> bool {
    let extents = grid(graph, node);
    extents.is_some_and(|extents| extents.iter().all(|each| each.as_constant() == Some(1)))
}

/// Whether a run may find that a launch has one block.
fn may_have_one_block(graph: &LaunchGraph, node: NodeId) -> bool {
    let extents = grid(graph, node);
    extents.is_some_and(|extents| {
        let mut extents = extents.iter().map(Expression::as_constant);
        extents.all(|each| each.is_none_or(|each| each == 1))
    })
}

/// Whether a launch may have one block where the one before it has many: its threads exchange values, as those of a sum do,
/// and its grid is another one.
fn is_sum(graph: &LaunchGraph, kernels: &[KernelModel], (source, sink): (NodeId, NodeId)) -> bool {
    let exchanges = candidate(graph, kernels, sink)
        .is_ok_and(|sink| !sink.model.barriers.is_empty() || sink.model.warp_operations);
    exchanges && grid(graph, sink) != grid(graph, source)
}

/// The extents of a launch's grid.
fn grid(graph: &LaunchGraph, node: NodeId) -> Option<[Expression<ValueId>; 3]> {
    match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => Some(launch.grid.map(|value| graph.extent(value))),
        _ => None,
    }
}

/// The launches that wait for a batch, or follow each other in one kernel.
fn waiting(plan: &FusionPlan) -> BTreeSet<LaunchId> {
    let regions = plan.batched_regions.iter();
    let statements = regions.flat_map(|region| &region.statements);
    let own: BTreeSet<LaunchId> = statements.map(|statement| statement.launch).collect();
    let groups = plan.groups.iter().filter(|group| {
        let last = group.members.last();
        last.is_some_and(|last| own.contains(&last.launch))
    });
    let members = groups.flat_map(|group| &group.members);
    let members: Vec<LaunchId> = members.map(|member| member.launch).collect();
    own.into_iter().chain(members).collect()
}

/// What a launch is planned to be part of.
fn unit<'a>(
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    plan: &FusionPlan,
    node: NodeId,
) -> Result<Unit<'a>, Rejection> {
    let nodes: BTreeMap<LaunchId, NodeId> = graph.launches().collect();
    let own = plan.groups.iter().find(|group| {
        let mut members = group.members.iter();
        members.any(|member| nodes.get(&member.launch) == Some(&node))
    });
    let all: Vec<NodeId> = own.map_or_else(
        || vec![node],
        |group| {
            let launches = group.members.iter();
            launches
                .filter_map(|member| nodes.get(&member.launch).copied())
                .collect()
        },
    );
    refuse_node(graph, node)?;
    let members = all.into_iter().map(|node| candidate(graph, kernels, node));
    Ok(Unit {
        members: members.collect::<Result<_, _>>()?,
        planned: own.cloned(),
    })
}

/// The launches of the last iterations of host loops that add until one number is left.
fn ends_of_sums(graph: &LaunchGraph) -> BTreeSet<NodeId> {
    let loops = graph.split_loops.iter().filter(|of| of.of_one_launch);
    let last = loops.flat_map(|of| of.behind.iter().chain(&of.past));
    let last: BTreeSet<LaunchId> = last.copied().collect();
    let nodes = graph.launches().filter(|(launch, _)| last.contains(launch));
    nodes.map(|(_, node)| node).collect()
}

impl<'a> Judge<'a> {
    /// The latest launch that a unit needs something of.
    fn source(&self, behind: &Unit<'a>) -> Option<NodeId> {
        let first = behind.members.first()?.node;
        let sinks = behind.members.iter().map(|member| member.node);
        let sinks: Vec<NodeId> = sinks.collect();
        let mut before: Vec<NodeId> = self.graph.launches().map(|(_, node)| node).collect();
        before.retain(|node| *node < first);
        before.sort_unstable();
        before.into_iter().rev().find(|source| {
            let edges = sinks.iter().flat_map(|sink| self.edges(*source, *sink));
            edges.into_iter().any(|edge| orders(edge))
        })
    }

    /// Takes launches out of the regions in which they wait, where no batch holds more for that.
    pub(super) fn need_not_wait(
        &self,
        plan: &mut FusionPlan,
        dependences: &DependenceGraph,
        group: &FusionGroup,
        members: &[Candidate<'a>],
    ) -> Result<(), Rejection> {
        let waiting = waiting(plan);
        let mut all = members.iter();
        let Some(member) = all.find(|member| waiting.contains(&member.launch.id)) else {
            return Ok(());
        };
        let mut after = plan.groups.clone();
        put(&mut after, group.clone());
        let groups = (group, plan.groups.as_slice(), after.as_slice());
        if let Some(left) = self.released(&plan.batched_regions, dependences, groups) {
            plan.batched_regions = left;
            return Ok(());
        }
        let name = &member.model.display_name;
        let message = format!("`{name}` waits for a launch batch");
        let location = &self.graph.nodes[member.node.0].location;
        Err(rejection(RejectionReason::HostLoop, message, location))
    }

    /// Whether the launches of a unit may wait for those behind it: nothing that they must not pass stands between, or only on
    /// ways that the host need not take, such as a switch for a profiler. There they are issued before it.
    fn comes_behind(
        &mut self,
        front: &Unit<'a>,
        all: &[Candidate<'a>],
        (last, first, end): (Candidate<'a>, Candidate<'a>, Candidate<'a>),
    ) -> Result<(), Rejection> {
        let always = self.order.in_step(last.node, first.node);
        let mut on_ways = |conditional: bool| {
            self.conditional = conditional;
            let moves = self.all_in_order(all).and_then(|()| {
                self.streams_allow(all)?;
                self.nothing_passed(&[front.members.as_slice()], all, end)
            });
            self.conditional = false;
            moves
        };
        match always {
            true => on_ways(false).or_else(|refused| on_ways(true).map_err(|_| refused)),
            false => on_ways(true),
        }
    }

    /// The group in which the last block of one unit's launch runs the other unit.
    fn run_by_last_block(
        &mut self,
        front: &Unit<'a>,
        behind: &Unit<'a>,
    ) -> Result<FusionGroup, Rejection> {
        let (Some(last), Some(first), Some(end)) = (
            front.members.last().copied(),
            behind.members.first().copied(),
            behind.members.last().copied(),
        ) else {
            let message = String::from("there is nothing to put together");
            return Err(rejection(
                RejectionReason::Shape,
                message,
                &Location::default(),
            ));
        };
        let location = &self.graph.nodes[first.node.0].location;
        let refuse = |reason, message: String| Err(rejection(reason, message, location));
        let all: Vec<Candidate> = front
            .members
            .iter()
            .chain(&behind.members)
            .copied()
            .collect();
        if let Some(member) = all.iter().find(|member| member.model.prints) {
            let message = format!("`{}` prints", member.model.display_name);
            return refuse(RejectionReason::HostAccess, message);
        }
        let names = [last, first].map(|member| &member.model.display_name);
        if last.node >= first.node {
            let message = format!(
                "`{}` and `{}` are interleaved with others",
                names[0], names[1]
            );
            return refuse(RejectionReason::NotConvex, message);
        }
        let is_one = |group: &FusionGroup| {
            !group.is_partial()
                && !group.is_cooperative()
                && group.last_block.is_none()
                && group.recomputation.is_none()
                && group.issued_before.is_empty()
        };
        let mut planned = [&front.planned, &behind.planned].into_iter().flatten();
        if !planned.all(is_one) {
            let message = format!(
                "`{}` or `{}` is in a group that does not run as one alone",
                names[0], names[1]
            );
            return refuse(RejectionReason::ControlFlow, message);
        }
        if has_one_block(self.graph, last.node) {
            let message = format!("`{}` has one block itself", names[0]);
            return refuse(RejectionReason::Shape, message);
        }
        let [front_group, behind_group] = [front, behind].map(|unit| match &unit.planned {
            Some(group) => group.clone(),
            None => self.finish(&unit.members, |_| 0),
        });
        let keeps = |member: &Member| member.map == ThreadMap::Identity;
        let beside = |member: &Member| matches!(member.map, ThreadMap::Blocks { .. });
        let plain = |member: &Candidate| {
            let one_block = may_have_one_block(self.graph, member.node);
            one_block && self.graph.operation_of(member.launch.id).is_none()
        };
        let is_plain = !front_group.members.iter().any(beside)
            && front_group.members.iter().any(keeps)
            && behind_group.members.iter().all(keeps)
            && behind.members.iter().all(plain);
        if !is_plain {
            let message = format!(
                "`{}` or `{}` is in a group whose launches have grids of their own",
                names[0], names[1]
            );
            return refuse(RejectionReason::Shape, message);
        }
        let whole = front.members.iter().zip(&front_group.members);
        let whole = whole.filter(|(_, member)| keeps(member));
        let whole = whole
            .map(|(candidate, _)| *candidate)
            .next()
            .unwrap_or(last);
        let mut guards: BTreeSet<Guard> = front_group.guards.iter().cloned().collect();
        guards.extend(behind_group.guards.iter().cloned());
        for member in &behind.members {
            let one = |axis| Condition::Equal(self.extent(member, axis), Expression::Constant(1));
            guards.extend((0..3).filter_map(|axis| holds("shape", one(axis))));
            guards.extend(self.threads_fit(&whole, member)?);
        }
        let is_sure = |member: &Candidate| has_one_block(self.graph, member.node);
        // Launches that fuse in front still do where the one behind has more blocks.
        if !behind.members.iter().all(is_sure) && behind.members.len() > 1 {
            let message = format!(
                "it is not known before the program runs that `{}` has one block, and launches fuse with it",
                names[1]
            );
            return refuse(RejectionReason::Shape, message);
        }
        let surely = self.order.surely_follows(last.node, first.node);
        if !surely && behind.members.len() > 1 {
            let message = format!(
                "`{}` need not come behind others, and launches fuse with it",
                names[1]
            );
            return refuse(RejectionReason::ControlFlow, message);
        }
        for member in &all {
            self.threads_are_told_apart(member)?;
        }
        if argument_bytes(&all) > MOST_ARGUMENT_BYTES {
            let message = format!(
                "one launch with `{}` would have too many arguments",
                names[1]
            );
            return refuse(RejectionReason::Resources, message);
        }
        self.conditions_hold(&all)?;
        self.comes_behind(front, &all, (last, first, end))?;
        let [x, y, z] = [0, 1, 2].map(|axis| self.extent(&whole, axis));
        let most = Expression::Constant(MOST_BLOCKS);
        let blocks = x.multiply(y).multiply(z);
        let [x, y, z] = [3, 4, 5].map(|axis| self.extent(&whole, axis));
        let threads = x.multiply(y).multiply(z);
        let countable = Condition::LessEqual(blocks.clone(), most);
        guards.extend(holds("range", countable));
        // All blocks count on one word, one after the other. That stays hidden where each has enough to do besides.
        let hidden = threads.multiply(Expression::Constant(MOST_BLOCKS_PER_THREAD));
        let hidden = Condition::LessEqual(blocks, hidden);
        if hidden.decided() == Some(false) {
            let message = format!(
                "`{}` has so many blocks that counting them would take longer",
                names[0]
            );
            return refuse(RejectionReason::Resources, message);
        }
        guards.extend(holds("work", hidden));
        let moving: Vec<Guard> = self
            .stream_guards(&all)
            .into_iter()
            .chain(self.questions(&all))
            .collect();
        let alone = front.members.len() > 1 && behind.members.len() == 1;
        let front_guards = alone.then(|| {
            let own = front_group.guards.iter().cloned();
            own.chain(moving.iter().cloned())
                .collect::<BTreeSet<Guard>>()
                .into_iter()
                .collect()
        });
        // Where the host does not come to the one behind, they are one where they would be issued otherwise.
        let early_guards = (alone && !surely).then(|| {
            let mut own: BTreeSet<Guard> = front_group.guards.iter().cloned().collect();
            own.extend(self.stream_guards(&front.members));
            own.extend(self.questions(&front.members));
            own.into_iter().collect()
        });
        guards.extend(moving);
        let replayed = |member: &&Candidate| {
            self.graph.is_seen_in_capture(member.node, member.launch)
                || self.graph.may_be_replayed(member.node, member.launch)
        };
        if let Some(replayed) = all.iter().find(replayed) {
            let launch = replayed.launch.id;
            guards.insert(Guard::NotCapturing { launch });
        }
        let count = front_group.members.len();
        let segments = match front_group.segments.is_empty() && behind_group.segments.is_empty() {
            true => Vec::new(),
            false => {
                let mut segments = front_group.segments_in_order();
                let behind = behind_group.segments_in_order().into_iter();
                segments.extend(behind.map(|segment| {
                    let moved = segment.into_iter().map(|position| position + count);
                    moved.collect::<Vec<usize>>()
                }));
                segments
            }
        };
        let members = front_group.members.into_iter().chain(behind_group.members);
        Ok(FusionGroup {
            members: members.collect(),
            layout: LAYOUT.to_owned(),
            layouts: Vec::new(),
            guards: guards.into_iter().collect(),
            unread_afterwards: Vec::new(),
            segments,
            awaited_copies: self.awaited_copies(&all),
            issued_before: self.issued_before(&all).into_iter().collect(),
            partial_guards: Vec::new(),
            variant: Variant::default(),
            grid_barriers: Vec::new(),
            last_block: Some(count),
            front_guards,
            early_guards,
            recomputation: None,
            fallback: Vec::new(),
            tested_loop: None,
            overlap: None,
        })
    }

    /// What is tested so that the block of a launch has its threads in one of another launch.
    fn threads_fit(
        &self,
        whole: &Candidate<'a>,
        behind: &Candidate<'a>,
    ) -> Result<Option<Guard>, Rejection> {
        let [all, own] = [whole, behind].map(|member| {
            let [x, y, z] = [3, 4, 5].map(|axis| self.extent(member, axis));
            x.multiply(y).multiply(z)
        });
        let location = &self.graph.nodes[behind.node.0].location;
        let names = [whole, behind].map(|member| &member.model.display_name);
        let constants = all.as_constant().zip(own.as_constant());
        let Some((most, threads)) = constants else {
            return Ok(holds("shape", Condition::Equal(all, own)));
        };
        if threads > most {
            let message = format!(
                "`{}` has {threads} threads and a block of `{}` {most}",
                names[1], names[0]
            );
            return Err(rejection(RejectionReason::Shape, message, location));
        }
        let model = behind.model;
        let meets = !model.barriers.is_empty() || model.warp_operations;
        if threads < most && meets {
            let message = format!(
                "threads of `{}` wait for each other, and there are {threads} of them where a block of `{}` has {most}",
                names[1], names[0]
            );
            return Err(rejection(RejectionReason::Shape, message, location));
        }
        Ok(None)
    }

    /// Threads that a kernel does not tell apart run in step; who counts arrivals tells all apart.
    pub(super) fn threads_are_told_apart(&self, member: &Candidate<'a>) -> Result<(), Rejection> {
        let location = &self.graph.nodes[member.node.0].location;
        for (axis, name) in ["x", "y", "z"].iter().enumerate() {
            let single = self.extent(member, 3 + axis).as_constant() == Some(1);
            if !member.model.distinguishes_threads[axis] && !single {
                let message = format!(
                    "`{}` never reads threadIdx.{name}, so that its threads along it run in step",
                    member.model.display_name
                );
                return Err(rejection(RejectionReason::Shape, message, location));
            }
        }
        Ok(())
    }
}

fn holds(class: &str, condition: Condition<ValueId>) -> Option<Guard> {
    let class = class.to_owned();
    let decided = condition.decided() == Some(true);
    (!decided).then_some(Guard::Holds { class, condition })
}

fn argument_bytes(members: &[Candidate]) -> u64 {
    let formals = members.iter().flat_map(|member| &member.model.formals);
    formals.map(|formal| u64::from(formal.size_bytes)).sum()
}

/// The name of this layout in reports.
const LAYOUT: &str = "last-block";
/// There is room for these in the parameters of a kernel on any device, and for extents.
const MOST_ARGUMENT_BYTES: u64 = 3072;
/// A device counts about one block in a nanosecond, and saves a launch of some microseconds. So few blocks may be of any
/// size. A block of 256 threads that loads a number each is read in a nanosecond, too. This many blocks for each thread of
/// one let 4,096 blocks of 16 threads be counted, and 65,536 of 256. It is an estimate.
const MOST_BLOCKS_PER_THREAD: i64 = 256;
/// Blocks are counted in 32 bits.
const MOST_BLOCKS: i64 = 1 << 30;
