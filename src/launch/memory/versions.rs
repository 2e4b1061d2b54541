//! Versions of memory: which write, join or entry the bytes at an address come from.
//!
//! Invariant: every instruction that may write a location is one of its writers, and every block
//! where two different writes may meet is one of its joins, so the version that the walk up the
//! dominator tree finds is the only one that reaches.

use super::super::host_ir::{Opcode, Operand};
use super::super::memory::Writes;
use super::super::points_to::{PointsTo, Targets, UNKNOWN};
use super::super::values::{Definition, Numbering, Symbol};
use std::collections::HashMap;
use std::rc::Rc;

/// How memory came to be what a load sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::launch) enum Version {
    Entry,
    Write(usize),
    Join(usize),
}

/// Where in a function a load stands: before instruction `limit` of `block`.
#[derive(Clone, Copy, Debug)]
pub(in crate::launch) struct Point {
    pub(in crate::launch) block: usize,
    pub(in crate::launch) limit: usize,
}

#[derive(Debug)]
pub(in crate::launch) struct Location {
    /// What its address may point to.
    pub(in crate::launch) targets: Targets,
    pub(in crate::launch) written: Rc<Written>,
    /// The versions at the starts of blocks that were asked for.
    starts: HashMap<usize, Version>,
}

/// Where some bytes of memory may be written in a function. Many addresses lead to the same bytes, as far as is known.
#[derive(Debug)]
pub(in crate::launch) struct Written {
    /// Blocks and the instructions in them that may write the bytes, in order.
    writers: Vec<(usize, usize)>,
    /// Blocks where two of them may meet, in order.
    joins: Vec<usize>,
}

/// The instructions of a function that may write host memory.
#[derive(Debug, Default)]
pub(in crate::launch) struct Writers {
    /// Each with what it writes, ascending.
    all: Vec<(usize, Rc<Writes>)>,
    /// Those that write an object, by position.
    by_object: HashMap<usize, Vec<usize>>,
    /// Those that write what escaped, or anything.
    far: Vec<usize>,
}

impl Writers {
    pub(in crate::launch) fn new(all: Vec<(usize, Rc<Writes>)>) -> Self {
        let mut by_object: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut far = Vec::new();
        for (index, (_, writes)) in all.iter().enumerate() {
            if writes.anywhere || writes.escaped {
                far.push(index);
            }
            for object in writes.objects() {
                by_object.entry(object).or_default().push(index);
            }
        }
        Self {
            all,
            by_object,
            far,
        }
    }

