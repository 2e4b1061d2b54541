//! Two accesses of a group's members: whether they touch common memory at all, and how far their places are apart.
//!
//! Invariant: two pointers lead to memory that is apart only where the launch graph tells, or where guards compare ranges that hold all
//! that the members may touch behind them.

use super::super::Refusal;
use super::super::conflict::{Positions, Separation, one_never_happens};
use super::super::device::GroupCheck;
use super::super::formula::Formula;
use super::super::member::Member;
use super::super::place::{Overlap, Place, Values};
use super::super::polynomial::{Polynomial, normal_form};
use crate::dependence::PointerRange;
use crate::kernel::{Access, Target};
use crate::launch::{LaunchGraph, Operand, ValueId};

impl GroupCheck<'_> {
    /// How many bytes the places of two accesses are apart; `None` where they never touch a common byte.
    ///
    /// # Errors
    /// Where that is not known.
    pub(in crate::verify) fn met(
        &self,
        [(source, first), (sink, second)]: [(&Member<'_>, &Access); 2],
    ) -> Result<Option<Polynomial>, Refusal> {
        let what = || format!("{} and {}", first.location, second.location);
        let (one, two) = (source.launch.id, sink.launch.id);
        let pair = [(source, first), (sink, second)];
        let places = (&source.places[first.id.0], &sink.places[second.id.0]);
        if places.0.is_constant_memory(self.graph) || places.1.is_constant_memory(self.graph) {
            return Ok(None);
        }
        let difference = match places.0.overlap_in_one_iteration(places.1) {
            Overlap::Disjoint => return Ok(None),
            Overlap::Unknown { .. } if self.disjoint(&self.ranges, pair) => return Ok(None),
            // Where they are not equal they are disjoint, and nothing has to be kept in order.
            Overlap::Unknown { .. } if self.disjoint(&self.equal_or_disjoint, pair) => {
                Polynomial::default()
            }
            Overlap::Unknown { same_buffer: true } => {
                return Err(Refusal::UnprovenIndex {
                    first: one,
                    second: two,
                    what: what(),
                });
            }
            Overlap::Unknown { same_buffer: false } => {
                return Err(Refusal::MayAlias {
                    first: one,
                    second: two,
                    what: what(),
                });
            }
            Overlap::SameBase(difference) => difference,
        };
        let footprints = pair.map(|(member, access)| member.footprint(self.values, &access.target));
        if self.disjoint(&self.ranges, pair) || constantly_disjoint(&difference, &footprints) {
            return Ok(None);
        }
        if first.subscript.is_none() || second.subscript.is_none() {
            if one_never_happens(self.assumptions, (source, first), (sink, second)) {
                return Ok(None);
            }
            return Err(Refusal::UnprovenIndex {
                first: one,
                second: two,
                what: what(),
            });
        }
        Ok(Some(difference))
    }

    /// Whether instances of two accesses that are apart in a way may touch a common byte.
    pub(in crate::verify) fn meet(
        &self,
        ((source, first), (sink, second)): ((&Member<'_>, &Access), (&Member<'_>, &Access)),
        [source_number, sink_number]: [usize; 2],
        difference: &Polynomial,
        how: (Separation, &Positions),
    ) -> bool {
        let never = self.answers.borrow_mut().never_meet(
            (self.assumptions, self.assumed),
            (source, first, source_number),
            (sink, second, sink_number),
            difference,
            how,
        );
        never != Some(true)
    }

    /// Some of the compared ranges are what the two accesses' targets may touch.
    fn disjoint(
        &self,
        ranges: &[(TestedRange, TestedRange)],
        [(source, first), (sink, second)]: [(&Member<'_>, &Access); 2],
    ) -> bool {
        let one = &source.places[first.id.0].value;
        let two = &sink.places[second.id.0].value;
        let (Some(one), Some(two)) = (one, two) else {
            return false;
        };
        let covers = |left: &TestedRange, right: &TestedRange| {
            left.pointer == *one
                && right.pointer == *two
                && self.covers(left, source, first)
                && self.covers(right, sink, second)
        };
        let mut ranges = ranges.iter();
        ranges.any(|(left, right)| covers(left, right) || covers(right, left))
    }

    /// The range holds all that the member may touch through the access's target.
    fn covers(&self, range: &TestedRange, member: &Member<'_>, access: &Access) -> bool {
        let Some((low, high)) = member.footprint(self.values, &access.target) else {
            return false;
        };
        let within = |a: &Polynomial, b: &Polynomial| {
            let formula = Formula::less_equal(a, b);
            formula.is_some_and(|formula| self.assumptions.imply(&formula))
        };
        within(&range.low, &low) && within(&high, &range.high)
    }
}

/// Bytes behind a pointer that a guard compares with others.
pub(in crate::verify) struct TestedRange {
    /// The pointer's own value.
    pointer: Polynomial,
    low: Polynomial,
    high: Polynomial,
}

impl TestedRange {
    /// A range may be told by another member than the one that touches it, if it got the same
    /// pointer.
    pub(in crate::verify) fn new(
        graph: &LaunchGraph,
        values: &Values<'_>,
        members: &[Member<'_>],
        range: &PointerRange,
    ) -> Option<Self> {
        let Operand::Argument {
            argument,
            offset_bytes,
            bits: 64,
            ..
        } = range.operand
        else {
            return None;
        };
        let target = Target::Argument {
            argument,
            offset_bytes,
        };
        let mut members = members.iter();
        let teller = members.find(|other| other.launch.id == range.launch)?;
        let resolve = &mut |value: &ValueId| Some(values.resolve(*value));
        Some(Self {
            pointer: Place::of_target(graph, values, teller.launch, &target).value?,
            low: normal_form(&range.low_bytes, resolve)?,
            high: normal_form(&range.high_bytes, resolve)?,
        })
    }
}

/// Whether what two targets' accesses may touch is disjoint whatever the values are. That the models
/// hold, and their footprints with them, is a check of its own.
fn constantly_disjoint(
    difference: &Polynomial,
    footprints: &[Option<(Polynomial, Polynomial)>; 2],
) -> bool {
    let [Some((low, high)), Some((other_low, other_high))] = footprints else {
        return false;
    };
    let below = |high: Option<Polynomial>, low: Option<Polynomial>| {
        let gap = high.zip(low).and_then(|(high, low)| low.subtract(&high));
        gap.and_then(|gap| gap.as_constant())
            .is_some_and(|gap| gap >= 0)
    };
    below(high.add(difference), Some(other_low.clone()))
        || below(Some(other_high.clone()), low.add(difference))
}
