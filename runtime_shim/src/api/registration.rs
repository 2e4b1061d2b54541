//! What an object's constructor calls: registration of images, kernels and variables.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Once;

use super::driver::loaded;
use crate::execution::{fault, statistics};
use crate::output::{memory_dump, trace};
use crate::registry::{self, ImageHandle};
use crate::{fat_binary, termination};

/// What `__cudaRegisterFatBinary` gets.
#[repr(C)]
#[derive(Debug)]
pub struct FatBinaryWrapper {
    magic: u32,
    version: i32,
    data: *const c_void,
    unused: *const c_void,
}

const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// Takes an image into use; the handle that it returns goes to the other functions here.
///
/// # Safety
/// The wrapper is what the compiler made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(
    wrapper: *const FatBinaryWrapper,
) -> *mut *mut c_void {
    start();
    // SAFETY: as the caller promises.
    let handle = unsafe {
        if wrapper.is_null() || (*wrapper).magic != WRAPPER_MAGIC {
            termination::fail("an object registers something that is no CUDA image");
        }
        keep_loaded(wrapper.cast());
        let data = (*wrapper).data;
        match !data.is_null() && data.cast::<u32>().read_unaligned() == fat_binary::MAGIC {
            // Whoever registers a fat binary registers a whole one.
            true => loaded::foreign_image(data).unwrap_or_else(|_| registry::unusable_image()),
            false => registry::register_image(data),
        }
    };
    std::ptr::from_ref(handle).cast_mut().cast()
}

/// Nothing: images are in use at once.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// Nothing: other objects' destructors may still launch.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary(_handle: *mut *mut c_void) {}

/// Nothing: images are in use at once.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(_handle: *mut *mut c_void) -> c_char {
    1
}

/// Connects a host stub with its kernel.
///
/// # Safety
/// The handle is from [`__cudaRegisterFatBinary`], the names are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    stub: *const c_void,
    _device_function: *mut c_char,
    name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_size: *mut c_void,
    _grid_size: *mut c_void,
    _warp_size: *mut c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { registry::register_kernel(image(handle), stub as usize, CStr::from_ptr(name)) };
    0
}

/// Connects a variable's host shadow with its storage.
///
/// # Safety
/// As for [`__cudaRegisterFunction`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    shadow: *mut c_char,
    _device_address: *mut c_char,
    name: *const c_char,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: as the caller promises.
    unsafe { registry::register_variable(image(handle), shadow as usize, CStr::from_ptr(name)) };
}

/// Connects a managed variable: the host reaches it through a pointer, which is set here. clang and
/// nvcc pass different further arguments, which are not needed.
///
/// # Safety
/// As for [`__cudaRegisterFunction`]; `pointer` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    pointer: *mut *mut c_void,
    _initial: *mut c_char,
    name: *const c_char,
) {
    // SAFETY: as the caller promises.
    unsafe {
        let name = CStr::from_ptr(name);
        match registry::register_variable(image(handle), pointer as usize, name) {
            Some(address) => *pointer = address as *mut c_void,
            None => termination::fail(&format!(
                "the managed variable {} is in no image for the CPU device",
                name.to_string_lossy()
            )),
        }
    }
}

/// Prepares the runtime, once: handlers of faults, and what is written at exit.
pub fn start() {
    static START: Once = Once::new();
    START.call_once(|| {
        fault::prepare_thread();
        keep_loaded(start as *const c_void);
        // SAFETY: the function lives as long as the process.
        unsafe { libc::atexit(finish) };
    });
}

/// Keeps the shared library that an address is in loaded when the program closes it: its variables are memory of
/// the device, its kernels may be running, and what is said at the end names both.
fn keep_loaded(address: *const c_void) {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the structure is the C library's to fill; the name in it lives as long as the library is loaded.
    unsafe {
        if libc::dladdr(address, found.as_mut_ptr()) == 0 {
            return;
        }
        let name = found.assume_init().dli_fname;
        if !name.is_null() {
            libc::dlopen(
                name,
                libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            );
            // The program itself has no such name; that is nobody's error.
            libc::dlerror();
        }
    }
}

extern "C" fn finish() {
    crate::execution::check::host::at_exit();
    memory_dump::at_exit();
    crate::execution::check::at_exit();
    statistics::at_exit();
    trace::at_exit();
}

/// Runs [`start`] before constructors of the program, so that [`finish`] runs after its destructors.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static EARLY: extern "C" fn() = {
    extern "C" fn early() {
        start();
    }
    early
};

/// # Safety
/// The handle is from [`__cudaRegisterFatBinary`].
unsafe fn image(handle: *mut *mut c_void) -> &'static ImageHandle {
    // SAFETY: as the caller promises; handles are never freed.
    unsafe { &*handle.cast::<ImageHandle>() }
}
