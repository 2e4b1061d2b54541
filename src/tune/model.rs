//! f(P): what launches are estimated to take.
//!
//! # The model
//! A launch begins after [`Figures::launch_nanoseconds`], and then takes the longest of
//!
//! * its bytes at the rate of memory, which few warps do not reach: below [`ENOUGH_WARPS`] of those that a
//!   multiprocessor holds it falls with them; and what it takes until the first of them come, `half / peak`, so that
//!   the rate grows with the bytes as `peak · bytes / (bytes + half)`;
//! * its instructions at the rate of all multiprocessors, with few warps less likewise;
//! * what its blocks take one after the other, where only so many are held at once: as many rounds as it
//!   takes, and in each a block's loads that wait for each other and its barriers.
//!
//! A launch with barriers across the grid takes what its phases would take as launches, but begins once, and waits
//! [`Figures::grid_barrier_nanoseconds`] between two of them. Its blocks have the shared memory of the phase that needs most.
//!
//! Members of a block partition run in the same blocks. What an earlier one of them loads or stores a later one does
//! not load again; what only they read need not be stored. Block partitions side by side share the launch, but
//! every block takes the threads and the shared memory of the largest. Where threads are remapped over those of other
//! members, each does its part of all.
//!
//! An innermost loop whose body stands n times in the code counts once in n iterations; as planned it is taken to
//! stand there [`USUAL_UNROLLING`] times. How many loads are under way then is not estimated, since registers
//! decide that: so unrolling ranks variants that are measured, and is seldom worth the change by itself.
//!
//! Grids, blocks and loops that are not known are taken to fill the device once, to have
//! [`ASSUMED_THREADS`] and to run [`ASSUMED_ITERATIONS`] times. What only ptxas knows, registers, it
//! judges later.
//!
//! Where bytes alone are to count ([`Score::Bytes`]), a launch takes its bytes at the rate of memory, however many warps there are.

use super::figures::Figures;
use crate::dependence::{BESIDE, Guard};
use crate::kernel::{Access, AccessKind, KernelModel, Loop, Target};
use crate::launch::{BufferId, Launch, LaunchGraph, LaunchId, NodeKind, ValueId};
use crate::planner::Score;
use crate::schedule::occupancy::{Capability, KernelUsage};
use crate::schedule::resources::ASSUMED_THREADS;
use crate::schedule::{FusionGroup, ThreadMap};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Estimates what groups take.
pub struct Model<'a> {
    models: &'a [KernelModel],
    graph: &'a LaunchGraph,
    launches: HashMap<LaunchId, &'a Launch>,
    figures: &'a Figures,
    /// Instructions and waits are taken to cost nothing.
    only_bytes: bool,
}

