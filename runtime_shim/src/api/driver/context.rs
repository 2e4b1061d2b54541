//! Initialisation, the one device, and contexts.
//!
//! All contexts share the device's memory and streams; a context is a handle that is current or not. The
//! runtime works in the primary context, which is current for a thread that has used the runtime and
//! chosen no other.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{INVALID_CONTEXT, NOT_INITIALIZED, passed_on};
use crate::api::{device, store, stream};
use crate::error::{self, CudaError, CudaResult};
use crate::memory;

/// `CUDA_ERROR_CONTEXT_IS_DESTROYED`.
const CONTEXT_IS_DESTROYED: CudaError = CudaError(709);

/// Version of contexts that `cuCtxGetApiVersion` tells.
const API_VERSION: u32 = 3020;

/// The device's name.
pub(crate) const NAME: &[u8] = b"sirius CPU device\0";

/// Errors: `CUDA_ERROR_NOT_INITIALIZED` before `cuInit`.
pub fn initialised() -> CudaResult {
    if error::is_initialised() {
        Ok(())
    } else {
        Err(NOT_INITIALIZED)
    }
}

/// Errors: no context is current, or a kernel failed.
pub fn required() -> CudaResult {
    initialised()?;
    if current() == 0 {
        return Err(INVALID_CONTEXT);
    }
    error::device_failure().map_or(Ok(()), Err)
}

/// As [`required`], for what is done in a stream: one that a program has made brings its context along.
///
/// Errors: as for [`required`].
pub fn required_in(stream: *mut c_void) -> CudaResult {
    initialised()?;
    if stream::is_built_in(stream)? {
        return required();
    }
    error::device_failure().map_or(Ok(()), Err)
}

