//! Members of a group -> the segments of its kernel.
//!
//! Members between which there is no path of edges, but of such as the group's tests find absent, may
//! run in any order. So the block partitions of a group, its connected parts, are laid side by side: as
//! many members as possible stand between two barriers, and where members that are next have barriers
//! at the same places inside, they become one segment and run interleaved, so that they wait once for
//! all of them. Next are, of a block partition, too, all members that depend on nothing that has not
//! run. Invariant: a member runs after all that it depends on.

use super::domains::Domains;
use super::group::{Judge, orders};
use super::layout::BlockPartitions;
use super::obstacle::Candidate;
use super::space::static_shared;
use crate::dependence::{Edge, Guard, Scope};
use crate::kernel::KernelModel;
use std::collections::BTreeSet;

impl<'a> Judge<'a> {
    /// [`Judge::order`] of each block partition, written out where one of them is not in host order.
    pub(super) fn order_of_partitions(
        &self,
        members: &[Candidate<'a>],
        partitions: &BlockPartitions,
        domains: &Domains,
    ) -> (Vec<Vec<usize>>, Vec<bool>) {
        let mut barriers = vec![false; members.len()];
        let mut written_out = Vec::new();
        let mut in_host_order = true;
        for partition in partitions {
            let own: Vec<Candidate> = partition.iter().map(|member| members[*member]).collect();
            let room = self.shared_room(members, partition);
            let (order, before) = self.order(&own, domains, room);
            for (member, before) in partition.iter().zip(before) {
                barriers[*member] = before;
            }
            in_host_order &= order.is_empty();
            match order.is_empty() {
                true => written_out.extend(partition.iter().map(|member| vec![*member])),
                false => written_out.extend(order.iter().map(|segment| {
                    let members = segment.iter().map(|at| partition[*at]);
                    members.collect::<Vec<_>>()
                })),
            }
        }
        match in_host_order {
            true => (Vec::new(), barriers),
            false => (written_out, barriers),
        }
    }

    /// The segments of the fused kernel, none when they are the members in host order, and for each
    /// member whether a barrier stands before.
    fn order(
        &self,
        members: &[Candidate<'a>],
        domains: &Domains,
        room: u64,
    ) -> (Vec<Vec<usize>>, Vec<bool>) {
        let in_host_order: Vec<Vec<usize>> =
            (0..members.len()).map(|member| vec![member]).collect();
        let plain = self.barriers(members, &in_host_order, domains, room);
        let order = segments(
            members,
            |one, other| {
                let edges = self.edges(one.node, other.node);
                let tested = domains.is_block_wide(one, other).is_none() && are_tested_away(edges);
                !edges.is_empty() && !tested
            },
            |one, other| self.needs_barrier(one, other, domains),
            |one, other| {
                let keeps = |member| domains.map(member).is_none_or(|map| !map.places_anew());
                keeps(one)
                    && keeps(other)
                    && (0..3).all(|axis| self.extent(one, axis) == self.extent(other, axis))
            },
        );
        let barriers = self.barriers(members, &order, domains, room);
        // Another order has to be worth it.
        let count = |order: &[Vec<usize>], barriers: &[bool]| {
            let waits = order.iter().filter(|segment| barriers[segment[0]]);
            let inside = order
                .iter()
                .map(|segment| members[segment[0]].model.barriers.len());
            waits.count() + inside.sum::<usize>()
        };
        let has_room = order
            .iter()
            .all(|segment| static_shared(members, segment) <= room);
        match has_room && count(&order, &barriers) < count(&in_host_order, &plain) {
            true => (order, barriers),
            false => (Vec::new(), plain),
        }
    }

    /// For each member whether a barrier stands before its segment: as late as possible, which
    /// makes them as few as possible. What stands between two has no more static shared memory than
    /// there is room, since only what a barrier separates can share storage.
    fn barriers(
        &self,
        members: &[Candidate<'a>],
        order: &[Vec<usize>],
        domains: &Domains,
        room: u64,
    ) -> Vec<bool> {
        let mut barriers = vec![false; members.len()];
        let mut since: Vec<usize> = Vec::new();
        for (position, segment) in order.iter().enumerate() {
            let bytes = static_shared(members, &since) + static_shared(members, segment);
            let crowded = bytes > room && static_shared(members, segment) > 0;
            let needed = position > 0
                && (crowded
                    || segment.iter().any(|member| {
                        let member = &members[*member];
                        let mut earlier = since.iter();
                        earlier
                            .any(|earlier| self.needs_barrier(&members[*earlier], member, domains))
                    }));
            if needed {
                since.clear();
                segment.iter().for_each(|member| barriers[*member] = true);
            }
            since.extend(segment);
        }
        barriers
    }

    fn needs_barrier(&self, earlier: &Candidate, later: &Candidate, domains: &Domains) -> bool {
        match domains.is_block_wide(earlier, later) {
            Some(block_wide) => block_wide || waits_anyway(earlier, later),
            None => self.needs_barrier_in_place(earlier, later),
        }
    }

    /// Whether a barrier stands between two members whose threads stay where they are.
    pub(super) fn needs_barrier_in_place(&self, earlier: &Candidate, later: &Candidate) -> bool {
        let mut edges = self.edges(earlier.node, later.node).iter();
        edges.any(|edge| edge.scope == Scope::Block && orders(edge)) || waits_anyway(earlier, later)
    }
}

/// Whether a barrier stands between two members whatever they touch.
fn waits_anyway(earlier: &Candidate, later: &Candidate) -> bool {
    // Each member has static shared memory of its own; the dynamic one is overlaid.
    later.model.warp_operations || earlier.model.dynamic_shared && later.model.dynamic_shared
}

/// The segments, as positions in `members`. `depends` tells whether the second of two members
/// depends on the first, or may; `waits_for` whether it needs a barrier after the first; `same_grid`
/// whether the two run in the same blocks, each thread as itself.
fn segments(
    members: &[Candidate<'_>],
    depends: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
    waits_for: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
    same_grid: impl Fn(&Candidate<'_>, &Candidate<'_>) -> bool,
) -> Vec<Vec<usize>> {
    let before = dependences(members, depends);
    // Block partition after block partition, each in host order.
    let mut pending: Vec<usize> = partitions(&before).into_iter().flatten().collect();
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
fn partitions(before: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut partitions: Vec<Vec<usize>> = Vec::new();
    for (position, earlier) in before.iter().enumerate() {
        let (own, others): (Vec<_>, Vec<_>) = partitions
            .into_iter()
            .partition(|partition| partition.iter().any(|member| earlier.contains(member)));
        partitions = others;
        let mut partition: Vec<usize> = own.into_iter().flatten().collect();
        partition.push(position);
        partition.sort_unstable();
        partitions.push(partition);
    }
    partitions.sort_unstable_by_key(|partition| partition.first().copied());
    partitions
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

/// Whether a group with two launches runs as one only where none of the edges between them exists: no place
/// inside would keep them, and [`Judge::finish`] takes up what tells that they are not there.
fn are_tested_away(edges: &[&Edge]) -> bool {
    let no_place = |edge: &Edge| edge.scope == Scope::Global && !edge.allows_equal_pointers();
    let taken_up = edges.iter().filter(|edge| orders(edge) && no_place(edge));
    let tests: BTreeSet<&Guard> = taken_up.flat_map(|edge| &edge.absent_if).collect();
    edges.iter().all(|edge| {
        let mut own = edge.absent_if.iter();
        no_place(edge) && !edge.absent_if.is_empty() && own.all(|guard| tests.contains(guard))
    })
}
