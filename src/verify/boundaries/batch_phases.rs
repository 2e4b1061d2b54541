//! Launch batches that are phases of one cooperative launch.
//!
//! The queue has found which launches need what, and puts those of a batch before those of the next, whether a launch or a
//! barrier across the grid stands between them: nobody passes such a barrier before everybody has come to it, and what was
//! written in front of it is seen behind it. Launches of one batch have nothing to do with each other, as ever.
//!
//! A block of such a launch runs blocks of the batch's launches one after the other. What is left to be asked of a launch is
//!
//! - that all threads of its block come to where it ends: the next block has the same shared memory and the same barriers. Threads
//!   that return early wait there, so no other thread may wait for them elsewhere: at a barrier, or at an operation of their
//!   warp. The barriers of a group are reached by its guards, which are tested before it waits;
//! - that nothing of it is under way behind its last statement;
//! - that its block is told what it is told elsewhere: a launch of a loop that stays in its kernel is another kernel's, and one
//!   that waits for a graph alone may have ranges of blocks.
//!
//! That all blocks are on the device at once is asked where the launch is made, by whatever makes it: with no number of
//! blocks that each may have to run, none could be made.

use super::super::device::reached_anyhow;
use super::super::uniform_barriers::reached_by_all;
use super::super::{Refusal, Sites};
use crate::kernel::KernelModel;
use crate::launch::LaunchGraph;
use crate::schedule::{BatchedRegion, FusionGroup, FusionPlan};

/// What speaks against phases of a region's batches.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    sites: &Sites<'_>,
    (plan, region): (&FusionPlan, &BatchedRegion),
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let known = region.statements.iter().find_map(|each| each.phase_rounds);
    for statement in &region.statements {
        let Some(rounds) = statement.phase_rounds else {
            continue;
        };
        let launch = statement.launch;
        let mut refuse = |what: &str| {
            let what = what.to_owned();
            refusals.push(Refusal::NotInPhases { launch, what });
        };
        if rounds == 0 {
            refuse("no number of its blocks is on the device at once");
        }
        if Some(rounds) != known {
            refuse("launches of its region have another number of blocks that one runs");
        }
        if region.for_graphs {
            refuse("it waits for a graph");
        }
        if statement.persistent.is_some() {
            refuse("its launches follow each other in a kernel of their own");
        }
        let group = plan.groups.iter().find(|group| {
            let mut members = group.members.iter();
            members.any(|member| member.launch == launch)
        });
        if group.is_some_and(FusionGroup::is_cooperative) {
            refuse("its blocks wait for each other");
        }
        let members = match group {
            Some(group) => group.members.iter().map(|member| member.launch).collect(),
            None => vec![launch],
        };
        for member in members {
            let own = sites.get(&member).map(Vec::as_slice);
            // What is not known, or there twice, is refused as a batch.
            let Some([(_, own)]) = own else { continue };
            let model = own.kernel.and_then(|kernel| kernels.get(kernel.0));
            let Some(model) = model else { continue };
            let mut waits = model.waits();
            let unmet = waits.find(|barrier| {
                !reached_by_all(graph, own, model, barrier)
                    && !reached_anyhow(graph, own, model, barrier)
            });
            if let Some(barrier) = unmet.filter(|_| group.is_none()) {
                let place = &barrier.location;
                let what = match model.missed_by_lanes.contains(barrier) {
                    false => "leave out the barrier",
                    true => "have returned where others of their warp wait for them,",
                };
                refuse(&format!("some of its threads may {what} at {place}"));
            }
            if model.asynchronous_copies {
                refuse("its copies may be under way when it ends");
            }
        }
    }
    refusals
}
