//! A kernel in tiles: the place of the tile, strips through shared memory, points in registers.

mod cores;
mod loads;
mod made;
mod strips;

use super::kernels::{Lines, accumulate, comment, parameters};
use super::values::{self, Scope};
use super::{factor, layers, size};
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Function, Subscript};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::layers::THREADS as THREADS_OF_LAYERS;
use crate::tensor::transform::tiles::MOST_SIDES;
use crate::tensor::transform::{Layers, TileDimension, Tiles};

/// What the text of a tiled kernel is made of.
#[derive(Clone, Copy)]
struct Tiled<'k> {
    function: &'k Function,
    kernel: &'k Kernel<'k>,
    tiles: &'k Tiles,
    /// How many products stand before the one whose tiles these are.
    phase: usize,
    /// It is one of several layers.
    layers: Option<&'k Layers<'k>>,
}

/// Letters of the counters of a thread's points, and of the places of threads, slower dimension first.
const COUNTERS: [&str; MOST_SIDES] = ["tc_g", "tc_h", "tc_i", "tc_j"];
const PLACES: [&str; MOST_SIDES] = ["tc_v", "tc_z", "tc_y", "tc_x"];

/// Threads of a block.
pub(super) fn threads(tiles: &Tiles) -> usize {
    tiles
        .dimensions
        .iter()
        .map(|dimension| dimension.threads)
        .product()
}

/// Blocks along each dimension, as factors.
pub(super) fn blocks(function: &Function, kernel: &Kernel<'_>, tiles: &Tiles) -> Vec<String> {
    let each = kernel.threads.iter().zip(&tiles.dimensions);
    each.map(|(extent, dimension)| {
        let extent = factor(function, extent);
        match dimension.size() {
            1 => format!("tc_max({extent}, 1)"),
            points => format!("tc_max(({extent} + {}) / {points}, 1)", points - 1),
        }
    })
    .collect()
}

