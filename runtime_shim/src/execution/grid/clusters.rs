//! Clusters: blocks that are there at once, wait for each other and touch each other's shared memory.
//!
//! Every thread of a cluster is a fiber of the launching thread, and the blocks take turns, as those of a cooperative
//! launch do; one cluster comes after the other. A block without a cluster is one by itself.
//!
//! Invariant: `arrived` counts the live threads of all blocks that have arrived at the barrier in this phase, `live`
//! those that have not returned. A thread that returned has arrived for good.

use super::super::arithmetic::DeviceMode;
use super::super::block::{BlockRunner, BlockState, Method};
use super::super::{Failure, Launch, fiber, grid};
use super::cooperative::{self, __sirius_give_way};
use crate::abi::{Counters, ThreadContext};
use crate::execution::fault;
use crate::termination;
use std::sync::{Mutex, PoisonError};

/// The shared memory of a block.
#[derive(Clone, Copy, Debug)]
pub struct SharedMemory {
    /// Linear index of the block.
    pub block: u32,
    /// Its lowest and highest address.
    pub bounds: (usize, usize),
}

impl SharedMemory {
    /// Of a block that runs.
    pub fn of(state: &BlockState) -> Self {
        Self {
            block: state.linear_index(),
            bounds: state.shared_bounds,
        }
    }
}

/// Blocks that run together.
#[derive(Debug, Default)]
pub struct Cluster {
    /// By rank; null for one that is over.
    blocks: Vec<*mut BlockState>,
    live: u32,
    arrived: u32,
    /// How often the barrier was passed.
    phase: u32,
}

impl Cluster {
    /// Of blocks with so many threads in all.
    pub fn new(blocks: Vec<*mut BlockState>, live: u32) -> Self {
        Self {
            blocks,
            live,
            arrived: 0,
            phase: 0,
        }
    }

    /// A thread returned that last arrived for the end of this phase.
    ///
    /// # Safety
    /// The cluster lives, and no reference into it does.
    pub unsafe fn leave(cluster: *mut Self, phase: u32) {
        // SAFETY: as the caller promises.
        unsafe {
            (*cluster).live -= 1;
            if phase == (*cluster).phase.wrapping_add(1) {
                (*cluster).arrived -= 1;
            }
            Self::complete(cluster);
        }
    }

    /// A block is over, and its state goes.
    ///
    /// # Safety
    /// As for [`Self::leave`], or the cluster is null.
    pub unsafe fn forget(cluster: *mut Self, block: *mut BlockState) {
        // SAFETY: as the caller promises.
        if let Some(cluster) = unsafe { cluster.as_mut() } {
            let mut blocks = cluster.blocks.iter_mut();
            if let Some(own) = blocks.find(|own| **own == block) {
                *own = std::ptr::null_mut();
            }
        }
    }

    /// Begins the next phase where all have arrived.
    ///
    /// # Safety
    /// As for [`Self::leave`]; no reference into a block of it lives.
    unsafe fn complete(cluster: *mut Self) {
        // SAFETY: as the caller promises; blocks are reached by raw pointers only.
        unsafe {
            if (*cluster).arrived == 0 || (*cluster).arrived < (*cluster).live {
                return;
            }
            (*cluster).arrived = 0;
            (*cluster).phase = (*cluster).phase.wrapping_add(1);
            let blocks = (&(*cluster)).blocks.iter();
            for block in blocks.filter(|block| !block.is_null()) {
                (**block).interval += 1;
                (**block).counters.barriers += 1;
            }
        }
    }

    /// The shared memory that an address is in, of the blocks of a cluster of several.
    ///
    /// # Safety
    /// The cluster is null, or lives.
    pub unsafe fn shared_memory_at(cluster: *const Self, address: usize) -> Option<SharedMemory> {
        // SAFETY: as the caller promises.
        unsafe {
            let several = cluster
                .as_ref()
                .filter(|cluster| cluster.blocks.len() > 1)?;
            let (rank, _) = several.place(address)?;
            Some(SharedMemory::of(&*several.blocks[rank]))
        }
    }

    /// The block whose shared memory an address is in, and how far from its begin.
    ///
    /// # Safety
    /// As for [`Self::leave`].
    unsafe fn place(&self, address: usize) -> Option<(usize, usize)> {
        let mut blocks = self.blocks.iter().enumerate();
        blocks.find_map(|(rank, block)| {
            // SAFETY: as the caller promises; blocks that are over are null.
            let (low, high) = unsafe { block.as_ref() }?.shared_bounds;
            (low..high)
                .contains(&address)
                .then(|| (rank, address - low))
        })
    }
}

/// Whether blocks of a cluster of this launch may wait for each other.
pub fn waits_for_blocks(launch: &Launch, method: Method) -> bool {
    launch.blocks_per_cluster() > 1 && method == Method::Fibers
}

/// Runs all blocks, and returns what instrumented code counted, and how the kernel failed if it did.
pub fn run(launch: &Launch, method: Method) -> (Counters, Option<Failure>) {
    // Two launches that each wait for the other's stacks would wait for ever.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    fault::prepare_thread();
    let _mode = DeviceMode::begin();
    let (mut counters, mut failure) = (Counters::default(), None);
    let clusters: [u32; 3] = std::array::from_fn(|axis| launch.grid[axis] / launch.cluster[axis]);
    let count: u64 = clusters.iter().map(|extent| u64::from(*extent)).product();
    for number in 0..count {
        let at = grid::index(number, clusters);
        let indices = (0..u64::from(launch.blocks_per_cluster())).map(|rank| {
            let within = grid::index(rank, launch.cluster);
            std::array::from_fn(|axis| at[axis] * launch.cluster[axis] + within[axis])
        });
        let mut blocks = begun(launch, method, indices);
        let _clusters = formed(launch, &mut blocks);
        cooperative::take_turns(blocks, &mut counters, &mut failure);
        if failure.is_some() {
            break;
        }
    }
    (counters, failure)
}

