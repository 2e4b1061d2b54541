//! Host loops that move into the kernel: the launches of a group, made iteration by iteration, follow each other in one
//! launch, as in persistent kernels (Zhang et al., PERKS, ICS 2023), with a barrier across the grid only where somebody asks
//! for such (`grid_barriers`).
//!
//! Invariant: what an iteration of such a loop needs of an earlier one the same thread made, or with a barrier between them
//! the same block, or with one across the grid any block of a cooperative group. Loops whose iterations neither hand anything on nor
//! overwrite what was read before are left alone: programs repeat a launch to time it.

use super::super::group::{Judge, orders};
use super::super::host_order::HostOrder;
use super::super::obstacle::Candidate;
use super::super::passing::quiet_but_for;
use super::super::{
    BatchedRegion, BatchedStatement, FusionGroup, FusionPlan, MOST_TURNS, PersistentLoop,
    ScheduleOptions, ThreadMap,
};
use crate::dependence::{DependenceGraph, DependenceKind, Edge, Guard, Scope, launch_conditions};
use crate::kernel::{KernelModel, Target};
use crate::launch::{
    Argument, BEHIND_POINTER, Course, HostBlockId, Launch, LaunchGraph, LaunchId, NodeId, NodeKind,
    Pointer, Root, ValueId,
};
use crate::math::expression::{Condition, Expression};
use petgraph::graph::NodeIndex;
use std::collections::BTreeSet;

/// Adds the regions of groups whose launches follow each other in one kernel, at most so many more. Such a group waits for
/// no batch with others: all its iterations are one launch.
pub fn plan_persistent_loops(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    (groups, batched): (&[FusionGroup], &mut Vec<BatchedRegion>),
    options: &ScheduleOptions,
    most: usize,
) {
    if !options.persistent_loops || dependences.cut_short {
        return;
    }
    let program = Program {
        graph,
        kernels,
        dependences,
        order: &HostOrder::new(graph),
        keeps_synchronisations: options.keep_synchronisations,
    };
    let whole = groups.iter().filter(|group| !group.is_partial());
    let regions = whole.filter_map(|group| program.region(group)).take(most);
    for region in regions {
        let own = region.statements[0].launch;
        batched.retain_mut(|other| {
            let before = other.statements.len();
            other.statements.retain(|each| each.launch != own);
            let left = other.statements.len();
            left == before || left > 1 || program.repeats(other)
        });
        batched.push(region);
    }
}

