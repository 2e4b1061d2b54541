//! `SIRIUS_STATS`: counters of each kernel, as JSON at exit.
//!
//! `{"launches": n, "graph_launches": n, "kernels": [{"name", "kernel", "launches", "overlapping", "in_graphs", "grid_barriers", "blocks", "threads", "instructions",
//! "global_load_bytes", "global_store_bytes", "shared_load_bytes", "shared_store_bytes", "barriers"}],
//! "groups": [{"kernel", "site", "fused", "originals", "refused": {reason: n}}], "memory": {"allocated_bytes",
//! "reserved_bytes", "peak_bytes"}}`, in order of first launch; `name` is for people, `kernel` is
//! mangled. Launches that CUDA would refuse are not counted. `graph_launches`, `overlapping`, `in_graphs` and `grid_barriers`
//! are left out where they are 0. Global bytes are those of device, managed
//! and pinned memory and of `__device__` variables; `__constant__` variables and a thread's own stack
//! are not counted. An atomic update counts as a load and a store. `groups` says of each group of
//! launches that the compiler made one, in order of first arrival, how often its guards held, so that
//! the fused `kernel` was launched, and how often its launches ran as they were written; `site` is the
//! first launch's. `refused` says why they did, and is left out where they never did. `memory` is device and managed memory, see [`MemoryStatistics`].

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use crate::abi::Counters;
use crate::allocations::{self, MemoryStatistics};
use crate::environment::settings;
use crate::execution::Launch;
use crate::termination;

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Launches of all kernels.
    pub launches: u64,
    /// Launches of graphs, whose kernels count as launches, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub graph_launches: u64,
    /// Counters by kernel, in order of first launch.
    pub kernels: Vec<KernelStatistics>,
    /// How often each side of a guarded launch ran, in order of first arrival.
    #[serde(default)]
    pub groups: Vec<GroupStatistics>,
    /// Device memory.
    #[serde(default)]
    pub memory: MemoryStatistics,
}

/// The two sides of one guarded launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupStatistics {
    /// Name of the fused kernel.
    pub kernel: String,
    /// Number of the first launch site, as in reports.
    pub site: u32,
    /// How often the guards held.
    pub fused: u64,
    /// How often they did not, or a launch had to be issued early: the original launches ran.
    pub originals: u64,
    /// What was the first reason for that, and how often: the kind of a guard with its number in the report, or another one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, u64>,
}

/// Counters of one kernel, summed over its launches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelStatistics {
    /// Name for people.
    pub name: String,
    /// Mangled name.
    pub kernel: String,
    /// Launches.
    pub launches: u64,
    /// Launches that may begin before the launch before them has ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overlapping: u64,
    /// Launches that a graph made.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_graphs: u64,
    /// Barriers of all blocks of a cooperative launch, once a launch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub grid_barriers: u64,
    /// Blocks launched.
    pub blocks: u64,
    /// Threads launched.
    pub threads: u64,
    /// IR instructions other than phi, debug and lifetime, summed over threads.
    pub instructions: u64,
    /// Bytes loaded from global memory.
    pub global_load_bytes: u64,
    /// Bytes stored to global memory.
    pub global_store_bytes: u64,
    /// Bytes loaded from shared memory.
    pub shared_load_bytes: u64,
    /// Bytes stored to shared memory.
    pub shared_store_bytes: u64,
    /// Barriers, once a block.
    pub barriers: u64,
}

impl Statistics {
    /// Adds one launch.
    pub fn add(&mut self, launch: &Launch, begins: Begins, counters: &Counters) {
        let kernel = launch.kernel;
        self.launches += 1;
        let index = self
            .kernels
            .iter()
            .position(|entry| entry.kernel == kernel.name);
        let index = index.unwrap_or_else(|| {
            self.kernels.push(KernelStatistics {
                name: kernel.display_name.clone(),
                kernel: kernel.name.clone(),
                ..KernelStatistics::default()
            });
            self.kernels.len() - 1
        });
        let entry = &mut self.kernels[index];
        entry.launches += 1;
        let blocks = launch.block_count();
        entry.overlapping += u64::from(begins.early);
        entry.in_graphs += u64::from(begins.in_graph);
        entry.grid_barriers += launch.arrivals.load(Ordering::Relaxed) / blocks.max(1);
        entry.blocks += blocks;
        entry.threads += blocks.saturating_mul(u64::from(launch.threads_per_block()));
        entry.instructions += counters.instructions;
        entry.global_load_bytes += counters.global_load_bytes;
        entry.global_store_bytes += counters.global_store_bytes;
        entry.shared_load_bytes += counters.shared_load_bytes;
        entry.shared_store_bytes += counters.shared_store_bytes;
        entry.barriers += counters.barriers;
    }
}

