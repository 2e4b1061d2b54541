//! Runs one block: as the kernel's own loop, as calls of its thread function, or as fibers.
//!
//! Invariant: a [`BlockState`] is reached by raw pointers from fibers and from the scheduler, but only
//! one of them runs at a time and no reference into it lives across a switch.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::barrier::{Barrier, NAMED_BARRIERS};
use super::clusters::Cluster;
use super::cooperative::Turn;
use super::fiber::{FiberStack, Loan};
use super::shared_barrier::VAIN_ROUNDS;
use super::warp::{WARP_LANES, Warp};
use super::{Failure, Launch, grid};
use crate::abi::{BlockContext, Counters, ThreadContext};
use crate::allocations::Place;
use crate::environment::settings;
use crate::execution::check;
use crate::mapping::GuardedMapping;
use crate::output::trace::{self, Access};
use crate::termination;

/// How the blocks of a launch run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The kernel's loop over the threads of a block.
    BlockLoop,
    /// One call of the thread function after the other, on the worker's stack.
    Calls,
    /// The same within one fiber, which can be abandoned when a thread traps.
    OneFiber,
    /// A fiber for each thread.
    Fibers,
}

impl Method {
    /// The fastest method that the kernel allows.
    pub fn choose(launch: &Launch) -> Self {
        /// Frames above this do not go on a worker's stack.
        const LARGE_FRAME_BYTES: u64 = 1 << 20;
        let settings = settings();
        let record = launch.kernel;
        if record.waits() {
            Self::Fibers
        } else if record.prints_or_traps() || record.kernel.stack_bytes > LARGE_FRAME_BYTES {
            Self::OneFiber
        } else if record.kernel.block_loop.is_some()
            && !settings.instrumented()
            && !settings.thread_entries_only
        {
            Self::BlockLoop
        } else {
            Self::Calls
        }
    }
}

impl Method {
    /// Stacks that a worker needs.
    pub fn stack_count(self, launch: &Launch) -> usize {
        match self {
            Self::BlockLoop | Self::Calls => 0,
            Self::OneFiber => 1,
            Self::Fibers => launch.threads_per_block() as usize,
        }
    }
}

/// What a thread of a block waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Nothing: it can run.
    Nothing,
    /// Barrier of that number.
    Barrier(u32),
    /// The other lanes of a warp operation.
    WarpOperation,
    /// `__activemask`: until the warp's other lanes can go no further.
    ActiveMask,
    /// A barrier in shared memory at that address.
    SharedBarrier(usize),
    /// Memory to change, which it reads again and again.
    Memory,
    /// It returned.
    Returned,
}

/// A thread of a block that runs as fibers.
pub struct Lane {
    /// Its context.
    pub context: ThreadContext,
    /// What it waits for.
    pub waiting: Waiting,
    /// The place in the program where it keeps in step with its warp; 0 anywhere else.
    pub step: u32,
    /// The phase of its cluster's barrier at whose end it last arrived.
    pub cluster_phase: u32,
    /// It has not waited for that end yet.
    pub has_to_wait: bool,
    coroutine: Option<Coroutine<(), (), (), FiberStack>>,
    yielder: *const Yielder<(), ()>,
}

/// The runtime's state of a block that runs; `BlockContext::runtime` points to it.
pub struct BlockState {
    /// What compiled code sees.
    pub context: BlockContext,
    /// The launch.
    pub launch: *const Launch,
    /// How it runs.
    pub method: Method,
    /// The threads, with [`Method::Fibers`].
    pub lanes: Vec<Lane>,
    /// The warps, with [`Method::Fibers`].
    pub warps: Vec<Warp>,
    /// Barriers by number; 0 is the one of `__syncthreads`.
    pub barriers: [Barrier; NAMED_BARRIERS],
    /// Threads that have not returned, with [`Method::Fibers`].
    pub live: u32,
    /// Its cluster, with [`Method::Fibers`].
    pub cluster: *mut Cluster,
    /// The one that it is by itself.
    pub own_cluster: Cluster,
    /// Block barriers that the block has passed.
    pub interval: u32,
    /// Barriers that completed, also those of a part of the threads.
    pub barriers_passed: u32,
    /// A block barrier was passed: threads go on from the first one, so that their order is the same
    /// with and without a barrier between two pieces of code.
    pub all_released: bool,
    /// Rounds in which all that could go on asked a barrier in shared memory, in vain.
    pub vain_rounds: u32,
    /// The thread that runs, when it is known.
    pub current: *const ThreadContext,
    /// How the kernel failed.
    pub failure: Option<Failure>,
    /// What instrumented code counted on this worker.
    pub counters: Counters,
    /// Accesses that the trace does not have yet.
    pub accesses: Vec<Access>,
    /// See [`Launch::in_step_offsets`].
    pub in_step_offsets: Vec<u32>,
    /// The last allocation that an access went to, and the table's generation then.
    pub last_place: Option<(Place, u64)>,
    /// Where the call stands in the program whose accesses come next.
    pub noted_instruction: usize,
    /// Lowest and highest address of the block's shared memory.
    pub shared_bounds: (usize, usize),
    /// Lowest and highest address of the stack that runs.
    pub local_bounds: (usize, usize),
    /// The stack of the fiber that runs, if one does.
    pub current_stack: Option<FiberStack>,
    only_yielder: *const Yielder<(), ()>,
}

