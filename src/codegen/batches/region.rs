//! Where a region ends, in the blocks of a host function.

use super::super::CodegenError;
use super::super::region::successors;
use crate::program::Program;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, HashSet};

/// The blocks and loops of functions that have regions; calls to the queue change none of them.
pub(super) type Flows<'ctx> = HashMap<FunctionValue<'ctx>, Flow<'ctx>>;

/// Calls `drain` wherever control comes to where none of the statements can be met any more, in one
/// iteration of the `outside_loops`-th loop around them.
pub(super) fn end_region<'ctx>(
    program: &Program<'ctx>,
    flows: &mut Flows<'ctx>,
    statements: &[InstructionValue<'ctx>],
    outside_loops: usize,
    drain: FunctionValue<'ctx>,
) -> Result<(), CodegenError> {
    let broken = || CodegenError::Inconsistent("a region outside of a function".into());
    let mut last: HashMap<BasicBlock<'ctx>, InstructionValue<'ctx>> = HashMap::new();
    for statement in statements {
        let block = statement.get_parent().ok_or_else(broken)?;
        let after = match last.get(&block) {
            Some(known) => follows(*known, *statement),
            None => true,
        };
        if after {
            last.insert(block, *statement);
        }
    }
    let Some(first) = last.keys().next() else {
        return Ok(());
    };
    let function = first.get_parent().ok_or_else(broken)?;
    let flow = flows.entry(function).or_insert_with(|| Flow::of(function));
    let header = flow.header(*first, outside_loops)?;
    let steps = |block: &BasicBlock<'ctx>| {
        let mut next = successors(*block);
        next.retain(|next| Some(*next) != header);
        next
    };
    // From the start of these a statement can be met.
    let mut leading: HashSet<BasicBlock<'ctx>> = HashSet::new();
    let mut work: Vec<BasicBlock<'ctx>> = last.keys().copied().collect();
    while let Some(block) = work.pop() {
        // Control comes from before the header's start only in another iteration.
        if leading.insert(block) && Some(block) != header {
            work.extend(flow.predecessors.get(&block).into_iter().flatten());
        }
    }
    let mut inside: HashSet<BasicBlock<'ctx>> = HashSet::new();
    let mut work: Vec<BasicBlock<'ctx>> = last.keys().copied().collect();
    while let Some(block) = work.pop() {
        if inside.insert(block) {
            work.extend(
                steps(&block)
                    .into_iter()
                    .filter(|next| leading.contains(next)),
            );
        }
    }
    let builder = program.context.create_builder();
    let mut left: HashSet<BasicBlock<'ctx>> = HashSet::new();
    for block in &flow.blocks {
        if !inside.contains(block) {
            continue;
        }
        let goes_on = steps(block).iter().any(|next| leading.contains(next));
        let next = last.get(block).and_then(|last| last.get_next_instruction());
        if let Some(next) = next.filter(|_| !goes_on) {
            builder.position_before(&next);
            builder.build_call(drain, &[], "")?;
            continue;
        }
        left.extend(
            successors(*block)
                .into_iter()
                .filter(|next| Some(*next) == header || !leading.contains(next)),
        );
    }
    for block in flow.blocks.iter().filter(|block| left.contains(*block)) {
        let place = block.get_instructions().find(|instruction| {
            !matches!(
                instruction.get_opcode(),
                InstructionOpcode::Phi | InstructionOpcode::LandingPad
            )
        });
        builder.position_before(&place.ok_or_else(broken)?);
        builder.build_call(drain, &[], "")?;
    }
    Ok(())
}

/// Whether an instruction comes after another of its block.
fn follows<'ctx>(first: InstructionValue<'ctx>, second: InstructionValue<'ctx>) -> bool {
    let mut next = first.get_next_instruction();
    while let Some(instruction) = next {
        if instruction == second {
            return true;
        }
        next = instruction.get_next_instruction();
    }
    false
}

/// The blocks of a function and its natural loops.
pub(super) struct Flow<'ctx> {
    blocks: Vec<BasicBlock<'ctx>>,
    predecessors: HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>,
    /// Headers, and the blocks of their loops.
    loops: Vec<(BasicBlock<'ctx>, HashSet<BasicBlock<'ctx>>)>,
}

impl<'ctx> Flow<'ctx> {
    fn of(function: FunctionValue<'ctx>) -> Self {
        let blocks = function.get_basic_blocks();
        let numbers: HashMap<_, _> = blocks.iter().copied().zip(0..).collect();
        let mut graph = DiGraph::<(), ()>::new();
        blocks.iter().for_each(|_| {
            graph.add_node(());
        });
        let mut predecessors: HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>> = HashMap::new();
        for block in &blocks {
            for next in successors(*block) {
                graph.add_edge(
                    NodeIndex::new(numbers[block]),
                    NodeIndex::new(numbers[&next]),
                    (),
                );
                predecessors.entry(next).or_default().push(*block);
            }
        }
        let mut loops: Vec<(BasicBlock<'ctx>, HashSet<BasicBlock<'ctx>>)> = Vec::new();
        if !blocks.is_empty() {
            let dominators = simple_fast(&graph, NodeIndex::new(0));
            for header in &blocks {
                let dominated = |block: &BasicBlock<'ctx>| {
                    let header = NodeIndex::new(numbers[header]);
                    dominators
                        .dominators(NodeIndex::new(numbers[block]))
                        .is_some_and(|mut above| above.any(|above| above == header))
                };
                let ends = predecessors.get(header).into_iter().flatten();
                let mut work: Vec<_> = ends.filter(|end| dominated(end)).copied().collect();
                if work.is_empty() {
                    continue;
                }
                let mut body = HashSet::from([*header]);
                while let Some(block) = work.pop() {
                    if body.insert(block) {
                        work.extend(predecessors.get(&block).into_iter().flatten());
                    }
                }
                loops.push((*header, body));
            }
        }
        Self {
            blocks,
            predecessors,
            loops,
        }
    }

    /// The header of the `number`-th loop around a block, the outermost first; none for number 0.
    fn header(
        &self,
        block: BasicBlock<'ctx>,
        number: usize,
    ) -> Result<Option<BasicBlock<'ctx>>, CodegenError> {
        let Some(position) = number.checked_sub(1) else {
            return Ok(None);
        };
        let mut around: Vec<_> = self
            .loops
            .iter()
            .filter(|(_, body)| body.contains(&block))
            .collect();
        around.sort_by_key(|(_, body)| std::cmp::Reverse(body.len()));
        around
            .get(position)
            .map(|(header, _)| Some(*header))
            .ok_or_else(|| CodegenError::Inconsistent("a region's loops are not there".into()))
    }
}
