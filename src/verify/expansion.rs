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

use super::Refusal;
use super::member::Member;
use super::place::Values;
use super::polynomial::normal_form;
use crate::affine::{Affine, Constraint, Variable};
use crate::isl::{Set, with_operation_budget};
use crate::kernel::{Access, AccessKind, Target};
use crate::launch::{LaunchId, Operand};
use crate::schedule::{FusionGroup, FusionPlan, WaveStatement};
use std::collections::BTreeSet;

/// Arguments of a group's launches through which they replace ranges that earlier segments never find
/// replaced.
pub(super) type Moved = BTreeSet<(LaunchId, usize)>;

/// Those of a group of a plan.
pub(super) fn moved(plan: &FusionPlan, group: &FusionGroup) -> Moved {
    let statements = plan.waves.iter().flat_map(|region| &region.statements);
    let last = group.members.last().map(|member| member.launch);
    let own = statements.filter(|each| each.must_replace && Some(each.launch) == last);
    own.flat_map(|each| each.replaced.iter().filter_map(|at| replaced(each, *at)))
        .collect()
}

/// The launch and the argument of a replaced range.
fn replaced(statement: &WaveStatement, at: usize) -> Option<(LaunchId, usize)> {
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
pub(super) fn refusals(
    statement: &WaveStatement,
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
    let written: Vec<String> = surely.filter_map(|access| bytes(member, access)).collect();
    if written.is_empty() || low >= high {
        return false;
    }
    let wanted = format!("{{ [byte] : {low} <= byte < {high} }}");
    let written = format!("{{ {} }}", written.join("; "));
    let asked = with_operation_budget(MOST_OPERATIONS, || {
        Set::parse(&wanted)?.is_subset(&Set::parse(&written)?)
    });
    asked == Ok(true)
}

/// Elementary operations of isl for one range.
const MOST_OPERATIONS: u64 = 2_000_000;

/// The bytes that an access touches in some thread, as a set of isl's; `None` where they depend on a loop or
/// on what is not known before the program runs.
fn bytes(member: &Member<'_>, access: &Access) -> Option<String> {
    let mut conditions = Vec::new();
    for (name, extent) in NAMES.iter().zip(&member.extents) {
        conditions.push(format!("0 <= {name} < {}", extent.as_constant()?));
    }
    let mut any = Vec::new();
    for conjunction in &access.domain {
        let mut all = vec![String::from("0 = 0")];
        for constraint in conjunction {
            all.push(match constraint {
                Constraint::NonNegative(affine) => format!("{} >= 0", text(member, affine)?),
                Constraint::Zero(affine) => format!("{} = 0", text(member, affine)?),
            });
        }
        any.push(format!("({})", all.join(" and ")));
    }
    if any.is_empty() {
        return None;
    }
    let first = text(member, access.subscript.as_ref()?)?;
    conditions.push(format!("({})", any.join(" or ")));
    conditions.push(format!("{first} <= byte < {first} + {}", access.size_bytes));
    let (names, conditions) = (NAMES.join(", "), conditions.join(" and "));
    Some(format!("[byte] : exists {names} : {conditions}"))
}

fn text(member: &Member<'_>, affine: &Affine) -> Option<String> {
    let parameter = |index: usize| member.parameters.get(index)?.as_constant();
    let mut sum = format!("({}", affine.constant);
    for (coefficient, variable) in &affine.terms {
        let value = match variable {
            Variable::Block(axis) => NAMES[axis.index()].to_owned(),
            Variable::Thread(axis) => NAMES[3 + axis.index()].to_owned(),
            Variable::Loop(_) => return None,
            Variable::Parameter(index) => parameter(*index)?.to_string(),
            Variable::Product(index) => {
                let product = member.model.products.get(*index)?;
                let factor = text(member, &product.factor)?;
                format!("{}*{factor}", parameter(product.parameter)?)
            }
            Variable::Floor(numerator, divisor) if *divisor > 0 => {
                format!("floor({} / {divisor})", text(member, numerator)?)
            }
            Variable::Floor(..) => return None,
        };
        sum += &format!(" + {coefficient}*({value})");
    }
    Some(sum + ")")
}

/// Places of a thread, in the order of a member's extents.
const NAMES: [&str; 6] = ["bx", "by", "bz", "tx", "ty", "tz"];
