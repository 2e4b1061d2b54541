//! Products by tensor cores: sums of products of two halves, or of two numbers of `bfloat16`.
//!
//! The box of each factor lies in shared memory as rows or columns of a matrix. Each warp has some fragments of 16 x 16
//! sums. Terms are joined in an order of the hardware's own. For GPUs without such tensor cores, the same kernel has
//! ordinary tiles, of as many points and threads.

use super::{
    Found, Promoted, SHARED_BYTES, Strip, TileDimension, Tiles, boxes, promoted, reduction,
    staged_accesses, taken,
};
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::mapping::{Kernel, Part, Plan};
use crate::tensor::program::{Function, Role, Statement, Value, ValueKind};
use crate::tensor::syntax::tree::{Binary, Operator, Reduction};
use crate::tensor::transform::TileSizes;
use crate::tensor::transform::legality::parallel_dimensions;
use crate::tensor::types::Scalar;

/// Rows, columns and terms of a fragment.
pub const FRAGMENT: usize = 16;
/// Elements behind each row of a box, so that rows begin in different banks.
const PADDING: usize = 8;
/// Sums behind each row of what the block has made, for the same.
const SUM_PADDING: usize = 4;
/// Fewer points or terms would leave most of a fragment empty.
const FEWEST: usize = 8;
/// Points of a tile at most: their sums fit into shared memory.
const MOST_POINTS: usize = 8192;
/// Warps of a block at most.
const MOST_WARPS: usize = 8;
/// Sums of a warp that pay for what it reads, as fragments.
const ENOUGH_FRAGMENTS: usize = 4;
/// Blocks that a launch should have.
const ENOUGH_BLOCKS: usize = 64;
/// Terms between two loads, where none are asked for.
const TERMS: usize = 32;

/// How warps share a tile whose products are those of tensor cores.
#[derive(Clone, Debug, PartialEq)]
pub struct Cores {
    /// What both factors are.
    pub scalar: Scalar,
    /// Rows and columns of the tile: dimensions of the kernel's threads.
    pub sides: [usize; 2],
    /// Warps along both.
    pub warps: [usize; 2],
    /// Fragments of a warp along both.
    pub fragments: [usize; 2],
    /// The boxes of what is multiplied: the one whose rows are those of the tile, and the one with its columns.
    pub factors: [CoreFactor; 2],
    /// The same tile without tensor cores.
    pub otherwise: Tiles,
}

/// A factor in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreFactor {
    /// Which of the tile's boxes it is.
    pub promoted: usize,
    /// The dimension of its tensor along which points lie.
    pub points: usize,
    /// The dimension along which terms lie.
    pub terms: usize,
}

impl CoreFactor {
    /// Whether the terms of a point lie one behind the other.
    pub fn has_rows_of_terms(self) -> bool {
        self.terms > self.points
    }
}

impl Cores {
    /// The oldest architecture with tensor cores for the type.
    pub fn architecture(&self) -> u32 {
        match self.scalar {
            Scalar::Bfloat16 => 800,
            _ => 700,
        }
    }

    /// Points along a side.
    pub fn points(&self, side: usize) -> usize {
        self.warps[side] * self.fragments[side] * FRAGMENT
    }

    /// Sums from one row of the tile to the next one.
    pub fn pitch(&self) -> usize {
        self.points(1) + SUM_PADDING
    }

    /// Bytes of the sums of a tile.
    pub fn sum_bytes(&self) -> u64 {
        (self.points(0) * self.pitch()) as u64 * Scalar::Float.bytes()
    }
}

