//! `SIRIUS_CHECK`: every kind of fault of `tests/check/faults.cu` is found and named, and what is right
//! passes.

use crate::quick_link::QUICK_LINK;
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
            "writes in twice byte",
            "read in shifted",
            "faults.cu:64",
            "faults.cu:68",
            "no barrier",
        ],
    ),
    (
        "memory,race",
        "flag",
        &["race in kernel set_flag", "faults.cu:82"],
    ),
    (
        "memory,race",
        "bounds",
        &["kernel read_at", "past the end", "faults.cu:6"],
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

/// The race of `tests/check/races.cu`, and what the message must have; a text in braces stands for the line that ends with
/// it as a comment.
const RACES: &[(&str, &[&str])] = &[
    (
        "lanes",
        &[
            "race in kernel add_up_warp",
            "of shared memory, at {lane read}",
            "wrote, at {lane write}",
            "no barrier",
        ],
    ),
    (
        "shared",
        &[
            "race in kernel add_up_block",
            "at {block sum}",
            "no barrier",
        ],
    ),
    (
        "threads",
        &[
            "race in kernel count_threads",
            "thread (1,0,0) reads byte 0",
            "at {count}, which block (0,0,0), thread (0,0,0) wrote, at {count}",
            "no barrier",
        ],
    ),
    (
        "blocks_and_threads",
        &[
            "block (1,0,0), thread (0,0,0) reads byte 0",
            "at {count}, which block (0,0,0), thread (0,0,0) wrote, at {count}",
            "nothing orders the blocks",
        ],
    ),
    (
        "atomics",
        &[
            "race in kernel count_in_block",
            "thread (41,0,0) updates byte 0 of shared memory, at {counted}",
            "thread (40,0,0) read, at {count read}",
        ],
    ),
    (
        "guess",
        &[
            "race in kernel keep_guess",
            "thread (1,0,0) reads byte 20 of allocation",
            "at {guess}, which block (0,0,0), thread (0,0,0) wrote, at {sum updated}",
        ],
    ),
    (
        "look",
        &[
            "race in kernel keep_guess_at_times",
            "thread (1,0,0) reads byte 20 of allocation",
            "at {look}, which block (0,0,0), thread (0,0,0) wrote, at {look updated}",
        ],
    ),
    (
        "some",
        &[
            "race in kernel read_by_some",
            "thread (63,0,0) writes byte 0 of shared memory, at {one writes}",
            "thread (0,0,0) read, at {some read}",
        ],
    ),
    (
        "cluster",
        &[
            "race in kernel pass_on",
            "block (2,0,0), thread (0,0,0) writes byte 0 of shared memory, at {cleared}",
            "block (1,0,0), thread (0,0,0) wrote, at {passed on}",
            "no barrier of their cluster",
        ],
    ),
    (
        "early",
        &[
            "race in kernel pass_on",
            "of shared memory",
            "at {passed on}",
            "at {received}",
            "no barrier of their cluster",
        ],
    ),
    (
        "results",
        &[
            "race in kernel pass_on",
            "of allocation",
            "at {other result}",
            "at {result}",
            "no barrier of their cluster",
        ],
    ),
    (
        "blocks",
        &[
            "race in kernel count_blocks",
            "at {block count}",
            "nothing orders the blocks",
        ],
    ),
    (
        "numbers",
        &[
            "race in kernel last_block_wins",
            "block (1,0,0), thread (0,0,0) writes byte 0",
            "wrote, at {block number}",
        ],
    ),
    (
        "first",
        &[
            "race in kernel read_first_block",
            "block (1,0,0), thread (0,0,0) reads byte 0",
            "wrote, at {first block}",
        ],
    ),
    (
        "blur",
        &[
            "block (1,0,0), thread (0,0,0) writes byte 256",
            "at {blur write}, which block (0,0,0), thread (63,0,0) read, at {blur read}",
        ],
    ),
    (
        "ticket",
        &[
            "reads byte 32 of allocation",
            "at {part read}, which block (0,0,0), thread (0,0,0) wrote, at {part written}",
        ],
    ),
    (
        "grid",
        &[
            "race in kernel steps_with_barrier",
            "{step}",
            "nothing orders the blocks",
        ],
    ),
    (
        "streams",
        &[
            "race between streams: kernel twice, at {twice} on stream",
            "reads byte 0",
            "kernel fill, at {fill} on stream",
            "neither an event nor the host",
        ],
    ),
    (
        "default",
        &[
            "race between streams: a copy on the default stream reads byte 512",
            "kernel twice, at {twice}",
        ],
    ),
    (
        "host",
        &[
            "race between streams: a copy on the default stream reads byte 512",
            "kernel fill, at {fill}",
        ],
    ),
];

/// Races between the host and the device, whose lines are known where the host's part has them.
const SHARED_RACES: &[(&str, &[&str])] = &[
    (
        "managed",
        &[
            "race between host and device: the host",
            "byte 20 of allocation",
            "which kernel fill, at {fill} wrote",
        ],
    ),
    (
        "variable",
        &[
            "race between host and device: the host",
            "byte 28 of the variable shared_by_name",
            "which kernel fill, at {fill} wrote",
        ],
    ),
    (
        "registered",
        &[
            "the host writes byte 2300 of allocation",
            "which kernel fill, at {fill} wrote",
        ],
    ),
    (
        "pinned",
        &[
            "the host reads byte 252 of allocation",
            "which a copy wrote",
        ],
    ),
    (
        "staging",
        &["the host writes byte 4 of allocation", "which a copy read"],
    ),
];

/// The race of `tests/check/fused_races.cu`.
const FUSED_RACES: &[(&str, &[&str])] = &[
    (
        "block",
        &[
            "race in kernel sirius_fused_0_twice_turn_without: ",
            "writes in turn_without byte 128 of shared memory, at {turned}",
            "thread (31,0,0) read in turn_without, at {turned read}; no barrier",
        ],
    ),
    (
        "warp",
        &[
            "race in kernel sirius_fused_0_twice_swap_pairs: ",
            "thread (0,0,0) reads in swap_pairs byte 4 of shared memory, at {pair read}",
            "thread (1,0,0) wrote in swap_pairs, at {pair}; no barrier",
        ],
    ),
];

/// Builds the programs once and runs them with each fault, and one whose threads wait at barriers in shared
/// memory.
pub fn check_faults() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let waits = folder.path().join("waits");
    build("tests/run/shared_barriers.cu", "off", &waits)?;
    passes(&waits, "race", "PASS")?;
    let program = folder.path().join("faults");
    build("tests/check/faults.cu", "off", &program)?;
    for check in ["memory", "race"] {
        passes(&program, check, "PASS\n")?;
    }
    for (check, fault, parts) in FAULTS {
        fails(
            &program,
            (*check, *fault),
            parts.iter().map(ToString::to_string),
        )?;
    }
    let program = folder.path().join("races");
    build("tests/check/races.cu", "off", &program)?;
    for check in ["race", "memory,race"] {
        passes(&program, check, "PASS\n")?;
    }
    let text = include_str!("../check/races.cu");
    fail_at_places(&program, text, RACES.iter().chain(SHARED_RACES))?;
    let program = folder.path().join("fused_races");
    build("tests/check/fused_races.cu", "all", &program)?;
    passes(&program, "race", "PASS\n")?;
    let text = include_str!("../check/fused_races.cu");
    fail_at_places(&program, text, FUSED_RACES.iter())
}

