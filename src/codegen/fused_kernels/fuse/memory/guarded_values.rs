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
//!
//! Where iterations of a host's loop follow each other in the kernel ([`keep_guarded_values`]), a load that no other thread ever
//! writes to is also given what the iteration before had: what it stored, or loaded. Of the ways that lead to it some begin
//! where the loop does. So the first iteration still loads. Each way that leads through the end of an iteration has to pass such a
//! store or load behind the begin of that iteration, which may be the load itself. Pointers that change places are others there: what
//! the load's one is in that iteration is looked up where the loop begins.

use super::super::at_once::{is_kept_read, is_own_read, waits_for_grid};
use super::super::between_iterations::{before, hand_on, is_first, roots_of, told_by_turns};
use super::super::control_flow::ControlFlow;
use super::super::counting::Sum;
use super::super::loops::declares_scope;
use super::super::memory::{
    Effect, KernelFacts, Root, is_computation, is_pure_call, made_alike, places_of,
};
use crate::kernel::{KernelModel, Tables, model_accesses};
use crate::llvm::{Block, Builder, NaturalLoop, Opcode, Type, Value};
use crate::verify::own_value_conflict;
use inkwell::module::Module;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// On the ways to a load so many blocks are looked into.
const MOST_BLOCKS: usize = 400;

/// The values that are kept from iteration to iteration have so many bytes at most: all of them are in registers all the time.
const MOST_KEPT_BYTES: u64 = 64;

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
    let roots = |address| vec![Root::of(kernel, address)];
    let mut found = Vec::new();
    for load in flow.instructions() {
        let Effect::Load(address) = Effect::of(load) else {
            continue;
        };
        let root = Root::of(kernel, address);
        let written = stores.get(&root);
        let is_written = written.is_some_and(|types| types.contains(&load.ty()));
        if !is_written && !is_own_read(load) {
            continue;
        }
        let in_kernel = (module, kernel, facts, &roots as _);
        let way = Ways::of(in_kernel, (&flow, &seen), (load, address), None);
        if let Some(found_on_ways) = way.found() {
            found.push((load, found_on_ways.sources));
        }
    }
    carry_all(module, kernel, &found);
    found.len()
}

/// Replaces loads whose values are kept from iteration to iteration by what the thread had last, in a kernel with a loop around all
/// that launches do. `told` says which parameters, of those that `facts` speaks of, a pointer may be. Returns how many.
pub(in crate::codegen::fused_kernels::fuse) fn keep_guarded_values<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    told: &dyn Fn(Value<'ctx>) -> Option<Vec<usize>>,
) -> usize {
    let Some(flow) = ControlFlow::of(kernel) else {
        return 0;
    };
    let loops = flow.natural_loops();
    let around = |block: Block<'ctx>| {
        let loops = loops.iter().filter(|each| each.blocks.contains(&block));
        loops.max_by_key(|each| each.blocks.len())
    };
    let seen = OnceCell::new();
    let (mut kept, mut found) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for load in flow.instructions().filter(|at| is_kept_read(*at)) {
        let Effect::Load(address) = Effect::of(load) else {
            continue;
        };
        let Some(around) = around(load.block()) else {
            continue;
        };
        let told = |value| told(value).or_else(|| told_by_turns(kernel, around, value));
        let roots = |address| roots_of(kernel, address, &told);
        let in_kernel = (module, kernel, facts, &roots as _);
        let way = Ways::of(in_kernel, (&flow, &seen), (load, address), Some(around));
        let Some(on_ways) = way.found() else {
            continue;
        };
        let own = load.ty().allocation_bytes(module).next_multiple_of(4);
        match on_ways.begins {
            false if on_ways.before.is_empty() => found.push((load, on_ways.sources)),
            true if !on_ways.before.contains(&load) && bytes + own <= MOST_KEPT_BYTES => {
                bytes += own;
                kept.push((load, on_ways, around));
            }
            _ => {}
        }
    }
    // Sources may be loads that become others.
    let variables = kept.iter().map(|(load, on_ways, around)| {
        let variable = variable(module, kernel, (*load, &on_ways.sources));
        if !on_ways.before.is_empty() {
            let before = self::variable(module, kernel, (*load, &on_ways.before));
            hand_on(module, around, (before, variable), load.ty());
        }
        variable
    });
    let variables: Vec<Value> = variables.collect();
    carry_all(module, kernel, &found);
    let mut firsts: HashMap<Block, Value> = HashMap::new();
    for ((load, _, around), variable) in kept.iter().zip(variables) {
        let first = *firsts
            .entry(around.header)
            .or_insert_with(|| is_first(module, &flow, around));
        keep(module, (*load, variable), first);
    }
    found.len() + kept.len()
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

