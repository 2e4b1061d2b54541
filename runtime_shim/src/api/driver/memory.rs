//! Memory: allocation, copies, fills, and what is known of pointers.

pub mod peer;
pub mod pool;
pub mod virtual_memory;

use std::ffi::{c_int, c_void};

use super::context::{of_memory, required, required_in};
use super::{DevicePointer, NOT_FOUND, passed_on};
use crate::api::copy::{self, Region};
use crate::api::graph::NodeType;
use crate::api::memory::Extent;
use crate::api::{array, memory as runtime, store};
use crate::error::{CudaError, CudaResult};
use crate::memory::{self, MemoryKind};

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy2d {
    source: Side2d,
    destination: Side2d,
    width: usize,
    height: usize,
}

/// One side of a `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side2d {
    x_bytes: usize,
    y: usize,
    memory: u32,
    host: usize,
    device: DevicePointer,
    array: *mut c_void,
    pitch: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3d {
    source: Side3d,
    destination: Side3d,
    extent: Extent,
}

/// One side of a `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side3d {
    x_bytes: usize,
    y: usize,
    z: usize,
    level: usize,
    memory: u32,
    host: usize,
    device: DevicePointer,
    array: *mut c_void,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

// SAFETY: addresses that only the copy itself reads and writes through, on whatever thread it runs.
unsafe impl Send for Copy2d {}
// SAFETY: as above.
unsafe impl Sync for Copy2d {}
// SAFETY: as above.
unsafe impl Send for Copy3d {}
// SAFETY: as above.
unsafe impl Sync for Copy3d {}

/// `CUmemorytype`.
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

