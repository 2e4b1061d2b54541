//! Loops of segments that run one after the other, and equally often, become one.
//!
//! Kernels that walk over a whole array with strides of the grid, fused, are loops over the same elements
//! one behind the other. As one loop, what the first iteration stores the second finds in a register.
//!
//! The proof for two loops, without barriers, the second behind the first:
//! - Their counters begin alike, advance alike, and end at the same bound, or begin elsewhere and have the
//!   same way to their bounds (`counting`): each thread runs them equally often. The test is at the head
//!   of each, and nothing else leaves them.
//! - The second uses no value that the first computes.
//! - All ways lead from the first through what stands between to the second. Of what stands between, the
//!   second uses only what is computed without memory from values that are known before the first: that
//!   is computed there. A wait for the thread's asynchronous copies comes there, too, since neither loop
//!   begins any. The rest comes behind the second now. It does not wait, uses no atomic's result, and nothing that it
//!   touches can be touched by the second, unless both read.
//! - Iteration n of the second now comes before iteration m > n of the first, in one thread. That is no
//!   matter for accesses that cannot reach a common byte, as other pointers or the bounds of their
//!   distance tell, and for such that go to one place in iterations of equal number
//!   ([`super::super::counterparts`]). Between threads nothing was ordered.
//!
//! The second's counter is computed from the first's then, and where both go to one place in an iteration, the
//! second takes the first's address, by which LLVM knows that they do.
//!
//! The verifier judges each pair by itself, by a model of the kernel that is read anew. What `llvm.loop`
//! says is kept where it says the same of both.

use super::super::control_flow::ControlFlow;
use super::super::counterparts::{Counter, Progress};
use super::super::counting::{Counting, Sum};
use super::super::guarded_values;
use super::super::memory::{
    Effect, KernelFacts, Root, is_computation, is_pure_call, is_remark, made_alike,
};
use super::super::rows::Place;
use super::super::shared_memory_reuse::WAIT_FOR_COPIES;
use crate::kernel::{KernelModel, Tables, model_accesses};
use crate::llvm::{Block, Builder, Opcode, Value};
use crate::verify::{JoinedLoops, join_conflict};
use inkwell::module::Module;
use std::cell::OnceCell;
use std::collections::HashSet;

/// What puts kernels into the form that [`join_loops`] understands.
pub(in crate::codegen::fused_kernels::fuse) const CANONICAL_FORM: &str = "loop-simplify";

/// Whether a kernel has loops that could become one.
pub(in crate::codegen::fused_kernels::fuse) fn has_several_loops(kernel: Value) -> bool {
    ControlFlow::of(kernel).is_some_and(|flow| flow.loops_with_one_latch().len() > 1)
}

/// Asks LLVM to repeat the bodies of a kernel's innermost loops so many times, those of which the user
/// says nothing else.
pub(in crate::codegen::fused_kernels::fuse) fn unroll(module: &Module, kernel: Value, times: u32) {
    let Some(flow) = ControlFlow::of(kernel) else {
        return;
    };
    let loops = flow.loops_with_one_latch();
    for (header, latch, blocks) in &loops {
        let mut headers = loops.iter().map(|(header, ..)| header);
        let innermost = !headers.any(|other| other != header && blocks.contains(other));
        if let Some(end) = latch.terminator().filter(|_| innermost) {
            end.unroll_times(module, times);
        }
    }
}

/// Makes loops one that stand behind each other. Returns how often.
pub(in crate::codegen::fused_kernels::fuse) fn join_loops<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
) -> usize {
    let mut joined = 0;
    loop {
        let Some(flow) = ControlFlow::of(kernel) else {
            return joined;
        };
        let loops: Vec<Loop> = flow
            .loops_with_one_latch()
            .into_iter()
            .filter_map(|(header, latch, blocks)| Loop::of(&flow, header, latch, blocks))
            .collect();
        // Pairs that stay two loops leave the kernel as it is.
        let model = OnceCell::new();
        let model = || {
            model
                .get_or_init(|| model_of(module, kernel, facts))
                .as_ref()
        };
        let pair = loops.iter().find_map(|one| {
            // The nearest first.
            let mut behind: Vec<(Vec<Block>, &Loop)> = loops
                .iter()
                .filter_map(|other| Some((between(&flow, one, other)?, other)))
                .collect();
            behind.sort_by_key(|(between, _)| between.len());
            behind.into_iter().find_map(|(between, other)| {
                let pair = Pair {
                    one,
                    other,
                    between,
                };
                let hoisted = pair.may_be_one(module, kernel, facts)?;
                let confirmed =
                    model().is_some_and(|model| pair.is_confirmed(model, kernel, facts));
                let alike = confirmed.then(|| pair.equal_addresses(module, &flow))?;
                Some((one, other, hoisted, alike))
            })
        });
        let Some((one, other, hoisted, alike)) = pair else {
            return joined;
        };
        join(one, other, &hoisted);
        for (access, operand, address) in alike {
            access.set_operand(operand, address);
        }
        joined += 1;
    }
}

