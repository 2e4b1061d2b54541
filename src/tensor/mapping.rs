//! Statements to kernels: which statements run in one kernel, and which of their indices its threads take.
//!
//! A mapping is a function from a [`Function`] to [`Step`]s. [`super::emit`] writes whatever it says: a kernel has a shape of
//! threads, and each statement in it a list of the indices that the shape's dimensions are; the other indices become loops in
//! the order of `variables`.
//!
//! Invariant: in each element, terms are joined in the order of the identity mapping, so that results are equal to the last
//! bit; only [`Scatter::Atomic`] and [`transform::Reductions::Parallel`] give that up.

use super::Options;
use super::linear::Linear;
use super::polyhedral::{self, Nest, Strategy};
use super::program::{self, Function, Statement, Subscript};
use super::stitch;
use super::syntax::tree::{Operator, Reduction};
use super::transform::{self, Layers, Rows, Tiles};
use super::types::Scalar;

/// How statements become kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    /// One thread, loops as they are written: the reference.
    Identity,
    /// A thread for each element.
    Parallel,
    /// As `Parallel`, with products in tiles: [`Plan::Tiles`].
    Tiled,
    /// As `Tiled`, with reductions of rows by whole blocks, [`Plan::Rows`], and layers, [`Plan::Layers`].
    #[default]
    Auto,
    /// By implementation templates: [`super::stitch`].
    Stitched,
}

impl Mapping {
    /// All, by the names of options.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("identity", Self::Identity),
        ("parallel", Self::Parallel),
        ("tiled", Self::Tiled),
        ("auto", Self::Auto),
        ("stitched", Self::Stitched),
    ];
}

/// How terms meet in an element of a scatter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scatter {
    /// In the order of the indices: each run gives the same.
    #[default]
    Ordered,
    /// By atomic operations, where the GPU has one for the type.
    Atomic,
}

/// A step of the launcher.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<'f> {
    /// A launch.
    Kernel(Kernel<'f>),
    /// One launch where the sizes of a call allow it, else others.
    Either {
        /// The one, whose plan is [`Plan::Layers`], or [`Plan::Rows`] for short rows.
        together: Kernel<'f>,
        /// The others, which do the same.
        apart: Vec<Self>,
    },
    /// Launches for each value of a symbol.
    Loop {
        /// The symbol.
        symbol: usize,
        /// Its first value.
        low: &'f Linear,
        /// Behind its last value.
        high: &'f Linear,
        /// The launches.
        body: Vec<Self>,
    },
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel<'f> {
    /// How many threads there are in each dimension, the last one fastest; none: a single thread.
    pub threads: Vec<Linear>,
    /// What each thread does, in order.
    pub parts: Vec<Part<'f>>,
    /// How threads share the work.
    pub plan: Plan<'f>,
}

/// How the threads of a kernel share its work.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan<'f> {
    /// Each by itself, one point of `threads`.
    Elements,
    /// A block a tile of points.
    Tiles(Tiles),
    /// A block a row.
    Rows(Rows),
    /// A block some rows, of which it computes one layer after the other.
    Layers(Layers<'f>),
    /// Blocks of several kernels side by side, which need nothing of each other.
    Packed(Vec<Kernel<'f>>),
    /// Each by itself, with loops that several parts share.
    Nest(Nest),
}

/// What a thread does for one statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'f> {
    /// The statement.
    pub statement: &'f Statement,
    /// What of it.
    pub work: Work,
}

/// What of a statement a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Sets the target to the neutral element; its dimensions are those of the threads, or loops.
    Initialise,
    /// Computes elements, or terms of a scatter; the given indices are those of the threads.
    Compute {
        /// By dimension of the threads: an index, whose range begins where the thread's number 0 is.
        taken: Vec<usize>,
        /// Terms of a scatter meet by atomic operations.
        atomic: bool,
    },
}

/// The kernels of a definition.
pub fn map(function: &Function, options: Options) -> Vec<Step<'_>> {
    if let (Mapping::Stitched, Some(steps)) = (options.mapping, stitch::map(function, options)) {
        return steps;
    }
    if options.fusion != Strategy::Auto && options.mapping != Mapping::Identity {
        return polyhedral::plan(function, options).steps;
    }
    let steps = steps(function, &function.body, options.mapping, options.scatter);
    transform::transform(function, steps, options)
}

fn steps<'f>(
    function: &'f Function,
    body: &'f [program::Step],
    mapping: Mapping,
    scatter: Scatter,
) -> Vec<Step<'f>> {
    let mut steps: Vec<Step<'f>> = Vec::new();
    for step in body {
        match step {
            program::Step::Loop(time_loop) => steps.push(Step::Loop {
                symbol: time_loop.symbol,
                low: &time_loop.low,
                high: &time_loop.high,
                body: self::steps(function, &time_loop.body, mapping, scatter),
            }),
            program::Step::Statement(statement) => {
                append(function, &mut steps, statement, (mapping, scatter));
            }
        }
    }
    steps
}

/// The kernels of some statements, one after the other, of which those go together that the mapping puts together.
pub fn statements<'f>(
    function: &'f Function,
    statements: &[&'f Statement],
    options: Options,
) -> Vec<Step<'f>> {
    let mut steps = Vec::new();
    for statement in statements {
        let how = (options.mapping, options.scatter);
        append(function, &mut steps, statement, how);
    }
    steps
}

fn append<'f>(
    function: &'f Function,
    steps: &mut Vec<Step<'f>>,
    statement: &'f Statement,
    (mapping, scatter): (Mapping, Scatter),
) {
    for kernel in kernels(function, statement, mapping, scatter) {
        match steps.last_mut() {
            Some(Step::Kernel(last)) if joins(function, last, &kernel) => {
                last.parts.extend(kernel.parts);
            }
            _ => steps.push(Step::Kernel(kernel)),
        }
    }
}

