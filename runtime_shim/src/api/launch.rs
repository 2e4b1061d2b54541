//! Launches.
//!
//! A launch runs to its end inside the call. Its configuration is checked as CUDA does: an invalid
//! launch runs nothing and returns the error. A kernel that fails (assert, trap) returns success, as an
//! asynchronous launch would, and each later call returns the failure.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::driver::execution;
use super::{Dim3, device, function, graph, registration, stream};
use crate::error::{CudaError, CudaResult, set_device_failure};
use crate::execution::kernel::KernelRecord;
use crate::execution::{Failure, Launch, fiber, grid, once, overlap};
use crate::execution::{check, statistics};
use crate::memory::{self, MemoryKind};
use crate::output::trace;
use crate::registry;
use crate::termination;

/// Shared memory of a block without opt-in, in bytes.
pub const SHARED_BYTES: u32 = 48 << 10;

/// Shared memory of a block with opt-in, in bytes.
pub const SHARED_OPT_IN_BYTES: u32 = 227 << 10;

/// Threads of a block.
pub const THREADS_PER_BLOCK: u32 = 1024;

/// Largest block in x, y, z.
pub const BLOCK_LIMITS: [u32; 3] = [1024, 1024, 64];

/// Largest grid in x, y, z.
pub const GRID_LIMITS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Debug)]
pub struct LaunchConfiguration {
    grid: Dim3,
    block: Dim3,
    dynamic_shared_bytes: usize,
    stream: *mut c_void,
    attributes: *const LaunchAttribute,
    attribute_count: u32,
}

/// `cudaLaunchAttribute`: an id and 64 bytes of value.
#[repr(C, align(8))]
#[derive(Debug)]
pub struct LaunchAttribute {
    id: u32,
    padding: u32,
    value: [u64; 8],
}

impl LaunchAttribute {
    /// An attribute of this number.
    pub fn new(id: u32, value: [u64; 8]) -> Self {
        let padding = 0;
        Self { id, padding, value }
    }
}

/// The `<<<…>>>` before a kernel's stub is called.
///
/// # Safety
/// None beyond C's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: *mut c_void,
) -> u32 {
    CONFIGURATIONS
        .with_borrow_mut(|stack| stack.push((grid, block, shared_bytes, stream as usize)));
    0
}

/// Sets the compiler's id of the launch that follows on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn __sirius_launch_site(site: u32) {
    SITE.set(site);
}

/// Memory that the compiler's host code takes for a while in place of some of the program's; null when there
/// is none.
#[unsafe(no_mangle)]
pub extern "C" fn __sirius_version_allocate(bytes: usize) -> *mut c_void {
    memory::allocate_version(bytes).unwrap_or(0) as *mut c_void
}

/// Gives back what [`__sirius_version_allocate`] gave, when all that was launched is done with it.
#[unsafe(no_mangle)]
pub extern "C" fn __sirius_version_free(memory: *mut c_void) {
    // What cannot be waited for stays until the program ends.
    if stream::all_in_order().is_ok() {
        let _ = memory::free(memory as usize, |kind| kind == MemoryKind::Device);
    }
}

