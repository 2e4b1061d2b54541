//! Streams and events: the runtime's.

use std::ffi::{c_int, c_void};

use super::context::{current, required};
use super::{DevicePointer, passed_on};
use crate::api::stream_attributes::{self, Value};
use crate::api::{event, store, stream};
use crate::error::CudaError;

type Callback = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);
type HostFunction = unsafe extern "C" fn(*mut c_void);

/// `CU_EVENT_RECORD_EXTERNAL`, `CU_EVENT_WAIT_EXTERNAL` concern capture.
const EXTERNAL: u32 = 1;

driver_functions! {
    /// A stream.
    fn cuStreamCreate(stream: *mut *mut c_void, flags: u32) {
        required()?;
        // SAFETY: the program passes what CUDA's manual asks; the same in this file.
        passed_on(unsafe { stream::cudaStreamCreateWithFlags(stream, flags) })
    }

    /// A stream with a priority.
    fn cuStreamCreateWithPriority(stream: *mut *mut c_void, flags: u32, priority: c_int) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamCreateWithPriority(stream, flags, priority) })
    }

    /// Ends a stream.
    fn cuStreamDestroy = cuStreamDestroy_v2 (stream: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamDestroy(stream) })
    }

    /// Waits for a stream.
    fn cuStreamSynchronize = cuStreamSynchronize_ptsz (stream: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamSynchronize(stream) })
    }

    /// Whether a stream is idle.
    fn cuStreamQuery = cuStreamQuery_ptsz (stream: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamQuery(stream) })
    }

    /// Nothing: an event that was recorded has happened.
    fn cuStreamWaitEvent = cuStreamWaitEvent_ptsz (
        stream: *mut c_void,
        event: *mut c_void,
        flags: u32,
    ) {
        required()?;
        if flags & !EXTERNAL != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamWaitEvent(stream, event, flags) })
    }

    /// A stream's flags.
    fn cuStreamGetFlags = cuStreamGetFlags_ptsz (stream: *mut c_void, flags: *mut u32) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamGetFlags(stream, flags) })
    }

    /// A stream's priority.
    fn cuStreamGetPriority = cuStreamGetPriority_ptsz (
        stream: *mut c_void,
        priority: *mut c_int,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamGetPriority(stream, priority) })
    }

    /// A stream's number.
    fn cuStreamGetId = cuStreamGetId_ptsz (stream: *mut c_void, id: *mut u64) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamGetId(stream, id) })
    }

    /// A stream's device.
    fn cuStreamGetDevice = cuStreamGetDevice_ptsz (stream: *mut c_void, device: *mut c_int) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamGetDevice(stream, device) })
    }

    /// A stream's context: the current one, since all contexts share the streams.
    fn cuStreamGetCtx = cuStreamGetCtx_ptsz (stream: *mut c_void, context: *mut usize) {
        required()?;
        stream::id_and_priority(stream)?;
        // SAFETY: as above.
        unsafe { store(context, current()) }
    }

    /// Nothing: managed memory is everybody's.
    fn cuStreamAttachMemAsync = cuStreamAttachMemAsync_ptsz (
        stream: *mut c_void,
        pointer: DevicePointer,
        bytes: usize,
        flags: u32,
    ) {
        required()?;
        let pointer = pointer as *mut c_void;
        // SAFETY: the memory is not accessed.
        passed_on(unsafe { stream::cudaStreamAttachMemAsync(stream, pointer, bytes, flags) })
    }

    /// One attribute of a stream.
    fn cuStreamGetAttribute = cuStreamGetAttribute_ptsz (
        stream: *mut c_void,
        attribute: u32,
        value: *mut Value,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream_attributes::cudaStreamGetAttribute(stream, attribute, value) })
    }

    /// Remembers an attribute of a stream.
    fn cuStreamSetAttribute = cuStreamSetAttribute_ptsz (
        stream: *mut c_void,
        attribute: u32,
        value: *const Value,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream_attributes::cudaStreamSetAttribute(stream, attribute, value) })
    }

    /// Gives a stream what was set of another one.
    fn cuStreamCopyAttributes = cuStreamCopyAttributes_ptsz (
        destination: *mut c_void,
        source: *mut c_void,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream_attributes::cudaStreamCopyAttributes(destination, source) })
    }

    /// Calls back once the stream's work is done.
    fn cuStreamAddCallback = cuStreamAddCallback_ptsz (
        stream: *mut c_void,
        callback: Option<Callback>,
        data: *mut c_void,
        flags: u32,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaStreamAddCallback(stream, callback, data, flags) })
    }

    /// Runs a host function once the stream's work is done.
    fn cuLaunchHostFunc = cuLaunchHostFunc_ptsz (
        stream: *mut c_void,
        function: Option<HostFunction>,
        data: *mut c_void,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaLaunchHostFunc(stream, function, data) })
    }

    /// An event.
    fn cuEventCreate(event: *mut *mut c_void, flags: u32) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { event::cudaEventCreateWithFlags(event, flags) })
    }

    /// Ends an event.
    fn cuEventDestroy = cuEventDestroy_v2 (event: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { event::cudaEventDestroy(event) })
    }

    /// Records the time once the stream's work is done.
    fn cuEventRecord = cuEventRecord_ptsz (event: *mut c_void, stream: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { event::cudaEventRecord(event, stream) })
    }

    /// The same; the flags concern capture.
    fn cuEventRecordWithFlags = cuEventRecordWithFlags_ptsz (
        event: *mut c_void,
        stream: *mut c_void,
        flags: u32,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { event::cudaEventRecordWithFlags(event, stream, flags) })
    }

    /// Whether an event has happened: yes.
    fn cuEventQuery(event: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { event::cudaEventQuery(event) })
    }

    /// Waits for an event: it has happened.
    fn cuEventSynchronize(event: *mut c_void) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { event::cudaEventSynchronize(event) })
    }

    /// Milliseconds between two events.
    fn cuEventElapsedTime = cuEventElapsedTime_v2 (
        milliseconds: *mut f32,
        start: *mut c_void,
        end: *mut c_void,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { event::cudaEventElapsedTime(milliseconds, start, end) })
    }
}
