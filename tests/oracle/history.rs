//! Which threads of which launches touched common bytes, from a trace.

use sirius_rs::dependence::{DependenceKind, Scope};
use sirius_runtime::abi::access;
use sirius_runtime::output::trace::{Access, NO_ORDINAL, Record};
use std::collections::{BTreeMap, HashMap};

/// A thread of a launch: its block, and its linear index in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    pub block: [u32; 3],
    pub thread: u32,
}

/// A launch of the run.
#[derive(Clone, Debug)]
pub struct LaunchSeen {
    pub site: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// The bytes of each argument.
    pub arguments: Vec<Vec<u8>>,
}

/// What was seen between two launches, of one kind.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// The smallest unit of the grid that contains each pair of threads.
    pub scope: Scope,
    /// Some of the pairs, of each scope the ones with the smallest hash; that choice depends on
    /// nothing but the pairs.
    pub pairs: [BTreeMap<u64, (Point, Point)>; 3],
}

/// The dependences of a run.
#[derive(Default)]
pub struct History {
    /// By number.
    pub launches: BTreeMap<u32, LaunchSeen>,
    /// By source launch, sink launch and kind.
    pub meetings: BTreeMap<(u32, u32, DependenceKind), Meeting>,
    tables: HashMap<u32, Table>,
}

impl History {
    /// Replays records in the order of a run on one thread.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut history = Self::default();
        for record in records {
            history.add(record);
        }
        history
    }

    /// Adds what comes next in the run.
    pub fn add(&mut self, record: &Record) {
        match record {
            Record::Launch {
                launch,
                site,
                grid,
                block,
                shared_bytes,
                arguments,
                ..
            } => {
                let seen = LaunchSeen {
                    site: *site,
                    grid: *grid,
                    block: *block,
                    shared_bytes: *shared_bytes,
                    arguments: arguments.clone(),
                };
                self.launches.insert(*launch, seen);
            }
            Record::Accesses {
                launch,
                block,
                accesses,
            } => {
                for access in accesses {
                    if access.space == 0 && access.ordinal != NO_ORDINAL && access.size > 0 {
                        self.touch(*launch, *block, access);
                    }
                }
            }
            Record::Freed { ordinal } => {
                self.tables.remove(ordinal);
            }
            // The host's own accesses separate what came before from what comes after.
            Record::Copy {
                destination, bytes, ..
            }
            | Record::Set { destination, bytes } => {
                if let Some(table) = self.tables.get_mut(&destination.ordinal) {
                    table.forget(destination.offset, *bytes);
                }
            }
            Record::Allocation { .. } => {}
        }
    }

    fn touch(&mut self, launch: u32, block: [u32; 3], access: &Access) {
        let point = Point {
            block,
            thread: access.thread,
        };
        let conduct = match u32::from(access.kind) {
            access::LOAD => Conduct::Reads,
            access::STORE => Conduct::Writes,
            _ => Conduct::Updates,
        };
        let table = self.tables.entry(access.ordinal).or_default();
        let meetings = &mut self.meetings;
        for cell in table.cells(access.offset, u64::from(access.size)) {
            cell.touch(launch, point, conduct, &mut |source, from, kind| {
                meetings
                    .entry((source, launch, kind))
                    .or_insert_with(|| Meeting {
                        scope: Scope::Thread,
                        pairs: Default::default(),
                    })
                    .see(from, point);
            });
        }
    }
}

/// Pairs of one scope that a meeting keeps.
const SAMPLES: usize = 24;

impl Meeting {
    fn see(&mut self, source: Point, sink: Point) {
        let scope = scope_between(source, sink);
        self.scope = self.scope.max(scope);
        let sample = &mut self.pairs[scope as usize];
        let hash = hash_of(source, sink);
        let full = sample.len() >= SAMPLES;
        if full && sample.keys().next_back().is_some_and(|last| *last <= hash) {
            return;
        }
        sample.insert(hash, (source, sink));
        if full {
            sample.pop_last();
        }
    }
}

/// The smallest unit of the grid that contains both.
pub fn scope_between(source: Point, sink: Point) -> Scope {
    if source.block != sink.block {
        Scope::Global
    } else if source.thread != sink.thread {
        Scope::Block
    } else {
        Scope::Thread
    }
}

fn hash_of(source: Point, sink: Point) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for word in [source, sink]
        .iter()
        .flat_map(|point| point.block.into_iter().chain([point.thread]))
    {
        hash = (hash ^ u64::from(word)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 29;
    }
    hash
}

/// The cells of an allocation: words of four bytes while every access consists of whole ones, else
/// bytes.
struct Table {
    bytes_per_cell: u64,
    cells: Vec<Cell>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            bytes_per_cell: 4,
            cells: Vec::new(),
        }
    }
}

