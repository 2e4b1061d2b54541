//! What is known before the program runs of the batches of a region, and what more of them could be had.
//!
//! Where host code is written out and every pointer is a known place in a known allocation, the batches
//! are those that the program will find when it runs. In loops they are found there; what orders the
//! launches is known, and which edges of a buffer that is overwritten (anti and output edges) keep
//! launches apart that no value ties together: without them, the buffer being another one each time,
//! the region is planned once more.
//!
//! Invariant: nothing here is part of a plan. Figures of a region count each loop once.

use super::super::batch_phases::part_of_phase;
use super::super::batches::{Candidate, Several, candidates, issued};
use super::super::host_order::HostOrder;
use super::super::local::plan_fusion;
use super::super::{BatchedRegion, FusionGroup, FusionPlan, ScheduleOptions};
use crate::dependence::{
    DependenceGraph, DependenceKind, Edge, KnownSpan, SharedMemory, WholeWrite, WholeWrites,
    known_spans,
};
use crate::diagnostics::Rejection;
use crate::kernel::KernelModel;
use crate::launch::{BufferId, LaunchGraph, LaunchId, NodeId, NodeKind, Operand, ValueId};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The order in which the launches of a region are issued, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchOrder {
    /// What waits, in the plan's order.
    pub statements: Vec<WaitingStatement>,
    /// The launches wait for nothing but to be issued as graphs.
    pub for_graphs: bool,
    /// So many host loops are around the region.
    pub outside_loops: usize,
    /// So many host loops are in it, one in another, at its deepest statement.
    pub inside_loops: usize,
    /// What comes of it.
    pub count: BatchCount,
    /// What orders two statements, or the runs of one, in host order of the first end.
    pub ordered_by: Vec<OrderingEdge>,
    /// Names of buffers that are renamed: what launches replace of them has other memory while it is needed.
    pub renamed: Vec<String>,
    /// Buffers that cost launches by being overwritten.
    pub overwritten: Vec<OverwrittenBuffers>,
}

/// A launch or group that waits for its batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingStatement {
    /// The launches that it is.
    pub members: Vec<NodeId>,
    /// The number of its batch from 1 on, where that is known.
    pub batch: Option<usize>,
    /// Each run of it waits for the one before, in all loops of the region.
    pub one_after_the_other: bool,
    /// Batches of its launches may be phases of one launch.
    pub in_phases: bool,
    /// Why they may not, where that was asked for.
    pub no_phase: Option<Rejection>,
}

/// How many launches are left of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchCount {
    /// The number of batches, where that is known.
    pub batches: Option<usize>,
    /// Launches at most, those of one batch with equal code and shape being one; each loop runs once.
    pub launches: usize,
    /// Statements whose runs come one after the other.
    pub serial: usize,
}

/// An edge between two launches of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderingEdge {
    /// The earlier launch.
    pub source: NodeId,
    /// The later launch.
    pub sink: NodeId,
    /// The buffer, for people.
    pub buffer: String,
    /// What it is.
    pub kind: DependenceKind,
    /// To a later iteration.
    pub carried: bool,
    /// It may be absent, or not be exact.
    pub maybe: bool,
    /// Who meets, for people; may be empty.
    pub explanation: String,
}

/// Buffers without whose reuse there were fewer launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverwrittenBuffers {
    /// Their names; several where it takes all of them.
    pub buffers: Vec<String>,
    /// The anti and output edges on them, between launches of the region.
    pub edges: Vec<OrderingEdge>,
    /// Every launch that overwrites them is known to replace all bytes of a range without reading any: what
    /// it leaves is a version of its own, of which nothing would have to be copied from the one before.
    pub whole: bool,
    /// What the region came to, if each version of these buffers were a buffer of its own.
    pub without: BatchCount,
}

