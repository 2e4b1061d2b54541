//! Short loops over a thread's own elements, written out where that lets values pass from one to another.
//!
//! Kernels that give a thread a tile walk over it in loops of a few iterations. LLVM writes such loops out, but
//! only once kernels are fused and most is settled. Here those are written out before that through which one
//! member stores what a later one loads, so that elements of equal number meet.
//!
//! Invariant: no loop with a barrier, or with anything that is not understood, is written out; all others
//! keep what the user says of them.

use super::super::control_flow::ControlFlow;
use super::super::counting::{Counting, runs_once};
use super::super::loops::declares_scope;
use super::super::memory::{Effect, Root};
use crate::llvm::{Block, Type, Value};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// What puts a kernel into the form in which [`mark`] chooses loops: LLVM's own, so that writing them out moves
/// none of their ends.
pub(in crate::codegen::fused_kernels::fuse) const CANONICAL_FORM: &str = "loop-simplify,lcssa";

/// Passes that write out the loops that [`mark`] chose. Addresses keep the form that all elements have: what is
/// known where only one of them is in reach is not put in.
pub(in crate::codegen::fused_kernels::fuse) const WRITE_OUT: &str =
    "loop(loop-unroll-full),simplifycfg";

/// So many instructions may loops become that stand in each other.
const MOST_INSTRUCTIONS: u64 = 6_000;
/// So many iterations may one have.
const MOST_ITERATIONS: u64 = 64;

/// Whether a kernel has loops that store what others load, or load what others store.
pub(in crate::codegen::fused_kernels::fuse) fn has_any<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
) -> bool {
    let flow = ControlFlow::of(kernel);
    flow.is_some_and(|flow| !chosen(module, kernel, &flow).is_empty())
}

/// Chooses these loops, and forbids LLVM to write out any others until [`release`].
pub(in crate::codegen::fused_kernels::fuse) fn mark<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
) {
    let Some(flow) = ControlFlow::of(kernel) else {
        return;
    };
    let nests = chosen(module, kernel, &flow);
    for block in flow.blocks() {
        let mut next = block.successors().into_iter();
        let header = next.find(|next| flow.dominates(*next, block));
        if let (Some(header), Some(end)) = (header, block.terminator()) {
            let chosen = nests.iter().any(|nest| nest.contains(&header));
            end.hold_unrolling(module, chosen);
        }
    }
}

/// Takes back what [`mark`] forbade.
pub(in crate::codegen::fused_kernels::fuse) fn release(module: &Module, kernel: Value) {
    for end in kernel.blocks().into_iter().filter_map(Block::terminator) {
        end.release_unrolling(module);
    }
}

/// The blocks of the loops that are to be written out, of those of them that stand in no other.
fn chosen<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    flow: &ControlFlow<'ctx>,
) -> Vec<HashSet<Block<'ctx>>> {
    let loops: Vec<ShortLoop> = flow
        .loops_with_one_latch()
        .into_iter()
        .map(|(header, latch, blocks)| ShortLoop::of(module, flow, header, latch, blocks))
        .collect();
    // Others have several ends, or are none that LLVM knows.
    let is_known = |block: &Block| {
        let mut next = block.successors().into_iter();
        next.all(|next| !flow.dominates(next, *block) || loops.iter().any(|of| of.header == next))
    };
    let mut nests: Vec<usize> = (0..loops.len()).collect();
    nests.retain(|nest| is_nest(&loops, *nest) && loops[*nest].blocks.iter().all(is_known));
    if nests.is_empty() {
        return Vec::new();
    }
    let pairs = passing_values(flow, kernel);
    nests.retain(|nest| {
        let inside = |at: &Value| loops[*nest].blocks.contains(&at.block());
        pairs
            .iter()
            .any(|(store, load)| inside(store) != inside(load))
    });
    let blocks = nests.into_iter().map(|nest| loops[nest].blocks.clone());
    blocks.collect()
}

/// A loop, and how often it runs.
struct ShortLoop<'ctx> {
    header: Block<'ctx>,
    blocks: HashSet<Block<'ctx>>,
    /// Where that is a constant, and not many.
    iterations: Option<u64>,
    /// Nothing inside waits, or does what is not understood, and the user says nothing of it.
    plain: bool,
    instructions: u64,
}

