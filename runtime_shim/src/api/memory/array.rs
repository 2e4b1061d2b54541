//! CUDA arrays: images whose memory only copies, textures and surfaces reach.
//!
//! Here they are rows of texels one after the other, in an allocation of their own. What
//! belongs to a handle is in a table.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::RwLock;

use super::super::graph::NodeType;
use super::super::memory::Extent;
use super::super::{store, stream};
use super::copy::{DEVICE_TO_DEVICE, Region, copy_region, on_stream};
use crate::error::{CudaError, CudaResult};
use crate::memory::{self, MemoryKind};
use crate::texture::Image;
use crate::texture::descriptions::ChannelFormat;
use crate::texture::format::Format;

/// `cudaArrayLayered`.
pub const LAYERED: u32 = 1;
/// `cudaArrayCubemap`.
pub const CUBE: u32 = 4;
/// All flags: also loads and stores by surfaces, and gathers.
const FLAGS: u32 = 15;

/// What is known of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array {
    /// Its texels.
    pub image: Image,
    /// Their format, as the program gave it.
    pub channel: ChannelFormat,
    /// Its extents in texels, as the program gave them.
    pub extent: Extent,
    /// Flags that it was made with.
    pub flags: u32,
    /// It is a level of a larger one, which owns it.
    is_level: bool,
}

struct Table {
    arrays: BTreeMap<usize, Array>,
    /// Handles of the levels of mipmapped arrays.
    mipmapped: BTreeMap<usize, Vec<usize>>,
    last: usize,
}

static TABLE: RwLock<Table> = RwLock::new(Table {
    arrays: BTreeMap::new(),
    mipmapped: BTreeMap::new(),
    last: 0,
});

