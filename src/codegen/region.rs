//! The part of a host function in which launches of a group may pend.
//!
//! Invariant: it begins in a block that is on every way to each member and ends at the last member; whoever leaves it
//! elsewhere enters one of [`exits_of_region`].

use super::CodegenError;
use super::host::MemberCall;
use crate::launch::{HostBlockId, LaunchGraph, NodeKind};
use crate::schedule::FusionGroup;
use inkwell::basic_block::BasicBlock;
use inkwell::values::FunctionValue;
use petgraph::algo::dominators::simple_fast;
use petgraph::graphmap::DiGraphMap;
use std::collections::{HashMap, HashSet};

/// The blocks from which each block of a function is entered. Groups add instructions only, so that
/// it holds for all of them.
pub(super) type Predecessors<'ctx> = HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>;

pub(super) fn predecessors_in(function: FunctionValue<'_>) -> Predecessors<'_> {
    let mut predecessors = Predecessors::new();
    for block in function.get_basic_blocks() {
        for successor in successors(block) {
            predecessors.entry(successor).or_default().push(block);
        }
    }
    predecessors
}

/// Blocks that are entered when the region between the [common dominator](common_dominator) of the members and the last
/// is left on another way than through the last member.
pub(super) fn exits_of_region<'ctx>(
    members: &[MemberCall<'_, 'ctx>],
    predecessors: &Predecessors<'ctx>,
) -> Result<Vec<BasicBlock<'ctx>>, CodegenError> {
    let last = members[members.len() - 1].block;
    let first = common_dominator(members, predecessors)?;
    if first == last {
        return Ok(Vec::new());
    }
    // Every way to the last leads through the first, so that a walk backwards stays in the region.
    let above = reach(last, first, |block| {
        predecessors.get(&block).cloned().unwrap_or_default()
    });
    let mut order = Vec::new();
    let mut region = HashSet::new();
    let mut work = successors(first);
    while let Some(block) = work.pop() {
        if above.contains(&block) && region.insert(block) {
            order.push(block);
            work.extend(successors(block));
        }
    }
    for member in members {
        if member.block != first && member.block != last && !region.contains(&member.block) {
            return Err(CodegenError::Inconsistent(format!(
                "launch {} is not on the way to its group",
                member.launch.id.0
            )));
        }
    }
    let mut exits = Vec::new();
    let mut met = HashSet::new();
    for from in std::iter::once(first).chain(order) {
        for block in successors(from) {
            if block != last && !region.contains(&block) && met.insert(block) {
                exits.push(block);
            }
        }
    }
    Ok(exits)
}

/// The blocks at whose beginning a plan wants members issued.
pub(super) fn blocks_of<'ctx>(
    graph: &LaunchGraph,
    group: &FusionGroup,
    members: &[MemberCall<'_, 'ctx>],
) -> Result<Vec<BasicBlock<'ctx>>, CodegenError> {
    if group.issued_before.is_empty() {
        return Ok(Vec::new());
    }
    let elsewhere = || CodegenError::Inconsistent("blocks of a group are in no function".into());
    let function = members[0].block.get_parent().ok_or_else(elsewhere)?;
    let blocks = function.get_basic_blocks();
    let block = |place: HostBlockId| blocks.get(graph.blocks[place.0].position).copied();
    // Blocks have stayed where the launch graph found them.
    for member in members {
        let mut nodes = graph.nodes.iter();
        let node = nodes.find(
            |node| matches!(&node.kind, NodeKind::Launch(launch) if launch.id == member.launch.id),
        );
        if node.and_then(|node| block(node.block)) != Some(member.block) {
            return Err(elsewhere());
        }
    }
    let places = group.issued_before.iter();
    places
        .map(|place| block(*place).ok_or_else(elsewhere))
        .collect()
}

/// The last block that is on every way to each member: where they are in step, that of the first.
fn common_dominator<'ctx>(
    members: &[MemberCall<'_, 'ctx>],
    predecessors: &Predecessors<'ctx>,
) -> Result<BasicBlock<'ctx>, CodegenError> {
    let first = members[0].block;
    if members.iter().all(|member| member.block == first) {
        return Ok(first);
    }
    let nowhere = || CodegenError::Inconsistent("a group's launches are in no function".into());
    let function = first.get_parent().ok_or_else(nowhere)?;
    let entry = function.get_first_basic_block().ok_or_else(nowhere)?;
    let mut flow = DiGraphMap::<BlockKey, ()>::new();
    let mut blocks = HashMap::new();
    let key = |block: &BasicBlock<'ctx>| block.as_mut_ptr() as usize;
    blocks.insert(key(&entry), entry);
    flow.add_node(key(&entry));
    for (block, before) in predecessors {
        for from in before {
            blocks.insert(key(block), *block);
            blocks.insert(key(from), *from);
            flow.add_edge(key(from), key(block), ());
        }
    }
    let dominators = simple_fast(&flow, key(&entry));
    let above = |block: &BasicBlock<'ctx>| -> Option<Vec<BlockKey>> {
        Some(dominators.dominators(key(block))?.collect())
    };
    let of_first = above(&first).ok_or_else(nowhere)?;
    let others: Option<Vec<Vec<BlockKey>>> =
        members.iter().map(|member| above(&member.block)).collect();
    let others = others.ok_or_else(nowhere)?;
    // From the block upwards.
    let mut common = of_first.into_iter();
    let nearest = common.find(|block| others.iter().all(|above| above.contains(block)));
    nearest
        .and_then(|block| blocks.get(&block).copied())
        .ok_or_else(nowhere)
}

/// A block, by where LLVM keeps it.
type BlockKey = usize;

/// Blocks other than `from` and `stop` that are reached from `from` without passing either.
fn reach<'ctx>(
    from: BasicBlock<'ctx>,
    stop: BasicBlock<'ctx>,
    next: impl Fn(BasicBlock<'ctx>) -> Vec<BasicBlock<'ctx>>,
) -> HashSet<BasicBlock<'ctx>> {
    let mut seen = HashSet::new();
    let mut work = next(from);
    while let Some(block) = work.pop() {
        if block != from && block != stop && seen.insert(block) {
            work.extend(next(block));
        }
    }
    seen
}

pub(super) fn successors(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    let Some(terminator) = block.get_terminator() else {
        return Vec::new();
    };
    terminator
        .get_operands()
        .flatten()
        .filter_map(|operand| operand.block())
        .collect()
}
