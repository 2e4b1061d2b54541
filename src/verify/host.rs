//! The host side of a group: its members run in one order, and moving them down changes no order between them and
//! anything else.
//!
//! A member may stand under a condition of its own. The group runs as one when all members came before the last in an
//! iteration; otherwise each runs as written, at the latest where an iteration cannot come to the last any more.
//! The same goes for blocks before which the plan says that members are issued: they pass nothing of these.
//! That is right where one block begins the iteration for all of them ([`HostOrder::share_a_beginning`]), and each member
//! may pass all that can run between its place and the last's.

use super::host_order::HostOrder;
use super::partial;
use super::place::Values;
use super::streams;
use super::touched::Touched;
use super::waits::{can_be_awaited, waits_passed};
use super::{Refusal, Site};
use crate::dependence::Guard;
use crate::kernel::{KernelModel, Target};
use crate::launch::{
    BEHIND_POINTER, Launch, LaunchGraph, MemoryKind, Node, NodeId, NodeKind, Operand, Stream, Touch,
};
use crate::schedule::FusionGroup;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// The host program, and what has been found out about it.
pub(super) struct Host<'a> {
    pub(super) graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    pub(super) order: HostOrder<'a>,
    /// Something runs on a stream that is not the default one.
    pub(super) several_streams: bool,
    /// A synchronisation waits for everything: there is one stream and no event.
    pub(super) one_queue: bool,
    /// What each node touches outside shared memory; `None` for what may touch anything.
    touched: Vec<OnceCell<Option<Vec<Touched>>>>,
}

impl<'a> Host<'a> {
    pub(super) fn new(graph: &'a LaunchGraph, kernels: &'a [KernelModel]) -> Self {
        let mut nodes = graph.nodes.iter();
        let several_streams =
            nodes.any(|node| stream_of(node).is_some_and(|stream| stream != Stream::Default));
        let mut nodes = graph.nodes.iter();
        let handles = nodes.any(|node| matches!(node.kind, NodeKind::StreamOperation));
        Self {
            graph,
            kernels,
            order: HostOrder::new(graph),
            several_streams,
            one_queue: !several_streams && !handles,
            touched: vec![OnceCell::new(); graph.nodes.len()],
        }
    }
}

/// The stream that an operation runs on.
pub(super) fn stream_of(node: &Node) -> Option<Stream> {
    match &node.kind {
        NodeKind::Launch(launch) => Some(launch.stream),
        NodeKind::Copy { stream, .. }
        | NodeKind::Set { stream, .. }
        | NodeKind::Library { stream, .. } => Some(*stream),
        _ => None,
    }
}

/// What speaks against the place of a group in the host program.
pub(super) fn refusals(host: &Host<'_>, group: &FusionGroup, members: &[Site<'_>]) -> Vec<Refusal> {
    let awaited = group.awaited_copies.iter().copied();
    let mut refusals: Vec<_> = awaited
        .filter(|node| !can_be_awaited(host.graph, *node))
        .map(|node| Refusal::AwaitsNothing { node })
        .collect();
    let [first, .., last] = members else {
        return refusals;
    };
    // Of a loop that runs ahead (`tested_loops`), no launch moves that is made as it is written.
    if group.tested_loop.is_some() {
        refusals.extend(streams::refusals(host, &group.guards, members, &[]));
        return refusals;
    }
    if group.is_partial() {
        refusals.extend(partial::order_refusals(&host.order, members));
    }
    for pair in members.windows(2) {
        let (earlier, later) = (pair[0].launch.id, pair[1].launch.id);
        if pair[0].node >= pair[1].node {
            refusals.push(Refusal::HostOrder { earlier, later });
        } else if group.is_partial() {
            // Asked of any two above.
        } else if !host.order.in_step(pair[0].node, pair[1].node) {
            let follows = host.order.may_follow(pair[0].node, pair[1].node);
            // Two are compared where both have been reached. Of more, some may not run at all.
            let first_and_last = members.len() == 2;
            let one_stream = pair[0].launch.stream == pair[1].launch.stream || first_and_last;
            if !follows || !one_stream {
                refusals.push(Refusal::NotOnOnePath { earlier, later });
            }
        }
    }
    let nodes: Vec<NodeId> = members.iter().map(|member| member.node).collect();
    // The block of the first is on every way to those that are in step with it.
    let in_step = |pair: &[NodeId]| host.order.in_step(pair[0], pair[1]);
    let together = !group.is_partial() && nodes.windows(2).all(in_step);
    if !together && !host.order.share_a_beginning(&nodes) {
        let (earlier, later) = (first.launch.id, last.launch.id);
        refusals.push(Refusal::NotOnOnePath { earlier, later });
    }
    let block = |node: NodeId| host.graph.nodes[node.0].block;
    for place in &group.issued_before {
        // What is issued at the beginning of a block says nothing of a member in it, nor of another function.
        let blocks = &host.graph.blocks;
        let apart = blocks
            .get(place.0)
            .is_some_and(|place| place.function == blocks[block(first.node).0].function);
        if !apart || nodes.iter().any(|node| block(*node) == *place) {
            refusals.push(Refusal::IssuedElsewhere { block: *place });
        }
    }
    let mut printing = members.iter().filter(|member| member.model.prints);
    if let (Some(one), Some(two)) = (printing.next(), printing.next()) {
        let (first, second) = (one.launch.id, two.launch.id);
        refusals.push(Refusal::PrintsTwice { first, second });
    }
    if !refusals.is_empty() {
        return refusals;
    }
    let is_other = |node: &NodeId| members.iter().all(|other| other.node != *node);
    let passed_by = |member: &Site<'_>| -> Vec<NodeId> {
        let passed = host
            .order
            .nodes_between(member.node, last.node, &group.issued_before);
        passed.into_iter().flatten().filter(is_other).collect()
    };
    let before_last = &members[..members.len() - 1];
    let between: BTreeSet<NodeId> = before_last.iter().flat_map(passed_by).collect();
    let between: Vec<NodeId> = between.into_iter().collect();
    refusals.extend(streams::refusals(host, &group.guards, members, &between));
    for member in before_last {
        let passed = passed_by(member);
        refusals.extend(waits_passed(host, member, group, last.node, &passed));
        for node in passed {
            refusals.extend(passing(
                host,
                member,
                &group.guards,
                &host.graph.nodes[node.0],
            ));
        }
    }
    refusals
}

