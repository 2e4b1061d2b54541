//! Host values that a run shows, and what conditions over them say.
//!
//! A launch shows its shape, its dynamic shared memory and the bytes of its arguments; the graph says which of
//! these are which value. A value that two launches show differently is known in neither's company.

use crate::history::LaunchSeen;
use serde::Deserialize;
use sirius_rs::dependence::{Guard, PointerRange};
use sirius_rs::launch::{
    ArgumentPiece, HostBlock, HostFunction, HostLoop, HostValue, Launch, NodeId, Operand, ValueId,
};
use sirius_rs::math::expression::{Condition, Expression};
use std::collections::{BTreeMap, BTreeSet};

/// Launches and values of the static graph: the second part of the `dependence` dump.
#[derive(Clone, Default, Deserialize)]
pub struct Operands {
    pub launches: Vec<(NodeId, Launch)>,
    pub values: Vec<HostValue>,
    #[serde(default)]
    functions: Vec<HostFunction>,
    #[serde(default)]
    blocks: Vec<HostBlock>,
    #[serde(default)]
    loops: Vec<HostLoop>,
}

/// What is known of host values, by value.
pub type Values = BTreeMap<ValueId, i64>;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// The run does not show one of its leaves.
    Unknown,
    /// It leaves 64 bits, or divides by what is not positive: a guard with it fails.
    Fails,
}

impl Operands {
    /// Whether control flow says that a launch has been issued when a later operation runs, whatever it
    /// was to be one with: it is not on every way there, and no loop or call brings them again. Worked out
    /// from the immediate dominators, one by one.
    pub fn is_issued_before(&self, earlier: u64, later: u64) -> bool {
        let block_of = |node: u64| {
            let node = NodeId(node as usize);
            let mut blocks = self.blocks.iter();
            blocks.position(|block| block.nodes.contains(&node))
        };
        let (Some(first), Some(second)) = (block_of(earlier), block_of(later)) else {
            return false;
        };
        let loops_around = |block: usize| {
            let mut around = Vec::new();
            let mut next = self.blocks[block].innermost_loop;
            while let Some(index) = next {
                around.push(index);
                next = self.loops[index].parent;
            }
            around
        };
        let mut above = Some(second);
        while let Some(block) = above {
            if block == first {
                return false;
            }
            above = self.blocks[block].immediate_dominator.map(|above| above.0);
        }
        let around = loops_around(second);
        !self.functions[self.blocks[first].function].repeated
            && self.blocks[first].function == self.blocks[second].function
            && loops_around(first)
                .iter()
                .all(|index| !around.contains(index))
    }

    pub fn launch(&self, site: u32) -> Option<&Launch> {
        let mut launches = self.launches.iter().map(|(_, launch)| launch);
        launches.find(|launch| launch.id.0 == site)
    }

    /// Each value that a launch of the run shows.
    fn shown(&self, seen: &LaunchSeen) -> Vec<(ValueId, i64)> {
        let Some(launch) = self.launch(seen.site) else {
            return Vec::new();
        };
        let names = launch.grid.iter().chain(&launch.block);
        let extents = seen.grid.iter().chain(&seen.block);
        let mut shown: Vec<_> = names
            .zip(extents)
            .map(|(name, extent)| (*name, i64::from(*extent)))
            .chain([(launch.shared_bytes, i64::from(seen.shared_bytes))])
            .collect();
        for (argument, bytes) in launch.arguments.iter().zip(&seen.arguments) {
            for piece in &argument.pieces {
                shown.extend(piece_of(bytes, piece).map(|value| (piece.value, value)));
            }
        }
        shown
    }

