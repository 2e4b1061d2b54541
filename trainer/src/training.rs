//! Imitation of good plans, then proximal policy optimisation.
//!
//! # Imitation
//! The best known plan of each problem is looked for by simulated annealing, once from the default order and once from an order in
//! which the patterns of the integer program come first. Levels that make no difference are set back to the default. The
//! network learns these levels by cross-entropy; those that differ from the default weigh more, since they are few.
//!
//! # Proximal policy optimisation
//! For each problem, levels are drawn from the policy several times. The reward of a draw is what its plan saves of the time of
//! the default order's plan; its advantage is its reward less the mean of all draws for this problem, in standard
//! deviations. The levels of the nodes are single actions with the advantage of the draw. Their ratios are clipped
//! (Schulman et al., 2017, §3), and entropy is rewarded a little, less and less.
//!
//! Invariant: with the same problems, seed and number of rounds, training gives the same policy; only a time budget ends
//! it elsewhere. The policy that is kept is the one with the best plans of the problems that are set aside for
//! validation.

use crate::network::{Input, Network};
use crate::planner::ilp::ilp;
use crate::planner::policy::{Features, Policy, features, logits, probabilities};
use crate::planner::priority::{DEFAULT_LEVEL, LEVELS, anneal, drawn, walked};
use crate::planner::{Deadline, FusionProblem, Oracle, Plan, PlanOptions, Planner, Priority, plan};
use candle_core::{Device, Result, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How training goes.
pub struct Settings {
    /// Of all that is random.
    pub seed: u64,
    /// Rounds of imitation over all problems.
    pub imitation_rounds: usize,
    /// Rounds of policy optimisation over all problems.
    pub rounds: usize,
    /// It ends then, whatever is left.
    pub budget: Duration,
    /// A policy to go on from, in place of imitation.
    pub from: Option<Policy>,
}

/// A problem that is trained on.
pub struct Subject {
    problem: FusionProblem,
    features: Features,
    input: Input,
    /// What the plan of the default order takes.
    default_nanoseconds: f64,
    /// What the best known plan takes.
    best_nanoseconds: f64,
    /// The levels of the best known plan.
    levels: Vec<u8>,
}

/// Where training is.
pub struct Progress<'a> {
    /// `imitation` or `optimisation`.
    pub phase: &'a str,
    /// Rounds that are over, and all of them, of this phase.
    pub rounds: (usize, usize),
    /// What plans of the validation problems take, as parts of the default order's.
    pub validation: f64,
    /// The best policy so far.
    pub policy: &'a Policy,
    /// Whether it is the one of this round.
    pub is_new: bool,
}

/// No search is cut short by a clock, so that a slow machine trains the same policy.
const ENOUGH: Duration = Duration::from_secs(86_400);
/// Walks to find the best known plan of a problem, from each start.
const WALKS_OF_BEST: usize = 300;
/// Draws for each problem and round.
const DRAWS: usize = 16;
/// Problems of one step of the optimiser.
const BATCH: usize = 8;
/// Steps with the same draws.
const PASSES: usize = 3;
/// How far a ratio may be from one.
const CLIP: f64 = 0.2;
/// What a level other than the default weighs in imitation.
const WEIGHT: f64 = 4.0;
const IMITATION_RATE: f64 = 2e-3;
const RATE: f64 = 6e-4;
/// At the beginning; it falls to nothing.
const ENTROPY: f64 = 3e-3;

/// A problem with its best known plan.
///
/// # Errors
/// None on a CPU with memory enough.
pub fn subject(problem: FusionProblem, seed: u64) -> Result<Subject> {
    let features = features(&problem);
    let input = Input::new(&features)?;
    let mut oracle = Oracle::of_problem(&problem);
    let options = PlanOptions {
        seed,
        most_walks: WALKS_OF_BEST,
        most_asked: usize::MAX,
        budget: ENOUGH,
        ..PlanOptions::default()
    };
    let deadline = Deadline::after(options.budget);
    let default = vec![DEFAULT_LEVEL; problem.nodes.len()];
    let default_nanoseconds = time(&mut oracle, &default);
    let solved = ilp(
        &mut oracle,
        &PlanOptions {
            most_asked: 1_000,
            ..options.clone()
        },
        &[],
        deadline,
    );
    let mut best = (default_nanoseconds, default.clone());
    for start in [default, levels_of(&mut oracle, &solved)] {
        let (found, levels) = anneal(&mut oracle, &options, &start, deadline);
        if found.nanoseconds < best.0 {
            best = (found.nanoseconds, levels);
        }
    }
    let (best_nanoseconds, mut levels) = best;
    for node in 0..levels.len() {
        let own = std::mem::replace(&mut levels[node], DEFAULT_LEVEL);
        if own != DEFAULT_LEVEL && time(&mut oracle, &levels) > best_nanoseconds * (1.0 + 1e-9) {
            levels[node] = own;
        }
    }
    drop(oracle);
    Ok(Subject {
        problem,
        features,
        input,
        default_nanoseconds,
        best_nanoseconds,
        levels,
    })
}

