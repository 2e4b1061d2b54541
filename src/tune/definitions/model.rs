//! What the kernels of a tensor definition are estimated to take for given sizes: it ranks options, and says nothing of how long
//! a program takes.
//!
//! A kernel begins after a launch, and then takes the longest of: what it touches at the rate of memory, each tensor once; what its
//! warps ask for, in pieces of 32 bytes where neighbours read apart, at [`CACHE_RATE`] times that; and its instructions, at a
//! rate that falls where there are few warps. A tile loads its boxes once for each strip, and its points share what they
//! read from shared memory; of tiles and blocks that stick out, all is counted.

use super::super::Figures;
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::mapping::{Kernel, Plan, Step, Work};
use crate::tensor::program::{Bound, Function, Statement, Subscript, ValueKind};
use crate::tensor::transform::layers::StageWork;
use crate::tensor::transform::rows::{SHORT_ROW, Team};
use crate::tensor::transform::{Layers, Tiles};
use std::collections::BTreeSet;

/// Estimates for one definition.
pub(super) struct Estimate<'e> {
    pub function: &'e Function,
    /// By symbol.
    pub symbols: &'e [i64],
    pub figures: &'e Figures,
}

/// What a kernel does.
#[derive(Default)]
struct Amount {
    /// Bytes that warps ask for.
    asked: f64,
    /// Instructions of all threads.
    instructions: f64,
    /// Threads that have work.
    threads: f64,
    /// Nanoseconds in which all threads wait for what they loaded.
    waits: f64,
}

