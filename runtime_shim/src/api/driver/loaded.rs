//! Files of kernels that are loaded when the program runs, as `-ptx`, `-cubin` and `-fatbin` write them for
//! this device, or as PTX that any compiler wrote, also within fat binaries.
//!
//! Machine code for this device is a shared library with a table; PTX of ours has the library's bytes in comments,
//! other PTX is compiled to one. The runtime's functions that its kernels call are written into the table, since a
//! program does not export them. Machine code for GPUs is refused.
//!
//! Invariant: what was loaded stays in memory, also when the program unloads it: memory that belonged to it
//! may still be registered, and pointers to its functions may be somewhere. A name of it is only forgotten.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::os::fd::FromRawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::compiler;
use crate::error::{CudaError, CudaResult};
use crate::execution::addresses::address_of;
use crate::fat_binary::{self, Unusable};
use crate::registry::{self, ImageHandle};
use crate::termination;

/// `CUDA_ERROR_INVALID_PTX`.
pub const INVALID_PTX: CudaError = CudaError(218);

/// `CUDA_ERROR_INVALID_IMAGE`.
pub const INVALID_IMAGE: CudaError = CudaError(200);
/// `CUDA_ERROR_OPERATING_SYSTEM`.
const OPERATING_SYSTEM: CudaError = CudaError(304);

/// Begins each line of PTX that holds a part of the library.
const LINE: &[u8] = b"//sirius-cpu:";
const ELF: &[u8] = b"\x7fELF";
/// `EM_X86_64`, or what this processor's files say.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") {
    183
} else {
    62
};

/// The table `sirius_loadable` of a library.
#[repr(C)]
struct Table {
    magic: [u8; 8],
    image: *const c_void,
    function_count: u64,
    names: *const *const c_char,
    places: *mut usize,
}

/// Modules that the program holds, by handle.
static MODULES: Mutex<BTreeMap<usize, &'static ImageHandle>> = Mutex::new(BTreeMap::new());

/// Loads what lies at an address: a library, or PTX that ends with a zero. Gives the module's handle.
///
/// # Errors
/// `CUDA_ERROR_INVALID_IMAGE` for what this device cannot run, `CUDA_ERROR_INVALID_PTX` for PTX.
///
/// # Safety
/// `data` points to a whole file of one of the forms of CUDA's manual.
pub unsafe fn load(data: *const c_void) -> CudaResult<usize> {
    let start = data.cast::<u8>();
    // SAFETY: as the caller promises; a word is shorter than any such file.
    if let Some(fat_binary) = unsafe { fat_binary(data) } {
        let image = open(&library_of(fat_binary)?)?;
        let handle = std::ptr::from_ref(image) as usize;
        modules().insert(handle, image);
        return Ok(handle);
    }
    // SAFETY: as the caller promises, every file has more bytes than that, or ends with a zero before.
    let is_elf = ELF.iter().enumerate().all(|(index, byte)| unsafe {
        (0..index).all(|before| *start.add(before) != 0) && *start.add(index) == *byte
    });
    let library = if is_elf {
        // SAFETY: the file's header says how long it is.
        unsafe { elf_file(start) }.ok_or(INVALID_IMAGE)?.to_vec()
    } else {
        // SAFETY: text ends with a zero; what is neither text nor this device's begins with words that have one.
        let text = unsafe { CStr::from_ptr(start.cast()) }.to_bytes();
        let is_ptx = is_ptx(text);
        match library_in(text) {
            Some(library) => library,
            None if is_ptx => compiled(text)?,
            None => return Err(INVALID_IMAGE),
        }
    };
    let image = open(&library)?;
    let handle = std::ptr::from_ref(image) as usize;
    modules().insert(handle, image);
    Ok(handle)
}

/// The image of a fat binary that an object of the program registers, which was not made for this device.
///
/// # Errors
/// There is no PTX in it, or the compiler refuses it; both have been said.
///
/// # Safety
/// `data` points to a whole fat binary.
pub unsafe fn foreign_image(data: *const c_void) -> CudaResult<&'static ImageHandle> {
    // SAFETY: as the caller promises.
    let fat_binary = unsafe { fat_binary(data) }.ok_or(INVALID_IMAGE)?;
    open(&library_of(fat_binary)?)
}

/// The fat binary at an address, or the one that the structure there points to.
///
/// # Safety
/// `data` points to a readable word, and to a whole fat binary or such a structure where it begins like one.
unsafe fn fat_binary<'a>(data: *const c_void) -> Option<&'a [u8]> {
    const POINTER_AT: usize = 8;
    // SAFETY: as the caller promises.
    unsafe {
        match data.cast::<u32>().read_unaligned() {
            fat_binary::MAGIC => Some(fat_binary::whole(data)),
            fat_binary::WRAPPER_MAGIC => {
                let inner = data.cast::<u8>().add(POINTER_AT).cast::<*const c_void>();
                let inner = inner.read_unaligned();
                (inner.cast::<u32>().read_unaligned() == fat_binary::MAGIC)
                    .then(|| fat_binary::whole(inner))
            }
            _ => None,
        }
    }
}

/// What the CPU device says it is without images of its own.
const OWN_ARCHITECTURE: u32 = 80;

