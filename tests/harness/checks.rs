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
        "memory",
        "assembly_write",
        &[
            "kernel write_by_assembly",
            "block (0,0,0), thread (31,0,0), writes 4 bytes",
            "past the end",
            "faults.cu:39",
        ],
    ),
    (
        "memory",
        "assembly_read",
        &[
            "kernel read_by_assembly",
            "thread (31,0,0), reads 8 bytes",
            "past the end",
            "faults.cu:44",
        ],
    ),
    (
        "memory",
        "assembly_unwritten",
        &[
            "kernel read_by_assembly",
            "thread (0,0,0), reads 8 bytes",
            "which nobody has written",
            "faults.cu:44",
        ],
    ),
    (
        "memory",
        "assembly_copy",
        &[
            "kernel copy_by_assembly",
            "thread (0,0,0), reads 4 bytes",
            "before the start",
            "faults.cu:51",
        ],
    ),
    (
        "race",
        "assembly_race",
        &[
            "race in kernel copy_by_assembly",
            "shared memory",
            "faults.cu:51",
            "faults.cu:56",
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
        "flag",
        &[
            "race in kernel set_flag",
            "thread (31,0,0) writes byte 4 of allocation",
            "faults.cu:82",
            "no barrier",
        ],
    ),
    (
        "race",
        "deleted",
        &[
            "race in kernel sirius_fused_0",
            "faults.cu:64",
            "faults.cu:68",
            "no barrier",
        ],
    ),
    (
        "race",
        "blocks",
        &[
            "race in kernel sirius_fused_0",
            "faults.cu:64",
            "faults.cu:68",
            "nothing orders blocks",
        ],
    ),
];

/// Builds the program once and runs it with each fault, and one whose threads wait at barriers in shared
/// memory.
pub fn check_faults() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let waits = folder.path().join("waits");
    build("tests/run/shared_barriers.cu", &waits)?;
    passes(&waits, "race", "PASS")?;
    let program = folder.path().join("faults");
    build("tests/check/faults.cu", &program)?;
    for check in ["memory", "race"] {
        passes(&program, check, "PASS\n")?;
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

fn build(source: &str, program: &Path) -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg(source)
        .args([
            "-O2",
            "-std=c++17",
            // Older ones copy asynchronously by plain loads and stores.
            "-arch=sm_80",
            "--sirius-device=cpu",
            "--sirius-fusion=off",
            "-o",
        ])
        .arg(program)
        .output()?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned().into());
    }
    Ok(())
}

/// Nothing is found, and the program says that it is right.
fn passes(program: &Path, check: &str, said: &str) -> Result<(), Failed> {
    let right = Command::new(program).env("SIRIUS_CHECK", check).output()?;
    if right.status.success() && String::from_utf8_lossy(&right.stdout).contains(said) {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&right.stderr).into_owned();
    Err(format!("{check}: what is right does not pass: {errors}").into())
}
