//! Stores of a cooperative launch whose values threads of a block may hand to each other in place of memory.
//!
//! What a thread stores may be looked up elsewhere than in memory until somebody writes there again. Judged are the stores that
//! a member makes by one argument. No two threads of the launch make them to a common byte, and from their phase to the end of that of a
//! load nobody else writes there: no other thread, and their own thread by no other argument and in no other member. Only what their own
//! thread has written before them in the same phase they write again. Whether a load then reads what a thread of its block stored is no
//! matter here: the kernel compares addresses.
//!
//! Where iterations of a host's loop follow each other in the kernel, an iteration and the next one are judged as members of one group
//! (`persistent`), for each place that pointers have by turns.

use super::super::Site;
use super::super::conflict::Answers;
use super::super::device::conflicts;
use super::super::emptiness::Allowance;
use super::super::own_reads::{MOST_PAIRS, accesses, is_odd, reads, writes};
use super::super::persistent::sequences;
use super::super::segments::Kept;
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::LaunchGraph;
use crate::schedule::{FusionGroup, PersistentLoop};
use std::collections::{BTreeMap, BTreeSet};

/// By member and argument of stores, those of loads that may read what was stored.
pub(in crate::verify) type Pairs = BTreeMap<(usize, usize), BTreeSet<(usize, usize)>>;

/// What becomes of the stores by an argument.
struct Course {
    /// The first phase in which somebody else may write there.
    end: usize,
    /// By phase, member and argument, what may read there.
    reads: BTreeSet<(usize, usize, usize)>,
}

/// The pairs of a launch of a group that is no loop.
pub(in crate::verify) fn handed_on_in_one(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
    answers: &mut Answers,
    allowance: &Allowance,
) -> Pairs {
    let mut found = Pairs::new();
    for (stores, course) in courses((graph, group), sites, answers, sites.len(), allowance) {
        let reads = course.reads.iter();
        let in_time = reads.filter(|(phase, ..)| *phase < course.end);
        let loads: BTreeSet<_> = in_time.map(|(_, member, own)| (*member, *own)).collect();
        if !loads.is_empty() {
            found.insert(stores, loads);
        }
    }
    found
}

/// The pairs of one iteration, and those of which the load is in the next one.
pub(in crate::verify) fn handed_on_in_loop(
    (graph, kernels): (&LaunchGraph, &[KernelModel]),
    group: &FusionGroup,
    sites: &[Site<'_>],
    places: &PersistentLoop,
    conjunctions: u64,
) -> (Pairs, Pairs) {
    let Ok(sequences) = sequences(graph, group, sites, places) else {
        return Default::default();
    };
    // What holds for one place of pointers has to hold for all.
    let mut all: Option<BTreeMap<(usize, usize), Course>> = None;
    for sequence in sequences {
        let own_sites = sequence.sites(kernels);
        let mut answers = Answers::default();
        let allowance = Allowance::of(conjunctions);
        let first = sites.len();
        let found = courses(
            sequence.group(),
            &own_sites,
            &mut answers,
            first,
            &allowance,
        );
        all = Some(match all {
            None => found,
            Some(before) => before
                .into_iter()
                .filter_map(|(stores, mut course)| {
                    let other = found.get(&stores)?;
                    course.end = course.end.min(other.end);
                    course.reads.extend(&other.reads);
                    Some((stores, course))
                })
                .collect(),
        });
    }
    let (mut within, mut across) = (Pairs::new(), Pairs::new());
    for (stores, course) in all.unwrap_or_default() {
        for (phase, member, argument) in course.reads {
            if phase >= course.end {
                continue;
            }
            let (pairs, member) = match member.checked_sub(sites.len()) {
                None => (&mut within, member),
                Some(of_next) if of_next < sites.len() => (&mut across, of_next),
                Some(_) => continue,
            };
            pairs.entry(stores).or_default().insert((member, argument));
        }
    }
    (within, across)
}

/// What becomes of what the first members of a group store, by member and argument.
fn courses(
    (graph, group): (&LaunchGraph, &FusionGroup),
    sites: &[Site<'_>],
    answers: &mut Answers,
    first: usize,
    allowance: &Allowance,
) -> BTreeMap<(usize, usize), Course> {
    let writes = writes(sites);
    let reads: Vec<((usize, usize), usize)> = reads(sites).collect();
    let mut stores: BTreeMap<(usize, usize), Vec<(usize, usize)>> = BTreeMap::new();
    let mut odd: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (at, access) in accesses(&sites[..first]) {
        let Target::Argument {
            argument,
            offset_bytes: 0,
        } = access.target
        else {
            continue;
        };
        match access.kind {
            AccessKind::Read => {}
            AccessKind::Write if !is_odd(access) => {
                stores.entry((at.0, argument)).or_default().push(at);
            }
            _ => drop(odd.insert((at.0, argument))),
        }
    }
    stores.retain(|key, _| !odd.contains(key));
    let phases = group.phases();
    let mut found = BTreeMap::new();
    let count: usize = stores.values().map(Vec::len).sum();
    if phases.len() < 2 || count * (reads.len() + writes.len()) > MOST_PAIRS {
        return found;
    }
    let against = conflicts(
        graph,
        group,
        sites,
        answers,
        Some(allowance),
        &mut |judge| {
            let in_order = |one: (usize, usize), other: (usize, usize)| match one.0 <= other.0 {
                true => [one, other],
                false => [other, one],
            };
            for (key, own) in &stores {
                let meet = |other: (usize, usize), kept: Kept| {
                    let mut own = own.iter();
                    own.any(|store| judge(in_order(*store, other), kept).is_some())
                };
                let Some(home) = phases.iter().position(|phase| phase.contains(&key.0)) else {
                    continue;
                };
                let is_written = |phase: usize| {
                    let others = writes.iter().filter(|at| phases[phase].contains(&at.0));
                    let mut others = others.filter(|at| !own.contains(at));
                    others.any(|write| match phase == home && write.0 < key.0 {
                        true => meet(*write, Kept::InThreads),
                        false => meet(*write, Kept::Lost),
                    })
                };
                if own.iter().any(|store| meet(*store, Kept::InThreads)) || is_written(home) {
                    continue;
                }
                let mut later = home + 1..phases.len();
                let end = later.find(|phase| is_written(*phase));
                let end = end.unwrap_or(phases.len());
                let mut course = Course {
                    end,
                    reads: BTreeSet::new(),
                };
                for (phase, members) in phases.iter().enumerate().take(end).skip(home + 1) {
                    for (read, argument) in reads.iter().filter(|(at, _)| members.contains(&at.0)) {
                        let access = &sites[read.0].model.accesses[read.1];
                        if !is_odd(access) && meet(*read, Kept::Lost) {
                            course.reads.insert((phase, read.0, *argument));
                        }
                    }
                }
                // Once it is spent, all may be read as well as written.
                if !allowance.is_spent() {
                    found.insert(*key, course);
                }
            }
        },
    );
    match against.is_empty() {
        true => found,
        false => BTreeMap::new(),
    }
}
