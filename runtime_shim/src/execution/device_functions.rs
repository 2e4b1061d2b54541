//! What compiled kernels call besides barriers and warp operations.

use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::Failure;
use super::block::BlockState;
use super::clusters::{Cluster, SharedMemory};
use crate::abi::{ThreadContext, access};
use crate::allocations::{self, MemoryKind};
use crate::environment::settings;
use crate::execution::check::{self, Checked};
use crate::output::trace::{Access, NO_ORDINAL, SPACE_GLOBAL, SPACE_SHARED};
use crate::output::{printf, trace};
use crate::termination;

/// `__trap`: the launch fails with `cudaErrorLaunchFailure`.
///
/// # Safety
/// Compiled kernels call it with the context that they were given; the same for all `__sirius_*`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_trap(context: *mut ThreadContext) -> ! {
    // SAFETY: as the caller promises.
    unsafe {
        let state = BlockState::of(context);
        let name = &(*state).launch().kernel.display_name;
        termination::notice(&format!("kernel {name} trapped in {}", place_of(context)));
        BlockState::abandon(state, (*context).linear_index, Failure::Trap)
    }
}

/// A failed `assert`: prints CUDA's message; the launch fails with `cudaErrorAssert`.
///
/// # Safety
/// As for [`__sirius_trap`]; the texts are strings or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_assert_fail(
    context: *mut ThreadContext,
    message: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    // SAFETY: as the caller promises.
    unsafe {
        let text = |pointer: *const c_char| match pointer.is_null() {
            true => String::new(),
            false => CStr::from_ptr(pointer).to_string_lossy().into_owned(),
        };
        let [bx, by, bz] = (*(*context).block).block_index;
        let [tx, ty, tz] = (*context).thread_index;
        let report = format!(
            "{}:{line}: {}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] \
             Assertion `{}` failed.\n",
            text(file),
            text(function),
            text(message),
        );
        let _ = std::io::stderr().write_all(report.as_bytes());
        let state = BlockState::of(context);
        BlockState::abandon(state, (*context).linear_index, Failure::Assertion)
    }
}

/// Device `printf`: formats with CUDA's rules to the program's standard output. Returns the number of
/// arguments, or -1 without a format.
///
/// # Safety
/// As for [`__sirius_trap`]; `arguments` holds what the format asks for, each aligned to its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_vprintf(
    _context: *mut ThreadContext,
    format: *const c_char,
    arguments: *const c_void,
) -> i32 {
    if format.is_null() {
        return -1;
    }
    // SAFETY: as the caller promises.
    unsafe {
        let (text, count) = printf::format(CStr::from_ptr(format).to_bytes(), arguments.cast());
        printf::write(&text);
        i32::try_from(count).unwrap_or(i32::MAX)
    }
}

/// `clock64`: nanoseconds since the first call, as cycles of a device of 1 GHz.
#[unsafe(no_mangle)]
pub extern "C" fn __sirius_clock(_context: *mut ThreadContext) -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// `%globaltimer`: nanoseconds since 1970.
#[unsafe(no_mangle)]
pub extern "C" fn __sirius_global_timer(_context: *mut ThreadContext) -> u64 {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// Device `malloc`: from the C library's heap, 16-byte aligned; null when there is none left.
#[unsafe(no_mangle)]
pub extern "C" fn __sirius_device_malloc(_context: *mut ThreadContext, bytes: u64) -> *mut c_void {
    match usize::try_from(bytes) {
        // SAFETY: malloc has no preconditions.
        Ok(bytes) => unsafe { libc::malloc(bytes) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Device `free`.
///
/// # Safety
/// `pointer` is null or from [`__sirius_device_malloc`] and not yet freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_device_free(_context: *mut ThreadContext, pointer: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe { libc::free(pointer) };
}

/// A zero of which compilers of kernels do not know that it is one.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "named like the functions beside it")]
pub static __sirius_zero: u64 = 0;

/// Names a feature that the CPU device lacks, and ends the program.
///
/// # Safety
/// As for [`__sirius_trap`]; `what` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_unsupported(
    context: *mut ThreadContext,
    what: *const c_char,
) -> ! {
    // SAFETY: as the caller promises.
    unsafe {
        let state = BlockState::of(context);
        let name = &(*state).launch().kernel.display_name;
        termination::fail(&format!(
            "kernel {name} needs what the CPU device does not have: {}",
            CStr::from_ptr(what).to_string_lossy()
        ))
    }
}

/// `counted_access` with one more argument: the address that the call returns to, which tells where the access
/// stands in the program.
///
/// # Safety
/// As for [`__sirius_trap`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_access(
    context: *mut ThreadContext,
    address: *const c_void,
    bytes: u64,
    kind: u32,
) {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!("mov r8, [rsp]", "jmp {access}", access = sym counted_access);
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!("mov x4, x30", "b {access}", access = sym counted_access);
}

/// The same address for the runtime's own functions.
///
/// # Safety
/// As for [`__sirius_trap`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_note_place(context: *mut ThreadContext) {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!("mov rsi, [rsp]", "jmp {noted}", noted = sym noted_place);
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!("mov x1, x30", "b {noted}", noted = sym noted_place);
}

/// Remembers where in the program the accesses of the call that comes next stand: `instruction`.
///
/// # Safety
/// As for [`__sirius_trap`].
unsafe extern "C" fn noted_place(context: *mut ThreadContext, instruction: usize) {
    // SAFETY: nothing else refers into the state while this function runs.
    unsafe { (*BlockState::of(context)).noted_instruction = instruction };
}

