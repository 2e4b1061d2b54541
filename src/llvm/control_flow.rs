//! The control flow of a function: what dominates what, and its loops, by blocks.

use super::{Block, Value};
use crate::math::flow::FlowGraph;
use std::collections::{HashMap, HashSet};

/// The blocks that a function's entry reaches, as they are when it is asked for.
pub(crate) struct ControlFlow {
    /// Breadth first; their places are the numbers of the graph.
    blocks: Vec<Block>,
    numbers: HashMap<Block, usize>,
    predecessors: Vec<Vec<Block>>,
    graph: FlowGraph,
}

/// A cycle with one entry.
pub(crate) struct NaturalLoop {
    /// The block that every entry and every iteration passes.
    pub(crate) header: Block,
    /// The blocks that lead back to the header.
    pub(crate) latches: Vec<Block>,
    /// All of them, those of inner loops included.
    pub(crate) blocks: HashSet<Block>,
}

impl ControlFlow {
    /// `None` for a function without a body.
    pub(crate) fn of(function: Value) -> Option<Self> {
        let entry = *function.blocks().first()?;
        Some(Self::among(entry, |_| true))
    }

    /// That of some blocks of a function that the first one reaches through others of them.
    pub(crate) fn among(entry: Block, is_one: impl Fn(Block) -> bool) -> Self {
        let mut numbers = HashMap::from([(entry, 0)]);
        let mut blocks = vec![entry];
        let mut successors: Vec<Vec<usize>> = Vec::new();
        let mut predecessors: Vec<Vec<Block>> = vec![Vec::new()];
        while let Some(block) = blocks.get(successors.len()).copied() {
            let mut next = Vec::new();
            for to in block.successors().into_iter().filter(|to| is_one(*to)) {
                let number = *numbers.entry(to).or_insert_with(|| {
                    blocks.push(to);
                    predecessors.push(Vec::new());
                    blocks.len() - 1
                });
                if !next.contains(&number) {
                    predecessors[number].push(block);
                }
                next.push(number);
            }
            successors.push(next);
        }
        Self {
            blocks,
            numbers,
            predecessors,
            graph: FlowGraph::new(successors),
        }
    }

    /// All blocks that are reached, breadth first.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> {
        self.blocks.iter().copied()
    }

    /// The blocks from which a block is entered, each once.
    pub(crate) fn predecessors(&self, block: Block) -> &[Block] {
        let number = self.numbers.get(&block);
        number.map_or(&[], |number| self.predecessors[*number].as_slice())
    }

    /// Whether every way to a block leads through another; a block that is reached dominates itself.
    pub(crate) fn dominates(&self, one: Block, other: Block) -> bool {
        let ends = self.numbers.get(&one).zip(self.numbers.get(&other));
        ends.is_some_and(|(one, other)| self.graph.dominators().dominates(*one, *other))
    }

    /// The nearest other block that stands on every way to a block.
    pub(crate) fn immediate_dominator(&self, block: Block) -> Option<Block> {
        let above = self
            .graph
            .dominators()
            .immediate(*self.numbers.get(&block)?)?;
        Some(self.blocks[above])
    }

    /// The blocks that stand on every way to a block, the nearest first, which is itself.
    pub(crate) fn dominators(&self, block: Block) -> impl Iterator<Item = Block> {
        let number = self.numbers.get(&block).into_iter();
        let chain = number.flat_map(|number| self.graph.dominators().chain(*number));
        chain.map(|number| self.blocks[number])
    }

    /// How many blocks stand on every way to a block, itself among them.
    pub(crate) fn depth(&self, block: Block) -> usize {
        self.dominators(block).count()
    }

    /// Whether each cycle has one entry.
    pub(crate) fn is_reducible(&self) -> bool {
        self.graph.is_reducible()
    }

    /// The blocks that may lead to themselves.
    pub(crate) fn repeated(&self) -> HashSet<Block> {
        let repeated = self.graph.repeated().into_iter();
        repeated.map(|number| self.blocks[number]).collect()
    }

    /// The ends of iterations, each with the block that the next one begins with.
    pub(crate) fn back_edges(&self) -> impl Iterator<Item = (Block, Block)> + '_ {
        let edges = self.graph.back_edges();
        edges.map(|(latch, header)| (self.blocks[latch], self.blocks[header]))
    }

    /// The loops, by the places of their headers among the blocks.
    pub(crate) fn natural_loops(&self) -> Vec<NaturalLoop> {
        let block = |number: usize| self.blocks[number];
        let mut loops = self.graph.natural_loops();
        loops.sort_by_key(|found| found.header);
        loops
            .into_iter()
            .map(|found| NaturalLoop {
                header: block(found.header),
                latches: found.latches.into_iter().map(block).collect(),
                blocks: found.blocks.into_iter().map(block).collect(),
            })
            .collect()
    }

    /// What leads to a block without passing a header, and that.
    pub(crate) fn loop_of(&self, header: Block, latch: Block) -> HashSet<Block> {
        let ends = self.numbers.get(&header).zip(self.numbers.get(&latch));
        let found = ends.map(|(header, latch)| self.graph.loop_of(*header, &[*latch]));
        let numbers = found.into_iter().flatten();
        numbers.map(|number| self.blocks[number]).collect()
    }
}
