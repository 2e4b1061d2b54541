//! Operations of different streams that come to one byte while nothing orders them.
//!
//! Each operation has a number in its stream, and each stream knows which operations of others come before its
//! next one: through events, through the default stream, and through the host, which waits for streams, events
//! and copies. Work is done when the call that issues it returns, so that only what a program says counts, not what happened.
//!
//! Nothing is kept before a program makes its first stream or gets memory that it shares with the
//! device. Where there is doubt, operations are ordered: a host function counts as something that the
//! host has waited for, and so does a kernel that accesses memory of the host atomically.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::{allocation_name, at, host};
use crate::allocations::{MemoryKind, Place, place};
use crate::environment::settings;
use crate::termination;

/// The number of the last operation that is known of each stream.
type Clock = BTreeMap<u64, u64>;

/// What an operation does to a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It only updates atomically.
    Update,
    /// It writes.
    Write,
}

impl Access {
    fn meets(self, other: Self) -> bool {
        self == other && self != Self::Write
    }

    fn verb(self, past: bool) -> &'static str {
        match (self, past) {
            (Self::Read, true) => "read",
            (Self::Read, false) => "reads",
            (Self::Update, true) => "updated",
            (Self::Update, false) => "updates",
            (Self::Write, true) => "wrote",
            (Self::Write, false) => "writes",
        }
    }
}

/// What one operation did to a range of an allocation.
#[derive(Clone, Debug)]
struct Record {
    from: usize,
    to: usize,
    access: Access,
    stream: u64,
    number: u64,
    source: Source,
}

/// What touches memory.
#[derive(Clone, Debug)]
pub struct Source {
    /// A kernel, or what the host does.
    pub name: String,
    /// Where it stands in the program; 0 where that is not known.
    pub instruction: usize,
}

impl Source {
    fn host(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            instruction: 0,
        }
    }

    /// It with its line.
    pub fn describe(&self) -> String {
        format!("{}{}", self.name, at(self.instruction))
    }
}

#[derive(Debug, Default)]
struct Streams {
    clocks: BTreeMap<u64, Clock>,
    /// Streams that the default stream waits for, and that wait for it.
    blocking: Vec<u64>,
    host: Clock,
    events: BTreeMap<usize, Clock>,
    records: BTreeMap<u32, Vec<Record>>,
}

static STREAMS: LazyLock<Mutex<Streams>> = LazyLock::new(Mutex::default);
static IN_USE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The stream and the number of the operation that this thread issued last.
    static CURRENT: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    /// The copy in progress is one that the host does not wait for.
    static ASYNCHRONOUS: Cell<bool> = const { Cell::new(false) };
}

/// The stream that the program does not make.
const DEFAULT: u64 = 0;

/// Records of an allocation that are kept.
const MOST_RECORDS: usize = 1 << 9;

fn streams() -> MutexGuard<'static, Streams> {
    STREAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether operations of streams are compared.
pub fn are_compared() -> bool {
    IN_USE.load(Ordering::Relaxed)
}

/// Memory is allocated; what the host sees as well is looked at from now on.
pub fn allocated(kind: MemoryKind) {
    if settings().checks.race && host::sees(kind) {
        IN_USE.store(true, Ordering::Relaxed);
    }
}

/// A stream is made.
pub fn created(stream: u64, blocking: bool) {
    if !settings().checks.race {
        return;
    }
    IN_USE.store(true, Ordering::Relaxed);
    if blocking {
        streams().blocking.push(stream);
    }
}

/// A stream is no more.
pub fn destroyed(stream: u64) {
    if are_compared() {
        streams().blocking.retain(|other| *other != stream);
    }
}

/// An operation begins on a stream, which counts as one that waits for the default stream or not.
pub fn begins(stream: u64, blocking: bool) {
    if !are_compared() {
        return;
    }
    let mut streams = streams();
    let mut clock = streams.clock(stream);
    join(&mut clock, &streams.host);
    if stream == DEFAULT {
        for other in &streams.blocking {
            join(&mut clock, &streams.clock(*other));
        }
    } else if blocking {
        join(&mut clock, &streams.clock(DEFAULT));
    }
    let number = clock.entry(stream).or_insert(0);
    *number += 1;
    CURRENT.set((stream, *number));
    streams.clocks.insert(stream, clock);
}

/// The event happens behind the operation that this thread issued last.
pub fn recorded_here(event: usize) {
    if are_compared() {
        let mut streams = streams();
        let clock = streams.clock(CURRENT.get().0);
        streams.events.insert(event, clock);
    }
}

/// A stream waits for an event.
pub fn awaited(stream: u64, event: usize) {
    if are_compared() {
        let mut streams = streams();
        let mut clock = streams.clock(stream);
        if let Some(before) = streams.events.get(&event) {
            join(&mut clock, before);
        }
        streams.clocks.insert(stream, clock);
    }
}

/// The host waits for a stream.
pub fn host_waits(stream: u64) {
    if are_compared() {
        let mut streams = streams();
        let clock = streams.clock(stream);
        streams.host_knows(&clock);
    }
}

/// The host waits for an event.
pub fn host_waits_for_event(event: usize) {
    if are_compared() {
        let mut streams = streams();
        let clock = streams.events.get(&event).cloned().unwrap_or_default();
        streams.host_knows(&clock);
    }
}

