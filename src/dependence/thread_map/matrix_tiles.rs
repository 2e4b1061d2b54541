//! Blocks that work on tiles of a matrix, beside threads that are counted by the elements of the same matrix, row
//! after row: a product whose blocks make squares of their result, and an elementwise kernel behind it (paper §3.4).
//!
//! A subscript of the first is split into a multiple of the matrix's pitch, its row, and the rest, its column. Where the row is in
//! the tile's rows, the column in the tile's columns, and the column below the pitch, the element's number
//! tells the tile: no other row and column of one matrix make the same number.
//!
//! Invariant: a tiling is kept only where isl proves, for every pair of accesses of the edge, that each conflicting instance of the
//! tiled end stays in its block's tile, and where the other end's subscript is the number of its thread by its form.

use super::super::arrays::Within;
use super::super::mapped::{
    Coordinate, Terms, divided, expand, host_expression, linear_place, push_condition,
};
use super::super::pair::PairOfTargets;
use super::super::polynomial::{Monomial, Polynomial};
use super::super::relation::{Agreement, Side, Solver};
use super::super::{Guard, Scope};
use crate::kernel::{Access, KernelModel};
use crate::launch::ValueId;
use crate::math::affine::{Affine, Axis, Variable, greatest_common_divisor};
use crate::math::expression::{Condition, Expression};
use serde::{Deserialize, Serialize};

/// Which tile of a matrix each block of one end of an edge keeps to, where thread n of the other end, counted block after block, keeps
/// to element n.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tiling {
    /// Whether the source's blocks keep to tiles; else the sink's do.
    pub of_source: bool,
    /// The axis of the grid along which tiles follow each other from row to row, and that from column to column.
    pub axes: [Axis; 2],
    /// How many rows and columns of elements a tile has.
    pub extents: [i64; 2],
    /// How many elements lie between the beginnings of rows that follow each other.
    pub pitch: Expression<ValueId>,
    /// What that relies on.
    pub conditions: Vec<Guard>,
}

/// A tile, in bytes.
#[derive(Clone, PartialEq, Eq)]
struct Tile {
    axes: [Axis; 2],
    rows: i64,
    width_bytes: i64,
    pitch_bytes: Polynomial,
}

/// Where an access is in the matrix.
struct Split {
    row: Affine,
    /// In bytes, from the beginning of the row.
    column: Affine,
}

/// Most pairs of accesses for which a tiling is sought.
const MOST_PAIRS: usize = 64;
/// Most distances of rows that are tried where numbers do not tell which one is meant.
const MOST_PITCHES: usize = 4;

/// The tiling by which all conflicting pairs of the accesses meet in one block.
pub(in crate::dependence) fn tiling(
    pair: &PairOfTargets,
    solver: &mut Solver,
    (left, right): (&[usize], &[usize]),
    identity: Scope,
) -> Option<Tiling> {
    if identity != Scope::Global || left.len() * right.len() > MOST_PAIRS {
        return None;
    }
    [0, 1].into_iter().find_map(|tiled| {
        let ends = Ends {
            pair,
            accesses: [left, right],
            tiled,
        };
        ends.tiling(solver)
    })
}

/// The accesses of an edge's ends, of which one may keep to tiles.
struct Ends<'a, 'b> {
    pair: &'a PairOfTargets<'b>,
    accesses: [&'a [usize]; 2],
    /// 0: the source.
    tiled: usize,
}

impl<'a> Ends<'a, '_> {
    fn tiling(&self, solver: &mut Solver) -> Option<Tiling> {
        let element = self.element()?;
        let side = self.side(self.tiled, self.of(self.tiled).next()?);
        let (tile, overhangs) = tiles_of(&side)?.into_iter().find_map(|tile| {
            let overhangs = self.overhangs(solver, &tile)?;
            (tile.width_bytes % element == 0).then_some((tile, overhangs))
        })?;
        let pitch = host_expression(&divided(&tile.pitch_bytes, element)?)?;
        let mut conditions = self.pair.conditions.to_vec();
        push_condition(
            &mut conditions,
            Condition::LessEqual(Expression::Constant(1), pitch.clone()),
        );
        let columns = tile.width_bytes / element;
        if overhangs {
            // Whole tiles side by side, none beyond the pitch.
            let blocks = &side.shape.grid[tile.axes[1].index()];
            let wide = host_expression(&blocks.scale(columns)?)?;
            push_condition(&mut conditions, Condition::LessEqual(wide, pitch.clone()));
        }
        Some(Tiling {
            of_source: self.tiled == 0,
            axes: tile.axes,
            extents: [tile.rows, columns],
            pitch,
            conditions,
        })
    }

