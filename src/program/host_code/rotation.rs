//! Host loops rotated behind launches: an iteration then begins behind the launches that it began with, and ends with
//! those of the next one.
//!
//! `for (…) { first; others; last; }` becomes `if (…) { first; for (;;) { others; last; if (!…) break; first; } }`, so that
//! `last` and the `first` of the next iteration stand one after the other in the same iteration. This is LLVM's rotation of
//! loops, with all that comes before a launch in place of a header's test alone. The host does the same in the same order.
//!
//! Invariant: what is written twice afterwards is what the loop did before it came to the last of these launches; nothing
//! else is moved, and what cannot be written twice keeps its loop as it is.

use super::super::builder::Builder;
use super::super::ir::{self, Block, Value};
use super::super::launches::{self, is_launch};
use super::super::loops::{Flow, Loop};
use super::super::{ProgramError, canonicalise_host, passes};
use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Every value that leaves its block goes through memory, so that blocks can be copied as they are.
const VALUES_TO_MEMORY: &str = "reg2mem";

/// So many instructions may be written twice for one loop.
const MOST_INSTRUCTIONS: usize = 2_000;

/// A host module with rotated loops.
#[derive(Debug)]
pub struct RotatedHost<'ctx> {
    /// The module, canonical, its launch sites numbered anew.
    pub host: Module<'ctx>,
    /// By loop: the launch sites that stand in front of it.
    pub prologues: Vec<Vec<u32>>,
    /// By loop: the launch sites at its end, each of the iteration that comes next.
    pub of_next_iteration: Vec<Vec<u32>>,
}

/// A copy of a canonical host module in which innermost loops are rotated behind launch sites, one for each loop, in the
/// order of the result. A loop that cannot be rotated stays, and has no sites in the result.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses a pipeline or the new module.
pub(in crate::program) fn rotate<'ctx>(
    host: &Module<'ctx>,
    behind: &[u32],
) -> Result<RotatedHost<'ctx>, ProgramError> {
    let host = host.clone();
    let machine = passes::host_machine()?;
    for function in ir::functions(&host) {
        let sites = function.instructions().into_iter().filter_map(|each| {
            let site = is_launch(each).then(|| each.operands()[0].integer());
            let mut places = behind.iter();
            let place = places.position(|behind| site.flatten() == Some(i64::from(*behind)));
            Some((place?, each))
        });
        let sites: Vec<(usize, Value)> = sites.collect();
        let Some(defined) = function.as_function() else {
            continue;
        };
        if sites.is_empty() || !is_copyable(function) {
            continue;
        }
        forget_scopes(&host, function);
        Flow::of(function).loops().iter().for_each(count_upwards);
        // Afterwards values that leave their blocks do so through memory.
        for (_, site) in &sites {
            compute_again(function, *site);
        }
        for (index, site) in sites {
            passes::run_on_function(defined, VALUES_TO_MEMORY, &machine)?;
            if let Some(next) = split_behind(function, site) {
                passes::run_on_function(defined, VALUES_TO_MEMORY, &machine)?;
                rotate_loop(&host, function, (site, next), index);
            }
        }
        canonicalise_host::make_canonical_as_computed(function, &machine)?;
    }
    let rotated = behind.len();
    let prologues = (0..rotated).map(|index| marked(&host, prologue_mark(index)));
    let prologues = prologues.collect();
    let of_next_iteration = (0..rotated).map(|index| marked(&host, next_mark(index)));
    let of_next_iteration = of_next_iteration.collect();
    launches::number_sites(&host);
    passes::verify(&host, "rotating host loops")?;
    Ok(RotatedHost {
        host,
        prologues,
        of_next_iteration,
    })
}

/// Whether the blocks of a function can be copied: no block has its address taken, nothing returns twice, and all values
/// can go through memory.
fn is_copyable(function: Value) -> bool {
    function.instructions().into_iter().all(|each| {
        let opcode = each.opcode();
        let is_strange = matches!(
            opcode,
            Some(
                LLVMOpcode::LLVMIndirectBr
                    | LLVMOpcode::LLVMCallBr
                    | LLVMOpcode::LLVMCatchSwitch
                    | LLVMOpcode::LLVMCatchPad
                    | LLVMOpcode::LLVMCleanupPad
            )
        );
        let returns_twice = each
            .called_function()
            .is_some_and(|called| called.has_attribute("returns_twice"));
        !is_strange && !returns_twice && each.type_of().kind() != LLVMTypeKind::LLVMTokenTypeKind
    })
}

