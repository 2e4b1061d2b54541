//! What the lanes of a warp hand to each other through shared memory with nothing that orders them.
//!
//! Code from before Volta takes for granted that the lanes of a warp go in lockstep, as in the last steps of a
//! reduction that has no barriers between `s[t] += s[t + 16]` and `s[t] += s[t + 8]`. Invariant: where one lane
//! accesses shared memory that another lane of its warp writes in between the same two barriers (of the block or of the
//! warp), [`exchanges`] has the two accesses, provided that the live lanes of a warp pass the same barriers.
//!
//! Two lanes left one barrier together. Which iteration each is in of the loops around it is known from the way that it
//! has come from there; what is uniform is the same for both in one iteration, and so is the way that they take where it
//! decides.

use super::super::body::{BlockRef, Body, Operation, Terminator, ValueRef};
use super::super::cfg::Flow;
use super::super::emptiness::{Points, Symbol, is_surely_empty};
use super::super::intervals::{Event, may_share_target};
use super::super::rehearsal::{Place, never_meet};
use super::super::uniformity::Uniformity;
use super::super::{Access, AccessId, AccessKind, KernelModel, Target};
use crate::math::affine::{Affine, Axis, Variable};
use crate::math::formula::{Formula, Sum};
use serde::{Deserialize, Serialize};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Two accesses by which one lane may see what another one of its warp writes, with no barrier between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Exchange {
    /// One of them, which writes.
    pub write: AccessId,
    /// The other.
    pub other: AccessId,
    /// Both are loads or stores whose subscripts are known, at least within bounds.
    pub known: bool,
}

/// Pairs that are looked at closely; where there are more, they count as exchanges.
const MOST_QUESTIONS: usize = 400;

/// Pairs whose addresses are computed lane by lane.
const MOST_REHEARSALS: usize = 64;

/// By loop, the iterations that a lane has begun: of one around the barrier since it left that, of another since it came
/// into the loop; 0, 1, [`SOME`] or [`OUTSIDE`].
type Begun = Vec<u8>;

/// Iterations of which nothing is known.
const SOME: u8 = 2;

/// The lane is not in the loop.
const OUTSIDE: u8 = 3;

/// By block, its barriers and accesses in order; by access, its instruction and its pointer.
type Statements<'a> = (
    &'a BTreeMap<BlockRef, Vec<Event>>,
    &'a [(ValueRef, Option<ValueRef>)],
);

/// The exchanges of a kernel whose accesses are modelled.
pub(in crate::kernel) fn exchanges(
    body: &Body,
    flow: &Flow,
    uniformity: &Uniformity,
    (events, touches): Statements<'_>,
    model: &KernelModel,
) -> Vec<Exchange> {
    let shared = |access: &Access| {
        matches!(access.target, Target::Shared(_) | Target::UnknownShared)
            && matches!(access.kind, AccessKind::Read | AccessKind::Write)
    };
    let writes = |access: &&Access| shared(access) && access.kind == AccessKind::Write;
    let axes = Axis::ALL.map(|axis| reads_thread_index(body, axis));
    if flow.irreducible
        || axes == [false; 3]
        || !model.accesses.iter().any(|access| writes(&access))
    {
        return Vec::new();
    }
    let is_plain = |access: &Access| {
        let instruction = &body.value(touches[access.id.0].0).operation;
        matches!(
            instruction,
            Operation::Load { .. } | Operation::Store { .. }
        )
    };
    let mut found = BTreeMap::new();
    let mut questions = Questions {
        model,
        axes,
        asked: HashSet::new(),
        rehearsed: 0,
    };
    for start in starts(flow, events) {
        let Some(begin) = begin(flow, start) else {
            continue;
        };
        let everywhere = reached((body, flow, events), begin.clone(), |_, _| true);
        // Most kernels have no pair that needs them.
        let sides = LazyCell::new(|| sides((body, flow, events), uniformity, &begin, &everywhere));
        let reached: Vec<_> = (everywhere.accesses)
            .iter()
            .map(|(access, begun)| (&model.accesses[*access], begun))
            .filter(|(access, _)| shared(access))
            .collect();
        for (write, first) in reached.iter().filter(|(access, _)| writes(access)) {
            for (other, second) in &reached {
                let pair = (write.id, other.id);
                // Of two writes each pair is looked at once; one write is no exchange with itself.
                let again = other.kind == AccessKind::Write && other.id <= write.id;
                let settled = found.contains_key(&pair) || write.volatile && other.volatile;
                if again || settled || !may_share_target(&write.target, &other.target) {
                    continue;
                }
                let subscripts = write.subscript.as_ref().zip(other.subscript.as_ref());
                // What a lane writes where it has read before, as in `s[h] = s[h] + 1`, is no other lane's affair; and
                // of two writes that may go who knows where nobody expects an order.
                let same_place = touches[write.id.0].1 == touches[other.id.0].1;
                let unordered = other.kind == AccessKind::Write && !(write.exact && other.exact);
                if subscripts.is_none() && same_place || unordered {
                    continue;
                }
                let places = place(body, touches, write).zip(place(body, touches, other));
                let meet = offsets(first, second).into_iter().any(|offsets| {
                    let is_same = in_one_iteration(body, flow, uniformity, &offsets);
                    questions.may_meet((write, other), &offsets, subscripts, &is_same)
                        && questions.may_meet_when_tried((write, other), || {
                            places.is_some_and(|places| never_meet(body, flow, places, &is_same))
                        })
                });
                if meet && !sides.iter().any(|sides| are_disjoint(sides, pair)) {
                    let known = subscripts.is_some() && is_plain(write) && is_plain(other);
                    found.insert(pair, known);
                }
            }
        }
    }
    let found = found.into_iter();
    found
        .map(|((write, other), known)| Exchange {
            write,
            other,
            known,
        })
        .collect()
}

