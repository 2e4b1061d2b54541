//! Values that guards hold between two bounds that are equal.
//!
//! Invariant: every bound is of a condition that holds by itself whenever the fused launch runs; nothing is taken
//! of one that is only an alternative.

use super::super::place::{Values, single_value};
use super::super::polynomial::normal_form;
use crate::launch::ValueId;
use crate::math::expression::{Condition, Expression};
use std::collections::BTreeMap;

/// The values of which these conditions, which all hold, leave only one number possible, with that.
///
/// A quotient by such a value (`n / columns` where `n == columns * 16`) is a constant, which no inequality tells.
pub(in crate::verify) fn fixed<'a>(
    conditions: impl Iterator<Item = &'a Condition<ValueId>>,
    values: &Values<'_>,
) -> Vec<(ValueId, i64)> {
    let mut bounds = BTreeMap::new();
    for condition in conditions {
        add(condition, values, &mut bounds);
    }
    let equal = |(value, (least, most)): (ValueId, Bounds)| {
        (least == most).then_some((value, i64::try_from(least?).ok()?))
    };
    bounds.into_iter().filter_map(equal).collect()
}

/// The least and the largest number that a value may be.
type Bounds = (Option<i128>, Option<i128>);

fn add(
    condition: &Condition<ValueId>,
    values: &Values<'_>,
    bounds: &mut BTreeMap<ValueId, Bounds>,
) {
    match condition {
        Condition::All(parts) => parts.iter().for_each(|part| add(part, values, bounds)),
        Condition::LessEqual(left, right) => {
            if let (Some((times, value)), Some(most)) =
                (multiple(left, values), constant(right, values))
            {
                let most = most.div_euclid(times);
                let known = &mut bounds.entry(value).or_default().1;
                *known = Some(known.map_or(most, |known| known.min(most)));
            }
            if let (Some(least), Some((times, value))) =
                (constant(left, values), multiple(right, values))
            {
                let least = -(-least).div_euclid(times);
                let known = &mut bounds.entry(value).or_default().0;
                *known = Some(known.map_or(least, |known| known.max(least)));
            }
        }
        Condition::Equal(..) | Condition::Any(_) => {}
    }
}

fn constant(expression: &Expression<ValueId>, values: &Values<'_>) -> Option<i128> {
    let form = normal_form(expression, &mut |value| Some(values.resolve(*value)))?;
    form.as_constant().map(i128::from)
}

/// How many times which value an expression is, at least once.
fn multiple(expression: &Expression<ValueId>, values: &Values<'_>) -> Option<(i128, ValueId)> {
    let form = normal_form(expression, &mut |value| Some(values.resolve(*value)))?;
    let (times, rest) = form.split_content();
    Some((times, single_value(&rest)?)).filter(|(times, _)| *times > 0)
}
