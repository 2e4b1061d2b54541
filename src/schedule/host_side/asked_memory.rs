//! Memory of which the running program is asked whether the host can touch it.
//!
//! A launch that touches memory of the device alone moves past whatever the host does with its own memory. Where the
//! compiler cannot tell, since pointers come from another source or through a container, the program asks CUDA for
//! each pointer at the place of the launch: where one leads to other memory the launch stays there.

use super::super::ScheduleOptions;
use super::super::obstacle::Candidate;
use super::super::waiting;
use crate::dependence::{Guard, SharedMemory};
use crate::kernel::{KernelModel, Target};
use crate::launch::{
    BEHIND_POINTER, BufferId, Launch, LaunchGraph, MemoryKind, NodeId, NodeKind, Operand,
};
use std::collections::BTreeSet;

/// Whether a launch may touch memory that the host can touch too, even where the program asks.
pub(in crate::schedule) fn may_see_host_memory(
    graph: &LaunchGraph,
    memory: &SharedMemory,
    options: &ScheduleOptions,
    moved: &Candidate,
) -> bool {
    memory.is_host_visible(moved.node)
        && !(options.asks_memory && pointers_to_ask(graph, moved.launch, moved.model).is_some())
}

/// What the program asks of a launch that moves past some nodes.
pub(in crate::schedule) fn questions(
    graph: &LaunchGraph,
    memory: &SharedMemory,
    moved: &Candidate,
    mut passed: impl Iterator<Item = NodeId>,
) -> BTreeSet<Guard> {
    // What may order others behind the launch, or is done by the host.
    let matters = |node: NodeId| {
        waiting::orders(graph, moved, node)
            || matches!(
                graph.nodes[node.0].kind,
                NodeKind::HostAccess { .. }
                    | NodeKind::Output { .. }
                    | NodeKind::Copy { .. }
                    | NodeKind::Library { .. }
            )
    };
    if !memory.is_host_visible(moved.node) || !passed.any(matters) {
        return BTreeSet::new();
    }
    let launch = moved.launch.id;
    let pointers = pointers_to_ask(graph, moved.launch, moved.model);
    let pointers = pointers.into_iter().flatten();
    pointers
        .map(|operand| Guard::DeviceMemory { launch, operand })
        .collect()
}

/// What the program asks of a launch that waits while the host touches its own memory. `None` where that does not tell.
pub(in crate::schedule) fn questions_of_waiting(
    graph: &LaunchGraph,
    memory: &SharedMemory,
    (node, launch): (NodeId, &Launch),
    model: &KernelModel,
) -> Option<Vec<Guard>> {
    if !memory.is_host_visible(node) {
        return Some(Vec::new());
    }
    let launch_id = launch.id;
    let ask = |operand| Guard::DeviceMemory {
        launch: launch_id,
        operand,
    };
    let pointers = pointers_to_ask(graph, launch, model)?;
    Some(pointers.into_iter().map(ask).collect())
}

/// The pointers through which a launch may touch memory of the host. `None` where it touches such memory in another way,
/// or surely.
fn pointers_to_ask(
    graph: &LaunchGraph,
    launch: &Launch,
    model: &KernelModel,
) -> Option<BTreeSet<Operand>> {
    if graph.operation_of(launch.id).is_some() {
        return None;
    }
    let mut pointers = BTreeSet::new();
    for access in &model.accesses {
        match &access.target {
            Target::Shared(_) | Target::UnknownShared => {}
            Target::Unknown => return None,
            Target::Global(name) => {
                let mut buffers = graph.buffers.iter();
                let is_device = buffers.any(|buffer| {
                    buffer.variable.as_ref() == Some(name) && buffer.memory != MemoryKind::Managed
                });
                is_device.then_some(())?;
            }
            Target::Argument {
                argument,
                offset_bytes,
            } => pointers.extend(pointer_to_ask(graph, launch, (*argument, *offset_bytes))?),
        }
    }
    Some(pointers)
}

/// The pointer at a place of an argument, unless it surely leads to memory of the device alone. `None` where it surely
/// does not, or is not among the arguments.
fn pointer_to_ask(
    graph: &LaunchGraph,
    launch: &Launch,
    (argument, offset_bytes): (usize, u32),
) -> Option<Option<Operand>> {
    let mut pieces = launch.arguments.get(argument)?.pieces.iter();
    let piece = pieces.find(|piece| piece.offset_bytes == offset_bytes)?;
    let pointer = piece.pointer.as_ref()?;
    if pointer.device_only {
        return Some(None);
    }
    let is_device = |buffer: &BufferId| {
        !matches!(
            graph.buffers[buffer.0].memory,
            MemoryKind::Managed | MemoryKind::Pinned
        )
    };
    let hopeless = pointer
        .may_point_to
        .as_ref()
        .is_some_and(|led| !led.iter().any(is_device));
    if hopeless || offset_bytes >= BEHIND_POINTER {
        return None;
    }
    Some(Some(Operand::Argument {
        argument,
        offset_bytes,
        bits: 64,
        signed: false,
    }))
}
