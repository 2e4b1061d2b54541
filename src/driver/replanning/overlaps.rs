//! Launches that begin before the one before them has ended, added to a plan that is made.
//!
//! Invariant: what is added passes the verifier with the rest of the plan, or nothing is added.

use super::super::facts::{Analysis, Facts};
use super::{Draft, Otherwise, Revision};
use crate::build::{Boundary, Build};
use crate::report::ReportOverlaps;
use crate::schedule::{FusionPlan, overlap_launches, without_overlaps};
use crate::verify::VerifiedPlan;

/// The plan with what may overlap.
pub(super) fn revision(analysis: &Analysis) -> Option<Revision> {
    Some(Revision {
        drafts: vec![Draft::Plan(with_overlaps(analysis, analysis.plan.plan())?)],
        changes: Box::new(|_| ()),
        otherwise: Otherwise::Check {
            what: "launches that overlap",
            consequence: "no launch begins before the one before it has ended",
        },
        then: &[],
    })
}

impl Analysis {
    /// The plan with what overlaps, or as it is where the verifier refuses that.
    pub(super) fn overlapped(&self, plan: VerifiedPlan) -> VerifiedPlan {
        let whole = with_overlaps(self, plan.plan());
        let passed = whole.and_then(|whole| self.facts.judge(whole).ok());
        passed.unwrap_or(plan)
    }
}

/// `None` where nothing is to be added.
fn with_overlaps(analysis: &Analysis, plan: &FusionPlan) -> Option<FusionPlan> {
    if !analysis.options.overlap {
        return None;
    }
    let Facts {
        graph,
        models,
        dependences,
    } = &analysis.facts;
    let plain = without_overlaps(plan);
    let (whole, _) = overlap_launches(graph, models, dependences, &analysis.options, &plain);
    (whole != *plan).then_some(whole)
}

/// Why nothing overlaps at all; `None` where it may.
pub(in crate::driver) fn obstacle(build: &Build) -> Option<String> {
    /// The oldest architecture that has `griddepcontrol`, as `sm_90`.
    const OLDEST: u32 = 90;
    if !build.sirius.boundaries.contains(&Boundary::Overlap) {
        return Some(String::from("--sirius-boundaries=overlap is not given"));
    }
    if !build.fuses() {
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
        let Facts {
            graph,
            models,
            dependences,
        } = &self.facts;
        let plan = self.plan.plan();
        let plain = without_overlaps(plan);
        let (_, in_turn) = overlap_launches(graph, models, dependences, &self.options, &plain);
        let said = (obstacle(build), in_turn.as_slice());
        Some(ReportOverlaps::of(graph, models, plan, said))
    }
}
