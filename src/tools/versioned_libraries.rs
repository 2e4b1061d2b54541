//! Shared libraries under the names that programs look for when they run, such as `libcudart.so.13`, for the CPU
//! device's folder: a program that nvcc linked with `-cudart shared` runs with `LD_LIBRARY_PATH` set to it.
//!
//! Each is empty but for its name and version, and leads to the runtime beside it, which has the functions of all. So a
//! process has one runtime whatever it was linked with. Invariant: symbols without a version serve those who ask for
//! any, so that the loader has nothing to warn of.

use super::toolchain::{self, find_clang};
use super::toolkit_folder::ToolkitFolderError;
use std::path::Path;
use std::process::Command;

/// The libraries of CUDA 12 and 13, and of the driver.
const NAMES: [&str; 18] = [
    "libcudart.so.12",
    "libcudart.so.13",
    "libcuda.so.1",
    "libnvidia-ml.so.1",
    "libnvrtc.so.12",
    "libnvrtc.so.13",
    "libcublas.so.12",
    "libcublas.so.13",
    "libcublasLt.so.12",
    "libcublasLt.so.13",
    "libcurand.so.10",
    "libcufft.so.11",
    "libcufft.so.12",
    "libcusolver.so.11",
    "libcusolver.so.12",
    "libcusparse.so.12",
    "libnvToolsExt.so.1",
    "libnvtx3interop.so.1",
];

/// Those that come with the driver.
const DRIVER: [&str; 2] = ["libcuda.so.1", "libnvidia-ml.so.1"];

/// Makes them in the folder that has the shared runtime.
///
/// # Errors
/// There is no clang, it fails, or a file cannot be written.
pub(crate) fn make(
    folder: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ToolkitFolderError> {
    let clang = find_clang(environment)?;
    let scratch = tempfile::tempdir().map_err(files(&std::env::temp_dir()))?;
    let source = scratch.path().join("empty.c");
    std::fs::write(&source, "").map_err(files(&source))?;
    for name in NAMES {
        let mut command = Command::new(&clang);
        // The driver's symbols have no version.
        if !DRIVER.contains(&name) {
            let versions = scratch.path().join(name);
            std::fs::write(&versions, format!("{name} {{ }};\n")).map_err(files(&versions))?;
            command.arg(format!("-Wl,--version-script={}", versions.display()));
        }
        let output = command
            .args(["-shared", "-nostdlib", "-x", "c"])
            .arg(&source)
            .args(["-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"])
            .arg(format!("-Wl,-soname,{name}"))
            .arg("-L")
            .arg(folder)
            .arg(format!("-l:{}", toolchain::SHARED_RUNTIME_LIBRARY))
            .arg("-o")
            .arg(folder.join(name))
            .output()
            .map_err(files(&clang))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(ToolkitFolderError::Link(said));
        }
    }
    Ok(())
}

fn files(path: &Path) -> impl FnOnce(std::io::Error) -> ToolkitFolderError {
    let path = path.to_owned();
    |error| ToolkitFolderError::Files { path, error }
}