/// What speaks against a launch moving below a node.
fn passing(host: &Host<'_>, member: &Site<'_>, guards: &[Guard], node: &Node) -> Option<Refusal> {
    let reaches_host_memory = || reaches_host_memory(host.graph, member, guards);
    let launch = member.launch.id;
    let fence = |what: &str| {
        Some(Refusal::Fence {
            launch,
            node: node.id,
            what: what.to_string(),
        })
    };
    let printing = |what: &str| {
        let what = what.to_string();
        member.model.prints.then_some(Refusal::PrintingMoves {
            launch,
            node: node.id,
            what,
        })
    };
    let conflict = |what: &str| {
        let what = what.to_string();
        host.touch_common_memory(member.node, node.id)
            .then_some(Refusal::Reordered {
                launch,
                node: node.id,
                what,
            })
    };
    match &node.kind {
        NodeKind::Launch(other) => launch_passed(host, member, node.id, other),
        NodeKind::Copy { host_side, .. } => {
            if *host_side && reaches_host_memory() {
                return fence("a copy between the device and memory that kernels may see");
            }
            let prints = if *host_side {
                printing("a copy that waits")
            } else {
                None
            };
            prints.or_else(|| conflict("a copy"))
        }
        NodeKind::Set { .. } => conflict("a set"),
        NodeKind::Library {
            host_side, what, ..
        } => {
            // Its result may be the host's, who then knows that what came before is done.
            if *host_side && reaches_host_memory() {
                return fence(what);
            }
            let prints = if *host_side { printing(what) } else { None };
            prints.or_else(|| conflict(what))
        }
        NodeKind::Free { pointer: Some(_) } => {
            printing("a free, which waits").or_else(|| conflict("a free"))
        }
        NodeKind::Free { pointer: None } => fence("a free of unknown memory"),
        NodeKind::Synchronise(_) => printing("a synchronisation"),
        // What the host writes tells no more than what the host knows, which is nothing of a kernel that
        // neither prints nor touches what the host sees.
        NodeKind::Output { what } => {
            if reaches_host_memory() {
                return fence(what);
            }
            printing("an output of the host")
        }
        // New memory is nobody's yet, and an error check has no effect on kernels.
        NodeKind::Allocation { .. } | NodeKind::ErrorCheck => None,
        NodeKind::StreamOperation => fence("a stream or event operation"),
        // The host cannot touch memory of the device alone.
        NodeKind::HostAccess { ordered: false } if !reaches_host_memory() => {
            printing("an access of the host")
        }
        NodeKind::HostAccess { .. } => {
            fence("an access of the host to memory that kernels may see")
        }
        // Where an exception leaves the call, what is kept is issued.
        NodeKind::MayThrow { .. } => None,
        NodeKind::Opaque { what } => fence(what),
    }
}

