//! CUDA's error codes: numbers, names, descriptions, and which error a thread saw last.
//!
//! Invariant: after a kernel failed (assert, trap) every call returns that error until
//! `cudaDeviceReset`, as on a device whose context is lost; all other errors are forgotten once read.

use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// An error other than `cudaSuccess`, by its number in CUDA 13.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaError(pub u32);

/// What a runtime call comes to.
pub type CudaResult<T = ()> = Result<T, CudaError>;

impl CudaError {
    /// `cudaErrorInvalidValue`.
    pub const INVALID_VALUE: Self = Self(1);
    /// `cudaErrorMemoryAllocation`.
    pub const MEMORY_ALLOCATION: Self = Self(2);
    /// `cudaErrorInvalidPitchValue`.
    pub const INVALID_PITCH_VALUE: Self = Self(12);
    /// `cudaErrorInvalidSymbol`.
    pub const INVALID_SYMBOL: Self = Self(13);
    /// `cudaErrorInvalidChannelDescriptor`.
    pub const INVALID_CHANNEL_DESCRIPTOR: Self = Self(20);
    /// `cudaErrorInvalidMemcpyDirection`.
    pub const INVALID_MEMCPY_DIRECTION: Self = Self(21);
    /// `cudaErrorInvalidFilterSetting`.
    pub const INVALID_FILTER_SETTING: Self = Self(26);
    /// `cudaErrorInvalidNormSetting`.
    pub const INVALID_NORM_SETTING: Self = Self(27);
    /// `cudaErrorMissingConfiguration`.
    pub const MISSING_CONFIGURATION: Self = Self(52);
    /// `cudaErrorInvalidDevice`.
    pub const INVALID_DEVICE: Self = Self(101);
    /// `cudaErrorUnsupportedLimit`.
    pub const UNSUPPORTED_LIMIT: Self = Self(215);
    /// `cudaErrorPeerAccessUnsupported`.
    pub const PEER_ACCESS_UNSUPPORTED: Self = Self(217);
    /// `cudaErrorInvalidResourceHandle`.
    pub const INVALID_RESOURCE_HANDLE: Self = Self(400);
    /// `cudaErrorLaunchOutOfResources`.
    pub const LAUNCH_OUT_OF_RESOURCES: Self = Self(701);
    /// `cudaErrorPeerAccessNotEnabled`.
    pub const PEER_ACCESS_NOT_ENABLED: Self = Self(705);
    /// `cudaErrorAssert`.
    pub const ASSERT: Self = Self(710);
    /// `cudaErrorHostMemoryAlreadyRegistered`.
    pub const HOST_MEMORY_ALREADY_REGISTERED: Self = Self(712);
    /// `cudaErrorHostMemoryNotRegistered`.
    pub const HOST_MEMORY_NOT_REGISTERED: Self = Self(713);
    /// `cudaErrorLaunchFailure`.
    pub const LAUNCH_FAILURE: Self = Self(719);
    /// `cudaErrorCooperativeLaunchTooLarge`.
    pub const COOPERATIVE_LAUNCH_TOO_LARGE: Self = Self(720);
    /// `cudaErrorNotSupported`.
    pub const NOT_SUPPORTED: Self = Self(801);
    /// `cudaErrorInvalidClusterSize`.
    pub const INVALID_CLUSTER_SIZE: Self = Self(912);
}

/// Runs the body of a runtime call: a lost context answers for it, and its error becomes this
/// thread's last error. Returns the number that the C function returns.
pub fn runtime_call(body: impl FnOnce() -> CudaResult) -> u32 {
    set_initialised();
    if !CONTEXT_IS_CURRENT.get() {
        RUNTIME_IS_USED.set(true);
    }
    let result = match device_failure() {
        Some(failure) => Err(failure),
        None => body(),
    };
    match result {
        Ok(()) => 0,
        Err(error) => {
            LAST_ERROR.set(error.0);
            error.0
        }
    }
}

/// Runs what is not a call of the runtime and may make such calls: the thread's last error stays as
/// it is, and the thread counts as a user of the runtime only if it was one.
pub fn beside_the_runtime<T>(body: impl FnOnce() -> T) -> T {
    let (last, used) = (LAST_ERROR.get(), RUNTIME_IS_USED.get());
    let result = body();
    LAST_ERROR.set(last);
    RUNTIME_IS_USED.set(used);
    result
}

