//! The CUDA runtime.

use super::super::MemoryKind;
use super::{Action, Direction, OnStream, RuntimeCall, Size, Waiting};

/// The effect of a CUDA runtime function; `None` when the table does not have it.
pub(super) fn call(name: &str) -> Option<RuntimeCall> {
    use OnStream::{Argument as On, Waits};
    let name = name
        .strip_suffix("_ptsz")
        .or_else(|| name.strip_suffix("_ptds"))
        .unwrap_or(name);
    let allocate = |memory, bytes| Action::Allocate {
        memory,
        slot: 0,
        bytes,
    };
    let copy = |bytes, direction, stream| Action::Copy {
        destination: 0,
        source: 1,
        bytes,
        direction,
        stream,
    };
    let (action, outputs): (Action, &'static [(usize, u64)]) = match name {
        "cudaMalloc" | "cudaMallocAsync" => (allocate(MemoryKind::Device, Size::Argument(1)), &[]),
        // A pool may be of the host's memory, or of managed memory.
        "cudaMallocFromPoolAsync" => (allocate(MemoryKind::Managed, Size::Argument(1)), &[]),
        "cudaMallocPitch" => (allocate(MemoryKind::Device, Size::Unknown), &[(1, 8)]),
        "cudaMallocManaged" => (allocate(MemoryKind::Managed, Size::Argument(1)), &[]),
        "cudaMallocHost" | "cudaHostAlloc" => {
            (allocate(MemoryKind::Pinned, Size::Argument(1)), &[])
        }
        "cudaFree" | "cudaFreeAsync" | "cudaFreeHost" => (Action::Free { pointer: 0 }, &[]),
        "cudaMemcpy" => (copy(Size::Argument(2), Direction::Argument(3), Waits), &[]),
        "cudaMemcpyAsync" => (copy(Size::Argument(2), Direction::Argument(3), On(4)), &[]),
        "cudaMemcpyPeer" => (
            Action::Copy {
                destination: 0,
                source: 2,
                bytes: Size::Argument(4),
                direction: Direction::DeviceToDevice,
                stream: Waits,
            },
            &[],
        ),
        "cudaMemcpyPeerAsync" => (
            Action::Copy {
                destination: 0,
                source: 2,
                bytes: Size::Argument(4),
                direction: Direction::DeviceToDevice,
                stream: On(5),
            },
            &[],
        ),
        "cudaMemcpy2D" | "cudaMemcpy2DAsync" => (
            Action::Copy {
                destination: 0,
                source: 2,
                bytes: Size::Unknown,
                direction: Direction::Argument(6),
                stream: if name.ends_with("Async") {
                    On(7)
                } else {
                    Waits
                },
            },
            &[],
        ),
        "cudaMemcpyToSymbol" | "cudaMemcpyToSymbolAsync" => (
            Action::SymbolCopy {
                symbol: 0,
                other: 1,
                bytes: Size::Argument(2),
                offset: 3,
                to_symbol: true,
                direction: Direction::Argument(4),
                stream: if name.ends_with("Async") {
                    On(5)
                } else {
                    Waits
                },
            },
            &[],
        ),
        "cudaMemcpyFromSymbol" | "cudaMemcpyFromSymbolAsync" => (
            Action::SymbolCopy {
                symbol: 1,
                other: 0,
                bytes: Size::Argument(2),
                offset: 3,
                to_symbol: false,
                direction: Direction::Argument(4),
                stream: if name.ends_with("Async") {
                    On(5)
                } else {
                    Waits
                },
            },
            &[],
        ),
        "cudaMemset" => (
            Action::Set {
                pointer: 0,
                bytes: Size::Argument(2),
                stream: Waits,
            },
            &[],
        ),
        "cudaMemsetAsync" => (
            Action::Set {
                pointer: 0,
                bytes: Size::Argument(2),
                stream: On(3),
            },
            &[],
        ),
        "cudaMemset2D" => (
            Action::Set {
                pointer: 0,
                bytes: Size::Unknown,
                stream: Waits,
            },
            &[],
        ),
        "cudaMemset2DAsync" => (
            Action::Set {
                pointer: 0,
                bytes: Size::Unknown,
                stream: On(5),
            },
            &[],
        ),
        "cudaGetSymbolAddress" => (Action::SymbolAddress { slot: 0, symbol: 1 }, &[]),
        "cudaHostGetDevicePointer" => (Action::DeviceAddress { slot: 0, host: 1 }, &[]),
        "cudaDeviceSynchronize" | "cudaThreadSynchronize" => {
            (Action::Synchronise(Waiting::Device), &[])
        }
        "cudaStreamSynchronize" => (Action::Synchronise(Waiting::Stream(0)), &[]),
        "cudaEventSynchronize" => (Action::Synchronise(Waiting::Event), &[]),
        "cudaGetLastError"
        | "cudaPeekAtLastError"
        | "cudaGetErrorString"
        | "cudaGetErrorName"
        | "cudaFuncSetCacheConfig"
        | "cudaDeviceSetCacheConfig" => (Action::Check, &[]),
        "cudaGetDevice"
        | "cudaGetDeviceCount"
        | "cudaDriverGetVersion"
        | "cudaRuntimeGetVersion"
        | "cudaDeviceGetAttribute"
        | "cudaOccupancyMaxActiveBlocksPerMultiprocessor"
        | "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags" => (Action::Check, &[(0, 4)]),
        "cudaMemGetInfo" => (Action::Check, &[(0, 8), (1, 8)]),
        "cudaDeviceGetLimit" | "cudaGetSymbolSize" => (Action::Check, &[(0, 8)]),
        "cudaGetDeviceProperties"
        | "cudaGetDeviceProperties_v2"
        | "cudaFuncGetAttributes"
        | "cudaPointerGetAttributes" => (Action::Check, &[(0, 0)]),
        "cudaDeviceGetStreamPriorityRange" => (Action::Check, &[(0, 4), (1, 4)]),
        "cudaStreamCreate"
        | "cudaStreamCreateWithFlags"
        | "cudaStreamCreateWithPriority"
        | "cudaEventCreate"
        | "cudaEventCreateWithFlags" => (Action::StreamOperation, &[(0, 8)]),
        "cudaEventElapsedTime" | "cudaEventElapsedTime_v2" => (Action::StreamOperation, &[(0, 4)]),
        "cudaStreamDestroy"
        | "cudaStreamWaitEvent"
        | "cudaStreamQuery"
        | "cudaEventRecord"
        | "cudaEventRecordWithFlags"
        | "cudaEventQuery"
        | "cudaEventDestroy"
        | "cudaMemPrefetchAsync"
        | "cudaMemAdvise" => (Action::StreamOperation, &[]),
        "cudaSetDevice"
        | "cudaDeviceReset"
        | "cudaDeviceSetLimit"
        | "cudaFuncSetAttribute"
        | "cudaProfilerStart"
        | "cudaProfilerStop"
        | "cudaHostUnregister"
        | "cudaHostRegister"
        | "cudaSetDeviceFlags"
        | "cudaThreadExit"
        | "cudaDeviceEnablePeerAccess" => (Action::Fence, &[]),
        "cudaDeviceCanAccessPeer" => (Action::Check, &[(0, 4)]),
        "cudaGetFuncBySymbol" | "cudaGetKernel" => (Action::Handle { slot: 0, kernel: 1 }, &[]),
        "cudaLaunchKernel" => (Action::Launch { arguments: &[5] }, &[]),
        "cudaLaunchKernelExC" => (Action::Launch { arguments: &[2] }, &[]),
        // Each extent of three numbers is two operands.
        "cudaLaunchCooperativeKernel" => (Action::Launch { arguments: &[5] }, &[]),
        "cudaGetDriverEntryPoint" => (Action::Check, &[(1, 8), (3, 4)]),
        "cudaGetDriverEntryPointByVersion" => (Action::Check, &[(1, 8), (4, 4)]),
        _ => return None,
    };
    Some(RuntimeCall { action, outputs })
}
