//! A pair of operations that may touch common bytes -> its edges in the [`Uar`].
//!
//! Order of proof for two launches and two targets: different allocations, no edge; same pointer or
//! known distance, the relation decides; anything else may overlap, and the edge says which ranges
//! a guard would have to compare. Where an absence relies on conditions that only a run can decide,
//! an edge stays, with those conditions in [`Edge::absent_if`].

use super::decision::{Decision, add_guards};
use super::describe;
use super::effect::{Effect, footprint_range, ranges_apart};
use super::instance::{Alike, Base, Instance, Place, TargetUse};
use super::kinds::{kinds_between, kinds_of, sides};
use super::order::{Flow, Link};
use super::overlap::{Overlap, is_constant_memory, overlap};
use super::pair::{
    PairOfTargets, ShapeEquality, disjoint_guard, shape_equality, shape_on_sink_side,
};
use super::polynomial::Polynomial;
use super::relation::{Solver, universal_relation};
use super::{DependenceKind, Edge, Guard, Uar, Width};
use crate::diagnostics::{Location, RejectionReason};
use crate::launch::{BufferId, HostBlockId, LaunchGraph, NodeId, NodeKind, ValueId};
use petgraph::graph::NodeIndex;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Finds the edges of pairs, each question once.
pub(super) struct Builder<'a> {
    graph: &'a LaunchGraph,
    solver: Solver,
    /// Blocks that a block reaches without entering a header, the common loop's.
    paths: HashMap<(HostBlockId, Option<HostBlockId>), Vec<bool>>,
    /// Parameter values of a node's model with its own shape.
    parameters: HashMap<NodeId, Vec<Polynomial>>,
    /// Numbers for launches that are the same but for their pointers.
    alike: HashMap<Alike, usize>,
    alike_of: HashMap<NodeId, usize>,
    answers: HashMap<Question, Rc<[Answer]>>,
    /// Numbers for uses that are the same but for names and places in the source.
    forms: HashMap<String, usize>,
    form_of: HashMap<(usize, usize), usize>,
    decisions: HashMap<Structure, Rc<[(DependenceKind, Decision)]>>,
    /// Allocations made in a loop or in a function that runs more than once.
    made_again: BTreeSet<BufferId>,
    uar: Uar,
}

/// All that the edges between two targets depend on, besides the two nodes and the buffer's name.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    /// Numbers of the two launches by [`Builder::alike`].
    alike: [usize; 2],
    /// The targets' positions in the uses.
    uses: [usize; 2],
    distance: Polynomial,
    /// Of the sink's target.
    offset: Option<Polynomial>,
    /// The name, where it is a description.
    name: Option<String>,
    run: Run,
}

/// All that is decided about two targets depends on: kernels of one structure share it.
#[derive(PartialEq, Eq, Hash)]
struct Structure {
    /// Numbers of the two uses by [`Builder::form`].
    forms: [usize; 2],
    distance: Polynomial,
    run: Run,
}

/// Which runs of two operations are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Run {
    /// In one iteration of this loop, the innermost around both, or in one call.
    Same(Option<usize>),
    /// In different iterations: whatever varies in a loop differs.
    Later,
}

/// An edge between launches, the buffer's name left open.
struct Answer {
    edge: Edge,
    /// Disjoint ranges would make it absent.
    absent_when_apart: bool,
}

/// Stands for the buffer's name in an [`Answer`].
const NAME: &str = "\u{1}";

