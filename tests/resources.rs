//! What ptxas and the table of occupancies say decides which groups are kept.

use serde_json::Value;
use sirius_rs::schedule::occupancy::{Capability, KernelUsage};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The toolkit's headers: `CUDA_PATH`, else the project's own environment.
fn toolkit_include() -> PathBuf {
    if let Some(path) = std::env::var_os("CUDA_PATH") {
        return PathBuf::from(path).join("include");
    }
    let library = root().join(".venv/lib");
    let python = std::fs::read_dir(&library)
        .expect("scripts/setup has made .venv")
        .filter_map(Result::ok)
        .find(|entry| entry.file_name().to_string_lossy().starts_with("python"))
        .expect("a Python library folder in .venv");
    python.path().join("site-packages/nvidia/cu13/include")
}

/// The table and the rounding rules against NVIDIA's own calculator, over all capabilities.
#[test]
fn occupancies_are_those_of_the_toolkit() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("occupancy");
    let status = Command::new("clang++-22")
        .arg(root().join("tests/resources/occupancy.cpp"))
        .args(["-O1", "-I"])
        .arg(toolkit_include())
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success());
    let (mut rows, mut ours) = (String::new(), Vec::new());
    let numbers = [
        50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121,
    ];
    for number in numbers {
        let limits = Capability::of(number).unwrap();
        for registers in [16, 33, 64, 96, 128, 168, 255] {
            for (fixed, dynamic) in [(0, 0), (5000, 0), (20_000, 0), (4096, 40_000), (0, 60_000)] {
                for threads in [32, 96, 256, 416, 512, 1024] {
                    // The calculator judges registers of 6.0 as if it were 6.1.
                    if fixed + dynamic > u64::from(limits.shared_bytes_per_block) || number == 60 {
                        continue;
                    }
                    for barriers in [1, 3] {
                        rows += &format!(
                            "{number} {} {} {} {} {registers} {fixed} {dynamic} {threads} {barriers}\n",
                            limits.threads,
                            limits.registers_per_block,
                            limits.shared_bytes,
                            limits.shared_bytes_per_block,
                        );
                        let usage = KernelUsage {
                            registers,
                            shared_bytes: fixed as u32,
                            barriers,
                            ..KernelUsage::default()
                        };
                        ours.push(limits.resident_warps(&usage, threads, dynamic));
                    }
                }
            }
        }
    }
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take().unwrap();
    let written = rows.clone();
    let writer = std::thread::spawn(move || (&input).write_all(written.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let theirs = String::from_utf8(output.stdout).unwrap();
    assert_eq!(theirs.lines().count(), ours.len());
    assert!(ours.len() > 5000);
    for ((row, theirs), ours) in rows.lines().zip(theirs.lines()).zip(ours) {
        let threads: u32 = row.split(' ').nth(8).unwrap().parse().unwrap();
        let blocks: i64 = theirs.parse().unwrap();
        let warps = blocks * i64::from(threads.div_ceil(32));
        assert_eq!(warps, i64::from(ours), "{row}");
    }
}

fn sirius(arguments: &[&str], output: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .current_dir(root())
        .env("SIRIUS_STRICT", "1")
        .args(arguments)
        .arg("-o")
        .arg(output)
        .output()
        .unwrap()
}

const CROWDED: &str = "tests/resources/crowded.cu";

/// Each of its kernels keeps the shared memory that it has alone.
const APART: &str = "--sirius-opt=all,-shared-memory-reuse";

/// ptxas runs in a verbose build's commands.
fn assembler_runs(output: &Output) -> usize {
    let text = String::from_utf8_lossy(&output.stderr);
    let commands = text.lines().filter(|line| line.starts_with("#$ "));
    commands.filter(|line| line.contains("/ptxas ")).count()
}

#[test]
fn a_group_that_crowds_the_multiprocessor_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let report = place("cuda.json");
    let option = format!("--sirius-report={}", report.display());
    let built = sirius(
        &["-arch=sm_80", "-v", APART, &option, CROWDED],
        &place("cuda"),
    );
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    // The unit, the group as planned, its four parts together, what is left of it.
    assert_eq!(assembler_runs(&built), 4);
    let json: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    let fusions = json["fusions"].as_array().unwrap();
    assert_eq!(fusions.len(), 1);
    assert_eq!(fusions[0]["members"].as_array().unwrap().len(), 2);
    let figures = &fusions[0]["resources"][0];
    assert_eq!(figures["architecture"], 80);
    assert_eq!(figures["threads_per_block"], 64);
    assert_eq!(figures["fused"]["shared_bytes"], 30 * 1024);
    assert!(figures["fused"]["registers"].as_u64().unwrap() >= 8);
    assert_eq!(figures["warps"], 10);
    assert_eq!(figures["least_member_warps"], 20);
    let missed = &json["missed"][0];
    assert_eq!(missed["reason"], "resources");
    let message = missed["message"].as_str().unwrap();
    for part in [
        "6 of 64 warps",
        "46080 bytes",
        "at least 20 of each unfused",
        "sm_80",
    ] {
        assert!(message.contains(part), "{message}");
    }

    // An analysis comes to the same plan.
    let analysed = sirius(
        &["analyze", "-arch=sm_80", APART, "--format=json", CROWDED],
        &place("analysis.json"),
    );
    assert!(analysed.status.success());
    let read = |name: &str| -> Value {
        let text = std::fs::read(place(name)).unwrap();
        serde_json::from_slice(&text).unwrap()
    };
    let analysis = read("analysis.json");
    for part in ["missed", "fusions"] {
        assert_eq!(analysis[part], json[part]);
    }

    // The first kernel is done with its tile when the third begins: two tiles are enough for all.
    let analysed = sirius(
        &["analyze", "-arch=sm_80", "--format=json", CROWDED],
        &place("overlaid.json"),
    );
    assert!(analysed.status.success());
    let fusions = &read("overlaid.json")["fusions"];
    assert_eq!(fusions[0]["members"].as_array().unwrap().len(), 3);
    let figures = &fusions[0]["resources"][0];
    assert_eq!(figures["fused"]["shared_bytes"], 30 * 1024);
    assert_eq!(figures["warps"], 10);
}

