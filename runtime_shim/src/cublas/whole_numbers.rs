//! Products of matrices of bytes, added up in words that wrap.

use std::ffi::{c_int, c_void};

use super::matrices::Batch;
use super::mixed::BYTE;
use super::{BlasError, BlasResult, check, is_transposed};
use crate::output::trace;

/// `CUDA_R_32I`.
const WORD: u32 = 10;

/// Whether a product of matrices of these types is made here.
pub fn takes(types: [u32; 3]) -> bool {
    types == [BYTE, BYTE, WORD]
}

/// `d = alpha * op(a) * op(b) + beta * c`, for each of a batch.
///
/// # Safety
/// The scalars are readable or null.
pub unsafe fn product(
    operations: [u32; 2],
    extents: [c_int; 3],
    scalars: [*const c_void; 2],
    [a, b, c, d]: [Batch<c_void>; 4],
    count: c_int,
) -> BlasResult {
    if scalars.iter().any(|scalar| scalar.is_null()) {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    let [alpha, beta] = scalars.map(|scalar| unsafe { scalar.cast::<i32>().read_unaligned() });
    let transposed = [is_transposed(operations[0])?, is_transposed(operations[1])?];
    let extent = |value: c_int| usize::try_from(value).map_err(|_| BlasError::INVALID_VALUE);
    let (rows, columns, inner) = (
        extent(extents[0])?,
        extent(extents[1])?,
        extent(extents[2])?,
    );
    let inner = if alpha == 0 { 0 } else { inner };
    for index in 0..extent(count)? {
        let left = ColumnMatrix::of::<i8>(a, index, rows, inner, transposed[0])?;
        let right = ColumnMatrix::of::<i8>(b, index, inner, columns, transposed[1])?;
        let result = ColumnMatrix::of::<i32>(d, index, rows, columns, false)?;
        let before = match beta {
            0 => None,
            _ => Some(ColumnMatrix::of::<i32>(c, index, rows, columns, false)?),
        };
        for column in 0..columns {
            for row in 0..rows {
                let mut sum = 0_i32;
                for step in 0..inner {
                    // SAFETY: the elements were found within device memory; so below.
                    let factors = unsafe {
                        [
                            left.at::<i8>(row, step).read(),
                            right.at::<i8>(step, column).read(),
                        ]
                    };
                    sum = sum.wrapping_add(i32::from(factors[0]) * i32::from(factors[1]));
                }
                let mut value = alpha.wrapping_mul(sum);
                if let Some(before) = &before {
                    // SAFETY: as above.
                    let before = unsafe { before.at::<i32>(row, column).read_unaligned() };
                    value = value.wrapping_add(beta.wrapping_mul(before));
                }
                // SAFETY: as above.
                unsafe { result.at::<i32>(row, column).write_unaligned(value) };
            }
            let (start, length) = (result.at::<i32>(0, column) as usize, 4 * rows);
            trace::set(start, length);
            crate::execution::check::filled(start, length);
        }
    }
    Ok(())
}

/// A matrix by columns in device memory.
struct ColumnMatrix {
    start: usize,
    leading: usize,
    transposed: bool,
}

impl ColumnMatrix {
    /// The n-th matrix of a batch, which has so many rows and columns after it was transposed.
    fn of<T>(
        (start, leading, stride): Batch<c_void>,
        index: usize,
        rows: usize,
        columns: usize,
        transposed: bool,
    ) -> BlasResult<Self> {
        let leading = usize::try_from(leading).map_err(|_| BlasError::INVALID_VALUE)?;
        let (tall, wide) = match transposed {
            true => (columns, rows),
            false => (rows, columns),
        };
        let distance = stride.wrapping_mul(index as i64) as isize * size_of::<T>() as isize;
        let start = start.wrapping_byte_offset(distance);
        if tall > 0 && wide > 0 {
            if leading < tall {
                return Err(BlasError::INVALID_VALUE);
            }
            check(start, (leading * (wide - 1) + tall) * size_of::<T>())?;
        }
        Ok(Self {
            start: start as usize,
            leading,
            transposed,
        })
    }

    fn at<T>(&self, row: usize, column: usize) -> *mut T {
        let (row, column) = match self.transposed {
            true => (column, row),
            false => (row, column),
        };
        (self.start + (column * self.leading + row) * size_of::<T>()) as *mut T
    }
}
