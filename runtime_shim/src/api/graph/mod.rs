//! Graphs: operations, and what each of them comes after.
//!
//! A graph is made node by node ([`nodes`]) or by the capture of streams ([`capture`]); an executable graph
//! ([`executable`]) is a copy of one, whose operations run one after another in an order that keeps all
//! edges. Invariant: a handle stands for one thing for ever; a node belongs to one graph, and the nodes that
//! it comes after belong to the same one. Conditional nodes, semaphores and launches of graphs by kernels are
//! not supported.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::copy::Copy3dParameters;
use super::launch::KernelOperation;
use crate::error::{CudaError, CudaResult};
use crate::memory::{self, MemoryKind};
use crate::registry;
use executable::Executable;
use nodes::SetParameters;

pub mod capture;
pub mod executable;
pub mod footprint;
pub mod inspection;
pub mod nodes;
pub mod parameters;
pub mod user_objects;

pub use capture::{
    allocated, event_awaited, event_recorded, freed, is_captured, recorded, runs_now,
    waits_for_device,
};

/// Something that runs again and again; it gets the stream that the graph is launched on.
pub type Operation = Arc<dyn Fn(*mut c_void) -> CudaResult + Send + Sync>;

/// `cudaGraphNodeType`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeType {
    /// `cudaGraphNodeTypeKernel`.
    Kernel = 0,
    /// `cudaGraphNodeTypeMemcpy`.
    Copy = 1,
    /// `cudaGraphNodeTypeMemset`.
    Set = 2,
    /// `cudaGraphNodeTypeHost`.
    Host = 3,
    /// `cudaGraphNodeTypeGraph`.
    Graph = 4,
    /// `cudaGraphNodeTypeEmpty`.
    Empty = 5,
    /// `cudaGraphNodeTypeWaitEvent`.
    Wait = 6,
    /// `cudaGraphNodeTypeEventRecord`.
    Record = 7,
    /// `cudaGraphNodeTypeMemAlloc`.
    Allocate = 10,
    /// `cudaGraphNodeTypeMemFree`.
    Free = 11,
}

/// What a node does.
#[derive(Clone)]
enum Work {
    Kernel(Arc<KernelOperation>),
    Copy(Copy3dParameters),
    Set(SetParameters),
    /// A function of the host and what it gets, by their addresses.
    Host(usize, usize),
    /// The graph of this handle, which is the node's own.
    Child(usize),
    Empty,
    /// Nothing: what the event waits for has run.
    Wait(usize),
    Record(usize),
    Allocate(Arc<GraphMemory>),
    /// The memory at this address may be another graph's.
    Free(usize),
    /// What a capture has recorded, of some type.
    Recorded(NodeType, Operation),
}

impl Work {
    fn node_type(&self) -> NodeType {
        match self {
            Self::Kernel(_) => NodeType::Kernel,
            Self::Copy(_) => NodeType::Copy,
            Self::Set(_) => NodeType::Set,
            Self::Host(..) => NodeType::Host,
            Self::Child(_) => NodeType::Graph,
            Self::Empty => NodeType::Empty,
            Self::Wait(_) => NodeType::Wait,
            Self::Record(_) => NodeType::Record,
            Self::Allocate(_) => NodeType::Allocate,
            Self::Free(_) => NodeType::Free,
            Self::Recorded(node_type, _) => *node_type,
        }
    }
}

/// Memory of an allocation node. It has one address in all runs, and lives as long as a graph that names it, and as
/// long as it is in use.
struct GraphMemory {
    address: usize,
    bytes: usize,
}

impl GraphMemory {
    fn new(bytes: usize) -> CudaResult<Arc<Self>> {
        if bytes == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let address = memory::allocate(bytes, MemoryKind::Device, 0)?;
        addresses().insert(address);
        Ok(Arc::new(Self { address, bytes }))
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        addresses().remove(&self.address);
        // A reset of the device has freed it before.
        let _ = memory::free(self.address, |kind| kind == MemoryKind::Device);
    }
}

/// Whether an address is that of a graph's memory, which a graph may give out again after it was freed.
pub fn owns(address: usize) -> bool {
    addresses().contains(&address)
}

static ADDRESSES: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn addresses() -> MutexGuard<'static, BTreeSet<usize>> {
    ADDRESSES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone)]
struct Node {
    handle: usize,
    work: Work,
    /// Nodes of the same graph.
    after: Vec<usize>,
    /// What it is a clone of.
    original: Option<usize>,
}

/// Nodes by age.
#[derive(Clone, Default)]
struct Graph {
    number: u32,
    nodes: Vec<Node>,
    objects: References,
}

/// How often objects of the program are referred to.
type References = BTreeMap<usize, u32>;

impl Graph {
    fn node(&self, handle: usize) -> CudaResult<&Node> {
        // Mostly one of the youngest.
        let mut found = self.nodes.iter().rev();
        let found = found.find(|node| node.handle == handle);
        found.ok_or(CudaError::INVALID_VALUE)
    }

