//! Errors as programs see them.

use std::ffi::c_char;

use crate::error;

/// The thread's last error, which is forgotten.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's own name")]
pub extern "C" fn cudaGetLastError() -> u32 {
    error::take_last_error()
}

/// The thread's last error.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's own name")]
pub extern "C" fn cudaPeekAtLastError() -> u32 {
    error::last_error()
}

/// An error's name.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's own name")]
pub extern "C" fn cudaGetErrorName(error: u32) -> *const c_char {
    error::name(error).as_ptr()
}

/// An error's description.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's own name")]
pub extern "C" fn cudaGetErrorString(error: u32) -> *const c_char {
    error::description(error).as_ptr()
}
