//! Loops of segments that run one after the other, and equally often, become one.
//!
//! Kernels that walk over a whole array with strides of the grid, fused, are loops over the same elements
//! one behind the other. As one loop, what the first iteration stores the second finds in a register.
//!
//! The proof for two loops, without barriers, the second right behind the first:
//! - Their counters begin alike, advance alike, and end at the same bound: each thread runs them equally
//!   often, iteration n of both with the same counter. The test is at the head of each, and nothing else
//!   leaves them.
//! - The second uses no value that the first computes.
//! - Iteration n of the second now comes before iteration m > n of the first, in one thread. That is no
//!   matter for accesses that cannot reach a common byte, and for such that go to one place as a function
//!   of the counter: the counters of a loop that ends differ. Between threads nothing was ordered.
//!
//! The verifier judges each pair by itself, by a model of the kernel that is read anew. What `llvm.loop`
//! says is kept where it says the same of both.

use super::control_flow::ControlFlow;
use super::memory::{Effect, KernelFacts, Root, is_computation, is_pure_call, made_alike};
use super::rows::Place;
use crate::codegen::ir::{Block, Opcode, Value};
use crate::kernel::model_kernel;
use crate::program::KernelId;
use crate::verify::{JoinedLoops, join_conflict};
use inkwell::module::Module;
use std::collections::HashSet;

/// What puts kernels into the form that [`join_loops`] understands.
pub(super) const CANONICAL_FORM: &str = "function(loop-simplify)";

/// Whether a kernel has loops that could become one.
pub(super) fn has_several_loops(kernel: Value) -> bool {
    ControlFlow::of(kernel).is_some_and(|flow| flow.natural_loops().len() > 1)
}

/// Makes loops one that stand behind each other. Returns how often.
pub(super) fn join_loops(module: &Module, kernel: Value, facts: &KernelFacts) -> usize {
    let mut joined = 0;
    loop {
        let Some(flow) = ControlFlow::of(kernel) else {
            return joined;
        };
        let loops: Vec<Loop> = flow
            .natural_loops()
            .into_iter()
            .filter_map(|(header, latch, blocks)| Loop::of(&flow, header, latch, blocks))
            .collect();
        let pair = loops.iter().find_map(|one| {
            let other = loops.iter().find(|other| other.before == one.exit)?;
            let may_be_one = may_be_one(module, kernel, facts, one, other)
                && is_confirmed(module, kernel, facts, one, other);
            may_be_one.then_some((one, other))
        });
        let Some((one, other)) = pair else {
            return joined;
        };
        join(one, other);
        joined += 1;
    }
}

/// A loop that is left at its head only.
struct Loop {
    /// The block from which it is entered, which leads nowhere else.
    before: Block,
    header: Block,
    latch: Block,
    /// Where it is left to; entered from nowhere else.
    exit: Block,
    /// The first block inside behind the header.
    inside: Block,
    blocks: HashSet<Block>,
    counter: Value,
    begin: Value,
    step: Value,
    bound: Value,
    condition: Value,
}

impl Loop {
    fn of(flow: &ControlFlow, header: Block, latch: Block, blocks: HashSet<Block>) -> Option<Self> {
        let mut outside = flow
            .predecessors(header)
            .iter()
            .filter(|from| **from != latch);
        let (before, None) = (*outside.next()?, outside.next()) else {
            return None;
        };
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
        if !condition.is_instruction() || condition.opcode() != Opcode::LLVMICmp {
            return None;
        }
        let (counter, bound) = (condition.operand(0), condition.operand(1));
        if !header.phis().contains(&counter) {
            return None;
        }
        let incoming = counter.incoming();
        let from = |block: Block| incoming.iter().find(|(_, source)| *source == block);
        let (begin, next) = (from(before)?.0, from(latch)?.0);
        if !next.is_instruction() || next.opcode() != Opcode::LLVMAdd {
            return None;
        }
        let step = match (next.operand(0), next.operand(1)) {
            (one, step) | (step, one) if one == counter => step,
            _ => return None,
        };
        let looped = |value: Value| value.is_instruction() && blocks.contains(&value.block());
        if looped(step) || looped(bound) {
            return None;
        }
        // What the header does besides is done once more than the rest.
        let computes = |at: &Value| {
            at.opcode() == Opcode::LLVMPHI || Some(*at) == header.terminator() || is_free(*at)
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
            step,
            bound,
            condition,
        })
    }

    fn holds(&self, value: Value) -> bool {
        value.is_instruction() && self.blocks.contains(&value.block())
    }
}

/// Can be computed anywhere where its operands are known.
fn is_free(instruction: Value) -> bool {
    let divides = matches!(
        instruction.opcode(),
        Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem
    );
    is_computation(instruction) && !divides
        || instruction.opcode() == Opcode::LLVMGetElementPtr
        || is_pure_call(instruction)
}

