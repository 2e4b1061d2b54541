//! Products of matrices of half precision and bfloat16: made in single precision and rounded once at the
//! end, as cuBLAS does unless it is asked to add up in half precision.

use std::ffi::{c_int, c_void};

use super::matrices::Batch;
use super::{BlasError, BlasResult, Number, check, handle, is_transposed};
use crate::texture::format::float_of_half;
use crate::trace;

/// `CUDA_R_32F`, `CUDA_R_16F`, `CUDA_R_16BF`.
const SINGLE: u32 = 0;
const HALF: u32 = 2;
const BFLOAT: u32 = 14;

cublas_functions! {
    /// `C = alpha * op(A) * op(B) + beta * C` in half precision.
    fn cublasHgemm(
        handle: *mut c_void,
        a_operation: u32,
        b_operation: u32,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const c_void,
        a: *const c_void,
        a_leading: c_int,
        b: *const c_void,
        b_leading: c_int,
        beta: *const c_void,
        c: *mut c_void,
        c_leading: c_int,
    ) {
        handle::in_order(handle)?;
        let matrices = [(a, a_leading, 0), (b, b_leading, 0), (c.cast_const(), c_leading, 0)];
        // SAFETY: the program passes scalars or null; the same in this file.
        let scalars = unsafe { [scalar(alpha, HALF)?, scalar(beta, HALF)?] };
        product([a_operation, b_operation], [m, n, k], scalars, matrices, [HALF; 3], 1)
    }

    /// The same for matrices at equal distances.
    fn cublasHgemmStridedBatched(
        handle: *mut c_void,
        a_operation: u32,
        b_operation: u32,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const c_void,
        a: *const c_void,
        a_leading: c_int,
        a_stride: i64,
        b: *const c_void,
        b_leading: c_int,
        b_stride: i64,
        beta: *const c_void,
        c: *mut c_void,
        c_leading: c_int,
        c_stride: i64,
        count: c_int,
    ) {
        handle::in_order(handle)?;
        let c = (c.cast_const(), c_leading, c_stride);
        let matrices = [(a, a_leading, a_stride), (b, b_leading, b_stride), c];
        // SAFETY: as above.
        let scalars = unsafe { [scalar(alpha, HALF)?, scalar(beta, HALF)?] };
        product([a_operation, b_operation], [m, n, k], scalars, matrices, [HALF; 3], count)
    }
}

/// Whether a product of matrices of these types is made here.
pub fn takes(types: [u32; 3]) -> bool {
    let known = |kind: &u32| matches!(*kind, SINGLE | HALF | BFLOAT);
    types.iter().all(known) && types[0] == types[1] && types != [SINGLE; 3]
}

/// The scalars of a product that adds up as `compute_type` says: a `cublasComputeType_t`, or a
/// `cudaDataType` of older programs.
///
/// # Safety
/// The addresses are readable or null.
pub unsafe fn scalars(places: [*const c_void; 2], compute_type: u32) -> BlasResult<[f32; 2]> {
    let kind = match compute_type {
        64 | 65 | HALF => HALF,
        _ => SINGLE,
    };
    // SAFETY: as the caller promises.
    unsafe { Ok([scalar(places[0], kind)?, scalar(places[1], kind)?]) }
}

/// Products of a batch of matrices.
pub fn product(
    operations: [u32; 2],
    [m, n, k]: [c_int; 3],
    [alpha, beta]: [f32; 2],
    [a, b, c]: [Batch<c_void>; 3],
    types: [u32; 3],
    count: c_int,
) -> BlasResult {
    let extent = |value: c_int| usize::try_from(value).map_err(|_| BlasError::INVALID_VALUE);
    let (rows, columns, inner, count) = (extent(m)?, extent(n)?, extent(k)?, extent(count)?);
    let transposed = [is_transposed(operations[0])?, is_transposed(operations[1])?];
    // A factor of zero does not look at the matrices.
    let inner = if alpha == 0.0 { 0 } else { inner };
    for index in 0..count {
        let left = Stored::new(a, types[0], index, [rows, inner], transposed[0])?;
        let right = Stored::new(b, types[1], index, [inner, columns], transposed[1])?;
        let result = Stored::new(c, types[2], index, [rows, columns], false)?;
        let (left, right) = (left.values(), right.values());
        let mut sums = match beta == 0.0 {
            true => vec![0.0; rows * columns],
            false => result.values(),
        };
        let (tall, wide) = (rows.max(1) as isize, inner.max(1) as isize);
        // SAFETY: the three hold as many numbers, by columns.
        unsafe {
            f32::product(
                rows,
                inner,
                columns,
                alpha,
                (left.as_ptr(), 1, tall),
                (right.as_ptr(), 1, wide),
                beta,
                (sums.as_mut_ptr(), 1, tall),
            );
        }
        result.set_values(&sums);
    }
    Ok(())
}

