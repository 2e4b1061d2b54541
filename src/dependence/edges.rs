//! All pairs of operations that may touch common bytes -> the edges of the [`Uar`].
//!
//! Order of proof for two launches and two targets: different allocations, no edge; same pointer or
//! known distance, the relation decides; anything else may overlap, and the edge says which ranges
//! a guard would have to compare. Where an absence relies on conditions that only a run can decide,
//! an edge stays, with those conditions in [`Edge::absent_if`].

use super::describe;
use super::effect::{Effect, ranges_apart};
use super::instance::{Instance, TargetUse};
use super::mapped::mapped_width;
use super::overlap::{Overlap, is_constant_memory, overlap};
use super::pair::{
    PairOfTargets, ShapeEquality, disjoint_guard, shape_equality, shape_on_sink_side,
};
use super::polynomial::Polynomial;
use super::relation::{Solver, unite_relations, universal_relation};
use super::{DependenceKind, Edge, Guard, Uar, Width};
use crate::diagnostics::{Location, RejectionReason};
use crate::kernel::{Access, KernelModel};
use crate::launch::{BufferId, HostBlockId, LaunchGraph, NodeId, ValueId};
use petgraph::graph::NodeIndex;
use std::collections::{BTreeSet, HashMap};

/// Builds the unified graph. Launches, copies, sets and frees have edges; fences (unknown calls,
/// host accesses, stream operations) and synchronisations have none: they order everything, which
/// the schedule stage knows. An allocation touches no byte that anything before it may still use,
/// because a free before it is a fence, and has no edge either.
pub fn build_uar(graph: &LaunchGraph, kernels: &[KernelModel]) -> Uar {
    let mut uar = Uar::default();
    for node in &graph.nodes {
        uar.graph.add_node(node.id);
    }
    let effects: Vec<Option<Effect>> = graph
        .nodes
        .iter()
        .map(|node| Effect::of(graph, kernels, node.id))
        .collect();
    let mut builder = Builder {
        graph,
        solver: Solver::default(),
        paths: HashMap::new(),
        parameters: HashMap::new(),
        uar,
    };
    let mut by_buffer: HashMap<BufferId, Vec<usize>> = HashMap::new();
    let mut wild: Vec<usize> = Vec::new();
    let mut all: Vec<usize> = Vec::new();
    for (later, effect) in effects.iter().enumerate() {
        let Some(effect) = effect else { continue };
        let (buffers, is_wild) = effect.reach();
        let candidates: BTreeSet<usize> = if is_wild {
            all.iter().copied().collect()
        } else {
            let sharing = buffers.iter().filter_map(|buffer| by_buffer.get(buffer));
            sharing.flatten().chain(&wild).copied().collect()
        };
        for earlier in candidates {
            if let Some(before) = &effects[earlier] {
                builder.relate(before, effect);
            }
        }
        builder.relate_to_itself(effect);
        all.push(later);
        if is_wild {
            wild.push(later);
        }
        for buffer in buffers {
            by_buffer.entry(buffer).or_default().push(later);
        }
    }
    builder.uar
}

/// Most pairs of accesses that one pair of targets is decided by.
const MOST_ACCESS_PAIRS: usize = 900;
/// After this many pairs a global width ends the search.
const ENOUGH_ACCESS_PAIRS: usize = 64;

struct Builder<'a> {
    graph: &'a LaunchGraph,
    solver: Solver,
    /// Blocks that a block reaches without entering a header, the common loop's.
    paths: HashMap<(HostBlockId, Option<HostBlockId>), Vec<bool>>,
    /// Parameter values of a node's model with its own shape.
    parameters: HashMap<NodeId, Vec<Polynomial>>,
    uar: Uar,
}

/// The verdict over all access pairs of one kind.
struct Merged<'a> {
    width: Width,
    relation: String,
    exact: bool,
    widest: (&'a Access, &'a Access),
    assumed: Vec<Guard>,
    /// False while no pair conflicts.
    any: bool,
    /// Some pair is known to cross blocks, rather than not known to stay in one.
    proven_global: bool,
}

