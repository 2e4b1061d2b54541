//! Patterns that are worth a look: FusionStitching's substitution and exploration (§4, algorithms 1 and 2).
//!
//! *Substitution* cuts the graph at operators of the classes that fuse worst, one more class each stage ([`STAGES`]);
//! what stays connected is a pattern. One of which no kernel can be made is split into the longest runs of operators, in
//! their order, of which one can.
//!
//! Patterns that other planners found are cut: where one heavy operator slows others down, all the rest stay together.
//!
//! *Exploration* grows patterns from seeds, those with few operands and much to load and store first. A pattern grows by
//! one neighbour at a time: along edges, to what reads the same, and to what stands near it and has nothing to do with
//! it, since small launches that run side by side save a launch (the paper's figure 5a). Of the patterns of one size
//! from one seed the best [`BEAM`] go on. So a component of few operators is searched as a whole, and a large one in
//! bounded time.

use super::oracle::union;
use super::{Class, Deadline, EdgeKind, FusionProblem, Oracle, Pattern};
use std::collections::{BTreeMap, BTreeSet};

/// At which classes the graph is cut: a stage cuts at its class and at those of all stages before.
pub const STAGES: [Option<Class>; 6] = [
    None,
    Some(Class::Product),
    Some(Class::BatchedProduct),
    Some(Class::ColumnReduction),
    Some(Class::ScalarReduction),
    Some(Class::RowReduction),
];

/// Patterns with a positive score, the best first, each with its score. `seeds` are patterns of other planners. Whether
/// the search went to its end is the second part.
pub fn candidates(
    oracle: &mut Oracle<'_>,
    seeds: &[Pattern],
    most_asked: usize,
    deadline: Deadline,
) -> (Vec<(Pattern, f64)>, bool) {
    let mut found = Found::default();
    for pattern in seeds {
        found.look_at(oracle, pattern);
    }
    let begin = oracle.asked();
    let cut = cuts(oracle, &mut found, seeds, most_asked / 2, deadline);
    substitution(oracle, &mut found);
    let left = most_asked.saturating_sub(oracle.asked() - begin);
    let finished = exploration(oracle, &mut found, left, deadline) && cut;
    let mut scored: Vec<(Pattern, f64)> = found
        .scores
        .into_iter()
        .filter_map(|(pattern, gain)| Some((pattern, gain.filter(|gain| *gain > LEAST_SCORE)?)))
        .collect();
    scored.sort_by(|(one, of_one), (other, of_other)| {
        of_other.total_cmp(of_one).then_with(|| one.cmp(other))
    });
    (spread(scored, seeds), finished)
}

/// At most [`MOST_CANDIDATES`] of some patterns, the best first: the patterns of other planners, and of each operator its best.
/// One part of a problem that has many good patterns leaves room for those of the others.
fn spread(scored: Vec<(Pattern, f64)>, seeds: &[Pattern]) -> Vec<(Pattern, f64)> {
    if scored.len() <= MOST_CANDIDATES {
        return scored;
    }
    let seeds: BTreeSet<&Pattern> = seeds.iter().collect();
    // By operator, how many better patterns have it.
    let mut better: BTreeMap<usize, usize> = BTreeMap::new();
    let rank = |pattern: &Pattern| {
        let of_each = pattern.iter().map(|node| {
            let count = better.entry(*node).or_default();
            *count += 1;
            *count
        });
        let least = of_each.collect::<Vec<_>>().into_iter().min();
        match seeds.contains(pattern) {
            true => 0,
            false => least.unwrap_or_default(),
        }
    };
    let ranks: Vec<usize> = scored
        .iter()
        .map(|(pattern, _)| pattern)
        .map(rank)
        .collect();
    let mut order: Vec<usize> = (0..scored.len()).collect();
    order.sort_by_key(|at| (ranks[*at], *at));
    order.truncate(MOST_CANDIDATES);
    order.sort_unstable();
    order.into_iter().map(|at| scored[at].clone()).collect()
}

/// So many patterns go into the integer program.
const MOST_CANDIDATES: usize = 2_000;
/// Nanoseconds; less is nothing but rounding.
const LEAST_SCORE: f64 = 1e-6;
/// Patterns of one size that go on from one seed.
pub const BEAM: usize = 12;
/// So many operators on each side are near.
const NEAR: usize = 3;

/// Scores of patterns; `None` where no kernel can be made.
#[derive(Default)]
struct Found {
    scores: BTreeMap<Pattern, Option<f64>>,
}

impl Found {
    fn look_at(&mut self, oracle: &mut Oracle<'_>, pattern: &[usize]) -> Option<f64> {
        if let Some(known) = self.scores.get(pattern) {
            return *known;
        }
        let gain = oracle.gain(pattern);
        if pattern.len() > 1 {
            self.scores.insert(pattern.to_vec(), gain);
        }
        gain
    }
}

/// Parts of the patterns of other planners: both sides of each cut, and all but one operator. Whether it went to its end.
fn cuts(
    oracle: &mut Oracle<'_>,
    found: &mut Found,
    seeds: &[Pattern],
    most_asked: usize,
    deadline: Deadline,
) -> bool {
    let begin = oracle.asked();
    for pattern in seeds {
        let without = |one: &usize| {
            let others = pattern.iter().filter(|node| *node != one);
            others.copied().collect()
        };
        let sides = (1..pattern.len()).flat_map(|at| {
            let (first, second) = pattern.split_at(at);
            [first.to_vec(), second.to_vec()]
        });
        let parts = pattern.iter().map(without).chain(sides);
        for part in parts.filter(|part: &Pattern| part.len() > 1) {
            if deadline.is_past() || oracle.asked() - begin >= most_asked {
                return false;
            }
            found.look_at(oracle, &part);
        }
    }
    true
}

