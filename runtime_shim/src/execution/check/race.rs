//! Accesses that nothing orders, within one launch.
//!
//! A launch runs on the thread that makes it, one block after the other, so that all that is known of it is that
//! thread's own.

mod order;
mod shadow;

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;

use self::order::Order;
use self::shadow::{Shadow, Unit, Visit, Visits};
use super::{Checked, allocation_name, at, place_of, streams, thread_of};
use crate::allocations::{MemoryKind, Place};
use crate::execution::block::BlockState;
use crate::execution::grid;
use crate::execution::warp::WARP_LANES;
use crate::{abi, source_lines, termination};

/// What is known of the launch that runs on this thread.
#[derive(Default)]
struct LaunchState {
    /// Counts launches of this thread.
    number: u32,
    visits: Visits,
    global: Shadow,
    shared: Shadow,
    order: Order,
    pending: Vec<PendingStore>,
    /// The allocations that it has accessed, by ordinal.
    places: HashMap<u32, Place>,
    /// A thread has accessed memory atomically that the host sees, and may have told it something.
    met_host: bool,
}

thread_local! {
    /// Never destroyed, because exit handlers launch after a thread's values are.
    static LAUNCH: RefCell<ManuallyDrop<LaunchState>> = RefCell::default();
}

/// Parts of an allocation that are compared with what other streams do.
const MOST_PARTS: usize = 1 << 10;

/// A store to a byte that another thread has stored to, which is none of our business when it leaves
/// there what it finds: threads that all set one flag need no order. Whether it does is known once it is done.
struct PendingStore {
    found: u8,
    address: usize,
    /// What there is to say when it does not.
    race: Race,
}

/// The last access that was checked has happened.
pub(super) fn access_is_over() {
    LAUNCH.with_borrow_mut(|launch| launch.settle());
}

/// A launch begins: whatever came before is ordered.
pub(super) fn launch_begins() {
    LAUNCH.with_borrow_mut(|launch| {
        launch.number = launch.number.wrapping_add(1);
        launch.visits.clear();
        launch.order.clear();
        launch.global.shrink();
        launch.shared = Shadow::default();
        launch.met_host = false;
        launch.places.clear();
    });
}

/// A launch is over: what it did to each allocation is what other streams may not have touched.
pub(super) fn launch_ends(kernel: &str) {
    if streams::are_compared() {
        LAUNCH.with_borrow(|launch| launch.compare_streams(kernel));
    }
}

/// Compares an access with those before it.
pub(super) fn check(state: &BlockState, checked: &Checked) {
    LAUNCH.with_borrow_mut(|launch| {
        launch.settle();
        launch.check(state, checked);
    });
}

impl LaunchState {
    fn settle(&mut self) {
        for store in self.pending.drain(..) {
            // SAFETY: a kernel has stored to this byte, and no block that could free it has run since.
            let left = unsafe { (store.address as *const u8).read_volatile() };
            if left != store.found {
                report(&store.race);
            }
        }
    }

    fn compare_streams(&self, kernel: &str) {
        let mut touched = Vec::new();
        self.global
            .touched(self.number, |memory, from, bytes, unit| {
                let (writer, readers) = (self.visits.get(unit.writer), unit.block_readers);
                let mut readers = readers
                    .into_iter()
                    .filter_map(|reader| self.visits.get(reader));
                let (access, visit) = match (writer, readers.find(|reader| !reader.atomic)) {
                    (Some(writer), _) if !writer.atomic => (streams::Access::Write, writer),
                    (_, Some(reader)) => (streams::Access::Read, reader),
                    (Some(writer), None) => (streams::Access::Update, writer),
                    (None, None) => return,
                };
                touched.push((memory, from, from + bytes, access, visit.site));
            });
        touched.sort_unstable_by_key(|(memory, from, ..)| (*memory, *from));
        let mut parts: Vec<(u32, usize, usize, streams::Access, u32)> = Vec::new();
        for part in touched {
            match parts.last_mut() {
                Some(last) if (last.0, last.2, last.3) == (part.0, part.1, part.3) => {
                    last.2 = part.2
                }
                _ => parts.push(part),
            }
        }
        let (mut memory_before, mut count) = (u32::MAX, 0);
        parts.retain(|(memory, ..)| {
            count = if *memory == memory_before {
                count + 1
            } else {
                0
            };
            memory_before = *memory;
            count < MOST_PARTS
        });
        for (memory, from, to, access, site) in parts {
            let source = streams::Source {
                name: format!("kernel {kernel}"),
                instruction: self.visits.instruction(site),
            };
            if let Some(place) = self.places.get(&memory) {
                streams::touches(place, [from, to], access, source);
            }
        }
        if self.met_host {
            streams::host_waits_for_last();
        }
    }