driver_functions! {
    /// Device memory; zero bytes are an error.
    fn cuMemAlloc = cuMemAlloc_v2 (pointer: *mut DevicePointer, bytes: usize) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { give(pointer, bytes, MemoryKind::Device, 0) }
    }

    /// Device memory, in order of the stream.
    fn cuMemAllocAsync = cuMemAllocAsync_ptsz (
        pointer: *mut DevicePointer,
        bytes: usize,
        stream: *mut c_void,
    ) {
        required_in(stream)?;
        // SAFETY: as above; a device pointer has the size of a pointer.
        unsafe { runtime::give_in_order(pointer.cast(), bytes, stream) }
    }

    /// Device memory whose rows are aligned.
    fn cuMemAllocPitch = cuMemAllocPitch_v2 (
        pointer: *mut DevicePointer,
        pitch: *mut usize,
        width: usize,
        height: usize,
        element_bytes: u32,
    ) {
        required()?;
        if !matches!(element_bytes, 4 | 8 | 16) || width == 0 || height == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above; a device pointer has the size of a pointer.
        passed_on(unsafe { runtime::cudaMallocPitch(pointer.cast(), pitch, width, height) })
    }

    /// Memory that host and device see.
    fn cuMemAllocManaged(pointer: *mut DevicePointer, bytes: usize, flags: u32) {
        if !matches!(flags, 1 | 2 | 4) {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe { give(pointer, bytes, MemoryKind::Managed, flags) }
    }

    /// Frees device or managed memory.
    fn cuMemFree = cuMemFree_v2 (pointer: DevicePointer) {
        required()?;
        // SAFETY: freeing takes any value.
        passed_on(unsafe { runtime::cudaFree(pointer as *mut c_void) })
    }

    /// Frees device memory, in order of the stream.
    fn cuMemFreeAsync = cuMemFreeAsync_ptsz (pointer: DevicePointer, stream: *mut c_void) {
        required_in(stream)?;
        // SAFETY: as above.
        passed_on(unsafe { runtime::cudaFreeAsync(pointer as *mut c_void, stream) })
    }

    /// Pinned host memory.
    fn cuMemAllocHost = cuMemAllocHost_v2 (pointer: *mut DevicePointer, bytes: usize) {
        // SAFETY: as above.
        unsafe { give(pointer, bytes, MemoryKind::Pinned, 0) }
    }

    /// Pinned host memory with flags.
    fn cuMemHostAlloc(pointer: *mut DevicePointer, bytes: usize, flags: u32) {
        // Portable, mapped, write-combined.
        if flags & !7 != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe { give(pointer, bytes, MemoryKind::Pinned, flags) }
    }

    /// Frees pinned memory.
    fn cuMemFreeHost(pointer: *mut c_void) {
        required()?;
        // SAFETY: freeing takes any value.
        passed_on(unsafe { runtime::cudaFreeHost(pointer) })
    }

    /// Pins memory of the program's own.
    fn cuMemHostRegister = cuMemHostRegister_v2 (pointer: *mut c_void, bytes: usize, flags: u32) {
        required()?;
        // SAFETY: the program's memory is not accessed.
        passed_on(unsafe { runtime::cudaHostRegister(pointer, bytes, flags) })
    }

    /// Undoes `cuMemHostRegister`.
    fn cuMemHostUnregister(pointer: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { runtime::cudaHostUnregister(pointer) })
    }

    /// The device's view of pinned memory: the same address.
    fn cuMemHostGetDevicePointer = cuMemHostGetDevicePointer_v2 (
        device: *mut DevicePointer,
        host: *mut c_void,
        flags: u32,
    ) {
        required()?;
        // SAFETY: as above; a device pointer has the size of a pointer.
        passed_on(unsafe { runtime::cudaHostGetDevicePointer(device.cast(), host, flags) })
    }

    /// Flags of pinned memory.
    fn cuMemHostGetFlags(flags: *mut u32, host: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { runtime::cudaHostGetFlags(flags, host) })
    }

    /// Free and total memory.
    fn cuMemGetInfo = cuMemGetInfo_v2 (free: *mut usize, total: *mut usize) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { runtime::cudaMemGetInfo(free, total) })
    }

    /// The allocation that an address is in.
    fn cuMemGetAddressRange = cuMemGetAddressRange_v2 (
        base: *mut DevicePointer,
        bytes: *mut usize,
        pointer: DevicePointer,
    ) {
        required()?;
        let place = memory::place(pointer).ok_or(NOT_FOUND)?;
        // SAFETY: each address is writable or null, which is then left out.
        unsafe {
            if !base.is_null() {
                *base = place.base;
            }
            if !bytes.is_null() {
                *bytes = place.bytes;
            }
        }
        Ok(())
    }

    /// Copies, wherever both sides are.
    fn cuMemcpy = cuMemcpy_ptds (destination: DevicePointer, source: DevicePointer, bytes: usize) {
        copy_in_order(std::ptr::null_mut(), destination, source, bytes, copy::DEFAULT)
    }

    /// Copies, wherever both sides are, in order of the stream.
    fn cuMemcpyAsync = cuMemcpyAsync_ptsz (
        destination: DevicePointer,
        source: DevicePointer,
        bytes: usize,
        stream: *mut c_void,
    ) {
        copy_in_order(stream, destination, source, bytes, copy::DEFAULT)
    }

    /// Copies to the device.
    fn cuMemcpyHtoD = cuMemcpyHtoD_v2 cuMemcpyHtoD_v2_ptds (
        destination: DevicePointer,
        source: usize,
        bytes: usize,
    ) {
        copy_in_order(std::ptr::null_mut(), destination, source, bytes, copy::HOST_TO_DEVICE)
    }

    /// Copies to the device, in order of the stream.
    fn cuMemcpyHtoDAsync = cuMemcpyHtoDAsync_v2 cuMemcpyHtoDAsync_v2_ptsz (
        destination: DevicePointer,
        source: usize,
        bytes: usize,
        stream: *mut c_void,
    ) {
        copy_in_order(stream, destination, source, bytes, copy::HOST_TO_DEVICE)
    }

    /// Copies to the host.
    fn cuMemcpyDtoH = cuMemcpyDtoH_v2 cuMemcpyDtoH_v2_ptds (
        destination: usize,
        source: DevicePointer,
        bytes: usize,
    ) {
        copy_in_order(std::ptr::null_mut(), destination, source, bytes, copy::DEVICE_TO_HOST)
    }

    /// Copies to the host, in order of the stream.
    fn cuMemcpyDtoHAsync = cuMemcpyDtoHAsync_v2 cuMemcpyDtoHAsync_v2_ptsz (
        destination: usize,
        source: DevicePointer,
        bytes: usize,
        stream: *mut c_void,
    ) {
        copy_in_order(stream, destination, source, bytes, copy::DEVICE_TO_HOST)
    }

    /// Copies within the device.
    fn cuMemcpyDtoD = cuMemcpyDtoD_v2 cuMemcpyDtoD_v2_ptds (
        destination: DevicePointer,
        source: DevicePointer,
        bytes: usize,
    ) {
        copy_in_order(std::ptr::null_mut(), destination, source, bytes, copy::DEVICE_TO_DEVICE)
    }

    /// Copies within the device, in order of the stream.
    fn cuMemcpyDtoDAsync = cuMemcpyDtoDAsync_v2 cuMemcpyDtoDAsync_v2_ptsz (
        destination: DevicePointer,
        source: DevicePointer,
        bytes: usize,
        stream: *mut c_void,
    ) {
        copy_in_order(stream, destination, source, bytes, copy::DEVICE_TO_DEVICE)
    }

    /// Copies rows.
    fn cuMemcpy2D = cuMemcpy2D_v2 cuMemcpy2D_v2_ptds cuMemcpy2DUnaligned cuMemcpy2DUnaligned_v2
        cuMemcpy2DUnaligned_v2_ptds (parameters: *const Copy2d)
    {
        // SAFETY: the program passes a structure or null.
        copy_2d(unsafe { parameters.as_ref() }, std::ptr::null_mut())
    }

    /// Copies rows, in order of the stream.
    fn cuMemcpy2DAsync = cuMemcpy2DAsync_v2 cuMemcpy2DAsync_v2_ptsz (
        parameters: *const Copy2d,
        stream: *mut c_void,
    ) {
        // SAFETY: as above.
        copy_2d(unsafe { parameters.as_ref() }, stream)
    }

    /// Copies slices of rows.
    fn cuMemcpy3D = cuMemcpy3D_v2 cuMemcpy3D_v2_ptds (parameters: *const Copy3d) {
        // SAFETY: as above.
        copy_3d(unsafe { parameters.as_ref() }, std::ptr::null_mut())
    }

    /// Copies slices of rows, in order of the stream.
    fn cuMemcpy3DAsync = cuMemcpy3DAsync_v2 cuMemcpy3DAsync_v2_ptsz (
        parameters: *const Copy3d,
        stream: *mut c_void,
    ) {
        // SAFETY: as above.
        copy_3d(unsafe { parameters.as_ref() }, stream)
    }

    /// Sets bytes.
    fn cuMemsetD8 = cuMemsetD8_v2 cuMemsetD8_v2_ptds (
        pointer: DevicePointer,
        value: u8,
        count: usize,
    ) {
        fill(std::ptr::null_mut(), pointer, &value.to_ne_bytes(), 0, count, 1)
    }

    /// Sets bytes, in order of the stream.
    fn cuMemsetD8Async = cuMemsetD8Async_ptsz (
        pointer: DevicePointer,
        value: u8,
        count: usize,
        stream: *mut c_void,
    ) {
        fill(stream, pointer, &value.to_ne_bytes(), 0, count, 1)
    }

    /// Sets 16-bit words.
    fn cuMemsetD16 = cuMemsetD16_v2 cuMemsetD16_v2_ptds (
        pointer: DevicePointer,
        value: u16,
        count: usize,
    ) {
        fill(std::ptr::null_mut(), pointer, &value.to_ne_bytes(), 0, count, 1)
    }

    /// Sets 16-bit words, in order of the stream.
    fn cuMemsetD16Async = cuMemsetD16Async_ptsz (
        pointer: DevicePointer,
        value: u16,
        count: usize,
        stream: *mut c_void,
    ) {
        fill(stream, pointer, &value.to_ne_bytes(), 0, count, 1)
    }

    /// Sets 32-bit words.
    fn cuMemsetD32 = cuMemsetD32_v2 cuMemsetD32_v2_ptds (
        pointer: DevicePointer,
        value: u32,
        count: usize,
    ) {
        fill(std::ptr::null_mut(), pointer, &value.to_ne_bytes(), 0, count, 1)
    }

    /// Sets 32-bit words, in order of the stream.
    fn cuMemsetD32Async = cuMemsetD32Async_ptsz (
        pointer: DevicePointer,
        value: u32,
        count: usize,
        stream: *mut c_void,
    ) {
        fill(stream, pointer, &value.to_ne_bytes(), 0, count, 1)
    }

    /// Sets rows of bytes.
    fn cuMemsetD2D8 = cuMemsetD2D8_v2 cuMemsetD2D8_v2_ptds (
        pointer: DevicePointer,
        pitch: usize,
        value: u8,
        width: usize,
        height: usize,
    ) {
        fill(std::ptr::null_mut(), pointer, &value.to_ne_bytes(), pitch, width, height)
    }

    /// Sets rows of 16-bit words.
    fn cuMemsetD2D16 = cuMemsetD2D16_v2 cuMemsetD2D16_v2_ptds (
        pointer: DevicePointer,
        pitch: usize,
        value: u16,
        width: usize,
        height: usize,
    ) {
        fill(std::ptr::null_mut(), pointer, &value.to_ne_bytes(), pitch, width, height)
    }

    /// Sets rows of 32-bit words.
    fn cuMemsetD2D32 = cuMemsetD2D32_v2 cuMemsetD2D32_v2_ptds (
        pointer: DevicePointer,
        pitch: usize,
        value: u32,
        width: usize,
        height: usize,
    ) {
        fill(std::ptr::null_mut(), pointer, &value.to_ne_bytes(), pitch, width, height)
    }

    /// Sets rows of bytes, in order of the stream.
    fn cuMemsetD2D8Async = cuMemsetD2D8Async_ptsz (
        pointer: DevicePointer,
        pitch: usize,
        value: u8,
        width: usize,
        height: usize,
        stream: *mut c_void,
    ) {
        fill(stream, pointer, &value.to_ne_bytes(), pitch, width, height)
    }

    /// Sets rows of 16-bit words, in order of the stream.
    fn cuMemsetD2D16Async = cuMemsetD2D16Async_ptsz (
        pointer: DevicePointer,
        pitch: usize,
        value: u16,
        width: usize,
        height: usize,
        stream: *mut c_void,
    ) {
        fill(stream, pointer, &value.to_ne_bytes(), pitch, width, height)
    }

    /// Sets rows of 32-bit words, in order of the stream.
    fn cuMemsetD2D32Async = cuMemsetD2D32Async_ptsz (
        pointer: DevicePointer,
        pitch: usize,
        value: u32,
        width: usize,
        height: usize,
        stream: *mut c_void,
    ) {
        fill(stream, pointer, &value.to_ne_bytes(), pitch, width, height)
    }

    /// One thing that is known of a pointer.
    fn cuPointerGetAttribute(data: *mut c_void, attribute: u32, pointer: DevicePointer) {
        required()?;
        // SAFETY: the program passes room for the attribute, or null.
        unsafe { pointer_attribute(data, attribute, pointer) }
    }

    /// Several things that are known of a pointer; what is not known is zero.
    fn cuPointerGetAttributes(
        count: u32,
        attributes: *const u32,
        data: *const *mut c_void,
        pointer: DevicePointer,
    ) {
        required()?;
        if attributes.is_null() || data.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        for index in 0..count as usize {
            // SAFETY: the program passes as many as it says.
            unsafe {
                let (data, attribute) = (*data.add(index), *attributes.add(index));
                if pointer_attribute(data, attribute, pointer).is_err() && !data.is_null() {
                    data.cast::<u32>().write(0);
                }
            }
        }
        Ok(())
    }

    /// Nothing: memory is where it is. Further arguments differ between versions and are not needed.
    fn cuMemPrefetchAsync = cuMemPrefetchAsync_ptsz cuMemPrefetchAsync_v2
        cuMemPrefetchAsync_v2_ptsz (pointer: DevicePointer, bytes: usize)
    {
        required()?;
        // SAFETY: the memory is not accessed.
        passed_on(unsafe { runtime::cudaMemPrefetchAsync(pointer as *const c_void, bytes) })
    }

    /// Nothing: memory is where it is. Further arguments differ between versions and are not needed.
    fn cuMemAdvise = cuMemAdvise_v2 (pointer: DevicePointer, bytes: usize) {
        required()?;
        // SAFETY: the memory is not accessed.
        passed_on(unsafe { runtime::cudaMemAdvise(pointer as *const c_void, bytes) })
    }
}

