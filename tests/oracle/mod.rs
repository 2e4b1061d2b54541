//! What really happened, from a trace: which launches depended on each other, and how widely.
//!
//! The oracle knows nothing of the compiler. It replays the accesses of an unfused run in order and
//! keeps, for each byte of device memory, who wrote it last and who has read it since; from that it
//! derives every flow, anti and output dependence between launch sites, with the smallest unit of
//! the grid that contains each pair of threads.

use sirius_runtime::abi::access;
use sirius_runtime::trace::{NO_ORDINAL, Record, Trace};
use std::collections::{BTreeMap, HashMap};

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
