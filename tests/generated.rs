//! Random programs: kernels and host code are generated, built with fusion off and on, and compared.
//!
//! A seed gives a program of several cases, each a chain of launches over a few buffers with
//! synchronisations, copies, branches, loops, streams and helpers between them, run for several sizes.
//! At the end stands how precise the static graph was: how often it says the width that was seen.
//! Runs a few seeds by default; `SIRIUS_FUZZ_SEEDS=from..to` runs others, for as long as one likes; the
//! programs that fail, or with `SIRIUS_FUZZ_KEEP` all, are kept.

mod generator;
mod harness;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

/// Cases of one program.
const CASES: usize = 8;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let range = std::env::var("SIRIUS_FUZZ_SEEDS").unwrap_or_else(|_| "0..3".to_owned());
    let bounds: Vec<u64> = range
        .split("..")
        .filter_map(|bound| bound.parse().ok())
        .collect();
    let [from, to] = bounds[..] else {
        eprintln!("SIRIUS_FUZZ_SEEDS wants `from..to`, not {range:?}");
        return ExitCode::FAILURE;
    };
    let trials = (from..to)
        .map(|seed| {
            Trial::test(format!("generated/{seed}"), move || {
                let folder = tempfile::tempdir()?;
                let source = folder.path().join(format!("seed_{seed}.cu"));
                std::fs::write(&source, generator::program(seed, CASES))?;
                let result = harness::check(&source);
                if result.is_err() || std::env::var_os("SIRIUS_FUZZ_KEEP").is_some() {
                    let kept = std::env::temp_dir().join(format!("sirius_seed_{seed}.cu"));
                    std::fs::copy(&source, &kept)?;
                    eprintln!("the program of seed {seed} is kept in {}", kept.display());
                }
                if let Err(failure) = &result {
                    eprintln!("{}", failure.message().unwrap_or_default());
                }
                result
            })
        })
        .chain([Trial::test("oracle", harness::check_oracle)])
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    println!("{}", harness::precision_table());
    conclusion.exit_code()
}
