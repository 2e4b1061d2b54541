//! Allocations that only members of groups touch, and in vain.
//!
//! Invariant: an allocation is called dead only if every operation of the host program that may touch a
//! byte of it is a member of a group that calls it unread afterwards, so that fused kernels may have no
//! access to it left. Whether they have one, code generation sees; the originals of the members always
//! need its memory.

use super::super::{FusionPlan, Member};
use crate::kernel::{KernelModel, Target};
use crate::launch::{
    BufferId, Launch, LaunchGraph, LaunchId, MemoryKind, NodeKind, Pointer, Touch,
};
use std::collections::{BTreeMap, BTreeSet};

/// The allocations of a plan that are dead, in the order of their numbers.
pub fn find_dead_buffers(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    plan: &FusionPlan,
) -> Vec<BufferId> {
    let mut survey = Survey {
        unread: unread_of_members(plan),
        touched: BTreeSet::new(),
        everything: graph.capture.replays,
    };
    for node in &graph.nodes {
        match &node.kind {
            NodeKind::Launch(launch) => survey.add_launch(kernels, launch),
            NodeKind::Copy { reads, writes, .. } | NodeKind::Library { reads, writes, .. } => {
                reads
                    .iter()
                    .chain(writes)
                    .for_each(|touch| survey.add_touch(touch));
            }
            NodeKind::Set { writes, .. } => survey.add_touch(writes),
            // To free it is no touch, and what is not analysed has no pointer to what does not escape.
            NodeKind::Free { .. }
            | NodeKind::Allocation { .. }
            | NodeKind::Synchronise(_)
            | NodeKind::ErrorCheck
            | NodeKind::Output { .. }
            | NodeKind::StreamOperation
            | NodeKind::HostAccess { .. }
            | NodeKind::MayThrow { .. }
            | NodeKind::Opaque { .. } => {}
        }
    }
    if survey.everything {
        return Vec::new();
    }
    let buffers = (0..).map(BufferId).zip(&graph.buffers);
    let dead = buffers.filter(|(id, buffer)| {
        let known = buffer.memory == MemoryKind::Device && !buffer.escapes;
        known && buffer.plain_call.is_some() && !survey.touched.contains(id)
    });
    dead.map(|(id, _)| id).collect()
}

/// By launch in a group, what its group calls unread. A launch that a batch runs is none of these: the
/// kernel for several at once is another one.
fn unread_of_members(plan: &FusionPlan) -> BTreeMap<LaunchId, &[BufferId]> {
    let waiting = plan
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements);
    let waiting: BTreeSet<LaunchId> = waiting.map(|statement| statement.launch).collect();
    let mut unread = BTreeMap::new();
    for group in &plan.groups {
        let waits = |member: &Member| waiting.contains(&member.launch);
        if !group.members.iter().any(waits) {
            let of_group = group.unread_afterwards.as_slice();
            let members = group.members.iter();
            unread.extend(members.map(|member| (member.launch, of_group)));
        }
    }
    unread
}

/// Who touches what, members of groups in vain aside.
struct Survey<'a> {
    unread: BTreeMap<LaunchId, &'a [BufferId]>,
    touched: BTreeSet<BufferId>,
    /// Some operation may touch anything.
    everything: bool,
}

impl Survey<'_> {
    fn add_launch(&mut self, kernels: &[KernelModel], launch: &Launch) {
        let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
        let Some(model) = model.filter(|model| model.opaque.is_empty()) else {
            self.everything = true;
            return;
        };
        let in_vain = self.unread.get(&launch.id).copied().unwrap_or_default();
        for access in &model.accesses {
            match &access.target {
                Target::Shared(_) | Target::UnknownShared | Target::Global(_) => {}
                Target::Unknown => self.everything = true,
                Target::Argument {
                    argument,
                    offset_bytes,
                } => self.add(launch.pointer(*argument, *offset_bytes), in_vain),
            }
        }
        // A pointer that a kernel keeps may come back from anywhere.
        for (position, argument) in launch.arguments.iter().enumerate() {
            let formal = model.formals.get(position);
            if formal.is_some_and(|formal| !formal.captured) {
                continue;
            }
            self.everything |= argument.pieces.is_empty();
            for piece in argument
                .pieces
                .iter()
                .filter(|piece| piece.pointer.is_some())
            {
                self.add(piece.pointer.as_ref(), &[]);
            }
        }
    }

    fn add_touch(&mut self, touch: &Touch) {
        self.add(Some(&touch.pointer), &[]);
    }

    fn add(&mut self, pointer: Option<&Pointer>, in_vain: &[BufferId]) {
        match pointer.and_then(|pointer| pointer.may_point_to.as_ref()) {
            None => self.everything = true,
            Some(buffers) => {
                let others = buffers.iter().filter(|buffer| !in_vain.contains(buffer));
                self.touched.extend(others);
            }
        }
    }
}
