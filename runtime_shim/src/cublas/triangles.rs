//! Triangular systems, and products with diagonal matrices.

pub mod one_triangle;
pub mod symmetric_products;

use std::ffi::{c_int, c_void};

use nalgebra::Complex;

use super::{BlasError, BlasResult, Matrix, check, handle};
use crate::dense::{Operation, Scalar, Triangle, solve_triangle, solve_triangle_on_the_right};

/// Of `cublasSideMode_t`, `cublasFillMode_t`, `cublasOperation_t`, `cublasDiagType_t`.
#[derive(Clone, Copy, Debug)]
struct System {
    on_the_right: bool,
    triangle: Triangle,
    operation: Operation,
}

impl System {
    fn new([side, fill, operation, diagonal]: [u32; 4]) -> BlasResult<Self> {
        if side > 1 || fill > 1 || diagonal > 1 {
            return Err(BlasError::INVALID_VALUE);
        }
        Ok(Self {
            on_the_right: side == 1,
            triangle: Triangle {
                upper: fill == 1,
                ones: diagonal == 1,
            },
            operation: Operation::new(operation).ok_or(BlasError::INVALID_VALUE)?,
        })
    }

    fn solve<T: Scalar>(
        &self,
        [rows, columns]: [c_int; 2],
        alpha: T,
        (matrix, leading): (*const T, c_int),
        (right, right_leading): (*const T, c_int),
    ) -> BlasResult {
        let size = if self.on_the_right { columns } else { rows };
        let right = Matrix::new(rows, columns, right, right_leading)?;
        let matrix = Matrix::new(size, size, matrix, leading)?.load();
        let mut solution = right.load() * alpha;
        match self.on_the_right {
            true => {
                solve_triangle_on_the_right(&matrix, self.triangle, self.operation, &mut solution)
            }
            false => solve_triangle(&matrix, self.triangle, self.operation, &mut solution),
        }
        right.store(&solution);
        Ok(())
    }
}

macro_rules! triangle_functions {
    ($kind:ty, $solve:ident $batched:ident $diagonal:ident) => {
        cublas_functions! {
            /// Solves `op(A) * X = alpha * B` or `X * op(A) = alpha * B` in place of `B`.
            fn $solve(
                handle: *mut c_void,
                side: u32,
                fill: u32,
                operation: u32,
                diagonal: u32,
                rows: c_int,
                columns: c_int,
                alpha: *const $kind,
                matrix: *const $kind,
                leading: c_int,
                right: *mut $kind,
                right_leading: c_int,
            ) {
                handle::in_order(handle)?;
                let system = System::new([side, fill, operation, diagonal])?;
                // SAFETY: the program passes a scalar or null; the same in this file.
                let alpha = unsafe { alpha.as_ref() }.copied().ok_or(BlasError::INVALID_VALUE)?;
                system.solve([rows, columns], alpha, (matrix, leading), (right, right_leading))
            }

            /// The same for matrices whose addresses stand in arrays on the device.
            fn $batched(
                handle: *mut c_void,
                side: u32,
                fill: u32,
                operation: u32,
                diagonal: u32,
                rows: c_int,
                columns: c_int,
                alpha: *const $kind,
                matrices: *const *const $kind,
                leading: c_int,
                rights: *const *mut $kind,
                right_leading: c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                let system = System::new([side, fill, operation, diagonal])?;
                // SAFETY: as above.
                let alpha = unsafe { alpha.as_ref() }.copied().ok_or(BlasError::INVALID_VALUE)?;
                let matrices = starts(matrices, count)?;
                for (matrix, right) in matrices.into_iter().zip(starts(rights.cast(), count)?) {
                    system.solve([rows, columns], alpha, (matrix, leading), (right, right_leading))?;
                }
                Ok(())
            }

            /// `C = diag(x) * A`, or with side 1 `C = A * diag(x)`.
            fn $diagonal(
                handle: *mut c_void,
                side: u32,
                rows: c_int,
                columns: c_int,
                matrix: *const $kind,
                leading: c_int,
                vector: *const $kind,
                increment: c_int,
                result: *mut $kind,
                result_leading: c_int,
            ) {
                handle::in_order(handle)?;
                if side > 1 {
                    return Err(BlasError::INVALID_VALUE);
                }
                let matrix = Matrix::new(rows, columns, matrix, leading)?;
                let result = Matrix::new(rows, columns, result, result_leading)?;
                let length = if side == 1 { matrix.columns } else { matrix.rows };
                // Increments below zero run backwards.
                let step = increment as isize;
                let first = if step < 0 { -step * (length.max(1) - 1) as isize } else { 0 };
                let reach = step.unsigned_abs() * (length.max(1) - 1) + 1;
                check(vector.cast(), if length > 0 { reach * size_of::<$kind>() } else { 0 })?;
                // SAFETY: the vector was found within device memory.
                let factor = |at: usize| unsafe { vector.offset(first + step * at as isize).read() };
                for column in 0..matrix.columns {
                    for row in 0..matrix.rows {
                        let factor = factor(if side == 1 { column } else { row });
                        result.set(row, column, matrix.get(row, column) * factor);
                    }
                }
                result.written();
                Ok(())
            }
        }
    };
}

triangle_functions!(f32, cublasStrsm_v2 cublasStrsmBatched cublasSdgmm);
triangle_functions!(f64, cublasDtrsm_v2 cublasDtrsmBatched cublasDdgmm);
triangle_functions!(Complex<f32>, cublasCtrsm_v2 cublasCtrsmBatched cublasCdgmm);
triangle_functions!(Complex<f64>, cublasZtrsm_v2 cublasZtrsmBatched cublasZdgmm);

/// The addresses in an array on the device.
pub(super) fn starts<T>(array: *const *const T, count: c_int) -> BlasResult<Vec<*const T>> {
    let count = usize::try_from(count).map_err(|_| BlasError::INVALID_VALUE)?;
    if count > 0 {
        check(array.cast(), count * size_of::<usize>())?;
    }
    // SAFETY: the array was found within device memory.
    Ok((0..count)
        .map(|index| unsafe { array.add(index).read() })
        .collect())
}
