//! Other groups than greedy grouping makes, where a planner finds some that take less by the cost model.
//!
//! A planner says which launches are put together, and nothing else: its groups are made, guarded and laid out by
//! `schedule`, as all groups are, and judged. A set of groups that the verifier refuses is forbidden, and the
//! planner is asked again.
//!
//! Invariants: what is issued in batches, or runs as a loop inside one kernel, is as greedy grouping planned it, since
//! the cost model knows nothing of either. The plan of `auto` takes less than greedy's by the model, as a whole and by
//! [`LEAST_GAIN`] at least, also where greedy's groups are taken to have the best of their layouts: what another layout
//! would bring is for tuning to say, and no reason for other groups. The plan of another planner is carried out
//! whatever it takes, since somebody asked for it.

use super::super::facts::{Facts, Proposed};
use super::super::outcome::Outcome;
use super::variants::group_keys;
use crate::build::{Build, Fusion, Planning};
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind};
use crate::output::tell;
use crate::planner::{LEAST_GAIN, Oracle, Pattern, Plan, PlanOptions, Planner, Score, file, plan};
use crate::program::Program;
use crate::report::ReportPlanning;
use crate::schedule::{
    FusionGroup, FusionPlan, Missed, Patterns, Regrouper, ScheduleOptions, plan_fusion_as,
};
use crate::tune::{Figures, KernelTimes, LaunchProblem, Measurements, Model, fusion_problem};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Puts the groups of the planner that the command line names in the place of those of greedy grouping, where these are
/// the better ones, and notes what is reported of both. Which are better is said by what `--sirius-plan-score` names.
pub(super) fn choose(
    program: &Program<'_>,
    facts: &Facts,
    greedy: &mut Proposed,
    build: &Build,
    outcome: &mut Outcome,
) {
    let Facts { graph, models, .. } = facts;
    let options = &greedy.options;
    // A number of fusions is for bisection, which wants the same order of groups every time.
    let is_off = options.fusion == Fusion::Off
        || options.max_fusions.is_some()
        || facts.dependences.cut_short;
    let asked = &build.sirius.planning;
    let launches = graph.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Launch(launch) => Some(launch.id),
        _ => None,
    });
    let all: Vec<LaunchId> = launches.collect();
    if is_off || all.len() < 2 {
        return;
    }
    let figures = Figures::of_gpu(build);
    let model = match asked.score {
        Score::Bytes => Model::of_bytes(graph, models, figures),
        Score::Model | Score::Measured => Model::new(graph, models, figures),
    };
    let times = match (asked.score, results(build, outcome)) {
        (Score::Measured, Some(results)) => {
            let key_of = group_keys(program, graph, models, build);
            KernelTimes::measured(&model, results, key_of, &greedy.plan.groups)
        }
        _ => KernelTimes::modelled(&model),
    };
    let of_greedy = nanoseconds(&times, &all, &greedy.plan);
    let mut report = ReportPlanning {
        planner: Planner::Greedy.name().to_owned(),
        asked: asked.planner.name().to_owned(),
        score: times.score().name().to_owned(),
        measured_launches: times.measured_launches(),
        device: figures.name.to_owned(),
        nanoseconds: of_greedy,
        greedy_nanoseconds: of_greedy,
        unfused_nanoseconds: nanoseconds(&times, &all, &FusionPlan::default()),
        bound_nanoseconds: None,
        gap: None,
        refused: 0,
    };
    let searches = match asked.planner {
        Planner::Greedy => false,
        Planner::Auto => all.len() <= MOST_LAUNCHES_OF_AUTO,
        Planner::Ilp | Planner::Span | Planner::Priority | Planner::Xla => true,
    };
    if searches || build.sirius.dump_problem {
        let search = Search {
            facts,
            greedy: &greedy.plan,
            options,
            times: &times,
            figures,
            launches: &all,
        };
        let (chosen, problem) = search.chosen(searches, asked, &mut report);
        if build.sirius.dump_problem {
            tell(format_args!("; problem\n{}", file::write(&problem.problem)));
        }
        if let Some((plan, missed)) = chosen {
            greedy.plan = plan;
            greedy.missed = missed;
        }
    }
    greedy.planning = Some(report);
}

/// Where a planner looks for other groups.
struct Search<'a> {
    facts: &'a Facts,
    greedy: &'a FusionPlan,
    options: &'a ScheduleOptions,
    times: &'a KernelTimes<'a>,
    figures: &'static Figures,
    /// Of the program, in order.
    launches: &'a [LaunchId],
}

