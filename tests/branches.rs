//! Random programs of independent branches that wait: what fused kernels do interleaved is compared with
//! what the branches do one after the other. And random programs of launches under conditions, in host loops, and over
//! memory of which only the run tells whose it is. And random sums in several launches.
//!
//! A seed gives a program of several cases. A case has two to four branches of one to three launches,
//! all of one shape; the branches read one input and write results of their own, and their launches
//! stand in any order in which each branch keeps its own. Their kernels have loops of all forms, with
//! barriers inside and without, of equal and of different lengths. `SIRIUS_FUZZ_SEEDS=from..to` runs other seeds.

#[path = "branches/conditions.rs"]
mod conditions;
#[path = "branches/loops.rs"]
mod loops;
#[path = "branches/memory.rs"]
mod memory;
#[path = "branches/sums.rs"]
mod sums;
#[path = "harness/counts.rs"]
mod counts;
mod harness;
#[path = "harness/quick_link.rs"]
mod quick_link;
#[path = "harness/seeds.rs"]
mod seeds;

use counts::counted;
use libtest_mimic::{Failed, Trial};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Cases of one program.
const CASES: usize = 6;

fn main() -> ExitCode {
    let mut others = vec![
        Trial::test("common tiles", check_common_tiles),
        Trial::test("common factors", check_common_factors),
        Trial::test("sums", check_sums),
        Trial::test("sums in memory", check_sums_in_memory),
    ];
    for trials in [
        seeds::trials("conditions", 0..2, conditions::program),
        seeds::trials("loops", 0..3, loops::program),
        seeds::trials("memory", 0..2, memory::program),
        seeds::trials("partial_sums", 0..2, sums::program),
    ] {
        match trials {
            Ok(trials) => others.extend(trials),
            Err(sentence) => {
                eprintln!("{sentence}");
                return ExitCode::FAILURE;
            }
        }
    }
    seeds::run("branches", 0..2, program, others)
}

fn program(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let (mut kernels, mut cases, mut calls) = (String::new(), String::new(), String::new());
    for number in 0..CASES {
        let (own, case) = Case::new(&mut random, number).write();
        kernels.push_str(&own);
        cases.push_str(&case);
        let _ = writeln!(calls, "    case_{number}(steps);");
    }
    format!(
        "// Generated branches, seed {seed}.\n// arguments: 3\n// arguments: 1\n// arguments: 6\n\
         #include <cstdio>\n#include <cstdlib>\n{PRELUDE}\n{kernels}\n{cases}\n\
         int main(int argc, char **argv) {{\n    int steps = argc > 1 ? atoi(argv[1]) : 3;\n{calls}\
         \x20   printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n\
         \x20   printf(\"PASS\\n\");\n}}\n"
    )
}

const PRELUDE: &str = r#"
static const int THREADS = 32, BLOCKS = 3, N = THREADS * BLOCKS, ELEMENTS = 4096;

static float *make(int start) {
    static float host[ELEMENTS];
    for (int i = 0; i < ELEMENTS; ++i) host[i] = (float)((i * 37 + start * 101) % 997) / 16;
    float *device;
    cudaMalloc(&device, ELEMENTS * sizeof(float));
    cudaMemcpy(device, host, ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);
    return device;
}

static void show(const char *name, float *device) {
    static float host[ELEMENTS];
    cudaMemcpy(host, device, ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned long long sum = 14695981039346656037ull;
    for (unsigned i = 0; i < ELEMENTS * sizeof(float); ++i)
        sum = (sum ^ ((unsigned char *)host)[i]) * 1099511628211ull;
    printf("%s %llx\n", name, sum);
    cudaFree(device);
}
"#;

struct Case<'a> {
    random: &'a mut StdRng,
    number: usize,
    kernels: String,
    count: usize,
    /// Kernels that other branches may run, too.
    known: Vec<String>,
}

