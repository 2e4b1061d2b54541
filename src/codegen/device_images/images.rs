//! Device images of a build, and what ptxas says of the kernels in them.
//!
//! Invariant: an image is made once. What decides about resources looks at the images that will be
//! embedded, so that asking costs nothing when nothing is refused.

use super::super::device::{keep_to_module, machine_of, make_final};
use super::super::fuse::{Kernels, Part, Preparation, build_kernels};
use super::super::parts::{KernelImage, begin_images};
use super::super::pending::{DeviceCode, PendingImage};
use super::super::ptx::{Usage, emit_ptx};
use super::super::{BatchKernel, CodegenError, DeviceImage, FusedKernel, FusedParameter};
use crate::build::{Build, Device, Optimisation};
use crate::files::{install, private_folder};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeKind};
use crate::output::tell;
use crate::program::{Program, Unit};
use crate::schedule::FusionPlan;
use crate::schedule::occupancy::KernelUsage;
use crate::schedule::resources::{ASSUMED_ROW_ELEMENTS, GroupUsage};
use crate::stage::Stage;
use crate::tools::Toolchain;
use crate::tune::Figures;
use crate::verify::VerifiedPlan;
use inkwell::module::Module;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;

/// Where a build is made: what is asked, the tools, and the folder of intermediate files, which go to the user's
/// with `-keep`.
pub struct Workbench<'a> {
    pub(in crate::codegen) build: &'a Build,
    pub(in crate::codegen) toolchain: &'a Toolchain,
    folder: tempfile::TempDir,
    /// Where its files go in the end.
    kept: Option<&'a Path>,
    /// Names that images of this build have already.
    taken: RefCell<BTreeSet<String>>,
}

impl<'a> Workbench<'a> {
    /// Makes the folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(build: &'a Build, toolchain: &'a Toolchain) -> Result<Self, CodegenError> {
        let kept = build.keep_directory.as_deref();
        if let Some(kept) = kept {
            std::fs::create_dir_all(kept).map_err(CodegenError::write(kept))?;
        }
        Ok(Self {
            build,
            toolchain,
            folder: private_folder().map_err(CodegenError::write(&std::env::temp_dir()))?,
            kept,
            taken: RefCell::default(),
        })
    }

    /// With `-keep`: puts what was made where the user wants it.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(in crate::codegen) fn finish(&self) -> Result<(), CodegenError> {
        let Some(kept) = self.kept else {
            return Ok(());
        };
        for file in std::fs::read_dir(self.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            if file.path().is_file() {
                let place = kept.join(file.file_name());
                install(&file.path(), &place).map_err(CodegenError::write(&place))?;
            }
        }
        Ok(())
    }

    /// What is asked.
    pub fn build(&self) -> &'a Build {
        self.build
    }

    /// The tools.
    pub fn toolchain(&self) -> &'a Toolchain {
        self.toolchain
    }

    /// Whether its files stay, with `-keep`.
    pub(in crate::codegen) fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    /// What names of a unit's intermediate files begin with: the source's own name where files are kept.
    pub(in crate::codegen) fn stem_of(&self, program: &Program<'_>, unit: usize) -> String {
        let stem = |unit: &Unit<'_>| unit.source.file_stem().map(ToOwned::to_owned);
        let own = stem(&program.units[unit]).filter(|_| self.keeps());
        let others = || program.units.iter().filter(|other| stem(other) == own);
        match &own {
            Some(own) if others().count() == 1 => own.to_string_lossy().into_owned(),
            _ => format!("unit{unit}"),
        }
    }

    /// A name that no other image of this build has: one that is made in vain, since something is planned anew,
    /// may still be written when the next one is begun.
    pub(in crate::codegen) fn own_name(&self, name: &str) -> String {
        let mut taken = self.taken.borrow_mut();
        let names = (2..).map(|number: usize| format!("{name}_{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(names);
        let own = names.find(|name| !taken.contains(name));
        let own = own.unwrap_or_else(|| name.to_owned());
        taken.insert(own.clone());
        own
    }

    /// With `-keep` PTX is there for the CPU device as well, though nothing is made of it.
    fn keep_ptx(&self, module: &Module<'_>, stem: &str) -> Result<(), CodegenError> {
        if !self.keeps() || self.build.device != Device::Cpu {
            return Ok(());
        }
        let copy = module.clone();
        keep_to_module(&copy, self.build.keep_device_functions);
        let target = self.build.oldest_target();
        make_final(&copy, &machine_of(target)?, self.build)?;
        let ptx = emit_ptx(&copy, target, self.build, self.toolchain)?;
        let place = self.path().join(format!("{stem}.ptx"));
        std::fs::write(&place, ptx).map_err(CodegenError::write(&place))
    }

    pub(in crate::codegen) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Workbench<'_> {
    fn drop(&mut self) {
        // What a failed build leaves shows why it failed; that there is no room for it is not the failure.
        let _ = self.finish();
    }
}

/// The images of all translation units, with the kernels as the user wrote them.
pub struct UnitImages {
    /// By unit.
    pub(in crate::codegen) images: Vec<PendingImage>,
}

impl UnitImages {
    /// Waits until all are made.
    ///
    /// # Errors
    /// As [`emit_units`].
    pub fn settle(&mut self) -> Result<(), CodegenError> {
        self.images.iter_mut().try_for_each(PendingImage::settle)
    }

    /// What the kernel of a launch needs on an architecture, once images are made.
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
        let unit = self.images.get(kernel.unit)?.usage()?.get(&architecture)?;
        unit.get(&kernel.name).copied()
    }
}

