//! Planners on problems that are files, and on generated ones: no compiler run is needed.
//!
//! A file in `tests/planners/` is a [`FusionProblem`], and beside it a `.plans` file says what must come of it, a line each:
//! `PLANNER: PATTERN PATTERN …`, a pattern as names of operators joined by `+`; `PLANNER better` says that the planner's
//! plan takes less than greedy's.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use sirius_rs::planner::candidates::candidates;
use sirius_rs::planner::contraction::find_cycle;
use sirius_rs::planner::file::{VERSION, read, write};
use sirius_rs::planner::ilp::choose;
use sirius_rs::planner::policy::{self, Policy, PolicyError};
use sirius_rs::planner::{
    Class, Deadline, Edge, EdgeKind, FusionProblem, Operator, Oracle, Pattern, Plan, PlanOptions,
    Planner, Priority, Scope, Unanswered, plan,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Generated problems on which the integer program is compared with trying everything out.
const PROBLEMS: u64 = 2_000;
/// Generated problems of tests that run every planner.
const PROBLEMS_OF_ALL: u64 = 200;

#[test]
fn files_have_the_plans_that_they_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planners");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let problem = read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let expected = std::fs::read_to_string(path.with_extension("plans")).unwrap();
        let greedy = of(&problem, Planner::Greedy).nanoseconds;
        for line in expected.lines().filter(|line| !line.starts_with('#')) {
            checked += 1;
            if let Some(planner) = line.strip_suffix(" better") {
                let found = of(&problem, named(planner));
                assert!(
                    found.nanoseconds < greedy,
                    "{}: {line}: {found:?}",
                    path.display()
                );
                continue;
            }
            let (planner, patterns) = line.split_once(':').expect(line);
            let found = of(&problem, named(planner)).patterns;
            let found: Vec<String> = found
                .iter()
                .map(|pattern| shown(&problem, pattern))
                .collect();
            let wanted: Vec<&str> = patterns.split_whitespace().collect();
            assert_eq!(found, wanted, "{}: {planner}", path.display());
        }
    }
    assert!(checked > 10, "{checked}");
}

#[test]
fn the_integer_program_finds_the_best_choice_of_its_candidates() {
    let (mut cyclic, mut fused) = (0, 0);
    for seed in 0..PROBLEMS {
        let problem = generated(seed, 12);
        let mut oracle = Oracle::of_problem(&problem);
        let options = PlanOptions::default();
        let deadline = Deadline::after(options.budget);
        let (mut scored, _) = candidates(&mut oracle, &[], options.most_asked, deadline);
        // What can be tried out one after the other.
        scored.truncate(30);
        let chosen = choose(&oracle, &scored, &options, deadline);
        assert!(chosen.solved, "problem {seed}");
        assert_is_plan(&problem, &chosen.patterns, seed);
        let (best, met_cycle) = exhaustive(&problem, &scored);
        let found = score(&scored, &chosen.patterns);
        assert!(
            (found - best).abs() < 1e-6 * best.max(1.0),
            "problem {seed}: {found} {best}"
        );
        assert!(
            (chosen.bound - best).abs() < 1e-6 * best.max(1.0),
            "problem {seed}"
        );
        cyclic += usize::from(met_cycle);
        fused += usize::from(best > 0.0);
    }
    // The problems have what the test is about.
    assert!(cyclic > 10 && fused > 1_000, "{cyclic} {fused}");
}

/// One whose time runs out goes on from the best choice so far.
#[test]
fn the_integer_program_of_a_network_beats_one_walk() {
    let file = "tests/planners/networks/nmt.json";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let problem = read(&text).unwrap();
    let options = PlanOptions {
        planner: Planner::Ilp,
        budget: Duration::from_secs(4),
        ..PlanOptions::default()
    };
    let found = plan(&mut Oracle::of_problem(&problem), &options);
    assert_is_plan(&problem, &found.patterns, 0);
    let walked = of(&problem, Planner::Priority).nanoseconds;
    assert!(found.nanoseconds < walked, "{found:?}");
    let bound = found.bound_nanoseconds.unwrap();
    assert!(bound > 0.0 && bound <= found.nanoseconds, "{found:?}");
}

