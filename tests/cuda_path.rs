//! What the compiler writes for GPUs is run: programs are built for the CUDA device, with the CUDA runtime as a shared
//! library, fused and unfused, and the CPU device runs the PTX in them.
//!
//! Output equals that of the CPU device's own code, and fused as unfused. So the host side of the CUDA device (guards,
//! registration, device variables) and its PTX are held against a second way. One rule explains another output of the second
//! way: its own code calls the C library's `expf` and its kin where PTX has libdevice's code, and both round as they like.
//! Such programs say PASS both ways, and fused as unfused. By default a sample of the programs takes part;
//! `SIRIUS_TEST_ONE_IN=1` takes all.

#[path = "cuda_path/folder.rs"]
mod folder;
#[path = "harness/quick_link.rs"]
mod quick_link;

use folder::{LIBRARIES, asked, build, compiler, launches_before_main, libraries, programs, run};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;

/// Programs that this way cannot run, and why.
const LEFT_OUT: [(&str, &str); 1] = [(
    "transforms_extended",
    "callbacks of cuFFT return structures as compiled host code does, which PTX does not say",
)];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = programs(24, 8).into_iter().map(|(name, source)| {
        let is_left_out = LEFT_OUT.iter().any(|(left_out, _)| *left_out == name);
        Trial::test(name, move || check(&source)).with_ignored_flag(is_left_out)
    });
    let mut trials: Vec<Trial> = trials.collect();
    trials.push(Trial::test("launches_before_main", before_main));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn before_main() -> Result<(), Failed> {
    launches_before_main(&|source, options| {
        build(
            compiler()
                .args(["--sirius-device=cuda", "-arch=sm_80", "-cudart", "shared"])
                .args(quick_link::QUICK_LINK)
                .arg(source)
                .args(options),
        )
    })
}

fn check(source: &Path) -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    let (runs, options) = asked(source)?;
    let own = place.path().join("own");
    build(
        compiler()
            .args(["--sirius-device=cpu", "--sirius-fusion=off"])
            .args(&options)
            .args(quick_link::QUICK_LINK)
            .arg(source)
            .arg("-o")
            .arg(&own),
    )?;
    let mut unfused = Vec::new();
    for fusion in ["off", "all"] {
        let program = place.path().join(fusion);
        build(
            compiler()
                .arg("--sirius-device=cuda")
                .args(&options)
                // What clang makes of the source serves both programs.
                .env("SIRIUS_FRONT_END_CACHE", place.path().join("front_end"))
                .args(quick_link::QUICK_LINK)
                .arg(format!("--sirius-fusion={fusion}"))
                .arg(source)
                .arg("-o")
                .arg(&program)
                .arg("-L")
                .arg(libraries())
                .arg("-Wl,--as-needed")
                .args(LIBRARIES),
        )?;
        for (position, arguments) in runs.iter().enumerate() {
            let found = run(&program, arguments)?.stdout;
            let (expected, whose) = match unfused.get(position) {
                Some(unfused) => (Vec::clone(unfused), "unfused PTX"),
                None => (run(&own, arguments)?.stdout, "own code"),
            };
            let is_unfused = fusion == "off";
            if is_unfused {
                unfused.push(found.clone());
            }
            if found != expected && !(is_unfused && rounds_as_it_likes(source, &options)?) {
                return Err(format!(
                    "fusion {fusion}, arguments {arguments:?}\n--- {whose}\n{}\n--- PTX\n{}",
                    String::from_utf8_lossy(&expected),
                    String::from_utf8_lossy(&found)
                )
                .into());
            }
        }
    }
    Ok(())
}

/// Functions of libdevice that are not correctly rounded, as parts of their names.
const APPROXIMATIONS: [&str; 13] = [
    "exp", "log", "pow", "sin", "cos", "tan", "erf", "gamma", "cbrt", "hypot", "rsqrt", "norm",
    "__nv_j",
];

/// Whether device code of a program calls one of them.
fn rounds_as_it_likes(source: &Path, options: &[String]) -> Result<bool, Failed> {
    let place = tempfile::tempdir()?;
    build(
        compiler()
            .args(["--sirius-device=cpu", "--sirius-fusion=off", "-c"])
            .args(options)
            .env("SIRIUS_SAVE_DIR", place.path())
            .arg(source)
            .arg("-o")
            .arg(place.path().join("own.o")),
    )?;
    let mut modules = 0;
    let folders = std::fs::read_dir(place.path())?.collect::<Result<Vec<_>, _>>()?;
    let folders = folders.into_iter().map(|entry| entry.path());
    for folder in folders.filter(|path| path.is_dir()) {
        let Ok(text) = std::fs::read_to_string(folder.join("device0.before.ll")) else {
            continue;
        };
        modules += 1;
        let called = text.lines().filter_map(|line| {
            let (_, called) = line.strip_prefix("declare ")?.split_once("@__nv_")?;
            called.split_once('(')
        });
        for (called, _) in called {
            let called = format!("__nv_{called}");
            if APPROXIMATIONS.iter().any(|part| called.contains(part)) {
                return Ok(true);
            }
        }
    }
    if modules == 0 {
        return Err("the compiler saves no device module".into());
    }
    Ok(false)
}
