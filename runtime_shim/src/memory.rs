//! Device-visible memory: the allocation table.
//!
//! Each allocation lies between two inaccessible pages; its end, rounded up to 256 bytes, abuts the
//! second, so that running past the end faults. A freed allocation becomes inaccessible, and its
//! addresses are not used again for a long time, so that using it faults too. Fresh memory is zero,
//! the same in each run. With more than [`GUARDED_LIMIT`] live allocations (the system limits the
//! mappings of a process) further ones come without guard pages.
//!
//! Invariant: ranges in the table do not overlap; ordinals grow in order of creation and are never
//! used again. Device variables have ordinals of their own, [`VARIABLE_ORDINAL`] and up in order of
//! registration, so that an additional image does not shift those of the program's allocations.

use std::alloc::Layout;
use std::collections::{BTreeMap, VecDeque};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{CudaError, CudaResult};
use crate::mapping::GuardedMapping;
use crate::{check, memory_dump, trace};

/// Live allocations that get guard pages. Each takes two of the process's mappings (65,530 by default),
/// most of which the stacks of fibers may need.
pub const GUARDED_LIMIT: usize = 8_000;

/// Freed allocations whose addresses are kept from use, so that using one faults.
const SEALED_LIMIT: usize = 4096;

/// Ordinal of the first device variable.
pub const VARIABLE_ORDINAL: u32 = 0x8000_0000;

/// Ordinal of the first version: memory that the compiler's own host code takes for a while in place of a
/// part of the program's. The program knows nothing of it, so it is in no dump and has an ordinal of its own.
pub const VERSION_ORDINAL: u32 = 0x4000_0000;

/// Alignment of every allocation, in bytes.
pub const ALIGNMENT: usize = 256;

/// What kind of memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// `cudaMalloc` and its relatives.
    Device,
    /// `cudaMallocManaged`.
    Managed,
    /// `cudaMallocHost`, `cudaHostAlloc`.
    Pinned,
    /// The program's own memory, known by `cudaHostRegister`.
    Registered,
    /// A `__device__` variable.
    Variable,
    /// A `__constant__` variable.
    Constant,
    /// A `__managed__` variable.
    ManagedVariable,
    /// Memory that was mapped at reserved addresses (`cuMemMap`).
    Mapped,
}

impl MemoryKind {
    /// Whether the kernels' view of it is device memory (it may be the host's as well).
    pub fn on_device(self) -> bool {
        !matches!(self, Self::Pinned | Self::Registered)
    }

    /// Its name in the memory dump.
    pub fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Managed => "managed",
            Self::Pinned => "pinned",
            Self::Registered => "registered",
            Self::Variable => "variable",
            Self::Constant => "constant",
            Self::ManagedVariable => "managed variable",
            Self::Mapped => "mapped",
        }
    }
}

/// Device memory of a whole run, for the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStatistics {
    /// Bytes of all allocations that had memory, one after the other.
    pub allocated_bytes: u64,
    /// Bytes of those that never had any: only their addresses were taken.
    pub reserved_bytes: u64,
    /// The most bytes that were allocated at once.
    pub peak_bytes: u64,
}

/// An allocation as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationView {
    /// Address of the first byte.
    pub base: usize,
    /// Size as the program asked, in bytes.
    pub bytes: usize,
    /// Place in the order of creation.
    pub ordinal: u32,
    /// Kind of memory.
    pub kind: MemoryKind,
    /// Name, of a variable.
    pub name: Option<String>,
    /// Flags of `cudaHostAlloc` and `cudaHostRegister`.
    pub flags: u32,
    /// False while only its addresses are taken, see [`reserve`].
    pub has_memory: bool,
}

/// The place of an address in an allocation; cheap to copy and keep for as long as [`generation`]
/// does not change.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Address of the allocation's first byte.
    pub base: usize,
    /// Size of the allocation in bytes.
    pub bytes: usize,
    /// Its ordinal.
    pub ordinal: u32,
    /// Its kind.
    pub kind: MemoryKind,
}

