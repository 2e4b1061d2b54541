//! Host control flow: what stands between two nodes.
//!
//! Recomputed from the blocks' successors; the graph's own dominator and loop fields are used only
//! for the header of the innermost loop, where an iteration ends.

use crate::launch::{HostBlockId, LaunchGraph, NodeId};
use petgraph::algo::{dominators::simple_fast, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The order of host operations.
pub(in crate::verify) struct HostOrder<'a> {
    graph: &'a LaunchGraph,
    /// The position of each node in its block.
    positions: Vec<usize>,
    predecessors: Vec<Vec<HostBlockId>>,
    /// When a walk over the tree of dominators enters and leaves each block; zero where it never
    /// does.
    visits: Vec<(usize, usize)>,
    /// Blocks that can be met twice without an edge into the header, by the header.
    repeating: RefCell<HashMap<Option<HostBlockId>, Rc<Vec<bool>>>>,
}

impl<'a> HostOrder<'a> {
    /// Looks at the blocks of all functions.
    pub(in crate::verify) fn new(graph: &'a LaunchGraph) -> Self {
        let mut positions = vec![usize::MAX; graph.nodes.len()];
        let mut predecessors = vec![Vec::new(); graph.blocks.len()];
        for (index, block) in graph.blocks.iter().enumerate() {
            for (position, node) in block.nodes.iter().enumerate() {
                positions[node.0] = position;
            }
            for next in &block.successors {
                predecessors[next.0].push(HostBlockId(index));
            }
        }
        let visits = walk_dominators(graph);
        Self {
            graph,
            positions,
            predecessors,
            visits,
            repeating: RefCell::default(),
        }
    }

    /// Whether both are in one function and one innermost loop, the first is on every path from
    /// the function's entry to the second, and between the first and the second neither is met
    /// again: then the two alternate, the first once for each time that the second runs.
    pub(in crate::verify) fn in_step(&self, from: NodeId, to: NodeId) -> bool {
        let (first, last) = (self.block(from), self.block(to));
        let blocks = [&self.graph.blocks[first.0], &self.graph.blocks[last.0]];
        if blocks[0].function != blocks[1].function
            || blocks[0].innermost_loop != blocks[1].innermost_loop
            || !self.dominates(first, last)
        {
            return false;
        }
        let repeating = self.repeating(self.header(first));
        if repeating[first.0] || repeating[last.0] {
            return false;
        }
        let (start, end) = (self.positions[from.0], self.positions[to.0]);
        if start == usize::MAX || end == usize::MAX {
            return false;
        }
        match first == last {
            true => start < end,
            // A header between the two would start another iteration.
            false => self.walk_back(first, last).1,
        }
    }

    /// Whether both are in one function and one innermost loop, an iteration can come from the first to the second, and
    /// neither is met again in it.
    pub(in crate::verify) fn may_follow(&self, from: NodeId, to: NodeId) -> bool {
        let (first, last) = (self.block(from), self.block(to));
        let blocks = [&self.graph.blocks[first.0], &self.graph.blocks[last.0]];
        if blocks[0].function != blocks[1].function
            || blocks[0].innermost_loop != blocks[1].innermost_loop
        {
            return false;
        }
        let header = self.header(first);
        let repeating = self.repeating(header);
        let (start, end) = (self.positions[from.0], self.positions[to.0]);
        !repeating[first.0]
            && !repeating[last.0]
            && start != usize::MAX
            && end != usize::MAX
            && match first == last {
                true => start < end,
                false => reachable(self.graph, first, header).contains(&last),
            }
    }

    /// Whether both are in one function and one innermost loop, and an iteration comes to one of the two at most, and once.
    pub(in crate::verify) fn never_both(&self, one: NodeId, other: NodeId) -> bool {
        let (first, last) = (self.block(one), self.block(other));
        let blocks = [&self.graph.blocks[first.0], &self.graph.blocks[last.0]];
        let header = self.header(first);
        let repeating = self.repeating(header);
        first != last
            && blocks[0].function == blocks[1].function
            && blocks[0].innermost_loop == blocks[1].innermost_loop
            && !repeating[first.0]
            && !repeating[last.0]
            && !reachable(self.graph, first, header).contains(&last)
            && !reachable(self.graph, last, header).contains(&first)
    }

    /// Whether some block, met once in an iteration of the loop that the first is in, is on every path to all of
    /// these operations: there none of them has run yet.
    pub(in crate::verify) fn share_a_beginning(&self, nodes: &[NodeId]) -> bool {
        let Some(first) = nodes.first().map(|node| self.block(*node)) else {
            return false;
        };
        let repeating = self.repeating(self.header(first));
        let innermost = self.graph.blocks[first.0].innermost_loop;
        let above_all = |block: HostBlockId| {
            let mut nodes = nodes.iter();
            nodes.all(|node| self.dominates(block, self.block(*node)))
        };
        // Of blocks above one another the nearest is entered last.
        let all = (0..self.graph.blocks.len()).map(HostBlockId);
        let common = all.filter(|block| above_all(*block));
        let nearest = common.max_by_key(|block| self.visits[block.0].0);
        nearest.is_some_and(|block| {
            !repeating[block.0] && self.graph.blocks[block.0].innermost_loop == innermost
        })
    }

