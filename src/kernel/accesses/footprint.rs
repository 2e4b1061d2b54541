//! Accesses -> the bounds of what a kernel, or one of its blocks, touches behind each pointer: memory
//! effects summed bottom-up (paper §3), from threads over blocks to the kernel.

use super::super::polynomial::Polynomial;
use super::super::ranges::{Level, block_index, tight_at};
use super::super::space::Space;
use super::super::{Access, AccessKind, BlockEffect, BlockSymbol, Footprint, KernelSymbol, Target};
use super::columns::columns;
use crate::math::affine::{Affine, Axis};
use crate::math::expression::Expression;
use std::collections::BTreeMap;

/// Bounds for every argument and global that is accessed, in order of target.
pub fn footprints(space: &Space, accesses: &[Access]) -> Vec<Footprint> {
    let mut by_target: BTreeMap<&Target, Vec<&Access>> = BTreeMap::new();
    for access in accesses {
        if !matches!(access.target, Target::Shared(_) | Target::UnknownShared) {
            by_target.entry(&access.target).or_default().push(access);
        }
    }
    by_target
        .into_iter()
        .map(|(target, accesses)| Footprint {
            target: target.clone(),
            low_bytes: bound(Level::Kernel, space, &accesses, false),
            high_bytes: bound(Level::Kernel, space, &accesses, true),
            columns: columns(space, &accesses),
            written: accesses.iter().any(|each| each.kind != AccessKind::Read),
        })
        .collect()
}

/// What a block reads and what it writes, in order of target; shared memory is among it.
pub fn block_effects(space: &Space, accesses: &[Access]) -> Vec<BlockEffect> {
    let mut by_target: BTreeMap<(&Target, bool), Vec<&Access>> = BTreeMap::new();
    for access in accesses {
        let reads = access.kind != AccessKind::Write;
        let writes = access.kind != AccessKind::Read;
        for (does, write) in [(reads, false), (writes, true)] {
            if does {
                let list = by_target.entry((&access.target, write)).or_default();
                list.push(access);
            }
        }
    }
    let effect = |((target, writes), accesses): ((&Target, bool), Vec<&Access>)| BlockEffect {
        target: target.clone(),
        writes,
        accesses: accesses.iter().map(|access| access.id).collect(),
        low_bytes: bound(Level::Block, space, &accesses, false)
            .as_ref()
            .and_then(of_block),
        high_bytes: bound(Level::Block, space, &accesses, true)
            .as_ref()
            .and_then(of_block),
        exact: accesses.iter().all(|access| access.exact),
    };
    by_target.into_iter().map(effect).collect()
}

/// A bound that may mention the block's indices by name.
fn of_block(bound: &Expression<KernelSymbol>) -> Option<Expression<BlockSymbol>> {
    bound.substitute(&mut |symbol| {
        let mut axes = Axis::ALL.into_iter();
        let axis = axes.find(|axis| block_index(*axis) == *symbol);
        Some(Expression::Leaf(match axis {
            Some(axis) => BlockSymbol::Index(axis),
            None => BlockSymbol::Launch(symbol.clone()),
        }))
    })
}

/// The least (greatest) byte that accesses may touch, as an expression of the launch; none where it is not bounded.
pub(super) fn bound(
    level: Level,
    space: &Space,
    accesses: &[&Access],
    from_above: bool,
) -> Option<Expression<KernelSymbol>> {
    // Per disjunct the tightest bound, over all disjuncts the loosest.
    let mut loosest: Vec<Vec<Polynomial>> = Vec::new();
    for access in accesses {
        let subscript = access.subscript.as_ref()?;
        let edge = if from_above {
            subscript.add(&Affine::constant(access.size_bytes.into()))?
        } else {
            subscript.clone()
        };
        for facts in &access.domain {
            let bounds = tight_at(level, space, &edge, facts, from_above);
            if bounds.is_empty() {
                return None;
            }
            // Where one bound is looser whatever the launch, it stands for both; the rest is left to run time.
            if !loosest.contains(&bounds) {
                absorb(&mut loosest, bounds, from_above);
                if loosest.len() > MOST_BOUNDS {
                    return None;
                }
            }
        }
    }
    loosest
        .into_iter()
        .map(|bounds| {
            bounds.iter().map(Polynomial::expression).reduce(|a, b| {
                if from_above {
                    a.minimum(b)
                } else {
                    a.maximum(b)
                }
            })
        })
        .reduce(|a, b| {
            let (a, b) = (a?, b?);
            Some(if from_above {
                a.maximum(b)
            } else {
                a.minimum(b)
            })
        })?
}

/// Bounds of one target that no other makes superfluous. A launch that asks for more of them takes longer by that than it
/// gains; nothing is known of what the kernel touches then.
const MOST_BOUNDS: usize = 64;

/// Adds bounds unless others are looser in every launch.
fn absorb(loosest: &mut Vec<Vec<Polynomial>>, bounds: Vec<Polynomial>, from_above: bool) {
    let looser = |a: &[Polynomial], b: &[Polynomial]| {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                let difference = if from_above {
                    a.subtract(b)
                } else {
                    b.subtract(a)
                };
                difference.is_some_and(|difference| difference.is_never_negative())
            })
    };
    if loosest.iter().any(|known| looser(known, &bounds)) {
        return;
    }
    loosest.retain(|known| !looser(&bounds, known));
    if let [bound] = bounds.as_slice() {
        // One of the two that it lies between is at least as loose, whichever that is.
        let single =
            |known: &Vec<Polynomial>| matches!(known.as_slice(), [_]).then(|| known[0].clone());
        let singles: Vec<Polynomial> = loosest.iter().filter_map(single).collect();
        let mut pairs = singles
            .iter()
            .enumerate()
            .flat_map(|(place, one)| singles[place + 1..].iter().map(move |other| (one, other)));
        if pairs.any(|(one, other)| bound.is_between(one, other)) {
            return;
        }
        loosest.retain(|known| match known.as_slice() {
            [known] => !singles
                .iter()
                .any(|other| known != other && known.is_between(bound, other)),
            _ => true,
        });
    }
    loosest.push(bounds);
}