cuda_functions! {
    /// What a kernel's stub asks for first.
    fn __cudaPopCallConfiguration(
        grid: *mut Dim3,
        block: *mut Dim3,
        shared_bytes: *mut usize,
        stream: *mut *mut c_void,
    ) {
        let pushed = CONFIGURATIONS.with_borrow_mut(|stack| stack.pop());
        let (grid_size, block_size, bytes, handle) = pushed.ok_or(CudaError::MISSING_CONFIGURATION)?;
        // SAFETY: stubs pass four writable addresses.
        unsafe {
            grid.write(grid_size);
            block.write(block_size);
            shared_bytes.write(bytes);
            stream.write(handle as *mut c_void);
        }
        Ok(())
    }

    /// Runs a kernel.
    fn cudaLaunchKernel = cudaLaunchKernel_ptsz (
        stub: *const c_void,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared_bytes: usize,
        stream: *mut c_void,
    ) {
        launch(stub, grid, block, arguments, shared_bytes, stream)
    }

    /// The handle of a kernel, as objects that nvcc compiles ask for it once: that of its host stub.
    fn __cudaGetKernel(handle: *mut *const c_void, stub: *const c_void) {
        // SAFETY: the program passes a writable address.
        unsafe { super::store(handle, stub) }
    }

    /// Runs a kernel by that handle.
    fn __cudaLaunchKernel = __cudaLaunchKernel_ptsz (
        kernel: *const c_void,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared_bytes: usize,
        stream: *mut c_void,
    ) {
        launch(kernel, grid, block, arguments, shared_bytes, stream)
    }

    /// Runs a kernel. Attributes that change what a launch means are refused; hints are accepted.
    fn cudaLaunchKernelExC = cudaLaunchKernelExC_ptsz (
        configuration: *const LaunchConfiguration,
        stub: *const c_void,
        arguments: *const *const c_void,
    ) {
        if configuration.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes a configuration with as many attributes as it says.
        let configuration = unsafe { &*configuration };
        // SAFETY: as above.
        let attributes = unsafe { attributes(configuration.attributes, configuration.attribute_count)? };
        let blocks = accept_all(attributes)?;
        launch_as(
            blocks,
            stub,
            configuration.grid,
            configuration.block,
            arguments,
            configuration.dynamic_shared_bytes,
            configuration.stream,
        )
    }

    /// Runs a kernel whose blocks wait for each other.
    fn cudaLaunchCooperativeKernel = cudaLaunchCooperativeKernel_ptsz (
        stub: *const c_void,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared_bytes: usize,
        stream: *mut c_void,
    ) {
        launch_as(Blocks::COOPERATIVE, stub, grid, block, arguments, shared_bytes, stream)
    }
}

/// What a configuration asks of the device.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block in bytes.
    pub shared_bytes: usize,
    /// Extents of its clusters; zeros where it says nothing of them.
    pub cluster: [u32; 3],
}

/// The shape of a configuration.
///
/// # Safety
/// It is null, or has as many attributes as it says.
pub unsafe fn shape(configuration: *const LaunchConfiguration) -> CudaResult<Shape> {
    // SAFETY: as the caller promises.
    unsafe {
        let configuration = configuration.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        let blocks = accept_all(attributes(
            configuration.attributes,
            configuration.attribute_count,
        )?)?;
        let extents = configuration.block.extents();
        let threads = extents.iter();
        Ok(Shape {
            threads: threads.fold(1, |all, extent| all.saturating_mul(*extent)),
            shared_bytes: configuration.dynamic_shared_bytes,
            cluster: blocks.cluster,
        })
    }
}

/// The attributes at an address, of which a program says how many there are.
///
/// # Safety
/// There are as many, unless the address is null.
pub unsafe fn attributes<'a>(
    address: *const LaunchAttribute,
    count: u32,
) -> CudaResult<&'a [LaunchAttribute]> {
    match (count, address.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(CudaError::INVALID_VALUE),
        // SAFETY: as the caller promises.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts(address, count as usize) }),
    }
}

/// What the blocks of a launch may expect of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// All are there at the same time.
    pub cooperative: bool,
    /// Extents of the clusters whose blocks are; zeros where the launch leaves that to the kernel.
    pub cluster: [u32; 3],
    /// They may begin before the launch before has ended.
    pub early: bool,
}

impl Blocks {
    /// No more than the kernel says.
    pub const INDEPENDENT: Self = Self {
        cooperative: false,
        cluster: [0; 3],
        early: false,
    };
    /// To be there at the same time.
    pub const COOPERATIVE: Self = Self {
        cooperative: true,
        ..Self::INDEPENDENT
    };

    fn wait_for_each_other(self) -> bool {
        let early = false;
        Self { early, ..self } != Self::INDEPENDENT
    }
}

/// Grid, block, dynamic shared memory in bytes, stream handle.
type Configuration = (Dim3, Dim3, usize, usize);

thread_local! {
    /// Never destroyed, because exit handlers launch after a thread's values are.
    static CONFIGURATIONS: RefCell<ManuallyDrop<Vec<Configuration>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
    static SITE: Cell<u32> = const { Cell::new(trace::NO_SITE) };
}

static LAUNCHES: AtomicU32 = AtomicU32::new(0);

/// Checks a launch and runs it to its end.
pub fn launch(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *const *const c_void,
    shared_bytes: usize,
    stream: *mut c_void,
) -> CudaResult {
    launch_as(
        Blocks::INDEPENDENT,
        stub,
        grid,
        block,
        arguments,
        shared_bytes,
        stream,
    )
}

