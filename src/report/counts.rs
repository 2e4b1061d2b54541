//! How many launches a program has and how many are left, in the same figures for every message.

use super::ReportNodeKind;
use crate::launch::{LaunchGraph, LaunchId, NodeKind};
use crate::program::OperationKind;
use crate::schedule::FusionPlan;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Launch sites that the user wrote, before and after; each loop counts once. Sets and copies are no launches,
/// those that became part of a fused one are counted by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportCounts {
    /// Launches in the source.
    pub launches: usize,
    /// Launches that are left of them.
    pub launches_after: usize,
    /// Sets that are part of fused launches.
    pub sets_in_fusions: usize,
    /// Copies that are part of fused launches.
    pub copies_in_fusions: usize,
    /// Host loops whose iterations run inside a kernel; of loops in loops the outermost counts.
    #[serde(default)]
    pub loops_in_kernels: usize,
}

impl ReportCounts {
    /// The figures of a plan.
    pub(super) fn of_plan(graph: &LaunchGraph, plan: &FusionPlan) -> Self {
        // The user wrote a launch once, which the compiler wrote in front of its loop as well, or behind it.
        let ends = graph.split_loops.iter();
        let copies: Vec<LaunchId> = (graph.rotated_loops.iter())
            .flat_map(|of| of.prologue.iter().copied())
            .chain(ends.flat_map(|of| match of.of_one_launch {
                false => [&of.last[..], &of.past].concat(),
                true => [&of.before_last[..], &of.last, &of.behind].concat(),
            }))
            .collect();
        let is_copy = |launch| copies.contains(&launch);
        let launches: HashMap<LaunchId, ReportNodeKind> = graph
            .nodes
            .iter()
            .filter_map(|node| match &node.kind {
                NodeKind::Launch(launch) if !is_copy(launch.id) => {
                    Some((launch.id, launch_kind(graph, launch.id)))
                }
                _ => None,
            })
            .collect();
        let mut counted = HashSet::new();
        let groups = plan.groups.iter().map(|group| {
            // What several groups begin with is one launch, whichever of them takes it in.
            let members = group.members.iter();
            let members = members.filter(|member| counted.insert(member.launch));
            let kinds = members.filter_map(|member| launches.get(&member.launch));
            let mut kinds: Vec<ReportNodeKind> = kinds.copied().collect();
            // What joins a launch of the last iteration is none any more.
            let ends = graph.split_loops.iter();
            let mut last = ends.filter(|of| !of.of_one_launch).flat_map(|of| &of.last);
            let joins = last.any(|last| group.members.iter().any(|of| of.launch == *last));
            kinds.extend(joins.then_some(ReportNodeKind::Launch));
            kinds
        });
        let regions = plan.batched_regions.iter();
        let persistent = regions.filter(|region| {
            let mut statements = region.statements.iter();
            statements.any(|statement| statement.persistent.is_some())
        });
        let tested = plan.groups.iter();
        let tested = tested.filter(|group| group.tested_loop.is_some());
        Self {
            loops_in_kernels: persistent.count() + tested.count(),
            ..Self::of(launches.values().copied(), groups)
        }
    }

    fn of(
        kinds: impl Iterator<Item = ReportNodeKind>,
        groups: impl Iterator<Item = Vec<ReportNodeKind>>,
    ) -> Self {
        let launches = kinds.filter(|kind| *kind == ReportNodeKind::Launch).count();
        let mut counts = Self {
            launches,
            launches_after: launches,
            ..Self::default()
        };
        for group in groups.filter(|group| group.len() > 1) {
            let of = |wanted| group.iter().filter(|kind| **kind == wanted).count();
            counts.launches_after -= of(ReportNodeKind::Launch).saturating_sub(1);
            counts.sets_in_fusions += of(ReportNodeKind::Set);
            counts.copies_in_fusions += of(ReportNodeKind::Copy);
        }
        counts
    }

    /// Whether anything becomes part of a launch that it was not.
    pub fn something_fuses(&self) -> bool {
        self.launches_after < self.launches
            || self.sets_in_fusions + self.copies_in_fusions + self.loops_in_kernels > 0
    }
}

/// `9 launches -> 3, with 2 sets and 1 copy in them, 1 host loop inside its kernel`.
impl fmt::Display for ReportCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} launches -> {}",
            self.launches, self.launches_after
        )?;
        let several = |number: usize, one: &str, many: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{number} {many}")),
        };
        let sets = several(self.sets_in_fusions, "set", "sets");
        let copies = several(self.copies_in_fusions, "copy", "copies");
        let with: Vec<String> = sets.into_iter().chain(copies).collect();
        if !with.is_empty() {
            write!(formatter, ", with {} in them", with.join(" and "))?;
        }
        let loops = several(
            self.loops_in_kernels,
            "host loop inside its kernel",
            "host loops inside their kernels",
        );
        loops.map_or(Ok(()), |loops| write!(formatter, ", {loops}"))
    }
}

/// A kernel launch, or the set or copy that stands in the graph as one.
pub(super) fn launch_kind(graph: &LaunchGraph, launch: LaunchId) -> ReportNodeKind {
    match graph.operation_of(launch).map(|operation| operation.kind) {
        None => ReportNodeKind::Launch,
        Some(OperationKind::Set) => ReportNodeKind::Set,
        Some(OperationKind::Copy) => ReportNodeKind::Copy,
    }
}
