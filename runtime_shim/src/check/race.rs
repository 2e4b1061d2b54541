//! Accesses that nothing orders.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::{Checked, at, place_of, thread_of};
use crate::execution::block::BlockState;
use crate::execution::warp::WARP_LANES;
use crate::{abi, fault, termination};

/// How a thread came to a byte.
#[derive(Clone, Copy, Debug)]
struct Visit {
    block: [u32; 3],
    thread: u32,
    /// Barriers that the block had passed, and operations that the thread's warp had.
    barriers: u32,
    warp_operations: u32,
    atomic: bool,
    instruction: usize,
}

impl Visit {
    fn same_interval(&self, other: &Self) -> bool {
        self.block == other.block && self.barriers == other.barriers
    }

    /// Whether another thread of the same block comes while nothing orders the two.
    fn races_in_block(&self, other: &Self) -> bool {
        let warp = |visit: &Self| visit.thread as usize / WARP_LANES;
        self.same_interval(other)
            && self.thread != other.thread
            && !(self.atomic && other.atomic)
            && !(warp(self) == warp(other) && self.warp_operations != other.warp_operations)
    }
}

/// Who came to a byte: the last writer, and readers since then. Two readers are enough: one of them
/// is another thread, or is of another block, than whoever writes next.
#[derive(Clone, Copy, Debug, Default)]
struct Byte {
    writer: Option<Visit>,
    readers: [Option<Visit>; 2],
    /// The same over the whole launch, with readers of two blocks.
    block_readers: [Option<Visit>; 2],
}

/// By allocation (or [`SHARED`]) and offset.
static BYTES: LazyLock<Mutex<HashMap<(u32, usize), Byte>>> = LazyLock::new(Mutex::default);

const SHARED: u32 = u32::MAX;

/// What the names of fused kernels begin with.
const FUSED: &str = "sirius_fused_";

/// A store to a byte that another thread has stored to, which is none of our business when it leaves
/// there what it finds: threads that all set one flag need no order. Whether it does is known once it is done.
struct PendingStore {
    found: u8,
    address: usize,
    /// What there is to say when it does not.
    race: Race,
}

static PENDING: Mutex<Vec<PendingStore>> = Mutex::new(Vec::new());

/// The last access that was checked has happened.
pub(super) fn access_is_over() {
    let pending = std::mem::take(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner));
    for store in pending {
        // SAFETY: a kernel has stored to this byte, and no block that could free it has run since.
        let left = unsafe { (store.address as *const u8).read_volatile() };
        if left != store.found {
            report(&store.race);
        }
    }
}

