//! Members that run interleaved -> one function that does what they do one after the other, waiting
//! together.
//!
//! The plan says that the members do not depend on each other in any way, so that their statements may
//! be put into any order in which each member's own keep theirs. Their skeletons are laid side by side:
//! where two have a loop of the same number of iterations, the two become one loop, in which what both
//! load from one place is loaded once; where two have a barrier, the two become one. Between that, what
//! the first does stands before what the second does.
//!
//! Invariant: the parts of each member stay in their order, each barrier of a member is one of the
//! result at its place in that order, and every part runs as often as before.

mod congruence;
mod skeleton;

use crate::codegen::CodegenError;
use crate::llvm::{Block, Builder, FUNCTION_ATTRIBUTES, Linkage, Opcode, Type, Value};
use congruence::{equal_counters, leave_together, short_iterations};
use inkwell::module::Module;
use skeleton::{Loops, Part, SingleExitLoop};

/// What puts bodies into the form that [`interleave`] takes apart.
pub(in crate::codegen::fused_kernels::fuse) const CANONICAL_FORM: &str = "function(sroa,early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg,mergereturn,loop-simplify)";

/// A function with the parameters of `kernel` that runs the bodies interleaved. The n-th body gets the
/// parameters that `places[n]` lists. The bodies are used up. `None`, and nothing done, when a body
/// has parameters in memory or more than one end.
///
/// # Errors
/// When LLVM refuses the result: our bug.
pub(in crate::codegen::fused_kernels::fuse) fn interleave<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    name: &str,
    bodies: &[(Value<'ctx>, &[usize])],
) -> Result<Option<Value<'ctx>>, CodegenError> {
    if !bodies.iter().all(|(body, _)| is_simple(*body)) {
        return Ok(None);
    }
    let Some((first, _)) = bodies.first() else {
        return Ok(None);
    };
    let ty = kernel.value_type();
    let ty = Type::function(ty.result(), &ty.parameters());
    let function = Value::add_function(module, name, ty);
    function.set_linkage(Linkage::LLVMInternalLinkage);
    first.copy_attributes(FUNCTION_ATTRIBUTES, function, FUNCTION_ATTRIBUTES);
    for attribute in ["memory", "nosync", "nofree", "willreturn", "noreturn"] {
        function.remove_attribute(FUNCTION_ATTRIBUTES, attribute);
    }
    function.add_attribute(FUNCTION_ATTRIBUTES, "convergent", 0);
    function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    let entry = Block::append(function, "entry");
    let end = Block::append(function, "end");
    Builder::at_end(end).ret(None);
    let mut partitions = Vec::new();
    for (body, places) in bodies {
        partitions.push(take_body(module, *body, places, (function, entry, end))?);
    }
    let parts = partitions.into_iter().reduce(together).unwrap_or_default();
    entry.branch_to(end);
    link(&parts, entry, 0, end);
    remove_unreachable(function, entry);
    unroll_short_loops(module, &parts);
    match function.is_valid_function() {
        true => Ok(Some(function)),
        false => Err(CodegenError::Inconsistent(format!("'{name}' is not valid"))),
    }
}

/// One end, and no parameter that a body could write.
fn is_simple(body: Value) -> bool {
    let ends = |block: &Block| {
        let terminator = block.terminator();
        terminator.is_some_and(|at| at.opcode() == Some(Opcode::LLVMRet))
    };
    let parameters = body.parameters().len() as u32;
    body.blocks().into_iter().filter(ends).count() == 1
        && (1..=parameters).all(|position| !body.has_attribute(position, "byval"))
}

