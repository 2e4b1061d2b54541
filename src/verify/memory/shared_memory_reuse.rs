//! Whether shared variables of a fused kernel may share storage.
//!
//! Two variables may when no thread of a block uses the one while another uses the other, and the block
//! does not come back to the first after the second: what a thread finds in a variable then is what it
//! would find alone, or what nobody has written yet, which is undefined in the members, too. All threads
//! of a block meet the barriers of a kernel together, so that a use is in the interval that the last
//! barrier began and the next one will end. Uses that are never in one interval are in different ones;
//! and where the block can come from the intervals of the one to those of the other, but not back, all
//! of the one come first.
//!
//! Or no block uses both, as no block runs two block partitions that stand side by side: each use of the one stands on
//! another side of a branch, which sends whole blocks one way, than each use of the other.

use crate::kernel::{KernelModel, Span, Target, Unfusable};
use std::collections::BTreeSet;

/// Where a shared variable is put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPlace {
    /// Its name in the device module.
    pub name: String,
    /// Which storage.
    pub storage: usize,
    /// Its first byte there.
    pub offset_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
}

impl SharedPlace {
    fn meets(&self, other: &Self) -> bool {
        let end = |place: &Self| place.offset_bytes.saturating_add(place.size_bytes);
        self.storage == other.storage
            && self.offset_bytes < end(other)
            && other.offset_bytes < end(self)
    }
}

/// The first two variables that share a byte and may be in use at one time; `None` when the variables
/// of a kernel can be put to these places. Variables that are not listed stay where they are.
pub fn shared_memory_reuse_conflict(
    kernel: &KernelModel,
    places: &[SharedPlace],
) -> Option<(String, String)> {
    for (index, one) in places.iter().enumerate() {
        for other in &places[index + 1..] {
            let equal = one.name == other.name;
            let disjoint = || {
                is_in_other_blocks(kernel, &one.name, &other.name)
                    || is_one_by_one(kernel, &one.name, &other.name)
            };
            if equal || one.meets(other) && !disjoint() {
                return Some((one.name.clone(), other.name.clone()));
            }
        }
    }
    None
}

/// Whether nothing but barriers of some threads, which order these besides, makes a kernel unfusable.
fn only_barriers_of_some(kernel: &KernelModel) -> bool {
    let mut reasons = kernel.unfusable.iter();
    reasons.all(|(reason, _)| *reason == Unfusable::NamedBarrier)
}

/// Whether no block uses both variables.
fn is_in_other_blocks(kernel: &KernelModel, one: &str, other: &str) -> bool {
    let sides = &kernel.intervals.sides;
    let known = kernel.opaque.is_empty()
        && only_barriers_of_some(kernel)
        && sides.len() == kernel.accesses.len()
        && !(kernel.accesses.iter()).any(|access| access.target == Target::UnknownShared);
    let of = |name: &str| {
        let uses = kernel.accesses.iter().zip(sides);
        let named = uses.filter(
            move |(access, _)| matches!(&access.target, Target::Shared(own) if own == name),
        );
        let sides: Vec<_> = named.map(|(_, sides)| sides).collect();
        sides
    };
    let (first, second) = (of(one), of(other));
    known
        && first.iter().all(|here| {
            second.iter().all(|there| {
                let mut pairs = here
                    .iter()
                    .flat_map(|a| there.iter().map(move |b| (*a, *b)));
                pairs.any(|(a, b)| a.excludes(b))
            })
        })
}

/// Whether all uses of one of two variables come before those of the other, a barrier between.
fn is_one_by_one(kernel: &KernelModel, one: &str, other: &str) -> bool {
    let known = one != other
        && kernel.opaque.is_empty()
        && only_barriers_of_some(kernel)
        && kernel.barriers.iter().all(|barrier| barrier.uniform)
        && kernel.intervals.accesses.len() == kernel.accesses.len()
        && kernel.intervals.barriers.len() == kernel.barriers.len()
        && !(kernel.accesses.iter()).any(|access| access.target == Target::UnknownShared);
    if !known {
        return false;
    }
    let of = |name: &str| -> Vec<&Span> {
        let spans = kernel.accesses.iter().zip(&kernel.intervals.accesses);
        let named = spans
            .filter(|(access, _)| matches!(&access.target, Target::Shared(own) if own == name));
        named.map(|(_, span)| span).collect()
    };
    let (first, second) = (of(one), of(other));
    let comes_to = |from: &[&Span], to: &[&Span]| {
        let later = intervals_after(kernel, from);
        to.iter().any(|span| !later.is_disjoint(&span.intervals))
    };
    let meet = first
        .iter()
        .any(|one| second.iter().any(|other| one.meets(other)));
    let comes_back = comes_to(&first, &second) && comes_to(&second, &first);
    !meet && !comes_back
}

/// The intervals in which a block may be later.
pub(in crate::verify) fn intervals_after(kernel: &KernelModel, from: &[&Span]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut work: Vec<usize> = Vec::new();
    for next in from.iter().flat_map(|span| &span.next) {
        if *next < kernel.barriers.len() && found.insert(next + 1) {
            work.push(next + 1);
        }
    }
    while let Some(interval) = work.pop() {
        for (barrier, span) in kernel.intervals.barriers.iter().enumerate() {
            if span.intervals.contains(&interval) && found.insert(barrier + 1) {
                work.push(barrier + 1);
            }
        }
    }
    found
}
