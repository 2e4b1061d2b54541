//! Whole programs: each of `test_programs/`, its `workloads/` and `tests/run/` is built for the CPU device with fusion
//! off and on, run both ways, and compared.
//!
//! For each program: both runs succeed and print the same bytes (the program checks itself and says
//! PASS); the final contents of every allocation are the same; the number of launches is what the
//! program's `// expect:` line says, and each pair that stays unfused has the reason of the next
//! `// expect-missed:` line; a run executes as many launches as `// executes:` says, a number for each
//! `// arguments:` line, and loads as many bytes of global memory as `// loads:` says; it allocates as many bytes of device memory, and takes only the addresses of as
//! many, as `// allocates:` says, which are the same in all without `dead-buffers`; and the static graph
//! contains every dependence that a trace of the unfused run shows. It also passes when it is built with the options of an `// options:` line.

#[path = "harness/checks.rs"]
mod checks;
mod harness;
#[path = "harness/quick_link.rs"]
mod quick_link;

use harness::check;
use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is compared are millions of small pieces, of which the C library's allocator takes a quarter of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Of so many programs of a folder one is built and run, for those who do not wait for all.
const ONE_IN: &str = "SIRIUS_TEST_ONE_IN";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let step = std::env::var(ONE_IN).map_or(1, |text| text.parse().expect("a number of programs"));
    let mut trials = vec![
        Trial::test("oracle", harness::check_oracle),
        Trial::test("faults", checks::check_faults),
    ];
    for folder in ["test_programs", "test_programs/workloads", "tests/run"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
            continue;
        };
        let mut sources: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
            .collect();
        sources.sort();
        for source in sources.into_iter().step_by(step) {
            let name = format!(
                "{folder}/{}",
                source.file_stem().unwrap_or_default().display()
            );
            trials.push(Trial::test(name, move || check(&source)));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    harness::remove_cache();
    println!("{}", harness::precision_table());
    conclusion.exit_code()
}
