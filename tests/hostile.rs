//! Kernels that ask much of isl: analysis takes seconds and says what it left open.

use std::fmt::Write as _;
use std::process::Command;

/// Far above what the analysis takes on a busy machine, and far below what it takes without bounds.
const MOST_SECONDS: f64 = 240.0;

/// What the analysis of a program says, and the seconds of the stages after the front end.
fn report(name: &str, source: &str) -> (serde_json::Value, f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name).with_extension("cu");
    std::fs::write(&path, source).expect("the source is written");
    let output = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(["analyze", "--format=json", "--sirius-device=cpu", "-O2"])
        .arg(&path)
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    let seconds = list(&report, "stages")
        .iter()
        .filter(|stage| stage["name"] != "program")
        .filter_map(|stage| stage["seconds"].as_f64())
        .sum();
    (report, seconds)
}

/// A list of a report.
fn list(report: &serde_json::Value, name: &str) -> Vec<serde_json::Value> {
    report[name].as_array().cloned().unwrap_or_default()
}

/// The seconds of the stages after the front end, and why each edge is as wide as it is.
fn analyse(name: &str, source: &str) -> (f64, Vec<String>) {
    let (report, seconds) = report(name, source);
    let reasons = list(&report, "edges")
        .iter()
        .map(|edge| edge["because"].as_str().unwrap_or_default().to_owned())
        .collect();
    (seconds, reasons)
}

/// A program that launches two kernels of one body in turn.
fn program(parameters: &str, body: &str, launch: &str, arguments: &str) -> String {
    let mut text = String::from("#include <cuda_runtime.h>\n");
    for kernel in ["first", "second"] {
        let _ = writeln!(
            text,
            "__global__ void {kernel}({parameters}, int n, int m, int k) {{\n\
             int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;\n\
             {body}}}"
        );
    }
    text.push_str(
        "int main(int argc, char **) {\n  int n = argc * 1000, m = argc * 37, k = argc * 5;\n",
    );
    for argument in arguments.split(", ") {
        let _ = writeln!(
            text,
            "  float *{argument}; cudaMalloc(&{argument}, n * m * sizeof(float));"
        );
    }
    for kernel in ["first", "second", "first"] {
        let _ = writeln!(text, "  {kernel}<<<{launch}>>>({arguments}, n, m, k);");
    }
    text + "  return cudaDeviceSynchronize();\n}\n"
}

#[test]
fn sixteen_guarded_updates_by_quotients() {
    let mut body = String::new();
    for j in 0..16 {
        let _ = writeln!(
            body,
            "if ((i / {}) % {} < {} && (i % {}) / {} != {}) \
             x[(i / {}) * {} + (i % {})] += x[i / {} + {j}];",
            3 + j,
            5 + j,
            2 + j % 3,
            7 + j,
            2 + j,
            j % 4,
            2 + j,
            3 + j,
            11 + j,
            5 + j
        );
    }
    let source = program("float *x", &body, "n / 256, 256", "x");
    let (seconds, reasons) = analyse("quotients", &source);
    assert!(seconds < MOST_SECONDS, "{seconds} s");
    // One of the many pairs of accesses is proven to cross blocks, which is reason enough.
    let told = |reason: &String| reason.contains("in another block");
    assert!(reasons.iter().any(told), "{reasons:?}");
}

#[test]
fn more_pairs_of_accesses_than_are_compared() {
    let mut body = String::new();
    for j in 0..40 {
        let _ = writeln!(body, "if (i % {} == 1) x[i * 64 + {j}] += 1;", 5 + j);
    }
    let source = program("float *x", &body, "n / 256, 256", "x");
    let (seconds, reasons) = analyse("pairs", &source);
    assert!(seconds < MOST_SECONDS, "{seconds} s");
    let told = |reason: &String| {
        reason.contains("in too many ways to compare") || reason.contains("given up as too long")
    };
    assert!(reasons.iter().any(told), "{reasons:?}");
}

