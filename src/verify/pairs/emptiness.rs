//! The one question that the verifier asks of isl: is this set empty?

use crate::math::affine::{Affine, Constraint, Constraints};
use crate::math::isl::{IslError, Set, System, with_operation_budget};
use std::cell::RefCell;
use std::collections::HashMap;

/// A set as text.
pub(in crate::verify) struct Points {
    /// Names of its parameters.
    pub(in crate::verify) parameters: Vec<String>,
    /// Names of its dimensions.
    pub(in crate::verify) variables: Vec<String>,
    /// What holds for its points, in isl's notation.
    pub(in crate::verify) condition: String,
}

impl Points {
    /// In isl's notation.
    fn text(&self) -> String {
        format!(
            "[{}] -> {{ [{}] : {} }}",
            self.parameters.join(", "),
            self.variables.join(", "),
            self.condition
        )
    }

    /// Whether there is none, by a search through the alternatives of the condition.
    ///
    /// # Errors
    /// Quota, or a condition with a number of more than 64 bits.
    fn searched(&self) -> Result<bool, IslError> {
        let mut system = System::new(&self.parameters, &self.variables);
        let formula = system.read_formula(&self.condition)?;
        system.is_empty(&formula, MOST_CONJUNCTIONS)
    }
}

/// The points of constraints, in isl's notation. `besides` says what else holds of a conjunction, and `text` writes an
/// expression, both by way of the `writer`.
pub(in crate::verify) fn constraints_text<W>(
    writer: &mut W,
    constraints: &Constraints,
    mut besides: impl FnMut(&mut W, &[Constraint]) -> Option<Vec<String>>,
    mut text: impl FnMut(&mut W, &Affine) -> Option<String>,
) -> Option<String> {
    let mut alternatives = Vec::new();
    for conjunction in constraints {
        let mut parts = vec!["0 = 0".to_string()];
        parts.extend(besides(writer, conjunction)?);
        for constraint in conjunction {
            parts.push(match constraint {
                Constraint::NonNegative(affine) => format!("{} >= 0", text(writer, affine)?),
                Constraint::Zero(affine) => format!("{} = 0", text(writer, affine)?),
            });
        }
        alternatives.push(format!("({})", parts.join(" and ")));
    }
    Some(match alternatives.is_empty() {
        true => "0 = 1".to_string(),
        false => format!("({})", alternatives.join(" or ")),
    })
}

/// Whether the set is empty for all values of its parameters. `None` when isl
/// gave up or did not understand, and when the question is one that would take seconds: the caller
/// refuses. Layers of a network ask the same question
/// again and again, so answers are remembered by text.
pub(in crate::verify) fn is_empty(points: &Points) -> Option<bool> {
    let set = points.text();
    if let Some(known) = ANSWERS.with_borrow(|answers| answers.get(&set).copied()) {
        return known;
    }
    let answer = decide(points, &set);
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() >= MOST_ANSWERS {
            answers.clear();
        }
        answers.insert(set, answer);
    });
    answer
}

fn decide(points: &Points, set: &str) -> Option<bool> {
    let operations = (MOST_WORK / set.len().max(1) as u64).min(MOST_OPERATIONS);
    let searched = with_operation_budget(operations / SEARCH_SHARE, || points.searched());
    if let Ok(answer) = searched {
        return Some(answer);
    }
    // What many alternatives make together may be little, which isl sees while it reads them.
    let reading = set.len() * (1 + set.matches("floor(").count());
    let ask = || Set::parse(set).and_then(|set| set.is_empty()).ok();
    (reading <= MOST_READ)
        .then(|| with_operation_budget(operations, ask))
        .flatten()
}

thread_local! {
    static ANSWERS: RefCell<HashMap<String, Option<bool>>> = RefCell::default();
}

const MOST_ANSWERS: usize = 10_000;
/// Conjunctions that one question may be taken apart into.
const MOST_CONJUNCTIONS: usize = 1000;
/// A conjunction of these may take such a part of what the question may.
const SEARCH_SHARE: u64 = 4;
/// Elementary operations of isl that one question may cost; proofs take hundreds.
const MOST_OPERATIONS: u64 = 400_000;
/// The same times the length of the question, by which each operation is dear.
const MOST_WORK: u64 = 600_000_000;
/// Longest text that is read, in characters, for each quotient once more: isl does not count what its
/// reader does.
const MOST_READ: usize = 400_000;
