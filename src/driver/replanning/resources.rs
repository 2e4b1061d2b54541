//! ptxas is asked what fused kernels need, and groups that ask too much are cut or taken apart.
//!
//! On the CUDA device this looks at the very images that are linked, so that it costs nothing where
//! nothing is refused. On the CPU device there are no registers to run out of: it is done there only
//! for those who name an architecture (`-arch`, `-gencode`) and have ptxas, so that both devices come
//! to the same plan; without that every group is kept. What ptxas cannot assemble decides nothing.

use super::super::refused::plan_of;
use super::super::{Analysis, PipelineError, schedule_options};
use crate::build::{Build, Device};
use crate::codegen::{
    self, CodegenError, FusedImage, FusedKernels, UnitImages, Workbench, emit_units,
};
use crate::program::Program;
use crate::schedule::resources::{GroupOccupancy, GroupUsage, cuts};
use crate::schedule::{FusionGroup, FusionPlan, Missed, Regrouper};
use crate::tools::Toolchain;
use crate::verify::VerifiedPlan;

/// Whether ptxas has a say in this build.
pub(in crate::driver) fn decide(build: &Build, toolchain: &Toolchain) -> bool {
    let wanted = build.device == Device::Cuda || build.architectures_named;
    wanted && toolchain.ptxas.is_some() && !build.device_debug
}

/// Judges the plan by images that are made for this alone: the program is built for another device, or
/// not at all. Returns the kernels of the plan, too, where they were built for that.
///
/// # Errors
/// As [`judge_images`].
pub(in crate::driver) fn judge<'ctx>(
    program: &Program<'ctx>,
    analysis: Analysis,
    build: &Build,
    toolchain: &Toolchain,
) -> Result<(Analysis, Option<FusedKernels<'ctx>>), PipelineError> {
    let build = Build {
        device: Device::Cuda,
        keep_directory: None,
        ..build.clone()
    };
    if analysis.plan.plan().groups.is_empty() || !decide(&build, toolchain) {
        return Ok((analysis, None));
    }
    let bench = Workbench::new(&build, toolchain)?;
    let Ok(mut units) = emit_units(program, &bench) else {
        return Ok((analysis, None));
    };
    let fused = begin(program, &analysis, &build, &bench);
    if units.settle().is_err() {
        return Ok((analysis, None));
    }
    let (analysis, fused) = judge_images(program, analysis, &build, (&bench, &units), fused)?;
    Ok((analysis, fused.ok().map(|(kernels, _)| kernels)))
}

/// The kernels of a plan's groups, and an image of them.
pub(in crate::driver) type Fused<'ctx> = Result<(FusedKernels<'ctx>, FusedImage), CodegenError>;

/// Builds the kernels of a plan's groups, and begins with their image.
pub(in crate::driver) fn begin<'ctx>(
    program: &Program<'ctx>,
    analysis: &Analysis,
    build: &Build,
    bench: &Workbench<'_>,
) -> Fused<'ctx> {
    let (graph, models, plan) = (&analysis.graph, &analysis.models, &analysis.plan);
    let kernels = FusedKernels::build(program, graph, models, plan, build)?;
    let image = kernels.emit(bench)?;
    Ok((kernels, image))
}

/// The image of the plan's groups, after those that ask too much were cut or taken out of the plan. The images
/// of units are made, that of the groups as planned is begun.
///
/// # Errors
/// Only bugs of ours: a part of a plan is refused by the verifier.
pub(in crate::driver) fn judge_images<'ctx>(
    program: &Program<'ctx>,
    mut analysis: Analysis,
    build: &Build,
    (bench, units): (&Workbench<'_>, &UnitImages),
    begun: Fused<'ctx>,
) -> Result<(Analysis, Fused<'ctx>), PipelineError> {
    let mut fused = settled(begun);
    let Some(figures) = figures(program, &analysis, units, &fused) else {
        return Ok((analysis, fused));
    };
    let (kept, refused) = sort_out(&analysis.plan.plan().groups, &figures);
    if !refused.is_empty() {
        let (parts, missed) = take_apart(program, &analysis, refused, build, bench, units);
        analysis.missed.extend(missed);
        analysis.missed.sort_by_key(|missed| missed.source);
        analysis.replan(kept, parts)?;
        fused = settled(begin(program, &analysis, build, bench));
    }
    if let Some(figures) = self::figures(program, &analysis, units, &fused) {
        let groups = analysis.plan.plan().groups.iter();
        analysis.occupancy = groups
            .zip(figures)
            .map(|(group, figures)| (group.members[0].launch, figures))
            .collect();
    }
    Ok((analysis, fused))
}

