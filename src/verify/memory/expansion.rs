//! Ranges that a launch replaces, for which the queue of a region may take other memory.
//!
//! What has to be shown of the plan: under the statement's guards the launch writes every byte of the range
//! behind its argument, and reads none through it; and to no kernel of the statement is an address more than a
//! place. Then whoever later finds the launch's bytes in other memory finds the bytes that the unfused
//! program left, and the launch does not depend on what was in the range before. All else is asked when the
//! program runs, by the addresses that there are: that nothing which runs with or after the writer touches
//! the range by another argument, and that every later launch which touches it does so through arguments
//! that lead into it and nowhere else.
//!
//! Because earlier segments of a group then find what was there before in a place that the writer does not
//! touch, no order between them and its writes has to be kept, if the launch is never run otherwise.

use super::super::Refusal;
use super::super::member::Member;
use super::super::place::Values;
use super::super::polynomial::normal_form;
use crate::kernel::{Access, AccessKind, Target};
use crate::launch::{LaunchId, Operand};
use crate::math::affine::{Affine, Constraint, Variable};
use crate::schedule::{BatchedStatement, FusionGroup, FusionPlan};
use std::collections::BTreeSet;

/// Arguments of a group's launches through which they replace ranges that earlier segments never find
/// replaced.
pub(in crate::verify) type Moved = BTreeSet<(LaunchId, usize)>;

/// Those of a group of a plan.
pub(in crate::verify) fn moved(plan: &FusionPlan, group: &FusionGroup) -> Moved {
    let statements = plan
        .batched_regions
        .iter()
        .flat_map(|region| &region.statements);
    let last = group.members.last().map(|member| member.launch);
    let own = statements.filter(|each| each.must_replace && Some(each.launch) == last);
    own.flat_map(|each| each.replaced.iter().filter_map(|at| replaced(each, *at)))
        .collect()
}

/// The launch and the argument of a replaced range.
fn replaced(statement: &BatchedStatement, at: usize) -> Option<(LaunchId, usize)> {
    let range = &statement.touches.get(at)?.range;
    match range.operand {
        Operand::Argument {
            argument,
            offset_bytes: 0,
            bits: 64,
            ..
        } => Some((range.launch, argument)),
        _ => None,
    }
}

