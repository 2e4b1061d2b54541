//! Where an access points, and whether two places overlap.
//!
//! Invariant: [`Overlap::Disjoint`] is said only of places that share no byte while both are alive;
//! [`Overlap::SameBase`] only of places whose every common byte has offsets that differ as told.

pub(super) mod shared_rows;

use super::super::polynomial::{Atom, Polynomial, normal_form};
use crate::kernel::Target;
use crate::launch::{BufferId, Launch, LaunchGraph, MemoryKind, Pointer, Root, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// The values of host values: constants, and what guards make equal.
#[derive(Clone, Debug)]
pub(in crate::verify) struct Values<'a> {
    graph: &'a LaunchGraph,
    /// What was found equal to something else; goes before constants.
    known: BTreeMap<ValueId, Polynomial>,
    /// Those that guards prove not to be negative: signed and unsigned readings agree.
    non_negative: BTreeSet<ValueId>,
}

impl<'a> Values<'a> {
    /// Those that are constant in the launch graph.
    pub(in crate::verify) fn constants(graph: &'a LaunchGraph) -> Self {
        Self {
            graph,
            known: BTreeMap::new(),
            non_negative: BTreeSet::new(),
        }
    }

    /// Takes a value for at least zero.
    pub(in crate::verify) fn assume_non_negative(&mut self, value: ValueId) {
        self.non_negative.insert(value);
    }

    /// Whether the value is known to be at least zero.
    pub(in crate::verify) fn is_non_negative(&self, value: ValueId) -> bool {
        self.non_negative.contains(&value)
    }

    /// The value as a polynomial: a constant, the representative of those equal to it, or what it is a
    /// multiple of. What that is made of is resolved in turn, so that guards may come in any order.
    pub(in crate::verify) fn resolve(&self, value: ValueId) -> Polynomial {
        self.resolve_on(value, &mut Vec::new())
    }

    /// The same, on a way through `seen` values: one that is met again stands for itself.
    fn resolve_on(&self, value: ValueId, seen: &mut Vec<ValueId>) -> Polynomial {
        let Some(polynomial) = self.known.get(&value).filter(|_| !seen.contains(&value)) else {
            return match self.graph.values[value.0].constant {
                Some(constant) if !self.known.contains_key(&value) => {
                    Polynomial::constant(constant)
                }
                _ => Polynomial::atom(Atom::Value(value)),
            };
        };
        seen.push(value);
        let resolved = polynomial.substitute(&mut |value| self.resolve_on(value, seen));
        seen.pop();
        resolved.unwrap_or_else(|| polynomial.clone())
    }

    /// Takes two values, given as polynomials, for equal where one is a plain unknown and the other is, too,
    /// or a multiple of one thing.
    pub(in crate::verify) fn unite(&mut self, left: &Polynomial, right: &Polynomial) {
        let plain = |p: &Polynomial| p.as_constant().is_some() || single_value(p).is_some();
        // So many times the one are as many times the other only if the two are equal.
        let ((times, one), (as_often, other)) = (left.split_content(), right.split_content());
        if times == as_often && times > 1 {
            return self.unite(&one, &other);
        }
        // A multiple of other things, such as a quotient that leaves nothing over, or a product of two lengths.
        if let (Some(value), [(monomial, _)]) = (single_value(left), &terms_of(right)[..])
            && left != right
            && !monomial.is_empty()
            && !plain(right)
        {
            self.known.insert(value, right.clone());
            return;
        }
        if left == right || !plain(left) || !plain(right) {
            return;
        }
        match (single_value(left), single_value(right)) {
            (Some(value), _) => self.known.insert(value, right.clone()),
            (None, Some(value)) => self.known.insert(value, left.clone()),
            (None, None) => None,
        };
    }
}

