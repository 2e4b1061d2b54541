//! Members whose threads stand for the elements of a matrix, beside one whose blocks work on its tiles: an elementwise
//! kernel behind a product.
//!
//! Invariant: every edge between a member that is placed so and one that keeps its threads joins blocks by the tiles of the map, and
//! has a barrier; edges between two placed members join threads of one number; or edges are absent under guards.

use super::super::ThreadMap;
use super::super::domains::{Domains, MOST_NUMBERS};
use super::super::group::{Judge, orders};
use super::super::obstacle::Candidate;
use super::super::rearranged::in_order;
use crate::dependence::{DependenceGraph, Edge, Guard, Tiling};
use crate::launch::{NodeId, ValueId};
use crate::math::affine::Axis;
use crate::math::expression::{Condition, Expression};

/// The tiles that the blocks of a launch work on.
struct Tiles {
    leader: NodeId,
    axes: [Axis; 2],
    extents: [i64; 2],
    pitch: Expression<ValueId>,
}

impl Tiles {
    fn are_of(&self, tiling: &Tiling) -> bool {
        tiling.axes == self.axes && tiling.extents == self.extents && tiling.pitch == self.pitch
    }
}

impl<'a> Judge<'a> {
    /// A way to place some of the members by the tiles of a matrix that the others' blocks work on; `None` when
    /// there is none.
    pub(in crate::schedule) fn in_tiles(&self, members: &[Candidate<'a>]) -> Option<Domains> {
        if !self.by_tiles || !self.may_be_remapped(members) {
            return None;
        }
        let pairs = members.iter().enumerate().flat_map(|(position, source)| {
            let later = members[position + 1..].iter();
            later.map(move |sink| (source, sink))
        });
        let mut found: Vec<Tiles> = Vec::new();
        for (source, sink) in pairs {
            for tiling in self.tilings(source, sink) {
                let leader = if tiling.of_source { source } else { sink };
                let known = |tiles: &Tiles| tiles.leader == leader.node && tiles.are_of(tiling);
                if !found.iter().any(known) {
                    found.push(Tiles {
                        leader: leader.node,
                        axes: tiling.axes,
                        extents: tiling.extents,
                        pitch: tiling.pitch.clone(),
                    });
                }
            }
        }
        let mut found = found.iter().take(MOST_TILES);
        found.find_map(|tiles| self.placed_in_tiles(tiles, members))
    }

    /// The launches whose blocks work on tiles with this one's elements, or the other way round, and that run before it.
    pub(in crate::schedule) fn sources_by_tiles(
        &self,
        dependences: &DependenceGraph,
        sink: NodeId,
    ) -> Vec<NodeId> {
        let sources = self.local_sources(dependences, sink).into_iter();
        let sources = sources.map(|(source, _)| source);
        let tiled = |edge: &Edge| edge.tiling.is_some();
        sources
            .filter(|source| self.edges(*source, sink).iter().any(|edge| tiled(edge)))
            .collect()
    }

    fn tilings(&self, source: &Candidate, sink: &Candidate) -> impl Iterator<Item = &'a Tiling> {
        let edges = self.edges(source.node, sink.node).iter();
        edges.filter_map(|edge| edge.tiling.as_deref())
    }

