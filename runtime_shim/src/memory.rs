//! Device-visible memory comes and goes: allocations, memory of the program's own that is registered, variables.
//!
//! Invariant: whoever watches what is allocated ([`trace`], [`memory_dump`], checks) hears of
//! each entry of the table ([`allocations`](crate::allocations)) before others can find it, and of its end while the memory can still be read.

use crate::allocations::{
    Backing, GUARDED_LIMIT, Table, VARIABLE_ORDINAL, guarded, reserved, unguarded, write,
};
use crate::error::{CudaError, CudaResult};
use crate::execution::check;
use crate::output::{memory_dump, trace};

pub use crate::allocations::{
    ALIGNMENT, AllocationView, MemoryKind, Place, find, free_bytes, give_back, make_real, place,
    statistics, take, total_bytes,
};

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

/// Frees what [`allocate`] gave. Errors: `cudaErrorInvalidValue` when `base` is not the start of a
/// live allocation of a kind that `may_free` accepts.
pub fn free(base: usize, may_free: impl Fn(MemoryKind) -> bool) -> CudaResult {
    let mut table = write();
    match table.by_base.get(&base) {
        Some(entry) if entry.backing.is_owned() && may_free(entry.view.kind) => {}
        _ => return Err(CudaError::INVALID_VALUE),
    }
    table.release(base, tell_freed);
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
        table.release(base, tell_freed);
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
    table.release(base, tell_freed);
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
    write().release(base, tell_freed);
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

fn tell_freed<'a>(view: &'a AllocationView, others: &mut dyn Iterator<Item = &'a AllocationView>) {
    memory_dump::freed(view, others);
    trace::freed(view);
    check::freed(view.ordinal);
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
            // What describes an address gives up where another test holds the table.
            write()
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
