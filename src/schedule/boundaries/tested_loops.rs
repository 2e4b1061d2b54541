//! Host loops that end where a number that they copy from the device says so: solvers that go on until a residual is small.
//!
//! One iteration of such a loop is a cooperative group. Its kernel can run many of them, where it computes itself what the
//! host computes of the copied numbers. The host goes through its loop afterwards: its launches have been made, and its
//! copies find what the kernel kept for them. So whatever else the host does with these numbers it still does.
//!
//! Invariant: in the loop there is nothing but the members, copies of few bytes to the host, and what neither the device nor
//! the host could tell that it comes later; so that no iteration sees that others ran ahead.

use super::super::group::Judge;
use super::super::obstacle::rejection;
use super::super::{FusionGroup, MOST_ITERATIONS_AHEAD, TestedCopy, TestedLoop, ThreadMap};
use crate::dependence::{DependenceGraph, Guard};
use crate::diagnostics::{Location, Rejection, RejectionReason};
use crate::kernel::{AccessKind, Target};
use crate::launch::{
    Argument, Awaited, BEHIND_POINTER, HostBlockId, Launch, LaunchGraph, LaunchId, LoopTest,
    NodeId, NodeKind, Root, ScalarKind, Touch,
};
use std::collections::BTreeSet;

impl Judge<'_> {
    /// How iterations of the host loop around a cooperative group may run ahead; `None` where no loop is around it that
    /// copies to the host.
    ///
    /// # Errors
    /// Why the loop stays.
    pub(in crate::schedule) fn tested_loop(
        &self,
        dependences: &DependenceGraph,
        group: &FusionGroup,
    ) -> Option<Result<TestedLoop, Rejection>> {
        let graph = self.graph;
        let launches = graph.launches();
        let own: BTreeSet<LaunchId> = group.members.iter().map(|each| each.launch).collect();
        let mut nodes: Vec<NodeId> = launches
            .filter(|(launch, _)| own.contains(launch))
            .map(|(_, node)| node)
            .collect();
        nodes.sort_unstable();
        let last = graph.nodes[nodes.last()?.0].block;
        let index = graph.blocks[last.0].innermost_loop?;
        let found = match graph.loop_tests.get(&index)? {
            Ok(test) => self.runs_ahead(dependences, group, (test, &nodes)),
            Err(untold) => {
                let why = untold.why.clone();
                Err(stays(why, &untold.location))
            }
        };
        Some(found)
    }

    /// The first launch of each loop of which it is not known by what the host ends it, with the reason.
    pub(in crate::schedule) fn untold_loops(&self) -> Vec<(NodeId, Rejection)> {
        let graph = self.graph;
        let tests = graph.loop_tests.iter();
        let untold = tests.filter_map(|(index, test)| Some((*index, test.as_ref().err()?)));
        let first = |index: usize| {
            let launches = graph.launches().map(|(_, node)| node);
            let of_loop = launches.filter(|node| {
                graph.blocks[graph.nodes[node.0].block.0].innermost_loop == Some(index)
            });
            of_loop.min()
        };
        let reasons = untold.filter_map(|(index, untold)| {
            Some((first(index)?, stays(untold.why.clone(), &untold.location)))
        });
        reasons.collect()
    }

    fn runs_ahead(
        &self,
        dependences: &DependenceGraph,
        group: &FusionGroup,
        (test, nodes): (&LoopTest, &[NodeId]),
    ) -> Result<TestedLoop, Rejection> {
        let graph = self.graph;
        let location = &graph.nodes[nodes[0].0].location;
        let refuse = |why: &str| Err(stays(why.to_owned(), location));
        let plain = group
            .members
            .iter()
            .all(|member| member.map == ThreadMap::Identity)
            && group.issued_before.is_empty()
            && group.last_block.is_none()
            && group.recomputation.is_none();
        if !plain {
            return refuse("some of its launches are in a group that runs in part");
        }
        if test.copies.is_empty() || test.exits.iter().all(|exit| exit.stays.is_none()) {
            return refuse("what the host copies does not decide how often it goes round");
        }
        let copies: Vec<NodeId> = test.copies.iter().map(|copy| copy.node).collect();
        nothing_else(graph, test.host_loop, (nodes, &copies))?;
        let always = |node: &NodeId| {
            let block = graph.nodes[node.0].block;
            in_each_iteration(graph, test.host_loop, block)
        };
        if !nodes.iter().chain(&copies).all(always) {
            return refuse("the host does not come to each launch and copy in each iteration");
        }
        let before = |copy: &NodeId| nodes.iter().filter(|node| *node < copy).count();
        let after: Vec<usize> = copies.iter().map(before).collect();
        let is_boundary = |at: usize| at == nodes.len() || group.grid_barriers.contains(&at);
        if !after.iter().all(|after| is_boundary(*after)) {
            return refuse("the host copies between launches that are one");
        }
        let known_at = |scalar: usize| last_copy(test, scalar).map_or(0, |copy| after[copy]);
        for exit in test.exits.iter().filter(|exit| !exit.of_next) {
            let passed = |node: &&NodeId| dominates(graph, graph.nodes[node.0].block, exit.block);
            let passed = nodes.iter().filter(passed).count();
            let known = exit.stays.is_none_or(|scalar| known_at(scalar) <= passed);
            if !is_boundary(passed) || !known {
                return refuse("the host may leave it between launches that are one");
            }
        }
        let Some((varying, turning)) = self.varying_in(dependences, group, test.host_loop) else {
            return refuse("launches of different iterations take different pointers or shapes");
        };
        let launches: Vec<&Launch> = nodes
            .iter()
            .filter_map(|node| launch_at(graph, *node))
            .collect();
        let computed = |launch: LaunchId, index: usize| {
            test.arguments.iter().any(|argument| {
                let own = launch_at(graph, argument.node);
                argument.argument == index && own.is_some_and(|own| own.id == launch)
            })
        };
        if !varying
            .iter()
            .all(|(launch, index)| computed(*launch, *index))
        {
            return refuse("launches of different iterations take different numbers");
        }
        for launch in &launches {
            let known = |(index, argument): (usize, &Argument)| {
                let mut turning = turning.iter();
                argument.identity.is_some()
                    || computed(launch.id, index)
                    || turning.any(|[own, _]| *own == (launch.id, index))
            };
            if !launch.arguments.iter().enumerate().all(known) {
                return refuse("it is not known whether launches take the same in each iteration");
            }
            let model = launch.kernel.and_then(|kernel| self.kernels.get(kernel.0));
            let mut pieces = launch.arguments.iter().flat_map(|each| &each.pieces);
            let keeps_nothing = model
                .is_some_and(|model| !model.prints && !model.asynchronous_copies)
                && pieces.all(|piece| piece.offset_bytes < BEHIND_POINTER);
            if !keeps_nothing {
                return refuse("a launch rests on the end of the one before");
            }
        }
        let steady = |guard: &Guard| self.is_steady_in(dependences, guard, test.host_loop);
        if !group.guards.iter().all(steady) {
            return refuse("what is tested may differ from iteration to iteration");
        }
        let taken = test
            .arguments
            .iter()
            .filter_map(|argument| Some((launch_at(graph, argument.node)?.id, argument.argument)));
        let row_bytes: u32 = test
            .copies
            .iter()
            .map(|copy| copy.bytes.next_multiple_of(8))
            .sum();
        let copies = copies.iter().zip(after).map(|(copy, after)| {
            let mut phases = group.phases().into_iter();
            let next = phases.find(|phase| phase.start == after % nodes.len());
            let next: Vec<&Launch> = next.into_iter().flatten().map(|at| launches[at]).collect();
            TestedCopy {
                node: *copy,
                after,
                barrier_before: true,
                barrier_behind: self.may_write(&next, *copy),
            }
        });
        Ok(TestedLoop {
            host_loop: test.host_loop,
            copies: copies.collect(),
            varying: taken.collect(),
            turning,
            most_iterations: (MOST_ROW_BYTES / row_bytes.max(1)).clamp(1, MOST_ITERATIONS_AHEAD),
        })
    }

    /// Whether some launches may write what a copy reads.
    fn may_write(&self, launches: &[&Launch], copy: NodeId) -> bool {
        let NodeKind::Copy { reads, .. } = &self.graph.nodes[copy.0].kind else {
            return true;
        };
        let [Touch { pointer, .. }] = reads.as_slice() else {
            return true;
        };
        let Root::Buffer(read) = pointer.root else {
            return true;
        };
        launches.iter().any(|launch| {
            let model = launch.kernel.and_then(|kernel| self.kernels.get(kernel.0));
            let Some(model) = model else { return true };
            let mut writes = model
                .accesses
                .iter()
                .filter(|access| access.kind != AccessKind::Read);
            writes.any(|access| match &access.target {
                Target::Argument {
                    argument,
                    offset_bytes,
                } => match launch.pointer(*argument, *offset_bytes) {
                    Some(pointer) => (pointer.may_point_to.as_ref())
                        .is_none_or(|buffers| buffers.contains(&read)),
                    None => true,
                },
                Target::Shared(_) | Target::UnknownShared => false,
                Target::Global(_) | Target::Unknown => true,
            })
        })
    }
}

