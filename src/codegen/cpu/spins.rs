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

use crate::llvm::{Block, Builder, Opcode, Type, Value};
use inkwell::module::Module;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;
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
struct Ways<'a> {
    body: &'a HashSet<Block>,
    graph: DiGraph<Option<Block>, ()>,
    nodes: HashMap<Block, NodeIndex>,
    /// From the round's end backwards.
    behind: Dominators<NodeIndex>,
}

impl<'a> Ways<'a> {
    fn of(body: &'a HashSet<Block>) -> Self {
        let mut graph = DiGraph::new();
        let end = graph.add_node(None);
        let nodes: HashMap<Block, NodeIndex> = body
            .iter()
            .map(|block| (*block, graph.add_node(Some(*block))))
            .collect();
        for block in body {
            for to in block.successors() {
                let is_inner = body.contains(&to) && !is_head(to, body);
                let to = if is_inner { nodes[&to] } else { end };
                graph.update_edge(nodes[block], to, ());
            }
        }
        let behind = simple_fast(Reversed(&graph), end);
        Self {
            body,
            graph,
            nodes,
            behind,
        }
    }

    /// What some of the ways from a branch lead through, and not all.
    fn region(&self, branch: Block) -> HashSet<Block> {
        let join = self.behind.immediate_dominator(self.nodes[&branch]);
        let mut found = HashSet::new();
        let mut work: Vec<NodeIndex> = self.graph.neighbors(self.nodes[&branch]).collect();
        while let Some(node) = work.pop() {
            if Some(node) != join
                && let Some(block) = self.graph[node]
                && found.insert(block)
            {
                work.extend(self.graph.neighbors(node));
            }
        }
        found
    }

    /// The blocks in which ways from a branch with this region may meet.
    fn met_behind(&self, branch: Block, region: &HashSet<Block>) -> Vec<Block> {
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
