//! Graphs of kernels from a seed, to train on.
//!
//! A graph is put together from pieces that networks and numerical programs are made of: chains of elementwise kernels, products
//! with what stands around them, normalisations, recurrent cells, cells with several branches, and updates of many tensors.
//! Sizes, their order and who reads what are random. None of the networks in `tests/planners/networks/` is among them;
//! they are there to be judged by.

use crate::planner::file::VERSION;
use crate::planner::{Class, Edge, EdgeKind, FusionProblem, Operator, Scope, Unanswered};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

/// A graph of about so many kernels.
pub fn generated(random: &mut StdRng, kernels: usize) -> FusionProblem {
    let mut graph = Graph::default();
    let rows = *[32_u64, 128, 512, 2_048, 8_192]
        .choose(random)
        .unwrap_or(&32);
    let columns = *[64_u64, 256, 512, 1_024].choose(random).unwrap_or(&64);
    let tensor = Tensor {
        made_by: None,
        rows,
        columns,
    };
    let mut pool = vec![tensor; 2];
    while graph.nodes.len() < kernels {
        let input = *pool[pool.len().saturating_sub(4)..]
            .choose(random)
            .unwrap_or(&tensor);
        let other = *pool.choose(random).unwrap_or(&tensor);
        let made = match random.random_range(0..9) {
            0 | 1 => chain(&mut graph, random, input, other),
            2 => product(&mut graph, random, input),
            3 => normalisation(&mut graph, random, input),
            4 => recurrent(&mut graph, random, input, other),
            5 | 6 => branches(&mut graph, random, input, other),
            7 => updates(&mut graph, random, input),
            _ => column_sums(&mut graph, random, input),
        };
        pool.push(made);
    }
    graph.finished(random)
}

/// Rows and columns of floats.
#[derive(Clone, Copy)]
struct Tensor {
    made_by: Option<usize>,
    rows: u64,
    columns: u64,
}

impl Tensor {
    fn elements(self) -> f64 {
        (self.rows * self.columns) as f64
    }
    fn bytes(self) -> f64 {
        4.0 * self.elements()
    }
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Operator>,
    edges: Vec<Edge>,
}

/// How a kernel reads its inputs, and what it is like.
struct Kernel {
    name: &'static str,
    class: Class,
    scope: Scope,
    instructions: f64,
    blocks: Option<u64>,
    shared_bytes: u64,
    registers: u64,
    waits: f64,
}

impl Graph {
    fn add(&mut self, inputs: &[Tensor], output: Tensor, kernel: &Kernel) -> Tensor {
        let node = self.nodes.len();
        let bytes: f64 = inputs.iter().map(|input| input.bytes()).sum();
        let blocks = kernel
            .blocks
            .unwrap_or_else(|| (output.rows * output.columns).div_ceil(256).max(1));
        self.nodes.push(Operator {
            name: format!("{}{node}", kernel.name),
            class: kernel.class,
            work: kernel.instructions.round(),
            bytes: bytes + output.bytes(),
            blocks: Some(blocks),
            threads: Some(256),
            shared_bytes: kernel.shared_bytes,
            registers: Some(kernel.registers),
            block_nanoseconds: kernel.waits,
            nanoseconds: None,
        });
        let mut seen = Vec::new();
        for input in inputs {
            let Some(source) = input.made_by.filter(|source| !seen.contains(source)) else {
                continue;
            };
            seen.push(source);
            let same_grid = self.nodes[source].blocks == Some(blocks);
            let scope = match (kernel.scope, self.nodes[source].class) {
                (Scope::Thread, _) if !same_grid => Scope::Global,
                (Scope::Thread, Class::RowReduction | Class::Product) => Scope::Block,
                (Scope::Block, _) if !same_grid => Scope::Global,
                (scope, Class::ColumnReduction | Class::ScalarReduction)
                    if scope != Scope::Global =>
                {
                    Scope::Global
                }
                (scope, _) => scope,
            };
            self.edges.push(Edge {
                source,
                sink: node,
                kind: EdgeKind::Flow,
                bytes: input.bytes(),
                scope,
                temporary: true,
            });
        }
        Tensor {
            made_by: Some(node),
            ..output
        }
    }

    /// With edges between those that read the same, and some results that somebody else reads.
    fn finished(mut self, random: &mut StdRng) -> FusionProblem {
        let flows: Vec<(usize, usize, f64)> = self
            .edges
            .iter()
            .map(|edge| (edge.source, edge.sink, edge.bytes))
            .collect();
        let mut latest = vec![None; self.nodes.len()];
        for (source, sink, bytes) in flows {
            if let Some(before) = latest[source].replace(sink) {
                let mut edges = self.edges.iter();
                if !edges.any(|edge| edge.source == before && edge.sink == sink) {
                    self.edges.push(Edge {
                        source: before,
                        sink,
                        kind: EdgeKind::Shared,
                        bytes,
                        scope: Scope::Thread,
                        temporary: false,
                    });
                }
            }
        }
        for node in 0..self.nodes.len() {
            if random.random_bool(0.15) {
                let out = self.edges.iter_mut().filter(|edge| edge.source == node);
                out.for_each(|edge| edge.temporary = false);
            }
        }
        FusionProblem {
            version: VERSION,
            nodes: self.nodes,
            edges: self.edges,
            unanswered: Unanswered::Estimated,
            ..FusionProblem::default()
        }
    }
}

fn elementwise(random: &mut StdRng, output: Tensor, blocks: Option<u64>) -> Kernel {
    let heavy = random.random_bool(0.15);
    Kernel {
        name: "map",
        class: Class::Elementwise,
        scope: Scope::Thread,
        instructions: output.elements()
            * if heavy {
                120.0
            } else {
                random.random_range(8.0..30.0)
            },
        blocks,
        shared_bytes: 0,
        registers: if heavy {
            random.random_range(60..140)
        } else {
            random.random_range(18..44)
        },
        waits: f64::round(random.random_range(500.0..900.0)),
    }
}

