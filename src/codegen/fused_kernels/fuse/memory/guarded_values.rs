//! Values that are stored under a condition and loaded again under the same one.
//!
//! Members that test alike whether an element is theirs, each for all of a thread's elements in turn, leave a
//! store in one branch and the load of it in another, with branches of other elements between. No store
//! dominates the load, so that LLVM loads again.
//!
//! A load is given the value that was stored when every way that leads to it passes such a store, to the same
//! place and with the same type, and nothing on the way may write there, wait, or do what is not known. Ways
//! are followed backwards from the load. One that could only be taken where a condition has another outcome
//! than the load's own branches say is none. A barrier on the way changes nothing where no other thread of the block
//! writes to that place, which the verifier says.
//!
//! Invariant: a comparison of addresses or conditions holds for the moments of the store and of the load
//! alike. Both are computed without memory from values (*sources*) that no block on the way computes anew.
//!
//! Values are carried in variables of the thread's own, one for each load, which LLVM makes registers.

use super::super::at_once::{is_own_read, waits_for_grid};
use super::super::control_flow::ControlFlow;
use super::super::counting::Sum;
use super::super::loops::declares_scope;
use super::super::memory::{
    Effect, KernelFacts, Root, is_computation, is_pure_call, made_alike, places_of,
};
use crate::kernel::{KernelModel, model_kernel};
use crate::llvm::{Block, Builder, Opcode, Type, Value};
use crate::program::KernelId;
use crate::verify::own_value_conflict;
use inkwell::module::Module;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// On the ways to a load so many blocks are looked into.
const MOST_BLOCKS: usize = 400;

/// Replaces loads by what was stored under their conditions. Returns how many.
pub(in crate::codegen::fused_kernels::fuse) fn forward_guarded_values<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
) -> usize {
    let Some(flow) = ControlFlow::of(kernel) else {
        return 0;
    };
    let stores = stores_by_root(&flow, kernel);
    let seen = OnceCell::new();
    let mut found = Vec::new();
    for load in flow.instructions() {
        let Effect::Load(address) = Effect::of(load) else {
            continue;
        };
        let root = Root::of(kernel, address);
        let written = stores.get(&root);
        if !written.is_some_and(|types| types.contains(&load.ty())) {
            continue;
        }
        let way = Ways {
            module,
            kernel,
            facts,
            flow: &flow,
            load,
            place: Place::of(module, address),
            known: conditions_at(&flow, load.block()),
            seen: &seen,
            is_own: OnceCell::new(),
        };
        if let Some(stores) = way.stores() {
            found.push((load, stores));
        }
    }
    for (load, stores) in &found {
        carry(module, kernel, *load, stores);
    }
    found.len()
}

/// The types that are stored through each parameter.
fn stores_by_root<'ctx>(
    flow: &ControlFlow<'ctx>,
    kernel: Value<'ctx>,
) -> HashMap<Root<'ctx>, HashSet<Type<'ctx>>> {
    let mut stores: HashMap<Root, HashSet<Type>> = HashMap::new();
    for at in flow.instructions() {
        if let Effect::Store(address) = Effect::of(at)
            && let root @ Root::Parameter(_) = Root::of(kernel, address)
        {
            stores.entry(root).or_default().insert(at.operand(0).ty());
        }
    }
    stores
}

/// Puts a variable between stores and a load.
fn carry(module: &Module, kernel: Value, load: Value, stores: &[Value]) {
    let Some(begin) = kernel
        .blocks()
        .first()
        .and_then(|entry| entry.instructions().into_iter().next())
    else {
        return;
    };
    let (ty, alignment) = (load.ty(), load.ty().alignment(module));
    let variable = Builder::before(begin).alloca(ty);
    for store in stores {
        Builder::before(*store).store_aligned(store.operand(0), variable, alignment);
    }
    let value = Builder::before(load).load_aligned(ty, variable, alignment);
    load.replace_uses_with(value);
    load.erase();
}

