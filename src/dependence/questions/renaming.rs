//! Decisions about two uses that differ from two others only in which values and launches they name.
//!
//! A program that launches a few kernels over many buffers may have values of its own at each launch, such as sizes out
//! of a table. What is decided about two of them holds for all that look alike once names are left out.
//!
//! Invariant: a decision is taken over only where the names of both pairs correspond one to one, at all places where they
//! stand, and where corresponding values are known alike; a decision that has a name beyond these is not taken over.

use super::super::arrays::ArrayCoordinates;
use super::super::decision::{Decision, Meeting};
use super::super::edges::{Compared, Run};
use super::super::instance::Instance;
use super::super::mapped::{CoordinateMap, CoordinateSymbol, MappedScope};
use super::super::matrix_tiles::Tiling;
use super::super::polynomial::{Atom, Polynomial};
use super::super::relation::Shape;
use super::super::{Guard, PointerRange};
use crate::launch::{LaunchGraph, LaunchId, NodeId, ValueId};
use crate::math::expression::Expression;
use crate::shared::Shared;
use std::collections::HashMap;

/// What a decision may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::dependence) enum Name {
    Value(ValueId),
    Node(NodeId),
    Launch(LaunchId),
}

/// A text without its names, and these in the order in which they stand there.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::dependence) struct Template {
    pub(in crate::dependence) text: String,
    pub(in crate::dependence) names: Vec<Name>,
}

impl Template {
    /// Takes the names out of what `Debug` writes.
    pub(in crate::dependence) fn of(text: &str) -> Self {
        let mut template = Self {
            text: String::new(),
            names: Vec::new(),
        };
        let mut rest = text;
        while let Some(open) = rest.find('(') {
            let (before, behind) = rest.split_at(open + 1);
            template.text.push_str(before);
            rest = behind;
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let Ok(number) = behind[..digits].parse::<usize>() else {
                continue;
            };
            let name = match before.trim_end_matches('(') {
                kind if kind.ends_with("ValueId") => Name::Value(ValueId(number)),
                kind if kind.ends_with("NodeId") => Name::Node(NodeId(number)),
                kind if kind.ends_with("LaunchId") => match u32::try_from(number) {
                    Ok(number) => Name::Launch(LaunchId(number)),
                    Err(_) => continue,
                },
                _ => continue,
            };
            template.names.push(name);
            rest = &behind[digits..];
        }
        template.text.push_str(rest);
        template
    }
}

/// All that a decision depends on, names left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::dependence) struct Likeness {
    /// Numbers of the two uses' templates.
    templates: [usize; 2],
    /// The template of the distance.
    distance: String,
    run: Run,
    /// For each name where it stood first.
    first: Vec<usize>,
    /// For each value that is named whether it is the same in both runs, and its constant.
    known: Vec<(bool, Option<i64>)>,
}

impl Likeness {
    /// That of two uses with these templates, and the names that it leaves out. `None` where what is decided depends on the
    /// domains of host loops, which are told apart by their own names.
    pub(in crate::dependence) fn of(
        graph: &LaunchGraph,
        ends: [&Instance; 2],
        templates: [(usize, &[Name]); 2],
        distance: &Polynomial,
        compared: &Compared<impl Fn(ValueId) -> bool>,
    ) -> Option<(Self, Vec<Name>)> {
        if !matches!(compared.run, Run::Same(_) | Run::Later) || compared.later.is_some() {
            return None;
        }
        let distance = Template::of(&format!("{distance:?}"));
        let mut names = Vec::new();
        for end in ends {
            names.extend([Name::Node(end.node), Name::Launch(end.launch.id)]);
        }
        for (_, own) in templates {
            names.extend_from_slice(own);
        }
        names.extend(distance.names);
        let mut seen = HashMap::new();
        let mut known = Vec::new();
        let mut first = Vec::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            let stood = *seen.entry(*name).or_insert(place);
            first.push(stood);
            if let (Name::Value(value), true) = (name, stood == place) {
                known.push(((compared.stable)(*value), graph.values[value.0].constant));
            }
        }
        let likeness = Self {
            templates: templates.map(|(number, _)| number),
            distance: distance.text,
            run: compared.run,
            first,
            known,
        };
        Some((likeness, names))
    }
}

/// Names in place of others.
#[derive(Debug, Default)]
pub(in crate::dependence) struct Renaming(HashMap<Name, Name>);

