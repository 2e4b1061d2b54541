//! What memory graphs use, and what is reserved for them.
//!
//! Memory is in use from the run of the node that allocates it to that of one that frees it, or to a call that does.
//! It is counted as a GPU counts, which takes memory for graphs in pieces of 32 MiB, keeps them for further graphs until
//! they are trimmed, and calls all that it keeps used. Here each allocation has memory of its own from the making of
//! its node on. Invariant: memory that is in use stays, even if no graph names it any more.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::GraphMemory;
use crate::api::{store, stream};
use crate::error::{CudaError, CudaResult};

#[derive(Default)]
struct Footprint {
    in_use: BTreeMap<usize, Arc<GraphMemory>>,
    /// Bytes in use.
    live: u64,
    /// Bytes kept.
    kept: u64,
    most_used: u64,
    most_reserved: u64,
}

/// What a GPU takes for graphs at a time.
const PIECE: u64 = 32 << 20;

static FOOTPRINT: Mutex<Footprint> = Mutex::new(Footprint {
    in_use: BTreeMap::new(),
    live: 0,
    kept: 0,
    most_used: 0,
    most_reserved: 0,
});

/// A node that allocates runs.
pub(super) fn allocated(memory: &Arc<GraphMemory>) {
    let mut all = footprint();
    let before = all.in_use.insert(memory.address, Arc::clone(memory));
    if before.is_none() {
        all.live += memory.bytes as u64;
        all.kept = all.kept.max(all.live.next_multiple_of(PIECE));
        all.most_used = all.most_used.max(all.kept);
        all.most_reserved = all.most_reserved.max(all.kept);
    }
}

/// Whether memory of a graph is in use.
pub(super) fn is_in_use(memory: &GraphMemory) -> bool {
    footprint().in_use.contains_key(&memory.address)
}

/// Memory of a graph is freed, by a node that runs or by a call.
pub fn freed(address: usize) {
    let mut all = footprint();
    let memory = all.in_use.remove(&address);
    all.live -= memory.as_ref().map_or(0, |memory| memory.bytes as u64);
    // It may be nobody's any more, and then it ends.
    drop(all);
}

/// `cudaGraphMemAttributeType`.
const USED: u32 = 0;
const MOST_USED: u32 = 1;
const RESERVED: u32 = 2;
const MOST_RESERVED: u32 = 3;

cuda_functions! {
    /// Bytes that graphs use, or that are reserved for them, now or at most.
    fn cudaDeviceGetGraphMemAttribute(
        device: c_int,
        attribute: u32,
        value: *mut c_void,
    ) {
        only(device)?;
        let all = footprint();
        let number = match attribute {
            USED | RESERVED => all.kept,
            MOST_USED => all.most_used,
            MOST_RESERVED => all.most_reserved,
            _ => return Err(CudaError::INVALID_VALUE),
        };
        // SAFETY: the program passes room for 64 bits, or null.
        unsafe { store(value.cast::<u64>(), number) }
    }

    /// Lets the most begin again with what is now.
    fn cudaDeviceSetGraphMemAttribute(
        device: c_int,
        attribute: u32,
        value: *mut c_void,
    ) {
        only(device)?;
        // SAFETY: as above.
        let zero = unsafe { value.cast::<u64>().as_ref() } == Some(&0);
        let mut all = footprint();
        match attribute {
            MOST_USED if zero => all.most_used = all.kept,
            MOST_RESERVED if zero => all.most_reserved = all.kept,
            _ => return Err(CudaError::INVALID_VALUE),
        }
        Ok(())
    }

    /// Gives up what is reserved and not in use.
    fn cudaDeviceGraphMemTrim(device: c_int) {
        only(device)?;
        stream::all_in_order()?;
        let mut all = footprint();
        all.kept = all.live.next_multiple_of(PIECE);
        Ok(())
    }
}

fn only(device: c_int) -> CudaResult {
    match device {
        0 => Ok(()),
        _ => Err(CudaError::INVALID_DEVICE),
    }
}

fn footprint() -> MutexGuard<'static, Footprint> {
    FOOTPRINT.lock().unwrap_or_else(PoisonError::into_inner)
}