/// A matrix in device memory.
struct Stored {
    start: usize,
    kind: u32,
    leading: usize,
    rows: usize,
    columns: usize,
    transposed: bool,
}

impl Stored {
    /// The n-th matrix of a batch, which has so many rows and columns after it was transposed.
    fn new(
        (start, leading, stride): Batch<c_void>,
        kind: u32,
        index: usize,
        [rows, columns]: [usize; 2],
        transposed: bool,
    ) -> BlasResult<Self> {
        let leading = usize::try_from(leading).map_err(|_| BlasError::INVALID_VALUE)?;
        let (tall, wide) = match transposed {
            true => (columns, rows),
            false => (rows, columns),
        };
        let distance = stride.wrapping_mul(index as i64) as isize * bytes(kind) as isize;
        let start = start.wrapping_byte_offset(distance);
        if tall > 0 && wide > 0 {
            if leading < tall {
                return Err(BlasError::INVALID_VALUE);
            }
            check(start, (leading * (wide - 1) + tall) * bytes(kind))?;
        }
        Ok(Self {
            start: start as usize,
            kind,
            leading,
            rows,
            columns,
            transposed,
        })
    }

    fn address(&self, row: usize, column: usize) -> usize {
        let (row, column) = match self.transposed {
            true => (column, row),
            false => (row, column),
        };
        self.start + (column * self.leading + row) * bytes(self.kind)
    }

    /// All elements by columns.
    fn values(&self) -> Vec<f32> {
        let mut values = Vec::with_capacity(self.rows * self.columns);
        for column in 0..self.columns {
            for row in 0..self.rows {
                // SAFETY: `new` found all elements within device memory.
                values.push(unsafe { load(self.address(row, column), self.kind) });
            }
        }
        values
    }

    fn set_values(&self, values: &[f32]) {
        for column in 0..self.columns {
            for row in 0..self.rows {
                let value = values[column * self.rows + row];
                let at = self.address(row, column);
                // SAFETY: as above.
                unsafe {
                    match self.kind {
                        HALF => (at as *mut u16).write_unaligned(half_of(value)),
                        BFLOAT => (at as *mut u16).write_unaligned(bfloat_of(value)),
                        _ => (at as *mut f32).write_unaligned(value),
                    }
                }
            }
            let (start, length) = (self.address(0, column), self.rows * bytes(self.kind));
            trace::set(start, length);
            crate::check::filled(start, length);
        }
    }
}

fn bytes(kind: u32) -> usize {
    if kind == SINGLE { 4 } else { 2 }
}

/// # Safety
/// The address is readable or null.
unsafe fn scalar(place: *const c_void, kind: u32) -> BlasResult<f32> {
    if place.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { load(place as usize, kind) })
}

/// # Safety
/// The address is readable.
unsafe fn load(at: usize, kind: u32) -> f32 {
    // SAFETY: as the caller promises.
    unsafe {
        match kind {
            HALF => float_of_half((at as *const u16).read_unaligned()),
            BFLOAT => f32::from_bits(u32::from((at as *const u16).read_unaligned()) << 16),
            _ => (at as *const f32).read_unaligned(),
        }
    }
}

/// Rounds to nearest, ties to even; from 65520 on it is infinite.
fn half_of(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let size = bits & 0x7fff_ffff;
    let rounded = match size {
        0x7f80_0001.. => 0x7fff,
        0x477f_f000.. => 0x7c00,
        0x3880_0000.. => (size + 0xfff + (size >> 13 & 1) - 0x3800_0000) >> 13,
        // Below the smallest normal number: so many times 2^-24.
        _ => (f32::from_bits(size) * 16_777_216.0).round_ties_even() as u32,
    };
    sign | rounded as u16
}

/// Rounds to nearest, ties to even.
fn bfloat_of(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return 0x7fff;
    }
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}