/// What speaks against the ranges that a statement says it replaces.
pub(in crate::verify) fn refusals(
    statement: &BatchedStatement,
    members: &[Member<'_>],
    values: &Values<'_>,
) -> Vec<Refusal> {
    let refuse = |what: &str| Refusal::NotReplaced {
        launch: statement.launch,
        what: what.to_owned(),
    };
    let mut refusals = Vec::new();
    if statement.must_replace && (statement.replaced.is_empty() || members.len() < 2) {
        refusals.push(refuse("nothing of a group is replaced"));
    }
    if statement.replaced.is_empty() {
        return refusals;
    }
    if members.iter().any(|member| member.model.reads_addresses) {
        refusals.push(refuse("what it does may depend on addresses"));
    }
    for at in &statement.replaced {
        let Some((launch, argument)) = replaced(statement, *at) else {
            refusals.push(refuse("the range is not behind a pointer argument"));
            continue;
        };
        let Some(member) = members.iter().find(|member| member.launch.id == launch) else {
            refusals.push(Refusal::UnknownLaunch { launch });
            continue;
        };
        let range = &statement.touches[*at].range;
        let constant = |expression| {
            let value = normal_form(expression, &mut |value| Some(values.resolve(*value)))?;
            value.as_constant()
        };
        let ends = (constant(&range.low_bytes), constant(&range.high_bytes));
        let (Some(low), Some(high)) = ends else {
            refusals.push(refuse("it is not known how much it is"));
            continue;
        };
        if !writes_all(member, argument, (low, high)) {
            refusals.push(refuse("a byte may be read, or not be written"));
        }
    }
    refusals
}

/// Whether a launch writes every byte of a range behind its argument, and reads none through it.
fn writes_all(member: &Member<'_>, argument: usize, (low, high): (i64, i64)) -> bool {
    let through = |access: &&Access| match access.target {
        Target::Argument { argument: own, .. } => own == argument,
        Target::Unknown => true,
        _ => false,
    };
    let accesses: Vec<&Access> = member.model.accesses.iter().filter(through).collect();
    let own = Target::Argument {
        argument,
        offset_bytes: 0,
    };
    let plain = |access: &&Access| {
        access.kind == AccessKind::Write
            && access.target == own
            && !access.volatile
            && !access.asynchronous
    };
    if !accesses.iter().all(plain) {
        return false;
    }
    let surely = accesses.into_iter().filter(|access| access.exact);
    let mut written: Vec<(i64, i64)> = surely
        .filter_map(|access| written_spans(member, access))
        .flatten()
        .collect();
    written.sort_unstable();
    // Up to where every byte is written.
    let mut reached = low;
    for (first, end) in written {
        if first > reached {
            break;
        }
        reached = reached.max(end);
    }
    low < high && high <= reached
}

/// Threads of a launch that are followed one by one; of a larger one it is not known what it writes.
const MOST_THREADS: i64 = 1 << 18;

/// The spans of bytes, `first .. end`, that an access touches in some thread; `None` where they depend on a
/// loop or on what is not known before the program runs.
///
/// A set of isl's would say as much, but its quotients make isl look for what they are by cuts without end.
fn written_spans(member: &Member<'_>, access: &Access) -> Option<Vec<(i64, i64)>> {
    let extents: Vec<i64> = member
        .extents
        .iter()
        .map(|extent| extent.as_constant())
        .collect::<Option<_>>()?;
    let threads = extents
        .iter()
        .try_fold(1_i64, |all, extent| all.checked_mul(*extent))?;
    if !(1..=MOST_THREADS).contains(&threads) || extents.iter().any(|extent| *extent < 1) {
        return None;
    }
    let subscript = access.subscript.as_ref()?;
    let mut spans: Vec<(i64, i64)> = Vec::new();
    for number in 0..threads {
        // Threads count fastest, so that a span often goes on where the last one ended.
        let mut rest = number;
        let mut place = [0_i64; 6];
        for at in [3, 4, 5, 0, 1, 2] {
            place[at] = rest % extents[at];
            rest /= extents[at];
        }
        if !runs(member, access, &place)? {
            continue;
        }
        let first = value(member, subscript, &place)?;
        let end = first.checked_add(i64::from(access.size_bytes))?;
        match spans.last_mut() {
            Some(last) if last.1 == first => last.1 = end,
            _ => spans.push((first, end)),
        }
    }
    Some(spans)
}

/// Whether a thread executes an access.
fn runs(member: &Member<'_>, access: &Access, place: &[i64; 6]) -> Option<bool> {
    let mut some = false;
    for conjunction in &access.domain {
        let mut all = true;
        for constraint in conjunction {
            all &= match constraint {
                Constraint::NonNegative(affine) => value(member, affine, place)? >= 0,
                Constraint::Zero(affine) => value(member, affine, place)? == 0,
            };
        }
        some |= all;
    }
    Some(some)
}

/// The value of an expression in a thread, whose place is in the order of a member's extents.
fn value(member: &Member<'_>, affine: &Affine, place: &[i64; 6]) -> Option<i64> {
    let parameter = |index: usize| member.parameters.get(index)?.as_constant();
    let mut terms = affine.terms.iter();
    terms.try_fold(affine.constant, |sum, (coefficient, variable)| {
        let value = match variable {
            Variable::Block(axis) => place[axis.index()],
            Variable::Thread(axis) => place[3 + axis.index()],
            Variable::Loop(_) => return None,
            Variable::Parameter(index) => parameter(*index)?,
            Variable::Product(index) => {
                let product = member.model.products.get(*index)?;
                let factor = value(member, &product.factor, place)?;
                parameter(product.parameter)?.checked_mul(factor)?
            }
            Variable::Floor(numerator, divisor) if *divisor > 0 => {
                value(member, numerator, place)?.div_euclid(*divisor)
            }
            Variable::Floor(..) => return None,
        };
        sum.checked_add(coefficient.checked_mul(value)?)
    })
}