/// The host waits for all streams.
pub fn host_waits_for_all() {
    if are_compared() {
        let mut streams = streams();
        let clocks: Vec<Clock> = streams.clocks.values().cloned().collect();
        clocks.iter().for_each(|clock| streams.host_knows(clock));
    }
}

/// Whether the host has waited for an operation.
pub fn host_knows((stream, number): (u64, u64)) -> bool {
    let known = streams().host.get(&stream).copied();
    known.is_some_and(|known| known >= number)
}

/// Runs a copy that the host does not wait for.
pub fn asynchronously<T>(body: impl FnOnce() -> T) -> T {
    let before = ASYNCHRONOUS.replace(true);
    let result = body();
    ASYNCHRONOUS.set(before);
    result
}

/// The host waits for the operation that this thread issued last.
pub fn host_waits_for_last() {
    host_waits(CURRENT.get().0);
}

/// The operation that this thread issued last copies. The host waits for it where the call does, and where it goes
/// to memory that the device does not know.
pub fn copies(destination: usize, source: usize, bytes: usize) {
    if !are_compared() {
        return;
    }
    touches_address(source, bytes, Access::Read, "a copy");
    touches_address(destination, bytes, Access::Write, "a copy");
    let waits = CURRENT.get().0 == DEFAULT && !ASYNCHRONOUS.get();
    if waits || place(destination).is_none() {
        host_waits_for_last();
    }
}

/// The operation that this thread issued last fills memory.
pub fn fills(address: usize, bytes: usize) {
    if are_compared() {
        touches_address(address, bytes, Access::Write, "a set or a library");
    }
}

fn touches_address(address: usize, bytes: usize, access: Access, what: &str) {
    if let Some(place) = place(address) {
        let from = address - place.base;
        touches(&place, [from, from + bytes], access, Source::host(what));
    }
}

/// The operation that this thread issued last touches a part of an allocation.
pub fn touches(place: &Place, [from, to]: [usize; 2], access: Access, source: Source) {
    let (stream, number) = CURRENT.get();
    if number == 0 {
        return;
    }
    let allocation = place.ordinal;
    if host::sees(place.kind) {
        let wrote = access != Access::Read;
        let operation = (stream, number);
        host::touched(
            allocation,
            place.base,
            [from, to],
            wrote,
            operation,
            &source,
        );
    }
    let mut streams = streams();
    let clock = streams.clock(stream);
    let of_host = streams.host.clone();
    let records = streams.records.entry(allocation).or_default();
    records.retain(|other| {
        of_host
            .get(&other.stream)
            .is_none_or(|known| *known < other.number)
    });
    let unordered = records.iter().find(|other| {
        other.from < to
            && from < other.to
            && other.stream != stream
            && !access.meets(other.access)
            && clock
                .get(&other.stream)
                .is_none_or(|known| *known < other.number)
    });
    if let Some(other) = unordered {
        report(
            &allocation_name(place.base, allocation),
            from.max(other.from),
            access,
            &source,
            stream,
            other,
        );
    }
    let same = |other: &&mut Record| {
        other.stream == stream
            && other.access == access
            && other.number == number
            && other.to == from
    };
    if let Some(last) = records.last_mut().filter(same) {
        last.to = to;
        return;
    }
    let repeated = |other: &Record| {
        other.stream == stream && other.access == access && from <= other.from && other.to <= to
    };
    records.retain(|other| !repeated(other));
    if records.len() < MOST_RECORDS {
        records.push(Record {
            from,
            to,
            access,
            stream,
            number,
            source,
        });
    }
}

impl Streams {
    fn clock(&self, stream: u64) -> Clock {
        self.clocks.get(&stream).cloned().unwrap_or_default()
    }

    fn host_knows(&mut self, clock: &Clock) {
        join(&mut self.host, clock);
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (stream, number) in other {
        let known = clock.entry(*stream).or_insert(0);
        *known = (*known).max(*number);
    }
}

fn report(
    allocation: &str,
    byte: usize,
    access: Access,
    source: &Source,
    stream: u64,
    other: &Record,
) -> ! {
    let name = |stream: u64| match stream {
        DEFAULT => "the default stream".to_owned(),
        stream => format!("stream {stream}"),
    };
    termination::fail(&format!(
        "race between streams: {} on {} {} byte {byte} of {allocation}, which {} on {} {}; neither \
         an event nor the host orders them",
        source.describe(),
        name(stream),
        access.verb(false),
        other.source.describe(),
        name(other.stream),
        other.access.verb(true),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_updates_meet_their_own_kind() {
        assert!(Access::Read.meets(Access::Read) && Access::Update.meets(Access::Update));
        assert!(!Access::Write.meets(Access::Write) && !Access::Read.meets(Access::Update));
    }

    #[test]
    fn clocks_join_by_the_later_operation() {
        let mut clock = Clock::from([(0, 3), (4, 1)]);
        join(&mut clock, &Clock::from([(4, 2), (5, 7), (0, 1)]));
        assert_eq!(clock, Clock::from([(0, 3), (4, 2), (5, 7)]));
    }
}