/// A set or a copy is no kernel that ptxas could tell of: a group that has one is judged by the kernels.
#[test]
fn a_set_or_a_copy_in_a_group_takes_no_figures_away() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(root().join(CROWDED)).unwrap();
    let first = "exchange<1><<<kBlocks, kThreads>>>(a, b)";
    assert!(text.contains(first));
    for (kind, operation, launch) in [
        ("sets", "cudaMemset(d, 0, kCount * sizeof(float))", first),
        (
            "copies",
            "cudaMemcpy(d, a, kCount * sizeof(float), cudaMemcpyDeviceToDevice)",
            "exchange<1><<<kBlocks, kThreads>>>(d, b)",
        ),
    ] {
        let place = |ending: &str| folder.path().join(format!("{kind}.{ending}"));
        let (source, report) = (place("cu"), place("json"));
        let with_operation = text.replace(first, &format!("{operation};\n    {launch}"));
        std::fs::write(&source, with_operation).unwrap();
        let source = source.to_str().unwrap();
        let analysed = sirius(
            &["analyze", "-arch=sm_80", APART, "--format=json", source],
            &report,
        );
        assert!(analysed.status.success());
        let json: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        assert_eq!(json["counts"][format!("{kind}_in_fusions")], 1);
        let fusions = json["fusions"].as_array().unwrap();
        let sizes: Vec<usize> = fusions
            .iter()
            .map(|fusion| fusion["members"].as_array().unwrap().len())
            .collect();
        // Of all four, which crowd the multiprocessor, what is left.
        assert_eq!(sizes, [2, 2]);
        for fusion in fusions {
            assert_eq!(fusion["resources"][0]["architecture"], 80, "{fusion}");
        }
        assert_eq!(json["missed"][0]["reason"], "resources");
    }
}