/// Runs blocks of one launch on one worker.
pub struct BlockRunner<'a> {
    launch: &'a Launch,
    state: Box<BlockState>,
    stacks: Loan,
    thread: unsafe extern "C" fn(*mut ThreadContext, *const *const c_void),
    shared: Option<GuardedMapping>,
}

/// Least alignment of static and of dynamic shared memory, in bytes.
const SHARED_ALIGNMENT: usize = 128;

/// Accesses that are kept before they go to the trace.
const ACCESS_CHUNK: usize = 1 << 16;

thread_local! {
    static RUNNING: Cell<*const BlockState> = const { Cell::new(ptr::null()) };
}

thread_local! {
    /// The shared memory that this worker's last launch used.
    static SHARED: Cell<Option<GuardedMapping>> = const { Cell::new(None) };
}

/// The block that this thread runs now; null when it runs no kernel.
pub fn running() -> *const BlockState {
    RUNNING.get()
}

impl<'a> BlockRunner<'a> {
    /// Prepares a worker for the blocks of a launch.
    /// The stacks are as many as [`Method::stack_count`] says.
    pub fn new(launch: &'a Launch, method: Method, stacks: Loan) -> Self {
        let kernel = launch.kernel.kernel;
        // Variables may ask for more, so that a bit of their addresses tells one buffer from another.
        let alignment = (kernel.shared_align as usize)
            .next_power_of_two()
            .max(SHARED_ALIGNMENT);
        let static_bytes = usize::try_from(kernel.static_shared_bytes)
            .unwrap_or(usize::MAX / 2)
            .next_multiple_of(alignment);
        let dynamic_bytes = (launch.dynamic_shared_bytes as usize).next_multiple_of(alignment);
        let shared = shared_memory(static_bytes + dynamic_bytes, alignment);
        // Dynamic shared memory abuts the inaccessible page; so does static memory without it.
        let shared_start = shared.end() - static_bytes - dynamic_bytes;
        let mut state = Box::new(BlockState {
            context: BlockContext {
                block_index: [0; 3],
                grid_size: launch.grid,
                block_size: launch.block,
                dynamic_shared_bytes: launch.dynamic_shared_bytes,
                shared: shared_start as *mut u8,
                dynamic_shared: (shared_start + static_bytes) as *mut u8,
                counters: ptr::null_mut(),
                runtime: ptr::null_mut(),
                cluster_size: launch.cluster,
                cluster_is_explicit: launch.cluster_is_explicit().into(),
            },
            launch,
            method,
            lanes: Vec::new(),
            warps: Vec::new(),
            barriers: [Barrier::default(); NAMED_BARRIERS],
            live: 0,
            cluster: ptr::null_mut(),
            own_cluster: Cluster::default(),
            interval: 0,
            barriers_passed: 0,
            all_released: false,
            vain_rounds: 0,
            current: ptr::null(),
            failure: None,
            counters: Counters::default(),
            accesses: Vec::new(),
            in_step_offsets: launch.in_step_offsets(),
            last_place: None,
            noted_instruction: 0,
            shared_bounds: (shared_start, shared.end()),
            local_bounds: (0, 0),
            current_stack: None,
            only_yielder: ptr::null(),
        });
        state.context.counters = &raw mut state.counters;
        state.context.runtime = (&raw mut *state).cast();
        Self {
            launch,
            state,
            stacks,
            thread: if settings().instrumented() {
                kernel.thread_instrumented
            } else {
                kernel.thread
            },
            shared: Some(shared),
        }
    }

