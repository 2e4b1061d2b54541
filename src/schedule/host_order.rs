//! What stands between two operations of the host.
//!
//! Invariant: two launches are *in step* only if each run of the second has exactly one run of the
//! first before it, in the same iteration of the same innermost loop; then [`HostOrder::between`]
//! lists every node that can run after the first and before the second.

use crate::launch::{HostBlockId, LaunchGraph, NodeId};
use std::collections::HashMap;

/// Answers about the order of host operations, remembered by block.
pub(super) struct HostOrder<'a> {
    graph: &'a LaunchGraph,
    predecessors: Vec<Vec<HostBlockId>>,
    after: HashMap<HostBlockId, Vec<bool>>,
    before: HashMap<HostBlockId, Vec<bool>>,
}

impl<'a> HostOrder<'a> {
    pub(super) fn new(graph: &'a LaunchGraph) -> Self {
        let mut predecessors = vec![Vec::new(); graph.blocks.len()];
        for (index, block) in graph.blocks.iter().enumerate() {
            for successor in &block.successors {
                predecessors[successor.0].push(HostBlockId(index));
            }
        }
        Self {
            graph,
            predecessors,
            after: HashMap::new(),
            before: HashMap::new(),
        }
    }

    /// The nodes strictly between two nodes in step, in host order; `None` when they are not.
    pub(super) fn between(&mut self, first: NodeId, second: NodeId) -> Option<Vec<NodeId>> {
        let (from, to) = (
            self.graph.nodes[first.0].block,
            self.graph.nodes[second.0].block,
        );
        let blocks = &self.graph.blocks;
        if blocks[from.0].function != blocks[to.0].function
            || blocks[from.0].innermost_loop != blocks[to.0].innermost_loop
            || !self.dominates(from, to)
        {
            return None;
        }
        let place = |block: HostBlockId, node: NodeId| {
            blocks[block.0]
                .nodes
                .iter()
                .position(|probe| *probe == node)
        };
        let (start, end) = (place(from, first)?, place(to, second)?);
        if from == to {
            let inside = blocks[from.0].nodes.get(start + 1..end)?;
            return (!self.after(from)[from.0]).then(|| inside.to_vec());
        }
        let after = self.after(from).clone();
        let before = self.before(to).clone();
        if !after[to.0] || after[from.0] || before[to.0] {
            return None;
        }
        let mut between = blocks[from.0].nodes[start + 1..].to_vec();
        for index in 0..blocks.len() {
            if after[index] && before[index] && index != to.0 && index != from.0 {
                between.extend(&blocks[index].nodes);
            }
        }
        between.extend(&blocks[to.0].nodes[..end]);
        between.sort();
        Some(between)
    }

    /// Blocks on the way from one block to another within an iteration, both left out.
    pub(super) fn blocks_between(&mut self, from: HostBlockId, to: HostBlockId) -> Vec<bool> {
        let after = self.after(from).clone();
        let before = self.before(to);
        let mut between: Vec<bool> = after.iter().zip(before).map(|(a, b)| *a && *b).collect();
        between[from.0] = false;
        between[to.0] = false;
        between
    }

    fn dominates(&self, first: HostBlockId, second: HostBlockId) -> bool {
        let mut block = Some(second);
        // The bound guards against a graph whose dominators run in a circle.
        for _ in 0..=self.graph.blocks.len() {
            match block {
                Some(at) if at == first => return true,
                Some(at) => block = self.graph.blocks[at.0].immediate_dominator,
                None => return false,
            }
        }
        false
    }

    /// The header of the innermost loop around a block: where an iteration ends.
    fn header(&self, block: HostBlockId) -> Option<HostBlockId> {
        let innermost = self.graph.blocks[block.0].innermost_loop?;
        Some(self.graph.loops[innermost].header)
    }

    /// Blocks reached from `from` by at least one edge within the iteration.
    fn after(&mut self, from: HostBlockId) -> &Vec<bool> {
        let header = self.header(from);
        let graph = self.graph;
        self.after.entry(from).or_insert_with(|| {
            flood(graph.blocks.len(), from, |block| {
                let next = graph.blocks[block.0].successors.iter().copied();
                next.filter(|block| Some(*block) != header).collect()
            })
        })
    }

    /// Blocks that reach `to` by at least one edge within the iteration.
    fn before(&mut self, to: HostBlockId) -> &Vec<bool> {
        let header = self.header(to);
        let (predecessors, count) = (&self.predecessors, self.graph.blocks.len());
        self.before.entry(to).or_insert_with(|| {
            flood(count, to, |block| {
                // An edge into the header starts another iteration.
                if Some(block) == header {
                    return Vec::new();
                }
                predecessors[block.0].clone()
            })
        })
    }
}

fn flood(
    count: usize,
    from: HostBlockId,
    next: impl Fn(HostBlockId) -> Vec<HostBlockId>,
) -> Vec<bool> {
    let mut seen = vec![false; count];
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        for block in next(block) {
            if !seen[block.0] {
                seen[block.0] = true;
                work.push(block);
            }
        }
    }
    seen
}
