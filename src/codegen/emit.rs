//! Carrying out a verified plan: device images, the rewritten host module, objects, the program.

use super::cpu::{CpuImageRequest, emit_cpu_image};
use super::device::{device_target_machine, optimise_device};
use super::host::rewrite_launches;
use super::launch_call::{Launcher, define_launch_functions};
use super::link::{compile_host, image_objects, join_objects, link};
use super::ptx::{assemble, emit_fatbin, emit_ptx};
use super::registration::{add_fused_keys, embed_unit_images, register_fused_image};
use super::waves::link_queue;
use super::{CodegenError, DeviceImage, FusedKernel, WaveKernel};
use crate::cli::{Build, Device, Phase, Toolchain};
use crate::kernel::KernelModel;
use crate::launch::{BufferId, LaunchGraph};
use crate::program::Program;
use crate::verify::VerifiedPlan;
use inkwell::module::Module;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Emitted {
    /// The plan could not be carried out because a check of ours failed; the program was built
    /// without fusion. The text says which check.
    pub fusion_failed: Option<String>,
    /// Groups of the plan that were left out, because a kernel depends on something that only its
    /// own image has (a table of addresses of device variables). Their launches run unfused.
    pub left_out: Vec<usize>,
    /// For groups of the plan, by index: allocations that the fused kernel does not write although
    /// its members do, because nobody reads them afterwards.
    pub unwritten: Vec<(usize, Vec<BufferId>)>,
    /// What the device tools said (`-Xptxas -v`), for standard error.
    pub messages: String,
}

/// Builds `output`, a program, shared library or object file, from `program` under `plan`.
///
/// # Errors
/// A tool failed, a file could not be written, or an internal error that leaves no program at all.
pub fn emit(
    program: &Program<'_>,
    graph: &LaunchGraph,
    models: &[KernelModel],
    plan: &VerifiedPlan,
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
) -> Result<Emitted, CodegenError> {
    let folder = Folder::new(build)?;
    let mut emitted = Emitted::default();
    let mut images = Vec::new();
    for (index, unit) in program.units.iter().enumerate() {
        let managed: Vec<String> = program
            .variables
            .iter()
            .filter(|variable| variable.unit == index && variable.managed)
            .map(|variable| variable.name.clone())
            .collect();
        let name = format!("unit{index}");
        let module = unit.device.clone();
        images.push(emit_image(
            &module,
            &managed,
            build,
            toolchain,
            &folder,
            &name,
            &mut emitted.messages,
        )?);
    }
    let mut fused: Vec<FusedKernel> = Vec::new();
    let mut waves: Vec<WaveKernel> = Vec::new();
    let mut fused_image = None;
    if !plan.plan().groups.is_empty() || !plan.plan().waves.is_empty() {
        match emit_fused(program, graph, models, plan, build, toolchain, &folder) {
            Ok((kernels, of_waves, image, messages)) => {
                emitted.messages.push_str(&messages);
                fused = kernels;
                waves = of_waves;
                emitted.left_out = (0..plan.plan().groups.len())
                    .filter(|group| fused.iter().all(|kernel| kernel.group != *group))
                    .collect();
                emitted.unwritten = fused
                    .iter()
                    .map(|kernel| (kernel.group, kernel.unwritten.clone()))
                    .collect();
                fused_image = Some(image);
            }
            Err(error) => {
                emitted.fusion_failed = Some(error.to_string());
                emitted.left_out = (0..plan.plan().groups.len()).collect();
            }
        }
    }

    let launcher = Launcher {
        launch_function: if build.per_thread_default_stream {
            "cudaLaunchKernel_ptsz"
        } else {
            "cudaLaunchKernel"
        },
        announce_site: build.device == Device::Cpu,
    };
    add_fused_keys(program, &fused, &waves);
    if !waves.is_empty() {
        link_queue(program, build, toolchain, &launcher, folder.path())?;
    }
    rewrite_launches(program, graph, models, plan, &fused, &waves, &launcher)?;
    define_launch_functions(program, &launcher)?;
    embed_unit_images(program, &images)?;
    if let Some(image) = &fused_image {
        register_fused_image(program, image, &fused, &waves)?;
    }
    program
        .host
        .verify()
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;

    let mut objects = vec![folder.path().join("host.o")];
    compile_host(&program.host, build, toolchain, folder.path(), &objects[0])?;
    objects.extend(image_objects(images.iter().chain(&fused_image)));
    if build.phase == Phase::Compile {
        join_objects(build, toolchain, &objects, output)?;
    } else {
        link(build, toolchain, &objects, output)?;
    }
    Ok(emitted)
}

/// The folder of a build's intermediate files: temporary, or the user's with `-keep`.
struct Folder {
    temporary: Option<tempfile::TempDir>,
    kept: PathBuf,
}

impl Folder {
    fn new(build: &Build) -> Result<Self, CodegenError> {
        if let Some(kept) = &build.keep_directory {
            std::fs::create_dir_all(kept).map_err(|_| CodegenError::Write(kept.clone()))?;
            return Ok(Self {
                temporary: None,
                kept: kept.clone(),
            });
        }
        let temporary = tempfile::Builder::new()
            .prefix("sirius-")
            .tempdir()
            .map_err(|_| CodegenError::Write(std::env::temp_dir()))?;
        Ok(Self {
            kept: temporary.path().to_owned(),
            temporary: Some(temporary),
        })
    }

