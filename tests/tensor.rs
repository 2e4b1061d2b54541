//! Tensor definitions.
//!
//! * `cases/…`: a file of `tests/tensor/cases`. What is inferred of its definitions and how they become kernels, or the
//!   messages about what is wrong, stand in the trailing lines that begin with `#> `; `SIRIUS_BLESS=1` rewrites them.
//! * `counted`: what the CPU device counts beside kernels by hand is within limits; the table of the page.
//! * `several_products`: what is counted of products that are one kernel.
//! * `pieces`: sums of many terms for few elements, by several blocks.
//! * `short_rows`: what is counted of rows that are known to be short.
//! * `hostile`: changed cases, of which none makes the compiler fail.
//! * `interface`: what is written, and what the launcher refuses.
//! * `known`: builds take options that are known for some sizes, and nothing else from a file of them.
//! * `programs/…`: a program of `test_programs/tensor`, a `.tc` and a `.cu` of one name, by one mapping. It compares with the
//!   host in double precision, with the reference, with the default mapping, and by templates, where nothing races; a line `# built with:` has the compiler's options,
//!   `# mappings:` which of them is tried (`none`: a test of its own runs it), and what else, such as strategies of isl's scheduler, and `# launches:` how many
//!   launches of some definitions a run executes. A `.template` of its name has templates.
//! * `schedules/…`: a file of `tests/tensor/schedules`, and its schedule in lines as those of `cases`; the options are those of
//!   lines `# stages: 2`, `# reductions: ordered`, `# mapping:`, and `# fusion:` has strategies of isl's scheduler.
//! * `templates/…`: a file of `tests/tensor/templates`, templates of its definitions in lines that begin with `#!`, apart by
//!   empty ones, and what becomes of each: its schedule, or what is wrong with it, in lines as those of `cases`. A line
//!   `# reductions: ordered` has that option.
//! * `printed_templates`: templates of all definitions of this folder and of programs are read as they were written.
//! * `together`: definitions of several mappings in one program, whose launches fuse with each other; and nothing races.
//! * `random/…`: random definitions, of which an interpreter and all mappings make the same, and nothing races.
//!   `SIRIUS_FUZZ_SEEDS=from..to` runs other seeds, and those that fail, or with `SIRIUS_FUZZ_KEEP` all, are kept.

#[path = "tensor/counted.rs"]
mod counted;
#[allow(dead_code, reason = "cases of this test are in a folder beside others")]
#[path = "harness/filetests.rs"]
mod filetests;
#[path = "tensor/generator.rs"]
mod generator;
#[path = "tensor/host.rs"]
mod host;
#[path = "tensor/hostile.rs"]
mod hostile;
#[path = "tensor/interpreter.rs"]
mod interpreter;
#[path = "tensor/known.rs"]
mod known;
#[path = "tensor/once.rs"]
mod once;
#[path = "harness/quick_link.rs"]
mod quick_link;
#[path = "tensor/random.rs"]
mod random;
#[path = "tensor/templates.rs"]
mod templates;
#[path = "tensor/together.rs"]
mod together;

