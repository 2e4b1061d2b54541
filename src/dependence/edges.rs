//! All pairs of operations that may touch common bytes -> the edges of the [`Uar`].
//!
//! Order of proof for two launches and two targets: different allocations, no edge; same pointer or
//! known distance, the relation decides; anything else may overlap, and the edge says which ranges
//! a guard would have to compare. Where an absence relies on conditions that only a run can decide,
//! an edge stays, with those conditions in [`Edge::absent_if`].

use super::describe;
use super::instance::{Base, Instance, Place, TargetUse, host_polynomial, pointer_place};
use super::polynomial::Polynomial;
use super::relation::{Conflict, Facts, Shape, Side, Solver, unite_relations, universal_relation};
use super::{DependenceKind, Edge, Guard, PointerRange, Uar, Width};
use crate::affine::{Affine, Axis, Constraint, Variable};
use crate::diagnostics::{Location, RejectionReason};
use crate::expression::{Condition, Expression};
use crate::kernel::{Access, KernelModel};
use crate::launch::{
    BufferId, HostBlockId, LaunchGraph, MemoryKind, NodeId, NodeKind, Pointer, Touch, ValueId,
};
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

/// Bytes from a place, first and one past the last.
type ByteRange = (Polynomial, Polynomial);

/// What a node does to device memory.
enum Effect<'a> {
    /// A modelled launch.
    Modelled(Box<Instance<'a>>),
    /// Whole ranges: copies, sets, frees, launches of unknown kernels.
    Whole {
        node: NodeId,
        touches: Vec<WholeTouch>,
        is_launch: bool,
    },
}

struct WholeTouch {
    place: Place,
    /// `None`: anywhere in it.
    range: Option<ByteRange>,
    reads: bool,
    writes: bool,
}

impl<'a> Effect<'a> {
    fn of(graph: &'a LaunchGraph, kernels: &'a [KernelModel], node: NodeId) -> Option<Self> {
        let whole = |touches, is_launch| {
            Some(Self::Whole {
                node,
                touches,
                is_launch,
            })
        };
        match &graph.nodes[node.0].kind {
            NodeKind::Launch(launch) => {
                let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
                match model {
                    Some(model) if model.opaque.is_empty() => Some(Self::Modelled(Box::new(
                        Instance::new(graph, node, launch, model),
                    ))),
                    _ => whole(
                        vec![WholeTouch {
                            place: Instance::anywhere(),
                            range: None,
                            reads: true,
                            writes: true,
                        }],
                        true,
                    ),
                }
            }
            NodeKind::Copy { reads, writes, .. } => {
                let mut touches = Vec::new();
                touches.extend(reads.iter().map(|touch| whole_touch(graph, touch, true)));
                touches.extend(writes.iter().map(|touch| whole_touch(graph, touch, false)));
                whole(touches, false)
            }
            NodeKind::Set { writes, .. } => whole(vec![whole_touch(graph, writes, false)], false),
            NodeKind::Free { pointer } => whole(vec![freed(graph, pointer.as_ref())], false),
            NodeKind::Allocation { .. }
            | NodeKind::Synchronise
            | NodeKind::ErrorCheck
            | NodeKind::StreamOperation
            | NodeKind::HostAccess
            | NodeKind::Opaque { .. } => None,
        }
    }

    fn node(&self) -> NodeId {
        match self {
            Self::Modelled(instance) => instance.node,
            Self::Whole { node, .. } => *node,
        }
    }

    fn is_launch(&self) -> bool {
        match self {
            Self::Modelled(_) => true,
            Self::Whole { is_launch, .. } => *is_launch,
        }
    }

    fn places(&self) -> Vec<(&Place, bool, bool)> {
        match self {
            Self::Modelled(instance) => instance
                .uses
                .iter()
                .map(|used| (&used.place, !used.reads.is_empty(), !used.writes.is_empty()))
                .collect(),
            Self::Whole { touches, .. } => touches
                .iter()
                .map(|touch| (&touch.place, touch.reads, touch.writes))
                .collect(),
        }
    }

