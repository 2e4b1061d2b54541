//! Addresses in dumped memory. Two runs of one program have their memory at different places, so
//! that a pointer in device memory is compared by what it leads to.

use crate::allocations::{AllocationView, is_version};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of an address.
const WORD: usize = size_of::<usize>();

/// What addresses of this process lead to, at the time of one dump.
pub(super) struct Addresses {
    /// Allocations by their first byte: where they end, and their ordinal.
    allocations: BTreeMap<usize, (usize, u32)>,
    /// The same of allocations that are freed.
    gone: BTreeMap<usize, (usize, u32)>,
    /// All that is mapped: code, the heaps of host and kernels, libraries.
    mapped: Vec<Range<usize>>,
}

impl Addresses {
    /// Those of the process as it is, with these allocations and these that were freed, in this order.
    pub(super) fn of_process<'a, 'b>(
        views: impl Iterator<Item = &'a AllocationView>,
        gone: impl Iterator<Item = &'b AllocationView>,
    ) -> Self {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Self::new(views, gone, &maps)
    }

    fn new<'a, 'b>(
        views: impl Iterator<Item = &'a AllocationView>,
        gone: impl Iterator<Item = &'b AllocationView>,
        maps: &str,
    ) -> Self {
        Self {
            allocations: ranges(views),
            gone: ranges(gone),
            mapped: maps.lines().filter_map(mapped_range).collect(),
        }
    }

    /// Contents in hexadecimal. A word that is an address has `P`, the ordinal of the allocation that
    /// it leads to and the distance from its start, or dots where it leads to something else.
    pub(super) fn hexadecimal(&self, contents: &[u8], base: usize) -> String {
        let mut text = String::with_capacity(2 * contents.len());
        let plain = |text: &mut String, bytes: &[u8]| {
            for byte in bytes {
                *text += &format!("{byte:02x}");
            }
        };
        let before = base.wrapping_neg() % WORD;
        let (head, rest) = contents.split_at(before.min(contents.len()));
        plain(&mut text, head);
        let words = rest.chunks_exact(WORD);
        let tail = words.remainder();
        for word in words {
            let value = word
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | usize::from(*byte));
            match self.written(value) {
                Some(address) => text += &address,
                None => plain(&mut text, word),
            }
        }
        plain(&mut text, tail);
        text
    }

    /// An address as two digits for each of its bytes; `None` for any other number.
    fn written(&self, value: usize) -> Option<String> {
        // One past the last byte still belongs to an allocation.
        let within = |ranges: &BTreeMap<usize, (usize, u32)>| {
            let (base, (end, ordinal)) = ranges.range(..=value).next_back()?;
            (value <= *end).then_some((*base, *ordinal))
        };
        let found = within(&self.allocations).or_else(|| within(&self.gone));
        if let Some((base, ordinal)) = found {
            let (ordinal, distance) = (ordinal & 0xfff_ffff, (value - base) & 0xffff_ffff);
            return Some(format!("P{ordinal:07x}{distance:08x}"));
        }
        let is_mapped = self.mapped.iter().any(|range| range.contains(&value));
        is_mapped.then(|| ".".repeat(2 * WORD))
    }
}

/// Allocations by their first byte: where they end, and their ordinal.
fn ranges<'a>(views: impl Iterator<Item = &'a AllocationView>) -> BTreeMap<usize, (usize, u32)> {
    let own = views.filter(|view| !is_version(view.ordinal));
    own.map(|view| (view.base, (view.base + view.bytes, view.ordinal)))
        .collect()
}

/// The addresses of a line of `/proc/self/maps`.
fn mapped_range(line: &str) -> Option<Range<usize>> {
    let (from, to) = line.split(' ').next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some(number(from)?..number(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocations::MemoryKind;

    #[test]
    fn an_address_is_what_it_leads_to() {
        let view = AllocationView {
            base: 0x7000_1000,
            bytes: 64,
            ordinal: 3,
            kind: MemoryKind::Device,
            name: None,
            flags: 0,
            has_memory: true,
        };
        let maps = "55550000-55560000 r-xp 00000000 00:00 0 /bin/program\n";
        let addresses = Addresses::new([&view].into_iter(), [].into_iter(), maps);
        let words: [u64; 5] = [0x7000_1004, 0x7000_1040, 0x7000_1041, 0x5555_0010, 7];
        let contents: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(
            addresses.hexadecimal(&contents, 0x7000_1000),
            "P000000300000004P0000003000000404110007000000000................0700000000000000"
        );
        // Words lie where the machine aligns them.
        let shifted = [&[1, 2, 3, 4], &contents[..10]].concat();
        assert_eq!(
            addresses.hexadecimal(&shifted, 0x7000_1004),
            "01020304P0000003000000044010"
        );
    }
}
