//! Whether all threads of a block reach a barrier together.
//!
//! A model proves it of a barrier, or says which pointers it hangs on: then all threads of a block load the same from
//! there, one by one, if every byte that these may lead to stays what it is for as long as the launch runs. Only the
//! launch itself is asked whether it writes there. What else writes at the same time is in a race with its loads, and
//! the members of a group that write there are ordered before all of these loads or after them, as in the program.

use crate::kernel::{Access, AccessKind, Barrier, KernelModel, Target};
use crate::launch::{BufferId, Launch, LaunchGraph, MemoryKind};

/// Whether all threads of a block reach a barrier together in a launch.
pub(in crate::verify) fn reached_by_all(
    graph: &LaunchGraph,
    launch: &Launch,
    model: &KernelModel,
    barrier: &Barrier,
) -> bool {
    let steady = |target: &Target| {
        let Some(buffers) = led_to(launch, target) else {
            return false;
        };
        // The host may change pinned memory under a kernel.
        let known = buffers.iter().all(|buffer| {
            let buffer = graph.buffers.get(buffer.0);
            buffer.is_some_and(|buffer| buffer.memory != MemoryKind::Pinned)
        });
        let mut accesses = model.accesses.iter();
        known && !accesses.any(|access| may_change(graph, launch, access, buffers))
    };
    let targets = &barrier.uniform_while_unwritten;
    barrier.uniform || (!targets.is_empty() && targets.iter().all(steady))
}

/// The allocations and variables that a pointer of the launch may lead to, where that is known.
fn led_to<'a>(launch: &'a Launch, target: &Target) -> Option<&'a [BufferId]> {
    let Target::Argument {
        argument,
        offset_bytes,
    } = target
    else {
        return None;
    };
    let pointer = launch.pointer(*argument, *offset_bytes)?;
    pointer.may_point_to.as_deref()
}

/// Whether an access may write to one of some allocations.
fn may_change(graph: &LaunchGraph, launch: &Launch, access: &Access, buffers: &[BufferId]) -> bool {
    if access.kind == AccessKind::Read {
        return false;
    }
    match &access.target {
        Target::Shared(_) | Target::UnknownShared => false,
        Target::Unknown => true,
        // Device memory that the host allocates is no variable.
        Target::Global(_) => buffers
            .iter()
            .any(|buffer| graph.buffers[buffer.0].memory != MemoryKind::Device),
        target @ Target::Argument { .. } => match led_to(launch, target) {
            Some(own) => own.iter().any(|buffer| buffers.contains(buffer)),
            None => true,
        },
    }
}
