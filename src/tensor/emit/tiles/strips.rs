//! The reduction of a tile: strip after strip through shared memory, and the terms of each.

use super::made::is_of;
use super::{Tiled, taken};
use crate::tensor::emit::kernels::{Lines, accumulate};
use crate::tensor::emit::values::{self, Scope, bracketed};
use crate::tensor::emit::{layers, size};
use crate::tensor::linear::Atom;
use crate::tensor::mapping::Part;
use crate::tensor::program::{Statement, Subscript};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::Promoted;
use crate::tensor::transform::tiles::products::with_indices_of;
use crate::tensor::types::Scalar;

impl Tiled<'_> {
    /// The terms of all points of a thread, in registers: those of the part, and of others that reduce over the same indices,
    /// each with its number and its register.
    pub(super) fn reduce(&self, part: &Part<'_>, values: &[(usize, String)], lines: &mut Lines) {
        let strip = &self.tiles.strip;
        let count = strip.count;
        self.strips(part, lines, &|lines| {
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
            self.step(part, values, lines);
            lines.close_to(whole_is_open);
            if !strip.is_always_full() {
                lines.close_to(depth);
                lines.open("else");
                lines.open("for (int tc_step = 0; tc_step < tc_steps; ++tc_step)");
                self.step(part, values, lines);
            }
            lines.close_to(outside);
        });
    }

    /// Strip after strip: its boxes are loaded, then `compute` says what is done with them. Where there are several stages,
    /// those of strips behind it are on their way meanwhile.
    pub(super) fn strips(&self, part: &Part<'_>, lines: &mut Lines, compute: &dyn Fn(&mut Lines)) {
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
        self.clear_behind(lines);
        self.ask_before(lines);
        match self.tiles.stages {
            1 => {
                self.open_loops(statement, lines);
                self.steps(statement, lines);
                self.load(statement, lines);
                let shares = !self.tiles.promoted.is_empty();
                if shares {
                    lines.line("__syncthreads();");
                }
                compute(lines);
                if shares {
                    lines.line("__syncthreads();");
                }
            }
            stages => {
                self.fetch(statement, lines);
                match stages {
                    2 => lines.line("tc_fetch(0);"),
                    _ => {
                        lines.line("#pragma unroll 1");
                        lines.line(&format!(
                            "for (int tc_stage = 0; tc_stage < {}; ++tc_stage)",
                            stages - 1
                        ));
                        lines.line("    tc_fetch(tc_stage);");
                    }
                }
                lines.line("int tc_stage = 0;");
                self.open_loops(statement, lines);
                if self.tiles.cores.is_none() {
                    self.steps(statement, lines);
                }
                // What is loaded now takes the place of what all threads have computed.
                let (next, last) = match stages {
                    2 => ("tc_stage ^ 1", "tc_stage ^ 1"),
                    _ => (
                        "tc_stage == 2 ? 0 : tc_stage + 1",
                        "tc_stage == 0 ? 2 : tc_stage - 1",
                    ),
                };
                lines.line(&format!("__pipeline_wait_prior({});", stages - 2));
                lines.line("__syncthreads();");
                lines.line(&format!("tc_fetch({last});"));
                if self.tiles.cores.is_none() {
                    // Nothing waits here: that stage is another one. But who runs threads in turn cannot see it.
                    lines.line("__syncwarp();");
                }
                self.wholes(statement, lines);
                compute(lines);
                lines.line(&format!("tc_stage = {next};"));
            }
        }
    }

    /// Loops over the reduced indices, up to the one that is cut into strips; the caller closes them.
    fn open_loops(&self, statement: &Statement, lines: &mut Lines) {
        for index in self.tiles.loops(statement) {
            let (low, high) = self.ends(statement, index);
            let name = &statement.variables[index].name;
            let step = match index == self.tiles.strip.index {
                true => format!("{name} += {}", self.tiles.strip.count),
                false => format!("++{name}"),
            };
            lines.open(&format!(
                "for (long long {name} = {low}; {name} < {high}; {step})"
            ));
        }
    }

    /// How many values the strip has, where that may be fewer.
    fn steps(&self, statement: &Statement, lines: &mut Lines) {
        let strip = &self.tiles.strip;
        if strip.is_always_full() {
            return;
        }
        let (_, high) = self.ends(statement, strip.index);
        lines.line(&format!(
            "const int tc_steps = (int)tc_min({}, {} - {});",
            strip.count,
            bracketed(&high),
            statement.variables[strip.index].name
        ));
    }

    /// The first values of indices of which a strip has all.
    fn wholes(&self, statement: &Statement, lines: &mut Lines) {
        for (index, _) in &self.tiles.strip.whole {
            let (low, _) = self.ends(statement, *index);
            let name = &statement.variables[*index].name;
            lines.line(&format!("const long long {name} = {low};"));
        }
    }

    /// Both ends of an index's range.
    fn ends(&self, statement: &Statement, index: usize) -> (String, String) {
        let variable = &statement.variables[index];
        let of = |bound| values::bound(self.function, statement, bound);
        (of(&variable.low), of(&variable.high))
    }

    /// Loads the boxes of a strip.
    fn load(&self, statement: &Statement, lines: &mut Lines) {
        self.wholes(statement, lines);
        if self.tiles.cores.is_some() {
            return self.promote_matrices(lines);
        }
        for (number, promoted) in self.tiles.promoted.iter().enumerate() {
            if !promoted.resident {
                self.promote(number, lines);
            }
        }
    }

    /// What loads the boxes of one strip after the other, each call the next one's: indices of its own run ahead of the
    /// loops.
    fn fetch(&self, statement: &Statement, lines: &mut Lines) {
        let strip = &self.tiles.strip;
        let indices = self.tiles.loops(statement);
        let name = |index: usize| &statement.variables[index].name;
        let next = |index: usize| format!("tc_next_{}", name(index));
        for index in &indices {
            let (low, _) = self.ends(statement, *index);
            lines.line(&format!("long long {} = {low};", next(*index)));
        }
        let depth = lines.depth;
        lines.open("const auto tc_fetch = [&](int tc_stage)");
        let inside = lines.depth;
        let are_left = indices.iter().map(|index| {
            let (_, high) = self.ends(statement, *index);
            format!("{} < {high}", next(*index))
        });
        let are_left: Vec<String> = are_left.collect();
        lines.open(&format!("if ({})", are_left.join(" && ")));
        for index in &indices {
            lines.line(&format!(
                "const long long {} = {};",
                name(*index),
                next(*index)
            ));
        }
        let asks = |promoted: &Promoted| !promoted.conditional || self.tiles.cores.is_some();
        if self.tiles.promoted.iter().any(asks) {
            self.steps(statement, lines);
        }
        self.load(statement, lines);
        for (position, index) in indices.iter().enumerate().rev() {
            let next = next(*index);
            lines.line(&match *index == strip.index {
                true => format!("{next} += {};", strip.count),
                false => format!("++{next};"),
            });
            if position > 0 {
                let (low, high) = self.ends(statement, *index);
                lines.open(&format!("if ({next} >= {high})"));
                lines.line(&format!("{next} = {low};"));
            }
        }
        lines.close_to(inside);
        lines.line("__pipeline_commit();");
        lines.depth = depth;
        lines.line("};");
    }

    /// Which of the boxes are meant, where there are several stages.
    pub(super) fn stage(&self) -> &'static str {
        match self.tiles.stages {
            1 => "",
            _ => "[tc_stage]",
        }
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
    fn step(&self, part: &Part<'_>, values: &[(usize, String)], lines: &mut Lines) {
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
        let used: Vec<usize> = match self.tiles.promoted.is_empty() {
            true => (0..statement.variables.len()).collect(),
            false => {
                let members = values.iter();
                let used = members.map(|(number, _)| {
                    values::used_indices(&self.kernel.parts[*number].statement.value)
                });
                used.flatten().collect()
            }
        };
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
        let made = self.made();
        let held = |tensor: usize, subscripts: &[Subscript]| {
            let mut boxes = self.tiles.promoted.iter();
            let number = boxes.position(|promoted| is_of(promoted, tensor, subscripts))?;
            Some(self.register(part, number))
        };
        if self.tiles.promoted.is_empty() {
            // What is beyond the last point is no element of anything that is read.
            let inside = self.inside(part, &|local, name| format!("{name} + {local}"));
            if let Some(condition) = inside {
                lines.open(&format!("if ({condition})"));
            }
        }
        for (number, value) in values {
            let member = self.kernel.parts[*number].statement;
            let points = renamed(&with_indices_of(member, statement), part, &used, self);
            let scope = Scope {
                statement: &points,
                held: &held,
            };
            let Operator::Reduce(reduction, _) = member.operator else {
                unreachable!("only reductions are tiled")
            };
            let computed = function.tensors[member.target].scalar.computed();
            let whole = match *number == self.tiles.reduction {
                true => &made.rest,
                false => &member.value,
            };
            let term = values::value_as(function, scope, whole, computed);
            lines.line(&accumulate(reduction, computed, value, &term));
        }
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
                format!("tc_{}{}{places}", self.tile_name(number), self.stage())
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
