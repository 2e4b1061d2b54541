//! Functions: attributes, occupancy, launches.

use std::cmp::Ordering;
use std::ffi::{c_char, c_int, c_void};

use super::context::{check_device, initialised, required};
use super::passed_on;
use crate::api::launch::{self, Blocks, LaunchAttribute, THREADS_PER_BLOCK};
use crate::api::{Dim3, device, function, store};
use crate::error::{CudaError, CudaResult};
use crate::execution::kernel::KernelRecord;
use crate::registry;

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Debug)]
pub struct LaunchConfiguration {
    grid: Dim3,
    block: Dim3,
    dynamic_shared_bytes: u32,
    stream: *mut c_void,
    attributes: *const LaunchAttribute,
    attribute_count: u32,
}

/// Gives the dynamic shared memory in bytes of a block of so many threads.
type SharedBytesOfBlock = unsafe extern "C" fn(c_int) -> usize;

/// `CU_LAUNCH_PARAM_END`, `CU_LAUNCH_PARAM_BUFFER_POINTER`, `CU_LAUNCH_PARAM_BUFFER_SIZE`.
const END: usize = 0;
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;

driver_functions! {
    /// Runs a function.
    fn cuLaunchKernel = cuLaunchKernel_ptsz (
        function: *const c_void,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        stream: *mut c_void,
        arguments: *const *const c_void,
        extra: *const usize,
    ) {
        let grid = Dim3 { x: grid_x, y: grid_y, z: grid_z };
        let block = Dim3 { x: block_x, y: block_y, z: block_z };
        // SAFETY: the program passes arguments in one of the two ways.
        unsafe {
            run(Blocks::INDEPENDENT, function, (grid, block), shared_bytes, stream, arguments, extra)
        }
    }

    /// Runs a function. Attributes that change what a launch means are refused; hints are accepted.
    fn cuLaunchKernelEx = cuLaunchKernelEx_ptsz (
        configuration: *const LaunchConfiguration,
        function: *const c_void,
        arguments: *const *const c_void,
        extra: *const usize,
    ) {
        required()?;
        // SAFETY: the program passes a configuration with as many attributes as it says, or null.
        unsafe {
            let configuration = configuration.as_ref().ok_or(CudaError::INVALID_VALUE)?;
            let attributes = launch::attributes(configuration.attributes, configuration.attribute_count)?;
            let blocks = launch::accept_all(attributes)?;
            let LaunchConfiguration { grid, block, dynamic_shared_bytes, stream, .. } = *configuration;
            run(blocks, function, (grid, block), dynamic_shared_bytes, stream, arguments, extra)
        }
    }

    /// Runs a function whose blocks wait for each other.
    fn cuLaunchCooperativeKernel = cuLaunchCooperativeKernel_ptsz (
        function: *const c_void,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        stream: *mut c_void,
        arguments: *const *const c_void,
    ) {
        let grid = Dim3 { x: grid_x, y: grid_y, z: grid_z };
        let block = Dim3 { x: block_x, y: block_y, z: block_z };
        let extra = std::ptr::null();
        // SAFETY: the program passes as many arguments as the function has.
        unsafe {
            run(Blocks::COOPERATIVE, function, (grid, block), shared_bytes, stream, arguments, extra)
        }
    }

    /// A function's attribute.
    fn cuFuncGetAttribute(value: *mut c_int, attribute: u32, function: *const c_void) {
        initialised()?;
        let record = find(function)?;
        let found = function::attribute(record, attribute).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(value, found) }
    }

    /// Allows a function more dynamic shared memory; other attributes are hints.
    fn cuFuncSetAttribute(function: *const c_void, attribute: u32, value: c_int) {
        required()?;
        find(function)?;
        // SAFETY: the function was found.
        passed_on(unsafe { function::cudaFuncSetAttribute(function, attribute, value) })
    }

    /// Nothing: the caches are the processor's.
    fn cuFuncSetCacheConfig = cuFuncSetSharedMemConfig (
        function: *const c_void,
        _configuration: u32,
    ) {
        required()?;
        find(function).map(drop)
    }

    /// A kernel's attribute; `cuFuncGetAttribute` takes the same handle.
    fn cuKernelGetAttribute(
        value: *mut c_int,
        attribute: u32,
        kernel: *const c_void,
        device: c_int,
    ) {
        check_device(device)?;
        let found = function::attribute(find(kernel)?, attribute).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe { store(value, found) }
    }

    /// Allows a kernel more dynamic shared memory; other attributes are hints.
    fn cuKernelSetAttribute(attribute: u32, value: c_int, kernel: *const c_void, device: c_int) {
        check_device(device)?;
        find(kernel)?;
        // SAFETY: the kernel was found.
        passed_on(unsafe { function::cudaFuncSetAttribute(kernel, attribute, value) })
    }

    /// Nothing: the caches are the processor's.
    fn cuKernelSetCacheConfig(kernel: *const c_void, _configuration: u32, device: c_int) {
        check_device(device)?;
        find(kernel).map(drop)
    }

    /// Whether a function's code is there: yes.
    fn cuFuncIsLoaded(state: *mut u32, function: *const c_void) {
        required()?;
        find(function)?;
        // SAFETY: as above.
        unsafe { store(state, LOADED) }
    }

    /// Nothing: a function's code is there.
    fn cuFuncLoad(function: *const c_void) {
        required()?;
        find(function).map(drop)
    }

    /// Number of a function's parameters.
    fn cuFuncGetParamCount = cuKernelGetParamCount (function: *const c_void, count: *mut usize) {
        required()?;
        find(function)?;
        // SAFETY: as above.
        passed_on(unsafe { function::cudaFuncGetParamCount(function, count) })
    }

    /// Dynamic shared memory that lets a multiprocessor hold so many blocks.
    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize,
        function: *const c_void,
        blocks: c_int,
        block_size: c_int,
    ) {
        required()?;
        find(function)?;
        // SAFETY: as above.
        passed_on(unsafe {
            function::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size)
        })
    }

    /// A function's mangled name.
    fn cuFuncGetName = cuKernelGetName (name: *mut *const c_char, function: *const c_void) {
        required()?;
        // SAFETY: as above.
        unsafe { store(name, find(function)?.kernel.name) }
    }

    /// The function of a kernel: the same handle.
    fn cuKernelGetFunction(function: *mut *const c_void, kernel: *const c_void) {
        required()?;
        find(kernel)?;
        // SAFETY: as above.
        unsafe { store(function, kernel) }
    }

    /// Where a parameter lies in a parameter buffer, and its size.
    fn cuFuncGetParamInfo = cuKernelGetParamInfo (
        function: *const c_void,
        index: usize,
        offset: *mut usize,
        bytes: *mut usize,
    ) {
        required()?;
        let (start, size) = *parameters(find(function)?)
            .ok_or(CudaError::NOT_SUPPORTED)?
            .get(index)
            .ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: as above; a null size is left out.
        unsafe {
            store(offset, start)?;
            if bytes.is_null() { Ok(()) } else { store(bytes, size) }
        }
    }

    /// Blocks of this size that a multiprocessor holds.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *const c_void,
        block_size: c_int,
        dynamic_shared_bytes: usize,
    ) {
        required()?;
        let found = function::resident_blocks(find(function)?, block_size, dynamic_shared_bytes)?;
        // SAFETY: as above.
        unsafe { store(blocks, found) }
    }

    /// The same; the flags concern caches.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        function: *const c_void,
        block_size: c_int,
        dynamic_shared_bytes: usize,
        _flags: u32,
    ) {
        required()?;
        let found = function::resident_blocks(find(function)?, block_size, dynamic_shared_bytes)?;
        // SAFETY: as above.
        unsafe { store(blocks, found) }
    }

    /// The block size with which a multiprocessor holds most threads, and the grid that fills the device.
    fn cuOccupancyMaxPotentialBlockSize(
        grid_size: *mut c_int,
        block_size: *mut c_int,
        function: *const c_void,
        shared_bytes_of_block: Option<SharedBytesOfBlock>,
        dynamic_shared_bytes: usize,
        block_size_limit: c_int,
    ) {
        let shared = SharedBytes { of_block: shared_bytes_of_block, dynamic: dynamic_shared_bytes };
        // SAFETY: as above.
        unsafe { store_best(function, (grid_size, block_size), shared, block_size_limit) }
    }

    /// The same; the flags concern caches.
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid_size: *mut c_int,
        block_size: *mut c_int,
        function: *const c_void,
        shared_bytes_of_block: Option<SharedBytesOfBlock>,
        dynamic_shared_bytes: usize,
        block_size_limit: c_int,
        _flags: u32,
    ) {
        let shared = SharedBytes { of_block: shared_bytes_of_block, dynamic: dynamic_shared_bytes };
        // SAFETY: as above.
        unsafe { store_best(function, (grid_size, block_size), shared, block_size_limit) }
    }
}

