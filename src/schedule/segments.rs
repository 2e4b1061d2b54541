//! Members of a group -> the segments of its kernel.
//!
//! Members between which there is no path of edges, but of such as the group's tests find absent, may run in
//! any order. So the strands of a group, its connected parts, are laid side by side: as many members as
//! possible stand between two barriers, and where members that are next have barriers at the same places inside, they become one segment
//! and run in unison, so that they wait once for all of them. Next are, of a strand, too, all members
//! that depend on nothing that has not run. Invariant: a member runs after all that it depends on.

use super::obstacle::Candidate;
use crate::kernel::KernelModel;

/// The segments, as positions in `members`. `depends` tells whether the second of two members
/// depends on the first, or may; `waits_for` whether it needs a barrier after the first; `same_grid`
/// whether the two run in the same blocks, each thread as itself.
pub(super) fn segments(
    members: &[Candidate<'_>],
    depends: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
    waits_for: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
    same_grid: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
) -> Vec<Vec<usize>> {
    let before = dependences(members, depends);
    // Strand after strand, each in host order.
    let mut pending: Vec<usize> = strands(&before).into_iter().flatten().collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    // What has run since the last barrier between segments.
    let mut since: Vec<usize> = Vec::new();
    let must_wait = |next: usize, since: &[usize]| {
        let mut earlier = since.iter();
        earlier.any(|earlier| waits_for(&members[*earlier], &members[next]))
    };
    let is_next = |member: usize, pending: &[usize]| {
        let mut before = before[member].iter();
        before.all(|earlier| !pending.contains(earlier))
    };
    while !pending.is_empty() {
        // As much as possible between two barriers, what has none inside first.
        while let Some(place) = pending.iter().position(|next| {
            places(members[*next].model).is_none()
                && is_next(*next, &pending)
                && !must_wait(*next, &since)
        }) {
            let next = pending.remove(place);
            found.push(vec![next]);
            since.push(next);
        }
        let mut next = pending.clone();
        next.retain(|member| is_next(*member, &pending));
        // A member that would have to wait makes others wait, too, where they have barriers anyway.
        let ready: Vec<usize> = next
            .iter()
            .copied()
            .filter(|member| !must_wait(*member, &since))
            .collect();
        let next = if ready.is_empty() { next } else { ready };
        let Some(segment) = alike(members, &next, &pending, &same_grid) else {
            break;
        };
        if segment.iter().any(|next| must_wait(*next, &since)) {
            since.clear();
        }
        pending.retain(|member| !segment.contains(member));
        since.extend(&segment);
        found.push(segment);
    }
    found
}

/// For each member the earlier ones that it depends on.
fn dependences(
    members: &[Candidate<'_>],
    depends: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
) -> Vec<Vec<usize>> {
    let of = |(position, member)| {
        (0..position)
            .filter(|earlier| depends(&members[*earlier], member))
            .collect()
    };
    members.iter().enumerate().map(of).collect()
}

/// The connected parts, each in host order.
fn strands(before: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut strands: Vec<Vec<usize>> = Vec::new();
    for (position, earlier) in before.iter().enumerate() {
        let (own, others): (Vec<_>, Vec<_>) = strands
            .into_iter()
            .partition(|strand| strand.iter().any(|member| earlier.contains(member)));
        strands = others;
        let mut strand: Vec<usize> = own.into_iter().flatten().collect();
        strand.push(position);
        strand.sort_unstable();
        strands.push(strand);
    }
    strands.sort_unstable_by_key(|strand| strand.first().copied());
    strands
}

/// The largest set of members among the `next` that have barriers at the same places; of equal ones that
/// which no member has that comes after them.
fn alike(
    members: &[Candidate<'_>],
    next: &[usize],
    pending: &[usize],
    same_grid: &impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
) -> Option<Vec<usize>> {
    let places = |member: usize| places(members[member].model);
    let sets = next.iter().map(|head| {
        let own = places(*head);
        let set: Vec<usize> = match &own {
            Some((false, _)) => {
                let together = next.iter().filter(|other| {
                    *other == head
                        || same_grid(&members[*head], &members[**other]) && places(**other) == own
                });
                together.copied().collect()
            }
            _ => vec![*head],
        };
        let mut rest = pending.iter().filter(|member| !next.contains(member));
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
