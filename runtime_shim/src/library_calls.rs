//! The C functions of CUDA's libraries: cuBLAS, cuSPARSE, cuSOLVER, cuFFT, cuRAND.
//!
//! Invariant: a call changes nothing of the runtime's last error, and does nothing on a device that has failed.

use crate::{error, termination};

/// A library's status other than success.
pub trait LibraryError: Copy + PartialEq {
    /// What a call comes to on a device that has failed.
    const EXECUTION_FAILED: Self;

    /// Its number.
    fn number(self) -> u32;

    /// What a call that comes to it says besides, behind the function's name.
    fn notice(self) -> Option<&'static str>;
}

/// Runs the body of a library's function and gives its status, 0 for success.
pub fn call<E: LibraryError>(name: &str, body: impl FnOnce() -> Result<(), E>) -> u32 {
    if error::device_failure().is_some() {
        return E::EXECUTION_FAILED.number();
    }
    match error::beside_the_runtime(body) {
        Ok(()) => 0,
        Err(error) => {
            if let Some(notice) = error.notice() {
                termination::notice(&format!("{name}: {notice}"));
            }
            error.number()
        }
    }
}

/// Defines C functions of a library, named first with its error, whose bodies return a result; names after `=` are
/// further ones of the same.
macro_rules! library_functions {
    ($library:literal $error:ty; $(
        $(#[$attribute:meta])*
        fn $name:ident $(= $($alias:ident)+)? ($($parameter:ident: $kind:ty),* $(,)?) $body:block
    )*) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        #[doc = concat!("Pointers must be what ", $library, "'s manual asks of this function.")]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the library's own name and parameters")]
        pub unsafe extern "C" fn $name($($parameter: $kind),*) -> u32 {
            $crate::library_calls::call::<$error>(stringify!($name), move || $body)
        }
        $crate::library_calls::library_functions!(
            @aliases $library [$($($alias)+)?] $name ($($parameter: $kind),*)
        );
    )*};
    (@aliases $library:literal [] $name:ident $parameters:tt) => {};
    (@aliases $library:literal [$alias:ident $($rest:ident)*] $name:ident ($($parameter:ident: $kind:ty),*)) => {
        /// Another name of the function that it calls.
        ///
        /// # Safety
        #[doc = concat!("Pointers must be what ", $library, "'s manual asks of this function.")]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the library's own name and parameters")]
        pub unsafe extern "C" fn $alias($($parameter: $kind),*) -> u32 {
            // SAFETY: the same contract.
            unsafe { $name($($parameter),*) }
        }
        $crate::library_calls::library_functions!(
            @aliases $library [$($rest)*] $name ($($parameter: $kind),*)
        );
    };
}
pub(crate) use library_functions;