/// Says of this thread's next launch that the compiler does not know the call for one.
pub fn hide_site() {
    SITE.set(trace::REPLAYED);
}

/// [`launch`], with what the blocks may expect of each other.
pub fn launch_as(
    blocks: Blocks,
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *const *const c_void,
    shared_bytes: usize,
    stream: *mut c_void,
) -> CudaResult {
    let site = match (SITE.replace(trace::NO_SITE), blocks) {
        // The compiler takes the call for a fence.
        (trace::NO_SITE, blocks) if blocks.wait_for_each_other() => trace::REPLAYED,
        (site, _) => site,
    };
    let record = registry::kernel(stub as usize).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    let (grid, block) = (grid.extents(), block.extents());
    let dynamic_shared_bytes = check(record, grid, block, shared_bytes)?;
    let cluster = cluster_of(record, grid, blocks)?;
    if blocks.cooperative {
        check_residence(record, grid, block, shared_bytes)?;
    }
    if graph::is_captured(stream) {
        let operation = KernelOperation::new(
            stub as usize,
            blocks,
            (grid, block),
            shared_bytes,
            argument_bytes(record, arguments),
        );
        return graph::capture::kernel_recorded(stream, operation);
    }
    stream::in_order(stream)?;
    registration::start();
    let ordinal = LAUNCHES.fetch_add(1, Ordering::Relaxed);
    check::launch_begins();
    trace::launch(|| trace::Record::Launch {
        launch: ordinal,
        site,
        grid,
        block,
        shared_bytes: dynamic_shared_bytes,
        kernel: record.name.clone(),
        arguments: argument_bytes(record, arguments),
    });
    let launch = Launch {
        kernel: record,
        grid,
        block,
        dynamic_shared_bytes,
        arguments,
        ordinal,
        cooperative: blocks.cooperative,
        cluster,
        workspace: [AtomicU32::new(8), AtomicU32::new(0)],
        arrivals: AtomicU64::new(0),
        predecessor_runs: AtomicBool::new(false),
    };
    let mut kept = overlap::Kept::at_begin();
    let begins = statistics::Begins {
        early: blocks.early,
        in_graph: graph::capture::is_replaying(),
    };
    let kind = once::Kind::of(&launch, || argument_bytes(record, arguments));
    let counted = kind.as_ref().and_then(|kind| kind.counted(&launch));
    let (counters, failure) = match counted {
        Some(counters) => (counters, None),
        None if blocks.early => grid::run_early(&launch, &mut kept),
        None => grid::run(&launch),
    };
    if let Some(kind) = kind.filter(|_| failure.is_none()) {
        kind.has_counted(&launch, &counters);
    }
    kept.at_end();
    check::launch_ends(&record.display_name);
    statistics::launched(&launch, begins, &counters);
    match failure {
        None => {}
        Some(Failure::Assertion) => set_device_failure(CudaError::ASSERT),
        Some(Failure::Trap) => set_device_failure(CudaError::LAUNCH_FAILURE),
    }
    Ok(())
}

/// Runs a kernel of the runtime's own, in which device functions of the program's are called, in a row of blocks; it
/// counts as no launch. The caller has waited for its stream.
///
/// # Errors
/// It failed.
pub fn run_own(
    kernel: &'static KernelRecord,
    blocks: u32,
    threads: u32,
    dynamic_shared_bytes: u32,
    arguments: &[*const c_void],
) -> CudaResult {
    registration::start();
    let launch = Launch {
        kernel,
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared_bytes,
        arguments: arguments.as_ptr(),
        ordinal: LAUNCHES.load(Ordering::Relaxed),
        cooperative: false,
        cluster: [1; 3],
        workspace: [AtomicU32::new(8), AtomicU32::new(0)],
        arrivals: AtomicU64::new(0),
        predecessor_runs: AtomicBool::new(false),
    };
    let failure = match grid::run(&launch).1 {
        None => return Ok(()),
        Some(Failure::Assertion) => CudaError::ASSERT,
        Some(Failure::Trap) => CudaError::LAUNCH_FAILURE,
    };
    set_device_failure(failure);
    Err(failure)
}

