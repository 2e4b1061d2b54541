//! What the functions that host code calls do: the CUDA runtime and the C and C++ libraries.
//!
//! Tables only. A function that is in none of them is unknown: a fence that may read and write
//! everything that ever left the module's sight.

use super::MemoryKind;

/// A number of bytes, by position of the arguments that tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The value of an argument.
    Argument(usize),
    /// Not told.
    Unknown,
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// By an argument of type `cudaMemcpyKind`.
    Argument(usize),
    /// Always device to device.
    DeviceToDevice,
}

/// Which stream a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStream {
    /// The default one, and the host waits.
    Waits,
    /// The one in an argument.
    Argument(usize),
}

/// What a call of the CUDA runtime does; numbers are positions of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes a pointer to new memory into a slot.
    Allocate {
        /// What memory.
        memory: MemoryKind,
        /// Address of the slot.
        slot: usize,
        /// Size.
        bytes: Size,
    },
    /// Frees.
    Free {
        /// The pointer.
        pointer: usize,
    },
    /// Copies.
    Copy {
        /// Where to.
        destination: usize,
        /// Where from.
        source: usize,
        /// How much.
        bytes: Size,
        /// Which way.
        direction: Direction,
        /// Which stream.
        stream: OnStream,
    },
    /// Copies to or from a device variable.
    SymbolCopy {
        /// The variable's shadow.
        symbol: usize,
        /// The other side.
        other: usize,
        /// How much.
        bytes: Size,
        /// Offset in the variable.
        offset: usize,
        /// It writes the variable.
        to_symbol: bool,
        /// Which way.
        direction: Direction,
        /// Which stream.
        stream: OnStream,
    },
    /// Fills.
    Set {
        /// Where.
        pointer: usize,
        /// How much.
        bytes: Size,
        /// Which stream.
        stream: OnStream,
    },
    /// Writes the device address of a variable into a slot.
    SymbolAddress {
        /// Address of the slot.
        slot: usize,
        /// The variable's shadow.
        symbol: usize,
    },
    /// Writes the device's address of pinned memory into a slot.
    DeviceAddress {
        /// Address of the slot.
        slot: usize,
        /// The host's address.
        host: usize,
    },
    /// Waits.
    Synchronise,
    /// Asks.
    Check,
    /// Handles streams and events.
    StreamOperation,
    /// Something that nothing may be moved across, with no effect on host memory but its outputs.
    Fence,
}

/// A call of the CUDA runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeCall {
    /// What it does.
    pub action: Action,
    /// Arguments through which it writes, other than its slot, and how many bytes (0: unknown).
    pub outputs: &'static [(usize, u64)],
}

/// The effect of a CUDA runtime function; `None` when the table does not have it.
pub fn runtime_call(name: &str) -> Option<RuntimeCall> {
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
        "cudaMalloc" | "cudaMallocAsync" | "cudaMallocFromPoolAsync" => {
            (allocate(MemoryKind::Device, Size::Argument(1)), &[])
        }
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
        "cudaDeviceSynchronize"
        | "cudaThreadSynchronize"
        | "cudaStreamSynchronize"
        | "cudaEventSynchronize" => (Action::Synchronise, &[]),
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
        _ => return None,
    };
    Some(RuntimeCall { action, outputs })
}

/// What a library function does to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryCall {
    /// It does I/O, reads a clock or leaves: a fence for the device's sake.
    pub fence: bool,
    /// Arguments that it writes through, any number of bytes.
    pub writes: &'static [usize],
    /// Arguments from this one on are written through (`scanf`).
    pub writes_from: Option<usize>,
    /// Its result is new memory.
    pub allocates: bool,
    /// Its result points where this argument points.
    pub returns_argument: Option<usize>,
    /// It throws or ends the program: always, or where memory is short.
    pub throws: bool,
}

