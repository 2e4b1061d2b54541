//! Whole formulas as rows, with alternatives, and a search for a point that satisfies one.
//!
//! isl multiplies alternatives out while it joins them. Here they are left alone: a point of what holds in any
//! case is asked for, and alternatives are gone through one by one only where that point satisfies none of
//! them, so that those which a proof does not need cost nothing. Before that, alternatives fall away that say
//! the opposite of a row that holds, and what all that are left of some say in common holds, too.
//!
//! Invariant: [`System::is_empty`] answers as isl does for the same formula, or not at all.

use super::bounds::Bounds;
use super::linear::Row;
use super::{Conjunction, Found, IslError, Result, System};
use crate::math::formula::Formula;
use std::hash::Hash;

/// Linear constraints joined by `and` and `or`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFormula {
    /// All hold.
    Rows(Conjunction),
    /// All parts hold.
    All(Vec<Self>),
    /// Some part holds.
    Any(Vec<Self>),
}

impl RowFormula {
    /// Whether it holds at a point, which has a value for each column; false where a number leaves 64 bits.
    fn holds_at(&self, point: &[i64]) -> bool {
        match self {
            Self::Rows(rows) => rows.holds_at(point),
            Self::All(parts) => parts.iter().all(|part| part.holds_at(point)),
            Self::Any(parts) => parts.iter().any(|part| part.holds_at(point)),
        }
    }
}

impl<V: Clone + Eq + Hash> System<V> {
    /// The rows of a formula.
    ///
    /// # Errors
    /// [`IslError::Invalid`] where a number leaves 64 bits, or a variable is neither a parameter nor a dimension.
    pub fn rows(&mut self, formula: &Formula<V>) -> Result<RowFormula> {
        self.rows_of(formula)
            .ok_or_else(|| IslError::Invalid(String::from("a number of more than 64 bits")))
    }

    /// The rows of formulas without alternatives, which all hold.
    ///
    /// # Errors
    /// [`IslError::Invalid`] as of [`Self::rows`], and where there are alternatives.
    pub fn conjunction(&mut self, formulas: &[Formula<V>]) -> Result<Conjunction> {
        let mut all = Conjunction::default();
        self.add_rows(formulas, &mut all).ok_or_else(|| {
            IslError::Invalid(String::from(
                "alternatives, or a number of more than 64 bits",
            ))
        })?;
        Ok(all)
    }

    fn add_rows(&mut self, formulas: &[Formula<V>], all: &mut Conjunction) -> Option<()> {
        for formula in formulas {
            match formula {
                Formula::All(parts) => self.add_rows(parts, all)?,
                formula => all.rows.push(self.row(formula)?),
            }
        }
        Some(())
    }

    fn rows_of(&mut self, formula: &Formula<V>) -> Option<RowFormula> {
        let (Formula::All(parts) | Formula::Any(parts)) = formula else {
            return Some(RowFormula::Rows(Conjunction {
                rows: vec![self.row(formula)?],
            }));
        };
        if let [part] = parts.as_slice() {
            return self.rows_of(part);
        }
        if matches!(formula, Formula::Any(_)) {
            let parts = parts.iter().map(|part| self.rows_of(part));
            return parts.collect::<Option<_>>().map(RowFormula::Any);
        }
        let mut rows = Conjunction::default();
        let mut others = Vec::new();
        for part in parts {
            match part {
                Formula::NonNegative(_) | Formula::Zero(_) => rows.rows.push(self.row(part)?),
                _ => others.push(self.rows_of(part)?),
            }
        }
        if others.is_empty() {
            return Some(RowFormula::Rows(rows));
        }
        others.push(RowFormula::Rows(rows));
        Some(RowFormula::All(others))
    }

    /// The row of one comparison.
    fn row(&mut self, formula: &Formula<V>) -> Option<Row> {
        let (sum, equality) = match formula {
            Formula::NonNegative(sum) => (sum, false),
            Formula::Zero(sum) => (sum, true),
            Formula::All(_) | Formula::Any(_) => return None,
        };
        let linear = self.linear(sum)?;
        Some(Row { linear, equality })
    }