    fn check(&mut self, state: &BlockState, checked: &Checked) {
        let warp = checked.thread as usize / WARP_LANES;
        let lane = state.lanes.get(checked.thread as usize);
        let visit = Visit {
            block: state.linear_index(),
            cluster: cluster_of(state),
            // A block has 1024 threads at most.
            thread: checked.thread as u16,
            atomic: checked.atomic,
            waits: lane.is_some_and(|lane| lane.has_to_wait),
            arrived: lane.map_or(0, |lane| lane.cluster_phase),
            interval: state.barriers_passed,
            warp_operations: state.warps.get(warp).map_or(0, |warp| warp.completed),
            time: self.order.now(),
            site: self.visits.site(checked.instruction),
        };
        if checked.orders {
            let place = match checked.shared {
                Some(shared) => (shared.block, checked.address - shared.bounds.0),
                None => (u32::MAX, checked.address),
            };
            let (loads, stores) = (checked.reads(), checked.writes());
            self.order.meet(&visit, place, loads, stores);
            self.met_host |= checked.place.is_some_and(|place| !is_of_device(place.kind));
        }
        let (memory, offset) = match (checked.shared, checked.place) {
            (Some(shared), _) => (shared.block, checked.address - shared.bounds.0),
            (None, Some(place)) => (place.ordinal, checked.address - place.base),
            (None, None) => return,
        };
        if let Some(place) = checked.place.filter(|_| streams::are_compared()) {
            self.places.insert(place.ordinal, place);
        }
        let fused = state
            .launch()
            .kernel
            .display_name
            .starts_with(abi::FUSED_KERNEL);
        let Self {
            number,
            visits,
            global,
            shared,
            order,
            pending,
            ..
        } = self;
        let id = visits.number(&visit);
        let shadow = if checked.shared.is_some() {
            shared
        } else {
            global
        };
        shadow.touch(
            (memory, *number),
            offset,
            checked.bytes,
            |unit, at, bytes| {
                if let Some(other) = conflict(unit, visits, order, &visit, checked) {
                    let instructions =
                        [other.site, visit.site].map(|site| visits.instruction(site));
                    let race = Race::between(state, checked, &other, instructions, at);
                    if is_stored_twice(unit, visits, order, &visit, checked)
                        && (!fused
                            || original_kernel(instructions[0]) == original_kernel(instructions[1]))
                    {
                        for byte in at.max(offset)..(at + bytes).min(offset + checked.bytes) {
                            let address = checked.address + (byte - offset);
                            // SAFETY: the kernel is about to store to this byte.
                            let found = unsafe { (address as *const u8).read_volatile() };
                            pending.push(PendingStore {
                                found,
                                address,
                                race: race.clone(),
                            });
                        }
                    } else {
                        report(&race);
                    }
                }
                match checked.writes() {
                    true => unit.write(id),
                    false => unit.read(visits, id),
                }
            },
        );
    }
}

/// A visit before this one that it may not meet.
fn conflict(
    unit: &Unit,
    visits: &Visits,
    order: &mut Order,
    visit: &Visit,
    checked: &Checked,
) -> Option<Met> {
    let writer = visits.get(unit.writer).into_iter();
    let writer = writer.map(|other| Met::new(other, true));
    let readers = unit.readers.into_iter().chain(unit.block_readers);
    let readers = readers
        .filter(|_| checked.writes())
        .filter_map(|reader| visits.get(reader))
        .map(|other| Met::new(other, false));
    let mut all = writer.chain(readers);
    all.find(|other| races(order, &other.visit, visit))
}

/// A visit that came first, and whether it wrote.
struct Met {
    visit: Visit,
    wrote: bool,
    site: u32,
}

impl Met {
    fn new(visit: Visit, wrote: bool) -> Self {
        Self {
            visit,
            wrote,
            site: visit.site,
        }
    }
}

/// Whether nothing orders two visits of one byte.
fn races(order: &mut Order, earlier: &Visit, later: &Visit) -> bool {
    if earlier.atomic && later.atomic {
        return false;
    }
    if earlier.block == later.block {
        let warp = |visit: &Visit| usize::from(visit.thread) / WARP_LANES;
        let in_step = warp(earlier) == warp(later);
        if earlier.thread == later.thread
            || earlier.interval != later.interval
            || in_step && earlier.warp_operations != later.warp_operations
        {
            return false;
        }
    }
    !earlier.is_before_in_cluster(later) && !order.orders(earlier, later)
}

