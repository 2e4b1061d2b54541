//! Block partitions side by side: whether the block ranges of a group's members are a partition of the fused
//! grid in which every member finds its own blocks and threads.
//!
//! The ranges must be, in the order of the block partitions' first members, `0 .. c₁`, `c₁ .. c₁ + c₂`, …, with
//! each count the number of blocks of every member of its block partition, so that each block of a member is
//! exactly one block of the fused grid. Threads are kept or counted through a row, which is one-to-one
//! for the first `n` of them; that threads of a block partition wait for each other and run in step as
//! before is asked here, too. Products of extents are compared as polynomials over host values.

use super::super::Refusal;
use super::super::formula::{Assumptions, Formula};
use super::super::member::{MAXIMUM_EXTENTS, Member};
use super::super::place::Values;
use super::super::polynomial::{Polynomial, normal_form};
use crate::launch::ValueId;
use crate::math::expression::Expression;
use crate::schedule::{BlockThreads, FusionGroup, ThreadMap};

/// Which members run in the same blocks.
pub(in crate::verify) struct BlockPartitions {
    /// By member, the number of its block partition.
    of: Vec<usize>,
    /// The members of each block partition, ascending.
    pub(in crate::verify) members: Vec<Vec<usize>>,
}

/// The range of a block partition, as the plan tells it.
struct Range<'a> {
    first: &'a Expression<ValueId>,
    count: &'a Expression<ValueId>,
    threads: BlockThreads,
}

impl BlockPartitions {
    /// `None` when some members have a range and others not, or ranges that differ in part.
    pub(in crate::verify) fn of(group: &FusionGroup) -> Option<Self> {
        let mut of = Vec::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let ranged = |map: &ThreadMap| matches!(map, ThreadMap::Blocks { .. });
        let first = &group.members.first()?.map;
        for (position, member) in group.members.iter().enumerate() {
            if ranged(&member.map) != ranged(first) {
                return None;
            }
            let mut known = members.iter();
            let known = known.position(|partition| {
                !ranged(&member.map) || group.members[partition[0]].map == member.map
            });
            let number = known.unwrap_or(members.len());
            match known {
                Some(number) => members[number].push(position),
                None => members.push(vec![position]),
            }
            of.push(number);
        }
        Some(Self { of, members })
    }

    /// Whether two members run in the same blocks.
    pub(in crate::verify) fn together(&self, one: usize, other: usize) -> bool {
        self.of[one] == self.of[other]
    }

    /// The number of a member's block partition.
    pub(in crate::verify) fn of_member(&self, member: usize) -> usize {
        self.of[member]
    }

