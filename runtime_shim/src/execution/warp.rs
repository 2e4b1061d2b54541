//! Operations among the lanes of a warp: barrier, shuffles, votes, matches, active mask.
//!
//! An operation with a mask waits until all lanes of the mask that have not returned ask for the same
//! kind of operation with the same mask; then the last lane to arrive computes all results, and the
//! lanes go on in ascending order. A value
//! read from a lane that takes no part (undefined in CUDA) is zero, the same in each run.
//!
//! `__activemask` waits until the other lanes of the warp can go no further, and then gives the lanes
//! that wait at the same call: the largest group that hardware could have formed there.

pub mod lockstep;
pub mod tiles;

use super::block::{BlockState, Waiting};
use crate::abi::ThreadContext;
use crate::termination;
use std::ffi::c_void;
use tiles::Tiles;

/// Lanes of a warp.
pub const WARP_LANES: usize = 32;

/// What kind of operation a lane waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `__syncwarp`.
    Barrier,
    /// `__shfl_*_sync`.
    Shuffle,
    /// `__all_sync`, `__any_sync`, `__uni_sync`, `__ballot_sync`.
    Vote,
    /// `__match_any_sync`, `__match_all_sync`.
    Match,
    /// A product of tiles that the lanes hold.
    Product,
}

/// One lane's part of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    kind: Kind,
    mask: u32,
    value: u64,
    /// Shuffle: source operand. Vote and match: which form.
    operand: u32,
    /// Shuffle: PTX's operand c.
    clamp_and_segment: u32,
    /// Shuffle: mode.
    mode: u32,
}

/// A warp of a block that runs as fibers.
#[derive(Clone, Debug)]
pub struct Warp {
    /// Lanes that can run.
    pub ready: u32,
    /// Lanes that have not returned.
    pub live: u32,
    /// Operations that were completed.
    pub completed: u32,
    /// Rounds in which some of its lanes waited for others to keep in step.
    pub rounds_apart: u32,
    in_operation: u32,
    at_active_mask: u32,
    operations: [Operation; WARP_LANES],
    results: [u32; WARP_LANES],
    flags: [u32; WARP_LANES],
    sites: [usize; WARP_LANES],
}

impl Warp {
    /// A warp whose lanes are all ready.
    pub fn new(lanes: u32) -> Self {
        const NONE: Operation = Operation {
            kind: Kind::Barrier,
            mask: 0,
            value: 0,
            operand: 0,
            clamp_and_segment: 0,
            mode: 0,
        };
        Self {
            ready: lanes,
            live: lanes,
            completed: 0,
            rounds_apart: 0,
            in_operation: 0,
            at_active_mask: 0,
            operations: [NONE; WARP_LANES],
            results: [0; WARP_LANES],
            flags: [0; WARP_LANES],
            sites: [0; WARP_LANES],
        }
    }