impl Search<'_> {
    /// The plan that takes the place of greedy's, where one is better, and the problem that was solved.
    fn chosen(
        &self,
        searches: bool,
        asked: &Planning,
        report: &mut ReportPlanning,
    ) -> (Option<(FusionPlan, Vec<Missed>)>, LaunchProblem) {
        let Facts {
            graph,
            models,
            dependences,
        } = self.facts;
        let (times, greedy, options) = (self.times, self.greedy, self.options);
        let patterns = Patterns::new(graph, models, dependences, options);
        let fixed = fixed(graph, greedy);
        let of_greedy = report.greedy_nanoseconds;
        let groups = greedy.groups.iter();
        let groups: Vec<(&FusionGroup, f64)> =
            groups.map(|group| (group, times.together(group))).collect();
        let figures = (times, self.figures);
        let mut made = fusion_problem(graph, models, figures, &patterns, (&groups, &fixed));
        let patterns = RefCell::new(patterns);
        let ask = |made: &LaunchProblem, pattern: &[usize]| {
            let group = patterns.borrow_mut().group(&made.launches_of(pattern))?;
            Some((times.together(&group) - times.launch_nanoseconds()).max(0.0))
        };
        let mut wanted = wanted(asked);
        // What other layouts would bring to greedy's groups, once somebody wants to know.
        let mut by_layouts = None;
        let mut chosen = None;
        while searches && report.refused < MOST_REFUSED {
            let mut oracle = Oracle::new(&made.problem, Box::new(|pattern| ask(&made, pattern)));
            let found_plan = plan(&mut oracle, &wanted);
            let answers = oracle.answers();
            drop(oracle);
            made.problem.answers = answers;
            if Some(&found_plan.patterns) == made.problem.greedy.as_ref() {
                take_bound(report, &found_plan, of_greedy);
                let same = &found_plan.planner;
                same.name().clone_into(&mut report.planner);
                break;
            }
            if asked.planner == Planner::Auto && by_layouts.is_none() {
                by_layouts = Some(self.take_best_layouts(&mut made));
                continue;
            }
            let sets = sets(&made, &found_plan.patterns, greedy, &fixed);
            let groups = (sets.as_slice(), greedy);
            let planned = plan_fusion_as(graph, models, dependences, options, groups);
            if !same_regions(&planned.0, greedy) {
                break;
            }
            let refused = self.refused(&planned.0, &made, &found_plan);
            if !refused.is_empty() {
                report.refused += 1;
                wanted.forbidden.push(refused);
                continue;
            }
            let time = nanoseconds(times, self.launches, &planned.0);
            let most = match by_layouts {
                Some(saved) => (of_greedy - saved) * (1.0 - LEAST_GAIN),
                None => f64::INFINITY,
            };
            if time < most {
                take_bound(report, &found_plan, time);
                found_plan.planner.name().clone_into(&mut report.planner);
                report.nanoseconds = time;
                chosen = Some(planned);
            }
            break;
        }
        (chosen, made)
    }

    /// Gives greedy's groups the times of the best of their layouts. Returns how much less that is than as they are
    /// planned.
    fn take_best_layouts(&self, made: &mut LaunchProblem) -> f64 {
        let Facts {
            graph,
            models,
            dependences,
        } = self.facts;
        let times = self.times;
        let regrouper = Regrouper::new(graph, models, dependences, self.options);
        let mut saved = 0.0;
        let groups = self.greedy.groups.iter();
        for group in groups.filter(|group| group.members.len() > 1) {
            let best = in_best_layout(times, &regrouper, group);
            let pattern = made.pattern_of(group);
            let mut answers = made.problem.answers.iter_mut();
            // Those that stay are in every plan.
            if let Some(answer) = answers.find(|answer| answer.pattern == pattern) {
                saved += times.together(group) - best;
                answer.nanoseconds = Some((best - times.launch_nanoseconds()).max(0.0));
            }
        }
        saved
    }

    /// Patterns that may not be in one plan, since the verifier refuses what was planned of them; none where it does
    /// not.
    fn refused(&self, planned: &FusionPlan, made: &LaunchProblem, found: &Plan) -> Vec<Pattern> {
        if self.facts.judge(planned.clone()).is_ok() {
            return Vec::new();
        }
        // One group that is refused by itself says more than all of them.
        let alone = planned.groups.iter().find(|group| {
            let plan = FusionPlan {
                groups: vec![(*group).clone()],
                ..FusionPlan::default()
            };
            self.facts.judge(plan).is_err()
        });
        let pattern = alone.map(|group| made.pattern_of(group));
        match pattern.filter(|pattern| found.patterns.contains(pattern)) {
            Some(pattern) => vec![pattern],
            None => found.patterns.clone(),
        }
    }
}

/// What was measured, where planners are to go by that. Without a file there is a warning; of one that cannot be read
/// those speak who choose variants by it.
fn results(build: &Build, outcome: &mut Outcome) -> Option<Measurements> {
    if build.sirius.planning.score != Score::Measured {
        return None;
    }
    let Some(path) = &build.sirius.tuning.results else {
        outcome.warnings.push_str(NO_RESULTS);
        return None;
    };
    Measurements::read(&std::fs::read_to_string(path).ok()?).ok()
}

