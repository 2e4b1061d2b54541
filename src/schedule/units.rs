//! Repeating units of long launch sequences (a layer, a time step, a cell written out).
//!
//! Launches that join across the border of a unit make groups that differ from unit to unit. Groups
//! within units are equal, so that they share a kernel and those of one batch can be one launch.

use crate::launch::{LaunchGraph, NodeId, NodeKind};
use crate::program::KernelId;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A host function and the innermost loop around a launch.
type LoopBody = (usize, Option<usize>);

/// Which unit each launch is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    of: HashMap<NodeId, usize>,
}

impl Units {
    /// The units of a program; `None` when nothing repeats.
    pub(super) fn find(graph: &LaunchGraph) -> Option<Self> {
        let mut sequences: BTreeMap<LoopBody, Vec<(NodeId, KernelId)>> = BTreeMap::new();
        for node in &graph.nodes {
            let NodeKind::Launch(launch) = &node.kind else {
                continue;
            };
            let block = &graph.blocks[node.block.0];
            if let Some(kernel) = launch.kernel
                && graph.operation_of(launch.id).is_none()
            {
                let place = (block.function, block.innermost_loop);
                sequences.entry(place).or_default().push((node.id, kernel));
            }
        }
        let mut units = Self::default();
        let mut count = 0;
        for sequence in sequences.values() {
            let codes: Vec<KernelId> = sequence.iter().map(|(_, kernel)| *kernel).collect();
            for (stretch, period) in periodic(&codes) {
                for (position, (node, _)) in sequence[stretch.clone()].iter().enumerate() {
                    units.of.insert(*node, count + position / period);
                }
                count += stretch.len().div_ceil(period);
            }
        }
        (count > 0).then_some(units)
    }

    /// Whether two launches are in one unit, or both in none.
    pub(super) fn together(&self, one: NodeId, other: NodeId) -> bool {
        self.of.get(&one) == self.of.get(&other)
    }
}

/// The stretches of a sequence that repeat with a period of two or more, three times at least.
fn periodic(codes: &[KernelId]) -> Vec<(Range<usize>, usize)> {
    let mut found = Vec::new();
    let mut work = Vec::new();
    work.push(0..codes.len());
    while let Some(part) = work.pop() {
        if let Some((stretch, period)) = longest(codes, part.clone()) {
            work.push(part.start..stretch.start);
            work.push(stretch.end..part.end);
            if period > 1 {
                found.push((stretch, period));
            }
        }
    }
    found
}

/// The longest stretch of a part that repeats three times, with its period; of equal ones that of the
/// shortest period.
fn longest(codes: &[KernelId], part: Range<usize>) -> Option<(Range<usize>, usize)> {
    let part_codes = &codes[part.clone()];
    let mut best: Option<(Range<usize>, usize)> = None;
    for period in periods(part_codes) {
        let mut start = 0;
        for at in 0..=part_codes.len() {
            let equal = part_codes
                .get(at + period)
                .is_some_and(|code| *code == part_codes[at]);
            if equal {
                continue;
            }
            let length = at - start + period;
            let longer = best
                .as_ref()
                .is_none_or(|(stretch, _)| length > stretch.len());
            if at > start && length >= LEAST_REPEATS * period && longer {
                let from = part.start + start;
                best = Some((from..from + length, period));
            }
            start = at + 1;
        }
    }
    best
}

/// Distances that a kernel often comes back at, in ascending order.
fn periods(codes: &[KernelId]) -> Vec<usize> {
    let mut places: HashMap<KernelId, Vec<usize>> = HashMap::new();
    for (at, code) in codes.iter().enumerate() {
        places.entry(*code).or_default().push(at);
    }
    let mut periods: Vec<usize> = Vec::new();
    for places in places.values() {
        for times in 1..=MOST_TIMES_A_UNIT {
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for pair in places.windows(times + 1) {
                *counts.entry(pair[times] - pair[0]).or_default() += 1;
            }
            let most = counts.into_iter().max_by_key(|(_, count)| *count);
            periods.extend(
                most.filter(|(_, count)| *count + 1 >= LEAST_REPEATS)
                    .map(|(gap, _)| gap),
            );
        }
    }
    periods.sort_unstable();
    periods.dedup();
    periods
}

const LEAST_REPEATS: usize = 3;

/// A unit's period is found by a kernel that is launched so many times in it at most.
const MOST_TIMES_A_UNIT: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<(Range<usize>, usize)> {
        let codes: Vec<_> = text.bytes().map(|code| KernelId(code.into())).collect();
        let mut found = periodic(&codes);
        found.sort_by_key(|(stretch, _)| stretch.start);
        found
    }

    #[test]
    fn units_are_what_comes_back() {
        assert_eq!(units("xaabaabaaby"), [(1..10, 3)]);
        assert_eq!(units("abcabcabczdezdedededede").last(), Some(&(13..23, 2)));
        assert_eq!(units("abab"), [], "twice is not often");
        assert_eq!(units("aaaaaaaa"), [], "one launch is no unit");
        assert_eq!(units("abcdefghijk"), []);
        assert_eq!(units("aabbaabbaabb"), [(0..12, 4)]);
    }
}
