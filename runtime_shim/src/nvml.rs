//! NVML, the library that tells of devices: there is one, the CPU device, and what no processor tells (temperature,
//! power, utilisation) is not supported, as with GPUs that lack the sensor.
//!
//! Invariant: between the first `nvmlInit` and its `nvmlShutdown` calls answer, outside of them they say so.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::api::device;
use crate::api::device_properties::CLOCK_KILOHERTZ;
use crate::api::driver::context::NAME;
use crate::memory;

/// Why a call has no answer, by NVML's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Uninitialised = 1,
    InvalidArgument = 2,
    NotSupported = 3,
    NotFound = 6,
    InsufficientSize = 7,
}

type Answer = Result<(), Refusal>;

/// How often NVML was initialised and not shut down.
static INITIALISED: AtomicUsize = AtomicUsize::new(0);

/// What stands for the device.
#[repr(C)]
#[derive(Debug)]
pub struct NvmlDevice {
    _unused: u64,
}

static DEVICE: NvmlDevice = NvmlDevice { _unused: 0 };

/// `nvmlDevice_t`.
type Handle = *const NvmlDevice;

/// `nvmlMemory_t`, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlMemory_v2_t`, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryWithReserve {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlPciInfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PciInfo {
    bus_id_legacy: [u8; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    pci_device_id: c_uint,
    pci_subsystem_id: c_uint,
    bus_id: [u8; 32],
}

/// Where the device says that it is.
const PCI_ADDRESS: &str = "00000000:00:00.0";
/// The same with a domain of four digits, as the runtime has it and old programs want it.
const SHORT_PCI_ADDRESS: &str = "0000:00:00.0";

/// Width of the memory's bus in bits, as the runtime has it.
const BUS_BITS: c_uint = 64;

macro_rules! nvml_functions {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident $(= $($alias:ident)+)? ($($parameter:ident: $kind:ty),* $(,)?) $body:block
    )*) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        /// Pointers must be what NVML's manual asks of this function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "NVML's own name")]
        pub unsafe extern "C" fn $name($($parameter: $kind),*) -> c_uint {
            number(initialised().and_then(move |()| $body))
        }
        nvml_functions!(@aliases [$($($alias)+)?] $name ($($parameter: $kind),*));
    )*};
    (@aliases [] $name:ident $parameters:tt) => {};
    (@aliases [$alias:ident $($rest:ident)*] $name:ident ($($parameter:ident: $kind:ty),*)) => {
        /// Another name of the function that it calls.
        ///
        /// # Safety
        /// Pointers must be what NVML's manual asks of this function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "NVML's own name")]
        pub unsafe extern "C" fn $alias($($parameter: $kind),*) -> c_uint {
            // SAFETY: the same contract.
            unsafe { $name($($parameter),*) }
        }
        nvml_functions!(@aliases [$($rest)*] $name ($($parameter: $kind),*));
    };
}

/// Begins to use NVML.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "NVML's own name")]
pub extern "C" fn nvmlInit_v2() -> c_uint {
    INITIALISED.fetch_add(1, Ordering::SeqCst);
    0
}

/// An older name of the same.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "NVML's own name")]
pub extern "C" fn nvmlInit() -> c_uint {
    nvmlInit_v2()
}

/// Begins to use NVML; the flags speak of machines without a device.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "NVML's own name")]
pub extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> c_uint {
    nvmlInit_v2()
}

/// What a number of an error means.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "NVML's own name")]
pub extern "C" fn nvmlErrorString(result: c_uint) -> *const c_char {
    let text = match result {
        0 => c"The operation was successful",
        1 => c"NVML was not first initialized with nvmlInit()",
        2 => c"A supplied argument is invalid",
        3 => c"The requested operation is not available on target device",
        4 => c"The current user does not have permission for operation",
        6 => c"A query to find an object was unsuccessful",
        7 => c"An input argument is not large enough",
        _ => c"An internal driver error occurred",
    };
    text.as_ptr()
}

