//! Random sums in several launches: chains of which each launch has fewer blocks, and host loops that go on until one number is
//! left, with other launches and what the host does around them.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// The arguments that a program is run with: how many elements there are.
const ELEMENTS: [u32; 4] = [3000, 60, 128, 40_000];

/// A program of a seed: functions of one sum each.
pub fn program(seed: u64) -> String {
    let mut sums = Sums {
        random: StdRng::seed_from_u64(seed),
        text: String::new(),
    };
    let functions = sums.random.random_range(4..8);
    let mut calls = String::new();
    for function in 0..functions {
        let _ = writeln!(sums.text, "static void sum_{function}() {{");
        sums.one_sum();
        sums.text.push_str("}\n\n");
        let _ = writeln!(calls, "    sum_{function}();\n    show();");
        if sums.chance(0.3) {
            let _ = writeln!(
                calls,
                "    for (int i = 0; i < 2; ++i) {{ sum_{function}(); show(); }}"
            );
        }
    }
    let mut text =
        format!("// Generated sums, seed {seed}.\n// built with: --sirius-boundaries=last-block\n");
    for elements in ELEMENTS {
        let _ = writeln!(text, "// arguments: {elements}");
    }
    text.push_str(PRELUDE);
    text.push_str(&sums.text);
    text.push_str(
        "int main(int argc, char **argv) {\n    begin(argc > 1 ? atoi(argv[1]) : 3000);\n",
    );
    text.push_str(&calls);
    text.push_str("    printf(\"PASS\\n\");\n}\n");
    text
}

const PRELUDE: &str = r#"#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

const int T = 64;

__global__ void sums(int *to, const int *v, int n) {
    __shared__ int part[T];
    int i = blockIdx.x * T + threadIdx.x;
    part[threadIdx.x] = i < n ? v[i] : 0;
    for (int half = T / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) to[blockIdx.x] = part[0] * 3;
}

// The largest, by warps.
__global__ void largest(int *to, const int *v, int n) {
    __shared__ int part[T / 32];
    int most = -1000000;
    for (int i = blockIdx.x * T + threadIdx.x; i < n; i += gridDim.x * T) most = max(most, v[i]);
    for (int far = 16; far > 0; far /= 2) most = max(most, __shfl_down_sync(~0u, most, far));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
    __syncthreads();
    if (threadIdx.x == 0) to[blockIdx.x] = max(part[0], part[1]) + 1;
}

// No thread waits for another one.
__global__ void every_other(int *to, const int *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&to[i / T], v[i] - v[n - 1 - i] / 2);
}

__global__ void change(int *v, int n, int by) {
    int i = blockIdx.x * T + threadIdx.x;
    if (i < n) v[i] = v[i] * by % 1009 + 1;
}

static int *v, *a, *b, *c, n, blocks;
static cudaStream_t stream;

static int blocks_of(int count) { return (count + T - 1) / T; }

static void begin(int count) {
    n = count, blocks = blocks_of(n);
    std::vector<int> host(n + T);
    for (int i = 0; i < n + T; ++i) host[i] = i * 37 % 101 - 30;
    for (int **each : {&v, &a, &b, &c}) {
        cudaMalloc(each, (n + T) * sizeof(int));
        cudaMemcpy(*each, host.data(), (n + T) * sizeof(int), cudaMemcpyHostToDevice);
    }
    cudaStreamCreate(&stream);
}

static void look(const int *at) {
    int value;
    cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost);
    printf("%d\n", value);
}

static void show() {
    std::vector<int> host(n + T);
    for (const int *each : {v, a, b, c}) {
        cudaMemcpy(host.data(), each, (n + T) * sizeof(int), cudaMemcpyDeviceToHost);
        unsigned sum = 0;
        for (int value : host) sum = sum * 31 + (unsigned)value;
        printf("%u ", sum);
    }
    puts("");
}

"#;

struct Sums {
    random: StdRng,
    text: String,
}

