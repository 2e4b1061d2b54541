//! All operations -> the pairs that get edges: within one run of a function, from one iteration or
//! call to a later one, and between functions. See [`super::order`] for what is left out.

use super::CONDITIONAL_NEIGHBOURS;
use super::DependenceGraph;
use super::boxes::Boxes;
use super::by_iteration;
use super::edges::Builder;
use super::effect::Effect;
use super::order::{Flow, Link, NEIGHBOURS, NumberSet, Past, TouchedBuffers, Touchers};
use super::relation::Relations;
use crate::kernel::KernelModel;
use crate::launch::{HostBlockId, LaunchGraph};
use std::collections::HashMap;

/// Builds the unified graph. Launches, copies, sets and frees have edges; fences (unknown calls,
/// host accesses, stream operations) and synchronisations have none: they order everything, which
/// the schedule stage knows. An allocation touches no byte that anything before it may still use,
/// because a free before it is a fence, and has no edge either.
pub fn build_dependence_graph(graph: &LaunchGraph, kernels: &[KernelModel]) -> DependenceGraph {
    build(graph, kernels, Relations::Written)
}

/// The same for whom the relations of its edges are of no interest, which takes a fraction of the time: each is all
/// pairs of the edge's scope, and none is exact.
pub fn build_dependence_graph_without_relations(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
) -> DependenceGraph {
    build(graph, kernels, Relations::LeftOut)
}

fn build(graph: &LaunchGraph, kernels: &[KernelModel], relations: Relations) -> DependenceGraph {
    let effects: Vec<Option<Effect>> = graph
        .nodes
        .iter()
        .map(|node| Effect::of(graph, kernels, node.id))
        .collect();
    let mut bodies = vec![Body::default(); graph.functions.len()];
    let mut places = vec![0; graph.nodes.len()];
    let mut touched = Vec::new();
    for (node, effect) in effects.iter().enumerate() {
        let own = effect
            .as_ref()
            .map_or_else(TouchedBuffers::default, Effect::touched_buffers);
        let body = &mut bodies[graph.blocks[graph.nodes[node].block.0].function];
        places[node] = body.nodes.len();
        if effect.is_some() {
            body.nodes.push(node);
            body.touchers.insert(node, &own);
        }
        touched.push(own);
    }
    let mut walk = Walk {
        graph,
        effects: &effects,
        boxes: Boxes::new(&effects),
        touched,
        places,
        flow: Flow::new(graph),
        builder: Builder::new(graph, relations),
        pasts: vec![Past::default(); graph.nodes.len()],
        links: vec![Vec::new(); graph.nodes.len()],
        again: HashMap::new(),
        isolated: 0,
    };
    for body in &bodies {
        walk.forward(body);
    }
    for of_loop in 0..graph.loops.len() {
        let function = graph.blocks[graph.loops[of_loop].header.0].function;
        walk.iterations(&bodies[function], function, of_loop);
    }
    for (from, body) in bodies.iter().enumerate() {
        for (to, other) in bodies.iter().enumerate() {
            if from != to || graph.functions[from].repeated {
                walk.calls(body, other);
            }
        }
    }
    let mut dependences = walk.builder.finish();
    if !dependences.cut_short {
        dependences.by_iteration = by_iteration::compare(graph, kernels);
    }
    dependences
}

/// The operations of a function that touch device memory.
#[derive(Clone, Default)]
struct Body {
    /// In host order.
    nodes: Vec<usize>,
    touchers: Touchers,
}

/// With more pairs than this whose edges speak for no others, the graph is cut short. Launches in sequence have none;
/// of those that exclude each other, as instances of a template from which a loop chooses, each has edges with all.
const MOST_ISOLATED: usize = 100_000;

/// It is cut short, too, with more edges than this and so many more for each node, as instances have that a function
/// chooses from by pointers of which nothing is known. Launches in sequence have some hundred each.
const MOST_EDGES: usize = 300_000;
const EDGES_OF_NODE: usize = 200;

