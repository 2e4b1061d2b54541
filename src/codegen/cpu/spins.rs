//! Loops in which a thread waits until another one writes: each look gives way to the other threads, which
//! take turns here.
//!
//! A look is a volatile or atomic load, a comparing exchange, an exchange, or another atomic that adds
//! nothing, whose operands do not change while the loop runs, and whose result decides whether it ends. A loop
//! that tries again with what it found, as atomics are built from comparing exchanges, waits for nobody.

use crate::codegen::ir::{Block, Builder, Opcode, Type, Value};
use inkwell::module::Module;
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
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
        candidates
            .iter()
            .copied()
            .filter(decides)
            .collect::<Vec<_>>()
    });
    found.collect()
}

fn may_look(instruction: Value) -> bool {
    match instruction.opcode() {
        Opcode::LLVMLoad => instruction.is_volatile() || instruction.is_atomic(),
        Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMAtomicRMW => {
            instruction.is_exchange() || instruction.operand(1).constant_integer() == Some(0)
        }
        _ => false,
    }
}

/// The blocks of each loop with one entry; those of inner loops are in their outer ones, too.
fn loops(function: Value) -> Vec<HashSet<Block>> {
    let blocks = function.blocks();
    let mut graph = DiGraph::<Block, ()>::new();
    let nodes: HashMap<Block, NodeIndex> = blocks
        .iter()
        .map(|block| (*block, graph.add_node(*block)))
        .collect();
    let mut predecessors: HashMap<Block, Vec<Block>> = HashMap::new();
    for block in &blocks {
        for to in block.successors() {
            graph.update_edge(nodes[block], nodes[&to], ());
            predecessors.entry(to).or_default().push(*block);
        }
    }
    let dominators = simple_fast(&graph, nodes[&blocks[0]]);
    let mut found = Vec::new();
    for latch in &blocks {
        for head in latch.successors() {
            let mut above = dominators.dominators(nodes[latch]).into_iter().flatten();
            if !above.any(|node| node == nodes[&head]) {
                continue;
            }
            let mut body = HashSet::from([head]);
            let mut work = vec![*latch];
            while let Some(block) = work.pop() {
                if body.insert(block) {
                    work.extend(predecessors.get(&block).into_iter().flatten());
                }
            }
            found.push(body);
        }
    }
    found
}

/// Whether a value is the same in each round of a loop that has these instructions.
fn is_fixed(value: Value, inside: &HashSet<Value>) -> bool {
    if !inside.contains(&value) {
        return true;
    }
    let computes = matches!(
        value.opcode(),
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
    );
    // What others change as well is read by a volatile or atomic load.
    let reads = value.opcode() == Opcode::LLVMLoad && !may_look(value);
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
            if inside.contains(&user) && user.opcode() != Opcode::LLVMStore && seen.insert(user) {
                work.push(user);
            }
        }
    }
    false
}
