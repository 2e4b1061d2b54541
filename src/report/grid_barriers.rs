//! What grid-wide barriers of fused launches are for, and what their last blocks wait for, in reports.

use super::text::{list, name_at};
use super::{Report, kind_name};
use crate::dependence::{DependenceGraph, DependenceKind};
use crate::launch::NodeId;
use crate::schedule::FusionGroup;
use serde::{Deserialize, Serialize};

/// A place of a fused launch at which all its blocks wait for each other, or behind which only its last block goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportGridBarrier {
    /// Id of the member behind it.
    pub before: usize,
    /// What the members behind it need of those in front.
    pub orders: Vec<ReportOrdered>,
}

/// A dependence between two members that a grid-wide barrier keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportOrdered {
    /// Id of the earlier member's node.
    pub src: usize,
    /// Id of the later member's node.
    pub dst: usize,
    /// Name of the buffer.
    pub buffer: String,
    /// `flow`, `anti` or `output`.
    pub kind: String,
}

/// The barriers of a group whose members are these nodes. Each lists what the members up to the next barrier need.
pub(super) fn grid_barriers(
    dependences: &DependenceGraph,
    group: &FusionGroup,
    nodes: &[NodeId],
) -> Vec<ReportGridBarrier> {
    let phases = group.phases().into_iter().skip(1);
    let barriers = phases.filter_map(|phase| ordered(dependences, nodes, phase));
    barriers.collect()
}

/// What the members that the last block of a launch runs need of those in front.
pub(super) fn last_block(
    dependences: &DependenceGraph,
    group: &FusionGroup,
    nodes: &[NodeId],
) -> Option<ReportGridBarrier> {
    ordered(dependences, nodes, group.last_block?..nodes.len())
}

/// What some members need of those in front of them.
fn ordered(
    dependences: &DependenceGraph,
    nodes: &[NodeId],
    members: std::ops::Range<usize>,
) -> Option<ReportGridBarrier> {
    let before = nodes.get(members.start)?.0;
    let earlier = nodes.get(..members.start)?;
    let later = nodes.get(members)?;
    let edges = dependences.graph.edge_references();
    let edges = edges.map(|edge| edge.weight()).filter(|edge| {
        let ordered = !edge.carried && edge.kind != DependenceKind::Reduction;
        ordered && earlier.contains(&edge.source) && later.contains(&edge.sink)
    });
    let mut orders: Vec<ReportOrdered> = Vec::new();
    for edge in edges {
        let ordered = ReportOrdered {
            src: edge.source.0,
            dst: edge.sink.0,
            buffer: edge.buffer.clone(),
            kind: kind_name(edge.kind).to_owned(),
        };
        if !orders.contains(&ordered) {
            orders.push(ordered);
        }
    }
    Some(ReportGridBarrier { before, orders })
}

/// What is said of a barrier.
pub(super) fn line(report: &Report, barrier: &ReportGridBarrier) -> String {
    format!(
        "all blocks wait before {}: {}",
        name_at(report, barrier.before),
        needs(report, barrier)
    )
}

/// What is said of members that the last block runs.
pub(super) fn last_block_line(report: &Report, last: &ReportGridBarrier) -> String {
    format!(
        "{} is run by the last block to have run what stands before it: {}",
        name_at(report, last.before),
        needs(report, last)
    )
}

fn needs(report: &Report, barrier: &ReportGridBarrier) -> String {
    let needs: Vec<String> = barrier
        .orders
        .iter()
        .map(|ordered| {
            let (from, to) = (name_at(report, ordered.src), name_at(report, ordered.dst));
            let buffer = &ordered.buffer;
            match ordered.kind.as_str() {
                "anti" => format!("`{buffer}`, which {from} reads before {to} writes"),
                "output" => format!("`{buffer}`, which {from} writes before {to} does"),
                _ => format!("`{buffer}` of {from} for {to}"),
            }
        })
        .collect();
    list(&needs)
}