    fn of(&self, at: usize) -> impl Iterator<Item = &'a Access> {
        let model = [self.pair.source, self.pair.sink][at].model;
        let indices = self.accesses[at].iter();
        indices.map(move |index| &model.accesses[*index])
    }

    fn side<'c>(&'c self, at: usize, access: &'c Access) -> Side<'c> {
        let pair = self.pair;
        Side {
            model: [pair.source, pair.sink][at].model,
            access,
            parameters: [pair.source_parameters, pair.sink_parameters][at],
            shape: [&pair.source.shape, pair.sink_shape][at],
        }
    }

    /// How many bytes an element has that a thread of the counted end keeps to.
    fn element(&self) -> Option<i64> {
        let counted = 1 - self.tiled;
        // Both ends count bytes from where the tiled one does.
        let distance = match counted {
            0 => self.pair.distance.clone(),
            _ => self.pair.distance.scale(-1)?,
        };
        let mut element = None;
        for access in self.of(counted) {
            let step = step_of_numbers(&self.side(counted, access), &distance)?;
            let fits = i64::from(access.size_bytes) == step;
            if !fits || element.replace(step).is_some_and(|other| other != step) {
                return None;
            }
        }
        element
    }

    /// Whether some conflicting access of the tiled end may reach beyond the pitch; `None` where it may leave its block's tile.
    fn overhangs(&self, solver: &mut Solver, tile: &Tile) -> Option<bool> {
        let pair = self.pair;
        let mut overhangs = false;
        for access in self.of(self.tiled) {
            let split = split_of(&self.side(self.tiled, access), tile)?;
            let inside = within(self.tiled, tile, &split, access)?;
            let last = last_byte(&split.column, access)?;
            let below_pitch = [below(self.tiled, last, tile.pitch_bytes.clone())];
            for other in self.of(1 - self.tiled) {
                let mut ends = [
                    self.side(self.tiled, access),
                    self.side(1 - self.tiled, other),
                ];
                if self.tiled == 1 {
                    ends.reverse();
                }
                let [source, sink] = ends;
                let mut agree = |within: &[Within]| {
                    let claim = ((&[][..], &[][..]), within);
                    let answer =
                        solver.agree_within(&source, &sink, pair.distance, pair.facts, claim);
                    answer == Agreement::Agree
                };
                if !agree(&inside) {
                    return None;
                }
                overhangs = overhangs || !agree(&below_pitch);
            }
        }
        Some(overhangs)
    }
}

/// How many bytes each thread's element has, where that is all an access says, and it begins with the matrix.
fn step_of_numbers(side: &Side, distance: &Polynomial) -> Option<i64> {
    let places = linear_place(side.shape)?;
    let (terms, begin) = expand(side.model, side.access.subscript.as_ref()?, side.parameters)?;
    if begin.add(distance)? != Polynomial::default() || terms.len() != places.terms.len() {
        return None;
    }
    let of = |variable: &Variable| {
        let mut terms = terms.iter();
        terms.find(|(_, known)| known == variable).map(|(of, _)| of)
    };
    let (one, first) = places.terms.first()?;
    let step = of(first)?.as_constant().filter(|step| *step > 0)?;
    let alike = one.as_constant() == Some(1)
        && places.terms.iter().all(|(coefficient, variable)| {
            of(variable).is_some_and(|found| coefficient.scale(step).as_ref() == Some(found))
        });
    alike.then_some(step)
}

