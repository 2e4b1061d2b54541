//! The launches of a program as a [`FusionProblem`].
//!
//! Invariant: node n of the problem is the n-th launch of [`LaunchProblem::launches`], which are all launches of the
//! program in host order. Launches that stay as they are, or of which nothing is known, are opaque.

use super::figures::Figures;
use super::kernel_times::KernelTimes;
use super::model::LaunchFigures;
use crate::dependence::Scope;
use crate::kernel::{KernelModel, class_of};
use crate::launch::{BufferId, LaunchGraph, LaunchId, NodeKind};
use crate::planner::file::VERSION;
use crate::planner::{
    self, Answer, Class, DeviceFigures, Edge, EdgeKind, FusionProblem, Operator, Pattern,
    Unanswered,
};
use crate::program::KernelId;
use crate::schedule::occupancy::Capability;
use crate::schedule::{FusionGroup, Patterns};
use std::collections::{BTreeMap, BTreeSet};

/// A problem, and which launch each of its nodes is.
#[derive(Clone, Debug)]
pub struct LaunchProblem {
    /// What planners are given.
    pub problem: FusionProblem,
    /// By node.
    pub launches: Vec<LaunchId>,
}

impl LaunchProblem {
    /// The launches of a pattern.
    pub fn launches_of(&self, pattern: &[usize]) -> Vec<LaunchId> {
        pattern.iter().map(|node| self.launches[*node]).collect()
    }

    /// The pattern of launches.
    pub fn pattern_of(&self, group: &FusionGroup) -> Pattern {
        let launches: BTreeSet<LaunchId> =
            group.members.iter().map(|member| member.launch).collect();
        let nodes = self.launches.iter().enumerate();
        let nodes = nodes.filter(|(_, launch)| launches.contains(launch));
        nodes.map(|(node, _)| node).collect()
    }
}

/// The problem of a program, whose `greedy` grouping is known, each group with what it takes, the launch included. Launches
/// of `fixed` stay as they are.
pub fn fusion_problem(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    (times, figures): (&KernelTimes<'_>, &Figures),
    patterns: &Patterns<'_>,
    (greedy, fixed): (&[(&FusionGroup, f64)], &BTreeSet<LaunchId>),
) -> LaunchProblem {
    let all = patterns.launches();
    let launches: Vec<LaunchId> = all.iter().map(|(launch, _)| *launch).collect();
    let kernel_of: BTreeMap<LaunchId, &KernelModel> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, kernels.get(launch.kernel?.0)?)),
            _ => None,
        })
        .collect();
    let known: Vec<Option<LaunchFigures>> = launches
        .iter()
        .map(|launch| times.model().figures_of(*launch))
        .collect();
    let mut classes: BTreeMap<KernelId, Class> = BTreeMap::new();
    let nodes = all.iter().zip(&known).map(|((launch, may_join), known)| {
        let kernel = kernel_of.get(launch);
        let name = kernel.map_or(String::new(), |kernel| kernel.display_name.clone());
        let class = match kernel {
            Some(kernel) if *may_join && !fixed.contains(launch) => {
                *classes.entry(kernel.id).or_insert_with(|| class_of(kernel))
            }
            _ => Class::Opaque,
        };
        let nanoseconds = times.single_launch(*launch) - times.launch_nanoseconds();
        let Some(known) = known else {
            return Operator {
                name,
                ..Operator::default()
            };
        };
        Operator {
            name,
            class,
            work: known.instructions,
            bytes: known.bytes,
            blocks: known.blocks,
            threads: Some(known.threads),
            shared_bytes: known.shared_bytes,
            // What only ptxas knows, it says later.
            registers: None,
            block_nanoseconds: known.block_nanoseconds,
            nanoseconds: Some(nanoseconds.max(0.0)),
        }
    });
    let mut made = LaunchProblem {
        problem: FusionProblem {
            version: VERSION,
            device: device_of(figures),
            nodes: nodes.collect(),
            edges: edges(&launches, &known, patterns),
            greedy: None,
            answers: Vec::new(),
            unanswered: Unanswered::Refused,
        },
        launches,
    };
    let mut of_greedy = Vec::new();
    for (group, nanoseconds) in greedy {
        let mut members = group.members.iter();
        if group.members.len() < 2 || members.any(|member| fixed.contains(&member.launch)) {
            continue;
        }
        let pattern = made.pattern_of(group);
        made.problem.answers.push(Answer {
            pattern: pattern.clone(),
            nanoseconds: Some((nanoseconds - times.launch_nanoseconds()).max(0.0)),
        });
        of_greedy.push(pattern);
    }
    made.problem.greedy = Some(of_greedy);
    made
}

