//! Pairs of launches that are seen to be disjoint at once: all that both touch are known bytes of known
//! buffers.
//!
//! Invariant: of a pair that [`Boxes::disjoint`] is true for no edge is made by a closer look either, so
//! that this saves time and changes nothing.

use super::super::effect::Effect;
use super::super::instance::{Base, Instance, TargetUse};
use crate::launch::BufferId;

/// What operations touch, by node.
pub(in crate::dependence) struct Boxes {
    of: Vec<Option<Vec<Touched>>>,
}

/// Bytes of a buffer.
struct Touched {
    buffer: BufferId,
    low: i128,
    high: i128,
    writes: bool,
}

impl Boxes {
    /// Of all operations.
    pub(in crate::dependence) fn new(effects: &[Option<Effect<'_>>]) -> Self {
        let touched = |effect: &Option<Effect<'_>>| match effect {
            Some(Effect::Modelled(instance)) => known_bytes(instance),
            _ => None,
        };
        Self {
            of: effects.iter().map(touched).collect(),
        }
    }

    /// Whether two operations have no byte in common that one of them writes, in one iteration of all
    /// loops around them.
    pub(in crate::dependence) fn disjoint(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (&self.of[one], &self.of[other]) else {
            return false;
        };
        one.iter().all(|one| {
            other.iter().all(|other| {
                one.buffer != other.buffer
                    || !(one.writes || other.writes)
                    || one.high <= other.low
                    || other.high <= one.low
            })
        })
    }
}

/// What a launch touches; `None` when that is not known, or known under conditions only.
fn known_bytes(instance: &Instance) -> Option<Vec<Touched>> {
    if instance.broken.is_some() || !instance.conditions.is_empty() {
        return None;
    }
    instance.uses.iter().map(bytes_of).collect()
}

fn bytes_of(used: &TargetUse) -> Option<Touched> {
    let Base::Buffer(buffer) = used.place.base else {
        return None;
    };
    if used.place.may_point_to.as_deref() != Some(&[buffer]) {
        return None;
    }
    let offset = i128::from(used.place.offset.as_ref()?.as_constant()?);
    let (low, high) = used.range.as_ref()?;
    Some(Touched {
        buffer,
        low: offset + i128::from(low.as_constant()?),
        high: offset + i128::from(high.as_constant()?),
        writes: !used.writes.is_empty(),
    })
}
