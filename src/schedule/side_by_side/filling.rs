//! Whether independent launches that would run one after the other in the same blocks are better off side by
//! side.
//!
//! Launches that load the same are brought together in one block partition, where one load serves both if their
//! loops become one. Where each waits at barriers of its own they stay what they were, one behind the
//! other, and few blocks leave most of the device idle meanwhile: three products of 72 tiles take the time
//! of three, on 108 multiprocessors that would hold all 216 tiles at once.
//!
//! Invariant: only a layout is chosen, of those that the group has anyway, by what is known when the program
//! is compiled and fixed figures ([`super::super::beside_cost`]).

use super::super::beside_cost::{DEVICE, Estimate};
use super::super::domains::Domains;
use super::super::group::Judge;
use super::super::layout::{BlockPartitions, Layouts};
use super::super::obstacle::Candidate;
use super::super::occupancy::Capability;

impl<'a> Judge<'a> {
    /// The layouts, and of them as planned what is estimated to take the least time, where that is much less than
    /// what the planner brought together takes.
    pub(in crate::schedule) fn filling(
        &self,
        members: &[Candidate<'a>],
        domains: &Domains,
        mut layouts: Layouts,
    ) -> Layouts {
        let Some(device) = Capability::of(DEVICE) else {
            return layouts;
        };
        let time = |partitions: &BlockPartitions| -> Option<u64> {
            let partitions = partitions.iter();
            let partitions = partitions.map(|partition| self.partition(members, partition));
            let partitions: Vec<_> = partitions.collect();
            let known = partitions
                .iter()
                .all(|partition| partition.blocks.is_some());
            known.then(|| Estimate::of(&device, &partitions).nanoseconds)
        };
        let planned = layouts.planned().clone();
        let finer = layouts
            .all()
            .filter(|(_, partitions)| partitions.len() > planned.len());
        let finer: Vec<(usize, &BlockPartitions)> = finer.collect();
        let Some(usual) = time(&planned).filter(|_| !finer.is_empty()) else {
            return layouts;
        };
        let segments = self.order_of_partitions(members, &planned, domains).0;
        let better = finer
            .into_iter()
            .filter(|(_, partitions)| self.shares_nothing(members, &segments, &planned, partitions))
            .filter_map(|(place, partitions)| Some((time(partitions)?, place)))
            .filter(|(nanoseconds, _)| {
                nanoseconds.saturating_mul(LEAST_GAIN.1) <= usual.saturating_mul(LEAST_GAIN.0)
            })
            .min();
        if let Some((_, place)) = better {
            layouts.plan(place);
        }
        layouts
    }

    /// Whether `split` divides the block partitions of `planned` in such a way that what is divided has barriers of
    /// its own and waits together with nothing else, so that no loops or loads of theirs become one.
    fn shares_nothing(
        &self,
        members: &[Candidate<'a>],
        segments: &[Vec<usize>],
        planned: &BlockPartitions,
        split: &BlockPartitions,
    ) -> bool {
        let within = |part: &Vec<usize>, partition: &Vec<usize>| {
            let mut part = part.iter();
            part.all(|member| partition.contains(member))
        };
        let interleaved = |part: &Vec<usize>| {
            let mut shared = segments.iter().filter(|segment| segment.len() > 1);
            shared.any(|segment| segment.iter().any(|member| part.contains(member)))
        };
        let waits = |part: &Vec<usize>| {
            let mut part = part.iter();
            part.any(|member| !members[*member].model.barriers.is_empty())
        };
        split.iter().all(|part| {
            planned.contains(part)
                || planned.iter().any(|partition| within(part, partition))
                    && waits(part)
                    && !interleaved(part)
        })
    }
}

/// What is estimated has to be at most this part of what it was, as it is right about differences of such a
/// size.
const LEAST_GAIN: (u64, u64) = (3, 4);
