//! Operations on vectors of matrices of which one triangle or a band is stored.

use std::ffi::{c_int, c_void};

use nalgebra::Complex;

use super::super::stored::{Stored, operation, scaled_sums};
use super::super::vectors::scalar;
use super::super::{BlasError, BlasResult, Vector, handle};
use crate::dense::{Operation, Scalar};
use crate::sums::pairwise;

/// A vector's start and increment.
type Placed<T> = (*const T, c_int);

/// `y = alpha * A * x + beta * y`.
///
/// # Safety
/// The scalars are readable or null.
unsafe fn multiply<T: Scalar>(
    (matrix, adjoint): (Stored<T>, bool),
    [alpha, beta]: [*const T; 2],
    x: Placed<T>,
    y: Placed<T>,
) -> BlasResult {
    // SAFETY: as the caller promises.
    let (alpha, beta) = unsafe { (scalar(alpha)?, scalar(beta)?) };
    let size = c_int::try_from(matrix.shape().0).unwrap_or(c_int::MAX);
    let (x, y) = (Vector::new(size, x.0, x.1)?, Vector::new(size, y.0, y.1)?);
    scaled_sums((alpha, beta), &y, |row| {
        let columns = matrix.mirrored_columns(row);
        let term = |column| matrix.mirrored(adjoint, row, column) * x.get(column);
        pairwise(T::zero(), columns.map(term))
    });
    Ok(())
}

/// `A += alpha * x * x'`, or its adjoint for the transpose.
fn raise<T: Scalar>((matrix, adjoint): (Stored<T>, bool), alpha: T, x: Placed<T>) -> BlasResult {
    let size = c_int::try_from(matrix.shape().0).unwrap_or(c_int::MAX);
    let x = Vector::new(size, x.0, x.1)?;
    let turned = |value: T| if adjoint { value.conjugate() } else { value };
    matrix.add(adjoint, |row, column| {
        alpha * x.get(row) * turned(x.get(column))
    });
    Ok(())
}

/// `A += alpha * x * y' + alpha * y * x'`, or adjoints for the transposes and the conjugate for the second factor.
///
/// # Safety
/// The scalar is readable or null.
unsafe fn raise_by_two<T: Scalar>(
    (matrix, adjoint): (Stored<T>, bool),
    alpha: *const T,
    x: Placed<T>,
    y: Placed<T>,
) -> BlasResult {
    // SAFETY: as the caller promises.
    let alpha = unsafe { scalar(alpha)? };
    let size = c_int::try_from(matrix.shape().0).unwrap_or(c_int::MAX);
    let (x, y) = (Vector::new(size, x.0, x.1)?, Vector::new(size, y.0, y.1)?);
    let turned = |value: T| if adjoint { value.conjugate() } else { value };
    matrix.add(adjoint, |row, column| {
        alpha * x.get(row) * turned(y.get(column))
            + turned(alpha) * y.get(row) * turned(x.get(column))
    });
    Ok(())
}

/// `op(A)` of a triangular matrix, by `cublasOperation_t` and `cublasDiagType_t`.
struct Triangular<T> {
    matrix: Stored<T>,
    operation: Operation,
    ones: bool,
}

impl<T: Scalar> Triangular<T> {
    fn new(matrix: Stored<T>, [of, diagonal]: [u32; 2]) -> BlasResult<Self> {
        if diagonal > 1 {
            return Err(BlasError::INVALID_VALUE);
        }
        Ok(Self {
            matrix,
            operation: operation(of)?,
            ones: diagonal == 1,
        })
    }

    fn vector(&self, (start, increment): Placed<T>) -> BlasResult<Vector<T>> {
        let size = c_int::try_from(self.matrix.shape().0).unwrap_or(c_int::MAX);
        Vector::new(size, start, increment)
    }

    /// The sum of a row's elements beside the diagonal times those of a vector.
    fn beside_diagonal(&self, row: usize, of: impl Fn(usize) -> T) -> T {
        let columns = self.matrix.operated_columns(self.operation, row);
        let beside = columns.filter(|column| *column != row);
        let term = |column| self.matrix.operated(self.operation, row, column) * of(column);
        pairwise(T::zero(), beside.map(term))
    }

    fn diagonal(&self, row: usize) -> T {
        match self.ones {
            true => T::one(),
            false => self.matrix.operated(self.operation, row, row),
        }
    }

    /// `x = op(A) * x`.
    fn multiply(&self, x: Placed<T>) -> BlasResult {
        let x = self.vector(x)?;
        let before: Vec<T> = (0..x.length).map(|at| x.get(at)).collect();
        for (row, own) in before.iter().enumerate() {
            let sum = self.beside_diagonal(row, |column| before[column]);
            x.set(row, sum + self.diagonal(row) * *own);
        }
        Ok(())
    }

    /// Solves `op(A) * x = b` in place of `b`.
    fn solve(&self, x: Placed<T>) -> BlasResult {
        let x = self.vector(x)?;
        let upper = self.matrix.is_upper() == (self.operation == Operation::Plain);
        for step in 0..x.length {
            let row = if upper { x.length - 1 - step } else { step };
            let rest = x.get(row) - self.beside_diagonal(row, |column| x.get(column));
            x.set(row, rest / self.diagonal(row));
        }
        Ok(())
    }
}

