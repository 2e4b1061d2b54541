//! What the host may do while launches wait for their batches.
//!
//! Invariant: between a launch that waits and any other place where one of its region can be met, the host does nothing
//! that a kernel could see or be seen by, but in blocks at whose beginning what waits is issued.

use super::super::batches::Candidate;
use crate::launch::{Awaited, HostBlockId, LaunchGraph, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// What launches may wait across, each with what those above it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schedule) enum Passing {
    /// Launches, and looks for errors.
    Nothing,
    /// Waits of the host, for which somebody makes up later, unless they are kept.
    Waits { keeps: bool },
    /// What the host does with its own memory, of launches that are known not to touch that, or are asked; and what it does
    /// where it need not come by.
    HostWork { keeps: bool },
}

impl Passing {
    /// Whether an operation may be passed.
    pub(in crate::schedule) fn allows(self, graph: &LaunchGraph, node: NodeId) -> bool {
        match &graph.nodes[node.0].kind {
            // A set or a copy issues nothing.
            NodeKind::Launch(launch) => !launch.special && graph.operation_of(launch.id).is_none(),
            NodeKind::ErrorCheck => true,
            NodeKind::Synchronise(Awaited::Device | Awaited::Stream(_)) => !self.keeps_waits(),
            // Where an exception leaves the call, what waits is issued.
            NodeKind::HostAccess { ordered: false } | NodeKind::MayThrow { .. } => {
                matches!(self, Self::HostWork { .. })
            }
            _ => false,
        }
    }

    fn keeps_waits(self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Waits { keeps } | Self::HostWork { keeps } => keeps,
        }
    }
}

/// What it takes for launches to wait.
#[derive(Clone, Debug, Default)]
pub(in crate::schedule) struct HowTheyWait {
    /// Where what waits is issued on the way.
    pub(in crate::schedule) drained_before: BTreeSet<HostBlockId>,
    /// They are asked what memory they touch.
    pub(in crate::schedule) asks: bool,
}

/// How the members can wait, in one iteration of `scope` or one call of the function; `None` where they cannot.
pub(in crate::schedule) fn may_wait(
    graph: &LaunchGraph,
    passing: Passing,
    scope: Option<usize>,
    members: &[&Candidate],
) -> Option<HowTheyWait> {
    let own: BTreeSet<NodeId> = members.iter().map(|member| member.node).collect();
    let mut waiting = HowTheyWait::default();
    let blocks: BTreeSet<HostBlockId> = own.iter().map(|node| graph.nodes[node.0].block).collect();
    let passed = loop {
        let passed = passed(graph, scope, &own, &waiting.drained_before);
        let mut stops = passed.iter().filter(|node| !passing.allows(graph, **node));
        let stops: BTreeSet<HostBlockId> = stops
            .by_ref()
            .map(|node| graph.nodes[node.0].block)
            .collect();
        if stops.is_empty() {
            break passed;
        }
        let may_stop = matches!(passing, Passing::HostWork { .. }) && stops.is_disjoint(&blocks);
        let before = waiting.drained_before.len();
        waiting.drained_before.extend(&stops);
        if !may_stop || waiting.drained_before.len() == before {
            return None;
        }
    };
    let host_access =
        |node: &NodeId| matches!(graph.nodes[node.0].kind, NodeKind::HostAccess { .. });
    waiting.asks = passed.iter().any(host_access);
    if waiting.asks && members.iter().any(|member| member.questions.is_none()) {
        return None;
    }
    // Whoever issues what waits between any two of them gains nothing.
    let goes_on = |member: &&&Candidate| {
        let block = BTreeSet::from([graph.nodes[member.node.0].block]);
        let all = reach(&block, |block| {
            successors(graph, scope, block, &BTreeSet::new())
        });
        let past = reach(&block, |block| {
            successors(graph, scope, block, &waiting.drained_before)
        });
        all.is_disjoint(&blocks) || !past.is_disjoint(&blocks)
    };
    let worth = waiting.drained_before.is_empty() || members.iter().all(|member| goes_on(&member));
    worth.then_some(waiting)
}

