//! Host control flow: what stands between two nodes.
//!
//! Recomputed from the blocks' successors by plain reachability; the graph's own dominator and loop
//! fields are used only for the header of the innermost loop, where an iteration ends.

use crate::launch::{HostBlockId, LaunchGraph, NodeId};
use std::collections::BTreeSet;

/// The nodes strictly between two nodes on the paths from one to the other, in host order.
///
/// `None` unless both are in one function and one innermost loop, the first is on every path from
/// the function's entry to the second, and between the first and the second neither is met again:
/// then the two alternate, the first once for each time that the second runs.
pub(super) fn nodes_between(graph: &LaunchGraph, from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
    let (first, last) = (graph.nodes[from.0].block, graph.nodes[to.0].block);
    let (first_block, last_block) = (&graph.blocks[first.0], &graph.blocks[last.0]);
    if first_block.function != last_block.function
        || first_block.innermost_loop != last_block.innermost_loop
        || !dominates(graph, first, last)
    {
        return None;
    }
    let header = first_block
        .innermost_loop
        .map(|index| graph.loops[index].header);
    let after_first = reachable(graph, first, header);
    let after_last = reachable(graph, last, header);
    if after_first.contains(&first) || after_last.contains(&last) {
        return None;
    }
    let position =
        |block: HostBlockId, node| graph.blocks[block.0].nodes.iter().position(|n| *n == node);
    let (start, end) = (position(first, from)?, position(last, to)?);
    if first == last {
        return (start < end).then(|| first_block.nodes[start + 1..end].to_vec());
    }
    if !after_first.contains(&last) {
        return None;
    }
    let mut between: Vec<NodeId> = first_block.nodes[start + 1..].to_vec();
    for block in after_first {
        if block != last && reachable(graph, block, header).contains(&last) {
            between.extend(&graph.blocks[block.0].nodes);
        }
    }
    between.extend(&last_block.nodes[..end]);
    between.sort();
    Some(between)
}

/// The blocks in which a launch of `first` waits for its group's place in `last`: `first` itself
/// and those on a path between the two within an iteration.
pub(super) fn blocks_on_the_way(
    graph: &LaunchGraph,
    first: HostBlockId,
    last: HostBlockId,
) -> BTreeSet<HostBlockId> {
    if first == last {
        return BTreeSet::new();
    }
    let header = graph.blocks[first.0]
        .innermost_loop
        .map(|index| graph.loops[index].header);
    let mut way = reachable(graph, first, header);
    way.retain(|block| *block != last && reachable(graph, *block, header).contains(&last));
    way.insert(first);
    way
}

/// Blocks reachable by at least one edge, never entering `barred`.
pub(super) fn reachable(
    graph: &LaunchGraph,
    from: HostBlockId,
    barred: Option<HostBlockId>,
) -> BTreeSet<HostBlockId> {
    let mut seen = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(block) = pending.pop() {
        for successor in &graph.blocks[block.0].successors {
            if Some(*successor) != barred && seen.insert(*successor) {
                pending.push(*successor);
            }
        }
    }
    seen
}

/// Every path from the function's entry to `second` meets `first`.
fn dominates(graph: &LaunchGraph, first: HostBlockId, second: HostBlockId) -> bool {
    let entry = graph.functions[graph.blocks[first.0].function].entry;
    first == second
        || first == entry
        || (entry != second && !reachable(graph, entry, Some(first)).contains(&second))
}
