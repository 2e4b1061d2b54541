//! Runs kernels: grids over workers, blocks as loops or as fibers.
//!
//! Invariant: code of a kernel runs only while its thread's [`block::running`] is set, and all state
//! that device functions reach from a `ThreadContext` belongs to the one worker that runs the block.

pub mod barrier;
pub mod block;
pub mod device_functions;
pub mod fiber;
pub mod grid;
pub mod warp;

use std::ffi::c_void;

use crate::registry::KernelRecord;

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
}

/// How a kernel ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An assertion failed.
    Assertion,
    /// It trapped.
    Trap,
}
