//! Launches of the driver's first interface, which a program puts together step by step: the block and the
//! parameters are set for a function and stay so, and a launch names the grid alone.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

use super::context::required;
use super::execution::{find, launch_with_buffer};
use crate::api::Dim3;
use crate::error::{CudaError, CudaResult};

/// What was set for a function.
#[derive(Clone, Debug)]
struct Steps {
    block: Dim3,
    dynamic_shared_bytes: u32,
    parameters: Vec<u8>,
}

/// No program has more bytes of parameters.
const MOST_PARAMETER_BYTES: usize = 32_764;

/// By the function's handle.
static STEPS: Mutex<Option<HashMap<usize, Steps>>> = Mutex::new(None);

driver_functions! {
    /// Sets the threads of a block.
    fn cuFuncSetBlockShape(function: *const c_void, x: c_int, y: c_int, z: c_int) {
        let [x, y, z] = [positive(x)?, positive(y)?, positive(z)?];
        change(function, |steps| steps.block = Dim3 { x, y, z })
    }

    /// Sets the bytes of dynamic shared memory.
    fn cuFuncSetSharedSize(function: *const c_void, bytes: u32) {
        change(function, |steps| steps.dynamic_shared_bytes = bytes)
    }

    /// Sets how many bytes of parameters there are.
    fn cuParamSetSize(function: *const c_void, bytes: u32) {
        let bytes = bytes as usize;
        if bytes > MOST_PARAMETER_BYTES {
            return Err(CudaError::INVALID_VALUE);
        }
        change(function, |steps| steps.parameters.resize(bytes, 0))
    }

    /// Sets a parameter of 32 bits.
    fn cuParamSeti(function: *const c_void, offset: c_int, value: u32) {
        set(function, offset, &value.to_ne_bytes())
    }

    /// Sets a parameter of 32 bits.
    fn cuParamSetf(function: *const c_void, offset: c_int, value: f32) {
        set(function, offset, &value.to_ne_bytes())
    }

    /// Sets bytes of parameters.
    fn cuParamSetv(function: *const c_void, offset: c_int, value: *const c_void, bytes: u32) {
        if value.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes as many bytes as it says.
        set(function, offset, unsafe { std::slice::from_raw_parts(value.cast(), bytes as usize) })
    }

    /// Runs a function with one block.
    fn cuLaunch(function: *const c_void) {
        launch(function, (1, 1), std::ptr::null_mut())
    }

    /// Runs a function.
    fn cuLaunchGrid(function: *const c_void, width: c_int, height: c_int) {
        launch(function, (width, height), std::ptr::null_mut())
    }

    /// Runs a function in a stream.
    fn cuLaunchGridAsync(function: *const c_void, width: c_int, height: c_int, stream: *mut c_void) {
        launch(function, (width, height), stream)
    }
}

fn positive(number: c_int) -> CudaResult<u32> {
    let number = u32::try_from(number).map_err(|_| CudaError::INVALID_VALUE)?;
    (number > 0)
        .then_some(number)
        .ok_or(CudaError::INVALID_VALUE)
}

fn change(function: *const c_void, change: impl FnOnce(&mut Steps)) -> CudaResult {
    required()?;
    find(function)?;
    let mut all = STEPS.lock().unwrap_or_else(PoisonError::into_inner);
    let steps = all.get_or_insert_default().entry(function as usize);
    change(steps.or_insert_with(|| Steps {
        block: Dim3 { x: 1, y: 1, z: 1 },
        dynamic_shared_bytes: 0,
        parameters: Vec::new(),
    }));
    Ok(())
}

/// Sets parameters from an offset on; those behind the size that was said grow it.
fn set(function: *const c_void, offset: c_int, bytes: &[u8]) -> CudaResult {
    let start = usize::try_from(offset).map_err(|_| CudaError::INVALID_VALUE)?;
    let end = start.saturating_add(bytes.len());
    if end > MOST_PARAMETER_BYTES {
        return Err(CudaError::INVALID_VALUE);
    }
    change(function, |steps| {
        let size = steps.parameters.len().max(end);
        steps.parameters.resize(size, 0);
        steps.parameters[start..end].copy_from_slice(bytes);
    })
}

fn launch(
    function: *const c_void,
    (width, height): (c_int, c_int),
    stream: *mut c_void,
) -> CudaResult {
    let grid = Dim3 {
        x: positive(width)?,
        y: positive(height)?,
        z: 1,
    };
    let mut found = None;
    change(function, |steps| found = Some(steps.clone()))?;
    let steps = found.ok_or(CudaError::INVALID_VALUE)?;
    // SAFETY: the stream is what the program passes.
    unsafe {
        launch_with_buffer(
            function,
            (grid, steps.block),
            steps.dynamic_shared_bytes,
            stream,
            &steps.parameters,
        )
    }
}
