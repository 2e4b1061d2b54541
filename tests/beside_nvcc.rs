//! What nvcc makes of programs runs on the CPU device: PTX of another compiler, and calls of the runtime as nvcc's host
//! code makes them. The programs check themselves.
//!
//! By default a handful takes part; `SIRIUS_TEST_ONE_IN=1` takes all. Those that nvcc refuses are left out: they use
//! what sirius-rs has beyond a toolkit of wheels.

#[allow(dead_code, reason = "nvcc builds the programs")]
#[path = "cuda_path/folder.rs"]
mod folder;

use folder::{LIBRARIES, asked, build, launches_before_main, libraries, programs, run};
use libtest_mimic::{Arguments, Failed, Trial};
use sirius_rs::tools::toolchain::find_toolkit;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = programs(56, 20)
        .into_iter()
        .map(|(name, source)| Trial::test(name, move || check(&source)));
    let mut trials: Vec<Trial> = trials.collect();
    trials.push(Trial::test("launches_before_main", before_main));
    trials.push(Trial::test("static_runtime", static_runtime));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A program with NVIDIA's runtime within it does not run, and is told why.
fn static_runtime() -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    let toolkit = find_toolkit(&|name| std::env::var(name).ok())?;
    let program = place.path().join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda_path/carries_runtime.cu");
    build(
        Command::new(toolkit.join("bin/nvcc"))
            .args(["-arch=sm_80", "-cudart", "static"])
            .arg(source)
            .arg("-o")
            .arg(&program)
            .arg("-L")
            .arg(toolkit.join("lib")),
    )?;
    let output = Command::new(&program)
        .env("LD_LIBRARY_PATH", libraries())
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    match said == "does not work\n"
        && errors.matches("NVIDIA's CUDA runtime within it").count() == 1
    {
        true => Ok(()),
        false => Err(format!("{said}{errors}").into()),
    }
}

fn before_main() -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    let toolkit = find_toolkit(&|name| std::env::var(name).ok())?;
    let cudart = shared_cudart(&toolkit).ok_or("the toolkit has no shared runtime")?;
    std::os::unix::fs::symlink(cudart, place.path().join("libcudart.so"))?;
    launches_before_main(&|source, options| {
        build(
            Command::new(toolkit.join("bin/nvcc"))
                .args(["-arch=sm_80", "-cudart", "shared"])
                .arg(source)
                .args(options)
                .arg("-L")
                .arg(place.path()),
        )
    })
}

fn check(source: &Path) -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    let toolkit = find_toolkit(&|name| std::env::var(name).ok())?;
    let (runs, options) = asked(source)?;
    let program = place.path().join("program");
    // Wheels have the shared runtime under its versioned name alone.
    let cudart = shared_cudart(&toolkit).ok_or("the toolkit has no shared runtime")?;
    std::os::unix::fs::symlink(cudart, place.path().join("libcudart.so"))?;
    let made = Command::new(toolkit.join("bin/nvcc"))
        .args(["-cudart", "shared"])
        .args(
            options
                .iter()
                .filter(|option| !option.starts_with("--sirius-")),
        )
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(place.path())
        .arg("-L")
        .arg(libraries())
        .args(["-Xlinker", "--as-needed"])
        .args(LIBRARIES)
        .output()?;
    if !made.status.success() {
        eprintln!("nvcc refuses {}", source.display());
        return Ok(());
    }
    for arguments in &runs {
        run(&program, arguments)?;
    }
    Ok(())
}

fn shared_cudart(toolkit: &Path) -> Option<PathBuf> {
    let folders = ["lib", "lib64"].map(|name| toolkit.join(name));
    let names = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
    let mut all: Vec<PathBuf> = names.flatten().map(|entry| entry.path()).collect();
    all.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libcudart.so")
    });
    all.sort();
    all.into_iter().next()
}
