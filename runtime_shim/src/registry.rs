//! What the program's images registered: kernels by host stub, variables by host shadow.
//!
//! Invariant: a registered kernel or variable points into an image whose magic and version were
//! checked; images live as long as the process, since they are constants of the executable.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::abi::{ABI_VERSION, CpuImage, CpuKernel, CpuVariable, IMAGE_MAGIC};
use crate::allocations::MemoryKind;
use crate::execution::kernel::KernelRecord;
use crate::memory;
use crate::termination;

/// A device variable.
#[derive(Clone, Copy, Debug)]
pub struct VariableRecord {
    /// Address of its storage.
    pub address: usize,
    /// Its size in bytes.
    pub bytes: usize,
}

/// An image that was registered; programs hold a pointer to it as their handle.
#[derive(Debug)]
pub struct ImageHandle {
    image: Option<&'static CpuImage>,
}

/// Takes an image into use and returns its handle. Memory that is no image for this device gives an
/// empty handle and one line on stderr; launching its kernels then fails as CUDA's does.
///
/// # Safety
/// `data` is null or points to at least 12 readable bytes, and to a [`CpuImage`] that lives as long as
/// the process when those begin with its magic and version.
pub unsafe fn register_image(data: *const c_void) -> &'static ImageHandle {
    // SAFETY: as the caller promises; the words are read unaligned since foreign data may be.
    let image = unsafe {
        if data.is_null() || data.cast::<u64>().read_unaligned() != IMAGE_MAGIC {
            termination::notice(
                "an object of this program was not compiled for the CPU device; \
                 its kernels cannot be launched",
            );
            None
        } else if data.cast::<u8>().add(8).cast::<u32>().read_unaligned() != ABI_VERSION {
            termination::notice(
                "an object of this program was compiled by another version of sirius-rs; \
                 its kernels cannot be launched, recompile it",
            );
            None
        } else {
            Some(&*data.cast::<CpuImage>())
        }
    };
    if let Some(image) = image {
        NEWEST_ARCHITECTURE.fetch_max(image.architecture, Ordering::Relaxed);
        TOOLKIT_VERSION.fetch_max(image.toolkit_version, Ordering::Relaxed);
    }
    for variable in image.map(variables).unwrap_or_default() {
        let kind = match (variable.managed != 0, variable.constant != 0) {
            (true, _) => MemoryKind::ManagedVariable,
            (false, true) => MemoryKind::Constant,
            (false, false) => MemoryKind::Variable,
        };
        // SAFETY: names of an image are strings.
        let name = unsafe { text(variable.name) };
        memory::register_variable(
            variable.address as usize,
            usize::try_from(variable.bytes).unwrap_or(0),
            kind,
            &name,
        );
    }
    Box::leak(Box::new(ImageHandle { image }))
}

/// The handle of an image that cannot be used: it has no kernels.
pub fn unusable_image() -> &'static ImageHandle {
    Box::leak(Box::new(ImageHandle { image: None }))
}

/// Connects a host stub with the kernel of that name in the image; a name that the image lacks is left
/// unknown, so that its launch fails.
pub fn register_kernel(handle: &ImageHandle, stub: usize, name: &CStr) {
    // SAFETY: names of an image are strings.
    let found = handle
        .image
        .map(kernels)
        .unwrap_or_default()
        .iter()
        .find(|kernel| unsafe { CStr::from_ptr(kernel.name) } == name);
    let (Some(kernel), Some(image)) = (found, handle.image) else {
        return;
    };
    let mangled = name.to_string_lossy().into_owned();
    // SAFETY: names of an image are strings.
    let display_name = unsafe { text(kernel.display_name) };
    let record: &'static KernelRecord = Box::leak(Box::new(KernelRecord {
        kernel,
        display_name: if display_name.is_empty() {
            mangled.clone()
        } else {
            display_name
        },
        name: mangled,
        architecture: image.architecture,
        dynamic_shared_opt_in: AtomicU32::new(0),
    }));
    write().kernels.insert(stub, record);
}

/// Connects a variable's host shadow with its storage; returns the storage's address.
pub fn register_variable(handle: &ImageHandle, shadow: usize, name: &CStr) -> Option<usize> {
    // SAFETY: names of an image are strings.
    let variable = handle
        .image
        .map(variables)
        .unwrap_or_default()
        .iter()
        .find(|variable| unsafe { CStr::from_ptr(variable.name) } == name)?;
    let record = VariableRecord {
        address: variable.address as usize,
        bytes: usize::try_from(variable.bytes).unwrap_or(0),
    };
    let mut registry = write();
    registry.variables.insert(shadow, record);
    if variable.managed != 0 {
        registry.managed.insert(record.address, record);
    }
    Some(record.address)
}