/// The host has room for so much of what copies bring, on its stack.
const MOST_ROW_BYTES: u32 = 1 << 15;

fn stays(why: String, location: &Location) -> Rejection {
    let message = format!("the host loop does not move into the kernel, since {why}");
    rejection(RejectionReason::HostLoop, message, location)
}

fn launch_at(graph: &LaunchGraph, node: NodeId) -> Option<&Launch> {
    match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => Some(launch),
        _ => None,
    }
}

/// Whether a loop does nothing besides these launches and copies that anybody could see.
fn nothing_else(
    graph: &LaunchGraph,
    host_loop: usize,
    (launches, copies): (&[NodeId], &[NodeId]),
) -> Result<(), Rejection> {
    let inside = graph
        .nodes
        .iter()
        .filter(|node| graph.loops_around(node.block).contains(&host_loop));
    for node in inside {
        let why = match &node.kind {
            _ if launches.contains(&node.id) || copies.contains(&node.id) => continue,
            NodeKind::ErrorCheck
            | NodeKind::Output { .. }
            | NodeKind::Synchronise(Awaited::Device | Awaited::Stream(_)) => continue,
            NodeKind::Launch(_) => "not all of its launches can be one".to_owned(),
            NodeKind::Copy { .. } | NodeKind::Set { .. } => {
                "the host copies or sets memory".to_owned()
            }
            NodeKind::HostAccess { .. } => "the host uses memory that kernels may see".to_owned(),
            NodeKind::Opaque { what } | NodeKind::MayThrow { what } => {
                format!("the host calls `{what}`")
            }
            NodeKind::Library { what, .. } => format!("the host calls `{what}`"),
            NodeKind::Allocation { .. } | NodeKind::Free { .. } => {
                "the host allocates or frees memory".to_owned()
            }
            NodeKind::Synchronise(Awaited::Event) | NodeKind::StreamOperation => {
                "the host uses events or streams".to_owned()
            }
        };
        return Err(stays(why, &node.location));
    }
    Ok(())
}

