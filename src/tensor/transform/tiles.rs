//! Tiles: a block computes a box of points, and what its threads read several times, or apart, goes through shared memory.
//!
//! The band that is tiled is that of a kernel's threads, whose dimensions are parallel. Each thread computes several points
//! of up to two dimensions in registers. The innermost reduced index is cut into strips: before each one, the block loads
//! the boxes that all its points read. In each element, terms are joined in the order of the identity mapping.

pub mod cores;
pub mod products;
pub mod stages;

use super::TileSizes;
use super::legality::parallel_dimensions;
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::mapping::{Kernel, Part, Plan, Work};
use crate::tensor::program::{Function, Role, Statement, Subscript, Value, ValueKind};
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
    /// What is reduced between two loads.
    pub strip: Strip,
    /// Boxes in shared memory; none: each thread reads what its points need.
    pub promoted: Vec<Promoted>,
    /// How many strips have their boxes in shared memory at once.
    pub stages: usize,
    /// How warps share the tile, where tensor cores make the products.
    pub cores: Option<Box<cores::Cores>>,
    /// Other parts that reduce over the same indices, in the same strips.
    pub beside: Vec<usize>,
    /// Products behind it, of the same points, with strips of their own.
    pub later: Vec<Self>,
}

/// Values of reduced indices for which a block loads boxes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The index that is cut into strips.
    pub index: usize,
    /// Values of it in a strip.
    pub count: usize,
    /// How many values it has, where that is a number.
    pub extent: Option<usize>,
    /// Indices behind it, of which each strip has all values: which, and how many values.
    pub whole: Vec<(usize, usize)>,
}

impl Strip {
    /// Whether each strip has all its values, whatever the sizes are.
    pub fn is_always_full(&self) -> bool {
        self.extent
            .is_some_and(|extent| extent.is_multiple_of(self.count))
    }

    /// How many terms a point gets of a strip.
    pub fn terms(&self) -> usize {
        let behind: usize = self.whole.iter().map(|(_, count)| count).product();
        self.count * behind
    }

    /// How many values of the index that is cut are unrolled: more would not be kept in registers.
    pub fn unrolled(&self) -> usize {
        let behind = self.terms() / self.count;
        let most = (MOST_UNROLLED / behind).max(1);
        let mut divisors = (1..=most.min(self.count)).rev();
        let divisor = divisors.find(|divisor| self.count.is_multiple_of(*divisor));
        divisor.unwrap_or(1)
    }

    /// How many values of a reduced index there are in a strip.
    fn values(&self, index: usize) -> Option<usize> {
        let mut all = std::iter::once((self.index, self.count)).chain(self.whole.iter().copied());
        all.find(|(known, _)| *known == index)
            .map(|(_, count)| count)
    }
}

/// A dimension of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileDimension {
    /// Threads along it.
    pub threads: usize,
    /// Points of each thread, one behind the other.
    pub points: usize,
    /// How many points there are in all tiles together, where that is a number.
    pub extent: Option<usize>,
}

impl TileDimension {
    /// Points along it.
    pub fn size(self) -> usize {
        self.threads * self.points
    }

    /// Whether all tiles are full, whatever the sizes are.
    pub fn is_always_full(self) -> bool {
        self.extent
            .is_some_and(|extent| extent.is_multiple_of(self.size()))
    }

    /// Whether one tile has all points.
    pub fn is_whole(self) -> bool {
        self.extent.is_some_and(|extent| extent <= self.size())
    }

    /// Points that a tile has of which none is beyond the last one, as far as that is known.
    fn inside(self) -> usize {
        self.extent
            .map_or(self.size(), |extent| extent.min(self.size()))
    }

