//! The device side of a group: the fused kernel keeps the order of every conflicting pair.

use super::by_iteration;
use super::conflict::{Answers, Positions, Separation};
use super::emptiness::Allowance;
use super::expansion::Moved;
use super::fixed::fixed;
use super::formula::{Assumptions, Formula};
use super::matrix_tiles;
use super::meeting::TestedRange;
use super::member::{MAXIMUM_EXTENTS, MAXIMUM_THREADS, Member};
use super::partitions::BlockPartitions;
use super::place::Values;
use super::polynomial::{Atom, Polynomial, normal_form};
use super::rearranged::{Rearranging, is_rearranged};
use super::reduction::in_any_order;
use super::remapped::{Numbers, Remapping, is_remapped};
use super::segments::{Kept, SegmentOrder};
use super::space::needed_space;
use super::uniform_barriers::reached_by_all;
use super::{Refusal, Site};
use crate::dependence::Guard;
use crate::kernel::{Access, AccessKind, Barrier, KernelModel, KernelSymbol, Target};
use crate::launch::{Launch, LaunchGraph, ValueId};
use crate::math::expression::{Condition, Expression};
use crate::schedule::{BlockThreads, FusionGroup, ThreadMap};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What speaks against running the members as one kernel.
pub(super) fn refusals(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
    moved: &Moved,
    answers: &mut Answers,
) -> Vec<Refusal> {
    let values = guarded_values(graph, &group.guards, sites);
    let originals = by_iteration::originals(graph, &values, sites);
    let mut refusals: Vec<_> = originals
        .iter()
        .filter_map(|member| configuration(&group.guards, member))
        .collect();
    let assumptions = assumptions(&group.guards, &values, &originals);
    let counted = match by_iteration::counted(graph, group, sites) {
        Ok(counted) => counted,
        Err(refusal) => {
            refusals.push(refusal);
            return refusals;
        }
    };
    let members: Vec<_> = counted
        .iter()
        .map(|site| Member::new(graph, &values, site.launch, site.model))
        .collect();
    let tested = |left, right| {
        let range = |range| TestedRange::new(graph, &values, &members, range);
        Some((range(left)?, range(right)?))
    };
    let ranges = group.guards.iter().filter_map(|guard| match guard {
        Guard::RangesDisjoint { left, right } => tested(left, right),
        _ => None,
    });
    let equal_or_disjoint = group.guards.iter().filter_map(|guard| match guard {
        Guard::SameOrDisjoint { left, right } => tested(left, right),
        _ => None,
    });
    let numbers: Vec<_> = members
        .iter()
        .map(|member| answers.number(member))
        .collect();
    let assumed = answers.assumption_number(&assumptions);
    let Some(partitions) = BlockPartitions::of(group) else {
        let first = members[0].launch.id;
        refusals.push(Refusal::MixedMaps { first });
        return refusals;
    };
    refusals.extend(partitions.refusals(group, &members, &values, &assumptions));
    let is_operation = |member: &Member<'_>| graph.operation_of(member.launch.id).is_some();
    let remapping = match Remapping::of(group, &members, is_operation, &assumptions) {
        Ok(remapping) => remapping,
        Err(refusal) => {
            refusals.push(refusal);
            return refusals;
        }
    };
    if let Some(remapping) = &remapping {
        refusals.extend(remapping.refusals(group, &members, &values, &assumptions));
    }
    let rearranging = match Rearranging::of(group, &members, is_operation) {
        Ok(rearranging) => rearranging,
        Err(refusal) => {
            refusals.push(refusal);
            return refusals;
        }
    };
    if let Some(rearranging) = &rearranging {
        refusals.extend(rearranging.refusals(group, &members, &assumptions));
    }
    let judge = GroupCheck {
        moved,
        graph,
        group,
        remapping,
        rearranging,
        numbers,
        assumed,
        answers: RefCell::new(answers),
        ranges: ranges.collect(),
        equal_or_disjoint: equal_or_disjoint.collect(),
        values: &values,
        assumptions: &assumptions,
        members: &members,
        partitions: &partitions,
    };
    refusals.extend(judge.by_iteration(&originals));
    refusals.extend(judge.shapes());
    refusals.extend(judge.preconditions());
    let Some(order) = SegmentOrder::of(group, &partitions) else {
        let first = members[0].launch.id;
        refusals.push(Refusal::Segments { first });
        return refusals;
    };
    refusals.extend(judge.resources(&order));
    refusals.extend(judge.synchronisation(&order));
    let led = by_iteration::led(&judge, sites, &originals);
    for position in 0..members.len() {
        for later in position + 1..members.len() {
            let pair = [position, later];
            let segments = pair.map(|member| order.segment[member]);
            let kept = order.between(&partitions, pair);
            let own = pair.map(|member| judge.as_planned(member));
            let mut found = judge.pair(own, segments, kept);
            let counted = by_iteration::with_led(&led, pair, own);
            if !found.is_empty()
                && counted.is_some_and(|pair| judge.pair(pair, segments, kept).is_empty())
            {
                found.clear();
            }
            refusals.extend(found);
        }
    }
    refusals
}

