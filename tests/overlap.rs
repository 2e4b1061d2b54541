//! Launches that begin before the one before them has ended, from the command line to machine code.
//!
//! `tests/run/overlap.cu` is built for both devices. Its report says what overlaps; on the CPU device it does what it does
//! without, whichever blocks begin early, and goes wrong when waits stand too late; its PTX goes through ptxas.

#[path = "cuda_path/folder.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod folder;
#[path = "harness/quick_link.rs"]
mod quick_link;

use folder::{LIBRARIES, build, compiler, libraries};
use quick_link::QUICK_LINK;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What asks for it.
const OPTIONS: [&str; 1] = ["--sirius-boundaries=overlap"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/overlap.cu")
}

/// The report on the program for an architecture, and what it says of launches that overlap.
fn overlaps(architecture: &str) -> (Value, Value) {
    let mut command = compiler();
    command.args(["analyze", "--format=json", architecture]);
    let output = command.args(OPTIONS).arg(source()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let overlaps = report["overlaps"].clone();
    (report, overlaps)
}

#[test]
fn a_report_names_what_overlaps_and_what_comes_before_the_wait() {
    let (report, overlaps) = overlaps("-arch=sm_90");
    let name = |id: &Value| {
        let node = &report["nodes"][id.as_u64().unwrap() as usize];
        node["name"].as_str().unwrap().to_owned()
    };
    let found: Vec<(String, Vec<String>, String)> = overlaps["launches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| {
            let behind = each["behind"].as_array().unwrap().iter();
            (
                name(&each["launch"]),
                behind.map(name).collect(),
                each["before_wait"].to_string(),
            )
        })
        .collect();
    let is_there = |launch: &str, behind: &[&str], loads: &str| {
        let there = found
            .iter()
            .any(|each| each.0 == launch && each.1 == behind && each.2 == loads);
        assert!(there, "{launch} behind {behind:?} with {loads}: {found:#?}");
    };
    is_there("weigh", &["fill"], "[\"w\"]");
    is_there("weigh", &["weigh"], "[\"w\"]");
    is_there("with_table", &["fill"], "[\"device_table\"]");
    is_there("gather", &["fill"], "[\"device_indices\"]");
    is_there("gather_in_turn", &["fill"], "[]");
    is_there("product", &["fill"], "[\"w\"]");
    // What are weights is written right before.
    is_there("weigh", &["fill_both"], "[]");
    // The first launch of a loop follows what stands before the loop, and the last of the iteration before.
    is_there("weigh", &["fill", "weigh"], "[\"w\"]");
    let reasons = overlaps["in_turn"].to_string();
    assert!(reasons.contains("no launch that is known"), "{reasons}");
}

#[test]
fn nothing_overlaps_on_older_architectures() {
    let (_, overlaps) = overlaps("-arch=sm_80");
    assert_eq!(overlaps["launches"], Value::Array(Vec::new()));
    let obstacle = overlaps["obstacle"].to_string();
    assert!(obstacle.contains("sm_80"), "{obstacle}");
}

/// Builds the program for the CPU device.
fn built(folder: &Path, name: &str, more: &[&str], fault: Option<&str>) -> PathBuf {
    let program = folder.join(name);
    let mut command = compiler();
    if let Some(fault) = fault {
        command.env("SIRIUS_FAULT", fault);
    }
    command.args(["--sirius-device=cpu", "-arch=sm_90"]);
    command.args(more).args(QUICK_LINK).arg(source());
    command.arg("-o").arg(&program).env("SIRIUS_STRICT", "1");
    build(&mut command)
        .map_err(|error| format!("{error:?}"))
        .unwrap();
    program
}

/// What a program prints and leaves in memory.
fn ran(program: &Path, overlap: &str) -> (String, String) {
    let memory = program.with_extension("memory");
    let output = Command::new(program)
        .env("SIRIUS_OVERLAP", overlap)
        .env("SIRIUS_DUMP_MEMORY", &memory)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    (printed, std::fs::read_to_string(memory).unwrap())
}