    /// The same points with half as many for each thread.
    fn spread(self) -> Self {
        let points = self.points / 2;
        let size = if self.is_whole() {
            self.inside()
        } else {
            self.size()
        };
        Self {
            threads: size.div_ceil(points),
            points,
            ..self
        }
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
    /// How many of them the tensor has: points beyond the last one read zeros behind them.
    pub loaded: Vec<usize>,
    /// The dimension that lies closest together in shared memory: points of a thread are then neighbours.
    pub inner: usize,
    /// Elements between two rows beyond what they need: banks then differ.
    pub padding: usize,
    /// Some of the box may lie outside of the tensor even where all points are inside.
    pub conditional: bool,
    /// What it has lies in shared memory already, with all of its row.
    pub resident: bool,
}

impl Tiles {
    /// Reduced indices that are loops around the loads: the strip's is the innermost one.
    pub fn loops(&self, statement: &Statement) -> Vec<usize> {
        let is_whole = |index: usize| self.strip.whole.iter().any(|(known, _)| *known == index);
        let others = statement
            .reduced()
            .filter(|index| *index != self.strip.index && !is_whole(*index));
        others.chain([self.strip.index]).collect()
    }

    /// Whether the kernel has only one product.
    pub fn is_one_product(&self) -> bool {
        self.beside.is_empty() && self.later.is_empty()
    }

    /// The product that a part begins, of which others may share the strips.
    pub fn product(&self, part: usize) -> Option<&Self> {
        let mut all = std::iter::once(self).chain(&self.later);
        all.find(|product| product.reduction == part)
    }

    /// Whether a part is computed in the strips of a product that begins before it.
    pub fn is_beside(&self, part: usize) -> bool {
        let mut all = std::iter::once(self).chain(&self.later);
        all.any(|product| product.beside.contains(&part))
    }

    /// Bytes of the boxes of all products, in all their stages.
    pub fn all_bytes(&self, function: &Function) -> u64 {
        let all = std::iter::once(self).chain(&self.later);
        all.map(|product| product.box_bytes(function) * product.stages as u64)
            .sum()
    }

