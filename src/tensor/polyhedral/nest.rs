//! Loops that a thread goes through for several statements: what can be written of isl's schedules.
//!
//! Invariant: in each part, indices on the left are those of the threads and of outer loops, and reduced ones follow in the
//! order of the statement, so that the terms of an element meet in the order of the identity mapping. Whether the parts may
//! be computed in this order is what [`super::order`] says.

use super::Obstacle;
use crate::math::isl::schedule::{Affine, Member, Tree};
use crate::tensor::linear::Linear;
use crate::tensor::program::Statement;

/// Loops of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// By number: first those that are the dimensions of the threads, then those that a thread goes through.
    pub loops: Vec<Range>,
    /// How many of them are the threads'.
    pub threads: usize,
    /// By part and index: the loop that it follows; none where the loop is one of the statement alone.
    pub places: Vec<Vec<Option<Place>>>,
    /// What a thread does.
    pub body: Vec<Node>,
}

/// The values of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first one.
    pub low: Linear,
    /// Behind the last one.
    pub high: Linear,
}

/// Where an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The loop.
    pub number: usize,
    /// What the loop is ahead of the index.
    pub shift: i64,
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A loop that several parts share.
    Loop(usize, Vec<Self>),
    /// A part, with the loops that are its own.
    Part(usize),
}

impl Nest {
    /// The nest of a schedule whose outermost band has all of the statements. Where loops inside of the threads are not
    /// shared, the statements follow each other in the order of the text.
    ///
    /// # Errors
    /// What of it cannot be written.
    pub fn of(statements: &[&Statement], tree: &Tree, shares: bool) -> Result<Self, Obstacle> {
        let mut nest = Self {
            loops: Vec::new(),
            threads: 0,
            places: statements
                .iter()
                .map(|statement| vec![None; statement.variables.len()])
                .collect(),
            body: Vec::new(),
        };
        let all: Vec<usize> = (0..statements.len()).collect();
        let Tree::Band {
            members,
            child,
            permutable,
        } = tree
        else {
            let is_alone = all.len() == 1 && *tree == Tree::Leaf;
            nest.body = vec![Node::Part(0)];
            return is_alone.then_some(nest).ok_or(Obstacle::Sequence);
        };
        let split = match permutable {
            // Those in which nothing depends on each other may be the outer ones.
            true => {
                let (first, rest): (Vec<&Member>, Vec<&Member>) =
                    members.iter().partition(|member| member.coincident);
                (first, rest)
            }
            false => {
                let count = members
                    .iter()
                    .take_while(|member| member.coincident)
                    .count();
                let (first, rest) = members.split_at(count);
                (first.iter().collect(), rest.iter().collect())
            }
        };
        for member in &split.0 {
            match nest.shared(statements, member, &all) {
                Ok(Some(number)) => nest.threads = number + 1,
                // A loop of some of them, which each then goes through by itself.
                Err(Obstacle::Fixed) if !shares => {}
                made => {
                    made?;
                }
            }
        }
        if !shares {
            nest.body = all.into_iter().map(Node::Part).collect();
            return Ok(nest);
        }
        let rest = nest.ordered(statements, split.1, *permutable);
        nest.body = nest.members(statements, &rest, (child, &all))?;
        Ok(nest)
    }

    /// The parts in the order in which a thread does them.
    pub fn parts_in_order(&self) -> Vec<usize> {
        fn list(nodes: &[Node], parts: &mut Vec<usize>) {
            for node in nodes {
                match node {
                    Node::Part(part) => parts.push(*part),
                    Node::Loop(_, body) => list(body, parts),
                }
            }
        }
        let mut parts = Vec::new();
        list(&self.body, &mut parts);
        parts
    }

    /// The indices of a part that are the threads', by dimension.
    pub fn taken(&self, part: usize) -> Vec<usize> {
        let places = &self.places[part];
        let of = |number: usize| {
            let is_it = |place: &Option<Place>| place.is_some_and(|place| place.number == number);
            places.iter().position(is_it)
        };
        (0..self.threads).filter_map(of).collect()
    }

    /// The loops that a part goes through with others, the outermost first.
    pub fn path(&self, part: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.places[part]
            .iter()
            .filter_map(|place| Some(place.as_ref()?.number))
            .collect();
        // Loops are numbered from the outside.
        numbers.sort_unstable();
        numbers
    }

    /// The loop outside of which the element of a part begins and ends: the first one that is reduced.
    pub fn outermost_reduced(&self, part: usize, statement: &Statement) -> Option<usize> {
        let places = statement.reduced().map(|index| self.places[part][index]);
        places.flatten().map(|place| place.number).min()
    }

    /// Whether the loop of an index has values that are not the index's.
    pub fn is_wider(&self, statement: &Statement, index: usize, place: Place) -> bool {
        range(statement, index, place.shift).as_ref() != Ok(&self.loops[place.number])
    }

    /// Whether there is nothing but threads that do one part after the other.
    pub fn is_plain(&self, statements: &[&Statement]) -> bool {
        let parts = self.body.iter().all(|node| matches!(node, Node::Part(_)));
        let mut places = self.places.iter().zip(statements);
        parts
            && places.all(|(places, statement)| {
                let placed = places.iter().enumerate();
                let mut placed = placed.filter_map(|(index, place)| Some((index, (*place)?)));
                placed.all(|(index, place)| {
                    place.shift == 0 && !self.is_wider(statement, index, place)
                })
            })
    }

