//! The compiler as a program of its own, for device code that comes when the program runs: sources that NVRTC gets,
//! and PTX.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The compiler that linked the program.
static COMPILER: OnceLock<CString> = OnceLock::new();

/// Says which compiler linked the program; a constructor that the link adds calls it.
///
/// # Safety
/// `path` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_compiler_is(path: *const c_char) {
    // SAFETY: as the caller promises.
    let path = unsafe { CStr::from_ptr(path) };
    COMPILER.get_or_init(|| path.to_owned());
}

/// The compiler, to be given arguments.
pub fn command() -> Command {
    let mut command = Command::new(path());
    // What the user asks of other compilations is not meant here.
    for variable in [
        "SIRIUS_FLAGS",
        "SIRIUS_REFERENCE",
        "SIRIUS_SAVE_DIR",
        "NVCC_PREPEND_FLAGS",
        "NVCC_APPEND_FLAGS",
    ] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null());
    command
}

/// `SIRIUS_COMPILER`, the compiler that linked the program, that of the folder that this library is in, that of the
/// toolkit's folder, or what `PATH` leads to.
pub fn path() -> PathBuf {
    const NAME: &str = "sirius-rs";
    if let Some(named) = std::env::var_os("SIRIUS_COMPILER").filter(|named| !named.is_empty()) {
        return named.into();
    }
    let linked_by = COMPILER.get();
    let linked_by = linked_by.map(|path| PathBuf::from(OsStr::from_bytes(path.to_bytes())));
    let own =
        own_library().and_then(|library| Some(library.parent()?.parent()?.join("bin").join(NAME)));
    let folders = ["CUDA_PATH", "CUDA_HOME"]
        .into_iter()
        .filter_map(std::env::var_os);
    let of_folders = folders.map(|folder| Path::new(&folder).join("bin").join(NAME));
    let mut known = linked_by.into_iter().chain(own).chain(of_folders);
    known
        .find(|path| path.is_file())
        .unwrap_or_else(|| NAME.into())
}

/// The file that this code is in.
fn own_library() -> Option<PathBuf> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let address = own_library as *const c_void;
    // SAFETY: the structure is the C library's to fill; the name in it lives as long as the library is loaded.
    unsafe {
        if libc::dladdr(address, found.as_mut_ptr()) == 0 {
            return None;
        }
        let name = found.assume_init().dli_fname;
        (!name.is_null()).then(|| OsStr::from_bytes(CStr::from_ptr(name).to_bytes()).into())
    }
}

/// Compiles PTX to a library for this device.
///
/// # Errors
/// What the compiler says, or why it cannot be run, in lines.
pub fn compile_ptx(text: &[u8]) -> Result<Vec<u8>, String> {
    let files = |error: io::Error| format!("PTX cannot be handed to the compiler: {error}");
    let folder = Folder::new("ptx").map_err(files)?;
    let source = folder.path().join("module.ptx");
    let library = folder.path().join("module.so");
    std::fs::write(&source, text).map_err(files)?;
    let made = command()
        .args(["--sirius-device=cpu", "-w", "-cubin"])
        .arg(&source)
        .arg("-o")
        .arg(&library)
        .output();
    let made = made.map_err(|error| {
        format!(
            "PTX needs the compiler, which SIRIUS_COMPILER can name: {} cannot be run ({error})",
            path().display()
        )
    })?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr);
        // The file has no name that anybody knows.
        let place = format!("{}/", folder.path().display());
        return Err(said.replace(&place, "").trim_end().to_owned());
    }
    std::fs::read(&library).map_err(files)
}

/// A folder of its own, which goes with its owner.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes it, for a purpose that is part of its name.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(purpose: &str) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("sirius-{purpose}-{}-{count}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // Of a process that had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
