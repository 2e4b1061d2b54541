//! Members whose blocks are those of the fused launch in another arrangement: whether each of their
//! threads runs once, in whole blocks, and in which place of the fused launch that is.
//!
//! An arrangement is one-to-one between two boxes whose extents agree as it says: equal, equal with x and
//! y exchanged, or with equally many places. So a member's blocks are the fused launch's, each once,
//! and with them a barrier of the member is one of a block of the fused launch. Its threads meet
//! the same others in warps where threads keep their number; otherwise they may need nothing of their
//! block. Of the threads of a block, one warp may also be the first of a larger block: then the member's barriers are
//! that warp's, which all of its lanes must reach.
//!
//! Of a pair with such a member instances are compared by the places in the *fused* launch, which are written
//! here as functions of the member's own: exchanged, counted from the last, or, when one of both is
//! counted anew, both by their numbers.

use super::super::Refusal;
use super::super::conflict::{ConflictSet, Side};
use super::super::emptiness::{Sum, Symbol};
use super::super::formula::{Assumptions, Formula};
use super::super::member::Member;
use super::super::polynomial::Polynomial;
use super::super::remapped::{Part, needs_its_block, product_of};
use crate::math::affine::{Axis, Variable};
use crate::schedule::{Arrangement, FusionGroup, ThreadMap};
use std::collections::BTreeMap;

/// What is known of the fused launch of a group with rearranged members.
pub(in crate::verify) struct Rearranging {
    grid: [Polynomial; 3],
    block: [Polynomial; 3],
}

/// Where the blocks or the threads of a member are in the fused launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::verify) struct Arranged {
    arrangement: Arrangement,
    own: [Polynomial; 3],
    fused: [Polynomial; 3],
}

/// Where a member's blocks and threads are.
pub(in crate::verify) type ArrangedMember = [Arranged; 2];