driver_functions! {
    /// Initialises.
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        error::set_initialised();
        Ok(())
    }

    /// Version of the interface.
    fn cuDriverGetVersion(version: *mut c_int) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        passed_on(unsafe { device::cudaDriverGetVersion(version) })
    }

    /// A device by number: 0.
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        check_device(ordinal)?;
        // SAFETY: as above.
        unsafe { store(device, 0) }
    }

    /// One device.
    fn cuDeviceGetCount(count: *mut c_int) {
        initialised()?;
        // SAFETY: as above.
        unsafe { store(count, 1) }
    }

    /// The device's name, cut to the room there is.
    fn cuDeviceGetName(name: *mut c_char, room: c_int, device: c_int) {
        check_device(device)?;
        let room = usize::try_from(room).map_err(|_| CudaError::INVALID_VALUE)?;
        if name.is_null() || room == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let length = room.min(NAME.len());
        // SAFETY: the program passes as much room as it says.
        unsafe {
            std::ptr::copy_nonoverlapping(NAME.as_ptr(), name.cast(), length);
            name.add(length - 1).write(0);
        }
        Ok(())
    }

    /// The device's identity.
    fn cuDeviceGetUuid = cuDeviceGetUuid_v2 (uuid: *mut [u8; 16], device: c_int) {
        check_device(device)?;
        // SAFETY: as above.
        unsafe { store(uuid, device::identity()) }
    }

    /// The device's memory in bytes.
    fn cuDeviceTotalMem = cuDeviceTotalMem_v2 (bytes: *mut usize, device: c_int) {
        check_device(device)?;
        let total = usize::try_from(memory::total_bytes()).unwrap_or(usize::MAX);
        // SAFETY: as above.
        unsafe { store(bytes, total) }
    }

    /// One property.
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: u32, device: c_int) {
        check_device(device)?;
        let found = device::attribute(attribute).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe { store(value, found) }
    }

    /// The device's compute capability.
    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) {
        check_device(device)?;
        // SAFETY: as above.
        unsafe {
            store(major, device::compute_capability() / 10)?;
            store(minor, device::compute_capability() % 10)
        }
    }

    /// A device does not reach itself as a peer.
    fn cuDeviceCanAccessPeer(answer: *mut c_int, device: c_int, peer: c_int) {
        check_device(device)?;
        check_device(peer)?;
        // SAFETY: as above.
        unsafe { store(answer, 0) }
    }

    /// The device's PCI address.
    fn cuDeviceGetPCIBusId(text: *mut c_char, length: c_int, device: c_int) {
        check_device(device)?;
        // SAFETY: as above.
        passed_on(unsafe { device::cudaDeviceGetPCIBusId(text, length, device) })
    }

    /// The device at a PCI address.
    fn cuDeviceGetByPCIBusId(device: *mut c_int, text: *const c_char) {
        initialised()?;
        // SAFETY: as above.
        passed_on(unsafe { device::cudaDeviceGetByPCIBusId(device, text) })
    }

    /// The primary context, which is the runtime's.
    fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) {
        check_device(device)?;
        PRIMARY_USERS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { store(context, primary()) }
    }

    /// Gives the primary context back.
    fn cuDevicePrimaryCtxRelease = cuDevicePrimaryCtxRelease_v2 (device: c_int) {
        check_device(device)?;
        PRIMARY_USERS
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |users| users.checked_sub(1))
            .map(drop)
            .map_err(|_| INVALID_CONTEXT)
    }

    /// Frees everything, as `cudaDeviceReset` does.
    fn cuDevicePrimaryCtxReset = cuDevicePrimaryCtxReset_v2 (device: c_int) {
        check_device(device)?;
        passed_on(device::cudaDeviceReset())
    }

    /// How the host waits: remembered.
    fn cuDevicePrimaryCtxSetFlags = cuDevicePrimaryCtxSetFlags_v2 (device: c_int, flags: u32) {
        check_device(device)?;
        // SAFETY: no pointers.
        passed_on(unsafe { device::cudaSetDeviceFlags(flags) })
    }

    /// Whether the primary context is in use.
    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut u32, active: *mut c_int) {
        check_device(device)?;
        let used = PRIMARY_USERS.load(Ordering::Relaxed) > 0 || error::runtime_is_used();
        // SAFETY: as above.
        unsafe {
            store(flags, 0)?;
            store(active, c_int::from(used))
        }
    }

    /// A context, which becomes current.
    fn cuCtxCreate = cuCtxCreate_v2 (context: *mut usize, flags: u32, device: c_int) {
        // SAFETY: as above.
        unsafe { create(context, flags, device) }
    }

    /// The same, with a share of the device's processors, which is a hint.
    fn cuCtxCreate_v3(
        context: *mut usize,
        _affinity: *const c_void,
        _affinity_count: c_int,
        flags: u32,
        device: c_int,
    ) {
        // SAFETY: as above.
        unsafe { create(context, flags, device) }
    }

    /// The same, with parameters that concern graphics and shares of the device.
    fn cuCtxCreate_v4(
        context: *mut usize,
        _parameters: *const c_void,
        flags: u32,
        device: c_int,
    ) {
        // SAFETY: as above.
        unsafe { create(context, flags, device) }
    }

    /// Ends a context; one that is current is current no more. Its memory stays until the program ends.
    fn cuCtxDestroy = cuCtxDestroy_v2 (context: usize) {
        initialised()?;
        stream::all_in_order()?;
        contexts().remove(&context).ok_or(INVALID_CONTEXT)?;
        with_current(|stack| {
            if stack.last() == Some(&context) {
                stack.pop();
            }
        });
        Ok(())
    }

    /// The current context; null when there is none.
    fn cuCtxGetCurrent(context: *mut usize) {
        initialised()?;
        // SAFETY: as above.
        unsafe { store(context, current()) }
    }

    /// Makes a context current in place of the one that is.
    fn cuCtxSetCurrent(context: usize) {
        initialised()?;
        if context != 0 {
            check_context(context)?;
        }
        with_current(|stack| {
            stack.pop();
            if context != 0 {
                stack.push(context);
            }
        });
        Ok(())
    }

    /// Makes a context current on top of the one that is.
    fn cuCtxPushCurrent = cuCtxPushCurrent_v2 (context: usize) {
        initialised()?;
        check_context(context)?;
        with_current(|stack| stack.push(context));
        Ok(())
    }

    /// Makes the context below the current one current.
    fn cuCtxPopCurrent = cuCtxPopCurrent_v2 (context: *mut usize) {
        initialised()?;
        let popped = with_current(Vec::pop).ok_or(INVALID_CONTEXT)?;
        if context.is_null() {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { store(context, popped) }
    }

    /// The device of the current context: 0.
    fn cuCtxGetDevice(device: *mut c_int) {
        required()?;
        // SAFETY: as above.
        unsafe { store(device, 0) }
    }

    /// The flags that the current context was made with.
    fn cuCtxGetFlags(flags: *mut u32) {
        required()?;
        let found = contexts().get(&current()).copied().unwrap_or(0);
        // SAFETY: as above.
        unsafe { store(flags, found) }
    }

    /// Remembers how the host waits.
    fn cuCtxSetFlags(flags: u32) {
        required()?;
        if let Some(of_context) = contexts().get_mut(&current()) {
            *of_context = flags;
        }
        Ok(())
    }

    /// A number that no other context has: its handle's.
    fn cuCtxGetId(context: usize, id: *mut u64) {
        initialised()?;
        let context = if context == 0 { current() } else { context };
        check_context(context)?;
        // SAFETY: as above.
        unsafe { store(id, context as u64) }
    }

    /// The version of a context's interface.
    fn cuCtxGetApiVersion(context: usize, version: *mut u32) {
        initialised()?;
        if context != 0 {
            check_context(context)?;
        }
        // SAFETY: as above.
        unsafe { store(version, API_VERSION) }
    }

    /// Waits for all work.
    fn cuCtxSynchronize() {
        required()?;
        // SAFETY: no pointers.
        passed_on(unsafe { device::cudaDeviceSynchronize() })
    }

    /// A limit.
    fn cuCtxGetLimit(value: *mut usize, limit: u32) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { device::cudaDeviceGetLimit(value, limit) })
    }

    /// Remembers a limit.
    fn cuCtxSetLimit(limit: u32, value: usize) {
        required()?;
        // SAFETY: no pointers.
        passed_on(unsafe { device::cudaDeviceSetLimit(limit, value) })
    }

    /// Nothing: no lines of the cache are kept.
    fn cuCtxResetPersistingL2Cache() {
        required()
    }

    /// How wide banks of shared memory are: it has none.
    fn cuCtxGetSharedMemConfig(configuration: *mut u32) {
        required()?;
        // SAFETY: as above. Banks of four bytes are those of all devices since 5.0.
        unsafe { store(configuration, 1) }
    }

    /// How caches are to be split.
    fn cuCtxGetCacheConfig(configuration: *mut u32) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { device::cudaDeviceGetCacheConfig(configuration) })
    }

    /// Remembers how caches are to be split.
    fn cuCtxSetCacheConfig(configuration: u32) {
        required()?;
        // SAFETY: no pointers.
        passed_on(unsafe { device::cudaDeviceSetCacheConfig(configuration) })
    }

    /// Nothing: shared memory has no banks.
    fn cuCtxSetSharedMemConfig(_configuration: u32) {
        required()
    }

    /// Range of priorities of streams.
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { stream::cudaDeviceGetStreamPriorityRange(least, greatest) })
    }

    /// Nothing: there is no profiler.
    fn cuProfilerStart = cuProfilerStop () {
        required()
    }
}