/// `CU_FUNCTION_LOADING_STATE_LOADED`.
const LOADED: u32 = 1;

/// Dynamic shared memory of a block: what a function says for its size, or the same for any.
struct SharedBytes {
    of_block: Option<SharedBytesOfBlock>,
    dynamic: usize,
}

/// Stores the grid and the block with which a multiprocessor holds most threads.
///
/// # Safety
/// The addresses are writable or null; the function is what the program passed.
unsafe fn store_best(
    function: *const c_void,
    (grid_size, block_size): (*mut c_int, *mut c_int),
    shared: SharedBytes,
    block_size_limit: c_int,
) -> CudaResult {
    required()?;
    let record = find(function)?;
    let largest = match u32::try_from(block_size_limit) {
        Ok(0) | Err(_) => THREADS_PER_BLOCK,
        Ok(limit) => limit.min(THREADS_PER_BLOCK),
    }
    .min(record.kernel.max_threads);
    let mut best = (0, 0, 0);
    for threads in (1..=largest.div_ceil(32))
        .rev()
        .map(|warps| (warps * 32).min(largest))
    {
        let threads = c_int::try_from(threads).map_err(|_| CudaError::INVALID_VALUE)?;
        let bytes = match shared.of_block {
            // SAFETY: the program asks for this call.
            Some(of_block) => unsafe { of_block(threads) },
            None => shared.dynamic,
        };
        let blocks = function::resident_blocks(record, threads, bytes)?;
        if blocks * threads > best.0 {
            best = (blocks * threads, threads, blocks);
        }
    }
    // SAFETY: as the caller promises.
    unsafe {
        store(grid_size, best.2.saturating_mul(device::multiprocessors()))?;
        store(block_size, best.1)
    }
}

