//! Loops in which a thread waits until another one writes: each look gives way to the other threads, which
//! take turns here.
//!
//! A look is a volatile or atomic load, a comparing exchange, an exchange, or another atomic that adds
//! nothing, whose operands do not change while the loop runs, and whose result decides whether it ends. A loop
//! that tries again with what it found, as atomics are built from comparing exchanges, waits for nobody.
//!
//! A loop may also take what is there and look again at the rest, as solvers of triangular systems do that take a row's
//! columns one by one. Then a load, or an atomic that adds nothing, looks elsewhere each time: it is a look when what it
//! finds decides, by the ways that it sends the thread, about all ways out of the loop. A loop that counts its rounds
//! besides ends by itself.

use crate::llvm::{Block, Builder, ControlFlow, Opcode, Type, Value};
use crate::math::flow::Dominators;
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// What is called before a look.
pub(super) const GIVE_WAY: &str = "give_way";

/// Puts calls of [`GIVE_WAY`] before all looks in a device module.
pub(super) fn give_way_in_spins(module: &Module) {
    let mut looks = Vec::new();
    for function in Value::functions(module) {
        if !function.is_declaration() {
            looks.extend(looks_of(function));
        }
    }
    if looks.is_empty() {
        return;
    }
    let ty = Type::function(Type::void(module), &[]);
    let give_way = Value::function(module, GIVE_WAY)
        .unwrap_or_else(|| Value::add_function(module, GIVE_WAY, ty));
    for look in looks {
        Builder::before(look).call(ty, give_way, &[]);
    }
}

fn looks_of(function: Value) -> HashSet<Value> {
    let candidates = function
        .instructions()
        .into_iter()
        .filter(|at| may_look(*at));
    let candidates: Vec<Value> = candidates.collect();
    if candidates.is_empty() {
        return HashSet::new();
    }
    let found = loops(function).into_iter().flat_map(|body| {
        let inside: HashSet<Value> = body.iter().flat_map(|block| block.instructions()).collect();
        let exits: HashSet<Value> = body
            .iter()
            .filter(|block| block.successors().iter().any(|to| !body.contains(to)))
            .filter_map(|block| block.terminator())
            .collect();
        let decides = |look: &Value| {
            inside.contains(look)
                && look
                    .operands()
                    .into_iter()
                    .all(|operand| is_fixed(operand, &inside))
                && reaches(*look, &inside, &exits)
        };
        let anywhere = |look: &&Value| inside.contains(*look) && may_look_anywhere(**look);
        let ways = candidates
            .iter()
            .any(|look| anywhere(&look))
            .then(|| Ways::of(&body));
        let governs = |look: &Value| {
            let ways = ways.as_ref().filter(|_| anywhere(&look));
            ways.is_some_and(|ways| governs_exits(*look, ways))
        };
        candidates
            .iter()
            .copied()
            .filter(|look| decides(look) || governs(look))
            .collect::<Vec<_>>()
    });
    found.collect()
}

fn may_look(instruction: Value) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMLoad) => instruction.is_volatile() || instruction.is_atomic(),
        Some(Opcode::LLVMAtomicCmpXchg) => true,
        Some(Opcode::LLVMAtomicRMW) => {
            instruction.is_exchange() || instruction.operand(1).constant_integer() == Some(0)
        }
        _ => false,
    }
}

/// Whether it reads and does nothing else.
fn may_look_anywhere(instruction: Value) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMLoad) => true,
        Some(Opcode::LLVMAtomicRMW) => !instruction.is_exchange(),
        _ => false,
    }
}

/// Whether what a look finds decides about every exit of a loop: it flows into the exit's condition, or into that of a
/// branch which decides whether the exit is come to, or which way a value on the way to the exit comes about.
fn governs_exits(look: Value, ways: &Ways) -> bool {
    let body = ways.body;
    let mut depending = HashSet::from([look]);
    let mut governed: HashSet<Block> = HashSet::new();
    let mut work = vec![look];
    while let Some(value) = work.pop() {
        for user in value.users() {
            let block = user.block();
            if !body.contains(&block) || user.opcode() == Some(Opcode::LLVMStore) {
                continue;
            }
            if block.terminator() != Some(user) {
                if depending.insert(user) {
                    work.push(user);
                }
                continue;
            }
            if !depending.insert(user) {
                continue;
            }
            let region = ways.region(block);
            for at in ways.met_behind(block, &region) {
                let phis = at.instructions().into_iter();
                let phis = phis.take_while(|each| each.opcode() == Some(Opcode::LLVMPHI));
                work.extend(phis.filter(|phi| depending.insert(*phi)));
            }
            governed.extend(region);
        }
    }
    let leaves = |block: &&Block| block.successors().iter().any(|to| !body.contains(to));
    body.iter().filter(leaves).all(|block| {
        governed.contains(block)
            || block
                .terminator()
                .is_some_and(|terminator| depending.contains(&terminator))
    })
}

