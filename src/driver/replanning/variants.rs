//! Choosing variants of groups: by a file of results, by the cache of verdicts, or by the cost model.
//!
//! Invariant: names that no group has, and variants that the verifier refuses, leave the plan as it was, with a line that
//! says so.

use super::super::facts::{Analysis, Facts};
use super::super::outcome::{Outcome, Tunable};
use super::{Draft, Otherwise, Revision};
use crate::build::{Build, Device, Optimisation, TuneMode};
use crate::codegen::kernel_texts;
use crate::files::{read_regular, write_whole};
use crate::kernel::KernelModel;
use crate::launch::{LaunchGraph, LaunchId, NodeKind};
use crate::planner::Score;
use crate::program::Program;
use crate::schedule::occupancy::Capability;
use crate::schedule::{FusionGroup, FusionPlan, Missed, Regrouper};
use crate::tune::{
    Choice, Evaluated, Figures, Genome, KeyOf, Measurements, Model, Space, Subject, Verdict,
    first_generation, key_of, next_generation, read_verdict,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// The plan with the variants that the command line asks for. For a plan that took the place of another, what was said of
/// that one's variants is taken back.
pub(super) fn revision(
    program: &Program<'_>,
    analysis: &Analysis,
    build: &Build,
    outcome: &mut Outcome,
) -> Option<Revision> {
    let tuning = &build.sirius.tuning;
    let by_file = tuning.results.is_some();
    if tuning.mode == TuneMode::Off && !by_file && !tuning.timed && tuning.choices.is_empty() {
        return None;
    }
    match outcome.before_choices {
        Some(length) => outcome.warnings.truncate(length),
        None => outcome.before_choices = Some(outcome.warnings.len()),
    }
    let subjects = subjects(program, analysis, build);
    let mut choices = tuning.choices.clone();
    if let Some(path) = &tuning.results {
        let told = std::fs::read_to_string(path)
            .map_err(|error| error.to_string())
            .and_then(|text| Measurements::read(&text).map_err(|error| error.to_string()));
        match told {
            Ok(measured) => {
                take_verdicts(measured.verdicts(), &subjects, &mut choices, |strange| {
                    // Planners that know these results may have made other groups for them.
                    if build.sirius.planning.score == Score::Measured {
                        return;
                    }
                    outcome.warnings.push_str(&format!(
                        "sirius-rs: {strange} results in {} fit nothing in this program\n",
                        path.display()
                    ));
                })
            }
            Err(reason) => outcome.warnings.push_str(&format!(
                "sirius-rs: the results in {} are not used: {reason}\n",
                path.display()
            )),
        }
    }
    if tuning.mode == TuneMode::Measure {
        for subject in &subjects {
            if let Some(verdict) = kept_verdict(&subject.key, build)
                && !choices.contains_key(&subject.key)
            {
                choices.insert(subject.key.clone(), verdict.choice);
            }
        }
    }
    let ranks = tuning.timed || tuning.mode == TuneMode::Model;
    let mut tunables = Vec::new();
    for subject in subjects {
        let is_known = choices.contains_key(&subject.key);
        let ranked = match ranks && !is_known {
            true => rank(analysis, &subject, build),
            false => Vec::new(),
        };
        if let (TuneMode::Model, Some(planned)) = (tuning.mode, ranked.first()) {
            let best = ranked.get(1).filter(|best| {
                best.nanoseconds < planned.nanoseconds * (1.0 - LEAST_ESTIMATED_GAIN)
            });
            if let Some(best) = best {
                let name = subject.space.choice(&best.genome).to_string();
                choices.insert(subject.key.clone(), name);
            }
        }
        tunables.push(Tunable {
            subject,
            ranked,
            is_known,
        });
    }
    let revision = made_as_chosen(analysis, &tunables, &choices, outcome);
    outcome.tunables = tunables;
    revision
}

/// What a model estimates has to be better by this part: it is right about differences of this size.
const LEAST_ESTIMATED_GAIN: f64 = 0.1;

/// Takes what verdicts say of subjects, and says how many there are about none, or of variants that are none.
fn take_verdicts(
    verdicts: Vec<Verdict>,
    subjects: &[Subject],
    choices: &mut BTreeMap<String, String>,
    warn: impl FnOnce(String),
) {
    let all = verdicts.len();
    let mut strange = 0;
    for verdict in verdicts {
        match subjects.iter().any(|subject| subject.key == verdict.key) {
            true => drop(choices.entry(verdict.key).or_insert(verdict.choice)),
            false => strange += 1,
        }
    }
    if strange > 0 {
        warn(format!("{strange} of {all}"));
    }
}

/// The key of a group that is tuned by itself.
pub(super) fn group_keys<'a>(
    program: &Program<'_>,
    graph: &'a LaunchGraph,
    models: &'a [KernelModel],
    build: &Build,
) -> KeyOf<'a> {
    let texts = kernel_texts(program);
    let made_for = made_for(build);
    Box::new(move |group| key_of(graph, models, &texts, &[group], &made_for))
}

