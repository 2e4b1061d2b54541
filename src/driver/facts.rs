//! What the stages before code generation found out.

use super::outcome::PipelineError;
use crate::codegen::{Emitted, HandedOn};
use crate::dependence::DependenceGraph;
use crate::kernel::KernelModel;
use crate::launch::{BufferId, LaunchGraph, LaunchId};
use crate::report::ReportPlanning;
use crate::schedule::resources::GroupOccupancy;
use crate::schedule::{FusionPlan, Missed, ScheduleOptions};
use crate::stage::Stage;
use crate::verify::{Refusal, VerifiedPlan, verify};
use std::collections::BTreeMap;

/// What is known of a program: host code, device code, and how launches depend on each other.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) graph: LaunchGraph,
    pub(super) models: Vec<KernelModel>,
    pub(super) dependences: DependenceGraph,
}

/// A plan that the verifier refuses, and why.
pub(super) struct Refused {
    pub(super) plan: FusionPlan,
    pub(super) refusals: Vec<Refusal>,
}

impl Facts {
    /// Has the verifier judge a plan. Every plan of a run, and every question about one, comes here: nothing else in the
    /// driver asks the verifier.
    ///
    /// # Errors
    /// It refuses.
    pub(super) fn judge(&self, plan: FusionPlan) -> Result<VerifiedPlan, Box<Refused>> {
        verify(&self.graph, &self.models, plan.clone())
            .map_err(|refusals| Box::new(Refused { plan, refusals }))
    }

    /// The plan that does nothing.
    ///
    /// # Errors
    /// Never in practice: nothing speaks against doing nothing.
    pub(super) fn unfused(&self) -> Result<VerifiedPlan, PipelineError> {
        self.judge(FusionPlan::default())
            .map_err(|_| PipelineError::Bug("the verifier refuses the empty plan".into()))
    }
}

impl Refused {
    /// That the verifier refuses something, and its reasons.
    pub(super) fn reason(&self, what: &str) -> String {
        let sentences: Vec<String> = self.refusals.iter().map(Refusal::to_string).collect();
        format!("the verifier refuses {what}: {}", sentences.join("; "))
    }
}

/// What the planners propose, before anybody has judged it.
pub(super) struct Proposed {
    pub(super) plan: FusionPlan,
    pub(super) missed: Vec<Missed>,
    /// Who chose the groups.
    pub(super) planning: Option<ReportPlanning>,
    pub(super) options: ScheduleOptions,
}

/// A program with the plan for it.
pub(super) struct Analysis {
    pub(super) facts: Facts,
    pub(super) plan: VerifiedPlan,
    pub(super) missed: Vec<Missed>,
    /// Who chose the groups.
    pub(super) planning: Option<ReportPlanning>,
    pub(super) options: ScheduleOptions,
    /// By a group's first member, what its fused kernel leaves unwritten.
    pub(super) unwritten: BTreeMap<LaunchId, Vec<BufferId>>,
    /// By the launches that store them, what blocks of cooperative launches store and load in a later phase.
    pub(super) handed_on: Vec<(LaunchId, HandedOn)>,
    /// Allocations that take no memory before an original launch needs it.
    pub(super) reserved: Vec<BufferId>,
    /// By a group's last member, how it fares on each architecture, where ptxas was asked.
    pub(super) occupancy: BTreeMap<LaunchId, Vec<GroupOccupancy>>,
    /// By a group's first member, the name of the variant that was chosen.
    pub(super) tuned: BTreeMap<LaunchId, String>,
    pub(super) seconds: Vec<(Stage, f64)>,
}

impl Analysis {
    /// A program with a plan that has just been judged.
    pub(super) fn new(facts: Facts, plan: VerifiedPlan, proposed: Proposed) -> Self {
        Self {
            facts,
            plan,
            missed: proposed.missed,
            planning: proposed.planning,
            options: proposed.options,
            unwritten: BTreeMap::new(),
            handed_on: Vec::new(),
            reserved: Vec::new(),
            occupancy: BTreeMap::new(),
            tuned: BTreeMap::new(),
            seconds: Vec::new(),
        }
    }

    /// Adds launches that stay apart, in the order of the source.
    pub(super) fn miss(&mut self, missed: impl IntoIterator<Item = Missed>) {
        self.missed.extend(missed);
        self.missed.sort_by_key(|missed| missed.source);
    }

    /// Notes what code generation made of the plan, and how long all took.
    pub(super) fn take_effects_of_code(&mut self, emitted: &Emitted, seconds: Vec<(Stage, f64)>) {
        let groups = &self.plan.plan().groups;
        let unwritten = emitted.unwritten.iter();
        self.unwritten = unwritten
            .map(|(group, buffers)| (groups[*group].members[0].launch, buffers.clone()))
            .collect();
        self.handed_on.clone_from(&emitted.handed_on);
        self.reserved.clone_from(&emitted.reserved);
        self.seconds = seconds;
    }
}
