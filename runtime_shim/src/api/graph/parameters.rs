//! What the nodes of graphs, and of executable graphs, work with: asked for and changed.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::nodes::{self, SetParameters};
use super::{NodeType, Work, with_graphs};
use crate::api::copy::Copy3dParameters;
use crate::api::launch::{self, LaunchAttribute};
use crate::api::{Dim3, event, store, symbol};
use crate::error::{CudaError, CudaResult};
use crate::termination;

/// `cudaKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelParameters {
    /// The kernel's stub.
    pub function: *const c_void,
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) shared_bytes: u32,
    pub(super) arguments: *const *const c_void,
    pub(super) extra: *const usize,
}

impl KernelParameters {
    /// The same of another kernel.
    pub fn with_function(self, function: *const c_void) -> Self {
        Self { function, ..self }
    }
}

/// `cudaHostNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostParameters {
    pub(super) function: usize,
    pub(super) data: usize,
}

/// `cudaMemAllocNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryParameters {
    /// `cudaMemPoolProps`.
    pool: [u64; 11],
    access: *const c_void,
    access_count: usize,
    pub(super) bytes: usize,
    pub(super) memory: usize,
}

/// `cudaGraphNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GraphNodeParameters {
    pub(super) node_type: c_int,
    reserved: [c_int; 3],
    /// The structure of the node's type.
    pub(super) of_type: [usize; 29],
    last: i64,
}

impl GraphNodeParameters {
    /// What a node with these parameters does; `child` makes a node's own graph.
    ///
    /// # Safety
    /// They are of their type.
    pub(super) unsafe fn work(
        &self,
        child: impl FnOnce(*mut c_void) -> CudaResult<Work>,
    ) -> CudaResult<Work> {
        let first = self.of_type[0];
        let start: *const usize = self.of_type.as_ptr();
        // SAFETY: the structures of all types begin alike in all versions; flags and a context stand before
        // what is copied.
        unsafe {
            Ok(match self.node_type {
                0 => nodes::kernel(start.cast())?,
                1 => nodes::copying(start.add(2).cast())?,
                2 => nodes::setting(start.cast())?,
                3 => nodes::calling(start.cast())?,
                4 => child(first as *mut c_void)?,
                5 => Work::Empty,
                6 => {
                    event::check(first as *mut c_void)?;
                    Work::Wait(first)
                }
                7 => {
                    event::check(first as *mut c_void)?;
                    Work::Record(first)
                }
                other => {
                    termination::notice(&format!(
                        "the CPU device has no nodes of type {other} in graphs yet"
                    ));
                    return Err(CudaError::NOT_SUPPORTED);
                }
            })
        }
    }
}

