//! Conjunctions of linear constraints, as rows of one matrix.
//!
//! isl carries every quotient that it meets along as an existential dimension of each constraint, which
//! does not count against the budget. Here each quotient `floor(e/d)` is one dimension of the whole
//! system, defined once.
//!
//! Invariant: the points of [`System::set`], with the dimensions behind the named ones forgotten, are
//! those at which the formulas hold that its rows are of, where [`System::definitions`] hold as well.

use super::remembered::{Matrices, Question, known_or};
use super::{Result, Set, operation_budget};
use crate::math::formula::{Sum, Term};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hash;

/// What is found out of a conjunction without its points being listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// No point satisfies it for any values of the parameters.
    Nothing,
    /// One that does: the values of all columns.
    Point(Vec<i64>),
    /// Some do, with numbers that leave 64 bits.
    TooLarge,
}

/// Columns that conjunctions speak about: parameters, dimensions, and quotients as they are met.
#[derive(Debug)]
pub struct System<V> {
    pub(super) columns: HashMap<V, usize>,
    parameters: usize,
    /// With the quotients.
    dimensions: usize,
    /// Columns of quotients.
    quotients: HashMap<(Linear, i64), usize>,
    definitions: Conjunction,
}

/// Constraints that all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conjunction {
    pub(super) rows: Vec<Row>,
}

/// `linear = 0`, or `linear >= 0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Row {
    pub(super) linear: Linear,
    pub(super) equality: bool,
}

/// Coefficients by column, none of them 0, in the order of columns; and the constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Linear {
    pub(super) terms: Vec<(usize, i64)>,
    pub(super) constant: i64,
}

impl<V: Clone + Eq + Hash> System<V> {
    /// A system without quotients.
    pub fn new(parameters: &[V], dimensions: &[V]) -> Self {
        let names = parameters.iter().chain(dimensions);
        Self {
            columns: names.cloned().zip(0..).collect(),
            parameters: parameters.len(),
            dimensions: dimensions.len(),
            quotients: HashMap::new(),
            definitions: Conjunction::default(),
        }
    }

    /// The rows of a sum; `None` where a number leaves 64 bits, or a variable is neither a parameter nor a dimension.
    pub(super) fn linear(&mut self, sum: &Sum<V>) -> Option<Linear> {
        let (terms, constant) = sum.parts()?;
        let mut linear = Linear::number(i64::try_from(constant).ok()?);
        for (term, coefficient) in terms {
            let column = match term {
                Term::Variable(variable) => *self.columns.get(variable)?,
                Term::Floor(numerator, divisor) => {
                    let numerator = self.linear(numerator)?;
                    self.quotient(numerator, i64::try_from(*divisor).ok()?)?
                }
            };
            linear
                .terms
                .push((column, i64::try_from(*coefficient).ok()?));
        }
        linear.terms.sort_unstable();
        // Quotients that differ as sums may be one as rows.
        let distinct = |pair: &[(usize, i64)]| pair[0].0 != pair[1].0;
        match linear.terms.windows(2).all(distinct) {
            true => Some(linear),
            false => linear.terms.iter().try_fold(
                Linear::number(linear.constant),
                |sum, (column, coefficient)| {
                    let terms = vec![(*column, *coefficient)];
                    sum.add(&Linear { terms, constant: 0 }, 1)
                },
            ),
        }
    }

    /// What makes the quotients met so far what they are: belongs to every set.
    pub fn definitions(&self) -> &Conjunction {
        &self.definitions
    }

    /// How many dimensions there are with the quotients, which are behind the named ones.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The points for which all of the conjunctions hold.
    ///
    /// # Errors
    /// Quota.
    pub fn set(&self, conjunctions: &[&Conjunction]) -> Result<Set> {
        let matrices = self.matrices(conjunctions);
        Set::from_constraints([self.parameters, self.dimensions], &matrices)
    }

    /// A point for which all of the conjunctions hold, any one.
    ///
    /// # Errors
    /// Quota.
    pub fn find(&self, conjunctions: &[&Conjunction]) -> Result<Found> {
        let columns = self.parameters + self.dimensions;
        let question = Question {
            budget: operation_budget(),
            columns,
            matrices: self.matrices(conjunctions),
        };
        known_or(question, |question| {
            Set::from_constraints([0, columns], &question.matrices)?.find()
        })
    }

    /// That a dimension, counted without the parameters, is no more than a value.
    pub fn at_most(&self, dimension: usize, value: i64) -> Conjunction {
        let linear = Linear {
            terms: vec![(self.parameters + dimension, -1)],
            constant: value,
        };
        let equality = false;
        Conjunction {
            rows: vec![Row { linear, equality }],
        }
    }

