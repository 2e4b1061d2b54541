//! Stages: while a block computes one strip, the boxes of the next ones are on their way into shared memory.

use super::{SHARED_BYTES, Tiles, count, reducing};
use crate::tensor::mapping::Kernel;
use crate::tensor::program::Function;

/// Stages at most.
pub const MOST_STAGES: usize = 3;

/// Chooses the stages of all products of a kernel.
pub fn choose(function: &Function, kernel: &Kernel<'_>, tiles: &mut Tiles, asked: Option<u8>) {
    tiles.stages = stages(function, kernel, tiles, asked);
    for later in &mut tiles.later {
        later.stages = stages(function, kernel, later, asked);
    }
    if tiles.all_bytes(function) > SHARED_BYTES {
        tiles.stages = 1;
        tiles.later.iter_mut().for_each(|later| later.stages = 1);
    }
}

/// In how many stages a kernel's boxes lie in shared memory: as many as are asked for, if they fit, and if there are as many
/// strips.
fn stages(function: &Function, kernel: &Kernel<'_>, tiles: &Tiles, asked: Option<u8>) -> usize {
    let statement = reducing(kernel, tiles);
    // What is fetched next has to be known from counters alone.
    if !statement.reduces_a_box() {
        return 1;
    }
    let strips = tiles.loops(statement).into_iter().map(|index| {
        let count = count(statement, index)?;
        Some(match index == tiles.strip.index {
            true => count.div_ceil(tiles.strip.count),
            false => count,
        })
    });
    let strips = strips.product::<Option<usize>>().unwrap_or(usize::MAX);
    let wanted = asked.map_or_else(|| by_default(tiles), usize::from);
    let fitting = SHARED_BYTES / tiles.box_bytes(function).max(1);
    let fitting = usize::try_from(fitting).unwrap_or(MOST_STAGES);
    wanted.min(fitting).min(strips).clamp(1, MOST_STAGES)
}

/// Tensor cores are done with a strip before the next one could come; ordinary tiles take fewer instructions in one stage.
fn by_default(tiles: &Tiles) -> usize {
    match tiles.cores {
        Some(_) => MOST_STAGES,
        None => 1,
    }
}
