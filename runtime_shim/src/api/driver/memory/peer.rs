//! Other devices and other processes: there are none that share memory with this device.

use std::ffi::{c_int, c_void};

use super::super::context::{check_device, initialised, required};
use super::super::memory::{self, Copy3d};
use super::super::{DevicePointer, INVALID_CONTEXT};
use crate::api::copy;
use crate::api::graph::NodeType;
use crate::error::{CudaError, CudaResult};

/// `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED`.
const PEER_ACCESS_UNSUPPORTED: CudaError = CudaError(217);

driver_functions! {
    /// Contexts of one device reach each other's memory without that; so that there is no peer.
    fn cuCtxEnablePeerAccess(context: usize, flags: u32) {
        required()?;
        match (context, flags) {
            (0, _) => Err(INVALID_CONTEXT),
            (_, 0) => Err(PEER_ACCESS_UNSUPPORTED),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// There is no peer.
    fn cuCtxDisablePeerAccess(context: usize) {
        required()?;
        match context {
            0 => Err(INVALID_CONTEXT),
            _ => Err(CudaError::PEER_ACCESS_NOT_ENABLED),
        }
    }

    /// What links two devices, of which there is one.
    fn cuDeviceGetP2PAttribute(_value: *mut c_int, _attribute: u32, device: c_int, peer: c_int) {
        check_device(device)?;
        check_device(peer)?;
        Err(CudaError::INVALID_DEVICE)
    }

    /// Copies between contexts, whose memory is one.
    fn cuMemcpyPeer = cuMemcpyPeer_ptds (
        destination: DevicePointer,
        to: usize,
        source: DevicePointer,
        from: usize,
        bytes: usize,
    ) {
        copy_between([to, from], destination, source, bytes, std::ptr::null_mut())
    }

    /// Copies between contexts, in order of the stream.
    fn cuMemcpyPeerAsync = cuMemcpyPeerAsync_ptsz (
        destination: DevicePointer,
        to: usize,
        source: DevicePointer,
        from: usize,
        bytes: usize,
        stream: *mut c_void,
    ) {
        copy_between([to, from], destination, source, bytes, stream)
    }

    /// Copies slices of rows between contexts.
    fn cuMemcpy3DPeer = cuMemcpy3DPeer_ptds (parameters: *const Copy3d) {
        initialised()?;
        // SAFETY: the program passes a structure or null, whose contexts stand where `Copy3d` has nothing.
        memory::copy_3d_between(unsafe { parameters.as_ref() }, std::ptr::null_mut())
    }

    /// Copies slices of rows between contexts, in order of the stream.
    fn cuMemcpy3DPeerAsync = cuMemcpy3DPeerAsync_ptsz (
        parameters: *const Copy3d,
        stream: *mut c_void,
    ) {
        initialised()?;
        // SAFETY: as above.
        memory::copy_3d_between(unsafe { parameters.as_ref() }, stream)
    }

    /// Not supported: memory and events belong to one process.
    fn cuIpcGetMemHandle = cuIpcOpenMemHandle cuIpcOpenMemHandle_v2 cuIpcCloseMemHandle
        cuIpcGetEventHandle cuIpcOpenEventHandle ()
    {
        required()?;
        Err(CudaError::NOT_SUPPORTED)
    }
}

fn copy_between(
    contexts: [usize; 2],
    destination: usize,
    source: usize,
    bytes: usize,
    stream: *mut c_void,
) -> CudaResult {
    required()?;
    if contexts.contains(&0) {
        return Err(INVALID_CONTEXT);
    }
    copy::on_stream(stream, NodeType::Copy, move || {
        copy::copy(destination, source, bytes, copy::DEVICE_TO_DEVICE)
    })
}
