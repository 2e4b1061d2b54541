//! Which pairs of accesses an edge of which kind is about.
//!
//! Invariant: every pair of accesses of which one writes is of the kinds that its reads and writes
//! make, but a pair of updates that leave the same bits in both orders is of kind
//! [`DependenceKind::Reduction`] alone.

use super::super::DependenceKind;
use super::super::instance::{Instance, TargetUse};
use crate::kernel::{Access, AccessKind};

/// The kinds of edges between two targets.
pub(in crate::dependence) fn kinds_between(
    (source, from): (&Instance, &TargetUse),
    (sink, to): (&Instance, &TargetUse),
) -> Vec<DependenceKind> {
    let mut kinds = kinds_of(
        (!from.reads.is_empty(), !from.writes.is_empty()),
        (!to.reads.is_empty(), !to.writes.is_empty()),
    );
    kinds.push(DependenceKind::Reduction);
    kinds.retain(|kind| {
        let (left, right) = sides(*kind, from, to);
        pairs_of(*kind, (source, left), (sink, right))
            .next()
            .is_some()
    });
    kinds
}

/// The accesses that an edge of a kind relates.
pub(in crate::dependence) fn sides<'a>(
    kind: DependenceKind,
    from: &'a TargetUse,
    to: &'a TargetUse,
) -> (&'a [usize], &'a [usize]) {
    match kind {
        DependenceKind::Flow => (&from.writes, &to.reads),
        DependenceKind::Anti => (&from.reads, &to.writes),
        DependenceKind::Output | DependenceKind::Reduction => (&from.writes, &to.writes),
    }
}

/// The pairs of accesses that an edge of a kind is about: those that may change places are the
/// reduction's, all others those of the other kinds.
pub(in crate::dependence) fn pairs_of<'a>(
    kind: DependenceKind,
    (source, left): (&'a Instance<'a>, &'a [usize]),
    (sink, right): (&'a Instance<'a>, &'a [usize]),
) -> impl Iterator<Item = (&'a Access, &'a Access)> {
    let pairs = left.iter().flat_map(move |a| {
        let second = move |b: &usize| &sink.model.accesses[*b];
        right
            .iter()
            .map(move |b| (&source.model.accesses[*a], second(b)))
    });
    pairs.filter(move |(a, b)| may_change_places(a, b) == (kind == DependenceKind::Reduction))
}

/// Whether two updates leave the same bits in both orders, in whichever blocks they are made.
fn may_change_places(first: &Access, second: &Access) -> bool {
    match (first.kind, second.kind) {
        (AccessKind::Reduction(one), AccessKind::Reduction(other)) => {
            one.commutes_with(&other) && !one.within_block && !other.within_block
        }
        _ => false,
    }
}

/// The kinds of conflict between what reads and writes (in this order) before and after.
pub(in crate::dependence) fn kinds_of(
    source: (bool, bool),
    sink: (bool, bool),
) -> Vec<DependenceKind> {
    let mut kinds = Vec::new();
    if source.1 && sink.0 {
        kinds.push(DependenceKind::Flow);
    }
    if source.0 && sink.1 {
        kinds.push(DependenceKind::Anti);
    }
    if source.1 && sink.1 {
        kinds.push(DependenceKind::Output);
    }
    kinds
}