    /// The members with the launch leading whose blocks work on the tiles.
    fn placed_in_tiles(&self, tiles: &Tiles, members: &[Candidate<'a>]) -> Option<Domains> {
        let leader = members.iter().find(|member| member.node == tiles.leader)?;
        let (kept, placed) = self.kept_beside(leader, members)?;
        let mut domains = Domains::default();
        for (position, member) in placed.iter().enumerate() {
            for other in &kept {
                self.meets_in_tiles(member, other, tiles, &mut domains)?;
            }
            for other in &placed[..position] {
                self.meets_in_threads(member, other, &mut domains)?;
            }
        }
        if placed.is_empty() {
            return None;
        }
        self.cover(tiles, leader, &mut domains)?;
        for member in &placed {
            self.fits_tiles(member, tiles, leader, &mut domains);
            let map = ThreadMap::Tiles {
                axes: tiles.axes,
                extents: tiles.extents,
                pitch: tiles.pitch.clone(),
            };
            domains.place(member, map);
        }
        domains.settle_guards().then_some(domains)
    }

    /// Every edge between two members, of which the second keeps its threads, joins blocks by the tiles.
    fn meets_in_tiles(
        &self,
        placed: &Candidate,
        kept: &Candidate,
        tiles: &Tiles,
        domains: &mut Domains,
    ) -> Option<()> {
        let [first, second] = in_order(kept, placed);
        let edges = self.edges(first.node, second.node).iter();
        for edge in edges.filter(|edge| orders(edge)) {
            domains.guards.extend(edge.absent_if.iter().cloned());
            let is_kept_first = kept.node < placed.node;
            match &edge.tiling {
                Some(tiling) if tiles.are_of(tiling) && tiling.of_source == is_kept_first => {
                    domains.guards.extend(tiling.conditions.iter().cloned());
                    domains.block_wide.insert((first.node, second.node));
                }
                _ if !edge.absent_if.is_empty() => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// The tiles cover the matrix's rows from end to end, and each is the work of one block.
    fn cover(&self, tiles: &Tiles, leader: &Candidate, domains: &mut Domains) -> Option<()> {
        let [_, columns] = tiles.axes.map(|axis| self.extent(leader, axis.index()));
        let constant = |value: i64| Expression::Constant(value);
        let threads = self.block_threads(leader).as_constant()?;
        let [height, width] = tiles.extents;
        if height.checked_mul(width)? > threads.saturating_mul(MOST_TURNS) {
            return None;
        }
        let wide = columns.multiply(constant(width));
        let mut conditions = vec![
            Condition::LessEqual(tiles.pitch.clone(), wide.clone()),
            Condition::LessEqual(wide, constant(MOST_NUMBERS)),
            Condition::LessEqual(constant(1), tiles.pitch.clone()),
            Condition::LessEqual(self.high(tiles, leader), constant(MOST_NUMBERS)),
            Condition::LessEqual(self.total(leader), constant(MOST_NUMBERS)),
        ];
        let others = Axis::ALL
            .into_iter()
            .filter(|axis| !tiles.axes.contains(axis));
        for axis in others {
            let extent = self.extent(leader, axis.index());
            conditions.push(Condition::Equal(extent, constant(1)));
        }
        for condition in conditions {
            add(domains, condition)?;
        }
        Some(())
    }

    /// How many numbers the tiles of all blocks have, one below the other.
    fn high(&self, tiles: &Tiles, leader: &Candidate) -> Expression<ValueId> {
        let blocks = self.extent(leader, tiles.axes[0].index());
        let rows = blocks.multiply(Expression::Constant(tiles.extents[0]));
        rows.multiply(tiles.pitch.clone())
    }

    /// All of a member's threads are elements of the tiles, but for a few.
    fn fits_tiles(
        &self,
        member: &Candidate,
        tiles: &Tiles,
        leader: &Candidate,
        domains: &mut Domains,
    ) {
        // The last blocks are left with no more than what the member's launch was rounded up by.
        let slack = self.block_threads(member).subtract(Expression::Constant(1));
        let reached = self.high(tiles, leader).add(slack);
        let most = Expression::Constant(MOST_NUMBERS);
        for most in [reached, most] {
            let condition = Condition::LessEqual(self.total(member), most);
            domains.guards.insert(guard(condition));
        }
    }
}

/// Adds what only a run tells; `None` where it does not hold.
fn add(domains: &mut Domains, condition: Condition<ValueId>) -> Option<()> {
    match condition.decided() {
        Some(true) => {}
        Some(false) => return None,
        None => {
            domains.guards.insert(guard(condition));
        }
    }
    Some(())
}

fn guard(condition: Condition<ValueId>) -> Guard {
    Guard::Holds {
        class: String::from("tiles"),
        condition,
    }
}

/// Most tiles that a group is tried with.
const MOST_TILES: usize = 4;
/// At most so many numbers of a member a thread of the fused launch runs.
const MOST_TURNS: i64 = 128;
