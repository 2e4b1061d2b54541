//! Whether block partitions of different code are worth running side by side.
//!
//! Invariant: a verdict is made of what is known when the program is compiled and of fixed figures, so that it is
//! always the same; and it only ever keeps launches unfused, which is right whatever the figures are.
//!
//! # The model
//! A multiprocessor holds as many blocks of a kernel at once as its threads and its shared memory allow
//! ([`Capability`]), of a block partition as many as of the largest block and the most shared memory of
//! any block partition. A launch of block partitions with n₁, n₂, … blocks that take t₁, t₂, … each, of
//! which r are held on each of [`MULTIPROCESSORS`], takes
//!
//! * [`LAUNCH_NANOSECONDS`] to begin,
//! * the time of its longest block, or Σ nᵢ·tᵢ / (r · multiprocessors), where that is more; a launch of one block partition
//!   whole rounds of blocks,
//! * in each block [`DISPATCH_NANOSECONDS`] for each block partition that it passes by,
//! * and where the code of all block partitions is larger than the cache for instructions and that of each is
//!   not, [`FETCH_NANOSECONDS`] a round for each instruction beyond it.
//!
//! Block partitions stand side by side when the one launch takes no longer than the launches unfused. So small grids
//! always do, which fill a device together; and large ones do, unless one of them costs the other too many of
//! its blocks at once. Registers are not known yet: what ptxas says of them decides later (`resources`).
//!
//! Where a grid is not known, and the one launch takes longer as it is assumed, two launches still stand side by side under a test:
//! that the run's blocks are so few that it takes no longer.
//!
//! A block takes what its accesses, barriers and loops take one after the other. A grid of unknown size is
//! taken to fill the device once by itself, an unknown block to have [`ASSUMED_THREADS`], and an unknown loop to
//! run [`ASSUMED_ITERATIONS`] times. The device is an A100: others differ by factors that are much alike for
//! both sides.

use super::super::group::Judge;
use super::super::layout::BlockPartitions;
use super::super::obstacle::{Candidate, rejection};
use super::super::occupancy::{Capability, KernelUsage};
use super::super::resources::ASSUMED_THREADS;
use super::super::space::{MOST_STATIC_SHARED_BYTES, static_shared};
use crate::dependence::{BESIDE, Guard};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::kernel::{Access, AccessKind, KernelModel, Target};
use crate::math::expression::{Condition, Expression};

