//! Factors of matrices, and systems with them.

use std::ffi::{c_int, c_void};

use nalgebra::{Complex, DMatrix};

use super::tell;
use super::{
    SolverError, SolverResult, WORKSPACE_ELEMENTS, cusolver_functions, given, in_order, store,
};
use crate::cublas::Matrix;
use crate::cublas::factors::{Whole, exchanges, store_scales};
use crate::dense::{LowerUpper, Operation, Reflectors, Scalar, cholesky, solve_cholesky};

macro_rules! factor_functions {
    ($kind:ty,
     $cholesky_size:ident $cholesky:ident $cholesky_solve:ident
     $lower_upper_size:ident $lower_upper:ident $lower_upper_solve:ident
     $orthogonal_size:ident $orthogonal:ident
     $apply_size:ident $apply:ident $columns_size:ident $columns:ident) => {
        cusolver_functions! {
            /// Elements of the workspace: none, but programs may allocate it.
            fn $cholesky_size(
                _handle: *mut c_void,
                _fill: u32,
                _size: c_int,
                _matrix: *mut $kind,
                _leading: c_int,
                elements: *mut c_int,
            ) {
                // SAFETY: the program passes a writable address or null; the same in this file.
                unsafe { store(elements, WORKSPACE_ELEMENTS) }
            }

            /// `A = L * L'` or `A = U' * U` in place of a triangle of `A`.
            fn $cholesky(
                handle: *mut c_void,
                fill: u32,
                size: c_int,
                matrix: *mut $kind,
                leading: c_int,
                workspace: *mut $kind,
                _elements: c_int,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                given(workspace)?;
                let matrix = Matrix::new(size, size, matrix, leading)?;
                let mut factor = matrix.load();
                let first = cholesky(&mut factor, is_upper(fill)?);
                matrix.store(&factor);
                tell(found, first)
            }

            /// Solves `A * X = B` in place of `B`.
            fn $cholesky_solve(
                handle: *mut c_void,
                fill: u32,
                size: c_int,
                columns: c_int,
                factor: *const $kind,
                leading: c_int,
                right: *mut $kind,
                right_leading: c_int,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                let factor = Matrix::new(size, size, factor, leading)?.load();
                let right = Matrix::new(size, columns, right, right_leading)?;
                let mut solution = right.load();
                solve_cholesky(&factor, is_upper(fill)?, &mut solution);
                right.store(&solution);
                tell(found, 0)
            }

            /// Elements of the workspace: none, but programs may allocate it.
            fn $lower_upper_size(
                _handle: *mut c_void,
                _rows: c_int,
                _columns: c_int,
                _matrix: *mut $kind,
                _leading: c_int,
                elements: *mut c_int,
            ) {
                // SAFETY: as above.
                unsafe { store(elements, WORKSPACE_ELEMENTS) }
            }

            /// `P * A = L * U` in place of `A`; without exchanges where there is no place for them.
            fn $lower_upper(
                handle: *mut c_void,
                rows: c_int,
                columns: c_int,
                matrix: *mut $kind,
                leading: c_int,
                workspace: *mut $kind,
                places: *mut c_int,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                given(workspace)?;
                let matrix = Matrix::new(rows, columns, matrix, leading)?;
                let places = match places.is_null() {
                    true => None,
                    false => Some(Whole::new(places, rows.min(columns))?),
                };
                let factored = LowerUpper::new(matrix.load(), places.is_some());
                matrix.store(&factored.factors);
                if let Some(places) = places {
                    for (row, other) in factored.exchanges.iter().enumerate() {
                        places.set(row, other + 1);
                    }
                }
                tell(found, factored.first_without_pivot)
            }

            /// Solves `op(A) * X = B` in place of `B`.
            fn $lower_upper_solve(
                handle: *mut c_void,
                operation: u32,
                size: c_int,
                columns: c_int,
                factors: *const $kind,
                leading: c_int,
                places: *const c_int,
                right: *mut $kind,
                right_leading: c_int,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                let operation = Operation::new(operation).ok_or(SolverError::INVALID_VALUE)?;
                let factors = Matrix::new(size, size, factors, leading)?.load();
                let right = Matrix::new(size, columns, right, right_leading)?;
                let exchanges = match places.is_null() {
                    true => Vec::new(),
                    false => exchanges(&Whole::new(places.cast_mut(), size)?, 0, factors.nrows())?,
                };
                let factored = LowerUpper { factors, exchanges, first_without_pivot: 0 };
                let mut solution = right.load();
                factored.solve(operation, &mut solution);
                right.store(&solution);
                tell(found, 0)
            }

            /// Elements of the workspace: none, but programs may allocate it.
            fn $orthogonal_size(
                _handle: *mut c_void,
                _rows: c_int,
                _columns: c_int,
                _matrix: *mut $kind,
                _leading: c_int,
                elements: *mut c_int,
            ) {
                // SAFETY: as above.
                unsafe { store(elements, WORKSPACE_ELEMENTS) }
            }

            /// `A = Q * R` in place of `A`, `Q` as reflectors.
            fn $orthogonal(
                handle: *mut c_void,
                rows: c_int,
                columns: c_int,
                matrix: *mut $kind,
                leading: c_int,
                scales: *mut $kind,
                workspace: *mut $kind,
                _elements: c_int,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                given(workspace)?;
                let matrix = Matrix::new(rows, columns, matrix, leading)?;
                let reflectors = Reflectors::new(matrix.load());
                matrix.store(&reflectors.factors);
                store_scales(scales.cast_const(), &reflectors.scales)?;
                tell(found, 0)
            }

            /// Elements of the workspace: none, but programs may allocate it.
            fn $apply_size(
                _handle: *mut c_void,
                _side: u32,
                _operation: u32,
                _rows: c_int,
                _columns: c_int,
                _count: c_int,
                _factors: *const $kind,
                _leading: c_int,
                _scales: *const $kind,
                _to: *const $kind,
                _to_leading: c_int,
                elements: *mut c_int,
            ) {
                // SAFETY: as above.
                unsafe { store(elements, WORKSPACE_ELEMENTS) }
            }

            /// `C = op(Q) * C` or `C = C * op(Q)`.
            fn $apply(
                handle: *mut c_void,
                side: u32,
                operation: u32,
                rows: c_int,
                columns: c_int,
                count: c_int,
                factors: *const $kind,
                leading: c_int,
                scales: *const $kind,
                to: *mut $kind,
                to_leading: c_int,
                workspace: *mut $kind,
                _elements: c_int,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                given(workspace)?;
                let operation = Operation::new(operation).ok_or(SolverError::INVALID_VALUE)?;
                let size = if side == 0 { rows } else { columns };
                let reflectors = reflectors(size, count, (factors, leading), scales)?;
                let to = Matrix::new(rows, columns, to, to_leading)?;
                let mut result = to.load();
                match side {
                    0 => reflectors.apply(operation, &mut result),
                    1 => reflectors.apply_on_the_right(operation, &mut result),
                    _ => return Err(SolverError::INVALID_VALUE),
                }
                to.store(&result);
                tell(found, 0)
            }

            /// Elements of the workspace: none, but programs may allocate it.
            fn $columns_size(
                _handle: *mut c_void,
                _rows: c_int,
                _columns: c_int,
                _count: c_int,
                _factors: *const $kind,
                _leading: c_int,
                _scales: *const $kind,
                elements: *mut c_int,
            ) {
                // SAFETY: as above.
                unsafe { store(elements, WORKSPACE_ELEMENTS) }
            }

            /// The first columns of `Q` in place of the reflectors.
            fn $columns(
                handle: *mut c_void,
                rows: c_int,
                columns: c_int,
                count: c_int,
                factors: *mut $kind,
                leading: c_int,
                scales: *const $kind,
                workspace: *mut $kind,
                _elements: c_int,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                given(workspace)?;
                let matrix = Matrix::new(rows, columns, factors, leading)?;
                let factors = (factors.cast_const(), leading);
                let reflectors: Reflectors<$kind> = reflectors(rows, count, factors, scales)?;
                let columns = usize::try_from(columns).map_err(|_| SolverError::INVALID_VALUE)?;
                matrix.store(&reflectors.columns(columns));
                tell(found, 0)
            }
        }
    };
}

