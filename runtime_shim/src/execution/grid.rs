//! Spreads the blocks of a grid over workers.
//!
//! Blocks are handed out in ascending order, in chunks, so that a grid of a million small blocks costs
//! little. The launching thread begins alone and calls the others when the grid turns out to take
//! longer than waking them does, so that a small launch costs less than a microsecond. With one worker
//! all blocks run on the launching thread, in ascending order.

pub mod clusters;
pub mod cooperative;
pub mod overlap;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::arithmetic::DeviceMode;
use super::block::{BlockRunner, Method};
use super::fiber::{self, Loan};
use super::{Failure, Launch};
use crate::abi::Counters;
use crate::environment::settings;
use crate::execution::fault;
use crate::execution::statistics::accumulate;
use crate::termination;

/// [`run`], where blocks may begin early, with memory as it was before the last launch.
pub fn run_early(launch: &Launch, kept: &mut overlap::Kept) -> (Counters, Option<Failure>) {
    let method = Method::choose(launch);
    match method == Method::Fibers && kept.can_begin_early() {
        true => overlap::run(launch, method, kept),
        false => run(launch),
    }
}

/// Runs all blocks and returns what instrumented code counted, and how the kernel failed if it did.
pub fn run(launch: &Launch) -> (Counters, Option<Failure>) {
    let method = Method::choose(launch);
    if cooperative::waits_for_blocks(launch, method) {
        return cooperative::run(launch, method);
    }
    if clusters::waits_for_blocks(launch, method) {
        return clusters::run(launch, method);
    }
    let workers = worker_count(launch);
    let progress = Progress {
        next: AtomicU64::new(0),
        chunk: chunk(launch.block_count(), workers),
        stop: AtomicBool::new(false),
        total: Mutex::new((Counters::default(), None)),
    };
    let stack_count = method.stack_count(launch);
    let stack_bytes = fiber::size_class(launch.kernel.kernel.stack_bytes);
    let stacks = fiber::take(stack_count, stack_bytes);
    if workers == 1 {
        work(launch, method, &progress, stacks, || {});
    } else {
        pool().in_place_scope(|scope| {
            work(launch, method, &progress, stacks, || {
                for _ in 1..workers {
                    scope.spawn(|_| {
                        // The launching thread has its stacks; others help when there are more.
                        if let Some(stacks) = fiber::try_take(stack_count, stack_bytes) {
                            work(launch, method, &progress, stacks, || {});
                        }
                    });
                }
            });
        });
    }
    progress
        .total
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
}

struct Progress {
    next: AtomicU64,
    chunk: u64,
    stop: AtomicBool,
    total: Mutex<(Counters, Option<Failure>)>,
}

/// Runs blocks until none is left. Begins with single blocks; when these have taken longer than it takes
/// to wake other workers, calls `share` and goes on in chunks.
fn work(launch: &Launch, method: Method, progress: &Progress, stacks: Loan, share: impl FnOnce()) {
    const ALONE: Duration = Duration::from_micros(20);
    fault::prepare_thread();
    let _mode = DeviceMode::begin();
    let blocks = launch.block_count();
    let mut first = progress.next.fetch_add(1, Ordering::Relaxed);
    if first >= blocks {
        return;
    }
    let mut runner = BlockRunner::new(launch, method, stacks);
    let mut failure = None;
    let start = Instant::now();
    let mut share = Some(share);
    let mut chunk = 1;
    'chunks: while first < blocks {
        for linear in first..blocks.min(first + chunk) {
            if progress.stop.load(Ordering::Relaxed) {
                break 'chunks;
            }
            failure = runner.run(index(linear, launch.grid));
            if failure.is_some() {
                progress.stop.store(true, Ordering::Relaxed);
                break 'chunks;
            }
        }
        if share.is_some() && start.elapsed() > ALONE {
            chunk = progress.chunk;
            if let Some(share) = share.take() {
                share();
            }
        }
        first = progress.next.fetch_add(chunk, Ordering::Relaxed);
    }
    let counters = runner.finish();
    let mut total = progress
        .total
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    accumulate(&mut total.0, &counters);
    total.1 = total.1.or(failure);
}

/// `blockIdx` of a block's linear index: x runs fastest.
pub fn index(linear: u64, grid: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(grid[0]), u64::from(grid[1]));
    // Each component is less than its extent, which has 32 bits.
    [
        (linear % x) as u32,
        (linear / x % y) as u32,
        (linear / x / y) as u32,
    ]
}

/// The linear index of a block, as [`index`] counts; grids of more blocks than 32 bits count are beyond any program.
pub fn linear(index: [u32; 3], grid: [u32; 3]) -> u32 {
    let row = index[2].wrapping_mul(grid[1]).wrapping_add(index[1]);
    row.wrapping_mul(grid[0]).wrapping_add(index[0])
}

fn worker_count(launch: &Launch) -> usize {
    let blocks = usize::try_from(launch.block_count()).unwrap_or(usize::MAX);
    settings().worker_threads.min(blocks).max(1)
}

/// Blocks that a worker takes at a time: enough to make taking cheap, few enough to balance.
fn chunk(blocks: u64, workers: usize) -> u64 {
    (blocks / (workers as u64 * 16)).clamp(1, 1024)
}

fn pool() -> &'static ThreadPool {
    static POOL: OnceLock<ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        ThreadPoolBuilder::new()
            .num_threads(settings().worker_threads)
            .stack_size(8 << 20)
            .thread_name(|index| format!("sirius-{index}"))
            .build()
            .unwrap_or_else(|error| {
                termination::fail(&format!("the system refuses worker threads: {error}"))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_indices_run_through_x_first() {
        let grid = [2, 3, 4];
        assert_eq!(index(0, grid), [0, 0, 0]);
        assert_eq!(index(1, grid), [1, 0, 0]);
        assert_eq!(index(2, grid), [0, 1, 0]);
        assert_eq!(index(23, grid), [1, 2, 3]);
    }

    #[test]
    fn chunks_cover_and_balance() {
        assert_eq!(chunk(1, 8), 1);
        assert_eq!(chunk(1_000_000_000, 2), 1024);
        assert!(chunk(1000, 4) * 4 < 1000);
    }
}