pub fn find(function: *const c_void) -> CudaResult<&'static KernelRecord> {
    registry::kernel(function as usize).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// # Safety
/// `arguments` is null or points to an address for each argument; `extra` is null or a list that ends
/// with [`END`] and describes a parameter buffer.
unsafe fn run(
    blocks: Blocks,
    function: *const c_void,
    (grid, block): (Dim3, Dim3),
    shared_bytes: u32,
    stream: *mut c_void,
    arguments: *const *const c_void,
    extra: *const usize,
) -> CudaResult {
    required()?;
    let record = find(function)?;
    // SAFETY: as the caller promises.
    let addresses = unsafe { argument_addresses(record, arguments, extra)? };
    launch::launch_as(
        blocks,
        function,
        grid,
        block,
        addresses.as_ptr(),
        shared_bytes as usize,
        stream,
    )
}

/// Runs a function with a buffer of parameters, for a call that the compiler takes for a fence.
///
/// # Safety
/// The stream is one of the program's, or null.
pub unsafe fn launch_with_buffer(
    function: *const c_void,
    (grid, block): (Dim3, Dim3),
    shared_bytes: u32,
    stream: *mut c_void,
    parameters: &[u8],
) -> CudaResult {
    let bytes = parameters.len();
    let extra = [
        BUFFER_POINTER,
        parameters.as_ptr() as usize,
        BUFFER_SIZE,
        &raw const bytes as usize,
        END,
    ];
    let (arguments, extra) = (std::ptr::null(), extra.as_ptr());
    launch::hide_site();
    // SAFETY: the list describes the buffer, which is there until the launch has read it.
    unsafe {
        run(
            Blocks::INDEPENDENT,
            function,
            (grid, block),
            shared_bytes,
            stream,
            arguments,
            extra,
        )
    }
}

