//! Layers: a block owns some rows and computes one kernel's work after the other for them.
//!
//! Kernels whose first dimension is the same go together where no dependence leads from one row to another one: layers of a
//! perceptron, sums of rows of tables, what stands before and behind them. What one makes of the rows for another one stays
//! in shared memory. The block waits between two of them. That needs memory, and blocks that are worth it: where only
//! the sizes of a call say whether there are, the launcher chooses between this and the kernels apart.

use super::Reductions;
use super::legality::is_parallel;
use super::rows::{behind_row, is_read_outside, may_reorder};
use super::tiles::{SHARED_BYTES, TileDimension, Tiles, row_tiles, tiles};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::{Kernel, Part, Plan, Step, Work};
use crate::tensor::program::{self, Function, Role, Statement, Subscript};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::tiles::Shape;

/// Threads of a block.
pub const THREADS: usize = 128;
/// Rows of a block, where products share what they read between rows.
const ROWS: usize = 16;
/// Rows of a block without such products.
const FEW_ROWS: usize = 4;
/// Columns of a product at most: of more there are enough tiles for other blocks.
const MOST_COLUMNS: usize = 256;
/// Elements of a row at most.
const MOST_ELEMENTS: usize = 1024;
/// Terms of a row at most, where a product of its own would be tiled.
const MOST_TERMS: usize = 16 * 1024;

/// How a kernel computes layers: its one dimension is that of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers<'f> {
    /// Rows of a block.
    pub rows: usize,
    /// One after the other.
    pub stages: Vec<Stage<'f>>,
    /// What stays in shared memory.
    pub arrays: Vec<LayerArray>,
}

/// What a block does between two barriers.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage<'f> {
    /// The kernel, with all its dimensions.
    pub kernel: Kernel<'f>,
    /// How the block computes it.
    pub work: StageWork,
}

/// How a block computes a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum StageWork {
    /// Threads share elements of the rows out.
    Elements,
    /// A product: tiles that have all rows, one after the other.
    Tiles(Tiles),
    /// Some lanes of a warp reduce a row together.
    Lanes,
}

/// Rows of a tensor in shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerArray {
    /// The tensor.
    pub tensor: usize,
    /// It is an input, of which rows are copied.
    pub is_copied: bool,
    /// Others read it, so that it is written to device memory, too.
    pub is_stored: bool,
}

impl Layers<'_> {
    /// Whether a kernel needs no memory for a tensor: all of it stays in shared memory.
    pub fn keeps(&self, tensor: usize) -> bool {
        let mut arrays = self.arrays.iter();
        arrays.any(|array| array.tensor == tensor && !array.is_stored && !array.is_copied)
    }

    /// Bytes of the boxes that the tiles of a stage need at most.
    pub fn box_bytes(&self, function: &Function) -> u64 {
        let each = self.stages.iter().map(|stage| match &stage.work {
            StageWork::Tiles(tiles) => tiles.box_bytes(function),
            StageWork::Elements | StageWork::Lanes => 0,
        });
        each.max().unwrap_or(0)
    }

    /// Numbers of elements that may not be more than the given ones.
    pub fn limits(&self) -> Vec<(Vec<Linear>, usize)> {
        let stages = self
            .stages
            .iter()
            .filter(|stage| stage.kernel.threads.len() > 1);
        stages
            .map(|stage| {
                let most = match stage.work {
                    StageWork::Tiles(_) => MOST_COLUMNS,
                    StageWork::Elements | StageWork::Lanes => MOST_ELEMENTS,
                };
                (stage.kernel.threads[1..].to_vec(), most)
            })
            .collect()
    }
}

/// Bytes of shared memory that rows and boxes together may take.
pub const MOST_BYTES: u64 = SHARED_BYTES - 1024;

/// Puts kernels together where that makes layers. `apart` says what becomes of them else.
pub fn layers<'f>(
    function: &'f Function,
    steps: Vec<Step<'f>>,
    reductions: Reductions,
    apart: &dyn Fn(Vec<Step<'f>>) -> Vec<Step<'f>>,
) -> Vec<Step<'f>> {
    let mut made: Vec<Step<'f>> = Vec::new();
    let mut others: Vec<Step<'f>> = Vec::new();
    let mut rest = steps.as_slice();
    while let Some(first) = rest.first() {
        let longest = longest(function, rest, reductions).map(|(kernel, count)| {
            let apart = apart(rest[..count].to_vec());
            (kernel, count, apart)
        });
        match longest {
            // One kernel as it is needs no other, unless its threads read the same of a row.
            Some((kernel, count, kernels)) if kernels.len() == 1 && !shares(&kernel, &kernels) => {
                others.extend_from_slice(&rest[..count]);
                rest = &rest[count..];
            }
            Some((kernel, count, kernels)) => {
                made.extend(apart(std::mem::take(&mut others)));
                made.push(match always_fits(function, &kernel) {
                    true => Step::Kernel(kernel),
                    false => Step::Either {
                        together: kernel,
                        apart: kernels,
                    },
                });
                rest = &rest[count..];
            }
            None => {
                others.push(first.clone());
                rest = &rest[1..];
            }
        }
    }
    made.extend(apart(others));
    made
}

