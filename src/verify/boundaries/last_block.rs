//! Launches whose last block runs what the others made all they do for.
//!
//! A launch runs its members in front in all its blocks. Then all threads of a block come together, and one of them counts
//! the block as arrived, behind a fence. The block that finds all others arrived puts a fence behind that, and goes on with
//! the members behind. So whatever an instance of a member in front does, reads and writes alike, comes before all that
//! a member behind does, whatever their blocks and threads: no conflict between the two is asked for. The members in front are
//! judged as a group of their own, and so are those behind, which one block runs. What is left to be asked here is
//!
//! - that the members come in host order, each once, those in front before those behind;
//! - that the members behind have one block each: more than one would never run;
//! - that all blocks come to the end: no member in front stands in block partitions, whose threads may leave on their own,
//!   and how many blocks there are can be counted in 32 bits;
//! - that the block has the threads of each member behind: as many as these, or more where they do not wait for each
//!   other, the others leaving them out;
//! - that all threads are told apart by their members, since counting tells them apart;
//! - that no two launches count in one word at a time: each stream has its own, in which launches run one after the
//!   other. In a graph they may not, so that nothing is captured; a group that waits for its batch, or begins before the
//!   launch before it has ended, could run beside itself;
//! - where the members in front may also run without the last block, that they may with the tests that are made of
//!   them alone: they are judged with these, in the place of the last member, which follows as it is written;
//! - that nothing of it rests on a launch's being one of several: none leaves out what others would not read.

use super::super::conflict::Answers;
use super::super::device::{self, assumptions, guarded_values};
use super::super::expansion::Moved;
use super::super::formula::{Assumptions, Formula};
use super::super::grid_barriers::parameter_bytes;
use super::super::host::{self, Host};
use super::super::member::Member;
use super::super::polynomial::Polynomial;
use super::super::{Refusal, Site};
use super::super::{capture, operations};
use crate::dependence::Guard;
use crate::launch::LaunchGraph;
use crate::schedule::{FusionGroup, FusionPlan, ThreadMap};

/// The group with what is tested where its members in front run without the last block, if they may.
pub(in crate::verify) fn without(group: &FusionGroup) -> Option<FusionGroup> {
    let guards = group.front_guards.clone()?;
    Some(FusionGroup {
        guards,
        front_guards: None,
        early_guards: None,
        ..group.clone()
    })
}

