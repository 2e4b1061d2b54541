//! Accesses -> the columns that they keep to, where what they touch lies in rows.
//!
//! The bytes of a matrix's column are spread over as many bytes as the whole matrix has. So bounds of what a kernel touches do not
//! tell columns of one matrix apart. Here a subscript is split into a multiple of a uniform distance, the pitch of
//! the rows, and the rest, which is bounded.
//!
//! Invariant: what is taken off a subscript is a multiple of the pitch, whatever the thread. So the bounds of the rest hold for each
//! byte in its row, and the split need not be the one that the source means.

use super::super::polynomial::Polynomial;
use super::super::ranges::{Level, of_shape};
use super::super::space::Space;
use super::super::{Access, Columns, KernelSymbol};
use super::footprint::bound;
use crate::math::affine::{Affine, Variable, greatest_common_divisor};
use crate::math::expression::Expression;

/// The columns that all accesses keep to; none where no common pitch was found.
pub fn columns(space: &Space, accesses: &[&Access]) -> Option<Columns> {
    if accesses.len() > MOST_ACCESSES {
        return None;
    }
    let subscripts = accesses.iter().map(|access| access.subscript.as_ref());
    let subscripts: Vec<&Affine> = subscripts.collect::<Option<_>>()?;
    let sizes = accesses.iter().map(|access| i64::from(access.size_bytes));
    let all: Vec<Vec<Split>> = subscripts
        .iter()
        .zip(sizes)
        .map(|(subscript, size)| splits(space, subscript, size))
        .collect();
    let mut pitches: Vec<&Polynomial> = Vec::new();
    for split in all.iter().flatten() {
        if !pitches.contains(&&split.pitch) {
            pitches.push(&split.pitch);
        }
    }
    let pitches = pitches.into_iter().take(MOST_PITCHES);
    let mut found = pitches.filter_map(|pitch| {
        let in_rows = accesses.iter().zip(&subscripts).zip(&all);
        let rests = in_rows.map(|((access, subscript), splits)| {
            let mut splits = splits.iter();
            let own = splits.find(|split| split.pitch == *pitch);
            // An access that was not split lies in one row.
            let rest = own.map_or_else(|| (*subscript).clone(), |split| split.rest.clone());
            Access {
                subscript: Some(rest),
                ..(*access).clone()
            }
        });
        let rests: Vec<Access> = rests.collect();
        let rests: Vec<&Access> = rests.iter().collect();
        let columns = Columns {
            pitch_bytes: pitch.expression(),
            low_bytes: bound(Level::Kernel, space, &rests, false)?,
            high_bytes: bound(Level::Kernel, space, &rests, true)?,
        };
        let simple = [&columns.low_bytes, &columns.high_bytes];
        let simple = simple.iter().all(|bound| choices(bound) <= MOST_CHOICES);
        (simple && !are_whole_rows(&columns, pitch)).then_some(columns)
    });
    found.next()
}

/// Whether columns are as wide as rows, whatever the launch.
fn are_whole_rows(columns: &Columns, pitch: &Polynomial) -> bool {
    let [low, high] = [&columns.low_bytes, &columns.high_bytes].map(Polynomial::of);
    let wider = high
        .zip(low)
        .and_then(|(high, low)| high.subtract(&low)?.subtract(pitch));
    wider.is_some_and(|wider| wider.is_never_negative())
}

/// How many times a bound takes the lesser or the greater of two.
fn choices(bound: &Expression<KernelSymbol>) -> usize {
    match bound {
        Expression::Constant(_) | Expression::Leaf(_) => 0,
        Expression::Minimum(one, other) | Expression::Maximum(one, other) => {
            1 + choices(one) + choices(other)
        }
        Expression::Add(one, other)
        | Expression::Subtract(one, other)
        | Expression::Multiply(one, other)
        | Expression::FloorDivide(one, other) => choices(one) + choices(other),
    }
}

/// A subscript is `rest` and a multiple of `pitch`, in bytes.
struct Split {
    pitch: Polynomial,
    rest: Affine,
}

/// The ways to split a subscript, the likelier ones first.
fn splits(space: &Space, subscript: &Affine, size_bytes: i64) -> Vec<Split> {
    let by_quotient = subscript
        .terms
        .iter()
        .filter_map(|(_, variable)| match variable {
            Variable::Product(index) => single(&space.products[*index].factor),
            Variable::Loop(_) => Some(variable),
            _ => None,
        });
    let mut seen: Vec<&Variable> = Vec::new();
    let mut found = Vec::new();
    for variable in by_quotient {
        if space.as_quotient(variable).is_some() && !seen.contains(&variable) {
            seen.push(variable);
            found.extend(of_quotient(space, subscript, variable));
        }
    }
    found.extend(of_parameters(space, subscript));
    found.extend(of_constants(subscript, size_bytes));
    found
}