impl<'a> Case<'a> {
    fn new(random: &'a mut StdRng, number: usize) -> Self {
        Self {
            random,
            number,
            kernels: String::new(),
            count: 0,
            known: Vec::new(),
        }
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        *choices.choose(self.random).expect("there are choices")
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    /// The kernels and the host function.
    fn write(mut self) -> (String, String) {
        let number = self.number;
        let mut text =
            format!("static void case_{number}(int steps) {{\n    float *x = make({number});\n");
        let branches = self.random.random_range(2..5);
        let mut launches: Vec<Vec<String>> = Vec::new();
        let mut shown = Vec::new();
        for branch in 0..branches {
            let mut own = Vec::new();
            let mut from = "x".to_owned();
            let _ = writeln!(text, "    float *w{branch} = make({});", branch + 7);
            for stage in 0..self.random.random_range(1..4) {
                let out = format!("r{branch}_{stage}");
                let _ = writeln!(text, "    float *{out} = make({});", branch * 3 + stage);
                let kernel = self.kernel(stage);
                let length = self.pick(&["steps", "steps", "steps", "steps + 1", "4"]);
                own.push(format!(
                    "    {kernel}<<<BLOCKS, THREADS>>>({out}, {from}, w{branch}, {length});\n"
                ));
                from = out.clone();
                shown.push(out);
            }
            own.reverse();
            launches.push(own);
        }
        while launches.iter().any(|own| !own.is_empty()) {
            let branch = self.random.random_range(0..launches.len());
            text.extend(launches[branch].pop());
        }
        for name in shown {
            let _ = writeln!(text, "    show(\"{name}\", {name});");
        }
        for branch in 0..branches {
            let _ = writeln!(text, "    cudaFree(w{branch});");
        }
        text.push_str("    cudaFree(x);\n}\n");
        (self.kernels, text)
    }

    /// The name of a kernel, new or known; what follows in a branch often touches its own element only.
    fn kernel(&mut self, stage: usize) -> String {
        if !self.known.is_empty() && self.chance(0.5) {
            let place = self.random.random_range(0..self.known.len());
            return self.known[place].clone();
        }
        let name = format!("kernel_{}_{}", self.number, self.count);
        self.count += 1;
        let body = match stage > 0 && self.chance(0.5) {
            true => "    sum += in[i] * 0.5f + w[i];\n".to_owned(),
            false => self.waiting_body(),
        };
        let _ = write!(
            self.kernels,
            "__global__ void {name}(float *out, const float *in, const float *w, int steps) {{\n\
             \x20   __shared__ float a[THREADS], b[THREADS];\n\
             \x20   int t = threadIdx.x, i = blockIdx.x * THREADS + t;\n    float sum = 0;\n\
             {body}    out[i] = sum;\n}}\n\n"
        );
        self.known.push(name.clone());
        name
    }

    fn waiting_body(&mut self) -> String {
        let mut body = String::new();
        for _ in 0..self.random.random_range(1..4) {
            let piece = match self.random.random_range(0..8) {
                0 => self.exchange("i"),
                1 => self.plain(),
                2 => self.halving(),
                _ => self.looped(2),
            };
            body.push_str(&piece);
        }
        body
    }

    /// A loop with barriers inside.
    fn looped(&mut self, depth: usize) -> String {
        let k = format!("k{depth}");
        let mut inside = String::new();
        for _ in 0..self.random.random_range(1..3) {
            let index = format!("(i + {k} * THREADS) % N");
            inside.push_str(&match self.random.random_range(0..6) {
                0 if depth > 0 => self.looped(depth - 1),
                1 => self.plain(),
                _ => self.exchange(&index),
            });
        }
        if depth > 1 && self.chance(0.2) {
            inside.push_str("    if (t == 3) sum += 1;\n");
        }
        let end = self.pick(&["steps", "steps", "steps", "3", "3", "2"]);
        match self.random.random_range(0..6) {
            0 => format!(
                "    {{ int {k} = 0;\n    do {{\n{inside}    ++{k};\n    }} while ({k} < {end}); }}\n"
            ),
            1 => {
                let last = self.exchange("i");
                format!(
                    "    for (int {k} = 0;;) {{\n{inside}    if (++{k} >= {end}) break;\n{last}    }}\n"
                )
            }
            2 => format!("    for (int {k} = {end}; {k} > 0; --{k}) {{\n{inside}    }}\n"),
            3 => format!("    for (int {k} = 0; {k} < 2 * {end}; {k} += 2) {{\n{inside}    }}\n"),
            _ => format!("    for (int {k} = 0; {k} < {end}; ++{k}) {{\n{inside}    }}\n"),
        }
    }

    /// Threads show each other an element.
    fn exchange(&mut self, index: &str) -> String {
        let tile = self.pick(&["a", "b"]);
        let source = self.pick(&["in", "w"]);
        // Only `x` is everybody's; of a result in between each block reads its own part.
        let index = match source {
            "in" => "i",
            _ => index,
        };
        let shift = self.random.random_range(0..32);
        let end = match self.chance(0.8) {
            true => "    __syncthreads();\n",
            false => "    __syncthreads();\n    sum *= 1.5f;\n",
        };
        format!(
            "    {tile}[t] = {source}[{index}] + sum;\n    __syncthreads();\n\
             \x20   sum += {tile}[(t + {shift}) % THREADS];\n{end}"
        )
    }

    /// Something without barriers.
    fn plain(&mut self) -> String {
        match self.random.random_range(0..8) {
            0 => "    if (t & 1) sum += in[i]; else sum -= w[i];\n".to_owned(),
            1 => "    for (int j = 0; j < t % 5; ++j) sum = sum * 0.5f + w[i + j];\n".to_owned(),
            2 => "    float local[4];\n    for (int j = 0; j < 4; ++j) local[j] = w[i + j];\n\
                  \x20   sum += local[t & 3];\n"
                .replace(
                    "local",
                    &format!("local{}", self.random.random_range(0..1000)),
                ),
            3 => "    sum += in[i] * w[i];\n".to_owned(),
            _ => self.quiet(1),
        }
    }

    /// A loop without barriers.
    fn quiet(&mut self, depth: usize) -> String {
        let j = format!("j{depth}");
        let inside = match self.random.random_range(0..7) {
            0 if depth > 0 => self.quiet(depth - 1),
            1 => format!("    if ({j} % 3 == 1) continue;\n    sum += w[i + {j}];\n"),
            2 => format!("    if (w[i + {j}] > 50) break;\n    sum += in[i];\n"),
            3 => format!("    out[i] = sum;\n    sum = sum * 0.5f + w[{j}];\n"),
            4 => format!("    if ((t ^ {j}) & 1) sum += in[i]; else sum = sum * 0.25f + w[{j}];\n"),
            _ => format!("    sum += w[{j} * THREADS + t] * in[i];\n"),
        };
        let end = self.pick(&[
            "steps",
            "steps",
            "steps",
            "7",
            "t % 5",
            "(int)blockIdx.x + 2",
        ]);
        match self.random.random_range(0..8) {
            0 => format!(
                "    {{ int {j} = 0;\n    do {{\n{inside}    }} while (++{j} < {end}); }}\n"
            ),
            1 => format!("    for (int {j} = {end}; {j} > 0; --{j}) {{\n{inside}    }}\n"),
            2 => format!("    for (int {j} = 0; {j} < 2 * {end}; {j} += 2) {{\n{inside}    }}\n"),
            3 => format!("    for (int {j} = 3; {j} < {end} + 3; ++{j}) {{\n{inside}    }}\n"),
            4 => format!(
                "    for (int {j} = (int)blockIdx.x * 4; {j} < (int)blockIdx.x * 4 + {end}; ++{j}) \
                 {{\n{inside}    }}\n"
            ),
            _ => format!("    for (int {j} = 0; {j} < {end}; ++{j}) {{\n{inside}    }}\n"),
        }
    }

    /// A reduction in a tree.
    fn halving(&mut self) -> String {
        "    a[t] = in[i] + sum;\n    __syncthreads();\n\
         \x20   for (int half = THREADS / 2; half > 0; half /= 2) {\n\
         \x20       if (t < half) a[t] += a[t + half];\n        __syncthreads();\n    }\n\
         \x20   sum += a[0];\n    __syncthreads();\n"
            .to_owned()
    }
}

/// The three products of a BERT layer wait a third as often interleaved, and load each tile once.
fn check_common_tiles() -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_programs/bert_qkv.cu");
    let (_, apart) = counted(&source, &["--sirius-fusion=off"], &[])?;
    let (_, ordered) = counted(&source, &["--sirius-opt=all,-code-motion"], &[])?;
    let (_, whole) = counted(&source, &[], &[])?;
    assert_eq!(
        (apart.launches, ordered.launches, whole.launches),
        (9, 1, 1)
    );
    assert_eq!(ordered.barriers, apart.barriers);
    assert_eq!(3 * whole.barriers, apart.barriers);
    // Four tiles of one element a thread in each of eight steps, and three biases.
    let (threads, steps) = (64 * 128, 128 / 16);
    assert_eq!(whole.global_load_bytes, threads * 4 * (4 * steps + 3));
    // A thread reads a row of the common tile and a column of each of the three others.
    assert_eq!(whole.shared_load_bytes, threads * 4 * (4 * 128));
    Ok(())
}

