//! Tiles: a block computes a box of points, and what its threads read several times, or apart, goes through shared memory.
//!
//! The band that is tiled is that of a kernel's threads, whose dimensions are parallel. Each thread computes several points
//! of up to two dimensions in registers. The innermost reduced index is cut into strips: before each one, the block loads
//! the boxes that all its points read. In each element, terms are joined in the order of the identity mapping.

use super::TileSizes;
use super::legality::parallel_dimensions;
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::mapping::{Kernel, Part, Plan, Work};
use crate::tensor::program::{Bound, Function, Role, Statement, Subscript, Value, ValueKind};
use crate::tensor::syntax::tree::Binary;

/// Threads along each of the two dimensions of a tile.
pub const SIDE_THREADS: usize = 16;
/// Threads of a tile of one dimension.
const LINE_THREADS: usize = 128;
/// Shared memory that every GPU gives to a block.
pub const SHARED_BYTES: u64 = 48 * 1024;

/// How a kernel is tiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiles {
    /// By dimension of the kernel's threads.
    pub dimensions: Vec<TileDimension>,
    /// Which of the kernel's parts reduces.
    pub reduction: usize,
    /// Values of the innermost reduced index in a strip.
    pub strip: usize,
    /// Boxes in shared memory.
    pub promoted: Vec<Promoted>,
}

/// A dimension of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileDimension {
    /// Threads along it.
    pub threads: usize,
    /// Points of each thread, one behind the other.
    pub points: usize,
}

impl TileDimension {
    /// Points along it.
    pub fn size(self) -> usize {
        self.threads * self.points
    }
}

/// What a strip of a tile reads by one access: a box of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Promoted {
    /// The tensor.
    pub tensor: usize,
    /// The subscripts.
    pub subscripts: Vec<Linear>,
    /// Elements along each dimension of the tensor.
    pub extents: Vec<usize>,
    /// The dimension that lies closest together in shared memory: points of a thread are then neighbours.
    pub inner: usize,
    /// Elements between two rows beyond what they need: banks then differ.
    pub padding: usize,
    /// Some of the box may lie outside of the tensor even where all points are inside.
    pub conditional: bool,
}

impl Promoted {
    /// Dimensions of the tensor in the order in which shared memory has them.
    pub fn order(&self) -> Vec<usize> {
        let others = (0..self.extents.len()).filter(|dimension| *dimension != self.inner);
        others.chain([self.inner]).collect()
    }

    /// Elements in shared memory.
    pub fn elements(&self) -> usize {
        let order = self.order();
        let rows: usize = order[..order.len() - 1]
            .iter()
            .map(|dimension| self.extents[*dimension])
            .product();
        rows * (self.extents[self.inner] + self.padding)
    }
}

/// Which tiles are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Those of two dimensions, whose points share what they read.
    Plane,
    /// Those, and else those of one dimension, whose threads read together what each would read apart.
    Any,
}