/// What was asked about a kernel, and may be asked.
struct Questions<'a> {
    model: &'a KernelModel,
    /// The thread indices that it reads.
    axes: [bool; 3],
    /// At most [`MOST_QUESTIONS`].
    asked: HashSet<Points>,
    rehearsed: usize,
}

impl Questions<'_> {
    /// Whether two lanes may meet by what is known of the accesses' subscripts.
    fn may_meet(
        &mut self,
        (one, two): (&Access, &Access),
        offsets: &[Option<i8>],
        subscripts: Option<(&Affine, &Affine)>,
        is_same: &impl Fn(ValueRef) -> bool,
    ) -> bool {
        let Some((first, second)) = subscripts else {
            return true;
        };
        let further = constraints((self.model, self.axes), (one, two), offsets, is_same);
        let (first, second) = ((one, first), (two, second));
        let Some(question) = self.model.meeting(first, second, [None; 3], &further) else {
            return true;
        };
        if !self.asked.contains(&question) {
            if self.asked.len() >= MOST_QUESTIONS {
                return true;
            }
            self.asked.insert(question.clone());
        }
        !is_surely_empty(&question)
    }

    /// Whether they may when all that can be is tried, unless there has been too much of that.
    fn may_meet_when_tried(
        &mut self,
        (one, two): (&Access, &Access),
        never: impl FnOnce() -> bool,
    ) -> bool {
        let in_a_row = !self.axes[1] && !self.axes[2];
        if !in_a_row || one.target != two.target || self.rehearsed >= MOST_REHEARSALS {
            return true;
        }
        self.rehearsed += 1;
        !never()
    }
}

/// Where lanes begin together: the kernel's begin (`None`), and behind each barrier of the block or of the warp.
fn starts(flow: &Flow, events: &BTreeMap<BlockRef, Vec<Event>>) -> Vec<Option<(BlockRef, usize)>> {
    let mut starts = vec![None];
    for block in &flow.order {
        for (place, event) in events.get(block).into_iter().flatten().enumerate() {
            if orders_lanes(*event) {
                starts.push(Some((*block, place + 1)));
            }
        }
    }
    starts
}

fn orders_lanes(event: Event) -> bool {
    matches!(event, Event::Barrier(_) | Event::LanesMeet)
}

/// A place at which lanes are together, and the iterations that they have begun since.
type Begin = ((BlockRef, usize), Begun);

fn begin(flow: &Flow, start: Option<(BlockRef, usize)>) -> Option<Begin> {
    let place = start.or_else(|| Some((*flow.order.first()?, 0)))?;
    let loops = flow.loops.iter();
    let here = loops.map(|each| match each.blocks.contains(&place.0) {
        true => 0,
        false => OUTSIDE,
    });
    Some((place, here.collect()))
}

/// Where a lane comes to from a place before it passes a barrier, each with the iterations that it may have begun by
/// then.
#[derive(Default)]
struct Reached {
    accesses: BTreeMap<usize, BTreeSet<Begun>>,
    /// The blocks whose ends it comes to.
    ends: BTreeMap<BlockRef, BTreeSet<Begun>>,
}

