//! Modules and libraries of kernels that are loaded when the program runs: PTX and cubins, which this
//! device cannot execute. Each call says so once, on one line of stderr.

use std::ffi::{c_char, c_void};
use std::sync::Once;

use super::context::required;
use super::{DevicePointer, NOT_FOUND};
use crate::error::{CudaError, CudaResult};
use crate::termination;

/// `CUDA_ERROR_INVALID_IMAGE`.
const INVALID_IMAGE: CudaError = CudaError(200);

driver_functions! {
    /// Not supported: the file holds PTX or a cubin.
    fn cuModuleLoad() {
        refuse(&LOAD, "cuModuleLoad", INVALID_IMAGE)
    }

    /// Not supported: the data are PTX or a cubin.
    fn cuModuleLoadData = cuModuleLoadDataEx cuModuleLoadFatBinary () {
        refuse(&LOAD_DATA, "cuModuleLoadData", INVALID_IMAGE)
    }

    /// Not supported: the data are PTX or a cubin.
    fn cuLibraryLoadData = cuLibraryLoadFromFile () {
        refuse(&LIBRARY, "cuLibraryLoadData", INVALID_IMAGE)
    }

    /// Not supported: links PTX.
    fn cuLinkCreate = cuLinkCreate_v2 cuLinkAddData cuLinkAddData_v2 cuLinkAddFile
        cuLinkAddFile_v2 cuLinkComplete cuLinkDestroy ()
    {
        refuse(&LINK, "cuLinkCreate", CudaError::NOT_SUPPORTED)
    }

    /// There is no module, so that it has no function.
    fn cuModuleGetFunction = cuLibraryGetKernel (
        _function: *mut *const c_void,
        _module: *const c_void,
        _name: *const c_char,
    ) {
        required()?;
        Err(CudaError::INVALID_RESOURCE_HANDLE)
    }

    /// There is no module, so that it has no variable.
    fn cuModuleGetGlobal = cuModuleGetGlobal_v2 cuLibraryGetGlobal cuLibraryGetManaged (
        _pointer: *mut DevicePointer,
        _bytes: *mut usize,
        _module: *const c_void,
        _name: *const c_char,
    ) {
        required()?;
        Err(CudaError::INVALID_RESOURCE_HANDLE)
    }

    /// There is no module.
    fn cuModuleUnload = cuLibraryUnload (_module: *const c_void) {
        required()?;
        Err(CudaError::INVALID_RESOURCE_HANDLE)
    }

    /// The module of a function: the program itself, which has no handle.
    fn cuFuncGetModule(_module: *mut *const c_void, _function: *const c_void) {
        required()?;
        Err(NOT_FOUND)
    }
}

static LOAD: Once = Once::new();
static LOAD_DATA: Once = Once::new();
static LIBRARY: Once = Once::new();
static LINK: Once = Once::new();

fn refuse(once: &Once, name: &str, error: CudaError) -> CudaResult {
    required()?;
    once.call_once(|| {
        termination::notice(&format!(
            "the CPU device cannot run kernels that are loaded as PTX or cubin ({name})"
        ));
    });
    Err(error)
}
