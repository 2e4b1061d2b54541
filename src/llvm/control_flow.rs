//! The control flow of a function: what dominates what, and its loops, by blocks.

use super::{Block, Value};
use crate::math::flow::FlowGraph;
use std::collections::{HashMap, HashSet};

/// The blocks that a function's entry reaches, as they are when it is asked for.
pub(crate) struct ControlFlow<'ctx> {
    /// Breadth first; their places are the numbers of the graph.
    blocks: Vec<Block<'ctx>>,
    numbers: HashMap<Block<'ctx>, usize>,
    predecessors: Vec<Vec<Block<'ctx>>>,
    graph: FlowGraph,
}

/// A cycle with one entry.
pub(crate) struct NaturalLoop<'ctx> {
    /// The block that every entry and every iteration passes.
    pub(crate) header: Block<'ctx>,
    /// The blocks that lead back to the header.
    pub(crate) latches: Vec<Block<'ctx>>,
    /// All of them, those of inner loops included.
    pub(crate) blocks: HashSet<Block<'ctx>>,
}

impl<'ctx> ControlFlow<'ctx> {
    /// `None` for a function without a body.
    pub(crate) fn of(function: Value<'ctx>) -> Option<Self> {
        let entry = *function.blocks().first()?;
        Some(Self::among(entry, |_| true))
    }

    /// That of some blocks of a function that the first one reaches through others of them.
    pub(crate) fn among(entry: Block<'ctx>, is_one: impl Fn(Block<'ctx>) -> bool) -> Self {
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
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block<'ctx>> {
        self.blocks.iter().copied()
    }

    /// The blocks from which a block is entered, each once.
    pub(crate) fn predecessors(&self, block: Block) -> &[Block<'ctx>] {
        let number = self.numbers.get(&block);
        number.map_or(&[], |number| self.predecessors[*number].as_slice())
    }

    /// Whether every way to a block leads through another; a block that is reached dominates itself.
    pub(crate) fn dominates(&self, one: Block, other: Block) -> bool {
        let ends = self.numbers.get(&one).zip(self.numbers.get(&other));
        ends.is_some_and(|(one, other)| self.graph.dominators().dominates(*one, *other))
    }

    /// The nearest other block that stands on every way to a block.
    pub(crate) fn immediate_dominator(&self, block: Block) -> Option<Block<'ctx>> {
        let above = self
            .graph
            .dominators()
            .immediate(*self.numbers.get(&block)?)?;
        Some(self.blocks[above])
    }

    /// The blocks that stand on every way to a block, the nearest first, which is itself.
    pub(crate) fn dominators(&self, block: Block<'ctx>) -> impl Iterator<Item = Block<'ctx>> {
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
    pub(crate) fn repeated(&self) -> HashSet<Block<'ctx>> {
        let repeated = self.graph.repeated().into_iter();
        repeated.map(|number| self.blocks[number]).collect()
    }

    /// The ends of iterations, each with the block that the next one begins with.
    pub(crate) fn back_edges(&self) -> impl Iterator<Item = (Block<'ctx>, Block<'ctx>)> + '_ {
        let edges = self.graph.back_edges();
        edges.map(|(latch, header)| (self.blocks[latch], self.blocks[header]))
    }

    /// The loops, by the places of their headers among the blocks.
    pub(crate) fn natural_loops(&self) -> Vec<NaturalLoop<'ctx>> {
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
    pub(crate) fn loop_of(&self, header: Block, latch: Block) -> HashSet<Block<'ctx>> {
        let ends = self.numbers.get(&header).zip(self.numbers.get(&latch));
        let found = ends.map(|(header, latch)| self.graph.loop_of(*header, &[*latch]));
        let numbers = found.into_iter().flatten();
        numbers.map(|number| self.blocks[number]).collect()
    }
}
