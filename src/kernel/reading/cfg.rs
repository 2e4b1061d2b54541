//! Control flow: dominators, natural loops, and the acyclic graph of each loop level.
//!
//! A *level* is the function body or the body of one loop, with every loop directly inside it
//! collapsed to its header and without back edges: an acyclic graph, over which path conditions
//! are computed. Invariant: every block belongs to exactly one level, and every path of the
//! function is a path of levels.

use super::super::body::{BlockRef, Body, Terminator};
use crate::math::flow::{Dominators, FlowGraph, reverse_postorder};
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
    graph: FlowGraph,
    /// Of the graph with one more vertex, for the end of a thread.
    post_dominators: Dominators,
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
        let successors = (body.blocks.iter()).map(|block| block.terminator.successors());
        let numbers = successors.map(|after| after.iter().map(|to| to.0).collect());
        let mut successors: Vec<Vec<usize>> = numbers.collect();
        let graph = FlowGraph::new(successors.clone());
        // A trap ends the whole grid, so blocks that end in one are no way out for a thread.
        for (block, after) in body.blocks.iter().zip(&mut successors) {
            if matches!(block.terminator, Terminator::Return) {
                after.push(count);
            }
        }
        successors.push(Vec::new());
        let blocks = |numbers: &[usize]| numbers.iter().copied().map(BlockRef).collect();
        let mut flow = Self {
            predecessors: (0..count).map(|n| blocks(graph.predecessors(n))).collect(),
            order: Vec::new(),
            loops: Vec::new(),
            innermost: vec![None; count],
            irreducible: !graph.is_reducible(),
            post_dominators: Dominators::backwards(&successors, count),
            graph,
        };
        flow.find_loops(body);
        flow.order = blocks(&flow.order_by_loops());
        flow
    }

    /// Loops in one piece: all that a loop may be left for counts as a successor of its header, and is visited, and so finished,
    /// before any other block of the loop is. Of the other successors of a block the deepest come first.
    fn order_by_loops(&self) -> Vec<usize> {
        let depth = |block: &usize| self.loops_of(BlockRef(*block)).len();
        let successors = (0..self.innermost.len()).map(|block| {
            let mut after = self.graph.successors(block).to_vec();
            after.sort_by_key(|to| std::cmp::Reverse(depth(to)));
            after
        });
        let mut successors: Vec<Vec<usize>> = successors.collect();
        for each in &self.loops {
            let behind = each.exits.iter().map(|(_, to)| to.0);
            successors[each.header.0].extend(behind);
        }
        reverse_postorder(&successors)
    }

    /// Whether every path to `below` passes `above`.
    pub fn dominates(&self, above: BlockRef, below: BlockRef) -> bool {
        self.graph.dominators().dominates(above.0, below.0)
    }

    /// The nearest block that every way out from `block` passes; `None` when that is the end of
    /// the thread, or when there is no way out.
    pub fn immediate_post_dominator(&self, block: BlockRef) -> Option<BlockRef> {
        let behind = self.post_dominators.immediate(block.0)?;
        (behind < self.innermost.len()).then_some(BlockRef(behind))
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
        let mut numbers = BTreeMap::new();
        let mut nodes = Vec::new();
        for block in self.order.iter().filter(|block| contains(**block)) {
            if self.representative(*block, of) == *block {
                numbers.insert(*block, nodes.len());
                nodes.push(*block);
            }
        }
        let end = nodes.len();
        let mut after = vec![Vec::new(); end + 1];
        let mut incoming: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for block in self.order.iter().filter(|block| contains(**block)) {
            let from = self.representative(*block, of);
            let successors = body.block(*block).terminator.successors();
            if successors.is_empty() {
                after[numbers[&from]].push(end);
            }
            for to in successors {
                if !contains(to) || to == entry {
                    after[numbers[&from]].push(end);
                    continue;
                }
                let target = self.representative(to, of);
                if target != from {
                    after[numbers[&from]].push(numbers[&target]);
                    incoming.entry(target).or_default().push((*block, to));
                }
            }
        }
        let dominators = Dominators::of(&after, numbers[&entry]);
        let post_dominators = Dominators::backwards(&after, end);
        let mut immediate_dominator = BTreeMap::new();
        let mut always_reached = BTreeSet::new();
        for node in &nodes {
            let Some(above) = dominators.immediate(numbers[node]) else {
                continue;
            };
            immediate_dominator.insert(*node, nodes[above]);
            if post_dominators.dominates(numbers[node], above) {
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
        // An outer loop's header comes before its inner ones'.
        for found in self.graph.natural_loops() {
            let header = BlockRef(found.header);
            let latches = found.latches.into_iter().map(BlockRef).collect();
            let blocks: BTreeSet<_> = found.blocks.into_iter().map(BlockRef).collect();
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

#[cfg(test)]
mod tests {
    use super::super::body::{Block, Tables, ValueRef};
    use super::*;
    use crate::diagnostics::Location;

    /// A body whose blocks have these successors.
    fn body(successors: &[&[usize]]) -> Body {
        let block = |after: &&[usize]| Block {
            instructions: Vec::new(),
            terminator: match **after {
                [] => Terminator::Return,
                [next] => Terminator::Jump(BlockRef(next)),
                [on_true, on_false] => Terminator::Branch {
                    condition: ValueRef(0),
                    on_true: BlockRef(on_true),
                    on_false: BlockRef(on_false),
                },
                _ => unreachable!("a branch has two ways"),
            },
            location: Location::default(),
        };
        Body {
            name: String::new(),
            location: Location::default(),
            formals: Vec::new(),
            values: Vec::new(),
            blocks: successors.iter().map(block).collect(),
            max_threads: None,
            is_clustered: false,
            tables: Tables::default(),
        }
    }

    #[test]
    fn loops_are_in_one_piece() {
        for successors in [
            // Two loops, one behind the other, whichever way a branch leaves them.
            &[&[1][..], &[2, 3], &[1], &[4, 5], &[3], &[]][..],
            &[&[1], &[3, 2], &[1], &[5, 4], &[3], &[]],
            &[&[1], &[3, 2], &[1], &[4, 5], &[3], &[]],
            // A loop that its second branch leaves, with one way around that does not pass it.
            &[&[1], &[2, 3], &[1], &[5, 4], &[1], &[]],
            &[&[1], &[3, 2], &[1], &[4, 5], &[1], &[]],
            // A loop in a loop, both of which an inner block leaves for the end.
            &[&[1], &[5, 2], &[3, 4], &[2, 5], &[1], &[]],
            &[&[1], &[2, 5], &[4, 3], &[5, 2], &[1], &[]],
        ] {
            let flow = Flow::new(&body(successors));
            let place = |block: &BlockRef| flow.order.iter().position(|each| each == block);
            for each in &flow.loops {
                let places: Vec<usize> = each.blocks.iter().filter_map(place).collect();
                let (first, last) = (places.iter().min(), places.iter().max());
                let span = last.zip(first).map(|(last, first)| last - first + 1);
                assert_eq!(span, Some(places.len()), "{successors:?}: {:?}", flow.order);
                assert_eq!(place(&each.header), first.copied(), "{successors:?}");
            }
            // Forwards, but for the edges back to headers.
            for (from, after) in successors.iter().enumerate() {
                for to in *after {
                    let back = flow.dominates(BlockRef(*to), BlockRef(from));
                    let forwards = place(&BlockRef(from)) < place(&BlockRef(*to));
                    assert_eq!(forwards, !back, "{successors:?}: {:?}", flow.order);
                }
            }
        }
    }
}