#[test]
fn small_problems_are_solved_over_all_sets() {
    for seed in 0..PROBLEMS_OF_ALL {
        let problem = generated(seed, 6);
        let mut oracle = Oracle::of_problem(&problem);
        let count = problem.nodes.len();
        let sets = (0..1_u32 << count).filter(|set| set.count_ones() > 1);
        let sets = sets.map(|set| (0..count).filter(|node| set >> node & 1 == 1).collect());
        let scored: Vec<(Pattern, f64)> = sets
            .filter_map(|set: Pattern| Some((set.clone(), oracle.gain(&set)?)))
            .collect();
        let (best, _) = exhaustive(&problem, &scored);
        let found = of(&problem, Planner::Ilp);
        let apart = Oracle::of_problem(&problem).nanoseconds_of_plan(&[]);
        let saved = apart - found.nanoseconds;
        // A pattern whose parts are all refused is not come to by growing.
        let reached = reachable(&problem, &scored);
        let (reachable, _) = exhaustive(&problem, &reached);
        assert!(
            saved <= best + 1e-6 * apart,
            "problem {seed}: {saved} {best}"
        );
        assert!(
            saved >= reachable - 1e-6 * apart,
            "problem {seed}: {saved} {reachable}"
        );
    }
}

#[test]
fn every_plan_is_one_and_auto_is_no_worse_than_greedy() {
    let mut better = 0;
    for seed in 0..PROBLEMS_OF_ALL {
        let problem = generated(seed, 12);
        let greedy = of(&problem, Planner::Greedy).nanoseconds;
        for planner in Planner::ALL {
            let found = of(&problem, planner);
            assert_is_plan(&problem, &found.patterns, seed);
            assert_eq!(found, of(&problem, planner), "problem {seed}: {planner:?}");
            let told = Oracle::of_problem(&problem).nanoseconds_of_plan(&found.patterns);
            assert!((found.nanoseconds - told).abs() < 1e-6 * told);
            if planner == Planner::Auto {
                assert!(found.nanoseconds <= greedy, "problem {seed}");
                better += usize::from(found.nanoseconds < greedy);
            }
            if planner == Planner::Ilp {
                assert!(found.nanoseconds <= greedy * (1.0 + 1e-9), "problem {seed}");
                assert!(
                    found
                        .bound_nanoseconds
                        .is_some_and(|bound| bound <= found.nanoseconds)
                );
            }
        }
    }
    assert!(better > 20, "{better}");
}

#[test]
fn annealing_is_no_worse_than_the_default_order_and_follows_its_seed() {
    let mut better = 0;
    for seed in 0..60 {
        let problem = generated(seed, 12);
        let walked = of(&problem, Planner::Priority);
        let options = |own| PlanOptions {
            planner: Planner::Priority,
            priority: Priority::Annealing,
            seed: own,
            ..PlanOptions::default()
        };
        let [one, same] = [0, 0].map(|own| plan(&mut Oracle::of_problem(&problem), &options(own)));
        assert_eq!(one, same);
        assert!(one.nanoseconds <= walked.nanoseconds);
        better += usize::from(one.nanoseconds < walked.nanoseconds);
    }
    assert!(better > 0);
}

