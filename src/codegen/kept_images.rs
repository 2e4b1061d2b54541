//! Fat binaries that an earlier build made of the same device code.
//!
//! A link after one source of many was changed has the device code of all others as it was.
//!
//! Invariant: all that an image depends on (code, options, tools) is what its [`Entry`] is made from.

use super::DeviceImage;
use super::pending::Bitcode;
use super::ptx::{MadeImage, Usage, names_files_of_run};
use crate::cache::{Entry, put, tools_as_text};
use crate::cli::{Build, Device, Phase, Toolchain};
use std::path::PathBuf;

/// Where the image of device code is kept; `None` where somebody watches how it is made, or wants the files that it is
/// made by.
pub(super) fn place_of(code: &Bitcode, build: &Build, toolchain: &Toolchain) -> Option<Entry> {
    let is_watched = build.verbose || build.keep_directory.is_some();
    if build.device != Device::Cuda || is_watched || names_files_of_run(build) {
        return None;
    }
    let tools = [
        Some(&toolchain.libdevice),
        Some(toolchain.ptxas.as_ref()?),
        toolchain.fatbinary.as_ref(),
    ];
    let tools = tools.into_iter().flatten().map(PathBuf::as_path);
    let options = (
        (&build.architectures, build.maximum_registers),
        (&build.ptxas_arguments, build.keep_device_functions),
        (build.relocatable, build.phase.is_device_alone()),
        (build.phase == Phase::Ptx, build.host_debug),
        toolchain.version,
    );
    let mut made_from = Vec::new();
    put(&mut made_from, tools_as_text(tools)?.as_bytes());
    put(&mut made_from, format!("{options:?}").as_bytes());
    for (target, module) in code.modules() {
        put(&mut made_from, format!("{target:?}").as_bytes());
        put(&mut made_from, module);
    }
    Entry::of("image", made_from)
}

/// What is kept there.
pub(super) fn take(place: &Entry) -> Option<MadeImage> {
    let [code, messages, usage]: [Vec<u8>; 3] = place.take()?.try_into().ok()?;
    let usage: Usage = serde_json::from_slice(&usage).ok()?;
    Some(MadeImage {
        image: DeviceImage::Fatbin(code),
        messages: String::from_utf8(messages).ok()?,
        usage,
    })
}

/// Keeps an image.
pub(super) fn keep(place: &Entry, made: &MadeImage) {
    if let (DeviceImage::Fatbin(code), Ok(usage)) = (&made.image, serde_json::to_vec(&made.usage)) {
        place.keep(&[code, made.messages.as_bytes(), &usage]);
    }
}
