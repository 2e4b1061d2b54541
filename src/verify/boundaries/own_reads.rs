//! Loads of a cooperative launch that find what their own thread stored, or what nobody writes.
//!
//! A grid-wide barrier lets a thread see what all others wrote. Where of all that members of the launch write nothing but
//! what the thread itself wrote can be what a load reads, the load finds in front of the barrier what it finds behind it, so
//! that a value that the thread stored there may stay in a register. Threads of two members are one where these have one grid
//! and one block: each block of the launch runs the blocks of equal numbers of both, and their threads likewise. Where grids or blocks
//! may differ, nothing that the one writes may be what the other reads.
//!
//! Where a host loop that ends by what it copies is in the kernel, that holds for the members of one iteration, as long as no pointer
//! and no number by which places are told are others in the next: guards were tested in front of the first. Where launches follow each
//! other in a kernel of the queue, each of them was tested.
//!
//! *From iteration to iteration* a load finds what its own thread stored or loaded in an earlier one where of any two iterations, one
//! behind the other, nothing that others write in either is what it reads in the later one. For that the two are judged as one group
//! (`persistent`), each with numbers of its own. Since they are any two, what others wrote in an iteration between is among it.

use super::super::conflict::Answers;
use super::super::device::{conflicts, global_access_numbers};
use super::super::emptiness::Allowance;
use super::super::handed_on::{Pairs, handed_on_in_loop, handed_on_in_one};
use super::super::persistent::{Sequence, sequences};
use super::super::segments::Kept;
use super::super::{OwnReads, Site};
use crate::kernel::{Access, AccessKind, KernelModel, KernelSymbol, Target};
use crate::launch::{LaunchGraph, LaunchId};
use crate::math::expression::Expression;
use crate::schedule::{FusionGroup, FusionPlan, PersistentLoop, TestedLoop};
use std::collections::{BTreeMap, BTreeSet};

/// For so many pairs of accesses of a group it is asked at most.
pub(super) const MOST_PAIRS: usize = 600;
/// So many conjunctions isl is asked about for one of these findings at most. Programs of the tests take up to 300; one with
/// nineteen places a cell would take minutes.
pub(in crate::verify) const MOST_CONJUNCTIONS: u64 = 2000;

/// By group, for each finding of which isl is asked about so many conjunctions at most, the members and arguments by which loads read only what nobody but their own thread writes: in the launch, or in an
/// iteration, where a member in front of a barrier may have stored it; and in all iterations that the launch may run.
pub(in crate::verify) fn own_reads(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    plan: &FusionPlan,
    groups: &[(usize, &FusionGroup, Vec<Site<'_>>)],
    answers: &mut Answers,
    conjunctions: u64,
) -> BTreeMap<usize, OwnReads> {
    let mut found = BTreeMap::new();
    for (number, group, sites) in groups {
        if !group.is_cooperative() {
            continue;
        }
        let of_loop = group.tested_loop.as_ref();
        let changes = of_loop.is_some_and(|own| changes(own, sites));
        let within = match group.grid_barriers.is_empty() || changes {
            true => BTreeSet::new(),
            false => in_one(graph, group, sites, answers, &Allowance::of(conjunctions)),
        };
        let places = of_loop.map(TestedLoop::places);
        let places = places.as_ref().or_else(|| in_queue(plan, group));
        let across = match places {
            Some(places) => in_all((graph, kernels), group, sites, places, conjunctions),
            None => BTreeSet::new(),
        };
        let (in_blocks, in_blocks_across) = match places {
            Some(places) => handed_on_in_loop((graph, kernels), group, sites, places, conjunctions),
            None => {
                let allowance = Allowance::of(conjunctions);
                let pairs = handed_on_in_one(graph, group, sites, answers, &allowance);
                (pairs, Pairs::new())
            }
        };
        let own = OwnReads {
            within,
            across,
            in_blocks,
            in_blocks_across,
        };
        if own.any() {
            found.insert(*number, own);
        }
    }
    found
}

/// How launches of a group follow each other in a kernel of the queue, if they do.
fn in_queue<'a>(plan: &'a FusionPlan, group: &FusionGroup) -> Option<&'a PersistentLoop> {
    let regions = plan.batched_regions.iter();
    let mut statements = regions.flat_map(|region| &region.statements);
    let last = group.members.last()?.launch;
    let own = statements.find(|each| each.launch == last)?;
    own.persistent.as_ref()
}

/// Whether of an access alone it is known that it finds what the model says.
pub(super) fn is_odd(access: &Access) -> bool {
    access.volatile || access.asynchronous
}

/// Reads, and by which argument they are made.
pub(super) fn reads<'a>(
    sites: &'a [Site<'_>],
) -> impl Iterator<Item = ((usize, usize), usize)> + 'a {
    accesses(sites).filter_map(|(at, access)| match access.target {
        Target::Argument {
            argument,
            offset_bytes: 0,
        } if access.kind == AccessKind::Read => Some((at, argument)),
        _ => None,
    })
}