fn chain(graph: &mut Graph, random: &mut StdRng, input: Tensor, other: Tensor) -> Tensor {
    let mut at = input;
    for _ in 0..random.random_range(1..5) {
        let kernel = elementwise(random, input, None);
        let both = [at, other];
        let fits = other.rows == at.rows && other.columns == at.columns;
        let inputs = if fits && random.random_bool(0.4) {
            &both[..]
        } else {
            &both[..1]
        };
        at = graph.add(inputs, input, &kernel);
    }
    at
}

fn product(graph: &mut Graph, random: &mut StdRng, input: Tensor) -> Tensor {
    let columns = *[64_u64, 256, 512, 1_024].choose(random).unwrap_or(&64);
    let output = Tensor { columns, ..input };
    let tiles = (input.rows.div_ceil(64) * columns.div_ceil(64)).max(1);
    let kernel = Kernel {
        name: "product",
        class: Class::Product,
        scope: Scope::Global,
        instructions: input.elements() * columns as f64 / 4.0,
        blocks: Some(tiles),
        shared_bytes: *[16_u64 << 10, 32 << 10, 48 << 10]
            .choose(random)
            .unwrap_or(&0),
        registers: random.random_range(90..200),
        waits: f64::round(300.0 + input.columns as f64 * 12.0),
    };
    let weights = Tensor {
        made_by: None,
        rows: input.columns,
        columns,
    };
    let mut at = graph.add(&[input, weights], output, &kernel);
    for _ in 0..random.random_range(0..3) {
        // Written over the product's tiles, or over elements.
        let blocks = random.random_bool(0.6).then_some(tiles);
        let kernel = elementwise(random, output, blocks);
        at = graph.add(&[at], output, &kernel);
    }
    at
}

fn normalisation(graph: &mut Graph, random: &mut StdRng, input: Tensor) -> Tensor {
    let blocks = Some(input.rows);
    let sums = Kernel {
        name: "row_sum",
        class: Class::RowReduction,
        scope: Scope::Block,
        instructions: input.elements() * 12.0,
        blocks,
        shared_bytes: *[1_u64 << 10, 4 << 10, 32 << 10]
            .choose(random)
            .unwrap_or(&0),
        registers: random.random_range(20..60),
        waits: f64::round(random.random_range(1_200.0..2_600.0)),
    };
    let column = Tensor {
        columns: 1,
        ..input
    };
    let first = graph.add(&[input], column, &sums);
    let mapped = Kernel {
        scope: Scope::Block,
        ..elementwise(random, input, blocks)
    };
    let shifted = graph.add(&[input, first], input, &mapped);
    let second = graph.add(&[shifted], column, &sums);
    let mapped = Kernel {
        scope: Scope::Block,
        ..elementwise(random, input, blocks)
    };
    graph.add(&[shifted, second], input, &mapped)
}

fn recurrent(graph: &mut Graph, random: &mut StdRng, input: Tensor, state: Tensor) -> Tensor {
    let state = Tensor {
        columns: input.columns,
        rows: input.rows,
        made_by: state.made_by,
    };
    let gates: Vec<Tensor> = (0..random.random_range(2..5))
        .map(|_| {
            let of_input = product(graph, random, input);
            let of_input = Tensor {
                columns: input.columns,
                ..of_input
            };
            let kernel = elementwise(random, input, None);
            graph.add(&[of_input, state], input, &kernel)
        })
        .collect();
    let mut at = gates[0];
    for gate in &gates[1..] {
        let kernel = elementwise(random, input, None);
        at = graph.add(&[at, *gate], input, &kernel);
    }
    at
}

fn branches(graph: &mut Graph, random: &mut StdRng, input: Tensor, other: Tensor) -> Tensor {
    let parts: Vec<Tensor> = (0..random.random_range(2..5))
        .map(|_| match random.random_range(0..4) {
            0 => product(graph, random, input),
            1 => normalisation(graph, random, input),
            _ => chain(graph, random, input, other),
        })
        .collect();
    let mut at = parts[0];
    for part in &parts[1..] {
        let kernel = elementwise(random, input, None);
        at = graph.add(&[at, *part], input, &kernel);
    }
    at
}

fn updates(graph: &mut Graph, random: &mut StdRng, input: Tensor) -> Tensor {
    let mut made = input;
    for _ in 0..random.random_range(2..6) {
        let rows = *[16_u64, 64, 256, 1_024].choose(random).unwrap_or(&16);
        let weights = Tensor {
            made_by: None,
            rows,
            columns: input.columns,
        };
        let kernel = elementwise(random, weights, None);
        made = graph.add(&[weights, weights], weights, &kernel);
        if random.random_bool(0.5) {
            let kernel = elementwise(random, weights, None);
            made = graph.add(&[made, weights], weights, &kernel);
        }
    }
    made
}

fn column_sums(graph: &mut Graph, random: &mut StdRng, input: Tensor) -> Tensor {
    let kernel = Kernel {
        name: "column_sum",
        class: Class::ColumnReduction,
        scope: Scope::Global,
        instructions: input.elements() * 10.0,
        blocks: Some(input.columns.div_ceil(32).max(1)),
        shared_bytes: 4 << 10,
        registers: random.random_range(24..70),
        waits: f64::round(400.0 + input.rows as f64 * 2.0),
    };
    let row = Tensor { rows: 1, ..input };
    let sums = graph.add(&[input], row, &kernel);
    let kernel = elementwise(random, input, None);
    graph.add(&[input, sums], input, &kernel)
}