macro_rules! symmetric_functions {
    ($kind:ty, $adjoint:literal, $factor:ty, $whole:ident $raise:ident $raise_by_two:ident) => {
        cublas_functions! {
            /// `y = alpha * A * x + beta * y`.
            fn $whole(
                handle: *mut c_void,
                fill: u32,
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
                let matrix = (Stored::triangle(n, fill, a, a_leading)?, $adjoint);
                // SAFETY: the program passes scalars or null; the same in this file.
                unsafe { multiply(matrix, [alpha, beta], (x, x_increment), (y, y_increment)) }
            }

            /// `A += alpha * x * x'`.
            fn $raise(
                handle: *mut c_void,
                fill: u32,
                n: c_int,
                alpha: *const $factor,
                x: *const $kind,
                x_increment: c_int,
                a: *mut $kind,
                a_leading: c_int,
            ) {
                handle::in_order(handle)?;
                let matrix = (Stored::triangle(n, fill, a, a_leading)?, $adjoint);
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha)? };
                raise(matrix, <$kind>::from(alpha), (x, x_increment))
            }

            /// `A += alpha * x * y' + alpha * y * x'`.
            fn $raise_by_two(
                handle: *mut c_void,
                fill: u32,
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
                let matrix = (Stored::triangle(n, fill, a, a_leading)?, $adjoint);
                // SAFETY: as above.
                unsafe { raise_by_two(matrix, alpha, (x, x_increment), (y, y_increment)) }
            }
        }
    };
}

macro_rules! small_symmetric_functions {
    ($kind:ty, $adjoint:literal, $factor:ty, $banded:ident $packed:ident $raise:ident $raise_by_two:ident) => {
        cublas_functions! {
            /// `y = alpha * A * x + beta * y` of a band.
            fn $banded(
                handle: *mut c_void,
                fill: u32,
                n: c_int,
                diagonals: c_int,
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
                let matrix = (Stored::banded(n, fill, diagonals, a, a_leading)?, $adjoint);
                // SAFETY: as above.
                unsafe { multiply(matrix, [alpha, beta], (x, x_increment), (y, y_increment)) }
            }

            /// The same of a packed triangle.
            fn $packed(
                handle: *mut c_void,
                fill: u32,
                n: c_int,
                alpha: *const $kind,
                a: *const $kind,
                x: *const $kind,
                x_increment: c_int,
                beta: *const $kind,
                y: *mut $kind,
                y_increment: c_int,
            ) {
                handle::in_order(handle)?;
                let matrix = (Stored::packed(n, fill, a)?, $adjoint);
                // SAFETY: as above.
                unsafe { multiply(matrix, [alpha, beta], (x, x_increment), (y, y_increment)) }
            }

            /// `A += alpha * x * x'` of a packed triangle.
            fn $raise(
                handle: *mut c_void,
                fill: u32,
                n: c_int,
                alpha: *const $factor,
                x: *const $kind,
                x_increment: c_int,
                a: *mut $kind,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha)? };
                raise((Stored::packed(n, fill, a)?, $adjoint), <$kind>::from(alpha), (x, x_increment))
            }

            /// `A += alpha * x * y' + alpha * y * x'` of a packed triangle.
            fn $raise_by_two(
                handle: *mut c_void,
                fill: u32,
                n: c_int,
                alpha: *const $kind,
                x: *const $kind,
                x_increment: c_int,
                y: *const $kind,
                y_increment: c_int,
                a: *mut $kind,
            ) {
                handle::in_order(handle)?;
                let matrix = (Stored::packed(n, fill, a)?, $adjoint);
                // SAFETY: as above.
                unsafe { raise_by_two(matrix, alpha, (x, x_increment), (y, y_increment)) }
            }
        }
    };
}