/// [`counted_access`] for functions of the runtime, at the place that was noted last.
///
/// # Safety
/// As for [`__sirius_trap`].
pub unsafe fn reported_access(
    context: *mut ThreadContext,
    address: usize,
    bytes: usize,
    kind: u32,
) {
    // SAFETY: as the caller promises.
    unsafe {
        let instruction = (*BlockState::of(context)).noted_instruction;
        let address = address as *const c_void;
        counted_access(context, address, bytes as u64, kind, instruction);
    }
}

/// Whether a word is the one by which the blocks of a cooperative launch wait for each other.
fn is_meeting_place(state: &BlockState, address: usize) -> bool {
    let launch = state.launch();
    launch.cooperative && &raw const launch.workspace[1] as usize == address
}

/// Counts, traces and checks one access of instrumented code.
///
/// # Safety
/// As for [`__sirius_trap`].
unsafe extern "C" fn counted_access(
    context: *mut ThreadContext,
    address: *const c_void,
    bytes: u64,
    kind: u32,
    instruction: usize,
) {
    // SAFETY: nothing else refers into the state while this function runs.
    let (state, thread) = unsafe { (&mut *BlockState::of(context), (*context).linear_index) };
    let (is_checked, is_counted) = (kind != access::SPECULATED_LOAD, kind != access::USED_LOAD);
    let is_guess = kind == access::GUESS_LOAD;
    let (kind, orders) = match kind {
        access::SPECULATED_LOAD | access::USED_LOAD | access::GUESS_LOAD => (access::LOAD, false),
        access::ATOMIC_LOAD => (access::LOAD, true),
        access::ATOMIC_STORE => (access::STORE, true),
        kind => (kind, kind == access::ATOMIC),
    };
    let address = address as usize;
    let within = |(low, high): (usize, usize)| (low..high).contains(&address);
    if within(state.local_bounds) {
        return;
    }
    if kind == access::ATOMIC && is_counted && is_meeting_place(state, address) {
        state.launch().arrivals.fetch_add(1, Ordering::Relaxed);
    }
    let is_own = within(state.shared_bounds);
    let shared = match is_own {
        true => Some(SharedMemory::of(state)),
        // SAFETY: the cluster lives as long as its blocks run.
        false => unsafe { Cluster::shared_memory_at(state.cluster, address) },
    };
    if is_checked && (settings().checks.any() || settings().watch.is_some()) {
        let checked = Checked {
            address,
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            kind,
            atomic: orders || is_guess,
            orders,
            place: match shared {
                Some(_) => None,
                None => place_of_access(state, address),
            },
            shared,
            thread,
            instruction,
        };
        check::access(state, &checked);
    }
    if !is_counted {
        return;
    }
    let loads = if kind == access::STORE { 0 } else { bytes };
    let stores = if kind == access::LOAD { 0 } else { bytes };
    let (ordinal, offset, space) = if let Some(shared) = shared {
        state.counters.shared_load_bytes += loads;
        state.counters.shared_store_bytes += stores;
        if !is_own {
            // The trace has no place for what is another block's.
            return;
        }
        (NO_ORDINAL, address - shared.bounds.0, SPACE_SHARED)
    } else {
        let place = place_of_access(state, address);
        if place.is_none_or(|place| place.kind != MemoryKind::Constant) {
            state.counters.global_load_bytes += loads;
            state.counters.global_store_bytes += stores;
        }
        match place {
            Some(place) => (place.ordinal, address - place.base, SPACE_GLOBAL),
            None => (NO_ORDINAL, address, SPACE_GLOBAL),
        }
    };
    if trace::enabled() {
        let interval = state.interval;
        for position in 0..state.in_step_offsets.len() {
            state.push_access(Access {
                thread: thread + state.in_step_offsets[position],
                interval,
                ordinal,
                offset: offset as u64,
                size: u32::try_from(bytes).unwrap_or(u32::MAX),
                kind: kind as u8,
                space,
            });
        }
    }
}

/// The allocation of an address; remembers the last one, since accesses cluster.
fn place_of_access(state: &mut BlockState, address: usize) -> Option<allocations::Place> {
    let generation = allocations::generation();
    match state.last_place {
        Some((place, then))
            if then == generation && address.wrapping_sub(place.base) < place.bytes =>
        {
            Some(place)
        }
        _ => {
            let place = allocations::place(address);
            state.last_place = place.map(|place| (place, generation)).or(state.last_place);
            place
        }
    }
}

/// `block (x,y,z), thread (x,y,z)`.
///
/// # Safety
/// As for [`__sirius_trap`].
pub unsafe fn place_of(context: *const ThreadContext) -> String {
    // SAFETY: as the caller promises.
    unsafe {
        let [bx, by, bz] = (*(*context).block).block_index;
        let [tx, ty, tz] = (*context).thread_index;
        format!("block ({bx},{by},{bz}), thread ({tx},{ty},{tz})")
    }
}

/// What LLVM calls to make a bfloat16 of a float, which not every compiler's library has. The
/// result is in the low half of a vector register, where a bfloat16 is returned.
#[unsafe(no_mangle)]
pub extern "C" fn __truncsfbf2(value: f32) -> f32 {
    f32::from_bits(u32::from(bfloat16_of(value)))
}

/// The same for a double: rounded to odd in between, so that it is rounded once.
#[unsafe(no_mangle)]
pub extern "C" fn __truncdfbf2(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    let mut bits = nearest.to_bits();
    if back != value && nearest.is_finite() {
        if back.abs() > value.abs() {
            bits -= 1;
        }
        bits |= 1;
    }
    f32::from_bits(u32::from(bfloat16_of(f32::from_bits(bits))))
}

/// Rounds to nearest, ties to even.
fn bfloat16_of(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    (rounded >> 16) as u16
}
