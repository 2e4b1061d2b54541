//! Allocation and what is known of pointers.

pub mod array;
pub mod copy;
pub mod pool;
pub mod symbol;

use std::ffi::{c_int, c_void};

use super::{graph, store, stream};
use crate::error::{CudaError, CudaResult};
use crate::memory::{self, MemoryKind};

/// Rows of pitched allocations begin at multiples of this, in bytes.
pub const PITCH_ALIGNMENT: usize = 512;

/// `cudaExtent`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Slices.
    pub depth: usize,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PitchedPointer {
    /// First byte.
    pub pointer: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes of a row.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
}

/// The part of `cudaPointerAttributes` that all versions have; newer ones reserve more behind it.
#[repr(C)]
#[derive(Debug)]
pub struct PointerAttributes {
    kind: u32,
    device: c_int,
    device_pointer: *mut c_void,
    host_pointer: *mut c_void,
}

cuda_functions! {
    /// Device memory; zero bytes give a null pointer.
    fn cudaMalloc(pointer: *mut *mut c_void, bytes: usize) {
        // SAFETY: the program passes a writable address or null.
        unsafe { give(pointer, bytes, MemoryKind::Device, 0) }
    }

    /// Device memory, in order of the stream.
    fn cudaMallocAsync = cudaMallocAsync_ptsz (
        pointer: *mut *mut c_void,
        bytes: usize,
        stream: *mut c_void,
    ) {
        // SAFETY: as above.
        unsafe { give_in_order(pointer, bytes, stream) }
    }

    /// Memory of host and device.
    fn cudaMallocManaged(pointer: *mut *mut c_void, bytes: usize, flags: u32) {
        const GLOBAL: u32 = 1;
        const HOST: u32 = 2;
        if bytes == 0 || (flags != GLOBAL && flags != HOST) {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe { give(pointer, bytes, MemoryKind::Managed, flags) }
    }

    /// Pinned host memory.
    fn cudaMallocHost(pointer: *mut *mut c_void, bytes: usize) {
        // SAFETY: as above.
        unsafe { give(pointer, bytes, MemoryKind::Pinned, 0) }
    }

    /// Pinned host memory with flags.
    fn cudaHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: u32) {
        // Portable, mapped, write-combined.
        if flags & !7 != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe { give(pointer, bytes, MemoryKind::Pinned, flags) }
    }

    /// Device memory whose rows are aligned.
    fn cudaMallocPitch(
        pointer: *mut *mut c_void,
        pitch: *mut usize,
        width: usize,
        height: usize,
    ) {
        let row = width.checked_next_multiple_of(PITCH_ALIGNMENT);
        let row = row.ok_or(CudaError::MEMORY_ALLOCATION)?;
        let bytes = row.checked_mul(height).ok_or(CudaError::MEMORY_ALLOCATION)?;
        // SAFETY: as above.
        unsafe {
            store(pitch, row)?;
            give(pointer, bytes, MemoryKind::Device, 0)
        }
    }

    /// Device memory of three dimensions whose rows are aligned.
    fn cudaMalloc3D(pointer: *mut PitchedPointer, extent: Extent) {
        let Extent { width, height, depth } = extent;
        let pitch = width.checked_next_multiple_of(PITCH_ALIGNMENT);
        let pitch = pitch.ok_or(CudaError::MEMORY_ALLOCATION)?;
        let bytes = pitch.checked_mul(height).and_then(|slice| slice.checked_mul(depth));
        let bytes = bytes.ok_or(CudaError::MEMORY_ALLOCATION)?;
        let mut base = std::ptr::null_mut();
        // SAFETY: the local variable is writable; the program passes a writable address or null.
        unsafe {
            give(&raw mut base, bytes, MemoryKind::Device, 0)?;
            store(pointer, PitchedPointer { pointer: base, pitch, width, height })
        }
    }

    /// Frees device or managed memory.
    fn cudaFree(pointer: *mut c_void) {
        free_device(pointer)
    }

    /// Frees device memory, in order of the stream.
    fn cudaFreeAsync = cudaFreeAsync_ptsz (pointer: *mut c_void, stream: *mut c_void) {
        if graph::freed(stream, pointer as usize)? {
            return Ok(());
        }
        stream::in_order(stream)?;
        free_device(pointer)
    }

    /// Frees pinned memory.
    fn cudaFreeHost(pointer: *mut c_void) {
        if pointer.is_null() {
            return Ok(());
        }
        stream::all_in_order()?;
        memory::free(pointer as usize, |kind| kind == MemoryKind::Pinned)
    }

    /// Pins memory of the program's own.
    fn cudaHostRegister(pointer: *mut c_void, bytes: usize, flags: u32) {
        if pointer.is_null() || bytes == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        memory::register_host(pointer as usize, bytes, flags)
    }

    /// Undoes `cudaHostRegister`.
    fn cudaHostUnregister(pointer: *mut c_void) {
        stream::all_in_order()?;
        memory::unregister_host(pointer as usize)
    }

    /// The device's view of pinned memory: the same address.
    fn cudaHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: u32) {
        let place = memory::place(host as usize).ok_or(CudaError::INVALID_VALUE)?;
        let pinned = matches!(place.kind, MemoryKind::Pinned | MemoryKind::Registered);
        if flags != 0 || !pinned {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes a writable address or null.
        unsafe { store(device, host) }
    }

    /// Flags of pinned memory.
    fn cudaHostGetFlags(flags: *mut u32, host: *mut c_void) {
        let view = memory::find(host as usize).ok_or(CudaError::INVALID_VALUE)?;
        if !matches!(view.kind, MemoryKind::Pinned | MemoryKind::Registered) {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe { store(flags, view.flags) }
    }

    /// Free and total memory.
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        let count = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: the program passes writable addresses or null.
        unsafe {
            store(free, count(memory::free_bytes()))?;
            store(total, count(memory::total_bytes()))
        }
    }

    /// What is known of a pointer.
    fn cudaPointerGetAttributes(attributes: *mut PointerAttributes, pointer: *const c_void) {
        let pointer = pointer.cast_mut();
        let known = |kind, host_pointer| {
            PointerAttributes { kind, device: 0, device_pointer: pointer, host_pointer }
        };
        let answer = match memory::place(pointer as usize).map(|place| place.kind) {
            None => PointerAttributes {
                kind: 0,
                device: -2,
                device_pointer: std::ptr::null_mut(),
                host_pointer: pointer,
            },
            Some(MemoryKind::Pinned | MemoryKind::Registered) => known(1, pointer),
            Some(MemoryKind::Managed | MemoryKind::ManagedVariable) => known(3, pointer),
            Some(
                MemoryKind::Device
                | MemoryKind::Variable
                | MemoryKind::Constant
                | MemoryKind::Mapped,
            ) => {
                known(2, std::ptr::null_mut())
            }
        };
        // SAFETY: the program passes a writable structure or null.
        unsafe { store(attributes, answer) }
    }

    /// Nothing: memory is where it is. Further arguments differ between versions and are not needed.
    fn cudaMemPrefetchAsync = cudaMemPrefetchAsync_ptsz cudaMemPrefetchAsync_v2
        cudaMemPrefetchAsync_v2_ptsz (pointer: *const c_void, bytes: usize)
    {
        check_managed(pointer, bytes)
    }

    /// Nothing: memory is where it is. Further arguments differ between versions and are not needed.
    fn cudaMemAdvise = cudaMemAdvise_v2 (pointer: *const c_void, bytes: usize) {
        check_managed(pointer, bytes)
    }
}

