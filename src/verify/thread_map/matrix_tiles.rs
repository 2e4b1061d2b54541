//! Members whose threads run in the blocks of the fused launch that work on the tiles of a matrix with their elements.
//!
//! Number n of such a member, counted block after block, is the element of row n / pitch and column n mod pitch, and runs in the block
//! whose tile has both. Tiles lie side by side from the first column on, up to the pitch at least, and one below the other from the first
//! row on; rows below the last tile are run by the blocks of the last tiles. So each number runs once. Columns of all tiles are fewer
//! than 2³¹, and there are at most so many more numbers than the tiles have that a tile's places have 32 bits.
//!
//! Of a pair of conflicting instances, one by such a number and one of a member that keeps its threads, both are in one block where
//! these hold, all of them asked of isl:
//! - The first touches the bytes of element n, as many as an element has, and no others.
//! - The second's subscript is a row times the pitch and a column, in bytes. The row is one of its block's tile, and all bytes from
//!   the column on are among those of the tile's columns, and below the pitch.
//!
//! For the second's bytes then lie in its row of the matrix, and in no other one's, so that a common byte is of equal rows, and of
//! one column of the tile. Rows below the last tile are no block's, and meet nothing.

use super::super::Refusal;
use super::super::conflict::{ConflictSet, Side, orders};
use super::super::emptiness::{Condition, Instance, Sum, Symbol, is_empty};
use super::super::formula::{Assumptions, Formula};
use super::super::member::Member;
use super::super::place::Values;
use super::super::polynomial::{Polynomial, normal_form};
use super::super::remapped::{MOST_NUMBERS, Numbers};
use crate::kernel::Access;
use crate::math::affine::{Affine, Axis, Variable};
use crate::schedule::ThreadMap;

/// The tiles of a map.
#[derive(PartialEq, Eq)]
struct Tiles {
    axes: [Axis; 2],
    extents: [i64; 2],
    pitch: Polynomial,
}

impl Tiles {
    /// `None` for other maps, and for tiles that make no sense.
    fn of(map: &ThreadMap, values: &Values<'_>) -> Option<Self> {
        let ThreadMap::Tiles {
            axes,
            extents,
            pitch,
        } = map
        else {
            return None;
        };
        let few = 1..=MOST_EXTENT;
        let sense = axes[0] != axes[1] && extents.iter().all(|extent| few.contains(extent));
        sense.then_some(Self {
            axes: *axes,
            extents: *extents,
            pitch: normal_form(pitch, &mut |value| Some(values.resolve(*value)))?,
        })
    }
}

/// Rows or columns of a tile, at most.
const MOST_EXTENT: i64 = 1 << 14;
/// So many numbers may be below the last tile.
const MOST_LEFT: i64 = 1 << 14;

/// What speaks against such a map of a member by itself, in a fused launch of this grid.
pub(in crate::verify) fn refusal(
    member: &Member<'_>,
    map: &ThreadMap,
    grid: &[Option<Polynomial>; 3],
    values: &Values<'_>,
    assumptions: &Assumptions,
) -> Option<Refusal> {
    let refused = |what: &str| {
        Some(Refusal::NotRemapped {
            launch: member.launch.id,
            what: what.to_owned(),
        })
    };
    let Some(tiles) = Tiles::of(map, values) else {
        return refused("tiles that are none");
    };
    let covered = || {
        let at_most = |left: &Polynomial, right: &Polynomial| {
            Formula::less_equal(left, right).is_some_and(|bound| assumptions.imply(&bound))
        };
        let one = Polynomial::constant(1);
        let along = |at: usize| {
            grid[tiles.axes[at].index()]
                .as_ref()?
                .scale(tiles.extents[at])
        };
        let (rows, columns) = (along(0)?, along(1)?);
        let numbers = rows.multiply(&tiles.pitch)?;
        let mut extents = member.extents.iter();
        let total = extents.try_fold(one.clone(), |all, extent| all.multiply(extent))?;
        let mut others = Axis::ALL
            .into_iter()
            .filter(|axis| !tiles.axes.contains(axis));
        let single = others.all(|axis| {
            let extent = grid[axis.index()].as_ref();
            extent.is_some_and(|extent| assumptions.equal(extent, &one))
        });
        let covered = single
            && at_most(&one, &tiles.pitch)
            && at_most(&tiles.pitch, &columns)
            && at_most(&columns, &Polynomial::constant(MOST_NUMBERS))
            && at_most(&total, &numbers.add(&Polynomial::constant(MOST_LEFT))?)
            && at_most(&numbers, &Polynomial::constant(MOST_NUMBERS));
        Some(covered)
    };
    match covered() {
        Some(true) => None,
        _ => refused("perhaps more threads than elements in tiles"),
    }
}