/// Whether threads of a kernel read the same of a row, each by itself, where layers have it in shared memory.
fn shares(together: &Kernel<'_>, apart: &[Step<'_>]) -> bool {
    let copies = match &together.plan {
        Plan::Layers(plan) => plan.arrays.iter().any(|array| array.is_copied),
        _ => false,
    };
    let by_itself =
        |step: &Step<'_>| matches!(step, Step::Kernel(kernel) if kernel.plan == Plan::Elements);
    copies && apart.iter().all(by_itself)
}

/// The most kernels from the first one on that make layers together, and how many these are.
fn longest<'f>(
    function: &'f Function,
    steps: &[Step<'f>],
    reductions: Reductions,
) -> Option<(Kernel<'f>, usize)> {
    let Step::Kernel(first) = steps.first()? else {
        return None;
    };
    let rows = first.threads.first()?;
    let mut joined = Kernel {
        threads: vec![rows.clone()],
        parts: Vec::new(),
        plan: Plan::Elements,
    };
    let mut count = 0;
    for step in steps {
        let Step::Kernel(kernel) = step else { break };
        if kernel.threads.first() != Some(rows) || !fits(function, kernel) {
            break;
        }
        let before = joined.parts.len();
        joined.parts.extend(kernel.parts.iter().cloned());
        for part in &mut joined.parts[before..] {
            if let Work::Compute { taken, .. } = &mut part.work {
                taken.truncate(1);
            }
        }
        if !is_parallel(function, &joined, 0) {
            joined.parts.truncate(before);
            break;
        }
        count += 1;
    }
    // As many as may fit.
    while count > 0 {
        let kernels = steps[..count].iter().filter_map(|step| match step {
            Step::Kernel(kernel) => Some(kernel),
            _ => None,
        });
        let kernels: Vec<&Kernel<'f>> = kernels.collect();
        joined
            .parts
            .truncate(kernels.iter().map(|kernel| kernel.parts.len()).sum());
        let plan = plan(function, &joined, &kernels, reductions);
        if may_fit(function, rows, &plan) {
            joined.plan = Plan::Layers(plan);
            return Some((joined, count));
        }
        count -= 1;
    }
    None
}

/// Whether a kernel can be a layer.
fn fits(function: &Function, kernel: &Kernel<'_>) -> bool {
    let is_plain = kernel.plan == Plan::Elements
        && kernel.parts.iter().all(|part| {
            let statement = part.statement;
            let is_whole = |taken: &[usize]| taken.len() == statement.free().count();
            matches!(&part.work, Work::Compute { taken, atomic: false } if is_whole(taken))
                && !statement.scatter
        });
    is_plain
        && (kernel.threads.len() == 1
            || of_rows(function, kernel).is_some()
            || terms(kernel).is_some_and(|terms| terms <= MOST_TERMS)
            || one_product(function, kernel).is_none())
}

/// The tiles of a kernel with one product; several are better apart only where their rows do not fit.
fn one_product(function: &Function, kernel: &Kernel<'_>) -> Option<Tiles> {
    tiles(function, kernel, Shape::Plane, None).filter(Tiles::is_one_product)
}

/// The tiles of a product of rows and a matrix.
fn of_rows(function: &Function, kernel: &Kernel<'_>) -> Option<Tiles> {
    let is_pair = kernel.threads.len() == 2;
    one_product(function, kernel).filter(|_| is_pair)
}

/// Terms that the statements of a kernel have for a row, where that is a number.
fn terms(kernel: &Kernel<'_>) -> Option<usize> {
    let of_part = |part: &Part<'_>| {
        let statement = part.statement;
        let all = statement.variables.iter().skip(1).map(|variable| {
            let extent = variable.high.linear()?.subtract(variable.low.linear()?)?;
            usize::try_from(extent.as_number()?).ok()
        });
        all.product::<Option<usize>>()
    };
    kernel.parts.iter().map(of_part).sum()
}

