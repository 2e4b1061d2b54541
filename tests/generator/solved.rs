//! Programs of host loops that go on until a number is small which they copy from the device: sweeps, sums and scalings by numbers
//! that the host computes from what it copied, in any order, with what keeps such loops from one launch in some of them.
//!
//! Invariant: no kernel races with itself, and numbers stay finite: each sweep is a mean, and what scales does not grow.

use super::pick;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// The text of the program of a seed.
pub fn solvers(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed ^ 0x50_1e55);
    let cases = 5;
    let functions: String = (0..cases)
        .map(|case| Loop::new(&mut random, case).text())
        .collect();
    let calls: String = (0..cases)
        .map(|case| format!("    solve_{case}(n, most, bound);\n"))
        .collect();
    let most = pick(&mut random, &[1, 2, 7, 12]);
    // Of more than some thousand not all blocks are on the device at once.
    let size = pick(&mut random, &[300, 1300, 9000]);
    format!(
        "// A generated program, seed {seed}.\n// built with: --sirius-boundaries=grid-barrier\n\
         // arguments: 900 {most} 1\n// arguments: 1 5 0.01\n// arguments: {size} 4 40\n\
         {KERNELS}\n{functions}\n\
         int main(int argc, char **argv) {{\n\
         \x20   int n = argc > 1 ? atoi(argv[1]) : 900, most = argc > 2 ? atoi(argv[2]) : 9;\n\
         \x20   double bound = argc > 3 ? atof(argv[3]) : 1;\n{calls}\
         \x20   printf(\"%s\\nPASS\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n}}\n"
    )
}

/// What every program begins with.
const KERNELS: &str = r#"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

template <typename T> __global__ void near(T *out, const T *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (i > 0 ? in[i - 1] : (T)0) / 4 + in[i] / 2 + (i + 1 < n ? in[i + 1] : (T)0) / 4;
}
template <typename T> __global__ void far(T *out, const T *in, int n, T by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] / 2 + in[n - 1 - i] * by / 2;
}
template <typename T> __global__ void scale(T *v, int n, T by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] *= by;
}
template <typename T> __global__ void shrink(T *v, int n, const T *by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] /= 1 + fabs(*by);
}
template <typename T> __global__ void plane(T *out, const T *in, int n) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (in[i] + in[i / 2]) / 2;
}
template <typename T> __global__ void sums(const T *v, T *sum, int n) {
    __shared__ T part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] * v[i] : (T)0;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}
template <typename T> __global__ void total(const T *sum, T *all, int blocks) {
    if (threadIdx.x != 0) return;
    T found = 0;
    for (int i = 0; i < blocks; ++i) found += sum[i];
    *all = found;
}
template <typename T> __global__ void above(const T *v, unsigned *count, int n, T bound) {
    if (threadIdx.x != 0) return;
    unsigned found = 0;
    for (int i = 0; i < n && i < 300; ++i) found += v[i] > bound;
    count[0] = found;
    count[1] += 1;
}
template <typename T> static void show(const char *name, const T *v, int n) {
    std::vector<T> host(n);
    cudaMemcpy(host.data(), v, n * sizeof(T), cudaMemcpyDeviceToHost);
    unsigned long long sum = 14695981039346656037ull;
    for (size_t i = 0; i < n * sizeof(T); ++i) sum = (sum ^ ((unsigned char *)host.data())[i]) * 1099511628211ull;
    printf("%s %llx\n", name, sum);
}
"#;

/// A host loop.
struct Loop<'a> {
    random: &'a mut StdRng,
    case: usize,
    element: &'static str,
    threads: &'static str,
    stream: &'static str,
}

