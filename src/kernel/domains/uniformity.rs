//! Which values and blocks differ among the threads of a thread block.
//!
//! A forward analysis in the manner of Karrenberg and Hack: values are divergent when they come
//! from `threadIdx`, the lane, memory or an atomic, when an operand is, or when a phi joins paths
//! that a divergent branch has separated. Invariant: a block that is not divergent is executed by
//! all threads of the block, equally often and together, or by none.

use super::super::address::{Root, roots};
use super::super::body::{BlockRef, Body, Operation, Terminator, ValueRef};
use super::super::cfg::Flow;
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
    /// Analyses a body. Nothing writes meanwhile to what the roots in `unwritten` lead to.
    pub fn new(
        body: &Body,
        flow: &Flow,
        changed_arguments: &BTreeSet<usize>,
        unwritten: &BTreeSet<Root>,
    ) -> Self {
        let settled = (unwritten, &BTreeSet::new());
        Self::with_settled(body, flow, changed_arguments, settled)
    }

    /// The same, where moreover all threads go one way at the branches that end the `settled` blocks.
    pub fn with_settled(
        body: &Body,
        flow: &Flow,
        changed_arguments: &BTreeSet<usize>,
        (unwritten, settled): (&BTreeSet<Root>, &BTreeSet<BlockRef>),
    ) -> Self {
        let told = Told {
            changed_arguments,
            unwritten,
        };
        let mut divergent = BTreeSet::new();
        let mut blocks = BTreeSet::new();
        let mut branches = BTreeSet::new();
        loop {
            let before = (divergent.len(), blocks.len(), branches.len());
            for block in &flow.order {
                for value in &body.block(*block).instructions {
                    if !divergent.contains(value)
                        && is_divergent(body, flow, &told, *value, &divergent, &branches)
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
                if splits && !settled.contains(block) && branches.insert(*block) {
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

/// What is known of the memory that a kernel loads from.
struct Told<'a> {
    changed_arguments: &'a BTreeSet<usize>,
    unwritten: &'a BTreeSet<Root>,
}

/// Pointers of a launch such that all threads of a block reach together as many blocks of `reached` as possible, so
/// long as nothing writes to what these lead to: as few of them as are found.
pub fn pointers_relied_on(
    body: &Body,
    flow: &Flow,
    changed_arguments: &BTreeSet<usize>,
    reached: &BTreeSet<BlockRef>,
) -> BTreeSet<Root> {
    let divergent = |unwritten: &BTreeSet<Root>| -> BTreeSet<BlockRef> {
        let found = Uniformity::new(body, flow, changed_arguments, unwritten);
        reached
            .intersection(&found.divergent_blocks)
            .copied()
            .collect()
    };
    let mut pointers: BTreeSet<Root> = BTreeSet::new();
    for block in &flow.order {
        for value in &body.block(*block).instructions {
            if let Operation::Load { pointer, .. } = &body.value(*value).operation {
                let found = roots(body, changed_arguments, *pointer).into_iter();
                pointers.extend(found.filter(|root| matches!(root, Root::Argument { .. })));
            }
        }
    }
    if pointers.is_empty() {
        return pointers;
    }
    let best = divergent(&pointers);
    if best.len() == reached.len() {
        return BTreeSet::new();
    }
    // With more of them all are relied on, which is safe.
    if pointers.len() <= MOST_POINTERS {
        for pointer in pointers.clone() {
            pointers.remove(&pointer);
            if divergent(&pointers) != best {
                pointers.insert(pointer);
            }
        }
    }
    pointers
}

/// A kernel's body is not analysed more often than so, to find which pointers matter.
const MOST_POINTERS: usize = 8;

fn is_divergent(
    body: &Body,
    flow: &Flow,
    told: &Told<'_>,
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
            let steady =
                roots(body, told.changed_arguments, *pointer)
                    .iter()
                    .all(|root| match root {
                        Root::ByValue(argument) => !told.changed_arguments.contains(argument),
                        Root::Global(name) => is_constant(body, name),
                        _ => told.unwritten.contains(root),
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
