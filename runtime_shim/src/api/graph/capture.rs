//! Stream capture: graphs from what is issued on streams.
//!
//! Each operation that is issued on a captured stream becomes a node, after those that the stream has come to:
//! its last one, and those of events that it has waited for. Invariant: while a stream is captured nothing
//! runs on it: what cannot be recorded is refused and invalidates the capture, as on a real device.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    GraphMemory, NodeType, Work, handles, names_mean_edge_data, user_objects, with_graphs,
};
use crate::api::launch::KernelOperation;
use crate::api::{store, stream};
use crate::error::{CudaError, CudaResult};

/// `cudaErrorIllegalState`.
const ILLEGAL_STATE: CudaError = CudaError(401);
/// `cudaErrorStreamCaptureUnsupported`.
const UNSUPPORTED: CudaError = CudaError(900);
/// `cudaErrorStreamCaptureInvalidated`.
const INVALIDATED: CudaError = CudaError(901);
/// `cudaErrorStreamCaptureUnmatched`.
const UNMATCHED: CudaError = CudaError(903);
/// `cudaErrorStreamCaptureUnjoined`.
const UNJOINED: CudaError = CudaError(904);
/// `cudaErrorStreamCaptureImplicit`.
const IMPLICIT: CudaError = CudaError(906);

/// `cudaStreamCaptureStatusActive`, `cudaStreamCaptureStatusInvalidated`.
const ACTIVE: u32 = 1;
const INVALID: u32 = 2;

/// `cudaStreamCaptureModeRelaxed`, the last one.
const LAST_MODE: c_int = 2;

struct Capture {
    number: u64,
    /// The stream that it began with.
    origin: usize,
    /// The graph that it fills.
    graph: usize,
    /// The graph is one that the program gave, and stays whatever becomes of the capture.
    is_given: bool,
    /// What the next operation of each stream comes after. The addresses of these lists are shown to who
    /// asks, until the next operation.
    reached: BTreeMap<usize, Vec<usize>>,
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
    node_type: NodeType,
    operation: impl Fn(*mut c_void) -> CudaResult + Send + Sync + 'static,
) -> CudaResult<bool> {
    match is_captured(stream) {
        true => add(stream, Work::Recorded(node_type, Arc::new(operation))).map(|()| true),
        false => Ok(false),
    }
}

/// Records a launch on a captured stream. Errors: as for [`recorded`].
pub fn kernel_recorded(stream: *mut c_void, operation: KernelOperation) -> CudaResult {
    add(stream, Work::Kernel(Arc::new(operation)))
}

/// Records that an event is recorded where the graph runs. Errors: as for [`recorded`].
pub fn record_recorded(stream: *mut c_void, event: *mut c_void) -> CudaResult<bool> {
    match is_captured(stream) {
        true => add(stream, Work::Record(event as usize)).map(|()| true),
        false => Ok(false),
    }
}

/// Memory that is allocated on a captured stream is its graph's; `None` where the stream is not captured.
pub fn allocated(stream: *mut c_void, bytes: usize) -> CudaResult<Option<usize>> {
    if !is_captured(stream) {
        return Ok(None);
    }
    let memory = GraphMemory::new(bytes)?;
    let address = memory.address;
    add(stream, Work::Allocate(memory))?;
    Ok(Some(address))
}

/// Records that memory is freed where the stream is captured. Errors: as for [`recorded`], and
/// `cudaErrorInvalidValue` for what is no graph's memory.
pub fn freed(stream: *mut c_void, address: usize) -> CudaResult<bool> {
    if !is_captured(stream) {
        return Ok(false);
    }
    if !super::owns(address) {
        return Err(CudaError::INVALID_VALUE);
    }
    add(stream, Work::Free(address)).map(|()| true)
}

fn add(stream: *mut c_void, work: Work) -> CudaResult {
    let capture = of_stream(stream).ok_or(ILLEGAL_STATE)?;
    let mut capture = lock(&capture);
    if !capture.is_valid {
        return Err(INVALIDATED);
    }
    let graph = capture.graph;
    let reached = capture.reached.entry(stream as usize).or_default();
    let node = with_graphs(|graphs| graphs.add(graph, reached, work))?;
    *reached = vec![node];
    Ok(())
}