/// Live contexts but the primary one, with their flags.
static CONTEXTS: Mutex<BTreeMap<usize, u32>> = Mutex::new(BTreeMap::new());

static PRIMARY_USERS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// This thread's contexts, the current one last. Never destroyed, because exit handlers ask after a thread's values
    /// are.
    static CURRENT: RefCell<ManuallyDrop<Vec<usize>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Changes this thread's contexts.
fn with_current<T>(change: impl FnOnce(&mut Vec<usize>) -> T) -> T {
    CURRENT.with_borrow_mut(|stack| {
        let result = change(stack);
        error::set_context_is_current(!stack.is_empty());
        result
    })
}

fn contexts() -> MutexGuard<'static, BTreeMap<usize, u32>> {
    CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The primary context's handle: an address that nothing else has.
fn primary() -> usize {
    &raw const PRIMARY_USERS as usize
}

/// The context in use; 0 when there is none.
pub fn current() -> usize {
    match CURRENT.with_borrow(|stack| stack.last().copied()) {
        Some(context) => context,
        None if error::runtime_is_used() => primary(),
        None => 0,
    }
}

/// The context that memory is said to belong to, of which all have a share: the one in use, else the primary one.
pub fn of_memory() -> usize {
    match current() {
        0 => primary(),
        context => context,
    }
}

/// Errors: `CUDA_ERROR_INVALID_DEVICE` for any but the first.
pub(super) fn check_device(device: c_int) -> CudaResult {
    initialised()?;
    if device == 0 {
        Ok(())
    } else {
        Err(CudaError::INVALID_DEVICE)
    }
}

fn check_context(context: usize) -> CudaResult {
    if context == primary() || contexts().contains_key(&context) {
        Ok(())
    } else if context == 0 {
        Err(INVALID_CONTEXT)
    } else {
        Err(CONTEXT_IS_DESTROYED)
    }
}

/// # Safety
/// The address is writable or null.
unsafe fn create(context: *mut usize, flags: u32, device: c_int) -> CudaResult {
    check_device(device)?;
    if context.is_null() {
        return Err(CudaError::INVALID_VALUE);
    }
    // A block of its own gives each context an address that nothing else has, ever.
    let handle = Box::into_raw(Box::new(0_u64)) as usize;
    contexts().insert(handle, flags);
    with_current(|stack| stack.push(handle));
    // SAFETY: as the caller promises.
    unsafe { store(context, handle) }
}
