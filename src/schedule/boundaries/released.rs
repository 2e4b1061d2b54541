//! Launches that wait for their batches and need not: the last block of the one runs the other, and no batch would hold more of
//! them.
//!
//! Invariant: a statement that leaves its region issues what waits before itself, as all other launches there do.

use super::super::batches::{Candidate, Several, candidates, issued};
use super::super::expansion::Expansion;
use super::super::group::Judge;
use super::super::{BatchedRegion, FusionGroup};
use crate::dependence::{DependenceGraph, DependenceKind};
use crate::launch::{LaunchId, NodeId, NodeKind};
use petgraph::algo::has_path_connecting;
use petgraph::graph::NodeIndex;
use petgraph::visit::{EdgeFiltered, EdgeRef};
use std::collections::BTreeSet;

impl Judge<'_> {
    /// The regions that are left where a group runs in its turn whose launches wait now, by `groups` without and with it.
    /// `None` where that takes more launches, or might: iterations of a host loop that need nothing of each other may meet in a
    /// batch.
    pub(super) fn released(
        &self,
        regions: &[BatchedRegion],
        dependences: &DependenceGraph,
        (group, before, after): (&FusionGroup, &[FusionGroup], &[FusionGroup]),
    ) -> Option<Vec<BatchedRegion>> {
        let members: BTreeSet<LaunchId> =
            group.members.iter().map(|member| member.launch).collect();
        let nodes: Vec<NodeId> = (self.graph.launches())
            .filter(|(launch, _)| members.contains(launch))
            .map(|(_, node)| node)
            .collect();
        let mut left = Vec::new();
        for region in regions {
            let (own, others): (Vec<_>, Vec<_>) = region
                .statements
                .iter()
                .cloned()
                .partition(|statement| members.contains(&statement.launch));
            if own.is_empty() {
                left.push(region.clone());
                continue;
            }
            let is_persistent = own.iter().any(|statement| statement.persistent.is_some());
            if is_persistent
                || !self.comes_alone(dependences, &nodes, region.outside_loops)
                || self.meets_others(dependences, &nodes, (region, before))
            {
                return None;
            }
            let rest = BatchedRegion {
                statements: others,
                ..region.clone()
            };
            let members = self.waiting(&rest, after);
            let members: Vec<&Candidate> = members.iter().collect();
            let expansion = (self.options.expands_buffers)
                .then(|| Expansion::new(self.graph, self.kernels, dependences));
            let renewed = expansion.map(|expansion| expansion.renewed(dependences));
            let planned_by = renewed.as_ref().unwrap_or(dependences);
            if issued(self.graph, planned_by, rest.outside_loops, &members).saves {
                left.push(rest);
            }
        }
        Some(left)
    }

    /// What waits in a region.
    fn waiting(&self, region: &BatchedRegion, groups: &[FusionGroup]) -> Vec<Candidate> {
        let expands_buffers = self.options.expands_buffers;
        let several = Several::AtOnce { expands_buffers };
        let mut all = candidates(self.graph, (self.kernels, &self.memory), groups, several);
        all.retain(|candidate| match &self.graph.nodes[candidate.node.0].kind {
            NodeKind::Launch(launch) => {
                let mut statements = region.statements.iter();
                statements.any(|statement| statement.launch == launch.id)
            }
            _ => false,
        });
        all
    }

    /// Whether launches of equal code may come into one batch with some, since neither needs what comes of the other.
    fn meets_others(
        &self,
        dependences: &DependenceGraph,
        nodes: &[NodeId],
        (region, groups): (&BatchedRegion, &[FusionGroup]),
    ) -> bool {
        let all = self.waiting(region, groups);
        let is_own = |candidate: &&Candidate| nodes.contains(&candidate.node);
        let (own, others): (Vec<&Candidate>, Vec<&Candidate>) = all.iter().partition(is_own);
        let flow = EdgeFiltered::from_fn(&dependences.graph, |edge| {
            edge.weight().kind == DependenceKind::Flow
        });
        let hands_on = |from: NodeId, to: NodeId| {
            let [from, to] = [from, to].map(|node| NodeIndex::new(node.0));
            has_path_connecting(&flow, from, to, None)
        };
        own.iter().any(|own| {
            others.iter().any(|other| {
                let (one, two) = (own.node, other.node);
                // Of alternatives one comes.
                let both_come = self.order.leads_to(one, two) || self.order.leads_to(two, one);
                own.kernels == other.kernels
                    && both_come
                    && !hands_on(one, two)
                    && !hands_on(two, one)
            })
        })
    }

    /// Whether launches surely wait for themselves from one iteration to the next, in each loop inside a region: the host looks
    /// at what the last one makes, or the first one needs it.
    fn comes_alone(
        &self,
        dependences: &DependenceGraph,
        nodes: &[NodeId],
        outside_loops: usize,
    ) -> bool {
        let around = |node: NodeId| {
            let block = self.graph.nodes[node.0].block;
            self.graph.loops_around(block)
        };
        let inside = nodes.iter().flat_map(|node| {
            let mut loops = around(*node).into_iter();
            loops.by_ref().take(outside_loops).for_each(drop);
            loops
        });
        let inside: BTreeSet<usize> = inside.collect();
        inside.into_iter().all(|of| {
            nodes.iter().any(|node| {
                let mut edges = dependences.graph.edges(NodeIndex::new(node.0));
                edges.any(|edge| {
                    let (sink, edge) = (NodeId(edge.target().index()), edge.weight());
                    let is_flow = edge.kind == DependenceKind::Flow && edge.absent_if.is_empty();
                    let to_host = match &self.graph.nodes[sink.0].kind {
                        NodeKind::Copy { host_side, .. } => *host_side,
                        _ => false,
                    };
                    let looks = to_host && !edge.carried && around(sink).contains(&of);
                    let needs = edge.carried
                        && edge.certain
                        && nodes.contains(&sink)
                        && edge.distances.iter().any(|each| each.host_loop == of);
                    is_flow && (looks || needs)
                })
            })
        })
    }
}