/// A kernel's blocks, with the barriers and accesses in them.
type Paths<'a> = (&'a Body, &'a Flow, &'a BTreeMap<BlockRef, Vec<Event>>);

/// What is reached from a place over those ends of blocks alone that may be passed towards a block.
fn reached(
    (body, flow, events): Paths<'_>,
    (begin, here): Begin,
    may_pass: impl Fn(BlockRef, BlockRef) -> bool,
) -> Reached {
    let mut found = Reached::default();
    let around = flow.loops_of(begin.0);
    let mut work: Vec<(_, Begun)> = vec![(begin, here)];
    let mut seen = BTreeSet::new();
    'places: while let Some(((block, place), begun)) = work.pop() {
        let events = events.get(&block).map(Vec::as_slice).unwrap_or_default();
        for event in &events[place..] {
            if let Event::Access(access) = event {
                let begun = begun.clone();
                found.accesses.entry(*access).or_default().insert(begun);
            }
            if orders_lanes(*event) {
                continue 'places;
            }
        }
        found.ends.entry(block).or_default().insert(begun.clone());
        for to in body.block(block).terminator.successors() {
            if !may_pass(block, to) {
                continue;
            }
            let mut begun = begun.clone();
            for (index, each) in flow.loops.iter().enumerate() {
                let count = &mut begun[index];
                match (each.blocks.contains(&block), each.blocks.contains(&to)) {
                    (_, false) => *count = OUTSIDE,
                    // One that was left has begun anew since.
                    (false, true) if around.contains(&index) => *count = SOME,
                    (false, true) => *count = 0,
                    (true, true) if each.header == to => *count = (*count + 1).min(SOME),
                    (true, true) => {}
                }
            }
            if seen.insert((to, begun.clone())) {
                work.push(((to, 0), begun));
            }
        }
    }
    found
}

/// By way out of a branch that all lanes take alike, the accesses to which a lane comes by that way alone.
type Sides = Vec<BTreeSet<usize>>;

/// The branches at which lanes that left a place together stay together: each lane comes to the branch once, in one
/// iteration, and what decides is the same for all there.
fn sides(
    paths: Paths<'_>,
    uniformity: &Uniformity,
    begin: &Begin,
    everywhere: &Reached,
) -> Vec<Sides> {
    let (body, flow, _) = paths;
    let mut found = Vec::new();
    for (branch, begun) in &everywhere.ends {
        let terminator = &body.block(*branch).terminator;
        let (Some(value), 1) = (decides(terminator), begun.len()) else {
            continue;
        };
        let is_known = |index: &usize| begun.iter().all(|begun| begun[*index] < SOME);
        let place = body.value(value).block;
        let loops = place.map_or(Vec::new(), |block| flow.loops_of(block));
        if uniformity.divergent_values.contains(&value) || !loops.iter().all(is_known) {
            continue;
        }
        let ways = terminator.successors();
        let behind: Vec<Reached> = ways
            .iter()
            .map(|way| {
                reached(paths, ((*way, 0), vec![SOME; flow.loops.len()]), |_, _| {
                    true
                })
            })
            .collect();
        // Nothing but a branch that is passed once decides for good.
        if behind.iter().any(|way| way.ends.contains_key(branch)) {
            continue;
        }
        let besides = reached(paths, begin.clone(), |from, _| from != *branch);
        let alone = |number: usize| {
            let others = || (0..ways.len()).filter(|other| *other != number);
            let is_alone = |access: &usize| {
                let elsewhere = others().any(|other| behind[other].accesses.contains_key(access));
                !elsewhere && !besides.accesses.contains_key(access)
            };
            let accesses = behind[number].accesses.keys().copied();
            accesses.filter(is_alone).collect()
        };
        found.push((0..ways.len()).map(alone).collect());
    }
    found
}

/// The value by which a lane takes its way; `None` where there is one way only, or no such value.
fn decides(terminator: &Terminator) -> Option<ValueRef> {
    match terminator {
        Terminator::Branch { condition, .. } => Some(*condition),
        Terminator::Switch { value, .. } => Some(*value),
        Terminator::Return
        | Terminator::Jump(_)
        | Terminator::Unreachable
        | Terminator::Other(_) => None,
    }
}

