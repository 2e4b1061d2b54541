//! Blocks of several sizes in one cooperative launch.
//!
//! Invariant: the launch has blocks of the member with the most threads a block. Another member's threads are, in linear order
//! (x fastest), the first threads of such a block; the others leave it out.

use super::super::FusionGroup;
use super::super::group::Judge;
use super::super::obstacle::{Candidate, rejection};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeKind};

impl FusionGroup {
    /// Of a cooperative group, the position of the member whose blocks the launch has: the first of those with the most
    /// threads. Where these are not known when compiling, all members have equal blocks.
    pub fn leader_of_blocks(&self, graph: &LaunchGraph) -> usize {
        let threads = |position: &usize| {
            let block = constant_block(graph, self.members[*position].launch)?;
            Some(block.iter().product::<u64>())
        };
        let all = (0..self.members.len()).filter(|position| {
            // Sets and copies have the shape of another member.
            graph.operation_of(self.members[*position].launch).is_none()
        });
        let largest = all
            .rev()
            .max_by_key(|position| threads(position).unwrap_or(0));
        largest.unwrap_or(0)
    }

    /// The extents of a member's block in a cooperative group, where they are others than those of the launch.
    pub fn own_block(&self, graph: &LaunchGraph, position: usize) -> Option<[u64; 3]> {
        if !self.is_cooperative() {
            return None;
        }
        let leader = self.members[self.leader_of_blocks(graph)].launch;
        let own = constant_block(graph, self.members[position].launch)?;
        (constant_block(graph, leader)? != own).then_some(own)
    }
}

impl Judge<'_> {
    /// Whether phases of these members may have blocks of several sizes, where they have; `neighbours` says whether the last two
    /// may be of one shape.
    ///
    /// # Errors
    /// Why not.
    pub(in crate::schedule) fn blocks_fit(
        &self,
        members: &[Candidate<'_>],
        neighbours: Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        let blocks = members
            .iter()
            .map(|member| block_of(self.graph, member.launch));
        let blocks: Vec<Option<[u64; 3]>> = blocks.collect();
        let mut known = blocks.iter().flatten();
        let first = known.next();
        if neighbours.is_ok() && known.all(|block| Some(block) == first) {
            return Ok(());
        }
        let Some(blocks) = blocks.into_iter().collect::<Option<Vec<[u64; 3]>>>() else {
            neighbours?;
            let location = &self.graph.nodes[members[members.len() - 1].node.0].location;
            let message = String::from("blocks have several sizes, not all of which are known");
            return Err(rejection(RejectionReason::Shape, message, location));
        };
        if blocks.windows(2).all(|pair| pair[0] == pair[1]) {
            return neighbours;
        }
        let threads = |block: &[u64; 3]| block.iter().product::<u64>();
        let Some(largest) = blocks.iter().rev().max_by_key(|block| threads(block)) else {
            return neighbours;
        };
        for (member, block) in members
            .iter()
            .zip(&blocks)
            .filter(|(_, block)| *block != largest)
        {
            let model = member.model;
            let name = &model.display_name;
            let location = &self.graph.nodes[member.node.0].location;
            let told = (0..3).all(|axis| model.distinguishes_threads[axis] || block[axis] == 1);
            let meets = !model.barriers.is_empty() || model.warp_operations;
            let what = match () {
                () if !told => "does not tell its threads apart, and has other blocks",
                () if meets && threads(block) != threads(largest) => {
                    "has smaller blocks, whose threads wait for each other"
                }
                () => continue,
            };
            let message = format!("`{name}` {what}");
            return Err(rejection(RejectionReason::Shape, message, location));
        }
        Ok(())
    }
}

fn constant_block(graph: &LaunchGraph, id: LaunchId) -> Option<[u64; 3]> {
    let launch = graph.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Launch(launch) if launch.id == id => Some(launch),
        _ => None,
    });
    block_of(graph, launch?)
}

fn block_of(graph: &LaunchGraph, launch: &Launch) -> Option<[u64; 3]> {
    let [x, y, z] = launch.block.map(|value| {
        let constant = graph.values.get(value.0)?.constant?;
        Some(constant.cast_unsigned() & u64::from(u32::MAX))
    });
    Some([x?, y?, z?])
}
