//! Stream capture and graphs: the runtime's. Most parameters are laid out alike in both interfaces.

use std::ffi::{c_char, c_int, c_void};

use super::context::required;
use super::memory::{self, Copy3d};
use super::passed_on;
use crate::api::graph::nodes::SetParameters;
use crate::api::graph::parameters::{HostParameters, KernelParameters, MemoryParameters};
use crate::api::graph::{
    self, NodeType, capture, executable, footprint, inspection, nodes, parameters, user_objects,
};
use crate::error::CudaError;

/// What `CUDA_KERNEL_NODE_PARAMS` has behind what the runtime's has, since CUDA 12.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelNodeParameters {
    common: KernelParameters,
    kernel: *const c_void,
    context: *mut c_void,
}

impl KernelNodeParameters {
    /// Those of the runtime; a kernel stands for a function that is not given.
    fn of_runtime(&self) -> KernelParameters {
        match self.common.function.is_null() {
            true => self.common.with_function(self.kernel),
            false => self.common,
        }
    }
}

passed_on_functions! {
    required;

    /// Bytes that graphs use, or that are reserved for them, now or at most.
    fn cuDeviceGetGraphMemAttribute(
        device: c_int,
        attribute: u32,
        value: *mut c_void,
    ) -> footprint::cudaDeviceGetGraphMemAttribute;

    /// Lets the most begin again with what is now.
    fn cuDeviceSetGraphMemAttribute(
        device: c_int,
        attribute: u32,
        value: *mut c_void,
    ) -> footprint::cudaDeviceSetGraphMemAttribute;

    /// Gives up what is reserved for graphs and not in use.
    fn cuDeviceGraphMemTrim(device: c_int) -> footprint::cudaDeviceGraphMemTrim;

    /// Begins to record what is issued on a stream.
    fn cuStreamBeginCapture = cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz (
        stream: *mut c_void,
        mode: c_int,
    ) -> capture::cudaStreamBeginCapture;

    /// Begins to record what is issued on a stream into a graph.
    fn cuStreamBeginCaptureToGraph = cuStreamBeginCaptureToGraph_ptsz (
        stream: *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        edges: *const c_void,
        count: usize,
        mode: c_int,
    ) -> capture::cudaStreamBeginCaptureToGraph;

    /// Ends a capture.
    fn cuStreamEndCapture = cuStreamEndCapture_ptsz (
        stream: *mut c_void,
        graph: *mut *mut c_void,
    ) -> capture::cudaStreamEndCapture;

    /// Whether a stream is captured.
    fn cuStreamIsCapturing = cuStreamIsCapturing_ptsz (
        stream: *mut c_void,
        status: *mut u32,
    ) -> capture::cudaStreamIsCapturing;

    /// The capture of a stream.
    fn cuStreamGetCaptureInfo_v2 = cuStreamGetCaptureInfo_v2_ptsz (
        stream: *mut c_void,
        status: *mut u32,
        number: *mut u64,
        graph: *mut *mut c_void,
        after: *mut *const usize,
        count: *mut usize,
    ) -> capture::cudaStreamGetCaptureInfo_v2;

    /// The capture of a stream, with data of edges.
    fn cuStreamGetCaptureInfo_v3 = cuStreamGetCaptureInfo_v3_ptsz (
        stream: *mut c_void,
        status: *mut u32,
        number: *mut u64,
        graph: *mut *mut c_void,
        after: *mut *const usize,
        edges: *mut *const c_void,
        count: *mut usize,
    ) -> capture::cudaStreamGetCaptureInfo_v3;

    /// Exchanges how captures of other threads forbid calls of this one.
    fn cuThreadExchangeStreamCaptureMode(mode: *mut c_int)
        -> capture::cudaThreadExchangeStreamCaptureMode;

    /// A graph without nodes.
    fn cuGraphCreate(graph: *mut *mut c_void, flags: u32) -> nodes::cudaGraphCreate;

    /// A graph with equal nodes.
    fn cuGraphClone(clone: *mut *mut c_void, original: *mut c_void) -> nodes::cudaGraphClone;

    /// Ends a graph.
    fn cuGraphDestroy(graph: *mut c_void) -> nodes::cudaGraphDestroy;

    /// Ends a node.
    fn cuGraphDestroyNode(node: *mut c_void) -> nodes::cudaGraphDestroyNode;

    /// A node that calls the host.
    fn cuGraphAddHostNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        parameters: *const HostParameters,
    ) -> nodes::cudaGraphAddHostNode;

    /// A node that runs what a graph has now.
    fn cuGraphAddChildGraphNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        child: *mut c_void,
    ) -> nodes::cudaGraphAddChildGraphNode;

    /// A node that does nothing.
    fn cuGraphAddEmptyNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
    ) -> nodes::cudaGraphAddEmptyNode;

    /// A node that records an event.
    fn cuGraphAddEventRecordNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        event: *mut c_void,
    ) -> nodes::cudaGraphAddEventRecordNode;

    /// A node that waits for an event.
    fn cuGraphAddEventWaitNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        event: *mut c_void,
    ) -> nodes::cudaGraphAddEventWaitNode;

    /// Adds edges with data, which are not needed.
    fn cuGraphAddDependencies_v2(
        graph: *mut c_void,
        from: *const *mut c_void,
        to: *const *mut c_void,
        edges: *const c_void,
        count: usize,
    ) -> nodes::cudaGraphAddDependencies_v2;

    /// Takes edges away.
    fn cuGraphRemoveDependencies_v2(
        graph: *mut c_void,
        from: *const *mut c_void,
        to: *const *mut c_void,
        edges: *const c_void,
        count: usize,
    ) -> nodes::cudaGraphRemoveDependencies_v2;

    /// The nodes of a graph.
    fn cuGraphGetNodes(graph: *mut c_void, found: *mut *mut c_void, count: *mut usize)
        -> inspection::cudaGraphGetNodes;

    /// The nodes of a graph that come after no other.
    fn cuGraphGetRootNodes(graph: *mut c_void, found: *mut *mut c_void, count: *mut usize)
        -> inspection::cudaGraphGetRootNodes;

    /// The edges of a graph.
    fn cuGraphGetEdges_v2(
        graph: *mut c_void,
        from: *mut *mut c_void,
        to: *mut *mut c_void,
        data: *mut u64,
        count: *mut usize,
    ) -> inspection::cudaGraphGetEdges_v2;

    /// What a node comes after.
    fn cuGraphNodeGetDependencies_v2(
        node: *mut c_void,
        found: *mut *mut c_void,
        data: *mut u64,
        count: *mut usize,
    ) -> inspection::cudaGraphNodeGetDependencies_v2;

    /// What comes after a node.
    fn cuGraphNodeGetDependentNodes_v2(
        node: *mut c_void,
        found: *mut *mut c_void,
        data: *mut u64,
        count: *mut usize,
    ) -> inspection::cudaGraphNodeGetDependentNodes_v2;

    /// A node's type.
    fn cuGraphNodeGetType(node: *mut c_void, node_type: *mut NodeType)
        -> inspection::cudaGraphNodeGetType;

    /// Writes a graph to a file, in the language of dot.
    fn cuGraphDebugDotPrint(graph: *mut c_void, path: *const c_char, flags: u32)
        -> inspection::cudaGraphDebugDotPrint;

    /// Makes a graph that can be launched.
    fn cuGraphInstantiateWithFlags(
        made: *mut *mut c_void,
        graph: *mut c_void,
        flags: u64,
    ) -> executable::cudaGraphInstantiate;

    /// Makes a graph that can be launched, and says how that went.
    fn cuGraphInstantiateWithParams = cuGraphInstantiateWithParams_ptsz (
        made: *mut *mut c_void,
        graph: *mut c_void,
        parameters: *mut executable::InstantiateParameters,
    ) -> executable::cudaGraphInstantiateWithParams;

    /// Lets an executable graph do what a graph of the same nodes and edges does.
    fn cuGraphExecUpdate_v2(
        made: *mut c_void,
        graph: *mut c_void,
        result: *mut executable::UpdateResult,
    ) -> executable::cudaGraphExecUpdate;

    /// Changes what a node of an executable graph calls.
    fn cuGraphExecHostNodeSetParams(
        made: *mut c_void,
        node: *mut c_void,
        changed: *const HostParameters,
    ) -> parameters::cudaGraphExecHostNodeSetParams;

    /// Lets a kernel, copy or set take part in launches, or leaves it out.
    fn cuGraphNodeSetEnabled(made: *mut c_void, node: *mut c_void, is_enabled: u32)
        -> executable::cudaGraphNodeSetEnabled;

    /// Whether a node takes part in launches.
    fn cuGraphNodeGetEnabled(made: *mut c_void, node: *mut c_void, is_enabled: *mut u32)
        -> executable::cudaGraphNodeGetEnabled;

    /// The flags that an executable graph was made with.
    fn cuGraphExecGetFlags(made: *mut c_void, flags: *mut u64) -> executable::cudaGraphExecGetFlags;

    /// Lets a node of an executable graph run another graph of the same nodes and edges.
    fn cuGraphExecChildGraphNodeSetParams(
        made: *mut c_void,
        node: *mut c_void,
        child: *mut c_void,
    ) -> executable::cudaGraphExecChildGraphNodeSetParams;

    /// Changes the event that a node of an executable graph records.
    fn cuGraphExecEventRecordNodeSetEvent(
        made: *mut c_void,
        node: *mut c_void,
        recorded: *mut c_void,
    ) -> parameters::cudaGraphExecEventRecordNodeSetEvent;

    /// Changes the event that a node of an executable graph waits for.
    fn cuGraphExecEventWaitNodeSetEvent(
        made: *mut c_void,
        node: *mut c_void,
        awaited: *mut c_void,
    ) -> parameters::cudaGraphExecEventWaitNodeSetEvent;

    /// The node of a clone that stands for one of the original.
    fn cuGraphNodeFindInClone(
        found: *mut *mut c_void,
        original: *mut c_void,
        clone: *mut c_void,
    ) -> inspection::cudaGraphNodeFindInClone;

    /// The graph that a node belongs to.
    fn cuGraphNodeGetContainingGraph(node: *mut c_void, graph: *mut *mut c_void)
        -> inspection::cudaGraphNodeGetContainingGraph;

    /// A node's number in its graph.
    fn cuGraphNodeGetLocalId(node: *mut c_void, number: *mut u32)
        -> inspection::cudaGraphNodeGetLocalId;

    /// A graph's number.
    fn cuGraphGetId(graph: *mut c_void, number: *mut u32) -> inspection::cudaGraphGetId;

    /// An executable graph's number.
    fn cuGraphExecGetId(made: *mut c_void, number: *mut u32) -> inspection::cudaGraphExecGetId;

    /// The graph that a node runs.
    fn cuGraphChildGraphNodeGetGraph(node: *mut c_void, graph: *mut *mut c_void)
        -> parameters::cudaGraphChildGraphNodeGetGraph;

    /// The event that a node records.
    fn cuGraphEventRecordNodeGetEvent(node: *mut c_void, recorded: *mut *mut c_void)
        -> parameters::cudaGraphEventRecordNodeGetEvent;

    /// Changes the event that a node records.
    fn cuGraphEventRecordNodeSetEvent(node: *mut c_void, recorded: *mut c_void)
        -> parameters::cudaGraphEventRecordNodeSetEvent;

    /// The event that a node waits for.
    fn cuGraphEventWaitNodeGetEvent(node: *mut c_void, awaited: *mut *mut c_void)
        -> parameters::cudaGraphEventWaitNodeGetEvent;

    /// Changes the event that a node waits for.
    fn cuGraphEventWaitNodeSetEvent(node: *mut c_void, awaited: *mut c_void)
        -> parameters::cudaGraphEventWaitNodeSetEvent;

    /// What a node calls.
    fn cuGraphHostNodeGetParams(node: *mut c_void, found: *mut HostParameters)
        -> parameters::cudaGraphHostNodeGetParams;

    /// Changes what a node calls.
    fn cuGraphHostNodeSetParams(node: *mut c_void, changed: *const HostParameters)
        -> parameters::cudaGraphHostNodeSetParams;

    /// What a node sets.
    fn cuGraphMemsetNodeGetParams(node: *mut c_void, found: *mut SetParameters)
        -> parameters::cudaGraphMemsetNodeGetParams;

    /// Changes what a node sets.
    fn cuGraphMemsetNodeSetParams(node: *mut c_void, changed: *const SetParameters)
        -> parameters::cudaGraphMemsetNodeSetParams;

    /// An attribute of a kernel's node.
    fn cuGraphKernelNodeGetAttribute(node: *mut c_void, attribute: u32, value: *mut [u64; 8])
        -> parameters::cudaGraphKernelNodeGetAttribute;

    /// Sets an attribute of a kernel's node.
    fn cuGraphKernelNodeSetAttribute(node: *mut c_void, attribute: u32, value: *const [u64; 8])
        -> parameters::cudaGraphKernelNodeSetAttribute;

    /// Gives a kernel's node the attributes of another one.
    fn cuGraphKernelNodeCopyAttributes(destination: *mut c_void, source: *mut c_void)
        -> parameters::cudaGraphKernelNodeCopyAttributes;

    /// A node that allocates; its memory is there from then on.
    fn cuGraphAddMemAllocNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        given: *mut MemoryParameters,
    ) -> nodes::cudaGraphAddMemAllocNode;

    /// A node that frees.
    fn cuGraphAddMemFreeNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        after: *const *mut c_void,
        count: usize,
        memory: *mut c_void,
    ) -> nodes::cudaGraphAddMemFreeNode;

    /// What a node allocates.
    fn cuGraphMemAllocNodeGetParams(node: *mut c_void, found: *mut MemoryParameters)
        -> parameters::cudaGraphMemAllocNodeGetParams;

    /// What a node frees.
    fn cuGraphMemFreeNodeGetParams(node: *mut c_void, memory: *mut *mut c_void)
        -> parameters::cudaGraphMemFreeNodeGetParams;

    /// An object that graphs keep alive.
    fn cuUserObjectCreate(
        object: *mut *mut c_void,
        data: *mut c_void,
        destructor: Option<user_objects::Destructor>,
        references: u32,
        flags: u32,
    ) -> user_objects::cudaUserObjectCreate;

    /// More references to an object.
    fn cuUserObjectRetain(object: *mut c_void, count: u32) -> user_objects::cudaUserObjectRetain;

    /// Fewer references to an object.
    fn cuUserObjectRelease(object: *mut c_void, count: u32) -> user_objects::cudaUserObjectRelease;

    /// Lets a graph refer to an object.
    fn cuGraphRetainUserObject(
        graph: *mut c_void,
        object: *mut c_void,
        count: u32,
        flags: u32,
    ) -> user_objects::cudaGraphRetainUserObject;

    /// Lets a graph refer to an object no longer.
    fn cuGraphReleaseUserObject(graph: *mut c_void, object: *mut c_void, count: u32)
        -> user_objects::cudaGraphReleaseUserObject;

    /// Nothing: it is where it runs.
    fn cuGraphUpload = cuGraphUpload_ptsz (made: *mut c_void, stream: *mut c_void)
        -> executable::cudaGraphUpload;

    /// Runs a graph.
    fn cuGraphLaunch = cuGraphLaunch_ptsz (made: *mut c_void, stream: *mut c_void)
        -> executable::cudaGraphLaunch;

    /// Ends a graph that could be launched.
    fn cuGraphExecDestroy(made: *mut c_void) -> executable::cudaGraphExecDestroy;
}

