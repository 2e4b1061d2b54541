//! Libraries of kernels that are loaded when the program runs: the driver's modules under the runtime's names.

use std::ffi::{c_char, c_int, c_void};

use super::driver::module;

/// Defines functions of the runtime that are the driver's; what they return is the runtime's error as well.
macro_rules! of_the_driver {
    ($($(#[$attribute:meta])* fn $name:ident = $driver:ident ($($parameter:ident: $kind:ty),* $(,)?);)*) => {
        cuda_functions! {$(
            $(#[$attribute])*
            fn $name($($parameter: $kind),*) {
                // SAFETY: the same contract.
                match unsafe { module::$driver($($parameter),*) } {
                    0 => Ok(()),
                    number => Err($crate::error::CudaError(number)),
                }
            }
        )*}
    };
}

of_the_driver! {
    /// Loads a file from memory.
    fn cudaLibraryLoadData = cuLibraryLoadData (library: *mut *const c_void, data: *const c_void);
    /// Loads a file.
    fn cudaLibraryLoadFromFile = cuLibraryLoadFromFile (
        library: *mut *const c_void,
        path: *const c_char,
    );
    /// Forgets a library.
    fn cudaLibraryUnload = cuLibraryUnload (library: *const c_void);
    /// A kernel by its name.
    fn cudaLibraryGetKernel = cuLibraryGetKernel (
        kernel: *mut *const c_void,
        library: *const c_void,
        name: *const c_char,
    );
    /// How many kernels there are.
    fn cudaLibraryGetKernelCount = cuLibraryGetKernelCount (
        count: *mut u32,
        library: *const c_void,
    );
    /// The kernels.
    fn cudaLibraryEnumerateKernels = cuLibraryEnumerateKernels (
        kernels: *mut *const c_void,
        count: u32,
        library: *const c_void,
    );
    /// A variable.
    fn cudaLibraryGetGlobal = cuLibraryGetGlobal (
        pointer: *mut usize,
        bytes: *mut usize,
        library: *const c_void,
        name: *const c_char,
    );
    /// A managed variable.
    fn cudaLibraryGetManaged = cuLibraryGetManaged (
        pointer: *mut usize,
        bytes: *mut usize,
        library: *const c_void,
        name: *const c_char,
    );
}

cuda_functions! {
    /// Shared memory for kernels of a library is what `cudaFuncSetAttribute` allows.
    fn cudaKernelSetAttributeForDevice(
        kernel: *const c_void,
        attribute: u32,
        value: c_int,
        device: c_int,
    ) {
        if device != 0 {
            return Err(crate::error::CudaError::INVALID_DEVICE);
        }
        // SAFETY: the same contract.
        match unsafe { super::function::cudaFuncSetAttribute(kernel, attribute, value) } {
            0 => Ok(()),
            number => Err(crate::error::CudaError(number)),
        }
    }
}
