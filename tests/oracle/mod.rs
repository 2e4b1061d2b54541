//! What really happened, from a trace: which launches depended on each other, and how widely.
//!
//! The oracle knows nothing of the compiler. It replays the accesses of an unfused run in order and
//! keeps, for each byte of device memory, who wrote it last and who has read it since; from that it
//! derives every flow, anti and output dependence between launch sites, with the smallest unit of
//! the grid that contains each pair of threads. It also finds the races of a run: pairs of accesses
//! within one launch that neither a thread nor a barrier orders. A fused run without races whose final
//! memory is that of the unfused run has, on this input, the unfused meaning in every schedule.

pub mod paths;

use sirius_runtime::abi::access;
use sirius_runtime::trace::{Access, NO_ORDINAL, Record, Trace};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Thread, block or global, ordered by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// Same thread of the same block.
    Thread,
    /// Same block.
    Block,
    /// Anything else.
    Global,
}

impl Width {
    /// The width that a report names.
    pub fn from_name(name: &str) -> Self {
        match name {
            "thread" => Self::Thread,
            "block" => Self::Block,
            "global" => Self::Global,
            other => panic!("a report names the width {other:?}"),
        }
    }
}

/// Source site, sink site, and `flow`, `anti` or `output`.
pub type DependenceKey = (u32, u32, &'static str);

/// The widest dependence that happened, for each pair of sites and kind.
pub fn dependences_that_happened(trace: &Trace) -> BTreeMap<DependenceKey, Width> {
    let mut oracle = Oracle::default();
    for record in &trace.records {
        match record {
            Record::Launch { launch, site, .. } => {
                oracle.sites.insert(*launch, *site);
            }
            Record::Accesses {
                launch,
                block,
                accesses,
            } => {
                for access in accesses {
                    if access.space != 0 || access.ordinal == NO_ORDINAL {
                        continue;
                    }
                    let who = Who {
                        launch: *launch,
                        block: Some(*block),
                        thread: Some(access.thread),
                    };
                    for byte in access.offset..access.offset + u64::from(access.size) {
                        oracle.touch((access.ordinal, byte), who, access.kind.into());
                    }
                }
            }
            Record::Freed { ordinal } => {
                oracle.bytes.retain(|(owner, _), _| owner != ordinal);
            }
            // The host's own accesses separate what came before from what comes after.
            Record::Copy {
                destination, bytes, ..
            }
            | Record::Set { destination, bytes } => {
                for byte in destination.offset..destination.offset + bytes {
                    oracle.bytes.remove(&(destination.ordinal, byte));
                }
            }
            Record::Allocation { .. } => {}
        }
    }
    oracle.found
}

/// The launch sites with a race, and what races there.
pub fn races(trace: &Trace) -> BTreeSet<(u32, &'static str)> {
    let mut found = BTreeSet::new();
    let mut sites = HashMap::new();
    let mut current = None;
    let mut touched: HashMap<Place, Vec<Agent>> = HashMap::new();
    for record in &trace.records {
        match record {
            Record::Launch { launch, site, .. } => {
                sites.insert(*launch, *site);
            }
            Record::Accesses {
                launch,
                block,
                accesses,
            } => {
                if current != Some(*launch) {
                    found.extend(current.and_then(|old| race(&sites, old, &touched)));
                    touched.clear();
                    current = Some(*launch);
                }
                for access in accesses {
                    let shared = access.space != 0;
                    if !shared && access.ordinal == NO_ORDINAL {
                        continue;
                    }
                    let agent = Agent {
                        block: *block,
                        interval: access.interval,
                        thread: access.thread,
                        kind: access.kind.into(),
                    };
                    for byte in access.offset..access.offset + u64::from(access.size) {
                        let home = if shared { Some(*block) } else { None };
                        let agents = touched.entry((home, access.ordinal, byte)).or_default();
                        if !agents.contains(&agent) {
                            agents.push(agent);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    found.extend(current.and_then(|old| race(&sites, old, &touched)));
    found
}

/// A byte: the block that owns it when it is shared memory, allocation, and offset.
type Place = (Option<[u32; 3]>, u32, u64);

/// Who touched a byte, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Agent {
    block: [u32; 3],
    interval: u32,
    thread: u32,
    kind: u32,
}

impl Agent {
    fn races_with(self, other: Self) -> bool {
        let plain_write = self.kind == access::STORE || other.kind == access::STORE;
        let reads = [self.kind, other.kind].contains(&access::LOAD);
        let both_read = self.kind == access::LOAD && other.kind == access::LOAD;
        let conflict = plain_write || (reads && !both_read);
        let ordered = self.block == other.block
            && (self.thread == other.thread || self.interval != other.interval);
        conflict && !ordered
    }
}

/// What races in a launch, if anything does.
fn race(
    sites: &HashMap<u32, u32>,
    launch: u32,
    touched: &HashMap<Place, Vec<Agent>>,
) -> Option<(u32, &'static str)> {
    let site = sites.get(&launch).copied().unwrap_or(u32::MAX);
    touched.iter().find_map(|((home, ..), agents)| {
        let races = agents
            .iter()
            .filter(|agent| agent.kind != access::LOAD)
            .any(|writer| agents.iter().any(|other| writer.races_with(*other)));
        let memory = if home.is_some() {
            "shared memory"
        } else {
            "global memory"
        };
        races.then_some((site, memory))
    })
}

/// A launch's threads that touched a byte: one thread, one block, or several.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Who {
    launch: u32,
    block: Option<[u32; 3]>,
    thread: Option<u32>,
}

impl Who {
    fn join(self, other: Self) -> Self {
        let block = if self.block == other.block {
            self.block
        } else {
            None
        };
        let same = self.thread == other.thread && block.is_some();
        Self {
            launch: self.launch,
            block,
            thread: if same { self.thread } else { None },
        }
    }

    fn width_to(self, other: Self) -> Width {
        match (self.block, other.block) {
            (Some(a), Some(b)) if a == b => match (self.thread, other.thread) {
                (Some(a), Some(b)) if a == b => Width::Thread,
                _ => Width::Block,
            },
            _ => Width::Global,
        }
    }
}

#[derive(Default)]
struct Byte {
    writer: Option<Who>,
    readers: Vec<Who>,
}

#[derive(Default)]
struct Oracle {
    sites: HashMap<u32, u32>,
    bytes: HashMap<(u32, u64), Byte>,
    found: BTreeMap<DependenceKey, Width>,
}

impl Oracle {
    fn touch(&mut self, place: (u32, u64), who: Who, kind: u32) {
        let byte = self.bytes.entry(place).or_default();
        let mut pairs = Vec::new();
        let reads = kind != access::STORE;
        let writes = kind != access::LOAD;
        if reads {
            pairs.extend(byte.writer.map(|writer| (writer, "flow")));
        }
        if writes {
            pairs.extend(byte.writer.map(|writer| (writer, "output")));
            pairs.extend(byte.readers.iter().map(|reader| (*reader, "anti")));
        }
        if reads {
            match byte
                .readers
                .iter_mut()
                .find(|reader| reader.launch == who.launch)
            {
                Some(reader) => *reader = reader.join(who),
                None => byte.readers.push(who),
            }
        }
        if writes {
            byte.writer = Some(match byte.writer {
                Some(writer) if writer.launch == who.launch => writer.join(who),
                _ => who,
            });
            byte.readers.retain(|reader| reader.launch == who.launch);
        }
        for (source, kind) in pairs {
            if source.launch == who.launch {
                continue;
            }
            let sites = (self.sites[&source.launch], self.sites[&who.launch]);
            let width = source.width_to(who);
            let found = self.found.entry((sites.0, sites.1, kind)).or_insert(width);
            *found = (*found).max(width);
        }
    }
}

/// That [`races`] sees what races, and nothing else: pairs of accesses to one byte, made by hand.
pub fn check_races() -> Result<(), String> {
    let (load, store, add) = (access::LOAD, access::STORE, access::ATOMIC);
    // Block, thread, interval and kind of two accesses; shared memory; whether they race.
    type Made = (u32, u32, u32, u32);
    let cases: [(Made, Made, u8, bool); 9] = [
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
        let mut trace = Trace::default();
        trace.records.push(Record::Launch {
            launch: 0,
            site: 7,
            grid: [2, 1, 1],
            block: [2, 1, 1],
            kernel: String::from("made"),
        });
        for (block, thread, interval, kind) in [first, second] {
            trace.records.push(Record::Accesses {
                launch: 0,
                block: [block, 0, 0],
                accesses: vec![Access {
                    thread,
                    interval,
                    ordinal: 3,
                    offset: 16,
                    size: 4,
                    kind: kind as u8,
                    space,
                }],
            });
        }
        if races(&trace).is_empty() == expected {
            return Err(format!(
                "{first:?} and {second:?}: expected race {expected}"
            ));
        }
    }
    Ok(())
}
