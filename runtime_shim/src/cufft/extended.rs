//! `cufftXt.h`: plans by the types of their elements, descriptors of memory, callbacks.
//!
//! There is one device, so that a descriptor has one piece, which always lies in natural order; plans for several
//! devices are refused with `CUFFT_INVALID_DEVICE`, as on a machine with one GPU. Half precision is refused with a
//! sentence.

use std::ffi::{c_int, c_longlong, c_void};

use crate::execution::check;
use crate::memory::{self, MemoryKind};
use crate::output::trace;
use crate::{library_calls, termination};

use super::callback::{Callback, Elements};
use super::plan::{FORWARD, INVERSE, Kind};
use super::{TransformError, TransformResult, execute, known, make, many, planned, plans, store};

/// `MAX_CUDA_DESCRIPTOR_GPUS`.
const DEVICES: usize = 64;
/// `CUDA_XT_DESCRIPTOR_VERSION`.
const DESCRIPTOR_VERSION: c_int = 0x0100_0000;
/// The last `cufftXtSubFormat`.
const LAST_FORMAT: c_int = 7;
/// Shared memory of a callback is at most so large, in bytes.
const SHARED_LIMIT: usize = 16 << 10;

/// `cudaXtDesc`.
#[repr(C)]
pub struct Pieces {
    version: c_int,
    count: c_int,
    devices: [c_int; DEVICES],
    data: [*mut c_void; DEVICES],
    bytes: [usize; DEVICES],
    state: *mut c_void,
}

/// `cudaLibXtDesc`.
#[repr(C)]
pub struct Descriptor {
    version: c_int,
    pieces: *mut Pieces,
    library: u32,
    format: c_int,
    library_descriptor: *mut c_void,
}

