//! Launches of one block whose work each block of the launch behind them does by itself.
//!
//! A norm of a short vector is one block; the product behind it has many, each of which needs all of the vector. The launch
//! stays apart by rule P2 of the paper. Here every block of the product computes the vector again, in shared memory of its
//! own, and goes on with its part of the product. The first block also stores the vector where it belongs, for whoever
//! looks there later. Where the blocks of the second launch have fewer threads, and do not wait for each other, as many of them
//! as fill a block of the first run in one.
//!
//! Invariant: what the first launch reads is written by nobody in the fused one, so that each block computes the same bits; and
//! all that the second loads of it is stored by each block. Whether that is worth it is computed from how often the work is done
//! again, and tested where only a run tells how many blocks there are.

use super::super::group::{Judge, orders};
use super::super::obstacle::{Candidate, candidate, refuse_node, rejection};
use super::super::told_by_first::told_by_first;
use super::super::unfused::name;
use super::super::{
    BlockCopy, FusionGroup, FusionPlan, Member, Missed, Recomputation, ScheduleOptions, ThreadMap,
    ThreadOrder, Variant,
};
use super::stored::{StoredAll, stores_all};
use crate::dependence::{DependenceGraph, Guard, RangeTouch};
use crate::diagnostics::{Rejection, RejectionReason};
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind, Operand, Pointer, Root, ValueId};
use crate::math::expression::{Condition, Expression};
use std::collections::{BTreeMap, BTreeSet};

/// Lets blocks do the work of launches of one block. Pairs that are in one launch then leave `missed`; of others it says
/// why they stay.
pub fn plan_recomputation(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    dependences: &DependenceGraph,
    options: &ScheduleOptions,
    (plan, missed): (&mut FusionPlan, &mut Vec<Missed>),
) {
    // A number of fusions is for bisection, which wants the same groups every time.
    if !options.recomputes || dependences.cut_short || options.max_fusions.is_some() {
        return;
    }
    let sinks: BTreeSet<NodeId> = missed
        .iter()
        .filter(|each| !each.carried)
        .map(|each| each.sink)
        .filter(|node| !has_one_block(graph, *node))
        .collect();
    if sinks.is_empty() {
        return;
    }
    let mut judge = Judge::new(graph, kernels, dependences, options);
    let mut refused: BTreeMap<(NodeId, NodeId), Rejection> = BTreeMap::new();
    let mut joined = BTreeSet::new();
    for sink in sinks {
        let Some(source) = judge.latest_source(sink) else {
            continue;
        };
        if !may_have_one_block(graph, kernels, source) {
            continue;
        }
        let found = judge.with_its_source(plan, dependences, (source, sink));
        match found {
            Ok(group) => {
                joined.insert((source, sink));
                plan.groups.push(group);
            }
            Err(rejection) => {
                refused.insert((source, sink), rejection);
            }
        }
    }
    let nodes: BTreeMap<LaunchId, NodeId> = graph.launches().collect();
    let place = |group: &FusionGroup| nodes.get(&group.members.first()?.launch).copied();
    plan.groups.sort_by_key(place);
    missed.retain(|each| each.carried || !joined.contains(&(each.source, each.sink)));
    for each in missed.iter_mut().filter(|each| !each.carried) {
        // Where not both run each time, that is what has to change first.
        let is_on_one_path = each.rejection.reason != RejectionReason::ControlFlow;
        if let Some(why) = refused.get(&(each.source, each.sink))
            && is_on_one_path
        {
            let named = |node| name(&judge, node);
            each.rejection.message.push_str(&format!(
                "; nor does each block of {} do the work of {} by itself: {}",
                named(each.sink),
                named(each.source),
                why.message
            ));
        }
    }
}

/// Whether a launch has one block, as is known when compiling.
fn has_one_block(graph: &LaunchGraph, node: NodeId) -> bool {
    let NodeKind::Launch(launch) = &graph.nodes[node.0].kind else {
        return false;
    };
    let mut extents = launch.grid.iter();
    extents.all(|extent| graph.extent(*extent).as_constant() == Some(1))
}

