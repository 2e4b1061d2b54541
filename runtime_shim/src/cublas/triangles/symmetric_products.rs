//! Products of symmetric, Hermitian and triangular matrices, and those whose result is symmetric or Hermitian.

use std::any::TypeId;
use std::ffi::{c_int, c_void};

use nalgebra::{Complex, DMatrix};

use super::super::stored::{Stored, is_upper, operation};
use super::super::vectors::scalar;
use super::super::{BlasError, BlasResult, Matrix, handle};
use crate::dense::{Operation, Scalar, product as product_of};

/// A matrix's start and leading dimension.
type Placed<T> = (*const T, c_int);

/// `op(A)`.
pub(in crate::cublas) fn operated<T: Scalar>(
    operation: Operation,
    matrix: DMatrix<T>,
) -> DMatrix<T> {
    match operation {
        Operation::Plain => matrix,
        Operation::Transposed => matrix.transpose(),
        Operation::Adjoint => matrix.adjoint(),
    }
}

/// `C = alpha * product + beta * C`; factors of zero do not look at what they are factors of.
pub(in crate::cublas) fn replace<T: Scalar>(
    (alpha, beta): (T, T),
    product: impl FnOnce() -> BlasResult<DMatrix<T>>,
    result: &Matrix<T>,
) -> BlasResult {
    let (rows, columns) = (result.rows, result.columns);
    let mut sum = match beta.is_zero() {
        true => DMatrix::zeros(rows, columns),
        false => result.load() * beta,
    };
    if !alpha.is_zero() {
        sum += product()? * alpha;
    }
    result.store(&sum);
    Ok(())
}

/// `C = alpha * A * B + beta * C`, or `B * A`.
///
/// # Safety
/// The scalars are readable or null.
unsafe fn multiply<T: Scalar>(
    adjoint: bool,
    [side, fill]: [u32; 2],
    [m, n]: [c_int; 2],
    [alpha, beta]: [*const T; 2],
    [a, b, c]: [Placed<T>; 3],
) -> BlasResult {
    if side > 1 {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    let scalars = unsafe { (scalar(alpha)?, scalar(beta)?) };
    let result = Matrix::new(m, n, c.0, c.1)?;
    let product = || {
        let size = if side == 1 { n } else { m };
        let stored = Stored::triangle(size, fill, a.0, a.1)?;
        let (rows, columns) = stored.shape();
        let whole = DMatrix::from_fn(rows, columns, |row, column| {
            stored.mirrored(adjoint, row, column)
        });
        let other = Matrix::new(m, n, b.0, b.1)?.load();
        Ok(if side == 1 {
            product_of(&other, &whole)
        } else {
            product_of(&whole, &other)
        })
    };
    replace(scalars, product, &result)
}

/// Of which operands a result of one triangle is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `op(A) * op(B)'`.
    Product,
    /// Twice, with `A` and `B` exchanged and the second factor conjugated where the result is Hermitian.
    Both,
}

/// `C = alpha * op(A) * op(B)' + beta * C` of one triangle, with adjoints for transposes where the result is Hermitian.
fn update<T: Scalar>(
    (form, adjoint): (Form, bool),
    [fill, of]: [u32; 2],
    [n, k]: [c_int; 2],
    (alpha, beta): (T, T),
    [a, b, c]: [Placed<T>; 3],
) -> BlasResult {
    let operation = operation(of)?;
    // Of real matrices, both operations that are not none mean the same.
    let is_real = TypeId::of::<T>() == TypeId::of::<T::RealField>();
    if !is_real
        && operation
            == if adjoint {
                Operation::Transposed
            } else {
                Operation::Adjoint
            }
    {
        return Err(BlasError::INVALID_VALUE);
    }
    let result = Stored::triangle(n, fill, c.0, c.1)?;
    let operand = |(start, leading): Placed<T>| {
        let (rows, columns) = if operation == Operation::Plain {
            (n, k)
        } else {
            (k, n)
        };
        Ok::<_, BlasError>(operated(
            operation,
            Matrix::new(rows, columns, start, leading)?.load(),
        ))
    };
    let turned = |matrix: &DMatrix<T>| {
        if adjoint {
            matrix.adjoint()
        } else {
            matrix.transpose()
        }
    };
    let sum = match alpha.is_zero() {
        true => None,
        false => {
            let (left, right) = (operand(a)?, operand(b)?);
            let mut sum = product_of(&left, &turned(&right)) * alpha;
            if form == Form::Both {
                let factor = if adjoint { alpha.conjugate() } else { alpha };
                sum += product_of(&right, &turned(&left)) * factor;
            }
            Some(sum)
        }
    };
    let upper = is_upper(fill)?;
    let size = result.shape().0;
    for column in 0..size {
        let rows = if upper { 0..column + 1 } else { column..size };
        for row in rows {
            let before = if beta.is_zero() {
                T::zero()
            } else {
                beta * result.get(row, column)
            };
            let whole = sum
                .as_ref()
                .map_or(before, |sum| before + sum[(row, column)]);
            let real = adjoint && row == column;
            result.set(
                row,
                column,
                if real {
                    T::from_real(whole.real())
                } else {
                    whole
                },
            );
        }
    }
    Ok(())
}