/// The tiles that an access's block may keep to, the likeliest first.
fn tiles_of(side: &Side) -> Option<Vec<Tile>> {
    let subscript = side.access.subscript.as_ref()?;
    let (terms, uniform) = multiplied_out(side.model, subscript, side.parameters)?;
    let along = |axis: Axis| {
        let mut terms = terms.iter();
        terms
            .find(|(_, variable)| *variable == Variable::Block(axis))
            .map(|(of, _)| of)
    };
    // Along the columns a block is so many bytes from the one before, along the rows so many rows.
    let (column_axis, width_bytes) = Axis::ALL.into_iter().find_map(|axis| {
        let bytes = along(axis)?.as_constant().filter(|bytes| *bytes > 0)?;
        let mut others = Axis::ALL.into_iter().filter(|other| *other != axis);
        let least = others.all(|other| {
            let other = along(other).and_then(Polynomial::as_constant);
            other.is_none_or(|other| other > bytes)
        });
        least.then_some((axis, bytes))
    })?;
    let mut others = Axis::ALL.into_iter().filter(|axis| *axis != column_axis);
    let row_axis = others.find(|axis| along(*axis).is_some())?;
    let row_bytes = along(row_axis)?;
    let blocks = side.shape.grid[column_axis.index()].as_constant();
    let covered = blocks.and_then(|blocks| blocks.checked_mul(width_bytes));
    let tiles = pitches_of(&terms, &uniform, covered)?.into_iter();
    let tiles = tiles.filter_map(|pitch_bytes| {
        let rows = times(row_bytes, &pitch_bytes).filter(|rows| *rows > 0)?;
        Some(Tile {
            axes: [row_axis, column_axis],
            rows,
            width_bytes,
            pitch_bytes,
        })
    });
    Some(tiles.take(MOST_PITCHES).collect())
}

/// How many bytes rows may be apart: what all coefficients that only a run knows are multiples of; where there are none, as many as
/// tiles cover side by side, or what some coefficient is.
fn pitches_of(
    terms: &Terms,
    uniform: &Polynomial,
    covered: Option<i64>,
) -> Option<Vec<Polynomial>> {
    let coefficients = || terms.iter().map(|(coefficient, _)| coefficient);
    let unknown = || coefficients().filter(|coefficient| coefficient.as_constant().is_none());
    let Some(first) = unknown().next() else {
        let mut known: Vec<i64> = coefficients().filter_map(Polynomial::as_constant).collect();
        known.sort_unstable();
        known.dedup();
        let all = covered.into_iter().chain(known.into_iter().rev());
        let positive = all.filter(|pitch| *pitch > 0);
        return Some(positive.map(Polynomial::constant).collect());
    };
    let (mut content, primitive) = first.split_content();
    for coefficient in unknown() {
        let (own, alike) = coefficient.split_content();
        if alike != primitive {
            return None;
        }
        content = greatest_common_divisor(content, own);
    }
    if let Some(monomial) = single(&primitive)
        && let Some(own) = uniform.terms.get(monomial)
    {
        content = greatest_common_divisor(content, *own);
    }
    let content = content.checked_abs().filter(|content| *content > 0)?;
    Some(vec![primitive.scale(content)?])
}

/// Where an access is in the matrix of a tile.
fn split_of(side: &Side, tile: &Tile) -> Option<Split> {
    let subscript = side.access.subscript.as_ref()?;
    let (terms, uniform) = multiplied_out(side.model, subscript, side.parameters)?;
    let (row_begin, column_begin) = split_uniform(&uniform, &tile.pitch_bytes)?;
    let (mut row, mut column) = (Affine::constant(row_begin), Affine::constant(column_begin));
    for (coefficient, variable) in terms {
        let variable = Affine::variable(variable);
        match times(&coefficient, &tile.pitch_bytes) {
            Some(times) => row = row.add(&variable.scale(times)?)?,
            None => column = column.add(&variable.scale(coefficient.as_constant()?)?)?,
        }
    }
    Some(Split { row, column })
}

/// The product of values that a polynomial is.
fn single(polynomial: &Polynomial) -> Option<&Monomial> {
    let mut terms = polynomial.terms.iter();
    match (terms.next(), terms.next()) {
        (Some((monomial, 1)), None) if !monomial.is_empty() => Some(monomial),
        _ => None,
    }
}

