//! Iterations of a host loop that run ahead in the kernel of a cooperative group, which computes itself whether the host would
//! go on.
//!
//! The host goes through its loop afterwards, as it is written. It must not be able to tell, and no iteration must have run
//! that it does not come to. So it is asked
//!
//! - that the loop does nothing but the members, copies to the host between phases and behind them, and what neither sees
//!   memory of the device nor is seen by it: all of it once in each iteration, in this order;
//! - that the host leaves it between phases or behind them: what it decides in front of the first member it decides for the
//!   next iteration. The launch graph says by what it decides ([`LoopTest`]), which is arithmetic on what copies of the
//!   iteration have brought by then, on numbers that iterations hand on, and on what does not change in the loop;
//! - that all threads compute that from the same bytes: all blocks wait behind the members before they read what a copy
//!   reads, and, unless nothing in front of the next grid-wide barrier writes there, again behind that;
//! - that what launches take is what they take in the first iteration, pointers that change places, or numbers that the
//!   launch graph says how to compute;
//! - that guards, which are tested in front of the first iteration, for each place that pointers have, say the same of all;
//! - that any two iterations may follow each other with a barrier across the grid between them (`persistent`).
//!
//! There is room for so many iterations only; where the host would go on behind them, it finds itself in an iteration that has
//! not run, of which all is as if the others had been launched one by one.

use super::super::persistent;
use super::super::{Refusal, Site};
use crate::dependence::Guard;
use crate::kernel::{AccessKind, KernelModel, Target};
use crate::launch::{
    Awaited, HostBlockId, LaunchGraph, LaunchId, LoopArgument, LoopArgumentValue, LoopTest, NodeId,
    NodeKind, Root, ScalarKind, ScalarType, Stream, ValueId,
};
use crate::schedule::{FusionGroup, MOST_ITERATIONS_AHEAD, TestedLoop};

/// What speaks against the loop of a group, if it has one.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    (group, members): (&FusionGroup, &[Site<'_>]),
) -> Vec<Refusal> {
    let Some(tested) = &group.tested_loop else {
        return Vec::new();
    };
    let first = members[0].launch.id;
    let refuse = |what: &str| {
        let what = what.to_owned();
        vec![Refusal::TestedLoop { first, what }]
    };
    if !group.is_cooperative()
        || group.last_block.is_some()
        || group.recomputation.is_some()
        || group.is_partial()
    {
        return refuse("its blocks do not wait for each other");
    }
    let Some(Ok(test)) = graph.loop_tests.get(&tested.host_loop) else {
        return refuse("nothing says by what the host decides");
    };
    let own = Loop {
        graph,
        tested,
        test,
        members,
    };
    // Each relies on those before.
    let what = (own.unfit_test())
        .or_else(|| own.something_else())
        .or_else(|| own.out_of_order(group))
        .or_else(|| own.changing())
        .or_else(|| own.unsteady(group))
        .or_else(|| own.overwritten(group));
    if let Some(what) = what {
        return refuse(what);
    }
    match persistent::in_sequence(graph, kernels, group, members, &tested.places()) {
        Ok(refusals) => refusals,
        Err(what) => refuse(what),
    }
}

struct Loop<'a> {
    graph: &'a LaunchGraph,
    tested: &'a TestedLoop,
    test: &'a LoopTest,
    members: &'a [Site<'a>],
}

