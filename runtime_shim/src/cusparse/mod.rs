//! cuSPARSE on the CPU device: products of sparse matrices (CSR, CSC and COO) with vectors and matrices,
//! triangular systems, incomplete factors, sparse vectors, and conversions.
//!
//! Elements are floats or doubles, indices of 32 or 64 bits. Sums are made in double precision and rounded
//! once, so that results agree with NVIDIA's library up to rounding. Work is done in order of the handle's
//! stream, before the call returns; no buffers are needed. A function that is not here is missing when the
//! program is linked.

mod conversions;
pub(crate) mod descriptors;
mod entries;
mod factors;
mod matrix_products;
mod products;
mod triangular;
mod vectors;

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::execution::check;
use crate::handles::Handles;
use crate::library_calls::LibraryError;
use crate::memory;
use crate::output::trace;
use descriptors::{Elements, float_bytes};

/// Version of cuSPARSE whose interface this is.
const VERSION: c_int = 12_700;

/// A status other than `CUSPARSE_STATUS_SUCCESS`, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseError(u32);

/// What a call comes to.
pub type SparseResult<T = ()> = Result<T, SparseError>;

impl SparseError {
    /// `CUSPARSE_STATUS_NOT_INITIALIZED`.
    pub const NOT_INITIALIZED: Self = Self(1);
    /// `CUSPARSE_STATUS_INVALID_VALUE`.
    pub const INVALID_VALUE: Self = Self(3);
    /// `CUSPARSE_STATUS_EXECUTION_FAILED`.
    pub const EXECUTION_FAILED: Self = Self(6);
    /// `CUSPARSE_STATUS_ZERO_PIVOT`.
    pub const ZERO_PIVOT: Self = Self(9);
    /// `CUSPARSE_STATUS_NOT_SUPPORTED`.
    pub const NOT_SUPPORTED: Self = Self(10);
}

/// Defines C functions whose bodies return a `SparseResult`; names after `=` are further ones of the same.
macro_rules! cusparse_functions {
    ($($functions:tt)*) => {
        $crate::library_calls::library_functions! { "cuSPARSE" $crate::cusparse::SparseError; $($functions)* }
    };
}
use cusparse_functions;

#[derive(Clone, Copy, Debug, Default)]
struct Handle {
    stream: usize,
    pointer_mode: u32,
}

static HANDLES: Handles<Handle> = Handles::new();

cusparse_functions! {
    /// A handle.
    fn cusparseCreate(handle: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(handle, HANDLES.open(Handle::default())) }
    }

    /// Forgets a handle.
    fn cusparseDestroy(handle: *mut c_void) {
        let known = HANDLES.close(handle);
        known.map(|_| ()).ok_or(SparseError::NOT_INITIALIZED)
    }

    /// The interface's version.
    fn cusparseGetVersion(_handle: *mut c_void, version: *mut c_int) {
        // SAFETY: as above.
        unsafe { store(version, VERSION) }
    }

    /// The stream in whose order work is done.
    fn cusparseSetStream(handle: *mut c_void, stream: *mut c_void) {
        change(handle, |handle| handle.stream = stream as usize)
    }

    /// That stream.
    fn cusparseGetStream(handle: *mut c_void, stream: *mut *mut c_void) {
        let known = lookup(handle)?;
        // SAFETY: as above.
        unsafe { store(stream, known.stream as *mut c_void) }
    }

    /// Whether scalars are the host's, 0, or the device's: memory is one here.
    fn cusparseSetPointerMode(handle: *mut c_void, mode: u32) {
        change(handle, |handle| handle.pointer_mode = mode)
    }

    /// What was set.
    fn cusparseGetPointerMode(handle: *mut c_void, mode: *mut u32) {
        let known = lookup(handle)?;
        // SAFETY: as above.
        unsafe { store(mode, known.pointer_mode) }
    }
}

