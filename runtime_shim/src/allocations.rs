//! What is allocated: the table of device-visible memory.
//!
//! Each allocation lies between two inaccessible pages; its end, rounded up to 256 bytes, abuts the
//! second, so that running past the end faults. A freed allocation becomes inaccessible, and its
//! addresses are not used again for a long time, so that using it faults too. Fresh memory is zero,
//! the same in each run. With more than [`GUARDED_LIMIT`] live allocations (the system limits the
//! mappings of a process) further ones come without guard pages.
//!
//! Invariant: ranges in the table do not overlap; ordinals grow in order of creation and are never
//! used again. Device variables have ordinals of their own, [`VARIABLE_ORDINAL`] and up in order of
//! registration, so that an additional image does not shift those of the program's allocations. What changes
//! the table is in [`memory`](crate::memory), which tells others of it.

use std::alloc::Layout;
use std::collections::{BTreeMap, VecDeque};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{CudaError, CudaResult};
use crate::mapping::GuardedMapping;

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
    /// False while only its addresses are taken, see [`reserve`](crate::memory::reserve).
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

/// Whether an ordinal is that of a version.
pub fn is_version(ordinal: u32) -> bool {
    (VERSION_ORDINAL..VARIABLE_ORDINAL).contains(&ordinal)
}

/// Gives an allocation memory that has none; zero bytes, as [`allocate`](crate::memory::allocate) does. Others, and addresses that
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

/// Whose the memory is.
pub(crate) enum Backing {
    Guarded { mapping: GuardedMapping },
    Unguarded { layout: Layout },
    Foreign,
}

impl Backing {
    /// Whether it was allocated here.
    pub(crate) fn is_owned(&self) -> bool {
        !matches!(self, Self::Foreign)
    }
}

/// An allocation, and whose its memory is.
pub(crate) struct Entry {
    pub(crate) view: AllocationView,
    pub(crate) backing: Backing,
}

/// All allocations.
pub(crate) struct Table {
    pub(crate) by_base: BTreeMap<usize, Entry>,
    freed: VecDeque<AllocationView>,
    /// Mappings of allocations that were freed last, whose addresses stay inaccessible.
    sealed: VecDeque<GuardedMapping>,
    pub(crate) next_ordinal: u32,
    pub(crate) next_version: u32,
    pub(crate) variables: u32,
    pub(crate) guarded: usize,
    /// Of all allocations that have memory.
    pub(crate) used_bytes: u64,
    /// The same of those that are the device's.
    used_on_device_bytes: u64,
    pub(crate) statistics: MemoryStatistics,
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

/// The table, to change it.
pub(crate) fn write() -> std::sync::RwLockWriteGuard<'static, Table> {
    TABLE
        .write()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Hears of an allocation that is freed, and of all others.
pub(crate) type Told = for<'a> fn(&'a AllocationView, &mut dyn Iterator<Item = &'a AllocationView>);

impl Table {
    fn containing(&self, address: usize) -> Option<&Entry> {
        let (_, entry) = self.by_base.range(..=address).next_back()?;
        (address - entry.view.base < entry.view.bytes).then_some(entry)
    }

    pub(crate) fn describe(&self, address: usize) -> Option<(usize, String)> {
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

    pub(crate) fn overlaps(&self, base: usize, bytes: usize) -> bool {
        self.containing(base).is_some()
            || self
                .by_base
                .range(base..base.saturating_add(bytes))
                .next()
                .is_some()
    }

    pub(crate) fn count_allocated(&mut self, bytes: usize, kind: MemoryKind) {
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

    pub(crate) fn insert(&mut self, view: AllocationView, backing: Backing) {
        // An address that lives again is no longer one that was freed.
        self.freed
            .retain(|old| old.base + old.bytes <= view.base || view.base + view.bytes <= old.base);
        self.by_base.insert(view.base, Entry { view, backing });
        GENERATION.fetch_add(1, Ordering::AcqRel);
    }

    /// Removes an allocation. Its memory can still be read while `tell` hears of it, with all others.
    pub(crate) fn release(&mut self, base: usize, tell: Told) {
        let Some(entry) = self.by_base.remove(&base) else {
            return;
        };
        GENERATION.fetch_add(1, Ordering::AcqRel);
        tell(
            &entry.view,
            &mut self.by_base.values().map(|entry| &entry.view),
        );
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

pub(crate) fn guarded(bytes: usize) -> Option<(usize, Backing)> {
    let rounded = bytes.checked_next_multiple_of(ALIGNMENT)?;
    let mapping = GuardedMapping::new(rounded)?;
    Some((mapping.end() - rounded, Backing::Guarded { mapping }))
}

pub(crate) fn reserved(bytes: usize) -> Option<(usize, Backing)> {
    let rounded = bytes.checked_next_multiple_of(ALIGNMENT)?;
    let mapping = GuardedMapping::closed(rounded)?;
    Some((mapping.end() - rounded, Backing::Guarded { mapping }))
}

pub(crate) fn unguarded(bytes: usize) -> Option<(usize, Backing)> {
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
