//! What a pass through the phases of a cooperative launch is estimated to take, from what its code says.
//!
//! The formula is that of [executed launches](super::ExecutedKernel), with counts of the code in the place of what was executed.

use super::executed::{ExecutedKernel, blocks_at_once};
use super::figures::Figures;

/// What a thread does between the first phase of a cooperative launch and the end of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseWork {
    /// Bytes loaded from global memory.
    pub load_bytes: f64,
    /// Bytes stored there.
    pub store_bytes: f64,
    /// Instructions.
    pub instructions: f64,
    /// Barriers of its block.
    pub barriers: f64,
    /// Barriers across the grid.
    pub grid_barriers: f64,
    /// Static and dynamic shared memory of a block.
    pub shared_bytes: u64,
}

/// Nanoseconds of that in so many blocks of so many threads, none of which waits for another one to end. Where it is not known how many
/// blocks there are, they fill the device once with blocks that have `usual_shared_bytes`. `None` where they are not all on the device at once.
pub fn pass_nanoseconds(
    figures: &Figures,
    (blocks, threads): (Option<u64>, u64),
    work: &PhaseWork,
    usual_shared_bytes: u64,
) -> Option<f64> {
    let threads_of_block = u32::try_from(threads).ok()?;
    let room = |shared_bytes| blocks_at_once(figures, threads_of_block, shared_bytes);
    let blocks = blocks.unwrap_or_else(|| room(usual_shared_bytes));
    if blocks == 0 || blocks > room(work.shared_bytes) {
        return None;
    }
    let all = blocks as f64 * threads as f64;
    let of_all = |each: f64| (each * all) as u64;
    let kernel = ExecutedKernel {
        launches: 1,
        grid_barriers: work.grid_barriers as u64,
        blocks,
        threads: blocks * threads,
        instructions: of_all(work.instructions),
        global_load_bytes: of_all(work.load_bytes),
        global_store_bytes: of_all(work.store_bytes),
        barriers: (work.barriers * blocks as f64) as u64,
        ..ExecutedKernel::default()
    };
    Some(kernel.nanoseconds(figures) - figures.launch_nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Device;

    fn time(blocks: Option<u64>, work: PhaseWork) -> Option<f64> {
        pass_nanoseconds(Figures::of(Device::Cuda, 80), (blocks, 256), &work, 0)
    }

    fn work() -> PhaseWork {
        PhaseWork {
            load_bytes: 16.0,
            store_bytes: 8.0,
            instructions: 40.0,
            grid_barriers: 1.0,
            ..PhaseWork::default()
        }
    }

    #[test]
    fn bytes_count_where_they_are_most_and_instructions_where_these_are() {
        let fewer_bytes = PhaseWork {
            load_bytes: 8.0,
            instructions: 60.0,
            ..work()
        };
        assert!(time(None, fewer_bytes) < time(None, work()));
        let busy = |work: PhaseWork| PhaseWork {
            instructions: work.instructions + 5_000.0,
            ..work
        };
        assert!(time(None, busy(fewer_bytes)) > time(None, busy(work())));
    }

    #[test]
    fn blocks_that_are_not_all_there_take_no_time_that_is_known() {
        let crowded = PhaseWork {
            shared_bytes: 40 << 10,
            ..work()
        };
        // Four of these for each of 108 multiprocessors, eight of the others.
        assert!(time(Some(400), crowded).is_some());
        assert!(time(Some(800), crowded).is_none());
        assert!(time(Some(800), work()).is_some());
        assert!(time(None, crowded).is_none());
    }
}
