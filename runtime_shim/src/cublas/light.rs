//! cuBLASLt on the CPU device: handles, and entry points that say that products are not supported.

use std::ffi::c_void;

use super::BlasError;
use crate::termination;

cublas_functions! {
    /// A handle. cuBLASLt takes those of cuBLAS as well.
    fn cublasLtCreate(handle: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null.
        match unsafe { super::handle::cublasCreate_v2(handle) } {
            0 => Ok(()),
            _ => Err(BlasError::INVALID_VALUE),
        }
    }

    /// Ends a handle.
    fn cublasLtDestroy(handle: *mut c_void) {
        // SAFETY: a handle is only looked up.
        match unsafe { super::handle::cublasDestroy_v2(handle) } {
            0 => Ok(()),
            _ => Err(BlasError::NOT_INITIALIZED),
        }
    }
}

/// The version that this library implements, not a status.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "cuBLASLt's own name")]
pub extern "C" fn cublasLtGetVersion() -> usize {
    super::handle::VERSION as usize
}

/// Defines functions that answer `CUBLAS_STATUS_NOT_SUPPORTED`, whatever they are called with; C's calling
/// convention lets callers pass arguments that are not looked at.
macro_rules! not_supported {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "` is not supported on the CPU device.")]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "cuBLASLt's own name")]
        pub extern "C" fn $name() -> u32 {
            super::call(stringify!($name), || {
                termination::notice(concat!(
                    "the CPU device has no products of cuBLASLt (", stringify!($name), ")"
                ));
                Err(BlasError::NOT_SUPPORTED)
            })
        }
    )*};
}

not_supported! {
    cublasLtMatmulDescCreate cublasLtMatmulDescDestroy cublasLtMatmulDescSetAttribute
    cublasLtMatrixLayoutCreate cublasLtMatrixLayoutDestroy cublasLtMatrixLayoutSetAttribute
    cublasLtMatmulPreferenceCreate cublasLtMatmulPreferenceDestroy
    cublasLtMatmulPreferenceSetAttribute cublasLtMatmulAlgoGetHeuristic cublasLtMatmul
}
