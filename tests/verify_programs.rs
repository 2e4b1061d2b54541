//! The plans of whole programs: each of `test_programs` is analysed, its plan must pass, fuse what
//! the program's first lines promise, and be refused when a barrier or a configuration test is
//! taken away.

use inkwell::context::Context;
use rayon::prelude::*;
use sirius_rs::dependence::{Guard, build_dependence_graph, take_domains};
use sirius_rs::driver::cli::{Invocation, parse};
use sirius_rs::kernel::{KernelModel, Tables, class_of, let_ended_threads_wait, model_kernels};
use sirius_rs::launch::{LaunchGraph, build_launch_graph, fold_launches_by_handles};
use sirius_rs::math::expression::{Condition, Expression};
use sirius_rs::program::read_program;
use sirius_rs::report::{Report, build_report};
use sirius_rs::schedule::{
    FusionPlan, ScheduleOptions, plan_fusion, plan_last_blocks, plan_recomputation,
};
use sirius_rs::tools::find_toolchain;
use sirius_rs::verify::verify;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

struct Analysed {
    graph: LaunchGraph,
    models: Vec<KernelModel>,
    plan: FusionPlan,
    report: Report,
}

fn analyse(source: &Path) -> Analysed {
    let arguments = [source.into(), OsString::from("--sirius-device=cpu")];
    let environment = |name: &str| std::env::var(name).ok();
    let (invocation, _) = parse(&arguments, &environment).expect("a plain command line");
    let Invocation::Build(build) = invocation else {
        panic!("a source is built");
    };
    let toolchain = find_toolchain(&build).expect("clang and a toolkit");
    let context = Context::create();
    let mut program = read_program(&context, &build, &toolchain).expect("test programs compile");
    fold_launches_by_handles(&program).expect("launches fold");
    let mut graph = build_launch_graph(&program);
    let mut models = model_kernels(&program, &Tables::Unknown);
    let architecture = build.oldest_target().number;
    let_ended_threads_wait(&mut program, &mut models, architecture).expect("LLVM's passes");
    take_domains(&mut graph, &models);
    let dependences = build_dependence_graph(&graph, &models);
    let options = ScheduleOptions::from(&build.sirius);
    let (mut plan, mut missed) = plan_fusion(&graph, &models, &dependences, &options);
    for add in [plan_last_blocks, plan_recomputation] {
        let planned = (&mut plan, &mut missed);
        add(&graph, &models, &dependences, &options, planned);
    }
    let report = build_report(&graph, &models, &dependences, &plan, &missed, &[]);
    Analysed {
        graph,
        models,
        plan,
        report,
    }
}

/// What the program's comment promises and what was found, where these differ.
fn broken_promise(text: &str, report: &Report) -> Option<String> {
    let promise = text
        .lines()
        .find_map(|line| line.strip_prefix("// expect: "));
    let reasons: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("// expect-missed: "))
        .collect();
    let counts = &report.counts;
    let found = format!("{} launches -> {}", counts.launches, counts.launches_after);
    let missed: Vec<_> = report
        .missed
        .iter()
        .filter(|missed| !missed.carried)
        .map(|missed| missed.reason.as_str())
        .collect();
    let kept = promise == Some(found.as_str()) && (reasons.is_empty() || reasons == missed);
    (!kept).then(|| {
        let missed: Vec<_> = report
            .missed
            .iter()
            .map(|missed| format!("{}: {}", missed.reason, missed.message))
            .collect();
        format!("promises {promise:?} {reasons:?}, found {found} {missed:#?}")
    })
}

/// What is wrong with the judgement of the program's plan and of worse plans.
fn misjudged(analysed: &Analysed) -> Vec<String> {
    let judge = |plan: FusionPlan| verify(&analysed.graph, &analysed.models, plan);
    let mut wrong = Vec::new();
    if let Err(refusals) = judge(analysed.plan.clone()) {
        wrong.extend(refusals.iter().map(|refusal| format!("refused: {refusal}")));
        return wrong;
    }
    for (index, group) in analysed.plan.groups.iter().enumerate() {
        // Members that depend on each other, interleaved or the other way round.
        for (position, pair) in group.members.windows(2).enumerate() {
            let nodes =
                [position, position + 1].map(|at| analysed.report.fusions[index].members[at]);
            let mut edges = analysed.report.edges.iter();
            if !edges.any(|edge| [edge.src, edge.dst] == nodes) {
                continue;
            }
            for together in [true, false] {
                let mut worse = analysed.plan.clone();
                let group = &mut worse.groups[index];
                group.segments = group.segments_in_order();
                group.segments.retain(|segment| segment.len() == 1);
                let place = group
                    .segments
                    .iter()
                    .position(|segment| segment[0] == position);
                let next = group
                    .segments
                    .iter()
                    .position(|segment| segment[0] == position + 1);
                let (Some(place), Some(next)) = (place, next) else {
                    continue;
                };
                match together {
                    true => {
                        group.segments[place].push(position + 1);
                        group.segments.remove(next);
                    }
                    false => group.segments.swap(place, next),
                }
                if judge(worse).is_ok() {
                    let launch = pair[1].launch.0;
                    wrong.push(format!("passes with launch {launch} before its time"));
                }
            }
        }
        for (position, member) in group.members.iter().enumerate() {
            let mut worse = analysed.plan.clone();
            worse.groups[index].members[position].barrier_before = false;
            if member.barrier_before && judge(worse).is_ok() {
                wrong.push(format!(
                    "passes without the barrier before launch {}",
                    member.launch.0
                ));
            }
            let mut worse = analysed.plan.clone();
            let test = Guard::ConfigurationValid {
                launch: member.launch,
            };
            let group = &mut worse.groups[index];
            let alone = [&mut group.front_guards, &mut group.early_guards];
            let guards = alone.into_iter().flatten().chain([&mut group.guards]);
            guards.for_each(|guards| guards.retain(|guard| *guard != test));
            let node = &analysed.graph.nodes[analysed.report.fusions[index].members[position]];
            let constant = analysed.report.nodes[node.id.0]
                .grid
                .iter()
                .flatten()
                .all(|extent| matches!(extent, sirius_rs::report::Extent::Known(_)));
            if !constant && judge(worse).is_ok() {
                wrong.push(format!(
                    "passes without a test of launch {}",
                    member.launch.0
                ));
            }
        }
    }
    wrong
}

