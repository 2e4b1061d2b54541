//! Executable graphs: what a graph was when it was instantiated, in an order that keeps its edges.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;

use super::capture::{self, recorded};
use super::{
    Graphs, NodeType, References, Work, footprint, fresh_handle, next_number, user_objects,
    with_graphs,
};
use crate::api::{copy, event, store, stream};
use crate::error::{CudaError, CudaResult};
use crate::execution::statistics;

/// `cudaErrorGraphExecUpdateFailure`.
const UPDATE_FAILURE: CudaError = CudaError(910);

/// `cudaGraphExecUpdateErrorTopologyChanged`, `cudaGraphExecUpdateErrorNodeTypeChanged`.
const TOPOLOGY_CHANGED: u32 = 2;
const NODE_TYPE_CHANGED: u32 = 3;

/// `cudaGraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Debug)]
pub struct UpdateResult {
    result: u32,
    node: *mut c_void,
    from: *mut c_void,
}

/// `cudaGraphInstantiateParams`.
#[repr(C)]
#[derive(Debug)]
pub struct InstantiateParameters {
    flags: u64,
    upload_stream: *mut c_void,
    node: *mut c_void,
    result: u32,
}

/// A graph that can be launched.
#[derive(Clone)]
pub(super) struct Executable {
    pub(super) number: u32,
    flags: u64,
    steps: Arc<Vec<Step>>,
    objects: References,
}

#[derive(Clone)]
struct Step {
    /// The node of the graph that it was made from.
    node: usize,
    work: Work,
    /// What comes before, by positions in the order of steps.
    after: Vec<usize>,
    enabled: bool,
    /// The steps of the graph within.
    inner: Vec<Step>,
}

impl Executable {
    fn of(graphs: &mut Graphs, graph: usize, flags: u64) -> CudaResult<Self> {
        let steps = Arc::new(steps(graphs, graph)?);
        let objects = graphs.graph(graph)?.objects.clone();
        user_objects::retain(&objects);
        Ok(Self {
            number: next_number(),
            flags,
            steps,
            objects,
        })
    }

    /// Lets a node do something else of the same type.
    pub(super) fn set(&mut self, node: usize, work: Work) -> CudaResult {
        let step = find(Arc::make_mut(&mut self.steps).as_mut_slice(), node)
            .ok_or(CudaError::INVALID_VALUE)?;
        if step.work.node_type() != work.node_type() {
            return Err(CudaError::INVALID_VALUE);
        }
        step.work = work;
        Ok(())
    }
}

fn steps(graphs: &mut Graphs, graph: usize) -> CudaResult<Vec<Step>> {
    let graph = graphs.graph(graph)?.clone();
    let order = graph.order()?;
    let mut steps: Vec<Step> = Vec::new();
    let mut places = BTreeMap::new();
    for position in order {
        let node = &graph.nodes[position];
        let inner = match node.work {
            Work::Child(inner) => self::steps(graphs, inner)?,
            _ => Vec::new(),
        };
        let mut after: Vec<usize> = node.after.iter().map(|earlier| places[earlier]).collect();
        after.sort_unstable();
        places.insert(node.handle, steps.len());
        steps.push(Step {
            node: node.handle,
            work: node.work.clone(),
            after,
            enabled: true,
            inner,
        });
    }
    Ok(steps)
}

fn find(steps: &mut [Step], node: usize) -> Option<&mut Step> {
    for step in steps {
        if step.node == node {
            return Some(step);
        }
        if let Some(found) = find(&mut step.inner, node) {
            return Some(found);
        }
    }
    None
}

/// The first step that is not one of the other graph's, and why. What is enabled stays so.
fn take_over(steps: &mut [Step], others: &[Step]) -> Result<(), (u32, usize)> {
    if let Some(extra) = others.get(steps.len()) {
        return Err((TOPOLOGY_CHANGED, extra.node));
    }
    for (position, step) in steps.iter().enumerate() {
        let Some(other) = others.get(position) else {
            return Err((TOPOLOGY_CHANGED, 0));
        };
        if step.work.node_type() != other.work.node_type() {
            return Err((NODE_TYPE_CHANGED, other.node));
        }
        if step.after != other.after {
            return Err((TOPOLOGY_CHANGED, other.node));
        }
    }
    for (step, other) in steps.iter_mut().zip(others) {
        take_over(&mut step.inner, &other.inner)?;
        step.work = other.work.clone();
    }
    Ok(())
}

