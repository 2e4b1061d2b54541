//! Random programs of kernels that walk over rows, one block a row: what fused kernels keep of a row, of
//! a block's results and of its barriers is compared with what the kernels do one after the other.
//!
//! A seed gives a program of several cases. A case has two to five launches; each kernel walks once or
//! twice over the elements of its row, of the input or of what was made of it before, by the same
//! threads, by others, or under conditions, and sums up what it finds for the next kernels.
//! [`columns`] are parts of rows, [`caches`] have rows whose number and distance only the host knows, and
//! [`matrix_tiles`] have blocks that work on tiles of a matrix.
//! `SIRIUS_FUZZ_SEEDS=from..to` runs other seeds.

#[path = "rows/caches.rs"]
mod caches;
#[path = "rows/columns.rs"]
mod columns;
mod harness;
#[path = "rows/matrix_tiles.rs"]
mod matrix_tiles;
#[path = "harness/quick_link.rs"]
mod quick_link;
#[path = "harness/seeds.rs"]
mod seeds;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;
use std::process::ExitCode;

/// Cases of one program.
const CASES: usize = 4;

fn main() -> ExitCode {
    let others = seeds::trials("caches", 0..2, caches::program).and_then(|mut others| {
        others.extend(seeds::trials("columns", 0..2, columns::program)?);
        others.extend(seeds::trials("matrix_tiles", 0..2, matrix_tiles::program)?);
        Ok(others)
    });
    match others {
        Ok(others) => seeds::run("rows", 0..2, program, others),
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

fn program(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut kernels, mut cases, mut calls) = (String::new(), String::new(), String::new());
    for number in 0..CASES {
        let (own, case) = Case::new(&mut random, number).write();
        kernels.push_str(&own);
        cases.push_str(&case);
        let _ = writeln!(calls, "    case_{number}(columns);");
    }
    // More than any block can keep, in the last run.
    format!(
        "// Generated rows, seed {seed}.\n// arguments: 70\n// arguments: 3\n// arguments: 301\n\
         // arguments: 13000\n#include <cstdio>\n#include <cstdlib>\n{PRELUDE}\n{kernels}\n{cases}\n\
         int main(int argc, char **argv) {{\n    int columns = argc > 1 ? atoi(argv[1]) : 70;\n{calls}\
         \x20   printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n\
         \x20   printf(\"PASS\\n\");\n}}\n"
    )
}

const PRELUDE: &str = "
static float *filled(int count, unsigned seed) {
    float *host = (float *)malloc(count * sizeof(float)), *device;
    for (int i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        host[i] = (float)(seed >> 20) / 1024.0f - 2.0f;
    }
    cudaMalloc(&device, count * sizeof(float));
    cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice);
    free(host);
    return device;
}

static void show(const char *name, const float *device, int count) {
    float *host = (float *)malloc(count * sizeof(float));
    cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < count * sizeof(float); ++i) hash = (hash ^ ((unsigned char *)host)[i]) * 16777619u;
    printf(\"%s %08x\\n\", name, hash);
    free(host);
}
";

struct Case<'a> {
    random: &'a mut StdRng,
    number: usize,
    threads: usize,
    /// How the extent of a row is written.
    extent: &'static str,
    /// Results of earlier kernels: `s0`, `s1`.
    known: Vec<usize>,
}

/// What a kernel has done to the row since its last barrier.
#[derive(Default)]
struct Open {
    /// By threads in their own places.
    written: Vec<&'static str>,
    /// By threads in the places of others.
    read: Vec<&'static str>,
}

