//! Whether conditions on two instances of one kernel's accesses have a solution.
//!
//! Kernels of a like form ask the same, so that answers are remembered for the thread's life.
//!
//! Invariant: a set is only called empty where isl says so, of its text or of the rows of each of its alternatives.

use crate::math::isl::{Set, System, with_operation_budget};
use std::cell::RefCell;
use std::collections::HashMap;

/// The integer points that satisfy a condition, in isl's notation, for some value of the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernel) struct Points {
    pub(in crate::kernel) parameters: Vec<String>,
    pub(in crate::kernel) dimensions: Vec<String>,
    pub(in crate::kernel) condition: String,
}

/// Whether a set is known to be empty.
pub(in crate::kernel) fn is_surely_empty(points: &Points) -> bool {
    if let Some(known) = ANSWERS.with_borrow(|answers| answers.get(points).copied()) {
        return known;
    }
    let answer = with_operation_budget(MOST_OPERATIONS, || {
        searched(points).or_else(|| read(points))
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

/// By rows, one alternative after the other; `None` where the condition is more than the reader of rows knows, or there
/// are too many.
fn searched(points: &Points) -> Option<bool> {
    let mut system = System::new(&points.parameters, &points.dimensions);
    let formula = system.read_formula(&points.condition).ok()?;
    system.is_empty(&formula, MOST_CONJUNCTIONS).ok()
}

/// By isl's own reader, which multiplies alternatives out.
fn read(points: &Points) -> Option<bool> {
    let text = format!(
        "[{}] -> {{ [{}] : {} }}",
        points.parameters.join(", "),
        points.dimensions.join(", "),
        points.condition
    );
    Set::parse(&text).and_then(|set| set.is_empty()).ok()
}

thread_local! {
    static ANSWERS: RefCell<HashMap<Points, bool>> = RefCell::default();
}

const MOST_ANSWERS: usize = 10_000;
/// Conjunctions that one question may be taken apart into.
const MOST_CONJUNCTIONS: usize = 200;
/// Operations of isl for each comparison.
const MOST_OPERATIONS: u64 = 50_000;
