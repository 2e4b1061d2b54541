//! What stands between two operations of the host.
//!
//! Invariants: two launches are *in step* only if each run of the second has exactly one run of the
//! first before it, in the same iteration of the same innermost loop. One *follows* another if it can run behind
//! the other in such an iteration, and neither runs twice there; then [`HostOrder::between`] lists every node that
//! can run after the first and before the second.

use crate::launch::{HostBlockId, LaunchGraph, NodeId};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Answers about the order of host operations.
pub(in crate::schedule) struct HostOrder<'a> {
    graph: &'a LaunchGraph,
    /// The position of each node in its block.
    positions: Vec<Option<usize>>,
    predecessors: Vec<Vec<HostBlockId>>,
    /// When a walk over the dominator tree enters and leaves each block; `None` where it never does.
    visits: Vec<Option<(usize, usize)>>,
    /// Whether each block can be met again within an iteration, by the header that ends it.
    repeating: RefCell<HashMap<Option<HostBlockId>, Rc<[bool]>>>,
}

impl<'a> HostOrder<'a> {
    pub(in crate::schedule) fn new(graph: &'a LaunchGraph) -> Self {
        let mut positions = vec![None; graph.nodes.len()];
        let mut predecessors = vec![Vec::new(); graph.blocks.len()];
        for (index, block) in graph.blocks.iter().enumerate() {
            for (position, node) in block.nodes.iter().enumerate() {
                positions[node.0] = Some(position);
            }
            for successor in &block.successors {
                predecessors[successor.0].push(HostBlockId(index));
            }
        }
        Self {
            graph,
            positions,
            predecessors,
            visits: walk(graph),
            repeating: RefCell::default(),
        }
    }

    /// Whether two nodes are in step, the first before the second.
    pub(in crate::schedule) fn in_step(&self, first: NodeId, second: NodeId) -> bool {
        let [from, to] = [first, second].map(|node| self.graph.nodes[node.0].block);
        let [one, two] = [from, to].map(|block| &self.graph.blocks[block.0]);
        if one.function != two.function
            || one.innermost_loop != two.innermost_loop
            || !self.dominates(from, to)
        {
            return false;
        }
        let places = (self.positions[first.0], self.positions[second.0]);
        let (Some(start), Some(end)) = places else {
            return false;
        };
        let repeating = self.repeating(from);
        !repeating[from.0] && !repeating[to.0] && (from != to || start < end)
    }

    /// Whether the second can run after the first in an iteration of the innermost loop around both, in which neither
    /// runs twice. Each may stand under conditions of its own.
    pub(in crate::schedule) fn follows(&self, first: NodeId, second: NodeId) -> bool {
        let [from, to] = [first, second].map(|node| self.graph.nodes[node.0].block);
        let [one, two] = [from, to].map(|block| &self.graph.blocks[block.0]);
        let places = (self.positions[first.0], self.positions[second.0]);
        let (Some(start), Some(end)) = places else {
            return false;
        };
        let repeating = self.repeating(from);
        one.function == two.function
            && one.innermost_loop == two.innermost_loop
            && !repeating[from.0]
            && !repeating[to.0]
            && match from == to {
                true => start < end,
                false => self.leads_to(first, second),
            }
    }

    /// Whether the second surely runs in an iteration in which the first did, but for errors that end the program.
    pub(in crate::schedule) fn surely_follows(&self, first: NodeId, second: NodeId) -> bool {
        if !self.follows(first, second) {
            return false;
        }
        let [from, to] = [first, second].map(|node| self.graph.nodes[node.0].block);
        let mut region = self.blocks_between(from, to, &BTreeSet::new());
        region.insert(from);
        let blocks = &self.graph.blocks;
        let successors = |block: &HostBlockId| blocks[block.0].successors.iter();
        from == to
            || region
                .iter()
                .flat_map(successors)
                .all(|next| *next == to || region.contains(next) || blocks[next.0].dead_end)
    }

