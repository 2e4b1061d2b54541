//! A kernel in tiles: the place of the tile, strips through shared memory, points in registers.

mod loads;

use super::kernels::{Lines, accumulate, comment, parameters};
use super::values::{self, Scope, bracketed};
use super::{factor, layers, size};
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Function, Statement, Subscript};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::layers::THREADS as THREADS_OF_LAYERS;
use crate::tensor::transform::tiles::MOST_SIDES;
use crate::tensor::transform::{Layers, TileDimension, Tiles};
use crate::tensor::types::Scalar;

/// What the text of a tiled kernel is made of.
struct Tiled<'k> {
    function: &'k Function,
    kernel: &'k Kernel<'k>,
    tiles: &'k Tiles,
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
    lines.depth = 1;
    for number in 0..tiles.promoted.len() {
        tiled.declare(number, &mut lines);
    }
    tiled.place_of_tile(&mut lines);
    tiled.body(source, &mut lines);
    lines.depth = 0;
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
    /// All parts, one after the other.
    fn body(&self, source: &str, lines: &mut Lines) {
        let (function, kernel) = (self.function, self.kernel);
        let mut held: Option<usize> = None;
        for (number, part) in kernel.parts.iter().enumerate() {
            let target = part.statement.target;
            if held.is_none() {
                let computed = function.tensors[target].scalar.computed();
                // Points that are outside have a value, too.
                let array = self.array();
                lines.line(&format!(
                    "{} tc_value_{number}{array} = {{}};",
                    computed.cuda()
                ));
            }
            lines.line(&format!("// {}", comment(source, part.statement.span)));
            let slot = held.unwrap_or(number);
            self.part(number, (slot, held.is_some()), lines);
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
            "A block computes {}, and takes {} {} at a time.",
            each.join(" x "),
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
        match before {
            0 => format!("tile_{name}"),
            _ => format!("tile{before}_{name}"),
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
        extents.collect()
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
        let (mut partial, mut conditions) = (Vec::new(), Vec::new());
        for (dimension, index) in taken(part).iter().enumerate() {
            let variable = &part.statement.variables[*index];
            let low = variable.low.linear().cloned().unwrap_or_default();
            let mut text = format!("tc_first{dimension}");
            if let Some(local) = self.local(dimension) {
                text += &format!(" + {local}");
                let high = values::bound(self.function, part.statement, &variable.high);
                let condition = format!("{} < {high}", variable.name);
                let side = self.tiles.dimensions[dimension];
                match may_be_partial(side) {
                    true => partial.push(condition),
                    false if side.is_always_full() => {}
                    false => conditions.push(condition),
                }
            }
            if low.as_number() != Some(0) {
                text = format!("{} + {text}", size(self.function, &low));
            }
            lines.line(&format!("const long long {} = {text};", variable.name));
        }
        conditions.extend(self.has_points());
        match (partial.as_slice(), conditions.as_slice()) {
            ([], _) => {}
            ([only], []) => conditions.push(format!("tc_full || {only}")),
            (several, []) => conditions.push(format!("tc_full || ({})", several.join(" && "))),
            (several, _) => conditions.push(format!("(tc_full || ({}))", several.join(" && "))),
        }
        if guarded && !conditions.is_empty() {
            lines.open(&format!("if ({})", conditions.join(" && ")));
        }
        write(lines);
        lines.close_to(depth);
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
        if number != self.tiles.reduction {
            // A change of the element by one term.
            return self.points(part, true, lines, |lines| {
                if let Some(first) = first {
                    lines.line(&format!("{value} = {first};"));
                }
                let term = values::value_as(function, scope, &statement.value, computed);
                lines.line(&accumulate(reduction, computed, &value, &term));
            });
        }
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
        let depth = lines.depth;
        lines.open("");
        self.strips(part, &value, lines);
        lines.close_to(depth);
    }

    /// The reduction: strip after strip.
    fn strips(&self, part: &Part<'_>, value: &str, lines: &mut Lines) {
        let (function, statement) = (self.function, part.statement);
        // Until the points are computed, an index is that of the tile's first point.
        for (dimension, index) in taken(part).iter().enumerate() {
            let variable = &statement.variables[*index];
            let low = variable.low.linear().cloned().unwrap_or_default();
            let low = match low.as_number() {
                Some(0) => String::new(),
                _ => format!("{} + ", size(function, &low)),
            };
            lines.line(&format!(
                "const long long {} = {low}tc_first{dimension};",
                variable.name
            ));
        }
        let strip = &self.tiles.strip;
        let count = strip.count;
        self.clear_behind(lines);
        let before = statement
            .reduced()
            .take_while(|index| *index != strip.index);
        for index in before.chain([strip.index]) {
            let variable = &statement.variables[index];
            let low = values::bound(function, statement, &variable.low);
            let high = values::bound(function, statement, &variable.high);
            let name = &variable.name;
            let is_strip = index == strip.index;
            let step = match is_strip {
                true => format!("{name} += {count}"),
                false => format!("++{name}"),
            };
            lines.open(&format!(
                "for (long long {name} = {low}; {name} < {high}; {step})"
            ));
            if is_strip && !strip.is_always_full() {
                lines.line(&format!(
                    "const int tc_steps = (int)tc_min({count}, {} - {name});",
                    bracketed(&high)
                ));
            }
        }
        for (index, _) in &strip.whole {
            let variable = &statement.variables[*index];
            let low = values::bound(function, statement, &variable.low);
            lines.line(&format!("const long long {} = {low};", variable.name));
        }
        for (number, promoted) in self.tiles.promoted.iter().enumerate() {
            if !promoted.resident {
                self.promote(number, lines);
            }
        }
        lines.line("__syncthreads();");
        let outside = lines.depth;
        if let Some(condition) = self.has_points() {
            lines.open(&format!("if ({condition})"));
        }
        let depth = lines.depth;
        if !strip.is_always_full() {
            lines.open(&format!("if (tc_steps == {count})"));
        }
        let whole_is_open = lines.depth;
        match strip.unrolled() {
            1 => {}
            all if all == count => lines.line("#pragma unroll"),
            some => lines.line(&format!("#pragma unroll {some}")),
        }
        lines.open(&format!(
            "for (int tc_step = 0; tc_step < {count}; ++tc_step)"
        ));
        self.step(part, value, lines);
        lines.close_to(whole_is_open);
        if !strip.is_always_full() {
            lines.close_to(depth);
            lines.open("else");
            lines.open("for (int tc_step = 0; tc_step < tc_steps; ++tc_step)");
            self.step(part, value, lines);
        }
        lines.close_to(outside);
        lines.line("__syncthreads();");
    }

    /// What is added to an index in a step of a strip.
    fn step_of(&self, statement: &Statement, index: usize) -> Option<String> {
        let strip = &self.tiles.strip;
        if index == strip.index {
            return Some("tc_step".to_owned());
        }
        let is_whole = strip.whole.iter().any(|(known, _)| *known == index);
        is_whole.then(|| format!("tc_step_{}", statement.variables[index].name))
    }

    /// One value of the strip's index for all points of a thread: registers first, then the terms.
    fn step(&self, part: &Part<'_>, value: &str, lines: &mut Lines) {
        let (function, statement) = (self.function, part.statement);
        let outermost = lines.depth;
        for (index, count) in &self.tiles.strip.whole {
            let step = format!("tc_step_{}", statement.variables[*index].name);
            lines.line("#pragma unroll");
            lines.open(&format!("for (int {step} = 0; {step} < {count}; ++{step})"));
        }
        for number in 0..self.tiles.promoted.len() {
            self.registers(part, number, lines);
        }
        let several = self.several();
        self.loops(&several, lines);
        let used = values::used_indices(&statement.value);
        for (index, variable) in statement.variables.iter().enumerate() {
            if !used.contains(&index) {
                continue;
            }
            let first = self.step_of(statement, index).or_else(|| {
                let mut taken = taken(part).iter();
                let dimension = taken.position(|known| *known == index)?;
                self.local(dimension)
            });
            // The name in scope is that of the tile's first point; a lambda sees it before the new one hides it.
            if let Some(local) = first {
                let name = &variable.name;
                lines.line(&format!(
                    "const long long tc_point_{name} = {name} + {local};"
                ));
            }
        }
        let held = |tensor: usize, subscripts: &[Subscript]| {
            let forms: Option<Vec<&Linear>> = subscripts
                .iter()
                .map(|subscript| subscript.linear.as_ref())
                .collect();
            let forms = forms?;
            let number = self.tiles.promoted.iter().position(|promoted| {
                promoted.tensor == tensor && promoted.subscripts.iter().eq(forms.iter().copied())
            })?;
            Some(self.register(part, number))
        };
        let points = renamed(statement, part, &used, self);
        let scope = Scope {
            statement: &points,
            held: &held,
        };
        let Operator::Reduce(reduction, _) = statement.operator else {
            unreachable!("only reductions are tiled")
        };
        let computed = function.tensors[statement.target].scalar.computed();
        let term = values::value_as(function, scope, &statement.value, computed);
        lines.line(&accumulate(reduction, computed, value, &term));
        lines.close_to(outermost);
    }

    /// Sides of the tile of which a box depends, where a thread has several points.
    fn register_sides(&self, part: &Part<'_>, number: usize) -> Vec<usize> {
        let promoted = &self.tiles.promoted[number];
        let mut sides = self.several();
        sides.retain(|side| {
            let index = taken(part)[*side];
            let mut forms = promoted.subscripts.iter();
            forms.any(|form| form.variables().contains(&index))
        });
        sides
    }

    fn register(&self, part: &Part<'_>, number: usize) -> String {
        let sides = self.register_sides(part, number).into_iter();
        let places: String = sides
            .filter_map(|side| self.names(side))
            .map(|(counter, _)| format!("[{counter}]"))
            .collect();
        format!("tc_of_{}{places}", self.tile_name(number))
    }

    /// Reads what a thread's points need of a box.
    fn registers(&self, part: &Part<'_>, number: usize, lines: &mut Lines) {
        let promoted = &self.tiles.promoted[number];
        let scalar = self.function.tensors[promoted.tensor].scalar;
        let sides = self.register_sides(part, number);
        let place = |dimension: usize| {
            let mut terms: Vec<String> = Vec::new();
            for (atom, factor) in &promoted.subscripts[dimension].terms {
                let Atom::Variable(index) = atom else {
                    continue;
                };
                let local = self.step_of(part.statement, *index).or_else(|| {
                    let side = taken(part).iter().position(|known| known == index)?;
                    self.local(side)
                });
                terms.extend(local.map(|local| match factor {
                    1 => local,
                    _ => format!("{factor} * {}", bracketed(&local)),
                }));
            }
            match terms.is_empty() {
                true => "0".to_owned(),
                false => terms.join(" + "),
            }
        };
        let from = match self.layers.filter(|_| promoted.resident) {
            Some(layers) => {
                // The names of indices are those of the strip's and the tile's first ones.
                let first = |dimension: usize| {
                    let form = &promoted.subscripts[dimension];
                    values::form(self.function, part.statement, form)
                };
                let along = (1..promoted.subscripts.len()).map(|dimension| {
                    match (first(dimension).as_str(), place(dimension).as_str()) {
                        (first, "0") => first.to_owned(),
                        ("0", place) => place.to_owned(),
                        (first, place) => format!("{first} + {place}"),
                    }
                });
                let along: Vec<String> = along.collect();
                layers::row_element(self.function, layers, promoted.tensor, &place(0), &along)
            }
            None => {
                let order = promoted.order().into_iter();
                let places: String = order
                    .map(|dimension| format!("[{}]", place(dimension)))
                    .collect();
                format!("tc_{}{places}", self.tile_name(number))
            }
        };
        let to = self.register(part, number);
        let points: String = sides
            .iter()
            .map(|side| format!("[{}]", self.tiles.dimensions[*side].points))
            .collect();
        let cuda = scalar.cuda();
        if sides.is_empty() {
            lines.line(&format!("const {cuda} {to} = {from};"));
            return;
        }
        lines.line(&format!("{cuda} tc_of_{}{points};", self.tile_name(number)));
        let depth = lines.depth;
        // Neighbours in shared memory are read by four.
        if let [side] = sides.as_slice()
            && !promoted.resident
            && self.tiles.dimensions[*side].points.is_multiple_of(4)
            && scalar == Scalar::Float
            && promoted.subscripts[promoted.inner].variables() == [taken(part)[*side]]
            && promoted.subscripts[promoted.inner]
                .terms
                .get(&Atom::Variable(taken(part)[*side]))
                == Some(&1)
            && (promoted.extents[promoted.inner] + promoted.padding).is_multiple_of(4)
            && let Some((counter, _)) = self.names(*side)
        {
            let points = self.tiles.dimensions[*side].points;
            lines.line("#pragma unroll");
            lines.open(&format!(
                "for (int {counter} = 0; {counter} < {points}; {counter} += 4)"
            ));
            lines.line(&format!(
                "*reinterpret_cast<float4 *>(&{to}) = *reinterpret_cast<const float4 *>(&{from});"
            ));
            lines.close_to(depth);
            return;
        }
        self.loops(&sides, lines);
        lines.line(&format!("{to} = {from};"));
        lines.close_to(depth);
    }
}

/// Whether only its place says if a tile is full along a dimension.
fn may_be_partial(side: TileDimension) -> bool {
    !side.is_always_full() && !side.is_whole()
}

fn taken<'p>(part: &'p Part<'_>) -> &'p [usize] {
    match &part.work {
        Work::Compute { taken, .. } => taken,
        Work::Initialise => &[],
    }
}

/// The statement with the names of a thread's points for the indices that move within a tile.
fn renamed(statement: &Statement, part: &Part<'_>, used: &[usize], tiled: &Tiled<'_>) -> Statement {
    let mut points = statement.clone();
    for (index, variable) in points.variables.iter_mut().enumerate() {
        let dimension = taken(part).iter().position(|known| *known == index);
        let moves = tiled.step_of(statement, index).is_some()
            || dimension.is_some_and(|dimension| tiled.local(dimension).is_some());
        if moves && used.contains(&index) {
            variable.name = format!("tc_point_{}", variable.name);
        }
    }
    points
}
