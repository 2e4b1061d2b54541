//! Schedules as text: a tree for each definition, in the terms of the paper's figure 3.
//!
//! A *domain* has all statements; a *sequence* orders its *filters*, each of which picks statements; a *band* has
//! dimensions that are tiled or mapped to blocks and threads; an *extension* brings copies to shared memory.

use super::layers::{Layers, StageWork};
use super::rows::{RowPart, RowPlace, Rows, Team};
use super::tiles::Tiles;
use super::tiles::cores::FRAGMENT;
use crate::tensor::Options;
use crate::tensor::linear::{Atom, Linear, Notation};
use crate::tensor::mapping::{Kernel, Mapping, Part, Plan, Step, Work, map};
use crate::tensor::polyhedral::nest::{Nest, Node};
use crate::tensor::polyhedral::{self, Planned, Strategy};
use crate::tensor::program::{Bound, Function, Statement};

/// The tree of a definition.
pub fn schedule(function: &Function, options: Options) -> String {
    let by_isl = options.fusion != Strategy::Auto
        && !matches!(options.mapping, Mapping::Identity | Mapping::Stitched);
    if !by_isl {
        return schedule_of(function, &map(function, options));
    }
    let planned = polyhedral::plan(function, options);
    tree(function, &planned.steps, Some((&planned, options.fusion)))
}