/// Whether `cuInit` or a function of the runtime was called.
pub fn is_initialised() -> bool {
    INITIALISED.load(Ordering::Relaxed)
}

/// What `cuInit` does.
pub fn set_initialised() {
    INITIALISED.store(true, Ordering::Relaxed);
}

/// Tells whether the driver's interface has made a context current on this thread, in which the runtime
/// then works.
pub fn set_context_is_current(is_current: bool) {
    CONTEXT_IS_CURRENT.set(is_current);
}

/// Whether this thread has called the runtime without a context, so that the runtime's is current.
pub fn runtime_is_used() -> bool {
    RUNTIME_IS_USED.get()
}

/// The error that a kernel left behind, if one failed.
pub fn device_failure() -> Option<CudaError> {
    match DEVICE_FAILURE.load(Ordering::Acquire) {
        0 => None,
        code => Some(CudaError(code)),
    }
}

/// Records that a kernel failed; the first failure stays.
pub fn set_device_failure(error: CudaError) {
    let _ = DEVICE_FAILURE.compare_exchange(0, error.0, Ordering::AcqRel, Ordering::Acquire);
}

/// Forgets a kernel's failure (`cudaDeviceReset`).
pub fn clear_device_failure() {
    DEVICE_FAILURE.store(0, Ordering::Release);
    RESETS.fetch_add(1, Ordering::AcqRel);
    LAST_ERROR.set(0);
}

/// How often the device began anew. What a kernel that failed has left in memory of its own kind is there still.
pub fn resets() -> u64 {
    RESETS.load(Ordering::Acquire)
}

static RESETS: AtomicU64 = AtomicU64::new(0);

/// This thread's last error, 0 when there is none.
pub fn last_error() -> u32 {
    device_failure().map_or_else(|| LAST_ERROR.get(), |failure| failure.0)
}

/// This thread's last error, which is forgotten unless a kernel failed.
pub fn take_last_error() -> u32 {
    let error = last_error();
    LAST_ERROR.set(0);
    error
}

/// `cudaGetErrorName`'s text.
pub fn name(code: u32) -> &'static CStr {
    row(code).map_or(c"unrecognized error code", |row| row.1)
}

/// `cudaGetErrorString`'s text.
pub fn description(code: u32) -> &'static CStr {
    row(code).map_or(c"unrecognized error code", |row| row.2)
}

static INITIALISED: AtomicBool = AtomicBool::new(false);

static DEVICE_FAILURE: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static LAST_ERROR: Cell<u32> = const { Cell::new(0) };
    static RUNTIME_IS_USED: Cell<bool> = const { Cell::new(false) };
    static CONTEXT_IS_CURRENT: Cell<bool> = const { Cell::new(false) };
}

fn row(code: u32) -> Option<&'static (u32, &'static CStr, &'static CStr)> {
    ERRORS
        .binary_search_by_key(&code, |row| row.0)
        .ok()
        .map(|index| &ERRORS[index])
}

