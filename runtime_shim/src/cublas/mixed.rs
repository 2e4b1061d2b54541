//! Products of matrices whose types are named: half precision and bfloat16 are multiplied in single precision
//! and rounded once at the end, as cuBLAS does unless it is asked to add up in half precision.

use std::ffi::{c_int, c_void};

use super::matrices::Batch;
use super::{BlasError, BlasResult, Number, check, handle, is_transposed};
use crate::output::trace;
use crate::texture::format::float_of_half;

/// `CUDA_R_32F`, `CUDA_R_64F`, `CUDA_R_16F`, `CUDA_R_8I`, `CUDA_R_16BF`.
pub const SINGLE: u32 = 0;
/// See [`SINGLE`].
pub const DOUBLE: u32 = 1;
/// See [`SINGLE`].
pub const HALF: u32 = 2;
/// See [`SINGLE`].
pub const BYTE: u32 = 3;
/// See [`SINGLE`].
pub const BFLOAT: u32 = 14;

/// What products add up in.
pub trait Sum: Number {
    /// The nearest one.
    fn of(value: f64) -> Self;
    /// The same number.
    fn wide(self) -> f64;
}

impl Sum for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }

    fn wide(self) -> f64 {
        self.into()
    }
}

impl Sum for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }
}

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

    /// The same for matrices whose addresses stand in arrays on the device.
    fn cublasHgemmBatched(
        handle: *mut c_void,
        a_operation: u32,
        b_operation: u32,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const c_void,
        a: *const *const c_void,
        a_leading: c_int,
        b: *const *const c_void,
        b_leading: c_int,
        beta: *const c_void,
        c: *const *const c_void,
        c_leading: c_int,
        count: c_int,
    ) {
        handle::in_order(handle)?;
        let count = usize::try_from(count).map_err(|_| BlasError::INVALID_VALUE)?;
        for array in [a, b, c] {
            check(array.cast(), count * size_of::<usize>())?;
        }
        // SAFETY: as above.
        let scalars = unsafe { [scalar(alpha, HALF)?, scalar(beta, HALF)?] };
        for index in 0..count {
            // SAFETY: the arrays were checked.
            let [a, b, c] = [a, b, c].map(|array| unsafe { array.add(index).read() });
            let matrices = [(a, a_leading, 0), (b, b_leading, 0), (c, c_leading, 0)];
            product([a_operation, b_operation], [m, n, k], scalars, matrices, [HALF; 3], 1)?;
        }
        Ok(())
    }
}

/// Whether a product of matrices of these types is made here.
pub fn takes(types: [u32; 3]) -> bool {
    let known = |kind: &u32| matches!(*kind, SINGLE | HALF | BFLOAT);
    let bytes = types == [BYTE, BYTE, SINGLE];
    bytes || types.iter().all(known) && types[0] == types[1] && types != [SINGLE; 3]
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

/// Products of a batch of matrices, added to what is there.
pub fn product(
    operations: [u32; 2],
    extents: [c_int; 3],
    scalars: [f32; 2],
    [a, b, c]: [Batch<c_void>; 3],
    types: [u32; 3],
    count: c_int,
) -> BlasResult {
    let matrices = [a, b, c, c];
    let types = [types[0], types[1], types[2], types[2]];
    product_into(
        operations,
        extents,
        scalars,
        matrices,
        types,
        count,
        &|_, sum| sum,
    )
}

/// Products of a batch of matrices: `d = finish(alpha * op(a) * op(b) + beta * c)`, where `finish` takes the
/// row of an element as well.
pub fn product_into<T: Sum>(
    operations: [u32; 2],
    [m, n, k]: [c_int; 3],
    [alpha, beta]: [T; 2],
    [a, b, c, d]: [Batch<c_void>; 4],
    types: [u32; 4],
    count: c_int,
    finish: &dyn Fn(usize, T) -> T,
) -> BlasResult {
    let extent = |value: c_int| usize::try_from(value).map_err(|_| BlasError::INVALID_VALUE);
    let (rows, columns, inner, count) = (extent(m)?, extent(n)?, extent(k)?, extent(count)?);
    let transposed = [is_transposed(operations[0])?, is_transposed(operations[1])?];
    // A factor of zero does not look at the matrices.
    let inner = if alpha == T::ZERO { 0 } else { inner };
    for index in 0..count {
        let left = Stored::new(a, types[0], index, [rows, inner], transposed[0])?;
        let right = Stored::new(b, types[1], index, [inner, columns], transposed[1])?;
        let result = Stored::new(d, types[3], index, [rows, columns], false)?;
        let (left, right) = (left.values::<T>(), right.values::<T>());
        let mut sums = match beta == T::ZERO {
            true => vec![T::ZERO; rows * columns],
            false => Stored::new(c, types[2], index, [rows, columns], false)?.values(),
        };
        let (tall, wide) = (rows.max(1) as isize, inner.max(1) as isize);
        // SAFETY: the three hold as many numbers, by columns.
        unsafe {
            T::product(
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
        for (position, sum) in sums.iter_mut().enumerate() {
            *sum = finish(position % rows.max(1), *sum);
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
    fn values<T: Sum>(&self) -> Vec<T> {
        let mut values = Vec::with_capacity(self.rows * self.columns);
        for column in 0..self.columns {
            for row in 0..self.rows {
                // SAFETY: `new` found all elements within device memory.
                values.push(T::of(unsafe { load(self.address(row, column), self.kind) }));
            }
        }
        values
    }

    fn set_values<T: Sum>(&self, values: &[T]) {
        for column in 0..self.columns {
            for row in 0..self.rows {
                let value = values[column * self.rows + row];
                let at = self.address(row, column);
                // SAFETY: as above.
                unsafe { store(at, self.kind, value.wide()) };
            }
            let (start, length) = (self.address(0, column), self.rows * bytes(self.kind));
            trace::set(start, length);
            crate::execution::check::filled(start, length);
        }
    }
}

/// Bytes of a number of a type.
pub fn bytes(kind: u32) -> usize {
    match kind {
        BYTE => 1,
        HALF | BFLOAT => 2,
        DOUBLE => 8,
        _ => 4,
    }
}

/// # Safety
/// The address is readable or null.
unsafe fn scalar(place: *const c_void, kind: u32) -> BlasResult<f32> {
    if place.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    Ok(f32::of(unsafe { load(place as usize, kind) }))
}

/// The number at an address.
///
/// # Safety
/// The address is readable.
pub unsafe fn load(at: usize, kind: u32) -> f64 {
    // SAFETY: as the caller promises.
    unsafe {
        match kind {
            HALF => float_of_half((at as *const u16).read_unaligned()).into(),
            BFLOAT => f32::from_bits(u32::from((at as *const u16).read_unaligned()) << 16).into(),
            BYTE => (at as *const i8).read().into(),
            DOUBLE => (at as *const f64).read_unaligned(),
            _ => (at as *const f32).read_unaligned().into(),
        }
    }
}

/// Puts a number at an address, rounded to its type.
///
/// # Safety
/// The address is writable.
pub unsafe fn store(at: usize, kind: u32, value: f64) {
    // SAFETY: as the caller promises.
    unsafe {
        match kind {
            HALF => (at as *mut u16).write_unaligned(half_of(value as f32)),
            BFLOAT => (at as *mut u16).write_unaligned(bfloat_of(value as f32)),
            DOUBLE => (at as *mut f64).write_unaligned(value),
            _ => (at as *mut f32).write_unaligned(value as f32),
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
