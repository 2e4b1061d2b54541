//! Warps in lockstep, as code from before Volta takes them for granted.
//!
//! Compiled code calls [`__sirius_keep_step`] before each access of volatile shared memory, with the number of the
//! place in the program. Of the lanes of a warp that can run, those go on that are furthest behind, each up to its
//! next such place. Lanes on the same way thus have all done one access before any does the next, and lanes that
//! left a branch or a loop early wait for the others behind it, as they do on such a GPU.

use super::super::block::BlockState;
use super::super::warp::WARP_LANES;
use crate::abi::ThreadContext;

/// Rounds for which lanes wait for others behind them. These may themselves wait for those in front, in a loop that
/// the compiler has not recognised as one; so many rounds of honest work are rare.
const MOST_ROUNDS: u32 = 1 << 20;

impl BlockState {
    /// Of the lanes of a warp that can run those that run next.
    pub fn hindmost(&mut self, warp: usize, ready: u32) -> u32 {
        let lanes = (0..WARP_LANES).filter(|lane| ready & 1 << lane != 0);
        let (mut least, mut hindmost) = (u32::MAX, 0);
        for lane in lanes {
            let step = self.lanes[warp * WARP_LANES + lane].step;
            if step < least {
                (least, hindmost) = (step, 0);
            }
            if step == least {
                hindmost |= 1 << lane;
            }
        }
        let rounds = &mut self.warps[warp].rounds_apart;
        *rounds = if hindmost == ready { 0 } else { *rounds + 1 };
        if *rounds < MOST_ROUNDS {
            return hindmost;
        }
        *rounds = 0;
        ready
    }
}

/// Lets the other lanes of the warp come to the same place, or past it.
///
/// # Safety
/// As for [`super::super::barrier::__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_keep_step(context: *mut ThreadContext, step: u32) {
    // SAFETY: as the caller promises; references into the state end before the switch.
    unsafe {
        let state = BlockState::of(context);
        if !(*state).has_lanes() {
            return;
        }
        let linear = (*context).linear_index;
        (&mut (*state).lanes)[linear as usize].step = step;
        BlockState::suspend(state, linear);
        (&mut (*state).lanes)[linear as usize].step = 0;
    }
}
