//! Rotations of pairs of vectors, and their making.

use std::ffi::{c_int, c_void};

use nalgebra::Complex;

use super::super::vectors::scalar;
use super::super::{BlasError, BlasResult, Vector, handle};
use crate::dense::Scalar;

/// `x = c * x + s * y` and `y = c * y - s' * x`.
fn rotate<T: Scalar>(x: &Vector<T>, y: &Vector<T>, cosine: T, sine: T) {
    for i in 0..x.length {
        let (left, right) = (x.get(i), y.get(i));
        x.set(i, cosine * left + sine * right);
        y.set(i, cosine * right - sine.conjugate() * left);
    }
}

/// A place for a number that is read and written.
///
/// # Safety
/// The address is null or that of a number that nobody else uses meanwhile.
unsafe fn place<'a, T>(address: *mut T) -> BlasResult<&'a mut T> {
    // SAFETY: as the caller promises.
    unsafe { address.as_mut() }.ok_or(BlasError::INVALID_VALUE)
}

macro_rules! rotation_functions {
    ($kind:ty, $real:ty, $sine:ty, $rotate:ident) => {
        cublas_functions! {
            /// `x = c * x + s * y` and `y = c * y - s' * x`.
            fn $rotate(
                handle: *mut c_void,
                n: c_int,
                x: *mut $kind,
                x_increment: c_int,
                y: *mut $kind,
                y_increment: c_int,
                alpha: *const $real,
                beta: *const $sine,
            ) {
                handle::in_order(handle)?;
                // SAFETY: the program passes scalars or null; the same in this file.
                let (cosine, sine) = unsafe { (scalar(alpha)?, scalar(beta)?) };
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                rotate(&x, &y, <$kind>::from(cosine), <$kind>::from(sine));
                Ok(())
            }
        }
    };
}

rotation_functions!(f32, f32, f32, cublasSrot_v2);
rotation_functions!(f64, f64, f64, cublasDrot_v2);
rotation_functions!(Complex<f32>, f32, Complex<f32>, cublasCrot_v2);
rotation_functions!(Complex<f32>, f32, f32, cublasCsrot_v2);
rotation_functions!(Complex<f64>, f64, Complex<f64>, cublasZrot_v2);
rotation_functions!(Complex<f64>, f64, f64, cublasZdrot_v2);