fn launch_passed(
    host: &Host<'_>,
    member: &Site<'_>,
    node: NodeId,
    other: &Launch,
) -> Option<Refusal> {
    let launch = member.launch.id;
    let model = other.kernel.and_then(|kernel| host.kernels.get(kernel.0));
    let Some(model) = model.filter(|model| model.opaque.is_empty()) else {
        let what = "the launch of a kernel that is not modelled".to_string();
        return Some(Refusal::Reordered { launch, node, what });
    };
    if member.model.prints && model.prints {
        let what = "a launch that prints".to_string();
        return Some(Refusal::PrintingMoves { launch, node, what });
    }
    let what = format!("the launch of `{}`", model.display_name);
    // What stands between two members runs in their iteration, if in no other loop.
    let [own, theirs] = [member.node, node].map(|node| {
        let block = host.graph.nodes[node.0].block;
        host.graph.blocks[block.0].innermost_loop
    });
    host.may_touch(member.node, node, own == theirs)
        .then_some(Refusal::Reordered { launch, node, what })
}

impl Host<'_> {
    /// Whether two operations may touch a common byte, which one of them writes.
    pub(super) fn touch_common_memory(&self, first: NodeId, second: NodeId) -> bool {
        self.may_touch(first, second, false)
    }

    fn may_touch(&self, first: NodeId, second: NodeId, one_iteration: bool) -> bool {
        let (own, theirs) = (self.touched(first), self.touched(second));
        if [own, theirs]
            .iter()
            .any(|touched| touched.is_some_and(<[_]>::is_empty))
        {
            return false;
        }
        let (Some(own), Some(theirs)) = (own, theirs) else {
            return true;
        };
        own.iter().any(|one| {
            theirs.iter().any(|two| {
                (one.writes || two.writes) && !one.is_disjoint_from(self.graph, two, one_iteration)
            })
        })
    }

    fn touched(&self, node: NodeId) -> Option<&[Touched]> {
        let known = self.touched[node.0].get_or_init(|| {
            let graph = self.graph;
            let values = Values::constants(graph);
            let named = |touch: &Touch, writes| Touched::of_touch(graph, &values, touch, writes);
            match &graph.nodes[node.0].kind {
                NodeKind::Launch(launch) => {
                    let model = launch.kernel.and_then(|kernel| self.kernels.get(kernel.0));
                    let model = model.filter(|model| model.opaque.is_empty())?;
                    Some(Touched::of_launch(graph, launch, model))
                }
                NodeKind::Copy { reads, writes, .. } | NodeKind::Library { reads, writes, .. } => {
                    let reads = reads.iter().map(|touch| named(touch, false));
                    let writes = writes.iter().map(|touch| named(touch, true));
                    Some(reads.chain(writes).collect())
                }
                NodeKind::Set { writes, .. } => Some(vec![named(writes, true)]),
                NodeKind::Free {
                    pointer: Some(pointer),
                } => Some(vec![Touched::of_free(graph, &values, pointer)]),
                NodeKind::Free { pointer: None } | NodeKind::Opaque { .. } => None,
                NodeKind::Synchronise(_)
                | NodeKind::Allocation { .. }
                | NodeKind::ErrorCheck
                | NodeKind::Output { .. }
                | NodeKind::StreamOperation
                | NodeKind::MayThrow { .. }
                | NodeKind::HostAccess { .. } => Some(Vec::new()),
            }
        });
        known.as_deref()
    }
}

/// Whether a launch that is kept may touch memory that the host can touch too. It is only kept where each pointer leads to
/// memory of the device alone for which a guard of its group asks.
pub(super) fn reaches_host_memory(
    graph: &LaunchGraph,
    member: &Site<'_>,
    guards: &[Guard],
) -> bool {
    let launch = member.launch.id;
    let is_asked = |argument: usize, offset_bytes: u32| {
        let operand = Operand::Argument {
            argument,
            offset_bytes,
            bits: 64,
            signed: false,
        };
        // What stands in a table is loaded when the kernel runs.
        offset_bytes < BEHIND_POINTER
            && graph.operation_of(launch).is_none()
            && guards.contains(&Guard::DeviceMemory { launch, operand })
    };
    let device_only = |target: &Target| match target {
        Target::Shared(_) | Target::UnknownShared => true,
        Target::Unknown => false,
        Target::Global(name) => graph.buffers.iter().any(|buffer| {
            buffer.variable.as_ref() == Some(name) && buffer.memory != MemoryKind::Managed
        }),
        Target::Argument {
            argument,
            offset_bytes,
        } => member
            .launch
            .arguments
            .get(*argument)
            .and_then(|argument| {
                let mut pieces = argument.pieces.iter();
                pieces.find(|piece| piece.offset_bytes == *offset_bytes)
            })
            .and_then(|piece| piece.pointer.as_ref())
            .is_some_and(|pointer| pointer.device_only || is_asked(*argument, *offset_bytes)),
    };
    let mut accesses = member.model.accesses.iter();
    !accesses.all(|access| device_only(&access.target))
}
