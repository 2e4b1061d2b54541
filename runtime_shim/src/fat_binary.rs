//! Fat binaries, as NVIDIA's tools and sirius-rs for CUDA devices make them: PTX and machine code for several
//! architectures, compressed or not.
//!
//! Invariant: nothing behind the length that a header states is read.

use std::ffi::c_void;

/// Begins a fat binary.
pub const MAGIC: u32 = 0xba55_ed50;
/// Begins the structure that points to one.
pub const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// Bytes of a fat binary's header, and of an entry's as far as it is used.
const HEADER_BYTES: usize = 16;
const ENTRY_BYTES: usize = 64;
/// An entry that is PTX.
const PTX: u16 = 1;
/// An entry's contents are compressed, as a block of LZ4 or as a frame of Zstandard.
const LZ4: u64 = 0x2000;
const ZSTANDARD: u64 = 0x8000;

/// Why a fat binary gives no PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It holds machine code for GPUs alone.
    MachineCodeOnly,
    /// It is damaged, or compressed in a way that is not known.
    Unreadable,
}

/// Entries of a fat binary: what they are, for which architecture, and where.
struct Entry<'a> {
    kind: u16,
    architecture: u32,
    flags: u64,
    compressed_bytes: usize,
    whole_bytes: usize,
    contents: &'a [u8],
}

/// The PTX in a fat binary that a GPU of this architecture would run: the newest that is not newer, else the oldest.
///
/// # Errors
/// See [`Unusable`].
pub fn ptx_for(fat_binary: &[u8], architecture: u32) -> Result<Vec<u8>, Unusable> {
    let entries = entries(fat_binary).ok_or(Unusable::Unreadable)?;
    let ptx = || entries.iter().filter(|entry| entry.kind == PTX);
    let older = ptx().filter(|entry| entry.architecture <= architecture);
    let best = older.max_by_key(|entry| entry.architecture);
    let best = best.or_else(|| ptx().min_by_key(|entry| entry.architecture));
    let best = best.ok_or(Unusable::MachineCodeOnly)?;
    decompressed(best).ok_or(Unusable::Unreadable)
}

/// The whole of a fat binary in memory.
///
/// # Safety
/// `data` points to a fat binary.
pub unsafe fn whole<'a>(data: *const c_void) -> &'a [u8] {
    let start = data.cast::<u8>();
    // SAFETY: a header of 16 bytes, which says how many follow; fields may lie anywhere.
    unsafe {
        let header = usize::from(start.add(6).cast::<u16>().read_unaligned());
        let bytes = start.add(8).cast::<u64>().read_unaligned();
        let bytes = header.saturating_add(usize::try_from(bytes).unwrap_or(0));
        std::slice::from_raw_parts(start, bytes)
    }
}

fn entries(fat_binary: &[u8]) -> Option<Vec<Entry<'_>>> {
    let header = usize::from(u16::from_le_bytes(bytes_at(fat_binary, 6)?));
    let mut rest = fat_binary.get(header.max(HEADER_BYTES)..)?;
    let mut entries = Vec::new();
    while rest.len() >= ENTRY_BYTES {
        let header = u32::from_le_bytes(bytes_at(rest, 4)?) as usize;
        let bytes = usize::try_from(u64::from_le_bytes(bytes_at(rest, 8)?)).ok()?;
        let end = header.checked_add(bytes)?;
        let whole = match header > ENTRY_BYTES {
            true => u64::from_le_bytes(bytes_at(rest, 56)?),
            false => 0,
        };
        entries.push(Entry {
            kind: u16::from_le_bytes(bytes_at(rest, 0)?),
            architecture: u32::from_le_bytes(bytes_at(rest, 28)?),
            flags: u64::from_le_bytes(bytes_at(rest, 40)?),
            compressed_bytes: u32::from_le_bytes(bytes_at(rest, 16)?) as usize,
            whole_bytes: usize::try_from(whole).ok()?,
            contents: rest.get(header..end)?,
        });
        if header == 0 {
            return None;
        }
        rest = &rest[end..];
    }
    Some(entries)
}

fn bytes_at<const COUNT: usize>(bytes: &[u8], at: usize) -> Option<[u8; COUNT]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// More than any compiler writes, and less than would end the process.
const MOST_BYTES: usize = 1 << 30;

fn decompressed(entry: &Entry<'_>) -> Option<Vec<u8>> {
    if entry.flags & (LZ4 | ZSTANDARD) == 0 {
        return Some(entry.contents.to_vec());
    }
    let packed = entry.contents.get(..entry.compressed_bytes)?;
    if entry.whole_bytes > MOST_BYTES {
        return None;
    }
    if entry.flags & LZ4 != 0 {
        return lz4_flex::block::decompress(packed, entry.whole_bytes).ok();
    }
    let mut whole = Vec::with_capacity(entry.whole_bytes);
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).ok()?;
    let mut bounded = std::io::Read::take(decoder, MOST_BYTES as u64);
    std::io::Read::read_to_end(&mut bounded, &mut whole).ok()?;
    Some(whole)
}
