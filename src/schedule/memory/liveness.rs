//! Which allocations a group writes in vain, once its members pass their values on in registers.
//!
//! Invariant: an allocation is called unread only if no operation of the host program that may run
//! after the group, other than the group's own members, may read a byte of it.
//!
//! Where a group may run more than once, one run may be fused and another fall back to the
//! originals, which would then read what the fused run did not write. So the outcome of the guards
//! must there be the same each time: whatever they test is computed once.

use super::super::obstacle::Candidate;
use crate::dependence::{Guard, PointerRange};
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{
    BufferId, HostBlockId, Launch, LaunchGraph, MemoryKind, NodeId, NodeKind, Operand, Pointer,
    ValueId,
};
use crate::math::expression::Expression;
use std::collections::{BTreeMap, BTreeSet};

/// Who reads which allocation.
pub(in crate::schedule) struct Readers {
    of: BTreeMap<BufferId, BTreeSet<NodeId>>,
    /// Nodes that may read any memory.
    of_anything: BTreeSet<NodeId>,
    /// Allocations to which some kernel keeps a pointer that the host may find.
    kept: BTreeSet<BufferId>,
    /// Some kernel may keep a pointer to any allocation.
    anything_kept: bool,
}

impl Readers {
    pub(in crate::schedule) fn new(graph: &LaunchGraph, kernels: &[KernelModel]) -> Self {
        let mut readers = Self {
            of: BTreeMap::new(),
            of_anything: BTreeSet::new(),
            kept: BTreeSet::new(),
            anything_kept: false,
        };
        for node in &graph.nodes {
            match &node.kind {
                NodeKind::Launch(launch) => readers.add_launch(kernels, node.id, launch),
                NodeKind::Copy { reads, .. } | NodeKind::Library { reads, .. } => {
                    for read in reads {
                        readers.add(node.id, Some(&read.pointer));
                    }
                }
                // Launches that were captured run in there.
                NodeKind::Opaque { .. } if graph.capture.replays => {
                    readers.of_anything.insert(node.id);
                }
                // What is not analysed can only read what escapes, and those are never asked for.
                NodeKind::Set { .. }
                | NodeKind::Allocation { .. }
                | NodeKind::Free { .. }
                | NodeKind::Synchronise(_)
                | NodeKind::ErrorCheck
                | NodeKind::Output { .. }
                | NodeKind::StreamOperation
                | NodeKind::HostAccess { .. }
                | NodeKind::MayThrow { .. }
                | NodeKind::Opaque { .. } => {}
            }
        }
        readers
    }

    fn add_launch(&mut self, kernels: &[KernelModel], node: NodeId, launch: &Launch) {
        let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
        for (position, argument) in launch.arguments.iter().enumerate() {
            let formal = model.and_then(|model| model.formals.get(position));
            if formal.is_some_and(|formal| !formal.captured) {
                continue;
            }
            // What is not told may be any pointer.
            self.anything_kept |= argument.pieces.is_empty();
            for pointer in argument
                .pieces
                .iter()
                .filter_map(|piece| piece.pointer.as_ref())
            {
                match &pointer.may_point_to {
                    Some(buffers) => self.kept.extend(buffers),
                    None => self.anything_kept = true,
                }
            }
        }
        let Some(model) = model.filter(|model| model.opaque.is_empty()) else {
            self.of_anything.insert(node);
            return;
        };
        for access in &model.accesses {
            if access.kind == AccessKind::Write {
                continue;
            }
            match &access.target {
                Target::Shared(_) | Target::UnknownShared => {}
                // Variables are no allocations.
                Target::Global(_) => {}
                Target::Argument { .. } => self.add(node, pointer_of(launch, &access.target)),
                Target::Unknown => self.add(node, None),
            }
        }
    }

    fn add(&mut self, node: NodeId, pointer: Option<&Pointer>) {
        match pointer.and_then(|pointer| pointer.may_point_to.as_ref()) {
            Some(buffers) => {
                for buffer in buffers {
                    self.of.entry(*buffer).or_default().insert(node);
                }
            }
            None => {
                self.of_anything.insert(node);
            }
        }
    }

    /// The allocations that the members write and nobody else reads after them.
    pub(in crate::schedule) fn unread_after(
        &self,
        graph: &LaunchGraph,
        members: &[Candidate<'_>],
        guards: &[Guard],
    ) -> Vec<BufferId> {
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            return Vec::new();
        };
        let again = runs_again(graph, last.node);
        if again && !same_outcome_each_time(graph, members, guards) {
            return Vec::new();
        }
        let empty = BTreeSet::new();
        let reader = |node: &NodeId| {
            members.iter().all(|member| member.node != *node)
                && (again || may_follow(graph, first.node, last.node, *node))
        };
        written(members)
            .into_iter()
            .filter(|buffer| {
                let facts = &graph.buffers[buffer.0];
                let readers = self.of.get(buffer).unwrap_or(&empty);
                facts.memory == MemoryKind::Device
                    && !facts.escapes
                    && !self.anything_kept
                    && !self.kept.contains(buffer)
                    && !readers.iter().chain(&self.of_anything).any(reader)
            })
            .collect()
    }
}

