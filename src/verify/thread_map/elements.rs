//! Members whose threads run in those of the fused launch that stand for the same elements of an array.
//!
//! The element of a thread has the positions of the thread along the array's axes, through all blocks, where each is
//! below the axis's extent; other threads stand for no element. The *number* of an element counts the first index
//! fastest, so that equal numbers are equal elements as long as indices are below the extents. A member whose own
//! axes are none is counted block after block, and its thread n stands for element n.
//!
//! Every element is one thread of the fused launch, and one of the member, where the extents are at most what there
//! are of positions along each axis. A thread of the member that stands for no element does not run: so it must write
//! nothing, and what it reads must not matter, as it does not where nothing but its writes comes of it. Of
//! a pair of members, no conflicting instances may be outside of the array, or have different numbers.

use super::super::Refusal;
use super::super::conflict::{ConflictSet, Side};
use super::super::emptiness::{Instance, Sum, Symbol, is_empty};
use super::super::formula::{Assumptions, Formula};
use super::super::member::Member;
use super::super::place::Values;
use super::super::polynomial::{Polynomial, normal_form};
use super::super::remapped::{Numbers, Part};
use crate::kernel::AccessKind;
use crate::math::affine::{Axis, Variable};
use crate::schedule::ThreadMap;
use std::collections::BTreeMap;

/// The array of a map, and the member's own axes.
struct Array<'a> {
    axes: &'a [Axis],
    extents: Vec<Polynomial>,
    own: &'a [Axis],
}

impl<'a> Array<'a> {
    /// `None` for other maps, and for arrays that make no sense.
    fn of(map: &'a ThreadMap, values: &Values<'_>) -> Option<Self> {
        let ThreadMap::Elements { axes, extents, own } = map else {
            return None;
        };
        let twice = |axes: &[Axis]| (1..axes.len()).any(|at| axes[..at].contains(&axes[at]));
        let as_many = own.is_empty() || own.len() == axes.len();
        if axes.is_empty() || axes.len() != extents.len() || !as_many || twice(axes) || twice(own) {
            return None;
        }
        let extents = extents
            .iter()
            .map(|extent| normal_form(extent, &mut |value| Some(values.resolve(*value))));
        Some(Self {
            axes,
            extents: extents.collect::<Option<_>>()?,
            own,
        })
    }

    /// How many elements there are.
    fn count(&self) -> Option<Polynomial> {
        let mut extents = self.extents.iter();
        extents.try_fold(Polynomial::constant(1), |all, extent| all.multiply(extent))
    }

    /// Its extents along some axes.
    fn along(&self, axes: &[Axis]) -> Vec<(Axis, Polynomial)> {
        axes.iter()
            .copied()
            .zip(self.extents.iter().cloned())
            .collect()
    }
}

/// What speaks against such a map of a member by itself, in a fused launch of this grid and block.
pub(in crate::verify) fn refusal(
    member: &Member<'_>,
    map: &ThreadMap,
    (grid, block): (&[Option<Polynomial>; 3], &[Polynomial; 3]),
    values: &Values<'_>,
    assumptions: &Assumptions,
) -> Option<Refusal> {
    let refused = |what: &str| {
        Some(Refusal::NotRemapped {
            launch: member.launch.id,
            what: what.to_owned(),
        })
    };
    let Some(array) = Array::of(map, values) else {
        return refused("an array that is none");
    };
    let at_most = |left: &Polynomial, right: &Polynomial| {
        Formula::less_equal(left, right).is_some_and(|bound| assumptions.imply(&bound))
    };
    let threads = |grid: Option<&Polynomial>, block: &Polynomial| grid?.multiply(block);
    let fit = |axes: &[Axis], of: &dyn Fn(usize) -> Option<Polynomial>| {
        let one = Polynomial::constant(1);
        let covered = axes.iter().zip(&array.extents).all(|(axis, extent)| {
            of(axis.index()).is_some_and(|threads| at_most(extent, &threads))
        });
        let mut others = Axis::ALL.into_iter().filter(|axis| !axes.contains(axis));
        covered
            && others.all(|axis| {
                of(axis.index()).is_some_and(|threads| assumptions.equal(&threads, &one))
            })
    };
    let fused = |axis: usize| threads(grid[axis].as_ref(), &block[axis]);
    let own = |axis: usize| threads(Some(&member.extents[axis]), &member.extents[3 + axis]);
    let zero = Polynomial::default();
    if !array.extents.iter().all(|extent| at_most(&zero, extent)) || !fit(array.axes, &fused) {
        return refused("more elements than threads of the fused launch");
    }
    let total = member.extents.iter();
    let mut total = total.map(Some);
    let total = total.try_fold(Polynomial::constant(1), |all, extent| all.multiply(extent?));
    let has_all = match array.own {
        [] => array
            .count()
            .zip(total)
            .is_some_and(|(count, total)| at_most(&count, &total)),
        axes => fit(axes, &own),
    };
    if !has_all {
        return refused("perhaps more elements than threads");
    }
    if !member.model.opaque.is_empty() {
        return refused("code that is not understood");
    }
    let writes = member.model.accesses.iter();
    let mut writes = writes.filter(|access| access.kind != AccessKind::Read);
    let inside = writes.all(|access| {
        let outside = |array: &Array<'_>| -> Option<bool> {
            let mut set = ConflictSet::default();
            let mut side = set.side(Instance::Source, member, access)?;
            let ways = match array.own {
                [] => {
                    let numbers = Numbers::counted(&member.extents);
                    let (number, _) = numbers.sum(&mut set, &mut side, assumptions)?;
                    let count = set.polynomial(&array.count()?);
                    vec![number.at_least(count)]
                }
                own => {
                    let numbers = Numbers::of_elements(&member.extents, array.along(own));
                    numbers.outside(&mut set, &mut side, assumptions)?
                }
            };
            set.products(&side)?;
            for way in ways {
                if !is_empty(set.points(assumptions, way))? {
                    return Some(true);
                }
            }
            Some(false)
        };
        outside(&array) == Some(false)
    });
    match inside {
        true => None,
        false => refused("writes by threads that are no elements of the array"),
    }
}