/// What speaks against pairs of accesses, by member and number, that may have no byte in common, whatever their blocks and threads.
pub(super) fn meetings(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
    answers: &mut Answers,
    pairs: &[[(usize, usize); 2]],
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let found = conflicts(graph, group, sites, answers, None, &mut |judge| {
        let found = pairs.iter().map(|pair| judge(*pair, Kept::Beside));
        refusals.extend(found.flatten());
    });
    let mut unique = Vec::new();
    for refusal in found.into_iter().chain(refusals) {
        if !unique.contains(&refusal) {
            unique.push(refusal);
        }
    }
    unique
}

/// Asks about pairs of accesses, by member and number: `ask` is given what says what speaks against two of them whose order is kept
/// in a way. Of members whose grids or blocks may differ, no order is kept. What is returned speaks against all. With an allowance,
/// once that is spent, something speaks against any two.
pub(super) fn conflicts(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
    answers: &mut Answers,
    allowance: Option<&Allowance>,
    ask: &mut dyn FnMut(&JudgeOfPairs<'_>),
) -> Vec<Refusal> {
    let values = guarded_values(graph, &group.guards, sites);
    let members: Vec<_> = sites
        .iter()
        .map(|site| Member::new(graph, &values, site.launch, site.model))
        .collect();
    let assumptions = assumptions(&group.guards, &values, &members);
    let numbers: Vec<_> = members
        .iter()
        .map(|member| answers.number(member))
        .collect();
    let assumed = answers.assumption_number(&assumptions);
    let Some(partitions) = BlockPartitions::of(group) else {
        let first = members[0].launch.id;
        return vec![Refusal::MixedMaps { first }];
    };
    let tested = |left, right| {
        let range = |range| TestedRange::new(graph, &values, &members, range);
        Some((range(left)?, range(right)?))
    };
    let ranges = group.guards.iter().filter_map(|guard| match guard {
        Guard::RangesDisjoint { left, right } => tested(left, right),
        _ => None,
    });
    let judge = GroupCheck {
        moved: &Moved::default(),
        graph,
        group,
        remapping: None,
        rearranging: None,
        numbers,
        assumed,
        answers: RefCell::new(answers),
        ranges: ranges.collect(),
        equal_or_disjoint: Vec::new(),
        values: &values,
        assumptions: &assumptions,
        members: &members,
        partitions: &partitions,
    };
    let are_alike = |[one, other]: [usize; 2]| {
        let [one, other] = [one, other].map(|member| &members[member].extents);
        (0..6).all(|index| assumptions.equal(&one[index], &other[index]))
    };
    ask(&|pair, kept| {
        if allowance.is_some_and(Allowance::is_spent) {
            let first = members[0].launch.id;
            return Some(Refusal::MixedMaps { first });
        }
        let judged = pair.map(|(member, _)| judge.as_planned(member));
        let accesses = pair.map(|(member, access)| &members[member].model.accesses[access]);
        let kept = match are_alike(pair.map(|(member, _)| member)) {
            true => kept,
            false => Kept::Beside,
        };
        judge.accesses(judged, accesses, kept)
    });
    Vec::new()
}

/// What speaks against two accesses, by member and number, whose order is kept in this way.
pub(super) type JudgeOfPairs<'a> = dyn Fn([(usize, usize); 2], Kept) -> Option<Refusal> + 'a;

/// Constants, and values that the guards make equal.
pub(super) fn guarded_values<'a>(
    graph: &'a LaunchGraph,
    guards: &[Guard],
    sites: &[Site<'_>],
) -> Values<'a> {
    fn unite(values: &mut Values<'_>, condition: &Condition<ValueId>, of_itself: bool) {
        match condition {
            Condition::Equal(left, right) if of_itself == speaks_of_itself(left, right) => {
                let left = normal_form(left, &mut |value| Some(values.resolve(*value)));
                let right = normal_form(right, &mut |value| Some(values.resolve(*value)));
                if let (Some(left), Some(right)) = (left, right) {
                    values.unite(&left, &right);
                }
            }
            Condition::All(parts) => {
                parts.iter().for_each(|part| unite(values, part, of_itself));
            }
            Condition::LessEqual(Expression::Constant(0..), Expression::Leaf(value)) => {
                values.assume_non_negative(*value);
            }
            Condition::Equal(..) | Condition::LessEqual(..) | Condition::Any(_) => {}
        }
    }
    fn speaks_of_itself(left: &Expression<ValueId>, right: &Expression<ValueId>) -> bool {
        let Expression::Leaf(own) = left else {
            return false;
        };
        let others = &mut |value: &ValueId| (value != own).then_some(Expression::Leaf(*value));
        right.substitute(others).is_none()
    }
    let mut values = Values::constants(graph);
    // The extents of a valid configuration are positive; that each is valid is a check of its own.
    for site in sites {
        for extent in site.launch.grid.iter().chain(&site.launch.block) {
            values.assume_non_negative(*extent);
        }
    }
    let holds = guards.iter().filter_map(|guard| match guard {
        Guard::Holds { condition, .. } => Some(condition),
        _ => None,
    });
    for (value, number) in fixed(holds.clone(), &values) {
        values.unite(
            &Polynomial::atom(Atom::Value(value)),
            &Polynomial::constant(number),
        );
    }
    // That a value is a whole multiple (`n == 4 * (n / 4)`) follows where it is one of another's quotient, but not the
    // other way round: what it says of itself comes last.
    for of_itself in [false, true] {
        holds
            .clone()
            .for_each(|condition| unite(&mut values, condition, of_itself));
    }
    values
}