/// A variable of the thread's own with the value of a load, as the sources on the ways to it say.
fn variable<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    (load, sources): (Value<'ctx>, &[Value<'ctx>]),
) -> Value<'ctx> {
    let (ty, alignment) = (load.ty(), load.ty().alignment(module));
    let begin = kernel.blocks()[0].instructions()[0];
    let variable = Builder::before(begin).alloca(ty);
    for source in sources.iter().filter(|source| **source != load) {
        let (builder, value) = match source.opcode() {
            Some(Opcode::LLVMStore) => (Builder::before(*source), source.operand(0)),
            _ => (Builder::after(*source), *source),
        };
        builder.store_aligned(value, variable, alignment);
    }
    variable
}

/// Puts variables between stores, or other loads, and loads.
fn carry_all<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    found: &[(Value<'ctx>, Vec<Value<'ctx>>)],
) {
    let variables = found.iter();
    let variables = variables.map(|(load, sources)| variable(module, kernel, (*load, sources)));
    // Sources may be loads that become others.
    let variables: Vec<Value> = variables.collect();
    for ((load, _), variable) in found.iter().zip(variables) {
        let (ty, alignment) = (load.ty(), load.ty().alignment(module));
        let value = Builder::before(*load).load_aligned(ty, variable, alignment);
        load.replace_uses_with(value);
        load.erase();
    }
}

/// Lets a load take its value from a variable, but in the first iteration.
fn keep<'ctx>(
    module: &Module<'ctx>,
    (load, variable): (Value<'ctx>, Value<'ctx>),
    first: Value<'ctx>,
) {
    let (ty, alignment) = (load.ty(), load.ty().alignment(module));
    let rest = load.block();
    let mut instructions = rest.instructions().into_iter();
    let Some(place) = instructions.position(|at| at == load) else {
        return;
    };
    let before = rest.split_head(place);
    let loading = rest.split_head(1);
    let value = Builder::before(rest.instructions()[0]).load_aligned(ty, variable, alignment);
    load.replace_uses_with(value);
    Builder::after(load).store_aligned(load, variable, alignment);
    let Some(end) = before.terminator() else {
        return;
    };
    Builder::before(end).branch_if(first, loading, rest);
    end.erase();
}

/// An address: so many bytes behind another one.
#[derive(Clone)]
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