/// It is cut short, too, where its edges rely on more guards than this, each some hundred bytes large. Hundreds of lambdas that capture a
/// structure of many pointers have ten for each edge, and a hundred times as many as programs of other kinds.
const MOST_GUARDS: usize = 250_000;

struct Walk<'a> {
    graph: &'a LaunchGraph,
    effects: &'a [Option<Effect<'a>>],
    boxes: Boxes,
    /// By node, as everything below.
    touched: Vec<TouchedBuffers>,
    /// Position among the operations of the function that touch device memory.
    places: Vec<usize>,
    flow: Flow<'a>,
    builder: Builder<'a>,
    /// What comes before in the same iteration.
    pasts: Vec<Past>,
    /// Where edges within an iteration come from, latest first.
    links: Vec<Vec<(usize, Link)>>,
    /// The pairs asked for so far whose sink belongs to another call or to a later iteration, of the
    /// loop where that matters.
    again: HashMap<(usize, usize, Option<usize>), Link>,
    /// Pairs with edges that speak for no others.
    isolated: usize,
}

impl<'a> Walk<'a> {
    /// Whether there is too much, which the graph then says.
    fn is_full(&mut self) -> bool {
        let many_guards = self.builder.guards > MOST_GUARDS;
        let dependences = &mut self.builder.dependences;
        let most = MOST_EDGES + EDGES_OF_NODE * self.effects.len();
        dependences.cut_short |=
            many_guards || self.isolated > MOST_ISOLATED || dependences.graph.edge_count() > most;
        dependences.cut_short
    }

    fn block(&self, node: usize) -> HostBlockId {
        self.graph.nodes[node].block
    }

    /// Edges within one iteration, or one call.
    fn forward(&mut self, body: &Body) {
        let effects = self.effects;
        let mut touchers = Touchers::default();
        for later in &body.nodes {
            let Some(sink) = &effects[*later] else {
                continue;
            };
            if self.is_full() {
                return;
            }
            let mut past = Past::default();
            for earlier in touchers.conflicting(&self.touched[*later]).descending() {
                let distance = self.places[*later] - self.places[earlier];
                let Some(source) = effects[earlier].as_ref() else {
                    continue;
                };
                let waits = !self
                    .flow
                    .never_waits(self.block(earlier), self.block(*later));
                if past.is_separated(earlier) && distance > NEIGHBOURS
                    || !waits && distance > CONDITIONAL_NEIGHBOURS
                {
                    continue;
                }
                if self.boxes.disjoint(earlier, *later) {
                    continue;
                }
                let link = self.builder.relate(&self.flow, source, sink);
                if link == Link::Nothing {
                    continue;
                }
                self.links[*later].push((earlier, link));
                let always = self
                    .flow
                    .always_before(self.block(earlier), self.block(*later));
                past.add(earlier, link, always.then_some(&self.pasts[earlier]), None);
            }
            self.pasts[*later] = past;
            touchers.insert(*later, &self.touched[*later]);
        }
    }