/// What each stage and each tensor needs.
fn plan<'f>(
    function: &'f Function,
    joined: &Kernel<'f>,
    kernels: &[&Kernel<'f>],
    reductions: Reductions,
) -> Layers<'f> {
    let mut arrays = arrays(function, joined);
    // What only the kernel reads that makes it is as well in device memory.
    let reads = |kernel: &Kernel<'_>, tensor: usize| {
        let mut found = false;
        for part in &kernel.parts {
            part.statement.reads(&mut |read, _| found |= read == tensor);
        }
        found
    };
    let writes = |kernel: &Kernel<'_>, tensor: usize| {
        let mut parts = kernel.parts.iter();
        parts.any(|part| part.statement.target == tensor)
    };
    arrays.retain(|array| {
        let mut kernels = kernels.iter();
        let reads_it =
            |kernel: &&Kernel<'f>| reads(kernel, array.tensor) && !writes(kernel, array.tensor);
        !array.is_stored || kernels.any(reads_it)
    });
    let products: Vec<bool> = kernels
        .iter()
        .map(|kernel| of_rows(function, kernel).is_some())
        .collect();
    let rows = match products.contains(&true) {
        true => ROWS,
        false => FEW_ROWS,
    };
    let is_resident = |tensor: usize| {
        let mut arrays = arrays.iter();
        arrays.any(|array| array.tensor == tensor && !array.is_copied)
    };
    let mut stages: Vec<Stage<'f>> = Vec::new();
    for (kernel, is_product) in kernels.iter().zip(products) {
        let tiles = is_product
            .then(|| row_tiles(function, kernel, (rows, THREADS), &is_resident))
            .flatten();
        if let Some(tiles) = tiles {
            stages.push(Stage {
                kernel: (*kernel).clone(),
                work: StageWork::Tiles(tiles),
            });
            continue;
        }
        // One element of a row can be reduced by several threads.
        for part in &kernel.parts {
            let by_lanes = kernel.threads.len() == 1
                && part.statement.reduced().next().is_some()
                && may_reorder(function, part.statement, reductions);
            let work = match by_lanes {
                true => StageWork::Lanes,
                false => StageWork::Elements,
            };
            match stages.last_mut() {
                Some(last)
                    if last.work == StageWork::Elements
                        && work == StageWork::Elements
                        && is_of(kernel, last) =>
                {
                    last.kernel.parts.push(part.clone());
                }
                _ => stages.push(Stage {
                    kernel: Kernel {
                        threads: kernel.threads.clone(),
                        parts: vec![part.clone()],
                        plan: Plan::Elements,
                    },
                    work,
                }),
            }
        }
    }
    // What has known places lies in front, so that it is plain that others lie behind.
    arrays.sort_by_key(|array| pitch(function, array).is_none());
    // Tiles load what they read of inputs.
    arrays.retain(|array| {
        let mut stages = stages.iter();
        !array.is_copied
            || stages.any(|stage| {
                stage.work == StageWork::Elements && reads(&stage.kernel, array.tensor)
            })
    });
    Layers {
        rows,
        stages,
        arrays,
    }
}

/// Whether a stage is made of parts of a kernel.
fn is_of(kernel: &Kernel<'_>, stage: &Stage<'_>) -> bool {
    let mut parts = stage.kernel.parts.iter();
    parts.all(|own| {
        kernel
            .parts
            .iter()
            .any(|part| std::ptr::eq(part.statement, own.statement))
    })
}

/// Rows that stay in shared memory: what the kernel makes for itself, and inputs that all elements of a row read.
fn arrays(function: &Function, kernel: &Kernel<'_>) -> Vec<LayerArray> {
    let mut found = Vec::new();
    for (tensor, known) in function.tensors.iter().enumerate() {
        if known.extents.first() != kernel.threads.first() {
            continue;
        }
        let (mut reads, mut is_written, mut is_plain, mut is_shared) = (false, false, true, true);
        let mut is_late = true;
        for part in &kernel.parts {
            let statement = part.statement;
            let mut see = |subscripts: &[Subscript]| {
                let rest = behind_row(kernel, part, subscripts);
                is_plain &= rest.is_some_and(|rest| {
                    let mut rest = rest.iter();
                    rest.all(|subscript| subscript.linear.is_some() && !subscript.guarded)
                });
            };
            statement.reads(&mut |read, subscripts| {
                if read == tensor {
                    reads = true;
                    is_late &= is_written;
                    see(subscripts);
                    is_shared &= is_of_no_column(function, statement, tensor, subscripts);
                }
            });
            if statement.target == tensor {
                let joins = matches!(statement.operator, Operator::Reduce(_, false));
                reads |= joins;
                is_late &= is_written || !joins;
                is_written = true;
                see(&statement.subscripts);
            }
        }
        if !reads || !is_plain {
            continue;
        }
        match known.role {
            Role::Input if is_shared => found.push(LayerArray {
                tensor,
                is_copied: true,
                is_stored: false,
            }),
            // What is read was then defined by this very kernel before, row by row.
            Role::Temporary | Role::Output
                if is_written && is_late && !is_written_outside(function, kernel, tensor) =>
            {
                found.push(LayerArray {
                    tensor,
                    is_copied: false,
                    is_stored: known.role == Role::Output
                        || is_read_outside(function, kernel, tensor),
                });
            }
            _ => {}
        }
    }
    found
}

