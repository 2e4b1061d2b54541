//! Where a region ends, in the blocks of a host function.

use super::super::CodegenError;
use super::super::leaving::drain_where_left;
use super::super::region::{HostFlow, successors};
use super::super::shared_functions::SharedFunctions;
use crate::launch::{Action, LaunchGraph, Waiting, runtime_call};
use crate::program::Program;
use crate::schedule::BatchedRegion;
use inkwell::AddressSpace;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{
    CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue, PointerValue,
};
use std::collections::{HashMap, HashSet};

/// The blocks and loops of functions that have regions; calls to the queue change none of them.
pub(super) type Flows<'ctx> = HashMap<FunctionValue<'ctx>, Flow<'ctx>>;

/// Functions of the queue.
#[derive(Clone, Copy)]
pub(super) struct Queue<'ctx> {
    /// Issues what waits, and then does the waits of the host that are owed.
    pub(super) drain: FunctionValue<'ctx>,
    /// The host waits while something may wait in the queue: for one stream, or for all of the device.
    pub(super) owe_wait: FunctionValue<'ctx>,
}

/// Calls `drain` wherever control comes to where none of the statements can be met any more, in one
/// iteration of the `outside_loops`-th loop around them.
pub(super) fn end_region<'ctx>(
    program: &Program<'ctx>,
    flows: &mut Flows<'ctx>,
    statements: &[InstructionValue<'ctx>],
    outside_loops: usize,
    Queue { drain, owe_wait }: Queue<'ctx>,
    shared: &mut SharedFunctions<'ctx>,
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
            work.extend(flow.flow.predecessors(block));
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
    let in_order = || flow.blocks.iter().filter(|block| inside.contains(*block));
    let of_region: Vec<BasicBlock<'ctx>> = in_order().copied().collect();
    drain_where_left(program, &of_region, drain, shared)?;
    let builder = program.context.create_builder();
    for block in &of_region {
        for instruction in block.get_instructions() {
            let Some(stream) = wait_of(instruction) else {
                continue;
            };
            let of_stream = program
                .context
                .i32_type()
                .const_int(u64::from(stream.is_some()), false);
            let pointer = program.context.ptr_type(AddressSpace::default());
            let stream = stream.unwrap_or(pointer.const_null());
            builder.position_before(&instruction);
            builder.build_call(owe_wait, &[of_stream.into(), stream.into()], "")?;
        }
    }
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

/// Calls `drain` at the beginning of the blocks before which the plan wants that.
pub(super) fn drain_before<'ctx>(
    program: &Program<'ctx>,
    graph: &LaunchGraph,
    region: &BatchedRegion,
    statements: &[InstructionValue<'ctx>],
    Queue { drain, .. }: Queue<'ctx>,
) -> Result<(), CodegenError> {
    let broken = || CodegenError::Inconsistent("a region outside of a function".into());
    let function = statements
        .first()
        .and_then(|statement| statement.get_parent()?.get_parent());
    let builder = program.context.create_builder();
    for place in &region.drained_before {
        let blocks = function.ok_or_else(broken)?.get_basic_blocks();
        let block = blocks.get(graph.blocks[place.0].position);
        let block = block.ok_or_else(broken)?;
        let first = block.get_instructions().find(|instruction| {
            !matches!(
                instruction.get_opcode(),
                InstructionOpcode::Phi | InstructionOpcode::LandingPad
            )
        });
        builder.position_before(&first.ok_or_else(broken)?);
        builder.build_call(drain, &[], "")?;
    }
    Ok(())
}

/// Whether an instruction is a call that waits for the device, and for which stream if for one alone.
fn wait_of<'ctx>(instruction: InstructionValue<'ctx>) -> Option<Option<PointerValue<'ctx>>> {
    let call = CallSiteValue::try_from(instruction).ok()?;
    let called = call.get_called_fn_value()?;
    let called = runtime_call(called.get_name().to_str().ok()?)?;
    let Action::Synchronise(awaited) = called.action else {
        return None;
    };
    let Waiting::Stream(argument) = awaited else {
        return Some(None);
    };
    let argument = u32::try_from(argument).ok()?;
    let stream = instruction.get_operand(argument)?.value()?;
    // All of the device is more than a stream of which nothing is known.
    Some(
        stream
            .is_pointer_value()
            .then(|| stream.into_pointer_value()),
    )
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
    flow: HostFlow<'ctx>,
    /// Headers, and the blocks of their loops.
    loops: Vec<(BasicBlock<'ctx>, HashSet<BasicBlock<'ctx>>)>,
}

impl<'ctx> Flow<'ctx> {
    fn of(function: FunctionValue<'ctx>) -> Self {
        let blocks = function.get_basic_blocks();
        let flow = HostFlow::of(function);
        let mut loops: Vec<(BasicBlock<'ctx>, HashSet<BasicBlock<'ctx>>)> = Vec::new();
        for header in &blocks {
            let ends = flow.predecessors(*header).iter();
            let mut work: Vec<_> = ends
                .filter(|end| flow.dominates(*header, **end))
                .copied()
                .collect();
            if work.is_empty() {
                continue;
            }
            let mut body = HashSet::from([*header]);
            while let Some(block) = work.pop() {
                if body.insert(block) {
                    work.extend(flow.predecessors(block));
                }
            }
            loops.push((*header, body));
        }
        Self {
            blocks,
            flow,
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