impl Renaming {
    /// From each name to that of the same place.
    pub(in crate::dependence) fn between(from: &[Name], to: &[Name]) -> Self {
        assert_eq!(from.len(), to.len());
        Self(from.iter().copied().zip(to.iter().copied()).collect())
    }

    /// The decision about what corresponds. `None` where it names something else.
    pub(in crate::dependence) fn decision(&self, decision: &Decision) -> Option<Decision> {
        Some(match decision {
            Decision::TooMany => Decision::TooMany,
            Decision::DisjointIf(guards) => Decision::DisjointIf(self.guards(guards)?),
            Decision::Meet(meeting) => Decision::Meet(Box::new(self.meeting(meeting)?)),
        })
    }

    fn meeting(&self, meeting: &Meeting) -> Option<Meeting> {
        let example = match &meeting.example {
            None => None,
            Some(example) => Some(example.renamed(&|atom: &Atom| self.atom(atom))?),
        };
        let mapped = match &meeting.mapped {
            None => None,
            Some(mapped) => Some(self.mapped(mapped)?),
        };
        let array = match &meeting.array {
            None => None,
            Some(array) => Some(self.array(array)?),
        };
        let tiling = match &meeting.tiling {
            None => None,
            Some(tiling) => Some(self.tiling(tiling)?),
        };
        Some(Meeting {
            relation: meeting.relation.clone(),
            conditions: self.guards(&meeting.conditions)?,
            absent_if: self.guards(&meeting.absent_if)?,
            sink_shape: self.shape(&meeting.sink_shape)?,
            example,
            mapped,
            array,
            tiling,
            ..*meeting
        })
    }

    fn value(&self, value: ValueId) -> Option<ValueId> {
        match self.0.get(&Name::Value(value))? {
            Name::Value(value) => Some(*value),
            Name::Node(_) | Name::Launch(_) => None,
        }
    }

    fn node(&self, node: NodeId) -> Option<NodeId> {
        match self.0.get(&Name::Node(node))? {
            Name::Node(node) => Some(*node),
            Name::Value(_) | Name::Launch(_) => None,
        }
    }

    fn launch(&self, launch: LaunchId) -> Option<LaunchId> {
        match self.0.get(&Name::Launch(launch))? {
            Name::Launch(launch) => Some(*launch),
            Name::Value(_) | Name::Node(_) => None,
        }
    }

    fn atom(&self, atom: &Atom) -> Option<Atom> {
        let both = |a: &Polynomial, b: &Polynomial| {
            Some((
                Shared::new(self.polynomial(a)?),
                Shared::new(self.polynomial(b)?),
            ))
        };
        Some(match atom {
            Atom::Value(value) => Atom::Value(self.value(*value)?),
            Atom::Private(node, symbol) => Atom::Private(self.node(*node)?, symbol.clone()),
            Atom::SinkSide(atom) => Atom::SinkSide(Box::new(self.atom(atom)?)),
            Atom::FloorDivide(a, b) => both(a, b).map(|(a, b)| Atom::FloorDivide(a, b))?,
            Atom::Minimum(a, b) => both(a, b).map(|(a, b)| Atom::Minimum(a, b))?,
            Atom::Maximum(a, b) => both(a, b).map(|(a, b)| Atom::Maximum(a, b))?,
        })
    }

    fn polynomial(&self, polynomial: &Polynomial) -> Option<Polynomial> {
        let mut renamed = Polynomial::default();
        for (monomial, coefficient) in &polynomial.terms {
            let atoms = monomial.iter().map(|atom| self.atom(atom));
            let mut monomial = atoms.collect::<Option<Vec<_>>>()?;
            monomial.sort();
            renamed.terms.insert(monomial, *coefficient);
        }
        Some(renamed)
    }

    fn shape(&self, shape: &Shape) -> Option<Shape> {
        let extents = |extents: &[Polynomial; 3]| {
            let [x, y, z] = extents;
            Some([
                self.polynomial(x)?,
                self.polynomial(y)?,
                self.polynomial(z)?,
            ])
        };
        Some(Shape {
            grid: extents(&shape.grid)?,
            block: extents(&shape.block)?,
        })
    }

    fn expression(&self, expression: &Expression<ValueId>) -> Option<Expression<ValueId>> {
        expression.substitute(&mut |value| Some(Expression::Leaf(self.value(*value)?)))
    }

    fn range(&self, range: &PointerRange) -> Option<PointerRange> {
        Some(PointerRange {
            launch: self.launch(range.launch)?,
            operand: range.operand,
            low_bytes: self.expression(&range.low_bytes)?,
            high_bytes: self.expression(&range.high_bytes)?,
        })
    }

