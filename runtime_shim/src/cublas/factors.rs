//! Factors, inverses and systems of batches of small matrices.

use std::ffi::{c_int, c_void};

use nalgebra::{Complex, DMatrix};

use super::triangles::starts;
use super::{BlasError, BlasResult, Matrix, check, handle};
use crate::dense::{LowerUpper, Operation, Reflectors, Scalar, least_squares};
use crate::execution::check as checks;
use crate::output::trace;

macro_rules! factor_functions {
    ($kind:ty, $factor:ident $solve:ident $invert_factors:ident $invert:ident $orthogonal:ident
     $least_squares:ident) => {
        cublas_functions! {
            /// `P * A = L * U` in place of each `A`; without exchanges where there is no place for them.
            fn $factor(
                handle: *mut c_void,
                size: c_int,
                matrices: *const *mut $kind,
                leading: c_int,
                exchanges: *mut c_int,
                found: *mut c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                let found = Whole::new(found, count)?;
                let places = places(exchanges, size, count)?;
                for (index, start) in starts::<$kind>(matrices.cast(), count)?.into_iter().enumerate() {
                    let matrix = Matrix::new(size, size, start, leading)?;
                    let factored = LowerUpper::new(matrix.load(), places.is_some());
                    matrix.store(&factored.factors);
                    if let Some(places) = &places {
                        for (row, other) in factored.exchanges.iter().enumerate() {
                            places.set(index * factored.exchanges.len() + row, other + 1);
                        }
                    }
                    found.set(index, factored.first_without_pivot);
                }
                Ok(())
            }

            /// Solves `op(A) * X = B` in place of each `B`, with the factors of `A`.
            fn $solve(
                handle: *mut c_void,
                operation: u32,
                size: c_int,
                columns: c_int,
                factors: *const *const $kind,
                leading: c_int,
                exchanges: *const c_int,
                rights: *const *mut $kind,
                right_leading: c_int,
                status: *mut c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                let operation = Operation::new(operation).ok_or(BlasError::INVALID_VALUE)?;
                // SAFETY: the program passes a writable address or null; the same in this file.
                unsafe { succeed(status) }?;
                let places = places(exchanges.cast_mut(), size, count)?;
                let factors = starts::<$kind>(factors, count)?.into_iter();
                let pairs = factors.zip(starts::<$kind>(rights.cast(), count)?);
                for (index, (factor, right)) in pairs.enumerate() {
                    let right = Matrix::new(size, columns, right, right_leading)?;
                    let factored = factored((factor, leading), size, &places, index)?;
                    let mut solution = right.load();
                    factored.solve(operation, &mut solution);
                    right.store(&solution);
                }
                Ok(())
            }

            /// The inverses of matrices whose factors are there.
            fn $invert_factors(
                handle: *mut c_void,
                size: c_int,
                factors: *const *const $kind,
                leading: c_int,
                exchanges: *const c_int,
                inverses: *const *mut $kind,
                inverse_leading: c_int,
                found: *mut c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                let found = Whole::new(found, count)?;
                let places = places(exchanges.cast_mut(), size, count)?;
                let factors = starts::<$kind>(factors, count)?.into_iter();
                let pairs = factors.zip(starts::<$kind>(inverses.cast(), count)?);
                for (index, (factor, inverse)) in pairs.enumerate() {
                    let factored = factored((factor, leading), size, &places, index)?;
                    let inverse = Matrix::new(size, size, inverse, inverse_leading)?;
                    found.set(index, factored.first_without_pivot);
                    if factored.first_without_pivot == 0 {
                        inverse.store(&factored.inverse());
                    }
                }
                Ok(())
            }

            /// The inverses of matrices of at most 32 rows.
            fn $invert(
                handle: *mut c_void,
                size: c_int,
                matrices: *const *const $kind,
                leading: c_int,
                inverses: *const *mut $kind,
                inverse_leading: c_int,
                found: *mut c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                if size > 32 {
                    return Err(BlasError::INVALID_VALUE);
                }
                let found = Whole::new(found, count)?;
                let matrices = starts::<$kind>(matrices, count)?.into_iter();
                let pairs = matrices.zip(starts::<$kind>(inverses.cast(), count)?);
                for (index, (matrix, inverse)) in pairs.enumerate() {
                    let factored = LowerUpper::new(Matrix::new(size, size, matrix, leading)?.load(), true);
                    let inverse = Matrix::new(size, size, inverse, inverse_leading)?;
                    found.set(index, factored.first_without_pivot);
                    if factored.first_without_pivot == 0 {
                        inverse.store(&factored.inverse());
                    }
                }
                Ok(())
            }

            /// `A = Q * R` in place of each `A`, `Q` as reflectors.
            fn $orthogonal(
                handle: *mut c_void,
                rows: c_int,
                columns: c_int,
                matrices: *const *mut $kind,
                leading: c_int,
                scales: *const *mut $kind,
                status: *mut c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                unsafe { succeed(status) }?;
                let matrices = starts::<$kind>(matrices.cast(), count)?.into_iter();
                for (matrix, scale) in matrices.zip(starts::<$kind>(scales.cast(), count)?) {
                    let matrix = Matrix::new(rows, columns, matrix, leading)?;
                    let reflectors = Reflectors::new(matrix.load());
                    matrix.store(&reflectors.factors);
                    store_scales(scale, &reflectors.scales)?;
                }
                Ok(())
            }

            /// What makes each `A * X - B` smallest in place of the first rows of `B`, and `A = Q * R` in
            /// place of `A`, which has at least as many rows as columns.
            fn $least_squares(
                handle: *mut c_void,
                operation: u32,
                rows: c_int,
                columns: c_int,
                right_columns: c_int,
                matrices: *const *mut $kind,
                leading: c_int,
                rights: *const *mut $kind,
                right_leading: c_int,
                status: *mut c_int,
                found: *mut c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                unsafe { succeed(status) }?;
                if operation != 0 || rows < columns {
                    return Err(BlasError::NOT_SUPPORTED);
                }
                let found = match found.is_null() {
                    true => None,
                    false => Some(Whole::new(found, count)?),
                };
                let matrices = starts::<$kind>(matrices.cast(), count)?.into_iter();
                let pairs = matrices.zip(starts::<$kind>(rights.cast(), count)?);
                for (index, (matrix, right)) in pairs.enumerate() {
                    let matrix = Matrix::new(rows, columns, matrix, leading)?;
                    let right = Matrix::new(rows, right_columns, right, right_leading)?;
                    let mut solution = right.load();
                    let reflectors = least_squares(matrix.load(), &mut solution);
                    let zero = first_zero(&reflectors.factors);
                    if zero == 0 {
                        right.store(&solution);
                    }
                    matrix.store(&reflectors.factors);
                    if let Some(found) = &found {
                        found.set(index, zero);
                    }
                }
                Ok(())
            }
        }
    };
}