    /// What two launches show together, and what no launch of the run contradicts.
    pub fn of_pair(&self, whole_run: &Values, a: &LaunchSeen, b: &LaunchSeen) -> Values {
        let mut values = whole_run.clone();
        let mut local = Values::new();
        let mut differing = BTreeSet::new();
        for (name, value) in self.shown(a).into_iter().chain(self.shown(b)) {
            if *local.entry(name).or_insert(value) != value {
                differing.insert(name);
            }
        }
        values.extend(local);
        values.retain(|name, _| !differing.contains(name));
        values
    }

    /// Values that are computed once and that all launches of a run that show them show alike.
    pub fn of_run<'a>(&self, launches: impl IntoIterator<Item = &'a LaunchSeen>) -> Values {
        let mut values = Values::new();
        let mut differing = BTreeSet::new();
        for (name, value) in launches.into_iter().flat_map(|seen| self.shown(seen)) {
            let varies = self
                .values
                .get(name.0)
                .is_none_or(|it| it.varies_in.is_some());
            if varies || *values.entry(name).or_insert(value) != value {
                differing.insert(name);
            }
        }
        values.retain(|name, _| !differing.contains(name));
        values
    }

    /// Constants of the graph that a launch shows to be something else, in words.
    pub fn wrong_constants(&self, seen: &LaunchSeen) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, value) in self.shown(seen) {
            let Some(constant) = self.values.get(name.0).and_then(|known| known.constant) else {
                continue;
            };
            // Both readings of an argument, signed and unsigned, are the same 32 bits.
            let same = constant == value || (constant as i32) as i64 == value;
            if !same {
                wrong.push(format!("v{} is {value}, not {constant}", name.0));
            }
        }
        wrong
    }

    /// Whether the guard holds; `None` where the run does not show it.
    pub fn holds(&self, guard: &Guard, values: &Values, pair: [&LaunchSeen; 2]) -> Option<bool> {
        match guard {
            Guard::Holds { condition, .. } => condition_holds(condition, values),
            Guard::RangesDisjoint { left, right } => {
                let left = self.range(left, values, pair);
                let right = self.range(right, values, pair);
                match (left, right) {
                    (Ok((low, high)), Ok((other_low, other_high))) => {
                        Some(high <= other_low || other_high <= low)
                    }
                    (Err(NoValue::Fails), _) | (_, Err(NoValue::Fails)) => Some(false),
                    _ => None,
                }
            }
            Guard::SameOrDisjoint { left, right } => {
                let disjoint = Guard::RangesDisjoint {
                    left: left.clone(),
                    right: right.clone(),
                };
                let pointer = |range: &PointerRange| {
                    let start = PointerRange {
                        low_bytes: Expression::Constant(0),
                        high_bytes: Expression::Constant(0),
                        ..range.clone()
                    };
                    let place = self.range(&start, values, pair);
                    place.ok().map(|(address, _)| address)
                };
                match (pointer(left), pointer(right)) {
                    (Some(left), Some(right)) if left == right => Some(true),
                    _ => self.holds(&disjoint, values, pair),
                }
            }
            // What is not valid does not run.
            Guard::ConfigurationValid { .. }
            | Guard::NotCapturing { .. }
            | Guard::DeviceMemory { .. }
            | Guard::Resident { .. }
            | Guard::SameStream { .. } => Some(true),
        }
    }

    fn range(
        &self,
        range: &PointerRange,
        values: &Values,
        pair: [&LaunchSeen; 2],
    ) -> Result<(i64, i64), NoValue> {
        let seen = pair.iter().find(|seen| seen.site == range.launch.0);
        let Operand::Argument {
            argument,
            offset_bytes,
            bits,
            ..
        } = range.operand
        else {
            return Err(NoValue::Unknown);
        };
        // Two launches of one site have two pointers, and the guard means one of them.
        if pair[0].site == pair[1].site && pair[0].arguments != pair[1].arguments {
            return Err(NoValue::Unknown);
        }
        let base = seen
            .and_then(|seen| seen.arguments.get(argument))
            .and_then(|bytes| integer(bytes, offset_bytes, bits))
            .ok_or(NoValue::Unknown)?;
        let at = |offset: &Expression<ValueId>| {
            let offset = evaluate(offset, &|leaf| values.get(leaf).copied())?;
            base.checked_add(offset).ok_or(NoValue::Fails)
        };
        Ok((at(&range.low_bytes)?, at(&range.high_bytes)?))
    }
}