/// Moves a body into the function and cuts it.
fn take_body<'ctx>(
    module: &Module<'ctx>,
    body: Value<'ctx>,
    places: &[usize],
    (function, entry, end): (Value<'ctx>, Block<'ctx>, Block<'ctx>),
) -> Result<Vec<Part<'ctx>>, CodegenError> {
    let parameters = function.parameters();
    for (own, place) in body.parameters().into_iter().zip(places) {
        own.replace_uses_with(parameters[*place]);
    }
    let blocks = body.blocks();
    let mut last = None;
    for (position, block) in blocks.iter().enumerate() {
        block.move_to(function);
        for instruction in block.instructions() {
            match instruction.opcode() {
                // A variable of the thread is made at the very beginning.
                Some(Opcode::LLVMAlloca) if position == 0 => instruction.move_to_end(entry),
                Some(Opcode::LLVMRet) => {
                    instruction.erase();
                    last = Some(*block);
                }
                _ => {}
            }
        }
    }
    body.delete_function();
    let (Some(first), Some(last)) = (blocks.first(), last) else {
        return Err(CodegenError::Inconsistent("a body has no end".to_owned()));
    };
    // Neither the first nor the last block is part of a loop then.
    let begin = Block::append(function, "");
    begin.branch_to(*first);
    let finish = Block::append(function, "");
    last.branch_to(finish);
    finish.branch_to(end);
    let mut inner = blocks.clone();
    inner.extend([begin, finish]);
    // A body that is not understood stays whole.
    let whole = || {
        vec![Part::Region {
            entry: begin,
            exit: finish,
        }]
    };
    let parts = skeleton::cut(module, &inner, begin, finish, Loops::All).or_else(|| {
        // Some loop without barriers is not understood inside.
        let inner = reached(begin, Some(finish));
        skeleton::cut(module, &inner, begin, finish, Loops::WithBarriers)
    });
    Ok(parts.unwrap_or_else(whole))
}

/// Two sequences of parts as one, with as many barriers in common as can be.
fn together<'ctx>(one: Vec<Part<'ctx>>, other: Vec<Part<'ctx>>) -> Vec<Part<'ctx>> {
    let pairs = matches(&one, &other);
    let mut merged = Vec::new();
    let (mut first, mut second) = (one.into_iter().enumerate(), other.into_iter().enumerate());
    let mut until = |parts: &mut dyn Iterator<Item = (usize, Part<'ctx>)>, stop: Option<usize>| {
        let mut found = None;
        for (position, part) in parts {
            if Some(position) == stop {
                found = Some(part);
                break;
            }
            merged.push(part);
        }
        (found, merged.len())
    };
    let mut met = Vec::new();
    for (left, right) in pairs {
        let (a, _) = until(&mut first, Some(left));
        let (b, place) = until(&mut second, Some(right));
        if let (Some(a), Some(b)) = (a, b) {
            met.push((place, a, b));
        }
    }
    until(&mut first, None);
    until(&mut second, None);
    for (place, a, b) in met.into_iter().rev() {
        let part = match (a, b) {
            (Part::Loop(a), Part::Loop(b)) => Part::Loop(Box::new(one_loop(*a, *b))),
            (a, _) => a,
        };
        merged.insert(place, part);
    }
    merged
}

