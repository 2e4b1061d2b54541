//! Images: what a program registers as its device code.
//!
//! A kernel is compiled to up to three functions:
//! * `thread(ThreadContext*, void** arguments)` runs one thread; every device function that is not
//!   inlined takes the `ThreadContext*` as an additional first parameter;
//! * `thread_instrumented`, the same with counting and tracing calls;
//! * `block_loop(BlockContext*, void** arguments)`, for kernels without barriers and warp
//!   operations only: runs all threads of a block as a loop, vectorised.
//!
//! `arguments[i]` points to the i-th kernel argument, as in `cudaLaunchKernel`.

use crate::layout::structure;
use crate::{BlockContext, ThreadContext};
use std::ffi::{c_char, c_void};

/// Version of this interface; part of every image.
pub const ABI_VERSION: u32 = 8;

/// First word of a [`CpuImage`] (`SIRIUSIM` in ASCII, little endian).
pub const IMAGE_MAGIC: u64 = u64::from_le_bytes(*b"SIRIUSIM");

/// What the names of fused kernels begin with.
pub const FUSED_KERNEL: &str = "sirius_fused_";

/// How the names of kernels begin that the compiler makes of several launches: of a group, of a host loop, and of a queue.
pub const MADE_KERNELS: [&str; 3] = [FUSED_KERNEL, "sirius_loop_", "sirius_batch_"];

/// Bits of [`CpuKernel::flags`].
pub mod flags {
    /// Has block barriers.
    pub const BARRIERS: u32 = 1;
    /// Has warp operations.
    pub const WARP_OPERATIONS: u32 = 1 << 1;
    /// Prints, asserts or traps.
    pub const PRINTS_OR_TRAPS: u32 = 1 << 2;
    /// Uses dynamic shared memory.
    pub const DYNAMIC_SHARED_MEMORY: u32 = 1 << 3;
}

/// First of the three bits of [`CpuKernel::flags`] that say which threads run in step.
pub const IN_STEP_SHIFT: usize = 4;

/// First of the three bytes of [`CpuKernel::flags`] that are the extents of clusters.
pub const CLUSTER_SHIFT: usize = 8;

structure! {
    /// What `__cudaRegisterFatBinary`'s wrapper points to on the CPU device.
    pub struct CpuImage {
        /// [`IMAGE_MAGIC`].
        pub magic: u64,
        /// [`ABI_VERSION`].
        pub version: u32,
        /// Length of `kernels`.
        pub kernel_count: u32,
        /// The kernels of the image.
        pub kernels: *const CpuKernel,
        /// Length of `variables`.
        pub variable_count: u64,
        /// The device variables of the image.
        pub variables: *const CpuVariable,
        /// What its code was compiled for: `__CUDA_ARCH__` over ten.
        pub architecture: u32,
        /// `CUDART_VERSION` of the toolkit that it was compiled with, such as 13000.
        pub toolkit_version: u32,
    }
}

structure! {
    /// A compiled kernel.
    pub struct CpuKernel {
        /// Mangled name, as `__cudaRegisterFunction` gives it.
        pub name: *const c_char,
        /// Name for people.
        pub display_name: *const c_char,
        /// Runs one thread.
        pub thread: unsafe extern "C" fn(*mut ThreadContext, *const *const c_void),
        /// Runs one thread, counting and tracing.
        pub thread_instrumented: unsafe extern "C" fn(*mut ThreadContext, *const *const c_void),
        /// Runs all threads of a block; null when the kernel needs fibers.
        pub block_loop: Option<unsafe extern "C" fn(*mut BlockContext, *const *const c_void)>,
        /// Bytes of static shared memory; dynamic shared memory follows, aligned to 128 or more.
        pub static_shared_bytes: u64,
        /// The largest alignment that a shared variable asks for.
        pub shared_align: u32,
        /// `__launch_bounds__` maximum, or 1024.
        pub max_threads: u32,
        /// Number of arguments.
        pub argument_count: u32,
        /// Bits of [`flags`]; three bits from [`IN_STEP_SHIFT`] on, for x, y and z: threads that differ only in this index of
        /// `threadIdx` cannot be told apart, since the kernel does not read it and nothing in it counts threads, so that they
        /// run in step: one of them, index 0, stands for all; three bytes from [`CLUSTER_SHIFT`] on: extents of the clusters
        /// of blocks that it was compiled for (`__cluster_dims__`), or zeros.
        pub flags: u32,
        /// Size in bytes of each argument, `argument_count` long.
        pub argument_sizes: *const u32,
        /// Largest stack frame that one thread needs, in bytes; 0 when unknown.
        pub stack_bytes: u64,
        /// Where each argument lies in a parameter buffer (`CU_LAUNCH_PARAM_BUFFER_POINTER`), in bytes,
        /// `argument_count` long.
        pub argument_offsets: *const u32,
    }
}

structure! {
    /// A device variable.
    pub struct CpuVariable {
        /// Name in the device module, as `__cudaRegisterVar` gives it.
        pub name: *const c_char,
        /// Its storage.
        pub address: *mut c_void,
        /// Its size.
        pub bytes: u64,
        /// 1 for `__constant__`.
        pub constant: u32,
        /// 1 for `__managed__`.
        pub managed: u32,
    }
}

// SAFETY: images, kernels and variables are constants of the executable that nobody writes.
unsafe impl Sync for CpuImage {}
// SAFETY: as above.
unsafe impl Sync for CpuKernel {}
// SAFETY: as above.
unsafe impl Sync for CpuVariable {}