nvml_functions! {
    /// Ends what one `nvmlInit` began.
    fn nvmlShutdown() {
        INITIALISED.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }

    /// The driver's version: that of this library.
    fn nvmlSystemGetDriverVersion(version: *mut c_char, length: c_uint) {
        // SAFETY: the program passes room for so many bytes; the same in this file.
        unsafe { store_text(version, length, env!("CARGO_PKG_VERSION")) }
    }

    /// The version of NVML that this is like.
    fn nvmlSystemGetNVMLVersion(version: *mut c_char, length: c_uint) {
        // SAFETY: as above.
        unsafe { store_text(version, length, concat!("13.", env!("CARGO_PKG_VERSION"))) }
    }

    /// The version of CUDA, 13000 for 13.0.
    fn nvmlSystemGetCudaDriverVersion_v2 = nvmlSystemGetCudaDriverVersion (version: *mut c_int) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(version, device::driver_version()) }
    }

    /// One device.
    fn nvmlDeviceGetCount_v2 = nvmlDeviceGetCount (count: *mut c_uint) {
        // SAFETY: as above.
        unsafe { store(count, 1) }
    }

    /// The device with a number, which is 0.
    fn nvmlDeviceGetHandleByIndex_v2 = nvmlDeviceGetHandleByIndex (index: c_uint, handle: *mut Handle) {
        if index != 0 {
            return Err(Refusal::InvalidArgument);
        }
        // SAFETY: as above.
        unsafe { store(handle, &raw const DEVICE) }
    }

    /// The device with an identity.
    fn nvmlDeviceGetHandleByUUID(uuid: *const c_char, handle: *mut Handle) {
        // SAFETY: the program passes a string or null; the same below.
        if unsafe { text_of(uuid) }? != identity() {
            return Err(Refusal::NotFound);
        }
        // SAFETY: as above.
        unsafe { store(handle, &raw const DEVICE) }
    }

    /// The device at an address of the PCI bus.
    fn nvmlDeviceGetHandleByPciBusId_v2 = nvmlDeviceGetHandleByPciBusId (
        address: *const c_char,
        handle: *mut Handle,
    ) {
        // SAFETY: as above.
        let address = unsafe { text_of(address) }?;
        if ![PCI_ADDRESS, SHORT_PCI_ADDRESS, "00:00.0"].contains(&&*address) {
            return Err(Refusal::NotFound);
        }
        // SAFETY: as above.
        unsafe { store(handle, &raw const DEVICE) }
    }

    /// The device's name.
    fn nvmlDeviceGetName(handle: Handle, name: *mut c_char, length: c_uint) {
        check(handle)?;
        let own = CStr::from_bytes_with_nul(NAME).unwrap_or_default();
        // SAFETY: as above.
        unsafe { store_text(name, length, &own.to_string_lossy()) }
    }

    /// The device's number.
    fn nvmlDeviceGetIndex(handle: Handle, index: *mut c_uint) {
        check(handle)?;
        // SAFETY: as above.
        unsafe { store(index, 0) }
    }

    /// The number of the device's file.
    fn nvmlDeviceGetMinorNumber(handle: Handle, number: *mut c_uint) {
        check(handle)?;
        // SAFETY: as above.
        unsafe { store(number, 0) }
    }

    /// The device's identity.
    fn nvmlDeviceGetUUID(handle: Handle, uuid: *mut c_char, length: c_uint) {
        check(handle)?;
        // SAFETY: as above.
        unsafe { store_text(uuid, length, &identity()) }
    }

    /// The device's address.
    fn nvmlDeviceGetPciInfo_v3 = nvmlDeviceGetPciInfo_v2 nvmlDeviceGetPciInfo (
        handle: Handle,
        info: *mut PciInfo,
    ) {
        check(handle)?;
        let mut known = PciInfo {
            bus_id_legacy: [0; 16],
            domain: 0,
            bus: 0,
            device: 0,
            pci_device_id: 0,
            pci_subsystem_id: 0,
            bus_id: [0; 32],
        };
        known.bus_id_legacy[..SHORT_PCI_ADDRESS.len()].copy_from_slice(SHORT_PCI_ADDRESS.as_bytes());
        known.bus_id[..PCI_ADDRESS.len()].copy_from_slice(PCI_ADDRESS.as_bytes());
        // SAFETY: as above.
        unsafe { store(info, known) }
    }

    /// The compute capability.
    fn nvmlDeviceGetCudaComputeCapability(handle: Handle, major: *mut c_int, minor: *mut c_int) {
        check(handle)?;
        let capability = device::compute_capability();
        // SAFETY: as above.
        unsafe {
            store(major, capability / 10)?;
            store(minor, capability % 10)
        }
    }

    /// Any process may use the device.
    fn nvmlDeviceGetComputeMode(handle: Handle, mode: *mut c_uint) {
        check(handle)?;
        // SAFETY: as above.
        unsafe { store(mode, 0) }
    }

    /// The device is always there.
    fn nvmlDeviceGetPersistenceMode(handle: Handle, mode: *mut c_uint) {
        check(handle)?;
        // SAFETY: as above.
        unsafe { store(mode, 1) }
    }

    /// The width of the memory's bus in bits.
    fn nvmlDeviceGetMemoryBusWidth(handle: Handle, bits: *mut c_uint) {
        check(handle)?;
        // SAFETY: as above.
        unsafe { store(bits, BUS_BITS) }
    }

    /// Device memory: that of the machine, of which this process has allocated some.
    fn nvmlDeviceGetMemoryInfo(handle: Handle, memory: *mut Memory) {
        check(handle)?;
        // SAFETY: as above.
        unsafe { store(memory, device_memory()) }
    }

    /// The same with what the driver keeps for itself: nothing.
    fn nvmlDeviceGetMemoryInfo_v2(handle: Handle, memory: *mut MemoryWithReserve) {
        check(handle)?;
        let Memory { total, free, used } = device_memory();
        // SAFETY: as above.
        unsafe {
            let version = memory.as_ref().ok_or(Refusal::InvalidArgument)?.version;
            store(memory, MemoryWithReserve { version, total, reserved: 0, free, used })
        }
    }

    /// A clock as it is, in MHz: that which kernels' clocks count at.
    fn nvmlDeviceGetClockInfo = nvmlDeviceGetMaxClockInfo nvmlDeviceGetApplicationsClock
        nvmlDeviceGetDefaultApplicationsClock (handle: Handle, kind: c_uint, clock: *mut c_uint) {
        check(handle)?;
        // SAFETY: as above.
        unsafe { store(clock, megahertz(kind)?) }
    }

    /// The same, of which all sorts are equal.
    fn nvmlDeviceGetClock(handle: Handle, kind: c_uint, sort: c_uint, clock: *mut c_uint) {
        check(handle)?;
        if sort > 3 {
            return Err(Refusal::InvalidArgument);
        }
        // SAFETY: as above.
        unsafe { store(clock, megahertz(kind)?) }
    }

    /// Nothing measures how busy the device is.
    fn nvmlDeviceGetUtilizationRates(handle: Handle, _rates: *mut [c_uint; 2]) {
        check(handle).and(Err(Refusal::NotSupported))
    }

    /// There is no sensor.
    fn nvmlDeviceGetTemperature(handle: Handle, _sensor: c_uint, _temperature: *mut c_uint) {
        check(handle).and(Err(Refusal::NotSupported))
    }

    /// There is no sensor, and no limit.
    fn nvmlDeviceGetPowerUsage = nvmlDeviceGetFanSpeed nvmlDeviceGetPowerManagementLimit
        nvmlDeviceGetEnforcedPowerLimit nvmlDeviceGetPowerManagementDefaultLimit (
        handle: Handle,
        _value: *mut c_uint,
    ) {
        check(handle).and(Err(Refusal::NotSupported))
    }

    /// There is no sensor.
    fn nvmlDeviceGetTotalEnergyConsumption(handle: Handle, _energy: *mut c_ulonglong) {
        check(handle).and(Err(Refusal::NotSupported))
    }

    /// There is no number.
    fn nvmlDeviceGetSerial(handle: Handle, _serial: *mut c_char, _length: c_uint) {
        check(handle).and(Err(Refusal::NotSupported))
    }
}

