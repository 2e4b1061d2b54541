//! Virtual memory management: addresses that are reserved, memory that is made, and mappings of one to the other.
//!
//! Memory is a file of the system's without a name, so that it can be mapped at several addresses and handed to
//! other processes. Addresses that nothing is mapped at, or without access, fault when they are touched. What can be
//! accessed stands in the allocation table as one allocation for each run of addresses without a gap, and
//! anew with each change of it. Memory lives as long as a handle or a mapping names it.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_ulonglong, c_void};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::DevicePointer;
use super::super::context::initialised;
use crate::api::{store, stream};
use crate::error::{CudaError, CudaResult};
use crate::mapping::page_bytes;
use crate::memory;

/// Sizes and addresses are multiples of this, in bytes.
const GRANULARITY: usize = 2 << 20;

/// `CU_MEM_ALLOCATION_TYPE_PINNED`.
const PINNED: u32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const DEVICE: u32 = 1;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
const FILE_DESCRIPTOR: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READ`.
const READ: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_AND_WRITE: u32 = 3;

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    kind: u32,
    id: c_int,
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    kind: u32,
    handle_types: u32,
    location: Location,
    windows: *mut c_void,
    /// Nothing is compressed here, and nothing else has a direct way to the memory.
    compression: u8,
    direct_access: u8,
    usage: u16,
    reserved: [u8; 4],
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Access {
    location: Location,
    flags: u32,
}

/// Memory that mappings and handles name.
struct Memory {
    file: OwnedFd,
    bytes: usize,
    handle_types: u32,
}

impl Drop for Memory {
    fn drop(&mut self) {
        memory::give_back(self.bytes);
    }
}

/// What is mapped at an address.
struct Mapping {
    memory: Arc<Memory>,
    bytes: usize,
    /// 0 where nothing may touch it.
    access: u32,
}

struct Reservation {
    bytes: usize,
    /// What the system gave, with an inaccessible page on either side.
    whole: (usize, usize),
    /// By address.
    mappings: BTreeMap<usize, Mapping>,
    /// Runs of addresses that stand in the allocation table, and their bytes.
    shown: BTreeMap<usize, usize>,
}

struct Spaces {
    reservations: BTreeMap<usize, Reservation>,
    /// How many handles a program has of the memory of a number.
    handles: BTreeMap<u64, (Arc<Memory>, usize)>,
    last: u64,
}

driver_functions! {
    /// What sizes and addresses have to be multiples of.
    fn cuMemGetAllocationGranularity(
        granularity: *mut usize,
        properties: *const Properties,
        option: u32,
    ) {
        initialised()?;
        // SAFETY: the program passes readable and writable addresses or null; the same in this file.
        unsafe {
            check(properties.as_ref())?;
            match option {
                0 | 1 => store(granularity, GRANULARITY),
                _ => Err(CudaError::INVALID_VALUE),
            }
        }
    }

    /// Takes addresses, at a wanted place if they are free there.
    fn cuMemAddressReserve(
        pointer: *mut DevicePointer,
        bytes: usize,
        alignment: usize,
        wanted: DevicePointer,
        flags: c_ulonglong,
    ) {
        initialised()?;
        let aligned = alignment == 0 || alignment.is_power_of_two();
        if pointer.is_null() || bytes == 0 || !bytes.is_multiple_of(GRANULARITY) || !aligned || flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let reservation = reserved(bytes, alignment.max(GRANULARITY), wanted)?;
        let start = reservation.0;
        spaces().reservations.insert(start, reservation.1);
        // SAFETY: as above.
        unsafe { store(pointer, start) }
    }

    /// Gives addresses back at which nothing is mapped any more.
    fn cuMemAddressFree(pointer: DevicePointer, bytes: usize) {
        initialised()?;
        let mut spaces = spaces();
        let known = spaces.reservations.get(&pointer);
        if known.is_none_or(|space| space.bytes != bytes || !space.mappings.is_empty()) {
            return Err(CudaError::INVALID_VALUE);
        }
        if let Some(space) = spaces.reservations.remove(&pointer) {
            // SAFETY: the reservation's own range of addresses, which nothing is mapped at.
            unsafe { libc::munmap(space.whole.0 as *mut c_void, space.whole.1) };
        }
        Ok(())
    }

    /// Makes memory, which is zero.
    fn cuMemCreate(
        handle: *mut u64,
        bytes: usize,
        properties: *const Properties,
        flags: c_ulonglong,
    ) {
        initialised()?;
        // SAFETY: as above.
        let properties = check(unsafe { properties.as_ref() })?;
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) || flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        memory::take(bytes)?;
        let file = file_of(bytes).inspect_err(|_| memory::give_back(bytes))?;
        let made = Memory { file, bytes, handle_types: properties.handle_types };
        // SAFETY: as above.
        unsafe { store(handle, spaces().handle_of(Arc::new(made))) }
    }

    /// Gives a handle up.
    fn cuMemRelease(handle: u64) {
        initialised()?;
        let mut spaces = spaces();
        let (_, count) = spaces.handles.get_mut(&handle).ok_or(CudaError::INVALID_VALUE)?;
        *count -= 1;
        if *count == 0 {
            spaces.handles.remove(&handle);
        }
        Ok(())
    }

    /// Puts memory at addresses that were reserved; nothing may touch it yet.
    fn cuMemMap(
        pointer: DevicePointer,
        bytes: usize,
        offset: usize,
        handle: u64,
        flags: c_ulonglong,
    ) {
        initialised()?;
        let mut spaces = spaces();
        let memory = Arc::clone(&spaces.handles.get(&handle).ok_or(CudaError::INVALID_VALUE)?.0);
        // The manual has no other offset yet, and drivers map no part and nothing beyond.
        if offset != 0 || bytes > memory.bytes {
            return Err(CudaError::NOT_SUPPORTED);
        }
        let fits = [pointer, bytes].iter().all(|number| number.is_multiple_of(GRANULARITY));
        if !fits || bytes == 0 || flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let (_, space) = spaces.around(pointer, bytes)?;
        if space.within(pointer, bytes).next().is_some() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: a range of the reservation's own addresses at which nothing is mapped.
        let mapped = unsafe {
            libc::mmap(
                pointer as *mut c_void,
                bytes,
                libc::PROT_NONE,
                libc::MAP_SHARED | libc::MAP_FIXED,
                memory.file.as_raw_fd(),
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(CudaError::MEMORY_ALLOCATION);
        }
        space.mappings.insert(pointer, Mapping { memory, bytes, access: 0 });
        Ok(())
    }

    /// Takes all that is mapped in a range away from its addresses, once the device is done.
    fn cuMemUnmap(pointer: DevicePointer, bytes: usize) {
        initialised()?;
        stream::all_in_order()?;
        let mut spaces = spaces();
        let (start, space) = spaces.around(pointer, bytes)?;
        // Where nothing is mapped, nothing is left to do.
        let is_empty = space.within(pointer, bytes).next().is_none();
        if !is_empty && !space.is_all_mapped(pointer, bytes) {
            return Err(CudaError::INVALID_VALUE);
        }
        let gone: Vec<usize> = space.within(pointer, bytes).map(|(address, _)| *address).collect();
        let mut kept = Vec::new();
        for address in gone {
            kept.extend(space.mappings.remove(&address));
        }
        space.show(start);
        // SAFETY: a range of the reservation's own addresses, which nothing refers to any more.
        let sealed = unsafe {
            libc::mmap(
                pointer as *mut c_void,
                bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        // Memory ends with its last name, behind the mapping of it.
        drop(kept);
        match sealed == libc::MAP_FAILED {
            true => Err(CudaError::MEMORY_ALLOCATION),
            false => Ok(()),
        }
    }

    /// Says who may touch what is mapped in a range, and how.
    fn cuMemSetAccess(pointer: DevicePointer, bytes: usize, list: *const Access, count: usize) {
        initialised()?;
        if list.is_null() || count == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        stream::all_in_order()?;
        // SAFETY: the program passes so many.
        let list = unsafe { std::slice::from_raw_parts(list, count) };
        let mut spaces = spaces();
        let (start, space) = spaces.around(pointer, bytes)?;
        if !space.is_all_mapped(pointer, bytes) {
            return Err(CudaError::INVALID_VALUE);
        }
        for Access { location, flags } in list {
            let protection = match flags {
                0 => libc::PROT_NONE,
                &READ => libc::PROT_READ,
                &READ_AND_WRITE => libc::PROT_READ | libc::PROT_WRITE,
                _ => return Err(CudaError::INVALID_VALUE),
            };
            if *location != (Location { kind: DEVICE, id: 0 }) {
                return Err(CudaError::INVALID_DEVICE);
            }
            if *flags == 0 {
                space.set_access(start, (pointer, bytes), *flags);
            }
            // SAFETY: a range of the reservation's own addresses.
            if unsafe { libc::mprotect(pointer as *mut c_void, bytes, protection) } != 0 {
                return Err(CudaError::MEMORY_ALLOCATION);
            }
            space.set_access(start, (pointer, bytes), *flags);
        }
        Ok(())
    }

    /// How the device may touch what is mapped at an address.
    fn cuMemGetAccess(flags: *mut c_ulonglong, location: *const Location, pointer: DevicePointer) {
        initialised()?;
        // SAFETY: as above.
        if unsafe { location.as_ref() } != Some(&Location { kind: DEVICE, id: 0 }) {
            return Err(CudaError::INVALID_VALUE);
        }
        let mut spaces = spaces();
        let access = spaces.at(pointer)?.access;
        // SAFETY: as above.
        unsafe { store(flags, access.into()) }
    }

    /// A further handle of what is mapped at an address.
    fn cuMemRetainAllocationHandle(handle: *mut u64, pointer: *mut c_void) {
        initialised()?;
        let mut spaces = spaces();
        let memory = Arc::clone(&spaces.at(pointer as usize)?.memory);
        // SAFETY: as above.
        unsafe { store(handle, spaces.handle_of(memory)) }
    }

    /// What memory was made with.
    fn cuMemGetAllocationPropertiesFromHandle(properties: *mut Properties, handle: u64) {
        initialised()?;
        let spaces = spaces();
        let (memory, _) = spaces.handles.get(&handle).ok_or(CudaError::INVALID_VALUE)?;
        let found = Properties {
            kind: PINNED,
            handle_types: memory.handle_types,
            location: Location { kind: DEVICE, id: 0 },
            windows: std::ptr::null_mut(),
            compression: 0,
            direct_access: 0,
            usage: 0,
            reserved: [0; 4],
        };
        // SAFETY: as above.
        unsafe { store(properties, found) }
    }

    /// A file descriptor by which another process gets the memory.
    fn cuMemExportToShareableHandle(
        shared: *mut c_void,
        handle: u64,
        kind: u32,
        flags: c_ulonglong,
    ) {
        initialised()?;
        let spaces = spaces();
        let (memory, _) = spaces.handles.get(&handle).ok_or(CudaError::INVALID_VALUE)?;
        let may = kind == FILE_DESCRIPTOR && memory.handle_types & kind != 0;
        if !may || flags != 0 || shared.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        let file = memory.file.try_clone().map_err(|_| CudaError::MEMORY_ALLOCATION)?;
        // SAFETY: the program passes room for an `int`.
        unsafe { store(shared.cast::<c_int>(), file.into_raw_fd()) }
    }

    /// Memory that another process has made.
    fn cuMemImportFromShareableHandle(handle: *mut u64, shared: *mut c_void, kind: u32) {
        initialised()?;
        if kind != FILE_DESCRIPTOR {
            return Err(CudaError::INVALID_VALUE);
        }
        let number = c_int::try_from(shared as usize).map_err(|_| CudaError::INVALID_VALUE)?;
        // SAFETY: a new descriptor of a file, if there is one of this number, in a call without preconditions.
        let (file, bytes) = unsafe {
            let copied = libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0);
            if copied < 0 {
                return Err(CudaError::INVALID_VALUE);
            }
            let file = OwnedFd::from_raw_fd(copied);
            (file, libc::lseek(number, 0, libc::SEEK_END))
        };
        let bytes = usize::try_from(bytes).map_err(|_| CudaError::INVALID_VALUE)?;
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
            return Err(CudaError::INVALID_VALUE);
        }
        memory::take(bytes)?;
        let memory = Memory { file, bytes, handle_types: FILE_DESCRIPTOR };
        // SAFETY: as above.
        unsafe { store(handle, spaces().handle_of(Arc::new(memory))) }
    }
}

impl Spaces {
    fn handle_of(&mut self, memory: Arc<Memory>) -> u64 {
        let mut known = self.handles.iter_mut();
        if let Some((handle, (_, count))) = known.find(|(_, (of, _))| Arc::ptr_eq(of, &memory)) {
            *count += 1;
            return *handle;
        }
        self.last += 1;
        self.handles.insert(self.last, (memory, 1));
        self.last
    }

    /// The reservation that a range lies in, and its first address.
    fn around(&mut self, pointer: usize, bytes: usize) -> CudaResult<(usize, &mut Reservation)> {
        let mut before = self.reservations.range_mut(..=pointer);
        let (start, space) = before.next_back().ok_or(CudaError::INVALID_VALUE)?;
        let end = pointer.checked_add(bytes).ok_or(CudaError::INVALID_VALUE)?;
        match bytes > 0 && end <= start + space.bytes {
            true => Ok((*start, space)),
            false => Err(CudaError::INVALID_VALUE),
        }
    }

    /// What is mapped at an address.
    fn at(&mut self, pointer: usize) -> CudaResult<&Mapping> {
        let (_, space) = self.around(pointer, 1)?;
        let before = space.mappings.range(..=pointer).next_back();
        let found = before.filter(|(start, mapping)| pointer - **start < mapping.bytes);
        found
            .map(|(_, mapping)| mapping)
            .ok_or(CudaError::INVALID_VALUE)
    }
}

impl Reservation {
    /// The mappings that have an address in a range.
    fn within(&self, pointer: usize, bytes: usize) -> impl Iterator<Item = (&usize, &Mapping)> {
        let touching = self.mappings.range(..pointer + bytes);
        touching.filter(move |(start, mapping)| **start + mapping.bytes > pointer)
    }

    /// Whether a range is one of whole mappings without a gap.
    fn is_all_mapped(&self, pointer: usize, bytes: usize) -> bool {
        let mut next = pointer;
        for (start, mapping) in self.within(pointer, bytes) {
            if *start != next {
                return false;
            }
            next += mapping.bytes;
        }
        next == pointer + bytes
    }

    fn set_access(&mut self, start: usize, (pointer, bytes): (usize, usize), access: u32) {
        for (_, mapping) in self.mappings.range_mut(pointer..pointer + bytes) {
            mapping.access = access;
        }
        self.show(start);
    }

    /// Has the allocation table know what can be accessed now.
    fn show(&mut self, start: usize) {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        let accessible = self
            .mappings
            .iter()
            .filter(|(_, mapping)| mapping.access != 0);
        for (address, mapping) in accessible {
            match runs.last_mut() {
                Some((begin, length)) if *begin + *length == *address => *length += mapping.bytes,
                _ => runs.push((*address, mapping.bytes)),
            }
        }
        let runs: BTreeMap<usize, usize> = runs.into_iter().collect();
        debug_assert!(runs.keys().all(|run| *run >= start));
        for (run, bytes) in &self.shown {
            if runs.get(run) != Some(bytes) {
                memory::hide_mapped(*run);
            }
        }
        for (run, bytes) in &runs {
            if self.shown.get(run) != Some(bytes) {
                memory::show_mapped(*run, *bytes);
            }
        }
        self.shown = runs;
    }
}

/// Addresses of the system's choice, or the wanted ones.
fn reserved(bytes: usize, alignment: usize, wanted: usize) -> CudaResult<(usize, Reservation)> {
    let page = page_bytes();
    let room = bytes
        .checked_add(alignment)
        .and_then(|room| room.checked_add(2 * page))
        .ok_or(CudaError::MEMORY_ALLOCATION)?;
    let take = |place: usize, room: usize, flags: c_int| {
        // SAFETY: new addresses, none of which is in use.
        let taken = unsafe {
            libc::mmap(
                place as *mut c_void,
                room,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | flags,
                -1,
                0,
            )
        };
        (taken != libc::MAP_FAILED).then_some(taken as usize)
    };
    let reservation = |whole| Reservation {
        bytes,
        whole,
        mappings: BTreeMap::new(),
        shown: BTreeMap::new(),
    };
    if wanted != 0 && wanted.is_multiple_of(alignment) {
        let whole = (wanted - page, bytes + 2 * page);
        match take(whole.0, whole.1, libc::MAP_FIXED_NOREPLACE) {
            Some(taken) if taken == whole.0 => return Ok((wanted, reservation(whole))),
            // Systems that do not know the flag take it for a hint.
            // SAFETY: what was just taken.
            Some(taken) => drop(unsafe { libc::munmap(taken as *mut c_void, whole.1) }),
            None => {}
        }
    }
    let taken = take(0, room, 0).ok_or(CudaError::MEMORY_ALLOCATION)?;
    let start = (taken + page).next_multiple_of(alignment);
    Ok((start, reservation((taken, room))))
}

/// A file of so many zero bytes in memory.
fn file_of(bytes: usize) -> CudaResult<OwnedFd> {
    let length = i64::try_from(bytes).map_err(|_| CudaError::MEMORY_ALLOCATION)?;
    // SAFETY: the name is a string; the descriptor is a new one, whose owner is made of it.
    unsafe {
        let number = libc::memfd_create(c"sirius".as_ptr(), libc::MFD_CLOEXEC);
        if number < 0 {
            return Err(CudaError::MEMORY_ALLOCATION);
        }
        let file = OwnedFd::from_raw_fd(number);
        match libc::ftruncate(number, length) {
            0 => Ok(file),
            _ => Err(CudaError::MEMORY_ALLOCATION),
        }
    }
}

/// Errors: the memory is to be of another kind, or on another device.
fn check(properties: Option<&Properties>) -> CudaResult<&Properties> {
    let properties = properties.ok_or(CudaError::INVALID_VALUE)?;
    if properties.kind != PINNED || properties.handle_types & !FILE_DESCRIPTOR != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    match properties.location {
        Location {
            kind: DEVICE,
            id: 0,
        } => Ok(properties),
        Location { kind: DEVICE, .. } => Err(CudaError::INVALID_DEVICE),
        _ => Err(CudaError::NOT_SUPPORTED),
    }
}

fn spaces() -> MutexGuard<'static, Spaces> {
    static ALL: Mutex<Spaces> = Mutex::new(Spaces {
        reservations: BTreeMap::new(),
        handles: BTreeMap::new(),
        last: 0,
    });
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
