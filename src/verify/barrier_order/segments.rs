//! The order in which the members of a group run in the fused kernel, and what it keeps.
//!
//! A block partition runs its own segments only, and meets its own barriers only, in the plan's order.

use super::super::partitions::BlockPartitions;
use crate::schedule::FusionGroup;
use std::collections::BTreeMap;

/// How the fused kernel keeps the order of two members, the first of which comes first in host
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verify) enum Kept {
    /// In every thread, and a barrier stands between.
    InBlocks,
    /// In every thread.
    InThreads,
    /// Not at all: interleaved, or the other way round.
    Lost,
    /// Not at all, and blocks and threads of one are not those of the other.
    Beside,
}

/// Where each member stands in the fused kernel.
pub(in crate::verify) struct SegmentOrder {
    /// By member, the number of its segment.
    pub(in crate::verify) segment: Vec<usize>,
    /// By segment, how many barriers of its block partition stand before it or before one before it.
    pub(in crate::verify) barriers: Vec<usize>,
}

impl SegmentOrder {
    /// `None` when the segments are not the members, each once, or when members of one segment do
    /// not agree on a barrier before it or are of several block partitions.
    pub(in crate::verify) fn of(group: &FusionGroup, partitions: &BlockPartitions) -> Option<Self> {
        let mut segment = vec![None; group.members.len()];
        let mut barriers = Vec::new();
        // By block partition: the blocks of one do not meet the barriers of another.
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, members) in group.segments_in_order().iter().enumerate() {
            let first = *members.first()?;
            let before = group.members.get(first)?.barrier_before;
            // What stands before the first segment of a block partition would hold nobody back.
            let partition = partitions.of_member(first);
            if before && !counts.contains_key(&partition) {
                return None;
            }
            let count = counts.entry(partition).or_default();
            *count += usize::from(before);
            barriers.push(*count);
            for member in members {
                let place = segment.get_mut(*member)?;
                if place.replace(number).is_some() {
                    return None;
                }
                if group.members[*member].barrier_before != before
                    || !partitions.together(*member, first)
                {
                    return None;
                }
            }
        }
        Some(Self {
            segment: segment.into_iter().collect::<Option<_>>()?,
            barriers,
        })
    }

    pub(in crate::verify) fn between(
        &self,
        partitions: &BlockPartitions,
        members: [usize; 2],
    ) -> Kept {
        if !partitions.together(members[0], members[1]) {
            return Kept::Beside;
        }
        let [first, second] = members.map(|member| self.segment[member]);
        if first >= second {
            Kept::Lost
        } else if self.barriers[first] < self.barriers[second] {
            Kept::InBlocks
        } else {
            Kept::InThreads
        }
    }

    /// Whether a member starts when all threads of its block do.
    pub(in crate::verify) fn starts_together(
        &self,
        group: &FusionGroup,
        partition: &[usize],
        member: usize,
    ) -> bool {
        let first = partition.iter().map(|member| self.segment[*member]).min();
        Some(self.segment[member]) == first || group.members[member].barrier_before
    }

    /// Whether a member runs interleaved with another.
    pub(in crate::verify) fn has_company(&self, member: usize) -> bool {
        let mine = self.segment[member];
        self.segment.iter().filter(|other| **other == mine).count() > 1
    }
}