/// Splits a subscript by a quotient. What is divided is the quotient times the divisor, and less than the divisor besides.
fn of_quotient(space: &Space, subscript: &Affine, quotient: &Variable) -> Option<Split> {
    let dimension = space.as_quotient(quotient)?;
    let (own, thread) = dimension
        .dividend
        .terms
        .iter()
        .find(|(_, variable)| !matches!(variable, Variable::Parameter(_)))?;
    let mut terms = subscript.terms.iter();
    let coefficient = terms.find(|(_, variable)| variable == thread);
    let times = coefficient.map_or(0, |(coefficient, _)| coefficient / own);
    let remainder = dimension.dividend.subtract(&dimension.multiple)?;
    let in_rows = subscript.subtract(&remainder.scale(times)?)?;
    let mut pitch = Polynomial::constant(0);
    let mut taken = Affine::constant(0);
    for (coefficient, variable) in &in_rows.terms {
        let step = match variable {
            Variable::Product(index) => {
                let product = &space.products[*index];
                match single(&product.factor) == Some(quotient) {
                    true => space.parameters[product.parameter].clone(),
                    false => continue,
                }
            }
            variable if variable == quotient => Polynomial::constant(1),
            _ => continue,
        };
        pitch = pitch.add(&step.scale(*coefficient)?)?;
        taken = taken.add(&Affine::variable(variable.clone()).scale(*coefficient)?)?;
    }
    let rest = subscript.subtract(&taken)?;
    (pitch.as_constant() != Some(0)).then_some(Split { pitch, rest })
}

/// Splits a subscript by each uniform value that it is multiplied with. The threads of a block are no row.
fn of_parameters(space: &Space, subscript: &Affine) -> Vec<Split> {
    let of = |variable: &Variable| match variable {
        Variable::Product(index) => {
            let parameter = space.products[*index].parameter;
            (!of_shape(&space.parameters[parameter])).then_some(parameter)
        }
        _ => None,
    };
    let mut parameters: Vec<usize> = Vec::new();
    for (_, variable) in &subscript.terms {
        parameters.extend(of(variable).filter(|parameter| !parameters.contains(parameter)));
    }
    let split = |parameter: usize| {
        let (multiples, rest) = taken(subscript, |variable| of(variable) == Some(parameter));
        let step = multiples
            .into_iter()
            .reduce(greatest_common_divisor)?
            .checked_abs()?;
        let pitch = space.parameters[parameter].scale(step)?;
        Some(Split { pitch, rest })
    };
    parameters.into_iter().filter_map(split).collect()
}

/// Splits a subscript by its coefficients, the largest first, but for those of elements that follow each other.
fn of_constants(subscript: &Affine, size_bytes: i64) -> Vec<Split> {
    let varies = |variable: &Variable| !matches!(variable, Variable::Parameter(_));
    let terms = subscript.terms.iter();
    let steps = terms.filter(|(_, variable)| varies(variable));
    let mut steps: Vec<i64> = steps.map(|(step, _)| step.saturating_abs()).collect();
    steps.retain(|step| *step > size_bytes);
    steps.sort_unstable();
    steps.dedup();
    let steps = steps.into_iter().rev();
    let split = |step: i64| {
        let mut rest = subscript.clone();
        rest.terms
            .retain(|(each, variable)| !varies(variable) || each % step != 0);
        let pitch = Polynomial::constant(step);
        Split { pitch, rest }
    };
    steps.map(split).collect()
}

/// The coefficients of the variables that are taken off, and what is left.
fn taken(subscript: &Affine, is_taken: impl Fn(&Variable) -> bool) -> (Vec<i64>, Affine) {
    let mut rest = subscript.clone();
    rest.terms.retain(|(_, variable)| !is_taken(variable));
    let terms = subscript.terms.iter();
    let off = terms.filter(|(_, variable)| is_taken(variable));
    (off.map(|(coefficient, _)| *coefficient).collect(), rest)
}

/// The variable that an expression is.
fn single(affine: &Affine) -> Option<&Variable> {
    match (affine.constant, affine.terms.as_slice()) {
        (0, [(1, variable)]) => Some(variable),
        _ => None,
    }
}

/// More accesses to one pointer are seldom the columns of a matrix, and each is bounded anew.
const MOST_ACCESSES: usize = 32;
/// Each launch that waits computes its bounds.
const MOST_CHOICES: usize = 8;
/// So many distances are tried.
const MOST_PITCHES: usize = 4;
