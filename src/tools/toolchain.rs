//! Finds clang 22, a CUDA toolkit, our runtime library and our compatibility header.
//!
//! Invariant: everything is found by looking at given places in a given order, nothing is guessed,
//! and each missing thing is one sentence that says what to do.

use super::Toolchain;
use super::embedded;
use super::toolkit_folder::ToolkitFolder;
use crate::build::{Build, Device};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Something that a build needs is not on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolchainError {
    /// No clang 22.
    #[error(
        "Cannot find clang++ 22 ($SIRIUS_CLANG, {0}, PATH); run scripts/setup, or install clang-22"
    )]
    MissingClang(String),
    /// `SIRIUS_CLANG` is wrong.
    #[error("The environment variable SIRIUS_CLANG names '{0}', which does not exist")]
    WrongClang(String),
    /// No such host compiler.
    #[error("Cannot find the host compiler '{0}' (-ccbin, NVCC_CCBIN)")]
    MissingHostCompiler(String),
    /// No toolkit.
    #[error(
        "Cannot find a CUDA toolkit (CUDA_PATH, CUDA_HOME, nvcc on PATH, /usr/local/cuda, the \
         project's .venv); run scripts/setup, or set CUDA_PATH"
    )]
    MissingToolkit,
    /// A toolkit without a file that every toolkit has.
    #[error("The CUDA toolkit in '{toolkit}' has no {file}; run scripts/setup, or set CUDA_PATH")]
    IncompleteToolkit {
        /// Its root.
        toolkit: String,
        /// What is missing.
        file: &'static str,
    },
    /// Our header is gone.
    #[error(
        "Cannot find sirius_compatibility.h beside sirius-rs; install its include folder again"
    )]
    MissingCompatibilityHeader,
    /// The cpu device's library is gone.
    #[error(
        "Cannot find libsirius_runtime.a beside sirius-rs; run cargo build --workspace, or set \
         SIRIUS_RUNTIME"
    )]
    MissingRuntime,
}

impl ToolchainError {
    /// The exit status that nvcc gives for it.
    pub fn exit_status(&self) -> u8 {
        1
    }
}

/// Finds everything that `build` needs, using the process's environment.
///
/// # Errors
/// The first thing that is missing. The runtime library is required only for linking on the cpu
/// device.
pub fn find_toolchain(build: &Build) -> Result<Toolchain, ToolchainError> {
    let environment = |name: &str| std::env::var(name).ok();
    let clang = find_clang(&environment)?;
    if let Some(compiler) = build.host_compiler.as_ref().filter(|_| !build.dry_run)
        && which::which(compiler).is_err()
    {
        let name = compiler.display().to_string();
        return Err(ToolchainError::MissingHostCompiler(name));
    }
    let toolkit = find_toolkit(&environment)?;
    let incomplete = |file| ToolchainError::IncompleteToolkit {
        toolkit: toolkit.display().to_string(),
        file,
    };
    let toolkit_include = toolkit_include(&toolkit).ok_or_else(|| incomplete("cuda_runtime.h"))?;
    let toolkit_lib = toolkit_lib(&toolkit).ok_or_else(|| incomplete("lib or lib64 folder"))?;
    let libdevice = toolkit.join("nvvm/libdevice/libdevice.10.bc");
    if !libdevice.is_file() {
        return Err(incomplete("nvvm/libdevice/libdevice.10.bc"));
    }
    let version = toolkit_version(&toolkit).ok_or_else(|| incomplete("CUDA_VERSION in cuda.h"))?;
    let tool = |name: &str| {
        let path = toolkit.join("bin").join(name);
        if path.is_file() {
            Some(path)
        } else {
            which::which(name).ok()
        }
    };
    let runtime_library = find_runtime_library(&environment);
    let linking = build.device == Device::Cpu && build.phase == crate::build::Phase::Link;
    if linking && runtime_library.is_none() {
        return Err(ToolchainError::MissingRuntime);
    }
    let llvm_tool = |name: &str| {
        let beside = clang.canonicalize().ok()?.with_file_name(name);
        let is_there = beside.is_file().then_some(beside);
        is_there.or_else(|| which::which(format!("{name}-22")).ok())
    };
    let (objcopy, archiver) = (llvm_tool("llvm-objcopy"), llvm_tool("llvm-ar"));
    Ok(Toolchain {
        clang,
        objcopy,
        archiver,
        toolkit_include,
        toolkit_lib,
        libdevice,
        ptxas: tool("ptxas"),
        fatbinary: tool("fatbinary"),
        version,
        compatibility_header: find_compatibility_header()
            .ok_or(ToolchainError::MissingCompatibilityHeader)?,
        runtime_library,
        toolkit,
    })
}