/// What the guards say, and that configurations are valid.
pub(super) fn assumptions(
    guards: &[Guard],
    values: &Values<'_>,
    members: &[Member<'_>],
) -> Assumptions {
    let mut assumptions = Assumptions::default();
    for guard in guards {
        if let Guard::Holds { condition, .. } = guard {
            let resolve = &mut |value: &ValueId| Some(values.resolve(*value));
            if let Some(formula) = Formula::from_condition(condition, resolve) {
                assumptions.assume(formula);
            }
        }
    }
    // That every configuration is tested or constant is a check of its own.
    for member in members {
        member.assume_valid(&mut assumptions);
    }
    assumptions
}

/// The member's configuration is constant and valid, or tested.
pub(super) fn configuration(guards: &[Guard], member: &Member<'_>) -> Option<Refusal> {
    let launch = member.launch.id;
    let constants: Vec<_> = member.extents.iter().map(Polynomial::as_constant).collect();
    for (constant, maximum) in constants.iter().zip(MAXIMUM_EXTENTS) {
        if let Some(extent) = constant.filter(|extent| !(1..=maximum).contains(extent)) {
            let what = format!("an extent of {extent}, and at most {maximum} is allowed");
            return Some(Refusal::InvalidConfiguration { launch, what });
        }
    }
    let limit = member.model.max_threads.map_or(MAXIMUM_THREADS, i64::from);
    let threads = constants[3..].iter().copied().product::<Option<i64>>();
    if let Some(threads) = threads.filter(|threads| *threads > limit.min(MAXIMUM_THREADS)) {
        let what = format!("{threads} threads a block, and at most {limit} are allowed");
        return Some(Refusal::InvalidConfiguration { launch, what });
    }
    let tested = guards.contains(&Guard::ConfigurationValid { launch });
    // More than that is the program's to ask for, and whether it did is seen at the launch.
    let plain =
        |bytes: u64| bytes + member.model.static_shared_bytes <= MAXIMUM_STATIC_SHARED_BYTES;
    let known =
        constants.iter().all(Option::is_some) && member.dynamic_shared_bytes.is_some_and(plain);
    (!tested && !known).then_some(Refusal::ConfigurationUnchecked { launch })
}

/// Whether a launch by itself satisfies all that its model says is enough for all threads of a block to reach a barrier.
pub(super) fn reached_anyhow(
    graph: &LaunchGraph,
    launch: &Launch,
    model: &KernelModel,
    barrier: &Barrier,
) -> bool {
    let values = Values::constants(graph);
    let member = Member::new(graph, &values, launch, model);
    reached_if_known((&member, barrier), &values, &Assumptions::default())
}

fn reached_if_known(
    (member, barrier): (&Member<'_>, &Barrier),
    values: &Values<'_>,
    assumptions: &Assumptions,
) -> bool {
    let holds = |condition: &Condition<KernelSymbol>| {
        let symbol = &mut |symbol: &KernelSymbol| member.symbol(values, symbol);
        let formula = Formula::from_condition(condition, symbol);
        formula.is_some_and(|formula| assumptions.imply(&formula))
    };
    !barrier.reached_if.is_empty() && barrier.reached_if.iter().all(holds)
}

/// A member as it is compared with others.
#[derive(Clone, Copy)]
pub(super) struct Judged<'b> {
    pub(super) member: &'b Member<'b>,
    /// Its number in [`Answers`].
    pub(super) number: usize,
    pub(super) map: &'b ThreadMap,
}

pub(super) struct GroupCheck<'a> {
    /// What is replaced elsewhere than earlier segments find it.
    pub(super) moved: &'a Moved,
    pub(super) graph: &'a LaunchGraph,
    pub(super) group: &'a FusionGroup,
    /// The pairs of ranges that guards compare.
    pub(super) ranges: Vec<(TestedRange, TestedRange)>,
    /// Those that they compare where the pointers are not equal.
    pub(super) equal_or_disjoint: Vec<(TestedRange, TestedRange)>,
    pub(super) values: &'a Values<'a>,
    pub(super) assumptions: &'a Assumptions,
    pub(super) members: &'a [Member<'a>],
    pub(super) partitions: &'a BlockPartitions,
    /// Where some members are remapped.
    pub(super) remapping: Option<Remapping>,
    /// Where blocks of some members are rearranged.
    pub(super) rearranging: Option<Rearranging>,
    /// Numbers of the members and of the assumptions, equal for equal ones.
    pub(super) numbers: Vec<usize>,
    pub(super) assumed: usize,
    pub(super) answers: RefCell<&'a mut Answers>,
}