/// What an address is computed from beside the pointer that it begins at.
fn sources_of_distance<'ctx>(address: Value<'ctx>, base: Value<'ctx>) -> HashSet<Value<'ctx>> {
    let mut found = HashSet::new();
    let mut at = address;
    while at != base
        && at.operation() == Some(Opcode::LLVMGetElementPtr)
        && let [next, index] = at.operands()[..]
    {
        found.extend(sources(index));
        at = next;
    }
    if at != base {
        found.extend(sources(at));
    }
    found
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

/// What addresses may be computed from.
type Roots<'a, 'ctx> = dyn Fn(Value<'ctx>) -> Vec<Root<'ctx>> + 'a;

/// The ways that lead to a load.
struct Ways<'a, 'ctx> {
    module: &'a Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &'a KernelFacts,
    roots: &'a Roots<'a, 'ctx>,
    flow: &'a ControlFlow<'ctx>,
    load: Value<'ctx>,
    /// The place of the load as its own iteration has it.
    now: Sight<'ctx>,
    /// As the iteration before has it.
    then: Sight<'ctx>,
    known: Vec<(Value<'ctx>, bool)>,
    /// The loop of which an iteration may hand values on to the next.
    around: Option<&'a NaturalLoop<'ctx>>,
    /// The kernel as the verifier sees it, once that is asked.
    seen: &'a OnceCell<Option<Seen<'ctx>>>,
    /// No other thread of the block writes to what is loaded.
    is_own: OnceCell<bool>,
}

impl<'a, 'ctx> Ways<'a, 'ctx> {
    fn of(
        (module, kernel, facts, roots): (
            &'a Module<'ctx>,
            Value<'ctx>,
            &'a KernelFacts,
            &'a Roots<'a, 'ctx>,
        ),
        (flow, seen): (&'a ControlFlow<'ctx>, &'a OnceCell<Option<Seen<'ctx>>>),
        (load, address): (Value<'ctx>, Value<'ctx>),
        around: Option<&'a NaturalLoop<'ctx>>,
    ) -> Self {
        let place = Place::of(module, address);
        let before = around.and_then(|around| before(around, place.base));
        let sight = |base: Value<'ctx>| Sight {
            place: Place {
                base,
                ..place.clone()
            },
            led: roots(base),
            turns: before.is_some(),
        };
        Self {
            module,
            kernel,
            facts,
            roots,
            flow,
            load,
            now: sight(place.base),
            then: sight(before.unwrap_or(place.base)),
            known: conditions_at(flow, load.block()),
            around,
            seen,
            is_own: OnceCell::new(),
        }
    }

    /// What each way passes last of what the value may come from; `None` where there is no such thing.
    ///
    /// Which ways can be taken depends on which blocks are on them: a condition is only looked at while what
    /// it is computed from is not computed on the way. So blocks are collected until there are no more.
    fn found(&self) -> Option<Found<'ctx>> {
        let mut passed: HashSet<Block> = HashSet::new();
        loop {
            let before = passed.len();
            let found = self.walk(&mut passed)?;
            if passed.len() == before {
                let mut compared = found.compared.iter();
                let still = compared.all(|source| self.is_still(*source, &passed));
                return still.then_some(found);
            }
        }
    }

    /// Follows all ways back to where the value may come from, taking for granted that no blocks are on them but those that were
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
        // With each block, whether it is looked at in an iteration before that of the load.
        let mut work = vec![(home, false)];
        let mut begun = false;
        while let Some((block, earlier)) = work.pop() {
            let mut list = block.instructions();
            // Whoever comes back comes to all of it, and to the load itself.
            if !begun {
                let end = list.iter().position(|at| *at == self.load)?;
                list.truncate(end);
                begun = true;
            }
            let mut ended = false;
            for at in list.into_iter().rev() {
                let sight = if earlier { &self.then } else { &self.now };
                match self.does(at, sight, &mut found.compared) {
                    Step::Nothing => {}
                    Step::Has => {
                        let own = match earlier && sight.turns {
                            true => &mut found.before,
                            false => &mut found.sources,
                        };
                        if !own.contains(&at) {
                            own.push(at);
                        }
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
            let around = self.around.filter(|around| around.header == block);
            let from = self.flow.predecessors(block);
            // Two iterations before is too far.
            if from.is_empty() || around.is_some() && earlier {
                return None;
            }
            for before in from {
                let may_come = || self.around.is_none() || self.may_come(*before);
                if !self.may_lead(*before, block, &known) || !may_come() {
                    continue;
                }
                let in_loop = around.is_none_or(|around| around.blocks.contains(before));
                if !in_loop {
                    found.begins = true;
                    continue;
                }
                let earlier = earlier || around.is_some();
                if seen.insert((*before, earlier)) {
                    // The load of an earlier iteration is another one.
                    let returns = *before == home && self.around.is_none();
                    if returns || seen.len() > MOST_BLOCKS {
                        return None;
                    }
                    work.push((*before, earlier));
                }
            }
        }
        Some(found)
    }

    /// What an instruction on the way means for the load; what it compares for that is noted.
    fn does(
        &self,
        at: Value<'ctx>,
        sight: &Sight<'ctx>,
        compared: &mut HashSet<Value<'ctx>>,
    ) -> Step {
        // The base itself is that of the iteration, where it is another one in each.
        let mut compare = |address: Value<'ctx>, place: &Place<'ctx>| match sight.turns {
            false => compared.extend(sight.place.sources.iter().chain(&place.sources)),
            true => {
                compared.extend(sources_of_distance(
                    self.load.operand(0),
                    self.now.place.base,
                ));
                compared.extend(sources_of_distance(address, sight.place.base));
            }
        };
        let effect = Effect::of(at);
        let (address, ty) = match effect {
            Effect::Load(address) if self.may_be_loaded(at, address, sight) => {
                let place = Place::of(self.module, address);
                let distance = sight.place.distance_bytes(&place);
                if distance.and_then(|distance| distance.as_constant()) == Some(0) {
                    compare(address, &place);
                    return Step::Has;
                }
                return Step::Nothing;
            }
            Effect::Nothing | Effect::Load(_) => return Step::Nothing,
            Effect::Store(address) => (address, at.operand(0).ty()),
            Effect::Unknown if declares_scope(at) => return Step::Nothing,
            Effect::Barrier if self.is_own() => return Step::Nothing,
            Effect::Unknown if is_own_read(self.load) && waits_for_grid(at) => {
                return Step::Nothing;
            }
            // What other threads may see it do is done elsewhere.
            Effect::Unknown if is_own_read(self.load) && self.is_volatile_elsewhere(at, sight) => {
                return Step::Nothing;
            }
            // What it orders are other threads' writes.
            Effect::Atomic(address) if self.is_elsewhere(address, sight) && self.is_own() => {
                return Step::Nothing;
            }
            Effect::Atomic(_) | Effect::Barrier | Effect::Unknown => return Step::MayWrite,
        };
        if self.is_elsewhere(address, sight) {
            return Step::Nothing;
        }
        let place = Place::of(self.module, address);
        let Some(distance) = sight.place.distance_bytes(&place) else {
            return Step::MayWrite;
        };
        compare(address, &place);
        if distance.as_constant() == Some(0) && ty == self.load.ty() {
            return Step::Has;
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

    /// Whether another load may be one of the same value: where no other thread writes to it, both see what the thread itself stored.
    fn may_be_loaded(&self, at: Value<'ctx>, address: Value<'ctx>, sight: &Sight<'ctx>) -> bool {
        is_own_read(self.load) && at.ty() == self.load.ty() && !self.is_elsewhere(address, sight)
    }

    /// Whether an address never leads to what is loaded.
    fn is_elsewhere(&self, address: Value<'ctx>, sight: &Sight<'ctx>) -> bool {
        let roots = (self.roots)(address);
        let known = !roots.is_empty() && !sight.led.is_empty();
        let mut pairs = roots
            .iter()
            .flat_map(|root| sight.led.iter().map(move |own| (root, own)));
        known && pairs.all(|(root, own)| !root.may_share(*own, self.facts))
    }

    /// Whether an instruction is a volatile access to what never is what is loaded.
    fn is_volatile_elsewhere(&self, at: Value<'ctx>, sight: &Sight<'ctx>) -> bool {
        let address = match at.opcode() {
            Some(Opcode::LLVMLoad) => at.operand(0),
            Some(Opcode::LLVMStore) => at.operand(1),
            _ => return false,
        };
        !at.is_atomic() && self.is_elsewhere(address, sight)
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
                let model = model_accesses(function, &name, Tables::Unknown);
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

    /// Whether a thread that comes to the load may ever come to a block, given what is known of conditions that never change.
    fn may_come(&self, block: Block<'ctx>) -> bool {
        let never_changes = |(condition, _): &&(Value<'ctx>, bool)| {
            let mut of_condition = sources(*condition).into_iter();
            of_condition.all(|source| !self.flow.repeats(source.block()))
        };
        let steady: Vec<(Value, bool)> = self.known.iter().filter(never_changes).copied().collect();
        let mut asked = conditions_at(self.flow, block).into_iter();
        steady.is_empty() || !asked.any(|(asked, came)| outcome(asked, &steady) == Some(!came))
    }

    /// Whether a value is that at the store which it is at the load.
    fn is_still(&self, source: Value, passed: &HashSet<Block>) -> bool {
        source.block() != self.load.block() && !passed.contains(&source.block())
    }
}

/// The place of a load as an iteration has it.
struct Sight<'ctx> {
    place: Place<'ctx>,
    /// What it is computed from.
    led: Vec<Root<'ctx>>,
    /// It begins at a pointer that changes places.
    turns: bool,
}

/// What the ways to a load pass.
#[derive(Default)]
struct Found<'ctx> {
    /// The stores and loads whose value it may be.
    sources: Vec<Value<'ctx>>,
    /// Those of an iteration before, where the place begins at another pointer there.
    before: Vec<Value<'ctx>>,
    /// Some way begins where the loop does.
    begins: bool,
    /// What the addresses that were compared are computed from.
    compared: HashSet<Value<'ctx>>,
}

/// What an instruction means for a load that comes later.
enum Step {
    Nothing,
    /// It has what is loaded: it stores it there, or loads it from there.
    Has,
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
