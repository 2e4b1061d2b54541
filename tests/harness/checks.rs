//! `SIRIUS_CHECK`: every kind of fault of `tests/check/faults.cu` is found and named, and what is right
//! passes.

use libtest_mimic::Failed;
use std::path::Path;
use std::process::Command;

/// The check, the fault, and what the message must have.
const FAULTS: &[(&str, &str, &[&str])] = &[
    (
        "memory",
        "bounds",
        &[
            "kernel read_at",
            "thread (31,0,0), reads 4 bytes",
            "past the end",
            "faults.cu:6",
        ],
    ),
    (
        "memory",
        "write",
        &[
            "kernel write_at",
            "thread (0,0,0), writes 4 bytes",
            "before the start",
            "faults.cu:10",
        ],
    ),
    (
        "memory",
        "freed",
        &[
            "kernel read_at",
            "thread (0,0,0)",
            "which was freed",
            "faults.cu:6",
        ],
    ),
    (
        "memory",
        "unwritten",
        &[
            "kernel read_at",
            "block (0,0,0), thread (0,0,0)",
            "which nobody has written",
            "faults.cu:6",
        ],
    ),
    (
        "memory",
        "copied",
        &["kernel read_at", "which nobody has written", "faults.cu:6"],
    ),
    (
        "memory",
        "shared",
        &[
            "kernel turn",
            "byte 124 of shared memory, which nobody has written",
            "faults.cu:17",
        ],
    ),
    (
        "race",
        "race",
        &[
            "race in kernel turn_at_once",
            "shared memory",
            "faults.cu:22",
            "faults.cu:23",
            "no barrier",
        ],
    ),
    (
        "race",
        "deleted",
        &[
            "race in kernel sirius_fused_0",
            "faults.cu:41",
            "faults.cu:45",
            "no barrier",
        ],
    ),
    (
        "race",
        "blocks",
        &[
            "race in kernel sirius_fused_0",
            "faults.cu:41",
            "faults.cu:45",
            "nothing orders blocks",
        ],
    ),
];

/// Builds the program once and runs it with each fault.
pub fn check_faults() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("faults");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check/faults.cu");
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg(source)
        .args([
            "-O2",
            "-std=c++17",
            "--sirius-device=cpu",
            "--sirius-fusion=off",
            "-o",
        ])
        .arg(&program)
        .output()?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned().into());
    }
    for check in ["memory", "race"] {
        let right = Command::new(&program).env("SIRIUS_CHECK", check).output()?;
        if !right.status.success() || !String::from_utf8_lossy(&right.stdout).ends_with("PASS\n") {
            let said = String::from_utf8_lossy(&right.stderr).into_owned();
            return Err(format!("{check}: what is right does not pass: {said}").into());
        }
    }
    for (check, fault, parts) in FAULTS {
        let wrong = Command::new(&program)
            .arg(fault)
            .env("SIRIUS_CHECK", check)
            .output()?;
        let said = String::from_utf8_lossy(&wrong.stderr);
        let missing = parts.iter().find(|part| !said.contains(**part));
        if wrong.status.code() != Some(1) || said.lines().count() != 1 || missing.is_some() {
            return Err(format!(
                "{check} of {fault}: status {:?}, no {missing:?} in {said:?}",
                wrong.status
            )
            .into());
        }
    }
    Ok(())
}
