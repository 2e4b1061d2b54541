//! Registers, spills and occupancy decide whether a planned group is worth its registers.
//!
//! Invariant: figures come from ptxas, for the kernels that would run, and decide before anything is
//! timed. A verdict only ever takes fusion away; what is taken away runs as the originals did.
//!
//! The rule. A fused kernel saves launches and memory traffic, and pays in registers and shared
//! memory. It is refused on an architecture when
//! * it cannot be launched there at all, or
//! * it spills more than its members do together, by more than [`SPILL_TOLERANCE_BYTES`] a thread:
//!   spilled values are traffic that fusion was to save; or
//! * fewer than half as many of its warps run at once as of its least occupied member, and fewer than
//!   a quarter of what the multiprocessor holds. Above a quarter instruction-level parallelism covers
//!   the rest (Volkov, "Better Performance at Lower Occupancy", GTC 2010).
//!
//! It has to pass on every architecture that is built for.

use super::super::occupancy::{Capability, KernelUsage};
use super::super::{FusionGroup, Member};
use crate::kernel::KernelModel;
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeKind, ValueId};
use serde::{Deserialize, Serialize};

/// What a fused kernel and its members need on one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupUsage {
    /// `80` for `sm_80`.
    pub architecture: u32,
    /// The fused kernel.
    pub fused: KernelUsage,
    /// Dynamic shared memory of a block for the rows that the fused kernel keeps, in bytes.
    #[serde(default)]
    pub promoted_bytes: u64,
    /// The members' own kernels, in the group's order; `None` for a set or a copy, which is no kernel of its own.
    pub members: Vec<Option<KernelUsage>>,
}

/// How a group fares on one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupOccupancy {
    /// `80` for `sm_80`.
    pub architecture: u32,
    /// Threads a block that are assumed.
    pub threads_per_block: u32,
    /// Whether these are known; else they are [`ASSUMED_THREADS`] or the launch bound.
    pub threads_known: bool,
    /// The fused kernel's registers, spills and static shared memory.
    pub fused: KernelUsage,
    /// Dynamic shared memory of a block of the fused kernel, in bytes, as far as it is known.
    #[serde(default)]
    pub dynamic_shared_bytes: u64,
    /// Warps of the fused kernel that run at once on a multiprocessor.
    pub warps: u32,
    /// As many as there can be.
    pub most_warps: u32,
    /// The fewest warps of any member, where that one is known.
    pub least_member_warps: Option<u32>,
    /// Bytes that the members spill a thread, together.
    pub member_spill_bytes: u32,
    /// The most threads of a block with which each member can be launched.
    #[serde(default)]
    pub most_member_threads: u32,
}

impl GroupOccupancy {
    /// The figures of a group, from what ptxas said; `None` for an architecture that is not known.
    pub fn new(
        graph: &LaunchGraph,
        kernels: &[KernelModel],
        group: &FusionGroup,
        usage: &GroupUsage,
    ) -> Option<Self> {
        let capability = Capability::of(usage.architecture)?;
        let launches: Vec<&Launch> = group
            .members
            .iter()
            .map(|member| launch(graph, member))
            .collect::<Option<_>>()?;
        let constant = |value: ValueId| graph.values[value.0].constant;
        let threads: Vec<Option<u32>> = launches
            .iter()
            .map(|launch| {
                let extents = launch.block.iter().map(|value| constant(*value));
                let threads: Option<i64> =
                    extents.map(|extent| Some(extent? & 0xffff_ffff)).product();
                threads.and_then(|threads| u32::try_from(threads).ok())
            })
            .collect();
        let bound = launches
            .iter()
            .filter_map(|launch| kernels.get(launch.kernel?.0)?.max_threads)
            .min();
        // Members that are placed anew run in blocks of others.
        let own = threads.iter().zip(&group.members);
        let own = own.filter(|(_, member)| !member.map.places_anew());
        let known = own.filter_map(|(threads, _)| *threads).max();
        let estimated = known.unwrap_or(ASSUMED_THREADS.min(bound.unwrap_or(ASSUMED_THREADS)));
        let dynamic: Vec<u64> = launches
            .iter()
            .map(|launch| constant(launch.shared_bytes))
            .map(|bytes| {
                bytes
                    .and_then(|bytes| u64::try_from(bytes).ok())
                    .unwrap_or(0)
            })
            .collect();
        let most_dynamic = dynamic.iter().copied().max().unwrap_or(0);
        let most_dynamic = most_dynamic.max(usage.promoted_bytes);
        let of_members = usage.members.iter().zip(&threads).zip(&dynamic);
        let sizes = (1..=MOST_THREADS / WARP).map(|warps| warps * WARP);
        let launchable = sizes.rev().find(|threads| {
            of_members.clone().all(|((usage, _), dynamic)| {
                let usage = usage.as_ref();
                usage.is_none_or(|usage| capability.resident_warps(usage, *threads, *dynamic) > 0)
            })
        });
        let least = of_members
            .filter_map(|((usage, threads), dynamic)| {
                let usage = usage.as_ref()?;
                Some(capability.resident_warps(usage, threads.unwrap_or(estimated), *dynamic))
            })
            .min();
        Some(Self {
            architecture: usage.architecture,
            threads_per_block: estimated,
            threads_known: known.is_some(),
            fused: usage.fused,
            dynamic_shared_bytes: most_dynamic,
            warps: capability.resident_warps(&usage.fused, estimated, most_dynamic),
            most_warps: capability.warps(),
            least_member_warps: least,
            member_spill_bytes: usage
                .members
                .iter()
                .flatten()
                .map(KernelUsage::spill_bytes)
                .sum(),
            most_member_threads: launchable.unwrap_or(0),
        })
    }