/// A kernel as it is.
fn model_of(module: &Module, kernel: Value, facts: &KernelFacts) -> Option<KernelModel> {
    let name = kernel.name();
    let tables = Tables::Only(facts.tables.iter().copied().collect());
    Some(model_accesses(module.get_function(&name)?, &name, tables))
}

/// A loop that is left at its head only.
struct Loop<'ctx> {
    /// The block from which it is entered, which leads nowhere else.
    before: Block<'ctx>,
    header: Block<'ctx>,
    latch: Block<'ctx>,
    /// Where it is left to; entered from nowhere else.
    exit: Block<'ctx>,
    /// The first block inside behind the header.
    inside: Block<'ctx>,
    blocks: HashSet<Block<'ctx>>,
    counter: Value<'ctx>,
    begin: Value<'ctx>,
    next: Value<'ctx>,
    step: Value<'ctx>,
    bound: Value<'ctx>,
    condition: Value<'ctx>,
}

impl<'ctx> Loop<'ctx> {
    fn of(
        flow: &ControlFlow<'ctx>,
        header: Block<'ctx>,
        latch: Block<'ctx>,
        blocks: HashSet<Block<'ctx>>,
    ) -> Option<Self> {
        let before = flow.entered_from(header, latch)?;
        let leaves = |block: &&Block| {
            let mut successors = block.successors().into_iter();
            successors.any(|to| !blocks.contains(&to))
        };
        let mut exits = blocks.iter().filter(leaves);
        let only_exit = exits.next() == Some(&header) && exits.next().is_none();
        let [inside, exit] = header.successors()[..] else {
            return None;
        };
        let plain = only_exit
            && latch != header
            && latch.successors().len() == 1
            && before.successors().len() == 1
            && !blocks.contains(&before)
            && blocks.contains(&inside)
            && !blocks.contains(&exit)
            && flow.predecessors(exit).len() == 1
            && flow.predecessors(inside).len() == 1;
        let mut instructions = blocks.iter().flat_map(|block| block.instructions());
        let waits =
            instructions.any(|at| matches!(Effect::of(at), Effect::Barrier | Effect::Unknown));
        if !plain || waits {
            return None;
        }
        let condition = header.terminator()?.branch_condition()?;
        if !condition.is_instruction() || condition.opcode() != Some(Opcode::LLVMICmp) {
            return None;
        }
        let (counter, bound) = (condition.operand(0), condition.operand(1));
        if !header.phis().contains(&counter) {
            return None;
        }
        let incoming = counter.incoming();
        let from = |block: Block| incoming.iter().find(|(_, source)| *source == block);
        let (begin, next) = (from(before)?.0, from(latch)?.0);
        if !next.is_instruction() || next.opcode() != Some(Opcode::LLVMAdd) {
            return None;
        }
        let step = match (next.operand(0), next.operand(1)) {
            (one, step) | (step, one) if one == counter => step,
            _ => return None,
        };
        if !is_invariant(step, &blocks) || !is_invariant(bound, &blocks) {
            return None;
        }
        // What the header does besides is done once more than the rest.
        let computes = |at: &Value| {
            at.opcode() == Some(Opcode::LLVMPHI) || Some(*at) == header.terminator() || is_free(*at)
        };
        header.instructions().iter().all(computes).then_some(Self {
            before,
            header,
            latch,
            exit,
            inside,
            blocks,
            counter,
            begin,
            next,
            step,
            bound,
            condition,
        })
    }

    /// What it touches, with what it does to which address.
    fn accesses(&self) -> Vec<(Value<'ctx>, Effect<'ctx>, Value<'ctx>)> {
        let instructions = self.blocks.iter().flat_map(|block| block.instructions());
        let touching = instructions.filter_map(|at| {
            let effect = Effect::of(at);
            Some((at, effect, effect.address()?))
        });
        touching.collect()
    }

