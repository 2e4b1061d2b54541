//! Factors of sparse matrices, column by column.

use nalgebra::{ComplexField, zero};

use crate::dense::Scalar;

/// Elements of each row or column, by place.
pub type Lines<T> = Vec<Vec<(usize, T)>>;

/// Solves systems with a matrix that was factored.
pub trait Factors<T: Scalar>: Send {
    /// The first column whose pivot is not above a limit.
    fn without_pivot(&self, limit: T::RealField) -> Option<usize>;

    /// The solution for a right side; only where every column has a pivot.
    fn solve(&self, right: Vec<T>) -> Vec<T>;
}

/// The columns of a matrix by its rows.
pub fn turned<T: Copy>(lines: &Lines<T>) -> Lines<T> {
    let mut turned = vec![Vec::new(); lines.len()];
    for (row, line) in lines.iter().enumerate() {
        for (column, value) in line {
            turned[*column].push((row, *value));
        }
    }
    turned
}

/// Which element of a column is its pivot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pivots<R> {
    /// The largest one.
    Largest,
    /// That of the diagonal; the second number where it is smaller than the first, and the second is not zero.
    Diagonal((R, R)),
}

/// `P * A = L * U`.
pub struct LowerUpper<T: Scalar> {
    /// What each column of `L` has below its one, by the rows of `A`.
    lower: Lines<T>,
    /// What each column of `U` has above its pivot, by steps.
    upper: Lines<T>,
    /// The pivots as far as the first that is zero.
    pivots: Vec<T>,
    /// The row of `A` that each step took.
    rows: Vec<usize>,
}

impl<T: Scalar> LowerUpper<T> {
    /// Factors a square matrix, whose columns these are, as far as it has pivots.
    pub fn new(columns: &Lines<T>, pivots: Pivots<T::RealField>) -> Self {
        let size = columns.len();
        let mut factors = Self {
            lower: Vec::new(),
            upper: Vec::new(),
            pivots: Vec::new(),
            rows: Vec::new(),
        };
        let mut step_of = vec![None; size];
        let mut values = vec![zero::<T>(); size];
        let mut seen = vec![usize::MAX; size];
        for (column, elements) in columns.iter().enumerate() {
            let mut steps = Vec::new();
            let mut open = Vec::new();
            for (row, value) in elements {
                values[*row] += *value;
                factors.reach((*row, column), &step_of, &mut seen, (&mut steps, &mut open));
            }
            let mut upper = Vec::new();
            for step in steps.into_iter().rev() {
                let value = std::mem::replace(&mut values[factors.rows[step]], zero());
                for (row, factor) in &factors.lower[step] {
                    values[*row] -= *factor * value;
                }
                upper.push((step, value));
            }
            let (pivot, value) = chosen(&pivots, &open, &values, column);
            factors.upper.push(upper);
            factors.pivots.push(value);
            let Some(pivot) = pivot.filter(|_| !value.is_zero()) else {
                break;
            };
            step_of[pivot] = Some(column);
            factors.rows.push(pivot);
            let mut lower = Vec::new();
            for row in open {
                let below = std::mem::replace(&mut values[row], zero());
                if row != pivot && !below.is_zero() {
                    lower.push((row, below / value));
                }
            }
            factors.lower.push(lower);
        }
        factors
    }

    /// Whether all of so many columns have a pivot.
    pub fn is_complete(&self, size: usize) -> bool {
        self.rows.len() == size
    }

    /// How many elements `L` has below its ones, and `U`.
    pub fn counts(&self) -> [usize; 2] {
        let of = |lines: &Lines<T>| lines.iter().map(Vec::len).sum::<usize>();
        [of(&self.lower), of(&self.upper) + self.pivots.len()]
    }

    /// The row of `A` that comes to each place, and the rows of `L` below its ones and of `U`; only where every column
    /// has a pivot.
    pub fn parts(&self) -> Option<(Vec<usize>, Lines<T>, Lines<T>)> {
        let size = self.pivots.len();
        if !self.is_complete(size) {
            return None;
        }
        let mut place_of = vec![0; size];
        for (place, row) in self.rows.iter().enumerate() {
            place_of[*row] = place;
        }
        let below = |column: &Vec<(usize, T)>| -> Vec<(usize, T)> {
            column
                .iter()
                .map(|(row, value)| (place_of[*row], *value))
                .collect()
        };
        let lower: Lines<T> = self.lower.iter().map(below).collect();
        let mut upper = self.upper.clone();
        for (step, (column, pivot)) in upper.iter_mut().zip(&self.pivots).enumerate() {
            column.push((step, *pivot));
        }
        Some((self.rows.clone(), turned(&lower), turned(&upper)))
    }

    /// What a column touches from a row on: steps, each behind those that it changes, and rows without a step.
    fn reach(
        &self,
        (row, column): (usize, usize),
        step_of: &[Option<usize>],
        seen: &mut [usize],
        (steps, open): (&mut Vec<usize>, &mut Vec<usize>),
    ) {
        let mut path = vec![(row, 0)];
        while let Some((row, next)) = path.pop() {
            if next == 0 {
                if seen[row] == column {
                    continue;
                }
                seen[row] = column;
            }
            let Some(step) = step_of[row] else {
                open.push(row);
                continue;
            };
            match self.lower[step].get(next) {
                None => steps.push(step),
                Some((behind, _)) => {
                    path.push((row, next + 1));
                    if seen[*behind] != column {
                        path.push((*behind, 0));
                    }
                }
            }
        }
    }
}

