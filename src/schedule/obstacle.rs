//! What keeps a launch from moving below an operation, and a launch from being fused at all.

use super::ScheduleOptions;
use super::asked_memory::may_see_host_memory;
use crate::dependence::{Guard, SharedMemory, barrier_conditions};
use crate::diagnostics::{Location, Rejection, RejectionReason, source_name};
use crate::kernel::{AccessKind, Barrier, KernelModel, Target};
use crate::launch::{BufferId, Launch, LaunchGraph, MemoryKind, NodeId, NodeKind, Stream};
use crate::program::OperationKind;
use std::collections::BTreeSet;

/// A launch with a modelled kernel.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) node: NodeId,
    pub(super) launch: &'a Launch,
    pub(super) model: &'a KernelModel,
}

/// The launch at a node, when it could take part in a group by itself.
pub(super) fn candidate<'a>(
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    node: NodeId,
) -> Result<Candidate<'a>, Rejection> {
    let place = &graph.nodes[node.0];
    let NodeKind::Launch(launch) = &place.kind else {
        return Err(rejection(
            RejectionReason::Fence,
            String::from("this is not a launch"),
            &place.location,
        ));
    };
    let Some(model) = launch.kernel.and_then(|kernel| kernels.get(kernel.0)) else {
        return Err(rejection(
            RejectionReason::OpaqueKernel,
            String::from("it is not known which kernel this launch runs"),
            &place.location,
        ));
    };
    if let Some((clause, location)) = model.opaque.first() {
        let message = format!("`{}` {clause}", model.display_name);
        return Err(rejection(RejectionReason::OpaqueKernel, message, location));
    }
    if let Some((reason, location)) = model.unfusable.first() {
        let message = format!("`{}` {reason}", model.display_name);
        return Err(rejection(RejectionReason::Unfusable, message, location));
    }
    if launch.special {
        let message = format!(
            "`{}` is launched cooperatively or with attributes that are not modelled",
            model.display_name
        );
        return Err(rejection(
            RejectionReason::OpaqueKernel,
            message,
            &place.location,
        ));
    }
    if launch.stream == Stream::Unknown {
        let message = format!(
            "it is not known on which stream `{}` is launched",
            model.display_name
        );
        return Err(rejection(RejectionReason::Stream, message, &place.location));
    }
    let diverges = |barrier: &&Barrier| {
        hangs_on_launch(graph, launch, model, barrier)
            && barrier_conditions(graph, launch, barrier).is_none()
    };
    if let Some(barrier) = model.waits().find(diverges) {
        let what = waited_at(model, barrier);
        let message = format!("`{}` has {what}", model.display_name);
        return Err(rejection(
            RejectionReason::DivergentBarrier,
            message,
            &barrier.location,
        ));
    }
    if never_runs(graph, launch, model) {
        let message = format!(
            "`{}` is launched with a grid or block that CUDA does not run",
            model.display_name
        );
        return Err(rejection(
            RejectionReason::Resources,
            message,
            &place.location,
        ));
    }
    Ok(Candidate {
        node,
        launch,
        model,
    })
}

/// What becomes a node of a graph is one kernel without any state beside it.
///
/// # Errors
/// Where it does.
pub(super) fn refuse_node(graph: &LaunchGraph, node: NodeId) -> Result<(), Rejection> {
    if !graph.becomes_node(node) {
        return Ok(());
    }
    let message = String::from("it is a node of a graph, which nothing is launched beside");
    let location = &graph.nodes[node.0].location;
    Err(rejection(RejectionReason::ControlFlow, message, location))
}

