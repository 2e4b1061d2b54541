//! Whether two loops of a kernel that follow each other may become one.
//!
//! In the one loop, iteration n of the second comes before iterations m > n of the first. Between
//! threads nothing was ordered, since no barrier stands in or between the two. In one thread no order
//! is lost when accesses of which one writes either never reach a common byte, in whichever iterations,
//! or go to the same place as a function of the iteration's number, places of different numbers being
//! disjoint. The two must run equally often: what is known of the iterations of all accesses of the one is
//! what is known of those of the other. What is touched between the two comes behind the second loop
//! then: it has no byte in common with what that touches, unless both read. An atomic update whose
//! result nobody uses orders nothing besides. Waits for the thread's asynchronous copies come before
//! both loops, in which none begin. What the threads of a warp do together stays where it is, before
//! both or behind both.

use super::super::iterations::{COUNTER, Reader, Row, Sum, Term};
use super::super::one_thread::never_meet;
use super::super::targets::may_meet;
use crate::kernel::{Access, AccessKind, ArgumentPointer, KernelModel};
use crate::math::affine::Variable;
use std::collections::BTreeSet;

/// Loops of a kernel, by the [`Access::place`]s of what they touch outside the thread's own memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedLoops {
    /// The one that runs first.
    pub first: Vec<usize>,
    /// The one behind it.
    pub second: Vec<usize>,
    /// What stands between the two, and comes behind the one loop.
    pub between: Vec<usize>,
}

/// What speaks against making two loops one; `None` when nothing does. `extents` are those of grid and block where they
/// are known, and `disjoint` tells of two pointers
/// that they never lead to a common byte.
pub fn join_conflict(
    kernel: &KernelModel,
    loops: &JoinedLoops,
    extents: [Option<u64>; 6],
    disjoint: impl Fn(ArgumentPointer, ArgumentPointer) -> bool,
) -> Option<String> {
    let may_touch = |one: &Access, other: &Access| {
        may_meet(&one.target, &other.target, &disjoint) && !never_meet(kernel, &extents, one, other)
    };
    judge(kernel, loops, &may_touch).err()
}

fn judge(
    kernel: &KernelModel,
    loops: &JoinedLoops,
    may_touch: &impl Fn(&Access, &Access) -> bool,
) -> Result<(), String> {
    let lockstep = kernel.warp_operations && kernel.accesses.iter().any(|access| access.volatile);
    if !kernel.opaque.is_empty() || !kernel.unfusable.is_empty() || lockstep {
        return Err("the kernel is not understood".to_owned());
    }
    let first = Side::of(kernel, &loops.first)?;
    let second = Side::of(kernel, &loops.second)?;
    if first.of == second.of {
        return Err("it is one loop".to_owned());
    }
    let between: Vec<&Access> = kernel
        .accesses
        .iter()
        .filter(|access| loops.between.contains(&access.place))
        .collect();
    let spans = || {
        let accesses = first.accesses.iter().chain(&second.accesses);
        accesses
            .chain(&between)
            .map(|access| kernel.intervals.accesses.get(access.id.0))
    };
    if spans().any(|span| span.is_none() || Some(span) != spans().next()) {
        return Err("a barrier stands between or inside".to_owned());
    }
    let end = first.accesses.iter().map(|access| access.id.0).max();
    let begin = second.accesses.iter().map(|access| access.id.0).min();
    let (Some(end), Some(begin)) = (end, begin) else {
        return Err("a loop without accesses".to_owned());
    };
    let passed = kernel.warp_operation_sites.iter().any(|place| {
        let stands_between = (end + 1..=begin).contains(&place.accesses_before);
        stands_between
            || [first.of, second.of]
                .iter()
                .any(|of| place.loops.contains(of))
    });
    if passed || kernel.warp_operations && kernel.warp_operation_sites.is_empty() {
        return Err("threads of a warp work together between or inside".to_owned());
    }
    let mut touching = first.accesses.iter().chain(&second.accesses);
    if touching.any(|access| access.asynchronous) {
        return Err("a copy begins inside that is under way behind".to_owned());
    }
    let mut moved: Vec<usize> = between.iter().map(|access| access.id.0).collect();
    moved.sort_unstable();
    if begin <= end || !moved.iter().copied().eq(end + 1..begin) {
        return Err("something is touched between".to_owned());
    }
    for passed in &between {
        let plain = !passed.volatile && !passed.asynchronous && passed.kind != AccessKind::Atomic;
        let meets = |access: &&Access| {
            let reads = passed.kind == AccessKind::Read && access.kind == AccessKind::Read;
            !reads && may_touch(passed, access)
        };
        if !plain || second.accesses.iter().any(meets) {
            return Err("what stands between may touch what the second touches".to_owned());
        }
    }
    if first.iterations.is_empty() || first.iterations != second.iterations {
        return Err("they are not known to run equally often".to_owned());
    }
    for one in &first.accesses {
        for other in &second.accesses {
            let reads = one.kind == AccessKind::Read && other.kind == AccessKind::Read;
            if reads || !may_touch(one, other) {
                continue;
            }
            let place = |side: &Side<'_>, access: &Access| {
                let subscript = access.subscript.as_ref();
                let plain = !access.volatile && !access.asynchronous;
                let place = side.reader(kernel).sum(subscript?)?;
                (plain && access.loops.len() == 1).then_some(place)
            };
            let counterparts = match (place(&first, one), place(&second, other)) {
                (Some(place), Some(same)) => is_counterpart((one, &place), (other, &same)),
                _ => false,
            };
            if one.target != other.target || !counterparts {
                return Err("iterations of different number may touch a common byte".to_owned());
            }
        }
    }
    Ok(())
}

