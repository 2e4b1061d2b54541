//! Memory pools: one, whose attributes are remembered; allocations from any pool are ordinary ones.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

use super::memory::give_in_order;
use super::store;
use crate::error::{CudaError, CudaResult};
use crate::memory;

cuda_functions! {
    /// The device's pool.
    fn cudaDeviceGetDefaultMemPool = cudaDeviceGetMemPool (
        pool: *mut *mut c_void,
        device: c_int,
    ) {
        if device != 0 {
            return Err(CudaError::INVALID_DEVICE);
        }
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(pool, default_pool()) }
    }

    /// Chooses the pool of `cudaMallocAsync`, which makes no difference.
    fn cudaDeviceSetMemPool(device: c_int, pool: *mut c_void) {
        if device != 0 {
            return Err(CudaError::INVALID_DEVICE);
        }
        check(pool)
    }

    /// A further pool.
    fn cudaMemPoolCreate(pool: *mut *mut c_void, _properties: *const c_void) {
        // A block of its own gives each pool an address that nothing else has, ever.
        let handle = Box::into_raw(Box::new(0_u64)).cast();
        pools().insert(handle as usize);
        // SAFETY: as above.
        unsafe { store(pool, handle) }
    }

    /// Ends a pool; its allocations stay.
    fn cudaMemPoolDestroy(pool: *mut c_void) {
        if pools().remove(&(pool as usize)) { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
    }

    /// Nothing: a pool keeps no memory that is not in use.
    fn cudaMemPoolTrimTo(pool: *mut c_void, _bytes: usize) {
        check(pool)
    }

    /// Nothing: reuse and thresholds make no difference.
    fn cudaMemPoolSetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void) {
        check(pool)?;
        if (1..=15).contains(&attribute) && !value.is_null() {
            Ok(())
        } else {
            Err(CudaError::INVALID_VALUE)
        }
    }

    /// What a pool holds and allows.
    fn cudaMemPoolGetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void) {
        check(pool)?;
        // SAFETY: the program passes room for the attribute's type: int for 1 to 3, else 64 bits.
        unsafe {
            match attribute {
                1..=3 => store(value.cast::<c_int>(), 1),
                4 => store(value.cast::<u64>(), 0),
                5..=8 => {
                    store(value.cast::<u64>(), memory::total_bytes() - memory::free_bytes())
                }
                _ => Err(CudaError::INVALID_VALUE),
            }
        }
    }

    /// Nothing: the only device may use each pool.
    fn cudaMemPoolSetAccess(pool: *mut c_void, _list: *const c_void, _count: usize) {
        check(pool)
    }

    /// Device memory, in order of the stream.
    fn cudaMallocFromPoolAsync = cudaMallocFromPoolAsync_ptsz (
        pointer: *mut *mut c_void,
        bytes: usize,
        pool: *mut c_void,
        stream: *mut c_void,
    ) {
        check(pool)?;
        // SAFETY: as above.
        unsafe { give_in_order(pointer, bytes, stream) }
    }
}

static POOLS: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn pools() -> std::sync::MutexGuard<'static, BTreeSet<usize>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn default_pool() -> *mut c_void {
    static DEFAULT: u8 = 0;
    (&raw const DEFAULT).cast_mut().cast()
}

fn check(pool: *mut c_void) -> CudaResult {
    if pool == default_pool() || pools().contains(&(pool as usize)) {
        Ok(())
    } else {
        Err(CudaError::INVALID_VALUE)
    }
}
