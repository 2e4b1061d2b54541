//! Modules and libraries of kernels that are loaded when the program runs.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::Once;

use super::context::required;
use super::loaded::{self, INVALID_IMAGE};
use super::{DevicePointer, NOT_FOUND};
use crate::api::store;
use crate::error::{CudaError, CudaResult};
use crate::registry;
use crate::termination;

/// `CUDA_ERROR_FILE_NOT_FOUND`.
pub(super) const FILE_NOT_FOUND: CudaError = CudaError(301);

driver_functions! {
    /// Loads a file.
    fn cuModuleLoad(module: *mut *const c_void, path: *const c_char) {
        required()?;
        // SAFETY: the program passes a writable address and a string, or null; the same in this file.
        unsafe { store(module, from_file(path, "cuModuleLoad")?) }
    }

    /// Loads a file from memory.
    fn cuModuleLoadData = cuModuleLoadFatBinary (module: *mut *const c_void, data: *const c_void) {
        required()?;
        // SAFETY: as above.
        unsafe { store(module, from_memory(data, "cuModuleLoadData")?) }
    }

    /// Loads a file from memory. Nothing is compiled, so that logs are empty.
    fn cuModuleLoadDataEx(
        module: *mut *const c_void,
        data: *const c_void,
        count: u32,
        options: *const u32,
        values: *mut *mut c_void,
    ) {
        required()?;
        // SAFETY: as above; the lists have as many entries as the program says.
        unsafe {
            empty_logs(count, options, values);
            store(module, from_memory(data, "cuModuleLoadDataEx")?)
        }
    }

    /// Loads a file from memory. Options concern compilation and when it happens.
    fn cuLibraryLoadData(library: *mut *const c_void, data: *const c_void) {
        required()?;
        // SAFETY: as above.
        unsafe { store(library, from_memory(data, "cuLibraryLoadData")?) }
    }

    /// Loads a file.
    fn cuLibraryLoadFromFile(library: *mut *const c_void, path: *const c_char) {
        required()?;
        // SAFETY: as above.
        unsafe { store(library, from_file(path, "cuLibraryLoadFromFile")?) }
    }

    /// A function of a module by its name in there.
    fn cuModuleGetFunction = cuLibraryGetKernel (
        function: *mut *const c_void,
        module: *const c_void,
        name: *const c_char,
    ) {
        required()?;
        let module = loaded::module(module)?;
        // SAFETY: as above.
        let name = unsafe { text(name) }?;
        let found = registry::kernel_of(module, name).ok_or(NOT_FOUND)?;
        // SAFETY: as above.
        unsafe { store(function, found as *const c_void) }
    }

    /// How many functions a module has.
    fn cuModuleGetFunctionCount = cuLibraryGetKernelCount (count: *mut u32, module: *const c_void) {
        required()?;
        let names = registry::kernel_names(loaded::module(module)?);
        // SAFETY: as above.
        unsafe { store(count, names.len() as u32) }
    }

    /// The functions of a module.
    fn cuModuleEnumerateFunctions = cuLibraryEnumerateKernels (
        functions: *mut *const c_void,
        count: u32,
        module: *const c_void,
    ) {
        required()?;
        let module = loaded::module(module)?;
        for (index, name) in registry::kernel_names(module).into_iter().take(count as usize).enumerate() {
            let found = registry::kernel_of(module, name).ok_or(NOT_FOUND)?;
            // SAFETY: the program has room for so many.
            unsafe { store(functions.add(index), found as *const c_void)? };
        }
        Ok(())
    }

    /// A variable of a module: its address and size, of which either may be left out.
    fn cuModuleGetGlobal = cuModuleGetGlobal_v2 cuLibraryGetGlobal cuLibraryGetManaged (
        pointer: *mut DevicePointer,
        bytes: *mut usize,
        module: *const c_void,
        name: *const c_char,
    ) {
        required()?;
        let module = loaded::module(module)?;
        // SAFETY: as above.
        let name = unsafe { text(name) }?;
        let found = registry::variable_of(module, name).ok_or(NOT_FOUND)?;
        // SAFETY: as above.
        unsafe {
            if !pointer.is_null() {
                *pointer = found.address;
            }
            if !bytes.is_null() {
                *bytes = found.bytes;
            }
        }
        Ok(())
    }

    /// Forgets a module.
    fn cuModuleUnload = cuLibraryUnload (module: *const c_void) {
        required()?;
        loaded::unload(module)
    }

    /// The module of a library: the same handle.
    fn cuLibraryGetModule(module: *mut *const c_void, library: *const c_void) {
        required()?;
        loaded::module(library)?;
        // SAFETY: as above.
        unsafe { store(module, library) }
    }

    /// The module of a function; the program's own have none.
    fn cuFuncGetModule = cuKernelGetLibrary (module: *mut *const c_void, function: *const c_void) {
        required()?;
        let found = loaded::module_of(function).ok_or(NOT_FOUND)?;
        // SAFETY: as above.
        unsafe { store(module, found as *const c_void) }
    }

    /// Modules are loaded whole.
    fn cuModuleGetLoadingMode(mode: *mut u32) {
        const EAGER: u32 = 1;
        // SAFETY: as above.
        unsafe { store(mode, EAGER) }
    }
}

