//! Factors of dense matrices, in the forms in which LAPACK leaves them, for cuBLAS and cuSOLVER.
//!
//! Singular values and eigenvalues are those of the crate `nalgebra`.

mod orthogonal;
mod spectra;

pub use orthogonal::{Reflectors, least_squares};
pub use spectra::{SingularValues, eigenvalues, singular_values};

use std::ops::Range;

use crate::sums::pairwise;
use nalgebra::{ComplexField, DMatrix};

/// A real or complex number.
pub trait Scalar: ComplexField + Copy {}

impl<T: ComplexField + Copy> Scalar for T {}

/// What stands for a matrix in a product or a system, by the numbers of `cublasOperation_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// As it is.
    Plain,
    /// Transposed.
    Transposed,
    /// Transposed and conjugated.
    Adjoint,
}

impl Operation {
    /// Of its number.
    pub fn new(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Plain),
            1 => Some(Self::Transposed),
            2 => Some(Self::Adjoint),
            _ => None,
        }
    }

    fn element<T: Scalar>(self, matrix: &DMatrix<T>, row: usize, column: usize) -> T {
        match self {
            Self::Plain => matrix[(row, column)],
            Self::Transposed => matrix[(column, row)],
            Self::Adjoint => matrix[(column, row)].conjugate(),
        }
    }
}

/// Which part of a square matrix counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// The upper one, else the lower one.
    pub upper: bool,
    /// Its diagonal is all ones, whatever stands there.
    pub ones: bool,
}

/// Columns of the left factor whose products with rows of the right one are added in order.
const PRODUCTS_IN_ORDER: usize = 64;

/// `A * B`; products of many are added pairwise.
pub fn product<T: Scalar>(left: &DMatrix<T>, right: &DMatrix<T>) -> DMatrix<T> {
    product_of_part(left, right, 0..left.ncols())
}

fn product_of_part<T: Scalar>(
    left: &DMatrix<T>,
    right: &DMatrix<T>,
    inner: Range<usize>,
) -> DMatrix<T> {
    if inner.len() <= PRODUCTS_IN_ORDER {
        let columns = left.columns(inner.start, inner.len());
        return columns * right.rows(inner.start, inner.len());
    }
    let middle = inner.start + inner.len() / 2;
    product_of_part(left, right, inner.start..middle)
        + product_of_part(left, right, middle..inner.end)
}

/// Solves `op(A) * X = B` in place of `B`.
pub fn solve_triangle<T: Scalar>(
    matrix: &DMatrix<T>,
    triangle: Triangle,
    operation: Operation,
    right: &mut DMatrix<T>,
) {
    let size = matrix.nrows();
    // Which elements `op(A)` has.
    let upper = triangle.upper == (operation == Operation::Plain);
    for mut column in right.column_iter_mut() {
        for step in 0..size {
            let (row, known) = match upper {
                true => (size - 1 - step, size - step..size),
                false => (step, 0..step),
            };
            let term = |other| operation.element(matrix, row, other) * column[other];
            let mut sum = column[row] - pairwise(T::zero(), known.map(term));
            if !triangle.ones {
                sum /= operation.element(matrix, row, row);
            }
            column[row] = sum;
        }
    }
}

/// Solves `X * op(A) = B` in place of `B`.
pub fn solve_triangle_on_the_right<T: Scalar>(
    matrix: &DMatrix<T>,
    triangle: Triangle,
    operation: Operation,
    left: &mut DMatrix<T>,
) {
    // The transpose of the system.
    let mut turned = left.transpose();
    match operation {
        Operation::Plain => solve_triangle(matrix, triangle, Operation::Transposed, &mut turned),
        Operation::Transposed => solve_triangle(matrix, triangle, Operation::Plain, &mut turned),
        Operation::Adjoint => {
            let conjugate = matrix.map(T::conjugate);
            solve_triangle(&conjugate, triangle, Operation::Plain, &mut turned);
        }
    }
    *left = turned.transpose();
}

/// `P * A = L * U`, in place of `A`.
#[derive(Clone, Debug)]
pub struct LowerUpper<T: Scalar> {
    /// `L` below the diagonal, which is all ones, and `U`.
    pub factors: DMatrix<T>,
    /// With which row each one was exchanged, in order.
    pub exchanges: Vec<usize>,
    /// The first column, counted from 1, that has no pivot; else 0.
    pub first_without_pivot: usize,
}