#[test]
fn the_learned_order_is_no_worse_than_the_default_and_follows_its_seed_and_policy() {
    let (mut better, mut by_seed, mut by_policy) = (0, 0, 0);
    for seed in 0..60 {
        let problem = generated(seed, 12);
        let walked = of(&problem, Planner::Priority);
        let options = |seed, policy: Option<Arc<Policy>>| PlanOptions {
            planner: Planner::Priority,
            priority: Priority::Learned,
            seed,
            policy,
            most_walks: 8,
            ..PlanOptions::default()
        };
        let of = |options| plan(&mut Oracle::of_problem(&problem), &options);
        let one = of(options(0, None));
        assert_eq!(one, of(options(0, None)));
        assert_is_plan(&problem, &one.patterns, seed);
        assert!(one.nanoseconds <= walked.nanoseconds);
        better += usize::from(one.nanoseconds < walked.nanoseconds);
        by_seed += usize::from(one != of(options(1, None)));
        by_policy += usize::from(one != of(options(0, Some(Arc::new(policy_without_training())))));
    }
    assert!(better > 5, "{better}");
    assert!(by_seed > 0 && by_policy > 0, "{by_seed} {by_policy}");
}

#[test]
fn the_policy_that_ships_is_small_and_others_are_told_what_is_wrong() {
    let text = policy::write(&policy::shipped().unwrap());
    assert!(text.len() < 1_000_000, "{}", text.len());
    assert_eq!(
        policy::read(&text).unwrap(),
        policy::shipped().unwrap(),
        "it is read as it was written"
    );
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        policy::read(&text.replacen(from, to, 1)).unwrap_err()
    };
    let of_version = changed("\"version\":1", "\"version\":7");
    assert!(
        matches!(of_version, PolicyError::Version(7)),
        "{of_version}"
    );
    let of_features = changed("\"features\":1", "\"features\":9");
    assert!(
        matches!(of_features, PolicyError::Features(9)),
        "{of_features}"
    );
    let named = changed("\"query\"", "\"question\"");
    assert!(named.to_string().contains("'query' of 24 rows"), "{named}");
    let short = changed("],\n[", ",");
    assert!(matches!(short, PolicyError::Parameter { .. }), "{short}");
    assert!(matches!(
        policy::read("").unwrap_err(),
        PolicyError::Form(_)
    ));
}

#[test]
fn names_are_nothing_to_a_policy_and_what_depends_on_each_other_is() {
    let problem = generated(5, 12);
    let shipped = policy::shipped().unwrap();
    let logits = |problem: &FusionProblem| policy::logits(&shipped, &policy::features(problem));
    let before = logits(&problem);
    let mut changed = problem.clone();
    for node in &mut changed.nodes {
        node.name = String::from("other");
    }
    assert_eq!(before, logits(&changed));
    changed.edges.pop();
    assert_ne!(before, logits(&changed));
}

#[test]
fn auto_is_never_slower_than_greedy_on_networks_and_faster_on_many() {
    let (mut seen, mut better) = (0, Vec::new());
    for path in problem_files("networks") {
        let problem = read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        // As in compiles.
        let options = |planner| PlanOptions {
            planner,
            most_asked: 200,
            budget: Duration::from_secs(1),
            ..PlanOptions::default()
        };
        let of = |planner| plan(&mut Oracle::of_problem(&problem), &options(planner));
        let (greedy, auto) = (of(Planner::Greedy), of(Planner::Auto));
        assert_is_plan(&problem, &auto.patterns, 0);
        assert!(
            auto.nanoseconds <= greedy.nanoseconds,
            "{}: {auto:?}",
            path.display()
        );
        seen += 1;
        if auto.nanoseconds < greedy.nanoseconds {
            better.push(path);
        }
    }
    assert!(seen >= 11, "{seen}");
    assert!(better.len() >= 3, "{better:?}");
}

