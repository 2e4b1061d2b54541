//! Training and inference are two programs of one network; here they are compared.

use crate::generated::generated;
use crate::network::{Input, Network};
use crate::planner::file;
use crate::planner::policy::{self, Features, Policy, features, logits, probabilities};
use crate::planner::{Class, FusionProblem, Operator};
use crate::training::{Settings, subject, train};
use candle_core::{Device, Tensor};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::Duration;

const NEAR: f64 = 1e-5;

/// Random problems, one without an edge among them.
fn problems() -> Vec<FusionProblem> {
    let mut random = StdRng::seed_from_u64(7);
    let mut problems: Vec<FusionProblem> = (0..12)
        .map(|_| {
            let kernels = random.random_range(3..40);
            generated(&mut random, kernels)
        })
        .collect();
    problems.push(FusionProblem {
        version: file::VERSION,
        nodes: vec![
            Operator {
                class: Class::Elementwise,
                bytes: 4096.0,
                ..Operator::default()
            };
            2
        ],
        ..FusionProblem::default()
    });
    problems
}

/// A policy all of whose parameters matter.
fn policy_of(seed: u64) -> Policy {
    let mut random = StdRng::seed_from_u64(seed);
    let mut policy = Network::new(&mut random).unwrap().policy().unwrap();
    for value in policy.parameters.iter_mut().flat_map(|own| &mut own.values) {
        *value += random.random_range(-0.2..0.2);
    }
    policy
}

#[test]
fn both_give_the_same_logits() {
    let mut compared = 0;
    for (number, problem) in problems().iter().enumerate() {
        let policy = policy_of(number as u64);
        let features = features(problem);
        let plain = logits(&policy, &features).concat();
        let network = Network::of(&policy).unwrap();
        let own = network.logits(&Input::new(&features).unwrap()).unwrap();
        let own = own.flatten_all().unwrap().to_vec1::<f64>().unwrap();
        assert_eq!(plain.len(), own.len());
        for (one, other) in plain.iter().zip(&own) {
            assert!(
                (one - other).abs() < NEAR,
                "problem {number}: {one} {other}"
            );
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared}");
}

/// Σ w·log p of plain inference.
fn weighed(policy: &Policy, features: &Features, weights: &[f64]) -> f64 {
    let all = logits(policy, features);
    let logarithms = all.iter().flat_map(|own| probabilities(own)).map(f64::ln);
    logarithms
        .zip(weights)
        .map(|(one, weight)| one * weight)
        .sum()
}

#[test]
fn gradients_are_differences_of_plain_inference() {
    let mut random = StdRng::seed_from_u64(5);
    let mut moving = 0;
    for (number, problem) in problems().iter().enumerate() {
        let policy = policy_of(100 + number as u64);
        let features = features(problem);
        let network = Network::of(&policy).unwrap();
        let own = network
            .log_probabilities(&Input::new(&features).unwrap())
            .unwrap();
        let weights: Vec<f64> = (0..own.elem_count())
            .map(|_| random.random_range(-0.1..0.1))
            .collect();
        let weighing = Tensor::from_slice(&weights, own.shape(), &Device::Cpu).unwrap();
        let loss = own.mul(&weighing).unwrap().sum_all().unwrap();
        let gradients = loss.backward().unwrap();
        for (at, variable) in network.variables.iter().enumerate() {
            let gradient = gradients.get(variable);
            let count = policy.parameters[at].values.len();
            for _ in 0..3 {
                let place = random.random_range(0..count);
                let own = gradient.map_or(0.0, |own| {
                    own.flatten_all().unwrap().to_vec1::<f64>().unwrap()[place]
                });
                let by = |step: f64| {
                    let mut moved = policy.clone();
                    moved.parameters[at].values[place] += step;
                    weighed(&moved, &features, &weights)
                };
                let step = 1e-6;
                let difference = (by(step) - by(-step)) / (2.0 * step);
                assert!(
                    (own - difference).abs() < NEAR * difference.abs().max(1.0),
                    "problem {number}, {}: {own} {difference}",
                    policy.parameters[at].name
                );
                moving += usize::from(difference.abs() > 1e-4);
            }
        }
    }
    assert!(moving > 500, "{moving}");
}

#[test]
fn training_follows_its_seed_and_learns() {
    let subjects = |seed: u64| {
        let mut random = StdRng::seed_from_u64(seed);
        let all = (0..6).map(|number| subject(generated(&mut random, 14), number).unwrap());
        all.collect::<Vec<_>>()
    };
    let validation: Vec<FusionProblem> = problems().into_iter().take(4).collect();
    let trained = |seed: u64| {
        let settings = Settings {
            seed,
            imitation_rounds: 10,
            rounds: 2,
            budget: Duration::from_secs(600),
            from: None,
        };
        let mut rounds = 0;
        let policy = train(&subjects(1), &validation, &settings, &mut |_| rounds += 1).unwrap();
        assert_eq!(rounds, 4);
        policy
    };
    let one = trained(3);
    assert_eq!(one, trained(3));
    assert_ne!(one, trained(4));
    let written = policy::write(&one);
    assert!(written.len() < 1_000_000, "{}", written.len());
    assert_eq!(policy::read(&written).unwrap(), one);
}
