//! Barriers cut a kernel into intervals, and order what stands on both sides of them.
//!
//! Interval 0 begins with the kernel, interval n + 1 at barrier n of [`KernelModel::barriers`]. A
//! statement belongs to every interval in which it may stand: those whose barrier is the last one on
//! some path to it. It comes before every barrier that may be the next. Invariant: of two
//! executions in one block, the first is ordered before the second by barriers alone when a chain
//! of such *virtual dependences* (statement, barrier, …, barrier, statement) leads from one to the
//! other and all threads reach the barriers together ([`Barrier::uniform`]); where none does, both
//! may stand in one interval, where nothing but the program order of a thread orders them. The halves
//! of an asynchronous copy belong to every interval up to the thread's next wait for all its copies.
//!
//! [`Barrier::uniform`]: super::super::Barrier::uniform

use super::super::body::{BlockRef, Body, Terminator};
use super::super::cfg::Flow;
use super::super::emptiness::{Points, Symbol, is_surely_empty};
use super::super::{Access, AccessId, AccessKind, KernelModel, KernelSymbol, Side, Target};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::Expression;
use crate::math::formula::{Formula, Sum};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Where a statement stands among the barriers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The intervals that it may be in: 0, or n + 1 for barrier n.
    pub intervals: BTreeSet<usize>,
    /// The barriers that may come next; the number of barriers stands for the kernel's end.
    pub next: BTreeSet<usize>,
}

impl Span {
    /// Whether two statements may stand in one interval.
    pub fn meets(&self, other: &Self) -> bool {
        !self.intervals.is_disjoint(&other.intervals) && !self.next.is_disjoint(&other.next)
    }
}

/// The spans of all statements of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    /// By access.
    pub accesses: Vec<Span>,
    /// By barrier: the intervals that it may end, and the barriers that may follow it.
    pub barriers: Vec<Span>,
    /// By access: on which sides of branches that send whole blocks one way it stands.
    #[serde(default)]
    pub sides: Vec<BTreeSet<Side>>,
}

/// What a block does, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An access with this number.
    Access(usize),
    /// A barrier with this number.
    Barrier(usize),
    /// The thread waits for all its asynchronous copies.
    CopiesComplete,
    /// The lanes of a warp wait for each other.
    LanesMeet,
}

/// The spans from what each block does.
pub fn intervals(
    body: &Body,
    flow: &Flow,
    events: &BTreeMap<BlockRef, Vec<Event>>,
    accesses: &[Access],
    barriers: usize,
) -> Intervals {
    let mut result = Intervals {
        accesses: vec![Span::default(); accesses.len()],
        barriers: vec![Span::default(); barriers],
        sides: Vec::new(),
    };
    let of = |block: BlockRef| events.get(&block).map(Vec::as_slice).unwrap_or_default();
    let barrier = |event: &Event| match event {
        Event::Barrier(index) => Some(*index),
        Event::Access(_) | Event::CopiesComplete | Event::LanesMeet => None,
    };
    let mut span = |event: &Event, next: bool, found: &BTreeSet<usize>| {
        let span = match event {
            Event::Access(index) => &mut result.accesses[*index],
            Event::Barrier(index) => &mut result.barriers[*index],
            Event::CopiesComplete | Event::LanesMeet => return,
        };
        let into = match next {
            true => &mut span.next,
            false => &mut span.intervals,
        };
        into.extend(found);
    };

    let last = |block: BlockRef| of(block).iter().rev().find_map(barrier);
    let mut at_start = fixpoint(&flow.order, |block, at_start| {
        let mut found: BTreeSet<usize> = (flow.order.first() == Some(&block))
            .then_some(0)
            .into_iter()
            .collect();
        for from in &flow.predecessors[block.0] {
            match last(*from) {
                Some(index) => found.extend([index + 1]),
                None => found.extend(at_start.get(from).into_iter().flatten()),
            }
        }
        found
    });
    let first = |block: BlockRef| of(block).iter().find_map(barrier);
    let backwards: Vec<_> = flow.order.iter().rev().copied().collect();
    let mut at_end = fixpoint(&backwards, |block, at_end| {
        let terminator = &body.block(block).terminator;
        let ends = matches!(terminator, Terminator::Return | Terminator::Unreachable);
        let mut found: BTreeSet<usize> = ends.then_some(barriers).into_iter().collect();
        for to in terminator.successors() {
            match first(to) {
                Some(index) => found.extend([index]),
                None => found.extend(at_end.get(&to).into_iter().flatten()),
            }
        }
        found
    });

    for block in &flow.order {
        let mut found = at_start.remove(block).unwrap_or_default();
        for event in of(*block) {
            span(event, false, &found);
            if let Event::Barrier(index) = event {
                found = BTreeSet::from([index + 1]);
            }
        }
        let mut found = at_end.remove(block).unwrap_or_default();
        for event in of(*block).iter().rev() {
            span(event, true, &found);
            if let Event::Barrier(index) = event {
                found = BTreeSet::from([*index]);
            }
        }
    }
    for block in &flow.order {
        for (place, event) in of(*block).iter().enumerate() {
            if let Event::Access(index) = event
                && accesses[*index].asynchronous
            {
                let span = &mut result.accesses[*index];
                while_under_way(body, (*block, place + 1), &of, barriers, span);
            }
        }
    }
    result
}

