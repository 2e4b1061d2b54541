//! Random host loops: launches that update memory in place, with numbers, pointers and shapes that change or do not, and
//! what the host does between them.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// The arguments that a program is run with: how often loops go round.
const TRIPS: [u32; 3] = [5, 1, 0];

/// A program of a seed: functions of one or two loops each.
pub fn program(seed: u64) -> String {
    let mut host = Host {
        random: StdRng::seed_from_u64(seed),
        kernels: String::new(),
        count: 0,
        text: String::new(),
        written: 0,
    };
    let functions = host.random.random_range(4..8);
    for function in 0..functions {
        let _ = writeln!(host.text, "static void run_{function}() {{");
        host.text
            .push_str("    float rate = 0.25f, *p = b[0], *q = b[1];\n    int shown = 0;\n");
        for _ in 0..host.random.random_range(1..3) {
            host.one_loop(0);
        }
        host.text.push_str("}\n\n");
    }
    let mut text = format!("// Generated host loops, seed {seed}.\n");
    // What is left of loops may wait for graphs.
    if seed % 2 == 1 {
        text.push_str("// built with: --sirius-boundaries=graph\n");
    }
    for trips in TRIPS {
        let _ = writeln!(text, "// arguments: {trips}");
    }
    text.push_str(PRELUDE);
    text.push_str(&host.kernels);
    text.push_str(&host.text);
    text.push_str("int main(int argc, char **argv) {\n    begin(argc > 1 ? atoi(argv[1]) : 5);\n");
    for function in 0..functions {
        let _ = writeln!(text, "    run_{function}();\n    show();");
    }
    text.push_str("    printf(\"PASS\\n\");\n}\n");
    text
}

const PRELUDE: &str = r#"#include <cstdio>
#include <cstdlib>
#include <utility>

const int THREADS = 64, BLOCKS = 5, N = THREADS * BLOCKS - 9, ROOM = 2 * THREADS * BLOCKS;

static float *b[4], seen;
static int *c, trips;
static cudaStream_t stream;

