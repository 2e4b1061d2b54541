//! Host loops rotated behind launches: an iteration then begins behind the launches that it began with, and ends with
//! those of the next one.
//!
//! `for (…) { first; others; last; }` becomes `if (…) { first; for (;;) { others; last; if (!…) break; first; } }`, so that
//! `last` and the `first` of the next iteration stand one after the other in the same iteration. This is LLVM's rotation of
//! loops, with all that comes before a launch in place of a header's test alone. The host does the same in the same order.
//!
//! Invariant: what is written twice afterwards is what the loop did before it came to the last of these launches; nothing
//! else is moved, and what cannot be written twice keeps its loop as it is.

use super::super::super::block_copies::{
    MOST_INSTRUCTIONS, VALUES_TO_MEMORY, compute_again_behind, copy_instructions, forget_scopes,
    is_copyable, may_stand_twice, redirect, split_behind,
};
use super::super::super::launches::{self, is_launch};
use super::super::super::loop_ends::{Counter, LoopEnd, Marks};
use super::super::super::loops::{Loop, innermost, loops};
use super::super::super::{ProgramError, canonicalise_host, passes};
use crate::llvm::{Block, ControlFlow, Opcode, Value};
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use std::collections::{HashMap, HashSet};

/// A host module with rotated loops.
#[derive(Debug)]
pub struct RotatedHost<'ctx> {
    /// The module, canonical, its launch sites numbered anew.
    pub host: Module<'ctx>,
    /// By loop: the launch sites that stand in front of it.
    pub prologues: Vec<Vec<u32>>,
    /// By loop: the launch sites at its end, each of the iteration that comes next.
    pub of_next_iteration: Vec<Vec<u32>>,
    /// By loop whose last iteration ends with what stands behind it, or stands by itself: its launch sites.
    pub ends: Vec<SplitSites>,
}

/// Launch sites at the end of a loop whose last iteration ends with what stands behind the loop.
#[derive(Debug)]
pub struct SplitSites {
    /// At the end of an iteration that another one follows.
    pub before_last: Vec<u32>,
    /// At the end of the last iteration.
    pub last: Vec<u32>,
    /// Behind the last iteration.
    pub behind: Vec<u32>,
    /// The same for who comes there by another way.
    pub past: Vec<u32>,
}

/// A copy of a canonical host module in which innermost loops are rotated behind launch sites, one for each loop, in the
/// order of the result. A loop that cannot be rotated stays, and has no sites in the result. `ends` are pairs of sites: one in
/// a loop whose last iteration is to end with what stands behind the loop through the other one. `sums` are the only launches of
/// their loops: the last two iterations, or the only one, are to be written by themselves. They come behind the `ends` in the
/// result.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses a pipeline or the new module.
pub(in crate::program) fn rotate<'ctx>(
    host: &Module<'ctx>,
    behind: &[u32],
    ends: &[(u32, u32)],
    sums: &[u32],
) -> Result<RotatedHost<'ctx>, ProgramError> {
    let host = host.clone();
    let machine = passes::host_machine()?;
    let marks = EndMarks {
        rotated: behind.len(),
    };
    let sites = launches::sites(&host).into_iter();
    let in_functions: HashSet<Value> = sites.map(Value::function_of_instruction).collect();
    let mut functions = Value::functions(&host);
    functions.retain(|function| in_functions.contains(function));
    for function in functions {
        rotate_in((&host, function), (behind, ends), marks, &machine)?;
        for (index, site) in sums.iter().enumerate() {
            write_out_ends(
                (&host, function),
                *site,
                marks.of(ends.len() + index),
                &machine,
            )?;
        }
    }
    let rotated = behind.len();
    let prologues = (0..rotated).map(|index| marked(&host, prologue_mark(index)));
    let prologues = prologues.collect();
    let of_next_iteration = (0..rotated).map(|index| marked(&host, next_mark(index)));
    let of_next_iteration = of_next_iteration.collect();
    let ends = (0..ends.len() + sums.len()).map(|index| {
        let marks = marks.of(index);
        SplitSites {
            before_last: marked(&host, marks.before_last),
            last: marked(&host, marks.last),
            behind: marked(&host, marks.behind),
            past: marked(&host, marks.past),
        }
    });
    let ends = ends.collect();
    launches::number_sites(&host);
    passes::verify(&host, "rotating host loops")?;
    Ok(RotatedHost {
        host,
        prologues,
        of_next_iteration,
        ends,
    })
}

