//! `--sirius-toolkit DIR`: a folder that stands for a CUDA toolkit, as `CUDA_PATH` or first on `PATH`.
//!
//! `bin/nvcc` in it is this program, under a name and as a file of its own, which is what compiler caches
//! and build systems look at; everything else leads to the toolkit that was found, by absolute path. A
//! folder made for the CPU device has our runtime under the names of CUDA's, so that plain linkers build
//! working programs from its objects. Invariant: `bin` has no other compiler, and a folder that is not
//! one of ours is never touched.

use super::toolchain::{self, ToolchainError, find_toolkit};
use super::{Toolchain, versioned_libraries};
use crate::build::Device;
use crate::cache;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What says that a folder is one of ours.
const MARK: &str = "sirius-toolkit.json";

/// Why no folder was made.
#[derive(Debug, thiserror::Error)]
pub enum ToolkitFolderError {
    /// Something that it leads to is not on this machine.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// There is something else.
    #[error("'{}' is not empty and was not made by --sirius-toolkit; name another folder", .0.display())]
    Occupied(PathBuf),
    /// clang could not link libraries.
    #[error("clang cannot link the libraries under CUDA's names: {0}")]
    Link(String),
    /// A file could not be made.
    #[error("Cannot make '{}': {error}", path.display())]
    Files {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

/// What a folder of ours knows of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolkitFolder {
    /// Its root.
    pub root: PathBuf,
    /// For which device its compiler builds by default.
    pub device: Device,
    /// The toolkit that it leads to.
    pub underlying: PathBuf,
}

impl ToolkitFolder {
    /// The folder with this root; `None` where that is something else.
    pub fn at(root: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(root.join(MARK)).ok()?;
        let json: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(Self {
            root: root.to_owned(),
            device: Device::named(json.get("device")?.as_str()?)?,
            underlying: json.get("toolkit")?.as_str()?.into(),
        })
    }

    /// The folder that the running program is in.
    pub fn own() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        Self::at(program.parent()?.parent()?)
    }
}

/// Makes the folder for a device, in place of an older one of ours.
///
/// # Errors
/// There is no toolkit or no runtime library to lead to, the folder holds something else, or it cannot be
/// written.
pub fn lay_out(
    folder: &Path,
    device: Device,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<ToolkitFolder, ToolkitFolderError> {
    let found = find_toolkit(environment)?;
    let underlying = ToolkitFolder::at(&found).map_or(found, |ours| ours.underlying);
    let compatibility_header =
        toolchain::find_compatibility_header().ok_or(ToolchainError::MissingCompatibilityHeader)?;
    let runtime = toolchain::find_runtime_library(environment);
    let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && ToolkitFolder::at(folder).is_none() {
        return Err(ToolkitFolderError::Occupied(folder.to_owned()));
    }
    let folder = std::path::absolute(folder).map_err(files(folder))?;
    let parent = folder.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(parent).map_err(files(parent))?;
    // Made beside and put in place as a whole: the running program may be in the old one.
    let new = tempfile::Builder::new()
        .prefix(".sirius-toolkit-")
        .tempdir_in(parent)
        .map_err(files(parent))?;
    let made = ToolkitFolder {
        root: new.path().to_owned(),
        device,
        underlying,
    };
    made.make_programs()?;
    made.make_headers(&compatibility_header)?;
    made.make_libraries(runtime.as_deref(), &folder)?;
    if device == Device::Cpu {
        let libraries = made.root.join("lib64");
        versioned_libraries::make(&libraries, environment)?;
    }
    made.lead_to_the_rest()?;
    let mark = serde_json::json!({
        "device": device.name(),
        "toolkit": made.underlying.display().to_string(),
    });
    made.write(MARK, &format!("{mark:#}\n"))?;
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(files(&folder))?;
    }
    let new = new.keep();
    std::fs::rename(&new, &folder).map_err(files(&folder))?;
    let open = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(&folder, open).map_err(files(&folder))?;
    Ok(ToolkitFolder {
        root: folder,
        ..made
    })
}

