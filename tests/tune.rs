//! The tuner, on the CPU device: programs that measure, their results, and what comes of these.
//!
//! Times are what they are on the day, so that the tests take results apart and put other times in.

#[path = "harness/quick_link.rs"]
mod quick_link;

use quick_link::QUICK_LINK;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/layouts.cu");

fn compiler(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .current_dir(folder)
        .args(arguments)
        .args(QUICK_LINK)
        .env("SIRIUS_CACHE", folder.join("cache"))
        .env("SIRIUS_FRONT_END_CACHE", folder.join("front"))
        .env("SIRIUS_DEVICE", "cpu")
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler starts")
}

/// What was chosen for each group by a report.
fn chosen(report: &str) -> Vec<Option<String>> {
    let report: Value = serde_json::from_str(report).unwrap();
    let fusions = report["fusions"].as_array().unwrap().iter();
    let chosen = fusions.map(|fusion| fusion["tuned"].as_str().map(str::to_owned));
    chosen.collect()
}

/// Builds the program; what the compiler said, what was chosen, and what the program prints.
fn built(folder: &Path, options: &[&str]) -> (String, Vec<Option<String>>, String) {
    let mut arguments = vec![SOURCE, "-o", "program", "--sirius-report=report.json"];
    arguments.extend(options);
    let built = compiler(folder, &arguments);
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{said}");
    let report = std::fs::read_to_string(folder.join("report.json")).unwrap();
    let run = Command::new(folder.join("program")).arg("7").output();
    let run = run.unwrap();
    assert!(run.status.success());
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    (said, chosen(&report), printed)
}

/// The lines that the compiler says of the program, and what is chosen.
fn analysed(folder: &Path, options: &[&str]) -> (Vec<String>, Vec<Option<String>>) {
    let mut arguments = vec!["analyze", "--format=json", SOURCE];
    arguments.extend(options);
    let output = compiler(folder, &arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    (said.lines().map(str::to_owned).collect(), chosen(&report))
}

/// Gives each site of each run a time.
fn retime(results: &Value, time: impl Fn(u64) -> f64) -> String {
    let mut results = results.clone();
    for run in results["runs"].as_array_mut().unwrap() {
        let configuration = run["configuration"].as_u64().unwrap();
        for site in run["sites"].as_array_mut().unwrap() {
            site["nanoseconds"] = time(configuration).into();
        }
    }
    results.to_string()
}

#[test]
fn what_a_packed_program_measures_chooses_variants_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, as_planned, expected) = built(folder, &[]);
    assert_eq!(as_planned, [None, None]);

    let pack = [
        "tune",
        "--pack",
        SOURCE,
        "-o",
        "packed",
        "--sirius-tune-budget=0",
    ];
    let packed = compiler(folder, &pack);
    let said = String::from_utf8_lossy(&packed.stderr).into_owned();
    assert!(packed.status.success(), "{said}");
    assert!(
        said.contains("2 fused kernels in 2 configurations"),
        "{said}"
    );
    let run = Command::new(folder.join("packed"))
        .arg("7")
        .current_dir(folder)
        .output();
    let run = run.unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(
        run.status.success() && said.contains("runs on 80"),
        "{said}"
    );
    // What is tried, and which was the fastest.
    for words in [
        "configuration 0: all as planned\n",
        "configuration 1: ",
        "fastest of 2: ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let results = std::fs::read_to_string(folder.join("packed.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    // The planned variant and another one of both groups, each launched in every run.
    let sites = |run: &Value| run["sites"].as_array().unwrap().len();
    let runs = results["runs"].as_array().unwrap();
    assert!(runs.len() >= 2 && runs.iter().all(|run| sites(run) >= 2));
    let others = &results["manifest"]["configurations"][1];
    let others: Vec<&str> = others
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(others.len(), 2);

    // Where the others are faster they are taken.
    let told = |text: &str| std::fs::write(folder.join("told.json"), text).unwrap();
    let faster = retime(
        &results,
        |configuration| {
            if configuration == 0 { 1e6 } else { 1e3 }
        },
    );
    told(&faster);
    let (said, chosen, printed) = built(folder, &["--sirius-tune-results=told.json"]);
    assert!(!said.contains("results"), "{said}");
    let mut taken: Vec<&str> = chosen.iter().flatten().map(String::as_str).collect();
    taken.sort_unstable();
    let mut wanted = others.clone();
    wanted.sort_unstable();
    assert_eq!(taken, wanted);
    assert_eq!(printed, expected);

    // Names of variants that are not there, a subject that is not, another version, half a file.
    let strange = faster.replace(&format!("\"{}\"", others[0]), "\"v77 -speed\"");
    let key = results["manifest"]["subjects"][0]["key"].as_str().unwrap();
    let unknown = faster.replace(key, "0123");
    let foreign = faster.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
    let half = faster[..faster.len() / 2].to_owned();
    for (text, words, left) in [
        (strange, "there is no variant 'v77 -speed'", 1),
        (unknown, "1 of 2 results in told.json fit nothing", 1),
        (foreign, "it is of sirius-rs 0.0.0", 0),
        (half, "it is no file of measurements", 0),
    ] {
        told(&text);
        let (lines, chosen) = analysed(folder, &["--sirius-tune-results=told.json"]);
        assert!(
            matches!(lines.as_slice(), [line] if line.contains(words)),
            "{lines:?}"
        );
        assert_eq!(chosen.iter().flatten().count(), left, "{words}");
    }
}

