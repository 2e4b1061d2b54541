//! What rows say of a sum by itself, without looking at others.
//!
//! Invariant: a bound holds at every point at which that holds which it was taken from.

use super::Conjunction;
use super::formula::RowFormula;
use super::linear::{Linear, Row};
use std::collections::HashMap;

/// For each sum the least of the constants with which it is not below 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds(HashMap<Terms, i64>);

/// Coefficients by column, as a row has them.
type Terms = Vec<(usize, i64)>;

impl Bounds {
    /// What rows say.
    pub(super) fn of_rows(rows: &Conjunction) -> Self {
        let mut bounds = Self::default();
        bounds.note(rows);
        bounds
    }

    /// What a formula says in any case.
    fn of_formula(formula: &RowFormula) -> Self {
        match formula {
            RowFormula::Rows(rows) => Self::of_rows(rows),
            RowFormula::All(parts) => {
                let each = parts.iter().flat_map(|part| Self::of_formula(part).0);
                let mut bounds = Self::default();
                each.for_each(|(terms, constant)| bounds.note_sum(terms, constant));
                bounds
            }
            RowFormula::Any(parts) => Self::of_some(parts),
        }
    }

    /// What holds whichever of some parts does: of each sum that all speak of, the weakest bound.
    pub(super) fn of_some<'f>(parts: impl IntoIterator<Item = &'f RowFormula>) -> Self {
        let each = parts.into_iter().map(Self::of_formula);
        let common = each.reduce(|mut one, other| {
            one.0.retain(|terms, constant| {
                let weaker = other.0.get(terms);
                weaker.is_some_and(|weaker| {
                    *constant = (*constant).max(*weaker);
                    true
                })
            });
            one
        });
        common.unwrap_or_default()
    }

    /// Takes note of rows that hold, too.
    pub(super) fn note(&mut self, rows: &Conjunction) {
        for (terms, constant) in rows.rows.iter().flat_map(inequalities) {
            self.note_sum(terms, constant);
        }
    }

    fn note_sum(&mut self, terms: Terms, constant: i64) {
        let least = self.0.entry(terms).or_insert(constant);
        *least = constant.min(*least);
    }

    /// Those that say more than `known`, as rows in the order of their columns.
    pub(super) fn beyond(self, known: &Self) -> Conjunction {
        let news = self.0.into_iter().filter(|(terms, constant)| {
            let weaker = known.0.get(terms).is_some_and(|known| known <= constant);
            !weaker && !terms.is_empty()
        });
        let mut news: Vec<(Terms, i64)> = news.collect();
        news.sort_unstable();
        let rows = news.into_iter().map(|(terms, constant)| Row {
            linear: Linear { terms, constant },
            equality: false,
        });
        Conjunction {
            rows: rows.collect(),
        }
    }

    /// Whether a formula says the opposite of some bound.
    pub(super) fn contradict(&self, formula: &RowFormula) -> bool {
        match formula {
            RowFormula::Rows(rows) => {
                let mut each = rows.rows.iter().flat_map(inequalities);
                each.any(|(terms, constant)| {
                    let opposite = negated(&terms);
                    let bound = opposite.and_then(|opposite| self.0.get(&opposite).copied());
                    // Together they say that the sum of both constants is not below 0.
                    bound.is_some_and(|bound| i128::from(bound) + i128::from(constant) < 0)
                })
            }
            RowFormula::All(parts) => parts.iter().any(|part| self.contradict(part)),
            RowFormula::Any(parts) => parts.iter().all(|part| self.contradict(part)),
        }
    }
}

/// The inequalities that a row is, as terms and constant of a sum that is not below 0.
fn inequalities(row: &Row) -> impl Iterator<Item = (Terms, i64)> {
    let (terms, constant) = (row.linear.terms.clone(), row.linear.constant);
    let opposite = negated(&terms).zip(constant.checked_neg());
    let opposite = opposite.filter(|_| row.equality);
    std::iter::once((terms, constant)).chain(opposite)
}

fn negated(terms: &[(usize, i64)]) -> Option<Terms> {
    let each = terms.iter();
    each.map(|(column, coefficient)| Some((*column, coefficient.checked_neg()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::System;
    use super::*;

    fn of_formula(text: &str) -> (RowFormula, Bounds) {
        let names = ["a", "b"].map(str::to_owned);
        let formula = System::new(&[], &names).read_formula(text).unwrap();
        let bounds = Bounds::of_formula(&formula);
        (formula, bounds)
    }

    #[test]
    fn alternatives_have_the_weakest_of_their_bounds_in_common() {
        let text = "(a >= 3 and b >= 1) or (a >= 5 and a + b <= 7) or a = 4";
        let (_, some) = of_formula(text);
        let (_, expected) = of_formula("a >= 3");
        assert_eq!(some.0, expected.0);
        assert!(of_formula("0 = 1 or a >= 3").1.0.is_empty());
        assert!(Bounds::of_some([]).0.is_empty());
    }

    #[test]
    fn what_is_known_is_no_news() {
        let (_, known) = of_formula("a >= 3 and b = 2");
        let (_, same) = of_formula("a >= 2 and b <= 2");
        assert_eq!(same.beyond(&known), Conjunction::default());
        let (_, more) = of_formula("a >= 4 and b <= 2");
        assert_eq!(more.beyond(&known).rows.len(), 1);
    }

    #[test]
    fn only_what_cannot_hold_is_contradicted() {
        let (_, bounds) = of_formula("a - b >= 3 and (b = 2 or b = 4)");
        for (text, contradicted) in [
            ("b - a >= -2", true),
            ("b - a >= -3", false),
            ("b <= 1", true),
            ("b >= 4", false),
            ("b - a >= -2 or b <= 1", true),
            ("b - a >= -2 or b <= 2", false),
            ("b = 3 and a = b + 2", true),
        ] {
            assert_eq!(
                bounds.contradict(&of_formula(text).0),
                contradicted,
                "{text}"
            );
        }
    }
}