    /// Whether an iteration can come from the first to the second without entering some blocks.
    pub(in crate::schedule) fn can_follow_without(
        &self,
        first: NodeId,
        second: NodeId,
        left_out: &BTreeSet<HostBlockId>,
    ) -> bool {
        let [from, to] = [first, second].map(|node| self.graph.nodes[node.0].block);
        let header = self.header(to);
        let forward = |block: HostBlockId| self.graph.blocks[block.0].successors.as_slice();
        let may_take = |_, next| Some(next) != header && !left_out.contains(&next);
        from == to || reached(from, forward, may_take).contains(&to)
    }

    /// Whether there is a block from which an iteration comes to all of these operations, if it comes to them at all, and
    /// which is met once in it.
    pub(in crate::schedule) fn have_one_beginning(
        &self,
        nodes: impl IntoIterator<Item = NodeId>,
    ) -> bool {
        let block = |node: NodeId| self.graph.nodes[node.0].block;
        let blocks: Vec<HostBlockId> = nodes.into_iter().map(block).collect();
        let Some(first) = blocks.first() else {
            return false;
        };
        let innermost = self.graph.blocks[first.0].innermost_loop;
        let mut place = Some(*first);
        while let Some(block) = place {
            if blocks.iter().all(|other| self.dominates(block, *other)) {
                let own = &self.graph.blocks[block.0];
                return own.innermost_loop == innermost && !self.repeating(*first)[block.0];
            }
            place = self.graph.blocks[block.0].immediate_dominator;
        }
        false
    }

    /// Whether each way to the second passes the first.
    pub(in crate::schedule) fn always_before(&self, first: NodeId, second: NodeId) -> bool {
        let [from, to] = [first, second].map(|node| self.graph.nodes[node.0].block);
        self.dominates(from, to)
    }

