//! Allocations that a plan calls unread after a group.
//!
//! Stores to one may be left out of the fused kernel where no load of the kernel needs them, so
//! nothing else may: every operation that may run later and may read a byte of the allocation
//! speaks against it. Where the group can run again, its own originals are such operations, as soon
//! as one run may take them and another the fused kernel; then all that guards compare must be the
//! same in every run.

use super::super::host_order::reachable;
use super::super::place::{Place, Values};
use super::super::{Refusal, Site};
use crate::dependence::{Guard, PointerRange};
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{
    BufferId, Launch, LaunchGraph, MemoryKind, NodeId, NodeKind, Operand, ValueId,
};
use crate::schedule::FusionGroup;
use std::collections::{BTreeMap, BTreeSet};

/// Who reads which allocation.
#[derive(Default)]
pub(in crate::verify) struct Readers {
    of: BTreeMap<BufferId, Vec<NodeId>>,
    of_anything: Vec<NodeId>,
    /// Allocations to which some kernel may keep a pointer in memory; `None`: to any.
    kept: Option<BTreeSet<BufferId>>,
}

impl Readers {
    /// Looks at all operations.
    pub(in crate::verify) fn new(graph: &LaunchGraph, kernels: &[KernelModel]) -> Self {
        let values = Values::constants(graph);
        let mut readers = Self {
            kept: Some(BTreeSet::new()),
            ..Self::default()
        };
        for node in &graph.nodes {
            for place in read_places(graph, kernels, &values, node.id) {
                match place.candidates() {
                    None if place.is_own_variable() => {}
                    None => readers.of_anything.push(node.id),
                    Some(buffers) => {
                        for buffer in buffers {
                            readers.of.entry(*buffer).or_default().push(node.id);
                        }
                    }
                }
            }
            if let NodeKind::Launch(launch) = &node.kind {
                match (kept_by(kernels, launch), &mut readers.kept) {
                    (Some(more), Some(kept)) => kept.extend(more),
                    _ => readers.kept = None,
                }
            }
        }
        readers
    }
}

/// What speaks against the allocations that a group calls unread.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    readers: &Readers,
    group: &FusionGroup,
    members: &[Site<'_>],
) -> Vec<Refusal> {
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        return Vec::new();
    };
    let refuse = |buffer: BufferId, what: &str| Refusal::StillRead {
        launch: last.launch.id,
        buffer,
        what: what.to_string(),
    };
    let mut refusals = Vec::new();
    for buffer in &group.unread_afterwards {
        let Some(facts) = graph.buffers.get(buffer.0) else {
            refusals.push(refuse(*buffer, "nothing, it is not in the graph"));
            continue;
        };
        if facts.memory != MemoryKind::Device || facts.escapes || facts.variable.is_some() {
            refusals.push(refuse(*buffer, "code that is not analysed"));
            continue;
        }
        if readers
            .kept
            .as_ref()
            .is_none_or(|kept| kept.contains(buffer))
        {
            refusals.push(refuse(*buffer, "who finds a pointer that a kernel keeps"));
            continue;
        }
        let home = graph.nodes[last.node.0].block;
        let repeats = graph.functions[graph.blocks[home.0].function].repeated
            || reachable(graph, home, None).contains(&home);
        if repeats && !decides_the_same(graph, group, members) {
            refusals.push(refuse(*buffer, "its own originals, in another run"));
            continue;
        }
        let named = readers.of.get(buffer).into_iter().flatten();
        let reader = named.chain(&readers.of_anything).find(|node| {
            members.iter().all(|member| member.node != **node)
                && (repeats || comes_after(graph, first.node, **node))
        });
        if let Some(reader) = reader {
            let what = format!("node {}", reader.0);
            refusals.push(refuse(*buffer, &what));
        }
    }
    refusals
}

/// The allocations to which a launch passes a pointer that its kernel may store; `None`: any.
pub(in crate::verify) fn kept_by(
    kernels: &[KernelModel],
    launch: &Launch,
) -> Option<Vec<BufferId>> {
    let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
    let mut kept = Vec::new();
    for (index, known) in launch.arguments.iter().enumerate() {
        let formal = model.and_then(|model| model.formals.get(index));
        if formal.is_some_and(|formal| !formal.captured) {
            continue;
        }
        if known.pieces.is_empty() {
            return None;
        }
        for pointer in known
            .pieces
            .iter()
            .filter_map(|piece| piece.pointer.as_ref())
        {
            kept.extend(pointer.may_point_to.as_ref()?);
        }
    }
    Some(kept)
}