/// Whether a run may find that a launch has one block. One whose threads exchange nothing would hardly be made for that.
fn may_have_one_block(graph: &LaunchGraph, kernels: &[KernelModel], node: NodeId) -> bool {
    let NodeKind::Launch(launch) = &graph.nodes[node.0].kind else {
        return false;
    };
    let exchanges = candidate(graph, kernels, node)
        .is_ok_and(|member| !member.model.barriers.is_empty() || member.model.warp_operations);
    let mut extents = launch.grid.iter();
    extents.all(|extent| match graph.extent(*extent).as_constant() {
        Some(extent) => extent == 1,
        None => exchanges,
    })
}

impl<'a> Judge<'a> {
    /// The latest launch that a launch needs something of.
    fn latest_source(&self, sink: NodeId) -> Option<NodeId> {
        let launches = self.graph.launches().map(|(_, node)| node);
        let before = launches.filter(|node| *node < sink);
        let needed = before.filter(|source| {
            let mut edges = self.edges(*source, sink).iter();
            edges.any(|edge| orders(edge))
        });
        needed.max()
    }

    /// The group in which each block of a launch does the work of the one before it.
    fn with_its_source(
        &mut self,
        plan: &mut FusionPlan,
        dependences: &DependenceGraph,
        (source, sink): (NodeId, NodeId),
    ) -> Result<FusionGroup, Rejection> {
        refuse_node(self.graph, source)?;
        let first = candidate(self.graph, self.kernels, source)?;
        let second = candidate(self.graph, self.kernels, sink)?;
        let pair = [first, second];
        // Whichever launch the host comes to behind the first one takes it in, so that each may have a group with it.
        let is_own = |group: &FusionGroup| {
            let begins =
                group.recomputation.is_some() && group.members[0].launch == first.launch.id;
            let mut others = group.members.iter().skip(usize::from(begins));
            others.any(|member| pair.iter().any(|own| own.launch.id == member.launch))
        };
        if plan.groups.iter().any(is_own) {
            let message = String::from("one of them fuses with others");
            return Err(self.refusal(&second, RejectionReason::ControlFlow, message));
        }
        self.are_plain(&pair)?;
        let copies = self.copies(&pair)?;
        let map = self.map_of(&pair)?;
        let group = self.recomputing(pair, copies, map)?;
        self.need_not_wait(plan, dependences, &group, &pair)?;
        Ok(group)
    }

    fn refusal(
        &self,
        member: &Candidate<'a>,
        reason: RejectionReason,
        message: String,
    ) -> Rejection {
        rejection(reason, message, &self.graph.nodes[member.node.0].location)
    }

