//! `cublasXt.h`: products of matrices that are the host's or the device's, on the one device that there is.
//!
//! The call is over when the product is there. How a matrix is cut into tiles, and what host routines take over, changes
//! nothing here but what the handle tells. Products are those of the crate `nalgebra`.

use std::ffi::{c_int, c_void};

use nalgebra::{Complex, DMatrix};

use super::{BlasError, BlasResult};
use crate::api::stream;
use crate::dense::{self, Operation, Scalar};
use crate::execution::check;
use crate::handles::Handles;
use crate::memory;
use crate::output::trace;

#[derive(Clone, Copy, Debug)]
struct State {
    tile: c_int,
    pinning: u32,
}

static HANDLES: Handles<State> = Handles::new();

/// Rows and columns of a tile that nobody has set.
const TILE: c_int = 1024;

cublas_functions! {
    /// A handle.
    fn cublasXtCreate(handle: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(handle, HANDLES.open(State { tile: TILE, pinning: 0 })) }
    }

    /// Ends a handle.
    fn cublasXtDestroy(handle: *mut c_void) {
        HANDLES.close(handle).map(drop).ok_or(BlasError::NOT_INITIALIZED)
    }

    /// Boards of devices: one of one.
    fn cublasXtGetNumBoards(count: c_int, devices: *const c_int, boards: *mut c_int) {
        // SAFETY: as above.
        unsafe {
            only(count, devices)?;
            store(boards, 1)
        }
    }

    /// Boards that can be used at most.
    fn cublasXtMaxBoards(boards: *mut c_int) {
        // SAFETY: as above.
        unsafe { store(boards, 1) }
    }

    /// The devices to be used, of which there is one.
    fn cublasXtDeviceSelect(handle: *mut c_void, count: c_int, devices: *const c_int) {
        known(handle)?;
        // SAFETY: as above.
        unsafe { only(count, devices) }
    }

    /// Rows and columns of a tile, which are remembered.
    fn cublasXtSetBlockDim(handle: *mut c_void, tile: c_int) {
        if tile <= 0 {
            return Err(BlasError::INVALID_VALUE);
        }
        let set = HANDLES.visit(handle, |state| state.tile = tile);
        set.ok_or(BlasError::NOT_INITIALIZED)
    }

    /// Rows and columns of a tile.
    fn cublasXtGetBlockDim(handle: *mut c_void, tile: *mut c_int) {
        // SAFETY: as above.
        unsafe { store(tile, known(handle)?.tile) }
    }

    /// Whether host memory is pinned, which is remembered.
    fn cublasXtSetPinningMemMode(handle: *mut c_void, mode: u32) {
        if mode > 1 {
            return Err(BlasError::INVALID_VALUE);
        }
        let set = HANDLES.visit(handle, |state| state.pinning = mode);
        set.ok_or(BlasError::NOT_INITIALIZED)
    }

    /// Whether host memory is pinned.
    fn cublasXtGetPinningMemMode(handle: *mut c_void, mode: *mut u32) {
        // SAFETY: as above.
        unsafe { store(mode, known(handle)?.pinning) }
    }

    /// A routine of the host's for a part of the work, of which it gets none.
    fn cublasXtSetCpuRoutine(handle: *mut c_void, operation: u32, kind: u32, _routine: *mut c_void) {
        known(handle)?;
        check_routine(operation, kind)
    }

    /// How much of the work a routine of the host's gets, which is none.
    fn cublasXtSetCpuRatio(handle: *mut c_void, operation: u32, kind: u32, ratio: f32) {
        known(handle)?;
        match (0.0..=1.0).contains(&ratio) {
            true => check_routine(operation, kind),
            false => Err(BlasError::INVALID_VALUE),
        }
    }
}

macro_rules! products {
    ($($kind:ty, $name:ident;)*) => {
        cublas_functions! {$(
            /// `C = alpha * op(A) * op(B) + beta * C`.
            fn $name(
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: usize,
                n: usize,
                k: usize,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: usize,
                b: *const $kind,
                b_leading: usize,
                beta: *const $kind,
                c: *mut $kind,
                c_leading: usize,
            ) {
                known(handle)?;
                let operations = [a_operation, b_operation].map(Operation::new);
                let [Some(left), Some(right)] = operations else {
                    return Err(BlasError::INVALID_VALUE);
                };
                // SAFETY: the program passes scalars or null, and memory for such matrices.
                unsafe {
                    let scalars = (alpha.as_ref(), beta.as_ref());
                    let (Some(alpha), Some(beta)) = scalars else {
                        return Err(BlasError::INVALID_VALUE);
                    };
                    product([m, n, k], (*alpha, *beta), (left, a, a_leading), (right, b, b_leading), (c, c_leading))
                }
            }
        )*}
    };
}

