//! Launches that are one cooperative launch with grid-wide barriers.
//!
//! All blocks of such a launch are on the device at once, and each runs blocks of the members' own grids one after the
//! other. Nobody passes a grid-wide barrier before everybody has come to it, and what was written in front of it is seen
//! behind it. So members in front of one and behind it keep the order of all their accesses, whatever their blocks.
//!
//! Members between two barriers, a *phase*, are judged as a group of their own: a pair whose dependence crosses blocks and
//! that no barrier separates is refused there. What is left to be asked here is
//!
//! - that the members come in host order, each once: `segments` would put them in another one, and with it in
//!   another phase;
//! - that blocks are whole: each member keeps its own blocks and threads, of a phase one grid, which the blocks of the
//!   launch can count through, and all of them one block shape;
//! - that somebody tests how many blocks are on the device at once, since blocks that are not wait for ever for their
//!   turn, and the others for them;
//! - that nothing of it rests on a launch's being one of several: no member waits for a batch, but for launches of a host
//!   loop that follow each other in one kernel, none is issued under a
//!   condition, and none leaves out what others would not read.
//!
//! The barrier's memory is the launch's own, from the driver, so that no two launches share it, whatever their streams.

use super::super::conflict::Answers;
use super::super::device::{self, assumptions, guarded_values};
use super::super::expansion::Moved;
use super::super::formula::{Assumptions, Formula};
use super::super::member::Member;
use super::super::polynomial::Polynomial;
use super::super::{Refusal, Site};
use crate::dependence::Guard;
use crate::kernel::Target;
use crate::launch::LaunchGraph;
use crate::schedule::{BatchedStatement, FusionGroup, FusionPlan, ThreadMap};
use std::collections::BTreeSet;

