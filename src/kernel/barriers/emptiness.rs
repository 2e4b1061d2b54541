//! Whether conditions on two instances of one kernel's accesses have a solution.
//!
//! Kernels of a like form ask the same, so that answers are remembered for the thread's life.
//!
//! Invariant: a set is only called empty where isl says so, of all of it or of the rows of each of its alternatives.

use crate::math::affine::{Affine, Axis, Variable};
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{Set, System, with_operation_budget};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// The integer points that satisfy a condition for some value of the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernel) struct Points {
    pub(in crate::kernel) parameters: Vec<Symbol>,
    pub(in crate::kernel) dimensions: Vec<Symbol>,
    pub(in crate::kernel) condition: Formula<Symbol>,
}

/// A variable of one of two instances. Blocks and parameters are common to both, and of the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::kernel) struct Symbol {
    variable: Variable,
    of_second: bool,
}

impl Symbol {
    /// A variable of the first or of the second instance.
    pub(in crate::kernel) fn new(variable: Variable, of_second: bool) -> Self {
        let is_common = matches!(variable, Variable::Block(_) | Variable::Parameter(_));
        Self {
            variable,
            of_second: of_second && !is_common,
        }
    }

    /// The value of a variable of the first or of the second instance.
    pub(in crate::kernel) fn sum(variable: Variable, of_second: bool) -> Sum<Self> {
        Sum::variable(Self::new(variable, of_second))
    }

    /// The thread index of the first or of the second instance on an axis.
    pub(in crate::kernel) fn thread(axis: Axis, of_second: bool) -> Sum<Self> {
        Self::sum(Variable::Thread(axis), of_second)
    }

    /// An expression of the first or of the second instance; `None` for no expression.
    pub(in crate::kernel) fn expression(affine: &Affine, of_second: bool) -> Option<Sum<Self>> {
        Sum::of_affine(affine, &mut |variable| {
            Some(Self::sum(variable.clone(), of_second))
        })
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prime = if self.of_second { "_" } else { "" };
        write!(formatter, "{}{prime}", self.variable)
    }
}

/// Whether a set is known to be empty.
pub(in crate::kernel) fn is_surely_empty(points: &Points) -> bool {
    if let Some(known) = ANSWERS.with_borrow(|answers| answers.get(points).copied()) {
        return known;
    }
    let answer = with_operation_budget(MOST_OPERATIONS, || {
        searched(points).or_else(|| as_a_whole(points))
    });
    let answer = answer == Some(true);
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() >= MOST_ANSWERS {
            answers.clear();
        }
        answers.insert(points.clone(), answer);
    });
    answer
}

/// By rows, one alternative after the other; `None` where a number has more than 64 bits, or there are too many.
fn searched(points: &Points) -> Option<bool> {
    let mut system = System::new(&points.parameters, &points.dimensions);
    let formula = system.rows(&points.condition).ok()?;
    system.is_empty(&formula, MOST_CONJUNCTIONS).ok()
}

/// By isl's sets, which multiplies alternatives out.
fn as_a_whole(points: &Points) -> Option<bool> {
    let set = Set::of(&points.parameters, &points.dimensions, &points.condition);
    set.and_then(|set| set.is_empty()).ok()
}

thread_local! {
    static ANSWERS: RefCell<HashMap<Points, bool>> = RefCell::default();
}

const MOST_ANSWERS: usize = 10_000;
/// Conjunctions that one question may be taken apart into.
const MOST_CONJUNCTIONS: usize = 200;
/// Operations of isl for each comparison.
const MOST_OPERATIONS: u64 = 50_000;
