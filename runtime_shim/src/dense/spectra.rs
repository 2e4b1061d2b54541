//! Singular values and eigenvalues.

use super::{Reflectors, Scalar};
use nalgebra::{DMatrix, SVD, SymmetricEigen};

/// `A = U * S * V'`.
#[derive(Clone, Debug)]
pub struct SingularValues<T: Scalar> {
    /// `U`.
    pub left: DMatrix<T>,
    /// The singular values, from the largest on.
    pub values: Vec<T::RealField>,
    /// `V'`.
    pub right: DMatrix<T>,
}

/// Singular values and vectors: all of `U`, or as many columns as `A` has rows or columns,
/// and of `V'` likewise; nothing for a matrix with infinities.
pub fn singular_values<T: Scalar>(matrix: DMatrix<T>, all: bool) -> Option<SingularValues<T>> {
    let (rows, columns) = matrix.shape();
    if !is_finite(&matrix) {
        return None;
    }
    let found = SVD::new(matrix, true, true);
    let (left, right) = (found.u?, found.v_t?);
    let values = found.singular_values.iter().cloned().collect();
    Some(match all {
        true => SingularValues {
            left: completed(left, rows),
            values,
            right: completed(right.adjoint(), columns).adjoint(),
        },
        false => SingularValues {
            left,
            values,
            right,
        },
    })
}

/// Orthonormal columns, with more of them.
fn completed<T: Scalar>(columns: DMatrix<T>, count: usize) -> DMatrix<T> {
    let known = columns.ncols();
    let mut whole = Reflectors::new(columns.clone()).columns(count);
    whole.columns_mut(0, known).copy_from(&columns);
    whole
}

/// Iterations do not end with infinities.
fn is_finite<T: Scalar>(matrix: &DMatrix<T>) -> bool {
    matrix.iter().all(|element| element.is_finite())
}

/// Eigenvalues of a Hermitian matrix from the smallest on, and their vectors; nothing with infinities.
pub fn eigenvalues<T: Scalar>(matrix: DMatrix<T>) -> Option<(Vec<T::RealField>, DMatrix<T>)> {
    if !is_finite(&matrix) {
        return None;
    }
    let found = SymmetricEigen::new(matrix);
    let mut order: Vec<usize> = (0..found.eigenvalues.len()).collect();
    let value = |index: &usize| found.eigenvalues[*index].clone();
    order.sort_by(|left, right| {
        value(left)
            .partial_cmp(&value(right))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let vectors: Vec<_> = order
        .iter()
        .map(|index| found.eigenvectors.column(*index))
        .collect();
    let vectors = match vectors.is_empty() {
        true => found.eigenvectors.clone(),
        false => DMatrix::from_columns(&vectors),
    };
    Some((order.iter().map(value).collect(), vectors))
}
