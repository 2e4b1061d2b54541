//! Who came to each byte of memory in one launch.
//!
//! Memory is looked at in units of four bytes, or of one where a page has been accessed in parts of four. Visits
//! that are equal have one number, so that a unit costs five words.

use std::collections::HashMap;

/// How a thread came to a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Linear index of its block.
    pub block: u32,
    /// Linear index of its cluster; of its block, where clusters are of one block.
    pub cluster: u32,
    /// Linear index of the thread in the block.
    pub thread: u16,
    /// Whether it may meet others of its kind: atomic or volatile.
    pub atomic: bool,
    /// Whether the thread has still to wait for the barrier of its cluster that it arrived at last.
    pub waits: bool,
    /// Barriers of its cluster that the thread had arrived at.
    pub arrived: u32,
    /// Barriers that the block had passed.
    pub interval: u32,
    /// Warp operations that the thread's warp had completed.
    pub warp_operations: u32,
    /// Atomic accesses of the launch before this one.
    pub time: u32,
    /// Where it stands in the program, by its number.
    pub site: u32,
}

impl Visit {
    /// Barriers of its cluster that the thread had waited for.
    pub fn waited(&self) -> u32 {
        self.arrived.wrapping_sub(u32::from(self.waits))
    }

    /// Whether a barrier of their cluster stands between this visit and a later one.
    pub fn is_before_in_cluster(&self, later: &Self) -> bool {
        self.cluster == later.cluster && self.arrived < later.waited()
    }
}

/// The number of a visit, from 1; 0 is none.
pub type VisitId = u32;

/// Who came to a unit: the last writer, and readers since then. Two readers are enough: one of them is another
/// thread, or is of another block, than whoever writes next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unit {
    /// The last writer.
    pub writer: VisitId,
    /// Two threads that read in the same interval of one block.
    pub readers: [VisitId; 2],
    /// Readers of two blocks.
    pub block_readers: [VisitId; 2],
}

/// Bytes of a page.
const PAGE: usize = 1024;

#[derive(Debug)]
struct Page {
    /// The launch that its units are of.
    launch: u32,
    /// Bytes of a unit, as a power of two: 0 or 2.
    shift: u32,
    units: Vec<Unit>,
}

impl Page {
    fn new(launch: u32) -> Self {
        let shift = 2;
        Self {
            launch,
            shift,
            units: vec![Unit::default(); PAGE >> shift],
        }
    }

    fn split(&mut self) {
        let bytes = 1 << self.shift;
        let repeated = (self.units.iter()).flat_map(|unit| std::iter::repeat_n(*unit, bytes));
        self.units = repeated.collect();
        self.shift = 0;
    }
}

/// The units of one memory, page by page.
#[derive(Debug, Default)]
pub struct Shadow {
    pages: HashMap<(u32, usize), Page>,
}

/// Pages that are kept from one launch to the next.
const KEPT_PAGES: usize = 1 << 14;

impl Shadow {
    /// Lets go of what takes much memory, between launches.
    pub fn shrink(&mut self) {
        if self.pages.len() > KEPT_PAGES {
            self.pages.clear();
        }
    }

    /// Calls `each` for every unit that an access touches, with the unit's first byte and how many bytes of it.
    pub fn touch(
        &mut self,
        (memory, launch): (u32, u32),
        from: usize,
        bytes: usize,
        mut each: impl FnMut(&mut Unit, usize, usize),
    ) {
        let end = from.saturating_add(bytes);
        let mut at = from;
        while at < end {
            let page_start = at - at % PAGE;
            let part_end = end.min(page_start + PAGE);
            let page = (self.pages)
                .entry((memory, page_start / PAGE))
                .or_insert_with(|| Page::new(launch));
            if page.launch != launch {
                page.units.fill(Unit::default());
                page.launch = launch;
            }
            if page.shift > 0 && !(at | part_end).is_multiple_of(1 << page.shift) {
                page.split();
            }
            let unit_bytes = 1 << page.shift;
            while at < part_end {
                let unit = &mut page.units[(at - page_start) >> page.shift];
                each(unit, at, unit_bytes);
                at += unit_bytes;
            }
        }
    }

    /// Calls `each` for every unit that was touched in a launch, page by page in no order, within a page in order.
    pub fn touched(&self, launch: u32, mut each: impl FnMut(u32, usize, usize, &Unit)) {
        for ((memory, number), page) in &self.pages {
            if page.launch != launch {
                continue;
            }
            for (index, unit) in page.units.iter().enumerate() {
                if unit.writer != 0 || unit.block_readers[0] != 0 {
                    each(
                        *memory,
                        number * PAGE + (index << page.shift),
                        1 << page.shift,
                        unit,
                    );
                }
            }
        }
    }
}

