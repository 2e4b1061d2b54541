//! Device images of a build, and what ptxas says of the kernels in them.
//!
//! Invariant: an image is made once. What decides about resources looks at the images that will be
//! embedded, so that asking costs nothing when nothing is refused. Images for the CPU device are made by threads of
//! their own while the compiler goes on; nobody outlives them.

use super::cpu::{CpuImageRequest, CpuImageWork};
use super::device::{device_target_machine, keep_to_module, optimise_device};
use super::fuse::{build_candidates, build_fused_module};
use super::ptx::{Usage, emit_fatbin, emit_ptx};
use super::{CodegenError, DeviceImage, FusedKernel, FusedParameter, WaveKernel};
use crate::cli::{Build, Device, Phase, Target, Toolchain};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeKind};
use crate::program::{Program, Unit, for_target};
use crate::schedule::occupancy::KernelUsage;
use crate::schedule::resources::{ASSUMED_ROW_ELEMENTS, GroupUsage};
use crate::schedule::{FusionGroup, FusionPlan};
use crate::verify::VerifiedPlan;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Where a build is made: what is asked, the tools, and the folder of intermediate files, which is
/// temporary, or the user's with `-keep`.
pub struct Workbench<'a> {
    pub(super) build: &'a Build,
    pub(super) toolchain: &'a Toolchain,
    temporary: Option<tempfile::TempDir>,
    kept: PathBuf,
}

impl<'a> Workbench<'a> {
    /// Makes the folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(build: &'a Build, toolchain: &'a Toolchain) -> Result<Self, CodegenError> {
        if let Some(kept) = &build.keep_directory {
            std::fs::create_dir_all(kept).map_err(|_| CodegenError::Write(kept.clone()))?;
            return Ok(Self {
                build,
                toolchain,
                temporary: None,
                kept: kept.clone(),
            });
        }
        let temporary = tempfile::Builder::new()
            .prefix("sirius-")
            .tempdir()
            .map_err(|_| CodegenError::Write(std::env::temp_dir()))?;
        Ok(Self {
            build,
            toolchain,
            kept: temporary.path().to_owned(),
            temporary: Some(temporary),
        })
    }

    /// The tools.
    pub fn toolchain(&self) -> &'a Toolchain {
        self.toolchain
    }

    /// The folder that stays, with `-keep`.
    pub(super) fn kept(&self) -> Option<&Path> {
        self.temporary.is_none().then_some(self.kept.as_path())
    }

    /// What names of a unit's intermediate files begin with: the source's own name where files are kept.
    pub(super) fn stem_of(&self, program: &Program<'_>, unit: usize) -> String {
        let stem = |unit: &Unit<'_>| unit.source.file_stem().map(ToOwned::to_owned);
        let own = stem(&program.units[unit]).filter(|_| self.kept().is_some());
        let others = || program.units.iter().filter(|other| stem(other) == own);
        match &own {
            Some(own) if others().count() == 1 => own.to_string_lossy().into_owned(),
            _ => format!("unit{unit}"),
        }
    }

    /// With `-keep` PTX is there for the CPU device as well, though nothing is made of it.
    fn keep_ptx(&self, module: &Module<'_>, stem: &str) -> Result<(), CodegenError> {
        let Some(folder) = self.kept().filter(|_| self.build.device == Device::Cpu) else {
            return Ok(());
        };
        let copy = module.clone();
        keep_to_module(&copy, self.build.keep_device_functions);
        let target = self.build.oldest_target();
        optimise_device(&copy, &device_target_machine(&format!("sm_{target}"))?)?;
        let ptx = emit_ptx(&copy, target, self.build, self.toolchain)?;
        let place = folder.join(format!("{stem}.ptx"));
        std::fs::write(&place, ptx).map_err(|_| CodegenError::Write(place))
    }

    pub(super) fn path(&self) -> &Path {
        self.temporary
            .as_ref()
            .map_or(&self.kept, tempfile::TempDir::path)
    }
}

/// The images of all translation units, with the kernels as the user wrote them.
pub struct UnitImages {
    /// By unit.
    pub(super) images: Vec<PendingImage>,
    /// By unit.
    usage: Vec<Usage>,
    /// What the device tools said.
    pub(super) messages: String,
}

