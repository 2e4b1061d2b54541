//! Members whose threads stand for the elements of one array with those of the fused launch: a kernel over a matrix
//! in blocks of two axes, and one that counts the same elements along a line, or that has blocks of another shape.
//!
//! Invariant: every edge between two members of which one is placed so joins threads of one element, on both sides
//! inside of the array, or is absent under guards; and whatever a placed member writes is written inside of it.

use super::super::domains::{Domains, MOST_NUMBERS, needs_its_block};
use super::super::group::{Judge, orders};
use super::super::numbers::told_by;
use super::super::obstacle::Candidate;
use super::super::rearranged::in_order;
use super::super::{ThreadMap, ThreadOrder};
use crate::dependence::{Guard, Scope, writes_within_array};
use crate::launch::{NodeId, ValueId};
use crate::math::affine::Axis;
use crate::math::expression::{Condition, Expression};

/// An array whose elements the threads of the fused launch are.
#[derive(Clone, PartialEq, Eq)]
struct Array {
    leader: NodeId,
    axes: Vec<Axis>,
    extents: Vec<Expression<ValueId>>,
}

/// A member that runs its threads in those of their elements.
struct Placed<'a> {
    member: Candidate<'a>,
    own: Vec<Axis>,
}

impl<'a> Judge<'a> {
    /// A way to place some of the members by the elements of an array that the others' threads stand for; `None` when
    /// there is none.
    pub(in crate::schedule) fn in_array(&self, members: &[Candidate<'a>]) -> Option<Domains> {
        if !self.may_be_remapped(members) {
            return None;
        }
        let arrays = self.arrays(members);
        arrays
            .iter()
            .find_map(|array| self.placed_in(array, members))
    }

    /// The arrays that edges between the members speak of, those of members that need their blocks first.
    fn arrays(&self, members: &[Candidate<'a>]) -> Vec<Array> {
        let mut found: Vec<(bool, Array)> = Vec::new();
        for (position, source) in members.iter().enumerate() {
            for sink in &members[position + 1..] {
                let edges = self.edges(source.node, sink.node).iter();
                for places in edges.filter_map(|edge| edge.array.as_ref()) {
                    for (side, axes) in [(source, &places.source), (sink, &places.sink)] {
                        let array = Array {
                            leader: side.node,
                            axes: axes.clone(),
                            extents: places.extents.clone(),
                        };
                        let is_new = found.iter().all(|(_, known)| *known != array);
                        if !axes.is_empty() && is_new {
                            found.push((needs_its_block(side), array));
                        }
                    }
                }
            }
        }
        found.sort_by_key(|(bound, _)| !bound);
        found.truncate(MOST_ARRAYS);
        found.into_iter().map(|(_, array)| array).collect()
    }

    /// The members with the array's launch leading.
    fn placed_in(&self, array: &Array, members: &[Candidate<'a>]) -> Option<Domains> {
        let leader = members.iter().find(|member| member.node == array.leader)?;
        let (kept, mut others) = self.kept_beside(leader, members)?;
        let mut domains = Domains::default();
        let mut placed: Vec<Placed> = Vec::new();
        // Who meets the array's own launches says along which axes its threads are elements.
        while !others.is_empty() {
            let (at, own) = others.iter().enumerate().find_map(|(at, member)| {
                Some((at, self.axes_of(member, array, &kept, &placed)?))
            })?;
            let member = others.remove(at);
            let mine = Placed { member, own };
            for other in &kept {
                self.meets_in_elements(&mine, other, &array.axes, array, &mut domains)?;
            }
            for other in &placed {
                let same = mine.own == other.own && self.same_extents(&mine.member, &other.member);
                match same {
                    true => self.meets_in_threads(&mine.member, &other.member, &mut domains)?,
                    false => {
                        let axes = other.own.clone();
                        self.meets_in_elements(&mine, &other.member, &axes, array, &mut domains)?;
                    }
                }
            }
            placed.push(mine);
        }
        if placed.is_empty() {
            return None;
        }
        self.bound_array(array, leader, &mut domains);
        for Placed { member, own } in placed {
            self.bound_member(&member, &own, array, &mut domains)?;
            let map = ThreadMap::Elements {
                axes: array.axes.clone(),
                extents: array.extents.clone(),
                own,
            };
            domains.place(&member, map);
        }
        domains.settle_guards().then_some(domains)
    }

    /// The members that keep their threads beside one of them, and the others; `None` where one of these cannot leave its place.
    pub(in crate::schedule) fn kept_beside(
        &self,
        leader: &Candidate<'a>,
        members: &[Candidate<'a>],
    ) -> Option<(Vec<Candidate<'a>>, Vec<Candidate<'a>>)> {
        let mut kept: Vec<Candidate> = vec![*leader];
        let mut others: Vec<Candidate> = Vec::new();
        for member in members.iter().filter(|member| member.node != leader.node) {
            let stays = self.same_extents(member, leader)
                && kept.iter().all(|other| {
                    let [first, second] = in_order(other, member);
                    self.scope_allows(first, second).is_ok()
                });
            match stays {
                true => kept.push(*member),
                false if needs_its_block(member) => return None,
                false if self.graph.operation_of(member.launch.id).is_some() => return None,
                false => others.push(*member),
            }
        }
        Some((kept, others))
    }

    /// Along which axes a member's threads are the array's elements, by its edges to those that are placed.
    fn axes_of(
        &self,
        member: &Candidate,
        array: &Array,
        kept: &[Candidate],
        placed: &[Placed],
    ) -> Option<Vec<Axis>> {
        let of_kept = kept.iter().map(|other| (other, &array.axes));
        let of_placed = placed.iter().map(|other| (&other.member, &other.own));
        of_kept.chain(of_placed).find_map(|(other, axes)| {
            let [first, second] = in_order(other, member);
            let edges = self.edges(first.node, second.node).iter();
            let mut ordering = edges.filter(|edge| orders(edge));
            ordering.find_map(|edge| {
                if let Some(places) = &edge.array
                    && places.extents == array.extents
                {
                    let (theirs, own) = match other.node < member.node {
                        true => (&places.source, &places.sink),
                        false => (&places.sink, &places.source),
                    };
                    return (theirs == axes).then(|| own.clone());
                }
                let alike = edge.scope == Scope::Thread && self.same_extents(member, other);
                alike.then(|| axes.clone())
            })
        })
    }

    /// Every edge between two members is one of single elements of the array, where the other one's axes are these.
    fn meets_in_elements(
        &self,
        mine: &Placed,
        other: &Candidate,
        axes: &[Axis],
        array: &Array,
        domains: &mut Domains,
    ) -> Option<()> {
        let [first, second] = in_order(other, &mine.member);
        for edge in self
            .edges(first.node, second.node)
            .iter()
            .filter(|edge| orders(edge))
        {
            domains.guards.extend(edge.absent_if.iter().cloned());
            let (source, sink) = match other.node < mine.member.node {
                true => (axes, mine.own.as_slice()),
                false => (mine.own.as_slice(), axes),
            };
            match &edge.array {
                Some(places)
                    if places.extents == array.extents
                        && places.source == source
                        && places.sink == sink =>
                {
                    domains.guards.extend(places.conditions.iter().cloned());
                }
                _ if !edge.absent_if.is_empty() => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Every edge between two members of one shape is one of single threads.
    pub(in crate::schedule) fn meets_in_threads(
        &self,
        one: &Candidate,
        other: &Candidate,
        domains: &mut Domains,
    ) -> Option<()> {
        let [first, second] = in_order(one, other);
        let number = |member| self.number(member, ThreadOrder::Blocks, None);
        let (source, sink) = (number(first)?, number(second)?);
        for edge in self
            .edges(first.node, second.node)
            .iter()
            .filter(|edge| orders(edge))
        {
            domains.guards.extend(edge.absent_if.iter().cloned());
            let mapped = edge.mapped.as_ref().filter(|mapped| {
                let (one, other) = (&mapped.map.source, &mapped.map.sink);
                mapped.scope == Scope::Thread && told_by(one, other, &source, &sink)
            });
            match (edge.scope, mapped) {
                (Scope::Thread, _) => domains.guards.extend(edge.conditions.iter().cloned()),
                (_, Some(mapped)) => domains.guards.extend(mapped.conditions.iter().cloned()),
                _ if !edge.absent_if.is_empty() => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// The array fits into the launch that leads.
    fn bound_array(&self, array: &Array, leader: &Candidate, domains: &mut Domains) {
        let most = Expression::Constant(MOST_NUMBERS);
        add(domains, Condition::LessEqual(self.total(leader), most));
        for (axis, extent) in array.axes.iter().zip(&array.extents) {
            let threads = self.threads_along(leader, *axis);
            let zero = Expression::Constant(0);
            add(domains, Condition::LessEqual(zero, extent.clone()));
            add(domains, Condition::LessEqual(extent.clone(), threads));
        }
    }

    /// A member has a thread for each element, and writes with no other.
    fn bound_member(
        &self,
        member: &Candidate,
        own: &[Axis],
        array: &Array,
        domains: &mut Domains,
    ) -> Option<()> {
        let total = self.total(member);
        let most = Expression::Constant(MOST_NUMBERS);
        add(domains, Condition::LessEqual(total.clone(), most));
        let extents = array.extents.iter().cloned();
        match own {
            [] => {
                let all = extents.reduce(|all, extent| all.multiply(extent))?;
                add(domains, Condition::LessEqual(all, total));
            }
            axes => {
                for (axis, extent) in axes.iter().zip(extents) {
                    let threads = self.threads_along(member, *axis);
                    add(domains, Condition::LessEqual(extent, threads));
                }
            }
        }
        let (graph, kernels) = (self.graph, self.kernels);
        let within = writes_within_array(graph, kernels, member.node, own, &array.extents)?;
        domains.guards.extend(within);
        Some(())
    }

    fn threads_along(&self, member: &Candidate, axis: Axis) -> Expression<ValueId> {
        let at = axis.index();
        self.extent(member, at)
            .multiply(self.extent(member, 3 + at))
    }

    fn same_extents(&self, one: &Candidate, other: &Candidate) -> bool {
        (0..6).all(|axis| self.extent(one, axis) == self.extent(other, axis))
    }
}

fn add(domains: &mut Domains, condition: Condition<ValueId>) {
    domains.guards.insert(Guard::Holds {
        class: String::from("array"),
        condition,
    });
}

/// Most arrays that a group is tried with.
const MOST_ARRAYS: usize = 4;
