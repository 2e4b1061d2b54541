//! Members whose whole blocks take over those of another member in another arrangement: transposed, from
//! the last on, or counted along other axes; and the threads within them likewise.
//!
//! One member leads, whose launch the fused one is; those that depend on each other in the same blocks keep
//! their places beside it. Each other member is tried in all arrangements whose extents may agree.
//! Barriers, shared memory and warps stay what they are as long as threads within a block keep their
//! number; only threads that need nothing of their block are transposed or reversed.
//!
//! Invariant: both sides' places are functions of the fused launch's, one-to-one; an edge stays in one thread
//! or block where the coordinates of its map, which tell places apart on both sides, become
//! the same function of the fused place on both.

use super::super::domains::{Domains, MOST_NUMBERS, needs_its_block};
use super::super::group::{Judge, orders};
use super::super::numbers::{Sum, sum_of, told_by};
use super::super::obstacle::Candidate;
use super::super::{Arrangement, ThreadMap, ThreadOrder};
use crate::dependence::{CoordinateSymbol, Edge, Guard, Scope};
use crate::launch::ValueId;
use crate::math::affine::Axis;
use crate::math::expression::{Condition, Expression};
use std::collections::BTreeSet;

/// The extents of a box.
type Extents = [Expression<ValueId>; 3];
/// A place of a box as a function of a place of the fused launch.
type Function = [Expression<CoordinateSymbol>; 3];

/// The arrangements of a member's blocks and threads.
type Arrangements = [Arrangement; 2];

const SAME: Arrangements = [Arrangement::Same; 2];