impl UnitImages {
    /// What the kernel of a launch needs on an architecture.
    fn usage(
        &self,
        program: &Program<'_>,
        graph: &LaunchGraph,
        launch: LaunchId,
        architecture: u32,
    ) -> Option<KernelUsage> {
        let kernel = graph.nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Launch(found) if found.id == launch => found.kernel,
            _ => None,
        });
        let kernel = program.kernels.get(kernel?.0)?;
        let unit = self.usage.get(kernel.unit)?.get(&architecture)?;
        unit.get(&kernel.name).copied()
    }

    /// The registers of a group's members together, where they have most; `None` where that is not known.
    pub fn registers_together(
        &self,
        program: &Program<'_>,
        graph: &LaunchGraph,
        group: &FusionGroup,
    ) -> Option<u32> {
        let architectures: BTreeSet<u32> = self
            .usage
            .iter()
            .flat_map(BTreeMap::keys)
            .copied()
            .collect();
        let on = |architecture: u32| -> Option<u32> {
            let members = group.members.iter();
            let usage =
                members.map(|member| self.usage(program, graph, member.launch, architecture));
            usage.map(|usage| Some(usage?.registers)).sum()
        };
        let each: Option<Vec<u32>> = architectures.into_iter().map(on).collect();
        each?.into_iter().max()
    }
}

/// The image of a plan's fused kernels.
pub struct FusedImage {
    pub(super) kernels: Vec<FusedKernel>,
    pub(super) waves: Vec<WaveKernel>,
    pub(super) image: PendingImage,
    usage: Usage,
    pub(super) messages: String,
}

/// An image that is there, or that a thread is making.
pub(super) struct PendingImage(Option<Making>);

enum Making {
    Made(DeviceImage),
    Thread(JoinHandle<Result<DeviceImage, CodegenError>>),
}

impl PendingImage {
    /// Waits for the image.
    ///
    /// # Errors
    /// As [`CpuImageWork::emit`].
    pub(super) fn wait(mut self) -> Result<DeviceImage, CodegenError> {
        match self.0.take() {
            Some(Making::Made(image)) => Ok(image),
            Some(Making::Thread(thread)) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => Err(CodegenError::Inconsistent("an image is gone".to_owned())),
        }
    }

    /// As [`Self::wait`], with the image kept for later.
    pub(super) fn settle(&mut self) -> Result<(), CodegenError> {
        let image = Self(self.0.take()).wait()?;
        self.0 = Some(Making::Made(image));
        Ok(())
    }
}

/// Nothing is left behind of an image that nobody wants any more.
impl Drop for PendingImage {
    fn drop(&mut self) {
        if let Some(Making::Thread(thread)) = self.0.take() {
            let _ = thread.join();
        }
    }
}

/// Emits every unit's own image.
///
/// # Errors
/// A tool failed, or an internal error.
pub fn emit_units(
    program: &Program<'_>,
    bench: &Workbench<'_>,
) -> Result<UnitImages, CodegenError> {
    let mut units = UnitImages {
        images: Vec::new(),
        usage: Vec::new(),
        messages: String::new(),
    };
    let at_once = std::thread::available_parallelism().map_or(1, NonZero::get);
    for (index, unit) in program.units.iter().enumerate() {
        if let Some(earlier) = index.checked_sub(at_once) {
            units.images[earlier].settle()?;
        }
        let managed: Vec<String> = program
            .variables
            .iter()
            .filter(|variable| variable.unit == index && variable.managed)
            .map(|variable| variable.name.clone())
            .collect();
        let name = format!("unit{index}");
        let stem = bench.stem_of(program, index);
        let code = DeviceCode::of(unit);
        bench.keep_ptx(&code.oldest, &stem)?;
        let emitted = emit_image(&code, &managed, bench, (&name, &stem))?;
        units.images.push(emitted.image);
        units.usage.push(emitted.usage);
        units.messages.push_str(&emitted.messages);
    }
    Ok(units)
}

/// The fused kernels of a plan in device IR, for any device.
pub struct FusedKernels<'ctx> {
    module: Module<'ctx>,
    kernels: Vec<FusedKernel>,
    waves: Vec<WaveKernel>,
}

impl<'ctx> FusedKernels<'ctx> {
    /// Builds the fused kernels of a plan.
    ///
    /// # Errors
    /// An internal error, or `SIRIUS_SAVE_DIR` cannot be written to.
    pub fn build(
        program: &Program<'ctx>,
        graph: &LaunchGraph,
        models: &[KernelModel],
        plan: &VerifiedPlan,
        build: &Build,
    ) -> Result<Self, CodegenError> {
        let optimisations = &build.sirius.optimisations;
        let (module, kernels, waves) =
            build_fused_module(program, graph, models, plan, optimisations)?;
        if let Some(folder) = &build.sirius.save_directory {
            let place = folder.join("device.fused.ll");
            module
                .print_to_file(&place)
                .map_err(|_| CodegenError::Write(place))?;
        }
        Ok(Self {
            module,
            kernels,
            waves,
        })
    }