/// The library that is made of a fat binary's PTX.
fn library_of(fat_binary: &[u8]) -> CudaResult<Vec<u8>> {
    let ptx = fat_binary::ptx_for(fat_binary, OWN_ARCHITECTURE).map_err(|why| {
        termination::notice(match why {
            Unusable::MachineCodeOnly => {
                "device code of this program is machine code for GPUs without PTX, which the CPU device cannot run; \
                 compile it with PTX (-gencode arch=compute_80,code=[sm_80,compute_80])"
            }
            Unusable::Unreadable => "device code of this program is in a form that is not known",
        });
        INVALID_IMAGE
    })?;
    compiled(ptx.strip_suffix(&[0]).unwrap_or(&ptx))
}

/// The library that the compiler makes of PTX.
fn compiled(ptx: &[u8]) -> CudaResult<Vec<u8>> {
    compiler::compile_ptx(ptx).map_err(|said| {
        for line in said.lines() {
            termination::notice(line);
        }
        INVALID_PTX
    })
}

/// Whether a text is PTX: comments may stand in front of the first directive.
fn is_ptx(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines
        .find(|line| !line.is_empty() && !line.starts_with(b"//"))
        .is_some_and(|line| line.starts_with(b".version"))
}

/// A module that the program holds. Errors: `CUDA_ERROR_INVALID_HANDLE`.
pub fn module(handle: *const c_void) -> CudaResult<&'static ImageHandle> {
    let found = modules().get(&(handle as usize)).copied();
    found.ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

/// The module that a function belongs to, which the program may have unloaded.
pub fn module_of(function: *const c_void) -> Option<usize> {
    let modules = modules();
    let mut all = modules.iter();
    all.find(|(_, image)| registry::has_kernel(image, function as usize))
        .map(|(handle, _)| *handle)
}

/// Forgets a module. Errors: as for [`module`].
pub fn unload(handle: *const c_void) -> CudaResult {
    let removed = modules().remove(&(handle as usize));
    removed.map(drop).ok_or(CudaError::INVALID_RESOURCE_HANDLE)
}

fn modules() -> MutexGuard<'static, BTreeMap<usize, &'static ImageHandle>> {
    MODULES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The whole of an ELF file for this processor.
///
/// # Safety
/// `start` points to a whole ELF file.
unsafe fn elf_file(start: *const u8) -> Option<&'static [u8]> {
    const MACHINE_AT: usize = 18;
    const SECTIONS_AT: usize = 40;
    const SECTION_BYTES_AT: usize = 58;
    const SECTION_COUNT_AT: usize = 60;
    // SAFETY: a header of 64 bytes, as the caller promises; fields may lie anywhere.
    unsafe {
        let half = |at: usize| start.add(at).cast::<u16>().read_unaligned();
        if half(MACHINE_AT) != MACHINE {
            return None;
        }
        let sections = start.add(SECTIONS_AT).cast::<u64>().read_unaligned();
        // A linker writes the table of sections last.
        let table = u64::from(half(SECTION_BYTES_AT)) * u64::from(half(SECTION_COUNT_AT));
        let bytes = usize::try_from(sections.checked_add(table)?).ok()?;
        Some(std::slice::from_raw_parts(start, bytes))
    }
}

/// The library in PTX's comments.
pub fn library_in(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut library = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let Some(digits) = line.strip_prefix(LINE) else {
            continue;
        };
        for pair in digits.trim_ascii_end().chunks(2) {
            let [high, low] = *pair else {
                return None;
            };
            library.push(digit(high)? << 4 | digit(low)?);
        }
    }
    library.starts_with(ELF).then_some(library)
}

/// Loads a library and registers its image.
fn open(library: &[u8]) -> CudaResult<&'static ImageHandle> {
    // SAFETY: a name that ends with a zero.
    let descriptor = unsafe { libc::memfd_create(c"sirius-module".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(OPERATING_SYSTEM);
    }
    // SAFETY: the descriptor is new and nobody else's.
    let mut file = unsafe { std::fs::File::from_raw_fd(descriptor) };
    std::io::Write::write_all(&mut file, library).map_err(|_| OPERATING_SYSTEM)?;
    let path = CString::new(format!("/proc/self/fd/{descriptor}")).unwrap_or_default();
    // The loader knows libraries by their paths, and reports of faults read the file again.
    std::mem::forget(file);
    // SAFETY: the library has no constructors; its table is what the compiler wrote.
    unsafe {
        let opened = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if opened.is_null() {
            return Err(INVALID_IMAGE);
        }
        let table = libc::dlsym(opened, c"sirius_loadable".as_ptr()).cast::<Table>();
        if table.is_null() || (*table).magic != *b"SIRIUSLD" {
            return Err(INVALID_IMAGE);
        }
        let count = usize::try_from((*table).function_count).unwrap_or(0);
        for index in 0..count {
            let name = CStr::from_ptr(*(*table).names.add(index));
            let address = address_of(name.to_bytes()).ok_or(INVALID_IMAGE)?;
            *(*table).places.add(index) = address;
        }
        Ok(registry::register_image((*table).image))
    }
}
