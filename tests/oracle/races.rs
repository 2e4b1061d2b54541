//! Races of a run: pairs of accesses within one launch that neither a thread nor a barrier orders.

use sirius_runtime::abi::access;
use sirius_runtime::output::trace::{Access, NO_ORDINAL, Record, Trace};
use std::collections::{BTreeSet, HashMap};

/// A search through the records of a run on one thread, in their order. What a launch accessed is kept until the next one
/// begins.
#[derive(Default)]
pub struct Races {
    sites: HashMap<u32, u32>,
    /// The launch whose accesses come now: they come without a gap, since one thread ran it.
    launch: Option<u32>,
    parts: Vec<BlockAccesses>,
    found: BTreeSet<(u32, &'static str)>,
}

impl Races {
    /// Takes in what comes next in the run.
    pub fn add(&mut self, record: Record) {
        match record {
            Record::Launch { launch, site, .. } => {
                self.sites.insert(launch, site);
            }
            Record::Accesses {
                launch,
                block,
                accesses,
            } => {
                if self.launch != Some(launch) {
                    self.settle();
                    self.launch = Some(launch);
                }
                self.parts.push((block, accesses));
            }
            _ => {}
        }
    }

    /// The launch sites with a race, and what races there.
    pub fn found(mut self) -> BTreeSet<(u32, &'static str)> {
        self.settle();
        self.found
    }

    fn settle(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        let Some(launch) = self.launch.take() else {
            return;
        };
        let site = self.sites.get(&launch).copied().unwrap_or(u32::MAX);
        let phases = phases(parts);
        let raced = phases.iter().find_map(|parts| race(parts));
        self.found.extend(raced.map(|what| (site, what)));
    }
}

/// The accesses of a launch, apart where all its blocks wait for each other: nothing in front of a grid-wide barrier races
/// with what is behind it.
fn phases(parts: Vec<BlockAccesses>) -> Vec<Vec<BlockAccesses>> {
    let mut barriers: HashMap<[u32; 3], Vec<u32>> = HashMap::new();
    for (block, accesses) in &parts {
        let met = accesses.iter().filter(|access| meets_grid(access));
        let met: Vec<u32> = met.map(|access| access.interval).collect();
        if !met.is_empty() {
            barriers.entry(*block).or_default().extend(met);
        }
    }
    if barriers.is_empty() {
        return vec![parts];
    }
    barriers.values_mut().for_each(|own| own.sort_unstable());
    let mut phases: Vec<Vec<BlockAccesses>> = Vec::new();
    for (block, accesses) in parts {
        let own = barriers.get(&block).map_or(&[][..], Vec::as_slice);
        let mut of_block: Vec<Vec<Access>> = Vec::new();
        for access in accesses {
            let phase = own.partition_point(|barrier| *barrier < access.interval);
            if of_block.len() <= phase {
                of_block.resize_with(phase + 1, Vec::new);
            }
            of_block[phase].push(access);
        }
        if phases.len() < of_block.len() {
            phases.resize_with(of_block.len(), Vec::new);
        }
        for (phase, accesses) in phases.iter_mut().zip(of_block) {
            phase.push((block, accesses));
        }
    }
    phases
}

/// Whether a block comes to a grid-wide barrier here: it adds to a word of the driver's, in no allocation. Its threads
/// wait for each other before and after.
fn meets_grid(access: &Access) -> bool {
    let nowhere = access.space == 0 && access.ordinal == NO_ORDINAL;
    nowhere && u32::from(access.kind) == access::ATOMIC
}

/// What a block accessed.
type BlockAccesses = ([u32; 3], Vec<Access>);

/// The memory that an access is to: the block that owns it when it is shared, and the allocation.
type Home = (Option<[u32; 3]>, u32);

/// What races in a launch, if anything does. Bytes that are only read are passed over first, since they
/// are most of a run; of the others, what was seen is summed up, so that the time is linear in the accesses.
fn race(parts: &[BlockAccesses]) -> Option<&'static str> {
    let mut homes = Homes::default();
    let bytes_per_cell = bytes_per_cell(parts);
    for (block, accesses) in parts {
        for access in accesses.iter().filter(|it| it.kind != LOAD) {
            let Some(home) = home_of(*block, access) else {
                continue;
            };
            let cells = homes.cells_of_new(home);
            let (from, to) = cells_of(access, bytes_per_cell);
            if cells.len() < to {
                cells.resize_with(to, || None);
            }
            for cell in &mut cells[from..to] {
                cell.get_or_insert_default();
            }
        }
    }
    for (block, accesses) in parts {
        for access in accesses {
            let Some(cells) = home_of(*block, access).and_then(|home| homes.cells_of(home)) else {
                continue;
            };
            let (from, to) = cells_of(access, bytes_per_cell);
            let to = to.min(cells.len());
            for touched in cells[from.min(to)..to].iter_mut().flatten() {
                if touched.add(*block, access) {
                    let shared = access.space != 0;
                    return Some(if shared {
                        "shared memory"
                    } else {
                        "global memory"
                    });
                }
            }
        }
    }
    None
}

