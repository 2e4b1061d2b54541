//! Random programs: kernels and host code are generated, built with fusion off and on, and compared.
//!
//! A seed gives a program of several cases, each a chain of launches over a few buffers with
//! synchronisations, copies, branches, loops, streams and helpers between them, run for several sizes.
//! At the end stands how precise the static graph was: how often it says the scope that was seen.
//! [`groups`] are smaller cases, many more of them; [`solvers`](generator::solved) are host loops that end by what they copy,
//! [`stacks`](generator::stacked) launches that wait for their batches, which are phases of one launch, and [`kept`](generator::kept)
//! loops whose threads keep values from iteration to iteration. Runs a few seeds of both by default;
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
#[path = "harness/quick_link.rs"]
mod quick_link;
#[path = "harness/seeds.rs"]
mod seeds;

use std::ops::Range;
use std::process::ExitCode;
use std::time::Instant;

/// Launch groups that run where nothing else is asked for: together they have each way to place threads and each kind of
/// guard that is wanted.
const USUAL_SEEDS: [u64; 4] = [27, 32, 34, 101];
/// Seeds of launch groups that are tried after the usual ones until each way to place threads was met.
const FURTHER_SEEDS: Range<u64> = 33..44;
/// Cases of one program.
const CASES: usize = 8;

fn main() -> ExitCode {
    let asked = std::env::var_os("SIRIUS_FUZZ_SEEDS").is_some();
    let groups = match seeds::chosen(0..1) {
        Ok(seeds) if asked => groups::trials(seeds.collect()),
        Ok(_) => groups::trials(USUAL_SEEDS.to_vec()),
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::FAILURE;
        }
    };
    let solvers = match seeds::trials("solvers", 0..2, generator::solved::solvers) {
        Ok(trials) => trials,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::FAILURE;
        }
    };
    let stacks = match seeds::trials("stacks", 0..2, generator::stacked::stacks) {
        Ok(trials) => trials,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::FAILURE;
        }
    };
    let kept = match seeds::trials("kept", 0..2, generator::kept::kept) {
        Ok(trials) => trials,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::FAILURE;
        }
    };
    let start = Instant::now();
    // Every fourth has phases of cooperative launches, and every fourth launches that wait for graphs.
    let program = |seed| {
        let text = generator::program(seed, CASES);
        match seed % 4 {
            1 => format!("// built with: --sirius-boundaries=graph\n{text}"),
            3 => format!("// built with: --sirius-boundaries=grid-barrier\n{text}"),
            _ => text,
        }
    };
    let others = groups.chain(solvers).chain(stacks).chain(kept).collect();
    let status = seeds::run("generated", 0..4, program, others);
    let totals = differential::Totals::so_far();
    println!("{}", totals.line(start.elapsed()));
    // What is never planned is never tried, and which seeds have it changes with the generator.
    let usual = !asked && totals.absent().0 >= USUAL_SEEDS.len();
    let mut further = FURTHER_SEEDS;
    loop {
        let (units, absent) = differential::Totals::so_far().absent();
        if !usual || absent.is_empty() {
            return status;
        }
        let absent = absent.join(", ");
        let Some(seed) = further.next() else {
            eprintln!("no fused launch of {units} units has: {absent}");
            return ExitCode::FAILURE;
        };
        println!("groups/{seed} is tried, too: no fused launch of {units} units has: {absent}");
        if let Err(failure) = groups::check(seed) {
            eprintln!("{}", failure.message().unwrap_or_default());
            return ExitCode::FAILURE;
        }
    }
}
