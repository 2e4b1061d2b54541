//! The CUDA driver. Device pointers travel as 64-bit integers.

use super::super::MemoryKind;
use super::{Action, Direction, OnStream, RuntimeCall, Size, Waiting};

/// The effect of a function of the CUDA driver; `None` when the table does not have it.
pub(super) fn call(name: &str) -> Option<RuntimeCall> {
    use OnStream::{Argument as On, Waits};
    let name = unversioned(name);
    let allocate = |memory, bytes| Action::Allocate {
        memory,
        slot: 0,
        bytes,
    };
    let copy = |direction, stream| Action::Copy {
        destination: 0,
        source: 1,
        bytes: Size::Argument(2),
        direction,
        stream,
    };
    let set = |element_bytes, stream| Action::Set {
        pointer: 0,
        bytes: Size::Elements(2, element_bytes),
        stream,
    };
    let set_rows = |stream| Action::Set {
        pointer: 0,
        bytes: Size::Unknown,
        stream,
    };
    let (action, outputs): (Action, &'static [(usize, u64)]) = match name {
        "cuMemAlloc" | "cuMemAllocAsync" => (allocate(MemoryKind::Device, Size::Argument(1)), &[]),
        // A pool may be of the host's memory, or of managed memory.
        "cuMemAllocFromPoolAsync" => (allocate(MemoryKind::Managed, Size::Argument(1)), &[]),
        "cuMemAllocPitch" => (allocate(MemoryKind::Device, Size::Unknown), &[(1, 8)]),
        "cuMemAllocManaged" => (allocate(MemoryKind::Managed, Size::Argument(1)), &[]),
        "cuMemAllocHost" | "cuMemHostAlloc" => {
            (allocate(MemoryKind::Pinned, Size::Argument(1)), &[])
        }
        "cuMemFree" | "cuMemFreeAsync" | "cuMemFreeHost" => (Action::Free { pointer: 0 }, &[]),
        "cuMemcpy" => (copy(Direction::Unknown, Waits), &[]),
        "cuMemcpyAsync" => (copy(Direction::Unknown, On(3)), &[]),
        "cuMemcpyHtoD" => (copy(Direction::HostToDevice, Waits), &[]),
        "cuMemcpyHtoDAsync" => (copy(Direction::HostToDevice, On(3)), &[]),
        "cuMemcpyDtoH" => (copy(Direction::DeviceToHost, Waits), &[]),
        "cuMemcpyDtoHAsync" => (copy(Direction::DeviceToHost, On(3)), &[]),
        "cuMemcpyDtoD" => (copy(Direction::DeviceToDevice, Waits), &[]),
        "cuMemcpyDtoDAsync" => (copy(Direction::DeviceToDevice, On(3)), &[]),
        "cuMemsetD8" => (set(1, Waits), &[]),
        "cuMemsetD8Async" => (set(1, On(3)), &[]),
        "cuMemsetD16" => (set(2, Waits), &[]),
        "cuMemsetD16Async" => (set(2, On(3)), &[]),
        "cuMemsetD32" => (set(4, Waits), &[]),
        "cuMemsetD32Async" => (set(4, On(3)), &[]),
        "cuMemsetD2D8" | "cuMemsetD2D16" | "cuMemsetD2D32" => (set_rows(Waits), &[]),
        "cuMemHostGetDevicePointer" => (Action::DeviceAddress { slot: 0, host: 1 }, &[]),
        "cuKernelGetFunction" => (Action::Handle { slot: 0, kernel: 1 }, &[]),
        "cuLaunchKernel" => (
            Action::Launch {
                arguments: &[9, 10],
            },
            &[],
        ),
        "cuLaunchKernelEx" => (Action::Launch { arguments: &[2, 3] }, &[]),
        "cuLaunchCooperativeKernel" => (Action::Launch { arguments: &[9] }, &[]),
        "cuCtxSynchronize" => (Action::Synchronise(Waiting::Device), &[]),
        "cuStreamSynchronize" => (Action::Synchronise(Waiting::Stream(0)), &[]),
        "cuEventSynchronize" => (Action::Synchronise(Waiting::Event), &[]),
        "cuInit"
        | "cuFuncSetCacheConfig"
        | "cuFuncSetSharedMemConfig"
        | "cuCtxSetCacheConfig"
        | "cuCtxSetSharedMemConfig" => (Action::Check, &[]),
        "cuDriverGetVersion"
        | "cuDeviceGet"
        | "cuDeviceGetCount"
        | "cuDeviceGetAttribute"
        | "cuDeviceCanAccessPeer"
        | "cuCtxGetDevice"
        | "cuCtxGetFlags"
        | "cuFuncGetAttribute"
        | "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        | "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags" => (Action::Check, &[(0, 4)]),
        "cuDeviceComputeCapability" | "cuCtxGetStreamPriorityRange" => {
            (Action::Check, &[(0, 4), (1, 4)])
        }
        "cuDeviceTotalMem" | "cuCtxGetCurrent" | "cuCtxGetLimit" | "cuFuncGetName" => {
            (Action::Check, &[(0, 8)])
        }
        "cuGetErrorName" | "cuGetErrorString" => (Action::Check, &[(1, 8)]),
        "cuMemGetInfo" | "cuMemGetAddressRange" => (Action::Check, &[(0, 8), (1, 8)]),
        "cuDeviceGetName" | "cuDeviceGetUuid" | "cuPointerGetAttribute" => {
            (Action::Check, &[(0, 0)])
        }
        "cuModuleGetFunction" | "cuLibraryGetKernel" => (Action::Check, &[(0, 8)]),
        "cuModuleGetGlobal" | "cuLibraryGetGlobal" | "cuLibraryGetManaged" => {
            (Action::Check, &[(0, 8), (1, 8)])
        }
        "cuGetProcAddress" => (Action::Check, &[(1, 8), (4, 4)]),
        "cuStreamCreate" | "cuStreamCreateWithPriority" | "cuEventCreate" => {
            (Action::StreamOperation, &[(0, 8)])
        }
        "cuEventElapsedTime" => (Action::StreamOperation, &[(0, 4)]),
        "cuStreamDestroy"
        | "cuStreamWaitEvent"
        | "cuStreamQuery"
        | "cuEventRecord"
        | "cuEventRecordWithFlags"
        | "cuEventQuery"
        | "cuEventDestroy"
        | "cuMemPrefetchAsync"
        | "cuMemAdvise" => (Action::StreamOperation, &[]),
        "cuDevicePrimaryCtxRetain"
        | "cuCtxCreate"
        | "cuCtxPopCurrent"
        | "cuModuleLoad"
        | "cuModuleLoadData"
        | "cuModuleLoadDataEx"
        | "cuModuleLoadFatBinary" => (Action::Fence, &[(0, 8)]),
        "cuDevicePrimaryCtxRelease"
        | "cuDevicePrimaryCtxReset"
        | "cuDevicePrimaryCtxSetFlags"
        | "cuCtxSetCurrent"
        | "cuCtxPushCurrent"
        | "cuCtxDestroy"
        | "cuCtxSetLimit"
        | "cuFuncSetAttribute"
        | "cuModuleUnload"
        | "cuMemHostRegister"
        | "cuMemHostUnregister"
        | "cuProfilerStart"
        | "cuProfilerStop" => (Action::Fence, &[]),
        _ => return None,
    };
    Some(RuntimeCall { action, outputs })
}

/// The name without what headers add for a default stream of each thread and for new versions.
/// `cuCtxCreate_v3` and its like differ in their inputs only.
fn unversioned(name: &str) -> &str {
    let name = name
        .strip_suffix("_ptsz")
        .or_else(|| name.strip_suffix("_ptds"))
        .unwrap_or(name);
    ["_v2", "_v3", "_v4"]
        .iter()
        .find_map(|version| name.strip_suffix(version))
        .unwrap_or(name)
}