products! {
    f32, cublasXtSgemm;
    f64, cublasXtDgemm;
    Complex<f32>, cublasXtCgemm;
    Complex<f64>, cublasXtZgemm;
}

/// # Safety
/// Memory of the host is there for the matrices; the device's is checked.
unsafe fn product<T: Scalar>(
    [m, n, k]: [usize; 3],
    (alpha, beta): (T, T),
    left: (Operation, *const T, usize),
    right: (Operation, *const T, usize),
    (c, leading): (*mut T, usize),
) -> BlasResult {
    stream::all_in_order().map_err(|_| BlasError::EXECUTION_FAILED)?;
    if m == 0 || n == 0 {
        return Ok(());
    }
    checked(c, [m, n], leading)?;
    let mut sum = DMatrix::zeros(m, n);
    if k > 0 && !alpha.is_zero() {
        // SAFETY: as the caller promises.
        unsafe { sum = dense::product(&operand(left, [m, k])?, &operand(right, [k, n])?) };
    }
    for column in 0..n {
        for row in 0..m {
            // SAFETY: as the caller promises.
            unsafe {
                let place = c.add(column * leading + row);
                // What a factor of zero belongs to is not looked at.
                let before = match beta.is_zero() {
                    true => T::zero(),
                    false => beta * place.read_unaligned(),
                };
                place.write_unaligned(alpha * sum[(row, column)] + before);
            }
        }
        let start = c.wrapping_add(column * leading) as usize;
        trace::set(start, m * size_of::<T>());
        check::filled(start, m * size_of::<T>());
    }
    Ok(())
}

/// What stands for a matrix in a product.
///
/// # Safety
/// As for [`product`].
unsafe fn operand<T: Scalar>(
    (operation, start, leading): (Operation, *const T, usize),
    [rows, columns]: [usize; 2],
) -> BlasResult<DMatrix<T>> {
    let extents = match operation {
        Operation::Plain => [rows, columns],
        Operation::Transposed | Operation::Adjoint => [columns, rows],
    };
    checked(start, extents, leading)?;
    Ok(DMatrix::from_fn(rows, columns, |row, column| {
        let [inner, outer] = match operation {
            Operation::Plain => [row, column],
            Operation::Transposed | Operation::Adjoint => [column, row],
        };
        // SAFETY: as the caller promises.
        let element = unsafe { start.add(outer * leading + inner).read_unaligned() };
        match operation {
            Operation::Adjoint => element.conjugate(),
            Operation::Plain | Operation::Transposed => element,
        }
    }))
}

/// Errors: there is no such matrix, or it leaves its allocation.
fn checked<T>(start: *const T, [rows, columns]: [usize; 2], leading: usize) -> BlasResult {
    if start.is_null() || leading < rows.max(1) {
        return Err(BlasError::INVALID_VALUE);
    }
    let bytes = (leading * (columns - 1) + rows) * size_of::<T>();
    match memory::place(start as usize) {
        Some(place) if bytes > place.bytes - (start as usize - place.base) => {
            Err(BlasError::EXECUTION_FAILED)
        }
        _ => Ok(()),
    }
}

/// Errors: there is no such operation, or no such type of numbers.
fn check_routine(operation: u32, kind: u32) -> BlasResult {
    match (operation, kind) {
        (0..=11, 0..=3) => Ok(()),
        _ => Err(BlasError::INVALID_VALUE),
    }
}

/// # Safety
/// The program passes so many devices, or null.
unsafe fn only(count: c_int, devices: *const c_int) -> BlasResult {
    // SAFETY: as the caller promises.
    match (count, unsafe { devices.as_ref() }) {
        (1, Some(0)) => Ok(()),
        _ => Err(BlasError::INVALID_VALUE),
    }
}

fn known(handle: *mut c_void) -> BlasResult<State> {
    HANDLES.get(handle).ok_or(BlasError::NOT_INITIALIZED)
}

/// # Safety
/// The address is writable or null.
unsafe fn store<T>(place: *mut T, value: T) -> BlasResult {
    if place.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}
