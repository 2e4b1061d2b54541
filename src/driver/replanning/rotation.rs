//! Host loops rotated, and their last iterations written by themselves, where the launches of a program come to fewer then.
//!
//! `schedule` names loops whose iterations might end with launches that run together with those which the next iteration
//! begins with, and loops whose last launches might run together with what stands behind the loop. The host code is changed
//! there, as a trial, and is read and planned again. Of both plans the one with fewer launches is kept, the host code
//! with it.
//!
//! Invariant: the host code and what was found out about it belong together.

use super::super::clock::Clock;
use super::super::facts::{Analysis, Facts};
use super::super::models;
use super::super::outcome::{Outcome, PipelineError, as_json, dependence_as_json};
use super::super::session::Session;
use super::{Draft, Otherwise, Revision, first_plan, relate};
use crate::build::{Build, Fusion, Optimisation};
use crate::dependence::has_tables;
use crate::launch::{LaunchGraph, LaunchId, RotatedLoop, SplitLoop, build_launch_graph};
use crate::program::{Program, RotatedHost};
use crate::schedule::{
    FusionPlan, LoopEnd, Rotation, loop_ends, rotations, sum_loops, waiting_launches,
    weighted_launches,
};
use crate::stage::Stage;
use std::collections::BTreeSet;

/// So often a program is read and planned again: the second time only with those loops in which the first one gained.
const TRIALS: usize = 2;

/// Of a program with more dependences loops stay rotated in which nothing is gained, where something is in others: to read
/// it again takes long, and a launch in front of a loop costs nothing.
const MOST_DEPENDENCES: usize = 2_000;

/// The program with rotated loops, where that is better, and what was found out about it as it is then. Where the
/// revision is none, the program is as it was.
///
/// # Errors
/// Those of the stages that run again.
pub(super) fn revision(
    program: &mut Program<'_>,
    analysis: &Analysis,
    session: Session<'_>,
    outcome: &mut Outcome,
) -> Result<Option<Revision>, PipelineError> {
    let plan = analysis.plan.plan();
    let options = &analysis.options;
    // A number of fusions is for bisection, which wants the same order of groups every time.
    let is_off = options.fusion != Fusion::All
        || options.max_fusions.is_some()
        || analysis.facts.dependences.cut_short;
    let mut chosen = match is_off {
        true => Changes::default(),
        false => Changes::of(analysis, session.build),
    };
    let before = weighted_launches(&analysis.facts.graph, plan);
    for _ in 0..TRIALS {
        if chosen.is_empty() {
            break;
        }
        // What a front end could compile is no longer the user's to mend.
        let (behind, ends, sums) = chosen.sites();
        let changed = program.rotated(&behind, &ends, &sums);
        let changed = changed.map_err(|error| PipelineError::Bug(error.to_string()))?;
        let loops = ChangedLoops {
            rotated: loops(&changed),
            split: split_loops(&changed, ends.len()),
        };
        let as_it_is = std::mem::replace(&mut program.host, changed.host);
        let Some((found, messages)) = plan_again(program, analysis, loops, session)? else {
            program.host = as_it_is;
            break;
        };
        let planned = found.plan.plan();
        let gained = chosen.gained(&found.facts.graph, planned);
        let is_better = waiting_launches(planned, &BTreeSet::new())
            >= waiting_launches(plan, &chosen.launches())
            && weighted_launches(&found.facts.graph, planned) < before;
        let is_long = found.facts.dependences.graph.edge_count() > MOST_DEPENDENCES;
        if is_better && (is_long || gained.len() == chosen.len()) {
            outcome.warnings.push_str(&messages);
            dump(session.clock, &found);
            return Ok(Some(Revision {
                drafts: vec![Draft::Program(Box::new(found))],
                changes: Box::new(|_| ()),
                otherwise: Otherwise::Nothing,
                then: &[],
            }));
        }
        program.host = as_it_is;
        if gained.len() == chosen.len() {
            break;
        }
        chosen = gained;
    }
    Ok(None)
}

/// What is done to the loops of a program.
#[derive(Default)]
struct Changes {
    rotations: Vec<Rotation>,
    ends: Vec<LoopEnd>,
    /// Launches that stand alone in loops of which the last iterations are to stand by themselves.
    sums: Vec<LaunchId>,
}

impl Changes {
    fn of(analysis: &Analysis, build: &Build) -> Self {
        let Facts {
            graph, dependences, ..
        } = &analysis.facts;
        let plan = analysis.plan.plan();
        let wants = |optimisation| build.sirius.optimisations.contains(&optimisation);
        let rotations = match wants(Optimisation::LoopRotation) {
            true => rotations(graph, dependences, plan),
            false => Vec::new(),
        };
        let mut ends = match wants(Optimisation::LoopEnds) {
            true => loop_ends(graph, dependences, plan),
            false => Vec::new(),
        };
        // What an outer loop is rotated behind is written twice by that.
        ends.retain(|end| {
            let mut rotations = rotations.iter();
            !rotations.any(|rotation| {
                let mut launches = rotation.launches.iter();
                let through = launches.position(|launch| *launch == end.through);
                let behind = rotation.launches.iter();
                let behind = behind.take_while(|launch| **launch != rotation.behind);
                through.is_some_and(|through| through <= behind.count())
            })
        });
        let mut sums = match analysis.options.last_block && wants(Optimisation::LoopEnds) {
            true => sum_loops(graph, dependences, plan),
            false => Vec::new(),
        };
        sums.retain(|sum| {
            let rotated = rotations.iter().flat_map(|of| &of.launches);
            let ending = ends.iter().flat_map(|of| &of.launches);
            !rotated.chain(ending).any(|launch| launch == sum)
        });
        Self {
            rotations,
            ends,
            sums,
        }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.rotations.len() + self.ends.len() + self.sums.len()
    }

