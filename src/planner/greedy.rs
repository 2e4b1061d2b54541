//! Whatever may join, joins: the breadth-first pass of SIRIUS §4.1, on a problem.
//!
//! Where greedy grouping was done elsewhere, on more than a problem says, its patterns are the plan. Else each operator
//! in turn joins what it reads from, all of it where that is allowed, else the latest; then what reads the same joins;
//! then what has nothing to do with each other, side by side, where that takes no longer.

use super::contraction::find_cycle;
use super::oracle::union;
use super::{EdgeKind, FusionProblem, Oracle, Pattern, Plan, Planner, Scope};
use std::collections::BTreeSet;

/// Greedy's plan.
pub fn greedy(oracle: &mut Oracle<'_>) -> Plan {
    let patterns = match &oracle.problem().greedy {
        Some(patterns) => patterns.clone(),
        None => grow(oracle),
    };
    Plan::of(Planner::Greedy, patterns, oracle)
}

fn grow(oracle: &mut Oracle<'_>) -> Vec<Pattern> {
    let problem = oracle.problem();
    let count = problem.nodes.len();
    let mut groups: Vec<Pattern> = (0..count).map(|node| vec![node]).collect();
    let mut home: Vec<usize> = (0..count).collect();
    let join = |groups: &mut Vec<Pattern>, members: Pattern, home: &mut Vec<usize>| {
        let own = home[members[members.len() - 1]];
        for node in &members {
            let before = std::mem::replace(&mut home[*node], own);
            if before != own {
                groups[before].clear();
            }
        }
        groups[own] = members;
    };
    for node in 0..count {
        let into = problem.edges.iter().filter(|edge| {
            edge.sink == node && edge.kind == EdgeKind::Flow && edge.scope != Scope::Global
        });
        let sources: BTreeSet<usize> = into.map(|edge| home[edge.source]).collect();
        let all = sources
            .iter()
            .fold(groups[home[node]].clone(), |all, source| {
                union(&all, &groups[*source])
            });
        let mut attempts = vec![all];
        let latest_first = sources.iter().rev();
        attempts.extend(latest_first.map(|source| union(&groups[home[node]], &groups[*source])));
        let attempt = attempts
            .into_iter()
            .find(|attempt| attempt.len() > 1 && may_be_one(oracle, &groups, attempt));
        if let Some(members) = attempt {
            join(&mut groups, members, &mut home);
        }
    }
    for edge in &problem.edges {
        let [one, other] = [edge.source, edge.sink].map(|node| home[node]);
        if edge.kind != EdgeKind::Shared || one == other {
            continue;
        }
        let both = union(&groups[one], &groups[other]);
        if may_be_one(oracle, &groups, &both) {
            join(&mut groups, both, &mut home);
        }
    }
    for node in 0..count {
        let own = home[node];
        let earlier: BTreeSet<usize> = (0..node).map(|node| home[node]).collect();
        for other in earlier.into_iter().rev().filter(|other| *other != own) {
            let both = union(&groups[own], &groups[other]);
            let parts = [&groups[own], &groups[other]].map(|part| oracle.gain(part).unwrap_or(0.0));
            if are_related(oracle, &groups[own], &groups[other]) {
                continue;
            }
            let pays = oracle
                .gain(&both)
                .is_some_and(|gain| gain >= parts[0] + parts[1]);
            if pays && may_be_one(oracle, &groups, &both) {
                join(&mut groups, both, &mut home);
                break;
            }
        }
    }
    groups
}

/// Whether a pattern may take the place of its parts.
fn may_be_one(oracle: &mut Oracle<'_>, groups: &[Pattern], pattern: &Pattern) -> bool {
    oracle.nanoseconds(pattern).is_some() && stays_acyclic(oracle.problem(), groups, pattern)
}

/// Whether the contracted graph has no cycle when a pattern takes the place of those that it has operators of.
pub(super) fn stays_acyclic(
    problem: &FusionProblem,
    groups: &[Pattern],
    pattern: &Pattern,
) -> bool {
    let others = groups.iter().filter(|group| {
        let mut members = group.iter();
        group.len() > 1 && !members.any(|node| pattern.binary_search(node).is_ok())
    });
    let all: Vec<Pattern> = others.chain([pattern]).cloned().collect();
    find_cycle(problem, &all).is_none()
}

/// Whether there is an edge between them.
fn are_related(oracle: &Oracle<'_>, one: &[usize], other: &[usize]) -> bool {
    let mut edges = oracle.problem().edges.iter();
    edges.any(|edge| {
        let across = |from: &[usize], to: &[usize]| {
            from.binary_search(&edge.source).is_ok() && to.binary_search(&edge.sink).is_ok()
        };
        across(one, other) || across(other, one)
    })
}
