//! The best set of disjoint patterns, as an integer program (FusionStitching §4).
//!
//! One binary variable X for each candidate, maximise Σ X·f, for each operator Σ X ≤ 1 over the patterns that have it.
//! Where the solution's contracted graph has a cycle, its patterns may not be taken together: one more constraint, and
//! the program is solved again. What a judge of whole plans refused ([`PlanOptions::forbidden`]) is such a constraint
//! from the beginning. Parts of the program that have no operator and no constraint in common are solved by
//! themselves.
//!
//! # Solver
//! `good_lp` over microlp: simplex with branch and bound, in Rust alone. The programs are set packing with tens to
//! hundreds of columns, which it solves in milliseconds. HiGHS is faster on large programs, but to build its C++ takes
//! more than two minutes of a CPU, as much as the rest of the compiler. To change the solver is to change the
//! name in [`solve_part`].

use super::candidates::candidates;
use super::contraction::find_cycle;
use super::greedy::greedy;
use super::{Deadline, Oracle, Pattern, Plan, PlanOptions, Planner};
use good_lp::solvers::SolutionStatus;
use good_lp::{
    Expression, ProblemVariables, Solution, SolverModel, WithTimeLimit, constraint, microlp,
    variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// The plan of the integer program. `others` are plans whose patterns are candidates, too.
pub fn ilp(
    oracle: &mut Oracle<'_>,
    options: &PlanOptions,
    others: &[&Plan],
    deadline: Deadline,
) -> Plan {
    let greedy = greedy(oracle);
    let others = others.iter().flat_map(|plan| &plan.patterns);
    let seeds: Vec<Pattern> = greedy.patterns.iter().chain(others).cloned().collect();
    let (scored, finished) = candidates(oracle, &seeds, options.most_asked, deadline);
    let chosen = choose(oracle, &scored, options, deadline);
    let mut plan = Plan::of(Planner::Ilp, chosen.patterns, oracle);
    let unfused = oracle.nanoseconds_of_plan(&[]);
    plan.bound_nanoseconds = Some((unfused - chosen.bound).min(plan.nanoseconds));
    plan.cut_short = !chosen.solved || !finished && deadline.is_past();
    plan
}

/// What the program came to.
pub struct Chosen {
    /// Disjoint, and the contracted graph has no cycle.
    pub patterns: Vec<Pattern>,
    /// No choice of the candidates has a larger score.
    pub bound: f64,
    /// It was solved to its end.
    pub solved: bool,
}

/// The best disjoint patterns of `scored`, each with its score, whose contracted graph has no cycle.
pub fn choose(
    oracle: &Oracle<'_>,
    scored: &[(Pattern, f64)],
    options: &PlanOptions,
    deadline: Deadline,
) -> Chosen {
    let place: BTreeMap<&Pattern, usize> = scored
        .iter()
        .enumerate()
        .map(|(at, (pattern, _))| (pattern, at))
        .collect();
    // Patterns that may not all be taken.
    let mut excluded: Vec<Vec<usize>> = Vec::new();
    for set in &options.forbidden {
        let set: Option<Vec<usize>> = set
            .iter()
            .map(|pattern| place.get(pattern).copied())
            .collect();
        excluded.extend(set);
    }
    let mut kept: Vec<usize> = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let Solved {
            taken,
            bound,
            solved,
        } = solve(oracle.problem().nodes.len(), scored, &excluded, deadline);
        let patterns: Vec<Pattern> = taken.iter().map(|at| scored[*at].0.clone()).collect();
        match find_cycle(oracle.problem(), &patterns) {
            None => {
                return Chosen {
                    patterns,
                    bound,
                    solved,
                };
            }
            Some(cycle) => excluded.push(cycle.into_iter().map(|at| taken[at]).collect()),
        }
        kept = taken;
        if deadline.is_past() {
            break;
        }
    }
    // The best of the last solution without a cycle.
    let bound = kept.iter().map(|at| scored[*at].1).sum();
    let mut patterns: Vec<Pattern> = Vec::new();
    for at in kept {
        patterns.push(scored[at].0.clone());
        if find_cycle(oracle.problem(), &patterns).is_some() || !options.allows(&patterns) {
            patterns.pop();
        }
    }
    Chosen {
        patterns,
        bound,
        solved: false,
    }
}

/// So often cycles are looked for.
const MOST_ROUNDS: usize = 200;

struct Solved {
    taken: Vec<usize>,
    bound: f64,
    solved: bool,
}

/// The program, part by part.
fn solve(
    nodes: usize,
    scored: &[(Pattern, f64)],
    excluded: &[Vec<usize>],
    deadline: Deadline,
) -> Solved {
    let mut all = Solved {
        taken: Vec::new(),
        bound: 0.0,
        solved: true,
    };
    for part in parts(nodes, scored, excluded) {
        let solved = match part.as_slice() {
            [single] if !excluded.iter().any(|set| set == &[*single]) => Solved {
                taken: vec![*single],
                bound: scored[*single].1,
                solved: true,
            },
            _ => solve_part(&part, scored, excluded, deadline),
        };
        all.taken.extend(solved.taken);
        all.bound += solved.bound;
        all.solved &= solved.solved;
    }
    all.taken.sort_unstable();
    all
}