fn may_be_one(
    module: &Module,
    kernel: Value,
    facts: &KernelFacts,
    one: &Loop,
    other: &Loop,
) -> bool {
    let same_length = one.counter.ty() == other.counter.ty()
        && one.condition.integer_predicate() == other.condition.integer_predicate()
        && made_alike(one.begin, other.begin)
        && made_alike(one.step, other.step)
        && made_alike(one.bound, other.bound);
    if !same_length {
        return false;
    }
    // What stands between is moved before the first.
    let between = one.exit.instructions();
    let end = one.exit.terminator();
    let free = between.iter().filter(|at| Some(**at) != end).all(|at| {
        let operands = at.operands();
        is_free(*at) && !operands.into_iter().any(|operand| one.holds(operand))
    });
    let mut inside = other.blocks.iter().flat_map(|block| block.instructions());
    let independent = inside.all(|at| {
        let mut operands = match at.opcode() {
            Opcode::LLVMPHI => at.incoming().into_iter().map(|(value, _)| value).collect(),
            Opcode::LLVMBr => at.branch_condition().into_iter().collect(),
            _ => at.operands(),
        }
        .into_iter();
        !operands.any(|operand| one.holds(operand))
    });
    free && independent && !reordered(module, kernel, facts, one, other)
}

/// Whether the order of two accesses to a common byte could change.
fn reordered(
    module: &Module,
    kernel: Value,
    facts: &KernelFacts,
    one: &Loop,
    other: &Loop,
) -> bool {
    let accesses = |of: &Loop| {
        let instructions = of.blocks.iter().flat_map(|block| block.instructions());
        let touching = instructions.filter_map(|at| {
            let effect = Effect::of(at);
            Some((at, effect, effect.address()?))
        });
        touching.collect::<Vec<_>>()
    };
    let (first, second) = (accesses(one), accesses(other));
    first.iter().any(|(at, effect, address)| {
        second.iter().any(|(later, later_effect, later_address)| {
            let conflict = effect.writes() || later_effect.writes();
            let (root, later_root) = (Root::of(kernel, *address), Root::of(kernel, *later_address));
            // The thread's own memory may be reached through a pointer that nothing is known of.
            let own = |root| matches!(root, Root::Private | Root::Unknown);
            let share = own(root) && own(later_root) || root.may_share(later_root, facts);
            let same_place = || {
                let one = element_of(module, *at, *effect, one.counter)?;
                let other = element_of(module, *later, *later_effect, other.counter)?;
                Some(one.is_exactly(&other))
            };
            conflict && share && same_place() != Some(true)
        })
    })
}

/// The element that a plain access stays within, as a function of the counter.
fn element_of(module: &Module, at: Value, effect: Effect, counter: Value) -> Option<Place> {
    let (ty, mut address) = match effect {
        Effect::Store(address) => (at.operand(0).ty(), address),
        Effect::Load(address) => (at.ty(), address),
        Effect::Nothing | Effect::Atomic(_) | Effect::Barrier | Effect::Unknown => return None,
    };
    let mut end = ty.allocation_bytes(module);
    // Parts of an element are at distances that are constant.
    while address.is_instruction()
        && address.opcode() == Opcode::LLVMGetElementPtr
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

/// Whether the verifier finds, too, that the loops may be one.
fn is_confirmed(
    module: &Module,
    kernel: Value,
    facts: &KernelFacts,
    one: &Loop,
    other: &Loop,
) -> bool {
    let Some(function) = module.get_function(&kernel.name()) else {
        return false;
    };
    let model = model_kernel(function, KernelId(0), &kernel.name());
    // Of what is the thread's own the model has no accesses.
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let known: HashSet<usize> = model.accesses.iter().map(|access| access.place).collect();
    let mut place = 0;
    for block in kernel.blocks() {
        for at in block.instructions() {
            if Some(at) == block.terminator() {
                continue;
            }
            if known.contains(&place) {
                match () {
                    () if one.blocks.contains(&block) => first.push(place),
                    () if other.blocks.contains(&block) => second.push(place),
                    () => {}
                }
            }
            place += 1;
        }
    }
    let loops = JoinedLoops { first, second };
    let conflict = join_conflict(&model, &loops, |one, other| {
        let known = facts.apart.get(one).and_then(|row| row.get(other));
        known == Some(&true)
    });
    conflict.is_none()
}

fn join(one: &Loop, other: &Loop) {
    if let Some(end) = one.before.terminator() {
        let last = one.exit.terminator();
        for at in one.exit.instructions() {
            if Some(at) != last {
                at.move_before(end);
            }
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
        if phi == other.counter {
            phi.replace_uses_with(counter);
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
    rename_incoming(other.exit, other.header, one.header);
    one.latch.redirect(one.header, other.inside);
    other.latch.redirect(other.header, one.header);
    one.header.redirect(one.exit, other.exit);
    one.exit.delete();
    other.header.delete();
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