impl<'a> Judge<'a> {
    /// Whether one launch of the block partitions of both groups takes no longer than a launch of each.
    ///
    /// # Errors
    /// What it would cost.
    pub(in crate::schedule) fn is_worth_it(
        &self,
        groups: [&[Candidate<'a>]; 2],
        partitions: impl Fn(&[Candidate<'a>]) -> BlockPartitions,
    ) -> Result<(), Rejection> {
        let [earlier, later] = groups;
        let code = |group: &[Candidate<'a>]| -> Vec<_> {
            group.iter().map(|member| member.model.id).collect()
        };
        let of = |group: &[Candidate<'a>]| -> Vec<BlockPartition> {
            let partitions = partitions(group);
            let partition = |partition: &Vec<usize>| self.partition(group, partition);
            partitions.iter().map(partition).collect()
        };
        let (Some(device), false) = (Capability::of(DEVICE), code(earlier) == code(later)) else {
            return Ok(());
        };
        let unfused = [of(earlier), of(later)];
        let both = unfused.concat();
        let [first, second] = [0, 1].map(|group| Estimate::of(&device, &unfused[group]));
        let together = Estimate::of(&device, &both);
        let nanoseconds = first.nanoseconds + second.nanoseconds;
        if together.nanoseconds <= nanoseconds {
            return Ok(());
        }
        let name = |group: &[Candidate]| group[0].model.display_name.clone();
        let message = format!(
            "`{}` and `{}` side by side would take about {} μs and unfused {} μs, since a multiprocessor \
             would hold {} blocks at once and unfused {} and {}",
            name(earlier),
            name(later),
            microseconds(together.nanoseconds),
            microseconds(nanoseconds),
            together.blocks,
            first.blocks,
            second.blocks
        );
        let last = later.last().map_or(0, |member| member.node.0);
        let location = &self.graph.nodes[last].location;
        Err(rejection(RejectionReason::Resources, message, location))
    }

    /// What a run asks where only it knows whether two launches by themselves are small enough to take no longer as one: by the
    /// model the one launch takes longer, with grids as they are assumed. `None` where that is no question, or the
    /// answer is known.
    pub(in crate::schedule) fn worth_guard(
        &self,
        members: &[Candidate<'a>],
        partitions: &BlockPartitions,
    ) -> Option<Guard> {
        let ([one, other], [_, _], Some(device)) =
            (members, partitions.as_slice(), Capability::of(DEVICE))
        else {
            return None;
        };
        let both = [0, 1].map(|member| self.partition(members, &[member]));
        let takes = |partitions: &[BlockPartition]| Estimate::of(&device, partitions).nanoseconds;
        let unfused = takes(&both[..1]) + takes(&both[1..]);
        let alike = one.model.id == other.model.id;
        let known = both.iter().all(|partition| partition.blocks.is_some());
        if alike || known || takes(&both) <= unfused {
            return None;
        }
        // A launch of its own takes one round of its blocks at least.
        let rounds = both
            .iter()
            .map(|partition| partition.nanoseconds)
            .sum::<u64>();
        let slots = Estimate::of(&device, &both).blocks * MULTIPROCESSORS;
        let most = slots.saturating_mul(LAUNCH_NANOSECONDS.saturating_add(rounds));
        let each = both.map(|partition| partition.nanoseconds + DISPATCH_NANOSECONDS);
        // Rounded up, in units that keep numbers of blocks far from overflowing.
        let work = [one, other].into_iter().zip(each).map(|(member, each)| {
            let each = i64::try_from(each.div_ceil(WORK_NANOSECONDS)).unwrap_or(i64::MAX);
            self.blocks(member).multiply(Expression::Constant(each))
        });
        let most = i64::try_from(most / WORK_NANOSECONDS).ok()?;
        Some(Guard::Holds {
            class: BESIDE.to_owned(),
            condition: Condition::LessEqual(
                work.reduce(Expression::add)?,
                Expression::Constant(most),
            ),
        })
    }

    /// What is estimated of members that run one after the other.
    pub(in crate::schedule) fn partition(
        &self,
        members: &[Candidate],
        partition: &[usize],
    ) -> BlockPartition {
        let first = &members[partition[0]];
        let extents = [3, 4, 5].map(|axis| self.extent(first, axis).as_constant());
        let threads = extents.into_iter().product::<Option<i64>>();
        let blocks = self.blocks(first).as_constant();
        let own = partition.iter().map(|member| &members[*member]);
        let dynamic = own.clone().filter_map(|member| {
            let bytes = self.graph.values[member.launch.shared_bytes.0].constant;
            u64::try_from(bytes?).ok()
        });
        let fixed = static_shared(members, partition).min(MOST_STATIC_SHARED_BYTES);
        BlockPartition {
            threads: threads
                .and_then(|threads| u32::try_from(threads).ok())
                .unwrap_or(ASSUMED_THREADS),
            blocks: blocks.and_then(|blocks| u64::try_from(blocks).ok()),
            static_bytes: u32::try_from(fixed).unwrap_or(u32::MAX),
            dynamic_bytes: dynamic.max().unwrap_or(0),
            nanoseconds: own.clone().map(|member| of_block(member.model)).sum(),
            instructions: own.map(|member| instructions(member.model)).sum(),
        }
    }
}

/// How many blocks with so much static shared memory the device holds at once, by the warps of a block from 1
/// to 32.
pub fn blocks_at_once(static_shared_bytes: u32) -> [u32; 32] {
    let usage = KernelUsage {
        shared_bytes: static_shared_bytes,
        ..KernelUsage::default()
    };
    let device = Capability::of(DEVICE);
    std::array::from_fn(|index| {
        let warps = index as u32 + 1;
        let resident = device.map_or(0, |device| device.resident_warps(&usage, warps * 32, 0));
        resident / warps * MULTIPROCESSORS as u32
    })
}

/// What is estimated of a block partition.
#[derive(Clone, Copy, Debug)]
pub(in crate::schedule) struct BlockPartition {
    /// Threads of a block.
    threads: u32,
    /// Where they are known.
    pub(in crate::schedule) blocks: Option<u64>,
    static_bytes: u32,
    dynamic_bytes: u64,
    /// What a block takes.
    nanoseconds: u64,
    instructions: u64,
}

/// What a launch takes.
pub(in crate::schedule) struct Estimate {
    pub(in crate::schedule) nanoseconds: u64,
    /// Blocks at once on a multiprocessor.
    blocks: u64,
}

impl Estimate {
    /// A launch of block partitions side by side.
    pub(in crate::schedule) fn of(device: &Capability, partitions: &[BlockPartition]) -> Self {
        let at_once = |partitions: &[BlockPartition]| -> u64 {
            let threads = partitions.iter().map(|partition| partition.threads).max();
            let threads = threads.unwrap_or(ASSUMED_THREADS);
            let fixed = partitions
                .iter()
                .map(|partition| partition.static_bytes)
                .max();
            let dynamic = partitions
                .iter()
                .map(|partition| partition.dynamic_bytes)
                .max();
            let usage = KernelUsage {
                shared_bytes: fixed.unwrap_or(0),
                ..KernelUsage::default()
            };
            let warps = device.resident_warps(&usage, threads, dynamic.unwrap_or(0));
            u64::from(warps / threads.div_ceil(32).max(1)).max(1)
        };
        let blocks = at_once(partitions);
        let slots = blocks * MULTIPROCESSORS;
        let (mut work, mut longest, mut rounds) = (0u64, 0u64, 0u64);
        for (number, partition) in partitions.iter().enumerate() {
            let own_slots = at_once(&[*partition]) * MULTIPROCESSORS;
            let count = partition.blocks.unwrap_or(own_slots);
            let passed_by = (partitions.len() - 1).min(number + 1) as u64;
            let each = partition.nanoseconds + passed_by * DISPATCH_NANOSECONDS;
            // A round of one kernel ends before the next one's begins.
            let count = match partitions.len() {
                1 => count.div_ceil(slots).saturating_mul(slots),
                _ => count,
            };
            work = work.saturating_add(count.saturating_mul(each));
            longest = longest.max(each);
            rounds = rounds.saturating_add(count.div_ceil(slots));
        }
        let code = partitions.iter().map(|partition| partition.instructions);
        let alone = code.clone().max().unwrap_or(0).max(CACHED_INSTRUCTIONS);
        let beyond = code.sum::<u64>().saturating_sub(alone);
        let fetched = rounds.saturating_mul(beyond * FETCH_NANOSECONDS);
        let running = longest.max(work.div_ceil(slots));
        Self {
            nanoseconds: LAUNCH_NANOSECONDS
                .saturating_add(running)
                .saturating_add(fetched),
            blocks,
        }
    }
}

/// What a block of a kernel takes, in nanoseconds.
pub(in crate::schedule) fn of_block(model: &KernelModel) -> u64 {
    let repeated = |loops: &[usize]| {
        let real = loops.iter().filter(|index| {
            let each = model.loops.get(**index);
            each.is_some_and(|each| each.quotient.is_none() && each.unknown.is_none())
        });
        let depth = u32::try_from(real.count()).unwrap_or(u32::MAX);
        ASSUMED_ITERATIONS.saturating_pow(depth.min(DEEPEST))
    };
    let of_access = |access: &Access| match (&access.target, access.kind) {
        (Target::Shared(_) | Target::UnknownShared, _) => SHARED_NANOSECONDS,
        // Nobody waits for these.
        (_, AccessKind::Write | AccessKind::Reduction(_)) => SHARED_NANOSECONDS,
        (_, AccessKind::Read | AccessKind::Atomic) => GLOBAL_NANOSECONDS,
    };
    let accesses = model.accesses.iter();
    let accesses = accesses.map(|access| of_access(access).saturating_mul(repeated(&access.loops)));
    let barriers = model.barriers.iter();
    let barriers = barriers.map(|at| BARRIER_NANOSECONDS.saturating_mul(repeated(&at.loops)));
    accesses
        .chain(barriers)
        .fold(SHARED_NANOSECONDS, u64::saturating_add)
}

/// Instructions of a kernel, up to its last access.
fn instructions(model: &KernelModel) -> u64 {
    let last = model.accesses.iter().map(|access| access.place).max();
    last.map_or(0, |place| place as u64 + 1)
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{}.{}", nanoseconds / 1000, nanoseconds % 1000 / 100)
}

/// Compute capability and multiprocessors of an A100.
pub(in crate::schedule) const DEVICE: u32 = 80;
const MULTIPROCESSORS: u64 = 108;
/// From the end of a kernel to the begin of the next one that is already waiting in its stream.
pub(in crate::schedule) const LAUNCH_NANOSECONDS: u64 = 2_000;
/// A compare, a branch and the block partition's own block number, which other warps mostly hide.
const DISPATCH_NANOSECONDS: u64 = 2;
/// A load from global memory, some of which are under way at once.
const GLOBAL_NANOSECONDS: u64 = 200;
/// In what a run counts the work of blocks.
const WORK_NANOSECONDS: u64 = 16;
/// An access to shared memory, or a store.
const SHARED_NANOSECONDS: u64 = 20;
const BARRIER_NANOSECONDS: u64 = 30;
/// 128 KiB of instructions of 16 bytes, which a multiprocessor keeps from Volta on.
const CACHED_INSTRUCTIONS: u64 = 8 << 10;
/// An instruction that comes from the cache for everything.
const FETCH_NANOSECONDS: u64 = 1;
const ASSUMED_ITERATIONS: u64 = 16;
/// Loops inside each other beyond these are not counted.
const DEEPEST: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(threads: u32, blocks: Option<u64>, static_bytes: u32) -> BlockPartition {
        BlockPartition {
            threads,
            blocks,
            static_bytes,
            dynamic_bytes: 0,
            nanoseconds: 1_000,
            instructions: 100,
        }
    }

    fn pays(one: BlockPartition, other: BlockPartition) -> bool {
        let device = Capability::of(DEVICE).unwrap();
        let time = |partitions: &[BlockPartition]| Estimate::of(&device, partitions).nanoseconds;
        time(&[one, other]) <= time(&[one]) + time(&[other])
    }

    #[test]
    fn what_costs_blocks_at_once_has_to_save_as_much() {
        let small = partition(256, Some(40), 0);
        assert!(pays(small, small));
        assert!(
            pays(small, partition(1024, Some(7), 48 << 10)),
            "few blocks"
        );
        // Eight of the one are at once, and two of the other.
        let (large, wide) = (
            partition(256, Some(100_000), 0),
            partition(1024, Some(100), 0),
        );
        assert!(pays(large, large) && !pays(large, wide) && !pays(wide, large));
        assert!(
            pays(partition(256, Some(500), 0), wide),
            "the launch is dearer"
        );
        // Shared memory of one costs the other its blocks.
        assert!(!pays(large, partition(256, Some(100), 40 << 10)));
        assert!(pays(large, partition(256, Some(100), 4 << 10)));
    }

    #[test]
    fn blocks_at_once_by_warps_and_shared_memory() {
        let free = blocks_at_once(0);
        assert_eq!(
            [free[0], free[1], free[7], free[31]],
            [32 * 108, 32 * 108, 8 * 108, 2 * 108]
        );
        // 164 KiB, of which each block takes 33.
        assert_eq!(blocks_at_once(32 << 10)[1], 4 * 108);
    }

    #[test]
    fn unknown_grids_fill_the_device_once() {
        let large = partition(256, None, 0);
        assert!(pays(large, large));
        assert!(pays(large, partition(512, None, 0)));
        assert!(!pays(large, partition(1024, None, 0)));
    }

    #[test]
    fn code_beyond_the_cache_is_fetched_again() {
        let long = |instructions| BlockPartition {
            instructions,
            ..partition(256, Some(20_000), 0)
        };
        assert!(pays(long(4_000), long(4_000)));
        assert!(!pays(long(8_000), long(8_000)));
        assert!(
            pays(long(20_000), long(10)),
            "it does not fit alone, either"
        );
    }

    #[test]
    fn each_partition_before_is_a_branch() {
        let device = Capability::of(DEVICE).unwrap();
        let short = BlockPartition {
            nanoseconds: 20,
            ..partition(256, Some(864_000), 0)
        };
        let time = |count| Estimate::of(&device, &vec![short; count]).nanoseconds;
        // A thousand rounds each.
        assert_eq!(time(1), LAUNCH_NANOSECONDS + 20_000);
        assert_eq!(time(2), LAUNCH_NANOSECONDS + 44_000);
        assert!(!pays(short, short));
    }
}
