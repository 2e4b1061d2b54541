//! Loops of functions.

pub(in crate::program) mod allocation_loops;
pub(in crate::program) mod loop_ends;
pub(in crate::program) mod rotation;

use crate::llvm::{Block, ControlFlow, NaturalLoop, Opcode, Value};
use std::collections::HashSet;

/// Whether control can come from one block to another without `through`; a block comes to itself.
pub(in crate::program) fn reaches_without(from: Block, to: Block, through: Block) -> bool {
    let mut seen = HashSet::from([through]);
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if !seen.insert(block) {
            continue;
        }
        if block == to {
            return true;
        }
        open.extend(block.successors());
    }
    false
}

/// The innermost loop with one end around a block.
pub(in crate::program) fn innermost<'ctx>(
    flow: &ControlFlow<'ctx>,
    block: Block<'ctx>,
) -> Option<Loop<'ctx>> {
    let around = loops(flow).into_iter();
    let around = around.filter(|each| each.blocks.contains(&block));
    around.min_by_key(|each| each.blocks.len())
}

/// The loops with one end.
pub(in crate::program) fn loops<'ctx>(flow: &ControlFlow<'ctx>) -> Vec<Loop<'ctx>> {
    let loops = flow.natural_loops().into_iter();
    loops.filter_map(Loop::of).collect()
}

/// A loop with one end.
pub(in crate::program) struct Loop<'ctx> {
    /// Its first block, which all others are reached through.
    pub(in crate::program) header: Block<'ctx>,
    /// The one block that goes back to the header.
    pub(in crate::program) latch: Block<'ctx>,
    /// All of them.
    pub(in crate::program) blocks: HashSet<Block<'ctx>>,
}

impl<'ctx> Loop<'ctx> {
    fn of(found: NaturalLoop<'ctx>) -> Option<Self> {
        let [latch] = found.latches[..] else {
            return None;
        };
        Some(Self {
            header: found.header,
            latch,
            blocks: found.blocks,
        })
    }

    /// Whether a value is a phi of the header.
    pub(in crate::program) fn is_own_phi(&self, value: Value) -> bool {
        value.opcode() == Some(Opcode::LLVMPHI) && value.parent_block() == Some(self.header)
    }

    /// What a value of the header is at first, and after an iteration.
    pub(in crate::program) fn incoming(
        &self,
        phi: Value<'ctx>,
    ) -> Option<(Value<'ctx>, Value<'ctx>)> {
        match phi.incoming().as_slice() {
            [(next, latch), (first, _)] | [(first, _), (next, latch)] if *latch == self.latch => {
                Some((*first, *next))
            }
            _ => None,
        }
    }
}