/// The places that a node may read on the device.
fn read_places(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    values: &Values,
    node: NodeId,
) -> Vec<Place> {
    match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => launch_reads(graph, kernels, values, launch),
        NodeKind::Copy { reads, .. } | NodeKind::Library { reads, .. } => reads
            .iter()
            .map(|read| Place::of_pointer(graph, values, &read.pointer))
            .collect(),
        // A captured launch that a graph runs.
        NodeKind::Opaque { .. } if graph.capture.replays => vec![Place::default()],
        // Fills and frees read nothing, and the host cannot read device memory; unknown code has
        // no pointer to an allocation that does not escape.
        NodeKind::Set { .. }
        | NodeKind::Allocation { .. }
        | NodeKind::Free { .. }
        | NodeKind::Synchronise(_)
        | NodeKind::ErrorCheck
        | NodeKind::Output { .. }
        | NodeKind::StreamOperation
        | NodeKind::HostAccess { .. }
        | NodeKind::MayThrow { .. }
        | NodeKind::Opaque { .. } => Vec::new(),
    }
}

fn launch_reads(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    values: &Values,
    launch: &Launch,
) -> Vec<Place> {
    let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
    match model.filter(|model| model.opaque.is_empty()) {
        // Anywhere.
        None => vec![Place::default()],
        Some(model) => {
            let mut targets: Vec<&Target> = Vec::new();
            for access in &model.accesses {
                let on_chip = matches!(access.target, Target::Shared(_) | Target::UnknownShared);
                let reads = access.kind != AccessKind::Write;
                if reads && !on_chip && !targets.contains(&&access.target) {
                    targets.push(&access.target);
                }
            }
            targets
                .into_iter()
                .map(|target| Place::of_target(graph, values, launch, target))
                .collect()
        }
    }
}

/// Whether a node may run after the first member has, in a function that runs once.
pub(in crate::verify) fn comes_after(graph: &LaunchGraph, first: NodeId, node: NodeId) -> bool {
    let (from, to) = (graph.nodes[first.0].block, graph.nodes[node.0].block);
    if graph.blocks[from.0].function != graph.blocks[to.0].function {
        return true;
    }
    let place = |id: NodeId| {
        let nodes = &graph.blocks[from.0].nodes;
        nodes.iter().position(|probe| *probe == id)
    };
    reachable(graph, from, None).contains(&to) || (from == to && place(first) < place(node))
}

/// Whether all that the guards compare is computed once in the run of the program.
fn decides_the_same(graph: &LaunchGraph, group: &FusionGroup, members: &[Site<'_>]) -> bool {
    let home = graph.nodes[members[0].node.0].block;
    if graph.functions[graph.blocks[home.0].function].repeated {
        return false;
    }
    let mut compared: BTreeSet<Option<ValueId>> = BTreeSet::new();
    for Site { launch, .. } in members {
        compared.extend(launch.grid.map(Some));
        compared.extend(launch.block.map(Some));
        // The limit of dynamic shared memory is an attribute that the host can change.
        if graph.values[launch.shared_bytes.0].constant != Some(0) {
            return false;
        }
    }
    let mut expressions = Vec::new();
    for guard in &group.guards {
        match guard {
            Guard::ConfigurationValid { .. } => {}
            Guard::NotCapturing { .. }
            | Guard::DeviceMemory { .. }
            | Guard::Resident { .. }
            | Guard::SameStream { .. } => return false,
            Guard::Holds { condition, .. } => {
                condition.substitute(&mut |value| {
                    compared.insert(Some(*value));
                    Some(crate::math::expression::Expression::Leaf(*value))
                });
            }
            Guard::RangesDisjoint { left, right } | Guard::SameOrDisjoint { left, right } => {
                for range in [left, right] {
                    compared.insert(passed_pointer(members, range));
                    expressions.extend([&range.low_bytes, &range.high_bytes]);
                }
            }
        }
    }
    for expression in expressions {
        expression.substitute(&mut |value| {
            compared.insert(Some(*value));
            Some(crate::math::expression::Expression::Leaf(*value))
        });
    }
    compared.iter().all(|value| {
        value.is_some_and(|value| {
            graph
                .values
                .get(value.0)
                .is_some_and(|value| value.varies_in.is_none())
        })
    })
}

fn passed_pointer(members: &[Site<'_>], range: &PointerRange) -> Option<ValueId> {
    let member = members.iter().find(|site| site.launch.id == range.launch)?;
    match range.operand {
        Operand::Argument {
            argument,
            offset_bytes,
            ..
        } => member
            .launch
            .arguments
            .get(argument)?
            .pieces
            .iter()
            .find(|piece| piece.offset_bytes == offset_bytes)
            .map(|piece| piece.value),
        _ => None,
    }
}
