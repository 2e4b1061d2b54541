//! The memory effects of CUDA's host interface, so that LLVM carries host values across launches
//! and runtime calls.
//!
//! Invariant: what may wait for the device is narrowed only when no memory that the host can read is
//! written by the device behind the host's back: no managed, pinned, mapped or registered memory,
//! no host functions in streams, no host pointer handed to a kernel.
//!
//! A function without a row in [`EFFECTS`] may do anything to memory. That is safe, but for what it
//! leaves behind: a new function of the *runtime* after which both sides see the same memory must stand
//! in [`makes_visible`], where functions of the driver without a row count as such by themselves. Which
//! node of the launch graph a call is stands in `launch::calls`.

use super::super::HostVisibleMemory;
use super::super::canonicalise_host;
use super::super::launches;
use crate::llvm::{FUNCTION_ATTRIBUTES, Opcode, TypeKind, Value, parameter_attributes};
use inkwell::module::Module;

/// Which host-visible memory functions of the module may make writable by the device.
pub(in crate::program) fn host_visible_memory(module: &Module<'_>) -> HostVisibleMemory {
    if passes_host_pointer(module) {
        return HostVisibleMemory::Anything;
    }
    let made = Value::functions(module).into_iter().map(|function| {
        let name = function.name();
        match !function.users().is_empty() && makes_visible(&name) {
            false => HostVisibleMemory::Nothing,
            true if ALLOCATORS.iter().any(|start| name.starts_with(start)) => {
                HostVisibleMemory::Allocations
            }
            true => HostVisibleMemory::Anything,
        }
    });
    made.max().unwrap_or(HostVisibleMemory::Nothing)
}

/// Functions that make memory which both sides see, each piece of it by itself.
const ALLOCATORS: [&str; 3] = ["cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc"];

/// Declares the true effects of launches and of the runtime's functions.
///
/// With host-visible memory, whatever may wait for the device, and a launch itself, keeps arbitrary
/// effects on memory that others can reach; what was declared before is taken back.
pub(in crate::program) fn declare(module: &Module<'_>, host_visible_memory: bool) {
    for launch in launches::launch_functions(module) {
        if host_visible_memory {
            launch.remove_attribute(FUNCTION_ATTRIBUTES, "memory");
        } else {
            let effects = ARGUMENTS_READ | INACCESSIBLE_READ_WRITE;
            launch.add_attribute(FUNCTION_ATTRIBUTES, "memory", effects);
        }
    }
    for function in Value::functions(module) {
        if !function.is_declaration() {
            continue;
        }
        let name = function.name();
        let Some((_, memory, waits)) = effects_of(&name) else {
            if canonicalise_host::is_device_library(&name) {
                // They are functions of C.
                function.add_attribute(FUNCTION_ATTRIBUTES, "nounwind", 0);
            }
            continue;
        };
        function.add_attribute(FUNCTION_ATTRIBUTES, "nounwind", 0);
        if *waits == Waits::No {
            function.add_attribute(FUNCTION_ATTRIBUTES, "willreturn", 0);
        }
        if *waits == Waits::No || !host_visible_memory {
            function.add_attribute(
                FUNCTION_ATTRIBUTES,
                "memory",
                memory | INACCESSIBLE_READ_WRITE,
            );
        } else {
            function.remove_attribute(FUNCTION_ATTRIBUTES, "memory");
        }
        for (index, parameter) in function.value_type().parameters().iter().enumerate() {
            if parameter.kind() == TypeKind::LLVMPointerTypeKind {
                // `captures(none)`: host pointers are not kept beyond the call.
                function.add_attribute(parameter_attributes(index as u32), "captures", 0);
            }
        }
        if name == "cudaGraphAddKernelNode" {
            // It writes the handle alone.
            for only_read in [1, 2, 4].map(parameter_attributes) {
                function.add_attribute(only_read, "readonly", 0);
            }
        }
    }
}

/// The row of a function's name without what headers add.
fn effects_of(name: &str) -> Option<&'static (&'static str, u64, Waits)> {
    let name = name
        .strip_suffix("_ptsz")
        .or_else(|| name.strip_suffix("_ptds"))
        .unwrap_or(name);
    let plain = ["_v2", "_v3", "_v4"]
        .iter()
        .find_map(|version| name.strip_suffix(version))
        .unwrap_or(name);
    EFFECTS.iter().find(|(known, ..)| *known == plain)
}

/// Whether a function waits for the device, or tells that the device has finished, or works on
/// memory in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// No: the host learns nothing about the device's memory.
    No,
    /// It may.
    May,
}

