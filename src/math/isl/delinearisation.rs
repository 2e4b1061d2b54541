//! Sums of multiples that are nearly zero, delinearised: where `784·r + 4·c` is between -3 and 3 and the
//! other conditions keep `4·c` between -780 and 780, `r` is 0 and `4·c` is between -3 and 3. isl finds that, too, but
//! by cuts, of which a subscript with tiles, lanes and loops takes very many.
//!
//! Invariant: the points are those of the conditions as they were.

use super::linear::{Conjunction, Found, Linear, Row, System};
use super::with_operation_budget;
use std::hash::Hash;

/// Elementary operations for one question about the size of a component; nearly all are answered by the first relaxation.
const OPERATIONS: u64 = 800;
/// Units that are tried for one sum.
const MOST_UNITS: usize = 8;
/// Sums that come of one.
const MOST_SUMS: usize = 16;

/// `least <= linear <= most`.
#[derive(Clone)]
struct Sum {
    linear: Linear,
    least: i64,
    most: i64,
}

impl<V: Clone + Eq + Hash> System<V> {
    /// The conditions, with two-sided ones taken apart where that is found to change nothing.
    pub fn delinearised(&self, conditions: &Conjunction) -> Conjunction {
        let mut rows = conditions.rows.clone();
        let mut apart = Vec::new();
        let mut position = 0;
        while position < rows.len() {
            let Some((sum, opposite)) = two_sided(&rows, position) else {
                position += 1;
                continue;
            };
            let mut others = rows.clone();
            opposite.map(|opposite| others.remove(opposite));
            others.remove(position);
            let others = Conjunction { rows: others };
            match self.delinearise(&sum, &others) {
                Some(components) => {
                    rows = others.rows;
                    apart.extend(components.iter().flat_map(Sum::rows));
                }
                None => position += 1,
            }
        }
        rows.extend(apart);
        Conjunction { rows }
    }

    /// What a sum comes to; `None` where it cannot be taken apart.
    fn delinearise(&self, sum: &Sum, others: &Conjunction) -> Option<Vec<Sum>> {
        let mut components = Vec::new();
        let mut work = vec![sum.clone()];
        let mut taken_apart = false;
        while let Some(sum) = work.pop() {
            let parts = (components.len() + work.len() + 2 <= MOST_SUMS)
                .then(|| self.divided(&sum, others))
                .flatten();
            match parts {
                Some(parts) => {
                    taken_apart = true;
                    work.extend(parts);
                }
                None => components.push(sum),
            }
        }
        taken_apart.then_some(components)
    }

    /// A quotient, which is zero, and a component.
    fn divided(&self, sum: &Sum, others: &Conjunction) -> Option<[Sum; 2]> {
        let width = sum.most.checked_sub(sum.least)?;
        let coefficients = sum.linear.terms.iter().map(|(_, number)| number.abs());
        let mut units: Vec<i64> = coefficients.filter(|unit| *unit > width).collect();
        units.sort_unstable();
        units.dedup();
        units.truncate(MOST_UNITS);
        units.into_iter().find_map(|unit| {
            let (quotient, component) = sum.linear.divide(unit)?;
            if quotient.terms.is_empty() || component.terms.is_empty() {
                return None;
            }
            // With a multiple of the unit other than zero the sum would be out of its bounds.
            let small = self.never(others, &component.at_least(sum.least.checked_add(unit)?)?)
                && self.never(others, &component.at_most(sum.most.checked_sub(unit)?)?);
            let (least, most) = (sum.least, sum.most);
            small.then_some([
                Sum {
                    linear: quotient,
                    least: 0,
                    most: 0,
                },
                Sum {
                    linear: component,
                    least,
                    most,
                },
            ])
        })
    }

    fn never(&self, others: &Conjunction, row: &Row) -> bool {
        let row = Conjunction {
            rows: vec![row.clone()],
        };
        let all = [others, &row, self.definitions()];
        with_operation_budget(OPERATIONS, || self.find(&all)) == Ok(Found::Nothing)
    }
}

/// The sum of an equality, or of a row and of a later one that bounds the same from the other side, and where that is. Sums
/// of one term have no components.
fn two_sided(rows: &[Row], position: usize) -> Option<(Sum, Option<usize>)> {
    let row = &rows[position];
    if row.linear.terms.len() < 2 {
        return None;
    }
    let linear = Linear {
        constant: 0,
        ..row.linear.clone()
    };
    let least = row.linear.constant.checked_neg()?;
    if row.equality {
        let most = least;
        let sum = Sum {
            linear,
            least,
            most,
        };
        return Some((sum, None));
    }
    let is_opposite = |other: &Row| {
        let mut pairs = row.linear.terms.iter().zip(&other.linear.terms);
        !other.equality
            && row.linear.terms.len() == other.linear.terms.len()
            && pairs.all(|((column, number), (other, opposite))| {
                column == other && number.checked_neg() == Some(*opposite)
            })
    };
    let later = rows.iter().enumerate().skip(position + 1);
    let (opposite, other) = later.into_iter().find(|(_, other)| is_opposite(other))?;
    let most = other.linear.constant;
    Some((
        Sum {
            linear,
            least,
            most,
        },
        Some(opposite),
    ))
}

