//! Operations on vectors, and of a matrix on a vector.

pub mod complex_vectors;
pub mod rotations;
pub mod typed_vectors;

use std::ffi::{c_int, c_void};

use super::{BlasError, BlasResult, Matrix, Number, Vector, handle, is_transposed};
use crate::sums::pairwise;

macro_rules! vector_functions {
    ($kind:ty, $axpy:ident $scal:ident $copy:ident $swap:ident $dot:ident $nrm2:ident $asum:ident
     $amax:ident $amin:ident $gemv:ident $ger:ident) => {
        cublas_functions! {
            /// `y += alpha * x`.
            fn $axpy(
                handle: *mut c_void,
                n: c_int,
                alpha: *const $kind,
                x: *const $kind,
                x_increment: c_int,
                y: *mut $kind,
                y_increment: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: the program passes a scalar or null; the same in this file.
                let alpha = unsafe { scalar(alpha) }?;
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                (0..y.length).for_each(|i| y.set(i, alpha * x.get(i) + y.get(i)));
                Ok(())
            }

            /// `x *= alpha`.
            fn $scal(
                handle: *mut c_void,
                n: c_int,
                alpha: *const $kind,
                x: *mut $kind,
                x_increment: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha) }?;
                let x = Vector::new(n, x, x_increment)?;
                (0..x.length).for_each(|i| x.set(i, alpha * x.get(i)));
                Ok(())
            }

            /// `y = x`.
            fn $copy(
                handle: *mut c_void,
                n: c_int,
                x: *const $kind,
                x_increment: c_int,
                y: *mut $kind,
                y_increment: c_int,
            ) {
                handle::in_order(handle)?;
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                (0..y.length).for_each(|i| y.set(i, x.get(i)));
                Ok(())
            }

            /// Exchanges `x` and `y`.
            fn $swap(
                handle: *mut c_void,
                n: c_int,
                x: *mut $kind,
                x_increment: c_int,
                y: *mut $kind,
                y_increment: c_int,
            ) {
                handle::in_order(handle)?;
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                for i in 0..y.length {
                    let (left, right) = (x.get(i), y.get(i));
                    x.set(i, right);
                    y.set(i, left);
                }
                Ok(())
            }

            /// The scalar product.
            fn $dot(
                handle: *mut c_void,
                n: c_int,
                x: *const $kind,
                x_increment: c_int,
                y: *const $kind,
                y_increment: c_int,
                result: *mut $kind,
            ) {
                handle::in_order(handle)?;
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                let sum = pairwise(0.0, (0..x.length).map(|i| x.get(i) * y.get(i)));
                // SAFETY: as above.
                unsafe { give(result, sum) }
            }

            /// The Euclidean norm.
            fn $nrm2(
                handle: *mut c_void,
                n: c_int,
                x: *const $kind,
                x_increment: c_int,
                result: *mut $kind,
            ) {
                handle::in_order(handle)?;
                let x = Vector::new(n, x, x_increment)?;
                let largest = (0..x.length).fold(0.0, |most: $kind, i| most.max(x.get(i).abs()));
                // Scaled, so that squares do not overflow.
                let norm = if largest == 0.0 || !largest.is_finite() {
                    largest
                } else {
                    let square = |i| (x.get(i) / largest) * (x.get(i) / largest);
                    largest * pairwise(0.0, (0..x.length).map(square)).root()
                };
                // SAFETY: as above.
                unsafe { give(result, norm) }
            }

            /// The sum of absolute values.
            fn $asum(
                handle: *mut c_void,
                n: c_int,
                x: *const $kind,
                x_increment: c_int,
                result: *mut $kind,
            ) {
                handle::in_order(handle)?;
                let x = Vector::new(n, x, x_increment)?;
                let sum = pairwise(0.0, (0..x.length).map(|i| x.get(i).abs()));
                // SAFETY: as above.
                unsafe { give(result, sum) }
            }

            /// Where the largest absolute value is, counted from 1.
            fn $amax(
                handle: *mut c_void,
                n: c_int,
                x: *const $kind,
                x_increment: c_int,
                result: *mut c_int,
            ) {
                handle::in_order(handle)?;
                let x = Vector::new(n, x, x_increment)?;
                let found = extreme(x.length, |i, best| x.get(i).abs() > x.get(best).abs());
                // SAFETY: as above.
                unsafe { give(result, found) }
            }

            /// Where the smallest absolute value is, counted from 1.
            fn $amin(
                handle: *mut c_void,
                n: c_int,
                x: *const $kind,
                x_increment: c_int,
                result: *mut c_int,
            ) {
                handle::in_order(handle)?;
                let x = Vector::new(n, x, x_increment)?;
                let found = extreme(x.length, |i, best| x.get(i).abs() < x.get(best).abs());
                // SAFETY: as above.
                unsafe { give(result, found) }
            }

            /// `y = alpha * op(A) * x + beta * y`.
            fn $gemv(
                handle: *mut c_void,
                operation: u32,
                m: c_int,
                n: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                x: *const $kind,
                x_increment: c_int,
                beta: *const $kind,
                y: *mut $kind,
                y_increment: c_int,
            ) {
                handle::in_order(handle)?;
                let transposed = is_transposed(operation)?;
                // SAFETY: as above.
                let (alpha, beta) = unsafe { (scalar(alpha)?, scalar(beta)?) };
                let a = Matrix::new(m, n, a, a_leading)?;
                let (inner, outer) = if transposed { (m, n) } else { (n, m) };
                let x = Vector::new(inner, x, x_increment)?;
                let y = Vector::new(outer, y, y_increment)?;
                for i in 0..y.length {
                    let element = |j| if transposed { a.get(j, i) } else { a.get(i, j) };
                    let sum = pairwise(0.0, (0..x.length).map(|j| element(j) * x.get(j)));
                    // A factor of zero does not look at `y`, which may hold anything.
                    let before = if beta == 0.0 { 0.0 } else { beta * y.get(i) };
                    y.set(i, alpha * sum + before);
                }
                Ok(())
            }

            /// `A += alpha * x * y'`.
            fn $ger(
                handle: *mut c_void,
                m: c_int,
                n: c_int,
                alpha: *const $kind,
                x: *const $kind,
                x_increment: c_int,
                y: *const $kind,
                y_increment: c_int,
                a: *mut $kind,
                a_leading: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha) }?;
                let (x, y) = (Vector::new(m, x, x_increment)?, Vector::new(n, y, y_increment)?);
                let a = Matrix::new(m, n, a, a_leading)?;
                for column in 0..y.length {
                    for row in 0..x.length {
                        let more = alpha * x.get(row) * y.get(column);
                        a.set(row, column, a.get(row, column) + more);
                    }
                }
                a.written();
                Ok(())
            }
        }
    };
}

