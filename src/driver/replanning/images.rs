//! What is made of a plan's groups: their kernels, and images of them.
//!
//! On the CUDA device ptxas judges the very images that are linked, so that it costs nothing where nothing is refused.
//! On the CPU device there are no registers to run out of: images are made for ptxas there only for those who name an
//! architecture (`-arch`, `-gencode`) and have it, so that both devices come to the same plan; without that every
//! group is kept. What ptxas cannot assemble decides nothing.
//!
//! Invariant: what is kept was made of the plan at hand; [`Images::forget`] takes it away with the plan.

use super::super::facts::{Analysis, Facts};
use super::super::outcome::PipelineError;
use super::super::session::Session;
use super::Emittable;
use super::resources::occupancy;
use crate::build::{Build, Device};
use crate::codegen::{CodegenError, FusedImage, FusedKernels, UnitImages, Workbench, emit_units};
use crate::program::Program;
use crate::schedule::resources::GroupOccupancy;

/// The kernels of a plan's groups, and an image of them.
type Fused<'ctx> = Result<(FusedKernels<'ctx>, FusedImage), CodegenError>;

/// Where images are made, those of the sources, and those of a plan's groups.
pub(in crate::driver) struct Made<'a, 'ctx> {
    pub(in crate::driver) bench: &'a Workbench<'a>,
    pub(super) units: UnitImages,
    groups: Option<Fused<'ctx>>,
}

/// The images of a build.
pub(super) struct Images<'a, 'ctx> {
    /// Those that are linked; none where nothing is built.
    linked: Option<Made<'a, 'ctx>>,
    /// Those that are made for ptxas alone.
    for_ptxas: Option<Made<'a, 'ctx>>,
    /// Whether ptxas has a say in this build.
    decides: bool,
    /// Whether the plan has anything of which kernels are made.
    has_kernels: bool,
    /// Whether ptxas has a say about the plan.
    is_judged: bool,
    /// Whether all was made that is linked.
    is_finished: bool,
    /// The image of groups and batches.
    fused: Option<Result<FusedImage, CodegenError>>,
}

/// The build for which images are made that ptxas alone sees; `None` where it has no say, or sees those that are linked.
pub(super) fn build_for_ptxas(
    session: Session<'_>,
    analysis: &Analysis,
    links: bool,
) -> Option<Build> {
    let sees_linked = links && session.build.device == Device::Cuda;
    let is_asked = decides(session) && !sees_linked && !analysis.plan.plan().groups.is_empty();
    is_asked.then(|| Build {
        device: Device::Cuda,
        keep_directory: None,
        ..session.build.clone()
    })
}

/// Whether ptxas has a say in this build.
pub(in crate::driver) fn decides(session: Session<'_>) -> bool {
    let build = session.build;
    let wanted = build.device == Device::Cuda || build.architectures_named;
    wanted && session.toolchain.ptxas.is_some() && build.device_optimised
}

impl<'a, 'ctx> Made<'a, 'ctx> {
    /// With the images of sources alone.
    pub(in crate::driver) fn new(bench: &'a Workbench<'a>, units: UnitImages) -> Self {
        Self {
            bench,
            units,
            groups: None,
        }
    }

    /// The kernels of the plan's groups; their image is begun.
    fn begin(&self, program: &Program<'ctx>, analysis: &Analysis) -> Fused<'ctx> {
        let Facts { graph, models, .. } = &analysis.facts;
        let (plan, build) = (&analysis.plan, self.bench.build());
        let kernels = FusedKernels::build(program, graph, models, plan, build)?;
        let image = kernels.emit(self.bench)?;
        Ok((kernels, image))
    }

    /// Has all images made, once.
    fn settle(&mut self, program: &Program<'ctx>, analysis: &Analysis) -> Result<(), CodegenError> {
        if self.groups.is_none() {
            let begun = self.begin(program, analysis);
            self.units.settle()?;
            self.groups = Some(begun.and_then(|(kernels, mut image)| {
                image.settle()?;
                Ok((kernels, image))
            }));
        }
        Ok(())
    }
}

impl<'a, 'ctx> Images<'a, 'ctx> {
    /// With those that are linked, and the place where those for ptxas alone are made, where these are needed.
    pub(super) fn new(
        program: &Program<'ctx>,
        session: Session<'_>,
        linked: Option<Made<'a, 'ctx>>,
        for_ptxas: Option<&'a Workbench<'a>>,
    ) -> Self {
        let made = |bench| Some(Made::new(bench, emit_units(program, bench).ok()?));
        Self {
            linked,
            for_ptxas: for_ptxas.and_then(made),
            decides: decides(session),
            has_kernels: false,
            is_judged: false,
            is_finished: false,
            fused: None,
        }
    }

