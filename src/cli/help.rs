//! The texts of `--help` and `--version`.

use super::options::{Arity, Class, OptionRow, all_options};
use std::fmt::Write as _;

/// How `sirius-rs` is used, with every option of the table.
pub(super) fn help() -> String {
    let mut text = String::from(
        "\
Usage: sirius-rs [options] files... [-o FILE]
       sirius-rs analyze [options] files... [--format=text|json|dot|html] [-o FILE]
       sirius-rs tune [--pack] [options] files... -o FILE

Compiles CUDA programs with nvcc's command line, fuses kernel launches that it can prove to be
one, and links a program with the same results. 'analyze' reports and builds nothing. 'tune'
measures variants of fused kernels here, or with --pack makes a program that does it elsewhere.

Options of sirius-rs:
",
    );
    let descriptions = [
        (
            "--sirius-device=cuda|cpu",
            "build for NVIDIA GPUs, or for this machine's processors",
        ),
        ("", "(default: $SIRIUS_DEVICE, else cuda)"),
        (
            "--sirius-fusion=off|local|all",
            "what may be fused (default: all)",
        ),
        (
            "--sirius-report=FILE",
            "write a report; its form follows .txt .json .dot .html",
        ),
        (
            "--sirius-max-fusions=N",
            "fuse at most N groups, to find a culprit",
        ),
        (
            "--sirius-keep-syncs",
            "no launch moves across a synchronisation",
        ),
        (
            "--sirius-orientation=NAME",
            "auto, v, h, vmax, vmin, or a variant that the report lists",
        ),
        (
            "--sirius-tune=off|model|measure",
            "choose variants by a cost model, or by running them",
        ),
        ("", "(default: off)"),
        (
            "--sirius-tune-budget=SECONDS",
            "how long measuring may take (default: 60)",
        ),
        (
            "--sirius-tune-seed=N",
            "seed of the search where there are many variants",
        ),
        (
            "--sirius-tune-results=FILE",
            "choose by what 'sirius-rs tune' measured",
        ),
        (
            "--sirius-stop-after=STAGE",
            "program launch kernel dependence schedule verify codegen",
        ),
        (
            "--sirius-dump=STAGE",
            "write what a stage found to standard error",
        ),
        (
            "--sirius-toolkit=DIR",
            "lay out a folder that stands for a CUDA toolkit",
        ),
        (
            "--sirius-print-link-flags",
            "print what plain g++ needs to link our objects",
        ),
    ];
    for (option, description) in descriptions {
        let _ = writeln!(text, "  {option:<31} {description}");
    }
    let mut section = |title: &str, wanted: fn(&Class) -> bool| {
        let _ = writeln!(text, "\n{title}");
        let rows = all_options().filter(|row| !row.long.starts_with("sirius-"));
        for row in rows.filter(|row| wanted(&row.class)) {
            let _ = writeln!(text, "  {}", spelled(row));
        }
    };
    section("Options of nvcc that are honoured:", |class| {
        matches!(class, Class::Honour(_))
    });
    section(
        "Options of nvcc that are accepted and change nothing:",
        |class| matches!(class, Class::Ignore),
    );
    text.push_str(
        "
Options of the host compiler (-pthread -fPIC -Wall -march=... -Wl,...) are passed on.
Environment: NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS NVCC_CCBIN CUDA_PATH CUDA_HOME
             SIRIUS_FLAGS SIRIUS_DEVICE SIRIUS_CLANG SIRIUS_RUNTIME
",
    );
    text
}

/// What `--version` prints: CMake looks for the first line's words and for `V…`, the toolkit's
/// full version.
pub(super) fn version(toolkit_release: Option<String>) -> String {
    let mut text = format!(
        "nvcc: NVIDIA (R) Cuda compiler driver\n\
         The line above is for build systems; this is sirius-rs {}, not a product of NVIDIA\n",
        env!("CARGO_PKG_VERSION")
    );
    match toolkit_release {
        Some(full) => {
            let short = full.split('.').take(2).collect::<Vec<_>>().join(".");
            let _ = writeln!(text, "Cuda compilation tools, release {short}, V{full}");
        }
        None => text.push_str("No CUDA toolkit was found; run scripts/setup\n"),
    }
    text
}

fn spelled(row: &OptionRow) -> String {
    let value = match row.arity {
        Arity::Flag => "",
        Arity::Scalar | Arity::Repeated => " <value>",
        Arity::List => " <value>,...",
    };
    let short = row
        .short
        .iter()
        .map(|name| format!("(-{name})"))
        .collect::<Vec<_>>()
        .join(" ");
    format!("{:<50} {short}", format!("--{}{value}", row.long))
        .trim_end()
        .to_owned()
}