impl<'a> Model<'a> {
    /// `models` is indexed by [`KernelId`](crate::program::KernelId).
    pub fn new(graph: &'a LaunchGraph, models: &'a [KernelModel], figures: &'a Figures) -> Self {
        let launches = graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, launch)),
            _ => None,
        });
        Self {
            models,
            graph,
            launches: launches.collect(),
            figures,
            only_bytes: false,
        }
    }

    /// A model that counts bytes alone.
    pub fn of_bytes(
        graph: &'a LaunchGraph,
        models: &'a [KernelModel],
        figures: &'a Figures,
    ) -> Self {
        Self {
            only_bytes: true,
            ..Self::new(graph, models, figures)
        }
    }

    /// What it counts.
    pub fn score(&self) -> Score {
        match self.only_bytes {
            true => Score::Bytes,
            false => Score::Model,
        }
    }

    /// Nanoseconds of the group as one launch. Where a test lets it run only if that takes no longer, at most what its members take.
    pub fn together(&self, group: &FusionGroup) -> f64 {
        let tests = |guard: &Guard| matches!(guard, Guard::Holds { class, .. } if class == BESIDE);
        match group.guards.iter().any(tests) {
            true => self.as_one(group).min(self.unfused(group)),
            false => self.as_one(group),
        }
    }

    fn as_one(&self, group: &FusionGroup) -> f64 {
        if group.is_cooperative() {
            let phases = group.phases().into_iter().map(|phase| {
                let members = group.members[phase].iter();
                let members: Vec<Placed> = members.map(|each| (each.launch, None)).collect();
                self.work(&members, &group.unread_afterwards, USUAL_UNROLLING)
            });
            return self.in_phases(phases.collect());
        }
        let partitions = group.partitions();
        let partitions = partitions.iter().map(|partition| {
            let members = partition.iter().map(|at| &group.members[*at]);
            let members: Vec<Placed> = members.map(|each| (each.launch, Some(&each.map))).collect();
            let barriers = partition
                .iter()
                .filter(|at| group.members[**at].barrier_before);
            let times = match (group.variant.unrolled, group.variant.compact) {
                (Some(times), _) => times.max(1),
                (None, true) => 1,
                (None, false) => USUAL_UNROLLING,
            };
            let mut work = self.work(&members, &group.unread_afterwards, times);
            work.barriers += barriers.count() as f64;
            work
        });
        self.launch(&partitions.collect::<Vec<_>>())
    }

    /// What phases of one launch take, all blocks waiting for each other between two of them.
    fn in_phases(&self, mut phases: Vec<Work>) -> f64 {
        let most = |of: fn(&Work) -> u64| phases.iter().map(of).max().unwrap_or(0);
        let (fixed, dynamic) = (
            most(|work| work.static_bytes),
            most(|work| work.dynamic_bytes),
        );
        for work in &mut phases {
            (work.static_bytes, work.dynamic_bytes) = (fixed, dynamic);
        }
        let begins = self.figures.launch_nanoseconds;
        let each = phases
            .iter()
            .map(|work| self.launch(std::slice::from_ref(work)) - begins);
        let barriers = phases.len().saturating_sub(1) as f64;
        begins + each.sum::<f64>() + barriers * self.figures.grid_barrier_nanoseconds
    }

    /// Nanoseconds of the group's members as launches of their own.
    pub fn unfused(&self, group: &FusionGroup) -> f64 {
        let members = group.members.iter();
        members
            .map(|member| self.single_launch(member.launch))
            .sum()
    }

    /// What a launch by itself does, in figures.
    pub fn figures_of(&self, id: LaunchId) -> Option<LaunchFigures> {
        let (launch, model) = self.member(id)?;
        let work = self.work(&[(id, None)], &[], USUAL_UNROLLING);
        let shared_bytes = work.static_bytes + work.dynamic_bytes;
        let blocks = work.known_blocks;
        let threads = work.threads_of_block;
        // A grid that is not known fills the device once, with blocks as large as most.
        let assumed = self.figures.multiprocessors * MOST_THREADS_AT_ONCE / threads.max(1);
        let all = (blocks.unwrap_or(assumed) * threads) as f64;
        let mut touched: BTreeMap<(BufferId, bool), f64> = BTreeMap::new();
        for access in &model.accesses {
            let Some(place @ Memory::Buffer(buffer)) = self.place(0, launch, access) else {
                continue;
            };
            let asked =
                repeated(&model.loops, &access.loops) * f64::from(access.size_bytes.max(1)) * all;
            let bytes = self.size(place).map_or(asked, |size| asked.min(size));
            let mut count = |is_load| {
                let so_far = touched.entry((buffer, is_load)).or_default();
                *so_far = so_far.max(bytes);
            };
            if access.kind != AccessKind::Write {
                count(true);
            }
            if access.kind != AccessKind::Read {
                count(false);
            }
        }
        let waits = work.loads * self.figures.load_nanoseconds
            + work.barriers * self.figures.barrier_nanoseconds;
        Some(LaunchFigures {
            instructions: work.instructions * all,
            bytes: work.bytes(assumed.max(1)),
            touched,
            blocks,
            threads,
            shared_bytes,
            block_nanoseconds: waits,
        })
    }

    /// What a launch costs beside its work.
    pub fn launch_nanoseconds(&self) -> f64 {
        self.figures.launch_nanoseconds
    }

    /// Nanoseconds of a launch of its own.
    pub fn single_launch(&self, launch: LaunchId) -> f64 {
        self.launch(&[self.work(&[(launch, None)], &[], USUAL_UNROLLING)])
    }

    /// What block partitions side by side take.
    fn launch(&self, partitions: &[Work]) -> f64 {
        let figures = self.figures;
        let largest = |of: fn(&Work) -> u64| partitions.iter().map(of).max().unwrap_or(0);
        let threads = u32::try_from(largest(|work| work.threads_of_block)).unwrap_or(u32::MAX);
        let usage = KernelUsage {
            shared_bytes: u32::try_from(largest(|work| work.static_bytes)).unwrap_or(u32::MAX),
            ..KernelUsage::default()
        };
        let dynamic = largest(|work| work.dynamic_bytes);
        let (held, most) = match Capability::of(figures.capability) {
            Some(device) => (
                device.resident_warps(&usage, threads, dynamic),
                device.warps(),
            ),
            None => (1, 1),
        };
        let warps_of_block = u64::from(threads.div_ceil(32).max(1));
        let at_once = (u64::from(held) / warps_of_block).max(1) * figures.multiprocessors;
        let blocks: u64 = partitions.iter().map(|work| work.blocks(at_once)).sum();
        let busy = (blocks.min(at_once) * warps_of_block) as f64;
        let room = f64::from(most) * figures.multiprocessors as f64;
        let share = (busy / room / ENOUGH_WARPS).clamp(LEAST_SHARE, 1.0);
        let total = |of: fn(&Work) -> f64| -> f64 {
            let each = partitions.iter();
            each.map(|work| of(work) * work.blocks(at_once) as f64)
                .sum()
        };
        let bytes: f64 = partitions.iter().map(|work| work.bytes(at_once)).sum();
        if self.only_bytes {
            return figures.launch_nanoseconds + figures.moving(bytes);
        }
        let instructions = total(|work| work.instructions * work.threads_of_block as f64);
        // Few warps ask for less at once, and wait no longer for the first byte.
        let of_memory = figures.moving(bytes / share);
        let of_cores = instructions / figures.instructions_per_nanosecond / share;
        let rounds = blocks.div_ceil(at_once).max(1) as f64;
        let waits = partitions.iter().map(|work| {
            work.loads * figures.load_nanoseconds + work.barriers * figures.barrier_nanoseconds
        });
        let of_block = waits.fold(0.0, f64::max) * rounds;
        figures.launch_nanoseconds + of_memory.max(of_cores).max(of_block)
    }

    /// What members that run one after the other in the same blocks do, with the bodies of innermost loops so
    /// many times in the code.
    fn work(&self, members: &[Placed<'_>], unread: &[BufferId], times_in_code: u32) -> Work {
        let mut work = Work::default();
        let led = self.leading_threads(members);
        let mut at_hand: BTreeSet<Touched> = BTreeSet::new();
        for (position, (id, map)) in members.iter().enumerate() {
            let Some((launch, model)) = self.placed(*id, *map) else {
                continue;
            };
            let threads = self
                .product(&launch.block)
                .unwrap_or(ASSUMED_THREADS.into());
            // What a thread of the fused launch does of a remapped member.
            let (threads, part) = match led {
                Some((of_block, all)) if map.is_some_and(|map| map.is_remapped()) => {
                    let own = self.product(&launch.grid).map(|blocks| blocks * threads);
                    let part = own
                        .zip(all)
                        .map_or(1.0, |(own, all)| own as f64 / all.max(1) as f64);
                    (of_block, part)
                }
                _ => {
                    work.threads_of_block = work.threads_of_block.max(threads);
                    work.known_blocks = work.known_blocks.max(self.product(&launch.grid));
                    (threads, 1.0)
                }
            };
            work.static_bytes = work.static_bytes.max(model.static_shared_bytes);
            work.dynamic_bytes = work
                .dynamic_bytes
                .max(self.constant(launch.shared_bytes).unwrap_or(0));
            let barriers = model.barriers.iter();
            work.barriers += barriers
                .map(|at| repeated(&model.loops, &at.loops))
                .sum::<f64>();
            let mut own: BTreeMap<Touched, f64> = BTreeMap::new();
            let mut stored = BTreeSet::new();
            work.instructions += part * counting(&model.loops, times_in_code);
            for access in &model.accesses {
                let times = part * repeated(&model.loops, &access.loops);
                work.instructions += times * INSTRUCTIONS_OF_ACCESS;
                let Some(place) = self.place(position, launch, access) else {
                    continue;
                };
                let is_load = matches!(access.kind, AccessKind::Read | AccessKind::Atomic);
                if is_load && at_hand.contains(&(place, true)) {
                    continue;
                }
                work.loads += if is_load { times.min(WAITS) } else { 0.0 };
                let only_here = matches!(place, Memory::Buffer(buffer) if unread.contains(&buffer));
                if only_here && !is_load {
                    stored.insert((place, true));
                    continue;
                }
                *own.entry((place, is_load)).or_default() +=
                    times * f64::from(access.size_bytes.max(1));
                stored.insert((place, true));
            }
            for ((memory, _), bytes) in own {
                work.traffic.push((bytes, threads, self.size(memory)));
            }
            at_hand.extend(stored);
        }
        work
    }

    /// The threads of a block of the fused launch, and all of them where that is known: of the members that
    /// keep their places, if others are remapped over these.
    fn leading_threads(&self, members: &[Placed<'_>]) -> Option<(u64, Option<u64>)> {
        let is_remapped = |(_, map): &&Placed<'_>| map.is_some_and(ThreadMap::is_remapped);
        let (remapped, kept): (Vec<_>, Vec<_>) = members.iter().partition(is_remapped);
        if remapped.is_empty() {
            return None;
        }
        let kept = kept.into_iter().filter_map(|(id, _)| self.member(id));
        let kept = kept.map(|(launch, _)| {
            let of_block = self.product(&launch.block);
            let of_block = of_block.unwrap_or(ASSUMED_THREADS.into());
            let blocks = self.product(&launch.grid);
            (of_block, blocks.map(|blocks| blocks * of_block))
        });
        kept.max()
    }

    fn member(&self, id: LaunchId) -> Option<(&'a Launch, &'a KernelModel)> {
        let launch = *self.launches.get(&id)?;
        Some((launch, self.models.get(launch.kernel?.0)?))
    }

    /// The same, as its threads are counted in a group.
    fn placed(
        &self,
        id: LaunchId,
        map: Option<&ThreadMap>,
    ) -> Option<(&'a Launch, &'a KernelModel)> {
        match map.is_some_and(ThreadMap::counts_iterations) {
            false => self.member(id),
            true => {
                let launch = self.graph.by_iteration.get(&id)?;
                Some((launch, self.models.get(launch.kernel?.0)?))
            }
        }
    }

    /// The memory behind an access; `None` for what is not global.
    fn place(&self, position: usize, launch: &Launch, access: &Access) -> Option<Memory> {
        match &access.target {
            Target::Shared(_) | Target::UnknownShared => None,
            Target::Argument {
                argument,
                offset_bytes,
            } => {
                let passed = launch.arguments.get(*argument);
                let mut pieces = passed.iter().flat_map(|passed| &passed.pieces);
                let piece = pieces.find(|piece| piece.offset_bytes == *offset_bytes);
                let known = piece.and_then(|piece| piece.pointer.as_ref()?.may_point_to.clone());
                Some(match known.as_deref() {
                    Some([buffer]) => Memory::Buffer(*buffer),
                    _ => Memory::OfArgument(position, *argument),
                })
            }
            Target::Global(_) | Target::Unknown => Some(Memory::OfArgument(position, usize::MAX)),
        }
    }

    /// The bytes of a buffer, where they are known.
    fn size(&self, memory: Memory) -> Option<f64> {
        let Memory::Buffer(buffer) = memory else {
            return None;
        };
        let bytes = self.graph.buffers.get(buffer.0)?.bytes.as_ref()?;
        bytes.as_constant().map(|bytes| bytes.max(0) as f64)
    }

    fn constant(&self, value: ValueId) -> Option<u64> {
        let known = self.graph.values.get(value.0)?.constant?;
        u64::try_from(known & 0xffff_ffff).ok()
    }

    fn product(&self, extents: &[ValueId; 3]) -> Option<u64> {
        let extents = extents.iter();
        extents.map(|extent| self.constant(*extent)).product()
    }
}

/// What a launch does.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchFigures {
    /// Of all threads.
    pub instructions: f64,
    /// From memory and to it.
    pub bytes: f64,
    /// Bytes of each allocation that are loaded (true) and that are stored.
    pub touched: BTreeMap<(BufferId, bool), f64>,
    /// Blocks, where they are known.
    pub blocks: Option<u64>,
    /// Threads of a block.
    pub threads: u64,
    /// Shared memory of a block.
    pub shared_bytes: u64,
    /// What a block waits for, one thing after the other.
    pub block_nanoseconds: f64,
}

