//! Which members lead the fused launch with their blocks and threads, and which are remapped over these.
//!
//! As long as all members can keep their threads where they are, they do. Else one of them leads: those that
//! have its block, and depend on each other inside of it, keep their threads; each other one is remapped
//! anew, which takes threads that need nothing of their block. Barriers lead; of members without any, that with
//! the most threads leads where all are known, else that with the largest block, since grids are rounded up to
//! whole blocks, so that its launch has at least as many threads as the others.
//!
//! Invariant: for every two members of which one is remapped, each edge stays, under the map of the edge or the
//! identity, among threads of one number (see [`ThreadOrder`]), or among numbers of one block of the fused
//! launch (see `runs`), or is absent under guards.

use super::super::by_iteration::{ByIteration, is_counted, own_order};
use super::super::group::{Judge, orders};
use super::super::layout::Alignment;
use super::super::numbers::{Sum, mixed_radix, told_by};
use super::super::obstacle::{Candidate, rejection};
use super::super::{ThreadMap, ThreadOrder};
use crate::dependence::{CoordinateSymbol, Guard, Scope, guards_contradict};
use crate::diagnostics::Rejection;
use crate::kernel::{AccessKind, Target};
use crate::launch::{NodeId, ValueId};
use crate::math::affine::Axis;
use crate::math::expression::{Condition, Expression};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How the members of a group come to the threads of the fused launch.
#[derive(Clone, Debug, Default)]
pub(in crate::schedule) struct Domains {
    /// The members that do not keep their places.
    placed: BTreeMap<NodeId, ThreadMap>,
    /// Pairs of members, one of them placed anew, that need a barrier between.
    pub(in crate::schedule) block_wide: BTreeSet<(NodeId, NodeId)>,
    /// What all of that relies on.
    pub(in crate::schedule) guards: BTreeSet<Guard>,
    /// Why it takes longer than the launches by themselves, where it would.
    pub(in crate::schedule) cost: Option<String>,
}

impl Domains {
    /// Where the threads of the member go; `None` when it keeps them.
    pub(in crate::schedule) fn map(&self, member: &Candidate) -> Option<ThreadMap> {
        self.placed.get(&member.node).cloned()
    }

    /// Sends the threads of a member somewhere else.
    pub(in crate::schedule) fn place(&mut self, member: &Candidate, map: ThreadMap) {
        self.placed.insert(member.node, map);
    }

    /// How many members do not keep their places.
    pub(in crate::schedule) fn placed(&self) -> usize {
        self.placed.len()
    }

    /// Leaves guards out that hold anyway. False when they never hold, one of them or all together.
    pub(in crate::schedule) fn settle_guards(&mut self) -> bool {
        self.guards.retain(Guard::may_fail);
        let never = |guard: &Guard| matches!(guard, Guard::Holds { condition, .. } if condition.decided() == Some(false));
        !self.guards.iter().any(never) && !guards_contradict(&self.guards)
    }

    /// The members that keep their threads.
    pub(in crate::schedule) fn kept<'a>(&self, members: &[Candidate<'a>]) -> Vec<Candidate<'a>> {
        let kept = members.iter().filter(|member| self.map(member).is_none());
        kept.copied().collect()
    }

    /// Whether all members keep their threads.
    pub(in crate::schedule) fn all_kept(&self) -> bool {
        self.placed.is_empty()
    }

    /// Whether what the later depends on in the earlier is in other threads of its block; `None` where
    /// both keep their threads.
    pub(in crate::schedule) fn is_block_wide(
        &self,
        earlier: &Candidate,
        later: &Candidate,
    ) -> Option<bool> {
        let remapped = [earlier, later].map(|member| self.map(member).is_some());
        (remapped != [false; 2]).then(|| self.block_wide.contains(&(earlier.node, later.node)))
    }
}