/// Whether a launch has a grid or a block that CUDA runs nothing of, as far as that is known.
pub(super) fn never_runs(graph: &LaunchGraph, launch: &Launch, model: &KernelModel) -> bool {
    let constants = |values: &[crate::launch::ValueId; 3]| {
        values.map(|value| {
            graph.values[value.0]
                .constant
                .map(|extent| extent & 0xffff_ffff)
        })
    };
    let (grid, block) = (constants(&launch.grid), constants(&launch.block));
    let outside = grid
        .iter()
        .zip([2_147_483_647, 65_535, 65_535])
        .chain(block.iter().zip([1024, 1024, 64]))
        .any(|(extent, limit)| extent.is_some_and(|extent| !(1..=limit).contains(&extent)));
    let threads: Option<i64> = block.iter().copied().product();
    let limit = model
        .max_threads
        .map_or(1024, |limit| i64::from(limit).min(1024));
    outside || threads.is_some_and(|threads| threads > limit)
}

/// Where threads may wait for others that do not come.
pub(super) fn waited_at(model: &KernelModel, barrier: &Barrier) -> &'static str {
    match model.missed_by_lanes.contains(barrier) {
        true => "an operation of a warp, by a mask that may name lanes which have returned",
        false => "a `__syncthreads()` that some threads of a block may not reach",
    }
}

/// Whether it hangs on the launch that a block reaches a barrier as one.
pub(super) fn hangs_on_launch(
    graph: &LaunchGraph,
    launch: &Launch,
    model: &KernelModel,
    barrier: &Barrier,
) -> bool {
    !barrier.uniform && !holds(graph, launch, model, barrier)
}

/// What a launch must satisfy so that its blocks reach their barriers as one, where that is known for all of them.
pub(super) fn barriers_reached(
    graph: &LaunchGraph,
    launch: &Launch,
    model: &KernelModel,
) -> Vec<Guard> {
    let mut guards = Vec::new();
    let hanging = model.waits();
    for barrier in hanging.filter(|barrier| hangs_on_launch(graph, launch, model, barrier)) {
        let conditions = barrier_conditions(graph, launch, barrier);
        for guard in conditions.into_iter().flatten() {
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
    }
    guards
}

/// Whether a launch leaves alone all memory on which it hangs that a block reaches a barrier as one.
fn holds(graph: &LaunchGraph, launch: &Launch, model: &KernelModel, barrier: &Barrier) -> bool {
    let places = |target: &Target| match target {
        Target::Argument {
            argument,
            offset_bytes,
        } => launch
            .pointer(*argument, *offset_bytes)?
            .may_point_to
            .as_deref(),
        _ => None,
    };
    let mut relied_on: BTreeSet<BufferId> = BTreeSet::new();
    for target in &barrier.uniform_while_unwritten {
        let Some(buffers) = places(target) else {
            return false;
        };
        relied_on.extend(buffers);
    }
    // Pinned memory is where the host talks to kernels that run.
    let memory = |buffer: &BufferId| graph.buffers[buffer.0].memory;
    if relied_on.is_empty()
        || relied_on
            .iter()
            .any(|each| memory(each) == MemoryKind::Pinned)
    {
        return false;
    }
    let is_variable = |buffer: &BufferId| memory(buffer) != MemoryKind::Device;
    let mut written = model.accesses.iter();
    !written.any(|access| {
        access.kind != AccessKind::Read
            && match &access.target {
                Target::Shared(_) | Target::UnknownShared => false,
                // Which variable a buffer is does not matter.
                Target::Global(_) => relied_on.iter().any(is_variable),
                Target::Unknown => true,
                target @ Target::Argument { .. } => places(target)
                    .is_none_or(|buffers| buffers.iter().any(|each| relied_on.contains(each))),
            }
    })
}

/// The launch at a node with its kernel, whether or not it could take part in a group.
pub(super) fn modelled<'a>(
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    node: NodeId,
) -> Option<Candidate<'a>> {
    let NodeKind::Launch(launch) = &graph.nodes[node.0].kind else {
        return None;
    };
    let model = kernels.get(launch.kernel?.0)?;
    Some(Candidate {
        node,
        launch,
        model,
    })
}

