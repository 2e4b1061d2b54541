//! The network of a policy with gradients.
//!
//! Invariant: it computes what `planner::policy::logits` computes, by the same formulas (`tests.rs` compares both, and
//! the gradients with differences of the other's results). It has the parameters in the same order.

use crate::planner::policy::{
    EDGE_FEATURES, Features, LAYERS, NODE_FEATURES, Policy, WIDTH, parameters,
};
use candle_core::{D, Device, Result, Tensor, Var};
use candle_nn::ops::{log_softmax, softmax};
use rand::Rng;
use rand::rngs::StdRng;

/// Parameters that learn.
pub struct Network {
    /// In the order of [`parameters`].
    pub variables: Vec<Var>,
}

/// A problem's features as tensors.
pub struct Input {
    nodes: Tensor,
    edges: Option<Edges>,
}

/// Edges, where there are any.
struct Edges {
    features: Tensor,
    sources: Tensor,
    sinks: Tensor,
    /// A row for each node: the mean over edges that lead to it, and over those that begin at it.
    to_sinks: Tensor,
    to_sources: Tensor,
}

impl Input {
    /// Tensors of these features.
    ///
    /// # Errors
    /// None on a CPU with memory enough.
    pub fn new(features: &Features) -> Result<Self> {
        let count = features.nodes.len();
        let nodes: Vec<f64> = features.nodes.concat();
        let nodes = Tensor::from_vec(nodes, (count, NODE_FEATURES), &Device::Cpu)?;
        let number = features.edges.len();
        if number == 0 {
            return Ok(Self { nodes, edges: None });
        }
        let ends = |end: &dyn Fn(usize) -> usize| -> Result<(Tensor, Tensor)> {
            let places: Vec<u32> = (0..number).map(|edge| end(edge) as u32).collect();
            let mut degrees = vec![0.0_f64; count];
            for place in &places {
                degrees[*place as usize] += 1.0;
            }
            let mut means = vec![0.0_f64; count * number];
            for (edge, place) in places.iter().enumerate() {
                means[*place as usize * number + edge] = 1.0 / degrees[*place as usize];
            }
            Ok((
                Tensor::from_vec(places, number, &Device::Cpu)?,
                Tensor::from_vec(means, (count, number), &Device::Cpu)?,
            ))
        };
        let (sources, to_sources) = ends(&|edge| features.edges[edge].source)?;
        let (sinks, to_sinks) = ends(&|edge| features.edges[edge].sink)?;
        let values: Vec<f64> = features.edges.iter().flat_map(|edge| edge.values).collect();
        let features = Tensor::from_vec(values, (number, EDGE_FEATURES), &Device::Cpu)?;
        Ok(Self {
            nodes,
            edges: Some(Edges {
                features,
                sources,
                sinks,
                to_sinks,
                to_sources,
            }),
        })
    }
}

impl Network {
    /// A network that nobody trained: matrices at random by the number of their inputs, no bias. All levels begin nearly alike.
    ///
    /// # Errors
    /// None on a CPU with memory enough.
    pub fn new(random: &mut StdRng) -> Result<Self> {
        let mut values = Vec::new();
        for (name, rows, columns) in parameters() {
            let scale = match name.as_str() {
                "levels" => 0.1,
                _ if rows == 1 => 0.0,
                _ => 1.0,
            };
            let bound = scale * (3.0 / rows as f64).sqrt();
            let own = (0..rows * columns).map(|_| bound * random.random_range(-1.0..1.0_f64));
            values.extend(own);
        }
        Self::of(&Policy::of_values(&values))
    }

    /// A network that goes on from a policy.
    ///
    /// # Errors
    /// None on a CPU with memory enough.
    pub fn of(policy: &Policy) -> Result<Self> {
        let variables = policy.parameters.iter().map(|own| {
            let shape = (own.rows, own.columns);
            Var::from_tensor(&Tensor::from_slice(&own.values, shape, &Device::Cpu)?)
        });
        Ok(Self {
            variables: variables.collect::<Result<_>>()?,
        })
    }

    /// The policy as it is now.
    ///
    /// # Errors
    /// None on a CPU with memory enough.
    pub fn policy(&self) -> Result<Policy> {
        let mut values: Vec<f64> = Vec::new();
        for own in &self.variables {
            values.extend(own.flatten_all()?.to_vec1::<f64>()?);
        }
        Ok(Policy::of_values(&values))
    }

    /// Logarithms of the probabilities of levels, a row for each node.
    ///
    /// # Errors
    /// None on a CPU with memory enough.
    pub fn log_probabilities(&self, input: &Input) -> Result<Tensor> {
        log_softmax(&self.logits(input)?, D::Minus1)
    }

    /// Logits of levels, a row for each node.
    ///
    /// # Errors
    /// None on a CPU with memory enough.
    pub fn logits(&self, input: &Input) -> Result<Tensor> {
        let mut own = self.variables.iter().map(Var::as_tensor);
        let mut next = move || own.next().expect("as many as there are parameters");
        let mut state = input.nodes.matmul(next())?.broadcast_add(next())?.relu()?;
        for _ in 0..LAYERS {
            let mut sides = Vec::new();
            for is_to_sink in [true, false] {
                let of_state = state.matmul(next())?;
                let (of_edge, bias) = (next(), next());
                let Some(edges) = &input.edges else {
                    sides.push(state.zeros_like()?);
                    continue;
                };
                let (from, means) = match is_to_sink {
                    true => (&edges.sources, &edges.to_sinks),
                    false => (&edges.sinks, &edges.to_sources),
                };
                let messages = of_state
                    .index_select(from, 0)?
                    .add(&edges.features.matmul(of_edge)?)?
                    .broadcast_add(bias)?
                    .relu()?;
                sides.push(means.matmul(&messages)?);
            }
            let all = Tensor::cat(&[&state, &sides[0], &sides[1]], 1)?;
            let update = all.matmul(next())?.broadcast_add(next())?.relu()?;
            state = state.add(&update)?;
        }
        let query = state.matmul(next())?;
        let key = state.matmul(next())?;
        let value = state.matmul(next())?;
        let scores = (query.matmul(&key.t()?)? / (WIDTH as f64).sqrt())?;
        let attended = softmax(&scores, D::Minus1)?
            .matmul(&value)?
            .matmul(next())?;
        state = state.add(&attended)?;
        let head = state.matmul(next())?.broadcast_add(next())?.relu()?;
        head.matmul(next())?.broadcast_add(next())
    }
}
