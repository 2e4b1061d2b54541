//! A kernel in tiles: the place of the tile, strips through shared memory, points in registers.

use super::kernels::{Lines, accumulate, comment, parameters};
use super::values::{self, Scope, bracketed};
use super::{factor, size};
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Function, Statement, Subscript, Value, ValueKind};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::Tiles;
use crate::tensor::transform::tiles::reducing;
use crate::tensor::types::Scalar;

/// What the text of a tiled kernel is made of.
struct Tiled<'k> {
    function: &'k Function,
    kernel: &'k Kernel<'k>,
    tiles: &'k Tiles,
}

/// Letters of the counters of a thread's points, and of the places of threads, slower dimension first.
const COUNTERS: [&str; 2] = ["tc_i", "tc_j"];
const THREADS: [&str; 2] = ["tc_y", "tc_x"];

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
    let mut held: Option<usize> = None;
    for (number, part) in kernel.parts.iter().enumerate() {
        let target = part.statement.target;
        if held.is_none() {
            let computed = function.tensors[target].scalar.computed();
            // Points that are outside have a value, too.
            let array = tiled.array();
            lines.line(&format!(
                "{} tc_value_{number}{array} = {{}};",
                computed.cuda()
            ));
        }
        lines.line(&format!("// {}", comment(source, part.statement.span)));
        let slot = held.unwrap_or(number);
        tiled.part(number, (slot, held.is_some()), &mut lines);
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
        tiled.points(part, true, &mut lines, |lines| {
            let place = values::place(function, part.statement, target, &part.statement.subscripts);
            let value = tiled.value(slot);
            let stored = values::stored(value, scalar, scalar.computed());
            lines.line(&format!(
                "{}[{place}] = {stored};",
                function.tensors[target].name
            ));
        });
        held = None;
    }
    lines.depth = 0;
    lines.line("}");
    lines.text
}