/// A place that a kernel or a copy touches.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct Place {
    /// The pointer's own value; offsets count from it.
    pub(in crate::verify) value: Option<Polynomial>,
    /// What it points into.
    root: Option<RootIdentity>,
    /// How far the pointer is from the root's start.
    root_offset: Option<Polynomial>,
    /// The same as a function of the iterations of the loops around, where it varies with them.
    course: Option<Polynomial>,
    /// All allocations that it may point into; none for a null pointer.
    candidates: Option<Vec<BufferId>>,
    /// A device variable that the launch graph does not list.
    variable: Option<String>,
    /// No device variable is among the candidates.
    outside_variables: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RootIdentity {
    Buffer(BufferId),
    Value(Polynomial),
}

/// How two places lie to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::verify) enum Overlap {
    /// No common byte.
    Disjoint,
    /// Offset `x` in the first place is offset `x + difference` in the second.
    SameBase(Polynomial),
    /// Anything; true when both certainly lie in one buffer.
    Unknown { same_buffer: bool },
}

impl Place {
    /// The place of a kernel's target at a launch. Offsets count from the target's start.
    pub(in crate::verify) fn of_target(
        graph: &LaunchGraph,
        values: &Values<'_>,
        launch: &Launch,
        target: &Target,
    ) -> Self {
        match target {
            Target::Argument {
                argument,
                offset_bytes,
            } => {
                let Some(piece) = launch.pointer_piece(*argument, *offset_bytes) else {
                    return Self::default();
                };
                let mut place = match &piece.pointer {
                    Some(pointer) => Self::of_pointer(graph, values, pointer),
                    None => Self::default(),
                };
                place.value = Some(values.resolve(piece.value));
                place.course = place.course_of(graph, values, piece.value);
                place
            }
            Target::Global(name) => {
                let named = graph.buffers.iter().enumerate();
                let named: Vec<_> = named
                    .filter(|(_, buffer)| buffer.variable.as_ref() == Some(name))
                    .map(|(index, _)| BufferId(index))
                    .collect();
                match named.as_slice() {
                    [] => Self {
                        variable: Some(name.clone()),
                        ..Self::default()
                    },
                    [one] => Self {
                        root: Some(RootIdentity::Buffer(*one)),
                        root_offset: Some(Polynomial::default()),
                        candidates: Some(vec![*one]),
                        ..Self::default()
                    },
                    _ => Self {
                        candidates: Some(named),
                        ..Self::default()
                    },
                }
            }
            Target::Shared(_) | Target::Unknown | Target::UnknownShared => Self::default(),
        }
    }

    /// The place that a host-side pointer names.
    pub(in crate::verify) fn of_pointer(
        graph: &LaunchGraph,
        values: &Values<'_>,
        pointer: &Pointer,
    ) -> Self {
        let offset = pointer.offset_bytes.as_ref();
        let root_offset = offset
            .and_then(|offset| normal_form(offset, &mut |value| Some(values.resolve(*value))));
        let (root, candidates) = match &pointer.root {
            Root::Buffer(buffer) => (RootIdentity::Buffer(*buffer), Some(vec![*buffer])),
            Root::Value(value) => (
                RootIdentity::Value(values.resolve(*value)),
                pointer.may_point_to.clone(),
            ),
        };
        Self {
            value: None,
            course: None,
            root: Some(root),
            root_offset,
            outside_variables: candidates.as_ref().is_some_and(|candidates| {
                !candidates.is_empty()
                    && candidates
                        .iter()
                        .all(|buffer| graph.buffers[buffer.0].variable.is_none())
            }),
            candidates,
            variable: None,
        }
    }

    /// It is in a variable that no call made and that the launch graph does not list.
    pub(in crate::verify) fn is_own_variable(&self) -> bool {
        self.variable.is_some()
    }

    /// All allocations and listed variables that it may be in; `None` when it may be anywhere.
    pub(in crate::verify) fn candidates(&self) -> Option<&[BufferId]> {
        self.candidates.as_deref()
    }

    /// True when only `__constant__` variables are meant, which no kernel can write.
    pub(in crate::verify) fn is_constant_memory(&self, graph: &LaunchGraph) -> bool {
        self.candidates.as_ref().is_some_and(|candidates| {
            !candidates.is_empty()
                && candidates
                    .iter()
                    .all(|buffer| graph.buffers[buffer.0].memory == MemoryKind::Constant)
        })
    }