/// A loop and all that it touches.
struct Side<'a> {
    of: usize,
    accesses: Vec<&'a Access>,
    /// What is known of the iterations of all its accesses.
    iterations: BTreeSet<Row>,
}

impl<'a> Side<'a> {
    fn of(kernel: &'a KernelModel, places: &[usize]) -> Result<Self, String> {
        let named = kernel.accesses.iter();
        let accesses: Vec<&Access> = named
            .filter(|access| places.contains(&access.place))
            .collect();
        let Some(of) = accesses
            .first()
            .and_then(|access| access.loops.first().copied())
        else {
            return Err("a loop without accesses".to_owned());
        };
        let complete = places
            .iter()
            .all(|place| accesses.iter().any(|access| access.place == *place))
            && kernel
                .accesses
                .iter()
                .all(|access| access.loops.contains(&of) == places.contains(&access.place))
            && accesses
                .iter()
                .all(|access| access.loops.first() == Some(&of));
        let outermost = kernel.loops.get(of).is_some_and(|each| {
            each.parent.is_none() && each.quotient.is_none() && each.unknown.is_none()
        });
        let waits = kernel
            .barriers
            .iter()
            .any(|barrier| barrier.loops.contains(&of));
        if !complete || !outermost || waits {
            return Err("a loop is not known".to_owned());
        }
        let mut side = Self {
            of,
            accesses,
            iterations: BTreeSet::new(),
        };
        let reader = side.reader(kernel);
        let mut common: Option<BTreeSet<Row>> = None;
        for access in &side.accesses {
            for conjunction in reader.domain(access).0 {
                common = Some(match common {
                    None => conjunction,
                    Some(common) => common.intersection(&conjunction).cloned().collect(),
                });
            }
        }
        let mentions = |row: &Row| match row {
            Row::NonNegative(sum) | Row::Zero(sum) => mentions_counter(sum),
        };
        side.iterations = common.unwrap_or_default();
        side.iterations.retain(mentions);
        Ok(side)
    }

    fn reader<'b>(&self, kernel: &'b KernelModel) -> Reader<'b> {
        Reader {
            kernel,
            of: self.of,
        }
    }
}

/// Whether two accesses of a thread reach a common byte in iterations of equal number only.
fn is_counterpart((one, place): (&Access, &Sum), (other, same): (&Access, &Sum)) -> bool {
    // Both are within what is moved by an iteration.
    let Some(distance) = place.subtract(same).and_then(|sum| sum.as_constant()) else {
        return false;
    };
    let low = distance.min(0);
    let high = (distance + i64::from(one.size_bytes)).max(i64::from(other.size_bytes));
    let [(step, term)] = &place
        .terms
        .iter()
        .filter(|(_, term)| mentions_counter(&Sum::term(term.clone())))
        .collect::<Vec<_>>()[..]
    else {
        return false;
    };
    one.size_bytes > 0
        && other.size_bytes > 0
        && is_iteration(term)
        && u64::try_from(high - low).is_ok_and(|bytes| step.unsigned_abs() >= bytes)
}

/// The iteration's number, or that times sizes, which are not negative, and not 0 in a loop that ends.
fn is_iteration(term: &Term) -> bool {
    match term {
        Term::Variable(variable) => *variable == Variable::Loop(COUNTER),
        Term::Product(factor, _) => {
            matches!(&factor.terms[..], [(factor, inner)] if *factor > 0 && is_iteration(inner))
                && factor.constant == 0
        }
        Term::Floor(..) => false,
    }
}

fn mentions_counter(sum: &Sum) -> bool {
    sum.terms.iter().any(|(_, term)| match term {
        Term::Variable(variable) => *variable == Variable::Loop(COUNTER),
        Term::Product(factor, _) | Term::Floor(factor, _) => mentions_counter(factor),
    })
}