/// A launch that a graph makes, perhaps again and again. It has no clones: its addresses are those of its own values.
#[derive(Debug)]
pub struct KernelOperation {
    /// The kernel's stub.
    pub stub: usize,
    /// What its blocks may expect of each other.
    pub blocks: Blocks,
    /// Extents of the grid, in blocks.
    pub grid: [u32; 3],
    /// Extents of a block, in threads.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: usize,
    /// The compiler's id of the launch, where the node was made of one.
    site: u32,
    values: Vec<Vec<u8>>,
    /// Where the values are, for who asks for the arguments.
    addresses: Vec<usize>,
}

impl KernelOperation {
    fn new(
        stub: usize,
        blocks: Blocks,
        (grid, block): ([u32; 3], [u32; 3]),
        shared_bytes: usize,
        values: Vec<Vec<u8>>,
    ) -> Self {
        Self {
            stub,
            blocks,
            grid,
            block,
            shared_bytes,
            site: trace::REPLAYED,
            addresses: values.iter().map(|value| value.as_ptr() as usize).collect(),
            values,
        }
    }

    /// The same launch whose blocks may expect something else.
    pub fn with_blocks(&self, blocks: Blocks) -> Self {
        let shape = (self.grid, self.block);
        Self::new(
            self.stub,
            blocks,
            shape,
            self.shared_bytes,
            self.values.clone(),
        )
    }

    /// The addresses of the arguments, which stay while the operation does.
    pub fn arguments(&self) -> *const *const c_void {
        self.addresses.as_ptr().cast()
    }

    /// Launches it on a stream.
    pub fn run(&self, stream: *mut c_void) -> CudaResult {
        SITE.set(self.site);
        launch_as(
            self.blocks,
            self.stub as *const c_void,
            Dim3::from(self.grid),
            Dim3::from(self.block),
            self.arguments(),
            self.shared_bytes,
            stream,
        )
    }
}

/// A launch of a kernel with the arguments that it is given now, to be run later.
///
/// # Safety
/// The arguments, of which one list may be null, are there as the manual asks.
pub unsafe fn operation(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    (arguments, extra): (*const *const c_void, *const usize),
) -> CudaResult<KernelOperation> {
    let site = SITE.replace(trace::NO_SITE);
    let record = registry::kernel(stub as usize).ok_or(CudaError::INVALID_RESOURCE_HANDLE)?;
    let shape = (grid.extents(), block.extents());
    check(record, shape.0, shape.1, shared_bytes)?;
    // SAFETY: as the caller promises.
    let addresses = unsafe { execution::argument_addresses(record, arguments, extra)? };
    let values = argument_bytes(record, addresses.as_ptr());
    let stub = stub as usize;
    let operation = KernelOperation::new(stub, Blocks::INDEPENDENT, shape, shared_bytes, values);
    // Launches that the compiler's host code makes nodes of have their ids.
    Ok(match site {
        trace::NO_SITE => operation,
        site => KernelOperation { site, ..operation },
    })
}

/// The bytes of each argument of a launch.
fn argument_bytes(record: &KernelRecord, arguments: *const *const c_void) -> Vec<Vec<u8>> {
    let count = record.kernel.argument_count as usize;
    (0..count)
        .map(|index| {
            // SAFETY: a kernel has as many sizes as arguments, and a launch passes an address of so
            // many bytes for each.
            unsafe {
                let bytes = *record.kernel.argument_sizes.add(index) as usize;
                std::slice::from_raw_parts((*arguments.add(index)).cast::<u8>(), bytes).to_vec()
            }
        })
        .collect()
}

/// Checks a launch; returns its dynamic shared memory in bytes. CUDA 13 calls each configuration that a device
/// or a kernel does not allow an invalid value.
fn check(
    record: &KernelRecord,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: usize,
) -> CudaResult<u32> {
    let outside = |extents: [u32; 3], limits: [u32; 3]| {
        extents
            .iter()
            .zip(limits)
            .any(|(extent, limit)| *extent == 0 || *extent > limit)
    };
    // Each extent of a block has 10 bits at most, so that the product does not wrap.
    if outside(grid, GRID_LIMITS)
        || outside(block, BLOCK_LIMITS)
        || block.iter().product::<u32>() > THREADS_PER_BLOCK
        || block.iter().product::<u32>() > record.kernel.max_threads
    {
        return Err(CudaError::INVALID_VALUE);
    }
    if shared_bytes as u64 > u64::from(dynamic_shared_limit(record)) {
        return Err(CudaError::INVALID_VALUE);
    }
    u32::try_from(shared_bytes).map_err(|_| CudaError::INVALID_VALUE)
}

