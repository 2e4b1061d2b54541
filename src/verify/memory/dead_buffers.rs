//! Allocations that a plan calls dead.
//!
//! The program may be given no memory for one, until an original of a group's member needs it. So each
//! operation that may touch a byte of it must be such a member, of a group that calls it unread
//! afterwards (which `liveness` judges) and that waits for no batch, and the program may do nothing else with
//! its address than launch and free. Whether fused kernels still touch it is seen in their code.

use super::super::liveness::kept_by;
use super::super::place::{Place, Values};
use super::super::{Refusal, Sites};
use crate::kernel::{KernelModel, Target};
use crate::launch::{BufferId, Launch, LaunchGraph, LaunchId, MemoryKind, NodeId, NodeKind, Touch};
use crate::schedule::{FusionGroup, FusionPlan};
use std::collections::BTreeSet;

/// What speaks against the allocations that a plan calls dead.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    sites: &Sites<'_>,
    plan: &FusionPlan,
) -> Vec<Refusal> {
    if plan.dead_buffers.is_empty() {
        return Vec::new();
    }
    let touched: Vec<(NodeId, Vec<Place>)> = graph
        .nodes
        .iter()
        .map(|node| (node.id, touched_places(graph, kernels, node.id)))
        .collect();
    let kept: Option<Vec<BufferId>> = sites
        .values()
        .flatten()
        .map(|(_, launch)| kept_by(kernels, launch))
        .collect::<Option<Vec<_>>>()
        .map(|kept| kept.concat());
    let mut refusals = Vec::new();
    for buffer in &plan.dead_buffers {
        let refuse = |what: &str| Refusal::NotDead {
            buffer: *buffer,
            what: what.to_owned(),
        };
        let Some(facts) = graph.buffers.get(buffer.0) else {
            refusals.push(refuse("is not in the graph"));
            continue;
        };
        if facts.memory != MemoryKind::Device || facts.variable.is_some() || facts.escapes {
            refusals.push(refuse("is known to code that is not analysed"));
            continue;
        }
        if facts.plain_call.is_none() {
            refusals.push(refuse("is asked about, or made by a call of another kind"));
            continue;
        }
        if kept.as_ref().is_none_or(|kept| kept.contains(buffer)) {
            refusals.push(refuse("has an address that a kernel keeps"));
            continue;
        }
        let in_vain = in_vain(plan, *buffer);
        for (node, places) in &touched {
            if let NodeKind::Launch(launch) = &graph.nodes[node.0].kind
                && in_vain.contains(&launch.id)
            {
                continue;
            }
            let may_touch = |place: &Place| match place.candidates() {
                Some(buffers) => buffers.contains(buffer),
                None => !place.is_own_variable(),
            };
            if places.iter().any(may_touch) {
                refusals.push(refuse(&format!("may be touched by node {}", node.0)));
                break;
            }
        }
    }
    refusals
}

/// The launches whose groups call the buffer unread.
fn in_vain(plan: &FusionPlan, buffer: BufferId) -> BTreeSet<LaunchId> {
    let waits = |group: &FusionGroup| {
        let of_batches = plan
            .batched_regions
            .iter()
            .flat_map(|region| &region.statements);
        let mut of_batches = of_batches.map(|statement| statement.launch);
        of_batches.any(|launch| group.members.iter().any(|member| member.launch == launch))
    };
    let groups = plan.groups.iter();
    groups
        .filter(|group| group.unread_afterwards.contains(&buffer) && !waits(group))
        .flat_map(|group| group.members.iter().map(|member| member.launch))
        .collect()
}

/// The places on the device that a node may read or write.
fn touched_places(graph: &LaunchGraph, kernels: &[KernelModel], node: NodeId) -> Vec<Place> {
    let values = Values::constants(graph);
    let of_touches = |touches: &[&[Touch]]| {
        let touches = touches.iter().copied().flatten();
        let places = touches.map(|touch| Place::of_pointer(graph, &values, &touch.pointer));
        places.collect()
    };
    match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => launch_places(graph, kernels, &values, launch),
        NodeKind::Copy { reads, writes, .. } | NodeKind::Library { reads, writes, .. } => {
            of_touches(&[reads, writes])
        }
        NodeKind::Set { writes, .. } => of_touches(&[std::slice::from_ref(writes)]),
        // A launch that was captured runs in there.
        NodeKind::Opaque { .. } if graph.capture.replays => vec![Place::default()],
        // Nothing else has a way to device memory whose address does not escape.
        NodeKind::Allocation { .. }
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

fn launch_places(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    values: &Values<'_>,
    launch: &Launch,
) -> Vec<Place> {
    let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
    let Some(model) = model.filter(|model| model.opaque.is_empty()) else {
        return vec![Place::default()];
    };
    let mut targets: Vec<&Target> = Vec::new();
    for access in &model.accesses {
        let on_chip = matches!(access.target, Target::Shared(_) | Target::UnknownShared);
        if !on_chip && !targets.contains(&&access.target) {
            targets.push(&access.target);
        }
    }
    targets
        .into_iter()
        .map(|target| Place::of_target(graph, values, launch, target))
        .collect()
}