impl<'ctx> ShortLoop<'ctx> {
    fn of(
        module: &Module<'ctx>,
        flow: &ControlFlow<'ctx>,
        header: Block<'ctx>,
        latch: Block<'ctx>,
        blocks: HashSet<Block<'ctx>>,
    ) -> Self {
        let asked = latch
            .terminator()
            .is_some_and(|end| end.says_of_unrolling(module));
        let inside = || blocks.iter().flat_map(|block| block.instructions());
        let plain = |at: Value| match Effect::of(at) {
            Effect::Nothing | Effect::Load(_) | Effect::Store(_) => true,
            Effect::Unknown => declares_scope(at),
            Effect::Atomic(_) | Effect::Barrier => false,
        };
        let few = iterations(flow, header, latch, &blocks);
        Self {
            iterations: few.filter(|iterations| (1..=MOST_ITERATIONS).contains(iterations)),
            plain: !asked && inside().all(plain),
            instructions: inside().count() as u64,
            header,
            blocks,
        }
    }
}

/// How often a loop runs that is tested at its head.
fn iterations(
    flow: &ControlFlow,
    header: Block,
    latch: Block,
    blocks: &HashSet<Block>,
) -> Option<u64> {
    let before = flow.entered_from(header, latch)?;
    let [inside, exit] = header.successors()[..] else {
        return None;
    };
    if !blocks.contains(&inside) || blocks.contains(&exit) {
        return None;
    }
    let condition = header.terminator()?.branch_condition()?;
    if runs_once(condition, before, latch) {
        return Some(1);
    }
    Counting::of(condition, before, latch)?.iterations()
}

/// Whether a loop and all in it are short, and stand in no other such loop.
fn is_nest(loops: &[ShortLoop], nest: usize) -> bool {
    let around = (0..loops.len()).any(|other| {
        other != nest
            && loops[other].blocks.contains(&loops[nest].header)
            && written_out(loops, other).is_some()
    });
    !around && written_out(loops, nest).is_some()
}

/// How many instructions a loop is when it and all in it are written out; `None` for too many.
fn written_out(loops: &[ShortLoop], nest: usize) -> Option<u64> {
    let of = &loops[nest];
    if !of.plain {
        return None;
    }
    let stands_in = |inner: usize, outer: usize| {
        inner != outer && loops[outer].blocks.contains(&loops[inner].header)
    };
    let inner: Vec<usize> = (0..loops.len())
        .filter(|other| stands_in(*other, nest))
        .collect();
    let direct = inner
        .iter()
        .filter(|one| !inner.iter().any(|other| stands_in(**one, *other)));
    let mut instructions = of.instructions;
    for one in direct {
        let once = instructions.checked_sub(loops[*one].instructions)?;
        instructions = once + written_out(loops, *one)?;
    }
    let all = instructions.checked_mul(of.iterations?)?;
    (all <= MOST_INSTRUCTIONS).then_some(all)
}

/// Stores of a kernel through its parameters, and loads of the same type through the same ones that a thread
/// may come to before a barrier.
fn passing_values<'ctx>(
    flow: &ControlFlow<'ctx>,
    kernel: Value<'ctx>,
) -> Vec<(Value<'ctx>, Value<'ctx>)> {
    let mut loads: HashMap<(Root, Type), HashSet<Value>> = HashMap::new();
    for at in flow.instructions() {
        if let Effect::Load(address) = Effect::of(at)
            && let root @ Root::Parameter(_) = Root::of(kernel, address)
        {
            loads.entry((root, at.ty())).or_default().insert(at);
        }
    }
    let mut pairs = Vec::new();
    for store in flow.instructions() {
        if let Effect::Store(address) = Effect::of(store)
            && let Some(loads) = loads.get(&(Root::of(kernel, address), store.operand(0).ty()))
        {
            let reached = flow.until_barrier(store).into_iter();
            pairs.extend(
                reached
                    .filter(|at| loads.contains(at))
                    .map(|load| (store, load)),
            );
        }
    }
    pairs
}