macro_rules! triangular_functions {
    ($kind:ty, $multiply:ident $solve:ident $multiply_band:ident $solve_band:ident $multiply_packed:ident
     $solve_packed:ident $band:ident) => {
        triangular_functions!(@whole $kind, $multiply multiply "`x = op(A) * x`.");
        triangular_functions!(@whole $kind, $solve solve "Solves `op(A) * x = b` in place of `b`.");
        triangular_functions!(@band $kind, $multiply_band multiply "`x = op(A) * x` of a band.");
        triangular_functions!(@band $kind, $solve_band solve "Solves `op(A) * x = b` of a band.");
        triangular_functions!(@packed $kind, $multiply_packed multiply "`x = op(A) * x` of a packed triangle.");
        triangular_functions!(@packed $kind, $solve_packed solve "Solves `op(A) * x = b` of a packed triangle.");
        cublas_functions! {
            /// `y = alpha * op(A) * x + beta * y` of a band.
            fn $band(
                handle: *mut c_void,
                of: u32,
                m: c_int,
                n: c_int,
                below: c_int,
                above: c_int,
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
                let operation = operation(of)?;
                let matrix = Stored::band([m, n, below, above], a, a_leading)?;
                let (inner, outer) = if operation == Operation::Plain { (n, m) } else { (m, n) };
                let x = Vector::new(inner, x, x_increment)?;
                let y = Vector::new(outer, y, y_increment)?;
                // SAFETY: as above.
                let scalars = unsafe { (scalar(alpha)?, scalar(beta)?) };
                scaled_sums(scalars, &y, |row| {
                    let columns = matrix.operated_columns(operation, row);
                    let term = |column| matrix.operated(operation, row, column) * x.get(column);
                    pairwise(nalgebra::zero::<$kind>(), columns.map(term))
                });
                Ok(())
            }
        }
    };
    (@whole $kind:ty, $name:ident $method:ident $says:literal) => {
        cublas_functions! {
            #[doc = $says]
            fn $name(
                handle: *mut c_void,
                fill: u32,
                operation: u32,
                diagonal: u32,
                n: c_int,
                a: *const $kind,
                a_leading: c_int,
                x: *mut $kind,
                x_increment: c_int,
            ) {
                handle::in_order(handle)?;
                let matrix = Stored::triangle(n, fill, a, a_leading)?;
                Triangular::new(matrix, [operation, diagonal])?.$method((x, x_increment))
            }
        }
    };
    (@band $kind:ty, $name:ident $method:ident $says:literal) => {
        cublas_functions! {
            #[doc = $says]
            fn $name(
                handle: *mut c_void,
                fill: u32,
                operation: u32,
                diagonal: u32,
                n: c_int,
                diagonals: c_int,
                a: *const $kind,
                a_leading: c_int,
                x: *mut $kind,
                x_increment: c_int,
            ) {
                handle::in_order(handle)?;
                let matrix = Stored::banded(n, fill, diagonals, a, a_leading)?;
                Triangular::new(matrix, [operation, diagonal])?.$method((x, x_increment))
            }
        }
    };
    (@packed $kind:ty, $name:ident $method:ident $says:literal) => {
        cublas_functions! {
            #[doc = $says]
            fn $name(
                handle: *mut c_void,
                fill: u32,
                operation: u32,
                diagonal: u32,
                n: c_int,
                a: *const $kind,
                x: *mut $kind,
                x_increment: c_int,
            ) {
                handle::in_order(handle)?;
                let matrix = Stored::packed(n, fill, a)?;
                Triangular::new(matrix, [operation, diagonal])?.$method((x, x_increment))
            }
        }
    };
}

symmetric_functions!(f32, false, f32, cublasSsymv_v2 cublasSsyr_v2 cublasSsyr2_v2);
symmetric_functions!(f64, false, f64, cublasDsymv_v2 cublasDsyr_v2 cublasDsyr2_v2);
symmetric_functions!(Complex<f32>, false, Complex<f32>, cublasCsymv_v2 cublasCsyr_v2 cublasCsyr2_v2);
symmetric_functions!(Complex<f64>, false, Complex<f64>, cublasZsymv_v2 cublasZsyr_v2 cublasZsyr2_v2);
symmetric_functions!(Complex<f32>, true, f32, cublasChemv_v2 cublasCher_v2 cublasCher2_v2);
symmetric_functions!(Complex<f64>, true, f64, cublasZhemv_v2 cublasZher_v2 cublasZher2_v2);
small_symmetric_functions!(f32, false, f32, cublasSsbmv_v2 cublasSspmv_v2 cublasSspr_v2 cublasSspr2_v2);
small_symmetric_functions!(f64, false, f64, cublasDsbmv_v2 cublasDspmv_v2 cublasDspr_v2 cublasDspr2_v2);
small_symmetric_functions!(Complex<f32>, true, f32, cublasChbmv_v2 cublasChpmv_v2 cublasChpr_v2 cublasChpr2_v2);
small_symmetric_functions!(Complex<f64>, true, f64, cublasZhbmv_v2 cublasZhpmv_v2 cublasZhpr_v2 cublasZhpr2_v2);
triangular_functions!(f32, cublasStrmv_v2 cublasStrsv_v2 cublasStbmv_v2 cublasStbsv_v2 cublasStpmv_v2
    cublasStpsv_v2 cublasSgbmv_v2);
triangular_functions!(f64, cublasDtrmv_v2 cublasDtrsv_v2 cublasDtbmv_v2 cublasDtbsv_v2 cublasDtpmv_v2
    cublasDtpsv_v2 cublasDgbmv_v2);
triangular_functions!(Complex<f32>, cublasCtrmv_v2 cublasCtrsv_v2 cublasCtbmv_v2 cublasCtbsv_v2 cublasCtpmv_v2
    cublasCtpsv_v2 cublasCgbmv_v2);
triangular_functions!(Complex<f64>, cublasZtrmv_v2 cublasZtrsv_v2 cublasZtbmv_v2 cublasZtbsv_v2 cublasZtpmv_v2
    cublasZtpsv_v2 cublasZgbmv_v2);