/// The visits of a launch by their numbers, and the places in the program that they have.
#[derive(Debug)]
pub struct Visits {
    all: Vec<Visit>,
    /// Numbers of visits that were made lately, by a hash.
    recent: Vec<VisitId>,
    sites: HashMap<usize, u32>,
    instructions: Vec<usize>,
    last_site: (usize, u32),
}

const RECENT: usize = 1 << 12;

impl Default for Visits {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            recent: vec![0; RECENT],
            sites: HashMap::new(),
            instructions: Vec::new(),
            last_site: (0, 0),
        }
    }
}

impl Visits {
    /// Forgets all visits; places keep their numbers.
    pub fn clear(&mut self) {
        self.all.clear();
        self.all.shrink_to(1 << 20);
        self.recent.fill(0);
    }

    /// The number of a place in the program.
    pub fn site(&mut self, instruction: usize) -> u32 {
        if self.last_site.0 == instruction && !self.instructions.is_empty() {
            return self.last_site.1;
        }
        let next = self.instructions.len() as u32;
        let site = *self.sites.entry(instruction).or_insert(next);
        if site == next {
            self.instructions.push(instruction);
        }
        self.last_site = (instruction, site);
        site
    }

    /// The instruction of a place.
    pub fn instruction(&self, site: u32) -> usize {
        self.instructions.get(site as usize).copied().unwrap_or(0)
    }

    /// The number of a visit.
    pub fn number(&mut self, visit: &Visit) -> VisitId {
        let hash = visit
            .site
            .wrapping_mul(31)
            .wrapping_add(u32::from(visit.thread));
        let slot = hash as usize % RECENT;
        let recent = self.recent[slot];
        if self.get(recent).is_some_and(|other| other == *visit) {
            return recent;
        }
        self.all.push(*visit);
        let number = self.all.len() as VisitId;
        self.recent[slot] = number;
        number
    }

    /// A visit by its number.
    pub fn get(&self, number: VisitId) -> Option<Visit> {
        (self.all).get((number as usize).wrapping_sub(1)).copied()
    }
}

impl Unit {
    /// Notes a visit that writes. What was read before is ordered before it, else it was reported.
    pub fn write(&mut self, number: VisitId) {
        *self = Self {
            writer: number,
            ..Self::default()
        };
    }

    /// Notes a visit that only reads.
    pub fn read(&mut self, visits: &Visits, number: VisitId) {
        let Some(visit) = visits.get(number) else {
            return;
        };
        // A plain read is told of rather than one that may meet atomic updates.
        let gives_way = |other: Visit| other.atomic || !visit.atomic;
        // Whoever races with a reader that is before this one does with this one.
        match visits.get(self.readers[0]) {
            Some(first)
                if (first.block, first.interval) == (visit.block, visit.interval)
                    && !first.is_before_in_cluster(&visit) =>
            {
                let same = first.thread == visit.thread;
                let slot = &mut self.readers[usize::from(!same)];
                if visits.get(*slot).is_none_or(gives_way) {
                    *slot = number;
                }
            }
            _ => self.readers = [number, 0],
        }
        match visits.get(self.block_readers[0]) {
            None => self.block_readers[0] = number,
            Some(first) if first.is_before_in_cluster(&visit) => self.block_readers = [number, 0],
            Some(first) => {
                let same = first.block == visit.block;
                let slot = &mut self.block_readers[usize::from(!same)];
                if visits.get(*slot).is_none_or(gives_way) {
                    *slot = number;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(shadow: &mut Shadow, from: usize, bytes: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        shadow.touch((0, 1), from, bytes, |unit, at, bytes| {
            unit.write(7);
            found.push((at, bytes));
        });
        found
    }

    #[test]
    fn units_are_words_until_a_part_of_one_is_accessed() {
        let mut shadow = Shadow::default();
        assert_eq!(touched(&mut shadow, 8, 8), [(8, 4), (12, 4)]);
        assert_eq!(touched(&mut shadow, 13, 2), [(13, 1), (14, 1)]);
        let mut written = Vec::new();
        shadow.touched(1, |_, at, bytes, unit| {
            written.push((at, bytes, unit.writer))
        });
        assert_eq!(written.len(), 8);
        assert_eq!(written[0], (8, 1, 7));
        // Another launch begins with nothing.
        shadow.touch((0, 2), 8, 4, |unit, _, _| assert_eq!(unit.writer, 0));
    }

    #[test]
    fn accesses_go_over_pages() {
        let mut shadow = Shadow::default();
        assert_eq!(touched(&mut shadow, 1020, 8), [(1020, 4), (1024, 4)]);
    }
}