impl<'a> Loop<'a> {
    fn new(random: &'a mut StdRng, case: usize) -> Self {
        let element = pick(random, &["float", "double", "double"]);
        let threads = pick(random, &["64", "128", "256"]);
        let stream = pick(random, &["0", "0", "0", "stream"]);
        Self {
            random,
            case,
            element,
            threads,
            stream,
        }
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    /// The function.
    fn text(mut self) -> String {
        let (case, element, threads) = (self.case, self.element, self.threads);
        let mut text = format!(
            "static void solve_{case}(int n, int most, double bound) {{\n\
             \x20   using T = {element};\n\
             \x20   const int grid = (n + {threads} - 1) / {threads};\n\
             \x20   T *a, *b, *c, *part, *result;\n    unsigned *counted;\n\
             \x20   cudaMalloc(&a, n * sizeof(T));\n    cudaMalloc(&b, n * sizeof(T));\n\
             \x20   cudaMalloc(&c, n * sizeof(T));\n    cudaMalloc(&part, grid * sizeof(T));\n\
             \x20   cudaMalloc(&result, 4 * sizeof(T));\n    cudaMalloc(&counted, 2 * sizeof(unsigned));\n\
             \x20   std::vector<T> start(n);\n\
             \x20   for (int i = 0; i < n; ++i) start[i] = (T)((i * 37 + {case}) % 97) / 16 - 3;\n\
             \x20   for (T *each : {{a, b, c}}) cudaMemcpy(each, start.data(), n * sizeof(T), cudaMemcpyHostToDevice);\n\
             \x20   cudaMemset(part, 0, grid * sizeof(T));\n    cudaMemset(result, 0, 4 * sizeof(T));\n\
             \x20   cudaMemset(counted, 0, 2 * sizeof(unsigned));\n\
             \x20   T r = 1000, before = 0, q = 2;\n    unsigned found[2] = {{500, 0}};\n    int rounds = 0;\n"
        );
        if self.stream == "stream" {
            text.push_str("    cudaStream_t stream;\n    cudaStreamCreate(&stream);\n    cudaDeviceSynchronize();\n");
        }
        let around = self.chance(0.15);
        if around {
            text.push_str(
                "    for (int outer = 0; outer < 2; ++outer) {\n    rounds = 0, r = 1000;\n",
            );
        }
        let condition = self.condition();
        let begins = pick(self.random, &["while", "while", "do", "for"]);
        let _ = match begins {
            "while" => writeln!(text, "    while (rounds < most && {condition}) {{"),
            "do" => writeln!(text, "    do {{"),
            _ => writeln!(text, "    for (; rounds < most; ) {{"),
        };
        if self.chance(0.25) {
            let number = pick(self.random, &["0", "0", "0x07070707", "rounds", "258"]);
            let to = pick(
                self.random,
                &["counted", "counted + 1", "(unsigned *)(result + 2)"],
            );
            let _ = writeln!(
                text,
                "        unsigned fresh = {number};\n\
                 \x20       cudaMemcpy({to}, &fresh, sizeof fresh, cudaMemcpyHostToDevice);"
            );
        }
        let count = self.random.random_range(1..4);
        for _ in 0..count {
            let line = self.sweep();
            text.push_str(&line);
        }
        if self.chance(0.4) {
            text.push_str(&self.measure("q", 1));
            if self.chance(0.25) {
                text.push_str("        if (q < (T)bound / 64) break;\n");
            }
            let by = pick(
                self.random,
                &["1 / (1 + q)", "q / (q + 1)", "-q / (1 + q)", "(T)0.5"],
            );
            let _ = writeln!(
                text,
                "        scale<T><<<grid, {threads}, 0, {}>>>(b, n, {by});",
                self.stream
            );
        }
        if self.chance(0.3) {
            let line = self.sweep();
            text.push_str(&line);
        }
        text.push_str("        before = r;\n");
        text.push_str(&self.measure("r", 0));
        if self.chance(0.3) {
            let line = self.sweep();
            text.push_str(&line);
        }
        if self.chance(0.25) {
            let copy = self.copy("found", "counted", "sizeof found");
            let stream = self.stream;
            let _ = writeln!(
                text,
                "        above<T><<<1, 32, 0, {stream}>>>(a, counted, n, (T)0.5);\n{copy}"
            );
        }
        if self.chance(0.3) {
            text.push_str("        std::swap(a, b);\n");
        }
        if self.chance(0.3) {
            text.push_str("        printf(\"%d %.17g %u\\n\", rounds, (double)r, found[0]);\n");
        }
        if self.chance(0.2) {
            let line = pick(
                self.random,
                &[
                    "        cudaDeviceSynchronize();\n",
                    "        if (cudaGetLastError() != cudaSuccess) break;\n",
                    "        cudaMemcpy(start.data(), b, n * sizeof(T), cudaMemcpyDeviceToHost);\n",
                    "        cudaMemcpy(result + 3, &before, sizeof(T), cudaMemcpyHostToDevice);\n",
                    "        if (std::log(1 + fabs(r)) < 1e-9) break;\n",
                ],
            );
            text.push_str(line);
        }
        text.push_str("        ++rounds;\n");
        let _ = match begins {
            "while" => writeln!(text, "    }}"),
            "do" => writeln!(text, "    }} while (rounds < most && {condition});"),
            _ => writeln!(text, "        if (!({condition})) break;\n    }}"),
        };
        if around {
            text.push_str("    }\n");
        }
        let _ = writeln!(
            text,
            "    printf(\"case {case}: %d %.17g %.17g %.17g %u\\n\", rounds, (double)r, (double)before, (double)q, found[0]);"
        );
        for name in ["a", "b", "c"] {
            let _ = writeln!(
                text,
                "    show(\"{name}\", {name}, n);\n    cudaFree({name});"
            );
        }
        text.push_str("    show(\"counted\", counted, 2);\n    show(\"result\", result, 4);\n");
        text.push_str("    cudaFree(part);\n    cudaFree(result);\n    cudaFree(counted);\n");
        if self.stream == "stream" {
            text.push_str("    cudaStreamDestroy(stream);\n");
        }
        text.push_str("}\n\n");
        text
    }

    /// Whether the host goes on.
    fn condition(&mut self) -> &'static str {
        pick(
            self.random,
            &[
                "r > bound",
                "r > (T)bound",
                "!(r <= (T)bound)",
                "std::sqrt(r / n) > (T)0.01 * (T)bound",
                "std::fabs(r - before) > (T)bound",
                "found[0] > 20 && r > 0",
                "r * q + before > (T)bound && (rounds & 15) != 11",
                "(double)r > bound * 0.5 || rounds == 0",
            ],
        )
    }

