//! `SIRIUS_CHECK`: checks of every access of instrumented kernels.
//!
//! `memory` ends the program at the first access of a kernel that is out of bounds, to freed memory, or
//! a read of memory that nobody wrote: neither the host nor a kernel, byte by byte for what
//! `cudaMalloc` gives and for shared memory. A read counts only when none of its bytes was written,
//! since structures have padding. Host memory that a kernel can see is taken as written. Accesses of
//! inline PTX count like all others; a copy that runs asynchronously is taken to happen where it is
//! begun, and words of barriers in shared memory are not looked at.
//!
//! `race` ends the program at two accesses to one byte of which one writes and which nothing orders:
//! * by two threads of one block between the same two barriers (of the block, of some of its threads, or
//!   phases of an `mbarrier`, each taken to order all threads), unless they belong to one warp with a
//!   warp operation in between;
//! * by two blocks of a launch, unless a barrier of their cluster stands between;
//! * by operations of two streams ([`streams`]), or of the device and the host ([`host`]).
//!
//! Atomic and volatile accesses do not race with each other, and order what stands before and behind them; stores
//! of one kernel that leave the same in a byte do not race either. `docs/races.md` has all of it for users.
//!
//! [`Watch`](crate::environment::Watch) only looks.
//!
//! Either way the program says kernel, block, thread and source line of the access (of both) and ends
//! with status 1. Blocks run one after the other.

pub mod host;
mod race;
pub mod streams;
mod watch;
mod written;

pub use watch::at_exit;
pub use written::freed;

use crate::allocations::{self, Place};
use crate::environment::settings;
use crate::execution::block::BlockState;
use crate::execution::clusters::SharedMemory;
use crate::mapping;
use crate::{abi, source_lines, termination};

/// One access of one thread, to other memory than its own stack.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    /// Address of the first byte.
    pub address: usize,
    /// Bytes.
    pub bytes: usize,
    /// [`abi::access::LOAD`], [`abi::access::STORE`] or [`abi::access::ATOMIC`].
    pub kind: u32,
    /// Whether it may meet others of its kind at one place: an update, an atomic load or store, or a look before one.
    pub atomic: bool,
    /// Whether it orders what threads do before and behind it.
    pub orders: bool,
    /// The allocation, unless it is shared memory or no allocation's.
    pub place: Option<Place>,
    /// The shared memory that it is in: the block's own, or another one's of its cluster.
    pub shared: Option<SharedMemory>,
    /// Linear index of the thread in its block.
    pub thread: u32,
    /// Where the access stands in the program.
    pub instruction: usize,
}

impl Checked {
    fn reads(&self) -> bool {
        self.kind != abi::access::STORE
    }

    fn writes(&self) -> bool {
        self.kind != abi::access::LOAD
    }

    fn verb(&self) -> &'static str {
        match self.kind {
            abi::access::LOAD => "reads",
            abi::access::STORE => "writes",
            _ => "updates",
        }
    }
}

/// Checks an access before it happens, as far as `SIRIUS_CHECK` asks for it.
pub fn access(state: &mut BlockState, checked: &Checked) {
    if let Some(watch) = &settings().watch {
        watch::accessed(watch, state, checked);
    }
    let checks = settings().checks;
    if checks.memory {
        check_memory(state, checked);
    }
    if checks.race {
        race::check(state, checked);
    }
}

/// The host copied.
pub fn copied(destination: usize, source: usize, bytes: usize) {
    watch::moved(destination, bytes, "a copy");
    streams::copies(destination, source, bytes);
    written::copied(destination, source, bytes);
}

/// The host, or a library of ours, filled memory.
pub fn filled(address: usize, bytes: usize) {
    watch::moved(address, bytes, "a set or a library");
    streams::fills(address, bytes);
    written::filled(address, bytes);
}

/// A launch begins.
pub fn launch_begins() {
    if settings().checks.race {
        race::launch_begins();
    }
}

/// A launch of this name is over.
pub fn launch_ends(kernel: &str) {
    if settings().checks.race {
        race::launch_ends(kernel);
    }
}

/// A block begins; its shared memory, of which this is the lowest address, holds nothing.
pub fn block_begins(shared: usize) {
    if settings().checks.memory {
        written::block_begins(shared);
    }
}

/// A block is over, or lets others go first.
pub fn block_rests() {
    if settings().checks.race {
        race::access_is_over();
    }
}

fn check_memory(state: &BlockState, checked: &Checked) {
    let Checked { address, bytes, .. } = *checked;
    let end = address.saturating_add(bytes);
    if let Some(shared) = checked.shared {
        let past = end.saturating_sub(shared.bounds.1);
        if past > 0 {
            fail(
                state,
                checked,
                &format!("{past} bytes past the end of shared memory"),
            );
        }
    } else if let Some(place) = &checked.place {
        let past = end.saturating_sub(place.base + place.bytes);
        if past > 0 {
            let what = allocations::describe(address).map_or(String::new(), |(_, what)| what);
            fail(
                state,
                checked,
                &format!("{past} bytes past the end ({what})"),
            );
        }
    } else {
        match allocations::describe(address) {
            // Between an allocation and the next page nothing of the host lies.
            Some((distance, what)) if distance <= mapping::page_bytes() => {
                fail(state, checked, &what)
            }
            _ => return,
        }
    }
    if checked.reads() && !written::is_written(checked) {
        let what = match checked.shared {
            Some(shared) => format!("byte {} of shared memory", address - shared.bounds.0),
            None => allocations::describe(address).map_or(String::new(), |(_, what)| what),
        };
        fail(state, checked, &format!("{what}, which nobody has written"));
    }
    if checked.writes() {
        written::mark(checked);
    }
}

fn fail(state: &BlockState, checked: &Checked, what: &str) -> ! {
    termination::fail(&format!(
        "kernel {}, {}, {} {} bytes: {what}{}",
        state.launch().kernel.display_name,
        place_of(state, checked.thread),
        checked.verb(),
        checked.bytes,
        at(checked.instruction),
    ))
}

/// `block (x,y,z), thread (x,y,z)` of a thread of the block that runs.
fn place_of(state: &BlockState, thread: u32) -> String {
    let [bx, by, bz] = state.context.block_index;
    format!("block ({bx},{by},{bz}), {}", thread_of(state, thread))
}

fn thread_of(state: &BlockState, thread: u32) -> String {
    let [width, height, _] = state.context.block_size;
    let (x, rest) = (thread % width.max(1), thread / width.max(1));
    format!(
        "thread ({x},{},{})",
        rest % height.max(1),
        rest / height.max(1)
    )
}

/// What messages call the allocation at an address: a variable by its name, others by their place in the order of creation.
fn allocation_name(base: usize, ordinal: u32) -> String {
    match allocations::find(base).and_then(|found| found.name) {
        Some(name) => format!("the variable {name}"),
        None => format!("allocation {ordinal}"),
    }
}

/// `, at file:line`, where that is known.
fn at(instruction: usize) -> String {
    // The address after the call that reported the access.
    source_lines::source_line(instruction.saturating_sub(1))
        .map_or(String::new(), |line| format!(", at {line}"))
}
