//! Operations on complex vectors, and of a complex matrix on a vector.

use std::ffi::{c_int, c_void};

use nalgebra::Complex;

use super::super::stored::{operation, scaled_sums};
use super::super::vectors::{extreme, give, scalar};
use super::super::{Matrix, Vector, handle};
use crate::dense::{Operation, Scalar};
use crate::sums::pairwise;

/// `A += alpha * x * y'`, with the adjoint for the transpose where `adjoint`.
fn raise<T: Scalar>(adjoint: bool, alpha: T, x: &Vector<T>, y: &Vector<T>, a: &Matrix<T>) {
    for column in 0..y.length {
        let other = y.get(column);
        let factor = alpha * if adjoint { other.conjugate() } else { other };
        (0..x.length).for_each(|row| a.set(row, column, a.get(row, column) + x.get(row) * factor));
    }
    a.written();
}

macro_rules! complex_functions {
    ($real:ty, $axpy:ident $scal:ident $real_scal:ident $copy:ident $swap:ident $dotu:ident $dotc:ident
     $nrm2:ident $asum:ident $amax:ident $amin:ident $gemv:ident $geru:ident $gerc:ident) => {
        cublas_functions! {
            /// `y += alpha * x`.
            fn $axpy(
                handle: *mut c_void,
                n: c_int,
                alpha: *const Complex<$real>,
                x: *const Complex<$real>,
                x_increment: c_int,
                y: *mut Complex<$real>,
                y_increment: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: the program passes a scalar or null; the same in this file.
                let alpha = unsafe { scalar(alpha)? };
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                (0..y.length).for_each(|i| y.set(i, alpha * x.get(i) + y.get(i)));
                Ok(())
            }

            /// `x *= alpha`.
            fn $scal(
                handle: *mut c_void,
                n: c_int,
                alpha: *const Complex<$real>,
                x: *mut Complex<$real>,
                x_increment: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha)? };
                let x = Vector::new(n, x, x_increment)?;
                (0..x.length).for_each(|i| x.set(i, alpha * x.get(i)));
                Ok(())
            }

            /// `x *= alpha` for a real factor.
            fn $real_scal(
                handle: *mut c_void,
                n: c_int,
                alpha: *const $real,
                x: *mut Complex<$real>,
                x_increment: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha)? };
                let x = Vector::new(n, x, x_increment)?;
                (0..x.length).for_each(|i| x.set(i, x.get(i) * alpha));
                Ok(())
            }

            /// `y = x`.
            fn $copy(
                handle: *mut c_void,
                n: c_int,
                x: *const Complex<$real>,
                x_increment: c_int,
                y: *mut Complex<$real>,
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
                x: *mut Complex<$real>,
                x_increment: c_int,
                y: *mut Complex<$real>,
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

            /// The scalar product, of `x` as it is.
            fn $dotu(
                handle: *mut c_void,
                n: c_int,
                x: *const Complex<$real>,
                x_increment: c_int,
                y: *const Complex<$real>,
                y_increment: c_int,
                result: *mut Complex<$real>,
            ) {
                handle::in_order(handle)?;
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                // SAFETY: as above.
                unsafe { give(result, pairwise(Complex::new(0.0, 0.0), (0..x.length).map(|i| x.get(i) * y.get(i)))) }
            }

            /// The scalar product, of `x` conjugated.
            fn $dotc(
                handle: *mut c_void,
                n: c_int,
                x: *const Complex<$real>,
                x_increment: c_int,
                y: *const Complex<$real>,
                y_increment: c_int,
                result: *mut Complex<$real>,
            ) {
                handle::in_order(handle)?;
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                // SAFETY: as above.
                unsafe { give(result, pairwise(Complex::new(0.0, 0.0), (0..x.length).map(|i| x.get(i).conj() * y.get(i)))) }
            }

            /// The Euclidean norm.
            fn $nrm2(
                handle: *mut c_void,
                n: c_int,
                x: *const Complex<$real>,
                x_increment: c_int,
                result: *mut $real,
            ) {
                handle::in_order(handle)?;
                let x = Vector::new(n, x, x_increment)?;
                let most = |most: $real, i| most.max(x.get(i).re.abs()).max(x.get(i).im.abs());
                let largest = (0..x.length).fold(0.0, most);
                // Scaled, so that squares do not overflow.
                let norm = if largest == 0.0 || !largest.is_finite() {
                    largest
                } else {
                    let square = |i| (x.get(i) / largest).norm_sqr();
                    largest * pairwise(0.0, (0..x.length).map(square)).sqrt()
                };
                // SAFETY: as above.
                unsafe { give(result, norm) }
            }

            /// The sum of absolute values of both parts.
            fn $asum(
                handle: *mut c_void,
                n: c_int,
                x: *const Complex<$real>,
                x_increment: c_int,
                result: *mut $real,
            ) {
                handle::in_order(handle)?;
                let x = Vector::new(n, x, x_increment)?;
                // SAFETY: as above.
                unsafe { give(result, pairwise(0.0, (0..x.length).map(|i| x.get(i).l1_norm()))) }
            }

            /// Where the largest sum of absolute values of both parts is, counted from 1.
            fn $amax(
                handle: *mut c_void,
                n: c_int,
                x: *const Complex<$real>,
                x_increment: c_int,
                result: *mut c_int,
            ) {
                handle::in_order(handle)?;
                let x = Vector::new(n, x, x_increment)?;
                let found = extreme(x.length, |i, best| x.get(i).l1_norm() > x.get(best).l1_norm());
                // SAFETY: as above.
                unsafe { give(result, found) }
            }

            /// Where the smallest sum of absolute values of both parts is, counted from 1.
            fn $amin(
                handle: *mut c_void,
                n: c_int,
                x: *const Complex<$real>,
                x_increment: c_int,
                result: *mut c_int,
            ) {
                handle::in_order(handle)?;
                let x = Vector::new(n, x, x_increment)?;
                let found = extreme(x.length, |i, best| x.get(i).l1_norm() < x.get(best).l1_norm());
                // SAFETY: as above.
                unsafe { give(result, found) }
            }

            /// `y = alpha * op(A) * x + beta * y`.
            fn $gemv(
                handle: *mut c_void,
                of: u32,
                m: c_int,
                n: c_int,
                alpha: *const Complex<$real>,
                a: *const Complex<$real>,
                a_leading: c_int,
                x: *const Complex<$real>,
                x_increment: c_int,
                beta: *const Complex<$real>,
                y: *mut Complex<$real>,
                y_increment: c_int,
            ) {
                handle::in_order(handle)?;
                let operation = operation(of)?;
                let (inner, outer) = if operation == Operation::Plain { (n, m) } else { (m, n) };
                let a = Matrix::new(m, n, a, a_leading)?;
                let x = Vector::new(inner, x, x_increment)?;
                let y = Vector::new(outer, y, y_increment)?;
                let element = |row, column| match operation {
                    Operation::Plain => a.get(row, column),
                    Operation::Transposed => a.get(column, row),
                    Operation::Adjoint => a.get(column, row).conj(),
                };
                // SAFETY: as above.
                let scalars = unsafe { (scalar(alpha)?, scalar(beta)?) };
                scaled_sums(scalars, &y, |row| {
                    pairwise(Complex::new(0.0, 0.0), (0..x.length).map(|i| element(row, i) * x.get(i)))
                });
                Ok(())
            }

            /// `A += alpha * x * y'`.
            fn $geru(
                handle: *mut c_void,
                m: c_int,
                n: c_int,
                alpha: *const Complex<$real>,
                x: *const Complex<$real>,
                x_increment: c_int,
                y: *const Complex<$real>,
                y_increment: c_int,
                a: *mut Complex<$real>,
                a_leading: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha)? };
                let (x, y) = (Vector::new(m, x, x_increment)?, Vector::new(n, y, y_increment)?);
                raise(false, alpha, &x, &y, &Matrix::new(m, n, a, a_leading)?);
                Ok(())
            }

            /// The same with `y` conjugated.
            fn $gerc(
                handle: *mut c_void,
                m: c_int,
                n: c_int,
                alpha: *const Complex<$real>,
                x: *const Complex<$real>,
                x_increment: c_int,
                y: *const Complex<$real>,
                y_increment: c_int,
                a: *mut Complex<$real>,
                a_leading: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha)? };
                let (x, y) = (Vector::new(m, x, x_increment)?, Vector::new(n, y, y_increment)?);
                raise(true, alpha, &x, &y, &Matrix::new(m, n, a, a_leading)?);
                Ok(())
            }
        }
    };
}

complex_functions!(f32, cublasCaxpy_v2 cublasCscal_v2 cublasCsscal_v2 cublasCcopy_v2 cublasCswap_v2 cublasCdotu_v2
    cublasCdotc_v2 cublasScnrm2_v2 cublasScasum_v2 cublasIcamax_v2 cublasIcamin_v2 cublasCgemv_v2 cublasCgeru_v2
    cublasCgerc_v2);
complex_functions!(f64, cublasZaxpy_v2 cublasZscal_v2 cublasZdscal_v2 cublasZcopy_v2 cublasZswap_v2 cublasZdotu_v2
    cublasZdotc_v2 cublasDznrm2_v2 cublasDzasum_v2 cublasIzamax_v2 cublasIzamin_v2 cublasZgemv_v2 cublasZgeru_v2
    cublasZgerc_v2);