    /// Where a pointer that varies in a loop is from its root's start, by what varies in that loop
    /// and in those around it: equal in all operations of one iteration.
    fn course_of(
        &self,
        graph: &LaunchGraph,
        values: &Values<'_>,
        pointer: ValueId,
    ) -> Option<Polynomial> {
        let course = graph.iterations.courses.get(&pointer)?;
        let (None, [only]) = (course.turns_in, course.places.as_slice()) else {
            return None;
        };
        match (&only.root, &self.root) {
            (Root::Buffer(buffer), Some(RootIdentity::Buffer(own))) if buffer == own => {}
            _ => return None,
        }
        let mut around = Vec::new();
        let mut next = graph.values[pointer.0].varies_in;
        while let Some(index) = next.filter(|index| !around.contains(index)) {
            around.push(index);
            next = graph.loops[index].parent;
        }
        normal_form(&only.offset_bytes, &mut |value: &ValueId| {
            let varies = graph.values[value.0].varies_in;
            let alike = varies.is_none_or(|index| around.contains(&index));
            alike.then(|| values.resolve(*value))
        })
    }

    /// How the two lie to each other in one iteration of every loop around both, without any test at
    /// run time.
    pub(in crate::verify) fn overlap_in_one_iteration(&self, other: &Self) -> Overlap {
        let overlap = self.overlap(other);
        let Overlap::Unknown { same_buffer } = overlap else {
            return overlap;
        };
        let offset = |place: &Self| place.root_offset.clone().or_else(|| place.course.clone());
        let difference = match (offset(self), offset(other)) {
            (Some(left), Some(right)) if self.root.is_some() && self.root == other.root => {
                left.subtract(&right)
            }
            _ => None,
        };
        match difference.filter(|difference| difference.as_constant().is_some()) {
            Some(difference) => Overlap::SameBase(difference),
            None => Overlap::Unknown { same_buffer },
        }
    }

    /// A null pointer, through which a kernel that ends touches nothing.
    fn is_null(&self) -> bool {
        let value = self.value.as_ref().and_then(Polynomial::as_constant);
        value == Some(0) && self.candidates.as_ref().is_some_and(Vec::is_empty)
    }

    /// How the two lie to each other, without any test at run time.
    pub(in crate::verify) fn overlap(&self, other: &Self) -> Overlap {
        if self.is_null() || other.is_null() {
            return Overlap::Disjoint;
        }
        if let (Some(left), Some(right)) = (&self.value, &other.value)
            && left == right
        {
            return Overlap::SameBase(Polynomial::default());
        }
        if let (Some(left), Some(right)) = (&self.candidates, &other.candidates)
            && !left.iter().any(|buffer| right.contains(buffer))
        {
            return Overlap::Disjoint;
        }
        if let (Some(left), Some(right)) = (&self.variable, &other.variable) {
            return match left == right {
                true => Overlap::SameBase(Polynomial::default()),
                false => Overlap::Disjoint,
            };
        }
        if (self.variable.is_some() && other.outside_variables)
            || (self.outside_variables && other.variable.is_some())
        {
            return Overlap::Disjoint;
        }
        if self.root.is_none() || self.root != other.root {
            return Overlap::Unknown { same_buffer: false };
        }
        match (&self.root_offset, &other.root_offset) {
            (Some(left), Some(right)) => match left.subtract(right) {
                Some(difference) => Overlap::SameBase(difference),
                None => Overlap::Unknown { same_buffer: true },
            },
            _ => Overlap::Unknown { same_buffer: true },
        }
    }
}

fn terms_of(polynomial: &Polynomial) -> Vec<(&Vec<Atom>, &i128)> {
    polynomial.terms.iter().collect()
}

/// The host value that it is, and nothing else.
pub(in crate::verify) fn single_value(polynomial: &Polynomial) -> Option<ValueId> {
    let mut terms = polynomial.terms.iter();
    match (terms.next(), terms.next()) {
        (Some((monomial, 1)), None) => match monomial.as_slice() {
            [Atom::Value(value)] => Some(*value),
            _ => None,
        },
        _ => None,
    }
}
