//! Numbers of threads as sums of products of places and host values, so that two that are written differently are found equal.

use crate::dependence::CoordinateSymbol;
use crate::launch::ValueId;
use crate::math::expression::Expression;
use std::collections::BTreeMap;

/// Products of places and host values, with how often each is added.
pub(super) type Sum = BTreeMap<Vec<CoordinateSymbol>, i64>;

/// The number whose digits these are, the fastest first; a digit that is always zero has no symbol.
pub(super) fn mixed_radix(
    digits: impl IntoIterator<Item = (Option<CoordinateSymbol>, Expression<ValueId>)>,
) -> Option<Sum> {
    let mut number = Expression::Constant(0);
    let mut unit = Expression::Constant(1);
    for (digit, extent) in digits {
        if extent.as_constant() == Some(1) {
            continue;
        }
        if let Some(digit) = digit {
            number = number.add(unit.clone().multiply(Expression::Leaf(digit)));
        }
        let value = |value: &ValueId| Some(Expression::Leaf(CoordinateSymbol::Value(*value)));
        let extent = extent.substitute(&mut { value })?;
        unit = unit.multiply(extent);
    }
    sum_of(&number)
}

/// An expression without quotients and extrema, multiplied out.
pub(super) fn sum_of(expression: &Expression<CoordinateSymbol>) -> Option<Sum> {
    let both = |a, b| Some((sum_of(a)?, sum_of(b)?));
    let add = |mut one: Sum, other: Sum, factor: i64| {
        for (product, count) in other {
            let entry = one.entry(product).or_insert(0);
            *entry = entry.checked_add(count.checked_mul(factor)?)?;
        }
        one.retain(|_, count| *count != 0);
        Some(one)
    };
    match expression {
        Expression::Constant(0) => Some(Sum::new()),
        Expression::Constant(value) => Some(Sum::from([(Vec::new(), *value)])),
        Expression::Leaf(symbol) => Some(Sum::from([(vec![*symbol], 1)])),
        Expression::Add(a, b) => both(a, b).and_then(|(a, b)| add(a, b, 1)),
        Expression::Subtract(a, b) => both(a, b).and_then(|(a, b)| add(a, b, -1)),
        Expression::Multiply(a, b) => {
            let (a, b) = both(a, b)?;
            let mut all = Sum::new();
            for (left, times) in &a {
                let mut scaled = Sum::new();
                for (right, count) in &b {
                    let mut product = [left.as_slice(), right.as_slice()].concat();
                    product.sort();
                    scaled.insert(product, *count);
                }
                all = add(all, scaled, *times)?;
            }
            Some(all)
        }
        _ => None,
    }
}

/// Whether a map's coordinates are equal just where two numbers are: both are the numbers, but for what is
/// added to them.
pub(super) fn told_by(
    source: &[Expression<CoordinateSymbol>],
    sink: &[Expression<CoordinateSymbol>],
    source_number: &Sum,
    sink_number: &Sum,
) -> bool {
    let ([source], [sink]) = (source, sink) else {
        return false;
    };
    let rest = |coordinate: &Expression<CoordinateSymbol>, number: &Sum| {
        let mut rest = sum_of(coordinate)?;
        for (product, count) in number {
            let entry = rest.entry(product.clone()).or_insert(0);
            *entry = entry.checked_sub(*count)?;
        }
        rest.retain(|_, count| *count != 0);
        let uniform = rest
            .keys()
            .flatten()
            .all(|symbol| matches!(symbol, CoordinateSymbol::Value(_)));
        uniform.then_some(rest)
    };
    let rests = rest(source, source_number).zip(rest(sink, sink_number));
    rests.is_some_and(|(source, sink)| source == sink)
}
