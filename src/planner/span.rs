//! Fusion layer by layer from the results, after DeepFusion's work and span analysis.
//!
//! The span of an operator is the longest way from it to a result. Operators of one span are a *layer* and do not depend
//! on each other. From the results on, elementwise operators of a layer with equal grids become roots together; then
//! each root takes in what it reads from, span by span. An operator that cannot join is *given up*, and so is what it
//! reads from, since a kernel that held that would have to run before and after it. DeepFusion asks whether one
//! schedule fits all members; a launch has one schedule, and the oracle says whether all members keep their scope
//! under it. What fits joins where the kernel then takes no longer than before.

use super::greedy::stays_acyclic;
use super::oracle::union;
use super::{Class, EdgeKind, FusionProblem, Oracle, Pattern, Plan, Planner};
use std::collections::{BTreeMap, BTreeSet};

/// The plan by layers.
pub fn span(oracle: &mut Oracle<'_>) -> Plan {
    let problem = oracle.problem();
    let spans = spans(problem);
    let mut layers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, span) in spans.iter().enumerate() {
        layers.entry(*span).or_default().push(node);
    }
    let readers = readers(problem);
    let mut fused = vec![false; problem.nodes.len()];
    let mut patterns: Vec<Pattern> = Vec::new();
    for layer in layers.values() {
        let free: Vec<usize> = layer.iter().copied().filter(|node| !fused[*node]).collect();
        for roots in roots(oracle, &free) {
            let pattern = take_in(
                oracle,
                roots,
                (&layers, &spans, &readers),
                &patterns,
                &fused,
            );
            for node in &pattern {
                fused[*node] = true;
            }
            patterns.push(pattern);
        }
    }
    Plan::of(Planner::Span, patterns, oracle)
}

/// The longest ways to results.
fn spans(problem: &FusionProblem) -> Vec<usize> {
    let mut spans = vec![0; problem.nodes.len()];
    let mut edges: Vec<(usize, usize)> = problem
        .edges
        .iter()
        .filter(|edge| edge.kind != EdgeKind::Shared)
        .map(|edge| (edge.source, edge.sink))
        .collect();
    edges.sort_unstable_by(|one, other| other.cmp(one));
    for (source, sink) in edges {
        spans[source] = spans[source].max(spans[sink] + 1);
    }
    spans
}

/// By operator who must come after it.
fn readers(problem: &FusionProblem) -> Vec<BTreeSet<usize>> {
    let mut readers = vec![BTreeSet::new(); problem.nodes.len()];
    for edge in &problem.edges {
        if edge.kind != EdgeKind::Shared {
            readers[edge.source].insert(edge.sink);
        }
    }
    readers
}

/// Elementwise operators of a layer with equal grids together, each other one by itself.
fn roots(oracle: &mut Oracle<'_>, layer: &[usize]) -> Vec<Pattern> {
    let problem = oracle.problem();
    let mut roots: Vec<Pattern> = Vec::new();
    for node in layer {
        let own = &problem.nodes[*node];
        let fits = |other: usize| {
            let other = &problem.nodes[other];
            other.class == Class::Elementwise && other.blocks == own.blocks
        };
        let home = roots.iter().position(|root| {
            own.class == Class::Elementwise
                && root.iter().all(|other| fits(*other))
                && gains(oracle, root, &[*node])
        });
        match home {
            Some(home) => roots[home] = union(&roots[home], &[*node]),
            None => roots.push(vec![*node]),
        }
    }
    roots
}

type Layers<'a> = (
    &'a BTreeMap<usize, Vec<usize>>,
    &'a [usize],
    &'a [BTreeSet<usize>],
);

/// A pattern with what it reads from, as far as that fits.
fn take_in(
    oracle: &mut Oracle<'_>,
    roots: Pattern,
    (layers, spans, readers): Layers<'_>,
    patterns: &[Pattern],
    fused: &[bool],
) -> Pattern {
    let Some(first) = roots.first().map(|root| spans[*root]) else {
        return roots;
    };
    let mut pattern = roots;
    let mut given_up: BTreeSet<usize> = BTreeSet::new();
    for node in layers.range(first + 1..).flat_map(|(_, layer)| layer) {
        let reads = |inside: &Pattern| readers[*node].iter().any(|reader| inside.contains(reader));
        let leads_to_given_up = readers[*node]
            .iter()
            .any(|reader| given_up.contains(reader));
        if !reads(&pattern) && !leads_to_given_up {
            continue;
        }
        let larger = union(&pattern, &[*node]);
        if leads_to_given_up
            || fused[*node]
            || !gains(oracle, &pattern, &[*node])
            || !stays_acyclic(oracle.problem(), patterns, &larger)
        {
            given_up.insert(*node);
            continue;
        }
        pattern = larger;
    }
    pattern
}

/// Whether both may be one, and take no longer so.
pub(super) fn gains(oracle: &mut Oracle<'_>, one: &[usize], other: &[usize]) -> bool {
    let parts = [one, other].map(|part| oracle.gain(part));
    let together = oracle.gain(&union(one, other));
    match (parts, together) {
        ([Some(first), Some(second)], Some(both)) => both >= first + second,
        _ => false,
    }
}