impl Rearranging {
    /// `None` for groups without rearranged members.
    ///
    /// # Errors
    /// When the shape of the fused launch is not told by a member that has all of it.
    pub(in crate::verify) fn of(
        group: &FusionGroup,
        members: &[Member<'_>],
        is_operation: impl Fn(&Member<'_>) -> bool,
    ) -> Result<Option<Self>, Refusal> {
        let planned = || members.iter().zip(&group.members);
        if !planned().any(|(_, planned)| is_rearranged(&planned.map)) {
            return Ok(None);
        }
        let mut others = planned().filter(|(_, planned)| !is_rearranged(&planned.map));
        let stays = others.all(|(_, planned)| planned.map.keeps_indices());
        let whole = planned()
            .find(|(member, planned)| planned.map == ThreadMap::Identity && !is_operation(member));
        let moved =
            planned().any(|(member, planned)| is_rearranged(&planned.map) && is_operation(member));
        match whole.filter(|_| stays && !moved) {
            Some((leader, _)) => Ok(Some(Self {
                grid: std::array::from_fn(|axis| leader.extents[axis].clone()),
                block: std::array::from_fn(|axis| leader.extents[3 + axis].clone()),
            })),
            None => Err(Refusal::MixedMaps {
                first: members[0].launch.id,
            }),
        }
    }

    /// What speaks against the maps of rearranged members by themselves.
    pub(in crate::verify) fn refusals(
        &self,
        group: &FusionGroup,
        members: &[Member<'_>],
        assumptions: &Assumptions,
    ) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for (member, planned) in members.iter().zip(&group.members) {
            let ThreadMap::Rearranged { threads, .. } = planned.map else {
                continue;
            };
            let launch = member.launch.id;
            let refused = |what: String| Refusal::NotRearranged { launch, what };
            let [own_blocks, own_threads] = self.arranged(member, &planned.map);
            for (arranged, what) in [(own_blocks, "blocks"), (own_threads, "threads")] {
                let of_threads = what == "threads";
                if !arranged.is_one_to_one(of_threads, assumptions) {
                    let what = format!("perhaps other {what} than the fused launch");
                    refusals.push(refused(what));
                }
            }
            let moved = matches!(threads, Arrangement::Transposed | Arrangement::Reversed);
            if moved && let Some(what) = needs_its_block(member) {
                refusals.push(refused(what.to_owned()));
            }
        }
        if !self.threads_keep_their_places(group) {
            for member in members {
                for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
                    let single = member.extents[3 + axis].as_constant() == Some(1);
                    if !single && !member.model.distinguishes_threads[axis] {
                        refusals.push(Refusal::NotInStep {
                            first: members[0].launch.id,
                            second: member.launch.id,
                            axis: name,
                        });
                    }
                }
            }
        }
        refusals
    }

    /// Whether all threads have the indices that they have in their own launches.
    pub(in crate::verify) fn threads_keep_their_places(&self, group: &FusionGroup) -> bool {
        group.members.iter().all(|member| match member.map {
            ThreadMap::Rearranged { threads, .. } => threads == Arrangement::Same,
            _ => true,
        })
    }

    /// Where the places of two members are; `None` when both are compared by their own as well.
    pub(in crate::verify) fn of_pair(
        &self,
        members: [&Member<'_>; 2],
        maps: [&ThreadMap; 2],
    ) -> Option<[ArrangedMember; 2]> {
        let keep = maps.iter().all(|map| map.keeps_indices());
        let alike = maps[0] == maps[1] && members[0].extents == members[1].extents;
        (!keep && !alike).then(|| {
            let of = |at: usize| self.arranged(members[at], maps[at]);
            [of(0), of(1)]
        })
    }

    fn arranged(&self, member: &Member<'_>, map: &ThreadMap) -> ArrangedMember {
        let [blocks, threads] = match map {
            ThreadMap::Rearranged { blocks, threads } => [*blocks, *threads],
            _ => [Arrangement::Same; 2],
        };
        let own = |first: usize| std::array::from_fn(|axis| member.extents[first + axis].clone());
        let arranged = |arrangement, first, fused: &[Polynomial; 3]| Arranged {
            arrangement,
            own: own(first),
            fused: fused.clone(),
        };
        [
            arranged(blocks, 0, &self.grid),
            arranged(threads, 3, &self.block),
        ]
    }
}

/// Whether the member's blocks or threads are arranged anew.
pub(in crate::verify) fn is_rearranged(map: &ThreadMap) -> bool {
    matches!(map, ThreadMap::Rearranged { .. })
}

impl Arranged {
    fn is_one_to_one(&self, of_threads: bool, assumptions: &Assumptions) -> bool {
        let equal = |axes: [usize; 3]| {
            (0..3).all(|axis| assumptions.equal(&self.own[axis], &self.fused[axes[axis]]))
        };
        match self.arrangement {
            Arrangement::Same | Arrangement::Reversed => equal([0, 1, 2]),
            Arrangement::Transposed => equal([1, 0, 2]),
            Arrangement::Renumbered => {
                let most = Polynomial::constant(MOST_NUMBERS);
                let places = [&self.own, &self.fused].map(product);
                let [Some(own), Some(fused)] = places else {
                    return false;
                };
                let bound = Formula::less_equal(&fused, &most);
                assumptions.equal(&own, &fused)
                    && bound.is_some_and(|bound| assumptions.imply(&bound))
            }
            Arrangement::FirstWarp => {
                let has = |axis: usize, extent: i64| {
                    assumptions.equal(&self.own[axis], &Polynomial::constant(extent))
                };
                let warp = Polynomial::constant(WARP_THREADS);
                let fits = Formula::less_equal(&warp, &self.fused[0]);
                let is_warp = has(0, WARP_THREADS) && has(1, 1) && has(2, 1);
                of_threads && is_warp && fits.is_some_and(|fits| assumptions.imply(&fits))
            }
        }
    }

    /// The coordinates in the fused launch of a side's block or thread.
    fn coordinates(&self, set: &mut ConflictSet, side: &Side<'_>, kind: Kind) -> Option<[Sum; 3]> {
        let [x, y, z] = kind.coordinates(side);
        Some(match self.arrangement {
            Arrangement::Same | Arrangement::FirstWarp => [x, y, z],
            Arrangement::Transposed => [y, x, z],
            Arrangement::Reversed => {
                let extent = set.polynomial(&self.own[0]);
                [extent - Sum::number(1) - x, y, z]
            }
            Arrangement::Renumbered => return None,
        })
    }

    /// The number of a side's place, x fastest, which it has in the fused launch, too.
    fn number(
        &self,
        set: &mut ConflictSet,
        side: &mut Side<'_>,
        kind: Kind,
        assumptions: &Assumptions,
    ) -> Option<Sum> {
        let one = Polynomial::constant(1);
        let (extents, own_axes) = match self.arrangement {
            Arrangement::Renumbered => (&self.own, [0, 1, 2]),
            Arrangement::Transposed => (&self.fused, [1, 0, 2]),
            Arrangement::Same | Arrangement::Reversed => (&self.fused, [0, 1, 2]),
            // Its threads have the numbers of the first warp, whatever the block is.
            Arrangement::FirstWarp => return None,
        };
        let coordinates = match self.arrangement {
            Arrangement::Renumbered => kind.coordinates(side),
            _ => self.coordinates(set, side, kind)?,
        };
        let mut sum = Sum::number(0);
        let mut unit = Some(one.clone());
        for (axis, coordinate) in coordinates.into_iter().enumerate() {
            let extent = &extents[axis];
            if assumptions.equal(extent, &one) {
                continue;
            }
            let own = unit.take()?;
            match own.as_constant() {
                Some(constant) => sum = sum + coordinate * i128::from(constant),
                // Counted from the last it is no product of the model.
                None if self.arrangement == Arrangement::Reversed => return None,
                None => {
                    let variable = kind.variable(Axis::ALL[own_axes[axis]]);
                    let part = Part {
                        unit: own.clone(),
                        sum: BTreeMap::from([(variable, 1)]),
                    };
                    let index = product_of(side.member, &part, assumptions)?;
                    side.mention(index);
                    sum = sum + set.product(side, index);
                }
            }
            unit = own.multiply(extent);
        }
        Some(sum)
    }
}

/// The coordinates that two instances have equal when they are in one block, and those that they have equal
/// besides when they are in one thread, of each side; `None` where they cannot be told.
pub(in crate::verify) fn coordinates(
    set: &mut ConflictSet,
    sides: [&mut Side<'_>; 2],
    places: &[ArrangedMember; 2],
    assumptions: &Assumptions,
) -> Option<[Vec<[Sum; 2]>; 2]> {
    let [source, sink] = sides;
    let mut of = |at: usize, kind: Kind| {
        let [one, other] = [&places[0][at], &places[1][at]];
        let counted = [one, other]
            .iter()
            .any(|arranged| arranged.arrangement == Arrangement::Renumbered);
        if counted {
            let one = one.number(set, source, kind, assumptions)?;
            let other = other.number(set, sink, kind, assumptions)?;
            return Some(vec![[one, other]]);
        }
        let one = one.coordinates(set, source, kind)?;
        let other = other.coordinates(set, sink, kind)?;
        Some(
            one.into_iter()
                .zip(other)
                .map(|(one, other)| [one, other])
                .collect(),
        )
    };
    Some([of(0, Kind::Blocks)?, of(1, Kind::Threads)?])
}

/// What is arranged.
#[derive(Clone, Copy)]
enum Kind {
    Blocks,
    Threads,
}

impl Kind {
    fn variable(self, axis: Axis) -> Variable {
        match self {
            Self::Blocks => Variable::Block(axis),
            Self::Threads => Variable::Thread(axis),
        }
    }

    /// The place of a side in its own launch.
    fn coordinates(self, side: &Side<'_>) -> [Sum; 3] {
        let symbol = |axis| match self {
            Self::Blocks => Symbol::Block(side.instance, axis),
            Self::Threads => Symbol::Thread(side.instance, axis),
        };
        Axis::ALL.map(|axis| Sum::variable(symbol(axis)))
    }
}

fn product(extents: &[Polynomial; 3]) -> Option<Polynomial> {
    let mut extents = extents.iter();
    extents.try_fold(Polynomial::constant(1), |all, extent| all.multiply(extent))
}

/// Threads of a warp.
const WARP_THREADS: i64 = 32;
/// The most places of a box that are counted.
const MOST_NUMBERS: i64 = (1 << 31) - 1;