impl Builder<'_> {
    /// No edges yet.
    pub(super) fn new(graph: &LaunchGraph) -> Builder<'_> {
        let mut uar = Uar::default();
        for node in &graph.nodes {
            uar.graph.add_node(node.id);
        }
        let made_again = graph.nodes.iter().filter_map(|node| {
            let NodeKind::Allocation { buffer } = node.kind else {
                return None;
            };
            let block = &graph.blocks[node.block.0];
            let again = block.innermost_loop.is_some() || graph.functions[block.function].repeated;
            again.then_some(buffer)
        });
        let not_unique = (0..graph.buffers.len()).map(BufferId);
        let not_unique = not_unique.filter(|buffer| !graph.buffers[buffer.0].unique);
        Builder {
            graph,
            solver: Solver::default(),
            paths: HashMap::new(),
            parameters: HashMap::new(),
            alike: HashMap::new(),
            alike_of: HashMap::new(),
            answers: HashMap::new(),
            forms: HashMap::new(),
            form_of: HashMap::new(),
            decisions: HashMap::new(),
            made_again: made_again.chain(not_unique).collect(),
            uar,
        }
    }

    /// The graph of all edges found.
    pub(super) fn finish(mut self) -> Uar {
        self.uar.effort.problems = self.solver.problems;
        self.uar
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
                self.launch_pair(source, sink, Run::Same(common), &stable)
            }
            _ => self.widest_edge(source, sink, false, &stable),
        }
    }

    /// Adds the edges from one operation to another that runs in a later iteration, of the same call
    /// where `one_call` says so, or in another call.
    pub(super) fn relate_again(&mut self, source: &Effect, sink: &Effect, one_call: bool) -> Link {
        if !source.is_launch() && !sink.is_launch() {
            return Link::Nothing;
        }
        if let (true, Effect::Modelled(source), Effect::Modelled(sink)) = (one_call, source, sink)
            && source.is_invariant(self.graph)
            && sink.is_invariant(self.graph)
        {
            let graph = self.graph;
            let stable = |value: ValueId| graph.values[value.0].varies_in.is_none();
            return self.launch_pair(source, sink, Run::Later, &stable);
        }
        let function = |effect: &Effect| {
            let block = self.graph.nodes[effect.node().0].block;
            self.graph.blocks[block.0].function
        };
        let later = function(source) == function(sink) || source.node() > sink.node();
        self.widest_edge(source, sink, later, &|_| false)
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
                        link = Link::Separates;
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
        link
    }

    fn launch_pair(
        &mut self,
        source: &Instance,
        sink: &Instance,
        run: Run,
        stable: &impl Fn(ValueId) -> bool,
    ) -> Link {
        let carried = run == Run::Later;
        let mut link = Link::Nothing;
        let alike = [self.number(source), self.number(sink)];
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
                let distance = match overlap(self.graph, &from.place, &to.place, stable) {
                    Overlap::Never => continue,
                    // Two iterations may see two allocations of one site.
                    Overlap::Distance(_) if carried && self.is_made_again(&from.place) => None,
                    Overlap::Distance(distance) => Some(distance),
                    Overlap::Unknown => None,
                };
                let Some(distance) = distance else {
                    let found = self.may_alias_edges((source, from), (sink, to), &kinds, carried);
                    link = link.max(found.min(separates));
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
                    let because = (because, reason);
                    self.widest_between((source, sink), to, &kinds, because, Vec::new(), carried);
                    link = link.max(separates);
                    continue;
                }
                let unstable = |value: ValueId| !stable(value);
                let first_range = footprint_range(source, from);
                let second_range = footprint_range(sink, to);
                if ranges_apart(&distance, first_range, second_range, &unstable) {
                    let mut relied_on = source.conditions.clone();
                    add_guards(&mut relied_on, &sink.conditions);
                    if !relied_on.is_empty() {
                        let reason = RejectionReason::UnprovenIndex;
                        let because = (apart_while(source, sink, to), reason);
                        let ends = (source, sink);
                        self.widest_between(ends, to, &kinds, because, relied_on, carried);
                    }
                    continue;
                }
                let place = &to.place;
                let question = Question {
                    alike,
                    uses: [first, second],
                    distance,
                    offset: place.offset.clone(),
                    name: place.name.contains(' ').then(|| place.name.clone()),
                    run,
                };
                let answer = match self.answers.get(&question) {
                    Some(known) => Rc::clone(known),
                    None => {
                        let mut nameless = to.clone();
                        if question.name.is_none() {
                            nameless.place.name = String::from(NAME);
                        }
                        let ends = (source, sink, from, &nameless);
                        let answer: Rc<[Answer]> =
                            self.precise_edges(ends, &question, stable).into();
                        self.uar.effort.questions += 1;
                        self.answers.insert(question, Rc::clone(&answer));
                        answer
                    }
                };
                let name = &to.place.name;
                for Answer {
                    edge,
                    absent_when_apart,
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
                        buffer: name.clone(),
                        because: edge.because.replace(NAME, name),
                        carried,
                        ..edge.clone()
                    };
                    if *absent_when_apart
                        && !carried
                        && let Some(apart) = disjoint_guard(source, sink, from, to)
                    {
                        edge.absent_if.clone_from(&source.conditions);
                        add_guards(&mut edge.absent_if, &sink.conditions);
                        add_guards(&mut edge.absent_if, &[apart]);
                    }
                    link = link.max(match edge.width {
                        _ if !edge.absent_if.is_empty() => Link::Nothing,
                        _ if edge.kind == DependenceKind::Reduction => Link::Orders,
                        Width::Global if edge.mapped.is_none() => Link::Separates,
                        _ => Link::Orders,
                    });
                    self.add(edge);
                }
            }
        }
        link
    }

    /// The edges between two targets at a known distance.
    fn precise_edges(
        &mut self,
        ends: (&Instance, &Instance, &TargetUse, &TargetUse),
        question: &Question,
        stable: &impl Fn(ValueId) -> bool,
    ) -> Vec<Answer> {
        let (source, sink, from, to) = ends;
        let structure = Structure {
            forms: [
                self.form(source, from, question.alike[0], question.uses[0]),
                self.form(sink, to, question.alike[1], question.uses[1]),
            ],
            distance: question.distance.clone(),
            run: question.run,
        };
        let decisions = match self.decisions.get(&structure) {
            Some(known) => Rc::clone(known),
            None => {
                let decided: Rc<[(DependenceKind, Decision)]> =
                    self.decide(ends, &question.distance, stable).into();
                self.uar.effort.decisions += 1;
                self.decisions.insert(structure, Rc::clone(&decided));
                decided
            }
        };
        let decisions = decisions.iter();
        decisions
            .map(|(kind, decision)| self.answer(ends, *kind, decision))
            .collect()
    }

    /// What the accesses of two targets say, for each kind of conflict that there is.
    fn decide(
        &mut self,
        (source, sink, from, to): (&Instance, &Instance, &TargetUse, &TargetUse),
        distance: &Polynomial,
        stable: &impl Fn(ValueId) -> bool,
    ) -> Vec<(DependenceKind, Decision)> {
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
        let pair = PairOfTargets {
            source,
            sink,
            distance,
            facts: &facts,
            source_parameters: &source_parameters,
            sink_parameters: &sink_parameters,
            sink_shape: &sink_shape,
            assumed_parameters: assumed_parameters.as_deref(),
            equality: &equality,
        };
        let kinds = [
            DependenceKind::Flow,
            DependenceKind::Anti,
            DependenceKind::Output,
            DependenceKind::Reduction,
        ];
        let decisions = kinds.into_iter().filter_map(|kind| {
            let sides = sides(kind, from, to);
            let decision = pair.decide_all(&mut self.solver, kind, sides)?;
            Some((kind, decision))
        });
        decisions.collect()
    }

    /// A decision with the names and places of two launches.
    fn answer(
        &self,
        (source, sink, from, to): (&Instance, &Instance, &TargetUse, &TargetUse),
        kind: DependenceKind,
        decision: &Decision,
    ) -> Answer {
        let names = (
            &source.model.display_name,
            &sink.model.display_name,
            &to.place.name,
        );
        let widest = |because: String, absent_if: &[Guard]| {
            let because = (because, RejectionReason::UnprovenIndex);
            Answer {
                edge: self.widest(source, sink, to, kind, because, absent_if.to_vec()),
                absent_when_apart: false,
            }
        };
        let meeting = match decision {
            Decision::TooMany => {
                let (one, two, buffer) = names;
                let because =
                    format!("`{one}` and `{two}` access `{buffer}` in too many ways to compare");
                return widest(because, &[]);
            }
            Decision::ApartIf(guards) => return widest(apart_while(source, sink, to), guards),
            Decision::Meet(meeting) => meeting,
        };
        let (left, right) = sides(kind, from, to);
        let accesses = (
            &source.model.accesses[left[meeting.widest[0]]],
            &sink.model.accesses[right[meeting.widest[1]]],
        );
        let because = match meeting.reason {
            RejectionReason::Shape if meeting.width == Width::Global => {
                describe::different_shapes(source.model, sink.model)
            }
            _ if kind == DependenceKind::Reduction => {
                describe::reductions(source.model, sink.model, accesses.0, &to.place.name)
            }
            _ => describe::accesses(
                source.model,
                sink.model,
                accesses,
                &to.place.name,
                meeting.width,
            ),
        };
        let shapes = [&source.shape, &meeting.sink_shape];
        let example = meeting.example.as_ref();
        let witness = (meeting.width != Width::Thread)
            .then(|| describe::witness(self.graph, accesses, shapes, &to.place, example));
        Answer {
            edge: Edge {
                source: source.node,
                sink: sink.node,
                buffer: to.place.name.clone(),
                kind,
                width: meeting.width,
                relation: meeting.relation.clone(),
                exact: meeting.exact,
                conditions: meeting.conditions.clone(),
                absent_if: Vec::new(),
                carried: false,
                because,
                reason: (meeting.width == Width::Global).then_some(meeting.reason),
                location: accesses.1.location.clone(),
                witness,
                mapped: meeting.mapped.clone(),
            },
            absent_when_apart: meeting.absent_when_apart,
        }
    }

    fn may_alias_edges(
        &mut self,
        (source, from): (&Instance, &TargetUse),
        (sink, to): (&Instance, &TargetUse),
        kinds: &[DependenceKind],
        carried: bool,
    ) -> Link {
        let mut absent_if = Vec::new();
        // No guard can compare the pointers of two iterations.
        if !carried
            && source.broken.is_none()
            && sink.broken.is_none()
            && let Some(apart) = disjoint_guard(source, sink, from, to)
        {
            absent_if.extend(source.conditions.iter().cloned());
            absent_if.extend(sink.conditions.iter().cloned());
            absent_if.push(apart);
        }
        let because = describe::may_alias((source.model, &from.place), (sink.model, &to.place));
        let because = (because, RejectionReason::MayAlias);
        let link = match absent_if.is_empty() {
            true => Link::Separates,
            false => Link::Nothing,
        };
        self.widest_between((source, sink), to, kinds, because, absent_if, carried);
        link
    }

    /// An edge over everything for each kind.
    fn widest_between(
        &mut self,
        (source, sink): (&Instance, &Instance),
        to: &TargetUse,
        kinds: &[DependenceKind],
        because: (String, RejectionReason),
        absent_if: Vec<Guard>,
        carried: bool,
    ) {
        for &kind in kinds {
            let edge = self.widest(source, sink, to, kind, because.clone(), absent_if.clone());
            self.add(Edge { carried, ..edge });
        }
    }

    fn widest(
        &self,
        source: &Instance,
        sink: &Instance,
        to: &TargetUse,
        kind: DependenceKind,
        (because, reason): (String, RejectionReason),
        absent_if: Vec<Guard>,
    ) -> Edge {
        let access = to.writes.first().or(to.reads.first());
        let location = access.map_or_else(Location::default, |index| {
            sink.model.accesses[*index].location.clone()
        });
        Edge {
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
            witness: None,
            mapped: None,
        }
    }

    /// Whether a place lies in an allocation that a loop or a call may make anew.
    fn is_made_again(&self, place: &Place) -> bool {
        matches!(place.base, Base::Buffer(buffer) if self.made_again.contains(&buffer))
    }

    /// The number of a launch among those that differ from it.
    fn number(&mut self, instance: &Instance) -> usize {
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

    /// The number of a launch's use among those that the same is decided about: what is computed
    /// of a pair of uses may depend on nothing else.
    fn form(
        &mut self,
        instance: &Instance,
        used: &TargetUse,
        alike: usize,
        position: usize,
    ) -> usize {
        if let Some(known) = self.form_of.get(&(alike, position)) {
            return *known;
        }
        let model = instance.model;
        let accesses = |list: &[usize]| -> Vec<_> {
            let list = list.iter().map(|index| &model.accesses[*index]);
            list.map(|access| {
                let (kind, size_bytes) = (access.kind, access.size_bytes);
                let (subscript, domain) = (&access.subscript, &access.domain);
                (kind, subscript, size_bytes, domain, access.exact)
            })
            .collect()
        };
        let text = format!(
            "{:?}",
            (
                accesses(&used.reads),
                accesses(&used.writes),
                &model.products,
                &model.parameters,
                self.own_parameters(instance),
                instance.inputs(self.graph),
                &instance.shape,
                &instance.facts,
                &instance.conditions,
            )
        );
        let next = self.forms.len();
        let number = *self.forms.entry(text).or_insert(next);
        self.form_of.insert((alike, position), number);
        number
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

/// Why two targets have an edge although no two accesses meet.
fn apart_while(source: &Instance, sink: &Instance, to: &TargetUse) -> String {
    format!(
        "`{}` and `{}` are apart in `{}` only while indices do not wrap",
        source.model.display_name, sink.model.display_name, to.place.name
    )
}

/// The innermost loop around both.
fn common_loop(flow: &Flow, a: HostBlockId, b: HostBlockId) -> Option<usize> {
    let of_b = flow.loops_around(b);
    let mut around = flow.loops_around(a).iter();
    around.find(|candidate| of_b.contains(candidate)).copied()
}
