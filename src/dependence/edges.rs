//! A pair of operations that may touch common bytes -> its edges in the [`DependenceGraph`].
//!
//! Order of proof for two launches and two targets: different allocations, no edge; same pointer or
//! known distance, the relation decides; anything else may overlap, and the edge says which ranges
//! a guard would have to compare. Where an absence relies on conditions that only a run can decide,
//! an edge stays, with those conditions in [`Edge::absent_if`].

use super::contradiction::guards_contradict;
use super::decision::{Decision, add_guards};
use super::describe;
use super::effect::{Effect, footprint_range, ranges_disjoint};
use super::instance::{Alike, Base, Instance, Motion, Place, TargetUse, UNNAMED};
use super::iteration::{Domain, Later, Proofs};
use super::kinds::{kinds_between, kinds_of, pairs_of, sides};
use super::order::{Flow, Link};
use super::overlap::{Overlap, is_constant_memory, overlap};
use super::pair::disjoint_guard;
use super::polynomial::Polynomial;
use super::relation::{Relations, Solver};
use super::renaming::{Likeness, Name};
use super::targets::Structure;
use super::union::universal_relation;
use super::{DependenceGraph, DependenceKind, Edge, Guard, IterationDistance, Scope};
use crate::diagnostics::{Location, RejectionReason};
use crate::launch::{BufferId, HostBlockId, LaunchGraph, NodeId, NodeKind, ValueId};
use crate::program::KernelId;
use petgraph::graph::NodeIndex;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// Finds the edges of pairs, each question once.
pub(super) struct Builder<'a> {
    pub(super) graph: &'a LaunchGraph,
    pub(super) solver: Solver,
    /// Blocks that a block reaches without entering a header, the common loop's.
    paths: HashMap<(HostBlockId, Option<HostBlockId>), Vec<bool>>,
    /// Parameter values of a node's model with its own shape.
    parameters: HashMap<NodeId, Vec<Polynomial>>,
    /// Numbers for launches that are the same but for their pointers.
    alike: HashMap<Alike, usize>,
    alike_of: HashMap<NodeId, usize>,
    motions: HashMap<NodeId, Motion>,
    /// Numbers for domains of operations, by block too.
    domains: HashMap<Domain, usize>,
    domain_of: HashMap<HostBlockId, usize>,
    /// What is known of the counters of loops.
    proofs: Proofs,
    answers: HashMap<Question, Rc<[Answer]>>,
    /// Numbers for uses that are the same but for names and places in the source.
    pub(super) forms: HashMap<String, usize>,
    pub(super) form_of: HashMap<(usize, usize), usize>,
    /// Of each form the number of its template and the names that this leaves out.
    pub(super) templates: Vec<(usize, Vec<Name>)>,
    pub(super) template_numbers: HashMap<String, usize>,
    pub(super) decisions: HashMap<Structure, Decisions>,
    /// Decisions by all but their names, and the names of the pair that they were made for.
    pub(super) likenesses: HashMap<Likeness, (Vec<Name>, Decisions)>,
    /// How often two uses of two kernels did not stay in their threads with equal pointers.
    pub(super) unequal: HashMap<([KernelId; 2], [usize; 2]), usize>,
    /// The same of all kernels.
    pub(super) all_unequal: usize,
    /// Guards of all edges so far.
    pub(super) guards: usize,
    /// Allocations made in a loop or in a function that runs more than once; the loop, where one
    /// iteration of it has one of them.
    made_again: BTreeMap<BufferId, Option<usize>>,
    pub(super) dependences: DependenceGraph,
}

/// What is decided about two targets, for each kind of conflict that there is.
pub(super) type Decisions = Rc<[(DependenceKind, Decision)]>;

/// All that the edges between two targets depend on, besides the two nodes and the buffer's name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Question {
    /// Numbers of the two launches by [`Builder::alike`].
    pub(super) alike: [usize; 2],
    /// The targets' positions in the uses.
    pub(super) uses: [usize; 2],
    pub(super) distance: Polynomial,
    /// Of the sink's target.
    pub(super) offset: Option<Polynomial>,
    /// The name, where it is a description.
    pub(super) name: Option<String>,
    pub(super) run: Run,
}

