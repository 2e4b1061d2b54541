//! The one device: what it is, and settings that change nothing on it.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::device_properties::{CLOCK_KILOHERTZ, DeviceProperties, DeviceProperties12};
use super::{launch, store, stream};
use crate::environment::settings;
use crate::error::{self, CudaError, CudaResult};
use crate::memory;
use crate::registry;

/// Version of CUDA whose interface this is.
const CUDA_VERSION: c_int = 13_000;

/// The PCI address that the device reports.
const PCI_ADDRESS: &[u8] = b"0000:00:00.0\0";

/// Ten times the compute capability: what sm_80 promises, or what the newest code of the program needs.
pub fn compute_capability() -> c_int {
    signed(registry::newest_architecture().max(80))
}

/// Threads that a multiprocessor counts as resident.
pub const THREADS_PER_MULTIPROCESSOR: u32 = 2048;

/// Blocks that a multiprocessor counts as resident.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;

/// Shared memory that a multiprocessor counts as its own, in bytes: what those of its compute capability have,
/// since `cuda_occupancy.h` refuses devices that have more.
pub fn shared_bytes_per_multiprocessor() -> u32 {
    shared_bytes_of(compute_capability())
}

/// Shared memory that a block may have with opt-in by what the device says of itself, in bytes; launches may have
/// [`launch::SHARED_OPT_IN_BYTES`].
fn shared_opt_in_bytes() -> u32 {
    shared_bytes_per_multiprocessor() - (1 << 10)
}

fn shared_bytes_of(capability: c_int) -> u32 {
    let kibibytes = match capability {
        80 | 87 => 164,
        86 | 89 | 120.. => 100,
        _ => 228,
    };
    kibibytes << 10
}

const REGISTERS: c_int = 65_536;
const CONSTANT_BYTES: usize = 64 << 10;
const WARP_SIZE: c_int = 32;
const CACHE_BYTES: c_int = 1 << 20;

