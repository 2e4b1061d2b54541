//! Versions of memory: which write, join or entry the bytes at an address come from.
//!
//! Invariant: every instruction that may write a location is one of its writers, and every block
//! where two different writes may meet is one of its joins, so the version that the walk up the
//! dominator tree finds is the only one that reaches.

use super::host_ir::{Opcode, Operand};
use super::memory::Writes;
use super::points_to::Targets;
use super::values::{Definition, Numbering, Symbol};
use std::collections::{BTreeSet, HashMap};

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
        let location = &self.locations[&key];
        let (flow, _) = &self.flows[&function];
        let Point {
            mut block,
            mut limit,
        } = point;
        loop {
            let last = location
                .writers
                .get(&block)
                .and_then(|writers| writers.iter().rev().find(|writer| **writer < limit));
            if let Some(writer) = last {
                return Version::Write(*writer);
            }
            if location.joins.contains(&block) {
                return Version::Join(block);
            }
            match flow.immediate_dominator[block] {
                Some(dominator) => (block, limit) = (dominator, usize::MAX),
                None => return Version::Entry,
            }
        }
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
        let mut writers: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, writes) in &self.writers[&function] {
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
        let points_to = self.facts.points_to;
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
        (writes.escaped && points_to.any_escaped(targets))
            || writes
                .places
                .iter()
                .any(|(place, size)| points_to.may_overlap((place, *size), (targets, Some(bytes))))
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
