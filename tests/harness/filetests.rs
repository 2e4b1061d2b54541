//! Filetests: a case is a file whose trailing lines, each after a mark, are what is expected of it.

use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};

/// A trial for each file of `tests/STAGE` that is a case.
pub fn trials(
    stage: &str,
    is_case: fn(&Path) -> bool,
    check: fn(&Path) -> Result<(), Failed>,
) -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(stage);
    let mut cases: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the stage has a folder of cases")
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| is_case(path))
        .collect();
    cases.sort();
    let trials = cases.into_iter().map(|case| {
        let name = case
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        Trial::test(name, move || check(&case))
    });
    trials.collect()
}

/// The text of a case in two: its source, and the lines of what is expected.
fn split(text: &str, mark: &str) -> (String, Vec<String>) {
    let (expected, source): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with(mark));
    let expected = expected.iter().map(|line| line.trim_end().to_owned());
    (source.join("\n"), expected.collect())
}

/// Compares what was found for a case with what its file expects; with `SIRIUS_BLESS` the file expects it
/// from now on.
///
/// # Errors
/// Both, where they differ.
pub fn compare(case: &Path, mark: &str, found: &str) -> Result<(), Failed> {
    let (source, expected) = split(&std::fs::read_to_string(case)?, mark);
    let found: Vec<String> = found
        .lines()
        .map(|line| format!("{mark} {line}").trim_end().to_owned())
        .collect();
    if found == expected {
        return Ok(());
    }
    let (expected, found) = (expected.join("\n"), found.join("\n"));
    if std::env::var_os("SIRIUS_BLESS").is_some() {
        std::fs::write(case, format!("{}\n\n{found}\n", source.trim_end()))?;
        return Ok(());
    }
    Err(format!("expected:\n{expected}\nfound:\n{found}").into())
}
