//! Programs in C that build the compiler's tables by hand, linked with the static library and run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sirius_runtime::abi::{ABI_VERSION, access};
use sirius_runtime::execution::statistics::Statistics;
use sirius_runtime::output::trace::{NO_SITE, Record, SPACE_SHARED, read_trace};

/// The static library that Cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let dependencies = test.parent().unwrap();
    let mut found: Vec<PathBuf> = [dependencies, dependencies.parent().unwrap()]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("libsirius_runtime") && name.ends_with(".a")
        })
        .collect();
    found.sort_by_key(|path| path.metadata().unwrap().modified().unwrap());
    found
        .pop()
        .expect("Cargo builds the static library with the tests")
}

fn build(program: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(format!("{program}.c"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // One executable for each test process and thread: tests run at the same time.
    let executable =
        folder.join(format!("{program}-{:?}", std::thread::current().id()).replace(['(', ')'], ""));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(compiler)
        .arg(format!("-DABI_VERSION={ABI_VERSION}"))
        .args(["-g", "-O1", "-o"])
        .arg(&executable)
        .arg(source)
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    executable
}

fn run(executable: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    Command::new(executable)
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The programs declare the runtime's functions by hand, in C.
#[test]
fn declared_functions_are_the_runtimes() {
    let header = include_str!("programs/image.h");
    let mut declared = 0;
    for line in header.lines() {
        let Some((head, rest)) = line.split_once('(') else {
            continue;
        };
        let name = head.rsplit([' ', '*']).next().unwrap_or_default();
        let mut functions = sirius_abi::FUNCTIONS.iter();
        if let Some(function) = functions.find(|function| function.name == name) {
            let parameters = rest.split(',').count();
            assert_eq!(parameters, function.parameters.len(), "{line}");
            declared += 1;
        }
    }
    assert!(declared > 8, "{declared}");
}

#[test]
fn kernels_of_each_kind() {
    let executable = build("kernels");
    for environment in [
        &[][..],
        &[("SIRIUS_CPU_THREADS", "1")],
        &[("SIRIUS_CPU", "fiber"), ("SIRIUS_CPU_THREADS", "5")],
    ] {
        let output = run(&executable, &[], environment);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text == "ok\n",
            "{environment:?}: {text}"
        );
    }
}

#[test]
fn driver_interface() {
    let output = run(&build("driver"), &[], &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text == "ok\n", "{text}");
}

#[test]
fn nonsense_in_the_environment() {
    let output = run(&build("kernels"), &[], &[("SIRIUS_CPU_THREADS", "many")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("SIRIUS_CPU_THREADS"));
}

#[test]
fn faults_are_named() {
    let executable = build("faults");
    for (kernel, sentences) in [
        (
            "wild",
            &[
                "illegal memory access at 0x",
                "kernel wild, block (0,0,0), thread (3,0,0)",
                "faults.c:6",
                "176 bytes past the end of device allocation 0 (1024 bytes)",
            ][..],
        ),
        (
            "wild_shared",
            &["0 bytes past the end of shared memory", "faults.c:11"],
        ),
        (
            "stuck",
            &[
                "deadlock in kernel stuck, block (0,0,0)",
                "4 at __syncthreads, 28 at a warp operation",
            ],
        ),
        ("outsider", &["mask 0x00000001 lacks"]),
        ("overflow", &["stack overflow in kernel overflow"]),
        ("lying", &["a bug of sirius-rs"]),
        (
            "freed",
            &["byte 0 of device allocation 0 (1024 bytes), which was freed"],
        ),
    ] {
        let output = run(&executable, &[kernel], &[("SIRIUS_CPU_THREADS", "1")]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{kernel}: {text}");
        for sentence in sentences {
            assert!(
                text.contains(sentence),
                "{kernel}: no `{sentence}` in `{text}`"
            );
        }
        // What the host printed before is not lost.
        assert!(kernel == "freed" || output.stdout == b"before\n");
    }
}

#[test]
fn faults_of_the_host_are_the_hosts() {
    let output = run(&build("faults"), &["host"], &[]);
    assert_eq!(output.status.code(), None);
    assert!(output.stderr.is_empty());
}

#[test]
fn traps_and_assertions_are_errors() {
    let executable = build("faults");
    for (kernel, error, sentence) in [
        (
            "trapping",
            "cudaErrorLaunchFailure",
            "kernel trapping trapped in block (0,0,0), thread (3,0,0)",
        ),
        (
            "trapping_among_fibers",
            "cudaErrorLaunchFailure",
            "trapped in block",
        ),
        (
            "asserting",
            "cudaErrorAssert",
            "a.cu:12: void f(int): block: [1,0,0], thread: [2,0,0] Assertion `x < 2` failed.\n",
        ),
    ] {
        let output = run(&executable, &[kernel], &[("SIRIUS_CPU_THREADS", "1")]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            text,
            format!("before\nlaunch 0, synchronise {error}, malloc {error}\n")
        );
        assert!(String::from_utf8_lossy(&output.stderr).contains(sentence));
    }
}

#[test]
fn printing_mixes_with_the_hosts() {
    let output = run(&build("faults"), &["printing"], &[]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "before\nthread 0 0.0 text\nthread 1 0.5 text\n\
         launch 0, synchronise cudaSuccess, malloc cudaSuccess\n"
    );
}

#[test]
fn launches_that_are_alike_run_once_and_count_each() {
    let executable = build("alike");
    let counted = [None, Some("1")].map(|once| {
        let path = scratch("alike.json");
        let name = path.to_str().unwrap();
        let once = once.map(|once| ("SIRIUS_STATS_ONCE", once));
        let variables = [("SIRIUS_STATS", name)].into_iter().chain(once);
        let output = run(&executable, &[], &variables.collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let statistics: Statistics =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        (said, statistics)
    });
    let [(each, all), (once, few)] = counted;
    assert_eq!(all, few);
    assert_eq!((all.launches, all.kernels[0].instructions), (6, 6 * 4 * 3));
    // What each launch added to, by its number: the second and the fourth are like the first and the third.
    assert_eq!(each.trim(), "1 1 2 2 1 1");
    assert_eq!(once.trim(), "1 0 2 0 1 1");
}

#[test]
fn statistics_trace_and_dump() {
    let executable = build("instrumented");
    let paths = ["statistics.json", "trace.bin", "dump.jsonl"].map(scratch);
    let names: Vec<_> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let output = run(
        &executable,
        &[],
        &[
            ("SIRIUS_CPU_THREADS", "1"),
            ("SIRIUS_STATS", names[0]),
            ("SIRIUS_TRACE", names[1]),
            ("SIRIUS_DUMP_MEMORY", names[2]),
        ],
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );

    let statistics: Statistics =
        serde_json::from_str(&std::fs::read_to_string(&paths[0]).unwrap()).unwrap();
    assert_eq!(statistics.launches, 2);
    let kernel = &statistics.kernels[0];
    assert_eq!((kernel.launches, kernel.blocks, kernel.threads), (2, 4, 16));
    // Each thread loads 4 bytes, stores them to shared memory, loads its neighbour's and stores it.
    assert_eq!(
        (kernel.global_load_bytes, kernel.global_store_bytes),
        (64, 64)
    );
    assert_eq!(
        (kernel.shared_load_bytes, kernel.shared_store_bytes),
        (64, 64)
    );
    assert_eq!((kernel.barriers, kernel.instructions), (4, 160));

    let records = read_trace(&paths[1]).unwrap().records;
    let launches: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::Launch {
                launch,
                site,
                grid,
                block,
                kernel,
                ..
            } => Some((*launch, *site, grid[0], block[0], kernel.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        launches,
        [(0, 5, 2, 4, "exchange"), (1, NO_SITE, 2, 4, "exchange")]
    );
    let blocks: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::Accesses {
                launch,
                block,
                accesses,
            } => Some((*launch, block[0], accesses)),
            _ => None,
        })
        .collect();
    assert_eq!(
        blocks
            .iter()
            .map(|block| (block.0, block.1))
            .collect::<Vec<_>>(),
        [(0, 0), (0, 1), (1, 0), (1, 1)]
    );
    let second = blocks[1].2;
    // Four threads, each: constant read, load, shared store, (barrier) shared load, store.
    assert_eq!(second.len(), 20);
    assert_eq!((second[0].ordinal, second[0].interval), (0x8000_0000, 0));
    assert_eq!(
        (second[1].ordinal, second[1].offset, second[1].size),
        (0, 16, 4)
    );
    assert_eq!(
        (second[2].space, second[2].offset, second[2].kind),
        (SPACE_SHARED, 0, access::STORE as u8)
    );
    let last = second[19];
    assert_eq!(
        (last.thread, last.interval, last.ordinal, last.offset),
        (3, 1, 1, 28)
    );
    assert!(records.iter().any(|record| matches!(record,
        Record::Copy { destination, source, bytes: 32 }
            if destination.ordinal == 0 && source.ordinal == u32::MAX)));
    assert!(records.iter().any(|record| matches!(record,
        Record::Set { destination, bytes: 32 } if destination.ordinal == 1)));

    let dump = std::fs::read_to_string(&paths[2]).unwrap();
    let lines: Vec<serde_json::Value> = dump
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // The second allocation is freed by the program, the others are dumped at exit.
    let ordinals: Vec<_> = lines
        .iter()
        .map(|line| line["ordinal"].as_u64().unwrap())
        .collect();
    assert_eq!(ordinals, [1, 0, 0x8000_0000]);
    assert_eq!(lines[2]["contents"], "01000000");
    assert_eq!(lines[0]["contents"].as_str().unwrap().len(), 64);
}

#[test]
fn warp_operations_under_divergence() {
    let output = run(&build("warps"), &[], &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text == "ok\n", "{text}");
}

#[test]
fn streams_events_and_host_functions() {
    let output = run(&build("runtime"), &[], &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text == "ok\n", "{text}");
}
