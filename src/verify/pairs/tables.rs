//! Pointers that kernels load from tables in memory of the device.
//!
//! A model may say of an access that its pointer stands so far behind an argument. Then whoever reads the model
//! takes that pointer for one value of the launch, which leads where the launch graph says; a test at run time takes it
//! from what the host has copied there. All of that is right if every byte of such a table is written by copies from memory of
//! the host alone, of which the graph has the pointers. Suppose that up to some operation of the run it was so. If
//! the operation is a launch, then it writes where pointers lead that the host passed or put into tables, so that what
//! the graph says of them can be used; if none of that is in a table, it holds for one operation more. Code that is
//! not analysed has no pointer into what does not escape, but for those that a kernel keeps somewhere.

use super::super::Refusal;
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{BEHIND_POINTER, BufferId, Launch, LaunchGraph, MemoryKind, NodeKind, Root};
use std::collections::BTreeSet;

/// What speaks against taking loaded pointers for what the host has put there.
pub(in crate::verify) fn refusals(graph: &LaunchGraph, kernels: &[KernelModel]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut tables: BTreeSet<BufferId> = BTreeSet::new();
    let mut loading = Vec::new();
    for node in &graph.nodes {
        let NodeKind::Launch(launch) = &node.kind else {
            continue;
        };
        for (argument, distance) in loads(kernels, launch) {
            let refuse = |what: &str| Refusal::TableChanges {
                launch: launch.id,
                argument,
                what: what.to_owned(),
            };
            match misread(graph, launch, argument, distance) {
                Some(what) => refusals.push(refuse(what)),
                None => {
                    let places = launch.pointer(argument, 0);
                    let own = places.and_then(|places| places.may_point_to.clone());
                    tables.extend(own.unwrap_or_default());
                    loading.push((launch.id, argument));
                }
            }
        }
    }
    if tables.is_empty() || !refusals.is_empty() {
        return refusals;
    }
    let is_written = |places: Option<&[BufferId]>| {
        places.is_none_or(|places| places.iter().any(|place| tables.contains(place)))
    };
    let writer = graph.nodes.iter().find_map(|node| {
        let written = match &node.kind {
            NodeKind::Launch(launch) => return writes(kernels, launch, &is_written),
            // The pointers that they bring are in the graph, where it is known where that is.
            NodeKind::Copy {
                writes,
                from_host: Some(_),
                ..
            } => writes
                .iter()
                .any(|touch| touch.pointer.may_point_to.is_none()),
            NodeKind::Copy { writes, .. } | NodeKind::Library { writes, .. } => writes
                .iter()
                .any(|touch| is_written(touch.pointer.may_point_to.as_deref())),
            NodeKind::Set { writes, .. } => is_written(writes.pointer.may_point_to.as_deref()),
            // A graph that runs in there writes what its launches write, which are seen where they are captured;
            // but tables may be others by then.
            NodeKind::Opaque { .. } => graph.capture.replays,
            NodeKind::HostAccess { .. }
            | NodeKind::MayThrow { .. }
            | NodeKind::Allocation { .. }
            | NodeKind::Free { .. }
            | NodeKind::Synchronise(_)
            | NodeKind::ErrorCheck
            | NodeKind::StreamOperation
            | NodeKind::Output { .. } => false,
        };
        written.then(|| format!("node {} may write some", node.id.0))
    });
    if let Some(what) = writer {
        refusals.extend(loading.into_iter().map(|(launch, argument)| {
            let what = what.clone();
            Refusal::TableChanges {
                launch,
                argument,
                what,
            }
        }));
    }
    refusals
}

/// The loads that the model of a launch takes for constants.
fn loads(kernels: &[KernelModel], launch: &Launch) -> BTreeSet<(usize, u32)> {
    let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
    let accesses = model.into_iter().flat_map(|model| &model.accesses);
    let targets = accesses.map(|access| &access.target);
    targets.filter_map(Target::behind_argument).collect()
}

