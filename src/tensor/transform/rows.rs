//! Rows: a block computes one value of the outer indices, for one statement after the other.
//!
//! Statements go together as long as no dependence leads from one row to another one. What reduces to one element of the
//! row is reduced by all threads, pair by pair, and stays in registers; what fills the row, and inputs that several
//! statements read, lie in shared memory where they fit, else in device memory.

mod places;

pub use places::{MOST_BYTES, MOST_THREADS, Wish, registers, rows_fit};

use super::legality::parallel_dimensions;
use super::{Reductions, SharedMemory};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::{Kernel, Part, Plan, Step, Work};
use crate::tensor::program::{self, Function, Role, Statement, Subscript};
use crate::tensor::syntax::tree::{Operator, Reduction};

/// How a kernel computes rows: its threads' dimensions are those of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Which threads compute a row.
    pub team: Team,
    /// How many threads these are, where that is a number.
    pub threads: Option<usize>,
    /// By part of the kernel.
    pub parts: Vec<RowPart>,
    /// Tensors of which the row lies in registers, or in shared memory where all of them fit.
    pub arrays: Vec<RowArray>,
}

/// Threads that compute a row together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Team {
    /// A block, of as many threads as the row needs.
    #[default]
    Block,
    /// Some lanes of a warp, and a block has several such rows.
    Lanes {
        /// How many: a power of two up to a warp.
        lanes: usize,
        /// Rows of a block; all their lanes are whole warps.
        rows: usize,
    },
    /// A thread of each warp of a block, which computes as many rows as a warp has lanes: neighbours in memory, as the
    /// row's dimensions are the last ones of tensors.
    Columns {
        /// How many, which is the number of warps.
        threads: usize,
    },
}

/// What the threads of a block do for one statement.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPart {
    /// Indices whose values the threads share out, together: those on the left that are not of the row, or where there are
    /// none those that are reduced. None: all threads do the same.
    pub shared_out: Vec<usize>,
    /// The block waits before it.
    pub barrier: bool,
    /// It is computed in the loop of the part before it, value by value.
    pub joins: bool,
    /// The statement makes one element of the row, which all threads then have.
    pub is_held: bool,
    /// What it makes is written to device memory.
    pub is_stored: bool,
}

/// The row of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct RowArray {
    /// The tensor.
    pub tensor: usize,
    /// It is an input, which is copied.
    pub is_copied: bool,
    /// The part whose loop copies it, as it reads all of it; else it is copied before the first part.
    pub copied_by: Option<usize>,
    /// Others read it, so that it is written to device memory, too.
    pub is_stored: bool,
    /// Where it lies.
    pub place: RowPlace,
}

/// Where a row lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// In a region of shared memory, which several rows may have one after the other.
    Shared {
        /// Which one.
        region: usize,
    },
    /// In registers: each thread has the elements that it makes.
    Registers,
}

impl Rows {
    /// Rows in shared memory.
    pub fn shared(&self) -> impl Iterator<Item = &RowArray> {
        let is_shared = |array: &&RowArray| matches!(array.place, RowPlace::Shared { .. });
        self.arrays.iter().filter(is_shared)
    }

    /// Whether the row of a tensor lies in registers.
    pub fn keeps(&self, tensor: usize) -> bool {
        let mut arrays = self.arrays.iter();
        arrays.any(|array| array.tensor == tensor && array.place == RowPlace::Registers)
    }
}

/// Whether a kernel needs no memory for a tensor: all of it is in registers.
pub fn is_in_registers(kernel: &Kernel<'_>, tensor: usize) -> bool {
    if let Plan::Packed(kernels) = &kernel.plan {
        let touches = |kernel: &&Kernel<'_>| {
            kernel.parts.iter().any(|part| {
                let mut found = part.statement.target == tensor;
                part.statement.reads(&mut |read, _| found |= read == tensor);
                found
            })
        };
        let mut kernels = kernels.iter().filter(touches);
        return kernels.all(|kernel| is_in_registers(kernel, tensor));
    }
    let Plan::Rows(rows) = &kernel.plan else {
        return false;
    };
    let mut arrays = rows.arrays.iter();
    if let Some(array) = arrays.find(|array| array.tensor == tensor && rows.keeps(tensor)) {
        return !array.is_copied && !array.is_stored;
    }
    let all = kernel.parts.iter().zip(&rows.parts);
    let mut writers = all.filter(|(part, _)| part.statement.target == tensor);
    writers
        .next()
        .is_some_and(|(_, row)| row.is_held && !row.is_stored)
}