vector_functions!(f32, cublasSaxpy_v2 cublasSscal_v2 cublasScopy_v2 cublasSswap_v2 cublasSdot_v2
    cublasSnrm2_v2 cublasSasum_v2 cublasIsamax_v2 cublasIsamin_v2 cublasSgemv_v2 cublasSger_v2);
vector_functions!(f64, cublasDaxpy_v2 cublasDscal_v2 cublasDcopy_v2 cublasDswap_v2 cublasDdot_v2
    cublasDnrm2_v2 cublasDasum_v2 cublasIdamax_v2 cublasIdamin_v2 cublasDgemv_v2 cublasDger_v2);

/// The first index for which nothing before it is as good, counted from 1; 0 when there is none.
pub(super) fn extreme(length: usize, is_better: impl Fn(usize, usize) -> bool) -> c_int {
    let mut best = 0;
    for index in 1..length {
        if is_better(index, best) {
            best = index;
        }
    }
    if length == 0 {
        0
    } else {
        c_int::try_from(best + 1).unwrap_or(c_int::MAX)
    }
}

/// # Safety
/// The address is readable or null.
pub(super) unsafe fn scalar<T: Copy>(place: *const T) -> BlasResult<T> {
    // SAFETY: as the caller promises.
    unsafe { place.as_ref() }
        .copied()
        .ok_or(BlasError::INVALID_VALUE)
}

/// # Safety
/// The address is writable or null.
pub(super) unsafe fn give<T>(place: *mut T, value: T) -> BlasResult {
    if place.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}