/// The pages that an allocation has for itself, where it has such. Of memory that the program registered, these are the
/// pages within; a managed variable is laid out with pages of its own.
pub fn own_pages(base: usize) -> Option<(usize, usize)> {
    let table = TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let entry = table.by_base.get(&base)?;
    let end = base + entry.view.bytes;
    let page_bytes = crate::mapping::page_bytes();
    let pages = match (&entry.backing, entry.view.kind) {
        (Backing::Guarded { mapping }, _) => (mapping.start(), mapping.end()),
        (_, MemoryKind::ManagedVariable) if base.is_multiple_of(page_bytes) => {
            (base, end.next_multiple_of(page_bytes))
        }
        (_, MemoryKind::Registered) => (base.next_multiple_of(page_bytes), end - end % page_bytes),
        _ => return None,
    };
    (pages.0 < pages.1).then_some(pages)
}

/// Allocates `bytes` zero bytes. Errors: `cudaErrorMemoryAllocation` when the machine has less.
pub fn allocate(bytes: usize, kind: MemoryKind, flags: u32) -> CudaResult<usize> {
    check::streams::allocated(kind);
    allocate_as(bytes, kind, flags, |table| &mut table.next_ordinal)
}

/// Allocates memory for versions. Errors: as for [`allocate`].
pub fn allocate_version(bytes: usize) -> CudaResult<usize> {
    allocate_as(bytes, MemoryKind::Device, 0, |table| {
        &mut table.next_version
    })
}

/// Whether an ordinal is that of a version.
pub fn is_version(ordinal: u32) -> bool {
    (VERSION_ORDINAL..VARIABLE_ORDINAL).contains(&ordinal)
}