/// Adds to the span of an asynchronous access what it is under way in: barriers that come before the
/// thread waits for it, and the ones that may come next then.
fn while_under_way<'a>(
    body: &Body,
    start: (BlockRef, usize),
    events: &impl Fn(BlockRef) -> &'a [Event],
    barriers: usize,
    span: &mut Span,
) {
    let mut seen = BTreeSet::new();
    // From where, and whether it is complete by then.
    let mut work = vec![(start, false)];
    while let Some(((block, place), mut complete)) = work.pop() {
        let mut passed = false;
        for event in &events(block)[place..] {
            match event {
                Event::Access(_) | Event::LanesMeet => {}
                Event::CopiesComplete => complete = true,
                Event::Barrier(index) => {
                    span.next.insert(*index);
                    passed = complete;
                    if passed {
                        break;
                    }
                    span.intervals.insert(index + 1);
                }
            }
        }
        if passed {
            continue;
        }
        let terminator = &body.block(block).terminator;
        if matches!(terminator, Terminator::Return | Terminator::Unreachable) {
            span.next.insert(barriers);
        }
        for to in terminator.successors() {
            if seen.insert((to, complete)) {
                work.push(((to, 0), complete));
            }
        }
    }
}

fn fixpoint(
    order: &[BlockRef],
    transfer: impl Fn(BlockRef, &BTreeMap<BlockRef, BTreeSet<usize>>) -> BTreeSet<usize>,
) -> BTreeMap<BlockRef, BTreeSet<usize>> {
    let mut state = BTreeMap::new();
    loop {
        let mut changed = false;
        for block in order {
            let found = transfer(*block, &state);
            changed |= state.insert(*block, found.clone()) != Some(found);
        }
        if !changed {
            return state;
        }
    }
}

/// A statement of a kernel, as far as order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Statement {
    /// An access.
    Access(AccessId),
    /// A barrier, by its place in [`KernelModel::barriers`].
    Barrier(usize),
}

/// What makes the order of two accesses matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Hazard {
    /// The second reads what the first wrote.
    Flow,
    /// The second writes what the first read.
    Anti,
    /// Both write.
    Output,
}

/// Two accesses that different threads of one block may make to a common byte, at least one of
/// which writes, in intervals that touch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LocalDependence {
    /// The earlier access.
    pub source: AccessId,
    /// The later access; the same one when it meets itself.
    pub sink: AccessId,
    /// Why they must keep their order.
    pub hazard: Hazard,
    /// The only barrier between them on some path; `None`: none stands there, they race.
    pub barrier: Option<usize>,
}

