//! Implementation templates: which statements of a definition are one kernel, how its threads share them, and how each gives
//! its value on. Their text is that of [`super::parser`].
//!
//! Invariant: what is written of a template is read as the same template again, but for the places of names.

use crate::tensor::fault::Span;
use crate::tensor::transform::rows::Team;
use std::fmt::{self, Display, Formatter};

/// The template of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The definition.
    pub name: Word,
    /// What its launcher does, in order.
    pub items: Vec<Item>,
}

/// A name, and where it stands.
#[derive(Clone, Debug, Eq)]
pub struct Word {
    /// The name.
    pub text: String,
    /// Where it stands; nowhere in a template that was chosen.
    pub span: Span,
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Word {
    /// A word that stands nowhere.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            span: Span::default(),
        }
    }
}

/// What a launcher does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A launch.
    Kernel(KernelTemplate),
    /// A launch in which blocks of several kernels run side by side: a packing.
    Packing(Vec<KernelTemplate>),
    /// A time loop, by its index.
    Loop(Word, Vec<Self>),
}

/// A kernel.
#[derive(Clone, Debug, Eq)]
pub struct KernelTemplate {
    /// Where it begins.
    pub span: Span,
    /// How its threads share the work.
    pub schedule: Schedule,
    /// Inputs of which each thread, or the block, keeps what it reads.
    pub inputs: Vec<ValueTemplate>,
    /// Its statements in order.
    pub values: Vec<ValueTemplate>,
}

impl PartialEq for KernelTemplate {
    fn eq(&self, other: &Self) -> bool {
        let parts = |one: &Self| (one.schedule, one.inputs.clone(), one.values.clone());
        parts(self) == parts(other)
    }
}

/// How the threads of a kernel share its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// A thread for each element.
    Elements,
    /// As `Elements`, in tiles of points.
    Tiles,
    /// The first dimensions are those of rows, which teams of threads compute.
    Row {
        /// How many dimensions.
        dimensions: usize,
        /// Lanes of a warp for a row, and rows of a block; without them, a block has a row.
        lanes: Option<(usize, usize)>,
    },
    /// The last dimensions are those of columns.
    Column {
        /// How many dimensions.
        dimensions: usize,
        /// Threads for a column.
        threads: usize,
    },
}

impl Schedule {
    /// The threads of a row, where there are rows; and how many dimensions these have.
    pub fn team(self) -> Option<(Team, usize)> {
        match self {
            Self::Elements | Self::Tiles => None,
            Self::Row {
                dimensions,
                lanes: None,
            } => Some((Team::Block, dimensions)),
            Self::Row {
                dimensions,
                lanes: Some((lanes, rows)),
            } => Some((Team::Lanes { lanes, rows }, dimensions)),
            Self::Column {
                dimensions,
                threads,
            } => Some((Team::Columns { threads }, dimensions)),
        }
    }
}

/// Which schedules the template that is chosen may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Teams {
    /// All.
    #[default]
    Any,
    /// A thread for each element, and tiles.
    Elements,
    /// Those, and rows by blocks.
    Blocks,
    /// Those of elements, and rows by lanes of a warp.
    Lanes,
    /// Those of elements, and columns.
    Columns,
}

impl Teams {
    /// All, by the names of options.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("any", Self::Any),
        ("elements", Self::Elements),
        ("blocks", Self::Blocks),
        ("lanes", Self::Lanes),
        ("columns", Self::Columns),
    ];

    /// Whether a schedule is one of them.
    pub fn has(self, schedule: Schedule) -> bool {
        match schedule.team() {
            None => true,
            Some((Team::Block, _)) => matches!(self, Self::Any | Self::Blocks),
            Some((Team::Lanes { .. }, _)) => matches!(self, Self::Any | Self::Lanes),
            Some((Team::Columns { .. }, _)) => matches!(self, Self::Any | Self::Columns),
        }
    }
}

