//! Whether a nest keeps the order of what depends on each other: proven from accesses and loops alone, whatever isl's
//! scheduler says.
//!
//! Two accesses of one element, of which one writes, are in order where they are always of one thread, and there the one of the
//! earlier statement comes first: at the first loop in which they differ it has the smaller value, or else it stands first. An
//! element of a reduction is touched at once for all of its terms: what shares a reduced loop with it may not touch it.

use super::Obstacle;
use super::dependences::Dependences;
use super::nest::{Nest, Place};
use crate::math::formula::{Formula, Sum};
use crate::tensor::linear::Linear;
use crate::tensor::points::{Condition, Value};
use crate::tensor::program::Statement;
use crate::tensor::transform::legality::{self, Access, never, value};

/// Proves it for some statements, in the order of the text.
///
/// # Errors
/// Two of the members for which it is not proven.
pub fn keeps_order(
    dependences: &Dependences<'_>,
    members: &[usize],
    nest: &Nest,
) -> Result<(), Obstacle> {
    let leaves = nest.parts_in_order();
    for (second, later) in members.iter().enumerate() {
        for (first, earlier) in members[..=second].iter().enumerate() {
            for [one, other] in dependences.meeting([*earlier, *later]) {
                let sides = [(first, *earlier, one), (second, *later, other)];
                let sides = sides.map(|(part, member, access)| Side {
                    part,
                    statement: dependences.statements[member],
                    access,
                });
                if !is_in_order(dependences, nest, &leaves, sides) {
                    return Err(Obstacle::Dependence(*earlier, *later));
                }
            }
        }
    }
    Ok(())
}

/// Whether statements may change places: no element that one of them writes is one that the other one touches.
pub fn may_swap(dependences: &Dependences<'_>, pair: [usize; 2]) -> bool {
    let statements = pair.map(|statement| dependences.statements[statement]);
    let mut meeting = dependences.meeting(pair);
    meeting.all(|[one, other]| {
        let touched = [(statements[0], one), (statements[1], other)];
        never(legality::meeting(dependences.function, touched))
    })
}

/// One of two accesses.
#[derive(Clone, Copy)]
struct Side<'s, 'f> {
    /// The part.
    part: usize,
    /// Its statement.
    statement: &'f Statement,
    /// What it touches.
    access: &'s Access<'f>,
}

impl Side<'_, '_> {
    /// The loops in each of whose values the access is another one.
    fn loops(&self, nest: &Nest) -> Vec<usize> {
        let mut loops = nest.path(self.part);
        if !self.access.in_terms
            && let Some(reduced) = nest.outermost_reduced(self.part, self.statement)
        {
            loops.retain(|number| *number < reduced);
        }
        loops
    }

    /// The value of a loop.
    fn at(&self, nest: &Nest, number: usize, instance: usize) -> Option<Value> {
        let places = nest.places[self.part].iter().enumerate();
        let mut places = places.filter_map(|(index, place)| Some((index, (*place)?)));
        let (index, Place { shift, .. }) = places.find(|(_, place)| place.number == number)?;
        Some(value(&Linear::variable(index).offset(shift)?, instance))
    }
}

fn is_in_order(
    dependences: &Dependences<'_>,
    nest: &Nest,
    leaves: &[usize],
    sides: [Side<'_, '_>; 2],
) -> bool {
    let touched = sides.map(|side| (side.statement, side.access));
    let mut conditions = legality::meeting(dependences.function, touched);
    let both = |number: usize| {
        let [one, other] = [0, 1].map(|side: usize| sides[side].at(nest, number, side));
        one.zip(other)
    };
    let with = |conditions: &[Condition], also: Condition| {
        let mut all = conditions.to_vec();
        all.push(also);
        never(all)
    };
    for number in 0..nest.threads {
        let Some((one, other)) = both(number) else {
            return false;
        };
        if !with(&conditions, one.is(Formula::differ, &other)) {
            return false;
        }
    }
    if sides[0].part == sides[1].part {
        return true;
    }
    let paths = sides.map(|side| nest.path(side.part));
    let own = sides.map(|side| side.loops(nest));
    let common = |paths: &[Vec<usize>; 2]| {
        let pairs = paths[0].iter().zip(&paths[1]);
        pairs.take_while(|(one, other)| one == other).count()
    };
    let shared = common(&own);
    for number in &own[0][nest.threads.min(shared)..shared] {
        let Some((one, other)) = both(*number) else {
            return false;
        };
        if !with(&conditions, one.is(Sum::above, &other)) {
            return false;
        }
        conditions.push(one.is(Sum::equal, &other));
    }
    let stands = |side: &Side<'_, '_>| leaves.iter().position(|part| *part == side.part);
    let [first, second] = sides.each_ref().map(stands);
    match common(&paths) == shared && first < second {
        true => true,
        // The one ends within the other, or stands behind it.
        false => never(conditions),
    }
}