/// Levels in which the patterns of a plan come in the order of their scores, and what is in none joins nobody.
fn levels_of(oracle: &mut Oracle<'_>, plan: &Plan) -> Vec<u8> {
    let mut levels = vec![0; oracle.problem().nodes.len()];
    let mut patterns: Vec<_> = plan.patterns.iter().collect();
    let score = |oracle: &mut Oracle<'_>, pattern: &[usize]| oracle.gain(pattern).unwrap_or(0.0);
    patterns.sort_by(|one, other| score(oracle, other).total_cmp(&score(oracle, one)));
    let count = patterns.len().max(1);
    for (rank, pattern) in patterns.into_iter().enumerate() {
        for node in pattern {
            levels[*node] = LEVELS - 1 - (rank * usize::from(LEVELS - 1) / count) as u8;
        }
    }
    levels
}

fn time(oracle: &mut Oracle<'_>, levels: &[u8]) -> f64 {
    walked(oracle, levels, usize::MAX).nanoseconds
}

/// Trains a policy. `tell` hears of each round.
///
/// # Errors
/// None on a CPU with memory enough.
pub fn train(
    subjects: &[Subject],
    validation: &[FusionProblem],
    settings: &Settings,
    tell: &mut dyn FnMut(Progress<'_>),
) -> Result<Policy> {
    let begin = Instant::now();
    let mut random = StdRng::seed_from_u64(settings.seed);
    let network = match &settings.from {
        Some(policy) => Network::of(policy)?,
        None => Network::new(&mut random)?,
    };
    let mut best = Arc::new(network.policy()?.rounded());
    let mut best_time = validate(&best, validation, settings.seed);
    let mut take = |phase: &str, rounds: (usize, usize)| -> Result<()> {
        let policy = Arc::new(network.policy()?.rounded());
        let time = validate(&policy, validation, settings.seed);
        let is_new = time < best_time;
        if is_new {
            best_time = time;
            best = policy;
        }
        tell(Progress {
            phase,
            rounds,
            validation: time,
            policy: &best,
            is_new,
        });
        Ok(())
    };
    let parameters = ParamsAdamW {
        lr: IMITATION_RATE,
        weight_decay: 1e-4,
        ..ParamsAdamW::default()
    };
    let mut optimiser = AdamW::new(network.variables.clone(), parameters)?;
    let mut order: Vec<usize> = (0..subjects.len()).collect();
    let imitation_rounds = match settings.from {
        Some(_) => 0,
        None => settings.imitation_rounds,
    };
    for round in 0..imitation_rounds {
        if begin.elapsed() > settings.budget {
            break;
        }
        order.shuffle(&mut random);
        for batch in order.chunks(BATCH) {
            let losses = batch.iter().map(|at| imitation(&network, &subjects[*at]));
            let losses: Vec<Tensor> = losses.collect::<Result<_>>()?;
            optimiser.backward_step(&Tensor::stack(&losses, 0)?.mean_all()?)?;
        }
        if round % 5 == 4 || round + 1 == imitation_rounds {
            take("imitation", (round + 1, imitation_rounds))?;
        }
    }
    for round in 0..settings.rounds {
        if begin.elapsed() > settings.budget {
            break;
        }
        let left = 1.0 - round as f64 / settings.rounds as f64;
        optimiser.set_learning_rate(RATE * left.max(0.1));
        let policy = network.policy()?;
        let draws = draws(subjects, &policy, settings.seed ^ (round as u64 + 1) << 32);
        // Where all draws come to one time, there is nothing to learn.
        let mut telling: Vec<usize> = (0..subjects.len())
            .filter(|at| draws[*at].advantages.iter().any(|own| *own != 0.0))
            .collect();
        let old: Vec<Option<Tensor>> = (0..subjects.len())
            .map(|at| {
                let own = telling.contains(&at).then(|| {
                    let own = network.log_probabilities(&subjects[at].input)?;
                    Ok(chosen(&own, &draws[at])?.detach())
                });
                own.transpose()
            })
            .collect::<Result<_>>()?;
        for _ in 0..PASSES {
            telling.shuffle(&mut random);
            for batch in telling.chunks(BATCH) {
                let mut losses = Vec::new();
                for at in batch {
                    let Some(old) = &old[*at] else { continue };
                    let own = network.log_probabilities(&subjects[*at].input)?;
                    let gained = clipped(&chosen(&own, &draws[*at])?, old, &draws[*at].advantages)?;
                    let entropy = (own.exp()?.mul(&own)?.sum(1)?.mean_all()? * -1.0)?;
                    losses.push((gained + (entropy * (ENTROPY * left))?)?.neg()?);
                }
                optimiser.backward_step(&Tensor::stack(&losses, 0)?.mean_all()?)?;
            }
        }
        take("optimisation", (round + 1, settings.rounds))?;
    }
    Ok(Arc::unwrap_or_clone(best))
}

/// Cross-entropy of the levels of the best known plan.
fn imitation(network: &Network, subject: &Subject) -> Result<Tensor> {
    let own = network.log_probabilities(&subject.input)?;
    let count = subject.levels.len();
    let mut wanted = vec![0.0; count * usize::from(LEVELS)];
    for (node, level) in subject.levels.iter().enumerate() {
        let weight = if *level == DEFAULT_LEVEL { 1.0 } else { WEIGHT };
        wanted[node * usize::from(LEVELS) + usize::from(*level)] = weight;
    }
    let wanted = Tensor::from_vec(wanted, own.shape(), &Device::Cpu)?;
    (own.mul(&wanted)?.sum_all()? * (-1.0 / count as f64))?.reshape(())
}

/// Levels that were drawn for a problem, and how good they were.
struct Draws {
    levels: Vec<Vec<u8>>,
    /// By draw.
    advantages: Vec<f64>,
}

/// Draws for each problem, on all cores. Each problem has a seed of its own, so that it does not matter who makes them.
fn draws(subjects: &[Subject], policy: &Policy, seed: u64) -> Vec<Draws> {
    let number = std::thread::available_parallelism().map_or(1, usize::from);
    let of_one = |at: usize| {
        let subject = &subjects[at];
        let mut random = StdRng::seed_from_u64(seed ^ at as u64);
        let logits = logits(policy, &subject.features);
        let chances: Vec<_> = logits.iter().map(|own| probabilities(own)).collect();
        let mut oracle = Oracle::of_problem(&subject.problem);
        let mut levels = Vec::new();
        let mut rewards = Vec::new();
        for _ in 0..DRAWS {
            let own: Vec<u8> = chances
                .iter()
                .map(|own| drawn(own, random.random()))
                .collect();
            let saved = subject.default_nanoseconds - time(&mut oracle, &own);
            rewards.push(saved / subject.default_nanoseconds);
            levels.push(own);
        }
        Draws {
            levels,
            advantages: advantages(&rewards),
        }
    };
    let mut all: Vec<(usize, Draws)> = std::thread::scope(|scope| {
        let parts = (0..number).map(|part| {
            let own = (part..subjects.len()).step_by(number);
            scope.spawn(move || own.map(|at| (at, of_one(at))).collect::<Vec<_>>())
        });
        let parts: Vec<_> = parts.collect();
        let parts = parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_default());
        parts.collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, own)| own).collect()
}

