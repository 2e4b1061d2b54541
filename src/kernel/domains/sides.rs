//! Branches that send whole thread blocks one way, and what stands on their sides.
//!
//! Invariant: threads of one thread block do not stand on two sides of such a branch, at whatever time: it is
//! met once by each thread, and all that meet it find the same condition.

use super::super::body::{BlockRef, Body};
use super::super::cfg::Flow;
use super::super::uniformity::Uniformity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One side of a branch: which of its targets, by which every way to a statement leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Side {
    /// The basic block that ends in the branch.
    pub branch: usize,
    /// The number of the target.
    pub target: usize,
}

impl Side {
    /// Whether no block comes both here and there.
    pub fn excludes(self, other: Self) -> bool {
        self.branch == other.branch && self.target != other.target
    }
}

/// The sides on which a basic block stands.
pub fn sides_of(
    body: &Body,
    flow: &Flow,
    uniformity: &Uniformity,
    block: BlockRef,
) -> BTreeSet<Side> {
    let mut sides = BTreeSet::new();
    if flow.irreducible {
        return sides;
    }
    for branch in flow.order.iter().filter(|at| flow.dominates(**at, block)) {
        let targets = body.block(*branch).terminator.successors();
        let whole = !uniformity.divergent_branches.contains(branch);
        // In a loop the next iteration may go another way.
        if targets.len() < 2 || !whole || flow.innermost[branch.0].is_some() {
            continue;
        }
        let led_to = |target: &&BlockRef| {
            let mut others = flow.predecessors[target.0]
                .iter()
                .filter(|from| *from != branch);
            let once = targets.iter().filter(|other| other == target).count() == 1;
            once && flow.dominates(**target, block)
                && others.all(|from| flow.dominates(**target, *from))
        };
        if let Some(target) = targets.iter().find(led_to)
            && let Some(number) = targets.iter().position(|other| other == target)
        {
            sides.insert(Side {
                branch: branch.0,
                target: number,
            });
        }
    }
    sides
}
