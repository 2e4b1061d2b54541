//! Why the iterations of a host loop stay launches of their own: most launches of real programs are made by few sites
//! in a loop, and the boundary that costs most is that from the last launch of one iteration to the first of the next.

use super::super::group::{Judge, launches, orders};
use super::super::obstacle::{Candidate, rejection};
use super::super::unfused::{data_moves, name, obstacles};
use super::super::{BatchedRegion, Missed};
use crate::build::Fusion;
use crate::dependence::{DependenceGraph, DependenceKind, Edge, Scope};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind};
use std::collections::{BTreeSet, HashMap};

/// For each host loop the last and the first launch in it, where the launches of one iteration do not run with those
/// of the next, and why. Of loops around each other that have the same two, the innermost is named.
pub(in crate::schedule) fn between_iterations<'a>(
    judge: &Judge<'a>,
    dependences: &DependenceGraph,
    candidates: &HashMap<NodeId, Result<Candidate<'a>, Rejection>>,
    regions: &[BatchedRegion],
) -> Vec<Missed> {
    let graph = judge.graph;
    let mut by_loop: HashMap<usize, Vec<NodeId>> = HashMap::new();
    // Sets and copies are no launches.
    let is_launch = |node: &NodeId| match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => graph.operation_of(launch.id).is_none(),
        _ => false,
    };
    for node in launches(graph).filter(is_launch) {
        for around in graph.loops_around(graph.nodes[node.0].block) {
            by_loop.entry(around).or_default().push(node);
        }
    }
    let mut found: Vec<usize> = by_loop.keys().copied().collect();
    let depth = |index: usize| graph.loops_around(graph.loops[index].header).len();
    found.sort_by_key(|index| (std::cmp::Reverse(depth(*index)), *index));
    let mut told: BTreeSet<(NodeId, NodeId)> = BTreeSet::new();
    let mut missed = Vec::new();
    for index in found {
        let inside = &by_loop[&index];
        let (Some(first), Some(last)) = (inside.first(), inside.last()) else {
            continue;
        };
        let is_in_kernel = regions.iter().any(|region| {
            let mut statements = region.statements.iter();
            statements.any(|statement| statement.persistent.is_some())
                && holds(graph, region, inside)
                && region.outside_loops < depth(index)
        });
        if is_in_kernel {
            continue;
        }
        let runs_once = graph.loops[index].trip.is_some_and(|trip| trip <= 1);
        if runs_once || !told.insert((*last, *first)) {
            continue;
        }
        let this = Loop {
            index,
            launches: inside,
            in_region: regions
                .iter()
                .any(|region| holds(graph, region, inside) && region.outside_loops < depth(index)),
        };
        if let Some(rejection) = why(judge, dependences, candidates, &this) {
            missed.push(Missed {
                source: *last,
                sink: *first,
                rejection,
                carried: true,
            });
        }
    }
    missed.sort_by_key(|missed| (missed.source, missed.sink));
    missed
}

/// A host loop with launches.
struct Loop<'l> {
    index: usize,
    /// In host order.
    launches: &'l [NodeId],
    /// Its launches wait for those of other iterations.
    in_region: bool,
}

/// Whether launches that wait are among some launches.
fn holds(graph: &LaunchGraph, region: &BatchedRegion, launches: &[NodeId]) -> bool {
    let waiting: BTreeSet<LaunchId> = region.statements.iter().map(|each| each.launch).collect();
    launches.iter().any(|node| match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => waiting.contains(&launch.id),
        _ => false,
    })
}

fn why<'a>(
    judge: &Judge<'a>,
    dependences: &DependenceGraph,
    candidates: &HashMap<NodeId, Result<Candidate<'a>, Rejection>>,
    this: &Loop<'_>,
) -> Option<Rejection> {
    let graph = judge.graph;
    let (first, last) = (*this.launches.first()?, *this.launches.last()?);
    let location = &graph.nodes[first.0].location;
    if judge.options.fusion == Fusion::Off {
        return Some(judge.disabled(location));
    }
    let own = this.launches.iter().filter_map(|node| candidates.get(node));
    let own: Vec<&Rejection> = own
        .filter_map(|candidate| candidate.as_ref().err())
        .collect();
    let opaque = |found: &&&Rejection| found.reason == RejectionReason::OpaqueKernel;
    if let Some(found) = own.iter().find(opaque) {
        return Some((*found).clone());
    }
    let between = between(graph, this);
    if let Some(found) = data_moves(judge, last, &between) {
        return Some(found);
    }
    let carried = |edge: &&Edge| {
        edge.carried
            && orders(edge)
            && this.launches.binary_search(&edge.source).is_ok()
            && this.launches.binary_search(&edge.sink).is_ok()
            && is_carried_by(edge, this.index)
            // What is only overwritten gets other memory where launches wait.
            && (edge.kind == DependenceKind::Flow || !this.in_region)
    };
    let mut edges: Vec<&Edge> = dependences.edges().filter(carried).collect();
    // Values that are handed on say more than memory that is used again, and what crosses blocks more than what does not.
    edges.sort_by_key(|edge| {
        (
            edge.scope != Scope::Global,
            edge.kind != DependenceKind::Flow,
            edge.source != last,
        )
    });
    if let Some(edge) = edges.iter().find(|edge| edge.scope == Scope::Global) {
        let reason = edge.reason.unwrap_or(RejectionReason::GlobalDependence);
        return Some(Rejection {
            reason,
            message: format!("from one iteration to the next, {}", edge.explanation()),
            detail: edge.relation.to_string(),
            location: edge.location.clone(),
        });
    }
    if let Some(found) = obstacles(judge, last, &between).into_iter().next() {
        return Some(found);
    }
    if let Some(found) = own.first() {
        return Some((*found).clone());
    }
    let told = |message: String| Some(rejection(RejectionReason::HostLoop, message, location));
    match edges.first() {
        Some(edge) => {
            let [source, sink] = [edge.source, edge.sink].map(|node| name(judge, node));
            let whose = match edge.scope {
                Scope::Thread => "each thread",
                _ => "each block",
            };
            told(format!(
                "{sink} needs `{}` as {source} left it in the iteration before, {whose} only what it left itself; such \
                 a loop runs inside the kernel where it holds one launch, or launches that fuse, with the same pointers, \
                 grid and block each time, and the host does nothing else in it",
                edge.buffer
            ))
        }
        // They wait, and run together.
        None if this.in_region => None,
        None => told(String::from(
            "the iterations do not depend on each other, but their launches do not wait for each other: it is not \
             known which memory each of them touches, or nothing would be saved",
        )),
    }
}

/// Operations that stand in a loop behind its last launch or before its first, in host order.
fn between(graph: &LaunchGraph, this: &Loop<'_>) -> Vec<NodeId> {
    let ends = (this.launches.first(), this.launches.last());
    let (Some(first), Some(last)) = ends else {
        return Vec::new();
    };
    let nodes = graph.nodes.iter().filter(|node| {
        let outside = node.id < *first || node.id > *last;
        outside && graph.loops_around(node.block).contains(&this.index)
    });
    nodes.map(|node| node.id).collect()
}

/// Whether the ends of an edge may be in different iterations of a loop.
fn is_carried_by(edge: &Edge, index: usize) -> bool {
    edge.distances.is_empty()
        || edge
            .distances
            .iter()
            .any(|distance| distance.host_loop == index && distance.most != Some(0))
}
