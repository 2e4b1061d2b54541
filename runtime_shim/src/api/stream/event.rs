//! Events. Work is done when the call that issued it returns, so an event happens when it is recorded.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::super::{graph, store, stream};
use crate::error::{CudaError, CudaResult};
use crate::execution::check::streams;

/// `cudaEventDisableTiming`.
const DISABLE_TIMING: u32 = 2;
/// `cudaEventRecordExternal`.
const RECORD_EXTERNAL: u32 = 1;
/// `cudaEventBlockingSync`, `cudaEventDisableTiming`, `cudaEventInterprocess`.
const KNOWN_FLAGS: u32 = 7;

#[derive(Clone, Copy, Debug)]
struct Event {
    flags: u32,
    recorded: Option<Instant>,
}

/// Errors: `cudaErrorInvalidResourceHandle` for what is no event.
pub fn check(event: *mut c_void) -> CudaResult {
    lookup(event).map(drop)
}

cuda_functions! {
    /// An event.
    fn cudaEventCreate(event: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null.
        unsafe { create(event, 0) }
    }

    /// An event with flags.
    fn cudaEventCreateWithFlags(event: *mut *mut c_void, flags: u32) {
        // SAFETY: as above.
        unsafe { create(event, flags) }
    }

    /// Ends an event.
    fn cudaEventDestroy = cudaEventDestroy_v2 (event: *mut c_void) {
        events().remove(&(event as usize)).map(drop).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
    }

    /// Records the time once the stream's work is done.
    fn cudaEventRecord = cudaEventRecord_ptsz (event: *mut c_void, stream: *mut c_void) {
        record(event, stream)
    }

    /// The same; on a stream that is captured, an external one is recorded when the graph runs.
    fn cudaEventRecordWithFlags = cudaEventRecordWithFlags_ptsz (
        event: *mut c_void,
        stream: *mut c_void,
        flags: u32,
    ) {
        match flags {
            0 => record(event, stream),
            RECORD_EXTERNAL => {
                check(event)?;
                match graph::capture::record_recorded(stream, event)? {
                    true => Ok(()),
                    false => Err(CudaError::INVALID_VALUE),
                }
            }
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// Whether an event has happened: yes.
    fn cudaEventQuery(event: *mut c_void) {
        check(event)?;
        streams::host_waits_for_event(event as usize);
        Ok(())
    }

    /// Waits for an event: it has happened.
    fn cudaEventSynchronize(event: *mut c_void) {
        check(event)?;
        streams::host_waits_for_event(event as usize);
        Ok(())
    }

    /// Milliseconds between two events.
    fn cudaEventElapsedTime = cudaEventElapsedTime_v2 (
        milliseconds: *mut f32,
        start: *mut c_void,
        end: *mut c_void,
    ) {
        // Both have happened, else there is no time between them.
        for event in [start, end] {
            streams::host_waits_for_event(event as usize);
        }
        let (start, end) = (lookup(start)?, lookup(end)?);
        let (Some(from), Some(to)) = (start.recorded, end.recorded) else {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        };
        if (start.flags | end.flags) & DISABLE_TIMING != 0 {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        let elapsed = match to.checked_duration_since(from) {
            Some(forward) => forward.as_secs_f32(),
            None => -from.duration_since(to).as_secs_f32(),
        };
        // SAFETY: the program passes a writable address or null.
        unsafe { store(milliseconds, elapsed * 1000.0) }
    }
}

/// Live events by handle.
static EVENTS: Mutex<BTreeMap<usize, Event>> = Mutex::new(BTreeMap::new());

fn events() -> std::sync::MutexGuard<'static, BTreeMap<usize, Event>> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lookup(event: *mut c_void) -> CudaResult<Event> {
    events()
        .get(&(event as usize))
        .copied()
        .ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// # Safety
/// The address is writable or null.
unsafe fn create(event: *mut *mut c_void, flags: u32) -> CudaResult {
    // Interprocess events must not have times.
    if flags & !KNOWN_FLAGS != 0 || flags & 6 == 4 {
        return Err(CudaError::INVALID_VALUE);
    }
    // A block of its own gives each event an address that nothing else has, ever.
    let handle = Box::into_raw(Box::new(0_u64));
    events().insert(
        handle as usize,
        Event {
            flags,
            recorded: None,
        },
    );
    // SAFETY: as the caller promises.
    unsafe { store(event, handle.cast()) }
}

/// Records an event on a stream.
pub fn record(event: *mut c_void, stream: *mut c_void) -> CudaResult {
    check(event)?;
    if graph::event_recorded(event, stream) {
        return Ok(());
    }
    stream::in_order(stream)?;
    streams::recorded_here(event as usize);
    let now = Instant::now();
    events()
        .get_mut(&(event as usize))
        .map(|event| event.recorded = Some(now))
        .ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}