    fn sites(&self) -> (Vec<u32>, Vec<(u32, u32)>, Vec<u32>) {
        let behind = self.rotations.iter().map(|of| of.behind.0);
        let ends = self.ends.iter().map(|of| (of.from.0, of.through.0));
        let sums = self.sums.iter().map(|of| of.0);
        (behind.collect(), ends.collect(), sums.collect())
    }

    /// The launches of the loops, and those behind them that are written with them.
    fn launches(&self) -> BTreeSet<LaunchId> {
        let of_rotations = self.rotations.iter().flat_map(|of| &of.launches);
        let of_ends = self.ends.iter().flat_map(|of| &of.launches);
        let all = of_rotations.chain(of_ends).chain(&self.sums);
        all.copied().collect()
    }

    /// Those by which launches run together, as a plan of the changed program has it.
    fn gained(&self, graph: &LaunchGraph, plan: &FusionPlan) -> Self {
        let rotations = self.rotations.iter().zip(&graph.rotated_loops);
        let rotations = rotations.filter(|(_, of)| {
            let is_next = |launch: &LaunchId| of.of_next_iteration.contains(launch);
            meet(plan, is_next, |launch| !is_next(launch))
        });
        let ends = self.ends.iter().zip(&graph.split_loops);
        let ends = ends.filter(|(_, of)| {
            let ends = |launch: &LaunchId| of.last.contains(launch);
            meet(plan, ends, |launch| of.behind.contains(launch))
        });
        let of_sums = graph.split_loops.iter().skip(self.ends.len());
        let sums = self.sums.iter().zip(of_sums).filter(|(_, of)| {
            let is_alone = |launch: &LaunchId| of.past.contains(launch);
            let before = |launch: &LaunchId| of.last.contains(launch);
            meet(plan, is_alone, |launch| !is_alone(launch))
                || meet(plan, before, |launch| of.behind.contains(launch))
        });
        Self {
            rotations: rotations.map(|(rotation, _)| rotation.clone()).collect(),
            ends: ends.map(|(end, _)| end.clone()).collect(),
            sums: sums.map(|(sum, _)| *sum).collect(),
        }
    }
}

/// Whether a group has members of two kinds.
fn meet(
    plan: &FusionPlan,
    one: impl Fn(&LaunchId) -> bool,
    other: impl Fn(&LaunchId) -> bool,
) -> bool {
    plan.groups.iter().any(|group| {
        let mut members = group.members.iter().map(|member| member.launch);
        members.clone().any(|launch| one(&launch)) && members.any(|launch| other(&launch))
    })
}

/// The loops whose ends were written by themselves, first those with what stands behind them.
fn split_loops(changed: &RotatedHost<'_>, with_others: usize) -> Vec<SplitLoop> {
    let launches = |sites: &[u32]| sites.iter().copied().map(LaunchId).collect();
    let ends = changed.ends.iter().enumerate();
    ends.map(|(index, of)| SplitLoop {
        before_last: launches(&of.before_last),
        last: launches(&of.last),
        behind: launches(&of.behind),
        past: launches(&of.past),
        of_one_launch: index >= with_others,
    })
    .collect()
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

/// The loops of a program that were rotated, and those whose ends were written by themselves.
struct ChangedLoops {
    rotated: Vec<RotatedLoop>,
    split: Vec<SplitLoop>,
}

/// What is found out about the program with its new host code, and the messages about it; nothing where a
/// layout that was asked for is not there any more.
fn plan_again(
    program: &Program<'_>,
    before: &Analysis,
    loops: ChangedLoops,
    session: Session<'_>,
) -> Result<Option<(Analysis, String)>, PipelineError> {
    let mut quiet = session.build.clone();
    quiet.sirius.dump.clear();
    let clock = Clock::new(&quiet);
    let trial = Session {
        build: &quiet,
        clock: &clock,
        ..session
    };
    let mut graph = clock.time(Stage::Launch, || build_launch_graph(program));
    graph.rotated_loops = loops.rotated;
    graph.split_loops = loops.split;
    let models = match has_tables(&graph) {
        true => clock.time(Stage::Kernel, || models::models(program, &mut graph)),
        false => before.facts.models.clone(),
    };
    let mut said = Outcome::default();
    let found = match relate(graph, models, trial) {
        Some(facts) => first_plan(program, facts, trial, &mut said),
        None => Ok(None),
    };
    for (stage, seconds) in clock.seconds() {
        session.clock.add(stage, seconds);
    }
    match found {
        Err(PipelineError::UnknownLayout { .. }) => Ok(None),
        found => Ok(found?.map(|found| (found, said.warnings))),
    }
}

/// Shows what is carried out, after what was planned before.
fn dump(clock: &Clock<'_>, found: &Analysis) {
    let Facts {
        graph, dependences, ..
    } = &found.facts;
    clock.dump(Stage::Launch, || graph.to_string());
    clock.dump(Stage::Dependence, || dependence_as_json(graph, dependences));
    clock.dump(Stage::Schedule, || as_json(found.plan.plan()));
    clock.dump(Stage::Verify, || as_json(found.plan.plan()));
}