/// More pairs of accesses than this are not compared: then each pair is taken to meet.
const MOST_COMPARISONS: usize = 2_000;

impl KernelModel {
    /// The virtual dependences of the paper's section 3: each access before the barriers that may
    /// come next, each barrier before the accesses and barriers that follow it. A barrier that an
    /// asynchronous access may be under way at orders it in neither direction.
    pub fn virtual_dependences(&self) -> BTreeSet<(Statement, Statement)> {
        let mut found = BTreeSet::new();
        let accesses = self.intervals.accesses.iter().enumerate();
        let barriers = self.intervals.barriers.iter().enumerate();
        let spans = accesses
            .map(|(index, span)| (Statement::Access(AccessId(index)), span))
            .chain(barriers.map(|(index, span)| (Statement::Barrier(index), span)));
        for (statement, span) in spans {
            let asynchronous = match statement {
                Statement::Access(id) => self
                    .accesses
                    .get(id.0)
                    .is_some_and(|access| access.asynchronous),
                Statement::Barrier(_) => false,
            };
            let both = |barrier: usize| {
                span.next.contains(&barrier) && span.intervals.contains(&(barrier + 1))
            };
            let orders = |barrier: &usize| !(asynchronous && both(*barrier));
            let next = span.next.iter().copied();
            for next in next
                .filter(|next| *next < self.barriers.len())
                .filter(orders)
            {
                found.insert((statement, Statement::Barrier(next)));
            }
            let begun = span.intervals.iter().filter_map(|at| at.checked_sub(1));
            for begun in begun.filter(orders) {
                found.insert((Statement::Barrier(begun), statement));
            }
        }
        found
    }

    /// What barriers are for: a barrier that no dependence of this list names, in a kernel without
    /// races and without inline barriers' other uses, orders nothing that another barrier does not
    /// order. `extents` are the block's extents where they are known. Atomics race with none of
    /// their kind, so that only barriers order them; reductions that commute are left out.
    pub fn local_dependences(&self, extents: [Option<u32>; 3]) -> Vec<LocalDependence> {
        let mut found = Vec::new();
        let mut comparisons = 0;
        for source in &self.accesses {
            for sink in &self.accesses {
                let Some(hazard) = hazard(source.kind, sink.kind) else {
                    continue;
                };
                let atomics = is_atomic(source.kind) && is_atomic(sink.kind);
                if !may_share_target(&source.target, &sink.target) {
                    continue;
                }
                let (before, after) = (
                    &self.intervals.accesses[source.id.0],
                    &self.intervals.accesses[sink.id.0],
                );
                let mut ways: Vec<Option<usize>> = (0..self.barriers.len())
                    .filter(|index| {
                        before.next.contains(index) && after.intervals.contains(&(index + 1))
                    })
                    .map(Some)
                    .collect();
                // Within an interval a pair is told once.
                if source.id <= sink.id && !atomics && before.meets(after) {
                    ways.push(None);
                }
                if ways.is_empty() {
                    continue;
                }
                comparisons += 1;
                if comparisons > MOST_COMPARISONS || self.threads_meet(source, sink, extents) {
                    found.extend(ways.into_iter().map(|barrier| LocalDependence {
                        source: source.id,
                        sink: sink.id,
                        hazard,
                        barrier,
                    }));
                }
            }
        }
        found
    }

    /// Whether two different threads of one block may touch a common byte by these accesses.
    fn threads_meet(&self, source: &Access, sink: &Access, extents: [Option<u32>; 3]) -> bool {
        let (Some(first), Some(second)) = (&source.subscript, &sink.subscript) else {
            return true;
        };
        if source.target != sink.target {
            return true;
        }
        // Where isl gives up, they may.
        let meeting = self.meeting((source, first), (sink, second), extents, &[]);
        !meeting.is_some_and(|meeting| is_surely_empty(&meeting))
    }

