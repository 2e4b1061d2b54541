//! The shape of a fused launch whose members lie side by side.

use super::super::fuse::extent;
use crate::launch::{LaunchGraph, NodeKind, ValueId};
use crate::math::expression::Expression;
use crate::schedule::{BlockThreads, FusionGroup, ThreadMap};

/// The length of the fused kernel's grid and of its blocks, each where it is one row instead of what
/// the last member has.
pub(in crate::codegen) fn common_shape(
    graph: &LaunchGraph,
    group: &FusionGroup,
) -> [Option<Expression<ValueId>>; 2] {
    let (mut blocks, mut threads) = (None::<Expression<ValueId>>, None::<Expression<ValueId>>);
    for partition in group.partitions() {
        let member = &group.members[partition[0]];
        let ThreadMap::Blocks {
            first,
            count,
            threads: kind,
        } = &member.map
        else {
            continue;
        };
        blocks = Some(first.clone().add(count.clone()));
        if *kind == BlockThreads::Same {
            continue;
        }
        let launch = graph.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Launch(launch) if launch.id == member.launch => Some(launch),
            _ => None,
        });
        let own = launch.map(|launch| {
            let [x, y, z] = launch.block.map(|value| extent(graph, value));
            x.multiply(y).multiply(z)
        });
        threads = match (threads, own) {
            (Some(threads), Some(own)) => Some(threads.maximum(own)),
            (threads, own) => threads.or(own),
        };
    }
    [blocks, threads]
}
