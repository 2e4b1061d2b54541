//! Copies and sets.
//!
//! A pointer into memory that the runtime knows must stay within its allocation; one that the copy's
//! direction calls a device pointer must be known.

use std::ffi::c_void;

use super::super::graph::NodeType;
use super::super::memory::{Extent, PitchedPointer};
use super::super::{array, graph, stream};
use crate::error::{CudaError, CudaResult};
use crate::execution::check;
use crate::execution::check::streams;
use crate::memory;
use crate::output::trace;

/// `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Position {
    x: usize,
    y: usize,
    z: usize,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3dParameters {
    source_array: *mut c_void,
    source_position: Position,
    source: PitchedPointer,
    destination_array: *mut c_void,
    destination_position: Position,
    destination: PitchedPointer,
    extent: Extent,
    kind: u32,
}

// SAFETY: addresses that only the copy itself reads and writes through, on whatever thread it runs.
unsafe impl Send for Copy3dParameters {}
// SAFETY: as above.
unsafe impl Sync for Copy3dParameters {}

impl Copy3dParameters {
    /// A copy of so many bytes.
    pub fn of_bytes(destination: usize, source: usize, bytes: usize, kind: u32) -> Self {
        let start = Position { x: 0, y: 0, z: 0 };
        let row = |address: usize| PitchedPointer {
            pointer: address as *mut c_void,
            pitch: bytes,
            width: bytes,
            height: 1,
        };
        Self {
            source_array: std::ptr::null_mut(),
            source_position: start,
            source: row(source),
            destination_array: std::ptr::null_mut(),
            destination_position: start,
            destination: row(destination),
            extent: Extent {
                width: bytes,
                height: 1,
                depth: 1,
            },
            kind,
        }
    }
}

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3dPeerParameters {
    source_array: *mut c_void,
    source_position: Position,
    source: PitchedPointer,
    source_device: i32,
    destination_array: *mut c_void,
    destination_position: Position,
    destination: PitchedPointer,
    destination_device: i32,
    extent: Extent,
}

/// Rows of a region of three dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    start: usize,
    pitch: usize,
    slice: usize,
}

const HOST_TO_HOST: u32 = 0;
/// `cudaMemcpyHostToDevice`.
pub const HOST_TO_DEVICE: u32 = 1;
/// `cudaMemcpyDeviceToHost`.
pub const DEVICE_TO_HOST: u32 = 2;
/// `cudaMemcpyDeviceToDevice`.
pub const DEVICE_TO_DEVICE: u32 = 3;
/// `cudaMemcpyDefault`.
pub const DEFAULT: u32 = 4;

