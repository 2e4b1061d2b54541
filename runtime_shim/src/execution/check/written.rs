//! Which bytes of device memory somebody has written.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::Checked;
use crate::allocations::{MemoryKind, Place, place};
use crate::environment::settings;

/// One bit a byte.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, from: usize, bytes: usize, value: bool) {
        let words = (from + bytes).div_ceil(64);
        if self.0.len() < words {
            self.0.resize(words, 0);
        }
        let mut at = from;
        while at < from + bytes {
            let (word, bit) = (at / 64, at % 64);
            let count = (64 - bit).min(from + bytes - at);
            let mask = (u64::MAX >> (64 - count)) << bit;
            match value {
                true => self.0[word] |= mask,
                false => self.0[word] &= !mask,
            }
            at += count;
        }
    }

    fn get(&self, at: usize) -> bool {
        let word = self.0.get(at / 64).copied().unwrap_or(0);
        word >> (at % 64) & 1 != 0
    }

    fn any(&self, from: usize, bytes: usize) -> bool {
        (from..from + bytes).any(|at| self.get(at))
    }
}

/// Memory whose bytes are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Home {
    /// An allocation, by its ordinal.
    Allocation(u32),
    /// The shared memory of a block that runs, by its lowest address: threads of the host may launch at the same time.
    Shared(usize),
}

static WRITTEN: LazyLock<Mutex<HashMap<Home, Bits>>> = LazyLock::new(Mutex::default);

fn written() -> MutexGuard<'static, HashMap<Home, Bits>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_checked() -> bool {
    settings().checks.memory
}

/// Where the bits of an access are; `None` for memory that is taken as written.
fn home(checked: &Checked) -> Option<(Home, usize)> {
    if let Some(shared) = checked.shared {
        let low = shared.bounds.0;
        return Some((Home::Shared(low), checked.address - low));
    }
    let place = checked.place?;
    let home = Home::Allocation(place.ordinal);
    (place.kind == MemoryKind::Device).then(|| (home, checked.address - place.base))
}

/// Whether some byte of an access was written.
pub(super) fn is_written(checked: &Checked) -> bool {
    let Some((home, offset)) = home(checked) else {
        return true;
    };
    checked.bytes == 0
        || written()
            .get(&home)
            .is_some_and(|bits| bits.any(offset, checked.bytes))
}

/// A kernel wrote.
pub(super) fn mark(checked: &Checked) {
    if let Some((home, offset)) = home(checked) {
        let mut written = written();
        written
            .entry(home)
            .or_default()
            .set(offset, checked.bytes, true);
    }
}

/// A block begins, whose shared memory has this lowest address.
pub(super) fn block_begins(shared: usize) {
    written().remove(&Home::Shared(shared));
}

/// The host set memory.
pub fn filled(address: usize, bytes: usize) {
    if !is_checked() {
        return;
    }
    if let Some((place, offset)) = device_place(address) {
        let bytes = bytes.min(place.bytes - offset);
        let mut written = written();
        written
            .entry(Home::Allocation(place.ordinal))
            .or_default()
            .set(offset, bytes, true);
    }
}

/// The host copied: what was not written at the source is not written at the destination either.
pub fn copied(destination: usize, source: usize, bytes: usize) {
    if !is_checked() {
        return;
    }
    let Some((to, offset)) = device_place(destination) else {
        return;
    };
    let Some((from, source_offset)) = device_place(source) else {
        return filled(destination, bytes);
    };
    let bytes = bytes.min(to.bytes - offset);
    let mut written = written();
    let old = written.get(&Home::Allocation(from.ordinal));
    let values: Vec<bool> = (0..bytes)
        .map(|at| old.is_some_and(|bits| bits.get(source_offset + at)))
        .collect();
    let bits = written.entry(Home::Allocation(to.ordinal)).or_default();
    for (at, value) in values.into_iter().enumerate() {
        bits.set(offset + at, 1, value);
    }
}

/// An allocation is gone.
pub fn freed(ordinal: u32) {
    if is_checked() {
        written().remove(&Home::Allocation(ordinal));
    }
}

fn device_place(address: usize) -> Option<(Place, usize)> {
    let place = place(address).filter(|place| place.kind == MemoryKind::Device)?;
    Some((place, address - place.base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_ranges() {
        let mut bits = Bits::default();
        bits.set(60, 10, true);
        assert!(!bits.any(0, 60) && bits.any(59, 2) && bits.get(69) && !bits.get(70));
        bits.set(61, 8, false);
        assert!(bits.get(60) && bits.get(69) && !bits.any(61, 8));
        bits.set(0, 128, true);
        assert!((0..128).all(|at| bits.get(at)));
        assert!(!bits.any(128, 1_000));
    }
}
