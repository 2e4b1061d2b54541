//! Streams.
//!
//! Work runs inside the call that issues it, so a stream is idle between calls, except for host
//! functions: these run on a thread of their own, as CUDA's do, and what follows in the stream waits
//! for them. The default stream waits for, and is waited for by, all streams but non-blocking ones.

pub mod event;
pub mod stream_attributes;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::graph::NodeType;
use super::{graph, store};
use crate::error::{self, CudaError, CudaResult, device_failure, runtime_call};
use crate::execution::check::streams;

/// `cudaStreamNonBlocking`.
const NON_BLOCKING: u32 = 1;

/// `cudaErrorNotReady`.
const NOT_READY: CudaError = CudaError(600);

/// `cudaErrorNotPermitted`.
const NOT_PERMITTED: CudaError = CudaError(800);

/// Priorities that `cudaStreamCreateWithPriority` clamps to: least, greatest.
pub const PRIORITIES: (i32, i32) = (0, -5);

type Callback = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);
type HostFunction = unsafe extern "C" fn(*mut c_void);

#[derive(Debug)]
struct Stream {
    id: u64,
    flags: u32,
    priority: i32,
    /// The host function that runs last.
    host_function: Mutex<Option<JoinHandle<()>>>,
}

/// Waits until the stream may run its next operation. Errors: `cudaErrorInvalidResourceHandle` for
/// what is no stream, `cudaErrorNotPermitted` within a host function.
pub fn in_order(handle: *mut c_void) -> CudaResult {
    let stream = lookup(handle)?;
    if IN_HOST_FUNCTION.get() {
        return Err(NOT_PERMITTED);
    }
    graph::runs_now(handle, stream.id == DEFAULT_ID)?;
    stream.wait();
    if stream.id == DEFAULT_ID {
        blocking_streams().iter().for_each(|other| other.wait());
    } else if stream.flags & NON_BLOCKING == 0 {
        lookup(std::ptr::null_mut())?.wait();
    }
    streams::begins(stream.id, stream.flags & NON_BLOCKING == 0);
    Ok(())
}

/// Whether it is the default stream, under one of its handles. Errors: as for [`in_order`].
pub fn is_default(stream: *mut c_void) -> CudaResult<bool> {
    lookup(stream).map(|stream| stream.id == DEFAULT_ID)
}

/// A stream's number and the priority that it was made with. Errors: `cudaErrorInvalidResourceHandle`.
pub fn id_and_priority(stream: *mut c_void) -> CudaResult<(u64, i32)> {
    lookup(stream).map(|stream| (stream.id, stream.priority))
}

/// Whether it is a stream that no program has made. Errors: `cudaErrorInvalidResourceHandle`.
pub fn is_built_in(stream: *mut c_void) -> CudaResult<bool> {
    lookup(stream).map(|stream| stream.id <= LAST_BUILT_IN_ID)
}

/// Whether the default stream waits for a stream.
pub fn is_blocking(stream: *mut c_void) -> bool {
    lookup(stream).is_ok_and(|stream| stream.flags & NON_BLOCKING == 0)
}

/// Waits for all streams.
pub fn all_in_order() -> CudaResult {
    if IN_HOST_FUNCTION.get() {
        return Err(NOT_PERMITTED);
    }
    graph::waits_for_device()?;
    let streams: Vec<_> = with_streams(|streams| streams.values().cloned().collect());
    streams.iter().for_each(|stream| stream.wait());
    streams::host_waits_for_all();
    Ok(())
}