/// The kernels of one statement alone.
pub(super) fn kernels<'f>(
    function: &'f Function,
    statement: &'f Statement,
    mapping: Mapping,
    scatter: Scatter,
) -> Vec<Kernel<'f>> {
    let target = &function.tensors[statement.target];
    let initialises = statement.scatter && matches!(statement.operator, Operator::Reduce(_, true));
    let is_parallel = mapping != Mapping::Identity;
    let mut kernels = Vec::new();
    if initialises {
        kernels.push(Kernel {
            threads: match is_parallel {
                true => target.extents.clone(),
                false => Vec::new(),
            },
            parts: vec![Part {
                statement,
                work: Work::Initialise,
            }],
            plan: Plan::Elements,
        });
    }
    let atomic = is_parallel
        && statement.scatter
        && scatter == Scatter::Atomic
        && has_atomic(target.scalar, statement.operator);
    let taken: Vec<usize> = match (is_parallel, statement.scatter && !atomic) {
        (false, _) => Vec::new(),
        (true, false) => statement.free().collect(),
        (true, true) => statement
            .free()
            .filter(|index| keeps_apart(statement, *index))
            .collect(),
    };
    let count = |index: &usize| {
        let variable = &statement.variables[*index];
        variable.high.linear()?.subtract(variable.low.linear()?)
    };
    // Indices on the left have bounds of sizes; were it otherwise, one thread would do.
    let counts: Option<Vec<Linear>> = taken.iter().map(count).collect();
    let (threads, taken) = match counts {
        Some(counts) => (counts, taken),
        None => (Vec::new(), Vec::new()),
    };
    kernels.push(Kernel {
        threads,
        parts: vec![Part {
            statement,
            work: Work::Compute { taken, atomic },
        }],
        plan: Plan::Elements,
    });
    kernels
}

/// Whether different values of an index on the left never meet in an element: it is a subscript of its own.
fn keeps_apart(statement: &Statement, index: usize) -> bool {
    let is_it = |subscript: &Subscript| {
        subscript.linear.as_ref().and_then(Linear::as_variable) == Some(index)
    };
    statement.subscripts.iter().any(is_it)
}

/// Whether CUDA has an atomic operation for it on all architectures.
fn has_atomic(scalar: Scalar, operator: Operator) -> bool {
    let Operator::Reduce(reduction, _) = operator else {
        return false;
    };
    match reduction {
        Reduction::Sum => matches!(
            scalar,
            Scalar::Int32 | Scalar::Uint32 | Scalar::Uint64 | Scalar::Float | Scalar::Double
        ),
        Reduction::Minimum | Reduction::Maximum => matches!(
            scalar,
            Scalar::Int32 | Scalar::Uint32 | Scalar::Int64 | Scalar::Uint64
        ),
        Reduction::Product => false,
    }
}

/// Whether a thread can go on with another kernel's work: the shapes are equal, and of what one side writes the other side
/// touches only the element of the same thread.
pub(super) fn joins(function: &Function, first: &Kernel<'_>, second: &Kernel<'_>) -> bool {
    if first.threads.is_empty() || first.threads != second.threads {
        return false;
    }
    let parts = || {
        first
            .parts
            .iter()
            .flat_map(|a| second.parts.iter().map(move |b| (a, b)))
    };
    parts().all(|(a, b)| stays_in_thread(function, a, b) && stays_in_thread(function, b, a))
}

/// Whether the elements that `reader` touches of what `writer` writes are those of the same thread.
fn stays_in_thread(function: &Function, writer: &Part<'_>, reader: &Part<'_>) -> bool {
    let target = writer.statement.target;
    let Some(written) = by_thread(writer) else {
        // Not each thread has elements of its own.
        return !touches(reader, target);
    };
    let rank = function.tensors[target].extents.len();
    let mut stays = true;
    if let Work::Compute { taken, .. } = &reader.work {
        reader.statement.reads(&mut |tensor, subscripts| {
            if tensor == target {
                stays &= by_dimension(reader.statement, subscripts, taken) == Some(written.clone());
            }
        });
    }
    if reader.statement.target == target {
        stays &= by_thread(reader) == Some(written.clone());
    }
    stays && written.len() == rank
}

fn touches(part: &Part<'_>, tensor: usize) -> bool {
    let mut found = part.statement.target == tensor;
    if matches!(part.work, Work::Compute { .. }) {
        part.statement.reads(&mut |read, _| found |= read == tensor);
    }
    found
}

/// By dimension of the target: which dimension of the threads it is, and from where on.
fn by_thread(part: &Part<'_>) -> Option<Vec<(usize, Linear)>> {
    match &part.work {
        Work::Initialise => {
            let rank = part.statement.subscripts.len();
            Some(
                (0..rank)
                    .map(|dimension| (dimension, Linear::number(0)))
                    .collect(),
            )
        }
        Work::Compute { taken, .. } => {
            let own = by_dimension(part.statement, &part.statement.subscripts, taken)?;
            let all = (0..taken.len()).all(|thread| own.iter().any(|(known, _)| *known == thread));
            all.then_some(own)
        }
    }
}

/// The same for any access: each subscript is an index that a thread takes.
fn by_dimension(
    statement: &Statement,
    subscripts: &[Subscript],
    taken: &[usize],
) -> Option<Vec<(usize, Linear)>> {
    let of = |subscript: &Subscript| {
        let variable = subscript.linear.as_ref()?.as_variable()?;
        let thread = taken.iter().position(|index| *index == variable)?;
        let low = statement.variables[variable].low.linear()?.clone();
        Some((thread, low))
    };
    subscripts.iter().map(of).collect()
}
