//! Waits that a moved launch passes: nobody may rely on them.
//!
//! A moved launch is issued at its group's place, or where control leaves the way there. From
//! there on, up to a wait for the whole device, whatever is not in its own stream runs beside it.

use super::super::Refusal;
use super::super::Site;
use super::super::host::{Host, reaches_host_memory, stream_of};
use crate::launch::{Awaited, HostBlockId, LaunchGraph, NodeId, NodeKind, Stream};
use crate::schedule::FusionGroup;
use std::collections::BTreeSet;

/// What speaks against a launch at the place of `last`, when it passed `between`. Behind each awaited copy of the
/// group the host waits for the stream of that copy, whatever becomes of it.
pub(in crate::verify) fn waits_passed(
    host: &Host<'_>,
    member: &Site<'_>,
    group: &FusionGroup,
    last: NodeId,
    between: &[NodeId],
) -> Option<Refusal> {
    let (graph, several_streams, one_queue) = (host.graph, host.several_streams, host.one_queue);
    let awaited = &group.awaited_copies;
    let own = member.launch.stream;
    let foreign =
        |node: &NodeId| stream_of(&graph.nodes[node.0]).is_some_and(|stream| stream != own);
    if !between.iter().any(|node| may_order(host, member, *node)) {
        return None;
    }
    let visible = reaches_host_memory(graph, member, &group.guards);
    let observes = |node: NodeId| match &graph.nodes[node.0].kind {
        NodeKind::Launch(_) | NodeKind::Set { .. } => {
            foreign(&node) && host.touch_common_memory(member.node, node)
        }
        NodeKind::Copy { host_side, .. } | NodeKind::Library { host_side, .. } => {
            foreign(&node) && (visible && *host_side || host.touch_common_memory(member.node, node))
        }
        NodeKind::Free { .. } => several_streams && host.touch_common_memory(member.node, node),
        NodeKind::HostAccess { .. } | NodeKind::Output { .. } => visible,
        NodeKind::MayThrow { .. } => visible || several_streams,
        NodeKind::Opaque { what } => visible || !is_library(what),
        NodeKind::Synchronise(_)
        | NodeKind::Allocation { .. }
        | NodeKind::ErrorCheck
        | NodeKind::StreamOperation => false,
    };
    let refusal = |node: NodeId| Refusal::PassesWait {
        launch: member.launch.id,
        node,
        what: match &graph.nodes[node.0].kind {
            NodeKind::MayThrow { what } | NodeKind::Opaque { what } => what.clone(),
            NodeKind::Launch(_) => "a launch".to_string(),
            _ => "an operation".to_string(),
        },
    };

    // An exception between the members leaves to who may go on to look.
    let throws = |node: &&NodeId| matches!(graph.nodes[node.0].kind, NodeKind::MayThrow { .. });
    if let Some(node) = between.iter().find(throws).filter(|node| observes(**node)) {
        return Some(refusal(*node));
    }

    // Every block in which the launch has been issued, and no wait since.
    let (first_block, last_block) = (graph.nodes[member.node.0].block, graph.nodes[last.0].block);
    let waiting = host
        .order
        .blocks_on_the_way(first_block, last_block, &group.issued_before);
    let mut running: BTreeSet<HostBlockId> = BTreeSet::new();
    let mut pending = Vec::new();
    let rest = graph.blocks[last_block.0].nodes.iter().copied();
    let rest: Vec<_> = rest.skip_while(|node| *node != last).skip(1).collect();
    pending.push((last_block, rest));
    for block in &waiting {
        for next in &graph.blocks[block.0].successors {
            if *next != last_block && !waiting.contains(next) && running.insert(*next) {
                pending.push((*next, graph.blocks[next.0].nodes.clone()));
            }
        }
    }
    while let Some((block, nodes)) = pending.pop() {
        let is_wait = |node: &NodeId| match &graph.nodes[node.0].kind {
            NodeKind::Synchronise(waited) => one_queue || includes(graph, *waited, own),
            NodeKind::Copy { stream, .. } if awaited.contains(node) => {
                one_queue || includes(graph, Awaited::Stream(*stream), own)
            }
            _ => false,
        };
        let until = nodes.iter().position(is_wait);
        let unsettled = &nodes[..until.unwrap_or(nodes.len())];
        if let Some(node) = unsettled.iter().copied().find(|node| observes(*node)) {
            return Some(refusal(node));
        }
        if until.is_some() {
            continue;
        }
        let here = &graph.blocks[block.0];
        let to_caller = here.successors.is_empty() && graph.functions[here.function].repeated;
        if to_caller && (visible || several_streams) {
            return Some(refusal(last));
        }
        for next in &here.successors {
            if running.insert(*next) {
                pending.push((*next, graph.blocks[next.0].nodes.clone()));
            }
        }
    }
    None
}

/// Whether a node is a call that can be made to wait for its stream, if it is not done by then anyway.
pub(in crate::verify) fn can_be_awaited(graph: &LaunchGraph, node: NodeId) -> bool {
    let kind = graph.nodes.get(node.0).map(|node| &node.kind);
    matches!(
        kind,
        Some(NodeKind::Copy {
            awaited_call: Some(_),
            ..
        })
    )
}

/// Whether the host or another stream may wait for a launch by way of a node behind it.
pub(in crate::verify) fn may_order(host: &Host<'_>, member: &Site<'_>, node: NodeId) -> bool {
    let node = &host.graph.nodes[node.0];
    stream_of(node).is_some_and(|stream| stream != member.launch.stream)
        || match &node.kind {
            NodeKind::Synchronise(_) | NodeKind::Allocation { .. } | NodeKind::Free { .. } => true,
            NodeKind::Copy { host_side, .. } | NodeKind::Library { host_side, .. } => *host_side,
            _ => false,
        }
}

/// Whether all work of a stream is done after a wait, whichever iteration of a loop that stands in.
fn includes(graph: &LaunchGraph, awaited: Awaited, stream: Stream) -> bool {
    match (awaited, stream) {
        (Awaited::Device, _) | (Awaited::Stream(Stream::Default), Stream::Default) => true,
        (Awaited::Stream(Stream::Handle(one)), Stream::Handle(other)) => {
            one == other && graph.values[one.0].varies_in.is_none()
        }
        _ => false,
    }
}

/// Files, input, clocks and the end of the program: they know nothing of the device.
fn is_library(called: &str) -> bool {
    const NAMES: [&str; 14] = [
        "fopen",
        "fclose",
        "fwrite",
        "fread",
        "fgets",
        "scanf",
        "fscanf",
        "exit",
        "_exit",
        "abort",
        "clock",
        "clock_gettime",
        "gettimeofday",
        "time",
    ];
    // Members of `std::ostream` and `std::istream`, of files, and clocks.
    const STARTS: [&str; 8] = [
        "_ZNSo",
        "_ZNSi",
        "_ZNSt13basic_ostream",
        "_ZNSt13basic_istream",
        "_ZNSt14basic_ofstream",
        "_ZNSt14basic_ifstream",
        "_ZNSt13basic_filebuf",
        "_ZNSt6chrono",
    ];
    let name = called.split(['(', ' ']).next().unwrap_or(called);
    NAMES.contains(&name) || STARTS.iter().any(|start| name.starts_with(start))
}