cuda_functions! {
    /// A stream.
    fn cudaStreamCreate(stream: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null.
        unsafe { create(stream, 0, 0) }
    }

    /// A stream with flags.
    fn cudaStreamCreateWithFlags(stream: *mut *mut c_void, flags: u32) {
        // SAFETY: as above.
        unsafe { create(stream, flags, 0) }
    }

    /// A stream with flags and a priority, which changes nothing here.
    fn cudaStreamCreateWithPriority(stream: *mut *mut c_void, flags: u32, priority: c_int) {
        // SAFETY: as above.
        unsafe { create(stream, flags, priority.clamp(PRIORITIES.1, PRIORITIES.0)) }
    }

    /// Ends a stream once its work is done.
    fn cudaStreamDestroy = cudaStreamDestroy_v2 (stream: *mut c_void) {
        let state = lookup(stream)?;
        if state.id <= LAST_BUILT_IN_ID {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        if !graph::capture::left(stream) {
            in_order(stream)?;
        }
        with_streams(|streams| streams.remove(&(stream as usize)));
        stream_attributes::forget(state.id);
        streams::destroyed(state.id);
        Ok(())
    }

    /// Waits for a stream.
    fn cudaStreamSynchronize = cudaStreamSynchronize_ptsz (stream: *mut c_void) {
        in_order(stream)?;
        streams::host_waits_for_last();
        failure()
    }

    /// Whether a stream is idle.
    fn cudaStreamQuery = cudaStreamQuery_ptsz (stream: *mut c_void) {
        let stream = lookup(stream)?;
        let mut busy = stream.is_busy();
        if stream.id == DEFAULT_ID {
            busy |= blocking_streams().iter().any(|other| other.is_busy());
        }
        if busy {
            return Err(NOT_READY);
        }
        streams::host_waits(stream.id);
        Ok(())
    }

    /// Nothing, since an event that was recorded has happened; one of a capture makes the stream part
    /// of that.
    fn cudaStreamWaitEvent = cudaStreamWaitEvent_ptsz (
        stream: *mut c_void,
        event: *mut c_void,
        flags: u32,
    ) {
        // `cudaEventWaitExternal` is the only one.
        if flags > 1 {
            return Err(CudaError::INVALID_VALUE);
        }
        let id = lookup(stream)?.id;
        super::event::check(event)?;
        graph::event_awaited(stream, event);
        streams::awaited(id, event as usize);
        Ok(())
    }

    /// A stream's flags.
    fn cudaStreamGetFlags = cudaStreamGetFlags_ptsz (stream: *mut c_void, flags: *mut u32) {
        // SAFETY: the program passes a writable address or null.
        unsafe { store(flags, lookup(stream)?.flags) }
    }

    /// A stream's priority.
    fn cudaStreamGetPriority = cudaStreamGetPriority_ptsz (
        stream: *mut c_void,
        priority: *mut c_int,
    ) {
        // SAFETY: as above.
        unsafe { store(priority, stream_attributes::priority(stream)?) }
    }

    /// A stream's number. It is another one after the device began anew: graphs of before have ended, and words by which fused
    /// kernels count for a stream may be left as they were.
    fn cudaStreamGetId = cudaStreamGetId_ptsz (stream: *mut c_void, id: *mut u64) {
        // SAFETY: as above.
        unsafe { store(id, lookup(stream)?.id + (error::resets() << 32)) }
    }

    /// A stream's device: the only one.
    fn cudaStreamGetDevice = cudaStreamGetDevice_ptsz (stream: *mut c_void, device: *mut c_int) {
        lookup(stream)?;
        // SAFETY: as above.
        unsafe { store(device, 0) }
    }

    /// Nothing: managed memory is everybody's.
    fn cudaStreamAttachMemAsync = cudaStreamAttachMemAsync_ptsz (
        stream: *mut c_void,
        _pointer: *mut c_void,
        _bytes: usize,
        _flags: u32,
    ) {
        in_order(stream)
    }

    /// Range of priorities.
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        // SAFETY: the program passes writable addresses or null, which are then left out.
        unsafe {
            if !least.is_null() {
                *least = PRIORITIES.0;
            }
            if !greatest.is_null() {
                *greatest = PRIORITIES.1;
            }
        }
        Ok(())
    }

    /// Calls back once the stream's work is done.
    fn cudaStreamAddCallback = cudaStreamAddCallback_ptsz (
        stream: *mut c_void,
        callback: Option<Callback>,
        data: *mut c_void,
        flags: u32,
    ) {
        let (Some(callback), 0) = (callback, flags) else { return Err(CudaError::INVALID_VALUE) };
        let (handle, data) = (stream as usize, data as usize);
        run_on_host(stream, move || {
            let status = device_failure().map_or(0, |failure| failure.0);
            // SAFETY: the program asked for this call.
            unsafe { callback(handle as *mut c_void, status, data as *mut c_void) };
        })
    }

    /// Runs a host function once the stream's work is done.
    fn cudaLaunchHostFunc = cudaLaunchHostFunc_ptsz (
        stream: *mut c_void,
        function: Option<HostFunction>,
        data: *mut c_void,
    ) {
        let function = function.ok_or(CudaError::INVALID_VALUE)?;
        let data = data as usize;
        // SAFETY: the program asked for this call.
        run_on_host(stream, move || unsafe { function(data as *mut c_void) })
    }

    /// The same; how a host waits for it makes no difference here.
    fn cudaLaunchHostFunc_v2 = cudaLaunchHostFunc_v2_ptsz (
        stream: *mut c_void,
        function: Option<HostFunction>,
        data: *mut c_void,
        _mode: u32,
    ) {
        let function = function.ok_or(CudaError::INVALID_VALUE)?;
        let data = data as usize;
        // SAFETY: the program asked for this call.
        run_on_host(stream, move || unsafe { function(data as *mut c_void) })
    }
}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Handles 0 and 1 are the default stream, 2 the default stream of each thread.
const DEFAULT_ID: u64 = 0;
const LAST_BUILT_IN_ID: u64 = 2;