    /// Whether the counters of both are equal in iterations of equal number, and both run equally often.
    fn counts_like(&self, other: &Self) -> bool {
        self.counter.ty() == other.counter.ty()
            && self.condition.integer_predicate() == other.condition.integer_predicate()
            && made_alike(self.begin, other.begin)
            && made_alike(self.step, other.step)
            && made_alike(self.bound, other.bound)
    }

    /// Whether the counter is the number of iterations times the step, and where it begins, exactly.
    fn never_wraps(&self) -> bool {
        Sum::of(self.next).apart_from(self.counter).0 == 1
    }

    fn holds(&self, value: Value) -> bool {
        value.is_instruction() && self.blocks.contains(&value.block())
    }
}

/// Computed without memory from what is known before the loop of these blocks.
fn is_invariant(value: Value, blocks: &HashSet<Block>) -> bool {
    let inside = value.is_instruction() && blocks.contains(&value.block());
    let computed = || {
        is_free(value)
            && used(value)
                .into_iter()
                .all(|each| is_invariant(each, blocks))
    };
    !inside || computed()
}

/// Can be computed anywhere where its operands are known.
fn is_free(instruction: Value) -> bool {
    let divides = matches!(
        instruction.opcode(),
        Some(Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem)
    );
    is_computation(instruction) && !divides
        || instruction.opcode() == Some(Opcode::LLVMGetElementPtr)
        || is_pure_call(instruction)
}

/// The blocks that stand between two loops, when all ways lead from the end of the one through them to the
/// begin of the other.
fn between<'ctx>(
    flow: &ControlFlow<'ctx>,
    one: &Loop<'ctx>,
    other: &Loop<'ctx>,
) -> Option<Vec<Block<'ctx>>> {
    let mut found = vec![one.exit];
    let mut next = 0;
    while let Some(block) = found.get(next).copied() {
        next += 1;
        if !flow.dominates(one.exit, block) {
            return None;
        }
        if block == other.before {
            continue;
        }
        let successors = block.successors();
        if successors.is_empty() {
            return None;
        }
        for to in successors {
            if !found.contains(&to) {
                found.push(to);
            }
        }
    }
    let disjoint = !found.iter().any(|block| other.blocks.contains(block));
    (disjoint && found.contains(&other.before)).then_some(found)
}

/// Two loops, the second behind the first.
struct Pair<'a, 'ctx> {
    one: &'a Loop<'ctx>,
    other: &'a Loop<'ctx>,
    /// What stands between, from the first one's exit to where the second is entered from.
    between: Vec<Block<'ctx>>,
}

