//! Cases for the planner and the verifier, each a file: a launch graph and models of kernels as text, and what is expected.
//!
//! A file of `tests/schedule/` says which groups the planner makes, behind which guards, and why pairs stay apart; the
//! verifier has to pass each plan. A file of `tests/verify/` has a plan of its own, and says that it passes or why it is refused.
//! `tests/scenes/kernels.rs` and `tests/scenes/program.rs` describe the language. Expected lines begin with `//>`; with
//! `SIRIUS_BLESS=1` they are written anew.

#[path = "harness/filetests.rs"]
mod filetests;
#[path = "scenes/kernels.rs"]
mod kernels;
#[path = "scenes/program.rs"]
mod program;
#[path = "verify/scene.rs"]
#[expect(
    dead_code,
    reason = "what texts need of it is part of what other tests need"
)]
mod scene;
#[path = "scenes/shown.rs"]
mod shown;
#[path = "scenes/syntax.rs"]
mod syntax;

use libtest_mimic::{Arguments, Failed};
use program::Text;
use sirius_rs::build::Fusion;
use sirius_rs::dependence::build_dependence_graph;
use sirius_rs::schedule::occupancy::Limits;
use sirius_rs::schedule::{
    FusionPlan, Layout, ScheduleOptions, plan_fusion, plan_grid_barriers, plan_last_blocks,
    plan_recomputation,
};
use sirius_rs::verify::verify;
use std::path::Path;

const MARK: &str = "//>";

fn main() {
    let mut trials = filetests::trials("schedule", is_case, check_planner);
    trials.extend(filetests::trials("verify", is_case, check_verifier));
    trials.push(libtest_mimic::Trial::test("malformed", check_malformed));
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

fn is_case(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "txt")
}

fn read(case: &Path) -> Result<Text, Failed> {
    Ok(program::read(&std::fs::read_to_string(case)?)?)
}

fn check_planner(case: &Path) -> Result<(), Failed> {
    let text = read(case)?;
    if text.plan.is_some() {
        return Err("the planner makes the plan: a plan belongs into tests/verify".into());
    }
    let (graph, kernels) = (&text.scene.graph, &text.scene.kernels);
    let dependences = build_dependence_graph(graph, kernels);
    let options = options(&text.options)?;
    let (mut plan, mut missed) = plan_fusion(graph, kernels, &dependences, &options);
    let planned = (&mut plan, &mut missed);
    plan_grid_barriers(graph, kernels, &dependences, &options, planned);
    let planned = (&mut plan, &mut missed);
    plan_last_blocks(graph, kernels, &dependences, &options, planned);
    let planned = (&mut plan, &mut missed);
    plan_recomputation(graph, kernels, &dependences, &options, planned);
    if let Err(refusals) = verify(graph, kernels, plan.clone()) {
        return Err(shown::refusals(&refusals).into());
    }
    filetests::compare(case, MARK, &shown::plan(&text, &plan, &missed))
}

fn check_verifier(case: &Path) -> Result<(), Failed> {
    let text = read(case)?;
    let plan = text.plan.ok_or("there is no plan")?;
    // A plan is judged as it is read back from a file.
    let written = serde_json::to_string(&(&text.scene.graph, &text.scene.kernels, &plan))?;
    let (graph, kernels, plan): (_, Vec<_>, FusionPlan) = serde_json::from_str(&written)?;
    let found = match verify(&graph, &kernels, plan) {
        Ok(_) => "passes".to_owned(),
        Err(refusals) if refusals.is_empty() => return Err("a refusal has a reason".into()),
        Err(refusals) => shown::refusals(&refusals),
    };
    filetests::compare(case, MARK, &found)
}

/// Texts that are no scenes are refused, with the line that is wrong.
fn check_malformed() -> Result<(), Failed> {
    let kernel = "kernel f(float a[n], int n) {\n if (i < n) { write a[i]; }\n}\n";
    let cases = [
        ("", "there is no 'main'"),
        ("main { f<<<1, 2>>>(); }", "line 1: there is no kernel 'f'"),
        (
            "main { dance; }",
            "line 1: 'dance' is nothing that a host does",
        ),
        ("buffer a, a;", "line 1: 'a' is declared twice"),
        ("main { §", "line 1: \"§\" has no meaning here"),
        (
            "kernel f(float x[n]) { }",
            "the size of 'x' is no number and no parameter",
        ),
        (
            "kernel f(string x) { }",
            "line 1: 'string' is no type of a parameter",
        ),
        (
            "kernel f(int n) { read n[blockIdx.x * threadIdx.x]; }",
            "a factor has to be a constant",
        ),
        ("main { } plan { one; }", "line 1: there is no launch 'one'"),
    ];
    let behind = [
        (
            "buffer b;\nmain { f<<<1, 2>>>(b); }",
            "line 5: arguments are missing",
        ),
        (
            "buffer b;\nint n;\nmain {\n f<<<1, 2>>>(n, n);\n}",
            "line 7: 'n' is no buffer",
        ),
        (
            "buffer b;\nint n;\nmain { f<<<1, 2>>>(b, n); f<<<1, 2>>>(b, n); }",
            "two launches 'f'",
        ),
    ];
    let behind = behind.map(|(text, expected)| (format!("{kernel}{text}"), expected));
    let cases = cases.map(|(text, expected)| (text.to_owned(), expected));
    for (text, expected) in cases.into_iter().chain(behind) {
        match program::read(&text) {
            Ok(_) => return Err(format!("passes: {text}").into()),
            Err(found) if found.contains(expected) => (),
            Err(found) => {
                return Err(format!("{text}: expected '{expected}', found '{found}'").into());
            }
        }
    }
    Ok(())
}

/// The options of a text, besides those that all have.
fn options(named: &[String]) -> Result<ScheduleOptions, Failed> {
    let mut options = OPTIONS;
    for name in named {
        let option = match name.as_str() {
            "launch_batches" => &mut options.launch_batches,
            "persistent_loops" => &mut options.persistent_loops,
            "grid_barriers" => &mut options.grid_barriers,
            "last_block" => &mut options.last_block,
            "recomputation" => &mut options.recomputes,
            "asked_memory" => &mut options.asks_memory,
            "keep_synchronisations" => &mut options.keep_synchronisations,
            other => return Err(format!("'{other}' is no option of the planner").into()),
        };
        *option = true;
    }
    Ok(options)
}

/// What fuses without waiting.
const OPTIONS: ScheduleOptions = ScheduleOptions {
    fusion: Fusion::All,
    max_fusions: None,
    keep_synchronisations: false,
    launch_batches: false,
    persistent_loops: false,
    grid_barriers: false,
    last_block: false,
    recomputes: false,
    asks_memory: false,
    remaps_threads: true,
    host_constants: false,
    one_base: false,
    graphs: false,
    overlap: false,
    permutes_blocks: true,
    expands_buffers: false,
    reuses_shared_memory: true,
    reserves_memory: false,
    layout: Layout::Auto,
    limits: Limits::LEAST,
};