/// An address: so many bytes behind another one.
pub(in crate::codegen::fused_kernels::fuse) struct Place<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) base: Value<'ctx>,
    pub(in crate::codegen::fused_kernels::fuse) bytes: Sum<'ctx>,
    /// What it is computed from.
    sources: HashSet<Value<'ctx>>,
}

impl<'ctx> Place<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        module: &Module<'ctx>,
        address: Value<'ctx>,
    ) -> Self {
        let (mut base, mut bytes) = (address, Sum::constant(0));
        while base.is_instruction()
            && base.opcode() == Some(Opcode::LLVMGetElementPtr)
            && let [next, index] = base.operands()[..]
            && index.ty().integer_bits() <= 64
        {
            let element = base.element_pointer_source_type().allocation_bytes(module);
            bytes = bytes.plus(&Sum::of(index).times(element.into()));
            base = next;
        }
        Self {
            base,
            bytes,
            sources: sources(address),
        }
    }

    /// How many bytes another place lies behind this one, where both are computed from one.
    pub(in crate::codegen::fused_kernels::fuse) fn distance_bytes(
        &self,
        other: &Self,
    ) -> Option<Sum<'ctx>> {
        made_alike(self.base, other.base).then(|| other.bytes.minus(&self.bytes))
    }
}

/// What a value is computed from, without memory.
fn sources(value: Value) -> HashSet<Value> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if !value.is_instruction() || !seen.insert(value) {
            continue;
        }
        let computed = is_computation(value) || value.opcode() == Some(Opcode::LLVMGetElementPtr);
        match value.opcode() {
            Some(Opcode::LLVMCall) if is_pure_call(value) => work.extend(value.call_arguments()),
            _ if computed => work.extend(value.operands()),
            _ => {
                found.insert(value);
            }
        }
    }
    found
}

/// The conditions whose outcome is known where a block runs, as of when they were last asked.
pub(in crate::codegen::fused_kernels::fuse) fn conditions_at<'ctx>(
    flow: &ControlFlow<'ctx>,
    block: Block<'ctx>,
) -> Vec<(Value<'ctx>, bool)> {
    let mut known = Vec::new();
    let mut at = block;
    while let Some(above) = flow.immediate_dominator(at) {
        let asked = above.terminator().and_then(Value::branch_condition);
        if let (Some(condition), [yes, no]) = (asked, &above.successors()[..])
            && yes != no
            && flow.predecessors(at) == [above]
        {
            learn(condition, *yes == at, &mut known);
        }
        at = above;
    }
    known
}

/// Notes the outcome of a condition, and of those that it is made of.
pub(in crate::codegen::fused_kernels::fuse) fn learn<'ctx>(
    condition: Value<'ctx>,
    outcome: bool,
    known: &mut Vec<(Value<'ctx>, bool)>,
) {
    known.push((condition, outcome));
    if let Some((one, other, all)) = parts(condition)
        && all == outcome
    {
        learn(one, outcome, known);
        learn(other, outcome, known);
    }
}

/// Two conditions that another one says hold both (`true`), or one at least (`false`).
fn parts(condition: Value) -> Option<(Value, Value, bool)> {
    let operands = condition.operands();
    match (condition.opcode()?, &operands[..]) {
        (Opcode::LLVMAnd, [one, other]) => Some((*one, *other, true)),
        (Opcode::LLVMOr, [one, other]) => Some((*one, *other, false)),
        (Opcode::LLVMSelect, [one, other, no]) if no.constant_integer() == Some(0) => {
            Some((*one, *other, true))
        }
        (Opcode::LLVMSelect, [one, yes, other]) if yes.constant_integer() == Some(1) => {
            Some((*one, *other, false))
        }
        _ => None,
    }
}

/// A kernel's model, and the [place](crate::kernel::Access::place) of each instruction.
type Seen<'ctx> = (KernelModel, HashMap<Value<'ctx>, usize>);

