//! Kernels that can be launched.

use std::sync::atomic::AtomicU32;

use crate::abi::{CLUSTER_SHIFT, CpuKernel, IN_STEP_SHIFT, flags};
use crate::environment::settings;

/// A kernel that can be launched.
#[derive(Debug)]
pub struct KernelRecord {
    /// Its compiled form.
    pub kernel: &'static CpuKernel,
    /// Mangled name.
    pub name: String,
    /// Name for people.
    pub display_name: String,
    /// What it was compiled for: `__CUDA_ARCH__` over ten.
    pub architecture: u32,
    /// Dynamic shared memory that `cudaFuncSetAttribute` allows beyond the default, in bytes.
    pub dynamic_shared_opt_in: AtomicU32,
}

impl KernelRecord {
    /// Whether it may wait for other threads of its block or warp.
    pub fn waits(&self) -> bool {
        self.kernel.flags & (flags::BARRIERS | flags::WARP_OPERATIONS) != 0
    }

    /// For x, y and z: whether one thread stands for all that differ only in this index. Where accesses of threads
    /// are compared, each runs.
    pub fn in_step(&self) -> [bool; 3] {
        if settings().checks.race {
            return [false; 3];
        }
        [0, 1, 2].map(|axis| self.kernel.flags >> (IN_STEP_SHIFT + axis) & 1 != 0)
    }

    /// The extents of the clusters that it was compiled for (`__cluster_dims__`), if it was.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        let cluster = [0, 1, 2].map(|axis| self.kernel.flags >> (CLUSTER_SHIFT + 8 * axis) & 0xff);
        (cluster != [0; 3]).then_some(cluster)
    }

    /// Whether it may end its launch (assert, trap) or prints.
    pub fn prints_or_traps(&self) -> bool {
        self.kernel.flags & flags::PRINTS_OR_TRAPS != 0
    }
}
