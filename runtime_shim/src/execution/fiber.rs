//! Stacks of fibers: mappings with a guard page, kept for reuse.
//!
//! Invariant: a stack is in the pool or lent to one worker; what lies below a stack is inaccessible,
//! so that an overflow faults and is reported as one.

use std::collections::HashMap;
use std::sync::Mutex;

use corosensei::stack::{Stack, StackPointer};

use crate::memory::GuardedMapping;
use crate::termination;

/// Smallest stack, in bytes. Its pages are committed as they are touched.
pub const MINIMUM_BYTES: usize = 128 << 10;

/// Frames of a kernel that does not say: CUDA's limit of local memory for a thread, in bytes.
const UNKNOWN_FRAME_BYTES: usize = 512 << 10;

/// Stacks that may exist at a time; the system limits the mappings of a process (65,530 by default)
/// and a stack with its guard takes two.
pub const STACK_LIMIT: usize = 24_000;

/// The stack of one fiber. A copy refers to the same memory, which is never unmapped.
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

/// Takes `count` stacks of at least `bytes` bytes (a [`size_class`]).
pub fn take(count: usize, bytes: usize) -> Vec<FiberStack> {
    let mut pool = POOL
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let free = pool.get_or_insert_default().entry(bytes).or_default();
    let mut stacks = free.split_off(free.len() - count.min(free.len()));
    drop(pool);
    while stacks.len() < count {
        let Some(stack) = map(bytes, stacks.len()) else {
            termination::fail(&format!(
                "the system has no room for {count} stacks of {bytes} bytes for a block's threads"
            ));
        };
        stacks.push(stack);
    }
    stacks
}

/// Gives stacks back.
pub fn give_back(bytes: usize, stacks: Vec<FiberStack>) {
    let mut pool = POOL
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    pool.get_or_insert_default()
        .entry(bytes)
        .or_default()
        .extend(stacks);
}

static POOL: Mutex<Option<HashMap<usize, Vec<FiberStack>>>> = Mutex::new(None);

/// Maps a stack. Stacks begin at different distances from their mapping's end: threads of a block touch
/// the same depth of their stacks in turn, which would otherwise fall on the same cache sets.
fn map(bytes: usize, number: usize) -> Option<FiberStack> {
    const STEP: usize = 192;
    const STEPS: usize = 21;
    let mapping = GuardedMapping::new(bytes)?;
    let stack = FiberStack {
        base: StackPointer::new(mapping.end() - number % STEPS * STEP)?,
        limit: StackPointer::new(mapping.lower_guard())?,
        guard_end: mapping.start(),
    };
    // Stacks live as long as the process.
    std::mem::forget(mapping);
    Some(stack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_used_again() {
        let bytes = size_class(3 << 20);
        assert!(bytes > 3 << 20);
        assert_eq!(size_class(1), MINIMUM_BYTES);
        assert!(size_class(0) > UNKNOWN_FRAME_BYTES);
        let first = take(3, bytes);
        let addresses: Vec<_> = first.iter().map(|stack| stack.bounds()).collect();
        assert!(first[0].guards(first[0].bounds().0 - 1));
        give_back(bytes, first);
        let again = take(2, bytes);
        assert!(
            again
                .iter()
                .all(|stack| addresses.contains(&stack.bounds()))
        );
        give_back(bytes, again);
    }
}
