//! Launches that may begin before the one before them has ended.
//!
//! On a GPU what such a kernel does before its wait may come before all that the launch before it does, or after, or
//! in between. Launches run one after another here; so, when a launch runs behind which one may begin early, memory is
//! kept as it was before. Of the later launch some blocks then run up to their waits with memory as it was, and go on
//! with memory as it is. The other blocks run in their turn. A wait that stands too late shows as a wrong result.
//!
//! Invariant: outside of [`run`] memory is as the program made it.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use super::super::arithmetic::DeviceMode;
use super::super::block::{BlockRunner, BlockState, Method, Waiting};
use super::super::warp::WARP_LANES;
use super::super::{Failure, Launch, clusters, fiber, grid};
use super::cooperative::take_turns;
use crate::abi::{Counters, ThreadContext};
use crate::allocations::{self, MemoryKind};
use crate::environment::settings;
use crate::execution::fault;
use crate::execution::statistics::accumulate;

/// The contents of an allocation at some time.
struct Contents {
    base: usize,
    bytes: Vec<u8>,
}

/// Memory as it was before the last launch, where the one behind that may begin early.
static BEFORE: Mutex<Option<Vec<Contents>>> = Mutex::new(None);

thread_local! {
    static FOLLOWED: Cell<bool> = const { Cell::new(false) };
}

/// Most bytes that are kept; with more of them all blocks run in their turn.
const MOST_BYTES: usize = 256 << 20;

/// Most threads that run early: each is a fiber.
const MOST_THREADS: u32 = 4096;

/// Says of this thread's next launch that the one behind it may begin early.
#[unsafe(no_mangle)]
pub extern "C" fn __sirius_overlap_follows() {
    FOLLOWED.set(true);
}

/// What a launch leaves for the one behind it, and what the one before left for it.
pub struct Kept {
    own: Option<Vec<Contents>>,
    before: Option<Vec<Contents>>,
}

impl Kept {
    /// A launch begins.
    pub fn at_begin() -> Self {
        let before = before().take();
        let own = FOLLOWED.replace(false) && settings().overlap.is_some();
        Self {
            own: own.then(contents).flatten(),
            before: before.filter(|_| !settings().instrumented()),
        }
    }

    /// Whether blocks can begin with memory as it was before the last launch.
    pub fn can_begin_early(&self) -> bool {
        self.before.is_some()
    }

    /// It has ended.
    pub fn at_end(self) {
        *before() = self.own;
    }
}

fn before() -> std::sync::MutexGuard<'static, Option<Vec<Contents>>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All memory that kernels of the program write, unless it is too much.
fn contents() -> Option<Vec<Contents>> {
    let views = allocations::live().into_iter();
    let views = views.filter(|view| view.has_memory && view.kind != MemoryKind::Registered);
    let views: Vec<_> = views.collect();
    let bytes: usize = views.iter().map(|view| view.bytes).sum();
    if bytes > MOST_BYTES {
        return None;
    }
    let kept = views.into_iter().map(|view| Contents {
        base: view.base,
        // SAFETY: the view is of a live allocation, which is readable for all its bytes.
        bytes: unsafe { std::slice::from_raw_parts(view.base as *const u8, view.bytes) }.to_vec(),
    });
    Some(kept.collect())
}

/// Lets memory and what is kept change places.
fn exchange(kept: &mut [Contents]) {
    for each in kept {
        let here = allocations::find(each.base);
        if here.is_none_or(|view| view.base != each.base || view.bytes != each.bytes.len()) {
            continue;
        }
        // SAFETY: an allocation of so many bytes is there, and what is kept lies elsewhere.
        let memory =
            unsafe { std::slice::from_raw_parts_mut(each.base as *mut u8, each.bytes.len()) };
        memory.swap_with_slice(&mut each.bytes);
    }
}

/// Runs all blocks, some of them up to their waits with memory as it was before the last launch.
pub fn run(launch: &Launch, method: Method, kept: &mut Kept) -> (Counters, Option<Failure>) {
    // Two launches that each wait for the other's stacks would wait for ever.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    fault::prepare_thread();
    let _mode = DeviceMode::begin();
    let early = early_blocks(launch);
    let place = |linear: &u64| grid::index(*linear, launch.grid);
    let mut blocks = clusters::begun(launch, method, early.iter().map(place));
    let (mut counters, mut failure) = (Counters::default(), None);
    launch.predecessor_runs.store(true, Ordering::Relaxed);
    if let Some(before) = &mut kept.before {
        exchange(before);
        for block in &mut blocks {
            block.take_turn();
        }
        exchange(before);
    }
    launch.predecessor_runs.store(false, Ordering::Relaxed);
    take_turns(blocks, &mut counters, &mut failure);
    let stack_bytes = fiber::size_class(launch.kernel.kernel.stack_bytes);
    let stacks = fiber::take(method.stack_count(launch), stack_bytes);
    let mut runner = BlockRunner::new(launch, method, stacks);
    for linear in (0..launch.block_count()).filter(|linear| early.binary_search(linear).is_err()) {
        if failure.is_none() {
            failure = runner.run(place(&linear));
        }
    }
    accumulate(&mut counters, &runner.finish());
    (counters, failure)
}

/// The blocks that begin early, ascending: as many as may, spread over the grid from where the seed says.
fn early_blocks(launch: &Launch) -> Vec<u64> {
    let all = launch.block_count();
    let most = u64::from(MOST_THREADS / launch.threads_per_block()).clamp(1, all);
    let seed = settings().overlap.unwrap_or_default();
    let mut early: Vec<u64> = (0..most)
        .map(|number| (number * all / most + seed) % all)
        .collect();
    early.sort_unstable();
    early.dedup();
    early
}

/// `griddepcontrol.wait`: until the launch before has ended.
///
/// # Safety
/// As for [`super::super::barrier::__sirius_barrier`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_dependency_wait(context: *mut ThreadContext) {
    // SAFETY: as the caller promises; references into the state end before the switch.
    unsafe {
        let state = BlockState::of(context);
        if !(*state).has_lanes() {
            return;
        }
        let linear = (*context).linear_index;
        let launch = (*state).launch;
        while (*launch).predecessor_runs.load(Ordering::Relaxed) {
            {
                let (state, lane) = (&mut *state, linear as usize);
                state.lanes[lane].waiting = Waiting::Memory;
                state.warps[lane / WARP_LANES].ready &= !(1 << (lane % WARP_LANES));
            }
            BlockState::suspend(state, linear);
        }
    }
}
