//! Members of a group -> the segments of its kernel.
//!
//! Members between which there is no path of edges may run in any order. So the strands of a group,
//! its connected parts, are laid side by side: as many members as possible stand between two barriers,
//! and where the next members of several strands have barriers at the same places inside, they become
//! one segment and run in unison, so that they wait once for all of them. Invariant: members of one strand keep their order.

use super::obstacle::Candidate;
use crate::kernel::KernelModel;
use std::collections::VecDeque;

/// The segments, as positions in `members`. `depends` tells whether the second of two members
/// depends on the first, or may; `waits_for` whether it needs a barrier after the first; `same_grid`
/// whether the two run in the same blocks.
pub(super) fn segments(
    members: &[Candidate<'_>],
    depends: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
    waits_for: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
    same_grid: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
) -> Vec<Vec<usize>> {
    let mut strands = strands(members, depends);
    let mut found: Vec<Vec<usize>> = Vec::new();
    // What has run since the last barrier between segments.
    let mut since: Vec<usize> = Vec::new();
    let must_wait = |next: usize, since: &[usize]| {
        let mut earlier = since.iter();
        earlier.any(|earlier| waits_for(&members[*earlier], &members[next]))
    };
    loop {
        // As much as possible between two barriers, what has none inside first.
        for strand in &mut strands {
            while let Some(next) = strand.front().copied()
                && places(members[next].model).is_none()
                && !must_wait(next, &since)
            {
                strand.pop_front();
                found.push(vec![next]);
                since.push(next);
            }
        }
        strands.retain(|strand| !strand.is_empty());
        if strands.is_empty() {
            return found;
        }
        let ready = |strand: &&VecDeque<usize>| {
            let next = strand.front();
            next.is_some_and(|next| !must_wait(*next, &since))
        };
        // A strand that would have to wait makes others wait, too, where they have barriers anyway.
        let waiting = strands.iter().filter(|strand| !ready(strand));
        let all: Vec<&VecDeque<usize>> = match waiting.clone().count() == strands.len() {
            true => waiting.collect(),
            false => strands.iter().filter(ready).collect(),
        };
        let Some(segment) = alike(members, &all, &same_grid) else {
            return found;
        };
        if segment.iter().any(|next| must_wait(*next, &since)) {
            since.clear();
        }
        for strand in &mut strands {
            if strand.front().is_some_and(|next| segment.contains(next)) {
                strand.pop_front();
            }
        }
        since.extend(&segment);
        found.push(segment);
    }
}

/// The connected parts, each in host order.
fn strands(
    members: &[Candidate<'_>],
    depends: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
) -> Vec<VecDeque<usize>> {
    let mut strands: Vec<VecDeque<usize>> = Vec::new();
    for (position, member) in members.iter().enumerate() {
        let (mut own, others): (Vec<_>, Vec<_>) = strands.into_iter().partition(|strand| {
            let mut earlier = strand.iter();
            earlier.any(|earlier| depends(&members[*earlier], member))
        });
        strands = others;
        let mut strand: Vec<usize> = own.drain(..).flatten().collect();
        strand.push(position);
        strand.sort_unstable();
        strands.push(strand.into());
    }
    strands.sort_unstable_by_key(|strand| strand.front().copied());
    strands
}

/// The largest set of next members that have barriers at the same places; of equal ones that which no
/// strand has another of later on.
fn alike(
    members: &[Candidate<'_>],
    strands: &[&VecDeque<usize>],
    same_grid: &impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
) -> Option<Vec<usize>> {
    let places = |member: usize| places(members[member].model);
    let heads: Vec<usize> = strands
        .iter()
        .filter_map(|strand| strand.front().copied())
        .collect();
    let sets = heads.iter().map(|head| {
        let own = places(*head);
        let set: Vec<usize> = match &own {
            Some((false, _)) => {
                let together = heads.iter().filter(|other| {
                    let grids = same_grid(&members[*head], &members[**other]);
                    grids && places(**other) == own
                });
                together.copied().collect()
            }
            _ => vec![*head],
        };
        let mut rest = strands.iter().flat_map(|strand| strand.iter().skip(1));
        let later = rest.any(|other| places(*other) == own);
        (set.len(), !later, std::cmp::Reverse(*head), set)
    });
    let best = sets.max_by_key(|(size, last, head, _)| (*size, *last, *head));
    best.map(|(.., set)| set)
}

/// Whether a kernel must run by itself, and how many loops stand around each of its barriers; `None`
/// for a kernel that nothing can be shared with.
fn places(model: &KernelModel) -> Option<(bool, Vec<usize>)> {
    let places: Vec<usize> = model.barriers.iter().map(|each| each.loops.len()).collect();
    let alone =
        model.warp_operations || model.asynchronous_copies || model.dynamic_shared || model.prints;
    (!places.is_empty()).then_some((alone, places))
}