/// Puts kernels together where that makes rows.
pub fn rows<'f>(
    function: &'f Function,
    steps: Vec<Step<'f>>,
    reductions: Reductions,
    shared: SharedMemory,
) -> Vec<Step<'f>> {
    let mut made: Vec<Step<'f>> = Vec::new();
    let mut rest = steps.as_slice();
    while let Some(first) = rest.first() {
        match longest(function, rest, reductions, shared) {
            Some((step, count)) => {
                made.push(step);
                rest = &rest[count..];
            }
            None => {
                made.push(first.clone());
                rest = &rest[1..];
            }
        }
    }
    made
}

/// The most kernels from the first one on that make rows together, and how many these are.
fn longest<'f>(
    function: &'f Function,
    steps: &[Step<'f>],
    reductions: Reductions,
    shared: SharedMemory,
) -> Option<(Step<'f>, usize)> {
    let Step::Kernel(first) = steps.first()? else {
        return None;
    };
    let mut best: Option<(Kernel<'f>, usize)> = None;
    for dimensions in (0..=first.threads.len()).rev() {
        let threads = &first.threads[..dimensions];
        let mut joined = Kernel {
            threads: threads.to_vec(),
            parts: Vec::new(),
            plan: Plan::Elements,
        };
        for (number, step) in steps.iter().enumerate() {
            let Step::Kernel(kernel) = step else { break };
            let fits = kernel.plan == Plan::Elements
                && kernel.threads.get(..dimensions) == Some(threads)
                && (dimensions > 0 || kernel.threads.is_empty())
                && kernel
                    .parts
                    .iter()
                    .all(|part| fits(function, part, dimensions, reductions));
            if !fits {
                break;
            }
            let before = joined.parts.len();
            joined.parts.extend(kernel.parts.iter().cloned());
            for part in &mut joined.parts[before..] {
                if let Work::Compute { taken, .. } = &mut part.work {
                    taken.truncate(dimensions);
                }
            }
            let is_legal = parallel_dimensions(function, &joined)
                .into_iter()
                .all(|parallel| parallel);
            if !is_legal {
                joined.parts.truncate(before);
                break;
            }
            let reduces = joined.parts.iter().any(|part| is_reduced_by_block(part));
            let is_longer = best.as_ref().is_none_or(|(_, count)| *count < number + 1);
            if reduces && is_longer {
                best = Some((joined.clone(), number + 1));
            }
        }
    }
    let (kernel, count) = best?;
    let (of_lanes, of_block) = match shared {
        SharedMemory::On => (Wish::Best, Wish::Shared),
        SharedMemory::Off => (Wish::Registers, Wish::Memory),
    };
    let by_block = planned(function, kernel.clone(), Team::Block, &|_| of_block);
    let step = match length(&kernel) {
        Length::Long => Step::Kernel(by_block),
        short_or_open => {
            let lanes = planned(function, kernel, SHORT, &|_| of_lanes);
            let fits =
                matches!(&lanes.plan, Plan::Rows(rows) if rows_fit(function, &lanes, &rows.arrays));
            match short_or_open {
                Length::Short if fits => Step::Kernel(lanes),
                Length::Open => Step::Either {
                    together: lanes,
                    apart: vec![Step::Kernel(by_block)],
                },
                _ => Step::Kernel(by_block),
            }
        }
    };
    Some((step, count))
}

/// Threads of short rows.
const SHORT: Team = Team::Lanes { lanes: 32, rows: 8 };
/// Elements of a short row at most.
pub const SHORT_ROW: usize = 128;

/// How long rows are.
enum Length {
    /// Known to be short, with no more than an element or a term in each turn of a loop.
    Short,
    /// The sizes of a call say whether they are.
    Open,
    /// Known to be longer, or what is done in a turn may be.
    Long,
}

fn length(kernel: &Kernel<'_>) -> Length {
    let threads = places::threads(kernel, Team::Block);
    let mut parts = kernel.parts.iter();
    let is_plain = parts.all(|part| {
        let is_held = inner(part).next().is_none();
        is_held || part.statement.reduced().next().is_none()
    });
    match threads.map(|threads| threads <= SHORT_ROW) {
        _ if !is_plain || kernel.threads.is_empty() => Length::Long,
        Some(true) => Length::Short,
        Some(false) => Length::Long,
        None => Length::Open,
    }
}

/// A kernel whose threads' dimensions are those of rows, as a team computes it. `wish` says of a tensor where its row is to
/// lie; it does so where that is possible.
pub fn planned<'f>(
    function: &Function,
    kernel: Kernel<'f>,
    team: Team,
    wish: &dyn Fn(usize) -> Wish,
) -> Kernel<'f> {
    let mut kernel = kernel;
    // What stands in a row's place depends on the team.
    kernel.plan = Plan::Rows(Rows {
        team,
        threads: None,
        parts: Vec::new(),
        arrays: Vec::new(),
    });
    let threads = places::threads(&kernel, team);
    let arrays = arrays(function, &kernel);
    let arrays = places::placed(function, (&kernel, threads), arrays, wish);
    let (arrays, parts) = places::in_regions(function, &kernel, arrays);
    kernel.plan = Plan::Rows(Rows {
        team,
        threads,
        parts,
        arrays,
    });
    kernel
}