#[test]
fn xla_fuses_a_producer_into_all_its_consumers_or_none() {
    let node = |class| Operator {
        class,
        bytes: 4e6,
        blocks: Some(1_024),
        threads: Some(256),
        ..Operator::default()
    };
    let flow = |source, sink, scope| Edge {
        source,
        sink,
        kind: EdgeKind::Flow,
        bytes: 1e6,
        scope,
        temporary: true,
    };
    let of = |classes: &[Class], edges: Vec<Edge>| {
        let problem = FusionProblem {
            version: VERSION,
            nodes: classes.iter().map(|class| node(*class)).collect(),
            edges,
            unanswered: Unanswered::Estimated,
            ..FusionProblem::default()
        };
        self::of(&problem, Planner::Xla).patterns
    };
    let map = Class::Elementwise;
    let thread = |source, sink| flow(source, sink, Scope::Thread);
    // Both readers come into one kernel, and so does what they read.
    let diamond = vec![thread(0, 1), thread(0, 2), thread(1, 3), thread(2, 3)];
    assert_eq!(of(&[map; 4], diamond.clone()), [[0, 1, 2, 3]]);
    // One reader stays outside.
    let mut half = diamond;
    half[3].scope = Scope::Global;
    assert_eq!(of(&[map; 4], half), [[1, 3]]);
    // A reduction takes in what it reduces, and joins nobody; a product does neither.
    let chain = vec![thread(0, 1), thread(1, 2)];
    let of_reduction = of(&[map, Class::RowReduction, map], chain.clone());
    assert_eq!(of_reduction, [[0, 1]]);
    let of_product = of(&[map, Class::Product, map], chain);
    assert_eq!(of_product, Vec::<Pattern>::new());
}