/// Runs the steps on a stream. No lock of graphs is held, so that host functions may ask about them.
fn run(steps: &[Step], stream: *mut c_void) -> CudaResult {
    for step in steps.iter().filter(|step| step.enabled) {
        match &step.work {
            Work::Kernel(operation) => operation.run(stream)?,
            Work::Copy(parameters) => {
                stream::in_order(stream)?;
                copy::copy_3d(Some(parameters))?;
            }
            Work::Set(parameters) => {
                stream::in_order(stream)?;
                parameters.run()?;
            }
            Work::Host(function, data) => stream::call_host(stream, *function, *data)?,
            Work::Child(_) => run(&step.inner, stream)?,
            Work::Record(recorded) => event::record(*recorded as *mut c_void, stream)?,
            Work::Allocate(memory) => footprint::allocated(memory),
            Work::Free(address) => {
                stream::in_order(stream)?;
                footprint::freed(*address);
            }
            // What an event waits for has run.
            Work::Empty | Work::Wait(_) => {}
            Work::Recorded(_, operation) => {
                stream::in_order(stream)?;
                operation(stream)?;
            }
        }
    }
    Ok(())
}

cuda_functions! {
    /// Makes a graph that can be launched. What further arguments older headers pass says where an
    /// error is, of which there is none.
    fn cudaGraphInstantiate = cudaGraphInstantiateWithFlags (
        executable: *mut *mut c_void,
        graph: *mut c_void,
        flags: u64,
    ) {
        let handle = instantiate(graph, flags)?;
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(executable, handle as *mut c_void) }
    }

    /// Makes a graph that can be launched, and says how that went.
    fn cudaGraphInstantiateWithParams = cudaGraphInstantiateWithParams_ptsz (
        executable: *mut *mut c_void,
        graph: *mut c_void,
        parameters: *mut InstantiateParameters,
    ) {
        // SAFETY: as above.
        let parameters = unsafe { parameters.as_mut() };
        let parameters = parameters.ok_or(CudaError::INVALID_VALUE)?;
        /// `cudaGraphInstantiateInvalidStructure`.
        const INVALID_STRUCTURE: u32 = 2;
        let made = instantiate(graph, parameters.flags);
        parameters.node = std::ptr::null_mut();
        parameters.result = if made.is_ok() { 0 } else { INVALID_STRUCTURE };
        // SAFETY: as above.
        unsafe { store(executable, made? as *mut c_void) }
    }

    /// Lets an executable graph do what a graph of the same nodes and edges does.
    fn cudaGraphExecUpdate(
        executable: *mut c_void,
        graph: *mut c_void,
        result: *mut UpdateResult,
    ) {
        let updated = with_graphs(|graphs| {
            let others = steps(graphs, graph as usize)?;
            let executable = graphs.executables.get_mut(&(executable as usize));
            let executable = executable.ok_or(CudaError::INVALID_VALUE)?;
            // All of it or nothing.
            let mut changed = Arc::clone(&executable.steps);
            let updated = take_over(Arc::make_mut(&mut changed).as_mut_slice(), &others);
            if updated.is_ok() {
                executable.steps = changed;
            }
            Ok(updated)
        })?;
        let (found, node) = updated.err().unwrap_or_default();
        if !result.is_null() {
            let from = std::ptr::null_mut();
            let node = node as *mut c_void;
            // SAFETY: as above.
            unsafe { store(result, UpdateResult { result: found, node, from })? };
        }
        if found == 0 { Ok(()) } else { Err(UPDATE_FAILURE) }
    }

    /// Lets a node run what another graph of the same nodes and edges does.
    fn cudaGraphExecChildGraphNodeSetParams(
        executable: *mut c_void,
        node: *mut c_void,
        child: *mut c_void,
    ) {
        with_graphs(|graphs| {
            let others = steps(graphs, child as usize)?;
            let executable = graphs.executables.get_mut(&(executable as usize));
            let executable = executable.ok_or(CudaError::INVALID_VALUE)?;
            let step = find(Arc::make_mut(&mut executable.steps).as_mut_slice(), node as usize);
            let step = step.filter(|step| matches!(step.work, Work::Child(_)));
            let step = step.ok_or(CudaError::INVALID_VALUE)?;
            let mut changed = step.inner.clone();
            take_over(&mut changed, &others).map_err(|_| CudaError::INVALID_VALUE)?;
            step.inner = changed;
            Ok(())
        })
    }

    /// Lets a kernel, copy or set take part in launches, or leaves it out.
    fn cudaGraphNodeSetEnabled(executable: *mut c_void, node: *mut c_void, is_enabled: u32) {
        with_step(executable, node, |step| step.enabled = is_enabled != 0)
    }

    /// Whether a kernel, copy or set takes part in launches.
    fn cudaGraphNodeGetEnabled(executable: *mut c_void, node: *mut c_void, is_enabled: *mut u32) {
        let mut enabled = 0;
        with_step(executable, node, |step| enabled = u32::from(step.enabled))?;
        // SAFETY: as above.
        unsafe { store(is_enabled, enabled) }
    }

    /// The flags that it was made with.
    fn cudaGraphExecGetFlags(executable: *mut c_void, flags: *mut u64) {
        let found = get(executable)?.flags;
        // SAFETY: as above.
        unsafe { store(flags, found) }
    }

    /// Nothing: it is where it runs.
    fn cudaGraphUpload = cudaGraphUpload_ptsz (executable: *mut c_void, _stream: *mut c_void) {
        get(executable).map(drop)
    }

    /// Runs a graph.
    fn cudaGraphLaunch = cudaGraphLaunch_ptsz (executable: *mut c_void, stream: *mut c_void) {
        let Executable { steps, flags, .. } = get(executable)?;
        let again = Arc::clone(&steps);
        if !recorded(stream, NodeType::Graph, move |stream| run(&again, stream))? {
            stream::in_order(stream)?;
            // What it allocated before and nobody freed is in its way, unless it frees that itself.
            if flags & AUTO_FREE == 0 && holds_memory(&steps) {
                return Err(CudaError::INVALID_VALUE);
            }
            statistics::graph_launched();
            capture::while_replaying(|| run(&steps, stream))?;
        }
        Ok(())
    }

    /// Ends a graph that could be launched.
    fn cudaGraphExecDestroy(executable: *mut c_void) {
        let removed = with_graphs(|graphs| graphs.executables.remove(&(executable as usize)));
        let removed = removed.ok_or(CudaError::INVALID_VALUE)?;
        user_objects::release(&[removed.objects]);
        Ok(())
    }
}