/// A statement or an input, and how its value is given on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueTemplate {
    /// The tensor.
    pub tensor: Word,
    /// The how manieth statement that defines it, counted from 1.
    pub number: usize,
    /// The composition with those that read it.
    pub composition: Composition,
}

/// How a value reaches those that read it in the same kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Composition {
    /// It stays in the registers of the thread that makes it, or all threads of the row make it.
    Thread,
    /// Lanes of a warp reduce it together, by shuffles, and all have it.
    Warp,
    /// Through shared memory.
    Block,
    /// Through device memory, behind a barrier.
    Memory,
    /// Whoever reads it computes it again.
    Again,
}

impl Composition {
    /// All of them by their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("thread", Self::Thread),
        ("warp", Self::Warp),
        ("block", Self::Block),
        ("memory", Self::Memory),
        ("again", Self::Again),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|(_, composition)| *composition == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Template {
    /// The same template under other names: of the definition, its tensors, and its times.
    pub fn renamed(mut self, name: &str, new: &dyn Fn(&str) -> String) -> Self {
        name.clone_into(&mut self.name.text);
        self.items.iter_mut().for_each(|item| item.rename(new));
        self
    }
}

impl Item {
    fn rename(&mut self, new: &dyn Fn(&str) -> String) {
        let kernels = match self {
            Self::Kernel(kernel) => std::slice::from_mut(kernel),
            Self::Packing(kernels) => kernels.as_mut_slice(),
            Self::Loop(index, body) => {
                index.text = new(&index.text);
                body.iter_mut().for_each(|item| item.rename(new));
                return;
            }
        };
        for kernel in kernels {
            for value in kernel.inputs.iter_mut().chain(&mut kernel.values) {
                value.tensor.text = new(&value.tensor.text);
            }
        }
    }
}

impl Display for Template {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "template {} {{", self.name.text)?;
        items(&self.items, 1, out)?;
        writeln!(out, "}}")
    }
}

fn items(items: &[Item], depth: usize, out: &mut Formatter<'_>) -> fmt::Result {
    let indent = "  ".repeat(depth);
    for item in items {
        match item {
            Item::Kernel(kernel) => self::kernel(kernel, depth, out)?,
            Item::Packing(kernels) => {
                writeln!(out, "{indent}packing {{")?;
                for kernel in kernels {
                    self::kernel(kernel, depth + 1, out)?;
                }
                writeln!(out, "{indent}}}")?;
            }
            Item::Loop(index, body) => {
                writeln!(out, "{indent}for {} {{", index.text)?;
                self::items(body, depth + 1, out)?;
                writeln!(out, "{indent}}}")?;
            }
        }
    }
    Ok(())
}

fn kernel(kernel: &KernelTemplate, depth: usize, out: &mut Formatter<'_>) -> fmt::Result {
    let indent = "  ".repeat(depth);
    writeln!(out, "{indent}kernel {} {{", kernel.schedule)?;
    for input in &kernel.inputs {
        writeln!(out, "{indent}  input {input}")?;
    }
    for value in &kernel.values {
        writeln!(out, "{indent}  {value}")?;
    }
    writeln!(out, "{indent}}}")
}

impl Display for Schedule {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elements => write!(out, "elements"),
            Self::Tiles => write!(out, "tiles"),
            Self::Row { dimensions, lanes } => {
                write!(out, "row {dimensions}")?;
                match lanes {
                    Some((lanes, rows)) => write!(out, " threads {lanes} rows {rows}"),
                    None => Ok(()),
                }
            }
            Self::Column {
                dimensions,
                threads,
            } => write!(out, "column {dimensions} threads {threads}"),
        }
    }
}

impl Display for ValueTemplate {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.tensor.text)?;
        if self.number > 1 {
            write!(out, "@{}", self.number)?;
        }
        write!(out, ": {}", self.composition.name())
    }
}
