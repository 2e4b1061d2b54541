//! The best set of disjoint patterns, as an integer program (FusionStitching §4).
//!
//! One binary variable X for each candidate, maximise Σ X·f, for each operator Σ X ≤ 1 over the patterns that have it.
//! Where the solution's contracted graph has a cycle, its patterns may not be taken together: one more constraint, and
//! the program is solved again. Where time runs out, the best choice so far is solved anew in one neighbourhood after the other.
//! What a judge of whole plans refused ([`PlanOptions::forbidden`]) is such a constraint
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
use super::{Deadline, FusionProblem, Oracle, Pattern, Plan, PlanOptions, Planner};
use good_lp::solvers::SolutionStatus;
use good_lp::{
    Expression, ProblemVariables, Solution, SolverModel, WithTimeLimit, constraint, microlp,
    variable,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
    let mut best: Vec<usize> = Vec::new();
    let mut bound = f64::INFINITY;
    for _ in 0..MOST_ROUNDS {
        let found = solve(oracle.problem().nodes.len(), scored, &excluded, deadline);
        // With fewer constraints, the best choice has at least the score of the best one with all.
        bound = bound.min(found.bound);
        let (whole, cycles) = without_cycles(oracle.problem(), scored, found.taken);
        if cycles.is_empty() && found.solved {
            best = whole;
            bound = score(scored, &best);
            break;
        }
        let whole = completed(oracle, scored, whole, options);
        if best.is_empty() || score(scored, &whole) > score(scored, &best) {
            best = whole;
        }
        if cycles.is_empty() || deadline.is_past() {
            break;
        }
        excluded.extend(cycles);
    }
    let solved = score(scored, &best) >= bound;
    if !solved {
        best = improved(oracle, (scored, &mut excluded), best, options, deadline);
    }
    Chosen {
        patterns: best.iter().map(|at| scored[*at].0.clone()).collect(),
        bound: bound.max(score(scored, &best)),
        solved,
    }
}

fn score(scored: &[(Pattern, f64)], taken: &[usize]) -> f64 {
    taken.iter().map(|at| scored[*at].1).sum()
}

fn patterns_of(scored: &[(Pattern, f64)], taken: &[usize]) -> Vec<Pattern> {
    taken.iter().map(|at| scored[*at].0.clone()).collect()
}

/// What is left of a choice when each cycle loses its pattern of the least score, and the cycles.
fn without_cycles(
    problem: &FusionProblem,
    scored: &[(Pattern, f64)],
    mut taken: Vec<usize>,
) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut cycles = Vec::new();
    while let Some(cycle) = find_cycle(problem, &patterns_of(scored, &taken)) {
        let least = cycle
            .iter()
            .copied()
            .min_by(|one, other| scored[taken[*one]].1.total_cmp(&scored[taken[*other]].1));
        cycles.push(cycle.iter().map(|at| taken[*at]).collect());
        if let Some(least) = least {
            taken.remove(least);
        }
    }
    (taken, cycles)
}

/// A choice and what goes with it, the best first.
fn completed(
    oracle: &Oracle<'_>,
    scored: &[(Pattern, f64)],
    taken: Vec<usize>,
    options: &PlanOptions,
) -> Vec<usize> {
    let problem = oracle.problem();
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut patterns: Vec<Pattern> = Vec::new();
    let mut kept: Vec<usize> = Vec::new();
    let all = taken.iter().copied().chain(0..scored.len());
    for at in all {
        let pattern = &scored[at].0;
        if pattern.iter().any(|node| used.contains(node)) {
            continue;
        }
        patterns.push(pattern.clone());
        if find_cycle(problem, &patterns).is_some() || !options.allows(&patterns) {
            patterns.pop();
            continue;
        }
        used.extend(pattern);
        kept.push(at);
    }
    kept
}