const NO_RESULTS: &str = "sirius-rs: --sirius-plan-score=measured goes by the cost model, since no --sirius-tune-results=FILE is given\n";

/// What a planner is to do.
fn wanted(asked: &Planning) -> PlanOptions {
    PlanOptions {
        planner: asked.planner,
        priority: asked.priority,
        budget: asked.budget,
        seed: asked.seed,
        policy: asked.policy.clone(),
        most_asked: match asked.planner {
            Planner::Auto => MOST_ASKED_BY_AUTO,
            _ => MOST_ASKED,
        },
        ..PlanOptions::default()
    }
}

/// New questions to the judge of groups.
const MOST_ASKED: usize = 5_000;
/// The same of `auto`, which is always there.
const MOST_ASKED_BY_AUTO: usize = 200;
/// Programs with more launches are left to greedy grouping by `auto`: what a search looks at grows with the square of them.
const MOST_LAUNCHES_OF_AUTO: usize = 256;
/// So often a planner is asked again.
const MOST_REFUSED: usize = 4;

/// Launches near statements that wait for a batch: in the same function, and the same outermost loop.
fn fixed(graph: &LaunchGraph, plan: &FusionPlan) -> BTreeSet<LaunchId> {
    let place = |node: NodeId| {
        let block = graph.nodes[node.0].block;
        (
            graph.blocks[block.0].function,
            graph.loops_around(block).first().copied(),
        )
    };
    let launches = || {
        graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((node.id, launch.id)),
            _ => None,
        })
    };
    let regions = plan
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements);
    let waiting: BTreeSet<LaunchId> = regions.map(|statement| statement.launch).collect();
    let places: BTreeSet<_> = launches()
        .filter(|(_, launch)| waiting.contains(launch))
        .map(|(node, _)| place(node))
        .collect();
    let near = launches().filter(|(node, _)| places.contains(&place(*node)));
    near.map(|(_, launch)| launch).collect()
}

/// A planner's groups as launches, and those of greedy grouping that stay.
fn sets(
    made: &LaunchProblem,
    patterns: &[Pattern],
    greedy: &FusionPlan,
    fixed: &BTreeSet<LaunchId>,
) -> Vec<Vec<LaunchId>> {
    let stays = greedy.groups.iter().map(|group| -> Vec<LaunchId> {
        let members = group.members.iter();
        members.map(|member| member.launch).collect()
    });
    let stays =
        stays.filter(|group| group.len() > 1 && group.iter().any(|launch| fixed.contains(launch)));
    let chosen = patterns.iter().map(|pattern| made.launches_of(pattern));
    chosen.chain(stays).collect()
}

fn same_regions(one: &FusionPlan, other: &FusionPlan) -> bool {
    let regions = |plan: &FusionPlan| -> Vec<Vec<(LaunchId, bool)>> {
        let regions = plan.batched_regions.iter().map(|region| {
            let statements = region.statements.iter();
            statements
                .map(|statement| (statement.launch, statement.persistent.is_some()))
                .collect()
        });
        regions.collect()
    };
    regions(one) == regions(other)
}

/// What all launches take, each site once.
fn nanoseconds(times: &KernelTimes<'_>, launches: &[LaunchId], plan: &FusionPlan) -> f64 {
    let groups = plan.groups.iter().filter(|group| group.members.len() > 1);
    let fused: BTreeSet<LaunchId> = groups
        .clone()
        .flat_map(|group| group.members.iter().map(|member| member.launch))
        .collect();
    let rest = launches.iter().filter(|launch| !fused.contains(launch));
    let rest: f64 = rest.map(|launch| times.single_launch(*launch)).sum();
    rest + groups.map(|group| times.together(group)).sum::<f64>()
}

/// The bound of an integer program, for the plan as it was carried out.
fn take_bound(report: &mut ReportPlanning, found: &Plan, time: f64) {
    if let (Some(bound), Some(gap)) = (found.bound_nanoseconds, found.gap()) {
        report.bound_nanoseconds = Some(time - (found.nanoseconds - bound));
        report.gap = Some(gap);
    }
}

/// What a group takes as one launch in the layout in which it takes least. What was measured is of the best of them.
fn in_best_layout(times: &KernelTimes<'_>, regrouper: &Regrouper<'_>, group: &FusionGroup) -> f64 {
    let planned = times.together(group);
    if times.is_measured(group) {
        return planned;
    }
    let others = group.layouts.iter().filter(|name| **name != group.layout);
    let others = others
        .take(MOST_LAYOUTS)
        .filter_map(|name| regrouper.laid_out(group, name));
    let others = others.map(|group| times.together(&group));
    others.fold(planned, f64::min)
}

/// So many layouts of a group are compared.
const MOST_LAYOUTS: usize = 24;