cuda_functions! {
    /// One device.
    fn cudaGetDeviceCount(count: *mut c_int) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(count, 1) }
    }

    /// The device in use: 0.
    fn cudaGetDevice(device: *mut c_int) {
        // SAFETY: as above.
        unsafe { store(device, 0) }
    }

    /// Chooses the device, which must be 0.
    fn cudaSetDevice(device: c_int) {
        check(device)
    }

    /// Initialises the device, which must be 0.
    fn cudaInitDevice(device: c_int, _device_flags: u32, _flags: u32) {
        check(device)
    }

    /// The device that fits best: 0.
    fn cudaChooseDevice(device: *mut c_int, _properties: *const c_void) {
        // SAFETY: as above.
        unsafe { store(device, 0) }
    }

    /// Devices to choose from: accepts a list of device 0.
    fn cudaSetValidDevices(devices: *const c_int, count: c_int) {
        for index in 0..usize::try_from(count).map_err(|_| CudaError::INVALID_VALUE)? {
            // SAFETY: the program passes as many devices as it says.
            check(unsafe { *devices.add(index) })?;
        }
        Ok(())
    }

    /// How the host waits: remembered.
    fn cudaSetDeviceFlags(flags: u32) {
        FLAGS.store(flags, Ordering::Relaxed);
        Ok(())
    }

    /// How the host waits.
    fn cudaGetDeviceFlags(flags: *mut u32) {
        // SAFETY: as above.
        unsafe { store(flags, FLAGS.load(Ordering::Relaxed)) }
    }

    /// Waits for all work.
    fn cudaDeviceSynchronize = cudaThreadSynchronize () {
        stream::all_in_order()?;
        error::device_failure().map_or(Ok(()), Err)
    }

    /// Properties.
    fn cudaGetDeviceProperties(properties: *mut DeviceProperties, device: c_int) {
        check(device)?;
        // SAFETY: as above.
        unsafe { store(properties, self::properties()) }
    }

    /// Properties, as CUDA 12's headers lay them out.
    fn cudaGetDeviceProperties_v2(properties: *mut DeviceProperties12, device: c_int) {
        check(device)?;
        // SAFETY: as above.
        unsafe { store(properties, self::properties().into()) }
    }

    /// One property.
    fn cudaDeviceGetAttribute(value: *mut c_int, attribute: u32, device: c_int) {
        check(device)?;
        let found = self::attribute(attribute).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe { store(value, found) }
    }

    /// A limit, as set or as the device begins with.
    fn cudaDeviceGetLimit(value: *mut usize, limit: u32) {
        let limit = LIMITS.get(limit as usize).ok_or(CudaError::UNSUPPORTED_LIMIT)?;
        // SAFETY: as above.
        unsafe { store(value, limit.load(Ordering::Relaxed)) }
    }

    /// Remembers a limit. Stacks and the heap grow as they need, so that none binds.
    fn cudaDeviceSetLimit(limit: u32, value: usize) {
        let limit = LIMITS.get(limit as usize).ok_or(CudaError::UNSUPPORTED_LIMIT)?;
        limit.store(value, Ordering::Relaxed);
        Ok(())
    }

    /// How caches are to be split.
    fn cudaDeviceGetCacheConfig(configuration: *mut u32) {
        // SAFETY: as above.
        unsafe { store(configuration, CACHE_CONFIGURATION.load(Ordering::Relaxed)) }
    }

    /// Remembers how caches are to be split, which makes no difference: they are the processor's.
    fn cudaDeviceSetCacheConfig = cudaThreadSetCacheConfig (configuration: u32) {
        // `cudaFuncCachePreferEqual` is the last.
        if configuration > 3 {
            return Err(CudaError::INVALID_VALUE);
        }
        CACHE_CONFIGURATION.store(configuration, Ordering::Relaxed);
        Ok(())
    }

    /// Width of shared memory's banks: 4 bytes.
    fn cudaDeviceGetSharedMemConfig(configuration: *mut u32) {
        // SAFETY: as above.
        unsafe { store(configuration, 1) }
    }

    /// Nothing: shared memory has no banks.
    fn cudaDeviceSetSharedMemConfig(_configuration: u32) {
        Ok(())
    }

    /// Nothing: the second-level cache is the processor's.
    fn cudaCtxResetPersistingL2Cache() {
        Ok(())
    }

    /// The device's PCI address.
    fn cudaDeviceGetPCIBusId(text: *mut c_char, length: c_int, device: c_int) {
        check(device)?;
        let room = usize::try_from(length).map_err(|_| CudaError::INVALID_VALUE)?;
        if text.is_null() || room < PCI_ADDRESS.len() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes as much room as it says.
        unsafe {
            std::ptr::copy_nonoverlapping(PCI_ADDRESS.as_ptr(), text.cast(), PCI_ADDRESS.len());
        }
        Ok(())
    }

    /// The device of a PCI address.
    fn cudaDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char) {
        if text.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes a string.
        let text = unsafe { std::ffi::CStr::from_ptr(text) };
        if text.to_bytes_with_nul() != PCI_ADDRESS {
            return Err(CudaError::INVALID_DEVICE);
        }
        // SAFETY: as above.
        unsafe { store(device, 0) }
    }

    /// A device does not reach itself as a peer.
    fn cudaDeviceCanAccessPeer(answer: *mut c_int, device: c_int, peer: c_int) {
        check(device)?;
        check(peer)?;
        // SAFETY: as above.
        unsafe { store(answer, 0) }
    }

    /// There is no peer.
    fn cudaDeviceEnablePeerAccess(peer: c_int, _flags: u32) {
        check(peer)?;
        Err(CudaError::INVALID_DEVICE)
    }

    /// There is no peer.
    fn cudaDeviceDisablePeerAccess(peer: c_int) {
        check(peer)?;
        Err(CudaError::PEER_ACCESS_NOT_ENABLED)
    }

    /// What links two devices, of which there is one.
    fn cudaDeviceGetP2PAttribute(
        _value: *mut c_int,
        _attribute: u32,
        device: c_int,
        peer: c_int,
    ) {
        check(device)?;
        check(peer)?;
        Err(CudaError::INVALID_DEVICE)
    }

    /// The version of the toolkit that the program was compiled with.
    fn cudaRuntimeGetVersion(version: *mut c_int) {
        let found = c_int::try_from(registry::toolkit_version()).unwrap_or(CUDA_VERSION);
        // SAFETY: as above.
        unsafe { store(version, found) }
    }

    /// The version that this runtime implements, or the program's where that is newer: there is no driver
    /// beneath.
    fn cudaDriverGetVersion(version: *mut c_int) {
        // SAFETY: as above.
        unsafe { store(version, driver_version()) }
    }

    /// Nothing: there is no profiler.
    fn cudaProfilerStart() {
        Ok(())
    }

    /// Nothing: there is no profiler.
    fn cudaProfilerStop() {
        Ok(())
    }
}