use libtest_mimic::{Arguments, Failed, Trial};
use sirius_rs::tensor::describe::{describe, describe_launches};
use sirius_rs::tensor::mapping::{Mapping, Scatter, map};
use sirius_rs::tensor::polyhedral::Strategy;
use sirius_rs::tensor::stitch::parser::parse;
use sirius_rs::tensor::transform::Reductions;
use sirius_rs::tensor::transform::schedule::schedule;
use sirius_rs::tensor::{Options, check, translate, translate_by};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = Vec::new();
    for case in files(&root.join("tests/tensor/cases"), "tc") {
        trials.push(Trial::test(format!("cases/{}", stem(&case)), move || {
            self::case(&case)
        }));
    }
    for program in files(&root.join("test_programs/tensor"), "cu") {
        for space in spaces(&program) {
            let name = format!("programs/{}/{space}", stem(&program));
            let program = program.clone();
            trials.push(Trial::test(name, move || self::program(&program, &space)));
        }
    }
    for case in files(&root.join("tests/tensor/schedules"), "tc") {
        trials.push(Trial::test(
            format!("schedules/{}", stem(&case)),
            move || schedules(&case),
        ));
    }
    for case in files(&root.join("tests/tensor/templates"), "tc") {
        trials.push(Trial::test(
            format!("templates/{}", stem(&case)),
            move || templates::case(&case),
        ));
    }
    let cases = files(&root.join("tests/tensor/cases"), "tc");
    let mut written = cases.clone();
    written.extend(files(&root.join("test_programs/tensor"), "tc"));
    trials.push(Trial::test("printed_templates", move || {
        templates::printed(&written)
    }));
    trials.push(Trial::test("hostile", move || hostile::texts(&cases)));
    trials.push(Trial::test("counted", counted::check));
    trials.push(Trial::test("short_rows", counted::short_rows));
    trials.push(Trial::test("pieces", counted::pieces));
    trials.push(Trial::test("several_products", counted::products));
    trials.push(Trial::test("interface", interface));
    trials.push(Trial::test("known", known::check));
    trials.push(Trial::test("together", together::check));
    for seed in random::seeds() {
        trials.push(Trial::test(format!("random/{seed}"), move || {
            random::check(seed)
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("there is a folder of cases");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files.sort();
    files
}

/// The mark of lines that say what is expected.
const MARK: &str = "#>";

fn case(case: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(case)?;
    let source: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with(MARK))
        .collect();
    let source = format!("{}\n", source.join("\n").trim_end());
    let name = case.file_name().unwrap_or_default().to_string_lossy();
    let found = match check(&source) {
        Ok(functions) => {
            let mut found = String::new();
            for function in &functions {
                found += &describe(function);
                let options = Options {
                    mapping: Mapping::Parallel,
                    ..Options::default()
                };
                let launches = map(function, options);
                found += &describe_launches(function, &launches, 1);
            }
            let mappings = [
                Mapping::Identity,
                Mapping::Parallel,
                Mapping::Tiled,
                Mapping::Auto,
                Mapping::Stitched,
            ];
            for mapping in mappings {
                for scatter in [Scatter::Ordered, Scatter::Atomic] {
                    let options = Options {
                        mapping,
                        scatter,
                        ..Options::default()
                    };
                    translate(&name, &source, options)
                        .map_err(|_| "what is accepted is translated")?;
                }
                for &(fusion, _) in STRATEGIES {
                    let options = Options {
                        mapping,
                        fusion,
                        ..Options::default()
                    };
                    translate(&name, &source, options)
                        .map_err(|_| "what is accepted is translated")?;
                }
            }
            found
        }
        Err(faults) => faults
            .iter()
            .map(|fault| fault.render(&name, &source, false))
            .collect(),
    };
    filetests::compare(case, MARK, &found)
}

/// How the definitions of a file are scheduled.
fn schedules(case: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(case)?;
    let source = text.lines().filter(|line| !line.starts_with(MARK));
    let source: String = source.map(|line| format!("{line}\n")).collect();
    let functions = check(&source).map_err(|_| "it is right")?;
    let said = |what: &str| text.lines().find_map(|line| line.strip_prefix(what));
    let mapping = match said("# mapping: ") {
        Some("parallel") => Mapping::Parallel,
        Some("tiled") => Mapping::Tiled,
        _ => Mapping::Auto,
    };
    let strategies = said("# fusion: ").unwrap_or("auto");
    let mut found = String::new();
    for name in strategies.split(' ') {
        let named = STRATEGIES.iter().find(|(_, known)| *known == name);
        let (fusion, _) = *named.ok_or_else(|| format!("there is no strategy '{name}'"))?;
        let options = Options {
            mapping,
            fusion,
            stages: said("# stages: ").map(str::parse).transpose()?,
            reductions: match said("# reductions: ordered") {
                Some(_) => Reductions::Ordered,
                None => Reductions::Parallel,
            },
            ..Options::default()
        };
        for function in &functions {
            found += &schedule(function, options);
            translate("shown.tc", &source, options).map_err(|_| "it is right")?;
        }
    }
    filetests::compare(case, MARK, &found)
}

/// Which statements share a kernel, as `--sirius-tc-fusion` names it.
pub const STRATEGIES: &[(Strategy, &str)] = &[
    (Strategy::Auto, "auto"),
    (Strategy::Minimal, "min"),
    (Strategy::Maximal, "max"),
    (Strategy::ThreeParallel, "three-parallel"),
];

/// The mappings with which a program is built.
fn spaces(source: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(source.with_extension("tc")).unwrap_or_default();
    let said = text.lines().find_map(|line| line.strip_prefix(MAPPINGS));
    let spaces = match said {
        Some("none") => "",
        said => said.unwrap_or("identity automatic stitched"),
    };
    spaces.split_whitespace().map(str::to_owned).collect()
}

/// The line of a program's definitions that says its mappings.
const MAPPINGS: &str = "# mappings: ";

/// A program by one mapping, in one source. The reference is what it is without fusion.
fn program(source: &Path, space: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let place = |name: &str| folder.path().join(name);
    let definitions = source.with_extension("tc");
    let name = definitions
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let text = std::fs::read_to_string(&definitions)?;
    let lines = text.lines();
    let said = |what: &str| lines.clone().find_map(|line| line.strip_prefix(what));
    let (built_with, launches) = (said("# built with: "), said("# launches: "));
    let (mapping, fusion) = match space {
        "identity" => (Mapping::Identity, Strategy::Auto),
        "automatic" => (Mapping::Auto, Strategy::Auto),
        "stitched" => (Mapping::Stitched, Strategy::Auto),
        "atomic" => (Mapping::Auto, Strategy::Auto),
        "minimal" => (Mapping::Parallel, Strategy::Minimal),
        "maximal" => (Mapping::Parallel, Strategy::Maximal),
        "three_parallel" => (Mapping::Parallel, Strategy::ThreeParallel),
        "maximal_rows" => (Mapping::Auto, Strategy::Maximal),
        _ => return Err(format!("there is no mapping '{space}'").into()),
    };
    let options = Options {
        mapping,
        fusion,
        scatter: match space {
            "atomic" => Scatter::Atomic,
            _ => Scatter::Ordered,
        },
        ..Options::default()
    };
    let templates = match mapping {
        Mapping::Stitched => std::fs::read_to_string(source.with_extension("template")),
        _ => Ok(String::new()),
    };
    let templates = templates.ok().filter(|text| !text.is_empty());
    let templates = templates.map_or(Ok(Vec::new()), |text| parse(&text));
    let templates = templates.map_err(|fault| fault.message)?;
    let made = translate_by(&name, &text, &mut |_| options, &templates)
        .map_err(|wrong| format!("it is right, but {wrong:?}"))?;
    let mut whole = made.source;
    whole += &format!("#include \"{}\"\n", source.display());
    std::fs::write(place("whole.cu"), whole)?;
    std::fs::write(place(&format!("{name}.h")), made.header)?;
    let mut compiler = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
    compiler.arg("--sirius-device=cpu");
    match mapping {
        // The reference needs no optimisation, which takes most of the time.
        Mapping::Identity => compiler.args(["--sirius-fusion=off", "--Ofast-compile=max"]),
        _ => compiler.arg("--sirius-fusion=all"),
    };
    compiler
        .args(built_with.unwrap_or_default().split_whitespace())
        .arg("-I")
        .arg(folder.path())
        .arg("-I")
        .arg(source.parent().unwrap_or(source))
        .arg(place("whole.cu"))
        .args(quick_link::QUICK_LINK)
        .arg("-o")
        .arg(place("program"))
        .env("SIRIUS_STRICT", "1");
    run(&mut compiler)?;
    let said = run(&mut Command::new(place("program")))?;
    let mut all = vec![said];
    if mapping != Mapping::Identity {
        all.push(run(
            Command::new(place("program")).env("SIRIUS_CHECK", "race")
        )?);
    }
    if all.iter().any(|said| said.matches("PASS").count() != 1) {
        return Err(format!("it says {all:?}").into());
    }
    match launches {
        Some(launches) => counted::launches(&place("program"), &place("counted.json"), launches),
        None => Ok(()),
    }
}

/// What is made is what is shown, which is a source like any other; and the launcher refuses sizes.
fn interface() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let place = |name: &str| folder.path().join(name);
    std::fs::write(
        place("net.tc"),
        "def window(float(N) A, int first) -> (float(4) B) {\n  B(i) = A(i + first)\n}\n",
    )?;
    std::fs::write(place("main.cu"), MAIN)?;
    let compiler = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
        command
            .current_dir(folder.path())
            .env("SIRIUS_DEVICE", "cpu")
            .args(arguments);
        command
    };
    run(&mut compiler(&[
        "net.tc",
        "main.cu",
        "--sirius-tc-emit=shown",
        "-o",
        "app",
    ]))?;
    for (form, file) in [("cuda", "shown/net.tc.cu"), ("header", "shown/net.tc.h")] {
        let text = run(&mut compiler(&["tc", "net.tc", &format!("--emit={form}")]))?;
        if text != std::fs::read_to_string(place(file))? {
            return Err(format!("{file} is not what --emit={form} says").into());
        }
    }
    let said = run(&mut compiler(&["tc", "--emit=ir", "net.tc"]))?;
    if !said.contains("check first + 3 <= N - 1") {
        return Err(said.into());
    }
    run(&mut compiler(&[
        "shown/net.tc.cu",
        "main.cu",
        "-Ishown",
        "-o",
        "by_hand",
    ]))?;
    for program in ["app", "by_hand"] {
        let said = run(Command::new(place(program)).arg("2"))?;
        if said != "2 3 4 5\n" {
            return Err(format!("{program} says {said}").into());
        }
        let refused = Command::new(place(program)).arg("7").output()?;
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        let expected = "net.tc:2: window: the subscript 'first + i' reaches first + 3, but 'A' has the extent N";
        if refused.status.success() || !message.contains(expected) {
            return Err(format!("{program}: {}: {message}", refused.status).into());
        }
    }
    Ok(())
}

/// Takes four elements of ten from where its argument says.
const MAIN: &str = r#"
#include "net.tc.h"
#include <cstdio>
#include <cstdlib>
int main(int, char **arguments)
{
    float host[10], *device, *made;
    for (int i = 0; i < 10; ++i)
        host[i] = i;
    cudaMalloc((void **)&device, sizeof host);
    cudaMalloc((void **)&made, 4 * sizeof(float));
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    window(0, 10, device, std::atoi(arguments[1]), made);
    cudaMemcpy(host, made, 4 * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]);
}
"#;

/// What a command says on standard output.
///
/// # Errors
/// It fails: all that it says.
pub fn run(command: &mut Command) -> Result<String, Failed> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(text),
        false => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(format!("{command:?}: {}\n{text}{errors}", output.status).into())
        }
    }
}