#[test]
fn quotients_by_run_time_values() {
    let mut body = String::from("if (i >= n) return;\n");
    for j in 0..8 {
        let _ = writeln!(
            body,
            "if ((i / m) % {} == {j} || (i % k) > m - {j}) \
             x[(i / m) * k + (i % m) * {} + i / k] = x[(i % k) * m + i / k] + 1;",
            3 + j,
            j + 1
        );
    }
    let source = program("float *x", &body, "n / 256, 256", "x");
    let (seconds, reasons) = analyse("quotients_by_run_time_values", &source);
    assert!(seconds < MOST_SECONDS && !reasons.is_empty(), "{seconds} s");
}

#[test]
fn wide_guards() {
    let some: Vec<_> = (0..10)
        .map(|j| format!("(i == {} && j != {j})", 3 * j))
        .collect();
    let all: Vec<_> = (0..10)
        .map(|j| format!("(i != {} || j < m + {j})", 7 * j))
        .collect();
    let (some, all) = (some.join(" || "), all.join(" && "));
    let body = format!(
        "if (({some}) && ({all})) x[i * m + j] = 1;\nif (({all}) || i + j == n) x[j * m + i] = 2;\n\
         if (i != 3 && i != 5 && j != 4 && i != j && i != j + 1) x[i * n + j * m] = x[i + j];\n"
    );
    let source = program("float *x", &body, "dim3(n / 16, n / 16), dim3(16, 16)", "x");
    let (seconds, reasons) = analyse("wide_guards", &source);
    assert!(seconds < MOST_SECONDS && !reasons.is_empty(), "{seconds} s");
}

#[test]
fn deep_nests() {
    let mut body = String::new();
    let mut from = String::from("i % 3");
    for depth in 0..8 {
        let until = ["n", "m", "k", "7"][depth % 4];
        let step = 1 + depth % 3;
        let _ = writeln!(
            body,
            "for (int l{depth} = {from}; l{depth} < {until}; l{depth} += {step})"
        );
        from = format!("l{depth}");
    }
    body.push_str(
        "x[l0 * m * k + l1 * k + l2 * n + l3 + l4 * m + l5 * 3 + l6 / 2 + l7 % 5 + i] += \
         y[l0 + l1 * m + l2 * k + l3 * 7 + l4 + l5 + l6 + l7 * n];\n",
    );
    let source = program("float *x, float *y", &body, "n / 256, 256", "x, y");
    let (seconds, reasons) = analyse("deep_nests", &source);
    assert!(seconds < MOST_SECONDS && !reasons.is_empty(), "{seconds} s");
}

#[test]
fn many_arrays() {
    let count = 24;
    let names: Vec<_> = (0..count).map(|index| format!("p{index}")).collect();
    let parameters: Vec<_> = names.iter().map(|name| format!("float *{name}")).collect();
    let mut body = String::from("if (i < n && j < m) {\n");
    for index in 0..count {
        let (one, other) = ((index * 7 + 1) % count, (index * 5 + 2) % count);
        let _ = writeln!(
            body,
            "p{index}[i * m + j + {index}] = p{one}[i * m + j] + p{other}[j * n + i] + \
             p{index}[(i / 2) * m + j % 3];"
        );
    }
    body.push_str("}\n");
    let launch = "dim3(n / 256, m), 256";
    let source = program(&parameters.join(", "), &body, launch, &names.join(", "));
    let (seconds, reasons) = analyse("many_arrays", &source);
    assert!(
        seconds < MOST_SECONDS && reasons.len() > count,
        "{seconds} s"
    );
}

/// A warp sorts pairs of a number and a flag: each flag is one of two earlier ones, by a comparison of
/// earlier flags.
#[test]
fn a_sorting_network_of_a_warp() {
    let mut body = String::from("int lane = threadIdx.x % 32, key = n * i; bool flag = k < i;\n");
    for outer in 0..5 {
        for inner in (0..=outer).rev() {
            let _ = writeln!(
                body,
                "{{ int k2 = __shfl_xor_sync(~0u, key, {0}); bool f2 = __shfl_xor_sync(~0u, flag, {0});\n\
                 bool less = key < k2 || (key == k2 && flag < f2);\n\
                 if (less == (((lane >> {1}) ^ (lane >> {inner})) & 1)) key = k2, flag = f2; }}",
                1 << inner,
                outer + 1,
            );
        }
    }
    body.push_str("if (__any_sync(~0u, flag) && i < n) x[i] = key;\n");
    let (seconds, _) = analyse("sorting_network", &program("float *x", &body, "4, 32", "x"));
    assert!(seconds < MOST_SECONDS, "{seconds} s");
}