    /// Positions of the nodes in an order that keeps all edges, younger ones first, as far as these leave a choice: an
    /// edge that is missing shows. Errors:
    /// `cudaErrorInvalidValue` when they go round in a circle.
    fn order(&self) -> CudaResult<Vec<usize>> {
        let positions = self.nodes.iter().enumerate();
        let positions: BTreeMap<usize, usize> = positions
            .map(|(position, node)| (node.handle, position))
            .collect();
        let mut missing: Vec<usize> = Vec::new();
        let mut later: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (position, node) in self.nodes.iter().enumerate() {
            missing.push(node.after.len());
            for earlier in &node.after {
                later[positions[earlier]].push(position);
            }
        }
        let ready = missing.iter().enumerate().filter(|(_, count)| **count == 0);
        let mut ready: BTreeSet<usize> = ready.map(|(position, _)| position).collect();
        let mut order = Vec::new();
        while let Some(position) = ready.pop_last() {
            order.push(position);
            for next in &later[position] {
                missing[*next] -= 1;
                if missing[*next] == 0 {
                    ready.insert(*next);
                }
            }
        }
        match order.len() == self.nodes.len() {
            true => Ok(order),
            false => Err(CudaError::INVALID_VALUE),
        }
    }
}

/// All graphs of the program.
#[derive(Default)]
struct Graphs {
    graphs: BTreeMap<usize, Graph>,
    /// The graph that each node belongs to.
    homes: BTreeMap<usize, usize>,
    executables: BTreeMap<usize, Executable>,
}

impl Graphs {
    fn graph(&mut self, handle: usize) -> CudaResult<&mut Graph> {
        self.graphs.get_mut(&handle).ok_or(CudaError::INVALID_VALUE)
    }

    /// The node of a handle, in its graph.
    fn node(&mut self, handle: usize) -> CudaResult<&mut Node> {
        let home = *self.homes.get(&handle).ok_or(CudaError::INVALID_VALUE)?;
        let nodes = &mut self.graph(home)?.nodes;
        let found = nodes.iter_mut().find(|node| node.handle == handle);
        found.ok_or(CudaError::INVALID_VALUE)
    }

    fn create(&mut self) -> usize {
        let graph = Graph {
            number: next_number(),
            ..Graph::default()
        };
        let handle = fresh_handle();
        self.graphs.insert(handle, graph);
        handle
    }

    /// Adds a node that comes after others of its graph.
    fn add(&mut self, graph: usize, after: &[usize], work: Work) -> CudaResult<usize> {
        let home = self.graph(graph)?;
        let mut earlier: Vec<usize> = Vec::new();
        for handle in after {
            // The same one twice is an error of the program's.
            if home.node(*handle).is_err() || earlier.contains(handle) {
                return Err(CudaError::INVALID_VALUE);
            }
            earlier.push(*handle);
        }
        let handle = fresh_handle();
        home.nodes.push(Node {
            handle,
            work,
            after: earlier,
            original: None,
        });
        self.homes.insert(handle, graph);
        Ok(handle)
    }

    /// A graph with nodes of its own that do the same; so do the graphs within.
    fn copy(&mut self, original: usize) -> CudaResult<usize> {
        let mut graph = self.graph(original)?.clone();
        graph.number = next_number();
        user_objects::retain(&graph.objects);
        let handle = fresh_handle();
        let mut renamed = BTreeMap::new();
        for node in &mut graph.nodes {
            node.original = Some(node.handle);
            renamed.insert(node.handle, fresh_handle());
            node.handle = renamed[&node.handle];
            self.homes.insert(node.handle, handle);
        }
        for node in &mut graph.nodes {
            node.after = node.after.iter().map(|earlier| renamed[earlier]).collect();
            if let Work::Child(inner) = node.work {
                node.work = Work::Child(self.copy(inner)?);
            }
        }
        self.graphs.insert(handle, graph);
        Ok(handle)
    }

    /// Ends a graph, and those within; returns their references, for [`user_objects::release`].
    fn destroy(&mut self, handle: usize) -> CudaResult<Vec<References>> {
        let graph = self
            .graphs
            .remove(&handle)
            .ok_or(CudaError::INVALID_VALUE)?;
        let mut references = vec![graph.objects];
        for node in graph.nodes {
            self.homes.remove(&node.handle);
            if let Work::Child(inner) = node.work {
                references.extend(self.destroy(inner)?);
            }
        }
        Ok(references)
    }
}

static GRAPHS: Mutex<Option<Graphs>> = Mutex::new(None);

/// Runs `body` on all graphs. Nothing that runs operations may be called from it.
fn with_graphs<T>(body: impl FnOnce(&mut Graphs) -> T) -> T {
    let mut graphs = GRAPHS.lock().unwrap_or_else(PoisonError::into_inner);
    body(graphs.get_or_insert_with(Graphs::default))
}

/// The address of a block of its own, which nothing else has, ever.
fn fresh_handle() -> usize {
    Box::into_raw(Box::new(0_u64)) as usize
}

fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Handles that a program passes: `count` at `handles`, which may be null when there are none.
///
/// # Safety
/// So many can be read.
unsafe fn handles(handles: *const *mut c_void, count: usize) -> CudaResult<Vec<usize>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if handles.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    let handles = unsafe { std::slice::from_raw_parts(handles, count) };
    Ok(handles.iter().map(|handle| *handle as usize).collect())
}

/// Whether the program's headers give the functions of graphs data of edges, as those of CUDA 13 do under the
/// names that had none before.
fn names_mean_edge_data() -> bool {
    registry::toolkit_version() >= 13_000
}