/// The tiles of a kernel whose product is one of tensor cores; `None` where there is none.
pub fn tiles(function: &Function, kernel: &Kernel<'_>, sizes: Option<TileSizes>) -> Option<Tiles> {
    if kernel.plan != Plan::Elements || kernel.threads.is_empty() {
        return None;
    }
    let reduction = reduction(function, kernel)?;
    let part = &kernel.parts[reduction];
    let scalar = factors(function, part.statement)?;
    let found = staged_accesses(function, kernel, part)?;
    let [a, b] = found.as_slice() else {
        return None;
    };
    let taken = taken(part)?;
    let (sides, index, places) = sides(part, taken, [a, b])?;
    let extent = |dimension: usize| {
        let number = kernel.threads[dimension].as_number()?;
        usize::try_from(number).ok().filter(|extent| *extent > 0)
    };
    let points = points(kernel, sides, sizes)?;
    let warps = warps(points.map(|points| points / FRAGMENT));
    let fragments = [0, 1].map(|side| points[side] / FRAGMENT / warps[side]);
    let threads = 32 * warps[0] * warps[1];
    let shape = |along: [(usize, usize); 2]| {
        let rank = kernel.threads.len();
        let each = (0..rank).map(|dimension| {
            let side = sides.iter().position(|side| *side == dimension);
            let (threads, points) = side.map_or((1, 1), |side| along[side]);
            TileDimension {
                threads,
                points,
                extent: extent(dimension),
            }
        });
        each.collect::<Vec<_>>()
    };
    // Neighbours write neighbours.
    let shares_out = |columns: &usize| {
        points[1].is_multiple_of(*columns)
            && threads.is_multiple_of(*columns)
            && points[0].is_multiple_of(threads / columns)
    };
    let columns = (1..=threads.min(points[1])).rev().find(shares_out)?;
    let rows = threads / columns;
    let dimensions = shape([(rows, points[0] / rows), (columns, points[1] / columns)]);
    let strip = strip(part.statement, index, sizes);
    let boxes: Vec<Promoted> = [a, b]
        .into_iter()
        .zip(places)
        .map(|(access, [points, terms])| {
            Some(Promoted {
                inner: points.max(terms),
                padding: PADDING,
                ..promoted(access, taken, &dimensions, &strip)?
            })
        })
        .collect::<Option<_>>()?;
    let otherwise = otherwise(
        (function, part),
        (&found, taken),
        (
            shape([
                (2 * warps[0], 8 * fragments[0]),
                (16 * warps[1], fragments[1]),
            ]),
            sizes,
        ),
        reduction,
    )?;
    let is_row = depends(a, taken[sides[0]]);
    let order = if is_row { [0, 1] } else { [1, 0] };
    let cores = Cores {
        scalar,
        sides,
        warps,
        fragments,
        factors: order.map(|number| CoreFactor {
            promoted: number,
            points: places[number][0],
            terms: places[number][1],
        }),
        otherwise,
    };
    let tiles = Tiles {
        dimensions,
        reduction,
        strip,
        promoted: boxes,
        stages: 1,
        cores: None,
        beside: Vec::new(),
        later: Vec::new(),
    };
    let fits = tiles.box_bytes(function).max(cores.sum_bytes()) <= SHARED_BYTES;
    // Last, as it costs most.
    let is_parallel = || parallel_dimensions(function, kernel).iter().all(|one| *one);
    (fits && is_parallel()).then(|| Tiles {
        cores: Some(Box::new(cores)),
        ..tiles
    })
}

/// What both factors are, where a statement sums up products that tensor cores can make: halves and numbers of
/// `bfloat16` are computed with as `float`, in which their products are exact.
fn factors(function: &Function, statement: &Statement) -> Option<Scalar> {
    let sums = matches!(statement.operator, Operator::Reduce(Reduction::Sum, _));
    let computed = function.tensors[statement.target].scalar.computed();
    let ValueKind::Binary(Binary::Multiply, left, right) = &statement.value.kind else {
        return None;
    };
    if !sums || computed != Scalar::Float || statement.value.scalar.computed() != Scalar::Float {
        return None;
    }
    let scalar = factor(function, left)?;
    let is_short = matches!(scalar, Scalar::Half | Scalar::Bfloat16);
    // Bounds that move with another index would leave terms of a strip out.
    let is_fixed = statement.reduces_a_box();
    (is_short && is_fixed && factor(function, right) == Some(scalar)).then_some(scalar)
}

/// The type of an element that is a factor: `float(A(i, k))` is the same as `A(i, k)`.
fn factor(function: &Function, value: &Value) -> Option<Scalar> {
    match &value.kind {
        ValueKind::Cast(operand) if value.scalar == Scalar::Float => factor(function, operand),
        ValueKind::Read { tensor, .. } => {
            let known = &function.tensors[*tensor];
            (known.role != Role::Value).then_some(known.scalar)
        }
        _ => None,
    }
}

/// Rows and columns of the tile, the index that is cut into strips, and where both accesses have their points and terms.
type Sides = ([usize; 2], usize, [[usize; 2]; 2]);

/// The last two dimensions of which each is one factor's alone, and the last reduced index along which both have rows or
/// columns.
fn sides(part: &Part<'_>, taken: &[usize], accesses: [&Found; 2]) -> Option<Sides> {
    let statement = part.statement;
    let rank = taken.len();
    let pairs = (0..rank)
        .rev()
        .flat_map(|x| (0..x).rev().map(move |y| [y, x]));
    pairs.into_iter().find_map(|sides| {
        let [y, x] = sides.map(|side| taken[side]);
        let own = accesses.map(|access| match (depends(access, y), depends(access, x)) {
            (true, false) => Some(y),
            (false, true) => Some(x),
            _ => None,
        });
        let [Some(first), Some(second)] = own else {
            return None;
        };
        if first == second {
            return None;
        }
        let reduced: Vec<usize> = statement.reduced().collect();
        reduced.into_iter().rev().find_map(|index| {
            if super::count(statement, index).is_some_and(|count| count < FEWEST) {
                return None;
            }
            let first = place(accesses[0], [first, index])?;
            let second = place(accesses[1], [second, index])?;
            Some((sides, index, [first, second]))
        })
    })
}