/// A choice that is solved anew in one neighbourhood after the other, while that makes it better: a small program is solved to its
/// end where a large one is not.
fn improved(
    oracle: &Oracle<'_>,
    (scored, excluded): (&[(Pattern, f64)], &mut Vec<Vec<usize>>),
    mut best: Vec<usize>,
    options: &PlanOptions,
    deadline: Deadline,
) -> Vec<usize> {
    let problem = oracle.problem();
    let count = problem.nodes.len();
    let mut around: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
    for edge in &problem.edges {
        around[edge.source].insert(edge.sink);
        around[edge.sink].insert(edge.source);
    }
    // Once no neighbourhood in turn brings anything, none will.
    let mut vain = 0;
    let mut centre = 0;
    while vain < count && !deadline.is_past() {
        let region = neighbourhood(&around, (scored, &best), centre);
        let (inside, outside): (Vec<usize>, Vec<usize>) = best
            .iter()
            .partition(|at| region.contains(&scored[**at].0[0]));
        let part: Vec<usize> = (0..scored.len())
            .filter(|at| scored[*at].0.iter().all(|node| region.contains(node)))
            .collect();
        vain += 1;
        centre = (centre + 1) % count;
        for _ in 0..ROUNDS_OF_NEIGHBOURHOOD {
            let found = solve_part(&part, scored, excluded, deadline);
            if score(scored, &found.taken) <= score(scored, &inside) + LEAST_GAIN_NANOSECONDS {
                break;
            }
            let whole: Vec<usize> = outside.iter().chain(&found.taken).copied().collect();
            let (whole, cycles) = without_cycles(problem, scored, whole);
            let whole = completed(oracle, scored, whole, options);
            if score(scored, &whole) > score(scored, &best) + LEAST_GAIN_NANOSECONDS {
                best = whole;
                vain = 0;
                break;
            }
            if cycles.is_empty() {
                break;
            }
            excluded.extend(cycles);
        }
    }
    best
}

/// Operators around one, with the whole of each pattern of a choice that reaches there.
fn neighbourhood(
    around: &[BTreeSet<usize>],
    (scored, best): (&[(Pattern, f64)], &[usize]),
    centre: usize,
) -> BTreeSet<usize> {
    let mut home: BTreeMap<usize, &Pattern> = BTreeMap::new();
    for at in best {
        let pattern = &scored[*at].0;
        home.extend(pattern.iter().map(|node| (*node, pattern)));
    }
    let mut region: BTreeSet<usize> = BTreeSet::new();
    let mut open = VecDeque::from([centre]);
    while let Some(node) = open.pop_front() {
        if region.contains(&node) {
            continue;
        }
        let own = home
            .get(&node)
            .map_or(vec![node], |pattern| (*pattern).clone());
        if !region.is_empty() && region.len() + own.len() > NEIGHBOURHOOD {
            continue;
        }
        open.extend(own.iter().flat_map(|node| &around[*node]));
        region.extend(own);
    }
    region
}

/// So many operators are decided anew at once.
const NEIGHBOURHOOD: usize = 24;
/// So often cycles are looked for there.
const ROUNDS_OF_NEIGHBOURHOOD: usize = 6;
/// Less is nothing but rounding.
const LEAST_GAIN_NANOSECONDS: f64 = 1e-3;

/// So often cycles of the whole are looked for.
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
    match found {
        Some((values, true)) => {
            let taken = taken_of(&values);
            let bound = score(scored, &taken);
            Solved {
                taken,
                bound,
                solved: true,
            }
        }
        cut => {
            let best = [cut.map(|(values, _)| taken_of(&values)), Some(greedily())];
            let best = best.into_iter().flatten();
            let taken =
                best.max_by(|one, other| score(scored, one).total_cmp(&score(scored, other)));
            let taken = taken.unwrap_or_default();
            let bound = bound.min(bound_by_operator(part, scored));
            Solved {
                bound: bound.max(score(scored, &taken)),
                taken,
                solved: false,
            }
        }
    }
}

/// No operator brings more than its share of the pattern in which that is largest.
fn bound_by_operator(part: &[usize], scored: &[(Pattern, f64)]) -> f64 {
    let mut most: BTreeMap<usize, f64> = BTreeMap::new();
    for at in part {
        let (pattern, score) = &scored[*at];
        let share = score / pattern.len() as f64;
        for node in pattern {
            let known = most.entry(*node).or_default();
            *known = known.max(share);
        }
    }
    most.values().sum()
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
    // Cycles and neighbourhoods come after it.
    let left = deadline.left().as_secs_f64() / 4.0;
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