/// The control flow of a loop: one round, which ends at its begin or outside.
struct Ways<'a, 'ctx> {
    body: &'a HashSet<Block<'ctx>>,
    /// The blocks by number; that of the round's end is none of theirs.
    blocks: Vec<Block<'ctx>>,
    numbers: HashMap<Block<'ctx>, usize>,
    successors: Vec<Vec<usize>>,
    /// From the round's end backwards.
    behind: Dominators,
}

impl<'a, 'ctx> Ways<'a, 'ctx> {
    fn of(body: &'a HashSet<Block<'ctx>>) -> Self {
        let blocks: Vec<Block> = body.iter().copied().collect();
        let numbers: HashMap<Block, usize> = blocks.iter().copied().zip(0..).collect();
        let end = blocks.len();
        let number = |to: Block| {
            let is_inner = body.contains(&to) && !is_head(to, body);
            if is_inner { numbers[&to] } else { end }
        };
        let after = |block: &Block| block.successors().into_iter().map(number).collect();
        let mut successors: Vec<Vec<usize>> = blocks.iter().map(after).collect();
        successors.push(Vec::new());
        Self {
            body,
            behind: Dominators::backwards(&successors, end),
            blocks,
            numbers,
            successors,
        }
    }

    /// What some of the ways from a branch lead through, and not all.
    fn region(&self, branch: Block) -> HashSet<Block<'ctx>> {
        let branch = self.numbers[&branch];
        let join = self.behind.immediate(branch);
        let mut found = HashSet::new();
        let mut work = self.successors[branch].clone();
        while let Some(number) = work.pop() {
            if Some(number) != join
                && let Some(block) = self.blocks.get(number)
                && found.insert(*block)
            {
                work.extend(&self.successors[number]);
            }
        }
        found
    }

    /// The blocks in which ways from a branch with this region may meet.
    fn met_behind(&self, branch: Block, region: &HashSet<Block>) -> Vec<Block<'ctx>> {
        let from_branch = |from: &Block| *from == branch || region.contains(from);
        let meets = |at: &&Block| {
            let before = self.body.iter().filter(|from| from_branch(from));
            before.filter(|from| from.successors().contains(at)).count() > 1
        };
        self.body.iter().filter(meets).copied().collect()
    }
}

/// Whether a loop begins with a block: something outside leads to it.
fn is_head(block: Block, body: &HashSet<Block>) -> bool {
    block.predecessors().iter().any(|from| !body.contains(from))
}

/// The blocks of each loop with one entry; those of inner loops are in their outer ones, too.
fn loops(function: Value) -> Vec<HashSet<Block>> {
    let Some(flow) = ControlFlow::of(function) else {
        return Vec::new();
    };
    let ends = flow.back_edges();
    ends.map(|(latch, head)| flow.loop_of(head, latch))
        .collect()
}

/// Whether a value is the same in each round of a loop that has these instructions.
fn is_fixed(value: Value, inside: &HashSet<Value>) -> bool {
    if !inside.contains(&value) {
        return true;
    }
    let computes = matches!(
        value.opcode(),
        Some(
            Opcode::LLVMGetElementPtr
                | Opcode::LLVMAddrSpaceCast
                | Opcode::LLVMBitCast
                | Opcode::LLVMPtrToInt
                | Opcode::LLVMIntToPtr
                | Opcode::LLVMSExt
                | Opcode::LLVMZExt
                | Opcode::LLVMTrunc
                | Opcode::LLVMAdd
                | Opcode::LLVMSub
                | Opcode::LLVMMul
        )
    );
    // What others change as well is read by a volatile or atomic load.
    let reads = value.opcode() == Some(Opcode::LLVMLoad) && !may_look(value);
    (computes || reads)
        && value
            .operands()
            .into_iter()
            .all(|operand| is_fixed(operand, inside))
}

/// Whether a value flows through the loop's instructions into one of its exits.
fn reaches(look: Value, inside: &HashSet<Value>, exits: &HashSet<Value>) -> bool {
    let mut seen = HashSet::from([look]);
    let mut work = vec![look];
    while let Some(value) = work.pop() {
        for user in value.users() {
            if exits.contains(&user) {
                return true;
            }
            if inside.contains(&user)
                && user.opcode() != Some(Opcode::LLVMStore)
                && seen.insert(user)
            {
                work.push(user);
            }
        }
    }
    false
}