/// Whether several elements of a row read all of a row of a tensor, each by itself.
fn is_of_no_column(
    function: &Function,
    statement: &Statement,
    tensor: usize,
    subscripts: &[Subscript],
) -> bool {
    let columns = statement.free().nth(1);
    let extents = &function.tensors[tensor].extents;
    let is_all = |subscript: &Subscript, extent: &Linear| {
        let index = subscript.linear.as_ref().and_then(Linear::as_variable);
        index.is_some_and(|index| {
            let variable = &statement.variables[index];
            !variable.on_left
                && variable.low.linear().and_then(Linear::as_number) == Some(0)
                && variable.high.linear() == Some(extent)
        })
    };
    let mut pairs = subscripts.iter().zip(extents).skip(1);
    columns.is_some() && subscripts.len() > 1 && pairs.all(|(one, extent)| is_all(one, extent))
}

/// Whether a statement that is not of the kernel writes a tensor.
fn is_written_outside(function: &Function, kernel: &Kernel<'_>, tensor: usize) -> bool {
    fn search(steps: &[program::Step], is_outside: &dyn Fn(&Statement) -> bool) -> bool {
        steps.iter().any(|step| match step {
            program::Step::Loop(time_loop) => search(&time_loop.body, is_outside),
            program::Step::Statement(statement) => is_outside(statement),
        })
    }
    search(&function.body, &|statement| {
        let mut parts = kernel.parts.iter();
        statement.target == tensor && parts.all(|part| !std::ptr::eq(part.statement, statement))
    })
}

/// Elements between a row of a tensor in shared memory and the next one, where that is a number.
pub fn pitch(function: &Function, array: &LayerArray) -> Option<u64> {
    let extents = function.tensors[array.tensor].extents[1..].iter();
    let numbers = extents.map(|extent| u64::try_from(extent.as_number()?).ok());
    let elements = numbers.product::<Option<u64>>()?;
    Some(
        match array.is_copied || function.tensors[array.tensor].extents.len() == 1 {
            true => elements,
            // Rows begin at other banks, and where four floats may.
            false => elements.next_multiple_of(4) + 4,
        },
    )
}

/// Whether what is a number leaves room.
fn may_fit(function: &Function, rows: &Linear, plan: &Layers<'_>) -> bool {
    let bytes = plan.arrays.iter().filter_map(|array| {
        let bytes = function.tensors[array.tensor].scalar.bytes();
        Some(pitch(function, array)? * plan.rows as u64 * bytes)
    });
    let is_few = |(extents, most): &(Vec<Linear>, usize)| {
        let numbers = extents.iter().map(|extent| extent.as_number());
        let product = numbers.flatten().product::<i64>();
        usize::try_from(product).is_ok_and(|product| product <= *most)
    };
    let fits = bytes.sum::<u64>() + plan.box_bytes(function) <= MOST_BYTES;
    fits && rows.as_number() != Some(0) && plan.limits().iter().all(is_few)
}

/// Whether all that decides is a number.
fn always_fits(function: &Function, kernel: &Kernel<'_>) -> bool {
    let Plan::Layers(plan) = &kernel.plan else {
        return false;
    };
    let is_known = |array: &LayerArray| pitch(function, array).is_some();
    let limits = plan.limits();
    let mut extents = limits.iter().flat_map(|(extents, _)| extents);
    plan.arrays.iter().all(is_known) && extents.all(|extent| extent.as_number().is_some())
}

/// The tile of a product in which all rows of a block are: a thread has two of them.
pub fn dimensions(
    (rows, threads): (usize, usize),
    row: Option<usize>,
    columns: Option<usize>,
) -> Vec<TileDimension> {
    let of_rows = TileDimension {
        threads: rows / 2,
        points: 2,
        extent: row,
    };
    let across = threads / of_rows.threads;
    let (threads, points) = match columns {
        Some(few) if few < across * 4 => match few.div_ceil(across) {
            3 => (few.div_ceil(4), 4),
            points => (few.div_ceil(points), points),
        },
        _ => (across, 4),
    };
    let of_columns = TileDimension {
        threads,
        points,
        extent: columns,
    };
    vec![of_rows, of_columns]
}