    /// Runs one block. Returns how the kernel failed, if it did; its threads are then abandoned.
    pub fn run(&mut self, block_index: [u32; 3]) -> Option<Failure> {
        self.enter_block(block_index);
        self.resume();
        match self.state.method {
            Method::BlockLoop => self.run_loop(),
            Method::Calls => {
                // SAFETY: the state outlives the call, and nothing else refers to it meanwhile.
                unsafe { call_threads(&raw mut *self.state, self.thread) };
            }
            Method::OneFiber => self.run_one_fiber(),
            Method::Fibers => self.run_fibers(),
        }
        RUNNING.set(ptr::null());
        self.state.flush_accesses();
        check::block_rests();
        self.state.failure
    }

    /// Prepares a block whose threads wait for other blocks; [`Self::take_turn`] runs it.
    pub fn begin(&mut self, block_index: [u32; 3]) {
        self.enter_block(block_index);
        self.start_lanes();
    }

    /// Runs a block that was begun until it can do nothing more by itself.
    pub fn take_turn(&mut self) -> Turn {
        self.resume();
        self.state.release_readers();
        while self.state.live > 0 && self.state.failure.is_none() {
            if self.round() {
                continue;
            }
            if (self.state.lanes.iter()).any(|lane| lane.waiting == Waiting::Memory) {
                RUNNING.set(ptr::null());
                return Turn::Waits;
            }
            self.answer_in_vain();
        }
        RUNNING.set(ptr::null());
        Turn::Over
    }

    /// Ends a block that was begun: what it counted, and how it failed, if it did.
    pub fn end(mut self) -> (Counters, Option<Failure>) {
        self.abandon_lanes();
        self.state.flush_accesses();
        check::block_rests();
        let (failure, state) = (self.state.failure, &raw mut *self.state);
        // SAFETY: a cluster lives as long as blocks of it do, and no fiber runs.
        unsafe { Cluster::forget(self.state.cluster, state) };
        (self.finish(), failure)
    }

    fn enter_block(&mut self, block_index: [u32; 3]) {
        self.state.context.block_index = block_index;
        self.state.interval = 0;
        self.state.barriers_passed = 0;
        check::block_begins(self.state.shared_bounds.0);
    }

    /// The worker goes on with this block.
    fn resume(&mut self) {
        self.state.current = ptr::null();
        let marker = 0_u8;
        // What lies above is the host program's own stack, where it may have registered memory.
        self.state.local_bounds = (worker_stack_bounds().0, &raw const marker as usize);
        RUNNING.set(&raw const *self.state);
    }

    /// Ends the worker's part of the launch and returns what its blocks counted.
    pub fn finish(mut self) -> Counters {
        // On a thread that is ending the mapping goes with its runner.
        let shared = self.shared.take();
        let _ = SHARED.try_with(|kept| kept.set(shared));
        // One thread counted for all that it stands for; a barrier counts once a block anyway.
        let times = self.state.in_step_offsets.len() as u64;
        let counted = self.state.counters;
        Counters {
            instructions: counted.instructions * times,
            global_load_bytes: counted.global_load_bytes * times,
            global_store_bytes: counted.global_store_bytes * times,
            shared_load_bytes: counted.shared_load_bytes * times,
            shared_store_bytes: counted.shared_store_bytes * times,
            barriers: counted.barriers,
        }
    }

    fn run_loop(&mut self) {
        let Some(block_loop) = self.launch.kernel.kernel.block_loop else {
            return;
        };
        // SAFETY: the compiler made the function for this kernel; contexts and arguments are valid
        // until it returns.
        unsafe { block_loop(&raw mut self.state.context, self.launch.arguments) };
    }