/// Frees all allocations and forgets a kernel's failure.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's own name")]
pub extern "C" fn cudaDeviceReset() -> u32 {
    error::clear_device_failure();
    error::runtime_call(|| {
        stream::all_in_order()?;
        memory::free_all();
        super::array::forget_all();
        super::graph::executable::forget_all();
        Ok(())
    })
}

/// The same, as old programs call it.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's own name")]
pub extern "C" fn cudaThreadExit() -> u32 {
    cudaDeviceReset()
}

static FLAGS: AtomicU32 = AtomicU32::new(0);

/// How the program wants caches to be split.
static CACHE_CONFIGURATION: AtomicU32 = AtomicU32::new(0);

/// By number: stack bytes, printf buffer, heap, synchronisation depth, pending launches, fetch
/// granularity, persisting cache.
static LIMITS: [AtomicUsize; 7] = [
    AtomicUsize::new(1024),
    AtomicUsize::new(1 << 20),
    AtomicUsize::new(8 << 20),
    AtomicUsize::new(2),
    AtomicUsize::new(2048),
    AtomicUsize::new(64),
    AtomicUsize::new(0),
];

fn check(device: c_int) -> CudaResult {
    if device == 0 {
        Ok(())
    } else {
        Err(CudaError::INVALID_DEVICE)
    }
}

/// Cores that run blocks.
pub fn multiprocessors() -> c_int {
    c_int::try_from(settings().worker_threads).unwrap_or(c_int::MAX)
}

/// The version that this runtime implements, or the program's where that is newer.
pub fn driver_version() -> c_int {
    let found = c_int::try_from(registry::toolkit_version()).unwrap_or(CUDA_VERSION);
    found.max(CUDA_VERSION)
}

/// The device's identity.
pub fn identity() -> [u8; 16] {
    *b"sirius-cpu-devic"
}