/// The kernel of this name in an image, as a function that can be launched: its handle is the address of its
/// entry in the image.
pub fn kernel_of(handle: &ImageHandle, name: &CStr) -> Option<usize> {
    // SAFETY: names of an image are strings.
    let found = handle
        .image
        .map(kernels)
        .unwrap_or_default()
        .iter()
        .find(|kernel| unsafe { CStr::from_ptr(kernel.name) } == name)?;
    let function = std::ptr::from_ref(found) as usize;
    if kernel(function).is_none() {
        register_kernel(handle, function, name);
    }
    Some(function)
}

/// Whether a handle of [`kernel_of`] is of this image.
pub fn has_kernel(handle: &ImageHandle, function: usize) -> bool {
    let mut all = handle.image.map(kernels).unwrap_or_default().iter();
    all.any(|kernel| std::ptr::from_ref(kernel) as usize == function)
}

/// The names of an image's kernels.
pub fn kernel_names(handle: &ImageHandle) -> Vec<&'static CStr> {
    let all = handle.image.map(kernels).unwrap_or_default().iter();
    // SAFETY: names of an image are strings.
    all.map(|kernel| unsafe { CStr::from_ptr(kernel.name) })
        .collect()
}

/// The variable of this name in an image.
pub fn variable_of(handle: &ImageHandle, name: &CStr) -> Option<VariableRecord> {
    let mut all = handle.image.map(variables).unwrap_or_default().iter();
    // SAFETY: names of an image are strings.
    let found = all.find(|variable| unsafe { CStr::from_ptr(variable.name) } == name)?;
    Some(VariableRecord {
        address: found.address as usize,
        bytes: usize::try_from(found.bytes).unwrap_or(0),
    })
}

/// `CUDART_VERSION` of the toolkit that the program was compiled with; without images that of the newest one
/// that is known here.
pub fn toolkit_version() -> u32 {
    match TOOLKIT_VERSION.load(Ordering::Relaxed) {
        0 => NEWEST_TOOLKIT,
        version => version,
    }
}

/// The newest architecture that an image of the program was compiled for; 0 without images.
pub fn newest_architecture() -> u32 {
    NEWEST_ARCHITECTURE.load(Ordering::Relaxed)
}

static NEWEST_ARCHITECTURE: AtomicU32 = AtomicU32::new(0);
static TOOLKIT_VERSION: AtomicU32 = AtomicU32::new(0);

/// The newest toolkit whose functions this runtime knows.
const NEWEST_TOOLKIT: u32 = 13_000;

/// The kernel of a host stub.
pub fn kernel(stub: usize) -> Option<&'static KernelRecord> {
    read().kernels.get(&stub).copied()
}

/// The variable of a host shadow; a managed one is named by its own address as well.
pub fn variable(shadow: usize) -> Option<VariableRecord> {
    let registry = read();
    let managed = || registry.managed.get(&shadow).copied();
    registry.variables.get(&shadow).copied().or_else(managed)
}

#[derive(Default)]
struct Registry {
    kernels: HashMap<usize, &'static KernelRecord>,
    variables: HashMap<usize, VariableRecord>,
    /// Managed variables, by their addresses.
    managed: HashMap<usize, VariableRecord>,
}

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

fn read() -> RwLockReadGuard<'static, Registry> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Registry> {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner)
}

fn kernels(image: &'static CpuImage) -> &'static [CpuKernel] {
    // SAFETY: an image's tables have the lengths that it states.
    unsafe { table(image.kernels, image.kernel_count as usize) }
}

fn variables(image: &'static CpuImage) -> &'static [CpuVariable] {
    // SAFETY: as above.
    unsafe {
        table(
            image.variables,
            usize::try_from(image.variable_count).unwrap_or(0),
        )
    }
}

/// # Safety
/// `first` points to `length` values that live as long as the process, unless `length` is 0.
unsafe fn table<T>(first: *const T, length: usize) -> &'static [T] {
    if length == 0 || first.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(first, length) }
}

/// # Safety
/// `pointer` is null or points to a string that ends with a zero byte.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}
