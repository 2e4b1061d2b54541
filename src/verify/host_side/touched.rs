//! Memory that an operation touches, for launches that move past others.
//!
//! Invariant: nothing here relies on a test at run time. A moved launch passes what it passes whether
//! the guards of its group hold or not, so a range is given only where the model of the kernel holds
//! in every run in which CUDA accepts the launch.

use super::super::formula::Assumptions;
use super::super::member::Member;
use super::super::place::{Overlap, Place, Values};
use super::super::polynomial::{Atom, Polynomial, normal_form};
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{Launch, LaunchGraph, Pointer, Touch};

/// Memory that an operation touches.
#[derive(Clone)]
pub(in crate::verify) struct Touched {
    place: Place,
    pub(in crate::verify) writes: bool,
    /// First byte and one past the last, from the place; only where this holds in every run.
    range: Option<(Polynomial, Polynomial)>,
}

impl Touched {
    /// One side of a copy, a fill, or an argument of a library call.
    pub(in crate::verify) fn of_touch(
        graph: &LaunchGraph,
        values: &Values,
        touch: &Touch,
        writes: bool,
    ) -> Self {
        Self {
            place: Place::of_pointer(graph, values, &touch.pointer),
            writes,
            range: touch.bytes.as_ref().and_then(|bytes| {
                let bytes = normal_form(bytes, &mut |value| Some(values.resolve(*value)))?;
                Some((Polynomial::default(), bytes))
            }),
        }
    }

    /// All of an allocation.
    pub(in crate::verify) fn of_free(
        graph: &LaunchGraph,
        values: &Values,
        pointer: &Pointer,
    ) -> Self {
        Self {
            place: Place::of_pointer(graph, values, pointer),
            writes: true,
            range: None,
        }
    }

    /// What a launch touches outside shared memory.
    pub(in crate::verify) fn of_launch(
        graph: &LaunchGraph,
        launch: &Launch,
        model: &KernelModel,
    ) -> Vec<Self> {
        let values = Values::constants(graph);
        let member = Member::new(graph, &values, launch, model);
        // A launch that CUDA refuses touches nothing.
        let mut assumptions = Assumptions::default();
        member.assume_valid(&mut assumptions);
        let always = (0..model.preconditions.len()).all(|index| {
            let formula = member.precondition(&values, index);
            formula.is_some_and(|formula| assumptions.imply(&formula))
        });
        let mut targets: Vec<(&Target, bool)> = Vec::new();
        for access in &model.accesses {
            if matches!(access.target, Target::Shared(_) | Target::UnknownShared) {
                continue;
            }
            let entry = (&access.target, access.kind != AccessKind::Read);
            if !targets.contains(&entry) {
                targets.push(entry);
            }
        }
        let touched = |(target, writes)| Self {
            place: Place::of_target(graph, &values, launch, target),
            writes,
            range: match always {
                true => member.footprint(&values, target),
                false => None,
            },
        };
        targets.into_iter().map(touched).collect()
    }

    /// The two have no common byte, whatever happens at run time.
    /// `one_iteration`: both run in one iteration of every loop around either.
    pub(in crate::verify) fn is_disjoint_from(
        &self,
        graph: &LaunchGraph,
        other: &Self,
        one_iteration: bool,
    ) -> bool {
        let overlap = match one_iteration {
            true => self.place.overlap_in_one_iteration(&other.place),
            false => self.place.overlap(&other.place),
        };
        match overlap {
            Overlap::Disjoint => true,
            Overlap::Unknown { .. } => false,
            Overlap::SameBase(difference) => {
                let (Some((low, high)), Some((other_low, other_high))) =
                    (&self.range, &other.range)
                else {
                    return false;
                };
                // A value of a loop may be another one where the other operation stands.
                let lasting = |polynomial: &Polynomial| {
                    polynomial.products().flatten().all(|atom| match atom {
                        Atom::Value(value) => graph.values[value.0].varies_in.is_none(),
                        _ => false,
                    })
                };
                let below = |high: Option<Polynomial>, low: Option<Polynomial>| {
                    let gap = high.zip(low).and_then(|(high, low)| low.subtract(&high));
                    gap.and_then(|gap| gap.as_constant())
                        .is_some_and(|gap| gap >= 0)
                };
                [&difference, low, high, other_low, other_high]
                    .into_iter()
                    .all(lasting)
                    && (below(high.add(&difference), Some(other_low.clone()))
                        || below(Some(other_high.clone()), low.add(&difference)))
            }
        }
    }
}