fn depends(access: &Found, index: usize) -> bool {
    let mut forms = access.subscripts.iter();
    forms.any(|form| form.variables().contains(&index))
}

/// The subscripts of two indices, where each has one of its own.
fn place(access: &Found, indices: [usize; 2]) -> Option<[usize; 2]> {
    let of = |index: usize| {
        let has = |form: &&Linear| form.variables().contains(&index);
        let only = access.subscripts.iter().filter(has).count() == 1;
        let position = (access.subscripts.iter()).position(|form| has(&form))?;
        let factor = access.subscripts[position]
            .terms
            .get(&Atom::Variable(index));
        (only && factor == Some(&1)).then_some(position)
    };
    let [points, terms] = indices.map(of);
    let (points, terms) = (points?, terms?);
    // An index that moves a window, as in `h + kh`, has few values.
    let is_alone = access.subscripts[terms].variables() == [indices[1]];
    (points != terms && is_alone).then_some([points, terms])
}

/// Points of a tile along both sides: whole fragments, as many as are asked for, or fewer where there are not so many.
fn points(kernel: &Kernel<'_>, sides: [usize; 2], sizes: Option<TileSizes>) -> Option<[usize; 2]> {
    let extents = sides.map(|side| {
        let number = kernel.threads[side].as_number()?;
        usize::try_from(number).ok()
    });
    if extents.iter().flatten().any(|extent| *extent < FEWEST) {
        return None;
    }
    let chosen = sizes.unwrap_or_default();
    let within = |rows: usize, columns: usize| {
        let side = |size: usize, extent: Option<usize>| {
            extent.map_or(size, |extent| size.min(extent.next_multiple_of(FRAGMENT)))
        };
        [side(rows, extents[0]), side(columns, extents[1])]
    };
    let blocks = |points: [usize; 2]| {
        let others = (0..kernel.threads.len()).filter(|dimension| !sides.contains(dimension));
        let others =
            others.map(|dimension| usize::try_from(kernel.threads[dimension].as_number()?).ok());
        let others = others.product::<Option<usize>>()?;
        Some(others * extents[0]?.div_ceil(points[0]) * extents[1]?.div_ceil(points[1]))
    };
    let mut points = within(chosen.rows.into(), chosen.columns.into());
    if sizes.is_none() {
        let larger = within(2 * usize::from(chosen.rows), chosen.columns.into());
        if blocks(larger).is_some_and(|blocks| blocks >= 2 * ENOUGH_BLOCKS) {
            points = larger;
        }
        while blocks(points).is_some_and(|blocks| blocks < ENOUGH_BLOCKS) {
            let larger = usize::from(points[1] > points[0]);
            if points[larger] < 64 {
                break;
            }
            points[larger] /= 2;
        }
    }
    while points[0] * points[1] > MOST_POINTS {
        points[1] = (points[1] / 2).next_multiple_of(FRAGMENT);
    }
    Some(points)
}

/// Warps along both sides: at least four, if there is work for them, and of several fragments each, if there are enough.
fn warps(fragments: [usize; 2]) -> [usize; 2] {
    let divisors = |number: usize| (1..=number).filter(move |part| number.is_multiple_of(*part));
    let all = divisors(fragments[0]).flat_map(|y| divisors(fragments[1]).map(move |x| [y, x]));
    let possible = all.filter(|[y, x]| y * x <= MOST_WARPS);
    let best = possible.min_by_key(|[y, x]| {
        let (rows, columns) = (fragments[0] / y, fragments[1] / x);
        let apart = (rows * columns).abs_diff(ENOUGH_FRAGMENTS);
        (y * x < 4, apart, rows + columns)
    });
    best.unwrap_or([1, 1])
}

fn strip(statement: &Statement, index: usize, sizes: Option<TileSizes>) -> Strip {
    let extent = super::count(statement, index);
    let terms = sizes.map_or(TERMS, |sizes| {
        usize::from(sizes.strip).next_multiple_of(FRAGMENT)
    });
    Strip {
        index,
        count: extent.map_or(terms, |extent| terms.min(extent.next_multiple_of(FRAGMENT))),
        extent,
        whole: Vec::new(),
    }
}

/// Ordinary tiles of the same points and threads.
fn otherwise(
    (function, part): (&Function, &Part<'_>),
    (found, taken): (&[Found], &[usize]),
    chosen: (Vec<TileDimension>, Option<TileSizes>),
    reduction: usize,
) -> Option<Tiles> {
    let threads =
        |sides: &[TileDimension]| -> usize { sides.iter().map(|side| side.threads).product() };
    let wanted = threads(&chosen.0);
    let (dimensions, strip, promoted) = boxes(function, part, (found, taken), chosen)?;
    (threads(&dimensions) == wanted).then_some(Tiles {
        dimensions,
        reduction,
        strip,
        promoted,
        stages: 1,
        cores: None,
        beside: Vec::new(),
        later: Vec::new(),
    })
}
