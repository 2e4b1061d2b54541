//! Conditions over host values that can never hold together.
//!
//! What a launch relies on may be asked for by each access by itself, and one may ask for the opposite of another. Then
//! nothing that was found out under all of them says anything of a run, and a kernel that is guarded by them never
//! runs. Invariant: `true` only where no values satisfy the conditions; products of values are unknowns of their own,
//! of which a sign is known at most.

use super::super::Guard;
use super::super::instance::host_polynomial;
use super::super::polynomial::{Monomial, Polynomial};
use crate::launch::ValueId;
use crate::math::expression::Condition;
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{System, with_operation_budget};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// Whether the conditions among some guards can never hold together.
pub fn guards_contradict<'g>(guards: impl IntoIterator<Item = &'g Guard>) -> bool {
    let conditions = guards.into_iter().filter_map(|guard| match guard {
        Guard::Holds { condition, .. } => Some(condition),
        _ => None,
    });
    let mut names = Names::default();
    let known = conditions.filter_map(|each| names.formula(each));
    let mut known: Vec<Formula<usize>> = known.collect();
    if known.len() < 2 {
        return false;
    }
    known.extend(names.signs());
    let condition = Formula::All(known);
    ANSWERS.with_borrow_mut(|answers| {
        if let Some(known) = answers.get(&condition) {
            return *known;
        }
        if answers.len() >= MOST_ANSWERS {
            answers.clear();
        }
        let answer = never_holds(&names, &condition);
        answers.insert(condition, answer);
        answer
    })
}

thread_local! {
    /// Groups grow launch by launch and rely on the same things all the time.
    static ANSWERS: RefCell<HashMap<Formula<usize>, bool>> = RefCell::default();
}

const MOST_ANSWERS: usize = 10_000;
/// Elementary operations of isl for one of its questions; such conditions take some dozens.
const OPERATIONS: u64 = 2_000;
/// Alternatives that are gone through.
const QUESTIONS: usize = 50;

fn never_holds(names: &Names, condition: &Formula<usize>) -> bool {
    let parameters: Vec<usize> = (0..names.indices.len()).collect();
    let mut system = System::new(&parameters, &[]);
    with_operation_budget(OPERATIONS, || {
        let formula = system.rows(condition)?;
        system.is_empty(&formula, QUESTIONS)
    }) == Ok(true)
}

/// Names for products of values.
#[derive(Default)]
struct Names {
    indices: BTreeMap<Monomial, usize>,
    /// The least value of single values, as far as one condition says it.
    least: HashMap<Monomial, i64>,
}

impl Names {
    /// A condition as isl can be told it; `None` where it says nothing of that kind.
    fn formula(&mut self, condition: &Condition<ValueId>) -> Option<Formula<usize>> {
        match condition {
            Condition::LessEqual(a, b) => {
                let difference = host_polynomial(b)?.subtract(&host_polynomial(a)?)?;
                self.note(&difference);
                Some(Formula::NonNegative(self.sum(&difference)))
            }
            Condition::Equal(a, b) => {
                let difference = host_polynomial(a)?.subtract(&host_polynomial(b)?)?;
                Some(Formula::Zero(self.sum(&difference)))
            }
            Condition::All(parts) => {
                let parts = parts.iter().filter_map(|part| self.formula(part));
                let parts: Vec<Formula<usize>> = parts.collect();
                (!parts.is_empty()).then_some(Formula::All(parts))
            }
            Condition::Any(parts) => {
                // What holds in one alternative does not hold.
                let least = self.least.clone();
                let parts = parts.iter().map(|part| self.formula(part));
                let parts: Option<Vec<Formula<usize>>> = parts.collect();
                self.least = least;
                let parts = parts.filter(|parts| !parts.is_empty())?;
                Some(Formula::Any(parts))
            }
        }
    }

    /// Remembers what a difference that is not negative says of a single value.
    fn note(&mut self, difference: &Polynomial) {
        let mut terms = difference.terms.iter().filter(|(key, _)| !key.is_empty());
        if let (Some((single, 1)), None) = (terms.next(), terms.next())
            && single.len() == 1
        {
            let constant = difference.terms.get(&Vec::new()).copied().unwrap_or(0);
            let least = self.least.entry(single.clone()).or_insert(i64::MIN);
            *least = constant.checked_neg().map_or(*least, |low| low.max(*least));
        }
    }

    fn sum(&mut self, polynomial: &Polynomial) -> Sum<usize> {
        let mut sum = Sum::number(0);
        for (monomial, coefficient) in &polynomial.terms {
            let coefficient = i128::from(*coefficient);
            sum = match monomial.is_empty() {
                true => sum + coefficient,
                false => {
                    let next = self.indices.len();
                    let index = *self.indices.entry(monomial.clone()).or_insert(next);
                    sum + Sum::variable(index) * coefficient
                }
            };
        }
        sum
    }

    /// What is known of products by their factors.
    fn signs(&self) -> Vec<Formula<usize>> {
        let mut known = Vec::new();
        for (monomial, index) in &self.indices {
            let factors = monomial.iter();
            let least = factors.map(|atom| {
                let least = self.least.get(&vec![atom.clone()]);
                least.copied().unwrap_or(i64::MIN).min(1)
            });
            let least = least.min().unwrap_or(i64::MIN);
            if monomial.len() > 1 && least >= 0 {
                known.push(Sum::variable(*index).at_least(Sum::number(least)));
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::expression::Expression;

    fn value(index: usize) -> Expression<ValueId> {
        Expression::Leaf(ValueId(index))
    }

    fn holds(condition: Condition<ValueId>) -> Guard {
        let class = String::from("wrap");
        Guard::Holds { class, condition }
    }

    fn at_least(least: i64, expression: Expression<ValueId>) -> Guard {
        holds(Condition::LessEqual(
            Expression::Constant(least),
            expression,
        ))
    }

    #[test]
    fn opposites_never_hold_together() {
        let negative = |of: Expression<ValueId>| Expression::Constant(-1).multiply(of);
        let one = at_least(1, value(0));
        for (other, contradicts) in [
            (at_least(0, negative(value(0))), true),
            (at_least(-1, negative(value(0))), false),
            (at_least(0, negative(value(1))), false),
            (at_least(0, negative(value(0).multiply(value(1)))), false),
        ] {
            let guards = [one.clone(), other];
            assert_eq!(guards_contradict(&guards), contradicts, "{guards:?}");
        }
        // The product of two that are at least 1 is, too.
        let product = at_least(0, negative(value(0).multiply(value(1))));
        assert!(guards_contradict(&[
            one.clone(),
            at_least(1, value(1)),
            product.clone()
        ]));
        let either = holds(Condition::Any(vec![
            Condition::LessEqual(value(0), Expression::Constant(0)),
            Condition::LessEqual(Expression::Constant(1), value(1)),
        ]));
        assert!(!guards_contradict(&[one.clone(), either.clone()]));
        // What one alternative says is not taken for granted.
        assert!(!guards_contradict(&[either.clone(), product]));
        assert!(guards_contradict(&[
            one,
            either,
            at_least(0, negative(value(1)))
        ]));
    }
}