impl<'ctx> Pair<'_, 'ctx> {
    /// What has to be computed before both loops then, in order; `None` where they cannot be one.
    fn may_be_one(
        &self,
        module: &Module<'ctx>,
        kernel: Value<'ctx>,
        facts: &KernelFacts,
    ) -> Option<Vec<Value<'ctx>>> {
        let (one, other) = (self.one, self.other);
        let as_often = || {
            let counting = |of: &Loop<'ctx>| Counting::of(of.condition, of.before, of.latch);
            let pair = counting(one).zip(counting(other));
            pair.is_some_and(|(one, other)| one.is_as_often_as(&other))
        };
        if !one.counts_like(other) && !as_often() || !self.may_pass(module, kernel, facts) {
            return None;
        }
        let hoisted = self.hoisted()?;
        (!reordered(module, kernel, facts, one, other)).then_some(hoisted)
    }

    /// Whether what stands between may come behind the second loop.
    fn may_pass(&self, module: &Module<'ctx>, kernel: Value<'ctx>, facts: &KernelFacts) -> bool {
        let mut moved = self.between.iter().flat_map(|block| block.instructions());
        moved.all(|at| match Effect::of(at) {
            // Where a variable of the thread begins or ends to live stays before what uses it, or behind.
            Effect::Nothing => !is_remark(at) || ends_variable(at),
            Effect::Unknown if declares_scope(at) || waits_for_copies(at) => true,
            Effect::Atomic(_) if !at.users().is_empty() => false,
            effect @ (Effect::Load(address) | Effect::Store(address) | Effect::Atomic(address)) => {
                let mut passed = self.other.accesses().into_iter();
                !passed.any(|(passed, later, later_address)| {
                    (effect.writes() || later.writes())
                        && may_share(module, kernel, facts, [address, later_address])
                        && !never_meet(module, (at, address), (passed, later_address))
                })
            }
            Effect::Barrier | Effect::Unknown => false,
        })
    }

    /// What the second loop uses of what is computed between, and what that is computed from, when it
    /// can be computed before the first.
    fn hoisted(&self) -> Option<Vec<Value<'ctx>>> {
        let stands_between =
            |value: &Value| value.is_instruction() && self.between.contains(&value.block());
        let mut needed = HashSet::new();
        let mut work: Vec<Value> = Vec::new();
        for block in &self.other.blocks {
            for at in block.instructions() {
                work.extend(used(at));
            }
        }
        while let Some(value) = work.pop() {
            if self.one.holds(value) {
                return None;
            }
            if stands_between(&value) && needed.insert(value) {
                if !is_free(value) {
                    return None;
                }
                work.extend(used(value));
            }
        }
        let all = self.between.iter().flat_map(|block| block.instructions());
        let ordered: Vec<Value> = all.filter(|at| needed.contains(at)).collect();
        // Blocks are found in no order of dominance: what is needed stands in the first of them.
        let mut first = ordered.iter().map(|at| at.block());
        let in_order = first.all(|block| block == self.one.exit);
        let all = self.between.iter().flat_map(|block| block.instructions());
        let waits = all.filter(|at| waits_for_copies(*at));
        in_order.then(|| ordered.into_iter().chain(waits).collect())
    }

    /// Accesses of the second loop to what an access of the first goes to in the iteration of equal number,
    /// with the operand that is the address, and the first's address.
    fn equal_addresses(
        &self,
        module: &Module<'ctx>,
        flow: &ControlFlow<'ctx>,
    ) -> Vec<(Value<'ctx>, u32, Value<'ctx>)> {
        let (one, other) = (self.one, self.other);
        // What is not reached in each iteration may be an address that is none.
        let mut known = one.accesses();
        known.retain(|(at, ..)| flow.dominates(at.block(), one.latch));
        let equal = |address: Value<'ctx>| {
            known.iter().find_map(|(_, _, first)| {
                let same_type = first.ty() == address.ty();
                let distance = || distance(module, (one, *first), (other, address));
                (same_type && distance()?.0 == 0).then_some(*first)
            })
        };
        let accesses = other.accesses().into_iter();
        let plain = accesses.filter_map(|(at, effect, address)| {
            let operand = match effect {
                Effect::Load(_) => 0,
                Effect::Store(_) => 1,
                _ => return None,
            };
            Some((at, operand, equal(address)?))
        });
        plain.collect()
    }

    /// Whether the verifier finds, too, that the loops may be one.
    fn is_confirmed(&self, model: &KernelModel, kernel: Value, facts: &KernelFacts) -> bool {
        // Of what is the thread's own the model has no accesses.
        let mut loops = JoinedLoops::default();
        let known: HashSet<usize> = model.accesses.iter().map(|access| access.place).collect();
        let mut place = 0;
        for block in kernel.blocks() {
            for at in block.instructions() {
                if Some(at) == block.terminator() {
                    continue;
                }
                if known.contains(&place) {
                    match () {
                        () if self.one.blocks.contains(&block) => loops.first.push(place),
                        () if self.other.blocks.contains(&block) => loops.second.push(place),
                        () if self.between.contains(&block) => loops.between.push(place),
                        () => {}
                    }
                }
                place += 1;
            }
        }
        let [gx, gy, gz] = facts.grid;
        let [bx, by, bz] = facts.block;
        let extents = [gx, gy, gz, bx, by, bz];
        let disjoint = |one, other| facts.are_disjoint(one, other);
        let conflict = join_conflict(model, &loops, extents, disjoint);
        conflict.is_none()
    }
}

/// Says where accesses that are told not to alias begin, for those who copy them: here nobody copies it.
pub(in crate::codegen::fused_kernels::fuse) fn declares_scope(call: Value) -> bool {
    call.called_name().as_deref() == Some("llvm.experimental.noalias.scope.decl")
}

/// Says that a variable of the thread is not used any more.
fn ends_variable(call: Value) -> bool {
    let name = call.called_name();
    name.is_some_and(|name| name.starts_with("llvm.lifetime.end"))
}