/// A folder for a device, kept for whoever asks again, where the running program is in none; `None`
/// where it is, or where none can be made.
pub(crate) fn of_own(
    device: Device,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Option<PathBuf> {
    let found = find_toolkit(environment).ok()?;
    if ToolkitFolder::own().is_some() || ToolkitFolder::at(&found).is_some() {
        return None;
    }
    let runtime = toolchain::find_runtime_library(environment);
    let header = toolchain::find_compatibility_header()?;
    let mut made_of = format!("{device:?} {}\n", found.display());
    made_of += &cache::tools_as_text(runtime.as_deref().into_iter().chain([header.as_path()]))?;
    let mut hasher = DefaultHasher::new();
    made_of.hash(&mut hasher);
    let name = format!("toolkit-{}-{:016x}", device.name(), hasher.finish());
    let folder = cache::folder()?.join(name);
    if ToolkitFolder::at(&folder).is_none() {
        lay_out(&folder, device, environment).ok()?;
    }
    Some(folder)
}

impl ToolkitFolder {
    /// The program of this folder that compiles preprocessed sources; see [`crate::driver::cli::shown::steps`].
    pub(crate) fn compiler_of_preprocessed(&self) -> PathBuf {
        self.root.join("libexec/cicc")
    }

    /// `bin`: us as nvcc, and the tools.
    fn make_programs(&self) -> Result<(), ToolkitFolderError> {
        let bin = self.folder("bin")?;
        let own = std::env::current_exe().and_then(std::fs::canonicalize);
        let own = own.map_err(files(&bin))?;
        for name in ["nvcc", "sirius-rs"] {
            take(&own, &bin.join(name))?;
        }
        take(&own, &self.folder("libexec")?.join("cicc"))?;
        for tool in entries(&self.underlying.join("bin")) {
            let name = tool.file_name().unwrap_or_default().to_string_lossy();
            if !name.starts_with("nvcc") && name != "sirius-rs" {
                link(&tool, &bin.join(&*name))?;
            }
        }
        Ok(())
    }

    /// `include`: the toolkit's headers, and ours.
    fn make_headers(&self, compatibility_header: &Path) -> Result<(), ToolkitFolderError> {
        let include = self.folder("include")?;
        let theirs = toolchain::toolkit_include(&self.underlying).unwrap_or_default();
        for header in entries(&theirs) {
            link(
                &header,
                &include.join(header.file_name().unwrap_or_default()),
            )?;
        }
        let ours = compatibility_header.parent().unwrap_or(Path::new("/"));
        for name in [
            "sirius_compatibility.h",
            "sirius_surface_references.h",
            "sirius_texture_references.h",
            Toolchain::LIBRARY_HEADERS,
            Toolchain::CLANG_VIEW,
        ] {
            copy_all(&ours.join(name), &include.join(name))?;
        }
        if self.device == Device::Cpu {
            // Plain host compilers find what our runtime has beyond the toolkit's headers.
            for header in entries(&include.join(Toolchain::LIBRARY_HEADERS)) {
                let place = include.join(header.file_name().unwrap_or_default());
                if !place.exists() {
                    copy_all(&header, &place)?;
                }
            }
        }
        Ok(())
    }

    /// `lib64`, and `lib` as another name for it.
    fn make_libraries(
        &self,
        runtime: Option<&Path>,
        place: &Path,
    ) -> Result<(), ToolkitFolderError> {
        let lib = self.folder("lib64")?;
        link(Path::new("lib64"), &self.root.join("lib"))?;
        match (self.device, runtime) {
            (Device::Cpu, None) => return Err(ToolchainError::MissingRuntime.into()),
            (_, Some(runtime)) => {
                take(runtime, &lib.join(toolchain::RUNTIME_LIBRARY))?;
                let shared = runtime.with_extension("so");
                match (self.device, shared.is_file()) {
                    (_, true) => take(&shared, &lib.join(toolchain::SHARED_RUNTIME_LIBRARY))?,
                    (Device::Cpu, false) => return Err(ToolchainError::MissingRuntime.into()),
                    (Device::Cuda, false) => {}
                }
            }
            (Device::Cuda, None) => {}
        }
        let theirs = toolchain::toolkit_lib(&self.underlying).unwrap_or_default();
        if self.device == Device::Cuda {
            for library in entries(&theirs) {
                let name = library.file_name().unwrap_or_default().to_owned();
                link(&library, &lib.join(&name))?;
                // Wheels have libraries under their versioned names only.
                let plain = name
                    .to_string_lossy()
                    .split_inclusive(".so")
                    .next()
                    .map(str::to_owned);
                let plain = lib.join(plain.unwrap_or_default());
                if !plain.exists() && !theirs.join(plain.file_name().unwrap_or_default()).exists() {
                    link(&library, &plain)?;
                }
            }
            return Ok(());
        }
        self.folder("lib64/stubs")?;
        for empty in ["libcudadevrt.a", "libculibos.a"] {
            self.write(&format!("lib64/{empty}"), "!<arch>\n")?;
        }
        // For a linker these are lists of what to link. It is the shared one under all names: who links with a plain
        // compiler, a program or a shared library, does not know what else will be in its process.
        let script = format!(
            "/* The CPU device's runtime is CUDA's in this folder. */\n\
             INPUT ( {} -lpthread -ldl -lrt -lm )\n",
            place
                .join("lib64")
                .join(toolchain::SHARED_RUNTIME_LIBRARY)
                .display()
        );
        for name in [
            "cudart", "cublas", "cublasLt", "curand", "cufft", "cusolver", "cusparse", "nvrtc",
        ] {
            self.write(&format!("lib64/lib{name}.so"), &script)?;
            self.write(&format!("lib64/lib{name}_static.a"), &script)?;
        }
        // There is no driver that would bring these.
        for name in [
            "libcuda.so",
            "libnvidia-ml.so",
            "stubs/libcuda.so",
            "stubs/libnvidia-ml.so",
        ] {
            self.write(&format!("lib64/{name}"), &script)?;
        }
        Ok(())
    }

    /// What is the same in both, and the version, which is asked for often.
    fn lead_to_the_rest(&self) -> Result<(), ToolkitFolderError> {
        const MADE: [&str; 5] = ["bin", "include", "lib", "lib64", "version.json"];
        for entry in entries(&self.underlying) {
            let name = entry.file_name().unwrap_or_default();
            if !MADE.contains(&&*name.to_string_lossy()) {
                link(&entry, &self.root.join(name))?;
            }
        }
        let version = toolchain::toolkit_release(&self.underlying).unwrap_or_default();
        let json = serde_json::json!({
            "cuda": {"name": "CUDA SDK", "version": version},
            "cuda_nvcc": {"name": "CUDA NVCC", "version": version},
        });
        self.write("version.json", &format!("{json:#}\n"))
    }

    fn folder(&self, name: &str) -> Result<PathBuf, ToolkitFolderError> {
        let path = self.root.join(name);
        std::fs::create_dir_all(&path).map_err(files(&path))?;
        Ok(path)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), ToolkitFolderError> {
        let path = self.root.join(name);
        std::fs::write(&path, text).map_err(files(&path))
    }
}

/// A large file under another name: the same one where the file system allows that.
fn take(from: &Path, to: &Path) -> Result<(), ToolkitFolderError> {
    if std::fs::hard_link(from, to).is_err() {
        std::fs::copy(from, to).map_err(files(to))?;
    }
    Ok(())
}

fn link(to: &Path, at: &Path) -> Result<(), ToolkitFolderError> {
    symlink(to, at).map_err(files(at))
}

fn copy_all(from: &Path, to: &Path) -> Result<(), ToolkitFolderError> {
    if from.is_dir() {
        std::fs::create_dir_all(to).map_err(files(to))?;
        for entry in entries(from) {
            copy_all(&entry, &to.join(entry.file_name().unwrap_or_default()))?;
        }
        return Ok(());
    }
    std::fs::copy(from, to).map_err(files(to))?;
    Ok(())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    read.flatten().map(|entry| entry.path()).collect()
}

fn files(path: &Path) -> impl FnOnce(io::Error) -> ToolkitFolderError {
    let path = path.to_owned();
    |error| ToolkitFolderError::Files { path, error }
}