    /// The allocations it may touch, and whether it may touch others.
    fn reach(&self) -> (BTreeSet<BufferId>, bool) {
        let mut buffers = BTreeSet::new();
        let mut wild = false;
        for (place, ..) in self.places() {
            match &place.may_point_to {
                Some(list) => buffers.extend(list.iter().copied()),
                None => wild = true,
            }
        }
        (buffers, wild)
    }

    /// The whole ranges that a copy, set or free is compared with.
    fn ranges(&self) -> Vec<WholeTouch> {
        match self {
            Self::Modelled(instance) => instance
                .uses
                .iter()
                .map(|used| WholeTouch {
                    place: used.place.clone(),
                    range: footprint_range(instance, used),
                    reads: !used.reads.is_empty(),
                    writes: !used.writes.is_empty(),
                })
                .collect(),
            Self::Whole { touches, .. } => touches
                .iter()
                .map(|touch| WholeTouch {
                    place: touch.place.clone(),
                    range: touch.range.clone(),
                    ..*touch
                })
                .collect(),
        }
    }

    fn conditions(&self) -> &[Guard] {
        match self {
            Self::Modelled(instance) => &instance.conditions,
            Self::Whole { .. } => &[],
        }
    }
}

fn whole_touch(graph: &LaunchGraph, touch: &Touch, reads: bool) -> WholeTouch {
    let bytes = touch.bytes.as_ref().and_then(host_polynomial);
    WholeTouch {
        place: pointer_place(graph, &touch.pointer),
        range: bytes.map(|bytes| (Polynomial::default(), bytes)),
        reads,
        writes: !reads,
    }
}

fn freed(graph: &LaunchGraph, pointer: Option<&Pointer>) -> WholeTouch {
    WholeTouch {
        place: match pointer {
            Some(pointer) => pointer_place(graph, pointer),
            None => Instance::anywhere(),
        },
        range: None,
        reads: false,
        writes: true,
    }
}

fn footprint_range(instance: &Instance, used: &TargetUse) -> Option<ByteRange> {
    if instance.broken.is_some() {
        return None;
    }
    let (low, high) = used.footprint.as_ref()?;
    Some((host_polynomial(low)?, host_polynomial(high)?))
}

/// How two places lie to each other.
enum Overlap {
    /// No common byte.
    Never,
    /// The first less the second, in bytes.
    Distance(Polynomial),
    /// Cannot tell.
    Unknown,
}

fn overlap(
    graph: &LaunchGraph,
    source: &Place,
    sink: &Place,
    stable: &impl Fn(ValueId) -> bool,
) -> Overlap {
    if let (Some(left), Some(right)) = (source.pointer, sink.pointer)
        && left == right
        && stable(left)
    {
        return Overlap::Distance(Polynomial::default());
    }
    let distance = || {
        let sink_offset = sink.offset.as_ref()?.on_sink_side(&|value| !stable(value));
        source.offset.as_ref()?.subtract(&sink_offset)
    };
    let same = || distance().map_or(Overlap::Unknown, Overlap::Distance);
    let is_variable = |buffer: &BufferId| graph.buffers[buffer.0].variable.is_some();
    match (&source.base, &sink.base) {
        (Base::Buffer(a), Base::Buffer(b)) if a == b => return same(),
        (Base::Value(a), Base::Value(b)) if a == b && stable(*a) => return same(),
        (Base::Variable(a), Base::Variable(b)) => {
            return if a == b { same() } else { Overlap::Never };
        }
        (Base::Variable(_), _) | (_, Base::Variable(_)) => {
            let other = if matches!(source.base, Base::Variable(_)) {
                sink
            } else {
                source
            };
            return match &other.may_point_to {
                Some(buffers) if !buffers.iter().any(is_variable) => Overlap::Never,
                _ => Overlap::Unknown,
            };
        }
        _ => {}
    }
    match (&source.may_point_to, &sink.may_point_to) {
        (Some(left), Some(right)) if !left.iter().any(|buffer| right.contains(buffer)) => {
            Overlap::Never
        }
        _ => Overlap::Unknown,
    }
}

