//! Control flow: dominators, natural loops, and the acyclic graph of each loop level.
//!
//! A *level* is the function body or the body of one loop, with every loop directly inside it
//! collapsed to its header and without back edges: an acyclic graph, over which path conditions
//! are computed. Invariant: every block belongs to exactly one level, and every path of the
//! function is a path of levels.

use super::super::body::{BlockRef, Body, Terminator};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;
use std::collections::{BTreeMap, BTreeSet};

/// A natural loop.
#[derive(Clone, Debug)]
pub struct NaturalLoop {
    /// The block that every entry and every iteration passes.
    pub header: BlockRef,
    /// Blocks with an edge back to the header.
    pub latches: Vec<BlockRef>,
    /// All blocks, those of inner loops included.
    pub blocks: BTreeSet<BlockRef>,
    /// The enclosing loop, of smaller index.
    pub parent: Option<usize>,
    /// Edges that leave the loop.
    pub exits: Vec<(BlockRef, BlockRef)>,
}

/// The control flow of a body.
pub struct Flow {
    /// Edges in, by block.
    pub predecessors: Vec<Vec<BlockRef>>,
    /// Reachable blocks in reverse postorder, each loop in one piece.
    pub order: Vec<BlockRef>,
    /// Loops, outer before inner.
    pub loops: Vec<NaturalLoop>,
    /// The innermost loop of each block.
    pub innermost: Vec<Option<usize>>,
    /// Some cycle has more than one entry; loops and conditions then mean nothing.
    pub irreducible: bool,
    dominators: Dominators<NodeIndex>,
    post_dominators: Dominators<NodeIndex>,
    exit: NodeIndex,
}

/// The acyclic graph of a level.
pub struct Level {
    /// Its nodes in topological order, the entry first: blocks, and headers of inner loops.
    pub nodes: Vec<BlockRef>,
    /// For each node its incoming edges, as edges between blocks.
    pub incoming: BTreeMap<BlockRef, Vec<(BlockRef, BlockRef)>>,
    /// Immediate dominators within the level.
    pub immediate_dominator: BTreeMap<BlockRef, BlockRef>,
    /// Nodes that are on every path from their immediate dominator to the level's end.
    pub always_reached: BTreeSet<BlockRef>,
}

impl Flow {
    /// Analyses a body.
    pub fn new(body: &Body) -> Self {
        let count = body.blocks.len();
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = (0..=count).map(|_| graph.add_node(())).collect();
        let exit = nodes[count];
        let mut predecessors = vec![Vec::new(); count];
        let order = reverse_postorder(body, |_| 0);
        for block in &order {
            for to in body.block(*block).terminator.successors() {
                graph.add_edge(nodes[block.0], nodes[to.0], ());
                predecessors[to.0].push(*block);
            }
        }
        let dominators = simple_fast(&graph, nodes[0]);
        // A trap ends the whole grid, so blocks that end in one are no way out for a thread.
        for block in &order {
            if matches!(body.block(*block).terminator, Terminator::Return) {
                graph.add_edge(nodes[block.0], exit, ());
            }
        }
        let post_dominators = simple_fast(Reversed(&graph), exit);
        let mut flow = Self {
            predecessors,
            order,
            loops: Vec::new(),
            innermost: vec![None; count],
            irreducible: false,
            dominators,
            post_dominators,
            exit,
        };
        flow.find_loops(body);
        // Loops in one piece: what comes after a loop is visited, and so finished, first.
        flow.order = reverse_postorder(body, |block| flow.loops_of(block).len());
        flow
    }

    /// Whether every path to `below` passes `above`.
    pub fn dominates(&self, above: BlockRef, below: BlockRef) -> bool {
        self.dominators
            .dominators(NodeIndex::new(below.0))
            .is_some_and(|mut chain| chain.any(|node| node.index() == above.0))
    }

    /// The nearest block that every way out from `block` passes; `None` when that is the end of
    /// the thread, or when there is no way out.
    pub fn immediate_post_dominator(&self, block: BlockRef) -> Option<BlockRef> {
        let node = self
            .post_dominators
            .immediate_dominator(NodeIndex::new(block.0))?;
        (node != self.exit).then(|| BlockRef(node.index()))
    }

    /// Loops around a block, outermost first.
    pub fn loops_of(&self, block: BlockRef) -> Vec<usize> {
        let mut chain = Vec::new();
        let mut at = self.innermost[block.0];
        while let Some(index) = at {
            chain.push(index);
            at = self.loops[index].parent;
        }
        chain.reverse();
        chain
    }

    /// Blocks that some but not all threads may be in after `branch` sends them different ways:
    /// everything reachable from it before its nearest post-dominator.
    pub fn influence(&self, body: &Body, branch: BlockRef) -> BTreeSet<BlockRef> {
        let end = self.immediate_post_dominator(branch);
        let mut region = BTreeSet::new();
        let mut pending = body.block(branch).terminator.successors();
        while let Some(block) = pending.pop() {
            if Some(block) != end && region.insert(block) {
                pending.extend(body.block(block).terminator.successors());
            }
        }
        region
    }

