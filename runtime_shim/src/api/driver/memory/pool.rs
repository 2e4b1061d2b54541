//! Memory pools: the runtime's. Attributes, flags and locations have the same numbers in both interfaces. A
//! pool is a device's, so that no context has to be current until something is allocated.

use std::ffi::{c_int, c_void};

use super::super::DevicePointer;
use super::super::context::{initialised, required_in};
use crate::api::memory::give_in_order;
use crate::api::pool::{self, Location};

passed_on_functions! {
    initialised;

    /// The device's pool.
    fn cuDeviceGetDefaultMemPool = cuDeviceGetMemPool (pool: *mut *mut c_void, device: c_int)
        -> pool::cudaDeviceGetDefaultMemPool;

    /// Chooses the pool of `cuMemAllocAsync`, which makes no difference.
    fn cuDeviceSetMemPool(device: c_int, pool: *mut c_void) -> pool::cudaDeviceSetMemPool;

    /// A further pool.
    fn cuMemPoolCreate(pool: *mut *mut c_void, properties: *const c_void)
        -> pool::cudaMemPoolCreate;

    /// Ends a pool; its allocations stay.
    fn cuMemPoolDestroy(pool: *mut c_void) -> pool::cudaMemPoolDestroy;

    /// Nothing: a pool keeps no memory that is not in use.
    fn cuMemPoolTrimTo(pool: *mut c_void, bytes: usize) -> pool::cudaMemPoolTrimTo;

    /// Remembers an attribute.
    fn cuMemPoolSetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void)
        -> pool::cudaMemPoolSetAttribute;

    /// What a pool holds and allows.
    fn cuMemPoolGetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void)
        -> pool::cudaMemPoolGetAttribute;

    /// Nothing: the only device may use each pool.
    fn cuMemPoolSetAccess(pool: *mut c_void, list: *const c_void, count: usize)
        -> pool::cudaMemPoolSetAccess;

    /// Who may use a pool.
    fn cuMemPoolGetAccess(access: *mut u32, pool: *mut c_void, location: *const Location)
        -> pool::cudaMemPoolGetAccess;
}

/// What the runtime gives memory for no bytes for, and the driver does not.
pub mod differing {
    use super::*;
    use crate::error::CudaError;

    driver_functions! {
        /// Device memory, in order of the stream; zero bytes are an error.
        fn cuMemAllocFromPoolAsync = cuMemAllocFromPoolAsync_ptsz (
            pointer: *mut DevicePointer,
            bytes: usize,
            pool: *mut c_void,
            stream: *mut c_void,
        ) {
            required_in(stream)?;
            pool::check(pool)?;
            if bytes == 0 {
                return Err(CudaError::INVALID_VALUE);
            }
            // SAFETY: the program passes a writable address or null; a device pointer has its size.
            unsafe { give_in_order(pointer.cast(), bytes, stream) }
        }
    }
}