/// # Safety
/// `path` is a string or null.
unsafe fn from_file(path: *const c_char, call: &str) -> CudaResult<*const c_void> {
    // SAFETY: as the caller promises.
    let path = OsStr::from_bytes(unsafe { text(path) }?.to_bytes());
    let mut bytes = std::fs::read(path).map_err(|_| FILE_NOT_FOUND)?;
    // Text ends with a zero.
    bytes.extend([0; 64]);
    // SAFETY: a whole file, with more zeros behind it than a header has bytes.
    unsafe { from_memory(bytes.as_ptr().cast(), call) }
}

/// # Safety
/// `data` is null or points to a whole file of one of the forms of CUDA's manual.
pub(super) unsafe fn from_memory(data: *const c_void, call: &str) -> CudaResult<*const c_void> {
    if data.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    let module = unsafe { loaded::load(data) }.inspect_err(|error| {
        if *error == INVALID_IMAGE {
            say_once(call);
        }
    })?;
    Ok(module as *const c_void)
}

/// # Safety
/// `pointer` is a string or null.
unsafe fn text<'a>(pointer: *const c_char) -> CudaResult<&'a CStr> {
    match pointer.is_null() {
        true => Err(CudaError::INVALID_VALUE),
        // SAFETY: as the caller promises.
        false => Ok(unsafe { CStr::from_ptr(pointer) }),
    }
}

/// # Safety
/// Both lists have `count` entries, or are null; values are what their options ask.
pub(super) unsafe fn empty_logs(count: u32, options: *const u32, values: *mut *mut c_void) {
    const WALL_TIME: u32 = 2;
    const LOG: u32 = 3;
    const LOG_BYTES: u32 = 4;
    const ERROR_LOG: u32 = 5;
    const ERROR_LOG_BYTES: u32 = 6;
    if options.is_null() || values.is_null() {
        return;
    }
    for index in 0..count as usize {
        // SAFETY: as the caller promises.
        unsafe {
            let value = values.add(index);
            match *options.add(index) {
                LOG | ERROR_LOG if !(*value).is_null() => *(*value).cast::<u8>() = 0,
                LOG_BYTES | ERROR_LOG_BYTES | WALL_TIME => *value = std::ptr::null_mut(),
                _ => {}
            }
        }
    }
}

fn say_once(call: &str) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        termination::notice(&format!(
            "the CPU device runs kernels of PTX, and of files that sirius-rs wrote for it with -ptx, -cubin or -fatbin, \
             and no others ({call})"
        ));
    });
}