/// Where something is written.
pub(super) fn writes(sites: &[Site<'_>]) -> Vec<(usize, usize)> {
    let writes = accesses(sites).filter(|(_, access)| access.kind != AccessKind::Read);
    writes.map(|(at, _)| at).collect()
}

/// All accesses of members to global memory, by member and number.
pub(super) fn accesses<'a>(
    sites: &'a [Site<'_>],
) -> impl Iterator<Item = ((usize, usize), &'a Access)> {
    sites.iter().enumerate().flat_map(|(member, site)| {
        let numbers = global_access_numbers(site.model);
        numbers.map(move |number| ((member, number), &site.model.accesses[number]))
    })
}

/// The members and arguments of a group whose launches or iterations follow each other in one kernel by which loads read only what
/// nobody but their own thread writes in any of them.
fn in_all(
    (graph, kernels): (&LaunchGraph, &[KernelModel]),
    group: &FusionGroup,
    sites: &[Site<'_>],
    places: &PersistentLoop,
    conjunctions: u64,
) -> BTreeSet<(usize, usize)> {
    let all = reads(sites).map(|((member, _), argument)| (member, argument));
    let mut own: BTreeSet<(usize, usize)> = all.collect();
    let Ok(sequences) = sequences(graph, group, sites, places) else {
        return BTreeSet::new();
    };
    for sequence in sequences {
        let allowance = Allowance::of(conjunctions);
        own = &own - &written_by_others(&sequence, kernels, sites.len(), &allowance);
    }
    own
}

/// Members and arguments by which the last of some launches of a group may read what other threads write in any of them.
fn written_by_others(
    sequence: &Sequence,
    kernels: &[KernelModel],
    members: usize,
    allowance: &Allowance,
) -> BTreeSet<(usize, usize)> {
    let sites = sequence.sites(kernels);
    let first = sites.len().saturating_sub(members);
    let of_last = reads(&sites).filter(|((member, _), _)| *member >= first);
    let of_last: Vec<((usize, usize), usize)> = of_last.collect();
    let writes = writes(&sites);
    let key = |(member, _): (usize, usize), argument: usize| (member - first, argument);
    let all = || of_last.iter().map(|(at, argument)| key(*at, *argument));
    if of_last.len() * writes.len() > MOST_PAIRS {
        return all().collect();
    }
    let mut other = BTreeSet::new();
    let mut answers = Answers::default();
    let (graph, group) = sequence.group();
    let against = conflicts(
        graph,
        group,
        &sites,
        &mut answers,
        Some(allowance),
        &mut |judge| {
            for (read, argument) in &of_last {
                let key = key(*read, *argument);
                let conflicts = |write: &(usize, usize)| judge([*write, *read], Kept::InThreads);
                let odd = is_odd(&sites[read.0].model.accesses[read.1]);
                if !other.contains(&key)
                    && (odd || writes.iter().any(|write| conflicts(write).is_some()))
                {
                    other.insert(key);
                }
            }
        },
    );
    match against.is_empty() {
        true => other,
        false => all().collect(),
    }
}

/// Whether places are told by what is another in each iteration.
fn changes(of_loop: &TestedLoop, sites: &[Site<'_>]) -> bool {
    let tells = |(launch, number): &(LaunchId, usize)| {
        let mut own = sites.iter().filter(|site| site.launch.id == *launch);
        let is_it = |symbol: &KernelSymbol| matches!(symbol, KernelSymbol::Argument { argument, .. } if argument == number);
        let mut others =
            |symbol: &KernelSymbol| (!is_it(symbol)).then(|| Expression::Leaf(symbol.clone()));
        own.any(|site| {
            let mut told = site.model.parameters.iter();
            told.any(|each| each.substitute(&mut others).is_none())
        })
    };
    !of_loop.turning.is_empty() || of_loop.varying.iter().any(tells)
}

/// The members and arguments by which loads find what their own thread stored in front of a barrier of the same launch or iteration.
fn in_one(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
    answers: &mut Answers,
    allowance: &Allowance,
) -> BTreeSet<(usize, usize)> {
    let access =
        |(member, number): (usize, usize)| -> &Access { &sites[member].model.accesses[number] };
    let writes = writes(sites);
    let reads: Vec<((usize, usize), usize)> = reads(sites).collect();
    if reads.len() * writes.len() > MOST_PAIRS {
        return BTreeSet::new();
    }
    let phase = |member: usize| {
        let mut phases = group.phases().into_iter();
        phases.position(|phase| phase.contains(&member))
    };
    let mut own: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut other: BTreeSet<(usize, usize)> = BTreeSet::new();
    let against = conflicts(
        graph,
        group,
        sites,
        answers,
        Some(allowance),
        &mut |judge| {
            for (read, argument) in &reads {
                let key = (read.0, *argument);
                let mut writes = writes.iter();
                if is_odd(access(*read))
                    || writes
                        .clone()
                        .any(|write| judge([*write, *read], Kept::InThreads).is_some())
                {
                    other.insert(key);
                } else if writes.any(|write| {
                    phase(write.0) < phase(read.0) && judge([*write, *read], Kept::Lost).is_some()
                }) && !allowance.is_spent()
                {
                    own.insert(key);
                }
            }
        },
    );
    match against.is_empty() {
        true => &own - &other,
        false => BTreeSet::new(),
    }
}