/// Packs a program and runs that; what it wrote.
fn packed_results(folder: &Path, source: &str, argument: &str, options: &[&str]) -> Value {
    let budget = "--sirius-tune-budget=1";
    let mut arguments = vec!["tune", "--pack", source, "-o", "packed", budget];
    arguments.extend(options);
    let packed = compiler(folder, &arguments);
    let said = String::from_utf8_lossy(&packed.stderr).into_owned();
    assert!(packed.status.success(), "{said}");
    let run = Command::new(folder.join("packed"))
        .arg(argument)
        .current_dir(folder)
        .output();
    assert!(run.unwrap().status.success());
    let results = std::fs::read_to_string(folder.join("packed.json")).unwrap();
    serde_json::from_str(&results).unwrap()
}

#[test]
fn aligned_domains_and_unrolled_loops_are_variants() {
    const ALIGNED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/aligned_domains.cu");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let results = packed_results(folder, ALIGNED, "5", &[]);
    let subjects = results["manifest"]["subjects"].as_array().unwrap();
    let with_loop = subjects.iter().find(|subject| {
        let mut kernels = subject["kernels"].as_array().unwrap().iter();
        kernels.any(|kernel| kernel.as_str().unwrap().starts_with("polynomial"))
    });
    let key = with_loop.unwrap()["key"].as_str().unwrap();

    // What is built where this variant was faster: what was chosen, what is printed, and blocks and instructions
    // of the kernel with the loop.
    let built_as = |choice: Option<&str>| {
        let mut arguments = vec![ALIGNED, "-o", "program", "--sirius-report=report.json"];
        if let Some(choice) = choice {
            let mut told = results.clone();
            for configuration in told["manifest"]["configurations"].as_array_mut().unwrap() {
                if let Some(name) = configuration.get_mut(key) {
                    *name = choice.into();
                }
            }
            let faster = |configuration| if configuration == 0 { 1e6 } else { 1e3 };
            std::fs::write(folder.join("told.json"), retime(&told, faster)).unwrap();
            arguments.push("--sirius-tune-results=told.json");
        }
        let built = compiler(folder, &arguments);
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.success(), "{said}");
        let run = Command::new(folder.join("program"))
            .arg("5")
            .env("SIRIUS_STATS", folder.join("counts.json"))
            .output()
            .unwrap();
        assert!(run.status.success());
        let counts = std::fs::read_to_string(folder.join("counts.json")).unwrap();
        let counts: Value = serde_json::from_str(&counts).unwrap();
        let mut kernels = counts["kernels"].as_array().unwrap().iter();
        let kernel = kernels.find(|each| each["name"].as_str().unwrap().contains("polynomial"));
        let count = |what: &str| kernel.unwrap()[what].as_u64().unwrap();
        let report = std::fs::read_to_string(folder.join("report.json")).unwrap();
        let taken = chosen(&report)[0].clone();
        let printed = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(taken.as_deref(), choice, "{said}");
        (count("blocks"), count("instructions"), printed)
    };
    let (blocks, instructions, expected) = built_as(None);
    assert_eq!(blocks, 24);
    let (smaller, _, printed) = built_as(Some("vmin"));
    assert_eq!((smaller, &printed), (6, &expected));
    // An iteration counts less often.
    let (same, fewer, printed) = built_as(Some("v unroll=2"));
    assert_eq!((same, &printed), (24, &expected));
    assert!(fewer < instructions, "{fewer} of {instructions}");
    let (both, _, printed) = built_as(Some("vmin unroll=4"));
    assert_eq!((both, &printed), (6, &expected));
}

