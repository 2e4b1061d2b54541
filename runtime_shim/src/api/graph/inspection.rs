//! What graphs are made of, for those who ask.
//!
//! Lists are asked for twice, as CUDA has it: without room, for their length, and with room for so many, of
//! which those that stay free become null.

use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write;

use super::{Graph, Node, NodeType, Work, names_mean_edge_data, with_graphs};
use crate::api::{launch::KernelOperation, store};
use crate::error::{CudaError, CudaResult};
use crate::registry;

cuda_functions! {
    /// The nodes of a graph.
    fn cudaGraphGetNodes(graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) {
        let found = of_graph(graph, |graph| graph.nodes.iter().map(|node| node.handle).collect())?;
        // SAFETY: the program passes a writable count, and room for so many nodes or null; the same in
        // this file.
        unsafe { give(&found, nodes, count) }
    }

    /// The nodes of a graph that come after no other.
    fn cudaGraphGetRootNodes(graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) {
        let roots = |graph: &Graph| {
            let roots = graph.nodes.iter().filter(|node| node.after.is_empty());
            roots.map(|node| node.handle).collect()
        };
        // SAFETY: as above.
        unsafe { give(&of_graph(graph, roots)?, nodes, count) }
    }

    /// The edges of a graph. The headers of CUDA 13 pass room for data of edges before the count.
    fn cudaGraphGetEdges(
        graph: *mut c_void,
        from: *mut *mut c_void,
        to: *mut *mut c_void,
        fourth: *mut c_void,
        fifth: *mut usize,
    ) {
        let (data, count) = data_and_count(fourth, fifth);
        // SAFETY: as above.
        unsafe { edges(graph, (from, to), data, count) }
    }

    /// The edges of a graph.
    fn cudaGraphGetEdges_v2(
        graph: *mut c_void,
        from: *mut *mut c_void,
        to: *mut *mut c_void,
        data: *mut u64,
        count: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { edges(graph, (from, to), data, count) }
    }

    /// What a node comes after. The headers of CUDA 13 pass room for data of edges before the count.
    fn cudaGraphNodeGetDependencies(
        node: *mut c_void,
        nodes: *mut *mut c_void,
        third: *mut c_void,
        fourth: *mut usize,
    ) {
        let (data, count) = data_and_count(third, fourth);
        // SAFETY: as above.
        unsafe { give_with_data(&earlier(node)?, nodes, data, count) }
    }

    /// What a node comes after.
    fn cudaGraphNodeGetDependencies_v2(
        node: *mut c_void,
        nodes: *mut *mut c_void,
        data: *mut u64,
        count: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { give_with_data(&earlier(node)?, nodes, data, count) }
    }

    /// What comes after a node. The headers of CUDA 13 pass room for data of edges before the count.
    fn cudaGraphNodeGetDependentNodes(
        node: *mut c_void,
        nodes: *mut *mut c_void,
        third: *mut c_void,
        fourth: *mut usize,
    ) {
        let (data, count) = data_and_count(third, fourth);
        // SAFETY: as above.
        unsafe { give_with_data(&later(node)?, nodes, data, count) }
    }

    /// What comes after a node.
    fn cudaGraphNodeGetDependentNodes_v2(
        node: *mut c_void,
        nodes: *mut *mut c_void,
        data: *mut u64,
        count: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { give_with_data(&later(node)?, nodes, data, count) }
    }

    /// A node's type.
    fn cudaGraphNodeGetType(node: *mut c_void, node_type: *mut NodeType) {
        let found = of_node(node, |node, _| node.work.node_type())?;
        // SAFETY: as above.
        unsafe { store(node_type, found) }
    }

    /// The node of a clone that stands for one of the original.
    fn cudaGraphNodeFindInClone(
        found: *mut *mut c_void,
        original: *mut c_void,
        clone: *mut c_void,
    ) {
        let original = original as usize;
        let node = with_graphs(|graphs| {
            let mut nodes = graphs.graph(clone as usize)?.nodes.iter();
            let node = nodes.find(|node| node.original == Some(original));
            node.map(|node| node.handle).ok_or(CudaError::INVALID_VALUE)
        })?;
        // SAFETY: as above.
        unsafe { store(found, node as *mut c_void) }
    }

    /// The graph that a node belongs to.
    fn cudaGraphNodeGetContainingGraph(node: *mut c_void, graph: *mut *mut c_void) {
        let home = with_graphs(|graphs| graphs.homes.get(&(node as usize)).copied());
        // SAFETY: as above.
        unsafe { store(graph, home.ok_or(CudaError::INVALID_VALUE)? as *mut c_void) }
    }

    /// A node's place among those of its graph, by age.
    fn cudaGraphNodeGetLocalId(node: *mut c_void, number: *mut u32) {
        let found = of_node(node, |node, graph| {
            let place = graph.nodes.iter().position(|other| other.handle == node.handle);
            u32::try_from(place.unwrap_or_default()).unwrap_or(u32::MAX)
        })?;
        // SAFETY: as above.
        unsafe { store(number, found) }
    }

    /// A graph's number.
    fn cudaGraphGetId(graph: *mut c_void, number: *mut u32) {
        let found = with_graphs(|graphs| graphs.graph(graph as usize).map(|graph| graph.number))?;
        // SAFETY: as above.
        unsafe { store(number, found) }
    }

    /// An executable graph's number.
    fn cudaGraphExecGetId(executable: *mut c_void, number: *mut u32) {
        let found = with_graphs(|graphs| {
            let found = graphs.executables.get(&(executable as usize));
            found.map(|executable| executable.number)
        });
        // SAFETY: as above.
        unsafe { store(number, found.ok_or(CudaError::INVALID_VALUE)?) }
    }

    /// Writes a graph to a file, in the language of dot.
    fn cudaGraphDebugDotPrint(graph: *mut c_void, path: *const c_char, _flags: u32) {
        let text = with_graphs(|graphs| graphs.graph(graph as usize).map(|graph| dot(graph)))?;
        if path.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: the program passes a string.
        let path = unsafe { CStr::from_ptr(path) }.to_string_lossy().into_owned();
        std::fs::write(path, text).map_err(|_| CudaError::INVALID_VALUE)
    }
}