/// Why the launch cannot move below `node`, if it cannot.
pub(super) fn obstacle(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    memory: &SharedMemory,
    options: &ScheduleOptions,
    moved: &Candidate,
    node: NodeId,
) -> Option<Rejection> {
    let place = &graph.nodes[node.0];
    let name = &moved.model.display_name;
    let prints = moved.model.prints;
    let blocked = |reason, message: String| Some(rejection(reason, message, &place.location));
    let keeps = options.keep_synchronisations;
    let sees_host_memory = || may_see_host_memory(graph, memory, options, moved);
    match &place.kind {
        NodeKind::Launch(other) => {
            let model = other.kernel.and_then(|kernel| kernels.get(kernel.0));
            let Some(model) = model.filter(|model| model.opaque.is_empty()) else {
                return blocked(
                    RejectionReason::OpaqueKernel,
                    format!("a kernel that is not modelled runs after `{name}`"),
                );
            };
            if prints && model.prints {
                return blocked(
                    RejectionReason::HostAccess,
                    format!("`{name}` and `{}` both print", model.display_name),
                );
            }
            if memory.may_conflict_in_step(moved.node, node) {
                if let Some(operation) = graph.operation_of(other.id) {
                    let what = match operation.kind {
                        OperationKind::Set => "fill",
                        OperationKind::Copy => "copy",
                    };
                    return blocked(
                        RejectionReason::CopyBetween,
                        format!("a {what} in between touches memory that `{name}` touches"),
                    );
                }
                return blocked(
                    RejectionReason::NotConvex,
                    format!(
                        "`{}` runs in between and touches memory that `{name}` touches",
                        model.display_name
                    ),
                );
            }
            None
        }
        NodeKind::Copy { host_side, .. } => {
            if memory.may_conflict(moved.node, node) {
                return blocked(
                    RejectionReason::CopyBetween,
                    format!("a copy in between touches memory that `{name}` touches"),
                );
            }
            if *host_side && sees_host_memory() {
                return blocked(
                    RejectionReason::HostAccess,
                    format!(
                        "a copy in between uses host memory, and `{name}` may touch memory that \
                         the host sees"
                    ),
                );
            }
            if *host_side && prints {
                return blocked(
                    RejectionReason::HostAccess,
                    format!("`{name}` prints, and a copy in between waits for it"),
                );
            }
            if *host_side && keeps {
                return blocked(
                    RejectionReason::Fence,
                    String::from(
                        "a copy in between waits for the device, and synchronisations are kept",
                    ),
                );
            }
            None
        }
        NodeKind::Library {
            host_side, what, ..
        } => {
            if memory.may_conflict(moved.node, node) {
                return blocked(
                    RejectionReason::NotConvex,
                    format!("`{what}` runs in between and touches memory that `{name}` touches"),
                );
            }
            if *host_side && (prints || sees_host_memory()) {
                return blocked(
                    RejectionReason::HostAccess,
                    format!("the host waits for `{what}` in between"),
                );
            }
            if *host_side && keeps {
                return blocked(
                    RejectionReason::Fence,
                    format!("the host waits for `{what}`, and synchronisations are kept"),
                );
            }
            None
        }
        NodeKind::Set { .. } => {
            if memory.may_conflict(moved.node, node) {
                return blocked(
                    RejectionReason::CopyBetween,
                    format!("a fill in between touches memory that `{name}` touches"),
                );
            }
            None
        }
        NodeKind::Synchronise(_) if prints => blocked(
            RejectionReason::HostAccess,
            format!("`{name}` prints, and the host waits for it before the next launch"),
        ),
        NodeKind::Synchronise(_) if keeps => blocked(
            RejectionReason::Fence,
            String::from("the host synchronises in between, and synchronisations are kept"),
        ),
        NodeKind::Synchronise(_) | NodeKind::ErrorCheck | NodeKind::Allocation { .. } => None,
        NodeKind::Free { pointer: None } => blocked(
            RejectionReason::Fence,
            String::from("memory is freed in between, and it is not known which"),
        ),
        NodeKind::Free { .. } if memory.may_conflict(moved.node, node) => blocked(
            RejectionReason::Fence,
            format!("memory that `{name}` may touch is freed in between"),
        ),
        NodeKind::Free { .. } if prints => blocked(
            RejectionReason::HostAccess,
            format!("`{name}` prints, and a free, which waits for it, stands in between"),
        ),
        NodeKind::Free { .. } if keeps => blocked(
            RejectionReason::Fence,
            String::from("memory is freed in between, and synchronisations are kept"),
        ),
        NodeKind::Free { .. } => None,
        NodeKind::StreamOperation => blocked(
            RejectionReason::Fence,
            String::from(
                "a stream or event operation stands in between, such as one that ends a phase that is timed",
            ),
        ),
        NodeKind::HostAccess { ordered: false } if !prints && !sees_host_memory() => None,
        NodeKind::HostAccess { .. } => blocked(
            RejectionReason::HostAccess,
            String::from("the host touches memory in between that kernels may see"),
        ),
        NodeKind::Output { what } if prints || sees_host_memory() => blocked(
            RejectionReason::HostAccess,
            format!(
                "the host calls `{}` in between, and `{name}` {}",
                source_name(what),
                if prints {
                    "prints, too"
                } else {
                    "may touch memory that the host sees"
                }
            ),
        ),
        NodeKind::Output { .. } => None,
        // Where it is left, what pends is issued.
        NodeKind::MayThrow { .. } => None,
        NodeKind::Opaque { what } => {
            if is_clock(what) {
                return blocked(
                    RejectionReason::Fence,
                    format!(
                        "they are separate timed phases: the host reads the time (`{}`) in between",
                        short_name(what)
                    ),
                );
            }
            if is_output(what) {
                return blocked(
                    RejectionReason::HostAccess,
                    format!("the host calls `{}` in between", source_name(what)),
                );
            }
            blocked(
                RejectionReason::Fence,
                format!("{} in between, and what it does is not known", event(what)),
            )
        }
    }
}

