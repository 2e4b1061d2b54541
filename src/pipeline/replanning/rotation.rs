//! Host loops rotated, where the launches of a program come to fewer then.
//!
//! `schedule` names loops whose iterations might end with launches that run together with those which the next iteration
//! begins with. The host code is rotated there, as a trial, and is read and planned again. Of both plans
//! the one with fewer launches is kept, the host code with it.
//!
//! Invariant: the host code and what was found out about it belong together.

use super::super::analysis::Analysis;
use super::super::clock::Clock;
use super::super::outcome::{self, Outcome, PipelineError};
use super::super::{Facts, Stage, models, plan_program};
use crate::cli::{Build, Fusion, Optimisation, Toolchain};
use crate::dependence::has_tables;
use crate::launch::{LaunchId, RotatedLoop, build_launch_graph};
use crate::program::{Program, RotatedHost};
use crate::schedule::{FusionPlan, Rotation, rotations, waiting_launches, weighted_launches};

/// So often a program is read and planned again: the second time only with those loops in which the first one gained.
const TRIALS: usize = 2;

/// Of a program with more dependences loops stay rotated in which nothing is gained, where something is in others: to read
/// it again takes long, and a launch in front of a loop costs nothing.
const MOST_DEPENDENCES: usize = 2_000;

/// Rotates loops of the program where that is better. Returns what was found out about the program as it is then.
///
/// # Errors
/// Those of the stages that run again.
pub(in crate::pipeline) fn rotate(
    program: &mut Program<'_>,
    analysis: Analysis,
    (build, toolchain): (&Build, &Toolchain),
    (clock, relate): (&mut Clock<'_>, outcome::Relate),
    outcome: &mut Outcome,
) -> Result<Analysis, PipelineError> {
    let plan = analysis.plan.plan();
    let options = &analysis.options;
    // A number of fusions is for bisection, which wants the same order of groups every time.
    let is_off = options.fusion != Fusion::All
        || options.max_fusions.is_some()
        || analysis.dependences.cut_short
        || !build
            .sirius
            .optimisations
            .contains(&Optimisation::LoopRotation);
    let mut chosen = match is_off {
        true => Vec::new(),
        false => rotations(&analysis.graph, &analysis.dependences, plan),
    };
    let before = weighted_launches(&analysis.graph, plan);
    for _ in 0..TRIALS {
        if chosen.is_empty() {
            break;
        }
        let sites: Vec<u32> = chosen.iter().map(|of| of.behind.0).collect();
        // What a front end could compile is no longer the user's to mend.
        let rotated = program.rotated(&sites);
        let rotated = rotated.map_err(|error| PipelineError::Bug(error.to_string()))?;
        let loops = loops(&rotated);
        let as_it_is = std::mem::replace(&mut program.host, rotated.host);
        let trial = plan_again(
            program,
            (&analysis, loops),
            (build, toolchain),
            (clock, relate),
        )?;
        let Some((found, messages)) = trial else {
            program.host = as_it_is;
            break;
        };
        let planned = found.plan.plan();
        let gains = |of: &RotatedLoop| runs_with_others(planned, of);
        let loops = &found.graph.rotated_loops;
        let is_better = waiting_launches(planned, &[]) >= waiting_launches(plan, &chosen)
            && weighted_launches(&found.graph, planned) < before;
        let is_long = found.dependences.graph.edge_count() > MOST_DEPENDENCES;
        if is_better && (is_long || loops.iter().all(gains)) {
            outcome.warnings.push_str(&messages);
            dump(clock, &found);
            return Ok(found);
        }
        let gained: Vec<Rotation> = chosen
            .iter()
            .zip(loops)
            .filter(|(_, of)| gains(of))
            .map(|(rotation, _)| rotation.clone())
            .collect();
        program.host = as_it_is;
        if gained.len() == chosen.len() {
            break;
        }
        chosen = gained;
    }
    Ok(analysis)
}

fn loops(rotated: &RotatedHost<'_>) -> Vec<RotatedLoop> {
    let launches = |sites: &[u32]| sites.iter().copied().map(LaunchId).collect();
    let loops = rotated.prologues.iter().zip(&rotated.of_next_iteration);
    loops
        .map(|(prologue, of_next_iteration)| RotatedLoop {
            prologue: launches(prologue),
            of_next_iteration: launches(of_next_iteration),
        })
        .collect()
}

/// What is found out about the program with its new host code, and the messages about it; nothing where a
/// layout that was asked for is not there any more.
fn plan_again(
    program: &Program<'_>,
    (before, loops): (&Analysis, Vec<RotatedLoop>),
    (build, toolchain): (&Build, &Toolchain),
    (clock, relate): (&mut Clock<'_>, outcome::Relate),
) -> Result<Option<(Analysis, String)>, PipelineError> {
    let mut quiet = build.clone();
    quiet.sirius.dump.clear();
    let mut trial = Clock::new(&quiet);
    let mut graph = trial.time(Stage::Launch, || build_launch_graph(program));
    graph.rotated_loops = loops;
    let models = match has_tables(&graph) {
        true => trial.time(Stage::Kernel, || models::models(program, &mut graph)),
        false => before.models.clone(),
    };
    let mut said = Outcome::default();
    let facts = Facts { graph, models };
    let found = plan_program(facts, (&quiet, toolchain), (&mut trial, relate), &mut said);
    for (stage, seconds) in trial.seconds {
        clock.add(stage, seconds);
    }
    match found {
        Err(PipelineError::UnknownLayout { .. }) => Ok(None),
        found => Ok(found?.map(|found| (found, said.warnings))),
    }
}

/// Whether a launch of the next iteration is in a group with one of this.
fn runs_with_others(plan: &FusionPlan, of: &RotatedLoop) -> bool {
    plan.groups.iter().any(|group| {
        let is_next = |launch: LaunchId| of.of_next_iteration.contains(&launch);
        let mut members = group.members.iter().map(|member| member.launch);
        members.clone().any(is_next) && members.any(|launch| !is_next(launch))
    })
}

/// Shows what is carried out, after what was planned before.
fn dump(clock: &Clock<'_>, found: &Analysis) {
    clock.dump(Stage::Launch, || found.graph.to_string());
    clock.dump(Stage::Dependence, || {
        outcome::dependence_as_json(&found.graph, &found.dependences)
    });
    clock.dump(Stage::Schedule, || outcome::as_json(found.plan.plan()));
    clock.dump(Stage::Verify, || outcome::as_json(found.plan.plan()));
}
