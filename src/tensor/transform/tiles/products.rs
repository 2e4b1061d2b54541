//! Several products of one kernel: those whose indices are the same go through the same strips, and what one of them loads
//! the others read as well; the others follow, each with strips of its own.
//!
//! A thread has the points of all of them. So a product may come before what stands in front of it, as long as that is nothing
//! of its own: no element and no term is another one, and terms of an element keep their order.

use super::{Found, staged_accesses, taken};
use crate::tensor::mapping::{Kernel, Part};
use crate::tensor::program::{Function, Statement};
use crate::tensor::syntax::tree::Operator;

/// Products that go through the same strips at most: each has registers for its points.
const MOST_TOGETHER: usize = 4;

/// Reducing parts in groups that share strips, in the order of their first ones.
pub(super) fn groups(kernel: &Kernel<'_>, reductions: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for number in reductions {
        let mut all = groups.iter_mut();
        match all.find(|group| can_join(kernel, group, *number)) {
            Some(group) => group.push(*number),
            None => groups.push(vec![*number]),
        }
    }
    groups
}

/// Whether a part can be computed together with the first one of a group.
fn can_join(kernel: &Kernel<'_>, group: &[usize], number: usize) -> bool {
    let (first, part) = (&kernel.parts[group[0]], &kernel.parts[number]);
    let begins = matches!(part.statement.operator, Operator::Reduce(_, true));
    group.len() < MOST_TOGETHER
        && begins
        && have_same_indices(first, part)
        && kernel.parts[group[0]..number]
            .iter()
            .all(|between| needs_nothing_of(between, part))
}

/// Whether two parts have the same indices with the same ranges, whatever their names are.
fn have_same_indices(one: &Part<'_>, other: &Part<'_>) -> bool {
    let (of_one, of_other) = (&one.statement.variables, &other.statement.variables);
    let same = of_one.iter().zip(of_other).all(|(one, other)| {
        let is_linear = one.low.linear().is_some() && one.high.linear().is_some();
        is_linear
            && one.on_left == other.on_left
            && one.low.linear() == other.low.linear()
            && one.high.linear() == other.high.linear()
    });
    of_one.len() == of_other.len() && same && one.work == other.work
}

/// Whether a part touches nothing that a later one makes. What that one reads is nothing that the kernel writes.
fn needs_nothing_of(before: &Part<'_>, later: &Part<'_>) -> bool {
    let target = later.statement.target;
    let mut touches = before.statement.target == target;
    before
        .statement
        .reads(&mut |tensor, _| touches |= tensor == target);
    !touches
}

/// What all products of a group read; their indices are the same.
pub(super) fn accesses(
    function: &Function,
    kernel: &Kernel<'_>,
    group: &[usize],
) -> Option<Vec<Found>> {
    let mut all: Vec<Found> = Vec::new();
    for number in group {
        for access in staged_accesses(function, kernel, &kernel.parts[*number])? {
            let is_same = |known: &&mut Found| {
                known.tensor == access.tensor && known.subscripts == access.subscripts
            };
            match all.iter_mut().find(is_same) {
                Some(known) => known.conditional &= access.conditional,
                None => all.push(access),
            }
        }
    }
    Some(all)
}

/// A statement with the names of another one's indices, which are the same.
pub fn with_indices_of(statement: &Statement, other: &Statement) -> Statement {
    Statement {
        variables: other.variables.clone(),
        ..statement.clone()
    }
}

/// By dimension: a tile has one value of it, as the terms of a point depend on it; `None` where they depend on more.
pub(super) fn alone(kernel: &Kernel<'_>, reductions: &[usize]) -> Option<Vec<bool>> {
    let mut alone = vec![false; kernel.threads.len()];
    for number in reductions {
        let part = &kernel.parts[*number];
        let (statement, taken) = (part.statement, taken(part)?);
        for index in statement.reduced() {
            let variable = &statement.variables[index];
            for bound in [&variable.low, &variable.high] {
                for other in bound.linear()?.variables() {
                    if statement.variables[other].on_left {
                        alone[taken.iter().position(|known| *known == other)?] = true;
                    }
                }
            }
        }
    }
    Some(alone)
}
