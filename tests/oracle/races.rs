//! Races of a run: pairs of accesses within one launch that neither a thread nor a barrier orders.

use sirius_runtime::abi::access;
use sirius_runtime::trace::{Access, NO_ORDINAL, Record, Trace};
use std::collections::{BTreeSet, HashMap};

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
            shared_bytes: 0,
            kernel: String::from("made"),
            arguments: Vec::new(),
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
