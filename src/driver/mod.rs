//! The one function that runs the stages in order.
//!
//! [`compile`] is the compiler: sources to LLVM modules, host and device facts to a graph, the graph to
//! a plan, the plan to code. Every stage is timed, and can be dumped or stopped after. When a check of
//! ours fails (the verifier refuses a plan, a fused kernel lost a barrier, a stage panics), the
//! untouched program is built, a reproducer is written where there is a plan, and the failure is said
//! loudly; with `SIRIUS_STRICT` set, as under test, it is fatal.

pub mod cli;
pub mod objects;
mod replanning;
mod files;
mod analysis;
mod clock;
mod device_code;
mod exchanges;
mod fallback;
mod models;
mod outcome;
mod problem_file;
mod reference;

use files::{
    answers::Answers, artifacts, keep, link_cache, outputs, preprocess, ptx_module, save,
    standard_input, tensor_sources,
};
use replanning::{
    crowded, graphs, measure, overlaps, planning, refused, resources, rotation, tuning,
};

pub use outcome::{Outcome, PipelineError};

use analysis::{Analysis, without_groups};
use artifacts::{link_program, make_library, program_to_run, run_afterwards};
use clock::{Clock, write_times};
use outputs::{check_names, default_output, in_private, outputs, write_report};
use preprocess::preprocess;

use crate::build::{Build, Device, Fusion, Language, Phase, TuneMode};
use crate::codegen::{self, CodegenError, FusedImage};
use crate::dependence::{take_domains, take_iterations};
use crate::kernel::KernelModel;
use crate::launch::{
    LaunchGraph, build_launch_graph, fold_launches_by_handles, promote_calls_through_pointers,
};
use crate::output::tell;
use crate::program::{Program, read_program};
use crate::report::{self, ReportExecuted};
use crate::schedule::occupancy::Limits;
use crate::schedule::{
    FusionPlan, Layout, ScheduleOptions, plan_fusion, plan_grid_barriers, plan_last_blocks,
    plan_recomputation,
};
use crate::stage::Stage;
use crate::tools::Toolchain;
use crate::tools::toolchain::find_toolchain;
use crate::tools::toolkit_folder::lay_out;
use cli::Invocation;
use cli::instead;
use cli::shown::steps;
use inkwell::context::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Does what a command line asks.
///
/// # Errors
/// See [`PipelineError`]; its `exit_status` is nvcc's.
pub fn run(invocation: &Invocation) -> Result<Outcome, PipelineError> {
    match invocation {
        Invocation::Print(text) => Ok(Outcome::print(text.clone())),
        Invocation::LayOut { folder, device } => {
            let made = lay_out(folder, *device, &|name| std::env::var(name).ok())?;
            Ok(Outcome::print(format!(
                "{} stands for the CUDA toolkit in {}, for the device {}\n",
                made.root.display(),
                made.underlying.display(),
                made.device.name()
            )))
        }
        Invocation::AskHostCompiler {
            compiler,
            arguments,
        } => Ok(Outcome {
            then_run: Some(artifacts::question(compiler.as_deref(), arguments)?),
            ..Outcome::default()
        }),
        Invocation::Plan {
            problem,
            planning,
            walks,
        } => {
            let text = problem_file::planned(problem, planning, *walks)?;
            Ok(Outcome::print(text))
        }
        Invocation::Train { arguments } => Ok(Outcome {
            then_run: Some(problem_file::trainer(arguments)?),
            ..Outcome::default()
        }),
        Invocation::Build(build) => {
            let mut built = run_build(build);
            // The table is an output, too, which may be what was refused.
            let refused = matches!(
                built,
                Err(PipelineError::OutputIsInput(_) | PipelineError::TwoOutputs(_))
            );
            if !refused {
                write_times(build, built.as_mut().ok())?;
            }
            built
        }
        Invocation::Tune {
            build,
            pack,
            output,
        } => {
            check_names(build, vec![output.clone()])?;
            let toolchain = find_toolchain(build)?;
            let mut outcome = Outcome::default();
            let from_standard_input = standard_input::as_file(build)?;
            let build = from_standard_input
                .as_ref()
                .map_or(build, |(build, _)| build);
            let from_tensors = tensor_sources::as_cuda(build)?;
            let build = from_tensors.as_ref().map_or(build, |(build, _)| build);
            measure::tune(build, &toolchain, *pack, output, &mut outcome)?;
            Ok(outcome)
        }
        Invocation::Translate {
            build,
            emit,
            output,
        } => {
            check_names(build, output.iter().cloned().collect())?;
            let text = tensor_sources::text(build, *emit)?;
            let mut outcome = Outcome::default();
            match output {
                None => outcome.standard_output.push_str(&text),
                Some(path) => write_report(path, &text)?,
            }
            Ok(outcome)
        }
        Invocation::Analyze {
            build,
            format,
            dependences,
            why,
            statistics,
            output,
        } => {
            check_names(build, output.iter().cloned().collect())?;
            let toolchain = find_toolchain(build)?;
            let mut outcome = Outcome::default();
            let from_standard_input = standard_input::as_file(build)?;
            let build = from_standard_input
                .as_ref()
                .map_or(build, |(build, _)| build);
            let from_tensors = tensor_sources::as_cuda(build)?;
            let build = from_tensors.as_ref().map_or(build, |(build, _)| build);
            let gathered = objects::gather(build, &toolchain)?;
            let build = gathered.as_ref().map_or(build, |gathered| &gathered.build);
            let relate = outcome::relate_shown(*format, *dependences);
            let analysis = fallback::caught(|| analyze(build, &toolchain, relate, &mut outcome))?;
            let mut report = analysis.report(build);
            if let Some(statistics) = statistics {
                report.executed = Some(ReportExecuted::read(statistics)?);
            }
            let text = match why {
                Some(place) => report::render_why(&report, place).map_err(PipelineError::Why)?,
                None => report::render(&report, *format, *dependences),
            };
            match output {
                None => outcome.standard_output.push_str(&text),
                Some(path) => write_report(path, &text)?,
            }
            Ok(outcome)
        }
    }
}

