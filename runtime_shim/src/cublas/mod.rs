//! cuBLAS on the CPU device: the functions that common programs call.
//!
//! The interface is that of `cublas_v2.h`: matrices by columns, a handle, scalars and results in host
//! or device memory. Products are those of the crate `matrixmultiply`, also of half precision
//! ([`mixed`]), other operations plain loops; results agree with NVIDIA's library up to rounding. A
//! matrix or vector that is not device memory, or leaves its allocation, is
//! `CUBLAS_STATUS_EXECUTION_FAILED` with a sentence on stderr. Work is done in order of the handle's
//! stream, before the call returns. A function that is not here is missing when the program is linked.

use std::ffi::{c_int, c_void};

use nalgebra::DMatrix;

use crate::dense::Scalar;
use crate::execution::check;
use crate::library_calls::LibraryError;
use crate::memory;
use crate::output::trace;

/// Defines C functions whose bodies return a `BlasResult`.
macro_rules! cublas_functions {
    ($($functions:tt)*) => {
        $crate::library_calls::library_functions! { "cuBLAS" $crate::cublas::BlasError; $($functions)* }
    };
}

pub mod batches;
pub mod complex_matrices;
pub mod extended;
pub mod factors;
pub mod handle;
pub mod light;
pub mod matrices;
pub mod mixed;
pub mod old_interface;
mod stored;
pub mod transfers;
pub mod triangles;
pub mod vectors;
pub mod whole_numbers;

pub use triangles::{one_triangle, symmetric_products};
pub use vectors::{complex_vectors, rotations, typed_vectors};

/// A status other than `CUBLAS_STATUS_SUCCESS`, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlasError(u32);

/// What a call comes to.
pub type BlasResult<T = ()> = Result<T, BlasError>;

impl BlasError {
    /// `CUBLAS_STATUS_NOT_INITIALIZED`.
    pub const NOT_INITIALIZED: Self = Self(1);
    /// `CUBLAS_STATUS_INVALID_VALUE`.
    pub const INVALID_VALUE: Self = Self(7);
    /// `CUBLAS_STATUS_EXECUTION_FAILED`.
    pub const EXECUTION_FAILED: Self = Self(13);
    /// `CUBLAS_STATUS_INTERNAL_ERROR`: the handle's stream cannot be waited for.
    pub const NO_STREAM: Self = Self(14);
    /// `CUBLAS_STATUS_NOT_SUPPORTED`.
    pub const NOT_SUPPORTED: Self = Self(15);
}

/// A number that matrices and vectors hold.
pub trait Number:
    Copy
    + PartialEq
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;

    /// Square root.
    fn root(self) -> Self;

    /// `c = alpha * a * b + beta * c` by strides of rows and columns; parts of long sums are added pairwise.
    ///
    /// # Safety
    /// The strided matrices are readable, the last one writable.
    #[allow(clippy::too_many_arguments, reason = "those of a matrix product")]
    unsafe fn product(
        rows: usize,
        inner: usize,
        columns: usize,
        alpha: Self,
        a: (*const Self, isize, isize),
        b: (*const Self, isize, isize),
        beta: Self,
        c: (*mut Self, isize, isize),
    ) {
        /// Products that the crate adds up in order, or in a few parts.
        const IN_ORDER: usize = 4096;
        let (start, down, across) = c;
        if inner <= IN_ORDER || rows == 0 || columns == 0 {
            // SAFETY: as the caller promises.
            return unsafe { Self::product_in_order(rows, inner, columns, alpha, a, b, beta, c) };
        }
        let half = inner / 2;
        let mut rest = vec![Self::ZERO; rows * columns];
        let place = (rest.as_mut_ptr(), 1, rows as isize);
        let after_a = (a.0.wrapping_offset(half as isize * a.2), a.1, a.2);
        let after_b = (b.0.wrapping_offset(half as isize * b.1), b.1, b.2);
        // SAFETY: as the caller promises; the halves are parts of the factors.
        unsafe {
            Self::product(rows, half, columns, alpha, a, b, beta, c);
            Self::product(
                rows,
                inner - half,
                columns,
                alpha,
                after_a,
                after_b,
                Self::ZERO,
                place,
            );
            for (position, more) in rest.into_iter().enumerate() {
                let (row, column) = ((position % rows) as isize, (position / rows) as isize);
                let element = start.offset(row * down + column * across);
                element.write_unaligned(element.read_unaligned() + more);
            }
        }
    }

    /// [`Number::product`] with all products of an element added by the crate.
    ///
    /// # Safety
    /// As for [`Number::product`].
    #[allow(clippy::too_many_arguments, reason = "those of a matrix product")]
    unsafe fn product_in_order(
        rows: usize,
        inner: usize,
        columns: usize,
        alpha: Self,
        a: (*const Self, isize, isize),
        b: (*const Self, isize, isize),
        beta: Self,
        c: (*mut Self, isize, isize),
    );
}

macro_rules! number {
    ($kind:ty, $product:path) => {
        impl Number for $kind {
            const ZERO: Self = 0.0;

            fn root(self) -> Self {
                self.sqrt()
            }

            unsafe fn product_in_order(
                rows: usize,
                inner: usize,
                columns: usize,
                alpha: Self,
                a: (*const Self, isize, isize),
                b: (*const Self, isize, isize),
                beta: Self,
                c: (*mut Self, isize, isize),
            ) {
                // SAFETY: as the caller promises.
                unsafe {
                    $product(
                        rows, inner, columns, alpha, a.0, a.1, a.2, b.0, b.1, b.2, beta, c.0, c.1,
                        c.2,
                    );
                }
            }
        }
    };
}

