//! Over whose threads a group's members run: as the planner has it, or over those of the largest or of the
//! smallest of them, as its layout says.
//!
//! Launches of other grids and blocks run as one in the domain of one of them. In the largest, threads that a
//! member does not have leave it out, an `if`; in the smallest they run several of its threads in turn, a
//! `for`, which saves blocks and keeps what they have in common at hand, but leaves fewer of them to fill
//! the device. Both are maps that remap threads ([`ThreadMap::Remapped`](super::super::ThreadMap::Remapped)), and are
//! judged as such.

use super::super::ThreadOrder;
use super::super::domains::Domains;
use super::super::group::Judge;
use super::super::layout::{Alignment, BlockPartitions, Layout, Layouts};
use super::super::obstacle::Candidate;
use crate::launch::ValueId;
use crate::math::expression::Expression;

/// Where the members of a group run.
pub(in crate::schedule) struct Placed {
    pub(in crate::schedule) domains: Domains,
    pub(in crate::schedule) partitions: BlockPartitions,
    /// The name of that.
    pub(in crate::schedule) layout: String,
    /// All names that the group has, the most vertical first.
    pub(in crate::schedule) layouts: Vec<String>,
}

impl<'a> Judge<'a> {
    /// Where members run in a layout; `planned` tells which were brought together to run in the same
    /// blocks.
    pub(in crate::schedule) fn place(
        &self,
        members: &[Candidate<'a>],
        planned: impl Fn(&Candidate) -> usize,
        layout: Layout,
    ) -> Placed {
        let usual = self.domains(members);
        let found = match usual.all_kept() {
            true => self.filling(members, &usual, self.layouts(members, &planned)),
            // Over the threads of one launch, one after the other.
            false => Layouts::single(members.len()),
        };
        let mut layouts = found.names();
        let mut taken = None;
        // Where all stay where they are in one block partition, they have the blocks of the largest.
        let is_largest = usual.all_kept() && layouts[0] == "v";
        let others = Alignment::ALL.into_iter();
        for to in others.filter(|to| !(is_largest && *to == Alignment::Largest)) {
            let Some(domains) = self.aligned(members, to) else {
                continue;
            };
            let same_maps = |member: &Candidate| domains.map(member) == usual.map(member);
            if members.iter().all(same_maps) {
                continue;
            }
            let behind = usize::from(layouts[0] == "v");
            layouts.insert(behind, to.name().to_owned());
            if layout == Layout::Aligned(to) {
                taken = Some((domains, to));
            }
        }
        match taken {
            Some((domains, to)) => Placed {
                domains,
                partitions: vec![(0..members.len()).collect()],
                layout: to.name().to_owned(),
                layouts,
            },
            None => {
                let (layout, partitions) = found.take(layout);
                Placed {
                    domains: usual,
                    partitions,
                    layout,
                    layouts,
                }
            }
        }
    }

    /// The members over the threads of the largest or the smallest of them; `None` where they are equally
    /// large, where it is not known which is, or where it cannot be.
    fn aligned(&self, members: &[Candidate<'a>], to: Alignment) -> Option<Domains> {
        if members.len() < 2 || !self.may_be_remapped(members) {
            return None;
        }
        let launches = members
            .iter()
            .filter(|member| self.graph.operation_of(member.launch.id).is_none());
        let launches: Vec<&Candidate> = launches.collect();
        let sizes = |of: &dyn Fn(&Candidate) -> Expression<ValueId>| -> Option<Vec<i64>> {
            let sizes = launches.iter().map(|member| of(member).as_constant());
            sizes.collect()
        };
        // Of grids that only a run tells the largest blocks are taken to be the largest launch's.
        let sizes = sizes(&|member| self.total(member))
            .or_else(|| sizes(&|member| self.block_threads(member)))?;
        let (least, most) = (sizes.iter().min()?, sizes.iter().max()?);
        let size = match to {
            Alignment::Largest => most,
            Alignment::Smallest => least,
        };
        if least == most {
            return None;
        }
        let leaders = launches.iter().zip(&sizes);
        let mut leaders = leaders.filter(|(_, own)| *own == size);
        let orders = [ThreadOrder::Blocks, ThreadOrder::Rows];
        let found = leaders.find_map(|(leader, _)| {
            let mut orders = orders.into_iter();
            orders.find_map(|fused| {
                let found = self.led_by(leader, 0, (fused, Some(to)), members)?;
                found.cost.is_none().then_some(found)
            })
        })?;
        self.fits_block(&found.kept(members)).ok()?;
        Some(found)
    }
}