impl Loop<'_> {
    /// What is wrong with the plan's test, or with that of the launch graph.
    fn unfit_test(&self) -> Option<&'static str> {
        let (tested, test) = (self.tested, self.test);
        if !(1..=MOST_ITERATIONS_AHEAD).contains(&tested.most_iterations) {
            return Some("there is no room for so many iterations");
        }
        if test.host_loop != tested.host_loop || test.exits.iter().all(|exit| exit.stays.is_none())
        {
            return Some("nothing ends it");
        }
        let copies = test.copies.iter().map(|copy| copy.node);
        if tested.copies.is_empty() || !copies.eq(tested.copies.iter().map(|copy| copy.node)) {
            return Some("its copies are not those by which the host decides");
        }
        let is_bit = |scalar: &usize| {
            let scalar = test.scalars.get(*scalar);
            scalar.is_some_and(|scalar| scalar.ty == ScalarType::Integer(1))
        };
        let mut exits = test.exits.iter().filter_map(|exit| exit.stays.as_ref());
        if !exits.all(is_bit) {
            return Some("the host decides by what is neither true nor false");
        }
        let fits = |(at, kind): (usize, &ScalarKind)| match kind {
            ScalarKind::Literal(_) | ScalarKind::Host(_) => true,
            ScalarKind::Copied { copy, offset_bytes } => {
                let bytes = test.copies.get(*copy).map_or(0, |copy| copy.bytes);
                let end = offset_bytes.checked_add(test.scalars[at].ty.bytes());
                end.is_some_and(|end| end <= bytes)
            }
            ScalarKind::Carried(number) => *number < test.carried.len(),
            ScalarKind::Computed { operands, .. } => operands.iter().all(|operand| *operand < at),
        };
        let mut scalars = test.scalars.iter().map(|scalar| &scalar.kind).enumerate();
        let hands_on = |next: usize, ty: ScalarType| {
            let scalar = test.scalars.get(next);
            scalar.is_some_and(|scalar| scalar.ty == ty)
        };
        let mut carried = test.carried.iter();
        let mut arguments = test.arguments.iter().map(|argument| match argument.value {
            LoopArgumentValue::HandedOn(scalar) | LoopArgumentValue::Computed(scalar) => scalar,
        });
        if !scalars.all(fits)
            || !carried.all(|each| hands_on(each.next, each.ty))
            || !arguments.all(|scalar| scalar < test.scalars.len())
        {
            return Some("a number by which the host decides comes from nowhere");
        }
        let known = tested.copies.iter().zip(&test.copies);
        let mut known = known.map(|(planned, copy)| self.reads(planned.node, copy.bytes));
        (!known.all(|known| known)).then_some("it is not known what a copy reads")
    }

    /// Whether a copy reads so many bytes of the device, at one place in all iterations.
    fn reads(&self, node: NodeId, copied: u32) -> bool {
        let Some(NodeKind::Copy {
            reads,
            writes,
            host_side: true,
            ..
        }) = self.graph.nodes.get(node.0).map(|node| &node.kind)
        else {
            return false;
        };
        let [touch] = reads.as_slice() else {
            return false;
        };
        let bytes = touch.bytes.as_ref().and_then(|bytes| bytes.as_constant());
        let place = self.graph.iterations.touched.get(&node);
        let moves = place.is_some_and(|values| {
            let mut values = values.iter().flatten();
            values.any(|value| self.varies(*value))
        });
        writes.is_empty() && bytes == Some(i64::from(copied)) && !moves
    }

    /// What the loop does besides.
    fn something_else(&self) -> Option<&'static str> {
        let graph = self.graph;
        let own = |node: NodeId| self.members.iter().any(|member| member.node == node);
        let inside =
            |block: HostBlockId| graph.loops_around(block).contains(&self.tested.host_loop);
        let mut others = graph.nodes.iter().filter(|node| inside(node.block));
        let harmless = |kind: &NodeKind| {
            matches!(
                kind,
                NodeKind::ErrorCheck
                    | NodeKind::Output { .. }
                    | NodeKind::Synchronise(Awaited::Device | Awaited::Stream(_))
            )
        };
        let known = others.all(|node| {
            let mut copies = self.tested.copies.iter();
            own(node.id) || copies.any(|copy| copy.node == node.id) || harmless(&node.kind)
        });
        (!known).then_some("the host does something else in it")
    }

    /// Whether members, copies and decisions are not all there once in each iteration, one after the other, copies and decisions
    /// between phases.
    fn out_of_order(&self, group: &FusionGroup) -> Option<&'static str> {
        let graph = self.graph;
        let mut nodes: Vec<NodeId> = Vec::new();
        for position in 0..=self.members.len() {
            let copies = self.tested.copies.iter();
            let copies = copies.filter(|copy| copy.after == position);
            nodes.extend(copies.map(|copy| copy.node));
            nodes.extend(self.members.get(position).map(|member| member.node));
        }
        if nodes.len() != self.members.len() + self.tested.copies.len() {
            return Some("a copy is nowhere among its launches");
        }
        let block = |node: &NodeId| graph.nodes[node.0].block;
        let in_order = nodes.windows(2).all(|pair| {
            let [one, next] = [block(&pair[0]), block(&pair[1])];
            match one == next {
                true => pair[0] < pair[1],
                false => self.dominates(one, next),
            }
        });
        if !in_order {
            return Some("its launches and copies do not come one after the other");
        }
        let boundary = |at: usize| at == self.members.len() || group.grid_barriers.contains(&at);
        if !self.tested.copies.iter().all(|copy| boundary(copy.after)) {
            return Some("a copy stands between launches of one phase");
        }
        let header = graph.loops.get(self.tested.host_loop)?.header;
        let inside =
            |block: HostBlockId| graph.loops_around(block).contains(&self.tested.host_loop);
        let all = || {
            (0..graph.blocks.len())
                .map(HostBlockId)
                .filter(|block| inside(*block))
        };
        let back: Vec<HostBlockId> = all()
            .filter(|from| graph.blocks[from.0].successors.contains(&header))
            .collect();
        let always = |block: HostBlockId| {
            graph.blocks[block.0].innermost_loop == Some(self.tested.host_loop)
                && back.iter().all(|from| self.dominates(block, *from))
        };
        if !nodes.iter().all(|node| always(block(node))) {
            return Some("a launch or copy is not in each iteration");
        }
        let first = block(nodes.first()?);
        for end in all() {
            let mut next = graph.blocks[end.0].successors.iter();
            if !next.any(|next| !inside(*next)) {
                continue;
            }
            let mut exits = self.test.exits.iter();
            let Some(exit) = exits.find(|exit| exit.block == end) else {
                return Some("the host leaves it where nothing says why");
            };
            // Each way through an iteration meets the first launch once.
            let before = end != first && !self.dominates(first, end);
            if exit.of_next != before {
                return Some("a decision is about another iteration");
            }
            if before {
                continue;
            }
            let passed = self.members.iter();
            let passed = passed.filter(|member| self.dominates(block(&member.node), end));
            let passed = passed.count();
            if !boundary(passed)
                || exit
                    .stays
                    .is_some_and(|scalar| !self.is_known(scalar, passed))
            {
                return Some("the host may leave it between launches of one phase");
            }
        }
        None
    }

    /// Whether a scalar rests on copies alone that come before the member at a position.
    fn is_known(&self, scalar: usize, position: usize) -> bool {
        match &self.test.scalars[scalar].kind {
            ScalarKind::Copied { copy, .. } => {
                let copy = self.tested.copies.get(*copy);
                copy.is_some_and(|copy| copy.after <= position)
            }
            ScalarKind::Computed { operands, .. } => {
                let mut operands = operands.iter();
                operands.all(|operand| self.is_known(*operand, position))
            }
            ScalarKind::Literal(_) | ScalarKind::Host(_) | ScalarKind::Carried(_) => true,
        }
    }

    /// What launches take that is another thing in another iteration.
    fn changing(&self) -> Option<&'static str> {
        let turns = |place: &(LaunchId, usize)| {
            let mut turning = self.tested.turning.iter();
            turning.any(|[own, _]| own == place)
        };
        for (position, member) in self.members.iter().enumerate() {
            let launch = member.launch;
            if member.model.prints || member.model.asynchronous_copies {
                return Some("a launch rests on the end of the one before");
            }
            let mut shape = launch.grid.iter().chain(&launch.block);
            let stream = match launch.stream {
                Stream::Default => None,
                Stream::Handle(value) => Some(value),
                Stream::Unknown => return Some("the stream of a launch is not known"),
            };
            if shape.any(|value| self.varies(*value))
                || self.varies(launch.shared_bytes)
                || stream.is_some_and(|value| self.varies(value))
            {
                return Some("a launch has another shape in each iteration");
            }
            for (index, argument) in launch.arguments.iter().enumerate() {
                if turns(&(launch.id, index)) {
                    continue;
                }
                if self.tested.varying.contains(&(launch.id, index)) {
                    let mut told = self.test.arguments.iter();
                    let own =
                        |own: &&LoopArgument| own.node == member.node && own.argument == index;
                    match told.find(own).map(|own| own.value) {
                        Some(LoopArgumentValue::HandedOn(_)) => {}
                        Some(LoopArgumentValue::Computed(scalar))
                            if self.is_known(scalar, position) => {}
                        _ => return Some("nothing says what number a launch takes"),
                    }
                    continue;
                }
                let mut pieces = argument.pieces.iter();
                let same = argument.identity.is_some_and(|value| !self.varies(value))
                    && pieces.all(|piece| !self.varies(piece.value));
                if !same {
                    return Some("a launch takes something else in each iteration");
                }
            }
        }
        None
    }

    /// Guards that say something else in another iteration.
    fn unsteady(&self, group: &FusionGroup) -> Option<&'static str> {
        let steady = |expression: &crate::math::expression::Expression<ValueId>| {
            let same = &mut |value: &ValueId| {
                (!self.varies(*value)).then_some(crate::math::expression::Expression::Leaf(*value))
            };
            expression.substitute(same).is_some()
        };
        let says_the_same = |guard: &Guard| match guard {
            Guard::Holds { condition, .. } => {
                let same = &mut |value: &ValueId| {
                    (!self.varies(*value))
                        .then_some(crate::math::expression::Expression::Leaf(*value))
                };
                condition.substitute(same).is_some()
            }
            Guard::RangesDisjoint { left, right } | Guard::SameOrDisjoint { left, right } => {
                [left, right]
                    .into_iter()
                    .all(|range| steady(&range.low_bytes) && steady(&range.high_bytes))
            }
            // Of pointers that change places all places are tested.
            Guard::DeviceMemory { .. }
            | Guard::ConfigurationValid { .. }
            | Guard::NotCapturing { .. }
            | Guard::Resident { .. }
            | Guard::SameStream { .. } => true,
        };
        let all = group.guards.iter().all(says_the_same);
        (!all).then_some("what is tested may be otherwise in another iteration")
    }

    /// Whether some block may read what a copy reads while another one still writes it, or writes it again.
    fn overwritten(&self, group: &FusionGroup) -> Option<&'static str> {
        for copy in &self.tested.copies {
            if !copy.barrier_before {
                return Some("a block may look at what others still write");
            }
            let begin = copy.after % self.members.len();
            let mut phases = group.phases().into_iter();
            let next = phases.find(|phase| phase.start == begin)?;
            let next = self.members.get(next)?;
            if !copy.barrier_behind && self.may_write(next, copy.node) {
                return Some("a block may look at what others write behind it");
            }
        }
        None
    }

    /// Whether some members may write what a copy reads.
    fn may_write(&self, members: &[Site<'_>], copy: NodeId) -> bool {
        let read = match &self.graph.nodes[copy.0].kind {
            NodeKind::Copy { reads, .. } => reads.first().map(|read| &read.pointer.root),
            _ => None,
        };
        let Some(Root::Buffer(read)) = read else {
            return true;
        };
        members.iter().any(|member| {
            let accesses = member.model.accesses.iter();
            let mut writes = accesses.filter(|access| access.kind != AccessKind::Read);
            writes.any(|access| match &access.target {
                Target::Shared(_) | Target::UnknownShared => false,
                Target::Global(_) | Target::Unknown => true,
                Target::Argument {
                    argument,
                    offset_bytes,
                } => {
                    let pointer = member.launch.pointer(*argument, *offset_bytes);
                    let led = pointer.and_then(|pointer| pointer.may_point_to.as_ref());
                    led.is_none_or(|led| led.contains(read))
                }
            })
        })
    }

    fn varies(&self, value: ValueId) -> bool {
        let Some(value) = self.graph.values.get(value.0) else {
            return true;
        };
        let mut at = value.varies_in;
        while let Some(index) = at {
            if index == self.tested.host_loop {
                return true;
            }
            at = self.graph.loops[index].parent;
        }
        false
    }

    fn dominates(&self, dominator: HostBlockId, block: HostBlockId) -> bool {
        let mut at = Some(block);
        while let Some(block) = at {
            if block == dominator {
                return true;
            }
            at = self.graph.blocks[block.0].immediate_dominator;
        }
        false
    }
}
