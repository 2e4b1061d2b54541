//! The groups of launches while a plan is made, and why a launch could not join some of them.

use super::ScheduleOptions;
use super::obstacle::Candidate;
use crate::build::Fusion;
use crate::diagnostics::Rejection;
use crate::launch::{LaunchId, NodeId};
use std::collections::{BTreeSet, HashMap};

/// Disjoint lists of launches in host order.
#[derive(Default)]
pub(super) struct Groups<'a> {
    pub(super) members: Vec<Vec<Candidate<'a>>>,
    /// Where a group went that was joined to another.
    moved: Vec<usize>,
    of: HashMap<NodeId, usize>,
    /// The group that each launch was in when block partitions were settled.
    partitions: HashMap<NodeId, usize>,
}

impl<'a> Groups<'a> {
    pub(super) fn open(&mut self, launch: Candidate<'a>) -> usize {
        let index = self.members.len();
        self.of.insert(launch.node, index);
        self.members.push(vec![launch]);
        self.moved.push(index);
        index
    }

    /// The group that a launch is in now.
    pub(super) fn index_of(&self, launch: NodeId) -> Option<usize> {
        self.of.get(&launch).map(|group| self.find(*group))
    }

    fn find(&self, mut group: usize) -> usize {
        while self.moved[group] != group {
            group = self.moved[group];
        }
        group
    }

    pub(super) fn join(&mut self, sources: &[usize], home: usize) {
        for source in sources {
            let members = std::mem::take(&mut self.members[*source]);
            self.members[home].extend(members);
            self.moved[*source] = home;
        }
        self.members[home].sort_by_key(|member| member.node);
    }

    /// Each launch of the groups that some launches are in becomes a group of its own.
    pub(super) fn dissolve(&mut self, launches: &BTreeSet<LaunchId>) {
        for group in 0..self.members.len() {
            let mut members = self.members[group].iter();
            if members.any(|member| launches.contains(&member.launch.id)) {
                for member in std::mem::take(&mut self.members[group]) {
                    self.open(member);
                }
            }
        }
    }

    /// What is one group now runs in the same blocks; what joins later runs beside it.
    pub(super) fn settle_partitions(&mut self) {
        let found = self.of.iter();
        self.partitions = found
            .map(|(node, group)| (*node, self.find(*group)))
            .collect();
    }

    /// The members of a group run in the same blocks.
    pub(super) fn settle_as_one(&mut self, group: usize) {
        let nodes = self.members[group].iter().map(|member| member.node);
        self.partitions.extend(nodes.map(|node| (node, group)));
    }

    /// These launches run in the same blocks, and no others in those.
    pub(super) fn settle_apart(&mut self, launches: &[NodeId]) {
        let own = launches
            .first()
            .and_then(|first| self.of.get(first))
            .copied();
        for launch in launches {
            self.partitions.extend(own.map(|own| (*launch, own)));
        }
    }

    pub(super) fn partition(&self, launch: NodeId) -> usize {
        self.partitions.get(&launch).copied().unwrap_or(usize::MAX)
    }

    pub(super) fn group_of(&self, launch: NodeId) -> &[Candidate<'a>] {
        self.index_of(launch)
            .map_or(&[], |group| self.members[group].as_slice())
    }

    pub(super) fn fused(&self) -> usize {
        self.members
            .iter()
            .filter(|members| members.len() > 1)
            .count()
    }

    pub(super) fn together(&self, a: NodeId, b: NodeId) -> bool {
        self.index_of(a)
            .zip(self.index_of(b))
            .is_some_and(|(a, b)| a == b)
    }
}

/// Why a launch could not join some groups.
pub(super) struct Refusal {
    /// The last member of each of them.
    pub(super) places: Vec<NodeId>,
    pub(super) found: Rejection,
}

/// Whether launches that share nothing may run side by side.
pub(super) fn stand_beside(options: &ScheduleOptions) -> bool {
    options.fusion == Fusion::All
}
