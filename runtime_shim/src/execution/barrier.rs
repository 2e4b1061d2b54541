//! Barriers of a block, with counts of the threads that still live.
//!
//! Invariant: `arrived` holds, for each warp, exactly the lanes that wait at the barrier, and `passed` those
//! that arrived there and went on. A barrier of all threads completes when all live threads wait there, so
//! that threads that returned release it; a barrier of a stated number of threads counts, as the hardware
//! does, a warp as 32 once all of its live lanes have arrived.

use super::block::{BlockState, Waiting};
use super::warp::WARP_LANES;
use crate::abi::ThreadContext;
use crate::termination;

/// Barriers of a block; 0 is the one of `__syncthreads`.
pub const NAMED_BARRIERS: usize = 16;

/// Warps of the largest block.
const WARPS: usize = 32;

/// One barrier.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    arrived: [u32; WARPS],
    /// Lanes of `bar.arrive`.
    passed: [u32; WARPS],
    arrivals: u32,
    /// Threads that complete it; 0 for all.
    expected: u32,
    true_predicates: u32,
    /// Threads and true predicates of the last completion.
    completed: (u32, u32),
}

impl Default for Barrier {
    fn default() -> Self {
        Self {
            arrived: [0; WARPS],
            passed: [0; WARPS],
            arrivals: 0,
            expected: 0,
            true_predicates: 0,
            completed: (0, 0),
        }
    }
}

impl BlockState {
    /// Completes a barrier if all that it waits for have arrived. One that waits for a number of
    /// threads lets the others of the block go on first, which may have nothing more to do than to
    /// leave: then it orders all that is left of the block.
    pub fn complete_barrier(&mut self, number: usize) {
        let others = self.warps.iter().any(|warp| warp.ready != 0);
        if self.barriers[number].expected == 0 || !others {
            self.complete(number);
        }
    }

    /// Completes all barriers for which enough threads wait; false when there is none.
    pub fn complete_barriers(&mut self) -> bool {
        let before = self.counters.barriers;
        for number in 0..NAMED_BARRIERS {
            self.complete(number);
        }
        self.counters.barriers > before
    }

    fn complete(&mut self, number: usize) {
        let barrier = &mut self.barriers[number];
        if barrier.arrivals == 0 && barrier.passed == [0; WARPS] {
            return;
        }
        let came = || {
            barrier
                .arrived
                .iter()
                .zip(&barrier.passed)
                .map(|(waits, passed)| waits | passed)
        };
        let complete = if barrier.expected == 0 {
            barrier.arrivals == self.live
        } else {
            let covered: u32 = came()
                .zip(&self.warps)
                .map(|(came, warp)| match came {
                    0 => 0,
                    all if all & warp.live == warp.live => WARP_LANES as u32,
                    some => some.count_ones(),
                })
                .sum();
            covered >= barrier.expected
        };
        if !complete {
            return;
        }
        for (index, (arrived, warp)) in barrier.arrived.iter_mut().zip(&mut self.warps).enumerate()
        {
            warp.ready |= *arrived;
            let mut rest = std::mem::take(arrived);
            while rest != 0 {
                self.lanes[index * WARP_LANES + rest.trailing_zeros() as usize].waiting =
                    Waiting::Nothing;
                rest &= rest - 1;
            }
        }
        barrier.completed = (barrier.arrivals, barrier.true_predicates);
        // Only a barrier of the whole block orders all of its threads.
        let all = barrier.arrivals == self.live;
        self.interval += u32::from(all);
        self.barriers_passed += 1;
        self.all_released |= all;
        barrier.passed = [0; WARPS];
        barrier.arrivals = 0;
        barrier.true_predicates = 0;
        self.counters.barriers += 1;
    }
}

/// Waits at a barrier; returns the number of threads that took part and of their true predicates.
///
/// # Safety
/// Called on the fiber of the thread that `context` describes.
unsafe fn wait(
    context: *mut ThreadContext,
    number: u32,
    expected: u32,
    predicate: bool,
) -> (u32, u32) {
    // SAFETY: references into the state end before the switch.
    unsafe {
        let state = BlockState::of(context);
        let linear = (*context).linear_index;
        let index = index_of(state, number);
        if !(*state).has_lanes() {
            // Not a kernel that runs as fibers: reports our bug.
            BlockState::suspend(state, linear);
        }
        {
            let state = &mut *state;
            let (warp, lane) = (linear as usize / WARP_LANES, linear as usize % WARP_LANES);
            let barrier = &mut state.barriers[index];
            barrier.arrived[warp] |= 1 << lane;
            barrier.arrivals += 1;
            barrier.expected = expected;
            barrier.true_predicates += u32::from(predicate);
            state.lanes[linear as usize].waiting = Waiting::Barrier(number);
            state.warps[warp].ready &= !(1 << lane);
            state.complete_barrier(index);
        }
        // The last to arrive gives way as well: threads go on in ascending order.
        BlockState::suspend(state, linear);
        (*state).barriers[index].completed
    }
}

/// Where a barrier is; the program ends where a block does not have it.
///
/// # Safety
/// `state` is that of a block which runs.
unsafe fn index_of(state: *const BlockState, number: u32) -> usize {
    let index = number as usize;
    if index >= NAMED_BARRIERS {
        // SAFETY: as the caller promises.
        let name = unsafe { &(*state).launch().kernel.display_name };
        termination::fail(&format!(
            "kernel {name} uses barrier {number}, but a block has {NAMED_BARRIERS}"
        ));
    }
    index
}

/// `__syncthreads`.
///
/// # Safety
/// Compiled kernels call it with the context that they were given; the same for all `__sirius_*`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_barrier(context: *mut ThreadContext) {
    // SAFETY: as the caller promises.
    unsafe { wait(context, 0, 0, false) };
}

/// `bar.red`, and so `__syncthreads_count` (operation 0), `_and` (1), `_or` (2); 0 threads are all of the block.
///
/// # Safety
/// As for [`__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_barrier_reduce(
    context: *mut ThreadContext,
    number: u32,
    threads: u32,
    predicate: u32,
    operation: u32,
) -> u32 {
    // SAFETY: as the caller promises.
    let (threads, count) = unsafe { wait(context, number, threads, predicate != 0) };
    match operation {
        0 => count,
        1 => u32::from(count == threads),
        _ => u32::from(count > 0),
    }
}

/// `bar.arrive number, threads`: the thread is counted and goes on.
///
/// # Safety
/// As for [`__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_barrier_arrive(
    context: *mut ThreadContext,
    number: u32,
    threads: u32,
) {
    // SAFETY: as the caller promises; one fiber of the block runs at a time.
    unsafe {
        let state = BlockState::of(context);
        let linear = (*context).linear_index as usize;
        let index = index_of(state, number);
        let state = &mut *state;
        let barrier = &mut state.barriers[index];
        barrier.passed[linear / WARP_LANES] |= 1 << (linear % WARP_LANES);
        barrier.expected = threads;
        state.complete_barrier(index);
    }
}

/// `bar.sync number, threads`; 0 threads are all of the block.
///
/// # Safety
/// As for [`__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_named_barrier(
    context: *mut ThreadContext,
    number: u32,
    threads: u32,
) {
    // SAFETY: as the caller promises.
    unsafe { wait(context, number, threads, false) };
}
