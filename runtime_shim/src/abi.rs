//! The binary interface between compiled programs and this runtime on the CPU device.
//!
//! Everything is `repr(C)`; the compiler lays the same structures out in LLVM IR. A change here is
//! a change of [`ABI_VERSION`].
//!
//! A kernel is compiled to up to three functions:
//! * `thread(ThreadContext*, void** arguments)` runs one thread; every device function that is not
//!   inlined takes the `ThreadContext*` as an additional first parameter;
//! * `thread_instrumented`, the same with counting and tracing calls;
//! * `block_loop(BlockContext*, void** arguments)`, for kernels without barriers and warp
//!   operations only: runs all threads of a block as a loop, vectorised.
//!
//! `arguments[i]` points to the i-th kernel argument, as in `cudaLaunchKernel`.

use std::ffi::{c_char, c_void};

/// Version of this interface; part of every image.
pub const ABI_VERSION: u32 = 6;

/// First word of a [`CpuImage`] (`SIRIUSIM` in ASCII, little endian).
pub const IMAGE_MAGIC: u64 = u64::from_le_bytes(*b"SIRIUSIM");

/// What the names of fused kernels begin with.
pub const FUSED_KERNEL: &str = "sirius_fused_";

/// What `__cudaRegisterFatBinary`'s wrapper points to on the CPU device.
#[repr(C)]
#[derive(Debug)]
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

/// A compiled kernel.
#[repr(C)]
#[derive(Debug)]
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
    /// Bit 0: has block barriers. Bit 1: has warp operations. Bit 2: prints, asserts or traps.
    /// Bit 3: uses dynamic shared memory. Bits 4, 5, 6: threads that differ only in `threadIdx.x`,
    /// `.y`, `.z` cannot be told apart, since the kernel does not read that index and nothing in it
    /// counts threads. They run in step: one of them, index 0, stands for all. Bytes 1, 2, 3: extents of
    /// the clusters of blocks that it was compiled for (`__cluster_dims__`), or zeros.
    pub flags: u32,
    /// Size in bytes of each argument, `argument_count` long.
    pub argument_sizes: *const u32,
    /// Largest stack frame that one thread needs, in bytes; 0 when unknown.
    pub stack_bytes: u64,
    /// Where each argument lies in a parameter buffer (`CU_LAUNCH_PARAM_BUFFER_POINTER`), in bytes,
    /// `argument_count` long.
    pub argument_offsets: *const u32,
}

/// A device variable.
#[repr(C)]
#[derive(Debug)]
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

/// One block that is running.
#[repr(C)]
#[derive(Debug)]
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

/// One thread that is running; passed to every device function.
#[repr(C)]
#[derive(Debug)]
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

/// What instrumented code counts (`SIRIUS_STATS`). Bytes and barriers are counted by the runtime.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
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

// Functions that compiled kernels call. All but one take the thread's context first. A new one is declared in the
// compiler's `src/codegen/cpu/threads.ll`, too, and named in `called_by_kernels!` (`api/driver/loaded.rs`).
//
//   void  __sirius_barrier(ThreadContext*)                               __syncthreads
//   u32   __sirius_barrier_reduce(ThreadContext*, u32 predicate, u32 op) op 0 count, 1 and, 2 or
//   u32   __sirius_counted_barrier_reduce(ThreadContext*, u32 threads, u32 predicate, u32 op)
//   void  __sirius_named_barrier(ThreadContext*, u32 id, u32 threads)    bar.sync id, threads (0: all)
//   void  __sirius_warp_barrier(ThreadContext*, u32 mask)                __syncwarp
//   u64   __sirius_shared_barrier_arrive(ThreadContext*, u64*, u32 count, u32 drop)   mbarrier.arrive
//   u32   __sirius_shared_barrier_wait(ThreadContext*, u64*, u32 phase)  mbarrier.test_wait: 1 if it is over
//   u32   __sirius_shuffle(ThreadContext*, u32 mask, u32 value, u32 operand, u32 clamp_and_segment,
//                          u32 mode, u32* in_range)                      shfl.sync; mode 0 up 1 down
//                                                                        2 bfly 3 idx; operands as PTX's
//   u32   __sirius_vote(ThreadContext*, u32 mask, u32 predicate, u32 op) op 0 all 1 any 2 uni 3 ballot
//   u32   __sirius_match(ThreadContext*, u32 mask, u64 value, u32 all, u32* predicate)
//   u32   __sirius_active_mask(ThreadContext*)
//   void  __sirius_trap(ThreadContext*)                                  never returns
//   void  __sirius_assert_fail(ThreadContext*, char* message, char* file, u32 line, char* function)
//   i32   __sirius_vprintf(ThreadContext*, char* format, void* arguments)
//   u64   __sirius_clock(ThreadContext*), u64 __sirius_global_timer(ThreadContext*)
//   void* __sirius_device_malloc(ThreadContext*, u64), void __sirius_device_free(ThreadContext*, void*)
//   void  __sirius_access(ThreadContext*, void* address, u64 bytes, u32 kind)   instrumented code only;
//         the runtime tells global, shared and local memory apart, counts bytes and writes the trace
//   void  __sirius_note_place(ThreadContext*)   before the next three in instrumented code: their line
//   u32[4] __sirius_texture(ThreadContext*, u64 object, u32 request, u32* words)   tex, tld4
//   u8[16] __sirius_surface_read(ThreadContext*, u64 object, u32 request, u32* words)   suld
//   void  __sirius_surface_write(ThreadContext*, u64 object, u32 request, u32* words, u64, u64)   sust
//   u64   __sirius_zero                                               a constant, 0; what is divided by is joined with it
//   void  __sirius_unsupported(ThreadContext*, char* what)               never returns: names the feature
//   void  __sirius_keep_step(ThreadContext*, u32 step)                   other lanes come to the same place
//   void  __sirius_give_way(ThreadContext*)                              others run before memory is read once more
//   u64   __sirius_grid_workspace(BlockContext*)                         where blocks of a grid meet, or 0
//   void  __sirius_cluster_arrive(ThreadContext*), void __sirius_cluster_wait(ThreadContext*)   barrier.cluster
//   u64   __sirius_map_shared(ThreadContext*, u64 address, u32 rank)     mapa
//   u32   __sirius_shared_rank(ThreadContext*, u64 address)              getctarank
//   void  __sirius_multiply_tiles(ThreadContext*, void* a, void* b, void* c, void* d, u32 shape, u32 form, u32 held)
//
// Host code calls, right before each launch on the CPU device:
//   void  __sirius_launch_site(u32 site)   the LaunchId (first member's, bit 31 set, for a fused launch)
// and where it needs them:
//   void  __sirius_group_ran(char* kernel, u32 site, u32 fused)   behind each guard, for statistics
//   u32   __sirius_reserve(void** pointer, u64 bytes)   cudaMalloc that takes addresses only
//   u32   __sirius_make_real(void* pointer)             gives such an allocation its memory
//   void* __sirius_version_allocate(u64 bytes), void __sirius_version_free(void*)   other memory for what is replaced
//   void  __sirius_compiler_is(char* path)              before main: the compiler that calls of NVRTC run

// SAFETY: images, kernels and variables are constants of the executable that nobody writes.
unsafe impl Sync for CpuImage {}
// SAFETY: as above.
unsafe impl Sync for CpuKernel {}
// SAFETY: as above.
unsafe impl Sync for CpuVariable {}