impl<'a> Judge<'a> {
    /// A way to give some of the members blocks of the others in another arrangement, with the fewest such
    /// members; `None` when there is none.
    pub(in crate::schedule) fn rearranged(&self, members: &[Candidate<'a>]) -> Option<Domains> {
        if !self.options.permutes_blocks {
            return None;
        }
        let is_launch = |member: &&Candidate| self.graph.operation_of(member.launch.id).is_none();
        let mut tried: Vec<[Extents; 2]> = Vec::new();
        let mut best: Option<Domains> = None;
        let mut leaders: Vec<&Candidate> = members.iter().filter(is_launch).collect();
        // Blocks of one warp fit into others, and not the other way round.
        leaders.sort_by_key(|leader| {
            let own = &self.boxes(leader)[1];
            let mut others = members.iter().map(|member| self.boxes(member));
            others.any(|other| fits_as_warp(own, &other[1]))
        });
        for leader in leaders {
            let shape = self.boxes(leader);
            if tried.contains(&shape) || tried.len() == MOST_LEADERS {
                continue;
            }
            tried.push(shape);
            if let Some(found) = self.arranged_by(leader, members)
                && best
                    .as_ref()
                    .is_none_or(|best| found.placed() < best.placed())
            {
                best = Some(found);
            }
        }
        best
    }

    /// A way to run blocks of one warp in the first warps of others, where all could only keep their threads if the run
    /// found that the others have one warp, too.
    pub(in crate::schedule) fn rather_in_warps(
        &self,
        members: &[Candidate<'a>],
    ) -> Option<Domains> {
        let blocks: Vec<Extents> = members
            .iter()
            .map(|member| self.boxes(member)[1].clone())
            .collect();
        let mut pairs = blocks
            .iter()
            .flat_map(|one| blocks.iter().map(move |other| (one, other)));
        if !pairs.any(|(own, fused)| fits_as_warp(own, fused)) {
            return None;
        }
        let found = self.rearranged(members)?;
        let in_warp = |map: &ThreadMap| matches!(map, ThreadMap::Rearranged { threads, .. } if *threads == Arrangement::FirstWarp);
        let mut maps = members.iter().filter_map(|member| found.map(member));
        maps.all(|map| in_warp(&map)).then_some(found)
    }

    /// The members in the blocks of one of them.
    fn arranged_by(&self, leader: &Candidate<'a>, members: &[Candidate<'a>]) -> Option<Domains> {
        let is_operation = |member: &Candidate| self.graph.operation_of(member.launch.id).is_some();
        let fused = self.boxes(leader);
        let mut placed: Vec<(Candidate, Arrangements)> = vec![(*leader, SAME)];
        let mut later: Vec<Candidate> = Vec::new();
        let others = || members.iter().filter(|member| member.node != leader.node);
        let launches = others().filter(|member| !is_operation(member));
        for member in launches.chain(others().filter(|member| is_operation(member))) {
            let own = self.boxes(member);
            let carried =
                !is_operation(member) || placed.iter().any(|(other, _)| self.boxes(other) == own);
            let stays = carried
                && own[1] == fused[1]
                && placed.iter().all(|(other, _)| {
                    let [first, second] = in_order(other, member);
                    self.scope_allows(first, second).is_ok()
                });
            match stays {
                true => placed.push((*member, SAME)),
                false if is_operation(member) => return None,
                false => later.push(*member),
            }
        }
        let kept: Vec<Candidate> = placed.iter().map(|(member, _)| *member).collect();
        if later.is_empty() || !self.fills_grid(leader, &kept, &BTreeSet::new()) {
            return None;
        }
        later.sort_by_key(|member| member.node);
        let mut domains = Domains::default();
        for member in later {
            let (arrangements, guards, block_wide) =
                self.arrangement_of(&member, &fused, &placed)?;
            domains.guards.extend(guards);
            domains.block_wide.extend(block_wide);
            let [blocks, threads] = arrangements;
            let map = ThreadMap::Rearranged { blocks, threads };
            domains.place(&member, map);
            placed.push((member, arrangements));
        }
        let other_threads = |(_, [_, threads]): &(_, Arrangements)| *threads != Arrangement::Same;
        if placed.iter().any(other_threads) {
            if !members
                .iter()
                .all(|member| self.distinguishes_threads(member))
            {
                return None;
            }
        } else {
            let mut pairs = members.windows(2);
            pairs
                .try_for_each(|pair| self.threads_in_step(&pair[0], &pair[1]))
                .ok()?;
        }
        domains.settle_guards().then_some(domains)
    }

    /// The first arrangements of a member under which all edges to members that are placed stay inside.
    fn arrangement_of(
        &self,
        member: &Candidate,
        fused: &[Extents; 2],
        placed: &[(Candidate, Arrangements)],
    ) -> Option<(Arrangements, BTreeSet<Guard>, BTreeSet<Pair>)> {
        let own = self.boxes(member);
        let in_a_warp = fits_as_warp(&own[1], &fused[1]);
        let first_warp = in_a_warp.then_some(Arrangement::FirstWarp);
        for blocks in ARRANGEMENTS {
            for threads in first_warp.into_iter().chain(ARRANGEMENTS) {
                let moved = matches!(threads, Arrangement::Transposed | Arrangement::Reversed);
                if [blocks, threads] == SAME || moved && needs_its_block(member) {
                    continue;
                }
                let mut guards = BTreeSet::new();
                let mut conditions = conditions(blocks, &own[0], &fused[0], "grid");
                conditions.extend(self::conditions(threads, &own[1], &fused[1], "shape"));
                if conditions.iter().any(is_impossible) {
                    continue;
                }
                guards.extend(conditions);
                let mut block_wide = BTreeSet::new();
                let mut place = |(other, theirs): &(Candidate, Arrangements)| {
                    let mine = (member, [blocks, threads]);
                    let other = (other, *theirs);
                    let [first, second] = match other.0.node < member.node {
                        true => [other, mine],
                        false => [mine, other],
                    };
                    let wide = self.stays_in_place(first, second, fused, &mut guards)?;
                    if wide {
                        block_wide.insert((first.0.node, second.0.node));
                    }
                    Some(())
                };
                if placed.iter().all(|other| place(other).is_some()) {
                    return Some(([blocks, threads], guards, block_wide));
                }
            }
        }
        None
    }

    /// Whether an edge between two members is as wide as a block; `None` when one may leave it.
    fn stays_in_place(
        &self,
        (source, of_source): (&Candidate, Arrangements),
        (sink, of_sink): (&Candidate, Arrangements),
        fused: &[Extents; 2],
        guards: &mut BTreeSet<Guard>,
    ) -> Option<bool> {
        let mut wide = false;
        let equal = of_source == of_sink && self.boxes(source) == self.boxes(sink);
        let (one, other) = (self.boxes(source), self.boxes(sink));
        let functions_of = |kind: usize| {
            let symbol = [CoordinateSymbol::Block, CoordinateSymbol::Thread][kind];
            let sides = [(of_source[kind], &one[kind]), (of_sink[kind], &other[kind])];
            functions(symbol, sides, &fused[kind])
        };
        let functions = match equal {
            true => [None, None],
            false => [functions_of(0), functions_of(1)],
        };
        let keeps_numbers = |arrangements: Arrangements| {
            let mut kinds = arrangements.iter();
            kinds.all(|kind| matches!(kind, Arrangement::Same | Arrangement::Renumbered))
        };
        let numbered = !equal && keeps_numbers(of_source) && keeps_numbers(of_sink);
        let edges = self.edges(source.node, sink.node).iter();
        for edge in edges.filter(|edge| orders(edge)) {
            guards.extend(edge.absent_if.iter().cloned());
            if equal && edge.scope != Scope::Global {
                guards.extend(edge.conditions.iter().cloned());
                wide |= edge.scope == Scope::Block;
                continue;
            }
            let mut found = scope_by(edge, &functions);
            if found.is_none() && numbered {
                found = self.scope_by_number(edge, source, sink);
            }
            match (found, &edge.mapped) {
                (Some(scope), Some(mapped)) => {
                    guards.extend(mapped.conditions.iter().cloned());
                    wide |= scope == Scope::Block;
                }
                _ if !edge.absent_if.is_empty() => {}
                _ => return None,
            }
        }
        Some(wide)
    }

    /// The scope of an edge by its map, where blocks, and threads in them, have the same numbers on both sides.
    fn scope_by_number(&self, edge: &Edge, source: &Candidate, sink: &Candidate) -> Option<Scope> {
        let mapped = edge.mapped.as_ref()?;
        if (mapped.map.source_blocks, mapped.map.sink_blocks) != (1, 1) {
            return None;
        }
        let number = |member| match mapped.scope {
            Scope::Thread => self.number(member, ThreadOrder::Blocks, None),
            Scope::Block | Scope::Global => self.linear_block(member),
        };
        let (one, other) = (number(source)?, number(sink)?);
        told_by(&mapped.map.source, &mapped.map.sink, &one, &other).then_some(mapped.scope)
    }

    /// The extents of a member's grid and block.
    fn boxes(&self, member: &Candidate) -> [Extents; 2] {
        let extents = |first: usize| std::array::from_fn(|axis| self.extent(member, first + axis));
        [extents(0), extents(3)]
    }
}

type Pair = (crate::launch::NodeId, crate::launch::NodeId);

/// Two members as the program runs them.
pub(in crate::schedule) fn in_order<'b, 'a>(
    one: &'b Candidate<'a>,
    other: &'b Candidate<'a>,
) -> [&'b Candidate<'a>; 2] {
    match one.node < other.node {
        true => [one, other],
        false => [other, one],
    }
}

fn is_impossible(guard: &Guard) -> bool {
    matches!(guard, Guard::Holds { condition, .. } if condition.decided() == Some(false))
}

/// Whether a block is known to be one warp along x.
fn is_warp(block: &Extents) -> bool {
    let known = |extent: &Expression<ValueId>| extent.as_constant();
    [0, 1, 2].map(|axis| known(&block[axis])) == [Some(WARP_THREADS), Some(1), Some(1)]
}

/// Whether a block may be one warp along x, and another is not the same: of which x a run alone tells, the other has as many
/// threads along x, and more along y.
fn fits_as_warp(own: &Extents, fused: &Extents) -> bool {
    let flat = [1, 2]
        .iter()
        .all(|axis| own[*axis].as_constant() == Some(1));
    let rows = own[0] == fused[0] && fused[1].as_constant() != Some(1);
    is_warp(own) && own != fused || flat && own[0].as_constant().is_none() && rows
}

/// What makes an arrangement one-to-one from a box to that of the fused launch, or to its first warp.
fn conditions(arrangement: Arrangement, own: &Extents, fused: &Extents, class: &str) -> Vec<Guard> {
    let product = |extents: &Extents| {
        let [x, y, z] = extents.clone();
        x.multiply(y).multiply(z)
    };
    let axes = match arrangement {
        Arrangement::Same | Arrangement::Reversed => [0, 1, 2],
        Arrangement::Transposed => [1, 0, 2],
        Arrangement::Renumbered => {
            let (own, fused) = (product(own), product(fused));
            let most = Expression::Constant(MOST_NUMBERS);
            let conditions = [
                Condition::Equal(own, fused.clone()),
                Condition::LessEqual(fused, most),
            ];
            return conditions.map(|condition| holds(class, condition)).into();
        }
        Arrangement::FirstWarp => {
            let warp = Expression::Constant(WARP_THREADS);
            return vec![
                holds(class, Condition::Equal(own[0].clone(), warp.clone())),
                holds(class, Condition::LessEqual(warp, fused[0].clone())),
            ];
        }
    };
    (0..3)
        .map(|axis| Condition::Equal(own[axis].clone(), fused[axes[axis]].clone()))
        .map(|condition| holds(class, condition))
        .collect()
}

fn holds(class: &str, condition: Condition<ValueId>) -> Guard {
    Guard::Holds {
        class: String::from(class),
        condition,
    }
}

/// The places of two sides as functions of common coordinates, which tell the places of the fused launch
/// apart; `None` when they cannot be written without quotients.
fn functions(
    symbol: fn(Axis) -> CoordinateSymbol,
    sides: [(Arrangement, &Extents); 2],
    fused: &Extents,
) -> Option<[Function; 2]> {
    let [(_, one), (_, other)] = sides;
    if sides[0] == sides[1] {
        return Some([itself(symbol, one), itself(symbol, other)]);
    }
    let is_line = |extents: &Extents| {
        let mut rest = extents[1..].iter();
        rest.all(|extent| extent.as_constant() == Some(1))
    };
    // Coordinates of one that is counted along several axes serve a line as well.
    let counted = |(arrangement, extents): &(Arrangement, &Extents)| {
        *arrangement == Arrangement::Renumbered && !is_line(extents)
    };
    if let Some(at) = sides.iter().position(counted) {
        let (arrangement, line) = sides[1 - at];
        let numbered = matches!(arrangement, Arrangement::Same | Arrangement::Renumbered);
        if !numbered || !is_line(line) {
            return None;
        }
        let own = itself(symbol, sides[at].1);
        let zero = Expression::Constant(0);
        let line = [number(symbol, sides[at].1)?, zero.clone(), zero];
        return Some(match at {
            0 => [own, line],
            _ => [line, own],
        });
    }
    let function = |(arrangement, extents): (Arrangement, &Extents)| -> Option<Function> {
        let own = itself(symbol, fused);
        Some(match arrangement {
            Arrangement::Same => own,
            Arrangement::Transposed => {
                let [x, y, z] = own;
                [y, x, z]
            }
            Arrangement::Reversed => {
                let [x, y, z] = own;
                let last = value(&extents[0])?.subtract(Expression::Constant(1));
                [last.subtract(x), y, z]
            }
            Arrangement::Renumbered => {
                let zero = Expression::Constant(0);
                [number(symbol, fused)?, zero.clone(), zero]
            }
            Arrangement::FirstWarp => itself(symbol, extents),
        })
    };
    Some([function(sides[0])?, function(sides[1])?])
}

/// The coordinates of a box; an axis of one place has none.
fn itself(symbol: fn(Axis) -> CoordinateSymbol, extents: &Extents) -> Function {
    Axis::ALL.map(|axis| match extents[axis.index()].as_constant() {
        Some(1) => Expression::Constant(0),
        _ => Expression::Leaf(symbol(axis)),
    })
}

/// The number of a place of a box, x fastest.
fn number(
    symbol: fn(Axis) -> CoordinateSymbol,
    extents: &Extents,
) -> Option<Expression<CoordinateSymbol>> {
    let mut number = Expression::Constant(0);
    let mut unit = Expression::Constant(1);
    for (digit, extent) in itself(symbol, extents).into_iter().zip(extents) {
        number = number.add(unit.clone().multiply(digit));
        unit = unit.multiply(value(extent)?);
    }
    Some(number)
}

fn value(extent: &Expression<ValueId>) -> Option<Expression<CoordinateSymbol>> {
    match extent {
        Expression::Constant(extent) => Some(Expression::Constant(*extent)),
        Expression::Leaf(value) => Some(Expression::Leaf(CoordinateSymbol::Value(*value))),
        _ => None,
    }
}

/// The scope of an edge by its map, where both sides' blocks and threads are these functions.
fn scope_by(edge: &Edge, functions: &[Option<[Function; 2]>; 2]) -> Option<Scope> {
    let mapped = edge.mapped.as_ref()?;
    if (mapped.map.source_blocks, mapped.map.sink_blocks) != (1, 1) {
        return None;
    }
    let [blocks, threads] = functions;
    let placed = |coordinate: &Expression<CoordinateSymbol>, side: usize| {
        let placed = coordinate.substitute(&mut |symbol| {
            Some(match symbol {
                CoordinateSymbol::Block(axis) => blocks.as_ref()?[side][axis.index()].clone(),
                CoordinateSymbol::Thread(axis) => threads.as_ref()?[side][axis.index()].clone(),
                CoordinateSymbol::Value(_) => Expression::Leaf(*symbol),
            })
        })?;
        sum_of(&placed)
    };
    let pairs: Vec<(Option<Sum>, Option<Sum>)> = mapped
        .map
        .source
        .iter()
        .zip(&mapped.map.sink)
        .map(|(source, sink)| (placed(source, 0), placed(sink, 1)))
        .collect();
    let agree = |(source, sink): &(Option<Sum>, Option<Sum>)| source.is_some() && source == sink;
    if pairs.iter().all(agree) {
        return Some(mapped.scope);
    }
    // Blocks alone may agree where threads do not: each axis of theirs by itself.
    let agreeing = mapped.map.source.iter().zip(&mapped.map.sink).zip(&pairs);
    let told: BTreeSet<CoordinateSymbol> = agreeing
        .filter(|(_, pair)| agree(pair))
        .filter_map(|((source, sink), _)| match (source, sink) {
            (Expression::Leaf(source), Expression::Leaf(_)) => Some(*source),
            _ => None,
        })
        .collect();
    let blocks = Axis::ALL.map(CoordinateSymbol::Block);
    let all = blocks.iter().all(|block| told.contains(block));
    all.then_some(Scope::Block)
}

/// Threads of a warp.
const WARP_THREADS: i64 = 32;

/// Those that fill the fused launch.
const ARRANGEMENTS: [Arrangement; 4] = [
    Arrangement::Same,
    Arrangement::Transposed,
    Arrangement::Reversed,
    Arrangement::Renumbered,
];
/// So many shapes of members are tried for the fused launch.
const MOST_LEADERS: usize = 4;