/// The effect of a library function; `None` when the table does not have it.
pub fn library_call(name: &str) -> Option<LibraryCall> {
    let plain = LibraryCall {
        fence: false,
        writes: &[],
        writes_from: None,
        allocates: false,
        returns_argument: None,
        throws: false,
    };
    let fence = LibraryCall {
        fence: true,
        ..plain
    };
    if name == "llvm.trap" || name == "llvm.debugtrap" || name == "llvm.readcyclecounter" {
        return Some(fence);
    }
    if ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."]
        .iter()
        .any(|start| name.starts_with(start))
    {
        return Some(LibraryCall {
            writes: &[0],
            ..plain
        });
    }
    if [
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.assume",
        "llvm.experimental.noalias",
        "llvm.invariant.",
        "llvm.donothing",
    ]
    .iter()
    .any(|start| name.starts_with(start))
    {
        return Some(plain);
    }
    if [
        "_ZNSo",
        "_ZNSi",
        "_ZStls",
        "_ZStrs",
        "_ZSt16__ostream_insert",
        "_ZSt4endl",
        "_ZSt5flush",
        "_ZNSt8ios_base",
        "_ZNSt9basic_ios",
    ]
    .iter()
    .any(|start| name.starts_with(start))
    {
        return Some(LibraryCall {
            writes_from: Some(0),
            returns_argument: Some(0),
            ..fence
        });
    }
    let terminates = name == "__clang_call_terminate" || name == "_ZSt9terminatev";
    if terminates || (name.starts_with("_ZSt") && name.contains("__throw_")) {
        return Some(LibraryCall {
            throws: true,
            ..plain
        });
    }
    Some(match name {
        "malloc"
        | "calloc"
        | "aligned_alloc"
        | "memalign"
        | "valloc"
        | "strdup"
        | "_ZnwmRKSt9nothrow_t"
        | "_ZnamRKSt9nothrow_t" => LibraryCall {
            allocates: true,
            ..plain
        },
        "_Znwm" | "_Znam" | "_ZnwmSt11align_val_t" | "_ZnamSt11align_val_t" => LibraryCall {
            allocates: true,
            throws: true,
            ..plain
        },
        "free"
        | "_ZdlPv"
        | "_ZdaPv"
        | "_ZdlPvm"
        | "_ZdaPvm"
        | "_ZdlPvSt11align_val_t"
        | "_ZdlPvmSt11align_val_t"
        | "_ZdaPvSt11align_val_t" => plain,
        "memcpy" | "memmove" | "memset" | "strcpy" | "strncpy" | "strcat" | "strncat"
        | "sprintf" | "snprintf" => LibraryCall {
            writes: &[0],
            returns_argument: Some(0),
            ..plain
        },
        "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod" | "strtof" | "__isoc23_strtol"
        | "__isoc23_strtoul" | "__isoc23_strtoll" | "__isoc23_strtoull" => LibraryCall {
            writes: &[1],
            ..plain
        },
        "strlen" | "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "memcmp" | "bcmp"
        | "atoi" | "atol" | "atoll" | "atof" | "abs" | "labs" | "rand" | "srand" | "random"
        | "srandom" | "drand48" | "srand48" | "lrand48" | "mrand48" | "getenv" => plain,
        "strchr" | "strrchr" | "strstr" | "memchr" => LibraryCall {
            returns_argument: Some(0),
            ..plain
        },
        "sin" | "cos" | "tan" | "exp" | "exp2" | "expm1" | "log" | "log2" | "log10" | "log1p"
        | "pow" | "sqrt" | "cbrt" | "fabs" | "floor" | "ceil" | "round" | "lround" | "fmod"
        | "fmin" | "fmax" | "sinh" | "cosh" | "tanh" | "asin" | "acos" | "atan" | "atan2"
        | "erf" | "erfc" | "hypot" | "tgamma" | "lgamma" | "fma" | "ldexp" | "sinf" | "cosf"
        | "tanf" | "expf" | "exp2f" | "expm1f" | "logf" | "log2f" | "log10f" | "log1pf"
        | "powf" | "sqrtf" | "cbrtf" | "fabsf" | "floorf" | "ceilf" | "roundf" | "lroundf"
        | "fmodf" | "fminf" | "fmaxf" | "sinhf" | "coshf" | "tanhf" | "asinf" | "acosf"
        | "atanf" | "atan2f" | "erff" | "erfcf" | "hypotf" | "tgammaf" | "lgammaf" | "fmaf"
        | "ldexpf" => plain,
        "frexp" | "modf" | "frexpf" | "modff" => LibraryCall {
            writes: &[1],
            ..plain
        },
        "sincos" | "sincosf" => LibraryCall {
            writes: &[1, 2],
            ..plain
        },
        "posix_memalign" => LibraryCall {
            writes: &[0],
            ..fence
        },
        "printf"
        | "puts"
        | "putchar"
        | "fprintf"
        | "vprintf"
        | "vfprintf"
        | "fputs"
        | "fputc"
        | "putc"
        | "fwrite"
        | "fflush"
        | "fclose"
        | "perror"
        | "exit"
        | "_exit"
        | "abort"
        | "__assert_fail"
        | "clock"
        | "sleep"
        | "usleep"
        | "omp_get_wtime"
        | "__cxa_begin_catch"
        | "__cxa_end_catch"
        | "__cxa_allocate_exception"
        | "__cxa_throw"
        | "__cxa_rethrow"
        | "__cxa_free_exception"
        | "_Unwind_Resume"
        | "fopen"
        | "_ZNSt6chrono3_V212system_clock3nowEv"
        | "_ZNSt6chrono3_V212steady_clock3nowEv" => fence,
        "time" | "gettimeofday" | "fread" | "fgets" => LibraryCall {
            writes: if name == "gettimeofday" {
                &[0, 1]
            } else {
                &[0]
            },
            ..fence
        },
        "clock_gettime" => LibraryCall {
            writes: &[1],
            ..fence
        },
        "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => LibraryCall {
            writes_from: Some(1),
            ..fence
        },
        "fscanf" | "sscanf" | "__isoc99_fscanf" | "__isoc99_sscanf" | "__isoc23_fscanf"
        | "__isoc23_sscanf" => LibraryCall {
            writes_from: Some(2),
            ..fence
        },
        _ => return None,
    })
}

/// The prefix of a folded launch.
pub const FOLDED_LAUNCH: &str = "sirius.launch.";

/// Arguments of a folded launch before those of the kernel: site, stub, grid x and y, grid z, block
/// x and y, block z, shared bytes, stream.
pub const FOLDED_LAUNCH_HEAD: usize = 8;

/// True for functions of the CUDA runtime and driver, known or not.
pub fn is_cuda(name: &str) -> bool {
    let after = |prefix: &str| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.chars().next())
            .is_some_and(|first| first.is_ascii_uppercase())
    };
    name.starts_with(FOLDED_LAUNCH)
        || after("cuda")
        || after("cu")
        || name.starts_with("__cudaPush")
        || name.starts_with("__cudaPop")
}