macro_rules! real_rotations {
    ($real:ty, $make:ident $modified:ident $make_modified:ident) => {
        cublas_functions! {
            /// The rotation that makes the second of two numbers zero; they become the first of the rotated ones and a
            /// number of which the rotation can be made again.
            fn $make(
                handle: *mut c_void,
                result: *mut $real,
                other: *mut $real,
                cosine: *mut $real,
                sine: *mut $real,
            ) {
                handle::in_order(handle)?;
                // SAFETY: the program passes places or null; the same in this file.
                let (a, b, c, s) = unsafe { (place(result)?, place(other)?, place(cosine)?, place(sine)?) };
                let scale = a.abs() + b.abs();
                if scale == 0.0 {
                    (*a, *b, *c, *s) = (0.0, 0.0, 1.0, 0.0);
                    return Ok(());
                }
                let sign = if a.abs() > b.abs() { a.signum() } else { b.signum() };
                let length = sign * scale * (*a / scale).hypot(*b / scale);
                (*c, *s) = (*a / length, *b / length);
                let again = if a.abs() > b.abs() {
                    *s
                } else if *c == 0.0 {
                    1.0
                } else {
                    1.0 / *c
                };
                (*a, *b) = (length, again);
                Ok(())
            }

            /// Rotates with a matrix of which some elements are known.
            fn $modified(
                handle: *mut c_void,
                n: c_int,
                x: *mut $real,
                x_increment: c_int,
                y: *mut $real,
                y_increment: c_int,
                result: *const $real,
            ) {
                handle::in_order(handle)?;
                // SAFETY: the program passes five numbers or null.
                let [flag, h11, h21, h12, h22] = unsafe { scalar(result.cast::<[$real; 5]>())? };
                let [h11, h21, h12, h22] = match flag {
                    flag if flag == -2.0 => return Ok(()),
                    flag if flag < 0.0 => [h11, h21, h12, h22],
                    flag if flag == 0.0 => [1.0, h21, h12, 1.0],
                    _ => [h11, -1.0, 1.0, h22],
                };
                let (x, y) = (Vector::new(n, x, x_increment)?, Vector::new(n, y, y_increment)?);
                for i in 0..x.length {
                    let (left, right) = (x.get(i), y.get(i));
                    x.set(i, h11 * left + h12 * right);
                    y.set(i, h21 * left + h22 * right);
                }
                Ok(())
            }

            /// Makes the matrix of the function before, for `(sqrt(d1) * x1, sqrt(d2) * y1)`.
            fn $make_modified(
                handle: *mut c_void,
                result: *mut $real,
                other: *mut $real,
                x1: *mut $real,
                y1: *const $real,
                parameters: *mut $real,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above; there is room for five numbers.
                let (d1, d2, x1, y1, parameters) = unsafe {
                    (place(result)?, place(other)?, place(x1)?, scalar(y1)?, place(parameters.cast::<[$real; 5]>())?)
                };
                let (mut flag, mut h) = (-1.0, [0.0; 4]);
                let (p1, p2) = (*d1 * *x1, *d2 * y1);
                let (q1, q2) = (p1 * *x1, p2 * y1);
                let mut vanish = true;
                if *d1 >= 0.0 && p2 == 0.0 {
                    parameters[0] = -2.0;
                    return Ok(());
                } else if *d1 >= 0.0 && q1.abs() > q2.abs() {
                    let (h21, h12) = (-y1 / *x1, p2 / p1);
                    let u = 1.0 - h12 * h21;
                    if u > 0.0 {
                        (flag, vanish, h) = (0.0, false, [1.0, h21, h12, 1.0]);
                        (*d1, *d2, *x1) = (*d1 / u, *d2 / u, *x1 * u);
                    }
                } else if *d1 >= 0.0 && q2 >= 0.0 {
                    let (h11, h22) = (p1 / p2, *x1 / y1);
                    let u = 1.0 + h11 * h22;
                    (flag, vanish, h) = (1.0, false, [h11, -1.0, 1.0, h22]);
                    (*d1, *d2, *x1) = (*d2 / u, *d1 / u, y1 * u);
                }
                if vanish {
                    (*d1, *d2, *x1) = (0.0, 0.0, 0.0);
                }
                // Factors are kept within bounds, by powers of two.
                const BOUND: $real = 4096.0 * 4096.0;
                for (row, d) in [&mut *d1, &mut *d2].into_iter().enumerate() {
                    while *d != 0.0 && d.is_finite() && !(1.0 / BOUND..BOUND).contains(&d.abs()) {
                        flag = -1.0;
                        let up = d.abs() >= BOUND;
                        *d = if up { *d / BOUND } else { *d * BOUND };
                        let factor = if up { 4096.0 } else { 1.0 / 4096.0 };
                        h[row] *= factor;
                        h[row + 2] *= factor;
                        if row == 0 {
                            *x1 *= factor;
                        }
                    }
                }
                parameters[0] = flag;
                if flag < 0.0 {
                    parameters[1..].copy_from_slice(&h);
                } else if flag == 0.0 {
                    parameters[2..4].copy_from_slice(&h[1..3]);
                } else {
                    (parameters[1], parameters[4]) = (h[0], h[3]);
                }
                Ok(())
            }
        }
    };
}

real_rotations!(f32, cublasSrotg_v2 cublasSrotm_v2 cublasSrotmg_v2);
real_rotations!(f64, cublasDrotg_v2 cublasDrotm_v2 cublasDrotmg_v2);

macro_rules! complex_rotations {
    ($real:ty, $make:ident) => {
        cublas_functions! {
            /// The rotation that makes the second of two numbers zero; the first becomes the first of the rotated ones.
            fn $make(
                handle: *mut c_void,
                result: *mut Complex<$real>,
                b: *mut Complex<$real>,
                cosine: *mut $real,
                sine: *mut Complex<$real>,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let (a, b, c, s) = unsafe { (place(result)?, scalar(b)?, place(cosine)?, place(sine)?) };
                if a.norm() == 0.0 {
                    (*a, *c, *s) = (b, 0.0, Complex::from(1.0));
                    return Ok(());
                }
                let length = a.norm().hypot(b.norm());
                let direction = *a / a.norm();
                (*c, *s) = (a.norm() / length, direction * b.conj() / length);
                *a = direction * length;
                Ok(())
            }
        }
    };
}

complex_rotations!(f32, cublasCrotg_v2);
complex_rotations!(f64, cublasZrotg_v2);
