//! Threads that have ended take part in the barriers behind.
//!
//! `if (threadIdx.x >= 32) return; … __syncthreads(); …` waits for the threads that are left: a thread that has ended is
//! waited for no more. In a kernel that goes on behind this code it has not ended. So it waits at each barrier that the
//! others come to, and does nothing in between:
//!
//! ```text
//! if (a) { A; __syncthreads(); B; }      becomes      if (a) A;  __syncthreads();  if (a) B;
//! ```
//!
//! Sums are often written so, by halves that a recursion makes ever smaller (`if (t < half) { …; next half }`).
//!
//! Invariant: each thread executes what it executed, in the order in which it did, and waits for the same threads or for more
//! that have ended. The barriers come one after the other, in no loop, and nothing else in the kernel waits for other
//! threads or speaks with the lanes of its warp: a lane that waits at a barrier would not answer.

use super::super::block_copies::{copy_instructions, is_arithmetic};
use crate::llvm::{Block, Builder, ControlFlow, FUNCTION_ATTRIBUTES, Opcode, Type, Value};
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use std::collections::{HashMap, HashSet};

/// Has threads of a kernel that end before others come to a barrier wait there too, where those may be of one block.
/// Says whether it did. What comes of a function depends on that function alone.
///
/// # Errors
/// LLVM's message where it refuses its own passes.
pub(crate) fn let_ended_threads_wait<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    machine: &TargetMachine,
) -> Result<bool, String> {
    let Some(barriers) = barriers_that_some_miss(kernel) else {
        return Ok(false);
    };
    hoist_what_crosses(kernel, &barriers);
    // No value leaves its block then, and a barrier has one of its own.
    let joins: Vec<Block> = barriers.iter().map(|barrier| set_apart(*barrier)).collect();
    let before: HashSet<Value> = kernel.instructions().into_iter().collect();
    kernel.run_passes_keeping_loops("reg2mem", machine)?;
    let new_variables: Vec<Value> = (kernel.instructions().into_iter())
        .filter(|each| each.opcode() == Some(Opcode::LLVMAlloca) && !before.contains(each))
        .collect();
    join(module, kernel, &joins, &new_variables);
    kernel.run_passes_keeping_loops("mem2reg,instsimplify", machine)?;
    settle_phis(kernel);
    Ok(true)
}

/// Whether [`let_ended_threads_wait`] changes a kernel.
pub(in crate::program) fn may_miss_barriers(kernel: Value) -> bool {
    barriers_that_some_miss(kernel).is_some()
}

/// The barrier of all threads of a block.
const BARRIER: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";

/// What the names of intrinsics begin with that read a special register.
const REGISTER: &str = "llvm.nvvm.read.ptx.sreg.";

/// Kernels whose copied blocks would have more instructions stay as they are.
const MOST_COPIED: usize = 1000;

/// The barriers of a kernel in their order, where some threads of a block may end before one of them; `None` also for a
/// kernel that cannot be changed.
fn barriers_that_some_miss(kernel: Value) -> Option<Vec<Value>> {
    let mut barriers = Vec::new();
    let mut seen = HashSet::new();
    for instruction in kernel.instructions() {
        if is_barrier(instruction) {
            barriers.push(instruction);
        } else if may_wait(instruction, &mut seen) {
            return None;
        }
    }
    if barriers.is_empty() {
        return None;
    }
    let flow = ControlFlow::of(kernel)?;
    let mut barriers = behind_an_end(&flow, barriers);
    let place = |barrier: &Value| {
        let block = barrier.block();
        let within = block.instructions().iter().position(|at| at == barrier);
        (flow.depth(block), within)
    };
    barriers.sort_by_key(place);
    let is_chain = barriers
        .windows(2)
        .all(|pair| flow.dominates(pair[0].block(), pair[1].block()));
    let repeated = flow.repeated();
    let is_once = barriers
        .iter()
        .all(|barrier| !repeated.contains(&barrier.block()));
    let copied = copied_instructions(&barriers);
    let fits = is_chain && is_once && flow.is_reducible() && copied <= MOST_COPIED;
    (fits && !barriers.is_empty()).then_some(barriers)
}

/// Those barriers before which threads may have gone a way that misses one. All threads come to the others, and what comes
/// behind one of those is among them itself.
fn behind_an_end<'ctx>(flow: &ControlFlow<'ctx>, barriers: Vec<Value<'ctx>>) -> Vec<Value<'ctx>> {
    let repeated = flow.repeated();
    let parting: Vec<Block> = flow.blocks().filter(|block| may_part(*block)).collect();
    let leading: Vec<HashSet<Block>> = barriers
        .iter()
        .map(|barrier| leading_to(barrier.block(), flow))
        .collect();
    let leads = |from: Block, to: usize| {
        let again = barriers[to].block() == from && !repeated.contains(&from);
        leading[to].contains(&from) && !again
    };
    let misses = |from: &&Block| {
        let mut to = 0..barriers.len();
        to.any(|to| {
            let mut ways = from.successors().into_iter();
            leads(**from, to) && !ways.all(|way| leading[to].contains(&way))
        })
    };
    let ends: Vec<Block> = parting.iter().filter(misses).copied().collect();
    let is_behind = |to: &usize| ends.iter().any(|from| leads(*from, *to));
    let behind = (0..barriers.len()).filter(is_behind);
    behind.map(|number| barriers[number]).collect()
}

