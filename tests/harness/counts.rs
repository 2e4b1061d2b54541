//! What the CPU device counts in a program (`SIRIUS_STATS`).

use crate::quick_link::QUICK_LINK;
use libtest_mimic::Failed;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Sums over all kernels of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub launches: u64,
    pub instructions: u64,
    pub barriers: u64,
    pub global_load_bytes: u64,
    pub global_store_bytes: u64,
    pub shared_load_bytes: u64,
}

/// Builds a program with these options and runs it; what it printed, and what was counted.
pub fn counted(
    source: &Path,
    options: &[&str],
    arguments: &[&str],
) -> Result<(String, Counts), Failed> {
    let folder = tempfile::tempdir()?;
    let (program, statistics) = (folder.path().join("program"), folder.path().join("counts"));
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg(source)
        .arg("--sirius-device=cpu")
        .args(QUICK_LINK)
        .args(options)
        .arg("-o")
        .arg(&program)
        .output()?;
    if !built.status.success() {
        return Err(format!("{} does not build", source.display()).into());
    }
    let ran = Command::new(&program)
        .args(arguments)
        .env("SIRIUS_STATS", &statistics)
        .output()?;
    if !ran.status.success() {
        return Err(format!("{} {arguments:?} does not run", source.display()).into());
    }
    let counts: Value = serde_json::from_str(&std::fs::read_to_string(&statistics)?)?;
    let kernels = counts["kernels"].as_array().ok_or("there are kernels")?;
    let sum = |name: &str| {
        let counts = kernels.iter().filter_map(|kernel| kernel[name].as_u64());
        counts.sum()
    };
    let counts = Counts {
        launches: sum("launches"),
        instructions: sum("instructions"),
        barriers: sum("barriers"),
        global_load_bytes: sum("global_load_bytes"),
        global_store_bytes: sum("global_store_bytes"),
        shared_load_bytes: sum("shared_load_bytes"),
    };
    Ok((String::from_utf8_lossy(&ran.stdout).into_owned(), counts))
}
