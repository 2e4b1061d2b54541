//! Fat binaries, and objects for the CPU device, that an earlier build made of the same device code.
//!
//! A link after one source of many was changed has the device code of all others as it was.
//!
//! Invariant: all that an image depends on (code, options, tools) is what its [`Entry`] is made from.

use super::super::DeviceImage;
use super::super::cpu::host_processor;
use super::super::pending::{Bitcode, Request};
use super::super::ptx::{MadeImage, Usage, names_files_of_run};
use crate::build::{Build, Device, Phase};
use crate::cache::{Entry, put, tools_as_text};
use crate::tools::Toolchain;
use std::path::{Path, PathBuf};

/// Where the image of device code is kept; `None` where somebody watches how it is made, or wants the files that it is
/// made by.
pub(in crate::codegen) fn place_of(code: &Bitcode, request: &Request) -> Option<Entry> {
    let (build, toolchain) = (&request.build, &request.toolchain);
    if build.verbose || build.keep_directory.is_some() || names_files_of_run(build) {
        return None;
    }
    let (sort, tools, options) = match build.device {
        Device::Cuda => ("image", tools_of_cuda(toolchain)?, options_of_cuda(build)),
        Device::Cpu => {
            let tools = vec![toolchain.libdevice.as_path()];
            ("cpu", tools, options_of_cpu(request))
        }
    };
    let mut made_from = Vec::new();
    put(&mut made_from, tools_as_text(tools)?.as_bytes());
    put(&mut made_from, options.as_bytes());
    put(
        &mut made_from,
        format!("{:?}", toolchain.version).as_bytes(),
    );
    for (target, module) in code.modules() {
        put(&mut made_from, format!("{target:?}").as_bytes());
        put(&mut made_from, module);
    }
    Entry::of(sort, made_from)
}

fn tools_of_cuda(toolchain: &Toolchain) -> Option<Vec<&Path>> {
    let tools = [
        Some(&toolchain.libdevice),
        Some(toolchain.ptxas.as_ref()?),
        toolchain.fatbinary.as_ref(),
    ];
    Some(tools.into_iter().flatten().map(PathBuf::as_path).collect())
}

fn options_of_cuda(build: &Build) -> String {
    let options = (
        (&build.architectures, build.maximum_registers),
        (&build.ptxas_arguments, build.keep_device_functions),
        (build.relocatable, build.phase.is_device_alone()),
        (build.phase == Phase::Ptx, build.host_debug),
    );
    format!("{options:?}")
}

/// The objects have names of their image in them, and instructions of the machine that they are made on.
fn options_of_cpu(request: &Request) -> String {
    let build = &request.build;
    let options = (
        (&request.symbol, &request.managed),
        (build.oldest_target(), build.keep_device_functions),
        host_processor(),
    );
    format!("{options:?}")
}

/// What is kept there; objects go where the request has them.
pub(in crate::codegen) fn take(place: &Entry, request: &Request) -> Option<MadeImage> {
    let parts = place.take()?;
    match request.build.device {
        Device::Cuda => {
            let [code, messages, usage]: [Vec<u8>; 3] = parts.try_into().ok()?;
            let usage: Usage = serde_json::from_slice(&usage).ok()?;
            Some(MadeImage {
                image: DeviceImage::Fatbin(code),
                messages: String::from_utf8(messages).ok()?,
                usage,
            })
        }
        Device::Cpu => {
            let objects = request.objects();
            if parts.len() != objects.len() {
                return None;
            }
            for (object, bytes) in objects.iter().zip(parts) {
                std::fs::write(object, bytes).ok()?;
            }
            Some(MadeImage {
                image: DeviceImage::CpuObjects {
                    objects: objects.into(),
                    symbol: request.symbol.clone(),
                },
                messages: String::new(),
                usage: Usage::new(),
            })
        }
    }
}

/// Keeps an image.
pub(in crate::codegen) fn keep(place: &Entry, made: &MadeImage) {
    match &made.image {
        DeviceImage::Fatbin(code) => {
            if let Ok(usage) = serde_json::to_vec(&made.usage) {
                place.keep(&[code, made.messages.as_bytes(), &usage]);
            }
        }
        DeviceImage::CpuObjects { objects, .. } => {
            let read: Result<Vec<Vec<u8>>, _> = objects.iter().map(std::fs::read).collect();
            if let Ok(read) = read {
                let parts: Vec<&[u8]> = read.iter().map(Vec::as_slice).collect();
                place.keep(&parts);
            }
        }
    }
}
