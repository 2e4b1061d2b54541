//! Graphs made node by node: creation, copies, nodes and edges.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::parameters::{GraphNodeParameters, HostParameters, KernelParameters, MemoryParameters};
use super::{
    GraphMemory, NodeType, Work, handles, names_mean_edge_data, user_objects, with_graphs,
};
use crate::api::copy::{self, Copy3dParameters};
use crate::api::{event, launch, store, symbol};
use crate::error::{CudaError, CudaResult};

/// `cudaMemsetParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SetParameters {
    /// First byte.
    pub(super) destination: usize,
    /// Bytes from row to row.
    pub(super) pitch: usize,
    /// What each element is set to.
    pub(super) value: u32,
    /// 1, 2 or 4.
    pub(super) element_bytes: u32,
    /// Elements of a row.
    pub(super) width: usize,
    /// Rows.
    pub(super) height: usize,
}

impl SetParameters {
    fn check(self) -> CudaResult<Self> {
        let wide = self.width.saturating_mul(self.element_bytes as usize) <= self.pitch;
        match [1, 2, 4].contains(&self.element_bytes) && (wide || self.height <= 1) {
            true => Ok(self),
            false => Err(CudaError::INVALID_VALUE),
        }
    }

    pub(super) fn run(self) -> CudaResult {
        let bytes = self.element_bytes as usize;
        let word = &self.value.to_le_bytes()[..bytes];
        (0..self.height).try_for_each(|row| {
            let start = self.destination.wrapping_add(row.wrapping_mul(self.pitch));
            copy::set_words(start, word, self.width.saturating_mul(bytes))
        })
    }
}