#[test]
fn what_a_judge_refused_is_in_no_plan() {
    let mut refused = 0;
    for seed in 0..80 {
        let problem = generated(seed, 12);
        for planner in Planner::ALL {
            let first = of(&problem, planner).patterns;
            if first.is_empty() {
                continue;
            }
            let mut options = PlanOptions {
                planner,
                ..PlanOptions::default()
            };
            options.forbidden.push(first.clone());
            let second = plan(&mut Oracle::of_problem(&problem), &options).patterns;
            assert!(options.allows(&second), "problem {seed}: {planner:?}");
            options.forbidden.push(vec![first[0].clone()]);
            let third = plan(&mut Oracle::of_problem(&problem), &options).patterns;
            assert!(!third.contains(&first[0]), "problem {seed}: {planner:?}");
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn what_was_answered_is_enough_for_the_same_plan() {
    for seed in 0..100 {
        let problem = generated(seed, 12);
        let mut oracle = Oracle::of_problem(&problem);
        let options = PlanOptions::default();
        let first = plan(&mut oracle, &options);
        let told = FusionProblem {
            answers: oracle.answers(),
            unanswered: Unanswered::Refused,
            ..problem.clone()
        };
        let told = read(&write(&told)).unwrap();
        let second = plan(&mut Oracle::of_problem(&told), &options);
        assert_eq!(first.patterns, second.patterns, "problem {seed}");
    }
}

#[test]
fn texts_that_are_no_problems_are_refused() {
    let problem = generated(3, 6);
    assert_eq!(read(&write(&problem)).unwrap(), problem);
    let refused = |change: &dyn Fn(&mut FusionProblem)| {
        let mut changed = problem.clone();
        change(&mut changed);
        read(&write(&changed)).expect_err("a fault").to_string()
    };
    assert!(refused(&|problem| problem.version = 9).contains("version 9"));
    assert!(refused(&|problem| problem.nodes[0].work = -1.0).contains("node 0"));
    assert!(refused(&|problem| problem.greedy = Some(vec![vec![1, 0]])).contains("[1, 0]"));
    assert!(refused(&|problem| problem.greedy = Some(vec![vec![0, 99]])).contains("99"));
    let back = Edge {
        source: 1,
        sink: 1,
        kind: EdgeKind::Flow,
        bytes: 0.0,
        scope: Scope::Thread,
        temporary: false,
    };
    assert!(refused(&|problem| problem.edges.push(back.clone())).contains("1 -> 1"));
    assert!(read("{}").is_err());
    assert!(read("").is_err());
}

#[test]
fn a_budget_that_is_over_still_gives_a_plan() {
    let problem = generated(11, 12);
    for planner in Planner::ALL {
        let options = PlanOptions {
            planner,
            budget: Duration::ZERO,
            priority: Priority::Annealing,
            ..PlanOptions::default()
        };
        let found = plan(&mut Oracle::of_problem(&problem), &options);
        assert_is_plan(&problem, &found.patterns, 11);
    }
}

fn of(problem: &FusionProblem, planner: Planner) -> Plan {
    let options = PlanOptions {
        planner,
        ..PlanOptions::default()
    };
    plan(&mut Oracle::of_problem(problem), &options)
}

/// Problems in a folder below `tests/planners/`, in the order of their names.
fn problem_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/planners")
        .join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths
}

/// A policy that finds all levels equally likely.
fn policy_without_training() -> Policy {
    let sizes = policy::parameters().into_iter();
    let count = sizes.map(|(_, rows, columns)| rows * columns).sum();
    Policy::of_values(&vec![0.0; count])
}

fn named(name: &str) -> Planner {
    let mut all = Planner::ALL.into_iter();
    all.find(|planner| planner.name() == name).expect(name)
}

fn shown(problem: &FusionProblem, pattern: &Pattern) -> String {
    let names: Vec<&str> = pattern
        .iter()
        .map(|node| problem.nodes[*node].name.as_str())
        .collect();
    names.join("+")
}

/// Disjoint patterns that the oracle allows, and no cycle.
fn assert_is_plan(problem: &FusionProblem, patterns: &[Pattern], seed: u64) {
    let mut oracle = Oracle::of_problem(problem);
    let mut used = vec![false; problem.nodes.len()];
    for pattern in patterns {
        assert!(pattern.len() > 1, "problem {seed}: {pattern:?}");
        assert!(
            oracle.nanoseconds(pattern).is_some(),
            "problem {seed}: {pattern:?}"
        );
        for node in pattern {
            assert!(
                !std::mem::replace(&mut used[*node], true),
                "problem {seed}: {patterns:?}"
            );
        }
    }
    assert_eq!(
        find_cycle(problem, patterns),
        None,
        "problem {seed}: {patterns:?}"
    );
}

fn score(scored: &[(Pattern, f64)], patterns: &[Pattern]) -> f64 {
    let own = patterns.iter().map(|pattern| {
        let mut scored = scored.iter();
        scored
            .find(|(known, _)| known == pattern)
            .expect("a candidate")
            .1
    });
    own.sum()
}

/// Those of all sets that growing by one operator at a time comes to.
fn reachable(problem: &FusionProblem, scored: &[(Pattern, f64)]) -> Vec<(Pattern, f64)> {
    let known = |set: &Pattern| set.len() == 1 || scored.iter().any(|(pattern, _)| pattern == set);
    let near = |one: usize, other: usize| {
        let mut edges = problem.edges.iter();
        one.abs_diff(other) <= 3
            || edges.any(|edge| {
                edge.kind != EdgeKind::Order
                    && [(edge.source, edge.sink), (edge.sink, edge.source)].contains(&(one, other))
            })
    };
    let mut reached: Vec<Pattern> = (0..problem.nodes.len()).map(|node| vec![node]).collect();
    let mut at = 0;
    while at < reached.len() {
        let pattern = reached[at].clone();
        for node in 0..problem.nodes.len() {
            let is_new = !pattern.contains(&node) && pattern.iter().any(|own| near(*own, node));
            let mut larger = pattern.clone();
            larger.push(node);
            larger.sort_unstable();
            if is_new && known(&larger) && !reached.contains(&larger) {
                reached.push(larger);
            }
        }
        at += 1;
    }
    let mut own = scored.to_vec();
    own.retain(|(pattern, _)| reached.contains(pattern));
    own
}

/// The best score of disjoint patterns without a cycle, one after the other tried out, and whether a better choice
/// had a cycle.
fn exhaustive(problem: &FusionProblem, scored: &[(Pattern, f64)]) -> (f64, bool) {
    struct Search<'a> {
        problem: &'a FusionProblem,
        scored: Vec<&'a (Pattern, f64)>,
        /// The most that each operator brings: its part of the score of its best pattern.
        of_node: Vec<f64>,
        best: f64,
        met_cycle: bool,
    }
    impl Search<'_> {
        fn go(&mut self, at: usize, used: u32, taken: &mut Vec<Pattern>, score: f64) {
            if score > self.best {
                match find_cycle(self.problem, taken) {
                    None => self.best = score,
                    Some(_) => self.met_cycle = true,
                }
            }
            let free = (0..self.of_node.len()).filter(|node| used >> node & 1 == 0);
            let most: f64 = free.map(|node| self.of_node[node]).sum();
            if at == self.scored.len() || score + most <= self.best {
                return;
            }
            let (pattern, own) = self.scored[at];
            let bits: u32 = pattern.iter().map(|node| 1 << node).sum();
            if used & bits == 0 {
                taken.push(pattern.clone());
                self.go(at + 1, used | bits, taken, score + own);
                taken.pop();
            }
            self.go(at + 1, used, taken, score);
        }
    }
    let mut search = Search {
        problem,
        scored: scored.iter().collect(),
        of_node: vec![0.0; problem.nodes.len()],
        best: 0.0,
        met_cycle: false,
    };
    for (pattern, own) in scored {
        for node in pattern {
            let most = &mut search.of_node[*node];
            *most = most.max(own / pattern.len() as f64);
        }
    }
    search
        .scored
        .sort_by(|one, other| other.1.total_cmp(&one.1));
    search.go(0, 0, &mut Vec::new(), 0.0);
    (search.best, search.met_cycle)
}