cuda_functions! {
    /// Copies.
    fn cudaMemcpy = cudaMemcpy_ptds (
        destination: *mut c_void,
        source: *const c_void,
        bytes: usize,
        kind: u32,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        copy(destination as usize, source as usize, bytes, kind)
    }

    /// Copies, in order of the stream.
    fn cudaMemcpyAsync = cudaMemcpyAsync_ptsz (
        destination: *mut c_void,
        source: *const c_void,
        bytes: usize,
        kind: u32,
        stream: *mut c_void,
    ) {
        let (destination, source) = (destination as usize, source as usize);
        on_stream(stream, NodeType::Copy, move || {
            streams::asynchronously(|| copy(destination, source, bytes, kind))
        })
    }

    /// Copies between devices, of which there is one.
    fn cudaMemcpyPeer(
        destination: *mut c_void,
        destination_device: i32,
        source: *const c_void,
        source_device: i32,
        bytes: usize,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        only_device(destination_device, source_device)?;
        copy(destination as usize, source as usize, bytes, DEVICE_TO_DEVICE)
    }

    /// Copies between devices, of which there is one, in order of the stream.
    fn cudaMemcpyPeerAsync(
        destination: *mut c_void,
        destination_device: i32,
        source: *const c_void,
        source_device: i32,
        bytes: usize,
        stream: *mut c_void,
    ) {
        only_device(destination_device, source_device)?;
        let (destination, source) = (destination as usize, source as usize);
        on_stream(stream, NodeType::Copy, move || copy(destination, source, bytes, DEVICE_TO_DEVICE))
    }

    /// Copies a region between devices, of which there is one.
    fn cudaMemcpy3DPeer = cudaMemcpy3DPeer_ptds (parameters: *const Copy3dPeerParameters) {
        stream::in_order(std::ptr::null_mut())?;
        // SAFETY: the program passes a structure or null.
        copy_3d(Some(&copy_of_peers(unsafe { parameters.as_ref() })?))
    }

    /// Copies a region between devices, of which there is one, in order of the stream.
    fn cudaMemcpy3DPeerAsync = cudaMemcpy3DPeerAsync_ptsz (
        parameters: *const Copy3dPeerParameters,
        stream: *mut c_void,
    ) {
        // SAFETY: as above.
        let parameters = copy_of_peers(unsafe { parameters.as_ref() })?;
        on_stream(stream, NodeType::Copy, move || copy_3d(Some(&parameters)))
    }

    /// Copies rows.
    fn cudaMemcpy2D = cudaMemcpy2D_ptds (
        destination: *mut c_void,
        destination_pitch: usize,
        source: *const c_void,
        source_pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        let destination = Region::rows(destination as usize, destination_pitch);
        let source = Region::rows(source as usize, source_pitch);
        copy_region(destination, source, Extent { width, height, depth: 1 }, kind)
    }

    /// Copies rows, in order of the stream.
    fn cudaMemcpy2DAsync = cudaMemcpy2DAsync_ptsz (
        destination: *mut c_void,
        destination_pitch: usize,
        source: *const c_void,
        source_pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
        stream: *mut c_void,
    ) {
        let destination = Region::rows(destination as usize, destination_pitch);
        let source = Region::rows(source as usize, source_pitch);
        let extent = Extent { width, height, depth: 1 };
        on_stream(stream, NodeType::Copy, move || copy_region(destination, source, extent, kind))
    }

    /// Copies slices of rows.
    fn cudaMemcpy3D = cudaMemcpy3D_ptds (parameters: *const Copy3dParameters) {
        stream::in_order(std::ptr::null_mut())?;
        // SAFETY: the program passes a structure or null.
        copy_3d(unsafe { parameters.as_ref() })
    }

    /// Copies slices of rows, in order of the stream.
    fn cudaMemcpy3DAsync = cudaMemcpy3DAsync_ptsz (
        parameters: *const Copy3dParameters,
        stream: *mut c_void,
    ) {
        // SAFETY: as above.
        let parameters = *unsafe { parameters.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        on_stream(stream, NodeType::Copy, move || copy_3d(Some(&parameters)))
    }

    /// Sets bytes.
    fn cudaMemset = cudaMemset_ptds (pointer: *mut c_void, value: i32, bytes: usize) {
        stream::in_order(std::ptr::null_mut())?;
        set(pointer as usize, value, bytes)
    }

    /// Sets bytes, in order of the stream.
    fn cudaMemsetAsync = cudaMemsetAsync_ptsz (
        pointer: *mut c_void,
        value: i32,
        bytes: usize,
        stream: *mut c_void,
    ) {
        let pointer = pointer as usize;
        on_stream(stream, NodeType::Set, move || set(pointer, value, bytes))
    }

    /// Sets rows.
    fn cudaMemset2D = cudaMemset2D_ptds (
        pointer: *mut c_void,
        pitch: usize,
        value: i32,
        width: usize,
        height: usize,
    ) {
        stream::in_order(std::ptr::null_mut())?;
        let region = Region::rows(pointer as usize, pitch);
        set_region(region, value, Extent { width, height, depth: 1 })
    }

    /// Sets rows, in order of the stream.
    fn cudaMemset2DAsync = cudaMemset2DAsync_ptsz (
        pointer: *mut c_void,
        pitch: usize,
        value: i32,
        width: usize,
        height: usize,
        stream: *mut c_void,
    ) {
        let region = Region::rows(pointer as usize, pitch);
        on_stream(stream, NodeType::Set, move || set_region(region, value, Extent { width, height, depth: 1 }))
    }

    /// Sets slices of rows.
    fn cudaMemset3D = cudaMemset3D_ptds (pointer: PitchedPointer, value: i32, extent: Extent) {
        stream::in_order(std::ptr::null_mut())?;
        set_region(Region::slices(pointer, Position { x: 0, y: 0, z: 0 }), value, extent)
    }

    /// Sets slices of rows, in order of the stream.
    fn cudaMemset3DAsync = cudaMemset3DAsync_ptsz (
        pointer: PitchedPointer,
        value: i32,
        extent: Extent,
        stream: *mut c_void,
    ) {
        let region = Region::slices(pointer, Position { x: 0, y: 0, z: 0 });
        on_stream(stream, NodeType::Set, move || set_region(region, value, extent))
    }
}

/// Runs an operation in order of a stream, or records it where the stream is captured.
pub fn on_stream(
    stream: *mut c_void,
    node_type: NodeType,
    operation: impl Fn() -> CudaResult + Clone + Send + Sync + 'static,
) -> CudaResult {
    let again = operation.clone();
    if graph::recorded(stream, node_type, move |_| again())? {
        return Ok(());
    }
    stream::in_order(stream)?;
    operation()
}

/// Copies `bytes` bytes after checking both ends against the direction and their allocations.
pub fn copy(destination: usize, source: usize, bytes: usize, kind: u32) -> CudaResult {
    let (to_device, from_device) = match kind {
        HOST_TO_HOST | DEFAULT => (false, false),
        HOST_TO_DEVICE => (true, false),
        DEVICE_TO_HOST => (false, true),
        DEVICE_TO_DEVICE => (true, true),
        _ => return Err(CudaError::INVALID_MEMCPY_DIRECTION),
    };
    if bytes == 0 {
        return Ok(());
    }
    check(destination, bytes, to_device)?;
    check(source, bytes, from_device)?;
    trace::copy(destination, source, bytes);
    check::copied(destination, source, bytes);
    // SAFETY: known ranges lie within their allocations; others are the host's, whose size only the
    // program knows.
    unsafe { std::ptr::copy(source as *const u8, destination as *mut u8, bytes) };
    Ok(())
}

impl Region {
    /// Rows at a distance of `pitch` bytes.
    pub fn rows(start: usize, pitch: usize) -> Self {
        Self::new(start, pitch, 0)
    }

    /// Rows at a distance of `pitch` bytes in slices at a distance of `slice` bytes.
    pub fn new(start: usize, pitch: usize, slice: usize) -> Self {
        Self {
            start,
            pitch,
            slice,
        }
    }

    fn slices(pointer: PitchedPointer, position: Position) -> Self {
        let slice = pointer.pitch.saturating_mul(pointer.height);
        let start = (pointer.pointer as usize)
            .wrapping_add(position.z.wrapping_mul(slice))
            .wrapping_add(position.y.wrapping_mul(pointer.pitch))
            .wrapping_add(position.x);
        Self {
            start,
            pitch: pointer.pitch,
            slice,
        }
    }

    fn row(self, slice: usize, row: usize) -> usize {
        self.start
            .wrapping_add(slice.wrapping_mul(self.slice))
            .wrapping_add(row.wrapping_mul(self.pitch))
    }

    fn holds(self, extent: Extent) -> CudaResult {
        let wide = extent.width <= self.pitch || (extent.height <= 1 && extent.depth <= 1);
        if wide {
            Ok(())
        } else {
            Err(CudaError::INVALID_PITCH_VALUE)
        }
    }
}

/// Copies the rows of one region to those of another.
pub fn copy_region(destination: Region, source: Region, extent: Extent, kind: u32) -> CudaResult {
    destination.holds(extent)?;
    source.holds(extent)?;
    for slice in 0..extent.depth {
        for row in 0..extent.height {
            copy(
                destination.row(slice, row),
                source.row(slice, row),
                extent.width,
                kind,
            )?;
        }
    }
    Ok(())
}

/// Copies a region between memory and arrays.
pub fn copy_3d(parameters: Option<&Copy3dParameters>) -> CudaResult {
    let parameters = parameters.ok_or(CudaError::INVALID_VALUE)?;
    let arrays = [parameters.source_array, parameters.destination_array];
    let mut extent = parameters.extent;
    // With an array the copy counts its texels, else bytes.
    for array in arrays.into_iter().filter(|array| !array.is_null()).take(1) {
        extent.width = extent.width.saturating_mul(texel_bytes(array)?);
    }
    let region = |array: *mut c_void, position: Position, pointer: PitchedPointer| {
        if array.is_null() {
            return Ok(Region::slices(pointer, position));
        }
        let column = position.x.saturating_mul(texel_bytes(array)?);
        array::part(array as usize, [column, position.y, position.z], extent)
    };
    let [source_array, destination_array] = arrays;
    copy_region(
        region(
            destination_array,
            parameters.destination_position,
            parameters.destination,
        )?,
        region(source_array, parameters.source_position, parameters.source)?,
        extent,
        parameters.kind,
    )
}

fn copy_of_peers(parameters: Option<&Copy3dPeerParameters>) -> CudaResult<Copy3dParameters> {
    let parameters = parameters.ok_or(CudaError::INVALID_VALUE)?;
    only_device(parameters.destination_device, parameters.source_device)?;
    Ok(Copy3dParameters {
        source_array: parameters.source_array,
        source_position: parameters.source_position,
        source: parameters.source,
        destination_array: parameters.destination_array,
        destination_position: parameters.destination_position,
        destination: parameters.destination,
        extent: parameters.extent,
        kind: DEVICE_TO_DEVICE,
    })
}

fn texel_bytes(array: *mut c_void) -> CudaResult<usize> {
    Ok(array::find(array as usize)?.image.format.bytes())
}

fn set_region(region: Region, value: i32, extent: Extent) -> CudaResult {
    region.holds(extent)?;
    for slice in 0..extent.depth {
        for row in 0..extent.height {
            set(region.row(slice, row), value, extent.width)?;
        }
    }
    Ok(())
}

fn set(pointer: usize, value: i32, bytes: usize) -> CudaResult {
    if bytes == 0 {
        return Ok(());
    }
    check(pointer, bytes, true)?;
    trace::set(pointer, bytes);
    check::filled(pointer, bytes);
    // SAFETY: the range lies within one allocation; the value is a byte, as C's memset takes it.
    unsafe { std::ptr::write_bytes(pointer as *mut u8, value as u8, bytes) };
    Ok(())
}

/// Fills `bytes` bytes with copies of `word`; the range must lie in one known allocation.
pub fn set_words(pointer: usize, word: &[u8], bytes: usize) -> CudaResult {
    if bytes == 0 {
        return Ok(());
    }
    check(pointer, bytes, true)?;
    trace::set(pointer, bytes);
    check::filled(pointer, bytes);
    for (offset, byte) in word.iter().cycle().take(bytes).enumerate() {
        // SAFETY: the range lies within one allocation.
        unsafe { ((pointer + offset) as *mut u8).write(*byte) };
    }
    Ok(())
}

fn check(pointer: usize, bytes: usize, must_be_known: bool) -> CudaResult {
    match memory::place(pointer) {
        Some(place) if bytes <= place.bytes - (pointer - place.base) => Ok(()),
        Some(_) => Err(CudaError::INVALID_VALUE),
        None if must_be_known || pointer == 0 => Err(CudaError::INVALID_VALUE),
        None => Ok(()),
    }
}

fn only_device(destination: i32, source: i32) -> CudaResult {
    if destination == 0 && source == 0 {
        Ok(())
    } else {
        Err(CudaError::INVALID_DEVICE)
    }
}