#[test]
fn the_cpu_device_begins_early_and_sees_waits_that_stand_too_late() {
    let folder = tempfile::tempdir().unwrap();
    let plain = built(folder.path(), "plain", &["--sirius-fusion=off"], None);
    let early = built(folder.path(), "early", &OPTIONS, None);
    let expected = ran(&plain, "late");
    assert!(expected.0.ends_with("PASS\n"), "{}", expected.0);
    for overlap in ["late", "0", "1", "7"] {
        assert_eq!(ran(&early, overlap), expected, "SIRIUS_OVERLAP={overlap}");
    }
    let wrong = built(folder.path(), "wrong", &OPTIONS, Some("wait"));
    let (printed, _) = ran(&wrong, "0");
    for what in ["weights", "a table", "indices", "written weights", "rows"] {
        let right = format!("\n{what}: right\n");
        assert!(
            !format!("\n{printed}").contains(&right),
            "{what}: {printed}"
        );
    }
    assert_eq!(ran(&wrong, "late"), expected);
}

#[test]
fn versions_go_through_ptxas_and_run() {
    for architecture in ["-arch=sm_90", "-arch=sm_100"] {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("app");
        let mut command = compiler();
        command.args(["--sirius-device=cuda", architecture]);
        command.args(OPTIONS).args(QUICK_LINK).arg(source());
        command.args(["-keep", "-keep-dir"]).arg(folder.path());
        command.arg("-o").arg(&program).arg("-L").arg(libraries());
        command.arg("-Wl,--as-needed").args(LIBRARIES);
        command.env("SIRIUS_STRICT", "1");
        build(&mut command)
            .map_err(|error| format!("{error:?}"))
            .unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap();
        let texts = files.filter_map(|file| {
            let path = file.unwrap().path();
            let is_ptx = path.extension().is_some_and(|ending| ending == "ptx");
            is_ptx.then(|| std::fs::read_to_string(path).unwrap())
        });
        let versions: String = texts
            .filter(|text| text.contains("griddepcontrol"))
            .collect();
        for word in ["griddepcontrol.wait;", "griddepcontrol.launch_dependents;"] {
            assert!(versions.contains(word), "{architecture}: no {word}");
        }
        let output = folder::run(&program, &[])
            .map_err(|error| format!("{error:?}"))
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.ends_with("PASS\n"), "{said}");
    }
}