    /// The nodes that an operation passes which moves from one place down to another, in host order; `None` when the
    /// one [may not follow](Self::may_follow) the other.
    /// What it does not come to is behind the beginning of one of the blocks `issued_before`.
    pub(in crate::verify) fn nodes_between(
        &self,
        from: NodeId,
        to: NodeId,
        issued_before: &[HostBlockId],
    ) -> Option<Vec<NodeId>> {
        if !self.may_follow(from, to) {
            return None;
        }
        let (first, last) = (self.block(from), self.block(to));
        let (start, end) = (self.positions[from.0], self.positions[to.0]);
        let blocks = &self.graph.blocks;
        if first == last {
            return Some(blocks[first.0].nodes[start + 1..end].to_vec());
        }
        let mut between: Vec<NodeId> = blocks[first.0].nodes[start + 1..].to_vec();
        for block in self.blocks_on_the_way(first, last, issued_before) {
            if block != first {
                between.extend(&blocks[block.0].nodes);
            }
        }
        between.extend(&blocks[last.0].nodes[..end]);
        between.sort();
        Some(between)
    }

    /// The blocks in which a launch of `first` waits for its group's place in `last`: `first`
    /// itself and those on a path between the two within an iteration, which enters none of the blocks
    /// `issued_before`.
    pub(in crate::verify) fn blocks_on_the_way(
        &self,
        first: HostBlockId,
        last: HostBlockId,
        issued_before: &[HostBlockId],
    ) -> BTreeSet<HostBlockId> {
        if first == last {
            return BTreeSet::new();
        }
        let way = self.walk_back(first, last).0;
        if issued_before.is_empty() && self.dominates(first, last) {
            return way;
        }
        // Some paths to the last do not come from the first. A block on the way is reached from it past none of
        // those, and leads to the last past none.
        let header = self.header(first);
        let mut reached = BTreeSet::from([first]);
        let mut pending = vec![first];
        while let Some(block) = pending.pop() {
            for next in &self.graph.blocks[block.0].successors {
                let enters = Some(*next) != header && !issued_before.contains(next);
                if enters && way.contains(next) && reached.insert(*next) {
                    pending.push(*next);
                }
            }
        }
        reached
    }

    /// The first and what is on a way to the last without entering the header, and whether the
    /// first itself is. A walk backwards ends at the first, and where it does not come by there, at the header or
    /// the function's entry.
    fn walk_back(&self, first: HostBlockId, last: HostBlockId) -> (BTreeSet<HostBlockId>, bool) {
        let header = self.header(first);
        let mut way = BTreeSet::from([first]);
        let mut met = false;
        let mut pending = vec![last];
        while let Some(block) = pending.pop() {
            if Some(block) == header {
                continue;
            }
            for before in &self.predecessors[block.0] {
                met |= *before == first;
                let reachable = self.visits[before.0].0 > 0;
                if *before != last && reachable && way.insert(*before) {
                    pending.push(*before);
                }
            }
        }
        (way, met)
    }

    fn block(&self, node: NodeId) -> HostBlockId {
        self.graph.nodes[node.0].block
    }

    /// Where an iteration of the innermost loop around a block ends.
    fn header(&self, block: HostBlockId) -> Option<HostBlockId> {
        let innermost = self.graph.blocks[block.0].innermost_loop?;
        Some(self.graph.loops[innermost].header)
    }

    /// Every path from the function's entry to `second` meets `first`.
    fn dominates(&self, first: HostBlockId, second: HostBlockId) -> bool {
        let (first, second) = (self.visits[first.0], self.visits[second.0]);
        first.0 > 0 && second.0 > 0 && first.0 <= second.0 && second.1 <= first.1
    }

    /// Blocks on a circle that does not enter `header`.
    fn repeating(&self, header: Option<HostBlockId>) -> Rc<Vec<bool>> {
        let mut known = self.repeating.borrow_mut();
        let found = known.entry(header).or_insert_with(|| {
            let flow = flow(self.graph, header);
            let mut repeating = vec![false; self.graph.blocks.len()];
            for component in kosaraju_scc(&flow) {
                let circle = component.len() > 1 || flow.contains_edge(component[0], component[0]);
                for block in component {
                    repeating[block.index()] = circle;
                }
            }
            Rc::new(repeating)
        });
        Rc::clone(found)
    }
}

/// Blocks reachable by at least one edge, never entering `barred`.
pub(in crate::verify) fn reachable(
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

/// The blocks and the edges between them, without those into `barred`.
fn flow(graph: &LaunchGraph, barred: Option<HostBlockId>) -> DiGraph<(), ()> {
    let mut flow = DiGraph::new();
    for _ in &graph.blocks {
        flow.add_node(());
    }
    for (index, block) in graph.blocks.iter().enumerate() {
        for next in &block.successors {
            if Some(*next) != barred {
                flow.add_edge(NodeIndex::new(index), NodeIndex::new(next.0), ());
            }
        }
    }
    flow
}

/// Times at which each block's dominators are entered and left.
fn walk_dominators(graph: &LaunchGraph) -> Vec<(usize, usize)> {
    let flow = flow(graph, None);
    let mut visits = vec![(0, 0); graph.blocks.len()];
    let mut clock = 0;
    for function in &graph.functions {
        let entry = NodeIndex::new(function.entry.0);
        let dominators = simple_fast(&flow, entry);
        let mut children: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
        for (index, block) in graph.blocks.iter().enumerate() {
            let block_index = NodeIndex::new(index);
            if graph.functions[block.function].entry == function.entry
                && let Some(above) = dominators.immediate_dominator(block_index)
            {
                children.entry(above).or_default().push(block_index);
            }
        }
        let mut work = vec![(entry, false)];
        while let Some((block, leave)) = work.pop() {
            clock += 1;
            if leave {
                visits[block.index()].1 = clock;
            } else if visits[block.index()].0 == 0 {
                visits[block.index()].0 = clock;
                work.push((block, true));
                let below = children.remove(&block).unwrap_or_default();
                work.extend(below.into_iter().map(|child| (child, false)));
            }
        }
    }
    visits
}
