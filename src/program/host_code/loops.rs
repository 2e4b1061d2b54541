//! Loops of functions.

use crate::llvm::{Block, Opcode, Value};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, HashSet};

/// The blocks of a function, and what dominates what.
pub(in crate::program) struct Flow {
    blocks: Vec<Block>,
    graph: DiGraph<(), ()>,
    dominators: Dominators<NodeIndex>,
}

impl Flow {
    /// Of a function with a body.
    pub(in crate::program) fn of(function: Value) -> Self {
        let blocks = function.blocks();
        let number: HashMap<Block, usize> = blocks
            .iter()
            .enumerate()
            .map(|(index, block)| (*block, index))
            .collect();
        let mut graph = DiGraph::new();
        blocks.iter().for_each(|_| {
            graph.add_node(());
        });
        for (index, block) in blocks.iter().enumerate() {
            for next in block.successors() {
                if let Some(next) = number.get(&next) {
                    graph.add_edge(NodeIndex::new(index), NodeIndex::new(*next), ());
                }
            }
        }
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        Self {
            blocks,
            graph,
            dominators,
        }
    }

    fn dominates(&self, one: NodeIndex, other: NodeIndex) -> bool {
        let above = self.dominators.dominators(other);
        above.is_some_and(|mut above| above.any(|block| block == one))
    }

    /// Whether control can come from one block to another without `through`; a block comes to itself.
    pub(in crate::program) fn reaches_without(
        &self,
        from: Block,
        to: Block,
        through: Block,
    ) -> bool {
        let place = |block: Block| self.blocks.iter().position(|each| *each == block);
        let (Some(from), Some(to), Some(through)) = (place(from), place(to), place(through)) else {
            return false;
        };
        let mut seen = HashSet::from([through]);
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if !seen.insert(block) {
                continue;
            }
            if block == to {
                return true;
            }
            let after = self.graph.neighbors(NodeIndex::new(block));
            open.extend(after.map(NodeIndex::index));
        }
        false
    }

    /// The ends of iterations, each with the block that the next one begins with.
    fn edges_back(&self) -> impl Iterator<Item = (NodeIndex, NodeIndex)> + '_ {
        let ends = self.graph.edge_indices();
        let ends = ends.filter_map(|edge| self.graph.edge_endpoints(edge));
        ends.filter(|(latch, header)| self.dominates(*header, *latch))
    }

    /// The same, as blocks.
    pub(in crate::program) fn back_edges(&self) -> impl Iterator<Item = (Block, Block)> + '_ {
        self.edges_back()
            .map(|(latch, header)| (self.blocks[latch.index()], self.blocks[header.index()]))
    }

    /// Whether control comes to one block only through another.
    pub(in crate::program) fn comes_through(&self, block: Block, through: Block) -> bool {
        let place = |block: Block| self.blocks.iter().position(|each| *each == block);
        let ends = place(block).zip(place(through));
        ends.is_some_and(|(block, through)| {
            self.dominates(NodeIndex::new(through), NodeIndex::new(block))
        })
    }

    /// The innermost loop with one end around a block.
    pub(in crate::program) fn innermost(&self, block: Block) -> Option<Loop> {
        let loops = self.loops().into_iter();
        let around = loops.filter(|each| each.blocks.contains(&block));
        around.min_by_key(|each| each.blocks.len())
    }

    /// The loops with one end.
    pub(in crate::program) fn loops(&self) -> Vec<Loop> {
        let mut latches: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
        for (latch, header) in self.edges_back() {
            latches.entry(header).or_default().push(latch);
        }
        let single = latches
            .into_iter()
            .filter_map(|(header, latches)| match latches.as_slice() {
                [latch] => Some((header, *latch)),
                _ => None,
            });
        single
            .map(|(header, latch)| {
                let mut inside = HashSet::from([header]);
                let mut open = vec![latch];
                while let Some(block) = open.pop() {
                    if inside.insert(block) {
                        let before = self.graph.neighbors_directed(block, petgraph::Incoming);
                        open.extend(before);
                    }
                }
                let block = |index: NodeIndex| self.blocks[index.index()];
                Loop {
                    header: block(header),
                    latch: block(latch),
                    blocks: inside.into_iter().map(block).collect(),
                }
            })
            .collect()
    }
}

/// A loop with one end.
pub(in crate::program) struct Loop {
    /// Its first block, which all others are reached through.
    pub(in crate::program) header: Block,
    /// The one block that goes back to the header.
    pub(in crate::program) latch: Block,
    /// All of them.
    pub(in crate::program) blocks: HashSet<Block>,
}

impl Loop {
    /// Whether a value is a phi of the header.
    pub(in crate::program) fn is_own_phi(&self, value: Value) -> bool {
        value.opcode() == Some(Opcode::LLVMPHI) && value.parent_block() == Some(self.header)
    }

    /// What a value of the header is at first, and after an iteration.
    pub(in crate::program) fn incoming(&self, phi: Value) -> Option<(Value, Value)> {
        match phi.incoming().as_slice() {
            [(next, latch), (first, _)] | [(first, _), (next, latch)] if *latch == self.latch => {
                Some((*first, *next))
            }
            _ => None,
        }
    }
}