/// Threads of a full multiprocessor.
const MOST_THREADS_AT_ONCE: u64 = 2_048;

/// Global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Buffer(BufferId),
    /// What an argument of a member leads to, which is not known.
    OfArgument(usize, usize),
}

/// A launch, and where its threads are in a group; none by itself.
type Placed<'a> = (LaunchId, Option<&'a ThreadMap>);

/// Memory, and whether it is loaded.
type Touched = (Memory, bool);

/// What a block partition does.
#[derive(Clone, Debug, Default)]
struct Work {
    threads_of_block: u64,
    known_blocks: Option<u64>,
    static_bytes: u64,
    dynamic_bytes: u64,
    /// For each memory that is touched the bytes of a thread, the threads of a block, and the size.
    traffic: Vec<(f64, u64, Option<f64>)>,
    /// Of a thread.
    instructions: f64,
    /// That a thread waits for.
    loads: f64,
    barriers: f64,
}

impl Work {
    fn blocks(&self, at_once: u64) -> u64 {
        self.known_blocks.unwrap_or(at_once)
    }

    /// To and from memory. What is touched over and over stays in caches.
    fn bytes(&self, at_once: u64) -> f64 {
        let blocks = self.blocks(at_once) as f64;
        let traffic = self.traffic.iter().map(|(bytes, threads, size)| {
            let asked = bytes * *threads as f64 * blocks;
            size.map_or(asked, |size| asked.min(size))
        });
        traffic.sum()
    }
}