/// What speaks against a group with grid-wide barriers.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    plan: &FusionPlan,
    (group, sites): (&FusionGroup, &[Site<'_>]),
    answers: &mut Answers,
) -> Vec<Refusal> {
    let first = group.members[0].launch;
    let refuse = |what: String| vec![Refusal::GridBarrier { first, what }];
    if let Some(what) = malformed(plan, group, sites) {
        return refuse(what.to_owned());
    }
    if let Some(what) = not_resident(&group.guards) {
        return refuse(what.to_owned());
    }
    let mut refusals = Vec::new();
    for phase in group.phases() {
        let part = FusionGroup {
            members: group.members[phase.clone()].to_vec(),
            grid_barriers: Vec::new(),
            ..group.clone()
        };
        let sites = &sites[phase];
        refusals.extend(device::refusals(
            graph,
            &part,
            sites,
            &Moved::default(),
            answers,
        ));
    }
    let values = guarded_values(graph, &group.guards, sites);
    let members: Vec<Member<'_>> = sites
        .iter()
        .map(|site| Member::new(graph, &values, site.launch, site.model))
        .collect();
    let known = assumptions(&group.guards, &values, &members);
    refusals.extend(shapes(group, &members, &known));
    let bytes = parameter_bytes(&members, group.phases().len());
    if bytes > MOST_PARAMETER_BYTES {
        refusals.push(Refusal::ParameterSpace { first, bytes });
    }
    refusals
}

/// What a group with such barriers cannot be.
fn malformed(plan: &FusionPlan, group: &FusionGroup, sites: &[Site<'_>]) -> Option<&'static str> {
    let barriers = &group.grid_barriers;
    let inside = |at: &usize| (1..group.members.len()).contains(at);
    if !barriers.iter().all(inside) || !barriers.windows(2).all(|pair| pair[0] < pair[1]) {
        return Some("a barrier stands in front of no member");
    }
    let begins = group.phases().into_iter().map(|phase| phase.start);
    let mut begins = begins.map(|begin| &group.members[begin]);
    if begins.any(|member| member.barrier_before) {
        return Some("a barrier of the block stands where one of the grid does");
    }
    if !group.segments.is_empty() {
        return Some("members do not run in host order");
    }
    let mut members = group.members.iter();
    if members.any(|member| member.map != ThreadMap::Identity) {
        return Some("a member does not keep its blocks and threads");
    }
    if !group.issued_before.is_empty() {
        return Some("a member may be issued by itself");
    }
    if !group.unread_afterwards.is_empty() {
        return Some("something that is written is called unread");
    }
    let mut statements = plan
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements);
    let is_own = |launch| sites.iter().any(|site| site.launch.id == launch);
    // Its launches may follow each other in one kernel, where they wait for all blocks, too.
    let waits = |each: &BatchedStatement| {
        let persistent = each.persistent.as_ref();
        is_own(each.launch) && !persistent.is_some_and(|own| own.grid_barrier)
    };
    if statements.any(waits) {
        return Some("a member waits for a batch");
    }
    let mut sites = sites.iter();
    if sites.any(|site| site.model.prints) {
        return Some("a member prints");
    }
    None
}

/// Whether nobody sees to it that all blocks are on the device at once.
fn not_resident(guards: &[Guard]) -> Option<&'static str> {
    let rounds = guards.iter().filter_map(|guard| match guard {
        Guard::Resident { rounds } => Some(*rounds),
        _ => None,
    });
    match rounds.collect::<Vec<u32>>()[..] {
        [] => Some("nothing tests that all its blocks are on the device at once"),
        [0] => Some("no number of its blocks is on the device at once"),
        [_] => None,
        _ => Some("how many of its blocks are on the device at once is tested twice"),
    }
}

/// All blocks have one shape, and those of each phase can be counted.
fn shapes(group: &FusionGroup, members: &[Member<'_>], known: &Assumptions) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let blocks = members.iter().map(constant_block);
    match blocks.collect::<Option<Vec<[i64; 3]>>>() {
        Some(blocks) if blocks.windows(2).any(|pair| pair[0] != pair[1]) => {
            refusals.extend(unequal(members, &blocks));
        }
        _ => refusals.extend(equal(members, known)),
    }
    for phase in group.phases() {
        let first = &members[phase.start];
        let [x, y, z, ..] = &first.extents;
        let blocks = x.multiply(y).and_then(|area| area.multiply(z));
        let most = Polynomial::constant(MOST_BLOCKS);
        let countable = blocks.is_some_and(|blocks| match blocks.as_constant() {
            Some(blocks) => blocks <= MOST_BLOCKS,
            None => {
                let bound = Formula::less_equal(&blocks, &most);
                bound.is_some_and(|bound| known.imply(&bound))
            }
        });
        if !countable {
            let launch = first.launch.id;
            let what = String::from("so many blocks that they may not be countable");
            refusals.push(Refusal::BlockRange { launch, what });
        }
    }
    refusals.dedup();
    refusals
}

fn constant_block(member: &Member<'_>) -> Option<[i64; 3]> {
    let [x, y, z] = [3, 4, 5].map(|axis: usize| member.extents[axis].as_constant());
    Some([x?, y?, z?])
}

/// Blocks that differ are all known. Those of the launch are of the member with the most threads; the threads of another
/// are the first of these in linear order. Threads are anywhere in their block then, and some of the launch's may be none of
/// them.
fn unequal(members: &[Member<'_>], blocks: &[[i64; 3]]) -> Vec<Refusal> {
    let threads = |block: &[i64; 3]| {
        let product = block
            .iter()
            .try_fold(1_i64, |all, one| all.checked_mul(*one));
        product.unwrap_or(i64::MAX)
    };
    let mut largest = 0;
    for (position, block) in blocks.iter().enumerate() {
        if threads(block) > threads(&blocks[largest]) {
            largest = position;
        }
    }
    let mut refusals = Vec::new();
    for (member, block) in members.iter().zip(blocks) {
        if *block == blocks[largest] {
            continue;
        }
        let (first, second) = (members[largest].launch.id, member.launch.id);
        for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
            if !member.model.distinguishes_threads[axis] && block[axis] != 1 {
                refusals.push(Refusal::NotInStep {
                    first,
                    second,
                    axis: name,
                });
            }
        }
        let meets = !member.model.barriers.is_empty() || member.model.warp_operations;
        if meets && threads(block) != threads(&blocks[largest]) {
            let extent =
                String::from("number of threads a block, of which some wait for each other");
            refusals.push(Refusal::DifferentShape {
                first,
                second,
                extent,
            });
        }
    }
    refusals
}

/// Blocks of one shape, whether it is known or tested.
fn equal(members: &[Member<'_>], known: &Assumptions) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for pair in members.windows(2) {
        let (first, second) = (pair[0].launch.id, pair[1].launch.id);
        for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
            let [one, other] = [0, 1].map(|at: usize| &pair[at].extents[3 + axis]);
            if !known.equal(one, other) {
                let extent = format!("blockDim.{name}");
                let refusal = Refusal::DifferentShape {
                    first,
                    second,
                    extent,
                };
                refusals.push(refusal);
            }
            let tells = |at: usize| pair[at].model.distinguishes_threads[axis];
            if tells(0) != tells(1) && !known.equal(other, &Polynomial::constant(1)) {
                let axis = name;
                refusals.push(Refusal::NotInStep {
                    first,
                    second,
                    axis,
                });
            }
        }
    }
    refusals
}

/// What the kernel takes, each argument at its worst place: those of all members, addresses of device variables, and the
/// grids of the phases.
pub(in crate::verify) fn parameter_bytes(members: &[Member<'_>], phases: usize) -> u64 {
    let formals = members.iter().flat_map(|member| &member.model.formals);
    let own: u64 = formals
        .map(|formal| u64::from(formal.size_bytes) + u64::from(formal.align_bytes.max(1)) - 1)
        .sum();
    let accesses = members.iter().flat_map(|member| &member.model.accesses);
    let variables: BTreeSet<&String> = accesses
        .filter_map(|access| match &access.target {
            Target::Global(name) => Some(name),
            _ => None,
        })
        .collect();
    own + (8 + 7) * variables.len() as u64 + GRID_BYTES * phases as u64
}

/// Blocks are counted in 32 bits, and so is the count of those in front of the last.
const MOST_BLOCKS: i64 = 1 << 30;
/// Three extents, each at its worst place.
const GRID_BYTES: u64 = 3 * (4 + 3);
/// Of any device; ptxas knows what the one that is built for has.
const MOST_PARAMETER_BYTES: u64 = 32_764;