// `memory(…)` in LLVM's encoding: two bits a location, 1 for read and 2 for write.
const NOTHING: u64 = 0;
const ARGUMENTS_READ: u64 = 0b01;
const ARGUMENTS_WRITE: u64 = 0b10;
const ARGUMENTS_READ_WRITE: u64 = 0b11;
pub(in crate::program) const INACCESSIBLE_READ_WRITE: u64 = 0b1100;
const OTHERS_READ: u64 = 0b0100_0000;

/// Functions with known effects: name, what they do to memory behind their arguments, and whether
/// they wait.
const EFFECTS: &[(&str, u64, Waits)] = &[
    ("cudaGetLastError", NOTHING, Waits::No),
    ("cudaPeekAtLastError", NOTHING, Waits::No),
    ("cudaGetErrorString", NOTHING, Waits::No),
    ("cudaGetErrorName", NOTHING, Waits::No),
    ("cudaMalloc", ARGUMENTS_WRITE, Waits::No),
    ("cudaMallocAsync", ARGUMENTS_WRITE, Waits::No),
    ("cudaMallocPitch", ARGUMENTS_WRITE, Waits::No),
    ("cudaFree", NOTHING, Waits::May),
    ("cudaFreeAsync", NOTHING, Waits::May),
    ("cudaMemcpy", ARGUMENTS_READ_WRITE, Waits::May),
    ("cudaMemcpyAsync", ARGUMENTS_READ_WRITE, Waits::May),
    ("cudaMemcpy2D", ARGUMENTS_READ_WRITE, Waits::May),
    ("cudaMemcpyToSymbol", ARGUMENTS_READ, Waits::May),
    ("cudaMemcpyToSymbolAsync", ARGUMENTS_READ, Waits::May),
    ("cudaMemcpyFromSymbol", ARGUMENTS_WRITE, Waits::May),
    ("cudaMemcpyFromSymbolAsync", ARGUMENTS_WRITE, Waits::May),
    ("cudaMemset", NOTHING, Waits::May),
    ("cudaMemsetAsync", NOTHING, Waits::May),
    ("cudaMemset2D", NOTHING, Waits::May),
    ("cudaDeviceSynchronize", NOTHING, Waits::May),
    ("cudaThreadSynchronize", NOTHING, Waits::May),
    ("cudaStreamSynchronize", NOTHING, Waits::May),
    ("cudaEventSynchronize", NOTHING, Waits::May),
    ("cudaEventCreate", ARGUMENTS_WRITE, Waits::No),
    ("cudaEventCreateWithFlags", ARGUMENTS_WRITE, Waits::No),
    ("cudaEventRecord", NOTHING, Waits::No),
    ("cudaEventElapsedTime", ARGUMENTS_WRITE, Waits::May),
    ("cudaEventQuery", NOTHING, Waits::May),
    ("cudaEventDestroy", NOTHING, Waits::No),
    ("cudaStreamCreate", ARGUMENTS_WRITE, Waits::No),
    ("cudaStreamCreateWithFlags", ARGUMENTS_WRITE, Waits::No),
    ("cudaStreamCreateWithPriority", ARGUMENTS_WRITE, Waits::No),
    ("cudaStreamDestroy", NOTHING, Waits::No),
    ("cudaStreamQuery", NOTHING, Waits::May),
    ("cudaStreamWaitEvent", NOTHING, Waits::No),
    ("cudaSetDevice", NOTHING, Waits::No),
    ("cudaGetDevice", ARGUMENTS_WRITE, Waits::No),
    ("cudaGetDeviceCount", ARGUMENTS_WRITE, Waits::No),
    ("cudaGetDeviceProperties", ARGUMENTS_WRITE, Waits::No),
    ("cudaDeviceGetAttribute", ARGUMENTS_WRITE, Waits::No),
    ("cudaMemGetInfo", ARGUMENTS_WRITE, Waits::No),
    ("cudaFuncSetAttribute", NOTHING, Waits::No),
    ("cudaFuncSetCacheConfig", NOTHING, Waits::No),
    // It copies the arguments, which its parameters lead to.
    (
        "cudaGraphAddKernelNode",
        ARGUMENTS_READ_WRITE | OTHERS_READ,
        Waits::No,
    ),
    ("cudaGetFuncBySymbol", ARGUMENTS_WRITE, Waits::No),
    ("cudaGetKernel", ARGUMENTS_WRITE, Waits::No),
    ("cuInit", NOTHING, Waits::No),
    ("cuDriverGetVersion", ARGUMENTS_WRITE, Waits::No),
    ("cuGetErrorName", ARGUMENTS_WRITE, Waits::No),
    ("cuGetErrorString", ARGUMENTS_WRITE, Waits::No),
    ("cuDeviceGet", ARGUMENTS_WRITE, Waits::No),
    ("cuDeviceGetCount", ARGUMENTS_WRITE, Waits::No),
    ("cuDeviceGetName", ARGUMENTS_WRITE, Waits::No),
    ("cuDeviceGetUuid", ARGUMENTS_WRITE, Waits::No),
    ("cuDeviceGetAttribute", ARGUMENTS_WRITE, Waits::No),
    ("cuDeviceTotalMem", ARGUMENTS_WRITE, Waits::No),
    ("cuDeviceComputeCapability", ARGUMENTS_WRITE, Waits::No),
    ("cuDeviceCanAccessPeer", ARGUMENTS_WRITE, Waits::No),
    ("cuDevicePrimaryCtxRetain", ARGUMENTS_WRITE, Waits::No),
    ("cuDevicePrimaryCtxRelease", NOTHING, Waits::May),
    ("cuDevicePrimaryCtxReset", NOTHING, Waits::May),
    ("cuDevicePrimaryCtxSetFlags", NOTHING, Waits::No),
    ("cuDevicePrimaryCtxGetState", ARGUMENTS_WRITE, Waits::No),
    ("cuCtxCreate", ARGUMENTS_READ_WRITE, Waits::No),
    ("cuCtxDestroy", NOTHING, Waits::May),
    ("cuCtxGetCurrent", ARGUMENTS_WRITE, Waits::No),
    ("cuCtxSetCurrent", NOTHING, Waits::No),
    ("cuCtxPushCurrent", NOTHING, Waits::No),
    ("cuCtxPopCurrent", ARGUMENTS_WRITE, Waits::No),
    ("cuCtxGetDevice", ARGUMENTS_WRITE, Waits::No),
    ("cuCtxSynchronize", NOTHING, Waits::May),
    ("cuMemAlloc", ARGUMENTS_WRITE, Waits::No),
    ("cuMemAllocAsync", ARGUMENTS_WRITE, Waits::No),
    ("cuMemAllocPitch", ARGUMENTS_WRITE, Waits::No),
    ("cuMemFree", NOTHING, Waits::May),
    ("cuMemFreeAsync", NOTHING, Waits::May),
    ("cuMemGetInfo", ARGUMENTS_WRITE, Waits::No),
    ("cuMemGetAddressRange", ARGUMENTS_WRITE, Waits::No),
    ("cuMemcpyHtoD", ARGUMENTS_READ, Waits::May),
    ("cuMemcpyHtoDAsync", ARGUMENTS_READ, Waits::May),
    ("cuMemcpyDtoH", ARGUMENTS_WRITE, Waits::May),
    ("cuMemcpyDtoHAsync", ARGUMENTS_WRITE, Waits::May),
    ("cuMemcpyDtoD", NOTHING, Waits::May),
    ("cuMemcpyDtoDAsync", NOTHING, Waits::May),
    ("cuMemsetD8", NOTHING, Waits::May),
    ("cuMemsetD8Async", NOTHING, Waits::May),
    ("cuMemsetD16", NOTHING, Waits::May),
    ("cuMemsetD16Async", NOTHING, Waits::May),
    ("cuMemsetD32", NOTHING, Waits::May),
    ("cuMemsetD32Async", NOTHING, Waits::May),
    ("cuMemsetD2D8", NOTHING, Waits::May),
    ("cuMemsetD2D16", NOTHING, Waits::May),
    ("cuMemsetD2D32", NOTHING, Waits::May),
    ("cuPointerGetAttribute", ARGUMENTS_WRITE, Waits::No),
    ("cuStreamCreate", ARGUMENTS_WRITE, Waits::No),
    ("cuStreamCreateWithPriority", ARGUMENTS_WRITE, Waits::No),
    ("cuStreamDestroy", NOTHING, Waits::No),
    ("cuStreamSynchronize", NOTHING, Waits::May),
    ("cuStreamQuery", NOTHING, Waits::May),
    ("cuStreamWaitEvent", NOTHING, Waits::No),
    ("cuEventCreate", ARGUMENTS_WRITE, Waits::No),
    ("cuEventDestroy", NOTHING, Waits::No),
    ("cuEventRecord", NOTHING, Waits::No),
    ("cuEventQuery", NOTHING, Waits::May),
    ("cuEventSynchronize", NOTHING, Waits::May),
    ("cuEventElapsedTime", ARGUMENTS_WRITE, Waits::May),
    ("cuFuncGetAttribute", ARGUMENTS_WRITE, Waits::No),
    ("cuFuncSetAttribute", NOTHING, Waits::No),
    ("cuFuncSetCacheConfig", NOTHING, Waits::No),
    ("cuModuleGetFunction", ARGUMENTS_READ_WRITE, Waits::No),
    (
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        ARGUMENTS_WRITE,
        Waits::No,
    ),
];