/// Builds what the phase asks for: one program of all inputs, or one file for each.
fn run_build(build: &Build) -> Result<Outcome, PipelineError> {
    let toolchain = find_toolchain(build)?;
    if build.verbose || build.dry_run {
        tell(format_args!(
            "{}",
            steps(build, &toolchain, &outputs(build))
        ));
    }
    let mut outcome = Outcome::default();
    if build.dry_run {
        return Ok(outcome);
    }
    check_names(build, outputs(build))?;
    if let Some(why) = reference::obstacle(build).filter(|_| build.sirius.reference) {
        let text = format!("sirius-rs: SIRIUS_REFERENCE has no effect here: {why}\n");
        outcome.warnings.push_str(&text);
    }
    if build.clean {
        keep::clean(build, outputs(build))?;
        return Ok(outcome);
    }
    let from_standard_input = standard_input::as_file(build)?;
    let build = from_standard_input
        .as_ref()
        .map_or(build, |(build, _)| build);
    let from_tensors = tensor_sources::as_cuda(build)?;
    let build = from_tensors.as_ref().map_or(build, |(build, _)| build);
    keep::keep_preprocessed(build, &toolchain)?;
    let sources = build
        .inputs
        .iter()
        .filter(|input| input.language != Language::Object);
    match build.phase {
        Phase::Link => {
            let output = build.output.as_deref().unwrap_or(Path::new("a.out"));
            let program = program_to_run(build).unwrap_or(output);
            if program_to_run(build).is_none() {
                let has_reference = build.sirius.reference && reference::obstacle(build).is_none();
                in_private(output, |made| match has_reference {
                    true => reference::build_with_reference(build, made, &mut outcome),
                    false => link_tuned(build, &toolchain, made, &mut outcome),
                })?;
                let note = codegen::note_on_openmp(build, output);
                outcome.warnings.push_str(&note.unwrap_or_default());
            }
            if let Some(arguments) = &build.run {
                outcome.then_run = run_afterwards(build, &toolchain, program, arguments)?;
            }
        }
        Phase::Library => {
            let output = build.output.as_deref().unwrap_or(Path::new("a.a"));
            in_private(output, |made| {
                make_library(build, &toolchain, made, &mut outcome)
            })?;
        }
        Phase::DeviceLink => {
            let output = build.output.as_deref().unwrap_or(Path::new("a_dlink.o"));
            in_private(output, |made| {
                device_code::link_device_code(build, &toolchain, made, &mut outcome)
            })?;
        }
        Phase::Preprocess => {
            for input in sources {
                let text = preprocess(build, &toolchain, input)?;
                outcome.standard_output.push_str(&text);
            }
            if let Some(output) = &build.output {
                write_report(output, &std::mem::take(&mut outcome.standard_output))?;
            }
        }
        Phase::Compile | Phase::Ptx | Phase::Cubin | Phase::Fatbin => {
            for input in sources {
                let output = build
                    .output
                    .clone()
                    .unwrap_or_else(|| default_output(build, input));
                let single = build.of_one(input);
                in_private(&output, |made| match build.cxx_form {
                    _ if input.language == Language::Ptx => {
                        let with = (&single, &toolchain);
                        ptx_module::compile_ptx(input, with, made, &mut outcome)
                    }
                    true => artifacts::compile_to_cxx(&single, &toolchain, made, &mut outcome),
                    false => compile(&single, &toolchain, made, &mut outcome),
                })?;
            }
        }
    }
    Ok(outcome)
}

