//! Objects that keep the bitcode of their source, so that a link sees the whole program.
//!
//! `-c` writes a complete object, which any linker takes, and adds to it a section with what clang
//! made of the source ([`add_record`]). A link of ours takes the object out again and compiles the
//! bitcode instead, together with that of all others ([`gather()`]).
//!
//! Invariants. An object stands aside for its bitcode only when it is, to the last byte that a linker
//! looks at, what we wrote: one that was joined with others, or whose symbols were renamed, is linked as
//! it is. Members of an archive take part when the linker chooses them, and only then. Without any
//! of this the program links and runs as well, only with fewer launches fused.

mod archives;
mod cxx_form;
mod device_code;
mod digest;
mod gather;
mod record;

pub use cxx_form::cxx_form;
pub use device_code::{gather_device_link, unlinked_device_code};
pub use gather::{Gathered, gather};

use crate::build::{Build, Input, Target};
use crate::files::private_file;
use crate::program::SourceBitcode;
use crate::tools::{ToolError, Toolchain, run_tool};
use record::{Header, Record, Settings};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Why objects cannot be read, or a record cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ObjectsError {
    /// An object was made for another device than the one that is linked for.
    #[error("'{}' was compiled for the {device} device; give --sirius-device={device} to the link as well, or compile it again", path.display())]
    OtherDevice {
        /// The object.
        path: PathBuf,
        /// Its device's name.
        device: &'static str,
    },
    /// `-cuda`: an object that cannot be written as assembly.
    #[error("'{}' cannot be written as a C++ file: {reason}", path.display())]
    NoCxxForm {
        /// The object.
        path: PathBuf,
        /// What it has.
        reason: String,
    },
    /// Relocatable device code was compiled for newer architectures than it is to be linked for.
    #[error("'{}' was compiled for sm_{compiled} and cannot be linked for sm_{linked}", path.display())]
    NewerArchitecture {
        /// The object.
        path: PathBuf,
        /// Its oldest architecture.
        compiled: Target,
        /// That of the link.
        linked: Target,
    },
    /// A file cannot be used.
    #[error("{what}: {error}")]
    Files {
        /// What was tried.
        what: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The linker or the object editor failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A source does not compile.
    #[error(transparent)]
    Program(#[from] crate::program::ProgramError),
    /// The trial link of archives failed.
    #[error(transparent)]
    Link(#[from] crate::codegen::CodegenError),
}

impl ObjectsError {
    /// nvcc's exit status for it.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Tool(error) => error.exit_status(),
            Self::Link(error) => error.exit_status(),
            Self::Program(error) => error.exit_status(),
            // That of nvlink.
            Self::NewerArchitecture { .. } => 255,
            Self::OtherDevice { .. } | Self::NoCxxForm { .. } | Self::Files { .. } => 1,
        }
    }
}

/// Adds to the object file at `object` what clang made of its source, and whether nothing is fused in it. An `object` that is no file of the
/// ELF format (`/dev/null`) stays as it is, and so does every one where there is no object editor.
///
/// # Errors
/// The editor fails, or a temporary file cannot be written.
pub fn add_record(
    bitcode: &SourceBitcode,
    unfused: bool,
    build: &Build,
    input: &Input,
    toolchain: &Toolchain,
    object: &Path,
) -> Result<(), ObjectsError> {
    let (Some(editor), Ok(bytes)) = (&toolchain.objcopy, std::fs::read(object)) else {
        return Ok(());
    };
    let Some(digest) = digest::digest(&bytes) else {
        return Ok(());
    };
    let record = Record {
        header: Header {
            source: input.path.clone(),
            language: input.language,
            numerics: build.numerics,
            settings: Settings::of(build),
            relocatable: bitcode.relocatable.clone(),
            unfused,
            object_digest: digest,
        },
        host: bitcode.host.clone(),
        device: bitcode.device.clone(),
        newer: bitcode.newer.clone(),
    };
    add_section(record::SECTION, &record.encode(), build, editor, object)
}

/// Notes in the object that `-dlink` made whose device code it holds.
///
/// # Errors
/// As [`add_record`].
pub fn note_device_link(
    build: &Build,
    toolchain: &Toolchain,
    object: &Path,
) -> Result<(), ObjectsError> {
    let Some(editor) = &toolchain.objcopy else {
        return Ok(());
    };
    if !object.is_file() {
        return Ok(());
    }
    let units = build.inputs.iter().filter_map(|input| {
        let relocatable = input.bitcode.as_ref()?.relocatable.as_ref()?;
        Some(relocatable.name.as_str())
    });
    let text: String = units.map(|name| format!("{name}\n")).collect();
    add_section(digest::DEVICE_LINK, text.as_bytes(), build, editor, object)
}

/// Adds a section that the final link drops.
fn add_section(
    name: &str,
    contents: &[u8],
    build: &Build,
    editor: &Path,
    object: &Path,
) -> Result<(), ObjectsError> {
    let file = private_file("").and_then(|file| {
        std::fs::write(file.path(), contents)?;
        Ok(file)
    });
    let file = file.map_err(|error| ObjectsError::Files {
        what: "cannot write a temporary file".into(),
        error,
    })?;
    let mut section = OsString::from(format!("{name}="));
    section.push(file.path());
    let flags = format!("{name}=exclude");
    let arguments: [OsString; 5] = [
        "--add-section".into(),
        section,
        "--set-section-flags".into(),
        flags.into(),
        object.into(),
    ];
    run_tool(editor, &arguments, build)?;
    Ok(())
}