/// The order of each region of a plan.
pub fn batch_orders(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
    plan: &FusionPlan,
) -> Vec<BatchOrder> {
    let of_launch: HashMap<LaunchId, NodeId> = graph.launches().collect();
    let mut orders = Vec::new();
    let mut whole = WholeWrites::new(graph, kernels);
    let memory = SharedMemory::new(graph, kernels);
    // Figures are about the plan as it is.
    let options = &ScheduleOptions {
        expands_buffers: false,
        ..*options
    };
    let in_batches = plan.batched_regions.iter().filter(|region| {
        let mut statements = region.statements.iter();
        statements.all(|statement| statement.persistent.is_none())
    });
    for region in in_batches {
        let mut replaced: BTreeMap<NodeId, Vec<WholeWrite>> = BTreeMap::new();
        for statement in &region.statements {
            for (launch, argument) in statement.replaced_arguments() {
                let Some(node) = of_launch.get(&launch) else {
                    continue;
                };
                let is_it = |write: &WholeWrite| matches!(write.operand, Some(Operand::Argument { argument: own, .. }) if own == argument);
                let writes = whole.of(*node).into_iter().filter(is_it);
                replaced.entry(*node).or_default().extend(writes);
            }
        }
        let dependences = &match replaced.is_empty() {
            true => Cow::Borrowed(dependences),
            false => Cow::Owned(without_places(dependences, &replaced)),
        };
        let names = replaced.values().flatten();
        let renamed: BTreeSet<String> = names.map(|write| write.buffer.clone()).collect();
        let statements = members(region, &plan.groups, &of_launch);
        let nodes: BTreeSet<NodeId> = statements.iter().flatten().copied().collect();
        let program = Program {
            graph,
            kernels,
            memory: &memory,
            nodes,
            several: match region.for_graphs {
                true => Several::InTurn,
                false => Several::AtOnce {
                    expands_buffers: false,
                },
            },
            outside_loops: region.outside_loops,
            replaced,
        };
        let (count, facts) = program.count(dependences, &plan.groups, &BTreeSet::new());
        let depth = |node: &NodeId| graph.loops_around(graph.nodes[node.0].block).len();
        let deepest = program.nodes.iter().map(depth).max().unwrap_or_default();
        orders.push(BatchOrder {
            statements: statements
                .into_iter()
                .zip(&region.statements)
                .map(|(members, planned)| {
                    let fact = members.last().and_then(|last| facts.get(last));
                    let asked = options.grid_barriers && !region.for_graphs;
                    let may_be = || part_of_phase(graph, kernels, &plan.groups, &members).err();
                    WaitingStatement {
                        batch: fact.and_then(|fact| fact.batch),
                        one_after_the_other: fact.is_some_and(|fact| fact.serial),
                        in_phases: planned.phase_rounds.is_some(),
                        no_phase: asked.then(may_be).flatten(),
                        members,
                    }
                })
                .collect(),
            for_graphs: region.for_graphs,
            outside_loops: region.outside_loops,
            inside_loops: deepest.saturating_sub(region.outside_loops),
            count,
            ordered_by: program.ordering(dependences, |_| true),
            renamed: renamed.into_iter().collect(),
            overwritten: match region.for_graphs {
                true => Vec::new(),
                false => program.overwritten(dependences, options, count),
            },
        });
    }
    orders
}

/// The edges that are left where launches replace what they do in other memory.
fn without_places(
    dependences: &DependenceGraph,
    replaced: &BTreeMap<NodeId, Vec<WholeWrite>>,
) -> DependenceGraph {
    let mut left = dependences.clone();
    left.graph.retain_edges(|graph, edge| {
        let edge = &graph[edge];
        let of_place = matches!(edge.kind, DependenceKind::Anti | DependenceKind::Output);
        let mut replaced = replaced.get(&edge.sink).into_iter().flatten();
        !of_place || !replaced.any(|write| write.buffer == edge.buffer)
    });
    left
}