/// Whether all blocks of a cooperative launch are there at once.
fn check_residence(
    record: &KernelRecord,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: usize,
) -> CudaResult {
    let blocks: u64 = grid.iter().map(|extent| u64::from(*extent)).product();
    let threads: u32 = block.iter().product();
    let on_one = function::resident_blocks(record, threads as i32, shared_bytes)?;
    let most = i64::from(on_one) * i64::from(device::multiprocessors());
    let fibers = blocks.saturating_mul(u64::from(threads));
    if blocks > most.unsigned_abs() || fibers > fiber::STACK_LIMIT as u64 {
        return Err(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(())
}

/// Dynamic shared memory that a launch of the kernel may ask for, in bytes.
pub fn dynamic_shared_limit(record: &KernelRecord) -> u32 {
    let used = u32::try_from(record.kernel.static_shared_bytes).unwrap_or(u32::MAX);
    SHARED_BYTES
        .saturating_sub(used)
        .max(record.dynamic_shared_opt_in.load(Ordering::Relaxed))
}

/// Blocks of the largest cluster.
const MOST_BLOCKS_OF_CLUSTER: u64 = 16;

/// The extents of a launch's clusters: what the launch says, else what the kernel was compiled with, else single blocks.
fn cluster_of(record: &KernelRecord, grid: [u32; 3], blocks: Blocks) -> CudaResult<[u32; 3]> {
    let compiled = record.cluster();
    let cluster = match (blocks.cluster, compiled) {
        ([0, 0, 0], None) => return Ok([1; 3]),
        ([0, 0, 0], Some(compiled)) => compiled,
        (told, Some(compiled)) if told != compiled => {
            return Err(CudaError::INVALID_CLUSTER_SIZE);
        }
        (told, _) => told,
    };
    let count: u64 = cluster.iter().map(|extent| u64::from(*extent)).product();
    if count == 0 || count > MOST_BLOCKS_OF_CLUSTER {
        return Err(CudaError::INVALID_CLUSTER_SIZE);
    }
    let divides = grid.iter().zip(cluster).all(|(all, own)| all % own == 0);
    divides
        .then_some(cluster)
        .ok_or(CudaError::INVALID_CLUSTER_SIZE)
}

/// What attributes make of a launch's blocks.
pub fn accept_all(attributes: &[LaunchAttribute]) -> CudaResult<Blocks> {
    let mut all = attributes.iter();
    all.try_fold(Blocks::INDEPENDENT, |blocks, attribute| {
        accept(attribute, blocks)
    })
}

/// Accepts a hint, adds what an attribute makes of the launch's blocks, and refuses what changes the
/// meaning of a launch in other ways.
pub fn accept(attribute: &LaunchAttribute, blocks: Blocks) -> CudaResult<Blocks> {
    /// `cudaLaunchAttributeCooperative`.
    const COOPERATIVE: u32 = 2;
    /// `cudaLaunchAttributeClusterDimension`.
    const CLUSTER_DIMENSION: u32 = 4;
    /// `cudaLaunchAttributeProgrammaticStreamSerialization`: blocks of other kernels than the compiler's versions do
    /// not begin early all the same.
    const STREAM_SERIALIZATION: u32 = 6;
    let mut blocks = blocks;
    match attribute.id {
        // Ignore, access policy window, synchronisation policy, cluster scheduling preference, priority,
        // memory domains, carve-out: hints where all runs in order. So is the preferred size of a cluster,
        // beside a smaller one.
        0 | 1 | 3 | 5 | 8 | 9 | 10 | 11 | 14 => {}
        STREAM_SERIALIZATION => blocks.early = attribute.value[0] as u32 != 0,
        COOPERATIVE => blocks.cooperative = attribute.value[0] as u32 != 0,
        CLUSTER_DIMENSION => {
            blocks.cluster = [
                attribute.value[0] as u32,
                (attribute.value[0] >> 32) as u32,
                attribute.value[1] as u32,
            ];
        }
        other => {
            termination::notice(&format!(
                "the CPU device does not know launch attribute {other}"
            ));
            return Err(CudaError::NOT_SUPPORTED);
        }
    }
    Ok(blocks)
}
