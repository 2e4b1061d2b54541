//! Accesses -> the uniform bounds of what a kernel touches behind each pointer.

use super::polynomial::Polynomial;
use super::ranges::{lower, upper};
use super::space::Space;
use super::{Access, AccessKind, Footprint, KernelSymbol, Target};
use crate::affine::Affine;
use crate::expression::Expression;
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
            low_bytes: bound(space, &accesses, false),
            high_bytes: bound(space, &accesses, true),
            written: accesses.iter().any(|each| each.kind != AccessKind::Read),
        })
        .collect()
}

fn bound(
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
            let mut bounds = if from_above {
                upper(space, &edge, facts)
            } else {
                lower(space, &edge, facts)
            };
            if bounds.is_empty() {
                return None;
            }
            // Constants of bounds that have the same symbols compare, the rest is left to run time.
            bounds.truncate(2);
            if !loosest.contains(&bounds) {
                absorb(&mut loosest, bounds, from_above);
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

/// Adds bounds unless others are looser in every launch.
fn absorb(loosest: &mut Vec<Vec<Polynomial>>, bounds: Vec<Polynomial>, from_above: bool) {
    let looser = |a: &[Polynomial], b: &[Polynomial]| {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                a.subtract(b)
                    .and_then(|difference| difference.as_constant())
                    .is_some_and(|d| if from_above { d >= 0 } else { d <= 0 })
            })
    };
    if loosest.iter().any(|known| looser(known, &bounds)) {
        return;
    }
    loosest.retain(|known| !looser(&bounds, known));
    loosest.push(bounds);
}