/// Functions whose parameters differ from the runtime's.
pub mod differing {
    use super::*;

    driver_functions! {
        /// A node that runs a function or a kernel.
        fn cuGraphAddKernelNode_v2(
            node: *mut *mut c_void,
            graph: *mut c_void,
            after: *const *mut c_void,
            count: usize,
            given: *const KernelNodeParameters,
        ) {
            required()?;
            // SAFETY: the program passes what CUDA's manual asks; the same in this module.
            unsafe {
                let given = given.as_ref().ok_or(CudaError::INVALID_VALUE)?.of_runtime();
                passed_on(nodes::cudaGraphAddKernelNode(node, graph, after, count, &given))
            }
        }

        /// What a node launches.
        fn cuGraphKernelNodeGetParams_v2(node: *mut c_void, found: *mut KernelNodeParameters) {
            required()?;
            // SAFETY: as above.
            unsafe {
                let found = found.as_mut().ok_or(CudaError::INVALID_VALUE)?;
                passed_on(parameters::cudaGraphKernelNodeGetParams(node, &mut found.common))?;
                found.kernel = std::ptr::null();
                found.context = std::ptr::null_mut();
            }
            Ok(())
        }

        /// Changes what a node launches.
        fn cuGraphKernelNodeSetParams_v2(node: *mut c_void, given: *const KernelNodeParameters) {
            required()?;
            // SAFETY: as above.
            unsafe {
                let given = given.as_ref().ok_or(CudaError::INVALID_VALUE)?.of_runtime();
                passed_on(parameters::cudaGraphKernelNodeSetParams(node, &given))
            }
        }

        /// Changes what a node of an executable graph launches.
        fn cuGraphExecKernelNodeSetParams_v2(
            made: *mut c_void,
            node: *mut c_void,
            given: *const KernelNodeParameters,
        ) {
            required()?;
            // SAFETY: as above.
            unsafe {
                let given = given.as_ref().ok_or(CudaError::INVALID_VALUE)?.of_runtime();
                passed_on(parameters::cudaGraphExecKernelNodeSetParams(made, node, &given))
            }
        }

        /// A node that sets elements, whatever the context.
        fn cuGraphAddMemsetNode(
            node: *mut *mut c_void,
            graph: *mut c_void,
            after: *const *mut c_void,
            count: usize,
            given: *const SetParameters,
            _context: *mut c_void,
        ) {
            required()?;
            // SAFETY: as above.
            passed_on(unsafe { nodes::cudaGraphAddMemsetNode(node, graph, after, count, given) })
        }

        /// Changes what a node of an executable graph sets, whatever the context.
        fn cuGraphExecMemsetNodeSetParams(
            made: *mut c_void,
            node: *mut c_void,
            given: *const SetParameters,
            _context: *mut c_void,
        ) {
            required()?;
            // SAFETY: as above.
            passed_on(unsafe { parameters::cudaGraphExecMemsetNodeSetParams(made, node, given) })
        }

        /// A node that copies, whatever the context.
        fn cuGraphAddMemcpyNode(
            node: *mut *mut c_void,
            graph: *mut c_void,
            after: *const *mut c_void,
            count: usize,
            given: *const Copy3d,
            _context: *mut c_void,
        ) {
            required()?;
            // SAFETY: as above.
            unsafe {
                let given = *given.as_ref().ok_or(CudaError::INVALID_VALUE)?;
                let operation = move |_| memory::copy_slices(&given);
                graph::nodes::add_operation(node, graph, (after, count), NodeType::Copy, operation)
            }
        }

        /// Adds edges.
        fn cuGraphAddDependencies(
            graph: *mut c_void,
            from: *const *mut c_void,
            to: *const *mut c_void,
            count: usize,
        ) {
            required()?;
            let none = std::ptr::null();
            // SAFETY: as above.
            passed_on(unsafe {
                nodes::cudaGraphAddDependencies_v2(graph, from, to, none, count)
            })
        }

        /// The edges of a graph.
        fn cuGraphGetEdges(
            graph: *mut c_void,
            from: *mut *mut c_void,
            to: *mut *mut c_void,
            count: *mut usize,
        ) {
            required()?;
            let none = std::ptr::null_mut();
            // SAFETY: as above.
            passed_on(unsafe { inspection::cudaGraphGetEdges_v2(graph, from, to, none, count) })
        }

        /// Makes a graph that can be launched; there is no error to be told of.
        fn cuGraphInstantiate = cuGraphInstantiate_v2 (
            made: *mut *mut c_void,
            graph: *mut c_void,
            _node: *mut *mut c_void,
            _text: *mut c_char,
            _bytes: usize,
        ) {
            required()?;
            // SAFETY: as above.
            passed_on(unsafe { executable::cudaGraphInstantiate(made, graph, 0) })
        }
    }
}
