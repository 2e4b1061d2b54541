//! Handles: a stream and modes.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::{BlasError, BlasResult};
use crate::api::stream;
use crate::handles::Handles;
use crate::library_calls;

/// Version of cuBLAS whose interface this is.
pub const VERSION: c_int = 130_000;

#[derive(Clone, Copy, Debug, Default)]
struct State {
    stream: usize,
    pointer_mode: u32,
    math_mode: u32,
    atomics_mode: u32,
}

/// Waits until the handle's stream may run its next operation.
pub fn in_order(handle: *mut c_void) -> BlasResult {
    let state = lookup(handle)?;
    let stream = state.stream as *mut c_void;
    library_calls::in_order(stream).map_err(|_| BlasError::NO_STREAM)
}

cublas_functions! {
    /// A handle.
    fn cublasCreate_v2(handle: *mut *mut c_void) {
        if handle.is_null() {
            return Err(BlasError::INVALID_VALUE);
        }
        // SAFETY: the program passes a writable address; the same in this file.
        unsafe { handle.write(HANDLES.open(State::default())) };
        Ok(())
    }

    /// Ends a handle.
    fn cublasDestroy_v2(handle: *mut c_void) {
        let stream = lookup(handle)?.stream as *mut c_void;
        // A stream that was destroyed before has nothing left to wait for.
        let _ = stream::in_order(stream);
        HANDLES.close(handle).map(drop).ok_or(BlasError::NOT_INITIALIZED)
    }

    /// The version that this library implements.
    fn cublasGetVersion_v2(_handle: *mut c_void, version: *mut c_int) {
        // SAFETY: as above.
        unsafe { give(version, VERSION) }
    }

    /// The stream of the calls that follow.
    fn cublasSetStream_v2(handle: *mut c_void, stream: *mut c_void) {
        change(handle, |state| state.stream = stream as usize)
    }

    /// The handle's stream.
    fn cublasGetStream_v2(handle: *mut c_void, stream: *mut *mut c_void) {
        // SAFETY: as above.
        unsafe { give(stream, lookup(handle)?.stream as *mut c_void) }
    }

    /// Where scalars and results are: 0 on the host, 1 on the device. Both are one memory here.
    fn cublasSetPointerMode_v2(handle: *mut c_void, mode: u32) {
        if mode > 1 {
            return Err(BlasError::INVALID_VALUE);
        }
        change(handle, |state| state.pointer_mode = mode)
    }

    /// Where scalars and results are.
    fn cublasGetPointerMode_v2(handle: *mut c_void, mode: *mut u32) {
        // SAFETY: as above.
        unsafe { give(mode, lookup(handle)?.pointer_mode) }
    }

    /// How exact: always as exact as the type.
    fn cublasSetMathMode(handle: *mut c_void, mode: u32) {
        change(handle, |state| state.math_mode = mode)
    }

    /// How exact.
    fn cublasGetMathMode(handle: *mut c_void, mode: *mut u32) {
        // SAFETY: as above.
        unsafe { give(mode, lookup(handle)?.math_mode) }
    }

    /// Whether results may differ from run to run: they never do.
    fn cublasSetAtomicsMode(handle: *mut c_void, mode: u32) {
        change(handle, |state| state.atomics_mode = mode)
    }

    /// Whether results may differ from run to run.
    fn cublasGetAtomicsMode(handle: *mut c_void, mode: *mut u32) {
        // SAFETY: as above.
        unsafe { give(mode, lookup(handle)?.atomics_mode) }
    }
}

/// A status as its constant is called.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "cuBLAS's own name")]
pub extern "C" fn cublasGetStatusName(status: u32) -> *const c_char {
    row(status).0.as_ptr()
}

/// A status in words.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "cuBLAS's own name")]
pub extern "C" fn cublasGetStatusString(status: u32) -> *const c_char {
    row(status).1.as_ptr()
}

static HANDLES: Handles<State> = Handles::new();

fn lookup(handle: *mut c_void) -> BlasResult<State> {
    HANDLES.get(handle).ok_or(BlasError::NOT_INITIALIZED)
}

fn change(handle: *mut c_void, change: impl FnOnce(&mut State)) -> BlasResult {
    let changed = HANDLES.visit(handle, change);
    changed.ok_or(BlasError::NOT_INITIALIZED)
}

/// # Safety
/// The address is writable or null.
unsafe fn give<T>(place: *mut T, value: T) -> BlasResult {
    if place.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}

fn row(status: u32) -> (&'static CStr, &'static CStr) {
    match status {
        0 => (c"CUBLAS_STATUS_SUCCESS", c"success"),
        1 => (
            c"CUBLAS_STATUS_NOT_INITIALIZED",
            c"the library was not initialized",
        ),
        3 => (c"CUBLAS_STATUS_ALLOC_FAILED", c"out of memory"),
        7 => (
            c"CUBLAS_STATUS_INVALID_VALUE",
            c"an unsupported value or parameter was passed to the function",
        ),
        8 => (
            c"CUBLAS_STATUS_ARCH_MISMATCH",
            c"the device lacks a feature",
        ),
        11 => (c"CUBLAS_STATUS_MAPPING_ERROR", c"memory cannot be accessed"),
        13 => (
            c"CUBLAS_STATUS_EXECUTION_FAILED",
            c"the function failed to execute",
        ),
        14 => (
            c"CUBLAS_STATUS_INTERNAL_ERROR",
            c"an internal operation failed",
        ),
        15 => (
            c"CUBLAS_STATUS_NOT_SUPPORTED",
            c"the functionality is not supported",
        ),
        _ => (c"<unknown>", c"<unknown>"),
    }
}
