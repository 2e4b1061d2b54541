//! Members that are one loop over the whole grid, counted by the loop's iterations: each of these may run in any thread.
//!
//! Invariant: a member is counted so only where its launch runs each iteration once, no iteration touches what another one writes,
//! or guards say so.

use super::super::ThreadOrder;
use super::super::domains::{Domains, MOST_NUMBERS};
use super::super::group::{Judge, may_be_inside, orders};
use super::super::obstacle::Candidate;
use crate::dependence::{Edge, Guard, Scope};
use crate::launch::NodeId;
use crate::math::expression::{Condition, Expression};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A member whose iterations count as its threads.
pub(in crate::schedule) struct ByIteration<'a> {
    /// As a launch of one block for each.
    pub(in crate::schedule) member: Candidate<'a>,
    /// What that relies on.
    pub(in crate::schedule) guards: BTreeSet<Guard>,
}

impl<'a> Judge<'a> {
    /// The member counted by its iterations, where it may be.
    pub(in crate::schedule) fn by_iteration(
        &self,
        member: &Candidate<'a>,
    ) -> Option<ByIteration<'a>> {
        let launch = self.graph.by_iteration.get(&member.launch.id)?;
        let model = self.kernels.get(launch.kernel?.0)?;
        let mut guards: BTreeSet<Guard> = BTreeSet::new();
        let conditions = self.counted.conditions.get(&member.node)?;
        guards.extend(conditions.iter().cloned());
        for edge in self.counted.edges.get(&(member.node, member.node))? {
            match edge.scope {
                _ if !orders(edge) => {}
                Scope::Thread => guards.extend(edge.conditions.iter().cloned()),
                _ if edge.absent_if.is_empty() => return None,
                _ => guards.extend(edge.absent_if.iter().cloned()),
            }
        }
        let counted = Candidate {
            node: member.node,
            launch,
            model,
        };
        let constant = Expression::Constant;
        let count = self.extent(&counted, 0);
        let mut holds = vec![
            Condition::LessEqual(constant(1), count.clone()),
            Condition::LessEqual(self.total(member).add(count), constant(MOST_NUMBERS)),
        ];
        let along_x = [1, 2, 4, 5].map(|axis| self.extent(member, axis));
        holds.extend(along_x.map(|extent| Condition::Equal(extent, constant(1))));
        for condition in holds {
            match condition.decided() {
                Some(true) => {}
                Some(false) => return None,
                None => {
                    guards.insert(Guard::Holds {
                        class: String::from("threads"),
                        condition,
                    });
                }
            }
        }
        Some(ByIteration {
            member: counted,
            guards,
        })
    }

    /// The edges from one member to another, each counted as it is told; `None` where they were not compared so.
    pub(in crate::schedule) fn edges_as_counted(
        &self,
        source: &Candidate,
        sink: &Candidate,
    ) -> Option<Vec<&Edge>> {
        let own = || {
            let edges = self.edges(source.node, sink.node).iter();
            edges.copied().collect::<Vec<&Edge>>()
        };
        let pair = [source, sink];
        if !pair.iter().any(|member| is_counted(member)) {
            return Some(own());
        }
        let other_way = |member: &&Candidate| {
            !is_counted(member) && self.graph.by_iteration.contains_key(&member.launch.id)
        };
        if pair.iter().any(other_way) {
            // Counted in two ways, they are only known not to meet.
            return Some(own()).filter(Vec::is_empty);
        }
        let edges = self.counted.edges.get(&(source.node, sink.node))?;
        Some(edges.iter().map(AsRef::as_ref).collect())
    }

    /// Whether one launch can hold all edges between two where what can be counted by iterations is.
    pub(in crate::schedule) fn may_meet_by_iteration(&self, source: NodeId, sink: NodeId) -> bool {
        let edges = self.counted.edges.get(&(source, sink));
        let edges = edges.filter(|_| source != sink && self.options.remaps_threads);
        edges.is_some_and(|edges| {
            let inside = |edge: &Arc<Edge>| may_be_inside(self.graph, edge);
            edges.iter().any(|edge| orders(edge)) && edges.iter().all(inside)
        })
    }

    /// Whether two members would keep their places only in a run in which grids that are written in different ways are equal, while
    /// one of both, counted by iterations, goes to the other's threads in any.
    pub(in crate::schedule) fn goes_by_iteration(
        &self,
        source: &Candidate,
        sink: &Candidate,
    ) -> bool {
        let [source_counts, sink_counts] =
            [source, sink].map(|member| self.is_by_iteration(member));
        if source_counts == sink_counts {
            return false;
        }
        let grids: Vec<_> = (0..3)
            .map(|axis| [source, sink].map(|member| self.extent(member, axis)))
            .collect();
        let compares = |guard: &Guard| match guard {
            Guard::Holds {
                condition: Condition::Equal(a, b),
                ..
            } => grids.iter().any(|[one, other]| {
                one != other && ([a, b] == [one, other] || [b, a] == [one, other])
            }),
            _ => false,
        };
        let mut edges = self.edges(source.node, sink.node).iter();
        edges.any(|edge| orders(edge) && edge.conditions.iter().any(compares))
            && self.may_meet_by_iteration(source.node, sink.node)
    }

    fn is_by_iteration(&self, member: &Candidate) -> bool {
        self.graph.by_iteration.contains_key(&member.launch.id)
    }

    /// The members with those counted by iterations for which that is better, as [`Self::goes_by_iteration`] has it.
    pub(in crate::schedule) fn rather_by_iteration(
        &self,
        members: &[Candidate<'a>],
    ) -> Option<Domains> {
        if !members.iter().any(|member| self.is_by_iteration(member)) {
            return None;
        }
        let mut pairs = members.iter().enumerate().flat_map(|(place, first)| {
            let later = members[place + 1..].iter();
            later.map(move |second| (first, second))
        });
        if !pairs.any(|(first, second)| self.goes_by_iteration(first, second)) {
            return None;
        }
        let found = self.remapped(members)?;
        let found = self.without_single_threads(members, found);
        let fits = self.fits_block(&found.kept(members)).is_ok();
        (found.cost.is_none() && fits).then_some(found)
    }

    /// The launches before one whose edges to it can be inside of one launch so.
    pub(in crate::schedule) fn sources_by_iteration(
        &self,
        sink: NodeId,
    ) -> impl Iterator<Item = NodeId> + '_ {
        let first = (NodeId(0), sink);
        let edges = self.counted.edges.range(first..(sink, sink));
        let sources = edges.map(|(pair, _)| *pair);
        let sources = sources.filter(move |(source, to)| *to == sink && *source < sink);
        sources
            .filter(|(source, sink)| self.may_meet_by_iteration(*source, *sink))
            .map(|(source, _)| source)
    }
}

/// Whether a member's iterations count as its threads.
pub(in crate::schedule) fn is_counted(member: &Candidate) -> bool {
    member.model.iteration_of.is_some()
}

/// How the threads of a member are counted in a plan.
pub(in crate::schedule) fn own_order(member: &Candidate, own: ThreadOrder) -> ThreadOrder {
    match is_counted(member) {
        true => ThreadOrder::Iterations,
        false => own,
    }
}
