//! Plans that are judged, and made again.
//!
//! A plan is made once, of a program that was read ([`planning`] may choose other groups than greedy grouping), and
//! judged; of one that is refused a part is carried out ([`first`]). What is found out after that is a [`Cause`] to make
//! it again. One loop, [`Replanner::replan`], goes through causes in their order: each may propose a [`Revision`], which
//! takes the place of the plan at hand where the verifier accepts it.
//!
//! Invariant: each plan that is carried out passed the verifier as a whole, and only [`Facts::judge`] asks it.
//!
//! What belongs to the first proposal comes before the loop: groups with grid barriers, those that end with the launch of
//! their last block and those that recompute are added by `schedule` to what is not judged yet, in this order.
//!
//! # What is asked outside of the loop
//! The loop says what is carried out. These need verdicts to come to a proposal, so that they ask for them by themselves:
//! * [`planning`]: a set of groups that is refused is forbidden, and the planner is asked again, before there is a
//!   plan;
//! * [`first`]: the first plan has none that could stay in its place, so that the largest part that passes is
//!   searched;
//! * [`rotation`]: which of two programs has fewer launches is known of plans that passed. Its trial reads the changed
//!   host code and comes to a first plan as any program does;
//! * [`parts`]: what is issued as graphs or overlaps is an addition to other groups, and left away by itself.

mod planning;
mod parts;
mod first;
mod rotation;
mod variants;
mod graphs;
mod overlaps;
mod images;
mod resources;
mod crowded;

pub(super) use first::{first_plan, relate};
pub(super) use images::{Made, decides};
pub(super) use variants::keep_verdicts;

use super::facts::{Analysis, Facts, Refused};
use super::fallback::FailedCheck;
use super::outcome::{Outcome, PipelineError};
use super::session::Session;
use crate::codegen::{CodegenError, FusedImage, UnitImages, Workbench};
use crate::program::Program;
use crate::schedule::{self, FusionGroup, FusionPlan, find_dead_buffers};
use crate::verify::VerifiedPlan;
use images::Images;
use std::collections::VecDeque;

/// Why a plan is made again.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    /// Host loops that come to fewer launches when they are rotated, or their last iterations stand by themselves.
    Rotation,
    /// Variants of groups that were measured, or that a cost model finds better.
    Variants,
    /// Launches that may wait to be issued as graphs.
    Graphs,
    /// Launches that may begin before the one before them has ended.
    Overlaps,
    /// Groups that ask for more than the device has, as ptxas says.
    Resources,
    /// Groups that were to use shared memory in turn, and whose code does not allow that.
    Crowded,
    /// Groups, by their places in the plan, that code generation left out.
    LeftOut(Vec<usize>),
}

impl Cause {
    /// What is looked at before any code is there, in this order.
    pub(super) const BEFORE_CODE: [Self; 4] =
        [Self::Rotation, Self::Variants, Self::Graphs, Self::Overlaps];

    /// What the kernels of the plan say of it.
    pub(super) const OF_KERNELS: [Self; 2] = [Self::Resources, Self::Crowded];
}

/// What may take the place of a plan.
struct Revision {
    /// The better ones first: the first that passes is taken.
    drafts: Vec<Draft>,
    /// What else is true with it.
    changes: Box<dyn FnOnce(&mut Analysis)>,
    /// What is done where none passes.
    otherwise: Otherwise,
    /// What is to be looked at next, before all other causes.
    then: &'static [Cause],
}

/// A plan to be judged.
enum Draft {
    /// A whole one.
    Plan(FusionPlan),
    /// One of these groups, issued in batches where the plan at hand is.
    Groups(Vec<FusionGroup>),
    /// That of another program, which passed.
    Program(Box<Analysis>),
}

/// What the refusal of a revision leads to. The plan at hand stays.
enum Otherwise {
    /// Nothing: it was an attempt.
    Nothing,
    /// A line of warning.
    Warn(&'static str),
    /// A check of ours failed: what is refused, and what that leads to.
    Check {
        what: &'static str,
        consequence: &'static str,
    },
    /// A bug of ours that leaves no plan.
    Bug,
}

/// Makes the plan of a program again, for as long as there are causes.
pub(super) struct Replanner<'a, 'ctx> {
    program: &'a mut Program<'ctx>,
    session: Session<'a>,
    /// What was made of the plan, once kernels are.
    images: Option<Images<'a, 'ctx>>,
    outcome: &'a mut Outcome,
}

impl<'a, 'ctx> Replanner<'a, 'ctx> {
    /// For a plan of which no kernels are made.
    pub(super) fn new(
        program: &'a mut Program<'ctx>,
        session: Session<'a>,
        outcome: &'a mut Outcome,
    ) -> Self {
        Self {
            program,
            session,
            images: None,
            outcome,
        }
    }

    /// Goes through causes, and through those which follow from what is taken.
    ///
    /// # Errors
    /// Those of the stages that run again; with `SIRIUS_STRICT` set, a revision that is refused by a bug of ours.
    pub(super) fn replan(
        &mut self,
        analysis: &mut Analysis,
        causes: impl IntoIterator<Item = Cause>,
    ) -> Result<(), PipelineError> {
        let mut waiting: VecDeque<Cause> = causes.into_iter().collect();
        while let Some(cause) = waiting.pop_front() {
            let Some(revision) = self.revision(&cause, analysis)? else {
                continue;
            };
            match judged(analysis, revision.drafts) {
                Ok(Passed::Plan(plan)) => analysis.plan = plan,
                Ok(Passed::Program(found)) => *analysis = *found,
                Err(refused) => {
                    self.refuse(analysis, revision.otherwise, &refused)?;
                    continue;
                }
            }
            (revision.changes)(analysis);
            if let Some(images) = &mut self.images {
                images.forget();
            }
            for next in revision.then.iter().rev() {
                waiting.push_front(next.clone());
            }
        }
        Ok(())
    }

