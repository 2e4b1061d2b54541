//! Filetests of the kernel stage: `tests/kernel/*.cu`.
//!
//! The first line of a case is `// test: kernel`, `// test: kernel effects` or `// test: kernel classes`. The models of
//! its kernels, what a block of each does to memory, or what planners take them for, as text, stand in the trailing
//! lines that begin with `//> `; `SIRIUS_BLESS=1` rewrites them. Behind `// test: kernel iterations` stand the kernels that
//! run one iteration of those that are a loop over the whole grid.

#[path = "harness/filetests.rs"]
mod filetests;

use inkwell::context::Context;
use libtest_mimic::{Arguments, Failed};
use sirius_rs::driver::cli::{Invocation, parse};
use sirius_rs::kernel::{KernelModel, Tables, class_of, model_kernels};
use sirius_rs::program::read_program;
use sirius_rs::tools::find_toolchain;
use std::ffi::OsString;
use std::path::Path;

fn main() {
    let is_case = |path: &Path| path.extension().is_some_and(|ending| ending == "cu");
    libtest_mimic::run(
        &Arguments::from_args(),
        filetests::trials("kernel", is_case, check),
    )
    .exit()
}

fn check(case: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(case)?;
    if !text.starts_with("// test: kernel") {
        return Err("the first line is not `// test: kernel`".into());
    }
    let shown = |what: &str| text.starts_with(&format!("// test: kernel {what}"));
    let form: fn(&KernelModel) -> String = if shown("effects") {
        |model| {
            format!(
                "kernel {}\n{}",
                model.display_name,
                model.block_effects_text()
            )
        }
    } else if shown("classes") {
        |model| format!("{}: {}", model.display_name, class_of(model).name())
    } else {
        KernelModel::to_string
    };
    // Kernels that the compiler makes of loops over the whole grid are shown by themselves.
    let iterations = shown("iterations");
    filetests::compare(case, "//>", &models(case, iterations, form)?)
}

/// The models of a source's kernels in a form, one after the other.
fn models(
    case: &Path,
    iterations: bool,
    form: fn(&KernelModel) -> String,
) -> Result<String, Failed> {
    let words = ["--sirius-device=cpu", "-arch=sm_80", "-c"];
    let mut arguments: Vec<OsString> = words.map(OsString::from).to_vec();
    arguments.push(case.into());
    let environment = |name: &str| std::env::var(name).ok();
    let (Invocation::Build(build), _) = parse(&arguments, &environment)? else {
        return Err("a compile command was not understood as one".into());
    };
    let toolchain = find_toolchain(&build)?;
    let context = Context::create();
    let program = read_program(&context, &build, &toolchain)?;
    Ok(model_kernels(&program, &Tables::Unknown)
        .iter()
        .filter(|model| model.iteration_of.is_some() == iterations)
        .map(form)
        .collect::<Vec<_>>()
        .join("\n"))
}
