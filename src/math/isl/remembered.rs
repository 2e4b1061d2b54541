//! What isl found of conjunctions, remembered for the life of a thread, and from one run to the next by who keeps it.
//!
//! Launches of a like form ask the same, and so does the next build of the same program.
//!
//! Invariant: an answer is one that isl gave to the same rows under the same budget, so that no result depends on
//! what was asked before.

use super::linear::Found;
use super::{IslError, Result};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// A question: whether a conjunction has a point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Question {
    /// Elementary operations that isl may spend on it.
    pub(super) budget: u64,
    /// How many columns there are beside the constant.
    pub(super) columns: usize,
    pub(super) matrices: Matrices,
}

impl Question {
    /// How many numbers its matrices have.
    fn cells(&self) -> usize {
        self.matrices.iter().flatten().map(Vec::len).sum()
    }
}

/// Rows of equalities, and of inequalities.
pub(super) type Matrices = [Vec<Vec<i64>>; 2];

/// What is known of a question, else what `find` finds, which is remembered unless isl refuses it. That the budget does
/// not do is remembered, too.
pub(super) fn known_or(
    question: Question,
    find: impl FnOnce(&Question) -> Result<Found>,
) -> Result<Found> {
    let known = FOUND.with_borrow_mut(|found| {
        let answer = found.get_mut(&question)?;
        answer.is_asked = true;
        Some(answer.found.clone())
    });
    if let Some(known) = known {
        return known.ok_or(IslError::Quota);
    }
    let answer = match find(&question) {
        Ok(found) => Some(found),
        Err(IslError::Quota) => None,
        Err(error) => return Err(error),
    };
    let cells = question.cells();
    if cells <= MOST_CELLS {
        let (found, is_asked) = (answer.clone(), true);
        FOUND.with_borrow_mut(|known| {
            let all = CELLS.get() + cells;
            let is_full = known.len() >= MOST_ANSWERS || all > MOST_CELLS_OF_ALL;
            if is_full {
                known.clear();
            }
            CELLS.set(if is_full { cells } else { all });
            known.insert(question, Answer { found, is_asked });
        });
    }
    answer.ok_or(IslError::Quota)
}

/// Takes over what [`told`] wrote in an earlier run; nothing of what is not that.
pub fn recall(bytes: &[u8]) {
    let Ok(answers) = postcard::from_bytes::<Vec<(Question, Option<Found>)>>(bytes) else {
        return;
    };
    let is_asked = false;
    let answers = answers.into_iter().take(MOST_ANSWERS);
    let answers = answers.map(|(question, found)| (question, Answer { found, is_asked }));
    FOUND.with_borrow_mut(|known| {
        known.extend(answers);
        CELLS.set(known.keys().map(Question::cells).sum());
    });
}

/// All answers that this thread asked for so far, for [`recall`] in a later run; `None` where they are too few to be
/// worth a file.
pub fn told() -> Option<Vec<u8>> {
    FOUND.with_borrow(|known| {
        let asked = known.iter().filter(|(_, answer)| answer.is_asked);
        let asked = asked.map(|(question, answer)| (question, &answer.found));
        let mut asked: Vec<(&Question, &Option<Found>)> = asked.collect();
        // The same answers are the same bytes.
        asked.sort_by(|(a, _), (b, _)| {
            (a.budget, a.columns, &a.matrices).cmp(&(b.budget, b.columns, &b.matrices))
        });
        (asked.len() >= FEWEST_ANSWERS)
            .then(|| postcard::to_allocvec(&asked).ok())
            .flatten()
    })
}

struct Answer {
    /// `None` where the budget did not do.
    found: Option<Found>,
    /// Whether this run asked for it.
    is_asked: bool,
}

thread_local! {
    static FOUND: RefCell<HashMap<Question, Answer>> = RefCell::default();
    /// How many numbers the matrices of all of them have.
    static CELLS: Cell<usize> = const { Cell::new(0) };
}

const MOST_ANSWERS: usize = 1 << 16;
const FEWEST_ANSWERS: usize = 64;
/// Numbers of a matrix of which an answer is remembered.
const MOST_CELLS: usize = 4096;
/// Numbers of the matrices of all answers that are remembered: they take 64 MiB, and what holds them as much again.
const MOST_CELLS_OF_ALL: usize = 1 << 23;

#[cfg(test)]
mod tests {
    use super::*;

    fn question(constant: i64) -> Question {
        Question {
            budget: 1000,
            columns: 1,
            matrices: [Vec::new(), vec![vec![constant, 1]]],
        }
    }

    /// In a thread of its own, which remembers nothing yet.
    fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        std::thread::spawn(work).join().unwrap()
    }

    /// An error by which a test sees that it was asked.
    fn asked() -> IslError {
        IslError::Invalid("asked".to_owned())
    }

    #[test]
    fn a_later_run_is_told_what_an_earlier_one_found() {
        let told = apart(|| {
            for number in 0..100 {
                let found = known_or(question(number), |_| Ok(Found::Point(vec![number])));
                assert_eq!(found, Ok(Found::Point(vec![number])));
            }
            let gave_up = known_or(question(200), |_| Err(IslError::Quota));
            assert_eq!(gave_up, Err(IslError::Quota));
            assert_eq!(known_or(question(300), |_| Err(asked())), Err(asked()));
            told().unwrap()
        });
        let again = apart(move || {
            recall(&told);
            for number in 0..70 {
                let found = known_or(question(number), |_| Err(asked()));
                assert_eq!(found, Ok(Found::Point(vec![number])));
            }
            let other = Question {
                budget: 999,
                ..question(1)
            };
            assert_eq!(known_or(other, |_| Err(asked())), Err(asked()));
            let gave_up = known_or(question(200), |_| Err(asked()));
            assert_eq!(gave_up, Err(IslError::Quota));
            assert_eq!(known_or(question(300), |_| Err(asked())), Err(asked()));
            told_questions()
        });
        // Only what was asked for is told on.
        assert_eq!(again, 71);
    }

    fn told_questions() -> usize {
        let answers: Vec<(Question, Option<Found>)> =
            postcard::from_bytes(&told().unwrap()).unwrap();
        answers.len()
    }

    #[test]
    fn what_is_no_answer_is_not_taken() {
        apart(|| {
            recall(b"something else");
            assert_eq!(known_or(question(1), |_| Err(asked())), Err(asked()));
            assert_eq!(told(), None);
        });
    }
}
