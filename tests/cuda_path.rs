//! What the compiler writes for GPUs is run: programs are built for the CUDA device, with the CUDA runtime as a shared
//! library, fused and unfused, and the CPU device runs the PTX in them.
//!
//! Output equals that of the CPU device's own code. So the host side of the CUDA device (guards, registration, device
//! variables) and its PTX are held against a second way. By default a sample of the programs takes part;
//! `SIRIUS_TEST_ONE_IN=1` takes all.

#[path = "cuda_path/folder.rs"]
mod folder;
#[path = "harness/quick_link.rs"]
mod quick_link;

use folder::{LIBRARIES, asked, build, compiler, libraries, programs, run};
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
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn check(source: &Path) -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    let (runs, architecture) = asked(source)?;
    let own = place.path().join("own");
    build(
        compiler()
            .args(["--sirius-device=cpu", "--sirius-fusion=off", &architecture])
            .args(quick_link::QUICK_LINK)
            .arg(source)
            .arg("-o")
            .arg(&own),
    )?;
    for fusion in ["off", "all"] {
        let program = place.path().join(fusion);
        build(
            compiler()
                .args(["--sirius-device=cuda", &architecture])
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
        for arguments in &runs {
            let expected = run(&own, arguments)?.stdout;
            let found = run(&program, arguments)?.stdout;
            if found != expected {
                return Err(format!(
                    "fusion {fusion}, arguments {arguments:?}\n--- own code\n{}\n--- PTX\n{}",
                    String::from_utf8_lossy(&expected),
                    String::from_utf8_lossy(&found)
                )
                .into());
            }
        }
    }
    Ok(())
}