    /// A superset of those that may write through one of the targets, ascending.
    fn candidates(&self, points_to: &PointsTo, targets: &Targets) -> Vec<usize> {
        let unclear = targets.is_empty() || targets.iter().any(|target| target.object == UNKNOWN);
        if unclear {
            return (0..self.all.len()).collect();
        }
        let mut found: Vec<usize> = Vec::new();
        for target in targets {
            found.extend(self.by_object.get(&target.object).into_iter().flatten());
        }
        let escaped = points_to.any_escaped(targets);
        let far = self.far.iter().copied();
        found.extend(far.filter(|index| escaped || self.all[*index].1.anywhere));
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Numbering<'_> {
    pub(in crate::launch) fn version_before(
        &mut self,
        function: usize,
        point: Point,
        address: Symbol,
        targets: &Targets,
        bytes: u64,
    ) -> Version {
        let key = (function, address, bytes);
        if !self.locations.contains_key(&key) {
            let location = self.location(function, address, targets, bytes);
            self.locations.insert(key, location);
        }
        let (flow, _) = &self.flows[&function];
        let Some(location) = self.locations.get_mut(&key) else {
            return Version::Entry;
        };
        let Point {
            mut block,
            mut limit,
        } = point;
        let mut passed = Vec::new();
        let found = loop {
            let writers = &location.written.writers;
            let before = writers.partition_point(|writer| *writer < (block, limit));
            if let Some((_, writer)) = writers[..before].last().filter(|last| last.0 == block) {
                break Version::Write(*writer);
            }
            if let Some(known) = location.starts.get(&block) {
                break *known;
            }
            passed.push(block);
            if location.written.joins.binary_search(&block).is_ok() {
                break Version::Join(block);
            }
            match flow.immediate_dominator[block] {
                Some(dominator) => (block, limit) = (dominator, usize::MAX),
                None => break Version::Entry,
            }
        };
        location
            .starts
            .extend(passed.into_iter().map(|block| (block, found)));
        found
    }

    fn location(
        &mut self,
        function: usize,
        address: Symbol,
        targets: &Targets,
        bytes: u64,
    ) -> Location {
        let key = (function, targets.clone(), bytes);
        let written = match self.written.get(&key) {
            Some(known) => Rc::clone(known),
            None => {
                let all = self.writers[&function].candidates(self.facts.points_to, targets);
                let all = all.into_iter().filter_map(|index| {
                    let (at, writes) = &self.writers[&function].all[index];
                    let touches = writes.may_touch(self.facts.points_to, targets, bytes);
                    touches.then_some(*at)
                });
                let found = Rc::new(self.writers_of(function, all.collect()));
                self.written.insert(key, Rc::clone(&found));
                found
            }
        };
        let elsewhere = |(_, at): &(usize, usize)| self.is_elsewhere(function, *at, address, bytes);
        let written = match written.writers.iter().any(elsewhere) {
            false => written,
            true => {
                let others = written.writers.iter().filter(|each| !elsewhere(each));
                Rc::new(self.writers_of(function, others.map(|(_, at)| *at).collect()))
            }
        };
        Location {
            targets: targets.clone(),
            written,
            starts: HashMap::new(),
        }
    }

    /// What these instructions may write.
    fn writers_of(&self, function: usize, all: Vec<usize>) -> Written {
        let instructions = &self.facts.host.functions[function].instructions;
        let (flow, _) = &self.flows[&function];
        let in_block = |at: usize| (instructions[at].block, at);
        let mut writers: Vec<(usize, usize)> = all.into_iter().map(in_block).collect();
        writers.sort_unstable();
        let mut is_join = vec![false; flow.frontier.len()];
        let mut joins = Vec::new();
        let mut work: Vec<usize> = writers.iter().map(|(block, _)| *block).collect();
        work.dedup();
        while let Some(block) = work.pop() {
            for join in &flow.frontier[block] {
                if !std::mem::replace(&mut is_join[*join], true) {
                    joins.push(*join);
                    work.push(*join);
                }
            }
        }
        joins.sort_unstable();
        Written { writers, joins }
    }

    /// Whether a store writes other bytes than those at an address: the two are constant distances from one base that never
    /// changes.
    fn is_elsewhere(&self, function: usize, at: usize, address: Symbol, bytes: u64) -> bool {
        let instruction = &self.facts.host.functions[function].instructions[at];
        let Opcode::Store { stored, .. } = &instruction.opcode else {
            return false;
        };
        let Operand::Instruction(place) = instruction.operands[1] else {
            return false;
        };
        let place = self.values.get(&(function, place)).copied();
        let unchanging = place.filter(|place| self.varies_in(*place).is_none());
        let Some(distance) = unchanging.and_then(|place| self.distance(address, place)) else {
            return false;
        };
        let end = i64::try_from(bytes).unwrap_or(i64::MAX);
        let size = i64::try_from(stored.bytes()).unwrap_or(i64::MAX);
        distance >= end || distance.saturating_add(size) <= 0
    }

    pub(in crate::launch) fn version_symbol(
        &mut self,
        function: usize,
        version: Version,
    ) -> Symbol {
        match version {
            Version::Entry => self.intern(Definition::EntryVersion(function), None),
            Version::Write(at) => {
                let block = self.facts.host.functions[function].instructions[at].block;
                let varies_in = self.loop_of(function, block);
                self.intern(Definition::WriteVersion(function, at), varies_in)
            }
            Version::Join(block) => {
                let varies_in = self.loop_of(function, block);
                self.intern(Definition::JoinVersion(function, block), varies_in)
            }
        }
    }
}
