//! What a fused kernel needs of each block's shared memory and of its parameters.
//!
//! Static shared variables of members of which one comes after the other share storage where a barrier
//! stands between (`shared-memory-reuse`). So the members of a block partition need as much as the hungriest of
//! them, at the price of a barrier each, and barriers are put there where otherwise there would be too little;
//! block partitions side by side, of which each block runs one, as much as the hungriest of them. Dynamic shared memory
//! is one piece, as large as the largest that a member asks for, in whatever block partition.

use super::super::group::Judge;
use super::super::layout::BlockPartitions;
use super::super::obstacle::Candidate;
use crate::dependence::LARGEST_GROUP;
use crate::diagnostics::Rejection;
use crate::kernel::Target;
use crate::launch::ValueId;
use std::collections::BTreeSet;

impl<'a> Judge<'a> {
    /// Shared memory and parameters of all members fit.
    ///
    /// # Errors
    /// What there is too much of.
    pub(in crate::schedule) fn space(
        &self,
        members: &[Candidate],
        partitions: &BlockPartitions,
    ) -> Result<(), Rejection> {
        let constant = |value: ValueId| self.graph.values[value.0].constant;
        let fixed = self.least_static_shared(members, partitions);
        let dynamic = members
            .iter()
            .filter_map(|member| constant(member.launch.shared_bytes))
            .filter_map(|bytes| u64::try_from(bytes).ok())
            .max();
        let shared = fixed.saturating_add(dynamic.unwrap_or(0));
        let mut parameters = 0u64;
        let mut variables = BTreeSet::new();
        for member in members {
            for formal in &member.model.formals {
                // At its worst place: which arguments are passed once is not known here.
                parameters +=
                    u64::from(formal.size_bytes) + u64::from(formal.align_bytes.max(1)) - 1;
            }
            for access in &member.model.accesses {
                if let Target::Global(name) = &access.target {
                    variables.insert(name);
                }
            }
        }
        parameters += (8 + 7) * variables.len() as u64;
        let no_guards = BTreeSet::new();
        let clipped = |member: &&Candidate| !self.fills_grid(member, members, &no_guards);
        parameters += GRID_BYTES * members.iter().filter(clipped).count() as u64;
        parameters += PLACE_PARAMETER_BYTES * members.len() as u64;
        let limits = self.options.limits;
        let too_much = if members.len() > LARGEST_GROUP {
            format!("{} segments; {LARGEST_GROUP} are allowed", members.len())
        } else if fixed > MOST_STATIC_SHARED_BYTES {
            format!("{fixed} bytes of static shared memory; {MOST_STATIC_SHARED_BYTES} are allowed")
        } else if shared > limits.shared_bytes {
            let most = limits.shared_bytes;
            format!("{shared} bytes of shared memory; {most} are allowed")
        } else if parameters > limits.parameter_bytes {
            let most = limits.parameter_bytes;
            format!("{parameters} bytes of parameters; {most} are allowed")
        } else {
            return Ok(());
        };
        Err(self.too_large(members, &too_much))
    }

    /// The static shared memory that members need at least, in bytes.
    pub(in crate::schedule) fn least_static_shared(
        &self,
        members: &[Candidate],
        partitions: &BlockPartitions,
    ) -> u64 {
        let partitions = partitions.iter();
        match self.options.reuses_shared_memory {
            true => partitions
                .map(|partition| hungriest(members, partition))
                .max()
                .unwrap_or(0),
            false => partitions
                .map(|partition| static_shared(members, partition))
                .sum(),
        }
    }

    /// How much of it the members of one of the block partitions may have between two barriers.
    pub(in crate::schedule) fn shared_room(
        &self,
        members: &[Candidate],
        partition: &[usize],
    ) -> u64 {
        let fits = static_shared(members, partition) <= MOST_STATIC_SHARED_BYTES;
        match fits || !self.options.reuses_shared_memory {
            true => u64::MAX,
            false => MOST_STATIC_SHARED_BYTES,
        }
    }
}

/// The static shared memory of some members together, in bytes.
pub(in crate::schedule) fn static_shared(members: &[Candidate], some: &[usize]) -> u64 {
    let bytes = some
        .iter()
        .map(|member| members[*member].model.static_shared_bytes);
    bytes.sum()
}

/// The static shared memory of the member with most of it, in bytes.
fn hungriest(members: &[Candidate], some: &[usize]) -> u64 {
    let bytes = some
        .iter()
        .map(|member| members[*member].model.static_shared_bytes);
    bytes.max().unwrap_or(0)
}

/// Static shared memory of a block.
pub(in crate::schedule) const MOST_STATIC_SHARED_BYTES: u64 = 48 * 1024;
/// What a member needs to find its place: six extents, and the first of a block partition's blocks, or how many
/// threads it has and how many of them a block runs.
const PLACE_PARAMETER_BYTES: u64 = 4 * (6 + 2);
/// The extents of a grid among the parameters, each at its worst place.
const GRID_BYTES: u64 = 3 * (4 + 3);
