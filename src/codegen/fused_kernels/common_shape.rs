//! The shape of a fused launch whose members lie side by side.

use super::super::fuse::extent;
use crate::launch::{Launch, LaunchGraph, NodeKind, ValueId};
use crate::math::expression::Expression;
use crate::schedule::{BlockThreads, FusionGroup, Member, ThreadMap};

/// The length of the fused kernel's grid and of its blocks, each where it is one row instead of what
/// the last member has.
pub(in crate::codegen) fn common_shape(
    graph: &LaunchGraph,
    group: &FusionGroup,
) -> [Option<Expression<ValueId>>; 2] {
    let (mut blocks, mut threads) = (None::<Expression<ValueId>>, None::<Expression<ValueId>>);
    let launch_of = |member: &Member| {
        graph.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Launch(launch) if launch.id == member.launch => Some(launch),
            _ => None,
        })
    };
    let threads_of = |launch: &Launch| {
        let [x, y, z] = launch.block.map(|value| extent(graph, value));
        x.multiply(y).multiply(z)
    };
    if let [first, second] = group.members.as_slice()
        && group.recomputation.is_some()
        && second.map.is_remapped()
        && let (Some(first), Some(second)) = (launch_of(first), launch_of(second))
    {
        // As many blocks of the first as the threads of the second fill.
        let [x, y, z] = second.grid.map(|value| extent(graph, value));
        let all = x.multiply(y).multiply(z).multiply(threads_of(second));
        let own = threads_of(first);
        let filled = all.add(own.clone()).subtract(Expression::Constant(1));
        return [Some(filled.floor_divide(own)), None];
    }
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
        let own = launch_of(member).map(threads_of);
        threads = match (threads, own) {
            (Some(threads), Some(own)) => Some(threads.maximum(own)),
            (threads, own) => threads.or(own),
        };
    }
    [blocks, threads]
}