fn substitution(oracle: &mut Oracle<'_>, found: &mut Found) {
    let problem = oracle.problem();
    let mut cut: BTreeSet<Class> = BTreeSet::from([Class::Opaque]);
    let mut seen: BTreeSet<Pattern> = BTreeSet::new();
    for stage in STAGES {
        cut.extend(stage);
        for part in connected(problem, &cut) {
            if part.len() < 2
                || !seen.insert(part.clone())
                || found.look_at(oracle, &part).is_some()
            {
                continue;
            }
            // The longest runs of which a kernel can be made.
            let mut run: Pattern = Vec::new();
            for node in part {
                run.push(node);
                if run.len() > 1 && found.look_at(oracle, &run).is_none() {
                    run = vec![node];
                }
            }
        }
    }
}

/// The parts that hang together when operators of some classes are taken out.
fn connected(problem: &FusionProblem, without: &BTreeSet<Class>) -> Vec<Pattern> {
    let stays = |node: usize| !without.contains(&problem.nodes[node].class);
    let mut part: Vec<usize> = (0..problem.nodes.len()).collect();
    fn root(part: &[usize], mut node: usize) -> usize {
        while part[node] != node {
            node = part[node];
        }
        node
    }
    for edge in &problem.edges {
        if edge.kind != EdgeKind::Order && stays(edge.source) && stays(edge.sink) {
            let [one, other] = [edge.source, edge.sink].map(|node| root(&part, node));
            let (low, high) = (one.min(other), one.max(other));
            part[high] = low;
        }
    }
    let mut parts: BTreeMap<usize, Pattern> = BTreeMap::new();
    for node in (0..part.len()).filter(|node| stays(*node)) {
        parts.entry(root(&part, node)).or_default().push(node);
    }
    parts.into_values().collect()
}

/// Whether it went to its end.
fn exploration(
    oracle: &mut Oracle<'_>,
    found: &mut Found,
    most_asked: usize,
    deadline: Deadline,
) -> bool {
    let problem = oracle.problem();
    let neighbours = neighbours(problem);
    let mut operands = vec![0_usize; problem.nodes.len()];
    for edge in problem
        .edges
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Flow)
    {
        operands[edge.sink] += 1;
    }
    let mut seeds: Vec<usize> = (0..problem.nodes.len())
        .filter(|node| problem.nodes[*node].class != Class::Opaque)
        .collect();
    seeds.sort_by(|one, other| {
        let bytes = |node: &usize| problem.nodes[*node].bytes;
        let key = operands[*one].cmp(&operands[*other]);
        key.then(bytes(other).total_cmp(&bytes(one)))
            .then(one.cmp(other))
    });
    let begin = oracle.asked();
    let of_each = (most_asked / seeds.len().max(1)).max(LEAST_ASKED);
    let mut finished = true;
    // What has been extended once need not be from another seed.
    let mut extended: BTreeSet<Pattern> = BTreeSet::new();
    for seed in seeds {
        let asked_before = oracle.asked();
        let mut open: Vec<Pattern> = vec![vec![seed]];
        while !open.is_empty() {
            let mut grown: BTreeMap<Pattern, f64> = BTreeMap::new();
            for pattern in open {
                if !extended.insert(pattern.clone()) {
                    continue;
                }
                let inside = pattern.iter();
                let around: BTreeSet<usize> = inside
                    .flat_map(|node| &neighbours[*node])
                    .copied()
                    .collect();
                for node in around {
                    let larger = union(&pattern, &[node]);
                    if larger.len() == pattern.len() || grown.contains_key(&larger) {
                        continue;
                    }
                    let asked = oracle.asked();
                    let spent = asked - asked_before >= of_each || asked - begin >= most_asked;
                    if deadline.is_past() || spent && !oracle.is_known(&larger) {
                        finished = false;
                        continue;
                    }
                    if let Some(gain) = found.look_at(oracle, &larger) {
                        grown.insert(larger, gain);
                    }
                }
            }
            let mut best: Vec<(Pattern, f64)> = grown.into_iter().collect();
            best.sort_by(|(one, of_one), (other, of_other)| {
                of_other.total_cmp(of_one).then_with(|| one.cmp(other))
            });
            finished &= best.len() <= BEAM;
            best.truncate(BEAM);
            open = best.into_iter().map(|(pattern, _)| pattern).collect();
        }
    }
    finished
}

/// New questions for each seed at least.
const LEAST_ASKED: usize = 24;

/// By operator what a pattern that has it may grow by.
fn neighbours(problem: &FusionProblem) -> Vec<BTreeSet<usize>> {
    let count = problem.nodes.len();
    let mut neighbours = vec![BTreeSet::new(); count];
    let mut add = |one: usize, other: usize| {
        neighbours[one].insert(other);
        neighbours[other].insert(one);
    };
    for edge in problem
        .edges
        .iter()
        .filter(|edge| edge.kind != EdgeKind::Order)
    {
        add(edge.source, edge.sink);
    }
    // Those that read from one operator, though it joins neither.
    let mut readers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for edge in problem
        .edges
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Flow)
    {
        readers.entry(edge.source).or_default().push(edge.sink);
    }
    for readers in readers.values() {
        for pair in readers.windows(2).filter(|pair| pair[0] != pair[1]) {
            add(pair[0], pair[1]);
        }
    }
    for node in 0..count {
        for near in node + 1..(node + 1 + NEAR).min(count) {
            add(node, near);
        }
    }
    neighbours
}
