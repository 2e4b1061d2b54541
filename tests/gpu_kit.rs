//! The kit for machines with a GPU: it is packed, unpacked and run with the CPU device's libraries in place of a GPU's, and
//! its results are drawn into a copy of the pages.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const COMPILER: &str = env!("CARGO_BIN_EXE_sirius-rs");

/// A model, a workload, a program of the tuner, and one that planners plan differently.
const PROGRAMS: &str =
    "^(models/lstm|test_programs/workloads/gelu|tuner/gelu|planners/planned_split)$";

fn finished(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    said(&output)
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn script() -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/gpu"));
    command.env_remove("SIRIUS_FLAGS");
    command
}

/// Packs the programs into `folder` and `kit.tar.xz` in it.
fn pack(folder: &Path, options: &[&str]) -> String {
    let archive = folder.join("kit.tar.xz");
    let mut command = script();
    command
        .args(["--compiler", COMPILER, "--small", "--programs", PROGRAMS])
        .args([
            "--ways",
            "^(unfused|fused|overlap-without-batches|tune|span)$",
        ])
        .arg("--folder")
        .arg(folder.join("built"))
        .arg("-o")
        .arg(archive)
        .args(options);
    finished(&mut command)
}

/// What runs in the kit, for so many minutes.
fn run(kit: &Path, folder: &Path, minutes: &str, options: &[&str]) -> Command {
    let mut command = Command::new(kit.join("run.sh"));
    command
        .args([minutes, "--samples", "2", "--rounds", "2", "--cuda"])
        .arg(folder.join("built/cpu/lib64"))
        .args(options)
        .env("SIRIUS_COMPILER", COMPILER)
        .env("SIRIUS_CPU_THREADS", "1")
        .env("SIRIUS_CACHE", folder.join("built/cache"));
    command
}

fn results(kit: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(kit.join("results.json")).unwrap()).unwrap()
}

fn program<'results>(results: &'results Value, name: &str) -> &'results Value {
    let programs = results["programs"].as_array().unwrap();
    let found = programs.iter().find(|program| program["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {results}"))
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    finished(Command::new("cp").arg("-r").arg(from).arg(to));
}

#[test]
fn it_is_packed_run_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let packed = pack(folder, &[]);
    assert!(packed.contains(", 4 programs of "), "{packed}");
    finished(
        Command::new("tar")
            .arg("xf")
            .arg(folder.join("kit.tar.xz"))
            .arg("-C")
            .arg(folder),
    );
    let kit = folder.join("gpu-kit");

    finished(&mut run(&kit, folder, "3", &[]));
    let found = results(&kit);
    assert_eq!(found["rehearsal"], true);
    for name in [
        "models/lstm",
        "test_programs/workloads/gelu",
        "planners/planned_split",
    ] {
        let program = program(&found, name);
        assert_eq!(program["right"], true, "{program}");
        assert_eq!(program["compared_with_cpu"], true, "{program}");
        assert!(program.get("unlike_cpu").is_none(), "{program}");
        for way in ["unfused", "fused", "span"] {
            let Some(made) = program["ways"]
                .get(way)
                .filter(|made| made.get("same_as").is_none())
            else {
                continue;
            };
            for kind in ["plain", "graph"] {
                let times = &program["microseconds"][format!("{way} {kind}")];
                assert!(times["median"].as_f64().unwrap() > 0.0, "{made} {program}");
                assert_eq!(times["quartiles"].as_array().unwrap().len(), 2);
            }
        }
    }
    let gelu = program(&found, "test_programs/workloads/gelu");
    assert_eq!(gelu["launches"]["unfused"], 8, "{gelu}");
    assert_eq!(gelu["launches"]["fused"], 1, "{gelu}");
    assert!(
        program(&found, "tuner/gelu").get("tuned").is_some(),
        "{found}"
    );

    draws(&kit, folder);
    survives(&kit, folder);

    // Where the archive is too large, planners' programs are the first to go.
    let size = std::fs::metadata(folder.join("kit.tar.xz")).unwrap().len();
    let small = pack(folder, &["--most-bytes", &(size - size / 20).to_string()]);
    assert!(
        small.contains("left out") && small.contains("planners/planned_split"),
        "{small}"
    );
    assert!(std::fs::metadata(folder.join("kit.tar.xz")).unwrap().len() < size);
}

/// Results go into a copy of the pages, and a rehearsal's into nothing else.
fn draws(kit: &Path, folder: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = folder.join("pages");
    copied(&root.join("docs"), &pages);
    copied(&root.join("bench/results"), &pages.join("bench"));
    let refused = script()
        .arg("--import")
        .arg(kit.join("results.json"))
        .output()
        .unwrap();
    assert!(
        !refused.status.success() && said(&refused).contains("results of a rehearsal"),
        "{}",
        said(&refused)
    );
    finished(
        script()
            .arg("--import")
            .arg(kit.join("results.json"))
            .arg("--pages")
            .arg(&pages),
    );
    let page = |name: &str| std::fs::read_to_string(pages.join("docs").join(name)).unwrap();
    for (name, words) in [
        ("gpu.md", "2 of 2 programs ran"),
        ("gpu.md", "| test_programs/workloads/gelu | 8 → 1 |"),
        ("models.md", "| lstm | overlap-without-batches | "),
        ("planners.md", "| `planned_split` | "),
        ("tuning.md", "| gelu | "),
    ] {
        assert!(page(name).contains(words), "{name} lacks {words}");
        assert!(
            page(name).contains(", the CPU device, ") || name == "models.md",
            "{name}"
        );
    }
}

/// A program that crashes, one that hangs, and a run that is killed cost no other result.
fn survives(kit: &Path, folder: &Path) {
    let instead =
        |name: &str, text: &str| std::fs::write(kit.join("bin").join(name), text).unwrap();
    instead(
        "test_programs.workloads.gelu.fused",
        "#!/bin/sh\nkill -SEGV $$\n",
    );
    instead("models.lstm.unfused", "#!/bin/sh\nsleep 1000\n");
    finished(&mut run(
        kit,
        folder,
        "2",
        &["--seconds", "3", "--programs", "workloads|models"],
    ));
    let found = results(kit);
    let gelu = program(&found, "test_programs/workloads/gelu");
    let what = gelu["verdicts"]["fused"]["what"].as_str().unwrap();
    assert!(
        gelu["right"] == false && what.contains("status -11"),
        "{gelu}"
    );
    let lstm = program(&found, "models/lstm");
    let what = lstm["verdicts"]["unfused"]["what"].as_str().unwrap();
    assert!(
        lstm["right"] == false && what.contains("not at its end in time"),
        "{lstm}"
    );

    std::fs::remove_file(kit.join("results.json")).unwrap();
    let mut ended = run(
        kit,
        folder,
        "2",
        &["--programs", "workloads|models", "--jobs", "2"],
    )
    .spawn()
    .unwrap();
    let begun = Instant::now();
    let knows_gelu = || {
        kit.join("results.json").exists()
            && program(&results(kit), "test_programs/workloads/gelu")
                .get("right")
                .is_some()
    };
    while begun.elapsed() < Duration::from_secs(60) && !knows_gelu() {
        std::thread::sleep(Duration::from_millis(100));
    }
    finished(Command::new("kill").arg(ended.id().to_string()));
    assert_eq!(ended.wait().unwrap().code(), Some(143));
    assert!(knows_gelu() && program(&results(kit), "models/lstm").get("right").is_none());
}