    /// That a dimension, counted without the parameters, is a value.
    pub fn exactly(&self, dimension: usize, value: i64) -> Conjunction {
        let mut equal = self.at_most(dimension, value);
        equal.rows[0].equality = true;
        equal
    }

    /// The values of the dimensions at a point, without those of the parameters.
    pub fn without_parameters<'p>(&self, point: &'p [i64]) -> &'p [i64] {
        &point[self.parameters..]
    }

    /// Numbers in the matrix of so many conjunctions: what each step of isl's solver goes through.
    pub fn cells(&self, conjunctions: &[&Conjunction]) -> usize {
        let rows: usize = conjunctions.iter().map(|all| all.rows.len()).sum();
        rows * (1 + self.parameters + self.dimensions)
    }

    fn matrices(&self, conjunctions: &[&Conjunction]) -> Matrices {
        let width = 1 + self.parameters + self.dimensions;
        let mut matrices = [Vec::new(), Vec::new()];
        for row in conjunctions.iter().flat_map(|all| &all.rows) {
            let mut numbers = vec![0; width];
            numbers[0] = row.linear.constant;
            for (column, coefficient) in &row.linear.terms {
                numbers[1 + column] = *coefficient;
            }
            matrices[usize::from(!row.equality)].push(numbers);
        }
        matrices
    }

    /// The column of a quotient.
    pub(super) fn quotient(&mut self, numerator: Linear, divisor: i64) -> Option<usize> {
        let key = (numerator, divisor);
        if let Some(known) = self.quotients.get(&key) {
            return Some(*known);
        }
        let column = self.parameters + self.dimensions;
        let multiple = Linear {
            terms: vec![(column, divisor)],
            constant: 0,
        };
        let rest = key.0.add(&multiple, -1)?;
        let slack = Linear::number(divisor.checked_sub(1)?).add(&rest, -1)?;
        for linear in [rest, slack] {
            let equality = false;
            self.definitions.rows.push(Row { linear, equality });
        }
        self.dimensions += 1;
        self.quotients.insert(key, column);
        Some(column)
    }
}

impl Conjunction {
    /// Adds what else holds.
    pub(super) fn append(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }

    /// Whether it holds at a point, which has a value for each column; false where a number leaves
    /// 64 bits.
    pub fn holds_at(&self, point: &[i64]) -> bool {
        self.rows
            .iter()
            .all(|row| match row.linear.value_at(point) {
                Some(value) if row.equality => value == 0,
                Some(value) => value >= 0,
                None => false,
            })
    }
}

impl Linear {
    fn value_at(&self, point: &[i64]) -> Option<i64> {
        let mut terms = self.terms.iter();
        terms.try_fold(self.constant, |sum, (column, coefficient)| {
            sum.checked_add(coefficient.checked_mul(*point.get(*column)?)?)
        })
    }

    pub(super) fn number(constant: i64) -> Self {
        Self {
            terms: Vec::new(),
            constant,
        }
    }