/// A stream that a capture came to by an event and that ends: what it had come to must still be waited for. Whether
/// it is one.
pub fn left(stream: *mut c_void) -> bool {
    let mut captured = captured();
    let handle = stream as usize;
    let joined = captured
        .get(&handle)
        .is_some_and(|capture| lock(capture).origin != handle);
    joined && captured.remove(&handle).is_some()
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

/// What an event of a capture stands for.
#[derive(Clone)]
struct Recorded {
    capture: Shared,
    /// What its stream had come to.
    reached: Vec<usize>,
}

/// An event recorded on a captured stream stands for what the stream has come to; whether it does.
pub fn event_recorded(event: *mut c_void, stream: *mut c_void) -> bool {
    let capture = of_stream(stream);
    let mut events = EVENTS.lock().unwrap_or_else(PoisonError::into_inner);
    match capture {
        Some(capture) => {
            let reached = lock(&capture).reached.get(&(stream as usize)).cloned();
            let reached = reached.unwrap_or_default();
            events.insert(event as usize, Recorded { capture, reached });
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
    let Some(Recorded { capture, reached }) = events.get(&(event as usize)) else {
        return;
    };
    let mut captured = captured();
    let (origin, number) = {
        let capture = lock(capture);
        (capture.origin, capture.number)
    };
    // The event of a capture that has ended says nothing more.
    if captured
        .get(&origin)
        .is_none_or(|current| lock(current).number != number)
    {
        return;
    }
    let own = captured
        .entry(stream as usize)
        .or_insert_with(|| Arc::clone(capture));
    if !Arc::ptr_eq(own, capture) {
        // Two captures do not become one.
        lock(own).is_valid = false;
        lock(capture).is_valid = false;
        return;
    }
    let mut capture = lock(capture);
    let come_to = capture.reached.entry(stream as usize).or_default();
    for node in reached {
        if !come_to.contains(node) {
            come_to.push(*node);
        }
    }
}

cuda_functions! {
    /// Begins to record what is issued on a stream. The default stream cannot be captured.
    fn cudaStreamBeginCapture = cudaStreamBeginCapture_ptsz (stream: *mut c_void, mode: c_int) {
        begin(stream, mode, None)
    }

    /// Begins to record what is issued on a stream into a graph that is there, after some of its nodes.
    fn cudaStreamBeginCaptureToGraph = cudaStreamBeginCaptureToGraph_ptsz (
        stream: *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        _edges: *const c_void,
        count: usize,
        mode: c_int,
    ) {
        // SAFETY: the program passes so many nodes.
        let after = unsafe { handles(after, count)? };
        with_graphs(|graphs| {
            let graph = graphs.graph(graph as usize)?;
            after.iter().try_for_each(|node| graph.node(*node).map(drop))
        })?;
        begin(stream, mode, Some((graph as usize, after)))
    }

    /// Ends the capture that began with the stream; what was recorded becomes a graph. Streams that
    /// came in by events are free again, and must have been waited for.
    fn cudaStreamEndCapture = cudaStreamEndCapture_ptsz (
        stream: *mut c_void,
        graph: *mut *mut c_void,
    ) {
        let shared = of_stream(stream).ok_or(ILLEGAL_STATE)?;
        if lock(&shared).origin != stream as usize {
            lock(&shared).is_valid = false;
            return Err(UNMATCHED);
        }
        captured().retain(|_, other| !Arc::ptr_eq(other, &shared));
        CAPTURES.fetch_sub(1, Ordering::Relaxed);
        let capture = lock(&shared);
        let error = match capture.is_valid {
            false => Some(INVALIDATED),
            true if !is_joined(&capture)? => Some(UNJOINED),
            true => None,
        };
        let Some(error) = error else {
            // SAFETY: the program passes a writable address or null; the same in this file.
            return unsafe { store(graph, capture.graph as *mut c_void) };
        };
        if !capture.is_given {
            let references = with_graphs(|graphs| graphs.destroy(capture.graph))?;
            user_objects::release(&references);
        }
        // SAFETY: as above.
        unsafe { store(graph, std::ptr::null_mut())? };
        Err(error)
    }

    /// Whether a stream is captured.
    fn cudaStreamIsCapturing = cudaStreamIsCapturing_ptsz (
        stream: *mut c_void,
        status: *mut u32,
    ) {
        stream::is_default(stream)?;
        // SAFETY: as above.
        unsafe { store(status, state(stream)) }
    }

    /// The capture of a stream: its number, its graph and what the next operation comes after. The headers
    /// before CUDA 13 have only the number under this name.
    fn cudaStreamGetCaptureInfo = cudaStreamGetCaptureInfo_ptsz (
        stream: *mut c_void,
        status: *mut u32,
        number: *mut u64,
        graph: *mut *mut c_void,
        after: *mut *const usize,
        edges: *mut *const c_void,
        count: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe {
            match names_mean_edge_data() {
                true => information(stream, (status, number, graph), (after, edges, count)),
                false => {
                    let none = std::ptr::null_mut();
                    let nowhere = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
                    information(stream, (status, number, none), nowhere)
                }
            }
        }
    }

    /// The same as the headers of CUDA 12 have it, without data of edges.
    fn cudaStreamGetCaptureInfo_v2 = cudaStreamGetCaptureInfo_v2_ptsz (
        stream: *mut c_void,
        status: *mut u32,
        number: *mut u64,
        graph: *mut *mut c_void,
        after: *mut *const usize,
        count: *mut usize,
    ) {
        let lists = (after, std::ptr::null_mut(), count);
        // SAFETY: as above.
        unsafe { information(stream, (status, number, graph), lists) }
    }

    /// The same with data of edges.
    fn cudaStreamGetCaptureInfo_v3 = cudaStreamGetCaptureInfo_v3_ptsz (
        stream: *mut c_void,
        status: *mut u32,
        number: *mut u64,
        graph: *mut *mut c_void,
        after: *mut *const usize,
        edges: *mut *const c_void,
        count: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { information(stream, (status, number, graph), (after, edges, count)) }
    }

    /// Changes what the next operation of a captured stream comes after. The headers of CUDA 13 pass data
    /// of edges before the count.
    fn cudaStreamUpdateCaptureDependencies = cudaStreamUpdateCaptureDependencies_ptsz (
        stream: *mut c_void,
        after: *const *mut c_void,
        third: usize,
        fourth: usize,
        fifth: u32,
    ) {
        let (count, flags) = match names_mean_edge_data() {
            true => (fourth, fifth),
            false => (third, fourth as u32),
        };
        // SAFETY: the program passes so many nodes.
        update(stream, &unsafe { handles(after, count)? }, flags)
    }

    /// Changes what the next operation of a captured stream comes after.
    fn cudaStreamUpdateCaptureDependencies_v2 = cudaStreamUpdateCaptureDependencies_v2_ptsz (
        stream: *mut c_void,
        after: *const *mut c_void,
        _edges: *const c_void,
        count: usize,
        flags: u32,
    ) {
        // SAFETY: as above.
        update(stream, &unsafe { handles(after, count)? }, flags)
    }

    /// Exchanges how captures of other threads forbid calls of this one: here none does.
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) {
        // SAFETY: the program passes a writable address or null.
        let mode = unsafe { mode.as_mut() }.ok_or(CudaError::INVALID_VALUE)?;
        if !(0..=LAST_MODE).contains(mode) {
            return Err(CudaError::INVALID_VALUE);
        }
        *mode = MODE.replace(*mode);
        Ok(())
    }
}

fn begin(stream: *mut c_void, mode: c_int, given: Option<(usize, Vec<usize>)>) -> CudaResult {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if !(0..=LAST_MODE).contains(&mode) {
        return Err(CudaError::INVALID_VALUE);
    }
    if stream::is_default(stream)? {
        return Err(UNSUPPORTED);
    }
    let mut captured = captured();
    if captured.contains_key(&(stream as usize)) {
        return Err(ILLEGAL_STATE);
    }
    let is_given = given.is_some();
    let (graph, after) =
        given.unwrap_or_else(|| (with_graphs(|graphs| graphs.create()), Vec::new()));
    let capture = Capture {
        number: NEXT.fetch_add(1, Ordering::Relaxed),
        origin: stream as usize,
        graph,
        is_given,
        reached: BTreeMap::from([(stream as usize, after)]),
        is_valid: true,
    };
    captured.insert(stream as usize, Arc::new(Mutex::new(capture)));
    CAPTURES.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Whether the stream that a capture began with has come to everything that the other streams did.
fn is_joined(capture: &Capture) -> CudaResult<bool> {
    let (own, others): (Vec<_>, Vec<_>) = capture
        .reached
        .iter()
        .partition(|(stream, _)| **stream == capture.origin);
    if others.is_empty() {
        return Ok(true);
    }
    let after: BTreeMap<usize, Vec<usize>> = with_graphs(|graphs| {
        let nodes = graphs.graph(capture.graph)?.nodes.iter();
        Ok(nodes
            .map(|node| (node.handle, node.after.clone()))
            .collect())
    })?;
    let mut next: Vec<usize> = own
        .into_iter()
        .flat_map(|(_, nodes)| nodes.clone())
        .collect();
    let mut waits_for = BTreeSet::new();
    while let Some(node) = next.pop() {
        if waits_for.insert(node) {
            next.extend(after.get(&node).into_iter().flatten());
        }
    }
    let mut others = others.into_iter().flat_map(|(_, nodes)| nodes);
    Ok(others.all(|node| waits_for.contains(node)))
}

fn state(stream: *mut c_void) -> u32 {
    match of_stream(stream) {
        None => 0,
        Some(capture) if lock(&capture).is_valid => ACTIVE,
        Some(_) => INVALID,
    }
}

/// # Safety
/// The addresses are writable; all but that of the status may be null.
unsafe fn information(
    stream: *mut c_void,
    (status, number, graph): (*mut u32, *mut u64, *mut *mut c_void),
    (after, edges, count): (*mut *const usize, *mut *const c_void, *mut usize),
) -> CudaResult {
    stream::is_default(stream)?;
    let state = state(stream);
    // SAFETY: as the caller promises.
    unsafe {
        store(status, state)?;
        let Some(capture) = of_stream(stream).filter(|_| state == ACTIVE) else {
            return Ok(());
        };
        let mut capture = lock(&capture);
        if !number.is_null() {
            *number = capture.number;
        }
        if !graph.is_null() {
            *graph = capture.graph as *mut c_void;
        }
        let reached = capture.reached.entry(stream as usize).or_default();
        if !after.is_null() {
            *after = reached.as_ptr();
        }
        if !edges.is_null() {
            *edges = std::ptr::null();
        }
        if !count.is_null() {
            *count = reached.len();
        }
    }
    Ok(())
}

fn update(stream: *mut c_void, after: &[usize], flags: u32) -> CudaResult {
    /// `cudaStreamAddCaptureDependencies`, `cudaStreamSetCaptureDependencies`.
    const ADD: u32 = 0;
    const SET: u32 = 1;
    let capture = of_stream(stream).ok_or(ILLEGAL_STATE)?;
    let mut capture = lock(&capture);
    if !capture.is_valid {
        return Err(INVALIDATED);
    }
    with_graphs(|graphs| {
        let graph = graphs.graph(capture.graph)?;
        after
            .iter()
            .try_for_each(|node| graph.node(*node).map(drop))
    })?;
    let reached = capture.reached.entry(stream as usize).or_default();
    match flags {
        ADD => {}
        SET => reached.clear(),
        _ => return Err(CudaError::INVALID_VALUE),
    }
    for node in after {
        if !reached.contains(node) {
            reached.push(*node);
        }
    }
    Ok(())
}

/// How many captures are in progress: mostly none, so that nobody has to look.
static CAPTURES: AtomicUsize = AtomicUsize::new(0);
/// The streams that are captured.
static CAPTURED: Mutex<BTreeMap<usize, Shared>> = Mutex::new(BTreeMap::new());
/// Events that were recorded on captured streams.
static EVENTS: Mutex<BTreeMap<usize, Recorded>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// This thread runs a graph, which no capture elsewhere forbids.
    static REPLAYS: Cell<bool> = const { Cell::new(false) };
    /// `cudaStreamCaptureModeGlobal` at first.
    static MODE: Cell<c_int> = const { Cell::new(0) };
}

/// Runs what a graph does: nothing of it is recorded.
/// Whether this thread launches what is in a graph.
pub fn is_replaying() -> bool {
    REPLAYS.get()
}

pub(super) fn while_replaying<T>(body: impl FnOnce() -> T) -> T {
    let before = REPLAYS.replace(true);
    let result = body();
    REPLAYS.set(before);
    result
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