impl Estimate<'_> {
    /// Nanoseconds of some steps.
    pub fn steps(&self, steps: &[Step<'_>]) -> f64 {
        let each = steps.iter().map(|step| match step {
            Step::Kernel(kernel) => self.kernel(kernel),
            Step::Either { together, apart } => match self.fits(together) {
                true => self.kernel(together),
                false => self.steps(apart),
            },
            Step::Loop {
                low, high, body, ..
            } => {
                let times = self.value(high, None) - self.value(low, None);
                times.max(0.0) * self.steps(body)
            }
        });
        each.sum()
    }

    fn kernel(&self, kernel: &Kernel<'_>) -> f64 {
        let amount = match &kernel.plan {
            Plan::Elements | Plan::Nest(_) => self.elements(kernel, self.count(&kernel.threads)),
            Plan::Tiles(tiles) => self.tiles(kernel, tiles, 1.0),
            Plan::Packed(kernels) => {
                let threads = kernels.iter().map(|each| self.count(&each.threads));
                self.elements(kernel, threads.sum())
            }
            Plan::Rows(plan) => {
                let rows = self.count(&kernel.threads);
                let threads = match plan.team {
                    Team::Lanes { lanes, .. } => lanes as f64,
                    Team::Block | Team::Columns { .. } => ROW_THREADS,
                };
                let mut amount = self.elements(kernel, rows * threads);
                amount.instructions += rows * kernel.parts.len() as f64 * ROW_INSTRUCTIONS;
                amount
            }
            Plan::Layers(layers) => self.layers(layers),
        };
        let warps = amount.threads / 32.0;
        let wanted = (self.figures.multiprocessors * ENOUGH_WARPS) as f64;
        let busy = (warps / wanted).clamp(1e-3, 1.0);
        let memory = self.figures.bytes_per_nanosecond * busy.sqrt();
        let touched = (self.touched(kernel) + self.figures.half_rate_bytes) / memory;
        let asked = amount.asked / (CACHE_RATE * memory);
        let computed = amount.instructions / (self.figures.instructions_per_nanosecond * busy);
        self.figures.launch_nanoseconds + touched.max(asked).max(computed) + amount.waits
    }

    /// Threads that go through their loops.
    fn elements(&self, kernel: &Kernel<'_>, threads: f64) -> Amount {
        let mut amount = Amount {
            threads,
            ..Amount::default()
        };
        let along_row = matches!(kernel.plan, Plan::Rows(_));
        for part in &kernel.parts {
            let statement = part.statement;
            let (terms, elements) = (self.terms(statement), self.elements_of(statement));
            let neighbour = match (&part.work, along_row) {
                // Threads of a row follow the index that is innermost.
                (_, true) => statement.variables.len().checked_sub(1),
                (Work::Compute { taken, .. }, false) => taken.last().copied(),
                (Work::Initialise, false) => None,
            };
            amount.instructions += terms * operations(statement) + elements * 8.0;
            statement.reads(&mut |tensor, subscripts| {
                amount.asked += terms * self.bytes(tensor, subscripts, neighbour);
                amount.instructions += terms * 2.0;
            });
            amount.asked +=
                elements * self.bytes(statement.target, &statement.subscripts, neighbour);
        }
        amount
    }

    /// Blocks that compute tiles, so many of the first dimension together.
    fn tiles(&self, kernel: &Kernel<'_>, tiles: &Tiles, scale: f64) -> Amount {
        let mut amount = self.product(kernel, tiles, scale);
        for later in &tiles.later {
            let other = self.product(kernel, later, scale);
            amount.asked += other.asked;
            amount.instructions += other.instructions;
            amount.waits += other.waits;
        }
        for other in &kernel.parts {
            let elements = self.elements_of(other.statement);
            amount.asked += elements * 4.0;
            amount.instructions += elements * 8.0;
        }
        amount
    }

    /// Products that share strips.
    fn product(&self, kernel: &Kernel<'_>, tiles: &Tiles, scale: f64) -> Amount {
        let sides = kernel.threads.iter().zip(&tiles.dimensions);
        let blocks: f64 = sides
            .map(|(count, side)| {
                (self.value(count, None) / side.size() as f64)
                    .ceil()
                    .max(1.0)
            })
            .product();
        let points: f64 = tiles
            .dimensions
            .iter()
            .map(|side| side.size() as f64)
            .product();
        let threads: f64 = tiles
            .dimensions
            .iter()
            .map(|side| side.threads as f64)
            .product();
        let part = &kernel.parts[tiles.reduction];
        let reduced = part
            .statement
            .reduced()
            .map(|index| self.range(part.statement, index));
        let reduced: f64 = reduced.product();
        let strips = (reduced / tiles.strip.terms() as f64).ceil().max(1.0);
        let boxes: f64 = tiles
            .promoted
            .iter()
            .map(|each| each.extents.iter().product::<usize>() as f64)
            .sum();
        let terms = strips * tiles.strip.terms() as f64;
        // A thread reads a value for each of its points along a dimension, and uses it along the others.
        let own: f64 = tiles
            .dimensions
            .iter()
            .map(|side| side.points as f64)
            .product();
        let reads: f64 = tiles
            .dimensions
            .iter()
            .map(|side| match side.points {
                1 => 0.0,
                points => points as f64 / own,
            })
            .sum::<f64>()
            .max(1.0 / own);
        // Without boxes each point loads what it needs; tensor cores have many terms in an instruction.
        let (loaded, each) = match (tiles.promoted.is_empty(), &tiles.cores) {
            (true, _) => (points * terms * 2.0, operations(part.statement) + 1.0),
            (false, None) => (strips * boxes, operations(part.statement) - 1.0 + reads),
            (false, Some(_)) => (strips * boxes, 1.0 / CORE_TERMS),
        };
        // With several stages, the address of what comes next is kept as well, and a strip has one barrier.
        let stages = tiles.stages as f64;
        let (of_element, of_thread) = match tiles.stages {
            1 => (3.0, 12.0),
            _ => (3.5, 14.0),
        };
        let turns = (blocks / (self.figures.multiprocessors as f64 * BLOCKS_AT_ONCE)).ceil();
        let barriers = if tiles.stages == 1 { 2.0 } else { 1.0 };
        let wait = self.figures.load_nanoseconds / (stages * BLOCKS_AT_ONCE)
            + barriers * self.figures.barrier_nanoseconds / BLOCKS_AT_ONCE;
        let shares = !tiles.promoted.is_empty();
        let beside = tiles.beside.iter();
        let beside: f64 = beside
            .map(|number| operations(kernel.parts[*number].statement))
            .sum();
        let each = each + beside;
        Amount {
            asked: scale * blocks * loaded * 4.0,
            instructions: scale
                * blocks
                * (points * terms * each + strips * (boxes * of_element + threads * of_thread)),
            threads: blocks * threads,
            waits: if shares {
                scale * turns * strips * wait
            } else {
                0.0
            },
        }
    }

    fn layers(&self, layers: &Layers<'_>) -> Amount {
        let mut all = Amount::default();
        for stage in &layers.stages {
            let amount = match &stage.work {
                StageWork::Tiles(tiles) => self.tiles(&stage.kernel, tiles, 1.0),
                StageWork::Elements | StageWork::Lanes => {
                    self.elements(&stage.kernel, self.count(&stage.kernel.threads))
                }
            };
            all.asked += amount.asked;
            all.instructions += amount.instructions;
            all.waits += amount.waits;
        }
        let first = layers
            .stages
            .first()
            .and_then(|stage| stage.kernel.threads.first());
        let rows = first.map_or(1.0, |count| self.value(count, None));
        all.threads = (rows / layers.rows as f64).ceil() * LAYER_THREADS;
        all
    }

    /// Whether the launcher takes the kernel: what lies between layers fits into shared memory, or rows are short.
    fn fits(&self, kernel: &Kernel<'_>) -> bool {
        let layers = match &kernel.plan {
            Plan::Layers(layers) => layers,
            Plan::Rows(rows) => {
                let parts = kernel.parts.iter().zip(&rows.parts);
                return parts.into_iter().all(|(part, row)| {
                    let ranges = row.shared_out.iter();
                    let ranges = ranges.map(|index| self.range(part.statement, *index));
                    ranges.product::<f64>() <= SHORT_ROW as f64
                });
            }
            _ => return true,
        };
        let rows = layers.arrays.iter().map(|array| {
            let tensor = &self.function.tensors[array.tensor];
            let row: f64 = tensor
                .extents
                .iter()
                .skip(1)
                .map(|extent| self.value(extent, None))
                .product();
            row * tensor.scalar.bytes() as f64
        });
        rows.sum::<f64>() * layers.rows as f64 + layers.box_bytes(self.function) as f64
            <= SHARED_BYTES
    }

    /// Bytes of all that a kernel reads or writes in memory, each once.
    fn touched(&self, kernel: &Kernel<'_>) -> f64 {
        let mut tensors = BTreeSet::new();
        for part in &kernel.parts {
            tensors.insert(part.statement.target);
            part.statement.reads(&mut |tensor, _| {
                tensors.insert(tensor);
            });
        }
        let stays = |tensor: &usize| match &kernel.plan {
            Plan::Layers(layers) => layers.keeps(*tensor),
            _ => crate::tensor::transform::rows::is_in_registers(kernel, *tensor),
        };
        let each = tensors
            .iter()
            .filter(|tensor| !stays(tensor))
            .map(|tensor| {
                let tensor = &self.function.tensors[*tensor];
                self.count(&tensor.extents) * tensor.scalar.bytes() as f64
            });
        each.sum()
    }

    /// Bytes of an access of one thread, of which neighbours follow an index.
    fn bytes(&self, tensor: usize, subscripts: &[Subscript], neighbour: Option<usize>) -> f64 {
        let size = self.function.tensors[tensor].scalar.bytes() as f64;
        let factor = |subscript: &Subscript| {
            let index = neighbour?;
            let form = subscript.linear.as_ref()?;
            Some(form.terms.get(&Atom::Variable(index)).copied().unwrap_or(0))
        };
        let Some((last, before)) = subscripts.split_last() else {
            return size / 32.0;
        };
        let moves = |subscript: &Subscript| factor(subscript) != Some(0);
        match (before.iter().any(moves), factor(last)) {
            // One element for the whole warp.
            (false, Some(0)) => size / 32.0,
            (false, Some(1)) => size,
            _ => SECTOR,
        }
    }

    /// Values of all indices together.
    fn terms(&self, statement: &Statement) -> f64 {
        let all = 0..statement.variables.len();
        all.map(|index| self.range(statement, index)).product()
    }

    fn elements_of(&self, statement: &Statement) -> f64 {
        statement
            .free()
            .map(|index| self.range(statement, index))
            .product()
    }

    /// How many values an index has, where the others are in the middle of theirs.
    fn range(&self, statement: &Statement, index: usize) -> f64 {
        let variable = &statement.variables[index];
        match (&variable.low, &variable.high) {
            (Bound::Linear(low), Bound::Linear(high)) => {
                let own = Some((statement, index));
                (self.value(high, own) - self.value(low, own)).max(0.0)
            }
            _ => ASSUMED_TERMS,
        }
    }

    fn count(&self, extents: &[Linear]) -> f64 {
        extents
            .iter()
            .map(|extent| self.value(extent, None).max(0.0))
            .product()
    }

    /// The value of a form; bounds speak only of indices before their own.
    fn value(&self, form: &Linear, of: Option<(&Statement, usize)>) -> f64 {
        let number = |atom: &Atom| match (atom, of) {
            (Atom::Symbol(symbol), _) => self.symbols[*symbol],
            (Atom::Variable(index), Some((statement, own))) if *index < own => {
                let (low, half) = match &statement.variables[*index].low {
                    Bound::Linear(low) => (
                        self.value(low, Some((statement, *index))),
                        self.range(statement, *index) / 2.0,
                    ),
                    Bound::Data(_) => (0.0, 0.0),
                };
                (low + half) as i64
            }
            _ => 0,
        };
        form.value(&number).unwrap_or(i64::MAX) as f64
    }
}

