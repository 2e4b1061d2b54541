//! The one question that the verifier asks of isl: is this set empty?

use crate::isl::{Set, with_operation_budget};
use std::cell::RefCell;
use std::collections::HashMap;

/// Whether the set, in isl's notation, is empty for all values of its parameters. `None` when isl
/// gave up or did not understand, and when the question is one that would take seconds: the caller
/// refuses. Layers of a network ask the same question
/// again and again, so answers are remembered by text.
pub(super) fn is_empty(set: &str) -> Option<bool> {
    if let Some(known) = ANSWERS.with_borrow(|answers| answers.get(set).copied()) {
        return known;
    }
    let reading = set.len() * (1 + set.matches("floor(").count());
    let operations = (MOST_WORK / set.len().max(1) as u64).min(MOST_OPERATIONS);
    let ask = || Set::parse(set).and_then(|set| set.is_empty()).ok();
    let answer = (reading <= MOST_READ)
        .then(|| with_operation_budget(operations, ask))
        .flatten();
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() >= MOST_ANSWERS {
            answers.clear();
        }
        answers.insert(set.to_string(), answer);
    });
    answer
}

thread_local! {
    static ANSWERS: RefCell<HashMap<String, Option<bool>>> = RefCell::default();
}

const MOST_ANSWERS: usize = 10_000;
/// Elementary operations of isl that one question may cost; proofs take hundreds.
const MOST_OPERATIONS: u64 = 400_000;
/// The same times the length of the question, by which each operation is dear.
const MOST_WORK: u64 = 600_000_000;
/// Longest text that is read, in characters, for each quotient once more: isl does not count what its
/// reader does.
const MOST_READ: usize = 400_000;