/// Room for data of edges, and the count, of a function that has a place for the former since CUDA 13 only.
fn data_and_count(one: *mut c_void, two: *mut usize) -> (*mut u64, *mut usize) {
    match names_mean_edge_data() {
        true => (one.cast(), two),
        false => (std::ptr::null_mut(), one.cast()),
    }
}

fn of_graph(graph: *mut c_void, body: impl FnOnce(&Graph) -> Vec<usize>) -> CudaResult<Vec<usize>> {
    with_graphs(|graphs| graphs.graph(graph as usize).map(|graph| body(graph)))
}

fn of_node<T>(node: *mut c_void, body: impl FnOnce(&Node, &Graph) -> T) -> CudaResult<T> {
    with_graphs(|graphs| {
        let home = graphs.homes.get(&(node as usize)).copied();
        let graph = graphs.graph(home.ok_or(CudaError::INVALID_VALUE)?)?;
        Ok(body(graph.node(node as usize)?, graph))
    })
}

fn earlier(node: *mut c_void) -> CudaResult<Vec<usize>> {
    of_node(node, |node, _| node.after.clone())
}

fn later(node: *mut c_void) -> CudaResult<Vec<usize>> {
    of_node(node, |node, graph| {
        let later = graph.nodes.iter();
        let later = later.filter(|other| other.after.contains(&node.handle));
        later.map(|other| other.handle).collect()
    })
}

/// Writes as many handles as there is room for, or their count where there is none.
///
/// # Safety
/// The count is null or writable, and there is room for so many handles, or null.
unsafe fn give(found: &[usize], nodes: *mut *mut c_void, count: *mut usize) -> CudaResult {
    if count.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe {
        if nodes.is_null() {
            *count = found.len();
            return Ok(());
        }
        for index in 0..*count {
            let node = found.get(index).copied().unwrap_or_default();
            nodes.add(index).write(node as *mut c_void);
        }
        *count = found.len().min(*count);
    }
    Ok(())
}

/// The same, with data of edges, which all say nothing.
///
/// # Safety
/// As for [`give`]; the data are null or have room for as many.
unsafe fn give_with_data(
    found: &[usize],
    nodes: *mut *mut c_void,
    data: *mut u64,
    count: *mut usize,
) -> CudaResult {
    // SAFETY: as the caller promises.
    unsafe {
        give(found, nodes, count)?;
        if !nodes.is_null() && !data.is_null() {
            (0..*count).for_each(|index| data.add(index).write(0));
        }
    }
    Ok(())
}

/// # Safety
/// As for [`give_with_data`], at both ends.
unsafe fn edges(
    graph: *mut c_void,
    (from, to): (*mut *mut c_void, *mut *mut c_void),
    data: *mut u64,
    count: *mut usize,
) -> CudaResult {
    let found: Vec<(usize, usize)> = with_graphs(|graphs| {
        let nodes = graphs.graph(graph as usize)?.nodes.iter();
        let edges = nodes.flat_map(|node| node.after.iter().map(|earlier| (*earlier, node.handle)));
        Ok(edges.collect())
    })?;
    let (sources, sinks): (Vec<usize>, Vec<usize>) = found.into_iter().unzip();
    // SAFETY: as the caller promises; both ends have the same room.
    unsafe {
        if from.is_null() != to.is_null() || count.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let mut room = *count;
        give(&sources, from, &raw mut room)?;
        give_with_data(&sinks, to, data, count)
    }
}

fn dot(graph: &Graph) -> String {
    let mut text = String::from("digraph sirius {\n");
    let place = |handle: &usize| graph.nodes.iter().position(|node| node.handle == *handle);
    for (number, node) in graph.nodes.iter().enumerate() {
        let what = match &node.work {
            Work::Kernel(operation) => kernel_label(operation),
            work => format!("{:?}", work.node_type()),
        };
        let _ = writeln!(text, "  n{number} [label=\"{what}\"];");
        for earlier in node.after.iter().filter_map(place) {
            let _ = writeln!(text, "  n{earlier} -> n{number};");
        }
    }
    text.push_str("}\n");
    text
}

fn kernel_label(operation: &KernelOperation) -> String {
    let name = registry::kernel(operation.stub).map_or("?", |record| &record.display_name);
    let name = name.replace(['"', '\\'], " ");
    let ([gx, gy, gz], [bx, by, bz]) = (operation.grid, operation.block);
    format!("{name}\\n<<<({gx}, {gy}, {gz}), ({bx}, {by}, {bz})>>>")
}
