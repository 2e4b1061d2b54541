//! What may rely on a wait that a launch has moved below.
//!
//! A synchronisation, a copy that waits, or an operation of another stream may tell the host or
//! another stream that an earlier launch is done. When that launch moves below it, this knowledge
//! is wrong until the next synchronisation. Work of the same stream does not mind.
//!
//! Invariant: [`WaitObservers::find`] gives an operation whenever some path from where the moved
//! launch is issued (at the place of its group, or where control leaves the region before it) meets
//! one that could touch the launch's memory without being ordered after it.

use super::host_order::HostOrder;
use super::obstacle::{Candidate, is_output, rejection};
use crate::dependence::SharedMemory;
use crate::diagnostics::{Location, Rejection, RejectionReason};
use crate::launch::{Awaited, HostBlockId, LaunchGraph, NodeId, NodeKind, Stream};
use std::collections::HashSet;

/// Whether a node may order something else after the launch.
pub(super) fn orders(graph: &LaunchGraph, moved: &Candidate, node: NodeId) -> bool {
    match &graph.nodes[node.0].kind {
        NodeKind::Synchronise(_) | NodeKind::Free { .. } | NodeKind::Allocation { .. } => true,
        NodeKind::Copy {
            stream, host_side, ..
        }
        | NodeKind::Library {
            stream, host_side, ..
        } => *host_side || *stream != moved.launch.stream,
        NodeKind::Set { stream, .. } => *stream != moved.launch.stream,
        NodeKind::Launch(other) => other.stream != moved.launch.stream,
        NodeKind::ErrorCheck
        | NodeKind::StreamOperation
        | NodeKind::HostAccess
        | NodeKind::Opaque { .. } => false,
    }
}

/// Finds operations that could see a moved launch unfinished.
pub(super) struct WaitObservers<'a> {
    graph: &'a LaunchGraph,
    /// Something runs on a stream that is not the default one.
    several_streams: bool,
    /// No stream or event is made: a synchronisation waits for everything.
    waits_for_all: bool,
}

impl<'a> WaitObservers<'a> {
    pub(super) fn new(graph: &'a LaunchGraph) -> Self {
        let several_streams = graph.nodes.iter().any(|node| match &node.kind {
            NodeKind::Launch(launch) => launch.stream != Stream::Default,
            NodeKind::Copy { stream, .. }
            | NodeKind::Set { stream, .. }
            | NodeKind::Library { stream, .. } => *stream != Stream::Default,
            _ => false,
        });
        let handles = graph
            .nodes
            .iter()
            .any(|node| matches!(node.kind, NodeKind::StreamOperation));
        Self {
            graph,
            several_streams,
            waits_for_all: !several_streams && !handles,
        }
    }

    /// Why `moved` may not be issued at the place of `last`, when it has moved below a node that
    /// [`orders`].
    pub(super) fn find(
        &self,
        order: &mut HostOrder<'a>,
        memory: &SharedMemory,
        moved: &Candidate,
        last: NodeId,
    ) -> Option<Rejection> {
        let graph = self.graph;
        let (from, to) = (graph.nodes[moved.node.0].block, graph.nodes[last.0].block);
        let mut starts: Vec<(HostBlockId, usize)> = Vec::new();
        let behind = graph.blocks[to.0].nodes.iter().position(|n| *n == last)? + 1;
        starts.push((to, behind));
        if from != to {
            let mut region = order.blocks_between(from, to);
            region.insert(from);
            for block in &region {
                let left = graph.blocks[block.0].successors.iter().copied();
                let left = left.filter(|block| *block != to && !region.contains(block));
                starts.extend(left.map(|block| (block, 0)));
            }
        }
        let visible = memory.is_host_visible(moved.node);
        let mut seen = HashSet::new();
        while let Some((block, start)) = starts.pop() {
            if start == 0 && !seen.insert(block) {
                continue;
            }
            let nodes = &graph.blocks[block.0].nodes[start..];
            match self.scan(memory, moved, visible, nodes, block) {
                Found::Observer(found) => return Some(found),
                Found::Wait => {}
                Found::Nothing => {
                    let next = graph.blocks[block.0].successors.iter();
                    starts.extend(next.map(|block| (*block, 0)));
                }
            }
        }
        None
    }

    /// Whether a moved launch is done after a wait.
    fn is_done(&self, moved: &Candidate, awaited: Awaited) -> bool {
        let own = moved.launch.stream;
        match awaited {
            _ if self.waits_for_all => true,
            Awaited::Device => true,
            // A handle of a loop may be another stream's where the wait stands.
            Awaited::Stream(Stream::Handle(handle)) => {
                own == Stream::Handle(handle) && self.graph.values[handle.0].varies_in.is_none()
            }
            Awaited::Stream(Stream::Default) => own == Stream::Default,
            Awaited::Stream(Stream::Unknown) | Awaited::Event => false,
        }
    }

    fn scan(
        &self,
        memory: &SharedMemory,
        moved: &Candidate,
        visible: bool,
        nodes: &[NodeId],
        block: HostBlockId,
    ) -> Found {
        for node in nodes {
            let place = &self.graph.nodes[node.0];
            let other_stream = |stream: &Stream| *stream != moved.launch.stream;
            let touches = || memory.may_conflict(moved.node, *node);
            let observes = match &place.kind {
                NodeKind::Synchronise(awaited) if self.is_done(moved, *awaited) => {
                    return Found::Wait;
                }
                NodeKind::Launch(other) => other_stream(&other.stream) && touches(),
                NodeKind::Copy {
                    stream, host_side, ..
                }
                | NodeKind::Library {
                    stream, host_side, ..
                } => other_stream(stream) && (touches() || visible && *host_side),
                NodeKind::Set { stream, .. } => other_stream(stream) && touches(),
                NodeKind::Free { .. } => self.several_streams && touches(),
                NodeKind::HostAccess => visible,
                NodeKind::Opaque { what } => visible || !leaves_device_alone(what),
                NodeKind::Synchronise(_)
                | NodeKind::Allocation { .. }
                | NodeKind::ErrorCheck
                | NodeKind::StreamOperation => false,
            };
            if observes {
                return Found::Observer(relies(moved, &place.location));
            }
        }
        let host_block = &self.graph.blocks[block.0];
        // Whoever called this function may go on to look at the memory.
        let returns =
            host_block.successors.is_empty() && self.graph.functions[host_block.function].repeated;
        if returns && (visible || self.several_streams) {
            return Found::Observer(relies(moved, &self.graph.nodes[moved.node.0].location));
        }
        Found::Nothing
    }
}

enum Found {
    /// Something that may see the launch unfinished.
    Observer(Rejection),
    /// A synchronisation, after which the launch is done.
    Wait,
    Nothing,
}

fn relies(moved: &Candidate, location: &Location) -> Rejection {
    rejection(
        RejectionReason::Fence,
        format!(
            "the host or another stream may rely on `{}` being done after the wait that stands in \
             between",
            moved.model.display_name
        ),
        location,
    )
}

/// Functions of the C and C++ libraries that have nothing to do with the device.
fn leaves_device_alone(called: &str) -> bool {
    let name = called.split(['(', ' ']).next().unwrap_or(called);
    let plain = [
        "exit",
        "_exit",
        "abort",
        "clock",
        "clock_gettime",
        "gettimeofday",
        "time",
    ];
    is_output(called) || plain.contains(&name) || name.starts_with("_ZNSt6chrono")
}
