//! Stream capture, and graphs that it makes.
//!
//! What is issued on a captured stream is recorded in the order of issue, which keeps all orders between
//! streams that events ask for; a graph's launch runs it in that order. Invariant: while a stream is
//! captured nothing runs on it: what cannot be recorded is refused and invalidates the capture, as on a
//! real device. Graphs that are built node by node are not supported.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{store, stream};
use crate::error::{CudaError, CudaResult};

/// `cudaErrorIllegalState`.
const ILLEGAL_STATE: CudaError = CudaError(401);
/// `cudaErrorStreamCaptureUnsupported`.
const UNSUPPORTED: CudaError = CudaError(900);
/// `cudaErrorStreamCaptureInvalidated`.
const INVALIDATED: CudaError = CudaError(901);
/// `cudaErrorStreamCaptureUnmatched`.
const UNMATCHED: CudaError = CudaError(903);
/// `cudaErrorStreamCaptureImplicit`.
const IMPLICIT: CudaError = CudaError(906);

/// `cudaStreamCaptureStatusActive`, `cudaStreamCaptureStatusInvalidated`.
const ACTIVE: u32 = 1;
const INVALID: u32 = 2;

/// `cudaStreamCaptureModeRelaxed`, the last one.
const LAST_MODE: c_int = 2;

/// Something that runs again and again; it gets the stream that the graph is launched on.
type Operation = Arc<dyn Fn(*mut c_void) -> CudaResult + Send + Sync>;

struct Capture {
    /// The stream that it began with.
    origin: usize,
    operations: Vec<Operation>,
    is_valid: bool,
}

type Shared = Arc<Mutex<Capture>>;

/// Whether a stream is captured.
pub fn is_captured(stream: *mut c_void) -> bool {
    of_stream(stream).is_some()
}

/// Records an operation where the stream is captured; then it must not run. Errors:
/// `cudaErrorStreamCaptureInvalidated`.
pub fn recorded(
    stream: *mut c_void,
    operation: impl Fn(*mut c_void) -> CudaResult + Send + Sync + 'static,
) -> CudaResult<bool> {
    let Some(capture) = of_stream(stream) else {
        return Ok(false);
    };
    let mut capture = lock(&capture);
    if !capture.is_valid {
        return Err(INVALIDATED);
    }
    capture.operations.push(Arc::new(operation));
    Ok(true)
}

/// Refuses what runs at once on a stream that is captured, or on the default stream while one that
/// waits for it is.
pub fn runs_now(stream: *mut c_void, waits_for_blocking_streams: bool) -> CudaResult {
    if CAPTURES.load(Ordering::Relaxed) == 0 || REPLAYS.get() {
        return Ok(());
    }
    if let Some(capture) = of_stream(stream) {
        lock(&capture).is_valid = false;
        return Err(UNSUPPORTED);
    }
    let captured: Vec<(usize, Shared)> = captured().clone().into_iter().collect();
    for (other, capture) in captured {
        if waits_for_blocking_streams && stream::is_blocking(other as *mut c_void) {
            lock(&capture).is_valid = false;
            return Err(IMPLICIT);
        }
    }
    Ok(())
}

/// Refuses a wait for the whole device while anything is captured.
pub fn waits_for_device() -> CudaResult {
    if CAPTURES.load(Ordering::Relaxed) == 0 || REPLAYS.get() {
        return Ok(());
    }
    for capture in captured().values() {
        lock(capture).is_valid = false;
    }
    Err(UNSUPPORTED)
}

/// An event recorded on a captured stream stands for the capture; whether it does.
pub fn event_recorded(event: *mut c_void, stream: *mut c_void) -> bool {
    let capture = of_stream(stream);
    let mut events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
    match capture {
        Some(capture) => {
            events.insert(event as usize, capture);
            true
        }
        None => {
            events.remove(&(event as usize));
            false
        }
    }
}

/// A stream that waits for an event of a capture becomes part of it.
pub fn event_awaited(stream: *mut c_void, event: *mut c_void) {
    let events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(capture) = events.get(&(event as usize)) else {
        return;
    };
    let mut captured = captured();
    let origin = lock(capture).origin;
    // The event of a capture that has ended says nothing more.
    if captured.contains_key(&origin) {
        captured
            .entry(stream as usize)
            .or_insert_with(|| Arc::clone(capture));
    }
}