/// One more arrival at a guarded launch: what the compiler calls behind each guard.
///
/// # Safety
/// `kernel` is a string that ends with a null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_group_ran(kernel: *const c_char, site: u32, fused: u32) {
    if settings().statistics.is_none() {
        return;
    }
    // SAFETY: the compiler passes such a string.
    let kernel = unsafe { CStr::from_ptr(kernel) };
    of_group(kernel, site, |group| match fused {
        0 => group.originals += 1,
        _ => group.fused += 1,
    });
}

/// Why the originals run this time: what the compiler calls behind the call above.
///
/// # Safety
/// Both are strings that end with a null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_group_refused(
    kernel: *const c_char,
    site: u32,
    why: *const c_char,
) {
    if settings().statistics.is_none() {
        return;
    }
    // SAFETY: the compiler passes such strings.
    let [kernel, why] = [kernel, why].map(|text| unsafe { CStr::from_ptr(text) });
    let why = why.to_string_lossy().into_owned();
    of_group(kernel, site, |group| {
        *group.refused.entry(why).or_default() += 1
    });
}

/// Changes what is known of a group.
fn of_group(kernel: &CStr, site: u32, change: impl FnOnce(&mut GroupStatistics)) {
    let kernel = kernel.to_string_lossy();
    let mut total = TOTAL
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut groups = total.groups.iter();
    let known = groups.position(|group| group.site == site && group.kernel == kernel);
    let index = known.unwrap_or_else(|| {
        total.groups.push(GroupStatistics {
            kernel: kernel.into_owned(),
            site,
            ..GroupStatistics::default()
        });
        total.groups.len() - 1
    });
    change(&mut total.groups[index]);
}

/// Adds `other` to `total`, counter by counter.
pub fn accumulate(total: &mut Counters, other: &Counters) {
    total.instructions += other.instructions;
    total.global_load_bytes += other.global_load_bytes;
    total.global_store_bytes += other.global_store_bytes;
    total.shared_load_bytes += other.shared_load_bytes;
    total.shared_store_bytes += other.shared_store_bytes;
    total.barriers += other.barriers;
}

/// How a launch begins.
#[derive(Clone, Copy, Debug)]
pub struct Begins {
    /// It may before the launch before it has ended.
    pub early: bool,
    /// A graph makes it.
    pub in_graph: bool,
}

/// Adds one launch that has ended to the program's statistics.
pub fn launched(launch: &Launch, begins: Begins, counters: &Counters) {
    if settings().statistics.is_some() {
        let mut total = TOTAL
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        total.add(launch, begins, counters);
    }
}

/// Adds one launch of a graph to the program's statistics.
pub fn graph_launched() {
    if settings().statistics.is_some() {
        let mut total = TOTAL
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        total.graph_launches += 1;
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Writes the file.
pub fn at_exit() {
    let Some(path) = &settings().statistics else {
        return;
    };
    let mut total = TOTAL
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    total.memory = allocations::statistics();
    let written = serde_json::to_string_pretty(&*total)
        .map_err(std::io::Error::from)
        .and_then(|text| std::fs::write(path, text + "\n"));
    if let Err(error) = written {
        termination::fail(&format!("cannot write {}: {error}", path.display()));
    }
}

static TOTAL: Mutex<Statistics> = Mutex::new(Statistics {
    launches: 0,
    graph_launches: 0,
    kernels: Vec::new(),
    groups: Vec::new(),
    memory: MemoryStatistics {
        allocated_bytes: 0,
        reserved_bytes: 0,
        peak_bytes: 0,
    },
});