#[test]
fn the_cpu_device_decides_alike_when_an_architecture_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut results = Vec::new();
    for (name, options, summary) in [
        ("plain", &[][..], "3 launches -> 1"),
        ("named", &["-arch=sm_80", APART][..], "3 launches -> 2"),
        ("overlaid", &["-arch=sm_80"][..], "3 launches -> 1"),
        ("off", &["--sirius-fusion=off"][..], ""),
    ] {
        let program = folder.path().join(name);
        let arguments = [&["--sirius-device=cpu", CROWDED][..], options].concat();
        let built = sirius(&arguments, &program);
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{said}");
        assert!(said.contains(summary), "{name}: {said}");
        assert_eq!(
            said.contains("launches ->"),
            !summary.is_empty(),
            "{name}: {said}"
        );
        results.push(Command::new(&program).output().unwrap().stdout);
    }
    assert!(
        results
            .iter()
            .all(|result| *result == results[0] && !result.is_empty())
    );
}

/// What a launch may have for a block is not known, and the largest one leaves a thread too few registers: fused is what
/// the kernels could be launched with by themselves.
#[test]
fn a_hungry_kernel_is_fused_in_blocks_that_it_can_have() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let build = |name: &str, options: &[&str]| {
        let device = [
            "--sirius-device=cpu",
            "-arch=sm_80",
            "tests/resources/hungry.cu",
        ];
        let built = sirius(&[&device[..], options].concat(), &place(name));
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{said}");
    };
    let option = format!("--sirius-report={}", place("report.json").display());
    build("fused", &[&option]);
    build("apart", &["--sirius-fusion=off"]);
    let json: Value =
        serde_json::from_slice(&std::fs::read(place("report.json")).unwrap()).unwrap();
    let fusion = &json["fusions"][0];
    let guards = fusion["guards"].as_array().unwrap();
    let shapes = guards.iter().filter(|guard| guard["kind"] == "shape");
    let shapes: Vec<&str> = shapes
        .map(|guard| guard["condition"].as_str().unwrap())
        .collect();
    let [bound] = shapes.as_slice() else {
        panic!("{fusion}");
    };
    let most: u32 = bound
        .strip_prefix("begin.blockDim.x <= ")
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        (256..1024).contains(&most) && most.is_multiple_of(32),
        "{bound}"
    );
    let figures = &fusion["resources"][0]["fused"];
    assert!(figures["registers"].as_u64().unwrap() > 64, "{figures}");
    assert_eq!(figures["spill_store_bytes"], 0);

    for (threads, launches) in [(128, 1), (most, 1), (most + 1, 2), (1024, 2)] {
        let run = |name: &str| {
            let stats = place("stats.json");
            let mut command = Command::new(place(name));
            command.arg(threads.to_string()).env("SIRIUS_STATS", &stats);
            let result = command.output().unwrap();
            assert!(result.status.success());
            let stats: Value = serde_json::from_slice(&std::fs::read(stats).unwrap()).unwrap();
            (result.stdout, stats["launches"].as_u64().unwrap())
        };
        let (fused, apart) = (run("fused"), run("apart"));
        assert_eq!((fused.1, apart.1), (launches, 2), "{threads}");
        assert_eq!(fused.0, apart.0, "{threads}");
    }
}