/// The tiles of a kernel; `None` where it has no product to tile, or where it may not be tiled.
pub fn tiles(
    function: &Function,
    kernel: &Kernel<'_>,
    shape: Shape,
    sizes: Option<TileSizes>,
) -> Option<Tiles> {
    if kernel.plan != Plan::Elements || kernel.threads.is_empty() {
        return None;
    }
    let reduction = reduction(function, kernel)?;
    let part = &kernel.parts[reduction];
    let (accesses, taken) = (staged_accesses(function, kernel, part)?, taken(part)?);
    let rank = kernel.threads.len();
    let depends = |access: &Found, dimension: usize| {
        let index = taken[dimension];
        let mut subscripts = access.subscripts.iter();
        subscripts.any(|form| form.variables().contains(&index))
    };
    let strip_index = part.statement.reduced().last()?;
    // The pair of dimensions whose points share what they read: the last ones, so that writes are of neighbours.
    let shares = |y: usize, x: usize| {
        let apart = |a: usize, b: usize| {
            accesses
                .iter()
                .any(|access| depends(access, a) && !depends(access, b))
        };
        apart(x, y) && apart(y, x)
    };
    let mut pairs = (0..rank)
        .rev()
        .flat_map(|x| (0..x).rev().map(move |y| (y, x)));
    let pair = pairs.find(|(y, x)| shares(*y, *x));
    let alone = TileDimension {
        threads: 1,
        points: 1,
    };
    let mut dimensions = vec![alone; rank];
    let chosen = sizes.unwrap_or_default();
    match pair {
        Some((y, x)) => {
            for (dimension, size) in [(y, chosen.rows), (x, chosen.columns)] {
                dimensions[dimension] = TileDimension {
                    threads: SIDE_THREADS,
                    points: usize::from(size) / SIDE_THREADS,
                };
            }
        }
        None if shape == Shape::Plane => return None,
        None => {
            // Neighbours in a row are read one after the other by one thread: the block reads them together.
            let is_apart = |access: &Found| {
                let last = access.subscripts.last();
                last.is_some_and(|last| {
                    let indices = last.variables();
                    indices.contains(&strip_index) && !indices.contains(&taken[rank - 1])
                }) && depends(access, rank - 1)
            };
            if !accesses.iter().any(is_apart) {
                return None;
            }
            dimensions[rank - 1].threads = LINE_THREADS;
        }
    }
    let mut strip = usize::from(chosen.strip);
    let promoted = loop {
        let boxes = accesses
            .iter()
            .map(|access| promoted(access, taken, &dimensions, (strip_index, strip)));
        let boxes: Option<Vec<Promoted>> = boxes.collect();
        let boxes = boxes?;
        let bytes: u64 = boxes
            .iter()
            .map(|promoted| {
                promoted.elements() as u64 * function.tensors[promoted.tensor].scalar.bytes() + 16
            })
            .sum();
        if bytes <= SHARED_BYTES {
            break boxes;
        }
        strip /= 2;
        if strip < 4 {
            return None;
        }
    };
    // Last, as it costs most.
    let all = parallel_dimensions(function, kernel);
    all.iter().all(|parallel| *parallel).then_some(Tiles {
        dimensions,
        reduction,
        strip,
        promoted,
    })
}

/// The one part that reduces, of a kernel whose threads take all indices on the left.
fn reduction(function: &Function, kernel: &Kernel<'_>) -> Option<usize> {
    let mut found = None;
    for (number, part) in kernel.parts.iter().enumerate() {
        let statement = part.statement;
        let taken = taken(part)?;
        let target = &function.tensors[statement.target];
        if statement.scatter
            || taken.len() != statement.free().count()
            || statement
                .subscripts
                .iter()
                .any(|subscript| subscript.guarded || subscript.linear.is_none())
            || statement.subscripts.len() != target.extents.len()
        {
            return None;
        }
        if statement.reduced().next().is_some() {
            if found.is_some() {
                return None;
            }
            found = Some(number);
        }
    }
    let number = found?;
    let statement = kernel.parts[number].statement;
    // All points of a tile reduce over the same.
    let is_rectangular = statement.reduced().all(|index| {
        let variable = &statement.variables[index];
        [&variable.low, &variable.high].into_iter().all(|bound| {
            matches!(bound, Bound::Linear(form)
                if form.variables().iter().all(|other| !statement.variables[*other].on_left))
        })
    });
    is_rectangular.then_some(number)
}

fn taken<'p>(part: &'p Part<'_>) -> Option<&'p [usize]> {
    match &part.work {
        Work::Compute {
            taken,
            atomic: false,
        } => Some(taken),
        _ => None,
    }
}

/// An access that can be promoted.
struct Found {
    tensor: usize,
    subscripts: Vec<Linear>,
    conditional: bool,
}

/// All reads of the reducing part, where each can be promoted, and where points outside may be computed without harm.
fn staged_accesses(
    function: &Function,
    kernel: &Kernel<'_>,
    part: &Part<'_>,
) -> Option<Vec<Found>> {
    let mut found: Vec<Found> = Vec::new();
    let is_written = |tensor: usize| {
        kernel
            .parts
            .iter()
            .any(|part| part.statement.target == tensor)
    };
    let mut add = |tensor: usize, subscripts: &[Subscript], conditional: bool| {
        let known = &function.tensors[tensor];
        if known.role == Role::Value {
            return true;
        }
        if is_written(tensor) {
            return false;
        }
        let forms: Option<Vec<Linear>> = subscripts.iter().map(plain).collect();
        let Some(forms) = forms else { return false };
        match found
            .iter_mut()
            .find(|access| access.tensor == tensor && access.subscripts == forms)
        {
            Some(access) => access.conditional &= conditional,
            None if forms.is_empty() => {}
            None => found.push(Found {
                tensor,
                subscripts: forms,
                conditional,
            }),
        }
        true
    };
    let holds = walk(&part.statement.value, false, &mut add);
    (holds && !found.is_empty()).then_some(found)
}

