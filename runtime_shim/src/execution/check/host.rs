//! The host's own loads and stores of memory that it shares with the device, while it has not waited for
//! what the device does there.
//!
//! Between calls of the runtime, the pages of managed and pinned memory that an operation has touched are closed to
//! the host until it has waited for that operation: where the operation wrote, to all accesses, else to stores. An
//! access to them arrives as a fault. It is a race when its byte is one that the operation touched; else the page
//! is opened until the next call. Allocations without pages of their own are not looked at, nor the first and last
//! pages of memory that the program registered, where these hold something else.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::streams::{self, Source};
use super::{allocation_name, at};
use crate::allocations::{self, MemoryKind};
use crate::{mapping, termination};

/// A part of an allocation that an operation has touched.
#[derive(Debug)]
struct Part {
    from: usize,
    to: usize,
    wrote: bool,
    /// The operation's stream, and its number there.
    operation: (u64, u64),
    source: Source,
}

/// An allocation, of which the host has not waited for some parts.
#[derive(Debug)]
struct Awaited {
    pages: (usize, usize),
    base: usize,
    parts: Vec<Part>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Calls of the runtime that are in progress.
    calls: u32,
    /// By ordinal.
    allocations: BTreeMap<u32, Awaited>,
}

static SHARED: LazyLock<Mutex<Shared>> = LazyLock::new(Mutex::default);
static IN_USE: AtomicBool = AtomicBool::new(false);

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Parts of an allocation that are kept.
const MOST_PARTS: usize = 1 << 10;

fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a call of the runtime, in which all memory is open.
pub fn within_call<T>(body: impl FnOnce() -> T) -> T {
    if !streams::are_compared() {
        return body();
    }
    enter();
    let result = body();
    leave();
    result
}

/// The program ends, and the runtime looks at what memory holds.
pub fn at_exit() {
    if IN_USE.load(Ordering::Relaxed) {
        enter();
    }
}

fn enter() {
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    if depth == 0 {
        let mut shared = shared();
        shared.calls += 1;
        for awaited in shared.allocations.values() {
            protect(awaited.pages, libc::PROT_READ | libc::PROT_WRITE);
        }
    }
}

fn leave() {
    let depth = DEPTH.get().saturating_sub(1);
    DEPTH.set(depth);
    if depth > 0 {
        return;
    }
    let mut shared = shared();
    shared.calls = shared.calls.saturating_sub(1);
    shared.allocations.retain(|ordinal, awaited| {
        awaited
            .parts
            .retain(|part| !streams::host_knows(part.operation));
        let lives = allocations::place(awaited.base).is_some_and(|place| place.ordinal == *ordinal);
        lives && !awaited.parts.is_empty()
    });
    if shared.calls > 0 {
        return;
    }
    for awaited in shared.allocations.values() {
        let wrote = awaited.parts.iter().any(|part| part.wrote);
        let allowed = if wrote {
            libc::PROT_NONE
        } else {
            libc::PROT_READ
        };
        protect(awaited.pages, allowed);
    }
}

/// An operation touches a part of an allocation.
pub(super) fn touched(
    allocation: u32,
    base: usize,
    [from, to]: [usize; 2],
    wrote: bool,
    operation: (u64, u64),
    source: &Source,
) {
    // Outside of a call nothing opens it again.
    if DEPTH.get() == 0 {
        return;
    }
    let Some(pages) = allocations::own_pages(base) else {
        return;
    };
    IN_USE.store(true, Ordering::Relaxed);
    let mut shared = shared();
    let parts = &mut shared
        .allocations
        .entry(allocation)
        .or_insert_with(|| Awaited {
            pages,
            base,
            parts: Vec::new(),
        })
        .parts;
    parts.retain(|other| other.wrote != wrote || from > other.from || other.to > to);
    if parts.len() < MOST_PARTS {
        parts.push(Part {
            from,
            to,
            wrote,
            operation,
            source: source.clone(),
        });
    }
}

/// Whether a kind of memory is the host's as well, in pages of its own.
pub(super) fn sees(kind: MemoryKind) -> bool {
    matches!(
        kind,
        MemoryKind::Managed
            | MemoryKind::ManagedVariable
            | MemoryKind::Pinned
            | MemoryKind::Registered
    )
}

/// A thread of the host has faulted. Ends the program where that is a race; else opens the page, or says that
/// this has nothing to do with the page being closed.
pub fn faulted(address: usize, writes: bool, instruction: usize) -> bool {
    if !IN_USE.load(Ordering::Relaxed) || DEPTH.get() > 0 {
        return false;
    }
    let shared = shared();
    let found = shared
        .allocations
        .iter()
        .find(|(_, awaited)| (awaited.pages.0..awaited.pages.1).contains(&address));
    let Some((ordinal, awaited)) = found else {
        return false;
    };
    let byte = address.wrapping_sub(awaited.base);
    let race = awaited
        .parts
        .iter()
        .find(|part| (part.from..part.to).contains(&byte) && (writes || part.wrote));
    if let Some(part) = race {
        let verb = if writes { "writes" } else { "reads" };
        let did = if part.wrote { "wrote" } else { "read" };
        termination::fail(&format!(
            "race between host and device: the host {verb} byte {byte} of {}{}, which {} {did}; \
             the host has not waited for that",
            allocation_name(awaited.base, *ordinal),
            // The instruction itself, not one behind a call.
            at(instruction.saturating_add(1)),
            part.source.describe(),
        ));
    }
    let page = mapping::page_bytes();
    let start = address - address % page;
    protect((start, start + page), libc::PROT_READ | libc::PROT_WRITE);
    true
}

fn protect((start, end): (usize, usize), allowed: libc::c_int) {
    // SAFETY: whole pages of one allocation, whose contents stay.
    unsafe { libc::mprotect(start as *mut libc::c_void, end - start, allowed) };
}
