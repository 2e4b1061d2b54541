//! The CUDA driver's C functions.
//!
//! The driver and the runtime are one here: a device pointer, a stream or an event of one is that of the
//! other, and a function (`CUfunction`) is the host stub of one of the program's kernels. What the driver
//! does differently is kept: nothing works before `cuInit` (or a call of the runtime), most calls want a
//! current context, and an error is returned without becoming the runtime's last error.
//!
//! Kernels that come as PTX or as a cubin when the program runs are those of files that sirius-rs wrote for
//! this device: loading another one is an error with a sentence on stderr.

use crate::error::{self, CudaError, CudaResult};

/// Defines C functions whose bodies return a `CudaResult`, and `entry_point`, which finds them by name.
/// Further names of a function stand after `=`.
macro_rules! driver_functions {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident $(= $($alias:ident)+)? ($($parameter:ident: $kind:ty),* $(,)?) $body:block
    )*) => {
        $(
            $(#[$attribute])*
            ///
            /// # Safety
            /// Pointers must be what CUDA's manual asks of this function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "CUDA's own name")]
            pub unsafe extern "C" fn $name($($parameter: $kind),*) -> u32 {
                $crate::api::driver::call(move || $body)
            }
            driver_functions!(@aliases [$($($alias)+)?] $name ($($parameter: $kind),*));
        )*
        /// The address of the function of this name, when it is one of these.
        pub fn entry_point(name: &str) -> Option<usize> {
            match name {
                $(stringify!($name) => Some($name as *const () as usize),)*
                _ => None,
            }
        }
    };
    (@aliases [] $name:ident $parameters:tt) => {};
    (@aliases [$alias:ident $($rest:ident)*] $name:ident ($($parameter:ident: $kind:ty),*)) => {
        /// Another name of the function that it calls.
        ///
        /// # Safety
        /// Pointers must be what CUDA's manual asks of this function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "CUDA's own name")]
        pub unsafe extern "C" fn $alias($($parameter: $kind),*) -> u32 {
            // SAFETY: the same contract.
            unsafe { $name($($parameter),*) }
        }
        driver_functions!(@aliases [$($rest)*] $name ($($parameter: $kind),*));
    };
}

/// Functions that the runtime has under another name, and with the same parameters; each asks first whether
/// what it needs is there.
macro_rules! passed_on_functions {
    ($needs:path; $(
        $(#[$attribute:meta])*
        fn $name:ident $(= $($alias:ident)+)? ($($parameter:ident: $kind:ty),* $(,)?) -> $runtime:path;
    )*) => {
        driver_functions! {$(
            $(#[$attribute])*
            fn $name $(= $($alias)+)? ($($parameter: $kind),*) {
                $needs()?;
                // SAFETY: the program passes what CUDA's manual asks, of both functions.
                $crate::api::driver::passed_on(unsafe { $runtime($($parameter),*) })
            }
        )*}
    };
}

pub mod context;
pub mod entry_points;
pub mod execution;
pub mod graph;
pub mod image;
pub mod link;
pub mod loaded;
pub mod memory;
pub mod module;
pub mod names;
pub mod stepwise;
pub mod stream;

pub use memory::{peer, pool, virtual_memory};

/// `CUdeviceptr`.
pub type DevicePointer = usize;

/// `CUDA_ERROR_NOT_INITIALIZED`.
const NOT_INITIALIZED: CudaError = CudaError(3);
/// `CUDA_ERROR_INVALID_CONTEXT`.
const INVALID_CONTEXT: CudaError = CudaError(201);
/// `CUDA_ERROR_NOT_FOUND`.
const NOT_FOUND: CudaError = CudaError(500);

/// Runs the body of a driver call: its error is returned under the driver's number and leaves the
/// runtime's last error as it is.
fn call(body: impl FnOnce() -> CudaResult) -> u32 {
    match error::beside_the_runtime(body) {
        Ok(()) => 0,
        Err(error) => driver_number(error),
    }
}

/// The result of a function of the runtime as a driver call passes it on.
fn passed_on(code: u32) -> CudaResult {
    if code == 0 {
        Ok(())
    } else {
        Err(CudaError(code))
    }
}

/// Most numbers are the same in `cudaError_t` and `CUresult`.
fn driver_number(error: CudaError) -> u32 {
    match error {
        CudaError::INVALID_PITCH_VALUE
        | CudaError::INVALID_MEMCPY_DIRECTION
        | CudaError::MISSING_CONFIGURATION => CudaError::INVALID_VALUE.0,
        CudaError::INVALID_SYMBOL => NOT_FOUND.0,
        CudaError(number) => number,
    }
}
