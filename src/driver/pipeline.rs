//! The one function that runs the stages in order.
//!
//! [`compile`] is the compiler: sources to LLVM modules, host and device facts to a graph, the graph to
//! a plan, the plan to code. Every stage is timed, and can be dumped or stopped after. When a check of
//! ours fails (the verifier refuses a plan, a fused kernel lost a barrier, a stage panics), the
//! untouched program is built, a reproducer is written where there is a plan, and the failure is said
//! loudly; with `SIRIUS_STRICT` set, as under test, it is fatal.

use super::clock::Clock;
use super::facts::{Analysis, Facts};
use super::fallback::{self, FailedCheck, UNFUSED};
use super::files::answers::Answers;
use super::files::link_cache::{objects_can_be_linked, objects_will_do};
use super::files::outputs::write_report;
use super::files::save;
use super::outcome::{Outcome, PipelineError, Relate, relate_for};
use super::replanning::{Cause, Made, Replanner, decides, first_plan, make_kernels, relate};
use super::session::Session;
use super::{exchanges, models, objects};
use crate::build::{Build, DependencyOptions, Input, Language, Phase, SiriusOptions};
use crate::codegen::{self, Emitted, Workbench};
use crate::kernel::{KernelModel, let_ended_threads_wait};
use crate::launch::{
    LaunchGraph, build_launch_graph, fold_launches_by_handles, promote_calls_through_pointers,
};
use crate::program::{Program, read_program, read_relocatable_unit};
use crate::report;
use crate::schedule::FusionPlan;
use crate::stage::Stage;
use crate::tools::Toolchain;
use inkwell::context::Context;
use std::path::Path;