const NAMES: [(&CStr, &CStr); 12] = [
    (c"CUSPARSE_STATUS_SUCCESS", c"success"),
    (c"CUSPARSE_STATUS_NOT_INITIALIZED", c"no such handle"),
    (c"CUSPARSE_STATUS_ALLOC_FAILED", c"out of memory"),
    (c"CUSPARSE_STATUS_INVALID_VALUE", c"invalid value"),
    (c"CUSPARSE_STATUS_ARCH_MISMATCH", c"not on this device"),
    (c"CUSPARSE_STATUS_MAPPING_ERROR", c"memory cannot be mapped"),
    (c"CUSPARSE_STATUS_EXECUTION_FAILED", c"execution failed"),
    (c"CUSPARSE_STATUS_INTERNAL_ERROR", c"internal error"),
    (
        c"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
        c"matrix type not supported",
    ),
    (c"CUSPARSE_STATUS_ZERO_PIVOT", c"zero pivot"),
    (c"CUSPARSE_STATUS_NOT_SUPPORTED", c"not supported"),
    (
        c"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
        c"insufficient resources",
    ),
];

/// A status's name.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "cuSPARSE's own name")]
pub extern "C" fn cusparseGetErrorName(status: u32) -> *const c_char {
    NAMES
        .get(status as usize)
        .map_or(c"unrecognized status", |names| names.0)
        .as_ptr()
}

/// A status's description.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "cuSPARSE's own name")]
pub extern "C" fn cusparseGetErrorString(status: u32) -> *const c_char {
    NAMES
        .get(status as usize)
        .map_or(c"unrecognized status", |names| names.1)
        .as_ptr()
}

impl LibraryError for SparseError {
    const EXECUTION_FAILED: Self = Self::EXECUTION_FAILED;

    fn number(self) -> u32 {
        self.0
    }

    fn notice(self) -> Option<&'static str> {
        match self {
            Self::EXECUTION_FAILED => Some("a vector or matrix is not within device memory"),
            Self::NOT_SUPPORTED => {
                Some("the CPU device has no elements, formats or operations of this kind")
            }
            _ => None,
        }
    }
}

fn lookup(handle: *mut c_void) -> SparseResult<Handle> {
    HANDLES.get(handle).ok_or(SparseError::NOT_INITIALIZED)
}

fn change(handle: *mut c_void, how: impl FnOnce(&mut Handle)) -> SparseResult {
    let changed = HANDLES.visit(handle, how);
    changed.ok_or(SparseError::NOT_INITIALIZED)
}

/// Waits until the handle's stream may run its next operation.
fn in_order(handle: *mut c_void) -> SparseResult {
    let stream = lookup(handle)?.stream as *mut c_void;
    crate::api::stream::in_order(stream).map_err(|_| SparseError::EXECUTION_FAILED)
}

/// Nothing is kept in a buffer here, and NVIDIA's library wants it all the same.
fn given(buffer: *mut c_void) -> SparseResult {
    match buffer.is_null() {
        true => Err(SparseError::INVALID_VALUE),
        false => Ok(()),
    }
}

/// # Safety
/// The address is writable or null.
unsafe fn store<T>(pointer: *mut T, value: T) -> SparseResult {
    if pointer.is_null() {
        return Err(SparseError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}

fn length(value: i64) -> SparseResult<usize> {
    usize::try_from(value).map_err(|_| SparseError::INVALID_VALUE)
}

/// Errors: the range is not within one allocation that the device sees.
fn check_range(start: usize, bytes: usize) -> SparseResult {
    if bytes == 0 {
        return Ok(());
    }
    match memory::place(start) {
        Some(place) if bytes <= place.bytes - (start - place.base) => Ok(()),
        _ => Err(SparseError::EXECUTION_FAILED),
    }
}

/// Tells trace and checks that a range was written.
fn written(start: usize, bytes: usize) {
    trace::set(start, bytes);
    check::filled(start, bytes);
}

/// Some programs take a buffer of no bytes for a failure.
const BUFFER_BYTES: usize = 8;

/// # Safety
/// The pointer is null or to a scalar of that kind.
unsafe fn scalar(pointer: *const c_void, kind: u32) -> SparseResult<f64> {
    let bytes = float_bytes(kind)?;
    if pointer.is_null() {
        return Err(SparseError::INVALID_VALUE);
    }
    let scalar = Elements {
        start: pointer as usize,
        bytes,
    };
    Ok(scalar.get(0))
}

/// Of `cusparseOperation_t`: elements are real, so that two of its three are the same.
fn transposed(operation: u32) -> SparseResult<bool> {
    match operation {
        0 => Ok(false),
        1 | 2 => Ok(true),
        _ => Err(SparseError::INVALID_VALUE),
    }
}

/// A pair, exchanged or as it is.
fn turned(turn: bool, rows: usize, columns: usize) -> (usize, usize) {
    match turn {
        true => (columns, rows),
        false => (rows, columns),
    }
}
