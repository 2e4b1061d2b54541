//! Runs kernels: grids over workers, blocks as loops or as fibers.
//!
//! Invariant: code of a kernel runs only while its thread's [`block::running`] is set, and all state
//! that device functions reach from a `ThreadContext` belongs to the one worker that runs the block.

pub mod addresses;
pub mod arithmetic;
pub mod barrier;
pub mod block;
pub mod check;
pub mod device_functions;
pub mod fault;
pub mod fiber;
pub mod grid;
pub mod kernel;
pub mod once;
pub mod shared_barrier;
pub mod statistics;
pub mod textures;
pub mod warp;

pub use grid::{clusters, cooperative, overlap};
pub use warp::{lockstep, tiles};

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use kernel::KernelRecord;

/// A launch that was found valid.
#[derive(Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: &'static KernelRecord,
    /// Blocks in x, y and z; none is zero.
    pub grid: [u32; 3],
    /// Threads in x, y and z; none is zero, 1024 at most in all.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared_bytes: u32,
    /// Pointers to the arguments.
    pub arguments: *const *const c_void,
    /// Number of the launch, from 0.
    pub ordinal: u32,
    /// Whether all blocks are there at once and may wait for each other.
    pub cooperative: bool,
    /// Extents of the clusters whose blocks are there at once and may wait for each other.
    pub cluster: [u32; 3],
    /// What the driver gives to the blocks of a cooperative launch: its size in bytes, and the word of
    /// their barrier.
    pub workspace: [AtomicU32; 2],
    /// How often a block came to a barrier across the grid, in instrumented code.
    pub arrivals: AtomicU64,
    /// The launch before it has not ended yet, as its blocks see it.
    pub predecessor_runs: AtomicBool,
}

// SAFETY: the arguments are only read while the launch runs, which the launching thread waits for.
unsafe impl Sync for Launch {}

impl Launch {
    /// Number of blocks.
    pub fn block_count(&self) -> u64 {
        self.grid.iter().map(|extent| u64::from(*extent)).product()
    }

    /// Threads of a block.
    pub fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    /// Whether the launch or the kernel says what a cluster is.
    pub fn cluster_is_explicit(&self) -> bool {
        self.cluster != [1; 3] || self.kernel.cluster().is_some()
    }

    /// Blocks of a cluster.
    pub fn blocks_per_cluster(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// The extents of the threads of a block that are executed: 1 where one thread stands for all
    /// that run in step with it.
    pub fn executed_extents(&self) -> [u32; 3] {
        let in_step = self.kernel.in_step();
        std::array::from_fn(|axis| if in_step[axis] { 1 } else { self.block[axis] })
    }

    /// Linear indices of the threads that run in step with an executed one, itself first, relative
    /// to its own.
    pub fn in_step_offsets(&self) -> Vec<u32> {
        let in_step = self.kernel.in_step();
        let [width, height, _] = self.block;
        (0..self.threads_per_block())
            .filter(|linear| {
                let index = [
                    linear % width,
                    linear / width % height,
                    linear / width / height,
                ];
                (0..3).all(|axis| in_step[axis] || index[axis] == 0)
            })
            .collect()
    }
}

/// How a kernel ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An assertion failed.
    Assertion,
    /// It trapped.
    Trap,
}