/// The pairs of parts that become one, in order of both.
fn matches(one: &[Part], other: &[Part]) -> Vec<(usize, usize)> {
    // best[i][j]: what is saved in the parts from i and from j on.
    let mut best = vec![vec![0_usize; other.len() + 1]; one.len() + 1];
    let mut value = vec![vec![0_usize; other.len()]; one.len()];
    for i in (0..one.len()).rev() {
        for j in (0..other.len()).rev() {
            value[i][j] = match (&one[i], &other[j]) {
                (Part::Barrier(_), Part::Barrier(_)) => 1,
                (Part::Loop(a), Part::Loop(b)) if leave_together(a, b) => {
                    if a.waits && b.waits {
                        WAITING_LOOP
                    } else {
                        LOOP
                    }
                }
                _ => 0,
            };
            let both = match value[i][j] {
                0 => 0,
                saved => saved + best[i + 1][j + 1],
            };
            best[i][j] = both.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < one.len() && j < other.len() {
        if value[i][j] > 0 && best[i][j] == value[i][j] + best[i + 1][j + 1] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[i][j] == best[i + 1][j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// A barrier inside a loop is met more often than one outside.
const WAITING_LOOP: usize = 100;

/// What a loop loads, it loads more often than a barrier outside is met.
const LOOP: usize = 10;

fn one_loop<'ctx>(
    mut one: SingleExitLoop<'ctx>,
    other: SingleExitLoop<'ctx>,
) -> SingleExitLoop<'ctx> {
    for (kept, twin) in equal_counters(&one, &other) {
        twin.replace_uses_with(kept);
        twin.erase();
    }
    for phi in other.header.phis() {
        let incoming: Vec<_> = phi
            .incoming()
            .into_iter()
            .map(|(value, block)| {
                let begins = block == other.preheader;
                (value, if begins { one.preheader } else { one.latch })
            })
            .collect();
        phi.replace_phi(one.header, &incoming);
    }
    one.before = together(one.before, other.before);
    one.after = together(one.after, other.after);
    one.waits |= other.waits;
    one.joined += other.joined;
    one
}

/// Loops that became one are unrolled where LLVM would have unrolled each of them, though together they are
/// larger than what it unrolls.
fn unroll_short_loops(module: &Module, parts: &[Part]) {
    for part in parts {
        let Part::Loop(whole) = part else { continue };
        unroll_short_loops(module, &whole.before);
        unroll_short_loops(module, &whole.after);
        let Some(iterations) = short_iterations(whole).filter(|_| whole.joined > 1) else {
            continue;
        };
        let mut blocks = reached(whole.header, Some(whole.exit));
        blocks.retain(|block| *block != whole.exit);
        let body: usize = blocks.iter().map(|block| block.instructions().len()).sum();
        if !whole.waits
            && !has_cycle(&blocks[1..])
            && body * iterations <= MOST_UNROLLED_INSTRUCTIONS * whole.joined
            && let Some(end) = whole.latch.terminator()
        {
            end.unroll_fully(module);
        }
    }
}

/// Whether control can come back to one of these blocks without leaving them.
fn has_cycle(blocks: &[Block]) -> bool {
    let mut left = blocks.to_vec();
    loop {
        let count = left.len();
        let inside = left.clone();
        left.retain(|block| block.successors().iter().any(|to| inside.contains(to)));
        if left.len() == count {
            return count > 0;
        }
    }
}

/// LLVM unrolls a loop whose iterations have 300 instructions together, of which it does not count addresses and
/// conversions.
const MOST_UNROLLED_INSTRUCTIONS: usize = 1000;

/// Lets the parts follow each other, from `from`'s n-th way out to `to`.
fn link<'ctx>(parts: &[Part<'ctx>], mut from: Block<'ctx>, mut way: u32, to: Block<'ctx>) {
    for part in parts {
        from.set_successor(way, part.entry());
        if let Part::Loop(inner) = part {
            inner.preheader.set_successor(0, inner.header);
            link(&inner.before, inner.header, 0, inner.test);
            link(&inner.after, inner.test, 1 - inner.leaving, inner.latch);
            inner.test.set_successor(inner.leaving, inner.exit);
        }
        (from, way) = (part.exit(), 0);
    }
    from.set_successor(way, to);
}

/// Deletes what is left of parts that became one with others.
fn remove_unreachable(function: Value, entry: Block) {
    let living = reached(entry, None);
    let mut dead: Vec<Block> = function.blocks();
    dead.retain(|block| !living.contains(block));
    // Nothing that lives uses a value of theirs or comes from them by a phi.
    for block in &dead {
        for instruction in block.instructions().into_iter().rev() {
            instruction.replace_uses_with_or_nothing(instruction.ty().poison());
            instruction.erase();
        }
    }
    dead.into_iter().for_each(Block::delete);
}

/// The blocks that control comes to from one, that one first, no further than `end`.
fn reached<'ctx>(from: Block<'ctx>, end: Option<Block<'ctx>>) -> Vec<Block<'ctx>> {
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(block) = reached.get(next).copied() {
        next += 1;
        if Some(block) == end {
            continue;
        }
        for to in block.successors() {
            if !reached.contains(&to) {
                reached.push(to);
            }
        }
    }
    reached
}
