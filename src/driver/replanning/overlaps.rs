//! Launches that begin before the one before them has ended, added to a plan that is made.
//!
//! Invariant: what is added passes the verifier with the rest of the plan, or nothing is added.

use super::super::outcome::{self, Outcome, PipelineError};
use super::super::{Analysis, Build};
use crate::build::{Boundary, Fusion};
use crate::report::ReportOverlaps;
use crate::schedule::{overlap_launches, without_overlaps};
use crate::verify::{Refusal, VerifiedPlan, verify};

/// Adds what may overlap to the plan.
///
/// # Errors
/// With `SIRIUS_STRICT` set it is fatal when the verifier refuses that.
pub(in crate::driver) fn add(
    mut analysis: Analysis,
    build: &Build,
    outcome: &mut Outcome,
) -> Result<Analysis, PipelineError> {
    match with_overlaps(&analysis, analysis.plan.clone()) {
        Ok(plan) => analysis.plan = plan,
        Err((plan, refusals)) => {
            let sentences: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
            let reason = format!(
                "the verifier refuses launches that overlap: {}",
                sentences.join("; ")
            );
            let consequence = "no launch begins before the one before it has ended";
            let (graph, models) = (&analysis.graph, &analysis.models);
            let said = (reason.as_str(), consequence);
            outcome::failed_check(outcome, build, said, graph, models, &plan)?;
        }
    }
    Ok(analysis)
}

impl Analysis {
    /// The plan with what overlaps, or as it is where the verifier refuses that.
    pub(in crate::driver) fn overlapped(&self, plan: VerifiedPlan) -> VerifiedPlan {
        let as_it_is = plan.clone();
        with_overlaps(self, plan).unwrap_or(as_it_is)
    }
}

/// A plan that was refused, and why.
type Refused = (crate::schedule::FusionPlan, Vec<Refusal>);

fn with_overlaps(analysis: &Analysis, plan: VerifiedPlan) -> Result<VerifiedPlan, Refused> {
    if !analysis.options.overlap {
        return Ok(plan);
    }
    let (graph, models) = (&analysis.graph, &analysis.models);
    let plain = without_overlaps(plan.plan());
    let (whole, _) = overlap_launches(
        graph,
        models,
        &analysis.dependences,
        &analysis.options,
        &plain,
    );
    if whole == *plan.plan() {
        return Ok(plan);
    }
    verify(graph, models, whole.clone()).map_err(|refusals| (whole, refusals))
}

/// Why nothing overlaps at all; `None` where it may.
pub(in crate::driver) fn obstacle(build: &Build) -> Option<String> {
    /// The oldest architecture that has `griddepcontrol`, as `sm_90`.
    const OLDEST: u32 = 90;
    if !build.sirius.boundaries.contains(&Boundary::Overlap) {
        return Some(String::from("--sirius-boundaries=overlap is not given"));
    }
    if build.device_debug || build.sirius.fusion == Fusion::Off {
        return Some(String::from("fusion is switched off"));
    }
    if build.sirius.tuning.timed {
        return Some(String::from("the program times its launches"));
    }
    let oldest = build.architectures.iter().map(|each| each.number).min();
    let old = oldest.filter(|number| *number < OLDEST);
    old.map(|number| {
        format!("sm_{number} has no programmatic dependent launch, which begins with sm_{OLDEST}")
    })
}

impl Analysis {
    /// What a report says of launches that overlap, where that was asked for.
    pub(in crate::driver) fn report_overlaps(&self, build: &Build) -> Option<ReportOverlaps> {
        if !build.sirius.boundaries.contains(&Boundary::Overlap) {
            return None;
        }
        let (graph, models, plan) = (&self.graph, &self.models, self.plan.plan());
        let plain = without_overlaps(plan);
        let (_, in_turn) =
            overlap_launches(graph, models, &self.dependences, &self.options, &plain);
        let said = (obstacle(build), in_turn.as_slice());
        Some(ReportOverlaps::of(graph, models, plan, said))
    }
}