    /// A bound of a block's threads that no launch of the members exceeds and that leaves a thread of the fused kernel more
    /// registers than it has without, where the program does not tell how many there are.
    pub fn smaller_blocks(figures: &[Self]) -> Option<u32> {
        let most = figures.iter().map(|figures| figures.most_member_threads);
        let unknown = figures.iter().all(|figures| !figures.threads_known);
        most.min()
            .filter(|most| unknown && (ASSUMED_THREADS..MOST_THREADS).contains(most))
    }

    /// Why the group should not run as one kernel, with both figures; `None` when it may.
    pub fn refusal(&self) -> Option<String> {
        let place = format!(
            "on sm_{} with {}{} threads a block",
            self.architecture,
            self.threads_per_block,
            match self.threads_known {
                true => "",
                false => " (assumed)",
            }
        );
        let least = self.least_member_warps?;
        if self.warps == 0 && least > 0 {
            return Some(format!(
                "fused, they would need {} registers a thread and {} bytes of static shared memory, \
                 which cannot be launched {place}; each alone can",
                self.fused.registers, self.fused.shared_bytes
            ));
        }
        let spills = self.fused.spill_bytes();
        if spills > self.member_spill_bytes + SPILL_TOLERANCE_BYTES {
            return Some(format!(
                "fused, they would spill {spills} bytes a thread {place}, and unfused {} together",
                self.member_spill_bytes
            ));
        }
        let few = self.warps * 2 < least && self.warps * 4 < self.most_warps;
        few.then(|| {
            format!(
                "fused, {} of {} warps would run at once {place} ({} registers a thread, {} bytes of \
                 shared memory), and at least {least} of each unfused",
                self.warps,
                self.most_warps,
                self.fused.registers,
                u64::from(self.fused.shared_bytes) + self.dynamic_shared_bytes
            )
        })
    }
}

/// Spilled bytes a thread that fusion may add.
pub const SPILL_TOLERANCE_BYTES: u32 = 32;

/// Elements of a row that a kernel keeps in shared memory, when the program does not tell.
pub const ASSUMED_ROW_ELEMENTS: u64 = 1024;

/// The most threads that any block has.
const MOST_THREADS: u32 = 1024;
/// Threads of a warp.
const WARP: u32 = 32;

/// Threads a block when the program does not tell.
pub const ASSUMED_THREADS: u32 = 256;

/// The ways to cut a group's members in two, as positions of the first member of the second part:
/// all of them, or the middle ones of a long list. Parts of one member are launches of their own.
pub fn cuts(members: usize) -> Vec<usize> {
    let middle = members / 2;
    let mut positions: Vec<usize> = (1..members).collect();
    positions.sort_by_key(|position| (position.abs_diff(middle), *position));
    positions.truncate(MOST_CUTS);
    positions
}

/// Cuts of one group that are tried; each is two more kernels for ptxas.
const MOST_CUTS: usize = 8;

fn launch<'a>(graph: &'a LaunchGraph, member: &Member) -> Option<&'a Launch> {
    find_launch(graph, member.launch)
}

fn find_launch(graph: &LaunchGraph, id: LaunchId) -> Option<&Launch> {
    graph.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Launch(launch) if launch.id == id => Some(launch),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occupancy(warps: u32, least: u32, spills: [u32; 2]) -> GroupOccupancy {
        GroupOccupancy {
            architecture: 80,
            threads_per_block: 256,
            threads_known: true,
            fused: KernelUsage {
                registers: 200,
                spill_store_bytes: spills[0],
                ..KernelUsage::default()
            },
            dynamic_shared_bytes: 0,
            warps,
            most_warps: 64,
            least_member_warps: Some(least),
            member_spill_bytes: spills[1],
            most_member_threads: 1024,
        }
    }

    #[test]
    fn spills_and_lost_warps_refuse_with_both_figures() {
        assert_eq!(occupancy(16, 64, [0, 0]).refusal(), None);
        assert_eq!(occupancy(8, 16, [0, 0]).refusal(), None);
        assert_eq!(occupancy(64, 64, [40, 8]).refusal(), None);
        let few = occupancy(8, 48, [0, 0]).refusal().unwrap();
        assert!(
            few.contains("8 of 64 warps") && few.contains("at least 48"),
            "{few}"
        );
        let spilled = occupancy(32, 32, [41, 8]).refusal().unwrap();
        assert!(
            spilled.contains("41 bytes") && spilled.contains("unfused 8"),
            "{spilled}"
        );
        let never = occupancy(0, 8, [0, 0]).refusal().unwrap();
        assert!(never.contains("cannot be launched"), "{never}");
    }

    #[test]
    fn cuts_start_in_the_middle_and_are_bounded() {
        assert_eq!(cuts(2), [1]);
        assert_eq!(cuts(5), [2, 1, 3, 4]);
        assert_eq!(cuts(32).len(), MOST_CUTS);
        assert!(cuts(32).iter().all(|cut| (12..=20).contains(cut)));
    }
}
