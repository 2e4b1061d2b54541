//! The CUDA runtime's C functions, by what they are about.
//!
//! Each is `extern "C"` under CUDA's own name, takes and returns what CUDA 13's headers declare, and is
//! documented there; the comments here say only what is particular to the CPU device. All are unsafe to
//! call with pointers that do not hold what CUDA's manual asks for. A body returns a
//! [`crate::error::CudaResult`]; [`crate::error::runtime_call`] turns it into the returned number and
//! the thread's last error.
//!
//! Names after `=` are further names of the same function: with CUDA's option of a default stream for
//! each thread, headers add `_ptsz` or `_ptds`; older headers add version numbers.
//!
//! A function that comes here leaves [`unsupported`]. To the compiler it is an unknown call, over which
//! nothing fuses, until it has rows in the compiler's `src/launch/calls/` and
//! `src/program/host_code/runtime_effects.rs`.

/// Defines C functions whose bodies return a `CudaResult`.
macro_rules! cuda_functions {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident $(= $($alias:ident)+)? ($($parameter:ident: $kind:ty),* $(,)?) $body:block
    )*) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        /// Pointers must be what CUDA's manual asks of this function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "CUDA's own name")]
        pub unsafe extern "C" fn $name($($parameter: $kind),*) -> u32 {
            $crate::error::runtime_call(move || $crate::execution::check::host::within_call(move || $body))
        }
        cuda_functions!(@aliases [$($($alias)+)?] $name ($($parameter: $kind),*));
    )*};
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
        cuda_functions!(@aliases [$($rest)*] $name ($($parameter: $kind),*));
    };
}

pub mod channel;
pub mod device;
pub mod device_properties;
pub mod driver;
pub mod error;
pub mod function;
pub mod graph;
pub mod launch;
pub mod library;
pub mod memory;
pub mod registration;
pub mod reserved;
pub mod stream;
pub mod texture;
pub mod unsupported;

pub use memory::{array, copy, pool, symbol};
pub use stream::{event, stream_attributes};

/// CUDA's `dim3`, which its functions take by value.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dim3 {
    /// Extent in x.
    pub x: u32,
    /// Extent in y.
    pub y: u32,
    /// Extent in z.
    pub z: u32,
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self { x, y, z }
    }
}

impl Dim3 {
    /// The three extents, x first.
    pub fn extents(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// Stores through a pointer that a program gave. Errors: `cudaErrorInvalidValue` when it is null.
///
/// # Safety
/// The pointer is null or writable.
unsafe fn store<T>(pointer: *mut T, value: T) -> crate::error::CudaResult {
    if pointer.is_null() {
        return Err(crate::error::CudaError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}
