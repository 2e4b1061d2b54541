//! Parts of a planned group as groups of their own, when the whole asks too much of the device.

use super::super::boundaries::fallback::fallback;
use super::super::group::Judge;
use super::super::obstacle::{Candidate, candidate};
use super::super::{FusionGroup, Layout, Missed, ScheduleOptions, TestedCopy, ThreadMap};
use crate::dependence::DependenceGraph;
use crate::diagnostics::{Rejection, RejectionReason};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeId};
use std::collections::HashMap;

/// Makes groups of given launches.
pub struct Regrouper<'a> {
    judge: Judge<'a>,
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    nodes: HashMap<LaunchId, NodeId>,
}

impl<'a> Regrouper<'a> {
    /// `kernels` is indexed by [`KernelId`](crate::program::KernelId).
    pub fn new(
        graph: &'a LaunchGraph,
        kernels: &'a [KernelModel],
        dependences: &'a DependenceGraph,
        options: &'a ScheduleOptions,
    ) -> Self {
        let nodes = graph.launches();
        Self {
            judge: Judge::new(graph, kernels, dependences, options),
            graph,
            kernels,
            nodes: nodes.collect(),
        }
    }

    /// A group of exactly these members of `whole`, given as positions; `None` when they are fewer than two, or cannot be
    /// one without the others. Only groups in which every thread stays where it is are taken apart, and cooperative ones
    /// between their phases.
    pub fn part(
        &mut self,
        whole: &FusionGroup,
        members: std::ops::Range<usize>,
    ) -> Option<FusionGroup> {
        let identity = |group: &FusionGroup| {
            group
                .members
                .iter()
                .all(|member| member.map == ThreadMap::Identity)
        };
        let range = members.clone();
        let launches = whole
            .members
            .get(members)
            .filter(|launches| launches.len() > 1)?;
        if !identity(whole) {
            return None;
        }
        let members: Vec<Candidate<'a>> = launches
            .iter()
            .map(|member| {
                let node = *self.nodes.get(&member.launch)?;
                candidate(self.graph, self.kernels, node).ok()
            })
            .collect::<Option<_>>()?;
        if whole.recomputation.is_some() {
            return None;
        }
        if let Some(first) = whole.last_block
            && range.start < first
            && first < range.end
        {
            return None;
        }
        let between = |copy: &TestedCopy| range.start < copy.after && copy.after < range.end;
        if let Some(tested) = &whole.tested_loop
            && tested.copies.iter().any(between)
        {
            return None;
        }
        if whole.is_cooperative() {
            let inside =
                |phase: &std::ops::Range<usize>| phase.start < range.end && range.start < phase.end;
            let phases: Vec<_> = whole.phases().into_iter().filter(inside).collect();
            let (first, last) = phases.first().zip(phases.last())?;
            let is_whole = first.start == range.start && last.end == range.end;
            let lengths: Vec<usize> = phases.iter().map(|phase| phase.len()).collect();
            let mut part = is_whole.then(|| self.judge.of_phases(&members, &lengths))??;
            if part.is_cooperative() {
                part.fallback = fallback(&part, &whole.fallback);
            }
            return Some(part);
        }
        for count in 2..=members.len() {
            let (last, before) = members[..count].split_last()?;
            self.judge.may_join(&[before], *last).ok()?;
        }
        Some(self.judge.finish(&members, |_| 0))
    }

    /// A group as it was planned in another layout, the one of this name; `None` when it does not have
    /// that.
    pub fn laid_out(&self, group: &FusionGroup, name: &str) -> Option<FusionGroup> {
        let members = group.members.iter().map(|member| {
            let node = *self.nodes.get(&member.launch)?;
            candidate(self.graph, self.kernels, node).ok()
        });
        let members: Vec<Candidate<'a>> = members.collect::<Option<_>>()?;
        // It has one layout.
        if group.is_partial() {
            return None;
        }
        let partitions = group.partitions();
        let planned = |member: &Candidate| {
            let is_own = |at: &usize| group.members[*at].launch == member.launch.id;
            partitions
                .iter()
                .position(|partition| partition.iter().any(is_own))
                .unwrap_or(0)
        };
        let layout = Layout::named(name);
        let made = self.judge.finish_as(&members, planned, layout);
        (made.layout == name).then_some(FusionGroup {
            layouts: group.layouts.clone(),
            ..made
        })
    }

    /// The members on both sides of a cut stay unfused, with this message.
    pub fn cut(&self, whole: &FusionGroup, position: usize, message: &str) -> Option<Missed> {
        let node = |at: usize| self.nodes.get(&whole.members.get(at)?.launch).copied();
        let (source, sink) = (node(position.checked_sub(1)?)?, node(position)?);
        Some(Missed {
            source,
            sink,
            carried: false,
            rejection: Rejection {
                reason: RejectionReason::Resources,
                message: message.to_owned(),
                detail: String::new(),
                location: self.graph.nodes[sink.0].location.clone(),
            },
        })
    }
}
