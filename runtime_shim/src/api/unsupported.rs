//! Calls that programs make and this device does not support: each returns `cudaErrorNotSupported` and
//! says so once, on one line of stderr.

use std::sync::Once;

use crate::error::{CudaError, runtime_call};
use crate::termination;

/// Defines functions without parameters; C's calling convention lets callers pass more.
macro_rules! unsupported {
    ($($name:ident)*) => {$(
        /// Not supported; says so and returns `cudaErrorNotSupported`.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "CUDA's own name")]
        pub extern "C" fn $name() -> u32 {
            static ONCE: Once = Once::new();
            refuse(&ONCE, stringify!($name))
        }
    )*};
}

unsupported! {
    cudaGraphConditionalHandleCreate cudaGraphConditionalHandleCreate_v2
    cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode
    cudaGraphNodeGetToolsId cudaStreamBeginRecaptureToGraph

    cudaArrayGetPlane cudaArrayGetSparseProperties cudaArrayGetMemoryRequirements
    cudaMemcpyBatchAsync cudaMemcpy3DBatchAsync cudaMemcpyWithAttributesAsync
    cudaMemcpy3DWithAttributesAsync
    cudaGetTextureObjectResourceViewDesc cudaBindTexture cudaBindTexture2D cudaBindTextureToArray
    cudaUnbindTexture cudaGetTextureReference

    cudaIpcGetEventHandle cudaIpcOpenEventHandle cudaIpcGetMemHandle cudaIpcOpenMemHandle
    cudaIpcCloseMemHandle cudaImportExternalMemory cudaExternalMemoryGetMappedBuffer
    cudaExternalMemoryGetMappedMipmappedArray cudaDestroyExternalMemory
    cudaImportExternalSemaphore cudaSignalExternalSemaphoresAsync
    cudaWaitExternalSemaphoresAsync cudaDestroyExternalSemaphore
    cudaGraphicsUnregisterResource cudaGraphicsMapResources cudaGraphicsUnmapResources
    cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags
    cudaGraphicsSubResourceGetMappedArray cudaGraphicsGLRegisterBuffer
    cudaGraphicsGLRegisterImage cudaGLGetDevices
    cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle
    cudaMemPoolExportPointer cudaMemPoolImportPointer
    cudaMemPrefetchBatchAsync cudaMemDiscardBatchAsync cudaMemDiscardAndPrefetchBatchAsync
    cudaMemRangeGetAttribute cudaMemRangeGetAttributes cuMemRangeGetAttribute cuMemRangeGetAttributes

    cuMemMapArrayAsync cuMulticastCreate cuMulticastAddDevice cuMulticastBindMem
    cuMulticastBindAddr cuMulticastUnbind cuMulticastGetGranularity
    cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle
    cuMemPoolExportPointer cuMemPoolImportPointer cuLibraryGetUnifiedFunction
    cuGraphConditionalHandleCreate cuGraphNodeGetToolsId

    cuTensorMapEncodeTiled cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide cuTensorMapReplaceAddress
    cuStreamWaitValue32 cuStreamWaitValue32_v2 cuStreamWaitValue64 cuStreamWaitValue64_v2
    cuStreamWriteValue32 cuStreamWriteValue32_v2 cuStreamWriteValue64 cuStreamWriteValue64_v2
    cuStreamBatchMemOp cuStreamBatchMemOp_v2

    cudaMemGetDefaultMemPool cudaMemGetMemPool cudaMemSetMemPool cudaMemGetLocationInfo
    cudaDeviceGetExecutionCtx cudaGreenCtxCreate cudaExecutionCtxDestroy cudaExecutionCtxStreamCreate
    cudaExecutionCtxSynchronize cudaDeviceGetDevResource cudaDevSmResourceSplitByCount
    cudaDevResourceGenerateDesc cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxStreamCreate
    cuDeviceGetDevResource cuDevSmResourceSplitByCount cuDevResourceGenerateDesc cuCtxFromGreenCtx

    cudaGetExportTable cudaFuncGetParamInfo cudaLibraryGetUnifiedFunction
    cudaDeviceRegisterAsyncNotification
    cudaDeviceUnregisterAsyncNotification cudaDeviceFlushGPUDirectRDMAWrites
    cudaLaunchCooperativeKernelMultiDevice
}

fn refuse(once: &Once, name: &str) -> u32 {
    once.call_once(|| {
        termination::notice(&format!("the CPU device does not support {name} yet"));
    });
    runtime_call(|| Err(CudaError::NOT_SUPPORTED))
}