fn edges(
    launches: &[LaunchId],
    known: &[Option<LaunchFigures>],
    patterns: &Patterns<'_>,
) -> Vec<Edge> {
    let place: BTreeMap<LaunchId, usize> = launches
        .iter()
        .enumerate()
        .map(|(node, launch)| (*launch, node))
        .collect();
    let loads = |node: usize| {
        known[node]
            .iter()
            .flat_map(|known| &known.touched)
            .filter(|((_, load), _)| *load)
    };
    let stores = |node: usize| -> BTreeSet<BufferId> {
        let touched = known[node].iter().flat_map(|known| &known.touched);
        touched
            .filter(|((_, load), _)| !load)
            .map(|((buffer, _), _)| *buffer)
            .collect()
    };
    let mut edges = Vec::new();
    let mut related: BTreeSet<(usize, usize)> = BTreeSet::new();
    for relation in patterns.relations() {
        let (Some(source), Some(sink)) = (place.get(&relation.source), place.get(&relation.sink))
        else {
            continue;
        };
        let made = stores(*source);
        let flowing = loads(*sink).filter(|((buffer, _), _)| made.contains(buffer));
        related.insert((*source, *sink));
        edges.push(Edge {
            source: *source,
            sink: *sink,
            kind: match relation.flows {
                true => EdgeKind::Flow,
                false => EdgeKind::Order,
            },
            bytes: match relation.flows {
                true => flowing.map(|(_, bytes)| *bytes).sum(),
                false => 0.0,
            },
            scope: match relation.scope {
                Scope::Thread => planner::Scope::Thread,
                Scope::Block => planner::Scope::Block,
                Scope::Global => planner::Scope::Global,
            },
            temporary: false,
        });
    }
    // Who loads the same as the one before.
    let mut latest: BTreeMap<BufferId, (usize, f64)> = BTreeMap::new();
    let mut shared: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for node in 0..launches.len() {
        for ((buffer, _), bytes) in loads(node) {
            let before = latest.insert(*buffer, (node, *bytes));
            if let Some((other, theirs)) =
                before.filter(|(other, _)| !related.contains(&(*other, node)))
            {
                *shared.entry((other, node)).or_default() += bytes.min(theirs);
            }
        }
        for buffer in stores(node) {
            latest.remove(&buffer);
        }
    }
    edges.extend(shared.into_iter().map(|((source, sink), bytes)| Edge {
        source,
        sink,
        kind: EdgeKind::Shared,
        bytes,
        scope: planner::Scope::Thread,
        temporary: false,
    }));
    edges
}

fn device_of(figures: &Figures) -> DeviceFigures {
    let usual = DeviceFigures::default();
    let capability = Capability::of(figures.capability);
    DeviceFigures {
        launch_nanoseconds: figures.launch_nanoseconds,
        bytes_per_nanosecond: figures.bytes_per_nanosecond,
        half_rate_bytes: figures.half_rate_bytes,
        instructions_per_nanosecond: figures.instructions_per_nanosecond,
        multiprocessors: figures.multiprocessors,
        warps: capability.map_or(usual.warps, |device| device.warps().into()),
        shared_bytes: capability.map_or(usual.shared_bytes, |device| device.shared_bytes.into()),
        shared_bytes_per_block: capability.map_or(usual.shared_bytes_per_block, |device| {
            device.shared_bytes_per_block.into()
        }),
        registers: usual.registers,
    }
}