    /// Bytes of the boxes of a strip, with what each is aligned by.
    pub fn box_bytes(&self, function: &Function) -> u64 {
        let boxes = self.promoted.iter().filter(|promoted| !promoted.resident);
        let bytes = boxes.map(|promoted| {
            let scalar = function.tensors[promoted.tensor].scalar;
            (promoted.elements() as u64 * scalar.bytes()).next_multiple_of(16)
        });
        bytes.sum()
    }
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
    let reductions = reductions(function, kernel)?;
    let alone = products::alone(kernel, &reductions)?;
    let mut groups = products::groups(kernel, &reductions).into_iter();
    let first = groups.next()?;
    let accesses = products::accesses(function, kernel, &first)?;
    let dimensions = dimensions(
        kernel,
        &accesses,
        (taken(&kernel.parts[first[0]])?, &alone),
        (shape, sizes),
    )?;
    let mut tiles = product(function, kernel, (&first, &accesses), (dimensions, sizes))?;
    for group in groups {
        let accesses = products::accesses(function, kernel, &group)?;
        let dimensions = tiles.dimensions.clone();
        let later = product(function, kernel, (&group, &accesses), (dimensions, sizes))?;
        if later.dimensions != tiles.dimensions {
            return None;
        }
        tiles.later.push(later);
    }
    if tiles.all_bytes(function) > SHARED_BYTES {
        return None;
    }
    // Last, as it costs most.
    let all = parallel_dimensions(function, kernel);
    all.iter().all(|parallel| *parallel).then_some(tiles)
}

/// The tiles of products that share strips.
fn product(
    function: &Function,
    kernel: &Kernel<'_>,
    (group, accesses): (&[usize], &[Found]),
    (dimensions, sizes): (Vec<TileDimension>, Option<TileSizes>),
) -> Option<Tiles> {
    let part = &kernel.parts[group[0]];
    let (dimensions, strip, promoted) = boxes(
        function,
        part,
        (accesses, taken(part)?),
        (dimensions, sizes),
    )?;
    Some(Tiles {
        dimensions,
        reduction: group[0],
        strip,
        promoted,
        stages: 1,
        cores: None,
        beside: group[1..].to_vec(),
        later: Vec::new(),
    })
}

/// The tiles of a product in a block that has all of some rows: rows and threads of the block; what lies in shared memory is
/// read there.
pub fn row_tiles(
    function: &Function,
    kernel: &Kernel<'_>,
    block: (usize, usize),
    is_resident: &dyn Fn(usize) -> bool,
) -> Option<Tiles> {
    let reduction = reduction(function, kernel)?;
    let part = &kernel.parts[reduction];
    let (accesses, taken) = (staged_accesses(function, kernel, part)?, taken(part)?);
    let extent = |dimension: usize| {
        let number = kernel.threads[dimension].as_number()?;
        usize::try_from(number).ok().filter(|extent| *extent > 0)
    };
    let dimensions = super::layers::dimensions(block, extent(0), extent(1));
    let (resident, loaded): (Vec<Found>, Vec<Found>) = accesses
        .into_iter()
        .partition(|access| is_resident(access.tensor));
    let accesses = (loaded.as_slice(), taken);
    let (dimensions, strip, mut boxes) = boxes(function, part, accesses, (dimensions, None))?;
    for access in &resident {
        boxes.push(Promoted {
            resident: true,
            ..promoted(access, taken, &dimensions, &strip)?
        });
    }
    Some(Tiles {
        dimensions,
        reduction,
        strip,
        promoted: boxes,
        stages: 1,
        cores: None,
        beside: Vec::new(),
        later: Vec::new(),
    })
}

/// Boxes that fit into shared memory, with the strip and the dimensions for which they do.
fn boxes(
    function: &Function,
    part: &Part<'_>,
    (accesses, taken): (&[Found], &[usize]),
    (mut dimensions, sizes): (Vec<TileDimension>, Option<TileSizes>),
) -> Option<(Vec<TileDimension>, Strip, Vec<Promoted>)> {
    let chosen = usize::from(sizes.unwrap_or_default().strip);
    let mut strip = strip(part.statement, chosen)?;
    let fit = |strip: &Strip, dimensions: &[TileDimension], most: u64| {
        let boxes = accesses
            .iter()
            .map(|access| promoted(access, taken, dimensions, strip));
        let boxes: Vec<Promoted> = boxes.collect::<Option<_>>()?;
        let bytes = boxes.iter().map(|promoted| {
            promoted.elements() as u64 * function.tensors[promoted.tensor].scalar.bytes() + 16
        });
        (bytes.sum::<u64>() <= most).then_some(boxes)
    };
    // All terms at once, where they are few.
    let all = strip
        .extent
        .filter(|extent| sizes.is_none() && *extent <= MOST_AT_ONCE);
    let at_once = all.and_then(|count| {
        let strip = Strip {
            count,
            ..strip.clone()
        };
        Some((fit(&strip, &dimensions, SHARED_BYTES / 2)?, strip))
    });
    let promoted = match at_once {
        Some((boxes, all)) => {
            strip = all;
            boxes
        }
        None => loop {
            if let Some(boxes) = fit(&strip, &dimensions, SHARED_BYTES) {
                break boxes;
            }
            if strip.count >= 8 {
                strip.count /= 2;
            } else if !strip.whole.is_empty() {
                strip = self::strip_of_last(part.statement, chosen)?;
            } else if let Some(side) = dimensions.iter().position(|side| is_extra(*side)) {
                dimensions[side].threads = 1;
            } else {
                return None;
            }
        },
    };
    Some((dimensions, strip, promoted))
}

/// Values of an index that one strip has at most, if it has all.
const MOST_AT_ONCE: usize = 96;
/// Terms of a point that are unrolled at most.
const MOST_UNROLLED: usize = 32;
/// Threads of a block at most, where other dimensions than those whose points share give it some.
const MOST_THREADS: usize = 256;
/// Dimensions of a tile at most.
pub const MOST_SIDES: usize = 4;
/// Blocks that a launch should have.
const ENOUGH_BLOCKS: usize = 64;

/// Whether a dimension has threads only so that a block has more.
fn is_extra(side: TileDimension) -> bool {
    side.threads > 1 && side.points == 1
}

/// Threads and points along each dimension; `None` where nothing is gained.
fn dimensions(
    kernel: &Kernel<'_>,
    accesses: &[Found],
    (taken, alone): (&[usize], &[bool]),
    (shape, sizes): (Shape, Option<TileSizes>),
) -> Option<Vec<TileDimension>> {
    let rank = kernel.threads.len();
    let depends = |access: &Found, dimension: usize| {
        let index = taken[dimension];
        let mut subscripts = access.subscripts.iter();
        subscripts.any(|form| form.variables().contains(&index))
    };
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
    let pair = pairs.find(|(y, x)| !alone[*y] && !alone[*x] && shares(*y, *x));
    let extent = |dimension: usize| {
        let number = kernel.threads[dimension].as_number()?;
        usize::try_from(number).ok().filter(|extent| *extent > 0)
    };
    let single = |dimension: usize| TileDimension {
        threads: 1,
        points: 1,
        extent: extent(dimension),
    };
    let mut dimensions: Vec<TileDimension> = (0..rank).map(single).collect();
    let Some((y, x)) = pair else {
        if shape == Shape::Plane {
            return None;
        }
        // Neighbours in a row are read one after the other by one thread: the block reads them together.
        let strip_index = kernel
            .parts
            .iter()
            .find_map(|part| part.statement.reduced().last())?;
        let is_apart = |access: &Found| {
            let last = access.subscripts.last();
            last.is_some_and(|last| {
                let indices = last.variables();
                indices.contains(&strip_index) && !indices.contains(&taken[rank - 1])
            }) && depends(access, rank - 1)
        };
        if alone[rank - 1] || !accesses.iter().any(is_apart) {
            return None;
        }
        dimensions[rank - 1].threads = LINE_THREADS;
        return Some(dimensions);
    };
    let chosen = sizes.unwrap_or_default();
    for (dimension, size) in [(y, chosen.rows), (x, chosen.columns)] {
        dimensions[dimension] = side(usize::from(size), extent(dimension));
    }
    if sizes.is_none() {
        more_blocks(&mut dimensions, (y, x));
    }
    // Others whose points share something have threads, too, where a block has few.
    for dimension in (0..rank).rev() {
        let gains = accesses.iter().any(|access| !depends(access, dimension));
        let threads = threads(&dimensions);
        let sides = dimensions.iter().filter(|side| side.size() > 1);
        if let Some(extent) = extent(dimension)
            && !alone[dimension]
            && dimensions[dimension].size() == 1
            && gains
            && sides.count() < MOST_SIDES
            && threads < LINE_THREADS
            && threads * extent <= MOST_THREADS
        {
            dimensions[dimension].threads = extent;
        }
    }
    while threads(&dimensions) < 32
        && let Some(most) = (dimensions.iter_mut())
            .filter(|side| side.points.is_multiple_of(2))
            .max_by_key(|side| side.points)
    {
        *most = most.spread();
    }
    // Where a block may not have more, threads of an element each are more.
    let is_small = alone.contains(&true) && threads(&dimensions) < 32;
    (!is_small).then_some(dimensions)
}

fn threads(dimensions: &[TileDimension]) -> usize {
    dimensions.iter().map(|side| side.threads).product()
}

/// One of the two dimensions whose points share: as large as it is asked for, or, where there are fewer points, for those.
fn side(size: usize, extent: Option<usize>) -> TileDimension {
    match extent {
        Some(few) if few < size => {
            let points = few.min(4);
            TileDimension {
                threads: few.div_ceil(points),
                points,
                extent,
            }
        }
        _ => TileDimension {
            threads: SIDE_THREADS,
            points: size / SIDE_THREADS,
            extent,
        },
    }
}

/// Smaller tiles, where it is known that there would be few of them.
fn more_blocks(dimensions: &mut [TileDimension], (y, x): (usize, usize)) {
    let blocks = |dimensions: &[TileDimension]| {
        let each = dimensions
            .iter()
            .map(|side| Some(side.extent?.div_ceil(side.size())));
        each.product::<Option<usize>>()
    };
    while blocks(dimensions).is_some_and(|blocks| blocks < ENOUGH_BLOCKS) {
        let larger = match dimensions[y].size() >= dimensions[x].size() {
            true => y,
            false => x,
        };
        if dimensions[larger].size() < 64 || dimensions[larger].is_whole() {
            return;
        }
        dimensions[larger].threads /= 2;
    }
}

/// What a strip has: the last indices whole, where they have few values, and of the one before as many as are asked for.
fn strip(statement: &Statement, chosen: usize) -> Option<Strip> {
    let reduced: Vec<usize> = statement.reduced().collect();
    let (mut whole, mut terms) = (Vec::new(), 1);
    let mut rest = reduced.as_slice();
    while let [before @ .., _, last] = rest
        && let Some(count) = count(statement, *last)
        && terms * count <= MOST_WHOLE
    {
        terms *= count;
        whole.insert(0, (*last, count));
        rest = &rest[..before.len() + 1];
    }
    let index = *rest.last()?;
    let extent = count(statement, index);
    Some(Strip {
        index,
        count: extent.map_or(chosen, |extent| extent.min(chosen)),
        extent,
        whole,
    })
}

/// A strip of the last index only.
fn strip_of_last(statement: &Statement, chosen: usize) -> Option<Strip> {
    let index = statement.reduced().last()?;
    let extent = count(statement, index);
    Some(Strip {
        index,
        count: extent.map_or(chosen, |extent| extent.min(chosen)),
        extent,
        whole: Vec::new(),
    })
}

/// Terms of the indices of which a strip has all values, at most.
const MOST_WHOLE: usize = 32;

/// How many values an index has, where that is a number.
fn count(statement: &Statement, index: usize) -> Option<usize> {
    let variable = &statement.variables[index];
    let extent = variable.high.linear()?.subtract(variable.low.linear()?)?;
    usize::try_from(extent.as_number()?)
        .ok()
        .filter(|count| *count > 0)
}

/// The one part that reduces, if all points of a tile reduce over the same.
fn reduction(function: &Function, kernel: &Kernel<'_>) -> Option<usize> {
    let reductions = reductions(function, kernel)?;
    let is_same = !products::alone(kernel, &reductions)?.contains(&true);
    match reductions.as_slice() {
        [only] if is_same => Some(*only),
        _ => None,
    }
}

/// The parts that reduce, of a kernel whose threads take all indices on the left; there is one.
fn reductions(function: &Function, kernel: &Kernel<'_>) -> Option<Vec<usize>> {
    let mut found = Vec::new();
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
            found.push(number);
        }
    }
    (!found.is_empty()).then_some(found)
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
    strip: &Strip,
) -> Option<Promoted> {
    // Along an index: points of a tile or terms of a strip, and how many of them there can be.
    let sizes = |index: usize| match taken.iter().position(|known| *known == index) {
        Some(dimension) => (dimensions[dimension].size(), dimensions[dimension].inside()),
        None => strip.values(index).map_or((1, 1), |count| (count, count)),
    };
    let (mut extents, mut loaded) = (Vec::new(), Vec::new());
    for form in &access.subscripts {
        let (mut extent, mut inside) = (1, 1);
        for (atom, factor) in &form.terms {
            if let Atom::Variable(index) = atom {
                let (all, known) = sizes(*index);
                let factor = usize::try_from(*factor).ok()?;
                extent += factor * (all - 1);
                inside += factor * (known - 1);
            }
        }
        extents.push(extent);
        loaded.push(inside);
    }
    // The dimension of points of a thread, else of threads; the last one where there is a choice.
    let weight = |position: usize| {
        let indices = access.subscripts[position].variables();
        let of_taken = taken.iter().zip(dimensions);
        let sizes = of_taken
            .filter(|(index, _)| indices.contains(index))
            .map(|(_, dimension)| (dimension.points > 1, dimension.size()));
        sizes.max().unwrap_or((false, 0))
    };
    let inner = (0..extents.len()).max_by_key(|position| weight(*position))?;
    // Columns of what lies across in memory would meet in one bank.
    let crosses = inner + 1 != extents.len();
    let has_points = dimensions.iter().any(|dimension| dimension.points > 1);
    Some(Promoted {
        tensor: access.tensor,
        subscripts: access.subscripts.clone(),
        padding: match (crosses, has_points) {
            (true, true) if extents[inner].is_multiple_of(8) => 4,
            (true, true) => extents[inner].next_multiple_of(4) - extents[inner],
            (true, false) => 1,
            (false, _) => 0,
        },
        extents,
        loaded,
        inner,
        conditional: access.conditional,
        resident: false,
    })
}

/// The statement that a tiled kernel reduces by.
pub fn reducing<'f>(kernel: &Kernel<'f>, tiles: &Tiles) -> &'f Statement {
    kernel.parts[tiles.reduction].statement
}