/// Names the device, its architectures and the options.
fn made_for(build: &Build) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?}",
        build.device,
        build.architectures,
        build.numerics,
        build.maximum_registers,
        build.sirius.optimisations
    )
}

/// What there is to choose for.
fn subjects(program: &Program<'_>, analysis: &Analysis, build: &Build) -> Vec<Subject> {
    let Facts { graph, models, .. } = &analysis.facts;
    let plan = analysis.plan.plan();
    let texts = kernel_texts(program);
    let options = &build.sirius;
    let made_for = made_for(build);
    let key = |groups: &[&FusionGroup]| key_of(graph, models, &texts, groups, &made_for);
    let mut found: Vec<Subject> = Vec::new();
    let mut in_regions = BTreeSet::new();
    for region in &plan.batched_regions {
        let statements: BTreeSet<LaunchId> =
            region.statements.iter().map(|each| each.launch).collect();
        let is_inside = |group: &FusionGroup| {
            let last = group.members.last();
            last.is_some_and(|last| statements.contains(&last.launch))
        };
        let inside: Vec<usize> = (0..plan.groups.len())
            .filter(|index| is_inside(&plan.groups[*index]))
            .collect();
        in_regions.extend(inside.iter().copied());
        let groups: Vec<&FusionGroup> = inside.iter().map(|at| &plan.groups[*at]).collect();
        if groups.iter().all(|group| group.is_cooperative()) {
            continue;
        }
        let mut space = space_of(&groups, models, &analysis.launch_kernels(), build);
        space.unfused = false;
        // Each of them as it was planned.
        space.layouts = vec![AS_PLANNED.to_owned()];
        let sites = sites(&groups).chain(statements.iter().map(|launch| launch.0));
        found.push(Subject {
            key: key(&groups),
            kernels: analysis.kernel_names(groups[0]),
            sites: sites.collect::<BTreeSet<_>>().into_iter().collect(),
            planned: AS_PLANNED.to_owned(),
            groups: inside,
            space,
        });
    }
    for (index, group) in plan.groups.iter().enumerate() {
        let is_fixed = group.members.len() < 2
            || group.tested_loop.is_some()
            || group.last_block.is_some()
            || group.recomputation.is_some();
        if in_regions.contains(&index) || is_fixed {
            continue;
        }
        let key = key(&[group]);
        let same = found.iter_mut().find(|subject| subject.key == key);
        if let Some(subject) = same {
            subject.groups.push(index);
            subject.sites.extend(sites(&[group]));
            continue;
        }
        let mut space = match group.is_cooperative() {
            true => space_of_phases(group, build),
            false => space_of(&[group], models, &analysis.launch_kernels(), build),
        };
        if options.layout != "auto" {
            space.layouts.truncate(1);
        }
        found.push(Subject {
            key,
            kernels: analysis.kernel_names(group),
            sites: sites(&[group]).collect(),
            planned: group.layout.clone(),
            groups: vec![index],
            space,
        });
    }
    found
}

/// The layout of groups that are tuned together and have different ones.
const AS_PLANNED: &str = "planned";

fn sites<'a>(groups: &'a [&FusionGroup]) -> impl Iterator<Item = u32> + 'a {
    let members = groups.iter().flat_map(|group| &group.members);
    members.map(|member| member.launch.0)
}

/// The variants of a group whose blocks wait for each other.
fn space_of_phases(group: &FusionGroup, build: &Build) -> Space {
    Space {
        layouts: vec![group.layout.clone()],
        unfused: build.sirius.max_fusions.is_none(),
        without_grid_barriers: true,
        ..Space::default()
    }
}