/// Which operations may touch common memory, by places alone: never by subscripts or sizes.
pub struct SharedMemory<'a> {
    graph: &'a LaunchGraph,
    places: Vec<Option<Vec<(Place, bool)>>>,
}

impl<'a> SharedMemory<'a> {
    /// Looks at all operations.
    pub fn new(graph: &'a LaunchGraph, kernels: &[KernelModel]) -> Self {
        let places = graph.nodes.iter().map(|node| {
            let effect = Effect::of(graph, kernels, node.id)?;
            let places = effect.places().into_iter();
            Some(
                places
                    .map(|(place, _, writes)| (place.clone(), writes))
                    .collect(),
            )
        });
        Self {
            graph,
            places: places.collect(),
        }
    }

    /// Whether an operation may touch memory that the host can touch too.
    pub fn is_host_visible(&self, node: NodeId) -> bool {
        self.places[node.0]
            .as_ref()
            .is_some_and(|places| places.iter().any(|(place, _)| !place.device_only))
    }

    /// Whether two operations of one iteration may touch a common byte that one writes. False for
    /// fences and synchronisations, which touch nothing that is listed.
    pub fn may_conflict(&self, first: NodeId, second: NodeId) -> bool {
        let (Some(left), Some(right)) = (&self.places[first.0], &self.places[second.0]) else {
            return false;
        };
        left.iter().any(|(place, writes)| {
            right.iter().any(|(other, other_writes)| {
                (*writes || *other_writes)
                    && !matches!(
                        overlap(self.graph, place, other, &|_| false),
                        Overlap::Never
                    )
            })
        })
    }
}

/// What must hold at run time for the model of a launch to be right, or why nothing can make it so.
/// `None` for nodes that are no modelled launch.
pub fn launch_conditions(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    node: NodeId,
) -> Option<Result<Vec<Guard>, String>> {
    match Effect::of(graph, kernels, node)? {
        Effect::Modelled(instance) => Some(match instance.broken {
            Some(reason) => Err(reason),
            None => Ok(instance.conditions),
        }),
        Effect::Whole { .. } => None,
    }
}

fn is_constant_memory(graph: &LaunchGraph, place: &Place) -> bool {
    matches!(place.base, Base::Buffer(buffer)
        if graph.buffers[buffer.0].memory == MemoryKind::Constant)
}

