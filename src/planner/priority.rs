//! One walk in which operators join their neighbours in the order of a priority (Learning to Fuse §3).
//!
//! Each operator has one of [`LEVELS`] levels. Those of the highest level come first, of one level in the order in which
//! they run. The pattern of an operator joins the patterns of what it reads from, of what reads it, and of what reads
//! the same, up to [`MOST_MEMBERS`] operators, wherever the oracle allows it and the kernel takes no longer than both
//! did. Operators of level 0 join nobody by themselves.
//!
//! The default order gives all operators one level. Simulated annealing begins there, and changes the level of one
//! operator at a time: what takes longer is accepted with probability exp(−Δ/T), while T falls.

use super::greedy::stays_acyclic;
use super::oracle::union;
use super::span::gains;
use super::{Deadline, EdgeKind, Oracle, Pattern, Plan, PlanOptions, Planner, Priority};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;

/// Levels of priority.
pub const LEVELS: u8 = 16;
/// Most operators of a pattern.
pub const MOST_MEMBERS: usize = 32;

/// The plan of a walk, or of the best of many.
pub fn priority(oracle: &mut Oracle<'_>, options: &PlanOptions, deadline: Deadline) -> Plan {
    let count = oracle.problem().nodes.len();
    let mut levels = vec![LEVELS / 2; count];
    let patterns = walk(oracle, &levels, options.most_asked);
    let mut best = Plan::of(Planner::Priority, patterns, oracle);
    if options.priority == Priority::Default || count < 2 {
        return best;
    }
    let mut random = StdRng::seed_from_u64(options.seed);
    let mut present = best.nanoseconds;
    let steps = (STEPS_OF_NODE * count).min(MOST_STEPS);
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
        let patterns = walk(oracle, &levels, options.most_asked);
        let plan = Plan::of(Planner::Priority, patterns, oracle);
        let longer = plan.nanoseconds - present;
        if longer > 0.0 && luck >= (-longer / temperature.max(f64::MIN_POSITIVE)).exp() {
            levels[node] = before;
            continue;
        }
        present = plan.nanoseconds;
        if plan.nanoseconds < best.nanoseconds {
            best = plan;
        }
    }
    best
}

const STEPS_OF_NODE: usize = 24;
const MOST_STEPS: usize = 1_000;
/// The first temperature, in launches.
const HOTTEST: f64 = 0.5;

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
            if !stays_acyclic(problem, &groups, &both) {
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