/// A program of launches in an order by chance: each reads elements of two buffers that other blocks write, and changes a third
/// one; some stand in loops or under conditions, and now and then the host copies or waits in between.
fn by_chance(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let mut text = String::from(
        "#include <cstdio>\n\
         constexpr int N = 2000, THREADS = 64, BLOCKS = (N + THREADS - 1) / THREADS;\n\
         static unsigned host[N];\n\
         int main(int count, char **) {\n",
    );
    let mut kernels = String::new();
    for buffer in 0..5 {
        text += &format!("    unsigned *b{buffer};\n    cudaMalloc(&b{buffer}, sizeof host);\n");
        text += &format!(
            "    for (int i = 0; i < N; i++) host[i] = i * {};\n",
            buffer + 3
        );
        text += &format!("    cudaMemcpy(b{buffer}, host, sizeof host, cudaMemcpyHostToDevice);\n");
    }
    for number in 0..28 {
        let pick = |random: &mut StdRng| random.random_range(0..5);
        let (one, other, to) = (pick(&mut random), pick(&mut random), pick(&mut random));
        let (near, far) = (random.random_range(0..N), random.random_range(0..N));
        let early = match random.random_range(0..3) {
            0 => {
                "    if (i >= N) return;\n    unsigned a = one[(i + NEAR) % N];\n    unsigned c = other[(i + FAR) % N];\n    \
                  to[i] = a * 3 + c + to[i] / 2;\n"
            }
            1 => {
                "    __shared__ unsigned tile[THREADS];\n    tile[threadIdx.x] = one[(i + NEAR) % N];\n    __syncthreads();\n    \
                  if (i < N) to[i] = tile[THREADS - 1 - threadIdx.x] - other[(i * 7 + FAR) % N];\n"
            }
            _ => {
                "    unsigned sum = 0;\n    for (int k = 0; k < 3; k++) sum += one[(i + k * NEAR) % N] * other[k];\n    \
                  if (i < N && sum % 5 != 0) to[i] = sum;\n"
            }
        };
        let body = early
            .replace("NEAR", &near.to_string())
            .replace("FAR", &far.to_string());
        // A buffer that is read elsewhere and written would be a race.
        let (one, other) = match (one == to, other == to) {
            (true, true) => ((to + 1) % 5, (to + 2) % 5),
            (true, false) => ((0..5).find(|buffer| *buffer != to).unwrap(), other),
            (false, true) => (one, (0..5).rev().find(|buffer| *buffer != to).unwrap()),
            (false, false) => (one, other),
        };
        kernels += &format!(
            "__global__ void k{number}(unsigned *to, const unsigned *one, const unsigned *__restrict__ other) {{\n    \
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n{body}}}\n"
        );
        let launch = format!("k{number}<<<BLOCKS, THREADS>>>(b{to}, b{one}, b{other});");
        text += &match random.random_range(0..12) {
            0 => format!("    for (int step = 0; step < 3; step++) {launch}\n"),
            1 => format!("    if (count < 2) {launch}\n"),
            2 => format!("    {launch}\n    cudaDeviceSynchronize();\n"),
            3 => format!(
                "    {launch}\n    cudaMemcpy(b{to}, host, sizeof host / 2, cudaMemcpyHostToDevice);\n"
            ),
            _ => format!("    {launch}\n"),
        };
    }
    for buffer in 0..5 {
        text += &format!("    cudaMemcpy(host, b{buffer}, sizeof host, cudaMemcpyDeviceToHost);\n");
        text += "    { unsigned sum = 0; for (int i = 0; i < N; i++) sum = sum * 31 + host[i]; printf(\"%u\\n\", sum); }\n";
    }
    let (head, rest) = text.split_once("int main").unwrap();
    format!("{head}{kernels}int main{rest}    return 0;\n}}\n")
}

const N: u32 = 2000;

#[test]
fn programs_by_chance_do_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut early = 0;
    for seed in 0..3 {
        let source = folder.path().join(format!("chance{seed}.cu"));
        std::fs::write(&source, by_chance(seed)).unwrap();
        let made = |name: &str, options: &[&str], report: &Path| {
            let program = folder.path().join(format!("{name}{seed}"));
            let mut command = compiler();
            command
                .args(["--sirius-device=cpu", "-arch=sm_90"])
                .args(options);
            command.arg(format!("--sirius-report={}", report.display()));
            command
                .args(QUICK_LINK)
                .arg(&source)
                .arg("-o")
                .arg(&program);
            command.env("SIRIUS_STRICT", "1");
            build(&mut command)
                .map_err(|error| format!("seed {seed}: {error:?}"))
                .unwrap();
            program
        };
        let report = folder.path().join("report.json");
        let plain = made(
            "plain",
            &["--sirius-fusion=off"],
            &folder.path().join("plain.json"),
        );
        // Without fusion of others, more stay apart.
        let apart = ["--sirius-boundaries=overlap", "--sirius-fusion=local"];
        let overlapped = made("early", &apart, &report);
        let told: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        let launches = told["overlaps"]["launches"].as_array().unwrap();
        early += launches.len();
        let expected = ran(&plain, "late");
        for overlap in ["0", "3", "late"] {
            let found = ran(&overlapped, overlap);
            assert_eq!(found.0, expected.0, "seed {seed}, SIRIUS_OVERLAP={overlap}");
            assert!(
                found.1 == expected.1,
                "seed {seed}, SIRIUS_OVERLAP={overlap}: memory"
            );
        }
    }
    assert!(early >= 12, "only {early} launches begin early");
}
