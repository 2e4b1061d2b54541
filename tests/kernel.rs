//! Filetests of the kernel stage: `tests/kernel/*.cu`.
//!
//! The first line of a case is `// test: kernel`, or `// test: kernel effects`. The models of its
//! kernels, or what a block of each does to memory, as text, stand in the trailing lines that begin
//! with `//> `; `SIRIUS_BLESS=1` rewrites them.

use inkwell::context::Context;
use libtest_mimic::{Arguments, Failed, Trial};
use sirius_rs::cli::{Invocation, find_toolchain, parse};
use sirius_rs::kernel::model_kernels;
use sirius_rs::program::read_program;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("tests/kernel is a folder")
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "cu"))
        .collect();
    cases.sort();
    let trials = cases
        .into_iter()
        .map(|case| {
            let name = case
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            Trial::test(name, move || check(&case))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn check(case: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(case)?;
    if !text.starts_with("// test: kernel") {
        return Err("the first line is not `// test: kernel`".into());
    }
    let (source, expected): (Vec<_>, Vec<_>) =
        text.lines().partition(|line| !line.starts_with("//>"));
    let effects = text.starts_with("// test: kernel effects");
    let found: Vec<String> = models(case, effects)?
        .lines()
        .map(|line| format!("//> {line}").trim_end().to_owned())
        .collect();
    if found == expected {
        return Ok(());
    }
    if std::env::var_os("SIRIUS_BLESS").is_some() {
        let mut blessed = source.join("\n").trim_end().to_owned();
        write!(blessed, "\n\n{}\n", found.join("\n"))?;
        std::fs::write(case, blessed)?;
        return Ok(());
    }
    Err(format!(
        "expected:\n{}\nfound:\n{}",
        expected.join("\n"),
        found.join("\n")
    )
    .into())
}

/// The models of a source's kernels, or the effects of their blocks, one after the other.
fn models(case: &Path, effects: bool) -> Result<String, Failed> {
    let arguments: Vec<OsString> = vec!["--sirius-device=cpu".into(), "-c".into(), case.into()];
    let environment = |name: &str| std::env::var(name).ok();
    let (Invocation::Build(build), _) = parse(&arguments, &environment)? else {
        return Err("a compile command was not understood as one".into());
    };
    let toolchain = find_toolchain(&build)?;
    let context = Context::create();
    let program = read_program(&context, &build, &toolchain)?;
    Ok(model_kernels(&program)
        .iter()
        .map(|model| match effects {
            true => format!(
                "kernel {}\n{}",
                model.display_name,
                model.block_effects_text()
            ),
            false => model.to_string(),
        })
        .collect::<Vec<_>>()
        .join("\n"))
}