struct Builder<'a> {
    graph: &'a LaunchGraph,
    solver: Solver,
    /// Blocks that a block reaches without going round a loop.
    paths: HashMap<HostBlockId, Vec<bool>>,
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
        if from == to || self.reaches(from, to) {
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

    /// One global edge when any places may overlap.
    fn widest_edge(
        &mut self,
        source: &Effect,
        sink: &Effect,
        carried: bool,
        stable: &impl Fn(ValueId) -> bool,
    ) {
        let sink_ranges = sink.ranges();
        for from in &source.ranges() {
            for to in &sink_ranges {
                let Some(kind) = kind_of((from.reads, from.writes), (to.reads, to.writes)) else {
                    continue;
                };
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
                self.add(Edge {
                    source: source.node(),
                    sink: sink.node(),
                    buffer: to.place.name.clone(),
                    kind,
                    width: Width::Global,
                    relation: universal_relation(Width::Global),
                    exact: false,
                    conditions: Vec::new(),
                    absent_if,
                    carried,
                    because,
                    reason: Some(RejectionReason::GlobalDependence),
                    location: self.graph.nodes[sink.node().0].location.clone(),
                });
                if !apart {
                    return;
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
                let Some((first_kind, ..)) = conflicts
                    .iter()
                    .find(|(_, left, right)| !left.is_empty() && !right.is_empty())
                else {
                    continue;
                };
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
                    self.may_alias_edge(source, sink, from, to, *first_kind);
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
                    self.widest_between(
                        source,
                        sink,
                        to,
                        *first_kind,
                        (because, reason),
                        Vec::new(),
                    );
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
            self.widest_between(source, sink, pair.to, kind, because, Vec::new());
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
                self.widest_between(source, sink, pair.to, kind, because, relied_on);
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
        });
    }

    fn may_alias_edge(
        &mut self,
        source: &Instance,
        sink: &Instance,
        from: &TargetUse,
        to: &TargetUse,
        kind: DependenceKind,
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
        self.widest_between(source, sink, to, kind, because, absent_if);
    }

    fn widest_between(
        &mut self,
        source: &Instance,
        sink: &Instance,
        to: &TargetUse,
        kind: DependenceKind,
        (because, reason): (String, RejectionReason),
        absent_if: Vec<Guard>,
    ) {
        let access = to.writes.first().or(to.reads.first());
        let location = access.map_or_else(Location::default, |index| {
            sink.model.accesses[*index].location.clone()
        });
        self.add(Edge {
            source: source.node,
            sink: sink.node,
            buffer: to.place.name.clone(),
            kind,
            width: Width::Global,
            relation: universal_relation(Width::Global),
            exact: false,
            conditions: Vec::new(),
            absent_if,
            carried: false,
            because,
            reason: Some(reason),
            location,
        });
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

    /// Whether control can go from one block to another without taking a loop's back edge.
    fn reaches(&mut self, from: HostBlockId, to: HostBlockId) -> bool {
        let graph = self.graph;
        self.paths.entry(from).or_insert_with(|| {
            let mut reached = vec![false; graph.blocks.len()];
            let mut work = vec![from];
            while let Some(block) = work.pop() {
                for next in &graph.blocks[block.0].successors {
                    if !reached[next.0] && !is_back_edge(graph, block, *next) {
                        reached[next.0] = true;
                        work.push(*next);
                    }
                }
            }
            reached
        })[to.0]
    }
}

/// Two targets of two launches.
struct PairOfTargets<'a> {
    source: &'a Instance<'a>,
    sink: &'a Instance<'a>,
    from: &'a TargetUse,
    to: &'a TargetUse,
    distance: &'a Polynomial,
    facts: &'a Facts,
    source_parameters: &'a [Polynomial],
    sink_parameters: &'a [Polynomial],
    sink_shape: &'a Shape,
    assumed_parameters: Option<&'a [Polynomial]>,
    equality: &'a ShapeEquality,
}

struct Verdict {
    conflict: Conflict,
    /// Extents that were taken to be 1.
    assumed: Vec<Guard>,
    /// No conflict, but only because the shapes were taken to be equal.
    absence_needs_shape: bool,
}

impl PairOfTargets<'_> {
    fn decide(&self, solver: &mut Solver, accesses: (&Access, &Access)) -> Verdict {
        let verdict = |conflict| Verdict {
            conflict,
            assumed: Vec::new(),
            absence_needs_shape: false,
        };
        let real = self.solve(
            solver,
            accesses,
            (self.source_parameters, &self.source.shape),
            (self.sink_parameters, self.sink_shape),
        );
        if real.width.is_none() {
            return verdict(real);
        }
        let (conflict, sink_shape, sink_parameters) = match self.assumed_parameters {
            None => (real, self.sink_shape, self.sink_parameters),
            Some(parameters) => {
                let assumed = self.solve(
                    solver,
                    accesses,
                    (self.source_parameters, &self.source.shape),
                    (parameters, &self.source.shape),
                );
                if assumed.width.is_none() {
                    return Verdict {
                        absence_needs_shape: true,
                        ..verdict(assumed)
                    };
                }
                (assumed, &self.source.shape, parameters)
            }
        };
        let flat = self.flatten(accesses);
        if conflict.width == Some(Width::Thread)
            || flat.is_empty()
            || matches!(self.equality, ShapeEquality::Never)
        {
            return verdict(conflict);
        }
        // Axes that neither access uses, of unknown extent: with extent 1 the pair may be narrower.
        let (mut source_shape, mut flat_sink_shape) =
            (self.source.shape.clone(), sink_shape.clone());
        for (of_grid, axis) in &flat {
            for shape in [&mut source_shape, &mut flat_sink_shape] {
                let extents = if *of_grid {
                    &mut shape.grid
                } else {
                    &mut shape.block
                };
                extents[axis.index()] = Polynomial::constant(1);
            }
        }
        let narrower = self.solve(
            solver,
            accesses,
            (self.source_parameters, &source_shape),
            (sink_parameters, &flat_sink_shape),
        );
        if narrower.width >= conflict.width {
            return verdict(conflict);
        }
        let launch = self.source.launch;
        let assumed = flat
            .iter()
            .map(|(of_grid, axis)| {
                let values = if *of_grid {
                    &launch.grid
                } else {
                    &launch.block
                };
                Guard::Holds {
                    class: String::from("shape"),
                    condition: Condition::Equal(
                        Expression::Leaf(values[axis.index()]),
                        Expression::Constant(1),
                    ),
                }
            })
            .collect();
        Verdict {
            assumed,
            ..verdict(narrower)
        }
    }

    /// Axes y and z of unknown extent that neither access mentions; the first part is true for the
    /// grid's.
    fn flatten(&self, accesses: (&Access, &Access)) -> Vec<(bool, Axis)> {
        let mut flat = Vec::new();
        for axis in [Axis::Y, Axis::Z] {
            for (of_grid, extents, variable) in [
                (true, &self.source.shape.grid, Variable::Block(axis)),
                (false, &self.source.shape.block, Variable::Thread(axis)),
            ] {
                if extents[axis.index()].as_constant().is_none()
                    && !mentions(self.source.model, accesses.0, &variable)
                    && !mentions(self.sink.model, accesses.1, &variable)
                {
                    flat.push((of_grid, axis));
                }
            }
        }
        flat
    }

    fn solve(
        &self,
        solver: &mut Solver,
        accesses: (&Access, &Access),
        source: (&[Polynomial], &Shape),
        sink: (&[Polynomial], &Shape),
    ) -> Conflict {
        let source = Side {
            model: self.source.model,
            access: accesses.0,
            parameters: source.0,
            shape: source.1,
        };
        let sink = Side {
            model: self.sink.model,
            access: accesses.1,
            parameters: sink.0,
            shape: sink.1,
        };
        solver.conflict(&source, &sink, Some(self.distance), self.facts)
    }
}