    /// Completes the operation that `lane` waits in if all its lanes have arrived; returns them.
    fn complete(&mut self, lane: usize) -> u32 {
        let Operation { kind, mask, .. } = self.operations[lane];
        let participants = mask & self.live;
        if participants & self.in_operation != participants
            || !lanes(participants).all(|lane| {
                self.operations[lane].kind == kind && self.operations[lane].mask == mask
            })
        {
            return 0;
        }
        match kind {
            Kind::Barrier => {}
            Kind::Shuffle => {
                for lane in lanes(participants) {
                    let (source, in_range) = shuffle_source(lane as u32, &self.operations[lane]);
                    let takes_part = participants & (1 << source) != 0;
                    self.results[lane] = if takes_part {
                        self.operations[source].value as u32
                    } else {
                        0
                    };
                    self.flags[lane] = u32::from(in_range);
                }
            }
            Kind::Vote => {
                let votes = lanes(participants)
                    .filter(|lane| self.operations[*lane].value != 0)
                    .fold(0_u32, |votes, lane| votes | 1 << lane);
                for lane in lanes(participants) {
                    self.results[lane] = match self.operations[lane].operand {
                        0 => u32::from(votes == participants),
                        1 => u32::from(votes != 0),
                        2 => u32::from(votes == 0 || votes == participants),
                        _ => votes,
                    };
                }
            }
            Kind::Match => {
                for lane in lanes(participants) {
                    let same = lanes(participants)
                        .filter(|other| {
                            self.operations[*other].value == self.operations[lane].value
                        })
                        .fold(0_u32, |same, other| same | 1 << other);
                    let all = self.operations[lane].operand != 0;
                    let all_same = same == participants;
                    self.results[lane] = if all && !all_same { 0 } else { same };
                    self.flags[lane] = u32::from(all_same);
                }
            }
            Kind::Product => {
                let operation = self.operations[lane];
                let mut held = [None; WARP_LANES];
                for lane in lanes(participants) {
                    held[lane] = Some(self.operations[lane].value as usize as *const Tiles);
                }
                // SAFETY: each lane waits in `__sirius_multiply_tiles`, whose frame holds its tiles, and
                // its caller vouches for the fragments.
                unsafe { tiles::multiply(&held, operation.operand, operation.mode) };
            }
        }
        self.completed += 1;
        self.in_operation &= !participants;
        self.ready |= participants;
        participants
    }
}

impl BlockState {
    /// Completes operations that only waited for a lane that has returned.
    pub fn complete_warp_operations(&mut self, warp: usize) {
        let mut rest = self.warps[warp].in_operation;
        while rest != 0 {
            let released = self.warps[warp].complete(rest.trailing_zeros() as usize);
            self.run_again(warp, released);
            rest &= rest - 1;
            rest &= !released;
        }
    }

    /// Lets a group of lanes go on from `__activemask` when nothing else in the warp can run.
    pub fn release_active_mask(&mut self, warp: usize) -> bool {
        let state = &mut self.warps[warp];
        if state.at_active_mask == 0 {
            return false;
        }
        let site = state.sites[state.at_active_mask.trailing_zeros() as usize];
        let group = lanes(state.at_active_mask)
            .filter(|lane| state.sites[*lane] == site)
            .fold(0_u32, |group, lane| group | 1 << lane);
        for lane in lanes(group) {
            state.results[lane] = group;
        }
        state.at_active_mask &= !group;
        state.ready |= group;
        self.run_again(warp, group);
        true
    }

    fn run_again(&mut self, warp: usize, released: u32) {
        for lane in lanes(released) {
            self.lanes[warp * WARP_LANES + lane].waiting = Waiting::Nothing;
        }
    }
}

/// The lane that a shuffle reads, and whether it is in range (else it is the lane's own), as PTX's
/// `shfl.sync` defines them.
fn shuffle_source(lane: u32, operation: &Operation) -> (usize, bool) {
    let segment = (operation.clamp_and_segment >> 8) & 31;
    let clamp = operation.clamp_and_segment & 31;
    let operand = operation.operand & 31;
    let maximum = (lane & segment) | (clamp & !segment);
    let minimum = lane & segment;
    let (source, in_range) = match operation.mode {
        0 => {
            let source = lane.wrapping_sub(operand).cast_signed();
            (source.cast_unsigned(), source >= maximum.cast_signed())
        }
        1 => (lane + operand, lane + operand <= maximum),
        2 => (lane ^ operand, lane ^ operand <= maximum),
        _ => {
            let source = minimum | (operand & !segment);
            (source, source <= maximum)
        }
    };
    if in_range {
        (source as usize & 31, true)
    } else {
        (lane as usize, false)
    }
}