    /// The pairs of instances of two accesses, each with its subscript, that meet under further conditions. `None` for
    /// no expression.
    pub(in crate::kernel) fn meeting(
        &self,
        (source, first): (&Access, &Affine),
        (sink, second): (&Access, &Affine),
        extents: [Option<u32>; 3],
        further: &[Formula<Symbol>],
    ) -> Option<Points> {
        let parameters = (0..self.parameters.len()).map(Variable::Parameter);
        let parameters = parameters.map(|parameter| Symbol::new(parameter, false));
        let blocks = Axis::ALL.map(Variable::Block);
        let mut dimensions: Vec<Symbol> =
            blocks.clone().map(|block| Symbol::new(block, false)).into();
        let zero = || Sum::number(0);
        let mut conditions: Vec<Formula<Symbol>> = blocks
            .map(|block| Symbol::sum(block, false).at_least(zero()))
            .into();
        for axis in Axis::ALL {
            let most = match axis {
                Axis::Z => 64,
                _ => 1024,
            };
            let most = extents[axis.index()].unwrap_or(most);
            let size = Expression::Leaf(KernelSymbol::BlockSize(axis));
            let size = self.parameters.iter().position(|known| *known == size);
            for of_second in [false, true] {
                let thread = Symbol::thread(axis, of_second);
                conditions.push(thread.clone().at_least(zero()));
                conditions.push(thread.clone().below(Sum::number(most)));
                if let Some(size) = size {
                    let size = Symbol::sum(Variable::Parameter(size), false);
                    conditions.push(thread.below(size.clone()));
                    conditions.push(size.at_most(Sum::number(most)));
                }
                dimensions.push(Symbol::new(Variable::Thread(axis), of_second));
            }
        }
        let differ = Axis::ALL.into_iter().flat_map(|axis| {
            let [one, other] = [false, true].map(|second| Symbol::thread(axis, second));
            [one.clone().below(other.clone()), one.above(other)]
        });
        conditions.push(Formula::Any(differ.collect()));
        conditions.extend_from_slice(further);
        for (access, of_second) in [(source, false), (sink, true)] {
            for index in &access.loops {
                let counter = Variable::Loop(*index);
                dimensions.push(Symbol::new(counter.clone(), of_second));
                conditions.push(Symbol::sum(counter, of_second).at_least(zero()));
            }
            conditions.push(domain(access, of_second)?);
        }
        for (index, product) in self.products.iter().enumerate() {
            let both = |affine: &Affine| -> Option<[Sum<Symbol>; 2]> {
                let one = Symbol::expression(affine, false)?;
                Some([one, Symbol::expression(affine, true)?])
            };
            let [e, f] = both(&product.factor)?;
            let [one, other] = both(&Affine::variable(Variable::Product(index)))?;
            let p = Symbol::sum(Variable::Parameter(product.parameter), false);
            let loops = self.loops_in(&product.factor);
            let known = |access: &Access| loops.iter().all(|each| access.loops.contains(each));
            dimensions
                .extend([false, true].map(|second| Symbol::new(Variable::Product(index), second)));
            // One that an access cannot mention relates to nothing.
            if known(source) && known(sink) {
                conditions.push(p.clone().at_least(zero()));
                conditions.push(Formula::Any(vec![
                    Formula::All(vec![
                        e.clone().equal(f.clone()),
                        one.clone().equal(other.clone()),
                    ]),
                    Formula::All(vec![
                        e.clone().below(f.clone()),
                        (one.clone() + p.clone()).at_most(other.clone()),
                    ]),
                    Formula::All(vec![e.above(f), (other + p).at_most(one)]),
                ]));
            }
        }
        let a = Symbol::expression(first, false)?;
        let b = Symbol::expression(second, true)?;
        conditions.push(a.clone().below(b.clone() + i128::from(sink.size_bytes)));
        conditions.push(b.below(a + i128::from(source.size_bytes)));
        Some(Points {
            parameters: parameters.collect(),
            dimensions,
            condition: Formula::All(conditions),
        })
    }