/// Rotates the loops of a function, after their ends were written by themselves.
fn rotate_in<'ctx>(
    (host, function): (&Module<'ctx>, Value<'ctx>),
    (behind, ends): (&[u32], &[(u32, u32)]),
    marks: EndMarks,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    let launches = function.instructions().into_iter().filter_map(|each| {
        let site = is_launch(each).then(|| each.operands()[0].signed_integer());
        Some((u32::try_from(site.flatten()?).ok()?, each))
    });
    let launches: HashMap<u32, Value> = launches.collect();
    let sites = behind.iter().enumerate();
    let sites = sites.filter_map(|(index, site)| Some((index, *launches.get(site)?)));
    let sites: Vec<(usize, Value)> = sites.collect();
    let pairs = ends.iter().enumerate();
    let pairs = pairs.filter_map(|(index, (from, through))| {
        Some((index, (*launches.get(from)?, *launches.get(through)?)))
    });
    let pairs: Vec<(usize, (Value, Value))> = pairs.collect();
    if sites.is_empty() && pairs.is_empty() || !is_copyable(function) {
        return Ok(());
    }
    forget_scopes(function);
    let flow = ControlFlow::of(function);
    let loops = flow.as_ref().map(loops);
    loops.iter().flatten().for_each(count_upwards);
    let pairs = pairs.into_iter();
    let pairs = pairs
        .filter_map(|(index, pair)| {
            Some((index, LoopEnd::prepare(function, (pair.0, Some(pair.1)))?))
        })
        .collect::<Vec<(usize, LoopEnd)>>();
    // Afterwards values that leave their blocks do so through memory.
    for (_, site) in &sites {
        compute_again_behind(function, *site);
    }
    for (index, end) in pairs {
        passes::run_on_function(function, VALUES_TO_MEMORY, machine)?;
        if let Some(cut) = end.cut(function) {
            passes::run_on_function(function, VALUES_TO_MEMORY, machine)?;
            end.split((host, function), &cut, marks.of(index));
        }
    }
    for (index, site) in sites {
        passes::run_on_function(function, VALUES_TO_MEMORY, machine)?;
        if let Some(next) = split_behind(function, site) {
            passes::run_on_function(function, VALUES_TO_MEMORY, machine)?;
            rotate_loop(host, function, (site, next), index);
        }
    }
    canonicalise_host::make_canonical_as_computed(function, machine)
}

/// Has the last iteration of a loop stand by itself, with the one before it, or, where it is the first one as well, with
/// what comes before the loop.
fn write_out_ends<'ctx>(
    (host, function): (&Module<'ctx>, Value<'ctx>),
    site: u32,
    marks: Marks,
    machine: &TargetMachine,
) -> Result<(), ProgramError> {
    let found = |is_it: &dyn Fn(Value) -> bool| {
        let instructions = function.instructions().into_iter();
        let mut launches = instructions.filter(|each| is_launch(*each) && is_it(*each));
        launches.next().filter(|_| launches.next().is_none())
    };
    let launch = found(&|each| each.operands()[0].signed_integer() == Some(i64::from(site)));
    let Some(launch) = launch else {
        return Ok(());
    };
    if !is_copyable(function) {
        return Ok(());
    }
    let cut = |pair| {
        let Some(end) = LoopEnd::prepare(function, pair) else {
            return Ok(None);
        };
        passes::run_on_function(function, VALUES_TO_MEMORY, machine)?;
        let cut = end.cut(function);
        passes::run_on_function(function, VALUES_TO_MEMORY, machine)?;
        Ok::<_, ProgramError>(cut.map(|cut| (end, cut)))
    };
    forget_scopes(function);
    if let Some((end, cut)) = cut((launch, None))? {
        let alone = Marks {
            last: marks.behind,
            ..marks
        };
        let written = end.split((host, function), &cut, alone);
        if let Some(written) = written {
            written.lead_in((host, function), marks.past);
        }
    }
    canonicalise_host::make_canonical_as_computed(function, machine)?;
    let [in_loop, last] =
        [marks.before_last, marks.behind].map(|mark| found(&|each| launches::has_mark(each, mark)));
    if let Some((in_loop, last)) = in_loop.zip(last)
        && let Some((end, cut)) = cut((in_loop, Some(last)))?
    {
        end.split((host, function), &cut, marks.without_past());
    }
    canonicalise_host::make_canonical_as_computed(function, machine)
}