    fn guards(&self, guards: &[Guard]) -> Option<Vec<Guard>> {
        guards.iter().map(|guard| self.guard(guard)).collect()
    }

    fn guard(&self, guard: &Guard) -> Option<Guard> {
        Some(match guard {
            Guard::Holds { class, condition } => Guard::Holds {
                class: class.clone(),
                condition: condition
                    .substitute(&mut |value| Some(Expression::Leaf(self.value(*value)?)))?,
            },
            Guard::RangesDisjoint { left, right } => Guard::RangesDisjoint {
                left: self.range(left)?,
                right: self.range(right)?,
            },
            Guard::SameOrDisjoint { left, right } => Guard::SameOrDisjoint {
                left: self.range(left)?,
                right: self.range(right)?,
            },
            Guard::ConfigurationValid { launch } => Guard::ConfigurationValid {
                launch: self.launch(*launch)?,
            },
            Guard::DeviceMemory { launch, operand } => Guard::DeviceMemory {
                launch: self.launch(*launch)?,
                operand: *operand,
            },
            Guard::NotCapturing { launch } => Guard::NotCapturing {
                launch: self.launch(*launch)?,
            },
            Guard::SameStream { first, second } => Guard::SameStream {
                first: self.launch(*first)?,
                second: self.launch(*second)?,
            },
            Guard::Resident { rounds } => Guard::Resident { rounds: *rounds },
        })
    }

    fn mapped(&self, mapped: &MappedScope) -> Option<MappedScope> {
        let coordinates = |list: &[Expression<CoordinateSymbol>]| -> Option<Vec<_>> {
            let renamed = list.iter().map(|coordinate| {
                coordinate.substitute(&mut |symbol| {
                    Some(Expression::Leaf(match symbol {
                        CoordinateSymbol::Value(value) => {
                            CoordinateSymbol::Value(self.value(*value)?)
                        }
                        CoordinateSymbol::Block(_) | CoordinateSymbol::Thread(_) => *symbol,
                    }))
                })
            });
            renamed.collect()
        };
        Some(MappedScope {
            scope: mapped.scope,
            map: CoordinateMap {
                source: coordinates(&mapped.map.source)?,
                sink: coordinates(&mapped.map.sink)?,
                ..mapped.map
            },
            conditions: self.guards(&mapped.conditions)?,
        })
    }

    fn array(&self, array: &ArrayCoordinates) -> Option<ArrayCoordinates> {
        let extents = array.extents.iter().map(|extent| self.expression(extent));
        Some(ArrayCoordinates {
            source: array.source.clone(),
            sink: array.sink.clone(),
            extents: extents.collect::<Option<_>>()?,
            conditions: self.guards(&array.conditions)?,
        })
    }

    fn tiling(&self, tiling: &Tiling) -> Option<Tiling> {
        Some(Tiling {
            pitch: self.expression(&tiling.pitch)?,
            conditions: self.guards(&tiling.conditions)?,
            ..tiling.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_numbers() {
        let text = "[(Value(ValueId(12)), 3), Private(NodeId(4), Parameter(5)), LaunchId(6)]";
        let template = Template::of(text);
        assert_eq!(
            template.text,
            "[(Value(ValueId()), 3), Private(NodeId(), Parameter(5)), LaunchId()]"
        );
        let names = [
            Name::Value(ValueId(12)),
            Name::Node(NodeId(4)),
            Name::Launch(LaunchId(6)),
        ];
        assert_eq!(template.names, names);
    }

    #[test]
    fn a_name_that_corresponds_to_none_is_not_taken_over() {
        let holds = |value| {
            let condition = crate::math::expression::Condition::LessEqual(
                Expression::Leaf(ValueId(value)),
                Expression::Constant(9),
            );
            Decision::DisjointIf(vec![Guard::Holds {
                class: String::from("wrap"),
                condition,
            }])
        };
        let renaming = Renaming::between(&[Name::Value(ValueId(1))], &[Name::Value(ValueId(7))]);
        let renamed = renaming
            .decision(&holds(1))
            .expect("the name has a partner");
        let (Decision::DisjointIf(renamed), Decision::DisjointIf(wanted)) = (renamed, holds(7))
        else {
            panic!("a decision became another one");
        };
        assert_eq!(renamed, wanted);
        assert!(renaming.decision(&holds(2)).is_none());
    }
}