/// What speaks against the members in front running as one where the host does not come to the member behind. They are issued
/// on the way to it at the latest, so that they pass nothing that is not asked about there.
pub(in crate::verify) fn early_refusals(
    host: &Host<'_>,
    (group, sites): (&FusionGroup, &[Site<'_>]),
    answers: &mut Answers,
) -> Vec<Refusal> {
    let (Some(guards), Some([front, _])) = (&group.early_guards, parts(group)) else {
        return Vec::new();
    };
    let graph = host.graph;
    let front = FusionGroup {
        guards: guards.clone(),
        ..front
    };
    let sites = &sites[..front.members.len()];
    let mut refusals = host::refusals(host, &front, sites);
    refusals.extend(operations::refusals(graph, &front, sites));
    refusals.extend(capture::refusal(graph, (&front.guards, true), sites));
    if refusals.is_empty() {
        let moved = Moved::default();
        refusals.extend(device::refusals(graph, &front, sites, &moved, answers));
    }
    refusals
}

/// What speaks against a group whose last block runs some members alone.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    plan: &FusionPlan,
    (group, sites): (&FusionGroup, &[Site<'_>]),
    answers: &mut Answers,
) -> Vec<Refusal> {
    let first = group.members[0].launch;
    let refuse = |what: &str| {
        let what = what.to_owned();
        vec![Refusal::LastBlock { first, what }]
    };
    let Some(parts) = parts(group) else {
        return refuse("members in front and behind are not told apart");
    };
    if let Some(what) = malformed(graph, plan, group, sites) {
        return refuse(what);
    }
    if let Some(what) = counts_twice(graph, group, sites) {
        return refuse(what);
    }
    let count = parts[0].members.len();
    let (front, behind) = sites.split_at(count);
    let mut refusals = Vec::new();
    for (part, sites) in parts.iter().zip([front, behind]) {
        let moved = Moved::default();
        refusals.extend(device::refusals(graph, part, sites, &moved, answers));
    }
    let values = guarded_values(graph, &group.guards, sites);
    let members: Vec<Member<'_>> = sites
        .iter()
        .map(|site| Member::new(graph, &values, site.launch, site.model))
        .collect();
    let known = assumptions(&group.guards, &values, &members);
    if let Some(what) = shapes(group, &members, &known) {
        refusals.extend(refuse(what));
    }
    let bytes = parameter_bytes(&members, members.len());
    if bytes > MOST_PARAMETER_BYTES {
        refusals.push(Refusal::ParameterSpace { first, bytes });
    }
    refusals
}

/// The members that all blocks run, and those that the last one runs, each as a group.
fn parts(group: &FusionGroup) -> Option<[FusionGroup; 2]> {
    let count = group.last_block?;
    if count == 0 || count >= group.members.len() {
        return None;
    }
    let (front, behind) = group.members.split_at(count);
    let segments = group.segments.iter();
    let at = segments.take_while(|segment| segment.iter().all(|member| *member < count));
    let (in_front, at_end) = group.segments.split_at(at.count());
    let at_end = at_end.iter().map(|segment| {
        let members = segment.iter().map(|member| member.checked_sub(count));
        members.collect::<Option<Vec<usize>>>()
    });
    let part = |members: &[crate::schedule::Member], segments: Vec<Vec<usize>>| FusionGroup {
        members: members.to_vec(),
        segments,
        last_block: None,
        front_guards: None,
        early_guards: None,
        tested_loop: None,
        ..group.clone()
    };
    let at_end = at_end.collect::<Option<Vec<Vec<usize>>>>()?;
    let mut all_blocks = part(front, in_front.to_vec());
    all_blocks.guards = group.guards_of_front().to_vec();
    Some([all_blocks, part(behind, at_end)])
}

/// What a group with a last block cannot be.
fn malformed(
    graph: &LaunchGraph,
    plan: &FusionPlan,
    group: &FusionGroup,
    sites: &[Site<'_>],
) -> Option<&'static str> {
    if !group.grid_barriers.is_empty() || group.is_cooperative() {
        return Some("all its blocks wait for each other, too");
    }
    if group.overlap.is_some() {
        return Some("it begins before the launch before it has ended");
    }
    let alone = group.of_all_blocks() > 1 && group.of_all_blocks() + 1 == group.members.len();
    let runs_alone = group.front_guards.is_some() || group.early_guards.is_some();
    if runs_alone && !alone {
        return Some("without it, not one member runs as it is written behind others that are one");
    }
    if !group.unread_afterwards.is_empty() {
        return Some("something that is written is called unread");
    }
    let (front, behind) = group.members.split_at(group.of_all_blocks());
    if behind
        .iter()
        .any(|member| member.map != ThreadMap::Identity)
    {
        return Some("a member behind does not keep its threads");
    }
    if behind.first().is_some_and(|member| member.barrier_before) {
        return Some("a barrier of the block stands where blocks arrive");
    }
    let mut maps = front.iter().map(|member| &member.map);
    if maps.any(|map| matches!(map, ThreadMap::Blocks { .. })) {
        return Some("a member in front has blocks of its own");
    }
    let (_, sites_behind) = sites.split_at(front.len());
    let is_operation = |site: &Site<'_>| graph.operation_of(site.launch.id).is_some();
    if sites_behind.iter().any(is_operation) || sites.iter().any(|site| site.model.prints) {
        return Some("a member prints, or is a set or a copy behind");
    }
    let regions = plan.batched_regions.iter();
    let mut statements = regions.flat_map(|region| &region.statements);
    let is_own = |launch| sites.iter().any(|site| site.launch.id == launch);
    if statements.any(|statement| is_own(statement.launch)) {
        return Some("a member waits for a batch");
    }
    None
}

/// Whether two launches of the group may count in one word at a time.
fn counts_twice(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
) -> Option<&'static str> {
    let asked = sites.iter().any(|site| {
        let launch = site.launch.id;
        group.guards.contains(&Guard::NotCapturing { launch })
    });
    let mut sites = sites.iter();
    let replayed = sites.any(|site| graph.may_be_replayed(site.node, site.launch));
    (replayed && !asked).then_some("a graph with it may run twice at a time, which no guard asks")
}

/// What is wrong with the grids and blocks.
fn shapes(
    group: &FusionGroup,
    members: &[Member<'_>],
    known: &Assumptions,
) -> Option<&'static str> {
    let (front, behind) = members.split_at(group.of_all_blocks());
    let one = Polynomial::constant(1);
    let single = |member: &Member<'_>| (0..3).all(|axis| known.equal(&member.extents[axis], &one));
    if !behind.iter().all(single) {
        return Some("a member behind may have more than one block");
    }
    // The launch has its blocks.
    let mut planned = front.iter().zip(&group.members);
    let whole = planned.find(|(_, planned)| planned.map == ThreadMap::Identity);
    let Some((whole, _)) = whole else {
        return Some("no member in front has all blocks of the launch");
    };
    let at_most = |value: &Polynomial, most: &Polynomial| {
        let constants = value.as_constant().zip(most.as_constant());
        match constants {
            Some((value, most)) => value <= most,
            None => Formula::less_equal(value, most).is_some_and(|bound| known.imply(&bound)),
        }
    };
    let product = |extents: &[Polynomial]| {
        let [x, y, z] = extents else { return None };
        x.multiply(y)?.multiply(z)
    };
    let blocks = product(&whole.extents[..3]);
    if !blocks.is_some_and(|blocks| at_most(&blocks, &Polynomial::constant(MOST_BLOCKS))) {
        return Some("so many blocks may arrive that they are not countable");
    }
    let Some(all) = product(&whole.extents[3..]) else {
        return Some("the threads of a block are not countable");
    };
    for member in behind {
        let own = product(&member.extents[3..]);
        let equal = own.as_ref().is_some_and(|own| known.equal(own, &all));
        let fewer = own.is_some_and(|own| at_most(&own, &all));
        let meets = !member.model.barriers.is_empty() || member.model.warp_operations;
        if !equal && !fewer {
            return Some("a member behind may have more threads than a block of the launch");
        }
        if !equal && meets {
            return Some(
                "threads of a member behind wait for each other, and the block may have more",
            );
        }
    }
    let in_step = |member: &Member<'_>| {
        let told = member.model.distinguishes_threads;
        (0..3).any(|axis| !told[axis] && !known.equal(&member.extents[3 + axis], &one))
    };
    if members.iter().any(in_step) {
        return Some("threads that a member does not tell apart run in step there");
    }
    None
}

/// Blocks are counted in 32 bits.
const MOST_BLOCKS: i64 = 1 << 30;
/// Of any device; ptxas knows what the one that is built for has.
const MOST_PARAMETER_BYTES: u64 = 32_764;