/// Which runs of two operations are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Run {
    /// In one iteration of this loop, the innermost around both, or in one call.
    Same(Option<usize>),
    /// In one iteration of this loop, or in one call, where loops bound what the two depend on: the numbers
    /// of their domains by [`Builder::domain`].
    Bounded(Option<usize>, [usize; 2]),
    /// In different iterations: whatever varies in a loop differs.
    Later,
    /// In two iterations of this loop and one of those around it, the two in the domains of these numbers.
    LaterIn(usize, [usize; 2]),
}

impl Run {
    pub(super) fn is_carried(self) -> bool {
        matches!(self, Self::Later | Self::LaterIn(..))
    }
}

/// The runs of two launches that are compared, and what is the same in both.
pub(super) struct Compared<'r, S> {
    pub(super) run: Run,
    pub(super) later: Option<&'r Later<'r>>,
    pub(super) stable: S,
}

/// An edge between launches, the buffer's name left open.
pub(super) struct Answer {
    pub(super) edge: Edge,
    /// Disjoint ranges would make it absent.
    pub(super) absent_when_disjoint: bool,
}

/// Stands for the buffer's name in an [`Answer`].
const NAME: &str = "\u{1}";

impl Builder<'_> {
    /// No edges yet.
    pub(super) fn new(graph: &LaunchGraph, relations: Relations) -> Builder<'_> {
        let mut dependences = DependenceGraph::default();
        for node in &graph.nodes {
            dependences.graph.add_node(node.id);
        }
        let made_again = graph.nodes.iter().filter_map(|node| {
            let NodeKind::Allocation { buffer } = node.kind else {
                return None;
            };
            let block = &graph.blocks[node.block.0];
            let repeated = graph.functions[block.function].repeated;
            let again = block.innermost_loop.is_some() || repeated;
            let of_loop = block.innermost_loop.filter(|_| !repeated);
            again.then_some((buffer, of_loop))
        });
        let not_unique = (0..graph.buffers.len()).map(BufferId);
        let not_unique = not_unique.filter(|buffer| !graph.buffers[buffer.0].unique);
        let not_unique = not_unique.map(|buffer| (buffer, None));
        Builder {
            graph,
            solver: Solver::new(relations),
            paths: HashMap::new(),
            parameters: HashMap::new(),
            alike: HashMap::new(),
            alike_of: HashMap::new(),
            motions: HashMap::new(),
            domains: HashMap::new(),
            domain_of: HashMap::new(),
            proofs: Proofs::default(),
            answers: HashMap::new(),
            forms: HashMap::new(),
            form_of: HashMap::new(),
            templates: Vec::new(),
            template_numbers: HashMap::new(),
            decisions: HashMap::new(),
            likenesses: HashMap::new(),
            unequal: HashMap::new(),
            all_unequal: 0,
            guards: 0,
            made_again: made_again.chain(not_unique).collect(),
            dependences,
        }
    }

    /// The graph of all edges found.
    pub(super) fn finish(mut self) -> DependenceGraph {
        self.dependences.effort.problems = self.solver.problems;
        self.dependences
    }

    /// Adds the edges from one operation to a later one of the same function, in one iteration of
    /// the loops around both.
    pub(super) fn relate(&mut self, flow: &Flow, source: &Effect, sink: &Effect) -> Link {
        if !source.is_launch() && !sink.is_launch() {
            return Link::Nothing;
        }
        let block = |effect: &Effect| self.graph.nodes[effect.node().0].block;
        let (from, to) = (block(source), block(sink));
        let common = common_loop(flow, from, to);
        if from != to && !self.reaches(flow, from, to, common) {
            return Link::Nothing;
        }
        let (graph, around) = (self.graph, flow.loops_around(from));
        let around = common.map_or(&[][..], |common| {
            let start = around.iter().position(|index| *index == common);
            &around[start.unwrap_or(around.len())..]
        });
        let stable = |value: ValueId| match graph.values[value.0].varies_in {
            None => true,
            Some(varies) => around.contains(&varies),
        };
        match (source, sink) {
            (Effect::Modelled(source), Effect::Modelled(sink)) => {
                let motions = [self.motion(source), self.motion(sink)];
                let run = match motions {
                    [Motion::Fixed, Motion::Fixed] => Run::Same(common),
                    _ => Run::Bounded(common, [from, to].map(|block| self.domain(block))),
                };
                let compared = Compared {
                    run,
                    later: None,
                    stable,
                };
                self.launch_pair(source, sink, &compared)
            }
            _ => self.widest_edge(source, sink, false, &stable),
        }
    }

    /// Adds the edges from one operation to another that runs in a later iteration of `of_loop`, in
    /// the same call, or in another call.
    pub(super) fn relate_again(
        &mut self,
        source: &Effect,
        sink: &Effect,
        of_loop: Option<usize>,
    ) -> Link {
        if !source.is_launch() && !sink.is_launch() {
            return Link::Nothing;
        }
        if let (Some(of_loop), Effect::Modelled(source), Effect::Modelled(sink)) =
            (of_loop, source, sink)
        {
            let graph = self.graph;
            let motions = [self.motion(source), self.motion(sink)];
            if motions == [Motion::Fixed; 2] {
                let compared = Compared {
                    run: Run::Later,
                    later: None,
                    stable: |value: ValueId| graph.values[value.0].varies_in.is_none(),
                };
                return self.launch_pair(source, sink, &compared);
            }
            if !motions.contains(&Motion::Unknown) {
                let proofs = self.proofs.clone();
                let later = Later::new(graph, of_loop, [source, sink], proofs);
                let domains = later.blocks().map(|block| self.domain(block));
                let compared = Compared {
                    run: Run::LaterIn(of_loop, domains),
                    later: Some(&later),
                    stable: |value: ValueId| later.is_stable(value),
                };
                return self.launch_pair(source, sink, &compared);
            }
        }
        let function = |effect: &Effect| {
            let block = self.graph.nodes[effect.node().0].block;
            self.graph.blocks[block.0].function
        };
        let later = function(source) == function(sink) || source.node() > sink.node();
        self.widest_edge(source, sink, later, &|_| false)
    }

    /// Whether the edges to a later iteration depend on the loop that it is of.
    pub(super) fn distinguishes_loops(&mut self, source: &Effect, sink: &Effect) -> bool {
        match (source, sink) {
            (Effect::Modelled(source), Effect::Modelled(sink)) => {
                let motions = [self.motion(source), self.motion(sink)];
                motions.contains(&Motion::Moving) && !motions.contains(&Motion::Unknown)
            }
            _ => false,
        }
    }

    fn motion(&mut self, instance: &Instance) -> Motion {
        let (graph, made_again) = (self.graph, &self.made_again);
        let motion = || match instance.motion(graph) {
            Motion::Fixed
                if instance.uses.iter().any(|used| {
                    matches!(used.place.base, Base::Buffer(buffer)
                        if matches!(made_again.get(&buffer), Some(Some(_))))
                }) =>
            {
                Motion::Moving
            }
            motion => motion,
        };
        *self.motions.entry(instance.node).or_insert_with(motion)
    }

    /// The number of the domain of operations in a block, among those that differ from it.
    fn domain(&mut self, block: HostBlockId) -> usize {
        let (graph, domains) = (self.graph, &mut self.domains);
        *self.domain_of.entry(block).or_insert_with(|| {
            let next = domains.len();
            *domains.entry(Domain::of(graph, block)).or_insert(next)
        })
    }

    /// Global edges where places may overlap, one for each buffer and kind.
    fn widest_edge(
        &mut self,
        source: &Effect,
        sink: &Effect,
        carried: bool,
        stable: &impl Fn(ValueId) -> bool,
    ) -> Link {
        let mut link = Link::Nothing;
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
                let disjoint = distance.as_ref().is_some_and(|distance| {
                    ranges_disjoint(distance, from.range.as_ref(), to.range.as_ref(), &unstable)
                });
                let mut absent_if = Vec::new();
                if disjoint {
                    absent_if.extend_from_slice(source.conditions());
                    absent_if.extend_from_slice(sink.conditions());
                    if absent_if.is_empty() {
                        continue;
                    }
                }
                let because: Arc<str> = describe::whole(
                    self.graph,
                    (source.node(), known_name(&from.place, &to.place)),
                    (sink.node(), known_name(&to.place, &from.place)),
                    distance.is_some(),
                )
                .into();
                for kind in kinds {
                    let key = (known_name(&to.place, &from.place).to_owned(), kind);
                    if certain.contains(&key) {
                        continue;
                    }
                    if !disjoint {
                        certain.push(key);
                        link = Link::Separates;
                    }
                    self.add(Edge {
                        source: source.node(),
                        sink: sink.node(),
                        buffer: known_name(&to.place, &from.place).to_owned(),
                        kind,
                        scope: Scope::Global,
                        relation: universal_relation(Scope::Global),
                        exact: false,
                        certain: false,
                        values_differ: false,
                        conditions: Vec::new(),
                        absent_if: absent_if.clone(),
                        carried,
                        distances: Vec::new(),
                        because: because.clone(),
                        reason: Some(RejectionReason::GlobalDependence),
                        location: self.graph.nodes[sink.node().0].location.clone(),
                        witness: None,
                        mapped: None,
                        array: None,
                        tiling: None,
                    });
                }
            }
        }
        link
    }

    fn launch_pair(
        &mut self,
        source: &Instance,
        sink: &Instance,
        compared: &Compared<impl Fn(ValueId) -> bool>,
    ) -> Link {
        let iterations = compared.later.map(Later::distances).unwrap_or_default();
        let carried = compared.run.is_carried().then_some(&iterations[..]);
        let mut link = Link::Nothing;
        let alike = [self.number(source), self.number(sink)];
        let broken: Option<Arc<str>> = broken_together(source, sink).map(Arc::from);
        for (first, from) in source.uses.iter().enumerate() {
            for (second, to) in sink.uses.iter().enumerate() {
                let kinds = kinds_between((source, from), (sink, to));
                if kinds.is_empty() {
                    continue;
                }
                // A group may hold both ends of reductions.
                let separates = match kinds.as_slice() {
                    [DependenceKind::Reduction] => Link::Orders,
                    _ => Link::Separates,
                };
                // No kernel can write constant memory.
                let constant = [&from.place, &to.place]
                    .into_iter()
                    .any(|place| is_constant_memory(self.graph, place));
                if constant {
                    continue;
                }
                let Some(distances) = self.distances(from, to, compared) else {
                    if self.may_be_equal((source, sink, from, to), [first, second], compared) {
                        continue;
                    }
                    let found = self.may_alias_edges((source, from), (sink, to), &kinds, carried);
                    link = link.max(found.min(separates));
                    continue;
                };
                if let Some(because) = broken.clone() {
                    let because = (because, RejectionReason::UnprovenIndex);
                    let ends = (source, sink, from, to);
                    self.widest_between(ends, &kinds, because, Vec::new(), carried);
                    link = link.max(separates);
                    continue;
                }
                for (distance, offset) in distances {
                    let ends = (source, sink, from, to);
                    let disjoint = (footprint_range(source, from), footprint_range(sink, to));
                    let unstable = |value: ValueId| !(compared.stable)(value);
                    if ranges_disjoint(&distance, disjoint.0, disjoint.1, &unstable) {
                        let relied_on = relied_on(source, sink, compared.later);
                        if !relied_on.is_empty() {
                            let reason = RejectionReason::UnprovenIndex;
                            let because = (disjoint_while(source, sink, to).into(), reason);
                            self.widest_between(ends, &kinds, because, relied_on, carried);
                        }
                        continue;
                    }
                    let question = Question {
                        alike,
                        uses: [first, second],
                        distance,
                        offset,
                        name: to.place.name.contains(' ').then(|| to.place.name.clone()),
                        run: compared.run,
                    };
                    link = link.max(self.known_distance(ends, question, compared, carried));
                }
            }
        }
        link
    }

    /// Adds the edges between two targets at a known distance.
    fn known_distance(
        &mut self,
        (source, sink, from, to): (&Instance, &Instance, &TargetUse, &TargetUse),
        question: Question,
        compared: &Compared<impl Fn(ValueId) -> bool>,
        carried: Option<&[IterationDistance]>,
    ) -> Link {
        let answer = match self.answers.get(&question) {
            Some(known) => Rc::clone(known),
            None => {
                let mut nameless = to.clone();
                nameless.place.offset.clone_from(&question.offset);
                if question.name.is_none() {
                    nameless.place.name = String::from(NAME);
                }
                let ends = (source, sink, from, &nameless);
                let answer: Rc<[Answer]> = self.precise_edges(ends, &question, compared).into();
                self.dependences.effort.questions += 1;
                self.answers.insert(question.clone(), Rc::clone(&answer));
                answer
            }
        };
        let mut link = Link::Nothing;
        let name = known_name(&to.place, &from.place);
        for Answer {
            edge,
            absent_when_disjoint,
        } in answer.iter()
        {
            let mut witness = edge.witness.clone();
            if let Some(witness) = &mut witness {
                witness.text = witness.text.replace(NAME, name);
            }
            let mut edge = Edge {
                witness,
                source: source.node,
                sink: sink.node,
                buffer: name.to_owned(),
                because: edge.because.replace(NAME, name).into(),
                carried: carried.is_some(),
                distances: carried.unwrap_or_default().to_vec(),
                ..edge.clone()
            };
            if *absent_when_disjoint
                && may_be_disjoint(&question, from, to)
                && carried.is_none()
                && edge.absent_if.is_empty()
                && let Some(disjoint) = disjoint_guard(source, sink, from, to)
            {
                edge.absent_if.clone_from(&source.conditions);
                add_guards(&mut edge.absent_if, &sink.conditions);
                add_guards(&mut edge.absent_if, &[disjoint]);
            }
            link = link.max(match edge.scope {
                _ if !edge.absent_if.is_empty() => Link::Nothing,
                _ if edge.kind == DependenceKind::Reduction => Link::Orders,
                Scope::Global if !edge.has_map() => Link::Separates,
                _ => Link::Orders,
            });
            self.add(edge);
        }
        link
    }

    /// How far two targets are apart, and where the second is in its buffer, of every way in which
    /// they may have a common byte; `None` when that is not known.
    fn distances(
        &self,
        from: &TargetUse,
        to: &TargetUse,
        compared: &Compared<impl Fn(ValueId) -> bool>,
    ) -> Option<Vec<(Polynomial, Option<Polynomial>)>> {
        let carried = compared.run.is_carried();
        let unstable = |value: ValueId| !(compared.stable)(value);
        let mut found: Vec<(Polynomial, Option<Polynomial>)> = Vec::new();
        let mut add = |from: &Place, to: &Place| {
            match overlap(self.graph, from, to, &compared.stable) {
                Overlap::Never => {}
                // Two iterations may see two allocations of one site.
                Overlap::Distance(_) if carried && self.is_made_again(from, compared.later) => {
                    return None;
                }
                Overlap::Distance(distance) => {
                    let at = to.offset.as_ref().map(|at| at.on_sink_side(&unstable));
                    if !found.iter().any(|(known, _)| *known == distance) {
                        found.push((distance, at));
                    }
                }
                Overlap::Unknown => return None,
            }
            Some(())
        };
        let Some(later) = compared.later else {
            add(&from.place, &to.place)?;
            return Some(found);
        };
        let sinks = later.places(&to.place);
        for from in &later.places(&from.place) {
            for to in &sinks {
                add(from, to)?;
            }
        }
        Some(found)
    }

    fn may_alias_edges(
        &mut self,
        (source, from): (&Instance, &TargetUse),
        (sink, to): (&Instance, &TargetUse),
        kinds: &[DependenceKind],
        carried: Option<&[IterationDistance]>,
    ) -> Link {
        let mut absent_if = Vec::new();
        // No guard can compare the pointers of two iterations.
        if carried.is_none()
            && source.broken.is_none()
            && sink.broken.is_none()
            && let Some(disjoint) = disjoint_guard(source, sink, from, to)
        {
            absent_if.extend(source.conditions.iter().cloned());
            absent_if.extend(sink.conditions.iter().cloned());
            absent_if.push(disjoint);
        }
        let because = describe::may_alias((source.model, &from.place), (sink.model, &to.place));
        let because = (because.into(), RejectionReason::MayAlias);
        let link = match absent_if.is_empty() {
            true => Link::Separates,
            false => Link::Nothing,
        };
        let ends = (source, sink, from, to);
        self.widest_between(ends, kinds, because, absent_if, carried);
        link
    }

    /// An edge over everything for each kind.
    fn widest_between(
        &mut self,
        ends: (&Instance, &Instance, &TargetUse, &TargetUse),
        kinds: &[DependenceKind],
        because: (Arc<str>, RejectionReason),
        absent_if: Vec<Guard>,
        carried: Option<&[IterationDistance]>,
    ) {
        for &kind in kinds {
            let (because, absent_if) = (because.clone(), absent_if.clone());
            let edge = self.widest(ends, kind, because, absent_if, carried.is_some());
            self.add(Edge {
                carried: carried.is_some(),
                distances: carried.unwrap_or_default().to_vec(),
                ..edge
            });
        }
    }

    pub(super) fn widest(
        &self,
        (source, sink, from, to): (&Instance, &Instance, &TargetUse, &TargetUse),
        kind: DependenceKind,
        (because, reason): (Arc<str>, RejectionReason),
        absent_if: Vec<Guard>,
        carried: bool,
    ) -> Edge {
        let access = to.writes.first().or(to.reads.first());
        let location = access.map_or_else(Location::default, |index| {
            sink.model.accesses[*index].location.clone()
        });
        let (left, right) = sides(kind, from, to);
        let accesses = pairs_of(kind, (source, left), (sink, right)).next();
        let shapes = [&source.shape, &sink.shape];
        let place = (&to.place, carried);
        let witness = accesses.map(|pair| describe::witness(self.graph, pair, shapes, place, None));
        Edge {
            source: source.node,
            sink: sink.node,
            buffer: to.place.name.clone(),
            kind,
            scope: Scope::Global,
            relation: universal_relation(Scope::Global),
            exact: false,
            certain: false,
            values_differ: false,
            conditions: Vec::new(),
            absent_if,
            carried: false,
            distances: Vec::new(),
            because,
            reason: Some(reason),
            location,
            witness: witness.map(Box::new),
            mapped: None,
            array: None,
            tiling: None,
        }
    }

    /// Whether a place lies in an allocation that a loop or a call may make anew between the two.
    fn is_made_again(&self, place: &Place, later: Option<&Later>) -> bool {
        let Base::Buffer(buffer) = place.base else {
            return false;
        };
        match (self.made_again.get(&buffer), later) {
            (None, _) => false,
            (Some(Some(of_loop)), Some(later)) => !later.is_one_iteration_of(*of_loop),
            (Some(_), _) => true,
        }
    }

    /// The number of a launch among those that differ from it.
    pub(super) fn number(&mut self, instance: &Instance) -> usize {
        if let Some(known) = self.alike_of.get(&instance.node) {
            return *known;
        }
        let alike = Alike {
            kernel: instance.model.id,
            shape: instance.shape.clone(),
            parameters: self.own_parameters(instance),
            inputs: instance.inputs(self.graph),
            facts: instance.facts.clone(),
            conditions: instance.conditions.clone(),
        };
        let next = self.alike.len();
        let number = *self.alike.entry(alike).or_insert(next);
        self.alike_of.insert(instance.node, number);
        number
    }

    pub(super) fn add(&mut self, edge: Edge) {
        let (source, sink) = (NodeIndex::new(edge.source.0), NodeIndex::new(edge.sink.0));
        self.guards += edge.conditions.len() + edge.absent_if.len();
        self.dependences
            .graph
            .add_edge(source, sink, Arc::new(edge));
    }

    pub(super) fn own_parameters(&mut self, instance: &Instance) -> Vec<Polynomial> {
        let graph = self.graph;
        self.parameters
            .entry(instance.node)
            .or_insert_with(|| instance.parameters(graph, &instance.shape))
            .clone()
    }

    /// Whether control can go from one block to another within one iteration of a loop around
    /// both, or in one call of their function.
    fn reaches(
        &mut self,
        flow: &Flow,
        from: HostBlockId,
        to: HostBlockId,
        common: Option<usize>,
    ) -> bool {
        if flow.dominates(from, to) {
            return true;
        }
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

/// What the models of two launches rely on and the domains of loops leave open.
pub(super) fn relied_on(source: &Instance, sink: &Instance, later: Option<&Later>) -> Vec<Guard> {
    let open = |side: usize, instance: &Instance| match later {
        Some(later) => later.open(side, &instance.conditions),
        None => instance.conditions.clone(),
    };
    let mut guards = open(0, source);
    add_guards(&mut guards, &open(1, sink));
    guards
}

/// Parts of an allocation that are closer than this are views of the same elements, shifted.
const LEAST_PART_BYTES: u64 = 1024;

/// Whether two targets at a distance may be parts of one allocation, which a run tells apart.
fn may_be_disjoint(question: &Question, from: &TargetUse, to: &TargetUse) -> bool {
    let constant = |range: &Option<(Polynomial, Polynomial)>| {
        let bounds = range.iter().flat_map(|(low, high)| [low, high]);
        bounds
            .into_iter()
            .all(|bound| bound.as_constant().is_some())
    };
    match question.distance.as_constant() {
        None => true,
        Some(distance) => {
            distance.unsigned_abs() >= LEAST_PART_BYTES
                && !(constant(&from.range) && constant(&to.range))
        }
    }
}

/// Why two targets have an edge although no two accesses meet.
pub(super) fn disjoint_while(source: &Instance, sink: &Instance, to: &TargetUse) -> String {
    format!(
        "`{}` and `{}` are disjoint in `{}` only while indices do not wrap",
        source.model.display_name, sink.model.display_name, to.place.name
    )
}

/// The innermost loop around both.
fn common_loop(flow: &Flow, a: HostBlockId, b: HostBlockId) -> Option<usize> {
    let of_b = flow.loops_around(b);
    let mut around = flow.loops_around(a).iter();
    around.find(|candidate| of_b.contains(candidate)).copied()
}

/// Why nothing that the models say of two launches says anything of a run of both.
fn broken_together(source: &Instance, sink: &Instance) -> Option<String> {
    let own = [source, sink].into_iter().find_map(|instance| {
        let reason = instance.broken.as_ref()?;
        Some(format!("`{}`: {reason}", instance.model.display_name))
    });
    let contradict = || {
        let conditions = source.conditions.iter().chain(&sink.conditions);
        guards_contradict(conditions).then(|| {
            let [first, second] = [source, sink].map(|instance| &instance.model.display_name);
            format!("what the indices of `{first}` and of `{second}` rely on never holds together")
        })
    };
    own.or_else(contradict)
}

/// The name of a place, or that of another one that it meets, where only that one has a variable's.
fn known_name<'p>(place: &'p Place, other: &'p Place) -> &'p str {
    match place.name == UNNAMED {
        true => &other.name,
        false => &place.name,
    }
}