number!(f32, matrixmultiply::sgemm);
number!(f64, matrixmultiply::dgemm);

impl LibraryError for BlasError {
    const EXECUTION_FAILED: Self = Self::EXECUTION_FAILED;

    fn number(self) -> u32 {
        self.0
    }

    fn notice(self) -> Option<&'static str> {
        match self {
            Self::EXECUTION_FAILED => Some("a matrix or vector is not within device memory"),
            Self::NO_STREAM => Some("the handle's stream was destroyed or cannot be waited for"),
            _ => None,
        }
    }
}

/// Elements from one to another of a vector, and the first: increments below zero run backwards.
#[derive(Clone, Copy, Debug)]
struct Vector<T> {
    first: *mut T,
    increment: isize,
    length: usize,
}

impl<T: Copy> Vector<T> {
    fn new(length: i32, start: *const T, increment: i32) -> BlasResult<Self> {
        let length = usize::try_from(length).unwrap_or(0);
        let increment = increment as isize;
        let reach = increment.unsigned_abs() * length.saturating_sub(1) + 1;
        if length > 0 {
            check(start.cast(), reach * size_of::<T>())?;
        }
        let back = if increment < 0 {
            -increment * (length.saturating_sub(1)) as isize
        } else {
            0
        };
        Ok(Self {
            first: start.cast_mut().wrapping_offset(back),
            increment,
            length,
        })
    }

    fn get(&self, index: usize) -> T {
        // SAFETY: `new` found all elements within device memory.
        unsafe { self.at(index).read() }
    }

    fn set(&self, index: usize, value: T) {
        // SAFETY: as above.
        unsafe { self.at(index).write(value) };
        trace::set(self.at(index) as usize, size_of::<T>());
        check::filled(self.at(index) as usize, size_of::<T>());
    }

    fn at(&self, index: usize) -> *mut T {
        self.first.wrapping_offset(self.increment * index as isize)
    }
}

/// A matrix by columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<T> {
    start: *mut T,
    leading: usize,
    rows: usize,
    columns: usize,
}

impl<T: Copy> Matrix<T> {
    /// Errors: the extents are none, or the matrix is not device memory.
    pub(crate) fn new(rows: i32, columns: i32, start: *const T, leading: i32) -> BlasResult<Self> {
        let extent = |value: i32| usize::try_from(value).map_err(|_| BlasError::INVALID_VALUE);
        let (rows, columns) = (extent(rows)?, extent(columns)?);
        let leading = extent(leading)?;
        if leading < rows.max(1) {
            return Err(BlasError::INVALID_VALUE);
        }
        if rows > 0 && columns > 0 {
            let elements = leading * (columns - 1) + rows;
            check(start.cast(), elements * size_of::<T>())?;
        }
        Ok(Self {
            start: start.cast_mut(),
            leading,
            rows,
            columns,
        })
    }

    /// Strides of rows and columns, exchanged when the matrix is transposed.
    fn strided(&self, transposed: bool) -> (*const T, isize, isize) {
        let leading = self.leading as isize;
        if transposed {
            (self.start, leading, 1)
        } else {
            (self.start, 1, leading)
        }
    }

    fn get(&self, row: usize, column: usize) -> T {
        // SAFETY: `new` found all elements within device memory.
        unsafe { self.start.add(column * self.leading + row).read() }
    }

    fn set(&self, row: usize, column: usize, value: T) {
        // SAFETY: as above.
        unsafe { self.start.add(column * self.leading + row).write(value) };
    }

    /// Its first element.
    pub(crate) fn start(&self) -> *const T {
        self.start
    }

    /// A copy of its elements.
    pub(crate) fn load(&self) -> DMatrix<T>
    where
        T: Scalar,
    {
        DMatrix::from_fn(self.rows, self.columns, |row, column| self.get(row, column))
    }

    /// Stores elements.
    pub(crate) fn store(&self, elements: &DMatrix<T>)
    where
        T: Scalar,
    {
        for column in 0..self.columns {
            (0..self.rows).for_each(|row| self.set(row, column, elements[(row, column)]));
        }
        self.written();
    }

    /// Tells the trace that all elements were written.
    fn written(&self) {
        for column in 0..self.columns {
            let start = self.start.wrapping_add(column * self.leading) as usize;
            trace::set(start, self.rows * size_of::<T>());
            check::filled(start, self.rows * size_of::<T>());
        }
    }
}

/// Errors: the range is not within one allocation that the device sees.
fn check(start: *const c_void, bytes: usize) -> BlasResult {
    let start = start as usize;
    match memory::place(start) {
        Some(place) if bytes <= place.bytes - (start - place.base) => Ok(()),
        _ => Err(BlasError::EXECUTION_FAILED),
    }
}

/// Arrays of `count` addresses on the device; gives the count.
fn check_arrays<const N: usize>(arrays: [*const c_void; N], count: c_int) -> BlasResult<usize> {
    let count = usize::try_from(count).map_err(|_| BlasError::INVALID_VALUE)?;
    for array in arrays {
        check(array, count * size_of::<usize>())?;
    }
    Ok(count)
}

/// `CUBLAS_OP_N`, `CUBLAS_OP_T`, `CUBLAS_OP_C`: whether the matrix is transposed.
fn is_transposed(operation: u32) -> BlasResult<bool> {
    match operation {
        0 => Ok(false),
        1 | 2 => Ok(true),
        _ => Err(BlasError::INVALID_VALUE),
    }
}