    /// Edges from one iteration of a loop to later ones.
    fn iterations(&mut self, body: &Body, function: usize, of_loop: usize) {
        let inside = |node: &usize| {
            let around = self.flow.loops_around(self.graph.nodes[*node].block);
            around.contains(&of_loop)
        };
        let nodes: Vec<usize> = body.nodes.iter().copied().filter(inside).collect();
        let mut by_innermost: HashMap<usize, NumberSet> = HashMap::new();
        let mut all = NumberSet::default();
        for node in &nodes {
            all.insert(*node);
            let around = self.flow.loops_around(self.block(*node));
            if around[0] != of_loop {
                by_innermost.entry(around[0]).or_default().insert(*node);
            }
        }
        let mut borders = HashMap::new();
        // What an operation that ends its iterations speaks for.
        let mut through: HashMap<usize, Option<NumberSet>> = HashMap::new();
        for node in &nodes {
            let block = self.block(*node);
            let ends = self.flow.ends_iterations(block, of_loop, &mut borders);
            let innermost = self.flow.loops_around(block)[0];
            let limit = by_innermost.get(&innermost).unwrap_or(&all);
            through.insert(*node, ends.then(|| limit.clone()));
        }
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
            return;
        };
        let round = Round {
            sources: &all,
            touchers: &body.touchers,
            sinks: &nodes,
            end: self.places[*last],
            start: self.places[*first],
            few: nodes.len() <= NEIGHBOURS,
            of_loop: (!self.graph.functions[function].repeated).then_some(of_loop),
        };
        self.across(&round, &|node| match through.get(&node) {
            Some(Some(limit)) => Through::Within(limit),
            _ => Through::Nothing,
        });
    }

    /// Edges from one function, or one call of a function, to another.
    fn calls(&mut self, from: &Body, to: &Body) {
        let (Some(last), Some(first)) = (from.nodes.last(), to.nodes.first()) else {
            return;
        };
        let sources = from.nodes.iter().copied().collect();
        let round = Round {
            sources: &sources,
            touchers: &from.touchers,
            sinks: &to.nodes,
            end: self.places[*last],
            start: self.places[*first],
            few: from.nodes.len() + to.nodes.len() <= NEIGHBOURS,
            of_loop: None,
        };
        // The end of a call issues all that is pending, so it does not matter which operations
        // between two run.
        self.across(&round, &|_| Through::Everything);
    }

    fn across<'b>(&mut self, round: &Round<'b>, through: &impl Fn(usize) -> Through<'b>) {
        let effects = self.effects;
        let mut pasts: HashMap<usize, Past> = HashMap::new();
        for later in round.sinks {
            let Some(sink) = &effects[*later] else {
                continue;
            };
            if self.is_full() {
                return;
            }
            let mut past = Past::default();
            for (between, link) in &self.links[*later] {
                if let Some(before) = pasts.get(between)
                    && self
                        .flow
                        .always_before(self.block(*between), self.block(*later))
                {
                    past.add_past(*link, before);
                }
            }
            let mut sources = round.touchers.conflicting(&self.touched[*later]);
            sources.keep(round.sources);
            for earlier in sources.descending() {
                let Some(source) = effects[earlier].as_ref() else {
                    continue;
                };
                let distance =
                    round.end - self.places[earlier] + self.places[*later] - round.start + 1;
                let close = earlier == *later || round.few || distance <= NEIGHBOURS;
                if past.is_separated(earlier) && !close {
                    continue;
                }
                let varies = self.builder.distinguishes_loops(source, sink);
                let of_loop = round.of_loop.filter(|_| varies);
                let link = match self.again.get(&(earlier, *later, of_loop)) {
                    Some(link) => *link,
                    None => {
                        let link = self.builder.relate_again(source, sink, round.of_loop);
                        self.again.insert((earlier, *later, of_loop), link);
                        link
                    }
                };
                let before = &self.pasts[earlier];
                match through(earlier) {
                    Through::Nothing => {
                        self.isolated += usize::from(link != Link::Nothing);
                        past.add(earlier, link, None, None);
                    }
                    Through::Within(limit) => past.add(earlier, link, Some(before), Some(limit)),
                    Through::Everything => past.add(earlier, link, Some(before), None),
                }
            }
            pasts.insert(*later, past);
        }
    }
}

/// Two runs of code, one after the other.
struct Round<'b> {
    sources: &'b NumberSet,
    touchers: &'b Touchers,
    sinks: &'b [usize],
    /// Place of the last source and of the first sink.
    end: usize,
    start: usize,
    /// So few operations that all pairs get their edges.
    few: bool,
    /// Iterations of this loop, in a function that is called once.
    of_loop: Option<usize>,
}

/// Whose edges are also paths from what is before them in the earlier run.
enum Through<'b> {
    Nothing,
    Within(&'b NumberSet),
    Everything,
}