/// Why a loaded pointer may be another one than the graph says.
fn misread(
    graph: &LaunchGraph,
    launch: &Launch,
    argument: usize,
    distance: u32,
) -> Option<&'static str> {
    let (Some(start), Some(loaded)) = (
        launch.pointer(argument, 0),
        launch.pointer_piece(argument, BEHIND_POINTER + distance),
    ) else {
        return Some("the launch does not tell any");
    };
    let Some(tables) = &start.may_point_to else {
        return Some("it is not known where it is");
    };
    let Some(loaded) = &loaded.pointer else {
        return Some("it is not known where they lead");
    };
    let Some(led) = &loaded.may_point_to else {
        return Some("it is not known where they lead");
    };
    let unknown = i128::MAX;
    let place = match (&start.root, &start.offset_bytes) {
        (Root::Buffer(buffer), Some(offset)) if graph.buffers[buffer.0].unique => offset
            .as_constant()
            .map_or(unknown, |offset| i128::from(offset) + i128::from(distance)),
        _ => unknown,
    };
    let mut met = 0;
    for table in tables {
        let Some(buffer) = graph.buffers.get(table.0) else {
            return Some("it is not known where it is");
        };
        if buffer.memory != MemoryKind::Device || buffer.escapes {
            return Some("others may write some");
        }
        let Some(cells) = &buffer.stored_pointers else {
            return Some("the host may bring others");
        };
        for cell in cells {
            let at = cell.at_bytes.map_or(unknown, i128::from);
            if at != unknown && place != unknown && (at - place).abs() >= 8 {
                continue;
            }
            met += 1;
            let Some(buffers) = &cell.may_point_to else {
                return Some("it is not known where they lead");
            };
            if buffers.iter().any(|buffer| !led.contains(buffer)) {
                return Some("the host brings others");
            }
            if let Root::Buffer(buffer) = &loaded.root {
                let offset = loaded
                    .offset_bytes
                    .as_ref()
                    .and_then(|offset| offset.as_constant());
                let is_it = at == place
                    && place != unknown
                    && buffers[..] == [*buffer]
                    && graph.buffers[buffer.0].unique
                    && offset.is_some()
                    && cell.offset_bytes == offset;
                if !is_it {
                    return Some("the host brings others");
                }
            }
        }
    }
    match &loaded.root {
        Root::Buffer(_) if met != 1 || tables.len() != 1 => Some("the host brings others"),
        _ => None,
    }
}

/// What a launch may write that is in a table.
fn writes(
    kernels: &[KernelModel],
    launch: &Launch,
    is_written: &impl Fn(Option<&[BufferId]>) -> bool,
) -> Option<String> {
    let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
    let Some(model) = model.filter(|model| model.opaque.is_empty()) else {
        return Some(format!("launch {} may write some", launch.id.0));
    };
    let led = |argument: usize, offset_bytes: u32| {
        let pointer = launch.pointer(argument, offset_bytes);
        is_written(pointer.and_then(|pointer| pointer.may_point_to.as_deref()))
    };
    let mut changed = model
        .accesses
        .iter()
        .filter(|access| access.kind != AccessKind::Read);
    let writes = changed.any(|access| match &access.target {
        Target::Argument {
            argument,
            offset_bytes,
        } => led(*argument, *offset_bytes),
        Target::Unknown => true,
        Target::Global(_) | Target::Shared(_) | Target::UnknownShared => false,
    });
    let mut formals = model.formals.iter().enumerate();
    let keeps = formals.any(|(argument, formal)| {
        let pieces = launch.arguments.get(argument).map(|known| &known.pieces);
        let mut pointers = pieces
            .into_iter()
            .flatten()
            .filter(|piece| piece.pointer.is_some());
        let told = pieces.is_some_and(|pieces| !pieces.is_empty());
        formal.captured && (!told || pointers.any(|piece| led(argument, piece.offset_bytes)))
    });
    (writes || keeps).then(|| format!("launch {} may write some", launch.id.0))
}
