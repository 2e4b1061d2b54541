//! Groups that run with those of their members that the host came to.
//!
//! The members that came run one after the other, in the order of the plan; absent ones have an empty grid, and touch
//! nothing. What such a launch does is right where each two of its members keep their order, since all that is asked of a
//! fused kernel is asked of pairs of accesses: so each two members are judged as a group of these two, behind the tests
//! that are made where the host came to both, and with a barrier where the plan has one anywhere between them. Barriers
//! between members stand whether or not the members around them came. Two members of which the host can only come to one
//! in an iteration need nothing of each other.

use super::super::conflict::Answers;
use super::super::host_order::HostOrder;
use super::super::{Refusal, Site, capture, device, space};
use crate::dependence::Guard;
use crate::launch::{LaunchGraph, LaunchId};
use crate::schedule::{FusionGroup, Member, ThreadMap};
use std::collections::BTreeSet;

/// The most members: each is a bit of a number.
const MOST_MEMBERS: usize = 31;

/// What speaks against the members' places: any two of them may follow each other, or never come both, and all come to
/// the last.
pub(in crate::verify) fn order_refusals(
    order: &HostOrder<'_>,
    members: &[Site<'_>],
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let Some((last, before)) = members.split_last() else {
        return refusals;
    };
    for (position, later) in members.iter().enumerate() {
        for earlier in &members[..position] {
            let [one, two] = [earlier.node, later.node];
            let ids = (earlier.launch.id, later.launch.id);
            let refuse = Refusal::NotOnOnePath {
                earlier: ids.0,
                later: ids.1,
            };
            let in_order = order.may_follow(one, two) || order.never_both(one, two);
            if !in_order || earlier.launch.stream != later.launch.stream {
                refusals.push(refuse);
            }
        }
    }
    let lost = before
        .iter()
        .filter(|member| !order.may_follow(member.node, last.node));
    refusals.extend(lost.map(|member| Refusal::NotOnOnePath {
        earlier: member.launch.id,
        later: last.launch.id,
    }));
    refusals
}

/// What speaks against running any of the members as one kernel.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    order: &HostOrder<'_>,
    group: &FusionGroup,
    sites: &[Site<'_>],
    answers: &mut Answers,
) -> Vec<Refusal> {
    let mut refusals = form(graph, group, sites);
    if !refusals.is_empty() {
        return refusals;
    }
    for site in sites {
        let own = tested_for(group, &[site.launch.id]);
        refusals.extend(capture::refusal(
            graph,
            (&own, true),
            std::slice::from_ref(site),
        ));
    }
    for (later, second) in sites.iter().enumerate() {
        for (earlier, first) in sites[..later].iter().enumerate() {
            if order.never_both(first.node, second.node) {
                continue;
            }
            let pair = pair_of(group, [earlier, later]);
            let sites = [*first, *second];
            let found = device::refusals(graph, &pair, &sites, &BTreeSet::new(), answers);
            refusals.extend(
                found
                    .into_iter()
                    .filter(|found| !refusals.contains(found))
                    .collect::<Vec<_>>(),
            );
        }
    }
    refusals.extend(space::space_refusals(graph, group, sites));
    refusals
}

/// Whether the plan has only what such a group may have.
fn form(graph: &LaunchGraph, group: &FusionGroup, sites: &[Site<'_>]) -> Vec<Refusal> {
    let first = sites[0].launch.id;
    let mut refusals = Vec::new();
    let mut refuse = |launch: LaunchId, what: &str| {
        refusals.push(Refusal::NotInPart {
            launch,
            what: what.to_owned(),
        });
    };
    if !(2..=MOST_MEMBERS).contains(&sites.len()) {
        refuse(first, "has too few or too many launches");
    }
    let relies_on_all = !group.segments.is_empty()
        || !group.unread_afterwards.is_empty()
        || group.is_cooperative()
        || group.last_block.is_some()
        || group.recomputation.is_some();
    if relies_on_all {
        refuse(first, "relies on all of its launches");
    }
    let at_its_place = |guard: &Guard| matches!(guard, Guard::DeviceMemory { .. });
    if !group.guards.iter().all(at_its_place) {
        refuse(first, "tests what only all of its launches have");
    }
    for member in &group.members {
        if member.map != ThreadMap::Clipped {
            refuse(
                member.launch,
                "is not clipped, so that it cannot be left out",
            );
        }
        if graph.operation_of(member.launch).is_some() {
            refuse(member.launch, "is a set or a copy");
        }
    }
    for tests in &group.partial_guards {
        let known = |launch: &LaunchId| group.members.iter().any(|own| own.launch == *launch);
        let asked_elsewhere =
            |guard: &Guard| matches!(guard, Guard::DeviceMemory { .. } | Guard::SameStream { .. });
        if !tests.members.iter().all(known) || tests.guards.iter().any(asked_elsewhere) {
            refuse(first, "has a test that nobody makes");
        }
    }
    refusals
}

/// What is tested where the host came to some members at least.
fn tested_for(group: &FusionGroup, members: &[LaunchId]) -> Vec<Guard> {
    let made = |launches: &[LaunchId]| launches.iter().all(|launch| members.contains(launch));
    let tests = group.partial_guards.iter();
    let made = tests.filter(|tests| made(&tests.members));
    made.flat_map(|tests| tests.guards.iter().cloned())
        .collect()
}

/// Two members as a group of their own.
fn pair_of(group: &FusionGroup, [earlier, later]: [usize; 2]) -> FusionGroup {
    let [first, second] = [earlier, later].map(|member| &group.members[member]);
    let between = &group.members[earlier + 1..=later];
    let members = vec![
        Member {
            barrier_before: false,
            ..first.clone()
        },
        Member {
            barrier_before: between.iter().any(|member| member.barrier_before),
            ..second.clone()
        },
    ];
    FusionGroup {
        guards: tested_for(group, &[first.launch, second.launch]),
        members,
        partial_guards: Vec::new(),
        ..group.clone()
    }
}
