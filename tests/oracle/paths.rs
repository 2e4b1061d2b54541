//! Dependences that the graph tells by a path instead of an edge.
//!
//! A graph of many launches leaves out the edge between two that are far apart when a path of edges
//! that always exist leads from one to the other and no fused launch can hold it: one of its edges
//! separates, or it has more nodes than a group. Everything here is deliberately narrower than
//! what the compiler leaves out only in that two operations close to each other need an edge.

use std::collections::{BTreeMap, BTreeSet};

/// An edge of the static graph that always exists.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Earlier and later node.
    pub ends: (u64, u64),
    /// Into a later iteration or call.
    pub carried: bool,
    /// No group can hold both ends: of global scope, or not between launches.
    pub separates: bool,
}

/// The steps of a graph, and where its nodes stand.
pub struct Paths {
    steps: BTreeMap<u64, Vec<Step>>,
    /// The operations on device memory, by node.
    places: BTreeMap<u64, usize>,
}

/// Most launches of a group.
const LARGEST_GROUP: usize = 32;
/// Operations no further apart than this have their own edges.
const NEIGHBOURS: usize = 8;

impl Paths {
    /// `operations` are the nodes that touch device memory, in host order.
    pub fn new(steps: impl IntoIterator<Item = Step>, operations: &[u64]) -> Self {
        let mut by_source: BTreeMap<u64, Vec<Step>> = BTreeMap::new();
        for step in steps {
            by_source.entry(step.ends.0).or_default().push(step);
        }
        let places = operations.iter().enumerate();
        Self {
            steps: by_source,
            places: places.map(|(place, node)| (*node, place)).collect(),
        }
    }

    /// Whether a path speaks for a dependence. One within an iteration does only where `within`
    /// allows it: when there is an edge that is too narrow, only one into a later iteration can.
    pub fn speak_for(&self, from: u64, to: u64, within: bool) -> bool {
        let (Some(start), Some(end)) = (self.places.get(&from), self.places.get(&to)) else {
            return false;
        };
        let far = end.checked_sub(*start).is_some_and(|far| far > NEIGHBOURS);
        let many = self.places.len() > NEIGHBOURS;
        // Node, edges so far, carried, separated.
        let mut seen = BTreeSet::new();
        let mut work = vec![(from, 0, false, false)];
        while let Some((node, length, carried, separated)) = work.pop() {
            for step in self.steps.get(&node).into_iter().flatten() {
                if carried && step.carried {
                    continue;
                }
                let state = (
                    step.ends.1,
                    LARGEST_GROUP.min(length + 1),
                    carried || step.carried,
                    separated || step.separates,
                );
                let holds_no_group = state.3 || state.1 >= LARGEST_GROUP;
                let counts = if state.2 { many } else { within && far };
                if state.0 == to && length > 0 && holds_no_group && counts {
                    return true;
                }
                if seen.insert(state) {
                    work.push(state);
                }
            }
        }
        false
    }
}

/// That paths speak for what they should, and for nothing else.
pub fn check_paths() -> Result<(), String> {
    let chain = |count: u64, separates: Option<u64>, carried: Option<u64>| -> Vec<Step> {
        let step = |from| Step {
            ends: (from, from + 1),
            carried: carried == Some(from),
            separates: separates == Some(from),
        };
        (0..count).map(step).collect()
    };
    let nodes: Vec<u64> = (0..60).collect();
    let few: Vec<u64> = (0..8).collect();
    // Steps, operations, from, to, whether a path within an iteration counts; the answer.
    let cases = [
        (chain(20, Some(4), None), &nodes, (0, 9), true, true),
        (chain(20, Some(4), None), &nodes, (0, 8), true, false),
        (chain(20, Some(4), None), &nodes, (0, 9), false, false),
        (chain(20, Some(12), None), &nodes, (0, 9), true, false),
        (chain(20, None, None), &nodes, (0, 20), true, false),
        (chain(40, None, None), &nodes, (0, 31), true, false),
        (chain(40, None, None), &nodes, (0, 32), true, true),
        (chain(40, None, None), &nodes, (5, 0), true, false),
        (chain(20, Some(4), Some(4)), &nodes, (0, 9), false, true),
        (chain(7, Some(4), Some(4)), &few, (0, 6), false, false),
        (chain(1, Some(0), None), &nodes, (0, 1), true, false),
    ];
    for (number, (steps, operations, (from, to), within, expected)) in cases.into_iter().enumerate()
    {
        if Paths::new(steps, operations).speak_for(from, to, within) != expected {
            return Err(format!("paths, case {number}: expected {expected}"));
        }
    }
    Ok(())
}
