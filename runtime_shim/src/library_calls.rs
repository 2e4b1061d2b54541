//! The C functions of CUDA's libraries: cuBLAS, cuSPARSE, cuSOLVER, cuFFT, cuRAND.
//!
//! Invariant: a call changes nothing of the runtime's last error, and does nothing on a device that has failed.
//!
//! A call on a stream that is captured becomes a node of the graph, which makes the call again with the same
//! arguments; scalars on the host are those of the first call, as with CUDA's.

use std::cell::Cell;
use std::ffi::c_void;

use crate::api::graph::{self, NodeType};
use crate::api::stream;
use crate::error::{CudaError, CudaResult};
use crate::execution::arithmetic::DeviceMode;
use crate::execution::check::host;
use crate::{error, memory, termination};

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
    let _mode = DeviceMode::begin();
    match error::beside_the_runtime(|| host::within_call(body)) {
        Ok(()) => 0,
        Err(error) => {
            if CAPTURED.get().is_none()
                && let Some(notice) = error.notice()
            {
                termination::notice(&format!("{name}: {notice}"));
            }
            error.number()
        }
    }
}

/// Waits until a stream may run the call in progress. Errors: those of the stream; and where the stream is
/// captured, so that the body comes to its end and the call is recorded.
pub fn in_order(stream: *mut c_void) -> CudaResult {
    if graph::is_captured(stream) {
        CAPTURED.set(Some(stream as usize));
        return Err(CudaError::NOT_SUPPORTED);
    }
    stream::in_order(stream)
}

/// The captured stream that the call which has just ended wants to run on.
pub fn captured() -> Option<*mut c_void> {
    CAPTURED.take().map(|stream| stream as *mut c_void)
}

/// Records a call, whose arguments are kept, and gives its status. What it would tell the host at once cannot be
/// recorded, which invalidates the capture.
pub fn recorded<E: LibraryError>(
    stream: *mut c_void,
    tells_the_host: bool,
    again: impl Fn() -> u32 + Send + Sync + 'static,
) -> u32 {
    let result = match tells_the_host {
        true => stream::in_order(stream),
        false => graph::recorded(stream, NodeType::Kernel, move |_| match again() {
            0 => Ok(()),
            _ => Err(CudaError::LAUNCH_FAILURE),
        })
        .map(drop),
    };
    result.map_or(E::EXECUTION_FAILED.number(), |()| 0)
}

thread_local! {
    static CAPTURED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// An argument of a call that a graph makes again.
pub struct Kept<T> {
    value: T,
    /// A scalar on the host.
    scalar: Option<Box<[u8; SCALAR_BYTES]>>,
}

/// Bytes of the largest scalar, two numbers of double precision.
const SCALAR_BYTES: usize = 16;

// SAFETY: numbers, handles and addresses, which only the call itself reads and writes through.
unsafe impl<T> Send for Kept<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Kept<T> {}

impl<T: Copy> Kept<T> {
    /// The argument of a name; what the libraries call `alpha` and `beta` are addresses of scalars.
    pub fn new(value: T, name: &str) -> Self {
        let is_scalar = ["alpha", "beta"].contains(&name);
        let scalar = address_on_host(&value)
            .filter(|_| is_scalar)
            .map(|address| {
                let mut scalar = Box::new([0_u8; SCALAR_BYTES]);
                // A scalar may be smaller; it ends within its page, as does what is read with it.
                let bytes = SCALAR_BYTES.min(PAGE_BYTES - address % PAGE_BYTES);
                // SAFETY: the scalar can be read, and so can the rest of the page that it is in.
                unsafe {
                    std::ptr::copy_nonoverlapping(address as *const u8, scalar.as_mut_ptr(), bytes);
                }
                scalar
            });
        Self { value, scalar }
    }

    /// The argument.
    pub fn get(&self) -> T {
        match &self.scalar {
            // SAFETY: only of an argument that is an address.
            Some(scalar) => unsafe { std::mem::transmute_copy(&scalar.as_ptr()) },
            None => self.value,
        }
    }

    /// Whether it is the address, on the host, of something that the call is to tell.
    pub fn tells_the_host(&self, name: &str) -> bool {
        ["result", "info"].contains(&name) && address_on_host(&self.value).is_some()
    }
}

const PAGE_BYTES: usize = 4096;

/// The address that an argument is, when it is one outside of the device's memory.
fn address_on_host<T: Copy>(value: &T) -> Option<usize> {
    if size_of::<T>() != size_of::<usize>() {
        return None;
    }
    // SAFETY: the argument has the size of an address, and all its bytes are there.
    let address: usize = unsafe { std::mem::transmute_copy(value) };
    let place = memory::place(address);
    let on_device = place.is_some_and(|place| place.kind.on_device());
    (address != 0 && !on_device).then_some(address)
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
            let status = $crate::library_calls::call::<$error>(stringify!($name), move || $body);
            let Some(stream) = $crate::library_calls::captured() else { return status };
            $(let $parameter = $crate::library_calls::Kept::new($parameter, stringify!($parameter));)*
            let tells_the_host = false $(|| $parameter.tells_the_host(stringify!($parameter)))*;
            $crate::library_calls::recorded::<$error>(stream, tells_the_host, move || {
                // SAFETY: the same contract, which holds when the graph runs, too.
                unsafe { $name($($parameter.get()),*) }
            })
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
