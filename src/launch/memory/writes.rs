//! Sets of byte ranges of host memory.
//!
//! Invariant: a set never forgets a range; one that grows too large stands for more places instead.

use crate::launch::points_to::{PointsTo, Target, Targets, UNKNOWN};
use std::collections::{BTreeMap, BTreeSet};

/// Ranges of one object that a set tells apart.
const RANGES_PER_OBJECT: usize = 32;

/// Objects that a set tells apart.
const OBJECTS: usize = 1024;

/// A range of an object: its start (`None`: any) and length (`None`: any).
type Range = (Option<i64>, Option<u64>);

/// Ranges that an instruction may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// Ranges, by object.
    ranges: BTreeMap<usize, BTreeSet<Range>>,
    /// Any byte.
    pub anywhere: bool,
    /// Everything that escaped too.
    pub escaped: bool,
    /// Whatever unknown code writes that may call back into the module.
    pub calls_unknown: bool,
}

impl Writes {
    /// What an unknown call writes by itself.
    pub fn unknown_call() -> Self {
        Self {
            escaped: true,
            calls_unknown: true,
            ..Self::default()
        }
    }

    /// No write at all.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty() && !self.escaped && !self.anywhere
    }

    /// The objects of its ranges.
    pub fn objects(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranges.keys().copied()
    }

    /// Adds `bytes` bytes (`None`: any number) at one of the targets. A pointer that points nowhere
    /// in this module comes from outside, if the code runs at all.
    pub fn add(&mut self, targets: &Targets, bytes: Option<u64>) {
        self.escaped |= targets.is_empty();
        for target in targets {
            match target.object {
                UNKNOWN => self.escaped = true,
                object => {
                    self.insert(object, (target.offset.as_exact(), bytes));
                }
            }
        }
    }

    /// Adds another set; true when this one grew.
    pub fn join(&mut self, other: &Self) -> bool {
        let before = (self.anywhere, self.escaped, self.calls_unknown);
        self.anywhere |= other.anywhere;
        self.escaped |= other.escaped;
        self.calls_unknown |= other.calls_unknown;
        let mut grew = before != (self.anywhere, self.escaped, self.calls_unknown);
        if self.anywhere {
            self.ranges.clear();
            return grew;
        }
        for (object, ranges) in &other.ranges {
            for range in ranges {
                grew |= self.insert(*object, *range);
            }
        }
        grew
    }

    /// Every byte of the other set is in this one.
    pub fn contains(&self, other: &Self) -> bool {
        (self.calls_unknown || !other.calls_unknown)
            && (self.escaped || !other.escaped)
            && (self.anywhere || !other.anywhere)
            && (self.anywhere
                || other.ranges.iter().all(|(object, ranges)| {
                    let own = self.ranges.get(object);
                    own.is_some_and(|own| {
                        own.contains(&(None, None))
                            || ranges.iter().all(|range| own.contains(range))
                    })
                }))
    }

    /// Some byte of it may be among `bytes` bytes at one of the targets.
    pub fn may_touch(&self, points_to: &PointsTo, targets: &Targets, bytes: u64) -> bool {
        if self.is_empty() {
            return false;
        }
        if self.anywhere || targets.is_empty() || self.escaped && points_to.any_escaped(targets) {
            return true;
        }
        targets.iter().any(|target| {
            if target.object == UNKNOWN {
                let mut objects = self.objects();
                return objects.any(|object| points_to.is_reached_by_others(object));
            }
            let ranges = self.ranges.get(&target.object);
            ranges.is_some_and(|ranges| ranges.iter().any(|range| overlaps(*range, *target, bytes)))
        })
    }

    fn insert(&mut self, object: usize, range: Range) -> bool {
        if self.anywhere {
            return false;
        }
        if self.ranges.len() >= OBJECTS && !self.ranges.contains_key(&object) {
            self.anywhere = true;
            self.ranges.clear();
            return true;
        }
        let ranges = self.ranges.entry(object).or_default();
        if ranges.contains(&(None, None)) || !ranges.insert(range) {
            return false;
        }
        if ranges.len() > RANGES_PER_OBJECT || range == (None, None) {
            *ranges = BTreeSet::from([(None, None)]);
        }
        true
    }
}

fn overlaps((start, length): Range, target: Target, bytes: u64) -> bool {
    let before = |from: Option<i64>, length: Option<u64>, to: Option<i64>| match (from, length, to)
    {
        (Some(from), Some(length), Some(to)) => {
            i64::try_from(length).is_ok_and(|length| from.saturating_add(length) <= to)
        }
        _ => false,
    };
    let place = target.offset.as_exact();
    !before(start, length, place) && !before(place, Some(bytes), start)
}