macro_rules! symmetric_products {
    ($kind:ty, $adjoint:literal, $own:ty, $by_two:ty, $whole:ident $raise:ident $raise_by_two:ident $product:ident) => {
        cublas_functions! {
            /// `C = alpha * A * B + beta * C`, or with side 1 `B * A`.
            fn $whole(
                handle: *mut c_void,
                side: u32,
                fill: u32,
                m: c_int,
                n: c_int,
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
                let matrices = [(a, a_leading), (b, b_leading), (c.cast_const(), c_leading)];
                // SAFETY: the program passes scalars or null; the same in this file.
                unsafe { multiply($adjoint, [side, fill], [m, n], [alpha, beta], matrices) }
            }

            /// `C = alpha * op(A) * op(A)' + beta * C` of one triangle.
            fn $raise(
                handle: *mut c_void,
                fill: u32,
                operation: u32,
                n: c_int,
                k: c_int,
                alpha: *const $own,
                a: *const $kind,
                a_leading: c_int,
                beta: *const $own,
                c: *mut $kind,
                c_leading: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let (alpha, beta) = unsafe { (scalar(alpha)?, scalar(beta)?) };
                let scalars = (<$kind>::from(alpha), <$kind>::from(beta));
                let matrices = [(a, a_leading), (a, a_leading), (c.cast_const(), c_leading)];
                update((Form::Product, $adjoint), [fill, operation], [n, k], scalars, matrices)
            }

            /// `C = alpha * (op(A) * op(B)' + op(B) * op(A)') + beta * C` of one triangle.
            fn $raise_by_two(
                handle: *mut c_void,
                fill: u32,
                operation: u32,
                n: c_int,
                k: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                b: *const $kind,
                b_leading: c_int,
                beta: *const $by_two,
                c: *mut $kind,
                c_leading: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let (alpha, beta) = unsafe { (scalar(alpha)?, scalar(beta)?) };
                let matrices = [(a, a_leading), (b, b_leading), (c.cast_const(), c_leading)];
                let scalars = (alpha, <$kind>::from(beta));
                update((Form::Both, $adjoint), [fill, operation], [n, k], scalars, matrices)
            }

            /// `C = alpha * op(A) * op(B)' + beta * C` of one triangle, of what the program knows to be such.
            fn $product(
                handle: *mut c_void,
                fill: u32,
                operation: u32,
                n: c_int,
                k: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                b: *const $kind,
                b_leading: c_int,
                beta: *const $by_two,
                c: *mut $kind,
                c_leading: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let (alpha, beta) = unsafe { (scalar(alpha)?, scalar(beta)?) };
                let matrices = [(a, a_leading), (b, b_leading), (c.cast_const(), c_leading)];
                let scalars = (alpha, <$kind>::from(beta));
                update((Form::Product, $adjoint), [fill, operation], [n, k], scalars, matrices)
            }
        }
    };
}

macro_rules! triangular_product {
    ($kind:ty, $name:ident) => {
        cublas_functions! {
            /// `C = alpha * op(A) * B`, or with side 1 `B * op(A)`, of a triangular `A`.
            fn $name(
                handle: *mut c_void,
                side: u32,
                fill: u32,
                of: u32,
                diagonal: u32,
                m: c_int,
                n: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                b: *const $kind,
                b_leading: c_int,
                c: *mut $kind,
                c_leading: c_int,
            ) {
                handle::in_order(handle)?;
                if side > 1 || diagonal > 1 {
                    return Err(BlasError::INVALID_VALUE);
                }
                let (operation, upper) = (operation(of)?, is_upper(fill)?);
                // SAFETY: as above.
                let alpha = unsafe { scalar(alpha)? };
                let result = Matrix::new(m, n, c, c_leading)?;
                let product = || {
                    let size = if side == 1 { n } else { m };
                    let mut whole = Matrix::new(size, size, a, a_leading)?.load();
                    let zero = <$kind>::from(0.0);
                    match upper {
                        true => whole.fill_lower_triangle(zero, 1),
                        false => whole.fill_upper_triangle(zero, 1),
                    }
                    if diagonal == 1 {
                        whole.fill_diagonal(<$kind>::from(1.0));
                    }
                    let (whole, other) = (operated(operation, whole), Matrix::new(m, n, b, b_leading)?.load());
                    Ok(if side == 1 { other * whole } else { whole * other })
                };
                replace((alpha, <$kind>::from(0.0)), product, &result)
            }
        }
    };
}

symmetric_products!(f32, false, f32, f32, cublasSsymm_v2 cublasSsyrk_v2 cublasSsyr2k_v2 cublasSsyrkx);
symmetric_products!(f64, false, f64, f64, cublasDsymm_v2 cublasDsyrk_v2 cublasDsyr2k_v2 cublasDsyrkx);
symmetric_products!(Complex<f32>, false, Complex<f32>, Complex<f32>,
    cublasCsymm_v2 cublasCsyrk_v2 cublasCsyr2k_v2 cublasCsyrkx);
symmetric_products!(Complex<f64>, false, Complex<f64>, Complex<f64>,
    cublasZsymm_v2 cublasZsyrk_v2 cublasZsyr2k_v2 cublasZsyrkx);
symmetric_products!(Complex<f32>, true, f32, f32, cublasChemm_v2 cublasCherk_v2 cublasCher2k_v2 cublasCherkx);
symmetric_products!(Complex<f64>, true, f64, f64, cublasZhemm_v2 cublasZherk_v2 cublasZher2k_v2 cublasZherkx);
triangular_product!(f32, cublasStrmm_v2);
triangular_product!(f64, cublasDtrmm_v2);
triangular_product!(Complex<f32>, cublasCtrmm_v2);
triangular_product!(Complex<f64>, cublasZtrmm_v2);
