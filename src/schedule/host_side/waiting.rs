//! What may rely on a wait that a launch has moved below.
//!
//! A synchronisation, a copy that waits, or an operation of another stream may tell the host or
//! another stream that an earlier launch is done. When that launch moves below it, this knowledge
//! is wrong until the next synchronisation. Work of the same stream does not mind.
//!
//! Invariant: [`WaitObservers::find`] gives an operation whenever some path from where the moved
//! launch is issued (at the place of its group, or where control leaves the region before it) meets
//! one that could touch the launch's memory without being ordered after it. A copy to the host ends such
//! a path only where the plan names it, so that it waits even with nothing to copy.

use super::super::ScheduleOptions;
use super::super::asked_memory::may_see_host_memory;
use super::super::host_order::HostOrder;
use super::super::obstacle::{Candidate, rejection};
use crate::dependence::SharedMemory;
use crate::diagnostics::{Location, Rejection, RejectionReason};
use crate::launch::{Awaited, HostBlockId, LaunchGraph, NodeId, NodeKind, Stream};
use std::collections::{BTreeSet, HashSet};

/// Whether a node may order something else after the launch.
pub(in crate::schedule) fn orders(graph: &LaunchGraph, moved: &Candidate, node: NodeId) -> bool {
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
        | NodeKind::Output { .. }
        | NodeKind::StreamOperation
        | NodeKind::HostAccess { .. }
        | NodeKind::MayThrow { .. }
        | NodeKind::Opaque { .. } => false,
    }
}

/// Finds operations that could see a moved launch unfinished.
pub(in crate::schedule) struct WaitObservers<'a> {
    graph: &'a LaunchGraph,
    options: &'a ScheduleOptions,
    /// Something runs on a stream that is not the default one.
    several_streams: bool,
    /// No stream or event is made: a synchronisation waits for everything.
    waits_for_all: bool,
}

