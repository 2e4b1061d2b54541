//! Host loops that run inside kernels, in reports.

use super::Report;
use super::text::{list, name_at};
use crate::launch::{LaunchGraph, LaunchId, NodeKind};
use crate::schedule::{BatchedRegion, FusionPlan, PersistentLoop};
use serde::{Deserialize, Serialize};

/// A fusion, or one launch, whose launches of all iterations of host loops follow each other in one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportPersistentLoop {
    /// Ids of the launches of an iteration.
    pub members: Vec<usize>,
    /// So many host loops around them run inside the kernel, one in another.
    pub host_loops: usize,
    /// All threads of a block wait for each other between two iterations.
    pub barrier: bool,
    /// All blocks of the launch do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grid_barrier: bool,
    /// Arguments may differ from iteration to iteration; there is room for some hundreds of them in one launch.
    pub varying_arguments: usize,
}

/// Those of a plan.
pub(super) fn persistent_loops(
    graph: &LaunchGraph,
    plan: &FusionPlan,
) -> Vec<ReportPersistentLoop> {
    let regions = plan.batched_regions.iter();
    regions
        .filter_map(|region| told(graph, plan, region))
        .collect()
}

fn told(
    graph: &LaunchGraph,
    plan: &FusionPlan,
    region: &BatchedRegion,
) -> Option<ReportPersistentLoop> {
    let statement = region.statements.first()?;
    let PersistentLoop {
        barrier,
        grid_barrier,
        varying,
        ..
    } = statement.persistent.as_ref()?;
    let mut groups = plan.groups.iter();
    let group = groups.find(|group| {
        let last = group.members.last();
        last.is_some_and(|last| last.launch == statement.launch)
    })?;
    let node = |id: LaunchId| {
        let mut nodes = graph.nodes.iter();
        nodes.find(|node| matches!(&node.kind, NodeKind::Launch(launch) if launch.id == id))
    };
    let place = node(statement.launch)?;
    let members = group.members.iter();
    Some(ReportPersistentLoop {
        members: members
            .filter_map(|member| Some(node(member.launch)?.id.0))
            .collect(),
        host_loops: graph.loops_around(place.block).len() - region.outside_loops,
        barrier: *barrier,
        grid_barrier: *grid_barrier,
        varying_arguments: varying.len(),
    })
}

/// What is said of one.
pub(super) fn line(report: &Report, persistent: &ReportPersistentLoop) -> String {
    let members: Vec<String> = persistent
        .members
        .iter()
        .map(|id| name_at(report, *id))
        .collect();
    let (loops, run) = match persistent.host_loops {
        1 => (String::from("the host loop around"), "runs"),
        number => (format!("the {number} host loops around"), "run"),
    };
    let whose = match persistent.barrier {
        _ if persistent.grid_barrier => {
            "blocks need what others made, and wait for all of them in between"
        }
        true => "each block needs only what it made itself, and waits for its threads in between",
        false => "each thread needs only what it made itself",
    };
    format!(
        "{loops} {} {run} inside its kernel: {whose}",
        list(&members)
    )
}