/// The images of a plan's kernels.
pub struct FusedImage {
    pub(in crate::codegen) kernels: Vec<FusedKernel>,
    pub(in crate::codegen) batches: Vec<BatchKernel>,
    /// Those of groups' kernels, and those of batches'.
    pub(in crate::codegen) images: Vec<KernelImage>,
}

/// Emits every unit's own image.
///
/// # Errors
/// A tool failed, or an internal error.
pub fn emit_units(
    program: &Program<'_>,
    bench: &Workbench<'_>,
) -> Result<UnitImages, CodegenError> {
    let mut units = UnitImages { images: Vec::new() };
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
        let image = PendingImage::begin(&code, &managed, bench, (&name, &stem))?;
        units.images.push(image);
    }
    Ok(units)
}

/// The fused kernels of a plan's groups in device IR, for any device.
pub struct FusedKernels<'ctx> {
    preparation: Preparation<'ctx>,
    groups: Kernels<'ctx>,
}

impl<'ctx> FusedKernels<'ctx> {
    /// Builds the fused kernels of a plan's groups.
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
        let (plan, own_reads) = (plan.plan(), plan.own_reads());
        let known = (plan, own_reads);
        let preparation = Preparation::of(program, graph, models, known, optimisations)?;
        let part = Part::Groups;
        let figures = Figures::of_gpu(build);
        let known = (plan, optimisations, figures);
        let groups = build_kernels(program, &preparation, part, models, known)?;
        save(&groups, build, "device.fused.ll")?;
        Ok(Self {
            preparation,
            groups,
        })
    }

    /// Makes an image of them for the device that is built for.
    ///
    /// # Errors
    /// As [`emit_units`].
    pub fn emit(&self, bench: &Workbench<'_>) -> Result<FusedImage, CodegenError> {
        Ok(FusedImage {
            kernels: self.groups.groups.clone(),
            batches: self.groups.batches.clone(),
            images: begin_images(&self.groups.module, Part::Groups, bench)?,
        })
    }

    /// Adds an image of the kernels that run the plan's batches, which are built for that.
    ///
    /// # Errors
    /// As [`Self::build`] and [`Self::emit`].
    pub fn emit_batches(
        &self,
        program: &Program<'ctx>,
        models: &[KernelModel],
        plan: &VerifiedPlan,
        bench: &Workbench<'_>,
        image: &mut FusedImage,
    ) -> Result<(), CodegenError> {
        let (plan, build) = (plan.plan(), bench.build);
        if plan.batched_regions.is_empty() {
            return Ok(());
        }
        let (preparation, part) = (&self.preparation, Part::Batches);
        let mut optimisations = build.sirius.optimisations.clone();
        if build.sirius.tuning.timed {
            // What a launch takes is noted for one site.
            optimisations.remove(&Optimisation::HeterogeneousBatches);
        }
        let known = (plan, &optimisations, Figures::of_gpu(build));
        let kernels = build_kernels(program, preparation, part, models, known)?;
        save(&kernels, build, "device.batches.ll")?;
        if !kernels.batches.is_empty() {
            let made = begin_images(&kernels.module, Part::Batches, bench)?;
            image.images.extend(made);
            image.batches.extend(kernels.batches);
        }
        // A group that is only right where the queue runs it needs the kernel for that.
        let queued: BTreeSet<usize> = image
            .batches
            .iter()
            .flat_map(|batch| &batch.statements)
            .filter_map(|statement| statement.group)
            .collect();
        let statements = plan
            .batched_regions
            .iter()
            .flat_map(|region| &region.statements);
        let bound: BTreeSet<LaunchId> = statements
            .filter(|statement| statement.must_replace)
            .map(|statement| statement.launch)
            .collect();
        let with_fallbacks = plan.with_fallbacks();
        image.kernels.retain(|kernel| {
            let last = with_fallbacks[kernel.group].members.last();
            queued.contains(&kernel.group) || !last.is_some_and(|last| bound.contains(&last.launch))
        });
        Ok(())
    }
}