/// Live streams by handle.
static STREAMS: Mutex<BTreeMap<usize, Arc<Stream>>> = Mutex::new(BTreeMap::new());

static NEXT_ID: AtomicU64 = AtomicU64::new(LAST_BUILT_IN_ID + 1);

fn with_streams<T>(body: impl FnOnce(&mut BTreeMap<usize, Arc<Stream>>) -> T) -> T {
    let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
    if streams.is_empty() {
        let built_in = |id| {
            Arc::new(Stream {
                id,
                flags: 0,
                priority: 0,
                host_function: Mutex::new(None),
            })
        };
        let default = built_in(DEFAULT_ID);
        streams.insert(0, Arc::clone(&default));
        streams.insert(1, default);
        streams.insert(2, built_in(2));
    }
    body(&mut streams)
}

fn lookup(stream: *mut c_void) -> CudaResult<Arc<Stream>> {
    with_streams(|streams| streams.get(&(stream as usize)).cloned())
        .ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

fn blocking_streams() -> Vec<Arc<Stream>> {
    with_streams(|streams| {
        streams
            .values()
            .filter(|stream| stream.flags & NON_BLOCKING == 0)
            .cloned()
            .collect()
    })
}

/// # Safety
/// The address is writable or null.
unsafe fn create(stream: *mut *mut c_void, flags: u32, priority: i32) -> CudaResult {
    if flags & !NON_BLOCKING != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let state = Arc::new(Stream {
        id,
        flags,
        priority,
        host_function: Mutex::new(None),
    });
    // A small block of its own gives each stream an address that no live stream shares; it is never
    // freed, so that a handle used after its stream's end is recognised.
    let handle = Box::into_raw(Box::new(id));
    streams::created(id, flags & NON_BLOCKING == 0);
    with_streams(|streams| streams.insert(handle as usize, state));
    // SAFETY: as the caller promises.
    unsafe { store(stream, handle.cast()) }
}

impl Stream {
    fn wait(&self) {
        let pending = self
            .host_function
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = pending {
            // A host function cannot unwind through its C frame, so that joining does not fail.
            let _ = thread.join();
        }
    }

    fn is_busy(&self) -> bool {
        let pending = self
            .host_function
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        pending.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

/// Runs a host function of a graph once the stream's work is done; it gets `data`.
pub fn call_host(stream: *mut c_void, function: usize, data: usize) -> CudaResult {
    // SAFETY: the program said that a host function is there.
    let function: HostFunction = unsafe { std::mem::transmute(function) };
    // SAFETY: the program asked for this call.
    run_on_host(stream, move || unsafe { function(data as *mut c_void) })
}

fn run_on_host(
    stream: *mut c_void,
    function: impl Fn() + Clone + Send + Sync + 'static,
) -> CudaResult {
    let again = function.clone();
    if graph::recorded(stream, NodeType::Host, move |stream| {
        run_on_host(stream, again.clone())
    })? {
        return Ok(());
    }
    in_order(stream)?;
    // What it tells the rest of the host is not seen.
    streams::host_waits_for_last();
    let state = lookup(stream)?;
    let thread = std::thread::Builder::new()
        .spawn(move || {
            IN_HOST_FUNCTION.set(true);
            // A context is current there, as in CUDA's thread for such functions, so that the driver's
            // interface answers what may be asked, such as whether an event has happened.
            runtime_call(|| Ok(()));
            function();
        })
        .map_err(|_| CudaError::MEMORY_ALLOCATION)?;
    *state
        .host_function
        .lock()
        .unwrap_or_else(PoisonError::into_inner) = Some(thread);
    Ok(())
}

fn failure() -> CudaResult {
    device_failure().map_or(Ok(()), Err)
}