    /// Members of a band in an order in which indices on the left come first.
    fn ordered<'m>(
        &self,
        statements: &[&Statement],
        members: Vec<&'m Member>,
        permutable: bool,
    ) -> Vec<&'m Member> {
        let is_reduced = |member: &&&Member| {
            member.values.iter().any(|(part, value)| {
                let index = value.as_ref().and_then(|value| index_of(value).ok()?);
                index.is_some_and(|(index, _)| !statements[*part].variables[index].on_left)
            })
        };
        match permutable {
            true => {
                let (reduced, free): (Vec<&Member>, Vec<&Member>) =
                    members.iter().partition(|member| is_reduced(member));
                [free, reduced].concat()
            }
            false => members,
        }
    }

    fn node(
        &mut self,
        statements: &[&Statement],
        tree: &Tree,
        parts: &[usize],
    ) -> Result<Vec<Node>, Obstacle> {
        // What follows is of one statement, which has an order of its own.
        if let [part] = parts {
            return Ok(vec![Node::Part(*part)]);
        }
        match tree {
            Tree::Leaf => Ok(parts.iter().copied().map(Node::Part).collect()),
            Tree::Sequence { children, .. } => {
                let mut all = Vec::new();
                for (filter, child) in children {
                    all.extend(self.node(statements, child, filter)?);
                }
                Ok(all)
            }
            Tree::Band {
                members,
                child,
                permutable,
            } => {
                let members = self.ordered(statements, members.iter().collect(), *permutable);
                self.members(statements, &members, (child, parts))
            }
        }
    }

    fn members(
        &mut self,
        statements: &[&Statement],
        members: &[&Member],
        (child, parts): (&Tree, &[usize]),
    ) -> Result<Vec<Node>, Obstacle> {
        let Some((first, rest)) = members.split_first() else {
            return self.node(statements, child, parts);
        };
        if let [part] = parts {
            return Ok(vec![Node::Part(*part)]);
        }
        let number = self.shared(statements, first, parts)?;
        let body = self.members(statements, rest, (child, parts))?;
        Ok(match number {
            Some(number) => vec![Node::Loop(number, body)],
            None => body,
        })
    }

    /// A loop that parts share; none where it would have one value.
    fn shared(
        &mut self,
        statements: &[&Statement],
        member: &Member,
        parts: &[usize],
    ) -> Result<Option<usize>, Obstacle> {
        let mut indices = Vec::new();
        let mut constants = Vec::new();
        for part in parts {
            let value = member.values.iter().find(|(known, _)| known == part);
            let value = value.and_then(|(_, value)| value.as_ref());
            let value = value.ok_or(Obstacle::Quotient)?;
            match index_of(value)? {
                Some((index, shift)) => indices.push((*part, index, shift)),
                None => constants.push(value.constant),
            }
        }
        if indices.is_empty() {
            let is_one = constants.windows(2).all(|pair| pair[0] == pair[1]);
            return is_one.then_some(None).ok_or(Obstacle::Fixed);
        }
        if !constants.is_empty() {
            return Err(Obstacle::Fixed);
        }
        let number = self.loops.len();
        let mut all: Option<Range> = None;
        for (part, index, shift) in indices {
            self.place(part, statements[part], (index, Place { number, shift }))?;
            let own = range(statements[part], index, shift)?;
            all = Some(match all {
                Some(known) if known != own => Range {
                    low: known.low.minimum(&own.low).ok_or(Obstacle::Ranges)?,
                    high: known.high.maximum(&own.high).ok_or(Obstacle::Ranges)?,
                },
                _ => own,
            });
        }
        self.loops.push(all.ok_or(Obstacle::Fixed)?);
        Ok(Some(number))
    }

    /// Notes where an index is, which keeps the order of terms.
    fn place(
        &mut self,
        part: usize,
        statement: &Statement,
        (index, place): (usize, Place),
    ) -> Result<(), Obstacle> {
        let places = &mut self.places[part];
        let before_all = |places: &[Option<Place>],
                          mut indices: &mut dyn Iterator<Item = usize>| {
            (&mut indices).all(|index| places[index].is_some())
        };
        let keeps = match statement.variables[index].on_left {
            true => statement.reduced().all(|other| places[other].is_none()),
            false => {
                let mut outer = statement.free();
                let mut earlier = statement.reduced().take_while(|other| *other < index);
                before_all(places, &mut outer) && before_all(places, &mut earlier)
            }
        };
        if !keeps || places[index].is_some() {
            return Err(Obstacle::Terms);
        }
        places[index] = Some(place);
        Ok(())
    }
}

/// The index that a value is, and what is added; none where it is a number.
fn index_of(value: &Affine) -> Result<Option<(usize, i64)>, Obstacle> {
    if !value.parameters.is_empty() {
        return Err(Obstacle::ShiftedBySize);
    }
    let factors = value.dimensions.iter().enumerate();
    let mut factors = factors.filter(|(_, factor)| **factor != 0);
    match (factors.next(), factors.next()) {
        (None, _) => Ok(None),
        (Some((index, 1)), None) => Ok(Some((index, value.constant))),
        (Some(_), None) => Err(Obstacle::Reversed),
        (Some(_), Some(_)) => Err(Obstacle::Skewed),
    }
}

/// The values of a loop that an index follows alone.
fn range(statement: &Statement, index: usize, shift: i64) -> Result<Range, Obstacle> {
    let variable = &statement.variables[index];
    let end = |bound: &crate::tensor::program::Bound| {
        let form = bound.linear().filter(|form| !form.has_variables());
        form.and_then(|form| form.offset(shift))
            .ok_or(Obstacle::Ranges)
    };
    Ok(Range {
        low: end(&variable.low)?,
        high: end(&variable.high)?,
    })
}
