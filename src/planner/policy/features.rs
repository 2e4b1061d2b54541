//! What a policy sees of a problem.
//!
//! All features are near one: sizes by their logarithms, shares as they are, kinds as a one among zeros.

use super::super::estimate;
use super::super::{Class, EdgeKind, FusionProblem, Scope};

/// Features of a node.
pub const NODE_FEATURES: usize = 23;
/// Features of an edge.
pub const EDGE_FEATURES: usize = 11;

/// An edge with its features.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeFeatures {
    /// The earlier node.
    pub source: usize,
    /// The later node.
    pub sink: usize,
    /// Its features.
    pub values: [f64; EDGE_FEATURES],
}

/// A problem as a policy sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// By node.
    pub nodes: Vec<[f64; NODE_FEATURES]>,
    /// In the order of the problem's edges.
    pub edges: Vec<EdgeFeatures>,
}

/// The features of a problem.
pub fn features(problem: &FusionProblem) -> Features {
    let count = problem.nodes.len();
    let depths = depths(problem);
    let deepest = depths.iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut degrees = vec![[0_usize; 2]; count];
    for edge in &problem.edges {
        degrees[edge.source][0] += 1;
        degrees[edge.sink][1] += 1;
    }
    let device = &problem.device;
    let nodes = (0..count).map(|node| {
        let own = &problem.nodes[node];
        let mut values = [0.0; NODE_FEATURES];
        let of_class = Class::ALL.iter().position(|class| *class == own.class);
        values[of_class.unwrap_or(Class::ALL.len() - 1)] = 1.0;
        let rest = [
            logarithm(own.bytes),
            logarithm(own.work),
            logarithm(own.blocks.unwrap_or(0) as f64),
            logarithm(own.threads.unwrap_or(0) as f64),
            own.shared_bytes as f64 / device.shared_bytes_per_block.max(1) as f64,
            own.registers.unwrap_or(0) as f64 / estimate::MOST_REGISTERS as f64,
            logarithm(own.block_nanoseconds),
            logarithm(estimate::alone(problem, node)),
            // What a launch costs beside the kernel.
            device.launch_nanoseconds
                / (device.launch_nanoseconds + estimate::alone(problem, node)).max(1.0),
            logarithm(degrees[node][0] as f64),
            logarithm(degrees[node][1] as f64),
            depths[node] as f64 / deepest,
            node as f64 / count as f64,
            logarithm(count as f64),
            f64::from(u8::from(own.registers.is_some())),
            // With its neighbour in the order of launches it can stand side by side.
            f64::from(u8::from(node > 0 && !are_joined(problem, node - 1, node))),
        ];
        values[Class::ALL.len()..].copy_from_slice(&rest);
        values
    });
    let edges = problem.edges.iter().map(|edge| {
        let [source, sink] = [edge.source, edge.sink].map(|node| &problem.nodes[node]);
        let flag = |holds: bool| f64::from(u8::from(holds));
        EdgeFeatures {
            source: edge.source,
            sink: edge.sink,
            values: [
                flag(edge.kind == EdgeKind::Flow),
                flag(edge.kind == EdgeKind::Order),
                flag(edge.kind == EdgeKind::Shared),
                flag(edge.scope == Scope::Thread),
                flag(edge.scope == Scope::Block),
                flag(edge.scope == Scope::Global),
                flag(edge.temporary),
                flag(source.blocks == sink.blocks && source.threads == sink.threads),
                logarithm(edge.bytes),
                (edge.bytes / source.bytes.max(1.0)).min(1.0),
                (edge.bytes / sink.bytes.max(1.0)).min(1.0),
            ],
        }
    });
    Features {
        nodes: nodes.collect(),
        edges: edges.collect(),
    }
}

/// From zero on; a gigabyte is about two.
fn logarithm(value: f64) -> f64 {
    value.max(0.0).ln_1p() / 10.0
}

/// The longest ways from nodes that read nothing of the problem.
fn depths(problem: &FusionProblem) -> Vec<usize> {
    let mut depths = vec![0; problem.nodes.len()];
    let mut edges: Vec<(usize, usize)> = problem
        .edges
        .iter()
        .filter(|edge| edge.kind != EdgeKind::Shared)
        .map(|edge| (edge.source, edge.sink))
        .collect();
    edges.sort_unstable();
    for (source, sink) in edges {
        depths[sink] = depths[sink].max(depths[source] + 1);
    }
    depths
}

fn are_joined(problem: &FusionProblem, one: usize, other: usize) -> bool {
    let mut edges = problem.edges.iter();
    edges.any(|edge| edge.source == one && edge.sink == other)
}