/// Driver functions whose effects are not declared, after which the host still sees nothing of what the
/// device writes.
const QUIET_DRIVER_FUNCTIONS: [&str; 16] = [
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel",
    "cuMemcpy",
    "cuMemcpyAsync",
    "cuMemcpy2D",
    "cuMemcpy2DAsync",
    "cuMemcpy2DUnaligned",
    "cuMemcpy3D",
    "cuMemcpy3DAsync",
    "cuModuleLoad",
    "cuModuleLoadData",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuKernelGetFunction",
    "cuOccupancyMaxPotentialBlockSize",
];

/// The names of functions after which a kernel, a copy or a host function in a stream may change
/// memory that the host reads: of the driver's, all that are not known to be harmless.
fn makes_visible(name: &str) -> bool {
    const MARKS: [&str; 22] = [
        // What a library that is loaded later allocates.
        "dlsym",
        "dlvsym",
        "cudaGetDriverEntryPoint",
        "cudaLibraryGet",
        "cudaMallocManaged",
        "cudaMallocHost",
        "cudaHostAlloc",
        "cudaHostRegister",
        "cudaHostGetDevicePointer",
        // Pools may be of the host's memory, whoever has made them.
        "cudaMallocFromPoolAsync",
        "cudaMemPoolCreate",
        "cudaMemPoolImport",
        "cudaMemGetDefaultMemPool",
        "cudaMemGetMemPool",
        "cudaImportExternalMemory",
        "cudaIpc",
        "cudaExternalMemory",
        "cudaGraphics",
        "cudaLaunchHostFunc",
        "cudaStreamAddCallback",
        "cudaGraph",
        "__cudaRegisterManagedVar",
    ];
    let driver = name
        .strip_prefix("cu")
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()));
    let plain = name.strip_suffix("_ptsz").unwrap_or(name);
    let plain = plain.strip_suffix("_ptds").unwrap_or(plain);
    let plain = plain.strip_suffix("_v2").unwrap_or(plain);
    let known = effects_of(name).is_some() || QUIET_DRIVER_FUNCTIONS.contains(&plain);
    driver && !known || MARKS.iter().any(|mark| name.starts_with(mark))
}

