//! One walk in which operators join their neighbours in the order of a priority (Learning to Fuse §3).
//!
//! Each operator has one of [`LEVELS`] levels. Those of the highest level come first, of one level in the order in which
//! they run. The pattern of an operator joins the patterns of what it reads from, of what reads it, and of what reads
//! the same, up to [`MOST_MEMBERS`] operators, wherever the oracle allows it and the kernel takes no longer than both
//! did. Operators of level 0 join nobody by themselves.
//!
//! The default order gives all operators one level. Simulated annealing begins there, and changes the level of one
//! operator at a time: what takes longer is accepted with probability exp(−Δ/T), while T falls. The learned order is
//! that of a [`policy`]: first each operator has the level that the policy finds likeliest, then levels are
//! drawn from its probabilities, [`LEARNED_WALKS`] walks in all, the default order among them. The best walk is the plan.

use super::contraction::closes_cycle;
use super::oracle::union;
use super::policy::{self, Policy};
use super::span::gains;
use super::{Deadline, EdgeKind, Oracle, Pattern, Plan, PlanOptions, Planner, Priority};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;

/// Levels of priority.
pub const LEVELS: u8 = 16;
/// The level of all operators in the default order.
pub const DEFAULT_LEVEL: u8 = LEVELS / 2;
/// Most operators of a pattern.
pub const MOST_MEMBERS: usize = 32;
/// Walks of the learned order.
pub const LEARNED_WALKS: usize = 32;

/// The plan of a walk, or of the best of many.
pub fn priority(oracle: &mut Oracle<'_>, options: &PlanOptions, deadline: Deadline) -> Plan {
    let levels = vec![DEFAULT_LEVEL; oracle.problem().nodes.len()];
    let found = match options.priority {
        Priority::Default => None,
        Priority::Annealing => Some(anneal(oracle, options, &levels, deadline).0),
        Priority::Learned => learned(oracle, options, deadline),
    };
    found.unwrap_or_else(|| walked(oracle, &levels, options.most_asked))
}

/// The plan of one walk.
pub fn walked(oracle: &mut Oracle<'_>, levels: &[u8], most_asked: usize) -> Plan {
    let patterns = walk(oracle, levels, most_asked);
    Plan::of(Planner::Priority, patterns, oracle)
}

/// The best plan of simulated annealing that begins with these levels, and its levels.
pub fn anneal(
    oracle: &mut Oracle<'_>,
    options: &PlanOptions,
    start: &[u8],
    deadline: Deadline,
) -> (Plan, Vec<u8>) {
    let count = start.len();
    let mut levels = start.to_vec();
    let mut best = walked(oracle, &levels, options.most_asked);
    let mut of_best = levels.clone();
    if count < 2 {
        return (best, of_best);
    }
    let mut random = StdRng::seed_from_u64(options.seed);
    let mut present = best.nanoseconds;
    let steps = (STEPS_OF_NODE * count).min(options.most_walks.saturating_sub(1));
    for step in 0..steps {
        if deadline.is_past() {
            best.cut_short = true;
            break;
        }
        let cooled = 1.0 - step as f64 / steps as f64;
        let temperature = HOTTEST * oracle.problem().device.launch_nanoseconds * cooled;
        let node = random.random_range(0..count);
        let before = levels[node];
        levels[node] = random.random_range(0..LEVELS);
        let luck: f64 = random.random();
        let plan = walked(oracle, &levels, options.most_asked);
        let longer = plan.nanoseconds - present;
        if longer > 0.0 && luck >= (-longer / temperature.max(f64::MIN_POSITIVE)).exp() {
            levels[node] = before;
            continue;
        }
        present = plan.nanoseconds;
        if plan.nanoseconds < best.nanoseconds {
            best = plan;
            of_best.clone_from(&levels);
        }
    }
    (best, of_best)
}

const STEPS_OF_NODE: usize = 24;
/// The first temperature, in launches.
const HOTTEST: f64 = 0.5;

/// The best plan of a policy's orders; `None` where no policy can be read.
fn learned(oracle: &mut Oracle<'_>, options: &PlanOptions, deadline: Deadline) -> Option<Plan> {
    let shipped;
    let policy: &Policy = match &options.policy {
        Some(policy) => policy,
        None => {
            shipped = policy::shipped().ok()?;
            &shipped
        }
    };
    let problem = oracle.problem();
    let logits = policy::logits(policy, &policy::features(problem));
    let chances: Vec<_> = logits
        .iter()
        .map(|own| policy::probabilities(own))
        .collect();
    let mut random = StdRng::seed_from_u64(options.seed);
    let mut best = walked(
        oracle,
        &vec![DEFAULT_LEVEL; problem.nodes.len()],
        options.most_asked,
    );
    for number in 1..LEARNED_WALKS.min(options.most_walks) {
        if deadline.is_past() {
            best.cut_short = true;
            break;
        }
        let levels: Vec<u8> = chances
            .iter()
            .map(|own| match number {
                1 => likeliest(own),
                _ => drawn(own, random.random()),
            })
            .collect();
        let plan = walked(oracle, &levels, options.most_asked);
        if plan.nanoseconds < best.nanoseconds {
            best = plan;
        }
    }
    Some(best)
}

/// The first of the likeliest levels.
pub fn likeliest(chances: &[f64]) -> u8 {
    let mut levels = (0..).zip(chances);
    let first = levels.next();
    let best = levels.fold(first, |best, next| match best {
        Some((_, chance)) if chance >= next.1 => best,
        _ => Some(next),
    });
    best.map_or(DEFAULT_LEVEL, |(level, _)| level)
}

/// The level at `luck`, which is from zero to one, where levels lie side by side, each as wide as its chance.
pub fn drawn(chances: &[f64], luck: f64) -> u8 {
    let mut left = luck;
    for (level, chance) in (0..LEVELS).zip(chances) {
        left -= chance;
        if left < 0.0 {
            return level;
        }
    }
    LEVELS - 1
}

/// One walk.
fn walk(oracle: &mut Oracle<'_>, levels: &[u8], most_asked: usize) -> Vec<Pattern> {
    let problem = oracle.problem();
    let count = problem.nodes.len();
    let mut around = vec![BTreeSet::new(); count];
    for edge in problem
        .edges
        .iter()
        .filter(|edge| edge.kind != EdgeKind::Order)
    {
        around[edge.source].insert(edge.sink);
        around[edge.sink].insert(edge.source);
    }
    // What has nothing to do with each other may still stand side by side.
    for (before, own) in around.iter_mut().skip(1).enumerate() {
        own.insert(before);
    }
    let mut order: Vec<usize> = (0..count).filter(|node| levels[*node] > 0).collect();
    order.sort_by_key(|node| (LEVELS - levels[*node], *node));
    let mut home: Vec<usize> = (0..count).collect();
    let mut groups: Vec<Pattern> = (0..count).map(|node| vec![node]).collect();
    for node in order {
        for other in &around[node] {
            let [own, theirs] = [node, *other].map(|node| home[node]);
            let both = union(&groups[own], &groups[theirs]);
            let too_much = oracle.asked() >= most_asked && !oracle.is_known(&both);
            if own == theirs
                || both.len() > MOST_MEMBERS
                || too_much
                || !gains(oracle, &groups[own], &groups[theirs])
            {
                continue;
            }
            if closes_cycle(oracle.successors(), (&groups, &home), own, theirs) {
                continue;
            }
            for moved in &both {
                home[*moved] = own;
            }
            groups[theirs].clear();
            groups[own] = both;
        }
    }
    groups
}
