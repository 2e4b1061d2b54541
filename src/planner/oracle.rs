//! Who is asked whether operators may share a kernel, and what that takes.
//!
//! Invariant: each pattern is asked about once; what follows from the problem alone (a pattern that is not convex, two
//! operators that no kernel holds) is not asked.

use super::contraction::{is_convex, successors};
use super::{Answer, Class, EdgeKind, FusionProblem, Pattern, Scope, Unanswered, estimate};
use std::collections::{BTreeMap, BTreeSet};

/// Says K(P) of an ascending pattern of two operators or more; `None` where no kernel can be made.
pub type Ask<'a> = Box<dyn FnMut(&[usize]) -> Option<f64> + 'a>;

/// A problem with its answers.
pub struct Oracle<'a> {
    problem: &'a FusionProblem,
    ask: Ask<'a>,
    answers: BTreeMap<Pattern, Option<f64>>,
    successors: Vec<Vec<usize>>,
    /// Pairs that no kernel holds.
    apart: BTreeSet<(usize, usize)>,
    /// K of each operator.
    alone: Vec<f64>,
    asked: usize,
}

impl<'a> Oracle<'a> {
    /// `ask` is asked what the problem has no answer to.
    pub fn new(problem: &'a FusionProblem, ask: Ask<'a>) -> Self {
        let known = problem.answers.iter();
        let global = problem
            .edges
            .iter()
            .filter(|edge| edge.scope == Scope::Global && edge.kind != EdgeKind::Shared);
        Self {
            problem,
            ask,
            answers: known
                .map(|answer| (answer.pattern.clone(), answer.nanoseconds))
                .collect(),
            successors: successors(problem),
            apart: global.map(|edge| (edge.source, edge.sink)).collect(),
            alone: (0..problem.nodes.len())
                .map(|node| estimate::alone(problem, node))
                .collect(),
            asked: 0,
        }
    }

    /// Of a problem that says everything itself.
    pub fn of_problem(problem: &'a FusionProblem) -> Self {
        Self::new(
            problem,
            match problem.unanswered {
                Unanswered::Refused => Box::new(|_| None),
                Unanswered::Estimated => Box::new(|pattern| estimate::together(problem, pattern)),
            },
        )
    }

    /// The problem.
    pub fn problem(&self) -> &'a FusionProblem {
        self.problem
    }

    /// For each node those that must run after it, by one edge.
    pub(super) fn successors(&self) -> &[Vec<usize>] {
        &self.successors
    }

    /// How often something new was asked.
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// K(P); `None` where no kernel can be made. `pattern` ascends.
    pub fn nanoseconds(&mut self, pattern: &[usize]) -> Option<f64> {
        if let [node] = pattern {
            return Some(self.alone[*node]);
        }
        if let Some(known) = self.answers.get(pattern) {
            return *known;
        }
        if !self.may_be_asked(pattern) {
            return None;
        }
        self.asked += 1;
        let answer = (self.ask)(pattern).filter(|time| time.is_finite() && *time >= 0.0);
        self.answers.insert(pattern.to_vec(), answer);
        answer
    }

    fn may_be_asked(&self, pattern: &[usize]) -> bool {
        let is_opaque = |node: &usize| self.problem.nodes[*node].class == Class::Opaque;
        let is_apart = |(at, one): (usize, &usize)| {
            let mut others = pattern[at + 1..].iter();
            others.any(|other| self.apart.contains(&(*one, *other)))
        };
        !pattern.is_empty()
            && !pattern.iter().any(is_opaque)
            && !pattern.iter().enumerate().any(is_apart)
            && is_convex(&self.successors, pattern)
    }

    /// Whether the answer is there, or follows from the problem alone.
    pub fn is_known(&self, pattern: &[usize]) -> bool {
        pattern.len() < 2 || self.answers.contains_key(pattern) || !self.may_be_asked(pattern)
    }

    /// f(P), in nanoseconds; `None` where no kernel can be made. `pattern` ascends.
    pub fn gain(&mut self, pattern: &[usize]) -> Option<f64> {
        let together = self.nanoseconds(pattern)?;
        let apart: f64 = pattern.iter().map(|node| self.alone[*node]).sum();
        let launches = pattern.len().saturating_sub(1) as f64;
        Some(apart + launches * self.problem.device.launch_nanoseconds - together)
    }

    /// What all kernels take with these patterns, launches included; no pattern of which no kernel can be made saves
    /// anything.
    pub fn nanoseconds_of_plan(&mut self, patterns: &[Pattern]) -> f64 {
        let launches = self.alone.len() as f64 * self.problem.device.launch_nanoseconds;
        let apart: f64 = self.alone.iter().sum::<f64>() + launches;
        let gains = patterns
            .iter()
            .map(|pattern| self.gain(pattern).unwrap_or(0.0));
        apart - gains.sum::<f64>()
    }

    /// All that was answered.
    pub fn answers(&self) -> Vec<Answer> {
        let answers = self.answers.iter();
        let answers = answers.map(|(pattern, nanoseconds)| Answer {
            pattern: pattern.clone(),
            nanoseconds: *nanoseconds,
        });
        answers.collect()
    }
}

/// Both patterns as one, ascending.
pub(super) fn union(one: &[usize], other: &[usize]) -> Pattern {
    let all: BTreeSet<usize> = one.iter().chain(other).copied().collect();
    all.into_iter().collect()
}
