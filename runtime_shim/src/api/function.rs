//! Kernels as functions: attributes and occupancy.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;

use super::launch::LaunchConfiguration;
use super::{device, launch, store};
use crate::abi::MADE_KERNELS;
use crate::environment::settings;
use crate::error::{CudaError, CudaResult};
use crate::execution::fiber;
use crate::execution::kernel::KernelRecord;
use crate::registry;

/// `cudaFuncAttributes`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionAttributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    max_threads_per_block: c_int,
    registers: c_int,
    ptx_version: c_int,
    binary_version: c_int,
    cache_mode: c_int,
    max_dynamic_shared_bytes: c_int,
    preferred_carve_out: c_int,
    cluster_must_be_set: c_int,
    cluster: [c_int; 3],
    cluster_scheduling: c_int,
    non_portable_cluster: c_int,
    reserved: [c_int; 16],
}

/// `cudaFuncAttributeMaxDynamicSharedMemorySize`.
const MAX_DYNAMIC_SHARED: u32 = 8;
/// `cudaFuncAttributePreferredSharedMemoryCarveout`.
const PREFERRED_CARVE_OUT: u32 = 9;

/// Registers that each thread is said to use: enough for any block to fit.
const REGISTERS_PER_THREAD: c_int = 32;

cuda_functions! {
    /// A kernel's attributes.
    fn cudaFuncGetAttributes(attributes: *mut FunctionAttributes, stub: *const c_void) {
        let record = find(stub)?;
        let kernel = record.kernel;
        let shared_bytes = usize::try_from(kernel.static_shared_bytes).unwrap_or(usize::MAX);
        // SAFETY: the program passes a writable structure or null.
        unsafe {
            store(attributes, FunctionAttributes {
                shared_bytes,
                local_bytes: usize::try_from(kernel.stack_bytes).unwrap_or(usize::MAX),
                max_threads_per_block: whole(kernel.max_threads),
                registers: REGISTERS_PER_THREAD,
                ptx_version: whole(record.architecture),
                binary_version: device::compute_capability(),
                max_dynamic_shared_bytes: whole(launch::dynamic_shared_limit(record)),
                preferred_carve_out: -1,
                cluster_must_be_set: record.cluster().is_some().into(),
                cluster: record.cluster().unwrap_or_default().map(whole),
                ..FunctionAttributes::default()
            })
        }
    }

    /// Allows a kernel more dynamic shared memory; other attributes are hints.
    fn cudaFuncSetAttribute(stub: *const c_void, attribute: u32, value: c_int) {
        let record = find(stub)?;
        match attribute {
            MAX_DYNAMIC_SHARED => {
                let bytes = u32::try_from(value).map_err(|_| CudaError::INVALID_VALUE)?;
                let total = u64::from(bytes) + record.kernel.static_shared_bytes;
                if total > u64::from(launch::SHARED_OPT_IN_BYTES) {
                    return Err(CudaError::INVALID_VALUE);
                }
                record.dynamic_shared_opt_in.store(bytes, Ordering::Relaxed);
                Ok(())
            }
            PREFERRED_CARVE_OUT if (-1..=100).contains(&value) => Ok(()),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// Nothing: the caches are the processor's.
    fn cudaFuncSetCacheConfig(stub: *const c_void, _configuration: u32) {
        find(stub).map(drop)
    }

    /// Nothing: shared memory has no banks.
    fn cudaFuncSetSharedMemConfig(stub: *const c_void, _configuration: u32) {
        find(stub).map(drop)
    }

    /// A kernel's mangled name.
    fn cudaFuncGetName(name: *mut *const c_char, stub: *const c_void) {
        // SAFETY: the program passes a writable address or null.
        unsafe { store(name, find(stub)?.kernel.name) }
    }

    /// Number of a kernel's parameters.
    fn cudaFuncGetParamCount(stub: *const c_void, count: *mut usize) {
        // SAFETY: as above.
        unsafe { store(count, find(stub)?.kernel.argument_count as usize) }
    }

    /// Blocks of this size that a multiprocessor holds.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        stub: *const c_void,
        block_size: c_int,
        dynamic_shared_bytes: usize,
    ) {
        let found = resident_blocks(find(stub)?, block_size, dynamic_shared_bytes)?;
        // SAFETY: as above.
        unsafe { store(blocks, found) }
    }

    /// The same; the flags concern caches.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        stub: *const c_void,
        block_size: c_int,
        dynamic_shared_bytes: usize,
        _flags: u32,
    ) {
        let found = resident_blocks(find(stub)?, block_size, dynamic_shared_bytes)?;
        // SAFETY: as above.
        unsafe { store(blocks, found) }
    }

    /// Blocks of the largest cluster that any device takes.
    fn cudaOccupancyMaxPotentialClusterSize(
        blocks: *mut c_int,
        stub: *const c_void,
        configuration: *const LaunchConfiguration,
    ) {
        find(stub)?;
        if configuration.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe { store(blocks, PORTABLE_CLUSTER_BLOCKS) }
    }

    /// Clusters that the device holds at once.
    fn cudaOccupancyMaxActiveClusters(
        clusters: *mut c_int,
        stub: *const c_void,
        configuration: *const LaunchConfiguration,
    ) {
        let record = find(stub)?;
        // SAFETY: the program passes a configuration with as many attributes as it says, or null.
        let shape = unsafe { launch::shape(configuration)? };
        let on_one = resident_blocks(record, whole(shape.threads), shape.shared_bytes)?;
        let cluster = record.cluster().unwrap_or(shape.cluster);
        let blocks: u32 = cluster.iter().map(|extent| (*extent).max(1)).product();
        let all = on_one.saturating_mul(device::multiprocessors());
        // SAFETY: as above.
        unsafe { store(clusters, all / whole(blocks)) }
    }

    /// Dynamic shared memory that lets a multiprocessor hold so many blocks.
    fn cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize,
        stub: *const c_void,
        blocks: c_int,
        block_size: c_int,
    ) {
        let record = find(stub)?;
        let blocks = u32::try_from(blocks).map_err(|_| CudaError::INVALID_VALUE)?;
        if blocks == 0 || block_size <= 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let share = device::shared_bytes_per_multiprocessor() / blocks;
        let used = u32::try_from(record.kernel.static_shared_bytes).unwrap_or(u32::MAX);
        let rest = share.saturating_sub(used).saturating_sub(RESERVED_SHARED_BYTES);
        // SAFETY: as above.
        unsafe { store(bytes, rest.min(launch::dynamic_shared_limit(record)) as usize) }
    }

    /// The function behind a stub: the stub, which all calls here take.
    fn cudaGetFuncBySymbol = cudaGetKernel (function: *mut *const c_void, stub: *const c_void) {
        find(stub)?;
        // SAFETY: as above.
        unsafe { store(function, stub) }
    }
}