/// Takes back what inlining said of pointers that lead apart: it holds within one copy of the code, and the copies of two
/// iterations stand side by side afterwards.
fn forget_scopes(host: &Module<'_>, function: Value) {
    for each in function.instructions() {
        each.remove_metadata(host, "noalias");
        each.remove_metadata(host, "alias.scope");
        let declares = each
            .called_name()
            .is_some_and(|name| name == "llvm.experimental.noalias.scope.decl");
        if declares {
            each.erase();
        }
    }
}

/// Says of counters that begin at zero or above and rise that they are above zero after a step. Where an iteration ends with
/// what the next one begins with, that tells what the code does which treats the first iteration in another way.
fn count_upwards(of: &Loop) {
    for phi in of.header.instructions() {
        let Some((first, next)) = of.is_own_phi(phi).then(|| of.incoming(phi)).flatten() else {
            continue;
        };
        let adds = match next.operands()[..] {
            [from, step] if next.opcode() == Some(LLVMOpcode::LLVMAdd) => {
                from == phi && step.integer().is_some_and(|step| step > 0)
            }
            _ => false,
        };
        // A sum of numbers that are not negative is none either, or wraps with its sign, which `nsw` rules out. So its
        // unsigned reading does not wrap.
        if adds && first.integer().is_some_and(|first| first >= 0) && next.never_wraps_signed() {
            next.never_wraps();
        }
    }
}

/// Has what comes behind a launch compute anew what was computed before it and can be: a counter is all that has to come
/// from one iteration to the next then, and that pointers are equal which are computed alike can be seen.
fn compute_again(function: Value, site: Value) {
    let Some(block) = site.block() else {
        return;
    };
    let flow = Flow::of(function);
    let loops = flow.loops().into_iter();
    let around = loops.filter(|each| each.blocks.contains(&block));
    let Some(around) = around.min_by_key(|each| each.blocks.len()) else {
        return;
    };
    let behind = match site.invoke_destinations() {
        None => block
            .instructions()
            .into_iter()
            .skip_while(|each| *each != site)
            .nth(1),
        Some((next, _)) if next.predecessors().len() == 1 => {
            let mut instructions = next.instructions().into_iter();
            instructions.find(|each| each.opcode() != Some(LLVMOpcode::LLVMPHI))
        }
        Some(_) => None,
    };
    let Some(behind) = behind else {
        return;
    };
    // Whatever else is in the loop comes behind the launch.
    let mut before = around.blocks.clone();
    before.retain(|each| flow.reaches_without(around.header, *each, block));
    let here = block.instructions();
    let place = here.iter().position(|each| *each == site).unwrap_or(0);
    let behind_site: HashSet<Value> = here[place + 1..].iter().copied().collect();
    let in_order = function.blocks().into_iter();
    let in_order: Vec<Value> = in_order
        .filter(|each| before.contains(each))
        .flat_map(Block::instructions)
        .chain(here[..place].iter().copied())
        .filter(|each| is_arithmetic(*each))
        .collect();
    let computed: HashSet<Value> = in_order.iter().copied().collect();
    let builder = Builder::before(behind);
    let mut copies = HashMap::new();
    for value in &in_order {
        // What a phi takes, it takes at the end of the block where it comes from.
        let is_behind = |of: Block| of == block || !before.contains(&of);
        let uses = value.users().into_iter().flat_map(|user| {
            let takes = (0..)
                .zip(user.operands())
                .filter(|(_, operand)| operand == value);
            takes
                .map(move |(index, _)| (user, index))
                .collect::<Vec<(Value, u32)>>()
        });
        let uses = uses.filter(|(user, index)| match user.incoming_block(*index) {
            Some(from) => is_behind(from),
            None => {
                behind_site.contains(user)
                    || user.block().is_some_and(|of| of != block && is_behind(of))
            }
        });
        let uses: BTreeSet<(Value, u32)> = uses.collect();
        if uses.is_empty() || copies.len() > MOST_INSTRUCTIONS {
            continue;
        }
        let copy = copy_with_operands(*value, &computed, &builder, &mut copies);
        for (user, index) in uses {
            user.set_operand(index, copy);
        }
    }
}

