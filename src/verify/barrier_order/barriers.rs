//! Whether a kernel needs one of its barriers.
//!
//! Without a barrier, what stands before it and what stands after it may happen in one interval. So of
//! all pairs of accesses of which the one may be the last before the barrier, with no other barrier
//! between, and the other the first after it, none may conflict: both read, or one is private to what
//! the other cannot reach. That is read off the kernel's model, of which the spans tell what stands
//! next to each barrier.

use super::super::targets::may_meet;
use crate::kernel::{Access, AccessKind, ArgumentPointer, KernelModel};

/// Whether nothing in a kernel is ordered by the barrier with this number in the function's text alone.
/// `disjoint` tells of two pointers that they never lead to a common byte.
pub fn is_redundant(
    kernel: &KernelModel,
    place: usize,
    disjoint: impl Fn(ArgumentPointer, ArgumentPointer) -> bool,
) -> bool {
    let number = kernel
        .barriers
        .iter()
        .position(|barrier| barrier.place == place);
    let Some(number) = number else {
        return false;
    };
    // Other ways of threads to wait for each other are not spoken of here.
    let unknown = !kernel.opaque.is_empty()
        || !kernel.unfusable.is_empty()
        || kernel.warp_operations
        || kernel.asynchronous_copies
        || !kernel.barriers.iter().all(|barrier| barrier.uniform);
    if unknown {
        return false;
    }
    let spans = || kernel.accesses.iter().zip(&kernel.intervals.accesses);
    let before = || spans().filter(|(_, span)| span.next.contains(&number));
    let after = || spans().filter(|(_, span)| span.intervals.contains(&(number + 1)));
    let complete = kernel.intervals.accesses.len() == kernel.accesses.len();
    complete
        && before().all(|(source, _)| after().all(|(sink, _)| !conflict(source, sink, &disjoint)))
}

fn conflict(
    source: &Access,
    sink: &Access,
    disjoint: &impl Fn(ArgumentPointer, ArgumentPointer) -> bool,
) -> bool {
    if source.kind == AccessKind::Read && sink.kind == AccessKind::Read {
        return false;
    }
    may_meet(&source.target, &sink.target, disjoint)
}