/// Does one lane's part of an operation and waits for the others; returns its result and flag.
///
/// # Safety
/// Called on the fiber of the thread that `context` describes.
unsafe fn take_part(context: *mut ThreadContext, operation: Operation) -> (u32, u32) {
    // SAFETY: references into the state end before the switch.
    unsafe {
        let state = BlockState::of(context);
        let linear = (*context).linear_index;
        let (warp, lane) = (linear as usize / WARP_LANES, linear as usize % WARP_LANES);
        require_fibers(state, linear);
        if operation.mask & (1 << lane) == 0 {
            let [x, y, z] = (*context).thread_index;
            termination::fail(&format!(
                "kernel {}, thread ({x},{y},{z}): a warp operation's mask {:#010x} lacks the lane \
                 that executes it, lane {lane}",
                (*state).launch().kernel.display_name,
                operation.mask
            ));
        }
        {
            let state = &mut *state;
            let group = &mut state.warps[warp];
            group.operations[lane] = operation;
            group.in_operation |= 1 << lane;
            group.ready &= !(1 << lane);
            state.lanes[linear as usize].waiting = Waiting::WarpOperation;
            let released = group.complete(lane);
            state.run_again(warp, released);
        }
        // The last to arrive gives way as well: lanes go on in ascending order.
        BlockState::suspend(state, linear);
        let group = &(&(*state).warps)[warp];
        (group.results[lane], group.flags[lane])
    }
}

/// Reports our bug when the block does not run as fibers.
///
/// # Safety
/// As for [`BlockState::suspend`].
unsafe fn require_fibers(state: *mut BlockState, linear: u32) {
    // SAFETY: as the caller promises.
    unsafe {
        if !(*state).has_lanes() {
            BlockState::suspend(state, linear);
        }
    }
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
}

/// `__syncwarp`.
///
/// # Safety
/// Compiled kernels call it with the context that they were given; the same for all `__sirius_*`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_warp_barrier(context: *mut ThreadContext, mask: u32) {
    let operation = Operation {
        kind: Kind::Barrier,
        mask,
        value: 0,
        operand: 0,
        clamp_and_segment: 0,
        mode: 0,
    };
    // SAFETY: as the caller promises.
    unsafe { take_part(context, operation) };
}

/// `shfl.sync` with PTX's operands: mode 0 up, 1 down, 2 butterfly, 3 index.
///
/// # Safety
/// As for [`__sirius_warp_barrier`]; `in_range` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_shuffle(
    context: *mut ThreadContext,
    mask: u32,
    value: u32,
    operand: u32,
    clamp_and_segment: u32,
    mode: u32,
    in_range: *mut u32,
) -> u32 {
    let operation = Operation {
        kind: Kind::Shuffle,
        mask,
        value: u64::from(value),
        operand,
        clamp_and_segment,
        mode,
    };
    // SAFETY: as the caller promises.
    unsafe {
        let (result, flag) = take_part(context, operation);
        if !in_range.is_null() {
            *in_range = flag;
        }
        result
    }
}

/// `vote.sync`: form 0 all, 1 any, 2 uni, 3 ballot.
///
/// # Safety
/// As for [`__sirius_warp_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_vote(
    context: *mut ThreadContext,
    mask: u32,
    predicate: u32,
    form: u32,
) -> u32 {
    let operation = Operation {
        kind: Kind::Vote,
        mask,
        value: u64::from(predicate),
        operand: form,
        clamp_and_segment: 0,
        mode: 0,
    };
    // SAFETY: as the caller promises.
    unsafe { take_part(context, operation).0 }
}

/// `match.any.sync` (`all` is 0), `match.all.sync`.
///
/// # Safety
/// As for [`__sirius_warp_barrier`]; `predicate` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_match(
    context: *mut ThreadContext,
    mask: u32,
    value: u64,
    all: u32,
    predicate: *mut u32,
) -> u32 {
    let operation = Operation {
        kind: Kind::Match,
        mask,
        value,
        operand: all,
        clamp_and_segment: 0,
        mode: 0,
    };
    // SAFETY: as the caller promises.
    unsafe {
        let (result, flag) = take_part(context, operation);
        if !predicate.is_null() {
            *predicate = flag;
        }
        result
    }
}