/// Candidates that have operators or constraints in common, directly or by others.
fn parts(nodes: usize, scored: &[(Pattern, f64)], excluded: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut home: Vec<usize> = (0..scored.len()).collect();
    fn root(home: &[usize], mut at: usize) -> usize {
        while home[at] != at {
            at = home[at];
        }
        at
    }
    let mut join = |one: usize, other: usize| {
        let [one, other] = [root(&home, one), root(&home, other)];
        home[one.max(other)] = one.min(other);
    };
    let mut first: Vec<Option<usize>> = vec![None; nodes];
    for (at, (pattern, _)) in scored.iter().enumerate() {
        for node in pattern {
            match first[*node] {
                Some(other) => join(other, at),
                None => first[*node] = Some(at),
            }
        }
    }
    for set in excluded {
        for pair in set.windows(2) {
            join(pair[0], pair[1]);
        }
    }
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..scored.len() {
        parts.entry(root(&home, at)).or_default().push(at);
    }
    parts.into_values().collect()
}

fn solve_part(
    part: &[usize],
    scored: &[(Pattern, f64)],
    excluded: &[Vec<usize>],
    deadline: Deadline,
) -> Solved {
    let greedily = || {
        let mut used: BTreeSet<usize> = BTreeSet::new();
        let mut taken: Vec<usize> = Vec::new();
        for at in part {
            let pattern = &scored[*at].0;
            let breaks =
                |set: &Vec<usize>| set.iter().all(|each| each == at || taken.contains(each));
            if pattern.iter().any(|node| used.contains(node))
                || excluded.iter().any(|set| set.contains(at) && breaks(set))
            {
                continue;
            }
            used.extend(pattern);
            taken.push(*at);
        }
        taken
    };
    let relaxed = program(part, scored, excluded, deadline, false);
    let bound = match &relaxed {
        Some((values, _)) => part.iter().map(|at| scored[*at].1 * values[at]).sum(),
        None => f64::INFINITY,
    };
    let is_whole = |value: &f64| (value - value.round()).abs() < WHOLE;
    let found = match relaxed {
        // The best of all, and it happens to be whole.
        Some((values, true)) if values.values().all(is_whole) => Some((values, true)),
        _ => program(part, scored, excluded, deadline, true),
    };
    let taken_of = |values: &BTreeMap<usize, f64>| -> Vec<usize> {
        let taken = part.iter().filter(|at| values[*at] > 0.5);
        taken.copied().collect()
    };
    let score = |taken: &[usize]| -> f64 { taken.iter().map(|at| scored[*at].1).sum() };
    match found {
        Some((values, true)) => {
            let taken = taken_of(&values);
            let bound = score(&taken);
            Solved {
                taken,
                bound,
                solved: true,
            }
        }
        cut => {
            let best = [cut.map(|(values, _)| taken_of(&values)), Some(greedily())];
            let best = best.into_iter().flatten();
            let taken = best.max_by(|one, other| score(one).total_cmp(&score(other)));
            let taken = taken.unwrap_or_default();
            // Without a bound of the solver's: no operator brings more than its best pattern.
            let bound = bound.min(part.iter().map(|at| scored[*at].1).sum());
            Solved {
                bound: bound.max(score(&taken)),
                taken,
                solved: false,
            }
        }
    }
}

/// How far a value may be from a whole number to be one.
const WHOLE: f64 = 1e-7;

/// Values of the variables, and whether they are the best; `None` where the solver found none in time.
fn program(
    part: &[usize],
    scored: &[(Pattern, f64)],
    excluded: &[Vec<usize>],
    deadline: Deadline,
    whole: bool,
) -> Option<(BTreeMap<usize, f64>, bool)> {
    let mut variables = ProblemVariables::new();
    let of: BTreeMap<usize, _> = part
        .iter()
        .map(|at| {
            let variable = variable().min(0).max(1);
            let variable = if whole { variable.integer() } else { variable };
            (*at, variables.add(variable))
        })
        .collect();
    // In microseconds, so that numbers are near one.
    let score: Expression = part.iter().map(|at| of[at] * (scored[*at].1 / 1e3)).sum();
    let mut model = variables.maximise(score).using(microlp);
    let mut of_node: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in part {
        for node in &scored[*at].0 {
            of_node.entry(*node).or_default().push(*at);
        }
    }
    // Operators with the same patterns say the same.
    let rows: BTreeSet<Vec<usize>> = of_node.into_values().filter(|row| row.len() > 1).collect();
    for row in rows {
        let taken: Expression = row.iter().map(|at| of[at]).sum();
        model = model.with(constraint!(taken <= 1));
    }
    for set in excluded
        .iter()
        .filter(|set| set.iter().all(|at| of.contains_key(at)))
    {
        let taken: Expression = set.iter().map(|at| of[at]).sum();
        model = model.with(constraint!(taken <= (set.len() - 1) as f64));
    }
    let left = deadline.left().as_secs_f64();
    let solution = model
        .with_time_limit(left.max(LEAST_SECONDS))
        .solve()
        .ok()?;
    let best = matches!(solution.status(), SolutionStatus::Optimal);
    let values = of
        .iter()
        .map(|(at, variable)| (*at, solution.value(*variable)));
    Some((values.collect(), best))
}

/// The solver gets so long in any case.
const LEAST_SECONDS: f64 = 0.01;
