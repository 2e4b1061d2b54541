//! Loads of a cooperative launch that find what their own thread stored, or what nobody writes.
//!
//! A grid-wide barrier lets a thread see what all others wrote. Where of all that members of the launch write nothing but
//! what the thread itself wrote can be what a load reads, the load finds in front of the barrier what it finds behind it, so
//! that a value that the thread stored there may stay in a register. Threads of two members are one where these have one grid
//! and one block: each block of the launch runs the blocks of equal numbers of both, and their threads likewise. Where grids or blocks
//! may differ, nothing that the one writes may be what the other reads.
//!
//! Where a host loop that ends by what it copies is in the kernel, that holds for the members of one iteration, as long as no pointer
//! and no number by which places are told are others in the next: guards were tested in front of the first. Of launches that follow each
//! other in a kernel of the queue nothing is said.

use super::super::conflict::Answers;
use super::super::device::{conflicts, global_access_numbers};
use super::super::segments::Kept;
use super::super::{OwnReads, Site};
use crate::kernel::{Access, AccessKind, KernelSymbol, Target};
use crate::launch::{LaunchGraph, LaunchId};
use crate::math::expression::Expression;
use crate::schedule::{FusionGroup, FusionPlan, TestedLoop};
use std::collections::BTreeSet;

/// For so many pairs of accesses of a group it is asked at most.
const MOST_PAIRS: usize = 600;

/// By group, the members and arguments by which loads read only what nobody but their own thread writes in the launch, where a
/// member in front of a barrier may have stored it.
pub(in crate::verify) fn own_reads(
    graph: &LaunchGraph,
    plan: &FusionPlan,
    groups: &[(usize, &FusionGroup, Vec<Site<'_>>)],
    answers: &mut Answers,
) -> OwnReads {
    let regions = plan.batched_regions.iter();
    let statements = || regions.clone().flat_map(|region| &region.statements);
    let mut found = OwnReads::new();
    for (number, group, sites) in groups {
        let is_own = |launch| group.members.iter().any(|member| member.launch == launch);
        let repeats = statements().any(|each| each.persistent.is_some() && is_own(each.launch));
        let changes = group
            .tested_loop
            .as_ref()
            .is_some_and(|own| changes(own, sites));
        if group.grid_barriers.is_empty() || repeats || changes {
            continue;
        }
        let own = of_group(graph, group, sites, answers);
        if !own.is_empty() {
            found.insert(*number, own);
        }
    }
    found
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

fn of_group(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
    answers: &mut Answers,
) -> BTreeSet<(usize, usize)> {
    let all = || {
        let members = sites.iter().enumerate();
        members.flat_map(|(member, site)| {
            let numbers = global_access_numbers(site.model);
            numbers.map(move |number| (member, number))
        })
    };
    let access =
        |(member, number): (usize, usize)| -> &Access { &sites[member].model.accesses[number] };
    let writes: Vec<(usize, usize)> = all()
        .filter(|at| access(*at).kind != AccessKind::Read)
        .collect();
    let reads = all().filter_map(|at| match access(at).target {
        Target::Argument {
            argument,
            offset_bytes: 0,
        } if access(at).kind == AccessKind::Read => Some((at, argument)),
        _ => None,
    });
    let reads: Vec<((usize, usize), usize)> = reads.collect();
    if reads.len() * writes.len() > MOST_PAIRS {
        return BTreeSet::new();
    }
    let phase = |member: usize| {
        let mut phases = group.phases().into_iter();
        phases.position(|phase| phase.contains(&member))
    };
    let mut own: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut other: BTreeSet<(usize, usize)> = BTreeSet::new();
    let against = conflicts(graph, group, sites, answers, &mut |judge| {
        for (read, argument) in &reads {
            let key = (read.0, *argument);
            let odd = access(*read).volatile || access(*read).asynchronous;
            let mut writes = writes.iter();
            if odd
                || writes
                    .clone()
                    .any(|write| judge([*write, *read], Kept::InThreads).is_some())
            {
                other.insert(key);
            } else if writes.any(|write| {
                phase(write.0) < phase(read.0) && judge([*write, *read], Kept::Lost).is_some()
            }) {
                own.insert(key);
            }
        }
    });
    match against.is_empty() {
        true => &own - &other,
        false => BTreeSet::new(),
    }
}
