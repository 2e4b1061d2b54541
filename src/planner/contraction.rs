//! The graph in which each pattern is one node.
//!
//! Invariant: what is called a cycle here is one of flow and order; edges of [`EdgeKind::Shared`] order nothing.

use super::{EdgeKind, FusionProblem, Pattern};
use std::collections::BTreeSet;

/// For each node those that must run after it, by one edge.
pub(super) fn successors(problem: &FusionProblem) -> Vec<Vec<usize>> {
    let mut successors = vec![Vec::new(); problem.nodes.len()];
    for edge in &problem.edges {
        if edge.kind != EdgeKind::Shared {
            successors[edge.source].push(edge.sink);
        }
    }
    for each in &mut successors {
        each.sort_unstable();
        each.dedup();
    }
    successors
}

/// Whether no way from one node of a pattern to another leaves the pattern. `successors` go from smaller nodes to larger
/// ones.
pub(super) fn is_convex(successors: &[Vec<usize>], pattern: &[usize]) -> bool {
    let (Some(first), Some(last)) = (pattern.first(), pattern.last()) else {
        return true;
    };
    let is_inside = |node: usize| pattern.binary_search(&node).is_ok();
    // Outside, and behind a node of the pattern.
    let mut outside = vec![false; last - first + 1];
    for node in *first..=*last {
        let inside = is_inside(node);
        if !inside && !outside[node - first] {
            continue;
        }
        for next in successors[node].iter().filter(|next| **next <= *last) {
            match is_inside(*next) {
                true if !inside => return false,
                true => {}
                false => outside[next - first] = true,
            }
        }
    }
    true
}

/// Whether a graph of groups without a cycle has one once two of the groups are one. `home` is the group of each node.
pub(super) fn closes_cycle(
    successors: &[Vec<usize>],
    (groups, home): (&[Pattern], &[usize]),
    one: usize,
    other: usize,
) -> bool {
    let is_inside = |group: usize| group == one || group == other;
    let mut seen = vec![false; groups.len()];
    let mut ways: Vec<usize> = Vec::new();
    let after = |group: usize| groups[group].iter().flat_map(|node| &successors[*node]);
    for next in after(one).chain(after(other)).map(|node| home[*node]) {
        if !is_inside(next) && !std::mem::replace(&mut seen[next], true) {
            ways.push(next);
        }
    }
    while let Some(group) = ways.pop() {
        for next in after(group).map(|node| home[*node]) {
            if is_inside(next) {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                ways.push(next);
            }
        }
    }
    false
}

/// A cycle of the graph in which each pattern is one node, as positions in `patterns`; `None` where there is none.
/// Patterns are disjoint.
pub fn find_cycle(problem: &FusionProblem, patterns: &[Pattern]) -> Option<Vec<usize>> {
    let successors = successors(problem);
    let count = problem.nodes.len();
    // Patterns come first, then the nodes that are in none.
    let mut home: Vec<usize> = (0..count).map(|node| patterns.len() + node).collect();
    for (index, pattern) in patterns.iter().enumerate() {
        for node in pattern {
            home[*node] = index;
        }
    }
    let mut edges: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); patterns.len() + count];
    for (node, after) in successors.iter().enumerate() {
        let own = home[node];
        edges[own].extend(
            after
                .iter()
                .map(|next| home[*next])
                .filter(|next| *next != own),
        );
    }
    let mut state = vec![State::New; edges.len()];
    for start in 0..edges.len() {
        if state[start] == State::New
            && let Some(cycle) = walk(&edges, &mut state, start)
        {
            let mut inside: Vec<usize> = cycle
                .into_iter()
                .filter(|at| *at < patterns.len())
                .collect();
            inside.sort_unstable();
            return Some(inside);
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// On the way to the node that is looked at.
    Open,
    Done,
}

/// Depth first from `start`; the first cycle that is met.
fn walk(edges: &[BTreeSet<usize>], state: &mut [State], start: usize) -> Option<Vec<usize>> {
    let mut way = vec![(start, edges[start].iter())];
    state[start] = State::Open;
    while let Some((node, rest)) = way.last_mut() {
        match rest.next() {
            None => {
                state[*node] = State::Done;
                way.pop();
            }
            Some(next) => match state[*next] {
                State::Done => {}
                State::Open => {
                    let nodes = way.iter().map(|(node, _)| *node);
                    return Some(nodes.skip_while(|node| node != next).collect());
                }
                State::New => {
                    state[*next] = State::Open;
                    way.push((*next, edges[*next].iter()));
                }
            },
        }
    }
    None
}