/// The ways that lead to a load.
struct Ways<'a, 'ctx> {
    module: &'a Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &'a KernelFacts,
    flow: &'a ControlFlow<'ctx>,
    load: Value<'ctx>,
    place: Place<'ctx>,
    known: Vec<(Value<'ctx>, bool)>,
    /// The kernel as the verifier sees it, once that is asked.
    seen: &'a OnceCell<Option<Seen<'ctx>>>,
    /// No other thread of the block writes to what is loaded.
    is_own: OnceCell<bool>,
}

impl<'ctx> Ways<'_, 'ctx> {
    /// The stores of which each way passes one last; `None` where there is no such thing.
    ///
    /// Which ways can be taken depends on which blocks are on them: a condition is only looked at while what
    /// it is computed from is not computed on the way. So blocks are collected until there are no more.
    fn stores(&self) -> Option<Vec<Value<'ctx>>> {
        let mut passed: HashSet<Block> = HashSet::new();
        loop {
            let before = passed.len();
            let found = self.walk(&mut passed)?;
            if passed.len() == before {
                let mut compared = found.compared.into_iter();
                let still = compared.all(|source| self.is_still(source, &passed));
                return still.then_some(found.stores);
            }
        }
    }

    /// Follows all ways back to stores, taking for granted that no blocks are on them but those that were
    /// `passed` before; adds those that are.
    fn walk(&self, passed: &mut HashSet<Block<'ctx>>) -> Option<Found<'ctx>> {
        let known = self.known.iter().filter(|(condition, _)| {
            let mut of_condition = sources(*condition).into_iter();
            of_condition.all(|source| self.is_still(source, passed))
        });
        let known: Vec<(Value, bool)> = known.copied().collect();
        let home = self.load.block();
        let mut found = Found::default();
        let mut seen = HashSet::new();
        let mut work = vec![home];
        while let Some(block) = work.pop() {
            let mut list = block.instructions();
            if block == home {
                let end = list.iter().position(|at| *at == self.load)?;
                list.truncate(end);
            }
            let mut ended = false;
            for at in list.into_iter().rev() {
                match self.does(at, &mut found.compared) {
                    Step::Nothing => {}
                    Step::Stores => {
                        found.stores.push(at);
                        ended = true;
                        break;
                    }
                    Step::MayWrite => return None,
                }
            }
            if block != home {
                passed.insert(block);
            }
            if ended {
                continue;
            }
            let from = self.flow.predecessors(block);
            if from.is_empty() {
                return None;
            }
            for before in from {
                if self.may_lead(*before, block, &known) && seen.insert(*before) {
                    // The load of an earlier iteration is another one.
                    if *before == home || seen.len() > MOST_BLOCKS {
                        return None;
                    }
                    work.push(*before);
                }
            }
        }
        Some(found)
    }

    /// What an instruction on the way means for the load; what it compares for that is noted.
    fn does(&self, at: Value<'ctx>, compared: &mut HashSet<Value<'ctx>>) -> Step {
        let effect = Effect::of(at);
        let (address, ty) = match effect {
            Effect::Nothing | Effect::Load(_) => return Step::Nothing,
            Effect::Store(address) => (address, at.operand(0).ty()),
            Effect::Unknown if declares_scope(at) => return Step::Nothing,
            Effect::Barrier if self.is_own() => return Step::Nothing,
            Effect::Unknown if is_own_read(self.load) && waits_for_grid(at) => {
                return Step::Nothing;
            }
            // What it orders are other threads' writes.
            Effect::Atomic(address) if self.is_elsewhere(address) && self.is_own() => {
                return Step::Nothing;
            }
            Effect::Atomic(_) | Effect::Barrier | Effect::Unknown => return Step::MayWrite,
        };
        if self.is_elsewhere(address) {
            return Step::Nothing;
        }
        let place = Place::of(self.module, address);
        let Some(distance) = self.place.distance_bytes(&place) else {
            return Step::MayWrite;
        };
        compared.extend(self.place.sources.iter().chain(&place.sources));
        if distance.as_constant() == Some(0) && ty == self.load.ty() {
            return Step::Stores;
        }
        let bytes = |ty: Type| i128::from(ty.allocation_bytes(self.module));
        match distance.bounds() {
            // Addresses of 64 bits begin anew behind the last.
            Some((low, high)) if low.abs().max(high.abs()) >= 1 << 62 => Step::MayWrite,
            Some((low, _)) if low >= bytes(self.load.ty()) => Step::Nothing,
            Some((_, high)) if -high >= bytes(ty) => Step::Nothing,
            _ => Step::MayWrite,
        }
    }

    /// Whether an address never leads to what is loaded.
    fn is_elsewhere(&self, address: Value<'ctx>) -> bool {
        let root = Root::of(self.kernel, address);
        let own = Root::of(self.kernel, self.place.base);
        !root.may_share(own, self.facts)
    }

    /// Whether no other thread of the block writes to what is loaded, as the verifier finds.
    fn is_own(&self) -> bool {
        if is_own_read(self.load) {
            return true;
        }
        *self.is_own.get_or_init(|| {
            let seen = self.seen.get_or_init(|| {
                let name = self.kernel.name();
                let function = self.module.get_function(&name)?;
                let model = model_kernel(function, KernelId(0), &name);
                Some((model, places_of(self.kernel)))
            });
            seen.as_ref().is_some_and(|(model, places)| {
                let disjoint = |one, other| self.facts.are_disjoint(one, other);
                let place = places.get(&self.load);
                place.is_some_and(|place| {
                    own_value_conflict(model, *place, self.facts.block, disjoint).is_none()
                })
            })
        })
    }

    /// Whether a branch may be taken, given what is known of conditions.
    fn may_lead(&self, from: Block, to: Block, known: &[(Value, bool)]) -> bool {
        let condition = from.terminator().and_then(Value::branch_condition);
        let Some(condition) = condition else {
            return true;
        };
        match from.successors()[..] {
            [yes, no] if yes != no => outcome(condition, known) != Some(to == no),
            _ => true,
        }
    }

    /// Whether a value is that at the store which it is at the load.
    fn is_still(&self, source: Value, passed: &HashSet<Block>) -> bool {
        source.block() != self.load.block() && !passed.contains(&source.block())
    }
}

