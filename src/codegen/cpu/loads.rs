//! Loads that look plain and that the check for races takes otherwise.
//!
//! The optimiser does some earlier than the program, before it is known whether anybody needs what they give:
//! `if (t == 0) x = total;` may become a load of `total` by all threads. Such a load is looked at where its value is
//! used. And programs look at a place before they update it atomically:
//! `old = *p; do … while ((seen = atomicCAS(p, old, new)) != old)`, or `if (x > *p) atomicMax(p, x)`. What is found
//! there is only a guess, which the update looks at again. Where the program also takes it for what it is, but not always
//! (`if (kept) out = *p` before the same), it counts there.

use super::instrument::COUNT;
use crate::kernel::computes_from_operands;
use crate::llvm::{Block, FUNCTION_ATTRIBUTES, Opcode, Value};
use std::collections::HashSet;

/// What a load is for the check.
pub(super) enum Sight<'ctx> {
    /// One that the program does there.
    Plain,
    /// A look before an atomic update of the same place.
    Guess,
    /// One that may be done in vain: the places where its value is used.
    Speculated(Vec<Use<'ctx>>),
}

/// Where a value is used.
#[derive(Clone, PartialEq)]
pub(super) struct Use<'ctx> {
    /// The instruction.
    pub(super) before: Value<'ctx>,
    /// It is used there when each of these truth values is as it says.
    pub(super) conditions: Vec<(Value<'ctx>, bool)>,
}

/// Places where a value is used, and values on the way to them, that are looked at; with more, a load counts as plain.
const MOST_STEPS: usize = 64;

/// What a load, which is neither volatile nor atomic, is for the check.
pub(super) fn sight(load: Value) -> Sight {
    let beside = used_beside_updates(load);
    if beside.as_ref().is_some_and(HashSet::is_empty) {
        return Sight::Guess;
    }
    let used = match beside {
        Some(beside) => taken_beside_updates(load, &beside),
        None => speculated(load),
    };
    used.map_or(Sight::Plain, Sight::Speculated)
}

/// Where the value of a load is used that the program may do only there. Only loads of variables are moved, since their
/// addresses are known to be valid.
fn speculated(load: Value) -> Option<Vec<Use>> {
    if !load.operand(0).is_constant() {
        return None;
    }
    not_always(load, uses(load, |_| false)?)
}

/// The uses of a load's value, where a thread that loads may come to none of them and tells others nothing before.
fn not_always<'ctx>(load: Value<'ctx>, uses: Vec<Use<'ctx>>) -> Option<Vec<Use<'ctx>>> {
    let is_certain =
        |one: &Use| one.conditions.is_empty() && follows(load.block(), one.before.block());
    let moved = !uses.iter().any(is_certain) && uses.iter().all(|one| is_quiet(load, one.before));
    moved.then_some(uses)
}

/// Where a guess is used for something else than atomic updates, by the instructions that do so, where that need not come.
fn taken_beside_updates<'ctx>(
    load: Value<'ctx>,
    beside: &HashSet<Value<'ctx>>,
) -> Option<Vec<Use<'ctx>>> {
    let updates = updates(load);
    let is_aside = |user: Value| match user.opcode() {
        Some(Opcode::LLVMPHI) => {
            let (_, used) = derived(user, &updates);
            !used.iter().any(|user| beside.contains(user))
        }
        _ => is_guessed(user, &updates),
    };
    not_always(load, uses(load, is_aside)?)
}