cufft_functions! {
    /// Gives a handle its plan, by the types of what is transformed.
    fn cufftXtMakePlanMany(
        handle: c_int,
        rank: c_int,
        extents: *const c_longlong,
        input: *const c_longlong,
        input_stride: c_longlong,
        input_distance: c_longlong,
        input_type: u32,
        output: *const c_longlong,
        output_stride: c_longlong,
        output_distance: c_longlong,
        output_type: u32,
        batch: c_longlong,
        work: *mut usize,
        computation: u32,
    ) {
        let kind = kind_of(input_type, output_type, computation)?;
        // SAFETY: the program passes as many numbers as the rank says, or null; the same in this file.
        unsafe {
            let plan = many(rank, extents, kind, batch, [
                (input, input_stride, input_distance),
                (output, output_stride, output_distance),
            ])?;
            make(handle, plan, work)
        }
    }

    /// Bytes of the work area that such a plan needs: none.
    fn cufftXtGetSizeMany(
        handle: c_int,
        _rank: c_int,
        _extents: *const c_longlong,
        _input: *const c_longlong,
        _input_stride: c_longlong,
        _input_distance: c_longlong,
        input_type: u32,
        _output: *const c_longlong,
        _output_stride: c_longlong,
        _output_distance: c_longlong,
        output_type: u32,
        _batch: c_longlong,
        work: *mut usize,
        computation: u32,
    ) {
        known(handle)?;
        kind_of(input_type, output_type, computation)?;
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(work, 0) }
    }

    /// The devices of a plan, of which there is one.
    fn cufftXtSetGPUs(handle: c_int, count: c_int, devices: *const c_int) {
        known(handle)?;
        if count < 1 || devices.is_null() {
            return Err(TransformError::INVALID_VALUE);
        }
        // SAFETY: the program passes so many numbers.
        match (count, unsafe { *devices }) {
            (1, 0) => Ok(()),
            _ => Err(TransformError::INVALID_DEVICE),
        }
    }

    /// Nothing: no work area is used.
    fn cufftXtSetWorkArea(handle: c_int, _areas: *mut *mut c_void) {
        known(handle)
    }

    /// Transforms what the plan says; the direction counts for complex numbers alone.
    fn cufftXtExec(handle: c_int, input: *const c_void, output: *mut c_void, direction: c_int) {
        let (plan, _) = planned(handle)?;
        execute(handle, plan.kind, input, output, direction_of(plan.kind, direction))
    }

    /// Memory for a plan's input or output.
    fn cufftXtMalloc(handle: c_int, descriptor: *mut *mut Descriptor, format: c_int) {
        let (plan, _) = planned(handle)?;
        if descriptor.is_null() || !(0..LAST_FORMAT).contains(&format) {
            return Err(TransformError::INVALID_VALUE);
        }
        let bytes = plan.bytes_in_place();
        let base = memory::allocate(bytes, MemoryKind::Device, 0)
            .map_err(|_| TransformError::ALLOC_FAILED)?;
        let mut pieces = Pieces {
            version: DESCRIPTOR_VERSION,
            count: 1,
            devices: [0; DEVICES],
            data: [std::ptr::null_mut(); DEVICES],
            bytes: [0; DEVICES],
            state: std::ptr::null_mut(),
        };
        pieces.data[0] = base as *mut c_void;
        pieces.bytes[0] = bytes;
        let made = Descriptor {
            version: DESCRIPTOR_VERSION,
            pieces: Box::into_raw(Box::new(pieces)),
            library: 0,
            format,
            library_descriptor: std::ptr::null_mut(),
        };
        // SAFETY: as above.
        unsafe { store(descriptor, Box::into_raw(Box::new(made))) }
    }

    /// Frees what `cufftXtMalloc` gave.
    fn cufftXtFree(descriptor: *mut Descriptor) {
        let data = piece(descriptor)?.0;
        crate::api::stream::all_in_order().map_err(|_| TransformError::EXEC_FAILED)?;
        memory::free(data, |kind| kind == MemoryKind::Device)
            .map_err(|_| TransformError::INVALID_VALUE)?;
        // SAFETY: it is one of `cufftXtMalloc`'s, made of two boxes.
        unsafe {
            let descriptor = Box::from_raw(descriptor);
            drop(Box::from_raw(descriptor.pieces));
        }
        Ok(())
    }

    /// Copies between a descriptor's memory and the host's, or another's.
    fn cufftXtMemcpy(handle: c_int, to: *mut c_void, from: *mut c_void, direction: u32) {
        let (_, stream) = planned(handle)?;
        if to.is_null() || from.is_null() {
            return Err(TransformError::INVALID_VALUE);
        }
        let (destination, source, bytes) = match direction {
            0 => {
                let (to, bytes) = piece(to.cast())?;
                (to, from as usize, bytes)
            }
            1 => {
                let (from, bytes) = piece(from.cast())?;
                (to as usize, from, bytes)
            }
            2 => {
                let ((to, room), (from, bytes)) = (piece(to.cast())?, piece(from.cast())?);
                (to, from, bytes.min(room))
            }
            _ => return Err(TransformError::INVALID_VALUE),
        };
        library_calls::in_order(stream).map_err(|_| TransformError::EXEC_FAILED)?;
        trace::copy(destination, source, bytes);
        check::copied(destination, source, bytes);
        // SAFETY: a descriptor's memory has so many bytes, and the program's, too, as it promises.
        unsafe { std::ptr::copy(source as *const u8, destination as *mut u8, bytes) };
        Ok(())
    }

    /// What a plan says, in the memory of descriptors.
    fn cufftXtExecDescriptor(
        handle: c_int,
        input: *mut Descriptor,
        output: *mut Descriptor,
        direction: c_int,
    ) {
        execute_described(handle, planned(handle)?.0.kind, input, output, direction)
    }

    /// Complex to complex.
    fn cufftXtExecDescriptorC2C(
        handle: c_int,
        input: *mut Descriptor,
        output: *mut Descriptor,
        direction: c_int,
    ) {
        execute_described(handle, Kind::C2C, input, output, direction)
    }

    /// Complex to complex in double precision.
    fn cufftXtExecDescriptorZ2Z(
        handle: c_int,
        input: *mut Descriptor,
        output: *mut Descriptor,
        direction: c_int,
    ) {
        execute_described(handle, Kind::Z2Z, input, output, direction)
    }

    /// Real to complex.
    fn cufftXtExecDescriptorR2C(handle: c_int, input: *mut Descriptor, output: *mut Descriptor) {
        execute_described(handle, Kind::R2C, input, output, FORWARD)
    }

    /// Real to complex in double precision.
    fn cufftXtExecDescriptorD2Z(handle: c_int, input: *mut Descriptor, output: *mut Descriptor) {
        execute_described(handle, Kind::D2Z, input, output, FORWARD)
    }

    /// Complex to real.
    fn cufftXtExecDescriptorC2R(handle: c_int, input: *mut Descriptor, output: *mut Descriptor) {
        execute_described(handle, Kind::C2R, input, output, INVERSE)
    }

    /// Complex to real in double precision.
    fn cufftXtExecDescriptorZ2D(handle: c_int, input: *mut Descriptor, output: *mut Descriptor) {
        execute_described(handle, Kind::Z2D, input, output, INVERSE)
    }

    /// Has a device function load a plan's elements or store its results.
    fn cufftXtSetCallback(
        handle: c_int,
        functions: *const usize,
        kind: u32,
        information: *const usize,
    ) {
        // SAFETY: the program passes a number for the one device, or null.
        let [function, information] =
            [functions, information].map(|list| unsafe { list.as_ref() }.copied().unwrap_or(0));
        if function == 0 {
            return Err(TransformError::INVALID_VALUE);
        }
        change_callback(handle, kind, |callback| {
            let shared_bytes = callback.map_or(0, |callback| callback.shared_bytes);
            Ok(Some(Callback {
                function,
                information,
                shared_bytes,
            }))
        })
    }

    /// Undoes `cufftXtSetCallback`.
    fn cufftXtClearCallback(handle: c_int, kind: u32) {
        change_callback(handle, kind, |_| Ok(None))
    }

    /// Shared memory for a callback that was set.
    fn cufftXtSetCallbackSharedSize(handle: c_int, kind: u32, bytes: usize) {
        if bytes > SHARED_LIMIT {
            return Err(TransformError::INVALID_VALUE);
        }
        change_callback(handle, kind, |callback| {
            let callback = callback.ok_or(TransformError::INVALID_VALUE)?;
            Ok(Some(Callback {
                shared_bytes: bytes as u32,
                ..callback
            }))
        })
    }
}