impl<'a> Case<'a> {
    fn new(random: &'a mut StdRng, number: usize) -> Self {
        let threads = *[32, 64, 128].choose(random).unwrap_or(&64);
        let extent = if random.random_bool(0.8) {
            "columns"
        } else {
            "200"
        };
        Self {
            random,
            number,
            threads,
            extent,
            known: Vec::new(),
        }
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    fn one_of(&mut self, of: &[&'static str]) -> &'static str {
        of.choose(self.random).copied().unwrap_or_default()
    }

    /// Kernels and the host function of the case.
    fn write(mut self) -> (String, String) {
        let (mut kernels, mut launches) = (String::new(), String::new());
        let (number, threads) = (self.number, self.threads);
        for kernel in 0..self.random.random_range(2..=5) {
            let body = self.body();
            let _ = writeln!(
                kernels,
                "__global__ void row_{number}_{kernel}(const float *x, float *y, float *z, \
                 const float *w, float *s0, float *s1, int columns) {{\n\
                 \x20   __shared__ float part[{threads}];\n    int t = threadIdx.x, row = blockIdx.x;\n\
                 \x20   float sum = 0.0f;\n{body}}}\n"
            );
            let _ = writeln!(
                launches,
                "    row_{number}_{kernel}<<<3, {threads}>>>(x, y, z, w, s0, s1, columns);"
            );
        }
        let mut shown = String::from("    show(\"z\", z, count);\n");
        for (name, count) in [("y", "count"), ("s0", "3"), ("s1", "3")] {
            if self.chance(0.4) {
                let _ = writeln!(shown, "    show(\"{name}\", {name}, {count});");
            }
        }
        let width = if self.extent == "columns" {
            "columns"
        } else {
            "200"
        };
        let host = format!(
            "static void case_{number}(int columns) {{\n    int count = 3 * {width};\n\
             \x20   float *x = filled(count, {number}), *y = filled(count, 11), *z = filled(count, 12);\n\
             \x20   float *w = filled({width}, 13), *s0 = filled(3, 14), *s1 = filled(3, 15);\n{launches}{shown}\
             \x20   float *all[] = {{x, y, z, w, s0, s1}};\n    for (float *each : all) cudaFree(each);\n}}\n"
        );
        (kernels, host)
    }

    fn body(&mut self) -> String {
        let mut body = String::new();
        // What other threads may not read, and what nobody may write, without a barrier.
        let mut open = Open::default();
        for _ in 0..self.random.random_range(1..=2) {
            self.sweep(&mut body, &mut open);
            if self.chance(0.6) {
                self.reduction(&mut body);
                open = Open::default();
            } else if self.chance(0.2) {
                body.push_str("    __syncthreads();\n");
                open = Open::default();
            }
        }
        body
    }

    fn index(&mut self, column: &str) -> String {
        let extent = self.extent;
        match self.random.random_range(0..4) {
            0 => format!("blockIdx.x * {extent} + {column}"),
            1 => format!("{column} + row * {extent}"),
            _ => format!("row * {extent} + {column}"),
        }
    }

    fn sweep(&mut self, body: &mut String, open: &mut Open) {
        let (extent, threads) = (self.extent, self.threads);
        let step = match self.random.random_range(0..6) {
            0 => "blockDim.x".to_owned(),
            _ => threads.to_string(),
        };
        let mut lines = String::new();
        let source = self.one_of(&["x", "x", "y", "z"]);
        let mirrored = self.chance(0.15) && !open.written.contains(&source);
        let column = match mirrored {
            true => format!("({extent} - 1 - c)"),
            false => "c".to_owned(),
        };
        let from = self.index(&column);
        let _ = writeln!(lines, "        float v = {source}[{from}];");
        if self.chance(0.5) {
            let result = self.known.choose(self.random).copied();
            if let Some(result) = result {
                let _ = writeln!(lines, "        v = v - s{result}[row];");
            }
        }
        let change = self.one_of(&[
            "v = v * 0.5f;",
            "v = v + w[c];",
            "v = v < 0.0f ? -v : v * v;",
            "if (c & 1) v += 1.0f;",
            "",
        ]);
        let _ = writeln!(lines, "        {change}");
        if self.chance(0.7) {
            let to = self.one_of(&["y", "y", "z"]);
            let reads_itself = mirrored && to == source;
            if !reads_itself && !open.read.contains(&to) {
                let condition = if self.chance(0.15) {
                    "if (v > 0.0f) "
                } else {
                    ""
                };
                let index = self.index("c");
                let _ = writeln!(lines, "        {condition}{to}[{index}] = v;");
                open.written.push(to);
            }
        }
        let _ = write!(
            body,
            "    for (int c = t; c < {extent}; c += {step}) {{\n{lines}        sum += v;\n    }}\n"
        );
        if mirrored {
            open.read.push(source);
        }
    }

    fn reduction(&mut self, body: &mut String) {
        let half = self.threads / 2;
        let result = self.random.random_range(0..2);
        let value = self.one_of(&[
            "part[0]",
            "part[0] * 0.25f",
            "part[0] / columns",
            "part[1]",
            "sum",
        ]);
        let first = self.one_of(&["t == 0", "t == 0", "t == 0", "t == 1"]);
        let _ = write!(
            body,
            "    part[t] = sum;\n    __syncthreads();\n    for (int h = {half}; h > 0; h /= 2) {{\n\
             \x20       if (t < h) part[t] += part[t + h];\n        __syncthreads();\n    }}\n\
             \x20   if ({first}) s{result}[row] = {value};\n"
        );
        if self.chance(0.5) {
            let _ = writeln!(body, "    sum = part[0];");
        }
        // The next use of `part`, or of the result.
        body.push_str("    __syncthreads();\n");
        if !self.known.contains(&result) {
            self.known.push(result);
        }
    }
}