/// A subscript whose box is known: a sum of indices with positive factors, and of what is the same for all points.
fn plain(subscript: &Subscript) -> Option<Linear> {
    let form = subscript.linear.as_ref().filter(|_| !subscript.guarded)?;
    let holds = form.terms.iter().all(|(atom, factor)| match atom {
        Atom::Variable(_) => (1..=4).contains(factor),
        other => !Linear::atom(other.clone()).has_variables(),
    });
    holds.then(|| form.clone())
}

/// Calls `add` with each read, and whether a condition stands before it; false where `add` says so, or where computing the
/// value at points that are outside could fail.
fn walk(
    value: &Value,
    conditional: bool,
    add: &mut dyn FnMut(usize, &[Subscript], bool) -> bool,
) -> bool {
    match &value.kind {
        ValueKind::Integer(_)
        | ValueKind::Real(_)
        | ValueKind::Variable(_)
        | ValueKind::Size(_) => true,
        ValueKind::Read { tensor, subscripts } => add(*tensor, subscripts, conditional),
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => walk(operand, conditional, add),
        ValueKind::Binary(operator, left, right) => {
            // A processor may stop at a division by zero.
            let divides = matches!(operator, Binary::Divide | Binary::Remainder);
            if divides && value.scalar.is_integer() {
                return false;
            }
            let lazy = matches!(operator, Binary::And | Binary::Or);
            walk(left, conditional, add) && walk(right, conditional || lazy, add)
        }
        ValueKind::Select(condition, then, other) => {
            walk(condition, conditional, add) && walk(then, true, add) && walk(other, true, add)
        }
        ValueKind::Call(_, _, arguments) => arguments
            .iter()
            .all(|argument| walk(argument, conditional, add)),
    }
}

/// The box of an access.
fn promoted(
    access: &Found,
    taken: &[usize],
    dimensions: &[TileDimension],
    (strip_index, strip): (usize, usize),
) -> Option<Promoted> {
    let size = |index: usize| match taken.iter().position(|known| *known == index) {
        Some(dimension) => dimensions[dimension].size(),
        None if index == strip_index => strip,
        None => 1,
    };
    let mut extents = Vec::new();
    for form in &access.subscripts {
        let mut extent = 1;
        for (atom, factor) in &form.terms {
            if let Atom::Variable(index) = atom {
                extent += usize::try_from(*factor).ok()? * (size(*index) - 1);
            }
        }
        extents.push(extent);
    }
    // The dimension of points of a thread, else of threads; the last one where there is a choice.
    let weight = |position: usize| {
        let indices = access.subscripts[position].variables();
        let of_taken = taken.iter().zip(dimensions);
        let sizes = of_taken
            .filter(|(index, _)| indices.contains(index))
            .map(|(_, dimension)| dimension.size());
        sizes.max().unwrap_or(0)
    };
    let inner = (0..extents.len()).max_by_key(|position| weight(*position))?;
    // Columns of what lies across in memory would meet in one bank.
    let crosses = inner + 1 != extents.len();
    Some(Promoted {
        tensor: access.tensor,
        subscripts: access.subscripts.clone(),
        padding: match (
            crosses,
            dimensions.iter().any(|dimension| dimension.points > 1),
        ) {
            (false, _) => 0,
            (true, true) => 4,
            (true, false) => 1,
        },
        extents,
        inner,
        conditional: access.conditional,
    })
}

/// The statement that a tiled kernel reduces by.
pub fn reducing<'f>(kernel: &Kernel<'f>, tiles: &Tiles) -> &'f Statement {
    kernel.parts[tiles.reduction].statement
}