    fn run_one_fiber(&mut self) {
        let state: *mut BlockState = &raw mut *self.state;
        let thread = self.thread;
        let stack = self.stacks.stack(0);
        let mut coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            // SAFETY: the state outlives the fiber.
            unsafe {
                (*state).only_yielder = yielder;
                call_threads(state, thread);
            }
        });
        self.state.enter(Some(stack));
        let result = coroutine.resume(());
        self.state.enter(None);
        if let CoroutineResult::Yield(()) = result {
            // SAFETY: the fiber holds compiled code only, which owns nothing that must be dropped.
            unsafe { coroutine.force_reset() };
        }
    }

    fn run_fibers(&mut self) {
        self.start_lanes();
        while self.state.live > 0 && self.state.failure.is_none() {
            if !self.round() && self.state.release_readers() == 0 {
                self.answer_in_vain();
            }
        }
        self.abandon_lanes();
    }

    /// Lets every thread that can go on do so, as far as it comes; false when none can.
    fn round(&mut self) -> bool {
        let state: *mut BlockState = &raw mut *self.state;
        let mut progressed = false;
        // SAFETY: references into the state end before each switch to a fiber; fibers do the same.
        unsafe {
            (*state).all_released = false;
            'warps: for warp in 0..(*state).warp_count() {
                loop {
                    let ready = (&(*state).warps)[warp].ready;
                    if ready == 0 && !(*state).release_active_mask(warp) {
                        break;
                    }
                    progressed = true;
                    let ready = (*state).hindmost(warp, ready);
                    self.run_ready(state, warp, ready);
                    if (*state).failure.is_some() || (*state).all_released {
                        break 'warps;
                    }
                }
            }
            progressed || (&mut *state).complete_barriers()
        }
    }

    /// Answers the threads that ask a barrier in shared memory, as often as there is a point in that.
    fn answer_in_vain(&mut self) {
        self.state.vain_rounds += 1;
        if self.state.vain_rounds > VAIN_ROUNDS || self.state.release_from_shared_barrier(None) == 0
        {
            self.state.report_deadlock();
        }
    }

    /// Drops the threads of a block that failed.
    fn abandon_lanes(&mut self) {
        if self.state.failure.is_some() {
            for lane in &mut self.state.lanes {
                if let Some(mut coroutine) = lane.coroutine.take() {
                    // SAFETY: as for one fiber.
                    unsafe { coroutine.force_reset() };
                }
            }
        }
    }

    /// # Safety
    /// `state` is this runner's own.
    unsafe fn run_ready(&self, state: *mut BlockState, warp: usize, mut ready: u32) {
        while ready != 0 {
            let lane = warp * WARP_LANES + ready.trailing_zeros() as usize;
            ready &= ready - 1;
            // SAFETY: the lane's coroutine is taken out while it runs, so that its fiber may refer to
            // the state.
            unsafe {
                let Some(mut coroutine) = (&mut (*state).lanes)[lane].coroutine.take() else {
                    continue;
                };
                (*state).current = &raw const (&(*state).lanes)[lane].context;
                (*state).enter(Some(self.stacks.stack(lane)));
                let result = coroutine.resume(());
                (*state).enter(None);
                match result {
                    CoroutineResult::Yield(()) => {
                        (&mut (*state).lanes)[lane].coroutine = Some(coroutine);
                    }
                    CoroutineResult::Return(()) => {
                        (*state).lane_returned(lane);
                        let phase = (&(*state).lanes)[lane].cluster_phase;
                        Cluster::leave((*state).cluster, phase);
                    }
                }
                if (*state).failure.is_some() {
                    return;
                }
            }
        }
    }

    /// The block that it runs, by itself or in a cluster.
    pub fn state(&mut self) -> *mut BlockState {
        &raw mut *self.state
    }

    fn start_lanes(&mut self) {
        let threads = self.launch.threads_per_block();
        let thread = self.thread;
        let arguments = self.launch.arguments;
        let state: *mut BlockState = &raw mut *self.state;
        let [width, height, depth] = self.launch.executed_extents();
        self.state.live = width * height * depth;
        self.state.own_cluster = Cluster::new(vec![state], self.state.live);
        self.state.cluster = &raw mut self.state.own_cluster;
        self.state.vain_rounds = 0;
        self.state.barriers = [Barrier::default(); NAMED_BARRIERS];
        self.state.warps.clear();
        self.state
            .warps
            .extend((0..threads).step_by(WARP_LANES).map(|first| {
                let lanes = (threads - first).min(WARP_LANES as u32);
                let executed = (0..lanes)
                    .filter(|lane| is_executed(self.launch, first + lane))
                    .fold(0, |mask, lane| mask | 1 << lane);
                Warp::new(executed)
            }));
        self.state.lanes.clear();
        for linear in 0..threads {
            let stack = self.stacks.stack(linear as usize);
            let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
                // SAFETY: the state outlives the fiber, and the lanes do not move while any runs.
                unsafe {
                    let lane = &raw mut (&mut (*state).lanes)[linear as usize];
                    (*lane).yielder = yielder;
                    thread(&raw mut (*lane).context, arguments);
                }
            });
            let context = thread_context(&raw mut self.state.context, linear);
            let executed = is_executed(self.launch, linear);
            self.state.lanes.push(Lane {
                context,
                waiting: if executed {
                    Waiting::Nothing
                } else {
                    Waiting::Returned
                },
                step: 0,
                cluster_phase: 0,
                has_to_wait: false,
                coroutine: executed.then_some(coroutine),
                yielder: ptr::null(),
            });
        }
    }
}