/// The cells of each memory that is written.
#[derive(Default)]
struct Homes {
    places: HashMap<Home, usize>,
    cells: Vec<Cells>,
    /// What was asked for last: an access is mostly to the memory that the one before it was to.
    latest: Option<(Home, Option<usize>)>,
}

type Cells = Vec<Option<Box<Touched>>>;

impl Homes {
    fn cells_of_new(&mut self, home: Home) -> &mut Cells {
        let place = match self.latest {
            Some((latest, Some(place))) if latest == home => place,
            _ => {
                let new = self.cells.len();
                let place = *self.places.entry(home).or_insert(new);
                if place == new {
                    self.cells.push(Vec::new());
                }
                self.latest = Some((home, Some(place)));
                place
            }
        };
        &mut self.cells[place]
    }

    fn cells_of(&mut self, home: Home) -> Option<&mut Cells> {
        let place = match self.latest {
            Some((latest, place)) if latest == home => place,
            _ => {
                let place = self.places.get(&home).copied();
                self.latest = Some((home, place));
                place
            }
        };
        self.cells.get_mut(place?)
    }
}

/// `None` for memory that no allocation holds.
fn home_of(block: [u32; 3], access: &Access) -> Option<Home> {
    match access.space {
        0 if access.ordinal == NO_ORDINAL => None,
        0 => Some((None, access.ordinal)),
        _ => Some((Some(block), access.ordinal)),
    }
}

/// What is looked at as one: words where every access is to whole ones, else bytes.
fn bytes_per_cell(parts: &[BlockAccesses]) -> u64 {
    const WORD_BYTES: u64 = 4;
    let mut accesses = parts.iter().flat_map(|(_, accesses)| accesses);
    let whole = accesses.all(|access| {
        access.offset.is_multiple_of(WORD_BYTES)
            && u64::from(access.size).is_multiple_of(WORD_BYTES)
    });
    if whole { WORD_BYTES } else { 1 }
}

fn cells_of(access: &Access, bytes_per_cell: u64) -> (usize, usize) {
    let at = |byte: u64| usize::try_from(byte / bytes_per_cell).expect("it fits in memory");
    (
        at(access.offset),
        at(access.offset + u64::from(access.size)),
    )
}

const LOAD: u8 = access::LOAD as u8;

/// Who touched a cell in a launch, as far as it matters.
#[derive(Default)]
struct Touched {
    blocks: Agents<[u32; 3]>,
    /// The threads of a block in one interval between barriers, which nothing orders, the latest last.
    intervals: Vec<Interval>,
}

struct Interval {
    block: [u32; 3],
    number: u32,
    threads: Agents<u32>,
}

