//! Launches in which every block does the work of one block by itself.
//!
//! The first member has one block. Each block of the fused launch runs all of it, storing to shared memory of its own; all
//! its threads wait; then it runs its part of the second member, which loads from there. The first block also stores what it
//! has there to where it belongs, at some time. Each block computes what the one block did, and finds it where it loads, if
//!
//! - the first member does nothing but to load and to store, and all its stores go to copies;
//! - nothing that it loads is written in the launch: not by the second member, nor by its own stores, whatever the threads. These
//!   are asked for as of launches side by side, which keep no order at all;
//! - nothing else of the second member touches what it stores;
//! - each byte of a copy is stored, by one statement that reaches every element below some number, and the second member's pointers to
//!   it are the first one's, go nowhere else, and stay within;
//! - nobody looks at the addresses;
//! - the block is that of the first member, so that its threads meet as in its own launch. The second one's are the same, or
//!   are counted: then they neither wait for each other nor share memory, and warps stay what they are;
//! - there is room for the copies.
//!
//! Each member by itself is judged as a group of its own.
//!
//! Several such groups may begin with one launch (`begins_several`): it waits in one place, and the second member that the host comes
//! to first takes it from there. Another one that comes then finds nothing there, and runs as it is written, behind what the
//! fused launch has stored. It waits on ways to some of their second members only, each of which is judged for the group of that member.

use super::super::conflict::Answers;
use super::super::device::{self, assumptions, guarded_values, meetings};
use super::super::expansion::Moved;
use super::super::formula::{Assumptions, Formula};
use super::super::grid_barriers::parameter_bytes;
use super::super::member::Member;
use super::super::place::Values;
use super::super::polynomial::{Polynomial, normal_form};
use super::super::{Refusal, Site};
use crate::dependence::Guard;
use crate::kernel::{Access, AccessKind, Target};
use crate::launch::{LaunchGraph, LaunchId};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::Condition;
use crate::schedule::{BlockCopy, FusionGroup, FusionPlan, Recomputation, ThreadMap, ThreadOrder};
use std::collections::BTreeSet;