fn waits_for_copies(call: Value) -> bool {
    call.opcode() == Some(Opcode::LLVMCall)
        && call.called_name().as_deref() == Some(WAIT_FOR_COPIES)
}

/// The values that an instruction uses.
fn used(at: Value) -> Vec<Value> {
    match at.opcode() {
        Some(Opcode::LLVMPHI) => at.incoming().into_iter().map(|(value, _)| value).collect(),
        Some(Opcode::LLVMBr) => at.branch_condition().into_iter().collect(),
        _ => at.operands(),
    }
}

/// Whether two addresses may lead to a common byte, also of the thread's own memory, which may be reached
/// through a pointer that nothing is known of.
fn may_share<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    [one, other]: [Value<'ctx>; 2],
) -> bool {
    let [root, other] = [one, other].map(|at| Root::through_tables(module, kernel, facts, at));
    let own = |root| matches!(root, Root::Private | Root::Unknown);
    own(root) && own(other) || root.may_share(other, facts)
}

/// Whether the order of two accesses to a common byte could change.
fn reordered<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    one: &Loop<'ctx>,
    other: &Loop<'ctx>,
) -> bool {
    one.accesses().iter().any(|(at, effect, address)| {
        other
            .accesses()
            .iter()
            .any(|(later, later_effect, later_address)| {
                let conflict = effect.writes() || later_effect.writes();
                let share = may_share(module, kernel, facts, [*address, *later_address])
                    && !never_meet(module, (*at, *address), (*later, *later_address));
                let same_element = || {
                    if !one.counts_like(other) {
                        return None;
                    }
                    let one = element_of(module, *at, *effect, one.counter)?;
                    let other = element_of(module, *later, *later_effect, other.counter)?;
                    Some(one.is_exactly(&other))
                };
                let counterparts = || {
                    let pair = ((one, *address), (other, *later_address));
                    let (distance, place) = distance(module, pair.0, pair.1)?;
                    let bytes = bytes_of(module, *at, *effect)?;
                    let other_bytes = bytes_of(module, *later, *later_effect)?;
                    Some(place.holds(bytes, distance, other_bytes))
                };
                conflict && share && same_element() != Some(true) && counterparts() != Some(true)
            })
    })
}

/// How many bytes the address in the second loop lies behind that in the first in iterations of equal
/// number, and the first's.
fn distance<'ctx>(
    module: &Module<'ctx>,
    (one, address): (&Loop<'ctx>, Value<'ctx>),
    (other, other_address): (&Loop<'ctx>, Value<'ctx>),
) -> Option<(i128, Progress<'ctx>)> {
    let exact = one.counts_like(other)
        || made_alike(one.step, other.step) && one.never_wraps() && other.never_wraps();
    let counter = |of: &Loop<'ctx>| Counter {
        value: of.counter,
        begin: of.begin,
        exact,
    };
    let progress = |of: &Loop<'ctx>, address| {
        let steady = |value| is_invariant(value, &of.blocks);
        Progress::of(module, address, counter(of), steady)
    };
    let (first, second) = (progress(one, address)?, progress(other, other_address)?);
    let distance = first.distance(counter(one), &second, counter(other))?;
    Some((distance, first))
}

/// Whether a thread never reaches a common byte by two accesses to parts of one thing, in whichever iterations.
fn never_meet<'ctx>(
    module: &Module<'ctx>,
    (one, address): (Value<'ctx>, Value<'ctx>),
    (other, other_address): (Value<'ctx>, Value<'ctx>),
) -> bool {
    let bytes = |at: Value| -> i128 {
        let ty = match at.opcode() {
            Some(Opcode::LLVMStore) => at.operand(0).ty(),
            Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => at.operand(1).ty(),
            _ => at.ty(),
        };
        ty.allocation_bytes(module).into()
    };
    let [place, other_place] =
        [address, other_address].map(|at| guarded_values::Place::of(module, at));
    let distance = place.distance_bytes(&other_place);
    let bounds = distance.and_then(|distance| distance.bounds());
    bounds.is_some_and(|(low, high)| low >= bytes(one) || high <= -bytes(other))
}

