//! Driver functions by name.

use crate::termination;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Once;

use super::{
    NOT_FOUND, context, execution, graph, image, link, memory, module, names, peer, pool, stepwise,
    stream, virtual_memory,
};
use crate::api::store;
use crate::error::{CudaError, CudaResult};

/// `cudaDriverEntryPointSymbolNotFound`, `CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`.
const SYMBOL_NOT_FOUND: u32 = 1;

driver_functions! {
    /// The address of a driver function.
    fn cuGetProcAddress = cuGetProcAddress_v2 (
        symbol: *const c_char,
        pointer: *mut *const c_void,
        _version: c_int,
        _flags: u64,
        status: *mut u32,
    ) {
        // SAFETY: the program passes a string or null.
        let found = unsafe { find(symbol) }?;
        // SAFETY: the program passes writable addresses; the status may be null.
        unsafe {
            if !status.is_null() {
                *status = if found.is_some() { 0 } else { SYMBOL_NOT_FOUND };
            }
            store(pointer, found.unwrap_or(0) as *const c_void)?;
        }
        found.map(drop).ok_or(NOT_FOUND)
    }

    /// Interfaces between NVIDIA's own runtime and its own driver, which are not published: there are none.
    fn cuGetExportTable(table: *mut *const c_void, _identifier: *const c_void) {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            termination::notice(
                "this program has NVIDIA's CUDA runtime within it (-cudart static, nvcc's default), which asks the driver \
                 for interfaces that are not published; linked with -cudart shared it runs",
            );
        });
        // SAFETY: the program passes a writable address.
        unsafe { store(table, std::ptr::null()) }?;
        Err(NOT_FOUND)
    }
}

cuda_functions! {
    /// The address of a driver function; null, and a status that says so, when there is none.
    fn cudaGetDriverEntryPoint = cudaGetDriverEntryPoint_ptsz (
        symbol: *const c_char,
        pointer: *mut *const c_void,
        _flags: u64,
        status: *mut u32,
    ) {
        // SAFETY: the program passes what CUDA's manual asks.
        unsafe { give(symbol, pointer, status) }
    }

    /// The same, of a version.
    fn cudaGetDriverEntryPointByVersion = cudaGetDriverEntryPointByVersion_ptsz (
        symbol: *const c_char,
        pointer: *mut *const c_void,
        _version: u32,
        _flags: u64,
        status: *mut u32,
    ) {
        // SAFETY: as above.
        unsafe { give(symbol, pointer, status) }
    }
}

/// # Safety
/// `symbol` is a string or null, the others are writable or null.
unsafe fn give(symbol: *const c_char, pointer: *mut *const c_void, status: *mut u32) -> CudaResult {
    // SAFETY: as the caller promises.
    unsafe {
        let found = find(symbol)?;
        if !status.is_null() {
            *status = if found.is_some() { 0 } else { SYMBOL_NOT_FOUND };
        }
        store(pointer, found.unwrap_or(0) as *const c_void)
    }
}

/// # Safety
/// `symbol` is a string or null.
unsafe fn find(symbol: *const c_char) -> CudaResult<Option<usize>> {
    if symbol.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    let Ok(name) = unsafe { CStr::from_ptr(symbol) }.to_str() else {
        return Ok(None);
    };
    let tables = [
        context::entry_point,
        execution::entry_point,
        graph::entry_point,
        graph::differing::entry_point,
        image::entry_point,
        memory::entry_point,
        link::entry_point,
        module::entry_point,
        names::entry_point,
        peer::entry_point,
        pool::entry_point,
        pool::differing::entry_point,
        stepwise::entry_point,
        stream::entry_point,
        virtual_memory::entry_point,
        entry_point,
    ];
    // What programs ask for by an unversioned name has the present signature.
    let name = if name == "cuCtxCreate" {
        return Ok(Some(context::cuCtxCreate_v4 as *const () as usize));
    } else {
        name
    };
    Ok(tables.iter().find_map(|table| table(name)))
}