/// The team of a kernel of rows.
fn team(kernel: &Kernel<'_>) -> Team {
    match &kernel.plan {
        Plan::Rows(rows) => rows.team,
        _ => Team::Block,
    }
}

/// Whether a statement can be one of rows.
fn fits(function: &Function, part: &Part<'_>, dimensions: usize, reductions: Reductions) -> bool {
    let Work::Compute {
        taken,
        atomic: false,
    } = &part.work
    else {
        return false;
    };
    let statement = part.statement;
    let is_plain = !statement.scatter && taken.len() == statement.free().count();
    let is_row = taken.len() == dimensions && statement.reduced().next().is_some();
    is_plain
        && (!is_row || (reads_along(statement) && may_reorder(function, statement, reductions)))
}

/// Whether terms may be joined by several threads.
pub fn may_reorder(function: &Function, statement: &Statement, reductions: Reductions) -> bool {
    let scalar = function.tensors[statement.target].scalar;
    let is_exact = match statement.operator {
        Operator::Assign => true,
        Operator::Reduce(Reduction::Minimum | Reduction::Maximum, _) => true,
        Operator::Reduce(..) => scalar.is_integer(),
    };
    is_exact || reductions == Reductions::Parallel
}

/// Whether threads that follow the reduced indices read neighbours: such an index is in a last subscript, and none of the
/// row is.
fn reads_along(statement: &Statement) -> bool {
    let (mut along, mut across) = (false, false);
    statement.value.reads(&mut |_, subscripts| {
        let Some(last) = subscripts.last() else {
            return;
        };
        match &last.linear {
            Some(form) => {
                let indices = form.variables();
                let on_left = |index: &usize| statement.variables[*index].on_left;
                along |= indices.iter().any(|index| !on_left(index));
                across |= indices.iter().any(on_left) && subscripts.len() > 1;
            }
            None => across = true,
        }
    });
    along && !across
}

/// Whether all threads of a block reduce to one element.
fn is_reduced_by_block(part: &Part<'_>) -> bool {
    let Work::Compute { taken, .. } = &part.work else {
        return false;
    };
    let statement = part.statement;
    taken.len() == statement.free().count() && statement.reduced().next().is_some()
}