impl<'a> WaitObservers<'a> {
    pub(in crate::schedule) fn new(graph: &'a LaunchGraph, options: &'a ScheduleOptions) -> Self {
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
            options,
            several_streams,
            waits_for_all: !several_streams && !handles,
        }
    }

    /// The copies to the host that have to count as waits, so that `moved` may be issued at the place of
    /// `last`, or at the beginning of the blocks `issued_before`, when it has moved below a node that [`orders`].
    ///
    /// # Errors
    /// Why it may not, whatever counts as a wait.
    pub(in crate::schedule) fn find(
        &self,
        order: &HostOrder<'a>,
        memory: &SharedMemory,
        moved: &Candidate,
        (last, issued_before): (NodeId, &BTreeSet<HostBlockId>),
    ) -> Result<BTreeSet<NodeId>, Rejection> {
        let place = (last, issued_before);
        let (observer, _) = self.walk(order, memory, moved, place, false);
        let Some(observed) = observer else {
            return Ok(BTreeSet::new());
        };
        let (observer, awaited) = self.walk(order, memory, moved, place, true);
        if observer.is_none() {
            return Ok(awaited);
        }
        let between = order.between_without(moved.node, last, issued_before);
        let mut between = between.into_iter().flatten();
        let passed = between.find(|node| orders(self.graph, moved, *node));
        Err(self.relies(moved, passed, observed))
    }

    /// The place of something that may see the moved launch unfinished, and the copies that were taken for
    /// waits on the way there.
    fn walk(
        &self,
        order: &HostOrder<'a>,
        memory: &SharedMemory,
        moved: &Candidate,
        (last, issued_before): (NodeId, &BTreeSet<HostBlockId>),
        copies_wait: bool,
    ) -> (Option<&'a Location>, BTreeSet<NodeId>) {
        let graph = self.graph;
        let mut awaited = BTreeSet::new();
        let (from, to) = (graph.nodes[moved.node.0].block, graph.nodes[last.0].block);
        let mut starts: Vec<(HostBlockId, usize)> = Vec::new();
        let own = graph.blocks[to.0].nodes.iter();
        starts.push((to, own.take_while(|node| **node != last).count() + 1));
        if from != to {
            let mut region = order.blocks_between(from, to, issued_before);
            region.insert(from);
            for block in &region {
                let left = graph.blocks[block.0].successors.iter().copied();
                let left = left.filter(|block| *block != to && !region.contains(block));
                starts.extend(left.map(|block| (block, 0)));
            }
        }
        let visible = may_see_host_memory(graph, memory, self.options, moved);
        let between = order.between_without(moved.node, last, issued_before);
        let mut between = between.into_iter().flatten();
        let throws = |node: &NodeId| matches!(graph.nodes[node.0].kind, NodeKind::MayThrow { .. });
        if let Some(node) = between
            .find(throws)
            .filter(|_| visible || self.several_streams)
        {
            return (Some(&graph.nodes[node.0].location), awaited);
        }
        let mut seen = HashSet::new();
        while let Some((block, start)) = starts.pop() {
            if start == 0 && !seen.insert(block) {
                continue;
            }
            let nodes = &graph.blocks[block.0].nodes[start..];
            match self.scan(memory, moved, (visible, copies_wait), nodes, block) {
                Found::Observer(place) => return (Some(place), awaited),
                Found::Wait => {}
                Found::Copy(node) => {
                    awaited.insert(node);
                }
                Found::Nothing => {
                    let next = graph.blocks[block.0].successors.iter();
                    starts.extend(next.map(|block| (*block, 0)));
                }
            }
        }
        (None, awaited)
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
        (visible, copies_wait): (bool, bool),
        nodes: &[NodeId],
        block: HostBlockId,
    ) -> Found<'a> {
        for node in nodes {
            let place = &self.graph.nodes[node.0];
            let other_stream = |stream: &Stream| *stream != moved.launch.stream;
            let touches = || memory.may_conflict(moved.node, *node);
            let observes = match &place.kind {
                NodeKind::Synchronise(awaited) if self.is_done(moved, *awaited) => {
                    return Found::Wait;
                }
                NodeKind::Copy {
                    awaited_call: Some(_),
                    stream,
                    ..
                } if copies_wait && self.is_done(moved, Awaited::Stream(*stream)) => {
                    return Found::Copy(*node);
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
                NodeKind::HostAccess { .. } | NodeKind::Output { .. } => visible,
                // Who catches it may go on to look at the memory.
                NodeKind::MayThrow { .. } => visible || self.several_streams,
                NodeKind::Opaque { what } => visible || !leaves_device_alone(what),
                NodeKind::Synchronise(_)
                | NodeKind::Allocation { .. }
                | NodeKind::ErrorCheck
                | NodeKind::StreamOperation => false,
            };
            if observes {
                return Found::Observer(&place.location);
            }
        }
        let host_block = &self.graph.blocks[block.0];
        // Whoever called this function may go on to look at the memory.
        let returns =
            host_block.successors.is_empty() && self.graph.functions[host_block.function].repeated;
        if returns && (visible || self.several_streams) {
            return Found::Observer(&self.graph.nodes[moved.node.0].location);
        }
        Found::Nothing
    }

    /// Why a launch may not move below what tells that it is done, for what stands at a place behind.
    fn relies(&self, moved: &Candidate, passed: Option<NodeId>, place: &Location) -> Rejection {
        let tells = match passed.map(|node| &self.graph.nodes[node.0].kind) {
            Some(NodeKind::Allocation { .. }) => "allocation, which may wait for it,",
            Some(NodeKind::Free { .. }) => "free, which may wait for it,",
            Some(NodeKind::Copy { .. } | NodeKind::Set { .. } | NodeKind::Library { .. }) => "copy",
            Some(NodeKind::Launch(_)) => "launch on another stream",
            _ => "wait",
        };
        let name = &moved.model.display_name;
        let message = format!(
            "the host or another stream may rely on `{name}` being done after the {tells} that stands \
             in between"
        );
        rejection(RejectionReason::Fence, message, place)
    }
}

enum Found<'a> {
    /// The place of something that may see the launch unfinished.
    Observer(&'a Location),
    /// A synchronisation, after which the launch is done.
    Wait,
    /// A copy to the host, after which it is done if there is anything to copy.
    Copy(NodeId),
    Nothing,
}

/// Functions of the C and C++ libraries that have nothing to do with the device and are no plain output: input,
/// files, much at once, clocks, the end of the program.
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
        "fwrite",
        "fread",
        "fopen",
        "fclose",
        "fgets",
        "scanf",
        "fscanf",
    ];
    let of_standard_library = [
        "_ZNSo",
        "_ZNSi",
        "_ZNSt6chrono",
        "_ZNSt13basic_ostream",
        "_ZNSt13basic_istream",
        "_ZNSt14basic_ofstream",
        "_ZNSt14basic_ifstream",
        "_ZNSt13basic_filebuf",
    ];
    plain.contains(&name)
        || of_standard_library
            .iter()
            .any(|start| name.starts_with(start))
}
