//! What one thread of a block stores and the others load after a barrier: every thread computes it.
//!
//! The result of a reduction is often written by thread 0, from what all threads of the block may look
//! at, for the next kernel, where all of them read it. Inside a fused kernel every thread looks for
//! itself, so that neither the store is needed, when nobody else reads it, nor the barrier behind it.
//!
//! The proof of a load L that is replaced by the value V of a store S:
//! - Thread 0 of the block executes S, in a branch of its own, before a barrier that all threads come to
//!   before L. The branch is not in a loop, so that this happens once.
//! - V is made of constants, parameters, registers of the block and loads of shared memory at places that
//!   are the same for all threads; between the two barriers around these loads nobody in the block
//!   writes to that shared variable. So all threads find the same V at the branch, at no risk.
//! - S and L have the same address, made alike without memory, the same for all threads, and nothing
//!   else in the kernel writes where S does. Other blocks may execute S, too: where they reach the same
//!   byte, the program orders their store and this load in no way, or the plan would have been refused.

use super::super::control_flow::ControlFlow;
use super::super::memory::{
    Effect, KernelFacts, Root, is_computation, is_pure_call, is_uniform, made_alike,
};
use crate::llvm::{Block, IntegerPredicate, Opcode, Value};
use std::collections::HashSet;

/// Replaces loads of what one thread has stored. Returns how many.
pub(in crate::codegen::fused_kernels::fuse) fn broadcast_values(
    kernel: Value,
    facts: &KernelFacts,
) -> usize {
    let mut replaced = 0;
    let mut done = HashSet::new();
    loop {
        let Some(flow) = ControlFlow::of(kernel) else {
            return replaced;
        };
        let broadcasts = Broadcasts {
            kernel,
            facts,
            flow: &flow,
        };
        if !broadcasts.is_understood() {
            return replaced;
        }
        let candidate = flow
            .instructions()
            .filter(|store| !done.contains(store))
            .find_map(|store| broadcasts.source(store));
        let Some(source) = candidate else {
            return replaced;
        };
        done.insert(source.store);
        let loads = broadcasts.loads(&source);
        if loads.is_empty() {
            continue;
        }
        if let Some(end) = source.branch.terminator() {
            for instruction in &source.moved {
                instruction.move_before(end);
            }
        }
        let value = source.store.operand(0);
        for load in &loads {
            load.replace_uses_with(value);
            load.erase();
        }
        replaced += loads.len();
    }
}

struct Broadcasts<'a, 'ctx> {
    kernel: Value<'ctx>,
    facts: &'a KernelFacts,
    flow: &'a ControlFlow<'ctx>,
}

/// A store whose value every thread can compute.
struct Source<'ctx> {
    store: Value<'ctx>,
    /// The block at whose end one thread goes to the store.
    branch: Block<'ctx>,
    /// What is computed for the store alone, in order.
    moved: Vec<Value<'ctx>>,
}