fn settled(begun: Fused<'_>) -> Fused<'_> {
    let (kernels, mut image) = begun?;
    image.settle()?;
    Ok((kernels, image))
}

/// Groups that pass, and those that do not with the reason.
fn sort_out(
    groups: &[FusionGroup],
    figures: &[Vec<GroupOccupancy>],
) -> (Vec<FusionGroup>, Vec<(FusionGroup, String)>) {
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for (group, figures) in groups.iter().zip(figures) {
        match figures.iter().find_map(GroupOccupancy::refusal) {
            None => kept.push(group.clone()),
            Some(message) => refused.push((group.clone(), message)),
        }
    }
    (kept, refused)
}

/// For each group of the plan its figures on each architecture.
fn figures(
    program: &Program<'_>,
    analysis: &Analysis,
    units: &UnitImages,
    fused: &Fused<'_>,
) -> Option<Vec<Vec<GroupOccupancy>>> {
    let plan = analysis.plan.plan();
    let (_, image) = fused.as_ref().ok()?;
    let usage = image.usage(program, &analysis.graph, plan, units);
    Some(occupancy(analysis, plan, &usage))
}

fn occupancy(
    analysis: &Analysis,
    plan: &FusionPlan,
    usage: &[Vec<GroupUsage>],
) -> Vec<Vec<GroupOccupancy>> {
    let (graph, models) = (&analysis.graph, &analysis.models);
    let of_group = |(group, usage): (&FusionGroup, &Vec<GroupUsage>)| {
        let usage = usage.iter();
        usage
            .filter_map(|usage| GroupOccupancy::new(graph, models, group, usage))
            .collect()
    };
    plan.groups.iter().zip(usage).map(of_group).collect()
}

/// Cuts refused groups until their parts pass; what does not pass in [`MOST_ROUNDS`] runs unfused.
fn take_apart(
    program: &Program<'_>,
    analysis: &Analysis,
    mut refused: Vec<(FusionGroup, String)>,
    build: &Build,
    bench: &Workbench<'_>,
    units: &UnitImages,
) -> (Vec<FusionGroup>, Vec<Missed>) {
    let (graph, models) = (&analysis.graph, &analysis.models);
    let options = schedule_options(build, bench.toolchain());
    let mut regrouper = Regrouper::new(graph, models, &analysis.dependences, &options);
    let mut parts = Vec::new();
    let mut missed = Vec::new();
    for _ in 0..MOST_ROUNDS {
        // All parts of all groups go through ptxas together.
        let mut candidates = FusionPlan::default();
        let mut trials: Vec<Vec<Trial>> = Vec::new();
        for (group, _) in &refused {
            let count = group.members.len();
            let mut of_group = Vec::new();
            for position in cuts(count) {
                let ranges = [0..position, position..count];
                let sides = ranges.map(|range| match range.len() {
                    1 => Some(None),
                    _ => regrouper.part(group, range).map(Some),
                });
                if let [Some(first), Some(second)] = sides {
                    let sides = [first, second].map(|side| {
                        side.map(|part| {
                            candidates.groups.push(part);
                            candidates.groups.len() - 1
                        })
                    });
                    of_group.push(Trial { position, sides });
                }
            }
            trials.push(of_group);
        }
        let tried = match candidates.groups.is_empty() {
            true => Ok(Vec::new()),
            false => codegen::try_candidates(program, graph, models, &candidates, units, bench),
        };
        let Ok(usage) = tried else { break };
        let verdicts: Vec<Option<String>> = occupancy(analysis, &candidates, &usage)
            .iter()
            .map(|figures| figures.iter().find_map(GroupOccupancy::refusal))
            .collect();
        let mut again = Vec::new();
        for ((group, message), trials) in refused.into_iter().zip(trials) {
            let Some(trial) = Trial::best(&trials, &candidates, &verdicts) else {
                missed.extend(all_cuts(&regrouper, &group, &message));
                continue;
            };
            missed.extend(regrouper.cut(&group, trial.position, &message));
            for side in trial.sides.into_iter().flatten() {
                let part = candidates.groups[side].clone();
                match &verdicts[side] {
                    None => parts.push(part),
                    Some(message) => again.push((part, message.clone())),
                }
            }
        }
        refused = again;
        if refused.is_empty() {
            break;
        }
    }
    for (group, message) in &refused {
        missed.extend(all_cuts(&regrouper, group, message));
    }
    (parts, missed)
}

/// Rounds of cutting; each is one more run of ptxas an architecture.
const MOST_ROUNDS: usize = 3;

/// A cut of a group in two.
struct Trial {
    /// The first member of the second part.
    position: usize,
    /// The parts among the candidates; `None` for a launch of its own.
    sides: [Option<usize>; 2],
}

impl Trial {
    /// The cut after which most members run in fused kernels that pass; of equal ones the first.
    fn best<'a>(
        trials: &'a [Self],
        candidates: &FusionPlan,
        verdicts: &[Option<String>],
    ) -> Option<&'a Self> {
        let fused = |trial: &Self| -> usize {
            let sides = trial.sides.iter().flatten();
            let passing = sides.filter(|side| verdicts[**side].is_none());
            passing
                .map(|side| candidates.groups[*side].members.len())
                .sum()
        };
        let mut best: Option<(&Self, usize)> = None;
        for trial in trials {
            let count = fused(trial);
            if best.is_none_or(|(_, most)| count > most) {
                best = Some((trial, count));
            }
        }
        best.filter(|(trial, count)| *count > 0 || trial.sides.iter().any(Option::is_some))
            .map(|(trial, _)| trial)
    }
}

