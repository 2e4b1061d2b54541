//! Launches that wait to be issued as graphs, added to a plan that is made.
//!
//! Invariant: what is added passes the verifier with the rest of the plan, or nothing is added.

use super::super::facts::Analysis;
use super::{Draft, Otherwise, Revision};
use crate::build::Fusion;
use crate::dependence::SharedMemory;
use crate::schedule::{FusionPlan, find_dead_buffers, plan_graph_regions};
use crate::verify::VerifiedPlan;

/// The plan with the regions whose launches wait for graphs alone.
pub(super) fn revision(analysis: &Analysis) -> Option<Revision> {
    Some(Revision {
        drafts: vec![Draft::Plan(with_regions(analysis, analysis.plan.plan())?)],
        changes: Box::new(|_| ()),
        otherwise: Otherwise::Check {
            what: "launches that wait for graphs",
            consequence: "only launches that wait for launch batches are issued as graphs",
        },
        then: &[],
    })
}

impl Analysis {
    /// The plan with what waits for graphs, or as it is where the verifier refuses that.
    pub(super) fn waiting_for_graphs(&self, plan: VerifiedPlan) -> VerifiedPlan {
        let whole = with_regions(self, plan.plan());
        let passed = whole.and_then(|whole| self.facts.judge(whole).ok());
        passed.unwrap_or(plan)
    }
}

/// `None` where nothing is to be added.
fn with_regions(analysis: &Analysis, plan: &FusionPlan) -> Option<FusionPlan> {
    let options = &analysis.options;
    if !options.graphs || options.fusion != Fusion::All {
        return None;
    }
    let (graph, models) = (&analysis.facts.graph, analysis.facts.models.as_slice());
    let mut whole = plan.clone();
    whole.batched_regions.retain(|region| !region.for_graphs);
    let known = (models, &SharedMemory::new(graph, models));
    let regions = plan_graph_regions(graph, known, &whole, options);
    whole.batched_regions.extend(regions);
    // What waits may run as it is written, and touches what no group would.
    if !whole.dead_buffers.is_empty() {
        whole.dead_buffers = find_dead_buffers(graph, models, &whole);
    }
    (whole != *plan).then_some(whole)
}
