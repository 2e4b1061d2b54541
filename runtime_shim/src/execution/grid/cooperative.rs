//! Cooperative launches: all blocks of a grid are there at once, so that they can wait for each other.
//!
//! Every thread of every block is a fiber of the launching thread, and the blocks take turns: each runs
//! until its threads have ended or wait for other blocks. A thread waits for another block by reading
//! memory again and again; each such read gives way ([`__sirius_give_way`]), within the block first and,
//! when the block can do nothing else, to the other blocks.
//!
//! Invariant: a grid that is run here has at most [`super::super::fiber::STACK_LIMIT`] threads.

use std::sync::{Mutex, PoisonError};

use super::super::arithmetic::DeviceMode;
use super::super::block::{BlockRunner, BlockState, Method, Waiting};
use super::super::warp::WARP_LANES;
use super::super::{Failure, Launch, clusters};
use crate::abi::{BlockContext, Counters, ThreadContext};
use crate::execution::fault;
use crate::execution::statistics::accumulate;

/// Whether blocks of this launch may wait for each other.
pub fn waits_for_blocks(launch: &Launch, method: Method) -> bool {
    launch.cooperative && method == Method::Fibers
}

/// How far a block came in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// All its threads have returned, or one has failed.
    Over,
    /// Nothing is left in it but threads that wait for memory to change.
    Waits,
}

/// Runs all blocks and returns what instrumented code counted, and how the kernel failed if it did.
pub fn run(launch: &Launch, method: Method) -> (Counters, Option<Failure>) {
    // Two launches that each wait for the other's stacks would wait for ever.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    fault::prepare_thread();
    let _mode = DeviceMode::begin();
    let indices =
        (0..launch.block_count()).map(|linear| super::super::grid::index(linear, launch.grid));
    let mut blocks = clusters::begun(launch, method, indices);
    let _clusters = clusters::formed(launch, &mut blocks);
    let (mut counters, mut failure) = (Counters::default(), None);
    take_turns(blocks, &mut counters, &mut failure);
    (counters, failure)
}

/// Lets blocks that have begun run in turn until all are over.
pub fn take_turns(
    mut blocks: Vec<BlockRunner>,
    counters: &mut Counters,
    failure: &mut Option<Failure>,
) {
    while !blocks.is_empty() {
        let mut waiting = Vec::new();
        for mut block in blocks {
            if failure.is_none() && block.take_turn() == Turn::Waits {
                waiting.push(block);
                continue;
            }
            let (counted, failed) = block.end();
            accumulate(counters, &counted);
            *failure = failure.or(failed);
        }
        blocks = waiting;
    }
}

impl BlockState {
    /// Lets threads go on that read memory again and again; returns how many.
    pub fn release_readers(&mut self) -> usize {
        let mut released = 0;
        for (linear, lane) in self.lanes.iter_mut().enumerate() {
            if lane.waiting == Waiting::Memory {
                lane.waiting = Waiting::Nothing;
                self.warps[linear / WARP_LANES].ready |= 1 << (linear % WARP_LANES);
                released += 1;
            }
        }
        released
    }
}

/// Lets others run before memory is read that somebody else may be about to change.
///
/// # Safety
/// As for [`super::super::barrier::__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_give_way(context: *mut ThreadContext) {
    // SAFETY: as the caller promises; references into the state end before the switch.
    unsafe {
        let state = BlockState::of(context);
        if !(*state).has_lanes() {
            return;
        }
        let linear = (*context).linear_index;
        {
            let (state, lane) = (&mut *state, linear as usize);
            state.lanes[lane].waiting = Waiting::Memory;
            state.warps[lane / WARP_LANES].ready &= !(1 << (lane % WARP_LANES));
        }
        BlockState::suspend(state, linear);
    }
}

/// The address of the memory by which the blocks of a cooperative launch meet; 0 in others.
///
/// # Safety
/// `block` is what the runtime gave to a kernel that still runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_grid_workspace(block: *const BlockContext) -> u64 {
    // SAFETY: as the caller promises; the launch outlives its blocks.
    unsafe {
        let launch = (*(*block).runtime.cast::<BlockState>()).launch;
        match (*launch).cooperative {
            true => (&raw const (*launch).workspace) as u64,
            false => 0,
        }
    }
}