/// The variants of groups that have one choice.
fn space_of(
    groups: &[&FusionGroup],
    models: &[KernelModel],
    kernel_of: &HashMap<LaunchId, usize>,
    build: &Build,
) -> Space {
    let first = groups[0];
    let mut layouts = vec![first.layout.clone()];
    let others = first.layouts.iter();
    layouts.extend(others.filter(|name| **name != first.layout).cloned());
    layouts.truncate(MOST_TUNED_LAYOUTS);
    let launches = groups.iter().flat_map(|group| &group.members);
    let kernels = launches.filter_map(|member| models.get(*kernel_of.get(&member.launch)?));
    let kernels: Vec<&KernelModel> = kernels.collect();
    let with_loops = kernels.iter().filter(|model| {
        let mut loops = model.loops.iter();
        loops.any(|each| each.quotient.is_none() && each.unknown.is_none())
    });
    let with_loops = with_loops.count();
    let has_barriers = kernels.iter().any(|model| !model.barriers.is_empty());
    let interleaved = groups.iter().any(|group| {
        let mut segments = group.segments.iter();
        segments.any(|segment| segment.len() > 1)
    });
    let switches = [
        (Optimisation::LoopFusion, with_loops > 1),
        (Optimisation::RowPromotion, with_loops > 0),
        (Optimisation::BufferPromotion, kernels.len() > 1),
        (Optimisation::UniformRecomputation, has_barriers),
        (Optimisation::CodeMotion, interleaved),
    ];
    let on = &build.sirius.optimisations;
    let switches = switches.iter();
    let switches = switches.filter(|(each, useful)| *useful && on.contains(each));
    let architectures = build.architectures.iter();
    let capabilities = architectures.filter_map(|each| Capability::of(each.number));
    let most_threads = capabilities.map(|device| device.threads).min().unwrap_or(0);
    Space {
        layouts,
        unfused: build.sirius.max_fusions.is_none(),
        without_grid_barriers: false,
        without: switches.map(|(each, _)| *each).collect(),
        resident_threads: match build.device {
            Device::Cuda => RESIDENT_THREADS
                .into_iter()
                .filter(|threads| *threads <= most_threads)
                .collect(),
            Device::Cpu => Vec::new(),
        },
        compact: with_loops > 0,
        unrolled: match with_loops > 0 {
            true => UNROLLED.to_vec(),
            false => Vec::new(),
        },
    }
}

/// A group has up to 64.
const MOST_TUNED_LAYOUTS: usize = 24;
/// Of which there are 64 and 32 registers a thread.
const RESIDENT_THREADS: [u32; 2] = [1024, 2048];
/// LLVM by itself unrolls loops of few known iterations, and no others.
const UNROLLED: [u32; 3] = [2, 4, 8];

impl Analysis {
    fn launch_kernels(&self) -> HashMap<LaunchId, usize> {
        let nodes = self.facts.graph.nodes.iter();
        let launches = nodes.filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, launch.kernel?.0)),
            _ => None,
        });
        launches.collect()
    }

    fn kernel_names(&self, group: &FusionGroup) -> Vec<String> {
        let kernels = self.launch_kernels();
        let members = group.members.iter();
        let models = &self.facts.models;
        let models = members.filter_map(|member| models.get(*kernels.get(&member.launch)?));
        models.map(|model| model.display_name.clone()).collect()
    }
}