/// Whether threads of one block of threads may go several ways at the end of a block.
fn may_part(block: Block) -> bool {
    let end = block.terminator().filter(|_| block.successors().len() > 1);
    let condition = end.and_then(|end| end.operands().first().copied());
    condition.is_some_and(|condition| may_differ(condition, &mut HashSet::new()))
}

fn is_barrier(instruction: Value) -> bool {
    instruction.called_name().as_deref() == Some(BARRIER)
        && instruction
            .call_arguments()
            .first()
            .and_then(|id| id.signed_integer())
            == Some(0)
}

/// Whether an instruction may wait for other threads, or be about the lanes of its warp, itself or in what it calls. Clang and
/// LLVM call that convergent; clang says so of all functions of a program. Functions in `seen` are asked elsewhere.
fn may_wait<'ctx>(instruction: Value<'ctx>, seen: &mut HashSet<Value<'ctx>>) -> bool {
    if instruction.opcode() == Some(Opcode::LLVMInvoke) {
        return true;
    }
    if !instruction.is_call() {
        return false;
    }
    // Assembly, and calls of pointers, may do anything.
    let Some(called) = instruction.called_function() else {
        return true;
    };
    if !called.has_attribute(FUNCTION_ATTRIBUTES, "convergent") {
        return false;
    }
    if called.is_declaration() {
        // CUDA's mathematics, which comes later, waits for nobody.
        let name = called.name();
        return !name.starts_with("__nv_") || name.starts_with("__nv_ptx");
    }
    let mut body = called.instructions().into_iter();
    seen.insert(called) && body.any(|inner| may_wait(inner, seen))
}

/// The blocks from which control may come to one, itself among them.
fn leading_to<'ctx>(block: Block<'ctx>, flow: &ControlFlow<'ctx>) -> HashSet<Block<'ctx>> {
    let mut found = HashSet::from([block]);
    let mut pending = vec![block];
    while let Some(block) = pending.pop() {
        let before = flow.predecessors(block).iter().copied();
        pending.extend(before.filter(|before| found.insert(*before)));
    }
    found
}

/// The blocks that one leads to, itself the first of them, without those that are to end the walk.
fn reached(from: Block, is_end: impl Fn(Block) -> bool) -> Vec<Block> {
    let mut seen = HashSet::from([from]);
    let mut found = vec![from];
    let mut next = 0;
    while let Some(block) = found.get(next).copied() {
        next += 1;
        let to = block.successors().into_iter();
        found.extend(to.filter(|to| !is_end(*to) && seen.insert(*to)));
    }
    found
}

/// At most so many instructions stand in blocks that several barriers lead to.
fn copied_instructions(barriers: &[Value]) -> usize {
    let of_barriers: HashSet<Block> = barriers.iter().map(|barrier| barrier.block()).collect();
    let is_end = |block: Block| of_barriers.contains(&block);
    let mut times: HashMap<Block, usize> = HashMap::new();
    for block in &of_barriers {
        for to in reached(*block, is_end).into_iter().skip(1) {
            *times.entry(to).or_default() += 1;
        }
    }
    times
        .iter()
        .map(|(block, times)| block.instructions().len() * times)
        .sum()
}

/// Whether a value may be another one in another thread of the block.
fn may_differ<'ctx>(value: Value<'ctx>, seen: &mut HashSet<Value<'ctx>>) -> bool {
    if !value.is_instruction() || !seen.insert(value) {
        return false;
    }
    if let Some(name) = value.called_name() {
        let of_block = ["ctaid.", "nctaid.", "ntid."];
        let register = name.strip_prefix(REGISTER);
        if register.is_some_and(|name| of_block.iter().any(|of| name.starts_with(of))) {
            return false;
        }
        if register.is_some() {
            return true;
        }
    }
    match value.opcode() {
        // Which way a phi takes, and what a variable of the thread holds, is not looked into.
        Some(
            Opcode::LLVMPHI
            | Opcode::LLVMAlloca
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg,
        ) => true,
        _ => value
            .operands()
            .into_iter()
            .any(|operand| may_differ(operand, seen)),
    }
}