cuda_functions! {
    /// Begins to record what is issued on a stream. The default stream cannot be captured.
    fn cudaStreamBeginCapture = cudaStreamBeginCapture_ptsz (stream: *mut c_void, mode: c_int) {
        if !(0..=LAST_MODE).contains(&mode) {
            return Err(CudaError::INVALID_VALUE);
        }
        if stream::is_default(stream)? {
            return Err(UNSUPPORTED);
        }
        let capture = Capture {
            origin: stream as usize,
            operations: Vec::new(),
            is_valid: true,
        };
        let mut captured = captured();
        if captured.contains_key(&(stream as usize)) {
            return Err(ILLEGAL_STATE);
        }
        captured.insert(stream as usize, Arc::new(Mutex::new(capture)));
        CAPTURES.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Ends the capture that began with the stream; what was recorded becomes a graph. Streams that
    /// came in by events are free again.
    fn cudaStreamEndCapture = cudaStreamEndCapture_ptsz (
        stream: *mut c_void,
        graph: *mut *mut c_void,
    ) {
        let capture = of_stream(stream).ok_or(ILLEGAL_STATE)?;
        if lock(&capture).origin != stream as usize {
            lock(&capture).is_valid = false;
            return Err(UNMATCHED);
        }
        captured().retain(|_, other| !Arc::ptr_eq(other, &capture));
        CAPTURES.fetch_sub(1, Ordering::Relaxed);
        let capture = lock(&capture);
        // SAFETY: the program passes a writable address or null.
        unsafe {
            if !capture.is_valid {
                store(graph, std::ptr::null_mut())?;
                return Err(INVALIDATED);
            }
            store(graph, insert(&GRAPHS, capture.operations.clone()))
        }
    }

    /// Whether a stream is captured.
    fn cudaStreamIsCapturing = cudaStreamIsCapturing_ptsz (
        stream: *mut c_void,
        status: *mut u32,
    ) {
        stream::is_default(stream)?;
        let state = match of_stream(stream) {
            None => 0,
            Some(capture) if lock(&capture).is_valid => ACTIVE,
            Some(_) => INVALID,
        };
        // SAFETY: the program passes a writable address or null.
        unsafe { store(status, state) }
    }

    /// What a thread may call while it captures, exchanged for what it could before. Here that says
    /// nothing: what a capture forbids it forbids in each mode.
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) {
        if mode.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes a mode that can be read and written.
        let wanted = unsafe { *mode };
        if !(0..=LAST_MODE).contains(&wanted) {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe { store(mode, MODE.replace(wanted)) }
    }

    /// Makes a graph that can be launched. What further arguments older headers pass says where an
    /// error is, of which there is none.
    fn cudaGraphInstantiate = cudaGraphInstantiateWithFlags (
        executable: *mut *mut c_void,
        graph: *mut c_void,
        _flags: u64,
    ) {
        let operations = get(&GRAPHS, graph)?;
        // SAFETY: the program passes a writable address or null.
        unsafe { store(executable, insert(&EXECUTABLES, operations)) }
    }

    /// Nothing: it is where it runs.
    fn cudaGraphUpload = cudaGraphUpload_ptsz (executable: *mut c_void, _stream: *mut c_void) {
        get(&EXECUTABLES, executable).map(drop)
    }

    /// Runs a graph.
    fn cudaGraphLaunch = cudaGraphLaunch_ptsz (executable: *mut c_void, stream: *mut c_void) {
        let operations = get(&EXECUTABLES, executable)?;
        if !recorded(stream, {
            let operations = operations.clone();
            move |stream| run(&operations, stream)
        })? {
            stream::in_order(stream)?;
            run(&operations, stream)?;
        }
        Ok(())
    }

    /// The nodes of a graph: as many as operations were recorded.
    fn cudaGraphGetNodes(graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) {
        let operations = get(&GRAPHS, graph)?;
        if count.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes a writable count, and room for so many nodes or null.
        unsafe {
            if !nodes.is_null() {
                let room = *count;
                for index in 0..room {
                    let node = operations.get(index).map(Arc::as_ptr);
                    let node = node.map_or(std::ptr::null_mut(), |node| node.cast_mut().cast());
                    nodes.add(index).write(node);
                }
                *count = room.min(operations.len());
            } else {
                *count = operations.len();
            }
        }
        Ok(())
    }

    /// Ends a graph.
    fn cudaGraphDestroy(graph: *mut c_void) {
        remove(&GRAPHS, graph)
    }

    /// Ends a graph that could be launched.
    fn cudaGraphExecDestroy(executable: *mut c_void) {
        remove(&EXECUTABLES, executable)
    }
}

type Graphs = Mutex<BTreeMap<usize, Vec<Operation>>>;

static GRAPHS: Graphs = Mutex::new(BTreeMap::new());
static EXECUTABLES: Graphs = Mutex::new(BTreeMap::new());

/// How many captures are in progress: mostly none, so that nobody has to look.
static CAPTURES: AtomicUsize = AtomicUsize::new(0);
/// The streams that are captured.
static CAPTURED: Mutex<BTreeMap<usize, Shared>> = Mutex::new(BTreeMap::new());
/// Events that were recorded on captured streams.
static EVENTS: Mutex<BTreeMap<usize, Shared>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// This thread runs a graph, which no capture elsewhere forbids.
    static REPLAYS: Cell<bool> = const { Cell::new(false) };
    /// What this thread may call while it captures.
    static MODE: Cell<c_int> = const { Cell::new(0) };
}

fn captured() -> MutexGuard<'static, BTreeMap<usize, Shared>> {
    CAPTURED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lock(capture: &Shared) -> MutexGuard<'_, Capture> {
    capture.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of_stream(stream: *mut c_void) -> Option<Shared> {
    if CAPTURES.load(Ordering::Relaxed) == 0 || REPLAYS.get() {
        return None;
    }
    captured().get(&(stream as usize)).cloned()
}

fn run(operations: &[Operation], stream: *mut c_void) -> CudaResult {
    let before = REPLAYS.replace(true);
    let result = operations
        .iter()
        .try_for_each(|operation| operation(stream));
    REPLAYS.set(before);
    result
}

fn insert(graphs: &Graphs, operations: Vec<Operation>) -> *mut c_void {
    // A block of its own gives each graph an address that nothing else has, ever.
    let handle = Box::into_raw(Box::new(0_u64));
    let mut graphs = graphs.lock().unwrap_or_else(PoisonError::into_inner);
    graphs.insert(handle as usize, operations);
    handle.cast()
}

fn get(graphs: &Graphs, handle: *mut c_void) -> CudaResult<Vec<Operation>> {
    let graphs = graphs.lock().unwrap_or_else(PoisonError::into_inner);
    let found = graphs.get(&(handle as usize)).cloned();
    found.ok_or(CudaError::INVALID_VALUE)
}

fn remove(graphs: &Graphs, handle: *mut c_void) -> CudaResult {
    let mut graphs = graphs.lock().unwrap_or_else(PoisonError::into_inner);
    let removed = graphs.remove(&(handle as usize));
    removed.map(drop).ok_or(CudaError::INVALID_VALUE)
}