/// Rewards less their mean, in standard deviations; all zero where they are the same.
fn advantages(rewards: &[f64]) -> Vec<f64> {
    let count = rewards.len().max(1) as f64;
    let mean = rewards.iter().sum::<f64>() / count;
    let variance = rewards.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt();
    if deviation < 1e-6 {
        return vec![0.0; rewards.len()];
    }
    rewards.iter().map(|own| (own - mean) / deviation).collect()
}

/// Logarithms of the probabilities of the levels that were drawn: a row for each draw, a column for each node.
fn chosen(own: &Tensor, draws: &Draws) -> Result<Tensor> {
    let nodes = own.dim(0)?;
    let mut places = Vec::new();
    for levels in &draws.levels {
        let own = levels.iter().enumerate();
        places.extend(
            own.map(|(node, level)| (node * usize::from(LEVELS)) as u32 + u32::from(*level)),
        );
    }
    let places = Tensor::from_vec(places, draws.levels.len() * nodes, &Device::Cpu)?;
    let chosen = own.flatten_all()?.index_select(&places, 0)?;
    chosen.reshape((draws.levels.len(), nodes))
}

/// What is gained by the ratios of new to old probabilities, clipped.
fn clipped(new: &Tensor, old: &Tensor, advantages: &[f64]) -> Result<Tensor> {
    let ratio = new.sub(old)?.exp()?;
    let advantages = Tensor::from_slice(advantages, (advantages.len(), 1), &Device::Cpu)?;
    let free = ratio.broadcast_mul(&advantages)?;
    let bound = ratio
        .clamp(1.0 - CLIP, 1.0 + CLIP)?
        .broadcast_mul(&advantages)?;
    free.minimum(&bound)?.mean_all()
}

/// What the learned planner's plans take, as a part of the default order's, in the mean.
pub fn validate(policy: &Arc<Policy>, problems: &[FusionProblem], seed: u64) -> f64 {
    let parts = problems.iter().map(|problem| {
        let options = PlanOptions {
            planner: Planner::Priority,
            priority: Priority::Learned,
            policy: Some(Arc::clone(policy)),
            budget: ENOUGH,
            seed,
            ..PlanOptions::default()
        };
        let mut oracle = Oracle::of_problem(problem);
        let default = vec![DEFAULT_LEVEL; problem.nodes.len()];
        let default = time(&mut oracle, &default);
        plan(&mut oracle, &options).nanoseconds / default
    });
    parts.sum::<f64>() / problems.len().max(1) as f64
}

/// What the best known plans take, as a part of the default order's, in the mean.
pub fn best_known(subjects: &[Subject]) -> f64 {
    let parts = subjects
        .iter()
        .map(|own| own.best_nanoseconds / own.default_nanoseconds);
    parts.sum::<f64>() / subjects.len().max(1) as f64
}