/// The launches of each statement.
fn members(
    region: &BatchedRegion,
    groups: &[FusionGroup],
    of_launch: &HashMap<LaunchId, NodeId>,
) -> Vec<Vec<NodeId>> {
    let by_last: HashMap<LaunchId, &FusionGroup> = groups
        .iter()
        .filter_map(|group| Some((group.members.last()?.launch, group)))
        .collect();
    let statements = region.statements.iter().map(|statement| {
        let launches = match by_last.get(&statement.launch) {
            Some(group) => group.members.iter().map(|member| member.launch).collect(),
            None => vec![statement.launch],
        };
        let nodes = launches.iter().filter_map(|launch| of_launch.get(launch));
        nodes.copied().collect()
    });
    statements.collect()
}

/// A part of a program.
struct Program<'a> {
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    memory: &'a SharedMemory<'a>,
    /// Its launches.
    nodes: BTreeSet<NodeId>,
    several: Several,
    outside_loops: usize,
    /// By launch, what it replaces and has other memory for.
    replaced: BTreeMap<NodeId, Vec<WholeWrite>>,
}

/// What is known of a statement.
struct Fact {
    batch: Option<usize>,
    serial: bool,
}

impl Program<'_> {
    /// What comes of the launches under given groups, the buffers of some names being another one at each
    /// write; and what is known of each statement, by its last member.
    fn count(
        &self,
        dependences: &DependenceGraph,
        groups: &[FusionGroup],
        renamed: &BTreeSet<&str>,
    ) -> (BatchCount, BTreeMap<NodeId, Fact>) {
        let known = (self.kernels, self.memory);
        let all = candidates(self.graph, known, groups, self.several);
        let own: Vec<&Candidate> = all
            .iter()
            .filter(|candidate| self.nodes.contains(&candidate.node))
            .collect();
        let issued = issued(self.graph, dependences, self.outside_loops, &own);
        // Groups of other maps do not wait; each is a launch by itself.
        let waiting: BTreeSet<NodeId> =
            own.iter().flat_map(|each| &each.members).copied().collect();
        let other = self.nodes.difference(&waiting);
        let other: BTreeSet<_> = other.map(|node| self.group_of(groups, *node)).collect();
        let batches = match other.is_empty() {
            true => self.known_batches(&own, renamed),
            false => None,
        };
        let mut facts = BTreeMap::new();
        for (index, candidate) in own.iter().enumerate() {
            let fact = Fact {
                batch: batches.as_ref().map(|batches| batches[index]),
                serial: issued.serial[index],
            };
            facts.insert(candidate.node, fact);
        }
        let of_batches = batches.as_ref().unwrap_or(&issued.batches).iter();
        let launches: BTreeSet<_> = own
            .iter()
            .zip(of_batches)
            .map(|(candidate, batch)| {
                let block = self.graph.nodes[candidate.node.0].block;
                let around = self.graph.blocks[block.0].innermost_loop;
                (
                    around,
                    batch,
                    &candidate.kernels,
                    self.shape(candidate.node),
                )
            })
            .collect();
        let count = BatchCount {
            batches: batches
                .as_ref()
                .and_then(|batches| batches.iter().max().copied()),
            // What does not wait is issued after all that waits, each time.
            launches: match other.len() {
                0 => launches.len(),
                others => own.len() + others,
            },
            serial: issued.serial.iter().filter(|serial| **serial).count(),
        };
        (count, facts)
    }

    /// The group that a launch is in, or itself.
    fn group_of(&self, groups: &[FusionGroup], node: NodeId) -> Result<usize, NodeId> {
        let NodeKind::Launch(launch) = &self.graph.nodes[node.0].kind else {
            return Err(node);
        };
        let has = |group: &FusionGroup| {
            group
                .members
                .iter()
                .any(|member| member.launch == launch.id)
        };
        groups.iter().position(has).ok_or(node)
    }

    /// Grid and block of a launch: equal ones are equal.
    fn shape(&self, node: NodeId) -> Vec<Result<i64, ValueId>> {
        let NodeKind::Launch(launch) = &self.graph.nodes[node.0].kind else {
            return Vec::new();
        };
        let extents = launch.grid.into_iter().chain(launch.block);
        extents
            .map(|value| self.graph.values[value.0].constant.ok_or(value))
            .collect()
    }

    /// The batches of statements that each run once, in this order, and touch known bytes: as the queue
    /// finds them. `None` where not all of that is known.
    fn known_batches(
        &self,
        statements: &[&Candidate],
        renamed: &BTreeSet<&str>,
    ) -> Option<Vec<usize>> {
        let order = HostOrder::new(self.graph);
        let loops = |node: NodeId| {
            self.graph
                .loops_around(self.graph.nodes[node.0].block)
                .len()
        };
        let runs_once = |candidate: &&Candidate| loops(candidate.node) == self.outside_loops;
        let mut pairs = statements.windows(2);
        if !statements.iter().all(runs_once)
            || !pairs.all(|pair| order.in_step(pair[0].node, pair[1].node))
        {
            return None;
        }
        let mut touched: HashMap<BufferId, Vec<(KnownSpan, usize)>> = HashMap::new();
        let mut batches = Vec::new();
        for statement in statements {
            let mut spans: Vec<KnownSpan> = Vec::new();
            let mut moved: Vec<KnownSpan> = Vec::new();
            for node in &statement.members {
                let replaced = self.replaced.get(node).into_iter().flatten();
                for span in known_spans(self.graph, self.kernels, *node)? {
                    let name = self.graph.buffers[span.buffer.0].name.as_str();
                    let is_it = |write: &WholeWrite| {
                        span.writes
                            && write.buffer == name
                            && write.high_bytes - write.low_bytes
                                == span.high_bytes - span.low_bytes
                    };
                    if replaced.clone().any(is_it) {
                        moved.push(span);
                    } else if !spans.contains(&span) {
                        spans.push(span);
                    }
                }
            }
            let after = |span: &KnownSpan| {
                let name = self.graph.buffers[span.buffer.0].name.as_str();
                let is_renamed = renamed.contains(name);
                let known = touched.get(&span.buffer).into_iter().flatten();
                let before = known.filter(|(other, _)| {
                    let ordered = match is_renamed {
                        true => other.writes && !span.writes,
                        false => other.writes || span.writes,
                    };
                    ordered && other.may_meet(span)
                });
                before.map(|(_, batch)| *batch).max().unwrap_or_default()
            };
            let batch = spans.iter().map(after).max().unwrap_or_default() + 1;
            batches.push(batch);
            for span in &moved {
                let inside = |other: &KnownSpan| {
                    span.low_bytes <= other.low_bytes && other.high_bytes <= span.high_bytes
                };
                let before = touched.entry(span.buffer).or_default();
                before.retain(|(other, _)| !inside(other));
            }
            for span in spans.into_iter().chain(moved) {
                touched.entry(span.buffer).or_default().push((span, batch));
            }
        }
        Some(batches)
    }

    /// The edges between launches of the region that order them and that are wanted, one of several
    /// that say the same.
    fn ordering(
        &self,
        dependences: &DependenceGraph,
        wanted: impl Fn(&Edge) -> bool,
    ) -> Vec<OrderingEdge> {
        let mut found = BTreeMap::new();
        for edge in self.edges(dependences).filter(|edge| wanted(edge)) {
            let maybe = !edge.certain || !edge.absent_if.is_empty();
            let kind = match edge.kind {
                DependenceKind::Flow => 0,
                DependenceKind::Anti => 1,
                DependenceKind::Output => 2,
                DependenceKind::Reduction => continue,
            };
            let key = (edge.source, edge.sink, edge.carried, kind, &edge.buffer);
            found.entry(key).or_insert_with(|| OrderingEdge {
                source: edge.source,
                sink: edge.sink,
                buffer: edge.buffer.clone(),
                kind: edge.kind,
                carried: edge.carried,
                maybe,
                explanation: edge.explanation(),
            });
        }
        found.into_values().collect()
    }

    fn edges<'b>(&'b self, dependences: &'b DependenceGraph) -> impl Iterator<Item = &'b Edge> {
        let inside =
            |edge: &&Edge| self.nodes.contains(&edge.source) && self.nodes.contains(&edge.sink);
        dependences.edges().filter(inside)
    }

    /// Which buffers would save launches if they were not overwritten: each that does so by itself, else
    /// all of them together.
    fn overwritten(
        &self,
        dependences: &DependenceGraph,
        options: &ScheduleOptions,
        count: BatchCount,
    ) -> Vec<OverwrittenBuffers> {
        if self.graph.nodes.len() > MOST_NODES {
            return Vec::new();
        }
        // What is left of the graph's edges is gone through by each plan.
        let most_plans = MOST_EDGES_PLANNED / dependences.graph.edge_count().max(1);
        let reuses =
            |edge: &&Edge| matches!(edge.kind, DependenceKind::Anti | DependenceKind::Output);
        let names: BTreeSet<&str> = self
            .edges(dependences)
            .filter(reuses)
            .map(|edge| edge.buffer.as_str())
            .collect();
        let try_without = |names: &BTreeSet<&str>| {
            let without = self.without(dependences, options, names);
            let better = (without.launches, without.serial, without.batches)
                < (count.launches, count.serial, count.batches);
            better.then(|| OverwrittenBuffers {
                whole: self.written_whole(dependences, names),
                buffers: names.iter().map(|name| (*name).to_owned()).collect(),
                edges: self.ordering(dependences, |edge| {
                    reuses(&edge) && names.contains(edge.buffer.as_str())
                }),
                without,
            })
        };
        if names.is_empty() || most_plans == 0 {
            return Vec::new();
        }
        let Some(all) = try_without(&names) else {
            return Vec::new();
        };
        if names.len() > MOST_BUFFERS.min(most_plans) {
            return vec![all];
        }
        let single: Vec<_> = names
            .iter()
            .filter_map(|name| try_without(&BTreeSet::from([*name])))
            .collect();
        match single.is_empty() {
            true => vec![all],
            false => single,
        }
    }

    /// Whether the sinks of all anti and output edges on some buffers write whole ranges of them.
    fn written_whole(&self, dependences: &DependenceGraph, names: &BTreeSet<&str>) -> bool {
        let of_names = |edge: &&Edge| {
            let reuses = matches!(edge.kind, DependenceKind::Anti | DependenceKind::Output);
            reuses && names.contains(edge.buffer.as_str())
        };
        let sinks = self.edges(dependences).filter(of_names);
        let sinks: BTreeSet<(NodeId, &str)> = sinks
            .map(|edge| (edge.sink, edge.buffer.as_str()))
            .collect();
        let mut written = BTreeMap::new();
        let mut whole = WholeWrites::new(self.graph, self.kernels);
        sinks.iter().all(|(sink, buffer)| {
            let ranges = written.entry(*sink).or_insert_with(|| whole.of(*sink));
            ranges.iter().any(|range| range.buffer == *buffer)
        })
    }

    /// What comes of the region when some buffers are never overwritten.
    fn without(
        &self,
        dependences: &DependenceGraph,
        options: &ScheduleOptions,
        names: &BTreeSet<&str>,
    ) -> BatchCount {
        let mut freed = dependences.clone();
        freed.graph.retain_edges(|graph, edge| {
            let edge = &graph[edge];
            let inside = self.nodes.contains(&edge.source) && self.nodes.contains(&edge.sink);
            let flows = matches!(edge.kind, DependenceKind::Flow | DependenceKind::Reduction);
            flows || !inside || !names.contains(edge.buffer.as_str())
        });
        let (plan, _) = plan_fusion(self.graph, self.kernels, &freed, options);
        self.count(&freed, &plan.groups, names).0
    }
}

/// Programs of more operations are not planned again.
const MOST_NODES: usize = 3000;

/// So many edges are gone through at most, in all plans of a region together.
const MOST_EDGES_PLANNED: usize = 50_000;

/// So many buffers are tried one by one.
const MOST_BUFFERS: usize = 12;