/// How many bytes a plain access touches.
fn bytes_of(module: &Module, at: Value, effect: Effect) -> Option<i128> {
    let ty = match effect {
        Effect::Store(_) => at.operand(0).ty(),
        Effect::Load(_) => at.ty(),
        Effect::Nothing | Effect::Atomic(_) | Effect::Barrier | Effect::Unknown => return None,
    };
    Some(ty.allocation_bytes(module).into())
}

/// The element that a plain access stays within, as a function of the counter.
fn element_of<'ctx>(
    module: &Module<'ctx>,
    at: Value<'ctx>,
    effect: Effect<'ctx>,
    counter: Value<'ctx>,
) -> Option<Place<'ctx>> {
    let (ty, mut address) = match effect {
        Effect::Store(address) => (at.operand(0).ty(), address),
        Effect::Load(address) => (at.ty(), address),
        Effect::Nothing | Effect::Atomic(_) | Effect::Barrier | Effect::Unknown => return None,
    };
    let mut end = ty.allocation_bytes(module);
    // Parts of an element are at distances that are constant.
    while address.is_instruction()
        && address.opcode() == Some(Opcode::LLVMGetElementPtr)
        && let [base, index] = address.operands()[..]
        && let Some(index) = index.constant_integer()
    {
        let bytes = address
            .element_pointer_source_type()
            .allocation_bytes(module);
        end = end.checked_add(index.checked_mul(bytes)?)?;
        address = base;
    }
    let place = Place::of(address, counter)?;
    (end <= place.element.allocation_bytes(module)).then_some(place)
}

fn join(one: &Loop, other: &Loop, hoisted: &[Value]) {
    let same_counter = one.counts_like(other);
    let same_step = one.counter.ty() == other.counter.ty() && made_alike(one.step, other.step);
    if let Some(end) = one.before.terminator() {
        for at in hoisted {
            at.move_before(end);
        }
    }
    let mut counter = one.counter;
    for phi in one.header.phis() {
        let incoming: Vec<_> = phi
            .incoming()
            .into_iter()
            .map(|(value, from)| (value, if from == one.latch { other.latch } else { from }))
            .collect();
        let new = phi.replace_phi(one.header, &incoming);
        if phi == one.counter {
            counter = new;
        }
    }
    for phi in other.header.phis() {
        if phi == other.counter && (same_counter || same_step) {
            let value = match same_counter {
                true => counter,
                false => moved_counter(one, other, counter),
            };
            phi.replace_uses_with(value);
            phi.erase();
            continue;
        }
        let incoming: Vec<_> = phi
            .incoming()
            .into_iter()
            .map(|(value, from)| {
                (
                    value,
                    if from == other.latch {
                        from
                    } else {
                        one.before
                    },
                )
            })
            .collect();
        phi.replace_phi(one.header, &incoming);
    }
    if let (Some(place), Some(last)) = (one.header.terminator(), other.header.terminator()) {
        for at in other.header.instructions() {
            if at != last {
                at.move_before(place);
            }
        }
    }
    if let (Some(inner), Some(last)) = (one.latch.terminator(), other.latch.terminator()) {
        if !inner.has_loop_properties_of(last) {
            last.remove_metadata("llvm.loop");
        }
        inner.remove_metadata("llvm.loop");
    }
    rename_incoming(other.inside, other.header, one.latch);
    rename_incoming(other.exit, other.header, other.before);
    one.latch.redirect(one.header, other.inside);
    other.latch.redirect(other.header, one.header);
    other.before.redirect(other.header, other.exit);
    other.header.delete();
}

/// The second's counter, as far from the first's as it begins.
fn moved_counter<'ctx>(one: &Loop<'ctx>, other: &Loop<'ctx>, counter: Value<'ctx>) -> Value<'ctx> {
    let (Some(end), Some(place)) = (
        one.before.terminator(),
        one.header
            .instructions()
            .into_iter()
            .find(|at| at.opcode() != Some(Opcode::LLVMPHI)),
    ) else {
        return other.counter;
    };
    let way = Builder::before(end).binary(Opcode::LLVMSub, other.begin, one.begin);
    Builder::before(place).binary(Opcode::LLVMAdd, counter, way)
}

fn rename_incoming(block: Block, old: Block, new: Block) {
    for phi in block.phis() {
        let incoming: Vec<_> = phi
            .incoming()
            .into_iter()
            .map(|(value, from)| (value, if from == old { new } else { from }))
            .collect();
        phi.replace_phi(block, &incoming);
    }
}
