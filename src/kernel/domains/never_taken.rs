//! Barriers behind a branch that no thread of a launch takes, such as an early return of threads that have no element, in a
//! launch of as many threads as there are elements. Or in a loop that all threads of a block run equally often, such as one
//! over the columns of a row that are a multiple of its threads.
//!
//! Invariant: in a launch where all conditions hold that are said of a barrier, all threads of a block reach it together, and
//! none has returned before it.

use super::super::body::{BlockRef, Body, Terminator};
use super::super::cfg::Flow;
use super::super::domain::{Conditions, Domain, Domains};
use super::super::polynomial::Polynomial;
use super::super::ranges::upper;
use super::super::space::Space;
use super::super::uniformity::Uniformity;
use super::super::{Barrier, KernelSymbol};
use crate::math::affine::{Constraint, Variable};
use crate::math::expression::{Condition, Expression};
use std::collections::{BTreeMap, BTreeSet};

/// Says of barriers that some threads may not reach in which launches all of them do. `blocks` has the block of each.
pub fn rely_on_launch(
    (body, flow): (&Body, &Flow),
    changed_arguments: &BTreeSet<usize>,
    (domains, space): (&mut Domains, &mut Space),
    blocks: &[BlockRef],
    barriers: &mut [Barrier],
) {
    if barriers.iter().all(|barrier| barrier.uniform) {
        return;
    }
    let unwritten = BTreeSet::new();
    let diverging = |settled: &BTreeSet<BlockRef>| {
        Uniformity::with_settled(body, flow, changed_arguments, (&unwritten, settled))
    };
    let found = diverging(&BTreeSet::new());
    // By branch and one of its ways.
    let mut known: BTreeMap<(BlockRef, BlockRef), Conditions> = BTreeMap::new();
    for branch in &found.divergent_branches {
        let Terminator::Branch {
            on_true, on_false, ..
        } = &body.block(*branch).terminator
        else {
            continue;
        };
        if known.len() >= 2 * MOST_BRANCHES {
            continue;
        }
        if let Some(index) = flow.loops_of(*branch).last() {
            let inside = |way: &BlockRef| flow.loops_of(*way).contains(index);
            let (stays, leaves) = match (inside(on_true), inside(on_false)) {
                (true, false) => (on_true, on_false),
                (false, true) => (on_false, on_true),
                _ => continue,
            };
            let loops = flow.loops_of(*branch);
            let conditions = equally_often(domains, space, loops, (*branch, *stays));
            known.extend(conditions.map(|conditions| ((*branch, *leaves), conditions)));
            continue;
        }
        for way in [on_true, on_false] {
            let conditions = never_taken(domains, space, (*branch, *way));
            known.extend(conditions.map(|conditions| ((*branch, *way), conditions)));
        }
    }
    for (block, barrier) in blocks.iter().zip(barriers) {
        // Ways that lead past the barrier.
        let past = known
            .iter()
            .filter(|((_, way), _)| !leads_to(body, *way, *block));
        let branches: BTreeMap<BlockRef, &Conditions> = past
            .map(|((branch, _), conditions)| (*branch, conditions))
            .collect();
        let mut settled: BTreeSet<BlockRef> = branches.keys().copied().collect();
        let is_reached =
            |settled: &BTreeSet<BlockRef>| !diverging(settled).divergent_blocks.contains(block);
        if barrier.uniform || settled.is_empty() || !is_reached(&settled) {
            continue;
        }
        // As little as possible is asked of a launch.
        for branch in branches.keys() {
            settled.remove(branch);
            if !is_reached(&settled) {
                settled.insert(*branch);
            }
        }
        for condition in settled.iter().flat_map(|branch| branches[branch]) {
            if !barrier.reached_if.contains(condition) {
                barrier.reached_if.push(condition.clone());
            }
        }
    }
}

/// Whether control may come from one block to another.
pub fn leads_to(body: &Body, from: BlockRef, to: BlockRef) -> bool {
    let mut met = BTreeSet::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if block == to {
            return true;
        }
        if met.insert(block) {
            work.extend(body.block(block).terminator.successors());
        }
    }
    false
}

