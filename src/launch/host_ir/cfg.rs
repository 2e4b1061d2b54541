//! Control flow of one host function: order, dominators, natural loops.
//!
//! Invariant: when [`ControlFlow::irreducible`] is false, every cycle of the function is a natural
//! loop, so "one iteration of the innermost common loop" is well defined.

use super::super::host_ir::Function;
use crate::math::flow::FlowGraph;
use std::collections::BTreeSet;

/// What is known of a function's control flow; blocks and loops are numbered within the function.
#[derive(Debug)]
pub struct ControlFlow {
    /// Reachable blocks in reverse postorder, in which every loop comes before what follows it: unless
    /// the function is irreducible, a block that runs after another without an iteration of a loop
    /// around both stands after it.
    pub order: Vec<usize>,
    /// Immediate dominator of each block.
    pub immediate_dominator: Vec<Option<usize>>,
    /// Reachable predecessors of each block.
    pub predecessors: Vec<Vec<usize>>,
    /// Dominance frontier of each block.
    pub frontier: Vec<BTreeSet<usize>>,
    /// Natural loops, outer ones first.
    pub loops: Vec<NaturalLoop>,
    /// Innermost loop of each block.
    pub innermost: Vec<Option<usize>>,
    /// Some cycle is no natural loop.
    pub irreducible: bool,
}

/// A natural loop.
#[derive(Debug)]
pub struct NaturalLoop {
    /// Where it is entered.
    pub header: usize,
    /// The enclosing loop.
    pub parent: Option<usize>,
    /// Its blocks.
    pub blocks: BTreeSet<usize>,
    /// Those of them from which control may leave it, ascending.
    pub exits: Vec<usize>,
}

/// The blocks from which the function's return can be reached.
pub fn returning(function: &Function) -> BTreeSet<usize> {
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let mut grown = true;
    while grown {
        let before = found.len();
        for (index, block) in function.blocks.iter().enumerate().rev() {
            if block.returns || block.successors.iter().any(|next| found.contains(next)) {
                found.insert(index);
            }
        }
        grown = found.len() > before;
    }
    found
}

impl ControlFlow {
    /// Analyses a function that has a body.
    pub fn new(function: &Function) -> Self {
        let count = function.blocks.len();
        let successors = function.blocks.iter();
        let graph = FlowGraph::new(successors.map(|block| block.successors.clone()).collect());
        let order = graph.order().to_vec();
        let above = |block| graph.dominators().immediate(block);
        let immediate_dominator: Vec<_> = (0..count).map(above).collect();
        let before = |block| graph.predecessors(block).to_vec();
        let predecessors: Vec<_> = (0..count).map(before).collect();
        let mut flow = Self {
            frontier: frontier(&order, &predecessors, &immediate_dominator),
            order,
            immediate_dominator,
            predecessors,
            loops: Vec::new(),
            innermost: vec![None; count],
            irreducible: !graph.is_reducible(),
        };
        flow.find_loops(function, &graph);
        if !flow.irreducible {
            flow.order = flow.ordered(function, None, 0);
        }
        flow
    }

    /// True when every path to `block` passes `dominator`.
    pub fn dominates(&self, dominator: usize, block: usize) -> bool {
        let mut at = Some(block);
        while let Some(block) = at {
            if block == dominator {
                return true;
            }
            at = self.immediate_dominator[block];
        }
        false
    }

    /// True when `block` is in loop `index`.
    pub fn contains(&self, index: usize, block: usize) -> bool {
        self.loops[index].blocks.contains(&block)
    }

    fn find_loops(&mut self, function: &Function, graph: &FlowGraph) {
        let mut loops: Vec<_> = (graph.natural_loops().into_iter())
            .map(|found| {
                let (header, blocks) = (found.header, found.blocks);
                let leaves = |block: &usize| {
                    let mut successors = function.blocks[*block].successors.iter();
                    successors.any(|successor| !blocks.contains(successor))
                };
                NaturalLoop {
                    header,
                    parent: None,
                    exits: blocks.iter().copied().filter(leaves).collect(),
                    blocks,
                }
            })
            .collect();
        loops.sort_by_key(|natural| {
            (
                std::cmp::Reverse(natural.blocks.len()),
                graph.position(natural.header),
            )
        });
        for inner in 0..loops.len() {
            let header = loops[inner].header;
            loops[inner].parent = (0..inner)
                .rev()
                .find(|outer| loops[*outer].blocks.contains(&header));
        }
        for (index, natural) in loops.iter().enumerate() {
            for block in &natural.blocks {
                self.innermost[*block] = Some(index);
            }
        }
        self.loops = loops;
    }

    /// The blocks of a loop, or of the whole function, in reverse postorder of what is left when each
    /// loop directly inside is one vertex. A postorder of the blocks alone may put what follows a
    /// loop before the loop's body, since the way there leads over the back edge.
    fn ordered(&self, function: &Function, region: Option<usize>, entry: usize) -> Vec<usize> {
        let inside = |block: usize| {
            let is_entry = region.is_some() && block == entry;
            !is_entry && region.is_none_or(|index| self.contains(index, block))
        };
        // The loop directly inside the region that holds a block, if one does.
        let vertex_loop = |block: usize| {
            let mut at = self.innermost[block];
            while let Some(index) = at
                && self.loops[index].parent != region
                && at != region
            {
                at = self.loops[index].parent;
            }
            at.filter(|_| at != region)
        };
        let vertex =
            |block: usize| vertex_loop(block).map_or(block, |index| self.loops[index].header);
        let successors = |block: usize| -> Vec<usize> {
            let leaving = |from: &usize| function.blocks[*from].successors.clone();
            let targets: Vec<usize> = match vertex_loop(block) {
                None => leaving(&block),
                Some(index) => {
                    let blocks = self.loops[index].blocks.iter();
                    let mut targets: Vec<_> = blocks.flat_map(leaving).collect();
                    targets.retain(|target| !self.contains(index, *target));
                    targets
                }
            };
            targets
                .into_iter()
                .filter(|target| inside(*target))
                .map(vertex)
                .collect()
        };
        let mut postorder = Vec::new();
        let mut seen = BTreeSet::from([entry]);
        let mut stack = vec![(entry, successors(entry))];
        while let Some((block, left)) = stack.last_mut() {
            // The last successor first, so that the order reads like the source.
            match left.pop() {
                Some(next) => {
                    if seen.insert(next) {
                        stack.push((next, successors(next)));
                    }
                }
                None => {
                    postorder.push(*block);
                    stack.pop();
                }
            }
        }
        let vertices = postorder.into_iter().rev();
        vertices
            .flat_map(|block| match vertex_loop(block) {
                None => vec![block],
                index => self.ordered(function, index, block),
            })
            .collect()
    }
}

fn frontier(
    order: &[usize],
    predecessors: &[Vec<usize>],
    immediate_dominator: &[Option<usize>],
) -> Vec<BTreeSet<usize>> {
    let mut frontier = vec![BTreeSet::new(); predecessors.len()];
    for block in order {
        // A block with one predecessor is a join all the same when that edge closes a loop on the
        // entry, which LLVM forbids; so two or more suffice.
        if predecessors[*block].len() < 2 {
            continue;
        }
        for predecessor in &predecessors[*block] {
            let mut at = Some(*predecessor);
            while let Some(runner) = at {
                if Some(runner) == immediate_dominator[*block] {
                    break;
                }
                frontier[runner].insert(*block);
                at = immediate_dominator[runner];
            }
        }
    }
    frontier
}