/// Whether all that came to the unit and is not ordered before a store are plain stores, too.
fn is_stored_twice(
    unit: &Unit,
    visits: &Visits,
    order: &mut Order,
    visit: &Visit,
    checked: &Checked,
) -> bool {
    let mut readers = unit.readers.into_iter().chain(unit.block_readers);
    checked.kind == abi::access::STORE
        && !visit.atomic
        && visits.get(unit.writer).is_some_and(|writer| !writer.atomic)
        && !readers.any(|reader| {
            let reader = visits.get(reader);
            reader.is_some_and(|reader| races(order, &reader, visit))
        })
}

fn is_of_device(kind: MemoryKind) -> bool {
    use MemoryKind::{Constant, Device, Mapped, Variable};
    matches!(kind, Device | Variable | Constant | Mapped)
}

/// The linear index of the cluster of the block that runs.
fn cluster_of(state: &BlockState) -> u32 {
    let launch = state.launch();
    if launch.blocks_per_cluster() == 1 {
        return state.linear_index();
    }
    let each = |extents: [u32; 3]| std::array::from_fn(|axis| extents[axis] / launch.cluster[axis]);
    grid::linear(each(state.context.block_index), each(launch.grid))
}

/// The kernel of the program that an instruction of a fused kernel belongs to: the outermost function
/// that is not ours.
fn original_kernel(instruction: usize) -> Option<String> {
    thread_local! {
        static KNOWN: RefCell<ManuallyDrop<HashMap<usize, Option<String>>>> = RefCell::default();
    }
    let look_up = || {
        let names = source_lines::inlined_functions(instruction.saturating_sub(1));
        let mut outermost = names.into_iter().rev();
        outermost.find(|name| !name.contains("sirius"))
    };
    KNOWN.with_borrow_mut(|known| known.entry(instruction).or_insert_with(look_up).clone())
}

/// Two accesses that nothing orders, with what a message needs of the block.
#[derive(Clone)]
struct Race {
    checked: Checked,
    wrote: bool,
    instructions: [usize; 2],
    offset: usize,
    kernel: String,
    place: String,
    other_place: String,
    /// The block whose shared memory it is, where that is not the block that runs.
    owner: Option<String>,
    one_block: bool,
    one_cluster: bool,
}

impl Race {
    fn between(
        state: &BlockState,
        checked: &Checked,
        other: &Met,
        instructions: [usize; 2],
        offset: usize,
    ) -> Self {
        let block = |linear: u32| {
            let [x, y, z] = grid::index(u64::from(linear), state.context.grid_size);
            format!("block ({x},{y},{z})")
        };
        let own = state.linear_index();
        let owner = checked.shared.map(|shared| shared.block);
        let thread = thread_of(state, u32::from(other.visit.thread));
        Self {
            checked: *checked,
            wrote: other.wrote,
            instructions,
            offset,
            kernel: state.launch().kernel.display_name.clone(),
            place: place_of(state, checked.thread),
            other_place: format!("{}, {thread}", block(other.visit.block)),
            owner: owner.filter(|owner| *owner != own).map(block),
            one_block: other.visit.block == own,
            one_cluster: other.visit.cluster == cluster_of(state),
        }
    }
}

fn report(race: &Race) -> ! {
    let Race {
        checked,
        wrote,
        instructions,
        offset,
        kernel,
        place,
        other_place,
        owner,
        one_block,
        one_cluster,
    } = race;
    let what = match (checked.place, owner) {
        (Some(place), _) => {
            let allocation = allocation_name(place.base, place.ordinal);
            format!("byte {offset} of {allocation}")
        }
        (None, Some(owner)) => format!("byte {offset} of shared memory of {owner}"),
        (None, None) => format!("byte {offset} of shared memory"),
    };
    let members = match kernel.starts_with(abi::FUSED_KERNEL) {
        true => instructions.map(original_kernel),
        false => [None, None],
    };
    let apart = match one_block {
        true => "no barrier stands between them",
        false if *one_cluster => "no barrier of their cluster stands between them",
        false if members[0] != members[1] => {
            "nothing orders blocks of one kernel, as the launches were ordered"
        }
        false => "nothing orders the blocks of a launch",
    };
    let [of_other, of_this] =
        members.map(|name| name.map_or(String::new(), |name| format!(" in {name}")));
    let did = if *wrote { "wrote" } else { "read" };
    termination::fail(&format!(
        "race in kernel {kernel}: {place} {}{of_this} {what}{}, which {other_place} {did}{of_other}{}; {apart}",
        checked.verb(),
        at(checked.instruction),
        at(instructions[0]),
    ))
}
