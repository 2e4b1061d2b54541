//! Barriers in shared memory (`mbarrier`): words that count arrivals, phase by phase.
//!
//! A word has the arrivals that its phase still waits for in bits 0 to 19, those that a phase begins with
//! in bits 20 to 39, the bytes that are still to come in bits 40 to 62, with a sign, and in bit 63 the phase,
//! which changes each time neither arrivals nor bytes are left. Asking whether a phase
//! is over gives way to the other threads while it is not, so that a thread that asks in a loop does not
//! keep them from arriving; the answer is as of when it goes on. Where all that is left to run asks in
//! vain, each gets its answer in turn, and after many such rounds the block counts as deadlocked.

use super::block::{BlockState, Waiting};
use super::warp::WARP_LANES;
use crate::abi::ThreadContext;

/// Rounds of answers in vain, with no arrival in between, after which nothing will come any more.
pub const VAIN_ROUNDS: u32 = 100_000;

const COUNT_BITS: u32 = 20;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const BYTES_BITS: u32 = 23;
const BYTES_MASK: u64 = (1 << BYTES_BITS) - 1;
const PHASE: u64 = 1 << 63;

impl BlockState {
    /// Lets the threads go on that ask a barrier in shared memory, or any (`None`); returns how many.
    pub fn release_from_shared_barrier(&mut self, barrier: Option<usize>) -> usize {
        let mut released = 0;
        for (linear, lane) in self.lanes.iter_mut().enumerate() {
            let Waiting::SharedBarrier(place) = lane.waiting else {
                continue;
            };
            if barrier.is_none_or(|barrier| barrier == place) {
                lane.waiting = Waiting::Nothing;
                self.warps[linear / WARP_LANES].ready |= 1 << (linear % WARP_LANES);
                released += 1;
            }
        }
        released
    }
}

/// `mbarrier.arrive` with a count, which may be 0; with `drop` later phases wait for so many fewer. So many `bytes` are
/// to come, or have come where the number is negative. Returns the state before, which names the phase.
///
/// # Safety
/// As for [`super::barrier::__sirius_barrier`]; `barrier` is a word of the block's memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_shared_barrier_arrive(
    context: *mut ThreadContext,
    barrier: *mut u64,
    count: u32,
    drop: u32,
    bytes: i32,
) -> u64 {
    // SAFETY: as the caller promises; one fiber of the block runs at a time.
    unsafe {
        let before = barrier.read_unaligned();
        let after = advanced(before, count, drop != 0, bytes);
        barrier.write_unaligned(after);
        let state = &mut *BlockState::of(context);
        state.vain_rounds = 0;
        if (after ^ before) & PHASE != 0 {
            // Whoever waits comes after whoever arrived, as at any other barrier.
            state.barriers_passed += 1;
            state.release_from_shared_barrier(Some(barrier as usize));
        }
        before
    }
}

/// A word after so many arrivals and so many more bytes that are to come.
fn advanced(before: u64, count: u32, drop: bool, bytes: i32) -> u64 {
    let mut expected = before >> COUNT_BITS & COUNT_MASK;
    let count = u64::from(count);
    if drop {
        expected = expected.saturating_sub(count);
    }
    let pending = (before & COUNT_MASK).saturating_sub(count);
    let bytes = (before >> (2 * COUNT_BITS)).wrapping_add(bytes as u64) & BYTES_MASK;
    let phase = before & PHASE;
    match (pending, bytes) {
        (0, 0) => phase ^ PHASE | expected << COUNT_BITS | expected,
        _ => phase | bytes << (2 * COUNT_BITS) | expected << COUNT_BITS | pending,
    }
}

/// `mbarrier.test_wait` and `try_wait`: whether the phase with this bit is over.
///
/// # Safety
/// As for [`__sirius_shared_barrier_arrive`], on the fiber of the thread that `context` describes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_shared_barrier_wait(
    context: *mut ThreadContext,
    barrier: *const u64,
    phase: u32,
) -> u32 {
    // SAFETY: as the caller promises; references into the state end before the switch.
    unsafe {
        let is_over = || u32::from((barrier.read_unaligned() >> 63) as u32 != phase & 1);
        if is_over() == 1 {
            return 1;
        }
        let state = BlockState::of(context);
        let linear = (*context).linear_index;
        if (*state).has_lanes() {
            let state = &mut *state;
            let lane = linear as usize;
            state.lanes[lane].waiting = Waiting::SharedBarrier(barrier as usize);
            state.warps[lane / WARP_LANES].ready &= !(1 << (lane % WARP_LANES));
        }
        BlockState::suspend(state, linear);
        is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_when_all_have_arrived_and_all_bytes_have_come() {
        let two = 2 << COUNT_BITS | 2;
        let one_left = advanced(two, 1, false, 48);
        let none_left = advanced(one_left, 1, false, 0);
        assert_eq!([one_left & PHASE, none_left & PHASE], [0, 0]);
        let some_bytes = advanced(none_left, 0, false, -32);
        assert_eq!(some_bytes & PHASE, 0);
        assert_eq!(advanced(some_bytes, 0, false, -16), PHASE | two);
    }

    #[test]
    fn bytes_may_come_before_they_are_expected() {
        let one = 1 << COUNT_BITS | 1;
        let early = advanced(one, 0, false, -16);
        assert_eq!(early & PHASE, 0);
        assert_eq!(advanced(early, 1, false, 16), PHASE | one);
    }

    #[test]
    fn who_leaves_is_not_waited_for_again() {
        let two = 2 << COUNT_BITS | 2;
        let left = advanced(advanced(two, 1, true, 0), 1, false, 0);
        assert_eq!(left, PHASE | 1 << COUNT_BITS | 1);
    }
}