cuda_functions! {
    /// A graph without nodes.
    fn cudaGraphCreate(graph: *mut *mut c_void, flags: u32) {
        if graph.is_null() || flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let handle = with_graphs(|graphs| graphs.create());
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(graph, handle as *mut c_void) }
    }

    /// A graph with equal nodes.
    fn cudaGraphClone(clone: *mut *mut c_void, original: *mut c_void) {
        let handle = with_graphs(|graphs| graphs.copy(original as usize))?;
        // SAFETY: as above.
        unsafe { store(clone, handle as *mut c_void) }
    }

    /// Ends a graph; executable graphs made from it stay.
    fn cudaGraphDestroy(graph: *mut c_void) {
        let references = with_graphs(|graphs| graphs.destroy(graph as usize))?;
        user_objects::release(&references);
        Ok(())
    }

    /// A node that runs a kernel.
    fn cudaGraphAddKernelNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        parameters: *const KernelParameters,
    ) {
        // SAFETY: the program passes a structure or null, and so many nodes; the same in this file.
        unsafe { add(node, graph, (after, count), || kernel(parameters)) }
    }

    /// A node that copies.
    fn cudaGraphAddMemcpyNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        parameters: *const Copy3dParameters,
    ) {
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || copying(parameters)) }
    }

    /// A node that copies bytes.
    fn cudaGraphAddMemcpyNode1D(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        destination: *mut c_void,
        source: *const c_void,
        bytes: usize,
        kind: u32,
    ) {
        let parameters =
            Copy3dParameters::of_bytes(destination as usize, source as usize, bytes, kind);
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || copying(&parameters)) }
    }

    /// A node that copies to a variable.
    fn cudaGraphAddMemcpyNodeToSymbol(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        symbol: *const c_void,
        source: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        let variable = symbol::part(symbol, bytes, offset)?;
        let parameters = Copy3dParameters::of_bytes(variable, source as usize, bytes, kind);
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || copying(&parameters)) }
    }

    /// A node that copies from a variable.
    fn cudaGraphAddMemcpyNodeFromSymbol(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        destination: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        let variable = symbol::part(symbol, bytes, offset)?;
        let parameters = Copy3dParameters::of_bytes(destination as usize, variable, bytes, kind);
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || copying(&parameters)) }
    }

    /// A node that sets elements.
    fn cudaGraphAddMemsetNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        parameters: *const SetParameters,
    ) {
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || setting(parameters)) }
    }

    /// A node that calls the host.
    fn cudaGraphAddHostNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        parameters: *const HostParameters,
    ) {
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || calling(parameters)) }
    }

    /// A node that runs what a graph has now.
    fn cudaGraphAddChildGraphNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        child: *mut c_void,
    ) {
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || within(graph, child)) }
    }

    /// A node that does nothing.
    fn cudaGraphAddEmptyNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
    ) {
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || Ok(Work::Empty)) }
    }

    /// A node that records an event.
    fn cudaGraphAddEventRecordNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        recorded: *mut c_void,
    ) {
        event::check(recorded)?;
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || Ok(Work::Record(recorded as usize))) }
    }

    /// A node that waits for an event.
    fn cudaGraphAddEventWaitNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        awaited: *mut c_void,
    ) {
        event::check(awaited)?;
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || Ok(Work::Wait(awaited as usize))) }
    }

    /// A node that allocates memory, whose address is known now.
    fn cudaGraphAddMemAllocNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        parameters: *mut MemoryParameters,
    ) {
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || allocating(parameters)) }
    }

    /// A node that frees memory of an allocation node.
    fn cudaGraphAddMemFreeNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        memory: *mut c_void,
    ) {
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || freeing(memory as usize)) }
    }

    /// A node of any type. The headers of CUDA 13 pass data of edges before the count; all operations run
    /// in order here, whatever these say.
    fn cudaGraphAddNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        fourth: usize,
        fifth: usize,
        sixth: *mut GraphNodeParameters,
    ) {
        let (count, parameters) = match names_mean_edge_data() {
            true => (fifth, sixth),
            false => (fourth, fifth as *mut GraphNodeParameters),
        };
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || of_any_type(graph, parameters)) }
    }

    /// A node of any type; data of edges are not needed.
    fn cudaGraphAddNode_v2(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        _edges: *const c_void,
        count: usize,
        parameters: *mut GraphNodeParameters,
    ) {
        // SAFETY: as above.
        unsafe { add(node, graph, (after, count), || of_any_type(graph, parameters)) }
    }

    /// Ends a node and its edges.
    fn cudaGraphDestroyNode(node: *mut c_void) {
        let node = node as usize;
        let references = with_graphs(|graphs| {
            let home = graphs.homes.remove(&node).ok_or(CudaError::INVALID_VALUE)?;
            let graph = graphs.graph(home)?;
            let inner = match graph.node(node)?.work {
                Work::Child(inner) => Some(inner),
                _ => None,
            };
            graph.nodes.retain(|other| other.handle != node);
            for other in &mut graph.nodes {
                other.after.retain(|earlier| *earlier != node);
            }
            inner.map_or(Ok(Vec::new()), |inner| graphs.destroy(inner))
        })?;
        user_objects::release(&references);
        Ok(())
    }

    /// Adds edges. The headers of CUDA 13 pass data of them before the count.
    fn cudaGraphAddDependencies(
        graph: *mut c_void,
        from: *const *mut c_void,
        to: *const *mut c_void,
        fourth: usize,
        fifth: usize,
    ) {
        let count = if names_mean_edge_data() { fifth } else { fourth };
        // SAFETY: as above.
        unsafe { change_edges(graph, from, to, count, true) }
    }

    /// Adds edges; data of them are not needed.
    fn cudaGraphAddDependencies_v2(
        graph: *mut c_void,
        from: *const *mut c_void,
        to: *const *mut c_void,
        _edges: *const c_void,
        count: usize,
    ) {
        // SAFETY: as above.
        unsafe { change_edges(graph, from, to, count, true) }
    }

    /// Takes edges away. The headers of CUDA 13 pass data of them before the count.
    fn cudaGraphRemoveDependencies(
        graph: *mut c_void,
        from: *const *mut c_void,
        to: *const *mut c_void,
        fourth: usize,
        fifth: usize,
    ) {
        let count = if names_mean_edge_data() { fifth } else { fourth };
        // SAFETY: as above.
        unsafe { change_edges(graph, from, to, count, false) }
    }

    /// Takes edges away; data of them are not needed.
    fn cudaGraphRemoveDependencies_v2(
        graph: *mut c_void,
        from: *const *mut c_void,
        to: *const *mut c_void,
        _edges: *const c_void,
        count: usize,
    ) {
        // SAFETY: as above.
        unsafe { change_edges(graph, from, to, count, false) }
    }
}

/// Adds a node of some type that runs an operation.
///
/// # Safety
/// The address of the node is writable or null, and so many others can be read.
pub unsafe fn add_operation(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: (*const *mut c_void, usize),
    node_type: NodeType,
    operation: impl Fn(*mut c_void) -> CudaResult + Send + Sync + 'static,
) -> CudaResult {
    // SAFETY: as the caller promises.
    unsafe {
        add(node, graph, after, || {
            Ok(Work::Recorded(node_type, Arc::new(operation)))
        })
    }
}