/// What the model thinks of a subject's variants: all where they are few, else those that a search comes to.
fn rank(analysis: &Analysis, subject: &Subject, build: &Build) -> Vec<Evaluated> {
    let architectures = build.architectures.iter().map(|each| each.number);
    let figures = Figures::of(build.device, architectures.max().unwrap_or(80));
    let Facts {
        graph,
        models,
        dependences,
    } = &analysis.facts;
    let model = Model::new(graph, models, figures);
    let regrouper = Regrouper::new(graph, models, dependences, &analysis.options);
    let groups = &analysis.plan.plan().groups;
    let groups: Vec<&FusionGroup> = subject.groups.iter().map(|at| &groups[*at]).collect();
    let mut placed: BTreeMap<String, Option<Vec<FusionGroup>>> = BTreeMap::new();
    let mut time = |choice: &Choice| -> f64 {
        let (layout, variant) = match choice {
            Choice::Unfused => return groups.iter().map(|group| model.unfused(group)).sum(),
            Choice::WithoutGridBarriers => {
                let groups = groups.iter();
                return groups.map(|group| without_barriers(&model, group)).sum();
            }
            Choice::Fused { layout, variant } => (layout, variant),
        };
        let place = |group: &FusionGroup| match *layout == group.layout || layout == AS_PLANNED {
            true => Some(group.clone()),
            false => regrouper.laid_out(group, layout),
        };
        let placed = placed
            .entry(layout.clone())
            .or_insert_with(|| groups.iter().map(|group| place(group)).collect());
        let Some(placed) = placed else {
            return f64::MAX;
        };
        let each = placed.iter_mut().map(|group| {
            group.variant = variant.clone();
            model.together(group)
        });
        each.sum()
    };
    let mut evaluate = |genome: Genome| {
        let changes = genome[1..].iter().filter(|value| **value != 0).count();
        let estimated = time(&subject.space.choice(&genome));
        Evaluated {
            nanoseconds: estimated * (1.0 + CHANGE * changes as f64),
            genome,
        }
    };
    let sizes = subject.space.sizes();
    let first = first_generation(&sizes, MOST_EVALUATED);
    let mut all: Vec<Evaluated> = first.into_iter().map(&mut evaluate).collect();
    let mut random = StdRng::seed_from_u64(build.sirius.tuning.seed);
    for _ in 0..GENERATIONS {
        if all.len() >= MOST_EVALUATED {
            break;
        }
        let next = next_generation(&all, &sizes, GENERATION, &mut random);
        all.extend(next.into_iter().map(&mut evaluate));
    }
    all[1..].sort_by(|one, other| one.nanoseconds.total_cmp(&other.nanoseconds));
    all.retain(|each| each.nanoseconds < f64::MAX);
    // Launches that are not fused have one variant only.
    let mut names = BTreeSet::new();
    all.retain(|each| names.insert(subject.space.choice(&each.genome).to_string()));
    // Whether fusion pays is measured in any case, and planners can go by it.
    let mut each = all.iter();
    let unfused = each.position(|each| subject.space.choice(&each.genome) == Choice::Unfused);
    if let Some(place) = unfused.filter(|place| *place > LATEST_UNFUSED) {
        let unfused = all.remove(place);
        all.insert(LATEST_UNFUSED, unfused);
    }
    all
}

/// What the launches of a group with barriers across the grid take without these.
fn without_barriers(model: &Model<'_>, group: &FusionGroup) -> f64 {
    let fused = group.fallback.iter();
    let fused = fused.map(|part| model.together(part) - model.unfused(part));
    model.unfused(group) + fused.sum::<f64>()
}

/// Among the variants that are measured first the launches are unfused, at this place at the latest.
const LATEST_UNFUSED: usize = 3;

/// So many variants are estimated where there are more.
const MOST_EVALUATED: usize = 64;
const GENERATIONS: usize = 4;
const GENERATION: usize = 16;
/// What the model does not know costs a little, so that one change at a time comes before several.
const CHANGE: f64 = 1e-3;

