//! Orthogonal factors as reflectors.

use super::{Operation, Scalar, Triangle, solve_triangle};
use crate::sums::pairwise;
use nalgebra::{ComplexField, DMatrix};

/// `A = Q * R`: `R` in the upper triangle; `Q` is the product of the reflectors `1 - t * v * v'`, whose `v`
/// have a one on the diagonal and the rest below.
#[derive(Clone, Debug)]
pub struct Reflectors<T: Scalar> {
    /// `R` and the reflectors' vectors.
    pub factors: DMatrix<T>,
    /// Each reflector's `t`.
    pub scales: Vec<T>,
}

impl<T: Scalar> Reflectors<T> {
    /// Factors a matrix.
    pub fn new(mut factors: DMatrix<T>) -> Self {
        let (rows, columns) = factors.shape();
        let mut scales = Vec::new();
        for step in 0..rows.min(columns) {
            let scale = reflect(&mut factors, step);
            let adjoint = scale.conjugate();
            let (vector, mut others) = factors.columns_range_pair_mut(step, step + 1..columns);
            for mut column in others.column_iter_mut() {
                let below = (step + 1..rows).map(|row| vector[row].conjugate() * column[row]);
                let product = (column[step] + pairwise(T::zero(), below)) * adjoint;
                column[step] -= product;
                for row in step + 1..rows {
                    column[row] -= vector[row] * product;
                }
            }
            scales.push(scale);
        }
        Self { factors, scales }
    }

    /// `op(Q) * C`, in place of `C`.
    pub fn apply(&self, operation: Operation, to: &mut DMatrix<T>) {
        let rows = self.factors.nrows();
        let count = self.scales.len();
        for step in 0..count {
            let (index, scale) = match operation {
                Operation::Plain => (count - 1 - step, self.scales[count - 1 - step]),
                _ => (step, self.scales[step].conjugate()),
            };
            for mut column in to.column_iter_mut() {
                let term = |row| self.factors[(row, index)].conjugate() * column[row];
                let below = (index + 1..rows).map(term);
                let product = (column[index] + pairwise(T::zero(), below)) * scale;
                column[index] -= product;
                for row in index + 1..rows {
                    column[row] -= self.factors[(row, index)] * product;
                }
            }
        }
    }

    /// `C * op(Q)`, in place of `C`.
    pub fn apply_on_the_right(&self, operation: Operation, to: &mut DMatrix<T>) {
        // The adjoint of the adjoint's product from the left.
        let mut turned = to.adjoint();
        let other = match operation {
            Operation::Plain => Operation::Adjoint,
            _ => Operation::Plain,
        };
        self.apply(other, &mut turned);
        *to = turned.adjoint();
    }

    /// The first columns of `Q`.
    pub fn columns(&self, count: usize) -> DMatrix<T> {
        let mut columns = DMatrix::identity(self.factors.nrows(), count);
        self.apply(Operation::Plain, &mut columns);
        columns
    }
}

/// Makes the elements of a column below the diagonal zero by a reflector, whose vector takes their places.
fn reflect<T: Scalar>(factors: &mut DMatrix<T>, step: usize) -> T {
    let rows = factors.nrows();
    let below = factors.view((step + 1, step), (rows - step - 1, 1)).norm();
    let first = factors[(step, step)];
    if below == nalgebra::zero() && first.imaginary() == nalgebra::zero() {
        return T::zero();
    }
    let length = first.modulus().hypot(below);
    let last = match first.real() > nalgebra::zero() {
        true => T::from_real(-length),
        false => T::from_real(length),
    };
    let divisor = first - last;
    for row in step + 1..rows {
        factors[(row, step)] /= divisor;
    }
    factors[(step, step)] = last;
    (last - first) / last
}

/// What makes `A * X - B` smallest, in the first rows of `B`; `A` has at least as many rows as columns.
/// Leaves the factors of `A`.
pub fn least_squares<T: Scalar>(matrix: DMatrix<T>, right: &mut DMatrix<T>) -> Reflectors<T> {
    let columns = matrix.ncols();
    let reflectors = Reflectors::new(matrix);
    reflectors.apply(Operation::Adjoint, right);
    let square = reflectors.factors.rows(0, columns).into_owned();
    let mut first = right.rows(0, columns).into_owned();
    let triangle = Triangle {
        upper: true,
        ones: false,
    };
    solve_triangle(&square, triangle, Operation::Plain, &mut first);
    right.rows_mut(0, columns).copy_from(&first);
    reflectors
}
