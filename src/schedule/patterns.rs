//! Whether a set of launches may be one group, for planners that look at other groups than greedy grouping makes.
//!
//! Invariant: a set may be one group here exactly if greedy grouping makes one group of it when it is given nothing but
//! these launches: it is the same judge, asked in the same order, and everything else of the program stands between the
//! members as it always does. So a group of a planner is placed, guarded and laid out as every group is.

use super::group::{Judge, launches, orders};
use super::groups::Groups;
use super::local::{Grouping, group};
use super::obstacle::{Candidate, candidate};
use super::{FusionGroup, ScheduleOptions};
use crate::dependence::{DependenceGraph, DependenceKind, Scope};
use crate::diagnostics::Rejection;
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind};
use std::collections::{BTreeMap, HashMap};

/// Answers whether launches may be one group.
pub struct Patterns<'a> {
    judge: Judge<'a>,
    dependences: &'a DependenceGraph,
    candidates: HashMap<NodeId, Result<Candidate<'a>, Rejection>>,
    nodes: BTreeMap<LaunchId, NodeId>,
}

/// What one launch has to wait for another for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchRelation {
    /// The earlier launch.
    pub source: LaunchId,
    /// The later launch.
    pub sink: LaunchId,
    /// The later reads what the earlier wrote.
    pub flows: bool,
    /// The largest scope of an edge that orders them; what another map of threads makes smaller is a block's.
    pub scope: Scope,
}

impl<'a> Patterns<'a> {
    /// `kernels` is indexed by [`KernelId`](crate::program::KernelId).
    pub fn new(
        graph: &'a LaunchGraph,
        kernels: &'a [KernelModel],
        dependences: &'a DependenceGraph,
        options: &'a ScheduleOptions,
    ) -> Self {
        let nodes = graph.launches();
        let candidates = launches(graph).map(|node| (node, candidate(graph, kernels, node)));
        Self {
            judge: Judge::new(graph, kernels, dependences, options),
            dependences,
            candidates: candidates.collect(),
            nodes: nodes.collect(),
        }
    }

    /// The launches of the program, in host order, and whether each could take part in a group.
    pub fn launches(&self) -> Vec<(LaunchId, bool)> {
        let mut launches: Vec<(NodeId, LaunchId)> = self
            .nodes
            .iter()
            .map(|(launch, node)| (*node, *launch))
            .collect();
        launches.sort_unstable();
        let launches = launches.into_iter();
        launches
            .map(|(node, launch)| (launch, self.candidates[&node].is_ok()))
            .collect()
    }

    /// The dependences that always exist between launches of one iteration.
    pub fn relations(&self) -> Vec<LaunchRelation> {
        let launch = |node: NodeId| match &self.judge.graph.nodes[node.0].kind {
            NodeKind::Launch(launch) => Some(launch.id),
            _ => None,
        };
        let mut found: BTreeMap<(NodeId, NodeId), LaunchRelation> = BTreeMap::new();
        for edge in self.dependences.edges() {
            let (Some(source), Some(sink)) = (launch(edge.source), launch(edge.sink)) else {
                continue;
            };
            if edge.carried || !edge.absent_if.is_empty() || edge.source >= edge.sink {
                continue;
            }
            let scope = match orders(edge) {
                true if edge.has_map() => edge.scope.min(Scope::Block),
                true if self.judge.may_meet_by_iteration(edge.source, edge.sink) => {
                    edge.scope.min(Scope::Block)
                }
                true => edge.scope,
                false => Scope::Thread,
            };
            let flows = edge.kind == DependenceKind::Flow;
            let relation = found
                .entry((edge.source, edge.sink))
                .or_insert(LaunchRelation {
                    source,
                    sink,
                    flows,
                    scope,
                });
            relation.flows |= flows;
            relation.scope = relation.scope.max(scope);
        }
        found.into_values().collect()
    }

    /// The group of exactly these launches; `None` where they cannot be one.
    pub fn group(&mut self, members: &[LaunchId]) -> Option<FusionGroup> {
        let nodes = self.nodes_of(members)?;
        let grouping = alone(&mut self.judge, self.dependences, &nodes, &self.candidates)?;
        let [group] = <[FusionGroup; 1]>::try_from(grouping.plan(&self.judge).groups).ok()?;
        Some(group)
    }

    fn nodes_of(&self, members: &[LaunchId]) -> Option<Vec<NodeId>> {
        let nodes = members.iter().map(|launch| self.nodes.get(launch).copied());
        let mut nodes: Vec<NodeId> = nodes.collect::<Option<_>>()?;
        nodes.sort_unstable();
        nodes.dedup();
        Some(nodes)
    }
}

/// The grouping of these nodes alone, in ascending order, where that is one group.
fn alone<'a>(
    judge: &mut Judge<'a>,
    dependences: &DependenceGraph,
    nodes: &[NodeId],
    candidates: &HashMap<NodeId, Result<Candidate<'a>, Rejection>>,
) -> Option<Grouping<'a>> {
    if nodes.len() < 2 || nodes.iter().any(|node| candidates[node].is_err()) {
        return None;
    }
    let grouping = group(judge, dependences, nodes, candidates, None);
    let mut filled = grouping
        .groups
        .members
        .iter()
        .filter(|members| !members.is_empty());
    let is_one = filled
        .next()
        .is_some_and(|members| members.len() == nodes.len());
    is_one.then_some(grouping)
}

/// The groups that a planner chose, each as launches, where each of them may be one.
pub(super) fn prescribed<'a>(
    judge: &mut Judge<'a>,
    dependences: &DependenceGraph,
    nodes: &[NodeId],
    candidates: &HashMap<NodeId, Result<Candidate<'a>, Rejection>>,
    sets: &[Vec<LaunchId>],
) -> Grouping<'a> {
    let mut groups = Groups::default();
    for node in nodes {
        if let Ok(launch) = candidates[node] {
            groups.open(launch);
        }
    }
    let graph = judge.graph;
    let launch = |node: &NodeId| match &graph.nodes[node.0].kind {
        NodeKind::Launch(launch) => launch.id,
        _ => unreachable!("nodes are launches"),
    };
    let mut partitions: Vec<Vec<NodeId>> = Vec::new();
    for set in sets {
        let own: Vec<NodeId> = nodes
            .iter()
            .filter(|node| set.contains(&launch(node)))
            .copied()
            .collect();
        let Some(grouping) = alone(judge, dependences, &own, candidates) else {
            continue;
        };
        let mut of_set: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
        for node in &own {
            of_set
                .entry(grouping.groups.partition(*node))
                .or_default()
                .push(*node);
        }
        partitions.extend(of_set.into_values());
        let homes: Option<Vec<usize>> = own.iter().map(|node| groups.index_of(*node)).collect();
        if let Some((home, others)) = homes.as_ref().and_then(|homes| homes.split_last()) {
            groups.join(others, *home);
        }
    }
    groups.settle_partitions();
    for partition in &partitions {
        groups.settle_apart(partition);
    }
    Grouping {
        groups,
        refusals: HashMap::new(),
    }
}