    fn loops_in(&self, affine: &Affine) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for (_, variable) in &affine.terms {
            match variable {
                Variable::Loop(index) => {
                    found.insert(*index);
                }
                Variable::Product(index) => {
                    found.extend(self.loops_in(&self.products[*index].factor));
                }
                Variable::Floor(inner, _) => found.extend(self.loops_in(inner)),
                Variable::Block(_) | Variable::Thread(_) | Variable::Parameter(_) => {}
            }
        }
        found
    }
}

fn is_atomic(kind: AccessKind) -> bool {
    matches!(kind, AccessKind::Reduction(_) | AccessKind::Atomic)
}

fn hazard(source: AccessKind, sink: AccessKind) -> Option<Hazard> {
    match (source, sink) {
        (AccessKind::Read, AccessKind::Read) => None,
        (AccessKind::Reduction(one), AccessKind::Reduction(other)) if one.commutes_with(&other) => {
            None
        }
        (AccessKind::Read, _) => Some(Hazard::Anti),
        (_, AccessKind::Read) => Some(Hazard::Flow),
        _ => Some(Hazard::Output),
    }
}

/// Variables are disjoint; behind two pointers may lie one buffer.
pub(in crate::kernel) fn may_share_target(one: &Target, other: &Target) -> bool {
    let shared = |target: &Target| matches!(target, Target::Shared(_) | Target::UnknownShared);
    match (one, other) {
        (Target::Shared(one), Target::Shared(other)) => one == other,
        (Target::Global(one), Target::Global(other)) => one == other,
        _ => shared(one) == shared(other),
    }
}

/// What holds for an access of the first or of the second instance.
fn domain(access: &Access, of_second: bool) -> Option<Formula<Symbol>> {
    let alternatives = access.domain.iter().map(|conjunction| {
        let rows = conjunction.iter().map(|constraint| {
            Some(match constraint {
                Constraint::NonNegative(row) => {
                    Formula::NonNegative(Symbol::expression(row, of_second)?)
                }
                Constraint::Zero(row) => Formula::Zero(Symbol::expression(row, of_second)?),
            })
        });
        rows.collect::<Option<_>>().map(Formula::All)
    });
    alternatives.collect::<Option<_>>().map(Formula::Any)
}

#[cfg(test)]
mod tests {
    use super::super::super::body::{Block, Tables, ValueRef};
    use super::*;
    use crate::diagnostics::Location;
    use crate::program::KernelId;

    /// `access 0; do { access 1; barrier 0; access 2 } while (…); access 3`
    #[test]
    fn loops_join_intervals_and_barriers_order_what_is_around_them() {
        let block = |terminator| Block {
            instructions: Vec::new(),
            terminator,
            location: Location::default(),
        };
        let body = Body {
            name: String::new(),
            location: Location::default(),
            formals: Vec::new(),
            values: Vec::new(),
            blocks: vec![
                block(Terminator::Jump(BlockRef(1))),
                block(Terminator::Branch {
                    condition: ValueRef(0),
                    on_true: BlockRef(1),
                    on_false: BlockRef(2),
                }),
                block(Terminator::Return),
            ],
            max_threads: None,
            is_clustered: false,
            tables: Tables::default(),
        };
        let events = BTreeMap::from([
            (BlockRef(0), vec![Event::Access(0)]),
            (
                BlockRef(1),
                vec![Event::Access(1), Event::Barrier(0), Event::Access(2)],
            ),
            (BlockRef(2), vec![Event::Access(3)]),
        ]);
        let mut model = super::super::super::model::absent(KernelId(0), "loop");
        model.accesses = (0..4).map(|_| touch(false)).collect();
        let flow = Flow::new(&body);
        model.intervals = intervals(&body, &flow, &events, &model.accesses, 1);
        let barrier = |uniform| super::super::super::Barrier {
            uniform,
            uniform_while_unwritten: Vec::new(),
            reached_if: Vec::new(),
            loops: vec![0],
            place: 0,
            location: Location::default(),
        };
        model.barriers = vec![barrier(true)];
        let found: Vec<Vec<usize>> = model
            .intervals
            .accesses
            .iter()
            .map(|span| span.intervals.iter().copied().collect())
            .collect();
        assert_eq!(found, [vec![0], vec![0, 1], vec![1], vec![1]]);
        assert!(model.intervals.accesses[1].meets(&model.intervals.accesses[2]));
        assert!(!model.intervals.accesses[0].meets(&model.intervals.accesses[2]));
        assert!(!model.intervals.accesses[1].meets(&model.intervals.accesses[3]));
        let (access, wall) = (|n| Statement::Access(AccessId(n)), Statement::Barrier(0));
        assert_eq!(
            model.virtual_dependences(),
            BTreeSet::from([
                (access(0), wall),
                (access(1), wall),
                (access(2), wall),
                (wall, access(1)),
                (wall, access(2)),
                (wall, access(3)),
                (wall, wall),
            ])
        );
    }