impl<'ctx> Broadcasts<'_, 'ctx> {
    /// Whether nothing happens in the kernel that is not known.
    fn is_understood(&self) -> bool {
        let mut instructions = self.flow.instructions();
        instructions.all(|instruction| Effect::of(instruction) != Effect::Unknown)
    }

    fn source(&self, store: Value<'ctx>) -> Option<Source<'ctx>> {
        let Effect::Store(address) = Effect::of(store) else {
            return None;
        };
        let own = store.block();
        let [branch] = *self.flow.predecessors(own) else {
            return None;
        };
        if self.flow.repeats(branch) || !is_uniform(address) {
            return None;
        }
        let Root::Parameter(_) = Root::of(self.kernel, address) else {
            return None;
        };
        if !is_taken_by_first_thread(branch, own) || !self.is_only_writer(store) {
            return None;
        }
        let mut needed = HashSet::new();
        self.note_value(store.operand(0), (branch, own), &mut needed)?;
        let moved = own
            .instructions()
            .into_iter()
            .filter(|instruction| needed.contains(instruction))
            .collect();
        Some(Source {
            store,
            branch,
            moved,
        })
    }

    /// Whether no other instruction writes where a store does.
    fn is_only_writer(&self, store: Value<'ctx>) -> bool {
        let root = |effect: Effect<'ctx>| match effect.address() {
            Some(address) => Root::of(self.kernel, address),
            None => Root::Unknown,
        };
        let own = root(Effect::of(store));
        self.flow.instructions().all(|other| {
            let effect = Effect::of(other);
            other == store || !effect.writes() || !root(effect).may_share(own, self.facts)
        })
    }

    /// Collects what a value is made of in the block of one thread; `None` when other threads might
    /// find another value.
    fn note_value(
        &self,
        value: Value<'ctx>,
        places: (Block<'ctx>, Block<'ctx>),
        needed: &mut HashSet<Value<'ctx>>,
    ) -> Option<()> {
        if !value.is_instruction() || needed.contains(&value) {
            return Some(());
        }
        let (branch, own) = places;
        let here = value.block() == own;
        match value.opcode() {
            Some(Opcode::LLVMLoad) => {
                let address = value.operand(0);
                let near = here || value.block() == branch;
                if !near || !is_uniform(address) || !self.is_steady(value) {
                    return None;
                }
                self.note_value(address, places, needed)?;
            }
            Some(Opcode::LLVMCall) if is_uniform(value) => {}
            Some(Opcode::LLVMCall) if is_pure_call(value) && !reads_register(value) => {
                for argument in value.call_arguments() {
                    self.note_value(argument, places, needed)?;
                }
            }
            opcode if is_computation(value) || opcode == Some(Opcode::LLVMGetElementPtr) => {
                for operand in value.operands() {
                    self.note_value(operand, places, needed)?;
                }
            }
            _ => return None,
        }
        if here {
            needed.insert(value);
        }
        Some(())
    }

    /// Whether a load is of a shared variable that nobody in the block writes to between the barriers
    /// before it and those after it.
    fn is_steady(&self, load: Value) -> bool {
        let Effect::Load(address) = Effect::of(load) else {
            return false;
        };
        let root = Root::of(self.kernel, address);
        if !matches!(root, Root::Shared(_) | Root::DynamicShared) {
            return false;
        }
        let before = self.flow.since_barrier(load).into_iter();
        let mut around = before.chain(self.flow.until_barrier(load));
        around.all(|other| {
            let effect = Effect::of(other);
            let address = effect.address();
            let reached = address.map_or(Root::Unknown, |address| Root::of(self.kernel, address));
            !effect.writes() || !reached.may_share(root, self.facts)
        })
    }

    /// The loads that find what the source has stored.
    fn loads(&self, source: &Source) -> Vec<Value<'ctx>> {
        let (store, branch) = (source.store, source.branch);
        let waits: Vec<Value> = self
            .flow
            .instructions()
            .filter(|wait| Effect::of(*wait) == Effect::Barrier)
            .filter(|wait| wait.block() != branch && self.flow.dominates(branch, wait.block()))
            .collect();
        let finds = |load: &Value| {
            let Effect::Load(address) = Effect::of(*load) else {
                return false;
            };
            load.ty() == store.operand(0).ty()
                && made_alike(address, store.operand(1))
                && waits.iter().any(|wait| self.flow.precedes(*wait, *load))
        };
        self.flow.instructions().filter(finds).collect()
    }
}

/// Whether thread 0 of a block that comes to `branch` goes on to `to`.
fn is_taken_by_first_thread(branch: Block, to: Block) -> bool {
    let successors = branch.successors();
    let condition = branch.terminator().and_then(Value::branch_condition);
    let (Some(condition), [yes, no]) = (condition, &successors[..]) else {
        return false;
    };
    if yes == no || !condition.is_instruction() || condition.opcode() != Some(Opcode::LLVMICmp) {
        return false;
    }
    let wanted = match condition.integer_predicate() {
        Some(IntegerPredicate::LLVMIntEQ) => *yes,
        Some(IntegerPredicate::LLVMIntNE) => *no,
        _ => return false,
    };
    wanted == to
        && condition.operand(1).constant_integer() == Some(0)
        && is_zero_in_first_thread(condition.operand(0))
}

/// A sum of thread indices in one of the ways to write that.
fn is_zero_in_first_thread(value: Value) -> bool {
    if !value.is_instruction() {
        return value.constant_integer() == Some(0);
    }
    match value.opcode() {
        Some(Opcode::LLVMOr | Opcode::LLVMAdd) => {
            is_zero_in_first_thread(value.operand(0)) && is_zero_in_first_thread(value.operand(1))
        }
        Some(Opcode::LLVMMul) => {
            is_zero_in_first_thread(value.operand(0)) || is_zero_in_first_thread(value.operand(1))
        }
        Some(Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc) => {
            is_zero_in_first_thread(value.operand(0))
        }
        Some(Opcode::LLVMCall) => {
            let name = value.called_name();
            name.is_some_and(|name| name.starts_with("llvm.nvvm.read.ptx.sreg.tid."))
        }
        _ => false,
    }
}

/// Reads one of the registers of the device, which may differ between threads.
fn reads_register(call: Value) -> bool {
    let name = call.called_name();
    name.is_some_and(|name| name.starts_with("llvm.nvvm.read."))
}