/// # Safety
/// The address is writable or null.
unsafe fn give(
    pointer: *mut DevicePointer,
    bytes: usize,
    kind: MemoryKind,
    flags: u32,
) -> CudaResult {
    required()?;
    if bytes == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises; a device pointer has the size of a pointer.
    unsafe { runtime::give(pointer.cast(), bytes, kind, flags) }
}

fn copy_in_order(
    stream: *mut c_void,
    destination: usize,
    source: usize,
    bytes: usize,
    kind: u32,
) -> CudaResult {
    required()?;
    copy::on_stream(stream, NodeType::Copy, move || {
        copy::copy(destination, source, bytes, kind)
    })
}

/// Whether the side is surely device memory, and its address.
fn side(memory: u32, host: usize, device: DevicePointer) -> CudaResult<(bool, usize)> {
    match memory {
        HOST => Ok((false, host)),
        DEVICE => Ok((true, device)),
        UNIFIED => Ok((false, device)),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

fn direction(to_device: bool, from_device: bool) -> u32 {
    match (to_device, from_device) {
        (true, true) => copy::DEVICE_TO_DEVICE,
        (true, false) => copy::HOST_TO_DEVICE,
        (false, true) => copy::DEVICE_TO_HOST,
        (false, false) => copy::DEFAULT,
    }
}

fn copy_2d(parameters: Option<&Copy2d>, stream: *mut c_void) -> CudaResult {
    required()?;
    let parameters = *parameters.ok_or(CudaError::INVALID_VALUE)?;
    copy::on_stream(stream, NodeType::Copy, move || copy_rows(&parameters))
}

fn copy_rows(parameters: &Copy2d) -> CudaResult {
    let extent = Extent {
        width: parameters.width,
        height: parameters.height,
        depth: 1,
    };
    let region = |part: &Side2d| -> CudaResult<(bool, Region)> {
        if part.memory == ARRAY {
            let first = [part.x_bytes, part.y, 0];
            return Ok((true, array::part(part.array as usize, first, extent)?));
        }
        let (on_device, base) = side(part.memory, part.host, part.device)?;
        // A pitch of zero stands for rows without gaps.
        let pitch = if part.pitch == 0 {
            extent.width
        } else {
            part.pitch
        };
        let start = base
            .wrapping_add(part.y.wrapping_mul(pitch))
            .wrapping_add(part.x_bytes);
        Ok((on_device, Region::rows(start, pitch)))
    };
    let (from_device, source) = region(&parameters.source)?;
    let (to_device, destination) = region(&parameters.destination)?;
    copy::copy_region(
        destination,
        source,
        extent,
        direction(to_device, from_device),
    )
}

fn copy_3d(parameters: Option<&Copy3d>, stream: *mut c_void) -> CudaResult {
    required()?;
    copy_3d_between(parameters, stream)
}

/// The same between contexts that the structure names where the other one has nothing, of which none needs
/// to be current.
pub fn copy_3d_between(parameters: Option<&Copy3d>, stream: *mut c_void) -> CudaResult {
    let parameters = *parameters.ok_or(CudaError::INVALID_VALUE)?;
    copy::on_stream(stream, NodeType::Copy, move || copy_slices(&parameters))
}

/// Copies slices of rows at once.
pub fn copy_slices(parameters: &Copy3d) -> CudaResult {
    let extent = parameters.extent;
    let region = |part: &Side3d| -> CudaResult<(bool, Region)> {
        if part.memory == ARRAY {
            let first = [part.x_bytes, part.y, part.z];
            return Ok((true, array::part(part.array as usize, first, extent)?));
        }
        let (on_device, base) = side(part.memory, part.host, part.device)?;
        let pitch = if part.pitch == 0 {
            extent.width
        } else {
            part.pitch
        };
        let rows = if part.height == 0 {
            extent.height
        } else {
            part.height
        };
        let slice = pitch.wrapping_mul(rows);
        let start = base
            .wrapping_add(part.z.wrapping_mul(slice))
            .wrapping_add(part.y.wrapping_mul(pitch))
            .wrapping_add(part.x_bytes);
        Ok((on_device, Region::new(start, pitch, slice)))
    };
    let (from_device, source) = region(&parameters.source)?;
    let (to_device, destination) = region(&parameters.destination)?;
    copy::copy_region(
        destination,
        source,
        extent,
        direction(to_device, from_device),
    )
}

/// Fills `height` rows of `width` words.
fn fill(
    stream: *mut c_void,
    pointer: DevicePointer,
    word: &[u8],
    pitch: usize,
    width: usize,
    height: usize,
) -> CudaResult {
    required()?;
    if !pointer.is_multiple_of(word.len()) || !pitch.is_multiple_of(word.len()) {
        return Err(CudaError::INVALID_VALUE);
    }
    let bytes = width
        .checked_mul(word.len())
        .ok_or(CudaError::INVALID_VALUE)?;
    if height > 1 && pitch < bytes {
        return Err(CudaError::INVALID_VALUE);
    }
    let word = word.to_vec();
    copy::on_stream(stream, NodeType::Set, move || {
        let rows = (0..height).map(|row| pointer.wrapping_add(row.wrapping_mul(pitch)));
        rows.into_iter()
            .try_for_each(|start| copy::set_words(start, &word, bytes))
    })
}

/// # Safety
/// `data` is null or has room for the attribute.
unsafe fn pointer_attribute(
    data: *mut c_void,
    attribute: u32,
    pointer: DevicePointer,
) -> CudaResult {
    /// `CU_POINTER_ATTRIBUTE_…` by number.
    const CONTEXT: u32 = 1;
    const MEMORY_TYPE: u32 = 2;
    const DEVICE_POINTER: u32 = 3;
    const HOST_POINTER: u32 = 4;
    const SYNCHRONOUS: u32 = 6;
    const BUFFER_ID: u32 = 7;
    const IS_MANAGED: u32 = 8;
    const DEVICE_ORDINAL: u32 = 9;
    const SHARED_WITH_PROCESSES: u32 = 10;
    const RANGE_START: u32 = 11;
    const RANGE_BYTES: u32 = 12;
    const MAPPED: u32 = 13;
    const HANDLE_TYPES: u32 = 14;
    const ACCESS: u32 = 16;
    const READ_AND_WRITE: u32 = 3;
    let place = memory::place(pointer).ok_or(CudaError::INVALID_VALUE)?;
    let pinned = matches!(place.kind, MemoryKind::Pinned | MemoryKind::Registered);
    let managed = matches!(
        place.kind,
        MemoryKind::Managed | MemoryKind::ManagedVariable
    );
    // SAFETY: as the caller promises.
    unsafe {
        match attribute {
            MEMORY_TYPE => store(data.cast(), if pinned { HOST } else { DEVICE }),
            DEVICE_POINTER => store(data.cast(), pointer),
            HOST_POINTER if pinned || managed => store(data.cast(), pointer),
            IS_MANAGED => store(data.cast(), u8::from(managed)),
            DEVICE_ORDINAL => store(data.cast::<c_int>(), 0),
            RANGE_START => store(data.cast(), place.base),
            RANGE_BYTES => store(data.cast(), place.bytes),
            MAPPED => store(data.cast(), 1_u8),
            CONTEXT => store(data.cast(), of_memory()),
            SYNCHRONOUS => store(data.cast::<c_int>(), 0),
            BUFFER_ID => store(data.cast(), u64::from(place.ordinal) + 1),
            SHARED_WITH_PROCESSES => store(data.cast(), 0_u8),
            HANDLE_TYPES => store(data.cast(), 0_u64),
            ACCESS => store(data.cast(), READ_AND_WRITE),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}
