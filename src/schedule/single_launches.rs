//! Launches that fuse with nothing and still gain from what the host knows: several of their pointers point into
//! one allocation, at distances that are constants, so that one of them is enough; or a number that they are given is a constant, and
//! says how often a loop of the kernel repeats, or what it divides by.
//!
//! Invariant: such a launch is a group of one member, which does what the launch does, and nothing moves.

use super::group::Judge;
use super::obstacle::{Candidate, candidate};
use super::{FusionGroup, FusionPlan, Missed, ScheduleOptions};
use crate::build::Fusion;
use crate::dependence::DependenceGraph;
use crate::kernel::{KernelModel, KernelSymbol};
use crate::launch::{LaunchGraph, LaunchId};
use crate::math::affine::{Affine, Constraint, Variable};
use crate::math::expression::Expression;
use std::collections::BTreeSet;

/// For so many launches of a program kernels with their constants are made at most.
const MOST_LAUNCHES: usize = 16;
/// A loop that repeats more often is no other one for that.
const MOST_ITERATIONS: i64 = 64;

/// Makes groups of one launch each of those that a plan leaves as they are, whose kernels are told by constants what they do.
pub fn plan_host_constants(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
    (plan, _): (&mut FusionPlan, &mut Vec<Missed>),
) {
    // A number of fusions is for bisection. What overlaps, or waits for graphs, is a launch of its own.
    let unwanted = dependences.cut_short || options.max_fusions.is_some();
    let elsewhere = options.overlap || options.graphs || options.fusion != Fusion::All;
    if !options.host_constants || unwanted || elsewhere {
        return;
    }
    let taken = taken(plan);
    let launches = graph.nodes.iter().filter_map(|node| {
        let candidate = candidate(graph, kernels, node.id).ok()?;
        let own = candidate.launch.id;
        let is_set = graph.operation_of(own).is_some();
        (!is_set && !taken.contains(&own) && is_told_by_constants(graph, &candidate))
            .then_some(candidate)
    });
    let launches: Vec<Candidate> = launches.take(MOST_LAUNCHES).collect();
    if launches.is_empty() {
        return;
    }
    let judge = Judge::new(graph, kernels, dependences, options);
    let launches = launches
        .iter()
        .filter(|candidate| judge.conditions_hold(&[**candidate]).is_ok());
    let single: Vec<FusionGroup> = launches.map(|launch| judge.single(launch)).collect();
    plan.groups.extend(single);
    plan.sort_groups(graph);
}

/// Launches that are in groups, or wait.
fn taken(plan: &FusionPlan) -> BTreeSet<LaunchId> {
    let members = plan.groups.iter().flat_map(|group| &group.members);
    let regions = plan
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements);
    members
        .map(|member| member.launch)
        .chain(regions.map(|statement| statement.launch))
        .collect()
}

/// Whether a constant that the launch passes bounds a loop of the kernel, or is what it divides by.
fn is_told_by_constants(graph: &LaunchGraph, candidate: &Candidate<'_>) -> bool {
    let model = candidate.model;
    let constant = |parameter: usize| {
        let Some(Expression::Leaf(KernelSymbol::Argument {
            argument,
            offset_bytes: 0,
            ..
        })) = model.parameters.get(parameter)
        else {
            return None;
        };
        let pieces = &candidate.launch.arguments.get(*argument)?.pieces;
        let piece = pieces.iter().find(|piece| piece.offset_bytes == 0)?;
        graph.values[piece.value.0].constant
    };
    let constants = |affine: &Affine| -> Vec<i64> {
        let variables = affine.terms.iter().map(|(_, variable)| variable);
        let parameters = variables.filter_map(|variable| match variable {
            Variable::Parameter(parameter) => constant(*parameter),
            _ => None,
        });
        parameters.collect()
    };
    let is_loop = |index: usize| {
        let each = model.loops.get(index);
        each.is_some_and(|each| each.quotient.is_none() && each.unknown.is_none())
    };
    let rows = model.accesses.iter().flat_map(|access| &access.domain);
    let mut rows = rows.flatten().map(|constraint| match constraint {
        Constraint::NonNegative(row) | Constraint::Zero(row) => row,
    });
    let bounds = rows.any(|row| {
        let mut variables = row.terms.iter().map(|(_, variable)| variable);
        let counts = variables.any(|each| matches!(each, Variable::Loop(at) if is_loop(*at)));
        counts
            && constants(row)
                .iter()
                .any(|count| (0..=MOST_ITERATIONS).contains(count))
    });
    let mut quotients = model.loops.iter().filter_map(|each| each.quotient.as_ref());
    // How often a loop repeats that touches no memory the model does not say.
    let touches = |index: &usize| {
        let mut accesses = model.accesses.iter();
        accesses.any(|access| access.loops.contains(index))
    };
    let computes = (0..model.loops.len()).any(|index| is_loop(index) && !touches(&index));
    let small = || {
        let arguments = candidate.launch.arguments.iter();
        let mut pieces = arguments.flat_map(|argument| &argument.pieces);
        pieces.any(|piece| {
            let constant = graph.values[piece.value.0].constant;
            piece.pointer.is_none()
                && constant.is_some_and(|count| (0..=MOST_ITERATIONS).contains(&count))
        })
    };
    bounds
        || quotients.any(|quotient| !constants(&quotient.divisor).is_empty())
        || computes && small()
}

impl Judge<'_> {
    /// Groups of one launch each for those of `candidates` that the plan leaves alone, at most so many.
    pub(super) fn single_launches(
        &self,
        plan: &FusionPlan,
        candidates: &[Candidate<'_>],
        most: usize,
    ) -> Vec<FusionGroup> {
        let taken = taken(plan);
        let single = candidates.iter().filter(|candidate| {
            self.graph.operation_of(candidate.launch.id).is_none()
                && !taken.contains(&candidate.launch.id)
                && shares_a_base(self, candidate)
                && self.conditions_hold(&[**candidate]).is_ok()
        });
        single
            .take(most)
            .map(|candidate| self.single(candidate))
            .collect()
    }

    fn single(&self, candidate: &Candidate<'_>) -> FusionGroup {
        FusionGroup {
            // What it stores it stores, as the report has no place to say otherwise.
            unread_afterwards: Vec::new(),
            ..self.finish(&[*candidate], |_| 0)
        }
    }
}

/// Whether two pointers of the launch are a constant apart.
fn shares_a_base(judge: &Judge<'_>, candidate: &Candidate<'_>) -> bool {
    let arguments = 0..candidate.launch.arguments.len();
    let mut roots = Vec::new();
    let places =
        arguments.filter_map(|argument| judge.graph.place_of(candidate.launch, argument, 0));
    for (pointer, _) in places {
        if roots.contains(&&pointer.root) {
            return true;
        }
        roots.push(&pointer.root);
    }
    false
}
