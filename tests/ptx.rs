//! The reader of PTX: values that instructions give, the LLVM IR of a module, and what is said of wrong ones.
//!
//! A file of `tests/ptx/cases` has a kernel `case` with the addresses of its inputs and outputs, and lines
//! `// case: INPUTS -> OUTPUTS` of words of 32 bits, one line for each thread, as the PTX manual has the values. Of
//! `tests/ptx/ir`, `NAME.ptx` becomes `NAME.ll` (`SIRIUS_BLESS=1` writes it). Files of `tests/ptx/errors` begin with
//! `// error: LINE: MESSAGE`. `tests/ptx/instructions.txt` lists the instructions of the manual; `docs/ptx.md` has the table.

#[path = "ptx/coverage.rs"]
mod coverage;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "cuda_path/folder.rs"]
mod folder;
#[path = "ptx/reached.rs"]
mod reached;

use folder::{COMPILER, build, compiler};
use libtest_mimic::{Arguments, Failed, Trial};
use sirius_rs::ptx;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::LazyLock;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (folder, check) in [
        ("cases", check_values as fn(&Path) -> Result<(), Failed>),
        ("ir", check_text),
        ("errors", check_error),
    ] {
        for file in files(folder) {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            trials.push(Trial::test(format!("{folder}/{name}"), move || {
                check(&file)
            }));
        }
    }
    trials.push(Trial::test("instructions", || {
        coverage::check(Path::new(env!("CARGO_MANIFEST_DIR")))
    }));
    trials.push(Trial::test("reached", || {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        reached::check(root, &DRIVER.path().join("driver"))
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx")
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the cases");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    files
}

/// A program that loads a file and runs its kernel.
static DRIVER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let place = tempfile::tempdir().expect("a folder");
    let mut command = compiler();
    command
        .arg("--sirius-device=cpu")
        .arg(root().join("driver.cpp"))
        .arg("-o")
        .arg(place.path().join("driver"))
        .arg("-lcuda");
    build(&mut command).expect("the driver is built");
    place
});

fn check_values(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("// case:"));
    let cases: Vec<(Vec<String>, Vec<String>)> = lines
        .filter_map(|line| line.split_once("->"))
        .map(|(inputs, outputs)| (words(inputs), words(outputs)))
        .collect();
    let (inputs, outputs) = cases.first().ok_or("no case")?;
    let ran = Command::new(DRIVER.path().join("driver"))
        .arg(file)
        .args([cases.len(), inputs.len(), outputs.len()].map(|count| count.to_string()))
        .args(cases.iter().flat_map(|(inputs, _)| inputs))
        .env("SIRIUS_COMPILER", COMPILER)
        .output()?;
    let said = String::from_utf8_lossy(&ran.stdout);
    let errors = String::from_utf8_lossy(&ran.stderr);
    if !ran.status.success() {
        return Err(format!("{}\n{said}{errors}", ran.status).into());
    }
    let found: Vec<Vec<String>> = said.lines().map(words).collect();
    for (number, (inputs, outputs)) in cases.iter().enumerate() {
        if found.get(number) != Some(outputs) {
            let found = found.get(number);
            return Err(format!("{inputs:?} gives {found:?}, not {outputs:?}").into());
        }
    }
    Ok(())
}

fn check_text(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let made = ptx::device_module(&ptx::parse(&text)?, &name)?.text;
    let place = file.with_extension("ll");
    if std::env::var_os("SIRIUS_BLESS").is_some() {
        std::fs::write(&place, &made)?;
    }
    match std::fs::read_to_string(&place)? == made {
        true => Ok(()),
        false => Err(format!("{} differs from what is made now:\n{made}", place.display()).into()),
    }
}

fn check_error(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let expected = text
        .lines()
        .find_map(|line| line.strip_prefix("// error: "))
        .ok_or("no error is expected")?;
    let made = ptx::parse(&text).and_then(|module| ptx::device_module(&module, "case.ptx"));
    let found = match made {
        Ok(_) => return Err("it is read".into()),
        Err(error) => format!("{}: {error}", error.line()),
    };
    match found == expected {
        true => Ok(()),
        false => Err(format!("says {found:?}, not {expected:?}").into()),
    }
}