/// The allocations that members write through pointers that point nowhere else.
fn written(members: &[Candidate<'_>]) -> BTreeSet<BufferId> {
    let mut found = BTreeSet::new();
    for member in members {
        for access in &member.model.accesses {
            let pointer = pointer_of(member.launch, &access.target);
            let buffers = pointer.and_then(|pointer| pointer.may_point_to.as_deref());
            if let (AccessKind::Write, Some([buffer])) = (access.kind, buffers) {
                found.insert(*buffer);
            }
        }
    }
    found
}

fn pointer_of<'a>(launch: &'a Launch, target: &Target) -> Option<&'a Pointer> {
    let Target::Argument {
        argument,
        offset_bytes,
    } = target
    else {
        return None;
    };
    launch.pointer(*argument, *offset_bytes)
}

/// Whether the group whose last member stands at `node` may run more than once.
fn runs_again(graph: &LaunchGraph, node: NodeId) -> bool {
    let block = &graph.blocks[graph.nodes[node.0].block.0];
    block.innermost_loop.is_some() || graph.functions[block.function].repeated
}

/// Whether a node may run after a group of a function that runs once has begun to.
fn may_follow(graph: &LaunchGraph, first: NodeId, last: NodeId, node: NodeId) -> bool {
    let block = |node: NodeId| graph.nodes[node.0].block;
    let function = |node| graph.blocks[block(node).0].function;
    if function(node) != function(last) {
        return true;
    }
    if block(node) == block(first) {
        return node > first;
    }
    let mut seen = vec![false; graph.blocks.len()];
    let mut work: Vec<HostBlockId> = vec![block(first)];
    while let Some(at) = work.pop() {
        for next in &graph.blocks[at.0].successors {
            if !std::mem::replace(&mut seen[next.0], true) {
                work.push(*next);
            }
        }
    }
    seen[block(node).0]
}

/// Whether everything that decides between the fused kernel and the originals is computed once.
fn same_outcome_each_time(
    graph: &LaunchGraph,
    members: &[Candidate<'_>],
    guards: &[Guard],
) -> bool {
    let mut tested: BTreeSet<ValueId> = BTreeSet::new();
    for Candidate { launch, .. } in members {
        // An attribute set in between can change how much dynamic shared memory is accepted.
        if graph.values[launch.shared_bytes.0].constant != Some(0) {
            return false;
        }
        tested.extend(launch.grid.iter().chain(&launch.block));
    }
    for guard in guards {
        match guard {
            Guard::Holds { condition, .. } => {
                condition.substitute(&mut |value| leaf(*value, &mut tested));
            }
            Guard::RangesDisjoint { left, right } | Guard::SameOrDisjoint { left, right } => {
                for range in [left, right] {
                    let Some(pointer) = pointer_value(members, range) else {
                        return false;
                    };
                    tested.insert(pointer);
                    for bound in [&range.low_bytes, &range.high_bytes] {
                        bound.substitute(&mut |value| leaf(*value, &mut tested));
                    }
                }
            }
            Guard::NotCapturing { .. }
            | Guard::DeviceMemory { .. }
            | Guard::Resident { .. }
            | Guard::SameStream { .. } => return false,
            // Grid, block and shared memory were taken above.
            Guard::ConfigurationValid { .. } => {}
        }
    }
    let block = &graph.blocks[graph.nodes[members[0].node.0].block.0];
    !graph.functions[block.function].repeated
        && tested
            .iter()
            .all(|value| graph.values[value.0].varies_in.is_none())
}

fn pointer_value(members: &[Candidate<'_>], range: &PointerRange) -> Option<ValueId> {
    let Operand::Argument {
        argument,
        offset_bytes,
        ..
    } = range.operand
    else {
        return None;
    };
    let mut launches = members.iter().map(|member| member.launch);
    let launch = launches.find(|launch| launch.id == range.launch)?;
    let mut pieces = launch.arguments.get(argument)?.pieces.iter();
    let piece = pieces.find(|piece| piece.offset_bytes == offset_bytes)?;
    Some(piece.value)
}

/// Notes a leaf and leaves the expression as it is.
fn leaf(value: ValueId, tested: &mut BTreeSet<ValueId>) -> Option<Expression<ValueId>> {
    tested.insert(value);
    Some(Expression::Leaf(value))
}