    /// The level of a loop, or of the function for `None`.
    pub fn level(&self, body: &Body, of: Option<usize>) -> Level {
        let contains = |block: BlockRef| of.is_none_or(|l| self.loops[l].blocks.contains(&block));
        let entry = of.map_or(BlockRef(0), |l| self.loops[l].header);
        let mut graph = DiGraph::<(), ()>::new();
        let mut numbers = BTreeMap::new();
        let mut nodes = Vec::new();
        for block in self.order.iter().filter(|block| contains(**block)) {
            if self.representative(*block, of) == *block {
                numbers.insert(*block, graph.add_node(()));
                nodes.push(*block);
            }
        }
        let end = graph.add_node(());
        let mut incoming: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for block in self.order.iter().filter(|block| contains(**block)) {
            let from = self.representative(*block, of);
            let successors = body.block(*block).terminator.successors();
            if successors.is_empty() {
                graph.add_edge(numbers[&from], end, ());
            }
            for to in successors {
                if !contains(to) || to == entry {
                    graph.add_edge(numbers[&from], end, ());
                    continue;
                }
                let target = self.representative(to, of);
                if target != from {
                    graph.add_edge(numbers[&from], numbers[&target], ());
                    incoming.entry(target).or_default().push((*block, to));
                }
            }
        }
        let dominators = simple_fast(&graph, numbers[&entry]);
        let post_dominators = simple_fast(Reversed(&graph), end);
        let mut immediate_dominator = BTreeMap::new();
        let mut always_reached = BTreeSet::new();
        for node in &nodes {
            let Some(above) = dominators.immediate_dominator(numbers[node]) else {
                continue;
            };
            immediate_dominator.insert(*node, nodes[above.index()]);
            let reached = post_dominators
                .dominators(above)
                .is_some_and(|mut chain| chain.any(|at| at == numbers[node]));
            if reached {
                always_reached.insert(*node);
            }
        }
        Level {
            nodes,
            incoming,
            immediate_dominator,
            always_reached,
        }
    }

    /// The node of level `of` that stands for a block inside it.
    pub fn representative(&self, block: BlockRef, of: Option<usize>) -> BlockRef {
        let mut at = self.innermost[block.0];
        let mut node = block;
        while at != of {
            let Some(index) = at else {
                return node;
            };
            node = self.loops[index].header;
            at = self.loops[index].parent;
        }
        node
    }

    fn find_loops(&mut self, body: &Body) {
        let position: BTreeMap<_, _> = self
            .order
            .iter()
            .enumerate()
            .map(|(i, b)| (*b, i))
            .collect();
        let mut by_header: BTreeMap<usize, (BlockRef, Vec<BlockRef>)> = BTreeMap::new();
        for block in &self.order {
            for to in body.block(*block).terminator.successors() {
                if position[&to] <= position[block] {
                    if self.dominates(to, *block) {
                        by_header
                            .entry(position[&to])
                            .or_insert((to, Vec::new()))
                            .1
                            .push(*block);
                    } else {
                        self.irreducible = true;
                    }
                }
            }
        }
        // Headers in reverse postorder: an outer loop's header comes before its inner ones'.
        for (header, latches) in by_header.into_values() {
            let mut blocks = BTreeSet::from([header]);
            let mut pending = latches.clone();
            while let Some(block) = pending.pop() {
                if blocks.insert(block) {
                    pending.extend(self.predecessors[block.0].iter().copied());
                }
            }
            let exits = blocks
                .iter()
                .flat_map(|from| {
                    let successors = body.block(*from).terminator.successors();
                    successors.into_iter().map(move |to| (*from, to))
                })
                .filter(|(_, to)| !blocks.contains(to))
                .collect();
            let index = self.loops.len();
            let parent = self.innermost[header.0];
            for block in &blocks {
                self.innermost[block.0] = Some(index);
            }
            self.loops.push(NaturalLoop {
                header,
                latches,
                blocks,
                parent,
                exits,
            });
        }
    }
}

/// Reachable blocks in reverse postorder; of a block's successors the deepest come first.
fn reverse_postorder(body: &Body, depth: impl Fn(BlockRef) -> usize) -> Vec<BlockRef> {
    let successors: Vec<_> = body
        .blocks
        .iter()
        .map(|block| {
            let mut successors = block.terminator.successors();
            // What is visited last comes first, so equals are turned around to keep their order.
            successors.reverse();
            successors.sort_by_key(|block| depth(*block));
            successors
        })
        .collect();
    let mut seen = vec![false; body.blocks.len()];
    let mut finished = Vec::new();
    let mut stack = vec![(BlockRef(0), 0)];
    seen[0] = true;
    while let Some((block, next)) = stack.pop() {
        match successors[block.0].get(next) {
            Some(to) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[to.0], true) {
                    stack.push((*to, 0));
                }
            }
            None => finished.push(block),
        }
    }
    finished.reverse();
    finished
}