/// Whether the host comes to a block exactly once in each iteration that it does not leave the loop in.
fn in_each_iteration(graph: &LaunchGraph, host_loop: usize, block: HostBlockId) -> bool {
    let header = graph.loops[host_loop].header;
    let inside = |block: usize| graph.loops_around(HostBlockId(block)).contains(&host_loop);
    let latches = (0..graph.blocks.len())
        .filter(|from| graph.blocks[*from].successors.contains(&header) && inside(*from));
    let mut latches = latches.map(HostBlockId);
    graph.blocks[block.0].innermost_loop == Some(host_loop)
        && latches.all(|latch| dominates(graph, block, latch))
}

/// The last of the copies of an iteration on which a scalar rests.
fn last_copy(test: &LoopTest, scalar: usize) -> Option<usize> {
    match &test.scalars[scalar].kind {
        ScalarKind::Copied { copy, .. } => Some(*copy),
        ScalarKind::Computed { operands, .. } => {
            let operands = operands.iter();
            operands.filter_map(|own| last_copy(test, *own)).max()
        }
        ScalarKind::Literal(_) | ScalarKind::Host(_) | ScalarKind::Carried(_) => None,
    }
}

fn dominates(graph: &LaunchGraph, dominator: HostBlockId, block: HostBlockId) -> bool {
    let mut at = Some(block);
    while let Some(block) = at {
        if block == dominator {
            return true;
        }
        at = graph.blocks[block.0].immediate_dominator;
    }
    false
}