/// The most branches that are looked into.
const MOST_BRANCHES: usize = 8;

/// What a launch must satisfy so that all threads of a block go on in a loop equally often, where the way back tells it;
/// `None` where nothing is known to be enough.
///
/// A thread goes on as long as `base + own - steps · iteration` is at least zero, with what is its own and what all have. So
/// it does `floor((base + own) / steps)` times, which is monotone in what is its own: where the least and the most are
/// told the same number, all are.
fn equally_often(
    domains: &mut Domains,
    space: &mut Space,
    loops: Vec<usize>,
    (from, back): (BlockRef, BlockRef),
) -> Option<Conditions> {
    let innermost = *loops.last()?;
    let taken = domains.path_conditions.edge(space, from, back);
    let everywhere = Domain {
        disjuncts: vec![Vec::new()],
        loops,
        conditions: Conditions::new(),
        exact: true,
        why: "",
    };
    let taken = domains.narrow(space, &everywhere, &taken);
    let [facts] = taken.disjuncts.as_slice() else {
        return None;
    };
    let mut conditions = taken.conditions.clone();
    for fact in facts.iter().filter(|_| taken.exact) {
        let Constraint::NonNegative(row) = fact else {
            return None;
        };
        let mut base = Polynomial::constant(row.constant);
        let (mut least, mut most) = (Polynomial::constant(0), Polynomial::constant(0));
        let mut steps = None;
        for (coefficient, variable) in &row.terms {
            match variable {
                Variable::Parameter(index) => {
                    base = base.plus(space.parameters.get(*index)?, *coefficient)?;
                }
                Variable::Thread(axis) => {
                    let last = Polynomial::symbol(KernelSymbol::BlockSize(*axis));
                    let last = last.subtract(&Polynomial::constant(1))?;
                    let end = match *coefficient > 0 {
                        true => &mut most,
                        false => &mut least,
                    };
                    *end = end.clone().plus(&last, *coefficient)?;
                }
                Variable::Loop(index) if *index == innermost && *coefficient < 0 => {
                    steps = coefficient.checked_neg();
                }
                _ => return None,
            }
        }
        let steps = Polynomial::constant(steps?);
        let [first, last] = [&least, &most].map(|own| Some(base.add(own)?.floor_divide(&steps)));
        let condition = Condition::Equal(first?.expression(), last?.expression());
        match condition.decided() {
            Some(true) => {}
            Some(false) => return None,
            None => conditions.push(condition),
        }
    }
    (taken.exact && !conditions.is_empty()).then_some(conditions)
}

/// What a launch must satisfy so that no thread of it goes a way; `None` where nothing is known to be enough.
fn never_taken(
    domains: &mut Domains,
    space: &mut Space,
    (from, to): (BlockRef, BlockRef),
) -> Option<Conditions> {
    let taken = domains.path_conditions.edge(space, from, to);
    let everywhere = Domain {
        disjuncts: vec![Vec::new()],
        loops: Vec::new(),
        conditions: Conditions::new(),
        exact: true,
        why: "",
    };
    let taken = domains.narrow(space, &everywhere, &taken);
    let mut conditions = taken.conditions.clone();
    // Each alternative needs something that is true of no thread.
    for facts in &taken.disjuncts {
        let never = facts.iter().find_map(|fact| match fact {
            Constraint::NonNegative(row) => {
                let mut bounds = upper(space, row, &[]).into_iter();
                let bound = bounds.find(|bound| bound.range().0 < 0)?;
                let below = Expression::Constant(-1);
                Some(Condition::LessEqual(bound.expression(), below))
            }
            Constraint::Zero(_) => None,
        })?;
        conditions.push(never);
    }
    // Nothing at all is also said by a condition: an empty list says that it is not known.
    if conditions.is_empty() {
        let zero = || Expression::Constant(0);
        conditions.push(Condition::LessEqual(zero(), zero()));
    }
    Some(conditions)
}
