//! The one question that the verifier asks of isl: is this set empty?

use crate::isl::Set;
use std::cell::RefCell;
use std::collections::HashMap;

/// Whether the set, in isl's notation, is empty for all values of its parameters. `None` when isl
/// gave up or did not understand: the caller refuses. Layers of a network ask the same question
/// again and again, so answers are remembered by text.
pub(super) fn is_empty(set: &str) -> Option<bool> {
    if let Some(known) = ANSWERS.with_borrow(|answers| answers.get(set).copied()) {
        return known;
    }
    let answer = Set::parse(set).and_then(|set| set.is_empty()).ok();
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
