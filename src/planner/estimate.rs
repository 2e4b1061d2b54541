//! K(P) from the figures of a problem alone, for patterns that nobody measured or modelled.
//!
//! # The model
//! It is that of `tune`, as far as the figures of operators go. A kernel takes the longest of its bytes at the rate of
//! memory, its instructions at the rate of all multiprocessors, and its blocks' waits in as many rounds as it takes to
//! run all blocks. Operators with equal grids run in the same blocks, one after the other; grids that differ stand side by
//! side. Every block takes the shared memory of the largest operator. Registers of operators add up, but for
//! [`COMMON_REGISTERS`] that every kernel has, since the assembler interleaves what may run at once; what is beyond
//! [`MOST_REGISTERS`] goes to memory and comes back.
//!
//! Bytes that flow inside a pattern are not loaded again, and not stored where all their readers are inside.

use super::contraction::{is_convex, successors};
use super::{Class, EdgeKind, FusionProblem, Scope};
use std::collections::BTreeMap;

/// K of one operator.
pub(super) fn alone(problem: &FusionProblem, node: usize) -> f64 {
    let known = problem.nodes[node].nanoseconds;
    known.unwrap_or_else(|| kernel(problem, &[node]))
}

/// K of a pattern by its figures; `None` where no kernel can be made of it. `pattern` ascends.
pub fn together(problem: &FusionProblem, pattern: &[usize]) -> Option<f64> {
    let nodes = || pattern.iter().map(|node| &problem.nodes[*node]);
    let is_inside = |node: usize| pattern.binary_search(&node).is_ok();
    let mut global = problem.edges.iter().filter(|edge| {
        edge.scope == Scope::Global
            && edge.kind != EdgeKind::Shared
            && is_inside(edge.source)
            && is_inside(edge.sink)
    });
    let shared = nodes().map(|node| node.shared_bytes).max().unwrap_or(0);
    if pattern.len() > MOST_OPERATORS
        || shared > problem.device.shared_bytes_per_block
        || nodes().any(|node| node.class == Class::Opaque)
        || global.next().is_some()
        || !is_convex(&successors(problem), pattern)
    {
        return None;
    }
    let modelled = nodes().all(|node| node.nanoseconds.is_none());
    let apart: f64 = pattern.iter().map(|node| alone(problem, *node)).sum();
    Some(match modelled {
        true => kernel(problem, pattern),
        // Measured times say more of operators than their figures; of the pattern the bytes are known that it saves.
        false => (apart - moving(problem, saved_bytes(problem, pattern))).max(0.0),
    })
}

/// M(V): what so many bytes take on the curve of memory's rate.
pub fn moving(problem: &FusionProblem, bytes: f64) -> f64 {
    match bytes > 0.0 {
        true => (bytes + problem.device.half_rate_bytes) / problem.device.bytes_per_nanosecond,
        false => 0.0,
    }
}

/// Bytes that need not go to memory or come from there where these operators share a kernel.
pub fn saved_bytes(problem: &FusionProblem, pattern: &[usize]) -> f64 {
    let is_inside = |node: usize| pattern.binary_search(&node).is_ok();
    let mut saved = 0.0;
    // What two load from memory is loaded once; by a third, once more.
    let mut shared: BTreeMap<usize, f64> = BTreeMap::new();
    for edge in &problem.edges {
        if !is_inside(edge.source) || !is_inside(edge.sink) {
            continue;
        }
        match edge.kind {
            EdgeKind::Order => {}
            EdgeKind::Shared => {
                let most = shared.entry(edge.sink).or_default();
                *most = most.max(edge.bytes);
            }
            EdgeKind::Flow => saved += edge.bytes,
        }
    }
    // Stores that nobody needs: all readers of a node's results are inside.
    for node in pattern {
        let out = || {
            let flows = problem.edges.iter();
            flows.filter(|edge| edge.kind == EdgeKind::Flow && edge.source == *node)
        };
        if out().next().is_some() && out().all(|edge| edge.temporary && is_inside(edge.sink)) {
            saved += out().map(|edge| edge.bytes).fold(0.0, f64::max);
        }
    }
    saved + shared.values().sum::<f64>()
}

/// The kernel of operators that may be one.
fn kernel(problem: &FusionProblem, pattern: &[usize]) -> f64 {
    let device = &problem.device;
    let nodes = || pattern.iter().map(|node| &problem.nodes[*node]);
    let threads = nodes().map(|node| node.threads.unwrap_or(ASSUMED_THREADS));
    let threads = threads.max().unwrap_or(ASSUMED_THREADS);
    let warps = threads.div_ceil(WARP).max(1);
    let beyond = nodes().filter_map(|node| node.registers);
    let registers: u64 = beyond.map(|own| own.saturating_sub(COMMON_REGISTERS)).sum();
    let registers = registers + COMMON_REGISTERS;
    let shared = nodes().map(|node| node.shared_bytes).max().unwrap_or(0);
    let of_shared = match shared {
        0 => u64::MAX,
        bytes => device.shared_bytes / (bytes + RESERVED_BYTES),
    };
    let of_registers = device.registers / (registers.min(MOST_REGISTERS) * warps * WARP).max(1);
    let held = (device.warps / warps)
        .min(of_shared)
        .min(of_registers)
        .max(1);
    let at_once = held * device.multiprocessors;
    let mut grids: Vec<u64> = nodes().map(|node| node.blocks.unwrap_or(at_once)).collect();
    grids.sort_unstable();
    grids.dedup();
    let blocks: u64 = grids.iter().sum();
    let waits = nodes().map(|node| node.block_nanoseconds);
    let of_block = match grids.len() {
        1 => waits.sum(),
        _ => waits.fold(0.0, f64::max),
    };
    let busy = (blocks.min(at_once) * warps) as f64;
    let room = (device.warps * device.multiprocessors) as f64;
    let share = (busy / room / ENOUGH_WARPS).clamp(LEAST_SHARE, 1.0);
    let spilled = registers.saturating_sub(MOST_REGISTERS) * blocks * threads;
    let bytes: f64 = nodes().map(|node| node.bytes).sum();
    let bytes = (bytes - saved_bytes(problem, pattern)).max(0.0)
        + (spilled * BYTES_OF_REGISTER * STORED_AND_LOADED) as f64;
    let of_memory = moving(problem, bytes / share);
    let work: f64 = nodes().map(|node| node.work).sum();
    let of_cores = work / device.instructions_per_nanosecond / share;
    let rounds = blocks.div_ceil(at_once).max(1) as f64;
    of_memory.max(of_cores).max(of_block * rounds)
}

/// Most operators of a pattern.
pub const MOST_OPERATORS: usize = 32;
/// Addresses, indices and what else every kernel has.
pub const COMMON_REGISTERS: u64 = 16;
/// Registers that a thread can have.
pub const MOST_REGISTERS: u64 = 255;
const ASSUMED_THREADS: u64 = 256;
const WARP: u64 = 32;
/// Shared memory of each block that the driver keeps.
const RESERVED_BYTES: u64 = 1024;
const BYTES_OF_REGISTER: u64 = 4;
const STORED_AND_LOADED: u64 = 2;
/// With this part of all warps the pipes are full, as in `tune`.
const ENOUGH_WARPS: f64 = 0.25;
const LEAST_SHARE: f64 = 1e-3;