    /// Whether control can come from the first to the second within an iteration of the innermost loop around both.
    pub(in crate::schedule) fn leads_to(&self, first: NodeId, second: NodeId) -> bool {
        let [from, to] = [first, second].map(|node| self.graph.nodes[node.0].block);
        if from == to {
            return true;
        }
        let (own, theirs) = (self.graph.loops_around(from), self.graph.loops_around(to));
        let common = own.iter().rev().find(|around| theirs.contains(around));
        let header = common.map(|around| self.graph.loops[*around].header);
        let mut seen = BTreeSet::from([from]);
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            for next in &self.graph.blocks[block.0].successors {
                if *next == to {
                    return true;
                }
                if Some(*next) != header && seen.insert(*next) {
                    work.push(*next);
                }
            }
        }
        false
    }

    /// The nodes strictly between two nodes of which one follows the other, in host order; `None` when it does not.
    pub(in crate::schedule) fn between(
        &self,
        first: NodeId,
        second: NodeId,
    ) -> Option<Vec<NodeId>> {
        if !self.in_step(first, second) && !self.follows(first, second) {
            return None;
        }
        self.between_without(first, second, &BTreeSet::new())
    }

    /// [`Self::between`], up to blocks that are left out.
    pub(in crate::schedule) fn between_without(
        &self,
        first: NodeId,
        second: NodeId,
        left_out: &BTreeSet<HostBlockId>,
    ) -> Option<Vec<NodeId>> {
        let [from, to] = [first, second].map(|node| self.graph.nodes[node.0].block);
        let (start, end) = (self.positions[first.0]?, self.positions[second.0]?);
        let blocks = &self.graph.blocks;
        if from == to {
            return Some(blocks[from.0].nodes[start + 1..end].to_vec());
        }
        let mut between = blocks[from.0].nodes[start + 1..].to_vec();
        for block in self.blocks_between(from, to, left_out) {
            between.extend(&blocks[block.0].nodes);
        }
        between.extend(&blocks[to.0].nodes[..end]);
        between.sort();
        Some(between)
    }

    /// Blocks on the ways from one block to another within an iteration, up to the blocks that are `left_out`; without both
    /// ends.
    pub(in crate::schedule) fn blocks_between(
        &self,
        from: HostBlockId,
        to: HostBlockId,
        left_out: &BTreeSet<HostBlockId>,
    ) -> BTreeSet<HostBlockId> {
        let header = self.header(to);
        if !left_out.is_empty() || !self.dominates(from, to) {
            let forward = |block: HostBlockId| self.graph.blocks[block.0].successors.as_slice();
            let backward = |block: HostBlockId| self.predecessors[block.0].as_slice();
            let behind = reached(from, forward, |_, next| {
                Some(next) != header && !left_out.contains(&next)
            });
            // A block that leads there past one that is left out alone is on the way to that one.
            let before = reached(to, backward, |block, _| Some(block) != header);
            let ends = [from, to];
            return behind
                .intersection(&before)
                .filter(|block| !ends.contains(block))
                .copied()
                .collect();
        }
        let mut between = BTreeSet::new();
        let mut work = vec![to];
        while let Some(block) = work.pop() {
            // An edge into the header starts another iteration.
            if Some(block) == header {
                continue;
            }
            for before in &self.predecessors[block.0] {
                let on_the_way = *before != from && *before != to && self.dominates(from, *before);
                if on_the_way && between.insert(*before) {
                    work.push(*before);
                }
            }
        }
        between
    }

    fn dominates(&self, first: HostBlockId, second: HostBlockId) -> bool {
        match (self.visits[first.0], self.visits[second.0]) {
            (Some(first), Some(second)) => first.0 <= second.0 && second.1 <= first.1,
            _ => false,
        }
    }

    /// The header of the innermost loop around a block: where an iteration ends.
    fn header(&self, block: HostBlockId) -> Option<HostBlockId> {
        let innermost = self.graph.blocks[block.0].innermost_loop?;
        Some(self.graph.loops[innermost].header)
    }

    /// Whether each block is met again without an edge into the header of the loop around `block`.
    fn repeating(&self, block: HostBlockId) -> Rc<[bool]> {
        let header = self.header(block);
        let graph = self.graph;
        let mut known = self.repeating.borrow_mut();
        let repeating = known.entry(header).or_insert_with(|| {
            let mut flow = DiGraph::<(), ()>::new();
            for _ in &graph.blocks {
                flow.add_node(());
            }
            for (index, block) in graph.blocks.iter().enumerate() {
                let next = block.successors.iter();
                for next in next.filter(|next| Some(**next) != header) {
                    flow.add_edge(NodeIndex::new(index), NodeIndex::new(next.0), ());
                }
            }
            let mut repeating = vec![false; graph.blocks.len()];
            for circle in kosaraju_scc(&flow) {
                let again = circle.len() > 1 || flow.contains_edge(circle[0], circle[0]);
                for block in circle {
                    repeating[block.index()] = again;
                }
            }
            repeating.into()
        });
        repeating.clone()
    }
}

/// Blocks that edges lead to, over those edges alone that may be taken.
fn reached<'a>(
    from: HostBlockId,
    edges: impl Fn(HostBlockId) -> &'a [HostBlockId],
    may_take: impl Fn(HostBlockId, HostBlockId) -> bool,
) -> BTreeSet<HostBlockId> {
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        for next in edges(block) {
            if may_take(block, *next) && seen.insert(*next) {
                work.push(*next);
            }
        }
    }
    seen
}

/// Times at which a walk over the dominator tree enters and leaves each block.
fn walk(graph: &LaunchGraph) -> Vec<Option<(usize, usize)>> {
    let mut children = vec![Vec::new(); graph.blocks.len()];
    for (index, block) in graph.blocks.iter().enumerate() {
        if let Some(above) = block.immediate_dominator {
            children[above.0].push(index);
        }
    }
    let mut entered = vec![None; graph.blocks.len()];
    let mut visits = vec![None; graph.blocks.len()];
    let mut clock = 0;
    let roots = (0..graph.blocks.len()).filter(|index| {
        // The entry, and blocks that nothing reaches.
        graph.blocks[*index].immediate_dominator.is_none()
    });
    for root in roots {
        let mut work = vec![(root, false)];
        while let Some((block, leave)) = work.pop() {
            clock += 1;
            if leave {
                visits[block] = entered[block].map(|entered| (entered, clock));
            } else if entered[block].is_none() {
                entered[block] = Some(clock);
                work.push((block, true));
                work.extend(children[block].iter().map(|child| (*child, false)));
            }
        }
    }
    visits
}