fn number(answer: Answer) -> c_uint {
    answer.map_or_else(|refusal| refusal as c_uint, |()| 0)
}

fn initialised() -> Answer {
    match INITIALISED.load(Ordering::SeqCst) {
        0 => Err(Refusal::Uninitialised),
        _ => Ok(()),
    }
}

fn check(handle: Handle) -> Answer {
    match std::ptr::eq(handle, &raw const DEVICE) {
        true => Ok(()),
        false => Err(Refusal::InvalidArgument),
    }
}

fn device_memory() -> Memory {
    let (total, free) = (memory::total_bytes(), memory::free_bytes());
    Memory {
        total,
        free,
        used: total.saturating_sub(free),
    }
}

fn megahertz(kind: c_uint) -> Result<c_uint, Refusal> {
    match kind {
        0..=3 => Ok(CLOCK_KILOHERTZ.unsigned_abs() / 1000),
        _ => Err(Refusal::InvalidArgument),
    }
}

/// The device's identity as NVIDIA's tools write it.
fn identity() -> String {
    let digits = device::identity()
        .map(|byte| format!("{byte:02x}"))
        .concat();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    format!("GPU-{}", parts.join("-"))
}

/// # Safety
/// The pointer is null or writable.
unsafe fn store<T>(pointer: *mut T, value: T) -> Answer {
    if pointer.is_null() {
        return Err(Refusal::InvalidArgument);
    }
    // SAFETY: as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}

/// # Safety
/// The pointer is null, or so many bytes are writable there.
unsafe fn store_text(pointer: *mut c_char, length: c_uint, text: &str) -> Answer {
    if pointer.is_null() {
        return Err(Refusal::InvalidArgument);
    }
    if text.len() >= usize::try_from(length).unwrap_or(usize::MAX) {
        return Err(Refusal::InsufficientSize);
    }
    // SAFETY: text and its end have room there.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), pointer.cast(), text.len());
        pointer.add(text.len()).write(0);
    }
    Ok(())
}

/// # Safety
/// The pointer is null or a string.
unsafe fn text_of(pointer: *const c_char) -> Result<String, Refusal> {
    if pointer.is_null() {
        return Err(Refusal::InvalidArgument);
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(pointer) };
    Ok(text.to_string_lossy().into_owned())
}