/// How often something in these loops happens in a thread.
fn repeated(all: &[Loop], loops: &[usize]) -> f64 {
    let real = loops.iter().filter(|index| {
        let each = all.get(**index);
        each.is_some_and(is_real)
    });
    ASSUMED_ITERATIONS.powi(i32::try_from(real.count().min(DEEPEST)).unwrap_or(0))
}

/// The instructions that count iterations, with the bodies of innermost loops so many times in the code.
fn counting(all: &[Loop], times_in_code: u32) -> f64 {
    let loops = all.iter().enumerate();
    let each = loops.filter(|(_, each)| is_real(each)).map(|(index, _)| {
        let around = std::iter::successors(Some(index), |at| all[*at].parent);
        let times = repeated(all, &around.collect::<Vec<_>>());
        let mut others = all.iter();
        let innermost = !others.any(|other| is_real(other) && other.parent == Some(index));
        let bodies = if innermost { times_in_code } else { 1 };
        INSTRUCTIONS_OF_ITERATION * times / f64::from(bodies)
    });
    each.sum()
}

/// Not a number that the model calls a loop.
fn is_real(each: &Loop) -> bool {
    each.quotient.is_none() && each.unknown.is_none()
}

/// With this part of all warps the pipes are full (Volkov, "Better Performance at Lower Occupancy", GTC 2010).
pub(super) const ENOUGH_WARPS: f64 = 0.25;
/// One warp gets something done.
pub(super) const LEAST_SHARE: f64 = 1e-3;
/// ptxas repeats the bodies of loops about so often by itself.
const USUAL_UNROLLING: u32 = 4;
/// To count, to compare, to go back.
const INSTRUCTIONS_OF_ITERATION: f64 = 3.0;
/// Instructions that stand about one that touches memory: its address, what is done with it.
const INSTRUCTIONS_OF_ACCESS: f64 = 6.0;
/// A loop's loads are under way several at once, so that only so many are waited for.
pub(super) const WAITS: f64 = 4.0;
const ASSUMED_ITERATIONS: f64 = 16.0;
/// Loops inside each other beyond these are not counted.
const DEEPEST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Device;

    fn partition(blocks: u64, bytes: f64) -> Work {
        Work {
            threads_of_block: 256,
            known_blocks: Some(blocks),
            traffic: vec![(bytes, 256, None)],
            instructions: 20.0,
            loads: 1.0,
            ..Work::default()
        }
    }

    fn times(of: impl Fn(&Model<'_>) -> f64) -> f64 {
        let graph = LaunchGraph::default();
        of(&Model::new(&graph, &[], Figures::of(Device::Cuda, 80)))
    }

    #[test]
    fn small_launches_cost_what_a_launch_costs() {
        times(|model| {
            let one = model.launch(&[partition(40, 8.0)]);
            let two = model.launch(&[partition(40, 8.0), partition(40, 8.0)]);
            assert!(two < 1.2 * one, "{two} {one}");
            two
        });
    }

    #[test]
    fn phases_begin_once_and_have_the_shared_memory_of_the_largest() {
        times(|model| {
            let small = partition(40, 8.0);
            let alone = model.launch(std::slice::from_ref(&small));
            let two = model.in_phases(vec![small.clone(), small.clone()]);
            assert!(alone < two && two < 2.0 * alone, "{two} {alone}");
            let large = partition(400_000, 8.0);
            let crowded = Work {
                static_bytes: 48 << 10,
                ..small
            };
            let apart = model.launch(std::slice::from_ref(&large)) + alone;
            let together = model.in_phases(vec![large, crowded]);
            assert!(together > apart, "{together} {apart}");
            together
        });
    }

    #[test]
    fn one_block_waits_for_memory_once() {
        times(|model| {
            let one = model.launch(&[partition(1, 8.0)]);
            let figures = Figures::of(Device::Cuda, 80);
            assert!(
                one < 2.0 * (figures.launch_nanoseconds + figures.load_nanoseconds * 2.0),
                "{one}"
            );
            one
        });
    }

    #[test]
    fn large_launches_cost_their_bytes() {
        times(|model| {
            let (one, double) = (partition(400_000, 8.0), partition(400_000, 16.0));
            let [one, double] = [one, double].map(|work| model.launch(&[work]));
            assert!((1.9..2.1).contains(&(double / one)), "{double} {one}");
            one
        });
    }

    #[test]
    fn the_largest_block_and_memory_count_for_all() {
        times(|model| {
            let crowded = Work {
                static_bytes: 48 << 10,
                ..partition(100, 8.0)
            };
            let large = partition(400_000, 8.0);
            let alone = |work: &Work| model.launch(std::slice::from_ref(work));
            let unfused = alone(&large) + alone(&crowded);
            let together = model.launch(&[large, crowded]);
            assert!(together > unfused, "{together} {unfused}");
            unfused
        });
    }

    #[test]
    fn bodies_in_the_code_count_once() {
        let each = |parent| Loop {
            parent,
            uniform_in_block: true,
            location: crate::diagnostics::Location::default(),
            quotient: None,
            unknown: None,
        };
        let loops = [each(None), each(Some(0))];
        let outer = INSTRUCTIONS_OF_ITERATION * ASSUMED_ITERATIONS;
        let inner = outer * ASSUMED_ITERATIONS;
        assert_eq!(counting(&loops, 1), outer + inner);
        assert_eq!(counting(&loops, 4), outer + inner / 4.0);
    }

    #[test]
    fn known_memory_is_touched_once() {
        let mut work = partition(1_000, 64.0);
        assert_eq!(work.bytes(1), 64.0 * 256.0 * 1_000.0);
        work.traffic[0].2 = Some(4_096.0);
        assert_eq!(work.bytes(1), 4_096.0);
        work.known_blocks = None;
        assert_eq!(work.blocks(864), 864);
    }
}