cuda_functions! {
    /// An array of one or two dimensions.
    fn cudaMallocArray(
        array: *mut *mut c_void,
        channel: *const ChannelFormat,
        width: usize,
        height: usize,
        flags: u32,
    ) {
        // SAFETY: the program passes a structure or null, and a writable address or null.
        unsafe { give(array, channel, Extent { width, height, depth: 0 }, flags) }
    }

    /// An array of up to three dimensions, or of layers.
    fn cudaMalloc3DArray(
        array: *mut *mut c_void,
        channel: *const ChannelFormat,
        extent: Extent,
        flags: u32,
    ) {
        // SAFETY: as above.
        unsafe { give(array, channel, extent, flags) }
    }

    /// Frees an array.
    fn cudaFreeArray(array: *mut c_void) {
        if array.is_null() {
            return Ok(());
        }
        stream::all_in_order()?;
        release(array as usize)
    }

    /// An array in levels, each half as long in each direction as the one before.
    fn cudaMallocMipmappedArray(
        array: *mut *mut c_void,
        channel: *const ChannelFormat,
        extent: Extent,
        levels: u32,
        flags: u32,
    ) {
        // SAFETY: the program passes a structure or null.
        let channel = unsafe { channel.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        let most = extent.width.max(extent.height).max(extent.depth).max(1).ilog2() + 1;
        let mut handles = Vec::new();
        for level in 0..levels.clamp(1, most) {
            let half = |length: usize| match length {
                0 => 0,
                _ => (length >> level).max(1),
            };
            let depth = match flags & (LAYERED | CUBE) {
                0 => half(extent.depth),
                _ => extent.depth,
            };
            let extent = Extent { width: half(extent.width), height: half(extent.height), depth };
            handles.push(create(*channel, extent, flags, true)?);
        }
        let mut table = write();
        table.last += 1;
        let handle = handle_of(table.last);
        table.mipmapped.insert(handle, handles);
        // SAFETY: the program passes a writable address or null.
        unsafe { store(array, handle as *mut c_void) }
    }

    /// Frees an array in levels.
    fn cudaFreeMipmappedArray(array: *mut c_void) {
        if array.is_null() {
            return Ok(());
        }
        stream::all_in_order()?;
        let levels = write().mipmapped.remove(&(array as usize));
        for level in levels.ok_or(CudaError::INVALID_RESOURCE_HANDLE)? {
            if let Some(array) = write().arrays.remove(&level) {
                memory::free(array.image.base, |kind| kind == MemoryKind::Device)?;
            }
        }
        Ok(())
    }

    /// A level.
    fn cudaGetMipmappedArrayLevel(
        level_array: *mut *mut c_void,
        array: *const c_void,
        level: u32,
    ) {
        let levels = levels(array as usize)?;
        let handle = levels.get(level as usize).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe { store(level_array, *handle as *mut c_void) }
    }

    /// What an array was made with.
    fn cudaArrayGetInfo(
        channel: *mut ChannelFormat,
        extent: *mut Extent,
        flags: *mut u32,
        array: *const c_void,
    ) {
        let array = find(array as usize)?;
        // SAFETY: each address is writable or null.
        unsafe {
            if !channel.is_null() {
                channel.write(array.channel);
            }
            if !extent.is_null() {
                extent.write(array.extent);
            }
            if !flags.is_null() {
                flags.write(array.flags);
            }
        }
        Ok(())
    }

    /// An array's format.
    fn cudaGetChannelDesc(channel: *mut ChannelFormat, array: *const c_void) {
        // SAFETY: as above.
        unsafe { store(channel, find(array as usize)?.channel) }
    }

    /// Copies rows into an array.
    fn cudaMemcpy2DToArray = cudaMemcpy2DToArray_ptds (
        array: *mut c_void,
        column_bytes: usize,
        row: usize,
        source: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        let extent = Extent { width, height, depth: 1 };
        let destination = part(array as usize, [column_bytes, row, 0], extent)?;
        copy_region(destination, Region::rows(source as usize, pitch), extent, kind)
    }

    /// Copies rows into an array, in order of the stream.
    fn cudaMemcpy2DToArrayAsync = cudaMemcpy2DToArrayAsync_ptsz (
        array: *mut c_void,
        column_bytes: usize,
        row: usize,
        source: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
        stream: *mut c_void,
    ) {
        let extent = Extent { width, height, depth: 1 };
        let destination = part(array as usize, [column_bytes, row, 0], extent)?;
        let source = Region::rows(source as usize, pitch);
        on_stream(stream, NodeType::Copy, move || copy_region(destination, source, extent, kind))
    }

    /// Copies rows out of an array.
    fn cudaMemcpy2DFromArray = cudaMemcpy2DFromArray_ptds (
        destination: *mut c_void,
        pitch: usize,
        array: *const c_void,
        column_bytes: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: u32,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        let extent = Extent { width, height, depth: 1 };
        let source = part(array as usize, [column_bytes, row, 0], extent)?;
        copy_region(Region::rows(destination as usize, pitch), source, extent, kind)
    }

    /// Copies rows out of an array, in order of the stream.
    fn cudaMemcpy2DFromArrayAsync = cudaMemcpy2DFromArrayAsync_ptsz (
        destination: *mut c_void,
        pitch: usize,
        array: *const c_void,
        column_bytes: usize,
        row: usize,
        width: usize,
        height: usize,
        kind: u32,
        stream: *mut c_void,
    ) {
        let extent = Extent { width, height, depth: 1 };
        let source = part(array as usize, [column_bytes, row, 0], extent)?;
        let destination = Region::rows(destination as usize, pitch);
        on_stream(stream, NodeType::Copy, move || copy_region(destination, source, extent, kind))
    }

    /// Copies rows from array to array.
    fn cudaMemcpy2DArrayToArray = cudaMemcpy2DArrayToArray_ptds (
        destination: *mut c_void,
        destination_column_bytes: usize,
        destination_row: usize,
        source: *const c_void,
        source_column_bytes: usize,
        source_row: usize,
        width: usize,
        height: usize,
        _kind: u32,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        let extent = Extent { width, height, depth: 1 };
        let to = [destination_column_bytes, destination_row, 0];
        let from = [source_column_bytes, source_row, 0];
        let destination = part(destination as usize, to, extent)?;
        let source = part(source as usize, from, extent)?;
        copy_region(destination, source, extent, DEVICE_TO_DEVICE)
    }

    /// Copies bytes into an array, row after row.
    fn cudaMemcpyToArray = cudaMemcpyToArray_ptds (
        array: *mut c_void,
        column_bytes: usize,
        row: usize,
        source: *const c_void,
        bytes: usize,
        kind: u32,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        let start = run(array as usize, column_bytes, row, bytes)?;
        super::copy::copy(start, source as usize, bytes, kind)
    }

    /// Copies bytes into an array, row after row, in order of the stream.
    fn cudaMemcpyToArrayAsync = cudaMemcpyToArrayAsync_ptsz (
        array: *mut c_void,
        column_bytes: usize,
        row: usize,
        source: *const c_void,
        bytes: usize,
        kind: u32,
        stream: *mut c_void,
    ) {
        let start = run(array as usize, column_bytes, row, bytes)?;
        let source = source as usize;
        on_stream(stream, NodeType::Copy, move || super::copy::copy(start, source, bytes, kind))
    }

    /// Copies bytes out of an array, row after row.
    fn cudaMemcpyFromArray = cudaMemcpyFromArray_ptds (
        destination: *mut c_void,
        array: *const c_void,
        column_bytes: usize,
        row: usize,
        bytes: usize,
        kind: u32,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        let start = run(array as usize, column_bytes, row, bytes)?;
        super::copy::copy(destination as usize, start, bytes, kind)
    }

    /// Copies bytes out of an array, row after row, in order of the stream.
    fn cudaMemcpyFromArrayAsync = cudaMemcpyFromArrayAsync_ptsz (
        destination: *mut c_void,
        array: *const c_void,
        column_bytes: usize,
        row: usize,
        bytes: usize,
        kind: u32,
        stream: *mut c_void,
    ) {
        let start = run(array as usize, column_bytes, row, bytes)?;
        let destination = destination as usize;
        on_stream(stream, NodeType::Copy, move || super::copy::copy(destination, start, bytes, kind))
    }

    /// Copies bytes from array to array, row after row.
    fn cudaMemcpyArrayToArray = cudaMemcpyArrayToArray_ptds (
        destination: *mut c_void,
        destination_column_bytes: usize,
        destination_row: usize,
        source: *const c_void,
        source_column_bytes: usize,
        source_row: usize,
        bytes: usize,
        _kind: u32,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        let to = run(destination as usize, destination_column_bytes, destination_row, bytes)?;
        let from = run(source as usize, source_column_bytes, source_row, bytes)?;
        super::copy::copy(to, from, bytes, DEVICE_TO_DEVICE)
    }
}

/// What is known of an array. Errors: `cudaErrorInvalidResourceHandle` when there is none.
pub fn find(handle: usize) -> CudaResult<Array> {
    let table = TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    table
        .arrays
        .get(&handle)
        .copied()
        .ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// Handles of the levels of a mipmapped array. Errors: as for [`find`].
pub fn levels(handle: usize) -> CudaResult<Vec<usize>> {
    let table = TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    table
        .mipmapped
        .get(&handle)
        .cloned()
        .ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// Forgets all arrays, whose memory is gone (`cudaDeviceReset`).
pub fn forget_all() {
    let mut table = write();
    table.arrays.clear();
    table.mipmapped.clear();
}

/// Makes an array; returns its handle. Errors: what texels cannot be, and too little memory.
pub fn create(
    channel: ChannelFormat,
    extent: Extent,
    flags: u32,
    is_level: bool,
) -> CudaResult<usize> {
    let format = Format::of(&channel)?;
    let faces = match (flags & CUBE != 0, flags & LAYERED != 0) {
        (false, _) => true,
        (true, false) => extent.depth == 6,
        (true, true) => extent.depth != 0 && extent.depth.is_multiple_of(6),
    };
    if extent.width == 0 || flags & !FLAGS != 0 || !faces {
        return Err(CudaError::INVALID_VALUE);
    }
    let [height, depth] = [extent.height, extent.depth].map(|length| length.max(1));
    let pitch = extent.width.checked_mul(format.bytes());
    let bytes = pitch
        .and_then(|pitch| pitch.checked_mul(height))
        .and_then(|slice| slice.checked_mul(depth))
        .ok_or(CudaError::MEMORY_ALLOCATION)?;
    let image = Image {
        base: memory::allocate(bytes, MemoryKind::Device, 0)?,
        width: extent.width,
        height,
        depth,
        pitch: extent.width * format.bytes(),
        format,
    };
    let mut table = write();
    table.last += 1;
    let handle = handle_of(table.last);
    table.arrays.insert(
        handle,
        Array {
            image,
            channel,
            extent,
            flags,
            is_level,
        },
    );
    Ok(handle)
}

/// Frees an array. Errors: `cudaErrorInvalidResourceHandle` when there is none of its own.
pub fn release(handle: usize) -> CudaResult {
    if find(handle)?.is_level {
        return Err(CudaError::INVALID_RESOURCE_HANDLE);
    }
    match write().arrays.remove(&handle) {
        Some(array) => memory::free(array.image.base, |kind| kind == MemoryKind::Device),
        None => Err(CudaError::INVALID_RESOURCE_HANDLE),
    }
}

/// A box of an array: first byte of a row, row and slice, and its extents, of which the width counts bytes.
/// Errors: `cudaErrorInvalidValue` when it is not inside.
pub fn part(
    handle: usize,
    [column_bytes, row, slice]: [usize; 3],
    extent: Extent,
) -> CudaResult<Region> {
    let image = find(handle)?.image;
    let inside = |first: usize, length: usize, all: usize| {
        first.checked_add(length).is_some_and(|end| end <= all)
    };
    if !inside(column_bytes, extent.width, image.pitch)
        || !inside(row, extent.height, image.height)
        || !inside(slice, extent.depth, image.depth)
    {
        return Err(CudaError::INVALID_VALUE);
    }
    let start = image.address([0, row, slice]) + column_bytes;
    Ok(Region::new(start, image.pitch, image.pitch * image.height))
}

/// So many bytes of an array of one slice, row after row.
fn run(handle: usize, column_bytes: usize, row: usize, bytes: usize) -> CudaResult<usize> {
    let image = find(handle)?.image;
    let first = row
        .checked_mul(image.pitch)
        .and_then(|at| at.checked_add(column_bytes));
    let end = first.and_then(|first| first.checked_add(bytes));
    match (first, end) {
        (Some(first), Some(end)) if end <= image.pitch * image.height => Ok(image.base + first),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// # Safety
/// The address is writable or null, the description readable or null.
unsafe fn give(
    array: *mut *mut c_void,
    channel: *const ChannelFormat,
    extent: Extent,
    flags: u32,
) -> CudaResult {
    // SAFETY: as the caller promises.
    unsafe {
        let channel = channel.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        if array.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        store(
            array,
            create(*channel, extent, flags, false)? as *mut c_void,
        )
    }
}

/// Handles are addresses that no process has, so that following one faults.
fn handle_of(number: usize) -> usize {
    1 << 62 | number << 4
}

fn write() -> std::sync::RwLockWriteGuard<'static, Table> {
    TABLE
        .write()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