fn all_cuts(regrouper: &Regrouper<'_>, group: &FusionGroup, message: &str) -> Vec<Missed> {
    (1..group.members.len())
        .filter_map(|position| regrouper.cut(group, position, message))
        .collect()
}

impl Analysis {
    /// A plan of groups that were verified before and of parts that were not. Parts that the verifier
    /// refuses are left out.
    fn replan(
        &mut self,
        kept: Vec<FusionGroup>,
        parts: Vec<FusionGroup>,
    ) -> Result<(), PipelineError> {
        let place = |group: &FusionGroup| {
            let first = group.members.first().map(|member| member.launch);
            self.graph.nodes.iter().position(|node| {
                matches!(&node.kind, crate::launch::NodeKind::Launch(launch) if Some(launch.id) == first)
            })
        };
        let mut groups = [kept.clone(), parts].concat();
        groups.sort_by_key(place);
        let plan = self.plan_of(groups).or_else(|| self.plan_of(kept));
        self.plan =
            plan.ok_or_else(|| PipelineError::Bug("the verifier refuses a part of a plan".into()))?;
        Ok(())
    }

    /// A plan of these groups, issued in batches where the present one is; `None` where the verifier
    /// refuses it.
    pub(in crate::driver) fn plan_of(&self, groups: Vec<FusionGroup>) -> Option<VerifiedPlan> {
        let found = (&self.graph, self.models.as_slice(), &self.dependences);
        let regions = &self.plan.plan().batched_regions;
        let in_batches = regions.iter().any(|region| !region.for_graphs);
        // What overlaps depends on the rest of the plan.
        let groups = groups.into_iter();
        let groups = groups.filter(|group| group.overlap.is_none()).collect();
        let plan = plan_of(found, groups, &self.options, in_batches)?;
        Some(self.overlapped(self.waiting_for_graphs(plan)))
    }
}