/// The compiler: every stage in order, and where one of them fails by a bug of ours, the program as
/// it is.
///
/// # Errors
/// The program is wrong, or nothing can be made of it.
pub(super) fn compile(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let build = &save::begin(build, toolchain, output)?;
    if let Some(input) = relocatable_source(build) {
        return compile_relocatable(input, build, toolchain, output, outcome);
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

/// Every stage in order, from sources to `output`.
fn compile_fused(
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let context = Context::create();
    let clock = Clock::new(build);
    let session = Session {
        build,
        toolchain,
        clock: &clock,
        relate: relate_for(build),
    };
    let mut program = clock.time(Stage::Program, || read_program(&context, build, toolchain))?;
    outcome.warnings.push_str(&program.warnings);
    clock.dump(Stage::Program, || program.host.to_string());
    save::program(build, &program)?;
    if clock.stops_after(Stage::Program) {
        return Ok(());
    }
    if build.phase.is_device_alone() {
        return emit_device_alone(&mut program, build, toolchain, output, outcome);
    }
    let objects_will_do = objects_will_do(build);
    if asks_for_no_analysis(build) || (asks_for_no_facts(build) && program.launches_nothing()) {
        outcome.objects_as_they_are = objects_will_do;
        if objects_will_do {
            return Ok(());
        }
        clock.time(Stage::Kernel, || {
            exchanges::keep_unfused(&mut program, build, outcome)
        })?;
        return clock.time(Stage::Codegen, || {
            emit_unfused(&program, build, toolchain, output, outcome)
        });
    }
    let Some((graph, models)) = read_both_sides(&mut program, session, outcome)? else {
        return Ok(());
    };
    let bench = Workbench::new(build, toolchain)?;
    // Each source's own image is made while launches are related, unless what was compiled before may do.
    let units = match objects_will_do || build.sirius.stop_after.is_some() {
        true => None,
        false => Some(codegen::emit_units(&program, &bench)?),
    };
    let Some(facts) = relate(graph, models, session) else {
        return Ok(());
    };
    let Some(mut analysis) = first_plan(&program, facts, session, outcome)? else {
        return Ok(());
    };
    if analysis.facts.dependences.cut_short && objects_can_be_linked(build) {
        outcome.objects_as_they_are = true;
        outcome.warnings.push_str(EACH_OBJECT_BY_ITSELF);
        return Ok(());
    }
    Replanner::new(&mut program, session, outcome).replan(&mut analysis, Cause::BEFORE_CODE)?;
    save::analysis(build, &analysis)?;
    if objects_will_do && *analysis.plan.plan() == FusionPlan::default() {
        outcome.objects_as_they_are = true;
        return Ok(());
    }
    let mut emitted = clock.time(Stage::Codegen, || {
        let units = units.map_or_else(|| codegen::emit_units(&program, &bench), Ok)?;
        let linked = Made::new(&bench, units);
        generate(
            &mut program,
            &mut analysis,
            session,
            linked,
            output,
            outcome,
        )
    })?;
    clock.dump(Stage::Codegen, || program.host.to_string());
    save::stage(build, "host.after.ll", || program.host.to_string())?;
    analysis.take_effects_of_code(&emitted, clock.seconds());
    outcome.warnings.push_str(&emitted.messages);
    let is_unfused = *analysis.plan.plan() == FusionPlan::default();
    keep_bitcode(&program, is_unfused, build, toolchain, output)?;
    outcome.objects = std::mem::take(&mut emitted.objects);
    if let Some(reason) = &emitted.fusion_failed {
        outcome.objects.clear();
        let failure = FailedCheck {
            reason,
            consequence: UNFUSED,
            plan: analysis.plan.plan(),
        };
        failure.say(&analysis.facts, build, outcome)?;
    }
    let left_out = [Cause::LeftOut(emitted.left_out)];
    Replanner::new(&mut program, session, outcome).replan(&mut analysis, left_out)?;
    if let Some((path, format)) = &build.sirius.report {
        let text = report::render(&analysis.report(build), *format, true);
        write_report(path, &text)?;
    }
    outcome.summary = report::summary_line(&analysis.facts.graph, analysis.plan.plan());
    Ok(())
}

/// The stages `launch` and `kernel`, after which device code stays as it is; `None` when the command line stops after
/// one of them.
fn read_both_sides(
    program: &mut Program<'_>,
    session: Session<'_>,
    outcome: &mut Outcome,
) -> Result<Option<(LaunchGraph, Vec<KernelModel>)>, PipelineError> {
    let Session { build, clock, .. } = session;
    let mut graph = clock.time(Stage::Launch, || {
        fold_launches_by_handles(program)?;
        if promote_calls_through_pointers(program)? {
            fold_launches_by_handles(program)?;
        }
        program.read_graph_nodes()?;
        program.read_graph_updates()?;
        Ok::<_, PipelineError>(build_launch_graph(program))
    })?;
    clock.dump(Stage::Launch, || graph.to_string());
    if clock.stops_after(Stage::Launch) {
        return Ok(None);
    }
    let models = clock.time(Stage::Kernel, || {
        let mut models = models::models(program, &mut graph);
        exchanges::keep(program, &mut models, build, outcome)?;
        let_ended_threads_wait(program, &mut models, build.oldest_target().number)?;
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
    Ok(Some((graph, models)))
}

/// Carries the plan out, after ptxas had its say.
fn generate<'ctx>(
    program: &mut Program<'ctx>,
    analysis: &mut Analysis,
    session: Session<'_>,
    linked: Made<'_, 'ctx>,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<Emitted, PipelineError> {
    let bench = linked.bench;
    let made = make_kernels(program, analysis, session, Some(linked), outcome)?;
    let made = made.ok_or_else(|| PipelineError::Bug("the images of sources are gone".into()))?;
    let Facts { graph, models, .. } = &analysis.facts;
    let of = (graph, models.as_slice(), &analysis.plan);
    Ok(codegen::emit(
        program,
        of,
        (made.units, made.fused),
        bench,
        output,
    )?)
}

/// `sirius-rs analyze`: everything up to the plan that would be carried out.
///
/// # Errors
/// As [`compile`].
pub(super) fn analyze(
    build: &Build,
    toolchain: &Toolchain,
    relate_with: Relate,
    outcome: &mut Outcome,
) -> Result<Analysis, PipelineError> {
    let context = Context::create();
    let build = Build {
        sirius: SiriusOptions {
            stop_after: None,
            ..build.sirius.clone()
        },
        ..build.clone()
    };
    let clock = Clock::new(&build);
    let session = Session {
        build: &build,
        toolchain,
        clock: &clock,
        relate: relate_with,
    };
    let mut program = clock.time(Stage::Program, || read_program(&context, &build, toolchain))?;
    outcome.warnings.push_str(&program.warnings);
    let stopped = || PipelineError::Bug("analysis was stopped".into());
    let read = read_both_sides(&mut program, session, outcome)?;
    let (graph, models) = read.ok_or_else(stopped)?;
    let facts = relate(graph, models, session).ok_or_else(stopped)?;
    let mut analysis = first_plan(&program, facts, session, outcome)?.ok_or_else(stopped)?;
    Replanner::new(&mut program, session, outcome).replan(&mut analysis, Cause::BEFORE_CODE)?;
    if decides(session) {
        clock.time(Stage::Codegen, || {
            make_kernels(&mut program, &mut analysis, session, None, outcome)
        })?;
    }
    analysis.seconds = clock.seconds();
    Ok(analysis)
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
    let nothing = Facts::default();
    let plan = nothing.unfused()?;
    let bench = Workbench::new(build, toolchain)?;
    let units = codegen::emit_units(program, &bench)?;
    let of = (&nothing.graph, nothing.models.as_slice(), &plan);
    let emitted = codegen::emit(program, of, (units, None), &bench, output)?;
    outcome.warnings.push_str(&emitted.messages);
    outcome.objects = emitted.objects;
    keep_bitcode(program, true, build, toolchain, output)
}

/// `-ptx`, `-cubin`, `-fatbin`: the kernels as they are written.
fn emit_device_alone(
    program: &mut Program<'_>,
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    exchanges::keep_unfused(program, build, outcome)?;
    let said = codegen::emit_device_only(program, build, toolchain, output)?;
    outcome.warnings.push_str(&said);
    if build.fuses() && program.launch_sites() > 1 {
        outcome.warnings.push_str(KERNELS_ALONE);
    }
    Ok(())
}

/// What a file of device code does not hold.
const KERNELS_ALONE: &str = "sirius-rs: the file holds the kernels as they are written; where launches of this source \
    run as one, the link of the program makes the kernel for that (for GPUs -keep leaves its PTX)\n";

/// What is said where a program is too large to be planned as a whole.
const EACH_OBJECT_BY_ITSELF: &str = "sirius-rs: too many launches of the program may depend on each other to look \
    into it as a whole: each object keeps what is fused in it\n";

/// Whether nothing is to be fused, and nobody wants to know why.
fn asks_for_no_analysis(build: &Build) -> bool {
    !build.fuses() && asks_for_no_facts(build)
}

/// Whether nobody wants to see what analysis finds.
fn asks_for_no_facts(build: &Build) -> bool {
    let options = &build.sirius;
    options.report.is_none() && options.dump.is_empty() && options.stop_after.is_none()
}

/// The source of a build that ends as an object whose device code is linked later.
fn relocatable_source(build: &Build) -> Option<&Input> {
    match build.inputs.as_slice() {
        [input] if build.phase == Phase::Compile && build.relocatable => {
            Some(input).filter(|input| input.language == Language::Cuda)
        }
        _ => None,
    }
}

/// `-dc`: the host side of a source, and the bitcode of both sides beside it.
fn compile_relocatable(
    input: &Input,
    build: &Build,
    toolchain: &Toolchain,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let context = Context::create();
    let program = read_relocatable_unit(&context, input, (build, toolchain))?;
    outcome.warnings.push_str(&program.warnings);
    let said = codegen::emit_host_only(&program, build, toolchain, output)?;
    outcome.warnings.push_str(&said);
    keep_ptx(input, build, toolchain)?;
    keep_bitcode(&program, false, build, toolchain, output)
}

/// With `-keep`: the PTX of a source whose device code is linked later, of which an object has none.
fn keep_ptx(input: &Input, build: &Build, toolchain: &Toolchain) -> Result<(), PipelineError> {
    let Some(folder) = &build.keep_directory else {
        return Ok(());
    };
    let stem = input.path.file_stem().unwrap_or_default().to_string_lossy();
    for architecture in &build.architectures {
        let of_one = Build {
            phase: Phase::Ptx,
            architectures: vec![*architecture],
            keep_directory: None,
            dependencies: DependencyOptions::default(),
            ..build.clone()
        };
        let place = codegen::ptx::ptx_place(architecture.target(), build, folder, &stem);
        // What clang has to say was said.
        compile(&of_one, toolchain, &place, &mut Outcome::default())?;
    }
    Ok(())
}

/// Gives an object that was compiled its record, which says whether nothing is fused in it.
fn keep_bitcode(
    program: &Program<'_>,
    is_unfused: bool,
    build: &Build,
    toolchain: &Toolchain,
    object: &Path,
) -> Result<(), PipelineError> {
    if let (Some(bitcode), [input]) = (&program.bitcode, build.inputs.as_slice()) {
        objects::add_record(bitcode, is_unfused, build, input, toolchain, object)?;
    }
    Ok(())
}
