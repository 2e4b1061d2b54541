//! The report of what was found out about a program, and of what was made of it.

use super::facts::{Analysis, Facts};
use crate::build::Build;
use crate::report::{self, Report};
use crate::schedule::batch_orders;
use std::path::PathBuf;

impl Analysis {
    pub(super) fn report(&self, build: &Build) -> Report {
        let plan = self.plan.plan();
        let Facts {
            graph,
            models,
            dependences,
        } = &self.facts;
        let missed = &self.missed;
        let mut report =
            report::build_report(graph, models, dependences, plan, missed, &self.seconds);
        let orders = batch_orders(graph, models, dependences, &self.options, plan);
        report.add_batched_regions(&orders);
        report.add_reservations(graph, &self.reserved);
        report.add_handed_on(graph, &self.handed_on);
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
            // Several groups may begin with one launch.
            let last = group.members.last();
            let figures = last.and_then(|last| self.occupancy.get(&last.launch));
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