/// Computes for all threads what those compute that go on and need again behind a barrier, where it is made of what all
/// have. Then it is no value of some threads, of which nobody knows what it is in others.
fn hoist_what_crosses(kernel: Value, barriers: &[Value]) {
    let Some(flow) = ControlFlow::of(kernel) else {
        return;
    };
    // How many barriers come before each instruction.
    let mut passed: HashMap<Value, usize> = HashMap::new();
    for block in kernel.blocks() {
        let dominating =
            |barrier: &&Value| barrier.block() != block && flow.dominates(barrier.block(), block);
        let mut number = barriers.iter().filter(dominating).count();
        for instruction in block.instructions() {
            number += usize::from(barriers.contains(&instruction));
            passed.insert(instruction, number);
        }
    }
    for instruction in kernel.instructions() {
        let crosses = |user: Value| passed.get(&user) > passed.get(&instruction);
        if instruction.users().into_iter().any(crosses) {
            hoist(instruction, &flow);
        }
    }
}

/// Moves a computation up to where the last of its operands is known, once these are moved as far.
fn hoist(value: Value, flow: &ControlFlow) {
    if !is_of_no_effect(value) {
        return;
    }
    let mut latest = flow.blocks().next();
    for operand in value.operands() {
        if operand.is_instruction() {
            hoist(operand, flow);
            let block = Some(operand.block());
            latest = latest
                .into_iter()
                .chain(block)
                .max_by_key(|block| flow.depth(*block));
        }
    }
    let end = latest
        .filter(|block| *block != value.block())
        .and_then(Block::terminator);
    if let Some(end) = end {
        value.move_before(end);
    }
}

/// Whether any thread may compute a value, and all get the same of the same operands.
fn is_of_no_effect(value: Value) -> bool {
    let is_cast = matches!(
        value.opcode(),
        Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMFreeze)
    );
    let name = value.called_name();
    let register = name.as_deref().and_then(|name| name.strip_prefix(REGISTER));
    let is_index = register.is_some_and(|name| {
        let indices = ["tid.", "ntid.", "ctaid.", "nctaid.", "laneid"];
        indices.iter().any(|index| name.starts_with(index))
    });
    is_cast || is_index || is_arithmetic(value)
}

/// Gives each barrier a block that all threads come to. No value leaves its block but addresses of variables.
fn join<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    joins: &[Block<'ctx>],
    new_variables: &[Value<'ctx>],
) {
    let Some(entry) = kernel.blocks().first().copied() else {
        return;
    };
    let behind = |join: &Block<'ctx>| join.successors()[0];
    let starts: Vec<Block> = std::iter::once(entry)
        .chain(joins.iter().map(behind))
        .collect();
    let mut regions: Vec<Vec<Block>> = Vec::new();
    for start in &starts {
        regions.push(reached(*start, |block| joins.contains(&block)));
    }
    let copies = copy_shared(kernel, &mut regions, joins);
    for (region, copies) in regions.iter().zip(&copies) {
        for block in region {
            for (original, copy) in copies {
                block.redirect(*original, *copy);
            }
        }
    }
    let truth = |is_true: bool| Type::integer(module, 1).constant(u64::from(is_true));
    let goes_on = allocate(entry, new_variables, truth(true));
    for (number, region) in regions.iter().enumerate().take(joins.len()) {
        for block in region {
            let end = block
                .terminator()
                .filter(|end| end.opcode() == Some(Opcode::LLVMRet));
            if let Some(end) = end {
                let builder = Builder::before(end);
                builder.store(truth(false), goes_on);
                builder.branch(joins[number]);
                end.erase();
            }
        }
    }
    let end = Block::append(kernel, "");
    Builder::at_end(end).ret(None);
    for (number, join) in joins.iter().enumerate() {
        let Some(jump) = join.terminator() else {
            continue;
        };
        let builder = Builder::before(jump);
        let still = builder.load(truth(true).ty(), goes_on);
        let past = joins.get(number + 1).copied().unwrap_or(end);
        builder.branch_if(still, starts[number + 1], past);
        jump.erase();
    }
}

/// A variable that is true at first. What else is new may hold anything until it is set: who did not come to the place that
/// sets it does not come to one that reads it either.
fn allocate<'ctx>(
    entry: Block<'ctx>,
    new_variables: &[Value<'ctx>],
    truth: Value<'ctx>,
) -> Value<'ctx> {
    for variable in new_variables {
        let ty = variable.allocated_type();
        Builder::after(*variable).store(ty.poison(), *variable);
    }
    let first = entry.instructions()[0];
    let builder = Builder::before(first);
    let goes_on = builder.alloca(truth.ty());
    builder.store(truth, goes_on);
    goes_on
}

