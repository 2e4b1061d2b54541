//! The one question that the verifier asks of isl: is this set empty?

use crate::math::affine::{Affine, Axis, Constraint, Constraints};
use crate::math::formula::{self, Formula};
use crate::math::isl::{IslError, Set, System, with_operation_budget};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;

/// What a set speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::verify) enum Symbol {
    /// A product of host values, by number; or a value of a kernel.
    Parameter(usize),
    /// A block of an instance.
    Block(Instance, Axis),
    /// A thread of an instance.
    Thread(Instance, Axis),
    /// The counter of a loop of an instance.
    Loop(Instance, usize),
    /// A product of an instance's kernel.
    Product(Instance, usize),
    /// What a product of the instance is a multiple of, where it is compared with one of the other by these numbers.
    Single(Instance, [usize; 2]),
    /// The quotient of an instance's number by the length of a run.
    Run(Instance),
    /// The product of that quotient with the length.
    Begin(Instance),
}

/// One of two instances of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::verify) enum Instance {
    Source,
    Sink,
}

/// A sum of what a set speaks of.
pub(in crate::verify) type Sum = formula::Sum<Symbol>;

/// What holds of it.
pub(in crate::verify) type Condition = Formula<Symbol>;

/// A set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::verify) struct Points {
    pub(in crate::verify) parameters: Vec<Symbol>,
    pub(in crate::verify) variables: Vec<Symbol>,
    /// What holds for its points.
    pub(in crate::verify) condition: Condition,
}

impl Points {
    /// Whether there is none, by a search through the alternatives of the condition.
    ///
    /// # Errors
    /// Quota, or a condition with a number of more than 64 bits.
    fn searched(&self) -> Result<bool, IslError> {
        let mut system = System::new(&self.parameters, &self.variables);
        let rows = system.rows(&self.condition)?;
        let mut left = MOST_CONJUNCTIONS;
        let answer = system.is_empty_within(&rows, &mut left);
        ASKED.set(ASKED.get() + (MOST_CONJUNCTIONS - left) as u64);
        answer
    }

    /// Whether there is none, all alternatives at once.
    ///
    /// # Errors
    /// Quota, or a condition with a number of more than 128 bits.
    fn multiplied_out(&self) -> Result<bool, IslError> {
        Set::of(&self.parameters, &self.variables, &self.condition)?.is_empty()
    }
}

/// The points of constraints. `besides` says what else holds of a conjunction, and `sum` makes one of an expression, both
/// by way of the `builder`.
pub(in crate::verify) fn constraints_condition<B>(
    builder: &mut B,
    constraints: &Constraints,
    mut besides: impl FnMut(&mut B, &[Constraint]) -> Option<Vec<Condition>>,
    mut sum: impl FnMut(&mut B, &Affine) -> Option<Sum>,
) -> Option<Condition> {
    let mut alternatives = Vec::new();
    for conjunction in constraints {
        let mut parts = besides(builder, conjunction)?;
        for constraint in conjunction {
            parts.push(match constraint {
                Constraint::NonNegative(affine) => Formula::NonNegative(sum(builder, affine)?),
                Constraint::Zero(affine) => Formula::Zero(sum(builder, affine)?),
            });
        }
        alternatives.push(Formula::All(parts));
    }
    Some(Formula::Any(alternatives))
}

/// Whether the set is empty for all values of its parameters. `None` when isl
/// gave up or did not understand, and when the question is one that would take seconds: the caller
/// refuses. Layers of a network ask the same question
/// again and again, so answers are remembered.
pub(in crate::verify) fn is_empty(points: Points) -> Option<bool> {
    if let Some(known) = ANSWERS.with_borrow(|answers| answers.get(&points).copied()) {
        return known;
    }
    let answer = decide(&points);
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() >= MOST_ANSWERS {
            answers.clear();
        }
        answers.insert(points, answer);
    });
    answer
}

fn decide(points: &Points) -> Option<bool> {
    let (terms, quotients) = (points.condition.terms(), points.condition.quotients());
    let operations = (MOST_WORK / terms.max(1) as u64).min(MOST_OPERATIONS);
    let searched = with_operation_budget(operations / SEARCH_SHARE, || points.searched());
    if let Ok(answer) = searched {
        return Some(answer);
    }
    // What many alternatives make together may be little, which isl sees while it joins them.
    let ask = || points.multiplied_out().ok();
    (terms * (1 + quotients) <= MOST_TERMS)
        .then(|| with_operation_budget(operations, ask))
        .flatten()
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "s",
            Self::Sink => "t",
        })
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(number) => write!(f, "p{number}"),
            Self::Block(of, axis) => write!(f, "{of}b{}", axis.name()),
            Self::Thread(of, axis) => write!(f, "{of}t{}", axis.name()),
            Self::Loop(of, number) => write!(f, "{of}i{number}"),
            Self::Product(of, number) => write!(f, "{of}q{number}"),
            Self::Single(of, [one, other]) => write!(f, "{of}q{one}q{other}"),
            Self::Run(of) => write!(f, "{of}r"),
            Self::Begin(of) => write!(f, "{of}m"),
        }
    }
}

/// How much isl may be asked for what a plan can do without. Whoever has spent it takes what it did not ask for the worse.
pub(in crate::verify) struct Allowance {
    /// Conjunctions that this thread has asked isl about when it is spent.
    end: u64,
}

impl Allowance {
    /// So many conjunctions from here on.
    pub(in crate::verify) fn of(conjunctions: u64) -> Self {
        Self {
            end: ASKED.get() + conjunctions,
        }
    }

    pub(in crate::verify) fn is_spent(&self) -> bool {
        ASKED.get() >= self.end
    }
}

thread_local! {
    static ANSWERS: RefCell<HashMap<Points, Option<bool>>> = RefCell::default();
    /// Conjunctions that isl was asked about.
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

const MOST_ANSWERS: usize = 10_000;
/// Conjunctions that one question may be taken apart into.
const MOST_CONJUNCTIONS: usize = 1000;
/// A conjunction of these may take such a part of what the question may.
const SEARCH_SHARE: u64 = 4;
/// Elementary operations of isl that one question may cost; proofs take hundreds.
const MOST_OPERATIONS: u64 = 400_000;
/// The same times the terms of the question, by which each operation is dear.
const MOST_WORK: u64 = 120_000_000;
/// Most terms that isl is given to join, for each quotient once more: it does not count all that it does then.
const MOST_TERMS: usize = 80_000;
