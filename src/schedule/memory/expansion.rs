//! Expansion of overwritten buffers: a launch that waits gets other memory for what it replaces.
//!
//! An anti or output edge says that a launch overwrites what others use. Where it replaces a whole range
//! and reads none of it, the edge is one of place and not of values: with other memory for what it writes,
//! it need not come after them. The queue of a region does that when the program runs (its versions last until
//! the region ends, when the last one is copied to where the program has it). So launches that wait are
//! planned without the edges into replaced ranges; and members of a group that waits may be so, too: the
//! group then runs by the queue only.
//!
//! Invariant: an edge within a group is left out only where the group waits as one statement that says it
//! must replace what the edge is about.

use super::super::{BatchedStatement, FusionGroup, FusionPlan};
use crate::dependence::{DependenceGraph, DependenceKind, Edge, Scope, WholeWrite, WholeWrites};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// A plan without the groups that are only right where they wait, and do not.
pub fn without_unbacked(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    mut plan: FusionPlan,
) -> FusionPlan {
    let expansion = Expansion::new(graph, kernels, dependences);
    let at_home = placed(&plan);
    plan.groups.retain(|group| {
        let last = group.members.last().map(|member| member.launch);
        !expansion.is_needed(&expansion.nodes(group))
            || last.is_some_and(|last| at_home.contains(&last))
    });
    plan
}

/// The edges of a program that are about places alone.
pub(in crate::schedule) struct Expansion<'a> {
    graph: &'a LaunchGraph,
    /// Source and sink of each edge within an iteration that keeps two launches from being one, and the
    /// buffer, which the sink replaces.
    separated: BTreeSet<(NodeId, NodeId, String)>,
    /// Launches with what they replace.
    replaced: BTreeMap<NodeId, Vec<WholeWrite>>,
    /// Source and sink of each edge within an iteration, and the buffer.
    all: BTreeSet<(NodeId, NodeId, &'a str)>,
    nodes: BTreeMap<LaunchId, NodeId>,
}

impl<'a> Expansion<'a> {
    /// What the graph has of them.
    pub(in crate::schedule) fn new(
        graph: &'a LaunchGraph,
        kernels: &[KernelModel],
        dependences: &'a DependenceGraph,
    ) -> Self {
        let within = dependences.edges().filter(|edge| !edge.carried);
        let mut expansion = Self {
            all: within
                .map(|edge| (edge.source, edge.sink, edge.buffer.as_str()))
                .collect(),
            graph,
            separated: BTreeSet::new(),
            replaced: BTreeMap::new(),
            nodes: BTreeMap::new(),
        };
        for node in &graph.nodes {
            if let NodeKind::Launch(launch) = &node.kind {
                expansion.nodes.insert(launch.id, node.id);
            }
        }
        let mut whole = WholeWrites::new(graph, kernels);
        for edge in dependences.edges().filter(|edge| is_of_place(edge)) {
            if !expansion.replaced.contains_key(&edge.sink) {
                let buffers = expansion.replaced_by(kernels, edge.sink, &mut whole);
                expansion.replaced.insert(edge.sink, buffers);
            }
            let replaced = &expansion.replaced[&edge.sink];
            if names(replaced, &edge.buffer) && separates(edge) {
                let key = (edge.source, edge.sink, edge.buffer.clone());
                expansion.separated.insert(key);
            }
        }
        expansion
    }

    fn replaced_by(
        &self,
        kernels: &[KernelModel],
        node: NodeId,
        whole: &mut WholeWrites<'_>,
    ) -> Vec<WholeWrite> {
        let NodeKind::Launch(launch) = &self.graph.nodes[node.0].kind else {
            return Vec::new();
        };
        let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
        if model.is_none_or(|model| model.reads_addresses)
            || self.graph.operation_of(launch.id).is_some()
        {
            return Vec::new();
        }
        let whole = whole.of(node).into_iter();
        whole.filter(|write| write.operand.is_some()).collect()
    }

    fn is_renewed(&self, edge: &Edge) -> bool {
        let replaced = self.replaced.get(&edge.sink);
        is_of_place(edge) && replaced.is_some_and(|replaced| names(replaced, &edge.buffer))
    }

    /// The graph for launches that wait: what is replaced is new.
    pub(in crate::schedule) fn renewed(&self, dependences: &DependenceGraph) -> DependenceGraph {
        let mut renewed = dependences.clone();
        renewed
            .graph
            .retain_edges(|graph, edge| !self.is_renewed(&graph[edge]));
        renewed
    }

