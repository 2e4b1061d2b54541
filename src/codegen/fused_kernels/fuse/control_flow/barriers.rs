//! Barriers of a fused kernel that no dependence needs any more (the paper's algorithm 1, after Darte
//! and Schreiber).
//!
//! A barrier between two segments keeps apart what the threads of a block do on both sides of it. Where
//! one that a member has near its begin or end does that already, or where the values that one segment
//! handed to the next are in registers now, it keeps nothing apart and goes.
//!
//! The proof for a barrier: without it, the intervals that it ends and the one that it begins become one,
//! and nothing else changes. What a thread does in these before it, on any way from the barriers before,
//! and what another thread does after it, on any way to the barriers behind, are compared pair by pair:
//! two loads never conflict, other accesses do not when they cannot reach a common byte. Then no order
//! is lost. Barriers are taken one after the other, each proven without those taken before. The verifier
//! judges each of them too, by a model of the kernel that is read anew.
//!
//! All threads of a block come to each barrier together, which the verifier has seen to, so that one
//! barrier less is so for all of them.

use super::super::control_flow::{ControlFlow, is_barrier};
use super::super::memory::{Effect, KernelFacts, Root};
use crate::kernel::{KernelModel, Tables, model_accesses};
use crate::llvm::Value;
use crate::verify::is_redundant;
use inkwell::module::Module;
use std::collections::HashSet;

/// Removes barriers that order nothing. Returns how many.
pub(in crate::codegen::fused_kernels::fuse) fn remove_redundant_barriers(
    module: &Module,
    kernel: Value,
    facts: &KernelFacts,
) -> usize {
    let mut removed = 0;
    let mut needed = HashSet::new();
    // Of the kernel as it is.
    let mut model: Option<KernelModel> = None;
    while let Some(barrier) = redundant(kernel, facts, &needed) {
        let name = kernel.name();
        let Some(function) = module.get_function(&name) else {
            return removed;
        };
        let known = model.get_or_insert_with(|| model_accesses(function, &name, Tables::Unknown));
        match is_confirmed(known, kernel, facts, barrier) {
            true => {
                barrier.erase();
                model = None;
                removed += 1;
            }
            false => {
                needed.insert(barrier);
            }
        }
    }
    removed
}

/// A barrier that nothing needs, rather one in a loop.
fn redundant<'ctx>(
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    needed: &HashSet<Value<'ctx>>,
) -> Option<Value<'ctx>> {
    let flow = ControlFlow::of(kernel)?;
    let mut barriers = Vec::new();
    for instruction in flow.instructions() {
        match Effect::of(instruction) {
            Effect::Unknown => return None,
            Effect::Barrier if !needed.contains(&instruction) => barriers.push(instruction),
            _ => {}
        }
    }
    barriers.sort_by_key(|barrier| !flow.repeats(barrier.block()));
    let mut barriers = barriers.into_iter();
    barriers.find(|barrier| {
        let touched = |instructions: Vec<Value<'ctx>>| {
            let accesses: HashSet<Touch<'ctx>> = instructions
                .into_iter()
                .filter_map(|instruction| Touch::of(kernel, instruction))
                .collect();
            accesses
        };
        let before = touched(flow.since_barrier(*barrier));
        let after = touched(flow.until_barrier(*barrier));
        before
            .iter()
            .all(|one| after.iter().all(|other| !one.conflicts(other, facts)))
    })
}

/// Whether the verifier finds so, too.
fn is_confirmed(model: &KernelModel, kernel: Value, facts: &KernelFacts, barrier: Value) -> bool {
    let mut barriers = kernel
        .instructions()
        .into_iter()
        .filter(|at| is_barrier(*at));
    let place = barriers.position(|other| other == barrier);
    place.is_some_and(|place| {
        is_redundant(model, place, |one, other| facts.are_disjoint(one, other))
    })
}

/// What an access touches, and whether it writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Touch<'ctx> {
    root: Root<'ctx>,
    writes: bool,
}

impl<'ctx> Touch<'ctx> {
    fn of(kernel: Value<'ctx>, instruction: Value<'ctx>) -> Option<Self> {
        let effect = Effect::of(instruction);
        let address = effect.address()?;
        Some(Self {
            root: Root::of(kernel, address),
            writes: effect.writes(),
        })
    }

    fn conflicts(&self, other: &Self, facts: &KernelFacts) -> bool {
        (self.writes || other.writes) && self.root.may_share(other.root, facts)
    }
}
