//! Rows of a buffer whose distance only a run knows: what lies in one row is apart from the next where the
//! distance is at least the length of a row, as it is in all matrices with a leading dimension or a pitch.
//!
//! Where a pair is of global width as it is, it is looked at again as if that were so, which then is a condition of
//! the edge.

use super::Guard;
use super::instance::{Instance, TargetUse};
use super::mapped::{expand, host_expression};
use super::polynomial::Polynomial;
use crate::affine::{Affine, Constraint, Variable};
use crate::expression::Condition;
use crate::kernel::{Access, KernelModel};

/// Most conditions that a pair is looked at with.
const MOST_FACTS: usize = 4;

/// What holds where rows are apart: each polynomial is then at least zero, and each guard says so.
pub(super) fn facts(
    sides: [(&Instance, &TargetUse, &[Polynomial]); 2],
) -> Vec<(Polynomial, Guard)> {
    let mut found: Vec<(Polynomial, Guard)> = Vec::new();
    for (instance, used, parameters) in sides {
        for index in used.reads.iter().chain(&used.writes) {
            let access = &instance.model.accesses[*index];
            for (length, distance) in rows(instance.model, access, parameters) {
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

/// The lengths of an access's rows, each with the distance from one to the next.
fn rows(
    model: &KernelModel,
    access: &Access,
    parameters: &[Polynomial],
) -> Vec<(Polynomial, Polynomial)> {
    let mut found = Vec::new();
    let Some(subscript) = &access.subscript else {
        return found;
    };
    for (count, variable) in &subscript.terms {
        let Variable::Product(index) = variable else {
            continue;
        };
        let Some(step) = parameters.get(model.products[*index].parameter) else {
            continue;
        };
        if *count <= 0 || step.as_constant().is_some() {
            continue;
        }
        let others = subscript
            .terms
            .iter()
            .filter(|(_, other)| other != variable);
        let others: Vec<_> = others.filter(|(_, other)| varies(model, other)).collect();
        let Some(element) = others
            .iter()
            .map(|(coefficient, _)| coefficient.abs())
            .min()
        else {
            continue;
        };
        if others
            .iter()
            .any(|(coefficient, _)| coefficient % element != 0)
        {
            continue;
        }
        for conjunction in &access.domain {
            let length = conjunction.iter().find_map(|constraint| {
                let room = room_of(model, constraint, &others, element)?;
                let (terms, room) = expand(model, &room, parameters)?;
                let length = room.add(&Polynomial::constant(1))?;
                terms.is_empty().then_some(length)
            });
            // Shorter numbers say the same where elements are counted.
            let (scale, count) = match count % element {
                0 => (1, count / element),
                _ => (element, *count),
            };
            if let Some((length, distance)) = length
                .and_then(|length| length.scale(scale))
                .zip(step.scale(count))
            {
                found.push((length, distance));
            }
        }
    }
    found
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