impl Touched {
    /// Whether what is seen now races: two blocks conflict, or two threads of a block between the same
    /// barriers.
    fn add(&mut self, block: [u32; 3], access: &Access) -> bool {
        self.blocks.add(access.kind, block);
        let is_same = |known: &Interval| (known.block, known.number) == (block, access.interval);
        let index = self.intervals.iter().rposition(is_same);
        let index = index.unwrap_or_else(|| {
            self.intervals.push(Interval {
                block,
                number: access.interval,
                threads: Agents::default(),
            });
            self.intervals.len() - 1
        });
        let threads = &mut self.intervals[index].threads;
        threads.add(access.kind, access.thread);
        self.blocks.conflict() || threads.conflict()
    }
}

/// Who loads, stores, and updates.
struct Agents<A>([Several<A>; 3]);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Several<A> {
    None,
    One(A),
    More,
}

impl<A> Default for Agents<A> {
    fn default() -> Self {
        Self([Several::None, Several::None, Several::None])
    }
}

impl<A: Copy + PartialEq> Agents<A> {
    fn add(&mut self, kind: u8, agent: A) {
        let conduct = match u32::from(kind) {
            access::LOAD => 0,
            access::STORE => 1,
            _ => 2,
        };
        self.0[conduct] = match self.0[conduct] {
            Several::None => Several::One(agent),
            Several::One(other) if other == agent => Several::One(agent),
            _ => Several::More,
        };
    }

    /// Two that are not the same do what conflicts: not both load, and not both update.
    fn conflict(&self) -> bool {
        let [loads, stores, updates] = self.0;
        let differ = |a: Several<A>, b: Several<A>| match (a, b) {
            (Several::None, _) | (_, Several::None) => false,
            (Several::One(a), Several::One(b)) => a != b,
            _ => true,
        };
        stores == Several::More
            || differ(stores, loads)
            || differ(stores, updates)
            || differ(loads, updates)
    }
}

fn races(trace: Trace) -> BTreeSet<(u32, &'static str)> {
    let mut races = Races::default();
    trace
        .records
        .into_iter()
        .for_each(|record| races.add(record));
    races.found()
}

/// That [`Races`] sees what races, and nothing else: pairs of accesses to one byte, made by hand.
pub fn check_races() -> Result<(), String> {
    let (load, store, add) = (access::LOAD, access::STORE, access::ATOMIC);
    // Block, thread, interval and kind of two accesses; shared memory; whether they race.
    type Agent = (u32, u32, u32, u32);
    let cases: [(Agent, Agent, u8, bool); 9] = [
        ((0, 0, 0, store), (1, 0, 0, load), 0, true),
        ((0, 0, 0, store), (0, 1, 0, load), 0, true),
        ((0, 0, 0, store), (0, 1, 1, load), 0, false),
        ((0, 0, 0, store), (0, 0, 0, load), 0, false),
        ((0, 0, 0, store), (1, 0, 1, store), 0, true),
        ((0, 0, 0, load), (1, 0, 0, load), 0, false),
        ((0, 0, 0, add), (1, 0, 0, add), 0, false),
        ((0, 0, 0, add), (1, 0, 0, load), 0, true),
        ((0, 0, 0, store), (1, 0, 0, store), 1, false),
    ];
    for (first, second, space, expected) in cases {
        let made = [first, second].map(|(block, thread, interval, kind)| Made {
            block,
            access: access_of(thread, interval, kind, space, 16),
        });
        if races(trace_of(&made)).is_empty() == expected {
            return Err(format!(
                "{first:?} and {second:?}: expected race {expected}"
            ));
        }
    }
    check_grid_barriers()?;
    check_sums()
}