/// What speaks against a group in which blocks do the first member's work.
pub(in crate::verify) fn refusals(
    graph: &LaunchGraph,
    plan: &FusionPlan,
    (group, sites): (&FusionGroup, &[Site<'_>]),
    answers: &mut Answers,
) -> Vec<Refusal> {
    let first = group.members[0].launch;
    let refuse = |what: &str| {
        let what = what.to_owned();
        vec![Refusal::Recomputed { first, what }]
    };
    let Some(recomputation) = &group.recomputation else {
        return Vec::new();
    };
    if let Some(what) = malformed(graph, plan, group, sites) {
        return refuse(what);
    }
    let mut refusals = Vec::new();
    for (member, site) in group.members.iter().zip(sites) {
        let by_itself = alone(group, member);
        let site = std::slice::from_ref(site);
        let moved = Moved::default();
        refusals.extend(device::refusals(graph, &by_itself, site, &moved, answers));
    }
    let values = guarded_values(graph, &group.guards, sites);
    let members: Vec<Member<'_>> = sites
        .iter()
        .map(|site| Member::new(graph, &values, site.launch, site.model))
        .collect();
    let [one, other] = members.as_slice() else {
        return refuse("there are not two members");
    };
    let known = assumptions(&group.guards, &values, &members);
    let asked = Asked {
        values: &values,
        known: &known,
        members: [one, other],
    };
    if let Some(what) = asked.shapes(group).or_else(|| asked.copies(recomputation)) {
        refusals.extend(refuse(what));
        return refusals;
    }
    let pairs = asked.apart(recomputation);
    refusals.extend(meetings(graph, group, sites, answers, &pairs));
    let bytes = parameter_bytes(&members, members.len());
    if bytes > MOST_PARAMETER_BYTES {
        refusals.push(Refusal::ParameterSpace { first, bytes });
    }
    refusals
}

/// Whether all groups that have a launch begin with it, and let blocks do its work.
pub(in crate::verify) fn begins_several(plan: &FusionPlan, launch: LaunchId) -> bool {
    plan.groups.iter().all(|group| {
        let mut places = group.members.iter().map(|member| member.launch == launch);
        let begins = places.next() == Some(true) && group.recomputation.is_some();
        let later = places.any(|own| own);
        !later
            && (begins
                || group
                    .members
                    .first()
                    .is_none_or(|first| first.launch != launch))
    })
}

/// A member as a group of its own.
fn alone(group: &FusionGroup, member: &crate::schedule::Member) -> FusionGroup {
    FusionGroup {
        members: vec![crate::schedule::Member {
            launch: member.launch,
            map: ThreadMap::Identity,
            barrier_before: false,
        }],
        front_guards: None,
        early_guards: None,
        recomputation: None,
        ..group.clone()
    }
}

/// What such a group cannot be.
fn malformed(
    graph: &LaunchGraph,
    plan: &FusionPlan,
    group: &FusionGroup,
    sites: &[Site<'_>],
) -> Option<&'static str> {
    if group.is_cooperative() || group.last_block.is_some() || group.tested_loop.is_some() {
        return Some("it is made in another way, too");
    }
    if group.overlap.is_some() {
        return Some("it begins before the launch before it has ended");
    }
    if !group.unread_afterwards.is_empty() || !group.segments.is_empty() {
        return Some("something that is written is called unread, or members are interleaved");
    }
    let [first, second] = group.members.as_slice() else {
        return Some("there are not two members");
    };
    if first.map != ThreadMap::Identity || first.barrier_before {
        return Some("the first member does not keep its threads");
    }
    if !second.barrier_before {
        return Some("threads do not wait for what the others of their block compute");
    }
    let is_operation = |site: &Site<'_>| graph.operation_of(site.launch.id).is_some();
    if sites
        .iter()
        .any(|site| is_operation(site) || site.model.prints)
    {
        return Some("a member prints, or is a set or a copy");
    }
    let addressed = |site: &Site<'_>| site.model.reads_addresses || site.model.asynchronous_copies;
    if sites.iter().any(addressed) {
        return Some("a member looks at addresses, or copies asynchronously");
    }
    if sites.iter().any(|site| site.model.dynamic_shared) {
        return Some("a member has dynamic shared memory of its own");
    }
    let regions = plan.batched_regions.iter();
    let mut statements = regions.flat_map(|region| &region.statements);
    let is_own = |launch| sites.iter().any(|site| site.launch.id == launch);
    if statements.any(|statement| is_own(statement.launch)) {
        return Some("a member waits for a batch");
    }
    None
}

/// Two members under the guards of their group.
struct Asked<'a> {
    values: &'a Values<'a>,
    known: &'a Assumptions,
    members: [&'a Member<'a>; 2],
}

impl Asked<'_> {
    fn at_most(&self, value: &Polynomial, most: &Polynomial) -> bool {
        match value.as_constant().zip(most.as_constant()) {
            Some((value, most)) => value <= most,
            None => Formula::less_equal(value, most).is_some_and(|bound| self.known.imply(&bound)),
        }
    }

    /// What is wrong with grids and blocks.
    fn shapes(&self, group: &FusionGroup) -> Option<&'static str> {
        let [first, second] = self.members;
        let one = Polynomial::constant(1);
        if !(0..3).all(|axis| self.known.equal(&first.extents[axis], &one)) {
            return Some("the first member may have more than one block");
        }
        match &group.members[1].map {
            ThreadMap::Identity => {
                for axis in 3..6 {
                    let [own, other] = self.members.map(|member| &member.extents[axis]);
                    if !self.known.equal(own, other) {
                        return Some("the members may have other blocks");
                    }
                    let [own, other] = self
                        .members
                        .map(|member| member.model.distinguishes_threads[axis - 3]);
                    if own != other && !self.known.equal(&first.extents[axis], &one) {
                        return Some("threads run in step in one of the members alone");
                    }
                }
                None
            }
            ThreadMap::Remapped {
                own: ThreadOrder::Blocks,
                fused: ThreadOrder::Blocks,
                repeats: false,
            } => self.counted([first, second], &group.guards),
            _ => Some("the second member's threads run in another way"),
        }
    }

    /// What keeps the second member's threads from being counted, and as many running in a block as the first has.
    fn counted(&self, [first, second]: [&Member<'_>; 2], guards: &[Guard]) -> Option<&'static str> {
        let one = Polynomial::constant(1);
        let model = second.model;
        let shared =
            |access: &Access| matches!(access.target, Target::Shared(_) | Target::UnknownShared);
        if !model.barriers.is_empty() || model.accesses.iter().any(shared) {
            return Some("threads of the second member's blocks meet");
        }
        let in_step = |member: &Member<'_>| {
            let told = member.model.distinguishes_threads;
            (0..3).any(|axis| !told[axis] && !self.known.equal(&member.extents[3 + axis], &one))
        };
        if in_step(first) || in_step(second) {
            return Some("threads that a member does not tell apart run in step there");
        }
        let product = |extents: &[Polynomial]| {
            let mut product = Polynomial::constant(1);
            for extent in extents {
                product = product.multiply(extent)?;
            }
            Some(product)
        };
        let [of_first, of_second] = [first, second].map(|member| product(&member.extents[3..]));
        let (Some(of_first), Some(of_second), Some(all)) =
            (of_first, of_second, product(&second.extents))
        else {
            return Some("threads are not countable");
        };
        if !self.at_most(&all, &Polynomial::constant(i64::from(i32::MAX))) {
            return Some("there may be more threads than are countable");
        }
        if let Some(most) = model.max_threads
            && !self.at_most(&of_first, &Polynomial::constant(most.into()))
        {
            return Some("the second member is made for smaller blocks");
        }
        let whole_warps = |threads: &Polynomial| {
            let is_tested = |guard: &Guard| self.says_of_warps(guard, threads);
            let mut factors = threads.terms.values();
            factors.all(|factor| factor % 32 == 0) || guards.iter().any(is_tested)
        };
        if model.warp_operations && !(whole_warps(&of_first) && whole_warps(&of_second)) {
            return Some("warps of the second member may be taken apart");
        }
        None
    }

    /// Whether a guard says of a number of threads that it is 32 times what is left of a division by 32.
    fn says_of_warps(&self, guard: &Guard, threads: &Polynomial) -> bool {
        let Guard::Holds {
            condition: Condition::Equal(own, warps),
            ..
        } = guard
        else {
            return false;
        };
        let resolve = &mut |value: &_| Some(self.values.resolve(*value));
        let sides = (normal_form(own, resolve), normal_form(warps, resolve));
        let whole = threads.floor_divide(&Polynomial::constant(32));
        let whole = whole.and_then(|whole| whole.scale(32));
        matches!((sides, whole), ((Some(own), Some(warps)), Some(whole)) if own == *threads && warps == whole)
    }

    /// What is wrong with the copies.
    fn copies(&self, recomputation: &Recomputation) -> Option<&'static str> {
        let [first, second] = self.members;
        let outside =
            |access: &&Access| !matches!(access.target, Target::Shared(_) | Target::UnknownShared);
        for access in first.model.accesses.iter().filter(outside) {
            if access.volatile || access.asynchronous {
                return Some("the first member talks to others");
            }
            match (access.kind, &access.target) {
                (AccessKind::Read, _) => {}
                (
                    AccessKind::Write,
                    Target::Argument {
                        argument,
                        offset_bytes: 0,
                    },
                ) if recomputation
                    .copies
                    .iter()
                    .any(|copy| copy.stored == *argument) => {}
                (AccessKind::Write, _) => return Some("the first member stores elsewhere, too"),
                _ => return Some("the first member updates memory"),
            }
        }
        let (mut stored, mut loaded) = (BTreeSet::new(), BTreeSet::new());
        let mut all = Polynomial::default();
        let unit = Polynomial::constant(crate::schedule::COPY_ALIGNMENT - 1);
        for copy in &recomputation.copies {
            if !stored.insert(copy.stored) {
                return Some("something is copied twice");
            }
            let resolve = &mut |value: &_| Some(self.values.resolve(*value));
            let Some(bytes) = normal_form(&copy.bytes, resolve) else {
                return Some("it is not known how long a copy is");
            };
            if !self.at_most(&Polynomial::constant(1), &bytes) {
                return Some("a copy may be empty");
            }
            if !self.is_stored(first, copy.stored, &bytes) {
                return Some("a byte of a copy may not be stored, or be looked at before");
            }
            for argument in &copy.loaded {
                if !loaded.insert(*argument) {
                    return Some("something is loaded from two copies");
                }
                if let Some(what) = self.loads_within(second, *argument, copy, &bytes) {
                    return Some(what);
                }
            }
            all = match all.add(&bytes).and_then(|all| all.add(&unit)) {
                Some(all) => all,
                None => return Some("it is not known how long the copies are"),
            };
        }
        let fixed = self.members.map(|member| member.model.static_shared_bytes);
        let Ok(fixed) = i64::try_from(fixed.iter().sum::<u64>()) else {
            return Some("there is no room for the copies");
        };
        // Rounding up takes no more than is added above; that a test says as much of the rounded sum is as good.
        let room = Polynomial::constant(MOST_SHARED_BYTES - fixed);
        let resolve = &mut |value: &_| Some(self.values.resolve(*value));
        let exact = normal_form(&recomputation.begin(recomputation.copies.len()), resolve);
        let fits = exact.is_some_and(|exact| self.at_most(&exact, &room));
        (!fits && !self.at_most(&all, &room)).then_some("there may be no room for the copies")
    }

    /// Whether the second member's pointer is that of a copy, and what it loads there is within.
    fn loads_within(
        &self,
        member: &Member<'_>,
        argument: usize,
        copy: &BlockCopy,
        bytes: &Polynomial,
    ) -> Option<&'static str> {
        let formal = member.model.formals.get(argument);
        if !formal.is_some_and(|formal| formal.is_pointer && !formal.captured) {
            return Some("a copy is loaded through no plain pointer");
        }
        let value = |member: &Member<'_>, argument: usize| {
            let piece = member.launch.pointer_piece(argument, 0)?;
            Some(self.values.resolve(piece.value))
        };
        let pointers = value(self.members[0], copy.stored).zip(value(member, argument));
        if pointers.is_none_or(|(one, other)| one != other) {
            let places = |member: &Member<'_>, argument: usize| {
                let piece = member.launch.pointer_piece(argument, 0)?;
                piece.pointer.clone()
            };
            let same = places(self.members[0], copy.stored).zip(places(member, argument));
            let is_same = same.is_some_and(|(one, other)| {
                one.root.buffer().is_none()
                    && one.root == other.root
                    && one.offset_bytes.is_some()
                    && one.offset_bytes == other.offset_bytes
            });
            if !is_same {
                return Some("a copy may be loaded by another pointer than it is stored by");
            }
        }
        let target = Target::Argument {
            argument,
            offset_bytes: 0,
        };
        let through = |access: &&Access| match access.target {
            Target::Argument { argument: own, .. } => own == argument,
            _ => false,
        };
        let plain = |access: &Access| {
            access.target == target && access.kind == AccessKind::Read && !access.volatile
        };
        if !member.model.accesses.iter().filter(through).all(plain) {
            return Some("a copy may be written, or a table of pointers");
        }
        let within = member
            .footprint(self.values, &target)
            .is_some_and(|(low, high)| {
                self.at_most(&Polynomial::default(), &low) && self.at_most(&high, bytes)
            });
        (!within).then_some("more may be loaded than a copy has")
    }

    /// Whether the first member stores every one of so many bytes behind its argument, no others, and looks at none.
    fn is_stored(&self, member: &Member<'_>, argument: usize, bytes: &Polynomial) -> bool {
        let formal = member.model.formals.get(argument);
        if !formal.is_some_and(|formal| formal.is_pointer && !formal.captured) {
            return false;
        }
        let through = |access: &&Access| match access.target {
            Target::Argument { argument: own, .. } => own == argument,
            _ => false,
        };
        let accesses: Vec<&Access> = member.model.accesses.iter().filter(through).collect();
        let [access] = accesses.as_slice() else {
            return false;
        };
        let (Some(subscript), [conjunction]) = (&access.subscript, access.domain.as_slice()) else {
            return false;
        };
        if access.kind != AccessKind::Write || !access.exact {
            return false;
        }
        let size = i64::from(access.size_bytes);
        let count = match subscript.as_constant() {
            Some(0) if conjunction.iter().all(holds_at_zero) => Some(Polynomial::constant(1)),
            Some(_) => None,
            None => self.elements(member, access, (subscript, conjunction), size),
        };
        let stored = count.and_then(|count| count.scale(size));
        stored.is_some_and(|stored| self.known.equal(&stored, bytes))
    }

    /// How many elements of a size are stored, each of them, from the first on: a thread stores that of its number along x, and,
    /// in a loop, those that follow it by as many as there are threads along x, or by fewer.
    fn elements(
        &self,
        member: &Member<'_>,
        access: &Access,
        (subscript, conjunction): (&Affine, &[Constraint]),
        size: i64,
    ) -> Option<Polynomial> {
        let threads = &member.extents[3];
        let mut terms = subscript.terms.clone();
        let thread = terms
            .iter()
            .position(|term| *term == (size, Variable::Thread(Axis::X)))?;
        terms.remove(thread);
        if subscript.constant != 0 {
            return None;
        }
        // What a further iteration adds, as a term, in elements.
        let further = match (terms.as_slice(), access.loops.as_slice()) {
            ([], []) => None,
            ([(scale, variable)], [counter]) => {
                let real = member.model.loops.get(*counter)?;
                if real.quotient.is_some() || real.unknown.is_some() || scale % size != 0 {
                    return None;
                }
                let (factor, step) = match variable {
                    Variable::Loop(own) if own == counter => {
                        (scale / size, Polynomial::constant(scale / size))
                    }
                    Variable::Product(index) => {
                        let product = member.model.products.get(*index)?;
                        if product.factor != Affine::variable(Variable::Loop(*counter)) {
                            return None;
                        }
                        let by = member.parameters.get(product.parameter)?;
                        (scale / size, by.scale(scale / size)?)
                    }
                    _ => return None,
                };
                let one = Polynomial::constant(1);
                if !self.at_most(&step, threads) || !self.at_most(&one, &step) {
                    return None;
                }
                Some((factor, variable.clone()))
            }
            _ => return None,
        };
        let [Constraint::NonNegative(row)] = conjunction else {
            // Every thread, once.
            return (conjunction.is_empty() && further.is_none()).then(|| threads.clone());
        };
        let mut element = vec![(-1, Variable::Thread(Axis::X))];
        element.extend(
            further
                .iter()
                .map(|(factor, variable)| (-factor, variable.clone())),
        );
        let mut rest = row.terms.clone();
        for term in &element {
            let at = rest.iter().position(|own| own == term)?;
            rest.remove(at);
        }
        let least = Polynomial::constant(row.constant.checked_add(1)?);
        let count = member.uniform(&rest)?.add(&least)?;
        (further.is_some() || self.at_most(&count, threads)).then_some(count)
    }

    /// Pairs of accesses, by member and number, that may have no byte in common.
    fn apart(&self, recomputation: &Recomputation) -> Vec<[(usize, usize); 2]> {
        let [first, second] = self.members;
        let mut pairs = Vec::new();
        let reads = |access: &Access| access.kind == AccessKind::Read;
        for (one, earlier) in device::global_accesses(first).map(|each| (each.id.0, each)) {
            for (other, later) in device::global_accesses(first).map(|each| (each.id.0, each)) {
                let harmless = reads(earlier) && reads(later) || earlier.target == later.target;
                if other > one && !harmless {
                    pairs.push([(0, one), (0, other)]);
                }
            }
            for (other, later) in device::global_accesses(second).map(|each| (each.id.0, each)) {
                let from_copy = recomputation.copies.iter().any(|copy| {
                    is_of(&earlier.target, copy.stored)
                        && copy.loaded.iter().any(|own| is_of(&later.target, *own))
                });
                if !(reads(earlier) && reads(later) || from_copy) {
                    pairs.push([(0, one), (1, other)]);
                }
            }
        }
        pairs
    }
}

