//! Transformations of kernels: how threads share work, where that is proven to change nothing.
//!
//! | module | what it does |
//! |---|---|
//! | [`legality`] | which dimensions are parallel: dependences, by isl |
//! | [`tiles`] | products: a block a tile, boxes in shared memory, points in registers |
//! | [`rows`] | rows: a block a row, or lanes of a warp, which reduce it together, several statements in one kernel |
//! | [`layers`] | layers: a block some rows, several kernels in one, what lies between in shared memory |
//! | [`schedule`] | what came of it, as a tree |
//!
//! Invariant: a kernel is changed only where all dimensions that are shared out are parallel, and where what one part
//! writes reaches only the same thread, or the same block behind a barrier. Only [`rows`], [`layers`] and [`tiles::cores`] join
//! terms in another order, and only where [`Reductions::Parallel`] says so.

pub mod layers;
pub mod legality;
pub mod rows;
pub mod schedule;
pub mod tiles;

#[cfg(test)]
mod tests;

pub use layers::Layers;
pub use rows::Rows;
pub use tiles::{Promoted, TileDimension, Tiles};

use super::Options;
use super::mapping::{Mapping, Plan, Step};
use super::program::Function;
use tiles::{Shape, cores, stages};

/// How terms of a row are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reductions {
    /// By all threads of a block, pair by pair.
    #[default]
    Parallel,
    /// In the order of the indices, where another one could give another result.
    Ordered,
}

/// Whether tensor cores make products of halves and of numbers of `bfloat16`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TensorCores {
    /// Where [`Reductions::Parallel`] lets them: they join terms in another order.
    #[default]
    On,
    /// Nowhere.
    Off,
}

impl TensorCores {
    /// All, by the names of options.
    pub const NAMES: [(&'static str, Self); 2] = [("on", Self::On), ("off", Self::Off)];
}

/// Whether what several threads of a block read lies in shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SharedMemory {
    /// Where that saves something.
    #[default]
    On,
    /// Threads read device memory, and what they make for each other goes through it. Templates say it themselves.
    Off,
}

impl SharedMemory {
    /// All, by the names of options.
    pub const NAMES: [(&'static str, Self); 2] = [("on", Self::On), ("off", Self::Off)];
}

/// `--sirius-tc-tile=`: points of a tile, and values of the innermost reduced index between two loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSizes {
    /// Along the slower dimension.
    pub rows: u16,
    /// Along the faster dimension.
    pub columns: u16,
    /// Of a strip.
    pub strip: u16,
}

impl Default for TileSizes {
    fn default() -> Self {
        Self {
            rows: 64,
            columns: 64,
            strip: 16,
        }
    }
}

impl TileSizes {
    /// Reads `ROWS,COLUMNS,STRIP`: multiples of 16 up to 128, and a multiple of 4 up to 64.
    ///
    /// # Errors
    /// What is expected.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = "three numbers, such as 64,64,16: rows and columns of a tile, multiples of 16 up to 128, and \
                                a strip, a multiple of 4 up to 64";
        let numbers: Result<Vec<u16>, _> = text.split(',').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[rows, columns, strip]) => {
                let is_side = |side: u16| side.is_multiple_of(16) && (16..=128).contains(&side);
                let is_strip = strip % 4 == 0 && (4..=64).contains(&strip);
                match is_side(rows) && is_side(columns) && is_strip {
                    true => Ok(Self {
                        rows,
                        columns,
                        strip,
                    }),
                    false => Err(EXPECTED),
                }
            }
            _ => Err(EXPECTED),
        }
    }
}

/// The kernels of a definition, transformed as the options say.
pub fn transform<'f>(
    function: &'f Function,
    steps: Vec<Step<'f>>,
    options: Options,
) -> Vec<Step<'f>> {
    if matches!(
        options.mapping,
        Mapping::Identity | Mapping::Parallel | Mapping::Stitched
    ) {
        return steps;
    }
    let mut made: Vec<Step<'f>> = Vec::new();
    for step in steps {
        made.push(match step {
            Step::Loop {
                symbol,
                low,
                high,
                body,
            } => Step::Loop {
                symbol,
                low,
                high,
                body: transform(function, body, options),
            },
            other => other,
        });
    }
    let apart = |steps| apart(function, steps, options);
    match options.mapping {
        Mapping::Auto if options.shared == SharedMemory::On => {
            layers::layers(function, made, options.reductions, &apart)
        }
        _ => apart(made),
    }
}

/// Kernels by themselves: products, then rows, then what threads of a block read together.
fn apart<'f>(function: &'f Function, steps: Vec<Step<'f>>, options: Options) -> Vec<Step<'f>> {
    let mut made = steps;
    tile(function, &mut made, Shape::Plane, options);
    if options.mapping == Mapping::Auto {
        made = rows::rows(function, made, options.reductions, options.shared);
    }
    tile(function, &mut made, Shape::Any, options);
    made
}

fn tile(function: &Function, steps: &mut [Step<'_>], shape: Shape, options: Options) {
    let has_cores = options.tensor_cores == TensorCores::On
        && options.mapping == Mapping::Auto
        && options.shared == SharedMemory::On
        && options.reductions == Reductions::Parallel;
    for step in steps {
        let Step::Kernel(kernel) = step else { continue };
        let by_cores = || has_cores.then(|| cores::tiles(function, kernel, options.tile));
        let tiles = by_cores()
            .flatten()
            .or_else(|| tiles::tiles(function, kernel, shape, options.tile));
        if let Some(mut tiles) = tiles {
            match options.shared {
                SharedMemory::On => stages::choose(function, kernel, &mut tiles, options.stages),
                SharedMemory::Off => {
                    tiles.promoted.clear();
                    for later in &mut tiles.later {
                        later.promoted.clear();
                    }
                }
            }
            kernel.plan = Plan::Tiles(tiles);
        }
    }
}