/// `wmma.mma` and `mma.sync`: D = A · B + C of fragments that all lanes of the warp hold, with shape and
/// form as [`tiles::multiply`] has them and how many elements of A, B and C a lane holds, a byte each.
///
/// # Safety
/// As for [`__sirius_warp_barrier`]; the fragments have as many elements as they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_multiply_tiles(
    context: *mut ThreadContext,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    d: *mut c_void,
    shape: u32,
    form: u32,
    held: u32,
) {
    let tiles = Tiles { a, b, c, d, held };
    let operation = Operation {
        kind: Kind::Product,
        mask: u32::MAX,
        value: &raw const tiles as usize as u64,
        operand: shape,
        clamp_and_segment: 0,
        mode: form,
    };
    // SAFETY: as the caller promises.
    unsafe { take_part(context, operation) };
}

/// `__activemask`: passes on the call's own address, which tells one call from another.
///
/// # Safety
/// As for [`__sirius_warp_barrier`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[cfg(target_arch = "x86_64")]
pub unsafe extern "C" fn __sirius_active_mask(context: *mut ThreadContext) -> u32 {
    std::arch::naked_asm!("mov rsi, [rsp]", "jmp {}", sym active_mask_at)
}

/// `__activemask`: passes on the call's own address, which tells one call from another.
///
/// # Safety
/// As for [`__sirius_warp_barrier`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[cfg(target_arch = "aarch64")]
pub unsafe extern "C" fn __sirius_active_mask(context: *mut ThreadContext) -> u32 {
    std::arch::naked_asm!("mov x1, x30", "b {}", sym active_mask_at)
}

/// # Safety
/// As for [`__sirius_warp_barrier`].
unsafe extern "C" fn active_mask_at(context: *mut ThreadContext, site: usize) -> u32 {
    // SAFETY: references into the state end before the switch.
    unsafe {
        let state = BlockState::of(context);
        let linear = (*context).linear_index;
        let (warp, lane) = (linear as usize / WARP_LANES, linear as usize % WARP_LANES);
        require_fibers(state, linear);
        {
            let state = &mut *state;
            let group = &mut state.warps[warp];
            group.at_active_mask |= 1 << lane;
            group.ready &= !(1 << lane);
            group.sites[lane] = site;
            state.lanes[linear as usize].waiting = Waiting::ActiveMask;
        }
        BlockState::suspend(state, linear);
        (&(*state).warps)[warp].results[lane]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(lane: u32, operand: u32, clamp_and_segment: u32, mode: u32) -> (usize, bool) {
        let operation = Operation {
            kind: Kind::Shuffle,
            mask: !0,
            value: 0,
            operand,
            clamp_and_segment,
            mode,
        };
        shuffle_source(lane, &operation)
    }

    #[test]
    fn shuffles_over_the_whole_warp() {
        assert_eq!(source(5, 3, 0, 0), (2, true));
        assert_eq!(source(2, 3, 0, 0), (2, false));
        assert_eq!(source(28, 3, 0x1f, 1), (31, true));
        assert_eq!(source(29, 3, 0x1f, 1), (29, false));
        assert_eq!(source(6, 5, 0x1f, 2), (3, true));
        assert_eq!(source(6, 40, 0x1f, 3), (8, true));
    }

    #[test]
    fn shuffles_within_a_width() {
        // __shfl_*_sync with width 8 passes ((32 - 8) << 8) | clamp.
        let segment = 24 << 8;
        assert_eq!(source(9, 2, segment, 0), (9, false));
        assert_eq!(source(10, 2, segment, 0), (8, true));
        assert_eq!(source(13, 2, segment | 0x1f, 1), (15, true));
        assert_eq!(source(14, 2, segment | 0x1f, 1), (14, false));
        assert_eq!(source(14, 3, segment | 0x1f, 3), (11, true));
        assert_eq!(source(14, 11, segment | 0x1f, 3), (11, true));
    }
}