impl BlockState {
    /// The linear index of the block.
    pub fn linear_index(&self) -> u32 {
        grid::linear(self.context.block_index, self.context.grid_size)
    }

    /// The state of the block that a thread belongs to.
    ///
    /// # Safety
    /// `context` is what the runtime gave to a kernel that still runs.
    pub unsafe fn of(context: *const ThreadContext) -> *mut BlockState {
        // SAFETY: as the caller promises.
        unsafe { (*(*context).block).runtime.cast() }
    }

    /// The launch.
    pub fn launch(&self) -> &Launch {
        // SAFETY: the launch outlives its blocks.
        unsafe { &*self.launch }
    }

    /// Whether its threads run as fibers of their own.
    pub fn has_lanes(&self) -> bool {
        !self.lanes.is_empty()
    }

    fn warp_count(&self) -> usize {
        self.warps.len()
    }

    /// Gives control from the fiber that runs back to the scheduler.
    ///
    /// # Safety
    /// Called on the fiber of the thread `linear` of this block, with no reference into the state
    /// alive.
    pub unsafe fn suspend(state: *mut BlockState, linear: u32) {
        // SAFETY: the yielder lives on the fiber that runs.
        unsafe {
            let yielder = match (*state).method {
                Method::Fibers => (&(*state).lanes)[linear as usize].yielder,
                Method::OneFiber => (*state).only_yielder,
                Method::BlockLoop | Method::Calls => ptr::null(),
            };
            if yielder.is_null() {
                let name = &(*state).launch().kernel.display_name;
                termination::fail(&format!(
                    "kernel {name} waits or traps, but was compiled as one that does not; \
                     this is a bug of sirius-rs"
                ));
            }
            (*yielder).suspend(());
        }
    }

    /// Ends the launch from within a fiber; never comes back.
    ///
    /// # Safety
    /// As for [`BlockState::suspend`].
    pub unsafe fn abandon(state: *mut BlockState, linear: u32, failure: Failure) -> ! {
        // SAFETY: as the caller promises.
        unsafe {
            (*state).failure = Some(failure);
            Self::suspend(state, linear);
        }
        unreachable!("an abandoned fiber is never resumed")
    }

    /// Adds an access to the trace.
    pub fn push_access(&mut self, access: Access) {
        self.accesses.push(access);
        if self.accesses.len() >= ACCESS_CHUNK {
            self.flush_accesses();
        }
    }

    fn flush_accesses(&mut self) {
        if !self.accesses.is_empty() {
            trace::accesses(
                self.launch().ordinal,
                self.context.block_index,
                &self.accesses,
            );
            self.accesses.clear();
        }
    }

    fn enter(&mut self, stack: Option<FiberStack>) {
        self.current_stack = stack;
        if let Some(stack) = stack {
            self.local_bounds = stack.bounds();
        }
    }

    fn lane_returned(&mut self, lane: usize) {
        self.lanes[lane].waiting = Waiting::Returned;
        self.live -= 1;
        let bit = 1 << (lane % WARP_LANES);
        let warp = &mut self.warps[lane / WARP_LANES];
        warp.ready &= !bit;
        warp.live &= !bit;
        self.complete_warp_operations(lane / WARP_LANES);
        for barrier in 0..NAMED_BARRIERS {
            self.complete_barrier(barrier);
        }
    }