/// Writes kernels where `SIRIUS_SAVE_DIR` says, and to standard error for `--sirius-dump=codegen`.
fn save(kernels: &Kernels<'_>, build: &Build, name: &str) -> Result<(), CodegenError> {
    if build.sirius.dump.contains(&Stage::Codegen) {
        let text = kernels.module.to_string();
        tell(format_args!(
            "; {}: {name}\n{text}\n",
            Stage::Codegen.name()
        ));
    }
    let Some(folder) = &build.sirius.save_directory else {
        return Ok(());
    };
    let place = folder.join(name);
    let saved = kernels.module.print_to_file(&place);
    saved.map_err(|message| {
        let error = std::io::Error::other(message.to_string());
        CodegenError::Write { path: place, error }
    })
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
    let unknown = (candidates, &BTreeMap::new());
    let preparation = Preparation::of(program, graph, models, unknown, optimisations)?;
    let known = (candidates, optimisations, Figures::of_gpu(bench.build));
    let kernels = build_kernels(program, &preparation, Part::Groups, models, known)?;
    let code = DeviceCode::for_all(kernels.module);
    let image = PendingImage::begin(&code, &[], bench, ("candidates", "candidates"))?;
    let emitted = image.wait()?;
    Ok(group_usage(
        program,
        graph,
        candidates,
        units,
        &kernels.groups,
        &emitted.usage,
    ))
}

impl FusedImage {
    /// Which of so many groups of the plan have no kernel in it.
    pub fn left_out(&self, groups: usize) -> Vec<usize> {
        let has_kernel = |group: &usize| self.kernels.iter().any(|kernel| kernel.group == *group);
        (0..groups).filter(|group| !has_kernel(group)).collect()
    }

    /// For each group of the plan and of its fallbacks, what its fused kernel and its members need, by architecture; empty
    /// for a group that was left out, and on the CPU device.
    pub fn usage(
        &self,
        program: &Program<'_>,
        graph: &LaunchGraph,
        plan: &FusionPlan,
        units: &UnitImages,
    ) -> Vec<Vec<GroupUsage>> {
        let mut usage = Usage::new();
        let of_groups = self
            .images
            .iter()
            .filter(|image| image.part == Part::Groups);
        for (architecture, kernels) in of_groups.filter_map(|image| image.image.usage()).flatten() {
            let all = usage.entry(*architecture).or_default();
            all.extend(kernels.iter().map(|(name, usage)| (name.clone(), *usage)));
        }
        group_usage(program, graph, plan, units, &self.kernels, &usage)
    }

    /// Waits until all are made.
    ///
    /// # Errors
    /// As [`emit_units`].
    pub fn settle(&mut self) -> Result<(), CodegenError> {
        let mut images = self.images.iter_mut();
        images.try_for_each(|image| image.image.settle())
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
    let with_fallbacks = plan.with_fallbacks();
    let mut usage = vec![Vec::new(); with_fallbacks.len()];
    for kernel in kernels {
        let group = with_fallbacks[kernel.group];
        for (architecture, kernels) in fused {
            // A set or a copy is no kernel that a unit's image has.
            let usage_of = |launch| match graph.operation_of(launch) {
                Some(_) => Some(None),
                None => units.usage(program, graph, launch, *architecture).map(Some),
            };
            let members = group.members.iter();
            let members = members.map(|member| usage_of(member.launch));
            let fused = kernels.get(&kernel.name).copied();
            if let (Some(fused), Some(members)) = (fused, members.collect()) {
                usage[kernel.group].push(GroupUsage {
                    architecture: *architecture,
                    fused,
                    promoted_bytes: promoted_bytes(graph, kernel),
                    members,
                });
            }
        }
    }
    usage
}

/// Bytes of dynamic shared memory that a launch brings along for the rows that a kernel keeps.
fn promoted_bytes(graph: &LaunchGraph, kernel: &FusedKernel) -> u64 {
    let Some(rows) = &kernel.promoted else {
        return 0;
    };
    let known = |parameter: &FusedParameter| {
        let (launch, argument) = parameter.argument()?;
        let mut launches = graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Launch(found) if found.id == launch => Some(found),
            _ => None,
        });
        let mut pieces = launches.next()?.arguments.get(argument)?.pieces.iter();
        let begin = parameter.begin_in_argument();
        let piece = pieces.find(|piece| piece.offset_bytes == begin && piece.bits == rows.bits)?;
        graph.values.get(piece.value.0)?.constant
    };
    let elements = kernel.parameters.get(rows.parameter).and_then(known);
    let known = elements.map(|elements| u64::try_from(elements).unwrap_or(0));
    let elements = known.unwrap_or(ASSUMED_ROW_ELEMENTS.min(rows.most_elements));
    // Longer rows stay where they are.
    match elements <= rows.most_elements {
        true => rows.behind_bytes + elements * rows.element_bytes,
        false => 0,
    }
}

/// The image of one module that is no part of a program.
///
/// # Errors
/// As [`emit_units`].
pub(in crate::codegen) fn emit_whole_image(
    module: &Module<'_>,
    managed: &[String],
    bench: &Workbench<'_>,
) -> Result<DeviceImage, CodegenError> {
    let code = DeviceCode::for_all(module.clone());
    let names = ("module", "module");
    Ok(PendingImage::begin(&code, managed, bench, names)?
        .wait()?
        .image)
}
