//! Launches that wait to be issued as graphs, added to a plan that is made.
//!
//! Invariant: what is added passes the verifier with the rest of the plan, or nothing is added.

use super::super::outcome::{self, Outcome, PipelineError};
use super::super::{Analysis, Build};
use crate::build::Fusion;
use crate::dependence::SharedMemory;
use crate::schedule::{FusionPlan, plan_graph_regions};
use crate::verify::{Refusal, VerifiedPlan, verify};

/// Adds the regions whose launches wait for graphs alone to the plan.
///
/// # Errors
/// With `SIRIUS_STRICT` set it is fatal when the verifier refuses that.
pub(in crate::driver) fn add(
    mut analysis: Analysis,
    build: &Build,
    outcome: &mut Outcome,
) -> Result<Analysis, PipelineError> {
    match with_regions(&analysis, analysis.plan.clone()) {
        Ok(plan) => analysis.plan = plan,
        Err((plan, refusals)) => {
            let sentences: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
            let reason = format!(
                "the verifier refuses launches that wait for graphs: {}",
                sentences.join("; ")
            );
            let consequence = "only launches that wait for launch batches are issued as graphs";
            let (graph, models) = (&analysis.graph, &analysis.models);
            let said = (reason.as_str(), consequence);
            outcome::failed_check(outcome, build, said, graph, models, &plan)?;
        }
    }
    Ok(analysis)
}

impl Analysis {
    /// The plan with what waits for graphs, or as it is where the verifier refuses that.
    pub(in crate::driver) fn waiting_for_graphs(&self, plan: VerifiedPlan) -> VerifiedPlan {
        let as_it_is = plan.clone();
        with_regions(self, plan).unwrap_or(as_it_is)
    }
}

fn with_regions(
    analysis: &Analysis,
    plan: VerifiedPlan,
) -> Result<VerifiedPlan, (FusionPlan, Vec<Refusal>)> {
    let options = &analysis.options;
    if !options.graphs || options.fusion != Fusion::All {
        return Ok(plan);
    }
    let (graph, models) = (&analysis.graph, analysis.models.as_slice());
    let mut whole = plan.plan().clone();
    whole.batched_regions.retain(|region| !region.for_graphs);
    let known = (models, &SharedMemory::new(graph, models));
    let regions = plan_graph_regions(graph, known, &whole, options);
    whole.batched_regions.extend(regions);
    if whole == *plan.plan() {
        return Ok(plan);
    }
    verify(graph, models, whole.clone()).map_err(|refusals| (whole, refusals))
}
