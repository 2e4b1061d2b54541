//! Device images in the making: each by a thread of its own, while the compiler goes on.
//!
//! Invariant: a thread sees nothing of the compiler's LLVM context; it gets bitcode and has a context of its own.
//! Nobody outlives the threads that were begun, and no two of a build write the same file.

use super::super::CodegenError;
use super::super::cpu::{CpuImageRequest, CpuImageWork, objects_beside};
use super::super::device::{device_target_machine, keep_to_module, machine_of, make_final};
use super::super::images::Workbench;
use super::super::kept_images;
use super::super::ptx::{MadeImage, Usage, emit_fatbin};
use super::super::undefined::refuse_undefined;
use crate::build::{Build, Device, Phase, Target};
use crate::program::{Unit, for_target};
use crate::tools::Toolchain;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::thread::JoinHandle;

/// An image that is there, or that a thread is making.
pub(in crate::codegen) struct PendingImage {
    symbol: String,
    making: Option<Making>,
}

enum Making {
    Made(MadeImage),
    Thread(JoinHandle<Result<MadeImage, CodegenError>>),
}

impl PendingImage {
    /// Begins to optimise and emit device code under a name in the program and the stem of a file's name, for the
    /// device that is built for. Users who watch the tools see one after the other.
    ///
    /// # Errors
    /// With `-v`, those of [`Self::wait`].
    pub(in crate::codegen) fn begin(
        code: &DeviceCode<'_>,
        managed: &[String],
        bench: &Workbench<'_>,
        (name, stem): (&str, &str),
    ) -> Result<Self, CodegenError> {
        let bitcode = code.to_bitcode();
        let own = |of: &str| bench.own_name(of);
        let (name, stem) = match name == stem {
            true => (own(name), None),
            false => (own(name), Some(own(stem))),
        };
        let symbol = format!(
            "sirius_{}_image_{:016x}_{name}",
            bench.build.device.name(),
            sources_hash(bench.build, &bitcode)
        );
        let request = Request {
            symbol: symbol.clone(),
            build: bench.build.clone(),
            toolchain: bench.toolchain().clone(),
            folder: bench.path().to_owned(),
            managed: managed.to_vec(),
            stem: stem.unwrap_or_else(|| name.clone()),
            name,
        };
        let thread = std::thread::spawn(move || {
            let kept = kept_images::place_of(&bitcode, &request);
            let take = |place| kept_images::take(place, &request);
            if let Some(made) = kept.as_ref().and_then(take) {
                return Ok(made);
            }
            let context = Context::create();
            let made = request.emit(&bitcode.read(&context)?)?;
            // What names files of this run would be wrong in another.
            let names_files = made.messages.contains(&*request.folder.to_string_lossy());
            if let Some(place) = kept.filter(|_| !names_files) {
                kept_images::keep(&place, &made);
            }
            Ok(made)
        });
        let mut pending = Self {
            symbol,
            making: Some(Making::Thread(thread)),
        };
        if bench.build.verbose {
            pending.settle()?;
        }
        Ok(pending)
    }

    /// The symbol in the host's code that stands for the image; no other object of a program has it.
    pub(in crate::codegen) fn symbol(&self) -> &str {
        &self.symbol
    }

    /// Waits for the image.
    ///
    /// # Errors
    /// As [`emit_fatbin`] and [`CpuImageWork::emit`].
    pub(in crate::codegen) fn wait(mut self) -> Result<MadeImage, CodegenError> {
        self.take()
    }

    fn take(&mut self) -> Result<MadeImage, CodegenError> {
        match self.making.take() {
            Some(Making::Made(image)) => Ok(image),
            Some(Making::Thread(thread)) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => Err(CodegenError::Inconsistent("an image is gone".to_owned())),
        }
    }

    /// As [`Self::wait`], with the image kept for later.
    pub(in crate::codegen) fn settle(&mut self) -> Result<(), CodegenError> {
        let image = self.take()?;
        self.making = Some(Making::Made(image));
        Ok(())
    }

    /// What its kernels need; `None` while it is in the making.
    pub(in crate::codegen) fn usage(&self) -> Option<&Usage> {
        match &self.making {
            Some(Making::Made(image)) => Some(&image.usage),
            _ => None,
        }
    }
}

/// Nothing is left behind of an image that nobody wants any more.
impl Drop for PendingImage {
    fn drop(&mut self) {
        if let Some(Making::Thread(thread)) = self.making.take() {
            let _ = thread.join();
        }
    }
}

/// Device modules of one image: for the oldest architecture, and for newer ones where that is other code.
pub struct DeviceCode<'ctx> {
    /// The source that it is all of.
    source: Option<PathBuf>,
    pub(in crate::codegen) oldest: Module<'ctx>,
    newer: Vec<(Target, Module<'ctx>)>,
}

impl<'ctx> DeviceCode<'ctx> {
    /// Copies of a unit's modules.
    pub fn of(unit: &Unit<'ctx>) -> Self {
        let newer = unit.newer.iter();
        Self {
            source: Some(unit.source.clone()),
            oldest: unit.device.clone(),
            newer: newer
                .map(|(target, module)| (*target, module.clone()))
                .collect(),
        }
    }

    /// One module for all architectures.
    pub fn for_all(module: Module<'ctx>) -> Self {
        Self {
            source: None,
            oldest: module,
            newer: Vec::new(),
        }
    }

