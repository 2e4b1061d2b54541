//! Which values and blocks differ among the threads of a thread block.
//!
//! A forward analysis in the manner of Karrenberg and Hack: values are divergent when they come
//! from `threadIdx`, the lane, memory or an atomic, when an operand is, or when a phi joins paths
//! that a divergent branch has separated. Invariant: a block that is not divergent is executed by
//! all threads of the block, equally often and together, or by none.

use super::address::{Root, roots};
use super::body::{BlockRef, Body, Operation, Terminator, ValueRef};
use super::cfg::Flow;
use std::collections::BTreeSet;

/// The result.
pub struct Uniformity {
    /// Blocks that part of a thread block may execute.
    pub divergent_blocks: BTreeSet<BlockRef>,
    /// For each loop: all threads run it equally often.
    pub uniform_loops: Vec<bool>,
    /// Blocks that send threads of a thread block different ways.
    pub divergent_branches: BTreeSet<BlockRef>,
    /// Values that differ among the threads of a thread block, executed equally often or not.
    pub divergent_values: BTreeSet<ValueRef>,
}

impl Uniformity {
    /// Analyses a body.
    pub fn new(body: &Body, flow: &Flow, changed_arguments: &BTreeSet<usize>) -> Self {
        let mut divergent = BTreeSet::new();
        let mut blocks = BTreeSet::new();
        let mut branches = BTreeSet::new();
        loop {
            let before = (divergent.len(), blocks.len(), branches.len());
            for block in &flow.order {
                for value in &body.block(*block).instructions {
                    if !divergent.contains(value)
                        && is_divergent(
                            body,
                            flow,
                            changed_arguments,
                            *value,
                            &divergent,
                            &branches,
                        )
                    {
                        divergent.insert(*value);
                    }
                }
                let splits = match &body.block(*block).terminator {
                    Terminator::Branch {
                        condition: value, ..
                    }
                    | Terminator::Switch { value, .. } => {
                        divergent.contains(value)
                            || leaves_loop(body, flow, Some(*block), *value, &branches)
                    }
                    Terminator::Other(_) => true,
                    Terminator::Return | Terminator::Jump(_) | Terminator::Unreachable => false,
                };
                if splits && branches.insert(*block) {
                    blocks.extend(flow.influence(body, *block));
                }
            }
            if before == (divergent.len(), blocks.len(), branches.len()) {
                break;
            }
        }
        let uniform_loops = flow
            .loops
            .iter()
            .map(|each| {
                !blocks.contains(&each.header)
                    && each.exits.iter().all(|(from, _)| !branches.contains(from))
            })
            .collect();
        Self {
            divergent_blocks: blocks,
            uniform_loops,
            divergent_branches: branches,
            divergent_values: divergent,
        }
    }
}

fn is_divergent(
    body: &Body,
    flow: &Flow,
    changed_arguments: &BTreeSet<usize>,
    value: ValueRef,
    divergent: &BTreeSet<ValueRef>,
    branches: &BTreeSet<BlockRef>,
) -> bool {
    let this = body.value(value);
    if this.operands().iter().any(|operand| {
        divergent.contains(operand) || leaves_loop(body, flow, this.block, *operand, branches)
    }) {
        return true;
    }
    match &this.operation {
        Operation::Load {
            pointer,
            volatile,
            atomic,
            ..
        } => {
            // Arguments and constant memory do not change during a launch.
            let steady = roots(body, changed_arguments, *pointer)
                .iter()
                .all(|root| match root {
                    Root::ByValue(argument) => !changed_arguments.contains(argument),
                    Root::Global(name) => is_constant(body, name),
                    _ => false,
                });
            *volatile || *atomic || !steady
        }
        Operation::AtomicUpdate { .. }
        | Operation::CompareExchange { .. }
        | Operation::Alloca
        | Operation::Assembly { .. }
        | Operation::Undefined
        | Operation::Fence => true,
        Operation::Other { effects, .. } => *effects,
        Operation::Call(call) => match &call.callee {
            Some(name) => match name.strip_prefix("llvm.nvvm.read.ptx.sreg.") {
                Some(register) => !["ctaid.", "ntid.", "nctaid.", "warpsize"]
                    .iter()
                    .any(|uniform| register.starts_with(uniform)),
                None => !call.pure || name.starts_with("llvm.nvvm."),
            },
            None => true,
        },
        Operation::Phi(incoming) => {
            let first = incoming[0].0;
            let varies = incoming.iter().any(|(each, _)| *each != first);
            let Some(block) = this.block else {
                return true;
            };
            varies
                && branches.iter().any(|branch| {
                    flow.immediate_post_dominator(*branch) == Some(block)
                        || flow.influence(body, *branch).contains(&block)
                })
        }
        _ => false,
    }
}

/// A value used outside a loop that threads leave at different times differs among them.
fn leaves_loop(
    body: &Body,
    flow: &Flow,
    user: Option<BlockRef>,
    operand: ValueRef,
    branches: &BTreeSet<BlockRef>,
) -> bool {
    let (Some(user), Some(from)) = (user, body.value(operand).block) else {
        return false;
    };
    flow.loops_of(from).into_iter().any(|index| {
        let each = &flow.loops[index];
        !each.blocks.contains(&user) && each.exits.iter().any(|(exit, _)| branches.contains(exit))
    })
}

fn is_constant(body: &Body, name: &str) -> bool {
    body.values.iter().any(|value| match &value.operation {
        Operation::Global(variable) => variable.name == name && variable.constant,
        _ => false,
    })
}
