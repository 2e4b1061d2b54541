//! Device variables, named by their host shadows.

use std::ffi::c_void;

use super::super::graph::NodeType;
use super::super::{copy, store, stream};
use crate::error::{CudaError, CudaResult};
use crate::registry::{self, VariableRecord};

cuda_functions! {
    /// Copies to a variable.
    fn cudaMemcpyToSymbol = cudaMemcpyToSymbol_ptds (
        symbol: *const c_void,
        source: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        towards(kind, &TO_DEVICE)?;
        stream::in_order(std::ptr::null_mut())?;
        copy::copy(part(symbol, bytes, offset)?, source as usize, bytes, kind)
    }

    /// Copies to a variable, in order of the stream.
    fn cudaMemcpyToSymbolAsync = cudaMemcpyToSymbolAsync_ptsz (
        symbol: *const c_void,
        source: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
        stream: *mut c_void,
    ) {
        towards(kind, &TO_DEVICE)?;
        let (destination, source) = (part(symbol, bytes, offset)?, source as usize);
        copy::on_stream(stream, NodeType::Copy, move || {
            copy::copy(destination, source, bytes, kind)
        })
    }

    /// Copies from a variable.
    fn cudaMemcpyFromSymbol = cudaMemcpyFromSymbol_ptds (
        destination: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        towards(kind, &FROM_DEVICE)?;
        stream::in_order(std::ptr::null_mut())?;
        copy::copy(destination as usize, part(symbol, bytes, offset)?, bytes, kind)
    }

    /// Copies from a variable, in order of the stream.
    fn cudaMemcpyFromSymbolAsync = cudaMemcpyFromSymbolAsync_ptsz (
        destination: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
        stream: *mut c_void,
    ) {
        towards(kind, &FROM_DEVICE)?;
        let (destination, source) = (destination as usize, part(symbol, bytes, offset)?);
        copy::on_stream(stream, NodeType::Copy, move || {
            copy::copy(destination, source, bytes, kind)
        })
    }

    /// A variable's address on the device.
    fn cudaGetSymbolAddress(pointer: *mut *mut c_void, symbol: *const c_void) {
        // SAFETY: the program passes a writable address or null.
        unsafe { store(pointer, variable(symbol)?.address as *mut c_void) }
    }

    /// A variable's size.
    fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) {
        // SAFETY: as above.
        unsafe { store(bytes, variable(symbol)?.bytes) }
    }
}

/// `cudaMemcpyKind` of what comes from the host or the device, or is found out; the other way round.
const TO_DEVICE: [u32; 3] = [1, 3, 4];
const FROM_DEVICE: [u32; 3] = [2, 3, 4];

/// Errors: `cudaErrorInvalidMemcpyDirection` for a direction that leads elsewhere.
fn towards(kind: u32, kinds: &[u32]) -> CudaResult {
    match kinds.contains(&kind) {
        true => Ok(()),
        false => Err(CudaError::INVALID_MEMCPY_DIRECTION),
    }
}

fn variable(symbol: *const c_void) -> CudaResult<VariableRecord> {
    registry::variable(symbol as usize).ok_or(CudaError::INVALID_SYMBOL)
}

/// The address of a part of a variable, which must lie within it.
pub fn part(symbol: *const c_void, bytes: usize, offset: usize) -> CudaResult<usize> {
    let variable = variable(symbol)?;
    match offset.checked_add(bytes) {
        Some(end) if end <= variable.bytes => Ok(variable.address + offset),
        _ => Err(CudaError::INVALID_VALUE),
    }
}