    /// Makes an image of them for the device that is built for.
    ///
    /// # Errors
    /// As [`emit_units`].
    pub fn emit(&self, bench: &Workbench<'_>) -> Result<FusedImage, CodegenError> {
        // Kernels that differ between architectures are in no group.
        let code = DeviceCode::for_all(self.module.clone());
        let emitted = emit_image(&code, &[], bench, ("fused", "fused"))?;
        Ok(FusedImage {
            kernels: self.kernels.clone(),
            waves: self.waves.clone(),
            image: emitted.image,
            usage: emitted.usage,
            messages: emitted.messages,
        })
    }
}

/// What the kernels of groups that nobody has verified would need: one run of ptxas an architecture
/// for all of them. Nothing of what is built for it is ever run.
///
/// # Errors
/// As [`emit_units`].
pub fn try_candidates(
    program: &Program<'_>,
    graph: &LaunchGraph,
    models: &[KernelModel],
    candidates: &FusionPlan,
    units: &UnitImages,
    bench: &Workbench<'_>,
) -> Result<Vec<Vec<GroupUsage>>, CodegenError> {
    let optimisations = &bench.build.sirius.optimisations;
    let (module, kernels) = build_candidates(program, graph, models, candidates, optimisations)?;
    let code = DeviceCode::for_all(module);
    let emitted = emit_image(&code, &[], bench, ("candidates", "candidates"))?;
    Ok(group_usage(
        program,
        graph,
        candidates,
        units,
        &kernels,
        &emitted.usage,
    ))
}

impl FusedImage {
    /// Which of so many groups of the plan have no kernel in it.
    pub fn left_out(&self, groups: usize) -> Vec<usize> {
        let has_kernel = |group: &usize| self.kernels.iter().any(|kernel| kernel.group == *group);
        (0..groups).filter(|group| !has_kernel(group)).collect()
    }

    /// For each group of the plan, what its fused kernel and its members need, by architecture; empty
    /// for a group that was left out, and on the CPU device.
    pub fn usage(
        &self,
        program: &Program<'_>,
        graph: &LaunchGraph,
        plan: &FusionPlan,
        units: &UnitImages,
    ) -> Vec<Vec<GroupUsage>> {
        group_usage(program, graph, plan, units, &self.kernels, &self.usage)
    }
}

fn group_usage(
    program: &Program<'_>,
    graph: &LaunchGraph,
    plan: &FusionPlan,
    units: &UnitImages,
    kernels: &[FusedKernel],
    fused: &Usage,
) -> Vec<Vec<GroupUsage>> {
    let mut usage = vec![Vec::new(); plan.groups.len()];
    for kernel in kernels {
        let group = &plan.groups[kernel.group];
        for (architecture, kernels) in fused {
            let members = group.members.iter();
            let members =
                members.map(|member| units.usage(program, graph, member.launch, *architecture));
            let fused = kernels.get(&kernel.name).copied();
            if let (Some(fused), Some(members)) = (fused, members.collect()) {
                usage[kernel.group].push(GroupUsage {
                    architecture: *architecture,
                    fused,
                    staged_bytes: staged_bytes(graph, kernel),
                    members,
                });
            }
        }
    }
    usage
}

/// Bytes of dynamic shared memory that a launch brings along for the rows that a kernel keeps.
fn staged_bytes(graph: &LaunchGraph, kernel: &FusedKernel) -> u64 {
    let Some(rows) = &kernel.staged else {
        return 0;
    };
    let elements = match kernel.parameters.get(rows.parameter) {
        Some(FusedParameter::Argument { launch, argument }) => {
            let mut launches = graph.nodes.iter().filter_map(|node| match &node.kind {
                NodeKind::Launch(found) if found.id == *launch => Some(found),
                _ => None,
            });
            let passed = launches
                .next()
                .and_then(|found| found.arguments.get(*argument));
            let piece = passed.and_then(|passed| passed.pieces.first());
            piece.and_then(|piece| graph.values.get(piece.value.0)?.constant)
        }
        _ => None,
    };
    let known = elements.map(|elements| u64::try_from(elements).unwrap_or(0));
    let elements = known.unwrap_or(ASSUMED_ROW_ELEMENTS.min(rows.most_elements));
    // Longer rows stay where they are.
    match elements <= rows.most_elements {
        true => elements * rows.element_bytes,
        false => 0,
    }
}