/// Every test of a size, of a stream or of equal pointers is needed, and so is each of its operands.
#[test]
fn tests_of_what_only_a_run_tells_are_needed() {
    assert_eq!(needed_tests("runtime_conditions.cu"), (3, 2, 0));
    assert_eq!(needed_tests("divisible.cu"), (6, 0, 0));
    assert_eq!(needed_tests("equal_pointers.cu"), (0, 0, 1));
}

/// How many tests of sizes, streams and equal pointers the plan of a program has, without any of which it is
/// refused.
fn needed_tests(name: &str) -> (usize, usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let analysed = analyse(&folder.join(name));
    let judge = |plan: FusionPlan| verify(&analysed.graph, &analysed.models, plan).is_ok();
    assert!(judge(analysed.plan.clone()));
    let (mut sizes, mut streams, mut pointers) = (0, 0, 0);
    for (index, group) in analysed.plan.groups.iter().enumerate() {
        for (position, guard) in group.guards.iter().enumerate() {
            let wrong = match guard {
                Guard::Holds { class, condition } if class == "size" || class == "divisible" => {
                    sizes += 1;
                    let Condition::Equal(size, known) = condition else {
                        panic!("sizes are compared");
                    };
                    // Steps of twice the grid stay in their threads, too, and nothing but zero is twice itself.
                    let other = match known {
                        Expression::Multiply(_, size) if matches!(**size, Expression::Leaf(_)) => {
                            known.clone().multiply(Expression::Constant(2))
                        }
                        _ => known.clone().add(Expression::Constant(1)),
                    };
                    [
                        Condition::Equal(size.clone(), other),
                        Condition::LessEqual(size.clone(), known.clone()),
                        Condition::Equal(known.clone(), known.clone()),
                    ]
                    .map(|condition| Guard::Holds {
                        class: class.clone(),
                        condition,
                    })
                    .to_vec()
                }
                Guard::SameStream { first, second } => {
                    streams += 1;
                    let (first, second) = (*first, *second);
                    vec![
                        Guard::SameStream {
                            first,
                            second: first,
                        },
                        Guard::SameStream {
                            first: second,
                            second,
                        },
                        Guard::NotCapturing { launch: first },
                    ]
                }
                Guard::SameOrDisjoint { left, right } => {
                    pointers += 1;
                    [left, right]
                        .map(|side| Guard::SameOrDisjoint {
                            left: side.clone(),
                            right: side.clone(),
                        })
                        .to_vec()
                }
                _ => continue,
            };
            let mut without = analysed.plan.clone();
            without.groups[index].guards.remove(position);
            assert!(!judge(without), "passes without {guard:?}");
            for other in wrong {
                let mut worse = analysed.plan.clone();
                worse.groups[index].guards[position] = other.clone();
                assert!(!judge(worse), "passes with {other:?} for {guard:?}");
            }
        }
    }
    (sizes, streams, pointers)
}

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_programs");
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut sources: Vec<_> = entries
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "cu"))
        .collect();
    sources.sort();
    assert!(sources.len() > 15, "the programs are there");
    sources
}

#[test]
fn plans_of_test_programs() {
    let found: Vec<(String, Vec<String>)> = sources()
        .par_iter()
        .map(|source| {
            let text = std::fs::read_to_string(source).expect("a source can be read");
            let analysed = analyse(source);
            let name = source
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let found = misjudged(&analysed)
                .into_iter()
                .chain(broken_promise(&text, &analysed.report));
            let wrong = found.map(|what| format!("{name}: {what}")).collect();
            (classes(&name, &analysed.models), wrong)
        })
        .collect();
    let (mut classes, wrong): (Vec<String>, Vec<Vec<String>>) = found.into_iter().unzip();
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    classes.sort();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/classes_of_programs.txt");
    let classes = classes.concat();
    if std::env::var_os("SIRIUS_BLESS").is_some() {
        std::fs::write(&file, &classes).expect("expectations can be written");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), classes);
}

/// What kind of work the kernels of a program do, a line each. Copies and sets have kernels of the compiler's own.
fn classes(program: &str, models: &[KernelModel]) -> String {
    let written = models
        .iter()
        .filter(|model| !model.display_name.starts_with("cudaMem"));
    let lines = written.map(|model| {
        let class = class_of(model).name();
        format!("{program} {}: {class}\n", model.display_name)
    });
    lines.collect()
}
