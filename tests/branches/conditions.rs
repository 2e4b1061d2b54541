//! Random host code: launches under conditions, switches, loops and early ends, with what the host does between.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// The arguments that a program is run with; their bits are what it tests.
const FLAGS: [u32; 6] = [0, 3, 5, 6, 9, 15];

/// Most launches of a function.
const MOST_LAUNCHES: usize = 10;

/// A program of a seed.
pub fn program(seed: u64) -> String {
    let mut host = Host {
        random: StdRng::seed_from_u64(seed),
        launches: 0,
        text: String::new(),
    };
    let functions = host.random.random_range(2..4);
    for function in 0..functions {
        host.launches = 0;
        let attribute = host.pick(&["", "__attribute__((noinline)) "]);
        let _ = writeln!(host.text, "static {attribute}void run_{function}() {{");
        host.block(0, None);
        host.text.push_str("}\n\n");
    }
    let mut text = format!("// Generated conditions, seed {seed}.\n");
    for flags in FLAGS {
        let _ = writeln!(text, "// arguments: {flags}");
    }
    text.push_str(PRELUDE);
    text.push_str(&host.text);
    text.push_str("int main(int argc, char **argv) {\n    begin(argc > 1 ? atoi(argv[1]) : 7);\n");
    for function in 0..functions {
        let _ = writeln!(text, "    run_{function}();");
    }
    text.push_str("    end();\n    printf(\"PASS\\n\");\n}\n");
    text
}

const PRELUDE: &str = r#"#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

const int N = 1500, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

#define KERNEL(name, statement)                                                                  \
    __global__ void name(float *y, const float *x, int n) {                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
        if (i < n) statement;                                                                    \
    }