    /// A launch, a set or a copy.
    fn sweep(&mut self) -> String {
        let (threads, stream) = (self.threads, self.stream);
        let from = pick(self.random, &["a", "b", "c"]);
        let to = pick(self.random, &["a", "b", "c"]);
        let to = if to == from {
            if from == "b" { "a" } else { "b" }
        } else {
            to
        };
        let other = pick(self.random, &[threads, threads, threads, "64", "256"]);
        let blocks = format!("(n + {other} - 1) / {other}");
        let by = pick(
            self.random,
            &["(T)0.5", "1 / (T)(rounds + 1)", "1 / (2 + r * r)"],
        );
        let line = match self.random.random_range(0..9) {
            0..=2 => format!("near<T><<<{blocks}, {other}, 0, {stream}>>>({to}, {from}, n)"),
            3 => format!("far<T><<<{blocks}, {other}, 0, {stream}>>>({to}, {from}, n, {by})"),
            4 => format!("scale<T><<<{blocks}, {other}, 0, {stream}>>>({to}, n, {by})"),
            5 => format!("shrink<T><<<{blocks}, {other}, 0, {stream}>>>({to}, n, result + 2)"),
            6 => {
                format!("plane<T><<<(n + 127) / 128, dim3(32, 4), 0, {stream}>>>({to}, {from}, n)")
            }
            7 => format!(
                "cudaMemcpyAsync({to}, {from}, n * sizeof(T), cudaMemcpyDeviceToDevice, {stream})"
            ),
            _ => {
                let set = pick(
                    self.random,
                    &[
                        "result + 2, 0, sizeof(T)",
                        "result + 2, 1, sizeof(T)",
                        "result + 2, rounds & 1, sizeof(T)",
                        "counted, 255, sizeof(unsigned)",
                        "counted, 0, 2 * sizeof(unsigned)",
                        "part, 3, sizeof(T)",
                    ],
                );
                format!("cudaMemsetAsync({set}, {stream})")
            }
        };
        format!("        {line};\n")
    }

    /// The sum of squares, in a number of the host.
    fn measure(&mut self, name: &str, place: usize) -> String {
        let (threads, stream) = (self.threads, self.stream);
        let of = pick(self.random, &["a", "b"]);
        let alone = pick(self.random, &["1", "32", threads, threads]);
        let place = format!("result + {place}");
        format!(
            "        sums<T><<<grid, {threads}, 0, {stream}>>>({of}, part, n);\n\
             \x20       total<T><<<1, {alone}, 0, {stream}>>>(part, {place}, grid);\n{}",
            self.copy(&format!("&{name}"), &place, "sizeof(T)")
        )
    }

    fn copy(&mut self, to: &str, from: &str, bytes: &str) -> String {
        let stream = self.stream;
        match stream != "0" || self.chance(0.3) {
            true => format!(
                "        cudaMemcpyAsync({to}, {from}, {bytes}, cudaMemcpyDeviceToHost, {stream});\n\
                 \x20       cudaStreamSynchronize({stream});\n"
            ),
            false => {
                format!("        cudaMemcpy({to}, {from}, {bytes}, cudaMemcpyDeviceToHost);\n")
            }
        }
    }
}