    fn path(&self) -> &Path {
        self.temporary
            .as_ref()
            .map_or(&self.kept, tempfile::TempDir::path)
    }
}

fn emit_fused(
    program: &Program<'_>,
    graph: &LaunchGraph,
    models: &[KernelModel],
    plan: &VerifiedPlan,
    build: &Build,
    toolchain: &Toolchain,
    folder: &Folder,
) -> Result<(Vec<FusedKernel>, Vec<WaveKernel>, DeviceImage, String), CodegenError> {
    let (module, kernels, waves) =
        super::fuse::build_fused_module(program, graph, models, plan, &build.sirius.optimisations)?;
    let mut messages = String::new();
    let image = emit_image(
        &module,
        &[],
        build,
        toolchain,
        folder,
        "fused",
        &mut messages,
    )?;
    Ok((kernels, waves, image, messages))
}

/// One device module, optimised and emitted for the device that is built for.
fn emit_image(
    module: &Module<'_>,
    managed: &[String],
    build: &Build,
    toolchain: &Toolchain,
    folder: &Folder,
    name: &str,
    messages: &mut String,
) -> Result<DeviceImage, CodegenError> {
    match build.device {
        Device::Cuda => {
            optimise_device(module, &device_target_machine(&processor(build))?)?;
            let packed = emit_fatbin(module, build, toolchain, folder.path(), name)?;
            messages.push_str(&packed.messages);
            Ok(packed.image)
        }
        Device::Cpu => {
            optimise_device(module, &device_target_machine(CPU_DEVICE_PROCESSOR)?)?;
            let symbol = format!("sirius_cpu_image_{:016x}_{name}", sources_hash(build));
            let object = folder.path().join(format!("{name}.o"));
            let libdevice = &toolchain.libdevice;
            emit_cpu_image(
                module,
                CpuImageRequest {
                    symbol: &symbol,
                    managed,
                    libdevice,
                    object: &object,
                },
            )
        }
    }
}

/// The compute capability that the CPU device reports, 8.0.
const CPU_DEVICE_PROCESSOR: &str = "sm_80";

/// Tells the images of separately compiled objects apart.
fn sources_hash(build: &Build) -> u64 {
    let mut hasher = DefaultHasher::new();
    for input in &build.inputs {
        std::path::absolute(&input.path)
            .unwrap_or_else(|_| input.path.clone())
            .hash(&mut hasher);
    }
    hasher.finish()
}

/// `-ptx`, `-cubin`, `-fatbin`: the device side of one source as a file; `-` is standard output.
/// Returns what the tools said.
///
/// # Errors
/// As [`emit`]; the source has no device side.
pub fn emit_device_only(
    program: &Program<'_>,
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
) -> Result<String, CodegenError> {
    let folder = Folder::new(build)?;
    let unit = program.units.first().ok_or(CodegenError::NoDeviceCode)?;
    let module = unit.device.clone();
    optimise_device(&module, &device_target_machine(&processor(build))?)?;
    let architecture = lowest_architecture(build);
    let (bytes, messages) = match build.phase {
        Phase::Ptx => (
            emit_ptx(&module, architecture, build, toolchain)?.into_bytes(),
            String::new(),
        ),
        Phase::Cubin => {
            let ptx = emit_ptx(&module, architecture, build, toolchain)?;
            let (cubin, messages) = assemble(
                &ptx,
                architecture,
                build,
                toolchain,
                folder.path(),
                "device",
            )?;
            (
                std::fs::read(&cubin).map_err(|_| CodegenError::Write(cubin))?,
                messages,
            )
        }
        _ => {
            let packed = emit_fatbin(&module, build, toolchain, folder.path(), "device")?;
            match packed.image {
                DeviceImage::Fatbin(bytes) => (bytes, packed.messages),
                DeviceImage::CpuObject { .. } => return Err(CodegenError::NoDeviceCode),
            }
        }
    };
    if output == Path::new("-") {
        std::io::stdout()
            .write_all(&bytes)
            .map_err(|_| CodegenError::Write(output.into()))?;
    } else {
        std::fs::write(output, bytes).map_err(|_| CodegenError::Write(output.to_owned()))?;
    }
    Ok(messages)
}

fn lowest_architecture(build: &Build) -> u32 {
    build
        .architectures
        .iter()
        .map(|architecture| architecture.number)
        .min()
        .unwrap_or(80)
}

/// The processor that device IR is optimised for: the oldest that it has to run on.
fn processor(build: &Build) -> String {
    format!("sm_{}", lowest_architecture(build))
}

/// Links objects and libraries only.
///
/// # Errors
/// As [`emit`].
pub fn link_objects(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
) -> Result<(), CodegenError> {
    link(build, toolchain, &[], output)
}

/// `-dryrun`: shows the commands that would follow the front end.
///
/// # Errors
/// When the runtime library is missing.
pub fn show_commands(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
) -> Result<(), CodegenError> {
    let objects = [PathBuf::from("host.o")];
    match build.phase {
        Phase::Link => link(build, toolchain, &objects, output),
        _ => Ok(()),
    }
}
