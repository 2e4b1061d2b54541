//! The tools of a build, and the folders where they are: finding them, and running them.

pub mod command;
mod embedded;
pub mod toolchain;
pub mod toolkit_folder;
mod versioned_libraries;

pub use command::{Bounded, Listener, Output, ToolError, run_tool, run_tool_heard};
pub use toolchain::{ToolchainError, find_toolchain};

use std::path::PathBuf;

/// The tools and folders of a build, all by absolute path.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// `clang++` of LLVM 22.
    pub clang: PathBuf,
    /// The toolkit's root: `include`, `lib` or `lib64`, `nvvm/libdevice`, `bin`.
    pub toolkit: PathBuf,
    /// Its include folder.
    pub toolkit_include: PathBuf,
    /// Its library folder (with `libcudart_static.a`).
    pub toolkit_lib: PathBuf,
    /// `libdevice.10.bc`.
    pub libdevice: PathBuf,
    /// `ptxas`, when found.
    pub ptxas: Option<PathBuf>,
    /// `fatbinary`, when found.
    pub fatbinary: Option<PathBuf>,
    /// `llvm-objcopy`, when found.
    pub objcopy: Option<PathBuf>,
    /// `llvm-ar`, when found.
    pub archiver: Option<PathBuf>,
    /// The toolkit's version, such as (13, 5).
    pub version: (u32, u32),
    /// Our compatibility header, included before every CUDA source.
    pub compatibility_header: PathBuf,
    /// `libsirius_runtime.a`, when found (needed for the cpu device only).
    pub runtime_library: Option<PathBuf>,
}

impl Toolchain {
    /// The name of [`Toolchain::library_headers`].
    pub(super) const LIBRARY_HEADERS: &str = "libraries";
    /// The name of [`Toolchain::clang_view`].
    pub(super) const CLANG_VIEW: &str = "clang_view";

    /// Our headers of libraries that a toolkit may lack (cuBLAS), searched last.
    pub fn library_headers(&self) -> PathBuf {
        self.compatibility_header
            .with_file_name(Self::LIBRARY_HEADERS)
    }

    /// Our headers in front of those of the toolkit that must see clang where programs see nvcc,
    /// searched first.
    pub fn clang_view(&self) -> PathBuf {
        self.compatibility_header.with_file_name(Self::CLANG_VIEW)
    }

    /// Headers of ours that stand for larger ones while nothing asks for what they lack.
    pub fn lean_headers(&self) -> PathBuf {
        self.compatibility_header.with_file_name("lean")
    }

    /// The definition by which the `cuda.h` in that folder tells clang the toolkit's version.
    #[must_use]
    pub fn driver_version(&self) -> String {
        let (major, minor) = self.version;
        format!("-DSIRIUS_DRIVER_VERSION={}", 1000 * major + 10 * minor)
    }
}
