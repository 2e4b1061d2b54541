//! `SIRIUS_STATS_ONCE`: of launches that are alike the first one runs, and the others count as it did.
//!
//! Launches are alike that have one kernel, grid, block and dynamic shared memory, and arguments that differ in addresses of device
//! memory alone. What the others would have written nobody writes, so that results of the program are wrong. Its counts are right
//! where no kernel, and no decision of the host, goes by what is in memory.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use super::Launch;
use crate::abi::Counters;
use crate::allocations;
use crate::environment::settings;

/// What alike launches have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    arguments: Vec<Vec<u8>>,
}

impl Kind {
    /// That of a launch with these arguments; `None` where each launch runs.
    pub fn of(launch: &Launch, arguments: impl FnOnce() -> Vec<Vec<u8>>) -> Option<Self> {
        let settings = settings();
        if !settings.runs_once || settings.statistics.is_none() {
            return None;
        }
        let mut arguments = arguments();
        arguments
            .iter_mut()
            .for_each(|bytes| forget_addresses(bytes));
        Some(Self {
            kernel: launch.kernel.name.clone(),
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            arguments,
        })
    }

    /// What a launch of this kind counted that has run; the launch takes over how often its blocks came to a barrier across the grid.
    pub fn counted(&self, launch: &Launch) -> Option<Counters> {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let (counters, arrivals) = known.as_ref()?.get(self)?;
        launch.arrivals.store(*arrivals, Ordering::Relaxed);
        Some(*counters)
    }

    /// Notes what a launch of this kind counted.
    pub fn has_counted(self, launch: &Launch, counters: &Counters) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let arrivals = launch.arrivals.load(Ordering::Relaxed);
        let known = known.get_or_insert_default();
        known.insert(self, (*counters, arrivals));
    }
}

/// Replaces words that are addresses of device memory.
fn forget_addresses(bytes: &mut [u8]) {
    for word in bytes.chunks_exact_mut(size_of::<usize>()) {
        let mut address = [0; size_of::<usize>()];
        address.copy_from_slice(word);
        if allocations::find(usize::from_ne_bytes(address)).is_some() {
            word.fill(0xff);
        }
    }
}

static KNOWN: Mutex<Option<HashMap<Kind, (Counters, u64)>>> = Mutex::new(None);