/// Says of counters that begin at zero or above and rise that they are above zero after a step, and of those that
/// stay below a bound that they do not wrap. Where an iteration ends with what the next one begins with, that tells what the
/// code does which treats the first iteration in another way.
fn count_upwards(of: &Loop) {
    if let Some(test) = of.header.terminator()
        && let [one, other] = test.successors()[..]
        && of.blocks.contains(&one) != of.blocks.contains(&other)
        && let Some(counter) = Counter::of(of, (test, usize::from(of.blocks.contains(&one))))
        && counter.next.parent_block() != Some(of.header)
    {
        counter.rises(counter.next);
    }
    for phi in of.header.instructions() {
        let Some((first, next)) = of.is_own_phi(phi).then(|| of.incoming(phi)).flatten() else {
            continue;
        };
        let adds = match next.operands()[..] {
            [from, step] if next.opcode() == Some(Opcode::LLVMAdd) => {
                from == phi && step.signed_integer().is_some_and(|step| step > 0)
            }
            _ => false,
        };
        // A sum of numbers that are not negative is none either, or wraps with its sign, which `nsw` rules out. So its
        // unsigned reading does not wrap.
        if adds
            && first.signed_integer().is_some_and(|first| first >= 0)
            && next.has_no_signed_wrap()
        {
            next.promise_no_unsigned_wrap();
        }
    }
}

/// Writes what comes before `next` in its loop in front of the loop as well, from where control goes to `next`.
/// Where that cannot be done, the loop stays.
fn rotate_loop(host: &Module<'_>, function: Value, (site, next): (Value, Block), index: usize) {
    let Some(around) = ControlFlow::of(function).and_then(|flow| innermost(&flow, next)) else {
        return;
    };
    let Some(before) = up_to(function, &around, (site, next)) else {
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
        .map(|block| (*block, Block::append(function, "")))
        .collect();
    for block in &before {
        let copy = blocks[block];
        copy.move_before(around.header);
        copy_instructions(*block, copy);
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
pub(in crate::program) fn up_to<'ctx>(
    function: Value<'ctx>,
    around: &Loop<'ctx>,
    (site, next): (Value<'ctx>, Block<'ctx>),
) -> Option<Vec<Block<'ctx>>> {
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
    let ends_there = site
        .parent_block()
        .is_some_and(|block| found.contains(&block));
    let only_from_there =
        next.predecessors() == site.parent_block().into_iter().collect::<Vec<_>>();
    if !ends_there || !only_from_there || found.contains(&around.latch) {
        return None;
    }
    let in_order = function.blocks().into_iter();
    Some(in_order.filter(|block| found.contains(block)).collect())
}

/// What stands for the number of a site of a rotated loop until sites are numbered.
fn prologue_mark(index: usize) -> u32 {
    launches::LAST_MARK - 2 * index as u32
}

fn next_mark(index: usize) -> u32 {
    launches::LAST_MARK - 2 * index as u32 - 1
}

/// The marks of launches at the ends of loops, besides those of rotated loops.
#[derive(Clone, Copy)]
struct EndMarks {
    rotated: usize,
}

impl EndMarks {
    fn of(self, index: usize) -> Marks {
        let mark =
            |which: usize| launches::LAST_MARK - (2 * self.rotated + 4 * index + which) as u32;
        Marks {
            before_last: mark(0),
            last: mark(1),
            behind: mark(2),
            past: mark(3),
        }
    }
}

/// The numbers that marked launches will have.
fn marked(host: &Module<'_>, mark: u32) -> Vec<u32> {
    let sites = launches::sites(host);
    (0..)
        .zip(sites)
        .filter(|(_, site)| launches::has_mark(*site, mark))
        .map(|(number, _)| number)
        .collect()
}
