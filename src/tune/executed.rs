//! What the launches of a run are estimated to take on a GPU, from what the CPU device counted of them.
//!
//! The formula is that of [`Model`](super::Model), with counts in the place of what it reads in the code: a launch takes what
//! it costs to begin, and then the longest of its bytes, its instructions, and what its blocks wait for one after the other.
//! Launches of one kernel are taken to be equal. Bytes are those that threads ask for: caches are not modelled.

use super::figures::Figures;
use super::model::{ENOUGH_WARPS, LEAST_SHARE, WAITS};
use crate::schedule::occupancy::{Capability, KernelUsage};
use serde::Deserialize;

/// Counts of a kernel, summed over its launches: what `SIRIUS_STATS` writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct ExecutedKernel {
    /// Launches.
    pub launches: u64,
    /// Launches that may begin before the one before them has ended.
    #[serde(default)]
    pub overlapping: u64,
    /// Launches that were nodes of a graph.
    #[serde(default)]
    pub in_graphs: u64,
    /// Barriers across the grid.
    #[serde(default)]
    pub grid_barriers: u64,
    /// Blocks.
    pub blocks: u64,
    /// Threads.
    pub threads: u64,
    /// Instructions of threads.
    pub instructions: u64,
    /// Bytes loaded from global memory.
    pub global_load_bytes: u64,
    /// Bytes stored there.
    pub global_store_bytes: u64,
    /// Barriers, once a block.
    pub barriers: u64,
}

impl ExecutedKernel {
    /// Nanoseconds of all its launches.
    pub fn nanoseconds(&self, figures: &Figures) -> f64 {
        let apart = self.launches.saturating_sub(self.in_graphs);
        let early = self.overlapping.min(apart);
        let begins = [
            (apart - early, figures.launch_nanoseconds),
            (early, figures.overlapped_launch_nanoseconds),
            (self.launches - apart, figures.graph_node_nanoseconds),
            (self.grid_barriers, figures.grid_barrier_nanoseconds),
        ];
        let begins = begins.map(|(times, each)| times as f64 * each);
        begins.iter().sum::<f64>() + self.launches as f64 * self.work(figures)
    }

    /// Nanoseconds of the work of one of them.
    fn work(&self, figures: &Figures) -> f64 {
        if self.launches == 0 || self.blocks == 0 {
            return 0.0;
        }
        let launches = self.launches as f64;
        let blocks = self.blocks as f64 / launches;
        let threads = self.threads.div_ceil(self.blocks).clamp(1, 1_024) as u32;
        let warps_of_block = f64::from(threads.div_ceil(32));
        let most = Capability::of(figures.capability).map_or(1, |device| device.warps());
        let (most, multiprocessors) = (f64::from(most), figures.multiprocessors as f64);
        let at_once = blocks_at_once(figures, threads, 0).max(figures.multiprocessors) as f64;
        let busy = blocks.min(at_once) * warps_of_block;
        let share = (busy / (most * multiprocessors) / ENOUGH_WARPS).clamp(LEAST_SHARE, 1.0);
        let bytes = (self.global_load_bytes + self.global_store_bytes) as f64 / launches;
        let phases = 1.0 + self.grid_barriers as f64 / launches;
        let of_memory = match bytes > 0.0 {
            // Behind a barrier across the grid, too, it takes a while until the first bytes come.
            true => {
                (bytes / share + figures.half_rate_bytes * phases) / figures.bytes_per_nanosecond
            }
            false => 0.0,
        };
        let instructions = self.instructions as f64 / launches;
        let of_cores = instructions / figures.instructions_per_nanosecond / share;
        // Most loads are of four bytes, and of those in loops several are under way at once.
        let loads = self.global_load_bytes as f64 / BYTES_OF_LOAD / self.threads.max(1) as f64;
        let barriers = self.barriers as f64 / self.blocks as f64;
        let waits =
            loads.min(WAITS) * figures.load_nanoseconds + barriers * figures.barrier_nanoseconds;
        let rounds = (blocks / at_once).ceil().max(1.0);
        of_memory.max(of_cores).max(waits * rounds)
    }
}

/// How many blocks of so many threads and so much shared memory a device holds at once, as far as registers allow it.
pub(super) fn blocks_at_once(figures: &Figures, threads: u32, shared_bytes: u64) -> u64 {
    let warps = threads.div_ceil(32).max(1);
    let held = match Capability::of(figures.capability) {
        Some(device) => {
            device.resident_warps(&KernelUsage::default(), threads, shared_bytes) / warps
        }
        None => 1,
    };
    u64::from(held) * figures.multiprocessors
}

const BYTES_OF_LOAD: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Device;

    fn kernel() -> ExecutedKernel {
        ExecutedKernel {
            launches: 10,
            blocks: 80,
            threads: 80 * 256,
            instructions: 80 * 256 * 20,
            global_load_bytes: 80 * 256 * 4,
            global_store_bytes: 80 * 256 * 4,
            ..ExecutedKernel::default()
        }
    }

    #[test]
    fn begins_cost_what_kind_of_begin_they_are() {
        let figures = Figures::of(Device::Cuda, 90);
        let difference =
            |changed: ExecutedKernel| changed.nanoseconds(figures) - kernel().nanoseconds(figures);
        let overlapping = ExecutedKernel {
            overlapping: 9,
            ..kernel()
        };
        let saved = figures.launch_nanoseconds - figures.overlapped_launch_nanoseconds;
        assert!((difference(overlapping) + 9.0 * saved).abs() < 1e-6);
        let in_graphs = ExecutedKernel {
            in_graphs: 10,
            ..kernel()
        };
        let saved = figures.launch_nanoseconds - figures.graph_node_nanoseconds;
        assert!((difference(in_graphs) + 10.0 * saved).abs() < 1e-6);
        let meeting = ExecutedKernel {
            grid_barriers: 4,
            ..kernel()
        };
        let again = figures.half_rate_bytes / figures.bytes_per_nanosecond;
        let four = 4.0 * (figures.grid_barrier_nanoseconds + again);
        assert!((difference(meeting) - four).abs() < 1e-6);
    }

    #[test]
    fn large_launches_cost_their_bytes_and_small_ones_their_begin() {
        let figures = Figures::of(Device::Cuda, 80);
        let small = kernel().nanoseconds(figures);
        assert!(small < 10.0 * 3.0 * figures.launch_nanoseconds, "{small}");
        let large = ExecutedKernel {
            blocks: 8_000_000,
            threads: 8_000_000 * 256,
            global_load_bytes: 8_000_000 * 256 * 4,
            ..kernel()
        };
        let double = ExecutedKernel {
            global_load_bytes: 2 * large.global_load_bytes,
            ..large
        };
        let ratio = double.nanoseconds(figures) / large.nanoseconds(figures);
        assert!((1.9..2.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn nothing_takes_nothing() {
        let none = ExecutedKernel::default();
        assert_eq!(none.nanoseconds(Figures::of(Device::Cuda, 90)), 0.0);
    }
}