/// The root of a CUDA toolkit: for the nvcc of a folder of ours that folder, as for nvcc its own; then
/// CUDA_PATH, CUDA_HOME, the folder of ours that this program is in, the nvcc on PATH (unless that is
/// this program), `/usr/local/cuda`, then the project's `.venv`.
///
/// # Errors
/// [`ToolchainError::MissingToolkit`].
pub fn find_toolkit(
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<PathBuf, ToolchainError> {
    let named = ["CUDA_PATH", "CUDA_HOME"]
        .iter()
        .filter_map(|name| environment(name))
        .filter(|text| !text.is_empty())
        .map(PathBuf::from);
    let on_path = environment("PATH").into_iter().flat_map(|path| {
        std::env::split_paths(&path)
            .map(|folder| folder.join("nvcc"))
            .collect::<Vec<_>>()
    });
    let own = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let on_path = on_path.filter_map(|nvcc| {
        let real = std::fs::canonicalize(nvcc).ok()?;
        // A link named nvcc that leads back here is a user's way to use us.
        let ours = own.as_ref() == Some(&real);
        (!ours).then(|| real.parent().and_then(Path::parent).map(Path::to_owned))?
    });
    let folder = ToolkitFolder::own().map(|folder| folder.root);
    let is_nvcc = own
        .as_ref()
        .is_some_and(|own| own.file_name().is_some_and(|name| name == "nvcc"));
    let as_nvcc = folder.clone().filter(|_| is_nvcc);
    as_nvcc
        .into_iter()
        .chain(named)
        .chain(folder)
        .chain(on_path)
        .chain([PathBuf::from("/usr/local/cuda")])
        .chain(project_folders().flat_map(|folder| toolkits_of_venv(&folder.join(".venv"))))
        .find(|root| toolkit_include(root).is_some())
        .map(|root| std::fs::canonicalize(&root).unwrap_or(root))
        .ok_or(ToolchainError::MissingToolkit)
}

/// A toolkit's (major, minor), from `CUDA_VERSION` in its `cuda.h`.
pub fn toolkit_version(toolkit: &Path) -> Option<(u32, u32)> {
    let text = std::fs::read_to_string(toolkit_include(toolkit)?.join("cuda.h")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("#define CUDA_VERSION "))?;
    let number: u32 = line.trim().parse().ok()?;
    Some((number / 1000, number % 1000 / 10))
}

/// A toolkit's full version such as `13.5.37`, from its `version.json` or its nvcc; the third number
/// is 0 when neither tells.
pub(crate) fn toolkit_release(toolkit: &Path) -> Option<String> {
    let (major, minor) = toolkit_version(toolkit)?;
    let from_json = || {
        let text = std::fs::read_to_string(toolkit.join("version.json")).ok()?;
        let json: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(json.get("cuda_nvcc")?.get("version")?.as_str()?.to_owned())
    };
    let from_nvcc = || {
        let nvcc = std::fs::canonicalize(toolkit.join("bin/nvcc")).ok()?;
        if std::env::current_exe()
            .and_then(std::fs::canonicalize)
            .ok()
            .as_ref()
            == Some(&nvcc)
        {
            return None;
        }
        let output = Command::new(nvcc).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(
            text.split(", V")
                .nth(1)?
                .split_whitespace()
                .next()?
                .to_owned(),
        )
    };
    let plausible = |full: &String| full.starts_with(&format!("{major}.{minor}."));
    let found = from_json()
        .filter(plausible)
        .or_else(from_nvcc)
        .filter(plausible);
    Some(found.unwrap_or_else(|| format!("{major}.{minor}.0")))
}

/// The compute capabilities of this machine's GPUs, 80 for 8.0; empty without a driver.
pub(crate) fn installed_gpus() -> Vec<u32> {
    let query = ["--query-gpu=compute_cap", "--format=csv,noheader"];
    let Ok(output) = Command::new("nvidia-smi").args(query).output() else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.trim().replace('.', "").parse().ok())
        .collect()
}