/// A launch begins: whatever came before is ordered.
pub(super) fn launch_begins() {
    BYTES.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Compares an access with those before it.
pub(super) fn check(state: &BlockState, checked: &Checked) {
    let (ordinal, offset) = match (checked.shared, checked.place) {
        (true, _) => (SHARED, checked.address - state.shared_bounds.0),
        (false, Some(place)) => (place.ordinal, checked.address - place.base),
        (false, None) => return,
    };
    let warp = checked.thread as usize / WARP_LANES;
    let visit = Visit {
        block: state.context.block_index,
        thread: checked.thread,
        barriers: state.barriers_passed,
        warp_operations: state.warps.get(warp).map_or(0, |warp| warp.completed),
        atomic: checked.atomic,
        instruction: checked.instruction,
    };
    access_is_over();
    let fused = state.launch().kernel.display_name.starts_with(FUSED);
    let mut bytes = BYTES.lock().unwrap_or_else(PoisonError::into_inner);
    for at in offset..offset + checked.bytes {
        let byte = bytes.entry((ordinal, at)).or_default();
        if checked.shared
            && byte
                .writer
                .is_some_and(|writer| writer.block != visit.block)
        {
            *byte = Byte::default();
        }
        if let Some(other) = byte.conflict(&visit, checked, fused && !checked.shared) {
            let race = Race::between(state, checked, &other, at);
            if byte.is_stored_twice(&visit, checked, fused) {
                let address = checked.address + (at - offset);
                // SAFETY: the kernel is about to store to this byte.
                let found = unsafe { (address as *const u8).read_volatile() };
                let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
                pending.push(PendingStore {
                    found,
                    address,
                    race,
                });
            } else {
                report(&race);
            }
        }
        byte.enter(&visit, checked);
    }
}

impl Byte {
    fn conflict(&self, visit: &Visit, checked: &Checked, across_blocks: bool) -> Option<Visit> {
        let readers = |list: [Option<Visit>; 2]| list.into_iter().flatten();
        let readers_count = checked.writes();
        let in_block = self
            .writer
            .into_iter()
            .chain(readers(self.readers).filter(|_| readers_count))
            .find(|other| other.races_in_block(visit));
        if in_block.is_some() || !across_blocks {
            return in_block;
        }
        self.writer
            .into_iter()
            .chain(readers(self.block_readers).filter(|_| readers_count))
            .filter(|other| other.block != visit.block && !(other.atomic && visit.atomic))
            .find(|other| {
                let names = [other.instruction, visit.instruction].map(original_kernel);
                names[0] != names[1]
            })
    }

    /// Whether all that came to the byte in this interval are plain stores of one kernel of the program.
    /// Stores of two kernels had an order, whatever they stored.
    fn is_stored_twice(&self, visit: &Visit, checked: &Checked, fused: bool) -> bool {
        let Some(writer) = self.writer.filter(|writer| !writer.atomic) else {
            return false;
        };
        let mut readers = self.readers.into_iter().flatten();
        checked.kind == abi::access::STORE
            && !visit.atomic
            && writer.races_in_block(visit)
            && !readers.any(|reader| reader.races_in_block(visit))
            && (!fused || original_kernel(writer.instruction) == original_kernel(visit.instruction))
    }

    fn enter(&mut self, visit: &Visit, checked: &Checked) {
        if checked.writes() {
            *self = Self {
                writer: Some(*visit),
                block_readers: self.block_readers,
                ..Self::default()
            };
            return;
        }
        if self.readers[0].is_none_or(|first| !first.same_interval(visit)) {
            self.readers = [Some(*visit), None];
        } else if self.readers[0].is_some_and(|first| first.thread != visit.thread) {
            self.readers[1] = Some(*visit);
        }
        match self.block_readers[0] {
            None => self.block_readers[0] = Some(*visit),
            Some(first) if first.block != visit.block => self.block_readers[1] = Some(*visit),
            Some(_) => {}
        }
    }
}

/// The kernel of the program that an instruction of a fused kernel belongs to: the outermost function
/// that is not ours.
fn original_kernel(instruction: usize) -> Option<String> {
    let names = fault::inlined_functions(instruction.saturating_sub(1));
    names
        .into_iter()
        .rev()
        .find(|name| !name.contains("sirius"))
}

/// Two accesses that nothing orders, with what a message needs of the block.
struct Race {
    checked: Checked,
    other: Visit,
    offset: usize,
    kernel: String,
    place: String,
    other_thread: String,
    one_block: bool,
}

impl Race {
    fn between(state: &BlockState, checked: &Checked, other: &Visit, offset: usize) -> Self {
        Self {
            checked: *checked,
            other: *other,
            offset,
            kernel: state.launch().kernel.display_name.clone(),
            place: place_of(state, checked.thread),
            other_thread: thread_of(state, other.thread),
            one_block: other.block == state.context.block_index,
        }
    }
}

fn report(race: &Race) -> ! {
    let Race {
        checked,
        other,
        offset,
        kernel,
        place,
        other_thread,
        one_block,
    } = race;
    let what = match (checked.shared, checked.place) {
        (false, Some(place)) => format!("byte {offset} of allocation {}", place.ordinal),
        _ => format!("byte {offset} of shared memory"),
    };
    let apart = match one_block {
        true => "no barrier stands between them",
        false => "nothing orders blocks of one kernel, as the launches were ordered",
    };
    let [bx, by, bz] = other.block;
    termination::fail(&format!(
        "race in kernel {kernel}: {place} {} {what}{}, which block ({bx},{by},{bz}), {other_thread} had come to{}; {apart}",
        checked.verb(),
        at(checked.instruction),
        at(other.instruction),
    ))
}