#[test]
fn choices_stay_where_a_crowded_group_is_planned_again() {
    const CROWDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/shared_compared.cu");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let results = packed_results(folder, CROWDED, "", &[]);
    let subjects = results["manifest"]["subjects"].as_array().unwrap();
    let kernels = subjects[0]["kernels"].as_array().unwrap();
    assert_eq!((subjects.len(), kernels.len()), (1, 2), "two of three fit");
    let key = subjects[0]["key"].as_str().unwrap();
    let choice = results["manifest"]["configurations"][1][key].as_str();
    let faster = |configuration| if configuration == 0 { 1e6 } else { 1e3 };
    std::fs::write(folder.join("told.json"), retime(&results, faster)).unwrap();
    let arguments = [
        CROWDED,
        "-o",
        "program",
        "--sirius-tune-results=told.json",
        "--sirius-report=report.json",
    ];
    let built = compiler(folder, &arguments);
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(
        built.status.success() && !said.contains("told.json"),
        "{said}"
    );
    let report = std::fs::read_to_string(folder.join("report.json")).unwrap();
    let taken = chosen(&report);
    match choice {
        // Launches that are not fused are no fusion.
        Some("unfused") => assert!(taken.is_empty()),
        _ => assert_eq!(taken, [choice.map(str::to_owned)]),
    }
    let run = Command::new(folder.join("program")).output().unwrap();
    assert!(run.status.success());
}

/// A group with barriers across the grid is one launch, the groups that there are without them, or unfused, by what was measured.
#[test]
fn barriers_across_the_grid_are_a_variant() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = folder.join("phases.cu");
    let text = "#include <cstdio>
