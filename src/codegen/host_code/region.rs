//! The part of a host function in which launches of a group may pend.
//!
//! Invariant: it begins in a block that is on every way to each member and ends at the last member; whoever leaves it
//! elsewhere enters one of [`exits_of_regions`].

use super::super::CodegenError;
use super::super::host::MemberCall;
use crate::launch::{HostBlockId, LaunchGraph, NodeKind};
use crate::math::flow::Dominators;
use crate::schedule::FusionGroup;
use inkwell::basic_block::BasicBlock;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet};

/// The blocks of a host function, as edges join them. Groups add instructions only, so that it holds for all of them.
pub(in crate::codegen) struct HostFlow<'ctx> {
    predecessors: HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>,
    /// The last block before each that is on every way to it.
    immediate_dominators: HashMap<BasicBlock<'ctx>, BasicBlock<'ctx>>,
}

impl<'ctx> HostFlow<'ctx> {
    pub(in crate::codegen) fn of(function: FunctionValue<'ctx>) -> Self {
        let blocks = function.get_basic_blocks();
        let numbers: HashMap<_, usize> = blocks.iter().copied().zip(0..).collect();
        let mut after = vec![Vec::new(); blocks.len()];
        let mut predecessors: HashMap<_, Vec<_>> = HashMap::new();
        for block in &blocks {
            for next in successors(*block) {
                after[numbers[block]].push(numbers[&next]);
                predecessors.entry(next).or_default().push(*block);
            }
        }
        let dominators = (!blocks.is_empty()).then(|| Dominators::of(&after, 0));
        let above = |block: &BasicBlock<'ctx>| {
            let above = dominators.as_ref()?.immediate(numbers[block])?;
            Some((*block, blocks[above]))
        };
        Self {
            predecessors,
            immediate_dominators: blocks.iter().filter_map(above).collect(),
        }
    }

    /// The blocks from which a block is entered.
    pub(in crate::codegen) fn predecessors(&self, block: BasicBlock<'ctx>) -> &[BasicBlock<'ctx>] {
        self.predecessors.get(&block).map_or(&[], Vec::as_slice)
    }

    /// Whether a block is on every way to another.
    pub(in crate::codegen) fn dominates(
        &self,
        first: BasicBlock<'ctx>,
        second: BasicBlock<'ctx>,
    ) -> bool {
        let mut place = Some(second);
        while let Some(block) = place {
            if block == first {
                return true;
            }
            place = self.immediate_dominators.get(&block).copied();
        }
        false
    }

    /// The last block that is on every way to each member: where they are in step, that of the first.
    fn common_dominator(&self, members: &[MemberCall<'_, 'ctx>]) -> Option<BasicBlock<'ctx>> {
        let mut place = members.first()?.block;
        for member in members {
            while !self.dominates(place, member.block) {
                place = *self.immediate_dominators.get(&place)?;
            }
        }
        Some(place)
    }
}

/// Blocks that are entered when the regions between the members' common dominator and the last, of groups that begin with the same
/// launch, are left on another way than through the last member of one.
pub(in crate::codegen) fn exits_of_regions<'ctx>(
    groups: &[&[MemberCall<'_, 'ctx>]],
    flow: &HostFlow<'ctx>,
) -> Result<Vec<BasicBlock<'ctx>>, CodegenError> {
    let mut inside = HashSet::new();
    let mut left = Vec::new();
    for members in groups {
        let last = members[members.len() - 1].block;
        let (first, order) = region_of(members, flow)?;
        inside.insert(last);
        if first == last {
            continue;
        }
        let region: HashSet<_> = order.iter().copied().collect();
        for member in *members {
            if member.block != first && member.block != last && !region.contains(&member.block) {
                return Err(CodegenError::Inconsistent(format!(
                    "launch {} is not on the way to its group",
                    member.launch.id.0
                )));
            }
        }
        left.extend(std::iter::once(first).chain(order.iter().copied()));
        inside.extend(region);
    }
    let mut exits = Vec::new();
    let mut met = HashSet::new();
    for from in left {
        for block in successors(from) {
            if !inside.contains(&block) && met.insert(block) {
                exits.push(block);
            }
        }
    }
    Ok(exits)
}

/// The members' common dominator, and the blocks on the ways from there to the last member's, without both.
pub(in crate::codegen) fn region_of<'ctx>(
    members: &[MemberCall<'_, 'ctx>],
    flow: &HostFlow<'ctx>,
) -> Result<(BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>), CodegenError> {
    let last = members[members.len() - 1].block;
    let first = flow.common_dominator(members).ok_or_else(|| {
        CodegenError::Inconsistent("the launches of a group begin nowhere".into())
    })?;
    if first == last {
        return Ok((first, Vec::new()));
    }
    // Every way to the last leads through the first, so that a walk backwards stays in the region.
    let above = reach(last, first, |block| flow.predecessors(block).to_vec());
    let mut order = Vec::new();
    let mut region = HashSet::new();
    let mut work = successors(first);
    while let Some(block) = work.pop() {
        if above.contains(&block) && region.insert(block) {
            order.push(block);
            work.extend(successors(block));
        }
    }
    Ok((first, order))
}

/// The blocks at whose beginning a plan wants members issued.
pub(in crate::codegen) fn blocks_of<'ctx>(
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

pub(in crate::codegen) fn successors(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    let Some(terminator) = block.get_terminator() else {
        return Vec::new();
    };
    terminator
        .get_operands()
        .flatten()
        .filter_map(|operand| operand.block())
        .collect()
}