    fn touch(asynchronous: bool) -> Access {
        Access {
            id: AccessId(0),
            kind: AccessKind::Write,
            target: Target::UnknownShared,
            subscript: None,
            size_bytes: 0,
            domain: vec![Vec::new()],
            loops: Vec::new(),
            exact: false,
            why_inexact: String::new(),
            invariant_load: false,
            volatile: false,
            asynchronous,
            place: 0,
            location: Location::default(),
        }
    }

    /// `copy; barrier 0; wait; access 1; barrier 1; access 2`
    #[test]
    fn copies_are_under_way_until_the_thread_waits_for_them() {
        let mut body = Body {
            name: String::new(),
            location: Location::default(),
            formals: Vec::new(),
            values: Vec::new(),
            blocks: vec![Block {
                instructions: Vec::new(),
                terminator: Terminator::Return,
                location: Location::default(),
            }],
            max_threads: None,
            is_clustered: false,
            tables: Tables::default(),
        };
        let mut order = vec![
            Event::Access(0),
            Event::Barrier(0),
            Event::CopiesComplete,
            Event::Access(1),
            Event::Barrier(1),
            Event::Access(2),
        ];
        let accesses = [touch(true), touch(false), touch(false)];
        let span = |intervals: &[usize], next: &[usize]| Span {
            intervals: intervals.iter().copied().collect(),
            next: next.iter().copied().collect(),
        };
        let found = |body: &Body, order: &[Event]| {
            let events = BTreeMap::from([(BlockRef(0), order.to_vec())]);
            intervals(body, &Flow::new(body), &events, &accesses, 2).accesses
        };
        assert_eq!(found(&body, &order)[0], span(&[0, 1], &[0, 1]));
        assert!(found(&body, &order)[0].meets(&found(&body, &order)[1]));
        assert!(!found(&body, &order)[0].meets(&found(&body, &order)[2]));
        order.remove(2);
        assert_eq!(found(&body, &order)[0], span(&[0, 1, 2], &[0, 1, 2]));
        // The wait is in a block of its own.
        body.blocks[0].terminator = Terminator::Jump(BlockRef(1));
        body.blocks.push(Block {
            instructions: Vec::new(),
            terminator: Terminator::Return,
            location: Location::default(),
        });
        let events = BTreeMap::from([
            (BlockRef(0), vec![Event::Access(0), Event::Barrier(0)]),
            (
                BlockRef(1),
                vec![Event::CopiesComplete, Event::Barrier(1), Event::Access(1)],
            ),
        ]);
        let spans = intervals(&body, &Flow::new(&body), &events, &accesses, 2);
        assert_eq!(spans.accesses[0], span(&[0, 1], &[0, 1]));
    }
}