/// The plan with groups as the choices say; `None` where none of them is carried out.
fn made_as_chosen(
    analysis: &Analysis,
    tunables: &[Tunable],
    choices: &BTreeMap<String, String>,
    outcome: &mut Outcome,
) -> Option<Revision> {
    let mut warn = |text: String| outcome.warnings.push_str(&format!("sirius-rs: {text}\n"));
    let planned = analysis.plan.plan();
    let mut groups: Vec<Vec<FusionGroup>> = planned
        .groups
        .iter()
        .map(|each| vec![each.clone()])
        .collect();
    let mut missed: Vec<Missed> = Vec::new();
    let mut tuned = BTreeMap::new();
    let mut rearranged = false;
    let Facts {
        graph,
        models,
        dependences,
    } = &analysis.facts;
    let regrouper = Regrouper::new(graph, models, dependences, &analysis.options);
    for tunable in tunables {
        let subject = &tunable.subject;
        let Some(name) = choices.get(&subject.key) else {
            continue;
        };
        let choice = Choice::named(name).filter(|choice| subject.space.has(choice));
        let Some(choice) = choice else {
            let kernels = subject.kernels.join("+");
            warn(format!(
                "there is no variant '{name}' of {kernels}, which stays as planned"
            ));
            continue;
        };
        for index in &subject.groups {
            let Some(group) = groups[*index].pop() else {
                continue;
            };
            let first = group.members[0].launch;
            let mut carried_out = true;
            groups[*index] = match &choice {
                Choice::Unfused => {
                    rearranged = true;
                    let cuts = 1..group.members.len();
                    missed
                        .extend(cuts.filter_map(|cut| regrouper.cut(&group, cut, FASTER_UNFUSED)));
                    Vec::new()
                }
                Choice::WithoutGridBarriers => {
                    rearranged = true;
                    let cuts = cuts_without_barriers(&group);
                    missed.extend(cuts.filter_map(|cut| regrouper.cut(&group, cut, FASTER_APART)));
                    group.fallback
                }
                Choice::Fused { layout, variant } => vec![FusionGroup {
                    variant: variant.clone(),
                    ..match layout == &group.layout || layout == AS_PLANNED {
                        true => group,
                        false => {
                            rearranged = true;
                            let made = regrouper.laid_out(&group, layout);
                            carried_out = made.is_some();
                            made.unwrap_or(group)
                        }
                    }
                }],
            };
            if carried_out {
                tuned.insert(first, name.clone());
            }
        }
    }
    if tuned.is_empty() {
        return None;
    }
    let mut groups: Vec<FusionGroup> = groups.into_iter().flatten().collect();
    let draft = match rearranged {
        true => {
            let places: BTreeMap<LaunchId, _> = graph.launches().collect();
            groups.sort_by_key(|group| places.get(&group.members.first()?.launch).copied());
            Draft::Groups(groups)
        }
        false => Draft::Plan(FusionPlan {
            groups,
            ..planned.clone()
        }),
    };
    Some(Revision {
        drafts: vec![draft],
        changes: Box::new(|analysis| {
            analysis.miss(missed);
            analysis.tuned = tuned;
        }),
        otherwise: Otherwise::Warn(
            "the verifier refuses the variants that were chosen; all groups stay as planned",
        ),
        then: &[],
    })
}

/// Where members of a group with barriers across the grid are apart without these.
fn cuts_without_barriers(group: &FusionGroup) -> impl Iterator<Item = usize> {
    let place = |launch: LaunchId| {
        let mut members = group.members.iter();
        members.position(|member| member.launch == launch)
    };
    let inside = group.fallback.iter().filter_map(|part| {
        let begin = place(part.members.first()?.launch)?;
        Some(begin + 1..begin + part.members.len())
    });
    let inside: BTreeSet<usize> = inside.flatten().collect();
    (1..group.members.len()).filter(move |cut| !inside.contains(cut))
}

const FASTER_APART: &str =
    "by what was measured or estimated, they are faster without barriers across the grid";
const FASTER_UNFUSED: &str = "by what was measured or estimated, they are faster unfused";

/// What an earlier measurement says of a subject, on the device that is most like the one at hand.
fn kept_verdict(key: &str, build: &Build) -> Option<Verdict> {
    let entries = std::fs::read_dir(verdicts_folder()?).ok()?;
    let mut found: Vec<(bool, Verdict)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?;
            let (own, device) = name.strip_suffix(".json")?.split_once('.')?;
            let text = (own == key).then(|| read_regular(&path).ok())??.1;
            let verdict = read_verdict(&String::from_utf8(text).ok()?)
                .ok()
                .filter(|verdict| verdict.key == key)?;
            let mut built_for = build.architectures.iter();
            let fits = built_for.any(|each| device == each.number.to_string());
            Some((fits, verdict))
        })
        .collect();
    found.sort_by(|one, other| {
        let device = |found: &(bool, Verdict)| (!found.0, found.1.device.clone());
        device(one).cmp(&device(other))
    });
    found.into_iter().next().map(|(_, verdict)| verdict)
}

/// Keeps verdicts for later compilations. What fails to be kept is no error.
pub(in crate::driver) fn keep_verdicts(verdicts: &[Verdict]) {
    let Some(folder) = verdicts_folder() else {
        return;
    };
    for verdict in verdicts {
        let capability = verdict.device.split(' ').next().unwrap_or_default();
        let keep = || {
            std::fs::create_dir_all(&folder).ok()?;
            let text = serde_json::to_vec(verdict).ok()?;
            let name = format!("{}.{capability}.json", verdict.key);
            write_whole(&folder.join(name), &text).ok()
        };
        let _ = keep();
    }
}

fn verdicts_folder() -> Option<PathBuf> {
    Some(crate::cache::folder()?.join("tune"))
}
