//! Carrying out a verified plan: device images, the rewritten host module, objects, the program.

use super::batches::link_queue;
use super::fatbin_object::image_objects;
use super::graph_updates::{chains_in_use, link_graph_updates, settle_chains};
use super::group::link_tested_loops;
use super::host::rewrite_launches;
use super::host_parts::compile_host_in_parts;
use super::images::{FusedImage, UnitImages, Workbench};
use super::launch_call::{DriverLaunch, Launcher, define_launch_functions};
use super::link::{compile_host, join_objects, link};
use super::loadable::emit_loadable;
use super::pending::DeviceCode;
use super::ptx::{assemble, emit_fatbin, emit_ptx};
use super::registration::{add_fused_keys, embed_unit_images, register_fused_images};
use super::reserve::Reservations;
use super::tables::link_tables;
use super::timer::link_timer;
use super::{BatchKernel, CodegenError, DeviceImage, FusedKernel, HandedOn};
use crate::build::{Build, Device, Phase};
use crate::files::write_whole;
use crate::kernel::KernelModel;
use crate::launch::{BufferId, LaunchGraph, LaunchId};
use crate::program::Program;
use crate::schedule::FusionPlan;
use crate::tools::Toolchain;
use crate::verify::VerifiedPlan;
use std::io::Write;
use std::path::Path;

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
    /// By the launches that store them: what blocks of cooperative launches store and load in a later phase, from shared memory or not.
    pub handed_on: Vec<(LaunchId, HandedOn)>,
    /// Allocations that take no memory before an original launch needs it.
    pub reserved: Vec<BufferId>,
    /// What the device tools said (`-Xptxas -v`), for standard error.
    pub messages: String,
    /// The objects that were linked, where their sources were compiled before.
    pub objects: Vec<Vec<u8>>,
}

/// By the launches that store them, what blocks of these kernels store and load in a later phase. Where the queue has a kernel of its own
/// for a host loop, that one counts.
fn handed_on(
    plan: &FusionPlan,
    fused: &[FusedKernel],
    batches: &[BatchKernel],
) -> Vec<(LaunchId, HandedOn)> {
    let of_groups = fused.iter().flat_map(|kernel| {
        let own = kernel.handed_on.iter();
        let group = plan.groups.get(kernel.group);
        let members = group.map_or(&[][..], |group| &group.members);
        own.map(move |each| (members[each.member].launch, each.clone()))
    });
    let of_batches = batches.iter().flat_map(|batch| {
        let members = batch.statements.first().map(|site| &site.members);
        let own = batch.handed_on.iter();
        own.filter_map(move |each| Some((members?.get(each.member)?.launch, each.clone())))
    });
    let mut all: Vec<(LaunchId, HandedOn)> = of_batches.collect();
    for (launch, own) in of_groups {
        let is_it =
            |(other, its): &(LaunchId, HandedOn)| (*other, its.argument) == (launch, own.argument);
        if !all.iter().any(is_it) {
            all.push((launch, own));
        }
    }
    all.sort_by_key(|(launch, own)| (*launch, own.argument));
    all
}