/// What stands in between where the host calls something: a name, or what stands for one.
fn event(what: &str) -> String {
    match what.starts_with("a ") {
        true => format!("{what} stands"),
        false => format!("`{}` is called", source_name(what)),
    }
}

pub(super) fn rejection(
    reason: RejectionReason,
    message: String,
    location: &Location,
) -> Rejection {
    Rejection {
        reason,
        message,
        detail: String::new(),
        location: location.clone(),
    }
}

/// A function's name without its parameters.
fn short_name(called: &str) -> String {
    let name = source_name(called);
    name.split('(').next().unwrap_or(&name).to_owned()
}

/// Functions that tell the time; they only choose the words in a report.
fn is_clock(called: &str) -> bool {
    let plain = [
        "clock",
        "clock_gettime",
        "gettimeofday",
        "time",
        "ftime",
        "timespec_get",
        "times",
        "getrusage",
        "omp_get_wtime",
        "MPI_Wtime",
        "__rdtsc",
    ];
    plain.contains(&called) || source_name(called).contains("_clock::now")
}

/// Input and output functions of the C and C++ libraries; they only choose the word in a report.
pub(super) fn is_output(called: &str) -> bool {
    let name = called.split(['(', ' ']).next().unwrap_or(called);
    let plain = [
        "printf", "fprintf", "vprintf", "vfprintf", "puts", "fputs", "putchar", "fputc", "putc",
        "fwrite", "fread", "fflush", "fopen", "fclose", "fgets", "scanf", "fscanf", "perror",
    ];
    plain.contains(&name)
        || name.contains("ostream")
        || name.contains("istream")
        || name.starts_with("_ZNSo")
        || name.starts_with("_ZSt4endl")
        || name.starts_with("_ZStls")
}