/// `cudaGraphInstantiateFlagAutoFreeOnLaunch`, and all flags of instantiation.
const AUTO_FREE: u64 = 1;
const ALL_FLAGS: u64 = 15;

/// Whether memory that steps allocate is in use.
fn holds_memory(steps: &[Step]) -> bool {
    steps.iter().any(|step| match &step.work {
        Work::Allocate(memory) => footprint::is_in_use(memory),
        _ => holds_memory(&step.inner),
    })
}

fn instantiate(graph: *mut c_void, flags: u64) -> CudaResult<usize> {
    if flags & !ALL_FLAGS != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    with_graphs(|graphs| {
        let executable = Executable::of(graphs, graph as usize, flags)?;
        let handle = fresh_handle();
        graphs.executables.insert(handle, executable);
        Ok(handle)
    })
}

/// Forgets all of them (`cudaDeviceReset`).
pub fn forget_all() {
    let ended = with_graphs(|graphs| std::mem::take(&mut graphs.executables));
    let objects: Vec<References> = ended.into_values().map(|each| each.objects).collect();
    user_objects::release(&objects);
}

fn get(executable: *mut c_void) -> CudaResult<Executable> {
    with_graphs(|graphs| {
        let found = graphs.executables.get(&(executable as usize)).cloned();
        found.ok_or(CudaError::INVALID_VALUE)
    })
}

fn with_step(
    executable: *mut c_void,
    node: *mut c_void,
    body: impl FnOnce(&mut Step),
) -> CudaResult {
    with_graphs(|graphs| {
        let executable = graphs.executables.get_mut(&(executable as usize));
        let executable = executable.ok_or(CudaError::INVALID_VALUE)?;
        let step = find(
            Arc::make_mut(&mut executable.steps).as_mut_slice(),
            node as usize,
        );
        let may = [NodeType::Kernel, NodeType::Copy, NodeType::Set];
        let step = step.filter(|step| may.contains(&step.work.node_type()));
        step.map(body).ok_or(CudaError::INVALID_VALUE)
    })
}
