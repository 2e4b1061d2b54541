//! Members of a group -> the segments of its kernel.
//!
//! Members between which there is no path of edges may run in any order. So the strands of a group,
//! its connected parts, are laid side by side: where the next members of several strands have
//! barriers at the same places, they become one segment and run in unison, so that they wait once
//! for all of them. Invariant: members of one strand keep their order.

use super::obstacle::Candidate;
use crate::kernel::KernelModel;
use std::collections::VecDeque;

/// The segments, as positions in `members`. `depends` tells whether the second of two members
/// depends on the first, or may.
pub(super) fn segments(
    members: &[Candidate<'_>],
    depends: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
) -> Vec<Vec<usize>> {
    let mut strands = strands(members, depends);
    let mut found: Vec<Vec<usize>> = Vec::new();
    loop {
        for strand in &mut strands {
            while let Some(next) = strand.front()
                && waits(members[*next].model).is_none()
            {
                found.extend(strand.pop_front().map(|member| vec![member]));
            }
        }
        strands.retain(|strand| !strand.is_empty());
        let Some(segment) = alike(members, &strands) else {
            let gained = found.iter().any(|segment| segment.len() > 1);
            return match gained {
                true => found,
                false => (0..members.len()).map(|member| vec![member]).collect(),
            };
        };
        for strand in &mut strands {
            if strand.front().is_some_and(|next| segment.contains(next)) {
                strand.pop_front();
            }
        }
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

/// The largest set of next members that wait at the same places; of equal ones that which no strand
/// has another of later on.
fn alike(members: &[Candidate<'_>], strands: &[VecDeque<usize>]) -> Option<Vec<usize>> {
    let places = |member: &usize| waits(members[*member].model);
    let heads = strands.iter().filter_map(VecDeque::front);
    let sets = heads.map(|head| {
        let own = places(head);
        let together = |other: &&usize| *other == head || own.is_some() && places(other) == own;
        let set = strands.iter().filter_map(VecDeque::front);
        let mut set: Vec<usize> = set.filter(together).copied().collect();
        if own.as_ref().is_some_and(|own| own.0) {
            set = vec![*head];
        }
        let mut rest = strands.iter().flat_map(|strand| strand.iter().skip(1));
        let later = rest.any(|other| places(other) == own);
        (set.len(), !later, std::cmp::Reverse(*head), set)
    });
    let best = sets.max_by_key(|(size, last, head, _)| (*size, *last, *head));
    best.map(|(.., set)| set)
}

/// Whether a kernel must run by itself, and how many loops stand around each of its barriers; `None`
/// for a kernel that nothing can be shared with.
fn waits(model: &KernelModel) -> Option<(bool, Vec<usize>)> {
    let places: Vec<usize> = model.barriers.iter().map(|each| each.loops.len()).collect();
    let alone =
        model.warp_operations || model.asynchronous_copies || model.dynamic_shared || model.prints;
    (!places.is_empty()).then_some((alone, places))
}