/// Each race is found, at the lines of a program's text that messages name by the comments at their ends.
fn fail_at_places<'a>(
    program: &Path,
    text: &str,
    races: impl Iterator<Item = &'a (&'a str, &'a [&'a str])>,
) -> Result<(), Failed> {
    let file = program.file_name().unwrap_or_default().display();
    let places: Vec<(String, String)> = (text.lines().zip(1..))
        .filter_map(|(line, number)| {
            let (_, name) = line.split_once("; // ").or(line.split_once("} // "))?;
            Some((format!("{{{name}}}"), format!("{file}.cu:{number}")))
        })
        .collect();
    for (race, parts) in races {
        let parts = parts.iter().map(|part| {
            let mut part = (*part).to_owned();
            for (name, place) in &places {
                part = part.replace(name, place);
            }
            part
        });
        fails(program, ("race", *race), parts)?;
    }
    Ok(())
}

/// The one fault is found, and named as it must be.
fn fails(
    program: &Path,
    (check, fault): (&str, &str),
    parts: impl Iterator<Item = String>,
) -> Result<(), Failed> {
    let wrong = Command::new(program)
        .arg(fault)
        .env("SIRIUS_CHECK", check)
        .output()?;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check/");
    let said = String::from_utf8_lossy(&wrong.stderr).replace(folder, "");
    let mut parts = parts;
    let missing = parts.find(|part| !said.contains(part));
    if wrong.status.code() != Some(1) || said.lines().count() != 1 || missing.is_some() {
        return Err(format!(
            "{check} of {fault}: status {:?}, no {missing:?} in {said:?}",
            wrong.status
        )
        .into());
    }
    Ok(())
}

fn build(source: &str, fusion: &str, program: &Path) -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg(source)
        .args([
            "-O2",
            "-std=c++17",
            // Older ones copy asynchronously by plain loads and stores, and have no clusters.
            "-arch=sm_90",
            "--sirius-device=cpu",
            &format!("--sirius-fusion={fusion}"),
        ])
        .args(QUICK_LINK)
        .arg("-o")
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