static void begin(int value) {
    static float host[ROOM];
    static int numbers[ROOM];
    trips = value;
    cudaStreamCreate(&stream);
    for (int k = 0; k < 4; k++) {
        cudaMalloc(&b[k], sizeof(host));
        for (int i = 0; i < ROOM; i++) host[i] = (float)(i * (k + 3) % 17) / 8;
        cudaMemcpy(b[k], host, sizeof(host), cudaMemcpyHostToDevice);
    }
    for (int i = 0; i < ROOM; i++) numbers[i] = i * 7 % 5;
    cudaMalloc(&c, sizeof(numbers));
    cudaMemcpy(c, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
}

static void show() {
    static float host[ROOM];
    static int numbers[ROOM];
    for (int k = 0; k < 4; k++) {
        cudaMemcpy(host, b[k], sizeof(host), cudaMemcpyDeviceToHost);
        unsigned long long sum = 14695981039346656037ull;
        for (unsigned i = 0; i < sizeof(host); ++i) sum = (sum ^ ((unsigned char *)host)[i]) * 1099511628211ull;
        printf("%d %llx\n", k, sum);
    }
    cudaMemcpy(numbers, c, sizeof(numbers), cudaMemcpyDeviceToHost);
    int sum = 0;
    for (int i = 0; i < ROOM; ++i) sum = sum * 31 + numbers[i];
    printf("c %d\n", sum);
}

"#;

struct Host {
    random: StdRng,
    kernels: String,
    count: usize,
    text: String,
    /// What the last launch wrote.
    written: usize,
}

impl Host {
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        *choices.choose(&mut self.random).expect("there are choices")
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * (depth + 1));
    }

    fn one_loop(&mut self, depth: usize) {
        let t = ["t", "s"][depth.min(1)];
        let count = self.pick(&["trips", "trips", "trips + 2", "2 * trips", "4"]);
        let (head, end) = match self.random.random_range(0..10) {
            0 => (format!("for (int {t} = {count}; {t} > 0; --{t}) {{"), "}"),
            1 => (
                format!("for (int {t} = 0; {t} < 3 * ({count}); {t} += 3) {{"),
                "}",
            ),
            2 => (
                format!("for (unsigned {t} = 1; {t} <= {count}; ++{t}) {{"),
                "}",
            ),
            3 => (format!("int {t} = 0; while ({t}++ < {count}) {{"), "}"),
            4 => (
                format!("for (int {t} = 0;; ++{t}) {{ if ({t} >= {count} || {t} > 7) break;"),
                "}",
            ),
            5 => (
                format!("int {t} = 0; do {{"),
                match t {
                    "t" => "} while (++t < trips);",
                    _ => "} while (++s < trips + 1);",
                },
            ),
            _ => (format!("for (int {t} = 0; {t} < {count}; ++{t}) {{"), "}"),
        };
        self.line(depth, "{");
        // Two pointers that change places behind each iteration, mostly.
        let swaps = depth == 0 && self.chance(0.3);
        if swaps {
            let (one, other) = (
                self.random.random_range(0..2),
                self.random.random_range(2..4),
            );
            self.line(depth, &format!("p = b[{one}], q = b[{other}];"));
        }
        self.line(depth, &head);
        if swaps {
            for _ in 0..self.pick(&[1, 1, 2]) {
                self.launch_between(depth + 1, t);
            }
            if self.chance(0.2) {
                self.other(depth + 1, t);
            }
            self.line(depth + 1, "std::swap(p, q);");
        } else if depth == 0 && self.chance(0.2) {
            self.one_loop(1);
            if self.chance(0.4) {
                self.other(depth + 1, t);
            }
        } else {
            let launches = self.pick(&[1, 1, 1, 2, 2, 3]);
            for _ in 0..launches {
                self.launch(depth + 1, t);
                if self.chance(0.3) {
                    self.other(depth + 1, t);
                }
            }
        }
        self.line(depth, end);
        self.line(depth, "}");
        // What stands behind goes on with what the last iteration made, mostly.
        if self.chance(0.6) {
            if self.chance(0.2) {
                let line = self.pick(&[
                    "cudaDeviceSynchronize();",
                    "if (cudaGetLastError() != cudaSuccess) printf(\"error\\n\");",
                    "cudaMemcpy(&seen, b[1] + 2, 4, cudaMemcpyDeviceToHost), printf(\"%g\\n\", seen);",
                ]);
                self.line(depth, line);
            }
            self.launch_behind(depth, swaps);
            if self.chance(0.3) {
                self.launch_behind(depth, swaps);
            }
        }
    }

    /// A launch behind a loop.
    fn launch_behind(&mut self, depth: usize, swaps: bool) {
        let (kernel, own_only) = self.kernel();
        let from = match swaps {
            true => String::from(self.pick(&["p", "q"])),
            false => format!("b[{}]", self.written),
        };
        let other = format!("b[{}]", self.random.random_range(0..4));
        let to = match own_only && self.chance(0.3) {
            true => from.clone(),
            // None of the threads of a launch races with another one.
            false => match from == other || swaps {
                true => format!("{other} + THREADS * BLOCKS"),
                false => other,
            },
        };
        self.line(
            depth,
            &format!("{kernel}<<<BLOCKS, THREADS>>>({to}, {from}, c, N, 3, rate);"),
        );
    }

    /// What the host does between launches.
    fn other(&mut self, depth: usize, t: &str) {
        let buffer = self.random.random_range(0..4);
        let line = match self.random.random_range(0..14) {
            0..4 => String::from("cudaDeviceSynchronize();"),
            4 => String::from("cudaStreamSynchronize(0);"),
            5 => String::from("cudaStreamSynchronize(stream);"),
            6 | 7 => String::from("if (cudaGetLastError() != cudaSuccess) printf(\"error\\n\");"),
            8 => String::from("rate *= 0.5f;"),
            9 => format!("if ({t} == 3) break;"),
            10 => format!("if ({t} % 2) continue;"),
            11 => format!(
                "cudaMemcpy(&seen, b[{buffer}] + {t}, 4, cudaMemcpyDeviceToHost), shown += seen > 1, printf(\"%g\\n\", seen);"
            ),
            12 => format!("cudaMemsetAsync(b[{buffer}] + 3, 0, 64);"),
            _ => format!("std::swap(b[{buffer}], b[{}]);", (buffer + 1) % 4),
        };
        self.line(depth, &line);
    }

    /// From one of two pointers to the other, or in place.
    fn launch_between(&mut self, depth: usize, t: &str) {
        let (kernel, own_only) = self.kernel();
        let (to, from) = match self.random.random_range(0..6) {
            0 if own_only => ("p", "p"),
            1 => ("p", "q"),
            2 => ("q", "b[0] + THREADS * BLOCKS"),
            _ => ("q", "p"),
        };
        let step = self.pick(&["3", "3", "2", t]);
        self.line(
            depth,
            &format!("{kernel}<<<BLOCKS, THREADS>>>({to}, {from}, c, N, {step}, rate);"),
        );
    }

    fn launch(&mut self, depth: usize, t: &str) {
        let (kernel, own_only) = self.kernel();
        let to = self.random.random_range(0..4);
        self.written = to;
        let from = (to + self.random.random_range(1..4)) % 4;
        // Mostly in place; now and then another part of the same memory.
        let source = match self.random.random_range(0..10) {
            0..5 if own_only => format!("b[{to}]"),
            5 => format!("b[{to}] + THREADS * BLOCKS"),
            6 => format!("b[{from}] + {t} % 3 * 8"),
            _ => format!("b[{from}]"),
        };
        let step = match self.random.random_range(0..5) {
            0..2 => String::from("3"),
            2 => format!("{t} % 4"),
            _ => String::from(t),
        };
        let length = match self.random.random_range(0..8) {
            0 => format!("N - 2 * {t}"),
            1 => String::from("N / 2"),
            _ => String::from("N"),
        };
        let blocks = match self.random.random_range(0..12) {
            0 => format!("{t} % 2 ? BLOCKS : BLOCKS - 1"),
            1 => String::from("BLOCKS - 2"),
            _ => String::from("BLOCKS"),
        };
        let configuration = match self.random.random_range(0..8) {
            0 => ", 0, stream",
            _ => "",
        };
        self.line(
            depth,
            &format!(
                "{kernel}<<<{blocks}, THREADS{configuration}>>>(b[{to}], {source}, c, {length}, {step}, rate);"
            ),
        );
    }

    /// The name of a new kernel, and whether its threads read their own elements alone, so that it may work in place. None
    /// of its threads races with another one.
    fn kernel(&mut self) -> (String, bool) {
        let name = format!("step_{}", self.count);
        self.count += 1;
        let mut body = String::new();
        let mut own_only = true;
        match self.random.random_range(0..8) {
            0 => {
                own_only = false;
                body.push_str(self.pick(&[
                    "    if (i < n) y[i] = x[(i + 1) % n] * 0.5f;\n",
                    "    if (j == 0) y[blockIdx.x * THREADS] = x[blockIdx.x * THREADS + THREADS - 1] * 0.5f;\n",
                    "    if (i < n) y[i] += x[n / 2] * 0.25f;\n",
                ]));
            }
            1 => body.push_str(self.pick(&[
                "    if (i < n) y[n - 1 - i] = x[n - 1 - i] * 0.5f + 1;\n",
                "    if (i < n) atomicAdd(&c[0], step + i % 3);\n",
                "    if (i + step < n) y[i + step] = x[i + step] * 0.25f + 1;\n",
            ])),
            _ => {
                for _ in 0..self.random.random_range(1..3) {
                    body.push_str(self.pick(&OWN_ELEMENT));
                }
            }
        }
        // A return ends the kernel, and a barrier is for all threads.
        let returns = body.find("return;");
        if returns.is_some_and(|at| body[at..].contains("sync")) {
            body = body.replace("if (i >= n) return;\n    y[i] +=", "if (i < n) y[i] +=");
        }
        let _ = write!(
            self.kernels,
            "__global__ void {name}(float *y, const float *x, int *c, int n, int step, float rate) {{\n\
             \x20   __shared__ float own[THREADS];\n\
             \x20   int j = threadIdx.x, i = blockIdx.x * THREADS + j;\n    own[j] = 0;\n\
             {body}}}\n\n"
        );
        (name, own_only)
    }
}