fn signed(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

fn properties() -> DeviceProperties {
    // SAFETY: the structure consists of integers, of which zero is a value: features that the device
    // does not have (textures, surfaces, peers) are zero.
    let mut properties: DeviceProperties = unsafe { std::mem::zeroed() };
    let name = b"sirius CPU device";
    properties.name[..name.len()].copy_from_slice(name);
    properties.uuid = identity();
    properties.total_global_mem = usize::try_from(memory::total_bytes()).unwrap_or(usize::MAX);
    properties.shared_mem_per_block = launch::SHARED_BYTES as usize;
    properties.regs_per_block = REGISTERS;
    properties.warp_size = WARP_SIZE;
    properties.mem_pitch = c_int::MAX as usize;
    properties.max_threads_per_block = signed(launch::THREADS_PER_BLOCK);
    properties.max_threads_dim = launch::BLOCK_LIMITS.map(signed);
    properties.max_grid_size = launch::GRID_LIMITS.map(signed);
    properties.total_const_mem = CONSTANT_BYTES;
    let capability = compute_capability();
    (properties.major, properties.minor) = (capability / 10, capability % 10);
    properties.texture_alignment = crate::memory::ALIGNMENT;
    properties.texture_pitch_alignment = super::texture::PITCH_ALIGNMENT;
    properties.multi_processor_count = multiprocessors();
    properties.integrated = 1;
    properties.can_map_host_memory = 1;
    properties.unified_addressing = 1;
    properties.memory_bus_width = 64;
    properties.l2_cache_size = CACHE_BYTES;
    properties.max_threads_per_multi_processor = signed(THREADS_PER_MULTIPROCESSOR);
    properties.stream_priorities_supported = 1;
    properties.global_l1_cache_supported = 1;
    properties.local_l1_cache_supported = 1;
    properties.shared_mem_per_multiprocessor = shared_bytes_per_multiprocessor() as usize;
    properties.regs_per_multiprocessor = REGISTERS;
    properties.managed_memory = 1;
    properties.cooperative_launch = 1;
    properties.cluster_launch = i32::from(compute_capability() >= 90);
    properties.host_native_atomic_supported = 1;
    properties.concurrent_managed_access = 1;
    properties.can_use_host_pointer_for_registered_mem = 1;
    properties.shared_mem_per_block_optin = shared_opt_in_bytes() as usize;
    properties.direct_managed_mem_access_from_host = 1;
    properties.max_blocks_per_multi_processor = signed(BLOCKS_PER_MULTIPROCESSOR);
    properties.reserved_shared_mem_per_block = 1024;
    properties.host_register_supported = 1;
    properties.memory_pools_supported = 1;
    properties.device_numa_id = -1;
    properties.host_numa_id = -1;
    properties
}

/// A property by the number of its `cudaDeviceAttr`; `None` for numbers that CUDA 13 does not know.
pub fn attribute(number: u32) -> Option<c_int> {
    let all = properties();
    Some(match number {
        1 => all.max_threads_per_block,
        2..=4 => all.max_threads_dim[number as usize - 2],
        5..=7 => all.max_grid_size[number as usize - 5],
        8 => signed(launch::SHARED_BYTES),
        9 => 64 << 10,
        10 => all.warp_size,
        11 => c_int::MAX,
        12 => all.regs_per_block,
        13 | 36 => CLOCK_KILOHERTZ,
        14 => crate::memory::ALIGNMENT as c_int,
        16 => all.multi_processor_count,
        18 => all.integrated,
        19 => all.can_map_host_memory,
        37 => all.memory_bus_width,
        38 => all.l2_cache_size,
        39 => all.max_threads_per_multi_processor,
        41 => all.unified_addressing,
        51 => 32,
        75 => all.major,
        76 => all.minor,
        78 => all.stream_priorities_supported,
        79 => all.global_l1_cache_supported,
        80 => all.local_l1_cache_supported,
        81 => signed(shared_bytes_per_multiprocessor()),
        82 => all.regs_per_multiprocessor,
        83 => all.managed_memory,
        95 => all.cooperative_launch,
        86 => all.host_native_atomic_supported,
        87 => 2,
        89 => all.concurrent_managed_access,
        91 => all.can_use_host_pointer_for_registered_mem,
        97 => signed(shared_opt_in_bytes()),
        99 => all.host_register_supported,
        101 => all.direct_managed_mem_access_from_host,
        // Virtual memory management, and handles of it that are file descriptors.
        102 | 103 => 1,
        106 => all.max_blocks_per_multi_processor,
        111 => 1024,
        115 => all.memory_pools_supported,
        120 => all.cluster_launch,
        131 | 134 => -1,
        // What else CUDA 13 lists, the device does not have.
        15
        | 17
        | 20..=35
        | 40
        | 42..=50
        | 52..=74
        | 77
        | 84
        | 85
        | 88
        | 90
        | 92..=96
        | 98
        | 100
        | 104..=105
        | 107..=110
        | 112..=114
        | 116..=130
        | 132
        | 133
        | 135..=160 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn the_structure_has_cuda_13s_layout() {
        // Offsets printed by a C program that includes driver_types.h of CUDA 13.
        assert_eq!(size_of::<DeviceProperties>(), 1008);
        assert_eq!(offset_of!(DeviceProperties, total_global_mem), 288);
        assert_eq!(offset_of!(DeviceProperties, major), 360);
        assert_eq!(offset_of!(DeviceProperties, multi_processor_count), 384);
        assert_eq!(
            offset_of!(DeviceProperties, shared_mem_per_block_optin),
            672
        );
        assert_eq!(offset_of!(DeviceProperties, reserved), 784);
    }

    #[test]
    fn the_older_structure_has_cuda_12s_layout() {
        // As above, of CUDA 12.9.
        assert_eq!(size_of::<DeviceProperties12>(), 1032);
        assert_eq!(offset_of!(DeviceProperties12, clock_rate), 348);
        assert_eq!(offset_of!(DeviceProperties12, major), 360);
        assert_eq!(
            offset_of!(DeviceProperties12, shared_mem_per_block_optin),
            696
        );
        assert_eq!(offset_of!(DeviceProperties12, reserved), 780);
    }

    #[test]
    fn attributes_agree_with_properties() {
        assert_eq!(attribute(81), Some(167_936));
        assert_eq!(attribute(97), Some(166_912));
        assert_eq!(attribute(8), Some(49_152));
        assert_eq!(attribute(75), Some(8));
        assert_eq!(attribute(0), None);
        assert_eq!(attribute(10_000), None);
    }
}
