//! Whether a load of a kernel finds what its own thread stored, whatever barriers stand between.
//!
//! A barrier lets a thread see what others of its block wrote. Where none of them ever writes to what a load reads, the
//! load finds after the barrier what it would have found before it, so that a value that the thread stored
//! there may stay in a register. Read off a model of the kernel: all that may write to what the load reads is compared with it for
//! two threads of one block, unless a barrier that all come to lets it happen only after the load. That another block writes
//! there would be a race in the kernel, which the plan's judge has excluded.

use super::super::targets::may_meet;
use super::instances::Space;
use super::shared_memory_reuse::intervals_after;
use crate::kernel::{Access, AccessKind, ArgumentPointer, KernelModel};

/// What speaks against it that no other thread of a block writes to what the load at this [place](crate::kernel::Access::place) reads
/// before it does; `None` when nothing does. `block` are the block's extents where they are known; `disjoint` tells of two pointers that they
/// never lead to a common byte.
pub fn own_value_conflict(
    kernel: &KernelModel,
    place: usize,
    block: [Option<u64>; 3],
    disjoint: impl Fn(ArgumentPointer, ArgumentPointer) -> bool,
) -> Option<String> {
    if !kernel.opaque.is_empty() || !kernel.unfusable.is_empty() {
        return Some("the kernel is not understood".to_owned());
    }
    let mut found = kernel
        .accesses
        .iter()
        .filter(|access| access.place == place);
    let (Some(load), None) = (found.next(), found.next()) else {
        return Some(format!("not one access at place {place}"));
    };
    let plain = load.kind == AccessKind::Read && !load.volatile && !load.asynchronous;
    let Some(read) = load.subscript.as_ref().filter(|_| plain) else {
        return Some("the load is not understood".to_owned());
    };
    let space = Space {
        kernel,
        threads: block,
    };
    let others = kernel.accesses.iter().filter(|access| {
        access.kind != AccessKind::Read
            && may_meet(&access.target, &load.target, &disjoint)
            && !comes_after(kernel, access, load)
    });
    for store in others {
        if store.target != load.target {
            return Some(format!("{} may be {}", store.target, load.target));
        }
        let known = store.subscript.as_ref().filter(|_| !store.asynchronous);
        if !known.is_some_and(|written| space.never_meet((store, written), (load, read))) {
            return Some(format!("{} is written by other threads", load.target));
        }
    }
    None
}

/// Whether all instances of an access come after those of the load, a barrier between.
fn comes_after(kernel: &KernelModel, access: &Access, load: &Access) -> bool {
    let known = kernel.barriers.iter().all(|barrier| barrier.uniform)
        && kernel.intervals.accesses.len() == kernel.accesses.len()
        && kernel.intervals.barriers.len() == kernel.barriers.len();
    if !known || access.asynchronous {
        return false;
    }
    let [own, loaded] = [access, load].map(|each| &kernel.intervals.accesses[each.id.0]);
    let later = intervals_after(kernel, &[own]);
    !own.meets(loaded) && later.is_disjoint(&loaded.intervals)
}