/// What the tests of a guarded launch take on the host, with a runtime that launches nothing: a pair of
/// launches with run-time shapes and pointers of which nothing is known.
#[test]
fn guards_take_nanoseconds() {
    let folder = tempfile::tempdir().unwrap();
    let mut nanoseconds = Vec::new();
    for (fusion, arguments, launches) in [
        ("all", &[][..], "1"),
        ("all", &["overlap"][..], "2"),
        ("off", &[][..], "2"),
    ] {
        let object = folder.path().join("step.o");
        let option = format!("--sirius-fusion={fusion}");
        let step = "tests/resources/guarded_step.cu";
        let built = sirius(&["-arch=sm_80", "-O2", "-c", &option, step], &object);
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        let program = folder.path().join("program");
        let linked = Command::new("clang-22")
            .args(["-O2", "tests/resources/nothing_runtime.c"])
            .arg(&object)
            .arg("-o")
            .arg(&program)
            .current_dir(root())
            .status()
            .unwrap();
        assert!(linked.success());
        let output = Command::new(&program).args(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (launched, time) = text.trim().split_once(' ').unwrap();
        assert_eq!(launched, launches, "fusion {fusion}, {arguments:?}");
        nanoseconds.push(time.parse::<f64>().unwrap());
    }
    let [fused, originals, unguarded] = nanoseconds[..] else {
        unreachable!()
    };
    println!(
        "a guarded pair of launches: {fused} ns where the guards hold, {originals} ns where they \
         fail, {unguarded} ns unfused"
    );
    // A launch takes microseconds; a busy machine takes its time.
    assert!(fused < 2000.0 && originals < 2000.0, "{nanoseconds:?}");
}

#[test]
fn statistics_tell_how_often_each_side_ran() {
    let folder = tempfile::tempdir().unwrap();
    let (program, statistics) = (folder.path().join("sides"), folder.path().join("stats"));
    let built = sirius(
        &["--sirius-device=cpu", "tests/resources/sides.cu"],
        &program,
    );
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let ran = Command::new(&program)
        .env("SIRIUS_STATS", &statistics)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "invalid argument\n");
    let json: Value = serde_json::from_slice(&std::fs::read(&statistics).unwrap()).unwrap();
    let groups = json["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "{json}");
    assert_eq!(groups[0]["fused"], 3);
    assert_eq!(groups[0]["originals"], 2);
    // The number is that of the report, whose test says that what both launches store does not overlap.
    let refused = serde_json::json!({"alias 1": 1, "issued_before": 1});
    assert_eq!(groups[0]["refused"], refused);
    let kernel = &groups[0]["kernel"];
    let of_kernel = json["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["kernel"] == *kernel);
    assert_eq!(of_kernel.unwrap()["launches"], 3);
}

/// Kernels with the constants of launches that fuse with nothing, and those that are launched as they are.
#[test]
fn launches_with_telling_constants_have_kernels_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (program, statistics) = (folder.path().join("told"), folder.path().join("stats"));
    let source = "tests/run/constants_of_launches.cu";
    let kernels = |options: &[&str]| -> Vec<String> {
        let built = sirius(
            &[options, &["--sirius-device=cpu", source]].concat(),
            &program,
        );
        assert!(built.status.success());
        let ran = Command::new(&program)
            .arg("5")
            .env("SIRIUS_STATS", &statistics)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "PASS\n");
        let json: Value = serde_json::from_slice(&std::fs::read(&statistics).unwrap()).unwrap();
        let kernels = json["kernels"].as_array().unwrap().iter();
        let made = kernels.filter_map(|kernel| kernel["name"].as_str());
        let made = made.filter(|name| name.starts_with("sirius_fused_"));
        let mut made: Vec<String> = made
            .filter_map(|name| Some(name.rsplit_once('_')?.1.to_owned()))
            .collect();
        made.sort();
        made
    };
    // The filter also divides by a constant, with whatever number of taps.
    let expected = ["filter", "filter", "filter", "filter", "mirror", "power"];
    assert_eq!(kernels(&[]), expected);
    let none: [&str; 0] = [];
    assert_eq!(kernels(&["--sirius-opt=-host-constants"]), none);
    assert_eq!(kernels(&["--sirius-fusion=off"]), none);
}