/// Indices of a statement that are not of the row.
fn inner<'s>(part: &'s Part<'_>) -> impl Iterator<Item = usize> + 's {
    let taken = taken(part);
    part.statement
        .free()
        .filter(move |index| !taken.contains(index))
}

fn taken<'p>(part: &'p Part<'_>) -> &'p [usize] {
    match &part.work {
        Work::Compute { taken, .. } => taken,
        Work::Initialise => &[],
    }
}

/// What each part needs.
fn parts(function: &Function, kernel: &Kernel<'_>, arrays: &[RowArray]) -> Vec<RowPart> {
    let waits = !matches!(team(kernel), Team::Lanes { .. });
    let (named, is_kept) = (places::region_names(function, arrays), |tensor: usize| {
        let mut arrays = arrays.iter();
        arrays.any(|array| array.tensor == tensor && array.place == RowPlace::Registers)
    });
    let mut parts: Vec<RowPart> = Vec::new();
    // What was touched since the block waited, and since it waited before the loop that now runs.
    let mut touched: Vec<Touch> = Vec::new();
    let mut before_loop: Vec<Touch> = Vec::new();
    let mut loop_start = 0;
    for (number, part) in kernel.parts.iter().enumerate() {
        let statement = part.statement;
        let is_held = inner(part).next().is_none();
        let shared_out = shared_out(part);
        let is_stored = !is_held || !is_private(function, kernel, number);
        let mut own: Vec<Touch> = Vec::new();
        let mut needs_loop = false;
        let mut read = |tensor: usize, subscripts: &[Subscript]| {
            match holder(kernel, &parts, part, tensor, subscripts) {
                Some(writer) => needs_loop |= writer >= loop_start,
                None if is_kept(tensor) => {}
                None => own.push(Touch {
                    tensor,
                    // The loop that copies an input is the one that writes it.
                    writes: arrays
                        .iter()
                        .any(|array| array.tensor == tensor && array.copied_by == Some(number)),
                    place: place(kernel, part, subscripts, &shared_out),
                }),
            }
        };
        statement.reads(&mut |tensor, subscripts| read(tensor, subscripts));
        if matches!(statement.operator, Operator::Reduce(_, false)) {
            read(statement.target, &statement.subscripts);
        }
        if is_stored && !is_kept(statement.target) {
            own.push(Touch {
                tensor: statement.target,
                writes: true,
                place: match is_held {
                    // The first thread writes it.
                    true => Some(Vec::new()),
                    false => place(kernel, part, &statement.subscripts, &shared_out),
                },
            });
        }
        let meets = |a: &Touch, b: &Touch| {
            let is_same = a.tensor == b.tensor || named.meet(a.tensor, b.tensor);
            // Where two rows share memory, one of them is new whoever touches it.
            let writes = a.writes || b.writes || a.tensor != b.tensor;
            let apart = a.place.is_none() || a.place != b.place;
            let apart = apart || !named.are_alike(a.tensor, b.tensor);
            is_same && writes && apart
        };
        let any_meets = |before: &[Touch]| {
            own.iter()
                .any(|own| before.iter().any(|before| meets(before, own)))
        };
        let follows = number > 0 && {
            let ranges = |part| ranges(part, &self::shared_out(part));
            let own_ranges = ranges(part);
            own_ranges.is_some() && own_ranges == ranges(&kernel.parts[number - 1])
        };
        let joins = follows && !needs_loop && !any_meets(&before_loop);
        let barrier = !joins && any_meets(&touched);
        if barrier {
            touched.clear();
        }
        if !joins {
            before_loop = touched.clone();
            loop_start = number;
        }
        before_loop.extend(own.iter().cloned());
        if is_held && waits && statement.reduced().next().is_some() {
            // The reduction itself waits: behind it only the element is new.
            touched.clear();
            own.retain(|touch| touch.writes && touch.place.as_ref().is_some_and(Vec::is_empty));
        }
        touched.extend(own);
        parts.push(RowPart {
            shared_out,
            barrier,
            joins,
            is_held,
            is_stored,
        });
    }
    parts
}