impl Judge<'_> {
    fn program<'a>(&'a self, dependences: &'a DependenceGraph) -> Program<'a> {
        Program {
            graph: self.graph,
            kernels: self.kernels,
            dependences,
            order: &self.order,
            keeps_synchronisations: self.options.keep_synchronisations,
        }
    }

    /// Whether launches of a group that iterations of a host loop make may follow each other in one kernel.
    pub(in crate::schedule) fn persists(
        &self,
        dependences: &DependenceGraph,
        group: &FusionGroup,
    ) -> bool {
        let program = self.program(dependences);
        self.options.persistent_loops && program.region(group).is_some()
    }

    /// The numbers that may change in each iteration of a loop, and the pointers that change places, where nothing else changes
    /// that the launches of a group in it take.
    pub(in crate::schedule) fn varying_in(
        &self,
        dependences: &DependenceGraph,
        group: &FusionGroup,
        host_loop: usize,
    ) -> Option<(Vec<Place>, Vec<[Place; 2]>)> {
        let program = self.program(dependences);
        let sites = group
            .members
            .iter()
            .map(|member| program.site(member.launch));
        let sites = sites.collect::<Option<Vec<Site>>>()?;
        // A number of 64 bits could be a pointer, for all that the host knows.
        let is_number = |site: &Site<'_>, index: usize| {
            let formal = site.model.formals.get(index);
            formal.is_some_and(|formal| !formal.is_pointer)
        };
        program.varying(
            &sites,
            (&BTreeSet::from([host_loop]), host_loop),
            &is_number,
        )
    }

    /// Whether what a guard says of an iteration's launches does not rest on numbers that change in the loop.
    pub(in crate::schedule) fn is_steady_in(
        &self,
        dependences: &DependenceGraph,
        guard: &Guard,
        host_loop: usize,
    ) -> bool {
        let inside = BTreeSet::from([host_loop]);
        self.program(dependences).is_steady(guard, &inside)
    }

    /// Groups of one launch each for those of `candidates` that the plan leaves alone and whose host loop may move into
    /// the kernel, at most so many.
    pub(in crate::schedule) fn persistent_launches(
        &self,
        plan: &FusionPlan,
        dependences: &DependenceGraph,
        candidates: &[Candidate<'_>],
        most: usize,
    ) -> Vec<FusionGroup> {
        let program = self.program(dependences);
        let members = plan.groups.iter().flat_map(|group| &group.members);
        let taken: BTreeSet<LaunchId> = members.map(|member| member.launch).collect();
        let repeats = |candidate: &&Candidate<'_>| {
            let block = self.graph.nodes[candidate.node.0].block;
            self.graph.blocks[block.0].innermost_loop.is_some()
        };
        let single = candidates.iter().filter(repeats).filter(|candidate| {
            self.graph.operation_of(candidate.launch.id).is_none()
                && !taken.contains(&candidate.launch.id)
                && self.conditions_hold(&[**candidate]).is_ok()
        });
        let groups = single.map(|candidate| FusionGroup {
            // Everything is stored that the launch stores.
            unread_afterwards: Vec::new(),
            ..self.finish(&[*candidate], |_| 0)
        });
        let persistent = groups.filter(|group| program.region(group).is_some());
        persistent.take(most).collect()
    }
}

struct Program<'a> {
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    dependences: &'a DependenceGraph,
    order: &'a HostOrder<'a>,
    keeps_synchronisations: bool,
}

/// An argument of a launch.
pub(in crate::schedule) type Place = (LaunchId, usize);

/// A member of a group.
struct Site<'a> {
    node: NodeId,
    launch: &'a Launch,
    model: &'a KernelModel,
}

impl<'a> Program<'a> {
    /// The region in which the launches of a group follow each other, where they may.
    fn region(&self, group: &FusionGroup) -> Option<BatchedRegion> {
        let stays = |map: &ThreadMap| map.keeps_indices();
        let is_plain = group.members.iter().all(|member| stays(&member.map))
            && group.issued_before.is_empty()
            && group.awaited_copies.is_empty();
        if !is_plain {
            return None;
        }
        let sites: Option<Vec<Site>> = group
            .members
            .iter()
            .map(|member| self.site(member.launch))
            .collect();
        let sites = sites.filter(|sites| sites.iter().all(|site| self.may_repeat(site)))?;
        // There is room for one launch's arguments, and for what varies.
        let formals = sites.iter().flat_map(|site| &site.model.formals);
        let bytes: u64 = formals.map(|formal| u64::from(formal.size_bytes)).sum();
        if bytes > MOST_ARGUMENT_BYTES {
            return None;
        }
        let mut pairs = sites.windows(2);
        if !pairs.all(|pair| self.order.in_step(pair[0].node, pair[1].node)) {
            return None;
        }
        let last = sites.last()?;
        let around = self.graph.loops_around(self.graph.nodes[last.node.0].block);
        let (outside_loops, drained_before) = self.outside_loops(&sites, &around)?;
        let inside: BTreeSet<usize> = around[outside_loops..].iter().copied().collect();
        let innermost = *around.last()?;
        let (varying, turning) = self.varying(&sites, (&inside, innermost), &|_, _| false)?;
        let grid_barrier = group.is_cooperative();
        let (needs_barrier, guards) = match grid_barrier {
            false => self.carried(&sites, &inside)?,
            true => self.hands_on(&sites, &inside).then(|| (true, Vec::new()))?,
        };
        let shares = |site: &Site| {
            let model = site.model;
            model.static_shared_bytes > 0 || model.dynamic_shared || model.warp_operations
        };
        Some(BatchedRegion {
            outside_loops,
            drained_before: drained_before.into_iter().collect(),
            for_graphs: false,
            statements: vec![BatchedStatement {
                launch: last.launch.id,
                touches: Vec::new(),
                guards,
                replaced: Vec::new(),
                must_replace: false,
                persistent: Some(PersistentLoop {
                    barrier: needs_barrier || sites.iter().any(shares),
                    grid_barrier,
                    varying,
                    turning,
                }),
                phase_rounds: None,
            }],
        })
    }

