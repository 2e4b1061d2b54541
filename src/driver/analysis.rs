//! What the stages before code generation found out, and the report of it.

use super::PipelineError;
use crate::build::Build;
use crate::dependence::DependenceGraph;
use crate::kernel::KernelModel;
use crate::launch::{BufferId, LaunchGraph, LaunchId};
use crate::report::{self, Report, ReportPlanning};
use crate::schedule::resources::GroupOccupancy;
use crate::schedule::{self, FusionPlan, Missed, ScheduleOptions, batch_orders, find_dead_buffers};
use crate::stage::Stage;
use crate::verify::{VerifiedPlan, verify};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the stages before code generation found out.
pub(super) struct Analysis {
    pub(super) graph: LaunchGraph,
    pub(super) models: Vec<KernelModel>,
    pub(super) dependences: DependenceGraph,
    pub(super) plan: VerifiedPlan,
    pub(super) missed: Vec<Missed>,
    /// Who chose the groups.
    pub(super) planning: Option<ReportPlanning>,
    pub(super) options: ScheduleOptions,
    /// By a group's first member, what its fused kernel leaves unwritten.
    pub(super) unwritten: BTreeMap<LaunchId, Vec<BufferId>>,
    /// Allocations that take no memory before an original launch needs it.
    pub(super) reserved: Vec<BufferId>,
    /// By a group's first member, how it fares on each architecture, where ptxas was asked.
    pub(super) occupancy: BTreeMap<LaunchId, Vec<GroupOccupancy>>,
    /// By a group's first member, the name of the variant that was chosen.
    pub(super) tuned: BTreeMap<LaunchId, String>,
    pub(super) seconds: Vec<(Stage, f64)>,
}

impl Analysis {
    pub(super) fn report(&self, build: &Build) -> Report {
        let plan = self.plan.plan();
        let (graph, models, missed) = (&self.graph, &self.models, &self.missed);
        let mut report = report::build_report(
            graph,
            models,
            &self.dependences,
            plan,
            missed,
            &self.seconds,
        );
        let orders = batch_orders(graph, models, &self.dependences, &self.options, plan);
        report.add_batched_regions(&orders);
        report.add_reservations(graph, &self.reserved);
        report.planning.clone_from(&self.planning);
        report.overlaps = self.report_overlaps(build);
        let inputs: Vec<PathBuf> = build
            .inputs
            .iter()
            .map(|input| input.path.clone())
            .collect();
        report.spell_files_as(&inputs);
        let fused = plan.groups.iter().filter(|group| group.members.len() > 1);
        for (fusion, group) in report.fusions.iter_mut().zip(fused) {
            let first = group.members.first();
            let buffers = first.and_then(|first| self.unwritten.get(&first.launch));
            let names = buffers.into_iter().flatten();
            fusion.not_written = names
                .map(|buffer| graph.buffers[buffer.0].name.clone())
                .collect();
            let figures = first.and_then(|first| self.occupancy.get(&first.launch));
            fusion.resources = figures.cloned().unwrap_or_default();
            let chosen = first.and_then(|first| self.tuned.get(&first.launch));
            fusion.tuned = chosen.cloned();
            let asked = &build.sirius.layout;
            let there =
                ["auto", "v", "h"].contains(&asked.as_str()) || fusion.layouts.contains(asked);
            fusion.layout_not_there = (!there).then(|| asked.clone());
        }
        report
    }
}

/// What was found out, when code generation left groups of the plan out.
pub(super) fn without_groups(
    mut analysis: Analysis,
    left_out: &[usize],
) -> Result<Analysis, PipelineError> {
    if left_out.is_empty() {
        return Ok(analysis);
    }
    let (graph, models, plan) = (&analysis.graph, &analysis.models, analysis.plan.plan());
    let mut kept = FusionPlan {
        batched_regions: plan.batched_regions.clone(),
        ..FusionPlan::default()
    };
    for (index, group) in plan.groups.iter().enumerate() {
        if left_out.contains(&index) {
            let missed = schedule::left_out(graph, models, group);
            analysis.missed.extend(missed);
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
    analysis.missed.sort_by_key(|missed| missed.source);
    if analysis.options.reserves_memory {
        kept.dead_buffers = find_dead_buffers(graph, models, &kept);
    }
    analysis.plan = verify(graph, models, kept)
        .map_err(|_| PipelineError::Bug("the verifier refuses a part of a plan".into()))?;
    Ok(analysis)
}