/// What a thread does to its own element, with other threads of its block or without.
const OWN_ELEMENT: [&str; 10] = [
    "    if (i < n) y[i] = x[i] * 0.5f + rate * step;\n",
    "    if (i < n) y[i] = x[i] * 0.5f + rate;\n",
    "    if (i >= n) return;\n    y[i] += rate * x[i];\n",
    "    if (i < n && c[i] > step) y[i] = x[i] - 1;\n",
    "    if (i < n) c[i] = (c[i] * 3 + step) % 5;\n",
    "    if (i < n && c[i] % 2 == 0) y[i] = y[i] * 0.75f; else if (i < n) y[i] = x[i] + 0.5f;\n",
    "    { __syncthreads(); own[j] = i < n ? x[i] : 0; __syncthreads();\n    \
     if (i < n) y[i] = own[j] + own[j ^ 1] * 0.25f; }\n",
    "    { __syncthreads(); own[j] = y[i]; __syncthreads();\n    y[i] = own[THREADS - 1 - j] * 0.5f + 1; }\n",
    "    { float sum = y[i];\n    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);\n    \
     y[i] = y[i] * 0.5f + sum / 64; }\n",
    "    if (i < n) for (int k = 0; k < 1 + step % 3; ++k) y[i] = y[i] * 0.5f + x[i];\n",
];