/// Links a program, and where variants of its groups are to be measured and have not been, measures them
/// and links it with the best.
fn link_tuned(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let mut first = Outcome::default();
    link_program(build, toolchain, output, &mut first)?;
    let is_known = first.tunables.iter().all(|tunable| tunable.is_known);
    let may_run = build.sirius.stop_after.is_none() && !build.shared;
    if build.sirius.tuning.mode != TuneMode::Measure || is_known || !may_run {
        outcome.append(first);
        return Ok(());
    }
    let choices = measure::measure(build, toolchain, outcome)?;
    if choices.is_empty() {
        outcome.append(first);
        return Ok(());
    }
    let mut tuned = build.clone();
    tuned.sirius.tuning.choices = choices;
    link_program(&tuned, toolchain, output, outcome)
}

/// Gives an object that was compiled its record, which says whether nothing is fused in it.
fn keep_bitcode(
    (program, unfused): (&Program<'_>, bool),
    build: &Build,
    toolchain: &Toolchain,
    object: &Path,
) -> Result<(), PipelineError> {
    if let (Some(bitcode), [input]) = (&program.bitcode, build.inputs.as_slice()) {
        objects::add_record((bitcode, unfused), (build, input), toolchain, object)?;
    }
    Ok(())
}

/// The compiler: every stage in order, and where one of them fails by a bug of ours, the program as
/// it is.
fn compile(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let build = &save::begin(build, toolchain, output)?;
    if let Some(input) = device_code::relocatable_source(build) {
        return device_code::compile_relocatable(input, (build, toolchain), output, outcome);
    }
    let mut attempt = Outcome::default();
    let analyses = !asks_for_no_analysis(build);
    let answers = analyses.then(|| Answers::recall(build)).flatten();
    let fused = fallback::caught(|| compile_fused(build, toolchain, output, &mut attempt));
    match fused {
        Err(error)
            if error.is_bug() && !fallback::is_strict() && build.sirius.stop_after.is_none() =>
        {
            attempt = Outcome::default();
            compile_unfused(build, toolchain, output, &mut attempt)?;
            attempt.objects.clear();
            attempt.warnings.push_str(&format!(
                "sirius-rs: {error}\nsirius-rs: the program is built without fusion\n"
            ));
        }
        result => {
            result?;
            if let Some(answers) = answers {
                answers.keep();
            }
        }
    }
    outcome.warnings.push_str(&attempt.warnings);
    outcome.standard_output.push_str(&attempt.standard_output);
    outcome.summary = attempt.summary;
    outcome.objects = attempt.objects;
    outcome.objects_as_they_are = attempt.objects_as_they_are;
    outcome.tunables = attempt.tunables;
    save::messages(build, outcome)
}

/// The program without any analysis.
fn compile_unfused(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let context = Context::create();
    let mut program = read_program(&context, build, toolchain)?;
    outcome.warnings.push_str(&program.warnings);
    exchanges::keep_unfused(&mut program, build, outcome)?;
    emit_unfused(&program, build, toolchain, output, outcome)
}

fn emit_unfused(
    program: &Program<'_>,
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let graph = LaunchGraph::default();
    let plan = outcome::unfused(&graph, &[])?;
    let bench = codegen::Workbench::new(build, toolchain)?;
    let units = codegen::emit_units(program, &bench)?;
    let emitted = codegen::emit(program, (&graph, &[], &plan), (units, None), &bench, output)?;
    outcome.warnings.push_str(&emitted.messages);
    outcome.objects = emitted.objects;
    keep_bitcode((program, true), build, toolchain, output)
}

/// What a file of device code does not hold.
const KERNELS_ALONE: &str = "sirius-rs: the file holds the kernels as they are written; where launches of this source \
    run as one, the link of the program makes the kernel for that (for GPUs -keep leaves its PTX)\n";

/// Whether nothing is to be fused, and nobody wants to know why.
fn asks_for_no_analysis(build: &Build) -> bool {
    (build.device_debug || build.sirius.fusion == Fusion::Off) && asks_for_no_facts(build)
}

/// Whether nobody wants to see what analysis finds.
fn asks_for_no_facts(build: &Build) -> bool {
    let options = &build.sirius;
    options.report.is_none() && options.dump.is_empty() && options.stop_after.is_none()
}

/// Every stage in order, from sources to `output`.
fn compile_fused(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let context = Context::create();
    let mut clock = Clock::new(build);
    let mut program = clock.time(Stage::Program, || read_program(&context, build, toolchain))?;
    outcome.warnings.push_str(&program.warnings);
    clock.dump(Stage::Program, || program.host.to_string());
    save::stage(build, "host.before.ll", || program.host.to_string())?;
    for (index, unit) in program.units.iter().enumerate() {
        let name = format!("device{index}.before.ll");
        save::stage(build, &name, || unit.device.to_string())?;
        for (target, newer) in &unit.newer {
            let name = format!("device{index}.compute_{target}.before.ll");
            save::stage(build, &name, || newer.to_string())?;
        }
    }
    if clock.stops_after(Stage::Program) {
        return Ok(());
    }
    if build.phase.is_device_alone() {
        exchanges::keep_unfused(&mut program, build, outcome)?;
        let said = codegen::emit_device_only(&program, build, toolchain, output)?;
        outcome.warnings.push_str(&said);
        if build.sirius.fusion != Fusion::Off && !build.device_debug && program.launch_sites() > 1 {
            outcome.warnings.push_str(KERNELS_ALONE);
        }
        return Ok(());
    }
    let objects_will_do = artifacts::objects_will_do(build);
    if asks_for_no_analysis(build) || (asks_for_no_facts(build) && program.launches_nothing()) {
        outcome.objects_as_they_are = objects_will_do;
        if objects_will_do {
            return Ok(());
        }
        exchanges::keep_unfused(&mut program, build, outcome)?;
        return emit_unfused(&program, build, toolchain, output, outcome);
    }
    let Some(facts) = find_facts(&mut program, build, &mut clock, outcome)? else {
        return Ok(());
    };
    let bench = codegen::Workbench::new(build, toolchain)?;
    // Each source's own image is made while launches are related, unless what was compiled before may do.
    let units = match objects_will_do || build.sirius.stop_after.is_some() {
        true => None,
        false => Some(codegen::emit_units(&program, &bench)?),
    };
    let relate = outcome::relate_for(build);
    let stages = (&mut clock, relate);
    let Some(analysis) = plan_program(facts, (build, toolchain), stages, outcome)? else {
        return Ok(());
    };
    let (of, stages) = ((build, toolchain), (&mut clock, relate));
    let analysis = rotation::rotate(&mut program, analysis, of, stages, outcome)?;
    let analysis = tuning::choose(&program, analysis, build, outcome)?;
    let analysis = graphs::add(analysis, build, outcome)?;
    let analysis = overlaps::add(analysis, build, outcome)?;
    save::analysis(build, &analysis)?;
    if objects_will_do && *analysis.plan.plan() == FusionPlan::default() {
        outcome.objects_as_they_are = true;
        return Ok(());
    }
    let (analysis, emitted) = clock.time(Stage::Codegen, || {
        let units = units.map_or_else(|| codegen::emit_units(&program, &bench), Ok)?;
        generate(&program, analysis, (&bench, units), output, outcome)
    })?;
    clock.dump(Stage::Codegen, || program.host.to_string());
    save::stage(build, "host.after.ll", || program.host.to_string())?;
    let groups = &analysis.plan.plan().groups;
    let unwritten = emitted
        .unwritten
        .iter()
        .map(|(group, buffers)| (groups[*group].members[0].launch, buffers.clone()))
        .collect();
    let analysis = Analysis {
        unwritten,
        reserved: emitted.reserved.clone(),
        seconds: clock.seconds,
        ..analysis
    };
    outcome.warnings.push_str(&emitted.messages);
    let unfused = *analysis.plan.plan() == FusionPlan::default();
    keep_bitcode((&program, unfused), build, toolchain, output)?;
    outcome.objects = emitted.objects;
    if let Some(reason) = emitted.fusion_failed {
        outcome.objects.clear();
        outcome::failed_check(
            outcome,
            build,
            (&reason, outcome::UNFUSED),
            &analysis.graph,
            &analysis.models,
            analysis.plan.plan(),
        )?;
    }
    let analysis = without_groups(analysis, &emitted.left_out)?;
    if let Some((path, format)) = &build.sirius.report {
        let text = report::render(&analysis.report(build), *format, true);
        write_report(path, &text)?;
    }
    outcome.summary = report::summary_line(&analysis.graph, analysis.plan.plan());
    Ok(())
}

/// Carries the plan out, after ptxas had its say.
fn generate(
    program: &Program<'_>,
    analysis: Analysis,
    (bench, mut units): (&codegen::Workbench<'_>, codegen::UnitImages),
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(Analysis, codegen::Emitted), PipelineError> {
    let build = bench.build();
    let (mut analysis, mut fused) = fuse(program, analysis, (bench, &mut units))?;
    if let Some(Ok(image)) = &fused
        && crowded::plan_without_turns(&mut analysis, image)
    {
        analysis = tuning::choose(program, analysis, build, outcome)?;
        (analysis, fused) = fuse(program, analysis, (bench, &mut units))?;
    }
    let emitted = codegen::emit(
        program,
        (&analysis.graph, &analysis.models, &analysis.plan),
        (units, fused),
        bench,
        output,
    )?;
    Ok((analysis, emitted))
}

/// The images of the fused kernels, and the plan that is left after ptxas had its say.
fn fuse(
    program: &Program<'_>,
    analysis: Analysis,
    (bench, units): (&codegen::Workbench<'_>, &mut codegen::UnitImages),
) -> Result<(Analysis, Option<Result<FusedImage, CodegenError>>), PipelineError> {
    let (build, toolchain) = (bench.build(), bench.toolchain());
    let plan = analysis.plan.plan();
    if plan.groups.is_empty() && plan.batched_regions.is_empty() {
        return Ok((analysis, None));
    }
    let decide = resources::decide(build, toolchain);
    let (analysis, fused) = if build.device == Device::Cuda {
        let fused = resources::begin(program, &analysis, build, bench);
        units.settle()?;
        match decide {
            true => resources::judge_images(program, analysis, build, (bench, units), fused)?,
            false => (analysis, fused),
        }
    } else {
        let (analysis, judged) = match decide {
            true => resources::judge(program, analysis, build, toolchain)?,
            false => (analysis, None),
        };
        let fused = match judged {
            Some(kernels) => kernels.emit(bench).map(|image| (kernels, image)),
            None => resources::begin(program, &analysis, build, bench),
        };
        (analysis, fused)
    };
    // Batches come last, since they are those of the groups that are left.
    let fused = fused.and_then(|(kernels, mut image)| {
        let (models, plan) = (&analysis.models, &analysis.plan);
        kernels.emit_batches(program, models, plan, bench, &mut image)?;
        Ok(image)
    });
    Ok((analysis, Some(fused)))
}

/// `sirius-rs analyze`: everything up to the verified plan.
fn analyze(
    build: &Build,
    toolchain: &Toolchain,
    relate: outcome::Relate,
    outcome: &mut Outcome,
) -> Result<Analysis, PipelineError> {
    let context = Context::create();
    let build = Build {
        sirius: crate::build::SiriusOptions {
            stop_after: None,
            ..build.sirius.clone()
        },
        ..build.clone()
    };
    let mut clock = Clock::new(&build);
    let mut program = clock.time(Stage::Program, || read_program(&context, &build, toolchain))?;
    outcome.warnings.push_str(&program.warnings);
    let stopped = || PipelineError::Bug("analysis was stopped".into());
    let facts = find_facts(&mut program, &build, &mut clock, outcome)?.ok_or_else(stopped)?;
    let stages = (&mut clock, relate);
    let analysis = plan_program(facts, (&build, toolchain), stages, outcome)?;
    let analysis = analysis.ok_or_else(stopped)?;
    let (of, stages) = ((&build, toolchain), (&mut clock, relate));
    let analysis = rotation::rotate(&mut program, analysis, of, stages, outcome)?;
    let analysis = tuning::choose(&program, analysis, &build, outcome)?;
    let analysis = graphs::add(analysis, &build, outcome)?;
    let mut analysis = overlaps::add(analysis, &build, outcome)?;
    if resources::decide(&build, toolchain) {
        (analysis, _) = clock.time(Stage::Codegen, || {
            resources::judge(&program, analysis, &build, toolchain)
        })?;
    }
    Ok(Analysis {
        seconds: clock.seconds,
        ..analysis
    })
}

/// What host code and device code each say.
struct Facts {
    graph: LaunchGraph,
    models: Vec<KernelModel>,
}

/// The stages `launch` and `kernel`, after which device code stays as it is; `None` when the command line stops after
/// one of them.
fn find_facts(
    program: &mut Program<'_>,
    build: &Build,
    clock: &mut Clock<'_>,
    outcome: &mut Outcome,
) -> Result<Option<Facts>, PipelineError> {
    let mut graph = clock.time(Stage::Launch, || {
        fold_launches_by_handles(program)?;
        if promote_calls_through_pointers(program)? {
            fold_launches_by_handles(program)?;
        }
        program.read_graph_nodes()?;
        Ok::<_, PipelineError>(build_launch_graph(program))
    })?;
    clock.dump(Stage::Launch, || graph.to_string());
    if clock.stops_after(Stage::Launch) {
        return Ok(None);
    }
    let models = clock.time(Stage::Kernel, || {
        let mut models = models::models(program, &mut graph);
        exchanges::keep(program, &mut models, build, outcome)?;
        Ok::<_, PipelineError>(models)
    })?;
    for model in &models {
        // The user did not write those.
        let written = program.units.get(program.kernels[model.id.0].unit);
        if written.is_none() || model.iteration_of.is_some() {
            continue;
        }
        clock.dump(Stage::Kernel, || {
            format!("{model}{}", model.block_effects_text())
        });
    }
    if clock.stops_after(Stage::Kernel) {
        return Ok(None);
    }
    Ok(Some(Facts { graph, models }))
}

/// The stages from `dependence` to `verify`; `None` when the command line stops after one of them.
fn plan_program(
    Facts { mut graph, models }: Facts,
    (build, toolchain): (&Build, &Toolchain),
    (clock, relate): (&mut Clock<'_>, outcome::Relate),
    outcome: &mut Outcome,
) -> Result<Option<Analysis>, PipelineError> {
    let dependences = clock.time(Stage::Dependence, || {
        take_domains(&mut graph, &models);
        take_iterations(&mut graph, &models);
        relate(&graph, &models)
    });
    clock.dump(Stage::Dependence, || {
        outcome::dependence_as_json(&graph, &dependences)
    });
    if clock.stops_after(Stage::Dependence) {
        return Ok(None);
    }
    let mut options = schedule_options(build, toolchain);
    let plan = || plan_fusion(&graph, &models, &dependences, &options);
    let ((plan, missed), planning) = clock.time(Stage::Schedule, || {
        let found = (&graph, models.as_slice(), &dependences);
        let ((mut plan, mut missed), planning) = planning::choose(found, plan(), &options, build);
        let planned = (&mut plan, &mut missed);
        plan_grid_barriers(&graph, &models, &dependences, &options, planned);
        let planned = (&mut plan, &mut missed);
        plan_last_blocks(&graph, &models, &dependences, &options, planned);
        let planned = (&mut plan, &mut missed);
        plan_recomputation(&graph, &models, &dependences, &options, planned);
        ((plan, missed), planning)
    });
    let chosen = plan.groups.clone();
    let names = plan.groups.iter().flat_map(|group| &group.layouts);
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    if !Layout::is_known(&build.sirius.layout, &names) {
        let mut known: Vec<&str> = Layout::everywhere().collect();
        let elsewhere = names.into_iter().filter(|name| !known.contains(name));
        let elsewhere: Vec<&str> = elsewhere.collect();
        known.extend(elsewhere);
        return Err(PipelineError::UnknownLayout {
            name: build.sirius.layout.clone(),
            instead: instead(&build.sirius.layout, known),
        });
    }
    clock.dump(Stage::Schedule, || outcome::as_json(&plan));
    if clock.stops_after(Stage::Schedule) {
        return Ok(None);
    }
    let (plan, missed) = clock.time(Stage::Verify, || {
        let found = (&graph, models.as_slice(), &dependences);
        refused::judge(found, (plan, missed), &mut options, build, outcome)
    })?;
    clock.dump(Stage::Verify, || outcome::as_json(plan.plan()));
    if clock.stops_after(Stage::Verify) {
        return Ok(None);
    }
    // What the verifier refuses is planned by greedy grouping, or left out.
    let planning = planning.filter(|_| plan.plan().groups == chosen);
    Ok(Some(Analysis {
        graph,
        models,
        dependences,
        plan,
        missed,
        planning,
        options,
        unwritten: BTreeMap::new(),
        reserved: Vec::new(),
        occupancy: BTreeMap::new(),
        tuned: BTreeMap::new(),
        seconds: Vec::new(),
    }))
}

fn schedule_options(build: &Build, toolchain: &Toolchain) -> ScheduleOptions {
    let architectures = build.architectures.iter();
    let architectures = architectures.map(|architecture| architecture.number);
    // Device debug code is not optimised, so nothing is fused in it either.
    let fusion = if build.device_debug {
        Fusion::Off
    } else {
        build.sirius.fusion
    };
    ScheduleOptions {
        fusion,
        limits: Limits::of(architectures, toolchain.version),
        overlap: overlaps::obstacle(build).is_none(),
        ..ScheduleOptions::from(&build.sirius)
    }
}
