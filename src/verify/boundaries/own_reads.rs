//! Loads of a cooperative launch that find what their own thread stored, or what nobody writes.
//!
//! A grid-wide barrier lets a thread see what all others wrote. Where of all that members of the launch write nothing but
//! what the thread itself wrote can be what a load reads, the load finds in front of the barrier what it finds behind it, so
//! that a value that the thread stored there may stay in a register. Threads of two members are one where these have one grid
//! and one block: each block of the launch runs the blocks of equal numbers of both, and their threads likewise. Where grids or blocks
//! may differ, nothing that the one writes may be what the other reads.
//!
//! Where iterations of a host loop follow each other in the kernel, pointers are others each time: nothing is said of these.

use super::super::conflict::Answers;
use super::super::device::{conflicts, global_access_numbers};
use super::super::segments::Kept;
use super::super::{OwnReads, Site};
use crate::kernel::{Access, AccessKind, Target};
use crate::launch::LaunchGraph;
use crate::schedule::{FusionGroup, FusionPlan};
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
        let repeats = group.tested_loop.is_some()
            || statements().any(|each| each.persistent.is_some() && is_own(each.launch));
        if group.grid_barriers.is_empty() || repeats {
            continue;
        }
        let own = of_group(graph, group, sites, answers);
        if !own.is_empty() {
            found.insert(*number, own);
        }
    }
    found
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
