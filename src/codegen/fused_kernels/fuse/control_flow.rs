//! The control flow of a fused kernel: what dominates what, which blocks run again, and what a thread
//! may do between two barriers.
//!
//! The passes that ask this are below: loops that become one, barriers that go, branches whose outcome is known.

pub(super) mod barriers;
pub(super) mod broadcasts;
pub(super) mod counterparts;
pub(super) mod counting;
pub(super) mod implied_branches;
pub(super) mod loops;
pub(super) mod short_loops;
pub(super) mod tiles;
pub(super) mod versions;

use super::BLOCK_BARRIER;
use crate::llvm::{self, Block, Value};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;

/// The control flow of one function, as it is when it is asked for.
pub(super) struct ControlFlow<'ctx> {
    flow: llvm::ControlFlow<'ctx>,
    /// Blocks that may lead to themselves.
    repeated: HashSet<Block<'ctx>>,
    /// Where each instruction stands in its block.
    places: HashMap<Value<'ctx>, usize>,
}

impl<'ctx> Deref for ControlFlow<'ctx> {
    type Target = llvm::ControlFlow<'ctx>;

    fn deref(&self) -> &Self::Target {
        &self.flow
    }
}

impl<'ctx> ControlFlow<'ctx> {
    /// `None` for a function without a body.
    pub(super) fn of(function: Value<'ctx>) -> Option<Self> {
        let flow = llvm::ControlFlow::of(function)?;
        let places = flow
            .blocks()
            .flat_map(|block| block.instructions().into_iter().enumerate())
            .map(|(place, instruction)| (instruction, place))
            .collect();
        Some(Self {
            repeated: flow.repeated(),
            flow,
            places,
        })
    }

    /// All instructions that are reached.
    pub(super) fn instructions(&self) -> impl Iterator<Item = Value<'ctx>> {
        self.blocks().flat_map(Block::instructions)
    }

    /// Whether an instruction comes before another on every way to that.
    pub(super) fn precedes(&self, one: Value, other: Value) -> bool {
        match one.block() == other.block() {
            true => self.places.get(&one) < self.places.get(&other),
            false => self.dominates(one.block(), other.block()),
        }
    }

    /// Whether a thread may run a block more than once.
    pub(super) fn repeats(&self, block: Block) -> bool {
        self.repeated.contains(&block)
    }

    /// Header, latch and blocks of each loop that has one latch.
    pub(super) fn loops_with_one_latch(
        &self,
    ) -> Vec<(Block<'ctx>, Block<'ctx>, HashSet<Block<'ctx>>)> {
        let loops = self.natural_loops().into_iter();
        let with_one = loops.filter_map(|found| match found.latches[..] {
            [latch] => Some((found.header, latch, found.blocks)),
            _ => None,
        });
        with_one.collect()
    }

    /// The one block from which a loop with this latch is entered.
    pub(super) fn entered_from(&self, header: Block, latch: Block) -> Option<Block<'ctx>> {
        let from = self.predecessors(header).iter();
        let mut outside = from.filter(|from| **from != latch);
        let before = *outside.next()?;
        outside.next().is_none().then_some(before)
    }

    /// Whether every way from one block to an end of the function leads through another.
    pub(super) fn always_leads(&self, from: Block, to: Block) -> bool {
        let mut seen = HashSet::from([from]);
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            let next = block.successors();
            if next.is_empty() {
                return false;
            }
            work.extend(
                next.into_iter()
                    .filter(|next| *next != to && seen.insert(*next)),
            );
        }
        true
    }

    /// What a thread may have done since the last barrier when it comes to an instruction.
    pub(super) fn since_barrier(&self, place: Value<'ctx>) -> Vec<Value<'ctx>> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let before = |block: Block<'ctx>, end: Option<Value<'ctx>>| {
            let mut list = block.instructions();
            if let Some(place) = end.and_then(|end| list.iter().position(|each| *each == end)) {
                list.truncate(place);
            }
            list.reverse();
            list
        };
        let mut work = vec![(place.block(), Some(place))];
        while let Some((block, end)) = work.pop() {
            let list = before(block, end);
            let open: Vec<Value> = list.into_iter().take_while(|at| !is_barrier(*at)).collect();
            let whole = open.len() == before(block, end).len();
            found.extend(open);
            if whole {
                for from in self.predecessors(block) {
                    if seen.insert(*from) {
                        work.push((*from, None));
                    }
                }
            }
        }
        found
    }

    /// What a thread may do from an instruction on before it comes to a barrier.
    pub(super) fn until_barrier(&self, place: Value<'ctx>) -> Vec<Value<'ctx>> {
        until_barrier(place.block(), Some(place))
    }

    /// What a thread may do before it comes to any barrier.
    pub(super) fn until_first_barrier(&self) -> Vec<Value<'ctx>> {
        self.blocks()
            .next()
            .map_or(Vec::new(), |entry| until_barrier(entry, None))
    }

    /// The first instructions of a kind on the ways from an instruction.
    pub(super) fn until(
        &self,
        from: Value<'ctx>,
        kind: impl Fn(&Value<'ctx>) -> bool,
    ) -> Vec<Value<'ctx>> {
        ways_until(from.block(), Some(from), kind).1
    }

    /// What a thread may do after one of these instructions.
    pub(super) fn reached_from(&self, places: &[Value<'ctx>]) -> HashSet<Value<'ctx>> {
        let mut found = HashSet::new();
        let mut seen = HashSet::new();
        let mut work = Vec::new();
        for place in places {
            let list = place.block().instructions();
            let behind = self.places.get(place).map_or(0, |place| place + 1);
            found.extend(list.into_iter().skip(behind));
            work.extend(place.block().successors());
        }
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                found.extend(block.instructions());
                work.extend(block.successors());
            }
        }
        found
    }
}

/// What a thread may do before it comes to a barrier, from behind `start` or from the begin of a block.
fn until_barrier<'ctx>(block: Block<'ctx>, start: Option<Value<'ctx>>) -> Vec<Value<'ctx>> {
    ways_until(block, start, |at| is_barrier(*at)).0
}

/// What a thread may do before it comes to an instruction of a kind, from behind `start` or from the begin
/// of a block, and those that it may come to first.
fn ways_until<'ctx>(
    block: Block<'ctx>,
    start: Option<Value<'ctx>>,
    kind: impl Fn(&Value<'ctx>) -> bool,
) -> (Vec<Value<'ctx>>, Vec<Value<'ctx>>) {
    let (mut passed, mut ends) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    let mut work = vec![(block, start)];
    while let Some((block, start)) = work.pop() {
        let list = block.instructions();
        let start = start.and_then(|start| list.iter().position(|each| *each == start));
        let rest = &list[start.map_or(0, |start| start + 1)..];
        let open = rest.iter().position(&kind);
        passed.extend(&rest[..open.unwrap_or(rest.len())]);
        match open {
            Some(end) => ends.push(rest[end]),
            None => {
                let successors = block.successors().into_iter();
                work.extend(
                    successors
                        .filter(|to| seen.insert(*to))
                        .map(|to| (to, None)),
                );
            }
        }
    }
    (passed, ends)
}

/// Whether an instruction is a barrier of all threads of the block. Those of fewer threads are not.
pub(super) fn is_barrier(instruction: Value) -> bool {
    instruction.called_name().as_deref() == Some(BLOCK_BARRIER)
        && instruction.call_arguments()[0].constant_integer() == Some(0)
}
