//! The host side of a group: its members run in step, and moving them down changes no order.

use super::host_order::nodes_between;
use super::place::{Overlap, Place, Values};
use super::waits::waits_passed;
use super::{Refusal, Site};
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{Launch, LaunchGraph, MemoryKind, Node, NodeId, NodeKind, Pointer, Stream};

/// What speaks against the place of a group in the host program.
pub(super) fn refusals(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    members: &[Site<'_>],
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let [first, .., last] = members else {
        return refusals;
    };
    for pair in members.windows(2) {
        let (earlier, later) = (pair[0].launch.id, pair[1].launch.id);
        if pair[0].node >= pair[1].node {
            refusals.push(Refusal::HostOrder { earlier, later });
        } else if nodes_between(graph, pair[0].node, pair[1].node).is_none() {
            refusals.push(Refusal::NotOnOnePath { earlier, later });
        }
        let streams = (pair[0].launch.stream, pair[1].launch.stream);
        if streams.0 == Stream::Unknown || streams.0 != streams.1 {
            let (first, second) = (earlier, later);
            refusals.push(Refusal::DifferentStream { first, second });
        }
    }
    let mut printing = members.iter().filter(|member| member.model.prints);
    if let (Some(one), Some(two)) = (printing.next(), printing.next()) {
        let (first, second) = (one.launch.id, two.launch.id);
        refusals.push(Refusal::PrintsTwice { first, second });
    }
    if !refusals.is_empty() || nodes_between(graph, first.node, last.node).is_none() {
        return refusals;
    }
    for member in &members[..members.len() - 1] {
        let between = nodes_between(graph, member.node, last.node).unwrap_or_default();
        refusals.extend(waits_passed(graph, kernels, member, last.node, &between));
        for node in between {
            if members.iter().any(|other| other.node == node) {
                continue;
            }
            refusals.extend(passing(graph, kernels, member, &graph.nodes[node.0]));
        }
    }
    refusals
}

/// What speaks against a launch moving below a node.
fn passing(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    member: &Site<'_>,
    node: &Node,
) -> Option<Refusal> {
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
        touches_common_memory(graph, kernels, member, node.id).then_some(Refusal::Reordered {
            launch,
            node: node.id,
            what,
        })
    };
    match &node.kind {
        NodeKind::Launch(other) => launch_passed(graph, kernels, member, node.id, other),
        NodeKind::Copy { host_side, .. } => {
            if *host_side && reaches_host_memory(graph, member) {
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
            if *host_side && reaches_host_memory(graph, member) {
                return fence(what);
            }
            let prints = if *host_side { printing(what) } else { None };
            prints.or_else(|| conflict(what))
        }
        NodeKind::Free { pointer: Some(_) } => {
            printing("a free, which waits").or_else(|| conflict("a free"))
        }
        NodeKind::Free { pointer: None } => fence("a free of unknown memory"),
        NodeKind::Synchronise => printing("a synchronisation"),
        // New memory is nobody's yet, and an error check has no effect on kernels.
        NodeKind::Allocation { .. } | NodeKind::ErrorCheck => None,
        NodeKind::StreamOperation => fence("a stream or event operation"),
        NodeKind::HostAccess => fence("an access of the host to memory that kernels may see"),
        NodeKind::Opaque { what } => fence(what),
    }
}

fn launch_passed(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    member: &Site<'_>,
    node: NodeId,
    other: &Launch,
) -> Option<Refusal> {
    let launch = member.launch.id;
    let model = other.kernel.and_then(|kernel| kernels.get(kernel.0));
    let Some(model) = model.filter(|model| model.opaque.is_empty()) else {
        let what = "the launch of a kernel that is not modelled".to_string();
        return Some(Refusal::Reordered { launch, node, what });
    };
    if member.model.prints && model.prints {
        let what = "a launch that prints".to_string();
        return Some(Refusal::PrintingMoves { launch, node, what });
    }
    let what = format!("the launch of `{}`", model.display_name);
    touches_common_memory(graph, kernels, member, node).then_some(Refusal::Reordered {
        launch,
        node,
        what,
    })
}

/// Whether a launch and an operation may touch a common byte, which one of them writes.
pub(super) fn touches_common_memory(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    member: &Site<'_>,
    node: NodeId,
) -> bool {
    let values = Values::constants(graph);
    let named = |pointer: &Pointer, writes| (Place::of_pointer(graph, &values, pointer), writes);
    let theirs: Vec<(Place, bool)> = match &graph.nodes[node.0].kind {
        NodeKind::Launch(other) => {
            let model = other.kernel.and_then(|kernel| kernels.get(kernel.0));
            match model.filter(|model| model.opaque.is_empty()) {
                Some(model) => touched(graph, other, model),
                None => return true,
            }
        }
        NodeKind::Copy { reads, writes, .. } | NodeKind::Library { reads, writes, .. } => {
            let reads = reads.iter().map(|touch| named(&touch.pointer, false));
            let writes = writes.iter().map(|touch| named(&touch.pointer, true));
            reads.chain(writes).collect()
        }
        NodeKind::Set { writes, .. } => vec![named(&writes.pointer, true)],
        NodeKind::Free {
            pointer: Some(pointer),
        } => vec![named(pointer, true)],
        NodeKind::Free { pointer: None } | NodeKind::Opaque { .. } => return true,
        NodeKind::Synchronise
        | NodeKind::Allocation { .. }
        | NodeKind::ErrorCheck
        | NodeKind::StreamOperation
        | NodeKind::HostAccess => return false,
    };
    let own = touched(graph, member.launch, member.model);
    own.iter().any(|(place, written)| {
        theirs.iter().any(|(other, writes)| {
            (*written || *writes) && place.overlap(other) != Overlap::Disjoint
        })
    })
}

/// Whether a launch may touch memory that the host can touch too.
pub(super) fn reaches_host_memory(graph: &LaunchGraph, member: &Site<'_>) -> bool {
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
            .is_some_and(|pointer| pointer.device_only),
    };
    let mut accesses = member.model.accesses.iter();
    !accesses.all(|access| device_only(&access.target))
}

/// The places outside shared memory that a launch touches, and whether it writes there.
fn touched(graph: &LaunchGraph, launch: &Launch, model: &KernelModel) -> Vec<(Place, bool)> {
    let values = Values::constants(graph);
    let mut touched: Vec<(&Target, bool)> = Vec::new();
    for access in &model.accesses {
        if matches!(access.target, Target::Shared(_) | Target::UnknownShared) {
            continue;
        }
        let entry = (&access.target, access.kind != AccessKind::Read);
        if !touched.contains(&entry) {
            touched.push(entry);
        }
    }
    let place = |(target, writes)| (Place::of_target(graph, &values, launch, target), writes);
    touched.into_iter().map(place).collect()
}