cuda_functions! {
    /// What a node launches. The arguments stay as long as the node keeps them.
    fn cudaGraphKernelNodeGetParams(node: *mut c_void, parameters: *mut KernelParameters) {
        let Work::Kernel(operation) = work(node)? else {
            return Err(CudaError::INVALID_VALUE);
        };
        let found = KernelParameters {
            function: operation.stub as *const c_void,
            grid: Dim3::from(operation.grid),
            block: Dim3::from(operation.block),
            shared_bytes: operation.shared_bytes as u32,
            arguments: operation.arguments(),
            extra: std::ptr::null(),
        };
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(parameters, found) }
    }

    /// Changes what a node launches.
    fn cudaGraphKernelNodeSetParams(node: *mut c_void, parameters: *const KernelParameters) {
        // SAFETY: the program passes a structure or null; the same in this file.
        set(node, unsafe { nodes::kernel(parameters)? })
    }

    /// An attribute of a launch: only whether it is cooperative and its clusters are kept.
    fn cudaGraphKernelNodeGetAttribute(node: *mut c_void, attribute: u32, value: *mut [u64; 8]) {
        let Work::Kernel(operation) = work(node)? else {
            return Err(CudaError::INVALID_VALUE);
        };
        let [x, y, z] = operation.blocks.cluster.map(u64::from);
        let [first, second] = match attribute {
            COOPERATIVE => [u64::from(operation.blocks.cooperative), 0],
            CLUSTER_DIMENSION => [x | y << 32, z],
            _ => [0, 0],
        };
        // SAFETY: as above.
        unsafe { store(value, [first, second, 0, 0, 0, 0, 0, 0]) }
    }

    /// Sets an attribute of a launch; hints are accepted.
    fn cudaGraphKernelNodeSetAttribute(
        node: *mut c_void,
        attribute: u32,
        value: *const [u64; 8],
    ) {
        let Work::Kernel(operation) = work(node)? else {
            return Err(CudaError::INVALID_VALUE);
        };
        // SAFETY: as above.
        let value = *unsafe { value.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        let blocks = launch::accept(&LaunchAttribute::new(attribute, value), operation.blocks)?;
        if blocks == operation.blocks {
            return Ok(());
        }
        let changed = operation.with_blocks(blocks);
        set(node, Work::Kernel(Arc::new(changed)))
    }

    /// Gives a launch the attributes of another.
    fn cudaGraphKernelNodeCopyAttributes(destination: *mut c_void, source: *mut c_void) {
        match (work(destination)?, work(source)?) {
            (Work::Kernel(operation), Work::Kernel(other)) => {
                let changed = operation.with_blocks(other.blocks);
                set(destination, Work::Kernel(Arc::new(changed)))
            }
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// What a node copies; not of copies that a capture has recorded.
    fn cudaGraphMemcpyNodeGetParams(node: *mut c_void, parameters: *mut Copy3dParameters) {
        match work(node)? {
            // SAFETY: as above.
            Work::Copy(found) => unsafe { store(parameters, found) },
            other => Err(not_known(&other, NodeType::Copy)),
        }
    }

    /// Changes what a node copies.
    fn cudaGraphMemcpyNodeSetParams(node: *mut c_void, parameters: *const Copy3dParameters) {
        // SAFETY: as above.
        set(node, unsafe { nodes::copying(parameters)? })
    }

    /// Changes what a node copies.
    fn cudaGraphMemcpyNodeSetParams1D(
        node: *mut c_void,
        destination: *mut c_void,
        source: *const c_void,
        bytes: usize,
        kind: u32,
    ) {
        set(node, copied(destination as usize, source as usize, bytes, kind))
    }

    /// Lets a node copy to a variable.
    fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: *mut c_void,
        symbol: *const c_void,
        source: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        set(node, copied(symbol::part(symbol, bytes, offset)?, source as usize, bytes, kind))
    }

    /// Lets a node copy from a variable.
    fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: *mut c_void,
        destination: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        let variable = symbol::part(symbol, bytes, offset)?;
        set(node, copied(destination as usize, variable, bytes, kind))
    }

    /// What a node sets; not of those that a capture has recorded.
    fn cudaGraphMemsetNodeGetParams(node: *mut c_void, parameters: *mut SetParameters) {
        match work(node)? {
            // SAFETY: as above.
            Work::Set(found) => unsafe { store(parameters, found) },
            other => Err(not_known(&other, NodeType::Set)),
        }
    }

    /// Changes what a node sets.
    fn cudaGraphMemsetNodeSetParams(node: *mut c_void, parameters: *const SetParameters) {
        // SAFETY: as above.
        set(node, unsafe { nodes::setting(parameters)? })
    }

    /// What a node calls; not of those that a capture has recorded.
    fn cudaGraphHostNodeGetParams(node: *mut c_void, parameters: *mut HostParameters) {
        match work(node)? {
            // SAFETY: as above.
            Work::Host(function, data) => unsafe {
                store(parameters, HostParameters { function, data })
            },
            other => Err(not_known(&other, NodeType::Host)),
        }
    }

    /// Changes what a node calls.
    fn cudaGraphHostNodeSetParams(node: *mut c_void, parameters: *const HostParameters) {
        // SAFETY: as above.
        set(node, unsafe { nodes::calling(parameters)? })
    }

    /// The graph within a node, which is the node's own.
    fn cudaGraphChildGraphNodeGetGraph(node: *mut c_void, graph: *mut *mut c_void) {
        match work(node)? {
            // SAFETY: as above.
            Work::Child(inner) => unsafe { store(graph, inner as *mut c_void) },
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// The event that a node records.
    fn cudaGraphEventRecordNodeGetEvent(node: *mut c_void, recorded: *mut *mut c_void) {
        match work(node)? {
            // SAFETY: as above.
            Work::Record(found) => unsafe { store(recorded, found as *mut c_void) },
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// Changes the event that a node records.
    fn cudaGraphEventRecordNodeSetEvent(node: *mut c_void, recorded: *mut c_void) {
        event::check(recorded)?;
        set(node, Work::Record(recorded as usize))
    }

    /// The event that a node waits for.
    fn cudaGraphEventWaitNodeGetEvent(node: *mut c_void, awaited: *mut *mut c_void) {
        match work(node)? {
            // SAFETY: as above.
            Work::Wait(found) => unsafe { store(awaited, found as *mut c_void) },
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// Changes the event that a node waits for.
    fn cudaGraphEventWaitNodeSetEvent(node: *mut c_void, awaited: *mut c_void) {
        event::check(awaited)?;
        set(node, Work::Wait(awaited as usize))
    }

    /// What a node allocates.
    fn cudaGraphMemAllocNodeGetParams(node: *mut c_void, parameters: *mut MemoryParameters) {
        let Work::Allocate(memory) = work(node)? else {
            return Err(CudaError::INVALID_VALUE);
        };
        /// `cudaMemAllocationTypePinned`, and `cudaMemLocationTypeDevice` above the handle types.
        const POOL: [u64; 11] = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let found = MemoryParameters {
            pool: POOL,
            access: std::ptr::null(),
            access_count: 0,
            bytes: memory.bytes,
            memory: memory.address,
        };
        // SAFETY: as above.
        unsafe { store(parameters, found) }
    }

    /// The memory that a node frees.
    fn cudaGraphMemFreeNodeGetParams(node: *mut c_void, memory: *mut *mut c_void) {
        match work(node)? {
            // SAFETY: as above.
            Work::Free(address) => unsafe { store(memory, address as *mut c_void) },
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// Changes what a node does, not of what type it is.
    fn cudaGraphNodeSetParams(node: *mut c_void, parameters: *const GraphNodeParameters) {
        set(node, any(parameters)?)
    }

    /// Changes what a node of an executable graph launches.
    fn cudaGraphExecKernelNodeSetParams(
        executable: *mut c_void,
        node: *mut c_void,
        parameters: *const KernelParameters,
    ) {
        // SAFETY: as above.
        set_executable(executable, node, unsafe { nodes::kernel(parameters)? })
    }

    /// Changes what a node of an executable graph copies.
    fn cudaGraphExecMemcpyNodeSetParams(
        executable: *mut c_void,
        node: *mut c_void,
        parameters: *const Copy3dParameters,
    ) {
        // SAFETY: as above.
        set_executable(executable, node, unsafe { nodes::copying(parameters)? })
    }

    /// Changes what a node of an executable graph copies.
    fn cudaGraphExecMemcpyNodeSetParams1D(
        executable: *mut c_void,
        node: *mut c_void,
        destination: *mut c_void,
        source: *const c_void,
        bytes: usize,
        kind: u32,
    ) {
        let work = copied(destination as usize, source as usize, bytes, kind);
        set_executable(executable, node, work)
    }

    /// Lets a node of an executable graph copy to a variable.
    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        executable: *mut c_void,
        node: *mut c_void,
        symbol: *const c_void,
        source: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        let variable = symbol::part(symbol, bytes, offset)?;
        set_executable(executable, node, copied(variable, source as usize, bytes, kind))
    }

    /// Lets a node of an executable graph copy from a variable.
    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        executable: *mut c_void,
        node: *mut c_void,
        destination: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        let variable = symbol::part(symbol, bytes, offset)?;
        set_executable(executable, node, copied(destination as usize, variable, bytes, kind))
    }

    /// Changes what a node of an executable graph sets.
    fn cudaGraphExecMemsetNodeSetParams(
        executable: *mut c_void,
        node: *mut c_void,
        parameters: *const SetParameters,
    ) {
        // SAFETY: as above.
        set_executable(executable, node, unsafe { nodes::setting(parameters)? })
    }

    /// Changes what a node of an executable graph calls.
    fn cudaGraphExecHostNodeSetParams(
        executable: *mut c_void,
        node: *mut c_void,
        parameters: *const HostParameters,
    ) {
        // SAFETY: as above.
        set_executable(executable, node, unsafe { nodes::calling(parameters)? })
    }

    /// Changes the event that a node of an executable graph records.
    fn cudaGraphExecEventRecordNodeSetEvent(
        executable: *mut c_void,
        node: *mut c_void,
        recorded: *mut c_void,
    ) {
        event::check(recorded)?;
        set_executable(executable, node, Work::Record(recorded as usize))
    }

    /// Changes the event that a node of an executable graph waits for.
    fn cudaGraphExecEventWaitNodeSetEvent(
        executable: *mut c_void,
        node: *mut c_void,
        awaited: *mut c_void,
    ) {
        event::check(awaited)?;
        set_executable(executable, node, Work::Wait(awaited as usize))
    }

    /// Changes what a node of an executable graph does, not of what type it is.
    fn cudaGraphExecNodeSetParams(
        executable: *mut c_void,
        node: *mut c_void,
        parameters: *const GraphNodeParameters,
    ) {
        set_executable(executable, node, any(parameters)?)
    }
}

/// `cudaLaunchAttributeCooperative`.
const COOPERATIVE: u32 = 2;
/// `cudaLaunchAttributeClusterDimension`.
const CLUSTER_DIMENSION: u32 = 4;

fn work(node: *mut c_void) -> CudaResult<Work> {
    with_graphs(|graphs| graphs.node(node as usize).map(|node| node.work.clone()))
}

/// Lets a node do something else of the same type.
fn set(node: *mut c_void, work: Work) -> CudaResult {
    with_graphs(|graphs| {
        let node = graphs.node(node as usize)?;
        if node.work.node_type() != work.node_type() {
            return Err(CudaError::INVALID_VALUE);
        }
        node.work = work;
        Ok(())
    })
}

fn set_executable(executable: *mut c_void, node: *mut c_void, work: Work) -> CudaResult {
    with_graphs(|graphs| {
        let executable = graphs.executables.get_mut(&(executable as usize));
        let executable = executable.ok_or(CudaError::INVALID_VALUE)?;
        executable.set(node as usize, work)
    })
}

fn any(parameters: *const GraphNodeParameters) -> CudaResult<Work> {
    // SAFETY: the program passes a structure of its type, or null. The graph within a node is exchanged by
    // a function of its own.
    unsafe {
        let parameters = parameters.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        parameters.work(|_| Err(CudaError::NOT_SUPPORTED))
    }
}

fn copied(destination: usize, source: usize, bytes: usize, kind: u32) -> Work {
    Work::Copy(Copy3dParameters::of_bytes(destination, source, bytes, kind))
}

/// Why a node does not say what it does.
fn not_known(work: &Work, wanted: NodeType) -> CudaError {
    if work.node_type() != wanted {
        return CudaError::INVALID_VALUE;
    }
    termination::notice(
        "the CPU device does not know the parameters of a captured copy, set or call",
    );
    CudaError::NOT_SUPPORTED
}