/// # Safety
/// The address is writable or null.
pub unsafe fn give(
    pointer: *mut *mut c_void,
    bytes: usize,
    kind: MemoryKind,
    flags: u32,
) -> CudaResult {
    if pointer.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    let base = if bytes == 0 {
        0
    } else {
        memory::allocate(bytes, kind, flags)?
    };
    // SAFETY: as the caller promises.
    unsafe { store(pointer, base as *mut c_void) }
}

/// Gives device memory in order of a stream; where that is captured, memory of the graph.
///
/// # Safety
/// The address is writable or null.
pub unsafe fn give_in_order(
    pointer: *mut *mut c_void,
    bytes: usize,
    stream: *mut c_void,
) -> CudaResult {
    if pointer.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe {
        if let Some(address) = graph::allocated(stream, bytes)? {
            return store(pointer, address as *mut c_void);
        }
        stream::in_order(stream)?;
        give(pointer, bytes, MemoryKind::Device, 0)
    }
}

fn free_device(pointer: *mut c_void) -> CudaResult {
    if pointer.is_null() {
        return Ok(());
    }
    stream::all_in_order()?;
    // A graph's memory has its address again when the graph is launched again.
    if graph::owns(pointer as usize) {
        graph::footprint::freed(pointer as usize);
        return Ok(());
    }
    memory::free(pointer as usize, |kind| {
        matches!(kind, MemoryKind::Device | MemoryKind::Managed)
    })
}

fn check_managed(pointer: *const c_void, bytes: usize) -> CudaResult {
    let place = memory::place(pointer as usize).ok_or(CudaError::INVALID_VALUE)?;
    let within = bytes <= place.bytes - (pointer as usize - place.base);
    let managed = matches!(
        place.kind,
        MemoryKind::Managed | MemoryKind::ManagedVariable
    );
    if within && managed {
        Ok(())
    } else {
        Err(CudaError::INVALID_VALUE)
    }
}
