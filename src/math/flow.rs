//! Directed graphs with an entry, as control flow is one: their order, what dominates what, and natural loops.
//!
//! Vertices are numbers, so that the flow of host functions, of kernels and of LLVM's functions can be asked the same.
//! The verifier has its own, since it shares no algorithm with those that plan.

use petgraph::algo::dominators::simple_fast;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;
use std::collections::{BTreeMap, BTreeSet};

/// What dominates what, from an entry on or, backwards, from an end.
#[derive(Clone, Debug)]
pub struct Dominators {
    root: usize,
    immediate: Vec<Option<usize>>,
}

impl Dominators {
    /// On the ways from `entry`, by the successors of each vertex.
    pub fn of(successors: &[Vec<usize>], entry: usize) -> Self {
        let graph = digraph(successors);
        let found = simple_fast(&graph, NodeIndex::new(entry));
        Self::read(successors.len(), entry, |node| {
            found.immediate_dominator(node)
        })
    }

    /// On the ways to `end`: what these call dominators are the postdominators of the graph.
    pub fn backwards(successors: &[Vec<usize>], end: usize) -> Self {
        let graph = digraph(successors);
        let found = simple_fast(Reversed(&graph), NodeIndex::new(end));
        Self::read(successors.len(), end, |node| {
            found.immediate_dominator(node)
        })
    }

    fn read(count: usize, root: usize, immediate: impl Fn(NodeIndex) -> Option<NodeIndex>) -> Self {
        let immediate = |vertex| immediate(NodeIndex::new(vertex)).map(NodeIndex::index);
        Self {
            root,
            immediate: (0..count).map(immediate).collect(),
        }
    }

    /// The nearest other vertex that every way passes; none for the root, and for vertices without a way.
    pub fn immediate(&self, vertex: usize) -> Option<usize> {
        self.immediate[vertex]
    }

    /// A vertex and its dominators, the nearest first; nothing for one without a way.
    pub fn chain(&self, vertex: usize) -> impl Iterator<Item = usize> + '_ {
        let has_way = vertex == self.root || self.immediate[vertex].is_some();
        std::iter::successors(has_way.then_some(vertex), |at| self.immediate[*at])
    }

    /// Whether every way to `below` passes `above`; a vertex with a way dominates itself.
    pub fn dominates(&self, above: usize, below: usize) -> bool {
        self.chain(below).any(|vertex| vertex == above)
    }
}

/// A graph whose first vertex is the entry.
#[derive(Clone, Debug)]
pub struct FlowGraph {
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    order: Vec<usize>,
    position: Vec<Option<usize>>,
    dominators: Dominators,
}

/// A cycle with one entry.
#[derive(Clone, Debug)]
pub struct NaturalLoop {
    /// What every entry and every iteration passes.
    pub header: usize,
    /// Where the edges back to the header come from, one entry for each edge.
    pub latches: Vec<usize>,
    /// All its vertices, those of inner loops included.
    pub blocks: BTreeSet<usize>,
}

impl FlowGraph {
    /// By the successors of each vertex, of which there is one at least.
    pub fn new(successors: Vec<Vec<usize>>) -> Self {
        let order = reverse_postorder(&successors);
        let mut position = vec![None; successors.len()];
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (place, vertex) in order.iter().enumerate() {
            position[*vertex] = Some(place);
            for next in &successors[*vertex] {
                predecessors[*next].push(*vertex);
            }
        }
        Self {
            dominators: Dominators::of(&successors, 0),
            successors,
            predecessors,
            order,
            position,
        }
    }

    /// The vertices that the entry reaches, in reverse postorder.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Where a vertex stands in that order.
    pub fn position(&self, vertex: usize) -> Option<usize> {
        self.position[vertex]
    }

    /// Where edges lead to.
    pub fn successors(&self, vertex: usize) -> &[usize] {
        &self.successors[vertex]
    }

    /// Where edges come from, of what the entry reaches, in its order.
    pub fn predecessors(&self, vertex: usize) -> &[usize] {
        &self.predecessors[vertex]
    }

    /// What dominates what.
    pub fn dominators(&self) -> &Dominators {
        &self.dominators
    }