impl Table {
    fn cells(&mut self, offset: u64, bytes: u64) -> &mut [Cell] {
        if !offset.is_multiple_of(self.bytes_per_cell) || !bytes.is_multiple_of(self.bytes_per_cell)
        {
            let split = std::mem::take(&mut self.cells).into_iter();
            self.cells = split.flat_map(|cell| vec![cell; 4]).collect();
            self.bytes_per_cell = 1;
        }
        let (from, to) = self.range(offset, bytes);
        if self.cells.len() < to {
            self.cells.resize_with(to, Cell::default);
        }
        &mut self.cells[from..to]
    }

    fn forget(&mut self, offset: u64, bytes: u64) {
        let whole =
            offset.is_multiple_of(self.bytes_per_cell) && bytes.is_multiple_of(self.bytes_per_cell);
        if !whole {
            self.cells(offset, bytes);
        }
        let (from, to) = self.range(offset, bytes);
        let end = to.min(self.cells.len());
        for cell in &mut self.cells[from.min(end)..end] {
            cell.entries.clear();
        }
    }

    fn range(&self, offset: u64, bytes: u64) -> (usize, usize) {
        let cell =
            |byte: u64| usize::try_from(byte / self.bytes_per_cell).expect("it fits in memory");
        (cell(offset), cell(offset + bytes))
    }
}

/// Who touched a place, by launch, the latest last.
#[derive(Clone, Default)]
struct Cell {
    entries: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    launch: u32,
    /// A later launch wrote here.
    overwritten: bool,
    readers: Few,
    writers: Few,
    /// By atomic operations.
    updaters: Few,
}

/// What an access does to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conduct {
    Reads,
    Writes,
    Updates,
}

impl Cell {
    /// Adds an access, and calls `meet` for each earlier thread of another
    /// launch that it conflicts with. Two atomic updates are told as [`DependenceKind::Reduction`],
    /// whether or not they are ones.
    fn touch(
        &mut self,
        launch: u32,
        point: Point,
        conduct: Conduct,
        meet: &mut impl FnMut(u32, Point, DependenceKind),
    ) {
        if self.entries.last().is_none_or(|last| last.launch != launch) {
            self.entries
                .retain(|entry| !entry.overwritten || entry.launch + 1 == launch);
            self.entries.push(Entry {
                launch,
                overwritten: false,
                readers: Few::default(),
                writers: Few::default(),
                updaters: Few::default(),
            });
        }
        let Some((own, earlier)) = self.entries.split_last_mut() else {
            return;
        };
        // What conflicts with an access that was seen already was seen with it.
        let new = match conduct {
            Conduct::Reads => own.readers.add(point),
            Conduct::Writes => own.writers.add(point),
            Conduct::Updates => own.updaters.add(point),
        };
        if !new {
            return;
        }
        for entry in earlier {
            if entry.overwritten && entry.launch + 1 != launch {
                continue;
            }
            let (source, kinds) = (entry.launch, kinds_of_meeting(conduct));
            let before = [&entry.readers, &entry.writers, &entry.updaters];
            for (agents, kinds) in before.into_iter().zip(kinds) {
                for agent in &agents.points {
                    kinds.iter().for_each(|kind| meet(source, *agent, *kind));
                }
            }
            if conduct != Conduct::Reads {
                entry.overwritten = true;
            }
        }
    }
}

/// The dependences on earlier readers, writers and updaters of a cell.
fn kinds_of_meeting(conduct: Conduct) -> [&'static [DependenceKind]; 3] {
    use DependenceKind::{Anti, Flow, Output, Reduction};
    match conduct {
        Conduct::Reads => [&[], &[Flow], &[Flow]],
        Conduct::Writes => [&[Anti], &[Output], &[Anti, Output]],
        Conduct::Updates => [&[Anti], &[Flow, Output], &[Reduction]],
    }
}

/// Some threads: all while they are few, else ones of different blocks where there are such.
#[derive(Clone, Default)]
struct Few {
    points: Vec<Point>,
}

/// Threads that are kept for a place. Two of different blocks or threads already tell the scope.
const MOST_POINTS: usize = 5;

impl Few {
    /// False when the thread is among them already.
    fn add(&mut self, point: Point) -> bool {
        if self.points.contains(&point) {
            return false;
        }
        if self.points.len() < MOST_POINTS {
            self.points.push(point);
            return true;
        }
        let known = |points: &[Point], block| points.iter().any(|other| other.block == block);
        if !known(&self.points, point.block)
            && let Some(twin) = (1..self.points.len())
                .find(|index| known(&self.points[..*index], self.points[*index].block))
        {
            self.points[twin] = point;
        }
        true
    }
}