/// Indices that the threads of a block share out for a part.
fn shared_out(part: &Part<'_>) -> Vec<usize> {
    let inner: Vec<usize> = inner(part).collect();
    match inner.is_empty() {
        true => flat(part.statement),
        false => inner,
    }
}

/// The ranges of the loop of a part, where they are the same for all rows and where all that the part does is in it.
pub fn ranges(part: &Part<'_>, shared_out: &[usize]) -> Option<Vec<(Linear, Linear)>> {
    let statement = part.statement;
    let is_held = inner(part).next().is_none();
    if shared_out.is_empty() || (is_held && shared_out.len() != statement.reduced().count()) {
        return None;
    }
    let ranges = shared_out.iter().map(|index| {
        let variable = &statement.variables[*index];
        let range = (
            variable.low.linear()?.clone(),
            variable.high.linear()?.clone(),
        );
        (!range.0.has_variables() && !range.1.has_variables()).then_some(range)
    });
    ranges.collect()
}

/// What a thread touches in memory that others see.
#[derive(Clone)]
struct Touch {
    tensor: usize,
    writes: bool,
    /// By which of its own numbers a thread finds it, where no other thread does.
    place: Option<Vec<(Linear, Linear)>>,
}

/// The ranges that threads share out, where an element is named by these indices in their order, behind those of the row.
pub fn place(
    kernel: &Kernel<'_>,
    part: &Part<'_>,
    subscripts: &[Subscript],
    shared_out: &[usize],
) -> Option<Vec<(Linear, Linear)>> {
    let statement = part.statement;
    let rest = behind_row(kernel, part, subscripts)?;
    if rest.len() != shared_out.len() || rest.is_empty() {
        return None;
    }
    let pairs = rest.iter().zip(shared_out);
    pairs
        .map(|(subscript, index)| {
            let variable = &statement.variables[*index];
            let is_it = subscript.linear.as_ref()?.as_variable() == Some(*index);
            let range = (
                variable.low.linear()?.clone(),
                variable.high.linear()?.clone(),
            );
            let is_fixed = !range.0.has_variables() && !range.1.has_variables();
            (is_it && is_fixed && !subscript.guarded).then_some(range)
        })
        .collect()
}

/// The subscripts behind those of the row, which come first, each an index of its own from 0 on. In columns, those of the
/// row come last, and these before them.
pub fn behind_row<'s>(
    kernel: &Kernel<'_>,
    part: &Part<'_>,
    subscripts: &'s [Subscript],
) -> Option<&'s [Subscript]> {
    let dimensions = kernel.threads.len();
    let (row, rest) = match team(kernel) {
        Team::Columns { .. } => {
            let (rest, row) =
                subscripts.split_at_checked(subscripts.len().checked_sub(dimensions)?)?;
            (row, rest)
        }
        _ => subscripts.split_at_checked(dimensions)?,
    };
    let taken = taken(part);
    let is_row = row.iter().zip(taken).all(|(subscript, index)| {
        let low = part.statement.variables[*index].low.linear();
        !subscript.guarded
            && subscript.linear.as_ref().and_then(Linear::as_variable) == Some(*index)
            && low.and_then(Linear::as_number) == Some(0)
    });
    is_row.then_some(rest)
}

/// The extents of what lies in the row of a tensor.
pub fn row_extents<'f>(function: &'f Function, kernel: &Kernel<'_>, tensor: usize) -> &'f [Linear] {
    let extents = &function.tensors[tensor].extents;
    let dimensions = kernel.threads.len().min(extents.len());
    match team(kernel) {
        Team::Columns { .. } => &extents[..extents.len() - dimensions],
        _ => &extents[dimensions..],
    }
}