    /// Takes away what was made of another plan.
    pub(super) fn forget(&mut self) {
        let made = [&mut self.linked, &mut self.for_ptxas].into_iter();
        made.flatten().for_each(|made| made.groups = None);
        self.fused = None;
        self.is_finished = false;
    }

    /// What ptxas says of each group of the plan on each architecture; `None` where it has no say.
    ///
    /// # Errors
    /// Images of sources that are linked cannot be made.
    pub(super) fn judge(
        &mut self,
        program: &Program<'ctx>,
        analysis: &Analysis,
    ) -> Result<Option<Vec<Vec<GroupOccupancy>>>, PipelineError> {
        let plan = analysis.plan.plan();
        let has_groups = !plan.groups.is_empty();
        self.has_kernels = has_groups || !plan.batched_regions.is_empty();
        let sees_any = self.links_for_gpus() || (self.for_ptxas.is_some() && has_groups);
        self.is_judged = self.decides && self.has_kernels && sees_any;
        self.figures(program, analysis)
    }

    /// The images that ptxas judges.
    pub(super) fn judged(&self) -> Option<&Made<'a, 'ctx>> {
        match self.links_for_gpus() {
            true => self.linked.as_ref(),
            false => self.for_ptxas.as_ref(),
        }
    }

    /// Completes what is linked, and notes what ptxas says of it.
    ///
    /// # Errors
    /// Images of sources cannot be made.
    pub(super) fn finish(
        &mut self,
        program: &Program<'ctx>,
        analysis: &mut Analysis,
    ) -> Result<(), PipelineError> {
        if self.is_finished || !self.has_kernels {
            return Ok(());
        }
        self.is_finished = true;
        if let Some(figures) = self.figures(program, analysis)? {
            let groups = analysis.plan.plan().groups.iter();
            analysis.occupancy = groups
                .zip(figures)
                .filter_map(|(group, figures)| Some((group.members.last()?.launch, figures)))
                .collect();
        }
        let is_cuda = self.links_for_gpus();
        let Some(linked) = &mut self.linked else {
            return Ok(());
        };
        let for_ptxas = self.for_ptxas.as_mut().filter(|_| self.is_judged);
        let judged = for_ptxas.and_then(|made| made.groups.take()?.ok());
        let bench = linked.bench;
        let fused = match (linked.groups.take(), judged) {
            (Some(made), _) => made,
            (None, Some((kernels, _))) => kernels.emit(bench).map(|image| (kernels, image)),
            (None, None) => {
                let begun = linked.begin(program, analysis);
                if is_cuda {
                    linked.units.settle()?;
                }
                begun
            }
        };
        // Batches come last, since they are those of the groups that are left.
        self.fused = Some(fused.and_then(|(kernels, mut image)| {
            let (models, plan) = (&analysis.facts.models, &analysis.plan);
            kernels.emit_batches(program, models, plan, bench, &mut image)?;
            Ok(image)
        }));
        Ok(())
    }

    /// The image of the plan's groups and batches, where it could be made.
    pub(super) fn fused(&self) -> Option<&FusedImage> {
        self.fused.as_ref()?.as_ref().ok()
    }

    /// The images of sources, and that of the plan.
    pub(super) fn take(self) -> Option<Emittable> {
        Some(Emittable {
            units: self.linked?.units,
            fused: self.fused,
        })
    }

    fn links_for_gpus(&self) -> bool {
        let linked = self.linked.as_ref();
        linked.is_some_and(|made| made.bench.build().device == Device::Cuda)
    }

    fn figures(
        &mut self,
        program: &Program<'ctx>,
        analysis: &Analysis,
    ) -> Result<Option<Vec<Vec<GroupOccupancy>>>, PipelineError> {
        if !self.is_judged {
            return Ok(None);
        }
        if self.links_for_gpus() {
            if let Some(linked) = &mut self.linked {
                linked.settle(program, analysis)?;
            }
        } else if let Some(made) = &mut self.for_ptxas
            && made.settle(program, analysis).is_err()
        {
            self.for_ptxas = None;
        }
        let made = self.judged();
        let Some((made, Some(Ok((_, image))))) = made.map(|made| (made, &made.groups)) else {
            return Ok(None);
        };
        let plan = analysis.plan.plan();
        let usage = image.usage(program, &analysis.facts.graph, plan, &made.units);
        Ok(Some(occupancy(analysis, plan, &usage)))
    }
}
