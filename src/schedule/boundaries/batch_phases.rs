//! Launch batches that are phases of one cooperative launch.
//!
//! Batches follow each other since a launch of the later one needs what one of the earlier made, or overwrites it. With a
//! barrier across the grid between two of them, all that waits can be one launch: its blocks go through the blocks of a
//! batch one after the other, then wait for each other, and go on with the next batch. Which launches meet is found when
//! the program runs, and so is whether the device has room.
//!
//! Invariant: a launch is planned for that only where the end of one of its blocks is a place to which all of the block's threads
//! come: nothing waits for threads that have returned.

use super::super::batches::Candidate;
use super::super::obstacle::{hangs_on_launch, rejection};
use super::super::{BatchedRegion, FusionGroup};
use super::grid_barriers::MOST_ROUNDS;
use crate::dependence::barrier_conditions;
use crate::diagnostics::{Rejection, RejectionReason};
use crate::kernel::{Barrier, KernelModel};
use crate::launch::{LaunchGraph, NodeId, NodeKind};

/// Lets batches of a region be phases, as far as their launches can be.
pub(in crate::schedule) fn choose(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    region: &mut BatchedRegion,
    members: &[&Candidate],
    groups: &[FusionGroup],
) {
    for (statement, candidate) in region.statements.iter_mut().zip(members) {
        let may_be = part_of_phase(graph, kernels, groups, &candidate.members);
        statement.phase_rounds = may_be.is_ok().then_some(MOST_ROUNDS);
    }
}

/// Whether launches that wait, all those of one group or a single one, may be part of a phase.
///
/// # Errors
/// Why they may not.
pub(in crate::schedule) fn part_of_phase(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    groups: &[FusionGroup],
    members: &[NodeId],
) -> Result<(), Rejection> {
    for node in members {
        let NodeKind::Launch(launch) = &graph.nodes[node.0].kind else {
            continue;
        };
        let Some(model) = launch.kernel.and_then(|kernel| kernels.get(kernel.0)) else {
            continue;
        };
        let location = &graph.nodes[node.0].location;
        let name = &model.display_name;
        let refuse =
            |reason, what: &str| Err(rejection(reason, format!("`{name}` {what}"), location));
        // The barriers of a group are reached where its guards hold.
        let mut members = groups.iter().flat_map(|group| &group.members);
        let is_grouped = members.any(|member| member.launch == launch.id);
        // What a launch must satisfy is known, or nobody tests it.
        let is_reached = |barrier: &Barrier| {
            let conditions = barrier_conditions(graph, launch, barrier);
            conditions.is_some_and(|conditions| conditions.is_empty())
        };
        let hangs = |barrier: &&Barrier| {
            hangs_on_launch(graph, launch, model, barrier) && !is_reached(barrier)
        };
        if !is_grouped && let Some(barrier) = model.waits().find(hangs) {
            let what = match model.missed_by_lanes.contains(barrier) {
                false => "has a barrier that only some threads may reach",
                true => "has an operation of a warp that lanes may wait for which have returned",
            };
            return refuse(RejectionReason::DivergentBarrier, what);
        }
        if model.asynchronous_copies {
            let what = "copies asynchronously up to its end";
            return refuse(RejectionReason::Resources, what);
        }
    }
    Ok(())
}