impl Sum {
    fn rows(&self) -> Vec<Row> {
        if self.least == self.most
            && let Some(linear) = self.linear.plus(self.least.wrapping_neg())
        {
            let equality = true;
            return vec![Row { linear, equality }];
        }
        let both = [
            self.linear.at_least(self.least),
            self.linear.at_most(self.most),
        ];
        both.into_iter().flatten().collect()
    }
}

impl Linear {
    /// `unit · first + second`, with numbers nearest to zero in the second.
    fn divide(&self, unit: i64) -> Option<(Self, Self)> {
        let (mut quotient, mut component) = (Self::default(), Self::default());
        for (column, number) in &self.terms {
            let times = nearest(*number, unit)?;
            let left = number.checked_sub(times.checked_mul(unit)?)?;
            if times != 0 {
                quotient.terms.push((*column, times));
            }
            if left != 0 {
                component.terms.push((*column, left));
            }
        }
        quotient.constant = nearest(self.constant, unit)?;
        component.constant = self
            .constant
            .checked_sub(quotient.constant.checked_mul(unit)?)?;
        Some((quotient, component))
    }

    fn plus(&self, number: i64) -> Option<Self> {
        let constant = self.constant.checked_add(number)?;
        Some(Self {
            constant,
            ..self.clone()
        })
    }

    fn at_least(&self, number: i64) -> Option<Row> {
        let linear = self.plus(number.checked_neg()?)?;
        let equality = false;
        Some(Row { linear, equality })
    }

    fn at_most(&self, number: i64) -> Option<Row> {
        let terms = self.terms.iter();
        let terms = terms.map(|(column, times)| Some((*column, times.checked_neg()?)));
        let opposite = Self {
            terms: terms.collect::<Option<_>>()?,
            constant: self.constant.checked_neg()?,
        };
        opposite.at_least(number.checked_neg()?)
    }
}

/// The whole number that is nearest to a fraction.
fn nearest(number: i64, unit: i64) -> Option<i64> {
    Some(
        number
            .checked_mul(2)?
            .checked_add(unit)?
            .div_euclid(unit.checked_mul(2)?),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    fn system(dimensions: usize) -> (System<String>, Vec<String>) {
        let names: Vec<String> = (0..dimensions).map(|number| format!("x{number}")).collect();
        (System::new(&[], &names), names)
    }

    #[test]
    fn a_place_is_its_rows_and_columns() {
        let (mut system, _) = system(4);
        let text = "0 <= x0 < 8 and 0 <= x2 < 8 and 0 <= x1 < 196 and 0 <= x3 < 196 \
                    and 784*x0 + 4*x1 < 784*x2 + 4*x3 + 4 and 784*x2 + 4*x3 < 784*x0 + 4*x1 + 4";
        let read = system.read(&[text]).unwrap();
        let apart = system.delinearised(&read);
        // Rows and columns are equal, which is said of each by itself.
        let equal = apart.rows.iter().filter(|row| row.equality);
        assert_eq!(equal.count(), 1);
        let wide = |row: &&Row| row.linear.terms.len() > 2;
        assert_eq!(apart.rows.iter().filter(wide).count(), 0, "{apart:?}");
        // One more column, and the last of a row is the first of the next.
        let text = text.replace("196", "197");
        let (mut system, _) = self::system(4);
        let read = system.read(&[&text]).unwrap();
        assert_eq!(system.delinearised(&read), read);
    }

    /// Of random sums in boxes, all points are compared.
    #[test]
    fn no_point_is_lost_and_none_is_won() {
        let mut random = StdRng::seed_from_u64(11);
        let mut taken_apart = 0;
        for _ in 0..400 {
            let (mut system, names) = system(4);
            let extents: Vec<i64> = names.iter().map(|_| random.random_range(1..6)).collect();
            let boxes = names.iter().zip(&extents);
            let mut texts: Vec<String> = boxes
                .map(|(name, extent)| format!("0 <= {name} < {extent}"))
                .collect();
            let unit = [1, 5, 7, 12][random.random_range(0..4)];
            let sum: Vec<String> = names
                .iter()
                .map(|name| {
                    let number = random.random_range(-3i64..4);
                    let units = [1, unit, unit * unit][random.random_range(0..3)];
                    format!("{}*{name}", number * units)
                })
                .collect();
            let sum = sum.join(" + ");
            let least = random.random_range(-4i64..3);
            let most = least + random.random_range(0i64..4);
            texts.push(match random.random_bool(0.3) {
                true => format!("{sum} = {least}"),
                false => format!("{least} <= {sum} <= {most}"),
            });
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let read = system.read(&texts).unwrap();
            let apart = system.delinearised(&read);
            taken_apart += usize::from(apart != read);
            let count: i64 = extents.iter().product();
            for number in 0..count {
                let mut rest = number;
                let point: Vec<i64> = extents
                    .iter()
                    .map(|extent| {
                        let at = rest % extent;
                        rest /= extent;
                        at
                    })
                    .collect();
                let before = read.holds_at(&point);
                assert_eq!(before, apart.holds_at(&point), "{texts:?} at {point:?}");
            }
        }
        assert!(taken_apart > 40, "{taken_apart}");
    }
}