/// How many times the pitch a coefficient is.
fn times(coefficient: &Polynomial, pitch_bytes: &Polynomial) -> Option<i64> {
    let (own, one) = coefficient.split_content();
    let (other, alike) = pitch_bytes.split_content();
    (one == alike && other != 0 && own % other == 0).then(|| own / other)
}

/// How many rows, and how many bytes besides, all threads have in common.
fn split_uniform(uniform: &Polynomial, pitch_bytes: &Polynomial) -> Option<(i64, i64)> {
    if let Some(pitch_bytes) = pitch_bytes.as_constant() {
        let bytes = uniform.as_constant()?;
        return Some((bytes.div_euclid(pitch_bytes), bytes.rem_euclid(pitch_bytes)));
    }
    let (content, primitive) = pitch_bytes.split_content();
    let own = single(&primitive).and_then(|monomial| uniform.terms.get(monomial));
    let own = own.copied().unwrap_or(0);
    let rest = uniform.subtract(&primitive.scale(own)?)?.as_constant()?;
    (own % content == 0).then(|| (own / content, rest))
}

/// That an access keeps to its block's tile: not before and not behind it, along both axes.
fn within(side: usize, tile: &Tile, split: &Split, access: &Access) -> Option<[Within; 4]> {
    let from_block = |affine: &Affine, axis: Axis, extent: i64| {
        affine.subtract(&Affine::variable(Variable::Block(axis)).scale(extent)?)
    };
    let below = |affine: Affine, extent: i64| below(side, affine, Polynomial::constant(extent));
    let row = from_block(&split.row, tile.axes[0], tile.rows)?;
    let column = from_block(&split.column, tile.axes[1], tile.width_bytes)?;
    Some([
        below(row.scale(-1)?, 1),
        below(row, tile.rows),
        below(column.scale(-1)?, 1),
        below(last_byte(&column, access)?, tile.width_bytes),
    ])
}

/// That an expression of one side is below an extent.
fn below(side: usize, affine: Affine, extent: Polynomial) -> Within {
    Within {
        side,
        position: Coordinate {
            written: Some((affine, Polynomial::default())),
            ..Coordinate::of(Terms::new())
        },
        extent,
    }
}

/// The last byte that an access touches whose first one this is.
fn last_byte(first: &Affine, access: &Access) -> Option<Affine> {
    first.add(&Affine::constant(i64::from(access.size_bytes) - 1))
}

/// A subscript as a sum over blocks, threads, loops and quotients, with coefficients that are uniform, and what
/// all threads have in common.
fn multiplied_out(
    model: &KernelModel,
    affine: &Affine,
    parameters: &[Polynomial],
) -> Option<(Terms, Polynomial)> {
    let mut terms = Terms::new();
    let mut uniform = Polynomial::constant(affine.constant);
    for (coefficient, variable) in &affine.terms {
        let inner = match variable {
            Variable::Parameter(index) => {
                uniform = uniform.add(&parameters.get(*index)?.scale(*coefficient)?)?;
                continue;
            }
            Variable::Product(index) => {
                let product = model.products.get(*index)?;
                let times = parameters.get(product.parameter)?.scale(*coefficient)?;
                let (inner, rest) = multiplied_out(model, &product.factor, parameters)?;
                uniform = uniform.add(&rest.multiply(&times)?)?;
                let scaled = inner
                    .into_iter()
                    .map(|(inner, variable)| Some((inner.multiply(&times)?, variable)));
                scaled.collect::<Option<Terms>>()?
            }
            _ => vec![(Polynomial::constant(*coefficient), variable.clone())],
        };
        for (inner, variable) in inner {
            match terms.iter_mut().find(|(_, known)| *known == variable) {
                Some((sum, _)) => *sum = sum.add(&inner)?,
                None => terms.push((inner, variable)),
            }
        }
    }
    terms.retain(|(coefficient, _)| *coefficient != Polynomial::default());
    Some((terms, uniform))
}