impl<T: Scalar> LowerUpper<T> {
    /// Factors a matrix, with exchanges of rows or without.
    pub fn new(mut factors: DMatrix<T>, exchanging: bool) -> Self {
        let (rows, columns) = factors.shape();
        let mut exchanges = Vec::new();
        let mut first_without_pivot = 0;
        for step in 0..rows.min(columns) {
            let mut pivot = step;
            if exchanging {
                for row in step + 1..rows {
                    if factors[(row, step)].norm1() > factors[(pivot, step)].norm1() {
                        pivot = row;
                    }
                }
                factors.swap_rows(step, pivot);
            }
            exchanges.push(pivot);
            let divisor = factors[(step, step)];
            if divisor.is_zero() {
                if first_without_pivot == 0 {
                    first_without_pivot = step + 1;
                }
                continue;
            }
            for row in step + 1..rows {
                factors[(row, step)] /= divisor;
            }
            let (left, mut right) = factors.columns_range_pair_mut(step, step + 1..columns);
            for mut column in right.column_iter_mut() {
                let factor = column[step];
                for row in step + 1..rows {
                    column[row] -= left[row] * factor;
                }
            }
        }
        Self {
            factors,
            exchanges,
            first_without_pivot,
        }
    }

    /// Solves `op(A) * X = B` in place of `B`.
    pub fn solve(&self, operation: Operation, right: &mut DMatrix<T>) {
        let lower = Triangle {
            upper: false,
            ones: true,
        };
        let upper = Triangle {
            upper: true,
            ones: false,
        };
        if operation == Operation::Plain {
            for (row, other) in self.exchanges.iter().copied().enumerate() {
                right.swap_rows(row, other);
            }
            solve_triangle(&self.factors, lower, operation, right);
            solve_triangle(&self.factors, upper, operation, right);
        } else {
            solve_triangle(&self.factors, upper, operation, right);
            solve_triangle(&self.factors, lower, operation, right);
            for (row, other) in self.exchanges.iter().copied().enumerate().rev() {
                right.swap_rows(row, other);
            }
        }
    }

    /// The inverse of `A`.
    pub fn inverse(&self) -> DMatrix<T> {
        let size = self.factors.nrows();
        let mut inverse = DMatrix::identity(size, size);
        self.solve(Operation::Plain, &mut inverse);
        inverse
    }
}

/// `A = L * L'` or `A = U' * U` in place of one triangle of `A`. The order, counted from 1, of the first
/// leading part that is not positive definite; else 0.
pub fn cholesky<T: Scalar>(matrix: &mut DMatrix<T>, upper: bool) -> usize {
    let place = |row: usize, column: usize| match upper {
        true => (column, row),
        false => (row, column),
    };
    let size = matrix.nrows();
    for column in 0..size {
        // Of the upper triangle, the conjugate of `L` is there; products of two of them conjugate once.
        let squares = (0..column).map(|inner| {
            let one = matrix[place(column, inner)];
            one * one.conjugate()
        });
        let square = (matrix[(column, column)] - pairwise(T::zero(), squares)).real();
        let positive = square > nalgebra::zero();
        if !positive {
            return column + 1;
        }
        let root = nalgebra::ComplexField::sqrt(square);
        matrix[(column, column)] = T::from_real(root.clone());
        for row in column + 1..size {
            let term = |inner| matrix[place(row, inner)] * matrix[place(column, inner)].conjugate();
            let rest = matrix[place(row, column)] - pairwise(T::zero(), (0..column).map(term));
            matrix[place(row, column)] = rest.unscale(root.clone());
        }
    }
    0
}

/// Solves `A * X = B` in place of `B`, with what [`cholesky`] left of `A`.
pub fn solve_cholesky<T: Scalar>(matrix: &DMatrix<T>, upper: bool, right: &mut DMatrix<T>) {
    let triangle = Triangle { upper, ones: false };
    let (first, second) = match upper {
        true => (Operation::Adjoint, Operation::Plain),
        false => (Operation::Plain, Operation::Adjoint),
    };
    solve_triangle(matrix, triangle, first, right);
    solve_triangle(matrix, triangle, second, right);
}