factor_functions!(f32, cublasSgetrfBatched cublasSgetrsBatched cublasSgetriBatched
    cublasSmatinvBatched cublasSgeqrfBatched cublasSgelsBatched);
factor_functions!(f64, cublasDgetrfBatched cublasDgetrsBatched cublasDgetriBatched
    cublasDmatinvBatched cublasDgeqrfBatched cublasDgelsBatched);
factor_functions!(Complex<f32>, cublasCgetrfBatched cublasCgetrsBatched cublasCgetriBatched
    cublasCmatinvBatched cublasCgeqrfBatched cublasCgelsBatched);
factor_functions!(Complex<f64>, cublasZgetrfBatched cublasZgetrsBatched cublasZgetriBatched
    cublasZmatinvBatched cublasZgeqrfBatched cublasZgelsBatched);

/// Whole numbers on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole(*mut c_int);

impl Whole {
    /// Errors: so many are not within device memory.
    pub(crate) fn new(start: *mut c_int, count: c_int) -> BlasResult<Self> {
        let count = usize::try_from(count).map_err(|_| BlasError::INVALID_VALUE)?;
        if count > 0 {
            check(start.cast(), count * size_of::<c_int>())?;
        }
        Ok(Self(start))
    }

    pub(crate) fn get(&self, index: usize) -> c_int {
        // SAFETY: `new` found them within device memory.
        unsafe { self.0.add(index).read() }
    }

    pub(crate) fn set(&self, index: usize, value: usize) {
        let place = self.0.wrapping_add(index);
        // SAFETY: as above.
        unsafe { place.write(value as c_int) };
        trace::set(place as usize, size_of::<c_int>());
        checks::filled(place as usize, size_of::<c_int>());
    }
}

/// Stores the scales of reflectors.
pub(crate) fn store_scales<T: Scalar>(start: *const T, scales: &[T]) -> BlasResult {
    let count = c_int::try_from(scales.len()).map_err(|_| BlasError::INVALID_VALUE)?;
    let place = Matrix::new(count, 1, start, count.max(1))?;
    place.store(&DMatrix::from_column_slice(scales.len(), 1, scales));
    Ok(())
}

/// Exchanges of rows that were counted from 1, of a matrix with so many rows.
pub(crate) fn exchanges(places: &Whole, first: usize, size: usize) -> BlasResult<Vec<usize>> {
    let exchange = |row: usize| {
        let other = usize::try_from(places.get(first + row) - 1).ok();
        let other = other.filter(|other| *other < size);
        other.ok_or(BlasError::INVALID_VALUE)
    };
    (0..size).map(exchange).collect()
}

fn places(start: *mut c_int, size: c_int, count: c_int) -> BlasResult<Option<Whole>> {
    if start.is_null() {
        return Ok(None);
    }
    let all = size.checked_mul(count).ok_or(BlasError::INVALID_VALUE)?;
    Ok(Some(Whole::new(start, all)?))
}

/// Factors that are in device memory already.
fn factored<T: Scalar>(
    (start, leading): (*const T, c_int),
    size: c_int,
    places: &Option<Whole>,
    index: usize,
) -> BlasResult<LowerUpper<T>> {
    let factors = Matrix::new(size, size, start, leading)?.load();
    let size = factors.nrows();
    let exchanges = match places {
        None => Vec::new(),
        Some(places) => exchanges(places, index * size, size)?,
    };
    let first_without_pivot = first_zero(&factors);
    Ok(LowerUpper {
        factors,
        exchanges,
        first_without_pivot,
    })
}

/// The first zero of the diagonal, counted from 1; else 0.
fn first_zero<T: Scalar>(factors: &DMatrix<T>) -> usize {
    let mut diagonal = 0..factors.nrows().min(factors.ncols());
    diagonal
        .find(|at| factors[(*at, *at)].is_zero())
        .map_or(0, |at| at + 1)
}

/// Says that the parameters are valid.
///
/// # Safety
/// The address is writable or null.
unsafe fn succeed(status: *mut c_int) -> BlasResult {
    if status.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { status.write(0) };
    Ok(())
}