/// The row that a column's pivot is in, and what it is.
fn chosen<T: Scalar>(
    pivots: &Pivots<T::RealField>,
    open: &[usize],
    values: &[T],
    column: usize,
) -> (Option<usize>, T) {
    let mut pivot: Option<usize> = None;
    match pivots {
        Pivots::Largest => {
            // The diagonal is as good as any other of its size.
            let size_of = |row: usize| (values[row].norm1(), row == column);
            for row in open {
                if pivot.is_none_or(|best| size_of(*row) > size_of(best)) {
                    pivot = Some(*row);
                }
            }
            (pivot, pivot.map_or(zero(), |row| values[row]))
        }
        Pivots::Diagonal((small, other)) => {
            let value = match open.contains(&column) {
                true => values[column],
                false => zero(),
            };
            let is_small = value.modulus() < *small && *other != zero();
            let value = match is_small {
                true => T::from_real(other.clone()),
                false => value,
            };
            (Some(column), value)
        }
    }
}

impl<T: Scalar> Factors<T> for LowerUpper<T> {
    fn without_pivot(&self, limit: T::RealField) -> Option<usize> {
        let mut pivots = self.pivots.iter();
        pivots.position(|pivot| pivot.modulus() <= limit)
    }

    fn solve(&self, mut right: Vec<T>) -> Vec<T> {
        let mut solution = Vec::new();
        for (row, lower) in self.rows.iter().zip(&self.lower) {
            let value = right[*row];
            for (below, factor) in lower {
                right[*below] -= *factor * value;
            }
            solution.push(value);
        }
        for (step, upper) in self.upper.iter().enumerate().rev() {
            let value = solution[step] / self.pivots[step];
            for (above, factor) in upper {
                solution[*above] -= *factor * value;
            }
            solution[step] = value;
        }
        solution
    }
}

/// `A = L * L'`.
pub struct Cholesky<T: Scalar> {
    /// What each column of `L` has below its diagonal, by rows.
    lower: Lines<T>,
    diagonal: Vec<T::RealField>,
    size: usize,
}

impl<T: Scalar> Cholesky<T> {
    /// Factors a matrix, whose rows these are and of which only the lower triangle counts, as far as it is positive
    /// definite.
    pub fn new(rows: &Lines<T>) -> Self {
        let size = rows.len();
        let columns = turned(rows);
        let (mut lower, mut diagonal): (Lines<T>, Vec<T::RealField>) = (Vec::new(), Vec::new());
        // For each column, those before it that change it, and where in them.
        let mut changing: Vec<Vec<(usize, usize)>> = vec![Vec::new(); size];
        let mut values = vec![zero::<T>(); size];
        let mut seen = vec![usize::MAX; size];
        for column in 0..size {
            let mut pattern = Vec::new();
            let mut note = |row: usize| {
                if seen[row] != column {
                    seen[row] = column;
                    pattern.push(row);
                }
            };
            for (row, value) in &columns[column] {
                if *row >= column {
                    note(*row);
                    values[*row] += *value;
                }
            }
            for (earlier, place) in std::mem::take(&mut changing[column]) {
                let elements: &[(usize, T)] = &lower[earlier][place..];
                let factor = elements[0].1.conjugate();
                for (row, value) in elements {
                    note(*row);
                    values[*row] -= *value * factor;
                }
                if let Some((next, _)) = elements.get(1) {
                    changing[*next].push((earlier, place + 1));
                }
            }
            let square = std::mem::replace(&mut values[column], zero()).real();
            let positive = square > zero();
            if !positive {
                break;
            }
            let root = ComplexField::sqrt(square);
            pattern.sort_unstable();
            let below = pattern.into_iter().filter(|row| *row > column);
            let elements: Vec<(usize, T)> = below
                .map(|row| {
                    let value = std::mem::replace(&mut values[row], zero());
                    (row, value.unscale(root.clone()))
                })
                .collect();
            if let Some((first, _)) = elements.first() {
                changing[*first].push((column, 0));
            }
            diagonal.push(root);
            lower.push(elements);
        }
        Self {
            lower,
            diagonal,
            size,
        }
    }
}

impl<T: Scalar> Factors<T> for Cholesky<T> {
    fn without_pivot(&self, limit: T::RealField) -> Option<usize> {
        let mut roots = self.diagonal.iter();
        let small = roots.position(|root| *root <= limit);
        small.or_else(|| (self.diagonal.len() < self.size).then_some(self.diagonal.len()))
    }

    fn solve(&self, mut right: Vec<T>) -> Vec<T> {
        for (column, (elements, root)) in self.lower.iter().zip(&self.diagonal).enumerate() {
            let value = right[column].unscale(root.clone());
            for (row, factor) in elements {
                right[*row] -= *factor * value;
            }
            right[column] = value;
        }
        for (column, (elements, root)) in self.lower.iter().zip(&self.diagonal).enumerate().rev() {
            let mut sum = right[column];
            for (row, factor) in elements {
                sum -= factor.conjugate() * right[*row];
            }
            right[column] = sum.unscale(root.clone());
        }
        right
    }
}