/// Blocks of a cluster that runs on any device that has clusters.
const PORTABLE_CLUSTER_BLOCKS: c_int = 8;

/// Shared memory that the system takes of each block, in bytes.
const RESERVED_SHARED_BYTES: u32 = 1024;

/// A kernel's attribute by the number of its `CUfunction_attribute`.
pub fn attribute(record: &KernelRecord, number: u32) -> Option<c_int> {
    let kernel = record.kernel;
    let narrow = |bytes: u64| c_int::try_from(bytes).unwrap_or(c_int::MAX);
    Some(match number {
        0 => whole(kernel.max_threads),
        1 => narrow(kernel.static_shared_bytes),
        3 => narrow(kernel.stack_bytes),
        4 => REGISTERS_PER_THREAD,
        5 => whole(record.architecture),
        6 => device::compute_capability(),
        MAX_DYNAMIC_SHARED => whole(launch::dynamic_shared_limit(record)),
        PREFERRED_CARVE_OUT => -1,
        10 => record.cluster().is_some().into(),
        11..=13 => whole(record.cluster().unwrap_or_default()[number as usize - 11]),
        // Constant memory, cache mode, and which clusters are wanted.
        2 | 7 | 14 | 15 => 0,
        _ => return None,
    })
}

fn find(stub: *const c_void) -> CudaResult<&'static KernelRecord> {
    registry::kernel(stub as usize).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// Blocks of this size that a multiprocessor holds.
pub fn resident_blocks(
    record: &KernelRecord,
    block_size: c_int,
    dynamic_shared_bytes: usize,
) -> CudaResult<c_int> {
    let threads = u32::try_from(block_size).map_err(|_| CudaError::INVALID_VALUE)?;
    if threads == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    if threads > record.kernel.max_threads || threads > launch::THREADS_PER_BLOCK {
        return Ok(0);
    }
    if dynamic_shared_bytes as u64 > u64::from(launch::dynamic_shared_limit(record)) {
        return Ok(0);
    }
    // What a block has is a multiple of 128 bytes.
    let shared = record
        .kernel
        .static_shared_bytes
        .saturating_add(dynamic_shared_bytes as u64)
        .saturating_add(u64::from(RESERVED_SHARED_BYTES))
        .next_multiple_of(128);
    let by_threads = device::THREADS_PER_MULTIPROCESSOR / threads.next_multiple_of(32);
    let by_shared = match u64::from(device::shared_bytes_per_multiprocessor()) / shared {
        // What may be launched is more than the device says that it has.
        0 if shared <= u64::from(launch::SHARED_OPT_IN_BYTES + RESERVED_SHARED_BYTES) => 1,
        blocks => blocks,
    };
    // Blocks that wait for each other have a fiber for each thread.
    let fibers_of_blocks = threads.saturating_mul(device::multiprocessors().unsigned_abs());
    let by_fibers = fiber::STACK_LIMIT as u32 / fibers_of_blocks.max(1);
    // Programs also ask this of blocks that do not wait, of which there is room for one. The compiler does not.
    let name = &record.display_name;
    let is_made = MADE_KERNELS.iter().any(|made| name.starts_with(*made));
    let by_fibers = by_fibers.max(u32::from(!is_made));
    let blocks = by_threads
        .min(device::BLOCKS_PER_MULTIPROCESSOR)
        .min(by_fibers)
        .min(settings().resident_blocks.unwrap_or(u32::MAX));
    Ok(whole(
        blocks.min(u32::try_from(by_shared).unwrap_or(u32::MAX)),
    ))
}

fn whole(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}
