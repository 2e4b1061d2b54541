//! Host loops that run inside kernels, in reports.

use super::super::Report;
use super::super::text::{list, name_at};
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind, Root};
use crate::schedule::{BatchedRegion, FusionGroup, FusionPlan, PersistentLoop, TestedCopy};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
    /// The kernel computes itself whether the host would go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_by: Option<ReportLoopEnd>,
}

/// By what a host loop ends that runs ahead in its kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLoopEnd {
    /// Ids of the copies to the host by which it decides.
    pub copies: Vec<usize>,
    /// Names of what these read.
    pub buffers: Vec<String>,
    /// All blocks wait once more behind that, since launches follow that may write there.
    pub barrier_behind: bool,
    /// So many iterations are one launch at most.
    pub most_iterations: u32,
}

/// Those of a plan.
pub(in crate::report) fn persistent_loops(
    graph: &LaunchGraph,
    plan: &FusionPlan,
) -> Vec<ReportPersistentLoop> {
    let regions = plan.batched_regions.iter();
    let regions = regions.filter_map(|region| told(graph, plan, region));
    let tested = plan.groups.iter().filter_map(|group| ended(graph, group));
    regions.chain(tested).collect()
}

/// The loop of a group that ends by what the host copies.
fn ended(graph: &LaunchGraph, group: &FusionGroup) -> Option<ReportPersistentLoop> {
    let tested = group.tested_loop.as_ref()?;
    let nodes: BTreeMap<LaunchId, NodeId> = graph.launches().collect();
    let members = group.members.iter();
    let read = |copy: &TestedCopy| match &graph.nodes[copy.node.0].kind {
        NodeKind::Copy { reads, .. } => match reads.first()?.pointer.root {
            Root::Buffer(buffer) => Some(graph.buffers.get(buffer.0)?.name.clone()),
            Root::Value(_) => None,
        },
        _ => None,
    };
    Some(ReportPersistentLoop {
        members: members
            .filter_map(|member| Some(nodes.get(&member.launch)?.0))
            .collect(),
        host_loops: 1,
        barrier: true,
        grid_barrier: true,
        varying_arguments: tested.varying.len(),
        ends_by: Some(ReportLoopEnd {
            copies: tested.copies.iter().map(|copy| copy.node.0).collect(),
            buffers: tested
                .copies
                .iter()
                .filter_map(read)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            barrier_behind: tested.copies.iter().any(|copy| copy.barrier_behind),
            most_iterations: tested.most_iterations,
        }),
    })
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
        ends_by: None,
    })
}

/// What is said of one.
pub(in crate::report) fn line(report: &Report, persistent: &ReportPersistentLoop) -> String {
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
    let until = persistent.ends_by.as_ref().map(|end| until(report, end));
    format!(
        "{loops} {} {run} inside its kernel{}: {whose}{}",
        list(&members),
        if until.is_some() {
            ", which computes when the host would end it"
        } else {
            ""
        },
        until.unwrap_or_default()
    )
}

/// What is said of the barriers around a test.
fn until(report: &Report, end: &ReportLoopEnd) -> String {
    let copies: Vec<String> = end.copies.iter().map(|id| name_at(report, *id)).collect();
    let read: Vec<String> = end.buffers.iter().map(|name| format!("`{name}`")).collect();
    let read = match read.is_empty() {
        true => String::from("what it copies"),
        false => list(&read),
    };
    let again = match end.barrier_behind {
        true => "; they wait again before others write there",
        false => "",
    };
    format!(
        ", also before they read {read} for {}{again}; one launch is up to {} iterations",
        list(&copies),
        end.most_iterations
    )
}