    /// What a cause proposes.
    fn revision(
        &mut self,
        cause: &Cause,
        analysis: &mut Analysis,
    ) -> Result<Option<Revision>, PipelineError> {
        let build = self.session.build;
        Ok(match cause {
            Cause::Rotation => {
                rotation::revision(self.program, analysis, self.session, self.outcome)?
            }
            Cause::Variants => variants::revision(self.program, analysis, build, self.outcome),
            Cause::Graphs => graphs::revision(analysis),
            Cause::Overlaps => overlaps::revision(analysis),
            Cause::Resources => match &mut self.images {
                Some(images) => resources::revision(self.program, analysis, self.session, images)?,
                None => None,
            },
            Cause::Crowded => match &mut self.images {
                Some(images) => crowded::revision(self.program, analysis, images)?,
                None => None,
            },
            Cause::LeftOut(groups) => left_out(analysis, groups),
        })
    }

    fn refuse(
        &mut self,
        analysis: &Analysis,
        otherwise: Otherwise,
        refused: &Refused,
    ) -> Result<(), PipelineError> {
        match otherwise {
            Otherwise::Nothing => Ok(()),
            Otherwise::Warn(text) => {
                let text = format!("sirius-rs: {text}\n");
                self.outcome.warnings.push_str(&text);
                Ok(())
            }
            Otherwise::Check { what, consequence } => FailedCheck {
                reason: &refused.reason(what),
                consequence,
                plan: &refused.plan,
            }
            .say(&analysis.facts, self.session.build, self.outcome),
            Otherwise::Bug => Err(PipelineError::Bug(
                "the verifier refuses a part of a plan".into(),
            )),
        }
    }
}

/// What passed the verifier.
enum Passed {
    Plan(VerifiedPlan),
    Program(Box<Analysis>),
}

/// The first draft that passes; of those that do not, why the last one does not.
fn judged(analysis: &Analysis, drafts: Vec<Draft>) -> Result<Passed, Box<Refused>> {
    let mut last = Err(Box::new(Refused {
        plan: FusionPlan::default(),
        refusals: Vec::new(),
    }));
    for draft in drafts {
        last = match draft {
            Draft::Plan(plan) => analysis.facts.judge(plan).map(Passed::Plan),
            Draft::Groups(groups) => analysis.plan_of(groups).map(Passed::Plan),
            Draft::Program(found) => Ok(Passed::Program(found)),
        };
        if last.is_ok() {
            break;
        }
    }
    last
}

/// The plan without groups that code generation left out.
fn left_out(analysis: &Analysis, left_out: &[usize]) -> Option<Revision> {
    if left_out.is_empty() {
        return None;
    }
    let Facts { graph, models, .. } = &analysis.facts;
    let plan = analysis.plan.plan();
    let mut missed = Vec::new();
    let mut kept = FusionPlan {
        batched_regions: plan.batched_regions.clone(),
        ..FusionPlan::default()
    };
    for (index, group) in plan.groups.iter().enumerate() {
        if left_out.contains(&index) {
            missed.extend(schedule::left_out(graph, models, group));
            let member = |launch| group.members.iter().any(|member| member.launch == launch);
            for region in &mut kept.batched_regions {
                region
                    .statements
                    .retain(|statement| !member(statement.launch));
            }
        } else {
            kept.groups.push(group.clone());
        }
    }
    if analysis.options.reserves_memory {
        kept.dead_buffers = find_dead_buffers(graph, models, &kept);
    }
    Some(Revision {
        drafts: vec![Draft::Plan(kept)],
        changes: Box::new(|analysis| analysis.miss(missed)),
        otherwise: Otherwise::Bug,
        then: &[],
    })
}

/// What is emitted of a plan: the images of sources, and that of the plan's groups, where it has any.
pub(super) struct Emittable {
    pub(super) units: UnitImages,
    pub(super) fused: Option<Result<FusedImage, CodegenError>>,
}

/// Has the kernels of a plan made, which may have it made again. Gives what is linked, of which the images of sources
/// have been begun; without these, ptxas has its say and nothing is linked.
///
/// # Errors
/// As [`Replanner::replan`]; images of sources cannot be made.
pub(super) fn make_kernels<'ctx>(
    program: &mut Program<'ctx>,
    analysis: &mut Analysis,
    session: Session<'_>,
    linked: Option<Made<'_, 'ctx>>,
    outcome: &mut Outcome,
) -> Result<Option<Emittable>, PipelineError> {
    let for_ptxas = images::build_for_ptxas(session, analysis, linked.is_some());
    let bench = for_ptxas.as_ref();
    let bench = bench.map(|build| Workbench::new(build, session.toolchain));
    let bench = bench.transpose()?;
    let mut replanner = Replanner {
        images: Some(Images::new(program, session, linked, bench.as_ref())),
        program,
        session,
        outcome,
    };
    replanner.replan(analysis, Cause::OF_KERNELS)?;
    let Some(mut images) = replanner.images else {
        return Ok(None);
    };
    images.finish(replanner.program, analysis)?;
    Ok(images.take())
}