/// Instructions that compute a value of their operands and nothing else.
fn is_arithmetic(instruction: Value) -> bool {
    use LLVMOpcode::*;
    matches!(
        instruction.opcode(),
        Some(
            LLVMAdd
                | LLVMSub
                | LLVMMul
                | LLVMShl
                | LLVMLShr
                | LLVMAShr
                | LLVMAnd
                | LLVMOr
                | LLVMXor
                | LLVMICmp
                | LLVMSelect
                | LLVMZExt
                | LLVMSExt
                | LLVMTrunc
                | LLVMGetElementPtr
        )
    )
}

/// A copy of a computation, with copies of those that it is made of.
fn copy_with_operands(
    value: Value,
    computed: &HashSet<Value>,
    builder: &Builder,
    copies: &mut HashMap<Value, Value>,
) -> Value {
    if let Some(copy) = copies.get(&value) {
        return *copy;
    }
    let operands: Vec<Option<Value>> = (value.operands().into_iter())
        .map(|operand| {
            let is_computed = computed.contains(&operand);
            is_computed.then(|| copy_with_operands(operand, computed, builder, copies))
        })
        .collect();
    let copy = value.clone_instruction();
    builder.insert(copy);
    for (index, operand) in (0..).zip(operands) {
        if let Some(operand) = operand {
            copy.set_operand(index, operand);
        }
    }
    copies.insert(value, copy);
    copy
}

/// The block where control goes on behind a launch, which nothing else comes to. Values do not leave their blocks.
fn split_behind(function: Value, site: Value) -> Option<Block> {
    if let Some((next, _)) = site.invoke_destinations() {
        return (next.predecessors().len() == 1).then_some(next);
    }
    let block = site.block()?;
    let behind: Vec<Value> = block
        .instructions()
        .into_iter()
        .skip_while(|each| *each != site)
        .skip(1)
        .collect();
    let next = Block::append(function);
    next.move_behind(block);
    let builder = Builder::at_end(function, next);
    for each in behind {
        each.take_out();
        builder.insert(each);
    }
    Builder::at_end(function, block).branch(next);
    Some(next)
}

/// Writes what comes before `next` in its loop in front of the loop as well, from where control goes to `next`.
/// Where that cannot be done, the loop stays.
fn rotate_loop(host: &Module<'_>, function: Value, (site, next): (Value, Block), index: usize) {
    let flow = Flow::of(function);
    let Some(around) = flow
        .loops()
        .into_iter()
        .filter(|each| each.blocks.contains(&next))
        .min_by_key(|each| each.blocks.len())
    else {
        return;
    };
    let Some(before) = before(function, &around, (site, next)) else {
        return;
    };
    let entries: Vec<Block> = (around.header.predecessors().into_iter())
        .filter(|block| !around.blocks.contains(block))
        .collect();
    let instructions = before.iter().flat_map(|block| block.instructions());
    let instructions: Vec<Value> = instructions.collect();
    if instructions.len() > MOST_INSTRUCTIONS || !instructions.iter().copied().all(may_stand_twice)
    {
        return;
    }
    for launch in instructions.into_iter().filter(|each| is_launch(*each)) {
        launches::mark(host, launch, next_mark(index));
    }
    let blocks: HashMap<Block, Block> = before
        .iter()
        .map(|block| (*block, Block::append(function)))
        .collect();
    for block in &before {
        let copy = blocks[block];
        copy.move_before(around.header);
        copy_instructions(function, *block, copy);
        for launch in copy
            .instructions()
            .into_iter()
            .filter(|each| is_launch(*each))
        {
            launches::mark(host, launch, prologue_mark(index));
        }
        redirect(copy, &blocks);
    }
    let to_header = HashMap::from([(around.header, blocks[&around.header])]);
    for entry in entries {
        redirect(entry, &to_header);
    }
}