    /// Makes each final device IR.
    ///
    /// # Errors
    /// As [`super::super::emit_units`].
    pub fn optimise(&self, build: &Build) -> Result<(), CodegenError> {
        let newer = self.newer.iter().map(|(target, module)| (*target, module));
        let oldest = (build.oldest_target(), &self.oldest);
        // Relocatable code is not whole before it is linked.
        let is_file = build.phase.is_device_alone();
        let is_whole = !(build.relocatable && is_file);
        for (target, module) in [oldest].into_iter().chain(newer) {
            if is_whole {
                keep_to_module(module, build.keep_device_functions);
            }
            make_final(module, &machine_of(target)?, build)?;
            // PTX may leave a function to others.
            if is_whole && build.phase != Phase::Ptx {
                self.refuse_undefined(module)?;
            }
        }
        Ok(())
    }

    fn refuse_undefined(&self, module: &Module<'_>) -> Result<(), CodegenError> {
        let source = self.source.as_ref();
        source.map_or(Ok(()), |source| refuse_undefined(module, source))
    }

    /// The module for an architecture.
    pub fn module_for(&self, target: Target) -> &Module<'ctx> {
        for_target(&self.oldest, &self.newer, target)
    }

    /// Its bitcode, which other threads can read.
    fn to_bitcode(&self) -> Bitcode {
        let bytes = |module: &Module<'ctx>| module.write_bitcode_to_memory().as_slice().to_vec();
        let newer = self.newer.iter();
        Bitcode {
            source: self.source.clone(),
            oldest: bytes(&self.oldest),
            newer: newer
                .map(|(target, module)| (*target, bytes(module)))
                .collect(),
        }
    }
}

/// As bitcode, what [`DeviceCode`] is.
pub(in crate::codegen) struct Bitcode {
    source: Option<PathBuf>,
    oldest: Vec<u8>,
    newer: Vec<(Target, Vec<u8>)>,
}

impl Bitcode {
    /// All modules, that for the oldest architecture first.
    pub(in crate::codegen) fn modules(&self) -> impl Iterator<Item = (Option<Target>, &[u8])> {
        let newer = self.newer.iter();
        let newer = newer.map(|(target, module)| (Some(*target), module.as_slice()));
        std::iter::once((None, self.oldest.as_slice())).chain(newer)
    }

    fn read<'ctx>(&self, context: &'ctx Context) -> Result<DeviceCode<'ctx>, CodegenError> {
        let module = |bytes: &[u8]| {
            let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, "device code");
            Module::parse_bitcode_from_buffer(&buffer, context)
                .map_err(|message| CodegenError::Llvm(message.to_string()))
        };
        let newer = self.newer.iter();
        Ok(DeviceCode {
            source: self.source.clone(),
            oldest: module(&self.oldest)?,
            newer: newer
                .map(|(target, bytes)| Ok((*target, module(bytes)?)))
                .collect::<Result<_, CodegenError>>()?,
        })
    }
}

/// What an image is made with.
pub(in crate::codegen) struct Request {
    pub(in crate::codegen) symbol: String,
    pub(in crate::codegen) build: Build,
    pub(in crate::codegen) toolchain: Toolchain,
    folder: PathBuf,
    pub(in crate::codegen) managed: Vec<String>,
    name: String,
    stem: String,
}

impl Request {
    /// Where the objects of an image for the CPU device go.
    pub(in crate::codegen) fn objects(&self) -> [PathBuf; 2] {
        objects_beside(&self.folder.join(format!("{}.o", self.name)))
    }

    fn emit(&self, code: &DeviceCode<'_>) -> Result<MadeImage, CodegenError> {
        let (build, toolchain) = (&self.build, &self.toolchain);
        match build.device {
            Device::Cuda => {
                code.optimise(build)?;
                emit_fatbin(code, build, toolchain, &self.folder, &self.stem)
            }
            Device::Cpu => {
                let module = &code.oldest;
                keep_to_module(module, build.keep_device_functions);
                let machine = device_target_machine(CPU_DEVICE_PROCESSOR)?;
                make_final(module, &machine, build)?;
                code.refuse_undefined(module)?;
                let request = CpuImageRequest {
                    symbol: self.symbol.clone(),
                    architecture: build.oldest_target().number,
                    toolkit_version: toolchain.version.0 * 1000 + toolchain.version.1 * 10,
                    managed: self.managed.clone(),
                    libdevice: toolchain.libdevice.clone(),
                    objects: self.objects(),
                    optimised: build.device_optimised,
                };
                Ok(MadeImage {
                    image: CpuImageWork::new(module, request).emit()?,
                    messages: String::new(),
                    usage: Usage::new(),
                })
            }
        }
    }
}

/// The compute capability that the CPU device reports, 8.0.
const CPU_DEVICE_PROCESSOR: &str = "sm_80";

/// Tells the images of separately compiled objects apart, those of one source with other macros or in another place
/// among them, and those of sources that had the same place one after the other.
fn sources_hash(build: &Build, code: &Bitcode) -> u64 {
    let mut hasher = DefaultHasher::new();
    code.modules().for_each(|module| module.hash(&mut hasher));
    build.front_end_arguments.hash(&mut hasher);
    let output = build.output.as_ref();
    let output =
        output.map(|output| std::path::absolute(output).unwrap_or_else(|_| output.clone()));
    output.hash(&mut hasher);
    for input in &build.inputs {
        std::path::absolute(&input.path)
            .unwrap_or_else(|_| input.path.clone())
            .hash(&mut hasher);
        let relocatable = input.bitcode.as_ref().map(|bitcode| &bitcode.relocatable);
        relocatable.hash(&mut hasher);
    }
    hasher.finish()
}