__global__ void first(const int *a, int *b) { int i = blockIdx.x * 64 + threadIdx.x; b[i] = a[i] * 3 + 1; }
__global__ void turned(const int *b, int *c) { int i = blockIdx.x * 64 + threadIdx.x; c[i] = b[i] - b[(i + 65) % 512]; }
__global__ void squared(const int *c, int *d) { int i = blockIdx.x * 64 + threadIdx.x; d[i] = c[i] * c[i]; }
__global__ void back(const int *d, int *a) { int i = blockIdx.x * 64 + threadIdx.x; a[i] = d[i] ^ d[(i + 130) % 512]; }
int main() {
  int *a, *b, *c, *d, host[512];
  for (int **each : {&a, &b, &c, &d}) cudaMalloc(each, sizeof host);
  for (int i = 0; i < 512; ++i) host[i] = i * i;
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  first<<<8, 64>>>(a, b);
  turned<<<8, 64>>>(b, c);
  squared<<<8, 64>>>(c, d);
  back<<<8, 64>>>(d, a);
  cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
  unsigned sum = 0;
  for (int i = 0; i < 512; ++i) sum = sum * 31 + host[i];
  printf(\"%u\\n\", sum);
}
";
    std::fs::write(&source, text).unwrap();
    let source = source.to_str().unwrap();
    const BARRIERS: &str = "--sirius-boundaries=grid-barrier";
    let results = packed_results(folder, source, "", &[BARRIERS]);
    let manifest = &results["manifest"];
    let subject = &manifest["subjects"].as_array().unwrap()[0];
    assert_eq!(subject["planned"], "phases");
    let key = subject["key"].as_str().unwrap();
    let configurations = manifest["configurations"].as_array().unwrap();
    let tried = |each: &Value| each.get(key) == Some(&Value::from("without-grid-barriers"));
    let tried = configurations.iter().position(tried).unwrap() as u64;
    // The cooperative launch is timed as others are.
    let sites = |run: &Value| run["sites"].as_array().unwrap().len();
    let mut runs = results["runs"].as_array().unwrap().iter();
    assert!(runs.all(|run| sites(run) > 0), "{results}");

    let built_as = |choice: Option<&str>| {
        let mut arguments = vec![source, "-o", "program", BARRIERS];
        arguments.push("--sirius-report=report.json");
        if let Some(choice) = choice {
            let mut told = results.clone();
            told["manifest"]["configurations"][tried as usize][key] = choice.into();
            let faster = |configuration| if configuration == tried { 1e3 } else { 1e6 };
            std::fs::write(folder.join("told.json"), retime(&told, faster)).unwrap();
            arguments.push("--sirius-tune-results=told.json");
        }
        let built = compiler(folder, &arguments);
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.success() && !said.contains("told"), "{said}");
        let run = Command::new(folder.join("program"))
            .env("SIRIUS_STATS", folder.join("counts.json"))
            .env("SIRIUS_CPU_THREADS", "8")
            .output()
            .unwrap();
        assert!(run.status.success());
        let counts = std::fs::read_to_string(folder.join("counts.json")).unwrap();
        let counts: Value = serde_json::from_str(&counts).unwrap();
        let report = std::fs::read_to_string(folder.join("report.json")).unwrap();
        let printed = String::from_utf8_lossy(&run.stdout).into_owned();
        (counts["launches"].as_u64().unwrap(), report, printed)
    };
    let (launches, _, expected) = built_as(None);
    assert_eq!(launches, 1);
    let (launches, report, printed) = built_as(Some("without-grid-barriers"));
    assert_eq!((launches, &printed), (3, &expected));
    assert!(report.contains("faster without barriers across the grid"));
    let (launches, _, printed) = built_as(Some("unfused"));
    assert_eq!((launches, &printed), (4, &expected));
}

/// On a GPU that is so without being asked for.
#[test]
fn caches_are_emptied_where_a_program_does_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = folder.join("again.cu");
    let text = "#include <cstdio>