/// Products with one vector that fuse with barriers inside load it once, in one loop.
fn check_common_factors() -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/joined_products.cu");
    let (_, apart) = counted(&source, &["--sirius-opt=all,-code-motion"], &["96"])?;
    let (_, whole) = counted(&source, &[], &["96"])?;
    assert_eq!((apart.launches, whole.launches), (1, 1));
    assert_eq!(apart.barriers, 4 * whole.barriers);
    // Of four products three have equally many rows; the last has two more.
    let (threads, rows) = (2 * 128, 96 / 4);
    let longer = rows + 2;
    assert_eq!(
        (apart.global_load_bytes, whole.global_load_bytes),
        (
            threads * 4 * 2 * (3 * rows + longer),
            threads * 4 * (4 * rows + 2 * longer)
        )
    );
    Ok(())
}

/// Sums of columns that do not need each other load their common factors once, though each is stored before
/// the next one begins.
fn check_sums() -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/joined_sums.cu");
    let (_, apart) = counted(&source, &["--sirius-opt=all,-loop-fusion"], &["96"])?;
    let (_, whole) = counted(&source, &[], &["96"])?;
    assert_eq!((apart.launches, whole.launches), (1, 1));
    // Of five sums three have the same factors, 96 each; one takes others, one begins with a sum.
    let threads = 2 * 64;
    assert_eq!(
        apart.global_load_bytes - whole.global_load_bytes,
        threads * 4 * 2 * 96
    );
    Ok(())
}

/// Sums that tests find apart wait together, and those that need them wait together behind them; all of either
/// are one loop. Where the tests fail each runs as it was written.
fn check_sums_in_memory() -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/sums_in_memory.cu");
    let in_order = ["--sirius-opt=all,-code-motion"];
    let (_, apart) = counted(&source, &in_order, &["0", "64"])?;
    let (_, whole) = counted(&source, &[], &["0", "64"])?;
    assert_eq!((apart.launches, whole.launches), (1, 1));
    // Two blocks: a barrier in each of six kernels and one before the first that needs another, or two and one.
    assert_eq!((apart.barriers, whole.barriers), (2 * 7, 2 * 3));
    // Factors that several sums have in common are loaded once.
    assert!(whole.global_load_bytes < apart.global_load_bytes);
    for way in ["1", "2"] {
        let (_, apart) = counted(&source, &["--sirius-fusion=off"], &[way, "64"])?;
        let (_, tested) = counted(&source, &[], &[way, "64"])?;
        assert_eq!(apart, tested);
    }
    Ok(())
}