/// The text of a tiled kernel.
pub(super) fn kernel(
    function: &Function,
    (kernel, tiles): (&Kernel<'_>, &Tiles),
    name: &str,
    source: &str,
) -> String {
    let tiled = Tiled {
        function,
        kernel,
        tiles,
        phase: 0,
        layers: None,
    };
    let mut lines = Lines::default();
    lines.line(&format!("// {}", tiled.summary()));
    lines.line(&format!(
        "static __global__ void __launch_bounds__({}) {name}({})",
        threads(tiles),
        parameters(function, kernel)
    ));
    lines.line("{");
    match &tiles.cores {
        None => tiled.block(source, &mut lines),
        Some(cores) => {
            lines.line(&format!(
                "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= {}",
                cores.architecture()
            ));
            tiled.block(source, &mut lines);
            lines.line("#else");
            let tiles = &cores.otherwise;
            Tiled { tiles, ..tiled }.block(source, &mut lines);
            lines.line("#endif");
        }
    }
    lines.line("}");
    lines.text
}

/// A product as one of several layers: the block computes tiles that have all of its rows, one after the other. Boxes lie
/// where `tc_boxes` begins.
pub(super) fn layer(
    function: &Function,
    (kernel, tiles, layers): (&Kernel<'_>, &Tiles, &Layers<'_>),
    source: &str,
    lines: &mut Lines,
) {
    let tiled = Tiled {
        function,
        kernel,
        tiles,
        phase: 0,
        layers: Some(layers),
    };
    lines.line(&format!("// {}", tiled.summary()));
    let depth = lines.depth;
    lines.open("");
    let mut offset = 0;
    for (number, promoted) in tiles.promoted.iter().enumerate() {
        if promoted.resident {
            continue;
        }
        let scalar = function.tensors[promoted.tensor].scalar;
        let (cuda, extents) = (scalar.cuda(), tiled.box_extents(number));
        lines.line(&format!(
            "{cuda} (&tc_{}){extents} = *reinterpret_cast<{cuda} (*){extents}>(tc_boxes + {offset});",
            tiled.tile_name(number)
        ));
        let bytes = promoted.elements() * usize::try_from(scalar.bytes()).unwrap_or(8);
        offset += bytes.next_multiple_of(16);
    }
    tiled.place_of_threads(lines);
    let columns = factor(function, &kernel.threads[1]);
    let size = tiles.dimensions[1].size();
    lines.open(&format!(
        "for (long long tc_first1 = 0; tc_first1 < {columns}; tc_first1 += {size})"
    ));
    tiled.full(lines);
    tiled.body(source, lines);
    lines.close_to(depth);
}

impl Tiled<'_> {
    /// All that a block does by itself.
    fn block(&self, source: &str, lines: &mut Lines) {
        lines.depth = 1;
        match &self.tiles.cores {
            None => {
                for product in self.products() {
                    let boxes = 0..product.tiles.promoted.len();
                    boxes.for_each(|number| product.declare(number, lines));
                }
            }
            Some(cores) => self.declare_matrices(cores, lines),
        }
        self.place_of_tile(lines);
        self.body(source, lines);
        lines.depth = 0;
    }

    /// All products of the kernel, which have the same points.
    fn products(&self) -> impl Iterator<Item = Self> {
        let (own, later) = (*self, self.tiles.later.iter().enumerate());
        let later = later.map(move |(number, tiles)| Self {
            tiles,
            phase: number + 1,
            ..own
        });
        std::iter::once(own).chain(later)
    }

    /// The product that a part begins.
    fn product(&self, part: usize) -> Option<Self> {
        self.products()
            .find(|product| product.tiles.reduction == part)
    }

    /// A register for each point of a thread.
    fn declare_value(&self, number: usize, lines: &mut Lines) {
        let target = self.kernel.parts[number].statement.target;
        let computed = self.function.tensors[target].scalar.computed();
        // Points that are outside have a value, too.
        let array = self.array();
        lines.line(&format!(
            "{} tc_value_{number}{array} = {{}};",
            computed.cuda()
        ));
    }

    /// All parts, one after the other.
    fn body(&self, source: &str, lines: &mut Lines) {
        let (function, kernel) = (self.function, self.kernel);
        if let Some(cores) = &self.tiles.cores {
            self.sum_up(cores, lines);
        }
        let mut held: Option<usize> = None;
        for (number, part) in kernel.parts.iter().enumerate() {
            let target = part.statement.target;
            let is_made = self.tiles.is_beside(number);
            if held.is_none() && !is_made {
                self.declare_value(number, lines);
            }
            let product = self.product(number);
            let beside = product.iter().flat_map(|product| &product.tiles.beside);
            for other in beside.clone() {
                self.declare_value(*other, lines);
            }
            let slot = held.unwrap_or(number);
            if !is_made {
                for each in std::iter::once(&number).chain(beside) {
                    let statement = kernel.parts[*each].statement;
                    lines.line(&format!("// {}", comment(source, statement.span)));
                }
                self.part(number, (slot, held.is_some()), lines);
            }
            // An element stays in its register as long as the next part changes it again, unless elements are narrower.
            let scalar = function.tensors[target].scalar;
            let goes_on = kernel
                .parts
                .get(number + 1)
                .is_some_and(|next| next.statement.target == target && scalar == scalar.computed());
            if goes_on {
                held = Some(slot);
                continue;
            }
            self.points(part, true, lines, |lines| {
                let places = self.places(part).join(" = ");
                let stored = values::stored(self.value(slot), scalar, scalar.computed());
                lines.line(&format!("{places} = {stored};"));
            });
            held = None;
        }
    }

    /// Where the element is that a part makes; the last one is the nearest.
    fn places(&self, part: &Part<'_>) -> Vec<String> {
        let statement = part.statement;
        let (target, subscripts) = (statement.target, &statement.subscripts);
        if let Some(layers) = self.layers {
            return layers::places(self.function, layers, part);
        }
        let place = values::place(self.function, statement, target, subscripts);
        vec![format!("{}[{place}]", self.function.tensors[target].name)]
    }

    /// Threads of the block, of which all load.
    fn block_threads(&self) -> usize {
        self.layers
            .map_or(threads(self.tiles), |_| THREADS_OF_LAYERS)
    }

    /// Under which condition a thread has points, unless all threads have.
    fn has_points(&self) -> Option<String> {
        let threads = threads(self.tiles);
        (threads < self.block_threads()).then(|| format!("threadIdx.x < {threads}"))
    }

    fn summary(&self) -> String {
        let part = &self.kernel.parts[self.tiles.reduction];
        let statement = part.statement;
        let sizes = taken(part).iter().zip(&self.tiles.dimensions);
        let each: Vec<String> = sizes
            .map(|(index, dimension)| {
                format!("{} {}", dimension.size(), statement.variables[*index].name)
            })
            .collect();
        let strip = &self.tiles.strip;
        format!(
            "A block computes {}{}, and takes {} {} at a time.",
            each.join(" x "),
            match &self.tiles.cores {
                None => "",
                Some(_) => " by tensor cores",
            },
            strip.count,
            statement.variables[strip.index].name
        )
    }

    /// Dimensions of which a thread has several points, or of which there are several threads: slower one first.
    fn sides(&self) -> Vec<usize> {
        let all = self.tiles.dimensions.iter().enumerate();
        all.filter(|(_, dimension)| dimension.size() > 1)
            .map(|(number, _)| number)
            .collect()
    }

    /// Names of the counter and of the thread's place of a dimension.
    fn names(&self, dimension: usize) -> Option<(&'static str, &'static str)> {
        let sides = self.sides();
        let position = sides.iter().position(|side| *side == dimension)?;
        let position = position + MOST_SIDES - sides.len();
        Some((COUNTERS[position], PLACES[position]))
    }

    /// The point of a thread along a dimension, counted from the tile's first one.
    fn local(&self, dimension: usize) -> Option<String> {
        let (counter, thread) = self.names(dimension)?;
        Some(match self.tiles.dimensions[dimension].points {
            1 => thread.to_owned(),
            points => format!("{thread} * {points} + {counter}"),
        })
    }

    /// Dimensions of which a thread has several points.
    fn several(&self) -> Vec<usize> {
        let mut sides = self.sides();
        sides.retain(|side| self.tiles.dimensions[*side].points > 1);
        sides
    }

    fn array(&self) -> String {
        let each = self.several().into_iter();
        each.map(|side| format!("[{}]", self.tiles.dimensions[side].points))
            .collect()
    }

    fn value(&self, slot: usize) -> String {
        let each = self
            .several()
            .into_iter()
            .filter_map(|side| self.names(side));
        let places: String = each.map(|(counter, _)| format!("[{counter}]")).collect();
        format!("tc_value_{slot}{places}")
    }

    fn tile_name(&self, number: usize) -> String {
        let tensor = self.tiles.promoted[number].tensor;
        let before = self.tiles.promoted[..number]
            .iter()
            .filter(|other| other.tensor == tensor)
            .count();
        let name = &self.function.tensors[tensor].name;
        match (self.phase, before) {
            (0, 0) => format!("tile_{name}"),
            (0, _) => format!("tile{before}_{name}"),
            (phase, _) => format!("later{phase}_tile{before}_{name}"),
        }
    }

    fn declare(&self, number: usize, lines: &mut Lines) {
        let tensor = self.tiles.promoted[number].tensor;
        lines.line(&format!(
            "__shared__ __align__(16) {} tc_{}{};",
            self.function.tensors[tensor].scalar.cuda(),
            self.tile_name(number),
            self.box_extents(number)
        ));
    }

    fn box_extents(&self, number: usize) -> String {
        let promoted = &self.tiles.promoted[number];
        let extents = promoted.order().into_iter().map(|dimension| {
            let padding = if dimension == promoted.inner {
                promoted.padding
            } else {
                0
            };
            format!("[{}]", promoted.extents[dimension] + padding)
        });
        let stages = match self.tiles.stages {
            1 => String::new(),
            stages => format!("[{stages}]"),
        };
        stages + &extents.collect::<String>()
    }

    fn place_of_threads(&self, lines: &mut Lines) {
        let mut behind = 1;
        let sides = self.sides();
        let each = sides.iter().enumerate().rev().map(|(position, side)| {
            let count = self.tiles.dimensions[*side].threads;
            let mut text = "threadIdx.x".to_owned();
            if behind > 1 {
                text += &format!(" / {behind}");
            }
            if position > 0 {
                text += &format!(" % {count}");
            }
            behind *= count;
            let (_, thread) = self.names(*side)?;
            Some(format!("{thread} = {text}"))
        });
        let each: Vec<String> = each.flatten().collect();
        if !each.is_empty() {
            lines.line(&format!("const int {};", each.join(", ")));
        }
    }

    fn place_of_tile(&self, lines: &mut Lines) {
        self.place_of_threads(lines);
        let blocks = blocks(self.function, self.kernel, self.tiles);
        if blocks.len() > 1 {
            lines.line("long long tc_block = blockIdx.x;");
        }
        for (dimension, count) in blocks.iter().enumerate().rev() {
            let block = match (blocks.len(), dimension) {
                (1, _) => "(long long)blockIdx.x".to_owned(),
                (_, 0) => "tc_block".to_owned(),
                _ => format!("tc_block % {count}"),
            };
            let points = match self.tiles.dimensions[dimension].size() {
                1 => String::new(),
                points => format!(" * {points}"),
            };
            lines.line(&format!(
                "const long long tc_first{dimension} = {block}{points};"
            ));
            if dimension > 0 {
                lines.line(&format!("tc_block /= {count};"));
            }
        }
        let extent = |dimension: usize| factor(self.function, &self.kernel.threads[dimension]);
        let outside: Vec<String> = (0..blocks.len())
            .map(|dimension| format!("tc_first{dimension} >= {}", extent(dimension)))
            .collect();
        lines.line(&format!("if ({})", outside.join(" || ")));
        lines.line("    return;");
        self.full(lines);
    }

    fn full(&self, lines: &mut Lines) {
        let extent = |dimension: usize| factor(self.function, &self.kernel.threads[dimension]);
        let sides = self.sides().into_iter();
        let full: Vec<String> = sides
            .filter(|side| may_be_partial(self.tiles.dimensions[*side]))
            .map(|side| {
                let points = self.tiles.dimensions[side].size();
                format!("tc_first{side} + {points} <= {}", extent(side))
            })
            .collect();
        if !full.is_empty() {
            lines.line(&format!("const bool tc_full = {};", full.join(" && ")));
        }
    }

    /// Whether only the place of a tile says if all of it is inside.
    fn may_be_partial(&self) -> bool {
        let mut dimensions = self.tiles.dimensions.iter();
        dimensions.any(|dimension| dimension.size() > 1 && may_be_partial(*dimension))
    }

    /// Loops over the points of a thread.
    fn loops(&self, sides: &[usize], lines: &mut Lines) {
        for side in sides {
            let points = self.tiles.dimensions[*side].points;
            if let Some((counter, _)) = self.names(*side).filter(|_| points > 1) {
                lines.line("#pragma unroll");
                lines.open(&format!(
                    "for (int {counter} = 0; {counter} < {points}; ++{counter})"
                ));
            }
        }
    }

    /// `write` for each point of a thread, with the names of the part's indices; only where the point is one.
    fn points(
        &self,
        part: &Part<'_>,
        guarded: bool,
        lines: &mut Lines,
        write: impl FnOnce(&mut Lines),
    ) {
        let depth = lines.depth;
        let several = self.several();
        if several.is_empty() {
            lines.open("");
        }
        self.loops(&several, lines);
        for (dimension, index) in taken(part).iter().enumerate() {
            let variable = &part.statement.variables[*index];
            let low = variable.low.linear().cloned().unwrap_or_default();
            let mut text = format!("tc_first{dimension}");
            if let Some(local) = self.local(dimension) {
                text += &format!(" + {local}");
            }
            if low.as_number() != Some(0) {
                text = format!("{} + {text}", size(self.function, &low));
            }
            lines.line(&format!("const long long {} = {text};", variable.name));
        }
        let inside = self.inside(part, &|_, name| name.to_owned());
        if let Some(condition) = inside.filter(|_| guarded) {
            lines.open(&format!("if ({condition})"));
        }
        write(lines);
        lines.close_to(depth);
    }

    /// Under which condition a thread's point is one; `point` says what the index of a dimension is there.
    fn inside(&self, part: &Part<'_>, point: &dyn Fn(&str, &str) -> String) -> Option<String> {
        let (mut partial, mut conditions) = (Vec::new(), Vec::new());
        for (dimension, index) in taken(part).iter().enumerate() {
            let Some(local) = self.local(dimension) else {
                continue;
            };
            let variable = &part.statement.variables[*index];
            let high = values::bound(self.function, part.statement, &variable.high);
            let condition = format!("{} < {high}", point(&local, &variable.name));
            let side = self.tiles.dimensions[dimension];
            match may_be_partial(side) {
                true => partial.push(condition),
                false if side.is_always_full() => {}
                false => conditions.push(condition),
            }
        }
        conditions.extend(self.has_points());
        match (partial.as_slice(), conditions.as_slice()) {
            ([], _) => {}
            ([only], []) => conditions.push(format!("tc_full || {only}")),
            (several, []) => conditions.push(format!("tc_full || ({})", several.join(" && "))),
            (several, _) => conditions.push(format!("(tc_full || ({}))", several.join(" && "))),
        }
        (!conditions.is_empty()).then(|| conditions.join(" && "))
    }

    /// One part for all points of a thread; `is_held` says that the element is in its register already.
    fn part(&self, number: usize, (slot, is_held): (usize, bool), lines: &mut Lines) {
        let part = &self.kernel.parts[number];
        let (function, statement) = (self.function, part.statement);
        let target = &function.tensors[statement.target];
        let computed = target.scalar.computed();
        let value = self.value(slot);
        let own = |tensor: usize, subscripts: &[Subscript]| {
            let is_own = is_held && tensor == statement.target;
            is_own.then(|| value.clone()).or_else(|| {
                let layers = self.layers?;
                layers::resident(function, layers, statement, (tensor, subscripts))
            })
        };
        let scope = Scope {
            statement,
            held: &own,
        };
        let element = || {
            let places = self.places(part);
            values::loaded(&places[places.len() - 1], target.scalar)
        };
        let Operator::Reduce(reduction, starts) = statement.operator else {
            return self.points(part, true, lines, |lines| {
                let text = values::value_as(function, scope, &statement.value, computed);
                lines.line(&format!("{value} = {text};"));
            });
        };
        let first = match (starts, is_held) {
            (true, _) => Some(values::neutral(reduction, target.scalar)),
            (false, true) => None,
            (false, false) => Some(element()),
        };
        if let (Some(cores), true) = (&self.tiles.cores, number == self.tiles.reduction) {
            let sum = self.sum(cores);
            let first = first.filter(|_| !starts);
            if let Some(first) = first {
                return self.points(part, true, lines, |lines| {
                    lines.line(&format!("{value} = {first} + {sum};"));
                });
            }
            let depth = lines.depth;
            self.loops(&self.several(), lines);
            let sign = if starts { "=" } else { "+=" };
            lines.line(&format!("{value} {sign} {sum};"));
            return lines.close_to(depth);
        }
        let Some(product) = self.product(number) else {
            // A change of the element by one term.
            return self.points(part, true, lines, |lines| {
                if let Some(first) = first {
                    lines.line(&format!("{value} = {first};"));
                }
                let term = values::value_as(function, scope, &statement.value, computed);
                lines.line(&accumulate(reduction, computed, &value, &term));
            });
        };
        match first {
            Some(first) if starts => {
                let depth = lines.depth;
                self.loops(&self.several(), lines);
                lines.line(&format!("{value} = {first};"));
                lines.close_to(depth);
            }
            Some(first) => self.points(part, true, lines, |lines| {
                lines.line(&format!("{value} = {first};"));
            }),
            None => {}
        }
        let mut values = vec![(number, value)];
        for other in &product.tiles.beside {
            let statement = self.kernel.parts[*other].statement;
            let Operator::Reduce(reduction, _) = statement.operator else {
                unreachable!("only reductions are products")
            };
            let neutral = values::neutral(reduction, function.tensors[statement.target].scalar);
            let value = self.value(*other);
            let depth = lines.depth;
            self.loops(&self.several(), lines);
            lines.line(&format!("{value} = {neutral};"));
            lines.close_to(depth);
            values.push((*other, value));
        }
        let depth = lines.depth;
        lines.open("");
        product.reduce(part, &values, lines);
        lines.close_to(depth);
    }
}

/// Whether only its place says if a tile is full along a dimension.
fn may_be_partial(side: TileDimension) -> bool {
    !side.is_always_full() && !side.is_whole()
}

fn reducing_part<'t>(tiled: &Tiled<'t>) -> &'t Part<'t> {
    &tiled.kernel.parts[tiled.tiles.reduction]
}

fn taken<'p>(part: &'p Part<'_>) -> &'p [usize] {
    match &part.work {
        Work::Compute { taken, .. } => taken,
        Work::Initialise => &[],
    }
}