/// What plain g++ needs to link our objects for a device, as one line.
pub(crate) fn link_flags(
    device: Device,
    shared: bool,
    environment: &dyn Fn(&str) -> Option<String>,
) -> String {
    let flags = match device {
        Device::Cpu => {
            let library = find_runtime_library(environment).map_or_else(
                || "-lsirius_runtime".to_owned(),
                |path| match shared {
                    true => path.with_extension("so").display().to_string(),
                    // No other library of the process sees half of this one.
                    false => format!("{} -Wl,--exclude-libs,{RUNTIME_LIBRARY}", path.display()),
                },
            );
            format!("{library} -lpthread -ldl -lm")
        }
        Device::Cuda => {
            let folder = find_toolkit(environment)
                .ok()
                .and_then(|root| toolkit_lib(&root))
                .map_or_else(String::new, |folder| format!("-L{} ", folder.display()));
            let runtime = if shared {
                "-lcudart"
            } else {
                "-lcudart_static"
            };
            format!("{folder}{runtime} -lrt -lpthread -ldl")
        }
    };
    format!("{flags}\n")
}

/// The folder with `cuda_runtime.h`.
pub(crate) fn toolkit_include(toolkit: &Path) -> Option<PathBuf> {
    let candidates = ["include", "targets/x86_64-linux/include"];
    let mut folders = candidates.iter().map(|folder| toolkit.join(folder));
    folders.find(|folder| folder.join("cuda_runtime.h").is_file())
}

/// The folder with the CUDA runtime library; pip's toolkit has `lib` and no `lib64`.
pub(crate) fn toolkit_lib(toolkit: &Path) -> Option<PathBuf> {
    let candidates = ["lib64", "lib", "targets/x86_64-linux/lib"];
    let mut folders = candidates.iter().map(|folder| toolkit.join(folder));
    folders.find(|folder| folder.join("libcudart_static.a").is_file())
}

/// The CPU device's runtime.
pub(crate) const RUNTIME_LIBRARY: &str = "libsirius_runtime.a";
/// The same, for processes in which several have it in common.
pub(crate) const SHARED_RUNTIME_LIBRARY: &str = "libsirius_runtime.so";