factor_functions!(f32,
    cusolverDnSpotrf_bufferSize cusolverDnSpotrf cusolverDnSpotrs
    cusolverDnSgetrf_bufferSize cusolverDnSgetrf cusolverDnSgetrs
    cusolverDnSgeqrf_bufferSize cusolverDnSgeqrf
    cusolverDnSormqr_bufferSize cusolverDnSormqr cusolverDnSorgqr_bufferSize cusolverDnSorgqr);
factor_functions!(f64,
    cusolverDnDpotrf_bufferSize cusolverDnDpotrf cusolverDnDpotrs
    cusolverDnDgetrf_bufferSize cusolverDnDgetrf cusolverDnDgetrs
    cusolverDnDgeqrf_bufferSize cusolverDnDgeqrf
    cusolverDnDormqr_bufferSize cusolverDnDormqr cusolverDnDorgqr_bufferSize cusolverDnDorgqr);
factor_functions!(Complex<f32>,
    cusolverDnCpotrf_bufferSize cusolverDnCpotrf cusolverDnCpotrs
    cusolverDnCgetrf_bufferSize cusolverDnCgetrf cusolverDnCgetrs
    cusolverDnCgeqrf_bufferSize cusolverDnCgeqrf
    cusolverDnCunmqr_bufferSize cusolverDnCunmqr cusolverDnCungqr_bufferSize cusolverDnCungqr);
factor_functions!(Complex<f64>,
    cusolverDnZpotrf_bufferSize cusolverDnZpotrf cusolverDnZpotrs
    cusolverDnZgetrf_bufferSize cusolverDnZgetrf cusolverDnZgetrs
    cusolverDnZgeqrf_bufferSize cusolverDnZgeqrf
    cusolverDnZunmqr_bufferSize cusolverDnZunmqr cusolverDnZungqr_bufferSize cusolverDnZungqr);

/// Of `cublasFillMode_t`.
pub(super) fn is_upper(fill: u32) -> SolverResult<bool> {
    match fill {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(SolverError::INVALID_VALUE),
    }
}

/// So many reflectors in device memory.
fn reflectors<T: Scalar>(
    size: c_int,
    count: c_int,
    (factors, leading): (*const T, c_int),
    scales: *const T,
) -> SolverResult<Reflectors<T>> {
    if count > size {
        return Err(SolverError::INVALID_VALUE);
    }
    let factors = Matrix::new(size, count, factors, leading)?.load();
    let scales: DMatrix<T> = Matrix::new(count, 1, scales, count.max(1))?.load();
    Ok(Reflectors {
        factors,
        scales: scales.as_slice().to_vec(),
    })
}
