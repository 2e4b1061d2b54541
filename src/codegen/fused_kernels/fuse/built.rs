//! A kernel that was made from a specialisation key, and what its sites are told of it.

use super::super::super::{BatchMember, FusedKernel, FusedParameter, HandedOn, PromotedRows};
use super::block_values::Kept;
use super::fields::Piece;
use super::memory::KernelFacts;
use super::specialisation::Site;
use crate::kernel::{KernelModel, KernelParameter};
use crate::program::KernelId;
use crate::schedule::{FusionGroup, Variant};

/// A kernel that was made from a specialisation key.
pub(super) struct Built {
    pub(super) name: String,
    pub(super) facts: KernelFacts,
    /// The parameters of the specialisation key that it has.
    pub(super) kept: Vec<usize>,
    /// By member and parameter of its body, which of these it is or is computed from.
    pub(super) places: Vec<Vec<Option<usize>>>,
    /// By member, what these parameters are of its arguments; addresses of variables come after them.
    pub(super) pieces: Vec<Vec<Piece>>,
    /// By member.
    pub(super) kernels: Vec<KernelId>,
    /// How it is made.
    pub(super) variant: Variant,
    /// The first member that the last block of a launch runs.
    pub(super) last_block: Option<usize>,
    /// False when it could not be made after all, and was deleted.
    pub(super) is_whole: bool,
    pub(super) promoted: Option<PromotedRows>,
    /// Bytes for each element of a row that launches could bring along besides.
    pub(super) spare_bytes: u64,
    /// Static shared memory of a block as it was made.
    pub(super) static_shared_bytes: u64,
    /// Members and parameters whose values threads of a block could hand to each other, by number.
    pub(super) families: Vec<(usize, usize)>,
    /// What became of them.
    pub(super) handed_on: Vec<HandedOn>,
    /// Those of the specialisation key's unread allocations, as parameters that lead there, that it leaves
    /// unwritten.
    pub(super) unwritten: Vec<Vec<usize>>,
    /// Those to which it has no access.
    pub(super) untouched: Vec<Vec<usize>>,
}

impl Built {
    /// What a site passes to it.
    pub(super) fn parameters(&self, site: &Site) -> Vec<FusedParameter> {
        let kept = self.kept.iter();
        kept.map(|index| site.sources[*index].clone()).collect()
    }

    /// How the record of a statement leads to memory.
    pub(super) fn members(&self, group: &FusionGroup, models: &[KernelModel]) -> Vec<BatchMember> {
        let segments = group.segments_in_order();
        let reads_addresses = |model: &KernelId| models[model.0].reads_addresses;
        let moves = !self.kernels.iter().any(reads_addresses);
        let bodies = self.pieces.iter().zip(&self.places);
        let members = group.members.iter().zip(&self.kernels).zip(bodies);
        let members =
            members
                .enumerate()
                .map(|(position, ((member, kernel), (pieces, places)))| {
                    let formals = &models[kernel.0].formals;
                    // The queue knows of arguments alone how to lead them elsewhere.
                    let pointer = |(argument, formal): (usize, &KernelParameter)| {
                        let whole = |piece: &Piece| piece.argument == argument && piece.is_whole();
                        let place = pieces.iter().position(whole)?;
                        places[place].filter(|_| formal.is_pointer && moves)
                    };
                    let mut order = segments.iter();
                    BatchMember {
                        launch: member.launch,
                        segment: order
                            .position(|segment| segment.contains(&position))
                            .unwrap_or(position),
                        pointers: formals.iter().enumerate().map(pointer).collect(),
                    }
                });
        members.collect()
    }

    /// What became of values that threads of a block could hand to each other.
    pub(super) fn handed_on(&self, kept: &[Kept]) -> Vec<HandedOn> {
        let picoseconds = |nanoseconds: f64| (nanoseconds * 1e3).round() as u64;
        let told = kept.iter().filter_map(|kept| {
            let (member, parameter) = *self.families.get(kept.family)?;
            let without = kept.verdict.map(|verdict| picoseconds(verdict.without));
            let with = kept.verdict.and_then(|verdict| verdict.with);
            Some(HandedOn {
                member,
                argument: self.pieces.get(member)?.get(parameter)?.argument,
                loads: kept.loads,
                is_kept: kept.is_kept(),
                picoseconds: [without, with.map(picoseconds)],
            })
        });
        told.collect()
    }

    /// As the kernel of a group.
    pub(super) fn at(&self, group: usize, site: &Site) -> FusedKernel {
        let among = |known: &[Vec<usize>]| {
            let unread = site.unread.iter();
            let among = unread.filter(|(_, leading)| known.contains(leading));
            among.map(|(buffer, _)| *buffer).collect()
        };
        FusedKernel {
            name: self.name.clone(),
            group,
            parameters: self.parameters(site),
            unwritten: among(&self.unwritten),
            untouched: among(&self.untouched),
            static_shared_bytes: self.static_shared_bytes,
            handed_on: self.handed_on.clone(),
            promoted: self.promoted.clone(),
        }
    }
}