/// Whether a target is the memory behind a pointer argument.
fn is_of(target: &Target, argument: usize) -> bool {
    let own = Target::Argument {
        argument,
        offset_bytes: 0,
    };
    *target == own
}

/// Whether a constraint holds in the first thread of the first block, whatever else there is.
fn holds_at_zero(constraint: &Constraint) -> bool {
    fn is_zero(variable: &Variable) -> bool {
        match variable {
            Variable::Thread(_) | Variable::Block(_) => true,
            Variable::Floor(numerator, _) => {
                let mut terms = numerator.terms.iter();
                numerator.constant == 0 && terms.all(|(_, inner)| is_zero(inner))
            }
            Variable::Loop(_) | Variable::Product(_) | Variable::Parameter(_) => false,
        }
    }
    let (row, is_equation) = match constraint {
        Constraint::NonNegative(row) => (row, false),
        Constraint::Zero(row) => (row, true),
    };
    let mut terms = row.terms.iter();
    let constant = row.constant;
    terms.all(|(_, variable)| is_zero(variable)) && (constant == 0 || constant > 0 && !is_equation)
}

/// A launch has as much without asking for more.
const MOST_SHARED_BYTES: i64 = device::MAXIMUM_STATIC_SHARED_BYTES as i64;
/// Of any device; ptxas knows what the one that is built for has.
const MOST_PARAMETER_BYTES: u64 = 32_764;