/// Where a value is used for something else than computing another one; users that are `aside` do not count.
fn uses(load: Value, aside: impl Fn(Value) -> bool) -> Option<Vec<Use>> {
    let mut found: Vec<Use> = Vec::new();
    let mut open = vec![(load, Vec::new())];
    let mut steps = 0;
    while let Some((value, conditions)) = open.pop() {
        for user in value.users() {
            steps += 1;
            if steps > MOST_STEPS {
                return None;
            }
            if aside(user) {
                continue;
            }
            let mut further = conditions.clone();
            let used = match user.opcode() {
                Some(Opcode::LLVMSelect) => {
                    let [condition, yes, no] = [0, 1, 2].map(|index| user.operand(index));
                    if condition != value && yes != no && condition.ty().is_integer() {
                        further.push((condition, yes == value));
                    }
                    None
                }
                Some(Opcode::LLVMPHI) => {
                    for (_, from) in user
                        .incoming()
                        .into_iter()
                        .filter(|(each, _)| *each == value)
                    {
                        let before = from.terminator()?;
                        let mut conditions = conditions.clone();
                        match *from.successors() {
                            [_] => {}
                            [yes, no] if yes != no => {
                                let condition = before.branch_condition()?;
                                conditions.push((condition, yes == user.block()));
                            }
                            _ => return None,
                        }
                        found.push(Use { before, conditions });
                    }
                    continue;
                }
                _ if computes(user) => None,
                _ => Some(user),
            };
            match used {
                Some(before) => found.push(Use {
                    before,
                    conditions: further,
                }),
                None => open.push((user, further)),
            }
        }
    }
    let mut once: Vec<Use> = Vec::new();
    for one in found {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    Some(once)
}

/// Whether a thread does nothing from a load on until a place that orders it with others.
fn is_quiet(load: Value, place: Value) -> bool {
    let (begin, end) = (load.block(), place.block());
    let behind = behind(load);
    let is_place = |at: &Value| *at == place;
    if begin == end
        && let Some(count) = behind.iter().position(is_place)
    {
        return behind[..count].iter().all(|at| !may_order(*at));
    }
    let reached = reached(&begin.successors(), begin, |block| block.successors());
    let leading = reached_back(end, begin);
    let mut between = behind;
    for block in reached.into_iter().filter(|block| leading.contains(block)) {
        let instructions = block.instructions();
        // A block that leads to itself is run as a whole before.
        let runs_again = block != end || self_reaching(end, begin);
        let count = match runs_again {
            true => instructions.len(),
            false => instructions.iter().position(is_place).unwrap_or(0),
        };
        between.extend(&instructions[..count]);
    }
    between.into_iter().all(|at| !may_order(at))
}

/// The instructions of a load's block that come after it.
fn behind(load: Value) -> Vec<Value> {
    let instructions = load.block().instructions().into_iter();
    instructions.skip_while(|at| *at != load).skip(1).collect()
}

/// The blocks that are come to from some without passing `but`.
fn reached<'ctx>(
    from: &[Block<'ctx>],
    but: Block<'ctx>,
    next: impl Fn(Block<'ctx>) -> Vec<Block<'ctx>>,
) -> Vec<Block<'ctx>> {
    let mut seen: Vec<Block> = Vec::new();
    let mut open = from.to_vec();
    while let Some(block) = open.pop() {
        if block != but && !seen.contains(&block) {
            seen.push(block);
            open.extend(next(block));
        }
    }
    seen
}

fn reached_back<'ctx>(end: Block<'ctx>, but: Block<'ctx>) -> Vec<Block<'ctx>> {
    reached(&[end], but, |block| block.predecessors())
}

fn self_reaching(block: Block, but: Block) -> bool {
    reached(&block.successors(), but, |block| block.successors()).contains(&block)
}

/// Whether what a thread does may tell others something, or wait for them.
fn may_order(instruction: Value) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMLoad | Opcode::LLVMStore) => {
            instruction.is_volatile() || instruction.is_atomic()
        }
        Some(Opcode::LLVMCall) => {
            let is_count = instruction.called_name().as_deref() == Some(COUNT);
            !is_count && !is_computation(instruction)
        }
        Some(
            Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg
            | Opcode::LLVMFence
            | Opcode::LLVMInvoke
            | Opcode::LLVMCallBr,
        ) => true,
        _ => false,
    }
}

/// For a load that looks at a place that its thread may update atomically before the next barrier: what it finds may go
/// into such updates, or decide whether they are done, and here is what else uses it. What is compared and found equal is
/// used as it likes.
fn used_beside_updates(load: Value) -> Option<HashSet<Value>> {
    let updates = updates(load);
    if updates.is_empty() || !reaches(load, &updates) {
        return None;
    }
    let (derived, mut used) = derived(load, &updates);
    if !used.is_empty() {
        let compares = |at: &Value| {
            at.opcode() == Some(Opcode::LLVMAtomicCmpXchg)
                && updates.contains(at)
                && derived.contains(&at.operand(1))
        };
        let unlooked = until(load, |at| compares(&at));
        used.retain(|user| unlooked.contains(user));
    }
    Some(used)
}

/// The atomic updates of the place that a load looks at, in its function.
fn updates(load: Value) -> Vec<Value> {
    let pointer = load.operand(0);
    let function = load.function_of_instruction();
    let is_update = |user: &Value| {
        let updates = [Opcode::LLVMAtomicRMW, Opcode::LLVMAtomicCmpXchg];
        user.opcode()
            .is_some_and(|opcode| updates.contains(&opcode))
            && user.operand(0) == pointer
            && user.function_of_instruction() == function
    };
    pointer.users().into_iter().filter(is_update).collect()
}

/// What is computed from a value, and what uses that for something else than these updates and for decisions.
fn derived<'ctx>(
    value: Value<'ctx>,
    updates: &[Value<'ctx>],
) -> (HashSet<Value<'ctx>>, HashSet<Value<'ctx>>) {
    let mut derived = HashSet::from([value]);
    let mut open = vec![value];
    let mut used = HashSet::new();
    while let Some(value) = open.pop() {
        for user in value.users() {
            if user.opcode() == Some(Opcode::LLVMPHI) || computes(user) {
                if derived.insert(user) {
                    open.push(user);
                }
            } else if !is_guessed(user, updates) {
                used.insert(user);
            }
        }
    }
    (derived, used)
}