/// The addresses of a kernel's arguments, which are passed one by one or in a parameter buffer. Errors:
/// `cudaErrorInvalidValue` when they are passed in both ways or not at all, or the buffer is too small,
/// and `cudaErrorLaunchOutOfResources` when it is too large.
///
/// # Safety
/// Each list that is passed is there as the manual asks.
pub unsafe fn argument_addresses(
    record: &KernelRecord,
    arguments: *const *const c_void,
    extra: *const usize,
) -> CudaResult<Vec<*const c_void>> {
    let count = record.kernel.argument_count as usize;
    if extra.is_null() || !arguments.is_null() {
        if !extra.is_null() || (arguments.is_null() && count > 0) {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as the caller promises.
        return Ok((0..count)
            .map(|index| unsafe { *arguments.add(index) })
            .collect());
    }
    // SAFETY: as the caller promises.
    let (buffer, bytes) = unsafe { buffer(extra) }?;
    let parameters = parameters(record).ok_or(CudaError::NOT_SUPPORTED)?;
    let needed = parameters.last().map_or(0, |(start, size)| start + size);
    match bytes.cmp(&needed) {
        // A GPU's driver takes fewer, and the rest is what it is.
        Ordering::Less => Err(CudaError::INVALID_VALUE),
        Ordering::Equal => Ok(parameters
            .iter()
            .map(|(start, _)| (buffer + start) as *const c_void)
            .collect()),
        // As many as a struct takes that is padded at its end are too many.
        Ordering::Greater => Err(CudaError::LAUNCH_OUT_OF_RESOURCES),
    }
}

/// Address and size in bytes of a parameter buffer.
///
/// # Safety
/// `extra` is a list that ends with [`END`] and describes a parameter buffer.
unsafe fn buffer(extra: *const usize) -> CudaResult<(usize, usize)> {
    let (mut buffer, mut bytes) = (0, None);
    let mut at = extra;
    // SAFETY: as the caller promises.
    unsafe {
        loop {
            match *at {
                END => break,
                BUFFER_POINTER => buffer = *at.add(1),
                BUFFER_SIZE => {
                    let place = *at.add(1) as *const usize;
                    bytes = Some(*place.as_ref().ok_or(CudaError::INVALID_VALUE)?);
                }
                _ => return Err(CudaError::INVALID_VALUE),
            }
            at = at.add(2);
        }
    }
    match bytes {
        Some(0) => Ok((buffer, 0)),
        // A list of nothing serves functions without parameters.
        None if buffer == 0 => Ok((0, 0)),
        Some(bytes) if buffer != 0 => Ok((buffer, bytes)),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// Offset and size in bytes of each parameter; `None` for images that do not tell.
fn parameters(record: &KernelRecord) -> Option<Vec<(usize, usize)>> {
    let kernel = record.kernel;
    let count = kernel.argument_count as usize;
    if count > 0 && (kernel.argument_offsets.is_null() || kernel.argument_sizes.is_null()) {
        return None;
    }
    // SAFETY: an image's tables have the lengths that it states.
    let at = |table: *const u32, index| unsafe { *table.add(index) as usize };
    let parameter = |index| {
        (
            at(kernel.argument_offsets, index),
            at(kernel.argument_sizes, index),
        )
    };
    Some((0..count).map(parameter).collect())
}
