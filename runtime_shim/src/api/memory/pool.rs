//! Memory pools, whose attributes are remembered; allocations from any pool are ordinary ones, so that
//! each pool says of the whole device how much is in use.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::memory::give_in_order;
use super::super::store;
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
        pools().insert(handle as usize, Attributes::default());
        // SAFETY: as above.
        unsafe { store(pool, handle) }
    }

    /// Ends a pool; its allocations stay.
    fn cudaMemPoolDestroy(pool: *mut c_void) {
        if pool == default_pool() {
            return Err(CudaError::INVALID_VALUE);
        }
        pools().remove(&(pool as usize)).map(drop).ok_or(CudaError::INVALID_VALUE)
    }

    /// Nothing: a pool keeps no memory that is not in use.
    fn cudaMemPoolTrimTo(pool: *mut c_void, _bytes: usize) {
        check(pool)
    }

    /// Remembers what says when memory is used again, or given back, which makes no difference here. Of
    /// what a pool holds at most only zero can be set, from which it counts anew.
    fn cudaMemPoolSetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void) {
        // SAFETY: the program passes what the attribute's type asks for: int for 1 to 3, else 64 bits.
        let given = unsafe {
            match attribute {
                _ if value.is_null() => return Err(CudaError::INVALID_VALUE),
                1..=3 => u64::from(*value.cast::<c_int>() != 0),
                _ => *value.cast::<u64>(),
            }
        };
        with(pool, |attributes| {
            match attribute {
                1..=3 => attributes.reuse[attribute as usize - 1] = given == 1,
                RELEASE_THRESHOLD => attributes.release_threshold = given,
                RESERVED_MOST | USED_MOST if given == 0 => attributes.most = in_use(),
                _ => return Err(CudaError::INVALID_VALUE),
            }
            Ok(())
        })?
    }

    /// What a pool holds and allows.
    fn cudaMemPoolGetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void) {
        let attributes = with(pool, |attributes| {
            attributes.most = attributes.most.max(in_use());
            *attributes
        })?;
        // SAFETY: as above.
        unsafe {
            match attribute {
                1..=3 => {
                    store(value.cast(), c_int::from(attributes.reuse[attribute as usize - 1]))
                }
                RELEASE_THRESHOLD => store(value.cast(), attributes.release_threshold),
                RESERVED_NOW | USED_NOW => store(value.cast(), in_use()),
                RESERVED_MOST | USED_MOST => store(value.cast(), attributes.most),
                _ => Err(CudaError::INVALID_VALUE),
            }
        }
    }

    /// Nothing: the only device may use each pool.
    fn cudaMemPoolSetAccess(pool: *mut c_void, _list: *const c_void, _count: usize) {
        check(pool)
    }

    /// Who may use a pool: the only device reads and writes it.
    fn cudaMemPoolGetAccess(access: *mut u32, pool: *mut c_void, location: *const Location) {
        check(pool)?;
        // SAFETY: the program passes a structure or null.
        let location = *unsafe { location.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        let allowed = match location {
            Location { kind: DEVICE, id: 0 } => READ_AND_WRITE,
            Location { kind: DEVICE, .. } => return Err(CudaError::INVALID_DEVICE),
            _ => return Err(CudaError::INVALID_VALUE),
        };
        // SAFETY: as above.
        unsafe { store(access, allowed) }
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

/// `cudaMemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Location {
    kind: u32,
    id: c_int,
}

/// `cudaMemLocationTypeDevice`.
const DEVICE: u32 = 1;
/// `cudaMemAccessFlagsProtReadWrite`.
const READ_AND_WRITE: u32 = 3;

/// `cudaMemPoolAttr…` by number; those before concern the reuse of memory.
const RELEASE_THRESHOLD: u32 = 4;
const RESERVED_NOW: u32 = 5;
const RESERVED_MOST: u32 = 6;
const USED_NOW: u32 = 7;
const USED_MOST: u32 = 8;

/// What a program may set of a pool, and how many bytes were in use at most when it asked.
#[derive(Clone, Copy, Debug)]
struct Attributes {
    reuse: [bool; 3],
    release_threshold: u64,
    most: u64,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            reuse: [true; 3],
            release_threshold: 0,
            most: 0,
        }
    }
}

/// Live pools by address; the device's is there once it is used.
static POOLS: Mutex<BTreeMap<usize, Attributes>> = Mutex::new(BTreeMap::new());

fn pools() -> MutexGuard<'static, BTreeMap<usize, Attributes>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn default_pool() -> *mut c_void {
    static DEFAULT: u8 = 0;
    (&raw const DEFAULT).cast_mut().cast()
}

fn in_use() -> u64 {
    memory::total_bytes() - memory::free_bytes()
}

/// Looks at or changes a pool. Errors: `cudaErrorInvalidValue` for what is none.
fn with<T>(pool: *mut c_void, how: impl FnOnce(&mut Attributes) -> T) -> CudaResult<T> {
    let mut pools = pools();
    let attributes = match pool == default_pool() {
        true => pools.entry(pool as usize).or_default(),
        false => pools
            .get_mut(&(pool as usize))
            .ok_or(CudaError::INVALID_VALUE)?,
    };
    Ok(how(attributes))
}

/// Errors: `cudaErrorInvalidValue` for what is no pool.
pub fn check(pool: *mut c_void) -> CudaResult {
    with(pool, |_| ())
}