/// Whether a user of a guess may be wrong about it: an update, or a decision.
fn is_guessed(user: Value, updates: &[Value]) -> bool {
    updates.contains(&user) || matches!(user.opcode(), Some(Opcode::LLVMBr | Opcode::LLVMSwitch))
}

/// Whether a thread may come from a load to some instructions without a barrier of the block between.
fn reaches(load: Value, places: &[Value]) -> bool {
    let passed = until(load, is_barrier);
    places.iter().any(|place| passed.contains(place))
}

/// The instructions that a thread may come to from a load without passing some, or the load again.
fn until(load: Value, stops: impl Fn(Value) -> bool) -> HashSet<Value> {
    let mut passed = HashSet::new();
    let mut seen: Vec<Block> = Vec::new();
    let mut open = vec![behind(load)];
    while let Some(instructions) = open.pop() {
        let mut stopped = false;
        for at in &instructions {
            stopped = *at == load || stops(*at);
            if stopped {
                break;
            }
            passed.insert(*at);
        }
        if !stopped && let Some(last) = instructions.last() {
            for next in last.block().successors() {
                if !seen.contains(&next) {
                    seen.push(next);
                    open.push(next.instructions());
                }
            }
        }
    }
    passed
}

/// Whether threads of a block may wait for each other there.
fn is_barrier(instruction: Value) -> bool {
    instruction.opcode() == Some(Opcode::LLVMCall)
        && (instruction.called_name()).is_some_and(|name| name.starts_with("llvm.nvvm.bar"))
}

/// Whether an instruction only computes, so that it may have been moved together with the load.
fn computes(instruction: Value) -> bool {
    is_computation(instruction)
        || matches!(
            instruction.opcode(),
            Some(
                Opcode::LLVMSelect
                    | Opcode::LLVMAdd
                    | Opcode::LLVMFAdd
                    | Opcode::LLVMSub
                    | Opcode::LLVMFSub
                    | Opcode::LLVMMul
                    | Opcode::LLVMFMul
                    | Opcode::LLVMUDiv
                    | Opcode::LLVMSDiv
                    | Opcode::LLVMFDiv
                    | Opcode::LLVMURem
                    | Opcode::LLVMSRem
                    | Opcode::LLVMFRem
                    | Opcode::LLVMShl
                    | Opcode::LLVMLShr
                    | Opcode::LLVMAShr
                    | Opcode::LLVMAnd
                    | Opcode::LLVMOr
                    | Opcode::LLVMXor
                    | Opcode::LLVMFNeg
                    | Opcode::LLVMICmp
                    | Opcode::LLVMFCmp
                    | Opcode::LLVMGetElementPtr
                    | Opcode::LLVMTrunc
                    | Opcode::LLVMZExt
                    | Opcode::LLVMSExt
                    | Opcode::LLVMFPToUI
                    | Opcode::LLVMFPToSI
                    | Opcode::LLVMUIToFP
                    | Opcode::LLVMSIToFP
                    | Opcode::LLVMFPTrunc
                    | Opcode::LLVMFPExt
                    | Opcode::LLVMPtrToInt
                    | Opcode::LLVMIntToPtr
                    | Opcode::LLVMBitCast
                    | Opcode::LLVMAddrSpaceCast
                    | Opcode::LLVMExtractElement
                    | Opcode::LLVMInsertElement
                    | Opcode::LLVMShuffleVector
                    | Opcode::LLVMExtractValue
                    | Opcode::LLVMInsertValue
                    | Opcode::LLVMFreeze
            )
        )
}

/// Whether a call is of a function that only computes, by each thread for itself.
fn is_computation(instruction: Value) -> bool {
    if instruction.opcode() != Some(Opcode::LLVMCall) {
        return false;
    }
    let callee = instruction.called();
    if let Some((template, _)) = callee.inline_assembly() {
        return !callee.assembly_has_effects() && computes_from_operands(&template);
    }
    let is_function_of_numbers = || {
        let mut arguments = instruction.call_arguments().into_iter();
        callee.name().starts_with("__nv_") && !arguments.any(|argument| argument.ty().is_pointer())
    };
    callee.is_function() && (is_function_of_numbers() || touches_nothing(callee))
}

/// Whether a function says of itself that it only computes.
fn touches_nothing(callee: Value) -> bool {
    // The encoding of `memory(none)`.
    callee.integer_attribute(FUNCTION_ATTRIBUTES, "memory") == Some(0)
        && !callee.has_attribute(FUNCTION_ATTRIBUTES, "convergent")
}

/// Whether a block is run whenever another one was, unless the thread ends by a trap.
fn follows(first: Block, then: Block) -> bool {
    let mut seen = vec![first];
    let mut open = vec![first];
    while let Some(block) = open.pop() {
        if block == then {
            continue;
        }
        let returns = block
            .terminator()
            .is_some_and(|terminator| terminator.opcode() == Some(Opcode::LLVMRet));
        if returns {
            return false;
        }
        for next in block.successors() {
            if !seen.contains(&next) {
                seen.push(next);
                open.push(next);
            }
        }
    }
    true
}