/// `$SIRIUS_CLANG`, the LLVM that we were built with, then PATH.
///
/// # Errors
/// There is none.
pub fn find_clang(environment: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, ToolchainError> {
    let prefix = option_env!("LLVM_SYS_221_PREFIX").unwrap_or("/usr/lib/llvm-22");
    if let Some(named) = environment("SIRIUS_CLANG").filter(|text| !text.is_empty()) {
        return which::which(&named).map_err(|_| ToolchainError::WrongClang(named));
    }
    let of_prefix = Path::new(prefix).join("bin/clang++");
    if of_prefix.is_file() {
        return Ok(of_prefix);
    }
    let path = environment("PATH").unwrap_or_default();
    which::which_in("clang++-22", Some(path), "/")
        .map_err(|_| ToolchainError::MissingClang(prefix.to_owned()))
}

/// `$SIRIUS_RUNTIME` (the file or its folder), then beside our executable, then where cargo puts it, then what the
/// executable brings along.
pub(crate) fn find_runtime_library(
    environment: &dyn Fn(&str) -> Option<String>,
) -> Option<PathBuf> {
    const NAME: &str = RUNTIME_LIBRARY;
    if let Some(named) = environment("SIRIUS_RUNTIME").filter(|text| !text.is_empty()) {
        let named = PathBuf::from(named);
        let named = if named.is_dir() {
            named.join(NAME)
        } else {
            named
        };
        return named
            .is_file()
            .then(|| std::path::absolute(&named).unwrap_or(named));
    }
    let own = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .ok()?;
    let folder = own.parent()?;
    // A test's executable is in `target/debug/deps`, a program's in `target/debug` or `bin`.
    let candidates = [
        folder.join(NAME),
        folder.join("..").join(NAME),
        folder.join("deps").join(NAME),
        folder.join("../lib").join(NAME),
    ];
    let found = candidates.into_iter().find(|path| path.is_file());
    let found = found.or_else(|| embedded::file("lib/libsirius_runtime.a"))?;
    Some(std::fs::canonicalize(&found).unwrap_or(found))
}

/// Our header: in `include` of a folder above our executable, or what the executable brings along, or, last, that of
/// the sources, which may be another version by now.
pub(crate) fn find_compatibility_header() -> Option<PathBuf> {
    const NAME: &str = "include/sirius_compatibility.h";
    let is_there = |path: &PathBuf| path.is_file();
    let beside = folders_above()
        .map(|folder| folder.join(NAME))
        .find(is_there);
    let of_sources = || Some(Path::new(env!("CARGO_MANIFEST_DIR")).join(NAME)).filter(is_there);
    beside.or_else(|| embedded::file(NAME)).or_else(of_sources)
}

/// The folders above our executable, nearest first, then the one that we were built from.
fn project_folders() -> impl Iterator<Item = PathBuf> {
    folders_above().chain([PathBuf::from(env!("CARGO_MANIFEST_DIR"))])
}

fn folders_above() -> impl Iterator<Item = PathBuf> {
    let own = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .unwrap_or_default();
    let above: Vec<PathBuf> = own.ancestors().skip(1).map(Path::to_owned).collect();
    above.into_iter()
}

/// The toolkits that pip unpacked into a virtual environment, newest first.
fn toolkits_of_venv(venv: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let read = std::fs::read_dir(folder).into_iter().flatten();
        read.filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect()
    };
    let named = |path: &Path, prefix: &str| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    let mut toolkits: Vec<PathBuf> = entries(&venv.join("lib"))
        .into_iter()
        .filter(|path| named(path, "python3"))
        .flat_map(|python| entries(&python.join("site-packages/nvidia")))
        .filter(|path| named(path, "cu1") && toolkit_include(path).is_some())
        .collect();
    toolkits.sort();
    toolkits.reverse();
    toolkits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A toolkit as Linux packages lay it out, with `lib64` and a version file.
    fn toolkit(version: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["include", "lib64", "bin"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("include/cuda_runtime.h", "");
        write(
            "include/cuda.h",
            &format!("#define CUDA_VERSION {version}\n"),
        );
        write("lib64/libcudart_static.a", "");
        write(
            "version.json",
            r#"{"cuda_nvcc": {"name": "CUDA NVCC", "version": "12.4.131"}}"#,
        );
        folder
    }

    #[test]
    fn a_named_toolkit_comes_before_the_one_on_path() {
        let (named, on_path) = (toolkit(12040), toolkit(13010));
        std::fs::write(on_path.path().join("bin/nvcc"), "").unwrap();
        let path = on_path.path().join("bin").display().to_string();
        let home = named.path().display().to_string();
        let only_path = |name: &str| (name == "PATH").then(|| path.clone());
        let both = |name: &str| match name {
            "CUDA_HOME" => Some(home.clone()),
            _ => only_path(name),
        };
        let canonical = |folder: &tempfile::TempDir| std::fs::canonicalize(folder.path()).unwrap();
        assert_eq!(find_toolkit(&both), Ok(canonical(&named)));
        assert_eq!(find_toolkit(&only_path), Ok(canonical(&on_path)));
    }

    #[test]
    fn a_link_named_nvcc_to_this_program_is_no_toolkit() {
        let folder = toolkit(13010);
        let own = std::env::current_exe().unwrap();
        std::os::unix::fs::symlink(own, folder.path().join("bin/nvcc")).unwrap();
        let path = folder.path().join("bin").display().to_string();
        let found = find_toolkit(&|name| (name == "PATH").then(|| path.clone()));
        assert_ne!(found, Ok(std::fs::canonicalize(folder.path()).unwrap()));
    }

    #[test]
    fn versions_come_from_the_toolkit() {
        let folder = toolkit(12040);
        assert_eq!(toolkit_version(folder.path()), Some((12, 4)));
        assert_eq!(toolkit_release(folder.path()).as_deref(), Some("12.4.131"));
        assert_eq!(
            toolkit_lib(folder.path()),
            Some(folder.path().join("lib64"))
        );
        // A version file of another release is not believed.
        let other = toolkit(13010);
        assert_eq!(toolkit_release(other.path()).as_deref(), Some("13.1.0"));
    }

    #[test]
    fn the_runtime_library_may_be_named_by_file_or_folder() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libsirius_runtime.a");
        std::fs::write(&library, "").unwrap();
        for named in [folder.path(), library.as_path()] {
            let environment =
                |name: &str| (name == "SIRIUS_RUNTIME").then(|| named.display().to_string());
            assert_eq!(find_runtime_library(&environment), Some(library.clone()));
        }
        let nowhere = |name: &str| (name == "SIRIUS_RUNTIME").then(|| "/nowhere".to_owned());
        assert_eq!(find_runtime_library(&nowhere), None);
    }

    #[test]
    fn a_wrong_clang_is_named() {
        let environment =
            |name: &str| (name == "SIRIUS_CLANG").then(|| "/nowhere/clang".to_owned());
        let error = find_clang(&environment).unwrap_err();
        assert_eq!(
            error,
            ToolchainError::WrongClang("/nowhere/clang".to_owned())
        );
    }
}