/// Builds `output`, a program, shared library or object file, from `program` under a plan and with
/// the images of its units. The last images are those of the plan's groups and batches, or why they could not be made;
/// `None` when there are no groups.
///
/// # Errors
/// A tool failed, a file could not be written, or an internal error that leaves no program at all.
pub fn emit(
    program: &Program<'_>,
    (graph, models, plan): (&LaunchGraph, &[KernelModel], &VerifiedPlan),
    (units, fused): (UnitImages, Option<Result<FusedImage, CodegenError>>),
    bench: &Workbench<'_>,
    output: &Path,
) -> Result<Emitted, CodegenError> {
    let (build, toolchain, folder) = (bench.build, bench.toolchain, bench);
    let mut emitted = Emitted::default();
    let groups = plan.plan().groups.len();
    let fused = fused.map(|fused| {
        fused.and_then(|mut fused| {
            fused.settle()?;
            Ok(fused)
        })
    });
    let (fused, batches, fused_images) = match fused {
        None => (Vec::new(), Vec::new(), Vec::new()),
        Some(Ok(fused)) => {
            emitted.left_out = fused.left_out(groups);
            let FusedImage {
                kernels,
                batches,
                images,
            } = fused;
            (kernels, batches, images)
        }
        Some(Err(error)) => {
            emitted.fusion_failed = Some(error.to_string());
            emitted.left_out = (0..groups).collect();
            (Vec::new(), Vec::new(), Vec::new())
        }
    };
    emitted.unwritten = fused
        .iter()
        .filter(|kernel| kernel.group < groups)
        .map(|kernel| (kernel.group, kernel.unwritten.clone()))
        .collect();
    emitted.handed_on = handed_on(plan.plan(), &fused, &batches);

    let on_cpu = build.device == Device::Cpu;
    let [launch_function, cooperative_launch, driver_function] =
        match build.per_thread_default_stream {
            true => [
                "cudaLaunchKernel_ptsz",
                "cudaLaunchCooperativeKernel_ptsz",
                "cuLaunchKernel_ptsz",
            ],
            false => [
                "cudaLaunchKernel",
                "cudaLaunchCooperativeKernel",
                "cuLaunchKernel",
            ],
        };
    let mut launcher = Launcher {
        launch_function,
        cooperative_launch,
        driver_launch: DriverLaunch {
            function: driver_function,
            takes_stub: false,
        },
        announce_site: on_cpu.then_some("__sirius_launch_site"),
        announce_successor: on_cpu.then_some("__sirius_overlap_follows"),
        announce_side: on_cpu,
    };
    if build.sirius.tuning.timed {
        launcher = link_timer(program, graph, (build, toolchain), launcher, folder.path())?;
    }
    let updated = chains_in_use(program, graph, plan.plan(), &fused);
    if !updated.is_empty() && !build.sirius.tuning.timed {
        let place = (build, toolchain);
        launcher = link_graph_updates(program, &updated, place, launcher, folder.path())?;
    }
    let reservations = Reservations::new(plan.plan(), &fused, build.device);
    emitted.reserved = reservations.buffers().collect();
    reservations.redirect(program, graph, (build, toolchain), folder.path())?;
    add_fused_keys(program, &fused, &batches);
    if !batches.is_empty() {
        link_queue(program, build, toolchain, &launcher, folder.path())?;
    }
    let runs_ahead = |kernel: &FusedKernel| {
        let group = plan.plan().groups.get(kernel.group);
        group.is_some_and(|group| group.tested_loop.is_some())
    };
    if fused.iter().any(runs_ahead) {
        link_tested_loops(program, (build, toolchain), &launcher, folder.path())?;
    }
    if !fused.is_empty() || !batches.is_empty() {
        link_tables(program, graph, build, toolchain, folder.path())?;
    }
    let kernels = (fused.as_slice(), batches.as_slice(), &reservations);
    rewrite_launches(program, graph, models, plan, kernels, &launcher)?;
    define_launch_functions(program, &launcher)?;
    settle_chains(program, &updated);
    embed_unit_images(program, &units.images)?;
    register_fused_images(program, &fused_images, &fused, &batches)?;
    program
        .host
        .verify()
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;

    // Images are made at the same time.
    let (mut objects, said) = compile_host_in_parts(
        &program.host,
        (build, toolchain),
        folder.path(),
        bench.keeps(),
    )?;
    let registers = program
        .units
        .iter()
        .map(|unit| !unit.image_global.is_empty());
    let registers = registers.chain(fused_images.iter().map(|_| true));
    let registers: Vec<bool> = registers.collect();
    let fused_images = fused_images.into_iter().map(|image| image.image);
    for (image, registered) in units.images.into_iter().chain(fused_images).zip(registers) {
        let symbol = image.symbol().to_owned();
        let image = image.wait()?;
        emitted.messages.push_str(&image.messages);
        // Nothing asks for the fat binary of a source without kernels and device variables.
        if registered || build.device == Device::Cpu {
            objects.extend(image_objects(image.image, &symbol, folder.path())?);
        }
    }
    emitted.messages.push_str(&said);
    // A link leaves the object of its source, as it does with nvcc; what it was given as an object stays as it is.
    let compiles = build.inputs.iter().all(|input| input.bitcode.is_none());
    if let (true, Phase::Link, [_], true) =
        (bench.keeps(), build.phase, &program.units[..], compiles)
    {
        let kept = folder
            .path()
            .join(format!("{}.o", bench.stem_of(program, 0)));
        join_objects(build, toolchain, &objects, &kept)?;
    }
    if matches!(build.phase, Phase::Compile | Phase::DeviceLink) {
        join_objects(build, toolchain, &objects, output)?;
    } else {
        let said = link(build, toolchain, &objects, output)?;
        // What the linker says it says again.
        if said.is_empty() && build.inputs.iter().any(|input| input.bitcode.is_some()) {
            let read = objects.iter().map(std::fs::read).collect::<Result<_, _>>();
            emitted.objects = read.unwrap_or_default();
        }
        emitted.messages.push_str(&said);
    }
    bench.finish()?;
    Ok(emitted)
}