/// Blocks at these places that can take turns.
pub fn begun<'a>(
    launch: &'a Launch,
    method: Method,
    indices: impl Iterator<Item = [u32; 3]>,
) -> Vec<BlockRunner<'a>> {
    let stack_bytes = fiber::size_class(launch.kernel.kernel.stack_bytes);
    let indices: Vec<_> = indices.collect();
    let stacks = indices.iter();
    let stacks = stacks.map(|_| fiber::take(method.stack_count(launch), stack_bytes));
    // All stacks first, so that the blocks' shared memory lies together: 32 bits tell one block's from another's.
    let stacks: Vec<_> = stacks.collect();
    let begun = indices.into_iter().zip(stacks).map(|(index, stacks)| {
        let mut block = BlockRunner::new(launch, method, stacks);
        block.begin(index);
        block
    });
    begun.collect()
}

/// Puts blocks that have begun into the clusters of their launch, which have to stay until all of them are over.
/// In a cluster blocks are in the order of their ranks.
pub fn formed(launch: &Launch, blocks: &mut [BlockRunner]) -> Vec<Box<Cluster>> {
    if launch.blocks_per_cluster() == 1 {
        return Vec::new();
    }
    let mut members: Vec<([u32; 3], Vec<*mut BlockState>)> = Vec::new();
    for block in blocks {
        let state = block.state();
        // SAFETY: the state is the runner's own, and no fiber of it runs.
        let index = unsafe { (*state).context.block_index };
        let cluster = std::array::from_fn(|axis| index[axis] / launch.cluster[axis]);
        match members.iter_mut().find(|(at, _)| *at == cluster) {
            Some((_, states)) => states.push(state),
            None => members.push((cluster, vec![state])),
        }
    }
    let formed = members.into_iter().map(|(_, states)| {
        // SAFETY: as above.
        let live = states.iter().map(|state| unsafe { (**state).live }).sum();
        let mut cluster = Box::new(Cluster::new(states, live));
        let this = &raw mut *cluster;
        for state in &cluster.blocks {
            // SAFETY: as above.
            unsafe { (**state).cluster = this };
        }
        cluster
    });
    formed.collect()
}

/// `barrier.cluster.arrive`.
///
/// # Safety
/// As for [`super::super::barrier::__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_cluster_arrive(context: *mut ThreadContext) {
    // SAFETY: as the caller promises.
    unsafe {
        let state = BlockState::of(context);
        let linear = (*context).linear_index;
        if !(*state).has_lanes() {
            // Not a kernel that runs as fibers: reports our bug.
            BlockState::suspend(state, linear);
        }
        let cluster = (*state).cluster;
        let phase = (*cluster).phase.wrapping_add(1);
        let lane = &raw mut (&mut (*state).lanes)[linear as usize];
        if (*lane).cluster_phase == phase {
            let [x, y, z] = (*context).thread_index;
            termination::fail(&format!(
                "kernel {}, thread ({x},{y},{z}): arrives twice at the barrier of its cluster without waiting",
                (*state).launch().kernel.display_name
            ));
        }
        (*lane).cluster_phase = phase;
        (*lane).has_to_wait = true;
        (*cluster).arrived += 1;
        Cluster::complete(cluster);
    }
}

/// `barrier.cluster.wait`.
///
/// # Safety
/// As for [`super::super::barrier::__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_cluster_wait(context: *mut ThreadContext) {
    // SAFETY: as the caller promises; references into the state end before the switch.
    unsafe {
        let state = BlockState::of(context);
        if !(*state).has_lanes() {
            return;
        }
        let linear = (*context).linear_index as usize;
        let phase = (&(*state).lanes)[linear].cluster_phase;
        // What was arrived for is the phase that comes next, unless it is over.
        while phase == (*(*state).cluster).phase.wrapping_add(1) {
            __sirius_give_way(context);
        }
        (&mut (*state).lanes)[linear].has_to_wait = false;
    }
}

/// `mapa`: the place in the shared memory of the block of that rank that an address is in that of another.
///
/// # Safety
/// As for [`super::super::barrier::__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_map_shared(
    context: *mut ThreadContext,
    address: u64,
    rank: u32,
) -> u64 {
    // SAFETY: as the caller promises.
    unsafe {
        let state = BlockState::of(context);
        if let Some(cluster) = (*state).cluster.as_ref()
            && let Some((_, offset)) = cluster.place(address as usize)
            && let Some(block) = cluster.blocks.get(rank as usize)
            && let Some(block) = block.as_ref()
        {
            return (block.shared_bounds.0 + offset) as u64;
        }
        let what = match (*state).cluster.is_null() {
            // No barrier keeps other blocks, so that none is there.
            true => "asks for another block's shared memory without a barrier of its cluster",
            false => {
                "asks for shared memory of a block that its cluster does not have, or no longer has, or for what is none"
            }
        };
        termination::fail(&format!(
            "kernel {} {what}: address {address:#x}, rank {rank}",
            (*state).launch().kernel.display_name
        ))
    }
}

/// `getctarank`: the rank of the block whose shared memory an address is in; all ones where it is in none's.
///
/// # Safety
/// As for [`super::super::barrier::__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_shared_rank(context: *mut ThreadContext, address: u64) -> u32 {
    // SAFETY: as the caller promises.
    unsafe {
        let state = BlockState::of(context);
        let cluster = (*state).cluster.as_ref();
        let place = cluster.and_then(|cluster| cluster.place(address as usize));
        place.map_or(u32::MAX, |(rank, _)| rank as u32)
    }
}
