//! Products and sums of complex matrices.

use std::ffi::{c_int, c_void};

use nalgebra::{Complex, DMatrix};

use super::matrices::Batch;
use super::stored::operation;
use super::symmetric_products::{operated, replace};
use super::triangles::starts;
use super::vectors::scalar;
use super::{BlasError, BlasResult, Matrix, handle};
use crate::dense::{self, Operation, Scalar};

/// `C = alpha * op(A) * op(B) + beta * C` for matrices at equal distances.
///
/// # Safety
/// The scalars are readable or null.
unsafe fn products<T: Scalar>(
    operations: [u32; 2],
    [m, n, k]: [c_int; 3],
    [alpha, beta]: [*const T; 2],
    [a, b, c]: [Batch<T>; 3],
    count: c_int,
) -> BlasResult {
    let operations = [operation(operations[0])?, operation(operations[1])?];
    // SAFETY: as the caller promises.
    let scalars = unsafe { (scalar(alpha)?, scalar(beta)?) };
    let count = usize::try_from(count).map_err(|_| BlasError::INVALID_VALUE)?;
    for index in 0..count {
        let nth = |(start, leading, stride): Batch<T>, rows, columns| {
            let distance = stride.wrapping_mul(index as i64) as isize;
            Matrix::new(rows, columns, start.wrapping_offset(distance), leading)
        };
        let operand = |matrix, operation, rows, columns| {
            let (rows, columns) = match operation {
                Operation::Plain => (rows, columns),
                _ => (columns, rows),
            };
            Ok::<_, BlasError>(operated(operation, nth(matrix, rows, columns)?.load()))
        };
        let product = || {
            Ok(dense::product(
                &operand(a, operations[0], m, k)?,
                &operand(b, operations[1], k, n)?,
            ))
        };
        replace(scalars, product, &nth(c, m, n)?)?;
    }
    Ok(())
}

macro_rules! complex_matrix_functions {
    ($kind:ty, $gemm:ident $same:ident $strided:ident $batched:ident $geam:ident) => {
        cublas_functions! {
            /// `C = alpha * op(A) * op(B) + beta * C`.
            fn $gemm = $same (
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: c_int,
                n: c_int,
                k: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                b: *const $kind,
                b_leading: c_int,
                beta: *const $kind,
                c: *mut $kind,
                c_leading: c_int,
            ) {
                handle::in_order(handle)?;
                let matrices = [(a, a_leading, 0), (b, b_leading, 0), (c.cast_const(), c_leading, 0)];
                // SAFETY: the program passes scalars or null; the same in this file.
                unsafe { products([a_operation, b_operation], [m, n, k], [alpha, beta], matrices, 1) }
            }

            /// The same for matrices at equal distances.
            fn $strided(
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: c_int,
                n: c_int,
                k: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                a_stride: i64,
                b: *const $kind,
                b_leading: c_int,
                b_stride: i64,
                beta: *const $kind,
                c: *mut $kind,
                c_leading: c_int,
                c_stride: i64,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                let (a, b) = ((a, a_leading, a_stride), (b, b_leading, b_stride));
                let matrices = [a, b, (c.cast_const(), c_leading, c_stride)];
                // SAFETY: as above.
                unsafe { products([a_operation, b_operation], [m, n, k], [alpha, beta], matrices, count) }
            }

            /// The same for matrices whose addresses stand in arrays on the device.
            fn $batched(
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: c_int,
                n: c_int,
                k: c_int,
                alpha: *const $kind,
                a: *const *const $kind,
                a_leading: c_int,
                b: *const *const $kind,
                b_leading: c_int,
                beta: *const $kind,
                c: *const *mut $kind,
                c_leading: c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                let (a, b, c) = (starts(a, count)?, starts(b, count)?, starts(c.cast(), count)?);
                for ((a, b), c) in a.into_iter().zip(b).zip(c) {
                    let matrices = [(a, a_leading, 0), (b, b_leading, 0), (c, c_leading, 0)];
                    // SAFETY: as above.
                    unsafe { products([a_operation, b_operation], [m, n, k], [alpha, beta], matrices, 1)? };
                }
                Ok(())
            }

            /// `C = alpha * op(A) + beta * op(B)`.
            fn $geam(
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: c_int,
                n: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                beta: *const $kind,
                b: *const $kind,
                b_leading: c_int,
                c: *mut $kind,
                c_leading: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let (alpha, beta) = unsafe { (scalar(alpha)?, scalar(beta)?) };
                let result = Matrix::new(m, n, c, c_leading)?;
                let side = |of, start: *const $kind, leading, factor: $kind| {
                    let operation = operation(of)?;
                    let (rows, columns) = if operation == Operation::Plain { (m, n) } else { (n, m) };
                    // A factor of zero does not look at the matrix.
                    Ok::<_, BlasError>(match factor == <$kind>::from(0.0) {
                        true => DMatrix::zeros(result.rows, result.columns),
                        false => operated(operation, Matrix::new(rows, columns, start, leading)?.load()) * factor,
                    })
                };
                let sum = side(a_operation, a, a_leading, alpha)? + side(b_operation, b, b_leading, beta)?;
                result.store(&sum);
                Ok(())
            }
        }
    };
}

complex_matrix_functions!(Complex<f32>, cublasCgemm_v2 cublasCgemm3m cublasCgemmStridedBatched cublasCgemmBatched cublasCgeam);
complex_matrix_functions!(Complex<f64>, cublasZgemm_v2 cublasZgemm3m cublasZgemmStridedBatched cublasZgemmBatched cublasZgeam);