/// Whether two launches have the same grid and block.
enum ShapeEquality {
    Always,
    /// When these hold.
    If(Vec<Guard>),
    Never,
}

fn shape_equality(source: &Instance, sink_shape: &Shape) -> ShapeEquality {
    let mut guards = Vec::new();
    let extents = |shape: &Shape| -> Vec<Polynomial> {
        shape.grid.iter().chain(&shape.block).cloned().collect()
    };
    for (a, b) in extents(&source.shape).iter().zip(&extents(sink_shape)) {
        if a == b {
            continue;
        }
        let (Some(left), Some(right)) = (extent_expression(a), extent_expression(b)) else {
            return ShapeEquality::Never;
        };
        let condition = Condition::Equal(left, right);
        if condition.decided() == Some(false) {
            return ShapeEquality::Never;
        }
        guards.push(Guard::Holds {
            class: String::from("shape"),
            condition,
        });
    }
    if guards.is_empty() {
        ShapeEquality::Always
    } else {
        ShapeEquality::If(guards)
    }
}

/// An extent as a guard would write it; `None` for values that a guard cannot name.
fn extent_expression(extent: &Polynomial) -> Option<Expression<ValueId>> {
    use super::polynomial::Atom;
    if let Some(value) = extent.as_constant() {
        return Some(Expression::Constant(value));
    }
    let (monomial, _) = extent.terms.first_key_value()?;
    match monomial.as_slice() {
        [Atom::Value(value)] => Some(Expression::Leaf(*value)),
        _ => None,
    }
}