/// A problem of a seed with up to so many operators.
fn generated(seed: u64, most: usize) -> FusionProblem {
    let mut random = StdRng::seed_from_u64(seed);
    let count = random.random_range(2..=most);
    let blocks = [64, 1_024, 16_384];
    let nodes = (0..count).map(|node| Operator {
        name: format!("n{node}"),
        class: match random.random_range(0..20) {
            0 => Class::Opaque,
            1 => Class::Product,
            2 => Class::ColumnReduction,
            3 => Class::RowReduction,
            _ => Class::Elementwise,
        },
        work: f64::round(random.random_range(1e5..1e7)),
        bytes: f64::round(random.random_range(1e5..5e7)),
        blocks: Some(blocks[random.random_range(0..blocks.len())]),
        threads: Some([128, 256][random.random_range(0..2)]),
        shared_bytes: [0, 0, 0, 16 << 10, 48 << 10][random.random_range(0..5)],
        registers: Some(random.random_range(16..140)),
        block_nanoseconds: f64::round(random.random_range(200.0..3_000.0)),
        nanoseconds: None,
    });
    let nodes: Vec<Operator> = nodes.collect();
    let mut edges = Vec::new();
    for sink in 1..count {
        let mut sources: Vec<usize> = (0..sink).collect();
        sources.shuffle(&mut random);
        for source in sources.into_iter().take(random.random_range(0..3)) {
            let part: f64 = random.random_range(0.1..0.5);
            let bytes = (part * nodes[source].bytes.min(nodes[sink].bytes)).round();
            let kind = match random.random_range(0..8) {
                0 => EdgeKind::Order,
                1 => EdgeKind::Shared,
                _ => EdgeKind::Flow,
            };
            let scope = match random.random_range(0..10) {
                0 | 1 => Scope::Global,
                2 | 3 => Scope::Block,
                _ => Scope::Thread,
            };
            let temporary = random.random();
            edges.push(Edge {
                source,
                sink,
                kind,
                bytes,
                scope,
                temporary,
            });
        }
    }
    FusionProblem {
        version: VERSION,
        nodes,
        edges,
        unanswered: Unanswered::Estimated,
        ..FusionProblem::default()
    }
}
