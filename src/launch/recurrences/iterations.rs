//! Values and pointers as functions of the iterations of the loops around them.

use super::super::{HostBlockId, LaunchGraph, NodeId, Root, ValueId};
use crate::math::expression::Expression;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of the iterations of the host's loops, in mathematical integers.
///
/// The *counter* of a loop is the number of its current iteration: 0 whenever the loop is entered,
/// one more each time control comes back to its header. So an operation inside loops is a set of
/// statement instances, one for each vector of counters, outermost loop first. Expressions here
/// are over counters and other host values; these others need not be operands of a launch, so the
/// expressions say what relates two instances and cannot be evaluated in a guard. A leaf that is
/// no counter has equal values in two instances when they agree on the counters of its
/// [`super::super::HostValue::varies_in`] and of all loops around that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iterations {
    /// The counter of each loop, by the loop's index.
    pub counters: Vec<ValueId>,
    /// The domain of each loop, by the loop's index, where the loop is counted.
    pub domains: Vec<Option<LoopDomain>>,
    /// Values that vary in a loop, as far as they are functions of counters.
    pub values: BTreeMap<ValueId, Expression<ValueId>>,
    /// Where pointers that vary in a loop point, by the value of the pointer.
    pub courses: BTreeMap<ValueId, Course>,
    /// For copies, sets, frees and library calls in loops, the values of the pointers that they
    /// touch memory through (what is read first, then what is written): the keys of their courses.
    /// `None` for a pointer that does not vary.
    #[serde(default)]
    pub touched: BTreeMap<NodeId, Vec<Option<ValueId>>>,
}

/// How often a counted loop may go round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopDomain {
    /// The block whose end tests the count, once in every iteration that comes to its end.
    pub test: HostBlockId,
    /// In so many iterations, the first ones, the test lets the loop go on; at least 0. It may
    /// have the counters of enclosing loops in it (a triangular domain).
    pub passes: Expression<ValueId>,
    /// The test is the only way out of the loop; else the loop may end before.
    pub exact: bool,
}

/// Where a pointer points in each iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// The loop whose counter picks among the places: `places[counter % places.len()]`. `None`
    /// when there is one place.
    pub turns_in: Option<usize>,
    /// At least one place; several where pointers change places in every iteration.
    pub places: Vec<Place>,
}

/// A root and a distance from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// What it points into. A buffer that is allocated inside a loop is another allocation in
    /// each iteration of that loop.
    pub root: Root,
    /// Byte offset from the root's start.
    pub offset_bytes: Expression<ValueId>,
}

impl LaunchGraph {
    /// The loops around a block, outermost first.
    pub fn loops_around(&self, block: HostBlockId) -> Vec<usize> {
        let mut around = Vec::new();
        let mut at = self.blocks[block.0].innermost_loop;
        while let Some(index) = at {
            around.push(index);
            at = self.loops[index].parent;
        }
        around.reverse();
        around
    }

    /// A bound that the counter of loop `index` stays below whenever control is in `block` of that
    /// loop; `None` where the loop is not counted.
    pub fn counter_bound(&self, index: usize, block: HostBlockId) -> Option<Expression<ValueId>> {
        let domain = self.iterations.domains.get(index)?.as_ref()?;
        let mut above = self.blocks[block.0].immediate_dominator;
        while let Some(dominator) = above {
            if dominator == domain.test {
                return Some(domain.passes.clone());
            }
            above = self.blocks[dominator.0].immediate_dominator;
        }
        Some(domain.passes.clone().add(Expression::Constant(1)))
    }
}
