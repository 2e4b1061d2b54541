//! The shared memory of a block, and the parameters, that a fused kernel needs.

use super::super::device::{MAXIMUM_STATIC_SHARED_BYTES, guarded_values};
use super::super::member::Member;
use super::super::{Refusal, Site};
use crate::kernel::Target;
use crate::launch::LaunchGraph;
use crate::schedule::{FusionGroup, ThreadMap};
use std::collections::BTreeSet;

/// What speaks against the shared memory and the parameters that all members need together, where none of them shares
/// storage with another.
pub(in crate::verify) fn space_refusals(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'_>],
) -> Vec<Refusal> {
    let values = guarded_values(graph, &[], sites);
    let members = sites.iter();
    let members: Vec<_> = members
        .map(|site| Member::new(graph, &values, site.launch, site.model))
        .collect();
    let fixed = members
        .iter()
        .map(|member| member.model.static_shared_bytes);
    needed_space(group, &members, fixed.sum())
}

/// What speaks against the shared memory, of which `fixed` bytes are static, and the parameters of a fused kernel.
pub(in crate::verify) fn needed_space(
    group: &FusionGroup,
    members: &[Member<'_>],
    fixed: u64,
) -> Vec<Refusal> {
    let first = members[0].launch.id;
    let dynamic = members
        .iter()
        .filter_map(|member| member.dynamic_shared_bytes)
        .max();
    let bytes = fixed.saturating_add(dynamic.unwrap_or(0));
    let mut refusals = Vec::new();
    if fixed > MAXIMUM_STATIC_SHARED_BYTES || bytes > MAXIMUM_SHARED_BYTES {
        refusals.push(Refusal::SharedMemory { first, bytes });
    }
    let mut bytes = 0u64;
    let mut variables = BTreeSet::new();
    for member in members {
        for formal in &member.model.formals {
            // At its worst place: which arguments are passed once is not known here.
            bytes += u64::from(formal.size_bytes) + u64::from(formal.align_bytes.max(1)) - 1;
        }
        let accesses = member.model.accesses.iter();
        variables.extend(accesses.filter_map(|access| match &access.target {
            Target::Global(name) => Some(name),
            _ => None,
        }));
    }
    // Fused kernels get the addresses of device variables as parameters, grids of members, and where
    // block partitions begin.
    bytes += (8 + 7) * variables.len() as u64;
    let clipped = |member: &&crate::schedule::Member| member.map == ThreadMap::Clipped;
    bytes += GRID_BYTES * group.members.iter().filter(clipped).count() as u64;
    let ranged = |member: &&crate::schedule::Member| {
        matches!(
            member.map,
            ThreadMap::Blocks { .. }
                | ThreadMap::Remapped { .. }
                | ThreadMap::Runs { .. }
                | ThreadMap::Elements { .. }
                | ThreadMap::Tiles { .. }
                | ThreadMap::Rearranged { .. }
        )
    };
    bytes += PLACE_PARAMETER_BYTES * group.members.iter().filter(ranged).count() as u64;
    if bytes > MAXIMUM_PARAMETER_BYTES {
        refusals.push(Refusal::ParameterSpace { first, bytes });
    }
    refusals
}

/// Static and dynamic, of any device; a launch tests what its own device has.
const MAXIMUM_SHARED_BYTES: u64 = 227 * 1024;
/// Of any device; ptxas knows what the one that is built for has.
const MAXIMUM_PARAMETER_BYTES: u64 = 32_764;
/// Six extents, and the first block of a block partition, or the number of a member's threads and how many a block
/// runs of them.
const PLACE_PARAMETER_BYTES: u64 = 8 * 4;
/// Three extents, each at its worst place.
const GRID_BYTES: u64 = 3 * (4 + 3);