impl Builder<'_> {
    fn relate(&mut self, source: &Effect, sink: &Effect) {
        if !source.is_launch() && !sink.is_launch() {
            return;
        }
        let block = |effect: &Effect| self.graph.nodes[effect.node().0].block;
        let (from, to) = (block(source), block(sink));
        let functions = [from, to].map(|block| self.graph.blocks[block.0].function);
        if functions[0] != functions[1] {
            // Who calls whom, and how often, is not known here.
            self.widest_edge(source, sink, false, &|_| false);
            self.widest_edge(sink, source, true, &|_| false);
            return;
        }
        let common = self.common_loop(from, to);
        if from == to || self.reaches(from, to, common) {
            let graph = self.graph;
            let stable = |value: ValueId| is_stable(graph, common, value);
            match (source, sink) {
                (Effect::Modelled(source), Effect::Modelled(sink)) => {
                    self.launch_pair(source, sink, &stable);
                }
                _ => self.widest_edge(source, sink, false, &stable),
            }
        }
        if common.is_some() || self.graph.functions[functions[0]].repeated {
            self.widest_edge(source, sink, true, &|_| false);
            self.widest_edge(sink, source, true, &|_| false);
        }
    }

    fn relate_to_itself(&mut self, effect: &Effect) {
        let block = &self.graph.blocks[self.graph.nodes[effect.node().0].block.0];
        let again = block.innermost_loop.is_some() || self.graph.functions[block.function].repeated;
        if again && effect.is_launch() {
            self.widest_edge(effect, effect, true, &|_| false);
        }
    }

    /// Global edges where places may overlap, one for each buffer and kind.
    fn widest_edge(
        &mut self,
        source: &Effect,
        sink: &Effect,
        carried: bool,
        stable: &impl Fn(ValueId) -> bool,
    ) {
        let sink_ranges = sink.ranges();
        let mut certain: Vec<(String, DependenceKind)> = Vec::new();
        for from in &source.ranges() {
            for to in &sink_ranges {
                let kinds = kinds_of((from.reads, from.writes), (to.reads, to.writes));
                if kinds.is_empty() {
                    continue;
                }
                let distance = match overlap(self.graph, &from.place, &to.place, stable) {
                    Overlap::Never => continue,
                    Overlap::Distance(distance) => Some(distance),
                    Overlap::Unknown => None,
                };
                let unstable = |value: ValueId| !stable(value);
                let apart = distance.as_ref().is_some_and(|distance| {
                    ranges_apart(distance, from.range.as_ref(), to.range.as_ref(), &unstable)
                });
                let mut absent_if = Vec::new();
                if apart {
                    absent_if.extend_from_slice(source.conditions());
                    absent_if.extend_from_slice(sink.conditions());
                    if absent_if.is_empty() {
                        continue;
                    }
                }
                let because = describe::whole(
                    self.graph,
                    (source.node(), &from.place.name),
                    (sink.node(), &to.place.name),
                    distance.is_some(),
                );
                for kind in kinds {
                    let key = (to.place.name.clone(), kind);
                    if certain.contains(&key) {
                        continue;
                    }
                    if !apart {
                        certain.push(key);
                    }
                    self.add(Edge {
                        source: source.node(),
                        sink: sink.node(),
                        buffer: to.place.name.clone(),
                        kind,
                        width: Width::Global,
                        relation: universal_relation(Width::Global),
                        exact: false,
                        conditions: Vec::new(),
                        absent_if: absent_if.clone(),
                        carried,
                        because: because.clone(),
                        reason: Some(RejectionReason::GlobalDependence),
                        location: self.graph.nodes[sink.node().0].location.clone(),
                        witness: None,
                        mapped: None,
                    });
                }
            }
        }
    }

    fn launch_pair(
        &mut self,
        source: &Instance,
        sink: &Instance,
        stable: &impl Fn(ValueId) -> bool,
    ) {
        let unstable = |value: ValueId| !stable(value);
        let sink_shape = shape_on_sink_side(&sink.shape, &unstable);
        let equality = shape_equality(source, &sink_shape);
        let mut facts = source.facts.clone();
        facts.extend(sink.facts.iter().map(|fact| fact.on_sink_side(&unstable)));
        let source_parameters = self.own_parameters(source);
        let sink_parameters: Vec<_> = self
            .own_parameters(sink)
            .iter()
            .map(|parameter| parameter.on_sink_side(&unstable))
            .collect();
        // The sink's values when its shape is the source's.
        let assumed_parameters: Option<Vec<_>> = match &equality {
            ShapeEquality::If(_) => Some(
                sink.parameters(self.graph, &source.shape)
                    .iter()
                    .map(|parameter| parameter.on_sink_side(&unstable))
                    .collect(),
            ),
            _ => None,
        };
        for from in &source.uses {
            for to in &sink.uses {
                let conflicts = [
                    (DependenceKind::Flow, &from.writes, &to.reads),
                    (DependenceKind::Anti, &from.reads, &to.writes),
                    (DependenceKind::Output, &from.writes, &to.writes),
                ];
                let kinds = kinds_of(
                    (!from.reads.is_empty(), !from.writes.is_empty()),
                    (!to.reads.is_empty(), !to.writes.is_empty()),
                );
                if kinds.is_empty() {
                    continue;
                }
                // No kernel can write constant memory.
                let constant = [&from.place, &to.place]
                    .into_iter()
                    .any(|place| is_constant_memory(self.graph, place));
                if constant {
                    continue;
                }
                let distance = match overlap(self.graph, &from.place, &to.place, stable) {
                    Overlap::Never => continue,
                    Overlap::Distance(distance) => Some(distance),
                    Overlap::Unknown => None,
                };
                let Some(distance) = distance else {
                    self.may_alias_edges(source, sink, from, to, &kinds);
                    continue;
                };
                if let Some(reason) = source.broken.as_ref().or(sink.broken.as_ref()) {
                    let name = if source.broken.is_some() {
                        source
                    } else {
                        sink
                    };
                    let because = format!("`{}`: {reason}", name.model.display_name);
                    let reason = RejectionReason::UnprovenIndex;
                    self.widest_between(source, sink, to, &kinds, (because, reason), Vec::new());
                    continue;
                }
                let mut pair = PairOfTargets {
                    source,
                    sink,
                    from,
                    to,
                    distance: &distance,
                    facts: &facts,
                    source_parameters: &source_parameters,
                    sink_parameters: &sink_parameters,
                    sink_shape: &sink_shape,
                    assumed_parameters: assumed_parameters.as_deref(),
                    equality: &equality,
                };
                for (kind, left, right) in conflicts {
                    self.precise_edge(&mut pair, kind, left, right);
                }
            }
        }
    }

    fn precise_edge(
        &mut self,
        pair: &mut PairOfTargets,
        kind: DependenceKind,
        left: &[usize],
        right: &[usize],
    ) {
        if left.is_empty() || right.is_empty() {
            return;
        }
        let (source, sink) = (pair.source, pair.sink);
        let first = (
            &source.model.accesses[left[0]],
            &sink.model.accesses[right[0]],
        );
        if left.len() * right.len() > MOST_ACCESS_PAIRS {
            let because = format!(
                "`{}` and `{}` access `{}` in too many ways to compare",
                source.model.display_name, sink.model.display_name, pair.to.place.name
            );
            let because = (because, RejectionReason::UnprovenIndex);
            self.widest_between(source, sink, pair.to, &[kind], because, Vec::new());
            return;
        }
        let mut merged = Merged {
            width: Width::Thread,
            relation: String::new(),
            exact: true,
            widest: first,
            assumed: Vec::new(),
            any: false,
            proven_global: false,
        };
        let mut absence_needs_shape = false;
        let mut compared = 0;
        'pairs: for &a in left {
            for &b in right {
                compared += 1;
                let accesses = (&source.model.accesses[a], &sink.model.accesses[b]);
                let verdict = pair.decide(&mut self.solver, accesses);
                absence_needs_shape |= verdict.absence_needs_shape;
                let Some(width) = verdict.conflict.width else {
                    continue;
                };
                let certain = width == Width::Global && verdict.conflict.proven;
                if !merged.any || width > merged.width || certain && !merged.proven_global {
                    merged.widest = accesses;
                }
                merged.width = if merged.any {
                    merged.width.max(width)
                } else {
                    width
                };
                merged.proven_global |= certain;
                merged.exact &= verdict.conflict.exact;
                for guard in verdict.assumed {
                    if !merged.assumed.contains(&guard) {
                        merged.assumed.push(guard);
                    }
                }
                if merged.any {
                    let (relation, exact) =
                        unite_relations(&merged.relation, &verdict.conflict.relation, merged.width);
                    merged.relation = relation;
                    merged.exact &= exact;
                } else {
                    merged.relation = verdict.conflict.relation;
                }
                merged.any = true;
                if merged.width == Width::Global && compared >= ENOUGH_ACCESS_PAIRS {
                    merged.relation = universal_relation(Width::Global);
                    merged.exact = false;
                    break 'pairs;
                }
            }
        }
        let mut relied_on = source.conditions.clone();
        for guard in &sink.conditions {
            if !relied_on.contains(guard) {
                relied_on.push(guard.clone());
            }
        }
        if !merged.any {
            if absence_needs_shape && let ShapeEquality::If(conditions) = pair.equality {
                relied_on.extend(conditions.iter().cloned());
            }
            if !relied_on.is_empty() {
                let because = format!(
                    "`{}` and `{}` are apart in `{}` only while indices do not wrap",
                    source.model.display_name, sink.model.display_name, pair.to.place.name
                );
                let because = (because, RejectionReason::UnprovenIndex);
                self.widest_between(source, sink, pair.to, &[kind], because, relied_on);
            }
            return;
        }
        let mut absent_if = Vec::new();
        if merged.width == Width::Global {
            if pair.distance.as_constant().is_none()
                && let Some(apart) = disjoint_guard(source, sink, pair.from, pair.to)
            {
                absent_if = relied_on.clone();
                absent_if.push(apart);
            }
            relied_on.clear();
            // The pairs were found for equal shapes, which nothing promises of a global edge.
            if matches!(pair.equality, ShapeEquality::If(_)) {
                merged.relation = universal_relation(Width::Global);
                merged.exact = false;
            }
        } else {
            relied_on.extend(merged.assumed);
            if let ShapeEquality::If(conditions) = pair.equality {
                relied_on.extend(conditions.iter().cloned());
            }
        }
        let reason = match pair.equality {
            ShapeEquality::Never => RejectionReason::Shape,
            _ if merged.proven_global => RejectionReason::GlobalDependence,
            _ => RejectionReason::UnprovenIndex,
        };
        let because = match pair.equality {
            ShapeEquality::Never if merged.width == Width::Global => {
                describe::different_shapes(source.model, sink.model)
            }
            _ => describe::accesses(
                source.model,
                sink.model,
                merged.widest,
                &pair.to.place.name,
                merged.width,
            ),
        };
        let example = pair.example(&mut self.solver, merged.widest, merged.width);
        let witness = pair.witness(self.graph, merged.widest, merged.width, example.as_ref());
        let mapped = mapped_width(
            pair,
            &mut self.solver,
            (left, right),
            merged.widest,
            merged.width,
            example.as_ref(),
        );
        self.add(Edge {
            source: source.node,
            sink: sink.node,
            buffer: pair.to.place.name.clone(),
            kind,
            width: merged.width,
            relation: merged.relation,
            exact: merged.exact,
            conditions: relied_on,
            absent_if,
            carried: false,
            because,
            reason: (merged.width == Width::Global).then_some(reason),
            location: merged.widest.1.location.clone(),
            witness,
            mapped,
        });
    }

    fn may_alias_edges(
        &mut self,
        source: &Instance,
        sink: &Instance,
        from: &TargetUse,
        to: &TargetUse,
        kinds: &[DependenceKind],
    ) {
        let mut absent_if = Vec::new();
        if source.broken.is_none()
            && sink.broken.is_none()
            && let Some(apart) = disjoint_guard(source, sink, from, to)
        {
            absent_if.extend(source.conditions.iter().cloned());
            absent_if.extend(sink.conditions.iter().cloned());
            absent_if.push(apart);
        }
        let because = describe::may_alias((source.model, &from.place), (sink.model, &to.place));
        let because = (because, RejectionReason::MayAlias);
        self.widest_between(source, sink, to, kinds, because, absent_if);
    }

    /// An edge over everything for each kind.
    fn widest_between(
        &mut self,
        source: &Instance,
        sink: &Instance,
        to: &TargetUse,
        kinds: &[DependenceKind],
        (because, reason): (String, RejectionReason),
        absent_if: Vec<Guard>,
    ) {
        let access = to.writes.first().or(to.reads.first());
        let location = access.map_or_else(Location::default, |index| {
            sink.model.accesses[*index].location.clone()
        });
        for &kind in kinds {
            self.add(Edge {
                source: source.node,
                sink: sink.node,
                buffer: to.place.name.clone(),
                kind,
                width: Width::Global,
                relation: universal_relation(Width::Global),
                exact: false,
                conditions: Vec::new(),
                absent_if: absent_if.clone(),
                carried: false,
                because: because.clone(),
                reason: Some(reason),
                location: location.clone(),
                witness: None,
                mapped: None,
            });
        }
    }

    fn add(&mut self, edge: Edge) {
        let (source, sink) = (NodeIndex::new(edge.source.0), NodeIndex::new(edge.sink.0));
        self.uar.graph.add_edge(source, sink, edge);
    }

    fn own_parameters(&mut self, instance: &Instance) -> Vec<Polynomial> {
        let graph = self.graph;
        self.parameters
            .entry(instance.node)
            .or_insert_with(|| instance.parameters(graph, &instance.shape))
            .clone()
    }

    fn common_loop(&self, a: HostBlockId, b: HostBlockId) -> Option<usize> {
        let of_b = loops_around(self.graph, self.graph.blocks[b.0].innermost_loop);
        loops_around(self.graph, self.graph.blocks[a.0].innermost_loop)
            .into_iter()
            .find(|candidate| of_b.contains(candidate))
    }

    /// Whether control can go from one block to another within one iteration of a loop around
    /// both, or in one call of their function.
    fn reaches(&mut self, from: HostBlockId, to: HostBlockId, common: Option<usize>) -> bool {
        let graph = self.graph;
        let header = common.map(|index| graph.loops[index].header);
        self.paths.entry((from, header)).or_insert_with(|| {
            let mut reached = vec![false; graph.blocks.len()];
            let mut work = vec![from];
            while let Some(block) = work.pop() {
                for next in &graph.blocks[block.0].successors {
                    if !reached[next.0] && Some(*next) != header {
                        reached[next.0] = true;
                        work.push(*next);
                    }
                }
            }
            reached
        })[to.0]
    }
}

/// The kinds of conflict between what reads and writes (in this order) before and after.
fn kinds_of(source: (bool, bool), sink: (bool, bool)) -> Vec<DependenceKind> {
    let mut kinds = Vec::new();
    if source.1 && sink.0 {
        kinds.push(DependenceKind::Flow);
    }
    if source.0 && sink.1 {
        kinds.push(DependenceKind::Anti);
    }
    if source.1 && sink.1 {
        kinds.push(DependenceKind::Output);
    }
    kinds
}

fn is_stable(graph: &LaunchGraph, common: Option<usize>, value: ValueId) -> bool {
    match graph.values[value.0].varies_in {
        None => true,
        Some(varies) => loops_around(graph, common).contains(&varies),
    }
}

/// A loop and the loops around it, innermost first.
fn loops_around(graph: &LaunchGraph, innermost: Option<usize>) -> Vec<usize> {
    let mut chain = Vec::new();
    let mut next = innermost;
    while let Some(index) = next {
        chain.push(index);
        next = graph.loops[index].parent;
    }
    chain
}
