//! Block partitions side by side in one kernel: which may be, and what their plan says.
//!
//! Invariant: block partitions do not depend on each other at all, whatever their shapes; each keeps the grid
//! that its members were launched with, as a range of the blocks of the fused grid, and the threads,
//! barriers and whole warps of their blocks.

use super::super::group::{Judge, orders, pointer_of};
use super::super::layout::{BlockPartitions, Layout, Layouts, Members};
use super::super::obstacle::{Candidate, rejection};
use super::super::sharing::{Loaded, loaded};
use super::super::space::MOST_STATIC_SHARED_BYTES;
use super::super::{BlockThreads, ThreadMap};
use crate::dependence::{DependenceKind, Edge, Guard, PointerRange};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::launch::{LaunchGraph, ValueId};
use crate::math::expression::{Condition, Expression};
use std::collections::BTreeSet;

impl<'a> Judge<'a> {
    /// Whether two groups may run side by side at the place of the later one. `planned` are the
    /// block partitions of both.
    ///
    /// # Errors
    /// The first obstacle.
    pub(in crate::schedule) fn may_stand_beside(
        &mut self,
        earlier: &[Candidate<'a>],
        later: &[Candidate<'a>],
        planned: impl Fn(&Candidate) -> usize,
    ) -> Result<(), Rejection> {
        let Some((last, rest)) = later.split_last() else {
            return Ok(());
        };
        // Where launches run as one already, a test that fails would cost that.
        let are_single = earlier.len() == 1 && later.len() == 1;
        for a in earlier {
            for b in later {
                let edges = [self.edges(a.node, b.node), self.edges(b.node, a.node)].concat();
                let is_there = |edge: &&&Edge| {
                    let is_absent =
                        self.is_absent_anyway(edge) || are_single && names_parts(self.graph, edge);
                    orders(edge) && !is_absent
                };
                if let Some(edge) = edges.iter().find(is_there) {
                    // What could be inside of one launch says nothing for itself.
                    let message = match edge.explanation() {
                        said if said.is_empty() => format!(
                            "`{}` and `{}` touch the same memory, so that what they run with cannot run \
                             side by side",
                            a.model.display_name, b.model.display_name
                        ),
                        said => said,
                    };
                    return Err(Rejection {
                        reason: edge.reason.unwrap_or(RejectionReason::GlobalDependence),
                        message,
                        detail: edge.relation.to_string(),
                        location: edge.location.clone(),
                    });
                }
            }
        }
        let mut members = [earlier, later].concat();
        members.sort_by_key(|member| member.node);
        self.conditions_hold(&members)?;
        self.shapes_are_carried(&members)?;
        self.all_in_order(&members)?;
        self.streams_allow(&members)?;
        self.nothing_passed(&[earlier, rest], &members, *last)?;
        let partitions = by_partition(&members, &planned);
        self.space(&members, &partitions)?;
        for partition in &partitions {
            let own: Vec<Candidate> = partition.iter().map(|member| members[*member]).collect();
            if !self.domains(&own).all_kept() {
                let name = &own[0].model.display_name;
                let message = format!(
                    "`{name}` shares its threads with launches of another shape, so that nothing can \
                     run beside them"
                );
                let location = &self.graph.nodes[last.node.0].location;
                return Err(rejection(RejectionReason::Shape, message, location));
            }
        }
        self.threads(&members, &partitions)?;
        match self.options.layout {
            Layout::Vertical => self.may_be_one_partition(&members),
            // Asked for, whatever it costs.
            Layout::Horizontal => Ok(()),
            Layout::Auto | Layout::Aligned(_) | Layout::Mixed { .. } => {
                let worth =
                    self.is_worth_it([earlier, later], |group| by_partition(group, &planned));
                match self.worth_guard(&members, &partitions) {
                    Some(_) => Ok(()),
                    None => worth,
                }
            }
        }
    }

    /// Whether members may also run one after the other in the same blocks.
    ///
    /// # Errors
    /// Why they can only stand side by side.
    fn may_be_one_partition(&self, members: &[Candidate<'a>]) -> Result<(), Rejection> {
        let one = vec![(0..members.len()).collect()];
        let group = self.group(members, |_| 0);
        let unlike = (1..members.len()).find(|member| !group.alike(0, *member));
        let Some(last) = unlike.or_else(|| (!group.is_legal(&one)).then(|| members.len() - 1))
        else {
            return Ok(());
        };
        let message = format!(
            "`{}` and `{}` could only stand side by side, and vertical layout was asked for",
            members[0].model.display_name, members[last].model.display_name
        );
        let location = &self.graph.nodes[members[last].node.0].location;
        Err(rejection(RejectionReason::NotSimilar, message, location))
    }

    fn group<'b>(
        &'b self,
        members: &'b [Candidate<'a>],
        planned: impl Fn(&Candidate) -> usize,
    ) -> Group<'a, 'b> {
        let loads = |member: usize| loaded(&members[member..=member]);
        Group {
            judge: self,
            members,
            planned: members.iter().map(planned).collect(),
            loads: (0..members.len()).map(loads).collect(),
        }
    }

    /// All layouts of a group.
    pub(in crate::schedule) fn layouts(
        &self,
        members: &[Candidate<'a>],
        planned: impl Fn(&Candidate) -> usize,
    ) -> Layouts {
        Layouts::of(&self.group(members, planned))
    }

    /// The maps of the members of a group; `None` where they keep their block indices.
    pub(in crate::schedule) fn ranges(
        &self,
        members: &[Candidate<'a>],
        partitions: &BlockPartitions,
    ) -> Vec<Option<ThreadMap>> {
        let mut maps = vec![None; members.len()];
        let Ok(threads) = self.threads(members, partitions) else {
            return maps;
        };
        if partitions.len() > 1 {
            let mut first = Expression::Constant(0);
            for (partition, threads) in partitions.iter().zip(threads) {
                let count = self.blocks(&members[partition[0]]);
                for member in partition {
                    maps[*member] = Some(ThreadMap::Blocks {
                        first: first.clone(),
                        count: count.clone(),
                        threads,
                    });
                }
                first = first.add(count);
            }
        }
        maps
    }

    /// What a group of several block partitions tests for that: the fused grid is not too long.
    pub(in crate::schedule) fn grid_guard(
        &self,
        members: &[Candidate<'a>],
        partitions: &BlockPartitions,
    ) -> Option<Guard> {
        let blocks = partitions
            .iter()
            .map(|partition| self.blocks(&members[partition[0]]));
        let blocks = blocks.reduce(Expression::add)?;
        (partitions.len() > 1).then(|| Guard::Holds {
            class: String::from("grid"),
            condition: Condition::LessEqual(blocks, Expression::Constant(MOST_BLOCKS)),
        })
    }

    /// How the threads of each block partition become threads of the fused block.
    ///
    /// # Errors
    /// When some cannot keep what their members rely on.
    fn threads(
        &self,
        members: &[Candidate<'a>],
        partitions: &BlockPartitions,
    ) -> Result<Vec<BlockThreads>, Rejection> {
        let [first, rest @ ..] = partitions.as_slice() else {
            return Ok(Vec::new());
        };
        let same_block = |member: &Candidate, other: &Candidate| {
            (3..6).all(|axis| self.extent(member, axis) == self.extent(other, axis))
        };
        for pair in partitions.iter().flat_map(|partition| partition.windows(2)) {
            let [one, other] = [pair[0], pair[1]].map(|member| &members[member]);
            if (0..3).any(|axis| self.extent(one, axis) != self.extent(other, axis)) {
                let message = format!(
                    "`{}` and `{}` run in the same blocks and are not known to have one grid, so that \
                     nothing can run beside them",
                    one.model.display_name, other.model.display_name
                );
                let location = &self.graph.nodes[other.node.0].location;
                return Err(rejection(RejectionReason::Shape, message, location));
            }
        }
        let first = &members[first[0]];
        if rest
            .iter()
            .all(|partition| same_block(first, &members[partition[0]]))
        {
            for pair in members.windows(2) {
                self.threads_in_step(&pair[0], &pair[1])?;
            }
            return Ok(vec![BlockThreads::Same; partitions.len()]);
        }
        let counts: Vec<Option<i64>> = partitions
            .iter()
            .map(|partition| {
                let member = &members[partition[0]];
                let mut extents = (3..6).map(|axis| self.extent(member, axis).as_constant());
                extents.try_fold(1_i64, |threads, extent| threads.checked_mul(extent?))
            })
            .collect();
        let largest = match counts.iter().all(Option::is_some) {
            true => counts.iter().max().copied().flatten(),
            false => None,
        };
        let mut threads = Vec::new();
        for (partition, count) in partitions.iter().zip(counts) {
            let fills_block = largest.is_some() && count == largest;
            let whole_warps = count.is_some_and(|count| count % WARP_THREADS == 0);
            for member in partition.iter().map(|member| &members[*member]) {
                let name = &member.model.display_name;
                let location = &self.graph.nodes[member.node.0].location;
                let waits = partition.len() > 1
                    || !member.model.barriers.is_empty()
                    || member.model.warp_operations;
                if waits && !fills_block && !whole_warps {
                    let message = format!(
                        "`{name}` waits for the threads of its block, which are not known to be \
                         whole warps, and the other launch has another block size"
                    );
                    return Err(rejection(RejectionReason::Shape, message, location));
                }
                for axis in 0..3 {
                    if !member.model.distinguishes_threads[axis]
                        && !self.may_be_single(member, axis)
                    {
                        let axis = ["x", "y", "z"][axis];
                        let message = format!(
                            "`{name}` never reads threadIdx.{axis}, so that its threads along it \
                             run in step, and the other launch has another block size"
                        );
                        return Err(rejection(RejectionReason::Shape, message, location));
                    }
                }
            }
            threads.push(BlockThreads::Row { fills_block });
        }
        Ok(threads)
    }

    /// Whether a block has one thread along an axis, or a test may find so: a plane of threads whose extents
    /// the host works out has one along z.
    fn may_be_single(&self, member: &Candidate, axis: usize) -> bool {
        match self.extent(member, 3 + axis).as_constant() {
            Some(extent) => extent == 1,
            None => axis > 0,
        }
    }

    /// What block partitions of several blocks test for their threads to be told apart.
    pub(in crate::schedule) fn single_guards(
        &self,
        members: &[Candidate<'a>],
        partitions: &BlockPartitions,
    ) -> Vec<Guard> {
        let in_rows = self.threads(members, partitions).is_ok_and(|threads| {
            let mut threads = threads.iter();
            threads.any(|threads| matches!(threads, BlockThreads::Row { .. }))
        });
        let partitions = partitions.iter().filter(|_| in_rows).flatten();
        let axes = partitions.flat_map(|member| [1, 2].map(|axis| (&members[*member], axis)));
        axes.filter(|(member, axis)| !member.model.distinguishes_threads[*axis])
            .map(|(member, axis)| Guard::Holds {
                class: String::from("shape"),
                condition: Condition::Equal(self.extent(member, 3 + axis), Expression::Constant(1)),
            })
            .collect()
    }

    /// The number of blocks of a launch.
    pub(in crate::schedule) fn blocks(&self, member: &Candidate) -> Expression<ValueId> {
        let [x, y, z] = [0, 1, 2].map(|axis| self.extent(member, axis));
        x.multiply(y).multiply(z)
    }
}

/// Whether an edge is of pointers into allocations that are known, and is not there where they lead to different parts. Who
/// divides an allocation has other pointers to other parts: the same pointer to one part would be known as such. But a part
/// that is read as far as one is written may be the same after all, by another pointer.
pub(in crate::schedule) fn names_parts(graph: &LaunchGraph, edge: &Edge) -> bool {
    let is_known = |range: &PointerRange| {
        let pointer = pointer_of(graph, edge, range);
        pointer.is_some_and(|pointer| pointer.may_point_to.is_some())
    };
    let tells = |guard: &Guard| match guard {
        Guard::RangesDisjoint { left, right } => {
            let extents =
                |range: &PointerRange| (range.low_bytes.clone(), range.high_bytes.clone());
            let hands_on = edge.kind == DependenceKind::Flow && extents(left) == extents(right);
            is_known(left) && is_known(right) && !hands_on
        }
        _ => true,
    };
    !edge.absent_if.is_empty() && edge.absent_if.iter().all(tells)
}

/// The block partitions that members have by the numbers of theirs.
pub(in crate::schedule) fn by_partition(
    members: &[Candidate],
    planned: impl Fn(&Candidate) -> usize,
) -> BlockPartitions {
    let mut numbers: Vec<usize> = Vec::new();
    let mut partitions = BlockPartitions::new();
    for (position, member) in members.iter().enumerate() {
        let number = planned(member);
        match numbers.iter().position(|known| *known == number) {
            Some(known) => partitions[known].push(position),
            None => {
                numbers.push(number);
                partitions.push(vec![position]);
            }
        }
    }
    partitions
}

/// A group, for its layouts.
struct Group<'a, 'b> {
    judge: &'b Judge<'a>,
    members: &'b [Candidate<'a>],
    planned: Vec<usize>,
    loads: Vec<BTreeSet<Loaded>>,
}

impl Members for Group<'_, '_> {
    fn count(&self) -> usize {
        self.members.len()
    }

    fn tied(&self, one: usize, other: usize) -> bool {
        let edges = self
            .judge
            .edges(self.members[one].node, self.members[other].node);
        let mut edges = edges.iter();
        edges.any(|edge| orders(edge) && edge.absent_if.is_empty())
    }

    fn planned(&self, member: usize) -> usize {
        self.planned[member]
    }

    fn alike(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|member| &self.members[member]);
        (0..6).all(|axis| self.judge.extent(one, axis) == self.judge.extent(other, axis))
            && self.judge.threads_in_step(one, other).is_ok()
    }

    fn equal_code(&self, one: usize, other: usize) -> bool {
        self.members[one].model.id == self.members[other].model.id && self.alike(one, other)
    }

    fn shared(&self, one: usize, other: usize) -> usize {
        self.loads[one].intersection(&self.loads[other]).count()
    }

    fn is_legal(&self, partitions: &BlockPartitions) -> bool {
        let bytes = self.judge.least_static_shared(self.members, partitions);
        bytes <= MOST_STATIC_SHARED_BYTES
            && (partitions.len() == 1 || self.judge.threads(self.members, partitions).is_ok())
    }
}

/// The longest grid of one dimension.
const MOST_BLOCKS: i64 = 0x7fff_ffff;
/// Threads of a warp.
const WARP_THREADS: i64 = 32;