/// Whether the row's dimensions are dimensions of a tensor, in their places.
fn is_by_row(function: &Function, kernel: &Kernel<'_>, tensor: usize) -> bool {
    let extents = &function.tensors[tensor].extents;
    match team(kernel) {
        Team::Columns { .. } => extents.ends_with(&kernel.threads),
        _ => extents.starts_with(&kernel.threads),
    }
}

/// Reduced indices that a block shares out: all where their ranges are known by then, else the innermost one.
fn flat(statement: &Statement) -> Vec<usize> {
    let all: Vec<usize> = statement.reduced().collect();
    let is_known = all.iter().all(|index| {
        let variable = &statement.variables[*index];
        [&variable.low, &variable.high].into_iter().all(|bound| {
            bound.linear().is_some_and(|form| {
                let mut indices = form.variables().into_iter();
                indices.all(|other| statement.variables[other].on_left)
            })
        })
    });
    match is_known {
        true => all,
        false => all.last().copied().into_iter().collect(),
    }
}

/// The part whose element, which all threads have, a read of another part is.
pub fn holder(
    kernel: &Kernel<'_>,
    before: &[RowPart],
    part: &Part<'_>,
    tensor: usize,
    subscripts: &[Subscript],
) -> Option<usize> {
    let writes = |number: &usize| kernel.parts[*number].statement.target == tensor;
    let number = (0..before.len()).rev().find(writes)?;
    let writer = &kernel.parts[number];
    let is_row = |part: &Part<'_>, subscripts: &[Subscript]| {
        behind_row(kernel, part, subscripts).is_some_and(<[Subscript]>::is_empty)
    };
    let holds = before[number].is_held
        && is_row(writer, &writer.statement.subscripts)
        && is_row(part, subscripts);
    holds.then_some(number)
}

/// Whether nobody needs what a part writes to device memory: all that read it have it in registers.
fn is_private(function: &Function, kernel: &Kernel<'_>, number: usize) -> bool {
    let tensor = kernel.parts[number].statement.target;
    let is_row = |part: &Part<'_>, subscripts: &[Subscript]| {
        behind_row(kernel, part, subscripts).is_some_and(<[Subscript]>::is_empty)
    };
    let first = kernel
        .parts
        .iter()
        .position(|part| part.statement.target == tensor);
    let mut private = function.tensors[tensor].role == Role::Temporary
        && !is_read_outside(function, kernel, tensor);
    for (other, part) in kernel.parts.iter().enumerate() {
        // What is read before the first part that writes it is in no register yet.
        let is_late = Some(other) > first;
        part.statement.reads(&mut |read, subscripts| {
            if read == tensor {
                private &= is_late && is_row(part, subscripts);
            }
        });
        if part.statement.target == tensor {
            let starts = !matches!(part.statement.operator, Operator::Reduce(_, false));
            private &= inner(part).next().is_none()
                && is_row(part, &part.statement.subscripts)
                && (starts || is_late);
        }
    }
    private
}

/// Whether a statement that is not of the kernel reads a tensor.
pub fn is_read_outside(function: &Function, kernel: &Kernel<'_>, tensor: usize) -> bool {
    fn search(steps: &[program::Step], is_own: &dyn Fn(&Statement) -> bool, tensor: usize) -> bool {
        steps.iter().any(|step| match step {
            program::Step::Loop(time_loop) => search(&time_loop.body, is_own, tensor),
            program::Step::Statement(statement) => {
                let mut reads = statement.target == tensor
                    && matches!(statement.operator, Operator::Reduce(_, false));
                statement.reads(&mut |read, _| reads |= read == tensor);
                reads && !is_own(statement)
            }
        })
    }
    let is_own = |statement: &Statement| {
        kernel
            .parts
            .iter()
            .any(|part| std::ptr::eq(part.statement, statement))
    };
    search(&function.body, &is_own, tensor)
}