/// Instructions of a term, without its loads.
fn operations(statement: &Statement) -> f64 {
    fn count(kind: &ValueKind) -> f64 {
        match kind {
            ValueKind::Integer(_)
            | ValueKind::Real(_)
            | ValueKind::Variable(_)
            | ValueKind::Size(_) => 0.0,
            ValueKind::Read { .. } => 0.0,
            ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => 1.0 + count(&operand.kind),
            ValueKind::Binary(_, left, right) => 1.0 + count(&left.kind) + count(&right.kind),
            ValueKind::Select(condition, then, other) => {
                1.0 + count(&condition.kind) + count(&then.kind) + count(&other.kind)
            }
            ValueKind::Call(_, _, arguments) => {
                CALL_INSTRUCTIONS
                    + arguments
                        .iter()
                        .map(|argument| count(&argument.kind))
                        .sum::<f64>()
            }
        }
    }
    1.0 + count(&statement.value.kind)
}

/// Bytes that come together.
const SECTOR: f64 = 32.0;
/// How much faster caches are than memory.
const CACHE_RATE: f64 = 3.0;
/// Warps of a multiprocessor with which it is busy.
const ENOUGH_WARPS: u64 = 16;
/// Blocks of tiles that a multiprocessor has at once.
const BLOCKS_AT_ONCE: f64 = 4.0;
/// Terms of a thread in an instruction of tensor cores.
const CORE_TERMS: f64 = 64.0;
/// Threads of a block that computes rows.
const ROW_THREADS: f64 = 256.0;
/// Instructions for joining what the threads of such a block have.
const ROW_INSTRUCTIONS: f64 = 256.0 * 30.0;
/// Threads of a block that computes layers.
const LAYER_THREADS: f64 = 128.0;
/// Bytes of shared memory for what lies between layers.
const SHARED_BYTES: f64 = 47.0 * 1024.0;
/// Instructions of a function.
const CALL_INSTRUCTIONS: f64 = 12.0;
/// Values of an index whose range the data give.
const ASSUMED_TERMS: f64 = 16.0;
