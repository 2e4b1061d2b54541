//! Stacks of fibers: mappings with a guard page, kept for reuse.
//!
//! Invariant: a stack is in the pool or lent to one worker, and there are no more than [`STACK_LIMIT`];
//! what lies below a stack is inaccessible, so that an overflow faults and is reported as one.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use corosensei::stack::{Stack, StackPointer};

use crate::mapping::GuardedMapping;
use crate::termination;

/// Smallest stack, in bytes. Its pages are committed as they are touched.
pub const MINIMUM_BYTES: usize = 128 << 10;

/// Frames of a kernel that does not say: CUDA's limit of local memory for a thread, in bytes.
const UNKNOWN_FRAME_BYTES: usize = 512 << 10;

/// Stacks that may exist at a time; the system limits the mappings of a process (65,530 by default)
/// and a stack with its guard takes two.
pub const STACK_LIMIT: usize = 20_000;

/// The stack of one fiber. A copy refers to the same memory, which the [`Loan`] keeps.
#[derive(Clone, Copy, Debug)]
pub struct FiberStack {
    base: StackPointer,
    limit: StackPointer,
    guard_end: usize,
}

impl FiberStack {
    /// Lowest and highest address of the usable part.
    pub fn bounds(&self) -> (usize, usize) {
        (self.guard_end, self.base.get())
    }

    /// Whether the address lies in the inaccessible part below the stack.
    pub fn guards(&self, address: usize) -> bool {
        (self.limit.get()..self.guard_end).contains(&address)
    }
}

// SAFETY: base and limit are the ends of a mapping whose lowest page is inaccessible, page-aligned and
// larger than the minimum.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}

/// The size of the stacks for a kernel whose frames need `stack_bytes` (0 when unknown).
pub fn size_class(stack_bytes: u64) -> usize {
    // Room for the runtime's own functions and for the C library's below the kernel's frame.
    const RESERVE: usize = 48 << 10;
    const GRANULARITY: usize = 64 << 10;
    let frame = match stack_bytes {
        0 => UNKNOWN_FRAME_BYTES,
        known => usize::try_from(known).unwrap_or(usize::MAX / 4),
    };
    frame
        .saturating_add(RESERVE)
        .max(MINIMUM_BYTES)
        .next_multiple_of(GRANULARITY)
}

/// Stacks that one worker has; they go back to the pool when it is dropped.
#[derive(Debug)]
pub struct Loan {
    bytes: usize,
    stacks: Vec<PooledStack>,
}

impl Loan {
    /// The stack of that number.
    pub fn stack(&self, number: usize) -> FiberStack {
        self.stacks[number].stack
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if self.stacks.is_empty() {
            return;
        }
        let mut pool = lock();
        pool.lent -= self.stacks.len();
        pool.free
            .entry(self.bytes)
            .or_default()
            .append(&mut self.stacks);
        RETURNED.notify_all();
    }
}

/// Lends `count` stacks of at least `bytes` bytes (a [`size_class`]); waits while other launches have
/// so many that the system's limit is reached. `count` is at most a block's threads.
pub fn take(count: usize, bytes: usize) -> Loan {
    if count == 0 {
        return Loan {
            bytes,
            stacks: Vec::new(),
        };
    }
    let mut pool = lock();
    loop {
        if let Some(loan) = pool.lend(count, bytes) {
            return loan;
        }
        if pool.lent == 0 {
            termination::fail(&format!(
                "the system has no room for {count} stacks of {bytes} bytes for a block's threads"
            ));
        }
        pool = RETURNED.wait(pool).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Lends stacks like [`take`], or none when it would have to wait.
pub fn try_take(count: usize, bytes: usize) -> Option<Loan> {
    match count {
        0 => Some(Loan {
            bytes,
            stacks: Vec::new(),
        }),
        _ => lock().lend(count, bytes),
    }
}

#[derive(Debug)]
struct PooledStack {
    stack: FiberStack,
    _mapping: GuardedMapping,
}

#[derive(Debug)]
struct Pool {
    /// By size class.
    free: BTreeMap<usize, Vec<PooledStack>>,
    lent: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    free: BTreeMap::new(),
    lent: 0,
});
static RETURNED: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    fn lend(&mut self, count: usize, bytes: usize) -> Option<Loan> {
        let free = self.free.entry(bytes).or_default();
        let mut stacks = free.split_off(free.len() - count.min(free.len()));
        let missing = count - stacks.len();
        if missing > 0 {
            let mut kept: usize = self.free.values().map(Vec::len).sum();
            let room = |kept| self.lent + stacks.len() + missing + kept <= STACK_LIMIT;
            if !room(kept) {
                // Free stacks of other sizes only stand in the way.
                self.free.retain(|class, _| *class == bytes);
                kept = self.free.values().map(Vec::len).sum();
            }
            let mapped = room(kept)
                && (0..missing).all(|_| {
                    map(bytes, stacks.len()).is_some_and(|stack| {
                        stacks.push(stack);
                        true
                    })
                });
            if !mapped {
                self.free.entry(bytes).or_default().append(&mut stacks);
                return None;
            }
        }
        self.lent += count;
        Some(Loan { bytes, stacks })
    }
}

/// Maps a stack. Stacks begin at different distances from their mapping's end: threads of a block touch
/// the same depth of their stacks in turn, which would otherwise fall on the same cache sets.
fn map(bytes: usize, number: usize) -> Option<PooledStack> {
    const STEP: usize = 192;
    const STEPS: usize = 21;
    let mapping = GuardedMapping::new(bytes)?;
    let stack = FiberStack {
        base: StackPointer::new(mapping.end() - number % STEPS * STEP)?,
        limit: StackPointer::new(mapping.lower_guard())?,
        guard_end: mapping.start(),
    };
    Some(PooledStack {
        stack,
        _mapping: mapping,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who asks for more than there are has free stacks of other sizes given back.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    #[test]
    fn stacks_are_used_again() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = size_class(3 << 20);
        assert!(bytes > 3 << 20);
        assert_eq!(size_class(1), MINIMUM_BYTES);
        assert!(size_class(0) > UNKNOWN_FRAME_BYTES);
        let first = take(3, bytes);
        let addresses: Vec<_> = (0..3).map(|number| first.stack(number).bounds()).collect();
        assert!(first.stack(0).guards(addresses[0].0 - 1));
        drop(first);
        let again = take(2, bytes);
        assert!((0..2).all(|number| addresses.contains(&again.stack(number).bounds())));
    }

    #[test]
    fn there_is_a_limit() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = size_class(5 << 20);
        assert!(try_take(STACK_LIMIT + 1, bytes).is_none());
        assert!(try_take(1, bytes).is_some());
    }
}
