//! Faults in kernels: a report that names kernel, place and source line instead of a bare crash.
//!
//! Invariant: a signal that did not come from a kernel goes to whoever handled it before.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

use super::block::{self, BlockState};
use super::check;
use crate::mapping::{self, GuardedMapping};
use crate::source_lines::source_line;
use crate::{allocations, termination};

/// Installs the handlers, once, and gives this thread a stack for them.
pub fn prepare_thread() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| SIGNALS.iter().for_each(|signal| install(*signal)));
    thread_local! {
        static PREPARED: Cell<bool> = const { Cell::new(false) };
    }
    if !PREPARED.replace(true) {
        use_alternate_stack();
    }
}

const SIGNALS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// What handled each of [`SIGNALS`] before.
static PREVIOUS: [OnceLock<libc::sigaction>; 4] = [const { OnceLock::new() }; 4];

fn install(signal: c_int) {
    // SAFETY: the structures are filled before use, and the handler has the three-argument form that
    // SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction =
            handle as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
        if libc::sigaction(signal, &raw const action, previous.as_mut_ptr()) == 0
            && let Some(index) = SIGNALS.iter().position(|other| *other == signal)
        {
            let _ = PREVIOUS[index].set(previous.assume_init());
        }
    }
}

/// Finding a source line takes room, so the stack is larger than usual.
fn use_alternate_stack() {
    const BYTES: usize = 1 << 20;
    let Some(mapping) = GuardedMapping::new(BYTES) else {
        return;
    };
    // SAFETY: the mapping is given away for as long as the process lives.
    unsafe {
        let stack = libc::stack_t {
            ss_sp: mapping.start() as *mut c_void,
            ss_flags: 0,
            ss_size: mapping.end() - mapping.start(),
        };
        if libc::sigaltstack(&raw const stack, std::ptr::null_mut()) == 0 {
            std::mem::forget(mapping);
        }
    }
}

extern "C" fn handle(signal: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
    let state = block::running();
    if state.is_null() {
        // SAFETY: the system filled both.
        let opened = unsafe {
            let address = (*information).si_addr() as usize;
            signal == libc::SIGSEGV
                && check::host::faulted(address, is_store(context), instruction(context))
        };
        if opened {
            return;
        }
        pass_on(signal, information, context);
        return;
    }
    static REPORTING: AtomicBool = AtomicBool::new(false);
    if REPORTING.swap(true, Ordering::AcqRel) {
        // Another worker reports, or the report itself faulted on this one.
        // SAFETY: alarm and pause have no preconditions.
        unsafe {
            libc::alarm(5);
            loop {
                libc::pause();
            }
        }
    }
    // SAFETY: the report must not become a hang when a lock is held; the alarm ends the process.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(20);
    }
    // SAFETY: the state belongs to this thread, which is stopped here; the system filled the others.
    let sentence = unsafe {
        let address = (*information).si_addr() as usize;
        describe(
            &*state,
            signal,
            (*information).si_code,
            address,
            instruction(context),
        )
    };
    termination::fail(&sentence)
}

fn describe(
    state: &BlockState,
    signal: c_int,
    code: c_int,
    address: usize,
    instruction: usize,
) -> String {
    let overflow = state
        .current_stack
        .is_some_and(|stack| stack.guards(address));
    let what = match signal {
        libc::SIGSEGV if overflow => "stack overflow".to_owned(),
        // An address that the machine cannot form comes without the address.
        libc::SIGSEGV if code == libc::SI_KERNEL => "illegal memory access".to_owned(),
        libc::SIGSEGV | libc::SIGBUS => format!("illegal memory access at {address:#x}"),
        libc::SIGFPE => "integer division by zero or overflow".to_owned(),
        _ => "illegal instruction".to_owned(),
    };
    let [x, y, z] = state.context.block_index;
    let mut sentence = format!(
        "{what} in kernel {}, block ({x},{y},{z})",
        state.launch().kernel.display_name
    );
    if !state.current.is_null() {
        // SAFETY: the context is of the thread that runs, whose stack is intact.
        let [x, y, z] = unsafe { (*state.current).thread_index };
        let _ = write!(sentence, ", thread ({x},{y},{z})");
    }
    if let Some(place) = source_line(instruction) {
        let _ = write!(sentence, ", {place}");
    }
    if matches!(signal, libc::SIGSEGV | libc::SIGBUS) && !overflow && code != libc::SI_KERNEL {
        let neighbours = [
            allocations::describe(address),
            shared_neighbour(state, address),
        ];
        if let Some((_, neighbour)) = neighbours
            .into_iter()
            .flatten()
            .min_by_key(|(distance, _)| *distance)
        {
            let _ = write!(sentence, "; {neighbour}");
        }
    }
    sentence
}

/// How far from the block's shared memory an address is, when that is near.
fn shared_neighbour(state: &BlockState, address: usize) -> Option<(usize, String)> {
    let (low, high) = state.shared_bounds;
    let (distance, side) = match address {
        above if above >= high => (above - high, "past the end of"),
        below if below < low => (low - below, "before"),
        _ => return None,
    };
    let near = low < high && distance <= mapping::page_bytes();
    near.then(|| (distance, format!("{distance} bytes {side} shared memory")))
}

/// Whether the access that faulted stores.
#[cfg(target_arch = "x86_64")]
fn is_store(context: *mut c_void) -> bool {
    const STORES: i64 = 2;
    // SAFETY: the system passes a ucontext_t.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    registers[libc::REG_ERR as usize] & STORES != 0
}

/// Whether the access that faulted stores; not known here, so that only loads are told of.
#[cfg(target_arch = "aarch64")]
fn is_store(_context: *mut c_void) -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
fn instruction(context: *mut c_void) -> usize {
    // SAFETY: the system passes a ucontext_t.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    usize::try_from(registers[libc::REG_RIP as usize]).unwrap_or(0)
}

#[cfg(target_arch = "aarch64")]
fn instruction(context: *mut c_void) -> usize {
    // SAFETY: the system passes a ucontext_t.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.pc as usize }
}

/// Does what would have been done without this handler.
fn pass_on(signal: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
    let index = SIGNALS.iter().position(|other| *other == signal);
    let previous = index.and_then(|index| PREVIOUS[index].get());
    // SAFETY: a handler that was installed with these flags has this type; the default action comes
    // when the instruction faults again after this handler returned.
    unsafe {
        match previous {
            Some(previous)
                if previous.sa_sigaction != libc::SIG_DFL
                    && previous.sa_sigaction != libc::SIG_IGN =>
            {
                if previous.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                        std::mem::transmute(previous.sa_sigaction);
                    handler(signal, information, context);
                } else {
                    let handler: extern "C" fn(c_int) = std::mem::transmute(previous.sa_sigaction);
                    handler(signal);
                }
            }
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                // A signal that was sent, not raised by an instruction, does not come again.
                if (*information).si_code <= 0 {
                    libc::raise(signal);
                }
            }
        }
    }
}
