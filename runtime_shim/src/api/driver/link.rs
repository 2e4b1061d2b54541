//! The linker of kernels: of one file that sirius-rs wrote for this device, which is linked already.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;

use super::context::required;
use super::{loaded, module};
use crate::api::store;
use crate::error::{CudaError, CudaResult};
use crate::handles::Handles;
use crate::termination;

const INVALID_HANDLE: CudaError = CudaError(400);

/// Linking that is under way: the file, with a zero byte behind it, when it is there.
static LINKS: Handles<Option<Box<[u8]>>> = Handles::new();

driver_functions! {
    /// Begins a link. Nothing is compiled, so that logs are empty.
    fn cuLinkCreate = cuLinkCreate_v2 (
        count: u32,
        options: *const u32,
        values: *mut *mut c_void,
        state: *mut *mut c_void,
    ) {
        required()?;
        // SAFETY: the lists have as many entries as the program says; the address is writable or null.
        unsafe {
            module::empty_logs(count, options, values);
            store(state, LINKS.open(None))
        }
    }

    /// Adds a file from memory.
    fn cuLinkAddData = cuLinkAddData_v2 (
        state: *const c_void,
        _kind: u32,
        data: *const c_void,
        size: usize,
        _name: *const c_char,
        _count: u32,
        _options: *const u32,
        _values: *mut *mut c_void,
    ) {
        required()?;
        if data.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes as many bytes as it says.
        let file = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) };
        add(state, file, "cuLinkAddData")
    }

    /// Adds a file.
    fn cuLinkAddFile = cuLinkAddFile_v2 (
        state: *const c_void,
        _kind: u32,
        path: *const c_char,
        _count: u32,
        _options: *const u32,
        _values: *mut *mut c_void,
    ) {
        required()?;
        if path.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes a string.
        let path = unsafe { CStr::from_ptr(path) };
        let file = std::fs::read(OsStr::from_bytes(path.to_bytes())).map_err(|_| module::FILE_NOT_FOUND)?;
        add(state, &file, "cuLinkAddFile")
    }

    /// What a link makes, until `cuLinkDestroy`.
    fn cuLinkComplete(state: *const c_void, file: *mut *const c_void, bytes: *mut usize) {
        required()?;
        let made = LINKS.visit(state, |file| file.as_ref().map(|file| (file.as_ptr(), file.len() - 1)));
        let (begin, length) = made.ok_or(INVALID_HANDLE)?.ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: both addresses are writable or null.
        unsafe {
            store(file, begin.cast())?;
            if bytes.is_null() { Ok(()) } else { store(bytes, length) }
        }
    }

    /// Ends a link.
    fn cuLinkDestroy(state: *const c_void) {
        required()?;
        LINKS.close(state).map(drop).ok_or(INVALID_HANDLE)
    }
}

/// Takes the first file; it is one that can be loaded.
fn add(state: *const c_void, file: &[u8], call: &str) -> CudaResult {
    let is_free = LINKS
        .visit(state, |file| file.is_none())
        .ok_or(INVALID_HANDLE)?;
    if !is_free {
        termination::notice(
            "the CPU device links no kernels of several files when the program runs, and goes on with the first",
        );
        return Err(CudaError::NOT_SUPPORTED);
    }
    let whole: Box<[u8]> = file.iter().copied().chain([0]).collect();
    // SAFETY: a whole file with a zero byte behind it.
    let loaded = unsafe { module::from_memory(whole.as_ptr().cast(), call)? };
    loaded::unload(loaded)?;
    LINKS
        .visit(state, |place| *place = Some(whole))
        .ok_or(INVALID_HANDLE)
}
