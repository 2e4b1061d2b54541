//! Rows of a buffer whose distance only a run knows: what lies in one row is disjoint from the next where the
//! distance is at least the length of a row, as it is in all matrices with a leading dimension or a pitch.
//!
//! Where a pair is of global scope as it is, it is looked at again as if that were so, which then is a condition of
//! the edge.

use super::super::Guard;
use super::super::instance::{Instance, TargetUse};
use super::super::mapped::{expand, host_expression};
use super::super::polynomial::Polynomial;
use crate::kernel::{Access, KernelModel};
use crate::math::affine::{Affine, Constraint, Variable};
use crate::math::expression::Condition;

/// Most conditions that a pair is looked at with.
const MOST_FACTS: usize = 4;

/// What holds where rows are disjoint: each polynomial is then at least zero, and each guard says so.
pub(in crate::dependence) fn facts(
    sides: [(&Instance, &TargetUse, &[Polynomial]); 2],
) -> Vec<(Polynomial, Guard)> {
    let mut found: Vec<(Polynomial, Guard)> = Vec::new();
    for (instance, used, parameters) in sides {
        for index in used.reads.iter().chain(&used.writes) {
            let access = &instance.model.accesses[*index];
            for (length, distance) in rows(instance, access, parameters) {
                let known = |found: &[(Polynomial, Guard)], fact: &Polynomial| {
                    found.len() == MOST_FACTS || found.iter().any(|(known, _)| known == fact)
                };
                let Some(fact) = distance
                    .subtract(&length)
                    .filter(|fact| !known(&found, fact))
                else {
                    continue;
                };
                let (Some(least), Some(most)) =
                    (host_expression(&length), host_expression(&distance))
                else {
                    continue;
                };
                let condition = Condition::LessEqual(least, most);
                if condition.decided().is_none() {
                    let class = String::from("rows");
                    found.push((fact, Guard::Holds { class, condition }));
                }
            }
        }
    }
    found
}

/// The lengths of an access's rows, each with the distance from one to the next; rows of rows among them, as
/// planes are in volumes.
fn rows(
    instance: &Instance,
    access: &Access,
    parameters: &[Polynomial],
) -> Vec<(Polynomial, Polynomial)> {
    let mut found = Vec::new();
    let mut nested: Vec<&Affine> = access.subscript.iter().collect();
    while let Some(position) = nested.pop() {
        for (count, variable) in &position.terms {
            let Variable::Product(index) = variable else {
                continue;
            };
            let product = &instance.model.products[*index];
            nested.push(&product.factor);
            let Some(step) = parameters.get(product.parameter) else {
                continue;
            };
            if *count <= 0 {
                continue;
            }
            let others = position.terms.iter().filter(|(_, other)| other != variable);
            let others: Vec<_> = others
                .filter(|(_, other)| varies(instance.model, other))
                .collect();
            let Some((element, lengths)) = lengths(instance, access, parameters, &others) else {
                continue;
            };
            // Shorter numbers say the same where elements are counted.
            let (scale, count) = match count % element {
                0 => (1, count / element),
                _ => (element, *count),
            };
            let lengths = lengths.into_iter();
            found.extend(lengths.filter_map(|length| length.scale(scale).zip(step.scale(count))));
        }
    }
    found
}

/// How many bytes an element has, and how many lie in a row at most in which these terms tell the position.
fn lengths(
    instance: &Instance,
    access: &Access,
    parameters: &[Polynomial],
    position: &[&(i64, Variable)],
) -> Option<(i64, Vec<Polynomial>)> {
    let model = instance.model;
    let mut coefficients = position.iter().map(|(coefficient, _)| coefficient.abs());
    let element = coefficients.clone().min()?;
    if coefficients.any(|coefficient| coefficient % element != 0) {
        return None;
    }
    let of_guards = access.domain.iter().filter_map(|conjunction| {
        conjunction.iter().find_map(|constraint| {
            let room = room_of(model, constraint, position, element)?;
            let (terms, room) = expand(model, &room, parameters)?;
            let length = room.add(&Polynomial::constant(1))?;
            terms.is_empty().then_some(length)
        })
    });
    let mut lengths: Vec<_> = of_guards.collect();
    // The index of a block by itself is below the extent of the grid.
    if let ([(1.., Variable::Block(axis))], true) = (position, lengths.is_empty()) {
        lengths.push(instance.shape.grid[axis.index()].clone());
    }
    Some((element, lengths))
}

/// What a constraint leaves above the position that these terms, by bytes an element, say: the constraint is
/// that `room - position` is not negative.
fn room_of(
    model: &KernelModel,
    constraint: &Constraint,
    position: &[&(i64, Variable)],
    element: i64,
) -> Option<Affine> {
    let Constraint::NonNegative(affine) = constraint else {
        return None;
    };
    let mut room = affine.clone();
    for (coefficient, variable) in position {
        let own = Affine::variable(variable.clone()).scale(coefficient / element)?;
        room = room.add(&own)?;
    }
    let mut left = room.terms.iter();
    (!left.any(|(_, variable)| varies(model, variable))).then_some(room)
}

/// Whether a variable is another one in other threads or iterations.
fn varies(model: &KernelModel, variable: &Variable) -> bool {
    match variable {
        Variable::Parameter(_) => false,
        Variable::Block(_) | Variable::Thread(_) | Variable::Loop(_) => true,
        Variable::Product(index) => {
            let terms = &model.products[*index].factor.terms;
            terms.iter().any(|(_, variable)| varies(model, variable))
        }
        Variable::Floor(numerator, _) => {
            let mut terms = numerator.terms.iter();
            terms.any(|(_, variable)| varies(model, variable))
        }
    }
}