    /// The edges that lead back to what dominates their beginning, from and to, by the order of their beginnings.
    pub fn back_edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let edges = self.order.iter().flat_map(|from| {
            let successors = self.successors[*from].iter();
            successors.map(move |to| (*from, *to))
        });
        edges.filter(|(from, to)| self.dominators.dominates(*to, *from))
    }

    /// Whether each cycle is a natural loop.
    pub fn is_reducible(&self) -> bool {
        let mut edges = self.order.iter().flat_map(|from| {
            let successors = self.successors[*from].iter();
            successors.map(move |to| (*from, *to))
        });
        edges.all(|(from, to)| {
            self.position[to] > self.position[from] || self.dominators.dominates(to, from)
        })
    }

    /// The natural loops by the order of their headers, so that outer ones come before those inside; cycles with one header
    /// are one loop.
    pub fn natural_loops(&self) -> Vec<NaturalLoop> {
        let mut latches: BTreeMap<Option<usize>, (usize, Vec<usize>)> = BTreeMap::new();
        for (latch, header) in self.back_edges() {
            let of_header = latches.entry(self.position[header]);
            of_header.or_insert((header, Vec::new())).1.push(latch);
        }
        latches
            .into_values()
            .map(|(header, latches)| NaturalLoop {
                header,
                blocks: self.loop_of(header, &latches),
                latches,
            })
            .collect()
    }

    /// What leads to some vertices without passing a header, and that.
    pub fn loop_of(&self, header: usize, latches: &[usize]) -> BTreeSet<usize> {
        let mut blocks = BTreeSet::from([header]);
        let mut pending = latches.to_vec();
        while let Some(vertex) = pending.pop() {
            if blocks.insert(vertex) {
                pending.extend(&self.predecessors[vertex]);
            }
        }
        blocks
    }

    /// The reached vertices that lead to themselves.
    pub fn repeated(&self) -> BTreeSet<usize> {
        let graph = digraph(&self.successors);
        let repeats = |component: &Vec<NodeIndex>| {
            component.len() > 1 || graph.contains_edge(component[0], component[0])
        };
        let components = tarjan_scc(&graph).into_iter().filter(repeats);
        let vertices = components.flatten().map(NodeIndex::index);
        vertices
            .filter(|vertex| self.position[*vertex].is_some())
            .collect()
    }
}

/// The vertices that the first one reaches in reverse postorder. The last successor is visited first, so that the order
/// reads like the source.
pub fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0, successors[0].len())];
    seen[0] = true;
    while let Some((vertex, left)) = stack.pop() {
        match left.checked_sub(1) {
            Some(next) => {
                stack.push((vertex, next));
                let successor = successors[vertex][next];
                if !std::mem::replace(&mut seen[successor], true) {
                    stack.push((successor, successors[successor].len()));
                }
            }
            None => order.push(vertex),
        }
    }
    order.reverse();
    order
}

fn digraph(successors: &[Vec<usize>]) -> DiGraph<(), ()> {
    let mut graph = DiGraph::new();
    for _ in successors {
        graph.add_node(());
    }
    for (from, successors) in successors.iter().enumerate() {
        for to in successors {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(*to), ());
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two loops, one in the other, and a way past them: 0 -> 1 -> 2 -> 2 -> 1, 1 -> 3; nothing reaches 4.
    fn nested() -> FlowGraph {
        FlowGraph::new(vec![vec![1, 3], vec![2, 3], vec![2, 1], vec![], vec![1]])
    }

    #[test]
    fn loops_and_dominators_of_nested_loops() {
        let graph = nested();
        assert_eq!(graph.order(), [0, 1, 2, 3]);
        assert!(graph.is_reducible());
        let loops = graph.natural_loops();
        let shown: Vec<_> = loops
            .iter()
            .map(|each| (each.header, each.latches.clone(), each.blocks.len()))
            .collect();
        assert_eq!(shown, [(1, vec![2], 2), (2, vec![2], 1)]);
        let dominators = graph.dominators();
        assert!(dominators.dominates(1, 2) && !dominators.dominates(1, 3));
        assert!(!dominators.dominates(4, 4));
        assert_eq!(graph.repeated(), BTreeSet::from([1, 2]));
        assert_eq!(graph.predecessors(1), [0, 2]);
    }

    #[test]
    fn a_cycle_with_two_entries_is_no_loop() {
        let graph = FlowGraph::new(vec![vec![1, 2], vec![2], vec![1]]);
        assert!(!graph.is_reducible());
        assert!(graph.natural_loops().is_empty());
    }

    #[test]
    fn postdominators_are_dominators_backwards() {
        let behind = Dominators::backwards(&[vec![1, 2], vec![3], vec![3], vec![], vec![4]], 3);
        assert_eq!(behind.immediate(0), Some(3));
        assert!(behind.dominates(3, 1) && !behind.dominates(1, 0));
        assert_eq!(behind.chain(4).count(), 0);
    }
}
