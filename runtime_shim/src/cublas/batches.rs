//! Products of matrices and vectors, many of them with one call.

use std::ffi::{c_int, c_void};

use nalgebra::Complex;

use super::{BlasError, BlasResult, check_arrays, complex_vectors, handle, vectors};

macro_rules! batch_functions {
    ($kind:ty, $one:path, $batched:ident $strided:ident) => {
        cublas_functions! {
            /// `y = alpha * op(A) * x + beta * y` for matrices and vectors whose addresses stand in arrays on the device.
            fn $batched(
                handle: *mut c_void,
                operation: u32,
                m: c_int,
                n: c_int,
                alpha: *const $kind,
                a: *const *const $kind,
                a_leading: c_int,
                x: *const *const $kind,
                x_increment: c_int,
                beta: *const $kind,
                y: *const *mut $kind,
                y_increment: c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                for index in 0..check_arrays([a.cast(), x.cast(), y.cast()], count)? {
                    // SAFETY: the arrays were checked; the rest is what the program passes.
                    came_to(unsafe {
                        let (a, x, y) = (a.add(index).read(), x.add(index).read(), y.add(index).read());
                        $one(
                            handle, operation, m, n, alpha, a, a_leading, x, x_increment, beta, y, y_increment,
                        )
                    })?;
                }
                Ok(())
            }

            /// The same for matrices and vectors at equal distances, which are counted in elements.
            fn $strided(
                handle: *mut c_void,
                operation: u32,
                m: c_int,
                n: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                a_stride: i64,
                x: *const $kind,
                x_increment: c_int,
                x_stride: i64,
                beta: *const $kind,
                y: *mut $kind,
                y_increment: c_int,
                y_stride: i64,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                for index in 0..i64::from(u32::try_from(count).map_err(|_| BlasError::INVALID_VALUE)?) {
                    let nth = |stride: i64| stride.wrapping_mul(index) as isize;
                    let (a, x) = (a.wrapping_offset(nth(a_stride)), x.wrapping_offset(nth(x_stride)));
                    let y = y.wrapping_offset(nth(y_stride));
                    // SAFETY: what the program passes.
                    came_to(unsafe {
                        $one(
                            handle, operation, m, n, alpha, a, a_leading, x, x_increment, beta, y, y_increment,
                        )
                    })?;
                }
                Ok(())
            }
        }
    };
}

batch_functions!(f32, vectors::cublasSgemv_v2, cublasSgemvBatched cublasSgemvStridedBatched);
batch_functions!(f64, vectors::cublasDgemv_v2, cublasDgemvBatched cublasDgemvStridedBatched);
batch_functions!(Complex<f32>, complex_vectors::cublasCgemv_v2, cublasCgemvBatched cublasCgemvStridedBatched);
batch_functions!(Complex<f64>, complex_vectors::cublasZgemv_v2, cublasZgemvBatched cublasZgemvStridedBatched);

/// What a function of the library returned.
fn came_to(status: u32) -> BlasResult {
    match status {
        0 => Ok(()),
        status => Err(BlasError(status)),
    }
}
