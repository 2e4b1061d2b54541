//! How long the compiler takes, stage by stage, for programs of many launches.
//!
//! Under `cargo test` only that the measurement works is tested, on a small program; that the work
//! grows in step with the launches is tested by counting it (`tests/dependence/scale.rs`), not by the
//! clock. `scripts/bench analysis` prints the table.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let Ok(sizes) = std::env::var("SIRIUS_BENCH_SIZES") else {
        let arguments = Arguments::from_args();
        let trials = vec![Trial::test("small_program", measures_a_small_program)];
        return libtest_mimic::run(&arguments, trials).exit_code();
    };
    let only_analysis = std::env::var_os("SIRIUS_BENCH_ANALYSIS_ONLY").is_some();
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    println!("seconds by stage, {build} build, {KERNELS} kernels, straight-line host code");
    let mut smallest = None;
    for size in sizes.split_whitespace() {
        let measured = size
            .parse()
            .map_err(|_| format!("{size} is no number of launches"))
            .and_then(|launches| measure(launches, only_analysis));
        match measured {
            Ok(measured) => {
                let first = smallest.get_or_insert_with(|| measured.clone());
                print!("{}", measured.table(first));
            }
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// What one program took.
#[derive(Clone)]
struct Measured {
    launches: usize,
    nodes: usize,
    edges: usize,
    groups: usize,
    /// By stage, in order.
    seconds: Vec<(String, f64)>,
}

impl Measured {
    /// Two lines: seconds, and how many times as many per launch as for the `first` program.
    fn table(&self, first: &Self) -> String {
        let (nodes, edges, groups) = (self.nodes, self.edges, self.groups);
        let mut text = format!(
            "{} launches, {nodes} nodes, {edges} edges, {groups} groups\n ",
            self.launches
        );
        let total: f64 = self.seconds.iter().map(|(_, seconds)| seconds).sum();
        for (stage, seconds) in &self.seconds {
            let _ = write!(text, " {stage} {seconds:.2}");
        }
        let _ = write!(text, " total {total:.2}\n  per launch, against the first:");
        for (stage, seconds) in &self.seconds {
            let mut stages = first.seconds.iter();
            if let Some((_, before)) = stages.find(|(name, _)| name == stage)
                && *before > 0.0
            {
                let launches = self.launches as f64 / first.launches as f64;
                let _ = write!(text, " {stage} {:.2}", seconds / before / launches);
            }
        }
        text.push('\n');
        text
    }
}

/// Compiles a program of so many launches for the CPU device, or only analyses it.
fn measure(launches: usize, only_analysis: bool) -> Result<Measured, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let at = |name: &str| folder.path().join(name);
    let (source, report) = (at("layers.cu"), at("report.json"));
    std::fs::write(&source, program(launches)).map_err(|error| error.to_string())?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
    if only_analysis {
        command
            .args(["analyze", "--format=json", "-o"])
            .arg(&report);
    } else {
        command.arg(format!("--sirius-report={}", report.display()));
        command.arg("-o").arg(at("layers"));
    }
    command
        .arg(&source)
        .args(["-O2", "--sirius-device=cpu"])
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS");
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    read_report(launches, &report)
}

fn read_report(launches: usize, report: &Path) -> Result<Measured, String> {
    let text = std::fs::read_to_string(report).map_err(|error| error.to_string())?;
    let report: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let count = |list: &str| report[list].as_array().map_or(0, Vec::len);
    let stages = report["stages"].as_array().ok_or("no stages")?;
    let seconds = stages.iter().filter_map(|stage| {
        let name = stage["name"].as_str()?.to_owned();
        Some((name, stage["seconds"].as_f64()?))
    });
    Ok(Measured {
        launches,
        nodes: count("nodes"),
        edges: count("edges"),
        groups: count("fusions"),
        seconds: seconds.collect(),
    })
}

const KERNELS: usize = 30;

/// A deep stack of layers: pointwise kernels, stencils, loops, shared memory and updates in place, in
/// a scrambled order over two buffers in turn, four in turn, and sixteen parts of one allocation.
fn program(launches: usize) -> String {
    let mut text = String::from("#include <cstdio>\n#include <cuda_runtime.h>\n");
    for kernel in 0..KERNELS {
        let body = match kernel % 6 {
            0 => format!("if (i < n) o[i] = a[i] * w[{kernel}] + {kernel}.0f;"),
            1 => format!("if (i < n) o[i] = a[i] + a[i] * w[i % {}];", 16 + kernel),
            2 => format!("if (i < n - 1) o[i] = a[i] + a[i + 1] * w[{kernel}];"),
            3 => format!(
                "if (i < n) {{ float s = 0; for (int j = 0; j < {}; j++) s += w[j] * a[i]; o[i] = s; }}",
                4 + kernel
            ),
            4 => format!(
                "__shared__ float t[256]; if (i < n) t[threadIdx.x] = a[i]; __syncthreads(); \
                 if (i < n) o[i] = t[255 - threadIdx.x] * w[{kernel}];"
            ),
            _ => format!("if (i < n) o[i] = o[i] + a[i] * {kernel}.0f;"),
        };
        let _ = writeln!(
            text,
            "__global__ void layer{kernel}(const float *__restrict__ a, const float *w, float *o, int n) {{\n  \
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n  {body}\n}}"
        );
    }
    text.push_str(
        "int main() {\n  const int n = 1 << 16;\n  float *b0, *b1, *b2, *b3, *w, *part;\n",
    );
    for buffer in ["b0", "b1", "b2", "b3", "w"] {
        let _ = writeln!(
            text,
            "  cudaMalloc(&{buffer}, n * 4); cudaMemset({buffer}, 0, n * 4);"
        );
    }
    text.push_str("  cudaMalloc(&part, 16 * n * 4); cudaMemset(part, 0, 16 * n * 4);\n");
    let mut state = 7u32;
    for launch in 0..launches {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let kernel = (state >> 16) as usize % KERNELS;
        let buffer = |index: usize| match launch / 10 % 3 {
            0 => format!("b{}", index % 2),
            1 => format!("b{}", index % 4),
            _ => format!("part + {} * n", index % 16),
        };
        let (from, to) = (buffer(launch), buffer(launch + 1));
        let _ = writeln!(
            text,
            "  layer{kernel}<<<n / 256, 256>>>({from}, w, {to}, n);"
        );
    }
    text.push_str(
        "  float h;\n  cudaMemcpy(&h, b0, 4, cudaMemcpyDeviceToHost);\n  printf(\"%f\\n\", h);\n}\n",
    );
    text
}

fn measures_a_small_program() -> Result<(), Failed> {
    let measured = measure(24, true)?;
    let stages: Vec<_> = measured
        .seconds
        .iter()
        .map(|(stage, _)| stage.as_str())
        .collect();
    let expected = [
        "program",
        "launch",
        "kernel",
        "dependence",
        "schedule",
        "verify",
    ];
    if stages != expected {
        return Err(format!("stages {stages:?}").into());
    }
    if measured.nodes < 24 || measured.edges == 0 || measured.groups == 0 {
        return Err("nothing was found in the program".into());
    }
    let table = measured.table(&measured);
    if !table.contains("24 launches") || !table.contains("dependence 1.00") {
        return Err(table.into());
    }
    Ok(())
}