    /// `self + factor · other`; `None` when a number leaves 64 bits.
    pub(super) fn add(&self, other: &Self, factor: i64) -> Option<Self> {
        let constant = self
            .constant
            .checked_add(other.constant.checked_mul(factor)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let column = match (left.peek(), right.peek()) {
                (Some((a, _)), Some((b, _))) => *a.min(b),
                (Some((a, _)), None) | (None, Some((a, _))) => *a,
                (None, None) => break,
            };
            let mut coefficient = 0i64;
            if let Some((_, number)) = left.next_if(|(at, _)| *at == column) {
                coefficient = *number;
            }
            if let Some((_, number)) = right.next_if(|(at, _)| *at == column) {
                coefficient = coefficient.checked_add(number.checked_mul(factor)?)?;
            }
            if coefficient != 0 {
                terms.push((column, coefficient));
            }
        }
        Some(Self { terms, constant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    const PARAMETERS: [&str; 2] = ["p0", "p1"];
    const DIMENSIONS: [&str; 3] = ["a", "b", "c"];

    fn system() -> System<String> {
        let named = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        System::new(&named(&PARAMETERS), &named(&DIMENSIONS))
    }

    fn by_isl(condition: &str) -> Set {
        let (parameters, dimensions) = (PARAMETERS.join(", "), DIMENSIONS.join(", "));
        Set::parse(&format!(
            "[{parameters}] -> {{ [{dimensions}] : {condition} }}"
        ))
        .unwrap()
    }

    fn by_us(condition: &str) -> Set {
        let mut system = system();
        let read = system.read(&[condition]).unwrap();
        let set = system.set(&[&read, system.definitions()]).unwrap();
        let behind = system.dimensions() - DIMENSIONS.len();
        set.project_out(DIMENSIONS.len(), behind).unwrap()
    }

    fn term(random: &mut StdRng, depth: usize) -> String {
        let names = [PARAMETERS.as_slice(), &DIMENSIONS].concat();
        let number = random.random_range(-9i64..10);
        match random.random_range(0..if depth == 0 { 2 } else { 5 }) {
            0 => number.to_string(),
            1 => format!("{number}*{}", names[random.random_range(0..names.len())]),
            2 => format!(
                "({} + {})",
                term(random, depth - 1),
                term(random, depth - 1)
            ),
            3 => format!("({number}*{})", term(random, depth - 1)),
            _ => {
                let divisor = random.random_range(1..9);
                format!("floor(({})/{divisor})", term(random, depth - 1))
            }
        }
    }

    #[test]
    fn conjunctions_are_what_isl_reads() {
        let mut random = StdRng::seed_from_u64(5);
        for _ in 0..300 {
            let orders = ["<", "<=", "=", ">=", ">"];
            let mut parts = Vec::new();
            for _ in 0..random.random_range(1..4) {
                let order = orders[random.random_range(0..orders.len())];
                parts.push(format!(
                    "{} {order} {} - {}",
                    term(&mut random, 2),
                    term(&mut random, 2),
                    term(&mut random, 1)
                ));
            }
            let condition = parts.join(" and ");
            let (expected, found) = (by_isl(&condition), by_us(&condition));
            assert!(found.is_subset(&expected).unwrap(), "more: {condition}");
            assert!(expected.is_subset(&found).unwrap(), "less: {condition}");
        }
    }

    #[test]
    fn what_is_found_is_a_point() {
        let mut random = StdRng::seed_from_u64(6);
        let mut points = 0;
        for _ in 0..300 {
            let mut system = system();
            let condition = format!(
                "{} <= {} and {} = {}",
                term(&mut random, 1),
                term(&mut random, 2),
                term(&mut random, 1),
                term(&mut random, 2)
            );
            let read = system.read(&[&condition]).unwrap();
            let all = [&read, system.definitions()];
            let empty = by_isl(&condition).is_empty().unwrap();
            match system.find(&all).unwrap() {
                Found::Nothing => assert!(empty, "{condition}"),
                Found::Point(point) => {
                    points += 1;
                    assert!(all.iter().all(|all| all.holds_at(&point)), "{condition}");
                }
                Found::TooLarge => assert!(!empty, "{condition}"),
            }
        }
        assert!(points > 100, "{points} points");
        let mut system = system();
        let read =
            system.read(&["a > b + 3 >= floor((c)/2) and p0 = 7 and p1 = 0 and b >= -1 and c = 9"]);
        let (read, definitions) = (read.unwrap(), system.definitions());
        let (least, point) = (system.at_most(0, 5), [7, 0, 5, 1, 9, 4]);
        let found = system.find(&[&read, definitions, &least]).unwrap();
        assert_eq!(found, Found::Point(point.to_vec()));
        assert_eq!(system.without_parameters(&point), [5, 1, 9, 4]);
        let less = system.find(&[&read, definitions, &system.at_most(0, 4)]);
        assert_eq!(less.unwrap(), Found::Nothing);
        assert!(system.exactly(1, 1).holds_at(&point) && !system.exactly(1, 0).holds_at(&point));
        assert!(!read.holds_at(&[7, 0, 3, 1, 9, 4]));
        assert_eq!(system.cells(&[&read, definitions]), 8 * 7);
    }

    #[test]
    fn chains_and_constants() {
        let set = by_us("0 <= a < 4 and true and b = floor((a)/2) and c = -3*(2) + 5");
        let expected = "{ [a, b, c] : 0 <= a < 4 and 2b <= a <= 2b + 1 and c = -1 }";
        let expected = Set::parse(expected).unwrap();
        assert!(set.is_subset(&expected).unwrap() && expected.is_subset(&set).unwrap());
        assert!(by_us("1 = 0").is_empty().unwrap());
        assert!(system().read(&["andes >= 0 and true"]).is_err());
    }

    #[test]
    fn equal_quotients_are_one_dimension() {
        let mut system = system();
        system
            .read(&["floor((a + b)/3) = 1", "floor((b + a)/3) <= c"])
            .unwrap();
        assert_eq!(system.dimensions(), 4);
    }

    #[test]
    fn what_is_no_conjunction_is_refused() {
        for text in [
            "a",
            "a >= ",
            "a >= 0 or b >= 0",
            "a*b >= 0",
            "floor(a/b) = 1",
            "floor(a/0) = 1",
            "(a >= 0)",
            "x >= 0",
            "a >= 9223372036854775808",
            "9223372036854775807*(2*a) >= 0",
            "a >= 0 b",
        ] {
            assert!(system().read(&[text]).is_err(), "{text}");
        }
    }
}