    /// The graph without the edges that keep launches apart for the sake of a place; `None` when that is
    /// the same graph.
    pub(in crate::schedule) fn freed(
        &self,
        dependences: &DependenceGraph,
    ) -> Option<DependenceGraph> {
        if self.separated.is_empty() {
            return None;
        }
        let mut freed = dependences.clone();
        freed
            .graph
            .retain_edges(|graph, edge| !self.is_freed(&graph[edge]));
        Some(freed)
    }

    fn is_freed(&self, edge: &Edge) -> bool {
        let key = (edge.source, edge.sink, edge.buffer.clone());
        is_of_place(edge) && separates(edge) && self.separated.contains(&key)
    }

    /// From now on the edges into these launches stay.
    pub(in crate::schedule) fn keep(&mut self, sinks: &BTreeSet<NodeId>) {
        self.separated.retain(|(_, sink, _)| !sinks.contains(sink));
    }

    /// Leaves those of the ranges that a statement replaces which it may have elsewhere: nothing that it runs
    /// later touches them. Where it is only right for some of them, it is those.
    pub(in crate::schedule) fn choose(&self, statement: &mut BatchedStatement, members: &[NodeId]) {
        let needed: BTreeSet<(NodeId, &str)> = self
            .within(members)
            .map(|(_, sink, buffer)| (*sink, buffer.as_str()))
            .collect();
        let mut met: BTreeSet<(NodeId, &str)> = BTreeSet::new();
        let touches = &statement.touches;
        statement.replaced.retain(|at| {
            let range = &touches[*at].range;
            let Some(node) = self.nodes.get(&range.launch) else {
                return false;
            };
            let known = self.replaced.get(node).into_iter().flatten();
            let mut buffers = known
                .filter(|write| write.operand == Some(range.operand))
                .map(|write| write.buffer.as_str());
            buffers.any(|buffer| {
                let is_needed = needed.contains(&(*node, buffer));
                if is_needed {
                    met.insert((*node, buffer));
                }
                let is_used = |other: &NodeId| self.all.contains(&(*node, *other, buffer));
                is_needed || needed.is_empty() && !members.iter().any(is_used)
            })
        });
        // All of them, or it has to stay unfused.
        if met != needed {
            statement.replaced.clear();
        }
        statement.must_replace = !met.is_empty() && met == needed;
    }

    /// Whether launches may only be one where one of them replaces what another one uses elsewhere.
    pub(in crate::schedule) fn is_needed(&self, members: &[NodeId]) -> bool {
        self.within(members).next().is_some()
    }

    fn within<'b>(
        &'b self,
        members: &'b [NodeId],
    ) -> impl Iterator<Item = &'b (NodeId, NodeId, String)> {
        let separated = self.separated.iter();
        separated.filter(|(source, sink, _)| members.contains(source) && members.contains(sink))
    }

    fn nodes(&self, group: &FusionGroup) -> Vec<NodeId> {
        let members = group.members.iter();
        members
            .filter_map(|member| self.nodes.get(&member.launch).copied())
            .collect()
    }

    /// The launches that replace something in groups which are only right where they wait, and do not.
    pub(in crate::schedule) fn unbacked(&self, plan: &FusionPlan) -> BTreeSet<NodeId> {
        let at_home = placed(plan);
        let mut unbacked = BTreeSet::new();
        for group in &plan.groups {
            let last = group.members.last().map(|member| member.launch);
            if last.is_none_or(|last| !at_home.contains(&last)) {
                let members = self.nodes(group);
                unbacked.extend(self.within(&members).map(|(_, sink, _)| *sink));
            }
        }
        unbacked
    }
}

/// The launches at whose places something waits that must replace ranges, and says which.
fn placed(plan: &FusionPlan) -> BTreeSet<LaunchId> {
    let statements = plan
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements);
    statements
        .filter(|statement| statement.must_replace && !statement.replaced.is_empty())
        .map(|statement| statement.launch)
        .collect()
}

fn names(replaced: &[WholeWrite], buffer: &str) -> bool {
    replaced.iter().any(|write| write.buffer == buffer)
}

/// Whether no value goes along an edge.
fn is_of_place(edge: &Edge) -> bool {
    matches!(edge.kind, DependenceKind::Anti | DependenceKind::Output)
}

/// Whether no kernel could hold both ends.
fn separates(edge: &Edge) -> bool {
    !edge.carried && edge.scope == Scope::Global && edge.mapped.is_none() && edge.array.is_none()
}