impl Sums {
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        *choices.choose(&mut self.random).expect("there are choices")
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    /// What comes first, a sum of each block of it, and what becomes of these.
    fn one_sum(&mut self) {
        let by = self.pick(&["3", "5", "7"]);
        if self.chance(0.4) {
            self.line(&format!("change<<<blocks, T>>>(v, n, {by});"));
        }
        let first = self.pick(&["sums", "largest", "every_other"]);
        let configuration = self.pick(&["", "", "", ", 0, stream"]);
        self.line(&format!("{first}<<<blocks, T{configuration}>>>(a, v, n);"));
        self.between();
        match self.random.random_range(0..5) {
            0 => self.chain(configuration),
            1 => self.straight(configuration),
            _ => self.until_one(configuration),
        }
        if self.chance(0.6) {
            let from = self.pick(&["a", "b", "c"]);
            self.line(&format!("look({from});"));
        }
        if self.chance(0.3) {
            self.line("change<<<2, T>>>(b, T, 3);");
        }
    }

    /// What the host does between launches, mostly nothing.
    fn between(&mut self) {
        if self.chance(0.25) {
            let line = self.pick(&[
                "cudaDeviceSynchronize();",
                "if (cudaGetLastError() != cudaSuccess) printf(\"error\\n\");",
                "look(a + 1);",
                "cudaStreamSynchronize(stream);",
                "cudaMemsetAsync(c, 0, 64);",
                "change<<<blocks_of(blocks), T>>>(a, blocks, 5);",
                "change<<<blocks, T>>>(c, n, 5);",
            ]);
            self.line(line);
        }
    }

    fn kernel(&mut self) -> &'static str {
        self.pick(&["sums", "sums", "largest", "every_other"])
    }

    /// One launch behind, of one block or of as many as the run says.
    fn straight(&mut self, configuration: &str) {
        let kernel = self.kernel();
        let blocks = self.pick(&["1", "1", "blocks_of(blocks)", "2"]);
        let threads = self.pick(&["T", "T", "T", "32"]);
        let threads = if kernel == "every_other" {
            threads
        } else {
            "T"
        };
        self.line(&format!(
            "{kernel}<<<{blocks}, {threads}{configuration}>>>(b, a, blocks);"
        ));
    }

    fn chain(&mut self, configuration: &str) {
        self.line("int more = blocks_of(blocks);");
        let [one, two] = [(); 2].map(|()| self.kernel());
        self.line(&format!("{one}<<<more, T{configuration}>>>(b, a, blocks);"));
        self.between();
        let blocks = self.pick(&["1", "1", "blocks_of(more)"]);
        self.line(&format!(
            "{two}<<<{blocks}, T{configuration}>>>(c, b, more);"
        ));
    }

    fn until_one(&mut self, configuration: &str) {
        let least = self.pick(&["1", "1", "1", "2", "blocks / 3 + 1"]);
        let kernel = self.kernel();
        self.line("int length = blocks, *from = a, *to = b;");
        let head = self.pick(&["while", "while", "for", "do", "count"]);
        match head {
            "for" => self.line(&format!(
                "for (int step = 0; step < 9 && length > {least}; ++step) {{"
            )),
            "do" => self.line("do {"),
            "count" => self.line(&format!(
                "for (; length > {least}; length = blocks_of(length)) {{"
            )),
            _ => self.line(&format!("while (length > {least}) {{")),
        }
        let grid = self.pick(&[
            "blocks_of(length)",
            "blocks_of(length)",
            "(int)ceil(length / (double)T)",
        ]);
        self.line(&format!("    int grid = {grid};"));
        self.line(&format!(
            "    {kernel}<<<grid, T{configuration}>>>(to, from, length);"
        ));
        if self.chance(0.3) {
            self.between();
        }
        self.line("    std::swap(from, to);");
        if head != "count" {
            self.line("    length = grid;");
        }
        match head {
            "do" => self.line(&format!("}} while (length > {least});")),
            _ => self.line("}"),
        }
        if self.chance(0.7) {
            self.line("look(from);");
        }
    }
}