/// That a grid-wide barrier orders what blocks do in front of it and behind it, and nothing else.
fn check_grid_barriers() -> Result<(), String> {
    let (load, store, add) = (access::LOAD, access::STORE, access::ATOMIC);
    let touch = |block, interval, kind| Made {
        block,
        access: access_of(1, interval, kind, 0, 16),
    };
    let come = |block, interval| Made {
        block,
        access: Access {
            ordinal: NO_ORDINAL,
            ..access_of(0, interval, add, 0, 1 << 40)
        },
    };
    // The second block has met one barrier of its own more.
    let met = [come(0, 1), come(1, 2)];
    let cases = [
        ([touch(0, 0, store), touch(1, 3, load)], false),
        ([touch(0, 2, store), touch(1, 3, load)], true),
        ([touch(0, 1, store), touch(1, 2, load)], true),
        ([touch(0, 2, store), touch(1, 2, load)], false),
    ];
    for (touches, expected) in cases {
        let made = [touches.as_slice(), &met].concat();
        if races(trace_of(&made)).is_empty() == expected {
            return Err(format!("{touches:?}: expected race {expected}"));
        }
    }
    Ok(())
}

/// That what is summed up finds the races that all pairs of accesses have, in random launches.
fn check_sums() -> Result<(), String> {
    let mut state = 1_u64;
    let mut below = |bound: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        u32::try_from(state >> 33).unwrap_or(0) % bound
    };
    let mut racing = 0;
    for case in 0..2000 {
        let (blocks, threads, intervals) = (1 + below(3), 1 + below(3), 1 + below(3));
        // Bits of the kinds that occur, so that launches without stores are among them.
        let kinds: Vec<u32> = (0..3).filter(|_| below(2) == 0).collect();
        let made: Vec<Made> = (0..2 + below(5))
            .map(|_| {
                let kind = match kinds.len() {
                    0 => 1,
                    count => kinds[below(count as u32) as usize],
                };
                let place = u64::from(8 * below(2) + below(4));
                let (thread, interval) = (below(threads), below(intervals));
                Made {
                    block: below(blocks),
                    access: access_of(thread, interval, kind, (case % 2) as u8, place),
                }
            })
            .collect();
        let expected = made
            .iter()
            .any(|first| made.iter().any(|second| first.races_with(second)));
        racing += usize::from(expected);
        if races(trace_of(&made)).is_empty() == expected {
            return Err(format!("case {case}: expected race {expected} of {made:?}"));
        }
    }
    match racing {
        400..1600 => Ok(()),
        _ => Err(format!("{racing} of 2000 random launches race")),
    }
}

/// An access that was made by hand, by a block of a row of blocks.
#[derive(Clone, Copy, Debug)]
struct Made {
    block: u32,
    access: Access,
}

impl Made {
    /// The definition: two accesses to a byte conflict, and nothing orders them.
    fn races_with(&self, other: &Self) -> bool {
        let (a, b) = (&self.access, &other.access);
        let common = a.offset < b.offset + u64::from(b.size)
            && b.offset < a.offset + u64::from(a.size)
            && (a.space == 0 || self.block == other.block);
        let kinds = [u32::from(a.kind), u32::from(b.kind)];
        let stores = kinds.contains(&access::STORE);
        let ordered =
            self.block == other.block && (a.thread == b.thread || a.interval != b.interval);
        common && (stores || kinds[0] != kinds[1]) && !ordered
    }
}

fn access_of(thread: u32, interval: u32, kind: u32, space: u8, offset: u64) -> Access {
    Access {
        thread,
        interval,
        ordinal: 3,
        offset,
        size: 4,
        kind: kind as u8,
        space,
    }
}

/// The trace of one launch.
fn trace_of(made: &[Made]) -> Trace {
    let launch = Record::Launch {
        launch: 0,
        site: 7,
        grid: [4, 1, 1],
        block: [4, 1, 1],
        shared_bytes: 0,
        kernel: String::from("made"),
        arguments: Vec::new(),
    };
    let accesses = made.iter().map(|made| Record::Accesses {
        launch: 0,
        block: [made.block, 0, 0],
        accesses: vec![made.access],
    });
    Trace {
        records: [launch].into_iter().chain(accesses).collect(),
    }
}