    /// Nothing of the two is more than loads, stores and barriers.
    fn are_plain(&self, pair: &[Candidate<'a>; 2]) -> Result<(), Rejection> {
        for member in pair {
            let (name, model) = (&member.model.display_name, member.model);
            let what = if self.graph.operation_of(member.launch.id).is_some() {
                "is a set or a copy"
            } else if model.prints {
                "prints"
            } else if model.reads_addresses {
                "looks at addresses"
            } else if model.asynchronous_copies {
                "copies asynchronously"
            } else if model.dynamic_shared {
                "has dynamic shared memory of its own"
            } else {
                continue;
            };
            let message = format!("`{name}` {what}");
            return Err(self.refusal(member, RejectionReason::Unfusable, message));
        }
        let first = &pair[0];
        let accesses = first.model.accesses.iter();
        let mut outside = accesses.filter(|access| !is_shared(&access.target));
        let more = outside.find(|access| {
            let plain = matches!(access.kind, AccessKind::Read | AccessKind::Write);
            !plain || access.volatile
        });
        if let Some(access) = more {
            let message = format!(
                "`{}` updates memory that others see",
                first.model.display_name
            );
            let reason = RejectionReason::Unfusable;
            return Err(rejection(reason, message, &access.location));
        }
        Ok(())
    }

    /// All that the first launch stores, with the second's pointers to it.
    fn copies(&self, pair: &[Candidate<'a>; 2]) -> Result<Vec<BlockCopy>, Rejection> {
        let [first, second] = pair;
        let name = &first.model.display_name;
        let refuse =
            |message: String| Err(self.refusal(second, RejectionReason::UnprovenIndex, message));
        let writes = first.model.accesses.iter();
        let writes = writes.filter(|access| access.kind == AccessKind::Write);
        let targets: BTreeSet<&Target> = writes.map(|access| &access.target).collect();
        let mut copies = Vec::new();
        for target in targets.into_iter().filter(|target| !is_shared(target)) {
            let stored = match target {
                Target::Argument {
                    argument,
                    offset_bytes: 0,
                } if first.model.formals[*argument].is_pointer => *argument,
                _ => return refuse(format!("`{name}` stores through no plain pointer")),
            };
            let StoredAll { bytes, guard } =
                stores_all(self.graph, first, stored).map_err(|what| {
                    let message = format!("`{name}` {what}");
                    self.refusal(second, RejectionReason::UnprovenIndex, message)
                })?;
            if guard.is_some_and(|guard| guard.decided() != Some(true)) {
                return refuse(format!("`{name}` may leave something of it unwritten"));
            }
            let loaded = self.loaded_of(pair, stored, &bytes);
            copies.push(BlockCopy {
                stored,
                loaded,
                bytes,
            });
        }
        if copies.iter().all(|copy| copy.loaded.is_empty()) {
            let own = &second.model.display_name;
            return refuse(format!("`{own}` loads nothing that `{name}` surely stores"));
        }
        Ok(copies)
    }

    /// The pointers of the second launch that lead, or may well lead, to where the first one's does.
    fn loaded_of(
        &self,
        [first, second]: &[Candidate<'a>; 2],
        stored: usize,
        bytes: &Expression<ValueId>,
    ) -> Vec<usize> {
        let Some(whole) = first.launch.pointer_piece(stored, 0) else {
            return Vec::new();
        };
        let formals = second.model.formals.iter().enumerate();
        let pointers = formals.filter(|(_, formal)| formal.is_pointer && !formal.captured);
        let only_read = |argument: &usize| {
            let own = |target: &Target| match target {
                Target::Argument { argument: own, .. } => own == argument,
                _ => false,
            };
            let mut accesses = second.model.accesses.iter();
            let read = |access: &&crate::kernel::Access| own(&access.target);
            let some = accesses.clone().any(|access| read(&access));
            some && accesses
                .all(|access| !read(&access) || access.kind == AccessKind::Read && !access.volatile)
        };
        let pointers = pointers.map(|(argument, _)| argument).filter(only_read);
        let leads_there = |argument: &usize| {
            let Some(piece) = second.launch.pointer_piece(*argument, 0) else {
                return false;
            };
            if piece.value == whole.value {
                return true;
            }
            match (&piece.pointer, &whole.pointer) {
                (Some(own), Some(other)) => match is_same(own, other) {
                    Some(same) => same,
                    // Only its size says so.
                    None => self.is_as_large(second, *argument, bytes),
                },
                _ => false,
            }
        };
        pointers.filter(leads_there).collect()
    }

    /// Whether what a launch touches behind a pointer is at most a number of bytes of the same form.
    fn is_as_large(
        &self,
        member: &Candidate<'a>,
        argument: usize,
        bytes: &Expression<ValueId>,
    ) -> bool {
        let touch = self.touch(member, argument);
        let ends = touch.map(|touch| parts_of_minimum(&touch.range.high_bytes));
        let form = |expression: &Expression<ValueId>| match expression {
            Expression::Multiply(a, b) => match (a.as_ref(), b.as_ref()) {
                (Expression::Constant(scale), Expression::Leaf(_))
                | (Expression::Leaf(_), Expression::Constant(scale)) => Some(*scale),
                _ => None,
            },
            _ => None,
        };
        let own = form(bytes);
        let mut ends = ends.into_iter().flatten();
        match bytes.as_constant() {
            Some(_) => ends.any(|end| end == bytes),
            None => own.is_some() && ends.any(|end| form(end) == own),
        }
    }

    fn touch(&self, member: &Candidate<'a>, argument: usize) -> Option<&RangeTouch> {
        let mut touches = self.memory.ranges(member.node)?.iter();
        touches.find(|touch| argument_of(touch) == Some((argument, 0)))
    }

    /// How the second launch's threads run.
    fn map_of(&self, [first, second]: &[Candidate<'a>; 2]) -> Result<ThreadMap, Rejection> {
        let shapes = [first, second].map(|member| [3, 4, 5].map(|axis| self.extent(member, axis)));
        if shapes[0] == shapes[1] {
            self.threads_in_step(first, second)?;
            return Ok(ThreadMap::Identity);
        }
        let names = [first, second].map(|member| &member.model.display_name);
        let refuse = |what: String| Err(self.refusal(second, RejectionReason::Shape, what));
        let model = second.model;
        if !model.barriers.is_empty() || model.static_shared_bytes > 0 {
            return refuse(format!(
                "a block of `{}` is another one than that of `{}`, and its threads wait for each other",
                names[1], names[0]
            ));
        }
        for member in [first, second] {
            self.threads_are_told_apart(member)?;
        }
        if model.max_threads.is_some() {
            return refuse(format!("`{}` is made for blocks of its own", names[1]));
        }
        let constants = shapes.map(|[x, y, z]| x.multiply(y).multiply(z).as_constant());
        if let [Some(most), Some(own)] = constants
            && own > most
        {
            return refuse(format!(
                "a block of `{}` has {own} threads and one of `{}` {most}",
                names[1], names[0]
            ));
        }
        Ok(ThreadMap::Remapped {
            own: ThreadOrder::Blocks,
            fused: ThreadOrder::Blocks,
            repeats: false,
        })
    }

    /// The group, with all that it tests.
    fn recomputing(
        &mut self,
        pair: [Candidate<'a>; 2],
        copies: Vec<BlockCopy>,
        map: ThreadMap,
    ) -> Result<FusionGroup, Rejection> {
        let [first, second] = pair;
        self.conditions_hold(&pair)?;
        self.conditional = !self.order.in_step(first.node, second.node);
        self.compares_streams = true;
        let moves = self.all_in_order(&pair).and_then(|()| {
            self.streams_allow(&pair)?;
            self.nothing_passed(&[&pair[..1]], &pair, second)
        });
        self.conditional = false;
        self.compares_streams = false;
        moves?;
        let mut guards: BTreeSet<Guard> = BTreeSet::new();
        for member in &pair {
            guards.insert(Guard::ConfigurationValid {
                launch: member.launch.id,
            });
            guards.extend(self.conditions_of(member.node).iter().cloned());
        }
        let recomputation = Recomputation { copies };
        guards.extend(self.same_places(&pair, &recomputation)?);
        guards.extend(self.lead_apart(&pair, &recomputation)?);
        guards.extend(self.costs(&pair, &recomputation, &map)?);
        guards.extend(self.stream_guards(&pair));
        guards.extend(self.questions(&pair));
        let seen = |member: &&Candidate| self.graph.is_seen_in_capture(member.node, member.launch);
        if let Some(seen) = pair.iter().find(seen) {
            let launch = seen.launch.id;
            guards.insert(Guard::NotCapturing { launch });
        }
        guards.retain(Guard::may_fail);
        let guards: BTreeSet<Guard> = guards
            .into_iter()
            .map(|guard| told_by_first(&pair, guard))
            .collect();
        let maps = [ThreadMap::Identity, map];
        let members = pair.iter().zip(maps).enumerate();
        let members = members.map(|(position, (member, map))| Member {
            launch: member.launch.id,
            map,
            barrier_before: position > 0,
        });
        Ok(FusionGroup {
            members: members.collect(),
            layout: LAYOUT.to_owned(),
            layouts: Vec::new(),
            guards: guards.into_iter().collect(),
            unread_afterwards: Vec::new(),
            segments: Vec::new(),
            awaited_copies: self.awaited_copies(&pair),
            issued_before: self.issued_before(&pair).into_iter().collect(),
            partial_guards: Vec::new(),
            variant: Variant::default(),
            grid_barriers: Vec::new(),
            last_block: None,
            front_guards: None,
            early_guards: None,
            recomputation: Some(recomputation),
            tested_loop: None,
            fallback: Vec::new(),
            overlap: None,
        })
    }

    /// What is tested so that the second launch loads what each block has stored, and nothing else, through its pointers
    /// to it.
    fn same_places(
        &self,
        [first, second]: &[Candidate<'a>; 2],
        recomputation: &Recomputation,
    ) -> Result<Vec<Guard>, Rejection> {
        let mut guards = Vec::new();
        for copy in &recomputation.copies {
            let whole = first.launch.pointer_piece(copy.stored, 0);
            for argument in &copy.loaded {
                let own = second.launch.pointer_piece(*argument, 0);
                let pieces = whole.zip(own).zip(self.touch(second, *argument));
                let Some(((whole, own), touch)) = pieces else {
                    let message = String::from("it is not bounded what it loads");
                    return Err(self.refusal(second, RejectionReason::UnprovenIndex, message));
                };
                let pointers = whole.pointer.as_ref().zip(own.pointer.as_ref());
                let same = pointers.and_then(|(one, other)| is_same(one, other));
                if own.value != whole.value && same != Some(true) {
                    let [own, whole] = [own, whole].map(|piece| Expression::Leaf(piece.value));
                    guards.extend(holds("alias", Condition::Equal(own, whole)));
                }
                let range = &touch.range;
                let (low, high) = (&range.low_bytes, &range.high_bytes);
                let begins = parts_of_maximum(low)
                    .iter()
                    .any(|part| part.as_constant().is_some_and(|part| part >= 0));
                if !begins {
                    let zero = Expression::Constant(0);
                    guards.extend(holds("size", Condition::LessEqual(zero, low.clone())));
                }
                let ends = parts_of_minimum(high);
                if !ends.contains(&&copy.bytes) {
                    let shortest = ends.iter().min_by_key(|end| size_of(end));
                    let end = shortest.map_or(high, |end| *end).clone();
                    guards.extend(holds("size", Condition::LessEqual(end, copy.bytes.clone())));
                }
            }
        }
        if let Some(never) = guards.iter().find(|guard| is_false(guard)) {
            let message = format!(
                "`{}` loads other bytes than `{}` stores ({})",
                second.model.display_name,
                first.model.display_name,
                class_of(never)
            );
            return Err(self.refusal(second, RejectionReason::UnprovenIndex, message));
        }
        Ok(guards)
    }

    /// What is tested so that nobody in the fused launch writes what the first launch reads, or touches what it writes other
    /// than by the copies.
    fn lead_apart(
        &self,
        [first, second]: &[Candidate<'a>; 2],
        recomputation: &Recomputation,
    ) -> Result<Vec<Guard>, Rejection> {
        let ranges = [first, second].map(|member| self.memory.ranges(member.node));
        let [Some(own), Some(later)] = ranges else {
            let message = String::from("it is not bounded what they touch");
            return Err(self.refusal(second, RejectionReason::UnprovenIndex, message));
        };
        let from_copy = |stored: &RangeTouch, loading: &RangeTouch| {
            let mut copies = recomputation.copies.iter();
            copies.any(|copy| {
                argument_of(stored) == Some((copy.stored, 0))
                    && argument_of(loading).is_some_and(|(argument, offset)| {
                        offset == 0 && copy.loaded.contains(&argument)
                    })
            })
        };
        let mut apart: Vec<[(&Candidate, &RangeTouch); 2]> = Vec::new();
        for (number, touch) in own.iter().enumerate() {
            let others = own.iter().skip(number + 1);
            apart.extend(
                others
                    .filter(|other| touch.writes || other.writes)
                    .map(|other| [(first, touch), (first, other)]),
            );
            apart.extend(
                later
                    .iter()
                    .filter(|other| touch.writes || other.writes)
                    .filter(|other| !(touch.writes && from_copy(touch, other)))
                    .map(|other| [(first, touch), (second, other)]),
            );
        }
        let mut guards = Vec::new();
        for [left, right] in apart {
            let pointers = [left, right].map(|(member, touch)| {
                let (argument, offset) = argument_of(touch)?;
                let piece = member.launch.pointer_piece(argument, offset)?;
                Some((piece.value, piece.pointer.as_ref()?))
            });
            let [Some((one, of_one)), Some((other, of_other))] = pointers else {
                let message = String::from("not all that they touch is behind their arguments");
                return Err(self.refusal(second, RejectionReason::UnprovenIndex, message));
            };
            if lead_elsewhere(of_one, of_other) {
                continue;
            }
            let meets = one == other || is_same(of_one, of_other) == Some(true);
            let ranges = [left, right].map(|(_, touch)| touch.range.clone());
            let ends = ranges.clone().map(|range| {
                range
                    .low_bytes
                    .as_constant()
                    .zip(range.high_bytes.as_constant())
            });
            let known = match ends {
                [Some((low, high)), Some((from, to))] if meets => Some(high <= from || to <= low),
                _ if meets => Some(false),
                _ => None,
            };
            match known {
                Some(true) => {}
                Some(false) => {
                    let names = [left.0, right.0].map(|member| &member.model.display_name);
                    let message = format!(
                        "what `{}` and `{}` touch is the same, and every block does it",
                        names[0], names[1]
                    );
                    return Err(self.refusal(second, RejectionReason::GlobalDependence, message));
                }
                None => {
                    let [left, right] = ranges;
                    guards.push(Guard::RangesDisjoint { left, right });
                }
            }
        }
        Ok(guards)
    }

    /// What is tested so that there is room for the copies, and that the work is not done too often.
    fn costs(
        &self,
        pair: &[Candidate<'a>; 2],
        recomputation: &Recomputation,
        map: &ThreadMap,
    ) -> Result<Vec<Guard>, Rejection> {
        let [first, second] = pair;
        let number = Expression::Constant;
        let mut guards = Vec::new();
        for axis in 0..3 {
            let one = Condition::Equal(self.extent(first, axis), number(1));
            guards.extend(holds("shape", one));
        }
        let room = pair.iter().map(|member| member.model.static_shared_bytes);
        let room = i64::try_from(room.sum::<u64>()).unwrap_or(i64::MAX);
        let room = MOST_SHARED_BYTES.saturating_sub(room);
        let all = recomputation.begin(recomputation.copies.len());
        guards.extend(holds("space", Condition::LessEqual(all, number(room))));
        for copy in &recomputation.copies {
            let some = Condition::LessEqual(number(1), copy.bytes.clone());
            guards.extend(holds("size", some));
        }
        let threads = |member: &Candidate| {
            let [x, y, z] = [3, 4, 5].map(|axis| self.extent(member, axis));
            x.multiply(y).multiply(z)
        };
        let [x, y, z] = [0, 1, 2].map(|axis| self.extent(second, axis));
        let blocks = x.multiply(y).multiply(z);
        let all_threads = blocks.multiply(threads(second));
        let of_block = threads(first);
        if *map != ThreadMap::Identity {
            let most = number(i64::from(i32::MAX));
            guards.extend(holds(
                "threads",
                Condition::LessEqual(all_threads.clone(), most),
            ));
            if second.model.warp_operations {
                for member in pair {
                    let own = threads(member);
                    let warps = own.clone().floor_divide(number(32)).multiply(number(32));
                    guards.extend(holds("divisible", Condition::Equal(own, warps)));
                }
            }
        }
        // Each further round of blocks on the device costs what the first launch takes; that saves a launch.
        let takes = super::super::beside_cost::of_block(first.model).max(1);
        let rounds = 1 + i64::try_from(LAUNCH_NANOSECONDS / takes).unwrap_or(0);
        let most = number(rounds.min(MOST_ROUNDS) * THREADS_AT_ONCE);
        guards.extend(holds(
            "work",
            Condition::LessEqual(all_threads.clone(), most),
        ));
        let touched = self.memory.ranges(first.node).into_iter().flatten();
        let bytes = touched.fold(number(0), |sum, touch| {
            let range = touch.range.clone();
            sum.add(range.high_bytes.subtract(range.low_bytes))
        });
        let again = bytes.multiply(all_threads);
        let most = of_block.multiply(number(MOST_REPEATED_BYTES));
        guards.extend(holds("work", Condition::LessEqual(again, most)));
        if let Some(never) = guards.iter().find(|guard| is_false(guard)) {
            let message = match class_of(never) {
                "space" => "there is not so much shared memory",
                "divisible" => "its blocks are no whole warps",
                _ => "there are so many of them that this would take longer",
            };
            let message = message.to_owned();
            return Err(self.refusal(second, RejectionReason::Resources, message));
        }
        Ok(guards)
    }
}

fn is_shared(target: &Target) -> bool {
    matches!(target, Target::Shared(_) | Target::UnknownShared)
}

/// The argument behind which a range lies, and where in it the pointer stands.
fn argument_of(touch: &RangeTouch) -> Option<(usize, u32)> {
    match touch.range.operand {
        Operand::Argument {
            argument,
            offset_bytes,
            ..
        } => Some((argument, offset_bytes)),
        _ => None,
    }
}

/// Whether two pointers lead to the same byte, where that is known.
fn is_same(one: &Pointer, other: &Pointer) -> Option<bool> {
    if lead_elsewhere(one, other) {
        return Some(false);
    }
    let offsets = one.offset_bytes.as_ref().zip(other.offset_bytes.as_ref());
    let (a, b) = offsets?;
    if matches!(one.root, Root::Value(_)) && one.root == other.root && a == b {
        return Some(true);
    }
    None
}

/// Whether two pointers lead into different allocations.
fn lead_elsewhere(one: &Pointer, other: &Pointer) -> bool {
    match (&one.may_point_to, &other.may_point_to) {
        (Some(one), Some(other)) => !one.iter().any(|buffer| other.contains(buffer)),
        _ => false,
    }
}

/// What a maximum is at least.
fn parts_of_maximum(expression: &Expression<ValueId>) -> Vec<&Expression<ValueId>> {
    match expression {
        Expression::Maximum(a, b) => [parts_of_maximum(a), parts_of_maximum(b)].concat(),
        other => vec![other],
    }
}

/// What a minimum is at most.
fn parts_of_minimum(expression: &Expression<ValueId>) -> Vec<&Expression<ValueId>> {
    match expression {
        Expression::Minimum(a, b) => [parts_of_minimum(a), parts_of_minimum(b)].concat(),
        other => vec![other],
    }
}

/// How many parts an expression has.
fn size_of(expression: &Expression<ValueId>) -> usize {
    match expression {
        Expression::Constant(_) | Expression::Leaf(_) => 1,
        Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::FloorDivide(a, b)
        | Expression::Minimum(a, b)
        | Expression::Maximum(a, b) => 1 + size_of(a) + size_of(b),
    }
}

fn holds(class: &str, condition: Condition<ValueId>) -> Option<Guard> {
    let class = class.to_owned();
    let decided = condition.decided() == Some(true);
    (!decided).then_some(Guard::Holds { class, condition })
}

fn is_false(guard: &Guard) -> bool {
    match guard {
        Guard::Holds { condition, .. } => condition.decided() == Some(false),
        _ => false,
    }
}

fn class_of(guard: &Guard) -> &str {
    match guard {
        Guard::Holds { class, .. } => class,
        _ => "",
    }
}

/// The name of this layout in reports.
const LAYOUT: &str = "recomputed";
/// A launch has as much without asking for more.
const MOST_SHARED_BYTES: i64 = 48 * 1024;
/// What a launch costs beside what its blocks do, as the cost model of `beside_cost` has it.
const LAUNCH_NANOSECONDS: u64 = super::super::beside_cost::LAUNCH_NANOSECONDS;
/// Threads that the device of the cost model runs at once.
const THREADS_AT_ONCE: i64 = 108 * 2048;
/// However little the work is.
const MOST_ROUNDS: i64 = 8;
/// So much may all blocks load again together: what the second cache brings in the time of a launch.
const MOST_REPEATED_BYTES: i64 = 8 << 20;