fn piece_of(bytes: &[u8], piece: &ArgumentPiece) -> Option<i64> {
    integer(bytes, piece.offset_bytes, piece.bits)
}

/// The sign-extended integer of so many bits at an offset.
fn integer(bytes: &[u8], offset_bytes: u32, bits: u32) -> Option<i64> {
    let from = usize::try_from(offset_bytes).ok()?;
    let length = usize::try_from(bits.div_ceil(8)).ok()?;
    let part = bytes.get(from..from.checked_add(length)?)?;
    if part.is_empty() || part.len() > 8 {
        return None;
    }
    let mut whole = [0; 8];
    whole[..length].copy_from_slice(part);
    let unused = 64 - bits;
    Some(i64::from_le_bytes(whole) << unused >> unused)
}

fn condition_holds(condition: &Condition<ValueId>, values: &Values) -> Option<bool> {
    let compare = |a, b, holds: fn(i64, i64) -> bool| {
        let value = |side| evaluate(side, &|leaf: &ValueId| values.get(leaf).copied());
        match (value(a), value(b)) {
            (Ok(a), Ok(b)) => Some(holds(a, b)),
            (Err(NoValue::Fails), _) | (_, Err(NoValue::Fails)) => Some(false),
            _ => None,
        }
    };
    let each = |parts: &[Condition<ValueId>]| -> Vec<Option<bool>> {
        parts
            .iter()
            .map(|part| condition_holds(part, values))
            .collect()
    };
    match condition {
        Condition::LessEqual(a, b) => compare(a, b, |a, b| a <= b),
        Condition::Equal(a, b) => compare(a, b, |a, b| a == b),
        Condition::All(parts) => {
            let parts = each(parts);
            let unknown = parts.contains(&None);
            (parts.contains(&Some(false)) || !unknown).then(|| !parts.contains(&Some(false)))
        }
        Condition::Any(parts) => {
            let parts = each(parts);
            let unknown = parts.contains(&None);
            (parts.contains(&Some(true)) || !unknown).then(|| parts.contains(&Some(true)))
        }
    }
}

/// The value of an expression, as a guard at run time computes it.
pub fn evaluate<L>(
    expression: &Expression<L>,
    leaf: &impl Fn(&L) -> Option<i64>,
) -> Result<i64, NoValue> {
    let both = |a: &Expression<L>, b: &Expression<L>| match (evaluate(a, leaf), evaluate(b, leaf)) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(NoValue::Fails), _) | (_, Err(NoValue::Fails)) => Err(NoValue::Fails),
        _ => Err(NoValue::Unknown),
    };
    let kept = |value: Option<i64>| value.ok_or(NoValue::Fails);
    match expression {
        Expression::Constant(value) => Ok(*value),
        Expression::Leaf(value) => leaf(value).ok_or(NoValue::Unknown),
        Expression::Add(a, b) => both(a, b).and_then(|(a, b)| kept(a.checked_add(b))),
        Expression::Subtract(a, b) => both(a, b).and_then(|(a, b)| kept(a.checked_sub(b))),
        Expression::Multiply(a, b) => both(a, b).and_then(|(a, b)| kept(a.checked_mul(b))),
        Expression::FloorDivide(a, b) => both(a, b).and_then(|(a, b)| match b {
            1.. => Ok(a.div_euclid(b)),
            _ => Err(NoValue::Fails),
        }),
        Expression::Minimum(a, b) => both(a, b).map(|(a, b)| a.min(b)),
        Expression::Maximum(a, b) => both(a, b).map(|(a, b)| a.max(b)),
    }
}