/// Where what waits has to be issued so that nothing that could be observed happens between two runs of a launch, in one
/// iteration of `scope` or one call of the function: blocks that the host need not take, such as those that print an error.
/// A wait of the host is nothing where somebody makes up for it later. `None` where there is more on each way.
pub(in crate::schedule) fn quiet_but_for(
    graph: &LaunchGraph,
    scope: Option<usize>,
    launch: NodeId,
    keeps_synchronisations: bool,
) -> Option<BTreeSet<HostBlockId>> {
    let passing = Passing::Waits {
        keeps: keeps_synchronisations,
    };
    let own = BTreeSet::from([graph.nodes[launch.0].block]);
    let mut drained = BTreeSet::new();
    loop {
        let passed = passed(graph, scope, &BTreeSet::from([launch]), &drained);
        let stops = passed.iter().filter(|node| !passing.allows(graph, **node));
        let stops: BTreeSet<HostBlockId> = stops.map(|node| graph.nodes[node.0].block).collect();
        if stops.is_empty() {
            break;
        }
        if !stops.is_disjoint(&own) || stops.is_subset(&drained) {
            return None;
        }
        drained.extend(stops);
    }
    let past = reach(&own, |block| successors(graph, scope, block, &drained));
    (drained.is_empty() || !past.is_disjoint(&own)).then_some(drained)
}

/// What is done while some of the launches wait and others can still be met.
fn passed(
    graph: &LaunchGraph,
    scope: Option<usize>,
    own: &BTreeSet<NodeId>,
    drained: &BTreeSet<HostBlockId>,
) -> Vec<NodeId> {
    let header = scope.map(|index| graph.loops[index].header);
    let blocks: BTreeSet<HostBlockId> = own.iter().map(|node| graph.nodes[node.0].block).collect();
    let after = reach(&blocks, |block| successors(graph, scope, block, drained));
    let mut predecessors: BTreeMap<HostBlockId, Vec<HostBlockId>> = BTreeMap::new();
    for block in after.union(&blocks) {
        for next in &graph.blocks[block.0].successors {
            predecessors.entry(*next).or_default().push(*block);
        }
    }
    // From these a member is met again.
    let leading = reach(&blocks, |block| match Some(block) == header {
        true => Vec::new(),
        false => predecessors.get(&block).cloned().unwrap_or_default(),
    });
    let of_block = |block: &HostBlockId| {
        let nodes = &graph.blocks[block.0].nodes;
        let mut places = nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| own.contains(node))
            .map(|(place, _)| place);
        let (first, last) = match places.next() {
            Some(first) => (first, places.next_back().unwrap_or(first)),
            None => (0, 0),
        };
        let start = if after.contains(block) { 0 } else { first };
        let end = if leading.contains(block) {
            nodes.len()
        } else {
            last
        };
        nodes.get(start..end).unwrap_or_default().to_vec()
    };
    after.union(&blocks).flat_map(of_block).collect()
}

/// Where control goes in the same iteration, but for blocks at whose beginning nothing waits any more.
fn successors(
    graph: &LaunchGraph,
    scope: Option<usize>,
    block: HostBlockId,
    drained: &BTreeSet<HostBlockId>,
) -> Vec<HostBlockId> {
    let header = scope.map(|index| graph.loops[index].header);
    let next = graph.blocks[block.0].successors.iter().copied();
    next.filter(|next| Some(*next) != header && !drained.contains(next))
        .collect()
}

/// Blocks met from some, by at least one step.
fn reach(
    from: &BTreeSet<HostBlockId>,
    next: impl Fn(HostBlockId) -> Vec<HostBlockId>,
) -> BTreeSet<HostBlockId> {
    let mut met = BTreeSet::new();
    let mut work: Vec<HostBlockId> = from.iter().flat_map(|block| next(*block)).collect();
    while let Some(block) = work.pop() {
        if met.insert(block) {
            work.extend(next(block));
        }
    }
    met
}