/// Rows that are worth shared memory: what a part fills for others, and inputs that several parts read.
fn arrays(function: &Function, kernel: &Kernel<'_>) -> Vec<RowArray> {
    let mut found = Vec::new();
    for (tensor, known) in function.tensors.iter().enumerate() {
        let dimensions = kernel.threads.len();
        let is_by_row = is_by_row(function, kernel, tensor);
        if known.role == Role::Value || known.extents.len() == dimensions || !is_by_row {
            continue;
        }
        let (mut reads, mut writers, mut plain) = (0, Vec::new(), true);
        for (number, part) in kernel.parts.iter().enumerate() {
            let mut read = false;
            let mut see = |subscripts: &[Subscript]| {
                let rest = behind_row(kernel, part, subscripts);
                plain &= rest.is_some_and(|rest| {
                    rest.iter()
                        .all(|subscript| subscript.linear.is_some() && !subscript.guarded)
                });
            };
            part.statement.reads(&mut |other, subscripts| {
                if other == tensor {
                    read = true;
                    see(subscripts);
                }
            });
            if part.statement.target == tensor {
                see(&part.statement.subscripts);
                let starts = !matches!(part.statement.operator, Operator::Reduce(_, false));
                writers.push((number, starts && !read && fills(function, kernel, part)));
            }
            reads += usize::from(read);
        }
        if !plain {
            continue;
        }
        match writers.first() {
            None if reads > 1 => found.push(RowArray {
                tensor,
                is_copied: true,
                copied_by: copied_by(function, kernel, tensor),
                is_stored: false,
                place: RowPlace::Shared { region: 0 },
            }),
            // Whatever is read was written before, by this block: the first one that touches it fills the row.
            Some((first, true)) if reads > 0 && !reads_before(kernel, tensor, *first) => {
                found.push(RowArray {
                    tensor,
                    is_copied: false,
                    copied_by: None,
                    is_stored: known.role != Role::Temporary
                        || is_read_outside(function, kernel, tensor),
                    place: RowPlace::Shared { region: 0 },
                });
            }
            _ => {}
        }
    }
    found
}

/// The first part that reads a tensor, where each of its threads reads what it has to copy, and nothing else.
fn copied_by(function: &Function, kernel: &Kernel<'_>, tensor: usize) -> Option<usize> {
    let mut first: Option<usize> = None;
    let mut whole = true;
    let row = whole_row(function, kernel, tensor);
    for (number, part) in kernel.parts.iter().enumerate() {
        if first.is_some() {
            break;
        }
        let shared_out = shared_out(part);
        part.statement.reads(&mut |read, subscripts| {
            if read == tensor {
                first = Some(number);
                let place = place(kernel, part, subscripts, &shared_out);
                whole &= place.as_ref() == Some(&row) && ranges(part, &shared_out).is_some();
            }
        });
    }
    first.filter(|_| whole)
}

/// The ranges of all elements of the row of a tensor.
fn whole_row(function: &Function, kernel: &Kernel<'_>, tensor: usize) -> Vec<(Linear, Linear)> {
    let extents = row_extents(function, kernel, tensor).iter();
    extents
        .map(|extent| (Linear::number(0), extent.clone()))
        .collect()
}

/// Whether a part before the given one reads a tensor.
fn reads_before(kernel: &Kernel<'_>, tensor: usize, number: usize) -> bool {
    let mut found = false;
    for part in &kernel.parts[..number] {
        part.statement.reads(&mut |read, _| found |= read == tensor);
    }
    found
}

/// Whether a part defines the whole row of its target.
fn fills(function: &Function, kernel: &Kernel<'_>, part: &Part<'_>) -> bool {
    let Some(rest) = behind_row(kernel, part, &part.statement.subscripts) else {
        return false;
    };
    let extents = row_extents(function, kernel, part.statement.target);
    let inner: Vec<usize> = inner(part).collect();
    rest.len() == inner.len()
        && rest.iter().zip(extents).all(|(subscript, extent)| {
            let Some(index) = subscript.linear.as_ref().and_then(Linear::as_variable) else {
                return false;
            };
            let variable = &part.statement.variables[index];
            inner.contains(&index)
                && variable.low.linear().and_then(Linear::as_number) == Some(0)
                && variable.high.linear() == Some(extent)
        })
}
