//! Random programs: kernels and host code are generated, built with fusion off and on, and compared.
//!
//! A seed gives a program of several cases, each a chain of launches over a few buffers with
//! synchronisations, copies, branches, loops, streams and helpers between them, run for several sizes.
//! At the end stands how precise the static graph was: how often it says the width that was seen.
//! [`groups`] are smaller cases, many more of them. Runs a few seeds of both by default;
//! `SIRIUS_FUZZ_SEEDS=from..to` runs others, for as long as one likes; the programs that fail, or with
//! `SIRIUS_FUZZ_KEEP` all, are kept. `SIRIUS_FUZZ_SEEDS=0..1000 cargo test --test generated groups/` is
//! the long run of the groups, with `SIRIUS_FUZZ_CASES` groups to a unit and `SIRIUS_FUZZ_DRAWS` draws
//! of run-time values for each of three ways to run; at its end stands how many cases ran, how fast.

#[path = "generated/differential.rs"]
mod differential;
mod generator;
#[path = "generated/groups.rs"]
mod groups;
mod harness;
#[path = "harness/seeds.rs"]
mod seeds;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;
use std::time::Instant;

/// Cases of one program.
const CASES: usize = 8;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = seeds::trials("generated", 0..3, |seed| generator::program(seed, CASES));
    let (trials, groups) = match programs.and_then(|trials| Ok((trials, seeds::chosen(0..3)?))) {
        Ok(found) => found,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::FAILURE;
        }
    };
    let trials = trials
        .into_iter()
        .chain(groups::trials(groups))
        .chain([Trial::test("oracle", harness::check_oracle)])
        .collect();
    let start = Instant::now();
    let conclusion = libtest_mimic::run(&arguments, trials);
    println!("{}", harness::precision_table());
    println!("{}", differential::Totals::so_far().line(start.elapsed()));
    conclusion.exit_code()
}