    /// Whether a region has launches that may wait for others of the same statement.
    fn repeats(&self, region: &BatchedRegion) -> bool {
        let sites = region.statements.iter();
        sites.filter_map(|each| self.site(each.launch)).any(|site| {
            let block = self.graph.nodes[site.node.0].block;
            self.graph.loops_around(block).len() > region.outside_loops
        })
    }

    fn site(&self, id: LaunchId) -> Option<Site<'a>> {
        let node = self.graph.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Launch(launch) if launch.id == id => Some((node.id, launch)),
            _ => None,
        });
        let (node, launch) = node?;
        Some(Site {
            node,
            launch,
            model: self.kernels.get(launch.kernel?.0)?,
        })
    }

    /// Nothing of what a launch is rests on the end of the one before.
    fn may_repeat(&self, site: &Site<'_>) -> bool {
        let pieces = || site.launch.arguments.iter().flat_map(|each| &each.pieces);
        !site.launch.special
            && self.graph.operation_of(site.launch.id).is_none()
            && !site.model.prints
            && !site.model.asynchronous_copies
            // What stands in memory is not compared from launch to launch.
            && pieces().all(|piece| piece.offset_bytes < BEHIND_POINTER)
    }

    /// The fewest loops around the members that have to stay outside, so that nothing but them is launched inside and the
    /// host does nothing there that could tell; and where what waits is issued because it might.
    fn outside_loops(
        &self,
        sites: &[Site<'_>],
        around: &[usize],
    ) -> Option<(usize, BTreeSet<HostBlockId>)> {
        let graph = self.graph;
        let own: Vec<NodeId> = sites.iter().map(|site| site.node).collect();
        let last = *own.last()?;
        let drained = |outside: usize| {
            let others = graph.nodes.iter().any(|node| {
                matches!(node.kind, NodeKind::Launch(_))
                    && !own.contains(&node.id)
                    && graph.loops_around(node.block).contains(&around[outside])
            });
            let scope = outside.checked_sub(1).map(|at| around[at]);
            let drained = || quiet_but_for(graph, scope, last, self.keeps_synchronisations);
            (!others).then(drained).flatten()
        };
        let mut outside = (0..around.len()).rev();
        let innermost = outside.next()?;
        let known = drained(innermost)?;
        // What the host does in an outer loop alone ends the launch there anyway.
        let more = outside.take_while(|outside| drained(*outside).as_ref() == Some(&known));
        Some((more.last().unwrap_or(innermost), known))
    }

    /// The numbers among the arguments that may differ from launch to launch, and pointers that change places; `None` where
    /// a pointer may be any.
    fn varying(
        &self,
        sites: &[Site<'_>],
        (inside, innermost): (&BTreeSet<usize>, usize),
        is_number: &dyn Fn(&Site<'_>, usize) -> bool,
    ) -> Option<(Vec<Place>, Vec<[Place; 2]>)> {
        let mut varying = Vec::new();
        let mut turns: Vec<(Place, &Course)> = Vec::new();
        for site in sites {
            for (index, argument) in site.launch.arguments.iter().enumerate() {
                if !self.may_vary(argument, inside) {
                    continue;
                }
                let is_target = |target: &Target| matches!(target, Target::Argument { argument, .. } if *argument == index);
                let mut accesses = site.model.accesses.iter();
                let leads = accesses.any(|access| is_target(&access.target))
                    || argument.pieces.iter().any(|piece| piece.pointer.is_some())
                        && !is_number(site, index);
                let place = (site.launch.id, index);
                match leads {
                    true => turns.push((place, self.turns(argument, innermost)?)),
                    false => varying.push(place),
                }
            }
            let shape = site.launch.grid.iter().chain(&site.launch.block);
            let mut shape = shape.chain([&site.launch.shared_bytes]);
            if shape.any(|value| self.varies(*value, inside)) {
                return None;
            }
        }
        // What each has next is what another one has now.
        let next = |course: &Course, place: usize| {
            let places = &course.places;
            places[(place + 1) % places.len()].clone()
        };
        let turning = turns.iter().map(|(own, course)| {
            let mut others = turns.iter();
            let (source, _) = others.find(|(_, other)| {
                let count = course.places.len();
                other.places.len() == count
                    && (0..count).all(|at| other.places[at] == next(course, at))
            })?;
            Some([*own, *source])
        });
        let turning: Vec<_> = turning.collect::<Option<_>>()?;
        Some((varying, turning))
    }

    /// How a pointer changes places, once in each iteration of the innermost loop.
    fn turns(&self, argument: &Argument, innermost: usize) -> Option<&'a Course> {
        let [piece] = argument.pieces.as_slice() else {
            return None;
        };
        let course = self.graph.iterations.courses.get(&piece.value)?;
        let in_turn = course.turns_in == Some(innermost) && course.places.len() <= MOST_TURNS;
        let of_one = |place: &crate::launch::Place| {
            let buffer = place.root.buffer();
            buffer.is_some_and(|buffer| self.graph.buffers[buffer.0].unique)
        };
        (piece.offset_bytes == 0 && in_turn && course.places.iter().all(of_one)).then_some(course)
    }

    fn may_vary(&self, argument: &Argument, inside: &BTreeSet<usize>) -> bool {
        let of_pointer = |pointer: &Pointer| {
            let root = match pointer.root {
                Root::Value(value) => self.varies(value, inside),
                Root::Buffer(_) => false,
            };
            let offset = pointer.offset_bytes.as_ref();
            root || offset.is_some_and(|offset| self.any_varies(offset, inside))
        };
        let mut pieces = argument.pieces.iter();
        argument
            .identity
            .is_some_and(|value| self.varies(value, inside))
            || pieces.any(|piece| {
                self.varies(piece.value, inside) || piece.pointer.as_ref().is_some_and(of_pointer)
            })
    }

    fn varies(&self, value: ValueId, inside: &BTreeSet<usize>) -> bool {
        let varies_in = self.graph.values[value.0].varies_in;
        varies_in.is_some_and(|index| inside.contains(&index))
    }

    fn any_varies(&self, expression: &Expression<ValueId>, inside: &BTreeSet<usize>) -> bool {
        let steady = &mut |value: &ValueId| {
            (!self.varies(*value, inside)).then_some(Expression::Leaf(*value))
        };
        expression.substitute(steady).is_none()
    }

    /// Whether an iteration needs a barrier after the one before, and what has to be tested for that to be enough. `None`
    /// where it is not, or where the iterations do not go on with each other's work.
    fn carried(&self, sites: &[Site<'_>], inside: &BTreeSet<usize>) -> Option<(bool, Vec<Guard>)> {
        let mut barrier = false;
        let mut hands_on = false;
        let mut guards = BTreeSet::new();
        let graph = &self.dependences.graph;
        let pairs = sites
            .iter()
            .flat_map(|source| sites.iter().map(move |sink| (source.node, sink.node)));
        for (source, sink) in pairs {
            let (source, sink) = (NodeIndex::new(source.0), NodeIndex::new(sink.0));
            let edges = graph.edges_connecting(source, sink);
            for edge in edges.map(|edge| edge.weight()).filter(|edge| edge.carried) {
                if !is_carried_inside(edge, inside) || !orders(edge) {
                    continue;
                }
                if edge.scope == Scope::Global && edge.absent_if.is_empty() {
                    return None;
                }
                barrier |= edge.scope == Scope::Block;
                hands_on |= goes_on(edge);
                guards.extend(edge.conditions.iter().cloned());
                if !edge.allows_equal_pointers() {
                    guards.extend(edge.absent_if.iter().cloned());
                }
            }
        }
        guards.retain(Guard::may_fail);
        // What a launch relies on by itself each one is asked, whatever it says of others.
        let own = sites
            .iter()
            .map(|site| launch_conditions(self.graph, self.kernels, site.node)?.ok());
        let own = own.collect::<Option<Vec<_>>>()?.concat();
        let told = |guard: &Guard| self.is_steady(guard, inside) || own.contains(guard);
        (hands_on && guards.iter().all(told)).then(|| (barrier, guards.into_iter().collect()))
    }

    /// Whether an iteration surely goes on with what one before did.
    fn hands_on(&self, sites: &[Site<'_>], inside: &BTreeSet<usize>) -> bool {
        let graph = &self.dependences.graph;
        sites.iter().any(|source| {
            sites.iter().any(|sink| {
                let (source, sink) = (NodeIndex::new(source.node.0), NodeIndex::new(sink.node.0));
                let edges = graph.edges_connecting(source, sink);
                let mut edges = edges.map(|edge| edge.weight());
                edges.any(|edge| edge.carried && goes_on(edge) && is_carried_inside(edge, inside))
            })
        })
    }

    /// Whether what a guard says of one launch it says of all of them.
    fn is_steady(&self, guard: &Guard, inside: &BTreeSet<usize>) -> bool {
        match guard {
            Guard::Holds { condition, .. } => !self.condition_varies(condition, inside),
            Guard::RangesDisjoint { left, right } | Guard::SameOrDisjoint { left, right } => {
                [left, right].into_iter().all(|range| {
                    let mut bounds = [&range.low_bytes, &range.high_bytes].into_iter();
                    bounds.all(|bound| !self.any_varies(bound, inside))
                })
            }
            Guard::ConfigurationValid { .. }
            | Guard::NotCapturing { .. }
            | Guard::DeviceMemory { .. }
            | Guard::Resident { .. }
            | Guard::SameStream { .. } => true,
        }
    }

    fn condition_varies(&self, condition: &Condition<ValueId>, inside: &BTreeSet<usize>) -> bool {
        let steady = &mut |value: &ValueId| {
            (!self.varies(*value, inside)).then_some(Expression::Leaf(*value))
        };
        condition.substitute(steady).is_none()
    }
}

/// Whether an iteration needs what one before stored, or stores where one before had to read first. A loop that repeats a
/// launch to time it does neither: it only stores the same again.
fn goes_on(edge: &Edge) -> bool {
    let kinds = [DependenceKind::Flow, DependenceKind::Anti];
    kinds.contains(&edge.kind) && edge.absent_if.is_empty()
}

/// The kernel of a loop has all arguments in the 4,096 bytes of parameters that every device has.
const MOST_ARGUMENT_BYTES: u64 = 4_000;

/// Whether the ends of an edge may be in different iterations of one of some loops, all others being the same.
fn is_carried_inside(edge: &Edge, inside: &BTreeSet<usize>) -> bool {
    // Across calls of the function, or in whichever loops.
    if edge.distances.is_empty() {
        return true;
    }
    edge.distances.iter().all(|distance| {
        let may_be_same = distance.least.is_none_or(|least| least <= 0)
            && distance.most.is_none_or(|most| most >= 0);
        inside.contains(&distance.host_loop) || may_be_same
    })
}
