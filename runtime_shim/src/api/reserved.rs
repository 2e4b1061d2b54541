//! Allocations whose memory nobody may ever need: what the compiler calls in place of `cudaMalloc`, and
//! before a launch that does need it.

use std::ffi::c_void;

use super::store;
use crate::error::CudaError;
use crate::memory;

cuda_functions! {
    /// As `cudaMalloc`, but takes addresses only.
    fn __sirius_reserve(pointer: *mut *mut c_void, bytes: usize) {
        if pointer.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let base = if bytes == 0 { 0 } else { memory::reserve(bytes)? };
        // SAFETY: the program passes a writable address, as to `cudaMalloc`.
        unsafe { store(pointer, base as *mut c_void) }
    }

    /// Sees to it that an allocation has memory.
    fn __sirius_make_real(pointer: *mut c_void) {
        memory::make_real(pointer as usize)
    }
}
