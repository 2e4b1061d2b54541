//! Versions of memory: which write, join or entry the bytes at an address come from.
//!
//! Invariant: every instruction that may write a location is one of its writers, and every block
//! where two different writes may meet is one of its joins, so the version that the walk up the
//! dominator tree finds is the only one that reaches.

use super::host_ir::{Opcode, Operand};
use super::memory::Writes;
use super::points_to::{PointsTo, Targets, UNKNOWN};
use super::values::{Definition, Numbering, Symbol};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// How memory came to be what a load sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Entry,
    Write(usize),
    Join(usize),
}

/// Where in a function a load stands: before instruction `limit` of `block`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) block: usize,
    pub(super) limit: usize,
}

#[derive(Debug)]
pub(super) struct Location {
    /// What its address may point to.
    pub(super) targets: Targets,
    /// Instructions that may write it, ascending within each block.
    pub(super) writers: HashMap<usize, Vec<usize>>,
    pub(super) joins: BTreeSet<usize>,
    /// The versions at the starts of blocks that were asked for.
    starts: HashMap<usize, Version>,
}

/// The instructions of a function that may write host memory.
#[derive(Debug, Default)]
pub(super) struct Writers {
    /// Each with what it writes, ascending.
    all: Vec<(usize, Rc<Writes>)>,
    /// Those that write an object, by position.
    by_object: HashMap<usize, Vec<usize>>,
    /// Those that write what escaped, or anything.
    far: Vec<usize>,
}

impl Writers {
    pub(super) fn new(all: Vec<(usize, Rc<Writes>)>) -> Self {
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
        let mut found = BTreeSet::new();
        for target in targets {
            found.extend(self.by_object.get(&target.object).into_iter().flatten());
        }
        let escaped = points_to.any_escaped(targets);
        let far = self.far.iter().copied();
        found.extend(far.filter(|index| escaped || self.all[*index].1.anywhere));
        found.into_iter().collect()
    }
}

impl Numbering<'_> {
    pub(super) fn version_before(
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
            let last = location
                .writers
                .get(&block)
                .and_then(|writers| writers.iter().rev().find(|writer| **writer < limit));
            if let Some(writer) = last {
                break Version::Write(*writer);
            }
            if let Some(known) = location.starts.get(&block) {
                break *known;
            }
            passed.push(block);
            if location.joins.contains(&block) {
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
        &self,
        function: usize,
        address: Symbol,
        targets: &Targets,
        bytes: u64,
    ) -> Location {
        let host = self.facts.host;
        let (flow, _) = &self.flows[&function];
        let written = &self.writers[&function];
        let mut writers: HashMap<usize, Vec<usize>> = HashMap::new();
        for index in written.candidates(self.facts.points_to, targets) {
            let (at, writes) = &written.all[index];
            let instruction = &host.functions[function].instructions[*at];
            if self.may_write(function, *at, writes, address, targets, bytes) {
                writers.entry(instruction.block).or_default().push(*at);
            }
        }
        let mut joins = BTreeSet::new();
        let mut work: Vec<usize> = writers.keys().copied().collect();
        while let Some(block) = work.pop() {
            for join in &flow.frontier[block] {
                if joins.insert(*join) {
                    work.push(*join);
                }
            }
        }
        Location {
            targets: targets.clone(),
            writers,
            joins,
            starts: HashMap::new(),
        }
    }

    fn may_write(
        &self,
        function: usize,
        at: usize,
        writes: &Writes,
        address: Symbol,
        targets: &Targets,
        bytes: u64,
    ) -> bool {
        let instruction = &self.facts.host.functions[function].instructions[at];
        // Two constant distances from one base that never changes.
        if let Opcode::Store { stored, .. } = &instruction.opcode
            && let Operand::Instruction(place) = instruction.operands[1]
            && let Some(place) = self.values.get(&(function, place))
            && self.varies_in(*place).is_none()
            && let Some(distance) = self.distance(address, *place)
        {
            let end = i64::try_from(bytes).unwrap_or(i64::MAX);
            let size = i64::try_from(stored.bytes()).unwrap_or(i64::MAX);
            return distance < end && distance.saturating_add(size) > 0;
        }
        writes.may_touch(self.facts.points_to, targets, bytes)
    }

    pub(super) fn version_symbol(&mut self, function: usize, version: Version) -> Symbol {
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