fn shape_on_sink_side(shape: &Shape, unstable: &impl Fn(ValueId) -> bool) -> Shape {
    let rename =
        |extents: &[Polynomial; 3]| [0, 1, 2].map(|axis| extents[axis].on_sink_side(unstable));
    Shape {
        grid: rename(&shape.grid),
        block: rename(&shape.block),
    }
}

/// The guard that the bytes of two uses do not overlap, where both are bounded.
fn disjoint_guard(
    source: &Instance,
    sink: &Instance,
    from: &TargetUse,
    to: &TargetUse,
) -> Option<Guard> {
    let range = |instance: &Instance, used: &TargetUse| {
        let (low_bytes, high_bytes) = used.footprint.clone()?;
        Some(PointerRange {
            launch: instance.launch.id,
            operand: used.place.operand?,
            low_bytes,
            high_bytes,
        })
    };
    Some(Guard::RangesDisjoint {
        left: range(source, from)?,
        right: range(sink, to)?,
    })
}

/// Whether two ranges at a known distance are apart for all values.
fn ranges_apart(
    distance: &Polynomial,
    source: Option<&ByteRange>,
    sink: Option<&ByteRange>,
    unstable: &impl Fn(ValueId) -> bool,
) -> bool {
    let (Some((source_low, source_high)), Some((sink_low, sink_high))) = (source, sink) else {
        return false;
    };
    let not_above = |high: Option<Polynomial>, low: Option<Polynomial>| {
        let gap = low.zip(high).and_then(|(low, high)| low.subtract(&high));
        gap.and_then(|gap| gap.as_constant())
            .is_some_and(|gap| gap >= 0)
    };
    let sink_low = sink_low.on_sink_side(unstable);
    let sink_high = sink_high.on_sink_side(unstable);
    not_above(source_high.add(distance), Some(sink_low))
        || not_above(Some(sink_high), source_low.add(distance))
}

/// The kind of a dependence between what two nodes do, each (reads, writes).
fn kind_of(source: (bool, bool), sink: (bool, bool)) -> Option<DependenceKind> {
    match (source, sink) {
        ((_, true), (true, _)) => Some(DependenceKind::Flow),
        ((_, true), (_, true)) => Some(DependenceKind::Output),
        ((true, _), (_, true)) => Some(DependenceKind::Anti),
        _ => None,
    }
}

/// Whether a value is one value in every iteration of the given loop that both sides are in.
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

fn is_back_edge(graph: &LaunchGraph, from: HostBlockId, to: HostBlockId) -> bool {
    loops_around(graph, graph.blocks[from.0].innermost_loop)
        .iter()
        .any(|index| graph.loops[*index].header == to)
}

/// Whether an access depends on a block or thread axis.
fn mentions(model: &KernelModel, access: &Access, variable: &Variable) -> bool {
    fn affine(model: &KernelModel, expression: &Affine, wanted: &Variable) -> bool {
        expression.terms.iter().any(|(_, variable)| match variable {
            Variable::Floor(numerator, _) => affine(model, numerator, wanted),
            Variable::Product(index) => model
                .products
                .get(*index)
                .is_some_and(|product| affine(model, &product.factor, wanted)),
            other => other == wanted,
        })
    }
    access
        .subscript
        .as_ref()
        .is_some_and(|subscript| affine(model, subscript, variable))
        || access.domain.iter().flatten().any(|constraint| {
            let (Constraint::NonNegative(expression) | Constraint::Zero(expression)) = constraint;
            affine(model, expression, variable)
        })
}