/// The tree of kernels of a definition.
pub fn schedule_of(function: &Function, steps: &[Step<'_>]) -> String {
    tree(function, steps, None)
}

fn tree(
    function: &Function,
    steps: &[Step<'_>],
    planned: Option<(&Planned<'_>, Strategy)>,
) -> String {
    let mut tree = Tree {
        function,
        text: format!("def {}\n", function.name),
        statements: Vec::new(),
        kernels: 0,
    };
    tree.number(steps);
    tree.line(1, "domain");
    for number in 0..tree.statements.len() {
        let text = tree.domain(number);
        tree.line(2, &text);
    }
    if let Some((planned, strategy)) = planned {
        let name = |statement: &Statement| tree.name_of(statement);
        for (depth, line) in polyhedral::text::lines(planned, strategy, &name) {
            tree.line(depth + 1, &line);
        }
    }
    tree.steps(steps, 1);
    tree.text
}

struct Tree<'f> {
    function: &'f Function,
    text: String,
    statements: Vec<&'f Statement>,
    kernels: usize,
}

impl<'f> Tree<'f> {
    fn line(&mut self, depth: usize, line: &str) {
        self.text += &"  ".repeat(depth);
        self.text += line;
        self.text.push('\n');
    }

    fn number(&mut self, steps: &[Step<'f>]) {
        for step in steps {
            match step {
                Step::Kernel(kernel) => {
                    for part in &kernel.parts {
                        if part.work != Work::Initialise {
                            self.statements.push(part.statement);
                        }
                    }
                }
                Step::Loop { body, .. } => self.number(body),
                Step::Either { apart, .. } => self.number(apart),
            }
        }
    }

    fn name_of(&self, statement: &Statement) -> String {
        let is_it = |known: &&&Statement| std::ptr::eq(**known, statement);
        let number = self.statements.iter().position(|known| is_it(&known));
        number.map_or(String::new(), |number| format!("S{number}"))
    }

    fn name(&self, part: &Part<'_>) -> String {
        let name = self.name_of(part.statement);
        match part.work {
            Work::Initialise => format!("neutral elements of {name}"),
            Work::Compute { .. } => name,
        }
    }

    fn form(&self, statement: &Statement, form: &Linear) -> String {
        form.text(Notation::Message, &mut |atom| match atom {
            Atom::Symbol(symbol) => self.function.symbols[*symbol].name.clone(),
            Atom::Variable(variable) => statement.variables[*variable].name.clone(),
            _ => String::new(),
        })
    }

    fn domain(&self, number: usize) -> String {
        let statement = self.statements[number];
        let names = names(statement, 0..statement.variables.len());
        let bound = |bound: &Bound| match bound {
            Bound::Linear(form) => self.form(statement, form),
            Bound::Data(_) => "data".to_owned(),
        };
        let ranges = statement.variables.iter().map(|variable| {
            let (low, high) = (bound(&variable.low), bound(&variable.high));
            format!("{low} <= {} < {high}", variable.name)
        });
        let ranges: Vec<String> = ranges.collect();
        match ranges.is_empty() {
            true => format!("S{number}[]"),
            false => format!("S{number}[{names}] : {}", ranges.join(", ")),
        }
    }

    fn steps(&mut self, steps: &[Step<'f>], depth: usize) {
        self.line(depth, "sequence");
        for step in steps {
            match step {
                Step::Kernel(kernel) => self.kernel(kernel, depth + 1),
                Step::Either { together, apart } => {
                    self.line(depth + 1, "choice of the launcher");
                    self.kernel(together, depth + 2);
                    self.steps(apart, depth + 2);
                }
                Step::Loop {
                    symbol,
                    low,
                    high,
                    body,
                } => {
                    let text = |form: &Linear| {
                        form.text(Notation::Message, &mut |atom| match atom {
                            Atom::Symbol(symbol) => self.function.symbols[*symbol].name.clone(),
                            _ => String::new(),
                        })
                    };
                    let name = &self.function.symbols[*symbol].name;
                    let line = format!("band [{name}] on the host: {}:{}", text(low), text(high));
                    self.line(depth + 1, &line);
                    self.steps(body, depth + 2);
                }
            }
        }
    }

    fn kernel(&mut self, kernel: &Kernel<'f>, depth: usize) {
        let all: Vec<String> = kernel.parts.iter().map(|part| self.name(part)).collect();
        let line = format!("filter {{{}}} kernel{}", all.join(", "), self.kernels);
        self.line(depth, &line);
        self.kernels += 1;
        match &kernel.plan {
            Plan::Elements => self.elements(kernel, depth + 1),
            Plan::Tiles(tiles) => self.tiles(kernel, tiles, depth + 1),
            Plan::Layers(layers) => self.layers(kernel, layers, depth + 1),
            Plan::Nest(nest) => self.nest(kernel, nest, depth + 1),
            Plan::Rows(rows) => self.rows(kernel, rows, depth + 1),
            Plan::Packed(kernels) => {
                self.kernels -= 1;
                self.line(depth + 1, "set: blocks of each side by side");
                for kernel in kernels {
                    self.kernel(kernel, depth + 2);
                }
            }
        }
    }

    fn rows(&mut self, kernel: &Kernel<'f>, rows: &Rows, depth: usize) {
        let row = kernel.parts.first().map(taken).unwrap_or_default();
        let row = match row.is_empty() {
            true => String::new(),
            false => names(kernel.parts[0].statement, row.iter().copied()),
        };
        let line = match (rows.team, row.is_empty()) {
            (Team::Block, true) => "one block".to_owned(),
            (Team::Block, false) => format!("band [{row}] to blocks"),
            (Team::Lanes { lanes, .. }, true) => format!("{lanes} lanes"),
            (Team::Lanes { lanes, rows }, false) => {
                format!("band [{row}] to blocks of {rows}, each to {lanes} lanes of a warp")
            }
            (Team::Columns { threads }, _) => {
                format!("band [{row}] to blocks of 32, each to a lane of {threads} warps")
            }
        };
        self.line(depth, &line);
        for (number, array) in rows.arrays.iter().enumerate() {
            let name = &self.function.tensors[array.tensor].name;
            let place = match array.place {
                RowPlace::Registers => "registers".to_owned(),
                RowPlace::Shared { region } if region != number => {
                    let other = &self.function.tensors[rows.arrays[region].tensor].name;
                    format!("shared memory, where that of {other} was")
                }
                RowPlace::Shared { .. } => "shared memory".to_owned(),
            };
            let line = match array.is_copied {
                true => format!("extension: the row of {name} to {place}"),
                false => format!("extension: the row of {name} stays in {place}"),
            };
            self.line(depth + 1, &line);
        }
        self.line(depth + 1, "sequence");
        for (part, row) in kernel.parts.iter().zip(&rows.parts) {
            self.row(part, row, depth + 2);
        }
    }

    fn elements(&mut self, kernel: &Kernel<'f>, depth: usize) {
        for part in &kernel.parts {
            let line = format!("filter {{{}}}", self.name(part));
            self.line(depth, &line);
            let taken = taken(part);
            let mut depth = depth + 1;
            if !kernel.threads.is_empty() {
                let indices = match part.work {
                    Work::Initialise => "elements".to_owned(),
                    Work::Compute { .. } => names(part.statement, taken.iter().copied()),
                };
                self.line(depth, &format!("band [{indices}] to blocks and threads"));
                depth += 1;
            }
            let rest = (0..part.statement.variables.len()).filter(|index| !taken.contains(index));
            let rest = names(part.statement, rest);
            if !rest.is_empty() && part.work != Work::Initialise {
                self.line(depth, &format!("band [{rest}] in order"));
            }
        }
    }

    fn nest(&mut self, kernel: &Kernel<'f>, nest: &Nest, depth: usize) {
        let indices = |number: usize| {
            let of = |part: usize| {
                let place = nest.places[part].iter().enumerate();
                let mut place = place.filter_map(|(index, place)| Some((index, (*place)?)));
                let (index, place) = place.find(|(_, place)| place.number == number)?;
                let name = &kernel.parts[part].statement.variables[index].name;
                Some(match place.shift {
                    0 => name.clone(),
                    shift if shift < 0 => format!("{name} - {}", shift.unsigned_abs()),
                    shift => format!("{name} + {shift}"),
                })
            };
            let mut all: Vec<String> = (0..kernel.parts.len()).filter_map(of).collect();
            all.dedup();
            all.join(" = ")
        };
        let threads: Vec<String> = (0..nest.threads).map(indices).collect();
        let mut depth = depth;
        if !threads.is_empty() {
            let line = format!("band [{}] to blocks and threads", threads.join(", "));
            self.line(depth, &line);
            depth += 1;
        }
        self.nodes((kernel, nest), &nest.body, (&indices, depth));
    }

    fn nodes(
        &mut self,
        (kernel, nest): (&Kernel<'f>, &Nest),
        nodes: &[Node],
        (indices, mut depth): (&dyn Fn(usize) -> String, usize),
    ) {
        if nodes.len() > 1 {
            self.line(depth, "sequence");
            depth += 1;
        }
        for node in nodes {
            match node {
                Node::Loop(number, body) => {
                    self.line(depth, &format!("band [{}] in order", indices(*number)));
                    self.nodes((kernel, nest), body, (indices, depth + 1));
                }
                Node::Part(part) => {
                    let own = &kernel.parts[*part];
                    let line = format!("filter {{{}}}", self.name(own));
                    self.line(depth, &line);
                    let all = 0..own.statement.variables.len();
                    let rest = all.filter(|index| nest.places[*part][*index].is_none());
                    let rest = names(own.statement, rest);
                    if !rest.is_empty() {
                        self.line(depth + 1, &format!("band [{rest}] in order"));
                    }
                }
            }
        }
    }

    fn tiles(&mut self, kernel: &Kernel<'f>, tiles: &Tiles, depth: usize) {
        let part = &kernel.parts[tiles.reduction];
        let of = |part: &Part<'_>, sign: &str| {
            let each = taken(part).iter().zip(&tiles.dimensions);
            let each: Vec<String> = each
                .filter(|(_, dimension)| dimension.size() > 1 || sign == "/")
                .map(|(index, dimension)| {
                    let name = &part.statement.variables[*index].name;
                    match dimension.size() {
                        1 => name.clone(),
                        size => format!("{name}{sign}{size}"),
                    }
                })
                .collect();
            each.join(", ")
        };
        self.line(
            depth,
            &format!("band [{}] permutable, to blocks", of(part, "/")),
        );
        self.line(depth + 1, "sequence");
        let sides = tiles.dimensions.iter().filter(|side| side.size() > 1);
        let join = |numbers: Vec<String>| numbers.join(" x ");
        let threads = join(sides.clone().map(|side| side.threads.to_string()).collect());
        let points = join(sides.map(|side| side.points.to_string()).collect());
        for (number, part) in kernel.parts.iter().enumerate() {
            let line = format!("filter {{{}}}", self.name(part));
            self.line(depth + 2, &line);
            let mut depth = depth + 3;
            if tiles.is_beside(number) {
                self.line(depth, "in the strips of the one before");
                continue;
            }
            if let Some(tiles) = tiles.product(number) {
                let strip = &tiles.strip;
                let name = |index: usize| part.statement.variables[index].name.clone();
                let indices = tiles.loops(part.statement).into_iter().map(|index| {
                    match index == strip.index {
                        true => format!("{}/{}", name(index), strip.count),
                        false => name(index),
                    }
                });
                let indices: Vec<String> = indices.collect();
                let stages = match tiles.stages {
                    1 => String::new(),
                    stages => format!(", in {stages} stages"),
                };
                self.line(depth, &format!("band [{}] in order", indices.join(", ")));
                for promoted in tiles.promoted.iter().filter(|promoted| !promoted.resident) {
                    let tensor = &self.function.tensors[promoted.tensor].name;
                    let subscripts: Vec<String> = promoted
                        .subscripts
                        .iter()
                        .map(|form| self.form(part.statement, form))
                        .collect();
                    let extents = join(promoted.extents.iter().map(usize::to_string).collect());
                    let line = format!(
                        "extension: {tensor}({}) to shared memory, a box of {extents}{stages}",
                        subscripts.join(", ")
                    );
                    self.line(depth + 1, &line);
                }
                let mut inner = vec![format!("{}%{}", name(strip.index), strip.count)];
                inner.extend(strip.whole.iter().map(|(index, _)| name(*index)));
                if let Some(cores) = &tiles.cores {
                    let line = format!("band [{}] in order, by {FRAGMENT}", inner.join(", "));
                    self.line(depth + 1, &line);
                    let [warps, fragments] = [cores.warps, cores.fragments]
                        .map(|sides| join(sides.map(|side| side.to_string()).to_vec()));
                    let line = format!(
                        "band [{}] to {warps} warps, {fragments} fragments of each in tensor cores",
                        of(part, "%")
                    );
                    self.line(depth + 2, &line);
                    continue;
                }
                let unrolled = match strip.unrolled() {
                    1 => String::new(),
                    all if all == strip.count => ", unrolled".to_owned(),
                    some => format!(", unrolled by {some}"),
                };
                let line = format!("band [{}] in order{unrolled}", inner.join(", "));
                self.line(depth + 1, &line);
                depth += 2;
            }
            let line = format!(
                "band [{}] to {threads} threads, {points} points of each in registers",
                of(part, "%")
            );
            self.line(depth, &line);
        }
    }

    fn layers(&mut self, kernel: &Kernel<'f>, layers: &Layers<'f>, depth: usize) {
        let part = &kernel.parts[0];
        let row = names(part.statement, taken(part).iter().copied());
        self.line(depth, &format!("band [{row}/{}] to blocks", layers.rows));
        for array in &layers.arrays {
            let name = &self.function.tensors[array.tensor].name;
            let line = match array.is_copied {
                true => format!("extension: rows of {name} to shared memory"),
                false => format!("extension: rows of {name} stay in shared memory"),
            };
            self.line(depth + 1, &line);
        }
        self.line(depth + 1, "sequence");
        for stage in &layers.stages {
            match &stage.work {
                StageWork::Tiles(tiles) => self.tiles(&stage.kernel, tiles, depth + 2),
                StageWork::Elements | StageWork::Lanes => {
                    for part in &stage.kernel.parts {
                        let line = format!("filter {{{}}}", self.name(part));
                        self.line(depth + 2, &line);
                        let all = names(part.statement, taken(part).iter().copied());
                        let line = match stage.work {
                            StageWork::Lanes => format!("band [{all}] to lanes, joined in pairs"),
                            _ => format!("band [{all}] to threads"),
                        };
                        self.line(depth + 3, &line);
                    }
                }
            }
        }
    }

    fn row(&mut self, part: &Part<'f>, row: &RowPart, depth: usize) {
        let wait = match (row.barrier, row.joins) {
            (true, _) => " behind a barrier",
            (false, true) => " in the loop of the one before",
            (false, false) => "",
        };
        let line = format!("filter {{{}}}{wait}", self.name(part));
        self.line(depth, &line);
        let statement = part.statement;
        let shared_out = names(statement, row.shared_out.iter().copied());
        let rest = (0..statement.variables.len())
            .filter(|index| !taken(part).contains(index) && !row.shared_out.contains(index));
        let rest = names(statement, rest);
        let line = match (row.is_held, shared_out.is_empty()) {
            (true, true) => "leaf: all threads do the same".to_owned(),
            (true, false) if !rest.is_empty() => {
                self.line(depth + 1, &format!("band [{rest}] in order"));
                format!("band [{shared_out}] to threads, joined in pairs")
            }
            (true, false) => format!("band [{shared_out}] to threads, joined in pairs"),
            (false, _) => format!("band [{shared_out}] to threads"),
        };
        self.line(depth + 1, &line);
        if !row.is_held && !rest.is_empty() {
            self.line(depth + 2, &format!("band [{rest}] in order"));
        }
    }
}

fn names(statement: &Statement, indices: impl Iterator<Item = usize>) -> String {
    let each: Vec<&str> = indices
        .map(|index| statement.variables[index].name.as_str())
        .collect();
    each.join(", ")
}

fn taken<'p>(part: &'p Part<'_>) -> &'p [usize] {
    match &part.work {
        Work::Compute { taken, .. } => taken,
        Work::Initialise => &[],
    }
}
