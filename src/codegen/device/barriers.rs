//! Counts barriers, so that a pass that copies or drops one is caught (a copied barrier hangs).

use crate::codegen::CodegenError;
use crate::llvm::{Block, Value};
use inkwell::module::Module;
use std::collections::HashSet;

/// Static number of block-wide barriers, in all kernels of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BarrierCount {
    /// All of them.
    pub(crate) sites: usize,
    /// Those inside a loop, which unrolling may copy.
    pub(crate) in_loops: usize,
}

/// Counts the barrier calls of all kernels, following calls: a barrier inside a function that is
/// called twice counts twice, so that inlining does not change the number.
pub(crate) fn count_barriers(module: &Module) -> BarrierCount {
    let mut count = BarrierCount::default();
    for kernel in super::kernels(module) {
        count_in(kernel, false, &mut Vec::new(), &mut count);
    }
    count
}

impl BarrierCount {
    /// Refuses a module in which there are more barriers than before, unless unrolling may have
    /// made them. Fewer are found where unreachable code was removed, which is legal.
    pub(crate) fn check_not_grown(&self, after: &Self) -> Result<(), CodegenError> {
        if self.in_loops == 0 && after.sites > self.sites {
            return Err(CodegenError::BarrierChanged {
                before: self.sites,
                after: after.sites,
            });
        }
        Ok(())
    }

    /// Refuses a module in which there are more barriers than before, for passes that do not
    /// unroll.
    pub(crate) fn check_equal_or_fewer(&self, after: &Self) -> Result<(), CodegenError> {
        Self {
            sites: self.sites,
            in_loops: 0,
        }
        .check_not_grown(after)
    }
}

fn count_in<'ctx>(
    function: Value<'ctx>,
    in_loop: bool,
    stack: &mut Vec<Value<'ctx>>,
    count: &mut BarrierCount,
) {
    if stack.contains(&function) {
        return;
    }
    stack.push(function);
    for block in function.blocks() {
        let mut looped = None;
        for instruction in block.instructions() {
            let Some(name) = instruction.called_name() else {
                continue;
            };
            let barrier = is_block_barrier(&name);
            if !barrier && instruction.called().is_declaration() {
                continue;
            }
            let looped = *looped.get_or_insert_with(|| in_loop || reaches_itself(block));
            if barrier {
                count.sites += 1;
                count.in_loops += usize::from(looped);
            } else {
                count_in(instruction.called(), looped, stack, count);
            }
        }
    }
    stack.pop();
}

/// Whether control can come back to a block.
fn reaches_itself(block: Block) -> bool {
    let mut seen = HashSet::new();
    let mut work = block.successors();
    while let Some(next) = work.pop() {
        if next == block {
            return true;
        }
        if seen.insert(next) {
            work.extend(next.successors());
        }
    }
    false
}

/// Whether an intrinsic is a block-wide barrier.
pub(crate) fn is_block_barrier(name: &str) -> bool {
    name.starts_with("llvm.nvvm.barrier") || name.starts_with("llvm.nvvm.bar.sync")
}