    /// Says what each thread waits for, and ends the program.
    fn report_deadlock(&self) -> ! {
        let waiting = |what: fn(&Waiting) -> bool| {
            self.lanes.iter().filter(|lane| what(&lane.waiting)).count()
        };
        let mut parts = Vec::new();
        let mut part = |count: usize, place: &str| {
            if count > 0 {
                parts.push(format!("{count} at {place}"));
            }
        };
        part(
            waiting(|waiting| *waiting == Waiting::Barrier(0)),
            "__syncthreads",
        );
        part(
            waiting(|waiting| matches!(waiting, Waiting::Barrier(number) if *number != 0)),
            "a named barrier",
        );
        part(
            waiting(|waiting| matches!(waiting, Waiting::WarpOperation | Waiting::ActiveMask)),
            "a warp operation",
        );
        part(
            waiting(|waiting| matches!(waiting, Waiting::SharedBarrier(_))),
            "a barrier in shared memory",
        );
        let returned = waiting(|waiting| *waiting == Waiting::Returned);
        let [x, y, z] = self.context.block_index;
        termination::fail(&format!(
            "deadlock in kernel {}, block ({x},{y},{z}): of {} threads wait {}; {returned} returned",
            self.launch().kernel.display_name,
            self.lanes.len(),
            parts.join(", "),
        ))
    }
}

/// Shared memory of at least `bytes` bytes for this worker, which ends at a multiple of `alignment`, the last `bytes` of them zero: CUDA
/// leaves the contents undefined, zero makes each run the same.
fn shared_memory(bytes: usize, alignment: usize) -> GuardedMapping {
    // Exit handlers launch too, when the thread has nothing left to keep.
    if let Ok(Some(mapping)) = SHARED.try_with(Cell::take)
        && mapping.end() - mapping.start() >= bytes
        && mapping.end().is_multiple_of(alignment)
    {
        // SAFETY: the mapping is this worker's own and accessible up to its end.
        unsafe { ptr::write_bytes((mapping.end() - bytes) as *mut u8, 0, bytes) };
        return mapping;
    }
    GuardedMapping::aligned(bytes, alignment)
        .unwrap_or_else(|| termination::fail("the system has no room for a block's shared memory"))
}

/// Calls the thread function for each thread of the block.
///
/// # Safety
/// `state` is the block's, and nothing refers into it across the call.
unsafe fn call_threads(
    state: *mut BlockState,
    thread: unsafe extern "C" fn(*mut ThreadContext, *const *const c_void),
) {
    // SAFETY: the compiler made the function for this kernel; contexts and arguments are valid until
    // it returns.
    unsafe {
        let launch: &Launch = &*(*state).launch;
        for linear in (0..launch.threads_per_block()).filter(|linear| is_executed(launch, *linear))
        {
            let mut context = thread_context(&raw mut (*state).context, linear);
            (*state).current = &raw const context;
            thread(&raw mut context, launch.arguments);
        }
        (*state).current = ptr::null();
    }
}

/// Whether a thread is executed, or stands behind another that runs in step with it.
fn is_executed(launch: &Launch, linear: u32) -> bool {
    let [width, height, _] = launch.block;
    let index = [
        linear % width,
        linear / width % height,
        linear / width / height,
    ];
    let executed = launch.executed_extents();
    (0..3).all(|axis| index[axis] < executed[axis])
}

fn thread_context(block: *mut BlockContext, linear: u32) -> ThreadContext {
    // SAFETY: callers pass the context of a block that they own.
    let [x, y, _] = unsafe { (*block).block_size };
    ThreadContext {
        thread_index: [linear % x, linear / x % y, linear / x / y],
        lane: linear % WARP_LANES as u32,
        block,
        linear_index: linear,
        reserved: 0,
    }
}

/// Lowest and highest address of this thread's own stack.
fn worker_stack_bounds() -> (usize, usize) {
    thread_local! {
        static BOUNDS: (usize, usize) = query_stack_bounds();
    }
    BOUNDS.with(|bounds| *bounds)
}

fn query_stack_bounds() -> (usize, usize) {
    // SAFETY: the attributes are initialised by the first call and destroyed once.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return (0, 0);
        }
        let mut low = ptr::null_mut();
        let mut bytes = 0;
        libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attributes);
        (low as usize, low as usize + bytes)
    }
}