/// Whether two maps are by the same tiles, so that equal numbers run in one thread. `None` where neither is by tiles.
pub(in crate::verify) fn alike(
    maps: [&ThreadMap; 2],
    values: &Values<'_>,
    assumptions: &Assumptions,
) -> Option<bool> {
    match maps.map(|map| matches!(map, ThreadMap::Tiles { .. })) {
        [false, false] => None,
        [true, true] => Some(match maps.map(|map| Tiles::of(map, values)) {
            [Some(one), Some(other)] => {
                let places = one.axes == other.axes && one.extents == other.extents;
                places && assumptions.equal(&one.pitch, &other.pitch)
            }
            _ => false,
        }),
        _ => Some(false),
    }
}

/// Whether conflicting instances of two accesses, one of a member that is placed by tiles and one of a member that keeps its
/// threads, are in one block of the fused launch. Offset x of the first access is offset x + `difference` of the second.
pub(in crate::verify) fn meet_in_blocks(
    members: [&Member<'_>; 2],
    maps: [&ThreadMap; 2],
    accesses: [&Access; 2],
    difference: &Polynomial,
    (values, assumptions): (&Values<'_>, &Assumptions),
) -> bool {
    let inside = || {
        let (kept, counted) = match maps {
            [ThreadMap::Identity, ThreadMap::Tiles { .. }] => (0, 1),
            [ThreadMap::Tiles { .. }, ThreadMap::Identity] => (1, 0),
            _ => return None,
        };
        let tiles = Tiles::of(maps[counted], values)?;
        // What leads from the counted one's offsets to those of the kept one.
        let shift = match counted {
            0 => difference.clone(),
            _ => difference.scale(-1)?,
        };
        let (counted, kept) = (
            (members[counted], accesses[counted]),
            (members[kept], accesses[kept]),
        );
        let element = i64::from(counted.1.size_bytes);
        let own = touches_its_element(counted, &shift, assumptions)?;
        Some(own && stays_in_tile(kept, &tiles, element, assumptions)?)
    };
    inside() == Some(true)
}

/// Whether each thread touches the bytes of the element of its number.
fn touches_its_element(
    (member, access): (&Member<'_>, &Access),
    shift: &Polynomial,
    assumptions: &Assumptions,
) -> Option<bool> {
    let mut set = ConflictSet::default();
    let mut side = set.side(Instance::Source, member, access)?;
    let (number, _) = Numbers::counted(&member.extents).sum(&mut set, &mut side, assumptions)?;
    let byte = set.affine(&side, access.subscript.as_ref()?)? + set.polynomial(shift);
    set.products(&side)?;
    let element = number * i128::from(access.size_bytes);
    none(&set, assumptions, orders(&byte, &element))
}

/// Whether all that a block touches lies in its tile.
fn stays_in_tile(
    (member, access): (&Member<'_>, &Access),
    tiles: &Tiles,
    element: i64,
    assumptions: &Assumptions,
) -> Option<bool> {
    let mut set = ConflictSet::default();
    let mut side = set.side(Instance::Source, member, access)?;
    let pitch = tiles.pitch.scale(element)?;
    let mut split = Split {
        member,
        pitch: &pitch,
        row: Affine::constant(0),
        column: Affine::constant(0),
        uniform: Polynomial::default(),
    };
    split.add(access.subscript.as_ref()?, &Polynomial::constant(1))?;
    let (row, column) = split.finish()?;
    let row = sum(&mut set, &mut side, &row)?;
    let first = sum(&mut set, &mut side, &column)?;
    let end = first.clone() + i128::from(access.size_bytes);
    let pitch = set.polynomial(&pitch);
    set.products(&side)?;
    let [rows, columns] = tiles.extents;
    let width = columns.checked_mul(element)?;
    let begin = |at: usize, extent: i64| {
        let block = Symbol::Block(side.instance, tiles.axes[at]);
        Sum::variable(block) * i128::from(extent)
    };
    let (top, left) = (begin(0, rows), begin(1, width));
    let outside = [
        row.clone().below(top.clone()),
        row.at_least(top + i128::from(rows)),
        first.below(left.clone()),
        end.clone().above(left + i128::from(width)),
        end.above(pitch),
    ];
    none(&set, assumptions, outside)
}

/// Whether no points of a set are of any of these kinds.
fn none(
    set: &ConflictSet,
    assumptions: &Assumptions,
    kinds: impl IntoIterator<Item = Condition>,
) -> Option<bool> {
    for kind in kinds {
        if !is_empty(set.points(assumptions, kind))? {
            return Some(false);
        }
    }
    Some(true)
}

/// A sum of one side, whose products become known.
fn sum(set: &mut ConflictSet, side: &mut Side<'_>, affine: &Affine) -> Option<Sum> {
    side.mention_all(affine);
    set.affine(side, affine)
}

/// A subscript as a multiple of a pitch and the rest, both without products.
struct Split<'a> {
    member: &'a Member<'a>,
    pitch: &'a Polynomial,
    row: Affine,
    column: Affine,
    /// What all threads add.
    uniform: Polynomial,
}

impl Split<'_> {
    /// Adds an expression so many times. What is a multiple of the pitch counts for the row; `None` where the rest has coefficients
    /// that only a run knows.
    fn add(&mut self, affine: &Affine, times: &Polynomial) -> Option<()> {
        self.uniform = self.uniform.add(&times.scale(affine.constant)?)?;
        for (coefficient, variable) in &affine.terms {
            let times = times.scale(*coefficient)?;
            match variable {
                Variable::Product(index) => {
                    let product = self.member.model.products.get(*index)?;
                    let parameter = self.member.parameters.get(product.parameter)?;
                    self.add(&product.factor, &times.multiply(parameter)?)?;
                }
                Variable::Parameter(index) => {
                    let value = self.member.parameters.get(*index)?;
                    self.uniform = self.uniform.add(&times.multiply(value)?)?;
                }
                variable => {
                    let (rows, rest) = times.divide(self.pitch)?;
                    let variable = Affine::variable(variable.clone());
                    self.row = self.row.add(&variable.scale(rows.as_constant()?)?)?;
                    self.column = self.column.add(&variable.scale(rest.as_constant()?)?)?;
                }
            }
        }
        Some(())
    }

    /// The row and the column, once everything was added.
    fn finish(self) -> Option<(Affine, Affine)> {
        let numbers = [self.uniform.as_constant(), self.pitch.as_constant()];
        let (rows, rest) = match numbers {
            [Some(uniform), Some(pitch)] if pitch > 0 => {
                (uniform.div_euclid(pitch), uniform.rem_euclid(pitch))
            }
            _ => {
                let (rows, rest) = self.uniform.divide(self.pitch)?;
                (rows.as_constant()?, rest.as_constant()?)
            }
        };
        let row = self.row.add(&Affine::constant(rows))?;
        Some((row, self.column.add(&Affine::constant(rest))?))
    }
}