KERNEL(scale, y[i] = 3.0f * x[i] + 1.0f)
KERNEL(add, y[i] += x[i])
KERNEL(mix, y[i] = -x[i] + 0.5f * y[i])
KERNEL(some, if (i % 3 == 0) y[i] = x[i] * 2.0f)
KERNEL(turn, y[i] = x[N - 1 - i])
KERNEL(halve, y[i] = y[i] * 0.5f + 2.0f)
__global__ void pairs(float *y, const float *x, int n) {
    __shared__ float own[THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    own[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = own[t] + own[t ^ 1];
}

static float *b[5], seen;
static unsigned flags;
static cudaEvent_t event;

static void begin(int value) {
    static float host[N];
    flags = value;
    cudaEventCreate(&event);
    for (int k = 0; k < 5; k++) {
        cudaMalloc(&b[k], sizeof(host));
        for (int i = 0; i < N; i++) host[i] = (float)(i * (k + 3) % 17);
        cudaMemcpy(b[k], host, sizeof(host), cudaMemcpyHostToDevice);
    }
}

static void end() {
    static float host[N];
    for (int k = 0; k < 5; k++) {
        cudaMemcpy(host, b[k], sizeof(host), cudaMemcpyDeviceToHost);
        unsigned long long sum = 14695981039346656037ull;
        for (unsigned i = 0; i < sizeof(host); ++i) sum = (sum ^ ((unsigned char *)host)[i]) * 1099511628211ull;
        printf("%d %llx\n", k, sum);
    }
}

"#;

struct Host {
    random: StdRng,
    launches: usize,
    text: String,
}

impl Host {
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        *choices.choose(&mut self.random).expect("there are choices")
    }

    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * (depth + 1));
    }

    fn launch(&mut self, depth: usize) {
        self.launches += 1;
        let kernel = self.pick(&["scale", "add", "mix", "some", "turn", "halve", "pairs"]);
        let to = self.random.random_range(0..5);
        let from = (to + self.random.random_range(1..5)) % 5;
        let mut length = self.pick(&["N", "N", "N", "N", "N", "N - 7", "N / 2"]);
        let mut blocks = self.pick(&["BLOCKS", "BLOCKS", "BLOCKS", "BLOCKS", "(BLOCKS + 1) / 2"]);
        if kernel == "pairs" {
            (length, blocks) = ("N", "BLOCKS");
        }
        self.line(
            depth,
            &format!("{kernel}<<<{blocks}, THREADS>>>(b[{to}], b[{from}], {length});"),
        );
    }

    fn condition(&mut self, in_loop: Option<&str>) -> String {
        let bit = self.random.random_range(0..4);
        let mut condition =
            self.pick(&["flags & ", "(flags >> 1) & "]).to_owned() + &(1 << bit).to_string();
        if self.random.random_bool(0.3) {
            condition = format!("flags > {}", self.random.random_range(0..12));
        }
        let Some(counter) = in_loop.filter(|_| self.random.random_bool(0.6)) else {
            return condition;
        };
        match self.random.random_range(0..3) {
            0 => format!("({condition}) || {counter} == {bit}"),
            1 => format!("{counter} % 2 == {}", bit % 2),
            _ => format!("(flags >> ({counter} & 3)) & 1"),
        }
    }

    /// What the host does between launches.
    fn other(&mut self, depth: usize) {
        let (first, second) = (
            self.random.random_range(0..5),
            self.random.random_range(0..1500),
        );
        let line = match self.random.random_range(0..7) {
            0 => "cudaDeviceSynchronize();".to_owned(),
            1 => "cudaEventRecord(event);".to_owned(),
            2 => "cudaEventRecord(event), cudaEventSynchronize(event);".to_owned(),
            3 => "if (cudaGetLastError() != cudaSuccess) printf(\"error\\n\");".to_owned(),
            4 => format!(
                "cudaMemcpy(&seen, b[{first}] + {second}, 4, cudaMemcpyDeviceToHost), printf(\"%g\\n\", seen);"
            ),
            5 => format!("cudaMemsetAsync(b[{first}], 0, 64);"),
            _ => format!(
                "cudaMemcpyAsync(b[{first}], b[{}], 4 * N, cudaMemcpyDeviceToDevice);",
                (first + 1 + second % 4) % 5
            ),
        };
        self.line(depth, &line);
    }

    fn block(&mut self, depth: usize, in_loop: Option<&str>) {
        for _ in 0..self.random.random_range(2..5) {
            let full = self.launches >= MOST_LAUNCHES;
            match self.random.random_range(0..100) {
                0..42 => self.launch(depth),
                _ if full => self.launch(depth),
                42..72 if depth < 3 => self.alternatives(depth, in_loop),
                72..78 if depth < 2 && in_loop.is_none() => self.iterations(depth),
                78..83 if depth < 3 => self.cases(depth),
                83..90 => {
                    let condition = self.condition(in_loop);
                    self.line(depth, &format!("if ({condition}) {{"));
                    self.other(depth + 1);
                    self.line(depth, "}");
                }
                90..95 => self.other(depth),
                _ => self.exception(depth, in_loop),
            }
        }
    }

    fn alternatives(&mut self, depth: usize, in_loop: Option<&str>) {
        let condition = self.condition(in_loop);
        self.line(depth, &format!("if ({condition}) {{"));
        match self.random.random_bool(0.7) {
            true => self.launch(depth + 1),
            false => self.block(depth + 1, in_loop),
        }
        if self.random.random_bool(0.25) {
            self.line(depth, "} else {");
            match self.random.random_bool(0.6) {
                true => self.launch(depth + 1),
                false => self.other(depth + 1),
            }
        }
        if self.random.random_bool(0.1) {
            let leave = match in_loop {
                Some(_) => self.pick(&["continue;", "break;", "return;"]),
                None => "return;",
            };
            self.line(depth + 1, leave);
        }
        self.line(depth, "}");
    }

    fn iterations(&mut self, depth: usize) {
        let trips = self.pick(&["2", "3", "(int)(flags & 3)"]);
        self.line(depth, &format!("for (int i = 0; i < {trips}; i++) {{"));
        self.block(depth + 1, Some("i"));
        // Launches of iterations that wait for nothing wait for a batch.
        if self.random.random_bool(0.6) {
            self.line(depth + 1, "cudaDeviceSynchronize();");
        }
        self.line(depth, "}");
    }

    fn cases(&mut self, depth: usize) {
        self.line(depth, "switch (flags % 3) {");
        for case in 0..2 {
            self.line(depth, &format!("case {case}:"));
            self.launch(depth + 1);
            if self.random.random_bool(0.7) {
                self.line(depth + 1, "break;");
            }
        }
        self.line(depth, "}");
    }

    fn exception(&mut self, depth: usize, in_loop: Option<&str>) {
        self.line(depth, "try {");
        self.launch(depth + 1);
        let condition = self.condition(in_loop);
        self.line(
            depth + 1,
            &format!("if ({condition}) throw std::runtime_error(\"thrown\");"),
        );
        self.launch(depth + 1);
        self.line(depth, "} catch (const std::exception &) {");
        self.launch(depth + 1);
        self.line(depth, "}");
    }
}