/// A stencil over a box, each way with its own bounds: the pairs of threads that show why blocks meet
/// are points of wide problems, which took half a minute to find, and some were not found at all.
#[test]
fn witnesses_in_a_box() {
    let source = r"#include <cuda_runtime.h>
#define N 400
typedef double Box[N][N];
__global__ void spread(Box *to, Box *from) {
  unsigned z = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
           x = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < N - 1 && y < N - 1 && z < N - 1 && x > 0 && y > 0 && z > 0)
    to[x][y][z] = from[x + 1][y][z] + from[x - 1][y][z] + from[x][y + 1][z] + from[x][y - 1][z] +
                  from[x][y][z + 1] + from[x][y][z - 1];
  else
    to[x][y][z] = 0;
}
__global__ void swap(Box *a, Box *b) {
  unsigned z = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
           x = blockIdx.z * blockDim.z + threadIdx.z;
  if (z >= N || y >= N || x >= N) return;
  double t = a[x][y][z];
  a[x][y][z] = b[x][y][z];
  b[x][y][z] = t;
}
int main(int argc, char **) {
  Box *a, *b;
  cudaMalloc(&a, sizeof(Box) * N);
  cudaMalloc(&b, sizeof(Box) * N);
  dim3 grid((N + 7) / 8, (N + 7) / 8, (N + 3) / 4), block(8, 8, 4);
  for (int t = 0; t < argc; t++) {
    spread<<<grid, block>>>(a, b);
    spread<<<grid, block>>>(b, a);
    swap<<<grid, block>>>(a, b);
  }
  return cudaDeviceSynchronize();
}
";
    let (report, seconds) = report("box", source);
    assert!(seconds < MOST_SECONDS / 8.0, "{seconds} s");
    let edges = list(&report, "edges");
    let global = edges.iter().filter(|edge| edge["scope"] == "global");
    let texts: Vec<_> = global
        .map(|edge| edge["witness"]["text"].as_str().unwrap_or_default())
        .collect();
    let placed = |text: &&str| text.contains("by block (0, 0, 1), thread (1, 1, 0)");
    assert!(texts.len() > 8 && texts.iter().all(placed), "{texts:?}");
}

/// Functions that call each other eight times at each of eight depths would be sixteen million copies
/// in their kernel.
#[test]
fn calls_within_calls() {
    let source = r"#include <cuda_runtime.h>
template <int DEPTH> __device__ unsigned mix(unsigned a, unsigned b) {
  if constexpr (DEPTH == 0) {
    return a * 2654435761u + (b >> 7);
  } else {
    unsigned sum = 0;
    for (unsigned part : {mix<DEPTH - 1>(a, b), mix<DEPTH - 1>(b, a + 1), mix<DEPTH - 1>(a ^ b, 3), mix<DEPTH - 1>(b, b),
                          mix<DEPTH - 1>(a, 9), mix<DEPTH - 1>(7, b), mix<DEPTH - 1>(a + b, a), mix<DEPTH - 1>(1, a)})
      sum = (sum << 1 | sum >> 31) ^ part;
    return sum;
  }
}
__global__ void first(unsigned *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = mix<8>(x[i], i);
}
__global__ void second(unsigned *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += i;
}
int main() {
  unsigned *x;
  cudaMalloc(&x, 64 * sizeof(unsigned));
  cudaMemset(x, 3, 64 * sizeof(unsigned));
  first<<<2, 32>>>(x, 64);
  second<<<2, 32>>>(x, 64);
  return cudaDeviceSynchronize();
}
";
    let (seconds, reasons) = analyse("calls_within_calls", source);
    assert!(seconds < MOST_SECONDS, "{seconds} s");
    // The memory of a kernel that calls what is not looked into is any.
    assert!(!reasons.is_empty());
}