impl<'a> Judge<'a> {
    /// The members' threads as they are in a group of them.
    pub(in crate::schedule) fn domains(&self, members: &[Candidate<'a>]) -> Domains {
        let mut remapped = members
            .iter()
            .map(|member| self.among_remapped.contains(&member.node));
        let stay = || {
            self.same_shapes(members)
                .and_then(|()| self.scopes_allow(&[], members))
                .and_then(|()| self.fits_block(members))
        };
        let found = match remapped.any(|remapped| remapped) {
            false => None,
            true if stay().is_ok() => self.rather_moved(members),
            true => self
                .placed_anew(members)
                .filter(|found| found.cost.is_none()),
        };
        found.unwrap_or_default()
    }

    /// A better way than to let all members keep their threads, though they may.
    pub(in crate::schedule) fn rather_moved(&self, members: &[Candidate<'a>]) -> Option<Domains> {
        self.rather_by_iteration(members)
            .or_else(|| self.rather_in_warps(members))
    }

    /// A way to place the threads of some of the members over those of the others; `None` when there is
    /// none.
    pub(in crate::schedule) fn placed_anew(&self, members: &[Candidate<'a>]) -> Option<Domains> {
        if let Some(rearranged) = self.rearranged(members) {
            return Some(self.without_single_threads(members, rearranged));
        }
        let remapped = self.remapped(members);
        let found = match &remapped {
            Some(found) if found.cost.is_none() => remapped,
            _ => self
                .in_array(members)
                .or_else(|| self.in_tiles(members))
                .or(remapped),
        };
        found.map(|found| self.without_single_threads(members, found))
    }

    /// A launch whose grid or block only a run tells is written for more than one thread along x: what holds only for one
    /// is not worth its tests.
    pub(in crate::schedule) fn without_single_threads(
        &self,
        members: &[Candidate<'a>],
        mut found: Domains,
    ) -> Domains {
        let single = |member: &&Candidate| {
            [0, 3].into_iter().any(|along_x| {
                let (extent, one) = (self.extent(member, along_x), Expression::Constant(1));
                let unknown = extent.as_constant().is_none();
                let asked = [
                    Condition::Equal(extent.clone(), one.clone()),
                    Condition::LessEqual(extent, one),
                ];
                let mut guards = found.guards.iter();
                unknown
                    && guards.any(|guard| match guard {
                        Guard::Holds { condition, .. } => asked.contains(condition),
                        _ => false,
                    })
            })
        };
        if let Some(member) = members.iter().find(single) {
            let name = &member.model.display_name;
            found.cost.get_or_insert(format!(
                "fused, `{name}` would have to have one block, or one thread in each, which it has not as a rule"
            ));
        }
        found
    }

    /// Whether each thread of a block knows itself from all others.
    pub(in crate::schedule) fn distinguishes_threads(&self, member: &Candidate) -> bool {
        (0..3).all(|axis| {
            member.model.distinguishes_threads[axis]
                || self.extent(member, 3 + axis).as_constant() == Some(1)
        })
    }

    /// No two members are known to have blocks of other extents.
    pub(in crate::schedule) fn same_shapes(
        &self,
        members: &[Candidate<'a>],
    ) -> Result<(), Rejection> {
        let mut pairs = members.windows(2);
        pairs.try_for_each(|pair| self.same_shape(&pair[0], &pair[1]))
    }

    /// Why a launch has no place among `members`, of which others may have been remapped for each other
    /// before: what speaks against it beside one of them, the nearest first, else `found`, which may be about
    /// these others.
    pub(in crate::schedule) fn nowhere_for(
        &self,
        last: &Candidate<'a>,
        members: &[Candidate<'a>],
        found: &Rejection,
    ) -> Rejection {
        let others = members.iter().filter(|member| member.node != last.node);
        let beside = others.clone().rev().find_map(|other| {
            let pair = match other.node < last.node {
                true => [other, last],
                false => [last, other],
            };
            let shape = self.same_shape(pair[0], pair[1]);
            shape
                .and_then(|()| self.scope_allows(pair[0], pair[1]))
                .err()
        });
        if let Some(beside) = beside {
            return beside;
        }
        if members.len() == 2 {
            return found.clone();
        }
        let names: Vec<String> = others
            .map(|other| format!("`{}`", other.model.display_name))
            .collect();
        let message = format!(
            "the threads of {} are placed by each other, and no way was found that also suits `{}`",
            names.join(", "),
            last.model.display_name
        );
        let location = &self.graph.nodes[last.node.0].location;
        rejection(found.reason, message, location)
    }

    /// Every edge stays inside where all threads stay where they are.
    pub(in crate::schedule) fn scopes_allow(
        &self,
        groups: &[&[Candidate<'a>]],
        members: &[Candidate<'a>],
    ) -> Result<(), Rejection> {
        let mut group_of = HashMap::new();
        for (index, group) in groups.iter().enumerate() {
            group_of.extend(group.iter().map(|member| (member.node, index)));
        }
        for (position, source) in members.iter().enumerate() {
            for sink in &members[position + 1..] {
                // Pairs of one group were judged when it was made.
                let groups = (group_of.get(&source.node), group_of.get(&sink.node));
                let remapped = self.among_remapped.contains(&source.node);
                if remapped || groups.0.is_none() || groups.0 != groups.1 {
                    self.scope_allows(source, sink)?;
                }
            }
        }
        Ok(())
    }

    /// Whether threads of members may run in others at all.
    pub(in crate::schedule) fn may_be_remapped(&self, members: &[Candidate<'a>]) -> bool {
        let mut members = members.iter();
        self.options.remaps_threads && members.all(|member| self.distinguishes_threads(member))
    }

    /// A way to remap some of the members to the threads of the others; `None` when there is none.
    pub(in crate::schedule) fn remapped(&self, members: &[Candidate<'a>]) -> Option<Domains> {
        if !self.may_be_remapped(members) {
            return None;
        }
        let is_launch = |member: &&Candidate| self.graph.operation_of(member.launch.id).is_none();
        let tied = members.iter().find(|member| needs_its_block(member));
        let mut leaders: Vec<&Candidate> = match tied {
            Some(tied) => vec![tied],
            None => members.iter().filter(is_launch).collect(),
        };
        let totals: Option<Vec<i64>> = members
            .iter()
            .map(|member| self.total(member).as_constant())
            .collect();
        leaders.sort_by_key(|leader| {
            let size = match totals.is_some() {
                true => self.total(leader),
                false => self.block_threads(leader),
            };
            std::cmp::Reverse(size.as_constant())
        });
        let mut tried: Vec<[Expression<ValueId>; 6]> = Vec::new();
        // Legal, but not worth it.
        let mut dear = None;
        for leader in &leaders {
            let shape = std::array::from_fn(|axis| self.extent(leader, axis));
            if tried.contains(&shape) {
                continue;
            }
            tried.push(shape);
            // Those that have its block stay, or those alone that have its grid too.
            for first_extent in [3, 0] {
                for fused in [ThreadOrder::Blocks, ThreadOrder::Rows] {
                    match self.led_by(leader, first_extent, (fused, None), members) {
                        Some(found) if found.cost.is_none() => return Some(found),
                        found => dear = dear.or(found),
                    }
                }
            }
        }
        // Nobody has a thread for each element: the others take the turns of a loop over the whole grid.
        let led = leaders.into_iter().find_map(|leader| {
            self.by_iteration(leader)?;
            self.led(leader, 0, (ThreadOrder::Blocks, Led::ByLoop), members)
        });
        led.or(dear)
    }

    /// The members remapped over the launch of one of them; those may stay that have its extents from
    /// `first_extent` on, of the grid and then of the block. The threads of the fused launch are counted in an
    /// order, and may be asked to be those of the largest or the smallest member.
    pub(in crate::schedule) fn led_by(
        &self,
        leader: &Candidate<'a>,
        first_extent: usize,
        (fused, aligned): (ThreadOrder, Option<Alignment>),
        members: &[Candidate<'a>],
    ) -> Option<Domains> {
        let led = aligned.map_or(Led::ByThreads, Led::Aligned);
        self.led(leader, first_extent, (fused, led), members)
    }

    fn led(
        &self,
        leader: &Candidate<'a>,
        first_extent: usize,
        (fused, led): (ThreadOrder, Led),
        members: &[Candidate<'a>],
    ) -> Option<Domains> {
        let is_operation = |member: &Candidate| self.graph.operation_of(member.launch.id).is_some();
        let has_its_shape = |member: &Candidate| {
            (first_extent..6).all(|axis| self.extent(member, axis) == self.extent(leader, axis))
        };
        let mut kept: Vec<Candidate> = vec![*leader];
        let others = || members.iter().filter(|member| member.node != leader.node);
        // Sets and copies stay where a launch of their shape does.
        let launches = others().filter(|member| !is_operation(member));
        for member in launches.chain(others().filter(|member| is_operation(member))) {
            let carried = !is_operation(member)
                || kept.iter().any(|other| {
                    (0..6).all(|axis| self.extent(member, axis) == self.extent(other, axis))
                });
            let stays = carried
                && has_its_shape(member)
                && kept.iter().all(|other| {
                    let [first, second] = match other.node < member.node {
                        true => [other, member],
                        false => [member, other],
                    };
                    self.scope_allows(first, second).is_ok()
                        && !self.goes_by_iteration(first, second)
                });
            match stays {
                true => kept.push(*member),
                false if needs_its_block(member) => return None,
                false => {}
            }
        }
        if kept.len() == members.len() {
            return None;
        }
        kept.sort_by_key(|member| member.node);
        let guards = BTreeSet::new();
        let whole = kept
            .iter()
            .find(|member| !is_operation(member) && self.fills_grid(member, &kept, &guards));
        let line = |member: &Candidate| {
            (1..3).all(|axis| self.extent(member, axis).as_constant() == Some(1))
        };
        let reference = match whole {
            Some(whole) => whole,
            None if kept.iter().all(line) => leader,
            None => return None,
        };
        let launch = Launched {
            fused,
            grid: std::array::from_fn(|axis| self.extent(reference, axis)),
            grids: kept.iter().map(|member| self.blocks(member)).collect(),
            total: self.total(reference),
            threads: self.block_threads(leader).as_constant()?,
        };
        let mut domains = Domains::default();
        let mut counted: BTreeMap<NodeId, Candidate<'a>> = BTreeMap::new();
        if led == Led::ByLoop {
            let alike = |member: &&Candidate| {
                (0..6).all(|axis| self.extent(member, axis) == self.extent(leader, axis))
            };
            for member in kept.iter().filter(alike) {
                if let Some(by_iteration) = self.by_iteration(member) {
                    counted.insert(member.node, by_iteration.member);
                    domains.guards.extend(by_iteration.guards);
                }
            }
        }
        let mut add = |condition: Condition<ValueId>| {
            domains.guards.insert(Guard::Holds {
                class: String::from("threads"),
                condition,
            });
        };
        let most = || Expression::Constant(MOST_NUMBERS);
        for member in &kept {
            add(Condition::LessEqual(self.total(member), most()));
        }
        let remapped = |member: &&Candidate| kept.iter().all(|other| other.node != member.node);
        let mut remapped: Vec<Candidate> = members.iter().filter(remapped).copied().collect();
        for member in &remapped {
            add(Condition::LessEqual(self.total(member), most()));
        }
        // Who depends on those that lead decides first.
        let is_near = |member: &Candidate| kept.iter().any(|other| self.meet(member, other));
        remapped.sort_by_key(|member| !is_near(member));
        let mut numbered: Vec<Numbered> = Vec::new();
        for member in &kept {
            let (member, grid) = match counted.get(&member.node) {
                Some(counted) => (counted, None),
                None => (member, Some(&launch.grid)),
            };
            numbered.push(Numbered {
                member: *member,
                number: self.number(member, fused, grid)?,
                run: None,
                repeats: false,
            });
        }
        for member in &remapped {
            let mut orders = [ThreadOrder::Blocks, ThreadOrder::Rows];
            if orders[0] != fused {
                orders.reverse();
            }
            let mut ways: Vec<_> = orders
                .map(|own| Way::of(member, own, None, BTreeSet::new()))
                .into();
            let in_runs = |member: &Candidate<'a>, guards: &BTreeSet<Guard>| {
                let runs = match fused {
                    ThreadOrder::Blocks => self.runs(member, &numbered),
                    _ => Vec::new(),
                };
                let ways = runs.into_iter();
                ways.map(|run| Way::of(member, ThreadOrder::Blocks, Some(run), guards.clone()))
                    .collect::<Vec<Way>>()
            };
            ways.extend(in_runs(member, &BTreeSet::new()));
            if let Some(ByIteration { member, guards }) = self.by_iteration(member) {
                let by_number = Way::of(&member, ThreadOrder::Blocks, None, guards.clone());
                ways.push(by_number);
                ways.extend(in_runs(&member, &guards));
            }
            let mut dear = None;
            let cheap = ways.into_iter().find_map(|way| {
                let Way {
                    ref member,
                    own,
                    run,
                    guards,
                } = way;
                let mut found = Found {
                    guards,
                    ..Found::default()
                };
                let mut repeats = false;
                let map = match &run {
                    None => {
                        repeats = self.repeats(member, (leader, &launch), led, &mut found);
                        ThreadMap::Remapped {
                            own: own_order(member, own),
                            fused,
                            repeats,
                        }
                    }
                    Some(length) => {
                        self.run_conditions(member, length, &launch, &mut found)?;
                        let length = length.clone();
                        ThreadMap::Runs {
                            own: own_order(member, own),
                            length,
                        }
                    }
                };
                let mine = Numbered {
                    member: *member,
                    number: self.number(member, own, None)?,
                    run,
                    repeats,
                };
                let all = numbered
                    .iter()
                    .all(|other| match other.member.node < member.node {
                        true => self.stays_inside(other, &mine, &launch, &mut found),
                        false => self.stays_inside(&mine, other, &launch, &mut found),
                    });
                let way = all.then_some((mine, map, found))?;
                match way.2.cost.is_none() {
                    true => Some(way),
                    false => {
                        dear.get_or_insert(way);
                        None
                    }
                }
            });
            let (mine, map, found) = cheap.or(dear)?;
            domains.cost = domains.cost.or(found.cost);
            domains.guards.extend(found.guards);
            domains.block_wide.extend(found.block_wide);
            domains.place(member, map);
            numbered.push(mine);
        }
        domains.settle_guards().then_some(domains)
    }

    /// Whether edges lead from one of two members to the other.
    fn meet(&self, one: &Candidate, other: &Candidate) -> bool {
        let edges = [
            self.edges(one.node, other.node),
            self.edges(other.node, one.node),
        ];
        edges.into_iter().flatten().any(|edge| orders(edge))
    }

    /// Whether the threads of the fused launch have to take turns so that all of a member run. It costs too
    /// much when a few would have to do what many did.
    fn repeats(
        &self,
        member: &Candidate,
        (leader, launch): (&Candidate, &Launched),
        led: Led,
        found: &mut Found,
    ) -> bool {
        let total = self.total(member);
        let Some((own, all)) = total.as_constant().zip(launch.total.as_constant()) else {
            if matches!(led, Led::Aligned(Alignment::Smallest) | Led::ByLoop) {
                return true;
            }
            found.add(Condition::LessEqual(total, launch.total.clone()));
            return false;
        };
        if own > all.saturating_mul(MOST_REPEATS) && led != Led::ByLoop {
            found.cost = Some(format!(
                "fused, the {own} threads of `{}` would be {all} of `{}`, each in the place of more \
                 than {MOST_REPEATS}, so that most of the device would stand idle",
                member.model.display_name, leader.model.display_name
            ));
        }
        own > all
    }

    /// Whether every edge between two members, one of them remapped, stays among threads of one number, or of
    /// one block, or can be tested to be absent.
    fn stays_inside(
        &self,
        source: &Numbered,
        sink: &Numbered,
        launch: &Launched,
        found: &mut Found,
    ) -> bool {
        let [one, other] = [&source.member, &sink.member];
        if !is_counted(one) && !is_counted(other) && self.goes_by_iteration(one, other) {
            return false;
        }
        let one_thread = source.run == sink.run;
        let Some(edges) = self.edges_as_counted(&source.member, &sink.member) else {
            return false;
        };
        edges.into_iter().filter(|edge| orders(edge)).all(|edge| {
            found.guards.extend(edge.absent_if.iter().cloned());
            if one_thread && source.number == sink.number && edge.scope == Scope::Thread {
                found.guards.extend(edge.conditions.iter().cloned());
                return true;
            }
            if let Some(mapped) = &edge.mapped
                && one_thread
                && mapped.scope == Scope::Thread
                && told_by(
                    &mapped.map.source,
                    &mapped.map.sink,
                    &source.number,
                    &sink.number,
                )
            {
                found.guards.extend(mapped.conditions.iter().cloned());
                return true;
            }
            if let Some(conditions) = self.in_one_block(edge, source, sink, launch) {
                found.guards.extend(conditions.iter().cloned());
                let pair = (source.member.node, sink.member.node);
                found.block_wide.insert(pair);
                return true;
            }
            !edge.absent_if.is_empty()
        })
    }

    /// The number of a member's thread; `grid` is what its blocks are counted by, if not its own.
    pub(in crate::schedule) fn number(
        &self,
        member: &Candidate,
        order: ThreadOrder,
        grid: Option<&[Expression<ValueId>; 3]>,
    ) -> Option<Sum> {
        let block = |axis: Axis| {
            let own = self.extent(member, axis.index());
            let digit = (own.as_constant() != Some(1)).then_some(CoordinateSymbol::Block(axis));
            (digit, grid.map_or(own, |grid| grid[axis.index()].clone()))
        };
        let thread = |axis: Axis| {
            let extent = self.extent(member, 3 + axis.index());
            (Some(CoordinateSymbol::Thread(axis)), extent)
        };
        let digits: Vec<_> = match order {
            ThreadOrder::Blocks | ThreadOrder::Iterations => {
                let threads = Axis::ALL.map(thread).into_iter();
                threads.chain(Axis::ALL.map(block)).collect()
            }
            ThreadOrder::Rows => {
                let axes = Axis::ALL.into_iter();
                axes.flat_map(|axis| [thread(axis), block(axis)]).collect()
            }
        };
        mixed_radix(digits)
    }

    /// The number of a member's block in its grid.
    pub(in crate::schedule) fn linear_block(&self, member: &Candidate) -> Option<Sum> {
        mixed_radix(Axis::ALL.map(|axis| {
            let extent = self.extent(member, axis.index());
            (Some(CoordinateSymbol::Block(axis)), extent)
        }))
    }

    /// How many threads a block of the member has.
    pub(in crate::schedule) fn block_threads(&self, member: &Candidate) -> Expression<ValueId> {
        let [x, y, z] = [3, 4, 5].map(|axis| self.extent(member, axis));
        x.multiply(y).multiply(z)
    }

    /// How many threads the member has.
    pub(in crate::schedule) fn total(&self, member: &Candidate) -> Expression<ValueId> {
        self.blocks(member).multiply(self.block_threads(member))
    }
}

/// How a launch leads others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Led {
    /// Each of its threads has a number.
    ByThreads,
    /// The same over the threads of the largest or the smallest.
    Aligned(Alignment),
    /// Each of its iterations has: it is a loop over the whole grid, whose threads take turns, and so do the others'.
    ByLoop,
}

/// A way to count a member's threads, and to run them.
struct Way<'a> {
    member: Candidate<'a>,
    own: ThreadOrder,
    /// See [`Numbered::run`].
    run: Option<Expression<ValueId>>,
    /// What it relies on by itself.
    guards: BTreeSet<Guard>,
}

impl<'a> Way<'a> {
    fn of(
        member: &Candidate<'a>,
        own: ThreadOrder,
        run: Option<Expression<ValueId>>,
        guards: BTreeSet<Guard>,
    ) -> Self {
        Self {
            member: *member,
            own,
            run,
            guards,
        }
    }
}

/// The fused launch.
pub(in crate::schedule) struct Launched {
    /// How its threads are counted.
    pub(in crate::schedule) fused: ThreadOrder,
    pub(in crate::schedule) grid: [Expression<ValueId>; 3],
    /// How many blocks each member has that keeps its threads.
    pub(in crate::schedule) grids: Vec<Expression<ValueId>>,
    pub(in crate::schedule) total: Expression<ValueId>,
    /// Threads a block.
    pub(in crate::schedule) threads: i64,
}

/// A member whose threads have numbers.
pub(in crate::schedule) struct Numbered<'a> {
    pub(in crate::schedule) member: Candidate<'a>,
    pub(in crate::schedule) number: Sum,
    /// How many of them a block runs; none where a number is that of a thread.
    pub(in crate::schedule) run: Option<Expression<ValueId>>,
    /// Numbers beyond the last thread begin anew with the first.
    pub(in crate::schedule) repeats: bool,
}

/// What was found out of a member that is remapped.
#[derive(Default)]
pub(in crate::schedule) struct Found {
    guards: BTreeSet<Guard>,
    block_wide: BTreeSet<(NodeId, NodeId)>,
    /// See [`Domains::cost`].
    cost: Option<String>,
}

impl Found {
    /// Adds what is tested at run time where it is not known.
    pub(in crate::schedule) fn add(&mut self, condition: Condition<ValueId>) {
        self.add_of("threads", condition);
    }

    /// The same in a class of its own.
    pub(in crate::schedule) fn add_of(&mut self, class: &str, condition: Condition<ValueId>) {
        self.guards.insert(Guard::Holds {
            class: String::from(class),
            condition,
        });
    }
}

/// Whether a member's threads count on others of their block.
pub(in crate::schedule) fn needs_its_block(member: &Candidate) -> bool {
    let model = member.model;
    let bound = model.accesses.iter().any(|access| {
        let shared = matches!(access.target, Target::Shared(_) | Target::UnknownShared);
        shared
            || match access.kind {
                AccessKind::Atomic => true,
                AccessKind::Reduction(update) => update.within_block,
                AccessKind::Read | AccessKind::Write => false,
            }
    });
    bound
        || !model.barriers.is_empty()
        || model.warp_operations
        || model.asynchronous_copies
        || model.prints
        || model.dynamic_shared
        || model.static_shared_bytes > 0
}

/// The most threads of a launch that are counted.
pub(in crate::schedule) const MOST_NUMBERS: i64 = (1 << 31) - 1;
/// At most so often a thread of the fused launch runs a member.
const MOST_REPEATS: i64 = 8;
