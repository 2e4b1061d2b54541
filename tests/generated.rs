//! Random programs: kernels and host code are generated, built with fusion off and on, and compared.
//!
//! A seed gives a program of several cases, each a chain of launches over a few buffers with
//! synchronisations, copies, branches, loops, streams and helpers between them, run for several sizes.
//! At the end stands how precise the static graph was: how often it says the width that was seen.
//! Runs a few seeds by default; `SIRIUS_FUZZ_SEEDS=from..to` runs others, for as long as one likes; the
//! programs that fail, or with `SIRIUS_FUZZ_KEEP` all, are kept.

mod generator;
mod harness;
#[path = "harness/seeds.rs"]
mod seeds;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

/// Cases of one program.
const CASES: usize = 8;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = match seeds::trials("generated", 0..3, |seed| generator::program(seed, CASES)) {
        Ok(trials) => trials,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::FAILURE;
        }
    };
    let trials = trials
        .into_iter()
        .chain([Trial::test("oracle", harness::check_oracle)])
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    println!("{}", harness::precision_table());
    conclusion.exit_code()
}