/// What the ways to a load pass.
#[derive(Default)]
struct Found<'ctx> {
    /// The stores whose value it may be.
    stores: Vec<Value<'ctx>>,
    /// What the addresses that were compared are computed from.
    compared: HashSet<Value<'ctx>>,
}

/// What an instruction means for a load that comes later.
enum Step {
    Nothing,
    /// What is loaded.
    Stores,
    MayWrite,
}

/// The outcome of a condition, where those that are known tell.
pub(in crate::codegen::fused_kernels::fuse) fn outcome(
    condition: Value,
    known: &[(Value, bool)],
) -> Option<bool> {
    let told = known
        .iter()
        .find(|(known, _)| made_alike(*known, condition));
    if let Some((_, outcome)) = told {
        return Some(*outcome);
    }
    let (one, other, all) = parts(condition)?;
    // The same two conditions, perhaps in another order.
    let same = known.iter().find(|(known, _)| {
        let of_known = parts(*known).filter(|(.., known_all)| *known_all == all);
        of_known.is_some_and(|(first, second, _)| {
            made_alike(one, first) && made_alike(other, second)
                || made_alike(one, second) && made_alike(other, first)
        })
    });
    if let Some((_, outcome)) = same {
        return Some(*outcome);
    }
    let (one, other) = (outcome(one, known), outcome(other, known));
    match all {
        _ if one == Some(!all) || other == Some(!all) => Some(!all),
        _ if one == Some(all) && other == Some(all) => Some(all),
        _ => None,
    }
}