/// A pointer into host memory is an argument of a launch: the device could only use it where the
/// host's pages are visible to it.
fn passes_host_pointer(module: &Module<'_>) -> bool {
    launches::sites(module).into_iter().any(|launch| {
        let by_value: Vec<_> = launch.called_function().map_or(Vec::new(), |called| {
            (0..called.parameters().len() as u32)
                .map(|index| called.by_value(index).is_some())
                .collect()
        });
        launch
            .call_arguments()
            .into_iter()
            .enumerate()
            .skip(launches::CONFIGURATION_PARAMETERS as usize)
            .any(|(index, argument)| !by_value[index] && is_host_memory(argument, 8))
    })
}

fn is_host_memory(value: Value, depth: usize) -> bool {
    if depth == 0 || value.ty().kind() != TypeKind::LLVMPointerTypeKind {
        return false;
    }
    if value.is_global_variable() {
        return true;
    }
    match value.opcode() {
        Some(Opcode::LLVMAlloca) => true,
        Some(Opcode::LLVMGetElementPtr | Opcode::LLVMPHI | Opcode::LLVMSelect) => value
            .operands()
            .into_iter()
            .any(|operand| is_host_memory(operand, depth - 1)),
        Some(Opcode::LLVMCall | Opcode::LLVMInvoke) => value
            .called_name()
            .is_some_and(|name| HOST_ALLOCATORS.contains(&name.as_str())),
        _ => false,
    }
}

/// Functions that return host memory.
const HOST_ALLOCATORS: [&str; 9] = [
    "malloc",
    "calloc",
    "realloc",
    "aligned_alloc",
    "mmap",
    "_Znwm",
    "_Znam",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
];