    /// What speaks against the ranges; nothing when the members keep their own blocks.
    pub(in crate::verify) fn refusals(
        &self,
        group: &FusionGroup,
        members: &[Member<'_>],
        values: &Values<'_>,
        assumptions: &Assumptions,
    ) -> Vec<Refusal> {
        let ranges = self
            .members
            .iter()
            .filter_map(|partition| range(group, partition[0]));
        let ranges: Vec<Range<'_>> = ranges.collect();
        if ranges.is_empty() {
            return Vec::new();
        }
        let mut refusals = Vec::new();
        let first_launch = members[0].launch.id;
        let polynomial = |expression: &Expression<ValueId>| {
            normal_form(expression, &mut |value| Some(values.resolve(*value)))
        };
        let mut end = Some(Polynomial::constant(0));
        for (partition, range) in self.members.iter().zip(&ranges) {
            let launch = members[partition[0]].launch.id;
            let wrong = |what: &str| Refusal::BlockRange {
                launch,
                what: what.to_string(),
            };
            let (first, count) = (polynomial(range.first), polynomial(range.count));
            let (Some(first), Some(count)) = (first, count) else {
                refusals.push(wrong("a range that cannot be told"));
                return refusals;
            };
            if end
                .as_ref()
                .is_none_or(|end| !assumptions.equal(end, &first))
            {
                refusals.push(wrong(
                    "a range that does not begin where the one before ends",
                ));
            }
            for member in partition {
                let [x, y, z, ..] = &members[*member].extents;
                let blocks = x.multiply(y).and_then(|area| area.multiply(z));
                if blocks.is_none_or(|blocks| !assumptions.equal(&blocks, &count)) {
                    let launch = members[*member].launch.id;
                    let what = String::from("more or fewer blocks than its range");
                    refusals.push(Refusal::BlockRange { launch, what });
                }
            }
            end = first.add(&count);
        }
        let fits = end
            .and_then(|end| Formula::less_equal(&end, &Polynomial::constant(MAXIMUM_EXTENTS[0])));
        if !fits.is_some_and(|formula| assumptions.imply(&formula)) {
            refusals.push(Refusal::GridTooLong {
                first: first_launch,
            });
        }
        let rows = ranges
            .iter()
            .filter(|range| range.threads != BlockThreads::Same);
        match rows.count() {
            0 => refusals.extend(same_block(members, assumptions)),
            rows if rows == ranges.len() => {
                refusals.extend(self.rows(members, &ranges, assumptions))
            }
            _ => refusals.push(Refusal::MixedMaps {
                first: first_launch,
            }),
        }
        refusals
    }

    /// Members of a row of threads: each block partition has its own block size, told apart in all of its axes.
    fn rows(
        &self,
        members: &[Member<'_>],
        ranges: &[Range<'_>],
        assumptions: &Assumptions,
    ) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let threads = |partition: &Vec<usize>| {
            let extents = members[partition[0]].extents[3..].iter();
            extents
                .map(Polynomial::as_constant)
                .product::<Option<i64>>()
        };
        let counts: Vec<Option<i64>> = self.members.iter().map(threads).collect();
        for (number, (partition, range)) in self.members.iter().zip(ranges).enumerate() {
            let BlockThreads::Row { fills_block } = range.threads else {
                continue;
            };
            let launch = members[partition[0]].launch.id;
            let largest = counts
                .iter()
                .all(|other| matches!((other, counts[number]), (Some(a), Some(b)) if *a <= b));
            if fills_block && !largest {
                let what = String::from("fewer threads than its block, or it is not known");
                refusals.push(Refusal::BlockRange { launch, what });
            }
            let whole_warps = counts[number].is_some_and(|count| count % WARP_THREADS == 0);
            for member in partition.iter().map(|member| &members[*member]) {
                let launch = member.launch.id;
                // Between members of a block partition there may be a barrier, too.
                let waits = partition.len() > 1
                    || !member.model.barriers.is_empty()
                    || member.model.warp_operations;
                if waits && !fills_block && !whole_warps {
                    refusals.push(Refusal::PartialWarps { launch });
                }
                for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
                    let one = Polynomial::constant(1);
                    let single = assumptions.equal(&member.extents[3 + axis], &one);
                    if !single && !member.model.distinguishes_threads[axis] {
                        refusals.push(Refusal::NotInStep {
                            first: members[0].launch.id,
                            second: launch,
                            axis: name,
                        });
                    }
                }
            }
        }
        refusals
    }
}

/// What the plan says of a member's blocks.
fn range(group: &FusionGroup, member: usize) -> Option<Range<'_>> {
    match &group.members[member].map {
        ThreadMap::Blocks {
            first,
            count,
            threads,
        } => Some(Range {
            first,
            count,
            threads: *threads,
        }),
        ThreadMap::Identity
        | ThreadMap::Clipped
        | ThreadMap::Remapped { .. }
        | ThreadMap::Runs { .. }
        | ThreadMap::Elements { .. }
        | ThreadMap::Tiles { .. }
        | ThreadMap::Rearranged { .. } => None,
    }
}

/// All members have one block shape.
fn same_block(members: &[Member<'_>], assumptions: &Assumptions) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for pair in members.windows(2) {
        for (axis, name) in ["x", "y", "z"].iter().enumerate() {
            let [one, other] = [&pair[0], &pair[1]].map(|member| &member.extents[3 + axis]);
            if !assumptions.equal(one, other) {
                refusals.push(Refusal::DifferentShape {
                    first: pair[0].launch.id,
                    second: pair[1].launch.id,
                    extent: format!("blockDim.{name}"),
                });
            }
        }
    }
    refusals
}

/// Threads of a warp.
const WARP_THREADS: i64 = 32;