/// Has those who bring nothing to a phi bring zero: what means nothing is looked for later, as a fault of the program.
fn settle_phis(kernel: Value) {
    for phi in kernel.blocks().into_iter().flat_map(Block::phis) {
        for (index, (value, _)) in (0..).zip(phi.incoming()) {
            if value.is_undefined() {
                phi.set_operand(index, phi.ty().zero());
            }
        }
    }
}

/// A block with nothing but a barrier, and what led to it led to.
fn set_apart(barrier: Value) -> Block {
    let block = barrier.block();
    let place = block
        .instructions()
        .iter()
        .position(|each| *each == barrier);
    block.split_head(place.unwrap_or(0));
    block.split_head(1)
}

/// Gives each region copies of the blocks that it shares with one before, which go where these go. Returns them by region,
/// each with what it is a copy of.
fn copy_shared<'ctx>(
    kernel: Value<'ctx>,
    regions: &mut [Vec<Block<'ctx>>],
    joins: &[Block<'ctx>],
) -> Vec<Vec<(Block<'ctx>, Block<'ctx>)>> {
    let mut taken: HashSet<Block> = HashSet::new();
    let mut all = Vec::new();
    for (number, region) in regions.iter_mut().enumerate() {
        let mut copies = Vec::new();
        for block in region.iter_mut().filter(|block| !taken.insert(**block)) {
            let copy = Block::append(kernel, "");
            if let Some(next) = joins.get(number) {
                copy.move_before(*next);
            }
            copy_instructions(*block, copy);
            copies.push((*block, copy));
            *block = copy;
        }
        all.push(copies);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::passes::device_machine;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    const DECLARATIONS: &str = "
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
";

    /// Whether a kernel of this body is changed, after which all of its barriers are on all ways.
    fn is_changed(body: &str) -> bool {
        let context = Context::create();
        let text = format!(
            "{DECLARATIONS}define ptx_kernel void @kernel(ptr %p, i32 %n) {{\n{body}}}\n\0"
        );
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "case");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        let kernel = Value::function(&module, "kernel").expect("it is there");
        let machine = device_machine(80).expect("LLVM has it");
        let changed = let_ended_threads_wait(&module, kernel, &machine).expect("LLVM's passes");
        module.verify().expect("valid afterwards");
        let barriers = kernel
            .instructions()
            .into_iter()
            .filter(|at| is_barrier(*at));
        for barrier in barriers.filter(|_| changed) {
            let entry = kernel.blocks()[0];
            let around = reached(entry, |block| block == barrier.block());
            let ends = |block: &Block| block.successors().is_empty();
            assert!(
                entry == barrier.block() || !around.iter().any(ends),
                "{}",
                module.to_string()
            );
        }
        assert_eq!(
            text.contains("poison"),
            module.to_string().contains("poison")
        );
        changed
    }

    #[test]
    fn threads_that_have_ended_wait_at_each_barrier() {
        // By halves, with a value of those that go on.
        assert!(is_changed(
            "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = icmp ult i32 %t, 64
  br i1 %a, label %half, label %end
half:
  %v = load i32, ptr %p
  %at = getelementptr i32, ptr %p, i32 %t
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %v, ptr %at
  %b = icmp ult i32 %t, 32
  br i1 %b, label %quarter, label %end
quarter:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %t, ptr %at
  br label %end
end:
  ret void
"
        ));
        // What they do before they end is done before they wait; a shared end is written for each barrier.
        assert!(is_changed(
            "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = icmp ult i32 %t, %n
  br i1 %a, label %work, label %last
work:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %last
last:
  %v = phi i32 [ 1, %0 ], [ 2, %work ]
  store i32 %v, ptr %p
  ret void
"
        ));
    }

    #[test]
    fn a_kernel_stays_where_all_come_or_lanes_speak_with_each_other() {
        let behind = |condition: &str, work: &str| {
            format!(
                "  %t = call i32 @llvm.nvvm.read.ptx.sreg.{condition}.x()
  %a = icmp ult i32 %t, %n
  br i1 %a, label %work, label %end
work:
{work}  br label %end
end:
  ret void
"
            )
        };
        let barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
        assert!(is_changed(&behind("tid", barrier)));
        assert!(!is_changed(&behind("ctaid", barrier)), "whole blocks end");
        assert!(
            !is_changed(&behind("tid", "  store i32 1, ptr %p\n")),
            "nobody waits"
        );
        for other in [
            "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n",
            "  %c = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 true)\n",
            "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 1)\n",
            "  call void asm sideeffect \"exit;\", \"\"()\n",
        ] {
            assert!(
                !is_changed(&behind("tid", &format!("{barrier}{other}"))),
                "{other}"
            );
        }
        let in_loop = "  br label %again
again:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load volatile i32, ptr %p
  %more = icmp eq i32 %v, 0
  br i1 %more, label %again, label %leave
leave:
";
        assert!(!is_changed(&behind("tid", in_loop)));
    }
}