/// Whether two lanes that part nowhere but at such a branch cannot come to one access each.
fn are_disjoint(sides: &Sides, (one, two): (AccessId, AccessId)) -> bool {
    let side = |access: AccessId| sides.iter().position(|side| side.contains(&access.0));
    side(one)
        .zip(side(two))
        .is_some_and(|(one, two)| one != two)
}

/// By loop, how many iterations the second of two lanes may be ahead of the first; `None` where that is not known.
fn offsets(first: &BTreeSet<Begun>, second: &BTreeSet<Begun>) -> BTreeSet<Vec<Option<i8>>> {
    let known = |(one, two): (&u8, &u8)| {
        (*one < SOME && *two < SOME).then(|| two.cast_signed() - one.cast_signed())
    };
    let pairs = first
        .iter()
        .flat_map(|one| second.iter().map(move |two| (one, two)));
    pairs
        .map(|(one, two)| one.iter().zip(two).map(known).collect())
        .collect()
}

/// An access as [`never_meet`] takes it.
fn place(body: &Body, touches: &[(ValueRef, Option<ValueRef>)], access: &Access) -> Option<Place> {
    let (instruction, pointer) = touches[access.id.0];
    let bytes = match body.value(instruction).operation {
        Operation::Load { bytes, .. } | Operation::Store { bytes, .. } => bytes,
        _ => return None,
    };
    Some(Place {
        instruction,
        pointer: pointer?,
        bytes,
    })
}

/// Which values are the same for two lanes whose iterations differ so: uniform ones in the same iteration of all loops
/// around them.
fn in_one_iteration<'a>(
    body: &'a Body,
    flow: &'a Flow,
    uniformity: &'a Uniformity,
    offsets: &'a [Option<i8>],
) -> impl Fn(ValueRef) -> bool + 'a {
    move |value| {
        let same = |index: &usize| offsets[*index] == Some(0);
        let block = body.value(value).block;
        let loops = block.map_or(Vec::new(), |block| flow.loops_of(block));
        !uniformity.divergent_values.contains(&value) && loops.iter().all(same)
    }
}

/// What is known of two lanes of one warp, beside what their accesses say.
fn constraints(
    (model, axes): (&KernelModel, [bool; 3]),
    (one, two): (&Access, &Access),
    offsets: &[Option<i8>],
    is_same: &impl Fn(ValueRef) -> bool,
) -> Vec<Formula<Symbol>> {
    let mut found = Vec::new();
    let absent = Axis::ALL.into_iter().zip(axes).filter(|(_, read)| !read);
    found.extend(absent.flat_map(|(axis, _)| {
        [false, true].map(|second| Formula::Zero(Symbol::thread(axis, second)))
    }));
    let lanes = |axis| [false, true].map(|second| Symbol::thread(axis, second));
    let [first, second] = lanes(Axis::X);
    found.push(match axes {
        [_, false, false] => first.floor(32).equal(second.floor(32)),
        // How many threads a row has is not known.
        _ => {
            let others = [Axis::Y, Axis::Z].into_iter().flat_map(|axis| {
                let [first, second] = lanes(axis);
                [first.clone().below(second.clone()), first.above(second)]
            });
            let near = [
                (first.clone() - second.clone()).below(Sum::number(32)),
                (second - first).below(Sum::number(32)),
            ];
            Formula::Any(others.chain([Formula::All(near.into())]).collect())
        }
    });
    let both = |index: &usize| one.loops.contains(index) && two.loops.contains(index);
    let counters = |index| [false, true].map(|second| Symbol::sum(Variable::Loop(index), second));
    for (index, offset) in offsets.iter().enumerate() {
        if let Some(offset) = offset.filter(|_| both(&index)) {
            let [first, second] = counters(index);
            found.push(second.equal(first + i128::from(offset)));
        }
    }
    for index in one.loops.iter().filter(|index| both(index)) {
        let unknown = model.loops[*index].unknown.as_ref();
        if unknown.is_some_and(|unknown| is_same(ValueRef(unknown.value))) {
            let [first, second] = counters(*index);
            found.push(second.equal(first));
        }
    }
    found
}

/// Whether the kernel reads a thread index on an axis; where not, blocks have one thread there, or threads that run as
/// one.
fn reads_thread_index(body: &Body, axis: Axis) -> bool {
    let register = format!("llvm.nvvm.read.ptx.sreg.tid.{}", axis.name());
    body.values.iter().any(|value| match &value.operation {
        Operation::Call(call) => call.callee.as_ref() == Some(&register),
        _ => false,
    })
}