    /// Whether no point satisfies a formula for any values of the parameters, which is asked of isl by at most
    /// `questions` conjunctions.
    ///
    /// # Errors
    /// Quota.
    pub fn is_empty(&self, formula: &RowFormula, questions: usize) -> Result<bool> {
        self.is_empty_within(formula, &mut { questions })
    }

    /// The same, and how many conjunctions are left.
    ///
    /// # Errors
    /// Quota.
    pub fn is_empty_within(&self, formula: &RowFormula, questions: &mut usize) -> Result<bool> {
        let mut search = Search {
            system: self,
            left: *questions,
        };
        let answer = search.is_empty(vec![self.definitions()], Vec::new(), vec![formula]);
        *questions = search.left;
        answer
    }
}

struct Search<'a, V> {
    system: &'a System<V>,
    /// Questions that may still be asked.
    left: usize,
}

impl<V: Clone + Eq + Hash> Search<'_, V> {
    /// Whether nothing satisfies all rows, some part of each of `choices`, and all of `pending`.
    fn is_empty<'f>(
        &mut self,
        mut rows: Vec<&'f Conjunction>,
        mut choices: Vec<Vec<&'f RowFormula>>,
        mut pending: Vec<&'f RowFormula>,
    ) -> Result<bool> {
        let mut bounds = Bounds::default();
        rows.iter().for_each(|known| bounds.note(known));
        let mut common = Conjunction::default();
        loop {
            while let Some(formula) = pending.pop() {
                match formula {
                    RowFormula::Rows(conjunction) => {
                        bounds.note(conjunction);
                        rows.push(conjunction);
                    }
                    RowFormula::All(parts) => pending.extend(parts),
                    RowFormula::Any(parts) => choices.push(parts.iter().collect()),
                }
            }
            // What contradicts something that holds is no alternative, and what all alternatives say holds.
            let known = common.rows.len();
            for parts in &mut choices {
                parts.retain(|part| !bounds.contradict(part));
                match parts[..] {
                    [] => return Ok(true),
                    [part] => pending.push(part),
                    _ => {
                        let news = Bounds::of_some(parts.iter().copied()).beyond(&bounds);
                        bounds.note(&news);
                        common.append(news);
                    }
                }
            }
            choices.retain(|parts| parts.len() > 1);
            if pending.is_empty() && common.rows.len() == known {
                break;
            }
        }
        let mut rows: Vec<&Conjunction> = rows;
        rows.push(&common);
        self.left = self.left.checked_sub(1).ok_or(IslError::Quota)?;
        let holds =
            |parts: &[&RowFormula], point: &[i64]| parts.iter().any(|part| part.holds_at(point));
        let open: Vec<usize> = match self.system.find(&rows)? {
            Found::Nothing => return Ok(true),
            Found::Point(point) => {
                let positions = 0..choices.len();
                positions
                    .filter(|at| !holds(&choices[*at], &point))
                    .collect()
            }
            Found::TooLarge => (0..choices.len()).collect(),
        };
        let fewest = open.into_iter().min_by_key(|at| choices[*at].len());
        let Some(chosen) = fewest.map(|at| choices.remove(at)) else {
            return Ok(false);
        };
        for part in chosen {
            if !self.is_empty(rows.clone(), choices.clone(), vec![part])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::isl::Set;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    const PARAMETERS: [&str; 2] = ["p0", "p1"];
    const DIMENSIONS: [&str; 3] = ["a", "b", "c"];

    fn system() -> System<String> {
        System::new(
            &PARAMETERS.map(str::to_owned),
            &DIMENSIONS.map(str::to_owned),
        )
    }

    fn answers(text: &str) -> (bool, bool) {
        let set = format!(
            "[{}] -> {{ [{}] : {text} }}",
            PARAMETERS.join(", "),
            DIMENSIONS.join(", ")
        );
        let by_isl = Set::parse(&set).unwrap().is_empty().unwrap();
        let mut system = system();
        let formula = system.read_formula(text).unwrap();
        (by_isl, system.is_empty(&formula, 1000).unwrap())
    }

    fn comparison(random: &mut StdRng) -> String {
        let names = [PARAMETERS.as_slice(), &DIMENSIONS].concat();
        let mut term = || {
            let name = names[random.random_range(0..names.len())];
            let number = random.random_range(-4i64..5);
            match random.random_range(0..4) {
                0 => format!("({number}*{name} + {})", random.random_range(-6i64..7)),
                1 => format!("floor(({number}*{name} + 1)/{})", random.random_range(2..5)),
                2 => format!("({name})"),
                _ => number.to_string(),
            }
        };
        let sides = [term(), term(), term()];
        let order = ["<", "<=", "=", ">=", ">"][random.random_range(0..5)];
        format!("{} {order} {} + {}", sides[0], sides[1], sides[2])
    }

    fn formula(random: &mut StdRng, depth: usize) -> String {
        if depth == 0 {
            return comparison(random);
        }
        let joiner = [" and ", " or "][random.random_range(0..2)];
        let count = random.random_range(1..4);
        let parts: Vec<_> = (0..count)
            .map(|_| match random.random_range(0..3) {
                0 => comparison(random),
                _ => format!("({})", formula(random, depth - 1)),
            })
            .collect();
        parts.join(joiner)
    }

    #[test]
    fn formulas_are_empty_where_isl_says_so() {
        let mut random = StdRng::seed_from_u64(7);
        let mut empty = 0;
        for _ in 0..400 {
            let text = (0..3)
                .map(|_| format!("({})", formula(&mut random, 2)))
                .collect::<Vec<_>>()
                .join(" and ");
            let (expected, found) = answers(&text);
            assert_eq!(expected, found, "{text}");
            empty += usize::from(found);
        }
        assert!((40..360).contains(&empty), "{empty} are empty");
    }

    #[test]
    fn parentheses_are_of_sums_or_of_formulas() {
        let set = "((a + 1) = 2*(b) and ((a) >= 4 or (b >= 3))) and (0 = 1 or ((a + b) <= 4))";
        assert_eq!(answers(set), (true, true));
        let less = "((a + 1) = 2*(b) and ((a) >= 4 or (b >= 3))) and (0 = 0 and ((a + b) <= 8))";
        assert_eq!(answers(less), (false, false));
    }

    #[test]
    fn alternatives_that_decide_nothing_cost_nothing() {
        let free = (0..40).map(|at| format!("(p0 >= {at} or p1 <= -{at} or p0 < {at})"));
        let free: Vec<_> = free.collect();
        let text = format!(
            "{} and (a = b or a = c) and b >= 5 and c > 6 and a < 5",
            free.join(" and ")
        );
        let mut system = system();
        let formula = system.read_formula(&text).unwrap();
        assert_eq!(system.is_empty(&formula, 4), Ok(true));
        assert_eq!(system.is_empty(&formula, 2), Err(IslError::Quota));
    }

    #[test]
    fn what_all_alternatives_say_and_what_none_can_cost_one_question() {
        // Each part of the first says that a is above b, none of the second but one fits to c.
        let above: Vec<_> = (1..9)
            .map(|by| format!("(a >= b + {by} and c <= {by})"))
            .collect();
        let below: Vec<_> = (0..9)
            .map(|by| format!("(c >= {by} and a = b - {by})"))
            .collect();
        let text = format!("({}) and ({})", above.join(" or "), below.join(" or "));
        let mut system = system();
        let formula = system.read_formula(&text).unwrap();
        assert_eq!(system.is_empty(&formula, 1), Ok(true));
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        for text in [
            "",
            "(a >= 0",
            "a >= 0 or",
            "a >= 0) and b >= 0",
            "(a) or b >= 0",
            "or a >= 0",
        ] {
            assert!(system().read_formula(text).is_err(), "{text}");
        }
    }
}