fn allocate_as(
    bytes: usize,
    kind: MemoryKind,
    flags: u32,
    ordinals: impl Fn(&mut Table) -> &mut u32,
) -> CudaResult<usize> {
    let mut table = write();
    if bytes as u64 > total_bytes().saturating_sub(table.used_bytes) {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    // A system that refuses more mappings may still have memory.
    let with_guards = if table.guarded < GUARDED_LIMIT {
        guarded(bytes)
    } else {
        None
    };
    let (base, backing) = with_guards
        .or_else(|| unguarded(bytes))
        .ok_or(CudaError::MEMORY_ALLOCATION)?;
    table.guarded += usize::from(matches!(backing, Backing::Guarded { .. }));
    table.count_allocated(bytes, kind);
    let next = ordinals(&mut table);
    let ordinal = *next;
    *next += 1;
    let view = AllocationView {
        base,
        bytes,
        ordinal,
        kind,
        name: None,
        flags,
        has_memory: true,
    };
    trace::allocation(&view);
    table.insert(view, backing);
    Ok(base)
}

/// Takes the addresses of an allocation of `bytes` bytes and no memory: what touches them faults before
/// [`make_real`] is called. What there would be no memory for now is refused as [`allocate`] does. Where the
/// system refuses, it is an ordinary allocation.
///
/// # Errors
/// As [`allocate`].
pub fn reserve(bytes: usize) -> CudaResult<usize> {
    let kind = MemoryKind::Device;
    let mut table = write();
    if bytes as u64 > total_bytes().saturating_sub(table.used_bytes) {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    let room = (table.guarded < GUARDED_LIMIT)
        .then(|| reserved(bytes))
        .flatten();
    let Some((base, backing)) = room else {
        drop(table);
        return allocate(bytes, kind, 0);
    };
    table.guarded += 1;
    table.statistics.reserved_bytes += bytes as u64;
    let ordinal = table.next_ordinal;
    table.next_ordinal += 1;
    let view = AllocationView {
        base,
        bytes,
        ordinal,
        kind,
        name: None,
        flags: 0,
        has_memory: false,
    };
    trace::allocation(&view);
    table.insert(view, backing);
    Ok(base)
}

/// Gives an allocation memory that has none; zero bytes, as [`allocate`] does. Others, and addresses that
/// are in none, stay as they are.
///
/// # Errors
/// `cudaErrorMemoryAllocation` when the machine has less, or the system refuses.
pub fn make_real(address: usize) -> CudaResult {
    let lacks_memory = |table: &Table| {
        let entry = table.containing(address);
        entry.is_some_and(|entry| !entry.view.has_memory)
    };
    let known = TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if !lacks_memory(&known) {
        return Ok(());
    }
    drop(known);
    let mut table = write();
    if !lacks_memory(&table) {
        return Ok(());
    }
    let room = total_bytes().saturating_sub(table.used_bytes);
    let mut before = table.by_base.range_mut(..=address);
    let Some((_, entry)) = before.next_back() else {
        return Ok(());
    };
    let bytes = entry.view.bytes;
    let Backing::Guarded { mapping } = &entry.backing else {
        return Ok(());
    };
    if bytes as u64 > room || !mapping.open() {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    entry.view.has_memory = true;
    table.statistics.reserved_bytes -= bytes as u64;
    table.count_allocated(bytes, MemoryKind::Device);
    Ok(())
}

/// Device memory of the run so far.
pub fn statistics() -> MemoryStatistics {
    TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .statistics
}

/// Frees what [`allocate`] gave. Errors: `cudaErrorInvalidValue` when `base` is not the start of a
/// live allocation of a kind that `may_free` accepts.
pub fn free(base: usize, may_free: impl Fn(MemoryKind) -> bool) -> CudaResult {
    let mut table = write();
    match table.by_base.get(&base) {
        Some(entry) if entry.backing.is_owned() && may_free(entry.view.kind) => {}
        _ => return Err(CudaError::INVALID_VALUE),
    }
    table.release(base);
    Ok(())
}

/// Frees all allocations of the program (`cudaDeviceReset`); variables stay.
pub fn free_all() {
    let mut table = write();
    let owned: Vec<usize> = table
        .by_base
        .iter()
        .filter(|(_, entry)| entry.backing.is_owned())
        .map(|(base, _)| *base)
        .collect();
    for base in owned {
        table.release(base);
    }
}

/// Makes memory of the program's own known (`cudaHostRegister`). Errors:
/// `cudaErrorHostMemoryAlreadyRegistered` when a part of it is known already.
pub fn register_host(base: usize, bytes: usize, flags: u32) -> CudaResult {
    let mut table = write();
    if table.overlaps(base, bytes) {
        return Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED);
    }
    check::streams::allocated(MemoryKind::Registered);
    let ordinal = table.next_ordinal;
    table.next_ordinal += 1;
    let kind = MemoryKind::Registered;
    let view = AllocationView {
        base,
        bytes,
        ordinal,
        kind,
        name: None,
        flags,
        has_memory: true,
    };
    trace::allocation(&view);
    table.insert(view, Backing::Foreign);
    Ok(())
}

/// Undoes [`register_host`]. Errors: `cudaErrorHostMemoryNotRegistered`.
pub fn unregister_host(base: usize) -> CudaResult {
    let mut table = write();
    match table.by_base.get(&base) {
        Some(entry) if entry.view.kind == MemoryKind::Registered => {}
        _ => return Err(CudaError::HOST_MEMORY_NOT_REGISTERED),
    }
    table.release(base);
    Ok(())
}

/// Makes memory known that was mapped at addresses of its own; it may be known under other addresses, too.
pub fn show_mapped(base: usize, bytes: usize) {
    let mut table = write();
    let ordinal = table.next_ordinal;
    table.next_ordinal += 1;
    let view = AllocationView {
        base,
        bytes,
        ordinal,
        kind: MemoryKind::Mapped,
        name: None,
        flags: 0,
        has_memory: true,
    };
    trace::allocation(&view);
    table.insert(view, Backing::Foreign);
}

/// Undoes [`show_mapped`], while the memory can still be read.
pub fn hide_mapped(base: usize) {
    write().release(base);
}

/// Counts memory of the device that is at no address of its own. Errors: `cudaErrorMemoryAllocation` when the machine
/// has less.
pub fn take(bytes: usize) -> CudaResult {
    let mut table = write();
    if bytes as u64 > total_bytes().saturating_sub(table.used_bytes) {
        return Err(CudaError::MEMORY_ALLOCATION);
    }
    table.count_allocated(bytes, MemoryKind::Mapped);
    Ok(())
}

/// Undoes [`take`].
pub fn give_back(bytes: usize) {
    let mut table = write();
    table.used_bytes -= bytes as u64;
    table.used_on_device_bytes -= bytes as u64;
}

/// Makes a device variable known, once.
pub fn register_variable(base: usize, bytes: usize, kind: MemoryKind, name: &str) {
    let mut table = write();
    if bytes == 0 || table.overlaps(base, bytes) {
        return;
    }
    if kind == MemoryKind::ManagedVariable {
        check::streams::allocated(kind);
    }
    let ordinal = VARIABLE_ORDINAL + table.variables;
    table.variables += 1;
    let view = AllocationView {
        base,
        bytes,
        ordinal,
        kind,
        name: Some(name.to_owned()),
        flags: 0,
        has_memory: true,
    };
    trace::allocation(&view);
    table.insert(view, Backing::Foreign);
}

/// The allocation that contains `address`.
pub fn find(address: usize) -> Option<AllocationView> {
    let table = TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    table.containing(address).map(|entry| entry.view.clone())
}

/// The place of the allocation that contains `address`.
pub fn place(address: usize) -> Option<Place> {
    let table = TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    table.containing(address).map(|entry| Place {
        base: entry.view.base,
        bytes: entry.view.bytes,
        ordinal: entry.view.ordinal,
        kind: entry.view.kind,
    })
}

/// Changes whenever the table does.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// All live allocations and variables, by ordinal.
pub fn live() -> Vec<AllocationView> {
    let table = TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut views: Vec<_> = table
        .by_base
        .values()
        .map(|entry| entry.view.clone())
        .collect();
    views.sort_by_key(|view| view.ordinal);
    views
}

/// Describes the surroundings of an address for a report of a fault: the allocation that it is in,
/// was in, or is nearest to. Never blocks.
///
/// Returns the distance in bytes with it, 0 when the address is or was inside.
pub fn describe(address: usize) -> Option<(usize, String)> {
    TABLE.try_read().ok()?.describe(address)
}

/// Memory of the machine, in bytes: what the device reports as its own.
pub fn total_bytes() -> u64 {
    // SAFETY: sysconf has no preconditions.
    let (pages, page) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    u64::try_from(pages).unwrap_or(0) * u64::try_from(page).unwrap_or(0)
}

/// Memory that is not allocated, in bytes.
pub fn free_bytes() -> u64 {
    let table = TABLE
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    total_bytes().saturating_sub(table.used_bytes)
}

enum Backing {
    Guarded { mapping: GuardedMapping },
    Unguarded { layout: Layout },
    Foreign,
}

impl Backing {
    fn is_owned(&self) -> bool {
        !matches!(self, Self::Foreign)
    }
}

struct Entry {
    view: AllocationView,
    backing: Backing,
}

struct Table {
    by_base: BTreeMap<usize, Entry>,
    freed: VecDeque<AllocationView>,
    /// Mappings of allocations that were freed last, whose addresses stay inaccessible.
    sealed: VecDeque<GuardedMapping>,
    next_ordinal: u32,
    next_version: u32,
    variables: u32,
    guarded: usize,
    /// Of all allocations that have memory.
    used_bytes: u64,
    /// The same of those that are the device's.
    used_on_device_bytes: u64,
    statistics: MemoryStatistics,
}

static TABLE: RwLock<Table> = RwLock::new(Table {
    by_base: BTreeMap::new(),
    freed: VecDeque::new(),
    sealed: VecDeque::new(),
    next_ordinal: 0,
    next_version: VERSION_ORDINAL,
    variables: 0,
    guarded: 0,
    used_bytes: 0,
    used_on_device_bytes: 0,
    statistics: MemoryStatistics {
        allocated_bytes: 0,
        reserved_bytes: 0,
        peak_bytes: 0,
    },
});

static GENERATION: AtomicU64 = AtomicU64::new(1);

fn write() -> std::sync::RwLockWriteGuard<'static, Table> {
    TABLE
        .write()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Table {
    fn containing(&self, address: usize) -> Option<&Entry> {
        let (_, entry) = self.by_base.range(..=address).next_back()?;
        (address - entry.view.base < entry.view.bytes).then_some(entry)
    }

    fn describe(&self, address: usize) -> Option<(usize, String)> {
        if let Some(entry) = self.containing(address) {
            let offset = address - entry.view.base;
            return Some((0, format!("byte {offset} of {}", title(&entry.view))));
        }
        let freed = self.freed.iter().rev();
        if let Some(view) = freed
            .clone()
            .find(|view| (view.base..view.base + view.bytes).contains(&address))
        {
            let offset = address - view.base;
            return Some((
                0,
                format!("byte {offset} of {}, which was freed", title(view)),
            ));
        }
        let before = self
            .by_base
            .range(..=address)
            .next_back()
            .map(|(_, entry)| {
                let past = address - (entry.view.base + entry.view.bytes);
                (
                    past,
                    format!("{past} bytes past the end of {}", title(&entry.view)),
                )
            });
        let after = self.by_base.range(address..).next().map(|(base, entry)| {
            let ahead = base - address;
            (
                ahead,
                format!("{ahead} bytes before the start of {}", title(&entry.view)),
            )
        });
        // Farther away it is no neighbour but a wild pointer.
        const NEAR_BYTES: usize = 1 << 20;
        [before, after]
            .into_iter()
            .flatten()
            .min_by_key(|(distance, _)| *distance)
            .filter(|(distance, _)| *distance <= NEAR_BYTES)
    }

    fn overlaps(&self, base: usize, bytes: usize) -> bool {
        self.containing(base).is_some()
            || self
                .by_base
                .range(base..base.saturating_add(bytes))
                .next()
                .is_some()
    }

    fn count_allocated(&mut self, bytes: usize, kind: MemoryKind) {
        self.used_bytes += bytes as u64;
        if kind.on_device() {
            self.used_on_device_bytes += bytes as u64;
            let statistics = &mut self.statistics;
            statistics.allocated_bytes += bytes as u64;
            statistics.peak_bytes = statistics.peak_bytes.max(self.used_on_device_bytes);
        }
    }

    fn count_freed(&mut self, view: &AllocationView) {
        let bytes = if view.has_memory {
            view.bytes as u64
        } else {
            0
        };
        self.used_bytes -= bytes;
        if view.kind.on_device() {
            self.used_on_device_bytes -= bytes;
        }
    }

    fn insert(&mut self, view: AllocationView, backing: Backing) {
        // An address that lives again is no longer one that was freed.
        self.freed
            .retain(|old| old.base + old.bytes <= view.base || view.base + view.bytes <= old.base);
        self.by_base.insert(view.base, Entry { view, backing });
        GENERATION.fetch_add(1, Ordering::AcqRel);
    }

    fn release(&mut self, base: usize) {
        let Some(entry) = self.by_base.remove(&base) else {
            return;
        };
        GENERATION.fetch_add(1, Ordering::AcqRel);
        let others = self.by_base.values().map(|entry| &entry.view);
        memory_dump::freed(&entry.view, others);
        trace::freed(&entry.view);
        check::freed(entry.view.ordinal);
        match entry.backing {
            Backing::Guarded { mapping } => {
                self.guarded -= 1;
                self.count_freed(&entry.view);
                mapping.seal();
                if self.sealed.len() == SEALED_LIMIT {
                    self.sealed.pop_front();
                }
                self.sealed.push_back(mapping);
            }
            Backing::Unguarded { layout } => {
                self.count_freed(&entry.view);
                // SAFETY: `unguarded` allocated it with this layout, and its entry is gone.
                unsafe { std::alloc::dealloc(base as *mut u8, layout) };
            }
            Backing::Foreign => {}
        }
        const REMEMBERED: usize = 64;
        if self.freed.len() == REMEMBERED {
            self.freed.pop_front();
        }
        self.freed.push_back(entry.view);
    }
}

fn guarded(bytes: usize) -> Option<(usize, Backing)> {
    let rounded = bytes.checked_next_multiple_of(ALIGNMENT)?;
    let mapping = GuardedMapping::new(rounded)?;
    Some((mapping.end() - rounded, Backing::Guarded { mapping }))
}

fn reserved(bytes: usize) -> Option<(usize, Backing)> {
    let rounded = bytes.checked_next_multiple_of(ALIGNMENT)?;
    let mapping = GuardedMapping::closed(rounded)?;
    Some((mapping.end() - rounded, Backing::Guarded { mapping }))
}

fn unguarded(bytes: usize) -> Option<(usize, Backing)> {
    let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).ok()?;
    // SAFETY: the layout's size is not zero.
    let base = unsafe { std::alloc::alloc_zeroed(layout) };
    (!base.is_null()).then_some((base as usize, Backing::Unguarded { layout }))
}

fn title(view: &AllocationView) -> String {
    let title = title_with_memory(view);
    match view.has_memory {
        true => title,
        false => format!("{title}, for which no memory was needed"),
    }
}

fn title_with_memory(view: &AllocationView) -> String {
    match &view.name {
        Some(name) => format!("{} {name} ({} bytes)", view.kind.name(), view.bytes),
        None => format!(
            "{} allocation {} ({} bytes)",
            view.kind.name(),
            view.ordinal,
            view.bytes
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(_: MemoryKind) -> bool {
        true
    }

    #[test]
    fn an_allocation_is_found_until_it_is_freed() {
        let base = allocate(1000, MemoryKind::Device, 0).unwrap();
        assert_eq!(base % ALIGNMENT, 0);
        assert_eq!(find(base + 999).unwrap().base, base);
        assert!(find(base + 1000).is_none_or(|other| other.base != base));
        // SAFETY: the 1000 bytes were just allocated.
        assert!(
            unsafe { std::slice::from_raw_parts(base as *const u8, 1000) }
                .iter()
                .all(|byte| *byte == 0)
        );
        assert!(
            // `describe` gives up where another test holds the table.
            TABLE
                .read()
                .unwrap()
                .describe(base + 1030)
                .unwrap()
                .1
                .starts_with("30 bytes past the end of device")
        );
        free(base, any).unwrap();
        assert_eq!(free(base, any), Err(CudaError::INVALID_VALUE));
        assert_eq!(free(base + 8, any), Err(CudaError::INVALID_VALUE));
    }

    #[test]
    fn reserved_memory_counts_when_it_is_made_real() {
        let bytes = 1_000_000;
        let reserved = || statistics().reserved_bytes;
        let base = reserve(bytes).unwrap();
        let view = find(base + bytes - 1).unwrap();
        assert_eq!(
            (view.base, view.bytes, view.has_memory),
            (base, bytes, false)
        );
        assert!(reserved() >= bytes as u64);
        make_real(base + 4).unwrap();
        make_real(base).unwrap();
        assert!(find(base).unwrap().has_memory);
        assert_eq!(reserved(), 0);
        // SAFETY: the bytes have memory now.
        let contents = unsafe { std::slice::from_raw_parts_mut(base as *mut u8, bytes) };
        assert!(contents.iter().all(|byte| *byte == 0));
        contents.fill(7);
        make_real(base).unwrap();
        assert_eq!(contents[bytes - 1], 7);
        free(base, any).unwrap();
        // What is in no allocation has what it has.
        make_real(base).unwrap();
        free(reserve(bytes).unwrap(), any).unwrap();
        assert_eq!(reserved(), bytes as u64);

        // Two of which the machine has memory for one.
        let bytes = usize::try_from(total_bytes() / 8 * 5).unwrap();
        let two = [(); 2].map(|()| reserve(bytes).unwrap());
        make_real(two[0]).unwrap();
        assert_eq!(make_real(two[1]), Err(CudaError::MEMORY_ALLOCATION));
        assert!(!find(two[1]).unwrap().has_memory);
        assert_eq!(reserve(bytes), Err(CudaError::MEMORY_ALLOCATION));
        for base in two {
            free(base, any).unwrap();
        }
    }

    #[test]
    fn more_than_the_machine_has_is_refused() {
        assert_eq!(
            allocate(usize::MAX / 2, MemoryKind::Device, 0),
            Err(CudaError::MEMORY_ALLOCATION)
        );
    }

    #[test]
    fn registering_twice_is_refused() {
        let memory = [0_u8; 64];
        let base = memory.as_ptr() as usize;
        register_host(base, 64, 0).unwrap();
        assert_eq!(
            register_host(base + 8, 8, 0),
            Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED)
        );
        unregister_host(base).unwrap();
        assert_eq!(
            unregister_host(base),
            Err(CudaError::HOST_MEMORY_NOT_REGISTERED)
        );
    }
}