/// Every form of fused kernel goes through ptxas without an error, a warning or a spill, for two
/// architectures, and has the launch bounds of its members.
#[test]
fn every_kind_of_fused_kernel_assembles() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let report = format!("--sirius-report={}", place("report.json").display());
    let kept = folder.path().display().to_string();
    let mut arguments = vec!["-Xptxas", "-v", "--keep", "--keep-dir", &kept, &report];
    for architecture in ["80", "90"] {
        arguments.push("-gencode");
        arguments.push(match architecture {
            "80" => "arch=compute_80,code=sm_80",
            _ => "arch=compute_90,code=sm_90",
        });
    }
    arguments.push("tests/resources/every_kind.cu");
    let built = sirius(&arguments, &place("program"));
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");
    assert!(said.contains("sirius: 27 launches -> 10"), "{said}");
    let json: Value =
        serde_json::from_slice(&std::fs::read(place("report.json")).unwrap()).unwrap();
    let fusions = json["fusions"].as_array().unwrap();
    let resources = fusions
        .iter()
        .flat_map(|fusion| fusion["resources"].as_array().unwrap());
    assert_eq!(resources.count(), 2 * fusions.len());
    // Groups that are equal share a kernel.
    let mut entries: Vec<(String, [Option<u32>; 2])> = Vec::new();
    let [groups, batches] = ["fused", "batches"]
        .map(|stem| std::fs::read_to_string(place(&format!("{stem}.compute_80.ptx"))).unwrap());
    assert!(!groups.contains("sirius_batch_"));
    let text = groups + &batches;
    let number = |line: &str, name: &str| line.strip_prefix(name)?.trim().parse().ok();
    for line in text.lines() {
        if let Some((_, name)) = line.split_once(".entry ") {
            entries.push((name.trim_end_matches('(').to_owned(), [None; 2]));
        } else if let Some((_, [threads, blocks])) = entries.last_mut() {
            *threads = threads.or(number(line, ".maxntid"));
            *blocks = blocks.or(number(line, ".minnctapersm"));
        }
    }
    let shortened = entries.iter().map(|(name, bounds)| {
        let name = name
            .trim_start_matches(|letter: char| letter != '_')
            .trim_start_matches('_');
        let kind = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let kind = kind.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '_');
        (kind.split('_').next().unwrap(), *bounds)
    });
    let found: Vec<_> = shortened.collect();
    let expected = [
        // Loops become one; threads are remapped; named barriers; shared storage; rows kept in shared memory.
        ("scale", [Some(64), None]),
        ("one", [Some(256), Some(4)]),
        ("block", [Some(128), Some(8)]),
        ("exchange", [Some(64), None]),
        ("row", [Some(128), None]),
        // A single group; one by itself; one that others share; what runs several of a batch.
        ("product", [Some(32), Some(8)]),
        ("product", [Some(32), Some(8)]),
        ("product", [Some(32), Some(8)]),
        ("product", [Some(32), Some(8)]),
    ];
    assert_eq!(found, expected);
    assert!(entries.last().unwrap().0.starts_with("sirius_batch_"));
    assert!(
        text.contains("bar.sync \t0, 64;"),
        "a barrier of half a block"
    );
    assert!(
        text.contains(".extern .shared"),
        "rows in dynamic shared memory"
    );
    // ptxas tells of each kernel for both.
    let spilled = |line: &&str| line.contains("spill stores");
    let spills: Vec<&str> = said.lines().filter(spilled).collect();
    assert!(spills.len() >= 2 * entries.len(), "{said}");
    for line in spills {
        assert!(
            line.contains(" 0 bytes spill stores, 0 bytes spill loads"),
            "{line}"
        );
    }
}

#[test]
fn joined_loops_load_each_element_once() {
    let folder = tempfile::tempdir().unwrap();
    let loaded = |options: &[&str]| {
        let (program, statistics) = (folder.path().join("chain"), folder.path().join("stats"));
        let chain = ["--sirius-device=cpu", "tests/resources/stride_chain.cu"];
        let built = sirius(&[&chain[..], options].concat(), &program);
        assert!(built.status.success());
        let ran = Command::new(&program)
            .env("SIRIUS_STATS", &statistics)
            .output()
            .unwrap();
        let json: Value = serde_json::from_slice(&std::fs::read(&statistics).unwrap()).unwrap();
        let kernels = json["kernels"].as_array().unwrap();
        let sum = |name: &str| {
            let counts = kernels.iter().map(|kernel| kernel[name].as_u64().unwrap());
            counts.sum::<u64>()
        };
        let launches = json["launches"].as_u64().unwrap();
        (ran.stdout, launches, sum("global_load_bytes"))
    };
    let (output, launches, joined) = loaded(&[]);
    let (other, apart_launches, apart) = loaded(&["--sirius-opt=all,-loop-fusion"]);
    assert_eq!((launches, apart_launches), (1, 1));
    assert_eq!((joined, apart), (4 * 1000, 4 * 4 * 1000));
    assert_eq!(output, other);
}