/// Number, name and description, ascending.
const ERRORS: &[(u32, &CStr, &CStr)] = &[
    (0, c"cudaSuccess", c"no error"),
    (1, c"cudaErrorInvalidValue", c"invalid argument"),
    (2, c"cudaErrorMemoryAllocation", c"out of memory"),
    (3, c"cudaErrorInitializationError", c"initialization error"),
    (4, c"cudaErrorCudartUnloading", c"driver shutting down"),
    (5, c"cudaErrorProfilerDisabled", c"profiler disabled"),
    (
        6,
        c"cudaErrorProfilerNotInitialized",
        c"profiler not initialized",
    ),
    (
        7,
        c"cudaErrorProfilerAlreadyStarted",
        c"profiler already started",
    ),
    (
        8,
        c"cudaErrorProfilerAlreadyStopped",
        c"profiler already stopped",
    ),
    (
        9,
        c"cudaErrorInvalidConfiguration",
        c"invalid configuration argument",
    ),
    (10, c"cudaErrorVersionTranslation", c"version translation"),
    (12, c"cudaErrorInvalidPitchValue", c"invalid pitch argument"),
    (13, c"cudaErrorInvalidSymbol", c"invalid device symbol"),
    (16, c"cudaErrorInvalidHostPointer", c"invalid host pointer"),
    (
        17,
        c"cudaErrorInvalidDevicePointer",
        c"invalid device pointer",
    ),
    (18, c"cudaErrorInvalidTexture", c"invalid texture"),
    (
        19,
        c"cudaErrorInvalidTextureBinding",
        c"invalid texture binding",
    ),
    (
        20,
        c"cudaErrorInvalidChannelDescriptor",
        c"invalid channel descriptor",
    ),
    (
        21,
        c"cudaErrorInvalidMemcpyDirection",
        c"invalid copy direction for memcpy",
    ),
    (22, c"cudaErrorAddressOfConstant", c"address of constant"),
    (23, c"cudaErrorTextureFetchFailed", c"texture fetch failed"),
    (24, c"cudaErrorTextureNotBound", c"texture not bound"),
    (
        25,
        c"cudaErrorSynchronizationError",
        c"synchronization error",
    ),
    (
        26,
        c"cudaErrorInvalidFilterSetting",
        c"invalid filter setting",
    ),
    (27, c"cudaErrorInvalidNormSetting", c"invalid norm setting"),
    (
        28,
        c"cudaErrorMixedDeviceExecution",
        c"mixed device execution",
    ),
    (31, c"cudaErrorNotYetImplemented", c"not yet implemented"),
    (
        32,
        c"cudaErrorMemoryValueTooLarge",
        c"memory value too large",
    ),
    (34, c"cudaErrorStubLibrary", c"stub library"),
    (
        35,
        c"cudaErrorInsufficientDriver",
        c"CUDA driver version is insufficient for CUDA runtime version",
    ),
    (
        36,
        c"cudaErrorCallRequiresNewerDriver",
        c"call requires newer driver",
    ),
    (37, c"cudaErrorInvalidSurface", c"invalid surface"),
    (
        43,
        c"cudaErrorDuplicateVariableName",
        c"duplicate variable name",
    ),
    (
        44,
        c"cudaErrorDuplicateTextureName",
        c"duplicate texture name",
    ),
    (
        45,
        c"cudaErrorDuplicateSurfaceName",
        c"duplicate surface name",
    ),
    (46, c"cudaErrorDevicesUnavailable", c"devices unavailable"),
    (
        49,
        c"cudaErrorIncompatibleDriverContext",
        c"incompatible driver context",
    ),
    (
        52,
        c"cudaErrorMissingConfiguration",
        c"__global__ function call is not configured",
    ),
    (53, c"cudaErrorPriorLaunchFailure", c"prior launch failure"),
    (
        65,
        c"cudaErrorLaunchMaxDepthExceeded",
        c"launch max depth exceeded",
    ),
    (
        66,
        c"cudaErrorLaunchFileScopedTex",
        c"launch file scoped tex",
    ),
    (
        67,
        c"cudaErrorLaunchFileScopedSurf",
        c"launch file scoped surf",
    ),
    (68, c"cudaErrorSyncDepthExceeded", c"sync depth exceeded"),
    (
        69,
        c"cudaErrorLaunchPendingCountExceeded",
        c"launch pending count exceeded",
    ),
    (
        98,
        c"cudaErrorInvalidDeviceFunction",
        c"invalid device function",
    ),
    (
        100,
        c"cudaErrorNoDevice",
        c"no CUDA-capable device is detected",
    ),
    (101, c"cudaErrorInvalidDevice", c"invalid device ordinal"),
    (102, c"cudaErrorDeviceNotLicensed", c"device not licensed"),
    (
        103,
        c"cudaErrorSoftwareValidityNotEstablished",
        c"software validity not established",
    ),
    (127, c"cudaErrorStartupFailure", c"startup failure"),
    (
        200,
        c"cudaErrorInvalidKernelImage",
        c"device kernel image is invalid",
    ),
    (
        201,
        c"cudaErrorDeviceUninitialized",
        c"invalid device context",
    ),
    (
        205,
        c"cudaErrorMapBufferObjectFailed",
        c"map buffer object failed",
    ),
    (
        206,
        c"cudaErrorUnmapBufferObjectFailed",
        c"unmap buffer object failed",
    ),
    (207, c"cudaErrorArrayIsMapped", c"array is mapped"),
    (208, c"cudaErrorAlreadyMapped", c"already mapped"),
    (
        209,
        c"cudaErrorNoKernelImageForDevice",
        c"no kernel image is available for execution on the device",
    ),
    (210, c"cudaErrorAlreadyAcquired", c"already acquired"),
    (211, c"cudaErrorNotMapped", c"not mapped"),
    (212, c"cudaErrorNotMappedAsArray", c"not mapped as array"),
    (
        213,
        c"cudaErrorNotMappedAsPointer",
        c"not mapped as pointer",
    ),
    (214, c"cudaErrorECCUncorrectable", c"ecc uncorrectable"),
    (
        215,
        c"cudaErrorUnsupportedLimit",
        c"limit is not supported on this architecture",
    ),
    (
        216,
        c"cudaErrorDeviceAlreadyInUse",
        c"device already in use",
    ),
    (
        217,
        c"cudaErrorPeerAccessUnsupported",
        c"peer access is not supported between these two devices",
    ),
    (218, c"cudaErrorInvalidPtx", c"invalid ptx"),
    (
        219,
        c"cudaErrorInvalidGraphicsContext",
        c"invalid graphics context",
    ),
    (
        220,
        c"cudaErrorNvlinkUncorrectable",
        c"nvlink uncorrectable",
    ),
    (
        221,
        c"cudaErrorJitCompilerNotFound",
        c"jit compiler not found",
    ),
    (
        222,
        c"cudaErrorUnsupportedPtxVersion",
        c"unsupported ptx version",
    ),
    (
        223,
        c"cudaErrorJitCompilationDisabled",
        c"jit compilation disabled",
    ),
    (
        224,
        c"cudaErrorUnsupportedExecAffinity",
        c"unsupported exec affinity",
    ),
    (
        225,
        c"cudaErrorUnsupportedDevSideSync",
        c"unsupported dev side sync",
    ),
    (226, c"cudaErrorContained", c"contained"),
    (
        227,
        c"cudaErrorInsufficientLoaderVersion",
        c"insufficient loader version",
    ),
    (300, c"cudaErrorInvalidSource", c"invalid source"),
    (301, c"cudaErrorFileNotFound", c"file not found"),
    (
        302,
        c"cudaErrorSharedObjectSymbolNotFound",
        c"shared object symbol not found",
    ),
    (
        303,
        c"cudaErrorSharedObjectInitFailed",
        c"shared object init failed",
    ),
    (304, c"cudaErrorOperatingSystem", c"operating system"),
    (
        400,
        c"cudaErrorInvalidResourceHandle",
        c"invalid resource handle",
    ),
    (
        401,
        c"cudaErrorIllegalState",
        c"the operation cannot be performed in the present state",
    ),
    (402, c"cudaErrorLossyQuery", c"lossy query"),
    (500, c"cudaErrorSymbolNotFound", c"named symbol not found"),
    (600, c"cudaErrorNotReady", c"device not ready"),
    (
        700,
        c"cudaErrorIllegalAddress",
        c"an illegal memory access was encountered",
    ),
    (
        701,
        c"cudaErrorLaunchOutOfResources",
        c"too many resources requested for launch",
    ),
    (
        702,
        c"cudaErrorLaunchTimeout",
        c"the launch timed out and was terminated",
    ),
    (
        703,
        c"cudaErrorLaunchIncompatibleTexturing",
        c"launch incompatible texturing",
    ),
    (
        704,
        c"cudaErrorPeerAccessAlreadyEnabled",
        c"peer access is already enabled",
    ),
    (
        705,
        c"cudaErrorPeerAccessNotEnabled",
        c"peer access has not been enabled",
    ),
    (
        708,
        c"cudaErrorSetOnActiveProcess",
        c"cannot set while device is active in this process",
    ),
    (709, c"cudaErrorContextIsDestroyed", c"context is destroyed"),
    (710, c"cudaErrorAssert", c"device-side assert triggered"),
    (711, c"cudaErrorTooManyPeers", c"too many peers"),
    (
        712,
        c"cudaErrorHostMemoryAlreadyRegistered",
        c"part or all of the requested memory range is already mapped",
    ),
    (
        713,
        c"cudaErrorHostMemoryNotRegistered",
        c"pointer does not correspond to a registered memory region",
    ),
    (714, c"cudaErrorHardwareStackError", c"hardware stack error"),
    (
        715,
        c"cudaErrorIllegalInstruction",
        c"an illegal instruction was encountered",
    ),
    (716, c"cudaErrorMisalignedAddress", c"misaligned address"),
    (
        717,
        c"cudaErrorInvalidAddressSpace",
        c"operation not supported on global/shared address space",
    ),
    (718, c"cudaErrorInvalidPc", c"invalid program counter"),
    (
        719,
        c"cudaErrorLaunchFailure",
        c"unspecified launch failure",
    ),
    (
        720,
        c"cudaErrorCooperativeLaunchTooLarge",
        c"too many blocks in cooperative launch",
    ),
    (721, c"cudaErrorTensorMemoryLeak", c"tensor memory leak"),
    (800, c"cudaErrorNotPermitted", c"operation not permitted"),
    (801, c"cudaErrorNotSupported", c"operation not supported"),
    (
        802,
        c"cudaErrorSystemNotReady",
        c"system not yet initialized",
    ),
    (
        803,
        c"cudaErrorSystemDriverMismatch",
        c"system driver mismatch",
    ),
    (
        804,
        c"cudaErrorCompatNotSupportedOnDevice",
        c"compat not supported on device",
    ),
    (
        805,
        c"cudaErrorMpsConnectionFailed",
        c"mps connection failed",
    ),
    (806, c"cudaErrorMpsRpcFailure", c"mps rpc failure"),
    (807, c"cudaErrorMpsServerNotReady", c"mps server not ready"),
    (
        808,
        c"cudaErrorMpsMaxClientsReached",
        c"mps max clients reached",
    ),
    (
        809,
        c"cudaErrorMpsMaxConnectionsReached",
        c"mps max connections reached",
    ),
    (
        810,
        c"cudaErrorMpsClientTerminated",
        c"mps client terminated",
    ),
    (811, c"cudaErrorCdpNotSupported", c"cdp not supported"),
    (812, c"cudaErrorCdpVersionMismatch", c"cdp version mismatch"),
    (
        900,
        c"cudaErrorStreamCaptureUnsupported",
        c"operation not permitted when stream is capturing",
    ),
    (
        901,
        c"cudaErrorStreamCaptureInvalidated",
        c"stream capture invalidated",
    ),
    (902, c"cudaErrorStreamCaptureMerge", c"stream capture merge"),
    (
        903,
        c"cudaErrorStreamCaptureUnmatched",
        c"stream capture unmatched",
    ),
    (
        904,
        c"cudaErrorStreamCaptureUnjoined",
        c"stream capture unjoined",
    ),
    (
        905,
        c"cudaErrorStreamCaptureIsolation",
        c"stream capture isolation",
    ),
    (
        906,
        c"cudaErrorStreamCaptureImplicit",
        c"stream capture implicit",
    ),
    (907, c"cudaErrorCapturedEvent", c"captured event"),
    (
        908,
        c"cudaErrorStreamCaptureWrongThread",
        c"stream capture wrong thread",
    ),
    (909, c"cudaErrorTimeout", c"timeout"),
    (
        910,
        c"cudaErrorGraphExecUpdateFailure",
        c"graph exec update failure",
    ),
    (911, c"cudaErrorExternalDevice", c"external device"),
    (912, c"cudaErrorInvalidClusterSize", c"invalid cluster size"),
    (913, c"cudaErrorFunctionNotLoaded", c"function not loaded"),
    (
        914,
        c"cudaErrorInvalidResourceType",
        c"invalid resource type",
    ),
    (
        915,
        c"cudaErrorInvalidResourceConfiguration",
        c"invalid resource configuration",
    ),
    (917, c"cudaErrorStreamDetached", c"stream detached"),
    (
        918,
        c"cudaErrorGraphRecaptureFailure",
        c"graph recapture failure",
    ),
    (919, c"cudaErrorFabricNotReady", c"fabric not ready"),
    (999, c"cudaErrorUnknown", c"unknown error"),
    (10000, c"cudaErrorApiFailureBase", c"api failure base"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_descriptions() {
        assert!(ERRORS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(name(0), c"cudaSuccess");
        assert_eq!(name(700), c"cudaErrorIllegalAddress");
        assert_eq!(description(9), c"invalid configuration argument");
        assert_eq!(description(123_456), c"unrecognized error code");
    }
}
