//! What a running block and its threads hand to compiled code, and what that says of an access.

use crate::layout::structure;
use std::ffi::c_void;

structure! {
    /// One block that is running.
    pub struct BlockContext {
        /// `blockIdx`.
        pub block_index: [u32; 3],
        /// `gridDim`.
        pub grid_size: [u32; 3],
        /// `blockDim`.
        pub block_size: [u32; 3],
        /// Bytes of dynamic shared memory.
        pub dynamic_shared_bytes: u32,
        /// Start of static shared memory.
        pub shared: *mut u8,
        /// Start of dynamic shared memory.
        pub dynamic_shared: *mut u8,
        /// Counters of the running worker; never null in instrumented code.
        pub counters: *mut Counters,
        /// The runtime's own state of the block.
        pub runtime: *mut c_void,
        /// Extents of the cluster that it is part of, in blocks.
        pub cluster_size: [u32; 3],
        /// 1 where the launch or the kernel says so.
        pub cluster_is_explicit: u32,
    }
}

structure! {
    /// One thread that is running; passed to every device function.
    pub struct ThreadContext {
        /// `threadIdx`.
        pub thread_index: [u32; 3],
        /// Lane within the warp, `linear thread index % 32`.
        pub lane: u32,
        /// Its block.
        pub block: *mut BlockContext,
        /// Linear thread index within the block.
        pub linear_index: u32,
        /// Unused, zero.
        pub reserved: u32,
    }
}

structure! {
    /// What instrumented code counts (`SIRIUS_STATS`). Bytes and barriers are counted by the runtime.
    #[derive(Clone, Copy, Default)]
    pub struct Counters {
        /// IR instructions other than phi, debug and lifetime, summed over threads. Instrumented code
        /// adds a basic block's count when it enters the block.
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
}

/// Access kinds of `__sirius_access`.
pub mod access {
    /// A load.
    pub const LOAD: u32 = 0;
    /// A store.
    pub const STORE: u32 = 1;
    /// An atomic update (read and write).
    pub const ATOMIC: u32 = 2;
    /// A load that may meet other atomic accesses; traced as a load.
    pub const ATOMIC_LOAD: u32 = 3;
    /// A store that may; traced as a store.
    pub const ATOMIC_STORE: u32 = 4;
    /// A load that the program may not do here; traced as a load, and not checked.
    pub const SPECULATED_LOAD: u32 = 5;
    /// What such a load gave is used: checked as a load, and neither counted nor traced.
    pub const USED_LOAD: u32 = 6;
    /// A load before an atomic update of the same place, which looks at it again; traced as a load.
    pub const GUESS_LOAD: u32 = 7;
}

/// What an instruction on a texture or a surface gives: four words of 32 bits, or 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texel {
    /// The first 8 bytes.
    pub low: u64,
    /// The last 8 bytes.
    pub high: u64,
}

impl From<[u32; 4]> for Texel {
    fn from([x, y, z, w]: [u32; 4]) -> Self {
        let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        Self {
            low: pair(x, y),
            high: pair(z, w),
        }
    }
}