impl GroupCheck<'_> {
    fn shapes(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let different = |one: &Member<'_>, other: &Member<'_>, index: usize| {
            let (first, second) = (one.launch.id, other.launch.id);
            let extent = EXTENT_NAMES[index].to_string();
            Refusal::DifferentShape {
                first,
                second,
                extent,
            }
        };
        let moved = |member: &usize| {
            let map = &self.group.members[*member].map;
            is_remapped(map) || is_rearranged(map)
        };
        let partitions = self.partitions.members.iter().map(|partition| {
            let kept = partition.iter().copied().filter(|member| !moved(member));
            kept.collect::<Vec<usize>>()
        });
        let partitions: Vec<Vec<usize>> = partitions.collect();
        for pair in partitions.iter().flat_map(|partition| partition.windows(2)) {
            let pair = [pair[0], pair[1]].map(|member| &self.members[member]);
            for index in 3..6 {
                let [one, other] = [&pair[0].extents[index], &pair[1].extents[index]];
                if !self.assumptions.equal(one, other) {
                    refusals.push(different(pair[0], pair[1], index));
                }
            }
        }
        // Blocks of a block partition are counted one by one, so that its members have one grid.
        for partition in self.partitions.members.iter().filter(|partition| {
            let first = &self.group.members[partition[0]].map;
            matches!(first, ThreadMap::Blocks { .. })
        }) {
            for pair in partition.windows(2) {
                let pair = [pair[0], pair[1]].map(|member| &self.members[member]);
                for index in 0..3 {
                    let [one, other] = [&pair[0].extents[index], &pair[1].extents[index]];
                    if !self.assumptions.equal(one, other) {
                        refusals.push(different(pair[0], pair[1], index));
                    }
                }
            }
        }
        // The fused grid is the largest; who is not clipped runs in all of it.
        let planned = self.members.iter().zip(&self.group.members);
        for (member, _) in planned.filter(|(_, planned)| planned.map == ThreadMap::Identity) {
            let kept = (0..self.members.len()).filter(|member| !moved(member));
            for other in kept.map(|other| &self.members[other]) {
                for index in 0..3 {
                    let [own, of_other] = [&member.extents[index], &other.extents[index]];
                    let bound = Formula::less_equal(of_other, own);
                    if !self.assumptions.equal(of_other, own)
                        && !bound.is_some_and(|bound| self.assumptions.imply(&bound))
                    {
                        let refusal = different(member, other, index);
                        if !refusals.contains(&refusal) {
                            refusals.push(refusal);
                        }
                    }
                }
            }
        }
        refusals.extend(self.threads_in_step());
        refusals
    }

    /// Whether two members run in the same blocks of the fused grid.
    fn in_same_blocks(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|member| &self.members[member].extents);
        (0..3).all(|index| self.assumptions.equal(&one[index], &other[index]))
    }

    /// Threads that one member cannot tell apart run in step there, each loading before any stores.
    /// The fused kernel keeps that only if no other member tells them apart, in other blocks either.
    fn threads_in_step(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let in_rows = |member: &crate::schedule::Member| {
            let threads = match member.map {
                ThreadMap::Blocks { threads, .. } => threads,
                ThreadMap::Identity
                | ThreadMap::Clipped
                | ThreadMap::Remapped { .. }
                | ThreadMap::Runs { .. }
                | ThreadMap::Elements { .. }
                | ThreadMap::Tiles { .. }
                | ThreadMap::Rearranged { .. } => BlockThreads::Same,
            };
            threads != BlockThreads::Same
        };
        // In a row all threads are told apart, which `partitions` asks of each member, and `remapped` where
        // threads are counted, and `rearranged` where they are arranged anew.
        let rearranged = self
            .rearranging
            .as_ref()
            .is_some_and(|rearranging| !rearranging.threads_keep_their_places(self.group));
        if rearranged || self.remapping.is_some() || self.group.members.iter().any(in_rows) {
            return refusals;
        }
        for pair in self.members.windows(2) {
            for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
                let agree = pair[0].model.distinguishes_threads[axis]
                    == pair[1].model.distinguishes_threads[axis];
                let one = Polynomial::constant(1);
                if !agree && !self.assumptions.equal(&pair[1].extents[3 + axis], &one) {
                    refusals.push(Refusal::NotInStep {
                        first: pair[0].launch.id,
                        second: pair[1].launch.id,
                        axis: name,
                    });
                }
            }
        }
        refusals
    }

    fn preconditions(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for member in self.members {
            for index in 0..member.model.preconditions.len() {
                let formula = member.precondition(self.values, index);
                if !formula.is_some_and(|formula| self.assumptions.imply(&formula)) {
                    let launch = member.launch.id;
                    refusals.push(Refusal::PreconditionUnchecked { launch, index });
                }
            }
        }
        refusals
    }

    /// Whether the guards have all that a model says is enough for all threads of a block to reach a barrier.
    fn reached_if_guarded(&self, member: &Member<'_>, barrier: &Barrier) -> bool {
        reached_if_known((member, barrier), self.values, self.assumptions)
    }

    fn synchronisation(&self, order: &SegmentOrder) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for (position, member) in self.members.iter().enumerate() {
            let launch = member.launch.id;
            for barrier in member.model.waits().filter(|barrier| {
                !reached_by_all(self.graph, member.launch, member.model, barrier)
                    && !self.reached_if_guarded(member, barrier)
            }) {
                let location = barrier.location.to_string();
                refusals.push(Refusal::DivergentBarrier { launch, location });
            }
            // What runs interleaved runs in the same blocks.
            let mut company_of = (0..self.members.len())
                .filter(|other| order.segment[*other] == order.segment[position]);
            let map = &self.group.members[position].map;
            let alone = (is_remapped(map) || is_rearranged(map)) && order.has_company(position);
            if alone || company_of.any(|other| !self.in_same_blocks(position, other)) {
                refusals.push(Refusal::NotInterleaved { launch });
            }
            // Interleaved threads may have left what another member does on different ways.
            let partition = &self.partitions.members[self.partitions.of_member(position)];
            let together = order.starts_together(self.group, partition, position);
            let company = order.has_company(position);
            if member.model.warp_operations && (!together || company) {
                refusals.push(Refusal::WarpOperationsDiverged { launch });
            }
            // The waits for copies stand at the end of a segment.
            if company && (member.model.asynchronous_copies || member.model.prints) {
                refusals.push(Refusal::NotInterleaved { launch });
            }
            for (later, other) in self.members.iter().enumerate().skip(position + 1) {
                // Static shared memory is each member's own.
                let overlaid = member.model.dynamic_shared && other.model.dynamic_shared;
                let kept = order.between(self.partitions, [position, later]);
                if overlaid && !matches!(kept, Kept::InBlocks | Kept::Beside) {
                    let (first, second) = (launch, other.launch.id);
                    refusals.push(Refusal::SharedMemoryReused { first, second });
                }
            }
        }
        refusals
    }

    fn resources(&self, order: &SegmentOrder) -> Vec<Refusal> {
        needed_space(self.group, self.members, self.least_static_shared(order))
    }

    /// What is used between two barriers of a block partition has storage of its own, what a barrier separates may
    /// share it, and block partitions beside each other may, since a block runs one of them. That the kernel as it was made needs no more than
    /// there is, is known when it is made.
    fn least_static_shared(&self, order: &SegmentOrder) -> u64 {
        let mut between: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (position, member) in self.members.iter().enumerate() {
            let partition = self.partitions.of_member(position);
            let barriers = order.barriers[order.segment[position]];
            *between.entry((partition, barriers)).or_default() += member.model.static_shared_bytes;
        }
        let mut of_partitions: BTreeMap<usize, u64> = BTreeMap::new();
        for ((partition, _), bytes) in between {
            let most = of_partitions.entry(partition).or_default();
            *most = bytes.max(*most);
        }
        of_partitions.into_values().max().unwrap_or(0)
    }

    /// A member as the plan has it.
    pub(super) fn as_planned(&self, position: usize) -> Judged<'_> {
        Judged {
            member: &self.members[position],
            number: self.numbers[position],
            map: &self.group.members[position].map,
        }
    }

    /// Every pair of conflicting accesses of two members keeps its order.
    fn pair(&self, pair: [Judged<'_>; 2], segments: [usize; 2], kept: Kept) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let [source, sink] = pair.map(|judged| judged.member);
        for first in global_accesses(source) {
            for second in global_accesses(sink) {
                let late = match segments[0] < segments[1] {
                    true => Some((sink, second)),
                    false => Some((source, first)).filter(|_| segments[1] < segments[0]),
                };
                if late.is_some_and(|(member, access)| self.is_moved(member, access)) {
                    continue;
                }
                if first.kind == AccessKind::Read && second.kind == AccessKind::Read {
                    continue;
                }
                if in_any_order(first, second) {
                    continue;
                }
                if let Some(refusal) = self.accesses(pair, [first, second], kept)
                    && !refusals.contains(&refusal)
                {
                    refusals.push(refusal);
                }
            }
        }
        refusals
    }

    fn is_moved(&self, member: &Member<'_>, access: &Access) -> bool {
        match access.target {
            Target::Argument {
                argument,
                offset_bytes: 0,
            } => self.moved.contains(&(member.launch.id, argument)),
            _ => false,
        }
    }

    fn accesses(
        &self,
        judged: [Judged<'_>; 2],
        [first, second]: [&Access; 2],
        kept: Kept,
    ) -> Option<Refusal> {
        let [source, sink] = judged.map(|judged| judged.member);
        let what = || format!("{} and {}", first.location, second.location);
        let (one, two) = (source.launch.id, sink.launch.id);
        let pair = ((source, first), (sink, second));
        let difference = match self.met([pair.0, pair.1]) {
            Ok(difference) => difference?,
            Err(refusal) => return Some(refusal),
        };
        let meet_by = |separation, places: &Positions| {
            let numbers = judged.map(|judged| judged.number);
            self.meet(pair, numbers, &difference, (separation, places))
        };
        let maps = judged.map(|judged| judged.map);
        let rearranged = self.rearranging.as_ref();
        let places = rearranged
            .and_then(|rearranging| rearranging.of_pair([source, sink], maps))
            .map_or(Positions::Own, |places| {
                Positions::Arranged(Box::new(places))
            });
        let meet = |separation| meet_by(separation, &places);
        if let Some(remapping) = &self.remapping
            && maps.iter().any(|map| is_remapped(map))
        {
            let members = [source, sink];
            let never = |numbers: Option<[Numbers; 2]>| {
                let places = numbers.map(|numbers| Positions::Numbers(Box::new(numbers)));
                places.is_some_and(|places| !meet_by(Separation::Numbers, &places))
            };
            let in_one_thread = || {
                let kept = matches!(kept, Kept::InThreads | Kept::InBlocks);
                let (values, assumptions) = (self.values, self.assumptions);
                kept && never(remapping.thread_numbers(members, maps, values, assumptions))
            };
            let in_one_block = || {
                kept == Kept::InBlocks && never(remapping.block_numbers(members, maps, self.values))
            };
            let in_one_tile = || {
                let accesses = [first, second];
                let known = (self.values, self.assumptions);
                kept == Kept::InBlocks
                    && matrix_tiles::meet_in_blocks(members, maps, accesses, &difference, known)
            };
            let harmless =
                in_one_thread() || in_one_block() || in_one_tile() || !meet(Separation::Anyhow);
            return (!harmless).then(|| Refusal::RemappedConflict {
                first: one,
                second: two,
                what: what(),
            });
        }
        if kept == Kept::Beside {
            return meet(Separation::Anyhow).then(|| Refusal::DependentPartitions {
                first: one,
                second: two,
                what: what(),
            });
        }
        if meet(Separation::Blocks) {
            return Some(Refusal::CrossesBlocks {
                first: one,
                second: two,
                what: what(),
            });
        }
        if kept != Kept::InBlocks && meet(Separation::Threads) {
            return Some(Refusal::MissingBarrier {
                first: one,
                second: two,
                what: what(),
            });
        }
        (kept == Kept::Lost && meet(Separation::Nowhere)).then_some(Refusal::OrderLost {
            first: one,
            second: two,
            what: what(),
        })
    }
}

pub(super) fn global_accesses<'a>(
    member: &Member<'a>,
) -> impl Iterator<Item = &'a Access> + use<'a> {
    let numbers = global_access_numbers(member.model);
    numbers.map(|number| &member.model.accesses[number])
}

/// The numbers of a kernel's accesses to global memory.
pub(super) fn global_access_numbers(model: &KernelModel) -> impl Iterator<Item = usize> {
    let accesses = model.accesses.iter().enumerate();
    let global = accesses
        .filter(|(_, access)| !matches!(access.target, Target::Shared(_) | Target::UnknownShared));
    global.map(|(number, _)| number)
}

const EXTENT_NAMES: [&str; 6] = [
    "gridDim.x",
    "gridDim.y",
    "gridDim.z",
    "blockDim.x",
    "blockDim.y",
    "blockDim.z",
];
pub(super) const MAXIMUM_STATIC_SHARED_BYTES: u64 = 48 * 1024;