/// Device modules of one image: for the oldest architecture, and for newer ones where that is other code.
pub struct DeviceCode<'ctx> {
    pub(super) oldest: Module<'ctx>,
    newer: Vec<(Target, Module<'ctx>)>,
}

impl<'ctx> DeviceCode<'ctx> {
    /// Copies of a unit's modules.
    pub fn of(unit: &Unit<'ctx>) -> Self {
        let newer = unit.newer.iter();
        Self {
            oldest: unit.device.clone(),
            newer: newer
                .map(|(target, module)| (*target, module.clone()))
                .collect(),
        }
    }

    /// One module for all architectures.
    pub fn for_all(module: Module<'ctx>) -> Self {
        Self {
            oldest: module,
            newer: Vec::new(),
        }
    }

    /// Makes each final device IR.
    ///
    /// # Errors
    /// As [`emit_units`].
    pub fn optimise(&self, build: &Build) -> Result<(), CodegenError> {
        let newer = self.newer.iter().map(|(target, module)| (*target, module));
        let oldest = (build.oldest_target(), &self.oldest);
        // Relocatable code is not whole before it is linked.
        let is_file = matches!(build.phase, Phase::Cubin | Phase::Fatbin | Phase::Ptx);
        let is_whole = !(build.relocatable && is_file);
        for (target, module) in [oldest].into_iter().chain(newer) {
            if is_whole {
                keep_to_module(module, build.keep_device_functions);
            }
            optimise_device(module, &device_target_machine(&format!("sm_{target}"))?)?;
        }
        Ok(())
    }

    /// The module for an architecture.
    pub fn module_for(&self, target: Target) -> &Module<'ctx> {
        for_target(&self.oldest, &self.newer, target)
    }
}

struct Emitted {
    image: PendingImage,
    usage: Usage,
    messages: String,
}

/// The image of one module that is no part of a program.
///
/// # Errors
/// As [`emit_units`].
pub(super) fn emit_whole_image(
    module: &Module<'_>,
    managed: &[String],
    bench: &Workbench<'_>,
) -> Result<DeviceImage, CodegenError> {
    let code = DeviceCode::for_all(module.clone());
    emit_image(&code, managed, bench, ("module", "module"))?
        .image
        .wait()
}

/// One device module, or one for each architecture, optimised and emitted under a name in the program and the stem
/// of a file's name, for the device that is built for.
fn emit_image(
    code: &DeviceCode<'_>,
    managed: &[String],
    bench: &Workbench<'_>,
    (name, stem): (&str, &str),
) -> Result<Emitted, CodegenError> {
    let (build, toolchain) = (bench.build, bench.toolchain);
    match build.device {
        Device::Cuda => {
            code.optimise(build)?;
            let packed = emit_fatbin(code, build, toolchain, bench.path(), stem)?;
            Ok(Emitted {
                image: PendingImage(Some(Making::Made(packed.image))),
                usage: packed.usage,
                messages: packed.messages,
            })
        }
        Device::Cpu => {
            let module = &code.oldest;
            keep_to_module(module, build.keep_device_functions);
            optimise_device(module, &device_target_machine(CPU_DEVICE_PROCESSOR)?)?;
            let symbol = format!("sirius_cpu_image_{:016x}_{name}", sources_hash(build));
            let object = bench.path().join(format!("{name}.o"));
            let request = CpuImageRequest {
                symbol,
                architecture: build.oldest_target().number,
                toolkit_version: toolchain.version.0 * 1000 + toolchain.version.1 * 10,
                managed: managed.to_vec(),
                libdevice: toolchain.libdevice.clone(),
                object,
            };
            let work = CpuImageWork::new(module, request);
            let thread = std::thread::spawn(move || work.emit());
            Ok(Emitted {
                image: PendingImage(Some(Making::Thread(thread))),
                usage: Usage::new(),
                messages: String::new(),
            })
        }
    }
}

/// The compute capability that the CPU device reports, 8.0.
const CPU_DEVICE_PROCESSOR: &str = "sm_80";

/// Tells the images of separately compiled objects apart, those of one source with other macros or in another place
/// among them.
fn sources_hash(build: &Build) -> u64 {
    let mut hasher = DefaultHasher::new();
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