fn kind_of(input: u32, output: u32, computation: u32) -> TransformResult<Kind> {
    let kind = Kind::of_types(input, output, computation);
    if kind == Err(TransformError::NOT_SUPPORTED) {
        termination::notice(
            "the CPU device transforms float and double alone (cufftXtMakePlanMany)",
        );
    }
    kind
}

fn direction_of(kind: Kind, direction: c_int) -> c_int {
    match (kind.elements(false).real, kind.elements(true).real) {
        (false, false) => direction,
        (true, _) => FORWARD,
        (false, true) => INVERSE,
    }
}

fn execute_described(
    handle: c_int,
    kind: Kind,
    input: *mut Descriptor,
    output: *mut Descriptor,
    direction: c_int,
) -> TransformResult {
    let ((input, _), (output, _)) = (piece(input)?, piece(output)?);
    let direction = direction_of(kind, direction);
    execute(
        handle,
        kind,
        input as *const c_void,
        output as *mut c_void,
        direction,
    )
}

/// Address and bytes of a descriptor's memory.
fn piece(descriptor: *mut Descriptor) -> TransformResult<(usize, usize)> {
    // SAFETY: the program passes descriptors of `cufftXtMalloc`'s, or null.
    let pieces = unsafe {
        let descriptor = descriptor.as_ref().ok_or(TransformError::INVALID_VALUE)?;
        descriptor
            .pieces
            .as_ref()
            .ok_or(TransformError::INVALID_VALUE)?
    };
    Ok((pieces.data[0] as usize, pieces.bytes[0]))
}

fn change_callback(
    handle: c_int,
    kind: u32,
    change: impl FnOnce(Option<Callback>) -> TransformResult<Option<Callback>>,
) -> TransformResult {
    let elements = Elements::from_number(kind)?;
    let mut plans = plans();
    let entry = plans
        .all
        .get_mut(&handle)
        .ok_or(TransformError::INVALID_PLAN)?;
    let plan = entry.plan.as_mut().ok_or(TransformError::INVALID_PLAN)?;
    if plan.kind.elements(elements.store) != elements {
        return Err(TransformError::INVALID_TYPE);
    }
    let callback = &mut plan.callbacks[usize::from(elements.store)];
    *callback = change(*callback)?;
    Ok(())
}