/// The blocks of an iteration up to a launch, in the order of the function; `None` where an iteration can end without it.
fn before(function: Value, around: &Loop, (site, next): (Value, Block)) -> Option<Vec<Block>> {
    let mut found = HashSet::from([around.header]);
    let mut open = vec![around.header];
    while let Some(block) = open.pop() {
        for after in block.terminator().into_iter().flat_map(Value::successors) {
            let is_inside = around.blocks.contains(&after) && after != next;
            // An inner loop may be among them, this one's next iteration may not.
            if after == around.header {
                return None;
            }
            if is_inside && found.insert(after) {
                open.push(after);
            }
        }
    }
    let ends_there = site.block().is_some_and(|block| found.contains(&block));
    let only_from_there = next.predecessors() == site.block().into_iter().collect::<Vec<_>>();
    if !ends_there || !only_from_there || found.contains(&around.latch) {
        return None;
    }
    let in_order = function.blocks().into_iter();
    Some(in_order.filter(|block| found.contains(block)).collect())
}

/// Copies the instructions of a block, whose values do not leave it.
fn copy_instructions(function: Value, from: Block, to: Block) {
    let builder = Builder::at_end(function, to);
    let mut copies: HashMap<Value, Value> = HashMap::new();
    for each in from.instructions() {
        let copy = each.clone_instruction();
        builder.insert(copy);
        for (operand, value) in (0..).zip(each.operands()) {
            if let Some(value) = copies.get(&value) {
                copy.set_operand(operand, *value);
            }
        }
        copies.insert(each, copy);
    }
}

/// Has the end of a block go to other blocks.
fn redirect(block: Block, to: &HashMap<Block, Block>) {
    let Some(end) = block.terminator() else {
        return;
    };
    for (index, successor) in (0..).zip(end.successors()) {
        if let Some(other) = to.get(&successor) {
            end.set_successor(index, *other);
        }
    }
}

/// Assembly may hold a label, and some functions may be called at one place only.
fn may_stand_twice(instruction: Value) -> bool {
    let is_unique = instruction.inline_assembly().is_some()
        || instruction
            .called_function()
            .is_some_and(|called| called.has_attribute("noduplicate"));
    !is_unique
}

/// What stands for the number of a site of a rotated loop until sites are numbered.
fn prologue_mark(index: usize) -> u32 {
    launches::LAST_MARK - 2 * index as u32
}

fn next_mark(index: usize) -> u32 {
    launches::LAST_MARK - 2 * index as u32 - 1
}

/// The numbers that marked launches will have.
fn marked(host: &Module<'_>, mark: u32) -> Vec<u32> {
    let instructions = ir::functions(host)
        .into_iter()
        .flat_map(|function| function.instructions());
    let sites = instructions.filter(|each| is_launch(*each));
    (0..)
        .zip(sites)
        .filter(|(_, site)| launches::has_mark(*site, mark))
        .map(|(number, _)| number)
        .collect()
}

impl Value {
    /// Takes an instruction out of its block; it is in none then.
    fn take_out(self) {
        // SAFETY: callers pass instructions in blocks.
        unsafe { LLVMInstructionRemoveFromParent(self.0) }
    }

    /// Replaces a destination of a terminator.
    fn set_successor(self, index: u32, block: Block) {
        // SAFETY: callers pass terminators and an index in range; the block is one of the same function.
        unsafe { LLVMSetSuccessor(self.0, index, block.0) }
    }

    /// Whether an addition carries the `nsw` flag.
    fn never_wraps_signed(self) -> bool {
        // SAFETY: callers pass additions.
        unsafe { LLVMGetNSW(self.0) != 0 }
    }

    /// Gives an addition the `nuw` flag.
    fn never_wraps(self) {
        // SAFETY: callers pass additions.
        unsafe { LLVMSetNUW(self.0, 1) }
    }
}

impl Block {
    /// Puts it before another block of its function.
    fn move_before(self, other: Self) {
        // SAFETY: both are live blocks of one function.
        unsafe { LLVMMoveBasicBlockBefore(self.0, other.0) }
    }

    /// Puts it behind another block of its function.
    fn move_behind(self, other: Self) {
        // SAFETY: both are live blocks of one function.
        unsafe { LLVMMoveBasicBlockAfter(self.0, other.0) }
    }
}
