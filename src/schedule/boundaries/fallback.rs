//! What runs in place of a cooperative launch that a run refuses.
//!
//! Whether the device has room for all blocks of a launch with grid-wide barriers is for the run to tell. Where it has not, or
//! where another test fails, the launches are made as they would have been had nobody asked for such barriers: as groups of
//! fewer launches, each of which tests what it needs.
//!
//! Invariant: a group of a fallback was planned as one of the program as it is written, and its members follow each other in
//! the launch that is refused, so that nothing stands between them where they run.

use super::super::last_block::plan_last_blocks;
use super::super::recomputation::plan_recomputation;
use super::super::{FusionGroup, FusionPlan, Missed, ScheduleOptions};
use crate::dependence::{DependenceGraph, Guard};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId};

/// The groups that there are where nothing waits for all blocks of a launch; `plan` has those that are planned before.
pub(super) fn groups_without_barriers(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
    (plan, missed): (&FusionPlan, &[Missed]),
) -> Vec<FusionGroup> {
    let mut plan = plan.clone();
    let mut missed = missed.to_vec();
    for add in [plan_last_blocks, plan_recomputation] {
        let planned = (&mut plan, &mut missed);
        add(graph, kernels, dependences, options, planned);
    }
    plan.groups
}

/// Those of `groups` that can stand in for members of a cooperative group.
pub(in crate::schedule) fn fallback(
    whole: &FusionGroup,
    groups: &[FusionGroup],
) -> Vec<FusionGroup> {
    // Launches of a loop that runs ahead stay where they are.
    if whole.tested_loop.is_some() {
        return Vec::new();
    }
    // What memory a launch touches is asked where it is kept, of the guards of the whole.
    let are_asked = |group: &FusionGroup| {
        let asks = |guard: &&Guard| matches!(guard, Guard::DeviceMemory { .. });
        let mut questions = group.guards.iter().filter(asks);
        questions.all(|question| whole.guards.contains(question))
    };
    let mut found: Vec<(usize, FusionGroup)> = groups
        .iter()
        .filter(|group| group.members.len() > 1 && group.issued_before.is_empty())
        .filter(|group| are_asked(group))
        .filter_map(|group| {
            let launches = |group: &FusionGroup| -> Vec<LaunchId> {
                group.members.iter().map(|member| member.launch).collect()
            };
            let (all, own) = (launches(whole), launches(group));
            let begin = all.windows(own.len()).position(|window| window == own)?;
            // What is left of a group without its last block is no group of the plan.
            let group = FusionGroup {
                front_guards: None,
                early_guards: None,
                ..group.clone()
            };
            Some((begin, group))
        })
        .collect();
    found.sort_by_key(|(begin, _)| *begin);
    found.into_iter().map(|(_, group)| group).collect()
}
