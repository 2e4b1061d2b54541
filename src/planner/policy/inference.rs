//! The network of a policy, run forwards.

use super::super::priority::LEVELS;
use super::{Features, LAYERS, Parameter, Policy, WIDTH};

/// Rows of numbers.
type Rows = Vec<Vec<f64>>;

/// By node the logits of its levels. `policy` has the parameters that [`super::parameters`] lists.
pub fn logits(policy: &Policy, features: &Features) -> Rows {
    let mut next = policy.parameters.iter();
    let input: Rows = features.nodes.iter().map(|row| row.to_vec()).collect();
    let mut state = product(&input, next.next());
    add(&mut state, next.next());
    rectify(&mut state);
    for _ in 0..LAYERS {
        let sides = [true, false].map(|is_to_sink| {
            let own = product(&state, next.next());
            let (of_edge, bias) = (next.next(), next.next());
            let edges: Rows = features
                .edges
                .iter()
                .map(|edge| edge.values.to_vec())
                .collect();
            let mut messages = product(&edges, of_edge);
            let mut sums = vec![vec![0.0; WIDTH]; state.len()];
            let mut counts = vec![0.0_f64; state.len()];
            for (message, edge) in messages.iter_mut().zip(&features.edges) {
                let (from, to) = match is_to_sink {
                    true => (edge.source, edge.sink),
                    false => (edge.sink, edge.source),
                };
                accumulate(message, &own[from], 1.0);
                add_to_row(message, bias);
                rectify(std::slice::from_mut(message));
                accumulate(&mut sums[to], message, 1.0);
                counts[to] += 1.0;
            }
            for (sum, count) in sums.iter_mut().zip(&counts) {
                for value in sum {
                    *value /= count.max(1.0);
                }
            }
            sums
        });
        let all = state.iter().zip(sides[0].iter().zip(&sides[1]));
        let all: Rows = all
            .map(|(own, (sources, sinks))| [own.as_slice(), sources, sinks].concat())
            .collect();
        let mut update = product(&all, next.next());
        add(&mut update, next.next());
        rectify(&mut update);
        for (own, more) in state.iter_mut().zip(&update) {
            accumulate(own, more, 1.0);
        }
    }
    let [query, key, value] = [(); 3].map(|()| product(&state, next.next()));
    let attended = product(&attend(&query, &key, &value), next.next());
    for (own, more) in state.iter_mut().zip(&attended) {
        accumulate(own, more, 1.0);
    }
    let mut head = product(&state, next.next());
    add(&mut head, next.next());
    rectify(&mut head);
    let mut logits = product(&head, next.next());
    add(&mut logits, next.next());
    logits
}

/// Of one node's logits the probabilities of its levels.
pub fn probabilities(logits: &[f64]) -> [f64; LEVELS as usize] {
    let mut probabilities = [0.0; LEVELS as usize];
    let own = softmax(logits);
    probabilities.copy_from_slice(&own[..usize::from(LEVELS)]);
    probabilities
}

fn attend(query: &Rows, key: &Rows, value: &Rows) -> Rows {
    let scale = (WIDTH as f64).sqrt();
    let attended = query.iter().map(|asks| {
        let scores = key.iter().map(|own| {
            let products = asks.iter().zip(own).map(|(one, other)| one * other);
            products.sum::<f64>() / scale
        });
        let weights = softmax(&scores.collect::<Vec<f64>>());
        let mut sum = vec![0.0; WIDTH];
        for (weight, own) in weights.iter().zip(value) {
            accumulate(&mut sum, own, *weight);
        }
        sum
    });
    attended.collect()
}

fn softmax(values: &[f64]) -> Vec<f64> {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = values.iter().map(|value| (value - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

fn product(rows: &Rows, parameter: Option<&Parameter>) -> Rows {
    let Some(parameter) = parameter else {
        return rows.clone();
    };
    let products = rows.iter().map(|row| {
        let mut sum = vec![0.0; parameter.columns];
        let of_input = parameter.values.chunks_exact(parameter.columns);
        for (input, weights) in row.iter().zip(of_input) {
            if *input != 0.0 {
                accumulate(&mut sum, weights, *input);
            }
        }
        sum
    });
    products.collect()
}

fn add(rows: &mut Rows, bias: Option<&Parameter>) {
    for row in rows {
        add_to_row(row, bias);
    }
}

fn add_to_row(row: &mut [f64], bias: Option<&Parameter>) {
    if let Some(bias) = bias {
        accumulate(row, &bias.values, 1.0);
    }
}

/// sum ← sum + factor · row
fn accumulate(sum: &mut [f64], row: &[f64], factor: f64) {
    for (own, value) in sum.iter_mut().zip(row) {
        *own += factor * value;
    }
}

fn rectify(rows: &mut [Vec<f64>]) {
    for value in rows.iter_mut().flatten() {
        *value = value.max(0.0);
    }
}
