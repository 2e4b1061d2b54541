//! Random programs by number.

use super::harness;
use libtest_mimic::{Arguments, Trial};
use std::ops::Range;
use std::process::ExitCode;

/// The `main` of a test of random programs: those of [`trials`], then `others`, then the oracle over all of
/// them.
pub fn run(
    name: &'static str,
    otherwise: Range<u64>,
    program: fn(u64) -> String,
    others: Vec<Trial>,
) -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = match trials(name, otherwise, program) {
        Ok(trials) => trials,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::FAILURE;
        }
    };
    trials.extend(others);
    trials.push(Trial::test("oracle", harness::check_oracle));
    let conclusion = libtest_mimic::run(&arguments, trials);
    harness::remove_cache();
    println!("{}", harness::precision_table());
    conclusion.exit_code()
}

/// A test for each seed, those of `SIRIUS_FUZZ_SEEDS` (`from..to`) or else the given ones: `program`
/// makes a program of it, which is built with fusion off and on and compared. Programs that fail, or
/// with `SIRIUS_FUZZ_KEEP` all, are kept.
///
/// # Errors
/// A sentence, when `SIRIUS_FUZZ_SEEDS` is no range.
pub fn trials(
    name: &'static str,
    otherwise: Range<u64>,
    program: fn(u64) -> String,
) -> Result<Vec<Trial>, String> {
    let seeds = chosen(otherwise)?;
    let trial = |seed| {
        Trial::test(format!("{name}/{seed}"), move || {
            let folder = tempfile::tempdir()?;
            let source = folder.path().join(format!("{name}_{seed}.cu"));
            std::fs::write(&source, program(seed))?;
            let result = harness::check(&source);
            if result.is_err() || std::env::var_os("SIRIUS_FUZZ_KEEP").is_some() {
                let kept = std::env::temp_dir().join(format!("sirius_{name}_{seed}.cu"));
                std::fs::copy(&source, &kept)?;
                eprintln!("the program of seed {seed} is kept in {}", kept.display());
            }
            if let Err(failure) = &result {
                eprintln!("{}", failure.message().unwrap_or_default());
            }
            result
        })
    };
    Ok(seeds.map(trial).collect())
}

/// The seeds of `SIRIUS_FUZZ_SEEDS`, or else the given ones.
///
/// # Errors
/// A sentence, when `SIRIUS_FUZZ_SEEDS` is no range.
pub fn chosen(otherwise: Range<u64>) -> Result<Range<u64>, String> {
    match std::env::var("SIRIUS_FUZZ_SEEDS") {
        Ok(text) => {
            range(&text).ok_or_else(|| format!("SIRIUS_FUZZ_SEEDS wants `from..to`, not {text:?}"))
        }
        Err(_) => Ok(otherwise),
    }
}

fn range(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}