/// Adds a node after so many others.
///
/// # Safety
/// The address of the node is writable or null, and so many others can be read.
unsafe fn add(
    node: *mut *mut c_void,
    graph: *mut c_void,
    (after, count): (*const *mut c_void, usize),
    work: impl FnOnce() -> CudaResult<Work>,
) -> CudaResult {
    if node.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    let after = unsafe { handles(after, count)? };
    let work = work()?;
    let handle = with_graphs(|graphs| graphs.add(graph as usize, &after, work))?;
    // SAFETY: as the caller promises.
    unsafe { store(node, handle as *mut c_void) }
}

/// # Safety
/// So many nodes can be read at both addresses.
unsafe fn change_edges(
    graph: *mut c_void,
    from: *const *mut c_void,
    to: *const *mut c_void,
    count: usize,
    adds: bool,
) -> CudaResult {
    // SAFETY: as the caller promises.
    let (from, to) = unsafe { (handles(from, count)?, handles(to, count)?) };
    with_graphs(|graphs| {
        let graph = graphs.graph(graph as usize)?;
        // All of them or none.
        for (earlier, later) in from.iter().zip(&to) {
            graph.node(*earlier)?;
            let there = graph.node(*later)?.after.contains(earlier);
            if there == adds || earlier == later {
                return Err(CudaError::INVALID_VALUE);
            }
        }
        for (earlier, later) in from.iter().zip(&to) {
            for node in graph.nodes.iter_mut().filter(|node| node.handle == *later) {
                match adds {
                    true => node.after.push(*earlier),
                    false => node.after.retain(|other| other != earlier),
                }
            }
        }
        Ok(())
    })
}

/// # Safety
/// The parameters are null or can be read, with the arguments of the kernel. The same below.
pub(super) unsafe fn kernel(parameters: *const KernelParameters) -> CudaResult<Work> {
    // SAFETY: as the caller promises.
    unsafe {
        let parameters = parameters.as_ref().ok_or(CudaError::INVALID_VALUE)?;
        let operation = launch::operation(
            parameters.function,
            parameters.grid,
            parameters.block,
            parameters.shared_bytes as usize,
            (parameters.arguments, parameters.extra),
        )?;
        Ok(Work::Kernel(Arc::new(operation)))
    }
}

pub(super) unsafe fn copying(parameters: *const Copy3dParameters) -> CudaResult<Work> {
    // SAFETY: as for `kernel`; the same below.
    let parameters = unsafe { parameters.as_ref() };
    parameters
        .map(|parameters| Work::Copy(*parameters))
        .ok_or(CudaError::INVALID_VALUE)
}

pub(super) unsafe fn setting(parameters: *const SetParameters) -> CudaResult<Work> {
    // SAFETY: as above.
    let parameters = unsafe { parameters.as_ref() };
    let parameters = parameters.ok_or(CudaError::INVALID_VALUE)?;
    parameters.check().map(Work::Set)
}

pub(super) unsafe fn calling(parameters: *const HostParameters) -> CudaResult<Work> {
    // SAFETY: as above.
    match unsafe { parameters.as_ref() } {
        Some(parameters) if parameters.function != 0 => {
            Ok(Work::Host(parameters.function, parameters.data))
        }
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// A copy of a graph within another.
pub(super) fn within(graph: *mut c_void, child: *mut c_void) -> CudaResult<Work> {
    with_graphs(|graphs| {
        // The graph that gets the node has to be there before anything is copied.
        graphs.graph(graph as usize)?;
        graphs.copy(child as usize).map(Work::Child)
    })
}

unsafe fn allocating(parameters: *mut MemoryParameters) -> CudaResult<Work> {
    // SAFETY: as above.
    let parameters = unsafe { parameters.as_mut() };
    let parameters = parameters.ok_or(CudaError::INVALID_VALUE)?;
    let memory = GraphMemory::new(parameters.bytes)?;
    parameters.memory = memory.address;
    Ok(Work::Allocate(memory))
}

fn freeing(memory: usize) -> CudaResult<Work> {
    match super::owns(memory) {
        true => Ok(Work::Free(memory)),
        false => Err(CudaError::INVALID_VALUE),
    }
}

unsafe fn of_any_type(
    graph: *mut c_void,
    parameters: *mut GraphNodeParameters,
) -> CudaResult<Work> {
    /// `cudaGraphNodeTypeMemAlloc`, `cudaGraphNodeTypeMemFree`.
    const ALLOCATE: c_int = 10;
    const FREE: c_int = 11;
    // SAFETY: as above; the type says which of the structures it is.
    unsafe {
        let parameters = parameters.as_mut().ok_or(CudaError::INVALID_VALUE)?;
        match parameters.node_type {
            ALLOCATE => allocating((&raw mut parameters.of_type).cast()),
            FREE => freeing(parameters.of_type[0]),
            _ => parameters.work(|child| within(graph, child)),
        }
    }
}