__global__ void twice(float *x) { x[blockIdx.x * 64 + threadIdx.x] *= 2; }
__global__ void more(float *x) { x[blockIdx.x * 64 + threadIdx.x] += 1; }
int main() {
  float *x, host[256] = {};
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  for (int i = 0; i < 5; ++i) {
    twice<<<4, 64>>>(x);
    more<<<4, 64>>>(x);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf(\"%g\\n\", host[i]);
  }
  return host[255] != 31;
}
";
    std::fs::write(&source, text).unwrap();
    let source = source.to_str().unwrap();
    let results = packed_results(folder, source, "", &[]);
    assert_eq!(results["caches_emptied"], 0, "not on the CPU device");
    let run = Command::new(folder.join("packed"))
        .env("SIRIUS_TUNE_CACHES", "emptied")
        .env("SIRIUS_TUNE_RESULTS", folder.join("cold.json"))
        .output();
    assert!(run.unwrap().status.success());
    let results = std::fs::read_to_string(folder.join("cold.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    let runs = results["runs"].as_array().unwrap().len();
    assert_eq!(
        results["caches_emptied"],
        4 * runs,
        "before all but the first"
    );
}

#[test]
fn what_was_measured_once_is_known_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let measure = [
        "--sirius-tune=measure",
        "--sirius-tune-budget=1",
        "-run-args=7",
    ];
    let (said, first, _) = built(folder, &measure);
    for words in [" has the variants ", " as planned"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(first.iter().all(Option::is_some), "{said}");
    let kept: Vec<_> = std::fs::read_dir(folder.join("cache/tune"))
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(kept.len(), 2);
    // Nothing is run for an analysis.
    let known = ["--sirius-tune=measure"];
    assert_eq!(analysed(folder, &known), (Vec::new(), first));
    // Entries of a cache are names as well.
    for entry in &kept {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let mut verdict: Value = serde_json::from_str(&text).unwrap();
        verdict["choice"] = "v2h9".into();
        std::fs::write(entry.path(), verdict.to_string()).unwrap();
    }
    let (lines, chosen) = analysed(folder, &known);
    let strange = lines
        .iter()
        .filter(|line| line.contains("there is no variant 'v2h9'"));
    assert_eq!(strange.count(), 2, "{lines:?}");
    assert_eq!(chosen, [None, None]);
}

#[test]
fn without_fusion_there_is_nothing_to_measure() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = folder.join("one.cu");
    let text = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let refused = compiler(folder, &["tune", "--pack", "one.cu", "-o", "one.tune"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no launches were fused") && said.lines().count() == 1,
        "{said}"
    );
    assert!(!folder.join("one.tune").exists());
}

/// The sites of a run by number, with their launches; a fused launch has the highest bit.
fn sites_of(run: &Value) -> Vec<(u64, u64)> {
    let sites = run["sites"].as_array().unwrap().iter();
    let numbers = sites.map(|site| {
        let bit = if site["fused"] == true { FUSED } else { 0 };
        let number = site["site"].as_u64().unwrap() | bit;
        (number, site["launches"].as_u64().unwrap())
    });
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

const FUSED: u64 = 1 << 31;

/// Runs of the configuration in which the only subject is unfused, or as planned; their sites are all the same.
fn sites_as(results: &Value, name: Option<&str>) -> Option<Vec<(u64, u64)>> {
    let configurations = results["manifest"]["configurations"].as_array().unwrap();
    let wanted = configurations.iter().position(|each| {
        let mut chosen = each.as_object().unwrap().values();
        match name {
            None => chosen.next().is_none(),
            Some(name) => chosen.next().is_some_and(|choice| choice == name),
        }
    })?;
    let mut runs = results["runs"].as_array().unwrap().iter();
    let run = runs.find(|run| run["configuration"] == wanted)?;
    Some(sites_of(run))
}

/// A program that launches two kernels in some way, three times, and ends with 0 where their result is right.
fn two_kernels(declarations: &str, three_times: &str) -> String {
    format!(
        "#include <cuda.h>
#include <cstdio>
__global__ void twice(float *y, const float *x) {{ y[blockIdx.x * 64 + threadIdx.x] = 2 * x[blockIdx.x * 64 + threadIdx.x]; }}
__global__ void more(float *x, const float *y) {{ x[blockIdx.x * 64 + threadIdx.x] = y[blockIdx.x * 64 + threadIdx.x] + 1; }}
{declarations}
int main() {{
  float *x, *y, host[256] = {{}};
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  {three_times}
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) return 2;
  for (float value : host) if (value != 7) return 1;
  return 0;
}}
"
    )
}

/// What is measured of such a program, which must work, in so many seconds for building its variants, and how
/// often its caches were emptied a run.
fn measured(text: &str, seconds: u32, variables: &[(&str, &str)]) -> (Value, f64) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("two.cu"), text).unwrap();
    let budget = format!("--sirius-tune-budget={seconds}");
    let arguments = [
        "tune",
        "--pack",
        "two.cu",
        "-o",
        "packed",
        &budget,
        "-lcuda",
        // Each launch of a loop is one.
        "--sirius-opt=all,-persistent-loops",
    ];
    let packed = compiler(folder, &arguments);
    let said = String::from_utf8_lossy(&packed.stderr).into_owned();
    assert!(packed.status.success(), "{said}");
    let mut run = Command::new(folder.join("packed"));
    run.env("SIRIUS_TUNE_CACHES", "emptied");
    run.env("SIRIUS_TUNE_BUDGET", "1");
    run.envs(variables.iter().copied()).current_dir(folder);
    let run = run.output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success() && !said.contains("left out"), "{said}");
    let results = std::fs::read_to_string(folder.join("packed.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    let runs = results["runs"].as_array().unwrap().len();
    let emptied = results["caches_emptied"].as_u64().unwrap() as f64 / runs as f64;
    (results, emptied)
}

#[test]
fn launches_through_the_driver_are_timed() {
    let declarations = "static CUfunction first, second;
#define LAUNCH(F, A) if (cuLaunchKernel(F, 4, 1, 1, 64, 1, 1, 0, nullptr, A, nullptr)) return 3
#define LAUNCH_EX(F, A) if (cuLaunchKernelEx(&shape, F, A, nullptr)) return 4";
    let launches = "cuInit(0);
  cudaGetFuncBySymbol(&first, (const void *)twice);
  cudaGetFuncBySymbol(&second, (const void *)more);
  CUlaunchConfig shape = {};
  shape.gridDimX = 4, shape.gridDimY = shape.gridDimZ = 1;
  shape.blockDimX = 64, shape.blockDimY = shape.blockDimZ = 1;
  void *to_y[] = {&y, &x}, *to_x[] = {&x, &y};
  for (int i = 0; i < 3; ++i) { LAUNCH(first, to_y); LAUNCH_EX(second, to_x); }";
    let (results, _) = measured(&two_kernels(declarations, launches), 60, &[]);
    assert_eq!(sites_as(&results, None).unwrap(), [(FUSED, 3)]);
    // As they were written, too.
    let unfused = sites_as(&results, Some("unfused"));
    assert_eq!(unfused.unwrap(), [(0, 3), (1, 3)]);
}

#[test]
fn launches_that_are_captured_are_timed_when_their_graph_runs() {
    let captures = "cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  twice<<<4, 64, 0, stream>>>(y, x);
  more<<<4, 64, 0, stream>>>(x, y);
  if (cudaStreamEndCapture(stream, &graph) || cudaGraphInstantiate(&executable, graph, 0)) return 3;
  cudaGraphDestroy(graph);";
    let replays = "for (int i = 0; i < 3; ++i) if (cudaGraphLaunch(executable, stream)) return 4;
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(executable);";
    let text = two_kernels("", &format!("{captures}\n{replays}"));
    let (results, emptied) = measured(&text, 60, &[]);
    // What it took when it ran last.
    assert_eq!(sites_as(&results, None).unwrap(), [(FUSED, 1)]);
    let unfused = sites_as(&results, Some("unfused"));
    assert_eq!(unfused.unwrap(), [(0, 1), (1, 1)]);
    assert!((emptied - 3.0).abs() < 1e-9, "{emptied}: before each graph");

    // A graph that never runs says nothing.
    let text = two_kernels(
        "",
        &format!(
            "{captures}
  cudaGraphExecDestroy(executable);
  for (int i = 0; i < 3; ++i) {{ twice<<<4, 64>>>(y, x); more<<<4, 64>>>(x, y); }}"
        ),
    );
    let (results, _) = measured(&text, 1, &[]);
    assert_eq!(sites_as(&results, None).unwrap(), [(FUSED | 2, 3)]);

    // The times stay out of graphs whose nodes the program counts, and where that is asked for.
    let eager = "for (int i = 0; i < 3; ++i) { twice<<<4, 64>>>(y, x); more<<<4, 64>>>(x, y); }";
    let counts = "size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  if (nodes != 2) return 5;
  cudaGraphDestroy(graph);";
    let counted = captures.replace("cudaGraphDestroy(graph);", counts);
    let text = two_kernels("", &format!("{counted}\n{eager}"));
    let (results, _) = measured(&text, 1, &[]);
    assert_eq!(sites_as(&results, None).unwrap(), [(FUSED | 2, 3)]);
    let text = two_kernels("", &format!("{captures}\n{replays}")).replace("!= 7", "!= 63");
    let text = text.replace(
        "cudaMemcpy(host, x",
        &format!("{eager}\n  cudaMemcpy(host, x"),
    );
    let off = [("SIRIUS_TUNE_GRAPHS", "off")];
    let (results, _) = measured(&text, 1, &off);
    assert_eq!(sites_as(&results, None).unwrap(), [(FUSED | 2, 3)]);
}

/// Planners go by the model, by bytes alone, or by what was measured. Here two light kernels and a heavy one may be one
/// kernel, which the model finds too slow.
#[test]
fn planners_go_by_measured_times_where_they_are_told_to() {
    const SPLIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/planned_split.cu");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // How many launches each group has, and the line about planning.
    let planned = |options: &[&str]| -> (Vec<usize>, Value, String) {
        let mut arguments = vec!["analyze", "--format=json", SPLIT];
        arguments.extend(options);
        let output = compiler(folder, &arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let fusions = report["fusions"].as_array().unwrap().iter();
        let members = fusions.map(|fusion| fusion["members"].as_array().unwrap().len());
        (members.collect(), report["planning"].clone(), said)
    };
    let (groups, planning, _) = planned(&[]);
    assert_eq!((groups, &planning["score"]), (vec![2], &"model".into()));
    let (groups, planning, _) = planned(&["--sirius-plan-score=bytes"]);
    assert_eq!((groups, &planning["score"]), (vec![3], &"bytes".into()));

    let results = packed_results(folder, SPLIT, "5", &["--sirius-planner=greedy"]);
    let retimed = |together: f64, alone: f64| {
        let mut results = results.clone();
        for run in results["runs"].as_array_mut().unwrap() {
            for site in run["sites"].as_array_mut().unwrap() {
                let launches = site["launches"].as_f64().unwrap();
                let time = if site["fused"] == true {
                    together
                } else {
                    alone
                };
                site["nanoseconds"] = (time * launches).into();
            }
        }
        std::fs::write(folder.join("told.json"), results.to_string()).unwrap();
    };
    let measured = [
        "--sirius-plan-score=measured",
        "--sirius-tune-results=told.json",
    ];
    retimed(6e3, 9e3);
    let (groups, planning, said) = planned(&measured);
    assert_eq!(groups, [3], "{planning} {said}");
    assert_eq!(planning["measured_launches"], 3);
    assert_eq!(planning["unfused_nanoseconds"], 27e3);
    assert_eq!(planning["nanoseconds"], 6e3);
    retimed(40e3, 9e3);
    let (groups, planning, said) = planned(&measured);
    assert_eq!(groups, [2], "{planning} {said}");
    assert_eq!(planning["greedy_nanoseconds"], 40e3);
    assert!(planning["nanoseconds"].as_f64().unwrap() < 27e3);
    // Without a file the model decides, with a line that says so.
    let (groups, _, said) = planned(&measured[..1]);
    assert_eq!(groups, [2]);
    assert_eq!(
        said.matches("no --sirius-tune-results=FILE").count(),
        1,
        "{said}"
    );
}