/// The host side of a program alone, as clang made it, as an object file. Returns what clang said.
///
/// # Errors
/// A tool failed, or a file could not be written.
pub fn emit_host_only(
    program: &Program<'_>,
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
) -> Result<String, CodegenError> {
    let bench = Workbench::new(build, toolchain)?;
    let said = compile_host(&program.host, build, toolchain, bench.path(), output)?;
    bench.finish()?;
    Ok(said)
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
    let folder = Workbench::new(build, toolchain)?;
    let unit = program.units.first().ok_or(CodegenError::NoDeviceCode)?;
    let code = DeviceCode::of(unit);
    code.optimise(build)?;
    let module = &code.oldest;
    let architecture = build.oldest_target();
    let stem = folder.stem_of(program, 0);
    let (bytes, messages) = match build.phase {
        // Relocatable code is not whole before it is linked.
        _ if build.device == Device::Cpu && !build.relocatable => {
            (emit_loadable(program, module, &folder)?, String::new())
        }
        Phase::Ptx => (
            emit_ptx(module, architecture, build, toolchain)?.into_bytes(),
            String::new(),
        ),
        Phase::Cubin => {
            let ptx = emit_ptx(module, architecture, build, toolchain)?;
            let place = folder.path();
            let made = assemble(&ptx, architecture, build, toolchain, place, &stem)?;
            let bytes = std::fs::read(&made.cubin);
            (
                bytes.map_err(CodegenError::write(&made.cubin))?,
                made.messages,
            )
        }
        _ => {
            let packed = emit_fatbin(&code, build, toolchain, folder.path(), &stem)?;
            match packed.image {
                DeviceImage::Fatbin(bytes) => (bytes, packed.messages),
                DeviceImage::CpuObjects { .. } => return Err(CodegenError::NoDeviceCode),
            }
        }
    };
    if output == Path::new("-") {
        std::io::stdout()
            .write_all(&bytes)
            .map_err(CodegenError::write(Path::new("standard output")))?;
    } else {
        write_whole(output, &bytes).map_err(CodegenError::write(output))?;
    }
    folder.finish()?;
    Ok(messages)
}

/// Links objects and libraries only: `made` (the contents of objects that [`emit`] made), and those of the
/// build. Returns what the linker said.
///
/// # Errors
/// As [`emit`].
pub fn link_objects(
    made: &[Vec<u8>],
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
) -> Result<String, CodegenError> {
    let bench = Workbench::new(build, toolchain)?;
    let mut objects = Vec::new();
    for (index, contents) in made.iter().enumerate() {
        let path = bench.path().join(format!("made{index}.o"));
        std::fs::write(&path, contents).map_err(CodegenError::write(&path))?;
        objects.push(path);
    }
    let said = link(build, toolchain, &objects, output)?;
    bench.finish()?;
    Ok(said)
}