impl Tiled<'_> {
    fn summary(&self) -> String {
        let part = &self.kernel.parts[self.tiles.reduction];
        let statement = part.statement;
        let sizes = taken(part).iter().zip(&self.tiles.dimensions);
        let each: Vec<String> = sizes
            .map(|(index, dimension)| {
                format!("{} {}", dimension.size(), statement.variables[*index].name)
            })
            .collect();
        let strip = statement.reduced().last();
        let strip = strip.map_or("", |index| statement.variables[index].name.as_str());
        format!(
            "A block computes {}, and takes {} {strip} at a time.",
            each.join(" x "),
            self.tiles.strip
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
        let position = position + 2 - sides.len();
        Some((COUNTERS[position], THREADS[position]))
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
        let promoted = &self.tiles.promoted[number];
        let extents = promoted.order().into_iter().map(|dimension| {
            let padding = if dimension == promoted.inner {
                promoted.padding
            } else {
                0
            };
            format!("[{}]", promoted.extents[dimension] + padding)
        });
        lines.line(&format!(
            "__shared__ __align__(16) {} tc_{}{};",
            self.function.tensors[promoted.tensor].scalar.cuda(),
            self.tile_name(number),
            extents.collect::<String>()
        ));
    }

    fn place_of_tile(&self, lines: &mut Lines) {
        match self.sides().as_slice() {
            [_] => lines.line("const int tc_x = threadIdx.x;"),
            [_, x] => {
                let columns = self.tiles.dimensions[*x].threads;
                lines.line(&format!(
                    "const int tc_x = threadIdx.x % {columns}, tc_y = threadIdx.x / {columns};"
                ));
            }
            _ => {}
        }
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
        let full: Vec<String> = self
            .sides()
            .into_iter()
            .map(|side| {
                let points = self.tiles.dimensions[side].size();
                format!("tc_first{side} + {points} <= {}", extent(side))
            })
            .collect();
        lines.line(&format!("const bool tc_full = {};", full.join(" && ")));
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
        let mut conditions = Vec::new();
        for (dimension, index) in taken(part).iter().enumerate() {
            let variable = &part.statement.variables[*index];
            let low = variable.low.linear().cloned().unwrap_or_default();
            let mut text = format!("tc_first{dimension}");
            if let Some(local) = self.local(dimension) {
                text += &format!(" + {local}");
                let high = values::bound(self.function, part.statement, &variable.high);
                conditions.push(format!("{} < {high}", variable.name));
            }
            if low.as_number() != Some(0) {
                text = format!("{} + {text}", size(self.function, &low));
            }
            lines.line(&format!("const long long {} = {text};", variable.name));
        }
        if guarded && !conditions.is_empty() {
            lines.open(&format!("if (tc_full || ({}))", conditions.join(" && ")));
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
        let own = |tensor: usize, _: &[Subscript]| {
            (is_held && tensor == statement.target).then(|| value.clone())
        };
        let scope = Scope {
            statement,
            held: &own,
        };
        let element = || {
            let place = values::place(function, statement, statement.target, &statement.subscripts);
            values::loaded(&format!("{}[{place}]", target.name), target.scalar)
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
        let reduced: Vec<usize> = statement.reduced().collect();
        let strip = self.tiles.strip;
        for (position, index) in reduced.iter().enumerate() {
            let variable = &statement.variables[*index];
            let low = values::bound(function, statement, &variable.low);
            let high = values::bound(function, statement, &variable.high);
            let name = &variable.name;
            let is_strip = position + 1 == reduced.len();
            let step = match is_strip {
                true => format!("{name} += {strip}"),
                false => format!("++{name}"),
            };
            lines.open(&format!(
                "for (long long {name} = {low}; {name} < {high}; {step})"
            ));
            if is_strip {
                lines.line(&format!(
                    "const int tc_steps = (int)tc_min({strip}, {} - {name});",
                    bracketed(&high)
                ));
            }
        }
        for number in 0..self.tiles.promoted.len() {
            self.promote(number, lines);
        }
        lines.line("__syncthreads();");
        lines.open(&format!("if (tc_steps == {strip})"));
        lines.line("#pragma unroll");
        lines.open(&format!(
            "for (int tc_step = 0; tc_step < {strip}; ++tc_step)"
        ));
        self.step(part, value, lines);
        lines.close_to(lines.depth - 2);
        lines.open("else");
        lines.open("for (int tc_step = 0; tc_step < tc_steps; ++tc_step)");
        self.step(part, value, lines);
        lines.close_to(lines.depth - 2);
        lines.line("__syncthreads();");
    }

    /// Loads a box.
    fn promote(&self, number: usize, lines: &mut Lines) {
        let promoted = &self.tiles.promoted[number];
        let statement = reducing(self.kernel, self.tiles);
        let tensor = &self.function.tensors[promoted.tensor];
        let threads = threads(self.tiles);
        let origins: Vec<String> = promoted
            .subscripts
            .iter()
            .map(|form| values::form(self.function, statement, form))
            .collect();
        let rank = origins.len();
        let last = rank - 1;
        let place = {
            let mut place = String::new();
            for (dimension, origin) in origins.iter().enumerate() {
                let subscript = match (origin.as_str(), promoted.extents[dimension]) {
                    (origin, 1) => origin.to_owned(),
                    (origin, _) => format!("{origin} + tc_{dimension}"),
                };
                place = match place.is_empty() {
                    true => subscript,
                    false => {
                        let extent = factor(self.function, &tensor.extents[dimension]);
                        format!(
                            "{} * {extent} + {}",
                            bracketed(&place),
                            bracketed(&subscript)
                        )
                    }
                };
            }
            format!("{}[{place}]", tensor.name)
        };
        let shared = |along: &dyn Fn(usize) -> String| {
            let order = promoted.order().into_iter();
            let places: String = order
                .map(|dimension| match promoted.extents[dimension] {
                    1 => "[0]".to_owned(),
                    _ => format!("[{}]", along(dimension)),
                })
                .collect();
            format!("tc_{}{places}", self.tile_name(number))
        };
        let along = |dimension: usize| format!("tc_{dimension}");
        // Which element of the box a thread loads: neighbours load neighbours.
        let digits = |lines: &mut Lines, width: usize| {
            let mut behind = 1;
            for dimension in (0..rank).rev() {
                let extent = promoted.extents[dimension];
                let (extent, factor) = match dimension == last {
                    true => (extent / width, width),
                    false => (extent, 1),
                };
                let is_first = (0..dimension).all(|before| promoted.extents[before] == 1);
                if promoted.extents[dimension] > 1 {
                    let mut text = "tc_element".to_owned();
                    if behind > 1 {
                        text += &format!(" / {behind}");
                    }
                    if !is_first {
                        text += &format!(" % {extent}");
                    }
                    if factor > 1 {
                        text += &format!(" * {factor}");
                    }
                    lines.line(&format!("const int tc_{dimension} = {text};"));
                }
                behind *= extent;
            }
            behind
        };
        let count: usize = promoted.extents.iter().product();
        let loop_over = |lines: &mut Lines, count: usize| match count <= threads {
            true if count == threads => {
                lines.open("");
                lines.line("const int tc_element = threadIdx.x;");
            }
            true => {
                lines.open(&format!("if (threadIdx.x < {count})"));
                lines.line("const int tc_element = threadIdx.x;");
            }
            false => {
                lines.line("#pragma unroll");
                lines.open(&format!(
                    "for (int tc_element = threadIdx.x; tc_element < {count}; tc_element += {threads})"
                ));
            }
        };
        let by_four = tensor.scalar == Scalar::Float && promoted.extents[last].is_multiple_of(4);
        if !promoted.conditional {
            let mut conditions = vec![
                "tc_full".to_owned(),
                format!("tc_steps == {}", self.tiles.strip),
            ];
            if by_four {
                conditions.push(format!(
                    "tc_by_four({}, {}, {})",
                    tensor.name,
                    origins[last],
                    size(self.function, &tensor.extents[last])
                ));
            }
            lines.open(&format!("if ({})", conditions.join(" && ")));
            match by_four {
                true => {
                    loop_over(lines, count / 4);
                    digits(lines, 4);
                    lines.line(&format!(
                        "const float4 tc_four = *reinterpret_cast<const float4 *>(&{place});"
                    ));
                    match promoted.inner == last {
                        true => lines.line(&format!(
                            "*reinterpret_cast<float4 *>(&{}) = tc_four;",
                            shared(&along)
                        )),
                        false => {
                            for (offset, part) in ["x", "y", "z", "w"].into_iter().enumerate() {
                                let to = shared(&|dimension| match (dimension == last, offset) {
                                    (true, 1..) => format!("tc_{dimension} + {offset}"),
                                    _ => along(dimension),
                                });
                                lines.line(&format!("{to} = tc_four.{part};"));
                            }
                        }
                    }
                }
                false => {
                    loop_over(lines, count);
                    digits(lines, 1);
                    lines.line(&format!("{} = {place};", shared(&along)));
                }
            }
            lines.close_to(lines.depth - 2);
            lines.open("else");
        }
        loop_over(lines, count);
        digits(lines, 1);
        let mut inside: Vec<String> = Vec::new();
        for (dimension, origin) in origins.iter().enumerate() {
            let subscript = match promoted.extents[dimension] {
                1 => origin.clone(),
                _ => format!("{origin} + tc_{dimension}"),
            };
            if promoted.conditional {
                inside.push(format!("{subscript} >= 0"));
            }
            // A sum that no index moves is inside already.
            if promoted.conditional || promoted.extents[dimension] > 1 {
                let extent = size(self.function, &tensor.extents[dimension]);
                inside.push(format!("{subscript} < {extent}"));
            }
        }
        let zero = format!("static_cast<{}>(0)", tensor.scalar.cuda());
        let loaded = match inside.is_empty() {
            true => place,
            false => format!("{} ? {place} : {zero}", inside.join(" && ")),
        };
        lines.line(&format!("{} = {loaded};", shared(&along)));
        let steps = if promoted.conditional { 1 } else { 2 };
        lines.close_to(lines.depth - steps);
    }

    /// One value of the strip's index for all points of a thread: registers first, then the terms.
    fn step(&self, part: &Part<'_>, value: &str, lines: &mut Lines) {
        let (function, statement) = (self.function, part.statement);
        for number in 0..self.tiles.promoted.len() {
            self.registers(part, number, lines);
        }
        let several = self.several();
        let depth = lines.depth;
        self.loops(&several, lines);
        let used = used_indices(&statement.value);
        for index in statement.free().chain(statement.reduced().last()) {
            let variable = &statement.variables[index];
            if !used.contains(&index) {
                continue;
            }
            let first = match statement.reduced().last() == Some(index) {
                true => Some("tc_step".to_owned()),
                false => taken(part)
                    .iter()
                    .position(|known| *known == index)
                    .and_then(|dimension| self.local(dimension)),
            };
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
        lines.close_to(depth);
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
        let strip_index = part.statement.reduced().last();
        let place = |dimension: usize| {
            let mut terms: Vec<String> = Vec::new();
            for (atom, factor) in &promoted.subscripts[dimension].terms {
                let Atom::Variable(index) = atom else {
                    continue;
                };
                let local = match Some(*index) == strip_index {
                    true => Some("tc_step".to_owned()),
                    false => taken(part)
                        .iter()
                        .position(|known| known == index)
                        .and_then(|side| self.local(side)),
                };
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
        let order = promoted.order().into_iter();
        let places: String = order
            .map(|dimension| format!("[{}]", place(dimension)))
            .collect();
        let from = format!("tc_{}{places}", self.tile_name(number));
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

fn taken<'p>(part: &'p Part<'_>) -> &'p [usize] {
    match &part.work {
        Work::Compute { taken, .. } => taken,
        Work::Initialise => &[],
    }
}

/// Indices that a value names outside of the subscripts of its reads.
fn used_indices(value: &Value) -> Vec<usize> {
    fn walk(value: &Value, found: &mut Vec<usize>) {
        match &value.kind {
            ValueKind::Variable(index) => found.push(*index),
            ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => walk(operand, found),
            ValueKind::Binary(_, left, right) => {
                walk(left, found);
                walk(right, found);
            }
            ValueKind::Select(condition, then, other) => {
                walk(condition, found);
                walk(then, found);
                walk(other, found);
            }
            ValueKind::Call(_, _, arguments) => {
                arguments.iter().for_each(|argument| walk(argument, found));
            }
            ValueKind::Integer(_)
            | ValueKind::Real(_)
            | ValueKind::Size(_)
            | ValueKind::Read { .. } => {}
        }
    }
    let mut found = Vec::new();
    walk(value, &mut found);
    found
}

/// The statement with the names of a thread's points for the indices that move within a tile.
fn renamed(statement: &Statement, part: &Part<'_>, used: &[usize], tiled: &Tiled<'_>) -> Statement {
    let mut points = statement.clone();
    let strip = statement.reduced().last();
    for (index, variable) in points.variables.iter_mut().enumerate() {
        let dimension = taken(part).iter().position(|known| *known == index);
        let moves = Some(index) == strip
            || dimension.is_some_and(|dimension| tiled.local(dimension).is_some());
        if moves && used.contains(&index) {
            variable.name = format!("tc_point_{}", variable.name);
        }
    }
    points
}