/// The numbers of the elements that the threads of two members stand for; `None` where these are not of one array.
pub(in crate::verify) fn numbers(
    members: [&Member<'_>; 2],
    maps: [&ThreadMap; 2],
    values: &Values<'_>,
    assumptions: &Assumptions,
) -> Option<[Numbers; 2]> {
    let arrays = maps.map(|map| Array::of(map, values));
    let array = arrays.iter().flatten().next()?;
    let same = arrays.iter().flatten().all(|other| {
        let mut extents = other.extents.iter().zip(&array.extents);
        other.axes == array.axes
            && other.extents.len() == array.extents.len()
            && extents.all(|(one, other)| assumptions.equal(one, other))
    });
    let numbers = |at: usize| {
        let extents = &members[at].extents;
        match (&arrays[at], maps[at]) {
            (Some(own), _) if own.own.is_empty() => Some(Numbers::counted(extents)),
            (Some(own), _) => Some(Numbers::of_elements(extents, own.along(own.own))),
            (None, ThreadMap::Identity) => {
                Some(Numbers::of_elements(extents, array.along(array.axes)))
            }
            _ => None,
        }
    };
    match same {
        true => Some([numbers(0)?, numbers(1)?]),
        false => None,
    }
}

/// The number of an element as a sum. Axes of one block or thread add nothing.
pub(in crate::verify) fn parts(
    array: &[(Axis, Polynomial)],
    grid: &[Option<Polynomial>; 3],
    block: &[Polynomial; 3],
) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut unit = Polynomial::constant(1);
    for (axis, extent) in array {
        let threads = &block[axis.index()];
        let blocks = grid[axis.index()].as_ref();
        let single_block = blocks.and_then(Polynomial::as_constant) == Some(1);
        let (thread, own) = (Variable::Thread(*axis), Variable::Block(*axis));
        match threads.as_constant() {
            Some(threads) => {
                let mut sum = BTreeMap::new();
                if !single_block {
                    sum.insert(own, threads);
                }
                if threads != 1 {
                    sum.insert(thread, 1);
                }
                parts.push(Part {
                    unit: unit.clone(),
                    sum,
                });
            }
            None => {
                let mut digits = vec![(thread, unit.clone())];
                if !single_block {
                    digits.push((own, unit.multiply(threads)?));
                }
                for (variable, unit) in digits {
                    parts.push(Part {
                        unit,
                        sum: BTreeMap::from([(variable, 1)]),
                    });
                }
            }
        }
        unit = unit.multiply(extent)?;
    }
    Some(parts)
}

/// The position of an instance along an axis.
pub(in crate::verify) fn position(
    set: &mut ConflictSet,
    side: &mut Side<'_>,
    axis: Axis,
    assumptions: &Assumptions,
) -> Option<Sum> {
    let thread = Sum::variable(Symbol::Thread(side.instance, axis));
    let block = Sum::variable(Symbol::Block(side.instance, axis));
    let threads = &side.member.extents[3 + axis.index()];
    if let Some(threads) = threads.as_constant() {
        return Some(thread + block * i128::from(threads));
    }
    if side.member.extents[axis.index()].as_constant() == Some(1) {
        return Some(thread);
    }
    let part = Part {
        unit: threads.clone(),
        sum: BTreeMap::from([(Variable::Block(axis), 1)]),
    };
    let product = super::super::remapped::product_of(side.member, &part, assumptions)?;
    side.mention(product);
    Some(thread + set.product(side, product))
}
