//! cuSOLVER on the CPU device: its functions on dense matrices, and those on [`sparse`] ones.
//!
//! Dense matrices are stored by columns, factors as LAPACK leaves them ([`crate::dense`]); results agree with
//! NVIDIA's library up to rounding, and where that leaves signs open. Work is done in order of the handle's
//! stream, before the call returns; no workspace is needed. A function that is not here is missing when the
//! program is compiled or linked.

mod factors;
mod sparse;
mod spectra;
mod typed;

use std::ffi::{c_int, c_void};

use crate::api;
use crate::cublas::{BlasError, factors::Whole};
use crate::handles::Handles;
use crate::library_calls::LibraryError;

/// A status other than `CUSOLVER_STATUS_SUCCESS`, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolverError(u32);

/// What a call comes to.
pub type SolverResult<T = ()> = Result<T, SolverError>;

impl SolverError {
    /// `CUSOLVER_STATUS_NOT_INITIALIZED`.
    pub const NOT_INITIALIZED: Self = Self(1);
    /// `CUSOLVER_STATUS_INVALID_VALUE`.
    pub const INVALID_VALUE: Self = Self(3);
    /// `CUSOLVER_STATUS_INTERNAL_ERROR`.
    pub const INTERNAL_ERROR: Self = Self(7);
    /// `CUSOLVER_STATUS_EXECUTION_FAILED`.
    pub const EXECUTION_FAILED: Self = Self(6);
    /// `CUSOLVER_STATUS_NOT_SUPPORTED`.
    pub const NOT_SUPPORTED: Self = Self(9);
    /// `CUSOLVER_STATUS_ZERO_PIVOT`.
    pub const ZERO_PIVOT: Self = Self(10);
}

impl From<BlasError> for SolverError {
    fn from(error: BlasError) -> Self {
        match error {
            BlasError::INVALID_VALUE => Self::INVALID_VALUE,
            _ => Self::EXECUTION_FAILED,
        }
    }
}

/// Defines C functions whose bodies return a `SolverResult`.
macro_rules! cusolver_functions {
    ($($functions:tt)*) => {
        $crate::library_calls::library_functions! { "cuSOLVER" $crate::cusolver::SolverError; $($functions)* }
    };
}
use cusolver_functions;

/// Version of cuSOLVER whose interface this is.
const VERSION: c_int = 12_000;

/// Each handle's stream.
static HANDLES: Handles<usize> = Handles::new();

cusolver_functions! {
    /// A handle.
    fn cusolverDnCreate(handle: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(handle, HANDLES.open(0)) }
    }

    /// Forgets a handle.
    fn cusolverDnDestroy(handle: *mut c_void) {
        HANDLES.close(handle).map(drop).ok_or(SolverError::NOT_INITIALIZED)
    }

    /// The stream in whose order work is done.
    fn cusolverDnSetStream(handle: *mut c_void, stream: *mut c_void) {
        let set = HANDLES.visit(handle, |known| *known = stream as usize);
        set.ok_or(SolverError::NOT_INITIALIZED)
    }

    /// That stream.
    fn cusolverDnGetStream(handle: *mut c_void, stream: *mut *mut c_void) {
        let known = HANDLES.get(handle).ok_or(SolverError::NOT_INITIALIZED)?;
        // SAFETY: as above.
        unsafe { store(stream, known as *mut c_void) }
    }

    /// The interface's version.
    fn cusolverGetVersion(version: *mut c_int) {
        // SAFETY: as above.
        unsafe { store(version, VERSION) }
    }
}

impl LibraryError for SolverError {
    const EXECUTION_FAILED: Self = Self::EXECUTION_FAILED;

    fn number(self) -> u32 {
        self.0
    }

    fn notice(self) -> Option<&'static str> {
        match self {
            Self::EXECUTION_FAILED => Some("a matrix or vector is not within device memory"),
            _ => None,
        }
    }
}

/// Waits until the handle's stream may run its next operation.
fn in_order(handle: *mut c_void) -> SolverResult {
    let stream = HANDLES.get(handle).ok_or(SolverError::NOT_INITIALIZED)?;
    let waited = api::stream::in_order(stream as *mut c_void);
    waited.map_err(|_| SolverError::EXECUTION_FAILED)
}

/// Some programs take a workspace of nothing for a failure.
const WORKSPACE_ELEMENTS: c_int = 1;

/// Nothing is kept in a workspace here, and NVIDIA's library fails without.
fn given<T>(workspace: *mut T) -> SolverResult {
    match workspace.is_null() {
        true => Err(SolverError::INTERNAL_ERROR),
        false => Ok(()),
    }
}

/// Tells the device what a factorisation found: 0, or where it ended.
fn tell(found: *mut c_int, what: usize) -> SolverResult {
    Whole::new(found, 1)?.set(0, what);
    Ok(())
}

/// # Safety
/// The address is writable or null.
unsafe fn store<T>(pointer: *mut T, value: T) -> SolverResult {
    if pointer.is_null() {
        return Err(SolverError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}
